/* Bodies that touch nothing: free fall, tumbling, scripted motion, locks, loads. */
#include "rig.h"

TEST(free_fall_follows_the_stepped_parabola) {
  const double dt = 1e-3;
  talus_world_def def = rig_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 1, 2, 3);
  CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(1, -2, 4), rig_vec(0, 0, 0)));
  for (int n = 1; n <= 2000; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    /* Symplectic Euler: v_n = v0 - g n dt, x_n = x0 + v0 n dt - g dt^2 n (n + 1) / 2. */
    const talus_body_info now = rig_info(world, ball);
    const double t = n * dt, tolerance = BY_PRECISION(1e-12, 1e-3);
    CHECK_NEAR(now.position.x, 1 + t, tolerance);
    CHECK_NEAR(now.position.y, 2 - 2 * t, tolerance);
    CHECK_NEAR(now.position.z, 3 + 4 * t - G * dt * dt * n * (n + 1) / 2,
               BY_PRECISION(1e-11, 1e-3));
    CHECK_NEAR(now.velocity.z, 4 - G * t, BY_PRECISION(1e-11, 1e-3));
  }
  talus_world_destroy(world);
}

/* A box of 1 x 2 x 3 m tumbling freely: returns the largest relative errors of |L| and E. */
static void tumble(double dt, double seconds, double *momentum_error, double *energy_error) {
  talus_world_def def = rig_def(dt);
  def.gravity = rig_vec(0, 0, 0);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  const talus_body box =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 1, 2, 3, 0), m, 0, 0, 0);
  CHECK_OK(talus_body_set_velocity(world, box, rig_vec(0, 0, 0), rig_vec(0.05, 2, 0.03)));
  const talus_report start = rig_report(world);
  *momentum_error = *energy_error = 0;
  double length = 0;
  for (int k = 0; k < 3; ++k)
    length += start.angular_momentum[k] * start.angular_momentum[k];
  length = sqrt(length);
  for (int n = 0; n < (int)(seconds / dt + 0.5); ++n) {
    CHECK_OK(talus_world_step(world, 1));
    const talus_report now = rig_report(world);
    for (int k = 0; k < 3; ++k)
      *momentum_error =
          fmax(*momentum_error, fabs(now.angular_momentum[k] - start.angular_momentum[k]) / length);
    *energy_error = fmax(*energy_error, fabs(now.kinetic_energy / start.kinetic_energy - 1));
  }
  talus_world_destroy(world);
}

TEST(torque_free_top_keeps_angular_momentum_and_energy_to_second_order) {
  double momentum, coarse, fine;
  tumble(0.02, 50, &momentum, &coarse);
  CHECK_MSG(momentum <= BY_PRECISION(1e-12, 1e-3), "momentum drifts by %g", momentum);
  tumble(0.01, 50, &momentum, &fine);
  CHECK_MSG(momentum <= BY_PRECISION(1e-12, 1e-3), "momentum drifts by %g", momentum);
  CHECK_MSG(coarse < BY_PRECISION(1e-3, 1e-2), "energy error %g", coarse);
#if !TALUS_SINGLE
  CHECK_MSG(coarse / fine > 3.5 && coarse / fine < 4.5, "halving dt divides the error by %g",
            coarse / fine);
#endif
}

TEST(intermediate_axis_flips) {
  talus_world_def def = rig_def(0.005);
  def.gravity = rig_vec(0, 0, 0);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  const talus_body box =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 1, 2, 3, 0), m, 0, 0, 0);
  CHECK_OK(talus_body_set_velocity(world, box, rig_vec(0, 0, 0), rig_vec(0.01, 5, 0)));
  double least = 1;
  for (int n = 0; n < 4000; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    const talus_quat q = rig_info(world, box).rotation;
    least =
        fmin(least, (double)(1 - 2 * (q.x * q.x + q.z * q.z))); /* world y of the body's y axis */
  }
  CHECK_MSG(least < -0.95, "the body's y axis turned only to %g", least);
  talus_world_destroy(world);
}

