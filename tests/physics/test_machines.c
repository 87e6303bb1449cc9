/* The machines among the built-in scenes, run small: they do what they are for, lose no energy that
 * they should keep and win none, hold together, and give the same bits for any number of threads.
 */
#include "rig.h"
#include <talus/scene.h>

static talus_world *build(const char *name, const char *const *settings, size_t n, int threads) {
  talus_scene *scene = NULL;
  char *problems = NULL;
  talus_world *world = NULL;
  const talus_status status = talus_scene_load(name, settings, n, &scene, &problems);
  CHECK_MSG(status == TALUS_OK, "%s", problems ? problems : talus_last_error());
  CHECK_OK(talus_scene_build(scene, threads, NULL, NULL, &world));
  talus_scene_free(scene);
  return world;
}

static talus_body find(const talus_world *world, const char *name) {
  talus_body body;
  CHECK_OK(talus_world_find_body(world, name, &body));
  return body;
}

static talus_joint_info joint_of(const talus_world *world, const char *name) {
  talus_joint joint;
  talus_joint_info info;
  CHECK_OK(talus_world_find_joint(world, name, &joint));
  CHECK_OK(talus_world_get_joint(world, joint, &info));
  return info;
}

/* Bits of a machine after some steps on 1, 2 and 4 threads. */
static void check_threads(const char *name, const char *const *settings, size_t n, uint64_t steps) {
  uint64_t hash[3];
  for (int k = 0; k < 3; ++k) {
    talus_world *world = build(name, settings, n, 1 << k);
    CHECK_OK(talus_world_step(world, steps));
    hash[k] = talus_world_hash(world);
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[1], hash[0]);
  CHECK_EQ_U64(hash[2], hash[0]);
}

/* ---- trebuchet ------------------------------------------------------------------------------- */

static double energy_of(const talus_body_info *body) { /* J, of the motion of the centre */
  const double x = (double)body->velocity.x, y = (double)body->velocity.y,
               z = (double)body->velocity.z;
  return (double)body->mass * (0.5 * (x * x + y * y + z * z) + G * body->position.z);
}

static double total(talus_world *world) {
  const talus_report report = rig_report(world);
  return report.kinetic_energy + report.potential_energy;
}

/* Steps to where the sling lets go. */
static void swing(talus_world *world) {
  for (int i = 0; !joint_of(world, "sling").broken; ++i) {
    CHECK_MSG(i < 4000, "the sling still holds after 2 s");
    CHECK_OK(talus_world_step(world, 1));
  }
}

TEST(trebuchet_gives_the_stone_what_the_weight_lost) {
  talus_world *world = build("trebuchet", NULL, 0, 1);
  const talus_body stone = find(world, "ball"), weight = find(world, "weight");
  const talus_body_info stone0 = rig_info(world, stone), weight0 = rig_info(world, weight);
  const double before = total(world);
  swing(world);
  const talus_body_info thrown = rig_info(world, stone), fallen = rig_info(world, weight);
  const double work = energy_of(&weight0) - energy_of(&fallen);
  const double won = energy_of(&thrown) - energy_of(&stone0);
  const double drop = (double)fallen.mass * G * (weight0.position.z - fallen.position.z);
  CHECK_MSG(drop > 2000 && work <= drop, "falls by %g J, gives %g J", drop, work);
  CHECK_MSG(won < work && won > 0.4 * work, "the stone takes %g J of %g J", won, work);
  CHECK_MSG(fabs(total(world) - before) < 0.01 * work, "energy changes by %g J of %g J",
            total(world) - before, work);
  CHECK_MSG(rig_report(world).joint_drift < BY_PRECISION(1e-6, 1e-3), "drift %g m",
            rig_report(world).joint_drift);
  talus_world_destroy(world);
}

/* The parabola from where it was let go: with steps of h the height falls behind by g h t / 2. */
TEST(trebuchet_stone_flies_along_its_parabola_into_the_crates) {
  SKIP_IF_SHORT();
  talus_world *world = build("trebuchet", NULL, 0, 1);
  const talus_body stone = find(world, "ball");
  swing(world);
  const talus_body_info thrown = rig_info(world, stone);
  const double start = talus_world_time(world);
  const double speed = (double)thrown.velocity.x, up = (double)thrown.velocity.z;
  CHECK_MSG(speed > 15 && up > 0, "%g m/s forwards, %g m/s up", speed, up);
  while (rig_info(world, stone).position.x < 37) {
    CHECK_OK(talus_world_step(world, 20));
    CHECK_MSG(talus_world_time(world) < 4, "the stone does not come to the crates");
  }
  const talus_body_info there = rig_info(world, stone);
  const double t = talus_world_time(world) - start;
  CHECK_NEAR(there.position.x, thrown.position.x + speed * t, BY_PRECISION(1e-9, 1e-3));
  CHECK_NEAR(there.position.z, thrown.position.z + up * t - 0.5 * G * t * (t + 5e-4),
             BY_PRECISION(1e-9, 1e-3));
  CHECK_MSG(there.position.z < 3.2 && there.position.z > 0.2, "at a height of %g m",
            there.position.z);
  CHECK_NEAR(there.position.y, 0, BY_PRECISION(1e-3, 0.05));
  CHECK_OK(talus_world_step(world, 200));
  CHECK_MSG((double)rig_info(world, stone).velocity.x < 0.5 * speed, "it goes on with %g m/s",
            (double)rig_info(world, stone).velocity.x);
  talus_world_destroy(world);
}

