/* Springs against closed forms: each law's impact, restitution, sliding, and the ledger of energy.
 */
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
  const double gap = 1e-7;
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

TEST(hertz_impact_has_the_overlap_and_duration_of_the_closed_form) {
  const double young = 1e7, nu = 0.25, m = BALL_MASS / 2, r = 0.05, v = 0.5, u = 2 * v;
  const double e = young / (2 * (1 - nu * nu));
  const double deepest = pow(15 * m * u * u / (16 * e * sqrt(r)), 0.4);
  const double duration = 2.9432752 * deepest / u; /* = 2.87 (m^2 / (R E^2 u))^(1/5) */
  CHECK_NEAR(duration, 2.87 * pow(m * m / (r * e * e * u), 0.2), 1e-3 * duration);
  const double dt = duration / 2000;
  talus_world_def def = springs(TALUS_HERTZ, dt);
  talus_world *world = rig_world(&def);
  const impact got = collide(world, soft(world, 0, 1, 0, young), v);
  CHECK_NEAR(got.deepest, deepest, deepest * BY_PRECISION(1e-5, 1e-3));
  CHECK_NEAR(got.duration, duration, 4 * dt);
  CHECK_NEAR(got.speed, v, BY_PRECISION(1e-6, 1e-4) * v);
  talus_world_destroy(world);
}

/* exp(-pi b / sqrt(1 - b^2)) is what damping was made from; here the whole way back. */
TEST(dashpots_give_the_restitution_that_was_asked_for) {
  const talus_spring_law laws[] = {TALUS_LINEAR, TALUS_HERTZ};
  const double asked[] = {0.9, 0.5, 0.2};
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 3; ++i) {
      talus_world_def def = springs(laws[k], 2e-6);
      talus_world *world = rig_world(&def);
      const impact got = collide(world, soft(world, 0, asked[i], 1e6, 1e7), 0.5);
      CHECK_NEAR(got.speed / 0.5, asked[i], BY_PRECISION(1e-3, 3e-3));
      talus_world_destroy(world);
    }
}

TEST(noble_force_stops_the_ball_where_infinite_mass_says) {
  talus_world_def def = springs(TALUS_NOBLE, 1e-4);
  def.solve.reach = 1;
  talus_world *world = rig_world(&def);
  const talus_material material = soft(world, 0, 0, 10, 1e7);
  rig_floor(world, material);
  talus_body_def ball = talus_body_def_default();
  talus_body body;
  ball.shape = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  ball.material = material;
  ball.mass = 1;
  ball.position.z = 1.1;
  ball.velocity = rig_vec(0, 0, -2);
  CHECK_OK(talus_world_add_body(world, &ball, &body));
  double nearest = 1, when = 0;
  for (int i = 0; i < 8000; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    const double gap = rig_info(world, body).position.z - 0.1;
    if (gap < nearest)
      nearest = gap, when = talus_world_time(world);
  }
  /* 1 - 2/sqrt(10) at pi/(2 sqrt(10)): docs/sources.md D13 */
  CHECK_NEAR(nearest, 0.3675, 2e-4);
  CHECK_NEAR(when, 0.4967, 5e-4);
  talus_world_destroy(world);
}

/* Sliding all through the impact: vt' = vt - mu (1 + e) vn, spin 5 mu (1 + e) vn / 2 R. */
TEST(oblique_impact_with_sliding_loses_what_coulomb_says) {
  const double mu = 0.1, e = 0.8, vn = 1, vt = 2, r = 0.1;
  const talus_spring_law laws[] = {TALUS_LINEAR, TALUS_HERTZ};
  for (int k = 0; k < 2; ++k) {
    talus_world_def def = springs(laws[k], 5e-7);
    talus_world *world = rig_world(&def);
    const talus_material material = soft(world, mu, e, 1e8, 1e10);
    rig_floor(world, material);
    const talus_body ball = rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, r, 0, 0, 0),
                                     material, 0, 0, r + 1e-6);
    CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(vt, 0, -vn), rig_vec(0, 0, 0)));
    for (int i = 0; i < 100000 && rig_info(world, ball).velocity.z < 0; ++i)
      CHECK_OK(talus_world_step(world, 100));
    for (int i = 0; i < 1000 && rig_info(world, ball).position.z < r; ++i)
      CHECK_OK(talus_world_step(world, 10));
    const talus_body_info info = rig_info(world, ball);
    CHECK_NEAR(info.velocity.z, e * vn, 3e-3);
    /* A dashpot that pulls at the end presses a little less than it should: see the theory page. */
    CHECK_NEAR(info.velocity.x, vt - mu * (1 + e) * vn, 2e-3);
    CHECK_NEAR(info.spin.y, 2.5 * mu * (1 + e) * vn / r, 0.02);
    talus_world_destroy(world);
  }
}

