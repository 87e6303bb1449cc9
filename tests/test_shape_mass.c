/* Shapes: mass properties and boxes of every kind against integration over their insides, hulls and
 * clumps against what is known exactly. */
#include "base/random.h"
#include "check.h"
#include "kernels/collide.h"
#include "kernels/superellipsoid.h"
#include "shape/clump.h"
#include "shape/hull.h"
#include "shape/shape.h"

#define REAL_TOLERANCE (8 * (double)TL_REAL_EPS)

static double uniform(tl_random *random, double lo, double hi) {
  return lo + (hi - lo) * tl_random_unit(random);
}

static talus_quat random_quat(tl_random *random) {
  const talus_real w = TL_R(tl_random_normal(random)), x = TL_R(tl_random_normal(random));
  const talus_real y = TL_R(tl_random_normal(random)), z = TL_R(tl_random_normal(random));
  return tl_quat_normalize(tl_quat(w, x, y, z));
}

static tl_shape make(const talus_shape_def *def) {
  tl_shape shape;
  CHECK_MSG(tl_shape_make(def, &shape) == TALUS_OK, "%s", tl_last_message());
  return shape;
}

static tl_shape make_hull(const double *points, size_t n) {
  return make(&(talus_shape_def){.kind = TALUS_HULL, .points = points, .point_count = n});
}

static tl_shape make_clump(const double *spheres, size_t n) {
  return make(&(talus_shape_def){.kind = TALUS_CLUMP, .points = spheres, .point_count = n});
}

/* ---- analytic shapes against their insides --------------------------------------------------- */

