/* Solve: contacts -> impulses. */
#ifndef TL_SOLVE_SOLVE_H
#define TL_SOLVE_SOLVE_H

#include "contact/contact.h"

typedef struct tl_solve_report {
  double residual_max, residual_rms; /* m/s, of the final velocities */
  int iterations;
  double objective;               /* J: of the impulses; `ccp` friction minimises it */
  double contact_work, load_work; /* J: by contacts and by constant loads on free bodies */
  double joint_work;              /* J: by joints, their springs included */
  /* J: largest rise of the objective in a step of apgd after a restart, where it has no momentum:
   * rounding; 0 with `ncp`, which has no objective */
  double rise;
  /* times that jacobi diverged and began again with a shorter step */
  int restarts;
  double elastic;                     /* J stored in springs at the end of the step (penalty) */
  double damping_work, friction_work; /* J that dashpots and sliding took in the step (penalty) */
  int inner;                          /* iterations of an implicit step */
  double force_change;                /* largest relative change of a body's force at their end */
  double step_loss;                   /* J lost to the implicit step itself */
  double made_energy; /* J beyond rounding that contacts made; they must not make any */
  int corrected;      /* islands whose impulses were reduced so that they make none */
  /* islands whose residual is above the speed of free fall in a step, and above a hundredth of
   * their fastest approach */
  int unconverged;
  double worst_residual; /* m/s, RMS: residual of the worst of them */
  uint32_t worst;        /* slot of the body with the largest residual in it */
  uint64_t collisions;   /* elastic */
  double virial;         /* J: sum of impulse times distance of centres over pairs that collided */
  size_t outside;        /* bodies whose centre is behind a wall */
} tl_solve_report;

/* Velocities as a solver left them: a row per member of the crowd, `stride` bytes apart, in the
 * solver's own body buffer (in the arena); or, if shifts took their place there, copies in rows of
 * crowd->out. */
typedef struct tl_twist {
  talus_vec3 velocity, spin;
} tl_twist;

typedef struct tl_twists {
  const void *first;
  size_t stride;
  size_t spin;         /* bytes from a velocity to the spin of the body; 0: right behind it */
  const uint32_t *row; /* by member: its row; NULL: the same number */
  /* in the same layout: velocities that move bodies in this step only (position correction); NULL:
   * none */
  const void *shift;
  const talus_vec3 *velocities, *spins; /* by member: copies; NULL: velocities begin at `first` */
} tl_twists;

/* Address of the row of a member. */
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

/* Solves with the contact model of the model; an entry of the backend. Penalty has no entry: its
 * forces are evaluated between drifts and kicks (step/verlet.c). */
talus_status tl_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                      tl_solve_report *report);

/* What a solver finds from contacts and places alone: order of bodies, islands, colours, packs. It
 * is in the arena, for crowd->plan of later solves with the same contacts between the same bodies,
 * asleep or awake, wherever these have moved. NULL if each solve must plan by itself: with joints,
 * which may break. */
struct tl_solve_plan;
talus_status tl_solve_make_plan(const tl_crowd *crowd, tl_contacts *contacts,
                                const struct tl_solve_plan **plan);

/* Whether solves by this plan take contacts to where bodies are by themselves, from crowd->ride. */
bool tl_solve_plan_rides(const struct tl_solve_plan *plan);
talus_status tl_ccp_make_plan(const tl_crowd *crowd, tl_contacts *contacts,
                              const struct tl_solve_plan **plan);

/* Finds velocities at t1 for every free member of the crowd by cone complementarity
 * (docs/theory/ccp.md), from velocities at t0, loads, gravity and contacts. Contacts hold the
 * starting impulses before and the solution after. Bodies do not move: the stepper checks the
 * result first. Rows of crowd->out are used as scratch if they are lent (crowd.h), and not written
 * otherwise. Rows of members that contacts cannot move are undefined. */
talus_status tl_ccp_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                          tl_solve_report *report);

/* Like tl_ccp_solve, by sequential impulses (docs/theory/impulse.md). */
talus_status tl_impulse_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                              tl_solve_report *report);

/* Like tl_ccp_solve, for hard spheres by distance (docs/theory/hard-spheres.md); they have no
 * joints. */
talus_status tl_elastic_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                              tl_solve_report *report);

#endif
