/* The cone complementarity solver: what is done to several rows at a time has the bits of what is
 * done to one after the other. */
#include "base/random.h"
#include "base/isa.h"
#include "physics/rig.h"
#include "solve/ccp/ccp.h"
#include "solve/ccp/visits.h"
#include "world/world.h"

/* ---- lanes ----------------------------------------------------------------------------------- */

#define PACKS  40
#define BODIES (2 * TL_CCP_LANES * PACKS + 1)

typedef struct bench {
  tl_ccp_body bodies[BODIES];
  tl_ccp_pack packs[PACKS];
  tl_ccp_arms arms[PACKS];
  tl_ccp_tensor tensors[BODIES];
  tl_ccp_numbers frictions[PACKS];
} bench;

static talus_real draw(tl_random *random, double low, double high) {
  return (talus_real)(low + (high - low) * tl_random_unit(random));
}

static talus_vec3 draw_vec(tl_random *random, double size) {
  const talus_real x = draw(random, -size, size), y = draw(random, -size, size);
  return tl_vec3(x, y, draw(random, -size, size));
}

static void put(tl_ccp_lanes *lanes, int i, talus_vec3 v) {
  lanes->x[i] = v.x, lanes->y[i] = v.y, lanes->z[i] = v.z;
}

/* Rows of every kind: sticking, sliding, open, frictionless, against a fixed body, empty lanes.
 * Where the seed is a multiple of four, two thirds of the bodies need their tensors. */
static void fill_bench(bench *b, uint64_t seed) {
  tl_random random = tl_random_start(seed, 7, 0);
  memset(b, 0, sizeof *b);
  for (int i = 0; i + 1 < BODIES; ++i) {
    b->bodies[i].v = draw_vec(&random, 1);
    b->bodies[i].w = draw_vec(&random, 5);
    const bool fixed = tl_random_unit(&random) < 0.1;
    b->bodies[i].inv_mass = fixed ? 0 : draw(&random, 0.5, 3);
    b->bodies[i].inv_inertia = fixed ? 0 : draw(&random, 5, 50);
    if (!fixed && seed % 4 == 0 && i % 3 != 0) {
      b->bodies[i].inv_inertia = -b->bodies[i].inv_inertia;
      b->tensors[i].inv_mass = tl_vec3(i % 5 == 0 ? 0 : 1, 1, draw(&random, 0.5, 3));
      const talus_vec3 least = draw_vec(&random, 20), across = draw_vec(&random, 5);
      b->tensors[i].inv_inertia =
          (tl_sym3){25 + least.x, 25 + least.y, 25 + least.z, across.x, across.y, across.z};
    }
  }
  for (int k = 0; k < PACKS; ++k)
    for (int i = 0; i < TL_CCP_LANES; ++i) {
      tl_ccp_pack *pack = &b->packs[k];
      if (k == PACKS - 1 && i >= 3) {
        pack->a[i] = pack->b[i] = BODIES - 1;
        continue;
      }
      pack->a[i] = (uint32_t)(2 * (k * TL_CCP_LANES + i));
      pack->b[i] = pack->a[i] + 1;
      put(&pack->normal, i, tl_normalize(draw_vec(&random, 1)));
      put(&b->arms[k].a, i, draw_vec(&random, 0.3));
      put(&b->arms[k].b, i, draw_vec(&random, 0.3));
      pack->reach_a[i] = draw(&random, 0, 0.3);
      pack->reach_b[i] = -draw(&random, 0, 0.3);
      put(&pack->impulse, i, tl_scale(draw_vec(&random, 0.2), draw(&random, 0, 1) < 0.3 ? 0 : 1));
      pack->bias[i] = draw(&random, -1, 1);
      b->frictions[k].of[i] = tl_random_unit(&random) < 0.2 ? 0 : draw(&random, 0, 1);
      pack->en[i] = tl_random_unit(&random) < 0.05 ? 0 : draw(&random, 0.1, 1);
      pack->et[i] = draw(&random, 0.05, 0.5);
    }
}

