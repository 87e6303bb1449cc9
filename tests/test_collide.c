/* Where two shapes touch: every pair of kinds against slow references in long double, which know
 * places, rectangles and vertices and nothing of the kernels' formulas.
 *
 * Tolerances. Points are double in both builds: 1e-12 of the size of things. Normals and gaps are
 * talus_real: the same in double, their rounding (2e-7) in float. */
#include "base/random.h"
#include "check.h"
#include "kernels/collide_container.h"
#include "narrow/narrow.h"
#include "shape/shape.h"

#define POINT_TOLERANCE 1e-12
#define REAL_TOLERANCE  (TALUS_SINGLE ? 2e-7 : 1e-12)

/* ---- long double vectors -------------------------------------------------------------------- */

typedef long double ld;
typedef struct lvec {
  ld x, y, z;
} lvec;

static lvec lv(ld x, ld y, ld z) { return (lvec){x, y, z}; }
static lvec l_add(lvec a, lvec b) { return lv(a.x + b.x, a.y + b.y, a.z + b.z); }
static lvec l_madd(lvec a, ld s, lvec b) { return lv(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z); }
static lvec l_sub(lvec a, lvec b) { return l_madd(a, -1, b); }
static lvec l_scale(lvec a, ld s) { return lv(a.x * s, a.y * s, a.z * s); }
static ld l_dot(lvec a, lvec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static ld l_length(lvec a) { return sqrtl(l_dot(a, a)); }
static lvec l_of(talus_dvec3 v) { return lv(v.x, v.y, v.z); }
static lvec l_of3(talus_vec3 v) { return lv(v.x, v.y, v.z); }
static double l_distance(lvec a, lvec b) { return (double)l_length(l_sub(a, b)); }

/* q v q^-1, by Hamilton's product. */
static lvec l_rotate(talus_quat q, lvec v) {
  const ld w = q.w, x = q.x, y = q.y, z = q.z, square = w * w + x * x + y * y + z * z;
  const ld a = -x * v.x - y * v.y - z * v.z, b = w * v.x + y * v.z - z * v.y;
  const ld c = w * v.y - x * v.z + z * v.x, d = w * v.z + x * v.y - y * v.x;
  return l_scale(lv(-a * x + b * w - c * z + d * y, -a * y + b * z + c * w - d * x,
                    -a * z - b * y + c * x + d * w),
                 1 / square);
}

/* ---- random shapes and poses ---------------------------------------------------------------- */

static double uniform(tl_random *random, double lo, double hi) {
  return lo + (hi - lo) * tl_random_unit(random);
}

static talus_dvec3 anywhere(tl_random *random, double reach) {
  const double x = uniform(random, -reach, reach), y = uniform(random, -reach, reach);
  return tl_dvec3(x, y, uniform(random, -reach, reach));
}

static talus_quat random_quat(tl_random *random) {
  const talus_real w = TL_R(tl_random_normal(random)), x = TL_R(tl_random_normal(random));
  const talus_real y = TL_R(tl_random_normal(random)), z = TL_R(tl_random_normal(random));
  return tl_quat_normalize(tl_quat(w, x, y, z));
}

static tl_shape make(talus_shape_kind kind, double x, double y, double z, double d, uint32_t open) {
  const talus_shape_def def = {.kind = kind, .size = {x, y, z, d}, .open = open};
  tl_shape shape;
  CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_OK, "%s", tl_last_message());
  return shape;
}

static tl_shape random_shape(tl_random *random, talus_shape_kind kind) {
  const double x = uniform(random, 0.3, 2), y = uniform(random, 0.3, 2);
  const double z = uniform(random, 0.3, 2), d = uniform(random, -1, 1);
  if (kind == TALUS_PLANE)
    return make(kind, x - 1, y - 1, z - 1, d, 0);
  if (kind == TALUS_CONTAINER) /* some sides open, but never all */
    return make(kind, 2 * x, 2 * y, 2 * z, 0, tl_random_u32(random) % 63 & tl_random_u32(random));
  return make(kind, x, y, z, 0, 0);
}

static tl_posed posed(const tl_shape *shape, double scale, talus_dvec3 at, talus_quat q) {
  return (tl_posed){.shape = shape, .scale = TL_R(scale), .position = at, .rotation = q};
}

static tl_posed random_pose(tl_random *random, const tl_shape *shape, double reach) {
  const double scale = uniform(random, 0.5, 1.5);
  const talus_dvec3 at = anywhere(random, reach);
  return posed(shape, scale, at, random_quat(random));
}

static void check_point(const tl_point *got, lvec point, lvec normal, ld gap, uint64_t serial) {
  CHECK_MSG(l_distance(l_of(got->point), point) <= 4 * POINT_TOLERANCE,
            "case %" PRIu64 ": off by %g", serial, l_distance(l_of(got->point), point));
  CHECK_MSG(l_distance(l_of3(got->normal), normal) <= REAL_TOLERANCE,
            "case %" PRIu64 ": normal off by %g", serial, l_distance(l_of3(got->normal), normal));
  CHECK_NEAR(got->gap, gap, REAL_TOLERANCE * (1 + fabs((double)gap)));
}

