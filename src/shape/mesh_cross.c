/* Where a surface goes through itself. */
#include "kernels/triangle.h"
#include "shape/mesh_tools.h"
#include "shape/tree.h"

/* Triangles in the order of the tree's leaves, each with its own corners: row / 3 is its number.
 *
 * The triangles of a fan are long, so their boxes overlap by the thousand. But two triangles that
 * share a vertex can only cross where the side opposite to it goes through the other one, and that
 * side is short. So each part of the tree knows the vertices that all of its triangles share; a
 * triangle that has one of them skips that part. Triangles that share a vertex are tested one by
 * one, or, if they are many, by the box of that side. */
typedef struct crossing_search {
  const tl_mesh *mesh;
  tl_tree tree;
  uint32_t *corner;
  uint32_t (*common)[3]; /* by node and child, 8 to a node: vertices, then TL_MESH_NONE */
  uint32_t *start;       /* by vertex, and one more: of its triangles in `around` */
  uint32_t *around;
  size_t count;
  uint32_t first[2];
} crossing_search;

#define MANY 64 /* triangles at a vertex */

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

/* Whether the side of a that is opposite to a corner goes through b. */
static bool side_crosses(const tl_triangle_corners *a, int corner, const tl_triangle_corners *b) {
  return tl_segment_triangle(a->p[(corner + 1) % 3], a->p[(corner + 2) % 3], b).feature ==
         TL_TRIANGLE_CROSSES;
}

static tl_tree_box box_of(const tl_triangle_corners *c, int from, int to) {
  tl_tree_box box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
  for (int k = from; k < to; ++k) {
    const talus_dvec3 x = c->p[k % 3];
    const double p[3] = {x.x, x.y, x.z};
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = fmin(box.lo[axis], p[axis]);
      box.hi[axis] = fmax(box.hi[axis], p[axis]);
    }
  }
  return box;
}

/* ---- a triangle and the box of a child ------------------------------------------------------- */

/* Whether the projections on an axis overlap; `at`: of the corners from the middle of the box. */
static bool overlaps_along(talus_dvec3 axis, const talus_dvec3 at[3], const double half[3]) {
  const double a = tl_ddot(axis, at[0]), b = tl_ddot(axis, at[1]), c = tl_ddot(axis, at[2]);
  const double size = fabs(axis.x) * half[0] + fabs(axis.y) * half[1] + fabs(axis.z) * half[2];
  const double most = fmax(fabs(a), fmax(fabs(b), fabs(c)));
  const double reach = size + 1e-12 * (size + most);
  return fmin(a, fmin(b, c)) <= reach && fmax(a, fmax(b, c)) >= -reach;
}

/* Where the slab of the child is: of a fan that stands aslant it is thin, and the box is not. As it
 * was made, from the middle in float (shape/tree.c). */
static bool meets_slab(const tl_triangle_corners *c, const tl_tree_node *n, uint32_t k) {
  talus_dvec3 axis = tl_dvec3((double)n->axis[0][k], (double)n->axis[1][k], (double)n->axis[2][k]);
  axis = tl_dscale(axis, 1 / tl_dlength(axis));
  float middle[3], square = 0;
  double at[3];
  for (int i = 0; i < 3; ++i) {
    const float half = 0.5F * (n->hi[i][k] - n->lo[i][k]);
    middle[i] = 0.5F * (n->lo[i][k] + n->hi[i][k]);
    square += half * half;
  }
  const talus_dvec3 from = tl_dvec3((double)middle[0], (double)middle[1], (double)middle[2]);
  for (int i = 0; i < 3; ++i)
    at[i] = tl_ddot(axis, tl_dsub(c->p[i], from));
  const double unit = sqrt((double)square) / TL_TREE_SHARE;
  const double most = fmax(fabs(at[0]), fmax(fabs(at[1]), fabs(at[2]))) + TL_TREE_SHARE * unit;
  return fmin(at[0], fmin(at[1], at[2])) <= n->high[k] * unit + 1e-12 * most &&
         fmax(at[0], fmax(at[1], at[2])) >= n->low[k] * unit - 1e-12 * most;
}

/* Separating axes (Akenine-Moeller 2001) beside those of the box, which the caller has tested. Long
 * triangles of two fans have boxes that overlap by the thousand, and meet few of them. */
