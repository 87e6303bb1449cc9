/* A rig for physics tests: short words for building small worlds through the public header. */
#ifndef TESTS_PHYSICS_RIG_H
#define TESTS_PHYSICS_RIG_H

#include "check.h"
#include <talus/talus.h>

#define G 9.81

/* Tolerances that depend on the build's precision: double's, float's. */
#if TALUS_SINGLE
#define BY_PRECISION(in_double, in_single) (in_single)
#else
#define BY_PRECISION(in_double, in_single) (in_double)
#endif

static inline talus_vec3 rig_vec(double x, double y, double z) {
  return (talus_vec3){(talus_real)x, (talus_real)y, (talus_real)z};
}

/* Defaults of the tests: sweep until converged, whatever it takes. */
static inline talus_world_def rig_def(double dt) {
  talus_world_def def = talus_world_def_default();
  def.dt = dt;
  def.solve.iterations = 5000;
  def.solve.tolerance = BY_PRECISION(1e-13, 1e-6);
  def.threads = 1;
  return def;
}

/* TALUS_TEST_SOLVE=impulse in the environment runs a suite with sequential impulses
 * (tests/CMakeLists.txt). */
static inline talus_world *rig_world(const talus_world_def *def) {
  const char *solve = getenv("TALUS_TEST_SOLVE");
  talus_world_def own = *def;
  talus_world *world = NULL;
  if (solve && strcmp(solve, "impulse") == 0) {
    own.solve.kind = TALUS_SOLVE_IMPULSE;
    own.solve.friction = TALUS_FRICTION_NCP; /* it has no other */
  }
  CHECK_OK(talus_world_create(&own, &world));
  return world;
}

static inline talus_material rig_material(talus_world *world, double friction, double restitution) {
  talus_material_def def = talus_material_def_default();
  talus_material material;
  def.density = 1000;
  def.friction = friction;
  def.restitution = restitution;
  CHECK_OK(talus_world_add_material(world, &def, &material));
  return material;
}

static inline talus_shape rig_shape(talus_world *world, talus_shape_kind kind, double a, double b,
                                    double c, double d) {
  talus_shape_def def = talus_shape_def_default();
  talus_shape shape;
  def.kind = kind;
  def.size[0] = a, def.size[1] = b, def.size[2] = c, def.size[3] = d;
  CHECK_OK(talus_world_add_shape(world, &def, &shape));
  return shape;
}

static inline talus_body rig_body(talus_world *world, talus_body_kind kind, talus_shape shape,
                                  talus_material material, double x, double y, double z) {
  talus_body_def def = talus_body_def_default();
  talus_body body;
  def.kind = kind;
  def.shape = shape;
  def.material = material;
  def.position = (talus_dvec3){x, y, z};
  CHECK_OK(talus_world_add_body(world, &def, &body));
  return body;
}

/* The half-space z < 0. */
static inline talus_body rig_floor(talus_world *world, talus_material material) {
  return rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_PLANE, 0, 0, 1, 0), material, 0, 0, 0);
}

static inline talus_body_info rig_info(const talus_world *world, talus_body body) {
  talus_body_info info;
  CHECK_OK(talus_world_get_body(world, body, &info));
  return info;
}

static inline talus_report rig_report(talus_world *world) {
  talus_report report;
  CHECK_OK(talus_world_report(world, &report));
  return report;
}

/* Sum of the contact impulses of the last step on a body, along z. */
static inline double rig_impulse_z(const talus_world *world, talus_body body) {
  static talus_contact contacts[4096];
  size_t count;
  CHECK_OK(talus_world_contacts(world, contacts, 4096, &count));
  CHECK(count <= 4096);
  const uint64_t uid = rig_info(world, body).uid;
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    if (contacts[i].body_b == uid)
      sum += (double)contacts[i].impulse.z;
    if (contacts[i].body_a == uid)
      sum -= (double)contacts[i].impulse.z;
  }
  return sum;
}

#endif