/* A sphere at the origin and the place where the other surface is nearest; `away` is the unit
 * vector from there to the sphere's centre, or its opposite if the centre is inside. */
static void check_sphere_point(const tl_point *got, ld radius, ld distance, lvec away,
                               uint64_t serial) {
  const lvec on_sphere = l_scale(away, -radius), on_other = l_scale(away, -distance);
  check_point(got, l_scale(l_add(on_sphere, on_other), 0.5L), l_scale(away, -1), distance - radius,
              serial);
}

/* ---- sphere against sphere and plane -------------------------------------------------------- */

TEST(sphere_sphere_matches_the_formula) {
  int touching = 0;
  for (uint64_t serial = 0; serial < 4000; ++serial) {
    tl_random random = tl_random_start(1, 0, serial);
    const tl_shape ball_a = random_shape(&random, TALUS_SPHERE);
    const tl_shape ball_b = random_shape(&random, TALUS_SPHERE);
    tl_posed a = random_pose(&random, &ball_a, 0), b = random_pose(&random, &ball_b, 2);
    const talus_real margin = TL_R(uniform(&random, 0, 0.5));
    const ld ra = (ld)ball_a.size[0] * (ld)a.scale, rb = (ld)ball_b.size[0] * (ld)b.scale;
    const lvec to_b = l_of(b.position);
    const ld gap = l_length(to_b) - ra - rb;
    tl_point p;
    const int count = tl_narrow_pair(&a, &b, margin, &p);
    CHECK_EQ_U64(count, gap <= (ld)margin);
    if (count == 0)
      continue;
    const lvec n = l_scale(to_b, 1 / l_length(to_b));
    const lvec surface_a = l_scale(n, ra), surface_b = l_madd(to_b, -rb, n);
    check_point(&p, l_scale(l_add(surface_a, surface_b), 0.5L), n, gap, serial);
    CHECK(p.feature_a == 0 && p.feature_b == 0);
    touching++;
  }
  CHECK(touching > 1000 && touching < 3900);
}

TEST(coincident_spheres_part_along_z) {
  const tl_shape ball = make(TALUS_SPHERE, 1, 0, 0, 0, 0);
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  for (int i = 0; i < 2; ++i) { /* the same, and so near that squares vanish */
    const tl_posed b = posed(&ball, 2, tl_dvec3(i * 1e-170, 0, 0), tl_quat_identity());
    tl_point p;
    CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
    CHECK(p.normal.x == 0 && p.normal.y == 0 && p.normal.z == 1 && p.gap == -3);
    CHECK_NEAR(p.point.z, -0.5, 0); /* midway between +1 and -2 */
  }
}

TEST(sphere_plane_matches_the_formula) {
  int touching = 0;
  for (uint64_t serial = 0; serial < 4000; ++serial) {
    tl_random random = tl_random_start(2, 0, serial);
    const tl_shape ball = random_shape(&random, TALUS_SPHERE);
    const tl_shape plane = random_shape(&random, TALUS_PLANE);
    const tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &plane, 3);
    const talus_real margin = TL_R(uniform(&random, 0, 0.5));
    /* Matter where n.x < d in the shape's own frame, whose lengths are multiplied by the scale. */
    const lvec n = l_rotate(b.rotation, lv(plane.size[0], plane.size[1], plane.size[2]));
    const ld distance = l_dot(n, l_scale(l_of(b.position), -1)) - (ld)plane.size[3] * (ld)b.scale;
    const ld radius = (ld)ball.size[0] * (ld)a.scale;
    tl_point p;
    const int count = tl_narrow_pair(&a, &b, margin, &p);
    CHECK_EQ_U64(count, distance - radius <= (ld)margin);
    if (count == 1)
      check_sphere_point(&p, radius, distance, n, serial);
    touching += count;
  }
  CHECK(touching > 1000 && touching < 3900);
}

TEST(plane_has_its_matter_below) {
  const tl_shape ball = make(TALUS_SPHERE, 0.5, 0, 0, 0, 0);
  const tl_shape plane = make(TALUS_PLANE, 0, 0, 2, 1, 0); /* z < 0.5 */
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point p;
  tl_posed b = posed(&plane, 1, tl_dvec3(7, 8, -1), tl_quat_identity());
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1); /* touching exactly */
  CHECK(p.gap == 0 && p.normal.z == -1 && p.point.z == -0.5 && p.point.x == 0 && p.point.y == 0);
  b.scale = 3; /* its surface is now at -1 + 3/2 */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.gap == -1 && p.normal.z == -1);
  b.position.z = 1e6; /* deep down is still pushed up */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.gap < -1e6 && p.normal.z == -1);
}

/* ---- sphere against box --------------------------------------------------------------------- */

