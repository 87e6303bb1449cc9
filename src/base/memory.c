#if defined(__linux__)
#define _DEFAULT_SOURCE /* madvise */
#include <malloc.h>
#include <sys/mman.h>
#endif

#include "base/memory.h"

#include <stdatomic.h>
#include <stdint.h>

/* Under AddressSanitizer, arena memory that nobody holds is poisoned, so that a stage that reads
 * scratch it has released, or runs past its end, is caught as it would be on the heap. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#define FORBID(data, bytes) ASAN_POISON_MEMORY_REGION((data), (bytes))
#define ALLOW(data, bytes)  ASAN_UNPOISON_MEMORY_REGION((data), (bytes))
#else
#define FORBID(data, bytes) ((void)(data), (void)(bytes))
#define ALLOW(data, bytes)  ((void)(data), (void)(bytes))
#endif

#define ALIGNMENT   ((size_t)64) /* a cache line, and the widest vector register */
#define PAGE        ((size_t)4096)
#define LARGE_PAGE  ((size_t)1 << 21)
#define FIRST_CHUNK ((size_t)1 << 16)

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/* ---- counted allocation ------------------------------------------------------------------- */

static _Atomic uint64_t allocations;
static _Atomic size_t bytes_held;
static _Atomic size_t bytes_peak;

static void count_more(size_t bytes) {
  const size_t held = atomic_fetch_add_explicit(&bytes_held, bytes, memory_order_relaxed) + bytes;
  size_t peak = atomic_load_explicit(&bytes_peak, memory_order_relaxed);
  while (peak < held && !atomic_compare_exchange_weak_explicit(
                            &bytes_peak, &peak, held, memory_order_relaxed, memory_order_relaxed)) {
  }
}

static void count_taken(size_t bytes) {
  atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  count_more(bytes);
}

static void count_given(size_t bytes) {
  atomic_fetch_sub_explicit(&bytes_held, bytes, memory_order_relaxed);
}

/* Large blocks are asked for in large pages: bodies of a contact are anywhere in memory, and a walk
 * through the page tables (twice over, in a virtual machine) costs more than the contact. A wish:
 * where the system has none, nothing changes. They also ask for half as many addresses again, which
 * cost nothing until they are used: what pours in grows a little at a time, and every move maps,
 * clears and copies all of it. Not with AddressSanitizer, which is to see what is written past the
 * end: sizes are multiples of the alignment, which sanitizers insist on. */
