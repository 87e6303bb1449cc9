/* Sums that do not depend on their order. */
#include "check.h"

#include "base/tally.h"

#include <math.h>
#include <string.h>

#define N 20000

static double numbers[N];

/* Of many sizes and both signs: uniform where `wide` is 0, over 2 wide powers of two otherwise. */
static void make_numbers(uint32_t stream, int wide) {
  uint64_t state = 88172645463325252u + stream;
  for (int i = 0; i < N; ++i) {
    for (int k = 0; k < 3; ++k)
      state ^= k == 0 ? state << 13 : k == 1 ? state >> 7 : state << 17;
    const double u = (double)(state >> 11) * 0x1p-53 - 0.5;
    numbers[i] = wide ? ldexp(u, (int)(state % (uint64_t)(2 * wide)) - wide) : u;
  }
}

/* Number k * stride mod N of each, dealt out to `parts` that are merged in the end. */
static double add_all(int stride, int parts) {
  tl_tally tally[7];
  for (int p = 0; p < parts; ++p)
    tl_tally_clear(&tally[p]);
  for (int k = 0; k < N; ++k)
    tl_tally_add(&tally[k * 31 / 7 % parts], numbers[(int64_t)k * stride % N]);
  for (int p = 1; p < parts; ++p)
    tl_tally_merge(&tally[0], &tally[p]);
  return tl_tally_value(&tally[0]);
}

TEST(a_tally_does_not_depend_on_order_nor_on_parts) {
  for (int wide = 0; wide <= 400; wide += 50) {
    make_numbers((uint32_t)wide, wide);
    const double want = add_all(1, 1);
    CHECK(isfinite(want) && want != 0);
    for (int parts = 1; parts <= 7; parts += 2) {
      CHECK_MSG(add_all(3, parts) == want, "wide %d, %d parts", wide, parts);
      CHECK_MSG(add_all(N - 1, parts) == want, "wide %d, %d parts, backwards", wide, parts);
      CHECK_MSG(add_all(7919, parts) == want, "wide %d, %d parts, mixed", wide, parts);
    }
  }
}

/* ---- the exact sum --------------------------------------------------------------------------- */

/* Of doubles that are multiples of 2^-1074, as a whole number in base 2^32, in two's complement. */
#define LIMBS 68
typedef struct exact {
  uint32_t limb[LIMBS];
} exact;

static void exact_add(exact *sum, double x) {
  int exponent;
  const double m = frexp(fabs(x), &exponent);
  uint64_t mantissa = (uint64_t)ldexp(m, 53);
  int at = exponent - 53 + 1074;
  if (at < 0)
    mantissa >>= -at, at = 0;
  const uint32_t low = (uint32_t)mantissa, high = (uint32_t)(mantissa >> 32);
  const int shift = at % 32;
  const uint64_t a = (uint64_t)low << shift, b = (uint64_t)high << shift;
  const uint64_t part[3] = {a & UINT32_MAX, (a >> 32) + (b & UINT32_MAX), b >> 32};
  uint64_t over = 0;
  for (int i = at / 32, k = 0; i < LIMBS; ++i, ++k) {
    over += k < 3 ? part[k] : 0;
    const uint64_t take = over & UINT32_MAX;
    over >>= 32;
    const uint64_t was = sum->limb[i];
    sum->limb[i] = (uint32_t)(x < 0 ? was - take : was + take);
    over += x < 0 ? was < take : was + take > UINT32_MAX;
  }
}

/* The nearest double; of what is below 64 bits only whether it is there. */
static double exact_value(const exact *sum) {
  exact size = *sum;
  const bool is_negative = sum->limb[LIMBS - 1] >> 31;
  uint64_t over = 1;
  for (int i = 0; i < LIMBS && is_negative; ++i) {
    over += (uint32_t)~size.limb[i];
    size.limb[i] = (uint32_t)over;
    over >>= 32;
  }
  int top = LIMBS - 1;
  while (top > 2 && size.limb[top] == 0)
    top--;
  uint64_t m = (uint64_t)size.limb[top] << 32 | size.limb[top - 1];
  uint64_t below = size.limb[top - 2];
  int at = 32 * (top - 1) - 1074;
  for (; m != 0 && !(m >> 63); --at, below <<= 1)
    m = m << 1 | (below >> 31 & 1);
  below &= UINT32_MAX;
  for (int i = 0; i < top - 2; ++i)
    below |= size.limb[i];
  return (is_negative ? -1 : 1) * ldexp((double)(m | (below != 0)), at);
}

