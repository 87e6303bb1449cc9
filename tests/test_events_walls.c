/* Hard spheres and walls that are turned about an axis: cone impacts against long double, and a gas
 * in a nozzle. */
#include "elastic_fixture.h"

#define RADIUS 0.2

/* The paper's nozzle, mended, with a plate at each end. */
static const double nozzle[][2] = {{1, 0},    {1, 10},  {5, 10},    {25, 8.1},
                                   {30, 8.1}, {50, 10}, {64.4, 10}, {64.4, 0}};
/* The paper's nozzle as its Figure 25 prints it: slopes of 0.1 leave two steps of 0.1. */
static const double printed[][2] = {{1, 0},    {1, 10},    {5, 10},  {25, 8},    {25, 8.1},
                                    {30, 8.1}, {50, 10.1}, {50, 10}, {64.4, 10}, {64.4, 0}};
/* A throat with corners that stick out, a step, and a wide end. */
static const double throat[][2] = {{0, 0},   {0, 3}, {2, 3},   {4, 1},
                                   {5, 2.5}, {5, 3}, {8, 3.5}, {8, 0}};

static void add_profile(talus_world *world, talus_body_def body, const double points[][2], size_t n,
                        talus_sides sides) {
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_REVOLVED;
  shape.points = &points[0][0];
  shape.point_count = n;
  shape.sides = sides;
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  body.kind = TALUS_FIXED;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
}

/* ---- one flight, in long double -------------------------------------------------------------- */

typedef struct place {
  long double x, y, z;
} place;

/* How far a place is from the profile, and the direction from its nearest point. */
static long double distance(const double points[][2], size_t n, place p, place *away) {
  const long double rho = sqrtl(p.x * p.x + p.y * p.y);
  long double best = INFINITY, nr = 0, nz = 0;
  for (size_t k = 0; k + 1 < n; ++k) {
    const long double r = points[k][1], z = points[k][0];
    const long double dr = points[k + 1][1] - r, dz = points[k + 1][0] - z;
    long double s = ((rho - r) * dr + (p.z - z) * dz) / (dr * dr + dz * dz);
    s = fminl(1, fmaxl(0, s));
    const long double er = rho - r - s * dr, ez = p.z - z - s * dz, far = sqrtl(er * er + ez * ez);
    if (far < best)
      best = far, nr = er / far, nz = ez / far;
  }
  if (away)
    *away = (place){rho > 0 ? nr * p.x / rho : nr, rho > 0 ? nr * p.y / rho : 0, nz};
  return best;
}

static place moved(place x, place v, place g, long double t) {
  return (place){x.x + v.x * t + 0.5L * g.x * t * t, x.y + v.y * t + 0.5L * g.y * t * t,
                 x.z + v.z * t + 0.5L * g.z * t * t};
}

/* The first moment at which the sphere touches, up to `most`. */
static long double meet(const double points[][2], size_t n, place x, place v, place g,
                        long double most) {
  const long double speed =
      sqrtl(v.x * v.x + v.y * v.y + v.z * v.z) + most * sqrtl(g.x * g.x + g.y * g.y + g.z * g.z);
  long double t = 0;
  while (t < most) {
    const long double gap = distance(points, n, moved(x, v, g, t), NULL) - (long double)RADIUS;
    if (gap < 1e-17L)
      return t;
    t += gap / speed;
  }
  return INFINITY;
}

static place as_place(talus_vec3 v) { return (place){v.x, v.y, v.z}; }

static void check_flight(const double points[][2], size_t n, talus_dvec3 from, place to,
                         double pull, int *met) {
  talus_body_def ball;
  talus_world_def def = elastic_def(BY_EVENTS, 1);
  def.gravity = (talus_vec3){(talus_real)(0.5 * pull), 0, (talus_real)-pull};
  talus_world *world = elastic_world(&def, RADIUS, 1, &ball);
  add_profile(world, ball, points, n, TALUS_SIDES_IN);
  const talus_body body =
      add_ball(world, ball, 1, from, (talus_dvec3){(double)to.x, (double)to.y, (double)to.z});
  const place x = {from.x, from.y, from.z}, v = as_place(info_of(world, body).velocity);
  const place g = as_place(def.gravity);
  const long double t = meet(points, n, x, v, g, 1);
  CHECK_OK(talus_world_step(world, 1));
  const talus_report r = report_of(world);
  const talus_body_info info = info_of(world, body);
  if (r.collisions <= 1 && t < 1 - 1e-9L) {
    place away, at = moved(x, v, g, t), u = {v.x + g.x * t, v.y + g.y * t, v.z + g.z * t};
    distance(points, n, at, &away);
    const long double w = -(u.x * away.x + u.y * away.y + u.z * away.z);
    const place after = {u.x + 2 * w * away.x, u.y + 2 * w * away.y, u.z + 2 * w * away.z};
    const place end = moved(at, after, g, 1 - t);
    CHECK_MSG(r.collisions == 1,
              "from (%g, %g, %g) with (%Lg, %Lg, %Lg), pull %g: it met nothing, and should at t = "
              "%Lg, (%Lg, %Lg, %Lg), with %Lg m/s",
              from.x, from.y, from.z, v.x, v.y, v.z, pull, t, at.x, at.y, at.z, w);
    /* How much a last bit of the gap is worth grows as it grazes. */
    const double graze = (double)(sqrtl(u.x * u.x + u.y * u.y + u.z * u.z) / w);
    const double within = (TALUS_SINGLE ? 1e-4 : 1e-13) * (1 + fabs(info.position.z)) * graze;
    CHECK_NEAR(info.position.x, (double)end.x, within);
    CHECK_NEAR(info.position.y, (double)end.y, within);
    CHECK_NEAR(info.position.z, (double)end.z, within);
    ++*met;
  } else if (t >= 1) {
    CHECK_EQ_U64(r.collisions, 0);
  }
  talus_world_destroy(world);
}

