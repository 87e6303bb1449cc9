/* Packed bins with AVX-512: a box is a vector of six numbers, sixteen boxes are tested at once. The
 * arithmetic is that of packed.c and packed_search.c, operation by operation. This file is compiled
 * for AVX-512 (CMakeLists.txt) and runs only where the processor has it. */
#include "broad/packed_out.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include <immintrin.h>

bool tl_packed_has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

/* ---- cells and numbers ----------------------------------------------------------------------- */

TL_LANES_INLINE __m512d load_box(const talus_box *box) {
  return _mm512_maskz_loadu_pd(0x3f, box);
}

TL_LANES_INLINE uint32_t
key_of_box(const tl_packed_cells *cells, __m512d box) {
  const __m256d x = _mm512_castpd512_pd256(box);
  __m256d t = _mm256_mul_pd(_mm256_sub_pd(x, _mm256_load_pd(cells->origin)),
                            _mm256_load_pd(cells->inverse));
  t = _mm256_min_pd(_mm256_max_pd(t, _mm256_setzero_pd()), _mm256_load_pd(cells->last));
  const __m128i at = _mm256_cvttpd_epi32(t);
  const __m128i part = _mm_mullo_epi32(at, _mm_loadu_si128((const __m128i *)cells->stride));
  const __m128i two = _mm_add_epi32(part, _mm_shuffle_epi32(part, 0x4e));
  const __m128i all = _mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1));
  return cells->base + (uint32_t)_mm_cvtsi128_si32(all);
}

TL_LANES_INLINE uint32_t
key_of(const tl_packed *packed, const talus_box *box, __m512d loaded, bool even) {
  if (even)
    return key_of_box(&packed->cells[0], loaded);
  const int l = packed->bins->level_of[tl_bins_class_of(box)];
  return l < packed->bins->levels ? key_of_box(&packed->cells[l], loaded) : packed->beyond;
}

TL_LANES_INLINE void
count(const tl_packed *packed, size_t begin, size_t end, size_t *counts, bool even) {
  const talus_box *boxes = packed->bins->boxes;
  const int shift = packed->shift;
  for (size_t i = begin; i < end; ++i)
    counts[key_of(packed, &boxes[i], load_box(&boxes[i]), even) >> shift]++;
}

void tl_packed_count_avx512(const tl_packed *packed, size_t begin, size_t end, size_t *counts) {
  if (packed->even)
    count(packed, begin, end, counts, true);
  else
    count(packed, begin, end, counts, false);
}

TL_LANES_INLINE void
spread(const tl_packed *packed, size_t begin, size_t end, size_t *next, bool even) {
  const tl_bins *bins = packed->bins;
  const __m512d origin = _mm512_load_pd(packed->map.origin);
  const __m512d scale = _mm512_load_pd(packed->map.scale);
  const __m512d least = _mm512_load_pd(packed->map.least);
  const __m512d most = _mm512_load_pd(packed->map.most);
  const int shift = packed->shift;
  for (size_t i = begin; i < end; ++i) {
    const __m512d box = load_box(&bins->boxes[i]);
    const uint32_t key = key_of(packed, &bins->boxes[i], box, even);
    const __m512d t = _mm512_mul_pd(_mm512_sub_pd(box, origin), scale);
    const __m256i numbers = _mm512_cvttpd_epi32(_mm512_min_pd(_mm512_max_pd(t, least), most));
    tl_packed_record *to = &packed->record[next[key >> shift]++];
    const uint32_t slot = tl_scope_slot(bins->scope, i);
    _mm256_store_si256((__m256i *)(void *)to, numbers);
    to->key = key;
    to->who = (uint32_t)i | (tl_body_is_static(bins->model, slot) ? TL_BINS_STATIC : 0);
  }
}

void tl_packed_spread_avx512(const tl_packed *packed, size_t begin, size_t end, size_t *next) {
  if (packed->even)
    spread(packed, begin, end, next, true);
  else
    spread(packed, begin, end, next, false);
}

/* ---- search ---------------------------------------------------------------------------------- */

typedef struct lanes_set {
  __m512i low_x, low_y, low_z, high_x, high_y, high_z;
} lanes_set;
#define LANES_SET lanes_set

TL_LANES_INLINE void load_lanes(const tl_packed *packed, uint32_t q, lanes_set *set) {
  set->low_x = _mm512_loadu_si512(packed->low[0] + q);
  set->low_y = _mm512_loadu_si512(packed->low[1] + q);
  set->low_z = _mm512_loadu_si512(packed->low[2] + q);
  set->high_x = _mm512_loadu_si512(packed->high[0] + q);
  set->high_y = _mm512_loadu_si512(packed->high[1] + q);
  set->high_z = _mm512_loadu_si512(packed->high[2] + q);
}

/* Of the sums of both ways along an axis, the lesser. */
TL_LANES_INLINE __m512i least_of(__m512i low, __m512i high, int32_t other_low, int32_t other_high) {
  return _mm512_min_epi32(_mm512_add_epi32(low, _mm512_set1_epi32(other_high)),
                          _mm512_add_epi32(high, _mm512_set1_epi32(other_low)));
}

/* The least of the six sums tells: negative, 0 or more. */
TL_LANES_INLINE void test_lanes(const tl_packed *packed, uint32_t p, const lanes_set *set, unsigned *sure,
                      unsigned *touch) {
  const __m512i x = least_of(set->low_x, set->high_x, packed->low[0][p], packed->high[0][p]);
  const __m512i y = least_of(set->low_y, set->high_y, packed->low[1][p], packed->high[1][p]);
  const __m512i z = least_of(set->low_z, set->high_z, packed->low[2][p], packed->high[2][p]);
  const __m512i least = _mm512_min_epi32(_mm512_min_epi32(x, y), z);
  *sure = _mm512_cmpgt_epi32_mask(least, _mm512_setzero_si512());
  *touch = _mm512_cmpeq_epi32_mask(least, _mm512_setzero_si512());
}