static const talus_shape_def kinds[] = {
    {.kind = TALUS_SPHERE, .size = {0.7}},
    {.kind = TALUS_BOX, .size = {1, 2, 0.5}},
    {.kind = TALUS_ELLIPSOID, .size = {0.3, 0.8, 0.5}},
    {.kind = TALUS_CAPSULE, .size = {0.3, 0.9}},
    {.kind = TALUS_CYLINDER, .size = {0.5, 0.8}},
    {.kind = TALUS_CONE, .size = {0.6, 1.1}},
    {.kind = TALUS_SUPERELLIPSOID, .size = {0.3, 0.8, 0.5, 2, 2}},
    {.kind = TALUS_SUPERELLIPSOID, .size = {0.4, 0.7, 0.5, 5, 3}},
    {.kind = TALUS_SUPERELLIPSOID, .size = {0.6, 0.5, 0.9, 1.3, 8}},
    {.kind = TALUS_SUPERELLIPSOID, .size = {0.6, 0.5, 0.4, 20, 1.2}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* In the shape's OWN frame, from the definitions in talus.h alone. */
static bool is_inside(const talus_shape_def *def, double x, double y, double z) {
  const double *s = def->size, flat = sqrt(x * x + y * y);
  switch (def->kind) {
  case TALUS_SPHERE:
    return flat * flat + z * z <= s[0] * s[0];
  case TALUS_BOX:
    return fabs(x) <= s[0] / 2 && fabs(y) <= s[1] / 2 && fabs(z) <= s[2] / 2;
  case TALUS_ELLIPSOID:
    return x * x / (s[0] * s[0]) + y * y / (s[1] * s[1]) + z * z / (s[2] * s[2]) <= 1;
  case TALUS_CAPSULE: {
    const double over = fmax(0, fabs(z) - s[1] / 2);
    return flat * flat + over * over <= s[0] * s[0];
  }
  case TALUS_CYLINDER:
    return flat <= s[0] && fabs(z) <= s[1] / 2;
  case TALUS_CONE:
    return fabs(z) <= s[1] / 2 && flat <= s[0] * (0.5 - z / s[1]);
  default:
    return pow(pow(fabs(x / s[0]), s[4]) + pow(fabs(y / s[1]), s[4]), s[3] / s[4]) +
               pow(fabs(z / s[2]), s[3]) <=
           1;
  }
}

/* How far the surface is from the centre of mass along a direction, by bisection: every shape here
 * is seen whole from there. */
static double reach(const talus_shape_def *def, talus_dvec3 from, talus_dvec3 d) {
  double lo = 0, hi = 4;
  for (int i = 0; i < 40; ++i) {
    const double t = (lo + hi) / 2;
    if (is_inside(def, from.x + t * d.x, from.y + t * d.y, from.z + t * d.z))
      lo = t;
    else
      hi = t;
  }
  return lo;
}

TEST(mass_properties_are_those_of_the_inside) {
  enum { ROWS = 120, COLUMNS = 160 };
  for (int k = 0; k < KINDS; ++k) {
    const tl_shape shape = make(&kinds[k]);
    double volume = 0, first = 0, second[3] = {0}, farthest = 0;
    for (int i = 0; i < ROWS; ++i)
      for (int j = 0; j < COLUMNS; ++j) {
        const double c = (2 * i + 1.0) / ROWS - 1, s = sqrt(1 - c * c);
        const double angle = 2 * TL_PI * (j + 0.5) / COLUMNS;
        const talus_dvec3 d = tl_dvec3(s * cos(angle), s * sin(angle), c);
        const double r = reach(&kinds[k], shape.centre, d), cubed = r * r * r;
        const double weight = 4 * TL_PI / (ROWS * COLUMNS);
        farthest = fmax(farthest, r);
        volume += weight * cubed / 3;
        first += weight * cubed * r / 4 * d.z;
        second[0] += weight * cubed * r * r / 5 * d.x * d.x;
        second[1] += weight * cubed * r * r / 5 * d.y * d.y;
        second[2] += weight * cubed * r * r / 5 * d.z * d.z;
      }
    const double g[3] = {(second[1] + second[2]) / volume, (second[2] + second[0]) / volume,
                         (second[0] + second[1]) / volume};
    const double most = fmax(g[0], fmax(g[1], g[2]));
    CHECK_MSG(fabs(shape.volume / volume - 1) < 3e-3, "kind %d: %g and %g", k, shape.volume,
              volume);
    CHECK_MSG(fabs(first / volume) < 2e-3, "kind %d: the centre is off by %g", k, first / volume);
    CHECK_MSG(fabs((double)shape.gyration.x - g[0]) < 1e-2 * most, "kind %d: x", k);
    CHECK_MSG(fabs((double)shape.gyration.y - g[1]) < 1e-2 * most, "kind %d: y", k);
    CHECK_MSG(fabs((double)shape.gyration.z - g[2]) < 1e-2 * most, "kind %d: z", k);
    CHECK_MSG((double)shape.radius >= farthest * (1 - 1e-7), "kind %d: %g and %g", k,
              (double)shape.radius, farthest);
    CHECK_MSG((double)shape.radius <= farthest * (k == 5 || k == 8 ? 1.3 : 1.02),
              "kind %d: %g and %g", k, (double)shape.radius, farthest);
    CHECK(tl_shape_inner_radius(&shape) > 0 && tl_shape_inner_radius(&shape) < 1.0001 * farthest);
  }
}

TEST(boxes_hold_every_kind_and_nothing_more) {
  enum { ROWS = 60, COLUMNS = 120 };
  for (uint64_t serial = 0; serial < 3 * KINDS; ++serial) {
    tl_random random = tl_random_start(2, 0, serial);
    const talus_shape_def *def = &kinds[serial % KINDS];
    const tl_shape shape = make(def);
    const talus_quat q = random_quat(&random);
    const tl_frame frame = tl_frame_from_quat(q);
    const double scale = uniform(&random, 0.5, 2);
    const talus_dvec3 at = tl_dvec3(uniform(&random, -5, 5), uniform(&random, -5, 5), 3);
    const talus_box box = tl_shape_bounds(&shape, scale, at, q);
    double lo[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, hi[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i <= ROWS; ++i)
      for (int j = 0; j < COLUMNS; ++j) {
        const double theta = TL_PI * i / ROWS, angle = 2 * TL_PI * j / COLUMNS;
        const talus_dvec3 d =
            tl_dvec3(sin(theta) * cos(angle), sin(theta) * sin(angle), cos(theta));
        const talus_dvec3 p = tl_dadd(
            at, tl_dscale(tl_frame_to_world(&frame, d), scale * reach(def, shape.centre, d)));
        lo[0] = fmin(lo[0], p.x), lo[1] = fmin(lo[1], p.y), lo[2] = fmin(lo[2], p.z);
        hi[0] = fmax(hi[0], p.x), hi[1] = fmax(hi[1], p.y), hi[2] = fmax(hi[2], p.z);
      }
    const double got_lo[3] = {box.lo.x, box.lo.y, box.lo.z};
    const double got_hi[3] = {box.hi.x, box.hi.y, box.hi.z};
    for (int i = 0; i < 3; ++i) { /* sampling misses rims by up to its spacing */
      CHECK_MSG(got_lo[i] <= lo[i] + 1e-9 && got_lo[i] > lo[i] - 0.05, "case %d: %g and %g",
                (int)serial, got_lo[i], lo[i]);
      CHECK_MSG(got_hi[i] >= hi[i] - 1e-9 && got_hi[i] < hi[i] + 0.05, "case %d: %g and %g",
                (int)serial, got_hi[i], hi[i]);
    }
  }
}

TEST(limits_of_one_kind_are_another) {
  const tl_shape sphere = make(&kinds[0]);
  const tl_shape ball = make(&(talus_shape_def){.kind = TALUS_ELLIPSOID, .size = {0.7, 0.7, 0.7}});
  CHECK(ball.isotropic && ball.radius == sphere.radius);
  CHECK_NEAR(ball.volume, sphere.volume, 1e-15);
  CHECK_NEAR(ball.gyration.x, sphere.gyration.x, REAL_TOLERANCE);
  const tl_shape short_one = make(&(talus_shape_def){.kind = TALUS_CAPSULE, .size = {0.7, 1e-9}});
  CHECK_NEAR(short_one.volume, sphere.volume, 1e-8);
  CHECK_NEAR(short_one.gyration.x, sphere.gyration.x, 1e-8 + REAL_TOLERANCE);
  /* Blocky to the limit: nearly the box of the same half axes. */
  const tl_shape block =
      make(&(talus_shape_def){.kind = TALUS_SUPERELLIPSOID, .size = {1, 2, 3, 100, 100}});
  CHECK(block.volume > 47.9 && block.volume < 48);
  CHECK_NEAR(block.radius, sqrt(14), 0.05);
  const tl_shape round = make(&kinds[6]), egg = make(&kinds[2]);
  CHECK_NEAR(round.volume, egg.volume, 1e-14);
  CHECK_NEAR(round.gyration.y, egg.gyration.y, REAL_TOLERANCE);
  CHECK_NEAR(round.radius, egg.radius, REAL_TOLERANCE);
}

/* ---- hulls ----------------------------------------------------------------------------------- */

/* Every vertex is below every face, every edge is of two faces, and Euler counts right. */
static void check_polyhedron(const tl_shape *s) {
  CHECK_OK(tl_shape_validate(s));
  CHECK_EQ_U64((uint64_t)s->point_count + s->face_count, (uint64_t)s->edge_count + 2);
  for (uint32_t f = 0; f < s->face_count; ++f) {
    const double *n = &s->face_plane[4 * f];
    CHECK_NEAR(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-12);
    CHECK(n[3] > 0);
    for (uint32_t v = 0; v < s->point_count; ++v) {
      const double *p = &s->points[3 * v];
      CHECK(n[0] * p[0] + n[1] * p[1] + n[2] * p[2] <= n[3] + 4e-7 * (double)s->radius);
    }
    for (uint32_t i = s->face_start[f]; i < s->face_start[f + 1]; ++i) {
      const double *p = &s->points[3 * s->face_vertex[i]];
      CHECK_NEAR(n[0] * p[0] + n[1] * p[1] + n[2] * p[2], n[3], 4e-7 * (double)s->radius);
    }
  }
  for (uint32_t e = 1; e < s->edge_count; ++e)
    CHECK(s->edge[2 * e - 2] < s->edge[2 * e] ||
          (s->edge[2 * e - 2] == s->edge[2 * e] && s->edge[2 * e - 1] < s->edge[2 * e + 1]));
}

TEST(hull_of_a_box_is_that_box) {
  /* Corners, middles of edges and faces, and points within, far from the origin. */
  double points[27 * 3];
  for (int i = 0; i < 27; ++i) {
    points[3 * i] = 100 + 1.5 * (i % 3 - 1);
    points[3 * i + 1] = -50 + 1.0 * (i / 3 % 3 - 1);
    points[3 * i + 2] = 7 + 0.5 * (i / 9 - 1);
  }
  tl_shape hull = make_hull(points, 27);
  const tl_shape box = make(&(talus_shape_def){.kind = TALUS_BOX, .size = {3, 2, 1}});
  check_polyhedron(&hull);
  CHECK(hull.point_count == 8 && hull.face_count == 6 && hull.edge_count == 12);
  for (int f = 0; f < 6; ++f)
    CHECK(hull.face_start[f + 1] - hull.face_start[f] == 4);
  CHECK_NEAR(hull.volume, 6, 1e-13);
  CHECK_NEAR(hull.centre.x, 100, 1e-12);
  CHECK_NEAR(hull.centre.y, -50, 1e-12);
  CHECK_NEAR(hull.centre.z, 7, 1e-12);
  CHECK(hull.axes.w == 1);
  CHECK_NEAR(hull.gyration.x, box.gyration.x, REAL_TOLERANCE);
  CHECK_NEAR(hull.gyration.y, box.gyration.y, REAL_TOLERANCE);
  CHECK_NEAR(hull.gyration.z, box.gyration.z, REAL_TOLERANCE);
  CHECK_NEAR(hull.radius, box.radius, REAL_TOLERANCE);
  tl_shape_release(&hull);
}

TEST(hull_of_four_points_is_a_tetrahedron) {
  const double points[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
  tl_shape hull = make_hull(points, 4);
  check_polyhedron(&hull);
  CHECK(hull.point_count == 4 && hull.face_count == 4 && hull.edge_count == 6);
  CHECK_NEAR(hull.volume, 1, 1e-15);
  CHECK_NEAR(hull.centre.x, 0.25, 1e-15);
  CHECK_NEAR(hull.centre.y, 0.5, 1e-15);
  CHECK_NEAR(hull.centre.z, 0.75, 1e-15);
  /* About the centre: variances 3/80 of a^2, b^2, c^2; covariances -1/80. The sum of the principal
   * moments is twice the trace. */
  const double sum = (double)hull.gyration.x + (double)hull.gyration.y + (double)hull.gyration.z;
  CHECK_NEAR(sum, 2 * 3.0 / 80 * (1 + 4 + 9), 20 * REAL_TOLERANCE);
  tl_shape_release(&hull);
}

/* The same solid turned: same volume, same principal moments, and the stored vertices turned back
 * by the axes are the points given. */
TEST(hull_does_not_mind_being_turned) {
  for (uint64_t serial = 0; serial < 40; ++serial) {
    tl_random random = tl_random_start(3, 0, serial);
    const tl_frame frame = tl_frame_from_quat(random_quat(&random));
    double points[64 * 3];
    for (int i = 0; i < 64; ++i) { /* a grid: every face has 16 points */
      const talus_dvec3 p = tl_frame_to_world(
          &frame, tl_dvec3(i % 4 / 3.0, 2 * (i / 4 % 4) / 3.0, 3 * (i / 16) / 3.0));
      points[3 * i] = p.x, points[3 * i + 1] = p.y, points[3 * i + 2] = p.z;
    }
    tl_shape hull = make_hull(points, 64);
    check_polyhedron(&hull);
    CHECK(hull.point_count == 8 && hull.face_count == 6 && hull.edge_count == 12);
    CHECK_NEAR(hull.volume, 6, 1e-11);
    const double g[3] = {(double)hull.gyration.x, (double)hull.gyration.y, (double)hull.gyration.z};
    CHECK_NEAR(g[0] + g[1] + g[2], 2 * 14 / 12.0, 1e-10 + 10 * REAL_TOLERANCE);
    CHECK_NEAR(g[0] * g[1] * g[2], 13 * 10 * 5 / 1728.0, 1e-10 + 10 * REAL_TOLERANCE);
    const tl_frame axes = tl_frame_from_quat(hull.axes);
    for (uint32_t v = 0; v < hull.point_count; ++v) {
      const double *s = &hull.points[3 * v];
      const talus_dvec3 p =
          tl_dadd(hull.centre, tl_frame_to_world(&axes, tl_dvec3(s[0], s[1], s[2])));
      double nearest = HUGE_VAL;
      for (int i = 0; i < 64; ++i)
        nearest = fmin(nearest, tl_dlength(tl_dsub(p, tl_dvec3(points[3 * i], points[3 * i + 1],
                                                               points[3 * i + 2]))));
      CHECK(nearest < 1e-14);
    }
    tl_shape_release(&hull);
  }
}

TEST(hull_of_a_crowd_holds_the_crowd) {
  for (uint64_t serial = 0; serial < 60; ++serial) {
    tl_random random = tl_random_start(4, 0, serial);
    enum { POINTS = 400 };
    static double points[POINTS * 3];
    const double thin = serial % 3 == 0 ? 1e-4 : 1;
    for (int i = 0; i < POINTS; ++i) {
      double p[3] = {tl_random_normal(&random), tl_random_normal(&random),
                     tl_random_normal(&random)};
      const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
      for (int k = 0; k < 3; ++k) { /* in a ball, on a sphere, or of few places: many coplanar */
        const double on = serial % 2 ? p[k] / length : p[k];
        points[3 * i + k] = serial % 5 == 4 ? round(3 * on) + 1e-13 * i : on;
      }
      points[3 * i + 2] *= thin;
    }
    tl_shape hull = make_hull(points, POINTS);
    check_polyhedron(&hull);
    const tl_frame axes = tl_frame_from_quat(hull.axes);
    for (int i = 0; i < POINTS; ++i) {
      const talus_dvec3 p = tl_frame_to_local(
          &axes,
          tl_dsub(tl_dvec3(points[3 * i], points[3 * i + 1], points[3 * i + 2]), hull.centre));
      for (uint32_t f = 0; f < hull.face_count; ++f) {
        const double *n = &hull.face_plane[4 * f];
        CHECK(n[0] * p.x + n[1] * p.y + n[2] * p.z <= n[3] + 1e-6 * (double)hull.radius);
      }
    }
    tl_shape_release(&hull);
  }
}

TEST(hulls_without_a_volume_are_refused) {
  const double flat[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0.3, 0.4, 0};
  const double line[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
  const double twice[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0};
  const double broken[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, NAN};
  const double tilted[] = {0, 0, 0, 1, 0, 1e-8, 0, 1, 1e-8, 1, 1, -1e-8};
  const struct {
    const double *points;
    size_t n;
    const char *says;
  } bad[] = {{NULL, 0, "0 points"},
             {flat, 3, "3 points"},
             {flat, 5, "lie in a plane"},
             {line, 4, "lie in a plane"},
             {tilted, 4, "lie in a plane"},
             {twice, 5, "points 1 and 4 of the hull are both"},
             {broken, 4, "point 3 of the hull is"}};
  const size_t before = tl_memory_count().bytes;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    const talus_shape_def def = {
        .name = "stone", .kind = TALUS_HULL, .points = bad[i].points, .point_count = bad[i].n};
    tl_shape shape;
    CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_ERROR_INVALID, "case %zu was taken", i);
    CHECK_MSG(strstr(tl_last_message(), "shape 'stone'"), "case %zu: %s", i, tl_last_message());
    CHECK_MSG(strstr(tl_last_message(), bad[i].says), "case %zu: %s", i, tl_last_message());
  }
  CHECK_EQ_U64(tl_memory_count().bytes, before);
}

/* ---- clumps ---------------------------------------------------------------------------------- */

TEST(clump_of_one_sphere_is_that_sphere) {
  const double one[] = {3, -2, 5, 0.7};
  tl_shape clump = make_clump(one, 1);
  const tl_shape sphere = make(&kinds[0]);
  CHECK_NEAR(clump.volume, sphere.volume, 1e-11);
  CHECK_NEAR(clump.gyration.x, sphere.gyration.x, 1e-11 + REAL_TOLERANCE);
  CHECK_NEAR(clump.gyration.z, sphere.gyration.z, 1e-11 + REAL_TOLERANCE);
  CHECK_NEAR(clump.centre.x, 3, 1e-11);
  CHECK_NEAR(clump.radius, 0.7, 1e-11 + REAL_TOLERANCE);
  CHECK(clump.error < 1e-9);
  tl_shape_release(&clump);
}

/* Two spheres of radii R and r at a distance d share the lens
 *   V = pi (R + r - d)^2 (d^2 + 2 d r - 3 r^2 + 2 d R + 6 r R - 3 R^2) / (12 d). */
TEST(two_spheres_are_both_less_their_lens) {
  for (uint64_t serial = 0; serial < 60; ++serial) {
    tl_random random = tl_random_start(5, 0, serial);
    const double R = uniform(&random, 0.5, 1), r = uniform(&random, 0.5, 1);
    const double d = uniform(&random, fabs(R - r) + 0.01, R + r + 0.2);
    const tl_frame frame = tl_frame_from_quat(random_quat(&random));
    const talus_dvec3 to = tl_frame_to_world(&frame, tl_dvec3(d, 0, 0));
    const double pair[] = {1, 2, 3, R, 1 + to.x, 2 + to.y, 3 + to.z, r};
    tl_shape clump = make_clump(pair, 2);
    const double lens =
        d >= R + r
            ? 0
            : TL_PI * (R + r - d) * (R + r - d) *
                  (d * d + 2 * d * r - 3 * r * r + 2 * d * R + 6 * r * R - 3 * R * R) / (12 * d);
    const double volume = 4.0 / 3 * TL_PI * (R * R * R + r * r * r) - lens;
    CHECK_MSG(fabs(clump.volume - volume) < 1e-9 * volume, "case %d: off by %g", (int)serial,
              clump.volume - volume);
    CHECK(clump.error < 1e-8 &&
          fabs(clump.volume - volume) <= fmax(10 * clump.error, 1e-12) * volume);
    /* The axis of the pair is a principal one: both centres are on it in the principal frame. */
    const double *p = clump.points;
    const double u[3] = {p[4] - p[0], p[5] - p[1], p[6] - p[2]};
    const double most = fmax(fabs(u[0]), fmax(fabs(u[1]), fabs(u[2])));
    CHECK_NEAR(most, d, 1e-6);
    tl_shape_release(&clump);
  }
}

TEST(spheres_apart_add_up) {
  const double apart[] = {-2, 0, 0, 1, 2, 0, 0, 1};
  tl_shape clump = make_clump(apart, 2);
  CHECK_NEAR(clump.volume, 8.0 / 3 * TL_PI, 1e-9);
  CHECK_NEAR(clump.gyration.x, 0.4, 1e-9 + REAL_TOLERANCE);
  CHECK_NEAR(clump.gyration.y, 4.4, 1e-8 + 5 * REAL_TOLERANCE);
  CHECK_NEAR(clump.centre.x, 0, 1e-9);
  tl_shape_release(&clump);
}

TEST(a_sphere_within_another_and_one_given_twice_do_not_count) {
  const double within[] = {0, 0, 0, 1, 0.2, 0.1, -0.1, 0.5, 0, 0, 0, 1};
  tl_shape clump = make_clump(within, 3);
  CHECK_NEAR(clump.volume, 4.0 / 3 * TL_PI, 1e-9);
  CHECK_NEAR(clump.gyration.x, 0.4, 1e-9 + REAL_TOLERANCE);
  CHECK_EQ_U64(clump.point_count, 3);
  tl_shape_release(&clump);
}

TEST(a_heap_of_spheres_matches_throwing_darts) {
  tl_random random = tl_random_start(6, 0, 0);
  double heap[9 * 4];
  for (int i = 0; i < 9; ++i) {
    heap[4 * i] = uniform(&random, -1, 1), heap[4 * i + 1] = uniform(&random, -1, 1);
    heap[4 * i + 2] = uniform(&random, -0.5, 0.5), heap[4 * i + 3] = uniform(&random, 0.3, 0.8);
  }
  tl_moments moments;
  double error;
  CHECK_OK(tl_clump_moments(heap, 9, &moments, &error));
  CHECK(error < 1e-8);
  enum { DARTS = 1000000 };
  double volume = 0, xx = 0, xy = 0, z = 0;
  for (int i = 0; i < DARTS; ++i) {
    const double p[3] = {uniform(&random, -2, 2), uniform(&random, -2, 2), uniform(&random, -2, 2)};
    bool in = false;
    for (int k = 0; k < 9 && !in; ++k) {
      const double dx = p[0] - heap[4 * k], dy = p[1] - heap[4 * k + 1],
                   dz = p[2] - heap[4 * k + 2];
      in = dx * dx + dy * dy + dz * dz < heap[4 * k + 3] * heap[4 * k + 3];
    }
    if (in)
      volume += 64.0 / DARTS, xx += 64.0 / DARTS * p[0] * p[0], xy += 64.0 / DARTS * p[0] * p[1],
          z += 64.0 / DARTS * p[2];
  }
  CHECK_NEAR(moments.volume, volume, 0.01 * volume);
  CHECK_NEAR(moments.second[0], xx, 0.02 * xx);
  CHECK_NEAR(moments.second[3], xy, 0.02 * xx);
  CHECK_NEAR(moments.first[2], z, 0.02 * volume);
}

/* Another way of cutting into layers must give the same: turned by a quarter about x. */
TEST(layers_in_any_direction_add_up_to_the_same) {
  tl_random random = tl_random_start(7, 0, 0);
  double heap[12 * 4], turned[12 * 4];
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 3; ++k)
      heap[4 * i + k] = uniform(&random, -1, 1);
    heap[4 * i + 3] = uniform(&random, 0.3, 0.9);
    turned[4 * i] = heap[4 * i], turned[4 * i + 1] = heap[4 * i + 2];
    turned[4 * i + 2] = -heap[4 * i + 1], turned[4 * i + 3] = heap[4 * i + 3];
  }
  tl_moments a, b;
  double error_a, error_b;
  CHECK_OK(tl_clump_moments(heap, 12, &a, &error_a));
  CHECK_OK(tl_clump_moments(turned, 12, &b, &error_b));
  CHECK_NEAR(a.volume, b.volume, 1e-8);
  CHECK_NEAR(a.first[1], -b.first[2], 1e-8);
  CHECK_NEAR(a.second[0], b.second[0], 1e-8);
  CHECK_NEAR(a.second[1], b.second[2], 1e-8);
  CHECK_NEAR(a.second[4], b.second[3], 1e-8);
  CHECK_NEAR(a.second[5], -b.second[5], 1e-8);
}

TEST(given_mass_properties_are_used) {
  const double pair[] = {-1, 0, 0, 0.5, 1, 0, 0, 0.5};
  talus_shape_def def = {.kind = TALUS_CLUMP,
                         .points = pair,
                         .point_count = 2,
                         .volume = 0.25,
                         .centre = {0.1, 0, 0},
                         .inertia = {0.2, 1.1, 1.2, 0, 0, 0}};
  tl_shape clump = make(&def);
  CHECK(clump.volume == 0.25 && clump.centre.x == 0.1 && clump.error == 0);
  CHECK_NEAR(clump.gyration.y, 1.1, REAL_TOLERANCE);
  CHECK_NEAR(clump.points[0], -1.1, 1e-15);
  tl_shape_release(&clump);
  tl_shape shape;
  def.inertia[0] = -1;
  CHECK(tl_shape_make(&def, &shape) == TALUS_ERROR_INVALID);
  CHECK(strstr(tl_last_message(), "principal moments") != NULL);
  def.inertia[0] = 5; /* above the sum of the other two */
  CHECK(tl_shape_make(&def, &shape) == TALUS_ERROR_INVALID);
  def.volume = NAN;
  CHECK(tl_shape_make(&def, &shape) == TALUS_ERROR_INVALID);
}

TEST(clumps_of_nothing_are_refused) {
  const double bad[][4] = {{0, 0, 0, 0}, {0, 0, 0, -1}, {0, NAN, 0, 1}, {0, 0, INFINITY, 1}};
  tl_shape shape;
  talus_shape_def def = {.name = "pebble", .kind = TALUS_CLUMP};
  CHECK(tl_shape_make(&def, &shape) == TALUS_ERROR_INVALID);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    def.points = bad[i], def.point_count = 1;
    CHECK(tl_shape_make(&def, &shape) == TALUS_ERROR_INVALID);
    CHECK(strstr(tl_last_message(), "shape 'pebble': sphere 0 of the clump") != NULL);
  }
}

