/* Interrupts: a step that is given up in the middle has not happened. */
#include <pthread.h>
#include <time.h>

#include "physics/rig.h"
#include "world/world.h"

static double clock_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_s(double seconds) {
  const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&t, NULL);
}

/* Balls in a box, thrown together, and a chain of them. */
static talus_world *make_heap(const talus_world_def *def, int n) {
  talus_world *world = rig_world(def);
  const talus_material m = rig_material(world, 0.5, 0.3);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.05, 0, 0, 0);
  const talus_shape box = rig_shape(world, TALUS_CONTAINER, 1, 1, 4, 0);
  rig_body(world, TALUS_FIXED, box, m, 0, 0, 2);
  talus_body last = {0, 0};
  for (int i = 0; i < n; ++i) {
    const int x = i % 8, y = i / 8 % 8, z = i / 64;
    const talus_body body =
        rig_body(world, TALUS_FREE, ball, m, -0.43 + 0.12 * x, -0.43 + 0.12 * y, 0.06 + 0.1 * z);
    CHECK_OK(
        talus_body_set_velocity(world, body, rig_vec(0.3 * (i % 3 - 1), 0, -1), rig_vec(0, 0, 0)));
    if (i >= 8 && i < 14 && def->solve.kind != TALUS_SOLVE_PENALTY) {
      talus_joint_def joint = talus_joint_def_default();
      joint.kind = TALUS_JOINT_DISTANCE;
      joint.a = last, joint.b = body;
      joint.at = rig_info(world, last).position, joint.to = rig_info(world, body).position;
      CHECK_OK(talus_world_add_joint(world, &joint, NULL));
    }
    last = body;
  }
  return world;
}

/* ---- how soon -------------------------------------------------------------------------------- */

typedef struct alarm_clock {
  volatile int *flag;
  double after, rang; /* s */
} alarm_clock;

static void *ring(void *context) {
  alarm_clock *a = context;
  pause_s(a->after);
  a->rang = clock_s();
  __atomic_store_n(a->flag, 1, __ATOMIC_RELAXED);
  return NULL;
}

/* A step that would take hours. Returns how long it took to stop, s. */
static double stop_endless_step(talus_solve_kind kind, talus_ccp_method method, bool islands) {
  talus_world_def def = talus_world_def_default();
  volatile int flag = 0;
  def.solve.kind = kind, def.solve.method = method, def.solve.islands = islands;
  def.solve.iterations = 1000000000, def.solve.tolerance = 0;
  def.threads = 2;
  talus_world *world = make_heap(&def, 400);
  CHECK_OK(talus_world_set_interrupt(world, &flag));
  const uint64_t hash = talus_world_hash(world);
  alarm_clock a = {.flag = &flag, .after = 0.1};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, ring, &a) == 0);
  const talus_status status = talus_world_step(world, 3);
  const double stopped = clock_s();
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(status == TALUS_INTERRUPTED && strstr(talus_last_error(), "stopped on request"));
  CHECK_EQ_U64(talus_world_steps(world), 0);
  CHECK_EQ_U64(talus_world_hash(world), hash);
  CHECK(world->contacts.count == 0); /* those before the first step */
  talus_world_destroy(world);
  return stopped - a.rang;
}

TEST(endless_step_stops_within_a_second_whatever_the_method) {
  const struct {
    talus_solve_kind kind;
    talus_ccp_method method;
    bool islands;
  } all[] = {
      {TALUS_SOLVE_CCP, TALUS_GAUSS_SEIDEL, true}, {TALUS_SOLVE_CCP, TALUS_GAUSS_SEIDEL, false},
      {TALUS_SOLVE_CCP, TALUS_JACOBI, true},       {TALUS_SOLVE_CCP, TALUS_APGD, true},
      {TALUS_SOLVE_CCP, TALUS_BB, true},           {TALUS_SOLVE_IMPULSE, TALUS_GAUSS_SEIDEL, true}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    const double took = stop_endless_step(all[i].kind, all[i].method, all[i].islands);
    CHECK_MSG(took < 1, "method %zu took %g s", i, took);
  }
}

