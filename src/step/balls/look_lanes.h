/* Tests which candidates of balls overlap: LOOK at a time; those that do go into a pack of
 * contacts, with the bits of the scalar code (forces.c). Included by the files that are compiled
 * for an instruction set. */
#ifndef TL_STEP_BALLS_LOOK_LANES_H
#define TL_STEP_BALLS_LOOK_LANES_H

#include "base/simd.h"
#include "kernels/real.h"
#include "step/balls/forces.h"

/* Gives a direction to contacts of the pack, from `from` on, whose balls have one centre. */
static __attribute__((noinline, unused)) void part(const tl_ball_list *list, tl_ball_pack *pack,
                                                   uint32_t from) {
  for (uint32_t i = from; i < pack->count; ++i) {
    const tl_ball_place *a = &list->place.data[pack->a[i]], *b = &list->place.data[pack->b[i]];
    const double dx = b->x - a->x, dy = b->y - a->y, dz = b->z - a->z;
    if (!(dx * dx + dy * dy + dz * dz < TL_BALL_SAME_PLACE))
      continue;
    pack->dx[i] = pack->dy[i] = 0;
    pack->dz[i] = tl_ball_tiny_way(list, pack->a[i], pack->b[i]);
  }
}

/* Prefetches what a contact needs of a ball, except its position. */
INLINE void fetch(const tl_ball_list *list, uint32_t ball) {
  __builtin_prefetch(list->ball.data[ball].v);
  __builtin_prefetch(list->ball.data[ball].spring_force);
}

/* look(list, c, count, pack): tests `count` candidates from c on, at most LOOK, and puts those that
 * overlap into the pack, which must have room for eight more. */
#if TL_SIMD_AVX512

#define LOOK 8

/* Vectors from a to b and sums of radii of eight pairs: subtracts rows, then transposes. */
INLINE void load_ways(const tl_ball_place *places, const uint32_t *a, const uint32_t *b,
                      wide way[4]) {
  const __m256d signs = _mm256_set_pd(0, -0.0, -0.0, -0.0);
  __m256d row[LOOK];
  for (int i = 0; i < LOOK; ++i)
    row[i] = _mm256_add_pd(_mm256_loadu_pd(&places[b[i]].x),
                           _mm256_xor_pd(signs, _mm256_loadu_pd(&places[a[i]].x)));
  __m512d two[4];
  for (int i = 0; i < 4; ++i)
    two[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(row[i]), row[i + 4], 1);
  const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
  const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  const __m512d xz = _mm512_unpacklo_pd(two[0], two[1]), yr = _mm512_unpackhi_pd(two[0], two[1]);
  const __m512d xz2 = _mm512_unpacklo_pd(two[2], two[3]), yr2 = _mm512_unpackhi_pd(two[2], two[3]);
  way[0] = (wide)_mm512_permutex2var_pd(xz, low, xz2);
  way[1] = (wide)_mm512_permutex2var_pd(yr, low, yr2);
  way[2] = (wide)_mm512_permutex2var_pd(xz, high, xz2);
  way[3] = (wide)_mm512_permutex2var_pd(yr, high, yr2);
}

INLINE void squeeze(talus_real *to, __mmask8 which, __m512d x) {
#if TALUS_SINGLE
  _mm256_storeu_ps(to, _mm256_maskz_compress_ps(which, _mm512_cvtpd_ps(x)));
#else
  _mm512_storeu_pd(to, _mm512_maskz_compress_pd(which, x));
#endif
}

INLINE void squeeze_u32(uint32_t *to, __mmask8 which, __m256i x) {
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_maskz_compress_epi32(which, x));
}

/* Lanes beyond the count use the first owner, a ball of this block: another thread may be moving
 * other balls. */
