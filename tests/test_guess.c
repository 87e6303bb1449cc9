/* Last step's normals as guesses: the same contacts as without, over threads and restarts, and no
 * price where there is nothing to guess. The search without a guess is the slow reference. */
#include "broad/broad.h"
#include "check.h"
#include "contact/history.h"
#include "narrow/narrow.h"
#include "world/world.h"

#include <talus/talus.h>
#include <time.h>

#define HULL_POINTS 80

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* On an ellipsoid, in a spiral: a stone of many faces. */
static void many_points(double *p) {
  for (int i = 0; i < HULL_POINTS; ++i) {
    const double z = 1 - (2.0 * i + 1) / HULL_POINTS, angle = 2.399963 * i, r = sqrt(1 - z * z);
    p[3 * i] = 0.05 * r * cos(angle), p[3 * i + 1] = 0.04 * r * sin(angle), p[3 * i + 2] = 0.03 * z;
  }
}

typedef enum mix { MIX_ALL, MIX_BOXES, MIX_CYLINDERS, MIX_HULLS, MIX_STONES, MIX_ELLIPSOIDS } mix;

static int shapes_of(mix which, talus_shape_def *def) {
  static const double brick[] = {-0.05, -0.03, -0.02, 0.05, -0.03, -0.02, 0.05, 0.03, -0.02,
                                 -0.05, 0.03,  -0.02, 0,    -0.02, 0.03,  0,    0.02, 0.03};
  static double stone[3 * HULL_POINTS];
  many_points(stone);
  const talus_shape_def all[] = {
      {.kind = TALUS_BOX, .size = {0.1, 0.06, 0.05}},
      {.kind = TALUS_CYLINDER, .size = {0.03, 0.08}},
      {.kind = TALUS_HULL, .points = brick, .point_count = 6},
      {.kind = TALUS_HULL, .points = stone, .point_count = HULL_POINTS},
      {.kind = TALUS_ELLIPSOID, .size = {0.05, 0.04, 0.03}},
      {.kind = TALUS_CONE, .size = {0.04, 0.08}},
      {.kind = TALUS_CAPSULE, .size = {0.025, 0.05}},
      {.kind = TALUS_SPHERE, .size = {0.035}},
  };
  const int count = sizeof all / sizeof *all;
  for (int i = 0; i < count; ++i)
    def[i] = which == MIX_ALL ? all[i] : all[which - MIX_BOXES];
  return which == MIX_ALL ? count : 1;
}