/* Rectangle number k (0 ... 5) of a box: the nearest place to the origin. */
static lvec nearest_on_face(const tl_posed *box, int face, bool *inner_side) {
  const int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
  lvec axes[3] = {l_rotate(box->rotation, lv(1, 0, 0)), l_rotate(box->rotation, lv(0, 1, 0)),
                  l_rotate(box->rotation, lv(0, 0, 1))};
  ld half[3];
  for (int i = 0; i < 3; ++i)
    half[i] = 0.5L * (ld)box->shape->size[i] * (ld)box->scale;
  const lvec normal = l_scale(axes[axis], face % 2 ? 1 : -1);
  const lvec middle = l_madd(l_of(box->position), half[axis], normal);
  const lvec to_origin = l_scale(middle, -1);
  const ld along_u = fminl(fmaxl(l_dot(to_origin, axes[u]), -half[u]), half[u]);
  const ld along_v = fminl(fmaxl(l_dot(to_origin, axes[v]), -half[v]), half[v]);
  *inner_side = l_dot(to_origin, normal) < 0;
  return l_madd(l_madd(middle, along_u, axes[u]), along_v, axes[v]);
}

/* Signed distance of the origin from the surface of the box, the unit vector away from it, and how
 * much farther the second nearest face is. */
static ld box_distance(const tl_posed *box, lvec *away, ld *lead) {
  ld best = HUGE_VALL, second = HUGE_VALL;
  lvec nearest = {0};
  bool inside = true;
  for (int face = 0; face < 6; ++face) {
    bool inner;
    const lvec place = nearest_on_face(box, face, &inner);
    const ld distance = l_length(place);
    inside = inside && inner;
    if (distance < best)
      second = best, best = distance, nearest = place;
    else if (distance < second)
      second = distance;
  }
  *lead = second - best;
  *away = l_scale(nearest, (inside ? 1 : -1) / best);
  return inside ? -best : best;
}

TEST(sphere_box_matches_the_nearest_face) {
  int touching = 0, inside = 0;
  for (uint64_t serial = 0; serial < 6000; ++serial) {
    tl_random random = tl_random_start(3, 0, serial);
    const tl_shape ball = random_shape(&random, TALUS_SPHERE);
    const tl_shape box = random_shape(&random, TALUS_BOX);
    const tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &box, 2);
    const talus_real margin = TL_R(uniform(&random, 0, 0.5));
    lvec away;
    ld lead;
    const ld distance = box_distance(&b, &away, &lead), radius = (ld)ball.size[0] * (ld)a.scale;
    tl_point p;
    const int count = tl_narrow_pair(&a, &b, margin, &p);
    CHECK_EQ_U64(count, distance - radius <= (ld)margin);
    if (count == 0 || fabsl(distance) < 1e-3L || (distance < 0 && lead < 1e-6L))
      continue; /* on the surface and at ties the normal is not defined well enough to compare */
    check_sphere_point(&p, radius, distance, away, serial);
    CHECK(p.feature_a == 0 && p.feature_b == 0);
    touching++;
    inside += distance < 0;
  }
  CHECK(touching > 2000 && inside > 100);
}

TEST(sphere_centre_in_a_box_leaves_by_the_first_nearest_face) {
  const tl_shape ball = make(TALUS_SPHERE, 0.25, 0, 0, 0, 0);
  const tl_shape cube = make(TALUS_BOX, 2, 2, 2, 0, 0);
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point p;
  tl_posed b = posed(&cube, 1, tl_dvec3(0, 0, 0), tl_quat_identity()); /* all six tie */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.normal.x == -1 && p.gap == TL_R(-1.25));
  b.position = tl_dvec3(0.5, 0.5, 0); /* left and front tie */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.normal.x == 1 && p.gap == TL_R(-0.75));
  b.position = tl_dvec3(0, 0, -1); /* the centre lies on the top */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.normal.z == -1 && p.gap == TL_R(-0.25) && p.point.z == -0.125);
}

TEST(sphere_touches_face_edge_and_vertex_of_a_box) {
  const tl_shape ball = make(TALUS_SPHERE, 1, 0, 0, 0, 0);
  const tl_shape cube = make(TALUS_BOX, 2, 2, 2, 0, 0);
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  static const struct {
    talus_dvec3 box;
    double gap, n[3];
  } cases[] = {
      {{-2, 0.5, 0}, 0, {-1, 0, 0}},
      {{1.6, 1.8, 0.3}, 0, {0.6, 0.8, 0}}, /* 0.6^2 + 0.8^2 = 1 */
      {{1 + 2.0 / 3, -1 - 2.0 / 3, 1 + 1.0 / 3}, 0, {2.0 / 3, -2.0 / 3, 1.0 / 3}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const tl_posed b = posed(&cube, 1, cases[i].box, tl_quat_identity());
    tl_point p;
    CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(1e-6), &p), 1);
    CHECK_NEAR(p.gap, cases[i].gap, REAL_TOLERANCE);
    CHECK_NEAR(p.normal.x, cases[i].n[0], REAL_TOLERANCE);
    CHECK_NEAR(p.normal.y, cases[i].n[1], REAL_TOLERANCE);
    CHECK_NEAR(p.normal.z, cases[i].n[2], REAL_TOLERANCE);
    CHECK_NEAR(p.point.x, cases[i].n[0], 1e-12);
  }
}

