/* Relay: a body that is pushed within the step meets the bodies in its way in the same step.
 *
 * A body at rest has almost no margin, so that the broad phase finds no neighbours which it could
 * hit when something strikes it. Once contacts are found and pushes are known (contact/reach.h),
 * bodies that a push moves out of their box are searched again: their boxes, enlarged by the push
 * on each side, against the boxes of all bodies near by. The new pairs go through the narrow phase,
 * their contacts are inserted into the set, and pushes are passed on. This repeats until no push
 * moves a body out of its box. */
#ifndef TL_STEP_RELAY_H
#define TL_STEP_RELAY_H

#include "backend/backend.h"
#include "contact/reach.h"

/* Judges the contacts (tl_reach_judge) and adds those that are pushed together. Those
 * that come in have their impulses from crowd->contacts_before. A sleeping body that is reached
 * wakes, with its island. *looks: pairs that went through the narrow phase. */
talus_status tl_relay(const tl_backend *backend, const tl_crowd *crowd, tl_reach *reach,
                      tl_contacts *contacts, size_t *looks);

#endif
