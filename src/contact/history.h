/* History: what a contact of this step takes over from the contact of the same key in the last one.
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

/* Contacts of a pair, up to which places are looked at as well (one bit each). */
#define TL_HISTORY_GROUP 32

/* Empties the set for a step of length dt, and gives it room for as many contacts as there were;
 * memory that it has not needed for long is freed. */
talus_status tl_history_begin(const tl_contacts *before, double dt, tl_contacts *after);

/* Appends n contacts of the last step as they are, for which there is room. */
void tl_history_keep(const tl_contacts *before, size_t first, size_t n, tl_contacts *after);

/* The carried fields of contact `first` and all behind it, which are in canonical order. */
void tl_history_carry(const tl_model *model, const tl_contacts *before, tl_contacts *after,
                      size_t first);

/* Once all contacts are found: makes the records that the model needs beside tl_contact, with what
 * is carried of them. Bonds are carried to all contacts of a pair. */
talus_status tl_history_lay(const tl_model *model, const tl_contacts *before, tl_contacts *after);

/* The first contact that is not before the pair. */
size_t tl_history_find(const tl_contacts *before, tl_pair pair);

/* The first contact of the pair or NULL, from *cursor on, which goes there. Pairs must be asked for
 * in ascending order. */
const tl_contact *tl_history_next(const tl_contacts *before, tl_pair pair, size_t *cursor);

#endif
