/* Contacts of bodies that pass each other within the step (docs/theory/convex.md).
 *
 * A contact with a positive gap is a plane between two bodies that neither may cross. If the pair
 * moves sideways, the plane at the start of the step is not the right one: a sphere that clears an
 * edge would hit the plane that the edge had at the start. The path of such pairs, and of no
 * others, is followed until a plane is found that the free motion does not cross, or until the
 * bodies touch; that plane replaces the first. */
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

/* ---- bodies made of parts -------------------------------------------------------------------- */

/* Whether a pair with a mesh or a clump, and no wall, moves so far within the step that contacts as
 * they are at its start would not do. */
bool tl_swept_is_fast(const tl_swept *swept, const tl_pair *pair);

/* Contacts of such a pair, by its time of impact (narrow/advance.h), at most TL_NARROW_MAX_POINTS.
 * One that misses gets contacts that leave its free motion alone. False: they touch already, and
 * what is found at the start of the step must do. */
bool tl_swept_find(const tl_swept *swept, const tl_pair *pair, tl_contact *out, size_t *count);

/* Whether any pair is: not those of springs and hard spheres, nor without a step, nor where the
 * scene does not want it or steps are adaptive and have no such pairs. */
static inline bool tl_swept_is_on(const tl_model *model, const tl_crowd *crowd) {
  return model->solve.kind != TALUS_SOLVE_PENALTY && model->solve.kind != TALUS_SOLVE_ELASTIC &&
         model->step != TALUS_STEP_ADAPTIVE && !model->unswept && crowd->dt > 0;
}

#define TL_SWEPT_FAR 0.02

#endif
