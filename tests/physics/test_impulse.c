/* Sequential impulses: what rests stays, what overlaps parts without a kick, what slides or bounces
 * does so by the book; and where both are right, cone complementarity says the same. */
#include "rig.h"
#include "world/world.h"

static talus_world_def impulse_def(double dt) {
  talus_world_def def = rig_def(dt);
  def.solve.kind = TALUS_SOLVE_IMPULSE;
  return def;
}

static double moved(const talus_world *world, talus_body body, double x, double y, double z) {
  const talus_dvec3 p = rig_info(world, body).position;
  return fabs(p.x - x) + fabs(p.y - y) + fabs(p.z - z);
}

/* Angle a body has turned by from the identity, rad. */
static double turned(const talus_world *world, talus_body body) {
  const talus_quat q = rig_info(world, body).rotation;
  const double v = sqrt((double)(q.x * q.x + q.y * q.y + q.z * q.z));
  return 2 * atan2(v, fabs((double)q.w));
}

static double length(talus_vec3 v) { return sqrt((double)(v.x * v.x + v.y * v.y + v.z * v.z)); }

/* ---- rest ------------------------------------------------------------------------------------ */

/* One sweep a step is all it gets, and from a cold start: corners that were visited one after the
 * other would leave it spinning. */
TEST(resting_box_neither_spins_nor_creeps_with_one_sweep_a_step) {
  const double size[3][3] = {{0.3, 0.3, 0.3}, {0.1, 0.15, 1}, {1, 0.8, 0.05}};
  for (int k = 0; k < 3; ++k) {
    const double dt = 5e-3, z = size[k][2] / 2;
    talus_world_def def = impulse_def(dt);
    def.solve.iterations = 1;
    def.solve.tolerance = 0;
    def.solve.warm_start = false;
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0.5, 0.3);
    rig_floor(world, m);
    const talus_body box = rig_body(
        world, TALUS_FREE, rig_shape(world, TALUS_BOX, size[k][0], size[k][1], size[k][2], 0), m,
        0.1, 0.2, z);
    double spin = 0;
    for (int n = 0; n < (int)(10 / dt); ++n) {
      CHECK_OK(talus_world_step(world, 1));
      spin = fmax(spin, length(rig_info(world, box).spin));
    }
    CHECK_NEAR(moved(world, box, 0.1, 0.2, z), 0, BY_PRECISION(1e-11, 1e-5));
    CHECK_NEAR(turned(world, box), 0, BY_PRECISION(1e-11, 1e-5));
    CHECK_NEAR(spin, 0, BY_PRECISION(1e-11, 1e-5));
    const double weight = (double)rig_info(world, box).mass * G * dt;
    CHECK_NEAR(rig_impulse_z(world, box), weight, weight * BY_PRECISION(1e-10, 1e-4));
    talus_world_destroy(world);
  }
}

TEST(stack_of_ten_boxes_stands_for_ten_seconds) {
  enum { BOXES = 10 };
  talus_world_def def = impulse_def(5e-3);
  def.solve.iterations = 50;
  def.solve.tolerance = BY_PRECISION(1e-9, 1e-6);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_shape cube = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  talus_body body[BOXES];
  for (int i = 0; i < BOXES; ++i)
    body[i] = rig_body(world, TALUS_FREE, cube, m, 0, 0, 0.1 + 0.2 * i);
  CHECK_OK(talus_world_step(world, 200));
  double settled[BOXES];
  for (int i = 0; i < BOXES; ++i) {
    settled[i] = rig_info(world, body[i]).position.z;
    CHECK_NEAR(settled[i], 0.1 + 0.2 * i, 1e-3); /* what the first steps, from nothing, left */
  }
  CHECK_OK(talus_world_step(world, 1800));
  for (int i = 0; i < BOXES; ++i) {
    CHECK_NEAR(moved(world, body[i], 0, 0, settled[i]), 0, BY_PRECISION(1e-8, 1e-3));
    CHECK_NEAR(turned(world, body[i]), 0, BY_PRECISION(1e-8, 1e-3));
  }
  talus_world_destroy(world);
}

