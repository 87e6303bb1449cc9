/* Islands: bodies connected by contacts and joints. Two free bodies are in one island if a chain
 * of contacts and joints leads from one to the other through free bodies; static bodies connect
 * nothing. An island can be solved, and can sleep, independently of all others. */
#ifndef TL_CONTACT_ISLAND_H
#define TL_CONTACT_ISLAND_H

#include "contact/contact.h"

/* Contacts and joints grouped by island. Small islands come first and have no joints; within each
 * of the two groups islands are in the order of their lowest slot. */
typedef struct tl_islands {
  uint32_t *order;      /* contact indices by island, within it in canonical order (arena) */
  uint32_t *start;      /* count + 1 offsets into order (arena) */
  uint32_t *link_order; /* indices of links by island, within it in their order (arena) */
  /* count + 1 offsets into link_order (arena); NULL, like link_order: no links */
  uint32_t *link_start;
  uint32_t *label; /* by slot, see tl_island_label; NULL: one island (arena) */
  size_t count, small_count;
} tl_islands;

/* Sets label[slot] to the lowest slot of the body's island; a body that touches nothing, or that
 * contacts cannot move, is an island of its own. Depends neither on the order of contacts nor on
 * threads. links: pairs that hold together without a contact (joints), TL_NONE for the ground; may
 * be NULL. */
void tl_island_label(const tl_model *model, const tl_contacts *contacts, const tl_pairs *links,
                     uint32_t *label);

/* Finds the islands of contacts and links that are solved: contacts of sleeping bodies are omitted,
 * and their links must not be given. An island is small if it has fewer than `small` contacts and
 * no link. apart false: everything counts as one island, which is not small. ends: memory for the
 * ends of all contacts, which are written there. */
talus_status tl_contact_find_islands(const tl_crowd *crowd, const tl_contacts *contacts,
                                     const tl_pairs *links, bool apart, uint32_t small,
                                     tl_pair *ends, tl_islands *islands);

#endif
