/* Sliding, sticking and rolling against theory. */
#include "rig.h"

/* Gravity leans by theta instead of the floor, so that the slope is the plane z = 0 and runs along
 * +x. */
static talus_world *make_slope(double dt, double theta, talus_friction_model friction) {
  talus_world_def def = rig_def(dt);
  def.gravity = rig_vec(G * sin(theta), 0, -G * cos(theta));
  def.solve.friction = friction;
  return rig_world(&def);
}

TEST(sliding_sphere_rolls_when_theory_says) {
  const double dt = 1e-4, mu = 0.3, v0 = 2, radius = 0.1;
  talus_world_def def = rig_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, mu, 0);
  rig_floor(world, m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, radius, 0, 0, 0), m, 0, 0, radius);
  CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(v0, 0, 0), rig_vec(0, 0, 0)));
  const double expected = 2 * v0 / (7 * mu * G);
  double rolled = -1;
  while (rolled < 0 && talus_world_time(world) < 2 * expected) {
    CHECK_OK(talus_world_step(world, 1));
    const talus_body_info now = rig_info(world, ball);
    if (fabs((double)now.velocity.x - radius * (double)now.spin.y) < 1e-3 * v0)
      rolled = talus_world_time(world);
  }
  CHECK_NEAR(rolled, expected, 0.005 * expected);
  CHECK_OK(talus_world_step(world, 2000));
  const talus_body_info now = rig_info(world, ball);
  CHECK_NEAR(now.velocity.x, 5 * v0 / 7, BY_PRECISION(1e-6, 2e-3));
  CHECK_NEAR(radius * (double)now.spin.y, 5 * v0 / 7, BY_PRECISION(1e-6, 2e-3));
  talus_world_destroy(world);
}

static double sphere_acceleration(double theta, double mu) {
  const double dt = 1e-3, radius = 0.1;
  talus_world *world = make_slope(dt, theta, TALUS_FRICTION_NCP);
  const talus_material m = rig_material(world, mu, 0);
  rig_floor(world, m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, radius, 0, 0, 0), m, 0, 0, radius);
  CHECK_OK(talus_world_step(world, 1000));
  const double a = (double)rig_info(world, ball).velocity.x;
  CHECK_NEAR(rig_info(world, ball).position.z, radius, BY_PRECISION(1e-6, 1e-5));
  talus_world_destroy(world);
  return a;
}

TEST(sphere_on_an_incline_rolls_or_slides) {
  const double theta = 0.6;
  const double critical = 2.0 / 7 * tan(theta);
  const double rolling = 5.0 / 7 * G * sin(theta);
  CHECK_NEAR(sphere_acceleration(theta, 1.05 * critical), rolling,
             BY_PRECISION(1e-6, 1e-2) * rolling);
  CHECK_NEAR(sphere_acceleration(theta, 3 * critical), rolling, BY_PRECISION(1e-6, 1e-2) * rolling);
  const double mu = 0.6 * critical, sliding = G * (sin(theta) - mu * cos(theta));
  CHECK_NEAR(sphere_acceleration(theta, mu), sliding, BY_PRECISION(1e-6, 1e-2) * sliding);
}

TEST(box_on_an_incline_sticks_or_slides) {
  const double dt = 1e-3, theta = 0.4;
  for (int k = 0; k < 2; ++k) {
    const double mu = (k == 0 ? 1.02 : 0.7) * tan(theta);
    talus_world *world = make_slope(dt, theta, TALUS_FRICTION_NCP);
    const talus_material m = rig_material(world, mu, 0);
    rig_floor(world, m);
    const talus_body box =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.4, 0.4, 0.2, 0), m, 0, 0, 0.1);
    CHECK_OK(talus_world_step(world, 1000));
    const talus_body_info now = rig_info(world, box);
    if (k == 0) {
      CHECK_NEAR(now.position.x, 0, BY_PRECISION(1e-8, 2e-4));
    } else {
      const double a = G * (sin(theta) - mu * cos(theta));
      CHECK_NEAR(now.velocity.x, a, BY_PRECISION(1e-6, 1e-2) * a);
    }
    CHECK_NEAR(now.position.z, 0.1, BY_PRECISION(1e-6, 1e-5));
    talus_world_destroy(world);
  }
}

