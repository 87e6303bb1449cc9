/* Triangle against triangle, for a NUMBER that is a real or a vector of reals (triangle.h says what
 * is computed and why).
 *
 * No include guard: it is included once for each NUMBER. What must be defined:
 *   NUMBER              the type; + - * / and comparisons work lane by lane
 *   TRUTH               what a comparison gives; & | work on it
 *   SELECT(test, a, b)  a where the test holds, b elsewhere
 *   ALL(x)              x in every lane
 *   TRI_FAR             more than the square of any distance
 *   TRI(name)           the name with the variant's own prefix
 *
 * Nothing is fused and nothing branches, so that every variant of one precision gives the same
 * bits. */
#ifndef NUMBER
/* If an editor or the compile check opens this file alone: the variant with a double. */
#include "kernels/triangle.h"
#else

typedef struct TRI(vec) {
  NUMBER x, y, z;
} TRI(vec);

/* Two places, one of each triangle, and which test found them (tl_triangle_feature). */
typedef struct TRI(near) {
  TRI(vec) on_a, on_b;
  NUMBER square, feature;
} TRI(near);

/* A triangle with what all of its tests share. */
typedef struct TRI(face) {
  TRI(vec) corner[3];
  TRI(vec) side[3];   /* corner k to corner k + 1 */
  TRI(vec) inward[3]; /* in the plane, from side k to the inside */
  TRI(vec) normal;    /* not of unit length */
  NUMBER per[3];      /* 1 / the square of each side; 0: it has no length */
  NUMBER per_normal;  /* 1 / the square of the normal; 0: without area */
} TRI(face);

TL_FN TRI(vec) TRI(minus)(TRI(vec) a, TRI(vec) b) {
  TRI(vec) r;
  r.x = a.x - b.x, r.y = a.y - b.y, r.z = a.z - b.z;
  return r;
}

/* a + s b. */
TL_FN TRI(vec) TRI(along)(TRI(vec) a, NUMBER s, TRI(vec) b) {
  TRI(vec) r;
  r.x = a.x + s * b.x, r.y = a.y + s * b.y, r.z = a.z + s * b.z;
  return r;
}

