/* Sleep: who falls asleep and when, that nothing of a sleeper changes, what wakes it, and that
 * being woken changes nothing but time. */
#include <unistd.h>

#include "base/random.h"
#include "physics/rig.h"
#include "crowd/asleep.h"
#include "world/world.h"

#define DT    2e-3
#define SPEED 5e-3
#define TIME  0.1
#define STEPS 50 /* TIME / DT */

typedef struct bed {
  talus_world *world;
  talus_material m;
  talus_shape ball, brick;
  talus_body floor;
} bed;

static bed make_bed(int threads) {
  talus_world_def def = rig_def(DT);
  def.solve.iterations = 200;
  def.solve.tolerance = 1e-6;
  def.threads = threads;
  def.sleep = (talus_sleep_def){SPEED, TIME};
  bed b = {.world = rig_world(&def)};
  b.m = rig_material(b.world, 0.5, 0);
  b.ball = rig_shape(b.world, TALUS_SPHERE, 0.1, 0, 0, 0);
  b.brick = rig_shape(b.world, TALUS_BOX, 0.4, 0.4, 0.1, 0);
  b.floor = rig_floor(b.world, b.m);
  return b;
}

static talus_body put(const bed *b, talus_shape shape, double x, double z) {
  return rig_body(b->world, TALUS_FREE, shape, b->m, x, 0, z);
}

static bool sleeps(const bed *b, talus_body body) { return rig_info(b->world, body).asleep; }

static void step(const bed *b, int n) { CHECK_OK(talus_world_step(b->world, (uint64_t)n)); }

/* Two separate stacks of a brick with balls on it, at x = 0 (three bodies) and x = 3 (two). */
typedef struct stacks {
  bed b;
  talus_body near[3], far[2];
} stacks;

static stacks make_stacks(int threads) {
  stacks s = {.b = make_bed(threads)};
  s.near[0] = put(&s.b, s.b.brick, 0, 0.05);
  s.near[1] = put(&s.b, s.b.ball, 0, 0.2);
  s.near[2] = put(&s.b, s.b.ball, 0, 0.4);
  s.far[0] = put(&s.b, s.b.brick, 3, 0.05);
  s.far[1] = put(&s.b, s.b.ball, 3, 0.2);
  return s;
}

static int count_near(const stacks *s) {
  return sleeps(&s->b, s->near[0]) + sleeps(&s->b, s->near[1]) + sleeps(&s->b, s->near[2]);
}
static int count_far(const stacks *s) {
  return sleeps(&s->b, s->far[0]) + sleeps(&s->b, s->far[1]);
}

static stacks make_sleeping(int threads) {
  stacks s = make_stacks(threads);
  step(&s.b, STEPS + 20);
  CHECK(count_near(&s) == 3 && count_far(&s) == 2);
  return s;
}

/* ---- falling asleep -------------------------------------------------------------------------- */

TEST(resting_stack_falls_asleep_after_its_time_and_all_at_once) {
  stacks s = make_stacks(1);
  int step_of = 0;
  while (count_near(&s) == 0 && step_of < 200)
    step(&s.b, 1), step_of++;
  CHECK_MSG(step_of > STEPS && step_of <= STEPS + 10, "fell asleep in step %d", step_of);
  CHECK(count_near(&s) == 3);
  CHECK(rig_report(s.b.world).asleep == (size_t)(3 + count_far(&s)));
  talus_world_destroy(s.b.world);
}

TEST(sleeping_state_is_frozen_to_the_bit) {
  stacks s = make_sleeping(1);
  const uint64_t hash = talus_world_hash(s.b.world);
  const double potential = rig_report(s.b.world).potential_energy;
  size_t count;
  CHECK_OK(talus_world_contacts(s.b.world, NULL, 0, &count));
  step(&s.b, 500);
  CHECK(talus_world_hash(s.b.world) == hash);
  const talus_report report = rig_report(s.b.world);
  CHECK(report.kinetic_energy == 0 && report.momentum[2] == 0 && report.angular_momentum[0] == 0);
  CHECK(report.potential_energy == potential && report.iterations == 0 && report.asleep == 5);
  CHECK(report.contacts_near == count && count > 6);
  talus_world_destroy(s.b.world);
}

