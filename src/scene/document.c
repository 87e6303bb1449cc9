#include "scene/document.h"

#include "base/hash.h"
#include "scene/plain.h"

void tl_document_free(tl_document *document) {
  tl_array_free(&document->nodes);
  tl_array_free(&document->text);
}

/* Room for one more in an array that will hold many. */
static size_t with_growth(size_t needed, size_t capacity) {
  return needed <= capacity ? capacity : needed + capacity;
}

talus_status tl_document_new_text(tl_document *document, const char *bytes, size_t n,
                                  uint32_t *offset) {
  const size_t start = document->text.count;
  TL_TRY(tl_array_reserve(&document->text, with_growth(start + n + 1, document->text.capacity)));
  TL_TRY(tl_array_resize(&document->text, start + n + 1));
  if (n > 0)
    memcpy(document->text.data + start, bytes, n);
  document->text.data[start + n] = '\0';
  *offset = (uint32_t)start;
  return TALUS_OK;
}

talus_status tl_document_new_node(tl_document *document, tl_node node, tl_node_id *id) {
  TL_TRY(tl_array_reserve(&document->nodes,
                          with_growth(document->nodes.count + 2, document->nodes.capacity)));
  if (document->nodes.count == 0)
    TL_TRY(tl_array_push(&document->nodes, (tl_node){0}));
  *id = (tl_node_id)document->nodes.count;
  return tl_array_push(&document->nodes, node);
}

