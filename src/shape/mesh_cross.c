/* Where a surface goes through itself. */
#include "kernels/triangle.h"
#include "shape/mesh_tools.h"
#include "shape/tree.h"

/* Triangles in the order of the tree's leaves, each with corners of its own: row / 3 is its number.
 */
typedef struct crossing_search {
  const tl_mesh *mesh;
  tl_tree tree;
  double *points;
  uint32_t *corner;
} crossing_search;

static tl_triangle_corners corners_of(const tl_mesh *mesh, uint32_t t) {
  tl_triangle_corners c;
  for (int k = 0; k < 3; ++k) {
    const double *p = mesh->vertex[mesh->triangle[t][k]];
    c.p[k] = tl_dvec3(p[0], p[1], p[2]);
  }
  return c;
}

/* How many vertices two triangles share; *of_a, *of_b: the corner that is the same, where one is.
 */
static int shared(const tl_mesh *mesh, uint32_t a, uint32_t b, int *of_a, int *of_b) {
  int n = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (mesh->triangle[a][i] == mesh->triangle[b][j])
        ++n, *of_a = i, *of_b = j;
  return n;
}

/* The side across a corner of one goes through the other. */
static bool side_crosses(const tl_triangle_corners *a, int corner, const tl_triangle_corners *b) {
  return tl_segment_triangle(a->p[(corner + 1) % 3], a->p[(corner + 2) % 3], b).feature ==
         TL_TRIANGLE_CROSSES;
}

static bool crosses(const tl_mesh *mesh, uint32_t a, uint32_t b) {
  int of_a = 0, of_b = 0;
  const int same = shared(mesh, a, b, &of_a, &of_b);
  if (same > 1)
    return false;
  const tl_triangle_corners s = corners_of(mesh, a), t = corners_of(mesh, b);
  if (same == 1)
    return side_crosses(&s, of_a, &t) || side_crosses(&t, of_b, &s);
  return tl_triangle_triangle(&s, &t).feature >= TL_TRIANGLE_CROSSES;
}

static tl_tree_box box_of(const tl_mesh *mesh, uint32_t t) {
  const tl_triangle_corners c = corners_of(mesh, t);
  tl_tree_box box = {{c.p[0].x, c.p[0].y, c.p[0].z}, {c.p[0].x, c.p[0].y, c.p[0].z}};
  for (int k = 1; k < 3; ++k) {
    const double p[3] = {c.p[k].x, c.p[k].y, c.p[k].z};
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = fmin(box.lo[axis], p[axis]);
      box.hi[axis] = fmax(box.hi[axis], p[axis]);
    }
  }
  return box;
}

static void look_around(const crossing_search *s, uint32_t a, size_t *count, uint32_t first[2]) {
  const tl_tree_box box = box_of(s->mesh, a);
  tl_tree_walk walk = tl_tree_begin(&s->tree, false);
  uint32_t begin, n;
  while (tl_tree_next(&walk, &box, &begin, &n))
    for (uint32_t i = begin; i < begin + n; ++i) {
      const uint32_t b = s->corner[3 * (size_t)i] / 3;
      if (b <= a || !crosses(s->mesh, a, b))
        continue;
      ++*count;
      if (first[0] == TL_MESH_NONE || (first[0] == a && b < first[1]))
        first[0] = a, first[1] = b;
    }
}

talus_status tl_mesh_find_crossings(const tl_mesh *mesh, size_t *count, uint32_t first[2]) {
  const size_t n = mesh->triangles;
  crossing_search s = {.mesh = mesh};
  TL_ARRAY(double) points = {0};
  TL_ARRAY(uint32_t) corner = {0};
  *count = 0;
  first[0] = first[1] = TL_MESH_NONE;
  talus_status status = tl_array_resize(&points, 9 * n);
  if (status == TALUS_OK)
    status = tl_array_resize(&corner, 3 * n);
  for (size_t i = 0; i < 3 * n && status == TALUS_OK; ++i) {
    memcpy(&points.data[3 * i], mesh->vertex[mesh->triangle[i / 3][i % 3]], 3 * sizeof(double));
    corner.data[i] = (uint32_t)i;
  }
  if (status == TALUS_OK)
    status = tl_tree_build(points.data, corner.data, (uint32_t)n, &s.tree);
  s.points = points.data;
  s.corner = corner.data;
  for (uint32_t t = 0; t < n && status == TALUS_OK; ++t)
    look_around(&s, t, count, first);
  tl_tree_release(&s.tree);
  tl_array_free(&points);
  tl_array_free(&corner);
  return status;
}
