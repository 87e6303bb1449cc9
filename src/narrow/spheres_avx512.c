/* Pairs of spheres, eight at a time, with AVX-512: the arithmetic of tl_collide_sphere_sphere
 * (kernels/collide_sphere.h), operation by operation, so that the bits are the same.
 *
 * This file is compiled for AVX-512 (CMakeLists.txt); it runs only where the processor has it. */
#include "narrow/spheres.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include <float.h>
#include <immintrin.h>

_Static_assert(sizeof(tl_sphere_row) == 5 * sizeof(double), "rows are gathered as five numbers");
_Static_assert(sizeof(tl_pair) == 8, "eight pairs are a vector");

typedef struct eight {
  __m512d xa, ya, za, x, y, z; /* of a; from a to b */
  __m512d radius_a, radius_b, margin;
  __m512d square, distance, gap;
} eight;

static inline __m512d get(const tl_sphere_row *rows, __m512i at, int column) {
  return _mm512_i64gather_pd(at, &rows->x + column, 8);
}

static inline __m512d add_reals(__m512d a, __m512d b) {
  const __m512d sum = _mm512_add_pd(a, b);
#if TALUS_SINGLE
  /* Twice rounded, which for a sum of floats is rounded once: a double has more than twice their
   * bits. */
  return _mm512_cvtps_pd(_mm512_cvtpd_ps(sum));
#else
  return sum;
#endif
}

/* Lanes that are not `there` are of body 0 with itself. */
static inline eight load(const tl_sphere_row *rows, const tl_pair *pairs, __mmask8 there) {
  const __m512i both = _mm512_maskz_loadu_epi64(there, pairs);
  const __m512i a = _mm512_and_si512(both, _mm512_set1_epi64(0xffffffff));
  const __m512i b = _mm512_srli_epi64(both, 32);
  const __m512i at_a = _mm512_add_epi64(_mm512_slli_epi64(a, 2), a);
  const __m512i at_b = _mm512_add_epi64(_mm512_slli_epi64(b, 2), b);
  eight e;
  e.xa = get(rows, at_a, 0), e.ya = get(rows, at_a, 1), e.za = get(rows, at_a, 2);
  e.x = _mm512_sub_pd(get(rows, at_b, 0), e.xa);
  e.y = _mm512_sub_pd(get(rows, at_b, 1), e.ya);
  e.z = _mm512_sub_pd(get(rows, at_b, 2), e.za);
  e.radius_a = get(rows, at_a, 3), e.radius_b = get(rows, at_b, 3);
  e.margin = add_reals(get(rows, at_a, 4), get(rows, at_b, 4));
  e.square = _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(e.x, e.x), _mm512_mul_pd(e.y, e.y)),
                           _mm512_mul_pd(e.z, e.z));
  e.distance = _mm512_sqrt_pd(e.square);
  e.gap = _mm512_sub_pd(e.distance, _mm512_add_pd(e.radius_a, e.radius_b));
  return e;
}

static inline __mmask8 lanes_of(size_t left) {
  return (__mmask8)(left < 8 ? (1u << left) - 1u : 0xffu);
}

static uint64_t meet(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
                     uint64_t *others) {
  uint64_t bits = 0, strange = 0;
  for (size_t i = 0; i < count; i += 8) {
    const __mmask8 there = lanes_of(count - i);
    const eight e = load(rows, pairs + i, there);
    const __m512d reach = _mm512_add_pd(_mm512_add_pd(e.radius_a, e.radius_b), e.margin);
    const __m512d limit = _mm512_mul_pd(_mm512_mul_pd(reach, reach), _mm512_set1_pd(1 + 1e-12));
    const __mmask8 odd = _mm512_cmp_pd_mask(e.radius_a, e.radius_b, _CMP_UNORD_Q);
    const __mmask8 far = _mm512_cmp_pd_mask(e.square, limit, _CMP_GT_OQ);
    const __mmask8 near = _mm512_cmp_pd_mask(e.gap, e.margin, _CMP_LE_OQ);
    bits |= (uint64_t)(__mmask8)(near & ~far & ~odd & there) << i;
    strange |= (uint64_t)(__mmask8)(odd & there) << i;
  }
  *others = strange;
  return bits;
}

static inline void store(double *to, __m512d x) { _mm512_store_pd(to, x); }

static void write(const tl_sphere_row *rows, const tl_pair *pairs, size_t count, tl_contact *out) {
  const __m512d zero = _mm512_setzero_pd(), one = _mm512_set1_pd(1);
  for (size_t i = 0; i < count; i += 8) {
    const size_t some = count - i < 8 ? count - i : 8;
    const eight e = load(rows, pairs + i, lanes_of(count - i));
    const __mmask8 apart = _mm512_cmp_pd_mask(e.square, _mm512_set1_pd(DBL_MIN), _CMP_GT_OQ);
    const __m512d nx = _mm512_mask_div_pd(zero, apart, e.x, e.distance);
    const __m512d ny = _mm512_mask_div_pd(zero, apart, e.y, e.distance);
    const __m512d nz = _mm512_mask_div_pd(one, apart, e.z, e.distance);
    const __m512d along = _mm512_mul_pd(
        _mm512_set1_pd(0.5), _mm512_add_pd(e.radius_a, _mm512_sub_pd(e.distance, e.radius_b)));
    _Alignas(64) double lanes[7][8];
    store(lanes[0], _mm512_add_pd(e.xa, _mm512_mul_pd(nx, along)));
    store(lanes[1], _mm512_add_pd(e.ya, _mm512_mul_pd(ny, along)));
    store(lanes[2], _mm512_add_pd(e.za, _mm512_mul_pd(nz, along)));
    store(lanes[3], nx);
    store(lanes[4], ny);
    store(lanes[5], nz);
    store(lanes[6], e.gap);
    for (size_t k = 0; k < some; ++k) {
      tl_contact *c = &out[i + k];
      c->a = pairs[i + k].a;
      c->b = pairs[i + k].b;
      c->feature_a = c->feature_b = 0;
      c->point = (talus_dvec3){lanes[0][k], lanes[1][k], lanes[2][k]};
      c->normal =
          (talus_vec3){(talus_real)lanes[3][k], (talus_real)lanes[4][k], (talus_real)lanes[5][k]};
      c->gap = (talus_real)lanes[6][k];
      c->impulse = (talus_vec3){0, 0, 0};
    }
  }
}

const tl_sphere_loops tl_spheres_avx512 = {meet, write};

#else

const tl_sphere_loops tl_spheres_avx512 = {0};

#endif
