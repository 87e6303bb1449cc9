/* Sequential impulses: visits of a bundle against plain arithmetic, clamps after any number of
 * sweeps, threads and restarts, memory, refusals. */
#include "base/random.h"
#include "kernels/impulse.h"
#include "physics/rig.h"
#include "world/world.h"

/* ---- one bundle ------------------------------------------------------------------------------ */

typedef struct bundle {
  tl_ccp_body a, b;
  tl_ccp_tensor tensor_a, tensor_b;
  tl_impulse_row rows[6];
  uint32_t n;
} bundle;

static talus_real between(tl_random *random, double lo, double hi) {
  return (talus_real)(lo + (hi - lo) * tl_random_unit(random));
}

static talus_vec3 any_vec(tl_random *random, double size) {
  const talus_real x = between(random, -size, size), y = between(random, -size, size);
  return tl_vec3(x, y, between(random, -size, size));
}

/* Two bodies with tensors, unless `round`, and contacts about one normal. */
static bundle make_bundle(tl_random *random, uint32_t n, bool round) {
  bundle k = {.n = n};
  tl_ccp_body *bodies[2] = {&k.a, &k.b};
  tl_ccp_tensor *tensors[2] = {&k.tensor_a, &k.tensor_b};
  for (int i = 0; i < 2; ++i) {
    tl_ccp_body *body = bodies[i];
    body->v = any_vec(random, 1), body->w = any_vec(random, 1);
    body->inv_mass = between(random, 0.5, 2);
    body->inv_inertia = round ? between(random, 1, 4) : -1;
    tensors[i]->inv_mass = tl_vec3(body->inv_mass, body->inv_mass, body->inv_mass);
    /* One after another: the order of arguments is the compiler's, and cases should not be. */
    const talus_real z = between(random, 0.3, 3), y = between(random, 0.3, 3);
    const talus_vec3 inertia = tl_vec3(between(random, 0.3, 3), y, z);
    tensors[i]->inv_inertia =
        round ? tl_sym3_diagonal(tl_vec3(body->inv_inertia, body->inv_inertia, body->inv_inertia))
              : tl_sym3_rotated(
                    tl_quat_normalize(tl_quat(1, between(random, -1, 1), TL_R(0.3), TL_R(0.2))),
                    inertia);
  }
  const talus_vec3 n0 = tl_normalize(any_vec(random, 1));
  for (uint32_t i = 0; i < n; ++i) {
    tl_impulse_row *row = &k.rows[i];
    row->normal = n0;
    row->arm_a = round ? tl_scale(n0, TL_R(0.4)) : any_vec(random, 0.7);
    row->arm_b = round ? tl_scale(n0, TL_R(-0.3)) : any_vec(random, 0.7);
    const tl_sym3 N =
        tl_sym3_add(tl_point_response(k.tensor_a.inv_mass, k.tensor_a.inv_inertia, row->arm_a),
                    tl_point_response(k.tensor_b.inv_mass, k.tensor_b.inv_inertia, row->arm_b));
    tl_step_metric(N, n0, &row->en, &row->et);
    row->weight = 1 / (row->en * row->et);
    row->bias = between(random, -0.2, 0.5);
    row->friction = TL_R(0.5);
    const talus_real press = between(random, 0, 0.5);
    row->impulse = tl_impulse_cut(any_vec(random, 0.2), n0, press, TL_R(0.5));
    row->impulse = tl_cone_project(row->impulse, n0, TL_R(0.5));
  }
  return k;
}

static tl_impulse_pair pair_of(bundle *k) {
  const tl_impulse_pair pair = {&k->a, &k->b, &k->tensor_a, &k->tensor_b};
  return pair;
}

/* Half the squared velocities in the mass norm, and what biases make of impulses: what a visit
 * without friction brings down. Bodies with the mass norm of their inverse tensors. */
