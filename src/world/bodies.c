/* Bodies of a world: adding, removing, looking up, setting. Rows stay in uid order: new bodies come
 * last and removal closes up without reordering, so that slot order is canonical order. */
#include "base/quote.h"
#include "crowd/asleep.h"
#include "narrow/narrow.h"
#include "scene/from.h"
#include "shape/shape.h"
#include "shape/solid.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>

const char *tl_world_describe(const talus_world *world, uint32_t slot) {
  static _Thread_local char text[2][128];
  static _Thread_local int turn;
  turn = !turn;
  if (tl_need(&world->where, TL_THE(uid), TL_READ) != TALUS_OK) {
    snprintf(text[turn], sizeof text[turn], "a body");
    return text[turn];
  }
  if (slot >= world->model.bodies) {
    snprintf(text[turn], sizeof text[turn], "no body in particular");
    return text[turn];
  }
  const uint64_t uid = world->model.property.uid[slot];
  const char *name = tl_world_name_of(world, uid);
  if (name)
    snprintf(text[turn], sizeof text[turn], "body %llu '%.80s'", (unsigned long long)uid, name);
  else
    snprintf(text[turn], sizeof text[turn], "body %llu", (unsigned long long)uid);
  tl_mend_text(text[turn]); /* a name may hold anything */
  return text[turn];
}

talus_status tl_world_slot(const talus_world *world, talus_body body, uint32_t *slot) {
  if (body.index == 0 || body.index > world->handles.count)
    return tl_fail(TALUS_ERROR_STALE, "no such body (handle %u:%u)", body.index, body.generation);
  const tl_handle *handle = &world->handles.data[body.index - 1];
  if (handle->generation != body.generation || handle->slot == TL_NONE)
    return tl_fail(TALUS_ERROR_STALE, "the body of handle %u:%u was removed", body.index,
                   body.generation);
  *slot = handle->slot;
  return TALUS_OK;
}

/* Allocates the lazy rows that this world needs; called again if memory was missing. */
static talus_status reserve_lazy(talus_world *world) {
  TL_TRY(tl_world_reserve_push(world));
  TL_TRY(tl_world_reserve_pace(world));
  return tl_world_reserve_sleep(world);
}

talus_status tl_world_reserve(talus_world *world, size_t n) {
  if (n <= world->capacity)
    return reserve_lazy(world);
  if (n >= TL_NONE)
    return tl_fail(TALUS_ERROR_INVALID, "%zu bodies are more than one world can hold", n);
  size_t capacity = world->capacity + world->capacity / 32 + 16;
  if (capacity < n)
    capacity = n;
  TL_TRY(tl_fields_resize(&world->state, tl_state_fields, TL_STATE_FIELD_COUNT, world->capacity,
                          capacity));
  const talus_status status = tl_fields_resize(&world->model.property, tl_property_fields,
                                               TL_PROPERTY_FIELD_COUNT, world->capacity, capacity);
  if (status != TALUS_OK) { /* as long as the others; to make it shorter cannot fail */
    (void)tl_fields_resize(&world->state, tl_state_fields, TL_STATE_FIELD_COUNT, capacity,
                           world->capacity);
    return status;
  }
  world->capacity = capacity;
  return reserve_lazy(world);
}

