/* Impacts: bounce heights, speculative contacts, momentum and energy in crowds. */
#include "base/random.h"
#include "rig.h"

/* Drops a ball and compares the height of each bounce with e^(2k). */
static void check_bounces(double dt, double drop, double e, int bounces, double tolerance) {
  const double radius = 0.1;
  talus_world_def def = rig_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.3, e);
  rig_floor(world, m);
  const talus_body ball = rig_body(
      world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, radius, 0, 0, 0), m, 0, 0, radius + drop);
  int seen = 0;
  double before = 0, top = 0;
  while (seen < bounces) {
    CHECK_MSG(talus_world_time(world) < 60, "only %d bounces", seen);
    CHECK_OK(talus_world_step(world, 1));
    const talus_body_info now = rig_info(world, ball);
    const double v = (double)now.velocity.z;
    top = fmax(top, now.position.z - radius);
    if (before > 0 && v <= 0) {
      seen++;
      /* The highest of the places that steps see, up to g h^2/8 below the top. */
      const double expected = drop * pow(e, 2 * seen);
      CHECK_NEAR(top, expected, tolerance * expected + 0.25 * G * dt * dt);
    }
    if (v < 0 && before <= 0)
      top = 0;
    before = v;
    CHECK(now.position.z > radius - 1e-3);
  }
  talus_world_destroy(world);
}

TEST(bounce_heights_fall_by_e_squared) {
  check_bounces(1e-4, 1, 0.8, 6, BY_PRECISION(1e-6, 2e-3));
  check_bounces(1e-4, 1, 0.5, 4, BY_PRECISION(1e-6, 2e-3));
}

/* 14 m/s and a step of 10 ms: the ball covers 1.4 radii a step and meets the floor through its
 * margin. */
TEST(fast_approach_bounces_through_the_speculative_margin) {
  check_bounces(1e-2, 10, 0.7, 2, BY_PRECISION(1e-6, 2e-3));
}

TEST(slow_impacts_do_not_bounce) {
  talus_world_def def = rig_def(1e-3);
  def.solve.bounce_speed = 0.5;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 1);
  rig_floor(world, m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 0.105);
  CHECK_OK(talus_world_step(world, 300));
  CHECK_NEAR(rig_info(world, ball).position.z, 0.1, BY_PRECISION(1e-9, 1e-5));
  CHECK_NEAR(rig_info(world, ball).velocity.z, 0, BY_PRECISION(1e-9, 1e-4));
  talus_world_destroy(world);
}

TEST(fast_ball_does_not_tunnel_through_a_thin_plate) {
  talus_world_def def = rig_def(1e-2);
  def.gravity = rig_vec(0, 0, 0);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_BOX, 1, 1, 0.002, 0), m, 0, 0, 0);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.01, 0, 0, 0), m, 0, 0, 3.0);
  CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(0, 0, -100), rig_vec(0, 0, 0)));
  CHECK_OK(talus_world_step(world, 50));
  CHECK_NEAR(rig_info(world, ball).position.z, 0.011, BY_PRECISION(1e-6, 2e-5));
  talus_world_destroy(world);
}

/* A cloud of spheres and one spinning box flying together, no gravity, nothing fixed. */
static talus_world *make_cloud(const talus_world_def *def, double friction, double restitution,
                               int n) {
  talus_world *world = rig_world(def);
  const talus_material m = rig_material(world, friction, restitution);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  const talus_shape brick = rig_shape(world, TALUS_BOX, 0.3, 0.2, 0.25, 0);
  int placed = 0;
  for (int x = 0; x < 5; ++x)
    for (int y = 0; y < 5; ++y)
      for (int z = 0; z < 5 && placed < n; ++z, ++placed) {
        tl_random random = tl_random_start(11, 99, (uint64_t)placed);
        talus_body_def def_body = talus_body_def_default();
        def_body.shape = placed == 62 ? brick : ball;
        def_body.material = m;
        def_body.position = (talus_dvec3){0.42 * (x - 2), 0.42 * (y - 2), 0.42 * (z - 2)};
        double v[3], w[3];
        for (int k = 0; k < 3; ++k) {
          v[k] = 2 * tl_random_unit(&random) - 1;
          w[k] = 10 * tl_random_unit(&random) - 5;
        }
        def_body.velocity =
            rig_vec(v[0] - 1.5 * (x - 2), v[1] - 1.5 * (y - 2), v[2] - 1.5 * (z - 2));
        def_body.spin = rig_vec(w[0], w[1], w[2]);
        def_body.scale = placed == 62 ? 1 : 0.6 + 0.8 * tl_random_unit(&random);
        CHECK_OK(talus_world_add_body(world, &def_body, NULL));
      }
  return world;
}

