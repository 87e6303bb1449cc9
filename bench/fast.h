/* talus bench fast: fast bodies (private to bench/). */
#ifndef BENCH_FAST_H
#define BENCH_FAST_H

#include <stdbool.h>
#include <stdio.h>

typedef struct fast_bench {
  int repeat;
  bool is_quick;
  char folder[512]; /* folder of the command and its peers */
  bool has_peers;
  FILE *csv; /* NULL: none */
} fast_bench;

/* Print the tables; return an exit code. */
int fast_toi(const fast_bench *bench);
int fast_sweep(const fast_bench *bench);
int fast_steps(const fast_bench *bench);

#endif
