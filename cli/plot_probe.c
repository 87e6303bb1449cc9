/* Curves of a probe: probes/NAME.csv has means over intervals, plotted at their middles. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct quantity {
  const char *name, *y_label;
  const char *columns[3];
} quantity;

static const quantity quantities[] = {
    {"force", "contact force [N]", {"fx", "fy", "fz"}},
    {"torque", "contact torque [N m]", {"tx", "ty", "tz"}},
    {"mass_flow", "mass flow [kg/s]", {"mass_flow_x", "mass_flow_y", "mass_flow_z"}},
    {"count", "bodies", {"count"}},
    {"energy", "kinetic energy [J]", {"energy"}},
};
#define QUANTITIES (sizeof quantities / sizeof *quantities)

static bool find_file(const char *folder, const char *name, size_t length, char *path,
                      size_t size) {
  struct stat there;
  const int n = snprintf(path, size, "%s/probes/%.*s.csv", folder, (int)length, name);
  return n > 0 && (size_t)n < size && length > 0 && !memchr(name, '/', length) &&
         stat(path, &there) == 0 && S_ISREG(there.st_mode);
}

/* Finds the file of a probe and the rest of its name: "" or the part after a dot. Names of probes
 * may contain dots themselves. */
static const char *split(const char *folder, const char *name, char *path, size_t size) {
  const char *dot = strrchr(name, '.');
  if (find_file(folder, name, strlen(name), path, size))
    return name + strlen(name);
  if (dot && find_file(folder, name, (size_t)(dot - name), path, size))
    return dot + 1;
  return NULL;
}

bool plot_is_probe(const char *folder, const char *name) {
  char path[4096];
  for (size_t i = 0; i < plot_name_count; ++i)
    if (strcmp(plot_names[i], name) == 0)
      return false;
  return split(folder, name, path, sizeof path) != NULL;
}

static size_t column_of(const history *from, const char *name) {
  size_t i = 0;
  while (i < from->columns && strcmp(from->names[i], name) != 0)
    i++;
  return i;
}

/* True if a quantity exists and is the wanted one; "" accepts any. */
static bool is_wanted(const history *from, const quantity *what, const char *part) {
  if (column_of(from, what->columns[0]) == from->columns)
    return false;
  bool is_named = *part == '\0' || strcmp(part, what->name) == 0;
  for (int k = 0; k < 3 && what->columns[k]; ++k)
    is_named = is_named || strcmp(part, what->columns[k]) == 0;
  return is_named;
}

static double *values_of(const history *from, size_t a, size_t b) {
  double *values = malloc((from->rows + 1) * sizeof *values);
  for (size_t i = 0; values && i < from->rows; ++i) {
    const double *row = from->values + i * from->columns;
    values[i] = 0.5 * (row[a] + row[b]);
  }
  return values;
}

static int fill(const history *from, const quantity *what, const char *part, plot *to) {
  const bool is_one = strcmp(part, what->name) != 0 && *part != '\0';
  to->rows = from->rows;
  to->y_label = what->y_label;
  to->x = values_of(from, 0, 1); /* from and to exist: the header was checked */
  bool fits = to->x != NULL;
  for (int k = 0; k < 3 && what->columns[k] && fits; ++k) {
    const size_t column = column_of(from, what->columns[k]);
    if (column == from->columns || (is_one && strcmp(part, what->columns[k]) != 0))
      continue;
    double *y = values_of(from, column, column);
    fits = y != NULL;
    if (fits)
      to->series[to->count++] = (plot_series){.name = what->columns[k], .y = y};
  }
  if (fits)
    return CLI_DONE;
  cli_error("out of memory");
  plot_free(to);
  return CLI_FAILED;
}

static int refuse(const history *from, const char *name, const char *part) {
  char known[128] = "";
  const char *names[QUANTITIES];
  size_t n = 0;
  for (size_t i = 0; i < QUANTITIES; ++i)
    if (is_wanted(from, &quantities[i], "")) {
      const size_t used = strlen(known);
      snprintf(known + used, sizeof known - used, "%s%s", n ? ", " : "", quantities[i].name);
      names[n++] = quantities[i].name;
    }
  const char *near = cli_suggest(part, names, n);
  cli_error("info: option '--plot': '%s': that probe has no '%s', but %s%s%s%s", name, part,
            n ? known : "nothing", near ? "; did you mean '" : "", near ? near : "",
            near ? "'?" : "");
  return CLI_INPUT;
}

int plot_make_probe(const char *folder, const char *name, const char *title, plot *to) {
  char path[4096], why[4200];
  history from;
  const char *part = split(folder, name, path, sizeof path);
  if (!part || !history_read_probe(path, &from, why, sizeof why)) {
    cli_error("%s", part ? why : "there is no such probe");
    return CLI_INPUT;
  }
  size_t i = 0;
  while (i < QUANTITIES && !is_wanted(&from, &quantities[i], part))
    i++;
  *to = (plot){.title = title, .x_label = "time [s]"};
  int code = CLI_DONE;
  if (i == QUANTITIES)
    code = refuse(&from, name, part);
  else if (from.rows == 0) {
    cli_error("%s has no lines to plot yet", path);
    code = CLI_INPUT;
  } else
    code = fill(&from, &quantities[i], part, to);
  history_free(&from);
  return code;
}
