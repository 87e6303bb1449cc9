/* The curves of a history, and the ranges of their axes. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ticks.h"

/* ---- curves of a history --------------------------------------------------------------------- */

typedef struct source {
  const char *name, *column, *other; /* other: a column that is added; may be NULL */
} source;

typedef struct kind {
  const char *name, *y_label;
  bool is_log;
  bool is_rate; /* the column is a sum of seconds; plotted as milliseconds per step */
  source sources[PLOT_SERIES_MOST];
} kind;

static const kind kinds[] = {
    {"energy",
     "energy [J]",
     false,
     false,
     {{"kinetic", "kinetic_energy", NULL},
      {"potential", "potential_energy", NULL},
      {"total", "kinetic_energy", "potential_energy"}}},
    /* The energy balance has its own plot: with emitters its sums are much larger than the
     * energies. */
    {"work",
     "energy since the start [J]",
     false,
     false,
     {{"total", "kinetic_energy", "potential_energy"},
      {"by contacts, joints", "contact_work", "joint_work"},
      {"by loads", "load_work", NULL},
      {"by flow", "flow_energy", NULL}}},
    {"contacts",
     "count",
     false,
     false,
     {{"contacts", "contacts", NULL}, {"pairs", "pairs", NULL}, {"bodies", "bodies", NULL}}},
    {"residual",
     "residual [m/s]",
     true,
     false,
     {{"largest", "residual_max", NULL}, {"root mean square", "residual_rms", NULL}}},
    {"time",
     "wall clock per step [ms]",
     false,
     true,
     {{"total", "wall_total", NULL},
      {"solve", "wall_solve", NULL},
      {"broad", "wall_broad", NULL},
      {"narrow", "wall_narrow", NULL},
      {"step", "wall_step", NULL},
      {"output", "wall_output", NULL}}},
    {"joints",
     "force [N], torque [N m]",
     false,
     false,
     {{"largest force", "joint_force", NULL}, {"largest torque", "joint_torque", NULL}}},
    {"inner", "iterations of a step", false, false, {{"most", "inner", NULL}}},
    {"triangles",
     "distances of triangles since the start",
     true,
     false,
     {{"all", "comparisons", NULL}, {"again by comparison", "fallbacks", NULL}}},
};
#define KINDS (sizeof kinds / sizeof *kinds)

const char *const plot_names[] = {"energy", "work",  "contacts",  "residual", "time",
                                  "joints", "inner", "triangles", "steps"};
const size_t plot_name_count = sizeof plot_names / sizeof *plot_names;

static size_t column_of(const history *from, const char *name) {
  size_t i = 0;
  while (i < from->columns && strcmp(from->names[i], name) != 0)
    i++;
  return i;
}

static double value_at(const history *from, size_t row, size_t column) {
  return from->values[row * from->columns + column];
}

/* Milliseconds per step since the last line; NAN where a run was resumed and its clock
 * restarted. */
static double rate_at(const history *from, size_t row, size_t column, size_t steps) {
  if (row == 0)
    return NAN;
  const double passed = value_at(from, row, column) - value_at(from, row - 1, column);
  const double taken = value_at(from, row, steps) - value_at(from, row - 1, steps);
  return passed >= 0 && taken > 0 ? 1e3 * passed / taken : NAN;
}

/* Number of the column; from->columns after an error message. */
static size_t find_column(const history *from, const char *name) {
  const size_t found = column_of(from, name);
  if (found == from->columns)
    cli_error("history.csv has no column '%s', so there is nothing to plot", name);
  return found;
}

static int add_series(const history *from, const kind *of, const source *what, plot *to) {
  const size_t column = find_column(from, what->column);
  const size_t other = what->other ? find_column(from, what->other) : 0;
  const size_t steps = find_column(from, "steps");
  if (column == from->columns || other == from->columns || steps == from->columns)
    return CLI_INPUT;
  double *y = malloc((from->rows + 1) * sizeof *y);
  if (!y) {
    cli_error("out of memory");
    return CLI_FAILED;
  }
  for (size_t i = 0; i < from->rows; ++i)
    y[i] = of->is_rate ? rate_at(from, i, column, steps)
                       : value_at(from, i, column) + (what->other ? value_at(from, i, other) : 0);
  to->series[to->count++] = (plot_series){.name = what->name, .y = y};
  return CLI_DONE;
}

