/* Bodies and joints of one world for another: what `from:` of a scene does with the end of an
 * earlier run. The tables of the old world are read where they are; the new one is changed by
 * public calls, but for its shapes. */
#include "joint/guard.h"
#include "scene/from.h"
#include "shape/shape.h"
#include "world/world.h"

typedef struct borrower {
  const talus_world *old;
  talus_world *world;
  const tl_names *names;
  TL_ARRAY(talus_shape) shapes;       /* of the old world's rows */
  TL_ARRAY(talus_material) materials; /* likewise */
  TL_ARRAY(bool) is_own;              /* material: of the scene */
} borrower;

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
  }
  tl_changed(b->world, TL_CHANGED_TABLES, TL_EVERYBODY);
  return TALUS_OK;
}

static talus_status borrow_materials(borrower *b) {
  const tl_model *model = &b->old->model;
  TL_TRY(tl_array_resize(&b->materials, model->materials.count));
  TL_TRY(tl_array_resize(&b->is_own, model->materials.count));
  for (size_t i = 0; i < model->materials.count; ++i) {
    const tl_material *material = &model->materials.data[i];
    uint32_t row = 0;
    b->is_own.data[i] = material->name && tl_names_find(b->names, material->name, &row);
    b->materials.data[i].index = row;
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

static talus_status borrow_body(borrower *b, size_t slot) {
  const tl_properties *property = &b->old->model.property;
  talus_body body;
  TL_TRY(tl_need(&b->old->where, TL_THE_BODIES, TL_READ));
  talus_body_info info;
  TL_TRY(talus_world_body_at(b->old, slot, &body));
  TL_TRY(talus_world_get_body(b->old, body, &info));
  const tl_shape *shape = &b->old->model.shapes.data[info.shape.index];
  talus_body_def def = talus_body_def_default();
  def.name = info.name;
  def.kind = info.kind;
  def.shape = b->shapes.data[info.shape.index];
  def.material = b->materials.data[info.material.index];
  /* Info has the centre of mass and the principal frame, the definition the shape's own frame. */
  def.rotation = tl_quat_mul(info.rotation, tl_quat_conj(shape->axes));
  const talus_vec3 arm =
      tl_quat_rotate(def.rotation, tl_narrow(tl_dscale(shape->centre, (double)info.scale)));
  def.position = tl_dsub(info.position, tl_widen(arm));
  def.scale = (double)info.scale;
  def.lock = property->flags[slot] & TL_FLAG_LOCKS;
  if (info.kind == TALUS_FREE) {
    def.velocity = info.velocity;
    def.spin = info.spin;
    def.mass = (double)info.mass;
  }
  if (property->force)
    def.force = property->force[slot];
  if (property->torque)
    def.torque = property->torque[slot];
  if (property->group[slot] != 0)
    TL_TRY(talus_world_group(b->world, b->old->groups.data[property->group[slot] - 1], &def.group));
  TL_TRY(talus_world_add_body(b->world, &def, &body));
  /* Once more and exactly: the way through the shape's frame and back may round, and so may making
   * a rotation of length 1 once more. */
  if (info.kind != TALUS_KINEMATIC) {
    TL_TRY(talus_body_set_pose(b->world, body, info.position, info.rotation));
    TL_TRY(tl_need(&b->world->where, TL_THE(rotation) | TL_THE_AFTERMATH, TL_READ | TL_WRITE));
    b->world->state.rotation[b->world->model.bodies - 1] = info.rotation;
    tl_changed(b->world, TL_CHANGED_PLACE, (uint32_t)b->world->model.bodies - 1);
    return TALUS_OK;
  }
  TL_TRY(tl_need(&b->world->where, TL_THE_BODIES | TL_THE(tables), TL_READ | TL_WRITE));
  return tl_world_borrow_motion(b->world, (uint32_t)b->world->model.bodies - 1, b->old,
                                (uint32_t)slot);
}

/* As it is: turns, impulses, broken or not. `base`: slot of the first body that was borrowed. */
static talus_status borrow_joint(borrower *b, const tl_joint *old, uint32_t base) {
  tl_joints *joints = &b->world->joints;
  TL_TRY(tl_need(&b->old->where, TL_THE(joints), TL_READ));
  TL_TRY(tl_need(&b->world->where, TL_THE(joints), TL_READ | TL_WRITE));
  tl_joint joint = *old;
  if (old->name && tl_joints_named(joints, old->name) != SIZE_MAX)
    return tl_fail(TALUS_ERROR_INVALID,
                   "there are two joints named '%.100s'; give one another name", old->name);
  if (tl_joint_acts(old))
    TL_TRY(tl_joint_check_motor_speed(old, tl_model_substep(&b->world->model, b->world->model.dt)));
  joint.name = NULL;
  joint.told = 0;
  joint.uid = joints->next_uid + 1;
  joint.a = old->a == TL_NONE ? TL_NONE : old->a + base;
  joint.b = old->b == TL_NONE ? TL_NONE : old->b + base;
  TL_TRY(tl_array_reserve(&joints->all, joints->all.count + 1));
  TL_TRY(tl_copy_text(old->name, &joint.name));
  if (joints->all.count == 0) /* impulses are of steps of that length */
    joints->dt = b->old->joints.dt;
  joints->all.data[joints->all.count++] = joint;
  joints->next_uid++;
  joints->must_assemble |= b->old->joints.must_assemble;
  return TALUS_OK;
}

static talus_status borrow_all(borrower *b) {
  TL_TRY(borrow_shapes(b));
  TL_TRY(borrow_materials(b));
  const size_t n = talus_world_body_count(b->old);
  const uint32_t base = (uint32_t)b->world->model.bodies;
  for (size_t slot = 0; slot < n; ++slot)
    TL_TRY(borrow_body(b, slot));
  for (size_t i = 0; i < b->old->joints.all.count; ++i)
    TL_TRY(borrow_joint(b, &b->old->joints.all.data[i], base));
  b->world->joints.apart_stale = true;
  return TALUS_OK;
}

talus_status tl_world_borrow(talus_world *world, const talus_world *old, const tl_names *materials,
                             tl_from_names *seen) {
  borrower b = {.old = old, .world = world, .names = materials};
  talus_status status = borrow_all(&b);
  for (size_t i = 0; i < old->model.materials.count && status == TALUS_OK; ++i)
    status = tl_from_names_add(seen, old->model.materials.data[i].name);
  tl_array_free(&b.shapes);
  tl_array_free(&b.materials);
  tl_array_free(&b.is_own);
  return status;
}
