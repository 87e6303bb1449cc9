/* Local time beside emitters, sinks, the edge of the domain and probes, which act at times of their
 * own and hold nobody else up. */
#include "free_fixture.h"

#include "step/paths.h"
#include "world/world.h"

#include <math.h>

static const talus_vec3 still = {0, 0, 0};

static talus_world *make(double gravity, double dt, int threads) {
  return make_with(TALUS_STEP_LOCAL, gravity, dt, -1, threads);
}

/* Ends of intervals, and an audit of each. */
typedef struct ends {
  double at[4096];
  size_t count, overlaps;
} ends;

static talus_status note_end(void *context, const tl_crowd *crowd) {
  ends *list = context;
  const tl_paths_rule rule = {.floor = {.halos = -0.01}, .fine = {.halos = 0.01}, .goes_on = true};
  tl_paths_report found;
  CHECK(list->count < sizeof list->at / sizeof *list->at);
  list->at[list->count++] = crowd->t1;
  TL_TRY(tl_local_check_pieces(crowd->local, &rule, &found));
  list->overlaps += found.short_count;
  return TALUS_OK;
}

static void note(talus_world *world, ends *list) {
  list->count = list->overlaps = 0;
  world->watch = note_end, world->watch_context = list;
}

static void check_end(const ends *list, double t) {
  for (size_t i = 0; i < list->count; ++i)
    if (list->at[i] == t)
      return;
  CHECK_MSG(false, "no interval ends at %.17g s", t);
}

static void add_tap(talus_world *world, talus_shape s, talus_material m, double rate, double from) {
  talus_emitter_def tap = {.body = talus_body_def_default(), .rate = rate, .until = INFINITY};
  tap.body.shape = s, tap.body.material = m, tap.from_time = from;
  tap.body.velocity = (talus_vec3){0, 0, -1};
  tap.from = (talus_region){.kind = TALUS_REGION_BOX, .box = {{-0.5, -0.5, 0.7}, {0.5, 0.5, 0.8}}};
  CHECK_OK(talus_world_add_emitter(world, &tap));
}

TEST(bodies_come_when_they_are_due_and_probes_end_on_time) {
  static ends list;
  talus_world *world = make(9.81, 0.05, 1);
  const talus_material m = material(world, 0.4, 0.3);
  talus_probe_def probe = {.name = "probe", .record = TALUS_RECORD_COUNT, .every = 0.013};
  probe.region = (talus_region){.kind = TALUS_REGION_BOX, .box = {{-1, -1, 0}, {1, 1, 1}}};
  CHECK_OK(talus_world_add_probe(world, &probe, NULL));
  add_tap(world, shape(world, TALUS_SPHERE, 0.02, 0, 0), m, 23, 0.0042);
  note(world, &list);
  CHECK_OK(talus_world_step(world, 3));
  for (int k = 1; k <= 3; ++k)
    check_end(&list, k * 0.05);
  for (int k = 1; k * 0.013 < 0.15; ++k)
    check_end(&list, k * 0.013);
  for (int k = 0; 0.0042 + k / 23.0 < 0.15; ++k)
    check_end(&list, 0.0042 + k / 23.0);
  CHECK(list.count < 30);
  /* The first one has fallen since its own time, not since the next one of the grid. */
  const double t = 0.15 - 0.0042;
  const double v = (double)world->state.velocity[0].z;
  CHECK_NEAR(v, -1 - 9.81 * t, 1e-5);
  talus_world_destroy(world);
}

/* Two cubes on each other and one that flies, without and with a probe between times of the grid.
 */
