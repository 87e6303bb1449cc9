/* Quickhull (Barber, Dobkin and Huhdanpaa 1996) on integers: the exact signs make every step of
 * the published algorithm valid, and none of its repairs for rounding are needed. */
#include "shape/hull.h"

#include <stdlib.h>

#define GRID_BITS 40 /* (41 + 1) * 3 + 2 bits of a determinant of differences fit into 128 */

__extension__ typedef __int128 wide;

typedef struct grid_point {
  int64_t x, y, z;
} grid_point;

typedef struct face {
  uint32_t v[3], across[3];
  uint32_t outside; /* first of the points above this face; TL_NONE */
  bool gone;
} face;

typedef struct edge {
  uint32_t from, to, behind; /* of the horizon; the face that stays */
} edge;

typedef struct hull {
  const grid_point *point;
  uint32_t *next; /* by point: the next one above the same face */
  TL_ARRAY(face) faces;
  TL_ARRAY(edge) horizon;
  TL_ARRAY(uint32_t) stack, visible;
  uint32_t *starting; /* by vertex: the new face whose horizon edge begins there */
} hull;

/* ---- points ---------------------------------------------------------------------------------- */

static grid_point minus(grid_point a, grid_point b) {
  return (grid_point){a.x - b.x, a.y - b.y, a.z - b.z};
}

/* Six times the volume of a, b, c, d: positive where d is above the triangle, seen
 * counter-clockwise from there. Exact. */
static wide volume6(grid_point a, grid_point b, grid_point c, grid_point d) {
  const grid_point u = minus(b, a), v = minus(c, a), w = minus(d, a);
  const wide x = (wide)u.y * v.z - (wide)u.z * v.y;
  const wide y = (wide)u.z * v.x - (wide)u.x * v.z;
  const wide z = (wide)u.x * v.y - (wide)u.y * v.x;
  return x * w.x + y * w.y + z * w.z;
}

static wide height(const hull *h, uint32_t f, uint32_t p) {
  const face *at = &h->faces.data[f];
  return volume6(h->point[at->v[0]], h->point[at->v[1]], h->point[at->v[2]], h->point[p]);
}

static talus_status check_points(const char *who, const double *points, size_t n) {
  if (n < 4)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a hull of %zu points has no volume; it needs 4 at least", who, n);
  if (n >= UINT32_MAX / 16)
    return tl_fail(TALUS_ERROR_INVALID, "%s: a hull of %zu points is too large", who, n);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < 3; ++k)
      if (!tl_is_finite_d(points[3 * i + k]) || !(fabs(points[3 * i + k]) < 1e50))
        return tl_fail(TALUS_ERROR_INVALID,
                       "%s: point %zu of the hull is [%g, %g, %g], but must be finite numbers", who,
                       i, points[3 * i], points[3 * i + 1], points[3 * i + 2]);
  return TALUS_OK;
}

typedef struct sorted_point {
  double x, y, z;
  size_t row;
} sorted_point;

static int by_place(const void *a, const void *b) {
  const sorted_point *p = a, *q = b;
  if (p->x != q->x)
    return p->x < q->x ? -1 : 1;
  if (p->y != q->y)
    return p->y < q->y ? -1 : 1;
  if (p->z != q->z)
    return p->z < q->z ? -1 : 1;
  return p->row < q->row ? -1 : 1;
}

static talus_status check_distinct(const char *who, const double *points, size_t n) {
  TL_ARRAY(sorted_point) rows = {0};
  TL_TRY(tl_array_resize(&rows, n));
  for (size_t i = 0; i < n; ++i)
    rows.data[i] = (sorted_point){points[3 * i], points[3 * i + 1], points[3 * i + 2], i};
  qsort(rows.data, n, sizeof *rows.data, by_place);
  talus_status status = TALUS_OK;
  for (size_t i = 1; i < n && status == TALUS_OK; ++i) {
    const sorted_point *p = &rows.data[i - 1], *q = p + 1;
    if (p->x == q->x && p->y == q->y && p->z == q->z)
      status = tl_fail(TALUS_ERROR_INVALID,
                       "%s: points %zu and %zu of the hull are both [%g, %g, %g]; leave one out",
                       who, p->row, q->row, p->x, p->y, p->z);
  }
  tl_array_free(&rows);
  return status;
}

/* ---- the first tetrahedron ------------------------------------------------------------------- */

static double along(const double *points, size_t i, const double from[3], const double d[3]) {
  return (points[3 * i] - from[0]) * d[0] + (points[3 * i + 1] - from[1]) * d[1] +
         (points[3 * i + 2] - from[2]) * d[2];
}

