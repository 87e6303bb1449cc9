/* Penalty: bodies overlap a little, and springs push them apart (docs/theory/penalty.md).
 *
 *   laws.c      what springs between two materials are made of; the critical step
 *   share.c     the share of its law that each point of a pair gets
 *   penalty.c   forces of a set of contacts, and their sums at each body
 *
 * step/verlet.c has the order in time; step/balls/ does all of it for balls, with a kept list. */
#ifndef TL_SOLVE_PENALTY_H
#define TL_SOLVE_PENALTY_H

#include "contact/contact.h"
#include "kernels/penalty.h"
#include "solve/solve.h"

/* A spring between two materials, as far as it does not depend on the bodies. */
typedef struct tl_spring_law {
  /* In the form of tl_spring_contact (noble: multiplied by sqrt(m*)). */
  talus_real normal, tangent, damping, tangent_damping;
  talus_real friction, static_friction, rolling, spinning, cohesion;
} tl_spring_law;

/* Normal force that limits friction in an implicit step, for one contact. */
typedef struct tl_penalty_limit {
  uint32_t a, b, feature_a, feature_b;
  talus_real press; /* N */
} tl_penalty_limit;

/* Energies and powers of all contacts at one time. */
typedef struct tl_penalty_sums {
  double elastic, stored;   /* J, in normal and in tangential springs */
  double damping, friction; /* W, into dashpots; against friction and into tangential springs */
  double pressing;          /* W, into normal springs */
} tl_penalty_sums;

/* The lightest free body of a material. */
typedef struct tl_lightest {
  double mass, radius; /* kg, m; mass 0: there is none */
  bool is_uneven;      /* some free body of the material is no sphere */
} tl_lightest;

#define TL_PENALTY_HALVES 8 /* most times that an implicit step is halved */

/* State of penalty from step to step, in addition to contacts and forces. */
typedef struct tl_penalty {
  bool is_pushed; /* forces and torques of the state are those of its contacts */
  /* J stored in tangential springs, and power in W of dashpots and friction, at the end of the last
   * step. Works are sums by the trapezoidal rule. */
  double stored, damping, friction;
  double pressed; /* J in normal springs at the end of an implicit step */
  /* N/m: stiffness that 0 (auto) became in the first step; 0: not chosen yet */
  double auto_stiffness;
  /* auto_stiffness is that of another world, and nothing has changed since */
  bool is_borrowed;
  double critical; /* s: critical step of the stiffest pair; derived */
  double omega;    /* 1/s: of the collision of the stiffest pair; derived */
  /* number of bodies when laws and critical step were found; derived */
  size_t bodies;
  bool is_known;                /* laws are valid: nothing has changed since; derived */
  bool told;                    /* the warning about dt was given */
  TL_ARRAY(tl_spring_law) laws; /* of pairs of materials, as model.laws; derived */
  TL_ARRAY(tl_lightest) lightest;
  TL_ARRAY(tl_lightest) coming;      /* likewise of bodies that emitters will add; empty: none */
  TL_ARRAY(tl_penalty_limit) limits; /* of an implicit step */
  tl_contacts start;                 /* contacts at the begin of a step, if forces were not known */
  tl_contacts between[TL_PENALTY_HALVES]; /* of implicit steps that were taken in halves */
  bool is_general;                        /* for tests: balls do not take the way of step/balls/ */
  bool are_balls; /* all free bodies are balls, so steps go the way of step/balls/; derived */
} tl_penalty;

void tl_penalty_free(tl_penalty *penalty);

/* Sets p->auto_stiffness from p->lightest (a row for each material): as stiff as a step dt allows
 * with so many bodies, proportional to 1/dt^2. Unchanged if no pair of materials is `auto`. */
talus_status tl_penalty_choose(const tl_model *model, double dt, size_t bodies, tl_penalty *p);

/* Fills p->lightest: the lightest free bodies of a crowd, by material. */
talus_status tl_penalty_find_lightest(const tl_crowd *crowd, tl_penalty *p);
/* Adds a body of a material to its row of such a list. */
void tl_penalty_weigh(tl_lightest *row, const tl_lightest *body);

