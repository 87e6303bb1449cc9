/* The scene format as data. One row per key; reading, checking, messages, defaults, writing and
 * docs/scene.md all come from these rows. To add a key: a member in scene.h and a row in one of
 * schema*.c. */
#ifndef TL_SCENE_SCHEMA_H
#define TL_SCENE_SCHEMA_H

#include "scene/scene.h"

/* What a key's value looks like, and the C type of its member. */
typedef enum tl_type {
  TL_TYPE_NUMBER,   /* double; `words` may stand for numbers */
  TL_TYPE_INTEGER,  /* uint64_t */
  TL_TYPE_FLAG,     /* bool */
  TL_TYPE_TEXT,     /* char *: one line */
  TL_TYPE_NAME,     /* char *: a name that this key gives, or that stands elsewhere */
  TL_TYPE_NAMES,    /* char *[2] */
  TL_TYPE_LABELS,   /* tl_items of char *: names, or one name */
  TL_TYPE_WORD,     /* int: one of `words` */
  TL_TYPE_WORDS,    /* uint32_t: any of `words`, as bits */
  TL_TYPE_NUMBERS,  /* double[count] */
  TL_TYPE_COURSE,   /* tl_scene_course of `count` numbers */
  TL_TYPE_RISING,   /* tl_items of double, each more than the one before */
  TL_TYPE_COUNTS,   /* tl_items of double: up to `count` whole numbers */
  TL_TYPE_BOX,      /* double[6]: [[x, y, z], [x, y, z]] */
  TL_TYPE_ROTATION, /* tl_scene_rotation; `words` holds `random` where that is allowed */
  TL_TYPE_TABLE,    /* tl_items of double[2] */
  TL_TYPE_POINTS,   /* tl_scene_points: rows of `count` numbers; of 3: or the name of a file */
  TL_TYPE_SHAPE,    /* tl_scene_shape_use */
  TL_TYPE_MAP,      /* a struct in place */
  TL_TYPE_BOXED,    /* a pointer to a struct */
  TL_TYPE_LIST,     /* tl_items of structs */
  TL_TYPE_NAMED     /* tl_items of structs with `char *name` after the object */
} tl_type;

typedef struct tl_word {
  const char *word;
  int value;
  const char *help;
} tl_word;

typedef struct tl_words {
  const tl_word *list;      /* ends with {NULL} */
  const char *const *later; /* of the design, not in this version; ends with NULL; may be NULL */
} tl_words;

typedef struct tl_range {
  double low, high;
  bool is_open; /* low itself is excluded */
} tl_range;

enum {
  TL_KEY_OPTIONAL = 1, /* may be left out, and has no default */
  TL_KEY_ONE_OF = 2,   /* of the keys so marked, a map has exactly one */
  TL_KEY_ALONE = 4,    /* where it is, nothing else is */
  TL_KEY_FILE = 8,     /* a name that becomes a file's name */
  TL_KEY_FLAT = 16,    /* a box that may be flat */
  TL_KEY_FULL = 32,    /* a list that may not be empty */
  TL_KEY_RUN = 64,     /* about the run, not about what happens: no part of the identity */
  TL_KEY_PATH = 128,   /* the name of a file, relative to the scene's folder */
  TL_KEY_SINGLE = 256, /* a list for which a single entry may stand; never empty */
  TL_KEY_WHOLE = 512,  /* where it is, the whole map is one of this key's map */
  TL_KEY_LABEL = 1024, /* may stand beside a key that is otherwise alone */
  TL_KEY_FEWER = 2048  /* numbers of which some may be left out at the end: 0 */
};

struct tl_map;

/* A key has an effect only where another of its map, a WORD, is one of these. */
typedef struct tl_only {
  const char *key;
  const char *const *words; /* ends with NULL */
} tl_only;

