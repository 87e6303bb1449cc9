/* Joints at their limits: locks beside them, steps that are too long, warm start, divergence. */
#include "joint_rig.h"

/* ---- locks ----------------------------------------------------------------------------------- */

static talus_body add_locked(rig *r, double x, double z, double lx, double lz, uint32_t lock) {
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_BOX;
  shape.size[0] = lx, shape.size[1] = 0.1, shape.size[2] = lz;
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(r->world, &shape, &body.shape));
  body.material = r->material;
  body.position = (talus_dvec3){x, 0, z};
  body.mass = 1;
  body.lock = lock;
  talus_body made;
  CHECK_OK(talus_world_add_body(r->world, &body, &made));
  return made;
}

#define PLANAR (TALUS_LOCK_Y | TALUS_LOCK_RX | TALUS_LOCK_RZ)

/* What moves in a plane anyway moves the same where locks hold it there, too: hinges and locks say
 * the same thing thrice. */
TEST(locks_beside_joints_change_nothing_that_joints_hold_anyway) {
  for (int method = 0; method < 4; ++method)
    for (int joints = TALUS_JOINTS_DIRECT; joints <= TALUS_JOINTS_ITERATIVE; ++joints) {
      if (method == TALUS_JACOBI && joints == TALUS_JOINTS_ITERATIVE)
        continue; /* converges, in more iterations than a test has */
      talus_dvec3 end[2];
      for (int locked = 0; locked < 2; ++locked) {
        rig r = make(1e-3, 9.81);
        r.world->model.solve.method = (talus_ccp_method)method;
        r.world->model.solve.joints = (talus_joints_solver)joints;
        r.world->model.solve.tolerance = BY_PRECISION(1e-10, 1e-6);
        const uint32_t lock = locked ? PLANAR : 0;
        const talus_body one = add_locked(&r, 0.3, 0, 0.6, 0.1, lock);
        const talus_body two = add_locked(&r, 0.9, 0, 0.6, 0.1, lock);
        hinge(&r, ground, one, 0, 0, 0);
        hinge(&r, one, two, 0.6, 0, 0);
        CHECK_OK(talus_world_step(r.world, 300));
        CHECK_MSG(report_of(&r).joint_drift < BY_PRECISION(1e-8, 1e-4), "drift %g",
                  report_of(&r).joint_drift);
        end[locked] = body_of(&r, two).position;
        CHECK(fabs(end[locked].y) < BY_PRECISION(1e-12, 1e-5));
        talus_world_destroy(r.world);
      }
      CHECK_MSG(tl_dlength(tl_dsub(end[0], end[1])) < BY_PRECISION(1e-5, 5e-3),
                "method %d, joints %d: locks move it by %g m", method, joints,
                tl_dlength(tl_dsub(end[0], end[1])));
    }
}

/* A heavy crate hangs by a rope, and by a limit, from a light hook that is locked: the hook answers
 * to nothing, the crate does. */
TEST(heavy_body_hangs_from_a_light_one_that_is_locked) {
  for (int limited = 0; limited < 2; ++limited) {
    rig r = make(1e-3, 9.81);
    const talus_body hook = add_locked(&r, 0, 0, 0.1, 0.1, PLANAR | TALUS_LOCK_X | TALUS_LOCK_Z);
    const talus_body crate = add_box(&r, 0, 0, -2, 1, 1, 1, 20000);
    talus_joint_def def = joint_of(limited ? TALUS_JOINT_PRISMATIC : TALUS_JOINT_DISTANCE, hook,
                                   crate, 0, 0, 0, 0, 0, 1);
    if (limited) {
      def.low = -1e-3, def.high = 1;
    } else {
      def.to.z = -1.5;
      def.rope = true;
      def.length = 1.5;
    }
    add_joint(&r, &def);
    CHECK_OK(talus_world_step(r.world, 300));
    const double z = body_of(&r, crate).position.z;
    CHECK_MSG(fabs(z + 2) < 2e-3, "%s: the crate is at %g m, %g m below where it hung",
              limited ? "limit" : "rope", z, -2 - z);
    talus_world_destroy(r.world);
  }
}

