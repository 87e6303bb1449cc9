/* Impacts of two bodies: equal and opposite impulses along the line of centres. */
#include "base/sort.h"
#include "crowd/flights.h"
#include "kernels/elastic.h"
#include "step/event/event.h"

#include <math.h>

/* Stores an impulse on b, direction from a to b; slot_a and slot_b may be in any order. */
static talus_status note(const tl_events *events, uint32_t slot_a, uint32_t slot_b,
                         uint32_t feature_a, talus_dvec3 point, talus_dvec3 normal,
                         double impulse) {
  tl_contacts *contacts = events->crowd->contacts_after;
  const bool is_turned = slot_a > slot_b;
  const talus_dvec3 n = is_turned ? tl_dscale(normal, -1) : normal;
  TL_TRY(tl_array_reserve(contacts, contacts->count + 1));
  contacts->data[contacts->count++] = (tl_contact){.a = is_turned ? slot_b : slot_a,
                                                   .b = is_turned ? slot_a : slot_b,
                                                   .feature_a = is_turned ? 0 : feature_a,
                                                   .feature_b = is_turned ? feature_a : 0,
                                                   .point = point,
                                                   .normal = tl_narrow(n),
                                                   .impulse = tl_narrow(tl_dscale(n, impulse))};
  return TALUS_OK;
}

/* Sums the flight of flyer i. Call before an impact changes its velocity. */
static talus_status note_flight(const tl_events *events, uint32_t i, double tau) {
  tl_flights *flights = events->crowd->flights;
  if (!flights)
    return TALUS_OK;
  const uint32_t slot = events->bodies[i].slot;
  const tl_flyer *f = &events->flyers[i];
  const double span = tau - flights->since.data[slot];
  flights->since.data[slot] = tau;
  return tl_array_push(&flights->rows, tl_flight_of(f->x, f->v, events->fall, span, slot));
}

static double restitution_of(const tl_events *events, uint32_t slot_a, uint32_t slot_b) {
  return (double)tl_model_law(events->crowd->model, slot_a, slot_b)->restitution;
}

static void wait(tl_events *events, uint32_t i) {
  tl_event_queue_set(&events->queue, i, fmin(events->plans[i].hit, events->plans[i].cross));
}

static talus_status strike_wall(tl_events *events, uint32_t i, double tau) {
  const uint32_t wall = events->plans[i].partner & ~TL_EVENT_WALL;
  const tl_event_wall *w = &events->walls[wall];
  const tl_flyer_body *body = &events->bodies[i];
  tl_events_move(events, i, tau);
  tl_flyer *f = &events->flyers[i];
  talus_dvec3 n;
  const bool touches = tl_events_off_wall(events, i, wall, tau, &n);
  const double approach = -tl_ddot(tl_dsub(f->v, w->velocity), n);
  if (approach > 0 && touches) {
    const double restitution = restitution_of(events, body->slot, w->slot);
    const double change = approach + tl_elastic_rebound(approach, restitution, events->slowest);
    const double before = tl_ddot(f->v, n);
    TL_TRY(note_flight(events, i, tau));
    f->v = tl_dadd(f->v, tl_dscale(n, change));
    tl_tally_add(&events->work, body->mass * change * (before + 0.5 * change));
    events->plans[i].hits++;
    events->impacts++;
    TL_TRY(note(events, w->slot, body->slot, w->feature, tl_dsub(f->x, tl_dscale(n, f->radius)), n,
                body->mass * change));
  }
  tl_events_plan(events, i, tau);
  wait(events, i);
  return TALUS_OK;
}

