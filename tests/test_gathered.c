/* Crowds of some bodies that joints hold to others: a step of them is the step of a world of those
 * bodies alone. And sleep, which goes by the time of the crowd. */
#include "physics/rig.h"
#include "step/gathered.h"
#include "world/world.h"

enum { OUTSIDERS = 3 };

typedef struct yard {
  talus_world *world;
  talus_body outsider[OUTSIDERS];
} yard;

static void join(talus_world *world, talus_joint_kind kind, talus_body a, talus_body b, double x,
                 double z) {
  talus_joint_def def = talus_joint_def_default();
  def.kind = kind;
  def.a = a, def.b = b;
  def.at = def.to = (talus_dvec3){x, 0, z};
  def.axis = rig_vec(0, 1, 0);
  if (kind == TALUS_JOINT_DISTANCE)
    def.at.x -= 0.3;
  CHECK_OK(talus_world_add_joint(world, &def, NULL));
}

/* A rotor on a hinge, balls that fly past it or lie on the floor, and a pendulum; each is also held
 * to an outsider. The first outsider has the lowest slot, so that members are not what their slots
 * are. */
static yard make_yard(talus_solve_kind kind, talus_joints_solver joints) {
  talus_world_def def = talus_world_def_default();
  def.dt = 2e-3;
  def.threads = 1;
  def.solve.kind = kind;
  def.solve.joints = joints;
  yard y = {.world = rig_world(&def)};
  const talus_material m = rig_material(y.world, 0.4, 0.2);
  const talus_shape box = rig_shape(y.world, TALUS_BOX, 0.3, 0.1, 0.1, 0);
  const talus_shape ball = rig_shape(y.world, TALUS_SPHERE, 0.1, 0, 0, 0);
  const talus_body none = {0};
  y.outsider[0] = rig_body(y.world, TALUS_FREE, box, m, -0.5, 0, 3);
  rig_floor(y.world, m);
  const talus_body rotor = rig_body(y.world, TALUS_FREE, box, m, 0, 0, 3);
  CHECK_OK(talus_body_set_velocity(y.world, rotor, rig_vec(0, 0, 0), rig_vec(0, 50, 0)));
  const talus_body bullet = rig_body(y.world, TALUS_FREE, ball, m, 5, 5, 3);
  CHECK_OK(talus_body_set_velocity(y.world, bullet, rig_vec(300, 0, 0), rig_vec(0, 0, 0)));
  y.outsider[1] = rig_body(y.world, TALUS_FREE, ball, m, 0, 0, 1.5);
  const talus_body bob = rig_body(y.world, TALUS_FREE, ball, m, 0.3, 0, 1.5);
  for (int i = 0; i < 4; ++i)
    rig_body(y.world, TALUS_FREE, ball, m, 2 + 0.15 * i, 0.04 * i, 0.099);
  y.outsider[2] = rig_body(y.world, TALUS_FREE, ball, m, 2.3, 0.3, 0.15);
  join(y.world, TALUS_JOINT_REVOLUTE, none, rotor, 0, 3);
  join(y.world, TALUS_JOINT_SPHERICAL, y.outsider[0], rotor, -0.25, 3);
  join(y.world, TALUS_JOINT_DISTANCE, none, bob, 0.3, 1.5);
  join(y.world, TALUS_JOINT_DISTANCE, y.outsider[1], bob, 0.3, 1.5);
  join(y.world, TALUS_JOINT_FIXED, bullet, y.outsider[2], 5, 3);
  return y;
}

static size_t list_members(const yard *y, uint32_t members[16]) {
  size_t count = 0;
  for (uint32_t i = 0; i < y->world->model.bodies; ++i) {
    const uint64_t uid = y->world->model.property.uid[i];
    bool is_out = false;
    for (int k = 0; k < OUTSIDERS; ++k)
      is_out |= rig_info(y->world, y->outsider[k]).uid == uid;
    if (!is_out)
      members[count++] = i;
  }
  return count;
}

