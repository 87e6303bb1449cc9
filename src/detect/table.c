/* Tables of bodies: a header that names the columns, then a line per body. */
#include "detect/table.h"

#include <math.h>
#include <stdio.h>

#include "scene/text.h"

/* ---- the header --------------------------------------------------------------------------------
 */

/* Columns there can be, and their place in a row that was read. */
enum { X, Y, Z, R, LX, LY, LZ, QW, QX, QY, QZ, A, B, C, N1, N2, SHAPE, FILE_NAME, NAME, COLUMNS };
static const char *const names[COLUMNS] = {"x",  "y",  "z",     "r",    "lx",  "ly", "lz",
                                           "qw", "qx", "qy",    "qz",   "a",   "b",  "c",
                                           "n1", "n2", "shape", "file", "name"};

/* A table under way. */
typedef struct builder {
  tl_input in;
  talus_body_rows *rows;
  int column[COLUMNS]; /* of each field of a line */
  int fields;
  bool has[COLUMNS];
} builder;

static void add_column(builder *to, tl_span cell) {
  char word[48];
  int k = 0;
  double number;
  snprintf(word, sizeof word, "%.*s", TL_SHOW(cell));
  while (k < COLUMNS && strcmp(word, names[k]) != 0)
    k++;
  if (k == COLUMNS && tl_span_number(cell, &number) == TL_NUMBER) {
    tl_input_wrong(&to->in, cell.text,
                   "'%s' is a number, but the first line is the header: x,y,z,r", word);
  } else if (k == COLUMNS) {
    tl_suggestion near = {.word = word};
    for (int i = 0; i < COLUMNS; ++i)
      tl_suggest(&near, names[i]);
    tl_input_wrong(&to->in, cell.text,
                   "unknown column '%s'%s%s%s; there are x,y,z,r and, for other shapes, "
                   "shape,a,b,c,n1,n2,lx,ly,lz,qw,qx,qy,qz,file,name",
                   word, near.best ? "; did you mean '" : "", near.best ? near.best : "",
                   near.best ? "'?" : "");
  } else if (to->has[k]) {
    tl_input_wrong(&to->in, cell.text, "column '%s' is there twice", word);
  } else {
    to->has[k] = true;
    to->column[to->fields++] = k;
  }
}

/* False after mistakes: without a header nothing can be said of the rows. */
static bool read_header(builder *to) {
  tl_input *in = &to->in;
  if (in->at == in->end || tl_input_line_end(in) == in->line) {
    tl_input_wrong(in, NULL, "the header is missing: x,y,z,r");
    return false;
  }
  for (bool last = false; !last && in->mistakes < TL_INPUT_SHOWN;)
    add_column(to, tl_input_cell(in, &last));
  if (in->mistakes > 0)
    return false;
  for (int k = X; k <= R; ++k)
    if (!to->has[k] && !(k == R && to->has[SHAPE]))
      tl_input_wrong(in, tl_input_line_end(in),
                     "there is no column '%s'; the header must name x,y,z,r", names[k]);
  for (int i = 0; i < to->fields && !to->has[SHAPE]; ++i)
    if (to->column[i] > R) {
      tl_input_wrong(in, in->line,
                     "column '%s' is for other shapes than spheres; a column 'shape' must say "
                     "which line is what",
                     names[to->column[i]]);
      break;
    }
  return in->mistakes == 0;
}

/* ---- lines -------------------------------------------------------------------------------------
 */

/* What a line says; values are NAN where a field is empty or not there. */
typedef struct row {
  double value[SHAPE];
  tl_span cell[COLUMNS];
} row;

static void refuse_number(builder *to, int column, tl_span cell, tl_number_kind what) {
  if (cell.length == 0)
    tl_input_wrong(&to->in, cell.text, "column '%s' is empty", names[column]);
  else
    tl_input_wrong(&to->in, cell.text, "column '%s': '%.*s' is not a %snumber", names[column],
                   TL_SHOW(cell), what == TL_NOT_FINITE ? "finite " : "");
}

/* False after mistakes. A line with a wrong number of fields is not looked at further: what is
 * missing may stand anywhere. */
