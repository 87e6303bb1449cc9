/* Curves over time: written as an SVG file, or shown as text in a terminal. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdio.h>

#include "history.h"

#define PLOT_SERIES_MOST 8

typedef struct plot_series {
  const char *name;
  double *y;     /* NAN: no value */
  double *error; /* half of the interval about each y, NAN: not known; NULL: not for this series */
} plot_series;

typedef struct plot {
  const char *title;
  const char *x_label, *y_label; /* with units */
  bool is_log;                   /* of the y axis; values <= 0 are not drawn */
  size_t rows, count;            /* points of each series; series */
  double *x;
  const char *const *x_names; /* labels at x = 0, 1, ...; NULL: numbers */
  plot_series series[PLOT_SERIES_MOST];
} plot;

/* Names of the curves of `talus info --plot`. */
extern const char *const plot_names[];
extern const size_t plot_name_count;

/* Fills the plot from a history; returns an exit code, after a message unless CLI_DONE. title must
 * stay valid. */
int plot_make(const history *from, const char *name, const char *title, plot *to);
void plot_free(plot *drawn);

/* The same for "outlet", "outlet.mass_flow" or "outlet.mass_flow_z": of the probe `outlet` of a
 * folder the first quantity, that quantity, or one component of it. */
bool plot_is_probe(const char *folder, const char *name);
int plot_make_probe(const char *folder, const char *name, const char *title, plot *to);

/* The same for "steps": a histogram of step lengths. */
int plot_make_steps(const char *folder, const char *title, plot *to);

/* Writes a temporary file and renames it; returns an exit code, after a message unless CLI_DONE. */
int plot_svg(const plot *drawn, const char *path);

/* Uses Braille dots in colour if the terminal supports both, otherwise plain marks. */
void plot_terminal(const plot *drawn, FILE *to);

/* With at most so many points each is marked, because they were measured, not recorded
 * continuously. */
#define PLOT_FEW 24
static inline bool plot_has_marks(const plot *drawn) { return drawn->rows <= PLOT_FEW; }

/* ---- between the files of this module -------------------------------------------------------- */

/* Range of an axis, rounded outwards; log: of the logarithm to base 10. */
typedef struct plot_range {
  double low, high;
} plot_range;

plot_range plot_x_range(const plot *drawn);
plot_range plot_y_range(const plot *drawn);
/* A value as a part 0 ... 1 of the y range; NAN if it is not drawn. */
double plot_y_share(const plot *drawn, plot_range range, double value);

#endif