/* ---- box against plane ---------------------------------------------------------------------- */

static lvec box_vertex(const tl_posed *box, int k) {
  ld half[3];
  for (int i = 0; i < 3; ++i)
    half[i] = 0.5L * (ld)box->shape->size[i] * (ld)box->scale * ((k >> i) & 1 ? 1 : -1);
  return l_rotate(box->rotation, lv(half[0], half[1], half[2]));
}

TEST(box_plane_gives_the_vertices_within_the_margin) {
  int counts[5] = {0}, crowded = 0;
  for (uint64_t serial = 0; serial < 6000; ++serial) {
    tl_random random = tl_random_start(4, 0, serial);
    const tl_shape box = random_shape(&random, TALUS_BOX);
    const tl_shape plane = random_shape(&random, TALUS_PLANE);
    const tl_posed a = random_pose(&random, &box, 0), b = random_pose(&random, &plane, 2);
    const talus_real margin = TL_R(uniform(&random, 0, 0.3));
    const lvec n = l_rotate(b.rotation, lv(plane.size[0], plane.size[1], plane.size[2]));
    ld gap[8];
    int within = 0, deepest = 0;
    for (int k = 0; k < 8; ++k) {
      gap[k] =
          l_dot(n, l_sub(box_vertex(&a, k), l_of(b.position))) - (ld)plane.size[3] * (ld)b.scale;
      within += gap[k] <= (ld)margin;
      deepest = gap[k] < gap[deepest] ? k : deepest;
    }
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, margin, p);
    CHECK_EQ_U64(count, within < 4 ? within : 4);
    bool has_deepest = count == 0;
    for (int i = 0; i < count; ++i) {
      const int k = (int)p[i].feature_a;
      CHECK(k < 8 && p[i].feature_b == 0 && (i == 0 || p[i - 1].feature_a < p[i].feature_a));
      check_point(&p[i], l_madd(box_vertex(&a, k), -0.5L * gap[k], n), l_scale(n, -1), gap[k],
                  serial);
      has_deepest = has_deepest || k == deepest;
    }
    CHECK(has_deepest);
    counts[count]++;
    crowded += within > 4;
  }
  CHECK(counts[0] > 100 && counts[1] > 100 && counts[2] > 100 && counts[3] > 100 && crowded > 100);
}

TEST(box_flat_on_a_plane_stands_on_its_four_lower_vertices) {
  const tl_shape box = make(TALUS_BOX, 1, 2, 0.5, 0, 0);
  const tl_shape plane = make(TALUS_PLANE, 0, 0, 1, 0, 0);
  const tl_posed b = posed(&plane, 1, tl_dvec3(0, 0, -0.25), tl_quat_identity());
  for (int turn = 0; turn < 8; ++turn) {
    const talus_quat q = tl_quat_from_axis_angle(tl_vec3(0, 0, 1), TL_R(0.7 * turn));
    const tl_posed a = posed(&box, 1, tl_dvec3(0, 0, 0), q);
    for (int wide = 0; wide < 2; ++wide) { /* a margin of 10 m holds all eight */
      tl_point p[TL_NARROW_MAX_POINTS];
      CHECK_EQ_U64(tl_narrow_pair(&a, &b, wide ? 10 : 0, p), 4);
      for (uint32_t i = 0; i < 4; ++i) {
        CHECK(p[i].feature_a == i && p[i].gap == 0 && p[i].normal.z == -1);
        CHECK_NEAR(p[i].point.z, -0.25, 0);
        CHECK_NEAR(hypot(p[i].point.x, p[i].point.y), hypot(0.5, 1), 1e-15);
      }
    }
  }
}

/* A plate thinner than the margin, tilted a little: the deepest four would be an edge twice over,
 * lower and upper side; what is wanted is the side that will land. */
TEST(tilted_plate_keeps_the_face_that_will_land) {
  const tl_shape plate = make(TALUS_BOX, 2, 2, 0.01, 0, 0);
  const tl_shape plane = make(TALUS_PLANE, 0, 0, 1, 0, 0);
  const talus_quat q = tl_quat_from_axis_angle(tl_vec3(0, 1, 0), TL_R(0.05));
  const tl_posed a = posed(&plate, 1, tl_dvec3(0, 0, 0), q);
  const tl_posed b = posed(&plane, 1, tl_dvec3(0, 0, -0.1), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(0.3), p), 4);
  for (uint32_t i = 0; i < 4; ++i)
    CHECK_EQ_U64(p[i].feature_a, i);
}

/* ---- sphere against container --------------------------------------------------------------- */

