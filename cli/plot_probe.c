/* Curves of a probe: probes/NAME.csv has means over intervals, plotted at their middles. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PARTS 6

typedef struct quantity {
  const char *name, *y_label; /* the name as in `record`, with _ in place of - */
  const char *columns[PARTS];
} quantity;

static const quantity quantities[] = {
    {"force", "force [N]", {"fx", "fy", "fz"}},
    {"torque", "torque [N m]", {"tx", "ty", "tz"}},
    {"mass_flow", "mass flow [kg/s]", {"mass_flow_x", "mass_flow_y", "mass_flow_z"}},
    {"count", "bodies", {"count"}},
    {"energy", "kinetic energy [J]", {"energy"}},
    {"position", "position [m]", {"x", "y", "z"}},
    {"rotation", "quaternion", {"qw", "qx", "qy", "qz"}},
    {"velocity", "velocity [m/s]", {"vx", "vy", "vz"}},
    {"spin", "spin [rad/s]", {"wx", "wy", "wz"}},
    {"stress", "stress of contacts [Pa]", {"sxx", "syy", "szz", "sxy", "sxz", "syz"}},
    {"kinetic_stress", "stress of motion [Pa]", {"kxx", "kyy", "kzz", "kxy", "kxz", "kyz"}},
    {"solid_fraction", "solid fraction", {"solid_fraction"}},
    {"coordination", "contacts per body", {"coordination"}},
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
 * and of columns may contain dots themselves. */
static const char *split(const char *folder, const char *name, char *path, size_t size) {
  if (find_file(folder, name, strlen(name), path, size))
    return name + strlen(name);
  for (const char *dot = name + strlen(name); dot > name; --dot)
    if (*dot == '.' && find_file(folder, name, (size_t)(dot - name), path, size))
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

/* `solid-fraction` is what a scene calls `solid_fraction`. */
static bool is_called(const char *part, const char *name) {
  while (*part && (*part == *name || (*part == '-' && *name == '_')))
    ++part, ++name;
  return *part == *name;
}

/* True if a quantity exists and is the wanted one; "" accepts any. */
static bool is_wanted(const history *from, const quantity *what, const char *part) {
  if (column_of(from, what->columns[0]) == from->columns)
    return false;
  bool is_named = *part == '\0' || is_called(part, what->name);
  for (int k = 0; k < PARTS && what->columns[k]; ++k)
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
  const bool is_one = !is_called(part, what->name) && *part != '\0';
  to->rows = from->rows;
  to->y_label = what->y_label;
  to->x = values_of(from, 0, 1); /* from and to exist: the header was checked */
  bool fits = to->x != NULL;
  for (int k = 0; k < PARTS && what->columns[k] && fits; ++k) {
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

#define COLUMNS_SHOWN 12

static int refuse(const history *from, const char *name, const char *part) {
  char known[512] = "";
  const char *names[QUANTITIES + COLUMNS_SHOWN];
  size_t n = 0;
  for (size_t i = 0; i < QUANTITIES; ++i)
    if (is_wanted(from, &quantities[i], ""))
      names[n++] = quantities[i].name;
  for (size_t i = 2; i < from->columns && n == 0 && i < COLUMNS_SHOWN; ++i)
    names[n++] = from->names[i];
  for (size_t i = 0; i < n; ++i) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", names[i]);
  }
  const char *near = cli_suggest(part, names, n);
  cli_error("info: option '--plot': '%s': the probe has no '%s'; it has %s%s%s%s", name, part,
            known, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
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
  /* Any other column by its name; the first one where nothing is named. */
  size_t column = *part || from.columns < 3 ? column_of(&from, part) : 2;
  static char label[128]; /* outlives the table: the plot has it */
  snprintf(label, sizeof label, "%s", column < from.columns ? from.names[column] : "");
  const quantity other = {.columns = {label}, .name = label, .y_label = label};
  *to = (plot){.title = title, .x_label = "time [s]"};
  int code = CLI_DONE;
  if (i == QUANTITIES && (column < 2 || column == from.columns))
    code = refuse(&from, name, part);
  else if (from.rows == 0) {
    cli_error("%s has no lines to plot yet", path);
    code = CLI_INPUT;
  } else
    code = fill(&from, i < QUANTITIES ? &quantities[i] : &other, part, to);
  history_free(&from);
  return code;
}
