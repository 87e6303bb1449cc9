/* The loops of the skin by hand for AVX-512 (CMakeLists.txt). */
#include "broad/skin.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__BMI__)

#include <immintrin.h>

_Static_assert(sizeof(talus_box) == 6 * sizeof(double), "a box is six numbers");

/* ---- displacements of boxes: four boxes are three times eight numbers ------------------------ */

/* Low sides in each of the three vectors. */
static const __mmask8 low[3] = {0xc7, 0x71, 0x1c};

/* Constants of all vectors. */
typedef struct eights {
  __m512d skin, half, scale;
} eights;

/* Lanes that are not steady, including infinite ones. */
static inline __mmask8 find_moved(const double *boxes, const double *grown, const eights *of,
                                  __mmask8 is_low, __m512d *far, int8_t *moves) {
  const __m512d x = _mm512_loadu_pd(boxes), g = _mm512_loadu_pd(grown);
  const __m512d u = _mm512_mask_sub_pd(_mm512_sub_pd(g, x), is_low, x, g);
  const __m512d move = _mm512_sub_pd(u, of->half);
  const __mmask8 steady = _mm512_cmp_pd_mask(_mm512_setzero_pd(), u, _CMP_LE_OQ) &
                          _mm512_cmp_pd_mask(u, of->skin, _CMP_LE_OQ);
  const __m512i steps = _mm512_cvtpd_epi64(_mm512_mul_pd(move, of->scale));
  _mm_storel_epi64((__m128i *)(void *)moves, _mm512_cvtsepi64_epi8(steps));
  *far = _mm512_mask_max_pd(*far, steady, *far, _mm512_abs_pd(move));
  return (__mmask8)~steady;
}

static size_t count_steady(const talus_box *boxes, const talus_box *grown, size_t count,
                           double skin, double *far, int8_t *moves) {
  const eights of = {_mm512_set1_pd(skin), _mm512_set1_pd(0.5 * skin),
                     _mm512_set1_pd(TL_SKIN_STEPS / skin)};
  __m512d most[3] = {_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_pd()};
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const double *x = &boxes[i].lo.x, *g = &grown[i].lo.x;
    int8_t *to = moves + 6 * i;
    const unsigned moved = find_moved(x, g, &of, low[0], &most[0], to) |
                           find_moved(x + 8, g + 8, &of, low[1], &most[1], to + 8) |
                           find_moved(x + 16, g + 16, &of, low[2], &most[2], to + 16);
    if (moved)
      break;
  }
  const double here = _mm512_reduce_max_pd(_mm512_max_pd(most[0], _mm512_max_pd(most[1], most[2])));
  *far = here > *far ? here : *far;
  return i;
}

/* ---- which candidates overlap ---------------------------------------------------------------- */

/* The largest of six lanes. */
static inline double largest(__m512d x) {
  const __m256d four = _mm256_max_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1));
  const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
}

/* Rounds down like the plain loop; the smaller of NaN and 127 is 127 there, too. */
static inline unsigned steps_down(double distance, double scale) {
  const double steps = fabs(distance) * scale;
  return (unsigned)(int)(steps < TL_SKIN_LEVEL ? steps : TL_SKIN_LEVEL);
}

/* a.lo - b.hi in the low three lanes, b.lo - a.hi in the next. */
static void mark(const talus_box *grown, const tl_pair *candidates, size_t count, double skin,
                 uint8_t *levels, uint8_t *sides) {
  const __m512i swap = _mm512_setr_epi64(3, 4, 5, 0, 1, 2, 6, 7);
  const __m512d lowest = _mm512_set1_pd(-HUGE_VAL);
  const double scale = TL_SKIN_STEPS / skin;
  for (size_t i = 0; i < count; ++i) {
    tl_skin_fetch(&grown[candidates[i + TL_SKIN_AHEAD < count ? i + TL_SKIN_AHEAD : i].b]);
    const __m512d a = _mm512_maskz_loadu_pd(0x3f, &grown[candidates[i].a].lo.x);
    const __m512d b =
        _mm512_permutexvar_pd(swap, _mm512_maskz_loadu_pd(0x3f, &grown[candidates[i].b].lo.x));
    const __m512d along = _mm512_mask_sub_pd(_mm512_mask_sub_pd(lowest, 0x07, a, b), 0x38, b, a);
    const double most = largest(along);
    const unsigned is_most = _mm512_cmp_pd_mask(along, _mm512_set1_pd(most), _CMP_EQ_OQ) & 0x3fu;
    const unsigned side = _tzcnt_u32(is_most | 0x20u);
    const double gap = most + skin;
    const double next = largest(_mm512_mask_mov_pd(along, (__mmask8)(1u << side), lowest)) + skin;
    const unsigned deep = steps_down(next, scale), down = next < 0 ? deep : 0;
    const unsigned quarter = down == TL_SKIN_LEVEL ? TL_SKIN_ALONE : down < 124 ? down / 4 : 30;
    levels[i] = (uint8_t)(steps_down(gap, scale) | (unsigned)(gap <= 0) << 7);
    sides[i] = (uint8_t)(side | quarter << 3);
  }
}

static size_t list_open(const uint8_t *levels, size_t count, unsigned need, uint64_t *bits,
                        uint16_t *open) {
  size_t opens = 0;
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
  return opens;
}

/* Writes eight at a time; the surplus is overwritten by the next, except at the end, where another
 * block begins. Compressing directly into memory is slow on some processors. */
static void put(const tl_pair *candidates, size_t count, const uint64_t *bits, tl_pair *out,
                size_t found) {
  size_t n = 0;
  for (size_t i = 0; i < count; i += 8) {
    const __mmask8 here = (__mmask8)(bits[i / 64] >> (i % 64));
    const __mmask8 there = (__mmask8)(0xffu >> (count - i < 8 ? 8 - (count - i) : 0));
    const __m512i eight =
        _mm512_maskz_compress_epi64(here, _mm512_maskz_loadu_epi64(there, candidates + i));
    const size_t some = (size_t)_mm_popcnt_u32(here);
    if (n + 8 <= found)
      _mm512_storeu_si512(out + n, eight);
    else
      _mm512_mask_storeu_epi64(out + n, (__mmask8)((1u << some) - 1), eight);
    n += some;
  }
}

const tl_skin_lanes tl_skin_avx512 = {count_steady, mark, list_open, put};

#else

#include "broad/skin_loops.h"

const tl_skin_lanes tl_skin_avx512 = {count_steady, mark, list_open, put};

#endif
