/* Zones: forces, shells, boundaries, and who comes and goes. */
#include "elastic_fixture.h"
#include <talus/average.h>
#include <talus/zone.h>

static talus_zone_def at_origin(double radius) {
  talus_zone_def def = talus_zone_def_default();
  def.radius = radius;
  return def;
}

static uint32_t add_zone(talus_world *world, talus_zone_def def) {
  uint32_t zone;
  CHECK_OK(talus_world_add_zone(world, &def, &zone));
  return zone;
}

static talus_zone_values read_zone(talus_world *world, uint32_t zone) {
  talus_zone_values values;
  CHECK_OK(talus_zone_read(world, zone, &values));
  return values;
}

static talus_world_def quiet_def(talus_solve_kind kind, double dt) {
  talus_world_def def = elastic_def(BY_HARD_SHELL, dt);
  def.solve = talus_world_def_default().solve;
  def.solve.kind = kind;
  return def;
}

/* ---- forces ---------------------------------------------------------------------------------- */

/* With power 1 a place pulls like a constant and a spring: F = -S (1 - r/R). A ball that falls
 * through it keeps kinetic energy and potential. */
static void check_fall(talus_world_def def) {
  talus_body_def ball;
  talus_world *world = elastic_world(&def, 0.01, 1, &ball);
  const talus_body body =
      add_ball(world, ball, 2, (talus_dvec3){1.5, 0, 0}, (talus_dvec3){0, 0, 0});
  talus_zone_def zone = at_origin(2);
  zone.strength = -3, zone.power = 1;
  add_zone(world, zone);
  const double start = -3 * 2.0 / 2 * 0.25 * 0.25;
  double worst = 0;
  for (int i = 0; i < 2000; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    const talus_report r = report_of(world);
    const double x = info_of(world, body).position.x;
    if (fabs(x) > 0.1) /* there the force turns round at once, which a step sees late */
      worst = fmax(worst, fabs(r.kinetic_energy + r.zone_energy - start));
    CHECK_NEAR(r.kinetic_energy, r.zone_work, 1e-9 + (TALUS_SINGLE ? 1e-4 : 0));
  }
  CHECK_MSG(worst < 0.03, "%g", worst);
  talus_world_destroy(world);
}

TEST(a_pull_keeps_kinetic_energy_and_potential_with_every_solver) {
  check_fall(elastic_def(BY_EVENTS, 2e-3));
  check_fall(elastic_def(BY_HARD_SHELL, 2e-3));
  check_fall(quiet_def(TALUS_SOLVE_CCP, 2e-3));
  check_fall(quiet_def(TALUS_SOLVE_IMPULSE, 2e-3));
  check_fall(quiet_def(TALUS_SOLVE_PENALTY, 2e-3));
}

static double error_of_pull(double dt) {
  talus_world_def def = elastic_def(BY_EVENTS, dt);
  talus_body_def ball;
  talus_world *world = elastic_world(&def, 0.01, 1, &ball);
  const talus_body body =
      add_ball(world, ball, 2, (talus_dvec3){1.5, 0, 0}, (talus_dvec3){0, 0, 0});
  talus_zone_def zone = at_origin(2);
  zone.strength = 3, zone.power = 1;
  add_zone(world, zone);
  CHECK_OK(talus_world_step(world, (uint64_t)(1 / dt + 0.5)));
  /* m x'' = S (1 - x/R): x = R - (R - x0) cos(w t), w^2 = S/(m R); out of reach not before 2 s. */
  const double exact = 2 - 0.5 * cos(sqrt(3.0 / 4));
  const double error = fabs(info_of(world, body).position.x - exact);
  talus_world_destroy(world);
  return error;
}

TEST(a_push_is_right_to_first_order_in_the_step) {
  const double one = error_of_pull(0.02), half = error_of_pull(0.01);
  CHECK(one < 0.01);
  CHECK_NEAR(half / one, 0.5, 0.02);
}

static talus_world *make_group_gas(talus_world_def def, uint32_t *group) {
  talus_body_def ball;
  talus_world *world = elastic_world(&def, 0.05, 1, &ball);
  uint64_t seed = 11;
  CHECK_OK(talus_world_group(world, "gas", group));
  ball.group = *group;
  for (int i = 0; i < 216; ++i)
    add_ball(world, ball, 1 + next_random(&seed),
             (talus_dvec3){i % 6 * 0.5 + 0.2 * next_random(&seed),
                           i / 6 % 6 * 0.5 + 0.2 * next_random(&seed),
                           i / 36 * 0.5 + 0.2 * next_random(&seed)},
             (talus_dvec3){next_random(&seed) - 0.5, next_random(&seed) - 0.5,
                           next_random(&seed) - 0.5});
  return world;
}

