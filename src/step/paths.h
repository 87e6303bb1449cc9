/* The paths of all bodies over a step, and whether they keep clear of each other
 * (docs/theory/time.md). Adaptive steps ask before they let a step count, audits afterwards: both
 * call the same function, on the same paths. */
#ifndef TL_STEP_PATHS_H
#define TL_STEP_PATHS_H

#include "backend/backend.h"
#include "narrow/advance.h"

/* A distance that belongs to a pair: metres, and shares of its size (the smaller bounding radius)
 * and of its halo (the sum of its bodies' halos). */
typedef struct tl_distance {
  double metres, sizes, halos;
} tl_distance;

typedef struct tl_paths_rule {
  tl_distance floor;       /* gap that every pair keeps */
  tl_distance near;        /* pairs that begin with less than this (0: none) ... */
  tl_distance near_floor;  /* ... keep this instead, or half of what they begin with */
  tl_distance fine;        /* motion that is not resolved */
  bool goes_on;            /* to the end of the step where a pair is at the floor (tl_advance) */
  bool finds_depth;        /* where a pair falls below its floor, looks for its deepest overlap */
  bool is_instant;         /* looks at the begin of the step alone */
  const talus_real *halos; /* m, by slot; NULL: none */
  const uint8_t *flies;    /* by slot: the path is a parabola; NULL: of none */
} tl_paths_rule;

typedef struct tl_paths_report {
  size_t pairs;       /* whose boxes meet */
  size_t swept;       /* of them: looked at more than once */
  uint64_t looks;     /* at a pair at a moment */
  size_t short_count; /* pairs that do not keep the floor to the end */
  size_t lost;        /* of them: neither proven */
  double time;        /* s from the begin of the step: when the first of them does not; DBL_MAX */
  tl_pair first;      /* that pair */
  double first_gap;   /* m: of that pair then */
  bool first_is_near; /* it began with less than `near` */
  double least;       /* m: smallest gap that was seen; DBL_MAX: none was near */
  double least_at;    /* s from the begin of the step */
  tl_pair nearest;    /* that pair */
} tl_paths_report;

/* m/s: what loads alone change the velocity of a free body by, in the step. */
talus_dvec3 tl_step_gain(const tl_crowd *crowd, uint32_t slot);

/* Which bodies of an adaptive step fly (flies: by slot): free ones that no contact of
 * crowd->contacts_after pushes, but for impacts at the begin, and that no joint holds. */
void tl_step_find_flying(const tl_crowd *crowd, uint8_t *flies);

/* The path of the body in a slot from crowd->in to crowd->out; `flies`: the parabola. */
tl_path tl_step_path(const tl_crowd *crowd, uint32_t slot, bool flies);

/* Checks every pair that may meet between crowd->in and crowd->out. Pairs that joints or groups
 * keep apart are left out. Neither state is changed. */
talus_status tl_step_check_paths(const tl_backend *backend, const tl_crowd *crowd,
                                 const tl_paths_rule *rule, tl_paths_report *report);

#endif
