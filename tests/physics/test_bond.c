/* Cohesion: pairs that are pulled, spun, sheared and rolled at 0.95 of the pull-off force hold for
 * seconds, and at 1.05 they come apart, with every method. */
#include "rig.h"

#include <math.h>

static const struct {
  const char *name;
  talus_solve_kind kind;
  talus_ccp_method method;
} ways[] = {{"gauss-seidel", TALUS_SOLVE_CCP, TALUS_GAUSS_SEIDEL},
            {"jacobi", TALUS_SOLVE_CCP, TALUS_JACOBI},
            {"apgd", TALUS_SOLVE_CCP, TALUS_APGD},
            {"bb", TALUS_SOLVE_CCP, TALUS_BB},
            {"impulse", TALUS_SOLVE_IMPULSE, TALUS_GAUSS_SEIDEL},
            {"penalty", TALUS_SOLVE_PENALTY, TALUS_GAUSS_SEIDEL}};
#define WAYS    (sizeof ways / sizeof *ways)
#define DENSITY 1000.0
#define STIFF   1e6 /* N/m, penalty: a pull of 100 N squeezes a bond by 0.1 mm */

typedef struct bond {
  talus_world *world;
  talus_material material;
  talus_body a, b;
  double dt;
  double overlap; /* m, at the start: penalty pulls where bodies overlap alone */
} bond;

/* A world with a material of this pull-off force, N, at rest if `press` N keep it together. */
static bond make(size_t way, double gravity, double cohesion, double press) {
  bond r = {0};
  talus_world_def def = rig_def(1e-3);
  def.gravity = rig_vec(0, 0, -gravity);
  def.solve.kind = ways[way].kind;
  def.solve.method = ways[way].method;
  def.solve.tolerance = BY_PRECISION(1e-10, 1e-6);
  if (ways[way].kind == TALUS_SOLVE_PENALTY) {
    def.dt = 5e-5;
    r.overlap = press / STIFF;
  }
  r.dt = def.dt;
  talus_material_def material = talus_material_def_default();
  material.density = DENSITY, material.friction = 0.5, material.restitution = 0;
  material.cohesion = cohesion, material.stiffness = STIFF;
  CHECK_OK(talus_world_create(&def, &r.world));
  CHECK_OK(talus_world_add_material(r.world, &material, &r.material));
  return r;
}

static void run(const bond *r, double seconds) {
  CHECK_OK(talus_world_step(r->world, (uint64_t)(seconds / r->dt + 0.5)));
}

/* How far the centres are apart. */
static double distance(const bond *r) {
  const talus_dvec3 a = rig_info(r->world, r->a).position, b = rig_info(r->world, r->b).position;
  return sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z));
}

static void judge(const bond *r, size_t way, double ratio, double whole, double reach) {
  const double gap = distance(r) - whole;
  if (ratio < 1)
    CHECK_MSG(fabs(gap) < reach, "%s at %g: parted by %g m", ways[way].name, ratio, gap);
  else
    CHECK_MSG(gap > 10 * reach, "%s at %g: still within %g m", ways[way].name, ratio, gap);
  talus_world_destroy(r->world);
}

static double ball_mass(double radius) {
  return DENSITY * 4 / 3 * 3.14159265358979 * radius * radius * radius;
}

static const double ratios[] = {0.95, 1.05};

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Two balls that turn about their common centre of mass as one body, which drifts at `drift`; the
 * pull needed is m w^2 R. */
static void spin_pair(size_t way, double ratio, double drift) {
  const double R = 0.1, w = 20, pull = ball_mass(R) * w * w * R, cohesion = pull / ratio;
  bond r = make(way, 0, cohesion, 0.05 * cohesion);
  const talus_shape ball = rig_shape(r.world, TALUS_SPHERE, R, 0, 0, 0);
  const double x = R - r.overlap / 2;
  r.a = rig_body(r.world, TALUS_FREE, ball, r.material, -x, 0, 0);
  r.b = rig_body(r.world, TALUS_FREE, ball, r.material, x, 0, 0);
  CHECK_OK(talus_body_set_velocity(r.world, r.a, rig_vec(drift, -w * R, 0), rig_vec(0, 0, w)));
  CHECK_OK(talus_body_set_velocity(r.world, r.b, rig_vec(drift, w * R, 0), rig_vec(0, 0, w)));
  run(&r, ratio < 1 ? 3 : 0.5);
  judge(&r, way, ratio, 2 * R, 0.01 * R);
}

