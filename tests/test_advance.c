/* Conservative advancement against dense sampling, with poses in long double. */
#include "check.h"

#include "kernels/advance.h"
#include "kernels/triangle.h"
#include "narrow/advance.h"
#include "shape/facets.h"
#include "shape/mesh.h"
#include "shape/shape.h"

#include <float.h>

static uint64_t state = 1;

static double uniform(double lo, double hi) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return lo + (hi - lo) * (double)(state >> 11) / 9007199254740992.0;
}

static talus_dvec3 direction(void) {
  for (;;) {
    const talus_dvec3 v = tl_dvec3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
    const double l = tl_dlength(v);
    if (l > 0.1 && l < 1)
      return tl_dscale(v, 1 / l);
  }
}

/* ---- the reference --------------------------------------------------------------------------- */

typedef struct quat_ld {
  long double w, x, y, z;
} quat_ld;

static quat_ld times(quat_ld a, quat_ld b) {
  return (quat_ld){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/* The pose at t, written anew from the definition of the path. */
static tl_posed pose(const tl_mover *m, long double t) {
  const tl_path *p = &m->path;
  const talus_dvec3 x = p->position, v = p->velocity, a = p->acceleration, s = p->spin;
  const long double rate =
      sqrtl((long double)s.x * s.x + (long double)s.y * s.y + (long double)s.z * s.z);
  const long double half = 0.5L * rate * t, k = rate > 0 ? sinl(half) / rate : 0;
  const quat_ld turn = {cosl(half), k * s.x, k * s.y, k * s.z};
  const quat_ld q =
      times(turn, (quat_ld){p->rotation.w, p->rotation.x, p->rotation.y, p->rotation.z});
  return (tl_posed){.shape = m->shape,
                    .scale = m->scale,
                    .position = {(double)(x.x + t * (v.x + 0.5L * t * a.x)),
                                 (double)(x.y + t * (v.y + 0.5L * t * a.y)),
                                 (double)(x.z + t * (v.z + 0.5L * t * a.z))},
                    .rotation = {TL_R(q.w), TL_R(q.x), TL_R(q.y), TL_R(q.z)}};
}

static tl_triangle_corners triangle_of(const tl_posed *p, uint32_t t) {
  const uint32_t *v = p->shape->face_vertex + 3 * (size_t)t;
  const tl_frame frame = tl_frame_from_quat(p->rotation);
  tl_triangle_corners c;
  for (int k = 0; k < 3; ++k) {
    const double *x = p->shape->points + 3 * (size_t)v[k];
    const talus_dvec3 local = tl_dscale(tl_dvec3(x[0], x[1], x[2]), (double)p->scale);
    c.p[k] = tl_dadd(p->position, tl_frame_to_world(&frame, local));
  }
  return c;
}

/* Every triangle against every other, or against the spheres of the other body. */
static double mesh_gap(const tl_posed *a, const tl_posed *b) {
  const tl_posed *mesh = a->shape->kind == TALUS_MESH ? a : b, *other = mesh == a ? b : a;
  const tl_frame frame = tl_frame_from_quat(other->rotation);
  const talus_shape_kind kind = other->shape->kind;
  const uint32_t others = kind == TALUS_MESH    ? other->shape->face_count
                          : kind == TALUS_CLUMP ? other->shape->point_count
                                                : 1;
  double least = DBL_MAX;
  for (uint32_t i = 0; i < mesh->shape->face_count; ++i) {
    const tl_triangle_corners own = triangle_of(mesh, i);
    for (uint32_t k = 0; k < others; ++k) {
      if (kind == TALUS_MESH) {
        const tl_triangle_corners its = triangle_of(other, k);
        least = fmin(least, sqrt(tl_triangle_triangle(&own, &its).square));
        continue;
      }
      const double *s = other->shape->points + 4 * (size_t)k;
      const talus_dvec3 at =
          kind == TALUS_SPHERE
              ? other->position
              : tl_dadd(other->position, tl_frame_to_world(&frame, tl_dvec3(s[0], s[1], s[2])));
      const double radius = kind == TALUS_SPHERE ? other->shape->size[0] : s[3];
      least = fmin(least, sqrt(tl_point_triangle(at, &own).square) - radius * (double)other->scale);
    }
  }
  return least - mesh->shape->facets->rounding -
         (kind == TALUS_MESH ? other->shape->facets->rounding : 0);
}

static bool is_of_balls(const tl_shape *s) {
  return s->kind == TALUS_SPHERE || s->kind == TALUS_CLUMP || s->kind == TALUS_MESH;
}

static double reference_gap(const tl_advance *pair, double t, double margin) {
  static tl_point points[4096];
  tl_posed a = pose(&pair->a, t), b = pose(&pair->b, t);
  b.position = tl_dsub(b.position, a.position);
  a.position = tl_dvec3(0, 0, 0);
  if ((a.shape->kind == TALUS_MESH || b.shape->kind == TALUS_MESH) && is_of_balls(a.shape) &&
      is_of_balls(b.shape))
    return mesh_gap(&a, &b);
  const int count = tl_narrow_pair(&a, &b, TL_R(margin), points);
  double least = DBL_MAX;
  for (int i = 0; i < count; ++i)
    least = fmin(least, (double)points[i].gap);
  return least;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

#define SHAPES 11
#define PLANE  10
static tl_shape shapes[SHAPES];

static void make_shapes(void) {
  static const double cloud[] = {-0.5, -0.4, -0.3, 0.5, -0.4, -0.3, 0,    0.6, -0.3,
                                 0.1,  0.1,  0.7,  0.2, 0.5,  0.4,  -0.3, 0,   0.5};
  static const double wings[] = {0,   -0.5, 0,   0,    0.5,  0,   0.6,  -0.5, 0.3,
                                 0.6, 0.5,  0.3, -0.6, -0.5, 0.3, -0.6, 0.5,  0.3};
  static const uint32_t sheet[] = {0, 2, 3, 0, 3, 1, 0, 1, 5, 0, 5, 4};
  tl_mesh mesh = {0};
  static const double spheres[] = {-0.4, 0, 0, 0.3, 0.4, 0, 0, 0.2, 0, 0.3, 0.2, 0.25};
  static const struct {
    talus_shape_kind kind;
    double size[5];
  } made[] = {
      {TALUS_SPHERE, {0.5}},       {TALUS_BOX, {1, 0.6, 0.4}},   {TALUS_ELLIPSOID, {0.6, 0.4, 0.3}},
      {TALUS_CAPSULE, {0.2, 0.8}}, {TALUS_CYLINDER, {0.4, 0.7}}, {TALUS_CONE, {0.5, 0.9}},
      {TALUS_HULL, {0}},           {TALUS_CLUMP, {0}},           {TALUS_MESH, {0}},
      {TALUS_MESH, {0}},           {TALUS_PLANE, {0, 0, 1, 0}}};
  if (shapes[0].radius > 0)
    return;
  for (int i = 0; i < SHAPES; ++i) {
    talus_shape_def def = talus_shape_def_default();
    def.kind = made[i].kind;
    for (int k = 0; k < 5; ++k)
      def.size[k] = made[i].size[k];
    if (def.kind == TALUS_HULL)
      def.points = cloud, def.point_count = 6;
    if (def.kind == TALUS_CLUMP)
      def.points = spheres, def.point_count = 3;
    if (def.kind == TALUS_MESH) { /* a rough ball, and a sheet of two wings */
      CHECK_OK(tl_mesh_make_noisy_sphere(i == 8 ? 80 : 20, i == 8 ? 1.3 : 1, 3, &mesh));
      def.points = i == 8 ? mesh.vertex[0] : wings, def.point_count = i == 8 ? mesh.vertices : 6;
      def.triangles = i == 8 ? mesh.triangle[0] : sheet;
      def.triangle_count = i == 8 ? mesh.triangles : 4;
      def.sides = TALUS_SIDES_BOTH;
      def.thickness = 0.01;
    }
    CHECK_OK(tl_shape_make(&def, &shapes[i]));
    tl_mesh_release(&mesh);
  }
}

static tl_mover random_mover(const tl_shape *shape, talus_dvec3 at, double speed, double spin) {
  const tl_dquat turned = tl_dquat_turn(direction(), uniform(0, 3));
  tl_mover m = {.shape = shape,
                .scale = 1,
                .path = {.position = at,
                         .velocity = tl_dscale(direction(), speed),
                         .rotation = tl_dquat_widen(tl_dquat_narrow(turned)),
                         .spin = tl_dscale(direction(), spin)}};
  if (shape->kind == TALUS_PLANE)
    m.path.velocity = m.path.spin = tl_dvec3(0, 0, 0);
  return m;
}

/* Two bodies on their way to each other, more or less. */
static tl_advance random_pair(const tl_shape *a, const tl_shape *b) {
  const talus_dvec3 away = direction();
  tl_advance pair = {.h = 1, .fine = 1e-6};
  pair.a = random_mover(a, tl_dvec3(0, 0, 0), uniform(0, 1), uniform(0, 3));
  pair.b = random_mover(b, tl_dscale(away, uniform(1.3, 3)), uniform(0, 1), uniform(0, 3));
  if (b->kind == TALUS_PLANE) {
    const talus_dvec3 up = tl_dquat_rotate(pair.b.path.rotation, tl_dvec3(0, 0, 1));
    pair.b.path.position = tl_dscale(up, -uniform(0.9, 2.5));
    pair.a.path.velocity = tl_dadd(pair.a.path.velocity, tl_dscale(up, -uniform(0, 2)));
    return pair;
  }
  pair.b.path.velocity = tl_dadd(pair.b.path.velocity, tl_dscale(away, -uniform(0, 3)));
  pair.b.path.acceleration = tl_dscale(direction(), uniform(0, 2));
  return pair;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void check_against_samples(const tl_advance *pair, int samples, int kind_a, int kind_b) {
  const double noise = TALUS_SINGLE ? 1e-5 : 1e-9;
  const tl_advanced r = tl_advance_pair(pair);
  CHECK_MSG(!r.is_lost, "kinds %d and %d", kind_a, kind_b);
  const double until = r.is_clear ? pair->h : r.time;
  for (int i = 0; i <= samples; ++i) {
    const double t = until * i / samples, gap = reference_gap(pair, t, 0);
    CHECK_MSG(gap >= pair->floor - noise, "kinds %d and %d: overlap %g at %g, proven until %g",
              kind_a, kind_b, -gap, t, until);
  }
  if (r.is_clear)
    return;
  const double gap = reference_gap(pair, r.time, 0.1);
  CHECK_MSG(gap - pair->floor < 2e-5, "kinds %d and %d: stopped at a gap of %g", kind_a, kind_b,
            gap);
}

TEST(what_is_proven_apart_is_apart_and_what_stops_is_about_to_touch) {
  make_shapes();
  const uint64_t cases = check_cases(12);
  const int samples = check_is_short() ? 50 : 400;
  for (int a = 0; a + 1 < SHAPES; ++a)
    for (int b = a; b < SHAPES; ++b)
      for (uint64_t i = 0; i < cases; ++i) {
        const tl_advance pair = random_pair(&shapes[a], &shapes[b]);
        if (reference_gap(&pair, 0, 0) < 1e-3)
          continue;
        check_against_samples(&pair, samples, a, b);
      }
}

/* When two balls on straight lines meet, in long double. */
static long double meeting(const tl_advance *pair, long double sum) {
  const talus_dvec3 d = pair->b.path.position,
                    u = tl_dsub(pair->b.path.velocity, pair->a.path.velocity);
  const long double a = (long double)u.x * u.x + (long double)u.y * u.y + (long double)u.z * u.z;
  const long double b = (long double)u.x * d.x + (long double)u.y * d.y + (long double)u.z * d.z;
  const long double c =
      (long double)d.x * d.x + (long double)d.y * d.y + (long double)d.z * d.z - sum * sum;
  const long double under = b * b - a * c;
  return under < 0 || b >= 0 ? INFINITY : c / (-b + sqrtl(under));
}

TEST(two_balls_meet_when_the_quadratic_says) {
  make_shapes();
  int met = 0;
  for (uint64_t i = 0; i < check_cases(2000); ++i) {
    tl_advance pair = random_pair(&shapes[0], &shapes[0]);
    pair.fine = TALUS_SINGLE ? 1e-5 : 1e-11;
    pair.b.path.acceleration = tl_dvec3(0, 0, 0);
    const long double exact = meeting(&pair, 1);
    const tl_advanced r = tl_advance_pair(&pair);
    CHECK(r.is_clear == (exact > 1));
    met += !r.is_clear;
    if (!r.is_clear) /* a graze takes long to close by `fine` */
      CHECK_MSG((double)exact >= r.time - 1e-9 &&
                    (double)exact - r.time < (TALUS_SINGLE ? 1e-2 : 1e-5),
                "%.17Lg, got %.17g", exact, r.time);
  }
  CHECK(met > 10);
}

TEST(a_needle_that_turns_without_going_anywhere_hits) {
  make_shapes();
  tl_advance pair = {.h = 1, .fine = 1e-9};
  pair.a = (tl_mover){&shapes[3], 1, {.rotation = {1, 0, 0, 0}, .spin = {0, 2, 0}}};
  pair.b = (tl_mover){&shapes[0], 1, {.position = {1.05, 0, 0}, .rotation = {1, 0, 0, 0}}};
  const tl_advanced r = tl_advance_pair(&pair);
  CHECK(!r.is_clear);
  CHECK(r.time > 0.1 && r.time < TL_PI / 4);
  pair.b.path.position.x = 1.1001; /* its tip is 0.6 m from its middle */
  CHECK(tl_advance_pair(&pair).is_clear);
}

TEST(a_fast_ball_does_not_miss_a_thin_plate) {
  talus_shape_def def = talus_shape_def_default();
  tl_shape plate;
  make_shapes();
  def.kind = TALUS_BOX, def.size[0] = 1, def.size[1] = 1, def.size[2] = 1e-4;
  CHECK_OK(tl_shape_make(&def, &plate));
  tl_advance pair = {.h = 1, .fine = 1e-9};
  pair.a = (tl_mover){&plate, 1, {.rotation = {1, 0, 0, 0}}};
  pair.b = (tl_mover){&shapes[0],
                      0.01f,
                      {.position = {0, 0, 50}, .velocity = {0, 0, -1e4}, .rotation = {1, 0, 0, 0}}};
  const tl_advanced r = tl_advance_pair(&pair);
  CHECK(!r.is_clear && r.looks < 10);
  CHECK_NEAR(r.time, (50 - 0.005 - 5e-5) / 1e4, 1e-9);
  pair.b.path.velocity.z = 1e4;
  CHECK(tl_advance_pair(&pair).is_clear);
  tl_shape_release(&plate);
}

TEST(bounds_of_motion_hold_for_parabolas) {
  for (int i = 0; i < 1000; ++i) {
    const double room = uniform(0, 2), rate = uniform(-3, 3), bend = uniform(0, 5);
    const double t = tl_advance_from_one(room, rate, bend);
    CHECK(t >= 0 && room - rate * 0.5 * t - 0.125 * bend * t * t >= -1e-12);
    if (t < 1e3)
      CHECK_NEAR(room - rate * t - 0.5 * bend * t * t, 0, 1e-9);
    /* s(t) = room - rate t + bend t^2 / 2 is what the other bound allows at most. */
    const double after = room - rate + 0.5 * bend, two = tl_advance_from_two(room, after, bend, 1);
    for (int k = 0; k <= 20; ++k) {
      const double s = two * k / 20;
      CHECK(room - rate * s + 0.5 * bend * s * s >= -1e-9);
    }
  }
}

TEST(a_spin_of_many_turns_is_found_again) {
  for (int i = 0; i < 200; ++i) {
    const talus_dvec3 spin = tl_dscale(direction(), uniform(0, 60));
    tl_path path = {.rotation = tl_dquat_turn(direction(), 1), .spin = spin};
    const double h = uniform(0.1, 1);
    const talus_dvec3 got = tl_path_spin(path.rotation, tl_path_rotation(&path, h), spin, h);
    CHECK(tl_dlength(tl_dsub(got, spin)) < 1e-6);
  }
}

TEST_MAIN()
