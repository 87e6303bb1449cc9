/* bodies.csv: a header that names the columns, then a line per body. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bodies_read.h"
#include "cli.h"

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A decimal as its digits and an exponent of ten; the digits may be more than fit. */
typedef struct decimal {
  uint64_t digits;
  int count;    /* of digits without leading zeros */
  int exponent; /* of ten */
} decimal;

/* Reads digits, a point, digits; NULL where there is no digit. */
static const char *read_digits(const char *at, const char *end, decimal *found) {
  bool any = false, point = false;
  for (; at < end && (is_digit(*at) || (*at == '.' && !point)); ++at) {
    if (*at == '.') {
      point = true;
      continue;
    }
    any = true;
    if (found->count < 19) {
      found->digits = 10 * found->digits + (uint64_t)(*at - '0');
      found->count += found->digits != 0;
      found->exponent -= point;
    } else {
      found->count++;
      found->exponent += !point;
    }
  }
  return any ? at : NULL;
}

static bool is_word(const char *at, const char *end, const char *word) {
  for (; *word; ++word, ++at)
    if (at >= end || tolower((unsigned char)*at) != *word)
      return false;
  return at == end;
}

/* Up to 2^53 and 10^22 are exact as doubles, so that one rounding is all there is (Clinger 1990);
 * the rest is left to strtod. */
