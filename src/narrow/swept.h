/* Contacts of bodies that pass each other within the step (docs/theory/convex.md).
 *
 * A contact with a positive gap is a plane between two bodies that neither may cross. If the pair
 * moves sideways, the plane at the start of the step is wrong: a sphere that clears an edge would
 * hit the plane that the edge had at the start. Only such pairs are followed along their path,
 * until a plane is found that the free motion does not cross, or until the bodies touch; that plane
 * replaces the first. */
#ifndef TL_NARROW_SWEPT_H
#define TL_NARROW_SWEPT_H

#include "contact/contact.h"

typedef struct tl_swept {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_real *margins; /* by slot */
} tl_swept;

/* Changes the contacts of one pair in place. `found` must have room for all that its kinds can
 * have, and holds `count` contacts found at the start of the step. Returns the new number. Pairs
 * that touch already, or move sideways by less than TL_SWEPT_FAR of the smaller bounding radius,
 * are not changed. */
size_t tl_swept_pair(const tl_swept *swept, tl_contact *found, size_t count);

/* ---- bodies made of parts -------------------------------------------------------------------- */

/* True if a pair with a mesh or a clump, and no wall, moves so far within the step that contacts at
 * its start do not suffice. */
bool tl_swept_is_fast(const tl_swept *swept, const tl_pair *pair);

/* Contacts of such a pair at its time of impact (narrow/advance.h), at most TL_NARROW_MAX_POINTS.
 * If it misses, its contacts do not disturb the free motion. False: the bodies touch already, and
 * contacts at the start are used. */
bool tl_swept_find(const tl_swept *swept, const tl_pair *pair, tl_contact *out, size_t *count);

/* True if any pair is followed: not with springs or hard spheres, without a step, if the scene
 * turns it off, or in adaptive steps, which need none. */
static inline bool tl_swept_is_on(const tl_model *model, const tl_crowd *crowd) {
  return model->solve.kind != TALUS_SOLVE_PENALTY && model->solve.kind != TALUS_SOLVE_ELASTIC &&
         model->step != TALUS_STEP_ADAPTIVE && !model->unswept && crowd->dt > 0;
}

#define TL_SWEPT_FAR 0.02

#endif
