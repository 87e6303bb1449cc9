/* Triangles of a shape's surface, for pictures: exact where it is flat, divided finely where it is
 * round. No computed result depends on them. */
#include "base/power.h"
#include "base/trig.h"
#include "shape/surface.h"

#include <math.h>

#include "kernels/collide.h"

/* Around the z axis, and from pole to pole. */
#define AROUND 24
#define HEIGHT 12

static talus_status add_point(tl_surface *s, double x, double y, double z) {
  TL_TRY(tl_array_push(&s->points, x));
  TL_TRY(tl_array_push(&s->points, y));
  return tl_array_push(&s->points, z);
}

static talus_status add_triangle(tl_surface *s, size_t a, size_t b, size_t c) {
  TL_TRY(tl_array_push(&s->corners, (uint32_t)a));
  TL_TRY(tl_array_push(&s->corners, (uint32_t)b));
  return tl_array_push(&s->corners, (uint32_t)c);
}

/* ---- round shapes ---------------------------------------------------------------------------- */

typedef struct profile_point {
  double radius, z;
} profile_point;

/* Turns a profile, which begins and ends on the z axis and goes up, about that axis. */
static talus_status revolve(tl_surface *s, const profile_point *profile, size_t n) {
  const size_t rings = n - 2, top = 1 + rings * AROUND;
  TL_TRY(add_point(s, 0, 0, profile[0].z));
  for (size_t i = 1; i <= rings; ++i)
    for (int j = 0; j < AROUND; ++j) {
      const double angle = 2 * TL_PI * j / AROUND;
      TL_TRY(add_point(s, profile[i].radius * tl_cos_d(angle), profile[i].radius * tl_sin_d(angle),
                       profile[i].z));
    }
  TL_TRY(add_point(s, 0, 0, profile[n - 1].z));
  for (size_t j = 0; j < AROUND; ++j) {
    const size_t next = (j + 1) % AROUND, last = 1 + (rings - 1) * AROUND;
    TL_TRY(add_triangle(s, 0, 1 + next, 1 + j));
    for (size_t i = 0; i + 1 < rings; ++i) {
      const size_t below = 1 + i * AROUND, above = below + AROUND;
      TL_TRY(add_triangle(s, below + j, below + next, above + next));
      TL_TRY(add_triangle(s, below + j, above + next, above + j));
    }
    TL_TRY(add_triangle(s, last + j, last + next, top));
  }
  return TALUS_OK;
}

/* A wall has more triangles than bodies, because it is seen from near. Its front is the side where
 * bodies may be. */
static talus_status add_revolved(tl_surface *s, const tl_shape *shape) {
  const uint32_t n = shape->point_count, around = 3 * AROUND;
  const bool flip = shape->open == TL_REVOLVED_OUT ? shape->size[0] > 0 : shape->size[0] < 0;
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < around; ++j) {
      const double angle = 2 * TL_PI * j / around, r = shape->points[2 * i + 1];
      TL_TRY(add_point(s, r * tl_cos_d(angle), r * tl_sin_d(angle), shape->points[2 * i]));
    }
  for (size_t i = 0; i + 1 < n; ++i)
    for (size_t j = 0; j < around; ++j) {
      const size_t a = i * around + j, b = i * around + (j + 1) % around;
      const size_t c = a + around, d = b + around;
      if (shape->points[2 * i + 1] > 0) /* left of the way is the front */
        TL_TRY(flip ? add_triangle(s, a, b, d) : add_triangle(s, a, d, b));
      if (shape->points[2 * i + 3] > 0)
        TL_TRY(flip ? add_triangle(s, a, d, c) : add_triangle(s, a, c, d));
    }
  return TALUS_OK;
}

/* A ball, or a capsule whose halves are `length` apart. */
static talus_status add_ball(tl_surface *s, double radius, double length) {
  profile_point profile[HEIGHT + 2];
  size_t n = 0;
  for (int i = 0; i <= HEIGHT; ++i) {
    const double angle = TL_PI * i / HEIGHT, shift = 2 * i <= HEIGHT ? -0.5 : 0.5;
    profile[n++] =
        (profile_point){radius * tl_sin_d(angle), shift * length - radius * tl_cos_d(angle)};
    if (2 * i == HEIGHT && length > 0) /* the equator twice: both ends of the straight part */
      profile[n++] = (profile_point){radius, 0.5 * length};
  }
  return revolve(s, profile, n);
}

static talus_status add_turned(tl_surface *s, const tl_shape *shape) {
  const double r = shape->size[0], h = 0.5 * shape->size[1];
  const profile_point cylinder[4] = {{0, -h}, {r, -h}, {r, h}, {0, h}};
  const profile_point cone[3] = {{0, -h}, {r, -h}, {0, h}};
  return shape->kind == TALUS_CONE ? revolve(s, cone, 3) : revolve(s, cylinder, 4);
}

static double power(double x, double exponent) { return copysign(tl_pow_d(fabs(x), exponent), x); }

