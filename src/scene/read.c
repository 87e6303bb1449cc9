#include "scene/read.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- where we are ---------------------------------------------------------------------------- */

const char *tl_reader_path(const tl_reader *reader) {
  return reader->path_length == 0 ? "the scene" : reader->path;
}

size_t tl_path_push(tl_reader *reader, const char *name) {
  const size_t before = reader->path_length;
  const int n =
      snprintf(reader->path + before, TL_PATH - before, "%s%.40s", before == 0 ? "" : ".", name);
  reader->path_length = n < 0 || before + (size_t)n >= TL_PATH ? TL_PATH - 1 : before + (size_t)n;
  return before;
}

size_t tl_path_push_row(tl_reader *reader, size_t row) {
  char digits[24];
  snprintf(digits, sizeof digits, "%zu", row);
  return tl_path_push(reader, digits);
}

void tl_path_pop(tl_reader *reader, size_t before) {
  reader->path[before] = '\0';
  reader->path_length = before;
}

/* ---- complaints ------------------------------------------------------------------------------ */

void tl_refuse(tl_reader *reader, tl_node_id node, const tl_key *key, const char *fmt, ...) {
  char what[400];
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  tl_text expected = {0};
  tl_expect(&expected, key);
  tl_problem_add(reader->problems, tl_node_mark(reader->document, node), "%s %s; expected %s",
                 tl_reader_path(reader), what, expected.count > 0 ? expected.data : "");
  tl_text_drop(&expected);
}

void tl_refuse_value(tl_reader *reader, tl_node_id node, const tl_key *key) {
  const tl_node *at = tl_node_at(reader->document, node);
  const char *text = tl_node_text(reader->document, node);
  if (at->kind == TL_NODE_MAP)
    tl_refuse(reader, node, key, "is a map");
  else if (at->kind == TL_NODE_LIST)
    tl_refuse(reader, node, key, at->count == 0 ? "is an empty list" : "is a list");
  else if (tl_node_is_null(reader->document, node))
    tl_refuse(reader, node, key, "has no value");
  else if (at->is_quoted)
    tl_refuse(reader, node, key, "is the text \"%.60s\"", text);
  else
    tl_refuse(reader, node, key, "is `%.60s`", text);
}

/* The path of a fill, "bodies.1.fill". */
static bool is_fill(const char *path) {
  const char *last = strrchr(path, '.');
  return last && strcmp(last, ".fill") == 0;
}

static void refuse_key(tl_reader *reader, tl_node_id node, const tl_map *map, const char *nearest) {
  const char *name = tl_node_text(reader->document, node);
  tl_text keys = {0};
  tl_expect_keys(&keys, map);
  const char *expected = keys.count > 0 ? keys.data : "";
  const tl_mark mark = tl_node_mark(reader->document, node);
  if (*name && name[strspn(name, "0123456789")] == '\0')
    tl_problem_add(
        reader->problems, mark,
        "%s has an unknown key `%.60s`; expected %s; a decimal has a point: 0.5, not 0,5",
        tl_reader_path(reader), name, expected);
  else if (strcmp(name, "name") == 0 && is_fill(tl_reader_path(reader)))
    tl_problem_add(reader->problems, mark,
                   "%s has an unknown key `name`; expected %s; the name stands before it: "
                   "{name: sand, fill: {...}}",
                   tl_reader_path(reader), expected);
  else if (tl_is_listed(map->later, name))
    tl_problem_add(reader->problems, mark, "%s: `%s` is not in this version of talus; expected %s",
                   tl_reader_path(reader), name, expected);
  else if (nearest)
    tl_problem_add(reader->problems, mark,
                   "%s has an unknown key `%.60s`; expected %s; did you mean `%s`?",
                   tl_reader_path(reader), name, expected, nearest);
  else
    tl_problem_add(reader->problems, mark, "%s has an unknown key `%.60s`; expected %s",
                   tl_reader_path(reader), name, expected);
  tl_text_drop(&keys);
}

/* ---- lists and maps of structs --------------------------------------------------------------- */

