/* The order of solver bodies and their tiles, against sorting by cell. */
#include "base/random.h"
#include "check.h"
#include "solve/system/system.h"

#include <math.h>

#define MOST 50000

static talus_dvec3 position[MOST];
static uint32_t flags[MOST], members[MOST];

typedef struct keyed {
  uint32_t key, member;
} keyed;

static int by_key(const void *x, const void *y) {
  const keyed *p = x, *q = y;
  if (p->key != q->key)
    return p->key < q->key ? -1 : 1;
  return (p->member > q->member) - (p->member < q->member);
}

/* A crowd in a box that is not a cube, far from the origin, a few of them far from the others. */
static void scatter(uint64_t seed) {
  tl_random random = tl_random_start(seed, 1, 0);
  for (size_t i = 0; i < MOST; ++i) {
    const double far = i % 997 == 5 ? 1000 : 1;
    position[i] = tl_dvec3(1e3 + far * tl_random_unit(&random),
                           -5 + 3 * far * tl_random_unit(&random), 0.1 * tl_random_unit(&random));
    flags[i] = i % 61 == 0 ? TL_FLAG_FIXED : i % 67 == 0 ? TL_FLAG_KINEMATIC : 0;
  }
}

static double coordinate(size_t slot, int axis) {
  return axis == 0 ? position[slot].x : axis == 1 ? position[slot].y : position[slot].z;
}

/* Bit b of axis k is bit 3 b + k of the key (Morton 1966); cells as solve/system/order.c says. */
static void sort_by_cell(const tl_crowd *crowd, int bits, keyed *sorted) {
  long double mean[3] = {0}, square[3] = {0}, count = 0;
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    if (flags[slot])
      continue;
    count += 1;
    for (int k = 0; k < 3; ++k) {
      mean[k] += coordinate(slot, k);
      square[k] += (long double)coordinate(slot, k) * coordinate(slot, k);
    }
  }
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    sorted[i] = (keyed){flags[slot] ? UINT32_MAX : 0, (uint32_t)i};
    for (int k = 0; k < 3 && !flags[slot]; ++k) {
      const long double middle = mean[k] / count;
      const long double deviation = sqrtl(square[k] / count - middle * middle);
      const long double side = 4 * deviation / (1 << bits);
      const long double at = (coordinate(slot, k) - (middle - 2 * deviation)) / side;
      const uint32_t cell = (uint32_t)fminl(fmaxl(at, 0), (1 << bits) - 1);
      for (int b = 0; b < bits; ++b)
        sorted[i].key |= (cell >> b & 1) << (3 * b + k);
    }
  }
  qsort(sorted, crowd->count, sizeof *sorted, by_key);
}

static void check_order(tl_crowd *crowd, int bits) {
  static keyed sorted[MOST];
  sort_by_cell(crowd, bits, sorted);
  size_t movable = 0;
  while (movable < crowd->count && sorted[movable].key != UINT32_MAX)
    movable++;
  const int threads[] = {1, 2, 3, 8};
  for (int t = 0; t < 4; ++t) {
    tl_model model = {.bodies = MOST, .par = {.threads = threads[t]}, .property = {.flags = flags}};
    tl_system system = {.model = &model, .crowd = crowd};
    const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
    CHECK_OK(tl_system_order(&system));
    const size_t each = movable / 64 < 512 ? 512 : movable / 64 > 4096 ? 4096 : movable / 64;
    CHECK_EQ_U64(system.tiles.count, (movable + each - 1) / each);
    for (size_t i = 0; i < crowd->count; ++i) {
      const uint32_t member = sorted[i].member, slot = tl_crowd_slot(crowd, member);
      CHECK_EQ_U64(system.rank[member], i);
      CHECK_EQ_U64(system.index_of[slot], i);
      CHECK_EQ_U64(system.tiles.of[slot], i < movable ? i / each : TL_NONE);
    }
    tl_arena_release(crowd->arena, mark);
  }
}

TEST(bodies_are_in_the_order_of_their_cells_for_any_number_of_threads) {
  tl_arena arena = {0};
  tl_state state = {.position = position};
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    scatter(seed);
    tl_crowd all = {.count = MOST, .arena = &arena, .in = &state};
    check_order(&all, 5);
    all.count = 4096;
    check_order(&all, 4);
    tl_crowd some = {.members = members, .arena = &arena, .in = &state};
    for (uint32_t slot = 0; slot < MOST; slot += 1 + slot % 3)
      members[some.count++] = slot;
    check_order(&some, 4);
  }
  tl_arena_free(&arena);
}

TEST(bodies_at_one_place_or_none_that_moves_keep_their_order) {
  tl_arena arena = {0};
  tl_state state = {.position = position};
  tl_crowd all = {.count = 5000, .arena = &arena, .in = &state};
  for (int fixed = 0; fixed < 2; ++fixed) {
    for (size_t i = 0; i < MOST; ++i) {
      position[i] = tl_dvec3(1, 2, 3);
      flags[i] = fixed ? TL_FLAG_FIXED : 0;
    }
    tl_model model = {.bodies = MOST, .par = {.threads = 2}, .property = {.flags = flags}};
    tl_system system = {.model = &model, .crowd = &all};
    CHECK_OK(tl_system_order(&system));
    CHECK_EQ_U64(system.tiles.count, fixed ? 0 : 10);
    for (size_t i = 0; i < all.count; ++i)
      CHECK_EQ_U64(system.rank[i], i);
  }
  tl_arena_free(&arena);
}

TEST_MAIN()
