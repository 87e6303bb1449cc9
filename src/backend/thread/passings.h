/* Bodies that passed through a wall, in a step on a device: the work of one thread in each task.
 *
 *   lay    a wall at both ends of the step
 *   pass   a body: whether its centre went through one (contact/passing.h)
 *   depth  a contact: how deep, and whether a body may have sunk (contact/depth.h) */
#ifndef TL_THREAD_PASSINGS_H
#define TL_THREAD_PASSINGS_H

#include "backend/thread/bodies.h"
#include "shape/way.h"

#define PAST_CLEARANCE(shape, place, most) tl_way_clearance(shape, place, most, 0)
#define PAST_CROSSED                       tl_way_crosses
#include "contact/past.h"

/* ---- ways ------------------------------------------------------------------------------------ */

typedef struct tl_lay_task {
  tl_thread_crowd crowd;
  const uint32_t *slots; /* of walls */
  tl_passing_wall *walls;
  double *moved; /* m: way of any wall, at most; cleared before */
} tl_lay_task;

TL_FN void tl_lay_at(const tl_lay_task *task, size_t i) {
  const tl_thread_crowd *crowd = &task->crowd;
  const uint32_t slot = task->slots[i];
  tl_passing_wall w;
  w.slot = slot;
  w.shape = tl_thread_shape(crowd, slot);
  w.scale = (double)crowd->scale[slot];
  w.reach = (double)w.shape->radius * w.scale;
  w.before = crowd->in.position[slot];
  w.after = crowd->out.position[slot];
  w.turned_before = tl_frame_from_quat(crowd->in.rotation[slot]);
  w.turned_after = tl_frame_from_quat(crowd->out.rotation[slot]);
  w.moved = 0;
  if (crowd->flags[slot] & TL_THREAD_GUIDED)
    w.moved = tl_dlength(tl_past_offset(crowd->period, w.before, w.after)) +
              w.reach * tl_past_angle(crowd->in.rotation[slot], crowd->out.rotation[slot]);
  task->walls[i] = w;
  tl_thread_raise_real(task->moved, w.moved);
}

/* A body that passed through a wall. */
typedef struct tl_thread_passing {
  uint32_t body, wall;
} tl_thread_passing;

typedef struct tl_pass_task {
  tl_thread_crowd crowd;
  const tl_passing_wall *walls;
  size_t wall_count;
  const double *moved;
  float *room;              /* m, by body */
  tl_thread_passing *found; /* one place for each body */
  uint32_t *count;          /* cleared before */
} tl_pass_task;

/* The sum of the shares of axes is no less than the way. Wrapped positions are far apart: then,
 * too, there is no room left. */
TL_FN bool tl_pass_uses_up(const tl_pass_task *task, size_t i) {
  const talus_dvec3 from = task->crowd.in.position[i], to = task->crowd.out.position[i];
  const double way = fabs(to.x - from.x) + fabs(to.y - from.y) + fabs(to.z - from.z);
  const float drift = (float)(*task->moved * (1 + 1e-6)), room = task->room[i];
  const float left = room - (room * TL_PAST_ROUNDING + (float)way + drift);
  task->room[i] = left;
  return !(left >= 0);
}

TL_FN void tl_pass_at(const tl_pass_task *task, size_t i) {
  const tl_thread_crowd *crowd = &task->crowd;
  if (!tl_pass_uses_up(task, i))
    return;
  task->room[i] = FLT_MAX;
  if (tl_thread_is_static(crowd, i) || (crowd->flags[i] & (TL_THREAD_SUNK | TL_THREAD_HOLLOW)))
    return;
  const talus_dvec3 to = crowd->out.position[i];
  tl_past w = tl_past_begin(crowd->period, tl_past_offset(crowd->period, crowd->in.position[i], to),
                            *task->moved,
                            (double)tl_thread_shape(crowd, i)->radius * (double)crowd->scale[i]);
  for (size_t k = 0; k < task->wall_count; ++k)
    tl_past_wall(&w, &task->walls[k], to);
  task->room[i] = (float)fmin(fmax(TL_PAST_SAFE * w.room, 0.0), (double)FLT_MAX);
  if (w.through == UINT32_MAX)
    return;
  tl_thread_passing one;
  one.body = (uint32_t)i;
  one.wall = w.through;
  task->found[tl_thread_add(task->count, 1)] = one;
}

