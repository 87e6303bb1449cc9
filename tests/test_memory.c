#if defined(__linux__)
#include <malloc.h> /* malloc_usable_size */
#endif

#include "base/memory.h"

#include "base/parallel.h"
#include "check.h"

#define talus_last_error tl_last_message /* what CHECK_OK prints */

/* A refused allocation is part of the tests, not a reason for a sanitizer to end them. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

static bool aligned(const void *p) { return (uintptr_t)p % 64 == 0; }

TEST(resize_keeps_contents_and_alignment) {
  void *block = NULL;
  size_t old = 0;
  const size_t sizes[] = {1,       63, 64, 65, 1000, 4096, 100000, (2 << 20) - 1, (2 << 20) + 1,
                          5000000, 70, 3};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    CHECK_OK(tl_resize(&block, old, sizes[s]));
    CHECK(aligned(block));
    unsigned char *bytes = block;
    const size_t kept = old < sizes[s] ? old : sizes[s];
    for (size_t i = 0; i < kept; ++i)
      CHECK_EQ_U64(bytes[i], (unsigned char)(i * 7));
    for (size_t i = 0; i < sizes[s]; ++i)
      bytes[i] = (unsigned char)(i * 7);
    old = sizes[s];
  }
  CHECK_OK(tl_resize(&block, old, 0));
  CHECK(block == NULL);
  CHECK_OK(tl_resize(&block, 0, 0));
  CHECK(block == NULL);
}

/* Blocks of large pages may grow and shrink where they are. */
TEST(large_blocks_keep_contents_and_counts_as_they_grow_and_shrink) {
  static const size_t sizes[] = {4000000, 4200000, 6100000, 9000000, 4200000, 2500000, 6000000};
  const size_t held = tl_memory_count().bytes;
  size_t old = 0, known = 0;
  void *block = NULL;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    CHECK_OK(tl_resize(&block, old, sizes[s]));
    unsigned char *bytes = block;
    known = known < sizes[s] ? known : sizes[s];
    size_t wrong = 0;
    for (size_t i = 0; i < known; ++i)
      wrong += bytes[i] != (unsigned char)(i % 251);
    CHECK(wrong == 0);
    for (size_t i = known; i < sizes[s]; ++i)
      bytes[i] = (unsigned char)(i % 251);
    old = known = sizes[s];
    CHECK(tl_memory_count().bytes == held + old);
  }
  CHECK_OK(tl_resize(&block, old, 0));
  CHECK(tl_memory_count().bytes == held);
}

#if defined(__linux__)
/* The system puts a block below the one before it, and it ends where that one begins. */
TEST(what_lies_behind_a_large_block_stays_when_it_shrinks) {
  const size_t large = (size_t)1 << 21, first = large + 4096, mine = (size_t)1 << 20;
  for (size_t k = 0; k < 8; ++k) {
    unsigned char *neighbour = malloc(mine + (k << 16));
    void *block = NULL;
    CHECK(neighbour != NULL);
    memset(neighbour, 0x5a, mine);
    CHECK_OK(tl_resize(&block, 0, first));
    const size_t most = malloc_usable_size(block); /* as long as it may become where it is */
    CHECK_OK(tl_resize(&block, first, most));
    CHECK_OK(tl_resize(&block, most, large));
    size_t changed = 0;
    for (size_t i = 0; i < mine; ++i)
      changed += neighbour[i] != 0x5a;
    CHECK(changed == 0);
    CHECK_OK(tl_resize(&block, large, 0));
    free(neighbour);
  }
}
#endif

TEST(counters_follow_allocations) {
  tl_memory_reset_peak();
  const tl_memory_counters start = tl_memory_count();
  CHECK_EQ_U64(start.peak_bytes, start.bytes);
  void *a = NULL, *b = NULL;
  CHECK_OK(tl_resize(&a, 0, 1000));
  CHECK_OK(tl_resize(&b, 0, 500));
  CHECK_OK(tl_resize(&b, 500, 500)); /* nothing to do, nothing counted */
  CHECK_EQ_U64(tl_memory_count().allocations - start.allocations, 2);
  CHECK_EQ_U64(tl_memory_count().bytes - start.bytes, 1500);
  CHECK_OK(tl_resize(&a, 1000, 3000)); /* both copies exist for a moment */
  CHECK_EQ_U64(tl_memory_count().bytes - start.bytes, 3500);
  CHECK_EQ_U64(tl_memory_count().peak_bytes - start.bytes, 4500);
  CHECK_OK(tl_resize(&a, 3000, 0));
  CHECK_OK(tl_resize(&b, 500, 0));
  CHECK_EQ_U64(tl_memory_count().allocations - start.allocations, 3);
  CHECK_EQ_U64(tl_memory_count().bytes, start.bytes);
  CHECK_EQ_U64(tl_memory_count().peak_bytes - start.bytes, 4500);
  tl_memory_reset_peak();
  CHECK_EQ_U64(tl_memory_count().peak_bytes, start.bytes);
}

