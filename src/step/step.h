/* Step: what advances when. Only a stepper calls the stages in the order of time. */
#ifndef TL_STEP_STEP_H
#define TL_STEP_STEP_H

#include "backend/backend.h"
#include "contact/depth.h"
#include "narrow/narrow.h"

/* What one step did; wall times in seconds. */
typedef struct tl_step_report {
  talus_broad_kind broad; /* the kind that `auto` chose */
  const char *broad_reason;
  size_t pairs;
  tl_wall_share walls; /* numbers of pairs with a revolved wall */
  size_t pushed;       /* bodies that others may push within the step (contact/reach.h) */
  size_t relayed;      /* pairs that were searched once more for this reason (step/relay.h) */
  tl_solve_report solve;
  double wall_broad, wall_narrow, wall_solve, wall_step;
  tl_depths depths;  /* depths of all contacts, if the step found them on its way */
  bool has_depths;   /* depths are valid */
  bool is_elsewhere; /* results are with the holder (crowd->where), not in *after */
  /* On a device: bytes sent there before the step; bytes exchanged by the step; most bytes that the
   * device has held. */
  uint64_t sent_bytes, moved_bytes;
  size_t device_bytes;
  size_t swept;     /* adaptive: pairs that were followed along their paths */
  bool is_cut;      /* adaptive: the step was shortened ... */
  tl_pair cut_by;   /* ... because of this pair */
  uint32_t partner; /* slot of the other body if a pair made the step fail, or TL_NONE */
  uint32_t culprit; /* slot of the body that made the step fail, or TL_NONE */
} tl_step_report;

/* Number of classes of step lengths: the longest, half of it, a quarter, ... */
#define TL_LENGTHS 32
static inline int tl_step_length_class(double dt, double longest) {
  int i = 0;
  for (double h = longest; i < TL_LENGTHS - 1 && dt < 0.75 * h; h *= 0.5)
    i++;
  return i;
}

/* One fixed step of the crowd, from crowd->in to crowd->out, and from the contacts of the last step
 * to those of this one; what is before is not changed. (The two states may share arrays; then flags
 * of sleep may change even if the step fails.) On failure *after holds the contacts that the step
 * had found, for the message. TALUS_INTERRUPTED: it was asked to stop (crowd->cancel). */
talus_status tl_step_fixed(const tl_backend *backend, const tl_crowd *crowd,
                           tl_step_report *report);

/* An adaptive step (step/adaptive.c) from crowd->t0, of length crowd->dt or less: it ends before
 * two bodies meet that did not touch at its begin, and none overlap. Sets crowd->t1 and crowd->dt
 * to the actual end. */
talus_status tl_step_adaptive(const tl_backend *backend, tl_crowd *crowd, tl_step_report *report);

/* An adaptive step of bodies that cannot meet others: the length is not reduced. */
talus_status tl_step_alone(const tl_backend *backend, const tl_crowd *crowd,
                           tl_step_report *report);

/* Wraps a position into the domain, on the axes that are periodic. */
talus_dvec3 tl_step_wrap(const talus_domain_def *domain, talus_dvec3 x);

/* True if the next step of springs uses the list of balls (step/balls/list.h), which holds rows;
 * their home is then crowd->out, with the arrays of crowd->in. */
bool tl_step_is_of_balls(const tl_crowd *crowd);

/* One step of velocity Verlet with spring forces (solve: {kind: penalty}), otherwise like
 * tl_step_fixed. Its further state is in crowd->penalty, and contact forces are in
 * crowd->out->spring_force and spring_torque.
 *
 * Rows of the result may stay elsewhere (crowd->where). Then report->is_elsewhere is set, *after is
 * not written, and contacts come home to *before. */
talus_status tl_step_verlet(const tl_backend *backend, const tl_crowd *crowd, tl_contacts *before,
                            tl_contacts *after, tl_step_report *report);

/* One implicit step with spring forces (step: {kind: implicit}), from crowd->in to crowd->out,
 * which must be different arrays, and from the contacts before to those after. Fails if it does not
 * converge, and then names the body with the largest residual. */
talus_status tl_step_implicit(const tl_backend *backend, const tl_crowd *crowd,
                              tl_step_report *report);

/* One step of hard spheres from collision to collision (step/event/): solve: {kind: elastic} with
 * step: {kind: event}, or with the soft shell, whose flights within a step are straight. The
 * contacts are the collisions, each pair with the sum of its impulses. */
talus_status tl_step_event(const tl_crowd *crowd, tl_step_report *report);

/* Finds candidate pairs and contacts of crowd->in, and gives them the impulses of the last step. */
talus_status tl_step_find_contacts(const tl_backend *backend, const tl_crowd *crowd,
                                   tl_step_report *report);

/* Takes a step with given contacts to crowd->out: joints, solver, check of the result, move. */
talus_status tl_step_advance(const tl_backend *backend, const tl_crowd *crowd,
                             tl_step_report *report);

/* Largest distance, in its own sizes, that a body may move within a step, and largest angle (rad)
 * that it may turn by: beyond this the run has diverged, long before numbers overflow. */
#define TL_STEP_TOO_FAR 1e6

/* Checks the velocities with which bodies are about to move from crowd->in. The world, which knows
 * names, completes the message. */
talus_status tl_step_check(const tl_crowd *crowd, tl_twists twists, uint32_t *culprit);

/* Poses at t1 from the velocities at t1 of a solver (symplectic Euler, rotation by free-rotation
 * splitting); kinematic bodies follow their motion, periodic axes are wrapped. Writes every field
 * of crowd->out for every member. */
void tl_step_move(const tl_crowd *crowd, tl_twists twists);

#endif