TEST(contacts_of_sleepers_stay_with_their_impulses) {
  stacks s = make_sleeping(1);
  step(&s.b, 100);
  double weight = 0;
  for (int i = 0; i < 3; ++i)
    weight += G * DT * (double)rig_info(s.b.world, s.near[i]).mass;
  for (int i = 0; i < 2; ++i)
    weight += G * DT * (double)rig_info(s.b.world, s.far[i]).mass;
  CHECK_NEAR(rig_impulse_z(s.b.world, s.b.floor), -weight, 1e-2 * weight);
  talus_world_destroy(s.b.world);
}

TEST(probe_feels_the_weight_of_sleepers) {
  stacks s = make_stacks(1);
  talus_probe_def def = {.name = "floor", .on_body = true, .body = s.b.floor};
  def.record = TALUS_RECORD_FORCE;
  uint32_t probe;
  talus_probe_values values;
  CHECK_OK(talus_world_add_probe(s.b.world, &def, &probe));
  step(&s.b, STEPS + 20);
  CHECK_OK(talus_probe_read(s.b.world, probe, &values));
  step(&s.b, 100);
  CHECK_OK(talus_probe_read(s.b.world, probe, &values));
  double weight = 0;
  for (int i = 0; i < 3; ++i)
    weight += G * (double)rig_info(s.b.world, s.near[i]).mass;
  for (int i = 0; i < 2; ++i)
    weight += G * (double)rig_info(s.b.world, s.far[i]).mass;
  CHECK_NEAR(values.force[2], -weight, 1e-2 * weight);
  talus_world_destroy(s.b.world);
}

TEST(spinning_flying_and_floating_bodies_do_not_sleep) {
  bed b = make_bed(1);
  const talus_body spinning = put(&b, b.ball, 0, 0.1), flying = put(&b, b.ball, 2, 100);
  CHECK_OK(talus_body_set_velocity(b.world, spinning, rig_vec(0, 0, 0), rig_vec(0, 0, 1)));
  step(&b, 3 * STEPS);
  CHECK(!sleeps(&b, spinning) && !sleeps(&b, flying));
  talus_world_destroy(b.world);
  b = make_bed(1);
  CHECK_OK(talus_world_set_gravity(b.world, rig_vec(0, 0, 0)));
  const talus_body floating = put(&b, b.ball, 0, 5);
  step(&b, 3 * STEPS);
  CHECK(!sleeps(&b, floating)); /* slow, but held by nothing */
  talus_world_destroy(b.world);
}

TEST(nobody_sleeps_unless_asked_to) {
  talus_world_def def = rig_def(DT);
  CHECK(def.sleep.speed == 0);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 0.1);
  CHECK_OK(talus_world_step(world, 600));
  CHECK(rig_report(world).asleep == 0 && !world->state.sleep_flags);
  talus_world_destroy(world);
}

static talus_body put_table(const bed *b, talus_vec3 velocity, double frequency) {
  talus_body_def def = talus_body_def_default();
  def.kind = TALUS_KINEMATIC;
  def.shape = rig_shape(b->world, TALUS_PLANE, 0, 0, 1, 0);
  def.material = b->m;
  def.position = (talus_dvec3){0, 0, 1};
  def.motion.velocity = velocity;
  def.motion.amplitude = rig_vec(frequency > 0 ? 1e-9 : 0, 0, 0);
  def.motion.frequency = frequency;
  talus_body body;
  CHECK_OK(talus_world_add_body(b->world, &def, &body));
  return body;
}

