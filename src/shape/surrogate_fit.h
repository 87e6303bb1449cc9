/* The surrogate triangle of a set of places (private to src/shape). */
#ifndef TL_SHAPE_SURROGATE_FIT_H
#define TL_SHAPE_SURROGATE_FIT_H

#include "shape/surrogate.h"

/* Places that a triangle has to be near: corners of triangles, three after three. */
typedef struct tl_surrogate_set {
  const talus_dvec3 *place;
  size_t count; /* 3 for each triangle */
} tl_surrogate_set;

/* How far the farthest place is from a triangle; *which is its row. Distance to a convex set is
 * convex: no place of a triangle is farther than its farthest corner. */
double tl_surrogate_farthest(const tl_surrogate_set *set, const tl_triangle_corners *t,
                             size_t *which);

tl_triangle_corners tl_surrogate_fit_quick(const tl_surrogate_set *set);
tl_triangle_corners tl_surrogate_fit_functional(const tl_surrogate_set *set);

#endif