TEST(trebuchet_throws_higher_with_a_weaker_sling_and_not_at_all_with_a_strong_one) {
  SKIP_IF_SHORT();
  const char *const weak = "joints.11.break.force=900", *const strong =
                                                            "joints.11.break.force=5000";
  talus_world *world = build("trebuchet", &weak, 1, 1);
  swing(world);
  const talus_body_info thrown = rig_info(world, find(world, "ball"));
  const double angle = atan2((double)thrown.velocity.z, (double)thrown.velocity.x);
  CHECK_MSG(angle > 0.5 && angle < 1.0, "%g rad", angle);
  talus_world_destroy(world);
  world = build("trebuchet", &strong, 1, 1);
  CHECK_OK(talus_world_step(world, 2800));
  CHECK(!joint_of(world, "sling").broken);
  talus_world_destroy(world);
}

TEST(trebuchet_is_the_same_for_any_number_of_threads) { check_threads("trebuchet", NULL, 0, 400); }

/* ---- vehicle --------------------------------------------------------------------------------- */

enum { SHOES = 28 };

static const char *const few = "bodies.1.fill.count=60";

/* A place of the world in the frame of the hull, which is not turned about x and z by much. */
static talus_dvec3 beside(const talus_body_info *hull, talus_dvec3 p) {
  const talus_dvec3 d = {p.x - hull->position.x, p.y - hull->position.y, p.z - hull->position.z};
  const double w = (double)hull->rotation.w, x = -(double)hull->rotation.x,
               y = -(double)hull->rotation.y, z = -(double)hull->rotation.z;
  const double tx = 2 * (y * d.z - z * d.y), ty = 2 * (z * d.x - x * d.z),
               tz = 2 * (x * d.y - y * d.x);
  return (talus_dvec3){d.x + w * tx + y * tz - z * ty, d.y + w * ty + z * tx - x * tz,
                       d.z + w * tz + x * ty - y * tx};
}

/* Every shoe is where a shoe can be: in line with the others of its track, and not a hand's breadth
 * outside the outline of the wheels; the upper ones may sag onto the wheels between. */
static void check_track(const talus_world *world, const char *side, double y) {
  const talus_body_info hull = rig_info(world, find(world, "hull"));
  for (int i = 0; i < SHOES; ++i) {
    char name[32];
    snprintf(name, sizeof name, "%s-shoe%d", side, i);
    const talus_dvec3 at = beside(&hull, rig_info(world, find(world, name)).position);
    CHECK_MSG(fabs(at.y - y) < 0.03, "%s is %g m out of line", name, at.y - y);
    /* From the line between the axles, 0.154 m below the hull's centre. */
    const double past = fmax(fabs(at.x) - 0.675, 0), off = hypot(past, at.z + 0.154);
    CHECK_MSG(off > 0.03 && off < 0.33, "%s is %g m from the axles", name, off);
  }
}

TEST(vehicle_drives_onto_the_pebbles_and_keeps_its_tracks) {
  SKIP_IF_SHORT();
  talus_world *world = build("vehicle", &few, 1, 1);
  const talus_body hull = find(world, "hull");
  double drift = 0, before = 0;
  for (int i = 0; i < 16; ++i) {
    if (i == 11)
      before = rig_info(world, hull).position.x;
    CHECK_OK(talus_world_step(world, 100));
    drift = fmax(drift, rig_report(world).joint_drift);
    check_track(world, "left", 0.45);
    check_track(world, "right", -0.45);
  }
  const talus_body_info end = rig_info(world, hull);
  /* 5 rad/s of a wheel of ten shoes of 0.15 m: 1.19 m/s once it is under way. */
  CHECK_MSG(end.position.x > 1.2 && end.position.x < 1.19 * 1.6, "went %g m", end.position.x);
  /* Loose pebbles on a hard floor steer it a little. */
  CHECK_MSG(fabs(end.position.y) < 0.3, "went %g m aside", end.position.y);
  const double speed = (end.position.x - before) / 0.5;
  CHECK_MSG(speed > 0.8 && speed < 1.6, "%g m/s on the pebbles", speed);
  CHECK_MSG(drift < BY_PRECISION(1e-4, 5e-3), "joints drift by %g m", drift);
  /* The wheels turned as far as the way says: the teeth did not slip. */
  const double turned = joint_of(world, "left motor").value;
  CHECK_NEAR(end.position.x, turned * 10 * 0.15 / (2 * 3.14159265), 0.15);
  talus_world_destroy(world);
}

TEST(vehicle_turns_on_the_spot_when_its_tracks_run_against_each_other) {
  SKIP_IF_SHORT();
  const char *const settings[] = {few, "joints.0.motor.speed=-5"};
  talus_world *world = build("vehicle", settings, 2, 1);
  CHECK_OK(talus_world_step(world, 800));
  const talus_body_info end = rig_info(world, find(world, "hull"));
  /* 400 iterations: 0.32 rad/s. */
  CHECK_MSG((double)end.spin.z > 0.2, "%g rad/s", (double)end.spin.z);
  CHECK_MSG(hypot(end.position.x, end.position.y) < 0.3, "left its spot by %g m",
            hypot(end.position.x, end.position.y));
  check_track(world, "left", 0.45);
  check_track(world, "right", -0.45);
  talus_world_destroy(world);
}

TEST(vehicle_is_the_same_for_any_number_of_threads) {
  SKIP_IF_SHORT_UNLESS_RACES_COUNT();
  check_threads("vehicle", &few, 1, 120);
}

int main(int argc, char **argv) {
  if (!TALUS_HAVE_YAML) {
    puts("skipped: built without libyaml-dev");
    return 77;
  }
  return check_main(argc, argv);
}
