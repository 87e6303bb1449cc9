/* Kernels: axis-aligned boxes in the world. Boxes are closed: touching counts as overlap. Every
 * comparison with a value that is not a number is false, so such a box overlaps nothing and
 * contains nothing; tl_box_is_finite finds it. */
#ifndef TL_KERNELS_AABB_H
#define TL_KERNELS_AABB_H

#include "kernels/vec3.h"

/* The box of nothing: the union with it changes nothing. */
TL_FN talus_box tl_box_empty(void) {
  talus_box box;
  box.lo = tl_dvec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
  box.hi = tl_dvec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
  return box;
}

TL_FN bool tl_box_overlap(talus_box a, talus_box b) {
  return a.lo.x <= b.hi.x && b.lo.x <= a.hi.x && a.lo.y <= b.hi.y && b.lo.y <= a.hi.y &&
         a.lo.z <= b.hi.z && b.lo.z <= a.hi.z;
}

TL_FN talus_box tl_box_union(talus_box a, talus_box b) {
  talus_box box;
  box.lo.x = a.lo.x < b.lo.x ? a.lo.x : b.lo.x;
  box.lo.y = a.lo.y < b.lo.y ? a.lo.y : b.lo.y;
  box.lo.z = a.lo.z < b.lo.z ? a.lo.z : b.lo.z;
  box.hi.x = a.hi.x > b.hi.x ? a.hi.x : b.hi.x;
  box.hi.y = a.hi.y > b.hi.y ? a.hi.y : b.hi.y;
  box.hi.z = a.hi.z > b.hi.z ? a.hi.z : b.hi.z;
  return box;
}

/* The box with every side moved outwards by `distance` [m]. */
TL_FN talus_box tl_box_grow(talus_box box, double distance) {
  const talus_dvec3 d = tl_dvec3(distance, distance, distance);
  box.lo = tl_dsub(box.lo, d);
  box.hi = tl_dadd(box.hi, d);
  return box;
}

/* False for the empty box too. */
TL_FN bool tl_box_is_finite(talus_box box) {
  return tl_is_finite_d(box.lo.x) && tl_is_finite_d(box.lo.y) && tl_is_finite_d(box.lo.z) &&
         tl_is_finite_d(box.hi.x) && tl_is_finite_d(box.hi.y) && tl_is_finite_d(box.hi.z);
}

/* A point on the surface is contained. */
TL_FN bool tl_box_contains(talus_box box, talus_dvec3 x) {
  return box.lo.x <= x.x && x.x <= box.hi.x && box.lo.y <= x.y && x.y <= box.hi.y &&
         box.lo.z <= x.z && x.z <= box.hi.z;
}

/* The longest edge [m]; 0 for the empty box. */
TL_FN double tl_box_extent(talus_box box) {
  const talus_dvec3 edge = tl_dsub(box.hi, box.lo);
  double longest = 0;
  longest = edge.x > longest ? edge.x : longest;
  longest = edge.y > longest ? edge.y : longest;
  longest = edge.z > longest ? edge.z : longest;
  return longest;
}

#endif
