/* Joints by every solver: chains, contacts, threads, restarts, the objective. */
#include <time.h>

#include "joint_rig.h"
#include "solve/system/links.h"

/* ---- chains ---------------------------------------------------------------------------------- */

/* A hundred links of 1 kg with a ton at the end, released straight out. Links are half a metre
 * long: a taut chain of light links sings at sqrt(12 r g / l), and a step must be shorter than 2 /
 * that. */
TEST(long_chain_with_a_heavy_end_converges_by_the_direct_block) {
  talus_world_def world = talus_world_def_default();
  world.threads = 1;
  world.solve.joints = TALUS_JOINTS_DIRECT;
  world.solve.tolerance = BY_PRECISION(1e-9, 1e-4);
  rig r;
  talus_material_def material = talus_material_def_default();
  r.world = rig_world(&world);
  CHECK_OK(talus_world_add_material(r.world, &material, &r.material));
  talus_body last = ground;
  for (int i = 0; i < 100; ++i) {
    const talus_body link = add_box(&r, 0.25 + 0.5 * i, 0, 0, 0.5, 0.02, 0.02, i == 99 ? 1000 : 1);
    const talus_joint_def def = joint_of(TALUS_JOINT_SPHERICAL, last, link, 0.5 * i, 0, 0, 0, 0, 1);
    add_joint(&r, &def);
    last = link;
  }
  const talus_report start = report_of(&r);
  double drift = 0, residual = 0;
  int iterations = 0;
  for (int i = 0; i < 40; ++i) {
    CHECK_OK(talus_world_step(r.world, 50));
    const talus_report now = report_of(&r);
    drift = fmax(drift, now.joint_drift);
    residual = fmax(residual, now.residual_max);
    iterations = now.iterations > iterations ? now.iterations : iterations;
  }
  const talus_report end = report_of(&r);
  CHECK_MSG(residual < BY_PRECISION(1e-7, 1e-2), "residual %g m/s", residual);
  CHECK_MSG(iterations <= BY_PRECISION(10, 50), "%d sweeps", iterations);
  CHECK_MSG(drift < BY_PRECISION(1e-5, 1e-2), "drift %g m", drift);
  const double fallen = start.potential_energy - end.potential_energy;
  CHECK(fallen > 10);
  CHECK_NEAR(end.kinetic_energy, fallen, 0.02 * fallen);
  talus_world_destroy(r.world);
}

#define LONG (TL_TEAM_LINKS + 404) /* links that a team shares, the last block not full */

/* Hinged, with a motor (a law) and a limit here and there, where blocks meet too; falls from level,
 * held at one end. */
static rig long_chain(talus_joints_solver joints, talus_solve_kind kind, int links, int threads) {
  talus_world_def def = talus_world_def_default();
  def.threads = threads;
  def.solve.kind = kind;
  def.solve.joints = joints;
  def.solve.iterations = 20;
  def.solve.tolerance = joints == TALUS_JOINTS_DIRECT ? 1e-8 : 0;
  rig r;
  CHECK_OK(talus_world_create(&def, &r.world));
  const talus_material_def material = talus_material_def_default();
  CHECK_OK(talus_world_add_material(r.world, &material, &r.material));
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_BOX;
  shape.size[0] = 0.1, shape.size[1] = shape.size[2] = 0.02;
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(r.world, &shape, &body.shape));
  CHECK_OK(talus_world_group(r.world, "chain", &body.group));
  CHECK_OK(talus_world_ignore_groups(r.world, body.group, body.group));
  body.material = r.material;
  talus_body last = ground, link;
  for (int i = 0; i < links; ++i) {
    body.position.x = 0.1 * i + 0.05;
    CHECK_OK(talus_world_add_body(r.world, &body, &link));
    talus_joint_def joint = joint_of(TALUS_JOINT_REVOLUTE, last, link, 0.1 * i, 0, 0, 0, 1, 0);
    if (i % 64 == 0)
      joint.motor = TALUS_MOTOR_SPEED, joint.motor_target = 1, joint.motor_max = 0.1;
    if (i % 64 == 32)
      joint.low = -0.01, joint.high = 0.01;
    CHECK_OK(talus_world_add_joint(r.world, &joint, NULL));
    last = link;
  }
  return r;
}

