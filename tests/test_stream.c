/* Streams: thermal velocities, random arrivals, bursts, and what sinks send back. */
#include <talus/talus.h>

#include "check.h"
#include "flow/place.h"

#include <math.h>

static talus_emitter_def gas(double thermal, talus_inflow inflow, double drift) {
  talus_emitter_def def = {.from = {.kind = TALUS_REGION_CYLINDER, .radius = 1, .axis = {0, 3, 4}},
                           .rate = 10,
                           .until = INFINITY,
                           .thermal = thermal,
                           .inflow = inflow,
                           .seed = 7};
  def.body.velocity = (talus_vec3){0, TL_R(0.6 * drift), TL_R(0.8 * drift)};
  return def;
}

/* Mean and mean square of the speed through the disc, and mean square across it. */
static void moments(const talus_emitter_def *def, uint64_t n, double *mean, double *square,
                    double *across) {
  *mean = *square = *across = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const talus_vec3 v = tl_emitter_velocity(def, i);
    const double through = 0.6 * (double)v.y + 0.8 * (double)v.z;
    *mean += through / (double)n, *square += through * through / (double)n;
    *across += ((double)tl_length2(v) - through * through) / (double)n;
  }
}

TEST(gas_in_a_volume_is_maxwellian_about_its_drift) {
  const uint64_t n = check_cases(200000);
  const talus_emitter_def def = gas(0.5, TALUS_INFLOW_VOLUME, 2);
  double mean, square, across;
  moments(&def, n, &mean, &square, &across);
  const double noise = 5 / sqrt((double)n);
  CHECK_NEAR(mean, 2, noise);
  CHECK_NEAR(square - mean * mean, 0.25, noise);
  CHECK_NEAR(across, 0.5, noise);
}

/* x exp(-(x - a)^2/2): with E(a) = exp(-a^2/2), P(a) = sqrt(pi/2) (1 + erf(a/sqrt2)) the integral
 * is E + a P, that of x is (1 + a^2) P + a E, that of x^2 (2 + a^2) E + (3 a + a^3) P. */
TEST(flux_has_the_moments_of_what_passes_a_plane) {
  const uint64_t n = check_cases(200000);
  const double drifts[] = {0, 1.5, -1, 20};
  for (int i = 0; i < 4; ++i) {
    const talus_emitter_def def = gas(0.5, TALUS_INFLOW_FLUX, 0.5 * drifts[i]);
    const double a = drifts[i], e = exp(-a * a / 2), p = sqrt(TL_PI / 2) * (1 + erf(a / sqrt(2)));
    const double all = e + a * p, noise = 6 / sqrt((double)n);
    double mean, square, across;
    moments(&def, n, &mean, &square, &across);
    CHECK_NEAR(mean / 0.5, ((1 + a * a) * p + a * e) / all, noise);
    CHECK_NEAR(square / 0.25, ((2 + a * a) * e + (3 * a + a * a * a) * p) / all,
               noise * (2 + fabs(a) * 2));
    CHECK_NEAR(across, 0.5, noise);
    if (a == 0) /* mean energy 2 kT */
      CHECK_NEAR(0.5 * (square + across), 2 * 0.25, noise);
  }
}

TEST(poisson_arrivals_have_equal_mean_and_variance) {
  tl_emitter emitter = {.def = gas(0, TALUS_INFLOW_VOLUME, 0)};
  emitter.def.arrival = TALUS_ARRIVAL_POISSON;
  emitter.def.rate = 4;
  tl_emitter_begin(&emitter);
  const int n = (int)check_cases(16000);
  double mean = 0, square = 0;
  for (int i = 1; i <= n; ++i) {
    double count = 0;
    for (; tl_emitter_is_due(&emitter, i); tl_emitter_advance(&emitter))
      count++;
    mean += count / n, square += count * count / n;
  }
  CHECK_NEAR(mean, 4, 12 / sqrt(n));
  CHECK_NEAR(square - mean * mean, 4, 40 / sqrt(n));
}

