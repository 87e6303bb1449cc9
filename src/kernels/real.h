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

#include "base/power.h"
#include "base/trig.h"

#include <talus/types.h>

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

/* Functions that IEEE 754 rounds exactly on every machine are the C library's. */
#if TALUS_SINGLE
TL_FN talus_real tl_sqrt(talus_real x) { return sqrtf(x); }
TL_FN talus_real tl_abs(talus_real x) { return fabsf(x); }
TL_FN talus_real tl_floor(talus_real x) { return floorf(x); }
#else
TL_FN talus_real tl_sqrt(talus_real x) { return sqrt(x); }
TL_FN talus_real tl_abs(talus_real x) { return fabs(x); }
TL_FN talus_real tl_floor(talus_real x) { return floor(x); }
#endif

/* All others are our own (base/trig.h, base/power.h), computed in double and then rounded. */
TL_FN talus_real tl_sin(talus_real x) { return (talus_real)tl_sin_d((double)x); }
TL_FN talus_real tl_cos(talus_real x) { return (talus_real)tl_cos_d((double)x); }
TL_FN talus_real tl_tan(talus_real x) { return (talus_real)tl_tan_d((double)x); }
TL_FN talus_real tl_asin(talus_real x) { return (talus_real)tl_asin_d((double)x); }
TL_FN talus_real tl_acos(talus_real x) { return (talus_real)tl_acos_d((double)x); }
TL_FN talus_real tl_atan(talus_real x) { return (talus_real)tl_atan_d((double)x); }
TL_FN talus_real tl_atan2(talus_real y, talus_real x) {
  return (talus_real)tl_atan2_d((double)y, (double)x);
}
TL_FN talus_real tl_exp(talus_real x) { return (talus_real)tl_exp_d((double)x); }
TL_FN talus_real tl_ln(talus_real x) { return (talus_real)tl_log_d((double)x); }
TL_FN talus_real tl_pow(talus_real x, talus_real y) {
  return (talus_real)tl_pow_d((double)x, (double)y);
}
TL_FN talus_real tl_cbrt(talus_real x) { return (talus_real)tl_cbrt_d((double)x); }
TL_FN talus_real tl_hypot(talus_real a, talus_real b) {
  return (talus_real)tl_hypot_d((double)a, (double)b);
}

/* Where one argument is not a number the second is returned, as in the SSE instructions. */
TL_FN talus_real tl_min(talus_real a, talus_real b) { return a < b ? a : b; }
TL_FN talus_real tl_max(talus_real a, talus_real b) { return a > b ? a : b; }
TL_FN talus_real tl_clamp(talus_real x, talus_real lo, talus_real hi) {
  return tl_min(tl_max(x, lo), hi);
}

/* sqrt(a^2 + b^2) to two last bits, in half the time of tl_hypot. */
TL_FN talus_real tl_hypot_quick(talus_real a, talus_real b) {
  const talus_real x = tl_abs(a), y = tl_abs(b);
  const talus_real big = tl_max(x, y), small = tl_min(x, y);
  if (!(big > 0))
    return x + y;
  const talus_real ratio = small / big;
  return big * tl_sqrt(1 + ratio * ratio);
}

/* Finiteness from the exponent bits. In the `fast` build, where the compiler assumes that all
 * numbers are finite, isfinite() may be compiled to `true`. */
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
