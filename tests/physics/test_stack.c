/* Boxes on boxes: flat, in stacks and in walls. They stand without creeping, spinning or sinking.
 */
#include "rig.h"

static double moved(const talus_world *world, talus_body body, double x, double y, double z) {
  const talus_dvec3 p = rig_info(world, body).position;
  return fabs(p.x - x) + fabs(p.y - y) + fabs(p.z - z);
}

/* Angle a body has turned by from the identity, rad. */
static double turned(const talus_world *world, talus_body body) {
  const talus_quat q = rig_info(world, body).rotation;
  const double v = sqrt((double)(q.x * q.x + q.y * q.y + q.z * q.z));
  return 2 * atan2(v, fabs((double)q.w));
}

TEST(box_at_rest_on_a_fixed_box_stays_and_presses_with_its_weight) {
  const double dt = 2e-3;
  talus_world_def def = rig_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.3);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_BOX, 2, 2, 1, 0), m, 0, 0, -0.5);
  const talus_body box =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.5, 0.3, 0.4, 0), m, 0.1, 0.2, 0.2);
  const double impulse = (double)rig_info(world, box).mass * G * dt;
  for (int n = 0; n < 5000; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    CHECK_NEAR(rig_impulse_z(world, box), impulse, impulse * BY_PRECISION(1e-8, 2e-3));
  }
  CHECK_NEAR(moved(world, box, 0.1, 0.2, 0.2), 0, BY_PRECISION(1e-9, 1e-4));
  CHECK_NEAR(turned(world, box), 0, BY_PRECISION(1e-9, 1e-3));
  talus_world_destroy(world);
}

TEST(stack_of_boxes_stands_for_ten_seconds) {
  enum { BOXES = 5 };
  const double dt = 5e-3;
  talus_world_def def = rig_def(dt);
  def.solve.iterations = 1000;
  def.solve.tolerance = BY_PRECISION(1e-9, 1e-6);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_shape cube = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  talus_body body[BOXES];
  for (int i = 0; i < BOXES; ++i)
    body[i] = rig_body(world, TALUS_FREE, cube, m, 0, 0, 0.1 + 0.2 * i);
  CHECK_OK(talus_world_step(world, (uint64_t)(10 / dt)));
  for (int i = 0; i < BOXES; ++i) {
    CHECK_NEAR(moved(world, body[i], 0, 0, 0.1 + 0.2 * i), 0, BY_PRECISION(1e-6, 1e-3));
    CHECK_NEAR(turned(world, body[i]), 0, BY_PRECISION(1e-6, 1e-2));
  }
  talus_world_destroy(world);
}

/* Bricks across each other: every second course is half a brick in, and one shorter. */
typedef struct brick_wall {
  int rows, columns;
  double length, width, height; /* m: of a brick */
  double joint;                 /* m: between neighbours */
  int count;
  talus_body body[64];
  double x[64], z[64]; /* where they were laid */
} brick_wall;

static void lay_bricks(talus_world *world, brick_wall *wall) {
  const talus_material m = rig_material(world, 0.6, 0);
  rig_floor(world, m);
  const talus_shape brick = rig_shape(world, TALUS_BOX, wall->length, wall->width, wall->height, 0);
  CHECK(wall->rows * wall->columns <= 64);
  for (int row = 0; row < wall->rows; ++row)
    for (int column = 0; column < wall->columns - row % 2; ++column) {
      const int i = wall->count++;
      wall->x[i] = (column + 0.5 * (row % 2)) * (wall->length + wall->joint);
      wall->z[i] = wall->height * (row + 0.5);
      wall->body[i] = rig_body(world, TALUS_FREE, brick, m, wall->x[i], 0, wall->z[i]);
    }
}

TEST(wall_of_bricks_stands) {
  talus_world_def def = rig_def(5e-3);
  def.solve.iterations = 200;
  def.solve.tolerance = BY_PRECISION(1e-6, 1e-5);
  talus_world *world = rig_world(&def);
  brick_wall wall = {
      .rows = 6, .columns = 5, .length = 0.25, .width = 0.12, .height = 0.06, .joint = 0.002};
  lay_bricks(world, &wall);
  CHECK_OK(talus_world_step(world, 600));
  for (int i = 0; i < wall.count; ++i) {
    CHECK_NEAR(moved(world, wall.body[i], wall.x[i], 0, wall.z[i]), 0, BY_PRECISION(1e-4, 2e-3));
    CHECK_NEAR(turned(world, wall.body[i]), 0, BY_PRECISION(1e-3, 2e-2));
  }
  talus_world_destroy(world);
}

