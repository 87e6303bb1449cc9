#include "shape/mesh_file.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/input.h"

#define STL_HEAD     80 /* bytes of a binary file before the number of triangles */
#define STL_TRIANGLE 50 /* bytes: normal, three corners, an attribute */

/* A file under way. Mistakes are put down in `in`; a status is of memory, and of binary files. */
typedef struct source {
  tl_input in;
  tl_coordinates *out;
} source;

/* ---- text --------------------------------------------------------------------------------------
 */

/* Three numbers, the rest of the line. A mistake makes a point all the same, so that faces which
 * count vertices are not wrong because of it. */
static talus_status add_point(source *s, const char *what) {
  tl_input *in = &s->in;
  double p[3] = {0};
  for (int k = 0; k < 3; ++k) {
    const tl_span word = tl_input_word(in);
    if (word.length == 0) {
      tl_input_wrong(in, word.text, "%s has %d number%s; expected x, y, z", what, k,
                     k == 1 ? "" : "s");
      break;
    }
    if (tl_span_number(word, &p[k]) != TL_NUMBER)
      tl_input_wrong(in, word.text, "%s: `%.*s` is no number; expected x, y, z", what,
                     TL_SHOW(word));
  }
  for (int k = 0; k < 3; ++k)
    TL_TRY(tl_array_push(s->out, p[k]));
  return TALUS_OK;
}

static talus_status parse_rows(source *s) {
  tl_input *in = &s->in;
  for (bool more = in->at < in->end; more; more = tl_input_next_line(in)) {
    const tl_span word = tl_input_word(in);
    double unused;
    const bool is_heading = in->number == 1 && word.length > 0 &&
                            isalpha((unsigned char)*word.text) &&
                            tl_span_number(word, &unused) == TL_NO_NUMBER;
    if (word.length == 0 || word.text[0] == '#' || is_heading)
      continue;
    in->at = word.text;
    TL_TRY(add_point(s, "a point"));
    const tl_span rest = tl_input_word(in);
    if (rest.length > 0)
      tl_input_wrong(in, rest.text, "a point has more than three numbers; expected x, y, z");
  }
  return TALUS_OK;
}

/* Corners of a face must be vertices before it; negative ones count backwards. */
static void check_face(source *s) {
  tl_input *in = &s->in;
  const size_t vertices = s->out->count / 3;
  int corners = 0;
  for (tl_span word = tl_input_word(in); word.length > 0; word = tl_input_word(in), ++corners) {
    char text[32];
    const size_t length = word.length < sizeof text - 1 ? word.length : sizeof text - 1;
    memcpy(text, word.text, length);
    text[length] = '\0';
    char *end;
    const long row = strtol(text, &end, 10);
    if (end == text || (*end != '\0' && *end != '/'))
      tl_input_wrong(in, word.text, "corner `%s` of a face is no number; expected that of a vertex",
                     text);
    else if (row == 0 || (row > 0 ? (unsigned long)row : (unsigned long)-(row + 1) + 1) > vertices)
      tl_input_wrong(in, word.text, "corner %ld of a face is not one of the %zu vertices before it",
                     row, vertices);
  }
  if (corners < 3)
    tl_input_wrong(in, tl_input_line_end(in), "a face has %d corners; expected 3 at least",
                   corners);
}

static talus_status parse_obj(source *s) {
  tl_input *in = &s->in;
  for (bool more = in->at < in->end; more; more = tl_input_next_line(in)) {
    const tl_span word = tl_input_word(in);
    if (tl_span_is(word, "v"))
      TL_TRY(add_point(s, "a vertex"));
    else if (tl_span_is(word, "f"))
      check_face(s);
  }
  return TALUS_OK;
}

