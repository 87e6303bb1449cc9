/* Revolved walls in the narrow phase (kernels/revolved.h): entries of the table. */
#ifndef TL_NARROW_REVOLVED_H
#define TL_NARROW_REVOLVED_H

#include "narrow/narrow.h"
#include "shape/shape.h"

/* The body is the first, the wall the second. Of more than TL_REVOLVED_MAX points the nearest are
 * kept. */
tl_narrow_fn tl_revolved_sphere, tl_revolved_capsule, tl_revolved_box, tl_revolved_hull;

/* For messages: the kinds that have an entry. */
#define TL_REVOLVED_KINDS "spheres, clumps, capsules, boxes and hulls"

/* Whether a place, relative to the wall's position, is in the matter of a wall with one side:
 * behind it, within the cylinder about it. */
bool tl_revolved_holds(const tl_posed *wall, talus_dvec3 place);

#endif
