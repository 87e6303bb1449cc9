/* Two ellipsoids in long double, by other formulas than the kernels: the slow reference.
 *
 * The normal of Perram and Wertheim by bisection on q1 = q2, then gradient descent and Newton on
 * the sphere by finite steps of a tangent basis, with halving. Takes frames as they are given: what
 * rounding did to them is the input's. */
#ifndef TESTS_ELLIPSOID_REFERENCE_H
#define TESTS_ELLIPSOID_REFERENCE_H

#include "kernels/collide_ellipsoid.h"

typedef long double ld;
typedef struct ref_vec {
  ld v[3];
} ref_vec;

typedef struct ref_result {
  ld w, least; /* overlap along the normal; smaller eigenvalue of the Hessian, m */
  ld start_w;  /* overlap along the first normal */
  ref_vec normal, start, p1, p2;
  bool apart; /* by the concave function at its maximum */
} ref_result;

static ld ref_dot(ref_vec a, ref_vec b) {
  return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2];
}
static ref_vec ref_madd(ref_vec a, ld s, ref_vec b) {
  return (ref_vec){{a.v[0] + s * b.v[0], a.v[1] + s * b.v[1], a.v[2] + s * b.v[2]}};
}
static ref_vec ref_unit(ref_vec a) {
  const ld length = sqrtl(ref_dot(a, a));
  return (ref_vec){{a.v[0] / length, a.v[1] / length, a.v[2] / length}};
}
static ref_vec ref_cross(ref_vec a, ref_vec b) {
  return (ref_vec){{a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2],
                    a.v[0] * b.v[1] - a.v[1] * b.v[0]}};
}

/* R A^T x and A R x. */
static ref_vec ref_in(const tl_ellipsoid *e, ref_vec x) {
  ref_vec r;
  for (int k = 0; k < 3; ++k)
    r.v[k] = (ld)e->half[k] * ((ld)e->frame.m[0][k] * x.v[0] + (ld)e->frame.m[1][k] * x.v[1] +
                               (ld)e->frame.m[2][k] * x.v[2]);
  return r;
}
static ref_vec ref_out(const tl_ellipsoid *e, ref_vec x) {
  ref_vec r = {{0, 0, 0}};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      r.v[i] += (ld)e->frame.m[i][k] * (ld)e->half[k] * x.v[k];
  return r;
}

static void ref_matrix(const tl_ellipsoid *e, ld m[3][3]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      m[i][j] = 0;
      for (int k = 0; k < 3; ++k)
        m[i][j] += (ld)e->frame.m[i][k] * (ld)e->half[k] * (ld)e->half[k] * (ld)e->frame.m[j][k];
    }
}

/* Solves P y = d by Cholesky. */
static ref_vec ref_solve(ld p[3][3], ref_vec d) {
  ld l[3][3] = {{0}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) {
      ld sum = p[i][j];
      for (int k = 0; k < j; ++k)
        sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? sqrtl(sum) : sum / l[j][j];
    }
  ref_vec y = d;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < i; ++k)
      y.v[i] -= l[i][k] * y.v[k];
    y.v[i] /= l[i][i];
  }
  for (int i = 2; i >= 0; --i) {
    for (int k = i + 1; k < 3; ++k)
      y.v[i] -= l[k][i] * y.v[k];
    y.v[i] /= l[i][i];
  }
  return y;
}

