/* Zones of a world: added, read, and acting at the end of a step. */
#include "world/world.h"

static double along(talus_dvec3 x, int k) { return k == 0 ? x.x : k == 1 ? x.y : x.z; }

/* Bodies are seen by their nearest image: farther than half a period there would be two, and what
 * pushes one way would push the other way a moment later. */
static talus_status check_period(const talus_domain_def *domain, double radius) {
  for (int k = 0; k < 3 && domain->enabled; ++k) {
    const double period = along(domain->box.hi, k) - along(domain->box.lo, k);
    if (domain->periodic[k] && radius > 0.5 * period)
      return tl_fail(TALUS_ERROR_INVALID,
                     "a zone has a radius of %g m, and the domain a period of %g m along %c: half "
                     "of it is the most",
                     radius, period, "xyz"[k]);
  }
  return TALUS_OK;
}

talus_status tl_world_check_zone(const talus_world *world, const talus_zone_def *def) {
  return check_period(&world->model.domain, def->radius);
}

talus_status talus_world_add_zone(talus_world *world, const talus_zone_def *def, uint32_t *zone) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  uint64_t uid = 0;
  if (def->of == TALUS_ZONE_BODY) {
    uint32_t slot;
    TL_TRY(tl_world_slot(world, def->body, &slot));
    TL_TRY(tl_need(&world->where, TL_THE(uid), TL_READ));
    uid = world->model.property.uid[slot];
  }
  if (def->group > world->groups.count || def->with > world->groups.count)
    return tl_fail(TALUS_ERROR_INVALID,
                   "a zone is of group %u, and acts on group %u: there are %zu", def->group,
                   def->with, world->groups.count);
  TL_TRY(tl_world_check_zone(world, def));
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  TL_TRY(tl_need(&world->where, TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  TL_TRY(tl_flow_add_zone(&world->flow, def, uid, talus_world_time(world), zone));
  if (tl_zone_acts(&world->flow.zones.data[world->flow.zones.count - 1]))
    tl_changed(world, TL_CHANGED_LAWS, TL_EVERYBODY);
  return TALUS_OK;
}

talus_status talus_zone_read(talus_world *world, uint32_t zone, talus_zone_values *values) {
  TL_MAY_CHANGE(world);
  TL_NEED(values);
  if (zone >= world->flow.zones.count)
    return tl_fail(TALUS_ERROR_INVALID, "there is no zone number %u", zone);
  TL_TRY(tl_world_finish_step(world));
  tl_zone_finish(&world->flow.zones.data[zone], talus_world_time(world), values);
  return TALUS_OK;
}

talus_status talus_world_zone_events(talus_world *world, talus_zone_event *events, size_t capacity,
                                     size_t *count) {
  TL_MAY_CHANGE(world);
  TL_NEED(count);
  TL_TRY(tl_world_finish_step(world));
  *count = world->flow.events.count;
  const size_t n = *count < capacity ? *count : capacity;
  if (events && n > 0)
    memcpy(events, world->flow.events.data, n * sizeof *events);
  return TALUS_OK;
}

/* ---- a step ---------------------------------------------------------------------------------- */

bool tl_world_has_acting_zones(const talus_world *world) {
  bool acts = false;
  for (size_t i = 0; i < world->flow.zones.count; ++i)
    acts = acts || tl_zone_acts(&world->flow.zones.data[i]);
  return acts;
}

talus_status tl_world_find_bonds(talus_world *world, tl_pairs *bonds) {
  *bonds = (tl_pairs){0};
  if (!(world->model.sleep.speed > 0) || !tl_world_has_acting_zones(world))
    return TALUS_OK;
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  const tl_crowd crowd = {.model = &world->model,
                          .count = world->model.bodies,
                          .in = &world->state,
                          .out = &world->state,
                          .arena = &world->arena};
  return tl_flow_find_bonds(&world->flow, &crowd, bonds);
}

talus_status tl_world_act_zones(talus_world *world) {
  tl_unfinished_step *unfinished = &world->unfinished;
  if (world->flow.zones.count == 0)
    return TALUS_OK;
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  if (tl_world_has_acting_zones(world))
    TL_TRY(tl_need(&world->where, TL_THE(velocity) | TL_THE(position) | TL_THE_AFTERMATH,
                   TL_READ | TL_WRITE));
  const tl_crowd crowd = {.model = &world->model,
                          .count = world->model.bodies,
                          .t0 = unfinished->t0,
                          .t1 = world->time,
                          .dt = unfinished->dt,
                          .in = &world->state,
                          .out = &world->state,
                          .arena = &world->arena,
                          .flights = tl_flow_wants_flights(&world->flow) ? &world->flights : NULL};
  if (unfinished->zone == 0)
    world->zone_energy = 0, world->flow.events.count = 0;
  for (; unfinished->zone < world->flow.zones.count; ++unfinished->zone) {
    tl_zone_report report = {0};
    TL_TRY(tl_flow_zone(&world->flow, &crowd, unfinished->zone, &report));
    world->zone_energy += report.energy;
    world->zone_work += report.work;
    if (report.has_moved)
      tl_changed(world, TL_CHANGED_BY_ZONES, TL_EVERYBODY);
  }
  return TALUS_OK;
}
