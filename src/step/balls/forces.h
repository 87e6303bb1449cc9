/* Forces of balls on balls and on flat walls over a kept list of neighbours.
 *
 * The list (made in step/balls/list.c) is in the order of a space-filling curve and is valid until
 * some ball has moved by its skin. The state of a spring stays at its place in the list. A step
 * tests each candidate once; those that overlap are computed eight at a time, and their force is
 * stored where both balls find it.
 *
 * A candidate belongs to the ball that comes first in the list. So once a block of balls and all
 * blocks before it are done, all forces on its balls are known, and no later contact needs these
 * balls: step/balls/balls.c sums their forces, kicks and moves them while they are in the cache.
 *
 * A flat wall (a plane, a wall of a container) is represented by a ball without curvature that
 * mirrors the one near it, a candidate like any other: step/balls/flat.c.
 *
 * The results do not depend on the list: candidates that do not overlap have no effect, each ball
 * sums its contacts in canonical order, and exchanging the balls of a contact only changes signs in
 * its arithmetic. So neither a renewal of the list nor a restart changes a bit. */
#ifndef TL_STEP_BALLS_FORCES_H
#define TL_STEP_BALLS_FORCES_H

#include "base/tally.h"
#include "kernels/collide.h"
#include "solve/penalty/penalty.h"

#define TL_BALL_LANES 8
#define TL_BALL_FOUR  4u            /* effects that a ball adds up at a time */
#define TL_BALL_BLOCK ((size_t)128) /* balls whose candidates one thread takes */

/* Where a ball is at the end of the step: what every candidate needs. */
typedef struct tl_ball_place {
  double x, y, z, radius;
} tl_ball_place;

/* What a contact needs, in two cache lines: velocities and forces at the beginning of the step,
 * from which the velocities in its middle follow (tl_spring_ball). They are the ball's state as
 * well: a step writes no other copy of them. */
typedef struct tl_ball {
  talus_real v[3], w[3], radius, inv_mass;      /* 0: static */
  talus_real spring_force[3], spring_torque[3]; /* with constant loads, where there are any */
  talus_real curvature, inv_inertia;            /* 1/m; 0: flat */
} tl_ball;

typedef struct tl_ball_spring {
  talus_real slip[3], stiffness;
} tl_ball_spring;

/* On b, and its opposite on a; turn: n x force, times an arm the torque on each, reversed. */
typedef struct tl_ball_effect {
  talus_real force[3], turn[3], half_overlap, slides;
} tl_ball_effect;

/* What is added up over all contacts (as tl_spring_pushed has it: J, J, W, W) and balls (J: the
 * work of contacts and of loads in the step, and that of contacts in the first kick of the next
 * one). */
enum {
  TL_BALL_ELASTIC,
  TL_BALL_STORED,
  TL_BALL_DAMPING,
  TL_BALL_FRICTION,
  TL_BALL_ENERGIES,
  TL_BALL_CONTACT_WORK = TL_BALL_ENERGIES,
  TL_BALL_LOAD_WORK,
  TL_BALL_FIRST_WORK,
  TL_BALL_SUMS
};

/* Sums of a worker: the same in any order (base/tally.h), so that it does not matter which contacts
 * it had. */
typedef struct tl_ball_sums {
  tl_tally of[TL_BALL_SUMS];
  talus_real deepest; /* m: the largest overlap */
  double share;       /* the largest overlap over the smaller radius */
  size_t contacts;    /* that were visited */
  bool has_crossed;   /* some ball's centre went through a side of a container */
} tl_ball_sums;

/* A little less than the largest share so far: whoever is below need not be divided. So the share
 * is that of the largest quotient, in whatever order contacts come. */
#define TL_BALL_NEARLY TL_R(0.9999)

static inline void tl_ball_note_overlap(tl_ball_sums *sums, talus_real overlap, talus_real radius) {
  const double share = (double)overlap / (double)radius;
  if (overlap > sums->deepest)
    sums->deepest = overlap;
  if (share > sums->share)
    sums->share = share;
}

/* What of the state of eight balls that follow upon each other is not in tl_ball: the lanes of a
 * vector. */
typedef struct tl_ball_rows {
  double x[3][TL_BALL_LANES];
  talus_real q[4][TL_BALL_LANES]; /* w x y z */
} tl_ball_rows;

