/* Nearest places of two triangles by iteration (Noble, 5.1.2), for the NUMBER of
 * kernels/triangle_lanes.h, which must have been included for it (triangle.h says what is computed
 * and why; docs/theory/surrogates.md what it is worth).
 *
 * No include guard: it is included once for each NUMBER, beside triangle_lanes.h; by itself it is
 * the variant with a double. TRI_TINY: a square that is as good as 0.
 *
 * The places are p = a0 + s0 (a1 - a0) + s1 (a2 - a0) and q likewise; |p - q|^2 / 2 is minimised
 * over the four numbers by Newton steps with the diagonal of the Hessian, and after each the
 * penalties (5.1) put what left a triangle back on its side. As published, but for its errata
 * (docs/sources.md): penalties are max(-s, 0), squared, and s <= 1 is no term of its own (D1); all
 * four at once is Jacobi's method, which diverges for two parallel triangles, so a step is half as
 * long (D2); it starts at the centres, and the places are within the triangles in the end, so that
 * their distance is never too short (D3). */
#ifndef NUMBER
/* By itself: the variant with a double, once. */
#ifndef TL_KERNELS_TRIANGLE_ITERATIVE_H
#define TL_KERNELS_TRIANGLE_ITERATIVE_H
#include "kernels/triangle.h"
#define NUMBER             double
#define TRUTH              int
#define ALL(x)             ((double)(x))
#define TRI_TINY           1e-300
#define SELECT(test, a, b) ((test) ? (a) : (b))
#define TRI(name)          tl_triangle_##name##_d
#include "kernels/triangle_iterative.h"
#undef NUMBER
#undef TRUTH
#undef ALL
#undef TRI_TINY
#undef SELECT
#undef TRI
#endif
#else

#define TL_ITERATIVE_STEPS 4
#define TL_ITERATIVE_DAMP  0.5
#define TL_ITERATIVE_ALPHA 1e-12 /* regulariser, beside squares of sides */

typedef struct TRI(guess) {
  TRI(vec) on_a, on_b;
  NUMBER square; /* of their distance: never less than that of the triangles */
  NUMBER fell;   /* by how much half of it changed in the last step: J of (5.1) */
  NUMBER moved;  /* square of how far the last step moved either place: small where it settled */
  NUMBER gap;    /* square of what is between the shadows of both on the line through the places:
                    never more than `square`; 0 where shadows overlap */
} TRI(guess);

TL_FN NUMBER TRI(least)(NUMBER a, NUMBER b) { return SELECT(a < b, a, b); }
TL_FN NUMBER TRI(most)(NUMBER a, NUMBER b) { return SELECT(a > b, a, b); }

/* The penalties: a step of Newton for each violated one, in the metric of the diagonal h that the
 * steps for the distance have. With equal shares for both numbers the sum's penalty would come to
 * rest at a place of the third side that is not the nearest. */
TL_FN void TRI(put_back)(NUMBER s[2], const NUMBER per[2]) {
  const NUMBER zero = ALL(0), one = ALL(1);
  const NUMBER both = per[0] + per[1];
  s[0] = TRI(most)(s[0], zero), s[1] = TRI(most)(s[1], zero);
  const NUMBER over = TRI(most)(s[0] + s[1] - one, zero) / SELECT(both > zero, both, one);
  s[0] = s[0] - over * per[0], s[1] = s[1] - over * per[1];
  /* What the third side pushed over one of the others ends in the corner. */
  const NUMBER low0 = SELECT(s[0] < zero, s[0], zero), low1 = SELECT(s[1] < zero, s[1], zero);
  s[0] = TRI(most)(s[0] + low1, zero), s[1] = TRI(most)(s[1] + low0, zero);
}

/* p0 + s0 u + s1 v. */
TL_FN TRI(vec) TRI(place)(TRI(vec) p, const NUMBER s[2], TRI(vec) u, TRI(vec) v) {
  return TRI(along)(TRI(along)(p, s[0], u), s[1], v);
}

TL_FN NUMBER TRI(square_between)(TRI(vec) a, TRI(vec) b) {
  const TRI(vec) d = TRI(minus)(a, b);
  return TRI(dot)(d, d);
}

/* Square of the gap of the shadows along n = q - p: no distance is less than a gap of shadows
 * (docs/theory/surrogates.md). */
TL_FN NUMBER TRI(shadow_gap)(const TRI(vec) a[3], const TRI(vec) b[3], TRI(vec) n) {
  const NUMBER zero = ALL(0), one = ALL(1), square = TRI(dot)(n, n);
  const NUMBER high = TRI(most)(
      zero, TRI(most)(TRI(dot)(n, TRI(minus)(a[1], a[0])), TRI(dot)(n, TRI(minus)(a[2], a[0]))));
  const NUMBER low = TRI(least)(
      TRI(dot)(n, TRI(minus)(b[0], a[0])),
      TRI(least)(TRI(dot)(n, TRI(minus)(b[1], a[0])), TRI(dot)(n, TRI(minus)(b[2], a[0]))));
  const NUMBER apart = TRI(most)(low - high, zero);
  return SELECT(square > ALL(TRI_TINY), apart * apart / SELECT(square > zero, square, one), zero);
}

TL_FN TRI(guess) TRI(iterate)(const TRI(vec) a[3], const TRI(vec) b[3], int steps) {
  const TRI(vec) u = TRI(minus)(a[1], a[0]), v = TRI(minus)(a[2], a[0]);
  const TRI(vec) w = TRI(minus)(b[1], b[0]), x = TRI(minus)(b[2], b[0]);
  const NUMBER more = ALL(TL_ITERATIVE_ALPHA), third = ALL(1.0 / 3), damp = ALL(TL_ITERATIVE_DAMP);
  const NUMBER per_a[2] = {TRI(inverse)(TRI(dot)(u, u) + more),
                           TRI(inverse)(TRI(dot)(v, v) + more)};
  const NUMBER per_b[2] = {TRI(inverse)(TRI(dot)(w, w) + more),
                           TRI(inverse)(TRI(dot)(x, x) + more)};
  NUMBER s[2] = {third, third}, t[2] = {third, third};
  TRI(guess) g;
  g.on_a = TRI(place)(a[0], s, u, v), g.on_b = TRI(place)(b[0], t, w, x);
  g.moved = ALL(0), g.fell = ALL(0), g.square = TRI(square_between)(g.on_a, g.on_b);
  for (int n = 0; n < steps; ++n) {
    const TRI(vec) d = TRI(minus)(g.on_a, g.on_b), p = g.on_a, q = g.on_b;
    s[0] = s[0] - damp * per_a[0] * TRI(dot)(d, u), s[1] = s[1] - damp * per_a[1] * TRI(dot)(d, v);
    t[0] = t[0] + damp * per_b[0] * TRI(dot)(d, w), t[1] = t[1] + damp * per_b[1] * TRI(dot)(d, x);
    TRI(put_back)(s, per_a);
    TRI(put_back)(t, per_b);
    g.on_a = TRI(place)(a[0], s, u, v), g.on_b = TRI(place)(b[0], t, w, x);
    g.moved = TRI(most)(TRI(square_between)(g.on_a, p), TRI(square_between)(g.on_b, q));
    const NUMBER square = TRI(square_between)(g.on_a, g.on_b);
    g.fell = ALL(0.5) * TRI(most)(g.square - square, square - g.square);
    g.square = square;
  }
  g.gap = TRI(shadow_gap)(a, b, TRI(minus)(g.on_b, g.on_a));
  return g;
}

#endif
