/* Joints of a scene, by the calls of talus/talus.h. */
#include "scene/build.h"

#include <math.h>
#include <stdio.h>

static talus_status find(talus_world *world, const char *name, talus_body *body) {
  *body = (talus_body){0, 0};
  return strcmp(name, "ground") == 0 ? TALUS_OK : talus_world_find_body(world, name, body);
}

/* What drives the motor over time, or NULL. */
static const tl_scene_course *course_of(const tl_scene_motor *motor) {
  const tl_map *map = &tl_schema_motor;
  return tl_object_has(map, motor, "speed")    ? &motor->speed
         : tl_object_has(map, motor, "torque") ? &motor->torque
         : tl_object_has(map, motor, "force")  ? &motor->force
                                               : NULL;
}

static void copy_motor(const tl_scene_motor *motor, talus_joint_def *def) {
  const tl_map *map = &tl_schema_motor;
  if (tl_object_has(map, motor, "speed")) {
    def->motor = TALUS_MOTOR_SPEED;
    def->motor_target = motor->speed.value[0];
  } else if (tl_object_has(map, motor, "position")) {
    def->motor = TALUS_MOTOR_POSITION;
    def->motor_target = motor->position;
    def->motor_stiffness = motor->stiffness;
    def->motor_damping = motor->damping;
  } else {
    def->motor = TALUS_MOTOR_FORCE;
    def->motor_target = course_of(motor)->value[0];
  }
  if (tl_object_has(map, motor, "max"))
    def->motor_max = motor->max;
}

static void copy_drive(const tl_scene_joint *joint, talus_joint_def *def) {
  if (joint->limits) {
    if (tl_object_has(&tl_schema_limits, joint->limits, "low"))
      def->low = joint->limits->low;
    if (tl_object_has(&tl_schema_limits, joint->limits, "high"))
      def->high = joint->limits->high;
    def->restitution = joint->limits->restitution;
  }
  if (joint->spring) {
    def->stiffness = joint->spring->stiffness;
    def->damping = joint->spring->damping;
    if (tl_object_has(&tl_schema_spring, joint->spring, "rest"))
      def->rest = joint->spring->rest;
  }
  if (joint->motor)
    copy_motor(joint->motor, def);
  if (joint->breaking) {
    if (tl_object_has(&tl_schema_breaking, joint->breaking, "force"))
      def->break_force = joint->breaking->force;
    if (tl_object_has(&tl_schema_breaking, joint->breaking, "torque"))
      def->break_torque = joint->breaking->torque;
  }
}

static talus_status add_course(const talus_scene *scene, talus_world *world, talus_joint joint,
                               const tl_scene_motor *motor) {
  const tl_scene_course *course = motor ? course_of(motor) : NULL;
  talus_table rows = {0};
  if (!course || !tl_scene_varies(course))
    return TALUS_OK;
  talus_status status = tl_scene_read_course(scene, course, 2, &rows);
  if (status == TALUS_OK)
    status = talus_joint_set_course(world, joint, rows.data, rows.rows);
  tl_scene_free_course(course, &rows);
  return status;
}

talus_status tl_scene_add_joint(const talus_scene *scene, talus_world *world,
                                const tl_scene_joint *joint) {
  talus_joint made;
  const tl_map *map = &tl_schema_joint;
  talus_joint_def def = talus_joint_def_default();
  def.name = joint->name;
  def.kind = (talus_joint_kind)joint->kind;
  TL_TRY(find(world, joint->bodies[0], &def.a));
  TL_TRY(find(world, joint->bodies[1], &def.b));
  def.at = (talus_dvec3){joint->at[0], joint->at[1], joint->at[2]};
  def.to = tl_object_has(map, joint, "to") ? (talus_dvec3){joint->to[0], joint->to[1], joint->to[2]}
                                           : def.at;
  if (tl_object_has(map, joint, "axis"))
    def.axis = tl_scene_vec3(joint->axis);
  if (tl_object_has(map, joint, "axis_b"))
    def.axis_b = tl_scene_vec3(joint->axis_b);
  if (tl_object_has(map, joint, "length"))
    def.length = joint->length;
  if (tl_object_has(map, joint, "ratio"))
    def.ratio = joint->ratio;
  def.rope = joint->rope;
  def.about = joint->about;
  def.collide = joint->collide;
  def.assemble = joint->assemble;
  copy_drive(joint, &def);
  TL_TRY(talus_world_add_joint(world, &def, &made));
  return add_course(scene, world, made, joint->motor);
}
