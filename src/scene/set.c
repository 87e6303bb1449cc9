/* --set dotted.key=value: alters the tree before it is read, so that a setting is checked like any
 * other line of the scene. */
#include "scene/read.h"

/* A step of the walk: a node, and what the schema says about it (NULL where it knows nothing; then
 * the reader will say so). */
typedef struct place {
  tl_node_id node;
  const tl_map *map;  /* of the node, or of its entries */
  bool is_collection; /* LIST or NAMED */
  bool is_list;       /* LIST */
} place;

typedef struct setter {
  tl_document *document;
  tl_problems *problems;
  tl_mark mark;
  tl_node_id value;
} setter;

/* The schema of a key's value. */
static void describe(place *next, const tl_map *map, const char *name) {
  const int i = map ? tl_map_find(map, name) : -1;
  next->map = NULL;
  next->is_collection = next->is_list = false;
  if (i < 0)
    return;
  const tl_key *key = &map->keys[i];
  next->map = key->type == TL_TYPE_SHAPE ? &tl_schema_shape : key->map;
  next->is_list = key->type == TL_TYPE_LIST && !(key->flags & TL_KEY_SINGLE);
  next->is_collection = next->is_list || key->type == TL_TYPE_NAMED;
}

static talus_status add_key(setter *s, tl_node_id map, const char *name, tl_node_id value) {
  tl_node key = {.kind = TL_NODE_SCALAR, .first = value, .length = (uint32_t)strlen(name)};
  key.line = s->mark.line, key.column = s->mark.column, key.origin = (uint16_t)s->mark.origin;
  TL_TRY(tl_document_new_text(s->document, name, key.length, &key.text));
  tl_node_id id = 0;
  TL_TRY(tl_document_new_node(s->document, key, &id));
  tl_node *parent = tl_node_at(s->document, map);
  parent->count++;
  if (parent->first == 0) {
    parent->first = id;
    return TALUS_OK;
  }
  tl_node_id last = parent->first;
  while (tl_node_at(s->document, last)->next != 0)
    last = tl_node_at(s->document, last)->next;
  tl_node_at(s->document, last)->next = id;
  return TALUS_OK;
}

/* An empty map, or the empty list that the schema wants. */
static talus_status new_place(setter *s, bool is_list, tl_node_id *id) {
  tl_node node = {.kind = is_list ? TL_NODE_LIST : TL_NODE_MAP};
  node.line = s->mark.line, node.column = s->mark.column, node.origin = (uint16_t)s->mark.origin;
  return tl_document_new_node(s->document, node, id);
}

/* Puts the contents of `value` where `id` is in the tree. */
static void replace(setter *s, tl_node_id id, tl_node_id value) {
  const tl_node_id next = tl_node_at(s->document, id)->next;
  *tl_node_at(s->document, id) = *tl_node_at(s->document, value);
  tl_node_at(s->document, id)->next = next;
}

/* Makes a node one that can be stepped into: nothing becomes {} or [], a bare word {kind: word}. */
static talus_status open_map(setter *s, const place *at, bool *is_open) {
  tl_node *node = tl_node_at(s->document, at->node);
  *is_open = node->kind != TL_NODE_SCALAR;
  if (*is_open)
    return TALUS_OK;
  const bool is_null = tl_node_is_null(s->document, at->node);
  const char *bare = at->map && !at->is_collection && !at->map->is_bare ? at->map->bare : NULL;
  if (!is_null && !bare)
    return TALUS_OK;
  tl_node_id map = 0, word = 0;
  TL_TRY(tl_document_new_node(s->document, *tl_node_at(s->document, at->node), &word));
  TL_TRY(new_place(s, at->is_list, &map));
  if (!is_null)
    TL_TRY(add_key(s, map, bare, word));
  replace(s, at->node, map);
  *is_open = true;
  return TALUS_OK;
}

/* The `name` of an entry, or NULL. */
static const char *name_of(const setter *s, tl_node_id entry) {
  const tl_node_id key = tl_node_at(s->document, entry)->kind == TL_NODE_MAP
                             ? tl_node_find_key(s->document, entry, "name")
                             : 0;
  const tl_node_id value = key == 0 ? 0 : tl_node_at(s->document, key)->first;
  return value != 0 && tl_node_at(s->document, value)->kind == TL_NODE_SCALAR
             ? tl_node_text(s->document, value)
             : NULL;
}

/* The entry of that name, or 0; the nearest name is remembered. */
static tl_node_id find_named(const setter *s, tl_node_id list, tl_suggestion *nearest) {
  for (tl_node_id id = tl_node_at(s->document, list)->first; id != 0;
       id = tl_node_at(s->document, id)->next) {
    const char *name = name_of(s, id);
    if (name && strcmp(name, nearest->word) == 0)
      return id;
    if (name)
      tl_suggest(nearest, name);
  }
  return 0;
}

static void refuse_name_of_entry(setter *s, const tl_suggestion *nearest) {
  if (nearest->best)
    tl_problem_add(
        s->problems, s->mark,
        "there is no entry named `%.60s`; expected a name or a number from 0 on; did you "
        "mean `%.60s`?",
        nearest->word, nearest->best);
  else
    tl_problem_add(s->problems, s->mark,
                   "there is no entry named `%.60s`; expected a name or a number from 0 on",
                   nearest->word);
}

static void refuse_entry(setter *s, const char *part, uint32_t count) {
  if (count == 0)
    tl_problem_add(s->problems, s->mark,
                   "there is no entry `%.60s`, the list is empty; expected a whole list, [...]",
                   part);
  else if (count == 1)
    tl_problem_add(s->problems, s->mark, "there is no entry `%.60s`; expected 0, the only one",
                   part);
  else
    tl_problem_add(s->problems, s->mark,
                   "there is no entry `%.60s`; expected a number from 0 to %u", part, count - 1);
}

