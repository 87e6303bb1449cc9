/* Kernels: OpM, the optimisation method of Pazouki, Mazhar and Negrut (2012), sections 2 and 5.1.
 *
 *     min over (alpha1, alpha2) of f = |d|^2,  d = P1(c) - P2(-c),
 *     c = (cos a1 cos a2, sin a1 cos a2, sin a2)
 *
 * by gradient descent with optimal step, 16 iterations. The gradient is (3) with, the
 * Hessian (4) with, in which the last derivative of is d c / d alpha_j
 * (docs/sources.md A7; printed is alpha_i, which is wrong by far). With p = M c / h and h = 2
 * lambda:
 *
 *   dP/di      = (M c_i - p (p.c_i)) / h
 *   d2P/di dj  = (3 p (p.c_i)(p.c_j) - M c_i (p.c_j) - M c_j (p.c_i) - p (c_i^T M c_j)) / h^2
 *                + (M c_ij - p (p.c_ij)) / h
 *
 * Two things the paper leaves open. The start is not given: the line of centres, or for concentric
 * bodies the axis of least overlap. And c stalls at the poles, where it does not depend on a1
 * (docs/sources.md A9): the axes are permuted so that the start lies near the equator. */
#ifndef TL_KERNELS_ELLIPSOID_OPM_H
#define TL_KERNELS_ELLIPSOID_OPM_H

#include "kernels/ellipsoid_careful.h"

#define TL_OPM_ITERATIONS 16

/* f with its derivatives at a pair of angles. */
typedef struct tl_opm {
  talus_dvec3 c, d; /* direction; P1 - P2 */
  talus_dvec3 p1, p2;
  double h1, h2;
  double f, gradient[2], hessian[3]; /* 11, 22, 12 */
} tl_opm;

TL_FN talus_dvec3 tl_ell_mul(const tl_ell_sym *m, talus_dvec3 v) {
  return tl_dvec3(m->xx * v.x + m->xy * v.y + m->xz * v.z, m->xy * v.x + m->yy * v.y + m->yz * v.z,
                  m->xz * v.x + m->yz * v.y + m->zz * v.z);
}

/* c and its derivatives; `pole` is the axis of alpha2. */
TL_FN void tl_opm_direction(double a1, double a2, int pole, talus_dvec3 c[6]) {
  const double c1 = tl_cos_d(a1), s1 = tl_sin_d(a1), c2 = tl_cos_d(a2), s2 = tl_sin_d(a2);
  const double table[6][3] = {
      {c1 * c2, s1 * c2, s2},  {-s1 * c2, c1 * c2, 0},    {-c1 * s2, -s1 * s2, c2},
      {-c1 * c2, -s1 * c2, 0}, {-c1 * c2, -s1 * c2, -s2}, {s1 * s2, -c1 * s2, 0},
  }; /* c, c_1, c_2, c_11, c_22, c_12 */
  for (int i = 0; i < 6; ++i) {
    double v[3];
    for (int k = 0; k < 3; ++k)
      v[(pole + 1 + k) % 3] = table[i][k];
    c[i] = tl_dvec3(v[0], v[1], v[2]);
  }
}

/* Adds dP/di to first[2] and, where second is not NULL, d2P/didj (11, 22, 12) to second[3]. */
TL_FN void tl_opm_add_body(const tl_ell_sym *m, const talus_dvec3 c[6], talus_dvec3 *point,
                           double *width, talus_dvec3 first[2], talus_dvec3 second[3]) {
  const talus_dvec3 mc = tl_ell_mul(m, c[0]);
  const double h = sqrt(tl_ddot(c[0], mc));
  const talus_dvec3 p = tl_dscale(mc, 1 / h);
  talus_dvec3 mi[2];
  double pi[2];
  *point = p;
  *width = h;
  for (int i = 0; i < 2; ++i) {
    mi[i] = tl_ell_mul(m, c[1 + i]);
    pi[i] = tl_ddot(p, c[1 + i]);
    first[i] = tl_dadd(first[i], tl_dscale(tl_dsub(mi[i], tl_dscale(p, pi[i])), 1 / h));
  }
  for (int e = 0; second && e < 3; ++e) {
    const int i = e == 1, j = e != 0; /* 11, 22, 12 */
    const talus_dvec3 mij = tl_ell_mul(m, c[3 + e]);
    const double along = 3 * pi[i] * pi[j] - tl_ddot(c[1 + i], mi[j]);
    const talus_dvec3 curl =
        tl_dsub(tl_dscale(p, along), tl_dadd(tl_dscale(mi[i], pi[j]), tl_dscale(mi[j], pi[i])));
    const talus_dvec3 bend = tl_dsub(mij, tl_dscale(p, tl_ddot(p, c[3 + e])));
    second[e] = tl_dadd(second[e], tl_dadd(tl_dscale(curl, 1 / (h * h)), tl_dscale(bend, 1 / h)));
  }
}

