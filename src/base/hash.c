#include "base/hash.h"

/* XXH64 as its specification gives it: four lanes take 32-byte stripes, the lanes are merged, and
 * the tail goes in by 8, 4 and 1 bytes. Numbers are read little-endian whatever the machine. */

#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

static inline uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

/* Compilers turn these into one load where the byte order is ours already. */
static inline uint64_t read_u32(const unsigned char *p) {
  return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

static inline uint64_t read_u64(const unsigned char *p) {
  return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
         (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static inline uint64_t round_lane(uint64_t lane, uint64_t input) {
  return rotate(lane + input * PRIME_2, 31) * PRIME_1;
}

static inline uint64_t merge_lane(uint64_t hash, uint64_t lane) {
  return (hash ^ round_lane(0, lane)) * PRIME_1 + PRIME_4;
}

static inline uint64_t avalanche(uint64_t hash) {
  hash = (hash ^ hash >> 33) * PRIME_2;
  hash = (hash ^ hash >> 29) * PRIME_3;
  return hash ^ hash >> 32;
}

uint64_t tl_xxh64(const void *data, size_t bytes, uint64_t seed) {
  const unsigned char *p = data;
  size_t left = bytes;
  uint64_t hash = seed + PRIME_5;
  if (left >= 32) {
    uint64_t a = seed + PRIME_1 + PRIME_2, b = seed + PRIME_2, c = seed, d = seed - PRIME_1;
    for (; left >= 32; p += 32, left -= 32) {
      a = round_lane(a, read_u64(p));
      b = round_lane(b, read_u64(p + 8));
      c = round_lane(c, read_u64(p + 16));
      d = round_lane(d, read_u64(p + 24));
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    hash = merge_lane(merge_lane(merge_lane(merge_lane(hash, a), b), c), d);
  }
  hash += (uint64_t)bytes;
  for (; left >= 8; p += 8, left -= 8)
    hash = rotate(hash ^ round_lane(0, read_u64(p)), 27) * PRIME_1 + PRIME_4;
  if (left >= 4) {
    hash = rotate(hash ^ read_u32(p) * PRIME_1, 23) * PRIME_2 + PRIME_3;
    p += 4;
    left -= 4;
  }
  for (; left > 0; ++p, --left)
    hash = rotate(hash ^ *p * PRIME_5, 11) * PRIME_1;
  return avalanche(hash);
}