/* A box in every lane. */
typedef struct lanes_box {
  __m512i low_x, low_y, low_z, high_x, high_y, high_z;
} lanes_box;

TL_LANES_INLINE lanes_box spread_box(const tl_packed *packed, uint32_t p) {
  return (lanes_box){
      _mm512_set1_epi32(packed->low[0][p]),  _mm512_set1_epi32(packed->low[1][p]),
      _mm512_set1_epi32(packed->low[2][p]),  _mm512_set1_epi32(packed->high[0][p]),
      _mm512_set1_epi32(packed->high[1][p]), _mm512_set1_epi32(packed->high[2][p])};
}

/* The least sum of box p and each of the sixteen at q. */
TL_LANES_INLINE __m512i least_at(const tl_packed *packed, const lanes_box *box, uint32_t q) {
  const __m512i a = _mm512_add_epi32(box->high_x, _mm512_loadu_si512(packed->low[0] + q));
  const __m512i b = _mm512_add_epi32(box->low_x, _mm512_loadu_si512(packed->high[0] + q));
  const __m512i c = _mm512_add_epi32(box->high_y, _mm512_loadu_si512(packed->low[1] + q));
  const __m512i d = _mm512_add_epi32(box->low_y, _mm512_loadu_si512(packed->high[1] + q));
  const __m512i e = _mm512_add_epi32(box->high_z, _mm512_loadu_si512(packed->low[2] + q));
  const __m512i f = _mm512_add_epi32(box->low_z, _mm512_loadu_si512(packed->high[2] + q));
  return _mm512_min_epi32(_mm512_min_epi32(_mm512_min_epi32(a, b), _mm512_min_epi32(c, d)),
                          _mm512_min_epi32(e, f));
}

/* Pairs of p with the others, of which the first n count; n <= 16. Writes more than that. */
TL_LANES_INLINE void put_all(tl_packed_out *out, __m512i p, __m512i others, unsigned n) {
  const __m512i lower = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i upper =
      _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const __m512i q = _mm512_and_si512(others, _mm512_set1_epi32((int32_t)~TL_BINS_STATIC));
  const __m512i a = _mm512_min_epu32(p, q), b = _mm512_max_epu32(p, q);
  tl_pair *to = out->pair + out->count;
  _mm512_storeu_si512(to, _mm512_permutex2var_epi32(a, lower, b));
  if (__builtin_expect(n > 8, 0))
    _mm512_storeu_si512(to + 8, _mm512_permutex2var_epi32(a, upper, b));
  out->count += n;
}

/* Runs of no more than sixteen. Everything is done whether there are pairs or not: what a branch
 * would save, it costs when mispredicted. */
TL_LANES_INLINE bool search_near(tl_packed_out *out, uint32_t first, uint32_t last,
                                 const uint32_t *begin, const uint32_t *length) {
  const tl_packed *packed = out->packed;
  uint32_t longest = length[0];
  for (int r = 1; r < TL_PACKED_RUNS; ++r)
    longest = length[r] > longest ? length[r] : longest;
  if (longest > TL_PACKED_LANES || !out->plain)
    return false;
  unsigned mask[TL_PACKED_RUNS];
  for (int r = 0; r < TL_PACKED_RUNS; ++r)
    mask[r] = (1u << length[r]) - 1;
  for (uint32_t p = first; p < last; ++p) {
    const lanes_box box = spread_box(packed, p);
    const uint32_t who = packed->who[p];
    const __m512i own = _mm512_set1_epi32((int32_t)(who & ~TL_BINS_STATIC));
    unsigned touch[TL_PACKED_RUNS], touches = 0;
    mask[0] &= 0xfffeu << (p - first);
    for (int r = 0; r < TL_PACKED_RUNS; ++r) {
      const __m512i least = least_at(packed, &box, begin[r]);
      const __m512i others = _mm512_loadu_si512(packed->who + begin[r]);
      __mmask16 in = (__mmask16)mask[r];
      if (__builtin_expect((who & TL_BINS_STATIC) != 0, 0))
        in = _mm512_mask_cmpge_epi32_mask(in, others, _mm512_setzero_si512());
      const __mmask16 sure = _mm512_mask_cmpgt_epi32_mask(in, least, _mm512_setzero_si512());
      touch[r] = _mm512_mask_testn_epi32_mask(in, least, least);
      touches |= touch[r];
      put_all(out, own, _mm512_maskz_compress_epi32(sure, others),
              (unsigned)__builtin_popcount(sure));
    }
    for (int r = 0; touches != 0 && r < TL_PACKED_RUNS; ++r)
      tl_packed_put_touching(out, p, begin[r], touch[r]);
    if (out->count > TL_PACKED_BUFFER - 2 * (TL_PACKED_RUNS + 1) * TL_PACKED_LANES)
      tl_packed_flush(out);
  }
  return true;
}

#define SEARCH tl_packed_search_avx512
#include "broad/packed_search.h"

#else

bool tl_packed_has_avx512(void) { return false; }

void tl_packed_count_avx512(const tl_packed *packed, size_t begin, size_t end, size_t *counts) {
  tl_packed_count(packed, begin, end, counts);
}

void tl_packed_spread_avx512(const tl_packed *packed, size_t begin, size_t end, size_t *next) {
  tl_packed_spread(packed, begin, end, next);
}

void tl_packed_search_avx512(const void *context, size_t block, tl_catch *to) {
  tl_packed_search(context, block, to);
}

#endif