TEST(kinematic_body_carries_sleepers_only_if_it_never_moves) {
  const double frequency[3] = {0, 0, 1}, speed[3] = {0, 1e-4, 0};
  for (int k = 0; k < 3; ++k) {
    bed b = make_bed(1);
    put_table(&b, rig_vec(speed[k], 0, 0), frequency[k]);
    const talus_body ball = put(&b, b.brick, 0, 1.05);
    step(&b, 2 * STEPS);
    CHECK(sleeps(&b, ball) == (k == 0));
    talus_world_destroy(b.world);
  }
}

/* ---- waking: each rule ----------------------------------------------------------------------- */

/* After one step the near stack is awake as a whole, and the far one still sleeps. */
static void check_only_near_wakes(stacks *s) {
  step(&s->b, 1);
  CHECK_MSG(count_near(s) == 0, "%d of the stack sleep", count_near(s));
  CHECK(count_far(s) == 2);
  talus_world_destroy(s->b.world);
}

static void check_all_wake(stacks *s) {
  step(&s->b, 1);
  CHECK(count_near(s) == 0 && count_far(s) == 0);
  talus_world_destroy(s->b.world);
}

TEST(woken_by_the_touch_of_an_awake_body) {
  stacks s = make_sleeping(1);
  const talus_body hitting = put(&s.b, s.b.ball, 0.02, 1.2);
  int steps = 0;
  while (count_near(&s) == 3 && steps < 400) {
    const double gap = rig_info(s.b.world, hitting).position.z - 0.6;
    step(&s.b, 1), steps++;
    if (count_near(&s) < 3)
      CHECK_MSG(gap < 0.02, "woken from a distance of %g m", gap);
  }
  CHECK(steps > 100 && steps < 400);
  CHECK(count_near(&s) == 0 && count_far(&s) == 2);
  talus_world_destroy(s.b.world);
}

TEST(not_woken_by_what_passes_by) {
  stacks s = make_sleeping(1);
  const talus_body ball = put(&s.b, s.b.ball, 0.5, 1.2);
  step(&s.b, 250); /* beside it on the floor by now */
  CHECK_NEAR(rig_info(s.b.world, ball).position.z, 0.1, 1e-3);
  CHECK(count_near(&s) == 3 && count_far(&s) == 2);
  talus_world_destroy(s.b.world);
}

TEST(woken_by_the_user_and_with_it_its_neighbours) {
  stacks s = make_sleeping(1);
  CHECK_OK(talus_body_wake(s.b.world, s.near[2]));
  check_only_near_wakes(&s);
}

TEST(woken_by_a_velocity) {
  stacks s = make_sleeping(1);
  CHECK_OK(talus_body_set_velocity(s.b.world, s.near[2], rig_vec(0, 0.1, 0), rig_vec(0, 0, 0)));
  check_only_near_wakes(&s);
}

TEST(woken_by_a_spin_even_of_zero) {
  stacks s = make_sleeping(1);
  CHECK_OK(talus_body_set_velocity(s.b.world, s.near[0], rig_vec(0, 0, 0), rig_vec(0, 0, 0)));
  check_only_near_wakes(&s);
}

TEST(woken_by_a_force_or_a_torque) {
  for (int k = 0; k < 2; ++k) {
    stacks s = make_sleeping(1);
    CHECK_OK(talus_body_set_force(s.b.world, s.near[1], rig_vec(0, k == 0, 0), rig_vec(0, 0, k)));
    check_only_near_wakes(&s);
  }
}

TEST(woken_by_a_pose) {
  stacks s = make_sleeping(1);
  talus_body_info info = rig_info(s.b.world, s.near[2]);
  info.position.z += 5;
  CHECK_OK(talus_body_set_pose(s.b.world, s.near[2], info.position, info.rotation));
  check_only_near_wakes(&s);
}