TEST(impacts_on_cones_corners_and_plates_are_those_of_long_double) {
  uint64_t seed = 19;
  int met = 0;
  const int n = check_is_short() ? 100 : 2000;
  for (int i = 0; i < n; ++i) {
    const bool is_throat = i % 2;
    const double z = is_throat ? 0.3 + 7.4 * next_random(&seed) : 1.3 + 62 * next_random(&seed);
    const place p = {0.7 * (next_random(&seed) - 0.5), 0.7 * (next_random(&seed) - 0.5), z};
    const size_t count = is_throat ? 8 : 8;
    if (distance(is_throat ? throat : nozzle, count, p, NULL) < 1.001L * (long double)RADIUS)
      continue;
    const double speed = is_throat ? 5 : 20;
    const place v = {speed * (next_random(&seed) - 0.5), speed * (next_random(&seed) - 0.5),
                     speed * (next_random(&seed) - 0.5)};
    check_flight(is_throat ? throat : nozzle, count,
                 (talus_dvec3){(double)p.x, (double)p.y, (double)p.z}, v, i % 4 < 2 ? 0 : 3, &met);
  }
  CHECK_MSG(met > n / 5, "%d of %d met a wall once", met, n);
}

/* ---- a gas in a nozzle ----------------------------------------------------------------------- */

/* So many steps, and until there were so many impacts. */
#define MOST_OF_GAS 300

static talus_world *make_gas_in(const double points[][2], size_t n, double speed,
                                talus_world_def def, talus_body *body, int *made) {
  talus_body_def ball;
  talus_world *world = elastic_world(&def, RADIUS, 1, &ball);
  add_profile(world, ball, points, n, TALUS_SIDES_IN);
  uint64_t seed = 23;
  int count = 0;
  for (int i = 0; i < 3000 && count < MOST_OF_GAS; ++i) {
    const double z = points[0][0] + (points[n - 1][0] - points[0][0]) * ((i / 50) + 0.5) / 60;
    const talus_dvec3 at = {0.6 * (i % 7 - 3), 0.6 * (i / 7 % 7 - 3), z};
    const place p = {at.x, at.y, at.z};
    bool is_free = distance(points, n, p, NULL) > 0.21L && sqrt(at.x * at.x + at.y * at.y) < 8.1;
    for (int k = 0; k < count && is_free; ++k) {
      const talus_dvec3 x = info_of(world, body[k]).position;
      is_free = pow(x.x - at.x, 2) + pow(x.y - at.y, 2) + pow(x.z - at.z, 2) > 0.17;
    }
    /* The polyline alone does not say which side a place is on. */
    const place axis = {0, 0, at.z};
    if (!is_free || distance(points, n, axis, NULL) < 0.21L ||
        sqrt(at.x * at.x + at.y * at.y) > (double)distance(points, n, axis, NULL))
      continue;
    body[count++] = add_ball(world, ball, 1, at,
                             (talus_dvec3){speed * (next_random(&seed) - 0.5),
                                           speed * (next_random(&seed) - 0.5),
                                           speed * (next_random(&seed) - 0.5)});
  }
  CHECK_MSG(count > 20, "%d bodies", count);
  *made = count;
  return world;
}

