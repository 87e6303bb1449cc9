/* Memory: counted allocation, growing arrays, and the per-step arena.
 *
 * All of talus allocates through tl_resize, so that a test can count: once a world is warm its
 * step loop allocates nothing. */
#ifndef TL_BASE_MEMORY_H
#define TL_BASE_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* realloc with a status: *block becomes `bytes` long (0 frees it and sets it to NULL).
 * On failure *block is untouched and the message says how much was asked for; making it shorter
 * never fails. 64-byte aligned; old_bytes is what the block held before (0 for NULL). */
talus_status tl_resize(void **block, size_t old_bytes, size_t bytes);

/* Process-wide counters: calls of tl_resize that allocated, bytes held now, most ever held. */
typedef struct tl_memory_counters {
  uint64_t allocations;
  size_t bytes;
  size_t peak_bytes;
} tl_memory_counters;
tl_memory_counters tl_memory_count(void);
void tl_memory_reset_peak(void);

/* ---- growing arrays: `TL_ARRAY(uint32_t) pairs = {0};` ---------------------------------- */

#define TL_ARRAY(type)                                                                             \
  struct {                                                                                         \
    type *data;                                                                                    \
    size_t count, capacity;                                                                        \
  }

/* Makes room for n elements in all (count is unchanged). Grows by a thirty-second at least. */
#define tl_array_reserve(array, n)                                                                 \
  tl_array_grow((void **)&(array)->data, &(array)->capacity, (n), sizeof *(array)->data)

/* Sets count to n; new elements are uninitialised. */
#define tl_array_resize(array, n)                                                                  \
  tl_array_set_count((void **)&(array)->data, &(array)->count, &(array)->capacity, (n),            \
                     sizeof *(array)->data)

/* Evaluates to a status; on success `value` has been appended. */
#define tl_array_push(array, value)                                                                \
  (tl_array_reserve((array), (array)->count + 1) == TALUS_OK                                       \
       ? ((array)->data[(array)->count++] = (value), TALUS_OK)                                     \
       : TALUS_ERROR_MEMORY)

#define tl_array_free(array)                                                                       \
  tl_array_release((void **)&(array)->data, &(array)->count, &(array)->capacity,                   \
                   sizeof *(array)->data)

talus_status tl_array_grow(void **data, size_t *capacity, size_t n, size_t size);
talus_status tl_array_set_count(void **data, size_t *count, size_t *capacity, size_t n,
                                size_t size);
void tl_array_release(void **data, size_t *count, size_t *capacity, size_t size);

/* ---- the arena: scratch of one step ------------------------------------------------------- */

/* Bump allocation in chunks. A reset merges the chunks into one that holds the peak, so a warm
 * arena is one block and never allocates; what one unusual step took is given back when
 * TL_ARENA_MEMORY steps got by with less. Not thread-safe: stages take scratch in serial code.
 * Marks nest like a stack: broad-phase scratch is released before solver scratch is taken. */
typedef struct tl_arena_chunk {
  unsigned char *data;
  size_t used, capacity;
} tl_arena_chunk;

#define TL_ARENA_CHUNKS 40
#define TL_ARENA_MEMORY 64 /* resets */
typedef struct tl_arena {
  tl_arena_chunk chunk[TL_ARENA_CHUNKS];
  int top;       /* chunk in use */
  size_t in_use; /* bytes handed out and not released */
  size_t peak;   /* most of in_use since the last reset */
  size_t recent; /* most of the peaks of the last `resets` resets */
  int resets;
} tl_arena;

typedef struct tl_arena_mark {
  int top;
  size_t used, in_use;
} tl_arena_mark;

/* *out = n elements of `size` bytes, 64-byte aligned, uninitialised. n = 0 gives a valid pointer.
 */
talus_status tl_arena_take(tl_arena *arena, size_t n, size_t size, void **out);
#define TL_TAKE(arena, n, pointer)                                                                 \
  TL_TRY(tl_arena_take((arena), (n), sizeof **(pointer), (void **)(pointer)))
tl_arena_mark tl_arena_get_mark(const tl_arena *arena);
void tl_arena_release(tl_arena *arena, tl_arena_mark mark);

/* Releases everything taken since the mark except `*block` (of `bytes`), which moves down to the
 * mark: a result outlives the scratch that it was made with. While the arena is cold and the mark's
 * chunk has no room for it, nothing is released. */
void tl_arena_sink(tl_arena *arena, tl_arena_mark mark, void **block, size_t bytes);
talus_status tl_arena_reset(tl_arena *arena);
void tl_arena_free(tl_arena *arena);

#endif