TEST(woken_by_a_written_view) {
  for (int k = 0; k < 3; ++k) {
    const talus_field field[3] = {TALUS_FIELD_VELOCITY, TALUS_FIELD_FORCE, TALUS_FIELD_VELOCITY};
    stacks s = make_sleeping(1);
    talus_view view;
    CHECK_OK(talus_view_map(s.b.world, field[k], k == 2 ? TALUS_READ : TALUS_WRITE, &view));
    if (k == 0)
      ((talus_vec3 *)view.data)[1].x = (talus_real)0.1; /* row 0 is the floor */
    CHECK_OK(talus_view_unmap(s.b.world, &view));
    if (k == 0) {
      check_only_near_wakes(&s);
    } else if (k == 1) {
      check_all_wake(&s);
    } else {
      step(&s.b, 1);
      CHECK(count_near(&s) == 3);
      talus_world_destroy(s.b.world);
    }
  }
}

TEST(woken_by_gravity_friction_ignored_groups_and_the_setting) {
  for (int k = 0; k < 4; ++k) {
    stacks s = make_sleeping(1);
    talus_world *world = s.b.world;
    uint32_t group;
    CHECK_OK(talus_world_group(world, "one", &group));
    CHECK_OK(k == 0   ? talus_world_set_gravity(world, rig_vec(0, 0, -1))
             : k == 1 ? talus_world_set_material_pair(world, s.b.m, s.b.m, 0, 0)
             : k == 2 ? talus_world_ignore_groups(world, group, group)
                      : talus_world_set_sleep(world, (talus_sleep_def){SPEED, 1}));
    check_all_wake(&s);
  }
}

TEST(woken_by_the_removal_of_what_it_stands_on) {
  stacks s = make_sleeping(1);
  const talus_body brick = s.near[0];
  CHECK_OK(talus_world_remove_body(s.b.world, brick));
  step(&s.b, 1);
  CHECK(!sleeps(&s.b, s.near[1]) && !sleeps(&s.b, s.near[2]) && count_far(&s) == 2);
  CHECK((double)rig_info(s.b.world, s.near[1]).velocity.z < 0);
  talus_world_destroy(s.b.world);
}

TEST(woken_by_the_removal_of_the_floor) {
  stacks s = make_sleeping(1);
  CHECK_OK(talus_world_remove_body(s.b.world, s.b.floor));
  step(&s.b, 1);
  CHECK(count_near(&s) == 0 && count_far(&s) == 0);
  step(&s.b, 100);
  CHECK(rig_info(s.b.world, s.near[2]).position.z < 0.3);
  talus_world_destroy(s.b.world);
}

TEST(woken_by_a_static_body_placed_or_added_into_it) {
  for (int k = 0; k < 2; ++k) {
    stacks s = make_stacks(1);
    const talus_shape post = rig_shape(s.b.world, TALUS_SPHERE, 0.2, 0, 0, 0);
    talus_body body = {0, 0};
    if (k == 0)
      body = rig_body(s.b.world, TALUS_FIXED, post, s.b.m, 50, 0, 0.4);
    step(&s.b, STEPS + 20);
    CHECK(count_near(&s) == 3 && count_far(&s) == 2);
    if (k == 0)
      CHECK_OK(talus_body_set_pose(s.b.world, body, (talus_dvec3){0.25, 0, 0.4},
                                   (talus_quat){1, 0, 0, 0}));
    else
      rig_body(s.b.world, TALUS_FIXED, post, s.b.m, 0.25, 0, 0.4);
    check_only_near_wakes(&s);
  }
}

TEST(woken_by_a_floor_that_is_lowered) {
  stacks s = make_sleeping(1);
  CHECK_OK(talus_body_set_pose(s.b.world, s.b.floor, (talus_dvec3){0, 0, -0.5},
                               (talus_quat){1, 0, 0, 0}));
  check_all_wake(&s);
}

