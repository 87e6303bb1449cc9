/* Walls as flyers meet them: what stands still or moves as it is told, cut into faces, edges and
 * balls, each in the cells from which it can be touched. */
#include "kernels/collide.h"
#include "kernels/elastic.h"
#include "step/event/event.h"

#include <float.h>
#include <math.h>

#define FAR 1e30 /* m: where outer cells end */

typedef TL_ARRAY(tl_event_wall) wall_list; /* counted first, then written: data may be NULL */

static void add(wall_list *list, tl_event_wall wall) {
  if (list->data)
    list->data[list->count] = wall;
  list->count++;
}

static talus_dvec3 unit(talus_dvec3 v) { return tl_dscale(v, 1 / tl_dlength(v)); }

/* ---- from shapes ------------------------------------------------------------------------------
 */

typedef struct block {
  tl_event_wall base; /* slot, velocity, axes */
  talus_dvec3 centre;
  double half[3];
  uint32_t open;
} block;

static talus_dvec3 along(const block *b, int axis, double way) {
  return tl_dscale(b->base.axis[axis], way);
}

static bool is_open(const block *b, int wall) { return (b->open >> wall & 1u) != 0; }

/* Side `wall`, from within (a tank) or from outside. */
static void add_face(wall_list *list, const block *b, int wall, bool inside, bool is_endless) {
  const int axis = wall >> 1, next = (axis + 1) % 3, last = (axis + 2) % 3;
  const double side = wall & 1 ? 1 : -1;
  tl_event_wall w = b->base;
  w.kind = TL_WALL_FACE;
  w.at = tl_dadd(b->centre, along(b, axis, side * b->half[axis]));
  w.axis[0] = along(b, axis, inside ? -side : side);
  w.axis[1] = b->base.axis[next];
  w.axis[2] = b->base.axis[last];
  w.half[1] = is_endless ? INFINITY : b->half[next];
  w.half[2] = is_endless ? INFINITY : b->half[last];
  w.is_solid = is_endless;
  add(list, w);
}

/* The twelve edges and eight corners, as far as a wall ends there. */
static void add_rims(wall_list *list, const block *b) {
  for (int axis = 0; axis < 3; ++axis)
    for (int k = 0; k < 4; ++k) {
      const int next = (axis + 1) % 3, last = (axis + 2) % 3;
      if (is_open(b, 2 * next + (k & 1)) && is_open(b, 2 * last + (k >> 1)))
        continue;
      tl_event_wall w = b->base;
      w.kind = TL_WALL_EDGE;
      w.at = tl_dadd(b->centre, tl_dadd(along(b, next, (k & 1 ? 1 : -1) * b->half[next]),
                                        along(b, last, (k >> 1 ? 1 : -1) * b->half[last])));
      w.axis[0] = b->base.axis[axis];
      w.half[0] = b->half[axis];
      add(list, w);
    }
  for (int k = 0; k < 8; ++k) {
    tl_event_wall w = b->base;
    w.kind = TL_WALL_BALL;
    w.at = b->centre;
    for (int axis = 0; axis < 3; ++axis)
      w.at = tl_dadd(w.at, along(b, axis, (k >> axis & 1 ? 1 : -1) * b->half[axis]));
    add(list, w);
  }
}

static void add_block(wall_list *list, const block *b, bool is_tank) {
  const uint32_t all = 63;
  const bool is_closed = is_tank && b->open == 0;
  for (int wall = 0; wall < 6; ++wall) {
    block side = *b;
    side.base.feature = is_tank ? (uint32_t)wall : 0;
    if (is_open(b, wall))
      continue;
    if (is_tank)
      add_face(list, &side, wall, true, is_closed);
    if (!is_closed)
      add_face(list, &side, wall, false, false);
  }
  if (!is_closed && b->open != all)
    add_rims(list, b);
}

static talus_status add_body(wall_list *list, const tl_crowd *crowd, uint32_t slot) {
  const tl_model *model = crowd->model;
  const tl_shape *shape = tl_body_shape(model, slot);
  const double scale = (double)model->property.scale[slot];
  const tl_frame frame = tl_frame_from_quat(crowd->in->rotation[slot]);
  block b = {.base = {.slot = slot}, .centre = crowd->in->position[slot], .open = shape->open};
  if (model->property.flags[slot] & TL_FLAG_KINEMATIC) {
    const talus_dvec3 to = tl_body_moving(model, slot, crowd->t1).position;
    b.base.velocity = tl_dscale(tl_dsub(to, b.centre), 1 / crowd->dt);
  }
  for (int k = 0; k < 3; ++k) {
    b.base.axis[k] = unit(tl_frame_axis(&frame, k));
    b.half[k] = 0.5 * scale * shape->size[k];
  }
  tl_event_wall *w = &b.base;
  w->at = b.centre;
  switch (shape->kind) {
  case TALUS_SPHERE:
    w->kind = TL_WALL_BALL;
    w->radius = shape->size[0] * scale;
    add(list, *w);
    return TALUS_OK;
  case TALUS_PLANE:
    w->kind = TL_WALL_FACE;
    w->axis[0] =
        unit(tl_frame_to_world(&frame, tl_dvec3(shape->size[0], shape->size[1], shape->size[2])));
    w->at = tl_dadd(b.centre, tl_dscale(w->axis[0], shape->size[3] * scale));
    w->half[1] = w->half[2] = INFINITY;
    w->is_solid = true;
    add(list, *w);
    return TALUS_OK;
  case TALUS_BOX:
    b.open = 0;
    add_block(list, &b, false);
    return TALUS_OK;
  case TALUS_CONTAINER:
    add_block(list, &b, true);
    return TALUS_OK;
  default:
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "`elastic` knows planes, containers, spheres and boxes as walls");
  }
}

