/* exp, expm1, log, asinh, pow, cbrt, hypot and gamma of doubles, to less than one last bit, with
 * the same bits on every machine and on a device.
 *
 * A logarithm is that of the nearest of 93 numbers in a table plus a polynomial of the difference,
 * as a pair of at least 68 bits (Tang 1990), so that pow stays exact for the largest exponents. exp
 * reduces its argument to within ln 2/64 of a multiple of ln 2/32 (Cody and Waite 1980, Tang 1989).
 * tests/test_elementary.c measures the errors; scripts/make-elementary made the tables. */
#ifndef TL_BASE_POWER_H
#define TL_BASE_POWER_H

#include "base/elementary_tables.h"
#include "base/pair.h"

#define TL_INFINITE        tl_from_bits(UINT64_C(0x7ff0000000000000))
#define TL_ROOT_2_FRACTION UINT64_C(0x6a09e667f3bcd) /* of sqrt(2), rounded up */

/* exp of a pair within [-746, 710]: two numbers whose sum is the value, the first larger, and times
 * which power of two. */
TL_FN tl_pair_d tl_exp_terms(tl_pair_d x, int *power) {
  static const double terms[] = TL_EXP_TERMS, known[32][2] = TL_EXP_TABLE;
  const double n = tl_nearest(x.high * TL_PER_LN2_32);
  const double most = x.high - n * TL_LN2_32_HIGH, less = n * TL_LN2_32_LOW;
  const double r = most - less, rest = ((most - r) - less) + x.low;
  const int whole = (int)n, k = whole & 31;
  const double r2 = r * r;
  const double tail =
      (terms[0] + terms[1] * r) + r2 * ((terms[2] + terms[3] * r) + r2 * (terms[4] + terms[5] * r));
  const double change = r + (rest + r * rest + r2 * tail);
  *power = (whole - k) / 32;
  return tl_pair_of(known[k][0], known[k][1] + known[k][0] * change);
}

TL_FN tl_pair_d tl_exp_parts(tl_pair_d x, int *power) {
  const tl_pair_d r = tl_exp_terms(x, power);
  return tl_pair_quick(r.high, r.low);
}

TL_FN double tl_exp_pair(tl_pair_d x) {
  int power;
  if (!(x.high < 709.79))
    return x.high > 0 ? TL_INFINITE : x.high; /* not a number */
  if (x.high < -745.2)
    return 0;
  const tl_pair_d r = tl_exp_terms(x, &power);
  return tl_scaled(r.high + r.low, power);
}

TL_FN double tl_exp_d(double x) { return tl_exp_pair(tl_pair_of(x, 0)); }

TL_FN double tl_expm1_d(double x) {
  static const double terms[] = TL_EXPM1_TERMS;
  int power;
  if (fabs(x) < 0x1p-54)
    return x;
  if (fabs(x) < 0.35) {
    const tl_pair_d square = tl_pair_product(x, x), sum = tl_pair_quick(x, 0.5 * square.high);
    const double tail = x * square.high * tl_polynomial(terms, 11, x) + 0.5 * square.low;
    return sum.high + (sum.low + tail);
  }
  if (!(x < 709.79))
    return tl_exp_d(x);
  if (x < -45)
    return -1;
  const tl_pair_d r = tl_exp_parts(tl_pair_of(x, 0), &power);
  if (power > 1000)
    return tl_scaled(tl_pair_value(r), power);
  const double scale = tl_power_of_two(power);
  const tl_pair_d sum = tl_pair_sum(r.high * scale, -1);
  return sum.high + (sum.low + r.low * scale);
}

/* 128 m to the nearest whole number, for 0.5 <= m < 2: faster than by a conversion. */
TL_FN int tl_log_place(double m) {
  const uint64_t bits = tl_bits_of(m);
  const uint64_t fraction = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1) << 52;
  const int shift = 46 - (int)(bits >> 52 & 1); /* the exponent of 1 is odd */
  return (int)((fraction + (UINT64_C(1) << (shift - 1))) >> shift);
}

