/* Candidate pairs in order: by counters and by radix sort, against qsort. */
#include "base/random.h"
#include "broad/broad.h"
#include "check.h"

#include <stdlib.h>

#define talus_last_error tl_last_message /* what CHECK_OK prints */

static int compare_pairs(const void *x, const void *y) {
  const tl_pair *p = x, *q = y;
  if (p->a != q->a)
    return p->a < q->a ? -1 : 1;
  return p->b < q->b ? -1 : p->b > q->b;
}

/* Unique pairs in any order: each body with a few later ones, one of them with very many. */
static size_t fill(tl_pair *pairs, size_t bodies, size_t few, size_t most, uint64_t seed) {
  tl_random random = tl_random_start(seed, 3, 0);
  size_t count = 0;
  for (uint32_t a = 0; a + 1 < bodies; ++a) {
    const size_t wanted = a == bodies / 3 ? most : (size_t)(tl_random_unit(&random) * (double)few);
    const size_t room = bodies - 1 - a, n = wanted < room ? wanted : room;
    for (size_t i = 0; i < n; ++i)
      pairs[count++] = (tl_pair){a, a + 1 + (uint32_t)(i * (room / n))};
  }
  for (size_t i = count; i > 1; --i) {
    const size_t j = (size_t)(tl_random_unit(&random) * (double)i);
    const tl_pair pair = pairs[i - 1];
    pairs[i - 1] = pairs[j], pairs[j] = pair;
  }
  return count;
}

static void check_order(size_t bodies, size_t few, size_t most, int threads) {
  const size_t room = bodies * few + most + 1;
  tl_pair *pairs = malloc(room * sizeof *pairs), *right = malloc(room * sizeof *right);
  CHECK(pairs && right);
  tl_arena arena = {0};
  tl_model model = {.bodies = bodies, .par = {.threads = threads}};
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    tl_pairs list = {.data = pairs, .count = fill(pairs, bodies, few, most, seed)};
    memcpy(right, pairs, list.count * sizeof *right);
    qsort(right, list.count, sizeof *right, compare_pairs);
    CHECK_OK(tl_broad_sort_pairs(&model, &arena, &list));
    CHECK_MSG(memcmp(pairs, right, list.count * sizeof *right) == 0,
              "%zu bodies, up to %zu and %zu pairs, %d threads, seed %d", bodies, few, most,
              threads, (int)seed);
  }
  tl_arena_free(&arena);
  free(pairs);
  free(right);
}

TEST(pairs_are_in_order_whatever_the_runs_and_threads) {
  for (int threads = 1; threads <= 3; ++threads) {
    check_order(2, 2, 1, threads);
    check_order(50, 4, 20, threads);
    check_order(3000, 5, 0, threads);
    check_order(3000, 12, 1500, threads);
    check_order(1000, 120, 600, threads);
  }
}

TEST(pairs_of_more_bodies_than_counters_are_in_order) {
  check_order(200000, 3, 0, 1);
  check_order(200000, 11, 5000, 2);
  check_order(200000, 3, 100000, 2);
}

TEST(few_pairs_of_many_bodies_are_in_order) { check_order(20000, 1, 100, 2); }

TEST_MAIN()
