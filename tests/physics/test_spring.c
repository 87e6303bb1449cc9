/* Springs of joints keep their amplitude, have the damping that was asked for, are stable however
 * stiff, and their energy is in the books. */
#include "joint_rig.h"

#include <math.h>

typedef struct way {
  const char *name;
  talus_solve_kind kind;
  talus_ccp_method method;
  talus_joints_solver joints;
} way;

static const way ways[] = {
    {"gauss-seidel, iterative", TALUS_SOLVE_CCP, TALUS_GAUSS_SEIDEL, TALUS_JOINTS_ITERATIVE},
    {"gauss-seidel, direct", TALUS_SOLVE_CCP, TALUS_GAUSS_SEIDEL, TALUS_JOINTS_DIRECT},
    {"apgd", TALUS_SOLVE_CCP, TALUS_APGD, TALUS_JOINTS_ITERATIVE},
    {"bb", TALUS_SOLVE_CCP, TALUS_BB, TALUS_JOINTS_DIRECT},
    {"jacobi", TALUS_SOLVE_CCP, TALUS_JACOBI, TALUS_JOINTS_ITERATIVE},
    {"impulse, iterative", TALUS_SOLVE_IMPULSE, TALUS_GAUSS_SEIDEL, TALUS_JOINTS_ITERATIVE},
    {"impulse, direct", TALUS_SOLVE_IMPULSE, TALUS_GAUSS_SEIDEL, TALUS_JOINTS_DIRECT}};
#define WAYS (sizeof ways / sizeof *ways)

static rig make_for(const way *w, double dt, double gravity) {
  rig r = make(dt, gravity);
  r.world->model.solve.kind = w->kind;
  r.world->model.solve.method = w->method;
  r.world->model.solve.joints = w->joints;
  return r;
}

/* Springs of every kind of joint that may have one, each at a body of 1 kg (or the moment about
 * its axis that makes the same frequency), 0.01 off its rest. */
static const talus_joint_kind kinds[] = {TALUS_JOINT_PRISMATIC,   TALUS_JOINT_REVOLUTE,
                                         TALUS_JOINT_CYLINDRICAL, TALUS_JOINT_CYLINDRICAL,
                                         TALUS_JOINT_SPRING,      TALUS_JOINT_POINT_ON_LINE,
                                         TALUS_JOINT_DISTANCE};
#define KINDS (sizeof kinds / sizeof *kinds)
#define OFF   0.01

/* In single, rows that hold give way by 1e-4 of their answer (joint/link.h), which takes 1e-3 of
 * the amplitude in a period of 20 steps from a hinge that is far away from its body. */
#define ARM  BY_PRECISION(0.5, 0.05)
#define FIRM BY_PRECISION(1e5, 1e4) /* N/m */

static talus_joint add_spring(rig *r, size_t kind, double stiffness, double damping) {
  const talus_body box = add_box(r, 0.5, 0, 0, 0.1, 0.1, 0.1, 1);
  const bool is_two = kinds[kind] == TALUS_JOINT_SPRING || kinds[kind] == TALUS_JOINT_DISTANCE;
  const bool about = kinds[kind] == TALUS_JOINT_REVOLUTE || kind == 3;
  const double arm = kinds[kind] == TALUS_JOINT_REVOLUTE ? ARM : 0;
  talus_joint_def def =
      joint_of(kinds[kind], ground, box, is_two ? 0 : 0.5 - arm, 0, 0, about ? 0 : 1, 0, about);
  if (is_two)
    def.to = (talus_dvec3){0.5, 0, 0};
  def.about = about;
  const double inertia = (double)body_of(r, box).inertia.z + arm * arm;
  def.stiffness = stiffness * (about ? inertia : 1);
  def.damping = damping * (about ? inertia : 1);
  def.rest = is_two ? 0.5 + OFF : OFF;
  if (kinds[kind] == TALUS_JOINT_DISTANCE)
    def.rope = true, def.length = 2; /* slack: the limit does nothing */
  return add_joint(r, &def);
}

/* The largest distance from rest within `steps` steps. */
static double swing(rig *r, talus_joint joint, double rest, uint64_t steps) {
  double most = 0;
  for (uint64_t i = 0; i < steps; ++i) {
    CHECK_OK(talus_world_step(r->world, 1));
    most = fmax(most, fabs(info_of(r, joint).value - rest));
  }
  return most;
}

static double rest_of(size_t kind) {
  return kinds[kind] == TALUS_JOINT_SPRING || kinds[kind] == TALUS_JOINT_DISTANCE ? 0.5 + OFF : OFF;
}

