/* Zones that act beside sleep: a place is like gravity, and bodies that feel each other fall asleep
 * and wake together. */
#include "physics/rig.h"
#include <talus/zone.h>

#define DT    2e-3
#define STEPS 50 /* of sleep.time */

typedef struct bed {
  talus_world *world;
  talus_material m;
  talus_shape ball;
  uint32_t iron;
} bed;

static bed make_bed(bool may_sleep) {
  talus_world_def def = rig_def(DT);
  def.solve.iterations = 200;
  def.solve.tolerance = 1e-6;
  if (may_sleep)
    def.sleep = (talus_sleep_def){5e-3, STEPS * DT};
  bed b = {.world = rig_world(&def)};
  b.m = rig_material(b.world, 0.5, 0);
  b.ball = rig_shape(b.world, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  rig_floor(b.world, b.m);
  CHECK_OK(talus_world_group(b.world, "iron", &b.iron));
  return b;
}

static talus_body put(const bed *b, double x, double z) {
  talus_body body;
  talus_body_def def = talus_body_def_default();
  def.shape = b->ball, def.material = b->m, def.mass = 1, def.group = b->iron;
  def.position = (talus_dvec3){x, 0, z};
  CHECK_OK(talus_world_add_body(b->world, &def, &body));
  return body;
}

static bool sleeps(const bed *b, talus_body body) { return rig_info(b->world, body).asleep; }
static void step(const bed *b, int n) { CHECK_OK(talus_world_step(b->world, (uint64_t)n)); }

static void add_zone(const bed *b, talus_zone_def def) {
  CHECK_OK(talus_world_add_zone(b->world, &def, NULL));
}

/* A force that friction holds. */
static talus_zone_def pull(talus_zone_of of, double radius) {
  talus_zone_def def = talus_zone_def_default();
  def.of = of, def.radius = radius, def.strength = -1, def.power = 1;
  return def;
}

static talus_zone_def pull_of_group(const bed *b, double radius) {
  talus_zone_def def = pull(TALUS_ZONE_GROUP, radius);
  def.group = b->iron;
  return def;
}

TEST(a_place_that_pulls_is_like_gravity_to_who_sleeps) {
  const bed b = make_bed(true);
  const talus_body body = put(&b, 0.5, 0.1);
  add_zone(&b, pull(TALUS_ZONE_PLACE, 2));
  step(&b, STEPS + 20);
  CHECK(sleeps(&b, body));
  const talus_body_info before = rig_info(b.world, body);
  const double work = rig_report(b.world).zone_work;
  CHECK(rig_report(b.world).zone_energy < -0.3); /* it is within, and counted */
  step(&b, 100);
  const talus_body_info after = rig_info(b.world, body);
  CHECK(after.asleep && memcmp(&before.position, &after.position, sizeof after.position) == 0);
  CHECK(after.velocity.x == 0 && rig_report(b.world).zone_work == work);
  talus_zone_def away = pull(TALUS_ZONE_PLACE, 2);
  away.strength = 30; /* more than friction holds */
  add_zone(&b, away);
  CHECK(!sleeps(&b, body));
  step(&b, 100);
  CHECK_MSG(rig_info(b.world, body).position.x > 0.6, "%g", rig_info(b.world, body).position.x);
  talus_world_destroy(b.world);
}

TEST(who_feels_each_other_falls_asleep_and_wakes_together) {
  const bed b = make_bed(true);
  const talus_body x = put(&b, 0, 0.1), y = put(&b, 0.6, 0.1), far = put(&b, 5, 0.1);
  add_zone(&b, pull_of_group(&b, 1));
  step(&b, STEPS / 2);
  CHECK_OK(talus_body_set_velocity(b.world, x, rig_vec(0, 0.3, 0), rig_vec(0, 0, 0)));
  int alone = 0;
  for (int i = 0; i < 3 * STEPS; ++i) {
    step(&b, 1);
    CHECK(sleeps(&b, x) == sleeps(&b, y));
    alone += sleeps(&b, far) && !sleeps(&b, x);
  }
  CHECK(sleeps(&b, x) && alone > 5);
  CHECK_OK(talus_body_set_velocity(b.world, y, rig_vec(0, 0.3, 0), rig_vec(0, 0, 0)));
  step(&b, 1);
  CHECK(!sleeps(&b, x) && !sleeps(&b, y) && sleeps(&b, far));
  talus_world_destroy(b.world);
}

/* From when its pull is felt on, a sleeping body answers as one that never slept. */
TEST(who_comes_near_wakes_and_answers_as_if_it_had_not_slept) {
  double speed[2] = {0, 0}, apart = 9;
  for (int may_sleep = 0; may_sleep < 2; ++may_sleep) {
    const bed b = make_bed(may_sleep);
    const talus_body rests = put(&b, 0, 0.1);
    talus_zone_def zone = pull_of_group(&b, 1);
    zone.strength = -40;
    add_zone(&b, zone);
    step(&b, 2 * STEPS);
    CHECK(sleeps(&b, rests) == (may_sleep == 1));
    const talus_body flies = put(&b, 1.3, 0.9);
    CHECK_OK(talus_body_set_velocity(b.world, flies, rig_vec(-3, 0, 1.5), rig_vec(0, 0, 0)));
    for (int i = 0; i < 200; ++i) {
      const double before = apart;
      const bool slept = sleeps(&b, rests);
      step(&b, 1);
      const talus_dvec3 x = rig_info(b.world, rests).position,
                        y = rig_info(b.world, flies).position;
      speed[may_sleep] = fmax(speed[may_sleep], (double)rig_info(b.world, rests).velocity.x);
      apart = hypot(x.x - y.x, x.z - y.z);
      if (slept && !sleeps(&b, rests))
        CHECK_MSG(before > 1 && apart <= 1, "woke at %g m", apart);
    }
    CHECK(!sleeps(&b, rests));
    talus_world_destroy(b.world);
  }
  CHECK_MSG(speed[0] > 0.1, "%g", speed[0]);
  CHECK_NEAR(speed[0], speed[1], 1e-3);
}

TEST(who_lost_a_neighbour_that_pulled_wakes) {
  for (int how = 0; how < 2; ++how) {
    const bed b = make_bed(true);
    const talus_body x = put(&b, 0, 0.1), y = put(&b, 0.6, 0.1), far = put(&b, 5, 0.1);
    add_zone(&b, pull_of_group(&b, 1));
    step(&b, 2 * STEPS);
    CHECK(sleeps(&b, x) && sleeps(&b, y) && sleeps(&b, far));
    if (how == 0)
      CHECK_OK(talus_world_remove_body(b.world, y));
    else
      CHECK_OK(talus_body_set_pose(b.world, y, (talus_dvec3){9, 0, 0.1}, (talus_quat){1, 0, 0, 0}));
    CHECK(!sleeps(&b, x));
    CHECK(how == 1 || sleeps(&b, far));
    step(&b, 2 * STEPS);
    CHECK(sleeps(&b, x) && sleeps(&b, far));
    talus_world_destroy(b.world);
  }
}

/* Who was woken by one member of the group need not be looked for again until the next step, after
 * which it may sleep again. */
TEST(every_member_that_is_moved_wakes_whom_it_pulled) {
  const bed b = make_bed(true);
  const talus_body x = put(&b, 0, 0.1), y = put(&b, 0.6, 0.1), z = put(&b, -0.6, 0.1);
  const talus_quat straight = {1, 0, 0, 0};
  add_zone(&b, pull_of_group(&b, 1));
  for (int turn = 0; turn < 2; ++turn) {
    step(&b, 2 * STEPS);
    CHECK(sleeps(&b, x) && sleeps(&b, y) && sleeps(&b, z));
    const talus_body moved = turn == 0 ? y : z;
    CHECK_OK(talus_body_set_pose(b.world, moved, (talus_dvec3){9 - 20 * turn, 0, 0.1}, straight));
    CHECK(!sleeps(&b, x));
    CHECK_OK(talus_body_set_pose(b.world, moved, (talus_dvec3){9 - 22 * turn, 0, 0.1}, straight));
    CHECK(!sleeps(&b, x));
  }
  talus_world_destroy(b.world);
}

TEST(a_shell_wakes_whom_it_turns) {
  const bed b = make_bed(true);
  const talus_body rests = put(&b, 0, 0.1);
  talus_zone_def zone = talus_zone_def_default();
  zone.of = TALUS_ZONE_BODY, zone.body = rests, zone.shell = TALUS_ZONE_HARD, zone.radius = 0.7;
  add_zone(&b, zone);
  step(&b, 2 * STEPS);
  CHECK(sleeps(&b, rests));
  const talus_body flies = put(&b, 1, 0.4);
  CHECK_OK(talus_body_set_velocity(b.world, flies, (talus_vec3){-4, 0, 0}, (talus_vec3){0, 0, 0}));
  int steps = 0;
  for (; sleeps(&b, rests) && steps < 200; ++steps)
    step(&b, 1);
  const talus_vec3 v = rig_info(b.world, rests).velocity, u = rig_info(b.world, flies).velocity;
  CHECK_MSG(steps > 20 && steps < 80, "%d", steps);
  CHECK((double)v.x < -1);
  CHECK_NEAR((double)v.x + (double)u.x, -4, 1e-5);
  talus_world_destroy(b.world);
}

TEST(nobody_sleeps_beside_a_zone_that_is_driven) {
  for (int speed = 0; speed < 2; ++speed) {
    const bed b = make_bed(true);
    talus_body_def def = talus_body_def_default();
    def.kind = TALUS_KINEMATIC, def.shape = b.ball, def.material = b.m;
    def.position = (talus_dvec3){0, 0, 1};
    def.motion.velocity = (talus_vec3){0, speed ? (talus_real)1e-4 : 0, 0};
    talus_zone_def zone = pull(TALUS_ZONE_BODY, 2);
    CHECK_OK(talus_world_add_body(b.world, &def, &zone.body));
    add_zone(&b, zone);
    const talus_body near = put(&b, 0.5, 0.1), far = put(&b, 5, 0.1);
    step(&b, 2 * STEPS);
    CHECK(sleeps(&b, far));
    CHECK(sleeps(&b, near) == (speed == 0));
    talus_world_destroy(b.world);
  }
}

TEST_MAIN()