static talus_status add_all(const tl_crowd *crowd, wall_list *list) {
  list->count = 0;
  for (uint32_t slot = 0; slot < crowd->count; ++slot)
    if (tl_body_is_static(crowd->model, slot))
      TL_TRY(add_body(list, crowd, slot));
  return TALUS_OK;
}

/* ---- in cells ---------------------------------------------------------------------------------
 */

static bool is_endless(const tl_event_wall *w) {
  return w->kind == TL_WALL_FACE && !(w->half[1] < INFINITY && w->half[2] < INFINITY);
}

/* How far a wall with an end reaches from its middle along a world axis. */
static double extent(const tl_event_wall *w, int axis) {
  double sum = w->kind == TL_WALL_BALL ? w->radius : 0;
  const int from = w->kind == TL_WALL_FACE ? 1 : 0, to = w->kind == TL_WALL_FACE ? 2 : 0;
  for (int k = from; k <= to && w->kind != TL_WALL_BALL; ++k) {
    talus_dvec3 a = w->axis[k];
    sum += fabs(*tl_dvec3_axis(&a, axis)) * w->half[k];
  }
  return sum;
}

/* Whether a flyer whose centre is in the cell may touch the wall within the step. */
static bool is_near(const tl_events *events, const tl_event_wall *w, const int at[3]) {
  const tl_event_cells *cells = &events->cells;
  const double reach = events->largest * 1.000001 + events->span * tl_dlength(w->velocity);
  double low[3], high[3], least = 0, most = 0;
  for (int k = 0; k < 3; ++k) {
    talus_dvec3 middle = w->at, normal = w->axis[0];
    const double from = *tl_dvec3_axis(&middle, k), n = *tl_dvec3_axis(&normal, k);
    low[k] = cells->lo[k] + at[k] * cells->width[k] - from;
    high[k] = low[k] + cells->width[k];
    if (!cells->periodic[k] && at[k] == 0)
      low[k] = -FAR;
    if (!cells->periodic[k] && at[k] == cells->n[k] - 1)
      high[k] = FAR;
    if (!is_endless(w)) {
      const double centre = 0.5 * (low[k] + high[k]);
      const double shift = tl_event_nearest(cells, k, centre) - centre;
      const double far = extent(w, k) + reach + 1e-9 * cells->width[k];
      if (low[k] + shift > far || high[k] + shift < -far)
        return false;
      low[k] += shift, high[k] += shift;
    }
    least += fmin(n * low[k], n * high[k]);
    most += fmax(n * low[k], n * high[k]);
  }
  if (w->kind != TL_WALL_FACE)
    return true;
  return least <= reach && (w->is_solid || most >= 0);
}

static void walk_cells(const tl_events *events, uint32_t *list, uint32_t *start, size_t *total) {
  const tl_event_cells *cells = &events->cells;
  size_t cell = 0, count = 0;
  for (int z = 0; z < cells->n[2]; ++z)
    for (int y = 0; y < cells->n[1]; ++y)
      for (int x = 0; x < cells->n[0]; ++x, ++cell) {
        start[cell] = (uint32_t)count;
        for (uint32_t w = 0; w < events->wall_count; ++w)
          if (is_near(events, &events->walls[w], (const int[3]){x, y, z})) {
            if (list)
              list[count] = w;
            count++;
          }
      }
  start[cell] = (uint32_t)count;
  *total = count;
}

talus_status tl_events_load_walls(tl_events *events) {
  const tl_crowd *crowd = events->crowd;
  tl_event_cells *cells = &events->cells;
  wall_list list = {0};
  size_t total;
  TL_TRY(add_all(crowd, &list));
  events->wall_count = list.count;
  TL_TAKE(crowd->arena, list.count, &events->walls);
  list.data = events->walls;
  TL_TRY(add_all(crowd, &list));
  TL_TAKE(crowd->arena, cells->count + 1, &cells->wall_start);
  walk_cells(events, NULL, cells->wall_start, &total);
  TL_TAKE(crowd->arena, total, &cells->wall_list);
  walk_cells(events, cells->wall_list, cells->wall_start, &total);
  return TALUS_OK;
}

