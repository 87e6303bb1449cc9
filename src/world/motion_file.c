/* Tables of motions from CSV files: a heading that says what the columns are, then rows. */
#include "world/world.h"

#include <math.h>

#include "base/input.h"
#include "world/motion_file.h"

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct heading {
  const char *names[8]; /* no first one: the list ends */
  talus_motion_table kind;
  double factor; /* of the last column, to SI units */
} heading;

/* What a table may be of. */
typedef struct tables {
  const char *what, *expected;
  const heading *headings;
} tables;

static const heading motion_headings[] = {
    {{"time", "x", "y", "z"}, TALUS_TABLE_PLACES, 1},
    {{"time", "x", "y", "z", "qw", "qx", "qy", "qz"}, TALUS_TABLE_POSES, 1},
    {{"time", "displacement"}, TALUS_TABLE_ALONG, 1},
    {{"time", "angle"}, TALUS_TABLE_ABOUT, 1},
    {{"time", "degrees"}, TALUS_TABLE_ABOUT, 0.017453292519943295},
    {{0}, TALUS_TABLE_NONE, 0}};
static const tables of_motions = {"motion",
                                  "expected time,x,y,z or time,x,y,z,qw,qx,qy,qz or "
                                  "time,displacement or time,angle (rad) or time,degrees",
                                  motion_headings};

static const heading vector_headings[] = {{{"time", "x", "y", "z"}, TALUS_TABLE_PLACES, 1},
                                          {{"time", "fx", "fy", "fz"}, TALUS_TABLE_PLACES, 1},
                                          {{"time", "tx", "ty", "tz"}, TALUS_TABLE_PLACES, 1},
                                          {{0}, TALUS_TABLE_NONE, 0}};
static const tables of_vectors = {
    "a force or torque", "expected time,x,y,z or time,fx,fy,fz or time,tx,ty,tz", vector_headings};

static const heading number_headings[] = {
    {{"time", "value"}, TALUS_TABLE_ALONG, 1},    {{"time", "force"}, TALUS_TABLE_ALONG, 1},
    {{"time", "torque"}, TALUS_TABLE_ALONG, 1},   {{"time", "speed"}, TALUS_TABLE_ALONG, 1},
    {{"time", "pressure"}, TALUS_TABLE_ALONG, 1}, {{0}, TALUS_TABLE_NONE, 0}};
static const tables of_numbers = {
    "a load", "expected time,value or time,force or time,torque or time,speed or time,pressure",
    number_headings};

static bool fits(const heading *head, const tl_span *cells, size_t n) {
  if (n != tl_motion_columns((uint32_t)head->kind))
    return false;
  for (size_t k = 0; k < n; ++k)
    if (strlen(head->names[k]) != cells[k].length ||
        memcmp(head->names[k], cells[k].text, cells[k].length) != 0)
      return false;
  return true;
}

/* NULL after a mistake in the heading: rows cannot be read without it. */
static const heading *read_heading(tl_input *in, const tables *of) {
  tl_span cells[9];
  size_t n = 0;
  bool last = false;
  if (!tl_input_find_line(in, true)) {
    tl_input_wrong(in, NULL, "the table is empty; %s", of->expected);
    return NULL;
  }
  while (!last && n < 9)
    cells[n++] = tl_input_cell(in, &last);
  for (const heading *h = of->headings; h->names[0]; ++h)
    if (fits(h, cells, n))
      return h;
  tl_input_wrong(in, cells[0].text, "the heading is not one of a table of %s; %s", of->what,
                 of->expected);
  return NULL;
}

static void refuse_count(tl_input *in, const char *place, size_t columns) {
  size_t n = 1;
  for (const char *c = in->line, *end = tl_input_line_end(in); c < end; ++c)
    n += *c == ',';
  tl_input_wrong(in, place, "the row has %zu numbers; the heading names %zu columns", n, columns);
}