TEST(hundredfold_mass_on_two_light_boxes_stands) {
  talus_world_def def = impulse_def(2e-3);
  def.solve.iterations = 200;
  def.solve.tolerance = 1e-6;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  talus_body body[3];
  for (int i = 0; i < 3; ++i) {
    talus_body_def each = talus_body_def_default();
    each.shape = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.2, 0), each.material = m;
    each.position = (talus_dvec3){0, 0, 0.1 + 0.2 * i};
    each.mass = i == 2 ? 100 : 1;
    CHECK_OK(talus_world_add_body(world, &each, &body[i]));
  }
  CHECK_OK(talus_world_step(world, 1500));
  for (int i = 0; i < 3; ++i)
    CHECK_NEAR(moved(world, body[i], 0, 0, 0.1 + 0.2 * i), 0, 1e-4);
  CHECK_NEAR(rig_impulse_z(world, body[2]), 100 * G * 2e-3, BY_PRECISION(2e-3, 2e-2));
  talus_world_destroy(world);
}

/* Heights in a wall of bricks; returns what the floor bears, over its weight. */
static double build_wall(talus_world *world, double heights[45]) {
  const double l = 0.25, w = 0.12, h = 0.06;
  const talus_material m = rig_material(world, 0.6, 0);
  rig_floor(world, m);
  const talus_shape brick = rig_shape(world, TALUS_BOX, l, w, h, 0);
  talus_body body[45];
  int count = 0;
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 5 - row % 2; ++column)
      body[count++] = rig_body(world, TALUS_FREE, brick, m,
                               (column + 0.5 * (row % 2)) * (l + 0.002), 0, h * (row + 0.5));
  CHECK_OK(talus_world_step(world, 300));
  for (int i = 0; i < count; ++i) {
    heights[i] = rig_info(world, body[i]).position.z;
    CHECK_NEAR(turned(world, body[i]), 0, BY_PRECISION(1e-3, 2e-2));
  }
  double weight = 0;
  for (int i = 0; i < count; ++i)
    weight += (double)rig_info(world, body[i]).mass * G * 5e-3;
  talus_body floor;
  CHECK_OK(talus_world_body_at(world, 0, &floor));
  return -rig_impulse_z(world, floor) / weight;
}

TEST(wall_stands_as_with_cone_complementarity) {
  double ours[45] = {0}, theirs[45] = {0};
  talus_world_def def = impulse_def(5e-3);
  def.solve.iterations = 100;
  def.solve.tolerance = BY_PRECISION(1e-6, 1e-5);
  talus_world *world = rig_world(&def);
  CHECK_NEAR(build_wall(world, ours), 1, BY_PRECISION(1e-4, 1e-2));
  talus_world_destroy(world);
  def.solve.kind = TALUS_SOLVE_CCP;
  def.solve.iterations = 400;
  world = rig_world(&def);
  CHECK_NEAR(build_wall(world, theirs), 1, 0.1); /* whose sweeps are not done by then */
  talus_world_destroy(world);
  for (int i = 0; i < 36; ++i)
    CHECK_NEAR(ours[i], theirs[i], BY_PRECISION(1e-4, 2e-3));
}

/* ---- position correction --------------------------------------------------------------------- */

/* Two bodies that overlap deeply, far from anything. They part as far as the slop, and at no time
 * does either have a velocity: the numbers are 0, not small. */
