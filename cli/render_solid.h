/* Intersection of a ray with a convex solid: ellipsoid, capsule, cylinder, cone, superellipsoid,
 * hull; in the solid's own frame at scale 1, in double, without tessellation. */
#ifndef CLI_RENDER_SOLID_H
#define CLI_RENDER_SOLID_H

#include <stdbool.h>

#include "frame_read.h"

typedef struct solid_ray {
  /* along need not be a unit vector: distances are in units of its length */
  double from[3], along[3];
} solid_ray;

typedef struct solid_shape {
  frame_kind kind;
  const double *size;   /* as in talus_shape_def */
  const double *planes; /* hull: nx, ny, nz, d of each face */
  unsigned plane_count;
} solid_shape;

/* The first point at a distance in [near, far] where the ray enters or leaves; normal is not
 * unit. */
bool solid_hit(const solid_shape *shape, const solid_ray *ray, double near, double far,
               double *distance, double normal[3]);

#endif
