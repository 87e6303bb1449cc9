/* Curves over time: as an SVG file, or as text in a terminal. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdio.h>

#include "history.h"

#define PLOT_SERIES_MOST 8

typedef struct plot_series {
  const char *name;
  double *y;     /* NAN: nothing there */
  double *error; /* half of the interval about each y, NAN: not known; NULL: of none */
} plot_series;

typedef struct plot {
  const char *title;
  const char *x_label, *y_label; /* with units */
  bool is_log;                   /* y axis; what is not above 0 is not drawn */
  size_t rows, count;            /* points of each series, series */
  double *x;
  const char *const *x_names; /* what stands at x = 0, 1, ...; NULL: numbers */
  plot_series series[PLOT_SERIES_MOST];
} plot;

/* What `talus info --plot` can show. */
extern const char *const plot_names[];
extern const size_t plot_name_count;

/* Fills in from a history; an exit code, after a message unless CLI_DONE. title is kept as it is.
 */
int plot_make(const history *from, const char *name, const char *title, plot *to);
void plot_free(plot *drawn);

/* The same for "outlet", "outlet.mass_flow" or "outlet.mass_flow_z": of the probe `outlet` of a
 * folder its first quantity, that one, or one component of it. */
bool plot_is_probe(const char *folder, const char *name);
int plot_make_probe(const char *folder, const char *name, const char *title, plot *to);

/* The same for "steps": how many steps had which length. */
int plot_make_steps(const char *folder, const char *title, plot *to);

/* Written aside and renamed; an exit code, after a message unless CLI_DONE. */
int plot_svg(const plot *drawn, const char *path);

/* Braille dots in colour where the terminal has both, plain marks otherwise. */
void plot_terminal(const plot *drawn, FILE *to);

/* Few points were measured, not drawn from a continuous record: each is marked. */
#define PLOT_FEW 24
static inline bool plot_has_marks(const plot *drawn) { return drawn->rows <= PLOT_FEW; }

/* ---- between the files of this module -------------------------------------------------------- */

/* The span of an axis, rounded outwards; log: of the logarithm to base 10. */
typedef struct plot_range {
  double low, high;
} plot_range;

plot_range plot_x_range(const plot *drawn);
plot_range plot_y_range(const plot *drawn);
/* A value as a share 0 ... 1 of the y range; NAN where it is not to be drawn. */
double plot_y_share(const plot *drawn, plot_range range, double value);

#endif
