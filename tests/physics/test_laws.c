/* Laws between materials beyond friction and restitution: where theory says a ball stops, a block
 * starts and a grain falls, with every method and both friction models. */
#include "rig.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

static const struct {
  talus_ccp_method method;
  talus_friction_model friction;
} ways[] = {{TALUS_GAUSS_SEIDEL, TALUS_FRICTION_NCP}, {TALUS_GAUSS_SEIDEL, TALUS_FRICTION_CCP},
            {TALUS_JACOBI, TALUS_FRICTION_NCP},       {TALUS_APGD, TALUS_FRICTION_NCP},
            {TALUS_APGD, TALUS_FRICTION_CCP},         {TALUS_BB, TALUS_FRICTION_NCP}};
#define WAYS (sizeof ways / sizeof *ways)

static talus_world *make_world(size_t way, double dt) {
  talus_world_def def = rig_def(dt);
  def.solve.method = ways[way].method;
  def.solve.friction = ways[way].friction;
  def.solve.tolerance = BY_PRECISION(1e-11, 1e-6);
  return rig_world(&def);
}

static talus_material make_material(talus_world *world, const talus_material_def *laws) {
  talus_material_def def = *laws;
  talus_material material;
  def.density = 1000;
  CHECK_OK(talus_world_add_material(world, &def, &material));
  return material;
}

static double speed_of(const talus_world *world, talus_body body) {
  const talus_vec3 v = rig_info(world, body).velocity;
  return sqrt((double)(v.x * v.x + v.y * v.y + v.z * v.z));
}

/* ---- rolling and spinning -------------------------------------------------------------------- */

/* A ball of radius R rolls at v = w R. Friction f and the resisting torque M = rolling m g give
 *   m dv/dt = -f,  (2/5) m R^2 dw/dt = f R - M,
 * so with v = w R: dv/dt = -(5/7) g rolling/R. Symplectic Euler goes v^2/(2a) - v h/2. */
TEST(rolling_resistance_stops_a_ball_where_theory_says) {
  const double R = 0.1, rolling = 0.01, v0 = 1, dt = 1e-3, a = 5.0 / 7 * G * rolling / R;
  for (size_t way = 0; way < WAYS; ++way) {
    talus_world *world = make_world(way, dt);
    const talus_material m =
        make_material(world, &(talus_material_def){.friction = 0.5, .rolling = rolling});
    rig_floor(world, m);
    const talus_body ball =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, R, 0, 0, 0), m, 0, 0, R);
    CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(v0, 0, 0), rig_vec(0, v0 / R, 0)));
    CHECK_OK(talus_world_step(world, 500));
    /* The relaxation (ccp) lifts what rolls, by h (mu |u_t| + rolling |w|); its deceleration is the
     * same once that has settled. */
    const double slack = ways[way].friction == TALUS_FRICTION_NCP ? BY_PRECISION(1e-6, 1e-3) : 0.05;
    CHECK_MSG(fabs((double)rig_info(world, ball).velocity.x - (v0 - a * 0.5)) < slack,
              "way %zu: speed %g after 0.5 s, theory %g", way,
              (double)rig_info(world, ball).velocity.x, v0 - a * 0.5);
    CHECK_OK(talus_world_step(world, 1500));
    const talus_body_info info = rig_info(world, ball);
    CHECK_MSG(fabs((double)info.velocity.x) < BY_PRECISION(1e-8, 1e-4), "way %zu: still moves",
              way);
    const double stop = v0 * v0 / (2 * a) - v0 * dt / 2;
    CHECK_MSG(fabs(info.position.x - stop) <
                  (ways[way].friction == TALUS_FRICTION_NCP ? BY_PRECISION(2e-5, 2e-3) : 0.05),
              "way %zu: stops at %.7f, theory %.7f", way, info.position.x, stop);
    talus_world_destroy(world);
  }
}

/* A coefficient meant as a number without a unit: De Saxce's lift then made the iteration go round
 * for ever, with a residual of 0.2 m/s, and bricks crawled about. */