TEST(overlapping_bodies_part_and_end_with_zero_velocity) {
  const struct {
    talus_shape_kind kind;
    double size[3], x, y;
  } pairs[] = {{TALUS_SPHERE, {0.1, 0, 0}, 0.15, 0.01},
               {TALUS_BOX, {0.2, 0.2, 0.2}, 0.17, 0.05},
               {TALUS_CAPSULE, {0.05, 0.3, 0}, 0.06, 0.01}};
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
    talus_world_def def = impulse_def(2e-3);
    def.gravity = rig_vec(0, 0, 0);
    def.solve.slop = 1e-3;
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0.5, 0.5);
    const talus_shape shape =
        rig_shape(world, pairs[k].kind, pairs[k].size[0], pairs[k].size[1], pairs[k].size[2], 0);
    const talus_body a = rig_body(world, TALUS_FREE, shape, m, 0, 0, 0);
    const talus_body b = rig_body(world, TALUS_FREE, shape, m, pairs[k].x, pairs[k].y, 0.01);
    for (int n = 0; n < 400; ++n) {
      CHECK_OK(talus_world_step(world, 1));
      CHECK(rig_report(world).kinetic_energy == 0);
      CHECK(length(rig_info(world, a).velocity) == 0 && length(rig_info(world, b).spin) == 0);
    }
    talus_contact contacts[16];
    size_t count;
    CHECK_OK(talus_world_contacts(world, contacts, 16, &count));
    CHECK(count >= 1 && count <= 16);
    double gap = 1;
    for (size_t i = 0; i < count; ++i)
      gap = fmin(gap, (double)contacts[i].gap);
    CHECK_NEAR(gap, -1e-3, 1e-5);
    const talus_dvec3 p = rig_info(world, a).position, q = rig_info(world, b).position;
    CHECK_NEAR(p.x + q.x, pairs[k].x, 1e-6); /* neither was favoured */
    CHECK_NEAR(p.y + q.y, pairs[k].y, 1e-6);
    talus_world_destroy(world);
  }
}

/* As fast as recovery_speed and not faster, and no velocity is left behind. */
TEST(deep_overlap_parts_at_the_recovery_speed) {
  talus_world_def def = impulse_def(2e-3);
  def.gravity = rig_vec(0, 0, 0);
  def.solve.recovery_speed = 0.2;
  def.solve.correction = 1;
  for (int k = 0; k < 2; ++k) {
    def.solve.kind = k == 0 ? TALUS_SOLVE_IMPULSE : TALUS_SOLVE_CCP;
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0.5, 0);
    rig_floor(world, m);
    const talus_body ball =
        rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 0.05);
    CHECK_OK(talus_world_step(world, 10));
    CHECK_NEAR(rig_info(world, ball).position.z, 0.05 + 10 * 0.2 * 2e-3, BY_PRECISION(1e-12, 1e-6));
    CHECK_NEAR((double)rig_info(world, ball).velocity.z, 0, BY_PRECISION(1e-12, 1e-6));
    CHECK_OK(talus_world_step(world, 1000));
    CHECK_NEAR(rig_info(world, ball).position.z, 0.1, 1e-5);
    talus_world_destroy(world);
  }
}

/* A pile that is made with overlaps and lifted out of them: what correction lifts is on the account
 * of contacts, so that the ledger closes as without it. */
TEST(energy_that_correction_lifts_is_on_the_account_of_contacts) {
  talus_world_def def = impulse_def(1e-3);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  for (int i = 0; i < 4; ++i)
    rig_body(world, TALUS_FREE, ball, m, 0, 0, 0.09 + 0.18 * i);
  const talus_report before = rig_report(world);
  CHECK_OK(talus_world_step(world, 2000));
  const talus_report after = rig_report(world);
  const double gained = after.kinetic_energy + after.potential_energy - before.kinetic_energy -
                        before.potential_energy;
  CHECK_MSG(gained > 1, "the pile was lifted by %g J", gained);
  CHECK_NEAR(after.contact_work, gained, BY_PRECISION(1e-6, 1e-2) * gained);
  CHECK_NEAR(after.kinetic_energy, 0, BY_PRECISION(1e-12, 1e-8));
  talus_world_destroy(world);
}

/* A link hangs from the ground by a hinge and overlaps a wall: it is turned out of it about the
 * hinge, which holds. */
