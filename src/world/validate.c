/* Checks that the numbers of a file or of a caller make a valid world. A loaded world is not
 * trusted. */
#include "crowd/asleep.h"
#include "world/world.h"

#include <math.h>

static talus_status check_settings(const tl_model *model) {
  const talus_domain_def *domain = &model->domain;
  if (!(model->dt > 0) || !tl_is_finite_d(model->dt) || !tl_is_finite3(model->gravity))
    return tl_fail(TALUS_ERROR_FORMAT, "its dt or gravity is out of range");
  if ((unsigned)model->broad > TALUS_BROAD_BVH || !tl_is_finite_d(model->skin) ||
      (unsigned)model->narrow.ellipsoid > TALUS_ELLIPSOID_CHM_OPM ||
      (unsigned)model->solve.kind > TALUS_SOLVE_ELASTIC ||
      (unsigned)model->solve.law > TALUS_NOBLE ||
      (model->solve.kind == TALUS_SOLVE_PENALTY &&
       (!(model->solve.reach > 0) || !(model->solve.tangential > 0))) ||
      (unsigned)model->solve.friction > TALUS_FRICTION_CCP ||
      (unsigned)model->solve.method > TALUS_BB ||
      (unsigned)model->solve.reduction > TALUS_REDUCTION_COLOURS || model->solve.iterations < 0 ||
      !tl_is_finite_d(model->solve.tolerance) || isnan(model->solve.recovery_speed) ||
      !(model->solve.recovery >= 0 && model->solve.recovery <= 1) || !(model->solve.omega > 0) ||
      !(model->solve.lambda > 0 && model->solve.lambda <= 1) ||
      !tl_is_finite_d(model->solve.slop) ||
      !(model->solve.correction >= 0 && model->solve.correction <= 1) ||
      isnan(model->solve.bounce_speed) || !tl_is_finite_d(model->margin) ||
      tl_sleep_check(&model->sleep) != TALUS_OK)
    return tl_fail(TALUS_ERROR_FORMAT, "its solver settings are out of range");
  if (domain->enabled &&
      (!tl_box_is_finite(domain->box) || !(domain->box.lo.x < domain->box.hi.x) ||
       !(domain->box.lo.y < domain->box.hi.y) || !(domain->box.lo.z < domain->box.hi.z) ||
       (unsigned)domain->outside > TALUS_OUTSIDE_REMOVE))
    return tl_fail(TALUS_ERROR_FORMAT, "its domain is out of range");
  if (model->laws.count != model->materials.count * model->materials.count)
    return tl_fail(TALUS_ERROR_FORMAT, "its table of material pairs has the wrong size");
  for (size_t i = 0; i < model->laws.count; ++i)
    if (!tl_law_is_valid(&model->laws.data[i]))
      return tl_fail(TALUS_ERROR_FORMAT, "a law of a material pair is out of range");
  return TALUS_OK;
}

/* What is wrong with the body in a slot, or NULL. */
static const char *find_fault(const talus_world *world, size_t slot) {
  const tl_model *model = &world->model;
  const tl_properties *p = &model->property;
  const talus_dvec3 x = world->state.position[slot];
  const talus_quat q = world->state.rotation[slot];
  if (!tl_is_finite_d(x.x) || !tl_is_finite_d(x.y) || !tl_is_finite_d(x.z))
    return "its position is not finite";
  if (!(tl_abs(tl_quat_dot(q, q) - 1) < TL_R(1e-3)))
    return "its rotation is not a unit quaternion";
  if (!tl_is_finite3(world->state.velocity[slot]) || !tl_is_finite3(world->state.spin[slot]))
    return "its velocity is not finite";
  if (p->shape[slot] >= model->shapes.count || p->material[slot] >= model->materials.count)
    return "its shape or material does not exist";
  if (p->group[slot] > world->groups.count)
    return "its group does not exist";
  if (!(p->scale[slot] > 0) || !tl_is_finite(p->scale[slot]) || !tl_is_finite(p->mass[slot]))
    return "its scale or mass is out of range";
  const talus_vec3 inertia = tl_body_inertia(model, slot);
  if (!tl_body_is_static(model, slot) &&
      (!(p->mass[slot] > 0) || !(inertia.x > 0) || !(inertia.y > 0) || !(inertia.z > 0)))
    return "it is free but has no mass";
  if ((p->flags[slot] & TL_FLAG_KINEMATIC) && p->motion[slot] >= model->motions.count)
    return "its motion does not exist";
  if (p->handle[slot] >= world->handles.count || world->handles.data[p->handle[slot]].slot != slot)
    return "its handle is another body's";
  if (slot > 0 && p->uid[slot] <= p->uid[slot - 1])
    return "bodies are not in the order of their uids";
  const uint32_t sleep_flags = world->state.sleep_flags ? world->state.sleep_flags[slot] : 0;
  if ((sleep_flags & TL_SLEEP_FALLING) ||
      (sleep_flags & TL_SLEEP_ASLEEP &&
       (!(model->sleep.speed > 0) || tl_body_is_static(model, slot) ||
        sleep_flags != TL_SLEEP_ASLEEP || tl_length2(world->state.velocity[slot]) > 0 ||
        tl_length2(world->state.spin[slot]) > 0)))
    return "it sleeps, but it moves or cannot sleep";
  if (p->uid[slot] >= world->next_uid)
    return "its uid was never given out";
  if ((p->force && !tl_is_finite3(p->force[slot])) ||
      (p->torque && !tl_is_finite3(p->torque[slot])))
    return "its force or torque is not finite";
  return NULL;
}

