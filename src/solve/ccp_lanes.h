/* Vectors of eight reals for files that are compiled for AVX-512: the compiler's own (gcc, clang).
 * No operation is fused or reordered, so the bits are those of scalar code. */
#ifndef TL_SOLVE_CCP_LANES_H
#define TL_SOLVE_CCP_LANES_H

#include "solve/ccp.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include <immintrin.h>

#define W TL_CCP_LANES

typedef talus_real lanes __attribute__((vector_size(W * sizeof(talus_real))));
#if TALUS_SINGLE
typedef int32_t lane_mask __attribute__((vector_size(W * sizeof(int32_t))));
#else
typedef int64_t lane_mask __attribute__((vector_size(W * sizeof(int64_t))));
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE lanes lanes_sqrt(lanes x) {
#if TALUS_SINGLE
  return (lanes)_mm256_sqrt_ps((__m256)x);
#else
  return (lanes)_mm512_sqrt_pd((__m512d)x);
#endif
}

INLINE lanes lanes_select(lane_mask test, lanes a, lanes b) {
  return (lanes)((test & (lane_mask)a) | (~test & (lane_mask)b));
}

/* Bit i: lane i. */
INLINE unsigned lanes_mask(lane_mask test) {
#if TALUS_SINGLE
  return _mm256_movepi32_mask((__m256i)test);
#else
  return _mm512_movepi64_mask((__m512i)test);
#endif
}

#undef TL_FN
#define TL_FN              INLINE
#define NUMBER             lanes
#define TRUTH              lane_mask
#define NUMBER_SQRT(x)     lanes_sqrt(x)
#define SELECT(test, a, b) lanes_select(test, a, b)
#define VISIT(name)        lanes_##name
#include "kernels/ccp_visit.h"

/* ---- rows of a pack
 * ------------------------------------------------------------------------------ */

INLINE lanes load(const talus_real *from) {
  lanes r;
  memcpy(&r, from, sizeof r);
  return r;
}

INLINE lanes_vec load_vec(const tl_ccp_lanes *from) {
  const lanes_vec r = {load(from->x), load(from->y), load(from->z)};
  return r;
}

INLINE lanes_vec cross(lanes_vec a, lanes_vec b) {
  const lanes_vec r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  return r;
}

INLINE void store(talus_real *to, lanes from) { memcpy(to, &from, sizeof from); }

INLINE void store_vec(tl_ccp_lanes *to, lanes_vec from) {
  store(to->x, from.x);
  store(to->y, from.y);
  store(to->z, from.z);
}

#endif
#endif
