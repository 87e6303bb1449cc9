/* Conservative advancement of bodies that are made of parts (private to src/narrow): meshes by
 * their trees, node by node, clumps by their spheres (docs/theory/time.md).
 *
 * Every pair of parts is followed separately. A pair of nodes is skipped if its balls, or its boxes
 * along a direction that separated other parts, stay apart until the earliest known meeting; so
 * only parts that are about to meet are tested repeatedly. */
#ifndef TL_NARROW_ADVANCE_PARTS_H
#define TL_NARROW_ADVANCE_PARTS_H

#include "narrow/advance.h"

/* True if the pair has a mesh, or a clump and a convex body, and no wall. */
bool tl_advance_has_parts(const tl_advance *pair);

typedef struct tl_parts_advanced {
  double time;   /* s: surfaces keep the floor until then */
  bool is_clear; /* until the end of the paths */
  bool is_lost;  /* gave up */
  double least;  /* m: smallest distance of surfaces seen; DBL_MAX: they were not near */
  double least_at;
  int looks; /* tests of two parts at one time */
} tl_parts_advanced;

/* Advances from time `from` on, with the floor of the pair, or 0 if that is negative. */
tl_parts_advanced tl_advance_parts(const tl_advance *pair, double from);

/* The distance of the surfaces at a time, m, if it is at most `margin`, else DBL_MAX; 0 if they
 * cross. A body inside another one is apart from its surface. */
double tl_advance_parts_gap(const tl_advance *pair, double t, double margin);

#endif
