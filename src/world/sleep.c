/* Sleep, as the world's calls see it. What wakes bodies is in world/changed.c; when islands fall
 * asleep and how waking spreads is in step/sleep.h. */
#include "crowd/asleep.h"
#include "world/world.h"

#include <math.h>

talus_status tl_sleep_check(const talus_sleep_def *sleep) {
  if (!(sleep->speed >= 0) || !tl_is_finite_d(sleep->speed))
    return tl_fail(TALUS_ERROR_INVALID,
                   "sleep.speed is %g; it must be >= 0 m/s (0: no body sleeps)", sleep->speed);
  if (!(sleep->time >= 0) || !tl_is_finite_d(sleep->time))
    return tl_fail(TALUS_ERROR_INVALID, "sleep.time is %g; it must be >= 0 s", sleep->time);
  return TALUS_OK;
}

talus_status tl_world_reserve_sleep(talus_world *world) {
  if (!(world->model.sleep.speed > 0))
    return TALUS_OK;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (tl_state_fields[i].offset == offsetof(tl_state, sleep_flags) ||
        tl_state_fields[i].offset == offsetof(tl_state, slow_since))
      TL_TRY(tl_field_wake(&world->state, &tl_state_fields[i], world->capacity));
  return TALUS_OK;
}

talus_status tl_world_reserve_push(talus_world *world) {
  if (world->model.solve.kind != TALUS_SOLVE_PENALTY)
    return TALUS_OK;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (tl_state_fields[i].offset == offsetof(tl_state, spring_force) ||
        tl_state_fields[i].offset == offsetof(tl_state, spring_torque))
      TL_TRY(tl_field_wake(&world->state, &tl_state_fields[i], world->capacity));
  return TALUS_OK;
}

size_t tl_world_count_asleep(const talus_world *world) {
  size_t count = 0;
  for (size_t i = 0; world->state.sleep_flags && i < world->model.bodies; ++i)
    count += tl_is_asleep(&world->state, i);
  return count;
}

talus_status talus_body_wake(talus_world *world, talus_body body) {
  TL_MAY_CHANGE(world);
  uint32_t slot;
  TL_TRY(tl_world_slot(world, body, &slot));
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  TL_TRY(tl_need(&world->where, TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  tl_changed(world, TL_CHANGED_FORCES, slot);
  return TALUS_OK;
}

talus_status talus_world_set_gravity(talus_world *world, talus_vec3 gravity) {
  TL_MAY_CHANGE(world);
  if (!tl_is_finite3(gravity))
    return tl_fail(TALUS_ERROR_INVALID, "gravity is not finite");
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  TL_TRY(tl_need(&world->where, TL_THE(tables) | TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  world->model.gravity = gravity;
  tl_changed(world, TL_CHANGED_LAWS, TL_EVERYBODY);
  return TALUS_OK;
}

talus_status talus_world_set_sleep(talus_world *world, talus_sleep_def sleep) {
  TL_MAY_CHANGE(world);
  TL_TRY(tl_sleep_check(&sleep));
  if (world->model.solve.kind == TALUS_SOLVE_PENALTY && sleep.speed > 0)
    return tl_fail(TALUS_ERROR_INVALID, "sleep does not work with penalty; use solve: {kind: ccp}");
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  TL_TRY(tl_need(&world->where, TL_THE(tables) | TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  const talus_sleep_def before = world->model.sleep;
  world->model.sleep = sleep;
  const talus_status status = tl_world_reserve_sleep(world);
  if (status != TALUS_OK)
    world->model.sleep = before;
  else
    tl_changed(world, TL_CHANGED_LAWS, TL_EVERYBODY);
  return status;
}
