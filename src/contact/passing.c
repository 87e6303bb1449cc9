#include "contact/passing.h"

#include "joint/joint.h"
#include "shape/shape.h"

#define PAST_CLEARANCE tl_shape_clearance
#define PAST_CROSSED   tl_shape_is_crossed
#include "contact/past.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- walls ----------------------------------------------------------------------------------- */

static bool is_wall(const tl_model *model, uint32_t slot) {
  return tl_body_is_static(model, slot) && tl_body_shape(model, slot)->bounded;
}

static tl_passing_wall wall_at(const tl_crowd *crowd, uint32_t slot) {
  const tl_model *model = crowd->model;
  tl_passing_wall w = {.slot = slot,
                       .shape = tl_body_shape(model, slot),
                       .scale = (double)model->property.scale[slot],
                       .reach = (double)tl_body_shape(model, slot)->radius *
                                (double)model->property.scale[slot],
                       .before = crowd->in->position[slot],
                       .after = crowd->out->position[slot],
                       .turned_before = tl_frame_from_quat(crowd->in->rotation[slot]),
                       .turned_after = tl_frame_from_quat(crowd->out->rotation[slot])};
  if (model->property.flags[slot] & TL_FLAG_KINEMATIC)
    w.moved = tl_dlength(tl_model_offset(model, w.before, w.after)) +
              w.reach * tl_past_angle(crowd->in->rotation[slot], crowd->out->rotation[slot]);
  return w;
}

static void bound_group(const tl_model *model, tl_passing_walls *walls, size_t group) {
  const size_t first = group * TL_PASSING_GROUP;
  const talus_dvec3 centre = walls->wall[first].after;
  double radius = 0;
  for (size_t k = first; k < first + TL_PASSING_GROUP && k < walls->count; ++k) {
    const tl_passing_wall *w = &walls->wall[k];
    radius =
        fmax(radius, tl_dlength(tl_model_offset(model, centre, w->after)) + w->reach + w->moved);
  }
  walls->centre[group] = centre, walls->radius[group] = radius;
}

talus_status tl_passing_lay_walls(const tl_crowd *crowd, uint32_t statics,
                                  tl_passing_walls *walls) {
  const tl_model *model = crowd->model;
  const uint32_t end = statics < model->bodies ? statics : (uint32_t)model->bodies;
  size_t count = 0;
  *walls = (tl_passing_walls){0};
  for (uint32_t i = 0; i < end; ++i)
    count += is_wall(model, i);
  const size_t groups = (count + TL_PASSING_GROUP - 1) / TL_PASSING_GROUP;
  TL_TAKE(crowd->arena, count, &walls->wall);
  TL_TAKE(crowd->arena, groups, &walls->centre);
  TL_TAKE(crowd->arena, groups, &walls->radius);
  for (uint32_t i = 0; i < end; ++i)
    if (is_wall(model, i)) {
      walls->wall[walls->count++] = wall_at(crowd, i);
      walls->moved = fmax(walls->moved, walls->wall[walls->count - 1].moved);
    }
  for (size_t k = 0; k < groups; ++k)
    bound_group(model, walls, k);
  return TALUS_OK;
}

/* ---- one body -------------------------------------------------------------------------------- */

static void find_periods(const tl_model *model, double period[3]) {
  const talus_domain_def *domain = &model->domain;
  const talus_dvec3 length = tl_dsub(domain->box.hi, domain->box.lo);
  const double all[3] = {length.x, length.y, length.z};
  for (int k = 0; k < 3; ++k)
    period[k] = domain->enabled && domain->periodic[k] ? all[k] : 0;
}

double tl_passing_follow(const tl_model *model, const tl_passing_walls *walls, uint32_t slot,
                         talus_dvec3 from, talus_dvec3 to, uint32_t *through) {
  const uint32_t group = model->property.group[slot];
  double period[3];
  find_periods(model, period);
  tl_past w = tl_past_begin(period, tl_model_offset(model, from, to), walls->moved,
                            (double)tl_body_shape(model, slot)->radius *
                                (double)model->property.scale[slot]);
  for (size_t i = 0; i < walls->count; ++i) {
    if (i % TL_PASSING_GROUP == 0 && i + 1 < walls->count) {
      const size_t k = i / TL_PASSING_GROUP;
      const double apart =
          tl_dlength(tl_model_offset(model, walls->centre[k], to)) - walls->radius[k];
      if (apart > fmax(w.way, fmin(w.room, w.searched))) {
        w.room = fmin(w.room, apart);
        i += TL_PASSING_GROUP - 1;
        continue;
      }
    }
    const tl_passing_wall *wall = &walls->wall[i];
    if (!tl_model_ignores(model, group, model->property.group[wall->slot]))
      tl_past_wall(&w, wall, to);
  }
  *through = w.through;
  return TL_PAST_SAFE * w.room;
}