TEST(world_that_is_asked_to_stop_takes_no_step) {
  talus_world_def def = talus_world_def_default();
  volatile int flag = 1;
  talus_world *world = make_heap(&def, 10);
  CHECK_OK(talus_world_set_interrupt(world, &flag));
  CHECK(talus_world_step(world, 5) == TALUS_INTERRUPTED);
  CHECK_EQ_U64(talus_world_steps(world), 0);
  flag = 0;
  CHECK_OK(talus_world_step(world, 5));
  flag = 1;
  CHECK_OK(talus_world_set_interrupt(world, NULL));
  CHECK_OK(talus_world_step(world, 5));
  CHECK_EQ_U64(talus_world_steps(world), 10);
  talus_world_destroy(world);
}

/* ---- the same bits --------------------------------------------------------------------------- */

typedef struct nuisance {
  volatile int flag, is_over;
} nuisance;

static void *disturb(void *context) {
  nuisance *n = context;
  unsigned random = 1;
  while (!__atomic_load_n(&n->is_over, __ATOMIC_RELAXED)) {
    random = random * 1664525u + 1013904223u;
    pause_s(1e-6 * (double)(random >> 16 & 2047));
    __atomic_store_n(&n->flag, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

/* Stops again and again, at whatever place that is, and compares with a run in peace. */
static int compare_with_peace(const talus_world_def *def, int n, uint64_t steps) {
  talus_world *world = make_heap(def, n), *calm = make_heap(def, n);
  nuisance bad = {0, 0};
  pthread_t thread;
  int stops = 0;
  CHECK_OK(talus_world_step(calm, steps));
  CHECK_OK(talus_world_set_interrupt(world, &bad.flag));
  CHECK(pthread_create(&thread, NULL, disturb, &bad) == 0);
  talus_status status = TALUS_OK;
  while (talus_world_steps(world) < steps && (status == TALUS_OK || status == TALUS_INTERRUPTED)) {
    __atomic_store_n(&bad.flag, 0, __ATOMIC_RELAXED);
    if (stops > 60) /* a machine so busy that no step gets through */
      CHECK_OK(talus_world_set_interrupt(world, NULL));
    status = talus_world_step(world, 1);
    stops += status == TALUS_INTERRUPTED;
  }
  __atomic_store_n(&bad.is_over, 1, __ATOMIC_RELAXED);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_OK(status);
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(calm));
  CHECK_EQ_U64(world->contacts.count, calm->contacts.count);
  for (size_t i = 0; i < calm->contacts.count; ++i)
    CHECK(memcmp(&world->contacts.data[i].impulse, &calm->contacts.data[i].impulse,
                 sizeof(talus_vec3)) == 0);
  CHECK(rig_report(world).contact_work == rig_report(calm).contact_work);
  CHECK_EQ_U64(rig_report(world).asleep, rig_report(calm).asleep);
  talus_world_destroy(world);
  talus_world_destroy(calm);
  return stops;
}

static int compare_all_with_peace(void) {
  talus_world_def def = talus_world_def_default();
  def.threads = 2;
  def.solve.iterations = def.solve.iterations_max = 200, def.solve.tolerance = 0;
  int stops = compare_with_peace(&def, 200, 10);
  def.sleep = (talus_sleep_def){0.5, 0.002};
  stops += compare_with_peace(&def, 200, 10);
  def.sleep.speed = 0;
  def.solve.kind = TALUS_SOLVE_IMPULSE;
  stops += compare_with_peace(&def, 200, 10);
  def.solve.kind = TALUS_SOLVE_PENALTY;
  def.dt = 1e-5;
  return stops + compare_with_peace(&def, 200, 10);
}

/* On a machine that is busy with other work the thread that disturbs may come too late: then all is
 * done again. */
TEST(stepping_goes_on_bit_for_bit_after_steps_that_were_given_up) {
  int stops = 0;
  for (int round = 0; round < 10 && stops <= 10; ++round)
    stops += compare_all_with_peace();
  CHECK_MSG(stops > 10, "stopped %d times alone", stops);
}

TEST_MAIN()
