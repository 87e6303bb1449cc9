/* Where a ray meets a convex solid: ellipsoid, capsule, cylinder, cone, superellipsoid, hull. All
 * in the solid's own frame at scale 1, in double, without tessellation. */
#ifndef CLI_RENDER_SOLID_H
#define CLI_RENDER_SOLID_H

#include <stdbool.h>

#include "frame_read.h"

typedef struct solid_ray {
  double from[3], along[3]; /* along need not be unit: distances are in its length */
} solid_ray;

typedef struct solid_shape {
  frame_kind kind;
  const double *size;   /* as in talus_shape_def */
  const double *planes; /* hull: nx, ny, nz, d of each face */
  unsigned plane_count;
} solid_shape;

/* The first place at a distance in [near, far] where the ray goes in or out; normal is not unit. */
bool solid_hit(const solid_shape *shape, const solid_ray *ray, double near, double far,
               double *distance, double normal[3]);

#endif
