/* Penalty: bodies overlap a little, and springs push them apart (docs/theory/penalty.md).
 *
 *   laws.c      what springs between two materials are made of; the critical step
 *   share.c     what each point of a pair has of its law
 *   penalty.c   forces of a set of contacts, and what they come to at each body
 *
 * step/verlet.c has the order in time, step/balls/ all of it for balls over a kept list. */
#ifndef TL_SOLVE_PENALTY_H
#define TL_SOLVE_PENALTY_H

#include "contact/contact.h"
#include "kernels/penalty.h"
#include "solve/solve.h"

/* A spring between two materials: what does not depend on the bodies. */
typedef struct tl_spring_law {
  /* As tl_spring_contact wants them (noble: times sqrt(m*)). */
  talus_real normal, tangent, damping, tangent_damping;
  talus_real friction, static_friction, rolling, spinning, cohesion;
} tl_spring_law;

/* The normal force that friction is given in an implicit step, by contact. */
typedef struct tl_penalty_limit {
  uint32_t a, b, feature_a, feature_b;
  talus_real press; /* N */
} tl_penalty_limit;

/* What contacts hold and take at one time. */
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

#define TL_PENALTY_HALVES 8 /* times that an implicit step is halved, at most */

/* What penalty keeps from step to step beside contacts and forces. */
typedef struct tl_penalty {
  bool is_pushed; /* forces and torques of the state are those of its contacts */
  /* J stored in tangential springs and W that dashpots and friction took at the end of the last
   * step: works are sums by the trapezoidal rule, as kicks are. */
  double stored, damping, friction;
  double pressed;               /* J in normal springs at the end of an implicit step */
  double auto_stiffness;        /* N/m: what stiffness 0 became in the first step; 0: not yet */
  bool is_borrowed;             /* that is of another world, and nothing has changed since */
  double critical;              /* s: critical step of the stiffest pair; derived */
  double omega;                 /* 1/s: of a bounce of the stiffest pair; derived */
  size_t bodies;                /* for which laws and critical step were looked at; derived */
  bool is_known;                /* and nothing has changed since; derived */
  bool told;                    /* the warning about the step */
  TL_ARRAY(tl_spring_law) laws; /* of pairs of materials, as model.laws; derived */
  TL_ARRAY(tl_lightest) lightest;
  TL_ARRAY(tl_lightest) coming;      /* likewise of what emitters will add; empty: nothing */
  TL_ARRAY(tl_penalty_limit) limits; /* of an implicit step */
  tl_contacts start; /* of the state that a step begins with, where forces were not known */
  tl_contacts between[TL_PENALTY_HALVES]; /* of implicit steps that were taken in halves */
  bool is_general;   /* for tests: balls are not taken for balls */
  bool are_balls;    /* all that moves: it goes the way of step/balls/; derived */
} tl_penalty;

void tl_penalty_free(tl_penalty *penalty);

/* p->auto_stiffness from p->lightest, a row for each material: as stiff as a step of dt allows
 * where there are so many bodies. It goes with 1/dt^2. Unchanged where no pair of materials takes
 * it. */
talus_status tl_penalty_choose(const tl_model *model, double dt, size_t bodies, tl_penalty *p);

/* p->lightest: the lightest free bodies of a crowd, by material. */
talus_status tl_penalty_find_lightest(const tl_crowd *crowd, tl_penalty *p);
/* One more body of a material, in a row of such a list. */
void tl_penalty_weigh(tl_lightest *row, const tl_lightest *body);

/* Looks at materials and bodies where they may have changed: laws, and the critical step, which is
 * an error (with the step that would do) where it is below that of the crowd, and a warning where
 * a collision has too few steps. Implicit steps have no critical one. */
talus_status tl_penalty_prepare(const tl_crowd *crowd);

/* How far bodies feel each other before they touch, m. */
static inline talus_real tl_penalty_reach(const tl_model *model) {
  return model->solve.law == TALUS_NOBLE ? (talus_real)model->solve.reach : 0;
}

/* Radius of curvature that a contact on the body is given, m; 0: flat. A sphere's own, that of the
 * sphere of the same volume for other bounded bodies. */
