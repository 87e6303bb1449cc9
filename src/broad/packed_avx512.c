/* Packed bins with AVX-512: a box is a vector of six numbers, eight boxes are tested at once. The
 * arithmetic is that of packed.c and packed_search.c, operation by operation. This file is compiled
 * for AVX-512 (CMakeLists.txt) and runs only where the processor has it. */
#include "broad/packed_out.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include <immintrin.h>

/* ---- cells and numbers ----------------------------------------------------------------------- */

TL_LANES_INLINE __m512d load_box(const talus_box *box) { return _mm512_maskz_loadu_pd(0x3f, box); }

TL_LANES_INLINE uint32_t key_of_box(const tl_packed_cells *cells, __m512d box) {
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

TL_LANES_INLINE uint32_t key_of(const tl_packed *packed, const talus_box *box, __m512d loaded,
                                bool even) {
  if (even)
    return key_of_box(&packed->cells[0], loaded);
  const int l = packed->bins->level_of[tl_bins_class_of(box)];
  return l < packed->bins->levels ? key_of_box(&packed->cells[l], loaded) : packed->beyond;
}

TL_LANES_INLINE void count(const tl_packed *packed, size_t begin, size_t end, size_t *counts,
                           bool even) {
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

TL_LANES_INLINE void spread(const tl_packed *packed, size_t begin, size_t end, size_t *next,
                            bool even) {
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
    const uint32_t slot = tl_crowd_slot(bins->crowd, i);
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

TL_LANES_INLINE __m256i load(const void *from) { return _mm256_loadu_si256((const __m256i *)from); }

/* A box in every lane. */
typedef struct lanes_box {
  __m256i low_x, low_y, low_z, high_x, high_y, high_z;
} lanes_box;

TL_LANES_INLINE lanes_box spread_box(const tl_packed *packed, uint32_t p) {
  return (lanes_box){_mm256_set1_epi32(packed->low[0][p]),  _mm256_set1_epi32(packed->low[1][p]),
                     _mm256_set1_epi32(packed->low[2][p]),  _mm256_set1_epi32(packed->high[0][p]),
                     _mm256_set1_epi32(packed->high[1][p]), _mm256_set1_epi32(packed->high[2][p])};
}

/* The least of the six sums of a box and each of the eight at q: negative, 0 or more. */
TL_LANES_INLINE __m256i least_at(const tl_packed *packed, const lanes_box *box, uint32_t q) {
  const __m256i a = _mm256_add_epi32(box->high_x, load(packed->low[0] + q));
  const __m256i b = _mm256_add_epi32(box->low_x, load(packed->high[0] + q));
  const __m256i c = _mm256_add_epi32(box->high_y, load(packed->low[1] + q));
  const __m256i d = _mm256_add_epi32(box->low_y, load(packed->high[1] + q));
  const __m256i e = _mm256_add_epi32(box->high_z, load(packed->low[2] + q));
  const __m256i f = _mm256_add_epi32(box->low_z, load(packed->high[2] + q));
  return _mm256_min_epi32(_mm256_min_epi32(_mm256_min_epi32(a, b), _mm256_min_epi32(c, d)),
                          _mm256_min_epi32(e, f));
}

TL_LANES_INLINE void test_lanes(const tl_packed *packed, uint32_t p, uint32_t q, unsigned *sure,
                                unsigned *touch) {
  const lanes_box box = spread_box(packed, p);
  const __m256i least = least_at(packed, &box, q);
  *sure = _mm256_cmpgt_epi32_mask(least, _mm256_setzero_si256());
  *touch = _mm256_testn_epi32_mask(least, least);
}

/* Pairs of p with the others, of which the first n count. May write eight. */
TL_LANES_INLINE void put_all(tl_pair *to, __m256i p, __m256i others, unsigned n) {
  const __m256i lower = _mm256_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11);
  const __m256i upper = _mm256_setr_epi32(4, 12, 5, 13, 6, 14, 7, 15);
  const __m256i q = _mm256_and_si256(others, _mm256_set1_epi32((int32_t)~TL_BINS_STATIC));
  const __m256i a = _mm256_min_epu32(p, q), b = _mm256_max_epu32(p, q);
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permutex2var_epi32(a, lower, b));
  if (__builtin_expect(n > 4, 0))
    _mm256_storeu_si256((__m256i *)(void *)(to + 4), _mm256_permutex2var_epi32(a, upper, b));
}

/* Box p against a run of up to eight: its pairs to out + count. *nearest: where a sum is 0, so is
 * a lane of it. */
TL_LANES_INLINE size_t near_run(const tl_packed *packed, const lanes_box *box, __m256i own,
                                uint32_t q, uint32_t length, tl_pair *out, size_t count,
                                __m256i *nearest) {
  const __m256i least = least_at(packed, box, q);
  const __m256i others = load(packed->who + q);
  const __mmask8 in = (__mmask8)((1u << length) - 1);
  const __mmask8 sure = _mm256_mask_cmpgt_epi32_mask(in, least, _mm256_setzero_si256());
  const unsigned n = (unsigned)__builtin_popcount(sure);
  *nearest = _mm256_min_epu32(*nearest, least);
  put_all(out + count, own, _mm256_maskz_compress_epi32(sure, others), n);
  return count + n;
}

static void search_rows(tl_packed_out *out, uint32_t p, const tl_bins_level *level);

/* Runs are of no more than eight, or else search_rows does it; likewise what is static, and where
 * numbers are equal. Otherwise everything is done whether there are pairs or not: what a branch
 * would save, it costs when mispredicted. */
static void search_near(tl_packed_out *out, const tl_bins_level *level, uint32_t first,
                        uint32_t last) {
  const tl_packed *packed = out->packed;
  const uint32_t row = level->row, plane = level->plane;
  for (uint32_t p = first; p < last; ++p) {
    const uint32_t *own = packed->start + packed->key[p], *a = own + row;
    const uint32_t *b = own + (plane - row), *c = own + plane, *d = c + row;
    const uint32_t qa = a[-1], qb = b[-1], qc = c[-1], qd = d[-1];
    const uint32_t n = own[2] - p - 1, na = a[2] - qa, nb = b[2] - qb, nc = c[2] - qc,
                   nd = d[2] - qd, more = 15 - TL_PACKED_LANES;
    const uint32_t who = packed->who[p];
    const uint32_t longest = (n + more) | (na + more) | (nb + more) | (nc + more) | (nd + more);
    if (__builtin_expect(longest > 15 || (who & TL_BINS_STATIC) != 0 || !out->plain, 0)) {
      search_rows(out, p, level);
      continue;
    }
    if (out->count > TL_PACKED_BUFFER - 5 * TL_PACKED_LANES)
      tl_packed_flush(out);
    const lanes_box box = spread_box(packed, p);
    const __m256i slot = _mm256_set1_epi32((int32_t)who);
    __m256i nearest = _mm256_set1_epi32(-1);
    size_t count = near_run(packed, &box, slot, p + 1, n, out->pair, out->count, &nearest);
    count = near_run(packed, &box, slot, qa, na, out->pair, count, &nearest);
    count = near_run(packed, &box, slot, qb, nb, out->pair, count, &nearest);
    count = near_run(packed, &box, slot, qc, nc, out->pair, count, &nearest);
    count = near_run(packed, &box, slot, qd, nd, out->pair, count, &nearest);
    if (__builtin_expect(_mm256_testn_epi32_mask(nearest, nearest) != 0, 0)) {
      search_rows(out, p, level); /* once more */
      continue;
    }
    out->count = count;
  }
}

#define SEARCH tl_packed_search_avx512
#include "broad/packed_search.h"

#else

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
