/* Fields averaged on grids: gases and motions whose fields are known. */
#include "base/isa.h"
#include "flow/average.h"

#include "elastic_fixture.h"
#include <talus/average.h>

#define CELLS_MOST 4096

static talus_average_def whole_box(double length, uint32_t cells, uint32_t record) {
  talus_average_def def = talus_average_def_default();
  def.box.hi = (talus_dvec3){length, length, length};
  def.cells[0] = def.cells[1] = def.cells[2] = cells;
  def.record = record;
  return def;
}

static talus_average_values read_average(talus_world *world, uint32_t average) {
  talus_average_values values;
  CHECK_OK(talus_average_read(world, average, &values));
  return values;
}

/* ---- a gas ----------------------------------------------------------------------------------- */

TEST(uniform_gas_has_its_density_temperature_and_pressure) {
  double length;
  talus_world *world = make_gas(elastic_def(BY_EVENTS, 0.05), 500, 0.1, &length);
  const double n = (double)talus_world_body_count(world), volume = length * length * length;
  const talus_average_def def = whole_box(
      length, 1, TALUS_AVERAGE_DENSITY | TALUS_AVERAGE_TEMPERATURE | TALUS_AVERAGE_PRESSURE);
  CHECK_OK(talus_world_add_average(world, &def, NULL));
  CHECK_OK(talus_world_step(world, 20));
  const double time = talus_world_time(world), virial = report_of(world).virial;
  const talus_average_values v = read_average(world, 0);
  const double slack = TALUS_SINGLE ? 1e-5 : 1e-12;
  CHECK_NEAR(v.to - v.from, time, 0);
  CHECK_NEAR(v.count[0], n, n * 1e-12);
  CHECK_NEAR(v.number_density[0], n / volume, n / volume * 1e-12);
  CHECK_NEAR(v.density[0], n / volume, n / volume * slack);
  CHECK_NEAR(v.temperature[0], 1.0 / 3, slack);
  CHECK_NEAR(v.kinetic_pressure[0], n / volume / 3, n / volume * slack);
  /* A pair that meets twice in a step is one contact, with the later normal. */
  CHECK(virial > 0);
  CHECK_NEAR(v.contact_pressure[0], virial / (3 * volume * time), 1e-4 * v.contact_pressure[0]);
  CHECK_NEAR(v.pressure[0], v.kinetic_pressure[0] + v.contact_pressure[0], 0);
  talus_world_destroy(world);
}

TEST(cells_add_up_to_the_whole_and_an_interval_begins_anew) {
  double length, mass = 0;
  talus_world *world = make_gas(elastic_def(BY_HARD_SHELL, 0.01), 500, 0.1, &length);
  const talus_average_def def = whole_box(length, 4, TALUS_AVERAGE_DENSITY);
  CHECK_OK(talus_world_add_average(world, &def, NULL));
  CHECK_OK(talus_world_step(world, 3));
  talus_average_values v = read_average(world, 0);
  for (size_t i = 0; i < 64; ++i)
    mass += v.density[i] * length * length * length / 64;
  CHECK_NEAR(mass, (double)talus_world_body_count(world), TALUS_SINGLE ? 1e-3 : 1e-9);
  v = read_average(world, 0);
  CHECK(v.from == v.to && v.count[0] == 0);
  talus_world_destroy(world);
}

/* ---- slopes ---------------------------------------------------------------------------------- */

/* Balls far from each other, each with the velocity that a matrix makes of its place. */
static talus_world *make_linear(const double a[3][3], int side) {
  talus_world_def def = elastic_def(BY_HARD_SHELL, 1e-9);
  talus_body_def ball;
  talus_world *world = elastic_world(&def, 0.01, 1, &ball);
  uint64_t seed = 5;
  for (int i = 0; i < side * side * side; ++i) {
    const double x[3] = {i % side + 0.9 * next_random(&seed) - 0.5 * side,
                         i / side % side + 0.9 * next_random(&seed) - 0.5 * side,
                         i / side / side + 0.9 * next_random(&seed) - 0.5 * side};
    double v[3];
    for (int k = 0; k < 3; ++k)
      v[k] = a[k][0] * x[0] + a[k][1] * x[1] + a[k][2] * x[2];
    add_ball(world, ball, 1 + next_random(&seed), (talus_dvec3){x[0], x[1], x[2]},
             (talus_dvec3){v[0], v[1], v[2]});
  }
  return world;
}

#define SLOPES (TALUS_AVERAGE_VELOCITY | TALUS_AVERAGE_CURL | TALUS_AVERAGE_DIVERGENCE)

