/* Rows that pass on torque: eight at a time against one by one, bit by bit; on rows drawn at random
 * and on those of heaps with every law; heaps over threads; momentum. */
#include "base/random.h"
#include "base/isa.h"
#include "physics/rig.h"
#include "solve/ccp/ccp.h"
#include "solve/ccp/visits.h"
#include "world/world.h"

/* ---- rows at random -------------------------------------------------------------------------- */

#define PACKS  40
#define BODIES (2 * TL_CCP_LANES * PACKS + 1)

typedef struct bench {
  tl_ccp_body bodies[BODIES];
  tl_ccp_pack packs[PACKS];
  tl_ccp_arms arms[PACKS];
  tl_ccp_roll rolls[PACKS];
  tl_ccp_tensor tensors[BODIES];
  tl_ccp_numbers frictions[PACKS];
} bench;

/* Which rows resist what. */
typedef enum kind { ROLLING, SPINNING, BOTH, MIXED, KINDS } kind;

static talus_real draw(tl_random *random, double low, double high) {
  return (talus_real)(low + (high - low) * tl_random_unit(random));
}

static talus_vec3 draw_vec(tl_random *random, double size) {
  const talus_real x = draw(random, -size, size), y = draw(random, -size, size);
  return tl_vec3(x, y, draw(random, -size, size));
}

static bool chance(tl_random *random, double share) { return tl_random_unit(random) < share; }

/* One in ten is fixed; with tensors two thirds of the others need theirs. One in five is at rest
 * with zeros of both signs. */
static void fill_body(bench *b, int i, bool tensors, tl_random *random) {
  tl_ccp_body *body = &b->bodies[i];
  body->v = draw_vec(random, 1);
  body->w = draw_vec(random, 5);
  if (chance(random, 0.2))
    body->v = body->w = tl_vec3(0, -TL_R(0.0), 0);
  if (chance(random, 0.1))
    return;
  body->inv_mass = draw(random, 0.5, 3);
  body->inv_inertia = draw(random, 5, 50);
  if (!tensors || i % 3 == 0)
    return;
  body->inv_inertia = -body->inv_inertia;
  b->tensors[i].inv_mass = tl_vec3(i % 5 == 0 ? 0 : 1, 1, draw(random, 0.5, 3));
  const talus_vec3 least = draw_vec(random, 20), across = draw_vec(random, 5);
  b->tensors[i].inv_inertia =
      (tl_sym3){25 + least.x, 25 + least.y, 25 + least.z, across.x, across.y, across.z};
}

static void fill_roll(tl_ccp_roll *roll, uint32_t i, kind what, tl_random *random) {
  const bool rolls = what == ROLLING || what == BOTH || (what == MIXED && chance(random, 0.4));
  const bool spins = what == SPINNING || what == BOTH || (what == MIXED && chance(random, 0.3));
  if (!rolls && !spins)
    return;
  roll->lanes |= 1u << i;
  if (rolls)
    roll->rolling[i] = draw(random, 0, 0.1), roll->er[i] = draw(random, 0.005, 0.05);
  if (spins)
    roll->spinning[i] = draw(random, 0, 0.1), roll->es[i] = draw(random, 0.005, 0.05);
  if (chance(random, 0.7))
    tl_ccp_put_lane(&roll->torque, i, draw_vec(random, 0.02));
}

/* Rows that stick, slide, roll, are open, have no friction, are against a fixed body; and lanes
 * without a row. Rows of which nothing can move do not pass on torque (solve/ccp/rolling.c). */
static void fill_bench(bench *b, uint64_t seed, kind what, bool tensors) {
  tl_random random = tl_random_start(seed, 7, (uint64_t)what);
  memset(b, 0, sizeof *b);
  for (int i = 0; i + 1 < BODIES; ++i)
    fill_body(b, i, tensors, &random);
  for (uint32_t k = 0; k < PACKS; ++k)
    for (uint32_t i = 0; i < TL_CCP_LANES; ++i) {
      tl_ccp_pack *pack = &b->packs[k];
      if (k == PACKS - 1 && i >= 3) {
        pack->a[i] = pack->b[i] = BODIES - 1;
        continue;
      }
      pack->a[i] = 2 * (k * TL_CCP_LANES + i), pack->b[i] = pack->a[i] + 1;
      tl_ccp_put_lane(&pack->normal, i, tl_normalize(draw_vec(&random, 1)));
      tl_ccp_put_lane(&b->arms[k].a, i, draw_vec(&random, 0.3));
      tl_ccp_put_lane(&b->arms[k].b, i, draw_vec(&random, 0.3));
      pack->reach_a[i] = draw(&random, 0, 0.3), pack->reach_b[i] = -draw(&random, 0, 0.3);
      if (chance(&random, 0.7))
        tl_ccp_put_lane(&pack->impulse, i, draw_vec(&random, 0.2));
      pack->bias[i] = draw(&random, -1, 1);
      b->frictions[k].of[i] = chance(&random, 0.2) ? 0 : draw(&random, 0, 1);
      pack->en[i] = chance(&random, 0.05) ? 0 : draw(&random, 0.1, 1);
      pack->et[i] = draw(&random, 0.05, 0.5);
      if (pack->en[i] > 0 && !(what == MIXED && k % 5 == 0))
        fill_roll(&b->rolls[k], i, what, &random);
    }
}

