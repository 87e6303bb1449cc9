/* Solve: contacts -> impulses. */
#ifndef TL_SOLVE_SOLVE_H
#define TL_SOLVE_SOLVE_H

#include "contact/contact.h"

typedef struct tl_solve_report {
  double residual_max, residual_rms; /* m/s, of the velocities handed over */
  int iterations;
  double objective;               /* J: of the impulses; what `ccp` friction minimises */
  double contact_work, load_work; /* J: by contacts and by constant loads on free bodies */
  double joint_work;              /* J: by joints, their springs included */
  double rise; /* J: most that the objective rose in a step of apgd after a restart, where it has no
                  momentum: rounding; 0 with `ncp`, which has none */
  int restarts;                       /* times jacobi diverged and began anew with a shorter step */
  double elastic;                     /* J stored in springs at the end of the step (penalty) */
  double damping_work, friction_work; /* J that dashpots and sliding took in the step (penalty) */
  int inner;                          /* iterations of an implicit step */
  double force_change; /* and the largest relative change of a body's force at their end */
  double step_loss;    /* J that the implicit step took by itself */
  double made_energy;  /* J that contacts made, which they must not: beyond rounding */
  int corrected;       /* islands whose impulses were cut so that they make none */
  int unconverged;     /* islands that are farther from their solution than a step of free fall, and
                          than a hundredth of their fastest approach */
  double worst_residual; /* m/s, RMS: of the worst of them */
  uint32_t worst;        /* slot of the body in it that is worst off */
  uint64_t collisions;   /* elastic */
  double virial;         /* J: impulses times distances of centres, of pairs that collided */
  size_t outside;        /* bodies whose centre is behind a wall */
} tl_solve_report;

/* Velocities as a solver left them: a row per member of the crowd, `stride` bytes apart, because
 * they stay where the solver worked on them (its body buffer, in the arena); or set aside in rows
 * of crowd->out, where shifts took their place. */
typedef struct tl_twist {
  talus_vec3 velocity, spin;
} tl_twist;

typedef struct tl_twists {
  const void *first;
  size_t stride;
  size_t spin;         /* bytes from a velocity to the spin of the body; 0: right behind it */
  const uint32_t *row; /* of each member; NULL: the same number */
  const void *shift;   /* laid out likewise: what moves bodies in this step beside their velocity,
                          and does not stay with it (position correction); NULL: nothing */
  const talus_vec3 *velocities, *spins; /* by member, set aside; NULL: from `first` on */
} tl_twists;

/* Where the row of a member is. */
static inline const unsigned char *tl_twist_place(tl_twists twists, size_t member) {
  const size_t row = twists.row ? twists.row[member] : member;
  return (const unsigned char *)twists.first + row * twists.stride;
}

static inline tl_twist tl_twist_of(tl_twists twists, size_t member) {
  if (twists.velocities)
    return (tl_twist){twists.velocities[member], twists.spins[member]};
  const unsigned char *at = tl_twist_place(twists, member);
  return (tl_twist){*(const talus_vec3 *)at,
                    *(const talus_vec3 *)(at + (twists.spin ? twists.spin : sizeof(talus_vec3)))};
}

static inline tl_twist tl_shift_of(tl_twists twists, size_t member) {
  if (!twists.shift)
    return (tl_twist){{0, 0, 0}, {0, 0, 0}};
  twists.first = twists.shift;
  twists.velocities = NULL;
  return tl_twist_of(twists, member);
}

/* By the contact model that the model names: the entry of the backend. Penalty is not among them:
 * its forces are evaluated between drifts and kicks (step/verlet.c). */
talus_status tl_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                      tl_solve_report *report);

/* What a solver finds of contacts and places alone: the order of bodies, islands, colours, packs.
 * In the arena; for crowd->plan of solves that have the same contacts between the same bodies,
 * asleep or awake, wherever these have moved to. NULL where each solve does it by itself: with
 * joints, which may break. */
struct tl_solve_plan;
talus_status tl_solve_make_plan(const tl_crowd *crowd, tl_contacts *contacts,
                                const struct tl_solve_plan **plan);

/* Whether solves by this plan take contacts to where bodies are by themselves, from crowd->ride. */
bool tl_solve_plan_rides(const struct tl_solve_plan *plan);
talus_status tl_ccp_make_plan(const tl_crowd *crowd, tl_contacts *contacts,
                              const struct tl_solve_plan **plan);

/* Velocities at t1 for every free member of the crowd, from those at t0, loads, gravity and
 * contacts, by cone complementarity (docs/theory/ccp.md). Reads contacts' impulses as the start and
 * leaves the solution in them. Moves no body: the stepper checks the result first. Rows of
 * crowd->out are scratch, where it lends them (crowd.h), and else not written. Rows of members that
 * contacts cannot move are undefined. */
talus_status tl_ccp_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                          tl_solve_report *report);

/* The same by sequential impulses (docs/theory/impulse.md). */
talus_status tl_impulse_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                              tl_solve_report *report);

/* The same for hard spheres by distance (docs/theory/hard-spheres.md), which have no joints. */
talus_status tl_elastic_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                              tl_solve_report *report);

#endif
