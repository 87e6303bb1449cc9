/* Kept axes: along which pairs of convex bodies were parted in the last step (private to the
 * crowd's owner and src/narrow).
 *
 * Most candidates of a heap are near each other for many steps without touching, and the plane
 * between them hardly turns. A pair whose kept axis still parts it by more than the margin, and by
 * more than a search could be wrong about, has no contacts: the search would say the same, so that
 * an axis changes time and never bits. It is nowhere saved, may be of another pair after bodies
 * were removed, and may be forgotten at any time. */
#ifndef TL_NARROW_KEPT_H
#define TL_NARROW_KEPT_H

#include "crowd/crowd.h"

typedef struct tl_kept_axis {
  tl_pair pair;
  float axis[3];      /* unit to 1e-7, from a to b */
  uint16_t vertex[2]; /* of hulls: farthest along it, where the next search for them begins */
} tl_kept_axis;

typedef struct tl_kept_list {
  tl_kept_axis *data; /* by pair, ascending */
  size_t count, capacity;
} tl_kept_list;

typedef struct tl_kept_axes {
  tl_kept_list before, after; /* of the last call, of this one */
} tl_kept_axes;

void tl_kept_free(tl_kept_axes *axes);

/* The first that is not before the pair. */
size_t tl_kept_find(const tl_kept_list *list, tl_pair pair);
/* The pair's own or NULL, from *cursor on, which goes there. Pairs must be asked for in ascending
 * order. */
const tl_kept_axis *tl_kept_next(const tl_kept_list *list, tl_pair pair, size_t *cursor);

/* An axis to keep; any length but 0. */
tl_kept_axis tl_kept_make(tl_pair pair, talus_dvec3 axis);

/* Whether the axis parts its pair by more than the margin. Convex kinds alone; finds the vertices.
 */
bool tl_kept_parts(const tl_crowd *crowd, talus_real margin, tl_kept_axis *kept);

#endif
