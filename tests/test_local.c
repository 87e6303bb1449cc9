/* Local time: every cluster at its own pace, and nothing passes through anything. */
#include "base/random.h"
#include "billiards.h"

#include "step/paths.h"
#include "world/world.h"

#include <float.h>

static talus_world *make(double gravity, double dt, double halo) {
  return make_with(TALUS_STEP_LOCAL, gravity, dt, halo, 2);
}

static const talus_vec3 still = {0, 0, 0};

/* ---- an audit of every interval, as talus audit does it -------------------------------------- */

static double deepest; /* m: largest overlap; negative: the smallest gap */
static size_t overlaps;

static talus_status watch(void *context, const tl_crowd *crowd) {
  (void)context;
  const tl_paths_rule rule = {.floor = {.halos = -0.01}, .fine = {.halos = 0.01}, .goes_on = true};
  tl_paths_report found;
  TL_TRY(tl_local_check_pieces(crowd->local, &rule, &found));
  overlaps += found.short_count;
  deepest = fmax(deepest, -found.least);
  return TALUS_OK;
}

static void audit(talus_world *world) {
  deepest = -DBL_MAX, overlaps = 0;
  world->watch = watch;
  world->watch_context = world;
}

/* ---- tests ----------------------------------------------------------------------------------- */

TEST(a_flight_is_the_parabola_however_it_is_cut) {
  if (TALUS_SINGLE)
    SKIP("velocities are floats here");
  for (int cuts = 1; cuts <= 1000; cuts *= 10) {
    talus_world *world = make(9.81, 1.0 / cuts, -1);
    const talus_material m = material(world, 0, 0);
    const talus_body b =
        body(world, shape(world, TALUS_BOX, 0.1, 0.2, 0.3), m, (talus_dvec3){1, 2, 3},
             (talus_vec3){3, -1, 4}, (talus_vec3){1, 2, 3}, TALUS_FREE);
    CHECK_OK(talus_world_step(world, (uint64_t)cuts));
    const talus_dvec3 x = info(world, b).position;
    CHECK_NEAR(talus_world_time(world), 1, 1e-15);
    CHECK_NEAR(x.x, 4, 1e-12);
    CHECK_NEAR(x.y, 1, 1e-12);
    CHECK_NEAR(x.z, 3 + 4 - 0.5 * 9.81, 1e-12);
    talus_world_destroy(world);
  }
}

TEST(two_balls_that_meet_swap_their_velocities) {
  talus_world *world = make(0, 0.1, -1);
  const talus_material m = material(world, 0, 1);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  const talus_body a =
      body(world, s, m, (talus_dvec3){0, 0, 0}, (talus_vec3){1, 0, 0}, still, TALUS_FREE);
  const talus_body b =
      body(world, s, m, (talus_dvec3){1, 0, 0}, (talus_vec3){-1, 0, 0}, still, TALUS_FREE);
  const talus_body c =
      body(world, s, m, (talus_dvec3){0, 5, 0}, (talus_vec3){1, 0, 0}, still, TALUS_FREE);
  audit(world);
  CHECK_OK(talus_world_step(world, 10));
  CHECK(overlaps == 0);
  CHECK_NEAR(info(world, a).velocity.x, -1, 1e-6);
  CHECK_NEAR(info(world, b).velocity.x, 1, 1e-6);
  CHECK_NEAR(info(world, a).position.x, -0.2, 1e-4);
  CHECK_NEAR(info(world, b).position.x, 1.2, 1e-4);
  CHECK_NEAR(info(world, c).position.x, 1, 1e-6);
  talus_report report;
  CHECK_OK(talus_world_report(world, &report));
  CHECK(report.local.body_steps < report.local.body_steps_global);
  talus_world_destroy(world);
}

TEST(billiards_are_those_of_an_event_driven_reference) {
  if (TALUS_SINGLE)
    SKIP("velocities are floats here");
  check_billiards(TALUS_STEP_LOCAL);
}

/* The hole in the published proof: p is at rest until r hits it on its diagonal, `late` seconds
 * after the begin, and leaves along it with 10 m/s; q has crossed its way before. */
static talus_world *make_hole(double late, talus_body *p, talus_body *q) {
  talus_world *world = make(0, 0.5, -1);
  const talus_material m = material(world, 0, 1);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  const double v = 10 * sqrt(2), aside = 0.200005 * sqrt(0.5), met = 3 * sqrt(0.5);
  *p = body(world, s, m, (talus_dvec3){0, 0, 0}, still, still, TALUS_FREE);
  body(world, s, m, (talus_dvec3){-aside - v * late, -aside, 0}, (talus_vec3){TL_R(v), 0, 0}, still,
       TALUS_FREE);
  *q = body(world, s, m, (talus_dvec3){met, met + 10 * (0.3 + late), 0}, (talus_vec3){0, -10, 0},
            still, TALUS_FREE);
  audit(world);
  return world;
}

TEST(a_collision_with_the_past_of_another_is_found) {
  talus_body p, q;
  talus_world *world = make_hole(0, &p, &q);
  CHECK_OK(talus_world_step(world, 1));
  CHECK(overlaps == 0);
  CHECK(info(world, p).velocity.y < 5); /* they met on the diagonal, at t = 0.3 */
  CHECK(info(world, q).velocity.y > -8);
  CHECK(world->local.counts.rollbacks > 0);
  talus_world_destroy(world);
}

