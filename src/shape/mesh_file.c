#include "shape/mesh_file.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdarg.h>
#include <strings.h>

#include "base/status.h"

#define STL_HEAD     80 /* bytes of a binary file before the number of triangles */
#define STL_TRIANGLE 50 /* bytes: normal, three corners, an attribute */

typedef TL_ARRAY(char) file_bytes;

typedef struct source {
  const char *path, *at, *end;
  size_t line;
  tl_coordinates *out;
} source;

#define WRONG(s, ...) fail_at((s), __VA_ARGS__)

static talus_status fail_at(const source *s, const char *fmt, ...) TL_PRINTF(2, 3);
static talus_status fail_at(const source *s, const char *fmt, ...) {
  char what[300];
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  return tl_fail(TALUS_ERROR_FORMAT, "%s:%zu: %s", s->path, s->line, what);
}

/* ---- words -------------------------------------------------------------------------------------
 */

typedef struct token {
  const char *text;
  size_t length;
} token;

/* The next word of the line; empty at its end. Commas separate as blanks do. */
static token next_word(source *s) {
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == ','))
    s->at++;
  token found = {s->at, 0};
  while (s->at < s->end && !strchr(" \t\r\n,", *s->at) && *s->at != '\0')
    s->at++;
  if (s->at < s->end && *s->at == '\0' && s->at == found.text)
    s->at++; /* a zero byte is a word by itself, which nobody expects */
  found.length = (size_t)(s->at - found.text);
  return found;
}

static void next_line(source *s) {
  while (s->at < s->end && *s->at != '\n')
    s->at++;
  if (s->at < s->end)
    s->at++;
  s->line++;
}

static bool is_word(token word, const char *text) {
  return word.length == strlen(text) && strncasecmp(word.text, text, word.length) == 0;
}

/* A decimal number and nothing after it. */
static bool to_number(token word, double *value) {
  char text[64], *end;
  if (word.length == 0 || word.length >= sizeof text || !strchr("+-.0123456789", word.text[0]))
    return false;
  memcpy(text, word.text, word.length);
  text[word.length] = '\0';
  if (strspn(text, "+-.0123456789eE") != word.length)
    return false;
  *value = strtod(text, &end);
  return *end == '\0' && isfinite(*value);
}

/* Three numbers, the rest of the line. */
static talus_status add_point(source *s, const char *what) {
  double p[3];
  for (int k = 0; k < 3; ++k) {
    const token word = next_word(s);
    if (!to_number(word, &p[k]))
      return word.length == 0 ? WRONG(s, "%s has %d numbers; expected x, y, z", what, k)
                              : WRONG(s, "%s: `%.*s` is no number; expected x, y, z", what,
                                      (int)(word.length < 40 ? word.length : 40), word.text);
  }
  for (int k = 0; k < 3; ++k)
    TL_TRY(tl_array_push(s->out, p[k]));
  return TALUS_OK;
}

/* ---- formats -----------------------------------------------------------------------------------
 */

static talus_status parse_rows(source *s) {
  while (s->at < s->end) {
    const char *begin = s->at;
    const token word = next_word(s);
    double unused;
    const bool is_heading = s->line == 1 && word.length > 0 && isalpha((unsigned char)*word.text) &&
                            !to_number(word, &unused);
    if (word.length > 0 && word.text[0] != '#' && !is_heading) {
      s->at = begin;
      TL_TRY(add_point(s, "a point"));
      if (next_word(s).length > 0)
        return WRONG(s, "a point has more than three numbers; expected x, y, z");
    }
    next_line(s);
  }
  return TALUS_OK;
}

/* Corners of a face must be vertices before it; negative ones count backwards. */
static talus_status check_face(source *s) {
  const size_t vertices = s->out->count / 3;
  int corners = 0;
  for (token word = next_word(s); word.length > 0; word = next_word(s), ++corners) {
    char text[32];
    const size_t length = word.length < sizeof text - 1 ? word.length : sizeof text - 1;
    memcpy(text, word.text, length);
    text[length] = '\0';
    char *end;
    const long row = strtol(text, &end, 10);
    if (end == text || (*end != '\0' && *end != '/'))
      return WRONG(s, "corner `%s` of a face is no number", text);
    if (row == 0 || (row > 0 ? (unsigned long)row : (unsigned long)-(row + 1) + 1) > vertices)
      return WRONG(s, "corner %ld of a face is not one of the %zu vertices before it", row,
                   vertices);
  }
  return corners >= 3 ? TALUS_OK : WRONG(s, "a face has %d corners; expected 3 at least", corners);
}

static talus_status parse_obj(source *s) {
  while (s->at < s->end) {
    const token word = next_word(s);
    if (is_word(word, "v"))
      TL_TRY(add_point(s, "a vertex"));
    else if (is_word(word, "f"))
      TL_TRY(check_face(s));
    next_line(s);
  }
  return TALUS_OK;
}

/* `solid NAME`, facets of three vertices each, `endsolid`: the words between are checked only as
 * far as the vertices hang on them. */
