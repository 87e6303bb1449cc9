/* Contacts of bodies that pass each other within the step (docs/theory/convex.md).
 *
 * A contact that is still apart is a plane between two bodies that neither may cross. Where the
 * pair moves sideways, the plane of the start of the step is not the one that matters: a sphere
 * that clears an edge would run into the plane that the edge showed it when it was in front. Of
 * such pairs, and of no others, the way is followed until a plane is found that the free motion
 * does not cross, or until the bodies touch; that plane takes the place of the first. */
#ifndef TL_NARROW_SWEPT_H
#define TL_NARROW_SWEPT_H

#include "contact/contact.h"

typedef struct tl_swept {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_real *margins; /* by slot */
} tl_swept;

/* The contacts of one pair, in place: `found` has room for all that its kinds can have, and holds
 * `count` of them as they were found at the start of the step. Returns how many there are then.
 * Pairs that touch already, or move sideways by less than TL_SWEPT_FAR of the smaller one's
 * bounding radius, are left as they are to the bit. */
size_t tl_swept_pair(const tl_swept *swept, tl_contact *found, size_t count);

#define TL_SWEPT_FAR 0.02

#endif