static bool meets_child(const tl_triangle_corners *c, const tl_tree_node *n, uint32_t k) {
  const double half[3] = {0.5 * ((double)n->hi[0][k] - (double)n->lo[0][k]),
                          0.5 * ((double)n->hi[1][k] - (double)n->lo[1][k]),
                          0.5 * ((double)n->hi[2][k] - (double)n->lo[2][k])};
  const talus_dvec3 middle = tl_dvec3((double)n->lo[0][k] + half[0], (double)n->lo[1][k] + half[1],
                                      (double)n->lo[2][k] + half[2]);
  talus_dvec3 at[3];
  for (int i = 0; i < 3; ++i)
    at[i] = tl_dsub(c->p[i], middle);
  if (!meets_slab(c, n, k) ||
      !overlaps_along(tl_dcross(tl_dsub(at[1], at[0]), tl_dsub(at[2], at[0])), at, half))
    return false;
  for (int i = 0; i < 3; ++i) {
    const talus_dvec3 e = tl_dsub(at[(i + 1) % 3], at[i]);
    if (!overlaps_along(tl_dvec3(0, e.z, -e.y), at, half) ||
        !overlaps_along(tl_dvec3(-e.z, 0, e.x), at, half) ||
        !overlaps_along(tl_dvec3(e.y, -e.x, 0), at, half))
      return false;
  }
  return true;
}

/* ---- vertices that parts of the tree share --------------------------------------------------- */

/* Removes from `common` what is not in `other`; rows of three, filled up with TL_MESH_NONE. */
static void intersect(uint32_t common[3], const uint32_t other[3]) {
  int kept = 0;
  for (int i = 0; i < 3; ++i) {
    const uint32_t v = common[i];
    const bool both = v != TL_MESH_NONE && (v == other[0] || v == other[1] || v == other[2]);
    common[i] = TL_MESH_NONE;
    if (both)
      common[kept++] = v;
  }
}

static void find_common(const crossing_search *s, uint32_t node, uint32_t all[3]) {
  const tl_tree_node *n = &s->tree.node[node];
  bool any = false;
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k) {
    uint32_t *here = s->common[TL_TREE_WIDE * (size_t)node + k];
    here[0] = here[1] = here[2] = TL_MESH_NONE;
    if (n->lo[0][k] > n->hi[0][k])
      continue;
    if (n->count[k] == 0)
      find_common(s, n->first[k], here);
    for (uint32_t i = n->first[k]; i < n->first[k] + n->count[k]; ++i) {
      const uint32_t *v = s->mesh->triangle[s->corner[3 * (size_t)i] / 3];
      if (i == n->first[k])
        memcpy(here, v, 3 * sizeof *here);
      else
        intersect(here, v);
    }
    if (any)
      intersect(all, here);
    else
      memcpy(all, here, 3 * sizeof *all);
    any = true;
  }
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void add_pair(crossing_search *s, uint32_t a, uint32_t b) {
  const uint32_t low = a < b ? a : b, high = a < b ? b : a;
  s->count++;
  if (s->first[0] == TL_MESH_NONE || low < s->first[0] ||
      (low == s->first[0] && high < s->first[1]))
    s->first[0] = low, s->first[1] = high;
}

static bool has_common(const uint32_t common[3], const uint32_t v[3]) {
  for (int i = 0; i < 3; ++i)
    if (common[i] != TL_MESH_NONE && (common[i] == v[0] || common[i] == v[1] || common[i] == v[2]))
      return true;
  return false;
}

/* Tests the triangles that share no vertex with a. */
static void look_around(crossing_search *s, uint32_t a, const tl_triangle_corners *c,
                        const tl_tree_box *box, uint32_t node) {
  const tl_tree_node *n = &s->tree.node[node];
  const uint32_t *v = s->mesh->triangle[a];
  int of_a, of_b;
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k) {
    if (!tl_tree_meets(n, k, box) || has_common(s->common[TL_TREE_WIDE * (size_t)node + k], v) ||
        !meets_child(c, n, k))
      continue;
    if (n->count[k] == 0)
      look_around(s, a, c, box, n->first[k]);
    for (uint32_t i = n->first[k]; i < n->first[k] + n->count[k]; ++i) {
      const uint32_t b = s->corner[3 * (size_t)i] / 3;
      if (b <= a || shared(s->mesh, a, b, &of_a, &of_b) > 0)
        continue;
      const tl_triangle_corners other = corners_of(s->mesh, b);
      if (tl_triangle_triangle(c, &other).feature >= TL_TRIANGLE_CROSSES)
        add_pair(s, a, b);
    }
  }
}

/* Tests a triangle that shares only this corner with a: whether the side opposite to it goes
 * through the other. If each side goes through the other triangle, the pair counts for its lower
 * number. */