typedef struct tl_key {
  const char *name;
  tl_type type;
  size_t offset; /* of the member */
  unsigned flags;
  const char *fallback; /* default as YAML; NULL and not optional: required */
  const char *unit;
  tl_range range;           /* numbers and integers, each of them */
  int count;                /* NUMBERS */
  const tl_words *words;    /* WORD, WORDS, NUMBER, ROTATION */
  const struct tl_map *map; /* MAP, BOXED, LIST, NAMED */
  const tl_only *only;      /* all of them hold, or the key does nothing; ends with {NULL} */
  const char *expected;     /* "the name of a material", where the type does not say enough */
  const char *help, *example;
} tl_key;

typedef struct tl_map {
  const char *title; /* "a body": in messages and as a heading */
  const char *plural;
  const tl_key *keys; /* ends with {NULL} */
  size_t size;        /* of the struct */
  const char *bare;   /* a value that is no map stands for {bare: value} */
  bool is_bare;       /* always written so */
  const char *const *later;
  const char *help;
} tl_map;

extern const tl_map tl_schema_scene;
/* Every map that can be reached, tl_schema_scene first; ends with NULL. */
extern const tl_map *const tl_schema_maps[];
extern const tl_map tl_schema_until, tl_schema_step, tl_schema_solve, tl_schema_broad,
    tl_schema_narrow, tl_schema_contact, tl_schema_sleep, tl_schema_domain;
extern const tl_map tl_schema_material, tl_schema_pair, tl_schema_ignore, tl_schema_output;
extern const tl_map tl_schema_ball, tl_schema_cylinder, tl_schema_disc, tl_schema_source,
    tl_schema_size, tl_schema_lognormal;
extern const tl_map tl_schema_sink, tl_schema_probe;
extern const tl_map tl_schema_mesh, tl_schema_shape, tl_schema_body, tl_schema_motion,
    tl_schema_fill, tl_schema_table, tl_schema_emitter, tl_schema_region, tl_schema_repeat,
    tl_schema_spread;
extern const tl_map tl_schema_grid, tl_schema_average, tl_schema_zone;
extern const tl_map tl_schema_zone_of, tl_schema_zone_force;
extern const tl_map tl_schema_superellipsoid, tl_schema_turned, tl_schema_funnel;
extern const tl_map tl_schema_from, tl_schema_selection, tl_schema_change, tl_schema_press;
extern const tl_map tl_schema_joint, tl_schema_limits, tl_schema_spring, tl_schema_motor,
    tl_schema_breaking;

#define TL_MAP_KEYS 32 /* most keys of a map: bits of tl_object.has */

/* Number of a key in its map, or -1. */
int tl_map_find(const tl_map *map, const char *name);
int tl_words_find(const tl_words *words, const char *word); /* row, or -1 */
bool tl_is_listed(const char *const *list, const char *word);
bool tl_object_has(const tl_map *map, const void *object, const char *key);
/* Has it, and it was not refused. */
bool tl_object_good(const tl_map *map, const void *object, const char *key);

/* The first condition under which a key has an effect and that does not hold, or NULL. */
const tl_only *tl_object_idle(const tl_map *map, const tl_key *key, const void *object);
const char *tl_word_of(const tl_words *words, int value); /* the word that stands for it */

static inline void *tl_member(const tl_key *key, const void *object) {
  return (char *)(uintptr_t)object + key->offset;
}

/* The name of an item of a NAMED member. */
static inline char **tl_item_name(void *item) {
  return (char **)(void *)((char *)item + offsetof(tl_scene_material, name));
}

/* "a number greater than 0, in m" */
void tl_expect(tl_text *text, const tl_key *key);
void tl_expect_keys(tl_text *text, const tl_map *map); /* "density, friction or restitution" */
void tl_expect_words(tl_text *text, const tl_words *words, const char *last);
/* "ccp with apgd, bb or jacobi", of a key that is not for all kinds; or, with the names of the keys
 * that choose, "kind ccp with method apgd, bb or jacobi" */
void tl_expect_only(tl_text *text, const tl_key *key, bool with_names);
const char *tl_suggest_key(const tl_map *map, const char *word); /* or NULL */

/* Frees what a map's struct owns (the struct itself belongs to the caller). */
void tl_object_release(const tl_map *map, void *object);

#endif
