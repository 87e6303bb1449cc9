/* What the tables are asked for: look-ups, expectations in words, and the release of structs. */
#include "scene/schema.h"

int tl_map_find(const tl_map *map, const char *name) {
  for (int i = 0; map->keys[i].name; ++i)
    if (strcmp(map->keys[i].name, name) == 0)
      return i;
  return -1;
}

int tl_words_find(const tl_words *words, const char *word) {
  for (int i = 0; words && words->list[i].word; ++i)
    if (strcmp(words->list[i].word, word) == 0)
      return i;
  return -1;
}

bool tl_is_listed(const char *const *list, const char *word) {
  for (; list && *list; ++list)
    if (strcmp(*list, word) == 0)
      return true;
  return false;
}

static uint32_t bit_of(const tl_map *map, const char *key) {
  const int i = tl_map_find(map, key);
  TL_ASSERT(i >= 0);
  return UINT32_C(1) << i;
}

bool tl_object_has(const tl_map *map, const void *object, const char *key) {
  return (((const tl_object *)object)->has & bit_of(map, key)) != 0;
}

bool tl_object_good(const tl_map *map, const void *object, const char *key) {
  const tl_object *head = object;
  return (head->has & ~head->bad & bit_of(map, key)) != 0;
}

const char *tl_word_of(const tl_words *words, int value) {
  const tl_word *word = words->list;
  while (word->word && word->value != value)
    word++;
  TL_ASSERT(word->word);
  return word->word;
}

const tl_only *tl_object_idle(const tl_map *map, const tl_key *key, const void *object) {
  for (const tl_only *only = key->only; only && only->key; ++only) {
    const tl_key *other = &map->keys[tl_map_find(map, only->key)];
    const char *word = tl_word_of(other->words, *(const int *)tl_member(other, object));
    if (!tl_is_listed(only->words, word))
      return only;
  }
  return NULL;
}

/* ---- expectations in words ------------------------------------------------------------------- */

/* "a, b or c": the separator before entry i of n. */
static const char *separator(int i, int n) { return i == 0 ? "" : i == n - 1 ? " or " : ", "; }

void tl_expect_words(tl_text *text, const tl_words *words, const char *last) {
  int n = 0;
  while (words->list[n].word)
    n++;
  for (int i = 0; i < n; ++i) {
    const bool is_last = i > 0 && i == n - 1;
    tl_text_add(text, "%s%s", i == 0 ? "" : is_last ? last : ", ", words->list[i].word);
  }
}

void tl_expect_only(tl_text *text, const tl_key *key, bool with_names) {
  for (const tl_only *only = key->only; only && only->key; ++only) {
    int n = 0;
    while (only->words[n])
      n++;
    tl_text_add(text, "%s%s%s", only == key->only ? "" : " with ", with_names ? only->key : "",
                with_names ? " " : "");
    for (int i = 0; i < n; ++i)
      tl_text_add(text, "%s%s", separator(i, n), only->words[i]);
  }
}

void tl_expect_keys(tl_text *text, const tl_map *map) {
  int n = 0;
  while (map->keys[n].name)
    n++;
  for (int i = 0; i < n; ++i)
    tl_text_add(text, "%s%s", separator(i, n), map->keys[i].name);
}

static void expect_range(tl_text *text, const tl_range *range, bool is_whole) {
  const double most = is_whole ? 1e18 : 1e30;
  const bool from = range->low > -most, to = range->high < most;
  tl_text_add(text, is_whole ? "a whole number" : "a number");
  if (from) {
    tl_text_add(text, range->is_open ? " greater than " : to ? " from " : " of at least ");
    tl_text_add_number(text, range->low);
  }
  if (to) {
    tl_text_add(text, !from ? " of at most " : range->is_open ? ", at most " : " to ");
    tl_text_add_number(text, range->high);
  }
}

