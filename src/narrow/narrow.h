/* Narrow phase: pair -> contact points, through one table indexed by the two shape kinds. */
#ifndef TL_NARROW_NARROW_H
#define TL_NARROW_NARROW_H

#include "contact/contact.h"

#define TL_NARROW_MAX_POINTS 8

/* One posed shape, relative to the first body's centre of mass (so that float is enough). */
typedef struct tl_posed {
  const tl_shape *shape;
  talus_real scale;
  talus_vec3 position; /* relative; the first body's is 0 */
  talus_quat rotation;
} tl_posed;

/* A point found: relative to the first body's centre; normal from the first to the second. */
typedef struct tl_point {
  talus_vec3 point, normal;
  talus_real gap;
  uint32_t feature_a, feature_b;
} tl_point;

/* Writes the contact points with gap <= margin, ascending by (feature_a, feature_b), and returns
 * how many (at most TL_NARROW_MAX_POINTS). */
typedef int tl_narrow_fn(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out);

/* The function for (kind of a, kind of b); the table is symmetric by swapping, done by the caller
 * through tl_narrow_pair. NULL: this pair of kinds is not supported. */
extern tl_narrow_fn *const tl_narrow_table[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS];

/* Points of a pair in either order; -1 where the kinds are not supported. */
int tl_narrow_pair(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out);

/* Contacts of all candidate pairs (sorted) into *contacts, in canonical order, impulses 0. A pair's
 * margin is the sum of its bodies' (margins: by slot). Supported kinds that can never
 * touch (two static bodies) do not come here. TALUS_ERROR_UNSUPPORTED names both bodies. */
talus_status tl_narrow_find_contacts(const tl_model *model, const tl_scope *scope,
                                     const tl_pairs *pairs, const talus_real *margins,
                                     tl_contacts *contacts);

#endif
