/* Plots of a study: each measure over the first axis, with a curve for each choice of the other
 * values, and intervals over seeds as bars. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

/* Lists the axes that are not seeds, in their order. */
static size_t list_axes(const sweep *study, size_t listed[SWEEP_AXES]) {
  size_t n = 0;
  for (size_t k = 0; k < study->axis_count; ++k)
    if (!study->axes[k].is_seed)
      listed[n++] = k;
  return n;
}

/* True if all values are numbers, which are then in x. */
static bool read_numbers(const sweep_axis *axis, double *x) {
  for (size_t i = 0; i < axis->count; ++i) {
    char *end;
    x[i] = strtod(axis->values[i], &end);
    if (end == axis->values[i] || *end || !isfinite(x[i]))
      return false;
  }
  return true;
}

/* Sorts indices; order[0] is that of the smallest. */
static void sort(const double *x, size_t n, size_t *order) {
  for (size_t i = 0; i < n; ++i) {
    size_t at = i;
    for (; at > 0 && x[order[at - 1]] > x[i]; --at)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

/* Name of a curve: the values that its runs share, "friction=0.3 dt=1e-3". */
static void name_curve(const sweep *study, size_t group, const size_t *axes, size_t n, char *name,
                       size_t size) {
  const size_t run = sweep_first_of(study, group);
  size_t used = 0;
  name[0] = '\0';
  for (size_t k = 1; k < n && used < size; ++k) {
    const sweep_axis *axis = &study->axes[axes[k]];
    const char *dot = strrchr(axis->key, '.');
    used += (size_t)snprintf(name + used, size - used, "%s%s %s", k > 1 ? ", " : "",
                             dot ? dot + 1 : axis->key,
                             axis->values[sweep_choice(study, run, axes[k])]);
  }
}

/* Data of one picture in addition to the plot itself. */
typedef struct sheet {
  plot drawn;
  double *numbers;
  size_t *order;
  const char **names;
  char curves[PLOT_SERIES_MOST][96], title[256], x_label[160];
} sheet;

static bool add_curve(const sweep *study, sheet *to, size_t curve, size_t curves, size_t measure) {
  const size_t rows = to->drawn.rows;
  double *y = malloc(rows * sizeof *y), *error = malloc(rows * sizeof *error);
  to->drawn.series[to->drawn.count++] =
      (plot_series){.name = to->curves[curve], .y = y, .error = error};
  for (size_t i = 0; y && error && i < rows; ++i) {
    const student_mean found = sweep_group_mean(study, to->order[i] * curves + curve, measure);
    y[i] = found.mean;
    error[i] = found.half;
  }
  return y && error;
}

static bool lay_out(const sweep *study, const sweep_axis *axis, sheet *to) {
  const size_t n = axis->count;
  to->drawn.rows = n;
  to->drawn.x = malloc(n * sizeof *to->drawn.x);
  to->numbers = malloc(n * sizeof *to->numbers);
  to->order = malloc(n * sizeof *to->order);
  to->names = calloc(n, sizeof *to->names);
  if (!to->drawn.x || !to->numbers || !to->order || !to->names)
    return false;
  const bool are_numbers = read_numbers(axis, to->numbers);
  for (size_t i = 0; i < n && !are_numbers; ++i) {
    to->numbers[i] = (double)i;
    to->names[i] = axis->values[i];
  }
  sort(to->numbers, n, to->order);
  for (size_t i = 0; i < n; ++i)
    to->drawn.x[i] = to->numbers[to->order[i]];
  to->drawn.x_names = are_numbers ? NULL : to->names;
  snprintf(to->x_label, sizeof to->x_label, "%s", axis->key);
  snprintf(to->title, sizeof to->title, "%s: means%s", study->scene,
           study->run_count > study->group_count ? " and 95 % intervals over seeds" : "");
  return true;
}

static bool has_value(const plot *drawn) {
  for (size_t k = 0; k < drawn->count; ++k)
    for (size_t i = 0; i < drawn->rows; ++i)
      if (isfinite(drawn->series[k].y[i]))
        return true;
  return false;
}

static int draw(const sweep *study, const size_t *axes, size_t n, size_t measure, sheet *to) {
  const sweep_axis *axis = &study->axes[axes[0]];
  const size_t curves = study->group_count / axis->count;
  bool fits = lay_out(study, axis, to);
  for (size_t k = 0; fits && k < curves && k < PLOT_SERIES_MOST; ++k) {
    name_curve(study, k, axes, n, to->curves[k], sizeof to->curves[k]);
    fits = add_curve(study, to, k, curves, measure);
  }
  if (!fits) {
    cli_error("out of memory");
    return CLI_FAILED;
  }
  if (curves > PLOT_SERIES_MOST && measure == 0)
    cli_note("the plot has the first %d of %zu curves; table.csv has all", PLOT_SERIES_MOST,
             curves);
  to->drawn.title = to->title;
  to->drawn.x_label = to->x_label;
  to->drawn.y_label = study->measures[measure].text;
  if (!has_value(&to->drawn))
    return CLI_DONE;
  char path[4096], name[32] = "plot.svg";
  if (measure > 0)
    snprintf(name, sizeof name, "plot-%zu.svg", measure + 1);
  sweep_path(study, name, "", path, sizeof path);
  return plot_svg(&to->drawn, path);
}

int sweep_draw(const sweep *study) {
  size_t axes[SWEEP_AXES];
  const size_t n = list_axes(study, axes);
  int code = CLI_DONE;
  for (size_t k = 0; n > 0 && k < study->measure_count && code == CLI_DONE; ++k) {
    sheet *to = calloc(1, sizeof *to);
    if (to)
      code = draw(study, axes, n, k, to);
    else {
      cli_error("out of memory");
      return CLI_FAILED;
    }
    plot_free(&to->drawn);
    free(to->numbers);
    free(to->order);
    free(to->names);
    free(to);
  }
  return code;
}
