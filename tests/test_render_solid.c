/* Rays and solids of the renderer: what they meet is on the surface, and nothing is in front of it.
 */
#include <math.h>
#include <string.h>

#include "../cli/render_solid.c" /* the command is no library */
#include "base/random.h"
#include "check.h"

static const struct {
  frame_kind kind;
  double size[5];
} solids[] = {{FRAME_ELLIPSOID, {0.3, 0.8, 0.5}},
              {FRAME_CAPSULE, {0.3, 0.9}},
              {FRAME_CYLINDER, {0.5, 0.8}},
              {FRAME_CONE, {0.6, 1.1}},
              {FRAME_SUPERELLIPSOID, {0.4, 0.7, 0.5, 5, 3}},
              {FRAME_HULL, {0}}};
enum { SOLIDS = sizeof solids / sizeof *solids };

/* The hull |x| + |y| + |z| <= 0.8. */
static double octahedron[8][4];

static void set_octahedron(void) {
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 3; ++k)
      octahedron[i][k] = (i >> k & 1 ? 1 : -1) / sqrt(3);
    octahedron[i][3] = 0.8 / sqrt(3);
  }
}

/* Negative inside, 0 on the surface. */
static double level(int i, const double p[3]) {
  const double *s = solids[i].size, flat = hypot(p[0], p[1]), z = fabs(p[2]);
  switch (solids[i].kind) {
  case FRAME_ELLIPSOID:
    return sqrt(p[0] * p[0] / (s[0] * s[0]) + p[1] * p[1] / (s[1] * s[1]) +
                p[2] * p[2] / (s[2] * s[2])) -
           1;
  case FRAME_CAPSULE:
    return hypot(flat, fmax(0, z - s[1] / 2)) - s[0];
  case FRAME_CYLINDER:
    return fmax(flat - s[0], z - s[1] / 2);
  case FRAME_CONE:
    return fmax(flat - s[0] * (0.5 - p[2] / s[1]), z - s[1] / 2);
  case FRAME_HULL:
    return fabs(p[0]) + fabs(p[1]) + z - 0.8;
  default:
    return pow(pow(pow(fabs(p[0] / s[0]), s[4]) + pow(fabs(p[1] / s[1]), s[4]), s[3] / s[4]) +
                   pow(z / s[2], s[3]),
               1 / s[3]) -
           1;
  }
}

TEST(rays_end_on_the_surface_and_not_before) {
  set_octahedron();
  int hits = 0, misses = 0;
  for (uint64_t serial = 0; serial < 6000; ++serial) {
    tl_random random = tl_random_start(9, 0, serial);
    const int i = (int)(serial % SOLIDS);
    solid_ray ray;
    for (int k = 0; k < 3; ++k) {
      ray.from[k] = 3 * (2 * tl_random_unit(&random) - 1);
      ray.along[k] = 2 * (tl_random_unit(&random) - 0.5) - ray.from[k] / 2;
    }
    if (level(i, ray.from) < 0)
      continue;
    const solid_shape shape = {.kind = solids[i].kind,
                               .size = solids[i].size,
                               .planes = &octahedron[0][0],
                               .plane_count = 8};
    double distance = 10, normal[3] = {0};
    const bool hit = solid_hit(&shape, &ray, 0, 10, &distance, normal);
    hits += hit, misses += !hit;
    const double end = hit ? distance : 10;
    double p[3];
    for (int step = 0; step < 200; ++step) {
      for (int k = 0; k < 3; ++k)
        p[k] = ray.from[k] + end * step / 200 * ray.along[k];
      CHECK_MSG(level(i, p) > -1e-9, "ray %d is within before it hits", (int)serial);
    }
    if (!hit)
      continue;
    for (int k = 0; k < 3; ++k)
      p[k] = ray.from[k] + distance * ray.along[k];
    CHECK_MSG(fabs(level(i, p)) < 1e-7, "ray %d ends %g off", (int)serial, level(i, p));
    const double against =
        normal[0] * ray.along[0] + normal[1] * ray.along[1] + normal[2] * ray.along[2];
    CHECK_MSG(against < 1e-9, "ray %d meets a surface from behind", (int)serial);
  }
  CHECK_MSG(hits > 500 && misses > 500, "%d hits, %d misses", hits, misses);
}

TEST(a_ray_from_within_ends_where_it_leaves) {
  set_octahedron();
  for (int i = 0; i < SOLIDS; ++i) {
    const solid_ray ray = {{0, 0, 0}, {0.3, -0.5, 0.2}};
    const solid_shape shape = {.kind = solids[i].kind,
                               .size = solids[i].size,
                               .planes = &octahedron[0][0],
                               .plane_count = 8};
    double distance, normal[3];
    CHECK(solid_hit(&shape, &ray, 0, 100, &distance, normal));
    const double p[3] = {distance * 0.3, distance * -0.5, distance * 0.2};
    CHECK_NEAR(level(i, p), 0, 1e-7);
    CHECK(!solid_hit(&shape, &ray, distance * 1.01, 100, &distance, normal));
  }
}

TEST_MAIN()
