/* Plans: the first thing that a flyer touches, and when it leaves its cell. */
#include "base/cancel.h"
#include "kernels/elastic.h"
#include "step/event/event.h"

void tl_events_move(const tl_events *events, uint32_t i, double tau) {
  tl_flyer *f = &events->flyers[i];
  const double s = tau - f->t;
  f->x = tl_dadd(f->x, tl_dscale(f->v, s));
  if (events->is_falling) {
    f->x = tl_dadd(f->x, tl_dscale(events->fall, 0.5 * s * s));
    f->v = tl_dadd(f->v, tl_dscale(events->fall, s));
  }
  f->t = tau;
}

/* ---- impacts --------------------------------------------------------------------------------- */

static bool is_ignored(const tl_events *events, uint32_t slot_a, uint32_t slot_b) {
  const uint32_t *group = events->crowd->model->property.group;
  return tl_model_ignores(events->crowd->model, group[slot_a], group[slot_b]);
}

static void take(tl_plan *plan, double when, uint32_t partner) {
  plan->hit = when;
  plan->partner = partner;
}

/* Stores the partner's number of impacts, once the partner is known. */
static void take_hits(const tl_events *events, tl_plan *plan) {
  if (plan->partner < TL_EVENT_WALL)
    plan->partner_hits = events->plans[plan->partner].hits;
}

/* Considers a meeting of flyer i, at its position of tau, with k; `shift` leads to the image of
 * k. */
static void consider(const tl_events *events, uint32_t i, uint32_t k, talus_dvec3 shift,
                     double tau) {
  const tl_flyer *a = &events->flyers[i], *b = &events->flyers[k];
  tl_plan *plan = &events->plans[i];
  const double s = tau - b->t;
  talus_dvec3 d = tl_dadd(tl_dsub(b->x, a->x), tl_dadd(tl_dscale(b->v, s), shift));
  talus_dvec3 u = tl_dsub(b->v, a->v);
  if (events->is_falling) {
    d = tl_dadd(d, tl_dscale(events->fall, 0.5 * s * s));
    u = tl_dadd(u, tl_dscale(events->fall, s));
  }
  const double when = tau + tl_elastic_meet(d, u, a->radius + b->radius);
  if (when < plan->hit && when <= events->span &&
      !(events->has_ignored && is_ignored(events, events->bodies[i].slot, events->bodies[k].slot)))
    take(plan, when, k);
}

static void consider_walls(const tl_events *events, uint32_t i, double tau) {
  if (events->wall_count == 0)
    return;
  const tl_event_cells *cells = &events->cells;
  tl_plan *plan = &events->plans[i];
  const size_t cell = tl_event_cell(cells, plan->at);
  for (uint32_t w = cells->wall_start[cell]; w < cells->wall_start[cell + 1]; ++w) {
    const uint32_t wall = cells->wall_list[w];
    const double when = tl_events_meet_wall(events, i, wall, tau);
    if (when < plan->hit && when <= events->span &&
        !(events->has_ignored &&
          is_ignored(events, events->bodies[i].slot, events->walls[wall].slot)))
      take(plan, when, TL_EVENT_WALL | wall);
  }
}

/* Gathers flyers of several cells before testing them, so that their cache lines arrive
 * meanwhile. */
#define CROWD 64
typedef struct crowd {
  uint32_t who[CROWD];
  int count;
} crowd;

static void look(const tl_events *events, uint32_t i, double tau, talus_dvec3 shift, crowd *near) {
  for (int k = 0; k < near->count; ++k)
    consider(events, i, near->who[k], shift, tau);
  near->count = 0;
}

static inline void gather(const tl_events *events, uint32_t i, double tau, uint32_t first,
                          talus_dvec3 shift, crowd *near) {
  for (uint32_t k = first; k != TL_NONE; k = events->next[k]) {
    if (k == i)
      continue;
    __builtin_prefetch(&events->flyers[k]);
    near->who[near->count++] = k;
    if (near->count == CROWD)
      look(events, i, tau, shift, near);
  }
}

/* The 27 cells around one have number 9 z + 3 y + x with x, y, z = 0, 1, 2; 13 is the cell itself.
 * Lists of them: all; the second half, which is enough at the begin because every flyer searches;
 * and those that come into reach when a flyer crosses a side of its cell. */
#define AROUND(base, dx, dy)                                                                       \
  base, base + dx, base + 2 * dx, base + dy, base + dx + dy, base + 2 * dx + dy, base + 2 * dy,    \
      base + dx + 2 * dy, base + 2 * dx + 2 * dy
