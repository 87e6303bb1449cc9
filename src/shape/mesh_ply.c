/* PLY files: a head that says which elements of which properties follow, then rows of them as text
 * or as bytes of either order. Only x, y, z of `vertex` and the list of corners of `face` are
 * taken; all else is passed over. */
#include <math.h>

#include "shape/mesh_source.h"

#define PLY_ELEMENTS   16
#define PLY_PROPERTIES 64 /* of all elements */

typedef enum ply_type { I8, U8, I16, U16, I32, U32, F32, F64, NO_TYPE } ply_type;
typedef enum ply_order { TEXT, LITTLE, BIG, NO_ORDER } ply_order;
typedef enum ply_role { OF_NO_USE, X, Y, Z, CORNERS } ply_role;
typedef enum ply_kind { OTHER, VERTEX, FACE } ply_kind;

typedef struct ply_property {
  ply_type type, length; /* length: of what a list counts its items with; NO_TYPE: it is no list */
  ply_role role;
} ply_property;

typedef struct ply_element {
  ply_kind kind;
  uint64_t rows;
  int first, last; /* properties */
} ply_element;

typedef struct ply {
  tl_mesh_source *s;
  ply_order order;
  int elements, properties;
  ply_element element[PLY_ELEMENTS];
  ply_property property[PLY_PROPERTIES];
  uint64_t vertices; /* that the head promises */
} ply;

/* ---- head ------------------------------------------------------------------------------------ */

