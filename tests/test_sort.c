#include "base/sort.h"

#include "base/random.h"
#include "check.h"

#define talus_last_error tl_last_message /* what CHECK_OK prints */

static const int thread_counts[] = {1, 2, 3, 4};
#define THREAD_COUNTS (sizeof thread_counts / sizeof *thread_counts)
#define MOST          30011

/* ---- the slow reference: qsort by (masked key, place), which is what stable means ------------ */

typedef struct entry {
  uint64_t masked, key;
  size_t place;
} entry;

static int compare_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->masked != y->masked)
    return x->masked < y->masked ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static entry reference[MOST];
static uint64_t given[MOST], keys64[MOST];
static uint32_t keys32[MOST], payload[MOST];

static void sort_reference(size_t n, int bits, bool wide) {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t key = wide ? given[i] : (uint32_t)given[i];
    const uint64_t mask = bits == 0 ? 0 : ~UINT64_C(0) >> (64 - bits);
    reference[i] = (entry){key & mask, key, i};
  }
  qsort(reference, n, sizeof *reference, compare_entries);
}

/* ---- inputs that have tripped radix sorts ---------------------------------------------------- */

enum { RANDOM, EQUAL, SORTED, REVERSED, FEW, TWO_FIELDS, LAST_BIT, ALMOST_SORTED, KINDS };

static void make_keys(int kind, size_t n) {
  tl_random random = tl_random_start(11, (uint32_t)kind, n);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t high = tl_random_u32(&random), low = tl_random_u32(&random);
    const uint64_t values[KINDS] = {
        [RANDOM] = high << 32 | low,
        [EQUAL] = UINT64_C(0xDEADBEEF12345678),
        [SORTED] = (uint64_t)i * 977,
        [REVERSED] = (uint64_t)(n - i) * 977,
        [FEW] = low % 5 * UINT64_C(0x4000000000000001),
        [TWO_FIELDS] = (high % 300) << 40 | low % 300, /* like two ids in one key */
        [LAST_BIT] = (high & 1) << 63 | (low & 1) << 31 | 42,
        [ALMOST_SORTED] = (uint64_t)i * 16 + low % 64,
    };
    given[i] = values[kind];
  }
}

static const char *const kind_names[KINDS] = {"random", "equal",      "sorted",   "reversed",
                                              "few",    "two fields", "last bit", "almost sorted"};

static void check_sort(tl_arena *arena, int threads, size_t n, int bits, int kind, bool wide,
                       bool paired) {
  for (size_t i = 0; i < n; ++i) {
    keys64[i] = given[i];
    keys32[i] = (uint32_t)given[i];
    payload[i] = (uint32_t)i;
  }
  uint32_t *load = paired ? payload : NULL;
  const tl_par par = {.threads = threads};
  CHECK_OK(wide ? tl_sort_u64(&par, arena, keys64, load, n, bits)
                : tl_sort_u32(&par, arena, keys32, load, n, bits));
  CHECK_EQ_U64(arena->in_use, 0);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t key = wide ? keys64[i] : keys32[i];
    CHECK_MSG(key == reference[i].key && (!paired || payload[i] == reference[i].place),
              "%s keys, n %zu, %d of %d bits, %d threads, at %zu", kind_names[kind], n, bits,
              wide ? 64 : 32, threads, i);
  }
}

/* Keys keep their bits beyond `bits`, which do not take part; with payload the result proves
 * stability, because equal keys must keep their order. */
static void check_size_with(tl_arena *arena, int threads, size_t n) {
  const int bit_counts[] = {0, 1, 8, 9, 31, 32, 41, 64};
  for (int kind = 0; kind < KINDS; ++kind) {
    make_keys(kind, n);
    for (size_t b = 0; b < sizeof bit_counts / sizeof *bit_counts; ++b) {
      for (int wide = bit_counts[b] > 32; wide < 2; ++wide) {
        sort_reference(n, bit_counts[b], wide);
        check_sort(arena, threads, n, bit_counts[b], kind, wide, true);
        if (threads <= 2)
          check_sort(arena, threads, n, bit_counts[b], kind, wide, false);
      }
    }
  }
}

/* Threads in the outermost loop: changing their number is what takes time. */
static void check_size(size_t n) {
  tl_arena arena = {0};
  for (size_t t = 0; t < THREAD_COUNTS; ++t)
    check_size_with(&arena, thread_counts[t], n);
  tl_arena_free(&arena);
}

TEST(tiny_arrays_are_sorted_like_the_reference) {
  for (size_t n = 0; n < 70; n += n < 4 ? 1 : 11)
    check_size(n);
}

TEST(serial_arrays_are_sorted_like_the_reference) {
  check_size(47);
  check_size(48);
  check_size(2047);
}

TEST(parallel_arrays_are_sorted_like_the_reference) {
  check_size(2048);
  check_size(2049);
}