TEST(bodies_that_pull_each_other_keep_their_momentum_and_energy) {
  uint32_t group;
  talus_world *world = make_group_gas(elastic_def(BY_EVENTS, 1e-3), &group);
  talus_zone_def zone = at_origin(1);
  zone.of = TALUS_ZONE_GROUP, zone.group = group;
  zone.strength = -0.3, zone.power = 2;
  add_zone(world, zone);
  CHECK_OK(talus_world_step(world, 1));
  const talus_report start = report_of(world);
  CHECK_OK(talus_world_step(world, 300));
  const talus_report end = report_of(world);
  for (int k = 0; k < 3; ++k)
    CHECK_NEAR(end.momentum[k], start.momentum[k], TALUS_SINGLE ? 1e-3 : 1e-10);
  const double gained =
      end.kinetic_energy + end.zone_energy - start.kinetic_energy - start.zone_energy;
  CHECK(fabs(end.zone_work - start.zone_work) > 0.1);
  CHECK_NEAR(gained, 0, 0.02 * fabs(end.zone_work - start.zone_work));
  CHECK_NEAR(end.kinetic_energy - start.kinetic_energy, end.zone_work - start.zone_work,
             TALUS_SINGLE ? 1e-2 : 1e-9);
  talus_world_destroy(world);
}

/* Against all pairs, through periodic images too. */
static double count_pairs(talus_world *world, double radius, double period) {
  double count = 0;
  for (size_t i = 0; i < talus_world_body_count(world); ++i)
    for (size_t k = 0; k < talus_world_body_count(world); ++k) {
      talus_body a, b;
      CHECK_OK(talus_world_body_at(world, i, &a));
      CHECK_OK(talus_world_body_at(world, k, &b));
      const talus_dvec3 x = info_of(world, a).position, y = info_of(world, b).position;
      double d[3] = {x.x - y.x, x.y - y.y, x.z - y.z};
      for (int c = 0; c < 3 && period > 0; ++c)
        d[c] -= period * floor(d[c] / period + 0.5);
      count += i != k && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= radius * radius;
    }
  return count;
}

TEST(neighbours_are_those_that_all_pairs_find) {
  for (int periodic = 0; periodic < 2; ++periodic)
    for (double radius = 0.3; radius < (periodic ? 1.5 : 3); radius *= 2) {
      uint32_t group;
      talus_world_def def = elastic_def(BY_EVENTS, 0.01);
      def.domain.enabled = periodic;
      def.domain.box = (talus_box){{0, 0, 0}, {3, 3, 3}};
      def.domain.periodic[0] = def.domain.periodic[1] = def.domain.periodic[2] = true;
      talus_world *world = make_group_gas(def, &group);
      talus_zone_def zone = at_origin(radius);
      zone.of = TALUS_ZONE_GROUP, zone.group = group;
      const uint32_t row = add_zone(world, zone);
      CHECK_OK(talus_world_step(world, 1));
      const talus_zone_values v = read_zone(world, row);
      const double count = count_pairs(world, radius, periodic ? 3 : 0);
      CHECK_NEAR(v.inside, count, 1e-6);
      CHECK_NEAR(v.neighbours, count / 216, 1e-8);
      talus_world_destroy(world);
    }
}

/* ---- shells and boundaries ------------------------------------------------------------------- */

TEST(shells_reflect_and_keep_energy_and_momentum) {
  for (int soft = 0; soft < 2; ++soft) {
    uint32_t group;
    talus_world *world = make_group_gas(elastic_def(BY_EVENTS, 0.01), &group);
    talus_zone_def zone = at_origin(0.25);
    zone.of = TALUS_ZONE_GROUP, zone.group = group;
    zone.shell = soft ? TALUS_ZONE_SOFT : TALUS_ZONE_HARD;
    const uint32_t row = add_zone(world, zone);
    const talus_report start = report_of(world);
    CHECK_OK(talus_world_step(world, 100));
    const talus_report end = report_of(world);
    CHECK_NEAR(end.kinetic_energy, start.kinetic_energy, TALUS_SINGLE ? 1e-3 : 1e-10);
    for (int k = 0; k < 3; ++k)
      CHECK_NEAR(end.momentum[k], start.momentum[k], TALUS_SINGLE ? 1e-3 : 1e-10);
    CHECK_EQ_U64(end.collisions, 0); /* they bounce before they touch */
    CHECK(read_zone(world, row).neighbours < 0.1);
    talus_world_destroy(world);
  }
}