static void cross_of(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Finds four points far apart: the ends of the longest axis, the farthest from their line, the
 * farthest from that plane. False if one of the last two is nearer than `least`. */
static bool find_corners(const double *points, size_t n, double least, uint32_t corner[4]) {
  size_t low[3] = {0}, high[3] = {0};
  size_t axis = 0;
  for (size_t k = 0; k < 3; ++k) {
    for (size_t i = 1; i < n; ++i) {
      low[k] = points[3 * i + k] < points[3 * low[k] + k] ? i : low[k];
      high[k] = points[3 * i + k] > points[3 * high[k] + k] ? i : high[k];
    }
    if (points[3 * high[k] + k] - points[3 * low[k] + k] >
        points[3 * high[axis] + axis] - points[3 * low[axis] + axis])
      axis = k;
  }
  corner[0] = (uint32_t)low[axis], corner[1] = (uint32_t)high[axis];
  const double *a = &points[3 * corner[0]], *b = &points[3 * corner[1]];
  const double line[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  double most = 0, normal[3] = {0};
  for (size_t i = 0; i < n; ++i) {
    const double to[3] = {points[3 * i] - a[0], points[3 * i + 1] - a[1], points[3 * i + 2] - a[2]};
    double square[3];
    cross_of(line, to, square);
    if (length_of(square) > most) {
      most = length_of(square), corner[2] = (uint32_t)i;
      memcpy(normal, square, sizeof normal);
    }
  }
  if (!(most > least * length_of(line)))
    return false;
  double farthest = 0;
  for (size_t i = 0; i < n; ++i) {
    const double far = fabs(along(points, i, a, normal));
    if (far > farthest)
      farthest = far, corner[3] = (uint32_t)i;
  }
  return farthest > least * length_of(normal);
}

/* ---- growing --------------------------------------------------------------------------------- */

static talus_status add_face(hull *h, uint32_t a, uint32_t b, uint32_t c, uint32_t *row) {
  const face made = {.v = {a, b, c}, .across = {TL_NONE, TL_NONE, TL_NONE}, .outside = TL_NONE};
  *row = (uint32_t)h->faces.count;
  return tl_array_push(&h->faces, made);
}

/* Gives point p to the first face, from number `first` on, that it is above; drops it if there is
 * none. */
static void assign(hull *h, uint32_t p, uint32_t first) {
  for (uint32_t f = first; f < h->faces.count; ++f)
    if (height(h, f, p) > 0) {
      h->next[p] = h->faces.data[f].outside;
      h->faces.data[f].outside = p;
      return;
    }
}

static talus_status begin(hull *h, uint32_t n, const uint32_t given[4]) {
  uint32_t c[4] = {given[0], given[1], given[2], given[3]}, row;
  if (volume6(h->point[c[0]], h->point[c[1]], h->point[c[2]], h->point[c[3]]) > 0)
    c[1] = given[2], c[2] = given[1]; /* now the fourth is below the first three */
  TL_TRY(add_face(h, c[0], c[1], c[2], &row));
  TL_TRY(add_face(h, c[0], c[3], c[1], &row));
  TL_TRY(add_face(h, c[1], c[3], c[2], &row));
  TL_TRY(add_face(h, c[2], c[3], c[0], &row));
  static const uint32_t across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  for (int f = 0; f < 4; ++f)
    memcpy(h->faces.data[f].across, across[f], sizeof across[f]);
  for (uint32_t p = 0; p < n; ++p)
    assign(h, p, 0);
  return TALUS_OK;
}

/* Finds the faces that p is above, beginning with `first`, and the edges around them. */
static talus_status find_horizon(hull *h, uint32_t p, uint32_t first) {
  h->stack.count = h->visible.count = h->horizon.count = 0;
  h->faces.data[first].gone = true;
  TL_TRY(tl_array_push(&h->stack, first));
  while (h->stack.count > 0) {
    const uint32_t f = h->stack.data[--h->stack.count];
    TL_TRY(tl_array_push(&h->visible, f));
    for (int i = 0; i < 3; ++i) {
      const uint32_t g = h->faces.data[f].across[i];
      if (h->faces.data[g].gone)
        continue;
      if (height(h, g, p) > 0) {
        h->faces.data[g].gone = true;
        TL_TRY(tl_array_push(&h->stack, g));
      } else {
        const edge found = {h->faces.data[f].v[i], h->faces.data[f].v[(i + 1) % 3], g};
        TL_TRY(tl_array_push(&h->horizon, found));
      }
    }
  }
  return TALUS_OK;
}

/* Makes a fan of faces from the horizon to p, and gives the points of the removed faces to the new
 * ones. */
static talus_status raise_to(hull *h, uint32_t p) {
  const uint32_t first = (uint32_t)h->faces.count;
  for (size_t i = 0; i < h->horizon.count; ++i) {
    const edge e = h->horizon.data[i];
    uint32_t row;
    TL_TRY(add_face(h, e.from, e.to, p, &row));
    h->starting[e.from] = row;
    h->faces.data[row].across[0] = e.behind;
    face *behind = &h->faces.data[e.behind];
    for (size_t k = 0; k < 3; ++k)
      if (behind->v[k] == e.to && behind->v[(k + 1) % 3] == e.from)
        behind->across[k] = row;
  }
  for (uint32_t f = first; f < h->faces.count; ++f) {
    const uint32_t g = h->starting[h->faces.data[f].v[1]];
    h->faces.data[f].across[1] = g; /* edge (to, p) is the next one's (p, from) */
    h->faces.data[g].across[2] = f;
  }
  for (size_t i = 0; i < h->visible.count; ++i)
    for (uint32_t q = h->faces.data[h->visible.data[i]].outside; q != TL_NONE;) {
      const uint32_t after = h->next[q];
      if (q != p)
        assign(h, q, first);
      q = after;
    }
  return TALUS_OK;
}

static talus_status grow(hull *h) {
  for (uint32_t f = 0; f < h->faces.count; ++f) {
    if (h->faces.data[f].gone || h->faces.data[f].outside == TL_NONE)
      continue;
    uint32_t p = h->faces.data[f].outside;
    wide most = height(h, f, p);
    for (uint32_t q = h->next[p]; q != TL_NONE; q = h->next[q]) {
      const wide up = height(h, f, q);
      if (up > most)
        most = up, p = q;
    }
    TL_TRY(find_horizon(h, p, f));
    TL_TRY(raise_to(h, p));
  }
  return TALUS_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static talus_status copy_out(const hull *h, tl_triangles *out) {
  TL_ARRAY(uint32_t) row = {0};
  TL_TRY(tl_array_resize(&row, h->faces.count));
  uint32_t count = 0;
  for (size_t f = 0; f < h->faces.count; ++f)
    row.data[f] = h->faces.data[f].gone ? TL_NONE : count++;
  const talus_status status = tl_array_resize(out, count);
  for (size_t f = 0; f < h->faces.count && status == TALUS_OK; ++f)
    if (!h->faces.data[f].gone)
      for (size_t k = 0; k < 3; ++k) {
        out->data[row.data[f]].vertex[k] = h->faces.data[f].v[k];
        out->data[row.data[f]].across[k] = row.data[h->faces.data[f].across[k]];
      }
  tl_array_free(&row);
  return status;
}

static talus_status find_on_grid(const double *points, uint32_t n, const double low[3],
                                 double extent, const uint32_t corner[4], tl_triangles *out) {
  TL_ARRAY(grid_point) point = {0};
  TL_ARRAY(uint32_t) next = {0}, starting = {0};
  hull h = {0};
  int exponent;
  (void)frexp(extent, &exponent); /* extent <= 2^exponent */
  talus_status status = tl_array_resize(&point, n);
  if (status == TALUS_OK)
    status = tl_array_resize(&next, n);
  if (status == TALUS_OK)
    status = tl_array_resize(&starting, n);
  for (size_t i = 0; i < n && status == TALUS_OK; ++i)
    point.data[i] = (grid_point){llrint(ldexp(points[3 * i] - low[0], GRID_BITS - exponent)),
                                 llrint(ldexp(points[3 * i + 1] - low[1], GRID_BITS - exponent)),
                                 llrint(ldexp(points[3 * i + 2] - low[2], GRID_BITS - exponent))};
  h.point = point.data, h.next = next.data, h.starting = starting.data;
  if (status == TALUS_OK)
    status = begin(&h, n, corner);
  if (status == TALUS_OK)
    status = grow(&h);
  if (status == TALUS_OK)
    status = copy_out(&h, out);
  tl_array_free(&point);
  tl_array_free(&next);
  tl_array_free(&starting);
  tl_array_free(&h.faces);
  tl_array_free(&h.horizon);
  tl_array_free(&h.stack);
  tl_array_free(&h.visible);
  return status;
}

talus_status tl_hull_find(const char *who, const double *points, size_t n, tl_triangles *out) {
  TL_TRY(check_points(who, points, n));
  TL_TRY(check_distinct(who, points, n));
  double low[3], extent = 0;
  for (size_t k = 0; k < 3; ++k) {
    double high = points[k];
    low[k] = points[k];
    for (size_t i = 1; i < n; ++i)
      low[k] = fmin(low[k], points[3 * i + k]), high = fmax(high, points[3 * i + k]);
    extent = fmax(extent, high - low[k]);
  }
  uint32_t corner[4] = {0};
  if (!find_corners(points, n, 10 * TL_HULL_FLAT * extent, corner))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the %zu points of the hull lie in a plane or on a line (to 1e-6 of their "
                   "extent), so it has no volume; give a solid",
                   who, n);
  return find_on_grid(points, (uint32_t)n, low, extent, corner, out);
}
