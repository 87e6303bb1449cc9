#include "shape/solid.h"

#include <math.h>

#include "kernels/collide.h"
#include "shape/facets.h"
#include "shape/mesh.h"
#include "shape/shape.h"

#define MOST (UINT32_MAX / 16) /* points or triangles: their features have 32 bits together */

/* ---- checks ---------------------------------------------------------------------------------- */

static talus_status check_lists(const char *who, const talus_shape_def *def) {
  const size_t points = def->points ? def->point_count : 0;
  const size_t triangles = def->triangles ? def->triangle_count : 0;
  if (points < 3 || triangles < 1)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a mesh of %zu points and %zu triangles; it needs one triangle at least",
                   who, points, triangles);
  if (points > MOST || triangles > MOST)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: %zu points and %zu triangles are more than a mesh can have (%u)", who,
                   points, triangles, (unsigned)MOST);
  for (size_t i = 0; i < 3 * points; ++i)
    if (!tl_is_finite_d(def->points[i]))
      return tl_fail(TALUS_ERROR_INVALID, "%s: point %zu is not finite", who, i / 3);
  for (size_t i = 0; i < 3 * triangles; ++i)
    if (def->triangles[i] >= points)
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: triangle %zu has the point %u, but there are %zu points, from 0 on", who,
                     i / 3, (unsigned)def->triangles[i], points);
  return TALUS_OK;
}

static talus_status check_numbers(const char *who, const talus_shape_def *def) {
  if (!(def->thickness >= 0) || !tl_is_finite_d(def->thickness) || !(def->rounding >= 0) ||
      !tl_is_finite_d(def->rounding))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: thickness %g and rounding %g must be finite lengths >= 0 in metres", who,
                   def->thickness, def->rounding);
  if (def->thickness > 0 && def->sides != TALUS_SIDES_AUTO && def->sides != TALUS_SIDES_BOTH)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a shell has matter on both sides of its mesh; leave `sides` out", who);
  return TALUS_OK;
}

/* ---- mass ------------------------------------------------------------------------------------ */

static bool is_solid(const tl_mesh_report *r) { return r->closed && r->manifold && r->oriented; }

static talus_status refuse_solid(const char *who, const tl_mesh *mesh, const tl_mesh_report *r) {
  if (is_solid(r))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the mesh is inside out, its volume is %g m3; `talus shape repair` turns "
                   "it round; a tank is `sides: in`",
                   who, r->volume);
  const double *a = mesh->vertex[r->first_open[0]], *b = mesh->vertex[r->first_open[1]];
  if (!r->closed)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the mesh is open, first at the edge from (%g, %g, %g) to (%g, %g, %g), and "
                   "has no volume; `talus shape repair` may close it",
                   who, a[0], a[1], a[2], b[0], b[1], b[2]);
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s: the mesh is %s, so it has no volume; `talus shape repair` says where", who,
                 r->manifold ? "not turned the same way everywhere (flipped triangles)"
                             : "not a surface: an edge has more than two triangles");
}

