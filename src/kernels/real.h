/* Kernels: arithmetic on talus_real, the floor everything else in this folder stands on.
 *
 * The headers of this folder hold the mathematics of ONE body, pair or contact. They are pure
 * inline functions of values, written in the common subset of C17 and CUDA C++17, so that the same
 * lines run on the host and on a device: no allocation, no globals, no I/O, no compound literals,
 * no designated initialisers. */
#ifndef TL_KERNELS_REAL_H
#define TL_KERNELS_REAL_H

#include <float.h>
#include <math.h>
#include <string.h>

#include <talus/types.h>

/* TL_BIG_FN is for functions with loops that call each other: a device compiler that inlined all of
 * them into each other would take minutes. */
#ifdef __CUDACC__
#define TL_FN     static __host__ __device__ inline
#define TL_BIG_FN static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define TL_FN     static inline
#define TL_BIG_FN static inline
#endif

/* A constant in the precision of this build: TL_R(0.5). */
#define TL_R(x) ((talus_real)(x))

/* Machine epsilon, smallest normal and largest value of talus_real. */
#if TALUS_SINGLE
#define TL_REAL_EPS FLT_EPSILON
#define TL_REAL_MIN FLT_MIN
#define TL_REAL_MAX FLT_MAX
#else
#define TL_REAL_EPS DBL_EPSILON
#define TL_REAL_MIN DBL_MIN
#define TL_REAL_MAX DBL_MAX
#endif

#define TL_PI 3.14159265358979323846

#if TALUS_SINGLE
TL_FN talus_real tl_sqrt(talus_real x) { return sqrtf(x); }
TL_FN talus_real tl_abs(talus_real x) { return fabsf(x); }
TL_FN talus_real tl_sin(talus_real x) { return sinf(x); }
TL_FN talus_real tl_cos(talus_real x) { return cosf(x); }
TL_FN talus_real tl_acos(talus_real x) { return acosf(x); }
TL_FN talus_real tl_floor(talus_real x) { return floorf(x); }
#else
TL_FN talus_real tl_sqrt(talus_real x) { return sqrt(x); }
TL_FN talus_real tl_abs(talus_real x) { return fabs(x); }
TL_FN talus_real tl_sin(talus_real x) { return sin(x); }
TL_FN talus_real tl_cos(talus_real x) { return cos(x); }
TL_FN talus_real tl_acos(talus_real x) { return acos(x); }
TL_FN talus_real tl_floor(talus_real x) { return floor(x); }
#endif

/* Where one argument is not a number the second is returned, as in the SSE instructions. */
TL_FN talus_real tl_min(talus_real a, talus_real b) { return a < b ? a : b; }
TL_FN talus_real tl_max(talus_real a, talus_real b) { return a > b ? a : b; }
TL_FN talus_real tl_clamp(talus_real x, talus_real lo, talus_real hi) {
  return tl_min(tl_max(x, lo), hi);
}

/* sqrt(a^2 + b^2) without overflow or underflow of the squares. */
TL_FN talus_real tl_hypot(talus_real a, talus_real b) {
  const talus_real x = tl_abs(a), y = tl_abs(b);
  const talus_real big = tl_max(x, y), small = tl_min(x, y);
  if (!(big > 0))
    return x + y;
  const talus_real ratio = small / big;
  return big * tl_sqrt(1 + ratio * ratio);
}

/* Finiteness from the exponent bits: isfinite() may be compiled to `true` when the compiler was
 * told that everything is finite (the `fast` build), which is just when one wants to know. */
TL_FN bool tl_is_finite_d(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return ((bits >> 52) & 0x7ffu) != 0x7ffu;
}

TL_FN bool tl_is_finite(talus_real x) {
#if TALUS_SINGLE
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return ((bits >> 23) & 0xffu) != 0xffu;
#else
  return tl_is_finite_d(x);
#endif
}

#endif
