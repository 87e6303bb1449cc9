#include "base/power.h"
#include "base/trig.h"
#include "base/random.h"

#include <math.h>

/* Multipliers and Weyl increments: Salmon et al. 2011, section 3.3 (the increments are the golden
 * ratio and sqrt(3) - 1 in 32-bit fixed point). */
#define MULTIPLIER_0 UINT32_C(0xD2511F53)
#define MULTIPLIER_1 UINT32_C(0xCD9E8D57)
#define WEYL_0       UINT32_C(0x9E3779B9)
#define WEYL_1       UINT32_C(0xBB67AE85)
#define ROUNDS       10

#define TWO_PI 6.283185307179586476925

tl_philox_block tl_philox4x32(const uint32_t counter[4], const uint32_t key[2]) {
  uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < ROUNDS; ++round) {
    const uint64_t product_0 = (uint64_t)MULTIPLIER_0 * x0;
    const uint64_t product_1 = (uint64_t)MULTIPLIER_1 * x2;
    x0 = (uint32_t)(product_1 >> 32) ^ x1 ^ k0;
    x1 = (uint32_t)product_1;
    x2 = (uint32_t)(product_0 >> 32) ^ x3 ^ k1;
    x3 = (uint32_t)product_0;
    k0 += WEYL_0;
    k1 += WEYL_1;
  }
  return (tl_philox_block){{x0, x1, x2, x3}};
}

tl_random tl_random_start(uint64_t seed, uint32_t stream, uint64_t serial) {
  return (tl_random){.seed = seed, .stream = stream, .serial = serial};
}

uint32_t tl_random_u32(tl_random *random) {
  if (random->left == 0) {
    const uint32_t counter[4] = {random->block++, random->stream, (uint32_t)random->serial,
                                 (uint32_t)(random->serial >> 32)};
    const uint32_t key[2] = {(uint32_t)random->seed, (uint32_t)(random->seed >> 32)};
    random->cache = tl_philox4x32(counter, key);
    random->left = 4;
  }
  return random->cache.word[4 - random->left--];
}

double tl_random_unit(tl_random *random) {
  const uint64_t high = tl_random_u32(random);
  const uint64_t low = tl_random_u32(random);
  return (double)((high << 32 | low) >> 11) * 0x1p-53;
}

double tl_random_normal(tl_random *random) {
  const double positive = 1.0 - tl_random_unit(random); /* (0, 1]: its logarithm is finite */
  const double turn = tl_random_unit(random);
  return sqrt(-2.0 * tl_log_d(positive)) * tl_cos_d(TWO_PI * turn);
}
