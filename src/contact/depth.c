#include "contact/depth.h"

#include "kernels/collide.h"
#include "shape/shape.h"

#include <math.h>

/* ---- widths ---------------------------------------------------------------------------------- */

/* A clump is as thick as the largest of its spheres; small ones on its surface do not count. */
static double half_width(const tl_shape *shape) {
  if (shape->kind != TALUS_CLUMP)
    return tl_shape_inner_radius(shape);
  double most = 0;
  for (uint32_t k = 0; k < shape->point_count; ++k)
    most = fmax(most, shape->points[4 * k + 3]);
  return most;
}

/* Depth at which the free body in a slot counts as sunk; infinite if contacts do not move it. */
static talus_real width_of(const tl_model *model, const tl_widths *widths, uint32_t slot) {
  if (tl_body_is_static(model, slot))
    return TL_REAL_MAX;
  return widths->data[model->property.shape[slot]] * model->property.scale[slot];
}

/* Radius of the bounding sphere, m; an unbounded body is larger than any other. */
static talus_real ball_of(const tl_model *model, uint32_t slot) {
  const tl_shape *shape = tl_body_shape(model, slot);
  return shape->bounded ? shape->radius * model->property.scale[slot] : TL_REAL_MAX;
}

/* Bodies are in the order of their uids: new ones are last. */
static void look_at_bodies(const tl_model *model, tl_widths *widths) {
  size_t i = model->bodies;
  for (; i > 0 && model->property.uid[i - 1] >= widths->seen; --i) {
    const uint32_t slot = (uint32_t)(i - 1);
    if (tl_body_is_static(model, slot) && slot >= widths->statics)
      widths->statics = slot + 1;
    widths->least = tl_min(widths->least, width_of(model, widths, slot));
    widths->least_ball = tl_min(widths->least_ball, ball_of(model, slot));
  }
  if (model->bodies > 0)
    widths->seen = model->property.uid[model->bodies - 1] + 1;
}

talus_status tl_widths_update(const tl_model *model, tl_widths *widths) {
  const size_t known = widths->count;
  if (known != model->shapes.count) {
    TL_TRY(tl_array_resize(widths, model->shapes.count));
    for (size_t i = known; i < widths->count; ++i)
      widths->data[i] = (talus_real)half_width(&model->shapes.data[i]);
  }
  if (widths->seen == 0)
    widths->least = widths->least_ball = TL_REAL_MAX;
  look_at_bodies(model, widths);
  return TALUS_OK;
}

/* ---- through a wall -------------------------------------------------------------------------- */

/* The displacement of a body's centre within the step, in the frame of a wall. */
typedef struct way {
  double from[3], to[3];
} way;

static bool is_wall(const tl_model *model, uint32_t slot) {
  const talus_shape_kind kind = tl_body_shape(model, slot)->kind;
  return tl_body_is_static(model, slot) &&
         (kind == TALUS_BOX || kind == TALUS_CONTAINER || kind == TALUS_REVOLVED);
}

/* Velocity of the centre of `body` relative to the wall, which may move and turn. */
static talus_dvec3 velocity_past(const tl_passage *p, uint32_t wall, uint32_t body,
                                 talus_dvec3 offset) {
  const talus_vec3 turn = tl_cross(p->spin[wall], tl_narrow(offset));
  return tl_dsub(tl_widen(p->velocity[body]), tl_widen(tl_add(p->velocity[wall], turn)));
}

static way way_past(const tl_passage *p, uint32_t wall, talus_dvec3 offset, talus_dvec3 moved) {
  const tl_frame frame = tl_frame_from_quat(p->rotation[wall]);
  const talus_dvec3 from = tl_frame_to_local(&frame, tl_dsub(offset, moved));
  const talus_dvec3 to = tl_frame_to_local(&frame, offset);
  return (way){{from.x, from.y, from.z}, {to.x, to.y, to.z}};
}

/* True if the path crosses the inside of a box: by slabs (Kay and Kajiya 1986). */
static bool goes_through_box(const way *w, const double half[3]) {
  double first = 0, last = 1;
  for (int k = 0; k < 3; ++k) {
    const double d = w->to[k] - w->from[k];
    if (d == 0 && !(fabs(w->from[k]) < half[k]))
      return false;
    if (d == 0)
      continue;
    const double a = (-half[k] - w->from[k]) / d, b = (half[k] - w->from[k]) / d;
    first = fmax(first, fmin(a, b));
    last = fmin(last, fmax(a, b));
  }
  return first < last;
}

/* True if the path crosses a closed side of a container. */
static bool goes_through_side(const way *w, const double half[3], uint32_t open) {
  for (int side = 0; side < 6; ++side) {
    const int k = side >> 1;
    const double at = side & 1 ? half[k] : -half[k];
    if ((open >> side & 1u) || (w->from[k] < at) == (w->to[k] < at))
      continue;
    const double share = (at - w->from[k]) / (w->to[k] - w->from[k]);
    bool meets = true;
    for (int turn = 1; turn < 3; ++turn) {
      const int j = (k + turn) % 3;
      meets = meets && fabs(w->from[j] + share * (w->to[j] - w->from[j])) < half[j];
    }
    if (meets)
      return true;
  }
  return false;
}

