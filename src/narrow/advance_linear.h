/* When two meshes meet, by the estimate of Noble's thesis (section 5.2); for comparison.
 *
 * Each vertex is taken to move straight in the frame of the triangle that it may meet, which
 * ignores rotation. Two edges are tested in a time span that is halved repeatedly, towards the end
 * at which they are nearer. Neither is a bound: if a step overlaps anyway it must be halved. */
#ifndef TL_NARROW_ADVANCE_LINEAR_H
#define TL_NARROW_ADVANCE_LINEAR_H

#include "narrow/advance.h"

/* Time (s from the begin) at which the surfaces reach the floor of the pair (0 if the floor is
 * negative); DBL_MAX: not within h. Two meshes only. */
double tl_advance_linear(const tl_advance *pair);

#endif