TEST(joints_hold_while_overlap_is_taken_out) {
  talus_world_def def = impulse_def(1e-3);
  def.gravity = rig_vec(0, 0, 0);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  const talus_body bar =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_CAPSULE, 0.05, 0.8, 0, 0), m, 0, 0, 0);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_BOX, 0.2, 1, 0.2, 0), m, 0.12, 0, -0.4);
  talus_joint_def hinge = talus_joint_def_default();
  hinge.kind = TALUS_JOINT_REVOLUTE;
  hinge.a = bar;
  hinge.at = hinge.to = (talus_dvec3){0, 0, 0.4};
  hinge.axis = rig_vec(0, 1, 0);
  CHECK_OK(talus_world_add_joint(world, &hinge, NULL));
  CHECK_OK(talus_world_step(world, 500));
  CHECK(turned(world, bar) > 0.02);
  CHECK_NEAR(rig_report(world).joint_drift, 0, BY_PRECISION(1e-6, 1e-4));
  CHECK_NEAR(rig_report(world).kinetic_energy, 0, BY_PRECISION(1e-6, 1e-5));
  talus_world_destroy(world);
}

/* ---- impact and friction --------------------------------------------------------------------- */

TEST(ball_bounces_to_e_squared_of_its_height) {
  const double e = 0.7, dt = 5e-4;
  talus_world_def def = impulse_def(dt);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, e);
  rig_floor(world, m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 1.1);
  double expected = 1;
  for (int bounce = 0; bounce < 3; ++bounce) {
    double top = 0;
    bool hit = false;
    for (int n = 0; n < 4000; ++n) {
      const double v = (double)rig_info(world, ball).velocity.z;
      CHECK_OK(talus_world_step(world, 1));
      const double now = (double)rig_info(world, ball).velocity.z;
      hit |= v < 0 && now > 0;
      if (hit)
        top = fmax(top, rig_info(world, ball).position.z - 0.1);
      if (hit && now < 0)
        break;
    }
    expected *= e * e;
    CHECK_NEAR(top, expected, 0.01 * expected);
  }
  talus_world_destroy(world);
}

/* vt' = vt - mu (1 + e) vn and spin 5 mu (1 + e) vn / 2R while it slides all through. */
TEST(oblique_impact_with_sliding_is_by_the_book) {
  const double mu = 0.2, e = 0.6, vn = 2, vt = 5, radius = 0.1;
  talus_world_def def = impulse_def(1e-4);
  def.gravity = rig_vec(0, 0, 0);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, mu, e);
  rig_floor(world, m);
  const talus_body ball = rig_body(
      world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, radius, 0, 0, 0), m, 0, 0, radius + 1e-3);
  CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(vt, 0, -vn), rig_vec(0, 0, 0)));
  CHECK_OK(talus_world_step(world, 20));
  const talus_body_info info = rig_info(world, ball);
  CHECK_NEAR((double)info.velocity.z, e * vn, BY_PRECISION(1e-12, 1e-5));
  CHECK_NEAR((double)info.velocity.x, vt - mu * (1 + e) * vn, BY_PRECISION(1e-12, 1e-5));
  /* It bounces a little above the floor: its arm is longer by up to vn dt / 2. */
  const double spin = 5 * mu * (1 + e) * vn / (2 * radius);
  CHECK_NEAR((double)info.spin.y, spin, spin * vn * 1e-4 / radius);
  talus_world_destroy(world);
}

/* Gravity leans instead of the floor. */
static double slide(double mu, double degrees, double time) {
  const double angle = degrees * 3.14159265358979323846 / 180;
  talus_world_def def = impulse_def(1e-3);
  def.gravity = rig_vec(G * sin(angle), 0, -G * cos(angle));
  def.solve.iterations = 200;
  def.solve.tolerance = BY_PRECISION(1e-9, 1e-6);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, mu, 0);
  rig_floor(world, m);
  const talus_body box =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.4, 0.4, 0.1, 0), m, 0, 0, 0.05);
  CHECK_OK(talus_world_step(world, (uint64_t)(time / 1e-3 + 0.5)));
  const double x = rig_info(world, box).position.x;
  CHECK_NEAR(turned(world, box), 0, BY_PRECISION(1e-6, 1e-3));
  talus_world_destroy(world);
  return x;
}