/* Amplitude after `periods`, of that at the start. */
static double kept(const way *w, size_t kind, double stiffness, double dt, double periods) {
  rig r = make_for(w, dt, 0);
  const talus_joint joint = add_spring(&r, kind, stiffness, 0);
  const double turn = 2 * atan(sqrt(stiffness) * dt / 2); /* rad a step */
  const uint64_t some = (uint64_t)ceil(20 * PI / turn);   /* ten periods */
  const double before = swing(&r, joint, rest_of(kind), some);
  CHECK_OK(talus_world_step(r.world, (uint64_t)(periods * 2 * PI / turn)));
  const double after = swing(&r, joint, rest_of(kind), some);
  talus_world_destroy(r.world);
  return after / before;
}

/* ---- amplitude ------------------------------------------------------------------------------- */

TEST(undamped_springs_keep_their_amplitude_over_a_thousand_periods) {
  SKIP_IF_SHORT();
  /* 1 kN/m to 1 MN/m at 1 kg and 1 ms: 200 to 7 steps a period. */
  for (double stiffness = 1e3; stiffness < 2e6; stiffness *= 10) {
    const double share = kept(&ways[0], 0, stiffness, 1e-3, 1000);
    CHECK_MSG(fabs(share - 1) < 0.01, "%g N/m keeps %g of its amplitude", stiffness, share);
  }
}

TEST(springs_of_every_kind_of_joint_keep_their_amplitude) {
  for (size_t kind = 0; kind < KINDS; ++kind) {
    const double share = kept(&ways[1], kind, FIRM, 1e-3, 1000);
    CHECK_MSG(fabs(share - 1) < 0.01, "kind %zu keeps %g of its amplitude", kind, share);
  }
}

TEST(springs_keep_their_amplitude_with_every_method) {
  SKIP_IF_SHORT();
  for (size_t i = 0; i < WAYS; ++i)
    for (size_t kind = 0; kind < 2; ++kind) {
      const double share = kept(&ways[i], kind, FIRM, 1e-3, 300);
      CHECK_MSG(fabs(share - 1) < 0.01, "%s, kind %zu: keeps %g of its amplitude", ways[i].name,
                kind, share);
    }
}

/* Two bodies on a spring that turn about each other, as far as they go: nothing is a straight line.
 */
TEST(whirling_pair_on_a_spring_keeps_its_energy) {
  SKIP_IF_SHORT();
  rig r = make(1e-3, 0);
  const talus_body a = add_box(&r, 0, 0, 0, 0.1, 0.1, 0.1, 1);
  const talus_body b = add_box(&r, 0.5, 0, 0, 0.1, 0.1, 0.1, 2);
  talus_joint_def def = joint_of(TALUS_JOINT_SPRING, a, b, 0, 0, 0, 0, 0, 1);
  def.to = (talus_dvec3){0.5, 0, 0};
  def.rest = 0.4, def.stiffness = 1e4;
  add_joint(&r, &def);
  CHECK_OK(talus_body_set_velocity(r.world, a, rig_vec(0, 4, 0), rig_vec(0, 0, 0)));
  CHECK_OK(talus_body_set_velocity(r.world, b, rig_vec(0, -2, 1), rig_vec(0, 0, 0)));
  const double start = report_of(&r).kinetic_energy + report_of(&r).spring_energy;
  double least = start, most = start;
  for (int i = 0; i < 3000; ++i) {
    CHECK_OK(talus_world_step(r.world, 10));
    const double now = report_of(&r).kinetic_energy + report_of(&r).spring_energy;
    least = fmin(least, now), most = fmax(most, now);
  }
  CHECK_MSG(most - least < 0.01 * start, "between %g and %g J, of %g J", least, most, start);
  talus_world_destroy(r.world);
}

/* ---- damping and stiffness ------------------------------------------------------------------- */

/* A share zeta of critical damping: ln of the ratio of two swings a period apart is
 * 2 pi zeta / sqrt(1 - zeta^2). By the energy, in the middle of the steps. */
TEST(damping_ratio_is_the_one_asked_for) {
  for (double zeta = 0.01; zeta < 0.5; zeta *= 3)
    for (double speed = 0.03; speed < 0.4; speed *= 3) { /* rad a step */
      const double dt = 1e-3, w = speed / dt;
      rig r = make(dt, 0);
      add_spring(&r, 0, w * w, 2 * zeta * w);
      const double period = 2 * PI / (w * sqrt(1 - zeta * zeta));
      const uint64_t steps = (uint64_t)(2 * period / dt + 0.5);
      CHECK_OK(talus_world_step(r.world, 1));
      const double before = report_of(&r).kinetic_energy + report_of(&r).spring_energy;
      CHECK_OK(talus_world_step(r.world, steps));
      const double after = report_of(&r).kinetic_energy + report_of(&r).spring_energy;
      const double got = log(before / after) / (2 * w * dt * (double)steps);
      CHECK_MSG(fabs(got - zeta) < 0.03 * zeta, "%g rad a step: %g for %g", speed, got, zeta);
      talus_world_destroy(r.world);
    }
}

