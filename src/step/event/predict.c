/* Plans: what a flyer touches first, and when it leaves its cell. */
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

static bool may_touch(const tl_events *events, uint32_t slot_a, uint32_t slot_b) {
  const uint32_t *group = events->crowd->model->property.group;
  return !events->has_ignored ||
         !tl_model_ignores(events->crowd->model, group[slot_a], group[slot_b]);
}

static void take(tl_plan *plan, double when, uint32_t partner, uint32_t hits) {
  plan->hit = when;
  plan->partner = partner;
  plan->partner_hits = hits;
}

/* Flyer i is at tau; k is where it is, and `shift` leads to its image. */
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
      may_touch(events, events->bodies[i].slot, events->bodies[k].slot))
    take(plan, when, k, events->plans[k].hits);
}

static void consider_walls(const tl_events *events, uint32_t i, double tau) {
  const tl_event_cells *cells = &events->cells;
  tl_plan *plan = &events->plans[i];
  const size_t cell = tl_event_cell(cells, plan->at);
  for (uint32_t w = cells->wall_start[cell]; w < cells->wall_start[cell + 1]; ++w) {
    const uint32_t wall = cells->wall_list[w];
    const double when = tl_events_meet_wall(events, i, wall, tau);
    if (when < plan->hit && when <= events->span &&
        may_touch(events, events->bodies[i].slot, events->walls[wall].slot))
      take(plan, when, TL_EVENT_WALL | wall, 0);
  }
}

/* The neighbouring cells along an axis: their numbers, and what leads to their image. */
typedef struct neighbours {
  int at[3];
  double shift[3];
} neighbours;

static neighbours neighbours_of(const tl_event_cells *cells, int axis, int at) {
  neighbours near;
  for (int k = 0; k < 3; ++k) {
    const int j = at + k - 1, n = cells->n[axis];
    near.at[k] = j;
    near.shift[k] = 0;
    if (j >= 0 && j < n)
      continue;
    if (!cells->periodic[axis]) {
      near.at[k] = -1;
    } else {
      near.at[k] = j < 0 ? j + n : j - n;
      near.shift[k] = j < 0 ? -cells->length[axis] : cells->length[axis];
    }
  }
  return near;
}

/* Cells from..to of the three along each axis, in rows. is_first: those behind the own one alone,
 * and in that those behind i, because the others look for themselves. */
static void consider_cells(const tl_events *events, uint32_t i, double tau, const int from[3],
                           const int to[3], bool is_first) {
  const tl_event_cells *cells = &events->cells;
  const tl_plan *plan = &events->plans[i];
  neighbours near[3];
  for (int axis = 0; axis < 3; ++axis)
    near[axis] = neighbours_of(cells, axis, plan->at[axis]);
  for (int z = from[2]; z <= to[2]; ++z)
    for (int y = from[1]; y <= to[1]; ++y) {
      if (near[2].at[z] < 0 || near[1].at[y] < 0)
        continue;
      const size_t row = ((size_t)near[2].at[z] * (size_t)cells->n[1] + (size_t)near[1].at[y]) *
                         (size_t)cells->n[0];
      for (int x = from[0]; x <= to[0]; ++x) {
        const int order = 9 * z + 3 * y + x - 13; /* 0: the own cell */
        if (near[0].at[x] < 0 || (is_first && order < 0))
          continue;
        const talus_dvec3 shift = tl_dvec3(near[0].shift[x], near[1].shift[y], near[2].shift[z]);
        uint32_t k = is_first && order == 0 ? plan->next : cells->head[row + (size_t)near[0].at[x]];
        for (; k != TL_NONE; k = events->plans[k].next)
          if (k != i)
            consider(events, i, k, shift, tau);
      }
    }
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* When the flyer, which is at tau, leaves its cell, and through which side. */
static void plan_crossing(const tl_events *events, uint32_t i, double tau) {
  const tl_event_cells *cells = &events->cells;
  tl_flyer *f = &events->flyers[i];
  tl_plan *plan = &events->plans[i];
  talus_dvec3 fall = events->fall;
  plan->cross = INFINITY;
  for (int axis = 0; axis < 3; ++axis) {
    const double x = *tl_dvec3_axis(&f->x, axis), v = *tl_dvec3_axis(&f->v, axis);
    const double a = *tl_dvec3_axis(&fall, axis);
    const double low = cells->lo[axis] + plan->at[axis] * cells->width[axis];
    const double high = cells->lo[axis] + (plan->at[axis] + 1) * cells->width[axis];
    const bool is_first = plan->at[axis] == 0 && !cells->periodic[axis];
    const bool is_last = plan->at[axis] == cells->n[axis] - 1 && !cells->periodic[axis];
    const double down = is_first ? INFINITY : tau + tl_elastic_fall(x - low, v, a, 0);
    const double up = is_last ? INFINITY : tau + tl_elastic_fall(high - x, -v, -a, 0);
    if (down < plan->cross)
      plan->cross = down, plan->side = (uint8_t)(2 * axis);
    if (up < plan->cross)
      plan->cross = up, plan->side = (uint8_t)(2 * axis + 1);
  }
}

static void leave_cell(const tl_events *events, uint32_t i) {
  const tl_plan *plan = &events->plans[i];
  if (plan->prev == TL_NONE)
    events->cells.head[tl_event_cell(&events->cells, plan->at)] = plan->next;
  else
    events->plans[plan->prev].next = plan->next;
  if (plan->next != TL_NONE)
    events->plans[plan->next].prev = plan->prev;
}

static void enter_cell(const tl_events *events, uint32_t i) {
  tl_plan *plan = &events->plans[i];
  uint32_t *head = &events->cells.head[tl_event_cell(&events->cells, plan->at)];
  plan->prev = TL_NONE;
  plan->next = *head;
  if (*head != TL_NONE)
    events->plans[*head].prev = i;
  *head = i;
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
  int from[3] = {0, 0, 0}, to[3] = {2, 2, 2};
  from[axis] = to[axis] = is_up ? 2 : 0;
  consider_cells(events, i, tau, from, to, false);
  consider_walls(events, i, tau);
  plan_crossing(events, i, tau);
}

/* ---- whole plans ----------------------------------------------------------------------------- */

static void plan_from(const tl_events *events, uint32_t i, double tau, bool is_first) {
  const int from[3] = {0, 0, 0}, to[3] = {2, 2, 2};
  events->plans[i].hit = INFINITY;
  events->plans[i].partner = TL_NONE;
  consider_cells(events, i, tau, from, to, is_first);
  consider_walls(events, i, tau);
  plan_crossing(events, i, tau);
}

void tl_events_plan(const tl_events *events, uint32_t i, double tau) {
  tl_events_move(events, i, tau);
  plan_from(events, i, tau, false);
}

static void plan_range(void *context, size_t begin, size_t end) {
  const tl_events *events = context;
  for (size_t i = begin; i < end; ++i)
    plan_from(events, (uint32_t)i, 0, true);
}

talus_status tl_events_plan_all(tl_events *events) {
  tl_for(&events->crowd->model->par, events->count, 256, plan_range, events);
  TL_TRY(tl_event_queue_make(&events->queue, events->crowd->arena, events->count, events->span));
  for (uint32_t i = 0; i < events->count; ++i)
    tl_event_queue_set(&events->queue, i, fmin(events->plans[i].hit, events->plans[i].cross));
  return TALUS_OK;
}