static void *add_item(tl_reader *reader, tl_items *items, size_t size) {
  if (reader->status != TALUS_OK)
    return NULL;
  reader->status = tl_array_grow(&items->data, &items->capacity, items->count + 1, size);
  if (reader->status != TALUS_OK)
    return NULL;
  void *item = (char *)items->data + size * items->count++;
  memset(item, 0, size);
  return item;
}

static bool read_list(tl_reader *reader, tl_node_id node, const tl_key *key, tl_items *items) {
  const tl_document *document = reader->document;
  const bool is_map = key->type == TL_TYPE_NAMED, may_be_one = key->flags & TL_KEY_SINGLE;
  if (may_be_one && tl_node_at(document, node)->kind == TL_NODE_MAP) {
    void *item = add_item(reader, items, key->map->size);
    if (item)
      tl_read_map(reader, node, key->map, item);
    return item != NULL;
  }
  if (tl_node_at(document, node)->kind != (is_map ? TL_NODE_MAP : TL_NODE_LIST) ||
      (may_be_one && tl_node_at(document, node)->count == 0)) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  for (tl_node_id id = tl_node_at(document, node)->first; id != 0;
       id = tl_node_at(document, id)->next) {
    void *item = add_item(reader, items, key->map->size);
    if (!item)
      return false;
    const size_t before = is_map ? tl_path_push(reader, tl_node_text(document, id))
                                 : tl_path_push_row(reader, items->count - 1);
    if (is_map) {
      static const tl_key name_key = {.type = TL_TYPE_NAME};
      tl_read_value(reader, id, &name_key, tl_item_name(item));
    }
    tl_read_map(reader, is_map ? tl_node_at(document, id)->first : id, key->map, item);
    tl_path_pop(reader, before);
  }
  return true;
}

static bool read_boxed(tl_reader *reader, tl_node_id node, const tl_map *map, void *member) {
  void *box = NULL;
  if (reader->status == TALUS_OK)
    reader->status = tl_resize(&box, 0, map->size);
  if (!box)
    return false;
  memset(box, 0, map->size);
  memcpy(member, &box, sizeof box);
  tl_read_map(reader, node, map, box);
  return true;
}

static bool read_member(tl_reader *reader, tl_node_id node, const tl_key *key, void *object) {
  void *member = tl_member(key, object);
  const tl_object *part = member;
  switch (key->type) {
  case TL_TYPE_MAP:
    tl_read_map(reader, node, key->map, member);
    return part->bad == 0;
  case TL_TYPE_BOXED:
    return read_boxed(reader, node, key->map, member);
  case TL_TYPE_LIST:
  case TL_TYPE_NAMED:
    return read_list(reader, node, key, member);
  case TL_TYPE_SHAPE: {
    tl_scene_shape_use *use = member;
    if (tl_node_at(reader->document, node)->kind == TL_NODE_MAP)
      return read_boxed(reader, node, &tl_schema_shape, &use->own);
    return tl_read_value(reader, node, key, member);
  }
  default:
    return tl_read_value(reader, node, key, member);
  }
}

/* ---- maps ------------------------------------------------------------------------------------ */

static void read_key(tl_reader *reader, tl_node_id value, const tl_map *map, int i, bool is_given,
                     tl_object *object) {
  const uint32_t bit = UINT32_C(1) << i;
  object->has |= bit;
  object->given |= is_given ? bit : 0;
  if (!read_member(reader, value, &map->keys[i], object))
    object->bad |= bit;
}

static bool is_label(const tl_map *map, const char *name) {
  const int i = tl_map_find(map, name);
  return i >= 0 && (map->keys[i].flags & TL_KEY_LABEL);
}

/* The key that stands alone, where there is one; complains about its company. */
static int find_alone(tl_reader *reader, tl_node_id node, const tl_map *map) {
  const tl_document *document = reader->document;
  for (int i = 0; map->keys[i].name; ++i) {
    const tl_key *key = &map->keys[i];
    if (!(key->flags & TL_KEY_ALONE) || !tl_node_find_key(document, node, key->name))
      continue;
    for (tl_node_id id = tl_node_at(document, node)->first; id != 0;
         id = tl_node_at(document, id)->next)
      if (strcmp(tl_node_text(document, id), key->name) != 0 &&
          !is_label(map, tl_node_text(document, id)))
        tl_problem_add(reader->problems, tl_node_mark(document, id),
                       "%s has `%.60s` together with `%s`; expected `%s` alone",
                       tl_reader_path(reader), tl_node_text(document, id), key->name, key->name);
    return i;
  }
  return -1;
}