static bool contact_precedes(const tl_contact *x, const tl_contact *y) {
  if (x->a != y->a)
    return x->a < y->a;
  if (x->b != y->b)
    return x->b < y->b;
  return x->feature_a != y->feature_a ? x->feature_a < y->feature_a : x->feature_b < y->feature_b;
}

static talus_status check_contacts(const talus_world *world) {
  const tl_contact *rows = world->contacts.data;
  for (size_t i = 0; i < world->contacts.count; ++i) {
    if (rows[i].a >= world->model.bodies || rows[i].b >= world->model.bodies ||
        rows[i].a >= rows[i].b)
      return tl_fail(TALUS_ERROR_FORMAT, "contact %zu is between bodies that do not exist", i);
    if (!tl_is_finite3(rows[i].impulse) || !tl_is_finite3(rows[i].normal) ||
        !tl_is_finite(rows[i].gap))
      return tl_fail(TALUS_ERROR_FORMAT, "contact %zu is not finite", i);
    if (i > 0 && !contact_precedes(&rows[i - 1], &rows[i]))
      return tl_fail(TALUS_ERROR_FORMAT, "contacts are not in canonical order");
  }
  for (size_t i = 0; i < world->contacts.law_states.count; ++i)
    if (world->contacts.law_states.data[i].state >= TL_CONTACT_STATES)
      return tl_fail(TALUS_ERROR_FORMAT, "contact %zu has a state that there is not", i);
  return TALUS_OK;
}

static talus_status check_springs(const talus_world *world) {
  const tl_contacts *contacts = &world->contacts;
  const bool is_used = world->model.solve.kind == TALUS_SOLVE_PENALTY;
  if (contacts->springs.count != 0 && (!is_used || contacts->springs.count != contacts->count))
    return tl_fail(TALUS_ERROR_FORMAT, "there are %zu springs for %zu contacts",
                   contacts->springs.count, contacts->count);
  if (is_used && world->model.bodies > 0 &&
      (!world->state.spring_force || !world->state.spring_torque))
    return tl_fail(TALUS_ERROR_FORMAT, "the forces of springs are missing");
  return TALUS_OK;
}

static talus_status check_sleep(const talus_world *world) {
  if (world->state.sleep_flags && !world->state.slow_since)
    return tl_fail(TALUS_ERROR_FORMAT, "it is missing since when bodies are slow");
  return TALUS_OK;
}

talus_status tl_world_validate(const talus_world *world) {
  TL_TRY(check_settings(&world->model));
  TL_TRY(tl_need(&world->where, TL_THE_WHOLE, TL_READ | TL_OR_NONE));
  for (size_t i = 0; i < world->model.bodies; ++i) {
    const char *fault = find_fault(world, i);
    if (fault)
      return tl_fail(TALUS_ERROR_FORMAT, "%s: %s", tl_world_describe(world, (uint32_t)i), fault);
  }
  for (size_t i = 0; i < world->free_handles.count; ++i)
    if (world->free_handles.data[i] >= world->handles.count ||
        world->handles.data[world->free_handles.data[i]].slot != TL_NONE)
      return tl_fail(TALUS_ERROR_FORMAT, "the list of free handles is wrong");
  TL_TRY(check_sleep(world));
  TL_TRY(check_springs(world));
  return check_contacts(world);
}