static double energy_of(const bundle *k) {
  double sum = 0;
  const tl_ccp_body *bodies[2] = {&k->a, &k->b};
  const tl_ccp_tensor *tensors[2] = {&k->tensor_a, &k->tensor_b};
  for (int i = 0; i < 2; ++i) {
    tl_sym3 inertia;
    CHECK(tl_sym3_inverse(tensors[i]->inv_inertia, &inertia));
    sum += 0.5 * (double)(tl_length2(bodies[i]->v) / bodies[i]->inv_mass +
                          tl_dot(tl_sym3_mul_vec(inertia, bodies[i]->w), bodies[i]->w));
  }
  for (uint32_t i = 0; i < k->n; ++i)
    sum += (double)(k->rows[i].bias * tl_dot(k->rows[i].impulse, k->rows[i].normal));
  return sum;
}

TEST(a_press_ends_where_the_energy_along_it_is_least) {
  tl_random random = tl_random_start(3, 1, 0);
  int inner = 0;
  for (int trial = 0; trial < 300; ++trial) {
    bundle k = make_bundle(&random, 2 + (uint32_t)trial % 5, trial % 3 == 0);
    for (uint32_t i = 0; i < k.n; ++i)
      k.rows[i].friction = 0, k.rows[i].impulse = tl_scale(k.rows[i].normal, TL_R(0.3));
    const bundle start = k;
    const tl_impulse_pair pair = pair_of(&k);
    tl_impulse_press(&pair, k.rows, k.n);
    const double least = energy_of(&k), before = energy_of(&start);
    CHECK_MSG(least <= before + BY_PRECISION(1e-12, 1e-5), "energy rose from %.17g to %.17g",
              before, least);
    /* A little less and a little more of the same change is no better. */
    for (int side = -1; side <= 1; side += 2) {
      bundle other = start;
      const talus_real part = 1 + TL_R(0.05) * (talus_real)side;
      tl_impulse_rush rush = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
      bool feasible = true, longest = false;
      for (uint32_t i = 0; i < k.n; ++i) {
        const talus_vec3 change = tl_sub(k.rows[i].impulse, start.rows[i].impulse);
        tl_impulse_take(&other.rows[i], tl_madd(start.rows[i].impulse, part, change), &rush);
        longest |= tl_length(change) > TL_R(3.99) * tl_abs(k.rows[i].step.x);
        feasible &= tl_dot(other.rows[i].impulse, other.rows[i].normal) >= 0;
      }
      const tl_impulse_pair others = pair_of(&other);
      tl_impulse_apply(&others, &rush);
      if (!feasible || (longest && side > 0))
        continue;
      inner++;
      CHECK_MSG(energy_of(&other) >= least - BY_PRECISION(1e-12, 1e-5),
                "trial %d: %g of the step is better by %g", trial, (double)part,
                least - energy_of(&other));
    }
  }
  CHECK_MSG(inner > 200, "only %d", inner);
}

TEST(impulses_stay_in_their_cones_after_every_visit) {
  tl_random random = tl_random_start(4, 1, 0);
  for (int trial = 0; trial < 300; ++trial) {
    bundle k = make_bundle(&random, 1 + (uint32_t)trial % 6, false);
    const tl_impulse_pair pair = pair_of(&k);
    for (int visit = 0; visit < 5; ++visit) {
      tl_impulse_press(&pair, k.rows, k.n);
      tl_impulse_rub(&pair, k.rows, k.n);
      for (uint32_t i = 0; i < k.n; ++i) {
        const talus_vec3 p = k.rows[i].impulse, n = k.rows[i].normal;
        const talus_real pn = tl_dot(p, n);
        CHECK(pn >= -BY_PRECISION(TL_R(1e-15), TL_R(1e-7)));
        CHECK(tl_length(tl_madd(p, -pn, n)) <=
              TL_R(0.5) * pn + BY_PRECISION(TL_R(1e-14), TL_R(1e-6)));
      }
    }
  }
}