static void look_at(crossing_search *s, uint32_t a, const tl_triangle_corners *c, int corner,
                    uint32_t b) {
  int of_a = 0, of_b = 0;
  if (shared(s->mesh, a, b, &of_a, &of_b) != 1 || of_a != corner)
    return;
  const tl_triangle_corners other = corners_of(s->mesh, b);
  if (side_crosses(c, corner, &other) && !(b < a && side_crosses(&other, of_b, c)))
    add_pair(s, a, b);
}

static void look_across(crossing_search *s, uint32_t a, const tl_triangle_corners *c, int corner) {
  const uint32_t v = s->mesh->triangle[a][corner];
  const bool few = s->start[v + 1] - s->start[v] <= MANY;
  for (uint32_t i = s->start[v]; few && i < s->start[v + 1]; ++i)
    look_at(s, a, c, corner, s->around[i]);
  if (few)
    return;
  const tl_tree_box box = box_of(c, corner + 1, corner + 3);
  tl_tree_walk walk = tl_tree_begin(&s->tree, false);
  uint32_t begin, n;
  while (tl_tree_next(&walk, &box, &begin, &n))
    for (uint32_t i = begin; i < begin + n; ++i)
      look_at(s, a, c, corner, s->corner[3 * (size_t)i] / 3);
}

/* Triangles by vertex, ascending. */
static void find_around(crossing_search *s) {
  const size_t vertices = s->mesh->vertices, corners = 3 * s->mesh->triangles;
  memset(s->start, 0, (vertices + 1) * sizeof *s->start);
  for (size_t i = 0; i < corners; ++i)
    s->start[s->mesh->triangle[i / 3][i % 3]]++;
  uint32_t sum = 0;
  for (size_t v = 0; v <= vertices; ++v)
    sum += s->start[v], s->start[v] = sum;
  for (size_t i = corners; i-- > 0;)
    s->around[--s->start[s->mesh->triangle[i / 3][i % 3]]] = (uint32_t)(i / 3);
}

static void look_at_all(crossing_search *s) {
  uint32_t all[3];
  find_common(s, 0, all);
  find_around(s);
  for (uint32_t a = 0; a < s->mesh->triangles; ++a) {
    const tl_triangle_corners c = corners_of(s->mesh, a);
    const tl_tree_box box = box_of(&c, 0, 3);
    if (!has_common(all, s->mesh->triangle[a]))
      look_around(s, a, &c, &box, 0);
    for (int k = 0; k < 3; ++k)
      look_across(s, a, &c, k);
  }
}

static talus_status find_all(crossing_search *s) {
  TL_ARRAY(uint32_t) common = {0}, start = {0}, around = {0};
  talus_status status = tl_array_resize(&common, 3 * TL_TREE_WIDE * (size_t)s->tree.nodes);
  if (status == TALUS_OK)
    status = tl_array_resize(&start, s->mesh->vertices + 1);
  if (status == TALUS_OK)
    status = tl_array_resize(&around, 3 * s->mesh->triangles);
  if (status == TALUS_OK) {
    s->common = (uint32_t(*)[3])common.data;
    s->start = start.data, s->around = around.data;
    look_at_all(s);
  }
  tl_array_free(&common);
  tl_array_free(&start);
  tl_array_free(&around);
  return status;
}

talus_status tl_mesh_find_crossings(const tl_mesh *mesh, size_t *count, uint32_t first[2]) {
  const size_t n = mesh->triangles;
  crossing_search s = {.mesh = mesh, .first = {TL_MESH_NONE, TL_MESH_NONE}};
  TL_ARRAY(double) points = {0};
  TL_ARRAY(uint32_t) corner = {0};
  talus_status status = tl_array_resize(&points, 9 * n);
  if (status == TALUS_OK)
    status = tl_array_resize(&corner, 3 * n);
  for (size_t i = 0; i < 3 * n && status == TALUS_OK; ++i) {
    memcpy(&points.data[3 * i], mesh->vertex[mesh->triangle[i / 3][i % 3]], 3 * sizeof(double));
    corner.data[i] = (uint32_t)i;
  }
  if (status == TALUS_OK)
    status = tl_tree_build(points.data, corner.data, (uint32_t)n, &s.tree);
  s.corner = corner.data;
  if (status == TALUS_OK)
    status = find_all(&s);
  *count = s.count;
  first[0] = s.first[0], first[1] = s.first[1];
  tl_tree_release(&s.tree);
  tl_array_free(&points);
  tl_array_free(&corner);
  return status;
}