TEST(without_the_check_it_is_missed) {
  talus_body p, q;
  talus_world *world = make_hole(0, &p, &q);
  world->local.skips_check = true;
  CHECK_OK(talus_world_step(world, 1));
  CHECK(overlaps > 0); /* the audit sees it */
  CHECK_NEAR(info(world, p).velocity.x, 10 * sqrt(0.5), 1e-3);
  CHECK_NEAR(info(world, q).velocity.y, -10, 1e-5);
  talus_world_destroy(world);
}

TEST(who_is_ahead_comes_back_to_meet_and_momentum_stays) {
  talus_body p, q;
  talus_world *world = make_hole(0.05, &p, &q);
  talus_report before, after;
  CHECK_OK(talus_world_report(world, &before));
  CHECK_OK(talus_world_step(world, 1));
  CHECK_OK(talus_world_report(world, &after));
  CHECK(overlaps == 0);
  CHECK(info(world, q).velocity.y > -8);
  CHECK(after.local.rendezvous > 0 && after.local.depth > 0.1 && after.local.depth <= 0.5);
  for (int i = 0; i < 3; ++i)
    CHECK_NEAR(after.momentum[i], before.momentum[i], TALUS_SINGLE ? 1e-3 : 1e-12);
  talus_world_destroy(world);
}

/* ---- random scenes --------------------------------------------------------------------------- */

typedef struct settings {
  talus_step_kind step;
  double gravity, speed, restitution, dt;
  int threads, bodies;
  bool walls;
} settings;

static double kinetic(talus_world *world) {
  talus_report report;
  CHECK_OK(talus_world_report(world, &report));
  return report.kinetic_energy;
}

/* Bodies of five kinds, one of them a mesh, on a grid, so that none overlap, with random
 * velocities; some are fast. */
static talus_world *make_random(uint64_t seed, const settings *set) {
  talus_world *world = make_with(set->step, set->gravity, set->dt, -1, set->threads);
  world->model.dt_min = 1e-10; /* at 1e4 m/s a micrometre, less than a halo */
  tl_random random = tl_random_start(seed, 24, 1);
  const talus_material m = material(world, 0.3, set->restitution);
  const talus_shape kinds[] = {shape(world, TALUS_SPHERE, 0.1, 0, 0),
                               shape(world, TALUS_BOX, 0.16, 0.12, 0.1),
                               shape(world, TALUS_CAPSULE, 0.05, 0.1, 0),
                               shape(world, TALUS_ELLIPSOID, 0.1, 0.07, 0.05), stone(world, 0.06)};
  const double count = sizeof kinds / sizeof *kinds;
  if (set->walls)
    body(world, shape(world, TALUS_CONTAINER, 2, 2, 2), m, (talus_dvec3){0, 0, 0}, still, still,
         TALUS_FIXED);
  for (int i = 0; i < set->bodies; ++i) {
    const int x = i % 6, y = i / 6 % 6, z = i / 36;
    const double fast = tl_random_unit(&random) < 0.1 ? 10 : 1;
    talus_vec3 v, w;
    v.x = TL_R(fast * set->speed * (2 * tl_random_unit(&random) - 1));
    v.y = TL_R(fast * set->speed * (2 * tl_random_unit(&random) - 1));
    v.z = TL_R(fast * set->speed * (2 * tl_random_unit(&random) - 1));
    w.x = TL_R(20 * (2 * tl_random_unit(&random) - 1));
    w.y = TL_R(20 * (2 * tl_random_unit(&random) - 1));
    w.z = TL_R(20 * (2 * tl_random_unit(&random) - 1));
    const size_t kind = (size_t)(count * tl_random_unit(&random));
    body(world, kinds[kind < (size_t)count ? kind : 0], m,
         (talus_dvec3){-0.75 + 0.3 * x, -0.75 + 0.3 * y, -0.75 + 0.3 * z}, v, w, TALUS_FREE);
  }
  return world;
}

static settings random_settings(uint64_t seed) {
  return (settings){.step = TALUS_STEP_LOCAL,
                    .gravity = seed % 2 ? 9.81 : 0,
                    .speed = seed % 3 == 0   ? 1
                             : seed % 3 == 1 ? 10
                                             : 1000,
                    .restitution = seed % 4 == 0 ? 0.9 : 0.2,
                    .dt = seed % 3 == 2 ? 1e-5 : 2e-3,
                    .threads = 2,
                    .bodies = 24,
                    .walls = true};
}

TEST(random_scenes_have_no_overlap_and_make_no_energy) {
  const uint64_t seeds = check_is_short() ? 3 : getenv("TALUS_SOAK") ? 200 : 6;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const settings set = random_settings(seed);
    talus_world *world = make_random(seed, &set);
    const double before = kinetic(world);
    audit(world);
    for (int i = 0; i < 10; ++i)
      CHECK_OK(talus_world_step(world, 1));
    CHECK_MSG(overlaps == 0, "seed %llu: %zu overlaps, %g m", (unsigned long long)seed, overlaps,
              deepest);
    talus_report report;
    CHECK_OK(talus_world_report(world, &report));
    if (set.gravity == 0)
      CHECK_MSG(report.kinetic_energy <= before * (1 + 1e-6), "seed %llu: %g J became %g",
                (unsigned long long)seed, before, report.kinetic_energy);
    CHECK(report.made_energy <= 1e-6 * before);
    CHECK(report.local.depth <= set.dt && report.local.window <= set.dt);
    CHECK(report.local.clusters > 0 && report.local.rounds > 0);
    talus_world_destroy(world);
  }
}

