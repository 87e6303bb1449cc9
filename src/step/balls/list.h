/* Velocity Verlet for balls over a kept list (step/balls/forces.h): what is specific about them.
 * tl_step_verlet takes this way by itself where it can. */
#ifndef TL_STEP_VERLET_LIST_H
#define TL_STEP_VERLET_LIST_H

#include "crowd/residency.h"
#include "step/balls/forces.h"
#include "step/step.h"

/* A holder of rows (crowd/residency.h): state and contacts are in the list, in its order, as long
 * as steps follow upon steps. What it holds is good as a whole: who writes any of it ends the list.
 */
typedef struct tl_balls {
  tl_ball_list list; /* nothing depends on it but time */
  tl_residency *where;
  /* Of the last step: where rows go when they come home. */
  const tl_model *model;
  tl_state *state;
  tl_contacts *contacts;
  double dt;
} tl_balls;

/* What the list is made of. Who sleeps, sinks or is told apart does not disturb it. */
#define TL_BALLS_HOLD                                                                              \
  ((TL_THE_BODIES & ~(TL_THE(sleep_flags) | TL_THE(slow_since) | TL_THE(pace) | TL_THE(uid) |      \
                      TL_THE(flags) | TL_THE(motion) | TL_THE(handle))) |                          \
   TL_THE_CONTACTS | TL_THE(tables))

/* NULL where balls were never held there. */
tl_balls *tl_balls_of(const tl_residency *where);

/* Whether the candidates and springs of the list count. */
static inline bool tl_balls_hold(const tl_balls *balls) { return balls->where->away != 0; }

/* Whether all that moves is a ball, free in all directions, and the law is one that lanes know. */
bool tl_balls_are_all(const tl_crowd *crowd);

/* Makes the list anew from the bodies as they are in crowd->in. Springs come from the list where it
 * counts, otherwise from the contacts. Where memory runs out the old list stays, or, where some
 * of it is gone by then, there is none, and no contacts where they were in the list alone. */
talus_status tl_balls_renew(const tl_backend *backend, const tl_crowd *crowd, tl_balls *balls);

/* Room for n, and where that is new for a quarter more: so that the next lists fit as well. */
#define TL_BALLS_ROOM(array, n)                                                                    \
  TL_TRY((array)->capacity < (n) ? tl_array_reserve((array), (n) + (n) / 4) : TALUS_OK)

static inline bool tl_balls_is_one(const tl_model *model, uint32_t slot) {
  return tl_body_shape(model, slot)->kind == TALUS_SPHERE;
}

/* Pairs of the broad phase to those of the list that are near, in their order; those with a body
 * that is neither a ball nor flat are for the general way (`walls`). Skins and ranks are known. */
talus_status tl_balls_sift(const tl_crowd *crowd, const tl_pairs *pairs, tl_ball_list *list);

/* A spring of b against a on its way from list to list; stiffness 0: none. In the order of contacts
 * (canonical). */
typedef struct tl_old_spring {
  uint32_t a, b, side; /* of a wall; of two balls 0 */
  talus_real slip[3], stiffness;
} tl_old_spring;

typedef struct tl_old_springs {
  tl_ball_list *list;
  tl_old_spring *data; /* in the arena */
  size_t count;
} tl_old_springs;

/* Those of the list, or where it does not count those of the contacts, whose walls of the general
 * way then come to the list as well; and to where they belong in the new list. */
talus_status tl_balls_take_springs(const tl_crowd *crowd, const tl_balls *balls,
                                   tl_old_springs *springs);
void tl_balls_lay_springs(const tl_model *model, tl_old_springs *springs);

/* Candidates in the order of the list, and what each ball adds up, from `near` and ranks: start,
 * owner, other, canonical, first_owner, entry and entry_start, which have room. */
talus_status tl_balls_lay_candidates(const tl_model *model, tl_arena *arena, tl_ball_list *list);

/* One step, as tl_step_verlet: state and contacts stay in the list. Contacts come home to
 * *contacts, the state to *crowd->out. A step that fails ends the list, and springs begin anew: it
 * may have stretched them, or made them no numbers. */
talus_status tl_step_balls(const tl_backend *backend, const tl_crowd *crowd, tl_contacts *contacts,
                           tl_step_report *report);

/* After a step that failed, wherever it did. */
void tl_balls_give_up(const tl_crowd *crowd, tl_contacts *contacts);

/* Makes balls the holder of `where`, unless they are. */
talus_status tl_balls_register(tl_residency *where, tl_balls **balls);

/* Room for as many contacts as the list can have, so that storing them cannot fail. */
talus_status tl_balls_reserve(const tl_ball_list *list, tl_contacts *contacts);

#endif
