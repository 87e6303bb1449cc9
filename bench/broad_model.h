/* A model for bodies of which only boxes are known: for benchmarks of the stages' own functions. */
#ifndef BENCH_BROAD_MODEL_H
#define BENCH_BROAD_MODEL_H

#include "broad/broad.h"

typedef struct broad_model {
  tl_model model;
  tl_shape shape;
  tl_arena arena;
  tl_crowd crowd;
  tl_broad_cache cache;
  uint32_t *zeros;
} broad_model;

bool broad_model_make(broad_model *to, size_t bodies, int threads);
void broad_model_free(broad_model *from);

#endif
