#include "detect/table_columns.h"

#include <math.h>
#include <stdio.h>

#include "scene/text.h"

const char *const tl_column_names[TL_COLUMN_COUNT] = {
    "x",  "y",  "z",  "r",  "vx", "vy", "vz", "wx", "wy", "wz",    "lx",   "ly",  "lz",
    "qw", "qx", "qy", "qz", "a",  "b",  "c",  "n1", "n2", "shape", "file", "name"};

/* ---- fields ---------------------------------------------------------------------------------- */

static bool line_has_comma(const tl_input *in) {
  const char *end = tl_input_line_end(in);
  return memchr(in->line, ',', (size_t)(end - in->line)) != NULL;
}

int tl_columns_count(const tl_input *in, const tl_columns *columns) {
  const char *end = tl_input_line_end(in);
  int count = columns->has_blanks ? 0 : 1;
  bool was_blank = true;
  for (const char *c = in->line; c < end; ++c) {
    const bool is_comma = *c == ',', is_blank = *c == ' ' || *c == '\t' || is_comma;
    count += columns->has_blanks ? was_blank && !is_blank : is_comma;
    was_blank = is_blank;
  }
  return count;
}

tl_span tl_columns_cell(tl_input *in, const tl_columns *columns) {
  bool last;
  return columns->has_blanks ? tl_input_word(in) : tl_input_cell(in, &last);
}

static bool add_field(tl_input *in, tl_columns *to, int column, double factor) {
  if (to->fields == TL_COLUMNS_MOST) {
    tl_input_wrong(in, tl_input_line_end(in), "more than %d columns", TL_COLUMNS_MOST);
    return false;
  }
  if (column != TL_COLUMN_NONE)
    to->has[column] = true;
  to->factor[to->fields] = factor;
  to->column[to->fields++] = column;
  return true;
}

/* ---- a header of ours ------------------------------------------------------------------------ */

/* Column of a word, or TL_COLUMN_COUNT; *factor converts its numbers. Capitals do not matter. */
static int find_column(tl_span word, double *factor) {
  int k = 0;
  *factor = tl_span_is(word, "diameter") ? 0.5 : 1;
  if (*factor < 1 || tl_span_is(word, "radius")) /* as others write r */
    return TL_COLUMN_R;
  if (tl_span_is(word, "id")) /* nothing in a scene goes by it */
    return TL_COLUMN_NONE;
  while (k < TL_COLUMN_COUNT && !tl_span_is(word, tl_column_names[k]))
    k++;
  return k;
}

/* Advice for a column of another program; NULL: unknown. */
static const char *advice(tl_span word) {
  if (memchr(word.text, ';', word.length))
    return "separate columns by commas or blanks, and write decimals with a point";
  if (tl_span_is(word, "mass") || tl_span_is(word, "density"))
    return "leave it out: the density of the material decides";
  if (tl_span_is(word, "type") || tl_span_is(word, "material"))
    return "leave it out: give each material a table of its own";
  return NULL;
}

static void add_column(tl_input *in, tl_columns *to, tl_span cell) {
  char word[48];
  double factor;
  snprintf(word, sizeof word, "%.*s", TL_SHOW(cell));
  const int k = find_column(cell, &factor);
  if (k == TL_COLUMN_NONE) {
    (void)add_field(in, to, k, 1);
  } else if (k == TL_COLUMN_COUNT && advice(cell)) {
    tl_input_wrong(in, cell.text, "unknown column '%s'; %s", word, advice(cell));
  } else if (k == TL_COLUMN_COUNT) {
    tl_suggestion near = {.word = word};
    for (int i = 0; i < TL_COLUMN_COUNT; ++i)
      tl_suggest(&near, tl_column_names[i]);
    tl_input_wrong(in, cell.text,
                   "unknown column '%s'%s%s%s; there are x,y,z,r, vx,vy,vz,wx,wy,wz and, for other "
                   "shapes, shape,a,b,c,n1,n2,lx,ly,lz,qw,qx,qy,qz,file,name",
                   word, near.best ? "; did you mean '" : "", near.best ? near.best : "",
                   near.best ? "'?" : "");
  } else if (to->has[k]) {
    tl_input_wrong(in, cell.text, "column '%s' is there twice", word);
  } else {
    (void)add_field(in, to, k, factor);
  }
}

static void need_three(tl_input *in, const tl_columns *columns, int first) {
  const int given = columns->has[first] + columns->has[first + 1] + columns->has[first + 2];
  if (given != 0 && given != 3)
    tl_input_wrong(in, tl_input_line_end(in), "of %s,%s,%s there are %d; expected all, or none",
                   tl_column_names[first], tl_column_names[first + 1], tl_column_names[first + 2],
                   given);
}

static bool check_columns(tl_input *in, const tl_columns *columns) {
  for (int k = TL_COLUMN_X; k <= TL_COLUMN_R; ++k)
    if (!columns->has[k] && !(k == TL_COLUMN_R && columns->has[TL_COLUMN_SHAPE]))
      tl_input_wrong(in, tl_input_line_end(in),
                     "there is no column '%s'; the header must name x,y,z,r", tl_column_names[k]);
  need_three(in, columns, TL_COLUMN_VX);
  need_three(in, columns, TL_COLUMN_WX);
  for (int i = 0; i < columns->fields && !columns->has[TL_COLUMN_SHAPE]; ++i)
    if (columns->column[i] >= TL_COLUMN_LX) {
      tl_input_wrong(in, in->line,
                     "column '%s' is for other shapes than spheres; a column 'shape' must say "
                     "which line is what",
                     tl_column_names[columns->column[i]]);
      break;
    }
  return in->mistakes == 0;
}

