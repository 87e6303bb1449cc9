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
static inline void consider(const tl_events *events, uint32_t i, uint32_t k, talus_dvec3 shift,
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

/* A list of flyers of one cell. */
static inline void consider_list(const tl_events *events, uint32_t i, double tau, uint32_t first,
                                 talus_dvec3 shift) {
  for (uint32_t k = first; k != TL_NONE; k = events->next[k])
    if (k != i)
      consider(events, i, k, shift, tau);
}

/* Sets of the 27 cells around one, as bits: number 9 z + 3 y + x with x, y, z = 0, 1, 2; 13 is the
 * cell itself. All; the second half, which is enough at the begin because every flyer searches; and
 * those that come into reach when a flyer crosses a side of its cell. */
#define ALL_CELLS   0x7ffffffu
#define FIRST_CELLS 0x7ffe000u
#define OWN_CELL    13
static const uint32_t side_cells[6] = {0x1249249, 0x4924924, 0x01c0e07,
                                       0x70381c0, 0x00001ff, 0x7fc0000};

static bool is_inner(const tl_event_cells *cells, const uint16_t at[3]) {
  return at[0] > 0 && at[0] + 1 < cells->n[0] && at[1] > 0 && at[1] + 1 < cells->n[1] &&
         at[2] > 0 && at[2] + 1 < cells->n[2];
}

/* Which of those wanted have flyers. Three in a row are neighbours in `used`. The cell in the
 * middle is an inner one. */
static uint32_t find_used(const tl_event_cells *cells, size_t middle, uint32_t wanted) {
  uint32_t found = 0;
  for (int first = 0; first < 27; first += 3) {
    if (!(wanted >> first & 7))
      continue;
    const size_t cell = middle + (size_t)cells->offset[first], word = cell / 64, bit = cell % 64;
    uint64_t three = cells->used[word] >> bit;
    if (bit > 61)
      three |= cells->used[word + 1] << (64 - bit);
    found |= (uint32_t)(three & 7) << first;
  }
  return found & wanted;
}

/* The cells that i's next event will look at and that have flyers, about *middle. */
static uint32_t find_next_cells(const tl_events *events, uint32_t i, size_t *middle) {
  const tl_event_cells *cells = &events->cells;
  const tl_plan *plan = &events->plans[i];
  const bool crosses = plan->cross < plan->hit;
  uint16_t at[3] = {plan->at[0], plan->at[1], plan->at[2]};
  if (crosses)
    at[plan->side >> 1] = (uint16_t)(at[plan->side >> 1] + (plan->side & 1 ? 1 : -1));
  if (!is_inner(cells, at))
    return 0;
  *middle = tl_event_cell(cells, at);
  return find_used(cells, *middle, crosses ? side_cells[plan->side] : ALL_CELLS);
}

void tl_events_prefetch_cells(const tl_events *events, uint32_t i) {
  const tl_plan *plan = &events->plans[i];
  size_t middle;
  for (uint32_t rest = find_next_cells(events, i, &middle); rest != 0; rest &= rest - 1)
    __builtin_prefetch(
        &events->cells.head[middle + (size_t)events->cells.offset[__builtin_ctz(rest)]]);
  if (plan->hit <= plan->cross && plan->partner < TL_EVENT_WALL) {
    __builtin_prefetch(&events->plans[plan->partner]);
    __builtin_prefetch(&events->flyers[plan->partner]);
  }
}

void tl_events_prefetch_flyers(const tl_events *events, uint32_t i) {
  size_t middle;
  for (uint32_t rest = find_next_cells(events, i, &middle); rest != 0; rest &= rest - 1) {
    const uint32_t k =
        events->cells.head[middle + (size_t)events->cells.offset[__builtin_ctz(rest)]];
    __builtin_prefetch(&events->flyers[k]);
    __builtin_prefetch(&events->next[k]);
  }
}

/* The three cells at and beside one along an axis: their numbers, -1 for none, and what leads to
 * their image. */
typedef struct beside {
  int at[3];
  double shift[3];
} beside;

static beside find_beside(const tl_event_cells *cells, int at, int axis) {
  const int n = cells->n[axis];
  const double length = cells->length[axis];
  beside b = {{at - 1, at, at + 1}, {0, 0, 0}};
  if (at == 0)
    b.at[0] = cells->periodic[axis] ? n - 1 : -1, b.shift[0] = -length;
  if (at == n - 1)
    b.at[2] = cells->periodic[axis] ? 0 : -1, b.shift[2] = length;
  return b;
}

/* Cells some of which are at the border. */
static void consider_border(const tl_events *events, uint32_t i, double tau, uint32_t wanted,
                            bool is_first) {
  const tl_event_cells *cells = &events->cells;
  const uint16_t *at = events->plans[i].at;
  const beside x = find_beside(cells, at[0], 0), y = find_beside(cells, at[1], 1),
               z = find_beside(cells, at[2], 2);
  for (; wanted != 0; wanted &= wanted - 1) {
    const int number = __builtin_ctz(wanted), a = number % 3, b = number / 3 % 3, c = number / 9;
    if (x.at[a] < 0 || y.at[b] < 0 || z.at[c] < 0)
      continue;
    const uint16_t cell[3] = {(uint16_t)x.at[a], (uint16_t)y.at[b], (uint16_t)z.at[c]};
    consider_list(events, i, tau,
                  is_first && number == OWN_CELL ? events->next[i]
                                                 : cells->head[tl_event_cell(cells, cell)],
                  tl_dvec3(x.shift[a], y.shift[b], z.shift[c]));
  }
}

/* is_first: of the own cell those behind i alone. */
static void consider_cells(const tl_events *events, uint32_t i, double tau, uint32_t wanted,
                           bool is_first) {
  const tl_event_cells *cells = &events->cells;
  const tl_plan *plan = &events->plans[i];
  const size_t middle = tl_event_cell(cells, plan->at);
  if (!is_inner(cells, plan->at)) {
    consider_border(events, i, tau, wanted, is_first);
    return;
  }
  for (uint32_t rest = find_used(cells, middle, wanted); rest != 0; rest &= rest - 1) {
    const int number = __builtin_ctz(rest);
    consider_list(events, i, tau,
                  is_first && number == OWN_CELL
                      ? events->next[i]
                      : cells->head[middle + (size_t)cells->offset[number]],
                  tl_dvec3(0, 0, 0));
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
    if (!events->is_falling) { /* the same, in short */
      const bool is_up = v[axis] > 0;
      const double gap = is_up ? high : low;
      const double when = gap > 0 ? gap / fabs(v[axis]) : 0;
      if (v[axis] != 0 && (is_up ? has_high : has_low) && when < first)
        first = when, plan->side = (uint8_t)(2 * axis + is_up);
      continue;
    }
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
  consider_cells(events, i, tau, side_cells[plan->side], false);
  consider_walls(events, i, tau);
  if (plan->partner != partner)
    take_hits(events, plan);
  plan_crossing(events, i, tau);
}

/* ---- whole plans ----------------------------------------------------------------------------- */

static void plan_from(const tl_events *events, uint32_t i, double tau, bool is_first) {
  events->plans[i].hit = INFINITY;
  events->plans[i].partner = TL_NONE;
  consider_cells(events, i, tau, is_first ? FIRST_CELLS : ALL_CELLS, is_first);
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