/* In front of every wall that is there, a container is nothing but rectangles. */
TEST(sphere_in_a_container_touches_each_wall_at_its_nearest_place) {
  int touching = 0, rims = 0;
  for (uint64_t serial = 0; serial < 8000; ++serial) {
    tl_random random = tl_random_start(5, 0, serial);
    const tl_shape tank = random_shape(&random, TALUS_CONTAINER);
    const tl_shape ball = make(TALUS_SPHERE, uniform(&random, 0.05, 0.6), 0, 0, 0, 0);
    const tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &tank, 2);
    const talus_real margin = TL_R(uniform(&random, 0, 0.2));
    const ld radius = (ld)ball.size[0] * (ld)a.scale;
    lvec place[6];
    bool in_front = true;
    uint32_t expected = 0;
    for (int wall = 0; wall < 6; ++wall) {
      bool inner;
      place[wall] = nearest_on_face(&b, wall, &inner);
      if (tank.open >> wall & 1)
        continue;
      in_front = in_front && inner;
      if (l_length(place[wall]) - radius <= (ld)margin)
        expected |= 1u << wall;
    }
    if (!in_front)
      continue;
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, margin, p);
    uint32_t got = 0;
    for (int i = 0; i < count; ++i) {
      const uint32_t wall = p[i].feature_b;
      CHECK(wall < 6 && p[i].feature_a == 0 && got >> wall == 0);
      got |= 1u << wall;
      const ld distance = l_length(place[wall]);
      if (distance > 1e-3L)
        check_sphere_point(&p[i], radius, distance, l_scale(place[wall], -1 / distance), serial);
      const lvec axis = l_rotate(b.rotation, lv(wall / 2 == 0, wall / 2 == 1, wall / 2 == 2));
      rims += fabsl(l_dot(axis, l_of3(p[i].normal))) < 0.9L;
    }
    CHECK_EQ_U64(got, expected);
    touching += count;
  }
  CHECK(touching > 1000 && rims > 100);
}

/* Far enough behind a wall to be outside of it, the nearest contact is the nearest place on any
 * rectangle, and no contact claims a place that is nearer. */
TEST(sphere_outside_a_container_touches_its_nearest_place) {
  int touching = 0;
  for (uint64_t serial = 0; serial < 8000; ++serial) {
    tl_random random = tl_random_start(6, 0, serial);
    const tl_shape tank = random_shape(&random, TALUS_CONTAINER);
    const tl_shape ball = make(TALUS_SPHERE, uniform(&random, 0.2, 0.6), 0, 0, 0, 0);
    const tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &tank, 3);
    const ld radius = (ld)ball.size[0] * (ld)a.scale;
    ld best = HUGE_VALL;
    lvec nearest = {0};
    bool outside = false, between = false;
    for (int wall = 0; wall < 6; ++wall) {
      if (tank.open >> wall & 1)
        continue;
      bool inner;
      const lvec place = nearest_on_face(&b, wall, &inner);
      const lvec axis = l_rotate(b.rotation, lv(wall / 2 == 0, wall / 2 == 1, wall / 2 == 2));
      const ld behind = -0.5L * (ld)tank.size[wall / 2] * (ld)b.scale -
                        (wall % 2 ? 1 : -1) * l_dot(axis, l_of(b.position));
      outside = outside || behind >= 0.5L * radius;
      between = between || (behind > 0 && behind < 0.5L * radius);
      if (l_length(place) < best)
        best = l_length(place), nearest = place;
    }
    if (!outside || between)
      continue;
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, 0, p);
    int first = 0;
    for (int i = 1; i < count; ++i)
      first = p[i].gap < p[first].gap ? i : first;
    CHECK_MSG((count > 0) == (best <= radius), "case %" PRIu64, serial);
    if (count > 0)
      check_sphere_point(&p[first], radius, best, l_scale(nearest, -1 / best), serial);
    touching += count > 0;
  }
  CHECK(touching > 200);
}

/* A tank of 2 m, open at the top, and a sphere of 0.2 m at (x, y, z) from its middle. */
static int touch_tank(double x, double y, double z, talus_real margin, tl_point *p) {
  const tl_shape ball = make(TALUS_SPHERE, 0.2, 0, 0, 0, 0);
  const tl_shape tank = make(TALUS_CONTAINER, 2, 2, 2, 0, TALUS_SIDE_TOP);
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  const tl_posed b = posed(&tank, 1, tl_dvec3(-x, -y, -z), tl_quat_identity());
  return tl_narrow_pair(&a, &b, margin, p);
}

TEST(sphere_in_a_corner_touches_three_walls) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch_tank(0.8, -0.8, -0.8, TL_R(1e-9), p), 3);
  CHECK(p[0].feature_b == 1 && p[0].normal.x == 1);
  CHECK(p[1].feature_b == 2 && p[1].normal.y == -1);
  CHECK(p[2].feature_b == 4 && p[2].normal.z == -1);
  for (int i = 0; i < 3; ++i)
    CHECK_NEAR(p[i].gap, 0, 1e-15);
}

TEST(open_top_is_open) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch_tank(0, 0, 0.99, 0, p), 0);    /* through the top */
  CHECK_EQ_U64(touch_tank(0.95, 0, 1.25, 0, p), 0); /* above the rim: no invisible wall */
  CHECK_EQ_U64(touch_tank(1.3, 0, 5, 0, p), 0);     /* beside and above */
  CHECK_EQ_U64(touch_tank(1.3, 0, 0, 0, p), 0);     /* falling outside */
  CHECK_EQ_U64(touch_tank(0, 0, -1.3, 0, p), 0);    /* below */
}

