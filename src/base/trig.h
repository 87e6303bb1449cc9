/* sin, cos, tan, asin, acos, atan and atan2 of a double, for every argument, to less than one last
 * bit. Those of the C library differ between machines, because it chooses variants by processor;
 * these have the same bits everywhere, on a device as well.
 *
 * Angles are reduced to within pi/4 of a multiple of pi/2, as a pair: with pi/2 in pieces (Cody and
 * Waite 1980), large ones with the bits of 2/pi (Payne and Hanek 1983); then come polynomials.
 * Inverse functions rotate the vector (x, y) back by the nearest of 17 known angles, as a pair
 * (Tang 1990), and add the remaining angle. tests/test_elementary.c measures the errors.
 * scripts/make-elementary made the tables. */
#ifndef TL_BASE_TRIG_H
#define TL_BASE_TRIG_H

#include "base/elementary_tables.h"
#include "base/pair.h"

/* ---- angles ---------------------------------------------------------------------------------- */

/* x = quarter pi/2 + angle, |angle| <= pi/4 and a little. */
typedef struct tl_reduced {
  tl_pair_d angle;
  int quarter; /* mod 4 */
} tl_reduced;

/* 2^20 > |x|: whole numbers up to 2^20 times the first two pieces of pi/2 are exact. */
TL_FN tl_reduced tl_reduce_near(double x) {
  tl_reduced r;
  const double n = tl_nearest(x * TL_PER_HALF_PI);
  const tl_pair_d first = tl_pair_sum(x - n * TL_HALF_PI_1, -(n * TL_HALF_PI_2));
  const tl_pair_d third = tl_pair_product(n, TL_HALF_PI_3);
  const tl_pair_d second = tl_pair_sum(first.high, -third.high);
  const double rest = (second.low + first.low) - (third.low + n * TL_HALF_PI_4);
  r.angle = tl_pair_sum(second.high, rest);
  r.quarter = (int)((int64_t)n & 3);
  return r;
}

/* 192 bits of x 2/pi mod 4, the first two of them before the point; x > 0. What is left out of 2/pi
 * is below 2^-137 of it, and no x is that near to a multiple of pi/2: none is nearer than 2^-62. */
TL_BIG_FN void tl_reduce_bits(double x, uint32_t bits[6]) {
  static const uint32_t words[] = TL_TWO_OVER_PI;
  const int e = tl_exponent_of(x) - 52; /* x = m 2^e */
  const uint64_t m = (tl_bits_of(x) & 0xfffffffffffffu) | UINT64_C(1) << 52;
  const int first = e - 2 + 64; /* place of the bit that m 2^e brings to 2^1 */
  const int word = first / 32, shift = first % 32;
  uint64_t over = 0;
  for (int i = 5; i >= 0; --i) { /* from the lowest on: m times the window, mod 2^192 */
    const uint64_t both = (uint64_t)words[word + i] << 32 | words[word + i + 1];
    const uint64_t low = (uint32_t)(both >> (32 - shift));
    const uint64_t a = low * (uint32_t)m, b = low * (m >> 32);
    const uint64_t sum = (over & 0xffffffffu) + (uint32_t)a;
    bits[i] = (uint32_t)sum;
    over = (over >> 32) + (sum >> 32) + (a >> 32) + b;
  }
}

TL_BIG_FN tl_reduced tl_reduce_far(double x) {
  uint32_t bits[6];
  tl_reduced r;
  tl_reduce_bits(fabs(x), bits);
  int quarter = (int)(bits[0] >> 30);
  bits[0] &= 0x3fffffffu;
  const bool is_over = bits[0] >= 0x20000000u; /* half a quarter and more: it is below the next */
  if (is_over) {
    uint64_t carry = 1;
    quarter++;
    for (int i = 5; i >= 0; --i) {
      carry += (uint32_t)~bits[i];
      bits[i] = (uint32_t)carry;
      carry >>= 32;
    }
    bits[0] &= 0x3fffffffu;
  }
  tl_pair_d share = tl_pair_of(0, 0);
  double weight = 0x1p-30;
  for (int i = 0; i < 6; ++i, weight *= 0x1p-32) {
    const tl_pair_d sum = tl_pair_sum(share.high, bits[i] * weight);
    share = tl_pair_of(sum.high, share.low + sum.low);
  }
  r.angle =
      tl_pair_mul(tl_pair_sum(share.high, share.low), tl_pair_of(TL_HALF_PI_HIGH, TL_HALF_PI_LOW));
  if (is_over != (x < 0))
    r.angle = tl_pair_neg(r.angle);
  r.quarter = (x < 0 ? -quarter : quarter) & 3;
  return r;
}

