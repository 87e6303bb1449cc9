/* Velocity Verlet for balls over a kept list (solve/penalty_list.h): what is specific about them.
 * tl_step_verlet takes this way by itself where it can. */
#ifndef TL_STEP_VERLET_LIST_H
#define TL_STEP_VERLET_LIST_H

#include "solve/penalty.h"
#include "step/step.h"

/* Whether all that moves is a ball, free in all directions, and the law is one that lanes know. */
bool tl_balls_are_all(const tl_model *model, const tl_scope *scope);

/* Makes the list anew from the bodies as they are in scope->in. Springs come from the list where it
 * is valid, otherwise from the contacts. */
talus_status tl_balls_renew(const tl_backend *backend, const tl_model *model, const tl_scope *scope,
                            const tl_contacts *contacts);

/* One step, as tl_step_verlet, but *contacts are not written: tl_balls_store does that. */
talus_status tl_step_balls(const tl_backend *backend, const tl_model *model, const tl_scope *scope,
                           tl_contacts *contacts, tl_step_report *report);

/* Writes the state of the balls, where it is in the list alone. */
void tl_balls_commit(const tl_model *model, tl_ball_list *list, tl_state *state);

/* Writes the contacts of the last step, where they are in the list alone. */
talus_status tl_balls_store(const tl_model *model, tl_penalty *penalty, tl_contacts *contacts);

#endif
