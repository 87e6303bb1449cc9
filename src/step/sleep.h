/* Sleep: islands that have been slow for long enough are no longer computed.
 *
 * Falling asleep. A free body is slow while neither its centre nor its surface about it, |w| times
 * the bounding radius, is faster than sleep.speed. When every body of an island has been slow for
 * sleep.time, by the clock of the world, and the island rests on something (a contact that pushes
 * on a static body which does not move, or a joint to one or to the ground), and no motor or loaded
 * spring is at work in it, nor a zone about a static body that moves, all of it falls asleep at
 * once: velocities become zero, poses stay to the last bit, and nothing of it is solved, moved or
 * looked at by the narrow phase. The broad phase sees it as before. Contacts between sleeping
 * bodies stay in the contact set with their impulses. Bodies on which a zone's force acts from one
 * to the other are in one island, as if joined; that of a place is like gravity.
 *
 * Waking. In the step in which one of these holds, and before anything is solved, an island wakes
 * as a whole and with the impulses it fell asleep with:
 *   - an awake body, or a kinematic one that moves, has come so near that it may touch within the
 *     step (that is what a contact is: gap within the margin);
 *   - one of its bodies was woken by the user: a pose, velocity, force or torque was set;
 *   - a body that it touches was removed, added, or placed elsewhere;
 *   - one of its joints was added, removed or broke, or the motor of one was set, or one leads to
 *     a static body of which one of the above holds;
 *   - an awake body has come within a zone's force about it, or the other way round, or a zone
 *     reflects it (flow/zone_sleep.c: at the end of the step before, when zones act);
 *   - gravity, the materials, zones or which groups collide was changed.
 * In one rule: a body that touches an awake body wakes. So the step in which an island wakes is,
 * bit for bit, that of a world in which no body had slept but the velocities were zero.
 *
 * Nothing here depends on threads, and all decisions follow from the state: the fields
 * `sleep_flags` and `slow_since`. Only the world's own step does this: in a gathered crowd bodies
 * neither fall asleep nor wake. */
#ifndef TL_STEP_SLEEP_H
#define TL_STEP_SLEEP_H

#include "contact/contact.h"
#include "crowd/asleep.h"

/* True if bodies of the crowd can fall asleep and wake. */
static inline bool tl_sleep_is_on(const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  return crowd->sleeps && model->sleep.speed > 0 && crowd->in->sleep_flags && crowd->in->slow_since;
}

/* Wakes bodies that are disturbed. pairs: all candidates of this step; contacts: the set of the
 * last step. */
talus_status tl_sleep_wake(const tl_crowd *crowd, const tl_pairs *pairs, const talus_real *margins,
                           const tl_contacts *contacts);

/* Wakes all bodies that touch, or are joined to, an awake body in this set. For sets that were
 * found before a call woke a body. */
talus_status tl_sleep_rouse(const tl_crowd *crowd, const tl_contacts *contacts);

/* Begins the set of this step with the contacts between sleeping bodies of the last step. */
talus_status tl_sleep_keep(const tl_crowd *crowd, const tl_contacts *before, tl_contacts *after);

/* Takes out the pairs that sleeping bodies make with each other and with static ones. */
void tl_sleep_drop_pairs(const tl_crowd *crowd, tl_pairs *pairs);

/* Sorts the set canonically again; its first `kept` contacts are sorted, and so are the others. */
talus_status tl_sleep_merge(const tl_crowd *crowd, tl_contacts *contacts, size_t kept);

/* Marks the bodies that fall asleep in this step (TL_SLEEP_FALLING). contacts: of this step, with
 * the impulses of the last. */
talus_status tl_sleep_fall(const tl_crowd *crowd, const tl_contacts *contacts);

/* Records which bodies are slow, and since when. Call after bodies have moved. */
void tl_sleep_watch(const tl_crowd *crowd);

#endif
