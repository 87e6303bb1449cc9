/* Triangles: how far apart, and where.
 *
 * `comparison` is exact up to rounding: the least of six vertex-face and nine edge-edge distances,
 * or 0 where an edge goes through a face. Every formula is one whose error is a few roundings of
 * the size of the pair (TL_TRIANGLE_ERROR), also for needles, triangles without area, and edges
 * that are parallel or nearly so: the lines of two edges are joined by their common normal u x v
 * and not by the determinant uu vv - (uv)^2, which loses half of the digits there; normals are
 * made orthogonal to the longest side. Squares of squares must be in range: sizes from 1e-70 to
 * 1e70 m.
 *
 * `certified` is any guess with a proof: two places are never nearer than the
 * distance, and a gap between the shadows of both on any line is never wider. Where guess and proof
 * agree that is the answer; where they do not, comparison decides. */
#ifndef TL_KERNELS_TRIANGLE_H
#define TL_KERNELS_TRIANGLE_H

#include "kernels/vec3.h"

/* Largest error of a distance in double, relative to the diameter of the pair. */
#define TL_TRIANGLE_ERROR (8 * DBL_EPSILON)

#define NUMBER             double
#define TRUTH              int
#define ALL(x)             ((double)(x))
#define TRI_FAR            DBL_MAX
#define SELECT(test, a, b) ((test) ? (a) : (b))
#define TRI(name)          tl_triangle_##name##_d
#include "kernels/triangle_lanes.h"
#undef NUMBER
#undef TRUTH
#undef ALL
#undef TRI_FAR
#undef SELECT
#undef TRI

typedef struct tl_triangle_corners {
  talus_dvec3 p[3];
} tl_triangle_corners;

/* Which parts are nearest: 0 to 2: that vertex of a, and the face of b; 3 to 5: the face of a and
 * that vertex of b; 6 + 3 i + j: edge i of a and edge j of b (edge i: from vertex i to the next);
 * 15 to 17: that edge of a goes through b; 18 to 20: that edge of b through a. */
typedef int tl_triangle_feature;
#define TL_TRIANGLE_CROSSES 15 /* from here on */

typedef struct tl_triangle_near {
  talus_dvec3 on_a, on_b; /* the same place where they cross */
  double square;          /* of the distance, m2 */
  tl_triangle_feature feature;
} tl_triangle_near;

TL_FN tl_triangle_vec_d tl_triangle_put(talus_dvec3 p) {
  tl_triangle_vec_d v;
  v.x = p.x, v.y = p.y, v.z = p.z;
  return v;
}

TL_FN tl_triangle_face_d tl_triangle_face(const tl_triangle_corners *t) {
  return tl_triangle_face_of_d(tl_triangle_put(t->p[0]), tl_triangle_put(t->p[1]),
                               tl_triangle_put(t->p[2]));
}

TL_FN tl_triangle_near tl_triangle_found(tl_triangle_near_d best) {
  tl_triangle_near r;
  r.on_a = tl_dvec3(best.on_a.x, best.on_a.y, best.on_a.z);
  r.on_b = tl_dvec3(best.on_b.x, best.on_b.y, best.on_b.z);
  r.square = best.square;
  r.feature = (int)best.feature;
  return r;
}

/* ---- comparison ---------------------------------------------------------------------------- */

TL_FN tl_triangle_near tl_triangle_triangle(const tl_triangle_corners *a,
                                            const tl_triangle_corners *b) {
  const tl_triangle_face_d f = tl_triangle_face(a), g = tl_triangle_face(b);
  return tl_triangle_found(tl_triangle_compare_d(&f, &g));
}

TL_FN tl_triangle_near_d tl_triangle_nothing(void) {
  tl_triangle_near_d best;
  const tl_triangle_vec_d zero = tl_triangle_put(tl_dvec3(0, 0, 0));
  best.on_a = zero, best.on_b = zero, best.square = DBL_MAX, best.feature = 0;
  return best;
}

/* The place of a triangle nearest to p, as on_b; on_a is p. feature: 0 to 2 the edges, 3 the face.
 */
TL_FN tl_triangle_near tl_point_triangle(talus_dvec3 p, const tl_triangle_corners *b) {
  const tl_triangle_face_d f = tl_triangle_face(b);
  const tl_triangle_vec_d x = tl_triangle_put(p), none = tl_triangle_put(tl_dvec3(0, 0, 0));
  tl_triangle_near_d best = tl_triangle_nothing();
  for (int k = 0; k < 3; ++k)
    tl_triangle_keep_sides_d(&best, x, none, 0, f.corner[k], f.side[k], f.per[k], k);
  tl_triangle_keep_face_d(&best, &f, x, tl_triangle_height_d(&f, x), 1, 3);
  return tl_triangle_found(best);
}

/* Segment p to q against a triangle. feature: 0 to 2 the edges; 3, 4 the first or second end and
 * the face; 15: it goes through. */
