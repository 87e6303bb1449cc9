/* Pairs of spheres, as many at a time as a register has doubles: the arithmetic of
 * tl_collide_sphere_sphere (kernels/collide_sphere.h), operation by operation, so that the bits are
 * the same. Included once for each instruction set, by a file whose name ends in it. */
#include "base/simd.h"
#include "narrow/spheres.h"
#include "narrow/swept.h"

#include <float.h>
#include <stddef.h>

_Static_assert(sizeof(tl_sphere_row) == 8 * sizeof(double), "rows are loaded as eight numbers");

typedef struct some {
  wide xa, ya, za, x, y, z; /* of a; from a to b */
  wide radius_a, radius_b, margin;
  wide square, distance, gap;
  wide ux, uy, uz; /* velocity of b relative to a */
} some;

/* Columns of rows: x, y, z, radius, margin, velocity. */
typedef struct columns {
  wide of[8];
} columns;

/* Rows are loaded by registers and transposed, which is faster than gathers. */
#if TL_SIMD_AVX512

/* Loads four numbers from `at` on of eight rows: rows 0 and 2, 1 and 3, 4 and 6, 5 and 7 in one
 * register each. */
INLINE void gather_four(const double *at, const uint32_t *body, wide to[4]) {
  __m512d m[4];
  for (int i = 0; i < 4; ++i) {
    const uint32_t *pair = body + i + (i & 2);
    m[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(at + 8 * (size_t)pair[0])),
                              _mm256_loadu_pd(at + 8 * (size_t)pair[2]), 1);
  }
  const __m512d a = _mm512_unpacklo_pd(m[0], m[1]), b = _mm512_unpackhi_pd(m[0], m[1]);
  const __m512d c = _mm512_unpacklo_pd(m[2], m[3]), d = _mm512_unpackhi_pd(m[2], m[3]);
  to[0] = (wide)_mm512_shuffle_f64x2(a, c, 0x88);
  to[1] = (wide)_mm512_shuffle_f64x2(b, d, 0x88);
  to[2] = (wide)_mm512_shuffle_f64x2(a, c, 0xdd);
  to[3] = (wide)_mm512_shuffle_f64x2(b, d, 0xdd);
}

#elif defined(__AVX2__)

INLINE void gather_four(const double *at, const uint32_t *body, wide to[4]) {
  __m256d m[WIDE];
  for (int i = 0; i < WIDE; ++i)
    m[i] = _mm256_loadu_pd(at + 8 * (size_t)body[i]);
  const __m256d a = _mm256_unpacklo_pd(m[0], m[1]), b = _mm256_unpackhi_pd(m[0], m[1]);
  const __m256d c = _mm256_unpacklo_pd(m[2], m[3]), d = _mm256_unpackhi_pd(m[2], m[3]);
  to[0] = (wide)_mm256_permute2f128_pd(a, c, 0x20);
  to[1] = (wide)_mm256_permute2f128_pd(b, d, 0x20);
  to[2] = (wide)_mm256_permute2f128_pd(a, c, 0x31);
  to[3] = (wide)_mm256_permute2f128_pd(b, d, 0x31);
}

#else

INLINE void gather_four(const double *at, const uint32_t *body, wide to[4]) {
  for (int k = 0; k < 4; ++k)
    to[k] = (wide){at[8 * (size_t)body[0] + (size_t)k], at[8 * (size_t)body[1] + (size_t)k]};
}

#endif

INLINE columns gather(const tl_sphere_row *rows, const uint32_t *body) {
  columns c;
  gather_four(&rows->x, body, c.of);
  gather_four(&rows->margin, body, c.of + 4);
  return c;
}

/* Lanes beyond `left` hold body 0 paired with itself. */
INLINE void load_pairs(const tl_sphere_row *rows, const tl_pair *pairs, size_t left, columns *a,
                       columns *b) {
  uint32_t of_a[WIDE], of_b[WIDE];
  for (size_t i = 0; i < WIDE; ++i) {
    of_a[i] = i < left ? pairs[i].a : 0;
    of_b[i] = i < left ? pairs[i].b : 0;
  }
  *a = gather(rows, of_a);
  *b = gather(rows, of_b);
}