/* No mass: about the middle of the box, in its own axes. */
static void place_without_mass(const tl_mesh *mesh, tl_shape *shape) {
  double lo[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, hi[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (size_t v = 0; v < mesh->vertices; ++v)
    for (int i = 0; i < 3; ++i) {
      lo[i] = fmin(lo[i], mesh->vertex[v][i]);
      hi[i] = fmax(hi[i], mesh->vertex[v][i]);
    }
  shape->centre = tl_dvec3(lo[0] + (hi[0] - lo[0]) / 2, lo[1] + (hi[1] - lo[1]) / 2,
                           lo[2] + (hi[2] - lo[2]) / 2);
}

static talus_status measure(const char *who, const talus_shape_def *def, const tl_mesh *mesh,
                            tl_shape *shape) {
  tl_mesh_report report;
  tl_moments moments;
  TL_TRY(tl_mesh_check(mesh, &report));
  const bool solid = is_solid(&report), shell = def->thickness > 0;
  shape->open = def->sides != TALUS_SIDES_AUTO ? def->sides
                : solid && !shell              ? TALUS_SIDES_OUT
                                               : TALUS_SIDES_BOTH;
  if (def->volume > 0) {
    shape->volume = def->volume, shape->centre = def->centre;
    tl_measure_inertia(shape, def->inertia);
  } else if (shell) {
    TL_TRY(tl_mesh_shell_moments(mesh, &moments));
    tl_measure_moments(shape, &moments);
    shape->volume *= def->thickness;
    shape->size[2] = def->thickness / 2;
  } else if (solid && shape->open == TALUS_SIDES_OUT) {
    if (!(report.volume > 0))
      return refuse_solid(who, mesh, &report);
    TL_TRY(tl_mesh_moments(mesh, &moments));
    tl_measure_moments(shape, &moments);
    shape->size[2] = 2 * report.volume / report.area; /* of a torus the tube's radius */
  } else {
    place_without_mass(mesh, shape);
  }
  return TALUS_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static talus_status set_lists(const talus_shape_def *def, tl_shape *shape) {
  shape->point_count = (uint32_t)def->point_count;
  shape->face_count = (uint32_t)def->triangle_count;
  TL_TRY(tl_shape_allocate(shape));
  memcpy(shape->face_vertex, def->triangles, 3 * def->triangle_count * sizeof(uint32_t));
  const tl_frame axes = tl_frame_from_quat(shape->axes);
  double farthest = 0;
  for (size_t v = 0; v < def->point_count; ++v) {
    const double *p = def->points + 3 * v;
    const talus_dvec3 q =
        tl_frame_to_local(&axes, tl_dsub(tl_dvec3(p[0], p[1], p[2]), shape->centre));
    double *to = shape->points + 3 * v;
    to[0] = q.x, to[1] = q.y, to[2] = q.z;
    farthest = fmax(farthest, tl_dlength(q));
  }
  shape->size[0] = def->thickness, shape->size[1] = def->rounding;
  /* Narrowed upwards: one too small would lose contacts. */
  const double most = farthest + def->rounding + 0.5 * def->thickness;
  shape->radius = TL_R(most * (1 + (double)TL_REAL_EPS));
  return tl_facets_make(shape);
}

talus_status tl_solid_make(const char *who, const talus_shape_def *def, tl_shape *shape) {
  TL_TRY(check_lists(who, def));
  TL_TRY(check_numbers(who, def));
  tl_mesh mesh = {.vertices = def->point_count, .triangles = def->triangle_count};
  void *vertex = NULL, *triangle = NULL;
  const size_t vertex_bytes = 3 * mesh.vertices * sizeof(double);
  const size_t triangle_bytes = 3 * mesh.triangles * sizeof(uint32_t);
  TL_TRY(tl_resize(&vertex, 0, vertex_bytes));
  talus_status status = tl_resize(&triangle, 0, triangle_bytes);
  if (status == TALUS_OK) {
    mesh.vertex = memcpy(vertex, def->points, vertex_bytes);
    mesh.triangle = memcpy(triangle, def->triangles, triangle_bytes);
    status = measure(who, def, &mesh, shape);
    (void)tl_resize(&triangle, triangle_bytes, 0); /* freeing cannot fail */
  }
  (void)tl_resize(&vertex, vertex_bytes, 0);
  return status == TALUS_OK ? set_lists(def, shape) : status;
}

static bool runs_along(const tl_facets *f, uint32_t triangle, uint32_t from, uint32_t to) {
  const uint32_t *v = f->triangle + 3 * (size_t)triangle;
  return (v[0] == from && v[1] == to) || (v[1] == from && v[2] == to) ||
         (v[2] == from && v[0] == to);
}

/* The first edge of other than two triangles, or whose two run along it the same way; or TL_NONE.
 */
static uint32_t first_flipped_edge(const tl_facets *f) {
  for (uint32_t e = 0; e < f->edges; ++e) {
    const uint32_t first = f->edge_start[e], *v = f->edge_vertex + 2 * (size_t)e;
    if (f->edge_start[e + 1] - first != 2 ||
        runs_along(f, f->edge_triangle[first], v[0], v[1]) ==
            runs_along(f, f->edge_triangle[first + 1], v[0], v[1]))
      return e;
  }
  return TL_NONE;
}

static void place_edge(const tl_shape *shape, uint32_t edge, talus_dvec3 end[2]) {
  const tl_frame axes = tl_frame_from_quat(shape->axes);
  const tl_facets *f = shape->facets;
  for (size_t k = 0; k < 2; ++k) {
    const talus_dvec3 own = tl_facets_point(f, f->edge_vertex[2 * (size_t)edge + k]);
    end[k] = tl_dadd(shape->centre, tl_frame_to_world(&axes, own));
  }
}

talus_status tl_solid_refuse_free(const tl_shape *shape, const char *what) {
  const uint32_t edge = tl_facets_open_edge(shape->facets);
  if (shape->open == TALUS_SIDES_IN)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a mesh that is a tank (`sides: in`) has no mass and cannot be free; make "
                   "it fixed or give it a motion",
                   what);
  talus_dvec3 end[2];
  if (edge == TL_NONE) {
    const uint32_t flipped = first_flipped_edge(shape->facets);
    if (flipped == TL_NONE)
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: its mesh is closed but not a solid (it has no volume, or `sides: both`) "
                     "and cannot be free",
                     what);
    place_edge(shape, flipped, end);
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: its mesh is closed but not a solid and cannot be free: at the edge from "
                   "(%g, %g, %g) to (%g, %g, %g) one triangle is flipped, or more than two meet; "
                   "`talus shape repair` turns triangles the same way",
                   what, end[0].x, end[0].y, end[0].z, end[1].x, end[1].y, end[1].z);
  }
  place_edge(shape, edge, end);
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s: its mesh is open, first at the edge from (%g, %g, %g) to (%g, %g, %g), so it "
                 "has no mass and cannot be free; make it fixed, give it a `thickness`, or close "
                 "it (`talus shape repair`)",
                 what, end[0].x, end[0].y, end[0].z, end[1].x, end[1].y, end[1].z);
}