#if defined(__linux__) && defined(MADV_HUGEPAGE) && !defined(WITH_ASAN)
static void *take_block(size_t bytes) {
  if (bytes < LARGE_PAGE)
    return aligned_alloc(ALIGNMENT, round_up(bytes, ALIGNMENT));
  void *block = aligned_alloc(LARGE_PAGE, round_up(bytes + bytes / 2, LARGE_PAGE));
  if (!block)
    block = aligned_alloc(LARGE_PAGE, round_up(bytes, LARGE_PAGE));
  if (block) /* pages that are used as a whole: the rest costs nothing */
    (void)madvise(block, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
  return block;
}

/* Whether a block can have that length where it is. */
static bool fits_in_place(void *block, size_t old_bytes, size_t bytes) {
  return old_bytes >= LARGE_PAGE && bytes >= LARGE_PAGE && bytes <= malloc_usable_size(block);
}

/* Large pages that a block begins to use are asked for; those that it used are given back. Pages
 * that it has as a whole, and no other: it need not end where a large page does, and what follows
 * is somebody else's, who would find zeros there. */
static void use_pages(void *block, size_t old_bytes, size_t bytes) {
  const size_t old = round_up(old_bytes, LARGE_PAGE), now = round_up(bytes, LARGE_PAGE);
  const size_t own = (old_bytes > bytes ? old_bytes : bytes) / PAGE * PAGE;
  if (own > old && now > old)
    (void)madvise((char *)block + old, own - old, MADV_HUGEPAGE);
  else if (own > now && old > now)
    (void)madvise((char *)block + now, own - now, MADV_DONTNEED);
}
#else
static void *take_block(size_t bytes) {
  return aligned_alloc(ALIGNMENT, round_up(bytes, ALIGNMENT));
}

static bool fits_in_place(void *block, size_t old_bytes, size_t bytes) {
  (void)block, (void)old_bytes, (void)bytes;
  return false;
}

static void use_pages(void *block, size_t old_bytes, size_t bytes) {
  (void)block, (void)old_bytes, (void)bytes;
}
#endif

talus_status tl_resize(void **block, size_t old_bytes, size_t bytes) {
  TL_ASSERT((*block == NULL) == (old_bytes == 0));
  if (bytes == old_bytes)
    return TALUS_OK;
  if (fits_in_place(*block, old_bytes, bytes)) {
    use_pages(*block, old_bytes, bytes);
    if (bytes > old_bytes)
      count_more(bytes - old_bytes);
    else
      count_given(old_bytes - bytes);
    return TALUS_OK;
  }
  void *fresh = NULL;
  if (bytes > 0) {
    /* No object can be larger than PTRDIFF_MAX; below that the rounding cannot overflow. */
    if (bytes <= (size_t)PTRDIFF_MAX - ALIGNMENT)
      fresh = take_block(bytes);
    if (!fresh && bytes < old_bytes) { /* it keeps its length and only records a shorter one */
      count_given(old_bytes - bytes);
      return TALUS_OK;
    }
    if (!fresh)
      return tl_fail(TALUS_ERROR_MEMORY,
                     "out of memory: could not get %zu bytes (%zu are held); use fewer bodies or "
                     "a machine with more memory",
                     bytes, atomic_load_explicit(&bytes_held, memory_order_relaxed));
    /* Old and new block exist at once for a moment, which counts for the peak. */
    count_taken(bytes);
    if (old_bytes > 0)
      memcpy(fresh, *block, old_bytes < bytes ? old_bytes : bytes);
  }
  free(*block);
  count_given(old_bytes);
  *block = fresh;
  return TALUS_OK;
}

tl_memory_counters tl_memory_count(void) {
  return (tl_memory_counters){
      .allocations = atomic_load_explicit(&allocations, memory_order_relaxed),
      .bytes = atomic_load_explicit(&bytes_held, memory_order_relaxed),
      .peak_bytes = atomic_load_explicit(&bytes_peak, memory_order_relaxed),
  };
}

void tl_memory_reset_peak(void) {
  atomic_store_explicit(&bytes_peak, atomic_load_explicit(&bytes_held, memory_order_relaxed),
                        memory_order_relaxed);
}

/* ---- growing arrays ------------------------------------------------------------------------ */

static talus_status too_many(size_t n, size_t size) {
  return tl_fail(TALUS_ERROR_MEMORY, "out of memory: %zu elements of %zu bytes cannot be addressed",
                 n, size);
}

talus_status tl_array_grow(void **data, size_t *capacity, size_t n, size_t size) {
  if (n <= *capacity)
    return TALUS_OK;
  if (n > SIZE_MAX / size)
    return too_many(n, size);
  /* A thirty-second more keeps repeated pushes linear, and memory per body low; the first block
   * fills a cache line. */
  size_t wanted = *capacity + *capacity / 32;
  if (wanted < n)
    wanted = n;
  if (wanted < ALIGNMENT / size)
    wanted = ALIGNMENT / size;
  if (wanted > SIZE_MAX / size)
    wanted = n;
  TL_TRY(tl_resize(data, *capacity * size, wanted * size));
  *capacity = wanted;
  return TALUS_OK;
}

talus_status tl_array_set_count(void **data, size_t *count, size_t *capacity, size_t n,
                                size_t size) {
  TL_TRY(tl_array_grow(data, capacity, n, size));
  *count = n;
  return TALUS_OK;
}

void tl_array_release(void **data, size_t *count, size_t *capacity, size_t size) {
  (void)tl_resize(data, *capacity * size, 0); /* freeing cannot fail */
  *count = 0;
  *capacity = 0;
}

/* ---- the arena ------------------------------------------------------------------------------- */

static void free_chunks(tl_arena *arena, int from) {
  for (int i = from; i < TL_ARENA_CHUNKS; ++i) {
    tl_arena_chunk *chunk = &arena->chunk[i];
    if (chunk->data) {
      ALLOW(chunk->data, chunk->capacity);
      void *data = chunk->data;
      (void)tl_resize(&data, chunk->capacity, 0); /* freeing cannot fail */
    }
    *chunk = (tl_arena_chunk){0};
  }
}

static talus_status new_chunk(tl_arena_chunk *chunk, size_t capacity) {
  void *data = NULL;
  TL_TRY(tl_resize(&data, 0, capacity));
  FORBID(data, capacity);
  *chunk = (tl_arena_chunk){.data = data, .capacity = capacity};
  return TALUS_OK;
}

/* Makes arena->top a chunk with room for `bytes`. Each new chunk is at least half as large as all
 * before it, so TL_ARENA_CHUNKS of them hold 1.5^39 = 7 million times the first of a cold arena; a
 * warm one is a single chunk. */
static talus_status next_chunk(tl_arena *arena, size_t bytes) {
  const int next = arena->chunk[arena->top].data ? arena->top + 1 : arena->top;
  if (next == TL_ARENA_CHUNKS)
    return tl_fail(TALUS_ERROR_MEMORY, "out of memory: all %d arena chunks are full (%zu bytes)",
                   TL_ARENA_CHUNKS, arena->in_use);
  /* An empty chunk may be left from before a release. */
  if (arena->chunk[next].capacity < bytes) {
    free_chunks(arena, next);
    size_t capacity = 0;
    for (int i = 0; i < next; ++i)
      capacity += arena->chunk[i].capacity;
    capacity /= 2;
    if (capacity < bytes)
      capacity = bytes;
    if (capacity < FIRST_CHUNK)
      capacity = FIRST_CHUNK;
    TL_TRY(new_chunk(&arena->chunk[next], round_up(capacity, PAGE)));
  }
  arena->chunk[next].used = 0;
  arena->top = next;
  return TALUS_OK;
}

/* A thirty-second more, or what is needed, where that needs no other block. */
static bool extend(tl_arena_chunk *chunk, size_t bytes) {
  const size_t least = round_up(chunk->used + bytes, PAGE);
  size_t wanted = round_up(chunk->capacity + chunk->capacity / 32, PAGE);
  if (wanted < least || !fits_in_place(chunk->data, chunk->capacity, wanted))
    wanted = least;
  if (!fits_in_place(chunk->data, chunk->capacity, wanted))
    return false;
  void *data = chunk->data;
  if (tl_resize(&data, chunk->capacity, wanted) != TALUS_OK)
    return false;
  chunk->capacity = wanted;
  return true;
}

talus_status tl_arena_take(tl_arena *arena, size_t n, size_t size, void **out) {
  TL_ASSERT(size > 0);
  if (n > ((size_t)PTRDIFF_MAX - PAGE) / size)
    return too_many(n, size);
  /* At least one line, so that an empty array has an address of its own. */
  const size_t bytes = n == 0 ? ALIGNMENT : round_up(n * size, ALIGNMENT);
  tl_arena_chunk *chunk = &arena->chunk[arena->top];
  if (chunk->capacity - chunk->used < bytes && !extend(chunk, bytes)) {
    TL_TRY(next_chunk(arena, bytes));
    chunk = &arena->chunk[arena->top];
  }
  *out = chunk->data + chunk->used;
  ALLOW(*out, n * size);
  chunk->used += bytes;
  arena->in_use += bytes;
  if (arena->peak < arena->in_use)
    arena->peak = arena->in_use;
  return TALUS_OK;
}

tl_arena_mark tl_arena_get_mark(const tl_arena *arena) {
  return (tl_arena_mark){
      .top = arena->top, .used = arena->chunk[arena->top].used, .in_use = arena->in_use};
}

void tl_arena_release(tl_arena *arena, tl_arena_mark mark) {
  /* Marks nest: a newer mark than the present top was released or reset before. */
  TL_ASSERT(mark.top <= arena->top && mark.in_use <= arena->in_use);
  for (int i = mark.top; i <= arena->top; ++i) {
    tl_arena_chunk *chunk = &arena->chunk[i];
    const size_t kept = i == mark.top ? mark.used : 0;
    TL_ASSERT(kept <= chunk->used);
    if (chunk->data)
      FORBID(chunk->data + kept, chunk->used - kept);
    chunk->used = kept;
  }
  arena->top = mark.top;
  arena->in_use = mark.in_use;
}

void tl_arena_sink(tl_arena *arena, tl_arena_mark mark, void **block, size_t bytes) {
  tl_arena_chunk *chunk = &arena->chunk[mark.top];
  const size_t room = round_up(bytes, ALIGNMENT);
  if (bytes == 0 || chunk->capacity - mark.used < room)
    return;
  unsigned char *to = chunk->data + mark.used;
  ALLOW(to, bytes);
  memmove(to, *block, bytes);
  *block = to;
  tl_arena_release(arena, mark);
  ALLOW(to, bytes);
  chunk->used += room;
  arena->in_use += room;
}

/* Bytes the one chunk should have. Growing: a sixty-fourth above the peak, and a thirty-second more
 * than before at least: while bodies pour in, the need grows a little in every step, and each merge
 * pays for mapping all pages anew. Shrinking: only where an eighth or more was not needed for long.
 */
static size_t wanted_capacity(tl_arena *arena, size_t peak) {
  const size_t capacity = arena->chunk[0].capacity;
  const size_t recent = arena->recent > peak ? arena->recent : peak;
  const bool look_back = ++arena->resets >= TL_ARENA_MEMORY;
  arena->recent = look_back ? 0 : recent;
  arena->resets = look_back ? 0 : arena->resets;
  if (peak > capacity)
    return peak + peak / 64 > capacity + capacity / 32 ? peak + peak / 64
                                                       : capacity + capacity / 32;
  if (look_back && capacity / 8 * 7 > recent + PAGE)
    return recent + recent / 32;
  return capacity;
}

talus_status tl_arena_reset(tl_arena *arena) {
  const size_t wanted = wanted_capacity(arena, arena->peak), now = arena->chunk[0].capacity;
  tl_arena_release(arena, (tl_arena_mark){0});
  arena->peak = 0;
  if (wanted == now || fits_in_place(arena->chunk[0].data, now, round_up(wanted, PAGE))) {
    void *data = arena->chunk[0].data;
    free_chunks(arena, 1);
    arena->chunk[0].capacity = wanted == now ? now : round_up(wanted, PAGE);
    return tl_resize(&data, now, arena->chunk[0].capacity);
  }
  free_chunks(arena, 0);
  return wanted > 0 ? new_chunk(&arena->chunk[0], round_up(wanted, PAGE)) : TALUS_OK;
}

void tl_arena_free(tl_arena *arena) {
  free_chunks(arena, 0);
  *arena = (tl_arena){0};
}
