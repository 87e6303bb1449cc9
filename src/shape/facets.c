#include "shape/facets.h"

#include <math.h>
#include <stdlib.h>

#include "base/trig.h"
#include "kernels/patch.h"
#include "shape/shape.h"

/* A side of a triangle, by its vertices. */
typedef struct side {
  uint32_t low, high, where; /* 3 triangle + number of the side */
} side;

typedef struct builder {
  tl_facets *f;
  side *sides; /* ascending by vertices, then by triangle */
  size_t side_count;
  uint32_t *group; /* by side of a triangle: the first of `sides` with the same vertices */
  uint32_t *queue; /* triangles */
  double sign;     /* of normals */
} builder;

/* ---- memory ---------------------------------------------------------------------------------- */

/* Every list of a mesh's surface, and how many rows it has. */
#define LISTS(L)                                                                                   \
  L(plane, 4 * (size_t)f->facets)                                                                  \
  L(triangle_facet, (size_t)f->triangles)                                                          \
  L(triangle_edge, 3 * (size_t)f->triangles)                                                       \
  L(edge_vertex, 2 * (size_t)f->edges)                                                             \
  L(edge_line, (size_t)f->edges)                                                                   \
  L(edge_start, (size_t)f->edges + 1)                                                              \
  L(edge_triangle, 3 * (size_t)f->triangles)                                                       \
  L(vertex_start, (size_t)f->vertices + 1)                                                         \
  L(vertex_triangle, 3 * (size_t)f->triangles)                                                     \
  L(vertex_kind, (size_t)f->vertices)

static talus_status take(void **list, size_t bytes) {
  TL_TRY(tl_resize(list, 0, bytes));
  if (bytes > 0) /* a mesh may have no edge: all its triangles go back and forth */
    memset(*list, 0, bytes);
  return TALUS_OK;
}
#define TAKE(list, rows) TL_TRY(take((void **)&(list), (rows) * sizeof *(list)))

static void drop(void *list, size_t bytes) {
  if (list)
    (void)tl_resize(&list, bytes, 0); /* freeing cannot fail */
}

size_t tl_facets_bytes(const tl_facets *f) {
  size_t bytes = f->tree.capacity * sizeof *f->tree.node + tl_surrogate_bytes(&f->surrogate);
#define ADD(list, rows) bytes += (rows) * sizeof *f->list;
  LISTS(ADD)
#undef ADD
  return bytes;
}

void tl_facets_release(tl_shape *shape) {
  tl_facets *f = shape->facets;
  if (!f)
    return;
  tl_tree_release(&f->tree);
  tl_surrogate_release(&f->surrogate);
#define DROP(list, rows) drop(f->list, (rows) * sizeof *f->list);
  LISTS(DROP)
#undef DROP
  drop(f->own_points, 3 * (size_t)f->vertices * sizeof *f->own_points);
  drop(f->own_triangles, 3 * (size_t)f->triangles * sizeof *f->own_triangles);
  drop(f, sizeof *f);
  shape->facets = NULL;
}

uint32_t tl_facets_open_edge(const tl_facets *f) {
  for (uint32_t e = 0; e < f->edges; ++e)
    if (f->edge_start[e + 1] - f->edge_start[e] == 1)
      return e;
  return TL_NONE;
}

/* ---- sides ----------------------------------------------------------------------------------- */

static int by_vertices(const void *a, const void *b) {
  const side *p = a, *q = b;
  if (p->low != q->low)
    return p->low < q->low ? -1 : 1;
  if (p->high != q->high)
    return p->high < q->high ? -1 : 1;
  return p->where < q->where ? -1 : p->where > q->where;
}

static bool is_same(const side *a, const side *b) { return a->low == b->low && a->high == b->high; }

