/* Kernels: vectors. talus_vec3 for what has a direction, talus_dvec3 for places in the world.
 *
 * The precision rule of talus: a place is double in every build, and the difference of two places
 * is taken in double BEFORE it is narrowed. tl_between and tl_moved are the only two doors between
 * the kinds, so code that goes through them cannot break the rule. */
#ifndef TL_KERNELS_VEC3_H
#define TL_KERNELS_VEC3_H

#include "kernels/real.h"

TL_FN talus_vec3 tl_vec3(talus_real x, talus_real y, talus_real z) {
  talus_vec3 v;
  v.x = x, v.y = y, v.z = z;
  return v;
}

TL_FN talus_vec3 tl_add(talus_vec3 a, talus_vec3 b) {
  return tl_vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}
TL_FN talus_vec3 tl_sub(talus_vec3 a, talus_vec3 b) {
  return tl_vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}
TL_FN talus_vec3 tl_neg(talus_vec3 v) { return tl_vec3(-v.x, -v.y, -v.z); }
TL_FN talus_vec3 tl_scale(talus_vec3 v, talus_real s) { return tl_vec3(v.x * s, v.y * s, v.z * s); }

/* Componentwise product. */
TL_FN talus_vec3 tl_mul(talus_vec3 a, talus_vec3 b) {
  return tl_vec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

/* a + s b */
TL_FN talus_vec3 tl_madd(talus_vec3 a, talus_real s, talus_vec3 b) {
  return tl_vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

TL_FN talus_real tl_dot(talus_vec3 a, talus_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

TL_FN talus_vec3 tl_cross(talus_vec3 a, talus_vec3 b) {
  return tl_vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

TL_FN talus_real tl_length2(talus_vec3 v) { return tl_dot(v, v); }
TL_FN talus_real tl_length(talus_vec3 v) { return tl_sqrt(tl_dot(v, v)); }

/* v / |v|; the zero vector stays zero. Lengths whose square leaves the range of talus_real (in
 * float: below 1e-19 or above 1e19) are scaled first. Divides rather than multiplies by an
 * inverse, so that a vector along an axis becomes that axis exactly. */
TL_FN talus_vec3 tl_normalize(talus_vec3 v) {
  talus_real square = tl_length2(v);
  if (!(square > TL_REAL_MIN / TL_REAL_EPS && square < TL_REAL_MAX)) {
    const talus_real big = tl_max(tl_max(tl_abs(v.x), tl_abs(v.y)), tl_abs(v.z));
    if (!(big > 0))
      return v;
    v = tl_vec3(v.x / big, v.y / big, v.z / big);
    square = tl_length2(v);
  }
  const talus_real length = tl_sqrt(square);
  return tl_vec3(v.x / length, v.y / length, v.z / length);
}

TL_FN bool tl_is_finite3(talus_vec3 v) {
  return tl_is_finite(v.x) && tl_is_finite(v.y) && tl_is_finite(v.z);
}

/* A unit vector orthogonal to the unit vector n, without a square root or a case that divides by
 * zero (Duff et al. 2017, after Frisvad 2012). Continuous but across the circle n.z = 0. */
TL_FN talus_vec3 tl_any_orthogonal(talus_vec3 n) {
  const talus_real sign = n.z >= 0 ? TL_R(1) : TL_R(-1);
  const talus_real a = -1 / (sign + n.z);
  return tl_vec3(1 + sign * n.x * n.x * a, sign * n.x * n.y * a, -sign * n.x);
}

/* ---- places: always double ---------------------------------------------------------------- */

TL_FN talus_dvec3 tl_dvec3(double x, double y, double z) {
  talus_dvec3 v;
  v.x = x, v.y = y, v.z = z;
  return v;
}

TL_FN talus_dvec3 tl_dadd(talus_dvec3 a, talus_dvec3 b) {
  return tl_dvec3(a.x + b.x, a.y + b.y, a.z + b.z);
}
TL_FN talus_dvec3 tl_dsub(talus_dvec3 a, talus_dvec3 b) {
  return tl_dvec3(a.x - b.x, a.y - b.y, a.z - b.z);
}
TL_FN talus_dvec3 tl_dscale(talus_dvec3 v, double s) { return tl_dvec3(v.x * s, v.y * s, v.z * s); }
TL_FN double tl_ddot(talus_dvec3 a, talus_dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
TL_FN talus_dvec3 tl_dcross(talus_dvec3 a, talus_dvec3 b) {
  return tl_dvec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
TL_FN double tl_dlength(talus_dvec3 v) { return sqrt(tl_ddot(v, v)); }

/* ---- between the two kinds ---------------------------------------------------------------- */

TL_FN talus_dvec3 tl_widen(talus_vec3 v) { return tl_dvec3(v.x, v.y, v.z); }
TL_FN talus_vec3 tl_narrow(talus_dvec3 v) { return tl_vec3(TL_R(v.x), TL_R(v.y), TL_R(v.z)); }

/* to - from, taken in double and then narrowed. */
TL_FN talus_vec3 tl_between(talus_dvec3 from, talus_dvec3 to) {
  return tl_narrow(tl_dsub(to, from));
}

/* x + d, in double. */
TL_FN talus_dvec3 tl_moved(talus_dvec3 x, talus_vec3 d) { return tl_dadd(x, tl_widen(d)); }

/* x + s v, in double: s is a time or a length. */
TL_FN talus_dvec3 tl_dmadd(talus_dvec3 x, double s, talus_vec3 v) {
  return tl_dvec3(x.x + s * v.x, x.y + s * v.y, x.z + s * v.z);
}

#endif