static void allocate_and_free(void *context, tl_team *team, int worker, int workers) {
  (void)workers, (void)team;
  for (int i = 0; i < 1000; ++i) {
    void *block = NULL;
    if (tl_resize(&block, 0, (size_t)(64 + worker)) != TALUS_OK ||
        tl_resize(&block, (size_t)(64 + worker), 0) != TALUS_OK)
      ((int *)context)[worker] = -1;
  }
  if (((int *)context)[worker] == 0)
    ((int *)context)[worker] = 1;
}

TEST(counters_are_exact_with_several_threads) {
  const tl_memory_counters start = tl_memory_count();
  int done[4] = {0};
  tl_team_run(&(tl_par){.threads = 4}, allocate_and_free, done);
  uint64_t workers = 0;
  for (int i = 0; i < 4; ++i) {
    CHECK(done[i] >= 0);
    workers += (uint64_t)done[i];
  }
  CHECK_EQ_U64(tl_memory_count().allocations - start.allocations, 1000 * workers);
  CHECK_EQ_U64(tl_memory_count().bytes, start.bytes);
}

TEST(a_refused_allocation_leaves_the_block_and_names_the_size) {
  void *block = NULL;
  CHECK_OK(tl_resize(&block, 0, 100));
  memset(block, 42, 100);
  const tl_memory_counters start = tl_memory_count();
  const size_t sizes[] = {(size_t)1 << 60, SIZE_MAX / 2, SIZE_MAX};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    void *same = block;
    CHECK(tl_resize(&same, 100, sizes[s]) == TALUS_ERROR_MEMORY);
    CHECK(same == block && ((unsigned char *)block)[99] == 42);
    char number[32];
    snprintf(number, sizeof number, "%zu bytes", sizes[s]);
    CHECK_MSG(strstr(tl_last_message(), number), "it says: %s", tl_last_message());
  }
  CHECK_EQ_U64(tl_memory_count().allocations, start.allocations);
  CHECK_EQ_U64(tl_memory_count().bytes, start.bytes);
  CHECK_OK(tl_resize(&block, 100, 0));
}

/* ---- growing arrays ------------------------------------------------------------------------ */

TEST(pushes_keep_their_values_and_allocate_rarely) {
  TL_ARRAY(uint32_t) array = {0};
  const tl_memory_counters start = tl_memory_count();
  for (uint32_t i = 0; i < 100000; ++i)
    CHECK_OK(tl_array_push(&array, i * 3));
  CHECK_EQ_U64(array.count, 100000);
  CHECK(array.capacity >= array.count && array.capacity <= array.count + array.count / 8 + 16);
  for (uint32_t i = 0; i < 100000; ++i)
    CHECK_EQ_U64(array.data[i], i * 3);
  /* log(100000 / 16) / log(33 / 32) = 284 steps of growth, and more for rounding */
  CHECK(tl_memory_count().allocations - start.allocations < 400);
  tl_array_free(&array);
  CHECK(array.data == NULL && array.count == 0 && array.capacity == 0);
  CHECK_EQ_U64(tl_memory_count().bytes, start.bytes);
  tl_array_free(&array);
}

TEST(reserve_and_resize_do_what_they_say) {
  TL_ARRAY(double) array = {0};
  CHECK_OK(tl_array_reserve(&array, 0));
  CHECK(array.data == NULL);
  CHECK_OK(tl_array_reserve(&array, 1000));
  CHECK(array.count == 0 && array.capacity == 1000 && aligned(array.data));
  const uint64_t before = tl_memory_count().allocations;
  CHECK_OK(tl_array_resize(&array, 1000));
  CHECK_OK(tl_array_resize(&array, 10));
  CHECK_OK(tl_array_reserve(&array, 999));
  CHECK(array.count == 10 && array.capacity == 1000);
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  CHECK_OK(tl_array_reserve(&array, 1001));
  CHECK_EQ_U64(array.capacity, 1031);
  tl_array_free(&array);
}