static bool is_same(const tl_ccp_lanes *x, const tl_ccp_lanes *y) {
  return memcmp(x, y, sizeof *x) == 0;
}

/* Packs [0, count) of two jobs that hold the same: warm, then four sweeps, each way. */
static void check_both_ways(const tl_ccp_visits *lanes, const tl_ccp_rows *fast,
                            const tl_ccp_rows *slow, size_t count, int seed) {
  const double work_a = lanes->warm(fast, 0, count, 1);
  const double work_b = tl_ccp_warm_packs_scalar(slow, 0, count, 1);
  CHECK_NEAR(work_a, work_b, TALUS_FAST ? 1e-6 * (1 + fabs(work_b)) : 0);
  for (int sweep = 0; sweep < 4; ++sweep) {
    const double a = lanes->sweep(fast, 0, count);
    const double b = tl_ccp_sweep_packs_scalar(slow, 0, count);
    double most_a, most_b;
    const double ra = lanes->residual(fast, 0, count, &most_a);
    const double rb = tl_ccp_residual_packs_scalar(slow, 0, count, &most_b);
#if TALUS_FAST
    CHECK_NEAR(a, b, 1e-6 * (1 + b));
    CHECK_NEAR(ra, rb, 1e-6 * (1 + rb));
    (void)seed;
#else
    const size_t bytes = (fast->body_count + 1) * sizeof *fast->bodies;
    CHECK_MSG(memcmp(fast->bodies, slow->bodies, bytes) == 0, "bodies differ, seed %d, sweep %d",
              seed, sweep);
    for (size_t k = 0; k < count; ++k)
      CHECK_MSG(is_same(&fast->packs[k].impulse, &slow->packs[k].impulse) &&
                    is_same(&fast->rolls[k].torque, &slow->rolls[k].torque),
                "pack %zu differs, seed %d, sweep %d", k, seed, sweep);
    CHECK_MSG(a == b && ra == rb && most_a == most_b, "seed %d: %g %g, %g %g, %g %g", seed, a, b,
              ra, rb, most_a, most_b);
#endif
    CHECK(isfinite(b) && isfinite(rb));
  }
}

static void compare_rolls(const tl_ccp_visits *lanes) {
  for (uint64_t seed = 1; seed <= 12; ++seed)
    for (kind what = ROLLING; what < KINDS; ++what)
      for (int form = 0; form < 4; ++form) { /* radial, arms, tensors, both */
        static bench x, y;
        fill_bench(&x, seed, what, form >= 2);
        y = x;
        const tl_ccp_rows fast = {.bodies = x.bodies,
                                  .body_count = BODIES - 1,
                                  .packs = x.packs,
                                  .frictions = x.frictions,
                                  .pack_count = PACKS,
                                  .rolls = x.rolls,
                                  .arms = form % 2 == 1 ? x.arms : NULL,
                                  .tensors = form >= 2 ? x.tensors : NULL,
                                  .ncp = (talus_real)(seed & 1)};
        tl_ccp_rows slow = fast;
        slow.bodies = y.bodies, slow.packs = y.packs, slow.rolls = y.rolls;
        check_both_ways(lanes, &fast, &slow, PACKS, (int)seed);
      }
}

TEST(eight_rows_with_torque_at_a_time_give_the_bits_of_one_by_one) {
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
    if (tl_isa_has(isa))
      compare_rolls(tl_ccp_visits_of(isa));
}

