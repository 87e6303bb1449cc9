/* Joints hold islands together: what is joined is solved together, sleeps together and wakes
 * together, and what is not is no business of its. */
#include <unistd.h>

#include "physics/rig.h"
#include "crowd/asleep.h"
#include "world/world.h"

#define DT    2e-3
#define STEPS 50 /* of sleep.time */

static const talus_body ground = {0, 0};

typedef struct yard {
  talus_world *world;
  talus_material m;
  talus_shape ball, brick;
  talus_body floor;
} yard;

static talus_world_def yard_def(int threads) {
  talus_world_def def = rig_def(DT);
  def.solve.iterations = 200;
  def.solve.tolerance = 1e-6;
  def.threads = threads;
  def.sleep = (talus_sleep_def){5e-3, STEPS * DT};
  return def;
}

static yard make_yard(const talus_world_def *def) {
  yard y = {.world = rig_world(def)};
  y.m = rig_material(y.world, 0.5, 0);
  y.ball = rig_shape(y.world, TALUS_SPHERE, 0.1, 0, 0, 0);
  y.brick = rig_shape(y.world, TALUS_BOX, 0.4, 0.2, 0.1, 0);
  y.floor = rig_floor(y.world, y.m);
  return y;
}

static talus_body put(const yard *y, talus_shape shape, double x, double z) {
  return rig_body(y->world, TALUS_FREE, shape, y->m, x, 0, z);
}

static talus_joint_def joint_at(talus_joint_kind kind, talus_body a, talus_body b, double x,
                                double z) {
  talus_joint_def def = talus_joint_def_default();
  def.kind = kind;
  def.a = a, def.b = b;
  def.at = def.to = (talus_dvec3){x, 0, z};
  def.axis = (talus_vec3){0, 1, 0};
  return def;
}

static talus_joint join(const yard *y, const talus_joint_def *def) {
  talus_joint joint;
  CHECK_OK(talus_world_add_joint(y->world, def, &joint));
  return joint;
}

static talus_joint hinge(const yard *y, talus_body a, talus_body b, double x, double z) {
  const talus_joint_def def = joint_at(TALUS_JOINT_REVOLUTE, a, b, x, z);
  return join(y, &def);
}

static bool sleeps(const yard *y, talus_body body) { return rig_info(y->world, body).asleep; }
static void step(const yard *y, int n) { CHECK_OK(talus_world_step(y->world, (uint64_t)n)); }

static double force_of(const yard *y, talus_joint joint) {
  talus_joint_info info;
  CHECK_OK(talus_world_get_joint(y->world, joint, &info));
  return (double)info.force.z;
}

/* ---- sleep ----------------------------------------------------------------------------------- */

/* Two bricks on the floor side by side with a hinge between them, and a ball on the first. */
typedef struct couple {
  yard y;
  talus_body a, b, rider;
  talus_joint joint;
} couple;

static couple make_couple(int threads) {
  const talus_world_def def = yard_def(threads);
  couple c = {.y = make_yard(&def)};
  c.a = put(&c.y, c.y.brick, 0, 0.05);
  c.b = put(&c.y, c.y.brick, 0.45, 0.05);
  c.rider = put(&c.y, c.y.ball, 0, 0.2);
  c.joint = hinge(&c.y, c.a, c.b, 0.225, 0.05);
  return c;
}

static int count(const couple *c) {
  return sleeps(&c->y, c->a) + sleeps(&c->y, c->b) + sleeps(&c->y, c->rider);
}

static couple make_sleeping(int threads) {
  couple c = make_couple(threads);
  step(&c.y, STEPS + 30);
  CHECK_MSG(count(&c) == 3, "%d of 3 sleep", count(&c));
  return c;
}

TEST(joined_bodies_fall_asleep_together) {
  couple c = make_couple(1);
  /* The second brick is pushed on for a while: the first, though at rest, waits for it. */
  for (int i = 0; i < 2 * STEPS; ++i) {
    CHECK_OK(talus_body_set_velocity(c.y.world, c.b, rig_vec(0, 0, 0.01), rig_vec(0, 0, 0)));
    step(&c.y, 1);
    CHECK(count(&c) == 0);
  }
  int after = 0;
  while (count(&c) == 0 && after < 4 * STEPS)
    step(&c.y, 1), after++;
  CHECK_MSG(count(&c) == 3 && after >= STEPS, "%d sleep after %d steps", count(&c), after);
  talus_world_destroy(c.y.world);
}

