/* The crowd: what a stage works on, and all it sees.
 *
 * It has rows of bodies with their properties, the state before and the state after, contacts and
 * joints before and after, the interval, and an arena for scratch memory. A crowd is
 * self-contained: contacts and joints refer to its rows, which are in the order of uids. Everything
 * "before" is only read, so that a stage can be called twice, its result discarded, or run beside
 * another one.
 *
 * The world's own arrays are one crowd, without a copy (world/step.c); any other set of bodies is
 * gathered (step/gathered.h). A fixed step calls each stage once; implicit steps will call narrow
 * and solve many times with changing guesses; local stepping makes a crowd per cluster with its own
 * interval. A stage has no other notion of what is "current". */
#ifndef TL_CROWD_H
#define TL_CROWD_H

#include "crowd/model.h"

typedef struct tl_crowd {
  const tl_model *model;   /* laws, shapes and settings, and the properties of the rows */
  size_t count;            /* rows, or members where only some are asked about */
  const uint32_t *members; /* rows in ascending order; NULL: 0 ... count-1, as in all that steps */
  double t0, t1;
  double dt;          /* the step's length as the stepper means it; t1 - t0 up to rounding */
  const tl_state *in; /* at t0 */
  tl_state *out;      /* at t1; may be `in` itself where a stage says so */
  bool lends_out;     /* rows of `out` may hold scratch of a solver until bodies move */
  const struct tl_contacts *contacts_before; /* of the last step */
  struct tl_contacts *contacts_after;        /* of this one */
  /* For probes, where bodies took steps of their own (local time): where the two bodies of each
   * contact were when it was found, and what each joint gave in the interval; else NULL. */
  const struct tl_centres *centres;
  const struct tl_pull *pulls;
  const struct tl_joints *joints;      /* as the last step left them; may be NULL: none */
  struct tl_joint_state *joints_after; /* what this step makes of them, by row */
  const struct tl_pairs *bonds;        /* held together by forces of zones, for sleep; or NULL */
  bool is_shortest; /* adaptive: it cannot be shortened, so that all that may meet in it touches */
  bool stays_deep;  /* adaptive: overlap is not corrected, because correction led to an overlap */
  bool sleeps;      /* who is slow may fall asleep, and wake: in the world's own crowd alone */
  tl_arena *arena;  /* scratch */

  /* Of contacts that several solves have, as those of substeps (solve/solve.h); NULL: none. */
  const struct tl_solve_plan *plan;

  /* Bodies have moved on since contacts were found, and contacts may have yet to follow
   * (contact/ride.h: tl_ride_settle); NULL: they are where bodies are. */
  struct tl_ride *ride;

  /* Memory: caches that change time, never bits; all may be NULL. */
  struct tl_broad_cache *broad_cache; /* candidates that are kept from step to step */
  struct tl_kept_axes *kept_axes;     /* of pairs that missed (narrow/kept.h) */
  struct tl_multires *multires;       /* fronts of pairs (narrow/multires.h), or NULL */
  struct tl_narrow_counts *counts;    /* what the search cost (narrow/counts.h), or NULL */
  const struct tl_widths *widths; /* of shapes (contact/depth.h), for those who look at overlaps */
  struct tl_penalty *penalty; /* what springs keep (solve/penalty/penalty.h); NULL: other models */
  struct tl_local *local; /* of local time (step/local/local.h), for audits; NULL: other steps */
  struct tl_residency *where;   /* rows may live elsewhere (residency.h); NULL: all are here */
  struct tl_flights *flights;   /* of events (flights.h), where somebody averages them; or NULL */
  struct tl_passings *passings; /* who went through walls (contact/passing.h); NULL: nobody asks */
  size_t *swept;            /* pairs that were followed on their way (narrow/swept.h); or NULL */
  struct tl_cancel *cancel; /* asks to give up (base/cancel.h); NULL: nobody does */
} tl_crowd;

static inline uint32_t tl_crowd_slot(const tl_crowd *crowd, size_t i) {
  return crowd->members ? crowd->members[i] : (uint32_t)i;
}

/* Which member a slot is, or SIZE_MAX. */
static inline size_t tl_crowd_find(const tl_crowd *crowd, uint32_t slot) {
  if (!crowd->members)
    return slot < crowd->count ? slot : SIZE_MAX;
  size_t lo = 0, hi = crowd->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (crowd->members[middle] < slot)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < crowd->count && crowd->members[lo] == slot ? lo : SIZE_MAX;
}

/* Centres of mass of the two bodies of a contact. */
typedef struct tl_centres {
  talus_dvec3 a, b;
} tl_centres;

/* What a joint gave to its second body, N s and N m s. */
typedef struct tl_pull {
  talus_dvec3 force, torque;
  bool is_over; /* it broke, and what broke it is in the sums */
} tl_pull;

/* A candidate pair of slots. uid[a] < uid[b]. */
typedef struct tl_pair {
  uint32_t a, b;
} tl_pair;

typedef struct tl_pairs {
  tl_pair *data; /* in the crowd's arena */
  size_t count;
} tl_pairs;

#endif