TEST(kinematic_body_is_where_its_motion_says) {
  talus_world_def def = rig_def(1e-2);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  talus_body_def plate = talus_body_def_default();
  plate.kind = TALUS_KINEMATIC;
  plate.shape = rig_shape(world, TALUS_BOX, 1, 1, 0.1, 0);
  plate.material = m;
  plate.position = (talus_dvec3){1, 0, 0};
  plate.motion.velocity = rig_vec(0.5, 0, 0);
  plate.motion.amplitude = rig_vec(0, 0, 0.2);
  plate.motion.frequency = 3;
  plate.motion.phase = 0.7;
  plate.motion.spin = rig_vec(0, 0, 2);
  talus_body body;
  CHECK_OK(talus_world_add_body(world, &plate, &body));
  CHECK_OK(talus_world_step(world, 137));
  const double t = 1.37, angle = 2 * 3.14159265358979323846 * 3 * t + 0.7;
  const talus_body_info now = rig_info(world, body);
  CHECK_NEAR(now.position.x, 1 + 0.5 * t, 1e-6);
  CHECK_NEAR(now.position.z, 0.2 * (sin(angle) - sin(0.7)), 1e-6);
  CHECK_NEAR(now.velocity.z, 0.2 * 2 * 3.14159265358979323846 * 3 * cos(angle), 1e-5);
  CHECK_NEAR(now.rotation.w, cos(t), 1e-6);
  CHECK_NEAR(now.rotation.z, sin(t), 1e-6);
  talus_world_destroy(world);
}

TEST(locked_directions_do_not_move) {
  talus_world_def def = rig_def(1e-3);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  talus_body_def brick = talus_body_def_default();
  brick.shape = rig_shape(world, TALUS_BOX, 0.2, 0.3, 0.4, 0);
  brick.material = m;
  brick.position = (talus_dvec3){0, 0, 0.25};
  brick.rotation = (talus_quat){(talus_real)0.9, (talus_real)0.3, (talus_real)0.2, (talus_real)0.1};
  brick.velocity = rig_vec(1, 1, 0);
  brick.spin = rig_vec(1, 2, 3);
  brick.lock = TALUS_LOCK_Y | TALUS_LOCK_RX | TALUS_LOCK_RZ;
  talus_body body;
  CHECK_OK(talus_world_add_body(world, &brick, &body));
  for (int n = 0; n < 500; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    const talus_body_info now = rig_info(world, body);
    CHECK(now.position.y == 0);
    CHECK(now.velocity.y == 0 && now.spin.x == 0 && now.spin.z == 0);
  }
  CHECK(rig_info(world, body).position.z > 0.09);
  talus_world_destroy(world);
}

TEST(constant_force_and_torque_accelerate) {
  talus_world_def def = rig_def(1e-3);
  def.gravity = rig_vec(0, 0, 0);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 0);
  rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 9, 0, 0);
  const talus_body_info start = rig_info(world, ball);
  CHECK_OK(talus_body_set_force(world, ball, rig_vec(2, 0, 0), rig_vec(0, 0.01, 0)));
  CHECK_OK(talus_world_step(world, 100));
  CHECK_OK(talus_body_set_force(world, ball, rig_vec(0, 0, 0), rig_vec(0, 0, 0)));
  CHECK_OK(talus_world_step(world, 100));
  const talus_body_info now = rig_info(world, ball);
  CHECK_NEAR(now.velocity.x, 0.1 * 2 / (double)start.mass, BY_PRECISION(1e-12, 1e-5));
  CHECK_NEAR(now.spin.y, 0.1 * 0.01 / (double)start.inertia.y, BY_PRECISION(1e-11, 1e-4));
  talus_world_destroy(world);
}

TEST_MAIN()