/* Forces of contacts alone, where there are constant loads. */
typedef struct tl_ball_pure {
  talus_real spring_force[3], spring_torque[3];
} tl_ball_pure;

/* What of eight balls does not change before the list does. */
typedef struct tl_ball_kept {
  double from[3][TL_BALL_LANES]; /* where it was when the list was made */
  double limit[TL_BALL_LANES];   /* m^2: of its way from there, squared */
} tl_ball_kept;

/* A fixed body whose sides are flat, as balls see it. */
typedef struct tl_flat_body {
  bool is_plane;
  uint32_t slot, open; /* walls that are missing */
  tl_frame frame;
  talus_dvec3 position, half; /* of a container: m */
  talus_dvec3 normal;         /* of a plane, out of the matter */
  double offset;              /* of its surface along the normal */
} tl_flat_body;

/* A ball and one flat side that are near. */
typedef struct tl_ball_wall {
  uint32_t ball, flat_body, side; /* rank; number; the feature of the contact */
} tl_ball_wall;

/* Two slots that are near, a < b; by a, b, wall. */
typedef struct tl_ball_near {
  uint32_t a, b, wall; /* number of the wall; TL_NONE: both are balls */
} tl_ball_near;

/* Balls are by rank, mirrors of walls behind them; candidates by the lower rank. */
typedef struct tl_ball_list {
  bool cannot_overflow;     /* every speed is far below what a number can hold, also after a step */
  double smallest, largest; /* m: radius, of all that move; 0 where nothing does */
  double lightest;          /* kg: mass, likewise */
  bool has_loads;           /* constant forces: those of contacts alone are in `pure` */
  TL_ARRAY(talus_real) skin;  /* m, by slot: how far it may come before the list is renewed */
  TL_ARRAY(uint32_t) leapers; /* slots of balls that may leap over a wall in one step */
  size_t count, blocks;
  TL_ARRAY(uint32_t) rank, slot; /* by slot; by rank */
  TL_ARRAY(tl_ball_rows) rows;   /* by rank / 8, as kept */
  TL_ARRAY(tl_ball_kept) kept;
  TL_ARRAY(tl_ball_place) place; /* by rank, as what follows */
  TL_ARRAY(tl_ball) ball;
  TL_ARRAY(uint32_t) material;
  TL_ARRAY(tl_ball_pure) pure;
  tl_tally first_work; /* J: what contacts do in the first kick of the step */
  bool is_started;     /* place and first_work are those of the next step already */
  bool has_left;       /* and some ball then leaves its place in the list */
  double started_dt;   /* with which, and with which gravity */
  talus_vec3 started_gravity;
  TL_ARRAY(uint32_t) start; /* of a ball's candidates; one more than balls */
  TL_ARRAY(uint32_t) owner; /* the lower rank */
  TL_ARRAY(uint32_t) other; /* the higher one */
  TL_ARRAY(uint32_t)
  at; /* effect of the candidate; 0, which is none: they do not touch. One
         more than candidates, which is nobody's */
  TL_ARRAY(tl_ball_spring) spring; /* other against owner */
  TL_ARRAY(tl_ball_near) near;     /* canonical */
  TL_ARRAY(uint32_t) canonical;    /* candidate of each */
  /* What a ball adds up: 2 * candidate, + 1 where it is `other`. First its partners of lower slots,
   * by slot, then walls, then partners of higher slots; and nobody's candidate until there are four
   * times as many as something, so that they can be taken by fours. */
  TL_ARRAY(uint32_t) entry, entry_start;
  TL_ARRAY(uint32_t) first_owner; /* by eights: lowest rank of those whose candidates they are in */
  TL_ARRAY(uint8_t) waits;        /* by eights: until blocks before are done */
  TL_ARRAY(tl_flat_body) flat_bodies;
  TL_ARRAY(tl_ball_wall) flats;   /* by rank of the ball: mirror `count` + number */
  TL_ARRAY(uint32_t) block_flats; /* first of a block; one more than blocks */
  TL_ARRAY(uint32_t) block_start; /* first effect of a block of balls: a multiple of lanes */
  TL_ARRAY(tl_ball_effect) effect;
  TL_ARRAY(tl_pair) walls;       /* of a ball and something that is not flat, near each other */
  TL_ARRAY(uint32_t) wall_balls; /* slots of those balls, ascending */
  TL_ARRAY(uint8_t) has_wall;    /* by rank */
  tl_contacts wall_contacts, wall_before; /* of this step and of the last one */
  tl_penalty_sums wall_sums;
  talus_broad_kind broad; /* with which it was made */
  const char *broad_reason;
  uint64_t renewals;
  size_t scratch; /* bytes of the arena that a step with a renewal took, the last one */
} tl_ball_list;

