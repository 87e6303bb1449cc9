/* Kept axes: directions that separated pairs of convex bodies in the last step (private to the
 * crowd's owner and src/narrow).
 *
 * Most candidates of a heap are near each other for many steps without touching, and the plane
 * between them hardly turns. If the kept axis still separates a pair by more than the margin, plus
 * what a search could be wrong by, the pair has no contacts. The search would say the same, so kept
 * axes affect speed but never bits. They are not saved, may belong to another pair after bodies
 * were removed, and may be discarded at any time. */
#ifndef TL_NARROW_KEPT_H
#define TL_NARROW_KEPT_H

#include "crowd/crowd.h"

typedef struct tl_kept_axis {
  tl_pair pair;
  float axis[3];      /* unit to 1e-7, from a to b */
  uint16_t vertex[2]; /* of hulls: farthest vertex along the axis, where the next search begins */
} tl_kept_axis;

typedef struct tl_kept_list {
  tl_kept_axis *data; /* by pair, ascending */
  size_t count, capacity;
} tl_kept_list;

typedef struct tl_kept_axes {
  tl_kept_list before, after; /* of the last call, and of this one */
} tl_kept_axes;

void tl_kept_free(tl_kept_axes *axes);

/* Index of the first element that is not before the pair. */
size_t tl_kept_find(const tl_kept_list *list, tl_pair pair);
/* The element of the pair or NULL, searched from *cursor on, which advances. Pairs must come in
 * ascending order. */
const tl_kept_axis *tl_kept_next(const tl_kept_list *list, tl_pair pair, size_t *cursor);

/* Makes an axis to keep, from a direction of any length but 0. */
tl_kept_axis tl_kept_make(tl_pair pair, talus_dvec3 axis);

/* True if the axis separates its pair by more than the margin. Only for convex kinds; updates the
 * vertices. */
bool tl_kept_parts(const tl_crowd *crowd, talus_real margin, tl_kept_axis *kept);

#endif