static ply_type type_of(tl_span word) {
  static const char *const names[NO_TYPE][2] = {
      {"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},   {"ushort", "uint16"},
      {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};
  for (int i = 0; i < NO_TYPE; ++i)
    if (tl_span_is(word, names[i][0]) || tl_span_is(word, names[i][1]))
      return (ply_type)i;
  return NO_TYPE;
}

static void parse_format(ply *p) {
  static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  const tl_span word = tl_input_word(&p->s->in);
  for (int i = 0; i < NO_ORDER; ++i)
    if (tl_span_is(word, names[i]))
      p->order = (ply_order)i;
  if (p->order == NO_ORDER)
    tl_input_wrong(&p->s->in, word.text,
                   "`%.*s` is no format of a PLY file; expected ascii, binary_little_endian or "
                   "binary_big_endian",
                   TL_SHOW(word));
}

static void parse_element(ply *p) {
  tl_input *in = &p->s->in;
  const tl_span name = tl_input_word(in), count = tl_input_word(in);
  double rows;
  if (tl_span_number(count, &rows) != TL_NUMBER || !(rows >= 0 && rows < 0x1p53) ||
      rows != floor(rows)) {
    tl_input_wrong(in, count.text, "`%.*s` is not a number of rows", TL_SHOW(count));
    return;
  }
  if (p->elements == PLY_ELEMENTS) {
    tl_input_wrong(in, name.text, "more than %d elements", PLY_ELEMENTS);
    return;
  }
  ply_element *element = &p->element[p->elements++];
  *element = (ply_element){.rows = (uint64_t)rows, .first = p->properties, .last = p->properties};
  element->kind = tl_span_is(name, "vertex") ? VERTEX : tl_span_is(name, "face") ? FACE : OTHER;
  for (int i = 0; i < p->elements - 1; ++i)
    if (element->kind != OTHER && p->element[i].kind == element->kind)
      tl_input_wrong(in, name.text, "a second element `%.*s`", TL_SHOW(name));
  if (element->kind == VERTEX)
    p->vertices = element->rows;
}

static ply_role role_of(ply_kind kind, bool is_list, tl_span name) {
  if (kind == VERTEX && !is_list)
    return tl_span_is(name, "x") ? X : tl_span_is(name, "y") ? Y : tl_span_is(name, "z") ? Z : 0;
  if (kind == FACE && is_list &&
      (tl_span_is(name, "vertex_indices") || tl_span_is(name, "vertex_index")))
    return CORNERS;
  return OF_NO_USE;
}

static void parse_property(ply *p) {
  tl_input *in = &p->s->in;
  ply_property property = {.length = NO_TYPE};
  tl_span word = tl_input_word(in);
  const char *const begin = word.text;
  const bool is_list = tl_span_is(word, "list");
  if (is_list) {
    word = tl_input_word(in);
    property.length = type_of(word);
    if (property.length >= F32) {
      tl_input_wrong(in, word.text, "`%.*s` counts no items; expected a type such as uchar",
                     TL_SHOW(word));
      return;
    }
    word = tl_input_word(in);
  }
  property.type = type_of(word);
  if (property.type == NO_TYPE)
    tl_input_wrong(in, word.text, "`%.*s` is no type; expected one such as float or int",
                   TL_SHOW(word));
  else if (p->elements == 0)
    tl_input_wrong(in, begin, "a property before any element");
  else if (p->properties == PLY_PROPERTIES)
    tl_input_wrong(in, begin, "more than %d properties", PLY_PROPERTIES);
  else {
    ply_element *element = &p->element[p->elements - 1];
    property.role = role_of(element->kind, is_list, tl_input_word(in));
    p->property[p->properties++] = property;
    element->last = p->properties;
  }
}

/* Every role once, or why not. */
static void check_roles(ply *p) {
  int seen[CORNERS + 1] = {0};
  for (int i = 0; i < p->properties; ++i)
    seen[p->property[i].role]++;
  if (seen[X] != 1 || seen[Y] != 1 || seen[Z] != 1)
    tl_input_wrong(&p->s->in, NULL, "the head ends, and vertices do not have x, y, z once each");
  else if (seen[CORNERS] > 1)
    tl_input_wrong(&p->s->in, NULL, "the head ends, and faces have two lists of corners");
  if (p->order == NO_ORDER)
    tl_input_wrong(&p->s->in, NULL, "the head ends without a line `format`");
}

/* To the line after `end_header`. */
static void parse_head(ply *p) {
  tl_input *in = &p->s->in;
  const tl_span magic = tl_input_word(in);
  if (!tl_span_is(magic, "ply")) {
    tl_input_wrong(in, NULL, "this is no PLY file: its first line must be `ply`");
    return;
  }
  while (tl_input_next_line(in)) {
    const tl_span word = tl_input_word(in);
    if (tl_span_is(word, "format"))
      parse_format(p);
    else if (tl_span_is(word, "element"))
      parse_element(p);
    else if (tl_span_is(word, "property"))
      parse_property(p);
    else if (tl_span_is(word, "end_header")) {
      check_roles(p);
      (void)tl_input_next_line(in);
      return;
    } else if (word.length > 0 && !tl_span_is(word, "comment") && !tl_span_is(word, "obj_info"))
      tl_input_wrong(in, word.text, "`%.*s` is no word of the head of a PLY file", TL_SHOW(word));
  }
  tl_input_wrong(in, NULL, "the file ends within its head; expected `end_header`");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const size_t bytes_of[NO_TYPE] = {1, 1, 2, 2, 4, 4, 4, 8};

static double number_of(const char *from, ply_type type, ply_order order) {
  const size_t n = bytes_of[type];
  uint64_t bits = 0;
  for (size_t i = 0; i < n; ++i)
    bits |= (uint64_t)(unsigned char)from[order == LITTLE ? i : n - 1 - i] << 8 * i;
  const uint32_t word = (uint32_t)bits;
  float single;
  double value;
  switch (type) {
  case I8:
    return (int8_t)bits;
  case I16:
    return (int16_t)bits;
  case I32:
    return (int32_t)bits;
  case F32:
    memcpy(&single, &word, sizeof single);
    return (double)single;
  case F64:
    memcpy(&value, &bits, sizeof value);
    return value;
  default:
    return (double)bits;
  }
}

/* The next word, on whatever line. */
static tl_span next_word(tl_input *in) {
  tl_span word = tl_input_word(in);
  while (word.length == 0 && tl_input_next_line(in))
    word = tl_input_word(in);
  return word;
}

/* The next number; false, and the mistake put down or told, where there is none. */
static bool next_number(ply *p, ply_type type, double *value, talus_status *status) {
  tl_input *in = &p->s->in;
  if (p->order == TEXT) {
    const tl_span word = next_word(in);
    if (word.length == 0)
      tl_input_wrong(in, NULL, "the file is cut off: more rows were promised");
    else if (tl_span_number(word, value) != TL_NUMBER)
      tl_input_wrong(in, word.text, "`%.*s` is not a number", TL_SHOW(word));
    else
      return true;
    return false;
  }
  const size_t at = (size_t)(in->at - in->begin);
  if ((size_t)(in->end - in->at) < bytes_of[type]) {
    *status = tl_fail(TALUS_ERROR_FORMAT,
                      "%s: byte %zu: the file is cut off: more rows were promised", in->path, at);
    return false;
  }
  *value = number_of(in->at, type, p->order);
  in->at += bytes_of[type];
  if (!isfinite(*value))
    *status = tl_fail(TALUS_ERROR_FORMAT, "%s: byte %zu: what stands there is not a number",
                      in->path, at);
  return isfinite(*value);
}

/* A mistake of a row: with the line of a text file, or the byte. */
static void wrong_row(ply *p, talus_status *status, const char *what) {
  tl_input *in = &p->s->in;
  if (p->order == TEXT)
    tl_input_wrong(in, NULL, "%s", what);
  else
    *status = tl_fail(TALUS_ERROR_FORMAT, "%s: before byte %zu: %s", in->path,
                      (size_t)(in->at - in->begin), what);
}

static bool parse_list(ply *p, const ply_property *property, uint64_t row, talus_status *status) {
  char what[160];
  double count, value;
  if (!next_number(p, property->length, &count, status))
    return false;
  p->s->face.count = 0;
  const bool is_face = property->role == CORNERS;
  if (is_face && !(count >= 3 && count == floor(count))) {
    snprintf(what, sizeof what, "face %llu has %g corners; expected 3 at least",
             (unsigned long long)row, count);
    wrong_row(p, status, what);
    return false;
  }
  for (double i = 0; i < count; ++i) {
    if (!next_number(p, property->type, &value, status))
      return false;
    if (!is_face)
      continue;
    if (!(value >= 0 && value < (double)p->vertices && value == floor(value))) {
      snprintf(what, sizeof what, "corner %g of face %llu is not one of the %llu vertices", value,
               (unsigned long long)row, (unsigned long long)p->vertices);
      wrong_row(p, status, what);
      return false;
    }
    *status = tl_array_push(&p->s->face, (uint32_t)value);
    if (*status != TALUS_OK)
      return false;
  }
  return true;
}

static bool parse_row(ply *p, const ply_element *element, uint64_t row, talus_status *status) {
  double place[4] = {0}, value;
  for (int i = element->first; i < element->last; ++i) {
    const ply_property *property = &p->property[i];
    const bool is_list = property->length != NO_TYPE;
    if (is_list ? !parse_list(p, property, row, status)
                : !next_number(p, property->type, &value, status))
      return false;
    if (!is_list && property->role != OF_NO_USE)
      place[property->role] = value;
    if (property->role == CORNERS)
      *status = tl_mesh_source_face(p->s);
  }
  for (int k = X; element->kind == VERTEX && k <= Z && *status == TALUS_OK; ++k)
    *status = tl_array_push(p->s->point, place[k]);
  return *status == TALUS_OK;
}

talus_status tl_mesh_parse_ply(tl_mesh_source *s) {
  ply p = {.s = s, .order = NO_ORDER};
  talus_status status = TALUS_OK;
  parse_head(&p);
  bool good = s->in.mistakes == 0, has_vertices = false;
  for (int i = 0; i < p.elements && good; ++i) {
    const ply_element *element = &p.element[i];
    if (element->kind == FACE && !has_vertices) {
      tl_input_wrong(&s->in, NULL, "faces stand before vertices; expected them after");
      break;
    }
    for (uint64_t row = 0; row < element->rows && element->first < element->last && good; ++row)
      good = parse_row(&p, element, row, &status);
    has_vertices = has_vertices || element->kind == VERTEX;
  }
  return status;
}
