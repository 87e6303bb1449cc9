/* Kernels: the place of a triangle that is nearest to a place, and what of the triangle it is. */
#ifndef TL_KERNELS_NEAREST_H
#define TL_KERNELS_NEAREST_H

#include "kernels/patch.h"

/* The inside, side k (from corner k to corner k + 1), corner k. */
typedef enum tl_part { TL_PART_FACE, TL_PART_SIDE, TL_PART_CORNER = TL_PART_SIDE + 3 } tl_part;

/* Regions by signs of barycentric numbers (Ericson 2005, 5.1.5). */
TL_BIG_FN talus_dvec3 tl_nearest_on_triangle(talus_dvec3 p, const talus_dvec3 v[3], int *part) {
  const talus_dvec3 ab = tl_dsub(v[1], v[0]), ac = tl_dsub(v[2], v[0]), ap = tl_dsub(p, v[0]);
  const double d1 = tl_ddot(ab, ap), d2 = tl_ddot(ac, ap);
  if (d1 <= 0 && d2 <= 0) {
    *part = TL_PART_CORNER;
    return v[0];
  }
  const talus_dvec3 bp = tl_dsub(p, v[1]);
  const double d3 = tl_ddot(ab, bp), d4 = tl_ddot(ac, bp);
  if (d3 >= 0 && d4 <= d3) {
    *part = TL_PART_CORNER + 1;
    return v[1];
  }
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    *part = TL_PART_SIDE;
    return tl_dalong(v[0], d1 / (d1 - d3), ab);
  }
  const talus_dvec3 cp = tl_dsub(p, v[2]);
  const double d5 = tl_ddot(ab, cp), d6 = tl_ddot(ac, cp);
  if (d6 >= 0 && d5 <= d6) {
    *part = TL_PART_CORNER + 2;
    return v[2];
  }
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    *part = TL_PART_SIDE + 2;
    return tl_dalong(v[0], d2 / (d2 - d6), ac);
  }
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    *part = TL_PART_SIDE + 1;
    return tl_dalong(v[1], (d4 - d3) / ((d4 - d3) + (d5 - d6)), tl_dsub(v[2], v[1]));
  }
  const double sum = 1 / (va + vb + vc);
  *part = TL_PART_FACE;
  return tl_dalong(tl_dalong(v[0], vb * sum, ab), vc * sum, ac);
}

#endif
