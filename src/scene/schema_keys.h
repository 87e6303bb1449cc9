/* How rows of the schema are written; for the files that hold its tables. */
#ifndef TL_SCENE_SCHEMA_KEYS_H
#define TL_SCENE_SCHEMA_KEYS_H

#include "scene/schema.h"

#define KEY(owner, member, kind)                                                                   \
  .name = #member, .type = TL_TYPE_##kind, .offset = offsetof(owner, member)

/* Beyond these, squares would leave the range of float: a slip, not a scene. */
#define MOST         1e30
#define ANY          .range = {-MOST, MOST, false}
#define POSITIVE     .range = {0, MOST, true}
#define NOT_NEGATIVE .range = {0, MOST, false}
#define UNIT         .range = {0, 1, false}
#define SCALE        .range = {1e-12, 1e12, false}

#define LATER(...)                                                                                 \
  (const char *const[]) { __VA_ARGS__, NULL }
#define ONLY(...)                                                                                  \
  .only = (const tl_only[]) {                                                                      \
    __VA_ARGS__, { 0 }                                                                             \
  }
#define WHERE(which, ...)                                                                          \
  {                                                                                                \
    which, (const char *const[]) { __VA_ARGS__, NULL }                                             \
  }
#define WORDS(...)                                                                                 \
  (const tl_word[]) {                                                                              \
    __VA_ARGS__, { 0 }                                                                             \
  }

extern const tl_words tl_schema_automatic; /* "auto" for a number */

#endif
