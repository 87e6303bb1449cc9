/* The only interface to SIMD: W lanes of talus_real, as many as a register of the instruction
 * set holds and at most eight, for files that are compiled once for each set (base/isa.h).
 *
 *              avx512  avx2  generic
 *   double W      8      4      2
 *   single W      8      8      4
 *
 * Vectors are the compiler's own (gcc, clang): + - * / and comparisons work lane by lane. No
 * operation is fused or reordered, so the bits are those of scalar code. Data lie in groups of
 * eight (TL_SIMD_GROUP), whatever W is: a loop takes lanes 0 to W - 1 of a group, then the next W.
 *
 * Only files whose name ends in the instruction set, and headers for such files, may include this.
 */
#ifndef TL_BASE_SIMD_H
#define TL_BASE_SIMD_H

#include "base/tally.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <talus/types.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define TL_SIMD_GROUP 8

/* Bytes of a register, and doubles in one. */
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TL_SIMD_AVX512 1
#define REGISTER       64
#elif defined(__AVX2__)
#define TL_SIMD_AVX512 0
#define REGISTER       32
#else
#define TL_SIMD_AVX512 0
#define REGISTER       16
#endif
#define WIDE (REGISTER / 8)

#if TALUS_SINGLE
#define W (REGISTER == 16 ? 4 : 8)
typedef int32_t lane_int;
#else
#define W WIDE
typedef int64_t lane_int;
#endif
/* Vectors as the compiler knows them need a plain number. */
#if TALUS_SINGLE && REGISTER == 16
#define LANES_4 1
#elif !TALUS_SINGLE && REGISTER == 32
#define LANES_4 1
#elif !TALUS_SINGLE && REGISTER == 16
#define LANES_2 1
#else
#define LANES_8 1
#endif

typedef talus_real lanes __attribute__((vector_size(W * sizeof(talus_real))));
typedef lane_int lane_mask __attribute__((vector_size(W * sizeof(lane_int))));
typedef double wide __attribute__((vector_size(REGISTER)));
typedef int64_t wide_mask __attribute__((vector_size(REGISTER)));

#define INLINE static inline __attribute__((always_inline))

/* ---- lane by lane ---------------------------------------------------------------------------- */

INLINE lanes lanes_sqrt(lanes x) {
#if defined(__x86_64__) && TALUS_SINGLE && REGISTER > 16
  return (lanes)_mm256_sqrt_ps((__m256)x);
#elif defined(__x86_64__) && TALUS_SINGLE
  return (lanes)_mm_sqrt_ps((__m128)x);
#elif TL_SIMD_AVX512
  return (lanes)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX2__)
  return (lanes)_mm256_sqrt_pd((__m256d)x);
#elif defined(__x86_64__)
  return (lanes)_mm_sqrt_pd((__m128d)x);
#else
  lanes r;
  for (int i = 0; i < W; ++i)
    r[i] = (talus_real)sqrt((double)x[i]); /* of a float: rounded as sqrtf rounds */
  return r;
#endif
}

INLINE lanes lanes_select(lane_mask test, lanes a, lanes b) {
#if defined(__AVX2__) && !TL_SIMD_AVX512 && TALUS_SINGLE
  return (lanes)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)test);
#elif defined(__AVX2__) && !TL_SIMD_AVX512
  return (lanes)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)test);
#else
  return (lanes)((test & (lane_mask)a) | (~test & (lane_mask)b));
#endif
}

/* Bit i: lane i. */
INLINE unsigned lanes_mask(lane_mask test) {
#if TL_SIMD_AVX512 && TALUS_SINGLE
  return _mm256_movepi32_mask((__m256i)test);
#elif TL_SIMD_AVX512
  return _mm512_movepi64_mask((__m512i)test);
#elif defined(__AVX2__) && TALUS_SINGLE
  return (unsigned)_mm256_movemask_ps((__m256)test);
#elif defined(__AVX2__)
  return (unsigned)_mm256_movemask_pd((__m256d)test);
#elif defined(__x86_64__) && TALUS_SINGLE
  return (unsigned)_mm_movemask_ps((__m128)test);
#elif defined(__x86_64__)
  return (unsigned)_mm_movemask_pd((__m128d)test);
#else
  unsigned bits = 0;
  for (int i = 0; i < W; ++i)
    bits |= (unsigned)(test[i] != 0) << i;
  return bits;
#endif
}