/* ---- depths ---------------------------------------------------------------------------------- */

typedef struct tl_depth_task {
  tl_thread_crowd crowd;
  const talus_row_contact *contacts;
  const talus_real *widths; /* by shape: depth at which a body of scale 1 counts as sunk */
  double *found; /* m: largest depth; its share of a radius; > 0: some body sank; cleared before */
} tl_depth_task;

TL_FN talus_real tl_thread_width(const tl_depth_task *task, uint32_t slot) {
  return tl_thread_is_static(&task->crowd, slot)
             ? TL_REAL_MAX
             : task->widths[task->crowd.shape[slot]] * task->crowd.scale[slot];
}

TL_FN talus_real tl_thread_reach(const tl_depth_task *task, uint32_t slot) {
  const tl_shape *shape = tl_thread_shape(&task->crowd, slot);
  return shape->bounded ? shape->radius * task->crowd.scale[slot] : TL_REAL_MAX;
}

/* Whether the centre of a body passed through the wall that it touches, by its velocity at the end
 * of the step. */
TL_FN bool tl_depth_passes(const tl_thread_crowd *crowd, const talus_row_contact *c, uint32_t wall,
                           uint32_t body) {
  const tl_thread_state *at = &crowd->out;
  const tl_shape *shape = tl_thread_shape(crowd, wall);
  const talus_dvec3 offset = tl_past_offset(crowd->period, at->position[wall], at->position[body]);
  const talus_vec3 turn = tl_cross(at->spin[wall], tl_narrow(offset));
  const talus_dvec3 velocity =
      tl_dsub(tl_widen(at->velocity[body]), tl_widen(tl_add(at->velocity[wall], turn)));
  const talus_dvec3 moved = tl_dscale(velocity, crowd->dt);
  if (shape->kind != TALUS_CLUMP) {
    const talus_dvec3 n = tl_dscale(tl_widen(c->normal), wall == c->a ? 1 : -1);
    if (tl_past_stays_in_front(n, tl_past_offset(crowd->period, at->position[wall], c->point),
                               (double)c->gap, offset, moved))
      return false;
  }
  return tl_past_went_through(shape, (double)crowd->scale[wall], at->rotation[wall], offset, moved);
}

TL_FN bool tl_depth_goes_through(const tl_thread_crowd *crowd, const talus_row_contact *c) {
  const bool fixed_a = tl_thread_is_static(crowd, c->a), fixed_b = tl_thread_is_static(crowd, c->b);
  if (fixed_a == fixed_b)
    return false;
  const uint32_t wall = fixed_a ? c->a : c->b, body = fixed_a ? c->b : c->a;
  return tl_thread_shape(crowd, wall)->bounded && !(crowd->flags[body] & TL_THREAD_HOLLOW) &&
         tl_depth_passes(crowd, c, wall, body);
}

/* Who sank before is not told of again. */
TL_FN void tl_depth_at(const tl_depth_task *task, size_t i) {
  const tl_thread_crowd *crowd = &task->crowd;
  const talus_row_contact c = task->contacts[i];
  const talus_real depth = -c.gap;
  const talus_real a = tl_thread_width(task, c.a), b = tl_thread_width(task, c.b);
  const uint32_t who = a < b ? c.a : c.b;
  if (!(crowd->flags[who] & TL_THREAD_SUNK) &&
      (depth > tl_min(a, b) || tl_depth_goes_through(crowd, &c)))
    tl_thread_raise_real(&task->found[2], 1);
  if (!(depth > 0))
    return;
  tl_thread_raise_real(&task->found[0], (double)depth);
  const talus_real ball = tl_min(tl_thread_reach(task, c.a), tl_thread_reach(task, c.b));
  tl_thread_raise_real(&task->found[1], (double)depth / (double)ball);
}

#endif
