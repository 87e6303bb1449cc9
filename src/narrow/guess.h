/* Normals of the last step, as guesses for pairs whose normal is searched for.
 *
 * They are taken from the contact set before it is overwritten. That set is in the checkpoint, so a
 * restarted run guesses what the other would have. */
#ifndef TL_NARROW_GUESS_H
#define TL_NARROW_GUESS_H

#include "contact/contact.h"

typedef struct tl_guess {
  uint32_t a, b;     /* slots */
  talus_vec3 normal; /* unit, from a to b */
} tl_guess;

typedef struct tl_guesses {
  tl_guess *data; /* in the arena; ascending by a, then b */
  size_t count;
} tl_guesses;

/* One guess of each pair in the set that can use it. None, and no memory, where the shapes of the
 * scene cannot make such a pair: spheres, and what meets in closed form. */
talus_status tl_narrow_take_guesses(const tl_model *model, const tl_scope *scope,
                                    const tl_contacts *contacts, tl_guesses *guesses);

/* First guess that is not before the pair. */
size_t tl_guess_find(const tl_guesses *guesses, tl_pair pair);

/* The guess of the pair or NULL, from *cursor on, which goes there. Pairs must be asked for in
 * ascending order. */
const tl_guess *tl_guess_next(const tl_guesses *guesses, tl_pair pair, size_t *cursor);

#endif
