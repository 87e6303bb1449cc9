/* Whether a straight way goes through a shape, and how far from a place none can (shape/shape.h).
 *
 * Convex shapes are the places where a convex function is below 0, so a way goes through one if the
 * least value along it is below 0. */
#include "kernels/gjk.h"
#include "shape/facets.h"
#include "shape/shape.h"

#include <math.h>

/* Of the interval in which the least value is: (2/3)^60 is 3e-11. */
#define NARROWINGS 60

typedef struct way {
  talus_dvec3 from, to;
} way;

static talus_dvec3 place_on(const way *w, double share) {
  return tl_dadd(w->from, tl_dscale(tl_dsub(w->to, w->from), share));
}

/* ---- convex shapes --------------------------------------------------------------------------- */

static double norm_of(double x, double y, double n) {
  const double big = fmax(x, y), small = fmin(x, y);
  return big > 0 ? big * tl_pow_d(1 + tl_pow_d(small / big, n), 1 / n) : 0;
}

static double beyond_faces(const tl_shape *shape, talus_dvec3 p) {
  double most = -(double)INFINITY;
  for (uint32_t k = 0; k < shape->face_count; ++k) {
    const double *plane = shape->face_plane + 4 * (size_t)k;
    most = fmax(most, plane[0] * p.x + plane[1] * p.y + plane[2] * p.z - plane[3]);
  }
  return most;
}

/* Below 0 inside, and convex. */
static double outside_by(const tl_shape *shape, talus_dvec3 p) {
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
    return norm_of(norm_of(fabs(p.x) / s[0], fabs(p.y) / s[1], s[4]), fabs(p.z) / s[2], s[3]) - 1;
  case TALUS_CAPSULE: {
    const double beyond = fmax(fabs(p.z) - 0.5 * s[1], 0);
    return sqrt(rho * rho + beyond * beyond) - s[0];
  }
  case TALUS_CYLINDER:
    return fmax(rho - s[0], fabs(p.z) - 0.5 * s[1]);
  case TALUS_CONE: /* from its centroid: the base is at -length/4, the apex at 3/4 */
    return fmax(-0.25 * s[1] - p.z, rho - s[0] * (0.75 - p.z / s[1]));
  case TALUS_HULL:
    return beyond_faces(shape, p);
  default:
    return (double)INFINITY;
  }
}

