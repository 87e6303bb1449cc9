/* Shapes: definitions, mass properties, bounds and margins. */
#include "base/random.h"
#include "check.h"
#include "kernels/collide.h"
#include "shape/shape.h"

/* Properties are rounded once from double. */
#define TOLERANCE (4 * (double)TL_REAL_EPS)

static talus_shape_def define(talus_shape_kind kind, double x, double y, double z, double d) {
  return (talus_shape_def){.name = "thing", .kind = kind, .size = {x, y, z, d}};
}

static tl_shape make(talus_shape_kind kind, double x, double y, double z, double d) {
  talus_shape_def def = define(kind, x, y, z, d);
  def.name = NULL;
  tl_shape shape;
  CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_OK, "%s", tl_last_message());
  return shape;
}

static double uniform(tl_random *random, double lo, double hi) {
  return lo + (hi - lo) * tl_random_unit(random);
}

static talus_quat random_quat(tl_random *random) {
  const talus_real w = TL_R(tl_random_normal(random)), x = TL_R(tl_random_normal(random));
  const talus_real y = TL_R(tl_random_normal(random)), z = TL_R(tl_random_normal(random));
  return tl_quat_normalize(tl_quat(w, x, y, z));
}

/* ---- definitions ---------------------------------------------------------------------------- */

TEST(name_is_copied_and_given_back) {
  const size_t before = tl_memory_count().bytes;
  char name[] = "grain";
  const talus_shape_def def = {.name = name, .kind = TALUS_SPHERE, .size = {1}};
  tl_shape shape;
  CHECK(tl_shape_make(&def, &shape) == TALUS_OK);
  name[0] = 'x';
  CHECK_STR(shape.name, "grain");
  tl_shape_release(&shape);
  CHECK(shape.name == NULL);
  CHECK_EQ_U64(tl_memory_count().bytes, before);
  tl_shape_release(&shape);

  const talus_shape_def unnamed = {.kind = TALUS_SPHERE, .size = {1}};
  CHECK(tl_shape_make(&unnamed, &shape) == TALUS_OK);
  CHECK(shape.name == NULL);
  tl_shape_release(&shape);
}

TEST(every_kind_has_a_name) {
  CHECK_STR(tl_shape_kind_name(TALUS_SPHERE), "sphere");
  CHECK_STR(tl_shape_kind_name(TALUS_BOX), "box");
  CHECK_STR(tl_shape_kind_name(TALUS_PLANE), "plane");
  CHECK_STR(tl_shape_kind_name(TALUS_CONTAINER), "container");
  CHECK_STR(tl_shape_kind_name((talus_shape_kind)TALUS_SHAPE_KINDS), "unknown");
}

TEST(bad_definitions_are_refused_by_name) {
  static const struct {
    int kind;
    double size[5];
    uint32_t open;
    const char *says;
  } bad[] = {
      {TALUS_SPHERE, {0}, 0, "radius is 0"},
      {TALUS_SPHERE, {-1}, 0, "radius is -1"},
      {TALUS_SPHERE, {NAN}, 0, "radius is"},
      {TALUS_SPHERE, {INFINITY}, 0, "radius is inf"},
      {TALUS_SPHERE, {1e200}, 0, "too large"},
      {TALUS_SPHERE, {1e-200}, 0, "too small"},
      {TALUS_SPHERE, {1}, TALUS_SIDE_TOP, "a sphere has no sides to leave open"},
      {TALUS_BOX, {0, 1, 1}, 0, "length along x is 0"},
      {TALUS_BOX, {1, -2, 1}, 0, "length along y is -2"},
      {TALUS_BOX, {1, 1, NAN}, 0, "length along z is"},
      {TALUS_BOX, {1e180, 1e180, 1e180}, 0, "too large"},
      {TALUS_BOX, {1, 1, 1}, TALUS_SIDE_TOP, "a box has no sides to leave open"},
      {TALUS_PLANE, {0, 0, 0, 1}, 0, "normal of the plane is [0, 0, 0]"},
      {TALUS_PLANE, {0, NAN, 1, 0}, 0, "must be finite"},
      {TALUS_PLANE, {0, 0, 1, INFINITY}, 0, "must be finite"},
      {TALUS_PLANE, {0, 0, 1e-300, 1e300}, 0, "is not finite"},
      {TALUS_PLANE, {0, 0, 1, 0}, 1, "a plane has no sides to leave open"},
      {TALUS_CONTAINER, {1, 1, 0}, 0, "length along z is 0"},
      {TALUS_CONTAINER, {1, 1, 1}, 64, "open is 0x40"},
      {TALUS_CONTAINER, {1, 1, 1}, 63, "every side of the container is open"},
      {TALUS_SHAPE_KINDS, {1, 1, 1}, 0, "does not exist"},
      {-1, {1, 1, 1}, 0, "does not exist"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    talus_shape_def def = define((talus_shape_kind)bad[i].kind, 0, 0, 0, 0);
    memcpy(def.size, bad[i].size, sizeof def.size);
    def.open = bad[i].open;
    tl_shape shape;
    CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_ERROR_INVALID, "case %zu was taken", i);
    CHECK_MSG(strstr(tl_last_message(), "shape 'thing'"), "case %zu: %s", i, tl_last_message());
    CHECK_MSG(strstr(tl_last_message(), bad[i].says), "case %zu: %s", i, tl_last_message());
    CHECK_MSG(!strchr(tl_last_message(), '\n'), "case %zu: more than a line", i);
    def.name = NULL;
    CHECK(tl_shape_make(&def, &shape) == TALUS_ERROR_INVALID);
    CHECK(strstr(tl_last_message(), "shape without a name") != NULL);
  }
}

