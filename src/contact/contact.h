/* The contact set: found by the narrow phase, filled with impulses by the solver, start of the next
 * step (crowd/contacts.h; history.h); and its colours. */
#ifndef TL_CONTACT_CONTACT_H
#define TL_CONTACT_CONTACT_H

#include "crowd/contacts.h"
#include "crowd/crowd.h"

/* Tiles: groups of bodies that are close together in space, so that the bodies of a tile fit into a
 * core's own cache while it sweeps over all their contacts. */
typedef struct tl_tiles {
  /* by slot: tile of a movable body, or TL_NONE for one that contacts cannot move; NULL: no tiles,
   * and flags say which bodies are movable */
  const uint32_t *of;
  size_t count;
} tl_tiles;

/* Colours: sets of contacts of which no two share a body that contacts can move, so that a colour
 * can be worked on by any number of threads and SIMD lanes. They depend only on the ordered set and
 * the tiles: bundles (runs of contacts of one body pair) are coloured greedily with the first free
 * colour; then the k-th contacts of a colour's bundles form a colour of their own.
 *
 * Every tile has colours of its own, for the contacts that touch no movable body of another tile:
 * tiles can be swept at the same time, each by one thread. After them come the colours of contacts
 * between tiles. A `serial` colour holds the contacts that found no other colour; they must be
 * swept one after the other. */
typedef struct tl_colours {
  uint32_t *order; /* contact indices, by colour and within it in canonical order (arena) */
  uint32_t *start; /* count + 1 offsets into order (arena) */
  uint8_t *serial; /* of each colour */
  uint32_t *tile;  /* first colour of each tile, and of those between tiles */
  size_t tiles, count;
} tl_colours;

/* The bodies of a contact in 8 bytes, because a contact itself takes one or two cache lines: slots,
 * with TL_END_FIXED if contacts cannot move the body. Both TL_NONE: the contact is not solved. */
#define TL_END_FIXED 0x80000000u

talus_status tl_contact_colour(const tl_crowd *crowd, const tl_contacts *contacts, tl_tiles tiles,
                               tl_colours *colours);

/* The same for n contacts of the set: `list` has their indices in canonical order, and is sorted by
 * colour. ends: of all contacts of the set, if known; or NULL. */
talus_status tl_contact_colour_some(const tl_crowd *crowd, const tl_contacts *contacts,
                                    const tl_pair *ends, uint32_t *list, size_t n, tl_tiles tiles,
                                    tl_colours *colours);

#endif
