/* Boxes and margins of bodies: how far each can come within the step. */
#include "contact/reach.h"
#include "shape/shape.h"

#include <math.h>

typedef struct work {
  const tl_model *model;
  const tl_crowd *crowd;
  talus_box *boxes;    /* by member */
  talus_real *margins; /* by slot */
} work;

/* An upper bound of the speed that spin gives to the body's farthest place. An unbounded body has
 * no such bound; its radius is 0 and only its translation counts. */
static talus_real turning_speed(const tl_model *model, uint32_t slot, talus_vec3 spin) {
  const tl_shape *shape = tl_body_shape(model, slot);
  if (shape->kind == TALUS_SPHERE)
    return 0;
  return tl_length(spin) * shape->radius * model->property.scale[slot];
}

/* v + h a is the velocity that the step begins to solve with. */
static talus_real free_speed(const work *job, uint32_t slot) {
  const tl_properties *property = &job->model->property;
  const tl_state *in = job->crowd->in;
  const talus_real h = TL_R(job->crowd->dt);
  talus_vec3 v = tl_madd(in->velocity[slot], h, job->model->gravity);
  if (property->force && property->mass[slot] > 0)
    v = tl_madd(v, h / property->mass[slot], property->force[slot]);
  talus_vec3 w = in->spin[slot];
  if (property->torque && property->mass[slot] > 0) {
    const talus_vec3 inertia = tl_body_inertia(job->model, slot);
    w = tl_madd(w, h / tl_min(inertia.x, tl_min(inertia.y, inertia.z)), property->torque[slot]);
  }
  return tl_length(v) + turning_speed(job->model, slot, w);
}

/* The largest speed of the motion at any time, so that it holds for every part of its cycle. For
 * tables and for turns about a far axis such a bound would be useless: there it is the speed of
 * this step, if that is larger. */
static talus_real scripted_speed(const work *job, uint32_t slot) {
  const tl_model *model = job->model;
  const uint32_t row = model->property.motion[slot];
  if (row == TL_NONE)
    return 0;
  const tl_motion *motion = &model->motions.data[row];
  const tl_motion_term *terms = model->motion_terms.data + motion->first;
  talus_real most = 0;
  bool is_far = false;
  for (uint32_t i = 0; i < motion->count; ++i) {
    const talus_real rate = TL_R(2 * TL_PI * fabs(terms[i].frequency));
    most += tl_length(terms[i].velocity) + tl_length(terms[i].amplitude) * rate +
            turning_speed(model, slot, terms[i].spin) +
            turning_speed(model, slot, terms[i].swing) * rate;
    is_far = is_far || terms[i].is_through || terms[i].table_kind != TALUS_TABLE_NONE;
  }
  if (!is_far)
    return most;
  talus_vec3 v, w;
  tl_body_way(model, slot, job->crowd->t0, job->crowd->t1, job->crowd->dt, &v, &w);
  return tl_max(most, tl_length(v) + turning_speed(model, slot, w));
}

/* How far the body can come within the step, m. */
static talus_real way_of(const work *job, uint32_t slot) {
  const tl_model *model = job->model;
  const uint32_t flags = model->property.flags[slot];
  const bool is_fixed = (flags & TL_FLAG_FIXED) != 0;
  const talus_vec3 spin = is_fixed ? tl_vec3(0, 0, 0) : job->crowd->in->spin[slot];
  const talus_real spare = tl_reach_spare(model, job->crowd->dt, slot, spin);
  if (is_fixed)
    return spare;
  const talus_real speed =
      flags & TL_FLAG_KINEMATIC ? scripted_speed(job, slot) : free_speed(job, slot);
  return TL_R(job->crowd->dt) * speed + spare;
}

/* A body that moves further than this in a step may pass through another one. */
static talus_real inner_radius(const tl_model *model, uint32_t slot) {
  return TL_R(tl_shape_inner_radius(tl_body_shape(model, slot))) * model->property.scale[slot];
}

static talus_real margin_of(const work *job, uint32_t slot) {
  const tl_model *model = job->model;
  /* Springs need the pairs that overlap now or are within the reach of the law, and points that soon
   * will; a margin may add to that, but not reduce it. */
  if (model->solve.kind == TALUS_SOLVE_PENALTY) {
    const double reach = model->solve.law == TALUS_NOBLE ? model->solve.reach : 0;
    return TL_R(0.5 * fmax(model->margin, reach)) + tl_model_band(model, slot);
  }
  if (model->solve.kind == TALUS_SOLVE_ELASTIC) /* only pairs that overlap now */
    return 0;
  const bool is_adaptive = model->step == TALUS_STEP_ADAPTIVE;
  if (is_adaptive && !job->crowd->is_shortest)
    return tl_halo_of(model, slot);
  const bool is_given = model->margin >= 0 && !is_adaptive;
  if (is_given && model->unswept)
    return TL_R(0.5 * model->margin);
  const talus_real way = way_of(job, slot) + (is_adaptive ? tl_halo_of(model, slot) : 0);
  if (is_given)
    return way > inner_radius(model, slot) ? tl_max(way, TL_R(0.5 * model->margin))
                                           : TL_R(0.5 * model->margin);
  return !model->unswept || is_adaptive ? way : tl_min(way, inner_radius(model, slot));
}

/* Bonded bodies must stay in the contact set while they part: the margin of the body that moves
 * covers the reach of its bonds, which is that of the smaller body. With penalty a bond pulls only
 * where bodies overlap. */
static talus_real bond_margin(const tl_model *model, uint32_t slot) {
  if (!(model->law_kinds & TL_LAW_COHESION) || model->solve.kind == TALUS_SOLVE_PENALTY ||
      model->solve.kind == TALUS_SOLVE_ELASTIC || tl_body_is_static(model, slot))
    return 0;
  return tl_bond_reach_of(model, slot);
}

static void find_in_range(void *context, size_t begin, size_t end) {
  const work *job = context;
  const tl_state *in = job->crowd->in;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i);
    const talus_real margin = margin_of(job, slot) + bond_margin(job->model, slot);
    const talus_box box =
        tl_shape_bounds(tl_body_shape(job->model, slot), (double)job->model->property.scale[slot],
                        in->position[slot], in->rotation[slot]);
    job->margins[slot] = margin;
    job->boxes[i] = tl_box_grow(box, (double)margin);
  }
}

talus_status tl_shape_find_bounds(const tl_crowd *crowd, talus_box *boxes, talus_real *margins) {
  const tl_model *model = crowd->model;
  work job = {.model = model, .crowd = crowd, .boxes = boxes, .margins = margins};
  tl_for(&model->par, crowd->count, TL_BLOCK, find_in_range, &job);
  return TALUS_OK;
}