TEST(sphere_rests_on_the_rim_and_rolls_over_it) {
  tl_point p[TL_NARROW_MAX_POINTS];
  for (int i = 0; i <= 18; ++i) { /* from straight inside, over the top, to straight outside */
    const double angle = TL_PI * i / 18, x = 1 - 0.19 * cos(angle), z = 1 + 0.19 * sin(angle);
    CHECK_EQ_U64(touch_tank(x, 0, z, 0, p), 1);
    CHECK_EQ_U64(p[0].feature_b, 1);
    CHECK_NEAR(p[0].gap, -0.01, REAL_TOLERANCE);
    CHECK_NEAR(p[0].normal.x, cos(angle), 1e-12 + REAL_TOLERANCE);
    CHECK_NEAR(p[0].normal.z, -sin(angle), 1e-12 + REAL_TOLERANCE);
  }
}

TEST(sunken_sphere_is_pushed_back_until_half_a_radius_behind) {
  tl_point p[TL_NARROW_MAX_POINTS];
  for (int i = 0; i < 100; ++i) {
    const double behind = 0.2 * (i - 40) / 60.0;
    const bool inside = behind < 0.1;
    CHECK_EQ_U64(touch_tank(1 + behind, 0, 0, 0, p), 1);
    CHECK(p[0].feature_b == 1 && p[0].normal.x == (inside ? 1 : -1));
    CHECK_NEAR(p[0].gap, inside ? -behind - 0.2 : behind - 0.2, REAL_TOLERANCE);
  }
}

/* Sunk into the floor and a wall at once, the floor still pushes straight up. */
TEST(sunken_sphere_in_a_corner_is_pushed_squarely) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch_tank(1.05, 0, -1.03, 0, p), 2);
  CHECK(p[0].feature_b == 1 && p[0].normal.x == 1 && p[0].normal.z == 0);
  CHECK(p[1].feature_b == 4 && p[1].normal.z == -1 && p[1].normal.x == 0);
  CHECK_NEAR(p[0].gap, -0.25, REAL_TOLERANCE);
  CHECK_NEAR(p[1].gap, -0.23, REAL_TOLERANCE);
}

TEST(sphere_outside_touches_the_outer_side_and_edge_once) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch_tank(1.15, 0.9, -0.9, TL_R(0.2), p), 1); /* not the hidden walls */
  CHECK(p[0].feature_b == 1 && p[0].normal.x == -1);
  CHECK_EQ_U64(touch_tank(1.12, 0, -1.12, 0, p), 1); /* the lower outer edge */
  CHECK_EQ_U64(p[0].feature_b, 1);
  CHECK_NEAR(p[0].normal.x, -sqrt(0.5), REAL_TOLERANCE);
  CHECK_NEAR(p[0].normal.z, sqrt(0.5), REAL_TOLERANCE);
  CHECK_EQ_U64(touch_tank(1.11, 1.11, -1.11, 0, p), 1); /* the lower outer corner */
  CHECK_NEAR(p[0].normal.y, -sqrt(1.0 / 3), REAL_TOLERANCE);
}

/* ---- box against container ------------------------------------------------------------------ */

TEST(box_in_a_container_touches_with_its_vertices) {
  int touching = 0, several = 0;
  for (uint64_t serial = 0; serial < 5000; ++serial) {
    tl_random random = tl_random_start(7, 0, serial);
    const tl_shape box = random_shape(&random, TALUS_BOX);
    tl_shape tank = random_shape(&random, TALUS_CONTAINER);
    tank.open = 0;
    const tl_posed a = random_pose(&random, &box, 0), b = random_pose(&random, &tank, 1.5);
    const talus_real margin = TL_R(uniform(&random, 0, 0.1));
    ld gap[6][8];
    lvec inward[6];
    int expected = 0;
    bool whole = true; /* the box's centre is in front of every wall */
    for (int wall = 0; wall < 6; ++wall) {
      const ld side = wall % 2 ? 1 : -1;
      inward[wall] =
          l_scale(l_rotate(b.rotation, lv(wall / 2 == 0, wall / 2 == 1, wall / 2 == 2)), -side);
      const lvec middle =
          l_madd(l_of(b.position), -0.5L * (ld)tank.size[wall / 2] * (ld)b.scale, inward[wall]);
      whole = whole && l_dot(inward[wall], middle) < 0;
      int within = 0;
      for (int k = 0; k < 8; ++k) {
        gap[wall][k] = l_dot(inward[wall], l_sub(box_vertex(&a, k), middle));
        within += gap[wall][k] <= (ld)margin;
      }
      expected += within < 4 ? within : 4;
    }
    if (!whole)
      continue;
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, margin, p);
    CHECK_EQ_U64(count, expected);
    for (int i = 0; i < count; ++i) {
      const uint32_t k = p[i].feature_a, wall = p[i].feature_b;
      CHECK(k < 8 && wall < 6);
      CHECK(i == 0 || p[i - 1].feature_a < k ||
            (p[i - 1].feature_a == k && p[i - 1].feature_b < wall));
      check_point(&p[i], l_madd(box_vertex(&a, (int)k), -0.5L * gap[wall][k], inward[wall]),
                  l_scale(inward[wall], -1), gap[wall][k], serial);
    }
    touching += count > 0;
    several += count > 8;
  }
  CHECK(touching > 500 && several > 50);
}