TEST(sliding_box_keeps_its_gap_and_stops_where_theory_says_with_ncp) {
  const double dt = 1e-3, mu = 0.5, v0 = 2;
  talus_world_def def = rig_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, mu, 0);
  rig_floor(world, m);
  const talus_body box =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.4, 0.4, 0.1, 0), m, 0, 0, 0.05);
  CHECK_OK(talus_body_set_velocity(world, box, rig_vec(v0, 0, 0), rig_vec(0, 0, 0)));
  for (int n = 0; n < 600; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    CHECK_NEAR(rig_info(world, box).position.z, 0.05, BY_PRECISION(1e-6, 1e-5));
  }
  const talus_body_info now = rig_info(world, box);
  CHECK_NEAR(now.velocity.x, 0, BY_PRECISION(1e-9, 1e-4));
  CHECK_NEAR(now.position.x, v0 * v0 / (2 * mu * G) - dt * v0 / 2, BY_PRECISION(2e-5, 1e-3));
  talus_world_destroy(world);
}

/* The convex relaxation opens a gap of h mu |v_t| while sliding (Anitescu 2006); the test documents
 * it. */
TEST(sliding_box_floats_by_h_mu_v_with_ccp) {
  const double dt = 1e-3, mu = 0.5, v0 = 2;
  talus_world_def def = rig_def(dt);
  def.solve.friction = TALUS_FRICTION_CCP;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, mu, 0);
  rig_floor(world, m);
  const double start_gap = dt * mu * v0;
  const talus_body box = rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.4, 0.4, 0.1, 0),
                                  m, 0, 0, 0.05 + start_gap);
  CHECK_OK(talus_body_set_velocity(world, box, rig_vec(v0, 0, 0), rig_vec(0, 0, 0)));
  CHECK_OK(talus_world_step(world, 200));
  const talus_body_info now = rig_info(world, box);
  const double gap = now.position.z - 0.05;
  CHECK_MSG((double)now.velocity.x > 0.5, "stopped early at %g m/s", (double)now.velocity.x);
  CHECK_NEAR(gap, dt * mu * (double)now.velocity.x, 0.05 * gap);
  talus_world_destroy(world);
}

TEST(material_pairs_override_the_smaller_friction) {
  const double dt = 1e-3, theta = 0.3;
  talus_world *world = make_slope(dt, theta, TALUS_FRICTION_NCP);
  const talus_material ice = rig_material(world, 0.01, 0), rubber = rig_material(world, 1, 0);
  rig_floor(world, ice);
  const talus_shape brick = rig_shape(world, TALUS_BOX, 0.4, 0.4, 0.2, 0);
  const talus_body slips = rig_body(world, TALUS_FREE, brick, ice, 0, 0, 0.1);
  const talus_body sticks = rig_body(world, TALUS_FREE, brick, rubber, 0, 2, 0.1);
  CHECK_OK(talus_world_set_material_pair(world, rubber, ice, 0.8, 0));
  CHECK_OK(talus_world_step(world, 500));
  CHECK_NEAR(rig_info(world, slips).velocity.x, 0.5 * G * (sin(theta) - 0.01 * cos(theta)),
             BY_PRECISION(1e-6, 1e-2));
  CHECK_NEAR(rig_info(world, sticks).velocity.x, 0, BY_PRECISION(1e-9, 1e-4));
  talus_world_destroy(world);
}

/* ---- strong friction, default settings ------------------------------------------------------- */

static const talus_ccp_method methods[] = {TALUS_GAUSS_SEIDEL, TALUS_APGD, TALUS_BB, TALUS_JACOBI};

