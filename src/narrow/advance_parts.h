/* Conservative advancement of bodies that are made of parts (private to src/narrow): meshes by
 * their trees, node by node, clumps by their spheres (docs/theory/time.md).
 *
 * Every pair of parts is followed by itself. A pair of nodes whose balls, or whose boxes along a
 * direction that has parted others, stay apart until the earliest meeting that is known is done
 * with; so only parts that are about to meet are looked at again and again. */
#ifndef TL_NARROW_ADVANCE_PARTS_H
#define TL_NARROW_ADVANCE_PARTS_H

#include "narrow/advance.h"

/* Whether the pair has a mesh, or a clump and a convex body, and no wall. */
bool tl_advance_has_parts(const tl_advance *pair);

typedef struct tl_parts_advanced {
  double time;   /* s: until then the surfaces keep the floor */
  bool is_clear; /* to the end of the paths */
  bool is_lost;  /* gave up */
  double least;  /* m: smallest distance of surfaces that was seen; DBL_MAX: none was near */
  double least_at;
  int looks; /* at two parts at a moment */
} tl_parts_advanced;

/* From the time `from` on, for the floor of the pair, or 0 if that is negative. */
tl_parts_advanced tl_advance_parts(const tl_advance *pair, double from);

/* The distance of the surfaces at a moment, m, where it is at most `margin`; 0 where they cross;
 * DBL_MAX: it is more. A body within another one is apart from its surface. */
double tl_advance_parts_gap(const tl_advance *pair, double t, double margin);

#endif
