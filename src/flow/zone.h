/* Zones: shared by the files of this folder. */
#ifndef TL_FLOW_ZONE_H
#define TL_FLOW_ZONE_H

#include "crowd/asleep.h"
#include "crowd/flights.h"
#include "flow/place.h"

/* A centre and a body near it. */
typedef struct tl_zone_pair {
  uint32_t centre; /* slot; TL_NONE: a fixed place */
  uint32_t body;
} tl_zone_pair;

typedef struct tl_zone_pairs {
  tl_zone_pair *data; /* in the arena; sorted by centre, then by body */
  size_t count;
  size_t centres;
  bool is_same; /* centres and bodies are one group: every pair is listed twice */
} tl_zone_pairs;

/* Finds the bodies within `reach` of each centre; reach >= the radius. */
talus_status tl_zone_find_pairs(const tl_zone *zone, const tl_crowd *crowd, double reach,
                                tl_zone_pairs *pairs);

/* Vector from the centre to the body's nearest image. */
static inline talus_dvec3 tl_zone_offset(const tl_zone *zone, const tl_crowd *crowd,
                                         tl_zone_pair pair) {
  const talus_dvec3 from = pair.centre == TL_NONE ? zone->at : crowd->out->position[pair.centre];
  return tl_model_offset(crowd->model, from, crowd->out->position[pair.body]);
}

static inline talus_dvec3 tl_zone_velocity(const tl_crowd *crowd, uint32_t slot) {
  return slot == TL_NONE ? tl_dvec3(0, 0, 0) : tl_widen(crowd->out->velocity[slot]);
}

/* Inverse mass (1/kg) along x, y and z; 0 for a place, for a body that cannot move, and on locked
 * axes. */
static inline talus_dvec3 tl_zone_inverse_mass(const tl_crowd *crowd, uint32_t slot) {
  if (slot == TL_NONE || tl_body_is_static(crowd->model, slot))
    return tl_dvec3(0, 0, 0);
  const uint32_t lock = crowd->model->property.flags[slot] & TL_FLAG_LOCKS;
  const double inverse = 1 / (double)crowd->model->property.mass[slot];
  return tl_dvec3(lock & TALUS_LOCK_X ? 0 : inverse, lock & TALUS_LOCK_Y ? 0 : inverse,
                  lock & TALUS_LOCK_Z ? 0 : inverse);
}

/* Averages by flights: ends the present flight of the body at the time (s before the end of the
 * step) when the zone reflects it. There must be room. */
static inline void tl_zone_end_flight(const tl_crowd *crowd, uint32_t slot, double s) {
  tl_flights *flights = crowd->flights;
  if (!flights || flights->since.count != crowd->count || tl_body_is_static(crowd->model, slot))
    return;
  const talus_dvec3 v = tl_widen(crowd->out->velocity[slot]);
  const talus_dvec3 x = tl_dsub(crowd->out->position[slot], tl_dscale(v, s));
  const bool is_falling = crowd->model->step == TALUS_STEP_EVENT;
  const talus_dvec3 fall = is_falling ? tl_widen(crowd->model->gravity) : tl_dvec3(0, 0, 0);
  const double end = crowd->dt - s, span = end - flights->since.data[slot];
  if (!(span > 0)) /* it has hit something since then */
    return;
  flights->rows.data[flights->rows.count++] = tl_flight_of(x, v, fall, span, slot);
  flights->since.data[slot] = end;
}

/* zone_sleep.c. Wakes sleeping bodies that an awake body pulls or pushes, or that do so to it. */
void tl_zone_rouse(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs);
/* Wakes a body if it sleeps. */
static inline void tl_zone_wake(const tl_crowd *crowd, uint32_t slot) {
  if (slot != TL_NONE && tl_is_asleep(crowd->out, slot))
    crowd->out->sleep_flags[slot] = 0;
}

/* Applies the forces of all pairs to velocities. forces: memory for one per row. */
void tl_zone_push(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs,
                  talus_dvec3 *forces, tl_zone_report *report);

/* Reflects bodies at shells and boundaries, pair by pair. */
void tl_zone_reflect(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs,
                     tl_zone_report *report);

/* tl_zone_reserve_events takes memory for all entries and exits; the second function, which lists
 * them, cannot fail then. */
talus_status tl_zone_reserve_events(tl_flow *flow, size_t pairs);
void tl_zone_trigger(tl_flow *flow, const tl_crowd *crowd, size_t row, const tl_zone_pairs *pairs);

#endif