/* Entry number `part` of a list, or the one of that name; 0 with the complaint made. */
static tl_node_id find_entry(setter *s, tl_node_id list, const char *part) {
  const uint32_t count = tl_node_at(s->document, list)->count;
  const size_t digits = strspn(part, "0123456789");
  tl_suggestion nearest = {.word = part};
  tl_node_id id = find_named(s, list, &nearest);
  if (id != 0)
    return id;
  if (part[digits] != '\0' && count > 0) {
    refuse_name_of_entry(s, &nearest);
    return 0;
  }
  const unsigned long row = digits > 0 && digits < 10 && part[digits] == '\0'
                                ? strtoul(part, NULL, 10)
                                : (unsigned long)count;
  if (row >= count) {
    refuse_entry(s, part, count);
    return 0;
  }
  id = tl_node_at(s->document, list)->first;
  for (unsigned long i = 0; i < row; ++i)
    id = tl_node_at(s->document, id)->next;
  return id;
}

/* Beside a fill stands nothing but its name: keys of the entry are those of the fill. */
static void enter_fill(setter *s, place *at, const char *rest) {
  const tl_node_id key =
      at->map == &tl_schema_body && tl_node_at(s->document, at->node)->kind == TL_NODE_MAP
          ? tl_node_find_key(s->document, at->node, "fill")
          : 0;
  const size_t length = rest ? strcspn(rest, ".") : 0;
  const bool is_own = (length == 4 && strncmp(rest, "fill", 4) == 0) ||
                      (length == 4 && strncmp(rest, "name", 4) == 0);
  if (key == 0 || length == 0 || is_own)
    return;
  at->node = tl_node_at(s->document, key)->first;
  at->map = &tl_schema_fill;
}

static talus_status step_into_list(setter *s, place *at, const char *part, const char *rest) {
  const tl_node_id id = find_entry(s, at->node, part);
  if (id != 0 && !rest)
    replace(s, id, s->value);
  at->node = id;
  at->is_collection = at->is_list = false;
  if (id != 0)
    enter_fill(s, at, rest);
  return TALUS_OK;
}

static void refuse_name(setter *s, const place *at, const char *part) {
  tl_suggestion nearest = {.word = part};
  for (tl_node_id id = tl_node_at(s->document, at->node)->first; id != 0;
       id = tl_node_at(s->document, id)->next)
    tl_suggest(&nearest, tl_node_text(s->document, id));
  if (nearest.best)
    tl_problem_add(s->problems, s->mark,
                   "there is no `%.60s` among the %s; expected a name that the scene has; did you "
                   "mean `%s`?",
                   part, at->map->plural, nearest.best);
  else
    tl_problem_add(s->problems, s->mark,
                   "there is no `%.60s` among the %s; expected a name that the scene has", part,
                   at->map->plural);
}

static talus_status step_into_map(setter *s, place *at, const char *part, bool is_last) {
  const tl_node_id key = tl_node_find_key(s->document, at->node, part);
  place next = {.map = at->map};
  if (!at->is_collection)
    describe(&next, at->map, part);
  if (key == 0 && !is_last && at->is_collection) {
    /* Half a material under a new name would be a slip, not a wish. */
    refuse_name(s, at, part);
    at->node = 0;
    return TALUS_OK;
  }
  if (is_last && key != 0) {
    tl_node_at(s->document, key)->first = s->value;
  } else if (is_last) {
    TL_TRY(add_key(s, at->node, part, s->value));
  } else if (key != 0) {
    next.node = tl_node_at(s->document, key)->first;
  } else {
    TL_TRY(new_place(s, next.is_list, &next.node));
    TL_TRY(add_key(s, at->node, part, next.node));
  }
  *at = next;
  return TALUS_OK;
}

static bool has_empty_part(const char *path) {
  const size_t length = strlen(path);
  return length == 0 || path[0] == '.' || path[length - 1] == '.' || strstr(path, "..");
}

static talus_status walk(setter *s, tl_node_id root, char *path) {
  if (has_empty_part(path)) {
    tl_problem_add(s->problems, s->mark, "an empty name in the key; expected dotted.key=value");
    return TALUS_OK;
  }
  place at = {.node = root, .map = &tl_schema_scene};
  for (char *part = path, *rest = NULL; part; part = rest) {
    rest = strchr(part, '.');
    if (rest)
      *rest++ = '\0';
    bool is_open = false;
    TL_TRY(open_map(s, &at, &is_open));
    if (!is_open) {
      tl_problem_add(s->problems, s->mark,
                     "`%.60s` would be within a single value; expected a key of a map or an entry "
                     "of a list",
                     part);
      return TALUS_OK;
    }
    if (tl_node_at(s->document, at.node)->kind == TL_NODE_LIST)
      TL_TRY(step_into_list(s, &at, part, rest));
    else
      TL_TRY(step_into_map(s, &at, part, rest == NULL));
    if (at.node == 0)
      return TALUS_OK;
  }
  return TALUS_OK;
}

talus_status tl_set_apply(tl_document *document, tl_problems *problems, tl_node_id root,
                          const char *setting, uint32_t origin, tl_node_id value) {
  const size_t length = strcspn(setting, "=");
  setter s = {.document = document,
              .problems = problems,
              .mark = {.line = 1, .column = 1, .origin = origin},
              .value = value};
  char *path = NULL;
  TL_TRY(tl_string_copy(setting, length, &path));
  const talus_status status = walk(&s, root, path);
  /* The walk has put zeros into the text, so that strlen would be wrong. */
  void *block = path;
  (void)tl_resize(&block, length + 1, 0); /* freeing cannot fail */
  return status;
}
