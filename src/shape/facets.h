/* The surface of a mesh as contacts see it: vertices, edges and facets.
 *
 * A FACET is all triangles that are connected and lie in one plane, so a flat floor is one facet,
 * however it is divided into triangles. An EDGE is a side between triangles of different facets, or
 * of a single triangle; a side between triangles of one facet is no edge. Edges that continue
 * straight between the same facets form one LINE. A vertex within a facet or a line does not count.
 * What remains are the features by which contacts are kept: vertices first, then lines, then
 * facets.
 *
 * All of it is computed from points and triangles, serially, and again after loading. */
#ifndef TL_SHAPE_FACETS_H
#define TL_SHAPE_FACETS_H

#include "crowd/model.h"
#include "shape/surrogate.h"
#include "shape/tree.h"

/* Relative to the extent: vertices this near to the plane of a facet belong to it (a file in float
 * has a last digit of 6e-8), and lines this straight are one line. */
#define TL_FACET_FLAT 2e-7

typedef enum tl_corner_kind {
  TL_VERTEX_FLAT, /* within a facet */
  TL_VERTEX_LINE, /* within a line */
  TL_VERTEX_SHARP
} tl_corner_kind;

typedef struct tl_facets {
  tl_tree tree;
  tl_surrogate surrogate; /* without nodes until somebody needs it (tl_shape_need_surrogate) */
  const double *points;   /* of the shape, as the triangles */
  const uint32_t *triangle;
  uint32_t vertices, triangles, edges, facets;
  double extent;   /* of the box about it, the longest side */
  double longest;  /* side of a triangle */
  double far;      /* largest coordinate of a vertex, whatever its sign */
  bool two_sided;  /* felt from both sides: no inside */
  bool is_closed;  /* no edge has one triangle alone */
  double rounding; /* m: a ball of this radius runs over the surface */

  double *plane;            /* facet: n.x = d; n unit, to where bodies are */
  uint32_t *triangle_facet; /* triangle */
  uint32_t *triangle_edge;  /* triangle, side k from vertex k to k + 1: its edge, or TL_NONE */
  uint32_t *edge_vertex;    /* edge: 2 */
  uint32_t *edge_line;      /* edge: the first edge of its line */
  uint32_t *edge_start;     /* edge: of its triangles in edge_triangle; edges + 1 */
  uint32_t *edge_triangle;
  uint32_t *vertex_start; /* vertex: of its triangles in vertex_triangle; vertices + 1 */
  uint32_t *vertex_triangle;
  uint8_t *vertex_kind;
  double *own_points; /* of a revolved wall: the lists above belong to the surface; else NULL */
  uint32_t *own_triangles;
} tl_facets;

/* Makes the facets from the shape's points and triangles; sorts the triangles in the order of the
 * tree. */
talus_status tl_facets_make(tl_shape *shape);
void tl_facets_release(tl_shape *shape);

/* The first edge that has only one triangle, or TL_NONE. */
uint32_t tl_facets_open_edge(const tl_facets *f);

/* Least and most of m.x over all vertices, each grown by the rounding (|m| = 1): exact, by the
 * tree. */
void tl_facets_range(const tl_facets *f, const double m[3], double range[2]);

/* How often a closed surface goes round a place: 1 within a solid, 0 outside, more where it
 * overlaps itself, -1 where it is inside out. Crossings of a ray, or the sum of solid angles where
 * every ray passes too near to an edge. */
int tl_facets_winding(const tl_facets *f, talus_dvec3 place);

/* Bytes that the mesh holds, beside points and triangles. */
size_t tl_facets_bytes(const tl_facets *facets);

static inline talus_dvec3 tl_facets_point(const tl_facets *f, uint32_t vertex) {
  const double *p = f->points + 3 * (size_t)vertex;
  return tl_dvec3(p[0], p[1], p[2]);
}

static inline talus_dvec3 tl_facets_normal(const tl_facets *f, uint32_t facet) {
  const double *n = f->plane + 4 * (size_t)facet;
  return tl_dvec3(n[0], n[1], n[2]);
}

/* ---- keys of contacts ------------------------------------------------------------------------ */

static inline uint32_t tl_key_of_edge(const tl_facets *f, uint32_t edge) {
  return f->vertices + f->edge_line[edge];
}

static inline uint32_t tl_key_of_facet(const tl_facets *f, uint32_t facet) {
  return f->vertices + f->edges + facet;
}

/* ---- cones ----------------------------------------------------------------------------------- */

/* How far a direction may lie outside a cone and still count as in it, rad: rounding only. */
#define TL_CONE_SLACK 1e-9

/* Whether a place that moves away from the edge in the direction w approaches none of its
 * triangles: w is across the edge, of unit length. */
bool tl_edge_looks(const tl_facets *f, uint32_t edge, talus_dvec3 w, double slack);

/* The same for a vertex. */
bool tl_vertex_looks(const tl_facets *f, uint32_t vertex, talus_dvec3 w, double slack);

/* How far outside of its cone (rad, about; below 0 inside) a direction is: what tl_edge_looks and
 * tl_vertex_looks compare with the slack. */
double tl_edge_lean(const tl_facets *f, uint32_t edge, talus_dvec3 w);
double tl_vertex_lean(const tl_facets *f, uint32_t vertex, talus_dvec3 w);

/* Whether nothing can touch an edge: its two triangles form a groove on the side of the bodies. */
bool tl_edge_is_concave(const tl_facets *f, uint32_t edge);

/* Whether a feature is part of where the surface ends: an edge of one triangle alone, or a vertex
 * of such an edge. */
bool tl_feature_is_border(const tl_facets *f, uint32_t feature);

/* A direction out of the surface at an edge or a vertex: the sum of the normals, by their angles
 * (Baerentzen and Aanaes 2005: its sign tells inside from outside). Not of unit length. */
talus_dvec3 tl_edge_normal(const tl_facets *f, uint32_t edge);
talus_dvec3 tl_vertex_normal(const tl_facets *f, uint32_t vertex);

/* A vertex's feature: the vertex itself, the line or the facet that it is part of; *edge is the
 * edge in the second case. */
uint32_t tl_vertex_feature(const tl_facets *f, uint32_t vertex, uint32_t *edge, uint32_t *facet);

#endif