TL_FN NUMBER TRI(dot)(TRI(vec) a, TRI(vec) b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

TL_FN TRI(vec) TRI(cross)(TRI(vec) a, TRI(vec) b) {
  TRI(vec) r;
  r.x = a.y * b.z - a.z * b.y, r.y = a.z * b.x - a.x * b.z, r.z = a.x * b.y - a.y * b.x;
  return r;
}

TL_FN TRI(vec) TRI(select)(TRUTH test, TRI(vec) a, TRI(vec) b) {
  TRI(vec) r;
  r.x = SELECT(test, a.x, b.x), r.y = SELECT(test, a.y, b.y), r.z = SELECT(test, a.z, b.z);
  return r;
}

/* 1 / y; 0 where y is not above 0. */
TL_FN NUMBER TRI(inverse)(NUMBER y) {
  const NUMBER zero = ALL(0), one = ALL(1);
  return SELECT(y > zero, one / SELECT(y > zero, y, one), zero);
}

/* x within [0, 1]; 0 where it is not a number. */
TL_FN NUMBER TRI(clamp)(NUMBER x) {
  const NUMBER zero = ALL(0), one = ALL(1);
  const NUMBER low = SELECT(x > zero, x, zero);
  return SELECT(low < one, low, one);
}

/* For a needle the cross product has no digits left along the needle. Its part along the longest
 * side must be 0 and is subtracted; then heights above the plane are right to rounding of the
 * length. */
TL_FN TRI(face) TRI(face_of)(TRI(vec) a, TRI(vec) b, TRI(vec) c) {
  TRI(face) f;
  f.corner[0] = a, f.corner[1] = b, f.corner[2] = c;
  f.side[0] = TRI(minus)(b, a), f.side[1] = TRI(minus)(c, b), f.side[2] = TRI(minus)(a, c);
  NUMBER length[3]; /* squares */
  for (int k = 0; k < 3; ++k) {
    length[k] = TRI(dot)(f.side[k], f.side[k]);
    f.per[k] = TRI(inverse)(length[k]);
  }
  /* The product of the two shorter sides: their directions differ most. */
  const TRUTH first = (length[0] >= length[1]) & (length[0] >= length[2]);
  const TRUTH second = length[1] >= length[2];
  const TRI(vec) u = TRI(select)(first, f.side[0], TRI(select)(second, f.side[1], f.side[2]));
  const TRI(vec) v = TRI(select)(first, f.side[1], TRI(select)(second, f.side[2], f.side[0]));
  const TRI(vec) w = TRI(select)(first, f.side[2], TRI(select)(second, f.side[0], f.side[1]));
  const NUMBER per = SELECT(first, f.per[0], SELECT(second, f.per[1], f.per[2]));
  const TRI(vec) n = TRI(cross)(v, w);
  f.normal = TRI(along)(n, -(TRI(dot)(n, u) * per), u);
  f.per_normal = TRI(inverse)(TRI(dot)(f.normal, f.normal));
  for (int k = 0; k < 3; ++k)
    f.inward[k] = TRI(cross)(f.normal, f.side[k]);
  return f;
}

/* Whether a place is above the inside of the face, or on its edge. */
TL_FN TRUTH TRI(is_above)(const TRI(face) * f, TRI(vec) p) {
  const NUMBER zero = ALL(0);
  const TRUTH in0 = TRI(dot)(f->inward[0], TRI(minus)(p, f->corner[0])) >= zero;
  const TRUTH in1 = TRI(dot)(f->inward[1], TRI(minus)(p, f->corner[1])) >= zero;
  const TRUTH in2 = TRI(dot)(f->inward[2], TRI(minus)(p, f->corner[2])) >= zero;
  return in0 & in1 & in2 & (f->per_normal > zero);
}

/* Height above the plane times |normal|. */
TL_FN NUMBER TRI(height)(const TRI(face) * f, TRI(vec) p) {
  return TRI(dot)(f->normal, TRI(minus)(p, f->corner[0]));
}

/* Replaces *best where the test holds and the distance is less. */
TL_FN void TRI(keep)(TRI(near) * best, TRUTH test, NUMBER square, TRI(vec) on_a, TRI(vec) on_b,
                     double feature) {
  const TRUTH nearer = test & (square < best->square);
  best->on_a = TRI(select)(nearer, on_a, best->on_a);
  best->on_b = TRI(select)(nearer, on_b, best->on_b);
  best->square = SELECT(nearer, square, best->square);
  best->feature = SELECT(nearer, ALL(feature), best->feature);
}

/* A place above the inside of a face, `height` over it. */
TL_FN void TRI(keep_face)(TRI(near) * best, const TRI(face) * f, TRI(vec) p, NUMBER height,
                          int face_is_b, double feature) {
  const NUMBER q = height * f->per_normal;
  const TRI(vec) foot = TRI(along)(p, -q, f->normal);
  TRI(keep)
  (best, TRI(is_above)(f, p), height * q, face_is_b ? p : foot, face_is_b ? foot : p, feature);
}

/* Side i of a against side j of b: lines (by their common normal, whose error is that of the
 * lengths however parallel they are), then each end against the other. */
TL_FN void TRI(keep_sides)(TRI(near) * best, TRI(vec) p, TRI(vec) u, NUMBER per_u, TRI(vec) q,
                           TRI(vec) v, NUMBER per_v, double feature) {
  const TRI(vec) n = TRI(cross)(u, v), r = TRI(minus)(q, p);
  const NUMBER first = TRI(clamp)(TRI(dot)(TRI(cross)(r, v), n) * TRI(inverse)(TRI(dot)(n, n)));
  const NUMBER t = TRI(clamp)(TRI(dot)(v, TRI(minus)(TRI(along)(p, first, u), q)) * per_v);
  const TRI(vec) on_b = TRI(along)(q, t, v);
  const NUMBER s = TRI(clamp)(TRI(dot)(u, TRI(minus)(on_b, p)) * per_u);
  const TRI(vec) on_a = TRI(along)(p, s, u), d = TRI(minus)(on_a, on_b);
  TRI(keep)(best, per_u == per_u, TRI(dot)(d, d), on_a, on_b, feature);
}

/* A side from p (at height h) along u (to height k) goes through a face: no distance is left. */
TL_FN void TRI(keep_crossing)(TRI(near) * best, const TRI(face) * f, TRI(vec) p, TRI(vec) u,
                              NUMBER h, NUMBER k, double feature) {
  const NUMBER zero = ALL(0), one = ALL(1);
  const TRUTH is_between = ((h > zero) & (k < zero)) | ((h < zero) & (k > zero));
  const TRI(vec) at = TRI(along)(p, h / SELECT(is_between, h - k, one), u);
  TRI(keep)(best, is_between & TRI(is_above)(f, at), zero, at, at, feature);
}

/* The 15 tests and the 6 crossings. */
TL_FN TRI(near) TRI(compare)(const TRI(face) * a, const TRI(face) * b) {
  TRI(near) best;
  NUMBER over_b[3], over_a[3];
  best.on_a = a->corner[0], best.on_b = b->corner[0];
  best.square = ALL(TRI_FAR), best.feature = ALL(0);
  for (int k = 0; k < 3; ++k) {
    over_b[k] = TRI(height)(b, a->corner[k]);
    over_a[k] = TRI(height)(a, b->corner[k]);
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      TRI(keep_sides)
  (&best, a->corner[i], a->side[i], a->per[i], b->corner[j], b->side[j], b->per[j], 6 + 3 * i + j);
  for (int k = 0; k < 3; ++k)
    TRI(keep_face)(&best, b, a->corner[k], over_b[k], 1, k);
  for (int k = 0; k < 3; ++k)
    TRI(keep_face)(&best, a, b->corner[k], over_a[k], 0, 3 + k);
  for (int k = 0; k < 3; ++k) {
    const int next = k == 2 ? 0 : k + 1;
    TRI(keep_crossing)(&best, b, a->corner[k], a->side[k], over_b[k], over_b[next], 15 + k);
    TRI(keep_crossing)(&best, a, b->corner[k], b->side[k], over_a[k], over_a[next], 18 + k);
  }
  return best;
}

#endif