/* Reads the keys that are there; true when one of them stands alone. *suspects gets the keys that
 * unknown ones may have been meant for: that those are missing need not be said as well. */
static bool read_given(tl_reader *reader, tl_node_id node, const tl_map *map, tl_object *object,
                       uint32_t *suspects) {
  const tl_document *document = reader->document;
  const int alone = find_alone(reader, node, map);
  for (tl_node_id id = tl_node_at(document, node)->first; id != 0;
       id = tl_node_at(document, id)->next) {
    const int i = tl_map_find(map, tl_node_text(document, id));
    if (alone >= 0 && i != alone && !is_label(map, tl_node_text(document, id)))
      continue;
    if (i < 0) {
      const char *nearest = tl_suggest_key(map, tl_node_text(document, id));
      refuse_key(reader, id, map, nearest);
      *suspects |= nearest ? UINT32_C(1) << tl_map_find(map, nearest) : 0;
      for (int k = 0; map->keys[k].name; ++k)
        if (map->keys[k].flags & TL_KEY_ONE_OF)
          *suspects |= UINT32_C(1) << k;
    } else if (!(object->has & UINT32_C(1) << i)) { /* a duplicate was refused before */
      const size_t before = tl_path_push(reader, map->keys[i].name);
      read_key(reader, tl_node_at(document, id)->first, map, i, true, object);
      tl_path_pop(reader, before);
    }
  }
  return alone >= 0;
}

/* Of the keys marked ONE_OF a map has exactly one. */
static void check_one_of(tl_reader *reader, tl_node_id node, const tl_map *map, tl_object *object,
                         uint32_t suspects) {
  tl_text names = {0};
  int first = -1, n = 0, total = 0;
  for (int i = 0; map->keys[i].name; ++i)
    total += (map->keys[i].flags & TL_KEY_ONE_OF) != 0;
  for (int i = 0; map->keys[i].name; ++i) {
    if (!(map->keys[i].flags & TL_KEY_ONE_OF))
      continue;
    tl_text_add(&names, "%s`%s`", n == 0 ? "" : n == total - 1 ? " or " : ", ", map->keys[i].name);
    n++;
    if (!(object->has & UINT32_C(1) << i))
      continue;
    if (first >= 0) {
      const tl_node_id id = tl_node_find_key(reader->document, node, map->keys[i].name);
      tl_problem_add(reader->problems, tl_node_mark(reader->document, id),
                     "%s has both `%s` and `%s`; expected one of them", tl_reader_path(reader),
                     map->keys[first].name, map->keys[i].name);
      object->bad |= UINT32_C(1) << i | UINT32_C(1) << first;
    } else {
      first = i;
    }
  }
  if (n > 0 && first < 0) {
    if (!suspects)
      tl_problem_add(reader->problems, tl_node_mark(reader->document, node),
                     "%s is incomplete; expected %s in it", tl_reader_path(reader),
                     names.count > 0 ? names.data : "");
    object->bad |= 1; /* any bit: the whole is of no use */
  }
  tl_text_drop(&names);
}

static size_t map_row(const tl_map *map) {
  size_t row = 0;
  while (tl_schema_maps[row] != map)
    row++;
  return row;
}

static void read_missing(tl_reader *reader, tl_node_id node, const tl_map *map, tl_object *object,
                         uint32_t suspects) {
  const tl_node_id *defaults = reader->defaults + map_row(map) * TL_MAP_KEYS;
  for (int i = 0; map->keys[i].name; ++i) {
    const tl_key *key = &map->keys[i];
    const uint32_t bit = UINT32_C(1) << i;
    if (object->has & bit)
      continue;
    if (defaults[i] != 0) {
      read_key(reader, defaults[i], map, i, false, object);
    } else if (!(key->flags & (TL_KEY_OPTIONAL | TL_KEY_ONE_OF))) {
      object->bad |= bit;
      if (!(suspects & bit)) {
        tl_text expected = {0};
        tl_expect(&expected, key);
        tl_problem_add(reader->problems, tl_node_mark(reader->document, node),
                       "%s has no `%s`; expected %s", tl_reader_path(reader), key->name,
                       expected.count > 0 ? expected.data : "");
        tl_text_drop(&expected);
      }
    }
  }
}

