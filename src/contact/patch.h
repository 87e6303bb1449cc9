/* Patches: contacts of one pair that lie in one plane represent the pressure between two flat
 * faces. Their points are the corners of the common area, so that a body can tip over its edge. But
 * friction at the corners resists spinning about the normal with up to twice the torque of uniform
 * pressure. So if a patch spins, or held as much torque as it can, its points are moved towards
 * their middle, to where the torque is that of uniform pressure, but no farther than they can carry
 * the load of the last step. Both bodies get their impulse at the same point, so that momentum and
 * angular momentum are conserved. Patches that friction holds do not change by a bit
 * (docs/theory/ccp.md). */
#ifndef TL_CONTACT_PATCH_H
#define TL_CONTACT_PATCH_H

#include "contact/contact.h"

/* A patch whose friction was at its limit. */
typedef struct tl_sliding {
  uint32_t a, b;
  talus_vec3 normal;
  talus_vec3 load; /* m: from the middle of its points to the point where the load acts */
  bool everywhere; /* all of its points were at the limit of friction */
  bool twisted;    /* its torque about the normal was as large as uniform pressure allows */
} tl_sliding;

typedef struct tl_slidings {
  tl_sliding *data; /* in the arena; ascending by a, then b */
  size_t count;
} tl_slidings;

/* Finds such patches in the set of the last step, before it is overwritten. */
talus_status tl_contact_take_slidings(const tl_crowd *crowd, const tl_contacts *contacts,
                                      tl_slidings *slidings);

/* Moves their points inwards in a new set (in canonical order). */
void tl_contact_lay_slidings(const tl_crowd *crowd, const tl_slidings *slidings,
                             tl_contacts *contacts);

#endif
