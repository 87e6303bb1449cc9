/* Stable LSD radix sort and prefix sums, parallel, identical for any number of threads. */
#ifndef TL_BASE_SORT_H
#define TL_BASE_SORT_H

#include "base/parallel.h"

/* Sorts keys (and payload along with them; NULL for none) by the lowest `bits` bits of the key.
 * Stable. Scratch from the arena, released before returning. */
talus_status tl_sort_u32(const tl_par *par, tl_arena *arena, uint32_t *keys, uint32_t *payload,
                         size_t n, int bits);
talus_status tl_sort_u64(const tl_par *par, tl_arena *arena, uint64_t *keys, uint32_t *payload,
                         size_t n, int bits);

/* Exclusive prefix sum in place; *total is the sum of all. u32 totals beyond 2^32 - 1 are an
 * error naming the count. */
talus_status tl_scan_u32(const tl_par *par, tl_arena *arena, uint32_t *values, size_t n,
                         uint64_t *total);
talus_status tl_scan_u64(const tl_par *par, tl_arena *arena, uint64_t *values, size_t n,
                         uint64_t *total);

/* Number of bits needed to write x (0 for 0). */
int tl_bits_u64(uint64_t x);

#endif
