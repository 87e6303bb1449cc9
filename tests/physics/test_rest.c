/* Bodies at rest, and what they press with. */
#include "rig.h"

/* Ten seconds at rest: height within 1e-9 and the normal impulse m g h in every step. */
static void check_rest(talus_world *world, talus_body body, double height, double dt) {
  const double impulse = (double)rig_info(world, body).mass * G * dt;
  for (int n = 0; n < (int)(10 / dt + 0.5); ++n) {
    CHECK_OK(talus_world_step(world, 1));
    CHECK_NEAR(rig_info(world, body).position.z, height, BY_PRECISION(1e-9, 2e-6));
    CHECK_NEAR(rig_impulse_z(world, body), impulse, impulse * BY_PRECISION(1e-9, 2e-3));
  }
}

TEST(sphere_at_rest_on_a_plane_stays_and_presses_with_its_weight) {
  const double dt = 2e-3;
  talus_world_def def = rig_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.3);
  rig_floor(world, m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.25, 0, 0, 0), m, 0, 0, 0.25);
  check_rest(world, ball, 0.25, dt);
  talus_world_destroy(world);
}

TEST(box_at_rest_on_a_plane_stays_and_presses_with_its_weight) {
  const double dt = 2e-3;
  talus_world_def def = rig_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.3);
  rig_floor(world, m);
  const talus_body box =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.5, 0.3, 0.4, 0), m, 1, 2, 0.2);
  check_rest(world, box, 0.2, dt);
  const talus_body_info now = rig_info(world, box);
  CHECK_NEAR(now.position.x, 1, BY_PRECISION(1e-9, 1e-4));
  CHECK_NEAR(now.position.y, 2, BY_PRECISION(1e-9, 1e-4));
  talus_world_destroy(world);
}

TEST(sphere_at_rest_on_a_fixed_box_and_in_a_container_stays) {
  const double dt = 2e-3;
  talus_world_def def = rig_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_BOX, 1, 1, 1, 0), m, 0, 0, -0.5);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 2, 2, 2, 0), m, 10, 0, 1);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.25, 0, 0, 0);
  const talus_body on_box = rig_body(world, TALUS_FREE, ball, m, 0.1, 0.1, 0.25);
  const talus_body inside = rig_body(world, TALUS_FREE, ball, m, 10, 0.1, 0.25);
  for (int n = 0; n < 2000; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    CHECK_NEAR(rig_info(world, on_box).position.z, 0.25, BY_PRECISION(1e-9, 2e-6));
    CHECK_NEAR(rig_info(world, inside).position.z, 0.25, BY_PRECISION(1e-9, 2e-6));
  }
  talus_world_destroy(world);
}

TEST(column_between_frictionless_walls_weighs_on_its_base) {
  const double dt = 1e-3, radius = 0.05;
  const int spheres = 10;
  talus_world_def def = rig_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  const talus_body tube =
      rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 2 * radius, 2 * radius, 2, 0),
               m, 0, 0, 1);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, radius, 0, 0, 0);
  double weight = 0;
  for (int i = 0; i < spheres; ++i) {
    const talus_body body = rig_body(world, TALUS_FREE, ball, m, 0, 0, radius + 2 * radius * i);
    weight += (double)rig_info(world, body).mass * G;
  }
  const talus_probe_def probe = {
      .name = "base", .on_body = true, .body = tube, .record = TALUS_RECORD_FORCE};
  uint32_t number;
  CHECK_OK(talus_world_add_probe(world, &probe, &number));
  talus_probe_values values;
  CHECK_OK(talus_world_step(world, 200));
  CHECK_OK(talus_probe_read(world, number, &values));
  CHECK_OK(talus_world_step(world, 500));
  CHECK_OK(talus_probe_read(world, number, &values));
  CHECK_NEAR(values.force[2], -weight, weight * BY_PRECISION(1e-6, 2e-3));
  CHECK_NEAR(values.to - values.from, 0.5, 1e-9);
  talus_world_destroy(world);
}

TEST(a_share_of_an_overlap_is_pushed_out_in_every_step) {
  const double share[] = {0, 0.05, 0.5, 1};
  for (int k = 0; k < 4; ++k) {
    talus_world_def def = rig_def(1e-3);
    def.gravity = rig_vec(0, 0, 0);
    def.solve.recovery = share[k];
    def.solve.recovery_speed = 1e3;
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0, 0);
    rig_floor(world, m);
    const talus_body ball =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.25, 0, 0, 0), m, 0, 0, 0.24);
    double overlap = 0.01;
    CHECK_OK(talus_world_step(world, 1));
    overlap *= 1 - share[k];
    CHECK_NEAR(0.25 - rig_info(world, ball).position.z, overlap, BY_PRECISION(1e-12, 1e-7));
    CHECK((double)rig_info(world, ball).velocity.z == 0); /* which velocities do not learn of */
    talus_world_destroy(world);
  }
}

TEST(overlap_is_pushed_out_no_faster_than_the_recovery_speed) {
  const double dt = 1e-3;
  talus_world_def def = rig_def(dt);
  def.gravity = rig_vec(0, 0, 0);
  def.solve.recovery_speed = 0.2;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  rig_floor(world, m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.25, 0, 0, 0), m, 0, 0, 0.2);
  double fastest = 0, z = 0.2;
  for (int n = 0; n < 400; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    fastest = fmax(fastest, (rig_info(world, ball).position.z - z) / dt);
    z = rig_info(world, ball).position.z;
  }
  CHECK_NEAR(fastest, 0.2, BY_PRECISION(1e-9, 1e-4));
  CHECK(rig_info(world, ball).position.z >= 0.25 - 1e-6);
  talus_world_destroy(world);
}

/* What is within the slop stays as deep as it is; what is deeper is pushed out of it. */
TEST(overlap_within_the_slop_is_left_alone) {
  const double dt = 5e-3, slop = G * dt * dt, depth[3] = {0.4, 0.9, 5};
  for (int k = 0; k < 3; ++k) {
    talus_world_def def = rig_def(dt);
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0.5, 0);
    rig_floor(world, m);
    const talus_body ball =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0,
                 0.1 - depth[k] * slop);
    CHECK_OK(talus_world_step(world, 200));
    const double z = rig_info(world, ball).position.z, tiny = BY_PRECISION(1e-9, 1e-6);
    if (depth[k] < 1)
      CHECK_NEAR(z, 0.1 - depth[k] * slop, tiny);
    else
      CHECK_MSG(z > 0.1 - slop - tiny && z < 0.1 + tiny, "at %g", z);
    talus_world_destroy(world);
  }
}

/* In steps that are long for small bodies, |gravity| dt^2 would be a tenth of a radius. */
TEST(slop_is_small_beside_the_smallest_body) {
  const double R = 1e-4, dt = 1e-3;
  const talus_solve_kind kinds[2] = {TALUS_SOLVE_CCP, TALUS_SOLVE_IMPULSE};
  for (int k = 0; k < 2; ++k) {
    talus_world_def def = rig_def(dt);
    def.solve.kind = kinds[k];
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0.5, 0);
    rig_floor(world, m);
    rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 1, 0, 0, 0), m, 5, 0, 1);
    const talus_body ball =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, R, 0, 0, 0), m, 0, 0, 0.95 * R);
    CHECK_OK(talus_world_step(world, 300));
    const double z = rig_info(world, ball).position.z;
    CHECK_MSG(z > 0.988 * R && z < 1.001 * R, "at %g of the radius", z / R);
    talus_world_destroy(world);
  }
}

TEST_MAIN()