/* Packs with the bodies of the one before, as those of bundles have them. */
static void make_runs(bench *b) {
  for (int k = 1; k < PACKS; ++k)
    if (k % 3 != 0) {
      memcpy(b->packs[k].a, b->packs[k - 1].a, sizeof b->packs[k].a);
      memcpy(b->packs[k].b, b->packs[k - 1].b, sizeof b->packs[k].b);
    }
}

static void compare_sweeps(const tl_ccp_visits *lanes) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    static bench x, y;
    fill_bench(&x, seed);
    if (seed % 5 == 0)
      make_runs(&x);
    y = x;
    tl_ccp_rows fast = {.bodies = x.bodies, .packs = x.packs, .ncp = (talus_real)(seed & 1)},
                slow = fast;
    slow.bodies = y.bodies, slow.packs = y.packs;
    if (seed % 3 == 0)
      fast.arms = x.arms, slow.arms = y.arms;
    if (seed % 4 < 2)
      fast.tensors = x.tensors, slow.tensors = y.tensors;
    fast.frictions = seed % 7 == 2 ? NULL : x.frictions, fast.friction = TL_R(0.4);
    slow.frictions = seed % 7 == 2 ? NULL : y.frictions, slow.friction = TL_R(0.4);
    const talus_real share = (talus_real)((double)(seed % 5) * 0.25);
    const double work_a = lanes->warm(&fast, 0, PACKS, share),
                 work_b = tl_ccp_warm_packs_scalar(&slow, 0, PACKS, share);
    CHECK_NEAR(work_a, work_b, TALUS_FAST ? 1e-6 * (1 + fabs(work_b)) : 0);
    for (int sweep = 0; sweep < 4; ++sweep) {
      const double a = lanes->sweep(&fast, 0, PACKS),
                   b = tl_ccp_sweep_packs_scalar(&slow, 0, PACKS);
      double most_a, most_b;
      const double ra = lanes->residual(&fast, 0, PACKS, &most_a);
      const double rb = tl_ccp_residual_packs_scalar(&slow, 0, PACKS, &most_b);
#if TALUS_FAST
      CHECK_NEAR(a, b, 1e-6 * (1 + b));
      CHECK_NEAR(ra, rb, 1e-6 * (1 + rb));
#else
      CHECK_MSG(memcmp(x.bodies, y.bodies, sizeof x.bodies) == 0, "bodies differ, seed %d",
                (int)seed);
      for (int k = 0; k < PACKS; ++k)
        for (int i = 0; i < TL_CCP_LANES; ++i) /* zeros may differ in sign */
          CHECK(x.packs[k].impulse.x[i] == y.packs[k].impulse.x[i] &&
                x.packs[k].impulse.y[i] == y.packs[k].impulse.y[i] &&
                x.packs[k].impulse.z[i] == y.packs[k].impulse.z[i]);
      CHECK(a == b && ra == rb && most_a == most_b);
#endif
    }
  }
}

TEST(simd_and_scalar_sweeps_give_the_same_bits) {
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
    if (tl_isa_has(isa))
      compare_sweeps(tl_ccp_visits_of(isa));
}

/* Biases of correction, and which rows are deep. */
static void compare_aims(const tl_ccp_visits *lanes) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    static bench x, y;
    static talus_real gaps[PACKS * TL_CCP_LANES];
    uint32_t first[PACKS + 1];
    uint8_t deep_a[PACKS * TL_CCP_LANES] = {0}, deep_b[PACKS * TL_CCP_LANES] = {0};
    tl_random random = tl_random_start(seed, 8, 0);
    fill_bench(&x, seed);
    y = x;
    for (int i = 0; i < PACKS * TL_CCP_LANES; ++i)
      gaps[i] = draw(&random, -0.01, 0.005);
    for (uint32_t k = 0; k < PACKS; ++k)
      first[k] = k * TL_CCP_LANES;
    first[PACKS] = (PACKS - 1) * TL_CCP_LANES + 3;
    tl_ccp_rows fast = {.bodies = x.bodies, .packs = x.packs, .gaps = gaps, .pack_row = first};
    if (seed % 3 == 0)
      fast.arms = x.arms;
    if (seed % 4 < 2)
      fast.tensors = x.tensors;
    tl_ccp_rows slow = fast;
    slow.packs = y.packs;
    const tl_ccp_aim aim = {
        .h = TL_R(1e-3), .slop = TL_R(1e-3), .share = TL_R(0.2), .recovery_speed = TL_R(0.6)};
    lanes->aim(&fast, &aim, 0, PACKS, deep_a);
    tl_ccp_aim_packs_scalar(&slow, &aim, 0, PACKS, deep_b);
    for (uint32_t row = 0; row < first[PACKS]; ++row) {
      const uint32_t k = row / TL_CCP_LANES, i = row % TL_CCP_LANES;
      CHECK_NEAR(x.packs[k].bias[i], y.packs[k].bias[i],
                 TALUS_FAST ? 1e-6 * (1 + fabs((double)y.packs[k].bias[i])) : 0);
      CHECK(x.packs[k].impulse.x[i] == 0);
      CHECK(TALUS_FAST || deep_a[row] == deep_b[row]);
    }
  }
}

