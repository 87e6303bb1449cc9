/* Relay: what is pushed within the step meets what lies in its way in the same step.
 *
 * A body at rest has next to no margin, so that the broad phase gives it no neighbours to run into
 * when something strikes it. Once contacts are found and it is known who is pushed how fast
 * (contact/reach.h), those whose push leads out of their box are looked for again: their boxes, as
 * large as the push makes them on each side, against the boxes of all bodies near by; their pairs
 * go through the narrow phase, contacts take their place in the set, and what is pushed now passes
 * it on. Until nobody's push leads out of his box. */
#ifndef TL_STEP_RELAY_H
#define TL_STEP_RELAY_H

#include "backend/backend.h"
#include "contact/reach.h"

/* Judges the contacts (tl_reach_judge) and adds those that are pushed together. Those
 * that come in have their impulses from crowd->contacts_before. Who sleeps and is reached wakes,
 * with his island. *looks: pairs that went through the narrow phase. */
talus_status tl_relay(const tl_backend *backend, const tl_crowd *crowd, tl_reach *reach,
                      tl_contacts *contacts, size_t *looks);

#endif