TEST(box_dropped_on_its_corner_comes_to_lie_on_a_face) {
  const double dt = 2e-3;
  talus_world_def def = rig_def(dt);
  def.solve.iterations = 200;
  def.solve.tolerance = 1e-5;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.4, 0);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_BOX, 4, 4, 1, 0), m, 0, 0, -0.5);
  talus_body_def box = talus_body_def_default();
  box.kind = TALUS_FREE, box.material = m;
  box.shape = rig_shape(world, TALUS_BOX, 0.3, 0.3, 0.3, 0);
  box.position = (talus_dvec3){0.01, 0.02, 0.4};
  box.rotation = (talus_quat){(talus_real)0.8, (talus_real)0.4, (talus_real)0.3, (talus_real)0.1};
  talus_body body;
  CHECK_OK(talus_world_add_body(world, &box, &body));
  CHECK_OK(talus_world_step(world, 2000));
  const talus_body_info info = rig_info(world, body);
  CHECK_NEAR(info.position.z, 0.15, 1e-4);
  CHECK_NEAR(sqrt((double)(info.spin.x * info.spin.x + info.spin.y * info.spin.y)), 0, 1e-3);
  talus_world_destroy(world);
}

/* ---- with default settings ------------------------------------------------------------------- */

static talus_world *default_world(double dt) {
  talus_world_def def = talus_world_def_default();
  def.dt = dt;
  def.threads = 1;
  return rig_world(&def);
}

/* 50 sweeps without momentum let them creep by 7 to 21 mm and never come to rest. */
TEST(ten_boxes_stand_with_default_settings) {
  enum { BOXES = 10 };
  talus_world *world = default_world(5e-3);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_shape cube = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  talus_body body[BOXES];
  for (int i = 0; i < BOXES; ++i)
    body[i] = rig_body(world, TALUS_FREE, cube, m, 0, 0, 0.1 + 0.2 * i);
  CHECK_OK(talus_world_step(world, 1000));
  for (int i = 0; i < BOXES; ++i)
    CHECK_NEAR(moved(world, body[i], 0, 0, 0.1 + 0.2 * i), 0, BY_PRECISION(1.2e-3, 2e-3));
  CHECK_MSG(rig_report(world).residual_rms < 5e-4, "residual %g", rig_report(world).residual_rms);
  talus_world_destroy(world);
}

TEST(box_stands_on_one_of_a_hundredth_of_its_mass_with_default_settings) {
  talus_world *world = default_world(5e-3);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_shape cube = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  const talus_body light = rig_body(world, TALUS_FREE, cube, m, 0, 0, 0.1);
  talus_body_def heavy = talus_body_def_default();
  heavy.shape = cube, heavy.material = m, heavy.position.z = 0.3;
  heavy.mass = 100 * (double)rig_info(world, light).mass;
  talus_body body;
  CHECK_OK(talus_world_add_body(world, &heavy, &body));
  CHECK_OK(talus_world_step(world, 1000));
  CHECK_NEAR(moved(world, light, 0, 0, 0.1), 0, 1e-3);
  CHECK_NEAR(moved(world, body, 0, 0, 0.3), 0, 1e-3);
  talus_world_destroy(world);
}

TEST(high_wall_stands_with_default_settings) {
  talus_world *world = default_world(5e-3);
  brick_wall wall = {
      .rows = 16, .columns = 4, .length = 0.2, .width = 0.1, .height = 0.1, .joint = 1e-4};
  lay_bricks(world, &wall);
  CHECK_OK(talus_world_step(world, 400));
  for (int i = 0; i < wall.count; ++i)
    CHECK_NEAR(moved(world, wall.body[i], wall.x[i], 0, wall.z[i]), 0,
               BY_PRECISION(0.05, 0.08) * wall.height);
  talus_world_destroy(world);
}

/* Correction has momentum where pairs have several contacts, of velocities as of impulses. */
TEST(tower_of_boxes_that_overlap_is_put_right_within_twenty_steps) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.dt = 1e-3;
  CHECK_OK(talus_world_create(&def, &world)); /* by sweeps, whatever the suite is run with */
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_shape cube = rig_shape(world, TALUS_BOX, 0.1, 0.1, 0.1, 0);
  for (int i = 0; i < 20; ++i)
    rig_body(world, TALUS_FREE, cube, m, i % 2 ? 0.004 : 0, 0, 0.045 + 0.09 * i);
  CHECK_OK(talus_world_step(world, 20));
  CHECK(rig_report(world).overlap_max < 1e-4);
  talus_world_destroy(world);
}

TEST_MAIN()