bodies_number bodies_parse_number(const char *at, const char *end, double *value) {
  static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *begin = at;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  if (is_word(at, end, "nan") || is_word(at, end, "inf") || is_word(at, end, "infinity"))
    return BODIES_NOT_FINITE;
  decimal found = {0};
  at = read_digits(at, end, &found);
  if (!at)
    return BODIES_NO_NUMBER;
  if (at < end && (*at == 'e' || *at == 'E')) {
    int exponent = 0;
    const char *digits = ++at;
    if (at < end && (*at == '-' || *at == '+'))
      digits = ++at;
    for (; at < end && is_digit(*at); ++at)
      exponent = exponent < 100000 ? 10 * exponent + (*at - '0') : exponent;
    if (at == digits)
      return BODIES_NO_NUMBER;
    found.exponent += digits[-1] == '-' ? -exponent : exponent;
  }
  if (at != end)
    return BODIES_NO_NUMBER;
  if (found.count <= 19 && found.digits <= (uint64_t)1 << 53 && found.exponent >= -22 &&
      found.exponent <= 22) {
    const double digits = (double)found.digits;
    const double size =
        found.exponent < 0 ? digits / power[-found.exponent] : digits * power[found.exponent];
    *value = negative ? -size : size;
    return BODIES_NUMBER;
  }
  *value = strtod(begin, NULL); /* ends where we did: what follows is no part of a number */
  return isfinite(*value) ? BODIES_NUMBER : BODIES_NOT_FINITE;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Columns there can be, and their place in a row that was read. */
enum { X, Y, Z, R, LX, LY, LZ, QW, QX, QY, QZ, A, B, C, N1, N2, SHAPE, COLUMNS };
static const char *const names[COLUMNS] = {"x",  "y",  "z", "r", "lx", "ly", "lz", "qw",   "qx",
                                           "qy", "qz", "a", "b", "c",  "n1", "n2", "shape"};
#define FIELDS_MOST COLUMNS

typedef struct layout {
  int column[FIELDS_MOST]; /* of each field of a line */
  int fields;
  bool has[COLUMNS];
} layout;

/* A line, without its end. */
typedef struct line {
  const char *at, *end;
  size_t number; /* from 1 */
} line;

static void trim(const char **at, const char **end) {
  while (*at < *end && (**at == ' ' || **at == '\t'))
    ++*at;
  while (*end > *at && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
    --*end;
}

/* The next line; false at the end of the file. *next is where the one after it begins. */
static bool next_line(const bodies_source *in, const char **next, line *found) {
  const char *last = in->text + in->length;
  if (*next >= last)
    return false;
  const char *end = memchr(*next, '\n', (size_t)(last - *next));
  found->at = *next;
  found->end = end ? end : last;
  found->number++;
  *next = end ? end + 1 : last;
  if (found->end > found->at && found->end[-1] == '\r')
    found->end--;
  return true;
}

/* The field that begins at *at, trimmed; *at is then behind its comma, or NULL after the last. */
static void next_field(const line *in, const char **at, const char **begin, const char **end) {
  const char *comma = memchr(*at, ',', (size_t)(in->end - *at));
  *begin = *at;
  *end = comma ? comma : in->end;
  *at = comma ? comma + 1 : NULL;
  trim(begin, end);
}

/* How much of a text stands in a message. */
static int shown(const char *at, const char *end) { return end - at < 40 ? (int)(end - at) : 40; }

static bool add_column(const bodies_source *in, const line *header, const char *at, const char *end,
                       layout *found) {
  char word[48];
  int k = 0;
  snprintf(word, sizeof word, "%.*s", shown(at, end), at);
  while (k < COLUMNS && strcmp(word, names[k]) != 0)
    k++;
  if (k == COLUMNS) {
    double number;
    if (bodies_parse_number(at, end, &number) == BODIES_NUMBER)
      return bodies_refuse(in,
                           "%s:%zu: '%s' is a number, but the first line is the header: x,y,z,r",
                           in->path, header->number, word);
    const char *near = cli_suggest(word, names, COLUMNS);
    return bodies_refuse(in,
                         "%s:%zu: unknown column '%s'%s%s%s; there are x,y,z,r and, for other "
                         "shapes, shape,a,b,c,n1,n2,lx,ly,lz,qw,qx,qy,qz",
                         in->path, header->number, word, near ? "; did you mean '" : "",
                         near ? near : "", near ? "'?" : "");
  }
  if (found->has[k])
    return bodies_refuse(in, "%s:%zu: column '%s' is there twice", in->path, header->number, word);
  found->has[k] = true;
  found->column[found->fields++] = k;
  return true;
}

static bool read_header(const bodies_source *in, const line *header, layout *found) {
  *found = (layout){0};
  const char *at = header->at, *begin, *end;
  while (at) {
    next_field(header, &at, &begin, &end);
    if (!add_column(in, header, begin, end, found))
      return false;
  }
  static const int wanted[] = {X, Y, Z, R};
  for (int i = 0; i < 4; ++i)
    if (!found->has[wanted[i]] && !(wanted[i] == R && found->has[SHAPE]))
      return bodies_refuse(in, "%s:%zu: there is no column '%s'; the header must name x,y,z,r",
                           in->path, header->number, names[wanted[i]]);
  if (!found->has[SHAPE])
    for (int k = LX; k < SHAPE; ++k)
      if (found->has[k])
        return bodies_refuse(in,
                             "%s:%zu: column '%s' is for other shapes than spheres; a column "
                             "'shape' must say which line is what",
                             in->path, header->number, names[k]);
  return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* What a line says; NAN where a field is empty. */
typedef struct row {
  double value[SHAPE];
  const char *shape, *shape_end;
} row;

static bool refuse_number(const bodies_source *in, const line *at, int column, const char *begin,
                          const char *end, bodies_number what) {
  if (begin == end)
    return bodies_refuse(in, "%s:%zu: column '%s' is empty", in->path, at->number, names[column]);
  return bodies_refuse(in, "%s:%zu: column '%s': '%.*s' is not a %snumber", in->path, at->number,
                       names[column], shown(begin, end), begin,
                       what == BODIES_NOT_FINITE ? "finite " : "");
}

static bool refuse_count(const bodies_source *in, const line *at, const layout *columns) {
  size_t count = 1;
  for (const char *c = at->at; c < at->end; ++c)
    count += *c == ',';
  return bodies_refuse(in, "%s:%zu: %zu field%s, but the header names %d", in->path, at->number,
                       count, count == 1 ? "" : "s", columns->fields);
}

static bool read_row(const bodies_source *in, const line *from, const layout *columns, row *found) {
  const char *at = from->at, *begin, *end;
  for (int i = 0; i < columns->fields; ++i) {
    const int k = columns->column[i];
    if (!at)
      return refuse_count(in, from, columns);
    next_field(from, &at, &begin, &end);
    if (k == SHAPE) {
      found->shape = begin;
      found->shape_end = end;
      continue;
    }
    if (begin == end && k > Z) { /* of another shape, perhaps */
      found->value[k] = NAN;
      continue;
    }
    const bodies_number what = bodies_parse_number(begin, end, &found->value[k]);
    if (what != BODIES_NUMBER)
      return refuse_number(in, from, k, begin, end, what);
  }
  return at ? refuse_count(in, from, columns) : true;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Rows so far; arrays that other shapes need are there from the start or never. */
typedef struct builder {
  const bodies_source *in;
  layout columns;
  size_t capacity, shape_capacity;
  body_table *table;
} builder;

static bool grow_array(void **array, size_t rows, size_t bytes) {
  void *grown = realloc(*array, rows * bytes);
  if (grown)
    *array = grown;
  return grown != NULL;
}

static bool make_room(builder *to) {
  body_table *table = to->table;
  if (table->bodies.count < to->capacity)
    return true;
  const size_t rows = to->capacity + to->capacity / 2 + 1024;
  bool good = grow_array((void **)&table->record, rows, 4 * sizeof *table->record);
  if (to->columns.has[SHAPE])
    good = good && grow_array((void **)&table->shape, rows, sizeof *table->shape) &&
           grow_array((void **)&table->scale, rows, sizeof *table->scale) &&
           grow_array((void **)&table->rotation, rows, 4 * sizeof *table->rotation);
  if (!good)
    return bodies_refuse(to->in, "%s: out of memory for %zu bodies", to->in->path, rows);
  to->capacity = rows;
  return true;
}

static bool check_length(const builder *to, const line *from, int column, double value,
                         bool may_be_zero) {
  if (isnan(value))
    return bodies_refuse(to->in, "%s:%zu: column '%s' is %s", to->in->path, from->number,
                         names[column], to->columns.has[column] ? "empty" : "not there");
  if (value > 0 || (may_be_zero && value == 0))
    return true;
  return bodies_refuse(to->in, "%s:%zu: column '%s': %g is not %s", to->in->path, from->number,
                       names[column], value,
                       column == R    ? "a radius: 0 or more, in metres"
                       : column <= LZ ? "an edge: more than 0, in metres"
                                      : "a length: more than 0, in metres");
}

/* The row of the shape table for it: lines of the same size in a row share one. Row 0 is the unit
 * sphere. */
static bool add_shape(builder *to, const talus_shape_def *shape) {
  body_table *table = to->table;
  const size_t n = table->bodies.shape_count;
  if (n > 1 && table->shapes[n - 1].kind == shape->kind &&
      memcmp(table->shapes[n - 1].size, shape->size, sizeof shape->size) == 0)
    return true;
  if (n == to->shape_capacity) {
    const size_t rows = n + n / 2 + 16;
    if (!grow_array((void **)&table->shapes, rows, sizeof *table->shapes))
      return bodies_refuse(to->in, "%s: out of memory for %zu shapes", to->in->path, rows);
    to->shape_capacity = rows;
  }
  table->shapes[table->bodies.shape_count++] = *shape;
  return true;
}

static bool set_rotation(builder *to, const line *from, const row *what, double *rotation) {
  double square = 0;
  int given = 0;
  for (int k = 0; k < 4; ++k) {
    const bool is_there = to->columns.has[QW + k] && !isnan(what->value[QW + k]);
    rotation[k] = is_there ? what->value[QW + k] : 0;
    given += is_there;
    square += rotation[k] * rotation[k];
  }
  if (given == 0)
    rotation[0] = 1;
  /* Rounded to three digits it is a unit quaternion still; what is farther off is a mistake. */
  if (given == 0 || (given == 4 && fabs(sqrt(square) - 1) <= 2e-3))
    return true;
  if (given == 4)
    return bodies_refuse(to->in,
                         "%s:%zu: qw,qx,qy,qz are no rotation: their length is %g, and must be 1",
                         to->in->path, from->number, sqrt(square));
  return bodies_refuse(to->in, "%s:%zu: a rotation is qw,qx,qy,qz: all four of them, or none",
                       to->in->path, from->number);
}

/* How the columns a, b, c, n1, n2 of a line become the sizes of a shape. */
typedef struct csv_kind {
  const char *name;
  talus_shape_kind kind;
  int count; /* columns from A on that it needs */
} csv_kind;

static const csv_kind csv_kinds[] = {
    {"sphere", TALUS_SPHERE, 1},
    {"box", TALUS_BOX, 3},
    {"ellipsoid", TALUS_ELLIPSOID, 3},
    {"capsule", TALUS_CAPSULE, 2},
    {"cylinder", TALUS_CYLINDER, 2},
    {"cone", TALUS_CONE, 2},
    {"superellipsoid", TALUS_SUPERELLIPSOID, 5},
    {"plane", TALUS_PLANE, 0},
};
enum { CSV_KINDS = sizeof csv_kinds / sizeof *csv_kinds };

static const csv_kind *find_kind(const builder *to, const line *from, const row *what) {
  for (int i = 0; i < CSV_KINDS; ++i)
    if (is_word(what->shape, what->shape_end, csv_kinds[i].name))
      return &csv_kinds[i];
  bodies_refuse(to->in,
                "%s:%zu: column 'shape': '%.*s' is none of sphere, box, ellipsoid, capsule, "
                "cylinder, cone, superellipsoid and plane",
                to->in->path, from->number, shown(what->shape, what->shape_end), what->shape);
  return NULL;
}

static double value_of(const builder *to, const row *what, int column) {
  return to->columns.has[column] ? what->value[column] : NAN;
}

/* A box may have its edges in lx, ly, lz, or half of them in a, b, c. */
static bool set_box(const builder *to, const line *from, const row *what, double size[3]) {
  const bool halves = !isnan(value_of(to, what, A)) && isnan(value_of(to, what, LX));
  for (int k = 0; k < 3; ++k) {
    const int column = (halves ? A : LX) + k;
    size[k] = value_of(to, what, column);
    if (!check_length(to, from, column, size[k], false))
      return false;
    size[k] *= halves ? 2 : 1;
  }
  return true;
}

static bool set_size(const builder *to, const line *from, const row *what, const csv_kind *kind,
                     talus_shape_def *shape) {
  memset(shape->size, 0, sizeof shape->size);
  if (kind->kind == TALUS_BOX)
    return set_box(to, from, what, shape->size);
  if (kind->kind == TALUS_PLANE) { /* through x, y, z; its normal is the z axis, turned */
    shape->size[2] = 1;
    return true;
  }
  for (int k = 0; k < kind->count; ++k) {
    shape->size[k] = value_of(to, what, A + k);
    if (!check_length(to, from, A + k, shape->size[k], false))
      return false;
  }
  talus_shape_info unused;
  if (kind->kind == TALUS_SUPERELLIPSOID && talus_shape_measure(shape, &unused) != TALUS_OK)
    return bodies_refuse(to->in, "%s:%zu: %s", to->in->path, from->number, talus_last_error());
  return true;
}

/* A line of a table with a column `shape`. */
static bool add_shaped(builder *to, const line *from, const row *what) {
  body_table *table = to->table;
  const size_t i = table->bodies.count;
  const csv_kind *kind = find_kind(to, from, what);
  if (!kind || !set_rotation(to, from, what, table->rotation + 4 * i))
    return false;
  if (kind->kind == TALUS_SPHERE) {
    const double r = value_of(to, what, R);
    const bool is_a = isnan(r) && to->columns.has[A] && !isnan(what->value[A]);
    table->scale[i] = table->record[4 * i + 3] = is_a ? what->value[A] : r;
    table->shape[i] = 0;
    return check_length(to, from, is_a || (to->columns.has[A] && !to->columns.has[R]) ? A : R,
                        table->scale[i], true);
  }
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = kind->kind;
  if (!set_size(to, from, what, kind, &shape) || !add_shape(to, &shape))
    return false;
  table->shape[i] = (uint32_t)(table->bodies.shape_count - 1);
  table->scale[i] = 1;
  table->record[4 * i + 3] = 0;
  return true;
}

static bool add_row(builder *to, const line *from) {
  row what;
  if (!read_row(to->in, from, &to->columns, &what) || !make_room(to))
    return false;
  double *record = to->table->record + 4 * to->table->bodies.count;
  memcpy(record, what.value, 3 * sizeof *record);
  if (to->columns.has[SHAPE]) {
    if (!add_shaped(to, from, &what))
      return false;
  } else {
    record[3] = what.value[R];
    if (!check_length(to, from, R, record[3], true))
      return false;
  }
  to->table->bodies.count++;
  return true;
}

static bool is_blank(const line *at) {
  const char *begin = at->at, *end = at->end;
  trim(&begin, &end);
  return begin == end;
}

bool bodies_parse_csv(const bodies_source *in, body_table *table) {
  builder to = {.in = in, .table = table};
  line at = {0};
  const char *next = in->text;
  if (in->length >= 3 && memcmp(next, "\xef\xbb\xbf", 3) == 0)
    next += 3; /* a byte order mark, as some spreadsheets write */
  if (!next_line(in, &next, &at) || is_blank(&at))
    return bodies_refuse(in, "%s:1: the header is missing: x,y,z,r", in->path);
  if (!read_header(in, &at, &to.columns))
    return false;
  if (to.columns.has[SHAPE]) {
    talus_shape_def sphere = talus_shape_def_default();
    sphere.size[0] = 1;
    if (!add_shape(&to, &sphere))
      return false;
  }
  while (next_line(in, &next, &at))
    if (!is_blank(&at) && !add_row(&to, &at))
      return false;
  return true;
}
