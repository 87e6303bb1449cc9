/* Commands as functions, for the targets that call them: words from bytes, and no way out of the
 * folder that the target runs in. */
#ifndef TESTS_FUZZ_CLI_H
#define TESTS_FUZZ_CLI_H

#include <stdbool.h>
#include <string.h>

#include "cli.h"
#include "fuzz.h"

#define MOST_WORDS 24

/* Lines as words behind `argc` that are there; false where one could reach elsewhere, or would run
 * for long: a path, a built-in scene. */
static inline bool add_words(char *text, int *argc, char **argv) {
  if (strchr(text, '/') || strstr(text, ".."))
    return false;
  for (char *line = text; line && *argc < MOST_WORDS;) {
    char *end = strchr(line, '\n');
    if (end)
      *end++ = '\0';
    for (size_t i = 0; i < talus_builtin_count(); ++i) {
      const char *name, *about, *whole;
      talus_builtin_get(i, &name, &about, &whole);
      if (strcmp(line, name) == 0)
        return false;
    }
    argv[(*argc)++] = line;
    line = end;
  }
  argv[*argc] = NULL;
  return true;
}

static inline char *copy_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  PROMISE(text != NULL, "memory");
  if (size > 0)
    memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

static inline void write_text(const char *path, const void *data, size_t size) {
  FILE *to = fopen(path, "wb");
  PROMISE(to != NULL && (size == 0 || fwrite(data, 1, size, to) == size), "%s is written", path);
  fclose(to);
}

static inline void promise_code(int code) {
  PROMISE(code == CLI_DONE || code == CLI_FAILED || code == CLI_INPUT, "exit code %d", code);
}

/* A small scene, and the folder of its run. */
static const char tiny_scene[] =
    "talus: 1\n"
    "title: A tiny one\n"
    "until: 0.02\n"
    "materials: {stone: {density: 2600}}\n"
    "shapes: {ground: {plane: [0, 0, 1, 0]}, ball: {sphere: 0.1}}\n"
    "bodies:\n"
    "  - {name: ground, shape: ground, material: stone, fixed: true}\n"
    "  - {name: ball, shape: ball, material: stone, at: [0, 0, 0.1]}\n"
    "probes: [{name: floor, body: ground, record: [force]}]\n"
    "output: {every: 0.01, fields: [quaternion, velocity, contacts]}\n";

static inline talus_status run_tiny(const char *folder, bool resume, double until) {
  talus_scene *scene = NULL;
  talus_run_def def = talus_run_def_default();
  talus_status status = talus_scene_parse(tiny_scene, sizeof tiny_scene - 1, "tiny.yaml", NULL,
                                          NULL, 0, &scene, NULL);
  PROMISE(status == TALUS_OK, "%s", talus_last_error());
  def.folder = folder, def.force = !resume, def.resume = resume, def.threads = 1;
  def.until = until;
  status = talus_run(scene, &def, NULL);
  talus_scene_free(scene);
  return status;
}

#endif
