/* Whether two flat bodies (boxes, hulls, meshes, walls of containers) share a place at a moment,
 * decided exactly for their corners as double precision has them. Nothing of the narrow phase is
 * used. Surfaces that only touch do not share a place. */
#ifndef TL_AUDIT_FLAT_H
#define TL_AUDIT_FLAT_H

#include "shape/surface.h"
#include "world/world.h"

typedef struct tl_flat {
  const tl_shape *shape;
  talus_dvec3 position;
  tl_dquat rotation;
  double scale;
  bool is_convex; /* a solid without dents */
  bool is_closed; /* it has an inside */
  TL_ARRAY(talus_dvec3) corners;
  TL_ARRAY(uint32_t) triangles; /* three rows of corners each, counter-clockwise from outside */
  talus_box box;
} tl_flat;

/* Meshes with a rounding are not flat. */
bool tl_flat_is(const tl_shape *shape);
/* `surface`: of the shape (tl_surface_make). What the body held before is overwritten. */
talus_status tl_flat_place(tl_flat *flat, const tl_shape *shape, const tl_surface *surface,
                           double scale, talus_dvec3 position, talus_quat rotation);
void tl_flat_release(tl_flat *flat);

/* `interrupt`: NULL, or non-zero to stop; then the answer counts for nothing. */
bool tl_flats_share(const tl_flat *a, const tl_flat *b, const volatile int *interrupt);

#endif