static bool read_row(builder *to, row *found) {
  tl_input *in = &to->in;
  int count = 1;
  for (const char *c = in->line; c < in->end && *c != '\n'; ++c)
    count += *c == ',';
  if (count != to->fields) {
    tl_input_wrong(in, tl_input_line_end(in), "%d field%s, but the header names %d", count,
                   count == 1 ? "" : "s", to->fields);
    return false;
  }
  const size_t before = in->mistakes;
  for (int k = 0; k < SHAPE; ++k)
    found->value[k] = NAN;
  for (int k = 0; k < COLUMNS; ++k)
    found->cell[k] = (tl_span){in->line, 0};
  for (int i = 0; i < to->fields; ++i) {
    const int k = to->column[i];
    bool last;
    const tl_span cell = found->cell[k] = tl_input_cell(in, &last);
    if (k >= SHAPE || (cell.length == 0 && k > Z)) /* of another shape, perhaps */
      continue;
    const tl_number_kind what = tl_span_number(cell, &found->value[k]);
    if (what != TL_NUMBER)
      refuse_number(to, k, cell, what);
  }
  return in->mistakes == before;
}

static bool check_length(builder *to, const row *from, int column, double value, bool may_be_zero) {
  if (isnan(value))
    tl_input_wrong(&to->in, from->cell[column].text, "column '%s' is %s", names[column],
                   to->has[column] ? "empty" : "not there");
  else if (!(value > 0) && !(may_be_zero && value == 0))
    tl_input_wrong(&to->in, from->cell[column].text, "column '%s': %g is not %s", names[column],
                   value,
                   column == R    ? "a radius: 0 or more, in metres"
                   : column <= LZ ? "an edge: more than 0, in metres"
                                  : "a length: more than 0, in metres");
  else
    return true;
  return false;
}

static bool read_rotation(builder *to, const row *from, double rotation[4]) {
  double square = 0;
  int given = 0;
  for (int k = 0; k < 4; ++k) {
    const bool is_there = !isnan(from->value[QW + k]);
    rotation[k] = is_there ? from->value[QW + k] : 0;
    given += is_there;
    square += rotation[k] * rotation[k];
  }
  if (given == 0)
    rotation[0] = 1;
  /* Rounded to three digits it is a unit quaternion still; what is farther off is a mistake. */
  if (given == 0 || (given == 4 && fabs(sqrt(square) - 1) <= 2e-3))
    return true;
  const char *place = from->cell[QW].text;
  if (given == 4)
    tl_input_wrong(&to->in, place, "qw,qx,qy,qz are no rotation: their length is %g, and must be 1",
                   sqrt(square));
  else
    tl_input_wrong(&to->in, place, "a rotation is qw,qx,qy,qz: all four of them, or none");
  return false;
}

/* ---- shapes ------------------------------------------------------------------------------------
 */

/* How the columns a, b, c, n1, n2 of a line become the sizes of a shape. */
typedef struct csv_kind {
  const char *name;
  talus_shape_kind kind;
  int count; /* columns from A on that it needs; -1: it stands in a file */
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
    {"container", TALUS_CONTAINER, 3},
    {"hull", TALUS_HULL, -1},
    {"clump", TALUS_CLUMP, -1},
};

static const csv_kind *find_kind(builder *to, const row *from) {
  for (size_t i = 0; i < sizeof csv_kinds / sizeof *csv_kinds; ++i)
    if (tl_span_is(from->cell[SHAPE], csv_kinds[i].name))
      return &csv_kinds[i];
  tl_input_wrong(&to->in, from->cell[SHAPE].text,
                 "column 'shape': '%.*s' is none of sphere, box, ellipsoid, capsule, cylinder, "
                 "cone, superellipsoid, plane, container, hull and clump",
                 TL_SHOW(from->cell[SHAPE]));
  return NULL;
}