/* Numbers 2 k and 2 k + 1 cancel but for `share` of them. */
static void let_cancel(double share) {
  for (int i = 0; i + 1 < N; i += 2)
    numbers[i + 1] = -numbers[i] * (1 - share);
}

/* The bound of tally.h: half a last bit, and 20,000 2^-120 of the largest number. */
static void check_exact(const char *what, int parts) {
  exact sum = {{0}};
  double most = 0;
  for (int i = 0; i < N; ++i) {
    exact_add(&sum, numbers[i]);
    most = fmax(most, fabs(numbers[i]));
  }
  const double want = exact_value(&sum), got = add_all(7919, parts);
  const double spacing = nextafter(fabs(want), INFINITY) - fabs(want);
  CHECK_MSG(want != 0 && fabs(got - want) <= (fabs(want) >= 1e-13 * most ? 0 : 1e-32 * most),
            "%s: %a, not %a: %g last bits; the largest is %g times that", what, got, want,
            fabs(got - want) / spacing, most / fabs(want));
}

TEST(a_tally_is_the_exact_sum_rounded_once) {
  char what[64];
  for (int wide = 0; wide <= 300; wide += 20)
    for (int digits = 0; digits <= 14; digits += 2) {
      make_numbers(7u + (uint32_t)wide, wide);
      if (digits > 0)
        let_cancel(pow(10, -digits));
      snprintf(what, sizeof what, "over 2^%d, 10^-%d left", 2 * wide, digits);
      check_exact(what, 1 + 2 * (wide / 20 % 3));
    }
}

TEST(a_tally_keeps_what_one_number_is) {
  const double some[] = {
      0,     1,      -1,      0.1,     -3e-9,        1e-280,  0x1p-1074,
      5e200, 0x1p39, -0x1p39, 0x1p119, 0x1.fffffp38, -1e-310, 0x1.fffffffffffffp998};
  for (size_t i = 0; i < sizeof some / sizeof *some; ++i) {
    tl_tally tally;
    tl_tally_clear(&tally);
    tl_tally_add(&tally, some[i]);
    CHECK_MSG(tl_tally_value(&tally) == some[i], "%a, not %a", tl_tally_value(&tally), some[i]);
    tl_tally_add(&tally, -some[i]);
    CHECK(tl_tally_value(&tally) == 0);
  }
}

/* What one thread adds by eights and another one by one. */
TEST(eight_numbers_at_once_are_as_good_as_one_after_the_other) {
  for (int wide = 0; wide <= 200; wide += 40) {
    make_numbers(90u + (uint32_t)wide, wide);
    tl_tally tally;
    tl_tally_clear(&tally);
    for (int i = 0; i < N; i += TL_TALLY_LANES)
      tl_tally_add_lanes(&tally, numbers + i);
    CHECK(tl_tally_value(&tally) == add_all(1, 1));
    CHECK(tl_tally_sum(numbers, N) == add_all(1, 1));
  }
}

TEST(many_equal_numbers_are_counted_exactly) {
  tl_tally tally;
  tl_tally_clear(&tally);
  const double x = 0x1.fffffffffp38; /* just below the limit of its level */
  for (int i = 0; i < 100000; ++i)
    tl_tally_add(&tally, x);
  CHECK(tl_tally_value(&tally) == 100000 * x);
}

TEST(what_is_not_a_number_makes_the_tally_none) {
  const double bad[] = {NAN, INFINITY, -INFINITY, 1e305};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    tl_tally tally, other;
    tl_tally_clear(&tally);
    tl_tally_clear(&other);
    tl_tally_add(&tally, 1);
    tl_tally_add(&tally, bad[i]);
    tl_tally_add(&tally, 1);
    tl_tally_add(&other, 1);
    tl_tally_merge(&other, &tally);
    CHECK(isnan(tl_tally_value(&tally)) && isnan(tl_tally_value(&other)));
  }
}

TEST_MAIN()
