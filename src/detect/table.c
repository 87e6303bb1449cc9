/* Tables of bodies: one line per body, read according to the columns. */
#include "detect/table.h"

#include <math.h>
#include <stdio.h>

#include "detect/table_columns.h"

/* A table being read. */
typedef struct builder {
  tl_input in;
  talus_body_rows *rows;
  tl_columns columns;
} builder;

/* ---- lines ----------------------------------------------------------------------------------- */

/* Values of a line; NAN if a field is empty or missing. */
typedef struct row {
  double value[TL_COLUMN_SHAPE];
  tl_span cell[TL_COLUMN_COUNT];
} row;

static void refuse_number(builder *to, int column, tl_span cell, tl_number_kind what) {
  if (cell.length == 0)
    tl_input_wrong(&to->in, cell.text, "column '%s' is empty", tl_column_names[column]);
  else
    tl_input_wrong(&to->in, cell.text, "column '%s': '%.*s' is not a %snumber",
                   tl_column_names[column], TL_SHOW(cell), what == TL_NOT_FINITE ? "finite " : "");
}

/* False after errors. A line with a wrong number of fields is not read further, because it is
 * unknown which are missing. */
static bool read_row(builder *to, row *found) {
  tl_input *in = &to->in;
  const int count = tl_columns_count(in, &to->columns);
  if (count != to->columns.fields) {
    tl_input_wrong(in, tl_input_line_end(in), "%d field%s, but the %s %d", count,
                   count == 1 ? "" : "s",
                   to->columns.has_header ? "header names" : "first line has", to->columns.fields);
    return false;
  }
  const size_t before = in->mistakes;
  for (int k = 0; k < TL_COLUMN_SHAPE; ++k)
    found->value[k] = NAN;
  for (int k = 0; k < TL_COLUMN_COUNT; ++k)
    found->cell[k] = (tl_span){in->line, 0};
  for (int i = 0; i < to->columns.fields; ++i) {
    const int k = to->columns.column[i];
    const tl_span cell = tl_columns_cell(in, &to->columns);
    if (k == TL_COLUMN_NONE)
      continue;
    found->cell[k] = cell;
    if (k >= TL_COLUMN_SHAPE ||
        (cell.length == 0 && k > TL_COLUMN_Z)) /* belongs to other shapes, perhaps */
      continue;
    const tl_number_kind what = tl_span_number(cell, &found->value[k]);
    if (what != TL_NUMBER)
      refuse_number(to, k, cell, what);
    found->value[k] *= to->columns.factor[i];
  }
  return in->mistakes == before;
}

static bool check_length(builder *to, const row *from, int column, double value, bool may_be_zero) {
  if (isnan(value))
    tl_input_wrong(&to->in, from->cell[column].text, "column '%s' is %s", tl_column_names[column],
                   to->columns.has[column] ? "empty" : "not there");
  else if (!(value > 0) && !(may_be_zero && value == 0))
    tl_input_wrong(&to->in, from->cell[column].text, "column '%s': %g is not %s",
                   tl_column_names[column], value,
                   column == TL_COLUMN_R    ? "a radius: 0 or more, in metres"
                   : column <= TL_COLUMN_LZ ? "an edge: more than 0, in metres"
                                            : "a length: more than 0, in metres");
  else
    return true;
  return false;
}

