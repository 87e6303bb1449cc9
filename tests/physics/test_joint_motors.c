/* What drives, limits and breaks joints: gears, motors, limits, springs, ropes, thresholds. */
#include "joint_rig.h"

/* ---- gears ----------------------------------------------------------------------------------- */

static talus_body add_wheel(rig *r, double x, double radius) {
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_CYLINDER;
  shape.size[0] = radius, shape.size[1] = 0.02;
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(r->world, &shape, &body.shape));
  body.material = r->material;
  body.position.x = x;
  talus_body made;
  CHECK_OK(talus_world_add_body(r->world, &body, &made));
  return made;
}

TEST(gears_keep_their_ratio_and_pass_on_torque) {
  rig r = make(1e-3, 0);
  const talus_body small = add_wheel(&r, 0, 0.1), large = add_wheel(&r, 0.4, 0.3);
  talus_joint_def axle = joint_of(TALUS_JOINT_REVOLUTE, ground, small, 0, 0, 0, 0, 0, 1);
  axle.motor = TALUS_MOTOR_FORCE;
  axle.motor_target = 0.5;
  const talus_joint in = add_joint(&r, &axle);
  axle = joint_of(TALUS_JOINT_REVOLUTE, ground, large, 0.4, 0, 0, 0, 0, 1);
  const talus_joint out = add_joint(&r, &axle);
  talus_joint_def gear = joint_of(TALUS_JOINT_GEAR, small, large, 0, 0, 0, 0, 0, 1);
  gear.ratio = -1.0 / 3;
  add_joint(&r, &gear);
  CHECK_OK(talus_world_step(r.world, 2000));
  const double fast = info_of(&r, in).value, slow = info_of(&r, out).value;
  CHECK_MSG(fast > 20, "turned by %g rad only", fast);
  CHECK_NEAR(slow, -fast / 3, BY_PRECISION(1e-8, 1e-3));
  /* T t^2 / 2 / (I1 + I2/9) */
  const talus_body_info one = body_of(&r, small), two = body_of(&r, large);
  const double inertia = (double)one.inertia.z + (double)two.inertia.z / 9;
  CHECK_NEAR(fast, 0.5 * 0.5 * 2.0 * 2.001 / inertia, 1e-3 * fast);
  talus_world_destroy(r.world);
}

TEST(rack_moves_by_the_pitch_radius_times_the_angle) {
  rig r = make(1e-3, 0);
  const talus_body pinion = add_wheel(&r, 0, 0.1);
  const talus_body rack = add_box(&r, 0, 0.15, 0, 0.6, 0.05, 0.05, 0);
  talus_joint_def axle = joint_of(TALUS_JOINT_REVOLUTE, ground, pinion, 0, 0, 0, 0, 0, 1);
  axle.motor = TALUS_MOTOR_SPEED;
  axle.motor_target = 3;
  const talus_joint in = add_joint(&r, &axle);
  const talus_joint_def rail = joint_of(TALUS_JOINT_PRISMATIC, ground, rack, 0, 0.15, 0, 1, 0, 0);
  add_joint(&r, &rail);
  talus_joint_def teeth = joint_of(TALUS_JOINT_RACK, pinion, rack, 0, 0.1, 0, 0, 0, 1);
  teeth.axis_b = (talus_vec3){1, 0, 0};
  teeth.ratio = -0.1;
  add_joint(&r, &teeth);
  CHECK_OK(talus_world_step(r.world, 3000));
  CHECK_NEAR(info_of(&r, in).value, 9, BY_PRECISION(1e-6, 1e-3));
  CHECK_NEAR(body_of(&r, rack).position.x, -0.9, BY_PRECISION(1e-6, 1e-3));
  talus_world_destroy(r.world);
}