/* One line of an STL file. *corners: of the facet under way; -1: none is. */
static talus_status parse_stl_line(source *s, tl_span word, int *corners, bool *ended) {
  tl_input *in = &s->in;
  if (tl_span_is(word, "facet")) {
    if (*corners >= 0)
      tl_input_wrong(in, word.text, "a facet begins within another; expected `endfacet` before it");
    *corners = 0;
  } else if (tl_span_is(word, "vertex")) {
    if (*corners < 0)
      tl_input_wrong(in, word.text, "a vertex outside of a facet; expected `facet normal` before");
    else if (++*corners > 3)
      tl_input_wrong(in, word.text, "a facet has more than three vertices");
    return add_point(s, "a vertex");
  } else if (tl_span_is(word, "endfacet")) {
    if (*corners < 3)
      tl_input_wrong(in, word.text, "a facet ends with %d vertices; expected 3",
                     *corners < 0 ? 0 : *corners);
    *corners = -1;
  } else if (tl_span_is(word, "endsolid") || tl_span_is(word, "solid")) {
    *ended = tl_span_is(word, "endsolid");
  } else if (word.length > 0 && !tl_span_is(word, "outer") && !tl_span_is(word, "endloop")) {
    tl_input_wrong(in, word.text,
                   "`%.*s` is no word of an STL file; expected facet, outer, vertex, endloop, "
                   "endfacet or endsolid",
                   TL_SHOW(word));
  }
  return TALUS_OK;
}

/* `solid NAME`, facets of three vertices each, `endsolid`: the words between are checked only as
 * far as the vertices hang on them. */
static talus_status parse_stl_text(source *s) {
  tl_input *in = &s->in;
  int corners = -1;
  bool ended = false;
  for (bool more = in->at < in->end; more; more = tl_input_next_line(in))
    TL_TRY(parse_stl_line(s, tl_input_word(in), &corners, &ended));
  if (!ended || corners >= 0)
    tl_input_wrong(in, NULL, "the file ends within a solid: it is cut off; expected `endsolid`");
  return TALUS_OK;
}

/* ---- binary ------------------------------------------------------------------------------------
 */

static uint32_t read_u32(const char *from) {
  unsigned char b[4];
  memcpy(b, from, sizeof b);
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double read_float(const char *from) {
  const uint32_t bits = read_u32(from);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static talus_status parse_stl_binary(source *s) {
  const char *path = s->in.path, *begin = s->in.begin;
  const size_t bytes = (size_t)(s->in.end - begin);
  const uint32_t n = read_u32(begin + STL_HEAD);
  const uint64_t wanted = STL_HEAD + 4 + (uint64_t)STL_TRIANGLE * n;
  if (bytes < wanted)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s: a binary STL file of %u triangles has %llu bytes, but this one has %zu: it "
                   "is cut off, or not an STL file",
                   path, n, (unsigned long long)wanted, bytes);
  for (uint32_t i = 0; i < n; ++i)
    for (int k = 0; k < 9; ++k) {
      const size_t at = STL_HEAD + 4 + (size_t)STL_TRIANGLE * i + 12 + 4 * (size_t)k;
      const double value = read_float(begin + at);
      if (!isfinite(value))
        return tl_fail(TALUS_ERROR_FORMAT, "%s: byte %zu: a corner of triangle %u is no number",
                       path, at, i);
      TL_TRY(tl_array_push(s->out, value));
    }
  return TALUS_OK;
}

/* Some binary files begin with "solid" as well: the length decides. */
static talus_status parse_stl(source *s) {
  tl_input *in = &s->in;
  const size_t bytes = (size_t)(in->end - in->begin);
  const bool fits = bytes >= STL_HEAD + 4 &&
                    bytes == STL_HEAD + 4 + (uint64_t)STL_TRIANGLE * read_u32(in->begin + STL_HEAD);
  if (!fits && tl_input_find_line(in, false)) {
    const char *begin = in->at;
    const bool is_text = tl_span_is(tl_input_word(in), "solid");
    in->at = begin;
    if (is_text)
      return parse_stl_text(s);
  }
  return bytes >= STL_HEAD + 4 ? parse_stl_binary(s)
                               : tl_fail(TALUS_ERROR_FORMAT,
                                         "%s: %zu bytes are no STL file: text begins with `solid`, "
                                         "and a binary file has 84 bytes at least",
                                         in->path, bytes);
}

/* ---- each place once ---------------------------------------------------------------------------
 */

typedef struct place {
  double p[3];
  size_t row;
} place;

static int by_place(const void *a, const void *b) {
  const place *p = a, *q = b;
  for (int k = 0; k < 3; ++k)
    if (p->p[k] != q->p[k])
      return p->p[k] < q->p[k] ? -1 : 1;
  return p->row < q->row ? -1 : 1;
}

static talus_status weld(tl_coordinates *points, double scale) {
  const size_t n = points->count / 3;
  TL_ARRAY(place) places = {0};
  TL_TRY(tl_array_resize(&places, n));
  for (size_t i = 0; i < n; ++i) {
    places.data[i].row = i;
    for (size_t k = 0; k < 3; ++k)
      places.data[i].p[k] = points->data[3 * i + k] * scale + 0.0; /* -0 and 0 are one place */
  }
  qsort(places.data, n, sizeof *places.data, by_place);
  for (size_t i = 0; i < 3 * n; ++i)
    points->data[i] = NAN;
  for (size_t i = 0; i < n; ++i)
    if (i == 0 || memcmp(places.data[i].p, places.data[i - 1].p, sizeof places.data[i].p) != 0)
      memcpy(&points->data[3 * places.data[i].row], places.data[i].p, sizeof places.data[i].p);
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i)
    if (!isnan(points->data[3 * i])) {
      memmove(&points->data[3 * kept], &points->data[3 * i], 3 * sizeof(double));
      kept++;
    }
  points->count = 3 * kept;
  tl_array_free(&places);
  return TALUS_OK;
}

