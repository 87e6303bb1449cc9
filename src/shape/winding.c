/* How often a closed surface goes round a place (shape/facets.h). */
#include "base/trig.h"
#include "shape/facets.h"

#include <math.h>

/* Of the extent, squared: a ray that passes an edge more narrowly says nothing. */
#define BESIDE 1e-12

typedef struct ray {
  int along; /* axis: 0, 1, 2 */
  double sign;
  double p[3];
} ray;

static double of(talus_dvec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/* +1 where the ray leaves through the triangle, -1 where it enters; false where it passes too near
 * to a side to say. */
static bool cross(const ray *r, const talus_dvec3 v[3], double least, int *count) {
  const int u = (r->along + 1) % 3, w = (r->along + 2) % 3;
  double turn[3], height = 0;
  int left = 0, right = 0;
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 a = v[k], b = v[(k + 1) % 3];
    turn[k] =
        (of(a, u) - r->p[u]) * (of(b, w) - r->p[w]) - (of(a, w) - r->p[w]) * (of(b, u) - r->p[u]);
    left += turn[k] > least, right += turn[k] < -least;
  }
  if (left > 0 && right > 0)
    return true; /* beside it */
  if (left + right < 3)
    return false;
  const double sum = turn[0] + turn[1] + turn[2];
  for (int k = 0; k < 3; ++k) /* turn[k] belongs to the corner that its side does not have */
    height += turn[k] / sum * (of(v[(k + 2) % 3], r->along) - r->p[r->along]);
  if (r->sign * height > 0)
    *count += (left == 3) == (r->sign > 0) ? 1 : -1;
  return true;
}

static void corners_of(const tl_facets *f, uint32_t t, talus_dvec3 v[3]) {
  for (size_t k = 0; k < 3; ++k)
    v[k] = tl_facets_point(f, f->triangle[3 * (size_t)t + k]);
}

static bool along_ray(const tl_facets *f, const ray *r, int *winding) {
  tl_tree_box box;
  for (int k = 0; k < 3; ++k)
    box.lo[k] = box.hi[k] = r->p[k];
  *(r->sign > 0 ? &box.hi[r->along] : &box.lo[r->along]) = r->sign * (double)INFINITY;
  tl_tree_walk walk = tl_tree_begin(&f->tree, false);
  uint32_t first, count;
  *winding = 0;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t) {
      talus_dvec3 v[3];
      corners_of(f, t, v);
      if (!cross(r, v, BESIDE * f->extent * f->extent, winding))
        return false;
    }
  return true;
}

/* The sum of all solid angles (Van Oosterom and Strackee 1983), over 4 pi. */
static int by_angles(const tl_facets *f, talus_dvec3 place) {
  double sum = 0;
  for (uint32_t t = 0; t < f->triangles; ++t) {
    talus_dvec3 v[3];
    corners_of(f, t, v);
    for (int k = 0; k < 3; ++k)
      v[k] = tl_dsub(v[k], place);
    const double a = tl_dlength(v[0]), b = tl_dlength(v[1]), c = tl_dlength(v[2]);
    const double volume = tl_ddot(v[0], tl_dcross(v[1], v[2]));
    sum += tl_atan2_d(volume, a * b * c + tl_ddot(v[0], v[1]) * c + tl_ddot(v[1], v[2]) * a +
                                  tl_ddot(v[2], v[0]) * b);
  }
  return (int)floor(sum / (2 * TL_PI) + 0.5);
}

int tl_facets_winding(const tl_facets *f, talus_dvec3 place) {
  for (int k = 0; k < 6; ++k) {
    const ray r = {.along = k / 2, .sign = k % 2 ? -1 : 1, .p = {place.x, place.y, place.z}};
    int winding;
    if (along_ray(f, &r, &winding))
      return winding;
  }
  return by_angles(f, place);
}
