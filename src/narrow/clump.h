/* Clumps in the narrow phase: a clump touches with its spheres, each by the function of its own
 * kind. Every sphere that touches is a contact; none is left out, so the number of points of a pair
 * has no fixed bound. A step looks at them by lists of near spheres (narrow/parts.h). */
#ifndef TL_NARROW_CLUMP_H
#define TL_NARROW_CLUMP_H

#include "kernels/collide.h"
#include "crowd/model.h"
#include "narrow/narrow.h"

static inline bool tl_has_clump(talus_shape_kind a, talus_shape_kind b) {
  return a == TALUS_CLUMP || b == TALUS_CLUMP;
}

/* A body as its parts: a clump is its spheres, any other itself. */
typedef struct tl_clump_body {
  tl_posed whole;
  tl_frame frame;
  uint32_t parts;
} tl_clump_body;

typedef struct tl_clump_part {
  tl_posed posed; /* its shape is `ball` where it is a sphere of a clump */
  tl_shape ball;
} tl_clump_part;

void tl_clump_part_make(const tl_clump_body *body, uint32_t i, tl_clump_part *part);

/* Whether a part is farther from a body, or from a part of it, than the margin: by bounding
 * spheres, of a mesh by its tree. Never of a wall. */
bool tl_clump_is_far(const tl_posed *a, const tl_posed *b, talus_real margin);

/* Two bodies, at least one of them a clump; a is the first in the order of the table, at the
 * origin. */
typedef struct tl_clump_pair_job {
  tl_clump_body a, b;
  talus_real margin;
} tl_clump_pair_job;

void tl_clump_pair_begin(const tl_posed *a, const tl_posed *b, talus_real margin,
                         tl_clump_pair_job *job);

/* Points of part i of a and part j of b; the feature on a clump is the number of the sphere. */
int tl_clump_find(const tl_clump_pair_job *job, uint32_t i, uint32_t j, tl_point *points);

/* Whether two such bodies have a point. */
bool tl_clump_meets(const tl_posed *a, const tl_posed *b, talus_real margin);

/* The entry of the table: `out` must have room for all. */
tl_narrow_fn tl_clump_pair;

#endif
