/* Zones: their definition, and one zone in a step. */
#include "flow/zone.h"

#include <math.h>

talus_zone_def talus_zone_def_default(void) { return (talus_zone_def){.radius = 1}; }

/* ---- definitions ----------------------------------------------------------------------------- */

static talus_status check_force(const talus_zone_def *def, const char *what) {
  if (!tl_is_finite_d(def->strength) || !tl_is_finite_d(def->power) || !(def->power >= 0) ||
      def->power > 1000)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a force of %g N with power %g; both must be finite, the power 0 to 1000",
                   what, def->strength, def->power);
  return TALUS_OK;
}

talus_status tl_zone_check(const talus_zone_def *def, const char *what) {
  if ((unsigned)def->of > TALUS_ZONE_GROUP || (unsigned)def->shell > TALUS_ZONE_SOFT)
    return tl_fail(TALUS_ERROR_INVALID, "%s: unknown kind of zone or shell", what);
  if (!(def->radius > 0) || !tl_is_finite_d(def->radius))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the radius is %g m; a zone, and a force that must end somewhere, has a "
                   "positive one",
                   what, def->radius);
  if (def->of == TALUS_ZONE_PLACE &&
      (!tl_is_finite_d(def->at.x) || !tl_is_finite_d(def->at.y) || !tl_is_finite_d(def->at.z)))
    return tl_fail(TALUS_ERROR_INVALID, "%s: its place is not finite", what);
  if (def->boundary && (def->of == TALUS_ZONE_GROUP || def->shell != TALUS_ZONE_OPEN))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a boundary is about a place or a body, and without a shell", what);
  if (def->of == TALUS_ZONE_GROUP && def->group == 0)
    return tl_fail(TALUS_ERROR_INVALID, "%s: bodies without a group are no group", what);
  return check_force(def, what);
}

talus_status tl_flow_add_zone(tl_flow *flow, const talus_zone_def *def, uint64_t uid, double now,
                              uint32_t *zone) {
  const tl_flow_label what = tl_flow_describe("zone", def->name, flow->zones.count);
  TL_TRY(tl_zone_check(def, what.text));
  for (size_t i = 0; i < flow->zones.count && def->name; ++i)
    if (flow->zones.data[i].name && strcmp(flow->zones.data[i].name, def->name) == 0)
      return tl_fail(TALUS_ERROR_INVALID, "%s: there is a zone of that name already", what.text);
  TL_TRY(tl_array_reserve(&flow->zones, flow->zones.count + 1));
  tl_zone fresh = {.of = (uint32_t)def->of,
                   .shell = (uint32_t)def->shell,
                   .group = def->of == TALUS_ZONE_GROUP ? def->group : 0,
                   .with = def->with,
                   .uid = uid,
                   .radius = def->radius,
                   .strength = def->strength,
                   .power = def->power,
                   .boundary = def->boundary,
                   .trigger = def->trigger,
                   .from = now};
  if (def->of == TALUS_ZONE_PLACE)
    fresh.at = def->at;
  if (def->of == TALUS_ZONE_GROUP && def->with == 0)
    fresh.with = def->group;
  TL_TRY(tl_flow_copy_name(&fresh.name, def->name));
  if (zone)
    *zone = (uint32_t)flow->zones.count;
  flow->zones.data[flow->zones.count++] = fresh;
  return TALUS_OK;
}

/* ---- one step -------------------------------------------------------------------------------- */

/* Distance within which bodies may have crossed the border within the step. */
static double reach_of(const tl_zone *zone, const tl_crowd *crowd) {
  double fastest = 0;
  for (size_t i = 0; i < crowd->count && zone->boundary; ++i)
    fastest = fmax(fastest, (double)tl_length2(crowd->out->velocity[i]));
  return zone->radius + 2 * crowd->dt * sqrt(fastest);
}

/* Keeps the pairs within the radius; the list has slightly more. */
static void keep_within(const tl_zone *zone, const tl_crowd *crowd, tl_zone_pairs *pairs) {
  const double most = zone->radius * zone->radius;
  size_t kept = 0;
  for (size_t i = 0; i < pairs->count; ++i) {
    const talus_dvec3 d = tl_zone_offset(zone, crowd, pairs->data[i]);
    if (tl_ddot(d, d) <= most)
      pairs->data[kept++] = pairs->data[i];
  }
  pairs->count = kept;
}

static void add_up(tl_zone *zone, double dt, const tl_zone_pairs *pairs, double energy) {
  zone->weight += dt;
  zone->inside += dt * (double)pairs->count;
  if (pairs->centres > 0)
    zone->neighbours += dt * (double)pairs->count / (double)pairs->centres;
  zone->energy += dt * energy;
}

talus_status tl_flow_zone(tl_flow *flow, const tl_crowd *crowd, size_t row,
                          tl_zone_report *report) {
  tl_zone *zone = &flow->zones.data[row];
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  const double before = report->energy;
  tl_zone_pairs pairs;
  talus_dvec3 *forces;
  TL_TRY(tl_zone_find_pairs(zone, crowd, reach_of(zone, crowd), &pairs));
  TL_TAKE(crowd->arena, zone->strength != 0 ? crowd->count : 0, &forces);
  if (zone->trigger)
    TL_TRY(tl_zone_reserve_events(flow, pairs.count));
  if (crowd->flights)
    TL_TRY(tl_array_reserve(&crowd->flights->rows,
                            crowd->flights->rows.count + 2 * pairs.count + crowd->count));
  if (zone->shell != TALUS_ZONE_OPEN || zone->boundary)
    tl_zone_reflect(zone, crowd, &pairs, report);
  if (zone->boundary || zone->shell == TALUS_ZONE_SOFT)
    keep_within(zone, crowd, &pairs);
  tl_zone_rouse(zone, crowd, &pairs);
  if (zone->strength != 0)
    tl_zone_push(zone, crowd, &pairs, forces, report);
  add_up(zone, crowd->dt, &pairs, report->energy - before);
  if (zone->trigger)
    tl_zone_trigger(flow, crowd, row, &pairs);
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* ---- the end of an interval ------------------------------------------------------------------ */

void tl_zone_finish(tl_zone *zone, double now, talus_zone_values *values) {
  const double scale = zone->weight > 0 ? 1 / zone->weight : 0;
  *values = (talus_zone_values){.from = zone->from,
                                .to = now,
                                .inside = zone->inside * scale,
                                .neighbours = zone->neighbours * scale,
                                .entered = zone->entered,
                                .left = zone->left,
                                .mass_in = zone->mass[0],
                                .mass_out = zone->mass[1],
                                .energy_in = zone->kinetic[0],
                                .energy_out = zone->kinetic[1],
                                .dwell = zone->left > 0 ? zone->dwell / (double)zone->left : 0,
                                .energy = zone->energy * scale};
  zone->inside = zone->neighbours = zone->energy = zone->dwell = zone->weight = 0;
  zone->mass[0] = zone->mass[1] = zone->kinetic[0] = zone->kinetic[1] = 0;
  zone->entered = zone->left = 0;
  zone->from = now;
}
