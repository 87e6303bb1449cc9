/* From velocities at t1 to poses at t1. */
#include "kernels/rotation.h"
#include "crowd/rest.h"
#include "step/step.h"

#include <math.h>

#define AHEAD 8 /* velocities that are asked for before they are needed */

typedef struct move_job {
  const tl_model *model;
  const tl_scope *scope;
  tl_twists twists;
} move_job;

static double wrap(double x, double lo, double hi) {
  if (x >= lo && x < hi)
    return x;
  const double length = hi - lo;
  const double wrapped = x - length * floor((x - lo) / length);
  return wrapped < hi ? wrapped : lo; /* x a hair below lo can round up to hi */
}

static talus_dvec3 wrapped(const talus_domain_def *domain, talus_dvec3 x) {
  if (domain->periodic[0])
    x.x = wrap(x.x, domain->box.lo.x, domain->box.hi.x);
  if (domain->periodic[1])
    x.y = wrap(x.y, domain->box.lo.y, domain->box.hi.y);
  if (domain->periodic[2])
    x.z = wrap(x.z, domain->box.lo.z, domain->box.hi.z);
  return x;
}

static void move_kinematic(const tl_model *model, const tl_scope *scope, uint32_t slot) {
  const tl_moving m = tl_body_moving(model, slot, scope->t1);
  scope->out->position[slot] = m.position;
  scope->out->rotation[slot] = tl_dquat_narrow(m.rotation);
  scope->out->velocity[slot] = tl_narrow(m.velocity);
  scope->out->spin[slot] = tl_narrow(m.spin);
}

/* Rotation locks hold the axis of rotation in the world, so a locked body turns about its spin as
 * it stands; a free one does what Euler's equations say. */
static void move_free(const tl_model *model, const tl_scope *scope, uint32_t slot, talus_vec3 v,
                      talus_vec3 w, const tl_twist *shift) {
  const uint32_t rotation_locks = TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
  const talus_real h = (talus_real)scope->dt;
  talus_quat q = scope->in->rotation[slot];
  talus_vec3 inertia = tl_body_inertia(model, slot);
  if (model->property.flags[slot] & rotation_locks)
    inertia = tl_vec3(1, 1, 1);
  tl_free_rotation(&q, &w, inertia, h);
  talus_dvec3 x = tl_dmadd(scope->in->position[slot], scope->dt, v);
  if (shift) {
    const talus_quat turn = tl_quat_from_rotation_vector(tl_scale(shift->spin, h));
    x = tl_dmadd(x, scope->dt, shift->velocity);
    q = tl_quat_renormalize(tl_quat_mul(turn, q));
    /* Spin goes round with the body: about other axes of it the same spin has another energy. */
    if (!tl_body_shape(model, slot)->isotropic)
      w = tl_quat_rotate(turn, w);
  }
  if (model->domain.enabled)
    x = wrapped(&model->domain, x);
  scope->out->position[slot] = x;
  scope->out->rotation[slot] = q;
  scope->out->velocity[slot] = v;
  scope->out->spin[slot] = w;
}

static void stay(const tl_scope *scope, uint32_t slot) {
  scope->out->position[slot] = scope->in->position[slot];
  scope->out->rotation[slot] = scope->in->rotation[slot];
  scope->out->velocity[slot] = tl_vec3(0, 0, 0);
  scope->out->spin[slot] = tl_vec3(0, 0, 0);
}

static void move_range(void *context, size_t begin, size_t end) {
  const move_job *job = context;
  const tl_scope *scope = job->scope;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_scope_slot(scope, i), flags = job->model->property.flags[slot];
    if (job->twists.row && i + AHEAD < end) /* solver bodies stand in another order */
      __builtin_prefetch(tl_twist_of(job->twists, i + AHEAD));
    if (scope->out->rest && scope->out->rest != scope->in->rest)
      scope->out->rest[slot] = scope->in->rest[slot];
    if (scope->out->slow_since && scope->out->slow_since != scope->in->slow_since)
      scope->out->slow_since[slot] = scope->in->slow_since[slot];
    if (tl_rest_is_asleep(scope->in, slot)) {
      stay(scope, slot);
      if (scope->out->rest)
        scope->out->rest[slot] = TL_REST_ASLEEP;
    } else if (flags & TL_FLAG_KINEMATIC) {
      move_kinematic(job->model, scope, slot);
    } else if (flags & TL_FLAG_FIXED) {
      stay(scope, slot);
    } else {
      const tl_twist *twist = tl_twist_of(job->twists, i);
      const tl_twist shift = tl_shift_of(job->twists, i);
      move_free(job->model, scope, slot, twist->velocity, twist->spin,
                job->twists.shift ? &shift : NULL);
    }
  }
}

void tl_step_move(const tl_model *model, const tl_scope *scope, tl_twists twists) {
  move_job job = {model, scope, twists};
  tl_for(&model->par, scope->count, 512, move_range, &job);
}