talus_status tl_world_expect(talus_world *world, uint64_t more) {
  TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE(tables), TL_READ | TL_WRITE));
  return tl_world_reserve(world, world->model.bodies + (size_t)more);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static talus_status check_numbers(const talus_body_def *def, const char *what) {
  if (!tl_is_finite_d(def->position.x) || !tl_is_finite_d(def->position.y) ||
      !tl_is_finite_d(def->position.z))
    return tl_fail(TALUS_ERROR_INVALID, "%s: its position is not finite", what);
  const talus_quat q = def->rotation;
  if (!(tl_quat_dot(q, q) > 0) || !tl_is_finite(tl_quat_dot(q, q)))
    return tl_fail(TALUS_ERROR_INVALID, "%s: its rotation (%g %g %g %g) is not a quaternion", what,
                   (double)q.w, (double)q.x, (double)q.y, (double)q.z);
  if (!tl_is_finite3(def->velocity) || !tl_is_finite3(def->spin))
    return tl_fail(TALUS_ERROR_INVALID, "%s: its velocity or spin is not finite", what);
  if (!tl_is_finite3(def->force) || !tl_is_finite3(def->torque))
    return tl_fail(TALUS_ERROR_INVALID, "%s: its force or torque is not finite", what);
  if (!(def->scale > 0) || !tl_is_finite_d(def->scale))
    return tl_fail(TALUS_ERROR_INVALID, "%s: its scale is %g; it must be positive", what,
                   def->scale);
  if (!(def->mass >= 0) || !tl_is_finite_d(def->mass))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: its mass is %g; give a positive one, or 0 for density times volume", what,
                   def->mass);
  return tl_world_check_motion(&def->motion, what);
}

static talus_status check_references(const talus_world *world, const talus_body_def *def,
                                     const char *what) {
  if ((unsigned)def->kind > TALUS_KINEMATIC)
    return tl_fail(TALUS_ERROR_INVALID, "%s: unknown kind of body %d", what, (int)def->kind);
  if (def->shape.index >= world->model.shapes.count)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: no such shape; add it with talus_world_add_shape first", what);
  if (def->material.index >= world->model.materials.count)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: no such material; add it with talus_world_add_material first", what);
  if (def->group > world->groups.count)
    return tl_fail(TALUS_ERROR_INVALID, "%s: no such group; make it with talus_world_group first",
                   what);
  if (def->lock & ~(uint32_t)TL_FLAG_LOCKS)
    return tl_fail(TALUS_ERROR_INVALID, "%s: unknown lock bits 0x%x", what, def->lock);
  const tl_shape *shape = &world->model.shapes.data[def->shape.index];
  if (def->kind == TALUS_FREE && !(shape->volume > 0))
    return shape->kind == TALUS_MESH ? tl_solid_refuse_free(shape, what)
                                     : tl_fail(TALUS_ERROR_INVALID,
                                               "%s: a %s has no mass and cannot be free; make it "
                                               "fixed or give it a motion",
                                               what, tl_shape_kind_name(shape->kind));
  if (def->name && tl_world_uid_of(world, def->name) != 0)
    return tl_fail(TALUS_ERROR_INVALID, "%s: there is a body of that name already", what);
  return TALUS_OK;
}

/* With periodic axes a pair meets through its nearest image only. That is right for bodies up to
 * half the period, and for static ones that go through the whole of it. A static mesh meets others
 * in all images that are near (narrow/parts_images.c). */
static talus_status check_period(const talus_world *world, const talus_body_def *def,
                                 const char *what) {
  const talus_domain_def *domain = &world->model.domain;
  const tl_shape *shape = &world->model.shapes.data[def->shape.index];
  if (!domain->enabled)
    return TALUS_OK;
  const talus_quat q = tl_quat_normalize(def->rotation);
  const talus_box box = tl_shape_bounds(shape, def->scale, def->position, q);
  const talus_vec3 normal =
      tl_quat_rotate(q, tl_vec3((talus_real)shape->size[0], (talus_real)shape->size[1],
                                (talus_real)shape->size[2]));
  const double lean[3] = {(double)normal.x, (double)normal.y, (double)normal.z};
  double size[3] = {box.hi.x - box.lo.x, box.hi.y - box.lo.y, box.hi.z - box.lo.z};
  const double period[3] = {domain->box.hi.x - domain->box.lo.x,
                            domain->box.hi.y - domain->box.lo.y,
                            domain->box.hi.z - domain->box.lo.z};
  const uint32_t no_turning = TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
  /* However it turns later. */
  const bool is_driven = def->kind == TALUS_KINEMATIC && shape->kind == TALUS_MESH;
  if (is_driven || (def->kind == TALUS_FREE && (def->lock & no_turning) != no_turning))
    size[0] = size[1] = size[2] = 2 * (double)shape->radius * def->scale;
  for (int k = 0; k < 3; ++k) {
    if (!domain->periodic[k])
      continue;
    if (!shape->bounded && fabs(lean[k]) > 1e-6)
      return tl_fail(
          TALUS_ERROR_INVALID,
          "%s: a plane cannot cross the periodic axis %c; its normal must be square to it", what,
          "xyz"[k]);
    if (shape->kind == TALUS_MESH && def->kind != TALUS_FREE) {
      if (tl_step_is_free(&world->model) && size[k] > 0.5 * period[k])
        return tl_fail(
            TALUS_ERROR_INVALID,
            "%s: it is %g m long on the periodic axis %c of %g m; with step: adaptive or "
            "local at most half of that",
            what, size[k], "xyz"[k], period[k]);
      if (size[k] > TL_PARTS_PERIODS * period[k])
        return tl_fail(TALUS_ERROR_INVALID,
                       "%s: it is %g m long on the periodic axis %c of %g m; a mesh may be as long "
                       "as %d periods",
                       what, size[k], "xyz"[k], period[k], TL_PARTS_PERIODS);
      continue;
    }
    if (shape->bounded && size[k] > 0.5 * period[k] &&
        !(def->kind != TALUS_FREE && size[k] >= period[k]))
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: it is %g m long on the periodic axis %c of %g m; at most half of that%s",
                     what, size[k], "xyz"[k], period[k],
                     def -> kind == TALUS_FREE ? "" : ", or all of it");
  }
  return TALUS_OK;
}