/* A row without torque gets the same bits whatever its neighbours in the pack do. */
TEST(rows_without_torque_do_not_see_their_neighbours) {
  const tl_ccp_visits *lanes = tl_ccp_visits_now();
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    static bench x, y;
    fill_bench(&x, seed, MIXED, false);
    y = x;
    const tl_ccp_rows rolling = {.bodies = x.bodies,
                                 .packs = x.packs,
                                 .frictions = x.frictions,
                                 .pack_count = PACKS,
                                 .rolls = x.rolls,
                                 .ncp = (talus_real)(seed & 1)};
    tl_ccp_rows plain = rolling;
    plain.bodies = y.bodies, plain.packs = y.packs, plain.rolls = NULL;
    lanes->warm(&rolling, 0, PACKS, 1);
    lanes->warm(&plain, 0, PACKS, 1);
    lanes->sweep(&rolling, 0, PACKS);
    lanes->sweep(&plain, 0, PACKS);
    int same = 0, turned = 0;
    for (uint32_t k = 0; k < PACKS; ++k)
      for (uint32_t i = 0; i < TL_CCP_LANES; ++i) {
        const uint32_t a = x.packs[k].a[i];
        const bool is_equal = memcmp(&x.bodies[a], &y.bodies[a], sizeof x.bodies[a]) == 0;
        const bool rolls = tl_ccp_lane_rolls(&rolling, k, i);
        CHECK(is_equal || rolls);
        same += !rolls;
        turned += !is_equal;
      }
    CHECK_MSG(same > 50 && turned > 50, "%d, %d", same, turned);
  }
}

/* ---- rows of heaps --------------------------------------------------------------------------- */

typedef struct heap_def {
  talus_friction_model friction;
  bool nonspheres; /* every other grain is not a ball */
  bool partial;    /* every third grain resists nothing */
  uint64_t grains;
} heap_def;

/* Grains with every law, poured into a box. */
static talus_world *make_heap(heap_def h, int steps) {
  talus_world_def def = talus_world_def_default();
  def.threads = 1;
  def.dt = 2e-3;
  def.solve.friction = h.friction;
  def.solve.iterations = 12;
  def.solve.tolerance = 0;
  talus_world *world = rig_world(&def);
  talus_material_def law = talus_material_def_default();
  talus_material rough;
  law.static_friction = 0.7, law.rolling = 0.002, law.spinning = 0.001, law.cohesion = 0.5;
  CHECK_OK(talus_world_add_material(world, &law, &rough));
  const talus_material smooth = rig_material(world, 0.4, 0);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 1, 1, 8, 0), rough, 0, 0, 4);
  const talus_shape shape[2] = {rig_shape(world, TALUS_SPHERE, 0.035, 0, 0, 0),
                                rig_shape(world, TALUS_ELLIPSOID, 0.04, 0.035, 0.03, 0)};
  for (int part = 0; part < 3; ++part) {
    talus_fill_def fill = talus_fill_def_default();
    fill.body.shape = shape[h.nonspheres && part == 1];
    fill.body.material = h.partial && part == 2 ? smooth : rough;
    fill.body.velocity = rig_vec(0, 0, -5);
    fill.in.box = (talus_box){{-0.5, -0.5, 0}, {0.5, 0.5, (double)h.grains / 1500}};
    fill.count = h.grains / 3;
    fill.seed = (uint64_t)part + 1;
    CHECK_OK(talus_world_fill(world, &fill, NULL));
  }
  CHECK_OK(talus_world_step(world, (uint64_t)steps));
  return world;
}

static tl_ccp_rows copy_of(const tl_ccp_rows *rows) {
  tl_ccp_rows copy = *rows;
  copy.bodies = malloc((rows->body_count + 1) * sizeof *rows->bodies);
  copy.packs = malloc(rows->pack_count * sizeof *rows->packs);
  copy.rolls = malloc(rows->pack_count * sizeof *rows->rolls);
  CHECK(copy.bodies && copy.packs && copy.rolls);
  memcpy(copy.bodies, rows->bodies, (rows->body_count + 1) * sizeof *rows->bodies);
  memcpy(copy.packs, rows->packs, rows->pack_count * sizeof *rows->packs);
  memcpy(copy.rolls, rows->rolls, rows->pack_count * sizeof *rows->rolls);
  return copy;
}

/* Colour by colour, as sweeps go; serial ones are not for lanes. */
static void check_part(const tl_ccp_visits *lanes, const tl_ccp_part *part) {
  tl_ccp_rows fast = copy_of(&part->rows), slow = copy_of(&part->rows);
  for (size_t k = 0; k < part->colours.count; ++k) {
    const size_t first = part->block_pack[part->colour_block[k]];
    const size_t last = part->block_pack[part->colour_block[k + 1]];
    if (part->colours.serial[k])
      continue;
    tl_ccp_rows a = fast, b = slow;
    a.packs += first, a.rolls += first, b.packs += first, b.rolls += first;
    if (part->rows.arms)
      a.arms += first, b.arms += first;
    a.pack_count = b.pack_count = last - first;
    check_both_ways(lanes, &a, &b, a.pack_count, (int)k);
  }
  free(fast.bodies), free(fast.packs), free(fast.rolls);
  free(slow.bodies), free(slow.packs), free(slow.rolls);
}

