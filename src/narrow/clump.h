/* Clumps in the narrow phase: a clump touches with its spheres, each by the function of its own
 * kind. Every sphere that touches is a contact; none is left out, so the number of points of a pair
 * has no fixed bound and is counted before there is room for them. */
#ifndef TL_NARROW_CLUMP_H
#define TL_NARROW_CLUMP_H

#include "narrow/narrow.h"

typedef void tl_points_fn(void *context, const tl_point *points, int count);

static inline bool tl_has_clump(talus_shape_kind a, talus_shape_kind b) {
  return a == TALUS_CLUMP || b == TALUS_CLUMP;
}

/* Calls `visit` with the points of each sphere, or pair of spheres. At least one is a clump; a is
 * the first in the order of the table, at the origin. The feature on a clump is the number of the
 * sphere. Order: by sphere of a, then of b, then as the kernel gives them; ascending by features
 * unless b alone is the clump. */
void tl_clump_visit(const tl_posed *a, const tl_posed *b, talus_real margin, tl_points_fn *visit,
                    void *context);

/* How many points tl_clump_visit gives. */
size_t tl_clump_count(const tl_posed *a, const tl_posed *b, talus_real margin);

/* The entry of the table: `out` must have room for tl_clump_count points. */
tl_narrow_fn tl_clump_pair;

#endif
