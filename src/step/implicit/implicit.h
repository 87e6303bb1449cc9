/* Implicit steps: the forces of springs at the end of the step (docs/theory/implicit.md).
 *
 *   halves.c     a step that does not converge is taken in two halves
 *   implicit.c   the order of one: guesses, looks, what counts in the end
 *   look.c       from impulses to velocities, places, contacts and forces
 *   picard.c     the forces of one guess are the next (Noble, Algorithm 8)
 *   newton.c     semi-smooth Newton
 *   search.c     how far along a Newton step, island by island
 *   gradient.c   conjugate gradients for the linear equations of a Newton step
 *
 * The unknowns are the impulses P that contacts give to bodies in the step, about their centres of
 * mass at its begin. They make velocities v = v_free + W P, where W is the inverse mass, and those
 * make places x0 + h v, contacts and forces F. A guess is right where the residual P - h F is 0.
 * Every guess is a sum of equal and opposite impulses, so that none of them changes the momentum.
 */
#ifndef TL_STEP_IMPLICIT_H
#define TL_STEP_IMPLICIT_H

#include "narrow/multires.h"
#include "solve/penalty/penalty.h"
#include "step/step.h"

/* An impulse and its moment about the centre of mass; or forces. */
typedef struct tl_wrench {
  talus_vec3 force, torque;
} tl_wrench;

/* What a free body answers to impulses; all 0 for others. */
typedef struct tl_answer {
  tl_sym3 turn;
  talus_vec3 move; /* 1/kg along each axis: 0 where it is locked */
} tl_answer;

static inline tl_twist tl_answer_to(const tl_answer *w, const tl_wrench *p) {
  return (tl_twist){tl_vec3(w->move.x * p->force.x, w->move.y * p->force.y, w->move.z * p->force.z),
                    tl_sym3_mul_vec(w->turn, p->torque)};
}

typedef struct tl_implicit {
  const tl_backend *backend;
  const tl_crowd *crowd;
  tl_step_report *report;
  tl_crowd at_end; /* crowd with the guess as its state before */
  tl_state guess;  /* at t1 */
  /* By slot. */
  tl_answer *answers;
  tl_twist *free;              /* velocities without contacts */
  tl_wrench *impulse;          /* the guess */
  tl_twist *twists;            /* its velocities */
  talus_vec3 *velocity, *spin; /* the same, for springs */
  talus_vec3 *force, *torque;  /* of springs at the guess */
  tl_wrench *residual;         /* impulse - h force, where it can move */
  double *change;              /* of each body: the residual relative to its forces */
  tl_wrench *step;             /* what is added to the guess */
  /* Of the guess. */
  tl_arena_mark mark; /* of the arena: what lies behind it belongs to one look */
  tl_penalty_tangents tangents;
  tl_penalty_sums sums;
  double worst;        /* most of `change` */
  uint32_t worst_slot; /* who has it */
  double stiffness;    /* (h omega)^2 of who was worst in any look, from above: the most */
  int looks;
  uint8_t *careful; /* by slot, Newton: so many steps what slides is as stiff along as across */
  bool is_limited;  /* friction has the forces of penalty->limits */
  bool is_stuck;    /* it did not converge */
} tl_implicit;

/* A step as it is; *is_stuck: it failed because it did not converge. */
talus_status tl_implicit_step(const tl_backend *backend, const tl_crowd *crowd,
                              tl_step_report *report, bool *is_stuck);

/* Contacts whose impulses are a guess for those of this step: of the last step; where something was
 * changed by hand, of the state as it is; none in a first step. */
static inline const tl_contacts *tl_implicit_known(const tl_implicit *job) {
  const tl_contacts *last = job->crowd->contacts_before;
  return last->count > 0 ? job->at_end.contacts_before : last;
}

/* Whether the guess is right, with all that touches. */
static inline bool tl_implicit_is_found(const tl_implicit *job) {
  return job->worst <= job->crowd->model->implicit.tolerance &&
         !(job->at_end.multires && job->at_end.multires->widened > 0);
}

/* Velocities, places, contacts and forces of job->impulse, and how far they are from it. */
talus_status tl_implicit_look(tl_implicit *job);

/* (h omega)^2 of the body in a slot, from above (Gershgorin): its springs against its mass. */
double tl_implicit_stiffness(const tl_implicit *job, uint32_t slot);

/* The sum over bodies of an impulse times what another does to the velocities. */
double tl_implicit_product(const tl_implicit *job, const tl_wrench *one, const tl_wrench *other);

/* job->impulse += share * job->step. */
void tl_implicit_advance(tl_implicit *job, talus_real share);

/* Iterate until job->worst is within the tolerance or there were enough of them; *count: how many.
 */
talus_status tl_implicit_picard(tl_implicit *job, int *count);
talus_status tl_implicit_newton(tl_implicit *job, int *count);

/* As far along job->step as the potential of each island falls; job->impulse is where it ends.
 * Bodies of islands that did not go all the way are told in job->careful. */
talus_status tl_implicit_search(tl_implicit *job);

/* job->step: where the residual would be 0 if forces were linear; share: how small its norm becomes
 * at least. */
talus_status tl_implicit_solve(tl_implicit *job, double share);

#endif
