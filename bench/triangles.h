/* Parts of `talus bench triangles` (private to bench/). */
#ifndef BENCH_TRIANGLES_H
#define BENCH_TRIANGLES_H

#include <stdio.h>

#include "bench.h"

typedef struct triangles_bench {
  int repeat;
  size_t most;      /* triangles of a sphere */
  int bodies;       /* of the scenes that are stepped; 0: none */
  char folder[512]; /* folder of the peers */
  FILE *csv;
} triangles_bench;

/* Contacts of two spheres, near and touching, beside FCL and GImpact (bench/peers). */
int triangles_contacts(const triangles_bench *bench);

/* Spheres in a container of triangles, stones in a hopper, memory of a mesh. */
int triangles_scenes(const triangles_bench *bench);

#endif