TEST(a_soft_shell_reflects_where_it_was_met) {
  talus_world_def def = elastic_def(BY_EVENTS, 0.3);
  talus_body_def ball;
  talus_world *world = elastic_world(&def, 0.01, 1, &ball);
  const talus_body body = add_ball(world, ball, 1, (talus_dvec3){2, 0, 0}, (talus_dvec3){-1, 0, 0});
  talus_zone_def zone = at_origin(1);
  zone.shell = TALUS_ZONE_SOFT;
  add_zone(world, zone);
  CHECK_OK(talus_world_step(world, 5)); /* met after 1 s, in the middle of the fourth step */
  CHECK_NEAR(info_of(world, body).position.x, 1.5, 1e-6);
  CHECK_NEAR(info_of(world, body).velocity.x, 1, 1e-6);
  talus_world_destroy(world);
}

TEST(a_boundary_keeps_in_who_is_in) {
  talus_world_def def = elastic_def(BY_EVENTS, 0.05);
  talus_body_def ball;
  talus_world *world = elastic_world(&def, 0.01, 1, &ball);
  const talus_body in =
      add_ball(world, ball, 1, (talus_dvec3){0.3, 0.2, 0}, (talus_dvec3){1, 0.4, -0.7});
  const talus_body out = add_ball(world, ball, 1, (talus_dvec3){5, 0, 0}, (talus_dvec3){1, 0, 0});
  talus_zone_def zone = at_origin(1);
  zone.boundary = true;
  add_zone(world, zone);
  for (int i = 0; i < 400; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    const talus_dvec3 x = info_of(world, in).position;
    CHECK(x.x * x.x + x.y * x.y + x.z * x.z < 1 + 1e-6);
  }
  CHECK_NEAR(info_of(world, out).position.x, 25, 1e-4);
  CHECK_NEAR(report_of(world).kinetic_energy, 0.5 * (1 + 0.16 + 0.49) + 0.5, 1e-5);
  talus_world_destroy(world);
}

/* A bead on a wire along x meets a ball off its centre: it goes back along the wire, as fast. */
TEST(shells_and_boundaries_move_nobody_along_locked_axes) {
  for (int kind = 0; kind < 3; ++kind) {
    talus_world_def def = quiet_def(TALUS_SOLVE_CCP, 0.01);
    talus_body_def ball;
    talus_world *world = elastic_world(&def, 0.01, 1, &ball);
    ball.lock = TALUS_LOCK_Y | TALUS_LOCK_Z;
    const talus_body bead = add_ball(world, ball, 2, (talus_dvec3){kind == 2 ? 0 : -2, 0.5, 0.25},
                                     (talus_dvec3){3, 0, 0});
    talus_zone_def zone = at_origin(1);
    zone.boundary = kind == 2;
    zone.shell = kind == 0 ? TALUS_ZONE_HARD : kind == 1 ? TALUS_ZONE_SOFT : TALUS_ZONE_OPEN;
    add_zone(world, zone);
    CHECK_OK(talus_world_step(world, 50));
    const talus_body_info info = info_of(world, bead);
    CHECK_NEAR(info.velocity.x, -3, 1e-5);
    CHECK(info.velocity.y == 0 && info.velocity.z == 0);
    CHECK(info.position.y == 0.5 && info.position.z == 0.25);
    CHECK_NEAR(report_of(world).kinetic_energy, 9, 1e-4);
    talus_world_destroy(world);
  }
}