static void check_slopes(const talus_average_values *v, size_t cells, const double curl[3],
                         double divergence, size_t at_least) {
  const double slack = TALUS_SINGLE ? 1e-4 : 1e-7;
  size_t known = 0;
  for (size_t i = 0; i < cells; ++i) {
    if (isnan(v->divergence[i]))
      continue;
    known++;
    CHECK_NEAR(v->divergence[i], divergence, slack);
    for (size_t k = 0; k < 3; ++k)
      CHECK_NEAR(v->curl[3 * i + k], curl[k], slack);
  }
  CHECK_MSG(known >= at_least, "%zu of %zu cells have slopes", known, cells);
}

TEST(linear_velocities_have_their_curl_and_divergence_in_boxes_and_planes) {
  const double a[3][3] = {{0.3, -1.1, 0.2}, {0.7, -0.5, 0.4}, {-0.6, 0.9, 1.2}};
  const double curl[3] = {a[2][1] - a[1][2], a[0][2] - a[2][0], a[1][0] - a[0][1]};
  talus_world *world = make_linear(a, 10);
  talus_average_def def = talus_average_def_default();
  def.box = (talus_box){{-5, -5, -5}, {5, 5, 5}};
  def.cells[0] = 4, def.cells[1] = 5, def.cells[2] = 3;
  def.record = SLOPES;
  CHECK_OK(talus_world_add_average(world, &def, NULL));
  CHECK_OK(talus_world_step(world, 1));
  talus_average_values v = read_average(world, 0);
  check_slopes(&v, 60, curl, a[0][0] + a[1][1] + a[2][2], 60);
  talus_world_destroy(world);
  /* In a plane what depends on the place across it is not seen: there is nothing of it here. */
  const double flat[3][3] = {{0, 0, 0}, {0, -0.5, 0.4}, {0, 0.9, 1.2}};
  world = make_linear(flat, 10);
  def.grid = TALUS_GRID_PLANE, def.across = 0, def.cells[0] = 1;
  CHECK_OK(talus_world_add_average(world, &def, NULL));
  CHECK_OK(talus_world_step(world, 1));
  v = read_average(world, 0);
  check_slopes(&v, 15, (const double[]){0.5, 0, 0}, 0.7, 15);
  talus_world_destroy(world);
}

TEST(turning_and_widening_about_an_axis_have_their_curl_and_divergence_on_rings) {
  const double a[3][3] = {{0.25, -3, 0}, {3, 0.25, 0}, {0, 0, -1.5}};
  talus_world *world = make_linear(a, 12);
  talus_average_def def = talus_average_def_default();
  def.grid = TALUS_GRID_RZ;
  def.box = (talus_box){{0, 0, -6}, {5, 0, 6}};
  def.cells[0] = 4, def.cells[2] = 6;
  def.record = SLOPES | TALUS_AVERAGE_TEMPERATURE | TALUS_AVERAGE_ANGLE;
  CHECK_OK(talus_world_add_average(world, &def, NULL));
  CHECK_OK(talus_world_step(world, 1));
  const talus_average_values v = read_average(world, 0);
  check_slopes(&v, 24, (const double[]){0, 0, 6}, -1, 20);
  for (size_t i = 0; i < 24; ++i)
    if (v.count[i] > 0) {
      CHECK(v.angle[i] >= 0 && v.angle[i] < 6.2831853072 && v.temperature[i] >= 0);
      CHECK_NEAR(tan(v.angle[i]), v.velocity[3 * i] / v.velocity[3 * i + 2],
                 1e-9 * fabs(tan(v.angle[i])));
    }
  talus_world_destroy(world);
}

