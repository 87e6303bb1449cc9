/* The paths of all bodies over a step, and whether they keep apart (docs/theory/time.md). Adaptive
 * steps check them before a step counts, audits afterwards; both call the same function on the same
 * paths. */
#ifndef TL_STEP_PATHS_H
#define TL_STEP_PATHS_H

#include "backend/backend.h"
#include "narrow/advance.h"

/* A distance of a pair, as a sum: metres, a share of its size (the smaller bounding radius), and a
 * share of its halo (the sum of its bodies' halos). */
typedef struct tl_distance {
  double metres, sizes, halos;
} tl_distance;

typedef struct tl_paths_rule {
  tl_distance floor;       /* gap that every pair keeps */
  tl_distance near;        /* pairs that begin with a gap below this (0: none) ... */
  tl_distance near_floor;  /* ... keep this floor instead, or half of their first gap */
  tl_distance fine;        /* motion that is not resolved */
  bool goes_on;            /* follows a pair at its floor to the end of the step (tl_advance) */
  bool finds_depth;        /* finds the deepest overlap of a pair that falls below its floor */
  bool is_instant;         /* tests the begin of the step only */
  const talus_real *halos; /* m, by slot; NULL: none */
  const uint8_t *flies;    /* by slot: the path is a parabola; NULL: of none */
} tl_paths_rule;

typedef struct tl_paths_report {
  size_t pairs;       /* pairs whose boxes overlap */
  size_t swept;       /* pairs of these that were tested more than once */
  uint64_t looks;     /* tests of a pair at one time */
  size_t short_count; /* pairs not shown to keep their floor to the end */
  size_t lost;        /* of these, pairs given up before either was proven */
  double time;        /* s from the begin of the step: time of the first of them; DBL_MAX: none */
  tl_pair first;      /* that first pair */
  double first_gap;   /* m: gap of that pair at that time */
  bool first_is_near; /* that pair began with a gap below `near` */
  double least;       /* m: smallest gap seen; DBL_MAX: no pair was near */
  double least_at;    /* s from the begin of the step */
  tl_pair nearest;    /* the pair with the smallest gap */
} tl_paths_report;

/* Change of velocity of a free body by loads alone in the step, m/s. */
talus_dvec3 tl_step_gain(const tl_crowd *crowd, uint32_t slot);

/* Finds which bodies of an adaptive step fly (flies: by slot): free bodies on which no contact of
 * crowd->contacts_after acts, except for impacts at the begin, and which no joint holds. */
void tl_step_find_flying(const tl_crowd *crowd, uint8_t *flies);

/* The path of the body in a slot from crowd->in to crowd->out. flies: the path is a parabola. */
tl_path tl_step_path(const tl_crowd *crowd, uint32_t slot, bool flies);

/* Checks every pair that may meet between crowd->in and crowd->out, except pairs that joints or
 * groups exclude from contact. Neither state is changed. */
talus_status tl_step_check_paths(const tl_backend *backend, const tl_crowd *crowd,
                                 const tl_paths_rule *rule, tl_paths_report *report);

#endif
