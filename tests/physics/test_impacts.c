/* Impacts within a step: chains in order, whoever looks on, and energy that is kept or lost but
 * never made. */
#include "base/random.h"
#include "rig.h"

#define R 0.05

static talus_world_def flying(double dt) {
  talus_world_def def = talus_world_def_default();
  def.dt = dt;
  def.threads = 1;
  def.gravity = rig_vec(0, 0, 0);
  return def;
}

static talus_body ball_at(talus_world *world, talus_shape shape, talus_material m, double x,
                          double y, double z, double vx, double vy, double vz) {
  const talus_body body = rig_body(world, TALUS_FREE, shape, m, x, y, z);
  CHECK_OK(talus_body_set_velocity(world, body, rig_vec(vx, vy, vz), rig_vec(0, 0, 0)));
  return body;
}

/* ---- rows of balls ------------------------------------------------------------------------- */

/* n balls in a row, `gap` apart, `moving` of them with 1 m/s to the right, all seen by somebody who
 * flies to the left with `drift`. Ends with speeds less drift. */
static void run_row(int n, int moving, double gap, double drift, double e, double dt,
                    double *speed) {
  talus_world_def def = flying(dt);
  def.margin = 0.08 * R; /* what is hit within the step sees its neighbour */
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.3, e);
  const talus_shape shape = rig_shape(world, TALUS_SPHERE, R, 0, 0, 0);
  talus_body ball[8];
  for (int i = 0; i < n; ++i)
    ball[i] = ball_at(world, shape, m, i * (2 * R + gap) - (i < moving ? 0.4 * R : 0), 0, 0,
                      drift + (i < moving), 0, 0);
  CHECK_OK(talus_world_step(world, (uint64_t)(0.3 / dt)));
  for (int i = 0; i < n; ++i)
    speed[i] = (double)rig_info(world, ball[i]).velocity.x - drift;
  talus_world_destroy(world);
}

TEST(three_balls_in_a_row_pass_on_the_speed_whoever_looks_on) {
  const double drift[] = {0, 1, 1000}, gap[] = {0, 1e-3, 0.02};
  for (int k = 0; k < 9; ++k) {
    double v[8];
    run_row(3, 1, gap[k / 3], drift[k % 3], 1, 1e-3, v);
    const double rounding = BY_PRECISION(1e-12, 1e-6) * (1 + drift[k % 3]);
    CHECK_NEAR(v[0], 0, rounding);
    CHECK_NEAR(v[1], 0, rounding);
    CHECK_NEAR(v[2], 1, rounding);
  }
}

TEST(newtons_cradle_gives_back_as_many_balls_as_come) {
  for (int moving = 1; moving <= 3; ++moving)
    for (int touching = 0; touching < 2; ++touching) {
      double v[8];
      run_row(5, moving, touching ? 0 : 1e-4, 0, 1, 1e-3, v);
      for (int i = 0; i < 5; ++i)
        CHECK_MSG(fabs(v[i] - (i >= 5 - moving)) < BY_PRECISION(1e-9, 1e-5),
                  "%d come%s: ball %d leaves with %g", moving, touching ? ", touching" : "", i,
                  v[i]);
    }
}

/* Each of two equal balls ends with (1 -+ e)/2 of the speed; the chain does the same twice. */
TEST(three_balls_with_losses_share_the_speed_as_single_impacts_do) {
  double v[8];
  const double e = 0.6, p = (1 + e) / 2, q = (1 - e) / 2;
  run_row(3, 1, 1e-3, 0, e, 1e-3, v);
  /* q, p q and p p; then the first catches up with the second. */
  CHECK_NEAR(v[0], q * q + p * p * q, BY_PRECISION(1e-12, 1e-6));
  CHECK_NEAR(v[1], p * q + p * q * q, BY_PRECISION(1e-12, 1e-6));
  CHECK_NEAR(v[2], p * p, BY_PRECISION(1e-12, 1e-6));
}

/* ---- heavy and light ----------------------------------------------------------------------- */

/* A ball falls on a light one that lies on a floor, at 1 m/s, no gravity: M, m, e. Speeds upwards
 * at the end, of the heavy one. */
static double fall_on_light(double big, double small, double e, double *energy) {
  talus_world_def def = flying(1e-3);
  def.margin = 0.004; /* the light one sees the floor before it is hit */
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, e);
  rig_floor(world, m);
  const talus_shape shape = rig_shape(world, TALUS_SPHERE, 1, 0, 0, 0);
  talus_body_def body = talus_body_def_default();
  talus_body heavy;
  body.shape = shape, body.material = m;
  body.scale = small, body.position = (talus_dvec3){0, 0, small};
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  body.scale = big, body.position = (talus_dvec3){0, 0, 2 * small + big + 0.0105};
  body.velocity = rig_vec(0, 0, -1);
  CHECK_OK(talus_world_add_body(world, &body, &heavy));
  const double before = rig_report(world).kinetic_energy;
  CHECK_OK(talus_world_step(world, 60));
  *energy = rig_report(world).kinetic_energy / before;
  const double up = (double)rig_info(world, heavy).velocity.z;
  talus_world_destroy(world);
  return up;
}