static talus_world *strong_world(talus_ccp_method method, double mu, double theta,
                                 talus_material *m) {
  talus_world_def def = talus_world_def_default();
  def.dt = 5e-3;
  def.threads = 1;
  def.gravity = rig_vec(G * sin(theta), 0, -G * cos(theta));
  def.solve.method = method;
  talus_world *world = rig_world(&def);
  *m = rig_material(world, mu, 0);
  rig_floor(world, *m);
  return world;
}

/* The lift mu |u_t| of De Saxce, taken within visits or between them, made it sink by a third of
 * its size. */
TEST(box_stands_at_any_friction) {
  const double mu[3] = {3, 10, 100}, size = 0.2;
  for (int k = 0; k < 3 * 4; ++k) {
    talus_material m;
    talus_world *world = strong_world(methods[k / 3], mu[k % 3], 0, &m);
    const talus_body box = rig_body(
        world, TALUS_FREE, rig_shape(world, TALUS_BOX, size, size, size, 0), m, 0, 0, size / 2);
    CHECK_OK(talus_world_step(world, 1000));
    const talus_body_info now = rig_info(world, box);
    /* Overlap of g h^2 is left alone. */
    CHECK_MSG(fabs(now.position.z - size / 2) < G * 5e-3 * 5e-3, "method %d, mu %g: %g m high",
              methods[k / 3], mu[k % 3], now.position.z);
    CHECK_NEAR(now.position.x, 0, 1e-4 * size);
    CHECK_NEAR(now.rotation.w, 1, 1e-6);
    talus_world_destroy(world);
  }
}

TEST(boxes_on_each_other_stand_at_friction_10) {
  enum { BOXES = 5 };
  const double size = 0.2;
  for (int k = 0; k < 3; ++k) { /* Jacobi would need thousands of iterations for five boxes */
    talus_material m;
    talus_world *world = strong_world(methods[k], 10, 0, &m);
    const talus_shape cube = rig_shape(world, TALUS_BOX, size, size, size, 0);
    talus_body body[BOXES];
    for (int i = 0; i < BOXES; ++i)
      body[i] = rig_body(world, TALUS_FREE, cube, m, 0, 0, size * (i + 0.5));
    CHECK_OK(talus_world_step(world, 1000));
    for (int i = 0; i < BOXES; ++i)
      CHECK_MSG(fabs(rig_info(world, body[i]).position.z - size * (i + 0.5)) < 5e-3 * size,
                "method %d: box %d at %g", methods[k], i, rig_info(world, body[i]).position.z);
    talus_world_destroy(world);
  }
}

/* A slab is held on a slope of 80 degrees and slides down one of 85 (tan = 11.4); a ball rolls. */
TEST(friction_10_sticks_slides_and_rolls_where_it_should) {
  const double degree = 3.14159265358979323846 / 180;
  for (int steep = 0; steep < 2; ++steep) {
    const double theta = (steep ? 85 : 80) * degree, push = G * (sin(theta) - 10 * cos(theta));
    talus_material m;
    talus_world *world = strong_world(TALUS_GAUSS_SEIDEL, 10, theta, &m);
    /* Flat, so that it does not tip over: 10 times its height long, and more. */
    const talus_body slab =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 2, 1, 0.1, 0), m, 0, 0, 0.05);
    CHECK_OK(talus_world_step(world, 100));
    CHECK_NEAR(rig_info(world, slab).velocity.x, steep ? 0.5 * push : 0, 2e-3);
    CHECK_NEAR(rig_info(world, slab).position.z, 0.05, 1e-4);
    talus_world_destroy(world);
  }
  talus_material m;
  talus_world *world = strong_world(TALUS_GAUSS_SEIDEL, 10, 30 * degree, &m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 0.1);
  CHECK_OK(talus_world_step(world, 100));
  const talus_body_info now = rig_info(world, ball);
  CHECK_NEAR(now.velocity.x, 0.5 * 5 / 7 * G * 0.5, 1e-3);
  CHECK_NEAR(0.1 * (double)now.spin.y, now.velocity.x, 1e-3);
  CHECK_NEAR(now.position.z, 0.1, 1e-5);
  talus_world_destroy(world);
}

TEST_MAIN()
