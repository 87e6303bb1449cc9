/* The published tables of contacts on a GPU: a part of gpu_detect.c. */
#ifndef BENCH_GPU_TABLES_H
#define BENCH_GPU_TABLES_H

#include <stdio.h>

#include "backend/device.h"
#include <talus/detect.h>

typedef struct gpu_tables {
  const char *table; /* 000, 002, 002-lattice, 004 */
  talus_backend backend;
  tl_device *device; /* open */
  int repeat;
  double most; /* bodies of the largest row */
  FILE *csv;   /* or NULL */
  bool same;   /* out: every row had the contacts that the CPU found */
} gpu_tables;

bool gpu_tables_know(const char *table);
talus_status gpu_tables_run(gpu_tables *job);

#endif
