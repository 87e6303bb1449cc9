/* Small texts: a growing one to print into, copies, numbers that survive a round trip, names that
 * look alike, and an index from names to rows. */
#ifndef TL_SCENE_TEXT_H
#define TL_SCENE_TEXT_H

#include "base/memory.h"

/* ---- a growing text -------------------------------------------------------------------------- */

/* A failure is stored in `status`, and later calls do nothing, so that a printer need not check
 * each call. */
typedef struct tl_text {
  char *data;
  size_t count, capacity;
  talus_status status;
} tl_text;

void tl_text_add(tl_text *text, const char *fmt, ...) TL_PRINTF(2, 3);
void tl_text_add_bytes(tl_text *text, const char *bytes, size_t n);
/* The shortest decimal that reads back as the same double. */
void tl_text_add_number(tl_text *text, double value);
/* As YAML reads it back: plain where that is safe, in double quotes otherwise. */
void tl_text_add_quoted(tl_text *text, const char *string);
/* Hands out the text, in a block as long as the text and its zero; *text is empty afterwards. */
talus_status tl_text_take(tl_text *text, char **out);
void tl_text_drop(tl_text *text);

talus_status tl_string_copy(const char *bytes, size_t n, char **copy);
void tl_string_free(char **string); /* of tl_string_copy or tl_text_take; NULL is fine */

/* ---- names ----------------------------------------------------------------------------------- */

/* Letters to change, add, drop or swap to turn a into b, or a number above `most` when it takes
 * more than that. Capitals count as small letters (and a difference in them alone as 0). */
size_t tl_edit_distance(const char *a, const char *b, size_t most);

/* The nearest of the candidates offered to it: a slip of the pen, a word cut short (`fric`), or
 * what others call it (`hinge`). */
typedef struct tl_suggestion {
  const char *word; /* what was written */
  const char *best; /* NULL: nothing like it */
  size_t distance;
} tl_suggestion;
void tl_suggest(tl_suggestion *suggestion, const char *candidate);

/* From names to rows. Names are borrowed. */
typedef struct tl_names {
  TL_ARRAY(const char *) list;
  TL_ARRAY(uint32_t) rows;
  TL_ARRAY(uint32_t) table; /* open addressing: 1 + place in list */
} tl_names;

/* *first becomes the row already known under that name, or `row` when it is new. */
talus_status tl_names_add(tl_names *names, const char *name, uint32_t row, uint32_t *first);
bool tl_names_find(const tl_names *names, const char *name, uint32_t *row);
const char *tl_names_suggest(const tl_names *names, const char *name); /* or NULL */
void tl_names_free(tl_names *names);

/* ---- the decimal point ----------------------------------------------------------------------- */

/* Scene files use "." whatever the program's locale: strtod and printf between the two calls follow
 * the C locale, on this thread. */
typedef struct tl_c_locale {
  void *own, *before;
} tl_c_locale;
talus_status tl_c_locale_enter(tl_c_locale *locale);
void tl_c_locale_leave(tl_c_locale *locale);

#endif