/* ---- bad sizes of the analytic kinds --------------------------------------------------------- */

TEST(bad_sizes_are_refused_by_name) {
  static const struct {
    talus_shape_def def;
    const char *says;
  } bad[] = {
      {{.kind = TALUS_ELLIPSOID, .size = {0, 1, 1}}, "half axis a is 0"},
      {{.kind = TALUS_ELLIPSOID, .size = {1, -1, 1}}, "half axis b is -1"},
      {{.kind = TALUS_ELLIPSOID, .size = {1, 1, NAN}}, "half axis c is"},
      {{.kind = TALUS_CAPSULE, .size = {0, 1}}, "radius is 0"},
      {{.kind = TALUS_CAPSULE, .size = {1, -1}}, "length is -1"},
      {{.kind = TALUS_CYLINDER, .size = {1, 0}}, "length is 0"},
      {{.kind = TALUS_CONE, .size = {INFINITY, 1}}, "radius is inf"},
      {{.kind = TALUS_SUPERELLIPSOID, .size = {1, 0, 1, 2, 2}}, "half axis b is 0"},
      {{.kind = TALUS_SUPERELLIPSOID, .size = {1, 1, 1, 0.5, 2}}, "exponent n1 is 0.5"},
      {{.kind = TALUS_SUPERELLIPSOID, .size = {1, 1, 1, 2, 101}}, "exponent n2 is 101"},
      {{.kind = TALUS_SUPERELLIPSOID, .size = {1, 1, 1, NAN, 2}}, "exponent n1 is"},
      {{.kind = TALUS_CONE, .size = {1, 1}, .open = 1}, "a cone has no sides to leave open"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    tl_shape shape;
    CHECK(tl_shape_make(&bad[i].def, &shape) == TALUS_ERROR_INVALID);
    CHECK_MSG(strstr(tl_last_message(), bad[i].says), "case %zu: %s", i, tl_last_message());
  }
}

TEST(copies_are_equal_and_their_own) {
  const size_t before = tl_memory_count().bytes;
  const double points[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1};
  const talus_shape_def def = {
      .name = "stone", .kind = TALUS_HULL, .points = points, .point_count = 5};
  tl_shape hull = make(&def), copy;
  CHECK_OK(tl_shape_copy(&copy, &hull));
  CHECK_STR(copy.name, "stone");
  CHECK(copy.points != hull.points && copy.point_count == hull.point_count);
  CHECK(memcmp(copy.points, hull.points, 3 * hull.point_count * sizeof(double)) == 0);
  tl_shape_release(&hull);
  CHECK_OK(tl_shape_validate(&copy));
  uint32_t *const list[] = {copy.face_vertex, copy.neighbour, copy.vertex_face, copy.vertex_start};
  for (size_t k = 0; k < sizeof list / sizeof *list; ++k) {
    const uint32_t right = list[k][3];
    list[k][3] = 77;
    CHECK(tl_shape_validate(&copy) == TALUS_ERROR_INVALID);
    list[k][3] = right;
    CHECK_OK(tl_shape_validate(&copy));
  }
  tl_shape_release(&copy);
  CHECK_EQ_U64(tl_memory_count().bytes, before);
}

/* The quotient that is 1 needs no power; the bits are those of all powers. */
TEST(norm_of_a_superellipsoid_is_that_of_all_powers) {
  tl_random random = tl_random_start(11, 0, 0);
  for (uint64_t i = check_cases(20000); i > 0; --i) {
    const double x = i % 16 ? uniform(&random, 0, 2) : 0, p = uniform(&random, 1.05, 4);
    const double y = i % 32 ? uniform(&random, 0, 2) : x + 1, most = x > y ? x : y;
    double slope[2];
    const double norm = tl_power_norm(x, y, most, p, slope);
    const double px = tl_power_unit(x / most, p), py = tl_power_unit(y / most, p);
    const double root = tl_pow_d(px + py, 1 / p), share = root / (px + py);
    CHECK(norm == most * root);
    CHECK(slope[0] == (x > 0 ? px / (x / most) * share : 0));
    CHECK(slope[1] == (y > 0 ? py / (y / most) * share : 0));
  }
  double slope[2];
  CHECK(tl_power_norm(1.5, 1.5, 1.5, 2, slope) == 1.5 * tl_pow_d(2, 0.5));
  CHECK(slope[0] == slope[1]);
}

TEST_MAIN()
