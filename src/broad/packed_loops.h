/* Packed bins: numbers of boxes, and the search with eight boxes tested at once. Included once for
 * each instruction set, by a file whose name ends in it; all find the same pairs. Written by hand
 * for AVX2 and AVX-512 with vectors of eight 32-bit numbers, and for others as loops that compilers
 * vectorise. */
#include "base/simd.h"
#include "broad/packed_out.h"

#if defined(__AVX2__) && defined(__BMI2__)

/* ---- cells and numbers ----------------------------------------------------------------------- */

TL_LANES_INLINE uint32_t key_of_box(const tl_packed_cells *cells, const talus_box *box) {
  const __m256d x = _mm256_loadu_pd(&box->lo.x);
  __m256d t = _mm256_mul_pd(_mm256_sub_pd(x, _mm256_load_pd(cells->origin)),
                            _mm256_load_pd(cells->inverse));
  t = _mm256_min_pd(_mm256_max_pd(t, _mm256_setzero_pd()), _mm256_load_pd(cells->last));
  const __m128i at = _mm256_cvttpd_epi32(t);
  const __m128i part = _mm_mullo_epi32(at, _mm_loadu_si128((const __m128i *)cells->stride));
  const __m128i two = _mm_add_epi32(part, _mm_shuffle_epi32(part, 0x4e));
  const __m128i all = _mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1));
  return cells->base + (uint32_t)_mm_cvtsi128_si32(all);
}

TL_LANES_INLINE uint32_t key_of(const tl_packed *packed, const talus_box *box, bool even) {
  if (even)
    return key_of_box(&packed->cells[0], box);
  const int l = packed->bins->level_of[tl_bins_class_of(box)];
  return l < packed->bins->levels ? key_of_box(&packed->cells[l], box) : packed->beyond;
}

TL_LANES_INLINE void count_some(const tl_packed *packed, size_t begin, size_t end, size_t *counts,
                                bool even) {
  const talus_box *boxes = packed->bins->boxes;
  const int shift = packed->shift;
  for (size_t i = begin; i < end; ++i)
    counts[key_of(packed, &boxes[i], even) >> shift]++;
}

static void count(const tl_packed *packed, size_t begin, size_t end, size_t *counts) {
  if (packed->even)
    count_some(packed, begin, end, counts, true);
  else
    count_some(packed, begin, end, counts, false);
}

/* A local copy of the map stays in registers: the compiler must assume that writing records changes
 * it. */
#define PARTS (TL_PACKED_LANES / WIDE)
typedef struct numbering {
  wide origin[PARTS], scale[PARTS], least[PARTS], most[PARTS];
} numbering;

TL_LANES_INLINE numbering numbering_of(const tl_packed_map *map) {
  numbering n;
  for (int k = 0; k < PARTS; ++k) {
    n.origin[k] = load_wide(map->origin + k * WIDE);
    n.scale[k] = load_wide(map->scale + k * WIDE);
    n.least[k] = load_wide(map->least + k * WIDE);
    n.most[k] = load_wide(map->most + k * WIDE);
  }
  return n;
}

/* Six numbers of a box, and two unused. */
TL_LANES_INLINE __m256i numbers_of(const numbering *map, const talus_box *box) {
#if TL_SIMD_AVX512
  const __m512d t =
      _mm512_mul_pd(_mm512_sub_pd(_mm512_maskz_loadu_pd(0x3f, box), (__m512d)map->origin[0]),
                    (__m512d)map->scale[0]);
  return _mm512_cvttpd_epi32(
      _mm512_min_pd(_mm512_max_pd(t, (__m512d)map->least[0]), (__m512d)map->most[0]));
#else
  __m256d x[PARTS] = {_mm256_loadu_pd(&box->lo.x),
                      _mm256_castpd128_pd256(_mm_loadu_pd(&box->hi.y))};
  __m128i part[PARTS];
  x[1] = _mm256_insertf128_pd(x[1], _mm_setzero_pd(), 1);
  for (int k = 0; k < PARTS; ++k) {
    const __m256d t =
        _mm256_mul_pd(_mm256_sub_pd(x[k], (__m256d)map->origin[k]), (__m256d)map->scale[k]);
    part[k] = _mm256_cvttpd_epi32(
        _mm256_min_pd(_mm256_max_pd(t, (__m256d)map->least[k]), (__m256d)map->most[k]));
  }
  return _mm256_inserti128_si256(_mm256_castsi128_si256(part[0]), part[1], 1);
#endif
}

