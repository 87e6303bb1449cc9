/* The box of a posed shape: tight for every kind, in double in both builds. */
#include "base/power.h"
#include "kernels/collide.h"
#include "shape/facets.h"
#include "shape/shape.h"

/* Half the width of a body with a centre of symmetry, along world axis i: its support function. */
static double half_width(const tl_shape *shape, const tl_frame *frame, int i) {
  const double *size = shape->size, *m = frame->m[i];
  switch (shape->kind) {
  case TALUS_ELLIPSOID: /* the root of the diagonal of M = R diag(a^2, b^2, c^2) R^T */
    return sqrt(m[0] * m[0] * size[0] * size[0] + m[1] * m[1] * size[1] * size[1] +
                m[2] * m[2] * size[2] * size[2]);
  case TALUS_CAPSULE:
    return size[0] + 0.5 * size[1] * fabs(m[2]);
  case TALUS_CYLINDER:
    return size[0] * sqrt(m[0] * m[0] + m[1] * m[1]) + 0.5 * size[1] * fabs(m[2]);
  case TALUS_SUPERELLIPSOID:
    return tl_dual_norm(tl_dual_norm(size[0] * fabs(m[0]), size[1] * fabs(m[1]), size[4]),
                        size[2] * fabs(m[2]), size[3]);
  default: /* box and container */
    return 0.5 * (fabs(m[0]) * size[0] + fabs(m[1]) * size[1] + fabs(m[2]) * size[2]);
  }
}

/* Least and most of a body's places along world axis i, from its centre of mass. */
static void cone_range(const tl_shape *shape, const tl_frame *frame, int i, double range[2]) {
  const double *m = frame->m[i], l = shape->size[1];
  const double rim = shape->size[0] * sqrt(m[0] * m[0] + m[1] * m[1]);
  range[0] = fmin(0.75 * l * m[2], -0.25 * l * m[2] - rim);
  range[1] = fmax(0.75 * l * m[2], -0.25 * l * m[2] + rim);
}

/* Circles about the z axis. */
static void circles_range(const tl_shape *shape, const tl_frame *frame, int i, double range[2]) {
  const double *m = frame->m[i], *p = shape->points;
  const double lean = sqrt(m[0] * m[0] + m[1] * m[1]);
  range[0] = HUGE_VAL, range[1] = -HUGE_VAL;
  for (uint32_t k = 0; k < shape->point_count; ++k, p += 2) {
    range[0] = fmin(range[0], m[2] * p[0] - lean * p[1]);
    range[1] = fmax(range[1], m[2] * p[0] + lean * p[1]);
  }
}

static void points_range(const tl_shape *shape, const tl_frame *frame, int i, double range[2]) {
  const bool is_clump = shape->kind == TALUS_CLUMP;
  const double *m = frame->m[i], *p = shape->points;
  range[0] = HUGE_VAL, range[1] = -HUGE_VAL;
  for (uint32_t k = 0; k < shape->point_count; ++k, p += is_clump ? 4 : 3) {
    const double at = m[0] * p[0] + m[1] * p[1] + m[2] * p[2], r = is_clump ? p[3] : 0;
    range[0] = fmin(range[0], at - r), range[1] = fmax(range[1], at + r);
  }
}

talus_box tl_shape_bounds(const tl_shape *shape, double scale, talus_dvec3 position,
                          talus_quat rotation) {
  talus_box box = {{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
  if (!shape->bounded)
    return box;
  if (shape->kind == TALUS_SPHERE) {
    const double r = shape->size[0] * scale;
    box.lo = tl_dvec3(position.x - r, position.y - r, position.z - r);
    box.hi = tl_dvec3(position.x + r, position.y + r, position.z + r);
    return box;
  }
  const tl_frame frame = tl_frame_from_quat(rotation);
  double range[3][2];
  for (int i = 0; i < 3; ++i)
    if (shape->kind == TALUS_CONE)
      cone_range(shape, &frame, i, range[i]);
    else if (shape->kind == TALUS_MESH)
      tl_facets_range(shape->facets, frame.m[i], range[i]);
    else if (shape->kind == TALUS_HULL || shape->kind == TALUS_CLUMP)
      points_range(shape, &frame, i, range[i]);
    else if (shape->kind == TALUS_REVOLVED)
      circles_range(shape, &frame, i, range[i]);
    else
      range[i][1] = half_width(shape, &frame, i), range[i][0] = -range[i][1];
  box.lo = tl_dvec3(position.x + scale * range[0][0], position.y + scale * range[1][0],
                    position.z + scale * range[2][0]);
  box.hi = tl_dvec3(position.x + scale * range[0][1], position.y + scale * range[1][1],
                    position.z + scale * range[2][1]);
  return box;
}

/* ---- inwards --------------------------------------------------------------------------------- */

double tl_shape_inner_radius(const tl_shape *shape) {
  const double *size = shape->size;
  double least;
  switch (shape->kind) {
  case TALUS_SPHERE:
  case TALUS_CAPSULE:
    return size[0];
  case TALUS_BOX:
  case TALUS_CONTAINER:
    return fmin(fmin(size[0], size[1]), size[2]) / 2;
  case TALUS_ELLIPSOID:
    return fmin(fmin(size[0], size[1]), size[2]);
  case TALUS_SUPERELLIPSOID: /* an octahedron of these half diagonals is within, for n >= 1 */
    return 1 / sqrt(1 / (size[0] * size[0]) + 1 / (size[1] * size[1]) + 1 / (size[2] * size[2]));
  case TALUS_CYLINDER:
    return fmin(size[0], size[1] / 2);
  case TALUS_CONE: /* to the base, and to the side from 3/4 of the height below the apex */
    return fmin(size[1] / 4, 0.75 * size[1] * size[0] / tl_hypot_d(size[0], size[1]));
  case TALUS_HULL:
    least = HUGE_VAL;
    for (uint32_t f = 0; f < shape->face_count; ++f)
      least = fmin(least, shape->face_plane[4 * f + 3]);
    return least;
  case TALUS_MESH: /* about: twice the volume by the area */
    return size[2] > 0 ? size[2] : (double)shape->radius;
  case TALUS_CLUMP: /* the smallest sphere */
    least = HUGE_VAL;
    for (uint32_t k = 0; k < shape->point_count; ++k)
      least = fmin(least, shape->points[4 * k + 3]);
    return least;
  case TALUS_PLANE:
  case TALUS_REVOLVED:
  case TALUS_SHAPE_KINDS:
    break;
  }
  return 0;
}
