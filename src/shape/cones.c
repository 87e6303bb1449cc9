/* Which directions an edge or a vertex of a mesh can be touched from (shape/facets.h). */
#include "base/trig.h"
#include "kernels/patch.h"
#include "shape/facets.h"

/* The unit vector across the edge that points into the triangle. */
static talus_dvec3 into(const tl_facets *f, uint32_t edge, uint32_t t) {
  const uint32_t *v = f->triangle + 3 * (size_t)t, *ends = f->edge_vertex + 2 * (size_t)edge;
  uint32_t apex = v[0];
  for (int k = 1; k < 3; ++k)
    if (v[k] != ends[0] && v[k] != ends[1])
      apex = v[k];
  const talus_dvec3 a = tl_facets_point(f, ends[0]);
  const talus_dvec3 along = tl_dunit(tl_dsub(tl_facets_point(f, ends[1]), a));
  const talus_dvec3 side = tl_dsub(tl_facets_point(f, apex), a);
  return tl_dunit(tl_dalong(side, -tl_ddot(side, along), along));
}

bool tl_edge_looks(const tl_facets *f, uint32_t edge, talus_dvec3 w, double slack) {
  for (uint32_t i = f->edge_start[edge]; i < f->edge_start[edge + 1]; ++i)
    if (tl_ddot(w, into(f, edge, f->edge_triangle[i])) > slack)
      return false;
  return true;
}

double tl_edge_lean(const tl_facets *f, uint32_t edge, talus_dvec3 w) {
  double most = -1;
  for (uint32_t i = f->edge_start[edge]; i < f->edge_start[edge + 1]; ++i)
    most = fmax(most, tl_ddot(w, into(f, edge, f->edge_triangle[i])));
  return most;
}

bool tl_edge_is_concave(const tl_facets *f, uint32_t edge) {
  const uint32_t first = f->edge_start[edge];
  if (f->two_sided || f->edge_start[edge + 1] - first != 2)
    return false;
  const uint32_t other = f->triangle_facet[f->edge_triangle[first + 1]];
  return tl_ddot(into(f, edge, f->edge_triangle[first]), tl_facets_normal(f, other)) > 0;
}

static bool is_border_edge(const tl_facets *f, uint32_t edge) {
  return edge != TL_NONE && f->edge_start[edge + 1] - f->edge_start[edge] == 1;
}

bool tl_feature_is_border(const tl_facets *f, uint32_t feature) {
  if (feature >= f->vertices + f->edges)
    return false;
  if (feature >= f->vertices) /* all edges of a line lie between the same facets */
    return is_border_edge(f, feature - f->vertices);
  for (uint32_t i = f->vertex_start[feature]; i < f->vertex_start[feature + 1]; ++i)
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t edge = f->triangle_edge[3 * (size_t)f->vertex_triangle[i] + k];
      if (is_border_edge(f, edge) && (f->edge_vertex[2 * (size_t)edge] == feature ||
                                      f->edge_vertex[2 * (size_t)edge + 1] == feature))
        return true;
    }
  return false;
}

bool tl_vertex_looks(const tl_facets *f, uint32_t vertex, talus_dvec3 w, double slack) {
  const talus_dvec3 at = tl_facets_point(f, vertex);
  for (uint32_t i = f->vertex_start[vertex]; i < f->vertex_start[vertex + 1]; ++i) {
    const uint32_t *v = f->triangle + 3 * (size_t)f->vertex_triangle[i];
    for (int k = 0; k < 3; ++k)
      if (v[k] != vertex && tl_ddot(w, tl_dunit(tl_dsub(tl_facets_point(f, v[k]), at))) > slack)
        return false;
  }
  return true;
}

double tl_vertex_lean(const tl_facets *f, uint32_t vertex, talus_dvec3 w) {
  const talus_dvec3 at = tl_facets_point(f, vertex);
  double most = -1;
  for (uint32_t i = f->vertex_start[vertex]; i < f->vertex_start[vertex + 1]; ++i) {
    const uint32_t *v = f->triangle + 3 * (size_t)f->vertex_triangle[i];
    for (int k = 0; k < 3; ++k)
      if (v[k] != vertex)
        most = fmax(most, tl_ddot(w, tl_dunit(tl_dsub(tl_facets_point(f, v[k]), at))));
  }
  return most;
}

talus_dvec3 tl_edge_normal(const tl_facets *f, uint32_t edge) {
  talus_dvec3 sum = tl_dvec3(0, 0, 0);
  for (uint32_t i = f->edge_start[edge]; i < f->edge_start[edge + 1]; ++i)
    sum = tl_dadd(sum, tl_facets_normal(f, f->triangle_facet[f->edge_triangle[i]]));
  return sum;
}

talus_dvec3 tl_vertex_normal(const tl_facets *f, uint32_t vertex) {
  const talus_dvec3 at = tl_facets_point(f, vertex);
  talus_dvec3 sum = tl_dvec3(0, 0, 0);
  for (uint32_t i = f->vertex_start[vertex]; i < f->vertex_start[vertex + 1]; ++i) {
    const uint32_t t = f->vertex_triangle[i], *v = f->triangle + 3 * (size_t)t;
    const int k = v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2;
    const talus_dvec3 a = tl_dsub(tl_facets_point(f, v[(k + 1) % 3]), at);
    const talus_dvec3 b = tl_dsub(tl_facets_point(f, v[(k + 2) % 3]), at);
    const double angle = tl_atan2_d(tl_dlength(tl_dcross(a, b)), tl_ddot(a, b));
    sum = tl_dalong(sum, angle, tl_facets_normal(f, f->triangle_facet[t]));
  }
  return sum;
}

uint32_t tl_vertex_feature(const tl_facets *f, uint32_t vertex, uint32_t *edge, uint32_t *facet) {
  *edge = *facet = TL_NONE;
  if (f->vertex_kind[vertex] == TL_VERTEX_SHARP)
    return vertex;
  for (uint32_t i = f->vertex_start[vertex]; i < f->vertex_start[vertex + 1]; ++i) {
    const uint32_t t = f->vertex_triangle[i];
    *facet = f->triangle_facet[t];
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t e = f->triangle_edge[3 * (size_t)t + k];
      if (e != TL_NONE && (f->edge_vertex[2 * (size_t)e] == vertex ||
                           f->edge_vertex[2 * (size_t)e + 1] == vertex)) {
        *edge = e;
        return tl_key_of_edge(f, e);
      }
    }
  }
  return tl_key_of_facet(f, *facet);
}