static talus_status take_handle(talus_world *world, uint32_t slot, uint32_t *index) {
  if (world->free_handles.count > 0) {
    *index = world->free_handles.data[--world->free_handles.count];
    world->handles.data[*index].slot = slot;
    return TALUS_OK;
  }
  *index = (uint32_t)world->handles.count;
  const tl_handle made = {slot, 1};
  return tl_array_push(&world->handles, made);
}

static talus_status find_mass(const talus_world *world, const talus_body_def *def, const char *what,
                              talus_real *mass) {
  const tl_shape *shape = &world->model.shapes.data[def->shape.index];
  const double density = (double)world->model.materials.data[def->material.index].density;
  *mass =
      (talus_real)(def->mass > 0 ? def->mass
                                 : density * shape->volume * def->scale * def->scale * def->scale);
  if (def->kind != TALUS_FREE)
    return TALUS_OK;
  const talus_vec3 inertia =
      tl_scale(shape->gyration, *mass * (talus_real)(def->scale * def->scale));
  const bool fine = tl_is_finite(*mass) && *mass > 0 && tl_is_finite(1 / *mass) && inertia.x > 0 &&
                    inertia.y > 0 && inertia.z > 0 && tl_is_finite(1 / inertia.x) &&
                    tl_is_finite(1 / inertia.y) && tl_is_finite(1 / inertia.z);
  if (!fine)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: its mass %g kg or its inertia is out of range; check size and density",
                   what, (double)*mass);
  return TALUS_OK;
}

static void write_pose(talus_world *world, uint32_t slot, const talus_body_def *def) {
  const tl_shape *shape = &world->model.shapes.data[def->shape.index];
  tl_state *state = &world->state;
  const talus_quat q = tl_quat_normalize(def->rotation);
  const talus_dvec3 offset = tl_dscale(shape->centre, def->scale);
  state->position[slot] = tl_moved(def->position, tl_quat_rotate(q, tl_narrow(offset)));
  state->rotation[slot] = tl_quat_mul(q, shape->axes);
  state->velocity[slot] = def->kind == TALUS_FREE ? def->velocity : tl_vec3(0, 0, 0);
  state->spin[slot] = def->kind == TALUS_FREE ? def->spin : tl_vec3(0, 0, 0);
}

