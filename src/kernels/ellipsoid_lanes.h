/* Ellipsoid against ellipsoid: one look of each iteration, for a NUMBER that is a real or a vector
 * of reals (ellipsoid.h says what is computed and why).
 *
 * No include guard: it is included once for each NUMBER. What must be defined:
 *   NUMBER              the type; + - * / and comparisons work lane by lane
 *   TRUTH               what a comparison gives; & | work on it
 *   NUMBER_SQRT(x)      the root of each lane, correctly rounded
 *   SELECT(test, a, b)  a where the test holds, b elsewhere
 *   ANY(test)           whether it holds in any lane
 *   ELL(name)           the name with the variant's own prefix
 *
 * Nothing is fused, and a branch (ANY) only skips what no lane would take, so that every variant of
 * one precision gives the same bits. Lanes that hold nonsense (finished pairs) give nonsense and
 * nothing else. */
#ifndef NUMBER
/* If an editor or the compile check opens this file alone: the variant with a double. */
#include "kernels/ellipsoid.h"
#else

typedef struct ELL(vec) {
  NUMBER x, y, z;
} ELL(vec);

typedef struct ELL(sym) {
  NUMBER xx, yy, zz, xy, xz, yz;
} ELL(sym);

/* Two ellipsoids: their matrices M = A R^2 A^T (Pazouki et al. 2012, A-11) and the way from the
 * centre of the first to that of the second. */
typedef struct ELL(pair) {
  ELL(sym) m1, m2;
  ELL(vec) d;
} ELL(pair);

