/* Surfaces that run while their body stays: belts, rollers and turntables, under every solver. */
#include "rig.h"

typedef struct belt {
  talus_world *world;
  talus_material material;
  talus_body belt;
} belt;

/* A way to solve; the step is such as springs need. */
typedef struct way {
  const char *name;
  talus_solve_kind kind;
  talus_ccp_method method;
  double dt;
} way;

static const way ways[] = {{"gauss-seidel", TALUS_SOLVE_CCP, TALUS_GAUSS_SEIDEL, 1e-3},
                           {"apgd", TALUS_SOLVE_CCP, TALUS_APGD, 1e-3},
                           {"bb", TALUS_SOLVE_CCP, TALUS_BB, 1e-3},
                           {"jacobi", TALUS_SOLVE_CCP, TALUS_JACOBI, 1e-3},
                           {"impulse", TALUS_SOLVE_IMPULSE, TALUS_GAUSS_SEIDEL, 1e-3},
                           {"penalty", TALUS_SOLVE_PENALTY, TALUS_GAUSS_SEIDEL, 1e-4}};
#define WAYS (sizeof ways / sizeof *ways)

static talus_body_def belt_def(const belt *b, talus_shape_kind kind, double x, double y, double z) {
  talus_body_def def = talus_body_def_default();
  def.kind = TALUS_KINEMATIC;
  def.shape = rig_shape(b->world, kind, x, y, z, 0);
  def.material = b->material;
  def.motion.is_surface = true;
  return def;
}

/* A floor whose surface runs at 2 m/s along x; friction 0.5. */
static belt make_belt(const way *by) {
  belt b;
  talus_world_def def = rig_def(by->dt);
  def.solve.kind = by->kind;
  def.solve.method = by->method;
  def.solve.iterations = 200;
  CHECK_OK(talus_world_create(&def, &b.world));
  b.material = rig_material(b.world, 0.5, 0);
  talus_body_def floor = belt_def(&b, TALUS_PLANE, 0, 0, 1);
  floor.motion.velocity = rig_vec(2, 0, 0);
  CHECK_OK(talus_world_add_body(b.world, &floor, &b.belt));
  return b;
}

static void run(const belt *b, const way *by, double seconds) {
  CHECK_OK(talus_world_step(b->world, (uint64_t)(seconds / by->dt + 0.5)));
}

TEST(a_block_on_a_belt_reaches_its_speed) {
  for (size_t i = 0; i < WAYS; ++i) {
    const belt b = make_belt(&ways[i]);
    const talus_body block =
        rig_body(b.world, TALUS_FREE, rig_shape(b.world, TALUS_BOX, 0.4, 0.4, 0.1, 0), b.material,
                 0, 0, 0.05);
    run(&b, &ways[i], 0.2); /* slides: mu g t */
    CHECK_MSG(fabs((double)rig_info(b.world, block).velocity.x - 0.5 * G * 0.2) < 0.02, "%s: %g",
              ways[i].name, (double)rig_info(b.world, block).velocity.x);
    run(&b, &ways[i], 0.5); /* rides, from 2 / (mu g) = 0.41 s on */
    const talus_body_info now = rig_info(b.world, block), floor = rig_info(b.world, b.belt);
    CHECK_MSG(fabs((double)now.velocity.x - 2) < 1e-2, "%s: %g m/s", ways[i].name,
              (double)now.velocity.x);
    /* It slid behind by v^2 / (2 mu g). */
    CHECK_MSG(fabs(now.position.x - (2 * 0.7 - 4 / (2 * 0.5 * G))) < 0.01, "%s: %g m", ways[i].name,
              now.position.x);
    CHECK(floor.position.x == 0 && floor.position.z == 0 && (double)floor.velocity.x == 2);
    talus_world_destroy(b.world);
  }
}

/* Angular momentum about the line of contact is kept: v = 2/7 of the belt's, and rolling on it. */
TEST(a_ball_on_a_belt_rolls) {
  for (size_t i = 0; i < WAYS; ++i) {
    const belt b = make_belt(&ways[i]);
    const talus_body ball = rig_body(
        b.world, TALUS_FREE, rig_shape(b.world, TALUS_SPHERE, 0.1, 0, 0, 0), b.material, 0, 0, 0.1);
    run(&b, &ways[i], 0.5);
    const talus_body_info now = rig_info(b.world, ball);
    CHECK_MSG(fabs((double)now.velocity.x - 4.0 / 7) < 5e-3, "%s: %g m/s", ways[i].name,
              (double)now.velocity.x);
    CHECK_MSG(fabs((double)now.velocity.x - 0.1 * (double)now.spin.y - 2) < 1e-2, "%s: %g rad/s",
              ways[i].name, (double)now.spin.y);
    talus_world_destroy(b.world);
  }
}

/* What bodies gain comes from the belt: no step makes energy, and contacts' work is all there is.
 */
