/* Meshes that overlap deeply (private to src/narrow).
 *
 * If two surfaces cross, they have a contour in common, made of one segment for each pair of
 * crossing triangles. Its vector area is the integral of the normal of a over the part of its
 * surface inside b, which is minus the derivative of the common volume by displacement of a. So it
 * is the direction in which the volume shrinks fastest, however deep the bodies overlap. The
 * distance to move is the extent, along that direction, of the contour and of vertices inside the
 * other body. */
#ifndef TL_NARROW_MESH_CONTOUR_H
#define TL_NARROW_MESH_CONTOUR_H

#include "narrow/mesh_pair.h"

/* Lengths in the frame of b. */
typedef struct tl_mesh_contour {
  size_t segments;
  talus_dvec3 origin; /* first point: sums are relative to it */
  talus_dvec3 area;   /* vector area times 2 */
  double length;      /* total length of segments */
  talus_dvec3 centre; /* sum of middles times lengths; finally the centre */
  talus_dvec3 out;    /* unit, from a to b */
  bool is_good;       /* the direction exists */
  bool is_deep;       /* some vertex is behind a surface by more than the reach */
  double low, high;   /* extent along it: of b inside a, of a inside b */
  double wide;        /* greatest distance of the contour from its centre */
} tl_mesh_contour;

void tl_mesh_contour_start(tl_mesh_contour *contour);

/* Call for each pair of crossing triangles, ascending. */
void tl_mesh_contour_add(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                         tl_mesh_contour *contour);

/* Call after the last: finds centre and direction. */
void tl_mesh_contour_close(const tl_mesh_pair *pair, tl_mesh_contour *contour);

/* Call for each pair of crossing triangles again: finds low, high and wide. */
void tl_mesh_contour_measure(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                             tl_mesh_contour *contour);

/* If a vertex of the triangle (of those that list this triangle first) reaches into the other body
 * farther than *extreme, updates it: upwards along the direction for a, downwards for b. */
void tl_mesh_contour_reach(const tl_mesh_pair *pair, const tl_mesh_contour *contour, bool is_a,
                           uint32_t triangle, double *extreme);

/* True if no point leads out along the direction. */
bool tl_mesh_contour_is_missed(const tl_mesh_pair *pair, const tl_mesh_contour *contour,
                               const tl_mesh_points *points);

/* Adds the contour's own point. If vertices are behind a surface by more than the reach
 * (`is_deep`), removes points at the contour that lead another way. */
void tl_mesh_contour_finish(const tl_mesh_pair *pair, const tl_mesh_contour *contour,
                            tl_mesh_points *points);

#endif