/* f, gradient and Hessian. P2 belongs to -c: its derivatives come with a minus, and d = P1 - P2
 * with another, so both bodies add. */
TL_FN tl_opm tl_opm_at(const tl_ell_pair *pair, double a1, double a2, int pole, bool derivatives) {
  tl_opm r;
  talus_dvec3 c[6], first[2], second[3];
  for (int i = 0; i < 3; ++i) {
    first[i % 2] = tl_dvec3(0, 0, 0);
    second[i] = tl_dvec3(0, 0, 0);
  }
  tl_opm_direction(a1, a2, pole, c);
  tl_opm_add_body(&pair->m1, c, &r.p1, &r.h1, first, derivatives ? second : NULL);
  tl_opm_add_body(&pair->m2, c, &r.p2, &r.h2, first, derivatives ? second : NULL);
  r.c = c[0];
  r.d = tl_dsub(tl_dadd(r.p1, r.p2), tl_dvec3(pair->d.x, pair->d.y, pair->d.z));
  r.f = tl_ddot(r.d, r.d);
  for (int i = 0; i < 2; ++i)
    r.gradient[i] = 2 * tl_ddot(r.d, first[i]);
  for (int e = 0; e < 3; ++e) {
    const int i = e == 1, j = e != 0;
    r.hessian[e] = 2 * (tl_ddot(first[i], first[j]) + tl_ddot(r.d, second[e]));
  }
  return r;
}

/* The optimal step along minus the gradient: Newton's step along that line if f is convex there,
 * otherwise from two parabolas through the known values; halved until f decreases. */
TL_FN double tl_opm_line(const tl_ell_pair *pair, const double alpha[2], int pole,
                         const tl_opm *at) {
  const double g1 = at->gradient[0], g2 = at->gradient[1], slope = g1 * g1 + g2 * g2;
  const double bend =
      g1 * g1 * at->hessian[0] + g2 * g2 * at->hessian[1] + 2 * g1 * g2 * at->hessian[2];
  const double most = 0.7 / sqrt(slope);
  double t = bend > 0 ? fmin(slope / bend, most) : most, best = 0, least = at->f;
  for (int i = 0; i < 8; ++i) {
    const double f = tl_opm_at(pair, alpha[0] - t * g1, alpha[1] - t * g2, pole, false).f;
    const double parabola = f - at->f + slope * t;
    const double vertex = parabola > 0 ? 0.5 * slope * t * t / parabola : 2 * t;
    const bool falls = f < least;
    if (falls)
      least = f, best = t;
    if (best > 0 && (!falls || i >= 2))
      break;
    t = falls ? fmin(vertex, most) : fmin(vertex, 0.5 * t);
    if (falls && t == best)
      break;
  }
  return best;
}

/* The paper's search from the unit vector c: 16 iterations, fewer only if f no longer changes. */
TL_FN void tl_ellipsoids_opm(const tl_ell_pair *pair, talus_dvec3 c, tl_ell_contact *out) {
  const double v[3] = {c.x, c.y, c.z};
  int pole = 2;
  for (int i = 0; i < 2; ++i)
    if (fabs(v[i]) < fabs(v[pole]))
      pole = i;
  const double x = v[(pole + 1) % 3], y = v[(pole + 2) % 3], z = v[pole];
  double alpha[2] = {tl_atan2_d(y, x), tl_asin_d(fmin(1.0, fmax(-1.0, z)))};
  tl_opm at = tl_opm_at(pair, alpha[0], alpha[1], pole, true);
  for (int i = 0; i < TL_OPM_ITERATIONS; ++i) {
    if (!(fabs(at.gradient[0]) + fabs(at.gradient[1]) > 0))
      break;
    const double t = tl_opm_line(pair, alpha, pole, &at);
    if (!(t > 0))
      break;
    alpha[0] -= t * at.gradient[0];
    alpha[1] -= t * at.gradient[1];
    at = tl_opm_at(pair, alpha[0], alpha[1], pole, true);
  }
  out->normal.x = at.c.x, out->normal.y = at.c.y, out->normal.z = at.c.z;
  out->p1.x = at.p1.x, out->p1.y = at.p1.y, out->p1.z = at.p1.z;
  out->p2.x = at.p2.x, out->p2.y = at.p2.y, out->p2.z = at.p2.z;
  out->h1 = at.h1, out->h2 = at.h2;
  out->w = tl_ddot(at.d, at.c);
}

#endif