TEST(momentum_stays_over_collisions) {
  const settings set = {TALUS_STEP_LOCAL, 0, 3, 0.5, 0.02, 2, 36, false};
  talus_world *world = make_random(5, &set);
  talus_report before, after;
  CHECK_OK(talus_world_report(world, &before));
  audit(world);
  CHECK_OK(talus_world_step(world, 10));
  CHECK_OK(talus_world_report(world, &after));
  CHECK(overlaps == 0 && after.kinetic_energy < 0.999 * before.kinetic_energy);
  const double eps = TALUS_SINGLE ? 1e-4 : 1e-9;
  for (int i = 0; i < 3; ++i)
    CHECK_NEAR(after.momentum[i], before.momentum[i], eps * (1 + fabs(before.momentum[i])));
  talus_world_destroy(world);
}

/* Sum of the sizes of all momenta, kg m/s. */
static double all_momenta(talus_world *world) {
  double sum = 0;
  for (size_t i = 0; i < world->model.bodies; ++i) {
    talus_body b;
    CHECK_OK(talus_world_body_at(world, i, &b));
    const talus_body_info now = info(world, b);
    sum += (double)(now.mass * tl_length(now.velocity));
  }
  return sum;
}

/* Every third body hangs on the next: joints push all the time, so that these do not fly, while
 * those that hit them do. */
static void join_some(talus_world *world) {
  for (size_t i = 0; i + 1 < world->model.bodies; i += 3) {
    talus_joint_def joint = talus_joint_def_default();
    joint.kind = TALUS_JOINT_SPHERICAL;
    CHECK_OK(talus_world_body_at(world, i, &joint.a));
    CHECK_OK(talus_world_body_at(world, i + 1, &joint.b));
    joint.at = joint.to = info(world, joint.a).position;
    CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  }
}

/* Whoever comes back: with an impact in the step that is cut, with a push, or with both. */
TEST(momentum_stays_to_rounding_over_rendezvous) {
  const uint64_t seeds = check_is_short() ? 2 : 8;
  uint64_t met = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const settings set = {TALUS_STEP_LOCAL, 0, 3, seed % 2 ? 0.9 : 0.4, 0.02, 2, 36, false};
    talus_world *world = make_random(seed, &set);
    talus_report before, after;
    join_some(world);
    CHECK_OK(talus_world_report(world, &before));
    const double size = all_momenta(world);
    audit(world);
    CHECK_OK(talus_world_step(world, 10));
    CHECK_OK(talus_world_report(world, &after));
    CHECK_MSG(overlaps == 0, "seed %llu: %zu overlaps, %g m", (unsigned long long)seed, overlaps,
              deepest);
    for (int i = 0; i < 3; ++i)
      CHECK_MSG(fabs(after.momentum[i] - before.momentum[i]) <=
                    (TALUS_SINGLE ? 1e-5 : 1e-13) * size,
                "seed %llu, axis %d: %g became %g of %g", (unsigned long long)seed, i,
                before.momentum[i], after.momentum[i], size);
    met += after.local.rendezvous;
    talus_world_destroy(world);
  }
  CHECK(met > 0);
}

static size_t ahead; /* bodies that were saved ahead of the others */

