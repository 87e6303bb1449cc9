/* Vectors of eight balls or contacts, for the files that are compiled for AVX-512. */
#ifndef TL_STEP_BALLS_LANES_H
#define TL_STEP_BALLS_LANES_H

#include "solve/lanes.h"
#include "step/balls/forces.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

_Static_assert(W == TL_BALL_LANES, "a group of balls is a vector");

typedef double wide __attribute__((vector_size(W * sizeof(double))));

INLINE wide widen(lanes x) { return __builtin_convertvector(x, wide); }

/* Where some of eight numbers are too large for the tally, or it was added to often enough. */
static __attribute__((noinline)) void make_room(tl_tally *tally, const wide *x) {
  for (int i = 0; i < W; ++i)
    if (!(fabs((*x)[i]) < tally->limit))
      tl_tally_raise(tally, (*x)[i]);
  if (tally->adds >= TL_TALLY_MOST)
    tl_tally_empty(tally);
}

/* tl_tally_add of eight numbers. */
INLINE void add_to_tally(tl_tally *tally, wide x) {
  const __m512d size = _mm512_abs_pd((__m512d)x), limit = _mm512_set1_pd(tally->limit);
  const __mmask8 fits = _mm512_cmp_pd_mask(size, limit, _CMP_LT_OQ);
  if (__builtin_expect(fits != 0xff || tally->adds >= TL_TALLY_MOST, 0)) {
    const wide copy = x; /* the vector itself need not go through memory */
    make_room(tally, &copy);
  }
  enum { nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
  const __m512d units = _mm512_mul_pd((__m512d)x, _mm512_set1_pd(tally->per_unit));
  const __m512d whole = _mm512_roundscale_pd(units, nearest);
  const __m512d rest = _mm512_mul_pd(_mm512_sub_pd(units, whole), _mm512_set1_pd(TL_TALLY_FINER));
  _mm512_store_pd(tally->high, _mm512_add_pd(_mm512_load_pd(tally->high), whole));
  _mm512_store_pd(tally->low,
                  _mm512_add_pd(_mm512_load_pd(tally->low), _mm512_roundscale_pd(rest, nearest)));
  tally->adds++;
}

#endif
#endif
