/* The order of solver bodies and their tiles, against sorting by cell; packs and blocks of
 * contacts, against what they are for. */
#include "base/random.h"
#include "physics/rig.h"
#include "solve/ccp/ccp.h"
#include "world/world.h"

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

/* ---- packs ----------------------------------------------------------------------------------- */

/* A wall of boxes, with two contacts to four a pair, and a few balls on it. */
static talus_world *build_wall(int columns, int rows) {
  talus_world_def def = rig_def(2e-3);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_shape box = rig_shape(world, TALUS_BOX, 1, 1, 1, 0);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.5, 0, 0, 0);
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < columns; ++i)
      rig_body(world, TALUS_FREE, box, m, 1.001 * (i + 0.5 * (row % 2)), 0, 0.5 + row);
  for (int i = 0; i < columns; i += 3)
    rig_body(world, TALUS_FREE, ball, m, 1.001 * i, 0, rows + 0.5);
  CHECK_OK(talus_world_step(world, 2));
  return world;
}

static bool share_body(const tl_model *model, const tl_contact *c, const tl_contact *d) {
  const uint32_t of_c[2] = {c->a, c->b};
  for (int i = 0; i < 2; ++i)
    if (!tl_body_is_static(model, of_c[i]) && (of_c[i] == d->a || of_c[i] == d->b))
      return true;
  return false;
}

static bool are_one_pair(const tl_contact *c, const tl_contact *d) {
  return c->a == d->a && c->b == d->b;
}

/* The pair of a row has its other rows in the same lane of packs beside it. Returns how many packs
 * follow one with the same pairs. */
static size_t check_packs(const tl_ccp *job, const tl_ccp_part *part) {
  const tl_contact *data = job->system->contacts->data;
  const uint32_t *start = job->rows.pack_row + part->first_pack;
  size_t runs = 0, seen = 0;
  for (size_t k = 0; k < part->rows.pack_count; ++k) {
    const uint32_t rows = start[k + 1] - start[k];
    CHECK(rows > 0 && rows <= TL_CCP_LANES);
    seen += rows;
    bool follows = k > 0 && rows <= start[k] - start[k - 1];
    for (uint32_t i = 0; i < rows; ++i) {
      const tl_contact *c = &data[job->rows.contact[start[k] + i]];
      for (uint32_t j = 0; j < i; ++j)
        CHECK(!share_body(job->system->model, c, &data[job->rows.contact[start[k] + j]]));
      follows = follows && are_one_pair(c, &data[job->rows.contact[start[k - 1] + i]]);
    }
    runs += follows;
  }
  CHECK_EQ_U64(seen, part->rows.count);
  return runs;
}

/* Blocks of a colour may be worked on at once. */
static void check_blocks(const tl_ccp *job, const tl_ccp_part *part) {
  const tl_contact *data = job->system->contacts->data;
  const uint32_t *start = job->rows.pack_row + part->first_pack;
  CHECK_EQ_U64(part->block_pack[part->block_count], part->rows.pack_count);
  for (size_t k = 0; k < part->colours.count; ++k) {
    CHECK(!part->colours.serial[k]);
    for (size_t b = part->colour_block[k]; b < part->colour_block[k + 1]; ++b)
      for (size_t d = b + 1; d < part->colour_block[k + 1]; ++d)
        for (uint32_t i = start[part->block_pack[b]]; i < start[part->block_pack[b + 1]]; ++i)
          for (uint32_t j = start[part->block_pack[d]]; j < start[part->block_pack[d + 1]]; ++j)
            CHECK(!share_body(job->system->model, &data[job->rows.contact[i]],
                              &data[job->rows.contact[j]]));
  }
}

static void check_plan(int columns, int rows) {
  talus_world *world = build_wall(columns, rows);
  tl_solve_report report = {0};
  const tl_crowd crowd = {.model = &world->model,
                          .count = world->model.bodies,
                          .t1 = 2e-3,
                          .dt = 2e-3,
                          .in = &world->state,
                          .out = &world->state,
                          .arena = &world->arena};
  tl_system system;
  tl_ccp job = {.system = &system};
  CHECK_OK(tl_system_begin(&system, &crowd, &world->contacts, &report));
  CHECK_OK(tl_system_order(&system));
  CHECK_OK(tl_system_load_bodies(&system));
  CHECK_OK(tl_ccp_plan_parts(&job, NULL, NULL, 0));
  uint8_t *seen = calloc(world->contacts.count, 1);
  CHECK(seen != NULL);
  for (size_t row = 0; row < job.rows.count; ++row)
    CHECK(seen[job.rows.contact[row]]++ == 0);
  free(seen);
  CHECK_EQ_U64(job.rows.count, world->contacts.count);
  size_t runs = 0, packs = 0;
  for (size_t i = 0; i < job.part_count; ++i) {
    runs += check_packs(&job, &job.parts[i]);
    packs += job.parts[i].rows.pack_count;
    check_blocks(&job, &job.parts[i]);
  }
  CHECK_MSG(2 * runs > packs, "%zu of %zu packs follow one with their pairs", runs, packs);
  talus_world_destroy(world);
}

TEST(contacts_of_a_pair_stand_in_one_lane_of_packs_that_follow_each_other) {
  check_plan(8, 6);
  check_plan(60, 12); /* several blocks of a colour */
}
