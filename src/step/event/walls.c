/* Makes the walls that flyers meet: bodies at rest, or in prescribed motion, cut into faces, edges
 * and balls. */
#include "kernels/collide.h"
#include "shape/shape.h"
#include "step/event/event.h"

#include <math.h>

typedef TL_ARRAY(tl_event_wall) wall_list; /* counted first, then written: data may be NULL */

static void add(wall_list *list, tl_event_wall wall) {
  if (list->data)
    list->data[list->count] = wall;
  list->count++;
}

static talus_dvec3 unit(talus_dvec3 v) { return tl_dscale(v, 1 / tl_dlength(v)); }

/* ---- from shapes ----------------------------------------------------------------------------- */

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

/* Adds side `wall`, seen from inside (a container) or from outside. */
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

/* Adds the twelve edges and eight corners, as far as a wall ends there. */
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

static void add_block(wall_list *list, const block *b, bool is_container) {
  const uint32_t all = 63;
  const bool is_closed = is_container && b->open == 0;
  for (int wall = 0; wall < 6; ++wall) {
    block side = *b;
    side.base.feature = is_container ? (uint32_t)wall : 0;
    if (is_open(b, wall))
      continue;
    if (is_container)
      add_face(list, &side, wall, true, is_closed);
    if (!is_closed)
      add_face(list, &side, wall, false, false);
  }
  if (!is_closed && b->open != all)
    add_rims(list, b);
}

/* Adds a revolved wall about its z axis: its segments on the sides where bodies may be, and its
 * corners as far as they protrude. At other corners a ball touches both segments first. */
static void add_revolved(wall_list *list, const block *b, const tl_revolved *wall) {
  for (uint32_t k = 0; k + 1 < wall->count; ++k)
    for (int side = -1; side <= 1; side += 2) {
      if (wall->side != 0 && side != wall->side)
        continue;
      const tl_wall_segment g = tl_wall_segment_at(wall, k, tl_revolved_point(wall, k));
      tl_event_wall w = b->base;
      w.kind = TL_WALL_CONE;
      w.feature = 2 * k + 1;
      w.from[0] = g.from.r, w.from[1] = g.from.z;
      w.along[0] = g.along.r, w.along[1] = g.along.z;
      w.normal[0] = -side * g.along.z, w.normal[1] = side * g.along.r;
      w.half[0] = g.length;
      w.behind = wall->side != 0 ? 0.5 : 0;
      add(list, w);
    }
  for (uint32_t j = 0; j < wall->count; ++j) {
    const tl_meridian p = tl_revolved_point(wall, j);
    tl_event_wall w = b->base;
    const bool is_out = tl_wall_sticks_out(wall, j, 1, p) && wall->side >= 0;
    if (!is_out && !(tl_wall_sticks_out(wall, j, -1, p) && wall->side <= 0))
      continue;
    w.kind = TL_WALL_RING;
    w.feature = 2 * j;
    w.from[0] = p.r, w.from[1] = p.z;
    add(list, w);
  }
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
  case TALUS_REVOLVED: {
    const tl_revolved wall = tl_shape_revolved(shape, scale);
    add_revolved(list, &b, &wall);
    return TALUS_OK;
  }
  default:
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "`elastic` knows planes, containers, spheres, boxes and revolved walls");
  }
}

static talus_status add_all(const tl_crowd *crowd, wall_list *list) {
  list->count = 0;
  for (uint32_t slot = 0; slot < crowd->count; ++slot)
    if (tl_body_is_static(crowd->model, slot))
      TL_TRY(add_body(list, crowd, slot));
  return TALUS_OK;
}

talus_status tl_events_load_walls(tl_events *events) {
  const tl_crowd *crowd = events->crowd;
  wall_list list = {0};
  TL_TRY(add_all(crowd, &list));
  events->wall_count = list.count;
  TL_TAKE(crowd->arena, list.count, &events->walls);
  list.data = events->walls;
  TL_TRY(add_all(crowd, &list));
  return tl_events_place_walls(events);
}
