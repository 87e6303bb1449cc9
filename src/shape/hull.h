/* Convex hulls: points -> triangles -> a polyhedron of merged faces with its mass properties.
 *
 * Which triangles the hull has is found in integers: points are rounded to a grid of 2^-40 of
 * their extent, on which every orientation test is exact in 128 bits. So the surface is closed and
 * convex whatever the input: coplanar grids, needles, near duplicates. Coordinates are those given;
 * rounding to the grid moves a decision by at most 1e-12 of the extent. Triangles that lie in one
 * plane to TL_HULL_FLAT of the extent are one face, and a point that is then in the middle of a
 * face or an edge is no vertex. */
#ifndef TL_SHAPE_HULL_H
#define TL_SHAPE_HULL_H

#include "crowd/model.h"

#define TL_HULL_FLAT 1e-7 /* of the extent: flatter is one face; ten times that is no solid */

typedef struct tl_triangle {
  uint32_t vertex[3]; /* counter-clockwise from outside */
  uint32_t across[3]; /* triangle behind the edge vertex[i], vertex[i + 1] */
} tl_triangle;

typedef TL_ARRAY(tl_triangle) tl_triangles;

/* The hull of n points x, y, z as a closed surface of triangles. Fails with `who` in front where
 * there are too few, not finite, twice the same, or all in a plane. */
talus_status tl_hull_find(const char *who, const double *points, size_t n, tl_triangles *out);

/* Fills the shape's volume, centre, axes, gyration, radius, vertices, faces and edges. */
talus_status tl_hull_make(const char *who, const double *points, size_t n, tl_shape *shape);

#endif
