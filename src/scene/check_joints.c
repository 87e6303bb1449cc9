/* Joints: names of bodies, and values that every kind needs; check_joint_keys.c has what differs
 * from kind to kind. */
#include "scene/check.h"

#include <math.h>
#include <stdio.h>

static bool is_ground(const char *name) { return strcmp(name, "ground") == 0; }

static void check_names(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                        const char *path) {
  uint32_t row;
  char where[80];
  snprintf(where, sizeof where, "%s.bodies", path);
  const tl_mark mark = tl_check_mark(checker, node, "bodies");
  if (!joint->bodies[0] || !joint->bodies[1])
    return;
  for (int k = 0; k < 2; ++k) {
    const bool is_body = tl_names_find(&checker->bodies, joint->bodies[k], &row);
    if (is_ground(joint->bodies[k]) && is_body)
      tl_problem_add(checker->problems, mark,
                     "%s: `ground` is the fixed world, but a body has that name too; expected "
                     "another name for the body",
                     where);
    else if (!is_ground(joint->bodies[k]) && !is_body && !checker->takes_from)
      tl_check_unknown(checker, mark, where, joint->bodies[k], "`ground` or the name of a body",
                       &checker->bodies);
  }
  if (strcmp(joint->bodies[0], joint->bodies[1]) == 0)
    tl_problem_add(checker->problems, mark,
                   "%s.bodies joins `%s` to itself; expected two bodies, or one and `ground`", path,
                   joint->bodies[0]);
}

static bool is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

static void check_geometry(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                           const char *path) {
  const tl_map *map = &tl_schema_joint;
  const int kind = joint->kind;
  const bool points = kind == TALUS_JOINT_DISTANCE || kind == TALUS_JOINT_SPRING;
  const bool has_axis = kind != TALUS_JOINT_SPHERICAL && kind != TALUS_JOINT_FIXED && !points;
  if (kind != TALUS_JOINT_GEAR && !tl_object_has(map, joint, "at"))
    tl_problem_add(checker->problems, tl_node_mark(checker->document, node),
                   "%s lacks `at`; expected where the joint is, [x, y, z] in m", path);
  if (points && !tl_object_has(map, joint, "to"))
    tl_problem_add(checker->problems, tl_node_mark(checker->document, node),
                   "%s lacks `to`; expected the anchor on the second body, [x, y, z] in m", path);
  if (has_axis && !tl_object_has(map, joint, "axis"))
    tl_problem_add(checker->problems, tl_node_mark(checker->document, node),
                   "%s lacks `axis`; expected the direction of the joint, [x, y, z]", path);
  else if (tl_object_good(map, joint, "axis") && is_zero(joint->axis))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "axis"),
                   "%s.axis is zero; expected a direction", path);
  if (tl_object_good(map, joint, "axis_b") && is_zero(joint->axis_b))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "axis_b"),
                   "%s.axis_b is zero; expected a direction", path);
  if ((kind == TALUS_JOINT_GEAR || kind == TALUS_JOINT_RACK) && !tl_object_has(map, joint, "ratio"))
    tl_problem_add(checker->problems, tl_node_mark(checker->document, node),
                   "%s lacks `ratio`; expected turns of b for each of a (rack: metres per radian)",
                   path);
}

static void check_drive(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                        const char *path) {
  const tl_scene_limits *limits = joint->limits;
  if (limits && tl_object_good(&tl_schema_limits, limits, "low") &&
      tl_object_good(&tl_schema_limits, limits, "high") && limits->low > limits->high)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "limits"),
                   "%s.limits: low is %g and high is %g; expected the lower one first", path,
                   limits->low, limits->high);
  if (joint->motor && tl_object_good(&tl_schema_motor, joint->motor, "position") &&
      !tl_object_has(&tl_schema_motor, joint->motor, "stiffness"))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "motor"),
                   "%s.motor has `position` but no `stiffness`; expected both", path);
}

void tl_check_joints(tl_checker *checker, tl_names *names) {
  const tl_scene_joint *joints = checker->scene->joints.data;
  tl_node_id node = tl_check_first(checker, "joints");
  for (size_t i = 0; i < checker->scene->joints.count; ++i) {
    char path[64];
    snprintf(path, sizeof path, "joints.%zu", i);
    if (joints[i].name)
      tl_check_new_name(checker, tl_check_mark(checker, node, "name"), "joints", joints[i].name,
                        names, (uint32_t)i);
    check_names(checker, node, &joints[i], path);
    if (tl_object_good(&tl_schema_joint, &joints[i], "kind")) {
      check_geometry(checker, node, &joints[i], path);
      tl_check_joint_keys(checker, node, &joints[i], path);
    }
    check_drive(checker, node, &joints[i], path);
    node = tl_node_at(checker->document, node)->next;
  }
}