static talus_status parse_stl_text(source *s) {
  int corners = -1; /* of the facet under way; -1: none is */
  bool ended = false;
  while (s->at < s->end) {
    const token word = next_word(s);
    if (is_word(word, "facet")) {
      if (corners >= 0)
        return WRONG(s, "a facet begins within another; expected `endfacet` before it");
      corners = 0;
    } else if (is_word(word, "vertex")) {
      if (corners < 0)
        return WRONG(s, "a vertex outside of a facet");
      if (++corners > 3)
        return WRONG(s, "a facet has more than three vertices");
      TL_TRY(add_point(s, "a vertex"));
    } else if (is_word(word, "endfacet")) {
      if (corners != 3)
        return WRONG(s, "a facet ends with %d vertices; expected 3", corners < 0 ? 0 : corners);
      corners = -1;
    } else if (is_word(word, "endsolid")) {
      ended = true;
    } else if (is_word(word, "solid")) {
      ended = false;
    } else if (word.length > 0 && !is_word(word, "outer") && !is_word(word, "endloop")) {
      return WRONG(s, "`%.*s` is no word of an STL file",
                   (int)(word.length < 40 ? word.length : 40), word.text);
    }
    next_line(s);
  }
  return ended && corners < 0 ? TALUS_OK : WRONG(s, "the file ends within a solid: it is cut off");
}

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
  const size_t bytes = (size_t)(s->end - s->at);
  const uint32_t n = read_u32(s->at + STL_HEAD);
  const uint64_t wanted = STL_HEAD + 4 + (uint64_t)STL_TRIANGLE * n;
  if (bytes < wanted)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s: a binary STL file of %u triangles has %llu bytes, but this one has %zu: it "
                   "is cut off, or not an STL file",
                   s->path, n, (unsigned long long)wanted, bytes);
  for (uint32_t i = 0; i < n; ++i)
    for (int k = 0; k < 9; ++k) {
      const size_t at = STL_HEAD + 4 + (size_t)STL_TRIANGLE * i + 12 + 4 * (size_t)k;
      const double value = read_float(s->at + at);
      if (!isfinite(value))
        return tl_fail(TALUS_ERROR_FORMAT, "%s: byte %zu: a corner of triangle %u is no number",
                       s->path, at, i);
      TL_TRY(tl_array_push(s->out, value));
    }
  return TALUS_OK;
}

/* Some binary files begin with "solid" as well: the length decides. */
static talus_status parse_stl(source *s) {
  const size_t bytes = (size_t)(s->end - s->at);
  const bool fits = bytes >= STL_HEAD + 4 &&
                    bytes == STL_HEAD + 4 + (uint64_t)STL_TRIANGLE * read_u32(s->at + STL_HEAD);
  const source here = *s;
  token word = next_word(s);
  while (word.length == 0 && s->at < s->end) {
    next_line(s);
    word = next_word(s);
  }
  const bool is_text = is_word(word, "solid") && !fits;
  *s = here;
  if (is_text)
    return parse_stl_text(s);
  return bytes >= STL_HEAD + 4 ? parse_stl_binary(s)
                               : tl_fail(TALUS_ERROR_FORMAT,
                                         "%s: %zu bytes are no STL file: text begins with `solid`, "
                                         "and a binary file has 84 bytes at least",
                                         s->path, bytes);
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
  /* Files use "." whatever the program's locale. */
  const locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (own == (locale_t)0)
    return tl_fail(TALUS_ERROR_MEMORY, "no memory for a locale");
  const locale_t before = uselocale(own);
  source s = {.path = path, .at = bytes, .end = bytes + n, .line = 1, .out = points};
  points->count = 0;
  talus_status status = parse(&s);
  (void)uselocale(before);
  freelocale(own);
  if (status == TALUS_OK && points->count == 0)
    status = tl_fail(TALUS_ERROR_FORMAT, "%s has no points", path);
  if (status == TALUS_OK)
    status = weld(points, scale);
  if (status != TALUS_OK)
    points->count = 0;
  return status;
}

static talus_status read_all(FILE *file, const char *path, file_bytes *bytes) {
  for (;;) {
    TL_TRY(tl_array_reserve(bytes, bytes->count + 65536));
    const size_t got = fread(bytes->data + bytes->count, 1, 65536, file);
    bytes->count += got;
    if (got == 0)
      break;
  }
  if (ferror(file))
    return tl_fail(TALUS_ERROR_IO, "%s: cannot be read: %s", path, strerror(errno));
  return TALUS_OK;
}

talus_status tl_mesh_read_points(const char *path, double scale, tl_coordinates *points) {
  if (!parser_of(path)) /* before the file is looked for */
    return tl_mesh_parse_points(path, "", 0, scale, points);
  FILE *file = fopen(path, "rb");
  if (!file)
    return tl_fail(TALUS_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
  file_bytes bytes = {0};
  talus_status status = read_all(file, path, &bytes);
  (void)fclose(file);
  if (status == TALUS_OK)
    status = tl_mesh_parse_points(path, bytes.data ? bytes.data : "", bytes.count, scale, points);
  tl_array_free(&bytes);
  return status;
}
