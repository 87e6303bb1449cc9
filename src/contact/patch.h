/* Patches: contacts of one pair that lie in one plane stand for the pressure between two flat
 * places. Their points are its corners, as they must be for a body that tips over its edge. But
 * friction that acts at the corners holds a spin with up to twice the torque of the pressure that
 * is meant. So where a patch spins, or held as much torque as it can, its points are drawn in
 * towards their middle: to where the torque is that of uniform pressure, though no farther than the
 * load, as it stood in the last step, can be carried from there. Both bodies still meet in one
 * place, so nothing is made or lost. Patches that friction holds stay as they are to the bit
 * (docs/theory/ccp.md). */
#ifndef TL_CONTACT_PATCH_H
#define TL_CONTACT_PATCH_H

#include "contact/contact.h"

/* A patch whose friction was at its limit. */
typedef struct tl_sliding {
  uint32_t a, b;
  talus_vec3 normal;
  talus_vec3 load; /* m: from the middle of its points to where the load acts */
  bool everywhere; /* all of its friction was used up */
  bool twisted;    /* it held as much torque about the normal as uniform pressure can */
} tl_sliding;

typedef struct tl_slidings {
  tl_sliding *data; /* in the arena; ascending by a, then b */
  size_t count;
} tl_slidings;

/* Those of the set as the last step left it, before it is overwritten. */
talus_status tl_contact_take_slidings(const tl_crowd *crowd, const tl_contacts *contacts,
                                      tl_slidings *slidings);

/* Draws their points in, in a new set (in canonical order). */
void tl_contact_lay_slidings(const tl_crowd *crowd, const tl_slidings *slidings,
                             tl_contacts *contacts);

#endif