INLINE void look(tl_ball_list *list, uint32_t c, uint32_t count, tl_ball_pack *pack) {
  const __mmask8 valid = (__mmask8)((1u << count) - 1);
  const __m256i first = _mm256_set1_epi32((int32_t)list->owner.data[c]);
  const __m256i a = _mm256_mask_loadu_epi32(first, valid, list->owner.data + c);
  const __m256i b = _mm256_mask_loadu_epi32(first, valid, list->other.data + c);
  const __m256i old = _mm256_maskz_loadu_epi32(valid, list->at.data + c);
  uint32_t rows_a[LOOK], rows_b[LOOK];
  memcpy(rows_a, &a, sizeof rows_a);
  memcpy(rows_b, &b, sizeof rows_b);
  for (int i = 0; i < LOOK; ++i) {
    __builtin_prefetch(list->ball.data[rows_b[i]].v);
    __builtin_prefetch(list->ball.data[rows_b[i]].spring_force);
  }
  wide d[4];
  load_ways(list->place.data, rows_a, rows_b, d);
  const wide square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], most = d[3] * d[3];
  const __mmask8 touch = _mm512_mask_cmp_pd_mask(valid, (__m512d)square, (__m512d)most, _CMP_LT_OQ);
  const __m256i count_up = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const uint32_t n = pack->count;
  const __m256i effects =
      _mm256_add_epi32(_mm256_set1_epi32((int32_t)(pack->effect + n)), count_up);
  _mm256_mask_storeu_epi32(list->at.data + c, valid, _mm256_maskz_expand_epi32(touch, effects));
  squeeze_u32(pack->a + n, touch, a);
  squeeze_u32(pack->b + n, touch, b);
  squeeze_u32(pack->candidate + n, touch,
              _mm256_add_epi32(_mm256_set1_epi32((int32_t)c), count_up));
  squeeze(pack->dx + n, touch, (__m512d)d[0]);
  squeeze(pack->dy + n, touch, (__m512d)d[1]);
  squeeze(pack->dz + n, touch, (__m512d)d[2]);
  const __mmask8 is_old = _mm256_test_epi32_mask(old, old);
  squeeze(pack->is_old + n, touch, _mm512_maskz_mov_pd(is_old, _mm512_set1_pd(1)));
  pack->count += (uint32_t)__builtin_popcount(touch);
  const __mmask8 same = _mm512_mask_cmp_pd_mask(touch, (__m512d)square,
                                                _mm512_set1_pd(TL_BALL_SAME_PLACE), _CMP_LT_OQ);
  if (__builtin_expect(same != 0, 0))
    part(list, pack, n);
}

#else

/* Tests one candidate. There is no branch on whether it overlaps: half of its predictions would be
 * wrong. */
INLINE void look_at(tl_ball_list *list, uint32_t c, tl_ball_pack *pack) {
  const uint32_t owner = list->owner.data[c], other = list->other.data[c], n = pack->count;
  const tl_ball_place *a = &list->place.data[owner], *b = &list->place.data[other];
  const double dx = b->x - a->x, dy = b->y - a->y, dz = b->z - a->z, sum = a->radius + b->radius;
  const double square = dx * dx + dy * dy + dz * dz;
  const bool touch = square < sum * sum;
  fetch(list, other);
  pack->a[n] = owner, pack->b[n] = other, pack->candidate[n] = c;
  pack->dx[n] = (talus_real)dx, pack->dy[n] = (talus_real)dy, pack->dz[n] = (talus_real)dz;
  pack->is_old[n] = list->at.data[c] != 0 ? TL_R(1) : TL_R(0);
  list->at.data[c] = touch ? pack->effect + n : 0;
  pack->count += touch;
  if (__builtin_expect(square < TL_BALL_SAME_PLACE, 0)) {
    pack->dx[n] = pack->dy[n] = 0;
    pack->dz[n] = tl_ball_tiny_way(list, owner, other);
  }
}

#if defined(__AVX2__)

#define LOOK 4

/* Tables by mask of lanes that touch (bit i: lane i): number of such lanes before each, and the
 * permutation that moves them to the front. */
static const uint32_t before[16][4] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 0, 1, 1}, {0, 1, 2, 2},
                                       {0, 0, 0, 1}, {0, 1, 1, 2}, {0, 0, 1, 2}, {0, 1, 2, 3},
                                       {0, 0, 0, 0}, {0, 1, 1, 1}, {0, 0, 1, 1}, {0, 1, 2, 2},
                                       {0, 0, 0, 1}, {0, 1, 1, 2}, {0, 0, 1, 2}, {0, 1, 2, 3}};
static const uint32_t order[16][4] = {{0, 1, 2, 3}, {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 2, 3},
                                      {2, 0, 1, 3}, {0, 2, 1, 3}, {1, 2, 0, 3}, {0, 1, 2, 3},
                                      {3, 0, 1, 2}, {0, 3, 1, 2}, {1, 3, 0, 2}, {0, 1, 3, 2},
                                      {2, 3, 0, 1}, {0, 2, 3, 1}, {1, 2, 3, 0}, {0, 1, 2, 3}};

INLINE __m128i load_four(const uint32_t *from) {
  return _mm_loadu_si128((const __m128i *)(const void *)from);
}

INLINE __m128i close_up(__m128i x, __m128i places) {
  return _mm_castps_si128(_mm_permutevar_ps(_mm_castsi128_ps(x), places));
}

INLINE void squeeze_u32(uint32_t *to, __m128i places, __m128i x) {
  _mm_storeu_si128((__m128i *)(void *)to, close_up(x, places));
}

