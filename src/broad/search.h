/* A search in blocks, whose pairs come out in the order of the blocks (private to src/broad).
 *
 * The number of pairs of a block is not known in advance. Each block has a small buffer, whose size
 * comes from a trial of a few blocks. Then the position of each block in the result is known, the
 * buffers are copied there, and the few blocks whose buffer was too small are searched again. */
#ifndef TL_BROAD_SEARCH_H
#define TL_BROAD_SEARCH_H

#include "base/parallel.h"
#include "crowd/crowd.h"

/* Buffer for a block's pairs. */
typedef struct tl_catch {
  tl_pair *out;
  uint64_t count, room;
} tl_catch;

static inline void tl_catch_put(tl_catch *to, uint32_t a, uint32_t b) {
  if (to->count < to->room)
    to->out[to->count] = a < b ? (tl_pair){a, b} : (tl_pair){b, a};
  to->count++;
}

/* Finds all pairs of a block; every call gives the same pairs in the same order. */
typedef void tl_search_fn(const void *context, size_t block, tl_catch *to);

/* Finds the pairs of all blocks. The result is the last block taken from the crowd's arena. Checks
 * between blocks whether it is asked to stop (crowd->cancel). */
talus_status tl_search(const tl_crowd *crowd, size_t blocks, tl_search_fn *fn, const void *context,
                       tl_pairs *pairs);

#endif
