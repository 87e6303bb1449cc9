/* Springs against closed forms: each law's impact, restitution, sliding, and the ledger of energy. */
#include "rig.h"

/* A world of springs without gravity. */
static talus_world_def springs(talus_spring_law law, double dt) {
  talus_world_def def = rig_def(dt);
  def.solve.kind = TALUS_SOLVE_PENALTY;
  def.solve.law = law;
  def.gravity = rig_vec(0, 0, 0);
  return def;
}

typedef struct impact {
  double deepest, duration, speed; /* m, s, m/s after */
} impact;

static talus_material soft(talus_world *world, double friction, double restitution,
                           double stiffness, double young) {
  talus_material_def def = talus_material_def_default();
  talus_material material;
  def.density = 1000;
  def.friction = friction;
  def.restitution = restitution;
  def.stiffness = stiffness;
  def.young = young;
  def.poisson = 0.25;
  CHECK_OK(talus_world_add_material(world, &def, &material));
  return material;
}

/* Two balls of radius 0.1 m meet at relative speed 2 v; steps until they part. */
static impact collide(talus_world *world, talus_material material, double v) {
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  const double dt = rig_report(world).time, gap = 1e-7;
  (void)dt;
  talus_body a = rig_body(world, TALUS_FREE, ball, material, -0.1 - gap, 0, 0);
  talus_body b = rig_body(world, TALUS_FREE, ball, material, 0.1 + gap, 0, 0);
  CHECK_OK(talus_body_set_velocity(world, a, rig_vec(v, 0, 0), rig_vec(0, 0, 0)));
  CHECK_OK(talus_body_set_velocity(world, b, rig_vec(-v, 0, 0), rig_vec(0, 0, 0)));
  impact result = {0, 0, 0};
  double began = 0;
  for (int i = 0; i < 200000; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    const talus_body_info x = rig_info(world, a), y = rig_info(world, b);
    const double overlap = 0.2 - (y.position.x - x.position.x);
    if (overlap > 0 && began == 0)
      began = talus_world_time(world);
    result.deepest = fmax(result.deepest, overlap);
    result.speed = (double)y.velocity.x;
    if (began > 0 && overlap <= 0) {
      result.duration = talus_world_time(world) - began;
      return result;
    }
  }
  CHECK_MSG(false, "they never parted");
  return result;
}

#define BALL_MASS (1000 * 4.0 / 3.0 * 3.14159265358979323846 * 1e-3)

TEST(linear_impact_lasts_half_a_period_and_returns_all) {
  const double k = 1e6, m = BALL_MASS / 2, v = 0.5;
  const double omega = sqrt(k / m), dt = 3.14159265358979 / omega / 2000;
  talus_world_def def = springs(TALUS_LINEAR, dt);
  talus_world *world = rig_world(&def);
  const impact got = collide(world, soft(world, 0, 1, k, 1e7), v);
  CHECK_NEAR(got.deepest, 2 * v / omega, 2 * v / omega * BY_PRECISION(1e-5, 1e-3));
  CHECK_NEAR(got.duration, 3.14159265358979 / omega, 3 * dt);
  CHECK_NEAR(got.speed, v, BY_PRECISION(2e-6, 1e-4) * v);
  talus_world_destroy(world);
}

TEST_MAIN()