TEST(woken_by_a_kinematic_body_that_comes) {
  stacks s = make_stacks(1);
  talus_body_def def = talus_body_def_default();
  def.kind = TALUS_KINEMATIC;
  def.shape = s.b.ball, def.material = s.b.m;
  def.position = (talus_dvec3){-0.6, 0, 0.4};
  def.motion.velocity = rig_vec(1, 0, 0); /* is there after 0.4 s */
  CHECK_OK(talus_world_add_body(s.b.world, &def, NULL));
  step(&s.b, 190);
  CHECK(count_near(&s) == 3);
  step(&s.b, 12);
  CHECK(count_near(&s) == 0 && count_far(&s) == 2);
  talus_world_destroy(s.b.world);
}

/* A row of balls that touch, in a groove: the last one is pushed, and the first wakes. */
TEST(chain_wakes_from_one_end_to_the_other) {
  bed b = make_bed(1);
  talus_body chain[30];
  for (int i = 0; i < 30; ++i)
    chain[i] = put(&b, b.ball, 0.2 * i, 0.1);
  step(&b, STEPS + 30);
  CHECK(rig_report(b.world).asleep == 30);
  CHECK_OK(talus_body_set_velocity(b.world, chain[29], rig_vec(-1, 0, 0), rig_vec(0, 0, 0)));
  step(&b, 1);
  CHECK(rig_report(b.world).asleep == 0 && !sleeps(&b, chain[0]));
  talus_world_destroy(b.world);
}

TEST(woken_stack_falls_asleep_again) {
  stacks s = make_sleeping(1);
  CHECK_OK(talus_body_wake(s.b.world, s.near[1]));
  step(&s.b, STEPS - 2);
  CHECK(count_near(&s) == 0);
  step(&s.b, 20);
  CHECK(count_near(&s) == 3);
  talus_world_destroy(s.b.world);
}

/* ---- waking changes nothing but time --------------------------------------------------------- */

/* A heap in a box, asleep, and a ball on its way to it. */
typedef struct heap {
  bed b;
  talus_body ball;
} heap;

static heap make_heap(int threads, bool sleep) {
  heap h = {.b = make_bed(threads)};
  talus_world *world = h.b.world;
  if (!sleep)
    CHECK_OK(talus_world_set_sleep(world, (talus_sleep_def){0, TIME}));
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 0.85, 0.85, 8, 0), h.b.m, 0, 0, 4);
  /* They may not turn: nothing would ever stop a ball that spins where it lies. */
  for (int i = 0; i < 40; ++i) {
    tl_random random = tl_random_start(3, 1, (uint64_t)i);
    talus_body_def def = talus_body_def_default();
    def.shape = h.b.ball, def.material = h.b.m;
    def.lock = TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
    def.position.x = -0.3 + 0.2 * (i % 4) + 0.01 * tl_random_unit(&random);
    def.position.y = -0.3 + 0.2 * (i / 4 % 4) + 0.01 * tl_random_unit(&random);
    def.position.z = 0.1 + 0.17 * (i / 16);
    CHECK_OK(talus_world_add_body(world, &def, NULL));
  }
  step(&h.b, 700);
  if (sleep)
    CHECK_MSG(rig_report(world).asleep == 40, "%zu of 40 sleep", rig_report(world).asleep);
  h.ball = put(&h.b, h.b.ball, 0.03, 1.6);
  return h;
}

/* One heap is woken by the ball; of an equal one the same bodies are awake before that step, by
 * hand: the same bits from then on. */
TEST(being_woken_by_a_touch_gives_the_bits_of_never_having_slept_since) {
  heap first = make_heap(1, true);
  int hit = 0;
  while (rig_report(first.b.world).asleep == 40 && hit < 500)
    step(&first.b, 1), hit++;
  CHECK(hit > 50 && hit < 500);
  heap second = make_heap(1, true);
  step(&second.b, hit - 1);
  CHECK(rig_report(second.b.world).asleep == 40);
  for (size_t i = 0; i < first.b.world->model.bodies; ++i) {
    talus_body body;
    CHECK_OK(talus_world_body_at(second.b.world, i, &body));
    if (!tl_is_asleep(&first.b.world->state, i))
      CHECK_OK(talus_body_wake(second.b.world, body));
  }
  step(&second.b, 1);
  for (int i = 0; i < 200; ++i) {
    CHECK(rig_report(first.b.world).asleep == rig_report(second.b.world).asleep);
    CHECK_MSG(talus_world_hash(first.b.world) == talus_world_hash(second.b.world),
              "%d steps after the hit", i);
    step(&first.b, 1);
    step(&second.b, 1);
  }
  talus_world_destroy(first.b.world);
  talus_world_destroy(second.b.world);
}