TEST(long_chain_has_the_same_bits_for_any_team) {
  SKIP_IF_SHORT_UNLESS_RACES_COUNT();
  static const struct {
    talus_joints_solver joints;
    talus_solve_kind kind;
  } ways[] = {{TALUS_JOINTS_ITERATIVE, TALUS_SOLVE_CCP},
              {TALUS_JOINTS_DIRECT, TALUS_SOLVE_CCP},
              {TALUS_JOINTS_ITERATIVE, TALUS_SOLVE_IMPULSE}};
  for (int way = 0; way < 3; ++way) {
    uint64_t hash[3];
    for (int k = 0; k < 3; ++k) {
      rig r = long_chain(ways[way].joints, ways[way].kind, LONG, k + 1);
      CHECK_OK(talus_world_step(r.world, 3));
      hash[k] = talus_world_hash(r.world);
      talus_world_destroy(r.world);
    }
    CHECK_EQ_U64(hash[1], hash[0]);
    CHECK_EQ_U64(hash[2], hash[0]);
  }
}

/* How far 20 sweeps are from all rows at once after a few steps, m; *drift: of the sweeps. */
static double sweeps_miss(int links, double *drift) {
  rig swept = long_chain(TALUS_JOINTS_ITERATIVE, TALUS_SOLVE_CCP, links, 2);
  rig solved = long_chain(TALUS_JOINTS_DIRECT, TALUS_SOLVE_CCP, links, 2);
  CHECK_OK(talus_world_step(swept.world, 5));
  CHECK_OK(talus_world_step(solved.world, 5));
  double most = 0;
  for (int i = 0; i < links; ++i)
    most = fmax(most, fabs(swept.world->state.position[i].z - solved.world->state.position[i].z));
  *drift = report_of(&swept).joint_drift;
  talus_world_destroy(swept.world);
  talus_world_destroy(solved.world);
  return most;
}

TEST(long_chain_in_blocks_converges_like_one_that_is_not_cut) {
  SKIP_IF_SHORT();
  double drift[2];
  const double whole = sweeps_miss(TL_TEAM_LINKS - 1, &drift[0]);
  const double cut = sweeps_miss(TL_TEAM_LINKS, &drift[1]);
  CHECK_MSG(cut < 1.2 * whole, "%g m from the solution in blocks, %g m in one", cut, whole);
  CHECK_MSG(drift[1] < 2 * drift[0], "drift %g m in blocks, %g m in one", drift[1], drift[0]);
}

/* 20,000 links took 5 s, when every joint that came looked at all that were there. */
TEST(long_chain_is_built_in_time_that_grows_with_its_links) {
  const clock_t begin = clock();
  rig r = long_chain(TALUS_JOINTS_DIRECT, TALUS_SOLVE_CCP, 20000, 1);
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  CHECK_MSG(seconds < 2, "%g s of CPU time", seconds);
  talus_world_destroy(r.world);
}

/* ---- with contacts, by every method ---------------------------------------------------------- */

