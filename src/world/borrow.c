/* Copies bodies and joints of one world to another: `from:` of a scene takes them from the end of
 * an earlier run. Tables of the old world are read in place; the new world is changed by public
 * calls, except for its shapes. */
#include <stdio.h>

#include "joint/guard.h"
#include "scene/from.h"
#include "shape/shape.h"
#include "world/borrow.h"
#include "world/select.h"

typedef struct borrower {
  const talus_world *old;
  talus_world *world;
  const talus_take_def *def;
  size_t own;                   /* so many materials of the world replace those of their name */
  TL_ARRAY(talus_shape) shapes; /* of the old world's rows */
  TL_ARRAY(talus_material) materials; /* likewise */
  TL_ARRAY(bool) is_own;              /* material: one of those that replace */
  tl_taken taken;
  TL_ARRAY(uint64_t) joints; /* uids of the new ones, by row of the old world; 0: not taken */
} borrower;

/* ---- shapes and materials -------------------------------------------------------------------- */

static talus_status borrow_shapes(borrower *b) {
  const tl_model *model = &b->old->model;
  TL_TRY(tl_array_resize(&b->shapes, model->shapes.count));
  for (size_t i = 0; i < model->shapes.count; ++i) {
    /* Copied, not made again: the principal axes of a symmetric solid hang on rounding. */
    TL_TRY(tl_array_reserve(&b->world->model.shapes, b->world->model.shapes.count + 1));
    tl_shape copy;
    TL_TRY(tl_shape_copy(&copy, &model->shapes.data[i]));
    b->shapes.data[i].index = (uint32_t)b->world->model.shapes.count;
    b->world->model.shapes.data[b->world->model.shapes.count++] = copy;
    if (b->world->model.narrow.tree == TALUS_TREE_SURROGATE)
      TL_TRY(
          tl_shape_need_surrogate(&b->world->model.shapes.data[b->world->model.shapes.count - 1]));
  }
  tl_changed(b->world, TL_CHANGED_TABLES, TL_EVERYBODY);
  return TALUS_OK;
}

static bool find_material(const borrower *b, const char *name, uint32_t *row) {
  for (size_t i = 0; name && i < b->own; ++i)
    if (b->world->model.materials.data[i].name &&
        strcmp(b->world->model.materials.data[i].name, name) == 0) {
      *row = (uint32_t)i;
      return true;
    }
  return false;
}

