/* The scope: which bodies a stage works on, over which time, from which state to which state.
 *
 * A fixed step makes one scope of everything and calls each stage once; an implicit step calls
 * narrow and solve many times on one scope with changing guesses; local stepping makes a scope per
 * cluster with its own interval. Nothing else tells a stage what is "current". */
#ifndef TL_SCOPE_H
#define TL_SCOPE_H

#include "crowd/model.h"

typedef struct tl_scope {
  const uint32_t *members; /* slots in ascending order; NULL: slots 0 ... count-1 */
  size_t count;
  double t0, t1;
  double dt;          /* the step's length as the stepper means it; t1 - t0 up to rounding */
  const tl_state *in; /* at t0; rows are slots */
  tl_state *out;      /* at t1; may be `in` itself where a stage says so */
  tl_arena *arena;    /* scratch of this scope */
  struct tl_broad_cache
      *broad_cache;                 /* what the broad phase keeps from step to step; may be NULL */
  const struct tl_contacts *before; /* of the last step: their normals are guesses; may be NULL */
  const struct tl_joints *joints;   /* as the last step left them; may be NULL: none */
  struct tl_joint_state *joints_after; /* what this step makes of them, by row */
  const struct tl_widths *widths; /* of shapes (contact/depth.h), for those who look at overlaps */
  bool sleeps; /* who is slow may fall asleep, and wake: in the world's own crowd alone */
  struct tl_cancel *cancel;   /* asks to give up (base/cancel.h); may be NULL: nobody does */
  struct tl_penalty *penalty; /* what springs keep (solve/penalty/penalty.h); NULL: other models */
  struct tl_residency *where; /* rows may live elsewhere (residency.h); NULL: all are here */
} tl_scope;

static inline uint32_t tl_scope_slot(const tl_scope *scope, size_t i) {
  return scope->members ? scope->members[i] : (uint32_t)i;
}

/* Which member a slot is, or SIZE_MAX. */
static inline size_t tl_scope_find(const tl_scope *scope, uint32_t slot) {
  if (!scope->members)
    return slot < scope->count ? slot : SIZE_MAX;
  size_t lo = 0, hi = scope->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (scope->members[middle] < slot)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < scope->count && scope->members[lo] == slot ? lo : SIZE_MAX;
}

/* A candidate pair of slots. uid[a] < uid[b]. */
typedef struct tl_pair {
  uint32_t a, b;
} tl_pair;

typedef struct tl_pairs {
  tl_pair *data; /* in the scope's arena */
  size_t count;
} tl_pairs;

#endif