/* A driven paddle in a heap of balls, a chain hanging into it, a limited flap; one world. */
static talus_world *paddle(talus_ccp_method method, talus_joints_solver joints, int threads,
                           int iterations, double tolerance) {
  talus_world_def def = talus_world_def_default();
  def.solve.method = method;
  def.solve.joints = joints;
  def.solve.iterations = iterations;
  def.solve.tolerance = tolerance;
  def.threads = threads;
  rig r;
  talus_material_def material = talus_material_def_default();
  r.world = rig_world(&def);
  CHECK_OK(talus_world_add_material(r.world, &material, &r.material));
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_CONTAINER;
  shape.size[0] = shape.size[1] = 0.6, shape.size[2] = 1.2;
  shape.open = TALUS_SIDE_TOP;
  talus_body_def body = talus_body_def_default();
  body.kind = TALUS_FIXED;
  body.material = r.material;
  body.position.z = 0.6;
  CHECK_OK(talus_world_add_shape(r.world, &shape, &body.shape));
  CHECK_OK(talus_world_add_body(r.world, &body, NULL));
  const talus_body arm = add_box(&r, 0, 0, 0.25, 0.4, 0.05, 0.05, 2);
  talus_joint_def def_arm = joint_of(TALUS_JOINT_REVOLUTE, ground, arm, 0, 0, 0.25, 0, 0, 1);
  def_arm.motor = TALUS_MOTOR_SPEED;
  def_arm.motor_target = 2, def_arm.motor_max = 20;
  add_joint(&r, &def_arm);
  talus_body last = ground;
  for (int i = 0; i < 4; ++i) {
    const talus_body link = add_box(&r, 0.2, 0, 0.75 - 0.1 * i, 0.03, 0.03, 0.08, 0);
    const talus_joint_def ball =
        joint_of(TALUS_JOINT_SPHERICAL, last, link, 0.2, 0, 0.8 - 0.1 * i, 0, 0, 1);
    add_joint(&r, &ball);
    last = link;
  }
  const talus_body flap = add_box(&r, -0.2, 0, 0.5, 0.02, 0.2, 0.2, 0);
  talus_joint_def hung = joint_of(TALUS_JOINT_REVOLUTE, ground, flap, -0.2, 0, 0.6, 0, 1, 0);
  hung.low = -0.1, hung.high = 0.2, hung.stiffness = 5, hung.damping = 0.1, hung.rest = 0.4;
  add_joint(&r, &hung);
  talus_shape_def ball = talus_shape_def_default();
  ball.size[0] = 0.04;
  talus_body_def grain = talus_body_def_default();
  grain.material = r.material;
  CHECK_OK(talus_world_add_shape(r.world, &ball, &grain.shape));
  for (int i = 0; i < 60; ++i) {
    grain.position =
        (talus_dvec3){-0.2 + 0.1 * (i % 5) + 0.001 * (i % 3), -0.2 + 0.13 * (i / 5 % 4),
                      i < 40 ? 0.05 + 0.09 * (i / 20) : 0.95};
    CHECK_OK(talus_world_add_body(r.world, &grain, NULL));
  }
  return r.world;
}

#if !TALUS_SINGLE
static double apart(talus_world *x, talus_world *y) {
  talus_view a, b;
  double most = 0;
  CHECK_OK(talus_view_map(x, TALUS_FIELD_VELOCITY, TALUS_READ, &a));
  CHECK_OK(talus_view_map(y, TALUS_FIELD_VELOCITY, TALUS_READ, &b));
  for (size_t i = 0; i < 3 * a.rows; ++i)
    most = fmax(most, fabs((double)((talus_real *)a.data)[i] - (double)((talus_real *)b.data)[i]));
  CHECK_OK(talus_view_unmap(x, &a));
  CHECK_OK(talus_view_unmap(y, &b));
  return most;
}

TEST(all_methods_agree_on_joints_with_contacts) {
  if (!strstr(talus_features(), "hdf5"))
    SKIP("without HDF5 there are no checkpoints to start all methods from");
  talus_world *settled = paddle(TALUS_GAUSS_SEIDEL, TALUS_JOINTS_DIRECT, 1, 200, 1e-6);
  CHECK_OK(talus_world_step(settled, 300));
  CHECK_OK(talus_world_save(settled, "settled.hdf"));
  talus_world_destroy(settled);
  talus_world *want = NULL;
  for (int method = 0; method < (check_is_short() ? 1 : 4); ++method)
    for (int joints = TALUS_JOINTS_DIRECT; joints <= TALUS_JOINTS_ITERATIVE; ++joints) {
      if (method == TALUS_JACOBI && joints == TALUS_JOINTS_ITERATIVE)
        continue; /* converges, in more iterations than a test has */
      talus_world *world;
      CHECK_OK(talus_world_load("settled.hdf", &world));
      const talus_solve_def solve = {.method = (talus_ccp_method)method,
                                     .joints = (talus_joints_solver)joints,
                                     .iterations = 20000,
                                     .tolerance = 1e-9,
                                     .warm_start = true,
                                     .recovery_speed = 0.6,
                                     .bounce_speed = -1,
                                     .omega = 0.3,
                                     .lambda = 1,
                                     .islands = true};
      world->model.solve = solve;
      CHECK_OK(talus_world_step(world, 1));
      talus_report report;
      CHECK_OK(talus_world_report(world, &report));
      CHECK_MSG(report.residual_rms < 1e-8, "method %d, joints %d: residual %g after %d", method,
                joints, report.residual_rms, report.iterations);
      if (!want) {
        want = world;
        continue;
      }
      CHECK_MSG(apart(want, world) < 1e-5, "method %d, joints %d: velocities differ by %g m/s",
                method, joints, apart(want, world));
      talus_world_destroy(world);
    }
  talus_world_destroy(want);
}
#endif