TEST(a_time_of_somebody_else_holds_nobody_up) {
  uint64_t steps[2];
  for (int probes = 0; probes < 2; ++probes) {
    talus_world *world = make(9.81, 0.01, 1);
    const talus_material m = material(world, 0.4, 0);
    const talus_shape cube = shape(world, TALUS_BOX, 0.2, 0.2, 0.2);
    talus_probe_def probe = {.name = "probe", .record = TALUS_RECORD_COUNT, .every = 0.003};
    probe.region = (talus_region){.kind = TALUS_REGION_BOX, .box = {{-1, -1, 0}, {1, 1, 1}}};
    body(world, shape(world, TALUS_PLANE, 0, 0, 1), m, (talus_dvec3){0, 0, 0}, still, still,
         TALUS_FIXED);
    body(world, cube, m, (talus_dvec3){0, 0, 0.10001}, still, still, TALUS_FREE);
    body(world, cube, m, (talus_dvec3){0, 0, 0.30002}, still, still, TALUS_FREE);
    body(world, cube, m, (talus_dvec3){2, 0, 5}, still, (talus_vec3){1, 2, 3}, TALUS_FREE);
    if (probes)
      CHECK_OK(talus_world_add_probe(world, &probe, NULL));
    CHECK_OK(talus_world_step(world, 20));
    steps[probes] = world->local.counts.body_steps;
    talus_world_destroy(world);
  }
  /* As floats the cubes rock by roundings. Held up, each body would take a step for each probe. */
  CHECK_MSG(20 * steps[1] < (TALUS_SINGLE ? 25 : 21) * steps[0],
            "%llu steps of bodies with a probe, %llu without", (unsigned long long)steps[1],
            (unsigned long long)steps[0]);
}

/* A ball comes back from a wall within an interval. The step in which it came there ends in a sink,
 * which the ball has left at the next time of the grid. Another one bounces elsewhere, and is ahead
 * of that time. */
TEST(who_ends_a_step_in_a_sink_leaves_then_and_others_go_on) {
  static ends list;
  talus_world *world = make(0, 0.05, 1);
  const talus_material m = material(world, 0, 1);
  const talus_shape s = shape(world, TALUS_SPHERE, 0.05, 0, 0);
  const talus_region trap = {.kind = TALUS_REGION_BOX, .box = {{0.24, -1, -1}, {0.3, 1, 3}}};
  talus_left left[2];
  size_t count;
  body(world, shape(world, TALUS_BOX, 0.2, 9, 9), m, (talus_dvec3){0.4, 0, 0}, still, still,
       TALUS_FIXED);
  const talus_body gone = body(world, s, m, (talus_dvec3){0, 0, 0}, (talus_vec3){10, 0, 0}, still,
                               TALUS_FREE),
                   other = body(world, s, m, (talus_dvec3){0.15, 0, 2}, (talus_vec3){10, 0, 0},
                                still, TALUS_FREE);
  body(world, shape(world, TALUS_BOX, 0.2, 0.2, 0.2), m, (talus_dvec3){0.5, 5, 0}, still, still,
       TALUS_FREE);
  CHECK_OK(talus_world_add_sink(world, "trap", &trap));
  CHECK_OK(talus_world_record_left(world, true));
  note(world, &list);
  CHECK_OK(talus_world_step(world, 1));
  CHECK_OK(talus_world_take_left(world, left, 2, &count));
  talus_body_info info_of;
  CHECK_MSG(count == 2, "%zu", count);
  CHECK(talus_world_get_body(world, gone, &info_of) != TALUS_OK &&
        talus_world_get_body(world, other, &info_of) != TALUS_OK);
  CHECK_NEAR(left[0].time, 0.01, 1e-5); /* both came to the wall: at 0.01 and at 0.025 s */
  CHECK_NEAR(left[1].time, 0.025, 1e-5);
  CHECK_NEAR(left[1].position.x, 0.25, 1e-4);
  check_end(&list, left[0].time);
  check_end(&list, left[1].time);
  CHECK(list.count == 3 && list.overlaps == 0);
  CHECK(world->local.counts.clusters == 3); /* the box took one step, which nobody cut */
  talus_world_destroy(world);
}

/* The ball bounces at 0.05 s, so its next step ends at 0.15 s, above the domain. */
TEST(who_leaves_the_domain_is_gone_at_the_end_of_its_own_step) {
  talus_world *world;
  talus_world_def def = talus_world_def_default();
  talus_left left;
  size_t count;
  def.gravity = still, def.dt = 0.1, def.step = TALUS_STEP_LOCAL, def.threads = 1;
  def.domain = (talus_domain_def){
      .enabled = true, .outside = TALUS_OUTSIDE_REMOVE, .box = {{-1, -1, -1}, {1, 1, 0.19}}};
  CHECK_OK(talus_world_create(&def, &world));
  const talus_material m = material(world, 0, 1);
  body(world, shape(world, TALUS_PLANE, 0, 0, 1), m, (talus_dvec3){0, 0, 0}, still, still,
       TALUS_FIXED);
  body(world, shape(world, TALUS_SPHERE, 0.1, 0, 0), m, (talus_dvec3){0, 0, 0.15},
       (talus_vec3){0, 0, -1}, still, TALUS_FREE);
  CHECK_OK(talus_world_record_left(world, true));
  CHECK_OK(talus_world_step(world, 2));
  CHECK_OK(talus_world_take_left(world, &left, 1, &count));
  CHECK(count == 1);
  CHECK_NEAR(left.time, 0.15, 1e-4);
  CHECK_NEAR(left.position.z, 0.2, 1e-4);
  talus_world_destroy(world);
}

