/* When two meshes meet, as Noble's thesis estimates it (section 5.2): for comparison.
 *
 * Vertices are taken to go straight in the frame of the triangle that they may meet, which ignores
 * that bodies turn; two edges are looked at in a time span that is halved again and again towards
 * the end at which they are nearer. Neither is a bound: a step that overlaps nevertheless is to be
 * halved. */
#ifndef TL_NARROW_ADVANCE_LINEAR_H
#define TL_NARROW_ADVANCE_LINEAR_H

#include "narrow/advance.h"

/* s from the begin: when the surfaces come to the floor of the pair (0 if that is negative);
 * DBL_MAX: not within h. Two meshes only. */
double tl_advance_linear(const tl_advance *pair);

#endif