TL_FN tl_reduced tl_reduce(double x) {
  tl_reduced r;
  if (fabs(x) <= 0.785) {
    r.angle = tl_pair_of(x, 0);
    r.quarter = 0;
    return r;
  }
  return fabs(x) < 0x1p20 ? tl_reduce_near(x) : tl_reduce_far(x);
}

/* Of an angle within pi/4. */
TL_FN tl_pair_d tl_sin_near(tl_pair_d a) {
  static const double terms[] = TL_SIN_TERMS;
  const double z = a.high * a.high;
  return tl_pair_quick(a.high, a.high * z * tl_polynomial(terms, 7, z) + a.low * (1 - 0.5 * z));
}

TL_FN tl_pair_d tl_cos_near(tl_pair_d a) {
  static const double terms[] = TL_COS_TERMS;
  const tl_pair_d z = tl_pair_product(a.high, a.high);
  const tl_pair_d most = tl_pair_quick(1, -0.5 * z.high);
  const double rest = z.high * z.high * tl_polynomial(terms, 7, z.high) - a.high * a.low;
  return tl_pair_quick(most.high, most.low + (rest - 0.5 * z.low));
}

TL_FN double tl_sin_d(double x) {
  if (!(fabs(x) <= 0x1.fffffffffffffp1023))
    return x - x;
  if (fabs(x) < 0x1p-27)
    return x; /* and the square of nothing is not below what numbers can be */
  const tl_reduced r = tl_reduce(x);
  const double value = tl_pair_value(r.quarter & 1 ? tl_cos_near(r.angle) : tl_sin_near(r.angle));
  return r.quarter & 2 ? -value : value;
}

TL_FN double tl_cos_d(double x) {
  if (!(fabs(x) <= 0x1.fffffffffffffp1023))
    return x - x;
  if (fabs(x) < 0x1p-27)
    return 1;
  const tl_reduced r = tl_reduce(x);
  const double value = tl_pair_value(r.quarter & 1 ? tl_sin_near(r.angle) : tl_cos_near(r.angle));
  return (r.quarter + 1) & 2 ? -value : value;
}

TL_FN double tl_tan_d(double x) {
  if (!(fabs(x) <= 0x1.fffffffffffffp1023))
    return x - x;
  if (fabs(x) < 0x1p-27)
    return x;
  const tl_reduced r = tl_reduce(x);
  const tl_pair_d s = tl_sin_near(r.angle), c = tl_cos_near(r.angle);
  return tl_pair_value(r.quarter & 1 ? tl_pair_neg(tl_pair_div(c, s)) : tl_pair_div(s, c));
}

/* ---- inverse functions ----------------------------------------------------------------------- */

/* The angle of (x, y) from the x axis, 0 <= y <= x, x > 0. */
TL_BIG_FN tl_pair_d tl_atan_low(tl_pair_d y, tl_pair_d x) {
  static const double terms[] = TL_ATAN_TERMS, known[17][2] = TL_ATAN_TABLE;
  const int k = (int)(16 * (y.high / x.high) + 0.5);
  if (k > 0) {
    const tl_pair_d up = y;
    y = tl_pair_add(y, tl_pair_scale(x, -0.0625 * k));
    x = tl_pair_add(x, tl_pair_scale(up, 0.0625 * k));
  }
  const tl_pair_d t = tl_pair_div(y, x);
  const double z = t.high * t.high;
  const tl_pair_d left = tl_pair_quick(t.high, t.low + t.high * z * tl_polynomial(terms, 6, z));
  return k > 0 ? tl_pair_add(tl_pair_of(known[k][0], known[k][1]), left) : left;
}