TEST(plane_is_normalised_with_its_offset) {
  const tl_shape plane = make(TALUS_PLANE, 3, 0, -4, 10);
  CHECK_NEAR(plane.size[0], 0.6, 1e-15);
  CHECK_NEAR(plane.size[2], -0.8, 1e-15);
  CHECK_NEAR(plane.size[3], 2.0, 1e-15);
  CHECK(!plane.bounded && plane.volume == 0 && plane.radius == 0);
  /* Squares of these would leave the range. */
  const tl_shape tiny = make(TALUS_PLANE, 0, 1e-200, 0, 2e-200);
  CHECK(tiny.size[1] == 1 && fabs(tiny.size[3] - 2) < 1e-14);
  const tl_shape huge = make(TALUS_PLANE, 1e200, 1e200, 0, -1e200);
  CHECK_NEAR(huge.size[0], sqrt(0.5), 1e-15);
  CHECK_NEAR(huge.size[3], -sqrt(0.5), 1e-15);
  /* A unit normal stays as it was given. */
  const tl_shape floor = make(TALUS_PLANE, 0, 0, 1, 0.3);
  CHECK(floor.size[2] == 1 && floor.size[3] == 0.3);
}

/* ---- mass properties ------------------------------------------------------------------------ */

/* Volume and squared radii of gyration by the midpoint rule: exact to O(1/cells^2). */
static void integrate(const tl_shape *shape, double reach[3], double *volume, double gyration[3]) {
  enum { CELLS = 120 };
  double sum = 0, moment[3] = {0, 0, 0};
  for (int i = 0; i < CELLS; ++i)
    for (int j = 0; j < CELLS; ++j)
      for (int k = 0; k < CELLS; ++k) {
        const double x = reach[0] * ((2 * i + 1.0) / CELLS - 1);
        const double y = reach[1] * ((2 * j + 1.0) / CELLS - 1);
        const double z = reach[2] * ((2 * k + 1.0) / CELLS - 1);
        if (shape->kind == TALUS_SPHERE && x * x + y * y + z * z > shape->size[0] * shape->size[0])
          continue;
        sum += 1;
        moment[0] += y * y + z * z, moment[1] += x * x + z * z, moment[2] += x * x + y * y;
      }
  *volume = sum * 8 * reach[0] * reach[1] * reach[2] / ((double)CELLS * CELLS * CELLS);
  for (int i = 0; i < 3; ++i)
    gyration[i] = moment[i] / sum;
}

TEST(mass_properties_match_integration) {
  double volume, g[3];
  const tl_shape sphere = make(TALUS_SPHERE, 0.7, 0, 0, 0);
  integrate(&sphere, (double[]){0.7, 0.7, 0.7}, &volume, g);
  CHECK_NEAR(sphere.volume, volume, 1e-3 * volume);
  CHECK_NEAR(sphere.gyration.x, g[0], 1e-3 * g[0]);
  CHECK_NEAR(sphere.gyration.z, g[2], 1e-3 * g[2]);
  CHECK(sphere.isotropic && sphere.bounded);

  const tl_shape box = make(TALUS_BOX, 1.0, 2.0, 0.5, 0);
  integrate(&box, (double[]){0.5, 1.0, 0.25}, &volume, g);
  CHECK_NEAR(box.volume, volume, 1e-3 * volume);
  CHECK_NEAR(box.gyration.x, g[0], 1e-3 * g[0]);
  CHECK_NEAR(box.gyration.y, g[1], 1e-3 * g[1]);
  CHECK_NEAR(box.gyration.z, g[2], 1e-3 * g[2]);
  CHECK(!box.isotropic && box.bounded);
}

