#include "base/random.h"

#include "check.h"

static void check_block(const uint32_t counter[4], const uint32_t key[2], const uint32_t want[4]) {
  const tl_philox_block got = tl_philox4x32(counter, key);
  for (int i = 0; i < 4; ++i)
    CHECK_EQ_U64(got.word[i], want[i]);
}

/* Random123's kat_vectors. */
TEST(philox_gives_the_published_answers) {
  check_block((uint32_t[]){0, 0, 0, 0}, (uint32_t[]){0, 0},
              (uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const uint32_t ones = UINT32_MAX;
  check_block((uint32_t[]){ones, ones, ones, ones}, (uint32_t[]){ones, ones},
              (uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check_block((uint32_t[]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
              (uint32_t[]){0xa4093822, 0x299f31d0},
              (uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(draws_are_a_function_of_seed_stream_serial_and_draw) {
  const uint64_t seed = UINT64_C(0x0123456789abcdef), serial = UINT64_C(0xfedcba9876543210);
  tl_random random = tl_random_start(seed, 5, serial);
  for (uint32_t draw = 0; draw < 40; ++draw) {
    const uint32_t counter[4] = {draw / 4, 5, 0x76543210, 0xfedcba98};
    const uint32_t key[2] = {0x89abcdef, 0x01234567};
    CHECK_EQ_U64(tl_random_u32(&random), tl_philox4x32(counter, key).word[draw % 4]);
  }
}

TEST(seed_stream_and_serial_each_give_another_sequence) {
  const uint64_t big = UINT64_C(1) << 32;
  const tl_random starts[] = {
      tl_random_start(1, 1, 1), tl_random_start(2, 1, 1),       tl_random_start(1, 2, 1),
      tl_random_start(1, 1, 2), tl_random_start(1 + big, 1, 1), tl_random_start(1, 1, 1 + big),
      tl_random_start(0, 0, 0),
  };
  const size_t n = sizeof starts / sizeof *starts;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      tl_random a = starts[i], b = starts[j];
      int same = 0;
      for (int draw = 0; draw < 64; ++draw)
        same += tl_random_u32(&a) == tl_random_u32(&b);
      CHECK_EQ_U64(same, 0);
    }
  }
}

/* 53 bits: the high word comes first, and the lowest bit of the result is in use. */
TEST(unit_draws_use_53_bits_of_two_words) {
  tl_random words = tl_random_start(3, 4, 5), units = words;
  bool lowest_bit_used = false;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t high = tl_random_u32(&words), low = tl_random_u32(&words);
    const double expected = ldexp((double)high * 0x1p21 + (double)(low >> 11), -53);
    const double got = tl_random_unit(&units);
    CHECK(got == expected && got >= 0.0 && got < 1.0);
    lowest_bit_used |= fmod(got * 0x1p53, 2.0) == 1.0;
  }
  CHECK(lowest_bit_used);
}

/* Moments and bins within 5 standard errors; the draws are fixed, so this passes always or never.
 */
TEST(unit_draws_are_uniform) {
  enum { N = 200000, BINS = 100 };
  int bin[BINS] = {0};
  double sum = 0.0, squares = 0.0;
  tl_random random = tl_random_start(2024, 1, 0);
  for (int i = 0; i < N; ++i) {
    const double x = tl_random_unit(&random);
    sum += x;
    squares += x * x;
    bin[(int)(x * BINS)]++;
  }
  CHECK_NEAR(sum / N, 0.5, 5.0 * sqrt(1.0 / 12.0 / N));
  CHECK_NEAR(squares / N, 1.0 / 3.0, 5.0 * sqrt(4.0 / 45.0 / N));
  double chi = 0.0;
  for (int i = 0; i < BINS; ++i)
    chi += (bin[i] - N / BINS) * (bin[i] - N / BINS) / (double)(N / BINS);
  CHECK_NEAR(chi, BINS - 1, 5.0 * sqrt(2.0 * (BINS - 1)));
}

TEST(serials_are_uncorrelated) {
  enum { N = 100000 };
  double product = 0.0;
  for (uint64_t serial = 0; serial < N; ++serial) {
    tl_random a = tl_random_start(9, 1, serial), b = tl_random_start(9, 1, serial + 1);
    product += (tl_random_unit(&a) - 0.5) * (tl_random_unit(&b) - 0.5);
  }
  CHECK_NEAR(product / N, 0.0, 5.0 / 12.0 / sqrt((double)N));
}

/* The distribution function itself, compared with erf: catches what moments miss. */
TEST(normal_draws_are_normal) {
  enum { N = 200000, CUTS = 13 };
  int below[CUTS] = {0};
  double sum[5] = {0};
  tl_random random = tl_random_start(77, 3, 12);
  for (int i = 0; i < N; ++i) {
    const double x = tl_random_normal(&random);
    CHECK(isfinite(x));
    for (int k = 1; k <= 4; ++k)
      sum[k] += pow(x, k);
    for (int c = 0; c < CUTS; ++c)
      below[c] += x < 0.5 * (c - CUTS / 2);
  }
  CHECK_NEAR(sum[1] / N, 0.0, 5.0 * sqrt(1.0 / N));
  CHECK_NEAR(sum[2] / N, 1.0, 5.0 * sqrt(2.0 / N));
  CHECK_NEAR(sum[3] / N, 0.0, 5.0 * sqrt(15.0 / N));
  CHECK_NEAR(sum[4] / N, 3.0, 5.0 * sqrt(96.0 / N));
  for (int c = 0; c < CUTS; ++c) {
    const double p = 0.5 * (1.0 + erf(0.5 * (c - CUTS / 2) / sqrt(2.0)));
    CHECK_NEAR((double)below[c] / N, p, 5.0 * sqrt(p * (1.0 - p) / N));
  }
}

TEST(a_normal_draw_uses_one_block) {
  tl_random random = tl_random_start(1, 2, 3);
  for (uint32_t i = 1; i <= 10; ++i) {
    tl_random_normal(&random);
    CHECK_EQ_U64(random.block, i);
    CHECK_EQ_U64(random.left, 0);
  }
}

TEST_MAIN()
