/* What is reported does not depend on the order in which bodies stand, nor on threads: sums of the
 * same islands, laid out in another order or worked on by others, have the same bits. */
#include "base/random.h"
#include "kernels/real.h"
#include "physics/rig.h"

#define ISLANDS 60
#define VALUES  32

typedef struct way {
  const char *name;
  talus_solve_kind kind;
  talus_ccp_method method;
} way;

static const way ways[] = {
    {"gauss-seidel", TALUS_SOLVE_CCP, TALUS_GAUSS_SEIDEL},
    {"apgd", TALUS_SOLVE_CCP, TALUS_APGD},
    {"bb", TALUS_SOLVE_CCP, TALUS_BB},
    {"jacobi", TALUS_SOLVE_CCP, TALUS_JACOBI},
    {"impulse", TALUS_SOLVE_IMPULSE, TALUS_GAUSS_SEIDEL},
    {"penalty", TALUS_SOLVE_PENALTY, TALUS_GAUSS_SEIDEL},
};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct parts {
  talus_material material;
  talus_shape ball, box;
} parts;

static double draw(tl_random *random, double low, double high) {
  return low + (high - low) * tl_random_unit(random);
}

/* A heap of 1 to 24 grains that is thrown together, some pulled by a force; in every third one the
 * first two hang together by a spring. */
static void add_island(talus_world *world, const parts *p, uint32_t number, bool is_soft) {
  tl_random random = tl_random_start(5, 1, number);
  const int count = 1 + (int)number % 24;
  talus_body first[2] = {{0}, {0}};
  for (int i = 0; i < count; ++i) {
    talus_body_def def = talus_body_def_default();
    talus_body body;
    def.shape = !is_soft && i % 3 == 0 ? p->box : p->ball;
    def.material = p->material;
    def.position = (talus_dvec3){2.0 * (number % 8) + 0.1 * (i % 3) + draw(&random, 0, 0.004),
                                 2.0 * (number / 8) + 0.1 * (i / 3 % 3), 0.05 + 0.099 * (i / 9)};
    def.velocity = rig_vec(draw(&random, -0.3, 0.3), draw(&random, -0.3, 0.3), -0.2);
    def.spin = rig_vec(draw(&random, -3, 3), draw(&random, -3, 3), draw(&random, -3, 3));
    if (i % 4 == 1)
      def.force = rig_vec(draw(&random, -1, 1), 0.3, 0);
    CHECK_OK(talus_world_add_body(world, &def, &body));
    if (i < 2)
      first[i] = body;
  }
  if (number % 3 != 0 || count < 2 || is_soft)
    return;
  talus_joint_def joint = talus_joint_def_default();
  joint.kind = TALUS_JOINT_REVOLUTE;
  joint.a = first[0], joint.b = first[1];
  joint.at = joint.to = rig_info(world, first[0]).position;
  joint.axis = rig_vec(0, 0, 1);
  joint.stiffness = 0.3;
  CHECK_OK(talus_world_add_joint(world, &joint, NULL));
}

static talus_world *make(const way *by, int threads, bool backwards) {
  talus_world_def def = talus_world_def_default();
  const bool is_soft = by->kind == TALUS_SOLVE_PENALTY;
  def.dt = is_soft ? 1e-4 : 2e-3;
  def.threads = threads;
  def.solve.kind = by->kind;
  def.solve.method = by->method;
  def.solve.iterations = def.solve.iterations_max = 15;
  talus_world *world = rig_world(&def);
  const parts p = {rig_material(world, 0.4, 0), rig_shape(world, TALUS_SPHERE, 0.05, 0, 0, 0),
                   rig_shape(world, TALUS_BOX, 0.1, 0.1, 0.1, 0)};
  rig_floor(world, p.material);
  for (uint32_t i = 0; i < ISLANDS; ++i)
    add_island(world, &p, backwards ? ISLANDS - 1 - i : i, is_soft);
  talus_probe_def probe = {0};
  probe.region.kind = TALUS_REGION_BOX;
  probe.region.box = (talus_box){{-1, -1, -1}, {9, 20, 3}};
  probe.record = TALUS_RECORD_MASS_FLOW | TALUS_RECORD_COUNT | TALUS_RECORD_ENERGY;
  CHECK_OK(talus_world_add_probe(world, &probe, NULL));
  probe = (talus_probe_def){0};
  probe.on_body = true;
  CHECK_OK(talus_world_body_at(world, 0, &probe.body));
  probe.record = TALUS_RECORD_FORCE | TALUS_RECORD_TORQUE;
  CHECK_OK(talus_world_add_probe(world, &probe, NULL));
  return world;
}