/* A lock that holds what a joint would move wins: the joint's load on it stays finite. */
TEST(lock_against_a_joint_stays_and_nothing_runs_away) {
  rig r = make(1e-3, 9.81);
  const uint32_t all_turns = TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
  const talus_body slider = add_locked(&r, 0, 0, 0.2, 0.2, TALUS_LOCK_X | all_turns);
  const talus_body wheel = add_locked(&r, 2, 0, 0.2, 0.2, all_turns);
  const talus_body bob = add_locked(&r, 5, 0, 0.2, 0.2, PLANAR | TALUS_LOCK_RY);
  talus_joint_def def = joint_of(TALUS_JOINT_PRISMATIC, ground, slider, 0, 0, 0, 1, 0, 0);
  def.motor = TALUS_MOTOR_SPEED, def.motor_target = 1;
  add_joint(&r, &def);
  def = joint_of(TALUS_JOINT_REVOLUTE, ground, wheel, 2, 0, 0, 0, 1, 0);
  def.motor = TALUS_MOTOR_SPEED, def.motor_target = 5, def.motor_max = 10;
  add_joint(&r, &def);
  def = joint_of(TALUS_JOINT_SPHERICAL, ground, bob, 4.5, 0, 0, 0, 0, 1); /* cannot swing */
  const talus_joint arm = add_joint(&r, &def);
  CHECK_OK(talus_world_step(r.world, 1000));
  CHECK(body_of(&r, slider).position.x == 0);
  CHECK_NEAR((double)body_of(&r, wheel).spin.y, 0, 1e-12);
  CHECK_NEAR(body_of(&r, bob).position.z, 0, BY_PRECISION(1e-6, 1e-3));
  CHECK_NEAR((double)info_of(&r, arm).force.z, 9.81, BY_PRECISION(1e-4, 0.05));
  CHECK(report_of(&r).joint_drift < BY_PRECISION(1e-6, 1e-3));
  talus_world_destroy(r.world);
}

/* ---- steps that are too long ----------------------------------------------------------------- */

static char told[4096];

static void tell(void *context, tl_log_level level, const char *text) {
  (void)context, (void)level;
  const size_t used = strlen(told);
  snprintf(told + used, sizeof told - used, "%s\n", text);
}

TEST(motor_too_fast_for_the_step_is_refused) {
  rig r = make(1e-3, 0);
  const talus_body wheel = add_box(&r, 0, 0, 0, 0.2, 0.1, 0.2, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, ground, wheel, 0, 0, 0, 0, 1, 0);
  def.name = "axle", def.motor = TALUS_MOTOR_SPEED, def.motor_target = -5000;
  refuse(&r, &def, "joint 'axle': its motor turns at -5000 rad/s, 5 rad in a step of 0.001 s");
  refuse(&r, &def, "take a dt below 0.0002 s");
  def.motor_target = 1000; /* 1 rad: just so */
  const talus_joint joint = add_joint(&r, &def);
  CHECK_OK(talus_world_step(r.world, 100));
  CHECK_NEAR(info_of(&r, joint).value, 100, BY_PRECISION(1e-6, 0.05));
  CHECK(talus_joint_set_motor(r.world, joint, 1400, 0) == TALUS_ERROR_INVALID);
  CHECK_OK(talus_world_step(r.world, 1)); /* at the old speed */
  CHECK_NEAR(info_of(&r, joint).value, 101, BY_PRECISION(1e-6, 0.05));
  talus_world_destroy(r.world);
}

/* A motor with a cap may aim high; when it gets there the run ends, with the state before. Of a
 * flat wheel the axis cannot be held long before the angle is ambiguous; of a cube it can. */
static void speed_up(double thickness, double fastest, const char *why) {
  rig r = make(1e-3, 0);
  const talus_body wheel = add_box(&r, 0, 0, 0, 0.2, thickness, 0.2, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, ground, wheel, 0, 0, 0, 0, 1, 0);
  def.name = "axle", def.motor = TALUS_MOTOR_SPEED, def.motor_target = 5000, def.motor_max = 1000;
  const talus_joint joint = add_joint(&r, &def);
  talus_status status = TALUS_OK;
  double last = 0;
  int steps = 0;
  for (; status == TALUS_OK && steps < 100; ++steps) {
    last = info_of(&r, joint).value;
    status = talus_world_step(r.world, 1);
    CHECK(status != TALUS_OK || info_of(&r, joint).value > last);
  }
  CHECK(status == TALUS_ERROR_DIVERGED && steps > 10);
  CHECK_MSG(strstr(talus_last_error(), why) && strstr(talus_last_error(), "take a dt below 0.00"),
            "%s", talus_last_error());
  CHECK(info_of(&r, joint).value == last);
  const talus_vec3 spin = body_of(&r, wheel).spin;
  CHECK_MSG(fabs((double)spin.y - fastest) < 0.15 * fastest, "ended at %g rad/s", (double)spin.y);
  CHECK_MSG(fabs((double)spin.x) + fabs((double)spin.z) < BY_PRECISION(1, 0.3 * fastest),
            "across: %g, %g rad/s", (double)spin.x, (double)spin.z);
  talus_world_destroy(r.world);
}

TEST(turning_too_fast_for_the_step_ends_the_run) {
  speed_up(0.1, 1650, "joint 'axle': its axis, which is held, would turn by ");
  speed_up(0.5, 3000, "joint 'axle' turns by 3.");
}