bool tl_node_is_null(const tl_document *document, tl_node_id id) {
  const tl_node *node = tl_node_at(document, id);
  if (node->kind != TL_NODE_SCALAR || node->is_quoted)
    return false;
  const char *text = tl_node_text(document, id);
  return strcmp(text, "") == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
         strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

tl_node_id tl_node_find_key(const tl_document *document, tl_node_id map, const char *key) {
  if (map == 0 || tl_node_at(document, map)->kind != TL_NODE_MAP)
    return 0;
  tl_node_id id = tl_node_at(document, map)->first;
  while (id != 0 && strcmp(tl_node_text(document, id), key) != 0)
    id = tl_node_at(document, id)->next;
  return id;
}

typedef struct hashed_key {
  uint64_t hash;
  tl_node_id id;
} hashed_key;

static int compare_keys(const void *left, const void *right) {
  const hashed_key *a = left, *b = right;
  if (a->hash != b->hash)
    return a->hash < b->hash ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}

talus_status tl_document_check_keys(const tl_document *document, tl_problems *problems,
                                    tl_node_id map) {
  TL_ARRAY(hashed_key) keys = {0};
  talus_status status = tl_array_reserve(&keys, tl_node_at(document, map)->count);
  for (tl_node_id id = tl_node_at(document, map)->first; id != 0 && status == TALUS_OK;
       id = tl_node_at(document, id)->next)
    keys.data[keys.count++] =
        (hashed_key){tl_xxh64(tl_node_text(document, id), tl_node_at(document, id)->length, 0), id};
  if (keys.count > 1)
    qsort(keys.data, keys.count, sizeof *keys.data, compare_keys);
  for (size_t i = 1; i < keys.count; ++i) {
    const tl_node_id first = keys.data[i - 1].id, second = keys.data[i].id;
    if (keys.data[i - 1].hash == keys.data[i].hash &&
        strcmp(tl_node_text(document, first), tl_node_text(document, second)) == 0)
      tl_problem_add(problems, tl_node_mark(document, second),
                     "`%.60s` is here twice; expected it once (it is at line %u)",
                     tl_node_text(document, second), tl_node_at(document, first)->line);
  }
  tl_array_free(&keys);
  return status;
}

#if TALUS_HAVE_YAML
#include <yaml.h>

#define ANCHORS 1000
#define CORE    "tag:yaml.org,2002:"

typedef struct level {
  tl_node_id node, last; /* last: entry or key added last */
  bool has_key;          /* a key waits for its value */
} level;

typedef struct anchor {
  uint32_t text; /* its name */
  tl_node_id node;
  bool is_open; /* not complete yet: an alias now would hold itself */
} anchor;

typedef struct builder {
  tl_document *document;
  tl_problems *problems;
  uint16_t origin;
  tl_node_id root;
  level levels[TL_DOCUMENT_DEPTH];
  size_t depth;
  TL_ARRAY(anchor) anchors;
  size_t copies;   /* nodes made by aliases */
  bool is_stopped; /* going on makes no sense */
} builder;

static tl_mark mark_at(const builder *b, yaml_mark_t at) {
  return (tl_mark){
      .line = (uint32_t)at.line + 1, .column = (uint32_t)at.column + 1, .origin = b->origin};
}

/* ---- the tree grows -------------------------------------------------------------------------- */

static void refuse(builder *b, yaml_mark_t at, const char *what) {
  tl_problem_add(b->problems, mark_at(b, at), "%s", what);
  b->is_stopped = true;
}

static talus_status new_node(builder *b, yaml_mark_t at, tl_node node, tl_node_id *id) {
  *id = 0;
  if (b->document->nodes.count > TL_DOCUMENT_NODES) {
    refuse(b, at,
           "more than 12 million values; expected fewer (`fill` makes many bodies from one "
           "line)");
    return TALUS_OK;
  }
  node.line = (uint32_t)at.line + 1;
  node.column = (uint32_t)at.column + 1;
  node.origin = b->origin;
  return tl_document_new_node(b->document, node, id);
}

/* Hangs a node below the innermost open list or map. */
static void attach(builder *b, yaml_mark_t at, tl_node_id id) {
  if (b->depth == 0) {
    b->root = id;
    return;
  }
  level *top = &b->levels[b->depth - 1];
  tl_node *parent = tl_node_at(b->document, top->node), *node = tl_node_at(b->document, id);
  if (parent->kind == TL_NODE_MAP && top->has_key) {
    tl_node_at(b->document, top->last)->first = id;
    top->has_key = false;
    return;
  }
  if (parent->kind == TL_NODE_MAP) {
    if (node->kind != TL_NODE_SCALAR) {
      refuse(b, at, "a list or a map as a key; expected a word");
      return;
    }
    if (!node->is_quoted && strcmp(tl_node_text(b->document, id), "<<") == 0)
      refuse(b, at, "merge keys (`<<`) are not supported; expected the keys themselves");
    top->has_key = true;
  }
  if (top->last == 0)
    parent->first = id;
  else
    tl_node_at(b->document, top->last)->next = id;
  top->last = id;
  parent->count++;
}

/* ---- tags, anchors and aliases --------------------------------------------------------------- */

static void check_tag(builder *b, yaml_mark_t at, const yaml_char_t *tag, const char *allowed) {
  const char *name = (const char *)tag;
  if (!name || strcmp(name, "!") == 0)
    return;
  if (strncmp(name, CORE, strlen(CORE)) == 0) {
    const char *kind = name + strlen(CORE), *found = strstr(allowed, kind);
    if (*kind && found && (found == allowed || found[-1] == ' ') &&
        (found[strlen(kind)] == ' ' || found[strlen(kind)] == '\0'))
      return;
  }
  tl_problem_add(b->problems, mark_at(b, at), "tag `%.60s`; expected a value without a tag", name);
}

static talus_status open_anchor(builder *b, yaml_mark_t at, const yaml_char_t *name,
                                tl_node_id node, bool is_open) {
  if (!name)
    return TALUS_OK;
  if (b->anchors.count == ANCHORS) {
    refuse(b, at, "more than 1000 anchors; expected fewer");
    return TALUS_OK;
  }
  anchor fresh = {.node = node, .is_open = is_open};
  TL_TRY(tl_document_new_text(b->document, (const char *)name, strlen((const char *)name),
                              &fresh.text));
  return tl_array_push(&b->anchors, fresh);
}

static void close_anchor(builder *b, tl_node_id node) {
  for (size_t i = b->anchors.count; i-- > 0;)
    if (b->anchors.data[i].node == node)
      b->anchors.data[i].is_open = false;
}

static talus_status copy_tree(builder *b, yaml_mark_t at, tl_node_id from, size_t depth,
                              tl_node_id *copy) {
  tl_node node = *tl_node_at(b->document, from);
  *copy = 0;
  if (node.kind != TL_NODE_SCALAR && depth == TL_DOCUMENT_DEPTH) {
    refuse(b, at, "nested deeper than 32 levels; expected a flatter scene");
    return TALUS_OK;
  }
  if (++b->copies > TL_DOCUMENT_COPIES) {
    refuse(b, at, "aliases unfold to more than a million values; expected fewer of them");
    return TALUS_OK;
  }
  const tl_mark mark = tl_node_mark(b->document, from);
  /* A key is a scalar whose `first` is its value, which is copied apart. */
  const tl_node_id children = node.kind == TL_NODE_SCALAR ? 0 : node.first;
  const bool is_map = node.kind == TL_NODE_MAP;
  node.first = node.next = 0;
  TL_TRY(new_node(b, at, node, copy));
  tl_node_id last = 0;
  for (tl_node_id id = children; id != 0 && !b->is_stopped;
       id = tl_node_at(b->document, id)->next) {
    tl_node_id child = 0, value = 0;
    TL_TRY(copy_tree(b, at, id, depth + 1, &child));
    if (is_map && !b->is_stopped)
      TL_TRY(copy_tree(b, at, tl_node_at(b->document, id)->first, depth + 1, &value));
    if (b->is_stopped)
      break;
    if (is_map)
      tl_node_at(b->document, child)->first = value;
    if (last == 0)
      tl_node_at(b->document, *copy)->first = child;
    else
      tl_node_at(b->document, last)->next = child;
    last = child;
  }
  if (*copy != 0) { /* complaints point at what is wrong, not at the alias */
    tl_node_at(b->document, *copy)->line = mark.line;
    tl_node_at(b->document, *copy)->column = mark.column;
  }
  return TALUS_OK;
}

static talus_status add_alias(builder *b, const yaml_event_t *event) {
  const char *name = (const char *)event->data.alias.anchor;
  size_t i = b->anchors.count;
  while (i > 0 && strcmp(b->document->text.data + b->anchors.data[i - 1].text, name) != 0)
    --i;
  if (i == 0) {
    tl_problem_add(b->problems, mark_at(b, event->start_mark),
                   "alias `*%.60s` of nothing; expected an anchor `&%.60s` before it", name, name);
    b->is_stopped = true;
    return TALUS_OK;
  }
  if (b->anchors.data[i - 1].is_open) {
    refuse(b, event->start_mark, "an alias within its own anchor; expected a value that ends");
    return TALUS_OK;
  }
  tl_node_id copy = 0;
  TL_TRY(copy_tree(b, event->start_mark, b->anchors.data[i - 1].node, b->depth, &copy));
  if (!b->is_stopped)
    attach(b, event->start_mark, copy);
  return TALUS_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

static talus_status add_scalar(builder *b, const yaml_event_t *event) {
  const char *value = (const char *)event->data.scalar.value;
  const size_t length = event->data.scalar.length;
  const char *tag = (const char *)event->data.scalar.tag;
  check_tag(b, event->start_mark, event->data.scalar.tag, "str int float bool null");
  if (!tl_is_plain_text(value, length)) {
    refuse(b, event->start_mark, "a control character as an escape; expected plain text");
    return TALUS_OK;
  }
  tl_node node = {.kind = TL_NODE_SCALAR, .length = (uint32_t)length};
  if (tag && strncmp(tag, CORE, strlen(CORE)) == 0)
    node.is_quoted = strcmp(tag, CORE "str") == 0;
  else
    node.is_quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  TL_TRY(tl_document_new_text(b->document, value, length, &node.text));
  tl_node_id id = 0;
  TL_TRY(new_node(b, event->start_mark, node, &id));
  if (id == 0)
    return TALUS_OK;
  TL_TRY(open_anchor(b, event->start_mark, event->data.scalar.anchor, id, false));
  attach(b, event->start_mark, id);
  return TALUS_OK;
}

static talus_status open_level(builder *b, const yaml_event_t *event, tl_node_kind kind,
                               const yaml_char_t *anchor_name) {
  if (b->depth == TL_DOCUMENT_DEPTH) {
    refuse(b, event->start_mark, "nested deeper than 32 levels; expected a flatter scene");
    return TALUS_OK;
  }
  tl_node_id id = 0;
  TL_TRY(new_node(b, event->start_mark, (tl_node){.kind = (uint8_t)kind}, &id));
  if (id == 0)
    return TALUS_OK;
  TL_TRY(open_anchor(b, event->start_mark, anchor_name, id, true));
  attach(b, event->start_mark, id);
  b->levels[b->depth++] = (level){.node = id};
  return TALUS_OK;
}

static talus_status close_level(builder *b) {
  const tl_node_id id = b->levels[--b->depth].node;
  close_anchor(b, id);
  return tl_node_at(b->document, id)->kind == TL_NODE_MAP
             ? tl_document_check_keys(b->document, b->problems, id)
             : TALUS_OK;
}

static talus_status add_event(builder *b, const yaml_event_t *event, int *documents) {
  switch (event->type) {
  case YAML_DOCUMENT_START_EVENT:
    if (++*documents > 1)
      refuse(b, event->start_mark, "a second YAML document; expected one scene in a file");
    return TALUS_OK;
  case YAML_SCALAR_EVENT:
    return add_scalar(b, event);
  case YAML_ALIAS_EVENT:
    return add_alias(b, event);
  case YAML_SEQUENCE_START_EVENT:
    check_tag(b, event->start_mark, event->data.sequence_start.tag, "seq");
    return open_level(b, event, TL_NODE_LIST, event->data.sequence_start.anchor);
  case YAML_MAPPING_START_EVENT:
    check_tag(b, event->start_mark, event->data.mapping_start.tag, "map");
    return open_level(b, event, TL_NODE_MAP, event->data.mapping_start.anchor);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    return close_level(b);
  default:
    return TALUS_OK;
  }
}

/* The usual cause of this message of libyaml, in terms of the file rather than of the grammar. */
static const char *syntax_hint(const yaml_parser_t *parser) {
  const char *problem = parser->problem ? parser->problem : "";
  if (strstr(problem, "expected <block end>") || strstr(problem, "expected '-' indicator") ||
      strstr(problem, "did not find expected key"))
    return "; is this line, or the one before, indented like the lines it belongs to?";
  if (strstr(problem, "mapping values are not allowed"))
    return "; is this line indented like those around it? A text with `: ` in it needs \"quotes\"";
  if (strstr(problem, "expected ',' or"))
    return "; is a bracket not closed?";
  return "";
}

static void report_syntax(builder *b, const yaml_parser_t *parser) {
  const char *context = parser->context ? parser->context : "";
  yaml_mark_t at = parser->problem_mark;
  tl_text text = {0};
  tl_text_add(&text, "not YAML: %s", parser->problem ? parser->problem : "unreadable");
  if (strcmp(context, "while scanning a simple key") == 0) {
    at = parser->context_mark; /* the word that lacks its colon; libyaml has gone on from it */
  } else {
    tl_text_add(&text, "%s%s", *context ? " " : "", context);
    if (*context && parser->context_mark.line != at.line)
      tl_text_add(&text, " that begins at line %zu", parser->context_mark.line + 1);
  }
  tl_problem_add(b->problems, mark_at(b, at),
                 "%s; expected `key: value` lines, lists `[a, b]` and maps `{a: 1}`%s",
                 text.count > 0 ? text.data : "", syntax_hint(parser));
  tl_text_drop(&text);
}

talus_status tl_document_parse(tl_document *document, tl_problems *problems, uint32_t origin,
                               tl_node_id *root) {
  const tl_source *source = &problems->sources.data[origin];
  builder b = {.document = document, .problems = problems, .origin = (uint16_t)origin};
  yaml_parser_t parser;
  *root = 0;
  if (!yaml_parser_initialize(&parser))
    return tl_fail(TALUS_ERROR_MEMORY, "out of memory: the YAML reader could not be set up");
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->length);
  talus_status status = TALUS_OK;
  int documents = 0;
  for (bool is_done = false; !is_done && !b.is_stopped && status == TALUS_OK;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&parser, &event)) {
      if (parser.error == YAML_MEMORY_ERROR)
        status = tl_fail(TALUS_ERROR_MEMORY, "out of memory: the scene could not be read");
      else
        report_syntax(&b, &parser);
      b.is_stopped = true;
      break;
    }
    is_done = event.type == YAML_STREAM_END_EVENT;
    status = add_event(&b, &event, &documents);
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  tl_array_free(&b.anchors);
  if (!b.is_stopped && status == TALUS_OK)
    *root = b.root;
  return status;
}

#else

talus_status tl_document_parse(tl_document *document, tl_problems *problems, uint32_t origin,
                               tl_node_id *root) {
  return tl_plain_parse(document, problems, origin, root);
}

#endif
