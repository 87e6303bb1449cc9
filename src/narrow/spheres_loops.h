/* Pairs of spheres, as many at a time as a register has doubles: the arithmetic of
 * tl_collide_sphere_sphere (kernels/collide_sphere.h), operation by operation, so that the bits are
 * the same. Included once for each instruction set, by a file whose name ends in it. */
#include "base/simd.h"
#include "narrow/spheres.h"

#include <float.h>

_Static_assert(sizeof(tl_sphere_row) == 5 * sizeof(double), "rows are loaded as five numbers");
_Static_assert(sizeof(tl_pair) == 8, "a pair is as long as a double");

typedef struct some {
  wide xa, ya, za, x, y, z; /* of a; from a to b */
  wide radius_a, radius_b, margin;
  wide square, distance, gap;
} some;

/* Columns of rows: x, y, z, radius, margin. */
typedef struct columns {
  wide of[5];
} columns;

#if TL_SIMD_AVX512

INLINE columns gather(const tl_sphere_row *rows, __m512i body) {
  const __m512i at = _mm512_add_epi64(_mm512_slli_epi64(body, 2), body);
  columns c;
  for (int k = 0; k < 5; ++k)
    c.of[k] = (wide)_mm512_i64gather_pd(at, &rows->x + k, 8);
  return c;
}

/* Lanes beyond `left` are of body 0 with itself. */
INLINE void load_pairs(const tl_sphere_row *rows, const tl_pair *pairs, size_t left, columns *a,
                       columns *b) {
  const __mmask8 there = (__mmask8)(left < WIDE ? (1u << left) - 1u : ALL_WIDE);
  const __m512i both = _mm512_maskz_loadu_epi64(there, pairs);
  *a = gather(rows, _mm512_and_si512(both, _mm512_set1_epi64(0xffffffff)));
  *b = gather(rows, _mm512_srli_epi64(both, 32));
}

#else

/* Rows are loaded by registers and transposed. */
INLINE columns gather(const tl_sphere_row *rows, const uint32_t *body) {
  columns c;
#if defined(__AVX2__)
  __m256d row[WIDE];
  for (int i = 0; i < WIDE; ++i)
    row[i] = _mm256_loadu_pd(&rows[body[i]].x);
  const __m256d xz = _mm256_unpacklo_pd(row[0], row[1]), yr = _mm256_unpackhi_pd(row[0], row[1]);
  const __m256d xz2 = _mm256_unpacklo_pd(row[2], row[3]), yr2 = _mm256_unpackhi_pd(row[2], row[3]);
  c.of[0] = (wide)_mm256_permute2f128_pd(xz, xz2, 0x20);
  c.of[1] = (wide)_mm256_permute2f128_pd(yr, yr2, 0x20);
  c.of[2] = (wide)_mm256_permute2f128_pd(xz, xz2, 0x31);
  c.of[3] = (wide)_mm256_permute2f128_pd(yr, yr2, 0x31);
  c.of[4] = (wide){rows[body[0]].margin, rows[body[1]].margin, rows[body[2]].margin,
                   rows[body[3]].margin};
#else
  for (int k = 0; k < 5; ++k)
    c.of[k] = (wide){(&rows[body[0]].x)[k], (&rows[body[1]].x)[k]};
#endif
  return c;
}

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

#endif

INLINE wide add_reals(wide a, wide b) {
#if TALUS_SINGLE
  /* Twice rounded, which for a sum of floats is rounded once: a double has more than twice their
   * bits. */
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
  return s;
}

static uint64_t meet(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
                     uint64_t *others) {
  uint64_t bits = 0, strange = 0;
  for (size_t i = 0; i < count; i += WIDE) {
    const size_t left = count - i;
    const some s = load_some(rows, pairs + i, left);
    const wide reach = s.radius_a + s.radius_b + s.margin, limit = reach * reach * (1 + 1e-12);
    const unsigned there = left < WIDE ? (1u << left) - 1u : ALL_WIDE;
    const unsigned odd = wide_bits((s.radius_a != s.radius_a) | (s.radius_b != s.radius_b)) & there;
    const unsigned far = wide_bits(s.square > limit), near = wide_bits(s.gap <= s.margin);
    bits |= (uint64_t)(near & ~far & ~odd & there) << i;
    strange |= (uint64_t)odd << i;
  }
  *others = strange;
  return bits;
}

static void write(const tl_sphere_row *rows, const tl_pair *pairs, size_t count, tl_contact *out) {
  const wide zero = {0}, one = zero + 1;
  for (size_t i = 0; i < count; i += WIDE) {
    const size_t number = count - i < WIDE ? count - i : WIDE;
    const some s = load_some(rows, pairs + i, count - i);
    const wide_mask apart = s.square > zero + DBL_MIN;
    const wide nx = wide_select(apart, s.x / s.distance, zero);
    const wide ny = wide_select(apart, s.y / s.distance, zero);
    const wide nz = wide_select(apart, s.z / s.distance, one);
    const wide along = 0.5 * (s.radius_a + (s.distance - s.radius_b));
    const wide found[7] = {
        s.xa + nx * along, s.ya + ny * along, s.za + nz * along, nx, ny, nz, s.gap};
    double each[7][WIDE];
    memcpy(each, found, sizeof each);
    for (size_t k = 0; k < number; ++k) {
      tl_contact *c = &out[i + k];
      c->a = pairs[i + k].a;
      c->b = pairs[i + k].b;
      c->feature_a = c->feature_b = 0;
      c->point = (talus_dvec3){each[0][k], each[1][k], each[2][k]};
      c->normal =
          (talus_vec3){(talus_real)each[3][k], (talus_real)each[4][k], (talus_real)each[5][k]};
      c->gap = (talus_real)each[6][k];
      c->impulse = (talus_vec3){0, 0, 0};
    }
  }
}