static void expect_number(tl_text *text, const tl_key *key) {
  const bool is_whole = key->type == TL_TYPE_INTEGER;
  if (key->range.low == key->range.high)
    tl_text_add(text, "%g", key->range.low);
  else
    expect_range(text, &key->range, is_whole);
  if (key->unit)
    tl_text_add(text, ", in %s", key->unit);
  if (key->words) {
    tl_text_add(text, ", or ");
    tl_expect_words(text, key->words, " or ");
  }
}

static void expect_numbers(tl_text *text, const tl_key *key) {
  tl_text_add(text, "a list of %s%d numbers", key->flags & TL_KEY_FEWER ? "up to " : "",
              key->count);
  tl_text each = {0};
  expect_range(&each, &key->range, false);
  if (each.count > strlen("a number"))
    tl_text_add(text, ", each%s", each.data + strlen("a number"));
  tl_text_drop(&each);
  if (key->unit)
    tl_text_add(text, ", in %s", key->unit);
}

static void expect_map(tl_text *text, const tl_map *map) {
  if (map->bare) {
    tl_expect(text, &map->keys[tl_map_find(map, map->bare)]);
    if (map->is_bare)
      return;
    tl_text_add(text, ", or ");
  }
  tl_text_add(text, "a map {");
  for (int i = 0; map->keys[i].name; ++i)
    tl_text_add(text, "%s%s", i == 0 ? "" : ", ", map->keys[i].name);
  tl_text_add(text, "}");
}

void tl_expect(tl_text *text, const tl_key *key) {
  if (key->expected) {
    tl_text_add(text, "%s", key->expected);
    return;
  }
  switch (key->type) {
  case TL_TYPE_NUMBER:
  case TL_TYPE_INTEGER:
    expect_number(text, key);
    break;
  case TL_TYPE_FLAG:
    tl_text_add(text, "true or false");
    break;
  case TL_TYPE_TEXT:
    tl_text_add(text, "one line of text");
    break;
  case TL_TYPE_NAME:
    tl_text_add(text, "a name");
    break;
  case TL_TYPE_NAMES:
    tl_text_add(text, "two names, [A, B]");
    break;
  case TL_TYPE_LABELS:
    tl_text_add(text, "a list of names");
    break;
  case TL_TYPE_WORD:
    tl_expect_words(text, key->words, " or ");
    break;
  case TL_TYPE_WORDS:
    tl_text_add(text, "a list of ");
    tl_expect_words(text, key->words, " and ");
    break;
  case TL_TYPE_NUMBERS:
    expect_numbers(text, key);
    break;
  case TL_TYPE_COURSE:
    if (key->count == 1)
      expect_number(text, key);
    else
      expect_numbers(text, key);
    tl_text_add(text, ", or {ramp: [[time, %s], ...]} or {table: FILE}",
                key->count == 1 ? "value" : "x, y, z");
    break;
  case TL_TYPE_RISING:
    tl_text_add(text, "a list of 1 to %d rising numbers%s%s", key->count, key->unit ? ", in " : "",
                key->unit ? key->unit : "");
    break;
  case TL_TYPE_COUNTS:
    tl_text_add(text, "a list of up to %d whole numbers from %g on", key->count, key->range.low);
    break;
  case TL_TYPE_BOX:
    tl_text_add(text, "two corners [[x, y, z], [x, y, z]], the lower one first, in m");
    break;
  case TL_TYPE_ROTATION:
    tl_text_add(text, key->words ? "[w, x, y, z], {axis: [x, y, z], degrees: d} or random"
                                 : "[w, x, y, z] or {axis: [x, y, z], degrees: d}");
    break;
  case TL_TYPE_TABLE:
    tl_text_add(text, "a list of [size, share]");
    break;
  case TL_TYPE_POINTS:
    tl_text_add(text, key->count == 3   ? "the name of a file, or a list of points [x, y, z], in m"
                      : key->count == 4 ? "a list of spheres [x, y, z, radius], in m"
                                        : "a list of points [z, radius], in m");
    break;
  case TL_TYPE_SHAPE:
    tl_text_add(text, "the name of a shape");
    break;
  case TL_TYPE_MAP:
  case TL_TYPE_BOXED:
    expect_map(text, key->map);
    break;
  case TL_TYPE_LIST:
    tl_text_add(text, "a list of %s", key->map->plural);
    break;
  case TL_TYPE_NAMED:
    tl_text_add(text, "a map from names to %s", key->map->plural);
    break;
  }
}