static void list_sides(builder *b) {
  const tl_facets *f = b->f;
  for (uint32_t t = 0; t < f->triangles; ++t)
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t v = f->triangle[3 * (size_t)t + k],
                     w = f->triangle[3 * (size_t)t + (k + 1) % 3];
      b->sides[3 * (size_t)t + k] =
          (side){.low = v < w ? v : w, .high = v < w ? w : v, .where = 3 * t + k};
    }
  qsort(b->sides, b->side_count, sizeof *b->sides, by_vertices);
  uint32_t first = 0;
  for (uint32_t i = 0; i < b->side_count; ++i) {
    if (!is_same(&b->sides[first], &b->sides[i]))
      first = i;
    b->group[b->sides[i].where] = first;
  }
}

static uint32_t group_size(const builder *b, uint32_t first) {
  uint32_t n = 1;
  while (first + n < b->side_count && is_same(&b->sides[first], &b->sides[first + n]))
    ++n;
  return n;
}

/* ---- facets ---------------------------------------------------------------------------------- */

/* Twice the area as a vector, from the two shortest sides: for needles this loses the fewest
 * digits. */
static talus_dvec3 area_of(const tl_facets *f, uint32_t t) {
  const uint32_t *v = f->triangle + 3 * (size_t)t;
  talus_dvec3 e[3];
  int longest = 0;
  for (int k = 0; k < 3; ++k) {
    e[k] = tl_dsub(tl_facets_point(f, v[(k + 1) % 3]), tl_facets_point(f, v[k]));
    if (tl_ddot(e[k], e[k]) > tl_ddot(e[longest], e[longest]))
      longest = k;
  }
  return tl_dcross(e[(longest + 1) % 3], e[(longest + 2) % 3]);
}

/* Whether the triangle lies in the plane and looks the same way. */
static bool lies_in(const tl_facets *f, uint32_t t, const double *plane, double sign) {
  const uint32_t *v = f->triangle + 3 * (size_t)t;
  const talus_dvec3 n = tl_dvec3(plane[0], plane[1], plane[2]);
  for (int k = 0; k < 3; ++k)
    if (fabs(tl_ddot(n, tl_facets_point(f, v[k])) - plane[3]) > TL_FACET_FLAT * f->extent)
      return false;
  const talus_dvec3 area = area_of(f, t);
  return sign * tl_ddot(area, n) >= 0.9 * tl_dlength(area);
}

/* The triangle across side k, where there is exactly one. */
static uint32_t across(const builder *b, uint32_t t, uint32_t k) {
  const uint32_t where = 3 * t + k, first = b->group[where];
  if (group_size(b, first) != 2)
    return TL_NONE;
  const uint32_t other = b->sides[b->sides[first].where == where ? first + 1 : first].where;
  return other / 3;
}

static void grow_facet(builder *b, uint32_t seed, uint32_t facet, double *plane) {
  tl_facets *f = b->f;
  const talus_dvec3 n = tl_dscale(tl_dunit(area_of(f, seed)), b->sign);
  plane[0] = n.x, plane[1] = n.y, plane[2] = n.z;
  plane[3] = tl_ddot(n, tl_facets_point(f, f->triangle[3 * (size_t)seed]));
  size_t head = 0, tail = 0;
  f->triangle_facet[seed] = facet;
  b->queue[tail++] = seed;
  while (head < tail) {
    const uint32_t t = b->queue[head++];
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t next = across(b, t, k);
      if (next == TL_NONE || f->triangle_facet[next] != TL_NONE ||
          !lies_in(f, next, plane, b->sign))
        continue;
      f->triangle_facet[next] = facet;
      b->queue[tail++] = next;
    }
  }
}

typedef struct sized {
  double area;
  uint32_t triangle;
} sized;