static void check_gas_in(const double points[][2], size_t n, double speed, double pull, int steps,
                         uint64_t impacts) {
  talus_world_def def = elastic_def(BY_EVENTS, impacts > 0 ? 1 : 0.05);
  def.gravity = (talus_vec3){0, 0, (talus_real)-pull};
  talus_body body[MOST_OF_GAS];
  int count;
  talus_world *world = make_gas_in(points, n, speed, def, body, &count);
  const talus_report before = report_of(world);
  for (int step = 0; step < steps || report_of(world).collisions < impacts; ++step) {
    CHECK_OK(talus_world_step(world, 1));
    for (int k = 0; k < count && (impacts == 0 || step % 100 == 0); ++k) {
      const talus_dvec3 x = info_of(world, body[k]).position;
      const double off = (double)distance(points, n, (place){x.x, x.y, x.z}, NULL);
      CHECK_MSG(off > RADIUS - 1e-9, "body %d is %g m from the wall in step %d", k, off, step);
      CHECK(x.z > points[0][0] && x.z < points[n - 1][0]);
    }
  }
  const talus_report r = report_of(world);
  const double energy = before.kinetic_energy;
  CHECK_EQ_U64(r.outside, 0);
  CHECK_NEAR(r.kinetic_energy + r.potential_energy, before.kinetic_energy + before.potential_energy,
             (TALUS_SINGLE ? 1e-3 : 1e-12) * energy);
  CHECK_NEAR(r.angular_momentum[2], before.angular_momentum[2],
             (TALUS_SINGLE ? 1e-2 : 1e-12) * energy);
  CHECK(r.collisions > (uint64_t)count);
  talus_world_destroy(world);
}

TEST(a_gas_in_a_nozzle_keeps_energy_and_spin_about_the_axis) {
  check_gas_in(nozzle, 8, 10, 0, check_is_short() ? 20 : 400, getenv("TALUS_SOAK") ? 1000000 : 0);
  check_gas_in(printed, 10, 10, 0, check_is_short() ? 20 : 100, 0);
  check_gas_in(throat, 8, 4, 0, check_is_short() ? 20 : 400, 0);
  check_gas_in(throat, 8, 4, 2, check_is_short() ? 10 : 100, 0);
}

TEST(bits_of_a_gas_in_a_nozzle_do_not_depend_on_threads) {
  static const int threads[] = {1, 2, 3, 5};
  uint64_t hash[4], tests[4];
  CHECK(setenv("TALUS_PACE", "off", 1) == 0); /* all of them, always */
  for (int k = 0; k < 4; ++k) {
    talus_world_def def = elastic_def(BY_EVENTS, 0.05);
    talus_body body[MOST_OF_GAS];
    int count;
    def.threads = threads[k];
    talus_world *world = make_gas_in(nozzle, 8, 10, def, body, &count);
    CHECK_OK(talus_world_step(world, check_is_short() ? 5 : 20));
    hash[k] = talus_world_hash(world);
    tests[k] = report_of(world).wall_tests;
    talus_world_destroy(world);
  }
  for (int k = 1; k < 4; ++k) {
    CHECK_EQ_U64(hash[k], hash[0]);
    CHECK_EQ_U64(tests[k], tests[0]);
  }
}

/* A ball that goes round and round in a tube touches it all the time. */
TEST(a_ball_that_slides_round_a_tube_stays_in_it) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(BY_EVENTS, 0.1);
  static const double tube[][2] = {{-5, 1}, {5, 1}};
  talus_world *world = elastic_world(&def, RADIUS, 1, &ball);
  add_profile(world, ball, tube, 2, TALUS_SIDES_IN);
  const talus_body body =
      add_ball(world, ball, 1, (talus_dvec3){0.8, 0, 0}, (talus_dvec3){0, 1, 0});
  CHECK_OK(talus_world_step(world, 20));
  const talus_body_info info = info_of(world, body);
  CHECK_NEAR(sqrt(info.position.x * info.position.x + info.position.y * info.position.y), 0.8,
             1e-5);
  CHECK_NEAR(report_of(world).angular_momentum[2], 0.8, 1e-5);
  talus_world_destroy(world);
}

/* Both sides of a thin wall are walls. */
TEST(a_thin_tube_is_met_from_outside_too) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(BY_EVENTS, 1);
  static const double tube[][2] = {{-5, 1}, {5, 1}};
  talus_world *world = elastic_world(&def, RADIUS, 1, &ball);
  add_profile(world, ball, tube, 2, TALUS_SIDES_BOTH);
  const talus_body out = add_ball(world, ball, 1, (talus_dvec3){2, 0, 0}, (talus_dvec3){-1, 0, 0});
  const talus_body in = add_ball(world, ball, 1, (talus_dvec3){0, 0, 0}, (talus_dvec3){-1, 0, 0});
  const talus_body over =
      add_ball(world, ball, 1, (talus_dvec3){2, 0, 5.3}, (talus_dvec3){-1, 0, 0});
  CHECK_OK(talus_world_step(world, 1));
  CHECK_NEAR(info_of(world, out).position.x, 1.4, 1e-6);
  CHECK_NEAR(info_of(world, in).position.x, -0.6, 1e-6);
  CHECK_NEAR(info_of(world, over).position.x, 1, 1e-6);
  talus_world_destroy(world);
}

TEST_MAIN()
