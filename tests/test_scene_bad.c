/* Every bad scene of tests/bad: NAME.yaml must be refused, when it is read or when its world is
 * built, with exactly the text of NAME.expected, lines and carets included. NAME.set, where there
 * is one, holds settings, one a line.
 *
 * With TALUS_UPDATE_EXPECTED=1 in the environment the expected texts are written instead: read the
 * difference before you keep it. */
#include <dirent.h>

#include "check.h"
#include "scene/text.h"
#include <talus/scene.h>

static const char *folder(void) {
  static char path[1024];
  const char *source = getenv("TALUS_SOURCE_DIR");
  snprintf(path, sizeof path, "%s/tests/bad", source ? source : TALUS_SOURCE_DIR);
  return path;
}

/* The whole file, or false where there is none. */
static bool read_file(const char *name, const char *suffix, tl_text *text) {
  char path[1200], block[4096];
  snprintf(path, sizeof path, "%s/%s%s", folder(), name, suffix);
  FILE *file = fopen(path, "rb");
  if (!file)
    return false;
  size_t n;
  while ((n = fread(block, 1, sizeof block, file)) > 0)
    tl_text_add_bytes(text, block, n);
  tl_text_add_bytes(text, "", 0);
  fclose(file);
  return true;
}

static void write_file(const char *name, const char *suffix, const char *text) {
  char path[1200];
  snprintf(path, sizeof path, "%s/%s%s", folder(), name, suffix);
  FILE *file = fopen(path, "wb");
  CHECK_MSG(file, "%s cannot be written", path);
  fputs(text, file);
  fclose(file);
}

#define MOST 1000
static char *names[MOST];
static size_t count;

static int compare(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_names(void) {
  DIR *directory = opendir(folder());
  CHECK_MSG(directory, "%s cannot be read", folder());
  count = 0;
  for (const struct dirent *entry; (entry = readdir(directory)) && count < MOST;) {
    const char *dot = strrchr(entry->d_name, '.');
    if (dot && strcmp(dot, ".yaml") == 0)
      (void)tl_string_copy(entry->d_name, (size_t)(dot - entry->d_name), &names[count++]);
  }
  closedir(directory);
  qsort(names, count, sizeof *names, compare);
}

static void free_names(void) {
  for (size_t i = 0; i < count; ++i)
    tl_string_free(&names[i]);
}

static size_t split_lines(char *text, const char **lines, size_t most) {
  size_t n = 0;
  for (char *line = strtok(text, "\n"); line && n < most; line = strtok(NULL, "\n"))
    lines[n++] = line;
  return n;
}

/* What a scene that can be read is refused for when its world is built, or NULL. */
static char *refused_when_built(const talus_scene *scene) {
  tl_text text = {0};
  talus_world *world = NULL;
  char *said = NULL;
  if (talus_scene_build(scene, 1, NULL, NULL, &world) != TALUS_OK && !world) {
    tl_text_add(&text, "%s\n", talus_last_error());
    CHECK_OK(tl_text_take(&text, &said));
  }
  talus_world_destroy(world);
  return said;
}

static bool check_one(const char *name) {
  tl_text text = {0}, settings = {0}, expected = {0};
  const char *lines[16] = {NULL};
  char file[300];
  snprintf(file, sizeof file, "%s.yaml", name);
  (void)read_file(name, ".yaml", &text);
  const size_t n = read_file(name, ".set", &settings) ? split_lines(settings.data, lines, 16) : 0;
  talus_scene *scene = NULL;
  char *problems = NULL;
  const talus_status status = talus_scene_parse(text.data ? text.data : "", text.count, file, NULL,
                                                lines, n, &scene, &problems);
  if (status == TALUS_OK)
    problems = refused_when_built(scene);
  bool is_good = problems && (status == TALUS_OK || (status == TALUS_ERROR_FORMAT && !scene));
  if (!is_good)
    printf("  %s: status %d (%s)\n", name, (int)status, talus_last_error());
  else if (getenv("TALUS_UPDATE_EXPECTED"))
    write_file(name, ".expected", problems);
  else if (!read_file(name, ".expected", &expected) || strcmp(expected.data, problems) != 0) {
    printf("  %s: expected\n%sbut got\n%s", name, expected.data ? expected.data : "(no file)\n",
           problems);
    is_good = false;
  }
  talus_scene_free(scene);
  talus_text_free(problems);
  tl_text_drop(&text);
  tl_text_drop(&settings);
  tl_text_drop(&expected);
  return is_good;
}

TEST(every_bad_scene_is_refused_with_its_expected_message) {
  list_names();
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i)
    wrong += !check_one(names[i]);
  const size_t all = count;
  free_names();
  CHECK_MSG(all >= 60, "only %zu bad scenes were found in %s", all, folder());
  CHECK_MSG(wrong == 0, "%zu of %zu bad scenes", wrong, all);
}

/* Deterministic damage to every file: whatever comes in, parsing ends with a status, without a
 * crash (sanitizers watch) and without keeping memory. */
static uint32_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

static void damage(tl_text *text, uint64_t *state) {
  static const char letters[] = "{}[],:-#&*!|>'\"%@`\n 0123456789.eE+~xyz\t\xC3";
  const uint32_t changes = 1 + next_random(state) % 4;
  for (uint32_t i = 0; i < changes && text->count > 0; ++i) {
    const size_t at = next_random(state) % text->count;
    const char letter = letters[next_random(state) % (sizeof letters - 1)];
    const uint32_t kind = next_random(state) % 3;
    if (kind == 0) {
      text->data[at] = letter;
    } else if (kind == 1) {
      memmove(text->data + at, text->data + at + 1, text->count - at);
      text->count--;
    } else {
      tl_text_add_bytes(text, " ", 1);
      memmove(text->data + at + 1, text->data + at, text->count - at - 1);
      text->data[at] = letter;
    }
  }
}

TEST(damaged_scenes_never_crash_or_leak) {
  list_names();
  uint64_t state = 12345;
  const size_t before = tl_memory_count().bytes;
  for (size_t i = 0; i < count; ++i)
    for (int round = 0; round < 6; ++round) {
      tl_text text = {0};
      (void)read_file(names[i], ".yaml", &text);
      if (text.count < 4000) /* large ones are about something else */
        damage(&text, &state);
      talus_scene *scene = NULL;
      char *problems = NULL;
      const talus_status status = talus_scene_parse(text.data ? text.data : "", text.count, "x",
                                                    NULL, NULL, 0, &scene, &problems);
      const bool is_sane = status == TALUS_OK ? scene != NULL : scene == NULL && problems != NULL;
      talus_scene_free(scene);
      talus_text_free(problems);
      tl_text_drop(&text);
      CHECK_MSG(is_sane, "%s, round %d: status %d", names[i], round, (int)status);
    }
  const size_t after = tl_memory_count().bytes;
  free_names();
  CHECK_EQ_U64(after, before);
}

int main(int argc, char **argv) {
  if (!TALUS_HAVE_YAML) {
    puts("skipped: built without libyaml-dev");
    return 77;
  }
  return check_main(argc, argv);
}
