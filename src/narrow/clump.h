/* Clumps in the narrow phase: each sphere of a clump touches by the function of its own kind. Every
 * sphere that touches gives a contact and none is left out, so the number of points of a pair has
 * no fixed bound. A step tests clumps by lists of near spheres (narrow/parts.h). */
#ifndef TL_NARROW_CLUMP_H
#define TL_NARROW_CLUMP_H

#include "kernels/collide.h"
#include "crowd/model.h"
#include "narrow/clump_parts.h"
#include "narrow/narrow.h"

/* True if a part is farther than the margin from a body, or from a part of it: tests bounding
 * spheres, of a mesh its tree. Always false for walls. */
bool tl_clump_is_far(const tl_posed *a, const tl_posed *b, talus_real margin);

/* Points of part i of a and part j of b. The feature on a clump is the number of the sphere. */
int tl_clump_find(const tl_clump_pair_job *job, uint32_t i, uint32_t j, tl_point *points);

/* True if two such bodies have a point. */
bool tl_clump_meets(const tl_posed *a, const tl_posed *b, talus_real margin);

/* The entry of the table; `out` must have room for all points. */
tl_narrow_fn tl_clump_pair;

#endif