/* Gear and rack on bearings, driven back and forth by a spring, for ten seconds. */
TEST(gear_and_rack_hold_for_ten_seconds) {
  rig r = make(1e-3, 9.81);
  r.world->model.solve.iterations = BY_PRECISION(1000, 10);
  const talus_body wheel = add_box(&r, 0, 0, 0, 0.2, 0.1, 0.2, 1);
  const talus_body other = add_box(&r, 1, 0, 1, 0.4, 0.1, 0.4, 1);
  const talus_body bar = add_box(&r, 0, 0, -0.3, 0.6, 0.1, 0.1, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, ground, wheel, 0, 0, 0, 0, 1, 0);
  def.stiffness = 3, def.rest = 5; /* 5 rad away: whole turns are made */
  add_joint(&r, &def);
  hinge(&r, ground, other, 1, 0, 1);
  def = joint_of(TALUS_JOINT_PRISMATIC, ground, bar, 0, 0, -0.3, 1, 0, 0);
  add_joint(&r, &def);
  def = joint_of(TALUS_JOINT_GEAR, wheel, other, 0, 0, 0, 0, 1, 0);
  def.ratio = -0.5;
  const talus_joint gear = add_joint(&r, &def);
  def = joint_of(TALUS_JOINT_RACK, wheel, bar, 0, 0, -0.2, 0, 1, 0);
  def.axis_b = (talus_vec3){1, 0, 0};
  def.ratio = 0.2;
  const talus_joint rack = add_joint(&r, &def);
  double drift = 0, far = 0;
  for (int i = 0; i < 1000; ++i) {
    CHECK_OK(talus_world_step(r.world, 10));
    drift = fmax(drift, fmax(info_of(&r, gear).drift, info_of(&r, rack).drift));
    far = fmax(far, body_of(&r, bar).position.x);
  }
  CHECK_MSG(drift < DRIFT * 0.25, "drift %g m", drift);
  CHECK_MSG(far > 1.9 && far < 2.05, "the bar went as far as %g m", far); /* 10 rad at 0.2 m */
  talus_world_destroy(r.world);
}

/* ---- motors, limits, springs ----------------------------------------------------------------- */

TEST(motor_gives_no_more_than_its_cap) {
  rig r = make(1e-3, 0);
  const talus_body wheel = add_wheel(&r, 0, 0.2);
  talus_joint_def axle = joint_of(TALUS_JOINT_REVOLUTE, ground, wheel, 0, 0, 0, 0, 0, 1);
  axle.motor = TALUS_MOTOR_SPEED;
  axle.motor_target = 10;
  axle.motor_max = 0.3;
  const talus_joint motor = add_joint(&r, &axle);
  const double inertia = (double)body_of(&r, wheel).inertia.z;
  CHECK_OK(talus_world_step(r.world, 100));
  CHECK_NEAR(body_of(&r, wheel).spin.z, 0.3 * 0.1 / inertia, 1e-4 * 0.3 * 0.1 / inertia);
  CHECK_NEAR(info_of(&r, motor).torque.z, 0.3, 1e-5);
  CHECK_OK(talus_joint_set_motor(r.world, motor, 10, 1000));
  CHECK_OK(talus_world_step(r.world, 1));
  CHECK_NEAR(body_of(&r, wheel).spin.z, 10, 1e-4);
  CHECK_OK(talus_world_step(r.world, 1));
  CHECK_NEAR(info_of(&r, motor).torque.z, 0, 1e-2);
  talus_world_destroy(r.world);
}

/* b is the one that goes the positive way, whichever of the two is the ground. */
TEST(motors_and_limits_count_b_as_seen_from_a) {
  for (int swapped = 0; swapped < 2; ++swapped) {
    const double sign = swapped ? -1 : 1;
    rig r = make(1e-3, 0);
    const talus_body wheel = add_wheel(&r, 0, 0.2);
    const talus_body box = add_box(&r, 2, 0, 0, 0.1, 0.1, 0.1, 1);
    talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, swapped ? wheel : ground,
                                   swapped ? ground : wheel, 0, 0, 0, 0, 0, 1);
    def.motor = TALUS_MOTOR_SPEED;
    def.motor_target = 2;
    const talus_joint axle = add_joint(&r, &def);
    def = joint_of(TALUS_JOINT_PRISMATIC, swapped ? box : ground, swapped ? ground : box, 2, 0, 0,
                   1, 0, 0);
    def.motor = TALUS_MOTOR_FORCE;
    def.motor_target = 10;
    def.low = -1, def.high = 0.1;
    const talus_joint slide = add_joint(&r, &def);
    CHECK_OK(talus_world_step(r.world, 500));
    CHECK_NEAR((double)body_of(&r, wheel).spin.z, 2 * sign, BY_PRECISION(1e-4, 3e-4));
    CHECK_NEAR(info_of(&r, axle).value, 1, 1e-3);
    CHECK_NEAR(body_of(&r, box).position.x, 2 + 0.1 * sign, 1e-4);
    CHECK_NEAR(info_of(&r, slide).value, 0.1, 1e-4);
    talus_world_destroy(r.world);
  }
}

