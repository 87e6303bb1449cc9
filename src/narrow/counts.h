/* What the search for near triangles cost: sums over threads, in no order. */
#ifndef TL_NARROW_COUNTS_H
#define TL_NARROW_COUNTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tl_narrow_counts {
  _Atomic uint64_t comparisons; /* distances of two triangles, surrogates among them */
  _Atomic uint64_t fallbacks;   /* those of approximate kernels or proofs that comparison decided */
} tl_narrow_counts;

/* counts NULL: nobody wants to know. */
static inline void tl_narrow_count(tl_narrow_counts *counts, uint64_t comparisons,
                                   uint64_t fallbacks) {
  if (!counts)
    return;
  atomic_fetch_add_explicit(&counts->comparisons, comparisons, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->fallbacks, fallbacks, memory_order_relaxed);
}

#endif