static uint64_t hash_of_run(uint64_t seed, int threads, int stop) {
  settings set = random_settings(seed);
  set.threads = threads;
  talus_world *world = make_random(seed, &set);
  for (int i = 0; i < 8; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    if (i != stop)
      continue;
    ahead += world->local.ahead.count;
#if TALUS_HAVE_HDF5
    CHECK_OK(talus_world_save(world, "local.hdf"));
    talus_world_destroy(world);
    CHECK_OK(talus_world_load("local.hdf", &world));
#endif
  }
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(threads_and_restarts_give_the_same_bits) {
  for (uint64_t seed = 0; seed < (check_is_short() ? 1 : 2); ++seed) {
    const uint64_t hash = hash_of_run(seed, 1, -1);
    CHECK(hash_of_run(seed, 2, 2) == hash);
    CHECK(hash_of_run(seed, 4, 5) == hash);
    for (int stop = 0; stop < 8 && !check_is_short(); ++stop)
      CHECK_MSG(hash_of_run(seed, 1, stop) == hash, "seed %llu, stopped after %d",
                (unsigned long long)seed, stop);
  }
  CHECK(ahead > 0 || check_is_short());
}

/* ---- one cluster is the adaptive step -------------------------------------------------------- */

static uint64_t hash_of_heap(talus_step_kind step) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.dt = def.dt_min = 1.0 / 1024, def.step = step, def.threads = 2;
  CHECK_OK(talus_world_create(&def, &world));
  const talus_material m = material(world, 0.5, 0);
  body(world, shape(world, TALUS_PLANE, 0, 0, 1), m, (talus_dvec3){0, 0, 0}, still, still,
       TALUS_FIXED);
  const talus_shape s = shape(world, TALUS_BOX, 0.2, 0.2, 0.2);
  for (int i = 0; i < 4; ++i)
    body(world, s, m, (talus_dvec3){0.01 * i, 0, 0.1 + 0.200005 * i + 5e-6}, still, still,
         TALUS_FREE);
  CHECK_OK(talus_world_step(world, 100));
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(a_heap_with_one_length_of_steps_has_the_bits_of_one_step_for_all) {
  CHECK(hash_of_heap(TALUS_STEP_LOCAL) == hash_of_heap(TALUS_STEP_ADAPTIVE));
}

/* A column of balls at rest, apart by a slop of contacts. Steps that keep a halo measure gaps from
 * half of it on: with surfaces that much farther apart, all numbers of fixed steps are the same. */
static double bits_of_column(talus_step_kind step) {
  const double halo = 0x1p-16, dt = 1.0 / 1024, dense = step == TALUS_STEP_FIXED ? halo / 4 : 0;
  const double radius = 0.125 - halo / 4 + dense;
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.dt = dt, def.dt_min = dt, def.step = step, def.threads = 2;
  def.gravity = (talus_vec3){0, 0, -8};
  def.solve.bounce_speed = 1, def.solve.slop = 0, def.margin = 0.01; /* automatic ones go by size */
  if (step == TALUS_STEP_LOCAL)
    def.halo = halo;
  CHECK_OK(talus_world_create(&def, &world));
  const talus_material m = material(world, 0, 0);
  talus_body_def ball = talus_body_def_default();
  ball.shape = shape(world, TALUS_SPHERE, radius, 0, 0), ball.material = m, ball.mass = 2;
  body(world, shape(world, TALUS_CONTAINER, 2, 2, 2), m, (talus_dvec3){0, 0, 1 - halo / 4 + dense},
       still, still, TALUS_FIXED);
  double sum = 0;
  talus_body balls[4];
  for (int i = 0; i < 4; ++i) {
    ball.position = (talus_dvec3){0, 0, 0.125 + 0.25 * i};
    CHECK_OK(talus_world_add_body(world, &ball, &balls[i]));
  }
  CHECK_OK(talus_world_step(world, 100));
  for (int i = 0; i < 4; ++i)
    sum = 3 * sum + info(world, balls[i]).position.z + info(world, balls[i]).velocity.z;
  talus_world_destroy(world);
  return sum;
}

TEST(a_settled_column_with_one_length_of_steps_has_the_bits_of_fixed_steps) {
  const double local = bits_of_column(TALUS_STEP_LOCAL), fixed = bits_of_column(TALUS_STEP_FIXED);
  if (TALUS_SINGLE) /* positions less half a halo are not the same floats */
    CHECK_NEAR(local, fixed, 1e-4);
  else
    CHECK(local == fixed);
}

/* A chain that hangs from the ground, and a ball that flies by. */
static uint64_t hash_of_chain(talus_step_kind step, bool with_ball, double *drift) {
  talus_world *world = make_with(step, 9.81, 1.0 / 512, -1, 2);
  const talus_material m = material(world, 0.5, 0);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  talus_body last = {0};
  for (int i = 0; i < 4; ++i) {
    talus_joint_def joint = talus_joint_def_default();
    joint.kind = TALUS_JOINT_SPHERICAL;
    joint.a = body(world, s, m, (talus_dvec3){0.3 * (i + 1), 0, 0}, still, still, TALUS_FREE);
    if (i > 0)
      joint.b = last;
    last = joint.a;
    joint.at = joint.to = (talus_dvec3){0.3 * i, 0, 0};
    CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  }
  talus_body ball = {0};
  if (with_ball)
    ball = body(world, s, m, (talus_dvec3){0, 3, 0}, (talus_vec3){5, 0, 0}, still, TALUS_FREE);
  CHECK_OK(talus_world_step(world, 100));
  talus_report report;
  CHECK_OK(talus_world_report(world, &report));
  *drift = report.joint_drift;
  if (with_ball)
    CHECK_OK(talus_world_remove_body(world, ball));
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(joints_bind_clusters_and_swing_as_with_one_step_for_all) {
  double a, b, c;
  const uint64_t alone = hash_of_chain(TALUS_STEP_ADAPTIVE, false, &a);
  CHECK(hash_of_chain(TALUS_STEP_LOCAL, false, &b) == alone);
  CHECK(hash_of_chain(TALUS_STEP_LOCAL, true, &c) == alone);
  CHECK(a == b && b == c && a < 1e-3);
}

TEST(a_turning_drum_carries_clusters_of_different_pace) {
  talus_world *world = make(9.81, 0.005, -1);
  const talus_material m = material(world, 0.5, 0.2);
  talus_body_def def = talus_body_def_default();
  def.shape = shape(world, TALUS_CONTAINER, 2, 2, 2), def.material = m;
  def.kind = TALUS_KINEMATIC, def.motion.spin = (talus_vec3){0, 2, 0};
  CHECK_OK(talus_world_add_body(world, &def, NULL));
  const talus_shape s = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  for (int i = 0; i < 6; ++i)
    body(world, s, m, (talus_dvec3){-0.7 + 0.28 * i, 0.3 * (i % 2), -0.75 + 0.02 * i},
         (talus_vec3){TL_R(i % 3), 0, 0}, still, TALUS_FREE);
  audit(world);
  CHECK_OK(talus_world_step(world, 60));
  CHECK_MSG(overlaps == 0, "%zu overlaps, %g m", overlaps, deepest);
  CHECK(world->local.counts.window > 0);
  talus_world_destroy(world);
}

/* ---- beyond the end of an interval ----------------------------------------------------------- */

/* A ball bounces at 0.05 s: its next step ends at 0.15 s, though the grid has 0.1 s. */
static talus_world *make_ahead(talus_body *ball) {
  talus_world *world = make(0, 0.1, -1);
  const talus_material m = material(world, 0, 1);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  body(world, shape(world, TALUS_PLANE, 0, 0, 1), m, (talus_dvec3){0, 0, 0}, still, still,
       TALUS_FIXED);
  *ball = body(world, s, m, (talus_dvec3){0, 0, 0.15}, (talus_vec3){0, 0, -1}, still, TALUS_FREE);
  audit(world);
  CHECK_OK(talus_world_step(world, 1));
  CHECK(world->local.ahead.count == 1 && world->local.ahead.data[0].c > 0.14);
  CHECK_NEAR(talus_world_time(world), 0.1, 0);
  CHECK_NEAR(info(world, *ball).position.z, 0.15, 1e-4);
  return world;
}

TEST(the_end_of_an_interval_holds_nobody_up) {
  talus_body ball;
  talus_world *world = make_ahead(&ball);
  CHECK(world->local.counts.held == 0 && world->local.counts.clusters == 2);
  CHECK_OK(talus_world_step(world, 1));
  CHECK(world->local.counts.clusters == 3); /* from 0.15 to 0.25 s */
  CHECK_NEAR(info(world, ball).position.z, 0.25, 1e-4);
  CHECK(overlaps == 0);
  talus_world_destroy(world);
}

TEST(who_is_ahead_of_a_change_comes_back_to_it) {
  for (int what = 0; what < 4; ++what) {
    talus_body ball;
    talus_world *world = make_ahead(&ball);
    if (what == 0)
      CHECK_OK(talus_body_set_velocity(world, ball, (talus_vec3){2, 0, 0}, still));
    if (what == 1)
      CHECK_OK(talus_world_set_gravity(world, (talus_vec3){20, 0, -10}));
    if (what == 2)
      body(world, shape(world, TALUS_BOX, 1, 1, 0.1), material(world, 0, 1),
           (talus_dvec3){0, 0, 0.35}, still, still, TALUS_FIXED);
    if (what == 3) /* which need not bring it back, but meets it */
      body(world, shape(world, TALUS_SPHERE, 0.1, 0, 0), material(world, 0, 1),
           (talus_dvec3){0, 0, 0.45}, (talus_vec3){0, 0, -1}, still, TALUS_FREE);
    CHECK(world->local.ahead.count == (what == 3));
    CHECK_OK(talus_world_step(world, 1));
    const talus_body_info now = info(world, ball);
    const double x[] = {0.2, 0.1, 0, 0}, z[] = {0.15, 0.2, 0.15, 0.15};
    CHECK_NEAR(now.position.x, x[what], 1e-4);
    CHECK_NEAR(now.position.z, z[what], 1e-3);
    CHECK(what < 2 || now.velocity.z < -0.99);
    CHECK_MSG(overlaps == 0, "case %d: %zu overlaps, %g m", what, overlaps, deepest);
    talus_world_destroy(world);
  }
}

/* ---- joints that break, and what is told ----------------------------------------------------- */

static int heard_breaks, heard_passages, heard_bound;
static char heard_coarse[64]; /* names of rods, in order */

static void hear(void *context, tl_log_level level, const char *line) {
  (void)context, (void)level;
  heard_breaks += strstr(line, " broke at ") != NULL;
  heard_passages += strstr(line, "passed through") != NULL;
  heard_bound += strstr(line, "they are one cluster") != NULL;
  if (strstr(line, "is coarse"))
    strncat(heard_coarse, strchr(line, '\'') + 1, 1);
}

static void listen(talus_world *world) {
  heard_breaks = heard_passages = heard_bound = 0;
  heard_coarse[0] = '\0';
  world->model.log = (tl_log){hear, NULL, TL_LOG_WARN};
}

static talus_body cube_at(talus_world *world, talus_shape s, talus_material m, double x, double v) {
  return body(world, s, m, (talus_dvec3){x, 0, 0}, (talus_vec3){TL_R(v), 0, 0}, still, TALUS_FREE);
}

/* A ball bounces off one of two that hang on each other at 0.1 s: that one does not fly, the ball
 * does. In the middle of the step that follows, at 0.2 s, another ball is thrown to x, so that
 * whoever is there comes back. */
static void throw_after_impact(double x) {
  talus_world *world = make(0, 0.5, -1);
  const talus_material m = material(world, 0, 1);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  talus_joint_def joint = talus_joint_def_default();
  joint.kind = TALUS_JOINT_FIXED;
  joint.a = cube_at(world, shape(world, TALUS_SPHERE, 0.2, 0, 0), m, 0, 0);
  joint.b = cube_at(world, s, m, -0.4, 0);
  CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  cube_at(world, s, m, 0.4, -1);
  for (int i = 0; i < 3; ++i) /* the first hits the second at 0.11 s, that one the third at 0.2 s */
    body(world, s, m, (talus_dvec3){x, 0.45 + 0.65 * i + 0.1 * (i == 2), 0},
         (talus_vec3){0, TL_R(i == 2 ? -5 : 0), 0}, still, TALUS_FREE);
  talus_report before, after;
  CHECK_OK(talus_world_report(world, &before));
  audit(world);
  CHECK_OK(talus_world_step(world, 1));
  CHECK_OK(talus_world_report(world, &after));
  CHECK(overlaps == 0 && after.local.rendezvous > 0 && after.local.depth > 0.05);
  for (int i = 0; i < 3; ++i)
    CHECK_NEAR(after.momentum[i], before.momentum[i], (TALUS_SINGLE ? 1e-5 : 1e-13) * 25);
  CHECK(after.kinetic_energy <= before.kinetic_energy * (1 + 1e-6));
  talus_world_destroy(world);
}

TEST(an_impact_is_kept_whole_by_all_who_come_back) {
  throw_after_impact(0.42); /* to the ball */
  throw_after_impact(-0.4); /* to the two */
}

TEST(joints_that_hold_all_bodies_are_told_of_once) {
  for (int loose = 0; loose < 2; ++loose) {
    talus_world *world = make(0, 0.02, -1);
    const talus_material m = material(world, 0, 0);
    const talus_shape s = shape(world, TALUS_SPHERE, 0.05, 0, 0);
    talus_joint_def joint = talus_joint_def_default();
    joint.kind = TALUS_JOINT_SPHERICAL;
    joint.a = cube_at(world, s, m, 0, 0);
    for (int i = 1; i < 4; ++i) {
      joint.b = cube_at(world, s, m, 0.2 * i, 0);
      joint.at = joint.to = (talus_dvec3){0.2 * i - 0.1, 0, 0};
      if (i < 3 || !loose)
        CHECK_OK(talus_world_add_joint(world, &joint, NULL));
      joint.a = joint.b;
    }
    listen(world);
    CHECK_OK(talus_world_step(world, 2));
    CHECK(heard_bound == !loose);
    talus_world_destroy(world);
  }
}

TEST(a_step_that_a_joint_cuts_has_nobody_to_blame) {
  talus_world *world = make(0, 0.02, -1);
  const talus_material m = material(world, 0.4, 0.5);
  talus_joint_def joint = talus_joint_def_default();
  joint.kind = TALUS_JOINT_REVOLUTE;
  joint.a = body(world, shape(world, TALUS_BOX, 0.4, 0.05, 0.05), m, (talus_dvec3){0.2, 0, 0},
                 (talus_vec3){0, 40, 0}, (talus_vec3){0, 0, 200}, TALUS_FREE);
  CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  CHECK_OK(talus_world_step(world, 10));
  CHECK(world->adaptive.cut > 0);
  CHECK(world->adaptive.cut_by[0] == 0 && world->adaptive.cut_by[1] == 0);
  talus_world_destroy(world);
}

/* Two cubes fly at each other, held by a joint that breaks within the first interval; a ball may
 * hit one of them then, so that they step again. */
static void break_within(talus_joint_kind kind, double v, bool with_ball) {
  talus_world *world = make(0, 0.05, -1);
  const talus_material m = material(world, 0, 0);
  const talus_shape cube = shape(world, TALUS_BOX, 0.1, 0.1, 0.1);
  talus_joint_def joint = talus_joint_def_default();
  talus_joint held;
  joint.kind = kind, joint.break_force = 1;
  joint.a = cube_at(world, cube, m, 0, v);
  joint.b = cube_at(world, cube, m, 0.2, -v);
  const bool is_spring = kind == TALUS_JOINT_SPRING;
  joint.at = joint.to = (talus_dvec3){is_spring ? 0 : 0.1, 0, 0};
  if (is_spring)
    joint.to.x = 0.2, joint.stiffness = 1000, joint.rest = 0.2;
  if (with_ball)
    cube_at(world, shape(world, TALUS_SPHERE, 0.01, 0, 0), m, -0.065, 7);
  CHECK_OK(talus_world_add_joint(world, &joint, &held));
  audit(world);
  listen(world);
  for (int i = 0; i < 3; ++i) {
    talus_report report;
    CHECK_OK(talus_world_step(world, 1));
    CHECK_OK(talus_world_report(world, &report));
    CHECK(report.joints_broken == 1 && heard_breaks == 1);
    CHECK(i == 0 ? report.joint_force > 1 : report.joint_force == 0);
    CHECK(info(world, joint.b).position.x - info(world, joint.a).position.x > 0.1);
  }
  CHECK_MSG(overlaps == 0, "%zu overlaps, %g m", overlaps, deepest);
  talus_world_destroy(world);
}

TEST(who_was_held_meets_after_the_joint_broke_which_is_told_once) {
  break_within(TALUS_JOINT_FIXED, 5, false);
  break_within(TALUS_JOINT_SPRING, 4, true);
}

/* Pairs on rods that turn by 0.7 rad in a step, each a cluster of its own. */
TEST(workers_say_nothing_and_each_coarse_rod_is_told_once_in_order) {
  talus_world *world = make(0, 0.05, -1);
  const talus_material m = material(world, 0, 0);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.05, 0, 0);
  for (int i = 0; i < 5; ++i) {
    const char name[2] = {(char)('a' + i), 0};
    talus_joint_def joint = talus_joint_def_default();
    joint.name = name, joint.kind = TALUS_JOINT_DISTANCE;
    joint.at = (talus_dvec3){0, i, 0}, joint.to = (talus_dvec3){0.2, i, 0};
    joint.a = body(world, s, m, joint.at, (talus_vec3){0, 0, TL_R(1.4)}, still, TALUS_FREE);
    joint.b = body(world, s, m, joint.to, (talus_vec3){0, 0, TL_R(-1.4)}, still, TALUS_FREE);
    CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  }
  listen(world);
  CHECK_OK(talus_world_step(world, 3));
  CHECK_STR(heard_coarse, "abcde");
  talus_world_destroy(world);
}

TEST(a_bounce_within_an_interval_is_no_passage) {
  talus_world *world = make(9.81, 0.01, -1);
  const talus_material m = material(world, 0.4, 0.8);
  body(world, shape(world, TALUS_BOX, 2, 2, 0.2), m, (talus_dvec3){0, 0, -0.1}, still, still,
       TALUS_FIXED);
  body(world, shape(world, TALUS_SPHERE, 0.005, 0, 0), m, (talus_dvec3){0, 0, 0.5},
       (talus_vec3){0, 0, -4}, still, TALUS_FREE);
  listen(world);
  CHECK_OK(talus_world_step(world, 50));
  CHECK(heard_passages == 0 && world->sunk == 0);
  talus_world_destroy(world);
}

/* The stress of one contact is its force times the way from the centre to it, whenever the ball's
 * last step in the interval begins. */
TEST(probes_measure_contacts_from_where_they_were_found) {
  const double radius = 0.1;
  for (int i = 6; i < 10; ++i) {
    talus_world *world = make(0, 0.1, -1);
    const talus_material m = material(world, 0, 1);
    body(world, shape(world, TALUS_PLANE, 0, 0, 1), m, (talus_dvec3){0, 0, 0}, still, still,
         TALUS_FIXED);
    const talus_body ball =
        body(world, shape(world, TALUS_SPHERE, radius, 0, 0), m,
             (talus_dvec3){0, 0, radius + 0.01 * i}, (talus_vec3){0, 0, -1}, still, TALUS_FREE);
    talus_probe_def def = {.name = "all", .record = TALUS_RECORD_STRESS};
    def.region.kind = TALUS_REGION_BOX;
    def.region.box = (talus_box){{-1, -1, -1}, {1, 1, 1}};
    uint32_t all, one;
    CHECK_OK(talus_world_add_probe(world, &def, &all));
    def = (talus_probe_def){
        .name = "one", .on_body = true, .body = ball, .record = TALUS_RECORD_FORCE};
    CHECK_OK(talus_world_add_probe(world, &def, &one));
    CHECK_OK(talus_world_step(world, 1));
    talus_probe_values stress, force;
    CHECK_OK(talus_probe_read(world, all, &stress));
    CHECK_OK(talus_probe_read(world, one, &force));
    CHECK(force.force[2] > 0);
    CHECK_NEAR(8 * stress.stress[2] / force.force[2], radius, 0.01 * radius);
    talus_world_destroy(world);
  }
}

static uint32_t probe_on(talus_world *world, talus_body of) {
  talus_probe_def def = {
      .name = "force", .on_body = true, .body = of, .record = TALUS_RECORD_FORCE};
  uint32_t probe;
  CHECK_OK(talus_world_add_probe(world, &def, &probe));
  return probe;
}

/* A ball bounces at the begin of the interval and flies on, in steps of its own. */
TEST(probes_know_a_contact_that_came_and_went_within_an_interval) {
  talus_world *world = make(0, 0.1, -1);
  const talus_material m = material(world, 0, 1);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  body(world, shape(world, TALUS_PLANE, 0, 0, 1), m, (talus_dvec3){0, 0, 0}, still, still,
       TALUS_FIXED);
  const talus_body ball =
      body(world, s, m, (talus_dvec3){0, 0, 0.11}, (talus_vec3){0, 0, -1}, still, TALUS_FREE);
  const uint32_t probe = probe_on(world, ball);
  talus_probe_values got;
  CHECK_OK(talus_world_step(world, 1));
  CHECK_OK(talus_probe_read(world, probe, &got));
  const talus_body_info now = info(world, ball);
  CHECK(now.velocity.z > 0.99);
  CHECK_NEAR(0.1 * got.force[2], now.mass * (now.velocity.z + 1), 1e-6 * now.mass);
  talus_world_destroy(world);
}

/* What walls gave is the change of momentum, though bodies come back within their steps; and a
 * joint to the ground as well. */
TEST(probes_sum_up_what_was_given_over_rendezvous) {
  const settings set = {TALUS_STEP_LOCAL, 0, 10, 0.5, 0.02, 2, 24, true};
  talus_world *world = make_random(3, &set);
  talus_body walls;
  CHECK_OK(talus_world_body_at(world, 0, &walls));
  const uint32_t probe = probe_on(world, walls);
  talus_report before, after;
  talus_probe_values got;
  CHECK_OK(talus_world_report(world, &before));
  CHECK_OK(talus_world_step(world, 10));
  CHECK_OK(talus_world_report(world, &after));
  CHECK_OK(talus_probe_read(world, probe, &got));
  CHECK(after.local.rendezvous > 0);
  for (int i = 0; i < 3; ++i)
    CHECK_NEAR(-0.2 * got.force[i], after.momentum[i] - before.momentum[i],
               (TALUS_SINGLE ? 1e-3 : 1e-9) * (1 + fabs(before.momentum[i])));
  talus_world_destroy(world);
}

TEST(a_probe_of_a_joint_sums_up_its_steps) {
  talus_world *world = make(0, 0.1, -1);
  const talus_material m = material(world, 0, 0.5);
  talus_joint_def joint = talus_joint_def_default();
  talus_joint held;
  joint.kind = TALUS_JOINT_SPHERICAL;
  joint.a = body(world, shape(world, TALUS_BOX, 0.4, 0.05, 0.05), m, (talus_dvec3){0.2, 0, 0},
                 still, still, TALUS_FREE);
  body(world, shape(world, TALUS_SPHERE, 0.05, 0, 0), m, (talus_dvec3){0.35, 0.1, 0},
       (talus_vec3){0, TL_R(-1), 0}, still, TALUS_FREE);
  CHECK_OK(talus_world_add_joint(world, &joint, &held));
  talus_probe_def def = {
      .name = "joint", .on_joint = true, .joint = held, .record = TALUS_RECORD_FORCE};
  uint32_t probe;
  CHECK_OK(talus_world_add_probe(world, &def, &probe));
  talus_report before, after;
  talus_probe_values got;
  CHECK_OK(talus_world_report(world, &before));
  CHECK_OK(talus_world_step(world, 2));
  CHECK_OK(talus_world_report(world, &after));
  CHECK_OK(talus_probe_read(world, probe, &got));
  CHECK(after.local.clusters > 4);
  double sign = 0;
  for (int i = 0; i < 3; ++i) {
    const double change = after.momentum[i] - before.momentum[i], force = 0.2 * got.force[i];
    sign = fabs(change) > 1e-3 ? change / force : sign;
    CHECK_NEAR(fabs(force), fabs(change), TALUS_SINGLE ? 1e-4 : 1e-9);
  }
  CHECK_NEAR(fabs(sign), 1, 1e-3);
  talus_world_destroy(world);
}

TEST(an_interval_that_fails_does_not_count_and_says_when) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.gravity = still, def.dt = 0.1, def.step = TALUS_STEP_LOCAL, def.threads = 2;
  def.domain.enabled = true;
  def.domain.box = (talus_box){{-1, -1, -1}, {1, 1, 1}};
  CHECK_OK(talus_world_create(&def, &world));
  const talus_material m = material(world, 0, 1);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  cube_at(world, s, m, 0, 3);
  cube_at(world, s, m, 0.6, 0);
  talus_report before, after;
  talus_status status = TALUS_OK;
  for (int i = 0; i < 10 && status == TALUS_OK; ++i) {
    CHECK_OK(talus_world_report(world, &before));
    status = talus_world_step(world, 1);
  }
  CHECK(status == TALUS_ERROR_DOMAIN && before.local.rounds > 1);
  CHECK_MSG(strstr(talus_last_error(), "in a step from t = "), "%s", talus_last_error());
  CHECK_OK(talus_world_report(world, &after));
  CHECK(memcmp(&before.local, &after.local, sizeof before.local) == 0);
  talus_world_destroy(world);
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* Pairs that collide, far from each other. */
static void measure_pairs(int pairs, double *visits, size_t *bytes, uint64_t *steps) {
  talus_world *world = make_with(TALUS_STEP_LOCAL, 0, 0.05, -1, 1);
  const talus_material m = material(world, 0, 0.5);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  for (int i = 0; i < pairs; ++i) {
    const double x = 2.0 * (i % 50), y = 2.0 * (i / 50);
    body(world, s, m, (talus_dvec3){x, y, 0}, (talus_vec3){1, 0, 0}, still, TALUS_FREE);
    body(world, s, m, (talus_dvec3){x + 0.22, y, 0}, (talus_vec3){-1, 0, 0}, still, TALUS_FREE);
  }
  CHECK_OK(talus_world_step(world, 2));
  *visits = (double)(world->local.counts.visits) / pairs;
  *steps = world->local.counts.body_steps / (uint64_t)pairs;
  *bytes = 0;
  for (size_t i = 0; i < world->local.crews.count; ++i) {
    const size_t peak = world->local.crews.data[i].arena.peak;
    *bytes = peak > *bytes ? peak : *bytes;
  }
  talus_world_destroy(world);
}

TEST(a_cluster_costs_the_same_in_a_small_and_a_large_world) {
  double few, many;
  size_t small, large;
  uint64_t a, b;
  measure_pairs(500, &few, &small, &a);
  measure_pairs(getenv("TALUS_SOAK") ? 50000 : 5000, &many, &large, &b);
  CHECK(a == b && small == large && small > 0);
  CHECK_MSG(many <= 1.1 * few, "%g visits of a pair became %g", few, many);
}

TEST(what_does_not_go_with_it_is_refused) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.step = TALUS_STEP_LOCAL, def.dt = 0.01;
  def.solve.kind = TALUS_SOLVE_PENALTY;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "penalty"));
  def.solve.kind = TALUS_SOLVE_CCP, def.sleep.speed = 0.1;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "sleep"));
  def.sleep.speed = 0, def.growth = 1;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "growth"));
  def.growth = 2, def.dt_min = 0.02;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "dt_min"));
}

TEST_MAIN()