static talus_status strike_pair(tl_events *events, uint32_t i, uint32_t k, double tau) {
  tl_events_move(events, i, tau);
  tl_events_move(events, k, tau);
  tl_flyer *a = &events->flyers[i], *b = &events->flyers[k];
  const tl_flyer_body *body_a = &events->bodies[i], *body_b = &events->bodies[k];
  talus_dvec3 d = tl_dsub(b->x, a->x);
  d.x = tl_event_nearest(&events->cells, 0, d.x);
  d.y = tl_event_nearest(&events->cells, 1, d.y);
  d.z = tl_event_nearest(&events->cells, 2, d.z);
  const double far = tl_dlength(d);
  const talus_dvec3 n = tl_dscale(d, 1 / far);
  const double approach = -tl_ddot(tl_dsub(b->v, a->v), n);
  if (approach > 0) {
    const double restitution = restitution_of(events, body_a->slot, body_b->slot);
    const double rebound = tl_elastic_rebound(approach, restitution, events->slowest);
    const double sum = body_a->mass + body_b->mass, change = approach + rebound;
    const double impulse = body_a->mass * (body_b->mass / sum) * change;
    TL_TRY(note_flight(events, i, tau));
    TL_TRY(note_flight(events, k, tau));
    a->v = tl_dsub(a->v, tl_dscale(n, body_b->mass / sum * change));
    b->v = tl_dadd(b->v, tl_dscale(n, body_a->mass / sum * change));
    if (rebound < approach)
      tl_tally_add(&events->work, -0.5 * impulse * (approach - rebound));
    events->virial += impulse * far;
    events->plans[i].hits++;
    events->plans[k].hits++;
    events->impacts++;
    TL_TRY(note(events, body_a->slot, body_b->slot, 0,
                body_a->slot < body_b->slot ? tl_dadd(a->x, tl_dscale(n, a->radius))
                                            : tl_dsub(b->x, tl_dscale(n, b->radius)),
                n, impulse));
  }
  tl_events_plan(events, i, tau);
  tl_events_plan(events, k, tau);
  wait(events, i);
  wait(events, k);
  return TALUS_OK;
}

talus_status tl_events_strike(tl_events *events, uint32_t i, double tau) {
  const tl_plan *plan = &events->plans[i];
  if (plan->partner & TL_EVENT_WALL)
    return strike_wall(events, i, tau);
  if (events->plans[plan->partner].hits == plan->partner_hits)
    return strike_pair(events, i, plan->partner, tau);
  tl_events_plan(events, i, tau);
  wait(events, i);
  return TALUS_OK;
}

/* ---- contacts -------------------------------------------------------------------------------- */

static bool is_same(const tl_contact *x, const tl_contact *y) {
  return tl_contact_compare(x->a, x->b, x->feature_a, x->feature_b, y) == 0;
}

/* Inserts the impact into the contacts of its pair, which are few, ascending by feature. */
static void merge(tl_contact *row, size_t first, size_t *count, const tl_contact *c) {
  size_t at = *count;
  while (at > first && tl_contact_compare(c->a, c->b, c->feature_a, c->feature_b, &row[at - 1]) < 0)
    at--;
  if (at > first && is_same(c, &row[at - 1])) {
    const talus_vec3 sum = tl_add(row[at - 1].impulse, c->impulse);
    row[at - 1] = *c;
    row[at - 1].impulse = sum;
    return;
  }
  memmove(&row[at + 1], &row[at], (*count - at) * sizeof *row);
  row[at] = *c;
  ++*count;
}

talus_status tl_events_sort_contacts(const tl_events *events) {
  const tl_crowd *crowd = events->crowd;
  tl_contacts *contacts = crowd->contacts_after;
  const size_t n = contacts->count;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  uint64_t *keys;
  uint32_t *order;
  tl_contact *sorted;
  TL_TAKE(crowd->arena, n, &keys);
  TL_TAKE(crowd->arena, n, &order);
  TL_TAKE(crowd->arena, n, &sorted);
  const int bits = tl_bits_u64(crowd->count);
  for (size_t i = 0; i < n; ++i) {
    keys[i] = (uint64_t)contacts->data[i].a << bits | contacts->data[i].b;
    order[i] = (uint32_t)i;
  }
  TL_TRY(tl_sort_u64(&crowd->model->par, crowd->arena, keys, order, n, 2 * bits));
  size_t count = 0, first = 0;
  for (size_t i = 0; i < n; ++i) {
    if (i > 0 && keys[i] != keys[i - 1])
      first = count;
    merge(sorted, first, &count, &contacts->data[order[i]]);
  }
  if (count > 0)
    memcpy(contacts->data, sorted, count * sizeof *sorted);
  contacts->count = count;
  if (contacts->recent < n)
    contacts->recent = n;
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
