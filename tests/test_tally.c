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

TEST(a_tally_is_as_good_as_long_double) {
  for (int wide = 0; wide <= 200; wide += 40) {
    make_numbers(7u + (uint32_t)wide, wide);
    long double sum = 0, most = 0;
    for (int i = 0; i < N; ++i) {
      sum += numbers[i];
      most = fmaxl(most, fabsl(numbers[i]));
    }
    CHECK_NEAR(add_all(1, 3), (double)sum, 1e-12 * N * (double)most + 1e-15 * fabs((double)sum));
  }
}

TEST(a_tally_keeps_what_one_number_is) {
  const double some[] = {0, 1, -1, 0.1, -3e-9, 1e-280, 5e200, -0x1p39, 0x1p39, 0x1.fffffp38};
  for (size_t i = 0; i < sizeof some / sizeof *some; ++i) {
    tl_tally tally;
    tl_tally_clear(&tally);
    tl_tally_add(&tally, some[i]);
    CHECK_NEAR(tl_tally_value(&tally), some[i], 0x1p-40 * fabs(some[i]));
    tl_tally_add(&tally, -some[i]);
    CHECK(tl_tally_value(&tally) == 0);
  }
}

/* The bound of tally.h, and that it is no smaller one. */
TEST(what_a_tally_loses_of_a_number_is_below_2_to_the_minus_40) {
  double worst = 0;
  make_numbers(3, 0);
  for (int i = 0; i < N; ++i) {
    const double x = 0.75 + 0.5 * numbers[i];
    tl_tally tally;
    tl_tally_clear(&tally);
    tl_tally_add(&tally, x);
    worst = fmax(worst, fabs(tl_tally_value(&tally) - x) / x);
  }
  CHECK_MSG(worst <= 0x1p-40 && worst > 0x1p-41, "2^%g", log2(worst));
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
