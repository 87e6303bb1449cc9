/* The surface of a shape as triangles, for pictures. */
#ifndef TL_SHAPE_SURFACE_H
#define TL_SHAPE_SURFACE_H

#include "crowd/model.h"

typedef struct tl_surface {
  TL_ARRAY(double) points; /* x, y, z in the principal frame about the centre of mass, scale 1 */
  TL_ARRAY(uint32_t)
  corners; /* three rows of points per triangle, counter-clockwise from outside
              (a container: from inside) */
} tl_surface;

/* None for a sphere, a clump and a plane. What the surface held before is overwritten. */
talus_status tl_surface_make(const tl_shape *shape, tl_surface *surface);
void tl_surface_release(tl_surface *surface);

#endif