static const uint8_t all_cells[27] = {AROUND(0, 1, 3), AROUND(9, 1, 3), AROUND(18, 1, 3)};
static const uint8_t first_cells[14] = {13, 14, 15, 16, 17, AROUND(18, 1, 3)};
static const uint8_t side_cells[6][9] = {{AROUND(0, 3, 9)}, {AROUND(2, 3, 9)}, {AROUND(0, 1, 9)},
                                         {AROUND(6, 1, 9)}, {AROUND(0, 1, 3)}, {AROUND(18, 1, 3)}};
#undef AROUND

/* The cell with that number around the flyer's, or NULL; *shift leads to its image. */
static const uint32_t *find_cell(const tl_events *events, uint32_t i, int number,
                                 talus_dvec3 *shift) {
  const tl_event_cells *cells = &events->cells;
  const int step[3] = {number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1};
  uint16_t at[3];
  *shift = tl_dvec3(0, 0, 0);
  for (int axis = 0; axis < 3; ++axis) {
    int j = events->plans[i].at[axis] + step[axis];
    const int n = cells->n[axis];
    if (j < 0 || j >= n) {
      if (!cells->periodic[axis])
        return NULL;
      *tl_dvec3_axis(shift, axis) = j < 0 ? -cells->length[axis] : cells->length[axis];
      j += j < 0 ? n : -n;
    }
    at[axis] = (uint16_t)j;
  }
  return &cells->head[tl_event_cell(cells, at)];
}

static bool is_inner(const tl_event_cells *cells, const uint16_t at[3]) {
  return at[0] > 0 && at[0] + 1 < cells->n[0] && at[1] > 0 && at[1] + 1 < cells->n[1] &&
         at[2] > 0 && at[2] + 1 < cells->n[2];
}

void tl_events_prefetch(const tl_events *events, uint32_t i) {
  const tl_event_cells *cells = &events->cells;
  const tl_plan *plan = &events->plans[i];
  if (!is_inner(cells, plan->at))
    return;
  const size_t own = tl_event_cell(cells, plan->at);
  for (int k = 0; k < 27; ++k)
    if (tl_event_cell_is_used(cells, own + (size_t)cells->offset[k]))
      __builtin_prefetch(&cells->head[own + (size_t)cells->offset[k]]);
  if (plan->partner < TL_EVENT_WALL) {
    __builtin_prefetch(&events->plans[plan->partner]);
    __builtin_prefetch(&events->flyers[plan->partner]);
  }
}