/* A map that is one of another kind, by a key that it has. */
static bool read_whole(tl_reader *reader, tl_node_id node, const tl_map *map, tl_object *object) {
  for (int i = 0; map->keys[i].name; ++i) {
    const tl_key *key = &map->keys[i];
    if (!(key->flags & TL_KEY_WHOLE) || !tl_node_find_key(reader->document, node, key->name))
      continue;
    object->has = object->given = UINT32_C(1) << i;
    if (!read_boxed(reader, node, key->map, tl_member(key, object)))
      object->bad = UINT32_MAX;
    return true;
  }
  return false;
}

void tl_read_map(tl_reader *reader, tl_node_id node, const tl_map *map, void *object) {
  tl_object *head = object;
  const tl_node *at = tl_node_at(reader->document, node);
  head->line = at->line, head->column = at->column, head->origin = at->origin;
  if (reader->status != TALUS_OK)
    return;
  uint32_t suspects = 0;
  if (at->kind == TL_NODE_MAP && read_whole(reader, node, map, head))
    return;
  if (map->bare && (at->kind == TL_NODE_SCALAR || map->is_bare)) {
    read_key(reader, node, map, tl_map_find(map, map->bare), true, head);
  } else if (at->kind != TL_NODE_MAP) {
    const tl_key key = {.type = TL_TYPE_MAP, .map = map};
    tl_refuse_value(reader, node, &key);
    head->bad = UINT32_MAX;
    return;
  } else {
    if (read_given(reader, node, map, head, &suspects))
      return;
    check_one_of(reader, node, map, head, suspects);
  }
  read_missing(reader, node, map, head, suspects);
}

/* ---- defaults -------------------------------------------------------------------------------- */

/* All defaults as one YAML list, parsed once, so that a default is read as if it had been written.
 */
static talus_status parse_defaults(tl_reader *reader, tl_text *text) {
  for (size_t m = 0; tl_schema_maps[m]; ++m)
    for (const tl_key *key = tl_schema_maps[m]->keys; key->name; ++key)
      if (key->fallback)
        tl_text_add(text, "%s%s", text->count == 0 ? "[" : ", ", key->fallback);
  tl_text_add(text, "]");
  TL_TRY(text->status);
  const tl_source source = {
      .name = "defaults", .text = text->data, .length = text->count, .is_setting = true};
  TL_TRY(tl_array_push(&reader->problems->sources, source));
  tl_node_id root = 0;
  TL_TRY(tl_document_parse(reader->document, reader->problems,
                           (uint32_t)reader->problems->sources.count - 1, &root));
  TL_ASSERT(root != 0);
  tl_node_id id = tl_node_at(reader->document, root)->first;
  for (size_t m = 0; tl_schema_maps[m]; ++m)
    for (size_t k = 0; tl_schema_maps[m]->keys[k].name; ++k)
      if (tl_schema_maps[m]->keys[k].fallback) {
        reader->defaults[m * TL_MAP_KEYS + k] = id;
        id = tl_node_at(reader->document, id)->next;
      }
  return TALUS_OK;
}

static size_t defaults_bytes(void) {
  size_t maps = 0;
  while (tl_schema_maps[maps])
    maps++;
  return maps * TL_MAP_KEYS * sizeof(tl_node_id);
}

talus_status tl_reader_open(tl_reader *reader, tl_document *document, tl_problems *problems) {
  *reader = (tl_reader){.document = document, .problems = problems};
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, defaults_bytes()));
  reader->defaults = memset(block, 0, defaults_bytes());
  tl_text text = {0};
  const talus_status status = parse_defaults(reader, &text);
  /* The nodes hold copies; nothing points into the text but a source that has no complaints. */
  tl_text_drop(&text);
  return status;
}

void tl_reader_close(tl_reader *reader) {
  void *block = reader->defaults;
  (void)tl_resize(&block, block ? defaults_bytes() : 0, 0); /* freeing cannot fail */
  reader->defaults = NULL;
}