TEST(isolated_cloud_conserves_momentum_after_any_number_of_sweeps) {
  const int sweeps[] = {1, 2, 7, 200};
  for (int k = 0; k < 4; ++k) {
    talus_world_def def = rig_def(2e-3);
    def.gravity = rig_vec(0, 0, 0);
    def.solve.iterations = sweeps[k];
    def.solve.tolerance = 0;
    def.solve.recovery = 0; /* what moves bodies and leaves their velocities changes x cross v */
    talus_world *world = make_cloud(&def, 0.4, 0.5, 125);
    const talus_report start = rig_report(world);
    double scale = 0, angular_scale = 0;
    for (size_t i = 0; i < 125; ++i) {
      talus_body body;
      CHECK_OK(talus_world_body_at(world, i, &body));
      scale += (double)rig_info(world, body).mass * 3;
    }
    angular_scale = scale;
    size_t touched = 0;
    for (int n = 0; n < 300; ++n) {
      CHECK_OK(talus_world_step(world, 1));
      touched += rig_report(world).contacts_near;
    }
    CHECK(touched > 500);
    const talus_report now = rig_report(world);
    for (int i = 0; i < 3; ++i) {
      CHECK_NEAR(now.momentum[i], start.momentum[i], scale * BY_PRECISION(1e-14, 3e-6));
      /* Bounces and what the solver does keep it to rounding each; where one pair has both in a
       * step (the brick, whose overlap is pushed out), the solver takes it where it was at t0. */
      CHECK_NEAR(now.angular_momentum[i], start.angular_momentum[i],
                 angular_scale * BY_PRECISION(1e-7, 3e-5));
    }
    talus_world_destroy(world);
  }
}

TEST(kinetic_energy_never_grows_without_restitution_with_ccp) {
  talus_world_def def = rig_def(2e-3);
  def.gravity = rig_vec(0, 0, 0);
  def.solve.friction = TALUS_FRICTION_CCP;
  talus_world *world = make_cloud(&def, 0.5, 0, 124);
  double energy = rig_report(world).kinetic_energy;
  const double start = energy;
  for (int n = 0; n < 500; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    const double now = rig_report(world).kinetic_energy;
    CHECK_MSG(now <= energy * (1 + BY_PRECISION(1e-11, 1e-5)), "step %d: %.17g grew to %.17g", n,
              energy, now);
    energy = now;
  }
  CHECK_MSG(energy < 0.9 * start, "hardly anything collided: %g of %g", energy, start);
  talus_world_destroy(world);
}

/* ---- a bed --------------------------------------------------------------------------------- */

#define SIDE   3 /* balls along x and y, periodic */
#define LAYERS 30
#define BED    (SIDE * SIDE * LAYERS)

/* Square layers, each in the hollows of the one below: 1,044 contacts, and 9 with the floor. */
static void fill_bed(talus_world *world, talus_material m, double apart, talus_body *ball) {
  const double radius = 0.05, rise = sqrt(4 * radius * radius - 0.5 * apart * apart);
  const talus_shape sphere = rig_shape(world, TALUS_SPHERE, radius, 0, 0, 0);
  for (int i = 0; i < BED; ++i) {
    const int layer = i / (SIDE * SIDE);
    const double shift = 0.25 + 0.5 * (layer % 2);
    ball[i] = rig_body(world, TALUS_FREE, sphere, m, apart * (i % SIDE + shift),
                       apart * (i / SIDE % SIDE + shift), 1.5e-3 + radius + layer * rise);
    CHECK_OK(talus_body_set_velocity(world, ball[i], rig_vec(0, 0, -1), rig_vec(0, 0, 0)));
  }
}

TEST(deep_bed_lands_without_a_rebound) {
  const double apart = 0.101, width = SIDE * apart;
  talus_world_def def = talus_world_def_default();
  def.dt = 1e-3;
  def.threads = 1;
  def.domain.enabled = true;
  def.domain.periodic[0] = def.domain.periodic[1] = true;
  def.domain.box = (talus_box){{0, 0, -1}, {width, width, 10}};
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.3, 0);
  rig_floor(world, m);
  talus_body ball[BED];
  fill_bed(world, m, apart, ball);
  int longest = 0;
  double fastest = 0;
  for (int n = 0; n < 40; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    const int iterations = rig_report(world).iterations;
    if (iterations > longest)
      longest = iterations;
    if (n > 5) /* only an impact gets more than twice the usual sweeps */
      CHECK_MSG(iterations <= 2 * def.solve.iterations, "step %d: %d sweeps", n, iterations);
    for (int i = 0; i < BED; ++i)
      fastest = fmax(fastest, (double)rig_info(world, ball[i]).velocity.z);
  }
  CHECK_MSG(longest > 2 * def.solve.iterations, "the impact got %d sweeps", longest);
  CHECK_MSG(fastest < 0.01, "a ball left at %g m/s", fastest);
  talus_world_destroy(world);
}

TEST_MAIN()