TL_LANES_INLINE void spread_some(const tl_packed *packed, size_t begin, size_t end, size_t *next,
                                 bool even) {
  const tl_bins *bins = packed->bins;
  const numbering map = numbering_of(&packed->map);
  const int shift = packed->shift;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t key = key_of(packed, &bins->boxes[i], even);
    const __m256i numbers = numbers_of(&map, &bins->boxes[i]);
    tl_packed_record *to = &packed->record[next[key >> shift]++];
    const uint32_t slot = tl_crowd_slot(bins->crowd, i);
    _mm256_store_si256((__m256i *)(void *)to, numbers);
    to->key = key;
    to->who = (uint32_t)i | (tl_body_is_static(bins->model, slot) ? TL_BINS_STATIC : 0);
  }
}

static void spread(const tl_packed *packed, size_t begin, size_t end, size_t *next) {
  if (packed->even)
    spread_some(packed, begin, end, next, true);
  else
    spread_some(packed, begin, end, next, false);
}

/* ---- search ---------------------------------------------------------------------------------- */

TL_LANES_INLINE __m256i load_eight(const void *from) {
  return _mm256_loadu_si256((const __m256i *)from);
}

/* Bits of lanes that are above 0; of lanes that are 0. */
TL_LANES_INLINE unsigned find_positive(__m256i x) {
#if TL_SIMD_AVX512
  return _mm256_cmpgt_epi32_mask(x, _mm256_setzero_si256());
#else
  return (unsigned)_mm256_movemask_ps((__m256)_mm256_cmpgt_epi32(x, _mm256_setzero_si256()));
#endif
}

TL_LANES_INLINE unsigned find_zero(__m256i x) {
#if TL_SIMD_AVX512
  return _mm256_testn_epi32_mask(x, x);
#else
  return (unsigned)_mm256_movemask_ps((__m256)_mm256_cmpeq_epi32(x, _mm256_setzero_si256()));
#endif
}

/* Moves the lanes in `which` to the front. */
TL_LANES_INLINE __m256i close_up(__m256i x, unsigned which) {
#if TL_SIMD_AVX512
  return _mm256_maskz_compress_epi32((__mmask8)which, x);
#else
  const uint64_t bytes = _pdep_u64(which, UINT64_C(0x0101010101010101)) * 0xff;
  const uint64_t order = _pext_u64(UINT64_C(0x0706050403020100), bytes);
  return _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)order)));
#endif
}

/* A box broadcast to all lanes. */
typedef struct lanes_box {
  __m256i low_x, low_y, low_z, high_x, high_y, high_z;
} lanes_box;

TL_LANES_INLINE lanes_box spread_box(const tl_packed *packed, uint32_t p) {
  return (lanes_box){_mm256_set1_epi32(packed->low[0][p]),  _mm256_set1_epi32(packed->low[1][p]),
                     _mm256_set1_epi32(packed->low[2][p]),  _mm256_set1_epi32(packed->high[0][p]),
                     _mm256_set1_epi32(packed->high[1][p]), _mm256_set1_epi32(packed->high[2][p])};
}

/* Smallest of the six sums of a box and each of the eight at q: negative, 0 or more. */
TL_LANES_INLINE __m256i least_at(const tl_packed *packed, const lanes_box *box, uint32_t q) {
  const __m256i a = _mm256_add_epi32(box->high_x, load_eight(packed->low[0] + q));
  const __m256i b = _mm256_add_epi32(box->low_x, load_eight(packed->high[0] + q));
  const __m256i c = _mm256_add_epi32(box->high_y, load_eight(packed->low[1] + q));
  const __m256i d = _mm256_add_epi32(box->low_y, load_eight(packed->high[1] + q));
  const __m256i e = _mm256_add_epi32(box->high_z, load_eight(packed->low[2] + q));
  const __m256i f = _mm256_add_epi32(box->low_z, load_eight(packed->high[2] + q));
  return _mm256_min_epi32(_mm256_min_epi32(_mm256_min_epi32(a, b), _mm256_min_epi32(c, d)),
                          _mm256_min_epi32(e, f));
}

TL_LANES_INLINE void test_lanes(const tl_packed *packed, uint32_t p, uint32_t q, unsigned *sure,
                                unsigned *touch) {
  const lanes_box box = spread_box(packed, p);
  const __m256i least = least_at(packed, &box, q);
  *sure = find_positive(least);
  *touch = find_zero(least);
}

