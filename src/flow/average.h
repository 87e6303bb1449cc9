/* Averages: shared by the files of this folder.
 *
 * A cell has TL_SUMS sums: of free bodies whose centre is in it, multiplied by the length of the
 * step, and of the effect of contacts on them. On rings vectors are along r and azimuth. */
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

/* True if recorded quantities need sums of positions, for slopes of the velocity. */
static inline bool tl_average_has_slope(const tl_average *average) {
  return (average->record & (TALUS_AVERAGE_CURL | TALUS_AVERAGE_DIVERGENCE)) != 0;
}

/* Edges of a cell, m; on rings the edge along y is 1. */
talus_dvec3 tl_average_edges(const tl_average *average);

/* Segments of a wall: z and radius of its ends, and its area, at the scale of the body. */
void tl_average_segment(const tl_shape *shape, double scale, uint32_t k, double ends[4],
                        double *area);

/* Curl and divergence from velocities (three for each cell), if they are recorded. */
void tl_average_find_slopes(const tl_average *average, const double *velocity, double *curl,
                            double *divergence);

/* average_runs.c: adds bodies at the end of the step over lanes, if there are many in few cells. */
bool tl_average_has_runs(const tl_average *average, const tl_crowd *crowd);
talus_status tl_average_add_runs(tl_average *average, const tl_crowd *crowd, talus_dvec3 edges);
extern bool tl_average_runs_of_tests; /* false: never used, for tests that compare */

void tl_average_release(tl_average *average);

#endif