TEST(sleeping_mechanism_is_frozen_and_its_joints_carry_on) {
  const talus_world_def def = yard_def(1);
  yard y = make_yard(&def);
  /* A chain of two balls that hangs from the ground: nothing but joints holds it. */
  const talus_body upper = put(&y, y.ball, 0, 2), lower = put(&y, y.ball, 0, 1.7);
  const talus_joint top = hinge(&y, ground, upper, 0, 2.2);
  hinge(&y, upper, lower, 0, 1.85);
  step(&y, STEPS + 10);
  CHECK(sleeps(&y, upper) && sleeps(&y, lower));
  const uint64_t hash = talus_world_hash(y.world);
  step(&y, 300);
  CHECK(talus_world_hash(y.world) == hash);
  const talus_report report = rig_report(y.world);
  CHECK(report.kinetic_energy == 0 && report.iterations == 0 && report.asleep == 2);
  const double weight = 2 * G * (double)rig_info(y.world, upper).mass;
  CHECK_NEAR(force_of(&y, top), weight, 1e-3 * weight);
  talus_world_destroy(y.world);
}

TEST(isolated_mechanism_that_rests_on_nothing_does_not_sleep) {
  talus_world_def def = yard_def(1);
  def.gravity = rig_vec(0, 0, 0);
  yard y = make_yard(&def);
  const talus_body a = put(&y, y.ball, 0, 2), b = put(&y, y.ball, 0.3, 2);
  hinge(&y, a, b, 0.15, 2);
  step(&y, 3 * STEPS);
  CHECK(!sleeps(&y, a) && !sleeps(&y, b));
  talus_world_destroy(y.world);
}

/* A brick on the floor, held by a joint of which `def` has the rest: does it sleep? */
static bool brick_sleeps(talus_joint_def def) {
  const talus_world_def world = yard_def(1);
  yard y = make_yard(&world);
  def.b = put(&y, y.brick, 0, 0.05);
  join(&y, &def);
  step(&y, 3 * STEPS);
  const bool asleep = sleeps(&y, def.b);
  talus_world_destroy(y.world);
  return asleep;
}

TEST(motors_and_loaded_springs_keep_awake) {
  talus_joint_def def = joint_at(TALUS_JOINT_PRISMATIC, ground, ground, 0, 0.05);
  def.axis = (talus_vec3){1, 0, 0};
  CHECK(brick_sleeps(def));
  def.motor = TALUS_MOTOR_SPEED, def.motor_max = 1; /* far less than friction */
  def.motor_target = 0.1;
  CHECK(!brick_sleeps(def));
  def.motor_target = 0; /* a brake */
  CHECK(brick_sleeps(def));
  def.motor = TALUS_MOTOR_FORCE, def.motor_target = 0.5;
  CHECK(!brick_sleeps(def));
  def.motor = TALUS_MOTOR_NONE;
  def.stiffness = 10, def.rest = 0.1; /* pulls with 1 N, which friction holds */
  CHECK(!brick_sleeps(def));
  def.rest = 0;
  CHECK(brick_sleeps(def));
}

TEST(touching_one_end_wakes_all_that_is_joined) {
  couple c = make_sleeping(1);
  const talus_body ball = put(&c.y, c.y.ball, 0.5, 0.5);
  int hit = 0;
  while (count(&c) == 3 && hit < 500)
    step(&c.y, 1), hit++;
  CHECK_MSG(count(&c) == 0 && hit > 20 && hit < 500, "%d sleep after %d steps", count(&c), hit);
  CHECK(!sleeps(&c.y, ball));
  talus_world_destroy(c.y.world);
}

TEST(waking_one_wakes_what_is_joined_to_it) {
  couple c = make_sleeping(1);
  CHECK_OK(talus_body_wake(c.y.world, c.b));
  step(&c.y, 1);
  CHECK(count(&c) == 0);
  step(&c.y, STEPS + 30);
  CHECK(count(&c) == 3);
  talus_world_destroy(c.y.world);
}

TEST(woken_when_its_joint_or_its_partner_goes) {
  couple c = make_sleeping(1);
  CHECK_OK(talus_world_remove_joint(c.y.world, c.joint));
  CHECK(!sleeps(&c.y, c.a) && !sleeps(&c.y, c.b));
  talus_world_destroy(c.y.world);
  c = make_sleeping(1);
  CHECK_OK(talus_world_remove_body(c.y.world, c.b));
  CHECK(!sleeps(&c.y, c.a));
  talus_world_destroy(c.y.world);
}