TEST(resistance_longer_than_the_body_lets_it_come_to_rest) {
  talus_world_def def = rig_def(1e-3);
  def.solve.tolerance = 1e-6;
  talus_world *world = rig_world(&def);
  const talus_material m =
      make_material(world, &(talus_material_def){.friction = 0.5, .rolling = 0.3, .spinning = 0.3});
  rig_floor(world, m);
  talus_body_def body = talus_body_def_default();
  body.shape = rig_shape(world, TALUS_BOX, 0.1, 0.06, 0.04, 0);
  body.material = m;
  body.position = (talus_dvec3){0, 0, 0.1};
  body.rotation = (talus_quat){(talus_real)0.96, (talus_real)0.1, (talus_real)0.26, 0};
  body.spin = rig_vec(2, 5, 1);
  body.velocity = rig_vec(0.5, 0, 0);
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK_OK(talus_world_step(world, 1500));
  const talus_report report = rig_report(world);
  CHECK_MSG(report.residual_rms < 5e-3, "residual %g m/s", report.residual_rms);
  CHECK_MSG(report.kinetic_energy < 1e-6, "%g J are left", report.kinetic_energy);
  talus_world_destroy(world);
}

/* Down a slope of tan(theta) a ball stays if rolling/R > tan(theta), and rolls off otherwise. */
TEST(ball_on_a_slope_stays_below_the_rolling_angle) {
  const double R = 0.1;
  for (int steep = 0; steep < 2; ++steep) {
    talus_world *world = make_world(0, 1e-3);
    const talus_material m =
        make_material(world, &(talus_material_def){.friction = 0.9, .rolling = 0.02});
    const double angle = atan(steep ? 0.22 : 0.18);
    rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_PLANE, sin(angle), 0, cos(angle), 0), m, 0,
             0, 0);
    const talus_body ball = rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, R, 0, 0, 0),
                                     m, R * sin(angle), 0, R * cos(angle));
    CHECK_OK(talus_world_step(world, 1000));
    const double v = speed_of(world, ball);
    const double expected = steep ? 5.0 / 7 * G * (sin(angle) - 0.2 * cos(angle)) : 0;
    CHECK_NEAR(v, expected, BY_PRECISION(1e-6, 2e-3));
    talus_world_destroy(world);
  }
}

/* A joint makes contacts start with a share of their last impulse (solve/system/drift.c); the
 * torque of rolling resistance, which is limited by that impulse, with the same. Without sweeps a
 * step keeps what it starts with. */
TEST(warm_start_beside_joints_takes_the_same_share_of_impulse_and_torque) {
  const double R = 0.1, angle = atan(0.1);
  talus_world *world = make_world(0, 1e-3);
  const talus_material m =
      make_material(world, &(talus_material_def){.friction = 0.9, .rolling = 0.02});
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_PLANE, sin(angle), 0, cos(angle), 0), m, 0, 0,
           0);
  const talus_shape sphere = rig_shape(world, TALUS_SPHERE, R, 0, 0, 0);
  const talus_body ball = rig_body(world, TALUS_FREE, sphere, m, R * sin(angle), 0, R * cos(angle));
  talus_joint_def rod = talus_joint_def_default();
  rod.kind = TALUS_JOINT_SPHERICAL;
  rod.a = ball;
  rod.b = rig_body(world, TALUS_FREE, sphere, m, R * sin(angle), 0, R * cos(angle) + 2.5 * R);
  rod.at = rod.to = (talus_dvec3){R * sin(angle), 0, R * cos(angle)};
  talus_joint joint;
  CHECK_OK(talus_world_add_joint(world, &rod, &joint));
  CHECK_OK(talus_world_step(world, 20));
  CHECK(world->contacts.count == 1);
  const talus_vec3 impulse = world->contacts.data[0].impulse;
  const talus_vec3 torque = world->contacts.law_states.data[0].torque;
  CHECK(tl_length(torque) > 0);
  world->model.solve.iterations = 0;
  CHECK_OK(talus_world_step(world, 1));
  CHECK(world->contacts.count == 1);
  const double share = (double)(tl_length(world->contacts.data[0].impulse) / tl_length(impulse));
  CHECK_NEAR(share, 0.4, 1e-6);
  CHECK_NEAR((double)(tl_length(world->contacts.law_states.data[0].torque) / tl_length(torque)),
             share, 1e-6);
  talus_world_destroy(world);
}

