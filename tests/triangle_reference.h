/* Triangle against triangle as simply as it can be said, in numbers of 113 bits: all pairs of
 * corners, corners and edges, corners and faces, edges; 0 where an edge meets a face. */
#ifndef TESTS_TRIANGLE_REFERENCE_H
#define TESTS_TRIANGLE_REFERENCE_H

#include "base/random.h"
#include "kernels/triangle.h"

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

typedef struct qvec {
  quad x, y, z;
} qvec;

static inline qvec qvec_of(talus_dvec3 p) { return (qvec){p.x, p.y, p.z}; }
static inline qvec qsub(qvec a, qvec b) { return (qvec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline quad qdot(qvec a, qvec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline qvec qadd(qvec a, quad s, qvec b) {
  return (qvec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline qvec qcross(qvec a, qvec b) {
  return (qvec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline quad qmin(quad a, quad b) { return a < b ? a : b; }

/* Newton's method, from the root in double. */
static inline double qroot(quad x) {
  if (!(x > 0))
    return 0;
  quad r = sqrt((double)x);
  if (!(r > 0))
    return 0;
  r = (r + x / r) / 2;
  return (double)((r + x / r) / 2);
}

static inline quad point_segment(qvec p, qvec q, qvec v) {
  const quad vv = qdot(v, v);
  quad t = vv > 0 ? qdot(qsub(p, q), v) / vv : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  const qvec d = qsub(p, qadd(q, t, v));
  return qdot(d, d);
}

static inline quad segment_segment(qvec p, qvec u, qvec q, qvec v) {
  quad best = qmin(qmin(point_segment(p, q, v), point_segment(qadd(p, 1, u), q, v)),
                   qmin(point_segment(q, p, u), point_segment(qadd(q, 1, v), p, u)));
  const qvec n = qcross(u, v), r = qsub(q, p);
  const quad nn = qdot(n, n);
  if (nn > 0) {
    const quad s = qdot(qcross(r, v), n) / nn, t = qdot(qcross(r, u), n) / nn;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) {
      const qvec d = qsub(qadd(p, s, u), qadd(q, t, v));
      best = qmin(best, qdot(d, d));
    }
  }
  return best;
}

static inline bool is_within(qvec p, const qvec t[3], qvec n) {
  for (int k = 0; k < 3; ++k)
    if (qdot(qcross(n, qsub(t[(k + 1) % 3], t[k])), qsub(p, t[k])) < 0)
      return false;
  return true;
}

/* Corners and edges of a against the inside of b. */
static inline quad against_face(const qvec a[3], const qvec b[3]) {
  quad best = 1e300L;
  const qvec n = qcross(qsub(b[1], b[0]), qsub(b[2], b[0]));
  const quad nn = qdot(n, n);
  for (int k = 0; k < 3 && nn > 0; ++k) {
    const quad h = qdot(n, qsub(a[k], b[0])), g = qdot(n, qsub(a[(k + 1) % 3], b[0]));
    if (is_within(a[k], b, n))
      best = qmin(best, h * h / nn);
    if (((h > 0 && g < 0) || (h < 0 && g > 0)) &&
        is_within(qadd(a[k], h / (h - g), qsub(a[(k + 1) % 3], a[k])), b, n))
      best = 0;
  }
  return best;
}

static inline double reference_distance(const tl_triangle_corners *s,
                                        const tl_triangle_corners *t) {
  qvec a[3], b[3];
  for (int k = 0; k < 3; ++k)
    a[k] = qvec_of(s->p[k]), b[k] = qvec_of(t->p[k]);
  quad best = qmin(against_face(a, b), against_face(b, a));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      best = qmin(best, segment_segment(a[i], qsub(a[(i + 1) % 3], a[i]), b[j],
                                        qsub(b[(j + 1) % 3], b[j])));
  return qroot(best);
}

/* The distance of a place from a triangle. */
static inline double reference_point(talus_dvec3 p, const tl_triangle_corners *t) {
  const tl_triangle_corners point = {{p, p, p}};
  return reference_distance(&point, t);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

enum {
  ANY_PAIR,
  NEAR_PAIR,
  CROSSING,
  PARALLEL_SIDES,
  NEARLY_PARALLEL,
  COPLANAR,
  SHARED_VERTEX,
  SHARED_EDGE,
  NEEDLES,
  CAPS,
  NO_AREA,
  POINTS,
  SIZES_OFF,
  FLAT_NEAR,
  STACKED,
  PAIR_CLASSES
};

static inline double draw(tl_random *r) { return 2 * tl_random_unit(r) - 1; }
static inline talus_dvec3 draw_place(tl_random *r) {
  const double x = draw(r), y = draw(r), z = draw(r);
  return tl_dvec3(x, y, z);
}
static inline tl_triangle_corners draw_triangle(tl_random *r) {
  tl_triangle_corners t;
  for (int k = 0; k < 3; ++k)
    t.p[k] = draw_place(r);
  return t;
}
static inline void move_triangle(tl_triangle_corners *t, talus_dvec3 by) {
  for (int k = 0; k < 3; ++k)
    t->p[k] = tl_dadd(t->p[k], by);
}
static inline talus_dvec3 between(talus_dvec3 a, double s, talus_dvec3 b) {
  return tl_dadd(a, tl_dscale(tl_dsub(b, a), s));
}
/* 10^-18 to 1. */
static inline double draw_tiny(tl_random *r) { return tl_pow_d(10, -18 * tl_random_unit(r)); }

/* Heights a millionth of the length: two long sides, or three in a row. */
static inline tl_triangle_corners draw_thin(tl_random *r, bool needle) {
  tl_triangle_corners t = draw_triangle(r);
  const talus_dvec3 aside = tl_dscale(draw_place(r), 1e-6);
  t.p[2] = tl_dadd(needle ? t.p[1] : between(t.p[0], tl_random_unit(r), t.p[1]), aside);
  return t;
}

static inline void draw_flat(tl_random *r, tl_triangle_corners *a, tl_triangle_corners *b) {
  const talus_dvec3 o = draw_place(r), u = draw_place(r), v = draw_place(r);
  for (int k = 0; k < 6; ++k) {
    const double s = draw(r), t = draw(r);
    (k < 3 ? a : b)->p[k % 3] = tl_dadd(o, tl_dadd(tl_dscale(u, s), tl_dscale(v, t)));
  }
}

static inline void draw_pair(int class, tl_random *r, tl_triangle_corners *a,
                             tl_triangle_corners *b) {
  *a = draw_triangle(r), *b = draw_triangle(r);
  switch (class) {
  case ANY_PAIR:
    move_triangle(b, tl_dscale(draw_place(r), 2));
    break;
  case NEAR_PAIR: { /* touch in one place, then part by little along the way between them */
    move_triangle(b, tl_dvec3(2.5, 0, 0));
    const tl_triangle_near near = tl_triangle_triangle(a, b);
    move_triangle(b, tl_dscale(tl_dsub(near.on_a, near.on_b), 1 - draw_tiny(r)));
    break;
  }
  case PARALLEL_SIDES:
    b->p[1] = tl_dadd(b->p[0], tl_dscale(tl_dsub(a->p[1], a->p[0]), draw(r)));
    break;
  case NEARLY_PARALLEL:
    b->p[0] = tl_dadd(a->p[0], tl_dscale(draw_place(r), draw_tiny(r)));
    b->p[1] = tl_dadd(a->p[1], tl_dscale(draw_place(r), draw_tiny(r)));
    break;
  case COPLANAR:
    draw_flat(r, a, b);
    break;
  case SHARED_VERTEX:
    b->p[1] = a->p[2];
    break;
  case SHARED_EDGE:
    b->p[1] = a->p[2], b->p[2] = a->p[1];
    break;
  case NEEDLES:
    *a = draw_thin(r, true), *b = draw_thin(r, true);
    break;
  case CAPS:
    *a = draw_thin(r, false), *b = draw_thin(r, tl_random_unit(r) < 0.5);
    break;
  case NO_AREA:
    a->p[2] = between(a->p[0], draw(r), a->p[1]);
    if (tl_random_unit(r) < 0.5)
      b->p[2] = b->p[0];
    break;
  case POINTS:
    a->p[2] = a->p[1] = a->p[0];
    break;
  case SIZES_OFF:
    for (int k = 0; k < 3; ++k)
      b->p[k] = tl_dscale(b->p[k], 1e-6);
    move_triangle(b, between(between(a->p[0], 0.4, a->p[1]), 0.3, a->p[2]));
    break;
  case FLAT_NEAR:
    draw_flat(r, a, b);
    move_triangle(b, tl_dscale(draw_place(r), draw_tiny(r)));
    break;
  case STACKED:
    *b = *a;
    move_triangle(b, tl_dscale(draw_place(r), draw_tiny(r)));
    break;
  default:
    break; /* CROSSING: many of these do */
  }
}

#endif
