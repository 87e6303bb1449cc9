/* Implicit steps: the forces of springs at the end of the step (docs/theory/implicit.md).
 *
 *   halves.c     a step that does not converge is taken in two halves
 *   implicit.c   the order of a step: first guess, iteration, result
 *   look.c       from impulses to velocities, positions, contacts and forces
 *   picard.c     the forces of one guess are the next (Noble, Algorithm 8)
 *   newton.c     semi-smooth Newton
 *   search.c     how far along a Newton step, island by island
 *   gradient.c   conjugate gradients for the linear equations of a Newton step
 *
 * The unknowns are the impulses P that contacts give to bodies in the step, about their centres
 * of mass at its begin. They determine velocities v = v_free + W P, where W is the inverse mass,
 * and so positions x0 + h v, contacts and forces F. A guess is a solution if the residual P - h
 * F is 0. Every guess is a sum of equal and opposite impulses, so that none of them changes the
 * momentum. */
#ifndef TL_STEP_IMPLICIT_H
#define TL_STEP_IMPLICIT_H

#include "narrow/multires.h"
#include "solve/penalty/penalty.h"
#include "step/step.h"

/* An impulse and its moment about the centre of mass; or forces. */
typedef struct tl_wrench {
  talus_vec3 force, torque;
} tl_wrench;

/* Response of a free body to impulses (inverse mass and inertia); all 0 for other bodies. */
typedef struct tl_answer {
  tl_sym3 turn;
  talus_vec3 move; /* 1/kg by axis; 0 if the axis is locked */
} tl_answer;

static inline tl_twist tl_answer_to(const tl_answer *w, const tl_wrench *p) {
  return (tl_twist){tl_vec3(w->move.x * p->force.x, w->move.y * p->force.y, w->move.z * p->force.z),
                    tl_sym3_mul_vec(w->turn, p->torque)};
}

typedef struct tl_implicit {
  const tl_backend *backend;
  const tl_crowd *crowd;
  tl_step_report *report;
  tl_crowd at_end; /* the crowd, with the guess as its state before */
  tl_state guess;  /* at t1 */
  /* By slot. */
  tl_answer *answers;
  tl_twist *free;              /* velocities without contacts */
  tl_wrench *impulse;          /* the guess */
  tl_twist *twists;            /* velocities of the guess */
  talus_vec3 *velocity, *spin; /* the same velocities, for springs */
  talus_vec3 *force, *torque;  /* spring forces of the guess */
  tl_wrench *residual;         /* impulse - h force, of bodies that can move */
  double *change;              /* of each body: residual relative to its forces */
  tl_wrench *step;             /* change of the guess */
  /* Results of looking at the guess. */
  tl_arena_mark mark; /* arena: memory behind the mark belongs to one look */
  tl_penalty_tangents tangents;
  tl_penalty_sums sums;
  tl_spring *springs;  /* by contact, as at the begin of the step; if friction is limited */
  double worst;        /* largest `change` */
  uint32_t worst_slot; /* the body that has it */
  double stiffness;    /* upper bound of (h omega)^2 of the worst body in any look: the largest */
  /* by slot, for Newton: number of further steps in which sliding contacts are as stiff along the
   * direction of sliding as across it */
  uint8_t *careful;
  bool is_limited; /* friction uses the forces of penalty->limits */
  bool is_stuck;   /* the iteration did not converge */
} tl_implicit;

/* Takes one step, not divided. *is_stuck: it failed because it did not converge. */
talus_status tl_implicit_step(const tl_backend *backend, const tl_crowd *crowd,
                              tl_step_report *report, bool *is_stuck);

/* Contacts whose impulses are a guess for this step: those of the last step; after a change by
 * hand, those of the present state; none in a first step. */
static inline const tl_contacts *tl_implicit_known(const tl_implicit *job) {
  const tl_contacts *last = job->crowd->contacts_before;
  return last->count > 0 ? job->at_end.contacts_before : last;
}

/* True if the guess is a solution, with all contacts. */
static inline bool tl_implicit_is_found(const tl_implicit *job) {
  return job->worst <= job->crowd->model->implicit.tolerance &&
         !(job->at_end.multires && job->at_end.multires->widened > 0);
}

/* Finds velocities, positions, contacts and forces of job->impulse, and the residual. */
talus_status tl_implicit_look(tl_implicit *job);

/* Finds forces and residual of the last look again, with other limits of friction. */
talus_status tl_implicit_push_again(tl_implicit *job);

/* Upper bound (Gershgorin) of (h omega)^2 of the body in a slot: its springs against its mass. */
double tl_implicit_stiffness(const tl_implicit *job, uint32_t slot);

/* Sum over bodies of one impulse times the velocities that the other causes. */
double tl_implicit_product(const tl_implicit *job, const tl_wrench *one, const tl_wrench *other);

/* job->impulse += share * job->step. */
void tl_implicit_advance(tl_implicit *job, talus_real share);

/* Iterate until job->worst is within the tolerance, or up to the limit; *count: number of
 * iterations. */
talus_status tl_implicit_picard(tl_implicit *job, int *count);
talus_status tl_implicit_newton(tl_implicit *job, int *count);

/* Moves along job->step as far as the potential of each island falls; job->impulse is the end.
 * Marks bodies of islands that did not take the full step in job->careful. */
talus_status tl_implicit_search(tl_implicit *job);

/* Finds job->step: it would make the residual 0 if forces were linear. share: factor by which the
 * norm of the residual is to fall. */
talus_status tl_implicit_solve(tl_implicit *job, double share);

#endif
