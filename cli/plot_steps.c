/* Lengths of steps: steps.csv as the outline of a histogram. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"steps", "steps of bodies", "dropped"};
static const char *const columns[] = {"steps", "body_steps", "dropped"};
#define SERIES (sizeof names / sizeof *names)

static size_t column_of(const history *from, const char *name) {
  size_t i = 0;
  while (i < from->columns && strcmp(from->names[i], name) != 0)
    i++;
  return i;
}

static double value_at(const history *from, size_t row, size_t column) {
  return from->values[row * from->columns + column];
}

/* Each class is a flat top, half a power of two to either side; the shortest comes first. */
static bool add_outline(const history *from, size_t column, double *values, bool is_x) {
  const size_t n = from->rows;
  for (size_t i = 0; i < n; ++i) {
    const double value = value_at(from, n - 1 - i, column);
    for (size_t side = 0; side < 2; ++side)
      values[2 * i + side] = is_x ? log10(value) + (side == 0 ? -0.5 : 0.5) * log10(2) : value;
  }
  return true;
}

static int fill(const history *from, plot *to) {
  const size_t length = column_of(from, "length");
  bool fits = length < from->columns;
  to->rows = 2 * from->rows;
  to->x = fits ? malloc((to->rows + 1) * sizeof *to->x) : NULL;
  fits = fits && to->x && add_outline(from, length, to->x, true);
  for (size_t k = 0; fits && k < SERIES; ++k) {
    const size_t column = column_of(from, columns[k]);
    double *y = column < from->columns ? malloc((to->rows + 1) * sizeof *y) : NULL;
    fits = y && add_outline(from, column, y, false);
    if (fits)
      to->series[to->count++] = (plot_series){.name = names[k], .y = y};
  }
  if (fits)
    return CLI_DONE;
  cli_error("steps.csv lacks a column, or memory is short");
  plot_free(to);
  return CLI_FAILED;
}

int plot_make_steps(const char *folder, const char *title, plot *to) {
  char path[4096], why[4200];
  history from;
  *to = (plot){.title = title,
               .x_label = "log10 of the length of the step [s]",
               .y_label = "steps of that length",
               .is_log = true};
  const int n = snprintf(path, sizeof path, "%s/steps.csv", folder);
  if (n <= 0 || (size_t)n >= sizeof path || !history_read_steps(path, &from, why, sizeof why)) {
    cli_error("%s; adaptive and local steps write it when a run ends",
              n > 0 && (size_t)n < sizeof path ? why : folder);
    return CLI_INPUT;
  }
  const int code = fill(&from, to);
  history_free(&from);
  return code;
}
