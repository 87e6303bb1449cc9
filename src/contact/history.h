/* History: the data that a contact of this step takes over from the contact with the same key in
 * the last step.
 *
 * `before` is the set of the last step, which is only read; `after` is the set of this step. A step
 * that fails, or is tried again, starts from the same contacts. The owner of the two sets swaps
 * them when a step has succeeded.
 *
 * The fields with the flag CARRIED (crowd/fields.h) are taken over. In a contact with a new key
 * they are 0, with two exceptions. Its impulse comes from a contact of the same pair that was at
 * its place and whose key has disappeared, if there is one and if impulses are only an initial
 * guess (not with springs). In a pair with a mesh all fields come from the nearest contact whose
 * key has disappeared and whose normal is within 10 degrees. If the step has another length than
 * the last one, impulses are scaled so that forces stay the same; otherwise they have the same
 * bits. */
#ifndef TL_CONTACT_HISTORY_H
#define TL_CONTACT_HISTORY_H

#include "contact/contact.h"

/* Most contacts of a pair for which places are compared (one bit each). */
#define TL_HISTORY_GROUP 32

/* Empties the set for a step of length dt, and takes memory for as many contacts as there were;
 * memory that was not needed for long is freed. */
talus_status tl_history_begin(const tl_contacts *before, double dt, tl_contacts *after);

/* Appends n contacts of the last step unchanged; there must be room. */
void tl_history_keep(const tl_contacts *before, size_t first, size_t n, tl_contacts *after);

/* Carries fields to contact `first` and all after it; they must be in canonical order. */
void tl_history_carry(const tl_model *model, const tl_contacts *before, tl_contacts *after,
                      size_t first);

/* Call when all contacts are found: makes the records that the model needs besides tl_contact, with
 * their carried fields. Bonds are carried to all contacts of a pair. */
talus_status tl_history_lay(const tl_model *model, const tl_contacts *before, tl_contacts *after);

/* Index of the first contact that is not before the pair. */
size_t tl_history_find(const tl_contacts *before, tl_pair pair);

/* The first contact of the pair or NULL, searched from *cursor on, which advances. Pairs must come
 * in ascending order. */
const tl_contact *tl_history_next(const tl_contacts *before, tl_pair pair, size_t *cursor);

#endif
