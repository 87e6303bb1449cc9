/* Rows of a step on a device while they are solved: shared by solve.c and gradient.c. */
#ifndef TL_STEP_DEVICE_SOLVE_H
#define TL_STEP_DEVICE_SOLVE_H

#include "backend/thread/gradient.h"
#include "solve/system/system.h"
#include "step/device/hold.h"

typedef struct tl_held_rows {
  tl_held *held;
  tl_device *device;
  const tl_crowd *crowd;
  const talus_solve_def *settings;
  tl_solve_report *report;
  tl_thread_rows rows;
  const uint32_t *order;                    /* contact of each row, on the device */
  uint32_t ends[TL_COLOURS_MOST + 1];       /* by colour: end of its rows */
  double totals[TL_REMAINS], most, fastest; /* of the last measurement */
  uint32_t worst;                           /* row + 1 */
  int is_ncp;
  bool is_gradient; /* rows are in the order of contacts, without colours */
  bool have_bounced;
} tl_held_rows;

/* Makes rows in job->order, with their starting impulses. */
talus_status tl_held_make_rows(tl_held_rows *job);

/* Measures residuals and the parts of the objective: job->totals, most, worst. */
talus_status tl_held_look(tl_held_rows *job);

/* How many iterations the rows get. */
tl_effort tl_held_effort(const tl_held_rows *job);

/* Solves the rows by jacobi, apgd or bb (gradient.c): held->solver has the velocities, impulses are
 * stored. */
talus_status tl_held_iterate(tl_held_rows *job);

#endif