/* For what is called so often that the call itself costs a tenth. */
#ifdef __CUDACC__
#define TL_HOT_FN TL_FN
#else
#define TL_HOT_FN TL_FN __attribute__((always_inline))
#endif

/* tl_log_pair within its caller. */
TL_HOT_FN tl_pair_d tl_log_here(double x) {
  static const double terms[] = TL_LOG_TERMS, known[][3] = TL_LOG_TABLE;
  int e = 0;
  if (x < 0x1p-1022)
    x *= 0x1p54, e = -54;
  /* x = m 2^e with 0.707 < m <= 1.414: larger fractions carry into the exponent, without a branch,
   * which no processor would predict. */
  const uint64_t bits = tl_bits_of(x), beyond = UINT64_C(0xfffffffffffff) - TL_ROOT_2_FRACTION;
  const int whole_e = (int)((bits + beyond) >> 52) - 1023;
  const double m = tl_from_bits(bits - ((uint64_t)whole_e << 52));
  e += whole_e;
  /* m c - 1 = r + rest, exactly: c has 12 bits. */
  const double *near = known[tl_log_place(m) - TL_LOG_FIRST];
  const double first = tl_first_half(m), most = first * near[0] - 1, less = (m - first) * near[0];
  const double r = most + less, rest = (most - r) + less;
  /* r^2 = square + cross. */
  const double half = tl_first_half(r), square = half * half, cross = (r + half) * (r - half);
  const double r2 = r * r, r4 = r2 * r2;
  const double tail = (terms[0] + terms[1] * r) + r2 * (terms[2] + terms[3] * r) +
                      r4 * ((terms[4] + terms[5] * r) + r2 * (terms[6] + terms[7] * r));
  const double whole = e * TL_LN2_HIGH + near[1]; /* exact: both are multiples of 2^-42 */
  const tl_pair_d with_r = tl_pair_quick(whole, r);
  const tl_pair_d sum = tl_pair_quick(with_r.high, -0.5 * square);
  const double small = (e * TL_LN2_LOW + near[2]) + (rest - r * rest) + (with_r.low + sum.low);
  return tl_pair_quick(sum.high, small + (r * r2 * tail - 0.5 * cross));
}

/* Of a positive, finite number. */
TL_BIG_FN tl_pair_d tl_log_pair(double x) { return tl_log_here(x); }

TL_FN double tl_log_d(double x) {
  if (!(x > 0))
    return x == 0 ? -TL_INFINITE : (x - x) / (x - x);
  if (!(x <= 0x1.fffffffffffffp1023))
    return x;
  return tl_pair_value(tl_log_pair(x));
}

/* ln(|x| + sqrt(1 + x^2)), with the sign of x. */
TL_FN double tl_asinh_d(double x) {
  const double size = fabs(x);
  if (!(size >= 0x1p-28) || !(size <= 0x1.fffffffffffffp1023))
    return x;
  if (size > 0x1p60)
    return copysign(tl_pair_value(tl_pair_add(tl_log_pair(size), tl_log_pair(2))), x);
  const tl_pair_d one = tl_pair_of(1, 0);
  const tl_pair_d root = tl_pair_sqrt(tl_pair_add(one, tl_pair_product(size, size)));
  const tl_pair_d sum = tl_pair_add(tl_pair_of(size, 0), root);
  const tl_pair_d rest = tl_pair_of(sum.low / sum.high, 0);
  return copysign(tl_pair_value(tl_pair_add(tl_log_pair(sum.high), rest)), x);
}

/* 0: y is no whole number; 1: odd; 2: even. */
TL_FN int tl_parity_of(double y) {
  if (fabs(y) >= 0x1p53)
    return 2;
  if (floor(y) != y)
    return 0;
  return floor(0.5 * y) == 0.5 * y ? 2 : 1;
}

/* x is 0 or infinite, or one of them is not a number. */
TL_BIG_FN double tl_pow_edge(double x, double y) {
  if (x != x || y != y)
    return x + y;
  const double size = (fabs(x) > 1) == (y > 0) ? TL_INFINITE : 0;
  return tl_bits_of(x) >> 63 ? (tl_parity_of(y) == 1 ? -size : size) : size;
}