TEST(spinning_pair_holds_up_to_its_pull_off_force_and_not_beyond) {
  for (size_t way = 0; way < WAYS; ++way)
    for (int k = 0; k < 2; ++k)
      spin_pair(way, ratios[k], 0);
}

TEST(spinning_pair_that_flies_past_holds_as_well) {
  SKIP_IF_SHORT();
  for (size_t way = 0; way < WAYS; ++way)
    for (int k = 0; k < 2; ++k)
      spin_pair(way, ratios[k], 50);
}

/* About the line through the centres nothing pulls at them. */
TEST(pair_that_spins_about_its_axis_is_pulled_apart_at_the_same_force) {
  for (size_t way = 0; way < WAYS; ++way)
    for (int k = 0; k < 2; ++k) {
      const double R = 0.1, cohesion = 20, pull = ratios[k] * cohesion;
      bond r = make(way, 0, cohesion, 0.05 * cohesion);
      const talus_shape ball = rig_shape(r.world, TALUS_SPHERE, R, 0, 0, 0);
      const double x = R - r.overlap / 2;
      r.a = rig_body(r.world, TALUS_FREE, ball, r.material, -x, 0, 0);
      r.b = rig_body(r.world, TALUS_FREE, ball, r.material, x, 0, 0);
      CHECK_OK(talus_body_set_force(r.world, r.a, rig_vec(-pull, 0, 0), rig_vec(0, 0, 0)));
      CHECK_OK(talus_body_set_force(r.world, r.b, rig_vec(pull, 0, 0), rig_vec(0, 0, 0)));
      CHECK_OK(talus_body_set_velocity(r.world, r.a, rig_vec(0, 2, 0), rig_vec(30, 0, 0)));
      CHECK_OK(talus_body_set_velocity(r.world, r.b, rig_vec(0, 2, 0), rig_vec(30, 0, 0)));
      run(&r, 2);
      judge(&r, way, ratios[k], 2 * R, 0.01 * R);
    }
}

/* Many points share the force, and the faces turn with the pair. */
TEST(two_boxes_face_to_face_spin_as_one_up_to_the_pull_off_force) {
  for (size_t way = 0; way < WAYS; ++way)
    for (int k = 0; k < 2; ++k) {
      const double L = 0.1, w = 20, pull = DENSITY * L * L * L * w * w * L / 2;
      const double cohesion = pull / ratios[k];
      bond r = make(way, 0, cohesion, 0.05 * cohesion);
      const talus_shape box = rig_shape(r.world, TALUS_BOX, L, L, L, 0);
      const double x = (L - r.overlap) / 2;
      r.a = rig_body(r.world, TALUS_FREE, box, r.material, -x, 0, 0);
      r.b = rig_body(r.world, TALUS_FREE, box, r.material, x, 0, 0);
      CHECK_OK(talus_body_set_velocity(r.world, r.a, rig_vec(0, -w * x, 0), rig_vec(0, 0, w)));
      CHECK_OK(talus_body_set_velocity(r.world, r.b, rig_vec(0, w * x, 0), rig_vec(0, 0, w)));
      run(&r, ratios[k] < 1 ? 2 : 1);
      judge(&r, way, ratios[k], L, 0.01 * L);
    }
}

/* ---- sheared and rolled ---------------------------------------------------------------------- */

/* A box under a ceiling, pushed sideways with 0.8 of what friction holds: mu (c - weight). */
TEST(sheared_box_hangs_up_to_its_pull_off_force) {
  for (size_t way = 0; way < WAYS; ++way)
    for (int k = 0; k < 2; ++k) {
      const double L = 0.1, weight = DENSITY * L * L * L * G, cohesion = weight / ratios[k];
      bond r = make(way, G, cohesion, 0.05 * cohesion);
      rig_body(r.world, TALUS_FIXED, rig_shape(r.world, TALUS_PLANE, 0, 0, -1, 0), r.material, 0, 0,
               0);
      const talus_body box =
          rig_body(r.world, TALUS_FREE, rig_shape(r.world, TALUS_BOX, L, L, L, 0), r.material, 0, 0,
                   r.overlap - L / 2);
      const double aside = ratios[k] < 1 ? 0.8 * 0.5 * (cohesion - weight) : 0.1;
      CHECK_OK(talus_body_set_force(r.world, box, rig_vec(aside, 0, 0), rig_vec(0, 0, 0)));
      run(&r, 2);
      const talus_dvec3 at = rig_info(r.world, box).position;
      if (ratios[k] < 1)
        CHECK_MSG(fabs(at.z + L / 2) < 1e-4 && fabs(at.x) < 1e-3, "%s: the box is at %g, %g m",
                  ways[way].name, at.x, at.z);
      else
        CHECK_MSG(at.z < -0.2, "%s: the box is at %g m", ways[way].name, at.z);
      talus_world_destroy(r.world);
    }
}