TEST(mass_properties_match_formulas) {
  const tl_shape sphere = make(TALUS_SPHERE, 2, 0, 0, 0);
  CHECK_NEAR(sphere.volume, 33.510321638291128, 1e-13);
  CHECK_NEAR(sphere.gyration.y, 1.6, 1.6 * TOLERANCE);
  CHECK(sphere.radius == 2);
  const tl_shape box = make(TALUS_BOX, 3, 4, 12, 0);
  CHECK_NEAR(box.volume, 144, 0);
  CHECK_NEAR(box.gyration.x, 160 / 12.0, 14 * TOLERANCE);
  CHECK_NEAR(box.gyration.y, 153 / 12.0, 14 * TOLERANCE);
  CHECK_NEAR(box.gyration.z, 25 / 12.0, 14 * TOLERANCE);
  CHECK_NEAR(box.radius, 6.5, 7 * TOLERANCE);
  CHECK(make(TALUS_BOX, 0.1, 0.1, 0.1, 0).isotropic);
  const tl_shape tank = make(TALUS_CONTAINER, 3, 4, 12, 0);
  CHECK(tank.volume == 0 && tank.gyration.x == 0 && tank.gyration.y == 0 && tank.gyration.z == 0);
  CHECK(tank.bounded && tank.radius == box.radius);
  CHECK(tank.centre.x == 0 && tank.axes.w == 1 && tank.axes.x == 0);
}

/* ---- bounds --------------------------------------------------------------------------------- */