/* A driven shell gives energy, which the ledger has. */
TEST(work_of_a_shell_about_a_driven_body_is_told) {
  for (int soft = 0; soft < 2; ++soft) {
    talus_world_def def = elastic_def(BY_EVENTS, 0.01);
    talus_body_def ball, driven;
    talus_world *world = elastic_world(&def, 0.01, 1, &ball);
    driven = ball;
    driven.kind = TALUS_KINEMATIC;
    driven.motion.velocity.x = 1;
    talus_zone_def zone = at_origin(1);
    zone.of = TALUS_ZONE_BODY;
    zone.shell = soft ? TALUS_ZONE_SOFT : TALUS_ZONE_HARD;
    CHECK_OK(talus_world_add_body(world, &driven, &zone.body));
    const talus_body body =
        add_ball(world, ball, 2, (talus_dvec3){2, 0, 0}, (talus_dvec3){-1, 0, 0});
    add_zone(world, zone);
    CHECK_OK(talus_world_step(world, 100));
    CHECK_NEAR(info_of(world, body).velocity.x, 3, 1e-5);
    CHECK_NEAR(report_of(world).zone_work, 0.5 * 2 * (9 - 1), 1e-4);
    talus_world_destroy(world);
  }
}

/* ---- triggers -------------------------------------------------------------------------------- */

TEST(who_enters_and_leaves_is_listed_counted_and_timed) {
  talus_world_def def = elastic_def(BY_EVENTS, 0.125);
  talus_body_def ball;
  talus_zone_event events[4];
  size_t count;
  talus_world *world = elastic_world(&def, 0.01, 1, &ball);
  add_ball(world, ball, 2, (talus_dvec3){-2.05, 0, 0}, (talus_dvec3){1, 0, 0});
  add_ball(world, ball, 3, (talus_dvec3){0, 1.95, 0}, (talus_dvec3){0, -1, 0});
  talus_zone_def zone = at_origin(1);
  zone.trigger = true;
  const uint32_t row = add_zone(world, zone);
  CHECK_OK(talus_world_step(world, 8)); /* 1 s */
  CHECK_OK(talus_world_zone_events(world, events, 4, &count));
  CHECK(count == 1 && events[0].enters && events[0].body == 2 && events[0].centre == 0 &&
        events[0].zone == row && events[0].time == 1);
  CHECK_OK(talus_world_step(world, 1));
  CHECK_OK(talus_world_zone_events(world, events, 4, &count));
  CHECK(count == 1 && events[0].enters && events[0].body == 1);
  CHECK_OK(talus_world_step(world, 23)); /* 4 s */
  talus_zone_values v = read_zone(world, row);
  CHECK(v.entered == 2 && v.left == 2 && v.mass_in == 5 && v.mass_out == 5);
  CHECK_NEAR(v.energy_in, 2.5, 1e-6);
  CHECK_NEAR(v.dwell, 2, 1e-9);
  CHECK_NEAR(v.inside, 2 * 2.0 / 4, 1e-9);
  v = read_zone(world, row);
  CHECK(v.entered == 0 && v.from == 4);
  talus_world_destroy(world);
}

/* ---- bits ------------------------------------------------------------------------------------ */

static talus_world *make_all(int threads) {
  uint32_t group;
  talus_world_def def = elastic_def(BY_EVENTS, 0.01);
  def.threads = threads;
  talus_world *world = make_group_gas(def, &group);
  talus_zone_def zone = at_origin(0.8);
  zone.of = TALUS_ZONE_GROUP, zone.group = group, zone.trigger = true;
  zone.strength = -0.2, zone.power = 1.5;
  add_zone(world, zone);
  zone = at_origin(1.5), zone.at = (talus_dvec3){1, 1, 1}, zone.trigger = true;
  add_zone(world, zone);
  zone = at_origin(4), zone.at = (talus_dvec3){1, 1, 1}, zone.boundary = true;
  add_zone(world, zone);
  return world;
}

static void check_same(talus_world *x, talus_world *y) {
  CHECK_EQ_U64(talus_world_hash(x), talus_world_hash(y));
  for (uint32_t i = 0; i < 3; ++i) {
    const talus_zone_values a = read_zone(x, i), b = read_zone(y, i);
    CHECK_MSG(memcmp(&a, &b, sizeof a) == 0, "zone %u", i);
  }
}

TEST(no_bit_depends_on_threads) {
  talus_world *one = make_all(1), *many = make_all(5);
  CHECK_OK(talus_world_step(one, 30));
  CHECK_OK(talus_world_step(many, 30));
  check_same(one, many);
  talus_world_destroy(one);
  talus_world_destroy(many);
}

