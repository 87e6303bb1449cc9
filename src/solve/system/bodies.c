/* Solver bodies from the crowd: velocities with loads, inverse masses and inertia. */
#include "crowd/asleep.h"
#include "solve/system/system.h"

static talus_vec3 locked_out(talus_vec3 v, uint32_t x, uint32_t y, uint32_t z) {
  return tl_vec3(x ? 0 : v.x, y ? 0 : v.y, z ? 0 : v.z);
}

/* The velocity with which a kinematic body covers the displacement of its motion in this step. */
static void load_kinematic(const tl_system *system, uint32_t slot, tl_ccp_body *body) {
  const tl_crowd *crowd = system->crowd;
  tl_body_way(system->model, slot, crowd->t0, crowd->t1, crowd->dt, &body->v, &body->w);
}

/* kept: receives the tensor, or NULL. */
static void load_free(const tl_system *system, uint32_t slot, tl_ccp_body *body,
                      tl_ccp_tensor *kept) {
  const tl_model *model = system->model;
  const tl_properties *property = &model->property;
  const uint32_t lock = property->flags[slot] & TL_FLAG_LOCKS;
  const talus_real h = (talus_real)system->crowd->dt;
  const talus_vec3 inertia = tl_body_inertia(model, slot);
  tl_ccp_tensor tensor;
  body->inv_mass = 1 / property->mass[slot];
  tensor.inv_mass = tl_vec3(body->inv_mass, body->inv_mass, body->inv_mass);
  if (lock == 0 && tl_body_shape(model, slot)->isotropic) {
    body->inv_inertia = 1 / inertia.x;
    tensor.inv_inertia =
        tl_sym3_diagonal(tl_vec3(body->inv_inertia, body->inv_inertia, body->inv_inertia));
  } else {
    body->inv_inertia = -1;
    tensor.inv_inertia =
        tl_free_inverse_inertia(system->crowd->in->rotation[slot], inertia, lock & TALUS_LOCK_RX,
                                lock & TALUS_LOCK_RY, lock & TALUS_LOCK_RZ);
    tensor.inv_mass =
        locked_out(tensor.inv_mass, lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y, lock & TALUS_LOCK_Z);
  }
  if (kept)
    *kept = tensor;
  body->v = tl_madd(system->crowd->in->velocity[slot], h, model->gravity);
  body->w = system->crowd->in->spin[slot];
  if (property->force)
    body->v = tl_madd(body->v, h, tl_mul(tensor.inv_mass, property->force[slot]));
  if (property->torque)
    body->w = tl_madd(body->w, h, tl_sym3_mul_vec(tensor.inv_inertia, property->torque[slot]));
  if (lock) {
    body->v = locked_out(body->v, lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y, lock & TALUS_LOCK_Z);
    body->w = locked_out(body->w, lock & TALUS_LOCK_RX, lock & TALUS_LOCK_RY, lock & TALUS_LOCK_RZ);
  }
}

void tl_system_load_free(const tl_system *system, size_t member, tl_ccp_body *body) {
  load_free(system, tl_crowd_slot(system->crowd, member), body, NULL);
}

static void load_range(void *context, size_t begin, size_t end) {
  const tl_system *system = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(system->crowd, i);
    const uint32_t flags = system->model->property.flags[slot];
    const uint32_t rank = tl_system_member(system, i);
    tl_ccp_body *body = &system->bodies[rank];
    if ((flags & TL_FLAG_STATIC) || tl_is_asleep(system->crowd->in, slot)) {
      memset(body, 0, sizeof *body);
      if (system->tensors)
        memset(&system->tensors[rank], 0, sizeof *system->tensors);
      if (flags & TL_FLAG_KINEMATIC)
        load_kinematic(system, slot, body);
    } else {
      load_free(system, slot, body, system->tensors ? &system->tensors[rank] : NULL);
    }
  }
}

talus_status tl_system_load_bodies(tl_system *system) {
  const tl_crowd *crowd = system->crowd;
  if (system->summary.tensors)
    TL_TAKE(crowd->arena, crowd->count + 1, &system->tensors);
  if (system->tensors) /* sweeps load eight at a time, also those of isotropic bodies */
    memset(&system->tensors[crowd->count], 0, sizeof *system->tensors);
  memset(&system->bodies[crowd->count], 0, sizeof system->bodies[0]);
  tl_for(&system->model->par, crowd->count, 1024, load_range, system);
  return TALUS_OK;
}

tl_sym3 tl_system_turning(const tl_system *system, uint32_t body) {
  const tl_ccp_body *b = &system->bodies[body];
  if (b->inv_inertia < 0)
    return system->tensors[body].inv_inertia;
  return tl_sym3_diagonal(tl_vec3(b->inv_inertia, b->inv_inertia, b->inv_inertia));
}