/* Likewise, 0 <= x, 0 <= y, not both 0. */
TL_FN tl_pair_d tl_atan_quarter(tl_pair_d y, tl_pair_d x) {
  if (y.high <= x.high)
    return tl_atan_low(y, x);
  return tl_pair_add(tl_pair_of(TL_HALF_PI_HIGH, TL_HALF_PI_LOW), tl_pair_neg(tl_atan_low(x, y)));
}

TL_FN double tl_atan_d(double x) {
  const double size = fabs(x);
  if (!(size >= 0x1p-27))
    return x;
  if (size > 0x1p60)
    return copysign(TL_HALF_PI_HIGH, x);
  return copysign(tl_pair_value(tl_atan_quarter(tl_pair_of(size, 0), tl_pair_of(1, 0))), x);
}

/* Where one is 0 or not finite: what the angle tends to. */
TL_BIG_FN double tl_atan2_edge(double y, double x) {
  const double ax = fabs(x), ay = fabs(y);
  if (x != x || y != y)
    return x + y;
  const bool is_left = tl_bits_of(x) >> 63 != 0;
  double angle;
  if (ay == 0)
    angle = is_left ? TL_WHOLE_PI_HIGH : 0;
  else if (ax == 0 || (ay > ax && ay - ay != 0))
    angle = TL_HALF_PI_HIGH;
  else if (ay - ay != 0)
    angle = is_left ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1; /* 3 pi/4, pi/4 */
  else
    angle = is_left ? TL_WHOLE_PI_HIGH : 0;
  return copysign(angle, y);
}

TL_FN double tl_atan2_d(double y, double x) {
  const double ax = fabs(x), ay = fabs(y), most = ax > ay ? ax : ay;
  if (!(most <= 0x1.fffffffffffffp1023) || ax == 0 || ay == 0 || x != x || y != y)
    return tl_atan2_edge(y, x);
  const int e = tl_exponent_of(most);
  const double sx = tl_scaled(ax, -e), sy = tl_scaled(ay, -e); /* exact, or too small to matter */
  if (sy < 0x1p-60 * sx)
    return x > 0 ? y / x : copysign(TL_WHOLE_PI_HIGH, y);
  if (sx < 0x1p-60 * sy)
    return copysign(TL_HALF_PI_HIGH, y);
  tl_pair_d angle = tl_atan_quarter(tl_pair_of(sy, 0), tl_pair_of(sx, 0));
  if (x < 0)
    angle = tl_pair_add(tl_pair_of(TL_WHOLE_PI_HIGH, TL_WHOLE_PI_LOW), tl_pair_neg(angle));
  return copysign(tl_pair_value(angle), y);
}

/* sqrt(1 - x^2), 0 <= x <= 1. */
TL_FN tl_pair_d tl_other_side(double x) {
  return tl_pair_sqrt(tl_pair_mul(tl_pair_sum(1, -x), tl_pair_sum(1, x)));
}

/* Beyond 1 there is none. */
TL_FN double tl_asin_d(double x) {
  const double size = fabs(x);
  if (!(size >= 0x1p-27))
    return x;
  if (size > 1)
    return (x - x) / (x - x);
  return copysign(tl_pair_value(tl_atan_quarter(tl_pair_of(size, 0), tl_other_side(size))), x);
}

TL_FN double tl_acos_d(double x) {
  const double size = fabs(x);
  if (!(size <= 1))
    return (x - x) / (x - x);
  const tl_pair_d angle = tl_atan_quarter(tl_other_side(size), tl_pair_of(size, 0));
  if (x >= 0)
    return tl_pair_value(angle);
  return tl_pair_value(
      tl_pair_add(tl_pair_of(TL_WHOLE_PI_HIGH, TL_WHOLE_PI_LOW), tl_pair_neg(angle)));
}

#endif