/* (2/5) m R^2 dw/dt = -spinning m g: the spin falls by (5/2) spinning g/R^2 each second. */
TEST(spinning_friction_stops_a_spinning_ball) {
  const double R = 0.1, spinning = 0.002, w0 = 10, a = 2.5 * spinning * G / (R * R);
  for (size_t way = 0; way < WAYS; ++way) {
    talus_world *world = make_world(way, 1e-3);
    const talus_material m =
        make_material(world, &(talus_material_def){.friction = 0.5, .spinning = spinning});
    rig_floor(world, m);
    const talus_body ball =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, R, 0, 0, 0), m, 0, 0, R);
    CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(0, 0, 0), rig_vec(0, 0, w0)));
    CHECK_OK(talus_world_step(world, 1000));
    CHECK_MSG(fabs((double)rig_info(world, ball).spin.z - (w0 - a)) <
                  (ways[way].friction == TALUS_FRICTION_NCP ? BY_PRECISION(1e-6, 1e-2) : 0.5),
              "way %zu: spin %g, theory %g", way, (double)rig_info(world, ball).spin.z, w0 - a);
    CHECK_OK(talus_world_step(world, 2000));
    CHECK_MSG(fabs((double)rig_info(world, ball).spin.z) < BY_PRECISION(1e-7, 1e-3),
              "way %zu: still spins", way);
    talus_world_destroy(world);
  }
}

/* A body that is no ball: four points at the corners of its face share the torque. */
TEST(spinning_box_on_many_points_stops_and_lies_still) {
  for (size_t way = 0; way < WAYS; ++way) {
    talus_world *world = make_world(way, 1e-3);
    const talus_material m = make_material(
        world, &(talus_material_def){.friction = 0, .spinning = 0.01, .rolling = 0.01});
    rig_floor(world, m);
    const talus_body box =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.1, 0), m, 0, 0, 0.05);
    CHECK_OK(talus_body_set_velocity(world, box, rig_vec(0, 0, 0), rig_vec(0, 0, 3)));
    /* I = m (0.2^2 + 0.2^2)/12, so dw/dt = -0.01 g 12/0.08. */
    CHECK_OK(talus_world_step(world, 100));
    CHECK_NEAR((double)rig_info(world, box).spin.z, 3 - 0.1 * 0.01 * G * 12 / 0.08,
               ways[way].friction == TALUS_FRICTION_NCP ? BY_PRECISION(1e-6, 1e-2) : 0.02);
    CHECK_OK(talus_world_step(world, 300));
    CHECK_NEAR((double)rig_info(world, box).spin.z, 0, BY_PRECISION(1e-7, 1e-4));
    CHECK_NEAR(rig_info(world, box).position.z, 0.05, BY_PRECISION(1e-7, 1e-5));
    talus_world_destroy(world);
  }
}

/* ---- cohesion -------------------------------------------------------------------------------- */

/* A grain touches a ceiling from below. */
static double hang(size_t way, double cohesion_over_weight, int steps) {
  const double R = 0.05, mass = 1000 * 4.0 / 3 * 3.14159265358979 * R * R * R;
  talus_world *world = make_world(way, 1e-3);
  const talus_material m = make_material(
      world, &(talus_material_def){.friction = 0.5, .cohesion = cohesion_over_weight * mass * G});
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_PLANE, 0, 0, -1, 0), m, 0, 0, 0);
  const talus_body grain =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, R, 0, 0, 0), m, 0, 0, -R);
  CHECK_OK(talus_world_step(world, 1));
  if (cohesion_over_weight > 1) /* the contact bears the weight, and no more */
    CHECK_NEAR(rig_impulse_z(world, grain), mass * G * 1e-3, BY_PRECISION(1e-9, 1e-5));
  CHECK_OK(talus_world_step(world, (uint64_t)steps));
  const double z = rig_info(world, grain).position.z + R;
  talus_world_destroy(world);
  return z;
}

