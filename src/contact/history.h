/* History: what a contact of this step has from the contact of the same key in the last one.
 *
 * `before` is the set of the last step, and nobody writes to it; `after` is the set of this step.
 * A step that fails, or is tried again, starts from the same contacts. Whoever owns the two sets
 * swaps them when a step has gone well.
 *
 * What is carried are the fields with the flag CARRIED (crowd/fields.h); a contact whose key is
 * new has 0 there. Of a pair with a mesh it has them from the nearest contact whose key is gone and
 * whose normal is within 10 degrees. Where the step is longer or shorter than the last one, impulses are what the
 * same force gives in it; where it is as long, they have the same bits. */
#ifndef TL_CONTACT_HISTORY_H
#define TL_CONTACT_HISTORY_H

#include "contact/contact.h"

/* Empties the set, which becomes that of a step of length dt, and gives it room for as many
 * contacts as there were; what it has not needed for long it gives back. */
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
