#include "base/hash.h"

#include "check.h"

/* The specification once more, byte by byte and without any sharing with the code under test:
 * a number is built from bytes by its position, and lanes are an array. */
static uint64_t bytes_to_number(const unsigned char *p, int bytes) {
  uint64_t x = 0;
  for (int i = bytes - 1; i >= 0; --i)
    x = x * 256 + p[i];
  return x;
}

static uint64_t turn_left(uint64_t x, int by) {
  for (int i = 0; i < by; ++i)
    x = x * 2 + (x >= UINT64_C(0x8000000000000000));
  return x;
}

static uint64_t reference_xxh64(const unsigned char *data, size_t bytes, uint64_t seed) {
  const uint64_t p1 = UINT64_C(11400714785074694791), p2 = UINT64_C(14029467366897019727),
                 p3 = UINT64_C(1609587929392839161), p4 = UINT64_C(9650029242287828579),
                 p5 = UINT64_C(2870177450012600261);
  const int turns[4] = {1, 7, 12, 18};
  uint64_t lane[4] = {seed + p1 + p2, seed + p2, seed, seed - p1};
  size_t at = 0;
  uint64_t acc = seed + p5;
  if (bytes >= 32) {
    for (; bytes - at >= 32; at += 32)
      for (size_t i = 0; i < 4; ++i)
        lane[i] = turn_left(lane[i] + bytes_to_number(data + at + 8 * i, 8) * p2, 31) * p1;
    acc = 0;
    for (int i = 0; i < 4; ++i)
      acc += turn_left(lane[i], turns[i]);
    for (int i = 0; i < 4; ++i) {
      acc ^= turn_left(lane[i] * p2, 31) * p1;
      acc = acc * p1 + p4;
    }
  }
  acc += bytes;
  while (bytes - at >= 8) {
    acc ^= turn_left(bytes_to_number(data + at, 8) * p2, 31) * p1;
    acc = turn_left(acc, 27) * p1 + p4;
    at += 8;
  }
  if (bytes - at >= 4) {
    acc ^= bytes_to_number(data + at, 4) * p1;
    acc = turn_left(acc, 23) * p2 + p3;
    at += 4;
  }
  while (at < bytes) {
    acc ^= data[at++] * p5;
    acc = turn_left(acc, 11) * p1;
  }
  acc ^= acc >> 33;
  acc *= p2;
  acc ^= acc >> 29;
  acc *= p3;
  return acc ^ acc >> 32;
}

TEST(known_answers) {
  CHECK_EQ_U64(tl_xxh64("", 0, 0), UINT64_C(0xef46db3751d8e999));
  CHECK_EQ_U64(tl_xxh64(NULL, 0, 0), UINT64_C(0xef46db3751d8e999));
  CHECK_EQ_U64(tl_xxh64("a", 1, 0), UINT64_C(0xd24ec4f1a98c6e5b));
  CHECK_EQ_U64(tl_xxh64("abc", 3, 0), UINT64_C(0x44bc2cf5ad770999));
  CHECK_EQ_U64(tl_xxh64("xxhash", 6, 20141025), UINT64_C(0xb559b98d844e0635));
  const char *spam = "Nobody inspects the spammish repetition";
  CHECK_EQ_U64(tl_xxh64(spam, strlen(spam), 0), UINT64_C(0xfbcea83c8a378bf1));
}

TEST(every_length_agrees_with_the_bytewise_reference) {
  unsigned char data[300];
  uint32_t x = 2463534242u;
  for (size_t i = 0; i < sizeof data; ++i) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    data[i] = (unsigned char)(x >> 24);
  }
  const uint64_t seeds[] = {0, 1, UINT64_C(0x9E3779B97F4A7C15), UINT64_MAX};
  for (size_t s = 0; s < sizeof seeds / sizeof *seeds; ++s)
    for (size_t start = 0; start < 9; ++start)
      for (size_t bytes = 0; bytes + start <= sizeof data; ++bytes)
        CHECK_MSG(tl_xxh64(data + start, bytes, seeds[s]) ==
                      reference_xxh64(data + start, bytes, seeds[s]),
                  "at %zu, %zu bytes, seed %zu", start, bytes, s);
}

TEST(every_bit_counts) {
  unsigned char data[101] = {0};
  const uint64_t zero = tl_xxh64(data, sizeof data, 7);
  for (size_t bit = 0; bit < 8 * sizeof data; ++bit) {
    data[bit / 8] = (unsigned char)(1u << bit % 8);
    CHECK_MSG(tl_xxh64(data, sizeof data, 7) != zero, "bit %zu", bit);
    data[bit / 8] = 0;
  }
}

TEST_MAIN()
