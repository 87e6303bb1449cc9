/* Averages of many bodies in few cells: runs of bodies are added over lanes, each run to sums of
 * its own. Private to this folder; the general code (average_step.c) adds the same numbers. */
#ifndef TL_FLOW_AVERAGE_ROWS_H
#define TL_FLOW_AVERAGE_ROWS_H

#include "flow/average.h"

#define TL_ROW 8 /* doubles of a cell: TL_SUM_COUNT ... TL_SUM_SQUARE, and two to fill a line */

/* The bodies that are added, and their grid. */
typedef struct tl_average_view {
  const talus_dvec3 *position;
  const talus_vec3 *velocity;
  const talus_real *mass;
  const uint32_t *flags;
  double from[3];     /* m: on rings the axis, else the low corner; z is the low end */
  double per_edge[3]; /* 1/m */
  uint32_t cells[3];
  double dt;
} tl_average_view;

/* Adds bodies `begin` to `end`, in this order, to rows of cells. */
typedef void tl_average_add_fn(const tl_average_view *view, size_t begin, size_t end,
                               double (*rows)[TL_ROW]);

/* For rings, and for planes and boxes. */
typedef struct tl_average_loops {
  tl_average_add_fn *rings, *boxes;
} tl_average_loops;

extern const tl_average_loops tl_average_generic, tl_average_avx2, tl_average_avx512;

#endif
