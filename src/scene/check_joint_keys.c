/* Joints: what each kind takes, and whether its frames meet. The world says all of this too, of
 * joints that come by the API; here every mistake of a scene is told at once and at its place. */
#include "scene/check.h"
#include "scene/shapes.h"

#include <math.h>
#include <stdio.h>

#define ALL      ((1u << TALUS_JOINT_KINDS) - 1)
#define OF(kind) (1u << TALUS_JOINT_##kind)
#define AXIAL                                                                                      \
  (OF(REVOLUTE) | OF(PRISMATIC) | OF(CYLINDRICAL) | OF(UNIVERSAL) | OF(POINT_ON_LINE) |            \
   OF(POINT_ON_PLANE) | OF(GEAR) | OF(RACK))
#define LIMITED (OF(REVOLUTE) | OF(PRISMATIC) | OF(CYLINDRICAL) | OF(SPRING) | OF(POINT_ON_LINE))
#define DRIVEN  (LIMITED | OF(DISTANCE))

#define MEETS      (sizeof(talus_real) == 4 ? 1e-4 : 1e-6) /* of the size, as joint/joint.c has it */
#define MOTOR_TURN 1.0 /* rad in a step, as joint/guard.c has it */

/* Keys that not every kind takes. */
static const struct {
  const char *key;
  uint32_t kinds;
} some_kinds[] = {{"to", ALL & ~OF(GEAR)},    {"axis", AXIAL},
                  {"axis_b", AXIAL},          {"length", OF(DISTANCE)},
                  {"rope", OF(DISTANCE)},     {"ratio", OF(GEAR) | OF(RACK)},
                  {"about", OF(CYLINDRICAL)}, {"limits", LIMITED},
                  {"spring", DRIVEN},         {"motor", DRIVEN}};
#define SOME (sizeof some_kinds / sizeof *some_kinds)

static uint32_t kinds_of(const char *key) {
  for (size_t i = 0; i < SOME; ++i)
    if (strcmp(some_kinds[i].key, key) == 0)
      return some_kinds[i].kinds;
  return ALL;
}

/* Flags have a default: they are there when they say something. */
static bool is_given(const tl_scene_joint *joint, const tl_key *key) {
  if (key->type == TL_TYPE_FLAG)
    return *(const bool *)tl_member(key, joint);
  return tl_object_has(&tl_schema_joint, joint, key->name);
}

static void check_keys(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                       const char *path) {
  const tl_key *keys = tl_schema_joint.keys;
  for (int i = 0; keys[i].name; ++i) {
    if ((kinds_of(keys[i].name) >> joint->kind & 1u) || !is_given(joint, &keys[i]))
      continue;
    tl_text list = {0};
    for (int k = 0; keys[k].name; ++k)
      if (kinds_of(keys[k].name) >> joint->kind & 1u)
        tl_text_add(&list, "%s%s", list.count > 0 ? ", " : "", keys[k].name);
    tl_problem_add(checker->problems, tl_check_mark(checker, node, keys[i].name),
                   "%s.%s is not for a %s joint; expected one of its keys: %s", path, keys[i].name,
                   talus_joint_kind_name((talus_joint_kind)joint->kind),
                   list.data ? list.data : "");
    tl_text_drop(&list);
  }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* The entry of `bodies` that a joint names; NULL: the ground, or none that is known here. */
static const tl_scene_body *body_of(const tl_checker *checker, const char *name) {
  uint32_t row;
  const tl_scene_body *bodies = checker->scene->bodies.data;
  if (!name || strcmp(name, "ground") == 0 || !tl_names_find(&checker->bodies, name, &row) ||
      row >= checker->scene->bodies.count)
    return NULL;
  return tl_scene_is_one(&bodies[row]) ? &bodies[row] : NULL;
}

static bool is_held(const tl_checker *checker, const char *name) {
  const tl_scene_body *body = body_of(checker, name);
  return strcmp(name, "ground") == 0 || (body && (body->fixed || body->motion.count > 0));
}

static void check_free(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                       const char *path) {
  const char *const *names = (const char *const *)joint->bodies;
  if (!names[0] || !names[1] || strcmp(names[0], names[1]) == 0)
    return;
  if (is_held(checker, names[0]) && is_held(checker, names[1]))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "bodies"),
                   "%s.bodies: neither `%s` nor `%s` can move; expected at least one free body",
                   path, names[0], names[1]);
}

