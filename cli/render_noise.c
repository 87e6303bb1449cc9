#include "render_noise.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define CELLS (NOISE_SIDE * NOISE_SIDE)
#define REACH 7 /* cells */

static uint32_t scramble(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* Adds a point to a cell: raises the density of its neighbours, also across the edges. */
static void crowd(float *density, int cell) {
  const int x = cell % NOISE_SIDE, y = cell / NOISE_SIDE;
  for (int j = -REACH; j <= REACH; ++j)
    for (int i = -REACH; i <= REACH; ++i) {
      const int at =
          (y + j + NOISE_SIDE) % NOISE_SIDE * NOISE_SIDE + (x + i + NOISE_SIDE) % NOISE_SIDE;
      density[at] += expf(-(float)(i * i + j * j) / (2 * 1.9f * 1.9f));
    }
  density[cell] = INFINITY;
}

/* Cells are numbered by adding points one by one to the largest void: the second half of Ulichney
 * (1993), "The void-and-cluster method for dither array generation". */
void noise_make(noise *to) {
  float density[CELLS];
  for (int i = 0; i < CELLS; ++i) /* slight disorder decides between equal voids */
    density[i] = 1e-3f * (float)(scramble((uint32_t)i) >> 8) * 0x1p-24f;
  for (int rank = 0; rank < CELLS; ++rank) {
    int emptiest = 0;
    for (int i = 1; i < CELLS; ++i)
      if (density[i] < density[emptiest])
        emptiest = i;
    to->at[emptiest] = ((float)rank + 0.5f) / CELLS;
    crowd(density, emptiest);
  }
}

noise_sampler noise_sampler_of(const noise *from, int x, int y) {
  noise_sampler s = {.index = 0};
  /* All dimensions use the same square, shifted by unrelated amounts. */
  for (int k = 0; k < 2 * NOISE_PAIRS; ++k)
    s.offset[k] = from->at[(y + 29 * k) % NOISE_SIDE * NOISE_SIDE + (x + 47 * k) % NOISE_SIDE];
  return s;
}
