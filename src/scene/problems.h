/* What is wrong with a scene: every complaint with its place, reported together in the order of the
 * file, each with the line and a caret. */
#ifndef TL_SCENE_PROBLEMS_H
#define TL_SCENE_PROBLEMS_H

#include "base/quote.h"
#include "scene/text.h"

/* A text that complaints can point into. The file is source 0, settings (--set) follow. */
typedef struct tl_source {
  const char *name; /* "dir/scene.yaml", or "--set step.dt=1" */
  const char *text; /* without a byte order mark */
  size_t length;
  bool is_setting; /* named, not quoted: it is short and has no lines */
} tl_source;

/* A place in a source; lines and columns count from 1, columns in characters. */
typedef struct tl_mark {
  uint32_t line, column;
  uint32_t origin; /* which source */
} tl_mark;

typedef struct tl_problem {
  tl_mark mark;
  uint32_t order;
  char *text;
} tl_problem;

typedef struct tl_problems {
  TL_ARRAY(tl_source) sources;
  TL_ARRAY(tl_problem) list;
  size_t count;        /* all that were found; the list keeps the first few thousand */
  talus_status status; /* of the memory for them */
} tl_problems;

/* "what; expected ..." at a place. */
void tl_problem_add(tl_problems *problems, tl_mark mark, const char *fmt, ...) TL_PRINTF(3, 4);

/* Bytes that no scene may hold: not UTF-8, control characters, tabs as indentation. libyaml would
 * refuse most of them too, but without saying where. */
void tl_problems_scan(tl_problems *problems, uint32_t origin);

/* Whether a scalar holds no control characters and no line breaks but \n: escapes can make them,
 * and not every reader gives them back as they were. */
bool tl_is_plain_text(const char *bytes, size_t n);

/* In the order of the sources; what is said twice at one place stays once. */
void tl_problems_sort(tl_problems *problems);
/* One of them: its place, what it is and, of the file, the line with a caret; no newline at the
 * end. */
talus_status tl_problem_text(const tl_problems *problems, size_t i, char **text);

/* TALUS_OK where nothing was found; otherwise TALUS_ERROR_FORMAT with the first complaint as the
 * message and all of them (the first 50) in *report, which may be NULL. */
talus_status tl_problems_report(tl_problems *problems, char **report);
void tl_problems_free(tl_problems *problems);

#endif