TEST(arrays_too_large_to_address_are_refused) {
  TL_ARRAY(double) array = {0};
  CHECK_OK(tl_array_push(&array, 1.5));
  const size_t capacity = array.capacity;
  CHECK(tl_array_resize(&array, SIZE_MAX / 8 + 2) ==
        TALUS_ERROR_MEMORY); /* would wrap to 8 bytes */
  CHECK(tl_array_resize(&array, SIZE_MAX) == TALUS_ERROR_MEMORY);
  CHECK(tl_array_reserve(&array, SIZE_MAX / 8) == TALUS_ERROR_MEMORY);
  CHECK(array.count == 1 && array.capacity == capacity && array.data[0] == 1.5);
  tl_array_free(&array);
}

/* ---- the arena ------------------------------------------------------------------------------- */

static talus_status take_ints(tl_arena *arena, size_t n, int **out) {
  TL_TAKE(arena, n, out);
  return TALUS_OK;
}

static int chunks_held(const tl_arena *arena) {
  int held = 0;
  for (int i = 0; i < TL_ARENA_CHUNKS; ++i)
    held += arena->chunk[i].data != NULL;
  return held;
}

/* Every block taken is aligned, apart from all others, and keeps its contents while more chunks
 * come: each int says which block it belongs to. */
TEST(arena_blocks_do_not_overlap_or_move) {
  enum { BLOCKS = 60 };
  tl_arena arena = {0};
  int *block[BLOCKS];
  size_t length[BLOCKS];
  for (int b = 0; b < BLOCKS; ++b) {
    length[b] = (size_t)(b % 7 == 0 ? 0 : (b * 7919) % 20000);
    CHECK_OK(take_ints(&arena, length[b], &block[b]));
    CHECK(block[b] != NULL && aligned(block[b]));
    for (int c = 0; c < b; ++c)
      CHECK(block[c] != block[b]);
    for (size_t i = 0; i < length[b]; ++i)
      block[b][i] = b;
  }
  CHECK(chunks_held(&arena) > 1);
  for (int b = 0; b < BLOCKS; ++b)
    for (size_t i = 0; i < length[b]; ++i)
      CHECK_EQ_U64(block[b][i], b);
  tl_arena_free(&arena);
}

TEST(reset_merges_into_one_chunk_a_little_above_the_peak) {
  const size_t held = tl_memory_count().bytes;
  tl_arena arena = {0};
  int *p;
  for (int i = 0; i < 10; ++i)
    CHECK_OK(take_ints(&arena, 50000, &p));
  const size_t peak = arena.peak;
  CHECK_EQ_U64(peak, 10 * ((50000 * sizeof(int) + 63) / 64 * 64));
  CHECK(chunks_held(&arena) > 1);
  CHECK_OK(tl_arena_reset(&arena));
  CHECK_EQ_U64(chunks_held(&arena), 1);
  CHECK_EQ_U64(arena.chunk[0].capacity, (peak + peak / 64 + 4095) / 4096 * 4096);
  CHECK_EQ_U64(tl_memory_count().bytes - held, arena.chunk[0].capacity);
  CHECK(arena.in_use == 0 && arena.peak == 0);
  tl_arena_free(&arena);
  CHECK_EQ_U64(tl_memory_count().bytes, held);
}

TEST(a_warm_arena_allocates_nothing) {
  tl_arena arena = {0};
  uint64_t warm = 0;
  for (int step = 0; step < 20; ++step) {
    if (step == 2)
      warm = tl_memory_count().allocations;
    int *p;
    CHECK_OK(take_ints(&arena, 1000, &p));
    for (int stage = 0; stage < 5; ++stage) {
      const tl_arena_mark mark = tl_arena_get_mark(&arena);
      for (int i = 0; i <= stage; ++i)
        CHECK_OK(take_ints(&arena, (size_t)(20000 * (5 - stage) + i), &p));
      tl_arena_release(&arena, mark);
    }
    CHECK_OK(tl_arena_reset(&arena));
  }
  CHECK_EQ_U64(tl_memory_count().allocations, warm);
  tl_arena_free(&arena);
}