TEST(a_saved_world_goes_on_with_its_zones) {
#if TALUS_HAVE_HDF5
  talus_world *world = make_all(1), *loaded;
  CHECK_OK(talus_world_step(world, 15));
  CHECK_OK(talus_world_save(world, "zone.hdf"));
  CHECK_OK(talus_world_load("zone.hdf", &loaded));
  remove("zone.hdf");
  CHECK_OK(talus_world_step(world, 15));
  CHECK_OK(talus_world_step(loaded, 15));
  check_same(world, loaded);
  CHECK(report_of(world).zone_work == report_of(loaded).zone_work);
  talus_world_destroy(world);
  talus_world_destroy(loaded);
#else
  SKIP("without HDF5");
#endif
}

/* ---- refusals -------------------------------------------------------------------------------- */

TEST(zones_that_make_no_sense_are_refused) {
  talus_world_def def = quiet_def(TALUS_SOLVE_CCP, 1e-3);
  talus_body_def ball;
  talus_zone_values values;
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
#define REFUSED(text)                                                                              \
  CHECK_REFUSED(talus_world_add_zone(world, &zone, NULL), TALUS_ERROR_INVALID, text)
  talus_zone_def zone = at_origin(0);
  REFUSED("must end somewhere");
  zone.radius = 1, zone.power = -1;
  REFUSED("power");
  zone.power = 0, zone.of = TALUS_ZONE_GROUP;
  REFUSED("no group");
  zone.group = 7;
  REFUSED("there are 0");
  zone.group = 0, zone.of = TALUS_ZONE_PLACE, zone.name = "here";
  CHECK_OK(talus_world_add_zone(world, &zone, NULL));
  REFUSED("of that name already");
  CHECK_REFUSED(talus_zone_read(world, 1, &values), TALUS_ERROR_INVALID, "no zone number 1");
  talus_world_destroy(world);
}

/* The nearest image of who is farther than half a period is on the other side. */
TEST(a_zone_is_no_wider_than_a_period) {
  talus_world_def def = elastic_def(BY_EVENTS, 0.01);
  talus_body_def ball;
  def.domain.enabled = true;
  def.domain.box = (talus_box){{0, 0, 0}, {8, 3, 8}};
  def.domain.periodic[1] = true;
  talus_world *world = elastic_world(&def, 0.05, 1, &ball);
  talus_zone_def zone = at_origin(1.6);
  zone.strength = 1;
  REFUSED("a period of 3 m along y");
  zone.radius = 1.5;
  CHECK_OK(talus_world_add_zone(world, &zone, NULL));
  talus_world_destroy(world);
}

/* Means by flights are means over time: of velocity the way by the time, whoever turned the ball,
 * between steps (a pull) or within one (a soft shell). */
TEST(an_average_by_flights_knows_what_zones_turned) {
  for (int shell = 0; shell < 2; ++shell) {
    talus_world_def def = elastic_def(BY_EVENTS, 0.07);
    talus_body_def ball;
    talus_average_def average = talus_average_def_default();
    talus_average_values values;
    uint32_t number;
    average.box = (talus_box){{-9, -9, -9}, {9, 9, 9}};
    average.grid = TALUS_GRID_BOX;
    average.record = TALUS_AVERAGE_VELOCITY | TALUS_AVERAGE_TEMPERATURE;
    average.by_flights = true;
    talus_world *world = elastic_world(&def, 0.05, 1, &ball);
    const talus_dvec3 from = {1.5, 0.3, 0}, v = {-1, 0, 0.2};
    const talus_body body = add_ball(world, ball, 2, from, v);
    talus_zone_def zone = at_origin(shell ? 1 : 2);
    if (shell)
      zone.shell = TALUS_ZONE_SOFT;
    else
      zone.strength = 5, zone.power = 1;
    add_zone(world, zone);
    CHECK_OK(talus_world_add_average(world, &average, &number));
    CHECK_OK(talus_world_step(world, 20));
    const talus_dvec3 to = info_of(world, body).position;
    CHECK_OK(talus_average_read(world, number, &values));
    const double time = 20 * 0.07, near = TALUS_SINGLE ? 1e-5 : 1e-12;
    CHECK((double)info_of(world, body).velocity.x > -0.9);
    CHECK_NEAR(values.count[0], 1, near);
    CHECK_NEAR(values.velocity[0], (to.x - from.x) / time, near);
    CHECK_NEAR(values.velocity[1], (to.y - from.y) / time, near);
    CHECK_NEAR(values.velocity[2], (to.z - from.z) / time, near);
    talus_world_destroy(world);
  }
}

TEST_MAIN()
