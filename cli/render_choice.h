/* Which bodies a picture shows, and which of them are translucent: by name, group, material or uid,
 * as given to `talus render --hide`, `--only` and `--translucent`. */
#ifndef CLI_RENDER_CHOICE_H
#define CLI_RENDER_CHOICE_H

#include "cli.h"
#include "frame_read.h"

#define RENDER_VEILS 8

typedef struct render_set {
  uint64_t *uids; /* sorted */
  size_t uid_count;
  char (*materials)[FRAME_NAME_BYTES];
  size_t material_count;
} render_set;

typedef struct render_choice {
  bool has_only, has_hide;
  render_set hide, only;
  render_set veils[RENDER_VEILS];
  float alphas[RENDER_VEILS]; /* 0: invisible, 1: solid */
  size_t veil_count;
} render_choice;

/* Finds the bodies that the words mean in a result folder; `path` is one of its frames. Returns an
 * exit code, after a message unless CLI_DONE: a word without meaning is refused. */
int render_choose(const char *folder, const char *path, const cli_texts *hide,
                  const cli_texts *only, const cli_texts *translucent, render_choice *choice);
void render_choice_free(render_choice *choice);

bool render_choice_shows(const render_choice *choice, const frame *bodies, size_t i);
/* 1 for a solid body. */
float render_choice_alpha(const render_choice *choice, const frame *bodies, size_t i);

#endif
