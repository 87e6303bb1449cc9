/* Meshes that are deep within each other (private to src/narrow).
 *
 * Where two surfaces go through each other they have a contour in common, made of one segment for
 * each pair of triangles. Its vector area is the integral of the normal of a over what of its
 * surface is within b: minus the change of the common volume per way that a moves. So it is the
 * direction out, the one in which the volume shrinks fastest, however deep they are. How far they
 * must go along it: what the contour and the vertices within the other reach along it. */
#ifndef TL_NARROW_MESH_CONTOUR_H
#define TL_NARROW_MESH_CONTOUR_H

#include "narrow/mesh_pair.h"

/* In the frame of b. */
typedef struct tl_mesh_contour {
  size_t segments;
  talus_dvec3 origin; /* the first place: sums are relative to it */
  talus_dvec3 area;   /* vector area times 2 */
  double length;      /* of all segments */
  talus_dvec3 centre; /* sum of middles by length; in the end the centre itself */
  talus_dvec3 out;    /* unit, from a to b */
  bool is_good;       /* there is such a direction */
  bool is_deep;       /* vertices are out of reach behind a surface */
  double low, high;   /* along it: of b within a, of a within b */
  double wide;        /* how far the contour is from its centre */
} tl_mesh_contour;

void tl_mesh_contour_start(tl_mesh_contour *contour);

/* Of each pair of triangles that go through each other, ascending. */
void tl_mesh_contour_add(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                         tl_mesh_contour *contour);

/* After the last: centre and direction. */
void tl_mesh_contour_close(const tl_mesh_pair *pair, tl_mesh_contour *contour);

/* Of each pair of triangles again: low, high and wide. */
void tl_mesh_contour_measure(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                             tl_mesh_contour *contour);

/* How far a vertex that the triangle is the first of reaches into the other body, if that is
 * farther than *extreme: up along the direction for a, down for b. */
void tl_mesh_contour_reach(const tl_mesh_pair *pair, const tl_mesh_contour *contour, bool is_a,
                           uint32_t triangle, double *extreme);

/* Whether none of the points says how to get out that way. */
bool tl_mesh_contour_is_missed(const tl_mesh_pair *pair, const tl_mesh_contour *contour,
                               const tl_mesh_points *points);

/* Adds the contour's own point and, if vertices are out of reach behind a surface (`is_deep`),
 * takes out the points at the contour that lead another way. */
void tl_mesh_contour_finish(const tl_mesh_pair *pair, const tl_mesh_contour *contour,
                            tl_mesh_points *points);

#endif