TEST(hashes_do_not_depend_on_threads_or_restarts) {
  SKIP_IF_SHORT_UNLESS_RACES_COUNT();
  for (int method = 0; method < 4; ++method)
    for (int joints = TALUS_JOINTS_DIRECT; joints <= TALUS_JOINTS_ITERATIVE; ++joints) {
      uint64_t hash[4];
      for (int k = 0; k < 4; ++k) {
        talus_world *world = paddle((talus_ccp_method)method, (talus_joints_solver)joints,
                                    k < 3 ? 1 << k : 2, 20, 1e-5);
        CHECK_OK(talus_world_step(world, 150));
        if (k == 3) {
          char path[64];
          snprintf(path, sizeof path, "joints-%d-%d.hdf", method, joints);
          const talus_status status = talus_world_save(world, path);
          if (status == TALUS_ERROR_UNSUPPORTED) {
            hash[3] = hash[0];
            talus_world_destroy(world);
            continue;
          }
          CHECK_OK(status);
          talus_world_destroy(world);
          CHECK_OK(talus_world_load(path, &world));
        }
        CHECK_OK(talus_world_step(world, 100));
        hash[k] = talus_world_hash(world);
        talus_world_destroy(world);
      }
      CHECK_EQ_U64(hash[1], hash[0]);
      CHECK_EQ_U64(hash[2], hash[0]);
      CHECK_EQ_U64(hash[3], hash[0]);
    }
}

/* ---- the objective --------------------------------------------------------------------------- */

/* A mass of 2 kg on a vertical slide, after one step from rest. */
static double objective_of(talus_joint_def def) {
  rig r = make(1e-3, 9.81);
  def.b = add_box(&r, 0, 0, 0, 0.1, 0.1, 0.1, 2);
  add_joint(&r, &def);
  CHECK_OK(talus_world_step(r.world, 1));
  const double objective = report_of(&r).objective;
  talus_world_destroy(r.world);
  return objective;
}

/* f = p^2/2m - p g h + what the joint stores, at its least. */
TEST(objective_counts_what_joints_do) {
  const double m = 2, h = 1e-3, fall = 9.81 * h, tolerance = BY_PRECISION(1e-6, 1e-3);
  const double held = -0.5 * m * fall * fall;
  talus_joint_def def = joint_of(TALUS_JOINT_FIXED, ground, ground, 0, 0, 0, 0, 0, 1);
  CHECK_NEAR(objective_of(def) / held, 1, tolerance);
  def.kind = TALUS_JOINT_PRISMATIC;
  CHECK_NEAR(objective_of(def), 0, tolerance * fabs(held));
  def.low = 0; /* lies on its limit */
  CHECK_NEAR(objective_of(def) / held, 1, tolerance);
  def.low = -INFINITY;
  def.motor = TALUS_MOTOR_SPEED, def.motor_target = 0.5; /* u = 0.5: p = m (fall + 0.5) */
  const double up = -0.5 * m * (fall + 0.5) * (fall + 0.5);
  CHECK_NEAR(objective_of(def) / up, 1, tolerance);
  def.motor_max = 5; /* p = 5 h */
  CHECK_NEAR(objective_of(def) / (0.5 * 25 * h * h / m - 5 * h * fall - 0.5 * 5 * h), 1, tolerance);
  def.motor = TALUS_MOTOR_NONE;
  def.stiffness = 3e4, def.damping = 20;
  const double z = h * def.damping / m, share = -1 / expm1(-z) - 1 / z;
  const double slope = h * (h * def.stiffness / 4 + def.damping * share);
  CHECK_NEAR(objective_of(def) / (-0.5 * fall * fall / (1 / m + 1 / slope)), 1, tolerance);
  def.high = 1; /* the same, by a law */
  CHECK_NEAR(objective_of(def) / (-0.5 * fall * fall / (1 / m + 1 / slope)), 1, tolerance);
}

TEST_MAIN()
