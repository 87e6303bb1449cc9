/* What follows when the world was changed by hand. When islands fall asleep and how waking spreads
 * is in step/sleep.h. */
#include "crowd/asleep.h"
#include "world/world.h"

#include <string.h>

static void wake(talus_world *world, uint32_t slot) {
  if (!tl_body_is_static(&world->model, slot))
    world->state.sleep_flags[slot] = 0, world->state.slow_since[slot] = 0;
}

static void disturb(talus_world *world, uint32_t slot) {
  world->state.sleep_flags[slot] = tl_body_is_static(&world->model, slot) ? TL_SLEEP_PLACED : 0;
  world->state.slow_since[slot] = 0;
}

static bool moves(const tl_state *state, uint32_t slot) {
  return tl_length2(state->velocity[slot]) > 0 || tl_length2(state->spin[slot]) > 0;
}

static void wake_everybody(talus_world *world, unsigned what) {
  for (uint32_t i = 0; i < world->model.bodies; ++i)
    if (what & TL_CHANGED_PLACE)
      disturb(world, i);
    else if ((what & TL_CHANGED_LAWS) || moves(&world->state, i))
      wake(world, i);
}

/* Who felt a zone's force about this body, or gave it one. It is not known where a body that was
 * placed was before: then anywhere. */
static void wake_bound(talus_world *world, uint32_t slot, bool anywhere) {
  const tl_flow_bond bond = tl_flow_bond_of(&world->flow, &world->model, slot);
  const uint32_t group = world->model.property.group[slot];
  tl_roused *roused = &world->roused;
  if (bond == TL_BOND_NONE)
    return;
  if (anywhere && bond == TL_BOND_OF_GROUP) { /* another of this group has woken the same ones */
    if (roused->is_known && roused->group == group && roused->time == world->time)
      return;
    *roused = (tl_roused){.is_known = true, .group = group, .time = world->time};
  }
  for (uint32_t i = 0; i < world->model.bodies; ++i)
    if (tl_is_asleep(&world->state, i) &&
        tl_flow_is_bound(&world->flow, &world->model, &world->state, slot, i, anywhere))
      wake(world, i);
}

void tl_world_forget_rooms(talus_world *world) {
  if (!world->has_rooms)
    return;
  if (world->model.bodies > 0)
    memset(world->model.property.room, 0, world->model.bodies * sizeof *world->model.property.room);
  world->has_rooms = false;
}

/* A body was put somewhere else, or a wall was, or others may meet it. */
static void forget_rooms(talus_world *world, unsigned what, uint32_t slot) {
  if (!(what & (TL_CHANGED_PLACE | TL_CHANGED_LAWS | TL_CHANGED_BY_ZONES)))
    return;
  if (slot != TL_EVERYBODY && !(what & TL_CHANGED_LAWS) && !tl_body_is_static(&world->model, slot))
    world->model.property.room[slot] = 0;
  else
    tl_world_forget_rooms(world); /* once, however many walls are added */
}

void tl_changed(talus_world *world, unsigned what, uint32_t slot) {
  world->penalty.is_known = false; /* its laws are by materials and bodies */
  if (what == TL_CHANGED_TABLES)
    return;
  TL_ASSERT(!((world->where.stale | world->where.away) & TL_THE_AFTERMATH));
  if (!(what & TL_CHANGED_PLACE) || (what & TL_CHANGED_PAIRS))
    world->roused.is_known = false;
  world->penalty.is_pushed = false;
  /* A new body meets the steps that go on; all else is nothing that these knew of. */
  if (!(what & TL_CHANGED_PLACE) || !(what & TL_CHANGED_PAIRS) ||
      tl_body_is_static(&world->model, slot))
    tl_local_forget_ahead(&world->local);
  if (world->penalty.is_borrowed)
    world->penalty.auto_stiffness = 0, world->penalty.is_borrowed = false;
  forget_rooms(world, what, slot);
  world->unfinished.was_pushed = false; /* where a step waits to be finished */
  if (what & (TL_CHANGED_PLACE | TL_CHANGED_BY_ZONES))
    world->is_rearranged = true;
  if (what & TL_CHANGED_PAIRS)
    tl_broad_forget(&world->broad_cache);
  if (!world->state.sleep_flags)
    return;
  if ((what & TL_CHANGED_LAWS) ||
      (slot == TL_EVERYBODY && (what & (TL_CHANGED_FORCES | TL_CHANGED_PLACE))))
    wake_everybody(world, what);
  else if (what & TL_CHANGED_PLACE) {
    disturb(world, slot);
    if (!(what & TL_CHANGED_PAIRS)) /* it was somewhere else before */
      wake_bound(world, slot, true);
  } else if (what & TL_CHANGED_FORCES)
    wake(world, slot);
}

void tl_world_wake_touching(talus_world *world, const uint8_t *remove) {
  for (size_t i = 0; world->state.sleep_flags && i < world->contacts.count; ++i) {
    const tl_contact *c = &world->contacts.data[i];
    if (remove[c->a])
      wake(world, c->b);
    if (remove[c->b])
      wake(world, c->a);
  }
  for (size_t i = 0; world->state.sleep_flags && i < world->joints.all.count; ++i) {
    const uint32_t a = world->joints.all.data[i].a, b = world->joints.all.data[i].b;
    if (a == TL_NONE || b == TL_NONE)
      continue;
    if (remove[a])
      wake(world, b);
    if (remove[b])
      wake(world, a);
  }
  for (uint32_t i = 0; world->state.sleep_flags && i < world->model.bodies; ++i)
    if (remove[i])
      wake_bound(world, i, false);
}
