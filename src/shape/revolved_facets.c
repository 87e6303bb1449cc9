/* A revolved wall as triangles: what kinds without exact contacts touch.
 *
 * Every point of the profile becomes a regular polygon about the axis, every segment a ring of
 * trapezoids, each cut in two: flat, so that it is one facet. */
#include "shape/revolved.h"

#include "base/trig.h"
#include "shape/facets.h"
#include "shape/shape.h"

#define SIDES_MOST  128u
#define SIDES_LEAST 24u
#define CORNERS     32768u /* about so many, unless that is less than SIDES_LEAST */

uint32_t tl_revolved_sides(size_t points) {
  const size_t sides = CORNERS / points;
  return sides > SIDES_MOST ? SIDES_MOST : sides < SIDES_LEAST ? SIDES_LEAST : (uint32_t)sides;
}

/* How much farther out than the circle corners are: as much as middles of sides are farther in. */
static double stretch(uint32_t sides) { return 2 / (1 + tl_cos_d(TL_PI / (double)sides)); }

double tl_revolved_error(size_t points) { return stretch(tl_revolved_sides(points)) - 1; }

typedef struct turning {
  const double *profile;
  uint32_t points, sides;
  bool is_closed; /* the last point is the first */
  double *vertex;
  uint32_t *triangle; /* NULL: counted only */
  uint32_t vertices, triangles;
  bool is_left; /* bodies are left of the way along the profile */
} turning;

/* Vertices of a point: one on the axis, else a polygon. */
static uint32_t width_of(const turning *t, uint32_t i) {
  return t->profile[2 * (size_t)i + 1] > 0 ? t->sides : 1;
}

static void add_polygon(turning *t, uint32_t point) {
  const double z = t->profile[2 * (size_t)point], r = t->profile[2 * (size_t)point + 1];
  for (uint32_t k = 0; k < width_of(t, point); ++k, ++t->vertices) {
    const double angle = 2 * TL_PI * (double)k / (double)t->sides;
    if (!t->triangle)
      continue;
    double *v = t->vertex + 3 * (size_t)t->vertices;
    v[0] = r * stretch(t->sides) * tl_cos_d(angle);
    v[1] = r * stretch(t->sides) * tl_sin_d(angle);
    v[2] = z;
  }
}

static void add_triangle(turning *t, uint32_t a, uint32_t b, uint32_t c) {
  if (t->triangle) {
    uint32_t *rows = t->triangle + 3 * (size_t)t->triangles;
    rows[0] = a, rows[1] = t->is_left ? c : b, rows[2] = t->is_left ? b : c;
  }
  t->triangles++;
}

/* Between a point and the next one. Where the way goes up, the order (a, b, c) is counter-clockwise
 * from outside. */
static void add_ring(turning *t, uint32_t point, uint32_t low, uint32_t high) {
  const bool is_low_wide = width_of(t, point) > 1, is_high_wide = width_of(t, point + 1) > 1;
  for (uint32_t k = 0; k < t->sides; ++k) {
    const uint32_t next = k + 1 < t->sides ? k + 1 : 0;
    const uint32_t a = is_low_wide ? low + k : low, b = is_low_wide ? low + next : low;
    const uint32_t c = is_high_wide ? high + next : high, d = is_high_wide ? high + k : high;
    if (is_low_wide)
      add_triangle(t, a, b, c);
    if (is_high_wide)
      add_triangle(t, a, c, d);
  }
}

static void turn(turning *t) {
  t->vertices = t->triangles = 0;
  for (uint32_t i = 0; i < t->points - (t->is_closed ? 1 : 0); ++i)
    add_polygon(t, i);
  for (uint32_t i = 0, low = 0; i + 1 < t->points; ++i) {
    const uint32_t high = t->is_closed && i + 2 == t->points ? 0 : low + width_of(t, i);
    add_ring(t, i, low, high);
    low = high;
  }
}

talus_status tl_revolved_facets(tl_shape *shape) {
  const tl_revolved wall = tl_shape_revolved(shape, 1);
  turning t = {.profile = shape->points,
               .points = shape->point_count,
               .sides = tl_revolved_sides(shape->point_count),
               .is_closed = tl_revolved_is_closed(&wall),
               .is_left = wall.side > 0};
  turn(&t);
  const size_t vertex_bytes = 3 * (size_t)t.vertices * sizeof *t.vertex;
  const size_t triangle_bytes = 3 * (size_t)t.triangles * sizeof *t.triangle;
  void *vertex = NULL, *triangle = NULL;
  TL_TRY(tl_resize(&vertex, 0, vertex_bytes));
  talus_status status = tl_resize(&triangle, 0, triangle_bytes);
  t.vertex = vertex, t.triangle = triangle;
  tl_shape mesh = {.kind = TALUS_MESH,
                   .open = wall.side == 0 ? TALUS_SIDES_BOTH : TALUS_SIDES_OUT,
                   .points = t.vertex,
                   .point_count = t.vertices,
                   .face_vertex = t.triangle,
                   .face_count = t.triangles};
  if (status == TALUS_OK) {
    turn(&t);
    status = tl_facets_make(&mesh);
  }
  if (status != TALUS_OK) {
    (void)tl_resize(&vertex, vertex_bytes, 0); /* freeing cannot fail */
    if (triangle)
      (void)tl_resize(&triangle, triangle_bytes, 0);
    return status;
  }
  shape->facets = mesh.facets;
  shape->facets->own_points = t.vertex, shape->facets->own_triangles = t.triangle;
  return TALUS_OK;
}