/* Reports every wrong cell; false if there is one. */
static bool read_row(tl_input *in, const heading *head, double row[8]) {
  const size_t columns = tl_motion_columns((uint32_t)head->kind), before = in->mistakes;
  bool last = false;
  for (size_t k = 0; k < columns; ++k) {
    if (last) {
      refuse_count(in, tl_input_line_end(in), columns);
      return false;
    }
    const tl_span cell = tl_input_cell(in, &last);
    if (tl_span_number(cell, &row[k]) != TL_NUMBER)
      tl_input_wrong(in, cell.text, "`%.*s` in column `%s` is not a number", TL_SHOW(cell),
                     head->names[k]);
  }
  if (!last)
    refuse_count(in, in->at, columns);
  if (in->mistakes > before)
    return false;
  row[columns - 1] *= head->factor;
  if (columns < 8)
    return true;
  const double length2 = row[4] * row[4] + row[5] * row[5] + row[6] * row[6] + row[7] * row[7];
  if (length2 > 1e-200 && length2 < 1e200)
    return true;
  tl_input_wrong(in, in->line,
                 "qw, qx, qy, qz have a length of %g; expected a rotation, such as "
                 "1, 0, 0, 0",
                 sqrt(length2));
  return false;
}

static talus_status read_rows(tl_input *in, const heading *head, tl_motion_values *values) {
  const size_t columns = tl_motion_columns((uint32_t)head->kind);
  const size_t before = in->mistakes;
  double row[8];
  for (; tl_input_next_line(in) && tl_input_find_line(in, true);) {
    if (!read_row(in, head, row))
      continue;
    if (values->count > 0 && !(row[0] > values->data[values->count - columns]))
      tl_input_wrong(in, in->line,
                     "time %g s is not after %g s, that of the row before; the times must rise",
                     row[0], values->data[values->count - columns]);
    for (size_t k = 0; k < columns; ++k)
      TL_TRY(tl_array_push(values, row[k]));
  }
  if (values->count == 0 && in->mistakes == before)
    tl_input_wrong(in, NULL, "the table has no rows; give one at least");
  return TALUS_OK;
}

static talus_status parse(const tables *of, const char *path, const char *bytes, size_t n,
                          tl_motion_values *values, talus_motion_table *kind) {
  tl_input in;
  values->count = 0;
  TL_TRY(tl_input_open(&in, path, bytes, n));
  const heading *head = read_heading(&in, of);
  const talus_status status = tl_input_close(&in, head ? read_rows(&in, head, values) : TALUS_OK);
  if (status == TALUS_OK)
    *kind = head->kind;
  else
    values->count = 0;
  return status;
}

talus_status tl_motion_parse(const char *path, const char *bytes, size_t n,
                             tl_motion_values *values, talus_motion_table *kind) {
  return parse(&of_motions, path, bytes, n, values, kind);
}

/* ---- files ----------------------------------------------------------------------------------- */

static talus_status read_file(const tables *of, const char *path, talus_table *table) {
  *table = (talus_table){0};
  tl_bytes bytes = {0};
  tl_motion_values values = {0};
  talus_status status = tl_input_load(path, &bytes);
  if (status == TALUS_OK)
    status = parse(of, path, bytes.data ? bytes.data : "", bytes.count, &values, &table->kind);
  tl_array_free(&bytes);
  /* A block of exactly its size, which talus_table_free knows. */
  const size_t n = values.count;
  void *block = NULL;
  if (status == TALUS_OK)
    status = tl_resize(&block, 0, n * sizeof(double));
  if (status == TALUS_OK) {
    memcpy(block, values.data, n * sizeof(double));
    table->data = block;
    table->rows = n / tl_motion_columns((uint32_t)table->kind);
  }
  tl_array_free(&values);
  return status;
}

talus_status talus_table_read(const char *path, talus_table *table) {
  TL_NEED(table);
  TL_NEED(path);
  return read_file(&of_motions, path, table);
}

talus_status talus_course_read(const char *path, int columns, talus_table *table) {
  TL_NEED(table);
  TL_NEED(path);
  if (columns != 2 && columns != 4)
    return tl_fail(TALUS_ERROR_INVALID, "a course has 2 columns or 4, not %d", columns);
  return read_file(columns == 4 ? &of_vectors : &of_numbers, path, table);
}

void talus_table_free(talus_table *table) {
  if (!table)
    return;
  void *block = table->data;
  if (block)
    (void)tl_resize(&block, table->rows * tl_motion_columns((uint32_t)table->kind) * sizeof(double),
                    0);
  *table = (talus_table){0};
}
