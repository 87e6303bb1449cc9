#include "narrow/mesh_points.h"

#include <string.h>

/* True if two points are the same: a corner above the end of a facet is also above its edge. */
static bool is_copy(const tl_mesh_points *points, const tl_point *a, const tl_point *b) {
  const talus_dvec3 d = tl_dsub(a->point, b->point);
  return tl_ddot(d, d) <= points->same * points->same &&
         tl_dot(a->normal, b->normal) > TL_R(points->alike);
}

void tl_mesh_points_clear(tl_mesh_points *points, double size, bool whole) {
  points->count = 0;
  points->keeps = whole ? TL_MESH_WHOLE : TL_MANIFOLD_MAX;
  points->size = size;
  points->same = TL_PATCH_SAME * size;
  points->alike = 1 - 1e-6;
}

/* Of copies keeps the deepest; of equals the first. */
static void drop_copies(tl_mesh_points *points) {
  tl_point *list = points->list;
  int kept = 0;
  for (int i = 0; i < points->count; ++i) {
    bool copy = false;
    for (int j = 0; j < points->count && !copy; ++j)
      copy = j != i && is_copy(points, &list[i], &list[j]) &&
             (list[j].gap < list[i].gap || (list[j].gap == list[i].gap && j < i));
    if (!copy)
      list[kept++] = list[i]; /* the next one is compared with it only if deeper */
  }
  points->count = kept;
}

/* Of copies keeps the first: with springs the deepest would change by rounding, and forget what
 * friction stretched. */
static void keep_first_copies(tl_mesh_points *points) {
  tl_point *list = points->list;
  int kept = 0;
  for (int i = 0; i < points->count; ++i) {
    bool copy = false;
    for (int j = 0; j < kept && !copy; ++j)
      copy = is_copy(points, &list[i], &list[j]);
    if (!copy)
      list[kept++] = list[i];
  }
  points->count = kept;
}

/* Groups points by direction; returns the number of bins, or one more than allowed. */
static int make_bins(const tl_mesh_points *points, double cosine, int bin[TL_MESH_CANDIDATES]) {
  talus_vec3 normal[TL_MESH_BINS];
  int bins = 0;
  for (int i = 0; i < points->count; ++i) {
    int k = 0;
    while (k < bins && !(tl_dot(points->list[i].normal, normal[k]) > TL_R(cosine)))
      ++k;
    if (k == bins) {
      if (bins == TL_MESH_BINS)
        return TL_MESH_BINS + 1;
      normal[bins++] = points->list[i].normal;
    }
    bin[i] = k;
  }
  return bins;
}

/* Marks the points of a bin that are kept. */
static void choose_in_bin(const tl_mesh_points *points, const int *bin, int which, bool *stays) {
  tl_corners corners;
  corners.count = 0;
  talus_dvec3 n = tl_dvec3(0, 0, 1);
  for (int i = 0; i < points->count; ++i) {
    if (bin[i] != which)
      continue;
    const tl_point *p = &points->list[i];
    if (corners.count == 0)
      n = tl_dvec3((double)p->normal.x, (double)p->normal.y, (double)p->normal.z);
    const talus_dvec3 u = tl_dorthogonal(tl_dunit(n)), v = tl_dcross(tl_dunit(n), u);
    if (corners.count == TL_PATCH_CANDIDATES)
      tl_corners_reduce(&corners, points->size);
    tl_corner *c = &corners.at[corners.count++];
    c->x = tl_ddot(p->point, u), c->y = tl_ddot(p->point, v);
    c->gap = (double)p->gap, c->middle = 0, c->a = (uint32_t)i, c->b = 0;
  }
  const int count = tl_corners_reduce(&corners, points->size);
  for (int i = 0; i < count; ++i)
    stays[corners.at[i].a] = true;
}

static void reduce(tl_mesh_points *points) {
  static const double cosines[] = {0.98, 0.9, 0.7, 0.3, -2};
  int bin[TL_MESH_CANDIDATES];
  bool stays[TL_MESH_CANDIDATES] = {false};
  tl_sort_by_features(points->list, points->count);
  if (points->keeps > TL_MANIFOLD_MAX)
    keep_first_copies(points);
  else
    drop_copies(points);
  if (points->count <= points->keeps)
    return;
  int bins = TL_MESH_BINS + 1;
  for (int i = 0; bins > TL_MESH_BINS; ++i)
    bins = make_bins(points, cosines[i], bin);
  for (int k = 0; k < bins; ++k)
    choose_in_bin(points, bin, k, stays);
  int kept = 0;
  for (int i = 0; i < points->count; ++i)
    if (stays[i])
      points->list[kept++] = points->list[i];
  points->count = kept;
}

void tl_mesh_points_add(tl_mesh_points *points, const tl_point *point) {
  for (int i = 0; i < points->count; ++i)
    if (points->list[i].feature_a == point->feature_a &&
        points->list[i].feature_b == point->feature_b) {
      if (point->gap < points->list[i].gap)
        points->list[i] = *point;
      return;
    }
  if (points->count == TL_MESH_CANDIDATES)
    reduce(points);
  points->list[points->count++] = *point;
}

void tl_mesh_points_close(tl_mesh_points *points) {
  if (points->count > tl_mesh_points_room(points))
    reduce(points);
}

int tl_mesh_points_take(tl_mesh_points *points, tl_point *out) {
  reduce(points);
  memcpy(out, points->list, (size_t)points->count * sizeof *out);
  return points->count;
}
