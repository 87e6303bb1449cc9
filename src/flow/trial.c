/* Trials: bodies that do not exist yet, and whether they touch existing ones. */
#include "base/trig.h"
#include "flow/place.h"
#include "narrow/narrow.h"
#include "shape/shape.h"

talus_status tl_trial_check(const tl_model *model, const talus_body_def *body, const char *what) {
  if (body->shape.index >= model->shapes.count)
    return tl_fail(TALUS_ERROR_INVALID, "%s: there is no shape %u (%zu were added)", what,
                   (unsigned)body->shape.index, model->shapes.count);
  if (body->material.index >= model->materials.count)
    return tl_fail(TALUS_ERROR_INVALID, "%s: there is no material %u (%zu were added)", what,
                   (unsigned)body->material.index, model->materials.count);
  const tl_shape *shape = &model->shapes.data[body->shape.index];
  if (!shape->bounded || !(shape->volume > 0))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a %s has no volume of its own; use a shape that can move freely", what,
                   tl_shape_kind_name(shape->kind));
  const talus_quat q = body->rotation;
  const talus_real square = tl_quat_dot(q, q);
  if (!(square > 0) || !tl_is_finite(square))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the rotation [%g, %g, %g, %g] is not valid; no rotation is [1, 0, 0, 0]",
                   what, (double)q.w, (double)q.x, (double)q.y, (double)q.z);
  if (!tl_is_finite3(body->velocity) || !tl_is_finite3(body->spin) || !tl_is_finite3(body->force) ||
      !tl_is_finite3(body->torque))
    return tl_fail(TALUS_ERROR_INVALID, "%s: velocity, spin, force or torque is not finite", what);
  if (!(body->mass >= 0) || !tl_is_finite_d(body->mass))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the mass is %g; it must be positive, or 0 to follow "
                   "from the density",
                   what, body->mass);
  if (body->lock & ~(uint32_t)TL_FLAG_LOCKS)
    return tl_fail(TALUS_ERROR_INVALID, "%s: unknown lock bits 0x%x", what, (unsigned)body->lock);
  return TALUS_OK;
}

tl_trial tl_trial_make(const tl_model *model, const talus_body_def *body, double scale,
                       talus_quat rotation) {
  const tl_shape *shape = &model->shapes.data[body->shape.index];
  return (tl_trial){.shape = shape,
                    .scale = scale,
                    .radius = scale * (double)shape->radius,
                    .rotation = tl_quat_mul(rotation, shape->axes),
                    .group = body->group};
}

talus_status tl_trial_check_period(const tl_model *model, const tl_trial *trial, const char *what) {
  const talus_domain_def *domain = &model->domain;
  const talus_dvec3 edge = tl_dsub(domain->box.hi, domain->box.lo);
  const double period[3] = {edge.x, edge.y, edge.z};
  for (int k = 0; k < 3 && domain->enabled; ++k)
    if (domain->periodic[k] && 2 * trial->radius > 0.5 * period[k])
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: a body with a bounding radius of %g m (scale %g) is longer than half the "
                     "period of the domain (%g m along %c)",
                     what, trial->radius, trial->scale, period[k], "xyz"[k]);
  return TALUS_OK;
}

/* From the frame to the centre of mass, in world axes. */
static talus_dvec3 lever(const tl_trial *trial, talus_quat rotation) {
  const talus_vec3 centre = tl_narrow(tl_dscale(trial->shape->centre, trial->scale));
  return tl_widen(tl_quat_rotate(rotation, centre));
}

talus_dvec3 tl_trial_frame(const tl_trial *trial, talus_quat rotation) {
  return tl_dsub(trial->centre, lever(trial, rotation));
}

talus_dvec3 tl_trial_centre(const tl_trial *trial, talus_dvec3 frame, talus_quat rotation) {
  return tl_dadd(frame, lever(trial, rotation));
}

/* Exact test for `other` at the origin and the trial at `offset`; their bounding spheres
 * overlap. */
static bool touches(const tl_posed *other, const tl_trial *trial, talus_dvec3 offset) {
  const tl_posed posed = {.shape = trial->shape,
                          .scale = (talus_real)trial->scale,
                          .position = offset,
                          .rotation = trial->rotation};
  return tl_narrow_touches(other, &posed);
}

static bool meets(const tl_model *model, const tl_posed *other, talus_dvec3 centre,
                  const tl_trial *trial) {
  /* As in the narrow phase, an unbounded body has no images. */
  if (!other->shape->bounded)
    return touches(other, trial, tl_dsub(trial->centre, centre));
  const talus_dvec3 offset = tl_model_offset(model, centre, trial->centre);
  const double reach = (double)other->scale * (double)other->shape->radius + trial->radius;
  return tl_ddot(offset, offset) <= reach * reach && touches(other, trial, offset);
}

bool tl_trial_hits_body(const tl_model *model, const tl_state *state, const tl_trial *trial,
                        uint32_t slot) {
  const tl_posed body = {.shape = tl_body_shape(model, slot),
                         .scale = model->property.scale[slot],
                         .rotation = state->rotation[slot]};
  return meets(model, &body, state->position[slot], trial) &&
         !tl_model_ignores(model, model->property.group[slot], trial->group);
}

bool tl_trial_hits_trial(const tl_model *model, const tl_trial *trial, const tl_trial *other) {
  const tl_posed posed = {
      .shape = other->shape, .scale = (talus_real)other->scale, .rotation = other->rotation};
  return meets(model, &posed, other->centre, trial) &&
         !tl_model_ignores(model, other->group, trial->group);
}

/* Shoemake 1992, "Uniform random rotations". */
talus_quat tl_place_rotation(uint64_t seed, uint32_t stream, uint64_t serial) {
  tl_random random = tl_random_start(seed, stream, serial);
  const double share = tl_random_unit(&random);
  const double first = 2 * TL_PI * tl_random_unit(&random);
  const double second = 2 * TL_PI * tl_random_unit(&random);
  const double a = sqrt(1 - share), b = sqrt(share);
  return tl_quat(TL_R(b * tl_cos_d(second)), TL_R(a * tl_sin_d(first)), TL_R(a * tl_cos_d(first)),
                 TL_R(b * tl_sin_d(second)));
}