TL_FN NUMBER ELL(dot)(ELL(vec) a, ELL(vec) b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* s v. */
TL_FN ELL(vec) ELL(times)(ELL(vec) v, NUMBER s) {
  ELL(vec) r;
  r.x = v.x * s, r.y = v.y * s, r.z = v.z * s;
  return r;
}

TL_FN ELL(vec) ELL(apply)(ELL(sym) a, ELL(vec) v) {
  ELL(vec) r;
  r.x = a.xx * v.x + a.xy * v.y + a.xz * v.z;
  r.y = a.xy * v.x + a.yy * v.y + a.yz * v.z;
  r.z = a.xz * v.x + a.yz * v.y + a.zz * v.z;
  return r;
}

/* ---- yes or no ------------------------------------------------------------------------------ */

/* One look at the concave function h(xi) = xi d^T (M1 + xi M2)^-1 d - (1 + xi). */
typedef struct ELL(look) {
  ELL(vec) y;    /* (M1 + xi M2)^-1 d: normal of a plane that may separate them */
  NUMBER excess; /* h(xi) / (1 + xi): above 0 the plane separates them */
  NUMBER q1, q2; /* both <= 1: M1 y is a point of both */
  NUMBER width;  /* (h1(y) + h2(y)) - y.d; its sign is that of w where h has its maximum */
  NUMBER next;   /* the next xi */
} ELL(look);

/* The first xi: the ratio of the half widths along d, which is exact for two spheres that touch. */
TL_FN NUMBER ELL(start)(ELL(pair) p) {
  const ELL(vec) a = ELL(apply)(p.m1, p.d), b = ELL(apply)(p.m2, p.d);
  return NUMBER_SQRT(ELL(dot)(p.d, a) / ELL(dot)(p.d, b));
}

/* Newton on r(xi) = sqrt(q2/q1) = 1, exact in one step for two spheres. There h = (1 + xi)(q1 - 1):
 * the look at that place proves one answer or the other, while the maximum of h, q1 = 1, is reached
 * from the side that proves nothing. With k = (M1 y).P^-1 (M2 y): q1' = -2 k, q2' = 2 xi k. */
TL_FN ELL(look) ELL(look_at)(ELL(pair) p, NUMBER xi) {
  const NUMBER zero = {0}, one = zero + 1;
  const NUMBER xx = p.m1.xx + xi * p.m2.xx, xy = p.m1.xy + xi * p.m2.xy;
  const NUMBER yy = p.m1.yy + xi * p.m2.yy, xz = p.m1.xz + xi * p.m2.xz;
  const NUMBER zz = p.m1.zz + xi * p.m2.zz, yz = p.m1.yz + xi * p.m2.yz;
  ELL(sym) c; /* cofactors */
  c.xx = yy * zz - yz * yz, c.xy = xz * yz - xy * zz;
  c.yy = xx * zz - xz * xz, c.xz = xy * yz - xz * yy;
  c.zz = xx * yy - xy * xy, c.yz = xy * xz - yz * xx;
  const NUMBER inverse = one / (xx * c.xx + xy * c.xy + xz * c.xz);
  ELL(look) r;
  r.y = ELL(times)(ELL(apply)(c, p.d), inverse);
  const ELL(vec) u = ELL(apply)(p.m1, r.y), v = ELL(apply)(p.m2, r.y);
  const NUMBER along = ELL(dot)(p.d, r.y), s2 = ELL(dot)(r.y, v);
  r.q1 = ELL(dot)(r.y, u);
  r.q2 = xi * xi * s2;
  r.excess = (xi * along) / (one + xi) - one;
  const NUMBER root1 = NUMBER_SQRT(r.q1), root = NUMBER_SQRT(s2), root2 = xi * root;
  r.width = (root1 + root) - along;
  const NUMBER k = ELL(dot)(u, ELL(apply)(c, v)) * inverse;
  const NUMBER moved = xi + (root1 - root2) * root2 * r.q1 / (k * xi * along);
  r.next = SELECT(moved > xi / 4, moved, xi / 4);
  return r;
}

/* ---- normal, points, gap -------------------------------------------------------------------- */

/* One look at the width function w(c) = h1(c) + h2(c) - c.d on the unit sphere, at its gradient
 * p1 + p2 - d, and Newton's step. */
typedef struct ELL(newton) {
  ELL(vec) p1, p2; /* surface point of the first from its centre; minus that of the second */
  NUMBER w;        /* how far they overlap along c */
  NUMBER h1, h2;   /* half widths along c */
  ELL(vec) next;   /* the next c, unit */
  NUMBER step;     /* |s|^2 of Newton's step s before it is shortened, radians^2 */
  TRUTH convex;    /* the Hessian is positive definite: where the step ends is a minimum */
} ELL(newton);

/* The Hessian on the tangent plane is H = S - w I, S = sum (M_k - p_k p_k^T) / h_k, and S c = 0. So
 * its trace and determinant follow from those of S without a basis of the plane, and every function
 * of H is lead + bend H; its inverse is (trace - H)/det by Cayley-Hamilton. */
typedef struct ELL(hessian) {
  ELL(sym) s;
  NUMBER trace, det;
} ELL(hessian);

TL_FN ELL(hessian) ELL(bend)(ELL(pair) p, ELL(vec) a, ELL(vec) b, NUMBER i1, NUMBER i2, NUMBER w) {
  ELL(hessian) r;
  ELL(sym) s;
  s.xx = (p.m1.xx - a.x * a.x) * i1 + (p.m2.xx - b.x * b.x) * i2;
  s.yy = (p.m1.yy - a.y * a.y) * i1 + (p.m2.yy - b.y * b.y) * i2;
  s.zz = (p.m1.zz - a.z * a.z) * i1 + (p.m2.zz - b.z * b.z) * i2;
  s.xy = (p.m1.xy - a.x * a.y) * i1 + (p.m2.xy - b.x * b.y) * i2;
  s.xz = (p.m1.xz - a.x * a.z) * i1 + (p.m2.xz - b.x * b.z) * i2;
  s.yz = (p.m1.yz - a.y * a.z) * i1 + (p.m2.yz - b.y * b.z) * i2;
  const NUMBER trace = s.xx + s.yy + s.zz;
  const NUMBER minors =
      (s.xx * s.yy - s.xy * s.xy) + (s.xx * s.zz - s.xz * s.xz) + (s.yy * s.zz - s.yz * s.yz);
  r.s = s;
  r.trace = trace - (w + w);
  r.det = minors - w * (trace - w);
  return r;
}

/* Minus Newton's step for the gradient t: H^-1 t, or |H|^-1 t where H is not positive definite. For
 * one negative eigenvalue, with D = det sqrt(trace^2 - 4 det), 1/|H| = (trace H - (trace^2 - 2
 * det))/D; for two it is -1/H. */
TL_FN ELL(vec) ELL(solve)(ELL(hessian) h, NUMBER w, ELL(vec) t) {
  const NUMBER zero = {0}, one = zero + 1;
  ELL(vec) ht = ELL(apply)(h.s, t);
  ht.x = ht.x - w * t.x, ht.y = ht.y - w * t.y, ht.z = ht.z - w * t.z;
  NUMBER scale = h.det, lead = h.trace, bend = -one;
  if (ANY((h.det <= zero) | (h.trace <= zero))) {
    const NUMBER square = h.trace * h.trace;
    const TRUTH saddle = h.det < zero;
    const NUMBER root = NUMBER_SQRT(SELECT(saddle, square - 4 * h.det, one));
    const TRUTH top = (h.det >= zero) & (h.trace <= zero);
    scale = SELECT(saddle, h.det * root, SELECT(top, -h.det, h.det));
    lead = SELECT(saddle, (h.det + h.det) - square, h.trace);
    bend = SELECT(saddle, h.trace, -one);
  }
  const NUMBER inverse = one / scale;
  ELL(vec) r;
  r.x = (lead * t.x + bend * ht.x) * inverse;
  r.y = (lead * t.y + bend * ht.y) * inverse;
  r.z = (lead * t.z + bend * ht.z) * inverse;
  return r;
}

TL_FN ELL(newton) ELL(newton_at)(ELL(pair) p, ELL(vec) c) {
  const NUMBER zero = {0}, one = zero + 1;
  ELL(newton) r;
  const ELL(vec) a = ELL(apply)(p.m1, c), b = ELL(apply)(p.m2, c);
  const NUMBER a2 = ELL(dot)(c, a), b2 = ELL(dot)(c, b);
  r.h1 = NUMBER_SQRT(a2), r.h2 = NUMBER_SQRT(b2);
  const NUMBER both = one / (r.h1 * r.h2), i1 = both * r.h2, i2 = both * r.h1;
  r.p1 = ELL(times)(a, i1), r.p2 = ELL(times)(b, i2);
  ELL(vec) g;
  g.x = (r.p1.x + r.p2.x) - p.d.x;
  g.y = (r.p1.y + r.p2.y) - p.d.y;
  g.z = (r.p1.z + r.p2.z) - p.d.z;
  r.w = ELL(dot)(g, c);
  ELL(vec) t;
  t.x = g.x - r.w * c.x, t.y = g.y - r.w * c.y, t.z = g.z - r.w * c.z;
  const ELL(hessian) hessian = ELL(bend)(p, r.p1, r.p2, i1, i2, r.w);
  const ELL(vec) s = ELL(solve)(hessian, r.w, t);
  r.convex = (hessian.det > zero) & (hessian.trace > zero);
  r.step = ELL(dot)(s, s);
  /* c - s, unit: a turn by atan |s|, and never more than 35 degrees. */
  const TRUTH is_long = r.step > one / 2;
  NUMBER keep = one;
  if (ANY(is_long)) {
    const NUMBER length = NUMBER_SQRT(r.step);
    keep = SELECT(is_long, length + length / 2, one);
  }
  ELL(vec) n;
  n.x = c.x * keep - s.x, n.y = c.y * keep - s.y, n.z = c.z * keep - s.z;
  r.next = ELL(times)(n, one / NUMBER_SQRT(ELL(dot)(n, n)));
  return r;
}

/* Three tenths of the way from the unit vector `base` to c, unit: where a step went too far. */
TL_FN ELL(vec) ELL(retreat)(ELL(vec) base, ELL(vec) c) {
  const NUMBER zero = {0}, one = zero + 1, near = one * 7 / 10, far = one * 3 / 10;
  ELL(vec) n;
  n.x = base.x * near + c.x * far;
  n.y = base.y * near + c.y * far;
  n.z = base.z * near + c.z * far;
  return ELL(times)(n, one / NUMBER_SQRT(ELL(dot)(n, n)));
}

#endif
