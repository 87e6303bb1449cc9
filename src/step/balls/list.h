/* Velocity Verlet for balls over a kept list (step/balls/forces.h). tl_step_verlet uses it where
 * possible. */
#ifndef TL_STEP_VERLET_LIST_H
#define TL_STEP_VERLET_LIST_H

#include "crowd/residency.h"
#include "step/balls/forces.h"
#include "step/step.h"

/* A holder of rows (crowd/residency.h): during consecutive steps state and contacts are in the
 * list, in its order. They are valid as a whole: writing any of them at home ends the list. */
typedef struct tl_balls {
  tl_ball_list list; /* affects only speed, not results */
  tl_residency *where;
  /* Of the last step: destination of rows that come home. */
  const tl_model *model;
  tl_state *state;
  tl_contacts *contacts;
  double dt;
} tl_balls;

/* Fields that the list is made of. Changes of sleep, flags (sinks), motion, uids or
 * handles do not end it. */
#define TL_BALLS_HOLD                                                                              \
  ((TL_THE_BODIES & ~(TL_THE(sleep_flags) | TL_THE(slow_since) | TL_THE(pace) | TL_THE(uid) |      \
                      TL_THE(flags) | TL_THE(motion) | TL_THE(handle))) |                          \
   TL_THE_CONTACTS | TL_THE(tables))

/* NULL where balls were never held there. */
tl_balls *tl_balls_of(const tl_residency *where);

/* True if the candidates and springs of the list are valid. */
static inline bool tl_balls_hold(const tl_balls *balls) { return balls->where->away != 0; }

/* True if every body that moves is a ball, free in all directions, and lanes know the law. */
bool tl_balls_are_all(const tl_crowd *crowd);

/* Makes the list anew from the bodies of crowd->in. Springs come from the old list if it is valid,
 * otherwise from the contacts. Without memory the old list remains; if part of it is lost already
 * there is no list, and contacts that were only there are lost. */
talus_status tl_balls_renew(const tl_backend *backend, const tl_crowd *crowd, tl_balls *balls);

/* Room for n elements; if memory must grow, by a quarter more, so that later lists fit. */
#define TL_BALLS_ROOM(array, n)                                                                    \
  TL_TRY((array)->capacity < (n) ? tl_array_reserve((array), (n) + (n) / 4) : TALUS_OK)

static inline bool tl_balls_is_one(const tl_model *model, uint32_t slot) {
  return tl_body_shape(model, slot)->kind == TALUS_SPHERE;
}

/* Sorts pairs of the broad phase into those of the list, in their order, and those with a body that
 * is neither a ball nor flat, for the general code (`walls`). Skins and ranks must be known. */
talus_status tl_balls_sift(const tl_crowd *crowd, const tl_pairs *pairs, tl_ball_list *list);

/* A spring of b against a on its way from list to list; stiffness 0: none. Sorted like contacts
 * (canonical order). */
typedef struct tl_old_spring {
  uint32_t a, b, side; /* side of a wall; 0 for two balls */
  talus_real slip[3], stiffness;
} tl_old_spring;

typedef struct tl_old_springs {
  tl_ball_list *list;
  tl_old_spring *data; /* in the arena */
  size_t count;
} tl_old_springs;

/* First: collects the springs of the list or, if it is not valid, of the contacts; then contacts
 * with walls of the general code enter the list, too. Second: puts the springs at their places in
 * the new list. */
talus_status tl_balls_take_springs(const tl_crowd *crowd, const tl_balls *balls,
                                   tl_old_springs *springs);
void tl_balls_lay_springs(const tl_model *model, tl_old_springs *springs);

/* Lays out candidates in the order of the list, and the entries that each ball sums, from `near`
 * and ranks: start, owner, other, canonical, first_owner, entry and entry_start, which must have
 * room. */
talus_status tl_balls_lay_candidates(const tl_model *model, tl_arena *arena, tl_ball_list *list);

/* Way of one step, in radii, beyond which a ball may be on the other side of a thin wall without a
 * contact at the end. */
#define TL_BALL_LEAP TL_R(1.0)

/* One step, like tl_step_verlet; state and contacts stay in the list. When needed, contacts come
 * home to *contacts and the state to *crowd->out. A step that fails ends the list, and springs
 * begin anew: it may have stretched them or made them not finite. */
talus_status tl_step_balls(const tl_backend *backend, const tl_crowd *crowd, tl_contacts *contacts,
                           tl_step_report *report);

/* Call after a step that failed, wherever it did. */
void tl_balls_give_up(const tl_crowd *crowd, tl_contacts *contacts);

/* Makes balls the holder of `where`, unless they already are. */
talus_status tl_balls_register(tl_residency *where, tl_balls **balls);

/* Takes memory for as many contacts as the list can have, so that storing them cannot fail. */
talus_status tl_balls_reserve(const tl_ball_list *list, tl_contacts *contacts);

#endif