/* Everything that can fail comes before the first change. */
static talus_status reserve_for(talus_world *world, const talus_body_def *def) {
  const size_t n = world->model.bodies + 1;
  TL_TRY(tl_world_reserve(world, n));
  TL_TRY(tl_array_reserve(&world->handles, world->handles.count + 1));
  TL_TRY(tl_array_reserve(&world->free_handles, world->handles.count + 1));
  if (def->kind == TALUS_KINEMATIC)
    TL_TRY(tl_world_reserve_motion(world, &def->motion));
  const bool force = tl_length2(def->force) > 0, torque = tl_length2(def->torque) > 0;
  for (int i = 0; i < TL_PROPERTY_FIELD_COUNT; ++i)
    if ((force && tl_property_fields[i].offset == offsetof(tl_properties, force)) ||
        (torque && tl_property_fields[i].offset == offsetof(tl_properties, torque)))
      TL_TRY(tl_field_wake(&world->model.property, &tl_property_fields[i], world->capacity));
  return TALUS_OK;
}

static void write_properties(talus_world *world, uint32_t slot, const talus_body_def *def,
                             talus_real mass) {
  tl_properties *p = &world->model.property;
  p->uid[slot] = world->next_uid++;
  p->mass[slot] = mass;
  p->scale[slot] = (talus_real)def->scale;
  p->shape[slot] = def->shape.index;
  p->material[slot] = def->material.index;
  p->group[slot] = def->group;
  p->flags[slot] = def->kind == TALUS_FREE        ? def->lock
                   : def->kind == TALUS_KINEMATIC ? (uint32_t)TL_FLAG_KINEMATIC
                                                  : (uint32_t)TL_FLAG_FIXED;
  p->motion[slot] = TL_NONE;
  if (p->force)
    p->force[slot] = def->force;
  if (p->torque)
    p->torque[slot] = def->torque;
}

talus_status talus_world_add_body(talus_world *world, const talus_body_def *def, talus_body *body) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  char what[128];
  if (def->name)
    snprintf(what, sizeof what, "body '%.100s'", def->name);
  else
    snprintf(what, sizeof what, "a new body"); /* a refused body does not use up a uid */
  TL_TRY(tl_world_not_mapped(world, "add a body"));
  TL_TRY(check_numbers(def, what));
  TL_TRY(check_references(world, def, what));
  TL_TRY(check_period(world, def, what));
  if (def->kind == TALUS_KINEMATIC)
    TL_TRY(tl_world_check_surface(&def->motion, &world->model.shapes.data[def->shape.index],
                                  def->rotation, what));
  talus_real mass;
  TL_TRY(find_mass(world, def, what, &mass));
  TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE(tables), TL_READ | TL_WRITE));
  TL_TRY(reserve_for(world, def));
  char *name;
  TL_TRY(tl_copy_text(def->name, &name));
  if (name && tl_world_add_name(world, world->next_uid, name) != TALUS_OK) {
    void *block = name;
    (void)tl_resize(&block, strlen(name) + 1, 0);
    return TALUS_ERROR_MEMORY;
  }

  const uint32_t slot = (uint32_t)world->model.bodies;
  uint32_t handle;
  TL_TRY(take_handle(world, slot, &handle));
  /* Rows behind the last body may be those of bodies that were removed. */
  tl_fields_clear(&world->state, tl_state_fields, TL_STATE_FIELD_COUNT, slot);
  tl_fields_clear(&world->model.property, tl_property_fields, TL_PROPERTY_FIELD_COUNT, slot);
  write_pose(world, slot, def);
  write_properties(world, slot, def, mass);
  world->model.property.handle[slot] = handle;
  if (def->kind == TALUS_KINEMATIC)
    tl_world_add_motion(world, slot, &def->motion);
  world->model.bodies++;
  tl_changed(world, TL_CHANGED_PLACE | TL_CHANGED_PAIRS, slot);
  if (body)
    *body = (talus_body){handle + 1, world->handles.data[handle].generation};
  return TALUS_OK;
}

/* ---- removing -------------------------------------------------------------------------------- */

static void forget(talus_world *world, uint32_t slot) {
  const uint32_t handle = world->model.property.handle[slot];
  world->handles.data[handle].slot = TL_NONE;
  world->handles.data[handle].generation++;
  world->free_handles.data[world->free_handles.count++] =
      handle; /* room was made when it was added */
}