/* ---- impacts ----------------------------------------------------------------------------------
 */

/* From the middle of the wall to the flyer's centre, by the nearest image. */
static talus_dvec3 from_wall(const tl_events *events, const tl_event_wall *w, talus_dvec3 x,
                             double tau) {
  talus_dvec3 d = tl_dsub(tl_dsub(x, w->at), tl_dscale(w->velocity, tau));
  if (!is_endless(w)) {
    d.x = tl_event_nearest(&events->cells, 0, d.x);
    d.y = tl_event_nearest(&events->cells, 1, d.y);
    d.z = tl_event_nearest(&events->cells, 2, d.z);
  }
  return d;
}

static talus_dvec3 across(talus_dvec3 v, talus_dvec3 axis) {
  return tl_dsub(v, tl_dscale(axis, tl_ddot(v, axis)));
}

static bool is_over(const tl_event_wall *w, int axis, talus_dvec3 d, talus_dvec3 v,
                    talus_dvec3 fall, double t) {
  const talus_dvec3 x = tl_dadd(d, tl_dadd(tl_dscale(v, t), tl_dscale(fall, 0.5 * t * t)));
  return fabs(tl_ddot(x, w->axis[axis])) <= w->half[axis];
}

static double meet_face(const tl_events *events, const tl_event_wall *w, talus_dvec3 d,
                        talus_dvec3 v, double radius) {
  const talus_dvec3 n = w->axis[0];
  const double off = tl_ddot(n, d), pull = events->is_falling ? tl_ddot(n, events->fall) : 0;
  if (!w->is_solid && !(off > 0))
    return INFINITY;
  const double t = tl_elastic_fall(off - radius, tl_ddot(n, v), pull, events->rest);
  if (!(t < INFINITY) || w->is_solid)
    return t;
  return is_over(w, 1, d, v, events->fall, t) && is_over(w, 2, d, v, events->fall, t) ? t
                                                                                      : INFINITY;
}

double tl_events_meet_wall(const tl_events *events, uint32_t i, uint32_t wall, double tau) {
  const tl_event_wall *w = &events->walls[wall];
  const tl_flyer *f = &events->flyers[i];
  talus_dvec3 d = from_wall(events, w, f->x, tau), v = tl_dsub(f->v, w->velocity);
  const talus_dvec3 way = d, speed = v;
  talus_dvec3 fall = events->fall;
  if (w->kind == TL_WALL_FACE)
    return tau + meet_face(events, w, d, v, f->radius);
  if (w->kind == TL_WALL_EDGE)
    d = across(d, w->axis[0]), v = across(v, w->axis[0]), fall = across(fall, w->axis[0]);
  const double reach = f->radius + w->radius;
  const double t = events->is_falling ? tl_elastic_meet_falling(d, v, fall, reach,
                                                                events->span - tau, events->rest)
                                      : tl_elastic_meet(d, v, reach);
  if (w->kind == TL_WALL_EDGE && t < INFINITY && !is_over(w, 0, way, speed, events->fall, t))
    return INFINITY;
  return tau + t;
}

talus_dvec3 tl_events_off_wall(const tl_events *events, uint32_t i, uint32_t wall, double tau,
                               double *gap) {
  const tl_event_wall *w = &events->walls[wall];
  const tl_flyer *f = &events->flyers[i];
  talus_dvec3 d = from_wall(events, w, f->x, tau);
  if (w->kind == TL_WALL_FACE) {
    *gap = tl_ddot(d, w->axis[0]) - f->radius;
    return w->axis[0];
  }
  if (w->kind == TL_WALL_EDGE)
    d = across(d, w->axis[0]);
  const double far = tl_dlength(d);
  *gap = far - w->radius - f->radius;
  return tl_dscale(d, 1 / fmax(far, DBL_MIN));
}

size_t tl_events_count_outside(const tl_events *events) {
  const tl_event_cells *cells = &events->cells;
  size_t count = 0;
  for (uint32_t i = 0; i < events->count; ++i) {
    const size_t cell = tl_event_cell(cells, events->plans[i].at);
    bool is_outside = false;
    for (uint32_t k = cells->wall_start[cell]; k < cells->wall_start[cell + 1]; ++k) {
      const tl_event_wall *w = &events->walls[cells->wall_list[k]];
      const talus_dvec3 d = from_wall(events, w, events->flyers[i].x, events->span);
      if (w->kind == TL_WALL_FACE ? w->is_solid && tl_ddot(d, w->axis[0]) < 0
                                  : w->kind == TL_WALL_BALL && tl_dlength(d) < w->radius)
        is_outside = true;
    }
    count += is_outside;
  }
  return count;
}
