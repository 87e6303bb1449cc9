/* Steps need not end at the end of an interval. If the step of a body ends later, the world gets
 * the body's state at the end of the interval, and the rest of its law is kept for the next
 * interval, also in checkpoints.
 *
 * If the world is changed between intervals, this rest is dropped (tl_local_forget_ahead): all
 * bodies come back to the end of the interval, whose states are final. */
#include "step/local/local.h"

#include "joint/joint.h"
#include "step/paths.h"

static bool is_same(talus_dvec3 a, talus_dvec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* True if every entry belongs to a movable body that is where the entry expects it. */
static bool fits(const tl_local *local) {
  const tl_crowd *crowd = local->crowd;
  uint32_t slot = 0;
  for (size_t i = 0; i < local->ahead.count; ++i, ++slot) {
    const tl_ahead *ahead = &local->ahead.data[i];
    while (slot < crowd->count && crowd->model->property.uid[slot] != ahead->uid)
      slot++;
    if (slot == crowd->count || !local->bodies.data[slot].is_movable ||
        !(ahead->c > local->begin) || !is_same(ahead->law.position, crowd->in->position[slot]))
      return false;
  }
  return true;
}

void tl_local_take_up_ahead(tl_local *local) {
  uint32_t slot = 0;
  if (local->holds || !fits(local))
    return;
  for (size_t i = 0; i < local->ahead.count; ++i) {
    const tl_ahead *ahead = &local->ahead.data[i];
    while (local->crowd->model->property.uid[slot] != ahead->uid)
      slot++;
    tl_local_body *body = &local->bodies.data[slot];
    body->current = (tl_local_row){ahead->position, ahead->rotation, ahead->velocity, ahead->spin};
    body->c = body->ahead = ahead->c;
    body->begun = ahead->begun;
    body->law = ahead->law;
    body->flies = ahead->flies;
  }
}

talus_status tl_local_keep_ahead(tl_local *local) {
  const tl_crowd *crowd = local->crowd;
  local->ahead_next.count = 0;
  for (uint32_t i = 0; i < crowd->count; ++i) {
    const tl_local_body *body = &local->bodies.data[i];
    if (!body->is_movable || !(body->c > local->end))
      continue;
    const tl_local_row *to = &body->current;
    tl_ahead ahead = {.uid = crowd->model->property.uid[i],
                      .c = body->c,
                      .begun = body->begun,
                      .position = to->position,
                      .rotation = to->rotation,
                      .velocity = to->velocity,
                      .spin = to->spin,
                      .law = tl_path_later(&body->law, local->end - body->o),
                      .flies = body->flies};
    ahead.law.position = crowd->out->position[i]; /* equal but for the period of the domain */
    TL_TRY(tl_array_push(&local->ahead_next, ahead));
  }
  return TALUS_OK;
}

void tl_local_end_interval(tl_local *local) {
  const size_t capacity = local->ahead.capacity;
  tl_ahead *data = local->ahead.data;
  local->ahead.data = local->ahead_next.data, local->ahead.count = local->ahead_next.count;
  local->ahead.capacity = local->ahead_next.capacity;
  local->ahead_next.data = data, local->ahead_next.capacity = capacity;
  local->ahead_next.count = 0;
}

void tl_local_forget_ahead(tl_local *local) { local->ahead.count = 0; }

static uint32_t root_of(uint32_t *parent, uint32_t slot) {
  while (parent[slot] != slot)
    slot = parent[slot] = parent[parent[slot]];
  return slot;
}

static void tie(const tl_model *model, uint32_t *parent, uint32_t a, uint32_t b) {
  if (a == TL_NONE || b == TL_NONE || tl_body_is_static(model, a) || tl_body_is_static(model, b))
    return;
  const uint32_t x = root_of(parent, a), y = root_of(parent, b);
  parent[x > y ? x : y] = x > y ? y : x;
}

size_t tl_local_let_go(tl_local *local, const tl_model *model, const tl_contacts *contacts,
                       const tl_joints *joints, const uint8_t *remove, uint32_t *scratch) {
  size_t kept = 0;
  uint32_t slot = 0, *parent = scratch;
  for (uint32_t i = 0; i < model->bodies; ++i)
    parent[i] = i;
  for (size_t i = 0; i < contacts->count; ++i)
    if (tl_length2(contacts->data[i].impulse) > 0)
      tie(model, parent, contacts->data[i].a, contacts->data[i].b);
  for (size_t i = 0; i < joints->all.count; ++i)
    if (tl_joint_acts(&joints->all.data[i]))
      tie(model, parent, joints->all.data[i].a, joints->all.data[i].b);
  for (uint32_t i = 0; i < model->bodies; ++i)
    parent[i] = root_of(parent, i);
  /* Each body's parent is its root now. A root's parent becomes TL_NONE if one of its bodies is
   * removed. */
  for (uint32_t i = 0; i < model->bodies; ++i)
    if (remove[i] && parent[i] != TL_NONE)
      parent[parent[i]] = TL_NONE;
  for (size_t i = 0; i < local->ahead.count; ++i) {
    const tl_ahead ahead = local->ahead.data[i];
    while (slot < model->bodies && model->property.uid[slot] != ahead.uid)
      slot++;
    if (slot < model->bodies && parent[slot] != TL_NONE && parent[parent[slot]] != TL_NONE)
      local->ahead.data[kept++] = ahead;
  }
  return kept;
}
