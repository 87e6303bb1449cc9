/* Worlds of steps that keep bodies apart: adaptive and local time. */
#ifndef TESTS_FREE_FIXTURE_H
#define TESTS_FREE_FIXTURE_H

#include "shape/mesh.h"
#include "world_fixture.h"

static inline talus_world *make_with(talus_step_kind step, double gravity, double dt, double halo,
                                     int threads) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.gravity = (talus_vec3){0, 0, TL_R(-gravity)};
  def.dt = dt;
  def.step = step;
  def.halo = halo;
  def.threads = threads;
  CHECK_OK(talus_world_create(&def, &world));
  return world;
}

static inline talus_material material(talus_world *world, double friction, double restitution) {
  talus_material_def def = talus_material_def_default();
  talus_material m;
  def.density = 1000, def.friction = friction, def.restitution = restitution;
  CHECK_OK(talus_world_add_material(world, &def, &m));
  return m;
}

static inline talus_body body(talus_world *world, talus_shape s, talus_material m, talus_dvec3 at,
                              talus_vec3 v, talus_vec3 w, talus_body_kind kind) {
  talus_body_def def = talus_body_def_default();
  talus_body made;
  def.shape = s, def.material = m, def.position = at, def.velocity = v, def.spin = w;
  def.kind = kind;
  CHECK_OK(talus_world_add_body(world, &def, &made));
  return made;
}

/* A rough ball of 80 triangles. */
static inline talus_shape stone(talus_world *world, double radius) {
  talus_shape_def def = talus_shape_def_default();
  talus_shape s;
  tl_mesh mesh = {0};
  CHECK_OK(tl_mesh_make_noisy_sphere(80, 1.4, 5, &mesh));
  for (size_t i = 0; i < mesh.vertices; ++i)
    for (int k = 0; k < 3; ++k)
      mesh.vertex[i][k] *= radius;
  def.kind = TALUS_MESH, def.points = mesh.vertex[0], def.point_count = mesh.vertices;
  def.triangles = mesh.triangle[0], def.triangle_count = mesh.triangles;
  CHECK_OK(talus_world_add_shape(world, &def, &s));
  tl_mesh_release(&mesh);
  return s;
}

#endif
