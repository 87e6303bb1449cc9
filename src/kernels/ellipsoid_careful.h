/* Kernels: the contact of two ellipsoids of any shape and size, slowly and surely.
 *
 * M loses digits that its factor keeps: h(c) = |R A^T c| has the relative accuracy of its terms,
 * while c^T M c of a needle along its short axis is a small difference of large numbers.
 *
 * The start. In coordinates in which the rounder body is the unit sphere the other one is U
 * diag(lambda) U^T, and h(xi) = xi sum e_i^2/(1 + xi lambda_i) - 1 - xi with e = U^T d: sums of
 * positive terms only. U and lambda come from one-sided Jacobi rotations of the columns of N =
 * R1^-1 A1^T A2 R2, which find small singular values of a column-scaled matrix to full relative
 * accuracy (Demmel and Veselic 1992).
 *
 * The search. Newton on the sphere in a tangent basis, absolute eigenvalues where the Hessian is
 * not positive definite, steps halved until w decreases. */
#ifndef TL_KERNELS_ELLIPSOID_CAREFUL_H
#define TL_KERNELS_ELLIPSOID_CAREFUL_H

#include "kernels/ellipsoid.h"

/* v/|v|, for any length but 0. */
TL_FN talus_dvec3 tl_ell_unit(talus_dvec3 v) {
  const double big = fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
  const talus_dvec3 u = tl_dvec3(v.x / big, v.y / big, v.z / big);
  const double length = tl_dlength(u);
  return tl_dvec3(u.x / length, u.y / length, u.z / length);
}

/* R A^T v, and its transpose A R v. */
TL_FN talus_dvec3 tl_ellipsoid_in(const tl_ellipsoid *e, talus_dvec3 v) {
  const talus_dvec3 u = tl_frame_to_local(&e->frame, v);
  return tl_dvec3(e->half[0] * u.x, e->half[1] * u.y, e->half[2] * u.z);
}
TL_FN talus_dvec3 tl_ellipsoid_out(const tl_ellipsoid *e, talus_dvec3 v) {
  return tl_frame_to_world(&e->frame,
                           tl_dvec3(e->half[0] * v.x, e->half[1] * v.y, e->half[2] * v.z));
}

/* ---- the width function ---------------------------------------------------------------------- */

/* One body's share of w at c: half width, surface point, and the curvature seen along two tangent
 * vectors, (u x g).(v x g)/h for the images u, v of the tangents and g = R A^T c / h. */
typedef struct tl_ell_share {
  double h;
  talus_dvec3 g, point;
} tl_ell_share;

TL_FN tl_ell_share tl_ellipsoid_share(const tl_ellipsoid *e, talus_dvec3 c) {
  tl_ell_share s;
  s.g = tl_ellipsoid_in(e, c);
  s.h = tl_dlength(s.g);
  s.g = tl_dscale(s.g, 1 / s.h);
  s.point = tl_ellipsoid_out(e, s.g);
  return s;
}

typedef struct tl_ell_width {
  talus_dvec3 c;
  tl_ell_share a, b;
  double w;
  talus_dvec3 t; /* tangential part of the gradient */
} tl_ell_width;

TL_FN tl_ell_width tl_ellipsoids_width(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 d,
                                       talus_dvec3 c) {
  tl_ell_width r;
  r.c = c;
  r.a = tl_ellipsoid_share(a, c);
  r.b = tl_ellipsoid_share(b, c);
  r.w = (r.a.h + r.b.h) - tl_ddot(c, d);
  const talus_dvec3 g = tl_dsub(tl_dadd(r.a.point, r.b.point), d);
  r.t = tl_dsub(g, tl_dscale(c, tl_ddot(g, c)));
  return r;
}

