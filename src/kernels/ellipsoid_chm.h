/* Kernels: ChM, the characteristic-equation test of Pazouki, Mazhar and Negrut (2012), section 3,
 * corrected.
 *
 * g(xi) = det(xi Q1 + Q2) over its leading coefficient is a monic quartic with at least two
 * negative roots (Wang, Wang and Kim 2001), and the bodies are apart exactly where it has two
 * positive ones. The paper's rules look for them through the roots of g', but
 *   - b0 = det Q2 / det Q1 is always positive: rule (a)(1) decides nothing (docs/sources.md A2);
 *   - rule (b)(2) says that zeta2 < 0 implies a positive root of g; it does not, and 3.7 % of
 *     random contacts are missed (docs/sources.md A4).
 * One rule does it all: apart <=> zeta3 > 0 and g(zeta3) < 0, zeta3 the largest root of g'. With a
 * single real root g' changes sign at a negative place, and there is no positive root.
 *
 * With the first centre as origin (docs/sources.md A5), K = M^-1, C = M1 K2, k = K2 d, b = d.k:
 *   g = det(xi + C) (xi + 1 - b) + k^T adj(xi K1 + K2) k / det K1 */
#ifndef TL_KERNELS_ELLIPSOID_CHM_H
#define TL_KERNELS_ELLIPSOID_CHM_H

#include "kernels/ellipsoid_opm.h"

TL_FN tl_ell_sym tl_ell_adjugate(const tl_ell_sym *a) {
  tl_ell_sym s;
  s.xx = a->yy * a->zz - a->yz * a->yz, s.xy = a->xz * a->yz - a->xy * a->zz;
  s.yy = a->xx * a->zz - a->xz * a->xz, s.xz = a->xy * a->yz - a->xz * a->yy;
  s.zz = a->xx * a->yy - a->xy * a->xy, s.yz = a->xy * a->xz - a->yz * a->xx;
  return s;
}

TL_FN double tl_ell_det(const tl_ell_sym *a, const tl_ell_sym *adjugate) {
  return a->xx * adjugate->xx + a->xy * adjugate->xy + a->xz * adjugate->xz;
}

/* trace(A B) of two symmetric matrices. */
TL_FN double tl_ell_trace(const tl_ell_sym *a, const tl_ell_sym *b) {
  return a->xx * b->xx + a->yy * b->yy + a->zz * b->zz +
         2 * (a->xy * b->xy + a->xz * b->xz + a->yz * b->yz);
}

TL_FN tl_ell_sym tl_ell_scaled(const tl_ell_sym *a, double s) {
  tl_ell_sym r;
  r.xx = a->xx * s, r.yy = a->yy * s, r.zz = a->zz * s;
  r.xy = a->xy * s, r.xz = a->xz * s, r.yz = a->yz * s;
  return r;
}

TL_FN tl_ell_sym tl_ell_sum(const tl_ell_sym *a, const tl_ell_sym *b, double s) {
  tl_ell_sym r;
  r.xx = a->xx + s * b->xx, r.yy = a->yy + s * b->yy, r.zz = a->zz + s * b->zz;
  r.xy = a->xy + s * b->xy, r.xz = a->xz + s * b->xz, r.yz = a->yz + s * b->yz;
  return r;
}

/* b[i] is the coefficient of xi^i of the monic g; b[4] = 1. */
TL_FN void tl_chm_coefficients(const tl_ell_pair *p, double b[5]) {
  const tl_ell_sym a1 = tl_ell_adjugate(&p->m1), a2 = tl_ell_adjugate(&p->m2);
  const double i1 = 1 / tl_ell_det(&p->m1, &a1), i2 = 1 / tl_ell_det(&p->m2, &a2);
  const tl_ell_sym k1 = tl_ell_scaled(&a1, i1), k2 = tl_ell_scaled(&a2, i2);
  const talus_dvec3 d = tl_dvec3(p->d.x, p->d.y, p->d.z), k = tl_ell_mul(&k2, d);
  const double beta = tl_ddot(d, k), rest = 1 - beta;
  /* det(xi + C) = xi^3 + t xi^2 + m xi + n; m = trace(M2 K1) n because adj C = n C^-1. */
  const double n = i2 / i1, t = tl_ell_trace(&p->m1, &k2), m = n * tl_ell_trace(&p->m2, &k1);
  /* adj(xi K1 + K2) = xi^2 adj K1 + xi mixed + adj K2, by polarisation, K2 scaled to K1's size. */
  const double scale = (k1.xx + k1.yy + k1.zz) / (k2.xx + k2.yy + k2.zz);
  const tl_ell_sym k2s = tl_ell_scaled(&k2, scale), both = tl_ell_sum(&k1, &k2s, 1);
  const tl_ell_sym j = tl_ell_adjugate(&both), j1 = tl_ell_adjugate(&k1);
  const tl_ell_sym j2 = tl_ell_adjugate(&k2s);
  const tl_ell_sym less = tl_ell_sum(&j, &j1, -1), mixed = tl_ell_sum(&less, &j2, -1);
  const double n2 = tl_ddot(k, tl_ell_mul(&p->m1, k));
  const double n1 = tl_ddot(k, tl_ell_mul(&mixed, k)) / (i1 * scale);
  b[4] = 1;
  b[3] = t + rest;
  b[2] = m + t * rest + n2;
  b[1] = n + m * rest + n1;
  b[0] = n; /* n rest + n beta */
}

/* The largest root of x^3 + a2 x^2 + a1 x + a0 where it has three distinct ones: chi < 0. */
TL_FN bool tl_chm_largest_root(double a2, double a1, double a0, double *root) {
  const double chi = -18 * a2 * a1 * a0 + 4 * a2 * a2 * a2 * a0 - a2 * a2 * a1 * a1 +
                     4 * a1 * a1 * a1 + 27 * a0 * a0;
  if (!(chi < 0))
    return false;
  const double shift = a2 / 3, q = fmax(shift * shift - a1 / 3, 0.0);
  const double r = shift * (shift * shift - 0.5 * a1) + 0.5 * a0, s = sqrt(q);
  const double angle = tl_acos_d(fmin(1.0, fmax(-1.0, s > 0 ? -r / (q * s) : 0.0)));
  double x = 2 * s * tl_cos_d(angle / 3) - shift;
  for (int i = 0; i < 3; ++i) { /* the cosine leaves a few digits */
    const double slope = (3 * x + 2 * a2) * x + a1;
    if (!(slope > 0))
      break;
    x -= (((x + a2) * x + a1) * x + a0) / slope;
  }
  *root = x;
  return true;
}

/* Whether two ellipsoids share a point. */
TL_FN bool tl_ellipsoids_overlap_chm(const tl_ell_pair *p) {
  double b[5], zeta;
  tl_chm_coefficients(p, b);
  if (!tl_chm_largest_root(0.75 * b[3], 0.5 * b[2], 0.25 * b[1], &zeta) || !(zeta > 0))
    return true;
  const double g = (((zeta + b[3]) * zeta + b[2]) * zeta + b[1]) * zeta + b[0];
  return !(g < 0);
}

#endif