/* Momentum that one body gets the other loses, to rounding. */
TEST(visits_keep_momentum) {
  tl_random random = tl_random_start(5, 1, 0);
  for (int trial = 0; trial < 100; ++trial) {
    bundle k = make_bundle(&random, 1 + (uint32_t)trial % 6, false);
    const tl_impulse_pair pair = pair_of(&k);
    const talus_vec3 before =
        tl_add(tl_scale(k.a.v, 1 / k.a.inv_mass), tl_scale(k.b.v, 1 / k.b.inv_mass));
    for (int visit = 0; visit < 5; ++visit) {
      tl_impulse_press(&pair, k.rows, k.n);
      tl_impulse_rub(&pair, k.rows, k.n);
    }
    const talus_vec3 after =
        tl_add(tl_scale(k.a.v, 1 / k.a.inv_mass), tl_scale(k.b.v, 1 / k.b.inv_mass));
    CHECK_NEAR((double)tl_length(tl_sub(after, before)), 0, BY_PRECISION(1e-13, 1e-5));
  }
}

/* The shorter way of spheres against the two parts of a visit. */
TEST(the_visit_of_spheres_is_a_press_and_a_rub) {
  tl_random random = tl_random_start(6, 1, 0);
  for (int trial = 0; trial < 300; ++trial) {
    bundle slow = make_bundle(&random, 1, true), fast = slow;
    const tl_impulse_pair at = pair_of(&slow), to = pair_of(&fast);
    tl_impulse_press(&at, slow.rows, 1);
    tl_impulse_rub(&at, slow.rows, 1);
    tl_impulse_single(&to, fast.rows);
    const double close = BY_PRECISION(1e-14, 2e-6);
    CHECK_NEAR((double)tl_length(tl_sub(slow.rows[0].impulse, fast.rows[0].impulse)), 0, close);
    CHECK_NEAR((double)tl_length(tl_sub(slow.a.v, fast.a.v)), 0, close);
    CHECK_NEAR((double)tl_length(tl_sub(slow.b.w, fast.b.w)), 0, close);
  }
}

TEST(bundles_of_one_pair_converge_to_coulombs_law) {
  tl_random random = tl_random_start(7, 1, 0);
  for (int trial = 0; trial < 100; ++trial) {
    bundle k = make_bundle(&random, 1 + (uint32_t)trial % 4, false);
    const tl_impulse_pair pair = pair_of(&k);
    for (int visit = 0; visit < 20000; ++visit) {
      tl_impulse_press(&pair, k.rows, k.n);
      tl_impulse_rub(&pair, k.rows, k.n);
    }
    for (uint32_t i = 0; i < k.n; ++i)
      CHECK_NEAR((double)tl_impulse_residual(&pair, &k.rows[i], NULL), 0, BY_PRECISION(1e-8, 1e-4));
  }
}

TEST(correction_leaves_the_slop_alone_and_takes_a_share_of_the_rest) {
  const talus_real close = BY_PRECISION(TL_R(1e-15), TL_R(1e-7));
  CHECK_NEAR(tl_impulse_target(TL_R(0.2), TL_R(0.01), TL_R(0.001), TL_R(0.5), 10), -0.001, close);
  CHECK_NEAR(tl_impulse_target(TL_R(-0.0005), TL_R(0.01), TL_R(0.001), TL_R(0.5), 10), -0.001,
             close);
  CHECK_NEAR(tl_impulse_target(TL_R(-0.005), TL_R(0.01), TL_R(0.001), TL_R(0.5), 10), -0.003,
             close);
  CHECK_NEAR(tl_impulse_target(TL_R(-0.5), TL_R(0.01), TL_R(0.001), TL_R(0.5), TL_R(0.1)), -0.499,
             close);
}

/* ---- worlds ---------------------------------------------------------------------------------- */

typedef enum heap_kind { BALLS, BOXES, LAWS, JOINTS } heap_kind;

