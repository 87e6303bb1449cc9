/* Zones beside sleep. A force about a place, or about a body that stays where it is, is like
 * gravity to who sleeps: it lies in balance with it. Where two free bodies feel each other's force
 * they fall asleep and wake together, as if a joint led from one to the other. */
#include "flow/zone.h"

bool tl_zone_acts(const tl_zone *zone) {
  return zone->strength != 0 || zone->shell != TALUS_ZONE_OPEN || zone->boundary;
}

void tl_zone_rouse(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs) {
  if (zone->strength == 0 || !crowd->out->sleep_flags)
    return;
  bool is_news = true; /* a body that wakes may wake others, in pairs that were visited before */
  while (is_news) {
    is_news = false;
    for (size_t i = 0; i < pairs->count; ++i) {
      const uint32_t slot =
          tl_find_disturbed(crowd->model, crowd->out, pairs->data[i].centre, pairs->data[i].body);
      tl_zone_wake(crowd, slot);
      is_news = is_news || slot != TL_NONE;
    }
  }
}

static bool bonds(const tl_zone *zone) {
  return zone->strength != 0 && zone->of != TALUS_ZONE_PLACE;
}

talus_status tl_flow_find_bonds(const tl_flow *flow, const tl_crowd *crowd, tl_pairs *all) {
  *all = (tl_pairs){0};
  for (size_t row = 0; row < flow->zones.count; ++row) {
    const tl_zone *zone = &flow->zones.data[row];
    tl_zone_pairs pairs;
    tl_pair *more;
    if (!bonds(zone))
      continue;
    TL_TRY(tl_zone_find_pairs(zone, crowd, zone->radius, &pairs));
    TL_TAKE(crowd->arena, all->count + pairs.count, &more);
    if (all->count > 0)
      memcpy(more, all->data, all->count * sizeof *more);
    for (size_t i = 0; i < pairs.count; ++i)
      more[all->count + i] = (tl_pair){pairs.data[i].centre, pairs.data[i].body};
    *all = (tl_pairs){more, all->count + pairs.count};
  }
  return TALUS_OK;
}

/* ---- pairs, one by one ----------------------------------------------------------------------- */

static bool is_of_group(const tl_model *model, uint32_t slot, uint32_t group) {
  return !tl_body_is_static(model, slot) && (group == 0 || model->property.group[slot] == group);
}

static bool is_centre(const tl_zone *zone, const tl_model *model, uint32_t slot) {
  return zone->of == TALUS_ZONE_BODY ? model->property.uid[slot] == zone->uid
                                     : is_of_group(model, slot, zone->group);
}

static bool pulls(const tl_zone *zone, const tl_model *model, uint32_t centre, uint32_t body) {
  return is_centre(zone, model, centre) && is_of_group(model, body, zone->with);
}

tl_flow_bond tl_flow_bond_of(const tl_flow *flow, const tl_model *model, uint32_t slot) {
  tl_flow_bond bond = TL_BOND_NONE;
  for (size_t row = 0; row < flow->zones.count; ++row) {
    const tl_zone *zone = &flow->zones.data[row];
    if (!bonds(zone))
      continue;
    if (zone->of == TALUS_ZONE_BODY && is_centre(zone, model, slot))
      return TL_BOND_OF_BODY;
    if (is_centre(zone, model, slot) || is_of_group(model, slot, zone->with))
      bond = TL_BOND_OF_GROUP;
  }
  return bond;
}

bool tl_flow_is_bound(const tl_flow *flow, const tl_model *model, const tl_state *state, uint32_t a,
                      uint32_t b, bool anywhere) {
  for (size_t row = 0; row < flow->zones.count; ++row) {
    const tl_zone *zone = &flow->zones.data[row];
    if (!bonds(zone) || !(pulls(zone, model, a, b) || pulls(zone, model, b, a)))
      continue;
    const talus_dvec3 d = tl_model_offset(model, state->position[a], state->position[b]);
    if (anywhere || tl_ddot(d, d) <= zone->radius * zone->radius)
      return true;
  }
  return false;
}
