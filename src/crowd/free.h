/* What a body would do if nothing touched it: the velocity that a step begins to solve with. */
#ifndef TL_FREE_H
#define TL_FREE_H

#include "crowd/asleep.h"
#include "crowd/crowd.h"

typedef struct tl_free {
  talus_vec3 velocity, spin; /* m/s, rad/s, world axes; constant over the step */
  bool movable;              /* by contacts */
} tl_free;

static inline talus_vec3 tl_free_unlocked(talus_vec3 v, uint32_t x, uint32_t y, uint32_t z) {
  return tl_vec3(x ? 0 : v.x, y ? 0 : v.y, z ? 0 : v.z);
}

/* For a free body: its velocity at t0, with gravity and loads over the step. For a kinematic body:
 * the velocity of its motion. For a fixed or sleeping body: 0. */
static inline tl_free tl_free_of(const tl_crowd *crowd, uint32_t slot) {
  const tl_model *model = crowd->model;
  const tl_properties *property = &model->property;
  const uint32_t flags = property->flags[slot], lock = flags & TL_FLAG_LOCKS;
  const talus_real h = TL_R(crowd->dt);
  tl_free f = {.movable = !(flags & TL_FLAG_STATIC) && !tl_is_asleep(crowd->in, slot)};
  if (!f.movable) {
    if (flags & TL_FLAG_KINEMATIC)
      tl_body_way(model, slot, crowd->t0, crowd->t1, crowd->dt, &f.velocity, &f.spin);
    return f;
  }
  f.velocity = tl_madd(crowd->in->velocity[slot], h, model->gravity);
  f.spin = crowd->in->spin[slot];
  if (property->force)
    f.velocity = tl_madd(f.velocity, h / property->mass[slot], property->force[slot]);
  if (property->torque) {
    const tl_sym3 inverse =
        tl_free_inverse_inertia(crowd->in->rotation[slot], tl_body_inertia(model, slot),
                                lock & TALUS_LOCK_RX, lock & TALUS_LOCK_RY, lock & TALUS_LOCK_RZ);
    f.spin = tl_madd(f.spin, h, tl_sym3_mul_vec(inverse, property->torque[slot]));
  }
  if (lock) {
    f.velocity =
        tl_free_unlocked(f.velocity, lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y, lock & TALUS_LOCK_Z);
    f.spin =
        tl_free_unlocked(f.spin, lock & TALUS_LOCK_RX, lock & TALUS_LOCK_RY, lock & TALUS_LOCK_RZ);
  }
  return f;
}

/* J: the work of constant loads other than gravity on a free body in the step, without contacts.
 * free: of the body, as above. */
static inline double tl_free_load_work(const tl_crowd *crowd, uint32_t slot, const tl_free *free) {
  const tl_properties *property = &crowd->model->property;
  double work = 0;
  if (property->force) {
    const talus_dvec3 force = tl_widen(property->force[slot]);
    const talus_dvec3 v = tl_widen(free->velocity);
    const double mass = (double)property->mass[slot], h = crowd->dt;
    work += h * (tl_ddot(force, v) - 0.5 * h * tl_ddot(force, force) / mass);
  }
  if (property->torque) {
    const talus_vec3 mean = tl_scale(tl_add(crowd->in->spin[slot], free->spin), TL_R(0.5));
    work += crowd->dt * tl_ddot(tl_widen(property->torque[slot]), tl_widen(mean));
  }
  return work;
}

#endif