/* A box may have its edges in lx, ly, lz, or half of them in a, b, c; so may a container. */
static bool read_box(builder *to, const row *from, double size[3]) {
  const bool halves =
      isnan(from->value[LX]) && (!isnan(from->value[A]) || (to->has[A] && !to->has[LX]));
  for (int k = 0; k < 3; ++k) {
    const int column = (halves ? A : LX) + k;
    size[k] = from->value[column];
    if (!check_length(to, from, column, size[k], false))
      return false;
    size[k] *= halves ? 2 : 1;
  }
  return true;
}

static bool read_size(builder *to, const row *from, const csv_kind *kind, talus_shape_def *shape) {
  memset(shape->size, 0, sizeof shape->size);
  if (kind->kind == TALUS_BOX || kind->kind == TALUS_CONTAINER)
    return read_box(to, from, shape->size);
  if (kind->kind == TALUS_PLANE) { /* through x, y, z; its normal is the z axis, turned */
    shape->size[2] = 1;
    return true;
  }
  for (int k = 0; k < kind->count; ++k) {
    shape->size[k] = from->value[A + k];
    if (!check_length(to, from, A + k, shape->size[k], false))
      return false;
  }
  talus_shape_info unused;
  if (kind->kind != TALUS_SUPERELLIPSOID || talus_shape_measure(shape, &unused) == TALUS_OK)
    return true;
  tl_input_wrong(&to->in, from->cell[N1].text, "%s", tl_last_message());
  return false;
}

/* The row of the shapes for it: lines of the same size in a row share one. */
static talus_status add_shape(builder *to, const talus_shape_def *shape, uint32_t *found) {
  const size_t n = to->rows->shapes.count;
  const talus_shape_def *last = &to->rows->shapes.data[n - 1]; /* row 0 is the unit sphere */
  *found = (uint32_t)(n - 1);
  if (n > 1 && last->kind == shape->kind && !last->points &&
      memcmp(last->size, shape->size, sizeof shape->size) == 0)
    return TALUS_OK;
  *found = (uint32_t)n;
  return tl_array_push(&to->rows->shapes, *shape);
}

/* What a line adds. */
typedef struct body {
  uint32_t shape;
  double scale, radius, rotation[4];
} body;

/* A hull, clump or container of a file; a: its scale, where it is given. */
static talus_status read_file(builder *to, const row *from, const csv_kind *kind, body *made,
                              bool *good) {
  if (from->cell[FILE_NAME].length == 0) {
    tl_input_wrong(&to->in, from->cell[FILE_NAME].text,
                   "column 'file' is %s; a %s stands in a %sscene file (.yaml)",
                   to->has[FILE_NAME] ? "empty" : "not there", kind->name,
                   kind->kind == TALUS_HULL ? "mesh file or a " : "");
    return TALUS_OK;
  }
  made->scale = isnan(from->value[A]) ? 1 : from->value[A];
  if (!check_length(to, from, A, made->scale, false))
    return TALUS_OK;
  return tl_table_find_file(to->rows, &to->in, from->cell[FILE_NAME], from->cell[NAME], kind->kind,
                            &made->shape, good);
}

/* A line of a table with a column `shape`; *good is false after mistakes. */
static talus_status read_shaped(builder *to, const row *from, body *made, bool *good) {
  *good = false;
  const csv_kind *kind = find_kind(to, from);
  if (!kind || !read_rotation(to, from, made->rotation))
    return TALUS_OK;
  made->shape = 0;
  made->radius = 0;
  made->scale = 1;
  if (kind->kind == TALUS_SPHERE) {
    const double r = from->value[R];
    const bool is_a = isnan(r) && (!isnan(from->value[A]) || (to->has[A] && !to->has[R]));
    made->scale = made->radius = is_a ? from->value[A] : r;
    *good = check_length(to, from, is_a ? A : R, made->scale, true);
    return TALUS_OK;
  }
  if (kind->count < 0 || (kind->kind == TALUS_CONTAINER && from->cell[FILE_NAME].length > 0))
    return read_file(to, from, kind, made, good);
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = kind->kind;
  if (!read_size(to, from, kind, &shape))
    return TALUS_OK;
  *good = true;
  return add_shape(to, &shape, &made->shape);
}