TEST(a_cell_that_nobody_was_in_has_no_velocity) {
  const double a[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  talus_world *world = make_linear(a, 2);
  talus_average_def def = whole_box(1, 2, SLOPES | TALUS_AVERAGE_DENSITY | TALUS_AVERAGE_ANGLE);
  def.box = (talus_box){{50, 50, 50}, {51, 51, 51}};
  CHECK_OK(talus_world_add_average(world, &def, NULL));
  CHECK_OK(talus_world_step(world, 1));
  const talus_average_values v = read_average(world, 0);
  for (size_t i = 0; i < 8; ++i)
    CHECK(v.count[i] == 0 && v.density[i] == 0 && isnan(v.velocity[3 * i]) &&
          isnan(v.angle[2 * i]) && isnan(v.curl[3 * i]) && isnan(v.divergence[i]));
  talus_world_destroy(world);
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* A ball that lies on a plane presses with its weight at an arm of its radius. */
static void check_resting_ball(talus_solve_kind kind) {
  talus_world_def def = talus_world_def_default();
  talus_body_def ball;
  def.solve.kind = kind;
  def.dt = kind == TALUS_SOLVE_PENALTY ? 1e-4 : 1e-3;
  talus_world *world = elastic_world(&def, 0.1, 0, &ball);
  add_wall(world, ball, TALUS_PLANE, 0, 0, 1, 0);
  add_ball(world, ball, 2, (talus_dvec3){0, 0, 0.1}, (talus_dvec3){0, 0, 0});
  talus_average_def average = whole_box(1, 1, TALUS_AVERAGE_PRESSURE);
  average.box = (talus_box){{-0.5, -0.5, 0}, {0.5, 0.5, 1}};
  CHECK_OK(talus_world_step(world, 4000));
  CHECK_OK(talus_world_add_average(world, &average, NULL));
  CHECK_OK(talus_world_step(world, 100));
  const talus_average_values v = read_average(world, 0);
  CHECK_NEAR(v.contact_pressure[0], 0.1 * 2 * 9.81 / 3, 0.01);
  talus_world_destroy(world);
}

TEST(pressure_of_contacts_is_known_to_every_solver) {
  check_resting_ball(TALUS_SOLVE_CCP);
  check_resting_ball(TALUS_SOLVE_IMPULSE);
  check_resting_ball(TALUS_SOLVE_PENALTY);
}

TEST(a_ball_between_two_plates_presses_on_their_segments) {
  static const double profile[] = {0, 0, 0, 2, 5, 2, 5, 0}; /* z, radius */
  talus_world_def def = elastic_def(BY_EVENTS, 0.25);
  talus_body_def ball;
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_REVOLVED;
  shape.points = profile;
  shape.point_count = 4;
  talus_body_def wall = ball;
  talus_average_def average = talus_average_def_default();
  CHECK_OK(talus_world_add_shape(world, &shape, &wall.shape));
  wall.kind = TALUS_FIXED;
  CHECK_OK(talus_world_add_body(world, &wall, &average.wall));
  add_ball(world, ball, 3, (talus_dvec3){0.3, 0, 2.5}, (talus_dvec3){0, 0, 2});
  average.grid = TALUS_GRID_RZ;
  average.box = (talus_box){{0, 0, 0}, {2, 0, 5}};
  average.record = TALUS_AVERAGE_WALL;
  CHECK_OK(talus_world_add_average(world, &average, NULL));
  CHECK_OK(talus_world_step(world, 32)); /* 8 s: 4 m there and back take 4 s */
  const talus_average_values v = read_average(world, 0);
  CHECK_EQ_U64(v.segments, 3);
  const double force = 2 * 3 * 2.0 * 2 / 8, area = 3.141592653589793 * 4;
  CHECK_NEAR(v.wall_force[0], force, 1e-6);
  CHECK_NEAR(v.wall_force[1], 0, 0);
  CHECK_NEAR(v.wall_force[2], force, 1e-6);
  CHECK_NEAR(v.wall_pressure[2], force / area, 1e-6);
  CHECK_NEAR(v.wall_profile[4], 0, 0);
  CHECK_NEAR(v.wall_profile[6], 5, 0);
  talus_world_destroy(world);
}

/* ---- flights ----------------------------------------------------------------------------------
 */

/* The only look at the end of a step of 8 s would see a ball that moves one way. */
TEST(flights_count_with_their_time_however_long_the_step_is) {
  talus_world_def def = elastic_def(BY_EVENTS, 8);
  talus_body_def ball;
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  add_wall(world, ball, TALUS_CONTAINER, 20, 20, 5, 0);
  add_ball(world, ball, 3, (talus_dvec3){0, 0, 0.3}, (talus_dvec3){0, 0, 2});
  talus_average_def average =
      whole_box(1, 1, TALUS_AVERAGE_VELOCITY | TALUS_AVERAGE_TEMPERATURE | TALUS_AVERAGE_DENSITY);
  average.box = (talus_box){{-1, -1, -2.5}, {1, 1, 2.5}};
  CHECK_OK(talus_world_add_average(world, &average, NULL));
  average.by_flights = true;
  CHECK_OK(talus_world_add_average(world, &average, NULL));
  CHECK_OK(talus_world_step(world, 1));
  const talus_average_values ends = read_average(world, 0);
  const talus_average_values flights = read_average(world, 1);
  CHECK_NEAR(fabs(ends.velocity[2]), 2, 1e-6);
  CHECK_NEAR(flights.velocity[2], 0, 1e-6);
  CHECK_NEAR(flights.temperature[0], 4, 1e-5);
  CHECK_NEAR(flights.count[0], 1, 1e-9);
  talus_world_destroy(world);
}

TEST(flights_of_a_gas_have_its_number_and_temperature_for_any_number_of_threads) {
  double counts[2][8];
  for (int threads = 1; threads <= 2; ++threads) {
    double length, sum = 0;
    talus_world_def def = elastic_def(BY_EVENTS, 0.5);
    def.threads = threads;
    talus_world *world = make_gas(def, 500, 0.2, &length);
    talus_average_def average = whole_box(length, 2, TALUS_AVERAGE_TEMPERATURE);
    average.by_flights = true;
    CHECK_OK(talus_world_add_average(world, &average, NULL));
    CHECK_OK(talus_world_step(world, 2));
    const talus_average_values v = read_average(world, 0);
    for (int i = 0; i < 8; ++i) {
      sum += counts[threads - 1][i] = v.count[i];
      CHECK_NEAR(v.temperature[i], 1.0 / 3, 0.1);
    }
    CHECK_NEAR(sum, (double)talus_world_body_count(world), 1e-6);
    talus_world_destroy(world);
  }
  CHECK(memcmp(counts[0], counts[1], sizeof counts[0]) == 0);
}

/* ---- bits ------------------------------------------------------------------------------------ */

#define EVERYTHING                                                                                 \
  (SLOPES | TALUS_AVERAGE_DENSITY | TALUS_AVERAGE_ANGLE | TALUS_AVERAGE_TEMPERATURE |              \
   TALUS_AVERAGE_PRESSURE)

static size_t copy_all(const talus_average_values *v, size_t cells, double *to) {
  const double *from[] = {
      v->count,       v->density,  v->number_density,   v->velocity,         v->angle,
      v->temperature, v->pressure, v->kinetic_pressure, v->contact_pressure, v->curl,
      v->divergence};
  const size_t columns[] = {1, 1, 1, 3, 2, 1, 1, 1, 1, 3, 1};
  size_t at = 0;
  for (size_t i = 0; i < sizeof from / sizeof *from; ++i) {
    if (!from[i]) /* not recorded */
      continue;
    memcpy(to + at, from[i], columns[i] * cells * sizeof *to);
    at += columns[i] * cells;
  }
  return at;
}

static void run_gas(int threads, double *out, size_t *n) {
  double length;
  talus_world_def def = elastic_def(BY_HARD_SHELL, 0.02);
  def.threads = threads;
  talus_world *world = make_gas(def, 5000, 0.2, &length);
  const talus_average_def average = whole_box(length, 6, EVERYTHING);
  CHECK_OK(talus_world_add_average(world, &average, NULL));
  CHECK_OK(talus_world_step(world, 5));
  const talus_average_values v = read_average(world, 0);
  *n = copy_all(&v, 216, out);
  talus_world_destroy(world);
}

TEST(no_bit_depends_on_threads) {
  static double one[CELLS_MOST], many[CELLS_MOST];
  size_t n, m;
  run_gas(1, one, &n);
  for (int threads = 2; threads <= 5; threads += 3) {
    run_gas(threads, many, &m);
    CHECK_EQ_U64(n, m);
    CHECK_MSG(memcmp(one, many, n * sizeof *one) == 0, "%d threads", threads);
  }
}

#define FEW (TALUS_AVERAGE_DENSITY | TALUS_AVERAGE_VELOCITY | TALUS_AVERAGE_TEMPERATURE)

/* Rings that leave some bodies out, a plane, a box; 2,916 balls, so that the last lanes are not
 * full. */
static size_t run_many(int threads, tl_isa isa, bool has_runs, double *out) {
  double length;
  talus_world_def def = elastic_def(BY_HARD_SHELL, 0.02);
  const tl_isa before = tl_isa_use(isa);
  tl_average_runs_of_tests = has_runs;
  def.threads = threads;
  talus_world *world = make_gas(def, 2900, 0.1, &length);
  talus_average_def rings = talus_average_def_default(), plane = whole_box(length, 5, FEW);
  rings.grid = TALUS_GRID_RZ, rings.axis[0] = 0.4 * length, rings.axis[1] = 0.5 * length;
  rings.box = (talus_box){{0, 0, 0.1 * length}, {0.4 * length, 0, 0.9 * length}};
  rings.cells[0] = 6, rings.cells[1] = 1, rings.cells[2] = 7, rings.record = FEW;
  plane.grid = TALUS_GRID_PLANE, plane.cells[1] = 1, plane.across = 1;
  const talus_average_def box = whole_box(0.9 * length, 4, FEW);
  const talus_average_def all[] = {rings, plane, box};
  for (int i = 0; i < 3; ++i)
    CHECK_OK(talus_world_add_average(world, &all[i], NULL));
  CHECK_OK(talus_world_step(world, 5));
  size_t n = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    const talus_average_values v = read_average(world, i);
    n += copy_all(&v, (size_t)all[i].cells[0] * all[i].cells[1] * all[i].cells[2], out + n);
  }
  talus_world_destroy(world);
  tl_average_runs_of_tests = true;
  tl_isa_use(before);
  return n;
}

/* Runs over lanes against the general way, and every instruction set and number of threads. */
TEST(many_bodies_in_few_cells_have_the_same_means) {
  static double one[CELLS_MOST], other[CELLS_MOST];
  const size_t n = run_many(1, TL_ISA_GENERIC, true, one);
  CHECK_EQ_U64(run_many(2, TL_ISA_GENERIC, false, other), n);
  size_t there = 0;
  for (size_t i = 0; i < n; ++i) {
    CHECK(isnan(one[i]) == isnan(other[i]));
    if (!isnan(one[i]))
      CHECK_MSG(fabs(one[i] - other[i]) <= 1e-12 * (1 + fabs(other[i])), "number %zu: %g, %g", i,
                one[i], other[i]);
    there += one[i] != 0;
  }
  CHECK(there > n / 4);
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
    for (int threads = 1; threads <= 3; threads += 2) {
      if (!tl_isa_has(isa))
        continue;
      CHECK_EQ_U64(run_many(threads, isa, true, other), n);
      CHECK_MSG(memcmp(one, other, n * sizeof *one) == 0, "%s, %d threads", tl_isa_name(isa),
                threads);
    }
}

TEST(a_saved_world_goes_on_with_its_sums) {
#if TALUS_HAVE_HDF5
  static double one[CELLS_MOST], other[CELLS_MOST];
  double length;
  talus_world *world = make_gas(elastic_def(BY_EVENTS, 0.05), 500, 0.2, &length), *loaded;
  const talus_average_def average = whole_box(length, 4, EVERYTHING);
  CHECK_OK(talus_world_add_average(world, &average, NULL));
  CHECK_OK(talus_world_step(world, 3));
  CHECK_OK(talus_world_save(world, "average.hdf"));
  CHECK_OK(talus_world_load("average.hdf", &loaded));
  remove("average.hdf");
  CHECK_OK(talus_world_step(world, 3));
  CHECK_OK(talus_world_step(loaded, 3));
  talus_average_values v = read_average(world, 0);
  const size_t n = copy_all(&v, 64, one);
  v = read_average(loaded, 0);
  CHECK(v.from == 0 && copy_all(&v, 64, other) == n && memcmp(one, other, n * sizeof *one) == 0);
  talus_world_destroy(world);
  talus_world_destroy(loaded);
#else
  SKIP("without HDF5");
#endif
}

/* ---- refusals -------------------------------------------------------------------------------- */

TEST(grids_that_make_no_sense_are_refused) {
  talus_world_def def = elastic_def(BY_EVENTS, 0.05);
  talus_body_def ball;
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  talus_average_def average = whole_box(1, 1, TALUS_AVERAGE_DENSITY);
  talus_average_values values;
  average.wall = add_ball(world, ball, 1, (talus_dvec3){0, 0, 0}, (talus_dvec3){0, 0, 0});
#define REFUSED(text)                                                                              \
  CHECK_REFUSED(talus_world_add_average(world, &average, NULL), TALUS_ERROR_INVALID, text)
  average.record = 0;
  REFUSED("what to record");
  average.record = TALUS_AVERAGE_WALL;
  REFUSED("revolved");
  average.record = TALUS_AVERAGE_CURL;
  average.box.hi.y = 0;
  REFUSED("along y");
  average.box.hi.y = 1, average.cells[2] = 0;
  REFUSED("no cells along z");
  average.cells[2] = 1 << 20, average.cells[1] = 1 << 20;
  REFUSED("cells; it may have up to");
  average.grid = TALUS_GRID_PLANE, average.cells[1] = 2, average.across = 1;
  REFUSED("one cell across");
  average.grid = TALUS_GRID_RZ;
  REFUSED("rings begin on their axis");
  average.cells[1] = 1, average.name = "rz";
  CHECK_OK(talus_world_add_average(world, &average, NULL));
  REFUSED("of that name already");
  CHECK_REFUSED(talus_average_read(world, 1, &values), TALUS_ERROR_INVALID, "no average number 1");
  talus_world_destroy(world);
}

TEST_MAIN()