TEST(an_arena_forgets_one_large_step_after_many_small_ones) {
  tl_arena arena = {0};
  int *p;
  CHECK_OK(take_ints(&arena, 1000000, &p));
  CHECK_OK(tl_arena_reset(&arena));
  CHECK(arena.chunk[0].capacity >= 1000000 * sizeof *p);
  for (int step = 0; step < 2 * TL_ARENA_MEMORY; ++step) {
    CHECK_OK(take_ints(&arena, 100000, &p));
    CHECK_OK(tl_arena_reset(&arena));
  }
  CHECK(arena.chunk[0].capacity >= 100000 * sizeof *p);
  CHECK(arena.chunk[0].capacity <= 110000 * sizeof *p);
  const uint64_t before = tl_memory_count().allocations;
  for (int step = 0; step < 3 * TL_ARENA_MEMORY; ++step) {
    CHECK_OK(take_ints(&arena, 100000, &p));
    CHECK_OK(tl_arena_reset(&arena));
  }
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  for (int step = 0; step < 3 * TL_ARENA_MEMORY; ++step)
    CHECK_OK(tl_arena_reset(&arena));
  CHECK(arena.chunk[0].capacity <= 4096);
  tl_arena_free(&arena);
}

/* One line more in every step: merging each time would map the whole arena anew each time. */
TEST(a_slowly_growing_arena_merges_rarely) {
  tl_arena arena = {0};
  const uint64_t before = tl_memory_count().allocations;
  for (size_t step = 0; step < 1000; ++step) {
    int *p;
    CHECK_OK(take_ints(&arena, 100000 + 16 * step, &p));
    CHECK_OK(tl_arena_reset(&arena));
    CHECK(arena.chunk[0].capacity <= (100000 + 16 * step) * sizeof *p * 9 / 8 + 2 * 4096);
  }
  CHECK(tl_memory_count().allocations - before < 10);
  tl_arena_free(&arena);
}

TEST(marks_nest_and_the_peak_survives_them) {
  tl_arena arena = {0};
  int *first, *second, *third, *again;
  CHECK_OK(take_ints(&arena, 16, &first));
  const tl_arena_mark outer = tl_arena_get_mark(&arena);
  CHECK_OK(take_ints(&arena, 100000, &second));
  const tl_arena_mark inner = tl_arena_get_mark(&arena);
  CHECK_OK(take_ints(&arena, 300000, &third));
  const size_t peak = arena.in_use;
  first[0] = 1;
  second[99999] = 2;
  tl_arena_release(&arena, inner);
  CHECK_EQ_U64(arena.in_use, 64 + 100000 * sizeof(int));
  CHECK_EQ_U64(second[99999], 2);
  CHECK_OK(take_ints(&arena, 300000, &again));
  CHECK(again == third); /* what was released is used again */
  tl_arena_release(&arena, inner);
  tl_arena_release(&arena, outer);
  CHECK_EQ_U64(arena.in_use, 64);
  CHECK_EQ_U64(first[0], 1);
  CHECK_OK(take_ints(&arena, 16, &again));
  CHECK(again == first + 16);
  CHECK_EQ_U64(arena.peak, peak);
  CHECK_OK(tl_arena_reset(&arena));
  CHECK(arena.chunk[0].capacity >= peak);
  tl_arena_free(&arena);
}

TEST(a_block_sinks_to_the_mark_and_what_lay_below_goes) {
  for (int warm = 0; warm < 2; ++warm) {
    tl_arena arena = {0};
    int *before, *scratch, *result, *next;
    for (int turn = 0; turn <= warm; ++turn) {
      CHECK_OK(tl_arena_reset(&arena));
      CHECK_OK(take_ints(&arena, 100, &before));
      const tl_arena_mark mark = tl_arena_get_mark(&arena);
      CHECK_OK(take_ints(&arena, 12000, &scratch)); /* cold: the result needs a second chunk */
      CHECK_OK(take_ints(&arena, 10001, &result));
      before[99] = -1;
      for (int i = 0; i < 10001; ++i)
        result[i] = i;
      CHECK_EQ_U64(chunks_held(&arena), turn == 0 ? 2 : 1);
      const size_t peak = arena.peak;
      tl_arena_sink(&arena, mark, (void **)&result, 10001 * sizeof *result);
      CHECK(result == scratch && arena.peak == peak);
      CHECK(arena.in_use == mark.in_use + 40064); /* 10001 ints in whole lines */
      CHECK_OK(take_ints(&arena, 100, &next));
      CHECK(next >= result + 10001);
      next[0] = next[99] = -2;
      for (int i = 0; i < 10001; ++i)
        CHECK(result[i] == i);
      CHECK(before[99] == -1);
    }
    tl_arena_free(&arena);
  }
}

