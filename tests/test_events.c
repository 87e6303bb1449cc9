/* Gases of hard spheres: what long runs keep, what kinetic theory says, threads and restarts. */
#include "elastic_fixture.h"

#include "base/memory.h"
#include "refuse.h"

#define PI 3.14159265358979323846

static double starling(double f) { return (1 + f + f * f - f * f * f) / pow(1 - f, 3); }
static double contact_value(double f) { return (1 - f / 2) / pow(1 - f, 3); }

/* ---- long runs ------------------------------------------------------------------------------- */

TEST(a_million_events_keep_energy_and_momentum) {
  double length;
  talus_world *world = make_gas(elastic_def(BY_EVENTS, 1), 256, 0.3, &length);
  /* Of collisions; balls change their cells about as often, which are events too. */
  const uint64_t many = getenv("TALUS_SOAK") ? 500000 : check_is_short() ? 20000 : 250000;
  const talus_report before = report_of(world);
  while (report_of(world).collisions < many)
    CHECK_OK(talus_world_step(world, 10));
  const talus_report r = report_of(world);
  CHECK_NEAR(r.kinetic_energy, before.kinetic_energy,
             (TALUS_SINGLE ? 1e-5 : 1e-12) * before.kinetic_energy);
  for (int k = 0; k < 3; ++k)
    CHECK_NEAR(r.momentum[k], 0, TALUS_SINGLE ? 1e-3 : 1e-11);
  CHECK_EQ_U64(r.outside, 0);
  talus_world_destroy(world);
}

/* ---- kinetic theory --------------------------------------------------------------------------
 * Speed 1, mass 1, diameter 1: kT = 1/3. */

static void check_gas(int n, double phi, int steps, double within) {
  double length;
  talus_world *world = make_gas(elastic_def(BY_EVENTS, 0.5), n, phi, &length);
  CHECK_OK(talus_world_step(world, (uint64_t)steps / 4)); /* the lattice melts */
  const talus_report from = report_of(world);
  CHECK_OK(talus_world_step(world, (uint64_t)steps));
  const talus_report to = report_of(world);
  const double time = to.time - from.time, kT = 1.0 / 3, bodies = (double)to.bodies;
  const double z = 1 + (to.virial - from.virial) / (3 * bodies * kT * time);
  const double density = bodies / pow(length, 3);
  const double rate = 4 * density * contact_value(phi) * sqrt(PI * kT);
  const double seen = 2 * (double)(to.collisions - from.collisions) / (bodies * time);
  printf("  phi %g, %zu bodies, %llu collisions: Z %.4f (%.4f), rate %.4f (%.4f)\n", phi, to.bodies,
         (unsigned long long)(to.collisions - from.collisions), z, starling(phi), seen, rate);
  CHECK_NEAR(z / starling(phi), 1, within);
  CHECK_NEAR(seen / rate, 1, within);
  /* Mean speed over rate: the mean free path, 1 / (sqrt2 pi n g), where speeds are Maxwell's. */
  CHECK_NEAR(sqrt(8 * kT / PI) / seen * sqrt(2) * PI * density * contact_value(phi), 1, within);
  talus_world_destroy(world);
}

TEST(pressure_and_rate_of_collisions_are_those_of_carnahan_and_starling) {
  if (getenv("TALUS_SOAK")) {
    check_gas(4000, 0.01, 4000, 0.01);
    check_gas(4000, 0.1, 800, 0.01);
    check_gas(4000, 0.3, 400, 0.01);
    check_gas(4000, 0.45, 400, 0.02);
  } else {
    check_gas(500, 0.1, check_is_short() ? 100 : 600, check_is_short() ? 0.08 : 0.03);
    check_gas(500, 0.3, check_is_short() ? 40 : 200, check_is_short() ? 0.08 : 0.03);
  }
}

