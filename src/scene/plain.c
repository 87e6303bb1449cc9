#include "scene/plain.h"

typedef struct plain {
  tl_document *document;
  tl_problems *problems;
  const char *at, *end;
  const char *line_start;
  const char *counted; /* columns up to here: a long line is counted once */
  uint32_t line, columns;
  uint16_t origin;
  bool is_stopped; /* a problem was found: going on makes no sense */
  talus_status status;
} plain;

static bool goes_on(const plain *p) { return !p->is_stopped && p->status == TALUS_OK; }

static char here(const plain *p) { return p->at < p->end ? *p->at : '\0'; }

/* Characters, not bytes: continuation bytes of UTF-8 do not count. */
static uint32_t column_of(plain *p) {
  if (p->counted <= p->line_start || p->counted > p->at) {
    p->counted = p->line_start;
    p->columns = 1;
  }
  for (; p->counted < p->at; ++p->counted)
    p->columns += ((unsigned char)*p->counted & 0xC0) != 0x80;
  return p->columns;
}

static void refuse(plain *p, const char *what) {
  if (!goes_on(p))
    return;
  const tl_mark mark = {.line = p->line, .column = column_of(p), .origin = p->origin};
  tl_problem_add(p->problems, mark, "%s", what);
  p->is_stopped = true;
}

#define OTHER_FORM                                                                                 \
  "not as talus writes scenes; this talus was built without libyaml and reads only that form "     \
  "(start files of `talus check SCENE --save`, scene.yaml of result folders)"

static bool is_next(plain *p, char c) {
  if (here(p) != c || p->at >= p->end)
    return false;
  p->at++;
  return true;
}

