/* Whether a straight way goes through a shape, and how far from a place none can: for all kinds but
 * meshes and revolved walls, on the host and on a device. shape/shape.h has the calls for all
 * kinds.
 *
 * Convex shapes are the places where a convex function is below 0, so a way goes through one if the
 * least value along it is below 0. */
#ifndef TL_SHAPE_WAY_H
#define TL_SHAPE_WAY_H

#include <float.h>
#include <math.h>

#include "base/power.h"
#include "crowd/shape_row.h"
#include "kernels/quat.h"

/* Of the interval in which the least value is: (2/3)^60 is 3e-11. */
#define TL_WAY_NARROWINGS 60

typedef struct tl_way {
  talus_dvec3 from, to;
} tl_way;

TL_FN talus_dvec3 tl_way_place(const tl_way *w, double share) {
  return tl_dadd(w->from, tl_dscale(tl_dsub(w->to, w->from), share));
}

/* ---- convex shapes --------------------------------------------------------------------------- */

TL_FN double tl_way_norm(double x, double y, double n) {
  const double big = fmax(x, y), small = fmin(x, y);
  return big > 0 ? big * tl_pow_d(1 + tl_pow_d(small / big, n), 1 / n) : 0;
}

TL_FN double tl_way_beyond_faces(const tl_shape *shape, talus_dvec3 p) {
  double most = -HUGE_VAL;
  for (uint32_t k = 0; k < shape->face_count; ++k) {
    const double *plane = shape->face_plane + 4 * (size_t)k;
    most = fmax(most, plane[0] * p.x + plane[1] * p.y + plane[2] * p.z - plane[3]);
  }
  return most;
}

/* Below 0 inside, and convex. */
TL_FN double tl_way_outside(const tl_shape *shape, talus_dvec3 p) {
  const double *s = shape->size;
  const double rho = sqrt(p.x * p.x + p.y * p.y);
  switch (shape->kind) {
  case TALUS_SPHERE:
    return tl_dlength(p) - s[0];
  case TALUS_BOX:
    return fmax(fmax(fabs(p.x) - 0.5 * s[0], fabs(p.y) - 0.5 * s[1]), fabs(p.z) - 0.5 * s[2]);
  case TALUS_ELLIPSOID:
    return tl_dlength(tl_dvec3(p.x / s[0], p.y / s[1], p.z / s[2])) - 1;
  case TALUS_SUPERELLIPSOID:
    return tl_way_norm(tl_way_norm(fabs(p.x) / s[0], fabs(p.y) / s[1], s[4]), fabs(p.z) / s[2],
                       s[3]) -
           1;
  case TALUS_CAPSULE: {
    const double beyond = fmax(fabs(p.z) - 0.5 * s[1], 0.0);
    return sqrt(rho * rho + beyond * beyond) - s[0];
  }
  case TALUS_CYLINDER:
    return fmax(rho - s[0], fabs(p.z) - 0.5 * s[1]);
  case TALUS_CONE: /* from its centroid: the base is at -length/4, the apex at 3/4 */
    return fmax(-0.25 * s[1] - p.z, rho - s[0] * (0.75 - p.z / s[1]));
  case TALUS_HULL:
    return tl_way_beyond_faces(shape, p);
  default:
    return HUGE_VAL;
  }
}

TL_FN bool tl_way_goes_inside(const tl_shape *shape, const tl_way *w) {
  double low = 0, high = 1;
  if (tl_way_outside(shape, w->from) < 0 || tl_way_outside(shape, w->to) < 0)
    return true;
  for (int i = 0; i < TL_WAY_NARROWINGS; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    const double at_a = tl_way_outside(shape, tl_way_place(w, a));
    const double at_b = tl_way_outside(shape, tl_way_place(w, b));
    if (at_a < 0 || at_b < 0)
      return true;
    if (at_a < at_b)
      high = b;
    else
      low = a;
  }
  return false;
}

/* ---- other shapes ---------------------------------------------------------------------------- */

