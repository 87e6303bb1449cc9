/* Kernels: two ellipsoids: do they touch, and where (docs/theory/ellipsoids.md).
 *
 * An ellipsoid with half axes R and axes A is the set |R^-1 A^T x| <= 1; M = A R^2 A^T
 * (Pazouki, Mazhar and Negrut 2012, A-11). Its half width along a unit vector c is
 * h(c) = sqrt(c^T M c), reached at the surface point p(c) = M c / h(c) whose normal is c.
 * Everything is relative: the first body's centre is the origin, d is the second one's. In global
 * coordinates the characteristic matrices lose what a contact is made of (docs/sources.md A5).
 *
 * Yes or no. The function
 *     h(xi) = xi d^T (M1 + xi M2)^-1 d - (1 + xi),   xi > 0
 * is concave, and the bodies are apart exactly where its maximum is above 0. It is the determinant
 * of the paper's characteristic equation over det(xi K1 + K2) > 0, and with s = xi/(1 + xi) the
 * function of Perram and Wertheim (1985). Every look at it can end the search with a proof: a
 * plane with normal y = (M1 + xi M2)^-1 d between them, or the point M1 y within both.
 *
 * Where. w(c) = h1(c) + h2(c) - c.d is how far they overlap along the unit vector c; its gradient
 * is the paper's d = P1 - P2, so the minima of w are those of the paper's |P1 - P2|^2. Newton's
 * method on the sphere, started from y/|y|, takes two to four steps. Any c gives the bound
 * gap >= -w(c), so pairs that are too far apart leave at once.
 *
 * Three solvers share this work: the looks of ellipsoid_lanes.h, which are fast and either
 * converge within a few steps or say that they did not; the careful one of ellipsoid_careful.h,
 * which takes whatever those leave, and all bodies thinner than TL_ELL_THIN; the paper's own of
 * ellipsoid_opm.h and ellipsoid_chm.h. */
#ifndef TL_KERNELS_ELLIPSOID_H
#define TL_KERNELS_ELLIPSOID_H

#include "kernels/collide.h"

/* Half axes, longest over shortest, beyond which M is not worth forming in double. */
#define TL_ELL_THIN 30.0
/* At most so many evaluations of h(xi), and of w(c). */
#define TL_ELL_LOOKS  20
#define TL_ELL_ROUNDS 16
/* Newton is done where its step is below this many radians (squared). */
#define TL_ELL_STEP2 1e-18
/* If the excess of h is below this, the gap itself decides whether they are apart. */
#define TL_ELL_TIE 1e-13

/* ---- the looks, with a double and with a float ----------------------------------------------- */

#define TRUTH              int
#define ANY(test)          (test)
#define SELECT(test, a, b) ((test) ? (a) : (b))
#define NUMBER             double
#define NUMBER_SQRT(x)     sqrt(x)
#define ELL(name)          tl_ell_##name
#include "kernels/ellipsoid_lanes.h"
#undef NUMBER
#undef NUMBER_SQRT
#undef ELL
#define NUMBER         float
#define NUMBER_SQRT(x) sqrtf(x)
#define ELL(name)      tl_ellf_##name
#include "kernels/ellipsoid_lanes.h"
#undef NUMBER
#undef NUMBER_SQRT
#undef ELL
#undef TRUTH
#undef ANY
#undef SELECT

/* ---- bodies ---------------------------------------------------------------------------------- */

/* An ellipsoid and its axes, without its centre. */
typedef struct tl_ellipsoid {
  double half[3]; /* half axes, m */
  tl_frame frame;
} tl_ellipsoid;

TL_FN double tl_ellipsoid_least(const tl_ellipsoid *e) {
  return fmin(e->half[0], fmin(e->half[1], e->half[2]));
}
TL_FN double tl_ellipsoid_most(const tl_ellipsoid *e) {
  return fmax(e->half[0], fmax(e->half[1], e->half[2]));
}

TL_FN bool tl_ellipsoid_is_sphere(const tl_ellipsoid *e) {
  return e->half[0] == e->half[1] && e->half[1] == e->half[2];
}

/* M = A R^2 A^T, m2. */
TL_FN tl_ell_sym tl_ellipsoid_matrix(const tl_ellipsoid *e) {
  const double a = e->half[0] * e->half[0], b = e->half[1] * e->half[1];
  const double c = e->half[2] * e->half[2];
  tl_ell_sym m;
  if (a == b && b == c) {
    m.xx = m.yy = m.zz = a;
    m.xy = m.xz = m.yz = 0;
    return m;
  }
  const double(*f)[3] = e->frame.m;
  m.xx = a * f[0][0] * f[0][0] + b * f[0][1] * f[0][1] + c * f[0][2] * f[0][2];
  m.yy = a * f[1][0] * f[1][0] + b * f[1][1] * f[1][1] + c * f[1][2] * f[1][2];
  m.zz = a * f[2][0] * f[2][0] + b * f[2][1] * f[2][1] + c * f[2][2] * f[2][2];
  m.xy = a * f[0][0] * f[1][0] + b * f[0][1] * f[1][1] + c * f[0][2] * f[1][2];
  m.xz = a * f[0][0] * f[2][0] + b * f[0][1] * f[2][1] + c * f[0][2] * f[2][2];
  m.yz = a * f[1][0] * f[2][0] + b * f[1][1] * f[2][1] + c * f[1][2] * f[2][2];
  return m;
}

/* A pair in float. Lengths are divided by `unit`, about the size of the bodies: the determinant of
 * M is the sixth power of a length, and a grain of 0.1 mm would leave the range of float. */