TEST(box_on_an_incline_sticks_below_the_angle_of_friction_and_slides_above) {
  const double angle = 25 * 3.14159265358979323846 / 180, edge = tan(angle);
  CHECK_NEAR(slide(1.02 * edge, 25, 5), 0, BY_PRECISION(1e-6, 1e-3));
  const double mu = 0.9 * edge, a = G * (sin(angle) - mu * cos(angle));
  CHECK_NEAR(slide(mu, 25, 1), a / 2, 2e-3 * a);
}

TEST(ball_slides_and_then_rolls_at_five_sevenths) {
  talus_world_def def = impulse_def(1e-3);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.3, 0);
  rig_floor(world, m);
  const talus_body ball =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 0.1);
  CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(3, 0, 0), rig_vec(0, 0, 0)));
  CHECK_OK(talus_world_step(world, 1000));
  CHECK_NEAR((double)rig_info(world, ball).velocity.x, 3 * 5.0 / 7, BY_PRECISION(1e-9, 1e-4));
  CHECK_NEAR((double)rig_info(world, ball).spin.y, 3 * 5.0 / 0.7, BY_PRECISION(1e-8, 1e-3));
  talus_world_destroy(world);
}

/* Beyond the wall: a heap of mixed shapes, one step, the same velocities. */
TEST(one_step_of_a_heap_agrees_with_cone_complementarity) {
  talus_vec3 got[2][60];
  for (int k = 0; k < 2; ++k) {
    talus_world_def def = impulse_def(2e-3);
    def.solve.kind = TALUS_SOLVE_CCP;
    def.solve.iterations = 300;
    def.solve.tolerance = BY_PRECISION(1e-8, 1e-6);
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0.4, 0);
    rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 0.6, 0.6, 3, 0), m, 0, 0, 1.5);
    const talus_shape kinds[2] = {rig_shape(world, TALUS_SPHERE, 0.07, 0, 0, 0),
                                  rig_shape(world, TALUS_CAPSULE, 0.05, 0.06, 0, 0)};
    talus_body body[60];
    for (int i = 0; i < 60; ++i)
      body[i] = rig_body(world, TALUS_FREE, kinds[i % 2], m, 0.17 * (i % 3 - 1) + 0.003 * (i % 7),
                         0.17 * (i / 3 % 3 - 1) + 0.002 * (i % 5), 0.15 + 0.2 * (i / 9));
    CHECK_OK(talus_world_step(world, 150));
    talus_solve_def *solve = &world->model.solve;
    solve->kind = k == 0 ? TALUS_SOLVE_CCP : TALUS_SOLVE_IMPULSE;
    solve->iterations = 20000;
    solve->tolerance = BY_PRECISION(1e-11, 1e-6);
    solve->recovery_speed = 0; /* which ccp has in its velocities */
    CHECK_OK(talus_world_step(world, 1));
    CHECK(rig_report(world).residual_rms < BY_PRECISION(1e-10, 1e-4));
    CHECK_MSG(rig_report(world).contacts_near > 30, "%zu contacts",
              rig_report(world).contacts_near);
    for (int i = 0; i < 60; ++i)
      got[k][i] = rig_info(world, body[i]).velocity;
    talus_world_destroy(world);
  }
  for (int i = 0; i < 60; ++i) {
    CHECK_NEAR((double)got[0][i].x, (double)got[1][i].x, BY_PRECISION(1e-7, 1e-2));
    CHECK_NEAR((double)got[0][i].y, (double)got[1][i].y, BY_PRECISION(1e-7, 1e-2));
    CHECK_NEAR((double)got[0][i].z, (double)got[1][i].z, BY_PRECISION(1e-7, 1e-2));
  }
}

TEST_MAIN()