TEST(simd_and_scalar_corrections_aim_with_the_same_bits) {
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
    if (tl_isa_has(isa))
      compare_aims(tl_ccp_visits_of(isa));
}

/* Position correction of rows whose arms are along normals, from impulses 0: in lanes, one by one,
 * and as rows without friction that are swept in the general way. */
static void compare_lifts(const tl_ccp_visits *lanes) {
  const double near = sizeof(talus_real) == 4 ? 1e-5 : 1e-14;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    static bench x, y, z;
    fill_bench(&x, 4 * seed + 1); /* without tensors */
    for (int k = 0; k < PACKS; ++k)
      for (int i = 0; i < TL_CCP_LANES; ++i)
        put(&x.packs[k].impulse, i, tl_vec3(0, 0, 0));
    y = z = x;
    tl_ccp_rows fast = {.bodies = x.bodies, .packs = x.packs}, slow = fast, general = fast;
    slow.bodies = y.bodies, slow.packs = y.packs;
    general.bodies = z.bodies, general.packs = z.packs, general.ncp = 1;
    for (int i = 0; i < BODIES; ++i)
      x.bodies[i].w = y.bodies[i].w = z.bodies[i].w = tl_vec3(0, 0, 0);
    for (int sweep = 0; sweep < 3; ++sweep) {
      const double a = lanes->lift(&fast, 0, PACKS), b = tl_ccp_lift_packs_scalar(&slow, 0, PACKS);
      const double ra = lanes->lift_residual(&fast, 0, PACKS);
      const double rb = tl_ccp_lift_residual_scalar(&slow, 0, PACKS);
      CHECK_NEAR(a, b, TALUS_FAST ? 1e-6 * (1 + b) : 0);
      CHECK_NEAR(ra, rb, TALUS_FAST ? 1e-6 * (1 + rb) : 0);
      CHECK(sweep > 0 || a > 0);
      CHECK(TALUS_FAST || memcmp(x.bodies, y.bodies, sizeof x.bodies) == 0);
      CHECK(TALUS_FAST || memcmp(x.packs, y.packs, sizeof x.packs) == 0);
      tl_ccp_sweep_packs_scalar(&general, 0, PACKS);
      for (int i = 0; i < BODIES; ++i)
        CHECK_NEAR(tl_length(tl_sub(x.bodies[i].v, z.bodies[i].v)), 0, near);
    }
  }
}

TEST(corrections_along_normals_have_the_bits_of_scalar_code_and_the_result_of_sweeps) {
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
    if (tl_isa_has(isa))
      compare_lifts(tl_ccp_visits_of(isa));
}

/* Momentum as it is defined: rows are moved on, then swept, and what sweeps pull back is added up.
 */