/* Beyond it the grain is let down over the reach of its bond, then falls. */
static double fallen(double cohesion_over_weight, double reach, double time) {
  const double slow = (1 - cohesion_over_weight) * G, held = sqrt(2 * reach / slow);
  return reach + (slow * held + G / 2 * (time - held)) * (time - held);
}

TEST(cohesion_holds_a_hanging_grain_up_to_its_pull_off_and_not_beyond) {
  for (size_t way = 0; way < WAYS; ++way) {
    CHECK_NEAR(hang(way, 1.001, 2000), 0, BY_PRECISION(1e-9, 1e-6));
    CHECK_NEAR(hang(way, 0.999, 500), -fallen(0.999, 0.01 * 0.05, 0.501), 2e-3);
  }
}

/* Four points of one face share the force: a box hangs by the same cohesion as a ball. */
TEST(cohesion_is_between_two_bodies_however_many_points_touch) {
  for (int holds = 0; holds < 2; ++holds) {
    talus_world *world = make_world(0, 1e-3);
    const talus_material m = make_material(
        world, &(talus_material_def){.friction = 0.5, .cohesion = (holds ? 1.01 : 0.99) * G});
    rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_PLANE, 0, 0, -1, 0), m, 0, 0, 0);
    const talus_body box =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.1, 0.1, 0.1, 0), m, 0, 0, -0.05);
    CHECK_OK(talus_world_step(world, 500));
    const double z = rig_info(world, box).position.z + 0.05;
    CHECK_MSG(holds ? fabs(z) < 1e-6 : z < -0.3, "box at %g", z);
    talus_world_destroy(world);
  }
}

/* A grain thrown at a sticky wall with e = 0 stays on it, though the wall is upright: friction is
 * limited by mu times the pull-off force. */
TEST(sticky_wall_catches_a_grain) {
  const double R = 0.05, mass = 1000 * 4.0 / 3 * 3.14159265358979 * R * R * R;
  for (int holds = 0; holds < 2; ++holds) {
    talus_world *world = make_world(0, 1e-3);
    const talus_material m = make_material(
        world, &(talus_material_def){
                   .friction = 0.5, .rolling = R, .cohesion = (holds ? 2.2 : 1.8) * mass * G});
    rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_PLANE, -1, 0, 0, 0), m, 0, 0, 0);
    const talus_body grain =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, R, 0, 0, 0), m, -R - 0.01, 0, 0);
    CHECK_OK(talus_body_set_velocity(world, grain, rig_vec(1, 0, 0), rig_vec(0, 0, 0)));
    CHECK_OK(talus_world_step(world, 500));
    const talus_body_info info = rig_info(world, grain);
    CHECK_NEAR(info.position.x, -R, 1e-6);
    CHECK_MSG(holds ? fabs((double)info.velocity.z) < 1e-6 : (double)info.velocity.z < -0.1,
              "falls at %g m/s", (double)info.velocity.z);
    talus_world_destroy(world);
  }
}