/* Two weights that whirl about each other on a rod: the ends pass each other by `way` of its
 * length within a step. */
static talus_status whirl(double way, bool *warned) {
  rig r = make(1e-3, 0);
  const double length = 0.01;
  const talus_body one = add_box(&r, 0, 0, 0, 0.1, 0.1, 0.1, 1);
  const talus_body two = add_box(&r, length, 0, 0, 0.1, 0.1, 0.1, 1);
  r.world->model.log = (tl_log){tell, NULL, TL_LOG_WARN};
  talus_joint_def def = joint_of(TALUS_JOINT_DISTANCE, one, two, 0, 0, 0, 0, 0, 0);
  def.to.x = length, def.name = "rod";
  add_joint(&r, &def);
  const talus_real speed = (talus_real)(0.5 * way * length / 1e-3);
  CHECK_OK(talus_body_set_velocity(r.world, one, (talus_vec3){0, -speed, 0}, (talus_vec3){0}));
  CHECK_OK(talus_body_set_velocity(r.world, two, (talus_vec3){0, speed, 0}, (talus_vec3){0}));
  told[0] = 0;
  const talus_status status = talus_world_step(r.world, 20);
  *warned = strstr(told, "joint 'rod': at t = ") != NULL;
  CHECK(!*warned || strstr(strstr(told, "(said once)") + 1, "(said once)") == NULL);
  talus_world_destroy(r.world);
  return status;
}

TEST(rod_shorter_than_the_way_of_a_step_is_refused) {
  bool warned;
  CHECK(whirl(0.3, &warned) == TALUS_OK && !warned);
  CHECK(whirl(0.7, &warned) == TALUS_OK && warned);
  CHECK(whirl(10, &warned) == TALUS_ERROR_DIVERGED);
  CHECK_MSG(strstr(talus_last_error(), "joint 'rod': its ends pass each other by 0.1 m within a "
                                       "step, but it is only 0.01 m long; take a dt below 5e-05 s"),
            "%s", talus_last_error());
}

/* A joint that is not held, because the solver is given one sweep: said once, by name. */
TEST(drift_is_told_once) {
  rig r = make(5e-3, 9.81);
  r.world->model.solve.iterations = r.world->model.solve.iterations_max = 1;
  r.world->model.solve.joints = TALUS_JOINTS_ITERATIVE;
  r.world->model.log = (tl_log){tell, NULL, TL_LOG_WARN};
  talus_body last = ground;
  for (int i = 0; i < 20; ++i) {
    const talus_body brick = add_box(&r, 0.1 + 0.2 * i, 0, 0, 0.2, 0.02, 0.02, i == 19 ? 10 : 1);
    hinge(&r, last, brick, 0.2 * i, 0, 0);
    last = brick;
  }
  told[0] = 0;
  CHECK_OK(talus_world_step(r.world, 100));
  CHECK(report_of(&r).joint_drift > 1e-3);
  int lines = 0;
  for (const char *at = told; (at = strstr(at, "has come apart by")) != NULL; ++at)
    lines++;
  CHECK_MSG(lines == 5 && strstr(told, "more joints drift"), "%d lines:\n%s", lines, told);
  talus_world_destroy(r.world);
}

/* ---- warm start ------------------------------------------------------------------------------ */

typedef struct fall {
  double drift, gain;
} fall;

/* A ladder of four-bar cells, held at one end, falls for 0.2 s; or a chain of 100 links swings. */
static fall let_fall(talus_ccp_method method, int sweeps, bool warm, bool ladder) {
  rig r = make(1e-3, 9.81);
  talus_body before[2] = {{0}, {0}};
  fall f = {0};
  r.world->model.solve.joints = TALUS_JOINTS_ITERATIVE;
  r.world->model.solve.method = method;
  r.world->model.solve.iterations = sweeps;
  r.world->model.solve.tolerance = 0;
  r.world->model.solve.warm_start = warm;
  for (int i = 0; ladder && i < 16; ++i) {
    const talus_body rung = add_box(&r, i + 1, 0, 0, 0.05, 0.05, 0.9, 1);
    for (int k = 0; k < 2; ++k) {
      const double z = k == 0 ? 0.5 : -0.5;
      const talus_body rail = add_box(&r, i + 0.5, 0, z, 0.9, 0.05, 0.05, 1);
      hinge(&r, before[k], rail, i, 0, z);
      hinge(&r, rail, rung, i + 1, 0, z);
    }
    before[0] = before[1] = rung;
  }
  for (int i = 0; !ladder && i < 100; ++i) {
    const talus_body bar = add_box(&r, 0.1 * i + 0.05, 0, 0, 0.08, 0.02, 0.02, 0.1);
    hinge(&r, before[0], bar, 0.1 * i, 0, 0);
    before[0] = bar;
  }
  const talus_report start = report_of(&r);
  for (int i = 0; i < 200; ++i) {
    CHECK_OK(talus_world_step(r.world, 1));
    f.drift = fmax(f.drift, report_of(&r).joint_drift);
  }
  const talus_report end = report_of(&r);
  f.gain =
      end.kinetic_energy + end.potential_energy - start.kinetic_energy - start.potential_energy;
  talus_world_destroy(r.world);
  return f;
}

