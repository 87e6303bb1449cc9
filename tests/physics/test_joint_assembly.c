/* Joints that cannot be, and bodies that assembly brings together. */
#include "joint_rig.h"

TEST(bad_joints_are_refused_with_the_reason) {
  rig r = make(1e-3, 9.81);
  const talus_body box = add_box(&r, 0, 0, 0, 0.1, 0.1, 0.1, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, box, box, 0, 0, 0, 0, 1, 0);
  def.name = "hinge";
  refuse(&r, &def, "joint 'hinge': it joins a body to itself");
  def.a = def.b = ground;
  refuse(&r, &def, "ground to the ground");
  def.b = box;
  def.axis = (talus_vec3){0, 0, 0};
  refuse(&r, &def, "its axis is zero");
  def.axis = (talus_vec3){0, 1, 0};
  def.low = 1, def.high = 0.5;
  refuse(&r, &def, "limits 1 ... 0.5 contradict");
  def.low = -INFINITY, def.high = INFINITY;
  def.to = (talus_dvec3){0, 0, 0.25};
  refuse(&r, &def, "its frames are 0.25 m apart");
  refuse(&r, &def, "assemble: true");
  def.to = def.at;
  def.motor = TALUS_MOTOR_POSITION;
  refuse(&r, &def, "position motor needs a stiffness");
  def.motor = TALUS_MOTOR_NONE;
  def.break_force = 0;
  refuse(&r, &def, "breaks at 0 N");
  def = joint_of(TALUS_JOINT_SPHERICAL, ground, box, 0, 0, 0, 0, 0, 1);
  def.high = 1;
  refuse(&r, &def, "no one direction for limits");
  def = joint_of(TALUS_JOINT_GEAR, ground, box, 0, 0, 0, 0, 0, 1);
  def.ratio = 0;
  refuse(&r, &def, "ratio is 0");
  def = joint_of(TALUS_JOINT_UNIVERSAL, ground, box, 0, 0, 0, 0, 0, 1);
  refuse(&r, &def, "two axes at right angles");
  def = joint_of(TALUS_JOINT_SPRING, ground, box, 0, 0, 0, 0, 0, 1);
  refuse(&r, &def, "without stiffness and damping");
  def = joint_of(TALUS_JOINT_DISTANCE, ground, box, 0, 0, 0, 0, 0, 1);
  refuse(&r, &def, "its length is 0 m");
  def = joint_of(TALUS_JOINT_FIXED, ground, box, 0, 0, 0, 0, 0, 1);
  def.ratio = NAN;
  refuse(&r, &def, "must be finite");
  def = joint_of(TALUS_JOINT_FIXED, ground, box, 0, 0, 0, 0, 0, 1);
  def.name = "weld";
  add_joint(&r, &def);
  refuse(&r, &def, "two joints named 'weld'");
  CHECK_OK(talus_world_remove_body(r.world, box));
  CHECK(talus_world_joint_count(r.world) == 0);
  talus_joint gone;
  CHECK(talus_world_find_joint(r.world, "weld", &gone) != TALUS_OK);
  talus_world_destroy(r.world);
}

TEST(assembly_brings_frames_together_or_says_how_far_they_stay_apart) {
  rig r = make(1e-3, 0);
  const talus_body one = add_box(&r, 0.3, 0.1, 0, 0.5, 0.1, 0.1, 1);
  const talus_body two = add_box(&r, 0.9, -0.1, 0.1, 0.5, 0.1, 0.1, 1);
  talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, ground, one, 0, 0, 0, 0, 1, 0);
  def.to = (talus_dvec3){0.05, 0.1, 0}, def.assemble = true;
  const talus_joint first = add_joint(&r, &def);
  def = joint_of(TALUS_JOINT_SPHERICAL, one, two, 0.55, 0.1, 0, 0, 0, 1);
  def.to = (talus_dvec3){0.65, -0.1, 0.1}, def.assemble = true;
  const talus_joint second = add_joint(&r, &def);
  double left;
  CHECK_OK(talus_world_assemble(r.world, &left));
  CHECK(left < BY_PRECISION(1e-10, 1e-5));
  CHECK(info_of(&r, first).drift < BY_PRECISION(1e-10, 1e-5));
  CHECK(info_of(&r, second).drift < BY_PRECISION(1e-10, 1e-5));
  /* A rod that is too short for the two places it must reach. */
  def = joint_of(TALUS_JOINT_DISTANCE, ground, two, 5, 0, 0, 0, 0, 1);
  def.to = body_of(&r, two).position, def.length = 1, def.assemble = true;
  add_joint(&r, &def);
  CHECK(talus_world_assemble(r.world, &left) != TALUS_OK);
  CHECK_MSG(strstr(talus_last_error(), "contradict each other") != NULL, "%s", talus_last_error());
  CHECK(left > 0.5);
  talus_world_destroy(r.world);
}

TEST_MAIN()