static talus_status borrow_materials(borrower *b) {
  const tl_model *model = &b->old->model;
  TL_TRY(tl_array_resize(&b->materials, model->materials.count));
  TL_TRY(tl_array_resize(&b->is_own, model->materials.count));
  for (size_t i = 0; i < model->materials.count; ++i) {
    const tl_material *material = &model->materials.data[i];
    b->is_own.data[i] = find_material(b, material->name, &b->materials.data[i].index);
    if (b->is_own.data[i])
      continue;
    const talus_material_def def = {.name = material->name,
                                    .density = (double)material->density,
                                    .friction = (double)material->law.friction,
                                    .restitution = (double)material->law.restitution,
                                    .static_friction = (double)material->law.static_friction,
                                    .rolling = (double)material->law.rolling,
                                    .spinning = (double)material->law.spinning,
                                    .cohesion = (double)material->law.cohesion,
                                    .rolling_coefficient =
                                        (double)material->law.rolling_coefficient,
                                    .surface_energy = (double)material->law.surface_energy,
                                    .stiffness = (double)material->law.stiffness,
                                    .young = (double)material->young,
                                    .poisson = (double)material->poisson};
    TL_TRY(talus_world_add_material(b->world, &def, &b->materials.data[i]));
  }
  for (size_t i = 0; i < b->old->overrides.count; ++i) {
    const tl_pair_override *pair = &b->old->overrides.data[i];
    if (b->is_own.data[pair->a] || b->is_own.data[pair->b])
      continue;
    talus_material_law law;
    const talus_material one = {pair->a}, other = {pair->b};
    TL_TRY(talus_world_get_material_law(b->old, one, other, &law));
    TL_TRY(talus_world_set_material_law(b->world, b->materials.data[pair->a],
                                        b->materials.data[pair->b], &law));
  }
  return TALUS_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static bool is_wanted(const borrower *b, uint32_t slot) {
  const talus_take_def *def = b->def;
  bool wanted = def->only_count == 0;
  for (size_t i = 0; i < def->only_count && !wanted; ++i)
    wanted = tl_selection_has(b->old, &def->only[i], slot);
  for (size_t i = 0; i < def->except_count && wanted; ++i)
    wanted = !tl_selection_has(b->old, &def->except[i], slot);
  return wanted;
}

/* Applies all changes of the selection to the body; the last change wins. Returns its motion, if it
 * gets one. */
static const talus_motion *change_body(const borrower *b, uint32_t slot, talus_body_def *def,
                                       bool *is_changed) {
  const talus_motion *motion = NULL;
  for (size_t i = 0; i < b->def->change_count; ++i) {
    const talus_change *change = &b->def->changes[i];
    if (!tl_selection_has(b->old, &change->who, slot))
      continue;
    *is_changed = true;
    if (change->material)
      def->material = *change->material;
    if (change->sets_kind) {
      def->kind = change->kind;
      motion = change->kind == TALUS_KINEMATIC ? change->motion : NULL;
    }
    if (change->force)
      def->force = *change->force;
    if (change->torque)
      def->torque = *change->torque;
  }
  return motion;
}

/* The definition of a body as it is now. Info has the centre of mass and the principal frame, the
 * definition the shape's own frame. */
static talus_status describe_body(borrower *b, uint32_t slot, const talus_body_info *info,
                                  talus_body_def *def) {
  const tl_properties *property = &b->old->model.property;
  const tl_shape *shape = &b->old->model.shapes.data[info->shape.index];
  *def = talus_body_def_default();
  def->name = info->name;
  def->kind = info->kind;
  def->shape = b->shapes.data[info->shape.index];
  def->material = b->materials.data[info->material.index];
  def->rotation = tl_quat_mul(info->rotation, tl_quat_conj(shape->axes));
  const talus_vec3 arm =
      tl_quat_rotate(def->rotation, tl_narrow(tl_dscale(shape->centre, (double)info->scale)));
  def->position = tl_dsub(info->position, tl_widen(arm));
  def->scale = (double)info->scale;
  def->lock = property->flags[slot] & TL_FLAG_LOCKS;
  if (info->kind == TALUS_FREE) {
    def->velocity = info->velocity;
    def->spin = info->spin;
    def->mass = (double)info->mass;
  }
  if (property->force)
    def->force = property->force[slot];
  if (property->torque)
    def->torque = property->torque[slot];
  if (property->group[slot] == 0)
    return TALUS_OK;
  return talus_world_group(b->world, b->old->groups.data[property->group[slot] - 1], &def->group);
}

/* Copies position and rotation once more, exactly: converting to the shape's frame and back may
 * round, and so may normalising. */
static talus_status place_exactly(borrower *b, talus_body body, const talus_body_info *info) {
  const uint32_t slot = (uint32_t)b->world->model.bodies - 1;
  TL_TRY(talus_body_set_pose(b->world, body, info->position, info->rotation));
  TL_TRY(tl_need(&b->world->where, TL_THE(rotation) | TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  b->world->state.rotation[slot] = info->rotation;
  tl_changed(b->world, TL_CHANGED_PLACE, slot);
  return TALUS_OK;
}

/* Whether the constant force on the body is against its weight, as that of a plate is. Without
 * gravity there is no weight, and no force. */
static bool is_borne(const talus_world *world, uint32_t slot) {
  const talus_vec3 g = world->model.gravity, zero = tl_vec3(0, 0, 0);
  const talus_vec3 force = world->model.property.force ? world->model.property.force[slot] : zero;
  const talus_real along = -tl_dot(force, g), most = tl_length(force) * tl_length(g);
  return most > 0 ? along > (1 - 100 * TL_REAL_EPS) * most : tl_length(force) == tl_length(g);
}

/* Whether the body is the plate of a press: held by a slider without a name, with a force that
 * bears its weight, or by springs. */
static bool presses(const borrower *b, uint32_t slot) {
  const talus_world *old = b->old;
  for (size_t i = 0; i < old->courses.count; ++i)
    if (old->courses.data[i].kind == TL_COURSE_PRESS &&
        old->courses.data[i].uid == old->model.property.uid[slot])
      return true;
  for (size_t i = 0; i < old->joints.all.count; ++i) {
    const tl_joint *joint = &old->joints.all.data[i];
    if (!joint->name && joint->a == TL_NONE && joint->b == slot &&
        joint->kind == TALUS_JOINT_PRISMATIC && joint->motor == TALUS_MOTOR_SPEED)
      return is_borne(old, slot);
  }
  return false;
}

/* The press holds its plate and bears its weight: another load would be lost in it. */
static talus_status check_loads(const borrower *b, uint32_t slot) {
  for (size_t i = 0; i < b->def->change_count; ++i) {
    const talus_change *change = &b->def->changes[i];
    if ((change->force || change->torque) && tl_selection_has(b->old, &change->who, slot) &&
        presses(b, slot))
      return tl_fail(
          TALUS_ERROR_INVALID,
          "a change gives %s another %s, but it presses, and its press alone loads it; "
          "leave it out (`except`) and add a plate with the new `press` (a joint without a "
          "name that moves a body along an axis of the ground, with a force against its weight, "
          "counts as a press: name it)",
          tl_world_describe(b->old, slot), change->force ? "force" : "torque");
  }
  return TALUS_OK;
}

static talus_status borrow_body(borrower *b, uint32_t slot) {
  talus_world *world = b->world;
  talus_body body;
  talus_body_info info;
  talus_body_def def;
  bool is_changed = false;
  TL_TRY(talus_world_body_at(b->old, slot, &body));
  TL_TRY(talus_world_get_body(b->old, body, &info));
  TL_TRY(describe_body(b, slot, &info, &def));
  const talus_motion *motion = change_body(b, slot, &def, &is_changed);
  if (motion)
    def.motion = *motion;
  if (is_changed && def.kind == TALUS_FREE)
    TL_TRY(check_loads(b, slot));
  if (info.uid > world->next_uid)
    world->next_uid = info.uid;
  TL_TRY(talus_world_add_body(world, &def, &body));
  const uint32_t fresh = (uint32_t)world->model.bodies - 1;
  b->taken.slots.data[slot] = fresh;
  b->taken.is_changed = b->taken.is_changed || is_changed;
  TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE(tables), TL_READ | TL_WRITE));
  world->model.property.flags[fresh] |= b->old->model.property.flags[slot] & TL_FLAG_SUNK;
  if (def.kind != TALUS_KINEMATIC)
    return place_exactly(b, body, &info);
  return motion || info.kind != TALUS_KINEMATIC
             ? TALUS_OK
             : tl_world_borrow_motion(world, fresh, b->old, slot);
}

static talus_status borrow_bodies(borrower *b) {
  const size_t n = talus_world_body_count(b->old);
  TL_TRY(tl_need(&b->old->where, TL_THE_BODIES | TL_THE(joints), TL_READ));
  TL_TRY(tl_array_resize(&b->taken.slots, n));
  b->taken.is_all = b->world->model.bodies == 0;
  for (uint32_t slot = 0; slot < n; ++slot) {
    b->taken.slots.data[slot] = TL_NONE;
    if (is_wanted(b, slot))
      TL_TRY(borrow_body(b, slot));
    else
      b->taken.is_all = false;
  }
  return TALUS_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static talus_status borrow_ignored(borrower *b) {
  const tl_model *model = &b->old->model;
  for (size_t i = 0; i < model->ignored.count; ++i) {
    uint32_t one, other;
    TL_TRY(talus_world_group(b->world, b->old->groups.data[model->ignored.data[i].a - 1], &one));
    TL_TRY(talus_world_group(b->world, b->old->groups.data[model->ignored.data[i].b - 1], &other));
    TL_TRY(talus_world_ignore_groups(b->world, one, other));
  }
  return TALUS_OK;
}

/* ---- joints ---------------------------------------------------------------------------------- */

/* TL_NONE for the ground; false if the body was not taken. */
static bool find_end(const borrower *b, uint32_t old, uint32_t *slot) {
  *slot = old == TL_NONE ? TL_NONE : b->taken.slots.data[old];
  return old == TL_NONE || *slot != TL_NONE;
}

/* Whether neither end can move, which a change may bring about: then the joint has nothing to hold.
 */
static bool is_held(const borrower *b, const tl_joint *joint) {
  const tl_model *model = &b->world->model;
  return (joint->a == TL_NONE || tl_body_is_static(model, joint->a)) &&
         (joint->b == TL_NONE || tl_body_is_static(model, joint->b));
}

/* Copies the joint with its state: turns, impulses, broken or not. Impulses of all joints of a
 * world belong to steps of one length. A joint without a name is that of a press. */
static talus_status borrow_joint(borrower *b, size_t row) {
  const tl_joint *old = &b->old->joints.all.data[row];
  tl_joints *joints = &b->world->joints;
  const tl_joints *theirs = &b->old->joints;
  tl_joint joint = *old;
  if (!find_end(b, old->a, &joint.a) || !find_end(b, old->b, &joint.b)) {
    tl_log_write(&b->world->model.log, TL_LOG_INFO, "%s is left out, as is a body that it holds",
                 tl_joint_describe(old));
    return TALUS_OK;
  }
  if (is_held(b, &joint)) {
    tl_log_write(&b->world->model.log, old->name ? TL_LOG_WARN : TL_LOG_INFO,
                 "%s is left out, as neither of its bodies can move now", tl_joint_describe(old));
    return TALUS_OK;
  }
  if (old->name && tl_joints_named(joints, old->name) != SIZE_MAX)
    return tl_fail(TALUS_ERROR_INVALID,
                   "there are two joints named '%.100s'; give one another name", old->name);
  if (tl_joint_acts(old))
    TL_TRY(tl_joint_check_motor_speed(old, tl_model_substep(&b->world->model, b->world->model.dt)));
  joint.name = NULL;
  joint.told = 0;
  joint.uid = old->uid > joints->next_uid ? old->uid : joints->next_uid + 1;
  TL_TRY(tl_array_reserve(&joints->all, joints->all.count + 1));
  TL_TRY(tl_copy_text(old->name, &joint.name));
  if (joints->all.count == 0)
    joints->dt = theirs->dt;
  tl_scale_reals(joint.impulse, TL_JOINT_ROWS, tl_step_ratio(theirs->dt, joints->dt));
  joints->all.data[joints->all.count++] = joint;
  joints->next_uid = b->joints.data[row] = joint.uid;
  joints->must_assemble |= theirs->must_assemble;
  return TALUS_OK;
}

static talus_status borrow_joints(borrower *b) {
  TL_TRY(tl_need(&b->old->where, TL_THE(joints), TL_READ));
  TL_TRY(tl_need(&b->world->where, TL_THE(joints), TL_READ | TL_WRITE));
  TL_TRY(tl_array_resize(&b->joints, b->old->joints.all.count));
  for (size_t i = 0; i < b->old->joints.all.count; ++i) {
    b->joints.data[i] = 0;
    TL_TRY(borrow_joint(b, i));
  }
  b->world->joints.apart_stale = true;
  return TALUS_OK;
}

/* ---- courses --------------------------------------------------------------------------------- */

static bool is_load_changed(const borrower *b, uint32_t slot, uint32_t kind) {
  for (size_t i = 0; i < b->def->change_count; ++i) {
    const talus_change *change = &b->def->changes[i];
    const bool has =
        kind == TL_COURSE_TORQUE ? change->torque != NULL : change->force || change->sets_kind;
    if (has && tl_selection_has(b->old, &change->who, slot))
      return true;
  }
  return false;
}

/* Of the new body or joint; 0 where the load does not come along. */
static uint64_t find_owner(const borrower *b, const tl_course *course) {
  if (course->kind == TL_COURSE_MOTOR || course->kind == TL_COURSE_MAX) {
    const size_t row = tl_joints_row(&b->old->joints, course->uid);
    return row == SIZE_MAX ? 0 : b->joints.data[row];
  }
  const uint32_t slot = tl_world_slot_of(b->old, course->uid);
  const uint32_t fresh = slot == TL_NONE ? TL_NONE : b->taken.slots.data[slot];
  if (fresh == TL_NONE || is_load_changed(b, slot, course->kind))
    return 0;
  return b->world->model.property.uid[fresh];
}

static talus_status borrow_courses(borrower *b) {
  for (size_t i = 0; i < b->old->courses.count; ++i) {
    const tl_course *course = &b->old->courses.data[i];
    TL_TRY(tl_need(&b->world->where, TL_THE_BODIES, TL_READ));
    const uint64_t uid = find_owner(b, course);
    if (uid > 0)
      TL_TRY(tl_world_borrow_course(b->world, b->old, course, uid));
  }
  return TALUS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static talus_status check(const borrower *b) {
  const talus_take_def *def = b->def;
  for (size_t i = 0; i < def->only_count; ++i)
    TL_TRY(tl_selection_check(b->old, &def->only[i]));
  for (size_t i = 0; i < def->except_count; ++i)
    TL_TRY(tl_selection_check(b->old, &def->except[i]));
  for (size_t i = 0; i < def->change_count; ++i) {
    const talus_change *change = &def->changes[i];
    TL_TRY(tl_selection_check(b->old, &change->who));
    if (change->sets_kind && change->kind == TALUS_KINEMATIC && !change->motion)
      return tl_fail(TALUS_ERROR_INVALID, "a change makes bodies kinematic; give them a motion");
  }
  return TALUS_OK;
}

static talus_status borrow_all(borrower *b) {
  TL_TRY(check(b));
  TL_TRY(borrow_shapes(b));
  TL_TRY(borrow_materials(b));
  const size_t before = b->world->model.bodies;
  talus_status status = borrow_bodies(b);
  if (status == TALUS_OK && b->world->model.bodies == before && b->old->model.bodies > 0)
    status = tl_fail(TALUS_ERROR_INVALID, "none of the %zu bodies is chosen", b->old->model.bodies);
  if (status == TALUS_OK)
    status = borrow_ignored(b);
  if (status == TALUS_OK)
    status = borrow_joints(b);
  if (status == TALUS_OK)
    status = borrow_courses(b);
  if (status == TALUS_OK)
    status = tl_world_borrow_contacts(b->world, b->old, &b->taken);
  return status == TALUS_OK ? status : tl_world_take_back(b->world, before, status);
}

talus_status tl_world_borrow(talus_world *world, const talus_world *old, const talus_take_def *def,
                             size_t own, tl_from_names *seen) {
  borrower b = {.old = old, .world = world, .def = def, .own = own};
  talus_status status = borrow_all(&b);
  for (size_t i = 0; seen && i < old->model.materials.count && status == TALUS_OK; ++i)
    status = tl_from_names_add(seen, old->model.materials.data[i].name);
  tl_array_free(&b.shapes);
  tl_array_free(&b.materials);
  tl_array_free(&b.is_own);
  tl_array_free(&b.taken.slots);
  tl_array_free(&b.joints);
  return status;
}

talus_status talus_world_take(talus_world *world, const talus_world *from,
                              const talus_take_def *def) {
  TL_MAY_CHANGE(world);
  TL_NEED(from);
  TL_NEED(def);
  TL_TRY(tl_world_not_mapped(world, "take bodies"));
  if (from == world)
    return tl_fail(TALUS_ERROR_INVALID, "a world cannot take its own bodies");
  return tl_world_borrow(world, from, def, world->model.materials.count, NULL);
}

static talus_status list_one(tl_from_names *list, const char *what, const char *name, size_t row) {
  char text[128];
  if (name)
    snprintf(text, sizeof text, "%s `%.100s`", what, name);
  else
    snprintf(text, sizeof text, "%s %zu", what, row);
  return tl_from_names_add(list, text);
}

talus_status tl_world_list_flow(const talus_world *old, tl_from_names *list) {
  const tl_flow *flow = &old->flow;
  for (size_t i = 0; i < flow->emitters.count; ++i)
    if (flow->emitters.data[i].def.until > talus_world_time(old))
      TL_TRY(list_one(list, "emitter", flow->emitters.data[i].def.name, i));
  for (size_t i = 0; i < flow->sinks.count; ++i)
    TL_TRY(list_one(list, "sink", flow->sinks.data[i].name, i));
  return TALUS_OK;
}
