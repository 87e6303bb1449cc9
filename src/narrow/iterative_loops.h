/* The loops over lanes of iterative.h; included once for each instruction set, by a file whose name
 * ends in it. */
#include "narrow/iterative.h"
#include "narrow/pair_lanes.h"

static void iterate(const tl_triangle_block *a, const tl_triangle_block *b, tl_guesses *out) {
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += BYTES / 4) {
    float_vec p[3], q[3];
    load_corners(a, lane, p);
    load_corners(b, lane, q);
    const float_guess g = float_iterate(p, q, TL_ITERATIVE_STEPS);
    memcpy(out->square + lane, &g.square, sizeof g.square);
    memcpy(out->fell + lane, &g.fell, sizeof g.fell);
    memcpy(out->moved + lane, &g.moved, sizeof g.moved);
    memcpy(out->gap + lane, &g.gap, sizeof g.gap);
  }
}

/* The places begin at the centres: their line proves most pairs apart before any step. */
static unsigned begin_pairs(const tl_triangle_corners *a, const tl_triangle_corners *b,
                            const tl_triangle_pair *pairs, int n, double reach) {
  tl_triangle_block to_a, to_b;
  double near[TL_TRIANGLE_BLOCK];
  float most[TL_TRIANGLE_BLOCK];
  unsigned bits = 0;
  load_pairs(a, b, pairs, n, reach, &to_a, &to_b, near);
  square_reaches(near, most);
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += BYTES / 4) {
    float_vec p[3], q[3];
    load_corners(&to_a, lane, p);
    load_corners(&to_b, lane, q);
    bits |= bits_of(~apart_along(p, q, between_centres(p, q), load_floats(most + lane))) << lane;
  }
  return bits & ((1u << n) - 1);
}

static inline doubles as_doubles(const float *from) {
  half_floats x;
  memcpy(&x, from, sizeof x);
  return __builtin_convertvector(x, doubles);
}

static inline unsigned bits_of_doubles(double_truth test) {
#if BYTES == 64
  return _mm512_movepi64_mask((__m512i)test);
#elif BYTES == 32
  return (unsigned)_mm256_movemask_pd((__m256d)test);
#else
  unsigned bits = 0;
  for (int i = 0; i < BYTES / 8; ++i)
    bits |= (unsigned)(test[i] != 0) << i;
  return bits;
#endif
}

/* tl_guess_prove of lanes, operation by operation. */
static void prove_pairs(const tl_triangle_corners *a, const tl_triangle_corners *b,
                        const tl_triangle_pair *pairs, int n, double reach, tl_proofs *out) {
  const double off = (double)TL_TRIANGLE_LANE_ERROR;
  tl_triangle_block to_a, to_b;
  double near[TL_TRIANGLE_BLOCK];
  out->apart = out->proven = out->near = 0;
  load_pairs(a, b, pairs, n, reach, &to_a, &to_b, near);
  iterate(&to_a, &to_b, &out->guesses);
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += BYTES / 8) {
    const doubles most = load_doubles(&near[lane]);
    const doubles gap = as_doubles(&out->guesses.gap[lane]),
                  far = as_doubles(&out->guesses.square[lane]);
    const doubles above = most * (1 + 1e-6) + off, below = most * (1 - 1e-6) - off;
    const double_truth apart = gap > above * above;
    out->apart |= bits_of_doubles(apart) << lane;
    out->proven |= bits_of_doubles(~apart & (gap > (doubles){0} + off * off) &
                                   (below > (doubles){0}) & (far <= below * below))
                   << lane;
    out->near |= bits_of_doubles(far <= most * most) << lane;
  }
  const unsigned all = (1u << n) - 1;
  out->apart &= all, out->proven &= all, out->near &= all;
}

#define LOOPS                                                                                      \
  { iterate, begin_pairs, prove_pairs }