/* ---- all bodies ------------------------------------------------------------------------------ */

bool tl_passing_is_exempt(const tl_model *model, uint32_t slot) {
  return tl_body_is_static(model, slot) || (model->property.flags[slot] & TL_FLAG_SUNK) ||
         !tl_shape_holds_centre(tl_body_shape(model, slot));
}

typedef struct passing_job {
  const tl_crowd *crowd;
  tl_passing_walls walls;
  float *room;
  uint8_t *is_due; /* by block: somebody has no room left */
  uint32_t *count; /* of found, by block */
  tl_pair *found;  /* of block k from k * TL_BLOCK on */
} passing_job;

/* The sum of the shares of axes is no less than the way. Wrapped positions are far apart: then,
 * too, there is no room left. */
static void use_up(void *context, size_t begin, size_t end) {
  const passing_job *job = context;
  const talus_dvec3 *from = job->crowd->in->position, *to = job->crowd->out->position;
  const float drift = (float)(job->walls.moved * (1 + 1e-6));
  float *room = job->room;
  for (size_t block = begin; block < end; ++block) {
    const size_t last = (block + 1) * TL_BLOCK;
    bool is_due = false;
    for (size_t i = block * TL_BLOCK; i < last && i < job->crowd->count; ++i) {
      const double way =
          fabs(to[i].x - from[i].x) + fabs(to[i].y - from[i].y) + fabs(to[i].z - from[i].z);
      const float left = room[i] - (room[i] * TL_PAST_ROUNDING + (float)way + drift);
      is_due |= !(left >= 0);
      room[i] = left;
    }
    job->is_due[block] = is_due;
  }
}

static void follow_due(void *context, size_t begin, size_t end) {
  const passing_job *job = context;
  const tl_crowd *crowd = job->crowd;
  for (size_t block = begin; block < end; ++block) {
    const size_t first = block * TL_BLOCK, last = first + TL_BLOCK;
    job->count[block] = 0;
    for (size_t i = first; job->is_due[block] && i < last && i < crowd->count; ++i) {
      if (job->room[i] >= 0)
        continue;
      const uint32_t slot = (uint32_t)i;
      uint32_t through = TL_NONE;
      job->room[i] = FLT_MAX;
      if (tl_passing_is_exempt(crowd->model, slot))
        continue;
      const double room = tl_passing_follow(crowd->model, &job->walls, slot, crowd->in->position[i],
                                            crowd->out->position[i], &through);
      job->room[i] = (float)fmin(fmax(room, 0), FLT_MAX);
      if (through != TL_NONE)
        job->found[first + job->count[block]++] = (tl_pair){slot, through};
    }
  }
}

talus_status tl_passing_add(const tl_crowd *crowd, uint32_t body, uint32_t wall,
                            tl_passings *found) {
  tl_pair pair = {body < wall ? body : wall, body < wall ? wall : body};
  tl_pairs apart = {&pair, 1};
  if (crowd->joints)
    tl_joints_keep_apart(crowd->joints, &apart);
  const tl_pair passing = {body, wall};
  return apart.count == 0 ? TALUS_OK : tl_array_push(found, passing);
}

static talus_status keep(const passing_job *job, size_t blocks, tl_passings *found) {
  for (size_t block = 0; block < blocks; ++block)
    for (size_t k = 0; k < job->count[block]; ++k) {
      const tl_pair pair = job->found[block * TL_BLOCK + k];
      TL_TRY(tl_passing_add(job->crowd, pair.a, pair.b, found));
    }
  return TALUS_OK;
}

talus_status tl_passing_find(const tl_crowd *crowd, uint32_t statics, float *room,
                             tl_passings *found) {
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  const size_t blocks = (crowd->count + TL_BLOCK - 1) / TL_BLOCK;
  passing_job job = {.crowd = crowd, .room = room};
  TL_TRY(tl_passing_lay_walls(crowd, statics, &job.walls));
  if (job.walls.count > 0) {
    TL_TAKE(crowd->arena, blocks, &job.is_due);
    TL_TAKE(crowd->arena, blocks, &job.count);
    TL_TAKE(crowd->arena, crowd->count, &job.found);
    tl_for(&crowd->model->par, blocks, 4, use_up, &job);
    tl_for(&crowd->model->par, blocks, 1, follow_due, &job);
    const talus_status status = keep(&job, blocks, found);
    if (status != TALUS_OK) /* the step will be taken again: from places that rooms do not go by */
      memset(room, 0, crowd->count * sizeof *room);
    TL_TRY(status);
  }
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
