/* Faces of more than three corners, as triangles. */
#include <math.h>

#include "shape/mesh_source.h"

#define MOST_EARS                                                                                  \
  512 /* most corners of a face that is cut by ears: that may take the third power of their number \
       */

/* A face seen along its normal (Newell), so that it runs counter-clockwise. */
typedef struct outline {
  const double *points;
  const uint32_t *corner;
  int u, v; /* axes of the view */
  double sign;
} outline;

static outline view(const double *points, const uint32_t *corner, size_t n) {
  double normal[3] = {0};
  const double *const o = &points[3 * (size_t)corner[0]];
  for (size_t i = 0; i < n; ++i) {
    const double *p = &points[3 * (size_t)corner[i]];
    const double *q = &points[3 * (size_t)corner[i + 1 < n ? i + 1 : 0]];
    for (int k = 0; k < 3; ++k) {
      const int u = (k + 1) % 3, v = (k + 2) % 3;
      normal[k] += (p[u] - o[u]) * (q[v] - o[v]) - (p[v] - o[v]) * (q[u] - o[u]);
    }
  }
  int along = 0;
  for (int k = 1; k < 3; ++k)
    if (fabs(normal[k]) > fabs(normal[along]))
      along = k;
  return (outline){points, corner, (along + 1) % 3, (along + 2) % 3, normal[along] < 0 ? -1 : 1};
}

/* Twice the area of three corners as seen; positive: counter-clockwise. */
static double turn(const outline *o, uint32_t a, uint32_t b, uint32_t c) {
  const double *p = &o->points[3 * (size_t)a], *q = &o->points[3 * (size_t)b];
  const double *r = &o->points[3 * (size_t)c];
  return o->sign *
         ((q[o->u] - p[o->u]) * (r[o->v] - p[o->v]) - (q[o->v] - p[o->v]) * (r[o->u] - p[o->u]));
}

static bool is_fan(const outline *o, size_t n) {
  for (size_t i = 2; i < n; ++i)
    if (!(turn(o, o->corner[0], o->corner[i - 1], o->corner[i]) > 0))
      return false;
  return true;
}

/* Whether the triangle at left[i] may be cut off: it turns the right way and holds no other corner.
 */
static bool is_ear(const outline *o, const uint32_t *left, size_t n, size_t i) {
  const uint32_t a = left[(i + n - 1) % n], b = left[i], c = left[(i + 1) % n];
  if (!(turn(o, a, b, c) > 0))
    return false;
  for (size_t k = 0; k < n; ++k) {
    const uint32_t p = left[k];
    if (p != a && p != b && p != c && turn(o, a, b, p) >= 0 && turn(o, b, c, p) >= 0 &&
        turn(o, c, a, p) >= 0)
      return false;
  }
  return true;
}

static void put(uint32_t to[3], uint32_t a, uint32_t b, uint32_t c) {
  to[0] = a;
  to[1] = b;
  to[2] = c;
}

/* If there is no ear (the outline crosses itself, or has no area left) any corner is cut off: then
 * there are triangles without area or turned over, which tl_mesh_check finds. */
static void cut_ears(const outline *o, uint32_t *left, size_t n, uint32_t (*triangle)[3]) {
  for (size_t cut = 0; n > 3; ++cut) {
    size_t i = 0;
    while (i < n && !is_ear(o, left, n, i))
      ++i;
    i = i < n ? i : 0;
    put(triangle[cut], left[(i + n - 1) % n], left[i], left[(i + 1) % n]);
    memmove(left + i, left + i + 1, (n - 1 - i) * sizeof *left);
    if (--n == 3)
      put(triangle[cut + 1], left[0], left[1], left[2]);
  }
}

talus_status tl_mesh_cut_face(const double *points, const uint32_t *corner, size_t n,
                              uint32_t (*triangle)[3]) {
  if (n == 3) {
    put(*triangle, corner[0], corner[1], corner[2]);
    return TALUS_OK;
  }
  const outline o = view(points, corner, n);
  if (is_fan(&o, n)) {
    for (size_t i = 2; i < n; ++i)
      put(triangle[i - 2], corner[0], corner[i - 1], corner[i]);
    return TALUS_OK;
  }
  if (n > MOST_EARS)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "a face has %zu corners and is not convex; expected %d at most, or triangles", n,
                   MOST_EARS);
  TL_ARRAY(uint32_t) left = {0};
  TL_TRY(tl_array_resize(&left, n));
  memcpy(left.data, corner, n * sizeof *corner);
  cut_ears(&o, left.data, n, triangle);
  tl_array_free(&left);
  return TALUS_OK;
}