/* Who stands on a body that is taken away comes back to that time and falls from then on; who flies
 * is not held up. */
TEST(who_stood_on_a_body_that_leaves_falls) {
  talus_world *world = make(9.81, 0.01, 1);
  const talus_material m = material(world, 0.4, 0);
  const talus_shape cube = shape(world, TALUS_BOX, 0.2, 0.2, 0.2);
  const talus_region trap = {.kind = TALUS_REGION_BOX, .box = {{-1, -1, 0}, {1, 1, 0.15}}};
  body(world, shape(world, TALUS_PLANE, 0, 0, 1), m, (talus_dvec3){0, 0, 0}, still, still,
       TALUS_FIXED);
  const talus_body below =
      body(world, cube, m, (talus_dvec3){0, 0, 0.10001}, still, still, TALUS_FREE);
  const talus_body above =
      body(world, cube, m, (talus_dvec3){0, 0, 0.30002}, still, still, TALUS_FREE);
  CHECK_OK(talus_world_step(world, 10));
  talus_body_info info_of;
  CHECK_OK(talus_world_get_body(world, above, &info_of));
  CHECK_NEAR(info_of.velocity.z, 0, 1e-3);
  CHECK_OK(talus_world_add_sink(world, "trap", &trap));
  CHECK_OK(talus_world_step(world, 1));
  CHECK(talus_world_get_body(world, below, &info_of) != TALUS_OK);
  CHECK_OK(talus_world_step(world, 1));
  CHECK_OK(talus_world_get_body(world, above, &info_of));
  CHECK_NEAR(info_of.velocity.z, -0.0981, 2e-3);
  talus_world_destroy(world);
}

static talus_world *make_stream(int threads) {
  talus_world *world = make(9.81, 0.01, threads);
  const talus_material m = material(world, 0.4, 0.5);
  const talus_shape ball = shape(world, TALUS_SPHERE, 0.04, 0, 0);
  const talus_region trap = {.kind = TALUS_REGION_BOX, .box = {{-1, -1, -1}, {0, 1, 0.06}}};
  talus_probe_def probe = {.name = "probe", .record = TALUS_RECORD_COUNT, .every = 0.0137};
  probe.region = (talus_region){.kind = TALUS_REGION_BOX, .box = {{-1, -1, 0}, {1, 1, 1}}};
  body(world, shape(world, TALUS_BOX, 3, 3, 0.2), m, (talus_dvec3){0, 0, -0.1}, still, still,
       TALUS_FIXED);
  body(world, stone(world, 0.1), m, (talus_dvec3){0.2, 0.1, 0.2}, still, (talus_vec3){1, 2, 3},
       TALUS_FREE);
  add_tap(world, ball, m, 170, 0.0042);
  CHECK_OK(talus_world_add_sink(world, "trap", &trap));
  CHECK_OK(talus_world_add_probe(world, &probe, NULL));
  return world;
}

TEST(a_stream_has_the_same_bits_for_threads_and_restarts_and_never_overlaps) {
  static ends list;
  uint64_t hash[3];
  for (int way = 0; way < 3; ++way) {
    talus_world *world = make_stream(way == 1 ? 3 : 1);
    list.overlaps = 0;
    if (way == 0)
      note(world, &list);
    CHECK_OK(talus_world_step(world, 23));
#if TALUS_HAVE_HDF5
    if (way == 2) {
      CHECK_OK(talus_world_save(world, "local_flow.hdf"));
      talus_world_destroy(world);
      CHECK_OK(talus_world_load("local_flow.hdf", &world));
    }
#endif
    CHECK_OK(talus_world_step(world, 27));
    hash[way] = talus_world_hash(world);
    CHECK(world->emitted > 50 && world->removed > 0 && list.overlaps == 0);
    talus_world_destroy(world);
  }
  CHECK(hash[1] == hash[0] && hash[2] == hash[0]);
}

TEST_MAIN()