static const char *const names[VALUES] = {"kinetic_energy",
                                          "potential_energy",
                                          "rotational_energy",
                                          "px",
                                          "py",
                                          "pz",
                                          "lx",
                                          "ly",
                                          "lz",
                                          "contact_work",
                                          "load_work",
                                          "objective",
                                          "residual_rms",
                                          "residual_max",
                                          "elastic_energy",
                                          "damping_work",
                                          "friction_work",
                                          "spring_energy",
                                          "joint_work",
                                          "made_energy",
                                          "mass_flow_x",
                                          "mass_flow_y",
                                          "mass_flow_z",
                                          "region_energy",
                                          "region_count",
                                          "force_x",
                                          "force_y",
                                          "force_z",
                                          "torque_x",
                                          "torque_y",
                                          "torque_z",
                                          "overlap_max"};

/* Every sum that history.csv and probes tell, after some steps. */
static void run(const way *by, int threads, bool backwards, double values[VALUES]) {
  talus_world *world = make(by, threads, backwards);
  talus_probe_values in, on;
  CHECK_OK(talus_world_step(world, check_is_short() ? 3 : 10));
  const talus_report r = rig_report(world);
  CHECK_OK(talus_probe_read(world, 0, &in));
  CHECK_OK(talus_probe_read(world, 1, &on));
  const double all[VALUES] = {r.kinetic_energy,
                              r.potential_energy,
                              r.rotational_energy,
                              r.momentum[0],
                              r.momentum[1],
                              r.momentum[2],
                              r.angular_momentum[0],
                              r.angular_momentum[1],
                              r.angular_momentum[2],
                              r.contact_work,
                              r.load_work,
                              r.objective,
                              r.residual_rms,
                              r.residual_max,
                              r.elastic_energy,
                              r.damping_work,
                              r.friction_work,
                              r.spring_energy,
                              r.joint_work,
                              r.made_energy,
                              in.mass_flow[0],
                              in.mass_flow[1],
                              in.mass_flow[2],
                              in.energy,
                              in.count,
                              on.force[0],
                              on.force[1],
                              on.force[2],
                              on.torque[0],
                              on.torque[1],
                              on.torque[2],
                              r.overlap_max};
  memcpy(values, all, sizeof all);
  CHECK_MSG(r.contacts > 100, "%s: %zu contacts", by->name, r.contacts);
  talus_world_destroy(world);
}

static void compare(const char *what, const way *by, const double a[VALUES],
                    const double b[VALUES]) {
  for (int i = 0; i < VALUES; ++i)
    CHECK_MSG(a[i] == b[i], "%s, %s: %s is %.17g, not %.17g", by->name, what, names[i], b[i], a[i]);
}

TEST(sums_do_not_depend_on_the_order_of_islands) {
  for (int k = 0; k < WAYS; ++k) {
    double forth[VALUES], back[VALUES];
    run(&ways[k], 1, false, forth);
    run(&ways[k], 1, true, back);
    compare("islands in reverse", &ways[k], forth, back);
  }
}

TEST(sums_do_not_depend_on_the_number_of_threads) {
  for (int k = 0; k < WAYS; ++k) {
    double one[VALUES], more[VALUES];
    run(&ways[k], 1, false, one);
    for (int threads = 2; threads <= (check_is_short() ? 2 : 3); ++threads) {
      run(&ways[k], threads, false, more);
      compare("threads", &ways[k], one, more);
    }
  }
}

/* Enough bodies that loops are cut. */
static void fall(int threads, talus_report *report) {
  talus_world_def def = talus_world_def_default();
  def.threads = threads;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.05, 0, 0, 0);
  tl_random random = tl_random_start(3, 1, 0);
  for (int i = 0; i < 5000; ++i) {
    talus_body_def body = talus_body_def_default();
    body.shape = ball, body.material = m;
    body.position = (talus_dvec3){0.0999 * (i % 20), 0.0999 * (i / 20 % 20), 0.0999 * (i / 400)};
    body.velocity = rig_vec(draw(&random, -1, 1), draw(&random, -1, 1), draw(&random, -1, 1));
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  CHECK_OK(talus_world_step(world, 5));
  *report = rig_report(world);
  report->wall_broad = report->wall_narrow = report->wall_solve = report->wall_step = 0;
  talus_world_destroy(world);
}

TEST(a_report_has_the_same_bits_for_any_number_of_threads) {
  talus_report one, more;
  fall(1, &one);
  CHECK(one.momentum[0] != 0 && one.contact_work != 0);
  for (int threads = 2; threads <= 3; ++threads) {
    fall(threads, &more);
    CHECK_MSG(memcmp(&one, &more, sizeof one) == 0, "%d threads", threads);
  }
}

TEST_MAIN()
