/* From structs to the canonical text: every value a scene has, in the order of the tables. Reading
 * it gives the same structs, bit for bit, and writing those gives the same text. */
#include "base/hash.h"
#include "scene/schema.h"
#include "scene/shapes.h"

typedef struct writer {
  tl_text text;
  const talus_scene *scene;
  bool for_identity;
} writer;

static void write_object(writer *w, const tl_map *map, const void *object);

static void write_numbers(writer *w, const double *values, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    tl_text_add(&w->text, i == 0 ? "[" : ", ");
    tl_text_add_number(&w->text, values[i]);
  }
  tl_text_add(&w->text, "]");
}

static void write_word(writer *w, const tl_words *words, int value) {
  tl_text_add(&w->text, "%s", tl_word_of(words, value));
}

static void write_words(writer *w, const tl_words *words, uint32_t bits) {
  const char *before = "";
  tl_text_add(&w->text, "[");
  for (const tl_word *word = words->list; word->word; ++word)
    if (bits & (uint32_t)word->value) {
      tl_text_add(&w->text, "%s%s", before, word->word);
      before = ", ";
    }
  tl_text_add(&w->text, "]");
}

static void write_table(writer *w, const tl_items *table, size_t width) {
  const double *rows = table->data;
  for (size_t i = 0; i < table->count; ++i) {
    tl_text_add(&w->text, i == 0 ? "[" : ", ");
    write_numbers(w, rows + width * i, width);
  }
  tl_text_add(&w->text, "]");
}

static bool is_word_of(const tl_words *words, double value) {
  for (const tl_word *word = words ? words->list : NULL; word && word->word; ++word)
    if ((double)word->value == value)
      return true;
  return false;
}

/* `from` folders and files of points are relative to the scene's own folder, where the text may not
 * stay: it gets the path as a whole. Of an identity only the last name is a part, so that folders
 * may move. */
static void write_folder(writer *w, const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  tl_text full = {0};
  if (w->for_identity) {
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
      start--;
    tl_text_add_bytes(&full, path + start, length - start);
  } else {
    if (path[0] != '/')
      tl_text_add(&full, "%s/", w->scene->folder);
    tl_text_add_bytes(&full, path, length);
  }
  if (full.status == TALUS_OK)
    tl_text_add_quoted(&w->text, full.data);
  else
    w->text.status = full.status;
  tl_text_drop(&full);
}

static void write_points(writer *w, const tl_key *key, const tl_scene_points *points) {
  if (points->file)
    write_folder(w, points->file);
  else
    write_table(w, &points->rows, (size_t)key->count);
}

static void write_number(writer *w, const tl_key *key, double value) {
  if (is_word_of(key->words, value))
    write_word(w, key->words, (int)value);
  else
    tl_text_add_number(&w->text, value);
}

static void write_names(writer *w, char *const *names) {
  tl_text_add(&w->text, "[");
  tl_text_add_quoted(&w->text, names[0]);
  tl_text_add(&w->text, ", ");
  tl_text_add_quoted(&w->text, names[1]);
  tl_text_add(&w->text, "]");
}

static void write_course(writer *w, const tl_key *key, const tl_scene_course *course) {
  if (!tl_scene_varies(course)) {
    if (key->count == 1)
      write_number(w, key, course->value[0]);
    else
      write_numbers(w, course->value, (size_t)key->count);
    return;
  }
  tl_text_add(&w->text, course->table ? "{table: " : "{ramp: ");
  if (course->table)
    write_folder(w, course->table);
  else
    write_table(w, &course->ramp, (size_t)key->count + 1);
  tl_text_add(&w->text, "}");
}

static void write_labels(writer *w, const tl_items *labels) {
  char *const *names = labels->data;
  for (size_t i = 0; i < labels->count; ++i) {
    tl_text_add(&w->text, i == 0 ? "[" : ", ");
    tl_text_add_quoted(&w->text, names[i]);
  }
  tl_text_add(&w->text, "]");
}

static void write_box(writer *w, const double *box) {
  tl_text_add(&w->text, "[");
  write_numbers(w, box, 3);
  tl_text_add(&w->text, ", ");
  write_numbers(w, box + 3, 3);
  tl_text_add(&w->text, "]");
}

static void write_rotation(writer *w, const tl_scene_rotation *rotation) {
  if (rotation->is_random)
    tl_text_add(&w->text, "random");
  else
    write_numbers(w, rotation->quaternion, 4);
}

static void write_shape(writer *w, const tl_scene_shape_use *use) {
  if (use->own)
    write_object(w, &tl_schema_shape, use->own);
  else
    tl_text_add_quoted(&w->text, use->name);
}

/* Within a map, so on one line. */
static void write_few(writer *w, const tl_key *key, const tl_items *items) {
  tl_text_add(&w->text, items->count == 1 ? "" : "[");
  for (size_t i = 0; i < items->count; ++i) {
    tl_text_add(&w->text, i == 0 ? "" : ", ");
    write_object(w, key->map, (const char *)items->data + i * key->map->size);
  }
  tl_text_add(&w->text, items->count == 1 ? "" : "]");
}

static void write_items(writer *w, const tl_key *key, const tl_items *items) {
  if (key->flags & TL_KEY_SINGLE) {
    write_few(w, key, items);
    return;
  }
  const bool is_map = key->type == TL_TYPE_NAMED;
  if (items->count == 0)
    tl_text_add(&w->text, is_map ? "{}" : "[]");
  for (size_t i = 0; i < items->count; ++i) {
    void *item = (char *)items->data + i * key->map->size;
    tl_text_add(&w->text, is_map ? "\n  " : "\n  - ");
    if (is_map) {
      tl_text_add_quoted(&w->text, *tl_item_name(item));
      tl_text_add(&w->text, ": ");
    }
    write_object(w, key->map, item);
  }
}