/* x is negative, or |y| is so large or small that the power is 0, 1 or infinite. */
TL_BIG_FN double tl_pow_rare(double x, double y) {
  double sign = 1;
  if (x < 0) {
    const int parity = tl_parity_of(y);
    if (parity == 0)
      return (x - x) / (x - x);
    sign = parity == 1 ? -1 : 1;
  }
  const double size = fabs(x);
  if (size == 1)
    return sign;
  if (!(fabs(y) < 0x1p65)) /* so much that any base but 1 goes beyond all numbers */
    return (size > 1) == (y > 0) ? sign * TL_INFINITE : sign * 0.0;
  if (fabs(y) < 0x1p-65)
    return sign;
  return sign * tl_exp_pair(tl_pair_scale(tl_log_pair(size), y));
}

TL_BIG_FN double tl_pow_d(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (x != x || y != y || x == 0 || fabs(x) > 0x1.fffffffffffffp1023)
    return tl_pow_edge(x, y);
  if (x < 0 || !(fabs(y) < 0x1p65) || fabs(y) < 0x1p-65)
    return tl_pow_rare(x, y);
  return tl_exp_pair(tl_pair_scale(tl_log_here(x), y));
}

TL_FN double tl_cbrt_d(double x) {
  const double size = fabs(x);
  if (!(size > 0) || !(size <= 0x1.fffffffffffffp1023))
    return x;
  const tl_pair_d log = tl_log_pair(size);
  return copysign(tl_exp_pair(tl_pair_div(log, tl_pair_of(3, 0))), x);
}

TL_FN double tl_hypot_d(double x, double y) {
  double a = fabs(x), b = fabs(y);
  if (a < b) {
    const double c = a;
    a = b, b = c;
  }
  if (!(a <= 0x1.fffffffffffffp1023) || !(b <= a)) /* one is infinite, or no number */
    return a > 0x1.fffffffffffffp1023 || b > 0x1.fffffffffffffp1023 ? TL_INFINITE : a + b;
  if (b <= 0x1p-60 * a)
    return a + b;
  const int e = a < 0x1p-1022 ? -1022 : tl_exponent_of(a);
  const double sa = tl_scaled(a, -e), sb = tl_scaled(b, -e);
  const tl_pair_d square = tl_pair_add(tl_pair_product(sa, sa), tl_pair_product(sb, sb));
  return tl_scaled(tl_pair_value(tl_pair_sqrt(square)), e);
}

/* The gamma function for 0 < x <= 170: Stirling's series beyond 20, and from there down. */
TL_BIG_FN double tl_gamma_d(double x) {
  static const double terms[] = TL_GAMMA_TERMS;
  tl_pair_d below = tl_pair_of(1, 0), at = tl_pair_of(x, 0);
  if (!(x > 0))
    return (x - x) / (x - x);
  while (at.high < 20) {
    below = tl_pair_mul(below, at);
    at = tl_pair_add(at, tl_pair_of(1, 0));
  }
  /* ln(at.high + at.low), the last of which is what sums of 1 and x lost. */
  tl_pair_d log = tl_log_pair(at.high);
  log = tl_pair_add(log, tl_pair_of(at.low / at.high, 0));
  const double inverse = 1 / at.high;
  const tl_pair_d tail = tl_pair_of(inverse * tl_polynomial(terms, 8, inverse * inverse), 0);
  tl_pair_d sum = tl_pair_mul(tl_pair_add(at, tl_pair_of(-0.5, 0)), log);
  sum = tl_pair_add(sum, tl_pair_neg(at));
  sum = tl_pair_add(sum, tl_pair_of(TL_HALF_LN_2PI_HIGH, TL_HALF_LN_2PI_LOW));
  int power;
  const tl_pair_d value = tl_pair_div(tl_exp_parts(tl_pair_add(sum, tail), &power), below);
  return tl_scaled(tl_pair_value(value), power);
}

#endif