/* Writes pairs of p with the others; the first n count, but eight may be written. */
TL_LANES_INLINE void put_all(tl_pair *to, __m256i p, __m256i others, unsigned n) {
  const __m256i q = _mm256_and_si256(others, _mm256_set1_epi32((int32_t)~TL_BINS_STATIC));
  const __m256i a = _mm256_min_epu32(p, q), b = _mm256_max_epu32(p, q);
  const __m256i even = _mm256_unpacklo_epi32(a, b), odd = _mm256_unpackhi_epi32(a, b);
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permute2x128_si256(even, odd, 0x20));
  if (__builtin_expect(n > 4, 0))
    _mm256_storeu_si256((__m256i *)(void *)(to + 4), _mm256_permute2x128_si256(even, odd, 0x31));
}

/* Writes the pairs of box p with a run of up to eight to out + count. If a sum is 0, a lane of
 * *nearest is 0. */
TL_LANES_INLINE size_t near_run(const tl_packed *packed, const lanes_box *box, __m256i own,
                                uint32_t q, uint32_t length, tl_pair *out, size_t count,
                                __m256i *nearest) {
  const __m256i least = least_at(packed, box, q);
  const __m256i others = load_eight(packed->who + q);
  const unsigned sure = find_positive(least) & ((1u << length) - 1);
  const unsigned n = (unsigned)__builtin_popcount(sure);
  *nearest = _mm256_min_epu32(*nearest, least);
  put_all(out + count, own, close_up(others, sure), n);
  return count + n;
}

static void search_rows(tl_packed_out *out, uint32_t p, const tl_bins_level *level);

/* The same of a run of up to sixteen. */
TL_LANES_INLINE size_t near_long_run(const tl_packed *packed, const lanes_box *box, __m256i own,
                                     uint32_t q, uint32_t length, tl_pair *out, size_t count,
                                     __m256i *nearest) {
  const uint32_t first = length < TL_PACKED_LANES ? length : TL_PACKED_LANES;
  count = near_run(packed, box, own, q, first, out, count, nearest);
  if (length > TL_PACKED_LANES)
    count = near_run(packed, box, own, q + TL_PACKED_LANES, length - TL_PACKED_LANES, out, count,
                     nearest);
  return count;
}

#define LONG      (2 * TL_PACKED_LANES)
#define ROOM_OF_P (5 * LONG) /* pairs that a box may have with runs of up to that length */

/* What box p is tested against: the rest of its own row, and four more. */
typedef struct near_runs {
  uint32_t q[5], length[5];
} near_runs;

TL_LANES_INLINE size_t near_all(const tl_packed_out *out, uint32_t p, const near_runs *runs,
                                const bool are_short, tl_pair *to, size_t count, __m256i *nearest) {
  const tl_packed *packed = out->packed;
  const lanes_box box = spread_box(packed, p);
  const __m256i slot = _mm256_set1_epi32((int32_t)packed->who[p]);
  for (int r = 0; r < 5; ++r)
    count =
        are_short
            ? near_run(packed, &box, slot, runs->q[r], runs->length[r], to, count, nearest)
            : near_long_run(packed, &box, slot, runs->q[r], runs->length[r], to, count, nearest);
  return count;
}

/* Runs are of no more than sixteen, or else search_rows does it; likewise what is static, and where
 * numbers are equal. Where none is of more than eight everything is done whether there are pairs or
 * not: what a branch would save, it costs when mispredicted. */
static void search_near(tl_packed_out *out, const tl_bins_level *level, uint32_t first,
                        uint32_t last) {
  const tl_packed *packed = out->packed;
  const uint32_t row = level->row, plane = level->plane;
  for (uint32_t p = first; p < last; ++p) {
    const uint32_t *own = packed->start + packed->key[p], *a = own + row;
    const uint32_t *b = own + (plane - row), *c = own + plane, *d = c + row;
    const near_runs runs = {
        {p + 1, a[-1], b[-1], c[-1], d[-1]},
        {own[2] - p - 1, a[2] - a[-1], b[2] - b[-1], c[2] - c[-1], d[2] - d[-1]}};
    uint32_t longest = 0;
    for (int r = 0; r < 5; ++r)
      longest = runs.length[r] > longest ? runs.length[r] : longest;
    if (__builtin_expect(longest > LONG || (packed->who[p] & TL_BINS_STATIC) != 0 || !out->plain,
                         0)) {
      search_rows(out, p, level);
      continue;
    }
    if (out->count > TL_PACKED_BUFFER - ROOM_OF_P)
      tl_packed_flush(out);
    __m256i nearest = _mm256_set1_epi32(-1);
    const size_t count = longest <= TL_PACKED_LANES
                             ? near_all(out, p, &runs, true, out->pair, out->count, &nearest)
                             : near_all(out, p, &runs, false, out->pair, out->count, &nearest);
    if (__builtin_expect(find_zero(nearest) != 0, 0)) {
      search_rows(out, p, level); /* again, one by one */
      continue;
    }
    out->count = count;
  }
}