/* What frames are measured by: the largest free body; 0 where that is not known here. */
static double size_of(const tl_checker *checker, const tl_scene_joint *joint) {
  double most = 0;
  for (int k = 0; k < 2; ++k) {
    const tl_scene_body *body = body_of(checker, joint->bodies[k]);
    tl_scene_size_of size;
    if (!joint->bodies[k] || is_held(checker, joint->bodies[k]))
      continue;
    if (!body)
      return 0;
    const tl_scene_shape *shape = tl_check_shape(checker, &body->shape);
    if (!shape)
      return 0;
    if (tl_scene_shape_kind(shape) == TALUS_SPHERE)
      most = fmax(most, shape->sphere * body->scale);
    else if (tl_scene_shape_size(shape, &size))
      most = fmax(most, size.radius * body->scale);
    else
      return 0;
  }
  return most;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* How far the anchors are from where the kind wants them, in the nearest image. */
static double apart_of(const talus_scene *scene, const tl_scene_joint *joint) {
  const tl_scene_domain *domain = &scene->domain;
  double d[3];
  for (int k = 0; k < 3; ++k) {
    const double period = domain->box[k + 3] - domain->box[k];
    d[k] = joint->to[k] - joint->at[k];
    if ((domain->periodic >> k & 1u) && period > 0)
      d[k] -= period * nearbyint(d[k] / period);
  }
  const double axis = sqrt(dot(joint->axis, joint->axis)), all = sqrt(dot(d, d));
  const double along = axis > 0 ? fabs(dot(d, joint->axis)) / axis : 0;
  switch (joint->kind) {
  case TALUS_JOINT_SPHERICAL:
  case TALUS_JOINT_REVOLUTE:
  case TALUS_JOINT_UNIVERSAL:
  case TALUS_JOINT_FIXED:
    return all;
  case TALUS_JOINT_PRISMATIC:
  case TALUS_JOINT_CYLINDRICAL:
  case TALUS_JOINT_POINT_ON_LINE:
    return sqrt(fmax(0, all * all - along * along));
  case TALUS_JOINT_POINT_ON_PLANE:
    return along;
  case TALUS_JOINT_DISTANCE:
    if (!tl_object_good(&tl_schema_joint, joint, "length"))
      return 0;
    return joint->rope ? fmax(0, all - joint->length) : fabs(all - joint->length);
  default:
    return 0;
  }
}

static void check_meeting(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                          const char *path) {
  const tl_map *map = &tl_schema_joint;
  if (!tl_object_good(map, joint, "at") || !tl_object_good(map, joint, "to"))
    return;
  const double apart = apart_of(checker->scene, joint), size = size_of(checker, joint);
  const bool rod = joint->kind == TALUS_JOINT_DISTANCE;
  if (!joint->assemble && size > 0 && apart > MEETS * size)
    tl_problem_add(
        checker->problems, tl_check_mark(checker, node, rod ? "length" : "to"),
        rod ? "%s.length differs by %.6g m from the distance of `at` and `to`; expected that "
              "distance, or `assemble: true`"
            : "%s.to is %.6g m from where a joint at `at` holds it; expected bodies that "
              "meet, or `assemble: true`",
        path, apart);
  const bool one_place =
      joint->at[0] == joint->to[0] && joint->at[1] == joint->to[1] && joint->at[2] == joint->to[2];
  if (rod && (tl_object_has(map, joint, "length") ? joint->length == 0 : one_place))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "to"),
                   "%s has a length of 0, which has no direction; expected a spherical joint, or "
                   "another place",
                   path);
}