static int box_in_tank(double x, double z, talus_real margin, tl_point *p) {
  const tl_shape box = make(TALUS_BOX, 0.4, 0.4, 0.2, 0, 0);
  const tl_shape tank = make(TALUS_CONTAINER, 2, 2, 2, 0, TALUS_SIDE_TOP);
  const tl_posed a = posed(&box, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  const tl_posed b = posed(&tank, 1, tl_dvec3(-x, 0, -z), tl_quat_identity());
  return tl_narrow_pair(&a, &b, margin, p);
}

TEST(box_keeps_all_its_walls_in_a_corner) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(box_in_tank(0.8 + 1e-6, -0.9 - 1e-6, 0, p), 8); /* sunk a little into both */
  int floor = 0, wall = 0;
  for (int i = 0; i < 8; ++i) {
    CHECK_NEAR(p[i].gap, -1e-6, 1e-12);
    floor += p[i].feature_b == 4 && p[i].normal.z == -1 && (p[i].feature_a & 4) == 0;
    wall += p[i].feature_b == 1 && p[i].normal.x == 1 && (p[i].feature_a & 1) == 1;
  }
  CHECK(floor == 4 && wall == 4);
}

TEST(box_vertices_above_the_rim_touch_nothing) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(box_in_tank(0.81, 1.05, 0, p), 2); /* half above: the lower two only */
  CHECK(p[0].feature_a == 1 && p[0].feature_b == 1 && p[1].feature_a == 3 && p[1].feature_b == 1);
  CHECK_EQ_U64(box_in_tank(0.9, 1.2, 0, p), 0); /* above the rim, leaning out */
  CHECK_EQ_U64(box_in_tank(1.3, 0, 0, p), 0);   /* outside */
  CHECK_EQ_U64(box_in_tank(0, 0.95, 0, p), 0);  /* through the open top */
}

TEST(thin_box_sunk_beyond_its_middle_is_pushed_back) {
  const tl_shape plate = make(TALUS_BOX, 1, 1, 0.01, 0, 0);
  const tl_shape tank = make(TALUS_CONTAINER, 2, 2, 2, 0, 0);
  const tl_posed a = posed(&plate, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  tl_posed b = posed(&tank, 1, tl_dvec3(0, 0, 1.002), tl_quat_identity());
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, p), 4);
  CHECK(p[0].normal.z == -1 && p[0].feature_a == 0);
  CHECK_NEAR(p[0].gap, -0.007, REAL_TOLERANCE);
  b.position.z = 1.004; /* more than half its half-thickness behind: outside */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, p), 4);
  CHECK(p[0].normal.z == 1 && p[0].feature_a == 4);
  CHECK_NEAR(p[0].gap, -0.001, REAL_TOLERANCE);
}

/* ---- every pair ----------------------------------------------------------------------------- */

static const talus_shape_kind pairs_of_kinds[][2] = {
    {TALUS_SPHERE, TALUS_SPHERE},    {TALUS_SPHERE, TALUS_BOX}, {TALUS_SPHERE, TALUS_PLANE},
    {TALUS_SPHERE, TALUS_CONTAINER}, {TALUS_BOX, TALUS_PLANE},  {TALUS_BOX, TALUS_CONTAINER}};
enum { PAIRS_OF_KINDS = sizeof pairs_of_kinds / sizeof *pairs_of_kinds };

