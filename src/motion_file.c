/* Tables of motions from CSV files: a heading that says what the columns are, then rows. */
#include "world.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "motion_file.h"

typedef struct source {
  const char *path, *at, *end;
  size_t line;
} source;

static talus_status wrong(const source *s, const char *fmt, ...) TL_PRINTF(2, 3);
static talus_status wrong(const source *s, const char *fmt, ...) {
  char what[300];
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  return tl_fail(TALUS_ERROR_FORMAT, "%s:%zu: %s", s->path, s->line, what);
}

/* ---- cells ------------------------------------------------------------------------------------
 */

typedef struct cell {
  const char *text;
  size_t length;
  bool is_last; /* of its line */
} cell;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next cell, blanks around it taken off; the line's end is not passed. */
static cell next_cell(source *s) {
  const char *begin = s->at;
  while (s->at < s->end && *s->at != ',' && *s->at != '\n')
    s->at++;
  const char *end = s->at;
  cell found = {.is_last = s->at == s->end || *s->at == '\n'};
  if (!found.is_last)
    s->at++;
  while (begin < end && is_blank(*begin))
    begin++;
  while (end > begin && is_blank(end[-1]))
    end--;
  found.text = begin;
  found.length = (size_t)(end - begin);
  return found;
}

/* To the next line that holds anything but blanks and comments; false at the end. */
static bool find_line(source *s) {
  for (; s->at < s->end; s->at++, s->line++) {
    const char *c = s->at;
    while (c < s->end && is_blank(*c))
      c++;
    if (c < s->end && *c != '\n' && *c != '#')
      return true;
    while (s->at < s->end && *s->at != '\n')
      s->at++;
  }
  return false;
}

static void end_line(source *s) {
  if (s->at < s->end)
    s->at++, s->line++;
}

static bool to_number(cell c, double *value) {
  char text[64], *end;
  if (c.length == 0 || c.length >= sizeof text || !strchr("+-.0123456789", c.text[0]))
    return false;
  memcpy(text, c.text, c.length);
  text[c.length] = '\0';
  if (strspn(text, "+-.0123456789eE") != c.length)
    return false;
  *value = strtod(text, &end);
  return *end == '\0' && isfinite(*value);
}

/* ---- the table --------------------------------------------------------------------------------
 */

#define EXPECTED                                                                                   \
  "expected time,x,y,z or time,x,y,z,qw,qx,qy,qz or time,displacement or time,angle (rad) or "     \
  "time,degrees"

static const struct heading {
  const char *names[8];
  talus_motion_table kind;
  double factor; /* of the last column, to SI units */
} headings[] = {
    {{"time", "x", "y", "z"}, TALUS_TABLE_PLACES, 1},
    {{"time", "x", "y", "z", "qw", "qx", "qy", "qz"}, TALUS_TABLE_POSES, 1},
    {{"time", "displacement"}, TALUS_TABLE_ALONG, 1},
    {{"time", "angle"}, TALUS_TABLE_ABOUT, 1},
    {{"time", "degrees"}, TALUS_TABLE_ABOUT, 0.017453292519943295},
};

static bool fits(const struct heading *heading, const cell *cells, size_t n) {
  if (n != tl_motion_columns((uint32_t)heading->kind))
    return false;
  for (size_t k = 0; k < n; ++k)
    if (strlen(heading->names[k]) != cells[k].length ||
        memcmp(heading->names[k], cells[k].text, cells[k].length) != 0)
      return false;
  return true;
}

static talus_status read_heading(source *s, const struct heading **heading) {
  cell cells[9];
  size_t n = 0;
  if (!find_line(s))
    return wrong(s, "the table is empty; " EXPECTED);
  do
    cells[n] = next_cell(s);
  while (!cells[n++].is_last && n < 9);
  for (size_t i = 0; i < sizeof headings / sizeof *headings; ++i)
    if (fits(&headings[i], cells, n)) {
      *heading = &headings[i];
      end_line(s);
      return TALUS_OK;
    }
  return wrong(s, "the heading is not one of a table of motion; " EXPECTED);
}

static talus_status read_row(source *s, const struct heading *heading, double row[8]) {
  const size_t columns = tl_motion_columns((uint32_t)heading->kind);
  for (size_t k = 0; k < columns; ++k) {
    const cell c = next_cell(s);
    if (!to_number(c, &row[k]))
      return wrong(s, "`%.*s` in column `%s` is no number", (int)(c.length < 40 ? c.length : 40),
                   c.text, heading->names[k]);
    if (c.is_last != (k == columns - 1))
      return wrong(s, "the row has %s numbers than the heading has names; expected %zu",
                   c.is_last ? "fewer" : "more", columns);
  }
  row[columns - 1] *= heading->factor;
  if (columns == 8 && !(row[4] * row[4] + row[5] * row[5] + row[6] * row[6] + row[7] * row[7] > 0))
    return wrong(s, "qw, qx, qy, qz are all 0; expected a rotation, such as 1, 0, 0, 0");
  end_line(s);
  return TALUS_OK;
}

static talus_status read_rows(source *s, const struct heading *heading, tl_motion_values *values) {
  const size_t columns = tl_motion_columns((uint32_t)heading->kind);
  double row[8];
  while (find_line(s)) {
    const source here = *s;
    TL_TRY(read_row(s, heading, row));
    if (values->count > 0 && !(row[0] > values->data[values->count - columns]))
      return wrong(&here,
                   "time %g s is not after %g s, that of the row before; the times must rise",
                   row[0], values->data[values->count - columns]);
    for (size_t k = 0; k < columns; ++k)
      TL_TRY(tl_array_push(values, row[k]));
  }
  return values->count > 0 ? TALUS_OK : wrong(s, "the table has no rows; give one at least");
}

talus_status tl_motion_parse(const char *path, const char *bytes, size_t n,
                             tl_motion_values *values, talus_motion_table *kind) {
  source s = {.path = path, .at = bytes, .end = bytes + n, .line = 1};
  const struct heading *heading = NULL;
  /* Files use "." whatever the program's locale. */
  const locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (own == (locale_t)0)
    return tl_fail(TALUS_ERROR_MEMORY, "no memory for a locale");
  const locale_t before = uselocale(own);
  values->count = 0;
  talus_status status = read_heading(&s, &heading);
  if (status == TALUS_OK)
    status = read_rows(&s, heading, values);
  (void)uselocale(before);
  freelocale(own);
  if (status == TALUS_OK)
    *kind = heading->kind;
  else
    values->count = 0;
  return status;
}

/* ---- files ------------------------------------------------------------------------------------
 */

typedef TL_ARRAY(char) file_bytes;

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

talus_status talus_table_read(const char *path, talus_table *table) {
  *table = (talus_table){0};
  FILE *file = fopen(path, "rb");
  if (!file)
    return tl_fail(TALUS_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
  file_bytes bytes = {0};
  tl_motion_values values = {0};
  talus_status status = read_all(file, path, &bytes);
  (void)fclose(file);
  if (status == TALUS_OK)
    status =
        tl_motion_parse(path, bytes.data ? bytes.data : "", bytes.count, &values, &table->kind);
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

void talus_table_free(talus_table *table) {
  void *block = table->data;
  if (block)
    (void)tl_resize(&block, table->rows * tl_motion_columns((uint32_t)table->kind) * sizeof(double),
                    0);
  *table = (talus_table){0};
}