static void skip_spaces(plain *p) {
  while (here(p) == ' ')
    p->at++;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static tl_node_id new_node(plain *p, tl_node node) {
  tl_node_id id = 0;
  if (!goes_on(p))
    return 0;
  if (p->document->nodes.count > TL_DOCUMENT_NODES) {
    refuse(p, "more than 12 million values; expected fewer");
    return 0;
  }
  node.line = p->line;
  node.column = column_of(p);
  node.origin = p->origin;
  p->status = tl_document_new_node(p->document, node, &id);
  return p->status == TALUS_OK ? id : 0;
}

static tl_node_id new_scalar(plain *p, const char *bytes, size_t n, bool is_quoted) {
  tl_node node = {.kind = TL_NODE_SCALAR, .length = (uint32_t)n, .is_quoted = is_quoted};
  if (goes_on(p))
    p->status = tl_document_new_text(p->document, bytes, n, &node.text);
  return new_node(p, node);
}

/* Appends an entry, or a key, to a list or map. */
static void append(plain *p, tl_node_id parent, tl_node_id *last, tl_node_id id) {
  if (!goes_on(p))
    return;
  if (*last == 0)
    tl_node_at(p->document, parent)->first = id;
  else
    tl_node_at(p->document, *last)->next = id;
  *last = id;
  tl_node_at(p->document, parent)->count++;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Within quotes a line break is a space, and n more line breaks are n. */
static const char *fold(const plain *p, const char *c, char *text, size_t *n) {
  size_t breaks = 0;
  while (*n > 0 && text[*n - 1] == ' ')
    --*n;
  for (; c < p->end && (*c == '\n' || *c == ' '); ++c)
    breaks += *c == '\n';
  if (breaks == 1)
    text[(*n)++] = ' ';
  for (size_t i = 1; i < breaks; ++i)
    text[(*n)++] = '\n';
  return c;
}

static tl_node_id read_quoted(plain *p) {
  const char *c = p->at + 1;
  char *text = NULL;
  size_t n = 0;
  void *block = NULL;
  const char *close = c;
  while (close < p->end && *close != '"')
    close += *close == '\\' && close + 1 < p->end ? 2 : 1;
  if (close >= p->end) {
    refuse(p, "a text whose quotes do not end");
    return 0;
  }
  const size_t room = (size_t)(close - c) + 1;
  p->status = tl_resize(&block, 0, room);
  if (p->status != TALUS_OK)
    return 0;
  text = block;
  while (c < close && goes_on(p)) {
    if (*c == '\n') {
      c = fold(p, c, text, &n);
      continue;
    }
    if (*c == '\\' && c[1] != '"' && c[1] != '\\')
      refuse(p, "an escape other than \\\" and \\\\; " OTHER_FORM);
    c += *c == '\\';
    text[n++] = *c++;
  }
  const tl_node_id id = new_scalar(p, text, n, true); /* where it begins */
  (void)tl_resize(&block, room, 0);                   /* freeing cannot fail */
  for (c = p->at; c < close; ++c)
    if (*c == '\n') {
      p->line++;
      p->line_start = c + 1;
    }
  p->at = close + 1;
  return id;
}

static bool ends_word(char c) {
  return c == '\n' || c == ',' || c == ']' || c == '}' || c == '[' || c == '{' || c == ':' ||
         c == '"';
}

static tl_node_id read_word(plain *p) {
  const char *from = p->at;
  while (p->at < p->end && !ends_word(*p->at) && (unsigned char)*p->at >= ' ')
    p->at++;
  const char *to = p->at;
  while (to > from && to[-1] == ' ')
    to--;
  p->at = from; /* where the node is */
  static const char special[] = "&*!|>%@`#'?";
  if (to == from || strchr(special, *from) || (*from == '-' && to - from == 1)) {
    refuse(p, OTHER_FORM);
    return 0;
  }
  const tl_node_id id = new_scalar(p, from, (size_t)(to - from), false);
  p->at = to;
  return id;
}

static tl_node_id read_value(plain *p, int depth);

static tl_node_id read_key(plain *p) {
  const tl_node_id key = here(p) == '"' ? read_quoted(p) : read_word(p);
  if (goes_on(p) && !is_next(p, ':'))
    refuse(p, OTHER_FORM);
  return key;
}

static void read_flow(plain *p, tl_node_id parent, char close, int depth) {
  tl_node_id last = 0;
  p->at++;
  skip_spaces(p);
  if (is_next(p, close))
    return;
  do {
    tl_node_id id = 0;
    skip_spaces(p);
    if (close == '}') {
      id = read_key(p);
      skip_spaces(p);
      const tl_node_id value = read_value(p, depth + 1);
      if (goes_on(p))
        tl_node_at(p->document, id)->first = value;
    } else
      id = read_value(p, depth + 1);
    append(p, parent, &last, id);
    skip_spaces(p);
  } while (goes_on(p) && is_next(p, ','));
  if (goes_on(p) && !is_next(p, close))
    refuse(p, close == '}' ? "a map that does not end with `}`; " OTHER_FORM
                           : "a list that does not end with `]`; " OTHER_FORM);
}

static void end_map(plain *p, tl_node_id map) {
  if (goes_on(p))
    p->status = tl_document_check_keys(p->document, p->problems, map);
}

static tl_node_id read_value(plain *p, int depth) {
  const char c = here(p);
  if (c == '"')
    return read_quoted(p);
  if (c != '[' && c != '{')
    return read_word(p);
  if (depth >= TL_DOCUMENT_DEPTH) {
    refuse(p, "nested deeper than 32 levels; expected a flatter scene");
    return 0;
  }
  const bool is_map = c == '{';
  const tl_node_id id =
      new_node(p, (tl_node){.kind = (uint8_t)(is_map ? TL_NODE_MAP : TL_NODE_LIST)});
  if (goes_on(p))
    read_flow(p, id, is_map ? '}' : ']', depth);
  if (is_map)
    end_map(p, id);
  return id;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void next_line(plain *p) {
  if (p->at < p->end && !is_next(p, '\n'))
    refuse(p, OTHER_FORM);
  p->line++;
  p->line_start = p->at;
}

/* Empty lines and comments. */
static void skip_lines(plain *p) {
  while (goes_on(p) && (here(p) == '#' || here(p) == '\n') && p->at < p->end) {
    while (p->at < p->end && *p->at != '\n')
      p->at++;
    next_line(p);
  }
}

static bool is_indented(const plain *p) {
  return p->end - p->at > 2 && p->at[0] == ' ' && p->at[1] == ' ' && p->at[2] != ' ';
}

/* The entries below `key:`. */
static tl_node_id read_block(plain *p) {
  next_line(p);
  if (!is_indented(p)) {
    refuse(p, "nothing below this key; " OTHER_FORM);
    return 0;
  }
  const bool is_map = p->at[2] != '-';
  tl_node_id last = 0;
  p->at += 2;
  const tl_node_id parent =
      new_node(p, (tl_node){.kind = (uint8_t)(is_map ? TL_NODE_MAP : TL_NODE_LIST)});
  p->at -= 2;
  while (goes_on(p) && is_indented(p)) {
    tl_node_id id = 0;
    p->at += 2;
    if (is_map) {
      id = read_key(p);
      skip_spaces(p);
      const tl_node_id value = read_value(p, 2);
      if (goes_on(p))
        tl_node_at(p->document, id)->first = value;
    } else if (is_next(p, '-') && is_next(p, ' ')) {
      skip_spaces(p);
      id = read_value(p, 2);
    } else
      refuse(p, OTHER_FORM);
    append(p, parent, &last, id);
    if (goes_on(p))
      next_line(p);
  }
  if (is_map)
    end_map(p, parent);
  return parent;
}

static tl_node_id read_scene(plain *p) {
  skip_lines(p);
  const tl_node_id map = new_node(p, (tl_node){.kind = TL_NODE_MAP});
  tl_node_id last = 0;
  for (; goes_on(p) && p->at < p->end; skip_lines(p)) {
    const tl_node_id key = read_key(p);
    skip_spaces(p);
    const bool is_block = here(p) == '\n';
    const tl_node_id value = !goes_on(p) ? 0 : is_block ? read_block(p) : read_value(p, 1);
    if (!goes_on(p))
      return 0;
    tl_node_at(p->document, key)->first = value;
    append(p, map, &last, key);
    if (!is_block)
      next_line(p);
  }
  end_map(p, map);
  return map;
}

/* A setting is a value, not a scene. */
static tl_node_id read_setting(plain *p) {
  skip_spaces(p);
  if (p->at == p->end)
    return 0;
  const tl_node_id id = read_value(p, 1);
  skip_spaces(p);
  if (p->at < p->end)
    refuse(p, OTHER_FORM);
  return id;
}

talus_status tl_plain_parse(tl_document *document, tl_problems *problems, uint32_t origin,
                            tl_node_id *root) {
  const tl_source *source = &problems->sources.data[origin];
  plain p = {.document = document,
             .problems = problems,
             .at = source->text,
             .end = source->text + source->length,
             .line_start = source->text,
             .counted = source->text,
             .line = 1,
             .columns = 1,
             .origin = (uint16_t)origin};
  const tl_node_id id = source->is_setting ? read_setting(&p) : read_scene(&p);
  *root = goes_on(&p) ? id : 0;
  return p.status;
}
