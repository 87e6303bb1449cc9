/* Parts of `talus bench local` (local.c). */
#ifndef BENCH_LOCAL_H
#define BENCH_LOCAL_H

#include <stdbool.h>

/* Clusters of a graph by sweeps of least labels (the thesis' Algorithm 2) and by union-find. */
bool bench_local_clusters(bool quick);

#endif
