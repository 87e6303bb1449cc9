/* Vectors of eight reals for files that are compiled for AVX-512 (nobody else may include this):
 * the compiler's own (gcc, clang). No operation is fused or reordered, so the bits are those of
 * scalar code. */
#ifndef TL_SOLVE_LANES_H
#define TL_SOLVE_LANES_H

#include "base/tally.h"
#include "kernels/real.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define W 8

typedef talus_real lanes __attribute__((vector_size(W * sizeof(talus_real))));
#if TALUS_SINGLE
typedef int32_t lane_mask __attribute__((vector_size(W * sizeof(int32_t))));
#else
typedef int64_t lane_mask __attribute__((vector_size(W * sizeof(int64_t))));
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE lanes lanes_sqrt(lanes x) {
#if TALUS_SINGLE
  return (lanes)_mm256_sqrt_ps((__m256)x);
#else
  return (lanes)_mm512_sqrt_pd((__m512d)x);
#endif
}

INLINE lanes lanes_select(lane_mask test, lanes a, lanes b) {
  return (lanes)((test & (lane_mask)a) | (~test & (lane_mask)b));
}

/* Bit i: lane i. */
INLINE unsigned lanes_mask(lane_mask test) {
#if TALUS_SINGLE
  return _mm256_movepi32_mask((__m256i)test);
#else
  return _mm512_movepi64_mask((__m512i)test);
#endif
}

#if defined(__clang__)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (lane_mask){__VA_ARGS__})
#endif

/* Transposes an 8 x 8 matrix of rows: three rounds of exchanging ever larger squares. */
INLINE void transpose(lanes m[W]) {
  for (int i = 0; i < W; i += 2) {
    const lanes x = m[i], y = m[i + 1];
    m[i] = SHUFFLE(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    m[i + 1] = SHUFFLE(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < W; i += 4)
    for (int k = i; k < i + 2; ++k) {
      const lanes x = m[k], y = m[k + 2];
      m[k] = SHUFFLE(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
      m[k + 2] = SHUFFLE(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int k = 0; k < 4; ++k) {
    const lanes x = m[k], y = m[k + 4];
    m[k] = SHUFFLE(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
    m[k + 4] = SHUFFLE(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

INLINE lanes load(const talus_real *from) {
  lanes r;
  memcpy(&r, from, sizeof r);
  return r;
}

INLINE void store(talus_real *to, lanes x) { memcpy(to, &x, sizeof x); }

/* ---- sums ------------------------------------------------------------------------------------ */

typedef double wide __attribute__((vector_size(W * sizeof(double))));

INLINE wide widen(lanes x) { return __builtin_convertvector(x, wide); }

/* Where some of eight numbers are too large for the tally, or it was added to often enough. */
static __attribute__((noinline, unused)) void make_room(tl_tally *tally, const wide *x) {
  for (int i = 0; i < W; ++i)
    if (!(fabs((*x)[i]) < tally->limit))
      tl_tally_raise(tally, (*x)[i]);
  if (tally->adds >= TL_TALLY_MOST)
    tl_tally_empty(tally);
}

INLINE __m512d add_whole(double *part, __m512d units) {
  const __m512d whole = _mm512_roundscale_pd(units, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  _mm512_store_pd(part, _mm512_add_pd(_mm512_load_pd(part), whole));
  return _mm512_mul_pd(_mm512_sub_pd(units, whole), _mm512_set1_pd(TL_TALLY_FINER));
}

/* tl_tally_add of eight numbers. */
INLINE void add_to_tally(tl_tally *tally, wide x) {
  const __m512d size = _mm512_abs_pd((__m512d)x), limit = _mm512_set1_pd(tally->limit);
  const __mmask8 fits = _mm512_cmp_pd_mask(size, limit, _CMP_LT_OQ);
  if (__builtin_expect(fits != 0xff || tally->adds >= TL_TALLY_MOST, 0)) {
    const wide copy = x; /* the vector itself need not go through memory */
    make_room(tally, &copy);
  }
  __m512d rest = _mm512_mul_pd((__m512d)x, _mm512_set1_pd(tally->per_unit));
  for (int k = TL_TALLY_PARTS - 1; k > 0; --k)
    rest = add_whole(tally->part[k], rest);
  if (__builtin_expect(_mm512_cmp_pd_mask(rest, _mm512_setzero_pd(), _CMP_NEQ_UQ) != 0, 0))
    add_whole(tally->part[0], rest);
  tally->adds++;
}

#endif
#endif