TL_FN tl_triangle_near tl_segment_triangle(talus_dvec3 p, talus_dvec3 q,
                                           const tl_triangle_corners *b) {
  const tl_triangle_face_d f = tl_triangle_face(b);
  const tl_triangle_vec_d x = tl_triangle_put(p), y = tl_triangle_put(q);
  const tl_triangle_vec_d u = tl_triangle_minus_d(y, x);
  const double per_u = tl_triangle_inverse_d(tl_triangle_dot_d(u, u));
  const double h = tl_triangle_height_d(&f, x), k = tl_triangle_height_d(&f, y);
  tl_triangle_near_d best = tl_triangle_nothing();
  for (int i = 0; i < 3; ++i)
    tl_triangle_keep_sides_d(&best, x, u, per_u, f.corner[i], f.side[i], f.per[i], i);
  tl_triangle_keep_face_d(&best, &f, x, h, 1, 3);
  tl_triangle_keep_face_d(&best, &f, y, k, 1, 4);
  tl_triangle_keep_crossing_d(&best, &f, x, u, h, k, TL_TRIANGLE_CROSSES);
  return tl_triangle_found(best);
}

/* ---- certified ----------------------------------------------------------------------------- */

/* A length that no distance within the pair exceeds. */
TL_FN double tl_triangle_extent(const tl_triangle_corners *a, const tl_triangle_corners *b) {
  double most = 0;
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 u = tl_dsub(a->p[k], a->p[0]), v = tl_dsub(b->p[k], a->p[0]);
    most = fmax(most, fmax(tl_ddot(u, u), tl_ddot(v, v)));
  }
  return 2 * sqrt(most);
}

/* A lower bound of the distance: the gap of the shadows of a and b on the line along n, which
 * points from a to b, less what rounding may have added. Below 0 it says nothing. */
TL_FN double tl_triangle_bound(const tl_triangle_corners *a, const tl_triangle_corners *b,
                               talus_dvec3 n, double extent) {
  const double length = tl_dlength(n);
  double low = DBL_MAX, high = -DBL_MAX;
  for (int k = 0; k < 3; ++k) {
    low = fmin(low, tl_ddot(n, tl_dsub(b->p[k], a->p[0])));
    high = fmax(high, tl_ddot(n, tl_dsub(a->p[k], a->p[0])));
  }
  return length > 0 ? (low - high) / length - 8 * DBL_EPSILON * extent : -DBL_MAX;
}

typedef enum tl_triangle_verdict {
  TL_TRIANGLE_UNPROVEN,
  TL_TRIANGLE_APART, /* farther than `reach`, proven */
  TL_TRIANGLE_PROVEN /* the distance of the two places is right to `tolerance`, proven */
} tl_triangle_verdict;

#define TL_TRIANGLE_LOOKS 6 /* pairs of projections before comparison decides */

/* Projects from one triangle to the other and back (von Neumann 1949; each projection is exact),
 * from the centres, until the proof and the guess agree. */
TL_FN tl_triangle_verdict tl_triangle_certify(const tl_triangle_corners *a,
                                              const tl_triangle_corners *b, double reach,
                                              double tolerance, tl_triangle_near *found) {
  const double extent = tl_triangle_extent(a, b);
  talus_dvec3 p = tl_dvec3(0, 0, 0), q = p;
  *found = tl_triangle_found(tl_triangle_nothing());
  for (int k = 0; k < 3; ++k) {
    p = tl_dadd(p, tl_dscale(a->p[k], 1.0 / 3));
    q = tl_dadd(q, tl_dscale(b->p[k], 1.0 / 3));
  }
  for (int look = 0; look < TL_TRIANGLE_LOOKS; ++look) {
    const talus_dvec3 n = tl_dsub(q, p);
    const double gap = tl_triangle_bound(a, b, n, extent);
    if (gap > reach)
      return TL_TRIANGLE_APART;
    if (look > 0 && tl_dlength(n) - gap <= tolerance)
      return TL_TRIANGLE_PROVEN;
    const tl_triangle_near back = tl_point_triangle(q, a);
    p = back.on_b;
    *found = tl_point_triangle(p, b);
    q = found->on_b;
  }
  return TL_TRIANGLE_UNPROVEN;
}

/* The same answer as comparison: whether they are within `reach`, and then the two places, whose
 * distance is right to `tolerance` (at least TL_TRIANGLE_ERROR of the extent). *asked counts the
 * pairs for which comparison had to decide. */
TL_FN bool tl_triangle_certified(const tl_triangle_corners *a, const tl_triangle_corners *b,
                                 double reach, double tolerance, tl_triangle_near *found,
                                 uint64_t *asked) {
  const tl_triangle_verdict verdict = tl_triangle_certify(a, b, reach, tolerance, found);
  if (verdict == TL_TRIANGLE_APART)
    return false;
  if (verdict == TL_TRIANGLE_PROVEN) {
    found->feature = -1; /* not known, nor needed */
    if (found->square <= reach * reach)
      return true;
  }
  ++*asked;
  *found = tl_triangle_triangle(a, b);
  return found->square <= reach * reach;
}

#endif