const char *tl_suggest_key(const tl_map *map, const char *word) {
  tl_suggestion suggestion = {.word = word};
  for (int i = 0; map->keys[i].name; ++i)
    tl_suggest(&suggestion, map->keys[i].name);
  return suggestion.best;
}

/* ---- release --------------------------------------------------------------------------------- */

static void free_items(tl_items *items, size_t size) {
  tl_array_release(&items->data, &items->count, &items->capacity, size);
}

static void release_boxed(const tl_map *map, void **box) {
  if (!*box)
    return;
  tl_object_release(map, *box);
  (void)tl_resize(box, map->size, 0); /* freeing cannot fail */
}

static void release_member(const tl_key *key, void *member) {
  switch (key->type) {
  case TL_TYPE_TEXT:
  case TL_TYPE_NAME:
    tl_string_free(member);
    break;
  case TL_TYPE_NAMES:
    tl_string_free(&((char **)member)[0]);
    tl_string_free(&((char **)member)[1]);
    break;
  case TL_TYPE_LABELS: {
    tl_items *labels = member;
    for (size_t i = 0; i < labels->count; ++i)
      tl_string_free((char **)labels->data + i);
    free_items(labels, sizeof(char *));
    break;
  }
  case TL_TYPE_COURSE:
    tl_string_free(&((tl_scene_course *)member)->table);
    free_items(&((tl_scene_course *)member)->ramp, (size_t)(key->count + 1) * sizeof(double));
    break;
  case TL_TYPE_RISING:
  case TL_TYPE_COUNTS:
    free_items(member, sizeof(double));
    break;
  case TL_TYPE_TABLE:
    free_items(member, sizeof(double[2]));
    break;
  case TL_TYPE_POINTS:
    tl_string_free(&((tl_scene_points *)member)->file);
    free_items(&((tl_scene_points *)member)->rows, (size_t)key->count * sizeof(double));
    break;
  case TL_TYPE_SHAPE: {
    tl_scene_shape_use *use = member;
    tl_string_free(&use->name);
    void *own = use->own;
    release_boxed(&tl_schema_shape, &own);
    use->own = NULL;
    break;
  }
  case TL_TYPE_MAP:
    tl_object_release(key->map, member);
    break;
  case TL_TYPE_BOXED: {
    void *box;
    memcpy(&box, member, sizeof box); /* the member points to a struct, not to void */
    release_boxed(key->map, &box);
    memcpy(member, &box, sizeof box);
    break;
  }
  case TL_TYPE_LIST:
  case TL_TYPE_NAMED: {
    tl_items *items = member;
    for (size_t i = 0; i < items->count; ++i) {
      void *item = (char *)items->data + i * key->map->size;
      if (key->type == TL_TYPE_NAMED)
        tl_string_free(tl_item_name(item));
      tl_object_release(key->map, item);
    }
    free_items(items, key->map->size);
    break;
  }
  case TL_TYPE_NUMBER:
  case TL_TYPE_INTEGER:
  case TL_TYPE_FLAG:
  case TL_TYPE_WORD:
  case TL_TYPE_WORDS:
  case TL_TYPE_NUMBERS:
  case TL_TYPE_BOX:
  case TL_TYPE_ROTATION:
    break;
  }
}

void tl_object_release(const tl_map *map, void *object) {
  for (const tl_key *key = map->keys; key->name; ++key)
    release_member(key, tl_member(key, object));
}