TL_FN void tl_ellipsoid_add_curvature(const tl_ellipsoid *e, const tl_ell_share *s, talus_dvec3 t1,
                                      talus_dvec3 t2, double k[3]) {
  const talus_dvec3 u = tl_dcross(tl_ellipsoid_in(e, t1), s->g);
  const talus_dvec3 v = tl_dcross(tl_ellipsoid_in(e, t2), s->g);
  k[0] += tl_ddot(u, u) / s->h;
  k[1] += tl_ddot(v, v) / s->h;
  k[2] += tl_ddot(u, v) / s->h;
}

/* Newton's step from the width, a world vector in the tangent plane; it descends for any Hessian.
 * *least is the Hessian's smaller eigenvalue, m, *soft its unit eigenvector. */
TL_FN talus_dvec3 tl_ellipsoids_step(const tl_ellipsoid *a, const tl_ellipsoid *b,
                                     const tl_ell_width *at, double *least, talus_dvec3 *soft) {
  const double sign = at->c.z >= 0 ? 1 : -1, f = -1 / (sign + at->c.z);
  const talus_dvec3 t1 =
      tl_dvec3(1 + sign * at->c.x * at->c.x * f, sign * at->c.x * at->c.y * f, -sign * at->c.x);
  const talus_dvec3 t2 = tl_dcross(at->c, t1);
  double k[3] = {0, 0, 0};
  tl_ellipsoid_add_curvature(a, &at->a, t1, t2, k);
  tl_ellipsoid_add_curvature(b, &at->b, t1, t2, k);
  const double h11 = k[0] - at->w, h22 = k[1] - at->w, h12 = k[2];
  const double mean = 0.5 * (h11 + h22), half = 0.5 * (h11 - h22), radius = tl_hypot_d(half, h12);
  const double big = mean + radius;
  /* If both are positive the smaller one comes from the product, without cancellation. */
  *least = big > 0 ? (h11 * h22 - h12 * h12) / big : mean - radius;
  double ex = h12, ey = radius - half; /* eigenvector of the larger one, either of two forms */
  if (half >= 0)
    ex = radius + half, ey = h12;
  const double length = tl_hypot_d(ex, ey);
  ex = length > 0 ? ex / length : 1, ey = length > 0 ? ey / length : 0;
  *soft = tl_dadd(tl_dscale(t1, -ey), tl_dscale(t2, ex));
  const double g1 = tl_ddot(at->t, t1), g2 = tl_ddot(at->t, t2);
  const double tiny = DBL_EPSILON * (at->a.h + at->b.h);
  const double along = -(ex * g1 + ey * g2) / fmax(fabs(big), tiny);
  const double across = -(-ey * g1 + ex * g2) / fmax(fabs(*least), tiny);
  return tl_dadd(tl_dscale(t1, ex * along - ey * across), tl_dscale(t2, ey * along + ex * across));
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Turns columns i and j of n so that they are orthogonal; false if they already were. */
TL_FN bool tl_ell_turn_columns(double n[3][3], int i, int j) {
  double aa = 0, bb = 0, ab = 0;
  for (int k = 0; k < 3; ++k)
    aa += n[k][i] * n[k][i], bb += n[k][j] * n[k][j], ab += n[k][i] * n[k][j];
  if (!(fabs(ab) > 1e-16 * sqrt(aa * bb)))
    return false;
  const double tau = (bb - aa) / (2 * ab), root = tl_hypot_d(1.0, tau);
  const double t = tau >= 0 ? 1 / (tau + root) : 1 / (tau - root);
  const double c = 1 / sqrt(1 + t * t), s = c * t;
  for (int k = 0; k < 3; ++k) {
    const double x = n[k][i], y = n[k][j];
    n[k][i] = c * x - s * y;
    n[k][j] = s * x + c * y;
  }
  return true;
}

/* The normal of Perram and Wertheim from `round` to `other`, which lies at d: not unit, 0 where d
 * is. Solves sqrt(q2/q1) = 1 for xi to rounding, as ellipsoid_lanes.h does. */
TL_FN talus_dvec3 tl_ellipsoids_start(const tl_ellipsoid *round, const tl_ellipsoid *other,
                                      talus_dvec3 d) {
  double n[3][3], e[3], lambda[3];
  for (int j = 0; j < 3; ++j) {
    const talus_dvec3 axis = tl_frame_to_local(&round->frame, tl_frame_axis(&other->frame, j));
    n[0][j] = axis.x / round->half[0] * other->half[j];
    n[1][j] = axis.y / round->half[1] * other->half[j];
    n[2][j] = axis.z / round->half[2] * other->half[j];
  }
  for (int sweep = 0, busy = 1; sweep < 30 && busy; ++sweep) {
    busy = tl_ell_turn_columns(n, 0, 1);
    busy |= tl_ell_turn_columns(n, 0, 2);
    busy |= tl_ell_turn_columns(n, 1, 2);
  }
  const talus_dvec3 v = tl_frame_to_local(&round->frame, d);
  const double x[3] = {v.x / round->half[0], v.y / round->half[1], v.z / round->half[2]};
  double top = 0, bottom = 0;
  for (int j = 0; j < 3; ++j) {
    lambda[j] = n[0][j] * n[0][j] + n[1][j] * n[1][j] + n[2][j] * n[2][j];
    const double length = sqrt(lambda[j]);
    for (int k = 0; k < 3; ++k)
      n[k][j] /= length;
    e[j] = n[0][j] * x[0] + n[1][j] * x[1] + n[2][j] * x[2];
    top += e[j] * e[j], bottom += lambda[j] * e[j] * e[j];
  }
  double xi = bottom > 0 ? sqrt(top / bottom) : 1;
  for (int i = 0; i < 100; ++i) {
    double q1 = 0, s2 = 0, k = 0;
    for (int j = 0; j < 3; ++j) {
      const double y = e[j] / (1 + xi * lambda[j]);
      q1 += y * y, s2 += lambda[j] * y * y, k += lambda[j] * y * y / (1 + xi * lambda[j]);
    }
    const double root2 = xi * sqrt(s2);
    double next = xi + (sqrt(q1) - root2) * root2 * q1 / (k * xi * (q1 + xi * s2));
    if (!(next > 0.25 * xi))
      next = 0.25 * xi;
    if (!(fabs(next - xi) > 1e-15 * xi) || !(next < 1e150))
      break;
    xi = next;
  }
  double y[3] = {0, 0, 0};
  for (int j = 0; j < 3; ++j)
    for (int k = 0; k < 3; ++k)
      y[k] += n[k][j] * (e[j] / (1 + xi * lambda[j]));
  return tl_frame_to_world(
      &round->frame, tl_dvec3(y[0] / round->half[0], y[1] / round->half[1], y[2] / round->half[2]));
}

/* The axis, of the six of the two bodies, along which they overlap least: for centres so near each
 * other that the line between them has no direction (the paper's cases 1 and 2). It points in the
 * positive direction, unless they overlap less in the other. */
TL_FN talus_dvec3 tl_ellipsoids_best_axis(const tl_ellipsoid *a, const tl_ellipsoid *b,
                                          talus_dvec3 d) {
  talus_dvec3 best = tl_frame_axis(&a->frame, 0);
  double least = HUGE_VAL;
  for (int i = 0; i < 12; ++i) {
    const talus_dvec3 axis = tl_frame_axis(i % 6 < 3 ? &a->frame : &b->frame, i % 3);
    const talus_dvec3 c = i < 6 ? axis : tl_dscale(axis, -1);
    const double w = tl_ellipsoids_width(a, b, d, c).w;
    if (w < least)
      least = w, best = c;
  }
  return best;
}

TL_FN talus_dvec3 tl_ellipsoids_first_normal(const tl_ellipsoid *a, const tl_ellipsoid *b,
                                             talus_dvec3 d) {
  const double least = fmin(tl_ellipsoid_least(a), tl_ellipsoid_least(b));
  if (!(tl_dlength(d) > 1e-6 * least))
    return tl_ellipsoids_best_axis(a, b, d);
  const double thin_a = tl_ellipsoid_most(a) / tl_ellipsoid_least(a);
  const double thin_b = tl_ellipsoid_most(b) / tl_ellipsoid_least(b);
  if (thin_a <= thin_b)
    return tl_ell_unit(tl_ellipsoids_start(a, b, d));
  return tl_dscale(tl_ell_unit(tl_ellipsoids_start(b, a, tl_dscale(d, -1))), -1);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* A start on an axis of both bodies can be a saddle of w, where the gradient is 0. This goes a
 * third of a radian away from it, to the side that overlaps less. */
TL_FN tl_ell_width tl_ellipsoids_off_saddle(const tl_ellipsoid *a, const tl_ellipsoid *b,
                                            talus_dvec3 d, const tl_ell_width *at,
                                            talus_dvec3 soft) {
  const talus_dvec3 side = tl_dscale(soft, 0.35);
  const tl_ell_width one = tl_ellipsoids_width(a, b, d, tl_ell_unit(tl_dadd(at->c, side)));
  const tl_ell_width two = tl_ellipsoids_width(a, b, d, tl_ell_unit(tl_dsub(at->c, side)));
  return two.w < one.w ? two : one;
}

/* Finds the minimum of w near its start, with at most 200 evaluations, of which it usually needs a
 * few. False: the gap is more than the margin. *least, if not NULL, becomes the smaller eigenvalue
 * of the Hessian. */
TL_FN bool tl_ellipsoids_search(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 d,
                                talus_dvec3 c, double margin, tl_ell_contact *out, double *least) {
  double eigenvalue = 0;
  tl_ell_width at = tl_ellipsoids_width(a, b, d, c);
  for (int looks = 0; looks < 200;) {
    if (-at.w > margin)
      return false;
    talus_dvec3 soft, s = tl_ellipsoids_step(a, b, &at, &eigenvalue, &soft);
    const double length = tl_dlength(s), size = at.a.h + at.b.h;
    if (!(length > 1e-14)) {
      if (!(eigenvalue < -1e-12 * size))
        break;
      at = tl_ellipsoids_off_saddle(a, b, d, &at, soft);
      looks += 2;
      continue;
    }
    if (length > 0.7)
      s = tl_dscale(s, 0.7 / length);
    const double gradient = tl_dlength(at.t);
    bool moved = false;
    for (; looks < 200 && !moved; s = tl_dscale(s, 0.3)) {
      const double angle = tl_dlength(s);
      if (!(angle > 1e-15))
        break;
      const talus_dvec3 next = tl_ell_unit(
          tl_dadd(tl_dscale(at.c, tl_cos_d(angle)), tl_dscale(s, tl_sin_d(angle) / angle)));
      const tl_ell_width trial = tl_ellipsoids_width(a, b, d, next);
      looks++;
      /* Near the end w is constant to rounding, and only the gradient still decides. */
      const bool flat = fabs(trial.w - at.w) <= 1e-13 * size && eigenvalue > 0;
      moved = trial.w < at.w - 1e-13 * size || (flat && tl_dlength(trial.t) < gradient);
      if (moved)
        at = trial;
      else if (flat && angle < 1e-3)
        break; /* from here on rounding decides */
    }
    if (!moved)
      break;
  }
  out->normal.x = at.c.x, out->normal.y = at.c.y, out->normal.z = at.c.z;
  out->p1.x = at.a.point.x, out->p1.y = at.a.point.y, out->p1.z = at.a.point.z;
  out->p2.x = at.b.point.x, out->p2.y = at.b.point.y, out->p2.z = at.b.point.z;
  out->w = at.w, out->h1 = at.a.h, out->h2 = at.b.h;
  if (least)
    *least = eigenvalue;
  return -at.w <= margin;
}

TL_FN bool tl_ellipsoids_contact_careful(const tl_ellipsoid *a, const tl_ellipsoid *b,
                                         talus_dvec3 d, double margin, tl_ell_contact *out) {
  return tl_ellipsoids_search(a, b, d, tl_ellipsoids_first_normal(a, b, d), margin, out, NULL);
}

#endif
