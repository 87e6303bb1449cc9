/* From the triangles of a hull to a polyhedron: coplanar triangles merged into faces, points that
 * are then within a face or an edge dropped, exact mass properties, principal frame. */
#include <stdlib.h>

#include "kernels/collide.h"
#include "shape/hull.h"
#include "shape/measure.h"
#include "shape/shape.h"

typedef struct polyhedron {
  const double *points; /* as given */
  tl_triangles triangles;
  double extent;
  TL_ARRAY(uint32_t) group;  /* by triangle: its face */
  TL_ARRAY(uint32_t) start;  /* faces + 1 */
  TL_ARRAY(uint32_t) loop;   /* vertices of faces, rows of `points`; later of the kept ones */
  TL_ARRAY(uint32_t) vertex; /* kept points, ascending */
  uint32_t faces;
} polyhedron;

static talus_dvec3 point_at(const double *points, uint32_t i) {
  return tl_dvec3(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
}

static talus_dvec3 normal_of(const polyhedron *p, uint32_t t) {
  const uint32_t *v = p->triangles.data[t].vertex;
  const talus_dvec3 a = point_at(p->points, v[0]);
  return tl_dcross(tl_dsub(point_at(p->points, v[1]), a), tl_dsub(point_at(p->points, v[2]), a));
}

/* ---- which triangles are one face ------------------------------------------------------------ */

typedef struct seed {
  double area;
  uint32_t triangle;
} seed;

static int by_area(const void *a, const void *b) {
  const seed *p = a, *q = b;
  if (p->area != q->area)
    return p->area > q->area ? -1 : 1;
  return p->triangle < q->triangle ? -1 : 1;
}

static bool is_in_plane(const polyhedron *p, uint32_t t, talus_dvec3 n, double d) {
  for (int k = 0; k < 3; ++k)
    if (fabs(tl_ddot(n, point_at(p->points, p->triangles.data[t].vertex[k])) - d) >
        TL_HULL_FLAT * p->extent)
      return false;
  return true;
}

/* All of the hull is below the plane of each of its triangles, and the height of the surface above
 * such a plane is a concave function; so the part within a tolerance of it is a convex patch
 * without holes. Largest triangles come first: the plane of a needle is inaccurate. */
static void flood(polyhedron *p, uint32_t from, uint32_t *stack) {
  const talus_dvec3 square = normal_of(p, from);
  const double length = tl_dlength(square);
  uint32_t top = 0;
  p->group.data[from] = p->faces;
  stack[top++] = from;
  if (length > 0) {
    const talus_dvec3 n = tl_dscale(square, 1 / length);
    const double d = tl_ddot(n, point_at(p->points, p->triangles.data[from].vertex[0]));
    while (top > 0) {
      const uint32_t t = stack[--top];
      for (int k = 0; k < 3; ++k) {
        const uint32_t u = p->triangles.data[t].across[k];
        if (p->group.data[u] == TL_NONE && is_in_plane(p, u, n, d)) {
          p->group.data[u] = p->faces;
          stack[top++] = u;
        }
      }
    }
  }
  p->faces++;
}

static talus_status group_triangles(polyhedron *p, bool merge) {
  const uint32_t n = (uint32_t)p->triangles.count;
  TL_TRY(tl_array_resize(&p->group, n));
  p->faces = 0;
  for (uint32_t t = 0; t < n; ++t)
    p->group.data[t] = merge ? TL_NONE : p->faces++;
  if (!merge)
    return TALUS_OK;
  TL_ARRAY(seed) seeds = {0};
  TL_ARRAY(uint32_t) stack = {0};
  talus_status status = tl_array_resize(&seeds, n);
  if (status == TALUS_OK)
    status = tl_array_resize(&stack, n);
  if (status == TALUS_OK) {
    for (uint32_t t = 0; t < n; ++t)
      seeds.data[t] = (seed){tl_dlength(normal_of(p, t)), t};
    qsort(seeds.data, n, sizeof *seeds.data, by_area);
    for (uint32_t i = 0; i < n; ++i)
      if (p->group.data[seeds.data[i].triangle] == TL_NONE)
        flood(p, seeds.data[i].triangle, stack.data);
  }
  tl_array_free(&seeds);
  tl_array_free(&stack);
  return status;
}

/* ---- the loops around faces ------------------------------------------------------------------ */

/* Walks round face g from an edge of triangle t, turning about each vertex until the next edge of
 * the boundary. */
static talus_status walk(polyhedron *p, uint32_t t, int k, uint32_t *edges) {
  const tl_triangle *triangles = p->triangles.data;
  const uint32_t g = p->group.data[t], first = t;
  const int first_k = k;
  *edges = 0;
  do {
    TL_TRY(tl_array_push(&p->loop, triangles[t].vertex[k]));
    ++*edges;
    k = (k + 1) % 3; /* the edge that leaves the end of this one */
    while (p->group.data[triangles[t].across[k]] == g) {
      const uint32_t end = triangles[t].vertex[k], u = triangles[t].across[k];
      k = 0;
      while (triangles[u].vertex[k] != end)
        ++k;
      t = u;
    }
  } while (t != first || k != first_k);
  return TALUS_OK;
}

/* Fills `loop` with the loops of all faces; false if the boundary of a face is not in one piece. */
static talus_status find_loops(polyhedron *p, bool *good) {
  const uint32_t n = (uint32_t)p->triangles.count;
  TL_ARRAY(uint32_t) border = {0}; /* by face: edges of its boundary, all of them */
  *good = true;
  TL_TRY(tl_array_resize(&border, p->faces));
  memset(border.data, 0, p->faces * sizeof *border.data);
  for (uint32_t t = 0; t < n; ++t)
    for (int k = 0; k < 3; ++k)
      border.data[p->group.data[t]] +=
          p->group.data[p->triangles.data[t].across[k]] != p->group.data[t];
  p->loop.count = p->start.count = 0;
  talus_status status = TALUS_OK;
  TL_ARRAY(uint32_t) corner = {0}; /* by face: 3 t + k of an edge of its boundary */
  status = tl_array_resize(&corner, p->faces);
  for (uint32_t i = 3 * n; status == TALUS_OK && i-- > 0;)
    if (p->group.data[p->triangles.data[i / 3].across[i % 3]] != p->group.data[i / 3])
      corner.data[p->group.data[i / 3]] = i;
  for (uint32_t g = 0; g < p->faces && status == TALUS_OK && *good; ++g) {
    uint32_t edges = 0;
    *good = border.data[g] >= 3;
    if (*good)
      status = tl_array_push(&p->start, (uint32_t)p->loop.count);
    if (*good && status == TALUS_OK)
      status = walk(p, corner.data[g] / 3, (int)(corner.data[g] % 3), &edges);
    *good = *good && edges == border.data[g];
  }
  if (status == TALUS_OK)
    status = tl_array_push(&p->start, (uint32_t)p->loop.count);
  tl_array_free(&border);
  tl_array_free(&corner);
  return status;
}

/* A vertex of a polyhedron has at least three faces; a point with two is on an edge and is dropped.
 * Loops then hold rows of `vertex`. False if a face has less than three vertices left. */
static talus_status keep_vertices(polyhedron *p, size_t points, bool *good) {
  TL_ARRAY(uint32_t) row = {0};
  TL_TRY(tl_array_resize(&row, points));
  memset(row.data, 0, points * sizeof *row.data);
  for (size_t i = 0; i < p->loop.count; ++i)
    row.data[p->loop.data[i]]++;
  p->vertex.count = 0;
  talus_status status = TALUS_OK;
  for (uint32_t i = 0; i < points && status == TALUS_OK; ++i) {
    const bool kept = row.data[i] >= 3;
    row.data[i] = kept ? (uint32_t)p->vertex.count : TL_NONE;
    if (kept)
      status = tl_array_push(&p->vertex, i);
  }
  uint32_t at = 0, begin = 0;
  *good = status == TALUS_OK;
  for (uint32_t g = 0; g < p->faces && *good; ++g) {
    const uint32_t end = p->start.data[g + 1], first = at;
    for (uint32_t i = begin; i < end; ++i)
      if (row.data[p->loop.data[i]] != TL_NONE)
        p->loop.data[at++] = row.data[p->loop.data[i]];
    p->start.data[g] = first;
    begin = end;
    *good = at - first >= 3;
  }
  p->start.data[p->faces] = at;
  p->loop.count = at;
  /* Euler: every edge is of two faces, V - E + F = 2. */
  *good = *good && at % 2 == 0 && p->vertex.count + p->faces == at / 2 + 2;
  tl_array_free(&row);
  return status;
}

static talus_status find_faces(polyhedron *p, size_t points) {
  bool good = false;
  for (int merge = 1; merge >= 0 && !good; --merge) { /* unmerged triangles always succeed */
    TL_TRY(group_triangles(p, merge));
    TL_TRY(find_loops(p, &good));
    if (good)
      TL_TRY(keep_vertices(p, points, &good));
  }
  return good ? TALUS_OK : tl_fail(TALUS_ERROR_INVALID, "the hull does not close");
}

/* ---- mass properties ------------------------------------------------------------------------- */

/* Adds the tetrahedron of the origin and a, b, c: six times its volume is the determinant, and the
 * mean of x_i x_j over it is (s_i s_j + a_i a_j + b_i b_j + c_i c_j)/20 with s = a + b + c. */
static void add_tetrahedron(tl_moments *m, talus_dvec3 a, talus_dvec3 b, talus_dvec3 c) {
  const double volume = tl_ddot(a, tl_dcross(b, c)) / 6;
  const double u[3] = {a.x, a.y, a.z}, v[3] = {b.x, b.y, b.z}, w[3] = {c.x, c.y, c.z};
  static const int of[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  double s[3];
  for (int k = 0; k < 3; ++k) {
    s[k] = u[k] + v[k] + w[k];
    m->first[k] += volume * s[k] / 4;
  }
  for (int k = 0; k < 6; ++k) {
    const int i = of[k][0], j = of[k][1];
    m->second[k] += volume * (s[i] * s[j] + u[i] * u[j] + v[i] * v[j] + w[i] * w[j]) / 20;
  }
  m->volume += volume;
}

static tl_moments moments_of(const polyhedron *p, talus_dvec3 about) {
  tl_moments m = {0};
  for (uint32_t g = 0; g < p->faces; ++g) {
    const uint32_t *v = &p->loop.data[p->start.data[g]];
    const uint32_t n = p->start.data[g + 1] - p->start.data[g];
    const talus_dvec3 a = tl_dsub(point_at(p->points, p->vertex.data[v[0]]), about);
    for (uint32_t i = 2; i < n; ++i)
      add_tetrahedron(&m, a, tl_dsub(point_at(p->points, p->vertex.data[v[i - 1]]), about),
                      tl_dsub(point_at(p->points, p->vertex.data[v[i]]), about));
  }
  return m;
}

/* ---- into the shape -------------------------------------------------------------------------- */

static int by_ends(const void *a, const void *b) {
  const uint32_t *p = a, *q = b;
  if (p[0] != q[0])
    return p[0] < q[0] ? -1 : 1;
  return p[1] < q[1] ? -1 : p[1] > q[1];
}

static void store_edges(const polyhedron *p, tl_shape *shape) {
  uint32_t *edge = shape->edge;
  for (uint32_t g = 0; g < p->faces; ++g) {
    const uint32_t begin = p->start.data[g], end = p->start.data[g + 1];
    for (uint32_t i = begin; i < end; ++i) {
      const uint32_t a = p->loop.data[i], b = p->loop.data[i + 1 < end ? i + 1 : begin];
      if (a < b) /* the other face has it the other way round */
        edge[0] = a, edge[1] = b, edge += 2;
    }
  }
  qsort(shape->edge, shape->edge_count, 2 * sizeof *shape->edge, by_ends);
}

/* Counting sort by vertex of the lists at each vertex. `next` ends up one vertex ahead, and is
 * moved back. */
static void store_neighbours(tl_shape *shape) {
  uint32_t *next = shape->vertex_start;
  const uint32_t ends = 2 * shape->edge_count;
  for (uint32_t i = 0; i < ends; ++i)
    ++next[shape->edge[i] + 1];
  for (uint32_t i = 0; i < shape->point_count; ++i)
    next[i + 1] += next[i];
  for (uint32_t i = 0; i < ends; ++i)
    shape->neighbour[next[shape->edge[i]]++] = shape->edge[i ^ 1];
  memmove(next + 1, next, shape->point_count * sizeof *next);
  next[0] = 0;
  for (uint32_t f = 0; f < shape->face_count; ++f)
    for (uint32_t i = shape->face_start[f]; i < shape->face_start[f + 1]; ++i)
      shape->vertex_face[next[shape->face_vertex[i]]++] = f;
  memmove(next + 1, next, shape->point_count * sizeof *next);
  next[0] = 0;
}

/* Newell's normal, and the plane out to the farthest vertex of the face. */
static void store_plane(const tl_shape *shape, uint32_t f) {
  const uint32_t *v = &shape->face_vertex[shape->face_start[f]];
  const uint32_t n = shape->face_start[f + 1] - shape->face_start[f];
  talus_dvec3 sum = tl_dvec3(0, 0, 0);
  const talus_dvec3 a = point_at(shape->points, v[0]);
  for (uint32_t i = 2; i < n; ++i)
    sum = tl_dadd(sum, tl_dcross(tl_dsub(point_at(shape->points, v[i - 1]), a),
                                 tl_dsub(point_at(shape->points, v[i]), a)));
  const double length = tl_dlength(sum);
  const talus_dvec3 normal = length > 0 ? tl_dscale(sum, 1 / length) : tl_dvec3(0, 0, 1);
  double *plane = &shape->face_plane[4 * f];
  plane[0] = normal.x, plane[1] = normal.y, plane[2] = normal.z, plane[3] = 0;
  for (uint32_t i = 0; i < n; ++i)
    plane[3] = fmax(plane[3], tl_ddot(normal, point_at(shape->points, v[i])));
}

static talus_status store(const polyhedron *p, tl_shape *shape) {
  shape->point_count = (uint32_t)p->vertex.count;
  shape->face_count = p->faces;
  shape->edge_count = (uint32_t)(p->loop.count / 2);
  TL_TRY(tl_shape_allocate(shape));
  const tl_frame frame = tl_frame_from_quat(shape->axes);
  double far = 0;
  for (uint32_t i = 0; i < shape->point_count; ++i) {
    const talus_dvec3 own = tl_dsub(point_at(p->points, p->vertex.data[i]), shape->centre);
    const talus_dvec3 at = tl_frame_to_local(&frame, own);
    shape->points[3 * i] = at.x, shape->points[3 * i + 1] = at.y, shape->points[3 * i + 2] = at.z;
    far = fmax(far, tl_dlength(at));
  }
  /* A float must not round the bounding sphere below a vertex. */
  shape->radius = TL_R(far * (1 + 2 * (double)TL_REAL_EPS));
  memcpy(shape->face_start, p->start.data, (p->faces + 1) * sizeof *shape->face_start);
  memcpy(shape->face_vertex, p->loop.data, p->loop.count * sizeof *shape->face_vertex);
  for (uint32_t f = 0; f < p->faces; ++f)
    store_plane(shape, f);
  store_edges(p, shape);
  store_neighbours(shape);
  return TALUS_OK;
}

static talus_status fill_in(polyhedron *p, size_t n, tl_shape *shape) {
  TL_TRY(find_faces(p, n));
  /* Relative to a place within, so that a hull far from its origin is as exact as a near one. */
  const talus_dvec3 about = point_at(p->points, p->vertex.data[0]);
  const tl_moments moments = moments_of(p, about);
  if (!(moments.volume > 0))
    return tl_fail(TALUS_ERROR_INVALID, "the volume of the hull is %g", moments.volume);
  tl_measure_moments(shape, &moments);
  shape->centre = tl_dadd(shape->centre, about);
  return store(p, shape);
}

talus_status tl_hull_make(const char *who, const double *points, size_t n, tl_shape *shape) {
  polyhedron p = {.points = points};
  talus_status status = tl_hull_find(who, points, n, &p.triangles);
  if (status == TALUS_OK) {
    for (size_t k = 0; k < 3; ++k)
      for (size_t i = 0; i < n; ++i)
        p.extent = fmax(p.extent, fabs(points[3 * i + k] - points[k]));
    status = fill_in(&p, n, shape);
    if (status == TALUS_ERROR_INVALID)
      status = tl_fail_in(status, "%s", who);
  }
  tl_array_free(&p.triangles);
  tl_array_free(&p.group);
  tl_array_free(&p.start);
  tl_array_free(&p.loop);
  tl_array_free(&p.vertex);
  return status;
}
