/* Zones: what their parts share. Private to this folder. */
#ifndef TL_FLOW_ZONE_H
#define TL_FLOW_ZONE_H

#include "crowd/asleep.h"
#include "crowd/flights.h"
#include "flow/place.h"

/* A centre and a body near it. */
typedef struct tl_zone_pair {
  uint32_t centre; /* slot; TL_NONE: a place */
  uint32_t body;
} tl_zone_pair;

typedef struct tl_zone_pairs {
  tl_zone_pair *data; /* in the arena: by centre, then by body, both ascending */
  size_t count;
  size_t centres;
  bool is_same; /* centres and bodies are one group: every pair is there twice */
} tl_zone_pairs;

/* Bodies within `reach` of each centre, which is no less than the radius. */
talus_status tl_zone_find_pairs(const tl_zone *zone, const tl_crowd *crowd, double reach,
                                tl_zone_pairs *pairs);

/* From the centre to the body, by the nearest image. */
static inline talus_dvec3 tl_zone_offset(const tl_zone *zone, const tl_crowd *crowd,
                                         tl_zone_pair pair) {
  const talus_dvec3 from = pair.centre == TL_NONE ? zone->at : crowd->out->position[pair.centre];
  return tl_model_offset(crowd->model, from, crowd->out->position[pair.body]);
}

static inline talus_dvec3 tl_zone_velocity(const tl_crowd *crowd, uint32_t slot) {
  return slot == TL_NONE ? tl_dvec3(0, 0, 0) : tl_widen(crowd->out->velocity[slot]);
}

/* 1/kg, along x, y and z; 0 for a place, for what nothing moves, and along locked axes. */
static inline talus_dvec3 tl_zone_inverse_mass(const tl_crowd *crowd, uint32_t slot) {
  if (slot == TL_NONE || tl_body_is_static(crowd->model, slot))
    return tl_dvec3(0, 0, 0);
  const uint32_t lock = crowd->model->property.flags[slot] & TL_FLAG_LOCKS;
  const double inverse = 1 / (double)crowd->model->property.mass[slot];
  return tl_dvec3(lock & TALUS_LOCK_X ? 0 : inverse, lock & TALUS_LOCK_Y ? 0 : inverse,
                  lock & TALUS_LOCK_Z ? 0 : inverse);
}

/* Averages by flights: the flight that the body is on ended s before the end of the step, where the
 * zone turns it; there is room for it. */
static inline void tl_zone_end_flight(const tl_crowd *crowd, uint32_t slot, double s) {
  tl_flights *flights = crowd->flights;
  if (!flights || flights->since.count != crowd->count || tl_body_is_static(crowd->model, slot))
    return;
  const talus_dvec3 v = tl_widen(crowd->out->velocity[slot]);
  const talus_dvec3 x = tl_dsub(crowd->out->position[slot], tl_dscale(v, s));
  const bool is_falling = crowd->model->step == TALUS_STEP_EVENT;
  const talus_dvec3 fall = is_falling ? tl_widen(crowd->model->gravity) : tl_dvec3(0, 0, 0);
  const double end = crowd->dt - s, span = end - flights->since.data[slot];
  if (!(span > 0)) /* it hit something since it was there */
    return;
  flights->rows.data[flights->rows.count++] = tl_flight_of(x, v, fall, span, slot);
  flights->since.data[slot] = end;
}

/* zone_sleep.c. Wakes who sleeps and feels the force of one that does not, or gives it one. */
void tl_zone_rouse(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs);
/* Wakes who sleeps. */
static inline void tl_zone_wake(const tl_crowd *crowd, uint32_t slot) {
  if (slot != TL_NONE && tl_is_asleep(crowd->out, slot))
    crowd->out->sleep_flags[slot] = 0;
}

/* Forces of all pairs: velocities change by them. forces: room for one per row. */
void tl_zone_push(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs,
                  talus_dvec3 *forces, tl_zone_report *report);

/* Shells and boundaries reflect, pair by pair. */
void tl_zone_reflect(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs,
                     tl_zone_report *report);

/* Room for who comes and who goes, then both: nothing fails behind the first. */
talus_status tl_zone_reserve_events(tl_flow *flow, size_t pairs);
void tl_zone_trigger(tl_flow *flow, const tl_crowd *crowd, size_t row, const tl_zone_pairs *pairs);

#endif