/* A ball rolls round another that is fixed, without gravity: m v^2 / (R + r). */
TEST(ball_rolls_round_another_up_to_the_pull_off_force) {
  for (size_t way = 0; way < WAYS; ++way)
    for (int k = 0; k < 2; ++k) {
      const double R = 0.1, small = 0.05, v = 1, pull = ball_mass(small) * v * v / (R + small);
      const double cohesion = pull / ratios[k];
      bond r = make(way, 0, cohesion, 0.05 * cohesion);
      r.a = rig_body(r.world, TALUS_FIXED, rig_shape(r.world, TALUS_SPHERE, R, 0, 0, 0), r.material,
                     0, 0, 0);
      r.b = rig_body(r.world, TALUS_FREE, rig_shape(r.world, TALUS_SPHERE, small, 0, 0, 0),
                     r.material, R + small - r.overlap, 0, 0);
      CHECK_OK(talus_body_set_velocity(r.world, r.b, rig_vec(0, v, 0), rig_vec(0, 0, v / small)));
      run(&r, ratios[k] < 1 ? 3 : 1);
      if (ratios[k] < 1)
        CHECK_NEAR((double)rig_info(r.world, r.b).spin.z, v / small, 0.02 * v / small);
      judge(&r, way, ratios[k], R + small, 0.01 * small);
    }
}

/* ---- bonds that end -------------------------------------------------------------------------- */

/* To break a bond takes its pull-off force over its reach, whatever the size of the bodies: a ball
 * that leaves with less kinetic energy comes back. */
TEST(bond_takes_the_work_of_its_force_over_its_reach) {
  for (size_t way = 0; way + 1 < WAYS; ++way)
    for (int k = 0; k < 2; ++k)
      for (double R = 1e-3; R < 10; R *= 1e3) {
        const double mass = ball_mass(R), cohesion = 0.02 * mass * R * 1e4;
        bond r = make(way, 0, cohesion, 0);
        rig_body(r.world, TALUS_FIXED, rig_shape(r.world, TALUS_PLANE, 0, 0, 1, 0), r.material, 0,
                 0, 0);
        const talus_body ball = rig_body(
            r.world, TALUS_FREE, rig_shape(r.world, TALUS_SPHERE, R, 0, 0, 0), r.material, 0, 0, R);
        const double v = sqrt((k ? 1.3 : 0.8) * 2 * cohesion * 0.01 * R / mass);
        run(&r, 0.01);
        CHECK_OK(talus_body_set_velocity(r.world, ball, rig_vec(0, 0, v), rig_vec(0, 0, 0)));
        run(&r, 0.3);
        const double gap = rig_info(r.world, ball).position.z - R;
        CHECK_MSG(k ? gap > 0.02 * R : fabs(gap) < 1e-4 * R, "%s, radius %g m, %g m/s: gap %g m",
                  ways[way].name, R, v, gap);
        talus_world_destroy(r.world);
      }
}

/* Saved while the surfaces are apart. */
TEST(bond_that_is_stretched_is_saved) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  const double R = 0.1, mass = ball_mass(R), cohesion = 10 * mass;
  bond r = make(0, 0, cohesion, 0);
  const talus_shape shape = rig_shape(r.world, TALUS_SPHERE, R, 0, 0, 0);
  rig_floor(r.world, r.material);
  r.b = rig_body(r.world, TALUS_FREE, shape, r.material, 0, 0, R);
  run(&r, 0.01);
  CHECK_OK(talus_body_set_velocity(r.world, r.b, rig_vec(0, 0, 0.1), rig_vec(0, 0, 0)));
  run(&r, 0.008);
  CHECK(rig_info(r.world, r.b).position.z > R * 1.002);
  CHECK_OK(talus_world_save(r.world, "bond.hdf"));
  run(&r, 0.1);
  const uint64_t hash = talus_world_hash(r.world);
  CHECK_NEAR(rig_info(r.world, r.b).position.z, R, 1e-5 * R);
  talus_world_destroy(r.world);
  CHECK_OK(talus_world_load("bond.hdf", &r.world));
  run(&r, 0.1);
  CHECK_EQ_U64(talus_world_hash(r.world), hash);
  talus_world_destroy(r.world);
  remove("bond.hdf");
}

TEST_MAIN()
