/* Revolved walls in the narrow phase (kernels/revolved.h): entries of the table. */
#ifndef TL_NARROW_REVOLVED_H
#define TL_NARROW_REVOLVED_H

#include "narrow/narrow.h"
#include "shape/shape.h"

/* The body is first, the wall second. If there are more than TL_REVOLVED_MAX points, the nearest
 * are kept. */
tl_narrow_fn tl_revolved_sphere, tl_revolved_capsule, tl_revolved_box, tl_revolved_hull;

/* Other kinds, by the wall's triangles (shape/revolved.h); up to TL_NARROW_MAX_POINTS. */
tl_narrow_fn tl_revolved_convex, tl_revolved_mesh;

/* Removes points that are deeper than the body may be: it is behind the wall there. A body whose
 * centre is in front may be as deep as it is wide. Returns the number of points left. */
int tl_revolved_keep(const tl_posed *body, const tl_posed *wall, tl_point *points, int count);

#endif