/* The ball flies to the bit as if nobody slept, and the heap is in the end where it would have
 * been: what creeps while it should rest is all that sleep takes away. */
TEST(sleep_changes_the_outcome_by_no_more_than_what_creeps) {
  heap with = make_heap(1, true), without = make_heap(1, false);
  bool touched = false;
  for (int i = 0; i < 500 && !touched; ++i) {
    const talus_dvec3 x = rig_info(with.b.world, with.ball).position;
    const talus_dvec3 y = rig_info(without.b.world, without.ball).position;
    CHECK(memcmp(&x, &y, sizeof x) == 0);
    step(&with.b, 1);
    step(&without.b, 1);
    touched = rig_report(with.b.world).asleep < 40;
  }
  CHECK(touched);
  step(&with.b, 10);
  step(&without.b, 10);
  for (size_t i = 0; i < with.b.world->model.bodies; ++i) {
    const double off =
        tl_dlength(tl_dsub(with.b.world->state.position[i], without.b.world->state.position[i]));
    CHECK_MSG(off < 2e-3, "body %zu is off by %g m", i, off);
  }
  talus_world_destroy(with.b.world);
  talus_world_destroy(without.b.world);
}

TEST(sleep_has_the_same_bits_for_any_number_of_threads) {
  uint64_t hash[3][4];
  for (int t = 0; t < 3; ++t) {
    heap h = make_heap(1 << t, true);
    for (int k = 0; k < 4; ++k) {
      hash[t][k] = talus_world_hash(h.b.world);
      step(&h.b, 120);
    }
    talus_world_destroy(h.b.world);
  }
  CHECK(memcmp(hash[0], hash[1], sizeof hash[0]) == 0);
  CHECK(memcmp(hash[0], hash[2], sizeof hash[0]) == 0);
}

TEST(going_on_from_a_file_in_the_middle_of_sleep_changes_no_bit) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  char path[64];
  snprintf(path, sizeof path, "sleep-%d.hdf", (int)getpid());
  heap h = make_heap(1, true);
  step(&h.b, 20);
  CHECK(rig_report(h.b.world).asleep == 40);
  CHECK_OK(talus_world_save(h.b.world, path));
  talus_world *loaded;
  CHECK_OK(talus_world_load(path, &loaded));
  CHECK(remove(path) == 0);
  CHECK(rig_report(loaded).asleep == 40);
  bool woke = false;
  for (int i = 0; i < 300; ++i) {
    CHECK(talus_world_hash(loaded) == talus_world_hash(h.b.world));
    CHECK(rig_report(loaded).asleep == rig_report(h.b.world).asleep);
    woke |= rig_report(loaded).asleep < 40;
    CHECK_OK(talus_world_step(loaded, 1));
    step(&h.b, 1);
  }
  CHECK(woke);
  talus_world_destroy(loaded);
  talus_world_destroy(h.b.world);
}

TEST(sleeping_and_waking_allocate_nothing_once_warm) {
  stacks s = make_sleeping(1);
  for (int round = 0; round < 2; ++round) {
    const uint64_t before = tl_memory_count().allocations;
    for (int k = 0; k < 2; ++k) {
      CHECK_OK(talus_body_wake(s.b.world, s.near[0]));
      step(&s.b, STEPS + 20);
      CHECK(count_near(&s) == 3);
    }
    CHECK(round == 0 || tl_memory_count().allocations == before);
  }
  talus_world_destroy(s.b.world);
}