static void fill_balls(talus_world *world, talus_material m) {
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 1.62, 1.62, 4, 0), m, 0, 0, 2);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.05, 0, 0, 0);
  for (int i = 0; i < 4352; ++i) /* in tiles, and for a team of threads */
    rig_body(world, TALUS_FREE, ball, m, 0.1 * (i % 16 - 7.5) + 1e-4 * (i % 7),
             0.1 * (i / 16 % 16 - 7.5) + 1e-4 * (i % 11), 0.049 + 0.0995 * (i / 256));
}

static void fill_boxes(talus_world *world, talus_material m) {
  rig_floor(world, m);
  const talus_shape box = rig_shape(world, TALUS_BOX, 0.1, 0.1, 0.1, 0);
  for (int i = 0; i < 400; ++i)
    rig_body(world, TALUS_FREE, box, m, 0.1 * (i % 10), 0.1 * (i / 10 % 10),
             0.05 + 0.0999 * (i / 100));
}

static void fill_mixed(talus_world *world, talus_material m, bool joints) {
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 0.6, 0.6, 3, 0), m, 0, 0, 1.5);
  const talus_shape kinds[2] = {rig_shape(world, TALUS_SPHERE, 0.07, 0, 0, 0),
                                rig_shape(world, TALUS_BOX, 0.1, 0.12, 0.08, 0)};
  talus_body last = {0};
  for (int i = 0; i < 45; ++i) {
    const talus_body body =
        rig_body(world, TALUS_FREE, kinds[i % 2], m, 0.15 * (i % 3 - 1) + 0.003 * (i % 7),
                 0.15 * (i / 3 % 3 - 1) + 0.002 * (i % 5), 0.08 + 0.13 * (i / 9));
    if (joints && i % 3 == 2) {
      talus_joint_def def = talus_joint_def_default();
      def.a = last, def.b = body;
      const talus_dvec3 p = rig_info(world, last).position, q = rig_info(world, body).position;
      def.at = def.to = (talus_dvec3){(p.x + q.x) / 2, (p.y + q.y) / 2, (p.z + q.z) / 2};
      CHECK_OK(talus_world_add_joint(world, &def, NULL));
    }
    last = body;
  }
}

static talus_world *make_heap(heap_kind kind, int threads) {
  talus_world_def def = rig_def(2e-3);
  def.solve.kind = TALUS_SOLVE_IMPULSE;
  def.solve.iterations = 8;
  def.solve.tolerance = 1e-7;
  def.threads = threads;
  talus_world *world = rig_world(&def);
  talus_material_def law = talus_material_def_default();
  if (kind == LAWS)
    law.static_friction = 0.7, law.rolling = 0.005, law.spinning = 0.003, law.cohesion = 0.5;
  talus_material m;
  CHECK_OK(talus_world_add_material(world, &law, &m));
  if (kind == BALLS)
    fill_balls(world, m);
  else if (kind == BOXES)
    fill_boxes(world, m);
  else
    fill_mixed(world, m, kind == JOINTS);
  return world;
}