/* ---- files -------------------------------------------------------------------------------------
 */

static const char *extension_of(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  return dot && (!slash || dot > slash) ? dot + 1 : "";
}

typedef talus_status parse_fn(source *s);

static parse_fn *parser_of(const char *path) {
  const char *extension = extension_of(path);
  if (strcasecmp(extension, "stl") == 0)
    return parse_stl;
  if (strcasecmp(extension, "obj") == 0)
    return parse_obj;
  if (strcasecmp(extension, "csv") == 0 || strcasecmp(extension, "txt") == 0 ||
      strcasecmp(extension, "xyz") == 0)
    return parse_rows;
  return NULL;
}

talus_status tl_mesh_parse_points(const char *path, const char *bytes, size_t n, double scale,
                                  tl_coordinates *points) {
  parse_fn *parse = parser_of(path);
  if (!parse)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: `.%s` is no kind of mesh; expected a file .stl or .obj, or rows of x, y, z "
                   "in .csv, .txt or .xyz",
                   path, extension_of(path));
  if (!(scale > 0) || !isfinite(scale))
    return tl_fail(TALUS_ERROR_INVALID, "%s: scale is %g, but must be above 0", path, scale);
  source s = {.out = points};
  points->count = 0;
  TL_TRY(tl_input_open(&s.in, path, bytes, n));
  talus_status status = tl_input_close(&s.in, parse(&s));
  if (status == TALUS_OK && points->count == 0)
    status = tl_fail(TALUS_ERROR_FORMAT, "%s has no points; expected x, y, z of some", path);
  if (status == TALUS_OK)
    status = weld(points, scale);
  if (status != TALUS_OK)
    points->count = 0;
  return status;
}

talus_status tl_mesh_read_points(const char *path, double scale, tl_coordinates *points) {
  if (!parser_of(path)) /* before the file is looked for */
    return tl_mesh_parse_points(path, "", 0, scale, points);
  tl_bytes bytes = {0};
  talus_status status = tl_input_load(path, &bytes);
  if (status == TALUS_OK)
    status = tl_mesh_parse_points(path, bytes.data ? bytes.data : "", bytes.count, scale, points);
  tl_array_free(&bytes);
  return status;
}