#if !TALUS_SINGLE /* in float a microsecond's motion is lost in rounding */

/* Everything at once: springs, dashpots, friction, rolling, cohesion, gravity. */
static double ledger_error(talus_spring_law law, double dt, bool with_turning) {
  talus_world_def def = springs(law, dt);
  def.gravity = rig_vec(0, 0, -9.81);
  talus_world *world = rig_world(&def);
  talus_material_def m = talus_material_def_default();
  talus_material material;
  m.density = 1000, m.friction = 0.4, m.restitution = 0.7, m.stiffness = 2e5, m.young = 4e6;
  if (with_turning)
    m.rolling = 2e-3, m.spinning = 1e-3, m.cohesion = 0.2;
  CHECK_OK(talus_world_add_material(world, &m, &material));
  rig_floor(world, material);
  const talus_shape shape = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  for (int i = 0; i < 3; ++i) {
    const talus_body ball =
        rig_body(world, TALUS_FREE, shape, material, 0.03 * i, 0.02 * i, 0.101 + 0.22 * i);
    CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(0.5 - 0.4 * i, 0.1, -0.3),
                                     rig_vec(3, 2 * i, 5)));
  }
  const talus_report start = rig_report(world);
  const double before = start.kinetic_energy + start.potential_energy;
  CHECK_OK(talus_world_step(world, (uint64_t)(0.25 / dt)));
  const talus_report now = rig_report(world);
  const double after = now.kinetic_energy + now.potential_energy + now.elastic_energy +
                       now.damping_work + now.friction_work;
  CHECK_MSG(now.damping_work > 0.01 && now.friction_work > 0.01, "damping %g J, friction %g J",
            now.damping_work, now.friction_work);
  talus_world_destroy(world);
  return fabs(after - before) / (now.damping_work + now.friction_work);
}

TEST(work_of_damping_and_friction_is_the_loss) {
  SKIP_IF_SHORT();
  for (int k = 0; k < 2; ++k)
    for (int turning = 0; turning < 2; ++turning) {
      const talus_spring_law law = k ? TALUS_HERTZ : TALUS_LINEAR;
      const double coarse = ledger_error(law, 2e-5, turning),
                   fine = ledger_error(law, 1e-6, turning);
      CHECK_MSG(fine < 1e-6, "%g with 1 us, %g with 20 us (law %d)", fine, coarse, k);
    }
}

/* Tangential part of a contact's force. */
static talus_vec3 tangential(const talus_contact *c, double dt) {
  const talus_vec3 f = c->impulse, n = c->normal;
  const double fn = (double)(f.x * n.x + f.y * n.y + f.z * n.z);
  return rig_vec(((double)f.x - fn * (double)n.x) / dt, ((double)f.y - fn * (double)n.y) / dt,
                 ((double)f.z - fn * (double)n.z) / dt);
}

/* A pair that is stretched tangentially, and then turned as a whole by a moving frame: the force
 * in the frame stays what it was. Kinematic bodies do the turning, about all three axes. */
