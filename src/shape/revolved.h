/* Revolved walls: a profile of points [z, radius], turned about z. */
#ifndef TL_SHAPE_REVOLVED_H
#define TL_SHAPE_REVOLVED_H

#include "crowd/model.h"

#define TL_REVOLVED_MOST_POINTS 4096

/* Fills the shape from the definition: checks, profile, bounding radius. The wall has no mass; its
 * centre is the origin of its frame. size[0] becomes +1 where the axis is left of the way along
 * the profile, -1 where it is right, 0 where neither is (a flat plate). */
talus_status tl_revolved_make(const char *who, const talus_shape_def *def, tl_shape *shape);

/* The same checks for a profile that was read from a file. */
talus_status tl_revolved_check(const char *who, const double *profile, size_t n);

/* The wall as triangles (shape->facets), for kinds that have no exact contacts with it. Sides of
 * the polygon about the axis; its corners are outside of the circle and its middles inside, by no
 * more than tl_revolved_error of the radius. */
talus_status tl_revolved_facets(tl_shape *shape);
uint32_t tl_revolved_sides(size_t points);
double tl_revolved_error(size_t points);

/* The smallest radius of the profile where the wall is open, which a body inside must pass. */
double tl_revolved_throat(const double *profile, size_t n);

#endif
