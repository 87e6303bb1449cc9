/* Kernels: superellipsoids, (|x/a|^n2 + |y/b|^n2)^(n1/n2) + |z/c|^n1 <= 1: support map and flat
 * spots.
 *
 * Where an exponent is above 2 the curvature is 0 at the middle of a side. Over a width of
 * (1e-9 n)^(1/n), a tenth of the half axis for n = 8, the surface is flat to 1e-9 of it, and a tilt
 * of a millionth of a rad takes the farthest point from one end of that to the other. With that
 * point alone such a body rocks for ever: in every step it is held up on one side and falls to the
 * other. So what it shows there is a patch, with its ends at those of the flat spot. */
#ifndef TL_KERNELS_SUPERELLIPSOID_H
#define TL_KERNELS_SUPERELLIPSOID_H

#include "kernels/patch.h"

TL_FN double tl_power_unit(double x, double p) { return x > 0 ? tl_pow_d(x, p) : 0; }

/* The norm (x^p + y^p)^(1/p) of two numbers that are 0 or more, most > 0 the larger one; and the
 * gradient (x/norm)^(p - 1), (y/norm)^(p - 1), for which no other powers are needed:
 * (x/norm)^(p - 1) = (x/most)^p / (x/most) s^(1/p) / s, s the sum of (x/most)^p and (y/most)^p. One
 * of the two quotients is 1 and needs no power; which one is selected without a branch. */
TL_FN double tl_power_norm(double x, double y, double most, double p, double slope[2]) {
  const bool is_x = x == most;
  const double ratio = (is_x ? y : x) / most, power = tl_power_unit(ratio, p), sum = 1 + power;
  const double root = tl_pow_d(sum, 1 / p), share = root / sum;
  const double other = ratio > 0 ? power / ratio * share : 0;
  slope[0] = is_x ? share : other;
  slope[1] = is_x ? other : share;
  return most * root;
}

/* Support of ((|x/a|^n2 + |y/b|^n2)^(n1/n2) + |z/c|^n1 <= 1): the gradient of the dual norm
 * (Hoelder, exponents n/(n - 1)). */
TL_BIG_FN talus_dvec3 tl_superellipsoid_support(const double size[5], talus_dvec3 d) {
  const double n1 = size[3], n2 = size[4], p1 = n1 / (n1 - 1), p2 = n2 / (n2 - 1);
  const double x = fabs(size[0] * d.x), y = fabs(size[1] * d.y), z = fabs(size[2] * d.z);
  const double flat = x > y ? x : y;
  double q = 0, around[2] = {0, 0}, up[2];
  if (flat > 0)
    q = tl_power_norm(x, y, flat, p2, around);
  const double most = q > z ? q : z;
  if (!(most > 0))
    return tl_dvec3(0, 0, size[2]);
  tl_power_norm(q, z, most, p1, up);
  const double ux = up[0] * around[0], uy = up[0] * around[1], uz = up[1];
  return tl_dvec3(d.x < 0 ? -size[0] * ux : size[0] * ux, d.y < 0 ? -size[1] * uy : size[1] * uy,
                  d.z < 0 ? -size[2] * uz : size[2] * uz);
}

#define TL_SPOT_FLAT 1e-9 /* relative to the half axis; heights that are one (TL_PATCH_AS_DEEP) */
#define TL_SPOT_WIDE 0.02 /* relative: narrower spots are points */
#define TL_SPOT_NEAR 0.1  /* rad: how near to the middle of a side the direction must be */

/* Half width of the flat spot for an exponent n, relative; 0 if it is too narrow to count. */
TL_FN double tl_spot_width(double n) {
  const double width = n > 2 ? tl_pow_d(TL_SPOT_FLAT * n, 1 / n) : 0;
  return width > TL_SPOT_WIDE ? width : 0;
}

TL_FN void tl_segment_patch(talus_dvec3 p, talus_dvec3 q, double round, tl_patch *patch) {
  patch->count = 2, patch->round = round;
  patch->tube = patch->ball = false;
  patch->vertex[0] = p, patch->vertex[1] = q;
}

/* Four corners of a flat spot, in order; `along` is the axis across it, positive or negative. */
TL_FN void tl_spot_corners(int along, bool positive, const double at[3], tl_patch *patch) {
  const int u = (along + 1) % 3, v = (along + 2) % 3;
  patch->count = 4, patch->number = 1 + 2 * (uint32_t)along + (uint32_t)positive;
  for (int k = 0; k < 4; ++k) {
    double p[3];
    p[along] = positive ? at[along] : -at[along];
    p[u] = k == 1 || k == 2 ? at[u] : -at[u];
    p[v] = k >= 2 ? at[v] : -at[v];
    patch->vertex[k] = tl_dvec3(p[0], p[1], p[2]);
  }
}

/* The flat patch of the body along d (own axes), if there is one; patch holds its farthest
 * point. */
TL_BIG_FN void tl_superellipsoid_patch(const double size[5], talus_dvec3 d, tl_patch *patch) {
  const double n1 = size[3], n2 = size[4], along = tl_spot_width(n1), round = tl_spot_width(n2);
  const double flat = sqrt(d.x * d.x + d.y * d.y);
  if (!(along > 0))
    return;
  if (flat < TL_SPOT_NEAR) { /* a pole: a square within the spot */
    const double half = along * tl_pow_d(0.5, 1 / n2);
    const double at[3] = {half * size[0], half * size[1],
                          size[2] * tl_pow_d(1 - tl_pow_d(along, n1), 1 / n1)};
    tl_spot_corners(2, d.z > 0, at, patch);
    return;
  }
  if (!(fabs(d.z) < TL_SPOT_NEAR))
    return;
  const double z = along * size[2], ring = tl_pow_d(1 - tl_pow_d(along, n1), 1 / n1);
  const int axis = fabs(d.x) > fabs(d.y) ? 0 : 1, other = 1 - axis;
  if (round > 0 && fabs(axis ? d.x : d.y) < TL_SPOT_NEAR) {
    double at[3];
    at[axis] = size[axis] * tl_pow_d(tl_pow_d(ring, n2) - tl_pow_d(round, n2), 1 / n2);
    at[other] = round * size[other], at[2] = z;
    tl_spot_corners(axis, (axis ? d.y : d.x) > 0, at, patch);
    return;
  }
  const talus_dvec3 out = tl_superellipsoid_support(size, tl_dvec3(d.x, d.y, 0));
  tl_segment_patch(tl_dvec3(ring * out.x, ring * out.y, -z),
                   tl_dvec3(ring * out.x, ring * out.y, z), fmin(size[0], size[1]), patch);
}

#endif