/* y, q1 and q2 at xi; xi is in units in which the bodies are of one size. */
static ref_vec ref_look(ld m1[3][3], ld m2[3][3], const tl_ellipsoid *a, const tl_ellipsoid *b,
                        ref_vec d, ld xi, ld *q1, ld *q2) {
  ld p[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      p[i][j] = m1[i][j] + xi * m2[i][j];
  const ref_vec y = ref_solve(p, d), ga = ref_in(a, y), gb = ref_in(b, y);
  *q1 = ref_dot(ga, ga);
  *q2 = xi * xi * ref_dot(gb, gb);
  return y;
}

static ld ref_width(const tl_ellipsoid *a, const tl_ellipsoid *b, ref_vec d, ref_vec c,
                    ref_vec *gradient, ref_vec *p1, ref_vec *p2) {
  const ref_vec ga = ref_in(a, c), gb = ref_in(b, c);
  const ld h1 = sqrtl(ref_dot(ga, ga)), h2 = sqrtl(ref_dot(gb, gb));
  *p1 = ref_out(a, (ref_vec){{ga.v[0] / h1, ga.v[1] / h1, ga.v[2] / h1}});
  *p2 = ref_out(b, (ref_vec){{gb.v[0] / h2, gb.v[1] / h2, gb.v[2] / h2}});
  for (int k = 0; k < 3; ++k)
    gradient->v[k] = p1->v[k] + p2->v[k] - d.v[k];
  return h1 + h2 - ref_dot(c, d);
}

/* Curvature of one body along tangents: u.v/h - (u.g)(v.g)/h^3 with g = R A^T c. */
static void ref_curve(const tl_ellipsoid *e, ref_vec c, ref_vec t1, ref_vec t2, ld k[3]) {
  const ref_vec g = ref_in(e, c), u = ref_in(e, t1), v = ref_in(e, t2);
  const ld h = sqrtl(ref_dot(g, g));
  const ref_vec ug = ref_cross(u, g), vg = ref_cross(v, g);
  k[0] += ref_dot(ug, ug) / (h * h * h);
  k[1] += ref_dot(vg, vg) / (h * h * h);
  k[2] += ref_dot(ug, vg) / (h * h * h);
}

static ref_vec ref_step(const tl_ellipsoid *a, const tl_ellipsoid *b, ref_vec c, ref_vec gradient,
                        ld w, ld *least) {
  ref_vec axis = {{0, 0, 0}};
  int small = 0;
  for (int k = 1; k < 3; ++k)
    if (fabsl(c.v[k]) < fabsl(c.v[small]))
      small = k;
  axis.v[small] = 1;
  const ref_vec t1 = ref_unit(ref_cross(c, axis)), t2 = ref_cross(c, t1);
  ld k[3] = {0, 0, 0};
  ref_curve(a, c, t1, t2, k);
  ref_curve(b, c, t1, t2, k);
  const ld h11 = k[0] - w, h22 = k[1] - w, h12 = k[2];
  const ld angle = 0.5L * atan2l(2 * h12, h11 - h22), co = cosl(angle), si = sinl(angle);
  const ld one = co * co * h11 + 2 * co * si * h12 + si * si * h22;
  const ld two = si * si * h11 - 2 * co * si * h12 + co * co * h22;
  *least = fminl(one, two);
  const ref_vec e1 = ref_madd((ref_vec){{co * t1.v[0], co * t1.v[1], co * t1.v[2]}}, si, t2);
  const ref_vec e2 = ref_madd((ref_vec){{-si * t1.v[0], -si * t1.v[1], -si * t1.v[2]}}, co, t2);
  ref_vec s = {{0, 0, 0}};
  s = ref_madd(s, -ref_dot(gradient, e1) / fabsl(one), e1);
  return ref_madd(s, -ref_dot(gradient, e2) / fabsl(two), e2);
}

static void ref_descend(const tl_ellipsoid *a, const tl_ellipsoid *b, ref_vec d, ref_result *r) {
  ref_vec c = r->start, g;
  ld w = ref_width(a, b, d, c, &g, &r->p1, &r->p2);
  r->start_w = w;
  for (int i = 0; i < 300; ++i) {
    ref_vec s = ref_step(a, b, c, g, w, &r->least);
    ld length = sqrtl(ref_dot(s, s));
    if (!(length > 1e-18L))
      break;
    bool moved = false;
    for (ld f = length > 0.7L ? 0.7L / length : 1; f * length > 1e-19L && !moved; f *= 0.5L) {
      const ref_vec next = ref_unit(ref_madd(c, f, s));
      ref_vec gn, p1, p2;
      const ld wn = ref_width(a, b, d, next, &gn, &p1, &p2);
      moved = wn < w;
      if (moved)
        c = next, w = wn, g = gn, r->p1 = p1, r->p2 = p2;
    }
    if (!moved) { /* w is flat to rounding: one last step on the gradient alone */
      if (length < 1e-8L) {
        c = ref_unit(ref_madd(c, 1, s));
        w = ref_width(a, b, d, c, &g, &r->p1, &r->p2);
      }
      break;
    }
  }
  r->normal = c;
  r->w = w;
}

static ref_result ref_contact(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 at) {
  const ref_vec d = {{at.x, at.y, at.z}};
  ld m1[3][3], m2[3][3], q1, q2, lo = -30, hi = 30; /* powers of 2, for sizes to 1 : 2^30 */
  ref_matrix(a, m1);
  ref_matrix(b, m2);
  for (int i = 0; i < 72; ++i) {
    const ld mid = 0.5L * (lo + hi);
    ref_look(m1, m2, a, b, d, exp2l(mid), &q1, &q2);
    if (q1 > q2)
      lo = mid;
    else
      hi = mid;
  }
  ref_result r = {0};
  const ref_vec y = ref_look(m1, m2, a, b, d, exp2l(0.5L * (lo + hi)), &q1, &q2);
  r.apart = q1 > 1 && q2 > 1;
  r.start = ref_unit(y);
  ref_descend(a, b, d, &r);
  return r;
}

#endif