INLINE wide add_reals(wide a, wide b) {
#if TALUS_SINGLE
  /* Rounded twice; for a sum of floats that is the same as once, because a double has more than
   * twice their bits. */
  const wide sum = a + b;
#if TL_SIMD_AVX512
  return (wide)_mm512_cvtps_pd(_mm512_cvtpd_ps((__m512d)sum));
#elif defined(__AVX2__)
  return (wide)_mm256_cvtps_pd(_mm256_cvtpd_ps((__m256d)sum));
#else
  return (wide){(double)(float)sum[0], (double)(float)sum[1]};
#endif
#else
  return a + b;
#endif
}

INLINE some load_some(const tl_sphere_row *rows, const tl_pair *pairs, size_t left) {
  columns a, b;
  load_pairs(rows, pairs, left, &a, &b);
  some s;
  s.xa = a.of[0], s.ya = a.of[1], s.za = a.of[2];
  s.x = b.of[0] - s.xa, s.y = b.of[1] - s.ya, s.z = b.of[2] - s.za;
  s.radius_a = a.of[3], s.radius_b = b.of[3];
  s.margin = add_reals(a.of[4], b.of[4]);
  s.square = s.x * s.x + s.y * s.y + s.z * s.z;
  s.distance = wide_sqrt(s.square);
  s.gap = s.distance - (s.radius_a + s.radius_b);
  s.ux = b.of[5] - a.of[5], s.uy = b.of[6] - a.of[6], s.uz = b.of[7] - a.of[7];
  return s;
}

/* Which pairs will certainly strike, and which are far apart: the test of contact/reach.c with gap,
 * normal and both velocities, and a margin for rounding. Bodies whose velocities are not known are
 * neither. */
INLINE void judge(const some *s, const tl_sphere_reach *reach, unsigned *strikes, unsigned *far) {
  const wide zero = {0};
  const wide parting = (s->ux * s->x + s->uy * s->y + s->uz * s->z) / s->distance;
  const wide speed = wide_sqrt(s->ux * s->ux + s->uy * s->uy + s->uz * s->uz);
  const wide closing = wide_select(parting < zero, -parting, zero), way = reach->h * closing;
  const double fast = 1.0001 * reach->slow,
               least = 1.0001 * (reach->h * reach->slow + reach->slack);
  *strikes = wide_bits((closing > zero + fast) & (1.0001 * s->gap < 0.9999 * way) &
                       (s->margin > zero + least));
  *far = wide_bits(s->gap > 1.0001 * (reach->slack + way + reach->h * speed));
}

static void meet(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
                 const tl_sphere_reach *reach, tl_sphere_word *word) {
  uint64_t bits = 0, strange = 0;
  *word = (tl_sphere_word){0};
  for (size_t i = 0; i < count; i += WIDE) {
    const size_t left = count - i;
    const some s = load_some(rows, pairs + i, left);
    const wide most = s.radius_a + s.radius_b + s.margin, limit = most * most * (1 + 1e-12);
    const unsigned there = left < WIDE ? (1u << left) - 1u : ALL_WIDE;
    const unsigned odd = wide_bits((s.radius_a != s.radius_a) | (s.radius_b != s.radius_b)) & there;
    const unsigned far = wide_bits(s.square > limit), near = wide_bits(s.gap <= s.margin);
    const unsigned met = near & ~far & ~odd & there;
    bits |= (uint64_t)met << i;
    strange |= (uint64_t)odd << i;
    if (reach->h > 0) {
      unsigned strikes, apart;
      judge(&s, reach, &strikes, &apart);
      word->strikes += (size_t)__builtin_popcount(strikes & met);
      word->far |= (uint64_t)(apart & met) << i;
    }
  }
  word->meets = bits;
  word->others = strange;
}