TL_FN bool tl_way_goes_into_sphere(const tl_shape *clump, const tl_way *w) {
  const talus_dvec3 d = tl_dsub(w->to, w->from);
  const double length2 = tl_ddot(d, d);
  for (uint32_t k = 0; k < clump->point_count; ++k) {
    const double *s = clump->points + 4 * (size_t)k;
    const talus_dvec3 to = tl_dsub(tl_dvec3(s[0], s[1], s[2]), w->from);
    const double share = length2 > 0 ? fmin(fmax(tl_ddot(to, d) / length2, 0.0), 1.0) : 0;
    if (tl_dlength(tl_dsub(to, tl_dscale(d, share))) < s[3])
      return true;
  }
  return false;
}

/* A side of a container that is there. */
TL_FN bool tl_way_goes_through_side(const tl_shape *container, const tl_way *w) {
  const double from[3] = {w->from.x, w->from.y, w->from.z}, to[3] = {w->to.x, w->to.y, w->to.z};
  for (int side = 0; side < 6; ++side) {
    const int k = side >> 1;
    const double at = (side & 1 ? 0.5 : -0.5) * container->size[k];
    if ((container->open >> side & 1u) || (from[k] < at) == (to[k] < at))
      continue;
    const double share = (at - from[k]) / (to[k] - from[k]);
    bool meets = true;
    for (int turn = 1; turn < 3; ++turn) {
      const int j = (k + turn) % 3;
      meets = meets && fabs(from[j] + share * (to[j] - from[j])) < 0.5 * container->size[j];
    }
    if (meets)
      return true;
  }
  return false;
}

TL_FN bool tl_way_crosses(const tl_shape *shape, talus_dvec3 from, talus_dvec3 to) {
  tl_way w;
  w.from = from;
  w.to = to;
  switch (shape->kind) {
  case TALUS_PLANE:
    return false;
  case TALUS_CONTAINER:
    return tl_way_goes_through_side(shape, &w);
  case TALUS_CLUMP:
    return tl_way_goes_into_sphere(shape, &w);
  default:
    return tl_way_goes_inside(shape, &w);
  }
}

/* ---- how far a place is from all of that ------------------------------------------------------
 */

/* Of a convex shape. Where tl_way_outside is no distance, it is a norm less 1, which grows by no
 * more than 1 / (radius of a ball within the shape) with the way. */
TL_FN double tl_way_clear_of_convex(const tl_shape *shape, talus_dvec3 p, double inner) {
  const double *s = shape->size, by = tl_way_outside(shape, p);
  switch (shape->kind) {
  case TALUS_ELLIPSOID:
  case TALUS_SUPERELLIPSOID:
    return by * inner;
  case TALUS_CONE:
    return by * s[1] / sqrt(s[1] * s[1] + s[0] * s[0]);
  default:
    return by;
  }
}

TL_FN double tl_way_clear_of_spheres(const tl_shape *clump, talus_dvec3 p) {
  double least = HUGE_VAL;
  for (uint32_t k = 0; k < clump->point_count; ++k) {
    const double *s = clump->points + 4 * (size_t)k;
    least = fmin(least, tl_dlength(tl_dsub(tl_dvec3(s[0], s[1], s[2]), p)) - s[3]);
  }
  return least;
}

/* From within, the nearest side that is there; from outside, the box about all of them. */
TL_FN double tl_way_clear_of_sides(const tl_shape *container, talus_dvec3 p) {
  const double at[3] = {p.x, p.y, p.z};
  double outside = 0, least = HUGE_VAL;
  for (int side = 0; side < 6; ++side) {
    const int k = side >> 1;
    const double depth = 0.5 * container->size[k] - (side & 1 ? at[k] : -at[k]);
    outside = fmax(outside, -depth);
    if (!(container->open >> side & 1u))
      least = fmin(least, depth);
  }
  return outside > 0 ? outside : least;
}

/* inner: m, tl_shape_inner_radius. */
TL_FN double tl_way_clearance(const tl_shape *shape, talus_dvec3 place, double most, double inner) {
  switch (shape->kind) {
  case TALUS_PLANE:
    return most;
  case TALUS_CONTAINER:
    return tl_way_clear_of_sides(shape, place);
  case TALUS_CLUMP:
    return tl_way_clear_of_spheres(shape, place);
  default:
    return tl_way_clear_of_convex(shape, place, inner);
  }
}

#endif