static void write_value(writer *w, const tl_key *key, const void *member) {
  const void *box = NULL;
  switch (key->type) {
  case TL_TYPE_NUMBER:
    write_number(w, key, *(const double *)member);
    break;
  case TL_TYPE_INTEGER:
    tl_text_add(&w->text, "%llu", (unsigned long long)*(const uint64_t *)member);
    break;
  case TL_TYPE_FLAG:
    tl_text_add(&w->text, *(const bool *)member ? "true" : "false");
    break;
  case TL_TYPE_TEXT:
  case TL_TYPE_NAME:
    if (key->flags & TL_KEY_PATH)
      write_folder(w, *(char *const *)member);
    else
      tl_text_add_quoted(&w->text, *(char *const *)member);
    break;
  case TL_TYPE_NAMES:
    write_names(w, member);
    break;
  case TL_TYPE_LABELS:
    write_labels(w, member);
    break;
  case TL_TYPE_WORD:
    write_word(w, key->words, *(const int *)member);
    break;
  case TL_TYPE_WORDS:
    write_words(w, key->words, *(const uint32_t *)member);
    break;
  case TL_TYPE_NUMBERS:
    write_numbers(w, member, (size_t)key->count);
    break;
  case TL_TYPE_COURSE:
    write_course(w, key, member);
    break;
  case TL_TYPE_RISING:
  case TL_TYPE_COUNTS:
    write_numbers(w, ((const tl_items *)member)->data, ((const tl_items *)member)->count);
    break;
  case TL_TYPE_BOX:
    write_box(w, member);
    break;
  case TL_TYPE_ROTATION:
    write_rotation(w, member);
    break;
  case TL_TYPE_TABLE:
    write_table(w, member, 2);
    break;
  case TL_TYPE_POINTS:
    write_points(w, key, member);
    break;
  case TL_TYPE_SHAPE:
    write_shape(w, member);
    break;
  case TL_TYPE_MAP:
    write_object(w, key->map, member);
    break;
  case TL_TYPE_BOXED:
    memcpy(&box, member, sizeof box); /* the member points to a struct, not to void */
    write_object(w, key->map, box);
    break;
  case TL_TYPE_LIST:
  case TL_TYPE_NAMED:
    write_items(w, key, member);
    break;
  }
}

/* Defaults of keys that do nothing here are left out: read again, they would count as given, and
 * be warned about. The identity keeps them, so that it is that of runs made before. */
static bool is_written(const writer *w, const tl_map *map, int i, const tl_object *object) {
  const uint32_t bit = UINT32_C(1) << i;
  if (!(object->has & bit))
    return false;
  return w->for_identity || (object->given & bit) || !tl_object_idle(map, &map->keys[i], object);
}

static void write_object(writer *w, const tl_map *map, const void *object) {
  if (map->is_bare) {
    const tl_key *key = &map->keys[tl_map_find(map, map->bare)];
    write_value(w, key, tl_member(key, object));
    return;
  }
  for (int i = 0; map->keys[i].name; ++i)
    if ((map->keys[i].flags & TL_KEY_WHOLE) && is_written(w, map, i, object)) {
      write_value(w, &map->keys[i], tl_member(&map->keys[i], object));
      return;
    }
  const char *before = "";
  tl_text_add(&w->text, "{");
  for (int i = 0; map->keys[i].name; ++i)
    if (is_written(w, map, i, object)) {
      tl_text_add(&w->text, "%s%s: ", before, map->keys[i].name);
      write_value(w, &map->keys[i], tl_member(&map->keys[i], object));
      before = ", ";
    }
  tl_text_add(&w->text, "}");
}

talus_status tl_scene_write_shape(const talus_scene *scene, const tl_scene_shape *shape,
                                  tl_text *text) {
  writer w = {.scene = scene};
  write_object(&w, &tl_schema_shape, shape);
  *text = w.text;
  if (w.text.status != TALUS_OK)
    tl_text_drop(text);
  return w.text.status;
}

static talus_status write_scene(writer *w, char **text) {
  tl_c_locale locale;
  TL_TRY(tl_c_locale_enter(&locale));
  for (int i = 0; tl_schema_scene.keys[i].name; ++i) {
    const tl_key *key = &tl_schema_scene.keys[i];
    if (!(w->scene->object.has & UINT32_C(1) << i) ||
        (w->for_identity && (key->flags & TL_KEY_RUN)))
      continue;
    const void *member = tl_member(key, w->scene);
    const bool is_block = (key->type == TL_TYPE_LIST || key->type == TL_TYPE_NAMED) &&
                          ((const tl_items *)member)->count > 0;
    tl_text_add(&w->text, is_block ? "%s:" : "%s: ", key->name);
    write_value(w, key, member);
    tl_text_add(&w->text, "\n");
  }
  tl_c_locale_leave(&locale);
  return tl_text_take(&w->text, text);
}

talus_status talus_scene_write(const talus_scene *scene, char **text) {
  TL_NEED(scene);
  TL_NEED(text);
  writer w = {.scene = scene};
  return write_scene(&w, text);
}

talus_status tl_scene_identity(const talus_scene *scene, uint64_t *hash) {
  writer w = {.scene = scene, .for_identity = true};
  char *text = NULL;
  TL_TRY(write_scene(&w, &text));
  *hash = tl_xxh64(text, strlen(text), 0);
  tl_string_free(&text);
  return TALUS_OK;
}
