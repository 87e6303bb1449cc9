/* Sleep, as every stage sees it: the field `sleep_flags` of a body (fields.h), NULL where nobody
 * may sleep. When bodies fall asleep and what wakes them is in step/sleep.h. */
#ifndef TL_ASLEEP_H
#define TL_ASLEEP_H

#include "crowd/model.h"

/* It is slow, and has been since slow_since. */
#define TL_SLEEP_SLOW 0x00000001u
/* Placed by hand (a pose was set, or a static body was added) since the last step. */
#define TL_SLEEP_PLACED 0x20000000u
/* Falls asleep in the step under way: nothing of it is solved or moved any more. */
#define TL_SLEEP_FALLING 0x40000000u
#define TL_SLEEP_ASLEEP  0x80000000u

/* Whether a body neither is solved nor moves. */
static inline bool tl_is_asleep(const tl_state *state, size_t slot) {
  return state && state->sleep_flags &&
         (state->sleep_flags[slot] & (TL_SLEEP_ASLEEP | TL_SLEEP_FALLING)) != 0;
}

/* Whether a pair has nothing to do: one of the two sleeps, and so does the other or nothing can
 * move it. A sleeping body never touches one that is awake for longer than until the next step, in
 * which it wakes, nor one that moves by its motion. */
static inline bool tl_pair_is_dormant(const tl_model *model, const tl_state *state, uint32_t a,
                                      uint32_t b) {
  if (!state || !state->sleep_flags)
    return false;
  const bool sleeps_a = tl_is_asleep(state, a), sleeps_b = tl_is_asleep(state, b);
  return (sleeps_a && (sleeps_b || tl_body_is_static(model, b))) ||
         (sleeps_b && tl_body_is_static(model, a));
}

/* Whether a body that contacts cannot move is to be reckoned with: it has a motion that is not
 * rest, however slow it may be just now, or it was placed by hand. */
static inline bool tl_is_stirring_static(const tl_model *model, const tl_state *state,
                                         uint32_t slot) {
  if (state->sleep_flags[slot] & TL_SLEEP_PLACED)
    return true;
  if (!(model->property.flags[slot] & TL_FLAG_KINEMATIC))
    return false;
  return tl_body_travels(model, slot) || tl_body_turns(model, slot);
}

/* Whether a sleeping body that this one touches is to wake. TL_NONE: the ground. */
static inline bool tl_is_stirring(const tl_model *model, const tl_state *state, uint32_t slot) {
  if (slot == TL_NONE)
    return false;
  return tl_body_is_static(model, slot) ? tl_is_stirring_static(model, state, slot)
                                        : !tl_is_asleep(state, slot);
}

/* The sleeping one of two bodies of which the other stirs, or TL_NONE. */
static inline uint32_t tl_find_disturbed(const tl_model *model, const tl_state *state, uint32_t a,
                                         uint32_t b) {
  if (a != TL_NONE && tl_is_asleep(state, a) && tl_is_stirring(model, state, b))
    return a;
  if (b != TL_NONE && tl_is_asleep(state, b) && tl_is_stirring(model, state, a))
    return b;
  return TL_NONE;
}

#endif
