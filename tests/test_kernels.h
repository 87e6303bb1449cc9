/* Shared by the tests of src/kernels: repeatable random values, and tolerances in units of the
 * rounding error of this build. */
#ifndef TESTS_TEST_KERNELS_H
#define TESTS_TEST_KERNELS_H

#include "check.h"
#include "kernels/mat3.h"

/* k rounding errors of talus_real. */
#define ULPS(k) ((k) * (double)TL_REAL_EPS)

/* A number that the compiler cannot know. It keeps folded constants out of tests of run-time code,
 * and steps round a fault of gcc 12.2: with AVX-512 and SLP vectorisation it passes a constant
 * struct such as {4, 4, 4, 0, 0, 0} by value as {4, 4, 4, 4, 0, 0}. */
static inline talus_real opaque(talus_real x) {
  volatile talus_real v = x;
  return v;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
typedef struct dice {
  uint64_t state;
} dice;

static inline uint64_t dice_u64(dice *d) {
  uint64_t z = (d->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline talus_real dice_real(dice *d, double lo, double hi) {
  return TL_R(lo + (hi - lo) * ((double)(dice_u64(d) >> 11) * 0x1p-53));
}

static inline talus_vec3 dice_vec3(dice *d, double size) {
  const talus_real x = dice_real(d, -size, size), y = dice_real(d, -size, size);
  return tl_vec3(x, y, dice_real(d, -size, size));
}

static inline talus_vec3 dice_unit(dice *d) {
  for (;;) {
    const talus_vec3 v = dice_vec3(d, 1);
    const talus_real square = tl_length2(v);
    if (square > TL_R(0.01) && square <= 1)
      return tl_normalize(v);
  }
}

static inline talus_quat dice_quat(dice *d) {
  const talus_real angle = dice_real(d, -3.1, 3.1);
  return tl_quat_from_axis_angle(dice_unit(d), angle);
}

/* Principal moments that a solid can have: each at most the sum of the other two. */
static inline talus_vec3 dice_inertia(dice *d) {
  const talus_real a = dice_real(d, 0.01, 1), b = dice_real(d, 0.01, 1), c = dice_real(d, 0.01, 1);
  return tl_vec3(b + c, a + c, a + b);
}

static inline double distance3(talus_vec3 a, talus_vec3 b) {
  return (double)tl_length(tl_sub(a, b));
}

/* q and -q are the same rotation. */
static inline double quat_distance(talus_quat a, talus_quat b) {
  const talus_real sign = tl_quat_dot(a, b) < 0 ? TL_R(-1) : TL_R(1);
  const double w = (double)(a.w - sign * b.w), x = (double)(a.x - sign * b.x);
  const double y = (double)(a.y - sign * b.y), z = (double)(a.z - sign * b.z);
  return sqrt(w * w + x * x + y * y + z * z);
}

static inline double sym3_distance(tl_sym3 a, tl_sym3 b) {
  return (double)tl_sym3_norm_inf(tl_sym3_add(a, tl_sym3_scale(b, -1)));
}

#endif