TEST(heavy_ball_on_a_light_one_keeps_the_energy_and_bounces_off) {
  double energy;
  for (double ratio = 1; ratio < 11; ratio *= 2.15) {
    const double up = fall_on_light(0.01 * ratio, 0.01, 1, &energy);
    CHECK_MSG(fabs(energy - 1) < BY_PRECISION(1e-9, 1e-4), "ratio %g: %.9g of the energy", ratio,
              energy);
    CHECK_MSG(up > 0 && up <= 1 + 1e-6, "ratio %g: %g m/s upwards", ratio, up);
    fall_on_light(0.01 * ratio, 0.01, 0.5, &energy);
    CHECK_MSG(energy <= 0.5, "ratio %g, e = 0.5: %g of the energy", ratio, energy);
  }
}

/* ---- several at a time --------------------------------------------------------------------- */

TEST(wedge_of_one_ball_drives_two_apart_alike) {
  for (int order = 0; order < 2; ++order) {
    talus_world_def def = flying(1e-3);
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0, 1);
    const talus_shape shape = rig_shape(world, TALUS_SPHERE, R, 0, 0, 0);
    const double side = order ? -1 : 1;
    const talus_body left = ball_at(world, shape, m, 0, -side * R, 0, 0, 0, 0);
    const talus_body middle = ball_at(world, shape, m, -2 * R, 0, 0, 1, 0, 0);
    const talus_body right = ball_at(world, shape, m, 0, side * R, 0, 0, 0, 0);
    CHECK_OK(talus_world_step(world, 100));
    const talus_vec3 a = rig_info(world, left).velocity, b = rig_info(world, right).velocity;
    const double tiny = BY_PRECISION(1e-12, 1e-5);
    /* Both along their lines of centres, 30 degrees to the sides. */
    CHECK_NEAR(rig_info(world, middle).velocity.x, -0.2, tiny);
    CHECK_NEAR(rig_info(world, middle).velocity.y, 0, tiny);
    CHECK_NEAR(a.x, 0.6, tiny);
    CHECK_NEAR(b.x, 0.6, tiny);
    CHECK_NEAR(side * (double)a.y, -0.2 * sqrt(3), tiny);
    CHECK_NEAR(a.y + b.y, 0, tiny);
    CHECK_NEAR(rig_report(world).kinetic_energy / (0.5 * (double)rig_info(world, middle).mass), 1,
               tiny);
    talus_world_destroy(world);
  }
}

/* Fifteen balls in a triangle, hit at the tip along the axis: left and right go alike. */
TEST(break_of_a_triangle_is_symmetric) {
  talus_world_def def = flying(1e-3);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 1);
  const talus_shape shape = rig_shape(world, TALUS_SPHERE, R, 0, 0, 0);
  talus_body ball[5][5];
  for (int row = 0; row < 5; ++row)
    for (int i = 0; i <= row; ++i)
      ball[row][i] = ball_at(world, shape, m, row * R * sqrt(3), (2 * i - row) * R, 0, 0, 0, 0);
  ball_at(world, shape, m, -2.5 * R, 0, 0, 5, 0, 0);
  const double before = rig_report(world).kinetic_energy;
  CHECK_OK(talus_world_step(world, 60));
  const double rounding = BY_PRECISION(1e-9, 1e-3);
  CHECK_NEAR(rig_report(world).kinetic_energy / before, 1, BY_PRECISION(1e-12, 1e-5));
  for (int row = 0; row < 5; ++row)
    for (int i = 0; i <= row; ++i) {
      const talus_vec3 v = rig_info(world, ball[row][i]).velocity;
      const talus_vec3 w = rig_info(world, ball[row][row - i]).velocity;
      CHECK_NEAR(v.x, w.x, rounding);
      CHECK_NEAR(v.y, -w.y, rounding);
    }
  talus_world_destroy(world);
}

/* ---- gravity --------------------------------------------------------------------------------- */

/* Hundreds of bounces with e = 1: bounces keep the energy that steps keep, and so does the ledger.
 */
