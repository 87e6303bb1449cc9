/* How rows of the schema are written; for the files that hold its tables. */
#ifndef TL_SCENE_SCHEMA_KEYS_H
#define TL_SCENE_SCHEMA_KEYS_H

#include "scene/schema.h"

#define KEY(owner, member, kind)                                                                   \
  .name = #member, .type = TL_TYPE_##kind, .offset = offsetof(owner, member)

/* Beyond this, squares would overflow a float: surely a mistake. */
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
extern const tl_words tl_schema_random;    /* "random" for a rotation */

/* Keys that bodies, fills, tables and emitters share. OWNER is the struct of the map. */
#define SHAPE_HELP                                                                                 \
  .expected = "the name of a shape, or a shape such as {sphere: 0.05}", .example = "grain",        \
  .help = "its shape"
#define MATERIAL_KEY                                                                               \
  KEY(OWNER, material, NAME), .flags = TL_KEY_OPTIONAL, .expected = "the name of a material",      \
                              .example = "rock",                                                   \
                              .help = "its material; may be left out where the scene has only one"
#define GROUP_KEY                                                                                  \
  KEY(OWNER, group, NAME), .flags = TL_KEY_OPTIONAL, .expected = "a label", .example = "walls",    \
                           .help = "a label that `ignore` can name"
#define VELOCITY_KEY                                                                               \
  KEY(OWNER, velocity, NUMBERS), .count = 3, ANY, .unit = "m/s", .fallback = "[0, 0, 0]",          \
                                 .example = "[0, 0, -1]",                                          \
                                 .help = "of the centre of mass, at the start"
#define SPIN_KEY                                                                                   \
  KEY(OWNER, spin, NUMBERS), .count = 3, ANY, .unit = "rad/s", .fallback = "[0, 0, 0]",            \
                             .example = "[0, 0, 6.28]",                                            \
                             .help = "angular velocity at the start, world axes"
#define ROTATIONS_KEY                                                                              \
  KEY(OWNER, rotation, ROTATION), .words = &tl_schema_random, .fallback = "[1, 0, 0, 0]",          \
                                  .example = "random",                                             \
                                  .help = "[w, x, y, z], {axis, degrees} or `random`"
#define SEED_KEY                                                                                   \
  KEY(OWNER, seed, INTEGER), .range = {0, 18446744073709551615.0, false}, .fallback = "1",         \
                             .example = "7", .help = "seed of its random numbers"
#define SIZE_KEY                                                                                   \
  KEY(OWNER, size, MAP), .map = &tl_schema_size, .flags = TL_KEY_OPTIONAL,                         \
                         .example = "{uniform: [0.8, 1.2]}",                                       \
                         .help = "the scale of each body; otherwise 1"

#endif
