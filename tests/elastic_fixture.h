/* Worlds of hard spheres: a few, or a gas of many. */
#ifndef TESTS_ELASTIC_FIXTURE_H
#define TESTS_ELASTIC_FIXTURE_H

#include "check.h"
#include <talus/talus.h>

/* The call fails with that status, and the message has the text. */
#define CHECK_REFUSED(call, status, text)                                                          \
  do {                                                                                             \
    CHECK((call) == (status));                                                                     \
    CHECK_MSG(strstr(talus_last_error(), (text)), "%s", talus_last_error());                       \
  } while (0)

typedef enum way { BY_EVENTS, BY_SOFT_SHELL, BY_HARD_SHELL, BY_PUBLISHED } way;

static inline talus_world_def elastic_def(way how, double dt) {
  talus_world_def def = talus_world_def_default();
  def.gravity = (talus_vec3){0, 0, 0};
  def.dt = dt;
  def.solve.kind = TALUS_SOLVE_ELASTIC;
  def.step = how == BY_EVENTS ? TALUS_STEP_EVENT : TALUS_STEP_FIXED;
  def.solve.shell = how >= BY_HARD_SHELL ? TALUS_SHELL_HARD : TALUS_SHELL_SOFT;
  def.solve.response = how == BY_PUBLISHED ? TALUS_RESPONSE_PUBLISHED : TALUS_RESPONSE_SYMMETRIC;
  return def;
}

/* A world with one material and one shape, a sphere of that radius. */
static inline talus_world *elastic_world(const talus_world_def *def, double radius,
                                         double restitution, talus_body_def *ball) {
  talus_world *world;
  talus_material_def material = talus_material_def_default();
  talus_shape_def shape = talus_shape_def_default();
  material.restitution = restitution;
  shape.size[0] = radius;
  *ball = talus_body_def_default();
  CHECK_OK(talus_world_create(def, &world));
  CHECK_OK(talus_world_add_material(world, &material, &ball->material));
  CHECK_OK(talus_world_add_shape(world, &shape, &ball->shape));
  return world;
}

static inline talus_body add_ball(talus_world *world, talus_body_def ball, double mass,
                                  talus_dvec3 at, talus_dvec3 velocity) {
  talus_body body;
  ball.mass = mass;
  ball.position = at;
  ball.velocity =
      (talus_vec3){(talus_real)velocity.x, (talus_real)velocity.y, (talus_real)velocity.z};
  CHECK_OK(talus_world_add_body(world, &ball, &body));
  return body;
}

static inline void add_wall(talus_world *world, talus_body_def body, talus_shape_kind kind,
                            double a, double b, double c, uint32_t open) {
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = kind;
  shape.size[0] = a, shape.size[1] = b, shape.size[2] = c;
  shape.open = open;
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  body.kind = TALUS_FIXED;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
}

static inline talus_body_info info_of(const talus_world *world, talus_body body) {
  talus_body_info info;
  CHECK_OK(talus_world_get_body(world, body, &info));
  return info;
}

static inline talus_report report_of(talus_world *world) {
  talus_report report;
  CHECK_OK(talus_world_report(world, &report));
  return report;
}

/* Numbers in [0, 1), the same everywhere. */
static inline double next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* n spheres of radius 0.5 and mass 1 on a lattice that fills the share phi of a periodic box, all
 * with speed 1 in random directions, at rest as a whole. *length: of the box. */
static inline talus_world *make_gas(talus_world_def def, int n, double phi, double *length) {
  talus_body_def ball;
  int side = 1;
  while (4 * side * side * side < n)
    side++;
  const int many = 4 * side * side * side; /* face-centred: dense enough for phi = 0.5 */
  *length = cbrt(many * 0.5235987755982988 / phi);
  def.domain.enabled = true;
  def.domain.box.lo = (talus_dvec3){0, 0, 0};
  def.domain.box.hi = (talus_dvec3){*length, *length, *length};
  def.domain.periodic[0] = def.domain.periodic[1] = def.domain.periodic[2] = true;
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  uint64_t seed = 7;
  talus_dvec3 last = {0, 0, 0};
  for (int i = 0; i < many; ++i) {
    const int cell = i / 4, x = cell % side, y = cell / side % side, z = cell / side / side;
    const double a = *length / side, up = 2 * next_random(&seed) - 1;
    const double turn = 6.283185307179586 * next_random(&seed), flat = sqrt(1 - up * up);
    talus_dvec3 v = {flat * cos(turn), flat * sin(turn), up};
    if (i % 2)
      v = (talus_dvec3){-last.x, -last.y, -last.z};
    last = v;
    add_ball(world, ball, 1,
             (talus_dvec3){(x + corner[i % 4][0] + 0.25) * a, (y + corner[i % 4][1] + 0.25) * a,
                           (z + corner[i % 4][2] + 0.25) * a},
             v);
  }
  return world;
}

#endif