/* If materials or bodies may have changed, finds laws and critical step again. A step longer than
 * the critical one is an error that names a step that works; a collision with too few steps gives a
 * warning. Implicit steps have no critical step. */
talus_status tl_penalty_prepare(const tl_crowd *crowd);

/* Gap (m) up to which contacts have forces. */
static inline talus_real tl_penalty_reach(const tl_model *model) {
  return model->solve.law == TALUS_NOBLE ? (talus_real)model->solve.reach : 0;
}

/* Radius of curvature (m) that the law uses for a contact on this body; 0: flat. For a sphere its
 * own; for other bounded bodies that of a sphere of the same volume. */
talus_real tl_penalty_radius(const tl_model *model, size_t slot);

/* The share of a contact in the law of its pair. The weights of a patch that touches at all points
 * sum to 1. */
typedef struct tl_penalty_share {
  talus_real weight; /* 0 if it does not touch */
  /* N: pull on a point that is about to touch, so that sharing makes no energy */
  talus_real pull;
} tl_penalty_share;

/* Writes the shares of a set, by contact. */
void tl_penalty_share_out(const tl_crowd *crowd, const tl_contacts *contacts,
                          tl_penalty_share *shares);

/* The stiffness of the law of a pair: N/m; hertz: Pa. */
talus_real tl_penalty_stiffness(const tl_crowd *crowd, uint32_t a, uint32_t b);

/* The velocities that forces are computed with; rows are slots. */
typedef struct tl_penalty_motion {
  const talus_vec3 *velocity, *spin; /* at the middle of the step; these moved the bodies */
  const talus_vec3 *velocity_kick,
      /* change of the velocities until the end of the step: half a step with the forces before;
       * NULL: none */
      *spin_kick;
  double h; /* s: time for which springs were stretched since the last set; 0: none */
  /* velocities are those of a whole implicit step: forces act at the places that points of contact
   * had at its begin, so that angular momentum is conserved (docs/theory/implicit.md) */
  bool is_whole;
  /* friction uses the normal forces of penalty->limits, in the order of contacts, and 0 for
   * contacts without one; otherwise those of the contacts */
  bool is_limited;
} tl_penalty_motion;

/* Derivative of the force of a contact by velocities, for implicit steps. It omits the dependence
 * of friction on the normal force and the turning of the normal, so that it is symmetric and not
 * negative. */
typedef struct tl_penalty_tangent {
  talus_vec3 arm_a, arm_b;     /* m: from the centres of mass to the point */
  talus_vec3 lever_a, lever_b; /* m: from the centres of mass to where the force acts */
  talus_vec3 normal, along;    /* unit; along: direction of sliding if it slides */
  talus_real press, hold;      /* N s/m: h S + c along the normal and across it */
  talus_real slide;            /* N s/m: along `along`, if it slides; less than `hold` */
  talus_real turn;             /* N m s: against relative rotation */
  talus_real pushed;           /* N: normal force without cohesion */
  /* N, N m: magnitudes of its force and torque, to judge what is negligible */
  talus_real force, torque;
} tl_penalty_tangent;

/* Derivatives of all contacts, with the list of each body's contacts; in the crowd's arena. */
typedef struct tl_penalty_tangents {
  tl_penalty_tangent *rows;
  const uint32_t *start; /* by body: its first entry, and one more */
  const uint32_t *entry; /* 2 contact + 1 if the body is b, + 0 if it is a */
} tl_penalty_tangents;

/* Computes the forces of the contacts of crowd->in at their poses. Writes them times crowd->dt into
 * their impulses, stretches their springs, and sums them by body into spring_force and
 * spring_torque (by slot), with their energies in *sums. tangents: derivatives, which stay in the
 * arena; NULL: none. Steps call it through the backend. */
talus_status tl_penalty_find_forces(const tl_crowd *crowd, const tl_penalty_motion *motion,
                                    tl_contacts *contacts, talus_vec3 *spring_force,
                                    talus_vec3 *spring_torque, tl_penalty_sums *sums,
                                    tl_penalty_tangents *tangents);

/* Adds works of a step to the report, from the powers at its two ends. moved: false if forces were
 * found without a step. */
void tl_penalty_keep_ledger(const tl_crowd *crowd, bool moved, const tl_penalty_sums *now,
                            tl_solve_report *report);

#endif
