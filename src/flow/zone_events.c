/* Finds which bodies enter and leave a zone: the members before and after the step are both sorted
 * by uid, and are compared in one pass. */
#include "flow/zone.h"

talus_status tl_zone_reserve_events(tl_flow *flow, size_t pairs) {
  const size_t most = flow->members.count + pairs;
  TL_TRY(tl_array_reserve(&flow->next_members, most));
  return tl_array_reserve(&flow->events, flow->events.count + most);
}

static int compare(const tl_zone_member *x, const tl_zone_member *y) {
  if (x->centre != y->centre)
    return x->centre < y->centre ? -1 : 1;
  return x->body < y->body ? -1 : x->body > y->body;
}

static void note(tl_flow *flow, const tl_crowd *crowd, const tl_zone_member *member, bool enters) {
  flow->events.data[flow->events.count++] =
      (talus_zone_event){.zone = member->zone,
                         .enters = enters,
                         .centre = member->centre,
                         .body = member->body,
                         .time = crowd->t1,
                         .dwell = enters ? 0 : crowd->t1 - member->since};
}

/* slot: of the body, if it still exists. */
static void count(tl_zone *zone, const tl_crowd *crowd, uint32_t slot, int side) {
  if (slot == TL_NONE)
    return;
  const double mass = (double)crowd->model->property.mass[slot];
  const talus_dvec3 v = tl_widen(crowd->out->velocity[slot]);
  zone->mass[side] += mass;
  zone->kinetic[side] += 0.5 * mass * tl_ddot(v, v);
}

static void leave(tl_flow *flow, const tl_crowd *crowd, tl_zone *zone, const tl_zone_member *old) {
  note(flow, crowd, old, false);
  zone->left++;
  zone->dwell += crowd->t1 - old->since;
  count(zone, crowd, tl_flow_find_slot(crowd->model, old->body), 1);
}

static void enter(tl_flow *flow, const tl_crowd *crowd, tl_zone *zone, const tl_zone_member *now,
                  uint32_t slot) {
  note(flow, crowd, now, true);
  zone->entered++;
  count(zone, crowd, slot, 0);
}

/* Members of other zones keep their order, before and after those of this zone. */
void tl_zone_trigger(tl_flow *flow, const tl_crowd *crowd, size_t row, const tl_zone_pairs *pairs) {
  tl_zone *zone = &flow->zones.data[row];
  const uint64_t *uid = crowd->model->property.uid;
  const tl_zone_member *old = flow->members.data;
  const size_t n = flow->members.count;
  tl_zone_member *to = flow->next_members.data;
  size_t at = 0, made = 0;
  for (; at < n && old[at].zone < row; ++at)
    to[made++] = old[at];
  for (size_t i = 0; i < pairs->count; ++i) {
    const tl_zone_pair pair = pairs->data[i];
    tl_zone_member now = {.zone = (uint32_t)row,
                          .centre = pair.centre == TL_NONE ? 0 : uid[pair.centre],
                          .body = uid[pair.body],
                          .since = crowd->t1};
    for (; at < n && old[at].zone == row && compare(&old[at], &now) < 0; ++at)
      leave(flow, crowd, zone, &old[at]);
    if (at < n && old[at].zone == row && compare(&old[at], &now) == 0)
      now.since = old[at++].since;
    else
      enter(flow, crowd, zone, &now, pair.body);
    to[made++] = now;
  }
  for (; at < n && old[at].zone == row; ++at)
    leave(flow, crowd, zone, &old[at]);
  for (; at < n; ++at)
    to[made++] = old[at];
  flow->next_members.count = made;
  const tl_any_array swapped = {flow->members.data, flow->members.count, flow->members.capacity};
  flow->members.data = flow->next_members.data;
  flow->members.count = flow->next_members.count;
  flow->members.capacity = flow->next_members.capacity;
  flow->next_members.data = swapped.data;
  flow->next_members.count = 0;
  flow->next_members.capacity = swapped.capacity;
}