talus_status tl_world_compact(talus_world *world, const uint8_t *remove, size_t *removed) {
  tl_model *model = &world->model;
  const tl_arena_mark mark = tl_arena_get_mark(&world->arena);
  uint32_t *new_slot;
  TL_TRY(tl_need(&world->where, TL_THE_WHOLE, TL_READ | TL_WRITE | TL_OR_NONE));
  TL_TAKE(&world->arena, model->bodies, &new_slot);
  size_t kept = 0;
  tl_world_wake_touching(world, remove);
  for (size_t slot = 0; slot < model->bodies; ++slot) {
    new_slot[slot] = TL_NONE;
    if (remove[slot]) {
      forget(world, (uint32_t)slot);
      continue;
    }
    new_slot[slot] = (uint32_t)kept;
    if (kept != slot) {
      tl_fields_move(&world->state, tl_state_fields, TL_STATE_FIELD_COUNT, kept, slot);
      tl_fields_move(&model->property, tl_property_fields, TL_PROPERTY_FIELD_COUNT, kept, slot);
      world->handles.data[model->property.handle[kept]].slot = (uint32_t)kept;
    }
    kept++;
  }
  *removed = model->bodies - kept;
  model->bodies = kept;
  tl_changed(world, TL_CHANGED_PAIRS, TL_EVERYBODY); /* nobody is pushed by who has gone */
  if (*removed > 0)
    tl_contacts_renumber(&world->contacts, new_slot);
  if (*removed > 0 && world->joints.all.count > 0)
    tl_joints_renumber(&world->joints, &model->log, new_slot);
  tl_arena_release(&world->arena, mark);
  return *removed > 0 && world->names.count > 0 ? tl_world_index_names(world) : TALUS_OK;
}

talus_status talus_world_remove_body(talus_world *world, talus_body body) {
  TL_MAY_CHANGE(world);
  uint32_t slot;
  TL_TRY(tl_world_not_mapped(world, "remove a body"));
  TL_TRY(tl_world_slot(world, body, &slot));
  TL_TRY(tl_arena_reset(&world->arena));
  uint8_t *remove;
  TL_TAKE(&world->arena, world->model.bodies, &remove);
  memset(remove, 0, world->model.bodies);
  remove[slot] = 1;
  size_t removed;
  return tl_world_compact(world, remove, &removed);
}

/* ---- looking up and setting ------------------------------------------------------------------ */

static talus_body handle_of(const talus_world *world, uint32_t slot) {
  const uint32_t index = world->model.property.handle[slot];
  return (talus_body){index + 1, world->handles.data[index].generation};
}

static talus_body_kind kind_of(uint32_t flags) {
  return flags & TL_FLAG_KINEMATIC ? TALUS_KINEMATIC
         : flags & TL_FLAG_FIXED   ? TALUS_FIXED
                                   : TALUS_FREE;
}

talus_status talus_world_get_body(const talus_world *world, talus_body body,
                                  talus_body_info *info) {
  TL_NEED(world);
  TL_NEED(info);
  uint32_t slot;
  TL_TRY(tl_world_slot(world, body, &slot));
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  const tl_properties *p = &world->model.property;
  *info = (talus_body_info){.uid = p->uid[slot],
                            .name = tl_world_name_of(world, p->uid[slot]),
                            .kind = kind_of(p->flags[slot]),
                            .shape = {p->shape[slot]},
                            .material = {p->material[slot]},
                            .position = world->state.position[slot],
                            .rotation = world->state.rotation[slot],
                            .velocity = world->state.velocity[slot],
                            .spin = world->state.spin[slot],
                            .mass = p->mass[slot],
                            .inertia = tl_body_inertia(&world->model, slot),
                            .scale = p->scale[slot],
                            .asleep = tl_is_asleep(&world->state, slot)};
  return TALUS_OK;
}

talus_status talus_world_find_body(const talus_world *world, const char *name, talus_body *body) {
  TL_NEED(world);
  TL_NEED(name);
  TL_NEED(body);
  const uint64_t uid = tl_world_uid_of(world, name);
  if (uid == 0)
    return tl_fail(TALUS_ERROR_INVALID, "there is no body named '%.100s'", name);
  TL_TRY(tl_need(&world->where, TL_THE(uid) | TL_THE(handle), TL_READ));
  *body = handle_of(world, tl_world_slot_of(world, uid));
  return TALUS_OK;
}