static int fill(const history *from, const kind *of, plot *to) {
  const size_t time = find_column(from, "time");
  if (time == from->columns)
    return CLI_INPUT;
  to->x = malloc((from->rows + 1) * sizeof *to->x);
  if (!to->x) {
    cli_error("out of memory");
    return CLI_FAILED;
  }
  to->rows = from->rows;
  for (size_t i = 0; i < from->rows; ++i)
    to->x[i] = value_at(from, i, time);
  int code = CLI_DONE;
  for (size_t k = 0; code == CLI_DONE && k < PLOT_SERIES_MOST && of->sources[k].name; ++k)
    code = add_series(from, of, &of->sources[k], to);
  return code;
}

/* Whether any series has a value above `least`. */
static bool has_points(const plot *drawn, double least) {
  for (size_t k = 0; k < drawn->count; ++k)
    for (size_t i = 0; i < drawn->rows; ++i)
      if (isfinite(drawn->series[k].y[i]) && isfinite(drawn->x[i]) && drawn->series[k].y[i] > least)
        return true;
  return false;
}

int plot_make(const history *from, const char *name, const char *title, plot *to) {
  size_t i = 0;
  while (i < KINDS && strcmp(kinds[i].name, name) != 0)
    i++;
  if (i == KINDS) {
    const char *near = cli_suggest(name, plot_names, plot_name_count);
    cli_error("info: option '--plot': '%s' is not one of energy, work, contacts, residual, time, "
              "joints, inner, triangles, steps%s%s%s",
              name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return CLI_INPUT;
  }
  *to = (plot){.title = title, .x_label = "time [s]", .y_label = kinds[i].y_label};
  int code = fill(from, &kinds[i], to);
  to->is_log = kinds[i].is_log && has_points(to, 0); /* if all values are 0 the axis is linear */
  if (code == CLI_DONE && !has_points(to, -INFINITY)) {
    cli_error("history.csv has no %s to plot yet: %zu line%s of it", name, from->rows,
              from->rows == 1 ? "" : "s");
    code = CLI_INPUT;
  }
  if (code != CLI_DONE)
    plot_free(to);
  return code;
}

void plot_free(plot *drawn) {
  free(drawn->x);
  for (size_t k = 0; k < drawn->count; ++k) {
    free(drawn->series[k].y);
    free(drawn->series[k].error);
  }
  *drawn = (plot){0};
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* Gives a range without width some width. */
static plot_range widened(double low, double high) {
  if (!(low <= high))
    return (plot_range){0, 1};
  if (high - low > 1e-12 * fmax(fabs(low), fabs(high)))
    return (plot_range){low, high};
  const double by = low != 0 ? 0.1 * fabs(low) : 1;
  return (plot_range){low - by, high + by};
}

plot_range plot_x_range(const plot *drawn) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < drawn->rows; ++i)
    if (isfinite(drawn->x[i])) {
      low = fmin(low, drawn->x[i]);
      high = fmax(high, drawn->x[i]);
    }
  const plot_range range = widened(low, high);
  /* Marks and bars must not touch the frame; continuous curves begin at it. */
  const double by = plot_has_marks(drawn) ? 0.03 * (range.high - range.low) : 0;
  return (plot_range){range.low - by, range.high + by};
}

static plot_range log_range(double low, double high) {
  double from = floor(log10(low) + 1e-9), to = ceil(log10(high) - 1e-9);
  if (!(to > from))
    to = from + 1;
  /* Values more than twelve decades below the largest are not shown. */
  return (plot_range){fmax(from, to - 12), to};
}

plot_range plot_y_range(const plot *drawn) {
  double low = INFINITY, high = -INFINITY;
  for (size_t k = 0; k < drawn->count; ++k)
    for (size_t i = 0; i < drawn->rows; ++i) {
      const double y = drawn->series[k].y[i];
      if (!isfinite(y) || (drawn->is_log && !(y > 0)))
        continue;
      const double *errors = drawn->series[k].error;
      const double error = errors && isfinite(errors[i]) ? errors[i] : 0;
      low = fmin(low, y - error);
      high = fmax(high, y + error);
    }
  if (drawn->is_log)
    return log_range(low, high);
  /* Zero is included if it is near, and the ends are round. */
  if (low > 0 && low < 0.5 * high)
    low = 0;
  if (high < 0 && high > 0.5 * low)
    high = 0;
  const plot_range range = widened(low, high);
  const ticks marks = ticks_of(range.low, range.high, 5);
  const double slack = 1e-9 * marks.step;
  return (plot_range){floor(range.low / marks.step + slack) * marks.step,
                      ceil(range.high / marks.step - slack) * marks.step};
}

double plot_y_share(const plot *drawn, plot_range range, double value) {
  if (drawn->is_log)
    value = value > 0 ? fmax(log10(value), range.low) : NAN;
  return isfinite(value) ? (value - range.low) / (range.high - range.low) : NAN;
}