/* Which contacts tl_swept_pair may change: its first tests (is_candidate, is_harmless) with a
 * margin for rounding, in the single build that of floats. */
INLINE unsigned find_doubts(const some *s, const tl_sphere_way *way, wide nx, wide ny, wide nz) {
  const wide zero = {0}, h = zero + way->h;
  const wide size = wide_select(s->radius_a < s->radius_b, s->radius_a, s->radius_b);
  const wide along = s->ux * nx + s->uy * ny + s->uz * nz;
  const wide all2 = s->ux * s->ux + s->uy * s->uy + s->uz * s->uz, less = all2 - along * along;
  const wide across = wide_sqrt(wide_select(less > zero, less, zero) + 1e-6 * all2);
  const unsigned goes = wide_bits(s->margin > 0.999 * TL_SWEPT_FAR * size);
  const unsigned opens = wide_bits(s->gap + h * along > 2e-6 * size);
  const unsigned is_straight = wide_bits(h * across <= 0.998 * TL_SWEPT_FAR * size);
  const unsigned parted = wide_bits(s->gap > zero);
  return parted & (way->takes_slow ? ALL_WIDE : goes) & ~(opens | is_straight);
}

/* Writes the contacts of some pairs: point, normal, gap. */
INLINE void write_contacts(const tl_pair *pairs, size_t number, const wide found[7],
                           tl_contact *out) {
#if TL_SIMD_AVX512 && !TALUS_SINGLE
  /* A contact is twelve numbers; the first is the pair, the second holds two features, which are
   * 0. */
  _Static_assert(sizeof(tl_contact) == 12 * sizeof(double), "twelve numbers");
  _Static_assert(offsetof(tl_contact, point) == 2 * sizeof(double), "the point is the third");
  static const uint32_t order[WIDE] = {0, 1, 2, 3, 4, 5, 6, 7};
  if (number == WIDE) {
    const wide zero = {0};
    wide first[4] = {load_wide((const double *)(const void *)pairs), zero, found[0], found[1]};
    wide rest[8] = {found[2], found[3], found[4], found[5], found[6], zero, zero, zero};
    store_fours(out, 12, order, first, ALL_WIDE);
    store_rows((double *)(void *)out + 4, 12, order, rest, ALL_WIDE);
    return;
  }
#endif
  double each[7][WIDE];
  memcpy(each, found, sizeof each);
  for (size_t k = 0; k < number; ++k)
    out[k] = (tl_contact){
        .a = pairs[k].a,
        .b = pairs[k].b,
        .point = {each[0][k], each[1][k], each[2][k]},
        .normal = {(talus_real)each[3][k], (talus_real)each[4][k], (talus_real)each[5][k]},
        .gap = (talus_real)each[6][k]};
}

static void write(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
                  const tl_sphere_way *way, tl_contact *out, uint64_t *doubts) {
  const wide zero = {0}, one = zero + 1;
  for (size_t i = 0; i < count; i += WIDE) {
    const size_t number = count - i < WIDE ? count - i : WIDE;
    const some s = load_some(rows, pairs + i, count - i);
    const wide_mask apart = s.square > zero + DBL_MIN;
    const wide nx = wide_select(apart, s.x / s.distance, zero);
    const wide ny = wide_select(apart, s.y / s.distance, zero);
    const wide nz = wide_select(apart, s.z / s.distance, one);
    const unsigned there = number < WIDE ? (1u << number) - 1u : ALL_WIDE;
    const uint64_t doubt = way->h > 0 ? find_doubts(&s, way, nx, ny, nz) & there : 0;
    doubts[i / 64] = (i % 64 == 0 ? 0 : doubts[i / 64]) | doubt << i % 64;
    const wide along = 0.5 * (s.radius_a + (s.distance - s.radius_b));
    const wide found[7] = {
        s.xa + nx * along, s.ya + ny * along, s.za + nz * along, nx, ny, nz, s.gap};
    write_contacts(pairs + i, number, found, out + i);
  }
}