#define ALL_LANES ((1u << W) - 1)

/* ---- memory ---------------------------------------------------------------------------------- */

INLINE lanes load(const talus_real *from) {
  lanes r;
  memcpy(&r, from, sizeof r);
  return r;
}

INLINE void store(talus_real *to, lanes x) { memcpy(to, &x, sizeof x); }

INLINE wide load_wide(const double *from) {
  wide r;
  memcpy(&r, from, sizeof r);
  return r;
}

INLINE void store_wide(double *to, wide x) { memcpy(to, &x, sizeof x); }

/* Registers of doubles that hold as many numbers as lanes does. */
#define WIDES (W / WIDE)

/* Lanes part * WIDE and the WIDE - 1 that follow, as doubles. */
INLINE wide widen(lanes x, int part) {
#if !TALUS_SINGLE
  (void)part;
  return x;
#elif TL_SIMD_AVX512
  (void)part;
  return __builtin_convertvector(x, wide);
#elif defined(__AVX2__)
  return (wide)_mm256_cvtps_pd(part ? _mm256_extractf128_ps((__m256)x, 1)
                                    : _mm256_castps256_ps128((__m256)x));
#elif defined(__x86_64__)
  return (wide)_mm_cvtps_pd(part ? _mm_movehl_ps((__m128)x, (__m128)x) : (__m128)x);
#else
  wide r;
  for (int i = 0; i < WIDE; ++i)
    r[i] = (double)x[part * WIDE + i];
  return r;
#endif
}

#if defined(__clang__)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (lane_mask){__VA_ARGS__})
#endif

/* Transposes a W x W matrix of rows: rounds of exchanging ever larger squares. */
INLINE void transpose(lanes m[W]) {
#if LANES_8
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
#elif LANES_4
  for (int i = 0; i < W; i += 2) {
    const lanes x = m[i], y = m[i + 1];
    m[i] = SHUFFLE(x, y, 0, 4, 2, 6);
    m[i + 1] = SHUFFLE(x, y, 1, 5, 3, 7);
  }
  for (int k = 0; k < 2; ++k) {
    const lanes x = m[k], y = m[k + 2];
    m[k] = SHUFFLE(x, y, 0, 1, 4, 5);
    m[k + 2] = SHUFFLE(x, y, 2, 3, 6, 7);
  }
#else
  const lanes x = m[0], y = m[1];
  m[0] = SHUFFLE(x, y, 0, 2);
  m[1] = SHUFFLE(x, y, 1, 3);
#endif
}

/* ---- rows by index --------------------------------------------------------------------------- */

#if LANES_8

/* Four numbers of each of two rows in a register. Doubles are best paired as 0 and 2, 1 and 3, 4
 * and 6, 5 and 7, floats as 0 and 4 and so on: then no shuffle crosses more than it must. */
#if TALUS_SINGLE
#define PAIR(i) (i)
#define APART   4
#else
#define PAIR(i) ((i) + ((i)&2))
#define APART   2
#endif

INLINE lanes load_pair(const talus_real *low, const talus_real *high) {
#if TALUS_SINGLE
  return (lanes)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high),
                                     1);
#else
  return (lanes)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(low)),
                                   _mm256_loadu_pd(high), 1);
#endif
}

INLINE void store_low(talus_real *to, lanes x) {
#if TALUS_SINGLE
  _mm_storeu_ps(to, _mm256_castps256_ps128((__m256)x));
#else
  _mm256_storeu_pd(to, _mm512_castpd512_pd256((__m512d)x));
#endif
}