/* Asleep nothing of it is solved; awake again the bond is still there. */
TEST(hanging_grain_keeps_its_bond_over_sleep) {
  const double R = 0.05, mass = 1000 * 4.0 / 3 * 3.14159265358979 * R * R * R;
  talus_world_def def = rig_def(1e-3);
  def.sleep = (talus_sleep_def){.speed = 1e-3, .time = 0.05};
  talus_world *world = rig_world(&def);
  const talus_material m = make_material(
      world, &(talus_material_def){.friction = 0.5, .rolling = 1e-3, .cohesion = 1.2 * mass * G});
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_PLANE, 0, 0, -1, 0), m, 0, 0, 0);
  const talus_body grain =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, R, 0, 0, 0), m, 0, 0, -R);
  CHECK_OK(talus_world_step(world, 400));
  CHECK_EQ_U64(rig_report(world).asleep, 1);
  CHECK_OK(talus_body_set_velocity(world, grain, rig_vec(0, 0, 0), rig_vec(0, 0, 0)));
  CHECK_EQ_U64(rig_report(world).asleep, 0);
  CHECK_OK(talus_world_step(world, 30));
  CHECK_EQ_U64(rig_report(world).asleep, 0);
  CHECK_NEAR(rig_info(world, grain).position.z, -R, BY_PRECISION(1e-6, 1e-5));
  talus_world_destroy(world);
}

/* ---- static friction ------------------------------------------------------------------------- */

/* A box on a slope, pushed or not. Its speed down the slope after a second. */
static double slope_speed(double tangent, double push) {
  talus_world *world = make_world(0, 1e-3);
  const talus_material m =
      make_material(world, &(talus_material_def){.friction = 0.3, .static_friction = 0.5});
  const double s = sin(atan(tangent)), c = cos(atan(tangent));
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_PLANE, s, 0, c, 0), m, 0, 0, 0);
  talus_body_def def = talus_body_def_default();
  talus_body box;
  def.shape = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.1, 0), def.material = m;
  def.position = (talus_dvec3){0.05 * s, 0, 0.05 * c};
  def.rotation =
      (talus_quat){(talus_real)cos(atan(tangent) / 2), 0, (talus_real)sin(atan(tangent) / 2), 0};
  CHECK_OK(talus_world_add_body(world, &def, &box));
  CHECK_OK(talus_body_set_velocity(world, box, rig_vec(push * c, 0, -push * s), rig_vec(0, 0, 0)));
  CHECK_OK(talus_world_step(world, 1000));
  const talus_vec3 v = rig_info(world, box).velocity;
  talus_world_destroy(world);
  return (double)v.x * c - (double)v.z * s;
}

TEST(block_between_the_two_friction_angles_stays_unless_pushed) {
  const double s = sin(atan(0.4)), c = cos(atan(0.4));
  CHECK_NEAR(slope_speed(0.4, 0), 0, BY_PRECISION(1e-8, 1e-5));
  CHECK_NEAR(slope_speed(0.4, 0.5), 0.5 + G * (s - 0.3 * c), BY_PRECISION(1e-3, 5e-3));
  /* Thrown upwards it comes to rest, and then static friction holds it. */
  CHECK_NEAR(slope_speed(0.4, -1), 0, BY_PRECISION(1e-8, 1e-5));
}

TEST(block_beyond_the_static_angle_slides_with_dynamic_friction) {
  const double s = sin(atan(0.55)), c = cos(atan(0.55));
  CHECK_NEAR(slope_speed(0.55, 0), G * (s - 0.3 * c), 0.02);
  CHECK_NEAR(slope_speed(0.2, 0.5), 0, BY_PRECISION(1e-8, 1e-5));
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static double bounce_of(talus_world *world, talus_material a, talus_material b) {
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_PLANE, 0, 0, 1, 0), a, 0, 0, 0);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), b, 0, 0, 0.11);
  CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(0, 0, -2), rig_vec(0, 0, 0)));
  CHECK_OK(talus_world_step(world, 15));
  return (double)rig_info(world, ball).velocity.z;
}

TEST(restitution_is_that_of_the_pair) {
  talus_material m[3];
  for (int k = 0; k < 3; ++k) {
    talus_world *world = make_world(0, 1e-3);
    for (int i = 0; i < 3; ++i)
      m[i] = make_material(world, &(talus_material_def){.restitution = 0.2 + 0.3 * i});
    talus_material_law law;
    CHECK_OK(talus_world_get_material_law(world, m[1], m[2], &law));
    CHECK_NEAR(law.restitution, 0.5, 1e-6);
    law.restitution = 0.9;
    CHECK_OK(talus_world_set_material_law(world, m[2], m[1], &law));
    const int a = k == 0 ? 0 : 1, b = k == 1 ? 1 : 2;
    const double e = k == 0 ? 0.2 : k == 1 ? 0.5 : 0.9;
    const double v = bounce_of(world, m[a], m[b]);
    CHECK(v > e * 2 - 0.15 && v < e * 2 + 0.15);
    talus_world_destroy(world);
  }
}

