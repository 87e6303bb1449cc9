/* What tests of joints share: a world, boxes, joints, and what became of them. */
#ifndef TALUS_TESTS_JOINT_RIG_H
#define TALUS_TESTS_JOINT_RIG_H

#include "rig.h"
#include "world/world.h"

#define PI 3.14159265358979323846

#define DRIFT BY_PRECISION(1e-6, 1e-3) /* of the size, over ten seconds */

typedef struct rig {
  talus_world *world;
  talus_material material;
} rig;

static talus_joints_solver solver = TALUS_JOINTS_AUTO;

static inline rig make(double dt, double gravity) {
  rig r;
  talus_world_def def = talus_world_def_default();
  def.dt = dt;
  def.gravity = (talus_vec3){0, 0, (talus_real)-gravity};
  def.threads = 1;
  def.solve.tolerance = sizeof(talus_real) == 4 ? 1e-6 : 1e-12;
  def.solve.iterations = 1000;
  def.solve.joints = solver;
  talus_material_def material = talus_material_def_default();
  material.density = 1000;
  r.world = rig_world(&def);
  CHECK_OK(talus_world_add_material(r.world, &material, &r.material));
  return r;
}

static inline talus_body add_box(rig *r, double x, double y, double z, double lx, double ly,
                                 double lz, double mass) {
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_BOX;
  shape.size[0] = lx, shape.size[1] = ly, shape.size[2] = lz;
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(r->world, &shape, &body.shape));
  body.material = r->material;
  body.position = (talus_dvec3){x, y, z};
  body.mass = mass;
  talus_body made;
  CHECK_OK(talus_world_add_body(r->world, &body, &made));
  return made;
}

static inline talus_joint_def joint_of(talus_joint_kind kind, talus_body a, talus_body b, double x,
                                       double y, double z, double ax, double ay, double az) {
  talus_joint_def def = talus_joint_def_default();
  def.kind = kind;
  def.a = a, def.b = b;
  def.at = def.to = (talus_dvec3){x, y, z};
  def.axis = (talus_vec3){(talus_real)ax, (talus_real)ay, (talus_real)az};
  return def;
}

static inline talus_joint add_joint(rig *r, const talus_joint_def *def) {
  talus_joint joint;
  CHECK_OK(talus_world_add_joint(r->world, def, &joint));
  return joint;
}

static inline talus_joint hinge(rig *r, talus_body a, talus_body b, double x, double y, double z) {
  const talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, a, b, x, y, z, 0, 1, 0);
  return add_joint(r, &def);
}

static inline talus_joint_info info_of(const rig *r, talus_joint joint) {
  talus_joint_info info;
  CHECK_OK(talus_world_get_joint(r->world, joint, &info));
  return info;
}

static inline talus_body_info body_of(const rig *r, talus_body body) {
  talus_body_info info;
  CHECK_OK(talus_world_get_body(r->world, body, &info));
  return info;
}

static inline talus_report report_of(const rig *r) {
  talus_report report;
  CHECK_OK(talus_world_report(r->world, &report));
  return report;
}

static const talus_body ground = {0, 0};

static inline void refuse(rig *r, const talus_joint_def *def, const char *why) {
  talus_joint joint;
  CHECK_MSG(talus_world_add_joint(r->world, def, &joint) != TALUS_OK, "accepted: %s", why);
  CHECK_MSG(strstr(talus_last_error(), why) != NULL, "\"%s\" lacks \"%s\"", talus_last_error(),
            why);
}

#endif
