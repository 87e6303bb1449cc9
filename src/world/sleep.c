/* Sleep, as the world's calls see it: what users do wakes bodies. When islands fall asleep and how
 * waking spreads is in step/sleep.h. */
#include "crowd/rest.h"
#include "world/world.h"

#include <math.h>

talus_status tl_sleep_check(const talus_sleep_def *sleep) {
  if (!(sleep->speed >= 0) || !tl_is_finite_d(sleep->speed))
    return tl_fail(TALUS_ERROR_INVALID, "sleep.speed is %g; it must be >= 0 m/s (0: nobody sleeps)",
                   sleep->speed);
  if (!(sleep->time >= 0) || !tl_is_finite_d(sleep->time))
    return tl_fail(TALUS_ERROR_INVALID, "sleep.time is %g; it must be >= 0 s", sleep->time);
  return TALUS_OK;
}

talus_status tl_world_reserve_rest(talus_world *world) {
  if (!(world->model.sleep.speed > 0))
    return TALUS_OK;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (tl_state_fields[i].offset == offsetof(tl_state, rest) ||
        tl_state_fields[i].offset == offsetof(tl_state, slow_since))
      TL_TRY(tl_field_wake(&world->state, &tl_state_fields[i], world->capacity));
  return TALUS_OK;
}

talus_status tl_world_reserve_push(talus_world *world) {
  if (world->model.solve.kind != TALUS_SOLVE_PENALTY)
    return TALUS_OK;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (tl_state_fields[i].offset == offsetof(tl_state, push) ||
        tl_state_fields[i].offset == offsetof(tl_state, twist))
      TL_TRY(tl_field_wake(&world->state, &tl_state_fields[i], world->capacity));
  return TALUS_OK;
}

/* The list of balls goes, and its contacts with it where there is no memory to store them. */
static void leave_list(talus_world *world) {
  const tl_ball_list *list = &world->penalty.list;
  const bool in_list = list->is_valid && !list->is_stored;
  tl_balls_leave(&world->penalty, &world->contacts);
  if (in_list && !list->is_stored)
    world->last.are_lost = true;
}

void tl_world_forget_push(talus_world *world) {
  world->penalty.is_pushed = false;
  world->penalty.is_known = false;
  world->rest.was_pushed = false; /* where a step waits to be finished */
  leave_list(world);
}

void tl_world_drop_push(talus_world *world) {
  if (world->model.solve.kind != TALUS_SOLVE_PENALTY || !world->penalty.are_balls)
    return;
  tl_world_forget_push(world);
  world->contacts.springs.count = 0;
}

void tl_world_disturb(talus_world *world, uint32_t slot) {
  tl_world_forget_push(world);
  world->is_rearranged = true;
  if (world->state.rest)
    world->state.rest[slot] = tl_body_is_static(&world->model, slot) ? TL_REST_PLACED : 0;
}

void tl_world_wake(talus_world *world, uint32_t slot) {
  tl_world_forget_push(world);
  if (world->state.rest && !tl_body_is_static(&world->model, slot))
    world->state.rest[slot] = 0;
}

void tl_world_wake_all(talus_world *world) {
  tl_world_forget_push(world);
  for (size_t i = 0; world->state.rest && i < world->model.bodies; ++i)
    tl_world_wake(world, (uint32_t)i);
}

void tl_world_wake_touching(talus_world *world, const uint8_t *remove) {
  leave_list(world); /* contacts are looked at, and slots are about to change */
  for (size_t i = 0; world->state.rest && i < world->contacts.count; ++i) {
    const tl_contact *c = &world->contacts.data[i];
    if (remove[c->a])
      tl_world_wake(world, c->b);
    if (remove[c->b])
      tl_world_wake(world, c->a);
  }
  for (size_t i = 0; world->state.rest && i < world->joints.all.count; ++i) {
    const uint32_t a = world->joints.all.data[i].a, b = world->joints.all.data[i].b;
    if (a == TL_NONE || b == TL_NONE)
      continue;
    if (remove[a])
      tl_world_wake(world, b);
    if (remove[b])
      tl_world_wake(world, a);
  }
}

void tl_world_wake_written(talus_world *world, talus_field field) {
  tl_world_forget_push(world);
  const bool is_speed = field == TALUS_FIELD_VELOCITY || field == TALUS_FIELD_SPIN;
  world->is_rearranged |= field == TALUS_FIELD_POSITION;
  for (uint32_t i = 0; world->state.rest && i < world->model.bodies; ++i) {
    if (!is_speed)
      tl_world_disturb(world, i);
    else if (tl_length2(world->state.velocity[i]) > 0 || tl_length2(world->state.spin[i]) > 0)
      tl_world_wake(world, i);
  }
}

size_t tl_world_count_asleep(const talus_world *world) {
  size_t count = 0;
  for (size_t i = 0; world->state.rest && i < world->model.bodies; ++i)
    count += tl_rest_is_asleep(&world->state, i);
  return count;
}

talus_status talus_body_wake(talus_world *world, talus_body body) {
  TL_MAY_CHANGE(world);
  uint32_t slot;
  TL_TRY(tl_world_slot(world, body, &slot));
  tl_world_wake(world, slot);
  return TALUS_OK;
}

talus_status talus_world_set_gravity(talus_world *world, talus_vec3 gravity) {
  TL_MAY_CHANGE(world);
  if (!tl_is_finite3(gravity))
    return tl_fail(TALUS_ERROR_INVALID, "gravity is not finite");
  world->model.gravity = gravity;
  tl_world_wake_all(world);
  return TALUS_OK;
}

talus_status talus_world_set_sleep(talus_world *world, talus_sleep_def sleep) {
  TL_MAY_CHANGE(world);
  TL_TRY(tl_sleep_check(&sleep));
  if (world->model.solve.kind == TALUS_SOLVE_PENALTY && sleep.speed > 0)
    return tl_fail(TALUS_ERROR_INVALID, "sleep does not go with penalty; use solve: {kind: ccp}");
  const talus_sleep_def before = world->model.sleep;
  world->model.sleep = sleep;
  const talus_status status = tl_world_reserve_rest(world);
  if (status != TALUS_OK)
    world->model.sleep = before;
  else
    tl_world_wake_all(world);
  return status;
}