static uint64_t hash_of(heap_kind kind, int threads, const char *save_at) {
  talus_world *world = make_heap(kind, threads);
  const uint64_t steps = kind == BALLS || kind == BOXES ? 6 : 60;
  CHECK_OK(talus_world_step(world, steps));
  if (save_at) {
    CHECK_OK(talus_world_save(world, save_at));
    talus_world_destroy(world);
    CHECK_OK(talus_world_load(save_at, &world));
    CHECK(world->model.solve.kind == TALUS_SOLVE_IMPULSE && world->model.solve.correction == 0.2);
    remove(save_at);
  }
  CHECK_OK(talus_world_step(world, steps));
  CHECK(rig_report(world).contacts_near > (kind == BALLS || kind == BOXES ? 3000 : 30));
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(hashes_are_equal_for_1_to_4_threads_and_over_restarts) {
  for (heap_kind kind = BALLS; kind <= JOINTS; ++kind) {
    const uint64_t hash = hash_of(kind, 1, NULL);
    for (int threads = 2; threads <= (check_is_short() ? 2 : 4); ++threads)
      CHECK_MSG(hash_of(kind, threads, NULL) == hash, "heap %d, %d threads", (int)kind, threads);
#if TALUS_HAVE_HDF5
    CHECK_MSG(hash_of(kind, 2, "impulse.hdf") == hash, "heap %d, restarted", (int)kind);
#endif
  }
}

/* Every kind of row: the residual that is reported falls with the sweeps that are made, and the
 * number of sweeps is as told. */
TEST(residual_falls_with_the_sweeps_and_is_reported) {
  SKIP_IF_SHORT();
  for (heap_kind kind = BOXES; kind <= JOINTS; ++kind) {
    double last = INFINITY;
    const int sweeps[3] = {0, 10, 300};
    for (int k = 0; k < 3; ++k) { /* from the same state */
      talus_world *world = make_heap(kind, 1);
      CHECK_OK(talus_world_step(world, kind == BOXES ? 20 : 150));
      world->model.solve.iterations = sweeps[k];
      world->model.solve.tolerance = 0;
      world->model.solve.warm_start = false;
      CHECK_OK(talus_world_step(world, 1));
      const talus_report report = rig_report(world);
      CHECK_MSG(report.iterations == sweeps[k], "heap %d: %d of %d sweeps, %zu contacts", (int)kind,
                report.iterations, sweeps[k], report.contacts_near);
      CHECK_MSG(report.residual_rms < 0.7 * last, "heap %d: %g after %d sweeps, %g before",
                (int)kind, report.residual_rms, sweeps[k], last);
      CHECK(report.residual_max >= report.residual_rms);
      last = report.residual_rms;
      talus_world_destroy(world);
    }
  }
}

TEST(warm_steps_allocate_nothing) {
  talus_world *world = make_heap(LAWS, 2);
  CHECK_OK(talus_world_step(world, 1500));
  const uint64_t before = tl_memory_count().allocations;
  CHECK_OK(talus_world_step(world, 100));
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  talus_world_destroy(world);
}

TEST(sleeping_islands_are_left_alone) {
  talus_world_def def = rig_def(2e-3);
  def.solve.kind = TALUS_SOLVE_IMPULSE;
  def.solve.tolerance = 1e-6;
  def.sleep = (talus_sleep_def){1e-3, 0.1};
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_shape box = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  for (int i = 0; i < 3; ++i)
    rig_body(world, TALUS_FREE, box, m, 0, 0, 0.1 + 0.2 * i);
  CHECK_OK(talus_world_step(world, 300));
  CHECK_EQ_U64(rig_report(world).asleep, 3);
  const uint64_t hash = talus_world_hash(world);
  CHECK_OK(talus_world_step(world, 100));
  CHECK_EQ_U64(talus_world_hash(world), hash);
  talus_world_destroy(world);
}

TEST(settings_that_make_no_sense_are_refused) {
  const struct {
    double slop, correction;
    talus_friction_model friction;
    const char *why;
  } bad[] = {{NAN, 0.2, TALUS_FRICTION_NCP, "solve.slop is nan"},
             {INFINITY, 0.2, TALUS_FRICTION_NCP, "solve.slop is inf"},
             {0, -0.1, TALUS_FRICTION_NCP, "solve.correction -0.1"},
             {0, 1.5, TALUS_FRICTION_NCP, "0 <= correction <= 1"},
             {0, 0.2, TALUS_FRICTION_CCP, "solve.friction is ccp"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    talus_world_def def = talus_world_def_default();
    talus_world *world = NULL;
    def.solve.kind = TALUS_SOLVE_IMPULSE;
    def.solve.slop = bad[i].slop;
    def.solve.correction = bad[i].correction;
    def.solve.friction = bad[i].friction;
    CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID && !world);
    CHECK_MSG(strstr(talus_last_error(), bad[i].why), "%s", talus_last_error());
  }
}

TEST_MAIN()