/* Of Maxwell's speeds, the share below v, for kT/m = s^2. */
static double below(double v, double s) {
  return erf(v / (sqrt(2) * s)) - sqrt(2 / PI) * v / s * exp(-v * v / (2 * s * s));
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

TEST(equal_speeds_become_those_of_maxwell) {
  double length, ratio = 0;
  const int times = check_is_short() ? 10 : 100;
  talus_world *world = make_gas(elastic_def(BY_EVENTS, 1), 2000, 0.2, &length);
  const size_t n = talus_world_body_count(world);
  double *speed = malloc(n * sizeof *speed);
  while (2.0 * (double)report_of(world).collisions / (double)n < 10)
    CHECK_OK(talus_world_step(world, 1));
  for (int t = 0; t < times; ++t) {
    talus_view view;
    double second = 0, fourth = 0, worst = 0;
    CHECK_OK(talus_view_map(world, TALUS_FIELD_VELOCITY, TALUS_READ, &view));
    for (size_t i = 0; i < n; ++i) {
      const talus_real *v = (const talus_real *)view.data + 3 * i;
      const double square = (double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
      speed[i] = sqrt(square);
      second += square / (double)n, fourth += square * square / (double)n;
    }
    CHECK_OK(talus_view_unmap(world, &view));
    ratio += fourth / (second * second) / times;
    qsort(speed, n, sizeof *speed, compare);
    for (size_t i = 0; i < n; ++i)
      worst = fmax(worst, fabs(below(speed[i], sqrt(1.0 / 3)) - ((double)i + 0.5) / (double)n));
    /* Kolmogorov and Smirnov: p > 0.01 where sqrt(n) D < 1.63. */
    CHECK_MSG(t > 0 || sqrt((double)n) * worst < 1.63, "D sqrt(n) = %g", sqrt((double)n) * worst);
    CHECK_OK(talus_world_step(world, 1));
  }
  CHECK_NEAR(ratio, 5.0 / 3, check_is_short() ? 0.04 : 0.0167);
  free(speed);
  talus_world_destroy(world);
}

/* ---- ways agree ------------------------------------------------------------------------------ */

static talus_report run_gas(way how, double dt, double time, uint64_t *hash) {
  double length;
  talus_world *world = make_gas(elastic_def(how, dt), 500, 0.2, &length);
  CHECK_OK(talus_world_step(world, (uint64_t)(time / dt + 0.5)));
  const talus_report r = report_of(world);
  if (hash)
    *hash = talus_world_hash(world);
  talus_world_destroy(world);
  return r;
}

TEST(soft_shell_and_events_are_the_same_without_gravity_and_the_hard_shell_comes_near) {
  uint64_t events, soft;
  const double time = check_is_short() ? 2 : 20;
  const talus_report a = run_gas(BY_EVENTS, 0.1, time, &events);
  run_gas(BY_SOFT_SHELL, 0.1, time, &soft);
  CHECK_EQ_U64(events, soft);
  const talus_report other = run_gas(BY_EVENTS, 0.25, time, NULL);
  const talus_report hard = run_gas(BY_HARD_SHELL, 0.01, time, NULL);
  CHECK_NEAR((double)other.collisions / (double)a.collisions, 1, 0.03);
  CHECK_NEAR((double)hard.collisions / (double)a.collisions, 1, 0.04);
  CHECK_NEAR(hard.kinetic_energy, a.kinetic_energy, (TALUS_SINGLE ? 1e-4 : 1e-12) * 250);
}

TEST(the_published_response_keeps_neither_energy_nor_momentum) {
  const talus_report r = run_gas(BY_PUBLISHED, 0.02, check_is_short() ? 4 : 20, NULL);
  const double lost = fabs(r.kinetic_energy - 250) / 250;
  const double drift = fabs(r.momentum[0]) + fabs(r.momentum[1]) + fabs(r.momentum[2]);
  CHECK_MSG(lost > 1e-5 && lost < 0.5 && drift > 1e-3, "%g of the energy, momentum %g", lost,
            drift);
}

/* ---- bits ------------------------------------------------------------------------------------ */

TEST(bits_do_not_depend_on_threads) {
  for (int how = BY_EVENTS; how <= BY_PUBLISHED; ++how) {
    uint64_t hash[2];
    for (int k = 0; k < 2; ++k) {
      double length;
      talus_world_def def = elastic_def((way)how, 0.02);
      def.threads = k == 0 ? 1 : 3;
      talus_world *world = make_gas(def, 2000, 0.3, &length);
      CHECK_OK(talus_world_step(world, check_is_short() ? 30 : 60));
      hash[k] = talus_world_hash(world);
      CHECK(report_of(world).collisions > 10);
      talus_world_destroy(world);
    }
    CHECK_EQ_U64(hash[1], hash[0]);
  }
}

TEST(a_saved_gas_goes_on_bit_for_bit) {
#if TALUS_HAVE_HDF5
  for (int how = BY_EVENTS; how <= BY_PUBLISHED; ++how) {
    double length;
    talus_world *world = make_gas(elastic_def((way)how, 0.02), 256, 0.3, &length), *other;
    CHECK_OK(talus_world_step(world, 30));
    CHECK_OK(talus_world_save(world, "gas.hdf"));
    CHECK_OK(talus_world_load("gas.hdf", &other));
    CHECK_OK(talus_world_step(world, 30));
    CHECK_OK(talus_world_step(other, 30));
    CHECK_EQ_U64(talus_world_hash(other), talus_world_hash(world));
    const talus_report a = report_of(world), b = report_of(other);
    CHECK(a.collisions == b.collisions && a.virial == b.virial && a.outside == b.outside);
    talus_world_destroy(world);
    talus_world_destroy(other);
  }
#else
  SKIP("this build has no checkpoints");
#endif
}

/* A step for which memory is missing has changed nothing, and goes on once there is some. */
TEST(a_step_without_memory_is_as_if_it_had_not_been_tried) {
#if REFUSES_MEMORY
  double length;
  talus_world *world = make_gas(elastic_def(BY_EVENTS, 0.5), 256, 0.3, &length);
  talus_world *other = make_gas(elastic_def(BY_EVENTS, 0.5), 256, 0.3, &length);
  CHECK_OK(talus_world_step(other, 3));
  int refused = 0;
  for (int step = 0; step < 3; ++step) {
    const uint64_t before = talus_world_hash(world);
    talus_status status = TALUS_ERROR_MEMORY;
    for (int at = 1; status != TALUS_OK; ++at) {
      refuse_at = at;
      status = talus_world_step(world, 1);
      refuse_at = -1;
      CHECK(status == TALUS_OK || status == TALUS_ERROR_MEMORY);
      refused += status != TALUS_OK;
      if (talus_world_steps(world) == (uint64_t)step)
        CHECK_EQ_U64(talus_world_hash(world), before);
      else
        break;
    }
  }
  CHECK(refused > 3);
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
  talus_world_destroy(world);
  talus_world_destroy(other);
#else
  SKIP("sanitizers have an allocator of their own");
#endif
}

TEST(warm_steps_allocate_nothing) {
  double length;
  talus_world *world = make_gas(elastic_def(BY_EVENTS, 0.1), 500, 0.2, &length);
  CHECK_OK(talus_world_step(world, 200));
  const uint64_t before = tl_memory_count().allocations;
  CHECK_OK(talus_world_step(world, 50));
  CHECK(tl_memory_count().allocations - before <= 2); /* a step with more impacts than any before */
  talus_world_destroy(world);
}

/* Contacts of a step of events are those that collided, with all that they gave. */
TEST(impulses_of_contacts_are_what_changed_momentum) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(BY_EVENTS, 10);
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  add_wall(world, ball, TALUS_CONTAINER, 3, 3, 3, 0);
  add_ball(world, ball, 2, (talus_dvec3){-0.5, 0, 0}, (talus_dvec3){1, 0, 0});
  CHECK_OK(talus_world_step(world, 1));
  talus_contact contacts[4];
  size_t count;
  CHECK_OK(talus_world_contacts(world, contacts, 4, &count));
  CHECK_EQ_U64(count, 2); /* of two walls, each hit several times: 10 m are 5 ways of 2 m */
  CHECK_EQ_U64(report_of(world).collisions, 5);
  CHECK(contacts[0].feature_a == 0 && contacts[1].feature_a == 1);
  CHECK_NEAR(contacts[0].impulse.x, 2 * 4, 1e-5);
  CHECK_NEAR(contacts[1].impulse.x, -3 * 4, 1e-5);
  talus_world_destroy(world);
}

TEST_MAIN()
