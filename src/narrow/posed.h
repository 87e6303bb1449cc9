/* A shape with its pose, as argument of the narrow phase; on the host and on devices. */
#ifndef TL_NARROW_POSED_H
#define TL_NARROW_POSED_H

#include "crowd/shape_row.h"
#include "kernels/collide.h"
#include "kernels/patch.h"

/* One posed shape. Positions are relative to the first body's centre of mass and still double,
 * because a plane or a container may be large or far away: the kernels narrow what they find
 * (tl_point in kernels/collide.h). */
typedef struct tl_posed {
  const tl_shape *shape;
  talus_real scale;
  talus_dvec3 position; /* relative; the first body's is 0 */
  talus_quat rotation;
  bool flat;   /* mesh: all triangles are tested, without the tree */
  bool thesis; /* mesh: contacts of triangles, merged by point and normal (narrow.fusion) */
  bool whole;  /* mesh: no point is dropped: springs, whose forces would jump */
  bool image;  /* mesh: one of several periodic images; another may continue where it ends */
} tl_posed;

/* True if b comes first in the table: the lower kind does, but planes, containers and revolved
 * walls come last. */
TL_FN bool tl_narrow_swapped(talus_shape_kind a, talus_shape_kind b) {
  const bool wall_a = tl_kind_is_wall(a), wall_b = tl_kind_is_wall(b);
  return wall_a != wall_b ? wall_a : a > b;
}

/* Swaps the bodies of points: features are exchanged, normals reversed. */
TL_FN void tl_narrow_swap(tl_point *points, int count) {
  for (int i = 0; i < count; ++i) {
    const uint32_t feature = points[i].feature_a;
    points[i].feature_a = points[i].feature_b;
    points[i].feature_b = feature;
    points[i].normal = tl_neg(points[i].normal);
  }
  tl_sort_by_features(points, count);
}

/* The pair (a, b) seen from b, which is at the origin. */
TL_FN void tl_narrow_turn(const tl_posed *a, const tl_posed *b, tl_posed *first, tl_posed *second) {
  *first = *b, *second = *a;
  first->position = tl_dvec3(0, 0, 0);
  second->position = tl_dscale(b->position, -1);
}

/* Points of such a pair as those of (a, b). */
TL_FN void tl_narrow_turn_back(const tl_posed *b, tl_point *points, int count) {
  for (int i = 0; i < count; ++i)
    points[i].point = tl_dadd(points[i].point, b->position);
  tl_narrow_swap(points, count);
}

#endif
