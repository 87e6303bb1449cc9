/* Joints of a world: the public calls. */
#include "joint/guard.h"
#include "world/world.h"

#include <math.h>

talus_joint_def talus_joint_def_default(void) {
  return (talus_joint_def){.kind = TALUS_JOINT_SPHERICAL,
                           .axis = {0, 0, 1},
                           .length = -1,
                           .ratio = 1,
                           .low = -INFINITY,
                           .high = INFINITY,
                           .rest = NAN,
                           .motor_max = INFINITY,
                           .break_force = INFINITY,
                           .break_torque = INFINITY};
}

const char *talus_joint_kind_name(talus_joint_kind kind) {
  return tl_joint_kind_name((uint32_t)kind);
}

static talus_status slot_of(const talus_world *world, talus_body body, const char *what,
                            uint32_t *slot) {
  *slot = TL_NONE;
  if (body.index == 0 && body.generation == 0)
    return TALUS_OK;
  const talus_status status = tl_world_slot(world, body, slot);
  return status == TALUS_OK ? status : tl_fail_in(status, "%s", what);
}

/* The body's velocity is that of its surface, which a joint would mistake for the velocity of the
 * body. */
static talus_status check_surface(const talus_world *world, uint32_t slot, const char *what) {
  const uint32_t row = slot == TL_NONE ? TL_NONE : world->model.property.motion[slot];
  const tl_motion *m = row == TL_NONE ? NULL : &world->model.motions.data[row];
  for (uint32_t i = 0; m && i < m->count; ++i)
    if (tl_motion_is_surface(&world->model.motion_terms.data[m->first + i]))
      return tl_fail(TALUS_ERROR_INVALID, "%s: %s has a surface that runs, and takes no joints",
                     what, tl_world_describe(world, slot));
  return TALUS_OK;
}

/* Wakes the bodies of the joint, which have to find their rest anew. */
static void tell_changed(talus_world *world, const tl_joint *joint) {
  if (joint->a != TL_NONE)
    tl_changed(world, TL_CHANGED_FORCES, joint->a);
  if (joint->b != TL_NONE)
    tl_changed(world, TL_CHANGED_FORCES, joint->b);
}

/* Before a joint is changed, and with it those whom it holds. */
static talus_status need_joints(const talus_world *world) {
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  return tl_need(&world->where, TL_THE(joints) | TL_THE_AFTERMATH, TL_READ | TL_WRITE);
}

talus_status talus_world_add_joint(talus_world *world, const talus_joint_def *def,
                                   talus_joint *joint) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  tl_joints *joints = &world->joints;
  TL_TRY(tl_world_not_mapped(world, "add a joint"));
  if (def->name && tl_joints_named(joints, def->name) != SIZE_MAX)
    return tl_fail(TALUS_ERROR_INVALID,
                   "there are two joints named '%.100s'; give one another name", def->name);
  tl_joint made = {.uid = joints->next_uid + 1};
  TL_TRY(tl_copy_text(def->name, &made.name));
  uint32_t a = TL_NONE, b = TL_NONE;
  talus_status status = tl_need(&world->where, TL_THE_BODIES, TL_READ);
  if (status == TALUS_OK)
    status = need_joints(world);
  if (status == TALUS_OK)
    status = slot_of(world, def->a, tl_joint_describe(&made), &a);
  if (status == TALUS_OK)
    status = slot_of(world, def->b, tl_joint_describe(&made), &b);
  if (status == TALUS_OK)
    status = check_surface(world, a, tl_joint_describe(&made));
  if (status == TALUS_OK)
    status = check_surface(world, b, tl_joint_describe(&made));
  if (status == TALUS_OK)
    status = tl_joint_make(&world->model, &world->state, def, a, b, &made);
  if (status == TALUS_OK)
    status = tl_array_push(&joints->all, made);
  if (status != TALUS_OK) {
    void *name = made.name;
    if (name)
      (void)tl_resize(&name, strlen(made.name) + 1, 0);
    return status;
  }
  joints->next_uid++;
  tell_changed(world, &made);
  joints->must_assemble |= def->assemble;
  if (joint)
    joint->uid = made.uid;
  joints->apart_stale = true;
  return TALUS_OK;
}

static talus_status row_of(const talus_world *world, talus_joint joint, size_t *row) {
  *row = tl_joints_row(&world->joints, joint.uid);
  if (*row == SIZE_MAX)
    return tl_fail(TALUS_ERROR_STALE, "there is no joint %llu, or no longer",
                   (unsigned long long)joint.uid);
  return TALUS_OK;
}

talus_status talus_world_remove_joint(talus_world *world, talus_joint joint) {
  TL_MAY_CHANGE(world);
  size_t row;
  TL_TRY(tl_world_not_mapped(world, "remove a joint"));
  TL_TRY(row_of(world, joint, &row));
  TL_TRY(need_joints(world));
  tell_changed(world, &world->joints.all.data[row]);
  tl_joints_remove(&world->joints, row);
  return TALUS_OK;
}

talus_status talus_world_find_joint(const talus_world *world, const char *name,
                                    talus_joint *joint) {
  TL_NEED(world);
  TL_NEED(name);
  TL_NEED(joint);
  const size_t row = tl_joints_named(&world->joints, name);
  if (row == SIZE_MAX)
    return tl_fail(TALUS_ERROR_INVALID, "there is no joint named '%.100s'", name);
  joint->uid = world->joints.all.data[row].uid;
  return TALUS_OK;
}