TEST(springs_far_stiffer_than_the_step_resolves_die_out) {
  for (size_t i = 0; i < WAYS; ++i)
    for (double speed = 3; speed < 2e6; speed *= 10) {
      rig r = make_for(&ways[i], 1e-3, 0);
      const talus_joint joint = add_spring(&r, 0, speed * speed * 1e6, 0);
      const double most = swing(&r, joint, OFF, 100);
      const double left = swing(&r, joint, OFF, 10);
      CHECK_MSG(most < 1.01 * OFF && left < 1e-3 * OFF, "%s, %g rad a step: %g, then %g m",
                ways[i].name, speed, most, left);
      talus_world_destroy(r.world);
    }
}

/* The load hangs where the spring says, and strong dampers turn nothing round. */
TEST(strong_dampers_only_slow_down) {
  for (double damping = 1; damping < 1e9; damping *= 10) {
    rig r = make(1e-3, 0);
    const talus_body box = add_box(&r, 0, 0, 0, 0.1, 0.1, 0.1, 1);
    talus_joint_def def = joint_of(TALUS_JOINT_PRISMATIC, ground, box, 0, 0, 0, 1, 0, 0);
    def.damping = damping;
    add_joint(&r, &def);
    CHECK_OK(talus_body_set_velocity(r.world, box, rig_vec(1, 0, 0), rig_vec(0, 0, 0)));
    CHECK_OK(talus_world_step(r.world, 1));
    /* The first step takes the speed before for that of now: exp(-c h) exactly. */
    CHECK_NEAR((double)body_of(&r, box).velocity.x, exp(-damping * 1e-3), BY_PRECISION(1e-6, 1e-3));
    talus_world_destroy(r.world);
  }
}

/* ---- the books ------------------------------------------------------------------------------- */

static double ledger(const talus_report *r) {
  return r->kinetic_energy + r->potential_energy + r->spring_energy - r->contact_work -
         r->joint_work - r->load_work - r->flow_energy;
}

TEST(spring_energy_and_joint_work_are_told_apart_from_contact_work) {
  for (size_t i = 0; i < WAYS; ++i) {
    rig r = make_for(&ways[i], 1e-3, 0);
    add_spring(&r, 0, 1e3, 0);
    const double stored = 0.5 * 1e3 * OFF * OFF;
    CHECK_NEAR(report_of(&r).spring_energy, stored, 1e-6 * stored);
    double least = stored;
    for (int k = 0; k < 500; ++k) {
      CHECK_OK(talus_world_step(r.world, 1));
      least = fmin(least, report_of(&r).spring_energy);
    }
    const talus_report after = report_of(&r);
    CHECK(least < 0.01 * stored);
    CHECK(after.contact_work == 0);
    CHECK_MSG(fabs(after.joint_work) < BY_PRECISION(1e-6, 1e-3) * stored,
              "%s: joint work %g of %g J", ways[i].name, after.joint_work, stored);
    talus_world_destroy(r.world);
  }
}

/* A motor drives a damped spring on which a ball has fallen: everything at once. */
TEST(energy_changes_by_what_contacts_joints_and_loads_do) {
  for (size_t i = 0; i < WAYS; ++i) {
    rig r = make_for(&ways[i], 1e-3, 9.81);
    const talus_body table = add_box(&r, 0, 0, 0, 0.4, 0.4, 0.1, 2);
    const talus_body wheel = add_box(&r, 2, 0, 0, 0.2, 0.2, 0.2, 1);
    talus_joint_def def = joint_of(TALUS_JOINT_PRISMATIC, ground, table, 0, 0, 0, 0, 0, 1);
    def.stiffness = 2000, def.damping = 5;
    add_joint(&r, &def);
    def = joint_of(TALUS_JOINT_REVOLUTE, ground, wheel, 2, 0, 0, 0, 1, 0);
    def.motor = TALUS_MOTOR_SPEED, def.motor_target = 10, def.motor_max = 0.2;
    add_joint(&r, &def);
    const talus_body box = add_box(&r, 0.02, 0.01, 0.2, 0.1, 0.1, 0.1, 1);
    CHECK_OK(talus_body_set_force(r.world, box, rig_vec(1, 0, 0), rig_vec(0, 0, 0)));
    const talus_report before = report_of(&r);
    CHECK_OK(talus_world_step(r.world, 400));
    const talus_report after = report_of(&r);
    CHECK(after.contact_work < -0.1 && fabs(after.joint_work) > 0.05 && after.spring_energy > 0.05);
    const double off = ledger(&after) - ledger(&before);
    CHECK_MSG(fabs(off) < 4 * 9.81 * 1e-3 * 3, "%s: %g J are missing", ways[i].name, off);
    talus_world_destroy(r.world);
  }
}

TEST_MAIN()