TEST(a_block_without_room_at_the_mark_stays_where_it_is) {
  tl_arena arena = {0};
  int *before, *scratch, *result;
  CHECK_OK(take_ints(&arena, 100, &before));
  const tl_arena_mark mark = tl_arena_get_mark(&arena);
  CHECK_OK(take_ints(&arena, 100, &scratch));
  CHECK_OK(take_ints(&arena, 100000, &result));
  int *const was = result;
  const size_t in_use = arena.in_use;
  result[99999] = 7;
  tl_arena_sink(&arena, mark, (void **)&result, 100000 * sizeof *result);
  CHECK(result == was && result[99999] == 7 && arena.in_use == in_use);
  tl_arena_free(&arena);
}

TEST(a_mark_of_an_empty_arena_releases_everything) {
  tl_arena arena = {0};
  const tl_arena_mark mark = tl_arena_get_mark(&arena);
  int *p;
  for (int i = 0; i < 5; ++i)
    CHECK_OK(take_ints(&arena, 40000, &p));
  tl_arena_release(&arena, mark);
  CHECK_EQ_U64(arena.in_use, 0);
  tl_arena_free(&arena);
}

/* After a release the chunks above are kept; one that is too small for the next block makes way for
 * a larger one, over and over, without ever running out of chunks. */
TEST(small_leftover_chunks_are_replaced) {
  const size_t held = tl_memory_count().bytes;
  tl_arena arena = {0};
  int *base, *p;
  CHECK_OK(take_ints(&arena, 16000, &base));
  base[0] = 5;
  const tl_arena_mark mark = tl_arena_get_mark(&arena);
  for (size_t n = 1000; n < 1000000; n += n / 4) {
    CHECK_OK(take_ints(&arena, n, &p));
    memset(p, 1, n * sizeof *p);
    CHECK_OK(take_ints(&arena, n / 2, &p));
    memset(p, 2, n / 2 * sizeof *p);
    tl_arena_release(&arena, mark);
  }
  CHECK_EQ_U64(base[0], 5);
  tl_arena_free(&arena);
  CHECK_EQ_U64(tl_memory_count().bytes, held);
}

TEST(an_arena_refuses_what_cannot_be_and_goes_on) {
  tl_arena arena = {0};
  int *p = NULL;
  CHECK(take_ints(&arena, SIZE_MAX / 4 + 2, &p) == TALUS_ERROR_MEMORY); /* would wrap to 4 bytes */
  CHECK(take_ints(&arena, SIZE_MAX, &p) == TALUS_ERROR_MEMORY);
  CHECK(take_ints(&arena, (size_t)1 << 58, &p) == TALUS_ERROR_MEMORY);
  CHECK(p == NULL && arena.in_use == 0);
  CHECK_OK(take_ints(&arena, 10, &p));
  p[9] = 1;
  CHECK(take_ints(&arena, (size_t)1 << 58, &p) == TALUS_ERROR_MEMORY);
  CHECK_OK(tl_arena_reset(&arena));
  CHECK_OK(take_ints(&arena, 10, &p));
  tl_arena_free(&arena);
}

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

TEST(the_sanitizer_sees_scratch_that_nobody_holds) {
  tl_arena arena = {0};
  int *kept, *released;
  CHECK_OK(take_ints(&arena, 10, &kept));
  CHECK(!__asan_address_is_poisoned(kept + 9) && __asan_address_is_poisoned(kept + 10));
  const tl_arena_mark mark = tl_arena_get_mark(&arena);
  CHECK_OK(take_ints(&arena, 10, &released));
  CHECK(!__asan_address_is_poisoned(released));
  tl_arena_release(&arena, mark);
  CHECK(__asan_address_is_poisoned(released) && !__asan_address_is_poisoned(kept));
  CHECK_OK(tl_arena_reset(&arena));
  CHECK(__asan_address_is_poisoned(kept));
  tl_arena_free(&arena);
}
#endif

TEST(resetting_and_freeing_an_empty_arena_is_fine) {
  tl_arena arena = {0};
  CHECK_OK(tl_arena_reset(&arena));
  CHECK_EQ_U64(chunks_held(&arena), 0);
  tl_arena_free(&arena);
}

TEST_MAIN()