static bool goes_inside(const tl_shape *shape, const way *w) {
  double low = 0, high = 1;
  if (outside_by(shape, w->from) < 0 || outside_by(shape, w->to) < 0)
    return true;
  for (int i = 0; i < NARROWINGS; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    const double at_a = outside_by(shape, place_on(w, a));
    const double at_b = outside_by(shape, place_on(w, b));
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

static bool goes_into_sphere(const tl_shape *clump, const way *w) {
  const talus_dvec3 d = tl_dsub(w->to, w->from);
  const double length2 = tl_ddot(d, d);
  for (uint32_t k = 0; k < clump->point_count; ++k) {
    const double *s = clump->points + 4 * (size_t)k;
    const talus_dvec3 to = tl_dsub(tl_dvec3(s[0], s[1], s[2]), w->from);
    const double share = length2 > 0 ? fmin(fmax(tl_ddot(to, d) / length2, 0), 1) : 0;
    if (tl_dlength(tl_dsub(to, tl_dscale(d, share))) < s[3])
      return true;
  }
  return false;
}

/* A side of a container that is there. */
static bool goes_through_side(const tl_shape *container, const way *w) {
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

static bool goes_through_triangle(const tl_facets *f, uint32_t t, const way *w) {
  talus_dvec3 v[3];
  for (size_t k = 0; k < 3; ++k)
    v[k] = tl_dsub(tl_facets_point(f, f->triangle[3 * (size_t)t + k]), w->from);
  const talus_dvec3 d = tl_dsub(w->to, w->from);
  const talus_dvec3 n = tl_dcross(tl_dsub(v[1], v[0]), tl_dsub(v[2], v[0]));
  const double first = -tl_ddot(v[0], n), last = first + tl_ddot(d, n);
  if ((first < 0) == (last < 0))
    return false;
  int left = 0, right = 0;
  for (int k = 0; k < 3; ++k) {
    const double turn = tl_ddot(d, tl_dcross(v[k], v[(k + 1) % 3]));
    left += turn > 0, right += turn < 0;
  }
  return left == 0 || right == 0;
}

static bool goes_through_mesh(const tl_facets *f, const way *w) {
  const double from[3] = {w->from.x, w->from.y, w->from.z}, to[3] = {w->to.x, w->to.y, w->to.z};
  tl_tree_box box;
  for (int k = 0; k < 3; ++k)
    box.lo[k] = fmin(from[k], to[k]), box.hi[k] = fmax(from[k], to[k]);
  tl_tree_walk walk = tl_tree_begin(&f->tree, false);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t)
      if (goes_through_triangle(f, t, w))
        return true;
  return false;
}

bool tl_shape_is_crossed(const tl_shape *shape, talus_dvec3 from, talus_dvec3 to) {
  const way w = {from, to};
  switch (shape->kind) {
  case TALUS_PLANE:
    return false;
  case TALUS_CONTAINER:
    return goes_through_side(shape, &w);
  case TALUS_CLUMP:
    return goes_into_sphere(shape, &w);
  case TALUS_REVOLVED: {
    const tl_revolved wall = tl_shape_revolved(shape, 1);
    return tl_revolved_crossing(&wall, from, to) <= 1;
  }
  case TALUS_MESH:
    return goes_through_mesh(shape->facets, &w);
  default:
    return goes_inside(shape, &w);
  }
}

bool tl_shape_holds_centre(const tl_shape *shape) {
  const talus_dvec3 centre = {0, 0, 0};
  if (shape->kind == TALUS_MESH)
    return shape->facets->is_closed && !shape->facets->two_sided &&
           tl_facets_winding(shape->facets, centre) > 0;
  return shape->bounded && !tl_kind_is_wall(shape->kind) &&
         tl_shape_is_crossed(shape, centre, centre);
}

/* ---- how far a place is from all of that ------------------------------------------------------
 */

/* Of a convex shape. Where outside_by is no distance, it is a norm less 1, which grows by no more
 * than 1 / (radius of a ball within the shape) with the way. */
static double clear_of_convex(const tl_shape *shape, talus_dvec3 p) {
  const double *s = shape->size, by = outside_by(shape, p);
  switch (shape->kind) {
  case TALUS_ELLIPSOID:
  case TALUS_SUPERELLIPSOID:
    return by * tl_shape_inner_radius(shape);
  case TALUS_CONE:
    return by * s[1] / sqrt(s[1] * s[1] + s[0] * s[0]);
  default:
    return by;
  }
}

static double clear_of_spheres(const tl_shape *clump, talus_dvec3 p) {
  double least = HUGE_VAL;
  for (uint32_t k = 0; k < clump->point_count; ++k) {
    const double *s = clump->points + 4 * (size_t)k;
    least = fmin(least, tl_dlength(tl_dsub(tl_dvec3(s[0], s[1], s[2]), p)) - s[3]);
  }
  return least;
}

/* From within, the nearest side that is there; from outside, the box about all of them. */
static double clear_of_sides(const tl_shape *container, talus_dvec3 p) {
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

static double clear_of_mesh(const tl_facets *f, talus_dvec3 p, double most) {
  const double at[3] = {p.x, p.y, p.z};
  double least2 = most * most, weight[3];
  tl_tree_box box;
  for (int k = 0; k < 3; ++k)
    box.lo[k] = at[k] - most, box.hi[k] = at[k] + most;
  tl_tree_walk walk = tl_tree_begin(&f->tree, false);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count)) {
    for (uint32_t t = first; t < first + count; ++t) {
      talus_dvec3 v[3];
      for (size_t k = 0; k < 3; ++k)
        v[k] = tl_dsub(tl_facets_point(f, f->triangle[3 * (size_t)t + k]), p);
      least2 = fmin(least2, tl_nearest_triangle(v, weight));
    }
    const double least = sqrt(least2);
    for (int k = 0; k < 3; ++k)
      box.lo[k] = at[k] - least, box.hi[k] = at[k] + least;
  }
  return sqrt(least2);
}

double tl_shape_clearance(const tl_shape *shape, talus_dvec3 place, double most) {
  switch (shape->kind) {
  case TALUS_PLANE:
    return most;
  case TALUS_CONTAINER:
    return clear_of_sides(shape, place);
  case TALUS_CLUMP:
    return clear_of_spheres(shape, place);
  case TALUS_REVOLVED: {
    const tl_revolved wall = tl_shape_revolved(shape, 1);
    double near2;
    bool is_behind;
    tl_wall_nearest(&wall, tl_meridian_of(sqrt(place.x * place.x + place.y * place.y), place.z),
                    &near2, &is_behind);
    return sqrt(near2);
  }
  case TALUS_MESH:
    return clear_of_mesh(shape->facets, place, most);
  default:
    return clear_of_convex(shape, place);
  }
}