TEST(position_motor_holds_a_load_where_its_stiffness_says) {
  rig r = make(1e-3, 9.81);
  const talus_body lift = add_box(&r, 0, 0, 0, 0.1, 0.1, 0.1, 2);
  talus_joint_def def = joint_of(TALUS_JOINT_PRISMATIC, ground, lift, 0, 0, 0, 0, 0, 1);
  def.motor = TALUS_MOTOR_POSITION;
  def.motor_target = 0.5;
  def.motor_stiffness = 2000, def.motor_damping = 150;
  const talus_joint joint = add_joint(&r, &def);
  CHECK_OK(talus_world_step(r.world, 3000));
  CHECK_NEAR(info_of(&r, joint).value, 0.5 - 2 * 9.81 / 2000, 1e-5);
  CHECK_NEAR(info_of(&r, joint).force.z, 2 * 9.81, 1e-3);
  talus_world_destroy(r.world);
}

TEST(limit_is_hit_and_bounced_off_with_its_restitution) {
  rig r = make(1e-4, 0);
  const talus_body box = add_box(&r, 0, 0, 0, 0.1, 0.1, 0.1, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_PRISMATIC, ground, box, 0, 0, 0, 1, 0, 0);
  def.low = -0.2, def.high = 0.1, def.restitution = 0.5;
  const talus_joint joint = add_joint(&r, &def);
  CHECK_OK(talus_body_set_velocity(r.world, box, (talus_vec3){1, 0, 0}, (talus_vec3){0, 0, 0}));
  double most = 0, least = 0;
  for (int i = 0; i < 6000; ++i) {
    CHECK_OK(talus_world_step(r.world, 1));
    most = fmax(most, info_of(&r, joint).value);
    least = fmin(least, info_of(&r, joint).value);
  }
  /* 0.1 s there, 0.3 m back at 0.5 until t = 0.7, so slow enough to be still short of it. */
  CHECK_NEAR(most, 0.1, 2e-4);
  CHECK_NEAR(body_of(&r, box).velocity.x, -0.5, BY_PRECISION(1e-5, 1e-4));
  CHECK_OK(talus_world_step(r.world, 3000));
  CHECK_NEAR(body_of(&r, box).velocity.x, 0.25, BY_PRECISION(1e-5, 1e-4));
  talus_world_destroy(r.world);
}

TEST(stiff_springs_are_stable_and_soft_ones_have_their_period) {
  rig r = make(1e-3, 0);
  const talus_body box = add_box(&r, 0.3, 0, 0, 0.1, 0.1, 0.1, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_SPRING, ground, box, 0, 0, 0, 0, 0, 1);
  def.to = (talus_dvec3){0.3, 0, 0};
  def.rest = 0.2, def.stiffness = 100;
  add_joint(&r, &def);
  CHECK_OK(talus_world_step(r.world, 157)); /* a quarter of 2 pi / 10 s */
  CHECK_NEAR(body_of(&r, box).position.x, 0.2, 2e-3);
  CHECK_NEAR(body_of(&r, box).velocity.x, -1, 1e-2);
  talus_world_destroy(r.world);

  r = make(1e-2, 9.81);
  const talus_body stiff = add_box(&r, 0, 0, -0.3, 0.1, 0.1, 0.1, 1);
  def = joint_of(TALUS_JOINT_SPRING, ground, stiff, 0, 0, 0, 0, 0, 1);
  def.to = (talus_dvec3){0, 0, -0.3};
  def.rest = 0.25, def.stiffness = 1e12, def.damping = 10;
  add_joint(&r, &def);
  CHECK_OK(talus_world_step(r.world, 300));
  CHECK_NEAR(body_of(&r, stiff).position.z, -0.25, BY_PRECISION(1e-6, 1e-3));
  talus_world_destroy(r.world);
}