static int by_area(const void *a, const void *b) {
  const sized *p = a, *q = b;
  if (p->area != q->area)
    return p->area > q->area ? -1 : 1;
  return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

/* Large triangles come first: their planes are the most accurate. Facets are numbered by their
 * first triangle, so that neighbours have near numbers. */
static talus_status find_facets(builder *b) {
  tl_facets *f = b->f;
  void *room = NULL, *planes = NULL, *numbers = NULL;
  const size_t n = f->triangles, bytes = n * sizeof(sized), plane_bytes = 4 * n * sizeof(double);
  talus_status status = tl_resize(&room, 0, bytes);
  if (status == TALUS_OK)
    status = tl_resize(&planes, 0, plane_bytes);
  if (status == TALUS_OK)
    status = tl_resize(&numbers, 0, n * sizeof(uint32_t));
  if (status == TALUS_OK) {
    sized *list = room;
    uint32_t *number = numbers;
    for (uint32_t t = 0; t < n; ++t) {
      list[t] = (sized){.area = tl_dlength(area_of(f, t)), .triangle = t};
      f->triangle_facet[t] = number[t] = TL_NONE;
    }
    qsort(list, n, sizeof *list, by_area);
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; ++i)
      if (f->triangle_facet[list[i].triangle] == TL_NONE) {
        grow_facet(b, list[i].triangle, found, (double *)planes + 4 * (size_t)found);
        found++;
      }
    f->facets = found;
    status = take((void **)&f->plane, 4 * (size_t)found * sizeof *f->plane);
    for (uint32_t t = 0, next = 0; t < n && status == TALUS_OK; ++t) {
      uint32_t *facet = &f->triangle_facet[t];
      if (number[*facet] == TL_NONE) {
        number[*facet] = next++;
        memcpy(f->plane + 4 * (size_t)number[*facet], (double *)planes + 4 * (size_t)*facet,
               4 * sizeof(double));
      }
      *facet = number[*facet];
    }
  }
  drop(room, bytes);
  drop(planes, plane_bytes);
  drop(numbers, n * sizeof(uint32_t));
  return status;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static bool is_edge(const builder *b, uint32_t first) {
  const tl_facets *f = b->f;
  return group_size(b, first) != 2 || f->triangle_facet[b->sides[first].where / 3] !=
                                          f->triangle_facet[b->sides[first + 1].where / 3];
}

/* Numbers edges in the order of their first triangles. */
static talus_status number_edges(builder *b) {
  tl_facets *f = b->f;
  uint32_t *number = b->queue; /* by first side: this array is large enough, and no longer used */
  for (uint32_t i = 0; i < b->side_count; ++i)
    number[i] = TL_NONE;
  for (uint32_t i = 0; i < b->side_count; ++i) {
    const uint32_t first = b->group[i];
    f->triangle_edge[i] = TL_NONE;
    if (!is_edge(b, first))
      continue;
    if (number[first] == TL_NONE)
      number[first] = f->edges++;
    f->triangle_edge[i] = number[first];
  }
  TAKE(f->edge_vertex, 2 * (size_t)f->edges);
  TAKE(f->edge_line, (size_t)f->edges);
  TAKE(f->edge_start, (size_t)f->edges + 1);
  for (uint32_t i = 0; i < b->side_count; ++i)
    if (f->triangle_edge[i] != TL_NONE)
      f->edge_start[f->triangle_edge[i] + 1]++;
  for (uint32_t e = 0; e < f->edges; ++e) {
    f->edge_start[e + 1] += f->edge_start[e];
    f->edge_line[e] = f->edge_start[e]; /* where the next one is written */
  }
  for (uint32_t i = 0; i < b->side_count; ++i) {
    const uint32_t e = f->triangle_edge[i];
    if (e == TL_NONE)
      continue;
    const side *s = &b->sides[b->group[i]];
    f->edge_triangle[f->edge_line[e]++] = i / 3;
    f->edge_vertex[2 * (size_t)e] = s->low, f->edge_vertex[2 * (size_t)e + 1] = s->high;
  }
  return TALUS_OK;
}

static void list_triangles_of_vertices(tl_facets *f) {
  const size_t corners = 3 * (size_t)f->triangles;
  for (size_t i = 0; i < corners; ++i)
    f->vertex_start[f->triangle[i]]++;
  uint32_t sum = 0;
  for (uint32_t v = 0; v <= f->vertices; ++v) {
    const uint32_t n = f->vertex_start[v];
    f->vertex_start[v] = sum;
    sum += v < f->vertices ? n : 0;
  }
  /* Filled from the end, so that every start is again the first row of its vertex. */
  for (uint32_t v = 0; v < f->vertices; ++v)
    f->vertex_start[v] = f->vertex_start[v + 1];
  for (size_t i = corners; i-- > 0;)
    f->vertex_triangle[--f->vertex_start[f->triangle[i]]] = (uint32_t)(i / 3);
}

/* ---- lines and vertices ---------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *line, uint32_t e) {
  while (line[e] != e)
    e = line[e] = line[line[e]];
  return e;
}

/* The facets on both sides of an edge, the lower number first; false if there are not two. */
static bool facets_of(const tl_facets *f, uint32_t e, uint32_t facet[2]) {
  const uint32_t first = f->edge_start[e], n = f->edge_start[e + 1] - first;
  const uint32_t p = f->triangle_facet[f->edge_triangle[first]];
  const uint32_t q = n == 2 ? f->triangle_facet[f->edge_triangle[first + 1]] : TL_NONE;
  facet[0] = p < q ? p : q, facet[1] = p < q ? q : p;
  return n <= 2;
}

/* Whether two edges that meet at v are straight, and between the same facets. */
static bool goes_on(const tl_facets *f, uint32_t v, uint32_t e, uint32_t g) {
  uint32_t here[2], there[2];
  if (!facets_of(f, e, here) || !facets_of(f, g, there) || here[0] != there[0] ||
      here[1] != there[1])
    return false;
  const uint32_t *ve = f->edge_vertex + 2 * (size_t)e, *vg = f->edge_vertex + 2 * (size_t)g;
  const talus_dvec3 at = tl_facets_point(f, v);
  const talus_dvec3 a = tl_dsub(tl_facets_point(f, ve[ve[0] == v]), at);
  const talus_dvec3 b = tl_dsub(tl_facets_point(f, vg[vg[0] == v]), at);
  const talus_dvec3 c = tl_dsub(b, a);
  const double length = tl_dlength(c);
  return tl_ddot(a, b) < 0 && length > 0 &&
         tl_dlength(tl_dcross(a, b)) <= TL_FACET_FLAT * f->extent * length;
}

/* `edges`: of each vertex up to two edges, and how many there are. */
static talus_status find_lines(tl_facets *f) {
  struct met {
    uint32_t edge[2], count;
  } *met = NULL;
  void *room = NULL;
  const size_t bytes = (size_t)f->vertices * sizeof *met;
  TL_TRY(take(&room, bytes));
  met = room;
  for (uint32_t e = 0; e < f->edges; ++e) {
    f->edge_line[e] = e;
    for (int k = 0; k < 2; ++k) {
      struct met *m = &met[f->edge_vertex[2 * (size_t)e + (size_t)k]];
      if (m->count < 2)
        m->edge[m->count] = e;
      m->count++;
    }
  }
  for (uint32_t v = 0; v < f->vertices; ++v) {
    const struct met *m = &met[v];
    f->vertex_kind[v] = m->count == 0 ? TL_VERTEX_FLAT : TL_VERTEX_SHARP;
    if (m->count != 2 || !goes_on(f, v, m->edge[0], m->edge[1]))
      continue;
    f->vertex_kind[v] = TL_VERTEX_LINE;
    const uint32_t p = root_of(f->edge_line, m->edge[0]), q = root_of(f->edge_line, m->edge[1]);
    f->edge_line[p > q ? p : q] = p > q ? q : p;
  }
  for (uint32_t e = 0; e < f->edges; ++e)
    f->edge_line[e] = root_of(f->edge_line, e);
  drop(room, bytes);
  return TALUS_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static double extent_of(const tl_shape *shape) {
  double most = 0;
  for (int i = 0; i < 3; ++i) {
    double lo = HUGE_VAL, hi = -HUGE_VAL;
    for (uint32_t v = 0; v < shape->point_count; ++v) {
      lo = fmin(lo, shape->points[3 * (size_t)v + (size_t)i]);
      hi = fmax(hi, shape->points[3 * (size_t)v + (size_t)i]);
    }
    most = fmax(most, hi - lo);
  }
  return most;
}

static double farthest_of(const tl_facets *f) {
  double far = 0;
  for (size_t i = 0; i < 3 * (size_t)f->vertices; ++i)
    far = fmax(far, fabs(f->points[i]));
  return far;
}

static double longest_of(const tl_facets *f) {
  double most = 0;
  for (size_t i = 0; i < 3 * (size_t)f->triangles; ++i) {
    const size_t next = i % 3 == 2 ? i - 2 : i + 1;
    const talus_dvec3 along =
        tl_dsub(tl_facets_point(f, f->triangle[next]), tl_facets_point(f, f->triangle[i]));
    most = fmax(most, tl_ddot(along, along));
  }
  return sqrt(most);
}

static talus_status fill(builder *b) {
  tl_facets *f = b->f;
  TAKE(f->triangle_facet, (size_t)f->triangles);
  TAKE(f->triangle_edge, 3 * (size_t)f->triangles);
  TAKE(f->edge_triangle, 3 * (size_t)f->triangles);
  TAKE(f->vertex_start, (size_t)f->vertices + 1);
  TAKE(f->vertex_triangle, 3 * (size_t)f->triangles);
  TAKE(f->vertex_kind, (size_t)f->vertices);
  list_sides(b);
  list_triangles_of_vertices(f);
  TL_TRY(find_facets(b));
  TL_TRY(number_edges(b));
  return find_lines(f);
}

talus_status tl_facets_make(tl_shape *shape) {
  tl_facets *f = NULL;
  TAKE(f, 1);
  shape->facets = f;
  f->points = shape->points, f->triangle = shape->face_vertex;
  f->vertices = shape->point_count, f->triangles = shape->face_count;
  f->extent = extent_of(shape);
  f->longest = longest_of(f);
  f->far = farthest_of(f);
  f->two_sided = shape->open == TALUS_SIDES_BOTH;
  f->rounding = shape->size[1] + 0.5 * shape->size[0];
  builder b = {.f = f,
               .side_count = 3 * (size_t)f->triangles,
               .sign = shape->open == TALUS_SIDES_IN ? -1 : 1};
  void *sides = NULL, *group = NULL, *queue = NULL;
  talus_status status =
      tl_tree_build(shape->points, shape->face_vertex, shape->face_count, &f->tree);
  if (status == TALUS_OK)
    status = tl_resize(&sides, 0, b.side_count * sizeof *b.sides);
  if (status == TALUS_OK)
    status = tl_resize(&group, 0, b.side_count * sizeof *b.group);
  if (status == TALUS_OK)
    status = tl_resize(&queue, 0, b.side_count * sizeof *b.queue);
  b.sides = sides, b.group = group, b.queue = queue;
  if (status == TALUS_OK)
    status = fill(&b);
  drop(sides, b.side_count * sizeof *b.sides);
  drop(group, b.side_count * sizeof *b.group);
  drop(queue, b.side_count * sizeof *b.queue);
  if (status == TALUS_OK)
    f->is_closed = tl_facets_open_edge(f) == TL_NONE;
  else
    tl_facets_release(shape);
  return status;
}

talus_status tl_shape_need_surrogate(tl_shape *shape) {
  tl_facets *f = shape->facets;
  if (!f || f->surrogate.nodes > 0)
    return TALUS_OK;
  return tl_surrogate_build(f->points, f->triangle, f->triangles, TL_FIT_QUICK, &f->surrogate);
}