TEST(woken_when_its_motor_is_set) {
  const talus_world_def world = yard_def(1);
  yard y = make_yard(&world);
  const talus_body brick = put(&y, y.brick, 0, 0.05);
  talus_joint_def def = joint_at(TALUS_JOINT_PRISMATIC, ground, brick, 0, 0.05);
  def.axis = (talus_vec3){1, 0, 0};
  def.motor = TALUS_MOTOR_SPEED, def.motor_target = 0, def.motor_max = 1e4;
  const talus_joint joint = join(&y, &def);
  step(&y, STEPS + 20);
  CHECK(sleeps(&y, brick));
  CHECK_OK(talus_joint_set_motor(y.world, joint, 0.5, 1e4));
  step(&y, 50);
  CHECK_NEAR((double)rig_info(y.world, brick).velocity.x, 0.5, 1e-3);
  talus_world_destroy(y.world);
}

TEST(broken_joint_lets_both_sides_sleep_apart) {
  const talus_world_def world = yard_def(1);
  yard y = make_yard(&world);
  const talus_body a = put(&y, y.brick, 0, 0.05), b = put(&y, y.brick, 0.45, 0.05);
  talus_joint_def def = joint_at(TALUS_JOINT_REVOLUTE, a, b, 0.225, 0.05);
  def.break_force = 1;
  join(&y, &def);
  CHECK_OK(talus_body_set_velocity(y.world, b, rig_vec(0.5, 0, 0), rig_vec(0, 0, 0)));
  step(&y, 1);
  CHECK(rig_report(y.world).joints_broken == 1);
  for (int i = 0; i < 3 * STEPS; ++i) { /* b is kept going; a need not care */
    CHECK_OK(talus_body_set_velocity(y.world, b, rig_vec(0.1, 0, 0), rig_vec(0, 0, 0)));
    step(&y, 1);
  }
  CHECK(sleeps(&y, a) && !sleeps(&y, b));
  talus_world_destroy(y.world);
}

/* A load that hangs from a kinematic hook never sleeps while the hook has a motion, however slow it
 * is just now. */
TEST(hanging_from_a_moving_hook_keeps_awake) {
  for (int moves = 0; moves < 2; ++moves) {
    const talus_world_def world = yard_def(1);
    yard y = make_yard(&world);
    talus_body_def hook = talus_body_def_default();
    hook.kind = TALUS_KINEMATIC;
    hook.shape = y.ball, hook.material = y.m;
    hook.position = (talus_dvec3){0, 0, 2};
    hook.motion.velocity = rig_vec(moves ? 1e-3 : 0, 0, 0);
    talus_body held;
    CHECK_OK(talus_world_add_body(y.world, &hook, &held));
    const talus_body load = put(&y, y.ball, 0, 1.5);
    hinge(&y, held, load, 0, 2);
    step(&y, 3 * STEPS);
    CHECK_MSG(sleeps(&y, load) == !moves, "moves: %d", moves);
    talus_world_destroy(y.world);
  }
}

TEST(sleep_with_joints_has_the_same_bits_for_any_number_of_threads) {
  uint64_t hash[3][3];
  for (int t = 0; t < 3; ++t) {
    couple c = make_sleeping(1 << t);
    put(&c.y, c.y.ball, 0.5, 0.5);
    for (int k = 0; k < 3; ++k) {
      step(&c.y, 100);
      hash[t][k] = talus_world_hash(c.y.world);
    }
    talus_world_destroy(c.y.world);
  }
  CHECK(memcmp(hash[0], hash[1], sizeof hash[0]) == 0);
  CHECK(memcmp(hash[0], hash[2], sizeof hash[0]) == 0);
}

TEST(going_on_from_a_file_while_joined_bodies_sleep_changes_no_bit) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  char path[64];
  snprintf(path, sizeof path, "joined-%d.hdf", (int)getpid());
  couple c = make_sleeping(1);
  put(&c.y, c.y.ball, 0.5, 0.5);
  CHECK_OK(talus_world_save(c.y.world, path));
  talus_world *loaded;
  CHECK_OK(talus_world_load(path, &loaded));
  CHECK(remove(path) == 0);
  bool woke = false;
  for (int i = 0; i < 300; ++i) {
    CHECK(talus_world_hash(loaded) == talus_world_hash(c.y.world));
    CHECK(rig_report(loaded).asleep == rig_report(c.y.world).asleep);
    woke |= rig_report(loaded).asleep == 0;
    CHECK_OK(talus_world_step(loaded, 1));
    step(&c.y, 1);
  }
  CHECK(woke);
  talus_world_destroy(loaded);
  talus_world_destroy(c.y.world);
}