TEST(elastic_ball_bounces_to_the_same_height_for_ever) {
  talus_world_def def = rig_def(1e-3);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.3, 1);
  rig_floor(world, m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, R, 0, 0, 0), m, 0, 0, R + 0.1);
  double top = 0;
  for (int n = 0; n < 60000; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    if (n > 59000)
      top = fmax(top, rig_info(world, ball).position.z - R);
  }
  CHECK_NEAR(top, 0.1, BY_PRECISION(1e-5, 1e-3));
  CHECK_NEAR(rig_report(world).contact_work, 0, BY_PRECISION(1e-9, 1e-3));
  talus_world_destroy(world);
}

/* ---- a gas ----------------------------------------------------------------------------------- */

typedef struct gas {
  talus_world *world;
  int n;
  double mass, volume, reach; /* kg of one, m3, 2 R */
  size_t collisions;
  double virial; /* sum of impulse times distance, J */
} gas;

static gas make_gas(int side, double fraction, double e, double dt, double drift) {
  gas g = {.n = side * side * side};
  talus_world_def def = flying(dt);
  const double volume = 4.0 / 3 * 3.14159265358979 * R * R * R;
  const double length = cbrt(g.n * volume / fraction), cell = length / side;
  def.domain.enabled = true;
  def.domain.box.hi = (talus_dvec3){length, length, length};
  for (int k = 0; k < 3; ++k)
    def.domain.periodic[k] = true;
  g.world = rig_world(&def);
  g.volume = length * length * length;
  g.reach = 2 * R;
  g.mass = 1000 * volume;
  const talus_material m = rig_material(g.world, 0, e);
  const talus_shape shape = rig_shape(g.world, TALUS_SPHERE, R, 0, 0, 0);
  for (int i = 0; i < g.n; ++i) {
    tl_random random = tl_random_start(5, 1, (uint64_t)i);
    double v[3];
    for (int k = 0; k < 3; ++k) { /* near enough to a Gaussian of variance 1 */
      v[k] = drift * (k == 0) - 6;
      for (int j = 0; j < 12; ++j)
        v[k] += tl_random_unit(&random);
    }
    ball_at(g.world, shape, m, (i % side + 0.5) * cell, (i / side % side + 0.5) * cell,
            (i / side / side + 0.5) * cell, v[0], v[1], v[2]);
  }
  return g;
}

static void run_gas(gas *g, int steps) {
  static talus_contact contacts[16384];
  for (int n = 0; n < steps; ++n) {
    size_t count;
    CHECK_OK(talus_world_step(g->world, 1));
    CHECK_OK(talus_world_contacts(g->world, contacts, 16384, &count));
    for (size_t i = 0; i < count; ++i) {
      const talus_vec3 p = contacts[i].impulse;
      const double length = sqrt((double)(p.x * p.x + p.y * p.y + p.z * p.z));
      g->collisions += length > 0;
      g->virial += length * g->reach;
    }
  }
}

TEST(elastic_gas_keeps_its_energy_and_has_the_pressure_of_carnahan_and_starling) {
  SKIP_IF_SHORT();
  const double dt = 5e-3; /* a ball moves by 0.17 radii a step */
  gas g = make_gas(6, 0.3, 1, dt, 0);
  run_gas(&g, 100); /* until the lattice is forgotten */
  const talus_report start = rig_report(g.world);
  g.collisions = 0, g.virial = 0;
  const int steps = 800;
  run_gas(&g, steps);
  const talus_report end = rig_report(g.world);
  CHECK_MSG(g.collisions > 10000, "%zu collisions", g.collisions);
  CHECK_NEAR(end.kinetic_energy / start.kinetic_energy, 1, BY_PRECISION(1e-9, 1e-4));
  for (int i = 0; i < 3; ++i)
    CHECK_NEAR(end.momentum[i], start.momentum[i], BY_PRECISION(1e-12, 1e-4) * g.n * g.mass);
  /* Z = 1 + virial / (3 N kT t), 3 N kT = 2 K. */
  const double z = 1 + g.virial / (2 * end.kinetic_energy * steps * dt), y = 0.3;
  const double expected = (1 + y + y * y - y * y * y) / ((1 - y) * (1 - y) * (1 - y));
  CHECK_MSG(fabs(z / expected - 1) < 0.03, "Z %g, Carnahan and Starling say %g", z, expected);
  talus_world_destroy(g.world);
}

TEST(gas_does_not_know_how_fast_it_flies) {
  gas still = make_gas(4, 0.2, 1, 2e-3, 0), fast = make_gas(4, 0.2, 1, 2e-3, 1);
  run_gas(&still, 100);
  run_gas(&fast, 100);
  CHECK(still.collisions > 50);
  CHECK_NEAR(still.virial, fast.virial, BY_PRECISION(1e-6, 0.05) * still.virial);
  talus_world_destroy(still.world);
  talus_world_destroy(fast.world);
}

