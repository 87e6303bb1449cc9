/* A heap of balls on springs, which the tests of springs share. */
#ifndef TL_TESTS_PENALTY_HEAP_H
#define TL_TESTS_PENALTY_HEAP_H

#include "check.h"
#include "step/balls/list.h"
#include "world/world.h"

#include <math.h>

static inline talus_world_def springs(talus_spring_law law, double dt, int threads) {
  talus_world_def def = talus_world_def_default();
  def.solve.kind = TALUS_SOLVE_PENALTY;
  def.solve.law = law;
  def.dt = dt;
  def.threads = threads;
  return def;
}

typedef struct rng {
  uint64_t state;
} rng;

static inline double next(rng *r) {
  r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(r->state >> 11) * 0x1p-53;
}

/* Balls of two materials and three sizes in a box, on top of each other, with some spin; `mixed`
 * adds other shapes. */
static inline talus_world *heap(const talus_world_def *def, int count, bool mixed) {
  talus_world *world;
  CHECK_OK(talus_world_create(def, &world));
  talus_material_def m = talus_material_def_default();
  talus_material material[2];
  m.friction = 0.4, m.restitution = 0.5, m.stiffness = 3e4, m.young = 2e6;
  CHECK_OK(talus_world_add_material(world, &m, &material[0]));
  m.friction = 0.7, m.restitution = 0.8, m.stiffness = 2e4, m.young = 1e6;
  m.cohesion = 0.01;
  CHECK_OK(talus_world_add_material(world, &m, &material[1]));
  talus_shape_def shape = talus_shape_def_default();
  talus_shape ball, tank, cube;
  shape.size[0] = 0.02;
  CHECK_OK(talus_world_add_shape(world, &shape, &ball));
  shape.kind = TALUS_CONTAINER, shape.size[0] = shape.size[1] = 0.3, shape.size[2] = 2;
  CHECK_OK(talus_world_add_shape(world, &shape, &tank));
  shape.kind = TALUS_BOX, shape.size[0] = 0.04, shape.size[1] = 0.03, shape.size[2] = 0.03;
  CHECK_OK(talus_world_add_shape(world, &shape, &cube));
  talus_body_def body = talus_body_def_default();
  body.kind = TALUS_FIXED, body.shape = tank, body.material = material[0], body.position.z = 1;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  rng r = {7};
  for (int i = 0; i < count; ++i) {
    body = talus_body_def_default();
    body.shape = mixed && i % 5 == 0 ? cube : ball;
    body.material = material[i % 2];
    body.scale = 0.8 + 0.2 * (i % 3);
    body.position =
        (talus_dvec3){-0.12 + 0.06 * (i % 5) + 0.004 * next(&r),
                      -0.12 + 0.06 * (i / 5 % 5) + 0.004 * next(&r), 0.04 + 0.056 * (i / 25)};
    body.velocity = (talus_vec3){(talus_real)(next(&r) - 0.5), 0, (talus_real)-next(&r)};
    body.spin = (talus_vec3){0, (talus_real)(10 * next(&r)), 0};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  return world;
}

/* The list of balls of a world that has stepped. */
static inline tl_ball_list *list_of(const talus_world *world) {
  tl_balls *balls = tl_balls_of(&world->where);
  CHECK(balls);
  return &balls->list;
}

/* Before a test looks into the world's arrays. */
static inline void bring_home(const talus_world *world) {
  CHECK_OK(tl_need(&world->where, TL_THE_WHOLE, TL_READ));
}

static inline talus_report report_of(talus_world *world) {
  talus_report report;
  CHECK_OK(talus_world_report(world, &report));
  return report;
}

/* The same heap twice: as balls go, and the general way. */
typedef struct twins {
  talus_world *fast, *slow;
} twins;

static inline twins make_twins(const talus_world_def *def, int count) {
  const twins t = {heap(def, count, false), heap(def, count, false)};
  t.slow->penalty.is_general = true;
  return t;
}

static inline void step_twins(twins t, uint64_t steps) {
  CHECK_OK(talus_world_step(t.fast, steps));
  CHECK_OK(talus_world_step(t.slow, steps));
}

/* m: the most that centres are apart. */
static inline double twins_apart(twins t) {
  double most = 0;
  bring_home(t.fast);
  for (size_t i = 0; i < t.fast->model.bodies; ++i)
    most = fmax(most, tl_dlength(tl_dsub(t.fast->state.position[i], t.slow->state.position[i])));
  return most;
}

static inline void destroy_twins(twins t) {
  talus_world_destroy(t.fast);
  talus_world_destroy(t.slow);
}

#endif
