/* Averages: what their parts share. Private to this folder.
 *
 * A cell has TL_SUMS sums: of free bodies whose centre is in it, times the step's length, and of
 * what contacts gave them. Along r and azimuth on rings. */
#ifndef TL_FLOW_AVERAGE_H
#define TL_FLOW_AVERAGE_H

#include "flow/place.h"

enum {
  TL_SUM_COUNT,      /* s */
  TL_SUM_MASS,       /* kg s */
  TL_SUM_MOMENTUM,   /* kg m: three */
  TL_SUM_SQUARE = 5, /* J s, of m v^2 */
  TL_SUM_PLACE,      /* kg m s, from the low corner of the grid: three */
  TL_SUM_VIRIAL = 9, /* J s: of arms times impulses of contacts */
  TL_SUMS
};

/* Numbers in `means` for each cell. */
enum {
  TL_MEAN_COUNT,
  TL_MEAN_DENSITY,
  TL_MEAN_NUMBER,
  TL_MEAN_VELOCITY,  /* three */
  TL_MEAN_ANGLE = 6, /* two */
  TL_MEAN_TEMPERATURE = 8,
  TL_MEAN_PRESSURE,
  TL_MEAN_KINETIC,
  TL_MEAN_CONTACT,
  TL_MEAN_CURL, /* three */
  TL_MEAN_DIVERGENCE = 15,
  TL_MEANS
};

static inline size_t tl_average_cells(const tl_average *average) {
  return (size_t)average->cells[0] * average->cells[1] * average->cells[2];
}

/* What recorded things need of the sums of places: the velocity's slope. */
static inline bool tl_average_has_slope(const tl_average *average) {
  return (average->record & (TALUS_AVERAGE_CURL | TALUS_AVERAGE_DIVERGENCE)) != 0;
}

/* Edges of a cell, m; along y of a ring 1. */
talus_dvec3 tl_average_edges(const tl_average *average);

/* Segments of a wall: z, radius of its ends and its area, at the scale of the body. */
void tl_average_segment(const tl_shape *shape, double scale, uint32_t k, double ends[4],
                        double *area);

/* Curl and divergence from velocities (three for each cell), where they are recorded. */
void tl_average_find_slopes(const tl_average *average, const double *velocity, double *curl,
                            double *divergence);

/* average_runs.c: bodies at the end of the step, where they are many in few cells, over lanes. */
bool tl_average_has_runs(const tl_average *average, const tl_crowd *crowd);
talus_status tl_average_add_runs(tl_average *average, const tl_crowd *crowd, talus_dvec3 edges);
extern bool tl_average_runs_of_tests; /* false: never, for tests that compare */

void tl_average_release(tl_average *average);

#endif