size_t talus_world_joint_count(const talus_world *world) {
  TL_NEED_OR(world, 0);
  return world->joints.all.count;
}

talus_status talus_world_joint_at(const talus_world *world, size_t i, talus_joint *joint) {
  TL_NEED(world);
  TL_NEED(joint);
  if (i >= world->joints.all.count)
    return tl_fail(TALUS_ERROR_INVALID, "there is no joint number %zu of %zu", i,
                   world->joints.all.count);
  joint->uid = world->joints.all.data[i].uid;
  return TALUS_OK;
}

static uint64_t uid_of(const talus_world *world, uint32_t slot) {
  return slot == TL_NONE ? 0 : world->model.property.uid[slot];
}

talus_status talus_world_get_joint(const talus_world *world, talus_joint joint,
                                   talus_joint_info *info) {
  TL_NEED(world);
  TL_NEED(info);
  size_t row;
  TL_TRY(row_of(world, joint, &row));
  TL_TRY(tl_need(&world->where, TL_THE_POSE | TL_THE(uid) | TL_THE(joints), TL_READ));
  const tl_joint *j = &world->joints.all.data[row];
  *info = (talus_joint_info){.uid = j->uid,
                             .name = j->name,
                             .kind = (talus_joint_kind)j->kind,
                             .body_a = uid_of(world, j->a),
                             .body_b = uid_of(world, j->b),
                             .broken = j->broken,
                             .value = j->value,
                             .drift = j->drift,
                             .anchor = tl_joint_anchor_b(&world->state, j),
                             .force = j->force,
                             .torque = j->torque};
  return TALUS_OK;
}

talus_status talus_joint_set_motor(talus_world *world, talus_joint joint, double target,
                                   double max) {
  TL_MAY_CHANGE(world);
  size_t row;
  TL_TRY(row_of(world, joint, &row));
  TL_TRY(need_joints(world));
  tl_joint *j = &world->joints.all.data[row];
  if (j->motor == TALUS_MOTOR_NONE)
    return tl_fail(TALUS_ERROR_INVALID, "%s has no motor", tl_joint_describe(j));
  if (!tl_is_finite_d(target) || isnan(max))
    return tl_fail(TALUS_ERROR_INVALID, "%s: its motor cannot aim at %g with at most %g",
                   tl_joint_describe(j), target, max);
  tl_joint set = *j;
  set.motor_target = target;
  if (max > 0)
    set.motor_max = max;
  TL_TRY(tl_joint_check_motor_speed(&set, tl_model_substep(&world->model, world->model.dt)));
  *j = set;
  tell_changed(world, j);
  return TALUS_OK;
}

/* Serial: springs are few beside contacts. */
double tl_world_spring_energy(const talus_world *world) {
  const double dt =
      world->joints.dt > 0 ? world->joints.dt : tl_model_substep(&world->model, world->model.dt);
  tl_tally sum;
  if (world->joints.all.count == 0)
    return 0;
  tl_tally_clear(&sum);
  for (size_t i = 0; i < world->joints.all.count; ++i)
    tl_tally_add(
        &sum, tl_joint_spring_energy(&world->model, &world->state, dt, &world->joints.all.data[i]));
  return tl_tally_value(&sum);
}

void tl_world_tell_joints(talus_world *world) {
  tl_joints *joints = &world->joints;
  tl_joints_tell_drift(&world->model, joints, talus_world_time(world));
  for (size_t i = 0; i < joints->all.count; ++i)
    if (tl_joint_just_broke(&joints->all.data[i]))
      tell_changed(world, &joints->all.data[i]);
  tl_joints_tell_broken(joints, &world->model.log, talus_world_time(world));
}

talus_status tl_world_assemble(talus_world *world, tl_cancel *cancel, double *apart) {
  TL_TRY(tl_arena_reset(&world->arena));
  size_t worst;
  double left;
  TL_TRY(tl_need(&world->where, TL_THE_PROPERTY | TL_THE_MOTION, TL_READ));
  TL_TRY(
      tl_need(&world->where, TL_THE_POSE | TL_THE(joints) | TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  TL_TRY(tl_joints_assemble(&world->model, &world->joints, &world->state, &world->arena, cancel,
                            &worst, &left));
  tl_changed(world, TL_CHANGED_PAIRS, TL_EVERYBODY);
  if (apart)
    *apart = left;
  if (world->joints.all.count == 0) {
    world->joints.must_assemble = false;
    return TALUS_OK;
  }
  const tl_joint *joint = &world->joints.all.data[worst];
  const double size = (double)tl_joint_length_of(&world->model, joint);
  if (left > (sizeof(talus_real) == 4 ? 1e-4 : 1e-6) * size)
    return tl_fail(
        TALUS_ERROR_INVALID,
        "%s: its frames stay %.6g m apart, as near as bodies could be brought; the joints "
        "contradict each other: check lengths and anchors",
        tl_joint_describe(joint), left);
  world->joints.must_assemble = false;
  return TALUS_OK;
}

talus_status talus_world_assemble(talus_world *world, double *apart) {
  TL_MAY_CHANGE(world);
  TL_TRY(tl_world_not_mapped(world, "assemble"));
  return tl_world_assemble(world, NULL, apart);
}