TEST(the_work_of_a_belt_is_in_the_books) {
  for (size_t i = 0; i < WAYS; ++i) {
    const belt b = make_belt(&ways[i]);
    for (int k = 0; k < 3; ++k)
      (void)rig_body(b.world, TALUS_FREE, rig_shape(b.world, TALUS_BOX, 0.2, 0.2, 0.2, 0),
                     b.material, k, 0, 0.1);
    const talus_report start = rig_report(b.world);
    double work = 0;
    for (int n = 0; n < 400; ++n) {
      CHECK_OK(talus_world_step(b.world, (uint64_t)(1e-3 / ways[i].dt + 0.5)));
      work = rig_report(b.world).contact_work;
    }
    const talus_report end = rig_report(b.world);
    const double gain = end.kinetic_energy - start.kinetic_energy;
    CHECK_MSG(end.made_energy == 0 && end.energy_corrections == 0, "%s", ways[i].name);
    CHECK_MSG(gain > 30 && fabs(work - gain) < 0.05 * gain, "%s: work %g J, gain %g J",
              ways[i].name, work, gain);
    talus_world_destroy(b.world);
  }
}

TEST(a_roller_moves_what_lies_on_it) {
  const belt b = make_belt(&ways[0]);
  talus_body_def roller = belt_def(&b, TALUS_CYLINDER, 0.2, 1, 0);
  roller.position = (talus_dvec3){0, 0, 5};
  roller.rotation =
      (talus_quat){(talus_real)0.7071067811865476, (talus_real)0.7071067811865476, 0, 0};
  roller.motion.spin = rig_vec(0, 5, 0); /* its top runs along +x at 1 m/s */
  CHECK_OK(talus_world_add_body(b.world, &roller, NULL));
  const talus_body plank = rig_body(
      b.world, TALUS_FREE, rig_shape(b.world, TALUS_BOX, 2, 0.5, 0.1, 0), b.material, 0, 0, 5.25);
  run(&b, &ways[0], 0.1); /* mu g t */
  CHECK_NEAR(rig_info(b.world, plank).velocity.x, 0.5 * G * 0.1, 0.05);
  talus_world_destroy(b.world);
}

TEST(a_turntable_carries_round_what_stands_on_it) {
  const talus_world_def settings = rig_def(1e-3);
  belt b = {.world = rig_world(&settings)};
  b.material = rig_material(b.world, 0.5, 0);
  talus_body_def table = belt_def(&b, TALUS_PLANE, 0, 0, 1);
  table.position = (talus_dvec3){1, 0, 0};
  table.motion.spin = rig_vec(0, 0, 1);
  CHECK_OK(talus_world_add_body(b.world, &table, NULL));
  const talus_body box =
      rig_body(b.world, TALUS_FREE, rig_shape(b.world, TALUS_BOX, 0.05, 0.05, 0.02, 0), b.material,
               1.3, 0, 0.01);
  run(&b, &ways[0], 0.02);
  CHECK_NEAR(rig_info(b.world, box).velocity.y, 0.5 * G * 0.02, 0.01); /* slides */
  run(&b, &ways[0], 1.0);
  const talus_body_info now = rig_info(b.world, box);
  const double x = now.position.x - 1, y = now.position.y;
  CHECK_NEAR(now.velocity.x, -y, 0.01); /* rides: 1 rad/s about (1, 0) */
  CHECK_NEAR(now.velocity.y, x, 0.01);
  CHECK_NEAR(now.spin.z, 1, 0.02);
  talus_world_destroy(b.world);
}

static void refused(const belt *b, const talus_body_def *def, const char *words) {
  CHECK(talus_world_add_body(b->world, def, NULL) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), words), "%s", talus_last_error());
}

TEST(a_surface_that_would_come_or_go_is_refused) {
  const belt b = make_belt(&ways[0]);
  talus_body_def def = belt_def(&b, TALUS_PLANE, 0, 0, 1);
  def.motion.velocity = rig_vec(1, 0, 1);
  refused(&b, &def, "leads out of the plane, by 1 m/s");
  def.motion.velocity = rig_vec(0, 0, 0);
  def.motion.spin = rig_vec(1, 0, 0);
  refused(&b, &def, "must be about the normal of the plane");
  def = belt_def(&b, TALUS_BOX, 1, 1, 1);
  def.motion.velocity = rig_vec(1, 0, 0);
  refused(&b, &def, "a box has no surface that can run");
  def = belt_def(&b, TALUS_CYLINDER, 1, 1, 0);
  def.motion.spin = rig_vec(1, 0, 0);
  refused(&b, &def, "must be about its own axis");
  const talus_motion runs = {.is_surface = true, .velocity = {1, 0, 0}};
  def = belt_def(&b, TALUS_PLANE, 0, 0, 1);
  def.motion = (talus_motion){.spin = {0, 1, 0}, .next = &runs};
  refused(&b, &def, "must not turn by its motion");
  talus_world_destroy(b.world);
}

TEST(a_joint_to_a_running_surface_is_refused) {
  const belt b = make_belt(&ways[0]);
  talus_body_def def = belt_def(&b, TALUS_SPHERE, 0.1, 0, 0);
  talus_joint_def joint = talus_joint_def_default();
  def.motion.spin = rig_vec(0, 0, 10);
  CHECK_OK(talus_world_add_body(b.world, &def, &joint.a));
  CHECK(talus_world_add_joint(b.world, &joint, NULL) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "has a surface that runs"), "%s", talus_last_error());
  talus_world_destroy(b.world);
}

TEST_MAIN()
