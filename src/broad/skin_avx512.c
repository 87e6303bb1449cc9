/* The loops of the skin with AVX-512. This file alone is compiled for it. */
#include "broad/skin.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__BMI__)

#include <immintrin.h>

_Static_assert(sizeof(talus_box) == 6 * sizeof(double), "a box is six numbers");

/* ---- how far boxes have moved: four are three times eight numbers ------------------------------
 */

/* Sides that are low ones, of the three eights. */
static const __mmask8 low[3] = {0xc7, 0x71, 0x1c};

/* Lanes that are not steady, infinite ones among them. */
static inline __mmask8 find_moved(const double *boxes, const double *grown, __m512d skin,
                                  __m512d half, __mmask8 is_low, __m512d *far) {
  const __m512d x = _mm512_loadu_pd(boxes), g = _mm512_loadu_pd(grown);
  const __m512d u = _mm512_mask_sub_pd(_mm512_sub_pd(g, x), is_low, x, g);
  const __mmask8 steady = _mm512_cmp_pd_mask(_mm512_setzero_pd(), u, _CMP_LE_OQ) &
                          _mm512_cmp_pd_mask(u, skin, _CMP_LE_OQ);
  *far = _mm512_mask_max_pd(*far, steady, *far, _mm512_abs_pd(_mm512_sub_pd(u, half)));
  return (__mmask8)~steady;
}

static size_t count_steady(const talus_box *boxes, const talus_box *grown, size_t count,
                           double skin, double *far) {
  const __m512d s = _mm512_set1_pd(skin), half = _mm512_set1_pd(0.5 * skin);
  __m512d most[3] = {_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_pd()};
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const double *x = &boxes[i].lo.x, *g = &grown[i].lo.x;
    const unsigned moved = find_moved(x, g, s, half, low[0], &most[0]) |
                           find_moved(x + 8, g + 8, s, half, low[1], &most[1]) |
                           find_moved(x + 16, g + 16, s, half, low[2], &most[2]);
    if (moved)
      break;
  }
  const double here = _mm512_reduce_max_pd(_mm512_max_pd(most[0], _mm512_max_pd(most[1], most[2])));
  *far = here > *far ? here : *far;
  return i;
}

/* ---- which candidates overlap ---------------------------------------------------------------- */

/* a.lo <= b.hi in the low three lanes, a.hi >= b.lo in the next. */
static inline uint64_t overlap(const talus_box *a, const talus_box *b) {
  const __m512i swap = _mm512_setr_epi64(3, 4, 5, 0, 1, 2, 6, 7);
  const __m512d p = _mm512_maskz_loadu_pd(0x3f, &a->lo.x);
  const __m512d q = _mm512_permutexvar_pd(swap, _mm512_maskz_loadu_pd(0x3f, &b->lo.x));
  const unsigned meets = (_mm512_cmp_pd_mask(p, q, _CMP_LE_OQ) & 0x07u) |
                         (_mm512_cmp_pd_mask(p, q, _CMP_GE_OQ) & 0x38u);
  return meets == 0x3f;
}

static size_t decide(const talus_box *boxes, const tl_pair *candidates, const uint8_t *levels,
                     size_t count, unsigned need, uint64_t *bits) {
  uint16_t open[TL_SKIN_BLOCK];
  size_t opens = 0, found = 0;
  const __m512i level_bits = _mm512_set1_epi8(TL_SKIN_LEVEL);
  const __m512i needed = _mm512_set1_epi8((char)need);
  for (size_t i = 0; i < count; i += 64) {
    const __mmask64 there = count - i < 64 ? (UINT64_C(1) << (count - i)) - 1 : ~UINT64_C(0);
    const __m512i level = _mm512_maskz_loadu_epi8(there, levels + i);
    uint64_t is_open =
        _mm512_mask_cmplt_epu8_mask(there, _mm512_and_si512(level, level_bits), needed);
    bits[i / 64] = _mm512_movepi8_mask(level) & ~is_open;
    for (; is_open; is_open &= is_open - 1)
      open[opens++] = (uint16_t)(i + _tzcnt_u64(is_open));
  }
  for (size_t i = 0; i < opens; ++i) {
    const tl_pair next = candidates[open[i + TL_SKIN_AHEAD < opens ? i + TL_SKIN_AHEAD : i]];
    const tl_pair pair = candidates[open[i]];
    tl_skin_fetch(&boxes[next.a]);
    tl_skin_fetch(&boxes[next.b]);
    bits[open[i] / 64] |= overlap(&boxes[pair.a], &boxes[pair.b]) << (open[i] % 64);
  }
  for (size_t i = 0; i < count; i += 64)
    found += (size_t)_mm_popcnt_u64(bits[i / 64]);
  return found;
}

/* Eight at a time; what is written beyond them is overwritten by the next, but not at the end,
 * where another block's begin. Compressing into memory itself is slow on some processors. */
static void put(const tl_pair *candidates, size_t count, const uint64_t *bits, tl_pair *out,
                size_t found) {
  size_t n = 0;
  for (size_t i = 0; i < count; i += 8) {
    const __mmask8 here = (__mmask8)(bits[i / 64] >> (i % 64));
    const __m512i eight = _mm512_maskz_compress_epi64(
        here, _mm512_maskz_loadu_epi64(count - i < 8 ? (__mmask8)((1u << (count - i)) - 1) : 0xff,
                                       candidates + i));
    const size_t some = (size_t)_mm_popcnt_u32(here);
    if (n + 8 <= found)
      _mm512_storeu_si512(out + n, eight);
    else
      _mm512_mask_storeu_epi64(out + n, (__mmask8)((1u << some) - 1), eight);
    n += some;
  }
}

const tl_skin_lanes tl_skin_avx512 = {count_steady, decide, put};

bool tl_skin_has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi");
}

#else

const tl_skin_lanes tl_skin_avx512 = {0};

bool tl_skin_has_avx512(void) { return false; }

#endif