INLINE void store_high(talus_real *to, lanes x) {
#if TALUS_SINGLE
  _mm_storeu_ps(to, _mm256_extractf128_ps((__m256)x, 1));
#else
  _mm256_storeu_pd(to, _mm512_extractf64x4_pd((__m512d)x, 1));
#endif
}

/* Four pairs of rows to four columns of eight, and back. */
INLINE void to_columns(lanes m[4]) {
#if TALUS_SINGLE
  const lanes a = SHUFFLE(m[0], m[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const lanes b = SHUFFLE(m[0], m[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const lanes c = SHUFFLE(m[2], m[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const lanes d = SHUFFLE(m[2], m[3], 2, 10, 3, 11, 6, 14, 7, 15);
  m[0] = SHUFFLE(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  m[1] = SHUFFLE(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  m[2] = SHUFFLE(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  m[3] = SHUFFLE(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
#else
  const lanes a = SHUFFLE(m[0], m[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes b = SHUFFLE(m[0], m[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes c = SHUFFLE(m[2], m[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes d = SHUFFLE(m[2], m[3], 1, 9, 3, 11, 5, 13, 7, 15);
  m[0] = SHUFFLE(a, c, 0, 1, 4, 5, 8, 9, 12, 13);
  m[1] = SHUFFLE(b, d, 0, 1, 4, 5, 8, 9, 12, 13);
  m[2] = SHUFFLE(a, c, 2, 3, 6, 7, 10, 11, 14, 15);
  m[3] = SHUFFLE(b, d, 2, 3, 6, 7, 10, 11, 14, 15);
#endif
}

INLINE void to_pairs(lanes m[4]) {
#if TALUS_SINGLE
  to_columns(m); /* the other way round as well */
#else
  const lanes a = SHUFFLE(m[0], m[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes b = SHUFFLE(m[0], m[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes c = SHUFFLE(m[2], m[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes d = SHUFFLE(m[2], m[3], 1, 9, 3, 11, 5, 13, 7, 15);
  m[0] = SHUFFLE(a, c, 0, 1, 8, 9, 2, 3, 10, 11);
  m[1] = SHUFFLE(b, d, 0, 1, 8, 9, 2, 3, 10, 11);
  m[2] = SHUFFLE(a, c, 4, 5, 12, 13, 6, 7, 14, 15);
  m[3] = SHUFFLE(b, d, 4, 5, 12, 13, 6, 7, 14, 15);
#endif
}

/* Rows that begin with four numbers, of `stride` numbers each: W of them, by index, to four
 * columns; m[i] holds what was at [i] of every row. */
INLINE void load_fours(const void *rows, size_t stride, const uint32_t *index, lanes m[4]) {
  const talus_real *from = rows;
  for (int i = 0; i < 4; ++i)
    m[i] = load_pair(from + index[PAIR(i)] * stride, from + index[PAIR(i) + APART] * stride);
  to_columns(m);
}

/* The other way round, for the rows in `which` (bit i: row i); m is overwritten. */
INLINE void store_fours(void *rows, size_t stride, const uint32_t *index, lanes m[4],
                        unsigned which) {
  talus_real *to = rows;
  to_pairs(m);
  if (which == ALL_LANES) {
    for (int i = 0; i < 4; ++i) {
      store_low(to + index[PAIR(i)] * stride, m[i]);
      store_high(to + index[PAIR(i) + APART] * stride, m[i]);
    }
    return;
  }
  for (int i = 0; i < 4; ++i) {
    if (which >> PAIR(i) & 1)
      store_low(to + index[PAIR(i)] * stride, m[i]);
    if (which >> (PAIR(i) + APART) & 1)
      store_high(to + index[PAIR(i) + APART] * stride, m[i]);
  }
}

#else

INLINE void load_fours(const void *rows, size_t stride, const uint32_t *index, lanes m[4]) {
  for (int k = 0; k < 4; k += W) {
    for (int i = 0; i < W; ++i)
      m[k + i] = load((const talus_real *)rows + index[i] * stride + k);
    transpose(m + k);
  }
}

INLINE void store_fours(void *rows, size_t stride, const uint32_t *index, lanes m[4],
                        unsigned which) {
  for (int k = 0; k < 4; k += W)
    transpose(m + k);
  for (int i = 0; i < W; ++i)
    if (which == ALL_LANES || which >> i & 1)
      for (int k = 0; k < 4; k += W)
        store((talus_real *)rows + index[i] * stride + k, m[k + i]);
}

#endif

/* Rows of three doubles to three columns, and nothing beyond the last of them is read: of the
 * double build. */
#if !TALUS_SINGLE
INLINE void load_threes(const void *rows, const uint32_t *index, lanes m[3]) {
  const double *from = rows;
#if TL_SIMD_AVX512
  lanes pair[4];
  for (int i = 0; i < 4; ++i)
    pair[i] = (lanes)_mm512_insertf64x4(
        _mm512_castpd256_pd512(_mm256_maskz_loadu_pd(7, from + 3 * (size_t)index[PAIR(i)])),
        _mm256_maskz_loadu_pd(7, from + 3 * (size_t)index[PAIR(i) + APART]), 1);
  to_columns(pair);
  memcpy(m, pair, 3 * sizeof *m);
#else
  for (size_t k = 0; k < 3; ++k) {
    double column[W];
    for (int i = 0; i < W; ++i)
      column[i] = from[3 * (size_t)index[i] + k];
    m[k] = load(column);
  }
#endif
}
#endif

/* Rows that begin with eight numbers to eight columns. */
INLINE void load_rows(const void *rows, size_t stride, const uint32_t *index,
                      lanes m[TL_SIMD_GROUP]) {
  load_fours(rows, stride, index, m);
  load_fours((const talus_real *)rows + 4, stride, index, m + 4);
}

INLINE void store_rows(void *rows, size_t stride, const uint32_t *index, lanes m[TL_SIMD_GROUP],
                       unsigned which) {
  store_fours(rows, stride, index, m, which);
  store_fours((talus_real *)rows + 4, stride, index, m + 4, which);
}

/* ---- doubles, whatever the precision --------------------------------------------------------- */

INLINE wide wide_sqrt(wide x) {
#if TL_SIMD_AVX512
  return (wide)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX2__)
  return (wide)_mm256_sqrt_pd((__m256d)x);
#elif defined(__x86_64__)
  return (wide)_mm_sqrt_pd((__m128d)x);
#else
  wide r;
  for (int i = 0; i < WIDE; ++i)
    r[i] = sqrt(x[i]);
  return r;
#endif
}

INLINE wide wide_select(wide_mask test, wide a, wide b) {
#if defined(__AVX2__) && !TL_SIMD_AVX512
  return (wide)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)test);
#else
  return (wide)((test & (wide_mask)a) | (~test & (wide_mask)b));
#endif
}

#define ALL_WIDE ((1u << WIDE) - 1)

INLINE unsigned wide_bits(wide_mask test) {
#if TL_SIMD_AVX512
  return _mm512_movepi64_mask((__m512i)test);
#elif defined(__AVX2__)
  return (unsigned)_mm256_movemask_pd((__m256d)test);
#elif defined(__x86_64__)
  return (unsigned)_mm_movemask_pd((__m128d)test);
#else
  unsigned bits = 0;
  for (int i = 0; i < WIDE; ++i)
    bits |= (unsigned)(test[i] != 0) << i;
  return bits;
#endif
}

#if defined(__AVX2__) && !TL_SIMD_AVX512
/* Which halves of doubles come first when the lanes of a mask are closed up. */
static const int32_t first_halves[16][8] __attribute__((unused)) = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 0, 1, 2, 3, 6, 7}, {0, 1, 4, 5, 2, 3, 6, 7},
    {2, 3, 4, 5, 0, 1, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {6, 7, 0, 1, 2, 3, 4, 5},
    {0, 1, 6, 7, 2, 3, 4, 5}, {2, 3, 6, 7, 0, 1, 4, 5}, {0, 1, 2, 3, 6, 7, 4, 5},
    {4, 5, 6, 7, 0, 1, 2, 3}, {0, 1, 4, 5, 6, 7, 2, 3}, {2, 3, 4, 5, 6, 7, 0, 1},
    {0, 1, 2, 3, 4, 5, 6, 7}};
#endif

/* The lanes in `which` (bit i: lane i) first, in their order; then anything. */
INLINE wide wide_pack(wide x, unsigned which) {
#if TL_SIMD_AVX512
  return (wide)_mm512_maskz_compress_pd((__mmask8)which, (__m512d)x);
#elif defined(__AVX2__)
  __m256i order;
  memcpy(&order, first_halves[which], sizeof order);
  return (wide)_mm256_permutevar8x32_ps((__m256)x, order);
#else
  const wide high = {x[1], x[1]};
  return which == 2 ? high : x;
#endif
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* sum + x[0] + x[1] + ..., in that order. */
INLINE double add_each(double sum, lanes x) {
  for (int i = 0; i < W; ++i)
    sum += (double)x[i];
  return sum;
}

/* Where some numbers are too large for the tally, or it was added to often enough. */
static __attribute__((noinline, unused)) void make_room(tl_tally *tally, const wide *x) {
  for (int i = 0; i < WIDE; ++i)
    if (!(fabs((*x)[i]) < tally->limit))
      tl_tally_raise(tally, (*x)[i]);
  if (tally->adds >= TL_TALLY_MOST)
    tl_tally_empty(tally);
}

INLINE bool is_below(wide x, double limit) {
#if TL_SIMD_AVX512
  return _mm512_cmp_pd_mask(_mm512_abs_pd((__m512d)x), _mm512_set1_pd(limit), _CMP_LT_OQ) == 0xff;
#else
  const wide most = (wide){0} + limit;
  return wide_bits((x < most) & (x > -most)) == ALL_WIDE;
#endif
}

INLINE bool is_zero(wide x) {
#if TL_SIMD_AVX512
  return _mm512_cmp_pd_mask((__m512d)x, _mm512_setzero_pd(), _CMP_NEQ_UQ) == 0;
#else
  const wide zero = {0};
  return wide_bits(x != zero) == 0;
#endif
}

/* To the nearest integer (tl_tally_round). */
INLINE wide round_wide(wide x) {
#if TL_SIMD_AVX512
  return (wide)_mm512_roundscale_pd((__m512d)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  return (x + 0x1.8p52) - 0x1.8p52;
#endif
}

INLINE wide add_whole(double *part, wide units) {
  const wide whole = round_wide(units);
  wide sum;
  memcpy(&sum, part, sizeof sum);
  sum += whole;
  memcpy(part, &sum, sizeof sum);
  return (units - whole) * TL_TALLY_FINER;
}

/* tl_tally_add of a register of doubles, into lanes from `at` on. */
INLINE void add_wide(tl_tally *tally, wide x, int at) {
  if (__builtin_expect(!is_below(x, tally->limit) || tally->adds >= TL_TALLY_MOST, 0)) {
    const wide copy = x; /* the vector itself need not go through memory */
    make_room(tally, &copy);
  }
  wide rest = x * tally->per_unit;
  for (int k = TL_TALLY_PARTS - 1; k > 0; --k)
    rest = add_whole(tally->part[k] + at, rest);
  if (__builtin_expect(!is_zero(rest), 0))
    add_whole(tally->part[0] + at, rest);
  tally->adds++;
}

/* tl_tally_add of each lane. */
INLINE void add_to_tally(tl_tally *tally, lanes x) {
  for (int part = 0; part < WIDES; ++part)
    add_wide(tally, widen(x, part), part * WIDE);
}

#endif