TL_FN tl_ellf_sym tl_ell_sym_to_float(tl_ell_sym m, double unit) {
  const double s = 1 / (unit * unit);
  tl_ellf_sym r;
  r.xx = (float)(m.xx * s), r.yy = (float)(m.yy * s), r.zz = (float)(m.zz * s);
  r.xy = (float)(m.xy * s), r.xz = (float)(m.xz * s), r.yz = (float)(m.yz * s);
  return r;
}

TL_FN tl_ellf_pair tl_ell_pair_to_float(const tl_ell_pair *p, double unit) {
  tl_ellf_pair r;
  r.m1 = tl_ell_sym_to_float(p->m1, unit);
  r.m2 = tl_ell_sym_to_float(p->m2, unit);
  r.d.x = (float)(p->d.x / unit), r.d.y = (float)(p->d.y / unit), r.d.z = (float)(p->d.z / unit);
  return r;
}

/* ---- yes or no ------------------------------------------------------------------------------- */

/* What one evaluation of h(xi) proves. Near a tie rounding prevents both proofs; then the sign of
 * the width along y decides, which is exact to second order at the maximum of h. */
typedef enum tl_ell_answer { TL_ELL_APART, TL_ELL_COMMON, TL_ELL_TIED } tl_ell_answer;

/* Whether two ellipsoids share a point (touching counts), in double; *xi is where it ended. Aspect
 * ratios up to TL_ELL_THIN; concentric ones do (d = 0 gives q1 = q2 = 0). "Yes" is taken only where
 * the next step would change xi by a share of at most `settle`: a deep overlap is certain long
 * before y is the normal of Perram and Wertheim, which a contact wants to start from. */
#define TL_ELL_SETTLE 0.0625
TL_FN tl_ell_answer tl_ellipsoids_ask(const tl_ell_pair *p, double settle, double *xi,
                                      tl_ell_vec *y) {
  double x = tl_ell_start(*p);
  x = x > 0 ? x : 1;
  tl_ell_look look = tl_ell_look_at(*p, x);
  for (int i = 1;; ++i) {
    *xi = x;
    *y = look.y;
    if (look.excess > TL_ELL_TIE)
      return TL_ELL_APART;
    const double change = fabs(look.next - x);
    if (look.q1 <= 1 && look.q2 <= 1 && change <= settle * x)
      return TL_ELL_COMMON;
    if (i == TL_ELL_LOOKS || change <= 1e-15 * x)
      return TL_ELL_TIED;
    x = look.next;
    look = tl_ell_look_at(*p, x);
  }
}

TL_FN bool tl_ellipsoids_overlap(const tl_ell_pair *p) {
  double xi;
  tl_ell_vec y;
  const tl_ell_answer answer = tl_ellipsoids_ask(p, HUGE_VAL, &xi, &y);
  if (answer == TL_ELL_TIED)
    return tl_ell_look_at(*p, xi).width >= 0;
  return answer == TL_ELL_COMMON;
}

/* The same in float: right where the gap is more than 1e-6 of the bodies' size. */
#define TL_ELLF_TIE 1e-7f
TL_FN bool tl_ellipsoids_overlap_float(const tl_ellf_pair *p) {
  float x = tl_ellf_start(*p);
  x = x > 0 ? x : 1;
  tl_ellf_look look = tl_ellf_look_at(*p, x);
  for (int i = 1;; ++i) {
    if (look.excess > TL_ELLF_TIE)
      return false;
    if (look.q1 <= 1 && look.q2 <= 1)
      return true;
    if (i == TL_ELL_LOOKS || fabsf(look.next - x) <= 1e-6f * x)
      return look.width >= 0;
    x = look.next;
    look = tl_ellf_look_at(*p, x);
  }
}

/* ---- normal, points, gap --------------------------------------------------------------------- */

/* Where two ellipsoids touch or are nearest. */
typedef struct tl_ell_contact {
  tl_ell_vec normal; /* unit, from the first to the second */
  tl_ell_vec p1, p2; /* as in tl_ell_newton */
  double w;          /* minus the gap, m */
  double h1, h2;     /* half widths along the normal, m */
} tl_ell_contact;

typedef enum tl_ell_outcome { TL_ELL_FAR, TL_ELL_FOUND, TL_ELL_UNSURE } tl_ell_outcome;

/* Once the step is small, w may grow by rounding alone. */
#define TL_ELL_GROWTH 1e-13

/* Newton's steps from the unit vector c. A step is accepted if w decreases and shortened if not.
 * FAR: the gap is more than the margin. UNSURE: it did not converge, use the careful solver. */
TL_FN tl_ell_outcome tl_ellipsoids_find_contact(const tl_ell_pair *p, tl_ell_vec c, double margin,
                                                tl_ell_contact *out) {
  double before = HUGE_VAL;
  tl_ell_vec base = c;
  for (int i = 0; i < TL_ELL_ROUNDS; ++i) {
    const tl_ell_newton t = tl_ell_newton_at(*p, c);
    if (-t.w > margin)
      return TL_ELL_FAR;
    const bool falls = t.w <= before + TL_ELL_GROWTH * (t.h1 + t.h2);
    if (falls && t.step <= TL_ELL_STEP2) {
      if (!t.convex) /* a saddle, from a start on an axis of both */
        return TL_ELL_UNSURE;
      out->normal = c;
      out->p1 = t.p1, out->p2 = t.p2;
      out->w = t.w, out->h1 = t.h1, out->h2 = t.h2;
      return TL_ELL_FOUND;
    }
    if (falls) {
      before = t.w;
      base = c;
      c = t.next;
    } else {
      c = tl_ell_retreat(base, c);
    }
  }
  return TL_ELL_UNSURE;
}

#endif