TEST(large_arrays_are_sorted_like_the_reference) {
  tl_arena arena = {0};
  for (size_t t = 0; t < THREAD_COUNTS; ++t) {
    for (int kind = 0; kind < KINDS; ++kind) {
      make_keys(kind, MOST);
      for (int wide = 0; wide < 2; ++wide) {
        sort_reference(MOST, wide ? 64 : 32, wide);
        check_sort(&arena, thread_counts[t], MOST, wide ? 64 : 32, kind, wide, true);
      }
    }
  }
  tl_arena_free(&arena);
}

/* Keys that fall in one place only, at or next to where one worker's part ends. */
TEST(disorder_at_a_seam_is_noticed) {
  tl_arena arena = {0};
  for (size_t t = 0; t < THREAD_COUNTS; ++t) {
    const size_t parts = (size_t)thread_counts[t];
    for (size_t n = 4000; n < 4004; ++n) {
      for (size_t fall = n / parts - 2; fall < n && fall < n / parts + 3; ++fall) {
        for (size_t i = 0; i < n; ++i)
          given[i] = i < fall ? 100 + i : i - fall;
        sort_reference(n, 64, true);
        check_sort(&arena, thread_counts[t], n, 64, SORTED, true, true);
      }
    }
  }
  tl_arena_free(&arena);
}

TEST(a_warm_sort_allocates_nothing) {
  tl_arena arena = {0};
  uint64_t warm = 0;
  make_keys(RANDOM, MOST);
  sort_reference(MOST, 64, true);
  for (int step = 0; step < 4; ++step) {
    if (step == 2)
      warm = tl_memory_count().allocations;
    check_sort(&arena, 2, MOST, 64, RANDOM, true, true);
    CHECK_OK(tl_arena_reset(&arena));
  }
  CHECK_EQ_U64(tl_memory_count().allocations, warm);
  tl_arena_free(&arena);
}

/* ---- prefix sums ----------------------------------------------------------------------------- */

TEST(scans_agree_with_a_running_sum) {
  static uint32_t values32[70001];
  static uint64_t values64[70001];
  const size_t sizes[] = {0, 1, 2, 16383, 16384, 16385, 50000, 70001};
  tl_arena arena = {0};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    const size_t n = sizes[s];
    for (size_t t = 0; t < THREAD_COUNTS; ++t) {
      for (size_t i = 0; i < n; ++i) {
        values32[i] = (uint32_t)(i * 2654435761u % 60000);
        values64[i] = (uint64_t)values32[i] << 20;
      }
      const tl_par par = {.threads = thread_counts[t]};
      uint64_t total32 = 1, total64 = 1, sum = 0;
      CHECK_OK(tl_scan_u32(&par, &arena, values32, n, &total32));
      CHECK_OK(tl_scan_u64(&par, &arena, values64, n, &total64));
      for (size_t i = 0; i < n; ++i) {
        CHECK_EQ_U64(values32[i], sum);
        CHECK_EQ_U64(values64[i], sum << 20);
        sum += (uint32_t)(i * 2654435761u % 60000);
      }
      CHECK_EQ_U64(total32, sum);
      CHECK_EQ_U64(total64, sum << 20);
      CHECK_EQ_U64(arena.in_use, 0);
    }
  }
  tl_arena_free(&arena);
}

TEST(a_total_beyond_32_bits_is_refused_and_named) {
  enum { N = 20000 };
  static uint32_t values[N];
  tl_arena arena = {0};
  for (size_t t = 0; t < THREAD_COUNTS; ++t) {
    const tl_par par = {.threads = thread_counts[t]};
    uint64_t total = 0;
    memset(values, 0, sizeof values);
    values[3] = UINT32_MAX - 10;
    values[N - 2] = 10;
    CHECK_OK(tl_scan_u32(&par, &arena, values, N, &total));
    CHECK_EQ_U64(total, UINT32_MAX);
    CHECK_EQ_U64(values[N - 1], UINT32_MAX);

    memset(values, 0, sizeof values);
    values[3] = UINT32_MAX - 10;
    values[N - 2] = 11;
    CHECK(tl_scan_u32(&par, &arena, values, N, &total) == TALUS_ERROR_UNSUPPORTED);
    CHECK_MSG(strstr(tl_last_message(), "4294967296"), "it says: %s", tl_last_message());
    CHECK(values[3] == UINT32_MAX - 10 && values[N - 2] == 11 && values[N - 1] == 0);
    CHECK_EQ_U64(arena.in_use, 0);
  }
  tl_arena_free(&arena);
}

TEST(bits_are_counted) {
  CHECK_EQ_U64(tl_bits_u64(0), 0);
  for (int bit = 0; bit < 64; ++bit) {
    CHECK_EQ_U64(tl_bits_u64(UINT64_C(1) << bit), bit + 1);
    CHECK_EQ_U64(tl_bits_u64((UINT64_C(1) << bit) | (UINT64_C(1) << bit) >> 1 | 1), bit + 1);
    CHECK_EQ_U64(tl_bits_u64(~UINT64_C(0) >> bit), 64 - bit);
  }
}

TEST_MAIN()
