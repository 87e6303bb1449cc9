#include "contact/depth.h"

#include "shape/shape.h"

#define PAST_CLEARANCE tl_shape_clearance
#define PAST_CROSSED   tl_shape_is_crossed
#include "contact/past.h"

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

/* A plane has no other side: a body that is deep in it sank. */
static bool is_wall(const tl_model *model, uint32_t slot) {
  return tl_body_is_static(model, slot) && tl_body_shape(model, slot)->bounded;
}

/* Velocity of the centre of `body` relative to the wall, which may move and turn. */
static talus_dvec3 velocity_past(const tl_passage *p, uint32_t wall, uint32_t body,
                                 talus_dvec3 offset) {
  const talus_vec3 turn = tl_cross(p->spin[wall], tl_narrow(offset));
  return tl_dsub(tl_widen(p->velocity[body]), tl_widen(tl_add(p->velocity[wall], turn)));
}

/* True if the centre of a body passed through a wall within the step. A body whose centre is not in
 * its matter, such as a ring, may surround the wall. */
static bool passes(const tl_model *model, const tl_widths *widths, const tl_passage *p,
                   const tl_contact *c, uint32_t wall, uint32_t body) {
  const tl_shape *shape = tl_body_shape(model, wall);
  const talus_dvec3 offset = tl_model_offset(model, p->position[wall], p->position[body]);
  const talus_dvec3 moved = tl_dscale(velocity_past(p, wall, body, offset), p->dt);
  if (shape->kind == TALUS_REVOLVED) {
    /* A search over its whole profile, so only for bodies that are halfway through. */
    if (tl_dlength(moved) - (double)c->gap < 0.5 * (double)width_of(model, widths, body))
      return false;
  } else if (shape->kind != TALUS_MESH && shape->kind != TALUS_CLUMP) {
    const talus_dvec3 n = tl_dscale(tl_widen(c->normal), wall == c->a ? 1 : -1);
    if (tl_past_stays_in_front(n, tl_model_offset(model, p->position[wall], c->point),
                               (double)c->gap, offset, moved))
      return false;
  }
  return tl_past_went_through(shape, (double)model->property.scale[wall], p->rotation[wall], offset,
                              moved) &&
         tl_shape_holds_centre(tl_body_shape(model, body));
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
  return passes(model, widths, passage, c, is_a ? c->a : c->b, *who) ? TL_SINKS_THROUGH
                                                                     : TL_SINKS_NOT;
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
