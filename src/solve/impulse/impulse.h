/* Sequential impulses: the data of the solver, shared by its files. kernels/impulse.h has the
 * mathematics of one bundle, docs/theory/impulse.md the whole method.
 *
 *   impulse.c  the sequence of a solve, and results
 *   load.c     bundles, their colours, and rows; and the rows of position correction
 *   sweep.c    visits of bundles, colour by colour
 *
 * Solver bodies, joints, cohesion and static friction come from the system (solve/system/). Only
 * rows and sweeps are the solver's own. */
#ifndef TL_SOLVE_IMPULSE_H
#define TL_SOLVE_IMPULSE_H

#include "kernels/impulse.h"
#include "solve/system/links.h"

typedef struct tl_impulse {
  tl_system *system;
  tl_ccp_body *bodies; /* bodies that rows act on: the system's, or those of position correction */
  tl_links links;      /* all joints are one part */
  tl_impulse_row *rows;
  tl_impulse_roll *rolls; /* by row; NULL: no pair of materials resists rolling or spinning */
  uint32_t *bundle_row;   /* first row of each bundle, in solving order, and one more */
  tl_pair *bundle_body;   /* the two solver bodies of each bundle */
  size_t bundle_count, row_count;
  tl_colours colours;     /* of bundles; order: the first contact of each bundle */
  uint32_t *colour_block; /* first block of each colour, and one more */
  uint32_t *block_bundle; /* first bundle of each block, and one more */
  size_t block_count;
  double *block_sum, *block_max; /* two sets of sums; the largest residuals */
  tl_tally *worker_sum;          /* of squared residuals, row by row: all rows are one problem */
  double *bundle_work;           /* of the impulses that each bundle starts with */
  double *island_sum;            /* two numbers by island label; scratch */
  bool radial;                   /* every arm is along its normal, and every body is isotropic */
  /* this job corrects positions, not velocities: no friction, links are not aimed */
  bool correcting;
} tl_impulse;

/* Index of the contact of a row: the i-th of bundle k. */
static inline size_t tl_impulse_contact(const tl_impulse *job, size_t bundle, uint32_t i) {
  return (size_t)job->colours.order[bundle] + i;
}

/* The bodies of a bundle's contacts. */
static inline tl_impulse_pair tl_impulse_pair_of(const tl_impulse *job, size_t bundle) {
  tl_ccp_tensor *tensors = job->system->tensors;
  const uint32_t a = job->bundle_body[bundle].a, b = job->bundle_body[bundle].b;
  const tl_impulse_pair pair = {&job->bodies[a], &job->bodies[b], tensors ? &tensors[a] : NULL,
                                tensors ? &tensors[b] : NULL};
  return pair;
}

/* Number of rows over which residuals are averaged. */
static inline double tl_impulse_rows_of(const tl_impulse *job) {
  return (double)(job->row_count + job->links.rows);
}

/* Makes bundles, colours, blocks and rows. */
talus_status tl_impulse_load(tl_impulse *job);

/* Call after the solve: true if some contact is deeper than the slop, or may have become so. */
bool tl_impulse_is_deep(const tl_impulse *job);

/* Makes `fixing` the job of position correction; its velocities are in `bodies`, and it takes over
 * the rows. */
talus_status tl_impulse_load_correction(const tl_impulse *job, tl_ccp_body *bodies,
                                        tl_impulse *fixing);

/* Sweeps until the tolerance or the iterations are reached, and fills the report. */
void tl_impulse_iterate(tl_impulse *job);

#endif
