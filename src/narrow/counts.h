/* Counters of the search for near triangles; sums over threads, in no order. */
#ifndef TL_NARROW_COUNTS_H
#define TL_NARROW_COUNTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tl_narrow_counts {
  _Atomic uint64_t comparisons; /* distances of two triangles, including surrogates */
  /* pairs that approximate kernels or proofs left to exact comparison */
  _Atomic uint64_t fallbacks;
} tl_narrow_counts;

/* counts NULL: nothing is counted. */
static inline void tl_narrow_count(tl_narrow_counts *counts, uint64_t comparisons,
                                   uint64_t fallbacks) {
  if (!counts)
    return;
  atomic_fetch_add_explicit(&counts->comparisons, comparisons, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->fallbacks, fallbacks, memory_order_relaxed);
}

#endif