talus_real tl_penalty_radius(const tl_model *model, size_t slot);

/* Of a contact: its share of the law of its pair. Those of a patch that touch all over sum to 1. */
typedef struct tl_penalty_share {
  talus_real weight; /* 0 where it does not touch */
  talus_real pull;   /* N: of one that is about to touch, so that sharing makes no energy */
} tl_penalty_share;

/* Those of a set, by contact. */
void tl_penalty_share_out(const tl_crowd *crowd, const tl_contacts *contacts,
                          tl_penalty_share *shares);

/* What the law of a pair multiplies overlaps with: N/m; hertz: Pa. */
talus_real tl_penalty_stiffness(const tl_crowd *crowd, uint32_t a, uint32_t b);

/* Velocities that forces are found with: rows are slots. */
typedef struct tl_penalty_motion {
  const talus_vec3 *velocity, *spin; /* in the middle of the step: what moved the bodies */
  const talus_vec3 *velocity_kick,
      *spin_kick;  /* what they are changed by until the end of it, as far as known:
         half a step with the forces before; NULL: nothing */
  double h;        /* s: how long contacts were stretched since the last set; 0: not at all */
  bool is_whole;   /* the velocities are those of a whole implicit step: forces act where the points
                      of contact were at its begin, so that angular momentum stays what it was
                      (docs/theory/implicit.md) */
  bool is_limited; /* friction has the normal forces of penalty->limits, in the order of contacts,
                      and none where they lack one; otherwise those of the contacts */
} tl_penalty_motion;

/* How the force of a contact answers to the velocities, for implicit steps: its derivative without
 * what friction owes to the normal force and without the turning of the normal, so that it is
 * symmetric and never negative. */
typedef struct tl_penalty_tangent {
  talus_vec3 arm_a, arm_b;     /* m: from the centres of mass to the point, */
  talus_vec3 lever_a, lever_b; /* and to where the force acts */
  talus_vec3 normal, along;    /* unit; where it slides: the direction of the stretch */
  talus_real press, hold;      /* N s/m: h S + c along the normal and across it */
  talus_real slide;            /* and along `along`, less than `hold` */
  talus_real turn;             /* N m s: against turning relative to each other */
  talus_real pushed;           /* N: normal force without cohesion */
  talus_real force, torque;    /* N, N m: sizes of what it does, for what is small beside them */
} tl_penalty_tangent;

/* Of all contacts, with the list of each body's; in the crowd's arena. */
typedef struct tl_penalty_tangents {
  tl_penalty_tangent *rows;
  const uint32_t *start; /* of each body's entries; one more than bodies */
  const uint32_t *entry; /* contact number; the lowest bit: it is b there */
} tl_penalty_tangents;

/* Forces of the contacts of crowd->in (places) into their impulses (times crowd->dt) and springs,
 * and their sums at each body into spring_force and spring_torque (by slot); energies into the
 * report. */
talus_status tl_penalty_push(const tl_crowd *crowd, const tl_penalty_motion *motion,
                             tl_contacts *contacts, talus_vec3 *spring_force,
                             talus_vec3 *spring_torque, tl_solve_report *report);

/* The same, with the energies in *sums instead. */
talus_status tl_penalty_add_up(const tl_crowd *crowd, const tl_penalty_motion *motion,
                               tl_contacts *contacts, talus_vec3 *spring_force,
                               talus_vec3 *spring_torque, tl_penalty_sums *sums);

/* The same, with tangents, which stay in the arena. */
talus_status tl_penalty_look(const tl_crowd *crowd, const tl_penalty_motion *motion,
                             tl_contacts *contacts, talus_vec3 *spring_force,
                             talus_vec3 *spring_torque, tl_penalty_sums *sums,
                             tl_penalty_tangents *tangents);

/* Works of a step from the powers at its two ends; moved: false where forces were found without a
 * step. */
void tl_penalty_keep_ledger(const tl_crowd *crowd, bool moved, const tl_penalty_sums *now,
                            tl_solve_report *report);

#endif