static void check_as_world_of_members(talus_solve_kind kind, talus_joints_solver joints) {
  yard all = make_yard(kind, joints), some = make_yard(kind, joints);
  uint32_t members[16];
  const size_t count = list_members(&all, members);
  for (int k = 0; k < OUTSIDERS; ++k)
    CHECK_OK(talus_world_remove_body(some.world, some.outsider[k]));
  talus_world *world = all.world, *apart = some.world;
  CHECK_EQ_U64(apart->model.bodies, count);
  const tl_gathered_source source = {&world->model, &world->state, &world->contacts, &world->joints,
                                     &world->penalty};
  const double dt = world->model.dt;
  tl_gathered crowd = {0};
  CHECK_OK(tl_gather(&crowd, &source, members, count));
  CHECK_EQ_U64(crowd.joints.all.count, apart->joints.all.count);
  for (int i = 0; i < 3; ++i) {
    tl_step_report report;
    CHECK_OK(tl_gathered_step(&crowd, &tl_backend_cpu, i * dt, (i + 1) * dt, dt, &report));
    tl_gathered_swap(&crowd);
    CHECK_OK(talus_world_step(apart, 1));
    CHECK_EQ_U64(crowd.contacts_before.count, apart->contacts.count);
    CHECK(memcmp(crowd.before.position, apart->state.position, count * sizeof(talus_dvec3)) == 0);
    CHECK(memcmp(crowd.before.spin, apart->state.spin, count * sizeof(talus_vec3)) == 0);
  }
  CHECK(crowd.contacts_before.count > 3);
  tl_gathered_free(&crowd);
  talus_world_destroy(world);
  talus_world_destroy(apart);
}

TEST(joints_to_outsiders_do_not_count_in_sweeps) {
  check_as_world_of_members(TALUS_SOLVE_CCP, TALUS_JOINTS_ITERATIVE);
}
TEST(joints_to_outsiders_do_not_count_in_direct_solves) {
  check_as_world_of_members(TALUS_SOLVE_CCP, TALUS_JOINTS_DIRECT);
}
TEST(joints_to_outsiders_do_not_count_among_impulses) {
  check_as_world_of_members(TALUS_SOLVE_IMPULSE, TALUS_JOINTS_ITERATIVE);
}

/* Steps of any length: a body falls asleep when it has been slow for sleep.time, not for as many
 * steps as the model's dt would need. */
static double falls_asleep_at(const double *dt, int n) {
  talus_world_def def = talus_world_def_default();
  def.dt = 2e-3;
  def.sleep = (talus_sleep_def){.speed = 0.05, .time = 0.02};
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 0.1);
  double t = 1; /* of a clock that does not begin with the body */
  for (int i = 0; i < 200 && !rig_info(world, ball).asleep; ++i) {
    const tl_crowd crowd = {.model = &world->model,
                            .count = world->model.bodies,
                            .t0 = t,
                            .t1 = t + dt[i % n],
                            .dt = dt[i % n],
                            .in = &world->state,
                            .out = &world->state,
                            .contacts_before = &world->contacts,
                            .contacts_after = &world->next,
                            .sleeps = true,
                            .arena = &world->arena};
    tl_step_report report;
    CHECK_OK(tl_arena_reset(&world->arena));
    CHECK_OK(tl_step_fixed(&tl_backend_cpu, &crowd, &report));
    tl_contacts_swap(&world->contacts, &world->next);
    t = crowd.t1;
  }
  CHECK(rig_info(world, ball).asleep);
  talus_world_destroy(world);
  return t - 1;
}

TEST(sleep_counts_time_not_steps) {
  const double usual[] = {2e-3}, half[] = {1e-3}, mixed[] = {1e-3, 0.5e-3, 3e-3};
  CHECK_NEAR(falls_asleep_at(usual, 1), 0.022, 1e-9); /* in the step after that time */
  CHECK_NEAR(falls_asleep_at(half, 1), 0.021, 1e-9);
  const double t = falls_asleep_at(mixed, 3);
  CHECK_MSG(t > 0.02 && t < 0.0265, "%g s", t);
}

TEST_MAIN()