TEST(laws_of_a_pair_are_the_smaller_of_the_two_unless_told) {
  talus_world *world = make_world(0, 1e-3);
  const talus_material a = make_material(
      world,
      &(talus_material_def){
          .friction = 0.3, .static_friction = 0.4, .rolling = 3, .spinning = 1, .cohesion = 5});
  const talus_material b = make_material(
      world, &(talus_material_def){.friction = 0.5, .rolling = 2, .spinning = 4, .cohesion = 6});
  talus_material_law law;
  CHECK_OK(talus_world_get_material_law(world, a, b, &law));
  CHECK_NEAR(law.friction, 0.3, 1e-6);
  CHECK_NEAR(law.static_friction, 0.4, 1e-6);
  CHECK(law.rolling == 2 && law.spinning == 1 && law.cohesion == 5);
  CHECK_OK(talus_world_set_material_pair(world, a, b, 0.8, 0));
  CHECK_OK(talus_world_get_material_law(world, b, a, &law));
  CHECK_NEAR(law.static_friction, 0.8, 1e-6);
  CHECK(law.rolling == 2 && law.cohesion == 5);
  /* A pair does not stick by what was the sliding friction of its materials. */
  CHECK_OK(talus_world_set_material_pair(world, b, b, 0.1, 0));
  talus_material_law slippery;
  CHECK_OK(talus_world_get_material_law(world, b, b, &slippery));
  CHECK_NEAR(slippery.static_friction, 0.1, 1e-6);
  law.static_friction = 0.7;
  CHECK(talus_world_set_material_law(world, a, b, &law) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "static_friction is 0.7") != NULL);
  law.static_friction = 0, law.cohesion = -1;
  CHECK(talus_world_set_material_law(world, a, b, &law) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "cohesion is -1") != NULL);
  talus_world_destroy(world);
}

/* ---- the ledger ------------------------------------------------------------------------------ */

/* Kinetic and potential energy change by the work of contacts and loads, up to what symplectic
 * Euler leaves over. */
TEST(energy_changes_by_the_work_that_is_told) {
  for (size_t way = 0; way < WAYS; ++way) {
    talus_world *world = make_world(way, 1e-3);
    const talus_material m = make_material(
        world, &(talus_material_def){.friction = 0.4, .restitution = 0.5, .rolling = 0.01});
    rig_floor(world, m);
    double mass = 0;
    for (int i = 0; i < 3; ++i) {
      const talus_body ball =
          rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0.15 * i,
                   0.02 * i, 0.12 + 0.25 * i);
      CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(1, 0, 0), rig_vec(3, 0, 1)));
      CHECK_OK(talus_body_set_force(world, ball, rig_vec(0.5, 0, 0), rig_vec(0, 0.1, 0)));
      mass += (double)rig_info(world, ball).mass;
    }
    const talus_report before = rig_report(world);
    CHECK_OK(talus_world_step(world, 700));
    const talus_report after = rig_report(world);
    const double change = after.kinetic_energy + after.potential_energy - before.kinetic_energy -
                          before.potential_energy;
    CHECK(after.contact_work < -0.1 && after.load_work > 0.1 && after.flow_energy == 0);
    CHECK_MSG(fabs(change - after.contact_work - after.load_work) < mass * G * 1e-3 * 3,
              "way %zu: changes by %g, work %g + %g", way, change, after.contact_work,
              after.load_work);
    CHECK(after.rotational_energy > 0 && after.rotational_energy < after.kinetic_energy);
    talus_world_destroy(world);
  }
}

TEST_MAIN()