static bool read_rotation(builder *to, const row *from, double rotation[4]) {
  double square = 0;
  int given = 0;
  for (int k = 0; k < 4; ++k) {
    const bool is_there = !isnan(from->value[TL_COLUMN_QW + k]);
    rotation[k] = is_there ? from->value[TL_COLUMN_QW + k] : 0;
    given += is_there;
    square += rotation[k] * rotation[k];
  }
  if (given == 0)
    rotation[0] = 1;
  /* Rounded to three digits it is still a unit quaternion; a larger deviation is an error. */
  if (given == 0 || (given == 4 && fabs(sqrt(square) - 1) <= 2e-3))
    return true;
  const char *place = from->cell[TL_COLUMN_QW].text;
  if (given == 4)
    tl_input_wrong(&to->in, place, "qw,qx,qy,qz are no rotation: their length is %g, and must be 1",
                   sqrt(square));
  else
    tl_input_wrong(&to->in, place, "a rotation is qw,qx,qy,qz: all four of them, or none");
  return false;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* How the columns a, b, c, n1, n2 of a line determine the sizes of a shape. */
typedef struct csv_kind {
  const char *name;
  talus_shape_kind kind;
  int count; /* number of columns needed from TL_COLUMN_A on; -1: described in a file */
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
    {"revolved", TALUS_REVOLVED, -1},
    {"mesh", TALUS_MESH, -1},
};

static const csv_kind *find_kind(builder *to, const row *from) {
  for (size_t i = 0; i < sizeof csv_kinds / sizeof *csv_kinds; ++i)
    if (tl_span_is(from->cell[TL_COLUMN_SHAPE], csv_kinds[i].name))
      return &csv_kinds[i];
  tl_input_wrong(&to->in, from->cell[TL_COLUMN_SHAPE].text,
                 "column 'shape': '%.*s' is none of sphere, box, ellipsoid, capsule, cylinder, "
                 "cone, superellipsoid, plane, container, hull, clump, revolved and mesh",
                 TL_SHOW(from->cell[TL_COLUMN_SHAPE]));
  return NULL;
}

/* The edges of a box may be in lx, ly, lz, or half of them in a, b, c; the same for containers. */
static bool read_box(builder *to, const row *from, double size[3]) {
  const bool halves = isnan(from->value[TL_COLUMN_LX]) &&
                      (!isnan(from->value[TL_COLUMN_A]) ||
                       (to->columns.has[TL_COLUMN_A] && !to->columns.has[TL_COLUMN_LX]));
  for (int k = 0; k < 3; ++k) {
    const int column = (halves ? TL_COLUMN_A : TL_COLUMN_LX) + k;
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
  if (kind->kind == TALUS_PLANE) { /* through x, y, z; its normal is the z axis, rotated */
    shape->size[2] = 1;
    return true;
  }
  for (int k = 0; k < kind->count; ++k) {
    shape->size[k] = from->value[TL_COLUMN_A + k];
    if (!check_length(to, from, TL_COLUMN_A + k, shape->size[k], false))
      return false;
  }
  talus_shape_info unused;
  if (kind->kind != TALUS_SUPERELLIPSOID || talus_shape_measure(shape, &unused) == TALUS_OK)
    return true;
  tl_input_wrong(&to->in, from->cell[TL_COLUMN_N1].text, "%s", tl_last_message());
  return false;
}

/* Row of the shape; consecutive lines with the same sizes share one. */
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

/* The body of a line. */
typedef struct body {
  uint32_t shape;
  double scale, radius, rotation[4];
} body;

/* A hull, clump or container of a file; a: its scale, if given. */
static talus_status read_file(builder *to, const row *from, const csv_kind *kind, body *made,
                              bool *good) {
  if (from->cell[TL_COLUMN_FILE].length == 0) {
    tl_input_wrong(&to->in, from->cell[TL_COLUMN_FILE].text,
                   "column 'file' is %s; a %s stands in a %sscene file (.yaml)",
                   to->columns.has[TL_COLUMN_FILE] ? "empty" : "not there", kind->name,
                   kind->kind == TALUS_HULL || kind->kind == TALUS_MESH ? "mesh file or a " : "");
    return TALUS_OK;
  }
  made->scale = isnan(from->value[TL_COLUMN_A]) ? 1 : from->value[TL_COLUMN_A];
  if (!check_length(to, from, TL_COLUMN_A, made->scale, false))
    return TALUS_OK;
  return tl_table_find_file(to->rows, &to->in, from->cell[TL_COLUMN_FILE],
                            from->cell[TL_COLUMN_NAME], kind->kind, &made->shape, good);
}

/* Reads a line of a table with a column `shape`; *good is false after errors. */
static talus_status read_shaped(builder *to, const row *from, body *made, bool *good) {
  *good = false;
  const csv_kind *kind = find_kind(to, from);
  if (!kind || !read_rotation(to, from, made->rotation))
    return TALUS_OK;
  made->shape = 0;
  made->radius = 0;
  made->scale = 1;
  if (kind->kind == TALUS_SPHERE) {
    const double r = from->value[TL_COLUMN_R];
    const bool is_a = isnan(r) && (!isnan(from->value[TL_COLUMN_A]) ||
                                   (to->columns.has[TL_COLUMN_A] && !to->columns.has[TL_COLUMN_R]));
    made->scale = made->radius = is_a ? from->value[TL_COLUMN_A] : r;
    *good = check_length(to, from, is_a ? TL_COLUMN_A : TL_COLUMN_R, made->scale, true);
    return TALUS_OK;
  }
  if (kind->count < 0 || (kind->kind == TALUS_CONTAINER && from->cell[TL_COLUMN_FILE].length > 0))
    return read_file(to, from, kind, made, good);
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = kind->kind;
  if (!read_size(to, from, kind, &shape))
    return TALUS_OK;
  *good = true;
  return add_shape(to, &shape, &made->shape);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static talus_status add_row(builder *to) {
  row from;
  body made = {.radius = 0};
  bool good = true;
  if (!read_row(to, &from))
    return TALUS_OK;
  talus_body_rows *rows = to->rows;
  if (to->columns.has[TL_COLUMN_SHAPE]) {
    TL_TRY(read_shaped(to, &from, &made, &good));
  } else {
    made.radius = from.value[TL_COLUMN_R];
    good = check_length(to, &from, TL_COLUMN_R, made.radius, true);
  }
  if (!good || to->in.mistakes > 0) /* no bodies are kept, only further errors are searched */
    return TALUS_OK;
  const size_t n = rows->record.count;
  TL_TRY(tl_array_resize(&rows->record, n + 4));
  memcpy(rows->record.data + n, from.value, 3 * sizeof(double));
  rows->record.data[n + 3] = made.radius;
  if (to->columns.has[TL_COLUMN_VX])
    TL_TRY(tl_array_resize(&rows->velocity, n / 4 * 3 + 3));
  if (to->columns.has[TL_COLUMN_WX])
    TL_TRY(tl_array_resize(&rows->spin, n / 4 * 3 + 3));
  for (size_t k = 0; k < 3; ++k) { /* empty: at rest */
    const double v = from.value[TL_COLUMN_VX + k], w = from.value[TL_COLUMN_WX + k];
    if (rows->velocity.count > 0)
      rows->velocity.data[n / 4 * 3 + k] = isnan(v) ? 0 : v;
    if (rows->spin.count > 0)
      rows->spin.data[n / 4 * 3 + k] = isnan(w) ? 0 : w;
  }
  if (!to->columns.has[TL_COLUMN_SHAPE])
    return TALUS_OK;
  TL_TRY(tl_array_push(&rows->shape, made.shape));
  TL_TRY(tl_array_push(&rows->scale, made.scale));
  TL_TRY(tl_array_resize(&rows->rotation, n + 4));
  memcpy(rows->rotation.data + n, made.rotation, sizeof made.rotation);
  return TALUS_OK;
}

/* A truncated dump would be a packing with holes. */
static void check_count(builder *to, size_t lines) {
  if (to->columns.is_dump && to->in.mistakes == 0 && lines != to->columns.rows)
    tl_input_wrong(&to->in, NULL, "%zu bodies, but 'ITEM: NUMBER OF ATOMS' says %zu", lines,
                   to->columns.rows);
}

/* Of a dump with several time steps the last one counts. */
static bool begin_again(builder *to, size_t lines) {
  check_count(to, lines);
  to->rows->record.count = to->rows->velocity.count = to->rows->spin.count = 0;
  return tl_columns_read(&to->in, &to->columns);
}

static talus_status read_rows(builder *to) {
  if (!tl_columns_read(&to->in, &to->columns))
    return TALUS_OK;
  if (to->columns.has[TL_COLUMN_SHAPE]) {
    talus_shape_def sphere = talus_shape_def_default();
    sphere.size[0] = 1;
    TL_TRY(tl_array_push(&to->rows->shapes, sphere));
  }
  size_t lines = 0;
  bool more = !to->columns.has_header || tl_input_next_line(&to->in);
  for (; more && tl_input_find_line(&to->in, true); more = tl_input_next_line(&to->in)) {
    if (to->columns.is_dump && tl_columns_at_dump(&to->in)) {
      if (!begin_again(to, lines))
        return TALUS_OK;
      lines = 0;
      continue;
    }
    TL_TRY(add_row(to));
    lines++;
  }
  check_count(to, lines);
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
  /* The last time step of a dump counts; it may have no velocities. */
  table->velocity = rows->velocity.count > 0 ? rows->velocity.data : NULL;
  table->spin = rows->spin.count > 0 ? rows->spin.data : NULL;
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
    tl_array_free(&rows->velocity);
    tl_array_free(&rows->spin);
    void *block = rows;
    (void)tl_resize(&block, sizeof *rows, 0); /* freeing cannot fail */
  }
  *table = (talus_body_table){0};
}