/* A run that ends when all is at rest waits for what is still to come. */
TEST(nothing_is_to_come_by_the_clock_at_a_rate_of_0) {
  for (int arrival = TALUS_ARRIVAL_REGULAR; arrival <= TALUS_ARRIVAL_POISSON; ++arrival) {
    tl_emitter emitter = {.def = gas(0, TALUS_INFLOW_VOLUME, 0)};
    emitter.def.arrival = (talus_arrival)arrival;
    emitter.def.rate = 0;
    tl_emitter_begin(&emitter);
    CHECK(tl_emitter_due(&emitter) == INFINITY);
    emitter.owed = 1;
    CHECK(tl_emitter_is_due(&emitter, 0));
    tl_emitter_advance(&emitter);
    CHECK(tl_emitter_due(&emitter) == INFINITY && !tl_emitter_is_due(&emitter, 1e9));
  }
}

TEST(bursts_come_together) {
  tl_emitter emitter = {.def = gas(0, TALUS_INFLOW_VOLUME, 0)};
  emitter.def.burst = 5; /* 10 a second: every half second */
  CHECK_EQ_U64(tl_emitter_count_due(&emitter, 0.1, 100), 5);
  CHECK_EQ_U64(tl_emitter_count_due(&emitter, 0.5, 100), 10);
  CHECK_EQ_U64(tl_emitter_count_due(&emitter, 0.99, 100), 10);
  CHECK_EQ_U64(tl_emitter_count_due(&emitter, 1, 7), 7);
}

TEST(points_take_turns) {
  talus_emitter_def def = gas(0, TALUS_INFLOW_VOLUME, 0);
  def.point_count = 3;
  for (int i = 0; i < 3; ++i)
    def.points[i] = tl_dvec3(i, 0, 0);
  for (uint64_t i = 0; i < 7; ++i)
    for (uint64_t attempt = 0; attempt < 3; ++attempt)
      CHECK_NEAR(tl_emitter_place(&def, i, attempt).x, (double)(i % 3), 0);
}

TEST(fills_are_as_hot_as_they_say) {
  const uint64_t n = check_cases(100000);
  talus_fill_def def = {.thermal = 0.5, .seed = 3};
  def.body.velocity.z = 2;
  double mean = 0, square = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const talus_vec3 v = tl_fill_velocity(&def, i);
    mean += (double)v.z / (double)n, square += (double)(v.x * v.x) / (double)n;
  }
  CHECK_NEAR(mean, 2, 3 / sqrt((double)n));
  CHECK_NEAR(square, 0.25, 2 / sqrt((double)n));
  def.thermal = 0;
  CHECK_NEAR((double)tl_fill_velocity(&def, 5).z, 2, 0);
}

TEST(flux_needs_a_disc_and_heat) {
  talus_emitter_def def = gas(0, TALUS_INFLOW_FLUX, 0);
  CHECK(tl_emitter_check_stream(&def, "spout") == TALUS_ERROR_INVALID);
  def.thermal = 1;
  CHECK_OK(tl_emitter_check_stream(&def, "spout"));
  def.from.length = 1;
  CHECK(tl_emitter_check_stream(&def, "spout") == TALUS_ERROR_INVALID);
  def.inflow = TALUS_INFLOW_VOLUME, def.thermal = NAN;
  CHECK(tl_emitter_check_stream(&def, "spout") == TALUS_ERROR_INVALID);
}

/* ---- worlds ---------------------------------------------------------------------------------- */

static talus_world *make_tube(talus_shape *ball, talus_material *material) {
  const talus_shape_def tube = {.kind = TALUS_REVOLVED, .size = {0.5, 0.5, 4}};
  const talus_shape_def sphere = {.kind = TALUS_SPHERE, .size = {0.02}};
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.gravity = (talus_vec3){0, 0, 0};
  def.dt = 0.01;
  CHECK_OK(talus_world_create(&def, &world));
  const talus_material_def glass = talus_material_def_default();
  talus_body_def wall = talus_body_def_default();
  CHECK_OK(talus_world_add_material(world, &glass, material));
  CHECK_OK(talus_world_add_shape(world, &tube, &wall.shape));
  CHECK_OK(talus_world_add_shape(world, &sphere, ball));
  wall.kind = TALUS_FIXED, wall.material = *material;
  CHECK_OK(talus_world_add_body(world, &wall, NULL));
  return world;
}