/* is_first: in the flyer's own cell, only flyers behind it in the list. */
static void consider_cells(const tl_events *events, uint32_t i, double tau, const uint8_t *list,
                           int count, bool is_first) {
  const tl_event_cells *cells = &events->cells;
  const tl_plan *plan = &events->plans[i];
  const talus_dvec3 none = {0, 0, 0};
  crowd near;
  near.count = 0;
  if (is_inner(cells, plan->at)) {
    const size_t own = tl_event_cell(cells, plan->at);
    uint32_t cell[27];
    int used = 0;
    for (int k = 0; k < count; ++k) {
      const size_t c = own + (size_t)cells->offset[list[k]];
      cell[used] = (uint32_t)c;
      used += tl_event_cell_is_used(cells, c);
    }
    for (int k = 0; k < used; ++k)
      __builtin_prefetch(&cells->head[cell[k]]);
    for (int k = 0; k < used; ++k)
      gather(events, i, tau, is_first && cell[k] == own ? events->next[i] : cells->head[cell[k]],
             none, &near);
    look(events, i, tau, none, &near);
    return;
  }
  for (int k = 0; k < count; ++k) {
    talus_dvec3 shift;
    const uint32_t *head = find_cell(events, i, list[k], &shift);
    if (!head)
      continue;
    gather(events, i, tau, is_first && list[k] == 13 ? events->next[i] : *head, shift, &near);
    look(events, i, tau, shift, &near);
  }
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* When the flyer, at its position of tau, leaves its cell, and through which side. */
static void plan_crossing(const tl_events *events, uint32_t i, double tau) {
  const tl_event_cells *cells = &events->cells;
  const tl_flyer *f = &events->flyers[i];
  tl_plan *plan = &events->plans[i];
  const double x[3] = {f->x.x, f->x.y, f->x.z}, v[3] = {f->v.x, f->v.y, f->v.z};
  const double fall[3] = {events->fall.x, events->fall.y, events->fall.z};
  double first = INFINITY;
  for (int axis = 0; axis < 3; ++axis) {
    const int at = plan->at[axis];
    const bool has_low = at > 0 || cells->periodic[axis];
    const bool has_high = at < cells->n[axis] - 1 || cells->periodic[axis];
    const double low = x[axis] - (cells->lo[axis] + at * cells->width[axis]);
    const double high = cells->lo[axis] + (at + 1) * cells->width[axis] - x[axis];
    const double a = fall[axis];
    double down = INFINITY, up = INFINITY;
    if (has_low && (v[axis] < 0 || a < 0))
      down = tl_elastic_fall(low, v[axis], a, 0);
    if (has_high && (v[axis] > 0 || a > 0))
      up = tl_elastic_fall(high, -v[axis], -a, 0);
    if (down < first)
      first = down, plan->side = (uint8_t)(2 * axis);
    if (up < first)
      first = up, plan->side = (uint8_t)(2 * axis + 1);
  }
  plan->cross = tau + first;
}

static void leave_cell(const tl_events *events, uint32_t i) {
  const tl_event_cells *cells = &events->cells;
  const tl_plan *plan = &events->plans[i];
  const uint32_t next = events->next[i];
  if (plan->prev == TL_NONE) {
    const size_t cell = tl_event_cell(cells, plan->at);
    cells->head[cell] = next;
    if (next == TL_NONE)
      cells->used[cell / 64] &= ~(UINT64_C(1) << cell % 64);
  } else {
    events->next[plan->prev] = next;
  }
  if (next != TL_NONE)
    events->plans[next].prev = plan->prev;
}

static void enter_cell(const tl_events *events, uint32_t i) {
  const tl_event_cells *cells = &events->cells;
  tl_plan *plan = &events->plans[i];
  const size_t cell = tl_event_cell(cells, plan->at);
  const uint32_t next = cells->head[cell];
  plan->prev = TL_NONE;
  events->next[i] = next;
  if (next != TL_NONE)
    events->plans[next].prev = i;
  cells->head[cell] = i;
  cells->used[cell / 64] |= UINT64_C(1) << cell % 64;
}

void tl_events_cross(const tl_events *events, uint32_t i, double tau) {
  const tl_event_cells *cells = &events->cells;
  tl_plan *plan = &events->plans[i];
  const int axis = plan->side >> 1, n = cells->n[axis];
  const bool is_up = plan->side & 1;
  leave_cell(events, i);
  tl_events_move(events, i, tau);
  int at = plan->at[axis] + (is_up ? 1 : -1);
  if (at < 0 || at >= n) {
    at = is_up ? 0 : n - 1;
    *tl_dvec3_axis(&events->flyers[i].x, axis) +=
        is_up ? -cells->length[axis] : cells->length[axis];
  }
  plan->at[axis] = (uint16_t)at;
  enter_cell(events, i);
  const uint32_t partner = plan->partner;
  consider_cells(events, i, tau, side_cells[plan->side], 9, false);
  consider_walls(events, i, tau);
  if (plan->partner != partner)
    take_hits(events, plan);
  plan_crossing(events, i, tau);
}

/* ---- whole plans ----------------------------------------------------------------------------- */

static void plan_from(const tl_events *events, uint32_t i, double tau, bool is_first) {
  events->plans[i].hit = INFINITY;
  events->plans[i].partner = TL_NONE;
  if (is_first)
    consider_cells(events, i, tau, first_cells, 14, true);
  else
    consider_cells(events, i, tau, all_cells, 27, false);
  consider_walls(events, i, tau);
  take_hits(events, &events->plans[i]);
  plan_crossing(events, i, tau);
}

void tl_events_plan(const tl_events *events, uint32_t i, double tau) {
  tl_events_move(events, i, tau);
  plan_from(events, i, tau, false);
}

static void plan_range(void *context, size_t begin, size_t end) {
  const tl_events *events = context;
  for (size_t i = begin; i < end; ++i) {
    if (i % 1024 == 0 && tl_cancel_look(events->crowd->cancel))
      return;
    plan_from(events, (uint32_t)i, 0, true);
  }
}

talus_status tl_events_plan_all(tl_events *events) {
  tl_for(&events->crowd->model->par, events->count, 256, plan_range, events);
  TL_GO_ON(events->crowd->cancel); /* otherwise some flyers have no plan */
  TL_TRY(tl_event_queue_make(&events->queue, events->crowd->arena, events->plans, events->count,
                             events->span));
  for (uint32_t i = 0; i < events->count; ++i)
    tl_event_queue_set(&events->queue, i, fmin(events->plans[i].hit, events->plans[i].cross));
  return TALUS_OK;
}
