/* Islands: what contacts (and, later, joints) hold together. Two free bodies are of one island when
 * a chain of contacts leads from one to the other through free bodies; what contacts cannot move
 * joins nothing. An island can be solved, and can sleep, without looking at any other. */
#ifndef TL_CONTACT_ISLAND_H
#define TL_CONTACT_ISLAND_H

#include "contact/contact.h"

/* Contacts grouped by island. Small islands come first; within each of the two groups islands are
 * in the order of their lowest slot. */
typedef struct tl_islands {
  uint32_t *order; /* contact indices by island, within it in canonical order (arena) */
  uint32_t *start; /* count + 1 offsets into order (arena) */
  size_t count, small_count;
} tl_islands;

/* label[slot] is the lowest slot of the body's island; a body that touches nothing, or that
 * contacts cannot move, is its own. A pure function of the set: neither the order of contacts nor
 * threads matter. links: pairs that hold together without a contact (joints); may be NULL. */
void tl_island_label(const tl_model *model, const tl_contacts *contacts, const tl_pairs *links,
                     uint32_t *label);

/* Islands of the contacts that have work to do: those of sleeping bodies are left out. An island is
 * small when it has fewer than `small` contacts. Not `apart`: all contacts are taken for one
 * island, and none is small. */
talus_status tl_contact_find_islands(const tl_model *model, const tl_scope *scope,
                                     const tl_contacts *contacts, const tl_pairs *links, bool apart,
                                     uint32_t small, tl_islands *islands);

#endif