TEST(what_a_sink_takes_comes_again) {
  talus_shape ball;
  talus_material material;
  talus_world *world = make_tube(&ball, &material);
  talus_emitter_def inlet = talus_emitter_def_default();
  inlet.name = "inlet", inlet.body.shape = ball, inlet.body.material = material;
  inlet.body.velocity.z = TL_R(2);
  inlet.from = (talus_region){
      .kind = TALUS_REGION_CYLINDER, .at = {0, 0, -1.9}, .axis = {0, 0, 1}, .radius = 0.45};
  inlet.rate = 40, inlet.until = 1, inlet.thermal = 0.3, inlet.inflow = TALUS_INFLOW_FLUX;
  inlet.arrival = TALUS_ARRIVAL_POISSON, inlet.burst = 2;
  CHECK_OK(talus_world_add_emitter(world, &inlet));
  const talus_region end = {.kind = TALUS_REGION_BOX, .box = {{-9, -9, 1.5}, {9, 9, 9}}};
  CHECK(talus_world_recycle(world, "outlet", "inlet") == TALUS_ERROR_INVALID);
  CHECK_OK(talus_world_add_sink(world, "outlet", &end));
  CHECK(talus_world_recycle(world, "outlet", "nobody") == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "no emitter 'nobody'"));
  CHECK_OK(talus_world_recycle(world, "outlet", "inlet"));
  talus_report report;
  CHECK_OK(talus_world_step(world, 100));
  CHECK_OK(talus_world_report(world, &report));
  const uint64_t first = report.emitted;
  CHECK(first > 20 && first < 70);
  for (int i = 0; i < 100; ++i) {
    CHECK_OK(talus_world_step(world, 10));
    CHECK_OK(talus_world_report(world, &report));
    CHECK_EQ_U64(report.bodies, 1 + report.emitted - report.removed);
  }
  /* Nothing is in the way, so that all came again at once. */
  CHECK_EQ_U64(report.bodies, 1 + first);
  CHECK(report.removed > 2 * first);
  talus_world_destroy(world);
}

TEST(inlet_outside_the_wall_is_refused) {
  talus_shape ball;
  talus_material material;
  talus_world *world = make_tube(&ball, &material);
  talus_emitter_def inlet = talus_emitter_def_default();
  inlet.name = "inlet", inlet.body.shape = ball, inlet.body.material = material;
  inlet.from = (talus_region){.kind = TALUS_REGION_SPHERE, .at = {0.5, 0, 0}, .radius = 0.1};
  inlet.rate = 1;
  CHECK(talus_world_add_emitter(world, &inlet) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "a part of where"), "%s", talus_last_error());
  inlet.from.at.x = 0.3;
  CHECK_OK(talus_world_add_emitter(world, &inlet));
  const talus_shape_def cone = {.kind = TALUS_REVOLVED, .size = {0.1, 2, 2}};
  talus_body_def wall = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(world, &cone, &wall.shape));
  wall.kind = TALUS_FIXED, wall.material = material, wall.position.z = 10;
  CHECK_OK(talus_world_add_body(world, &wall, NULL));
  inlet.from.at = (talus_dvec3){1.7, 0, 9.3};
  CHECK(talus_world_add_emitter(world, &inlet) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "outside the revolved wall"), "%s", talus_last_error());
  inlet.from.at = (talus_dvec3){0, 0, 9.3};
  CHECK_OK(talus_world_add_emitter(world, &inlet));
  talus_world_destroy(world);
}

TEST_MAIN()