/* ---- bodies ------------------------------------------------------------------------------------
 */

static talus_status add_row(builder *to) {
  row from;
  body made = {.radius = 0};
  bool good = true;
  if (!read_row(to, &from))
    return TALUS_OK;
  talus_body_rows *rows = to->rows;
  if (to->has[SHAPE]) {
    TL_TRY(read_shaped(to, &from, &made, &good));
  } else {
    made.radius = from.value[R];
    good = check_length(to, &from, R, made.radius, true);
  }
  if (!good || to->in.mistakes > 0) /* then there are no bodies, only mistakes to find */
    return TALUS_OK;
  const size_t n = rows->record.count;
  TL_TRY(tl_array_resize(&rows->record, n + 4));
  memcpy(rows->record.data + n, from.value, 3 * sizeof(double));
  rows->record.data[n + 3] = made.radius;
  if (!to->has[SHAPE])
    return TALUS_OK;
  TL_TRY(tl_array_push(&rows->shape, made.shape));
  TL_TRY(tl_array_push(&rows->scale, made.scale));
  TL_TRY(tl_array_resize(&rows->rotation, n + 4));
  memcpy(rows->rotation.data + n, made.rotation, sizeof made.rotation);
  return TALUS_OK;
}

static talus_status read_rows(builder *to) {
  if (!read_header(to))
    return TALUS_OK;
  if (to->has[SHAPE]) {
    talus_shape_def sphere = talus_shape_def_default();
    sphere.size[0] = 1;
    TL_TRY(tl_array_push(&to->rows->shapes, sphere));
  }
  while (tl_input_next_line(&to->in) && tl_input_find_line(&to->in, false))
    TL_TRY(add_row(to));
  return TALUS_OK;
}

static void show_rows(talus_body_table *table) {
  const talus_body_rows *rows = table->own;
  table->bodies = (talus_detect_bodies){.count = rows->record.count / 4,
                                        .position = rows->record.data,
                                        .position_stride = 4,
                                        .radius = rows->record.data ? rows->record.data + 3 : NULL,
                                        .radius_stride = 4,
                                        .shapes = rows->shapes.data,
                                        .shape_count = rows->shapes.count,
                                        .shape = rows->shape.data,
                                        .scale = rows->scale.data,
                                        .rotation = rows->rotation.data};
}

talus_status talus_body_table_parse(const char *text, size_t length, const char *path,
                                    talus_body_table *table) {
  TL_NEED(table);
  TL_NEED(path);
  TL_NEED_SOME(text, length);
  builder to;
  void *block = NULL;
  *table = (talus_body_table){0};
  TL_TRY(tl_resize(&block, 0, sizeof *table->own));
  table->own = to.rows = memset(block, 0, sizeof *table->own);
  to.fields = 0;
  memset(to.has, 0, sizeof to.has);
  talus_status status = tl_input_open(&to.in, path, text, length);
  if (status == TALUS_OK)
    status = tl_input_close(&to.in, read_rows(&to));
  if (status == TALUS_OK)
    show_rows(table);
  else
    talus_body_table_free(table);
  return status;
}

talus_status talus_body_table_read(const char *path, talus_body_table *table) {
  TL_NEED(table);
  TL_NEED(path);
  tl_bytes bytes = {0};
  *table = (talus_body_table){0};
  talus_status status = tl_input_load(path, &bytes);
  if (status == TALUS_OK)
    status = talus_body_table_parse(bytes.data ? bytes.data : "", bytes.count, path, table);
  tl_array_free(&bytes);
  return status;
}

void talus_body_table_free(talus_body_table *table) {
  if (!table)
    return;
  talus_body_rows *rows = table->own;
  if (rows) {
    tl_table_free_files(rows);
    tl_array_free(&rows->record);
    tl_array_free(&rows->shapes);
    tl_array_free(&rows->shape);
    tl_array_free(&rows->scale);
    tl_array_free(&rows->rotation);
    void *block = rows;
    (void)tl_resize(&block, sizeof *rows, 0); /* freeing cannot fail */
  }
  *table = (talus_body_table){0};
}