/* The set stays in canonical order however sleepers and others are interleaved. */
TEST(contact_set_stays_in_order_beside_sleepers) {
  bed b = make_bed(1);
  talus_body still[6], rolling[6];
  for (int i = 0; i < 6; ++i) {
    still[i] = put(&b, b.brick, 2 * i, 0.05);
    rolling[i] = put(&b, b.ball, 2 * i + 1, 0.1);
    CHECK_OK(talus_body_set_velocity(b.world, rolling[i], rig_vec(0, 1, 0), rig_vec(-10, 0, 0)));
  }
  step(&b, STEPS + 10);
  for (int i = 0; i < 6; ++i)
    CHECK(sleeps(&b, still[i]) && !sleeps(&b, rolling[i]));
  CHECK(rig_report(b.world).contacts_near == 6 * 5);
  CHECK_OK(tl_world_validate(b.world)); /* looks at the order, too */
  for (int i = 0; i < 6; ++i)
    CHECK_NEAR(rig_impulse_z(b.world, still[i]), G * DT * (double)rig_info(b.world, still[i]).mass,
               1e-3 * G * DT * (double)rig_info(b.world, still[i]).mass);
  talus_world_destroy(b.world);
}

TEST(failed_step_leaves_nobody_half_asleep) {
  bed b = make_bed(1);
  const talus_body still = put(&b, b.brick, 0, 0.05), wild = put(&b, b.ball, 5, 50);
  for (int i = 0; i < 2 * STEPS && !sleeps(&b, still); ++i) {
    CHECK_OK(talus_body_set_force(b.world, wild, rig_vec(0, 0, 0), rig_vec(0, 0, 0)));
    const double slow_for = b.world->time - b.world->state.slow_since[1];
    if (b.world->state.sleep_flags[1] == TL_SLEEP_SLOW &&
        slow_for > (STEPS - 0.5) * DT) { /* falls asleep in the step to come */
      CHECK_OK(talus_body_set_force(b.world, wild, rig_vec(BY_PRECISION(1e300, 1e37), 0, 0),
                                    rig_vec(0, 0, 0)));
      CHECK(talus_world_step(b.world, 1) == TALUS_ERROR_DIVERGED);
      CHECK(!sleeps(&b, still) && b.world->state.sleep_flags[1] == TL_SLEEP_SLOW);
      CHECK(b.world->time - b.world->state.slow_since[1] == slow_for);
      CHECK_OK(talus_body_set_force(b.world, wild, rig_vec(0, 0, 0), rig_vec(0, 0, 0)));
    }
    step(&b, 1);
  }
  CHECK(sleeps(&b, still));
  talus_world_destroy(b.world);
}

TEST(settings_out_of_range_are_refused) {
  talus_world_def def = rig_def(DT);
  talus_world *world;
  def.sleep.speed = -1;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "sleep.speed"));
  def.sleep = (talus_sleep_def){1, NAN};
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "sleep.time"));
}

TEST(sleepers_of_a_world_in_which_nobody_sleeps_are_refused) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.sleep.speed = 0;
  CHECK_OK(talus_world_create(&def, &world));
  rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 1, 1, 1, 0), rig_material(world, 0.5, 0),
           0, 0, 0);
  CHECK_OK(tl_world_validate(world));
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (tl_state_fields[i].offset == offsetof(tl_state, sleep_flags) ||
        tl_state_fields[i].offset == offsetof(tl_state, slow_since))
      CHECK_OK(tl_field_wake(&world->state, &tl_state_fields[i], world->capacity));
  CHECK_OK(tl_world_validate(world));
  world->state.sleep_flags[0] = TL_SLEEP_ASLEEP;
  CHECK(tl_world_validate(world) != TALUS_OK);
  talus_world_destroy(world);
}

TEST_MAIN()
