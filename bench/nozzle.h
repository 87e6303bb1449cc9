/* talus bench nozzle: shared by its files. */
#ifndef BENCH_NOZZLE_H
#define BENCH_NOZZLE_H

#include "bench.h"

#include <stdbool.h>

#include <talus/talus.h>

/* One way to compute a step. */
typedef struct nozzle_way {
  const char *name;
  talus_step_kind step;
  talus_shell shell;
  talus_response response;
  talus_broad_kind broad;
  double skin;        /* m; below 0: auto */
  bool has_wall_last; /* otherwise all bodies in its box are tested */
} nozzle_way;

/* The nozzle filled with that number of balls. If it fails *world must be destroyed as well. */
talus_status nozzle_make(const nozzle_way *how, long bodies, int threads, talus_world **world);

/* Measures the cost of averaged fields. csv: a folder, or NULL. */
talus_status nozzle_fields(long bodies, int threads, int steps, const char *csv);

#endif