static double sweep_slowly(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta) {
  static tl_ccp_lanes from[PACKS];
  double pull = 0;
  for (int k = 0; k < PACKS; ++k)
    for (uint32_t i = 0; i < TL_CCP_LANES; ++i) {
      const talus_vec3 now = tl_ccp_lane(&rows->packs[k].impulse, i);
      const talus_vec3 on = tl_madd(now, beta, tl_sub(now, tl_ccp_lane(&last[k], i)));
      tl_ccp_put_lane(&last[k], i, now);
      tl_ccp_put_lane(&from[k], i, on);
      tl_ccp_put_lane(&rows->packs[k].impulse, i, on);
    }
  tl_ccp_sweep_packs_scalar(rows, 0, PACKS);
  for (int k = 0; k < PACKS; ++k)
    for (uint32_t i = 0; i < TL_CCP_LANES; ++i) {
      const tl_ccp_pack *pack = &rows->packs[k];
      const tl_ccp_course course = {tl_ccp_lane(&from[k], i), tl_ccp_lane(&last[k], i)};
      if (pack->en[i] > 0 && pack->et[i] > 0)
        pull += tl_ccp_pull_of(tl_ccp_lane(&pack->impulse, i), tl_ccp_lane(&pack->normal, i),
                               pack->en[i], pack->et[i], &course);
    }
  return pull;
}

static void check_same(const bench *x, const bench *y) {
  CHECK(TALUS_FAST || memcmp(x->bodies, y->bodies, sizeof x->bodies) == 0);
  for (int k = 0; k < PACKS; ++k)
    for (uint32_t i = 0; i < TL_CCP_LANES; ++i) {
      const talus_vec3 p = tl_ccp_lane(&x->packs[k].impulse, i);
      const talus_vec3 q = tl_ccp_lane(&y->packs[k].impulse, i);
      CHECK(TALUS_FAST || (p.x == q.x && p.y == q.y && p.z == q.z));
    }
}

/* Sweeps with momentum, in lanes, scalar and slowly; packs with other bodies, and, as those of
 * bundles, with the bodies of the one before. */
static void compare_momentum(const tl_ccp_visits *lanes, bool in_runs) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    static bench x, y, z;
    static tl_ccp_lanes last_x[PACKS], last_y[PACKS], last_z[PACKS];
    fill_bench(&x, seed);
    if (in_runs)
      make_runs(&x);
    y = z = x;
    for (int k = 0; k < PACKS; ++k)
      last_z[k] = x.packs[k].impulse;
    memset(last_x, 0xff, sizeof last_x); /* not a number: the first sweep has none before it */
    memset(last_y, 0xff, sizeof last_y);
    tl_ccp_rows fast = {.bodies = x.bodies, .packs = x.packs, .frictions = x.frictions},
                slow = fast, plain = fast;
    slow.bodies = y.bodies, slow.packs = y.packs;
    plain.bodies = z.bodies, plain.packs = z.packs;
    if (seed % 3 == 0)
      fast.arms = slow.arms = plain.arms = x.arms;
    if (seed % 4 < 2)
      fast.tensors = slow.tensors = plain.tensors = x.tensors;
    for (int sweep = 0; sweep < 4; ++sweep) {
      const talus_real beta = TL_R(0.3) * (talus_real)sweep;
      double a, b;
      const talus_real on = sweep == 0 ? -1 : beta;
      const double moved_a = lanes->sweep_on(&fast, last_x, on, 0, PACKS, &a);
      const double moved_b = tl_ccp_sweep_on_scalar(&slow, last_y, on, 0, PACKS, &b);
      const double c = sweep_slowly(&plain, last_z, beta);
      CHECK_NEAR(moved_a, moved_b, TALUS_FAST ? 1e-6 * (1 + fabs(moved_b)) : 0);
      CHECK_NEAR(a, b, TALUS_FAST ? 1e-6 * (1 + fabs(b)) : 0);
      CHECK_NEAR(a, c, 1e-5 * (1 + fabs(c)));
      CHECK(a != 0);
      check_same(&x, &y);
      check_same(&x, &z);
    }
  }
}