static void check_cross(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                        const char *path) {
  const tl_map *map = &tl_schema_joint;
  if (joint->kind != TALUS_JOINT_UNIVERSAL || !tl_object_good(map, joint, "axis"))
    return;
  const double size = sqrt(dot(joint->axis, joint->axis) * dot(joint->axis_b, joint->axis_b));
  if (!tl_object_has(map, joint, "axis_b"))
    tl_problem_add(checker->problems, tl_node_mark(checker->document, node),
                   "%s lacks `axis_b`; expected the second axis of the cross, at right angles to "
                   "`axis`",
                   path);
  else if (tl_object_good(map, joint, "axis_b") && size > 0 &&
           fabs(dot(joint->axis, joint->axis_b)) > 1e-6 * size && !joint->assemble)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "axis_b"),
                   "%s.axis_b is not at right angles to `axis`; expected it to be, or "
                   "`assemble: true`",
                   path);
}

/* ---- drives ---------------------------------------------------------------------------------- */

static void check_motor(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                        const char *path) {
  const tl_map *map = &tl_schema_motor;
  const tl_scene_motor *motor = joint->motor;
  const tl_node_id at = tl_check_value(checker, node, "motor");
  const bool turns = joint->kind == TALUS_JOINT_REVOLUTE ||
                     (joint->kind == TALUS_JOINT_CYLINDRICAL && joint->about);
  const char *wrong = turns ? "force" : "torque", *right = turns ? "torque" : "force";
  if (tl_object_good(map, motor, wrong))
    tl_problem_add(checker->problems, tl_check_mark(checker, at, wrong),
                   "%s.motor.%s: the joint %s; expected `%s`", path, wrong,
                   turns ? "turns" : "slides", right);
  if (!tl_object_has(map, motor, "position") &&
      (tl_object_has(map, motor, "stiffness") || motor->damping > 0))
    tl_problem_add(checker->problems,
                   tl_check_mark(checker, at,
                                 tl_object_has(map, motor, "stiffness") ? "stiffness" : "damping"),
                   "%s.motor: stiffness and damping are for `position`, which is missing; expected "
                   "a `spring` besides the motor, or a position",
                   path);
  const uint64_t substeps = checker->scene->step.substeps;
  const double dt = checker->scene->step.dt / (substeps > 1 ? (double)substeps : 1);
  const double turn = fabs(motor->speed.value[0]) * dt;
  if (turns && tl_object_good(map, motor, "speed") && !tl_object_has(map, motor, "max") &&
      turn > MOTOR_TURN)
    tl_problem_add(
        checker->problems, tl_check_mark(checker, at, "speed"),
        "%s.motor.speed is %g rad/s, %.3g rad in a step of %g s; expected 1 rad at most, "
        "or a step.dt of %.2g s, or a `max`",
        path, motor->speed.value[0], turn, dt, MOTOR_TURN / fabs(motor->speed.value[0]));
}

static void check_drive(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                        const char *path) {
  const bool rod = joint->kind == TALUS_JOINT_DISTANCE && !joint->rope;
  if (rod && (joint->spring || joint->motor))
    tl_problem_add(
        checker->problems, tl_check_mark(checker, node, joint->spring ? "spring" : "motor"),
        "%s.%s: a rod leaves no distance free; expected `rope: true`, or a joint of kind "
        "spring",
        path, joint->spring ? "spring" : "motor");
  const tl_scene_spring *spring = joint->spring;
  if (joint->kind == TALUS_JOINT_SPRING && !(spring && spring->stiffness + spring->damping > 0))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "spring"),
                   "%s: a spring without stiffness and damping does nothing; expected `spring: "
                   "{stiffness, damping}`",
                   path);
  if (joint->motor && !rod && (DRIVEN >> joint->kind & 1u))
    check_motor(checker, node, joint, path);
}

void tl_check_joint_keys(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                         const char *path) {
  check_keys(checker, node, joint, path);
  check_free(checker, node, joint, path);
  check_cross(checker, node, joint, path);
  check_meeting(checker, node, joint, path);
  check_drive(checker, node, joint, path);
}