/* The tangent plane of the wall at the nearest point has all of a box, or of a side, behind it: a
 * centre that stayed in front of it has passed through nothing. */
static bool passes(const tl_model *model, const tl_passage *p, const tl_contact *c, uint32_t wall,
                   uint32_t body) {
  const talus_dvec3 offset = tl_model_offset(model, p->position[wall], p->position[body]);
  const talus_dvec3 moved = tl_dscale(velocity_past(p, wall, body, offset), p->dt);
  const talus_dvec3 n = tl_dscale(tl_widen(c->normal), wall == c->a ? 1 : -1);
  const talus_dvec3 point = tl_model_offset(model, p->position[wall], c->point);
  const double above = tl_ddot(tl_dsub(offset, point), n) + 0.5 * (double)c->gap;
  if (above > 0 && above - tl_ddot(moved, n) > 0)
    return false;
  const tl_shape *shape = tl_body_shape(model, wall);
  const double scale = 0.5 * (double)model->property.scale[wall];
  const double half[3] = {scale * shape->size[0], scale * shape->size[1], scale * shape->size[2]};
  const way w = way_past(p, wall, offset, moved);
  if (shape->kind == TALUS_REVOLVED) {
    const tl_revolved turned = tl_shape_revolved(shape, 2 * scale);
    return tl_revolved_crossing(&turned, tl_dvec3(w.from[0], w.from[1], w.from[2]),
                                tl_dvec3(w.to[0], w.to[1], w.to[2])) <= 1;
  }
  return shape->kind == TALUS_BOX ? goes_through_box(&w, half)
                                  : goes_through_side(&w, half, shape->open);
}

/* ---- contacts -------------------------------------------------------------------------------- */

tl_sinking tl_contact_find_sinking(const tl_model *model, const tl_widths *widths,
                                   const tl_passage *passage, const tl_contact *c, uint32_t *who) {
  const talus_real a = width_of(model, widths, c->a), b = width_of(model, widths, c->b);
  *who = a < b ? c->a : c->b;
  if (-c->gap > tl_min(a, b))
    return TL_SINKS_DEEP;
  const bool is_a = is_wall(model, c->a), is_b = is_wall(model, c->b);
  if (is_a == is_b || tl_body_is_static(model, is_a ? c->b : c->a))
    return TL_SINKS_NOT;
  return passes(model, passage, c, is_a ? c->a : c->b, *who) ? TL_SINKS_THROUGH : TL_SINKS_NOT;
}

typedef struct measure_job {
  const tl_model *model;
  const tl_widths *widths;
  const tl_passage *passage;
  const tl_contacts *contacts;
  tl_depths *blocks;
} measure_job;

/* A little less than the largest share so far: with a smaller one, no division is needed. */
#define NEARLY 0.9999

/* Nearly all contacts are of free bodies and less deep than an earlier one: their gap shows it. */
static void add_contact(const measure_job *job, const tl_contact *c, tl_depths *depths) {
  const tl_widths *widths = job->widths;
  const talus_real depth = -c->gap;
  uint32_t who;
  if ((double)depth > NEARLY * depths->share * (double)widths->least_ball) {
    const double r = (double)tl_min(ball_of(job->model, c->a), ball_of(job->model, c->b));
    depths->share = fmax(depths->share, (double)depth / r);
  }
  if ((double)depth > depths->most)
    depths->most = (double)depth;
  if (!depths->is_suspect &&
      (depth > widths->least || c->a < widths->statics || c->b < widths->statics))
    depths->is_suspect =
        tl_contact_find_sinking(job->model, widths, job->passage, c, &who) != TL_SINKS_NOT;
}

static void measure_blocks(void *context, size_t begin, size_t end) {
  const measure_job *job = context;
  for (size_t block = begin; block < end; ++block) {
    tl_depths depths = {0};
    const size_t last = (block + 1) * TL_BLOCK;
    for (size_t i = block * TL_BLOCK; i < last && i < job->contacts->count; ++i)
      add_contact(job, &job->contacts->data[i], &depths);
    job->blocks[block] = depths;
  }
}

talus_status tl_contact_measure(const tl_model *model, const tl_widths *widths,
                                const tl_passage *passage, const tl_contacts *contacts,
                                tl_arena *arena, tl_depths *depths) {
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  const size_t blocks = (contacts->count + TL_BLOCK - 1) / TL_BLOCK;
  measure_job job = {model, widths, passage, contacts, NULL};
  *depths = (tl_depths){0};
  TL_TAKE(arena, blocks, &job.blocks);
  tl_for(&model->par, blocks, 4, measure_blocks, &job);
  for (size_t i = 0; i < blocks; ++i)
    tl_depths_merge(depths, &job.blocks[i]);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}