TEST(table_knows_what_it_has) {
  int entries = 0;
  for (int i = 0; i < TALUS_SHAPE_KINDS; ++i)
    for (int j = 0; j < TALUS_SHAPE_KINDS; ++j) {
      entries += tl_narrow_table[i][j] != NULL;
      const bool either = tl_narrow_table[i][j] || tl_narrow_table[j][i];
      const int room = tl_narrow_capacity((talus_shape_kind)i, (talus_shape_kind)j);
      CHECK((room > 0) == either && room <= TL_NARROW_MAX_POINTS);
    }
  CHECK_EQ_U64(entries, PAIRS_OF_KINDS);
  const tl_shape box = make(TALUS_BOX, 1, 1, 1, 0, 0), plane = make(TALUS_PLANE, 0, 0, 1, 0, 0);
  const tl_posed a = posed(&box, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  const tl_posed b = posed(&plane, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK(tl_narrow_pair(&a, &a, 0, p) == -1 && tl_narrow_pair(&b, &b, 0, p) == -1);
}

TEST(swapping_the_bodies_mirrors_the_points) {
  int touching = 0;
  for (uint64_t serial = 0; serial < 3000; ++serial) {
    tl_random random = tl_random_start(8, 0, serial);
    const talus_shape_kind *kinds = pairs_of_kinds[serial % PAIRS_OF_KINDS];
    const tl_shape shape_a = random_shape(&random, kinds[0]);
    const tl_shape shape_b = random_shape(&random, kinds[1]);
    const tl_posed a = random_pose(&random, &shape_a, 0), b = random_pose(&random, &shape_b, 1.5);
    tl_posed first = b, second = a;
    first.position = tl_dvec3(0, 0, 0);
    second.position = tl_dscale(b.position, -1);
    tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, TL_R(0.1), p);
    CHECK_EQ_U64(tl_narrow_pair(&first, &second, TL_R(0.1), q), count);
    CHECK(count <= tl_narrow_capacity(kinds[1], kinds[0]));
    for (int i = 0; i < count; ++i) {
      int j = 0;
      while (j < count && (q[j].feature_a != p[i].feature_b || q[j].feature_b != p[i].feature_a))
        ++j;
      CHECK(j < count);
      CHECK(q[j].gap == p[i].gap);
      CHECK(l_distance(l_of3(q[j].normal), l_scale(l_of3(p[i].normal), -1)) <= 1e-15);
      CHECK(l_distance(l_add(l_of(q[j].point), l_of(b.position)), l_of(p[i].point)) <= 1e-14);
      CHECK(i == 0 || q[i - 1].feature_a < q[i].feature_a ||
            (q[i - 1].feature_a == q[i].feature_a && q[i - 1].feature_b < q[i].feature_b));
    }
    touching += count;
  }
  CHECK(touching > 1000);
}

/* Turning both bodies about a common centre turns the points with them. In float the turned
 * quaternions are rounded, and with them the places of things a metre or two away. */
TEST(turning_the_world_turns_the_points) {
  const double tolerance = TALUS_SINGLE ? 4e-6 : 1e-12;
  int touching = 0;
  for (uint64_t serial = 0; serial < 3000; ++serial) {
    tl_random random = tl_random_start(9, 0, serial);
    const talus_shape_kind *kinds = pairs_of_kinds[serial % PAIRS_OF_KINDS];
    const tl_shape shape_a = random_shape(&random, kinds[0]);
    const tl_shape shape_b = random_shape(&random, kinds[1]);
    const tl_posed a = random_pose(&random, &shape_a, 0), b = random_pose(&random, &shape_b, 1.5);
    const talus_quat turn = random_quat(&random);
    const tl_frame frame = tl_frame_from_quat(turn);
    tl_posed c = a, d = b;
    c.rotation = tl_quat_mul(turn, a.rotation), d.rotation = tl_quat_mul(turn, b.rotation);
    d.position = tl_frame_to_world(&frame, b.position);
    tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, TL_R(0.1), p);
    if (tl_narrow_pair(&c, &d, TL_R(0.1), q) != count) {
      CHECK(TALUS_SINGLE); /* a point at the very edge of the margin */
      continue;
    }
    for (int i = 0; i < count; ++i) {
      CHECK(p[i].feature_a == q[i].feature_a && p[i].feature_b == q[i].feature_b);
      CHECK_NEAR(q[i].gap, p[i].gap, tolerance);
      CHECK(l_distance(l_of(q[i].point), l_rotate(turn, l_of(p[i].point))) <= tolerance);
      CHECK(l_distance(l_of3(q[i].normal), l_rotate(turn, l_of3(p[i].normal))) <=
            (TALUS_SINGLE ? 1e-4 : 1e-10)); /* near an edge a small arm turns fast */
    }
    touching += count;
  }
  CHECK(touching > 1000);
}

/* gap <= margin, and the margin itself counts. */
TEST(margin_is_inclusive) {
  const tl_shape ball = make(TALUS_SPHERE, 0.5, 0, 0, 0, 0), box = make(TALUS_BOX, 1, 1, 1, 0, 0);
  const tl_shape plane = make(TALUS_PLANE, 1, 0, 0, 0, 0);
  const tl_shape tank = make(TALUS_CONTAINER, 4, 4, 4, 0, 0);
  /* All of these have a gap of 0.25 along x, in numbers without rounding. */
  const struct {
    const tl_shape *a, *b;
    double x;
    int points;
  } cases[] = {{&ball, &ball, 1.25, 1},  {&ball, &box, 1.25, 1},   {&ball, &plane, -0.75, 1},
               {&ball, &tank, -1.25, 1}, {&box, &plane, -0.75, 4}, {&box, &tank, -1.25, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const tl_posed a = posed(cases[i].a, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
    const tl_posed b = posed(cases[i].b, 1, tl_dvec3(cases[i].x, 0, 0), tl_quat_identity());
    tl_point p[TL_NARROW_MAX_POINTS];
    CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(0.25), p), cases[i].points);
    CHECK(p[0].gap == TL_R(0.25));
    CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(0.25 - 1e-6), p), 0);
  }
}

TEST_MAIN()