talus_status talus_world_body_at(const talus_world *world, size_t slot, talus_body *body) {
  TL_NEED(world);
  TL_NEED(body);
  if (slot >= world->model.bodies)
    return tl_fail(TALUS_ERROR_INVALID, "there is no body in row %zu of %zu", slot,
                   world->model.bodies);
  TL_TRY(tl_need(&world->where, TL_THE(handle), TL_READ));
  *body = handle_of(world, (uint32_t)slot);
  return TALUS_OK;
}

talus_status talus_body_set_pose(talus_world *world, talus_body body, talus_dvec3 position,
                                 talus_quat rotation) {
  TL_MAY_CHANGE(world);
  uint32_t slot;
  TL_TRY(tl_world_not_mapped(world, "set a pose"));
  TL_TRY(tl_world_slot(world, body, &slot));
  const talus_real length2 = tl_quat_dot(rotation, rotation);
  if (!tl_is_finite_d(position.x) || !tl_is_finite_d(position.y) || !tl_is_finite_d(position.z) ||
      !(length2 > 0) || !tl_is_finite(length2))
    return tl_fail(TALUS_ERROR_INVALID, "%s: the pose is not finite, or the rotation is zero",
                   tl_world_describe(world, slot));
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  if (world->model.property.flags[slot] & TL_FLAG_KINEMATIC)
    return tl_fail(TALUS_ERROR_INVALID, "%s: its pose follows from its motion",
                   tl_world_describe(world, slot));
  TL_TRY(tl_need(&world->where, TL_THE_POSE | TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  world->state.position[slot] = position;
  world->state.rotation[slot] = tl_quat_normalize(rotation);
  tl_changed(world, TL_CHANGED_PLACE, slot);
  return TALUS_OK;
}

talus_status talus_body_set_velocity(talus_world *world, talus_body body, talus_vec3 velocity,
                                     talus_vec3 spin) {
  TL_MAY_CHANGE(world);
  uint32_t slot;
  TL_TRY(tl_world_not_mapped(world, "set a velocity"));
  TL_TRY(tl_world_slot(world, body, &slot));
  if (!tl_is_finite3(velocity) || !tl_is_finite3(spin))
    return tl_fail(TALUS_ERROR_INVALID, "%s: the velocity or spin is not finite",
                   tl_world_describe(world, slot));
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  if (tl_body_is_static(&world->model, slot))
    return tl_fail(TALUS_ERROR_INVALID, "%s: only free bodies have a velocity to set",
                   tl_world_describe(world, slot));
  TL_TRY(tl_need(&world->where, TL_THE_MOTION | TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  world->state.velocity[slot] = velocity;
  world->state.spin[slot] = spin;
  tl_changed(world, TL_CHANGED_FORCES, slot);
  return TALUS_OK;
}

talus_status talus_body_set_force(talus_world *world, talus_body body, talus_vec3 force,
                                  talus_vec3 torque) {
  TL_MAY_CHANGE(world);
  uint32_t slot;
  TL_TRY(tl_world_not_mapped(world, "set a force"));
  TL_TRY(tl_world_slot(world, body, &slot));
  if (!tl_is_finite3(force) || !tl_is_finite3(torque))
    return tl_fail(TALUS_ERROR_INVALID, "%s: the force or torque is not finite",
                   tl_world_describe(world, slot));
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  TL_TRY(tl_need(&world->where, TL_THE(force) | TL_THE(torque) | TL_THE_AFTERMATH,
                 TL_READ | TL_WRITE));
  talus_body_def loads = {.force = force, .torque = torque};
  TL_TRY(reserve_for(world, &loads));
  if (world->model.property.force)
    world->model.property.force[slot] = force;
  if (world->model.property.torque)
    world->model.property.torque[slot] = torque;
  tl_changed(world, TL_CHANGED_FORCES, slot);
  return TALUS_OK;
}
