/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): a counter-based generator. A number is a
 * function of (seed, stream, serial, draw), so there is no hidden state to checkpoint and no
 * order to keep. */
#ifndef TL_BASE_RANDOM_H
#define TL_BASE_RANDOM_H

#include <stdint.h>

typedef struct tl_philox_block {
  uint32_t word[4];
} tl_philox_block;

tl_philox_block tl_philox4x32(const uint32_t counter[4], const uint32_t key[2]);

/* A sequence of draws for one object: (seed, stream) name the generator, serial the object. */
typedef struct tl_random {
  uint64_t seed;
  uint32_t stream;
  uint64_t serial;
  uint32_t block;
  int left; /* words of `cache` not used yet */
  tl_philox_block cache;
} tl_random;

/* Streams in use. Never renumber: results depend on them. */
enum {
  TL_STREAM_FILL_POSITION = 1,
  TL_STREAM_FILL_ROTATION = 2,
  TL_STREAM_FILL_SIZE = 3,
  TL_STREAM_EMIT_POSITION = 4,
  TL_STREAM_EMIT_ROTATION = 5,
  TL_STREAM_EMIT_SIZE = 6,
  TL_STREAM_MESH_NOISE = 7,
  TL_STREAM_MESH_CLUMP = 8,
  TL_STREAM_EMIT_VELOCITY = 9,
  TL_STREAM_EMIT_ARRIVAL = 10,
  TL_STREAM_FILL_VELOCITY = 11
};

tl_random tl_random_start(uint64_t seed, uint32_t stream, uint64_t serial);
uint32_t tl_random_u32(tl_random *random);
double tl_random_unit(tl_random *random);   /* uniform in [0, 1), 53 bits */
double tl_random_normal(tl_random *random); /* mean 0, deviation 1 (Box-Muller, two draws each) */

#endif
