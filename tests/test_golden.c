/* Golden state hashes: short scenes that between them go through every solver, shape search and
 * fast path end with the bits that are written down here, in each precision, for one and two
 * threads, with every instruction set that the machine has. A change that is not meant to move bits
 * must not; after one that is, the test prints the lines to put in their place. */
#include "base/isa.h"
#include "kernels/real.h"
#include "physics/rig.h"

typedef struct golden {
  const char *name;
  talus_world *(*make)(int threads);
  uint64_t steps;
  uint64_t in_double, in_single;
} golden;

/* ---- scenes ---------------------------------------------------------------------------------- */

static talus_world_def settings(int threads) {
  talus_world_def def = talus_world_def_default();
  def.dt = 2e-3;
  def.threads = threads;
  def.solve.iterations = def.solve.iterations_max = 20; /* enough to move every bit */
  return def;
}

static void fill(talus_world *world, talus_shape shape, talus_material m, uint64_t count,
                 double half, double low, double high) {
  talus_fill_def def = talus_fill_def_default();
  def.body.shape = shape;
  def.body.material = m;
  def.body.velocity = rig_vec(0.2, -0.1, -1);
  def.in.kind = TALUS_REGION_BOX;
  def.in.box = (talus_box){{-half, -half, low}, {half, half, high}};
  def.count = count;
  def.size = (talus_size_def){.kind = TALUS_SIZE_UNIFORM, .low = 0.7, .high = 1.2};
  def.seed = 11;
  CHECK_OK(talus_world_fill(world, &def, NULL));
}

static void add_bin(talus_world *world, talus_material m, double edge) {
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, edge, edge, 4, 0), m, 0, 0, 2);
}

static talus_world *spheres(int threads) {
  const talus_world_def def = settings(threads);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.3);
  add_bin(world, m, 0.6);
  fill(world, rig_shape(world, TALUS_SPHERE, 0.03, 0, 0, 0), m, 300, 0.3, 0, 0.6);
  return world;
}

/* By accelerated gradients, with hulls' search among boxes and cylinders. */
static talus_world *boxes(int threads) {
  talus_world_def def = settings(threads);
  def.solve.method = TALUS_APGD;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.4, 0);
  add_bin(world, m, 0.5);
  fill(world, rig_shape(world, TALUS_BOX, 0.1, 0.08, 0.06, 0), m, 40, 0.25, 0, 0.9);
  fill(world, rig_shape(world, TALUS_CYLINDER, 0.04, 0.09, 0, 0), m, 20, 0.25, 0.9, 1.6);
  return world;
}

static talus_world *ellipsoids_that_sleep(int threads) {
  talus_world_def def = settings(threads);
  def.sleep = (talus_sleep_def){.speed = 0.1, .time = 0.02};
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.6, 0);
  rig_floor(world, m);
  const talus_shape grain = rig_shape(world, TALUS_ELLIPSOID, 0.06, 0.05, 0.04, 0);
  for (int i = 0; i < 25; ++i)
    rig_body(world, TALUS_FREE, grain, m, 0.3 * (i % 5), 0.3 * (i / 5), 0.039 + 0.002 * (i % 3));
  fill(world, grain, m, 12, 0.3, 0.2, 0.9);
  return world;
}

static void join(talus_world *world, talus_joint_kind kind, talus_body a, talus_body b, double x,
                 double z, double motor) {
  talus_joint_def def = talus_joint_def_default();
  def.kind = kind;
  def.a = a, def.b = b;
  def.at = def.to = (talus_dvec3){x, 0, z};
  def.axis = rig_vec(0, 1, 0);
  if (motor > 0)
    def.motor = TALUS_MOTOR_SPEED, def.motor_target = motor, def.motor_max = 3;
  else if (kind == TALUS_JOINT_REVOLUTE)
    def.low = -0.8, def.high = 0.8, def.stiffness = 2, def.damping = 0.05, def.rest = 0;
  CHECK_OK(talus_world_add_joint(world, &def, NULL));
}

/* A driven crank, and arms that swing and strike balls. */
static talus_world *joints(int threads) {
  const talus_world_def def = settings(threads);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.4, 0.1);
  rig_floor(world, m);
  const talus_shape bar = rig_shape(world, TALUS_BOX, 0.28, 0.06, 0.06, 0);
  for (int chain = 0; chain < 3; ++chain) {
    talus_body last = {0};
    for (int i = 0; i < 5; ++i) {
      const double x = 2 * chain + 0.3 * i, z = 0.7;
      const talus_body link = rig_body(world, TALUS_FREE, bar, m, x + 0.15, 0, z);
      join(world, i % 2 ? TALUS_JOINT_SPHERICAL : TALUS_JOINT_REVOLUTE, last, link, x, z,
           i == 0 ? 3 + chain : 0);
      last = link;
    }
  }
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  for (int i = 0; i < 20; ++i)
    rig_body(world, TALUS_FREE, ball, m, 0.35 * i, 0.01 * (i % 4), 0.1);
  return world;
}

static talus_world *springs(int threads) {
  talus_world_def def = settings(threads);
  def.dt = 2e-4;
  def.solve.kind = TALUS_SOLVE_PENALTY;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.5);
  add_bin(world, m, 0.5);
  fill(world, rig_shape(world, TALUS_SPHERE, 0.03, 0, 0, 0), m, 300, 0.25, 0, 0.7);
  return world;
}