/* Haff 1983: speeds fall as 1/(1 + t/tau). */
TEST(gas_with_losses_cools_as_haff_says) {
  const double dt = 4e-3, e = 0.9;
  gas g = make_gas(6, 0.2, e, dt, 0);
  run_gas(&g, 60);
  double x[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = 1 / sqrt(rig_report(g.world).kinetic_energy);
    run_gas(&g, 250);
  }
  /* 1/sqrt(T) grows linearly in time. */
  CHECK_MSG(x[1] > 1.3 * x[0], "it hardly cools: %g to %g", x[0], x[1]);
  CHECK_MSG(fabs((x[2] - x[1]) / (x[1] - x[0]) - 1) < BY_PRECISION(0.15, 0.25), "%g, %g, %g", x[0],
            x[1], x[2]);
  talus_world_destroy(g.world);
}

/* ---- anything -------------------------------------------------------------------------------- */

static talus_shape some_shape(talus_world *world, int kind) {
  switch (kind) {
  case 0:
    return rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  case 1:
    return rig_shape(world, TALUS_BOX, 0.2, 0.15, 0.25, 0);
  case 2:
    return rig_shape(world, TALUS_CAPSULE, 0.06, 0.2, 0, 0);
  case 3:
    return rig_shape(world, TALUS_ELLIPSOID, 0.1, 0.08, 0.12, 0);
  default:
    return rig_shape(world, TALUS_CYLINDER, 0.08, 0.2, 0, 0);
  }
}

/* Thrown at each other without gravity: kinetic energy never grows, whatever they are. */
TEST(crowds_of_all_kinds_never_gain_energy_by_bouncing) {
  SKIP_IF_SHORT();
  for (int seed = 0; seed < 6; ++seed) {
    tl_random random = tl_random_start(23, 7, (uint64_t)seed);
    talus_world_def def = flying(2e-3);
    def.solve.recovery = 0; /* overlap that is pushed out is another matter */
    talus_world *world = rig_world(&def);
    talus_material m[3];
    talus_shape shape[5];
    for (int k = 0; k < 3; ++k)
      m[k] = rig_material(world, tl_random_unit(&random), k == 0 ? 0 : tl_random_unit(&random));
    for (int k = 0; k < 5; ++k)
      shape[k] = some_shape(world, k);
    for (int i = 0; i < 64; ++i) {
      const double x = i % 4 - 1.5, y = i / 4 % 4 - 1.5, z = i / 16 - 1.5;
      talus_body_def body = talus_body_def_default();
      body.shape = shape[(i + seed) % 5];
      body.material = m[i % 3];
      body.scale = 0.6 + 0.6 * tl_random_unit(&random);
      body.position = (talus_dvec3){0.42 * x, 0.42 * y, 0.42 * z};
      body.velocity =
          rig_vec(2 * tl_random_unit(&random) - 1 - 2 * x, 2 * tl_random_unit(&random) - 1 - 2 * y,
                  2 * tl_random_unit(&random) - 1 - 2 * z);
      body.spin = rig_vec(10 * tl_random_unit(&random) - 5, 10 * tl_random_unit(&random) - 5, 0);
      CHECK_OK(talus_world_add_body(world, &body, NULL));
    }
    const double start = rig_report(world).kinetic_energy;
    double work = 0;
    for (int n = 0; n < 300; ++n) {
      CHECK_OK(talus_world_step(world, 1));
      const double now = rig_report(world).contact_work;
      CHECK_MSG(now - work <= BY_PRECISION(1e-9, 1e-5) * start,
                "seed %d, step %d: contacts make %g J of %g", seed, n, now - work, start);
      work = now;
    }
    CHECK_MSG(work < -0.1 * start, "seed %d: hardly anything collided", seed);
    talus_world_destroy(world);
  }
}

TEST(bounces_do_not_depend_on_threads) {
  uint64_t hash[2];
  for (int k = 0; k < 2; ++k) {
    talus_world_def def = talus_world_def_default();
    def.threads = k ? 3 : 1;
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0.3, 0.8);
    const talus_shape ball = rig_shape(world, TALUS_SPHERE, R, 0, 0, 0);
    const talus_shape box = rig_shape(world, TALUS_BOX, 2 * R, 2 * R, 2 * R, 0);
    rig_floor(world, m);
    for (int i = 0; i < 3000; ++i)
      ball_at(world, i % 7 ? ball : box, m, 0.13 * (i % 14), 0.13 * (i / 14 % 14),
              0.1 + 0.13 * (i / 196) + 0.01 * (i % 5), 0.3 * (i % 3), 0, -1);
    CHECK_OK(talus_world_step(world, 60));
    hash[k] = talus_world_hash(world);
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[0], hash[1]);
}

TEST_MAIN()
