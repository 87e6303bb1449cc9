#include "render_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA       0.25f /* if none is given */
#define NAMES_KNOWN 256   /* for suggestions */

/* Where words are looked up: names and groups are only in the checkpoint, materials in every
 * frame. */
typedef struct book {
  talus_world *world; /* NULL: no readable checkpoint */
  uint32_t *groups;   /* of its bodies */
  frame last;
} book;

static int out_of_memory(void) {
  cli_error("out of memory");
  return CLI_FAILED;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static int by_uid(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool has(const render_set *set, const frame *bodies, size_t i) {
  if (set->uid_count > 0 &&
      bsearch(&bodies->id[i], set->uids, set->uid_count, sizeof *set->uids, by_uid))
    return true;
  for (size_t m = 0; m < set->material_count; ++m)
    if (strcmp(set->materials[m], bodies->material_table[bodies->material[i]].name) == 0)
      return true;
  return false;
}

static bool add_uid(render_set *set, uint64_t uid) {
  if ((set->uid_count & (set->uid_count + 1)) == 0) { /* an array of 2^k - 1 is full */
    uint64_t *more = realloc(set->uids, (2 * set->uid_count + 1) * sizeof *more);
    if (!more)
      return false;
    set->uids = more;
  }
  set->uids[set->uid_count++] = uid;
  return true;
}

static bool add_material(render_set *set, const frame_material *material) {
  void *more = realloc(set->materials, (set->material_count + 1) * sizeof *set->materials);
  if (!more)
    return false;
  set->materials = more;
  memcpy(set->materials[set->material_count++], material->name, FRAME_NAME_BYTES);
  return true;
}

static void free_set(render_set *set) {
  free(set->uids);
  free(set->materials);
}

bool render_choice_shows(const render_choice *choice, const frame *bodies, size_t i) {
  return !has(&choice->hide, bodies, i) && (!choice->has_only || has(&choice->only, bodies, i));
}

float render_choice_alpha(const render_choice *choice, const frame *bodies, size_t i) {
  for (size_t k = 0; k < choice->veil_count; ++k)
    if (has(&choice->veils[k], bodies, i))
      return choice->alphas[k];
  return 1;
}

void render_choice_free(render_choice *choice) {
  free_set(&choice->hide);
  free_set(&choice->only);
  for (size_t k = 0; k < choice->veil_count; ++k)
    free_set(&choice->veils[k]);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Copied, because looking up a group by name may create it, which a world with mapped views does
 * not allow. */
static void copy_groups(book *known) {
  talus_view view;
  if (talus_view_map(known->world, TALUS_FIELD_GROUP, TALUS_READ, &view) != TALUS_OK)
    return;
  known->groups = malloc((view.rows + 1) * sizeof *known->groups);
  if (known->groups)
    memcpy(known->groups, view.data, view.rows * sizeof *known->groups);
  (void)talus_view_unmap(known->world, &view); /* it was only read */
}

static int open_book(const char *folder, const char *path, book *known) {
  char checkpoint[4096], why[4352];
  *known = (book){0};
  if (!frame_read(path, &known->last, why, sizeof why)) {
    cli_error("%s", why);
    return CLI_INPUT;
  }
  snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint.hdf", folder);
  if (talus_world_load(checkpoint, &known->world) != TALUS_OK)
    known->world = NULL;
  else
    copy_groups(known);
  return CLI_DONE;
}

static void close_book(book *known) {
  frame_free(&known->last);
  free(known->groups);
  talus_world_destroy(known->world);
}

/* The number of a group; a missing group is created, and contains no body. */
static uint32_t group_of(const book *known, const char *word) {
  uint32_t group = 0;
  return talus_world_group(known->world, word, &group) == TALUS_OK ? group : 0;
}

static int find_named(const book *known, const char *word, render_set *set, bool *is_found) {
  const size_t n = known->world ? talus_world_body_count(known->world) : 0;
  const uint32_t *groups = known->groups, group = n > 0 ? group_of(known, word) : 0;
  for (size_t i = 0; i < n; ++i) {
    talus_body body;
    talus_body_info info;
    if (talus_world_body_at(known->world, i, &body) != TALUS_OK ||
        talus_world_get_body(known->world, body, &info) != TALUS_OK)
      continue;
    const bool is_meant =
        (info.name && strcmp(info.name, word) == 0) || (groups && group != 0 && groups[i] == group);
    *is_found = *is_found || is_meant;
    if (is_meant && !add_uid(set, info.uid))
      return out_of_memory();
  }
  return CLI_DONE;
}

static int refuse(const book *known, const char *option, const char *word) {
  const char *names[NAMES_KNOWN];
  size_t n = 0;
  for (size_t i = 0; i < known->last.materials && n < NAMES_KNOWN; ++i)
    names[n++] = known->last.material_table[i].name;
  const size_t bodies = known->world ? talus_world_body_count(known->world) : 0;
  for (size_t i = 0; i < bodies && n < NAMES_KNOWN; ++i) {
    talus_body body;
    talus_body_info info;
    if (talus_world_body_at(known->world, i, &body) == TALUS_OK &&
        talus_world_get_body(known->world, body, &info) == TALUS_OK && info.name)
      names[n++] = info.name;
  }
  const char *near = cli_suggest(word, names, n);
  cli_error("render: option '--%s': no body, group or material is called '%s'%s%s%s%s", option,
            word,
            known->world ? "" : " (names and groups are in checkpoint.hdf, which is not there)",
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return CLI_INPUT;
}

static int add_word(const book *known, const char *option, const char *word, render_set *set) {
  bool is_found = false;
  char *end;
  errno = 0;
  const unsigned long long uid = strtoull(word, &end, 10);
  if (word[0] >= '0' && word[0] <= '9' && !*end && errno == 0) {
    is_found = true;
    if (!add_uid(set, uid))
      return out_of_memory();
  }
  for (size_t m = 0; m < known->last.materials; ++m)
    if (strcmp(known->last.material_table[m].name, word) == 0) {
      is_found = true;
      if (!add_material(set, &known->last.material_table[m]))
        return out_of_memory();
    }
  const int code = find_named(known, word, set, &is_found);
  return code == CLI_DONE && !is_found ? refuse(known, option, word) : code;
}

/* "left,right,17". */
static int add_words(const book *known, const char *option, const char *text, render_set *set) {
  char word[256];
  int code = CLI_DONE;
  for (const char *at = text; code == CLI_DONE; ++at) {
    const size_t length = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
    code = add_word(known, option, word, set);
    at += length;
    if (*at == '\0')
      break;
  }
  if (set->uid_count > 0)
    qsort(set->uids, set->uid_count, sizeof *set->uids, by_uid);
  return code;
}

/* "drum" or "drum=0.3". */
static int add_veil(const book *known, const char *text, render_choice *choice) {
  char words[1024], *end = NULL;
  const size_t length = strcspn(text, "=");
  const float alpha = text[length] ? strtof(text + length + 1, &end) : ALPHA;
  if (length >= sizeof words || (end && (*end || end == text + length + 1)) ||
      !(alpha > 0 && alpha <= 1) || choice->veil_count == RENDER_VEILS) {
    cli_error("render: option '--translucent': '%s' is not NAME or NAME=A with A from 0 (clear) to "
              "1 (solid), at most %d times",
              text, RENDER_VEILS);
    return CLI_INPUT;
  }
  snprintf(words, sizeof words, "%.*s", (int)length, text);
  choice->alphas[choice->veil_count++] = alpha;
  return add_words(known, "translucent", words, &choice->veils[choice->veil_count - 1]);
}

int render_choose(const char *folder, const char *path, const cli_texts *hide,
                  const cli_texts *only, const cli_texts *translucent, render_choice *choice) {
  book known;
  if (hide->count + only->count + translucent->count == 0)
    return CLI_DONE;
  int code = open_book(folder, path, &known);
  if (code != CLI_DONE)
    return code;
  for (size_t i = 0; i < hide->count && code == CLI_DONE; ++i)
    code = add_words(&known, "hide", hide->data[i], &choice->hide);
  for (size_t i = 0; i < only->count && code == CLI_DONE; ++i)
    code = add_words(&known, "only", only->data[i], &choice->only);
  choice->has_only = only->count > 0;
  choice->has_hide = hide->count > 0;
  for (size_t i = 0; i < translucent->count && code == CLI_DONE; ++i)
    code = add_veil(&known, translucent->data[i], choice);
  close_book(&known);
  return code;
}