static void check_heap(heap_def h) {
  talus_world *world = make_heap(h, 120);
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
  CHECK_OK(tl_ccp_load_rows(&job));
  size_t all = 0, some = 0;
  for (size_t k = 0; k < job.rows.pack_count; ++k)
    all += job.rows.rolls[k].lanes == 0xff, some += job.rows.rolls[k].lanes != 0;
  CHECK_MSG(all > 20 || h.partial, "%zu of %zu packs", all, job.rows.pack_count);
  CHECK_MSG(some - all > 5, "%zu of %zu packs are mixed", some - all, job.rows.pack_count);
  for (size_t i = 0; i < job.part_count; ++i)
    for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
      if (tl_isa_has(isa))
        check_part(tl_ccp_visits_of(isa), &job.parts[i]);
  talus_world_destroy(world);
}

TEST(heaps_with_every_law_have_the_same_bits_eight_at_a_time) {
  for (int k = 0; k < 8; ++k)
    check_heap((heap_def){.friction = k & 1 ? TALUS_FRICTION_CCP : TALUS_FRICTION_NCP,
                          .nonspheres = (k & 2) != 0,
                          .partial = (k & 4) != 0,
                          .grains = 600});
}

/* Enough rows for a team of threads. */
TEST(heaps_with_every_law_do_not_depend_on_threads) {
  SKIP_IF_SHORT_UNLESS_RACES_COUNT();
  for (int ccp = check_is_short(); ccp < 2; ++ccp) {
    uint64_t hash[3];
    for (int k = 0; k < 3; ++k) {
      const heap_def def = {.friction = ccp ? TALUS_FRICTION_CCP : TALUS_FRICTION_NCP,
                            .partial = true,
                            .grains = 3000};
      talus_world *world = make_heap(def, 100);
      world->model.par = (tl_par){.threads = 1 << k};
      CHECK_OK(talus_world_step(world, 8));
      CHECK_MSG(rig_report(world).contacts_near > TL_CCP_TEAM_ROWS, "%zu contacts",
                rig_report(world).contacts_near);
      hash[k] = talus_world_hash(world);
      talus_world_destroy(world);
    }
    CHECK_EQ_U64(hash[1], hash[0]);
    CHECK_EQ_U64(hash[2], hash[0]);
  }
}

/* ---- momentum -------------------------------------------------------------------------------- */

static talus_material add_rolling(talus_world *world, double rolling) {
  talus_material_def def = talus_material_def_default();
  talus_material material;
  def.rolling = rolling;
  CHECK_OK(talus_world_add_material(world, &def, &material));
  return material;
}

/* Without momentum it takes all 50 sweeps, and the uppermost box wanders by 9 mm. */
TEST(ten_boxes_with_rolling_resistance_stand_with_default_settings) {
  enum { BOXES = 10, STEPS = 1000 };
  talus_world_def def = talus_world_def_default();
  def.dt = 5e-3;
  def.threads = 1;
  talus_world *world = rig_world(&def);
  const talus_material m = add_rolling(world, 0.005);
  rig_floor(world, m);
  const talus_shape cube = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  talus_body top = {0};
  for (int i = 0; i < BOXES; ++i)
    top = rig_body(world, TALUS_FREE, cube, m, 0, 0, 0.1 + 0.2 * i);
  double sweeps = 0;
  for (int i = 0; i < STEPS; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    sweeps += rig_report(world).iterations / (double)STEPS;
  }
  const talus_dvec3 at = rig_info(world, top).position;
  const double way = sqrt(at.x * at.x + at.y * at.y + (at.z - 1.9) * (at.z - 1.9));
  CHECK_MSG(sweeps < BY_PRECISION(80, 90) && way < 6e-3, "%g sweeps, %g m", sweeps, way);
  talus_world_destroy(world);
}

/* Large enough for a team of threads. */
TEST(momentum_with_rolling_resistance_does_not_depend_on_threads) {
  uint64_t hash[3];
  for (int k = 0; k < 3; ++k) {
    talus_world_def def = talus_world_def_default();
    def.dt = 2e-3;
    def.threads = 1 << k;
    talus_world *world = rig_world(&def);
    const talus_material m = add_rolling(world, 0.002);
    rig_floor(world, m);
    const talus_shape brick = rig_shape(world, TALUS_BOX, 0.2, 0.1, 0.1, 0);
    for (int i = 0; i < 600; ++i)
      rig_body(world, TALUS_FREE, brick, m, 0.2001 * (i % 30 + 0.5 * (i / 30 % 2)), 0,
               0.1 * (i / 30 + 0.5));
    CHECK_OK(talus_world_step(world, 4));
    CHECK(rig_report(world).contacts_near > TL_CCP_TEAM_ROWS);
    hash[k] = talus_world_hash(world);
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[1], hash[0]);
  CHECK_EQ_U64(hash[2], hash[0]);
}

TEST_MAIN()