static talus_world *impulses(int threads) {
  talus_world_def def = settings(threads);
  def.solve.kind = TALUS_SOLVE_IMPULSE;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.2);
  add_bin(world, m, 0.5);
  fill(world, rig_shape(world, TALUS_SPHERE, 0.04, 0, 0, 0), m, 100, 0.25, 0, 0.7);
  fill(world, rig_shape(world, TALUS_BOX, 0.08, 0.08, 0.08, 0), m, 30, 0.25, 0.7, 1.5);
  return world;
}

/* Grains with rolling resistance and cohesion under shear, through periodic sides. */
static talus_world *periodic(int threads) {
  talus_world_def def = settings(threads);
  def.domain.enabled = true;
  def.domain.box = (talus_box){{-0.3, -0.3, -1}, {0.3, 0.3, 4}};
  def.domain.periodic[0] = def.domain.periodic[1] = true;
  talus_world *world = rig_world(&def);
  talus_material_def law = talus_material_def_default();
  talus_material m;
  law.rolling = 0.003, law.spinning = 0.002, law.static_friction = 0.7, law.cohesion = 0.2;
  CHECK_OK(talus_world_add_material(world, &law, &m));
  rig_floor(world, m);
  fill(world, rig_shape(world, TALUS_SPHERE, 0.04, 0, 0, 0), m, 120, 0.3, 0.05, 0.9);
  return world;
}

/* ---- the hashes ------------------------------------------------------------------------------ */

/* One line each, as they are printed. */
/* clang-format off */
static const golden all[] = {
    {"spheres", spheres, 100, UINT64_C(0x2bc34bd3ba2d4729), UINT64_C(0xdceed5eeb77a2c4e)},
    {"boxes", boxes, 150, UINT64_C(0xd6483209e11cb6d2), UINT64_C(0x8ec3c8a79ee479b2)},
    {"ellipsoids_that_sleep", ellipsoids_that_sleep, 200, UINT64_C(0x9cd19851ee62dfe1), UINT64_C(0xb30db84c3e4ae329)},
    {"joints", joints, 150, UINT64_C(0xee98f7272159b969), UINT64_C(0x11f92832654864ce)},
    {"springs", springs, 300, UINT64_C(0xba1b2def0b9df9f5), UINT64_C(0x48f90b37d7cefe1c)},
    {"impulses", impulses, 150, UINT64_C(0x3deb538444dd980c), UINT64_C(0x21df870b137bbd5f)},
    {"periodic", periodic, 150, UINT64_C(0x782ac5fd7056a264), UINT64_C(0xe1d8e13be838bb97)},
};
/* clang-format on */
enum { SCENES = sizeof all / sizeof *all };

static uint64_t hash_of(const golden *scene, int threads, talus_report *report) {
  talus_world *world = scene->make(threads);
  CHECK_OK(talus_world_step(world, scene->steps));
  *report = rig_report(world);
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

/* Other instruction sets end with the same bits. */
static void check_with(const golden *scene, tl_isa isa, uint64_t hash) {
  if (isa == tl_isa_now())
    return;
  if (!tl_isa_has(isa)) {
    printf("    %s: skipped with %s, which this machine does not have\n", scene->name,
           tl_isa_name(isa));
    return;
  }
  talus_report report;
  const tl_isa before = tl_isa_use(isa);
  const uint64_t other = hash_of(scene, 1, &report);
  tl_isa_use(before);
  CHECK_MSG(other == hash, "%s: %s has other bits", scene->name, tl_isa_name(isa));
}

/* Whether the scene ends with its hash; the line to write down, where it does not. */
static bool is_golden(const golden *scene) {
  talus_report report;
  const uint64_t hash = hash_of(scene, 1, &report);
  CHECK_MSG(report.contacts >= 20, "%s: %zu contacts", scene->name, report.contacts);
  CHECK_MSG(report.asleep > 0 || scene->make != ellipsoids_that_sleep, "nobody sleeps");
  CHECK_MSG(check_is_short() || hash_of(scene, 2, &report) == hash,
            "%s: two threads have other bits", scene->name);
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
    check_with(scene, isa, hash);
  const uint64_t want = TALUS_SINGLE ? scene->in_single : scene->in_double;
  if (hash == want)
    return true;
  const uint64_t in_double = TALUS_SINGLE ? scene->in_double : hash;
  const uint64_t in_single = TALUS_SINGLE ? hash : scene->in_single;
  printf("    {\"%s\", %s, %" PRIu64 ", UINT64_C(0x%016" PRIx64 "), UINT64_C(0x%016" PRIx64 ")},\n",
         scene->name, scene->name, scene->steps, in_double, in_single);
  return false;
}

TEST(scenes_end_with_the_bits_that_were_written_down) {
  if (TALUS_FAST)
    SKIP("this build fuses operations");
  int changed = 0;
  for (int i = 0; i < SCENES; ++i)
    changed += !is_golden(&all[i]);
  CHECK_MSG(changed == 0, "the bits of %d scenes changed; if that was meant: the lines above",
            changed);
}

TEST_MAIN()
