/* Whether a straight way goes through a shape, and how far from a place none can (shape/shape.h):
 * meshes and revolved walls; way.h has the other kinds. */
#include "shape/way.h"
#include "kernels/gjk.h"
#include "shape/facets.h"
#include "shape/shape.h"

#include <math.h>

static bool goes_through_triangle(const tl_facets *f, uint32_t t, const tl_way *w) {
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

static bool goes_through_mesh(const tl_facets *f, const tl_way *w) {
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
  if (shape->kind == TALUS_REVOLVED) {
    const tl_revolved wall = tl_shape_revolved(shape, 1);
    return tl_revolved_crossing(&wall, from, to) <= 1;
  }
  const tl_way w = {from, to};
  return shape->kind == TALUS_MESH ? goes_through_mesh(shape->facets, &w)
                                   : tl_way_crosses(shape, from, to);
}

bool tl_shape_holds_centre(const tl_shape *shape) {
  const talus_dvec3 centre = {0, 0, 0};
  if (shape->kind == TALUS_MESH)
    return shape->facets->is_closed && !shape->facets->two_sided &&
           tl_facets_winding(shape->facets, centre) > 0;
  return shape->bounded && !tl_kind_is_wall(shape->kind) &&
         tl_shape_is_crossed(shape, centre, centre);
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
  if (shape->kind == TALUS_MESH)
    return clear_of_mesh(shape->facets, place, most);
  if (shape->kind == TALUS_REVOLVED) {
    const tl_revolved wall = tl_shape_revolved(shape, 1);
    double near2;
    bool is_behind;
    tl_wall_nearest(&wall, tl_meridian_of(sqrt(place.x * place.x + place.y * place.y), place.z),
                    &near2, &is_behind);
    return sqrt(near2);
  }
  const bool is_round = shape->kind == TALUS_ELLIPSOID || shape->kind == TALUS_SUPERELLIPSOID;
  return tl_way_clearance(shape, place, most, is_round ? tl_shape_inner_radius(shape) : 0);
}