static talus_world *heap(mix which, int bodies, int threads) {
  talus_world_def def = talus_world_def_default();
  def.threads = threads;
  def.dt = 2e-3;
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def material = talus_material_def_default();
  talus_shape_def shape[8], walls = {.kind = TALUS_CONTAINER, .size = {0.6, 0.6, 6}};
  talus_body_def body = talus_body_def_default(), ground = talus_body_def_default();
  const int kinds = shapes_of(which, shape);
  talus_shape made[8];
  CHECK_OK(talus_world_add_material(world, &material, &body.material));
  for (int k = 0; k < kinds; ++k)
    CHECK_OK(talus_world_add_shape(world, &shape[k], &made[k]));
  CHECK_OK(talus_world_add_shape(world, &walls, &ground.shape));
  ground.material = body.material, ground.kind = TALUS_FIXED;
  ground.position.z = 3;
  CHECK_OK(talus_world_add_body(world, &ground, NULL));
  for (int i = 0; i < bodies; ++i) {
    body.shape = made[i % kinds];
    body.position =
        (talus_dvec3){-0.24 + 0.12 * (i % 5) + 0.001 * (i % 7),
                      -0.24 + 0.12 * (i / 5 % 5) + 0.001 * (i % 3), 0.08 + 0.12 * (i / 25)};
    body.rotation = tl_quat_normalize(
        tl_quat(1, TL_R(0.3 * (i % 3)), TL_R(0.2 * (i % 5)), TL_R(0.4 * (i % 4))));
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  return world;
}

/* ---- the same contacts ---------------------------------------------------------------------- */

typedef struct search {
  tl_contacts contacts;
  size_t pairs;
  double seconds;
} search;

/* The contacts of the world as it stands, `times` over; with axes of pairs that missed, or NULL. */
static search find(talus_world *world, bool guess, tl_kept_axes *kept, int times) {
  const tl_model *model = &world->model;
  search s = {0};
  CHECK_OK(tl_arena_reset(&world->arena));
  tl_crowd crowd = {.model = model,
                    .count = model->bodies,
                    .dt = model->dt,
                    .in = &world->state,
                    .out = &world->state,
                    .kept_axes = kept,
                    .arena = &world->arena};
  talus_real *margins = NULL;
  talus_box *boxes = NULL;
  tl_pairs pairs = {0};
  CHECK_OK(tl_arena_take(crowd.arena, model->bodies, sizeof *margins, (void **)&margins));
  CHECK_OK(tl_arena_take(crowd.arena, model->bodies, sizeof *boxes, (void **)&boxes));
  CHECK_OK(world->backend->find_bounds(&crowd, boxes, margins));
  CHECK_OK(world->backend->find_pairs(TALUS_BROAD_BINS, &crowd, boxes, &pairs));
  s.pairs = pairs.count;
  const double begun = cpu_seconds();
  for (int i = 0; i < times; ++i) {
    crowd.contacts_before = guess ? &world->contacts : NULL;
    s.contacts.count = 0;
    CHECK_OK(world->backend->find_contacts(&crowd, &pairs, margins, &s.contacts));
  }
  s.seconds = (cpu_seconds() - begun) / times;
  return s;
}

/* Deepest contact of the pair that begins at i; *next is the pair after it. */
static const tl_contact *deepest(const tl_contacts *set, size_t i, size_t *next) {
  const tl_contact *first = &set->data[i], *best = first;
  for (*next = i; *next < set->count; ++*next) {
    const tl_contact *c = &set->data[*next];
    if (c->a != first->a || c->b != first->b)
      break;
    best = c->gap < best->gap ? c : best;
  }
  return best;
}

static void check_same(const tl_contacts *cold, const tl_contacts *warm) {
  double gap = 0, turn = 0;
  size_t i = 0, j = 0;
  while (i < cold->count && j < warm->count) {
    const tl_contact *c = deepest(cold, i, &i), *w = deepest(warm, j, &j);
    CHECK(c->a == w->a && c->b == w->b);
    gap = fmax(gap, fabs((double)(c->gap - w->gap)));
    turn = fmax(turn, (double)tl_length(tl_sub(c->normal, w->normal)));
    /* The least depth is what both look for; where two directions tie the gap alone is theirs. */
    CHECK_NEAR(c->gap, w->gap, TALUS_SINGLE ? 1e-7 : 1e-8);
  }
  CHECK(i == cold->count && j == warm->count);
  printf("  gaps differ by %.1e m, normals by %.1e\n", gap, turn);
}

TEST(guesses_change_no_contact_of_a_heap) {
  for (mix which = MIX_ALL; which <= (check_is_short() ? MIX_ALL : MIX_ELLIPSOIDS); ++which) {
    talus_world *world = heap(which, 200, 1);
    CHECK_OK(talus_world_step(world, check_is_short() ? 190 : 250));
    search cold = find(world, false, NULL, 5), warm = find(world, true, NULL, 5);
    CHECK(cold.contacts.count > 400);
    printf("  mix %d, %zu pairs, %zu contacts: %.2f us a pair, with guesses %.2f\n", (int)which,
           cold.pairs, cold.contacts.count, 1e6 * cold.seconds / (double)cold.pairs,
           1e6 * warm.seconds / (double)cold.pairs);
    check_same(&cold.contacts, &warm.contacts);
    tl_array_free(&cold.contacts);
    tl_array_free(&warm.contacts);
    talus_world_destroy(world);
  }
}

/* ---- axes of pairs that missed --------------------------------------------------------------- */

/* Bodies are removed on the way: axes may be those of other pairs then. */
TEST(kept_axes_change_no_bit_along_a_history) {
  talus_world *world = heap(MIX_ALL, 80, 1);
  tl_kept_axes kept = {0};
  size_t most = 0;
  for (int step = 0; step < (check_is_short() ? 60 : 200); ++step) {
    CHECK_OK(talus_world_step(world, 1));
    if (step % 40 == 39) {
      talus_body body;
      CHECK_OK(talus_world_body_at(world, 7, &body));
      CHECK_OK(talus_world_remove_body(world, body));
    }
    search without = find(world, true, NULL, 1), with = find(world, true, &kept, 1);
    CHECK_EQ_U64(with.contacts.count, without.contacts.count);
    CHECK(with.contacts.count == 0 ||
          memcmp(with.contacts.data, without.contacts.data,
                 with.contacts.count * sizeof *with.contacts.data) == 0);
    most = kept.before.count > most ? kept.before.count : most;
    for (size_t i = 1; i < kept.before.count; ++i) {
      const tl_pair a = kept.before.data[i - 1].pair, b = kept.before.data[i].pair;
      CHECK(a.a < b.a || (a.a == b.a && a.b < b.b));
    }
    tl_array_free(&without.contacts);
    tl_array_free(&with.contacts);
  }
  printf("  up to %zu axes\n", most);
  CHECK(check_is_short() || most > 50); /* in a few steps nobody has come down */
  tl_kept_free(&kept);
  talus_world_destroy(world);
}

TEST(a_world_whose_pairs_missed_has_their_axes) {
  talus_world *world = heap(MIX_STONES, 60, 1);
  CHECK_OK(talus_world_step(world, 150));
  CHECK(world->kept_axes.before.count > 20);
  size_t parted = 0;
  const tl_crowd crowd = {.model = &world->model, .in = &world->state};
  for (size_t i = 0; i < world->kept_axes.before.count; ++i)
    parted += tl_kept_parts(&crowd, 0, &world->kept_axes.before.data[i]);
  CHECK_MSG(10 * parted > 9 * world->kept_axes.before.count, "%zu of %zu still part", parted,
            world->kept_axes.before.count);
  talus_world_destroy(world);
  world = heap(MIX_ELLIPSOIDS, 60, 1);
  CHECK_OK(talus_world_step(world, 40));
  CHECK(world->kept_axes.before.capacity == 0);
  talus_world_destroy(world);
}

/* ---- who guesses ---------------------------------------------------------------------------- */

TEST(a_pair_finds_its_own_guess_and_no_other) {
  tl_contact data[] = {{.a = 1, .b = 2}, {.a = 1, .b = 5}, {.a = 4, .b = 5}, {.a = 4, .b = 9}};
  const tl_contacts g = {.data = data, .count = 4};
  size_t cursor = tl_history_find(&g, (tl_pair){1, 4});
  CHECK_EQ_U64(cursor, 1);
  CHECK(tl_history_next(&g, (tl_pair){1, 4}, &cursor) == NULL);
  CHECK(tl_history_next(&g, (tl_pair){1, 5}, &cursor) == &data[1]);
  CHECK(tl_history_next(&g, (tl_pair){2, 3}, &cursor) == NULL);
  CHECK(tl_history_next(&g, (tl_pair){4, 9}, &cursor) == &data[3]);
  CHECK(tl_history_next(&g, (tl_pair){5, 6}, &cursor) == NULL);
  CHECK_EQ_U64(tl_history_find(&g, (tl_pair){9, 9}), 4);
}

TEST(scenes_without_a_search_use_no_guesses) {
  talus_world *all = heap(MIX_ALL, 5, 1), *ellipsoids = heap(MIX_ELLIPSOIDS, 5, 1);
  CHECK(tl_narrow_uses_guesses(&all->model) && !tl_narrow_uses_guesses(&ellipsoids->model));
  talus_world_destroy(all);
  talus_world_destroy(ellipsoids);
}

/* ---- the same bits -------------------------------------------------------------------------- */

TEST(a_heap_of_all_shapes_is_the_same_for_any_number_of_threads) {
  SKIP_IF_SHORT_UNLESS_RACES_COUNT();
  uint64_t hash[3];
  const int threads[3] = {1, 2, 5};
  for (int i = 0; i < 3; ++i) {
    talus_world *world = heap(MIX_ALL, 150, threads[i]);
    CHECK_OK(talus_world_step(world, 200));
    hash[i] = talus_world_hash(world);
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[1], hash[0]);
  CHECK_EQ_U64(hash[2], hash[0]);
}

TEST(a_restarted_heap_guesses_the_same) {
  talus_world *world = heap(MIX_ALL, 150, 1), *again = NULL;
  CHECK_OK(talus_world_step(world, 150));
  if (talus_world_save(world, "guess.hdf") == TALUS_ERROR_UNSUPPORTED) {
    talus_world_destroy(world);
    SKIP("a build without HDF5 has no files");
  }
  CHECK_OK(talus_world_load("guess.hdf", &again));
  CHECK_OK(talus_world_step(world, 60));
  CHECK_OK(talus_world_step(again, 60));
  CHECK_EQ_U64(talus_world_hash(again), talus_world_hash(world));
  talus_world_destroy(world);
  talus_world_destroy(again);
}

/* A cylinder on a cylinder, both upright, a hull on a hull: many directions are as good as each
 * other, and the one that was chosen stays. */
TEST(symmetric_stacks_keep_their_normals) {
  static const double cube[] = {-0.05, -0.05, -0.05, 0.05,  -0.05, -0.05, -0.05, 0.05,
                                -0.05, 0.05,  0.05,  -0.05, -0.05, -0.05, 0.05,  0.05,
                                -0.05, 0.05,  -0.05, 0.05,  0.05,  0.05,  0.05,  0.05};
  const talus_shape_def shape[] = {{.kind = TALUS_CYLINDER, .size = {0.05, 0.1}},
                                   {.kind = TALUS_HULL, .points = cube, .point_count = 8}};
  talus_world_def def = talus_world_def_default();
  def.threads = 1, def.dt = 2e-3;
  def.solve.iterations = 200;
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def material = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  talus_shape_def floor = {.kind = TALUS_PLANE, .size = {0, 0, 1, 0}};
  CHECK_OK(talus_world_add_material(world, &material, &body.material));
  CHECK_OK(talus_world_add_shape(world, &floor, &body.shape));
  body.kind = TALUS_FIXED;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  body.kind = TALUS_FREE;
  for (int k = 0; k < 2; ++k) {
    CHECK_OK(talus_world_add_shape(world, &shape[k], &body.shape));
    for (int level = 0; level < 3; ++level) {
      body.position = (talus_dvec3){k, 0, 0.05 + 0.1 * level};
      CHECK_OK(talus_world_add_body(world, &body, NULL));
    }
  }
  for (int step = 0; step < 300; ++step) {
    CHECK_OK(talus_world_step(world, 1));
    CHECK_EQ_U64(world->contacts.count, 2 * 3 * 4);
    for (size_t i = 0; i < world->contacts.count; ++i)
      CHECK_NEAR(fabs((double)world->contacts.data[i].normal.z), 1, 1e-8);
  }
  talus_world_destroy(world);
}

TEST_MAIN()
