/* Moves bodies: from velocities at t1 to poses at t1. */
#include "kernels/rotation.h"
#include "crowd/asleep.h"
#include "step/step.h"

#include <math.h>
#include <string.h>

#define AHEAD 8 /* velocities between prefetching one and using it */

typedef struct move_job {
  const tl_model *model;
  const tl_crowd *crowd;
  tl_twists twists;
} move_job;

static double wrap(double x, double lo, double hi) {
  if (x >= lo && x < hi)
    return x;
  const double length = hi - lo;
  const double wrapped = x - length * floor((x - lo) / length);
  return wrapped < hi ? wrapped : lo; /* x slightly below lo can round up to hi */
}

talus_dvec3 tl_step_wrap(const talus_domain_def *domain, talus_dvec3 x) {
  if (domain->periodic[0])
    x.x = wrap(x.x, domain->box.lo.x, domain->box.hi.x);
  if (domain->periodic[1])
    x.y = wrap(x.y, domain->box.lo.y, domain->box.hi.y);
  if (domain->periodic[2])
    x.z = wrap(x.z, domain->box.lo.z, domain->box.hi.z);
  return x;
}

static void move_kinematic(const tl_crowd *crowd, uint32_t slot) {
  const tl_model *model = crowd->model;
  const tl_moving m = tl_body_moving(model, slot, crowd->t1);
  crowd->out->position[slot] = m.position;
  crowd->out->rotation[slot] = tl_dquat_narrow(m.rotation);
  crowd->out->velocity[slot] = tl_narrow(m.velocity);
  crowd->out->spin[slot] = tl_narrow(m.spin);
}

/* Turns a body by a shift, if the shift has a spin; that of spheres pushed apart has none. */
static void turn_by(talus_vec3 spin, talus_real h, bool is_isotropic, talus_quat *q,
                    talus_vec3 *w) {
  if (spin.x != 0 || spin.y != 0 || spin.z != 0) {
    const talus_quat turn = tl_quat_from_rotation_vector(tl_scale(spin, h));
    *q = tl_quat_mul(turn, *q);
    /* The spin turns with the body: with the same spin about other axes of the body its energy
     * would be different. */
    if (!is_isotropic)
      *w = tl_quat_rotate(turn, *w);
  }
  *q = tl_quat_renormalize(*q);
}

/* True for a ball that was never turned and does not spin: tl_free_rotation would return the same
 * bits, at the cost of most of a step of hard spheres. */
static bool is_unturned(const tl_shape *shape, const talus_quat *q, talus_vec3 w) {
  static const talus_quat unturned = {1, 0, 0, 0}; /* no zero of it is -0 */
  return shape->isotropic && w.x == 0 && w.y == 0 && w.z == 0 &&
         memcmp(q, &unturned, sizeof unturned) == 0;
}

/* Moves a free body. Rotation locks hold the axis of rotation in the world, so a locked body turns
 * about its present spin; other bodies follow Euler's equations. */
static void move_free(const tl_crowd *crowd, uint32_t slot, talus_vec3 v, talus_vec3 w,
                      const tl_twist *shift) {
  const tl_model *model = crowd->model;
  const uint32_t rotation_locks = TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
  const talus_real h = (talus_real)crowd->dt;
  talus_quat q = crowd->in->rotation[slot];
  if (!is_unturned(tl_body_shape(model, slot), &q, w)) {
    talus_vec3 inertia = tl_body_inertia(model, slot);
    if (model->property.flags[slot] & rotation_locks)
      inertia = tl_vec3(1, 1, 1);
    tl_free_rotation(&q, &w, inertia, h);
  }
  talus_dvec3 x = tl_dmadd(crowd->in->position[slot], crowd->dt, v);
  if (shift) {
    x = tl_dmadd(x, crowd->dt, shift->velocity);
    turn_by(shift->spin, h, tl_body_shape(model, slot)->isotropic, &q, &w);
  }
  if (model->domain.enabled)
    x = tl_step_wrap(&model->domain, x);
  crowd->out->position[slot] = x;
  crowd->out->rotation[slot] = q;
  crowd->out->velocity[slot] = v;
  crowd->out->spin[slot] = w;
}

static void stay(const tl_crowd *crowd, uint32_t slot) {
  crowd->out->position[slot] = crowd->in->position[slot];
  crowd->out->rotation[slot] = crowd->in->rotation[slot];
  crowd->out->velocity[slot] = tl_vec3(0, 0, 0);
  crowd->out->spin[slot] = tl_vec3(0, 0, 0);
}

static void move_range(void *context, size_t begin, size_t end) {
  const move_job *job = context;
  const tl_crowd *crowd = job->crowd;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i), flags = job->model->property.flags[slot];
    if (job->twists.row && i + AHEAD < end) /* solver bodies are in another order */
      __builtin_prefetch(tl_twist_place(job->twists, i + AHEAD));
    if (crowd->out->sleep_flags && crowd->out->sleep_flags != crowd->in->sleep_flags)
      crowd->out->sleep_flags[slot] = crowd->in->sleep_flags[slot];
    if (crowd->out->slow_since && crowd->out->slow_since != crowd->in->slow_since)
      crowd->out->slow_since[slot] = crowd->in->slow_since[slot];
    if (tl_is_asleep(crowd->in, slot)) {
      stay(crowd, slot);
      if (crowd->out->sleep_flags)
        crowd->out->sleep_flags[slot] = TL_SLEEP_ASLEEP;
    } else if (flags & TL_FLAG_KINEMATIC) {
      move_kinematic(crowd, slot);
    } else if (flags & TL_FLAG_FIXED) {
      stay(crowd, slot);
    } else {
      const tl_twist twist = tl_twist_of(job->twists, i);
      const tl_twist shift = tl_shift_of(job->twists, i);
      move_free(crowd, slot, twist.velocity, twist.spin, job->twists.shift ? &shift : NULL);
    }
  }
}

void tl_step_move(const tl_crowd *crowd, tl_twists twists) {
  const tl_model *model = crowd->model;
  move_job job = {model, crowd, twists};
  tl_for(&model->par, crowd->count, 512, move_range, &job);
}