TEST(simd_and_scalar_momentum_give_the_same_bits) {
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
    if (tl_isa_has(isa))
      for (int in_runs = 0; in_runs < 2; ++in_runs)
        compare_momentum(tl_ccp_visits_of(isa), in_runs);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Balls of several sizes fall into a heap in a box, some bounce, a paddle turns among them (so that
 * rows have arms) or not. */
static talus_world *make_shower(bool paddle) {
  talus_world_def def = rig_def(2e-3);
  def.solve.iterations = 10;
  def.solve.tolerance = 0;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.6);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 0.9, 0.9, 4, 0), m, 0.2, 0.2, 2);
  if (paddle) {
    talus_body_def body = talus_body_def_default();
    body.kind = TALUS_KINEMATIC;
    body.shape = rig_shape(world, TALUS_BOX, 0.6, 0.1, 0.1, 0), body.material = m;
    body.position = (talus_dvec3){0.2, 0.2, 0.1};
    body.motion.spin = rig_vec(0, 0, 3);
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.05, 0, 0, 0);
  for (int i = 0; i < 200; ++i) {
    tl_random random = tl_random_start(5, 1, (uint64_t)i);
    talus_body_def body = talus_body_def_default();
    body.shape = ball, body.material = m;
    body.scale = 0.7 + 0.6 * tl_random_unit(&random);
    body.position = (talus_dvec3){-0.1 + 0.13 * (i % 5) + 0.02 * tl_random_unit(&random),
                                  -0.1 + 0.13 * (i / 5 % 5) + 0.02 * tl_random_unit(&random),
                                  0.25 + 0.14 * (double)(i / 25)};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  return world;
}

static void compare_packs(const tl_ccp *job, const tl_ccp *slow) {
#if !TALUS_FAST
  const talus_real *x = job->rows.packs->normal.x, *y = slow->rows.packs->normal.x;
  const size_t reals = sizeof *job->rows.packs / sizeof *x, ids = 2 * TL_CCP_LANES * 4 / sizeof *x;
  for (size_t i = 0; i + ids < job->rows.pack_count * reals; ++i)
    if (i % reals < reals - ids) /* zeros may differ in sign */
      CHECK_MSG(x[i] == y[i], "pack %zu, real %zu: %g and %g", i / reals, i % reals, (double)x[i],
                (double)y[i]);
  for (size_t i = 0; i < job->rows.pack_count; ++i)
    CHECK(memcmp(job->rows.packs[i].a, slow->rows.packs[i].a, sizeof job->rows.packs[i].a) == 0 &&
          memcmp(job->rows.packs[i].b, slow->rows.packs[i].b, sizeof job->rows.packs[i].b) == 0);
  if (job->rows.arms)
    CHECK(memcmp(job->rows.arms, slow->rows.arms, job->rows.pack_count * sizeof *job->rows.arms) ==
          0);
#endif
  (void)job, (void)slow;
}

TEST(rows_made_eight_at_a_time_have_the_bits_of_rows_made_one_by_one) {
  for (int k = 0; k < 4; ++k) {
    talus_world *world = make_shower(k % 2);
    CHECK_OK(talus_world_step(world, (uint64_t)(150 + 60 * k)));
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
    CHECK_MSG(job.rows.pack_count > 10 && (job.rows.arms != NULL) == (k % 2 != 0),
              "%zu packs, arms %d", job.rows.pack_count, job.rows.arms != NULL);
    tl_ccp slow = job;
    slow.rows.packs = malloc(job.rows.pack_count * sizeof *job.rows.packs);
    slow.rows.arms = job.rows.arms ? malloc(job.rows.pack_count * sizeof *job.rows.arms) : NULL;
    slow.rows.gaps = malloc(job.rows.pack_count * TL_CCP_LANES * sizeof *job.rows.gaps);
    CHECK(slow.rows.packs && slow.rows.gaps && (slow.rows.arms || !job.rows.arms));
    CHECK(!job.rows.frictions); /* else others are not made from contacts as they lie */
    tl_ccp_fill_packs(&slow, 0, job.rows.pack_count);
    for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
      if (tl_isa_has(isa)) {
        const tl_isa before = tl_isa_use(isa);
        memset(job.rows.packs, 0xff, job.rows.pack_count * sizeof *job.rows.packs);
        memset(job.rows.gaps, 0xff, job.rows.pack_count * TL_CCP_LANES * sizeof *job.rows.gaps);
        tl_ccp_fill_packs_fast(&job, 0, job.rows.pack_count);
        tl_isa_use(before);
        compare_packs(&job, &slow);
        CHECK(memcmp(job.rows.gaps, slow.rows.gaps,
                     job.rows.pack_count * TL_CCP_LANES * sizeof *job.rows.gaps) == 0);
      }
    free(slow.rows.packs);
    free(slow.rows.gaps);
    free(slow.rows.arms);
    talus_world_destroy(world);
  }
}

TEST_MAIN()
