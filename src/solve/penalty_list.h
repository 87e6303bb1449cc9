/* Forces of balls on balls over a kept list of neighbours.
 *
 * The list (made in step/verlet_list.c) stands in the order of a space-filling curve and is good
 * until some ball has moved by half the skin. What a spring remembers stays in its place in the
 * list. In a step each candidate is looked at once; those that overlap are worked on eight at a
 * time, and leave their effect where both balls find it.
 *
 * Nothing that counts depends on the list: candidates that do not overlap leave no trace, and each
 * ball adds up its contacts in canonical order. So a renewal changes no bit, nor does a restart. */
#ifndef TL_SOLVE_PENALTY_LIST_H
#define TL_SOLVE_PENALTY_LIST_H

#include "contact/contact.h"
#include "kernels/penalty.h"

/* A spring between two materials: what does not depend on the bodies. */
typedef struct tl_spring_law {
  /* As tl_spring_touch wants them (noble: times sqrt(m*)). */
  talus_real normal, tangent, damping, tangent_damping;
  talus_real friction, static_friction, rolling, spinning, cohesion;
} tl_spring_law;

/* What contacts hold and take at one time. */
typedef struct tl_penalty_sums {
  double elastic, stored;   /* J, in normal and in tangential springs */
  double damping, friction; /* W, into dashpots; against friction and into tangential springs */
} tl_penalty_sums;

#define TL_BALL_LANES 8
#define TL_BALL_BLOCK ((size_t)128) /* balls whose candidates one thread takes */

/* Where a ball is at the end of the step: what every candidate needs. */
typedef struct tl_ball_place {
  double x, y, z, radius;
} tl_ball_place;

/* What a contact needs: tl_spring_ball, and what else fits the two cache lines. */
typedef struct tl_ball {
  talus_real v[3], w[3], radius, inv_mass; /* 0: static */
  talus_real lead[3], swing[3], inv_inertia, material;
} tl_ball;

typedef struct tl_ball_spring {
  talus_real slip[3], stiffness;
} tl_ball_spring;

/* On b, and its opposite on a; turn: n x force, times an arm the torque on each, reversed. */
typedef struct tl_ball_effect {
  talus_real force[3], turn[3], half_overlap, slides;
} tl_ball_effect;

/* J, J, W, W: as tl_spring_pushed has them; each effect's. */
enum { TL_BALL_ELASTIC, TL_BALL_STORED, TL_BALL_DAMPING, TL_BALL_FRICTION, TL_BALL_ENERGIES };

typedef struct tl_ball_energy {
  talus_real of[TL_BALL_ENERGIES];
} tl_ball_energy;

/* The state of eight balls that follow upon each other, as the world's arrays have it: the lanes of
 * a vector. */
typedef struct tl_ball_rows {
  double x[3][TL_BALL_LANES];
  talus_real q[4][TL_BALL_LANES]; /* w x y z */
  talus_real v[3][TL_BALL_LANES], w[3][TL_BALL_LANES];
  talus_real push[3][TL_BALL_LANES], twist[3][TL_BALL_LANES];
} tl_ball_rows;

/* What of eight balls does not change before the list does. */
typedef struct tl_ball_kept {
  double from[3][TL_BALL_LANES]; /* where it was when the list was made */
  talus_real radius[TL_BALL_LANES];
  talus_real inv_mass[TL_BALL_LANES], inv_inertia[TL_BALL_LANES]; /* 0: static, or nobody */
} tl_ball_kept;

/* Balls are by rank, candidates by rank of a and then by slot of b; slot of a < slot of b. */
typedef struct tl_ball_list {
  bool is_valid;  /* candidates and springs are those of the world; otherwise its contacts are */
  bool is_ahead;  /* the state is in `now`, and not yet in the world's arrays (tl_balls_commit) */
  bool is_stored; /* the world's contacts are those of the list */
  double skin;
  size_t count, blocks;
  TL_ARRAY(uint32_t) rank, slot;    /* by slot; by rank */
  TL_ARRAY(tl_ball_rows) now, next; /* at t0, and under way to t1; by rank / 8, as kept */
  TL_ARRAY(tl_ball_kept) kept;
  TL_ARRAY(tl_ball_place) place;
  TL_ARRAY(tl_ball) ball;
  TL_ARRAY(uint32_t) start; /* of a ball's candidates; one more than balls */
  TL_ARRAY(uint32_t) owner; /* rank of a */
  TL_ARRAY(uint32_t) other; /* rank of b */
  TL_ARRAY(uint32_t) at;    /* effect of the candidate; 0, which is none: they do not touch */
  TL_ARRAY(tl_ball_spring) spring;
  TL_ARRAY(uint32_t) in_start, in; /* candidates in which a ball is b, by slot of a */
  TL_ARRAY(uint32_t) canonical;    /* candidates by slots of a and b */
  TL_ARRAY(uint32_t) block_start;  /* first effect of a block of balls: a multiple of lanes */
  TL_ARRAY(tl_ball_effect) effect;
  TL_ARRAY(tl_ball_energy) energy; /* by effect */
  TL_ARRAY(tl_pair) walls;         /* of a ball and something else that are near */
  TL_ARRAY(uint32_t) wall_balls;   /* slots of those balls, ascending */
  TL_ARRAY(uint8_t) has_wall;      /* by rank */
  tl_contacts wall_contacts;
  tl_penalty_sums wall_sums;
  talus_broad_kind broad; /* with which it was made */
  const char *broad_reason;
  uint64_t renewals;
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
  talus_real h;
} tl_ball_job;

/* Forces of blocks of balls: effects, energies, springs. */
void tl_ball_push_blocks(void *job, size_t begin, size_t end);

void tl_ball_push_block_avx512(const tl_ball_job *job, size_t block);
bool tl_ball_has_avx512(void);
/* For tests: the scalar code in any case. */
void tl_ball_use_scalar(bool scalar);
/* Whether lanes are to be used: they are there, and not forbidden. */
bool tl_ball_uses_lanes(void);

#endif
