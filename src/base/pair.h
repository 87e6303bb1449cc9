/* Numbers in two parts: high + low, where low is below the last bit of high, some 105 bits in all
 * (Dekker 1971). Sums and products of doubles are exact pairs, without fused operations, so that
 * they have the same bits on every machine; compiled with -ffp-contract=off. Numbers must be far
 * from overflow, and products from underflow. */
#ifndef TL_BASE_PAIR_H
#define TL_BASE_PAIR_H

#include "base/fn.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- bits ------------------------------------------------------------------------------------ */

TL_FN uint64_t tl_bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

TL_FN double tl_from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

typedef struct tl_pair_d {
  double high, low;
} tl_pair_d;

TL_FN tl_pair_d tl_pair_of(double high, double low) {
  tl_pair_d r;
  r.high = high;
  r.low = low;
  return r;
}

/* a + b, |a| >= |b| or a = 0. */
TL_FN tl_pair_d tl_pair_quick(double a, double b) {
  const double sum = a + b;
  return tl_pair_of(sum, b - (sum - a));
}

/* a + b (Knuth 1969). */
TL_FN tl_pair_d tl_pair_sum(double a, double b) {
  const double sum = a + b, back = sum - a;
  return tl_pair_of(sum, (a - (sum - back)) + (b - back));
}

/* The first 26 bits of x: products of two such are exact. */
TL_FN double tl_first_half(double x) {
  return tl_from_bits(tl_bits_of(x) & UINT64_C(0xfffffffff8000000));
}

/* a b, by halves (Dekker), but for what is below the last bit of the lower part. */
TL_FN tl_pair_d tl_pair_product(double a, double b) {
  const double a1 = tl_first_half(a), a2 = a - a1, b1 = tl_first_half(b), b2 = b - b1;
  const double high = a * b;
  return tl_pair_of(high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2);
}

TL_FN tl_pair_d tl_pair_add(tl_pair_d a, tl_pair_d b) {
  const tl_pair_d sum = tl_pair_sum(a.high, b.high);
  return tl_pair_quick(sum.high, sum.low + (a.low + b.low));
}

TL_FN tl_pair_d tl_pair_neg(tl_pair_d a) { return tl_pair_of(-a.high, -a.low); }

TL_FN tl_pair_d tl_pair_scale(tl_pair_d a, double b) {
  const tl_pair_d r = tl_pair_product(a.high, b);
  return tl_pair_quick(r.high, r.low + a.low * b);
}

TL_FN tl_pair_d tl_pair_mul(tl_pair_d a, tl_pair_d b) {
  const tl_pair_d r = tl_pair_product(a.high, b.high);
  return tl_pair_quick(r.high, r.low + (a.high * b.low + a.low * b.high));
}

/* a / b, b not 0. */
TL_FN tl_pair_d tl_pair_div(tl_pair_d a, tl_pair_d b) {
  const double quotient = a.high / b.high;
  const tl_pair_d back = tl_pair_product(quotient, b.high);
  const double rest = ((a.high - back.high) - back.low) + a.low - quotient * b.low;
  return tl_pair_quick(quotient, rest / b.high);
}

/* Of a number that is 0 or more. */
TL_FN tl_pair_d tl_pair_sqrt(tl_pair_d a) {
  const double root = sqrt(a.high);
  if (!(root > 0))
    return tl_pair_of(root, 0);
  const tl_pair_d back = tl_pair_product(root, root);
  return tl_pair_quick(root, (((a.high - back.high) - back.low) + a.low) / (2 * root));
}

TL_FN double tl_pair_value(tl_pair_d a) { return a.high + a.low; }

/* ---- powers of two and polynomials ----------------------------------------------------------- */

/* Of |x| = m 2^e, 1 <= m < 2; -1023 of 0 and of what is below normal numbers, 1024 of what is not
 * finite. */
TL_FN int tl_exponent_of(double x) { return (int)(tl_bits_of(x) >> 52 & 0x7ffu) - 1023; }

/* 2^e for -1022 <= e <= 1023. */
TL_FN double tl_power_of_two(int e) { return tl_from_bits((uint64_t)(e + 1023) << 52); }

/* x 2^e for -2044 <= e <= 2046, rounded at most once. */
TL_FN double tl_scaled(double x, int e) {
  if (e >= -1022 && e <= 1023)
    return x * tl_power_of_two(e);
  const int half = e / 2;
  return x * tl_power_of_two(half) * tl_power_of_two(e - half);
}

/* To the nearest whole number, for |x| < 2^51. */
TL_FN double tl_nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/* terms[0] + terms[1] x + ... */
TL_FN double tl_polynomial(const double *terms, int count, double x) {
  double r = terms[count - 1];
  for (int i = count - 2; i >= 0; --i)
    r = r * x + terms[i];
  return r;
}

#endif