TEST(history_turns_with_the_pair) {
  for (int axis = 0; axis < 3; ++axis) {
    const double r = 0.1, dt = 1e-4, quarter = 3.14159265358979 / 2;
    talus_world_def def = springs(TALUS_LINEAR, dt);
    talus_world *world = rig_world(&def);
    talus_material_def m = talus_material_def_default();
    talus_material material;
    m.friction = 10, m.stiffness = 1e4, m.restitution = 1, m.density = 1e4;
    CHECK_OK(talus_world_add_material(world, &m, &material));
    const talus_shape shape = rig_shape(world, TALUS_SPHERE, r, 0, 0, 0);
    talus_motion slide = {.velocity = rig_vec(0, 0.01, 0), .until = 0.1};
    talus_motion turn = {.from_time = 0.1, .until = 1.1, .is_through = true};
    turn.spin = rig_vec(axis == 0 ? quarter : 0, axis == 1 ? quarter : 0, axis == 2 ? quarter : 0);
    slide.next = &turn;
    talus_body_def def_b = talus_body_def_default();
    def_b.shape = shape, def_b.material = material, def_b.kind = TALUS_KINEMATIC;
    def_b.position.x = 0.19, def_b.motion = slide;
    talus_body_def def_a = def_b;
    def_a.kind = TALUS_FREE, def_a.position.x = 0, def_a.lock = 63;
    /* The first cannot be kinematic (two such bodies do not touch): it is pinned, and turned by
     * hand in step with the other. */
    talus_body a;
    CHECK_OK(talus_world_add_body(world, &def_a, &a));
    CHECK_OK(talus_world_add_body(world, &def_b, NULL));
    CHECK_OK(talus_world_step(world, 1000));
    talus_contact c;
    size_t count;
    CHECK_OK(talus_world_contacts(world, &c, 1, &count));
    CHECK_EQ_U64(count, 1);
    const talus_vec3 held = tangential(&c, dt);
    CHECK_NEAR(-held.y, 1e4 * 2.0 / 7.0 * 1e-3, 0.01);
    for (int i = 0; i < 10000; ++i) {
      CHECK_OK(talus_body_set_velocity(world, a, rig_vec(0, 0, 0), turn.spin));
      CHECK_OK(talus_world_step(world, 1));
    }
    CHECK_OK(talus_world_contacts(world, &c, 1, &count));
    const talus_vec3 now = tangential(&c, dt);
    /* A quarter turn about x: y becomes z; about y: y stays, x becomes -z; about z: y becomes -x.
     */
    const talus_vec3 want = axis == 0   ? rig_vec(held.x, -held.z, held.y)
                            : axis == 1 ? rig_vec(held.z, held.y, -held.x)
                                        : rig_vec(-held.y, held.x, held.z);
    CHECK_NEAR(now.x, want.x, 3e-3);
    CHECK_NEAR(now.y, want.y, 3e-3);
    CHECK_NEAR(now.z, want.z, 3e-3);
    talus_world_destroy(world);
  }
}

#endif

/* mg = k d; it stays there, and on a slope below the friction angle it does not creep. */
TEST(resting_ball_and_box_hold_on_a_slope) {
  const double slope = 0.3;
  for (int box = 0; box < 2; ++box) {
    talus_world_def def = springs(TALUS_LINEAR, 2e-5);
    def.gravity = rig_vec(9.81 * sin(slope), 0, -9.81 * cos(slope));
    talus_world *world = rig_world(&def);
    talus_material_def m = talus_material_def_default();
    talus_material material;
    m.density = 1000, m.friction = 0.6, m.stiffness = 1e6, m.rolling = 0.06;
    CHECK_OK(talus_world_add_material(world, &m, &material));
    rig_floor(world, material);
    const talus_shape shape = box ? rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.1, 0)
                                  : rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
    const talus_body body = rig_body(world, TALUS_FREE, shape, material, 0, 0, box ? 0.05 : 0.1);
    CHECK_OK(talus_world_step(world, 20000));
    const double x = rig_info(world, body).position.x;
    CHECK_OK(talus_world_step(world, 20000));
    const talus_body_info info = rig_info(world, body);
    CHECK_NEAR(info.position.x, x, BY_PRECISION(1e-9, 1e-5));
    CHECK(x < 1e-3);
    const double weight = (double)info.mass * 9.81 * cos(slope);
    const double depth = weight / 1e6;
    if (!box) /* one stands askew on a slope */
      CHECK_NEAR(0.1 - info.position.z, depth, 0.02 * depth);
    talus_world_destroy(world);
  }
}

/* A load that comes at once swings past: from 0.6 of the pull on it would tear off. */
TEST(cohesion_holds_up_to_its_pull) {
  for (int stronger = 0; stronger < 2; ++stronger) {
    talus_world_def def = springs(TALUS_HERTZ, 2e-5);
    talus_world *world = rig_world(&def);
    talus_material_def m = talus_material_def_default();
    talus_material material;
    m.density = 1000, m.cohesion = 1, m.young = 1e6, m.restitution = 0.3;
    CHECK_OK(talus_world_add_material(world, &m, &material));
    rig_floor(world, material);
    const talus_body ball = rig_body(
        world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.02, 0, 0, 0), material, 0, 0, 0.01999);
    CHECK_OK(talus_world_step(world, 20000));
    CHECK_OK(
        talus_body_set_force(world, ball, rig_vec(0, 0, stronger ? 1.02 : 0.55), rig_vec(0, 0, 0)));
    CHECK_OK(talus_world_step(world, 20000));
    CHECK((rig_info(world, ball).position.z > 0.02) == stronger);
    talus_world_destroy(world);
  }
}

TEST_MAIN()
