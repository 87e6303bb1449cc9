/* Kernels: a straight edge that passes a revolved wall: the places within it that are nearest.
 *
 * Against the hollow side of a cone an edge is nearest at one of its ends, because the distance
 * from the inside of a convex body is concave; ends are the business of kernels/revolved.h. What
 * remains is the side that bulges, where the least distance along the edge has a closed form, and
 * circles, which an edge can pass in two places. */
#ifndef TL_KERNELS_REVOLVED_EDGE_H
#define TL_KERNELS_REVOLVED_EDGE_H

#include "base/power.h"
#include "kernels/revolved.h"

/* An edge in the wall's frame; its distance from the axis is sqrt(a u^2 + 2 b u + c). */
typedef struct tl_wall_edge {
  talus_dvec3 x, way; /* from x to x + way */
  double a, b, c;
} tl_wall_edge;

TL_FN tl_wall_edge tl_wall_edge_of(talus_dvec3 x, talus_dvec3 y) {
  tl_wall_edge e;
  e.x = x, e.way = tl_dsub(y, x);
  e.a = e.way.x * e.way.x + e.way.y * e.way.y;
  e.b = x.x * e.way.x + x.y * e.way.y;
  e.c = x.x * x.x + x.y * x.y;
  return e;
}

TL_FN talus_dvec3 tl_wall_edge_at(const tl_wall_edge *e, double u) {
  return tl_dadd(e->x, tl_dscale(e->way, u));
}

TL_FN double tl_wall_edge_rho(const tl_wall_edge *e, double u) {
  const double square = (e->a * u + 2 * e->b) * u + e->c;
  return square > 0 ? sqrt(square) : 0;
}

#define TL_EDGE_END 1e-9 /* share of its length: a place nearer to an end is the end */

/* The place within the edge where n_r rho + n_z z is least, n_r > 0 (the function is convex there):
 * 0 < u < 1, or -1 if it is at an end. With w = a u + b and D = a c - b^2: w / rho = -k, k = n_z
 * way_z / n_r. */
TL_FN double tl_wall_edge_over_cone(const tl_wall_edge *e, tl_meridian n) {
  const double k = n.z * e->way.z / n.r, under = e->a - k * k, d = e->a * e->c - e->b * e->b;
  if (!(under > 1e-14 * e->a) || !(d > 0))
    return -1;
  const double u = (-k * sqrt(d / under) - e->b) / e->a;
  return u > TL_EDGE_END && u < 1 - TL_EDGE_END ? u : -1;
}

/* Half the slope of the squared distance from a circle, R at Z, along the edge. */
TL_FN double tl_wall_edge_slope(const tl_wall_edge *e, tl_meridian circle, double u) {
  const double rho = tl_wall_edge_rho(e, u), w = e->a * u + e->b;
  return w + e->way.z * (e->x.z + u * e->way.z - circle.z) - (rho > 0 ? circle.r * w / rho : 0);
}

/* The zero of the slope in [lo, hi], where it rises from below 0: by bisection, to the last bits.
 */
TL_FN double tl_wall_edge_root(const tl_wall_edge *e, tl_meridian circle, double lo, double hi) {
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (lo + hi);
    if (tl_wall_edge_slope(e, circle, middle) < 0)
      lo = middle;
    else
      hi = middle;
  }
  return 0.5 * (lo + hi);
}

/* Where the edge is nearest to a circle: at most two places within it. The slope rises, falls where
 * the edge is nearer to the axis than rho^3 = R D / |way|^2, and rises again. */
TL_FN int tl_wall_edge_past_circle(const tl_wall_edge *e, tl_meridian circle, double u[2]) {
  const double d = e->a * e->c - e->b * e->b, length2 = e->a + e->way.z * e->way.z;
  const double least = e->a > 0 ? -e->b / e->a : 0;
  /* The slope rises everywhere, or before and behind the middle part. An edge through the axis has
   * a middle part of length 0, at which the slope jumps. */
  double half = -1;
  if (e->a > 0 && d > 0) {
    const double rho = tl_cbrt_d(circle.r * d / length2), inner = rho * rho - d / e->a;
    half = inner > 0 ? fmax(sqrt(inner / e->a), 1e-6) : -1;
  } else if (e->a > 0) {
    half = 1e-6;
  }
  const double from[2] = {0, fmax(least + half, 0.0)};
  const double to[2] = {half > 0 ? fmin(least - half, 1.0) : 1, 1};
  int n = 0;
  for (int part = 0; part < (half > 0 ? 2 : 1); ++part) {
    if (!(from[part] < to[part]) || !(tl_wall_edge_slope(e, circle, from[part]) < 0) ||
        !(tl_wall_edge_slope(e, circle, to[part]) > 0))
      continue;
    const double at = tl_wall_edge_root(e, circle, from[part], to[part]);
    if (at > TL_EDGE_END && at < 1 - TL_EDGE_END)
      u[n++] = at;
  }
  return n;
}

/* Whether the direction n (in the meridian plane) points from corner j to the outside of the wall:
 * beyond both its neighbours. */
TL_FN bool tl_wall_corner_shows(const tl_revolved *wall, uint32_t j, tl_meridian n) {
  uint32_t next[2];
  tl_wall_corner_segments(wall, j, next);
  const tl_meridian p = tl_revolved_point(wall, j);
  for (int side = 0; side < 2; ++side) {
    if (next[side] == UINT32_MAX)
      continue;
    const tl_wall_segment g = tl_wall_segment_at(wall, next[side], p);
    const double along = tl_meridian_dot(n, g.along);
    if (side == 0 ? along < -1e-9 : along > 1e-9)
      return false;
  }
  return wall->side == 0 ||
         tl_wall_sticks_out(wall, j, wall->side, tl_meridian_of(p.r + n.r, p.z + n.z));
}

#endif