/* ---- islands --------------------------------------------------------------------------------- */

/* A chain of `links` bricks hung from the ground at x and let go askew, the last one in a heap. */
static void add_chain(const yard *y, double x, int links) {
  talus_body last = ground;
  for (int i = 0; i < links; ++i) {
    const talus_body brick = put(y, y->brick, x + 0.2 + 0.42 * i, 1.5);
    hinge(y, last, brick, x + 0.42 * i, 1.5);
    last = brick;
  }
}

static yard make_works(talus_world_def def, int chains, bool others) {
  yard y = make_yard(&def);
  put(&y, y.brick, -6,
      0.05); /* never one island alone, which gradient methods do not number anew */
  add_chain(&y, 0, 5);
  put(&y, y.ball, 1.2, 1.65);
  put(&y, y.ball, 0.8, 1.65);
  for (int i = 0; i < chains && others; ++i)
    add_chain(&y, 10 + 5 * i, 1 + i % 4);
  for (int i = 0; i < 40 && others; ++i)
    put(&y, y.ball, -2 - 0.21 * (i % 8), 0.1 + 0.2 * (i / 8));
  return y;
}

static const talus_ccp_method methods[4] = {TALUS_GAUSS_SEIDEL, TALUS_APGD, TALUS_BB, TALUS_JACOBI};

TEST(mechanisms_apart_have_the_velocities_of_one_problem) {
  for (int k = 0; k < 3; ++k)
    for (int joints = TALUS_JOINTS_DIRECT; joints <= TALUS_JOINTS_ITERATIVE; ++joints) {
      talus_world_def def = yard_def(1);
      def.solve.method = methods[k];
      def.solve.joints = (talus_joints_solver)joints;
      def.solve.friction = TALUS_FRICTION_CCP;
      def.solve.iterations = 20000;
      def.solve.tolerance = BY_PRECISION(1e-10, 1e-6);
      yard apart = make_works(def, 4, true);
      def.solve.islands = false;
      yard whole = make_works(def, 4, true);
      step(&apart, 1);
      step(&whole, 1);
      const double tolerance = BY_PRECISION(1e-6, 2e-2) * G * DT;
      for (size_t i = 0; i < whole.world->model.bodies; ++i) {
        const double off = (double)tl_length(
            tl_sub(apart.world->state.velocity[i], whole.world->state.velocity[i]));
        CHECK_MSG(off < tolerance, "method %d, joints %d: body %zu is off by %g", k, joints, i,
                  off);
      }
      talus_world_destroy(apart.world);
      talus_world_destroy(whole.world);
    }
}

TEST(mechanism_does_not_see_what_else_there_is) {
  for (int k = 0; k < 4; ++k) {
    talus_world_def def = yard_def(1);
    def.solve.method = methods[k];
    def.solve.iterations = 60;
    def.sleep.speed = 0;
    yard alone = make_works(def, 6, false), among = make_works(def, 6, true);
    step(&alone, 60);
    step(&among, 60);
    const size_t n = alone.world->model.bodies;
    const tl_state *x = &alone.world->state, *y = &among.world->state;
    CHECK_MSG(memcmp(x->position, y->position, n * sizeof *x->position) == 0 &&
                  memcmp(x->spin, y->spin, n * sizeof *x->spin) == 0,
              "method %d", k);
    talus_world_destroy(alone.world);
    talus_world_destroy(among.world);
  }
}

TEST(mechanisms_have_the_same_bits_for_any_number_of_threads) {
  for (int k = 0; k < 4; ++k) {
    uint64_t hash[3];
    for (int t = 0; t < 3; ++t) {
      talus_world_def def = yard_def(1 << t);
      def.solve.method = methods[k];
      def.solve.iterations = 15;
      yard y = make_works(def, 60, true);
      step(&y, 40);
      hash[t] = talus_world_hash(y.world);
      talus_world_destroy(y.world);
    }
    CHECK_MSG(hash[0] == hash[1] && hash[0] == hash[2], "method %d", k);
  }
}

TEST(mechanisms_allocate_nothing_once_warm) {
  couple c = make_sleeping(1);
  for (int round = 0; round < 2; ++round) {
    const uint64_t before = tl_memory_count().allocations;
    for (int k = 0; k < 2; ++k) {
      CHECK_OK(talus_body_wake(c.y.world, c.a));
      step(&c.y, STEPS + 30);
      CHECK(count(&c) == 3);
    }
    CHECK(round == 0 || tl_memory_count().allocations == before);
  }
  talus_world_destroy(c.y.world);
}

TEST_MAIN()