void tl_ball_list_free(tl_ball_list *list);

/* Contacts that wait until there are many, so that their balls have come from memory by then. They
 * are worked on by eights; lanes beyond the count repeat another. */
#define TL_BALL_PACK (128 + TL_BALL_LANES)
typedef struct tl_ball_pack {
  uint32_t a[TL_BALL_PACK], b[TL_BALL_PACK], candidate[TL_BALL_PACK];
  talus_real dx[TL_BALL_PACK], dy[TL_BALL_PACK], dz[TL_BALL_PACK];
  talus_real is_old[TL_BALL_PACK]; /* 1: its spring counts; 0: it begins */
  uint32_t count, effect;          /* effects from there on */
} tl_ball_pack;

typedef struct tl_ball_job {
  tl_ball_list *list;
  const tl_spring_law *laws;
  size_t materials;
  bool is_hertz;
  talus_real h;    /* s: of the step; 0: nothing moves */
  talus_real half; /* half of it */
  talus_vec3 gravity;
} tl_ball_job;

/* What half a step of a ball's forces changes its velocity and spin by; a static one's not. */
static inline void tl_ball_kick(const tl_ball_job *job, const tl_ball *ball,
                                talus_vec3 *velocity_kick, talus_vec3 *spin_kick) {
  const talus_real half = ball->inv_mass > 0 ? job->half : 0;
  const talus_vec3 spring_force = {ball->spring_force[0], ball->spring_force[1],
                                   ball->spring_force[2]};
  const talus_vec3 spring_torque = {ball->spring_torque[0], ball->spring_torque[1],
                                    ball->spring_torque[2]};
  *velocity_kick = tl_scale(tl_madd(job->gravity, ball->inv_mass, spring_force), half);
  *spin_kick = tl_scale(spring_torque, half * ball->inv_inertia);
}

/* Forces of the candidates of a block of balls: effects, springs, sums of energies. */
void tl_ball_push_block(const tl_ball_job *job, size_t block, tl_ball_sums *sums);

/* Whether a ball meets the wall in the list. Not where the sides of a container share cohesion. */
bool tl_ball_is_flat(const tl_model *model, uint32_t ball, uint32_t wall);
tl_flat_body tl_flat_body_make(const tl_model *model, const tl_state *state, uint32_t slot);
/* Where a ball of radius r (m) at x is above a side: distance of its centre, and the unit
 * vector from the side to it. False: it cannot touch that side. */
bool tl_ball_above_side(const tl_flat_body *flat_body, uint32_t side, double r, talus_dvec3 x,
                        double *distance, talus_dvec3 *away);
uint32_t tl_ball_sides(const tl_flat_body *flat_body);
/* Whether it can touch the side anywhere within a way of `way` m from x. */
bool tl_ball_may_touch(const tl_flat_body *flat_body, uint32_t side, double r, talus_dvec3 x,
                       double way);
/* Puts the mirrors of a block's balls to where they belong now. */
void tl_ball_mirror_block(tl_ball_list *list, size_t block, tl_ball_sums *sums);

/* Two balls in one place are pushed apart along z, the one of the higher slot upwards: so small a
 * way that its square is zero says to the kernel which one that is. */
#define TL_BALL_SAME_PLACE (TALUS_SINGLE ? 1e-40 : 1e-300) /* m^2 */
static inline talus_real tl_ball_tiny_way(const tl_ball_list *list, uint32_t owner,
                                          uint32_t other) {
  const talus_real way = TALUS_SINGLE ? TL_R(1e-37) : TL_R(1e-300);
  return list->slot.data[owner] < list->slot.data[other] ? way : -way;
}

/* The same in lanes, with the same bits. */
typedef void tl_ball_push_fn(const tl_ball_job *job, size_t block, tl_ball_sums *sums);
tl_ball_push_fn tl_ball_push_block_generic, tl_ball_push_block_avx2, tl_ball_push_block_avx512;
/* For tests: the scalar code in any case. */
void tl_ball_use_scalar(bool scalar);
/* Whether kicks and drifts go in lanes: they are not forbidden. */
bool tl_ball_uses_lanes(void);

#endif
