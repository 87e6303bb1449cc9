/* Step: what advances when. A stepper drives the stages; nothing else calls them in time order. */
#ifndef TL_STEP_STEP_H
#define TL_STEP_STEP_H

#include "backend/backend.h"
#include "contact/depth.h"
#include "narrow/narrow.h"

/* What one step did; wall times in seconds. */
typedef struct tl_step_report {
  talus_broad_kind broad; /* what `auto` became */
  const char *broad_reason;
  size_t pairs;
  tl_wall_share walls; /* of them and a revolved wall */
  size_t pushed;       /* bodies that something may push within the step (contact/reach.h) */
  size_t relayed;      /* pairs that were looked at once more for that (step/relay.h) */
  tl_solve_report solve;
  double wall_broad, wall_narrow, wall_solve, wall_step;
  tl_depths depths;  /* of all contacts, where the step has found them on its way */
  bool has_depths;   /* it has */
  bool is_elsewhere; /* what the step made is with the holder (crowd->where), not in *after */
  /* On a device: what went there before the step, what the step moved to and fro, what the device
   * has held at most. */
  uint64_t sent_bytes, moved_bytes;
  size_t device_bytes;
  size_t swept;     /* adaptive: pairs that were followed along their paths */
  bool is_cut;      /* adaptive: shorter than it might have been, by ... */
  tl_pair cut_by;   /* ... this pair */
  uint32_t partner; /* slot of the other body where a pair made the step fail, or TL_NONE */
  uint32_t culprit; /* slot of the body that made the step fail, or TL_NONE */
} tl_step_report;

/* Classes of lengths of steps: the longest, half of it, a quarter, ... */
#define TL_LENGTHS 32
static inline int tl_step_length_class(double dt, double longest) {
  int i = 0;
  for (double h = longest; i < TL_LENGTHS - 1 && dt < 0.75 * h; h *= 0.5)
    i++;
  return i;
}

/* One fixed step over the crowd, from crowd->in to crowd->out, and from the contacts of the last
 * step to those of this one: what is before is only read. (The two states may have the same arrays;
 * then who sleeps may change even if the step fails.) On failure *after are the contacts of the
 * failed step, as far as it came: for the message. TALUS_INTERRUPTED: it was asked to stop
 * (crowd->cancel). */
talus_status tl_step_fixed(const tl_backend *backend, const tl_crowd *crowd,
                           tl_step_report *report);

/* An adaptive step (step/adaptive.c), as above, from crowd->t0 on: over crowd->dt or less, as far
 * as no two bodies meet that did not touch at its begin, and none overlap. Sets crowd->t1 and
 * crowd->dt to where it came. */
talus_status tl_step_adaptive(const tl_backend *backend, tl_crowd *crowd, tl_step_report *report);

/* The same of bodies that cannot meet anybody: the interval is not shortened. */
talus_status tl_step_alone(const tl_backend *backend, const tl_crowd *crowd,
                           tl_step_report *report);

/* A place within the domain, on the axes that are periodic. */
talus_dvec3 tl_step_wrap(const talus_domain_def *domain, talus_dvec3 x);

/* Whether the next step of springs goes over the list of balls (step/balls/list.h), which keeps
 * rows: their home is then crowd->out, with the arrays of crowd->in. */
bool tl_step_is_of_balls(const tl_crowd *crowd);

/* One step of velocity Verlet with spring forces (solve: {kind: penalty}), as above. What it keeps
 * beside the contacts is in crowd->penalty, and the contact forces in crowd->out->spring_force and
 * spring_torque.
 *
 * Rows that the step made may stay elsewhere (crowd->where). Then report->is_elsewhere, *after is
 * not written, and contacts come home to *before. */
talus_status tl_step_verlet(const tl_backend *backend, const tl_crowd *crowd, tl_contacts *before,
                            tl_contacts *after, tl_step_report *report);

/* One implicit step with spring forces (step: {kind: implicit}), from crowd->in to crowd->out,
 * which are different arrays, and from the contacts before to those after. Fails where it does not
 * converge, and then names the body that is farthest from it. */
talus_status tl_step_implicit(const tl_backend *backend, const tl_crowd *crowd,
                              tl_step_report *report);

/* One step of hard spheres from collision to collision (step/event/): solve: {kind: elastic} with
 * step: {kind: event}, or with the soft shell, when flights within the step are straight. Contacts
 * are those that collided, each with the sum of its impulses. */
talus_status tl_step_event(const tl_crowd *crowd, tl_step_report *report);

/* Candidate pairs and contacts of crowd->in, with what the last step's remember laid in. */
talus_status tl_step_find_contacts(const tl_backend *backend, const tl_crowd *crowd,
                                   tl_step_report *report);

/* From contacts that are found to crowd->out: joints, solver, a look at the result, the move. */
talus_status tl_step_advance(const tl_backend *backend, const tl_crowd *crowd,
                             tl_step_report *report);

/* A run has diverged long before numbers overflow: the largest distance, in its own sizes, that a
 * body may move within a step, and the largest angle, in rad, that it may turn by. */
#define TL_STEP_TOO_FAR 1e6

/* Checks the velocities with which the bodies are about to move from crowd->in. The world, which
 * knows names, completes the message. */
talus_status tl_step_check(const tl_crowd *crowd, tl_twists twists, uint32_t *culprit);

/* Poses at t1 from the velocities at t1 that a solver left (symplectic Euler, rotation by
 * free-rotation splitting), kinematic bodies by their motion, periodic axes wrapped. Writes every
 * field of crowd->out for every member. */
void tl_step_move(const tl_crowd *crowd, tl_twists twists);

#endif