#else

/* ---- one box at a time ---------------------------------------------------------------------- */

static inline const tl_packed_cells *cells_of(const tl_packed *packed, const talus_box *box) {
  if (packed->even)
    return &packed->cells[0];
  const int l = packed->bins->level_of[tl_bins_class_of(box)];
  return l < packed->bins->levels ? &packed->cells[l] : NULL;
}

static inline uint32_t key_of(const tl_packed *packed, const talus_box *box) {
  const tl_packed_cells *cells = cells_of(packed, box);
  if (!cells)
    return packed->beyond;
  const double x[3] = {box->lo.x, box->lo.y, box->lo.z};
  uint32_t key = cells->base;
  for (int k = 0; k < 3; ++k) {
    double t = (x[k] - cells->origin[k]) * cells->inverse[k];
    t = t > 0 ? t : 0;
    key += (uint32_t)(t < cells->last[k] ? t : cells->last[k]) * cells->stride[k];
  }
  return key;
}

static void count(const tl_packed *packed, size_t begin, size_t end, size_t *counts) {
  for (size_t i = begin; i < end; ++i)
    counts[key_of(packed, &packed->bins->boxes[i]) >> packed->shift]++;
}

static void spread(const tl_packed *packed, size_t begin, size_t end, size_t *next) {
  const tl_bins *bins = packed->bins;
  const tl_packed_map *map = &packed->map;
  for (size_t i = begin; i < end; ++i) {
    const talus_box *box = &bins->boxes[i];
    const double x[6] = {box->lo.x, box->lo.y, box->lo.z, box->hi.x, box->hi.y, box->hi.z};
    const uint32_t key = key_of(packed, box);
    tl_packed_record *to = &packed->record[next[key >> packed->shift]++];
    for (int k = 0; k < 6; ++k) {
      double t = (x[k] - map->origin[k]) * map->scale[k];
      t = t > map->least[k] ? t : map->least[k];
      t = t < map->most[k] ? t : map->most[k];
      (k < 3 ? to->low : to->high - 3)[k] = (int32_t)t;
    }
    const uint32_t slot = tl_crowd_slot(bins->crowd, i);
    to->key = key;
    to->who = (uint32_t)i | (tl_body_is_static(bins->model, slot) ? TL_BINS_STATIC : 0);
  }
}

/* ---- search ---------------------------------------------------------------------------------- */

static const uint32_t lane_bit[TL_PACKED_LANES] = {1, 2, 4, 8, 16, 32, 64, 128};

/* Written without branches, so that compilers vectorise the loops on any machine: the sign of the
 * OR of all six sums says that one is negative, that of the sums minus one that one is negative or
 * 0. */
TL_LANES_INLINE void test_lanes(const tl_packed *packed, uint32_t p, uint32_t q, unsigned *sure,
                                unsigned *touch) {
  const int32_t x0 = packed->low[0][p], y0 = packed->low[1][p], z0 = packed->low[2][p];
  const int32_t x1 = packed->high[0][p], y1 = packed->high[1][p], z1 = packed->high[2][p];
  const int32_t *lx = packed->low[0] + q, *ly = packed->low[1] + q, *lz = packed->low[2] + q;
  const int32_t *hx = packed->high[0] + q, *hy = packed->high[1] + q, *hz = packed->high[2] + q;
  uint32_t miss = 0, unsure = 0;
  for (int k = 0; k < TL_PACKED_LANES; ++k) {
    const int32_t a = x1 + lx[k], b = hx[k] + x0, c = y1 + ly[k], d = hy[k] + y0;
    const int32_t e = z1 + lz[k], f = hz[k] + z0;
    const int32_t sign = a | b | c | d | e | f;
    const int32_t less = (a - 1) | (b - 1) | (c - 1) | (d - 1) | (e - 1) | (f - 1);
    miss |= (uint32_t)(sign >> 31) & lane_bit[k];
    unsure |= (uint32_t)(less >> 31) & lane_bit[k];
  }
  *sure = ~unsure & 0xffu;
  *touch = unsure & ~miss;
}

static void search_rows(tl_packed_out *out, uint32_t p, const tl_bins_level *level);

static void search_near(tl_packed_out *out, const tl_bins_level *level, uint32_t first,
                        uint32_t last) {
  for (uint32_t p = first; p < last; ++p)
    search_rows(out, p, level);
}

#endif

#include "broad/packed_search.h"
