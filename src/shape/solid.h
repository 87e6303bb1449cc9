/* Meshes as shapes: checks, mass, principal frame. */
#ifndef TL_SHAPE_SOLID_H
#define TL_SHAPE_SOLID_H

#include "crowd/model.h"

/* Fills the shape from the definition of a mesh, in its principal frame where it has mass, about
 * the middle of its box where it has none. */
talus_status tl_solid_make(const char *who, const talus_shape_def *def, tl_shape *shape);

/* Fails with the reason why a mesh without mass cannot be free, and what to do. */
talus_status tl_solid_refuse_free(const tl_shape *shape, const char *what);

#endif