TEST(rope_pulls_and_does_not_push) {
  rig r = make(1e-3, 9.81);
  const talus_body box = add_box(&r, 0, 0, -0.5, 0.1, 0.1, 0.1, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_DISTANCE, ground, box, 0, 0, 0, 0, 0, 1);
  def.to = (talus_dvec3){0, 0, -0.45};
  def.rope = true, def.length = 1;
  const talus_joint rope = add_joint(&r, &def);
  CHECK_OK(talus_world_step(r.world, 100));
  CHECK_NEAR(body_of(&r, box).velocity.z, -0.981, 1e-4); /* slack: free fall */
  CHECK_NEAR(info_of(&r, rope).force.z, 0, 1e-12);
  CHECK_OK(talus_world_step(r.world, 2000));
  CHECK_NEAR(body_of(&r, box).position.z, -1.05, BY_PRECISION(1e-5, 1e-4));
  CHECK_NEAR(info_of(&r, rope).force.z, 9.81, BY_PRECISION(1e-3, 0.1));
  talus_world_destroy(r.world);
}

/* ---- breaking -------------------------------------------------------------------------------- */

TEST(joint_breaks_at_its_threshold_and_not_before) {
  rig r = make(1e-3, 0);
  const talus_body box = add_box(&r, 0, 0, 0, 0.1, 0.1, 0.1, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_FIXED, ground, box, 0, 0, 0, 0, 0, 1);
  def.break_force = 5;
  const talus_joint joint = add_joint(&r, &def);
  CHECK_OK(talus_body_set_force(r.world, box, (talus_vec3){4.99f, 0, 0}, (talus_vec3){0, 0, 0}));
  CHECK_OK(talus_world_step(r.world, 50));
  CHECK(!info_of(&r, joint).broken);
  CHECK_NEAR(info_of(&r, joint).force.x, -4.99, 1e-4);
  CHECK_OK(talus_body_set_force(r.world, box, (talus_vec3){5.01f, 0, 0}, (talus_vec3){0, 0, 0}));
  CHECK_OK(talus_world_step(r.world, 1));
  CHECK(info_of(&r, joint).broken);
  CHECK(report_of(&r).joints_broken == 1);
  CHECK_NEAR(report_of(&r).joint_force, 5.01, 1e-4); /* what broke it is seen once */
  CHECK_OK(talus_world_step(r.world, 1));
  CHECK(report_of(&r).joint_force == 0);
  CHECK_OK(talus_world_step(r.world, 99));
  CHECK_NEAR(body_of(&r, box).velocity.x, 0.501, 1e-4);
  talus_world_destroy(r.world);
}

/* ---- limits and position correction ---------------------------------------------------------- */

/* A slider rests on its lower limit, and a block that cannot move overlaps it from above: what
 * would push the two apart has only one way to go, past the limit. */
static double pushed_past(talus_joints_solver joints, double low) {
  talus_world_def def = talus_world_def_default();
  def.threads = 1;
  def.gravity = (talus_vec3){0, 0, 0};
  def.solve.kind = TALUS_SOLVE_IMPULSE;
  def.solve.joints = joints;
  rig r = {.world = rig_world(&def)};
  const talus_material_def material = talus_material_def_default();
  CHECK_OK(talus_world_add_material(r.world, &material, &r.material));
  const talus_body slider = add_box(&r, 0, 0, 0, 0.2, 0.2, 0.2, 1);
  talus_joint_def slide = joint_of(TALUS_JOINT_PRISMATIC, ground, slider, 0, 0, 0, 0, 0, 1);
  slide.low = low;
  const talus_joint joint = add_joint(&r, &slide);
  talus_body_def block = talus_body_def_default();
  block.kind = TALUS_FIXED;
  block.material = r.material;
  block.position = (talus_dvec3){0, 0, 0.19}; /* 10 mm deep */
  talus_body_info info = body_of(&r, slider);
  block.shape = info.shape;
  CHECK_OK(talus_world_add_body(r.world, &block, NULL));
  double least = 0;
  for (int i = 0; i < 100; ++i) {
    CHECK_OK(talus_world_step(r.world, 1));
    least = fmin(least, info_of(&r, joint).value);
  }
  talus_world_destroy(r.world);
  return least;
}

TEST(limit_holds_against_position_correction) {
  for (int k = 0; k < 2; ++k) {
    const talus_joints_solver joints = k ? TALUS_JOINTS_DIRECT : TALUS_JOINTS_ITERATIVE;
    CHECK_NEAR(pushed_past(joints, -INFINITY), -0.01, 0.0035); /* without a limit it gives way */
    CHECK_NEAR(pushed_past(joints, 0), 0, BY_PRECISION(1e-6, 1e-5));
    CHECK_NEAR(pushed_past(joints, -0.002), -0.002, BY_PRECISION(1e-6, 1e-5));
  }
}

TEST_MAIN()