TEST(bounds_hold_the_shape_and_nothing_more) {
  for (uint64_t serial = 0; serial < 300; ++serial) {
    tl_random random = tl_random_start(1, 0, serial);
    const bool round = serial % 3 == 0;
    const double x = uniform(&random, 0.1, 3), y = uniform(&random, 0.1, 3);
    const double z = uniform(&random, 0.1, 3), scale = uniform(&random, 0.2, 4);
    const tl_shape shape = make(round             ? TALUS_SPHERE
                                : serial % 3 == 1 ? TALUS_BOX
                                                  : TALUS_CONTAINER,
                                x, y, z, 0);
    const talus_quat q = random_quat(&random);
    const talus_dvec3 at = tl_dvec3(uniform(&random, -9, 9), 1e6, uniform(&random, -9, 9));
    const talus_box box = tl_shape_bounds(&shape, scale, at, q);
    double lo[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, hi[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int k = 0; k < 8; ++k) {
      const tl_frame frame = tl_frame_from_quat(q);
      const talus_dvec3 v =
          tl_frame_to_world(&frame, tl_dvec3(k & 1 ? x : -x, k & 2 ? y : -y, k & 4 ? z : -z));
      const double p[3] = {at.x + 0.5 * scale * v.x, at.y + 0.5 * scale * v.y,
                           at.z + 0.5 * scale * v.z};
      for (int i = 0; i < 3; ++i)
        lo[i] = fmin(lo[i], p[i]), hi[i] = fmax(hi[i], p[i]);
    }
    const double centre[3] = {at.x, at.y, at.z};
    for (int i = 0; i < 3 && round; ++i)
      lo[i] = centre[i] - x * scale, hi[i] = centre[i] + x * scale;
    CHECK_NEAR(box.lo.x, lo[0], 1e-13);
    CHECK_NEAR(box.hi.x, hi[0], 1e-13);
    CHECK_NEAR(box.lo.y, lo[1], 1e-9);
    CHECK_NEAR(box.hi.y, hi[1], 1e-9);
    CHECK_NEAR(box.lo.z, lo[2], 1e-13);
    CHECK_NEAR(box.hi.z, hi[2], 1e-13);
  }
}

TEST(plane_is_unbounded_on_every_side) {
  const tl_shape plane = make(TALUS_PLANE, 0, 0, 1, 0);
  const talus_box box = tl_shape_bounds(&plane, 2, tl_dvec3(1, 2, 3), tl_quat_identity());
  CHECK(isinf(box.lo.x) && isinf(box.lo.y) && isinf(box.lo.z) && box.lo.x < 0 && box.lo.z < 0);
  CHECK(isinf(box.hi.x) && isinf(box.hi.y) && isinf(box.hi.z) && box.hi.x > 0 && box.hi.z > 0);
}

/* Five bodies: free sphere, free box, fixed box, kinematic box, kinematic plane. */
enum { BALL, BRICK, FIXED, MOVER, GROUND, BODIES };
typedef struct stage {
  tl_model model;
  tl_crowd crowd;
  tl_state state;
  tl_shape shapes[3];
  tl_motion motions[2];
  tl_motion_term term;
  talus_dvec3 position[BODIES];
  talus_quat rotation[BODIES];
  talus_vec3 velocity[BODIES], spin[BODIES], force[BODIES];
  talus_real mass[BODIES], scale[BODIES];
  uint32_t shape[BODIES], flags[BODIES], motion[BODIES];
} stage;

static void set_stage(stage *s) {
  *s = (stage){0};
  s->shapes[0] = make(TALUS_SPHERE, 0.5, 0, 0, 0);
  s->shapes[1] = make(TALUS_BOX, 3, 4, 12, 0);
  s->shapes[2] = make(TALUS_PLANE, 0, 0, 1, 0);
  static const uint32_t shape[BODIES] = {0, 1, 1, 1, 2};
  static const uint32_t flags[BODIES] = {0, 0, TL_FLAG_FIXED, TL_FLAG_KINEMATIC, TL_FLAG_KINEMATIC};
  for (int i = 0; i < BODIES; ++i) {
    s->position[i] = tl_dvec3(i, -i, 2 * i);
    s->rotation[i] = tl_quat_identity();
    s->velocity[i] = tl_vec3(3, 4, 0);
    s->spin[i] = tl_vec3(0, 0, -2);
    s->mass[i] = 2, s->scale[i] = 2;
    s->shape[i] = shape[i], s->flags[i] = flags[i], s->motion[i] = TL_NONE;
  }
  s->motion[MOVER] = 0, s->motion[GROUND] = 1;
  s->term = (tl_motion_term){.velocity = {1, 0, 0},
                             .spin = {0, 3, 4},
                             .amplitude = {0, 0, TL_R(0.5)},
                             .frequency = 2,
                             .until = INFINITY};
  s->motions[0].count = s->motions[1].count = 1;
  s->model.motion_terms.data = &s->term, s->model.motion_terms.count = 1;
  s->model.margin = -1;
  s->model.par.threads = 1;
  s->model.bodies = BODIES;
  s->model.shapes.data = s->shapes, s->model.shapes.count = 3;
  s->model.motions.data = s->motions, s->model.motions.count = 2;
  s->model.property.mass = s->mass, s->model.property.scale = s->scale;
  s->model.property.shape = s->shape, s->model.property.flags = s->flags;
  s->model.property.motion = s->motion;
  s->state.position = s->position, s->state.rotation = s->rotation;
  s->state.velocity = s->velocity, s->state.spin = s->spin;
  s->crowd.model = &s->model;
  s->crowd.count = BODIES, s->crowd.in = &s->state;
  s->crowd.dt = 0.25, s->crowd.t1 = 0.25;
}

TEST(margins_are_the_reach_of_the_step) {
  stage s;
  set_stage(&s);
  s.model.gravity = tl_vec3(0, 0, -8);
  talus_box boxes[BODIES];
  talus_real margins[BODIES];
  CHECK(tl_shape_find_bounds(&s.crowd, boxes, margins) == TALUS_OK);
  /* |(3, 4, 0) + h (0, 0, -8)| = |(3, 4, -2)|; radius of the box at scale 2: 13 m. */
  /* And what gravity does in the step, h^2 8; and how far turning bends its way, h^2 w^2 13. */
  const double spare = 0.5, bend = 0.0625 * 4 * 13;
  CHECK_NEAR(margins[BALL], 0.25 * sqrt(29) + spare, 4 * TOLERANCE);
  CHECK_NEAR(margins[BRICK], 0.25 * (sqrt(29) + 2 * 13) + spare + bend, 16 * TOLERANCE);
  CHECK(margins[FIXED] == TL_R(spare));
  const double swing = 0.5 * 2 * TL_PI * 2;
  CHECK_NEAR(margins[MOVER], 0.25 * (1 + swing + 5 * 13) + spare + bend, 20 * TOLERANCE);
  CHECK_NEAR(margins[GROUND], 0.25 * (1 + swing) + spare, 8 * TOLERANCE);
  CHECK_NEAR(boxes[BALL].hi.x, 0 + 1 + (double)margins[BALL], 1e-15);
  CHECK_NEAR(boxes[BRICK].lo.z, 2 - 12 - (double)margins[BRICK], 1e-14);
  CHECK_NEAR(boxes[FIXED].hi.y, -2 + 4 + spare, 0);
  CHECK(isinf(boxes[GROUND].hi.x));

  /* A constant force counts like gravity. */
  s.model.property.force = s.force;
  s.force[BALL] = tl_vec3(0, 0, 16);
  CHECK(tl_shape_find_bounds(&s.crowd, boxes, margins) == TALUS_OK);
  CHECK_NEAR(margins[BALL], 0.25 * 5 + spare, 4 * TOLERANCE);
}

TEST(given_margin_is_shared_by_halves) {
  stage s;
  set_stage(&s);
  s.model.margin = 0.125;
  s.model.unswept = 1;
  talus_box boxes[BODIES];
  talus_real margins[BODIES];
  CHECK(tl_shape_find_bounds(&s.crowd, boxes, margins) == TALUS_OK);
  for (int i = 0; i < BODIES; ++i)
    CHECK(margins[i] == TL_R(0.0625));
  CHECK_NEAR(boxes[FIXED].hi.x, 2 + 3 + 0.0625, 1e-15);
  s.model.margin = 0;
  CHECK(tl_shape_find_bounds(&s.crowd, boxes, margins) == TALUS_OK);
  CHECK(margins[BALL] == 0 && boxes[BALL].hi.x == 1);
}

TEST(bodies_that_are_swept_reach_as_far_as_they_go_with_any_given_margin) {
  stage s;
  set_stage(&s);
  talus_box boxes[BODIES];
  talus_real automatic[BODIES], given[BODIES];
  CHECK(tl_shape_find_bounds(&s.crowd, boxes, automatic) == TALUS_OK);
  s.model.margin = 0.125;
  CHECK(tl_shape_find_bounds(&s.crowd, boxes, given) == TALUS_OK);
  for (int i = 0; i < BODIES; ++i)
    CHECK(given[i] >= TL_R(0.0625));
  CHECK(given[BALL] == automatic[BALL] && given[BRICK] == automatic[BRICK]);
}

TEST(only_members_of_the_crowd_are_touched) {
  stage s;
  set_stage(&s);
  const uint32_t members[2] = {BRICK, MOVER};
  s.crowd.members = members, s.crowd.count = 2;
  talus_box boxes[2];
  talus_real margins[BODIES] = {-7, -7, -7, -7, -7};
  CHECK(tl_shape_find_bounds(&s.crowd, boxes, margins) == TALUS_OK);
  CHECK(margins[BALL] == -7 && margins[FIXED] == -7 && margins[GROUND] == -7);
  CHECK(margins[BRICK] > 0 && margins[MOVER] > 0);
  CHECK_NEAR(0.5 * (boxes[1].lo.x + boxes[1].hi.x), MOVER, 1e-14);
}

/* The body's every point stays in its box over the step, whatever direction it turns to. */
TEST(box_covers_the_motion_of_the_step) {
  stage s;
  set_stage(&s);
  s.crowd.dt = 0.01;
  talus_box boxes[BODIES];
  talus_real margins[BODIES];
  for (uint64_t serial = 0; serial < 200; ++serial) {
    tl_random random = tl_random_start(2, 0, serial);
    s.rotation[BRICK] = random_quat(&random);
    s.spin[BRICK] = tl_vec3(TL_R(uniform(&random, -5, 5)), TL_R(uniform(&random, -5, 5)),
                            TL_R(uniform(&random, -5, 5)));
    s.velocity[BRICK] = tl_vec3(TL_R(uniform(&random, -5, 5)), TL_R(uniform(&random, -5, 5)), 0);
    CHECK(tl_shape_find_bounds(&s.crowd, boxes, margins) == TALUS_OK);
    const talus_quat turn = tl_quat_from_rotation_vector(tl_scale(s.spin[BRICK], TL_R(0.01)));
    const talus_box later =
        tl_shape_bounds(&s.shapes[1], 2, tl_dmadd(s.position[BRICK], 0.01, s.velocity[BRICK]),
                        tl_quat_normalize(tl_quat_mul(turn, s.rotation[BRICK])));
    const double slack = 20 * TOLERANCE;
    CHECK(boxes[BRICK].lo.x <= later.lo.x + slack && later.hi.x <= boxes[BRICK].hi.x + slack);
    CHECK(boxes[BRICK].lo.y <= later.lo.y + slack && later.hi.y <= boxes[BRICK].hi.y + slack);
    CHECK(boxes[BRICK].lo.z <= later.lo.z + slack && later.hi.z <= boxes[BRICK].hi.z + slack);
  }
}

TEST_MAIN()