static bool read_names(tl_input *in, tl_columns *to) {
  const int count = tl_columns_count(in, to);
  for (int i = 0; i < count && in->mistakes < TL_INPUT_SHOWN; ++i)
    add_column(in, to, tl_columns_cell(in, to));
  return in->mistakes == 0 && check_columns(in, to);
}

/* ---- no header ------------------------------------------------------------------------------- */

static bool begins_with_number(tl_input *in, const tl_columns *columns) {
  double unused;
  const tl_span first = tl_columns_cell(in, columns);
  in->at = in->line;
  return tl_span_number(first, &unused) == TL_NUMBER;
}

static bool take_usual(tl_input *in, tl_columns *to) {
  const int count = tl_columns_count(in, to);
  if (count != 4 && count != 7) {
    tl_input_wrong(in, in->line,
                   "%d number%s and no header; without one a table has 4 columns, x,y,z,r, or 7, "
                   "x,y,z,r,vx,vy,vz",
                   count, count == 1 ? "" : "s");
    return false;
  }
  for (int k = 0; k < count; ++k)
    (void)add_field(in, to, TL_COLUMN_X + k, 1);
  return true;
}

/* ---- dumps of LAMMPS and LIGGGHTS ------------------------------------------------------------ */

static bool begins_with(const tl_input *in, const char *text) {
  const size_t n = strlen(text);
  return (size_t)(in->end - in->line) >= n && memcmp(in->line, text, n) == 0;
}

bool tl_columns_at_dump(const tl_input *in) { return begins_with(in, "ITEM:"); }

typedef struct dump_name {
  const char *name;
  int column;
  double factor;
} dump_name;

/* All others (id, type, forces, ...) are skipped; unwrapped positions (xu) are accepted, too. */
static const dump_name dump_names[] = {
    {"x", TL_COLUMN_X, 1},          {"y", TL_COLUMN_Y, 1},       {"z", TL_COLUMN_Z, 1},
    {"xu", TL_COLUMN_X, 1},         {"yu", TL_COLUMN_Y, 1},      {"zu", TL_COLUMN_Z, 1},
    {"radius", TL_COLUMN_R, 1},     {"r", TL_COLUMN_R, 1},       {"c_rad", TL_COLUMN_R, 1},
    {"diameter", TL_COLUMN_R, 0.5}, {"vx", TL_COLUMN_VX, 1},     {"vy", TL_COLUMN_VY, 1},
    {"vz", TL_COLUMN_VZ, 1},        {"omegax", TL_COLUMN_WX, 1}, {"omegay", TL_COLUMN_WY, 1},
    {"omegaz", TL_COLUMN_WZ, 1},
};

static bool add_dumped(tl_input *in, tl_columns *to, tl_span word) {
  for (size_t i = 0; i < sizeof dump_names / sizeof *dump_names; ++i)
    if (tl_span_is(word, dump_names[i].name) && !to->has[dump_names[i].column])
      return add_field(in, to, dump_names[i].column, dump_names[i].factor);
  return add_field(in, to, TL_COLUMN_NONE, 1);
}

/* Coordinates as shares of the box (xs, xsu) are no places. */
static bool check_dumped(tl_input *in, const tl_columns *columns) {
  const bool has_places =
      columns->has[TL_COLUMN_X] && columns->has[TL_COLUMN_Y] && columns->has[TL_COLUMN_Z];
  if (!has_places)
    tl_input_wrong(in, in->line,
                   "the dump lacks columns `x y z` or `xu yu zu` (xs and xsu are shares of the "
                   "box); write it by `dump 1 all custom 1 FILE id x y z radius`");
  if (!columns->has[TL_COLUMN_R])
    tl_input_wrong(in, in->line,
                   "the dump has neither 'radius' nor 'diameter'; dump them too, as in "
                   "`dump 1 all custom 1 FILE id x y z radius`");
  need_three(in, columns, TL_COLUMN_VX);
  need_three(in, columns, TL_COLUMN_WX);
  return in->mistakes == 0;
}

/* Reads the head of a dump, from "ITEM: TIMESTEP" to the first body. */
static bool read_dump(tl_input *in, tl_columns *to) {
  to->is_dump = to->has_blanks = true;
  bool has_count = false;
  for (bool more = true; more; more = tl_input_next_line(in)) {
    double count;
    if (begins_with(in, "ITEM: ATOMS"))
      break;
    if (!begins_with(in, "ITEM: NUMBER OF ATOMS") || !tl_input_next_line(in))
      continue;
    const tl_span word = tl_input_word(in);
    has_count = tl_span_number(word, &count) == TL_NUMBER && count >= 0 && count < 2147483648.0 &&
                count == floor(count);
    to->rows = has_count ? (size_t)count : 0;
  }
  if (!begins_with(in, "ITEM: ATOMS") || !has_count) {
    tl_input_wrong(in, NULL,
                   "a dump, but without a good '%s'; only text dumps of style custom are read",
                   has_count ? "ITEM: ATOMS" : "ITEM: NUMBER OF ATOMS");
    return false;
  }
  in->at = in->line + strlen("ITEM: ATOMS");
  for (tl_span word = tl_input_word(in); word.length > 0; word = tl_input_word(in))
    if (!add_dumped(in, to, word))
      return false;
  return check_dumped(in, to);
}

bool tl_columns_read(tl_input *in, tl_columns *to) {
  memset(to, 0, sizeof *to);
  to->has_header = true;
  if (!tl_input_find_line(in, true)) {
    tl_input_wrong(in, NULL, "the header is missing: x,y,z,r");
    return false;
  }
  if (tl_columns_at_dump(in))
    return read_dump(in, to);
  to->has_blanks = !line_has_comma(in);
  to->has_header = !begins_with_number(in, to);
  return to->has_header ? read_names(in, to) : take_usual(in, to);
}