/* Impulses that also took back drift are an integral of it when they are carried over: with too few
 * sweeps a ladder of 48 kg then gained 4 kJ. */
TEST(warm_start_of_too_few_sweeps_gains_no_energy_and_drifts_no_more) {
  static const talus_ccp_method method[] = {TALUS_GAUSS_SEIDEL, TALUS_GAUSS_SEIDEL,
                                            TALUS_GAUSS_SEIDEL, TALUS_APGD, TALUS_BB};
  static const int sweeps[] = {5, 50, 200, 50, 50};
  for (int k = 0; k < (check_is_short() ? 2 : 10); ++k) {
    const bool ladder = k % 2 == 0;
    const fall warm = let_fall(method[k / 2], sweeps[k / 2], true, ladder);
    const fall cold = let_fall(method[k / 2], sweeps[k / 2], false, ladder);
    const double better = method[k / 2] == TALUS_GAUSS_SEIDEL ? BY_PRECISION(0.5, 1.2) : 1.2;
    CHECK_MSG(warm.drift < better * cold.drift + BY_PRECISION(0, 1e-4),
              "method %d, %d sweeps, %s: drifts by %g m, without warm start by %g m",
              (int)method[k / 2], sweeps[k / 2], ladder ? "ladder" : "chain", warm.drift,
              cold.drift);
    CHECK_MSG(warm.gain < BY_PRECISION(0, 0.05), "method %d, %d sweeps: gains %g J",
              (int)method[k / 2], sweeps[k / 2], warm.gain);
  }
}

/* Two bodies that a solver without iterations lets fall apart, slowly enough that no step is a
 * leap.
 */
TEST(joint_further_apart_than_its_bodies_are_large_ends_the_run) {
  rig r = make(1e-3, 0);
  const talus_body one = add_box(&r, 0, 0, 0, 0.1, 0.1, 0.1, 1);
  const talus_body two = add_box(&r, 0.2, 0, 0, 0.1, 0.1, 0.1, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_SPHERICAL, one, two, 0.1, 0, 0, 0, 0, 1);
  def.name = "wrist";
  add_joint(&r, &def);
  r.world->model.solve.joints = TALUS_JOINTS_ITERATIVE;
  r.world->model.solve.iterations = 0;
  CHECK_OK(talus_body_set_velocity(r.world, two, (talus_vec3){1, 0, 0}, (talus_vec3){0}));
  talus_status status = TALUS_OK;
  int steps = 0;
  for (; status == TALUS_OK && steps < 1000; ++steps)
    status = talus_world_step(r.world, 1);
  CHECK(status == TALUS_ERROR_DIVERGED && steps > 50 && steps < 150);
  CHECK_MSG(strstr(talus_last_error(), "joint 'wrist' has come apart by 0.0") != NULL &&
                strstr(talus_last_error(), "more solver iterations or `joints: direct`") != NULL,
            "%s", talus_last_error());
  talus_world_destroy(r.world);
}

/* Numbers that are finite and mean nothing end the run too. */
TEST(body_that_moves_a_million_times_its_size_ends_the_run) {
  rig r = make(1e-3, 0);
  const talus_body box = add_box(&r, 0, 0, 0, 0.2, 0.2, 0.2, 1);
  CHECK_OK(
      talus_body_set_velocity(r.world, box, (talus_vec3){(talus_real)1e7, 0, 0}, (talus_vec3){0}));
  CHECK_OK(talus_world_step(r.world, 1));
  CHECK_OK(
      talus_body_set_velocity(r.world, box, (talus_vec3){(talus_real)1e12, 0, 0}, (talus_vec3){0}));
  CHECK(talus_world_step(r.world, 1) == TALUS_ERROR_DIVERGED);
  CHECK_MSG(strstr(talus_last_error(), "at 1e+12 m/s") != NULL &&
                strstr(talus_last_error(), "try a smaller step or more solver iterations") != NULL,
            "%s", talus_last_error());
  talus_world_destroy(r.world);
}

/* Two hinges on one axis say the same thing five times over: impulses are shared, motion is right.
 */

TEST_MAIN()