/* The ball's points moved along: sine and cosine of both angles to the powers 2 / n. */
static talus_status add_superellipsoid(tl_surface *s, const tl_shape *shape) {
  const double n1 = shape->kind == TALUS_ELLIPSOID ? 2 : shape->size[3],
               n2 = shape->kind == TALUS_ELLIPSOID ? 2 : shape->size[4];
  TL_TRY(add_ball(s, 1, 0));
  for (size_t i = 0; i < s->points.count; i += 3) {
    double *p = &s->points.data[i];
    const double radius = tl_hypot_d(p[0], p[1]), around = radius > 1e-12 ? 1 / radius : 0;
    const double flat = power(radius, 2 / n1);
    p[0] = shape->size[0] * flat * power(p[0] * around, 2 / n2);
    p[1] = shape->size[1] * flat * power(p[1] * around, 2 / n2);
    p[2] = shape->size[2] * power(p[2], 2 / n1);
  }
  return TALUS_OK;
}

/* ---- flat shapes ----------------------------------------------------------------------------- */

/* Corners count in binary: x is bit 0, y bit 1, z bit 2. Sides in the order of TALUS_SIDE_...; a
 * container is seen from inside. */
static talus_status add_box(tl_surface *s, const tl_shape *shape) {
  static const uint32_t sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  const bool inside = shape->kind == TALUS_CONTAINER;
  for (unsigned c = 0; c < 8; ++c)
    TL_TRY(add_point(s, (c & 1 ? 0.5 : -0.5) * shape->size[0],
                     (c & 2 ? 0.5 : -0.5) * shape->size[1], (c & 4 ? 0.5 : -0.5) * shape->size[2]));
  for (unsigned f = 0; f < 6; ++f) {
    const uint32_t *v = sides[f];
    if (inside && (shape->open >> f & 1u))
      continue;
    TL_TRY(add_triangle(s, v[0], v[inside ? 2 : 1], v[inside ? 1 : 2]));
    TL_TRY(add_triangle(s, v[0], v[inside ? 3 : 2], v[inside ? 2 : 3]));
  }
  return TALUS_OK;
}

/* Already in the principal frame. */
static talus_status add_hull(tl_surface *s, const tl_shape *shape) {
  for (size_t i = 0; i < 3 * (size_t)shape->point_count; ++i)
    TL_TRY(tl_array_push(&s->points, shape->points[i]));
  for (uint32_t f = 0; f < shape->face_count; ++f) {
    const uint32_t *v = &shape->face_vertex[shape->face_start[f]];
    const uint32_t n = shape->face_start[f + 1] - shape->face_start[f];
    for (uint32_t k = 2; k < n; ++k)
      TL_TRY(add_triangle(s, v[0], v[k - 1], v[k]));
  }
  return TALUS_OK;
}

static talus_status add_mesh(tl_surface *s, const tl_shape *shape) {
  const size_t numbers = 3 * (size_t)shape->point_count, corners = 3 * (size_t)shape->face_count;
  TL_TRY(tl_array_resize(&s->points, numbers));
  TL_TRY(tl_array_resize(&s->corners, corners));
  memcpy(s->points.data, shape->points, numbers * sizeof(double));
  memcpy(s->corners.data, shape->face_vertex, corners * sizeof(uint32_t));
  return TALUS_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* From the shape's own frame to the principal one. */
static void to_principal(tl_surface *s, const tl_shape *shape) {
  const tl_frame axes = tl_frame_from_quat(shape->axes);
  for (size_t i = 0; i < s->points.count; i += 3) {
    double *p = &s->points.data[i];
    const talus_dvec3 q =
        tl_frame_to_local(&axes, tl_dsub(tl_dvec3(p[0], p[1], p[2]), shape->centre));
    p[0] = q.x, p[1] = q.y, p[2] = q.z;
  }
}

talus_status tl_surface_make(const tl_shape *shape, tl_surface *surface) {
  surface->points.count = surface->corners.count = 0;
  switch (shape->kind) {
  case TALUS_BOX:
  case TALUS_CONTAINER:
    TL_TRY(add_box(surface, shape));
    break;
  case TALUS_ELLIPSOID:
  case TALUS_SUPERELLIPSOID:
    TL_TRY(add_superellipsoid(surface, shape));
    break;
  case TALUS_CAPSULE:
    TL_TRY(add_ball(surface, shape->size[0], shape->size[1]));
    break;
  case TALUS_CYLINDER:
  case TALUS_CONE:
    TL_TRY(add_turned(surface, shape));
    break;
  case TALUS_HULL:
    return add_hull(surface, shape);
  case TALUS_REVOLVED:
    return add_revolved(surface, shape);
  case TALUS_MESH:
    return add_mesh(surface, shape);
  default: /* a sphere and a clump are points of the frame, a plane has no end */
    return TALUS_OK;
  }
  to_principal(surface, shape);
  return TALUS_OK;
}

void tl_surface_release(tl_surface *surface) {
  tl_array_free(&surface->points);
  tl_array_free(&surface->corners);
}