INLINE void squeeze(talus_real *to, unsigned which, __m256d x) {
#if TALUS_SINGLE
  _mm_storeu_ps(to, _mm_permutevar_ps(_mm256_cvtpd_ps(x), load_four(order[which])));
#else
  store_wide(to, wide_pack((wide)x, which));
#endif
}

/* Vectors from a to b and sums of radii of four pairs: subtracts rows, then transposes. */
INLINE void load_ways(const tl_ball_place *places, const uint32_t *a, const uint32_t *b,
                      __m256d way[4]) {
  const __m256d signs = _mm256_set_pd(0, -0.0, -0.0, -0.0);
  __m256d row[LOOK];
  for (int i = 0; i < LOOK; ++i)
    row[i] = _mm256_add_pd(_mm256_loadu_pd(&places[b[i]].x),
                           _mm256_xor_pd(signs, _mm256_loadu_pd(&places[a[i]].x)));
  const __m256d xz = _mm256_unpacklo_pd(row[0], row[1]), yr = _mm256_unpackhi_pd(row[0], row[1]);
  const __m256d xz2 = _mm256_unpacklo_pd(row[2], row[3]), yr2 = _mm256_unpackhi_pd(row[2], row[3]);
  way[0] = _mm256_permute2f128_pd(xz, xz2, 0x20);
  way[1] = _mm256_permute2f128_pd(yr, yr2, 0x20);
  way[2] = _mm256_permute2f128_pd(xz, xz2, 0x31);
  way[3] = _mm256_permute2f128_pd(yr, yr2, 0x31);
}

/* The lower halves of the four elements of a mask. */
INLINE __m128i narrow(__m256d test) {
  return _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(_mm256_castpd256_pd128(test)),
                                         _mm_castpd_ps(_mm256_extractf128_pd(test, 1)), 0x88));
}

INLINE void look_at_four(tl_ball_list *list, uint32_t c, tl_ball_pack *pack) {
  const uint32_t *owner = list->owner.data + c, *other = list->other.data + c;
  const uint32_t n = pack->count;
  for (int i = 0; i < LOOK; ++i)
    fetch(list, other[i]);
  __m256d d[4];
  load_ways(list->place.data, owner, other, d);
  const __m256d square =
      _mm256_add_pd(_mm256_add_pd(_mm256_mul_pd(d[0], d[0]), _mm256_mul_pd(d[1], d[1])),
                    _mm256_mul_pd(d[2], d[2]));
  const __m256d touch = _mm256_cmp_pd(square, _mm256_mul_pd(d[3], d[3]), _CMP_LT_OQ);
  const unsigned which = (unsigned)_mm256_movemask_pd(touch);
  const __m128i places = load_four(order[which]), old = load_four(list->at.data + c);
  const __m128i effects =
      _mm_add_epi32(_mm_set1_epi32((int32_t)(pack->effect + n)), load_four(before[which]));
  _mm_storeu_si128((__m128i *)(void *)(list->at.data + c), _mm_and_si128(narrow(touch), effects));
  squeeze_u32(pack->a + n, places, load_four(owner));
  squeeze_u32(pack->b + n, places, load_four(other));
  _mm_storeu_si128((__m128i *)(void *)(pack->candidate + n),
                   _mm_add_epi32(_mm_set1_epi32((int32_t)c), places));
  squeeze(pack->dx + n, which, d[0]);
  squeeze(pack->dy + n, which, d[1]);
  squeeze(pack->dz + n, which, d[2]);
  const __m128i is_new = _mm_cmpeq_epi32(old, _mm_setzero_si128());
  squeeze(pack->is_old + n, which,
          _mm256_andnot_pd(_mm256_castsi256_pd(_mm256_cvtepi32_epi64(is_new)), _mm256_set1_pd(1)));
  pack->count += (uint32_t)__builtin_popcount(which);
  const __m256d same = _mm256_cmp_pd(square, _mm256_set1_pd(TL_BALL_SAME_PLACE), _CMP_LT_OQ);
  if (__builtin_expect(((unsigned)_mm256_movemask_pd(same) & which) != 0, 0))
    part(list, pack, n);
}

INLINE void look(tl_ball_list *list, uint32_t c, uint32_t count, tl_ball_pack *pack) {
  if (count == LOOK)
    look_at_four(list, c, pack);
  else
    for (uint32_t i = 0; i < count; ++i)
      look_at(list, c + i, pack);
}

#else

#define LOOK 1

INLINE void look(tl_ball_list *list, uint32_t c, uint32_t count, tl_ball_pack *pack) {
  (void)count;
  look_at(list, c, pack);
}

#endif
#endif

#endif
