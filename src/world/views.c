/* Mapped views: whole arrays lent to the user. */
#include "world/world.h"

#include <stdatomic.h>

/* Tickets are unique among all worlds: a view is known by its ticket, so that a view of another
 * world, or a copy of an unmapped view, is recognised. */
static uint64_t next_ticket(void) {
  static _Atomic uint64_t last;
  return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* Which field of which list a public name stands for, and whether users may write it. */
typedef struct view_row {
  bool of_state;
  size_t offset;
  bool writable;
} view_row;

static const view_row views[TALUS_FIELDS] = {
    [TALUS_FIELD_POSITION] = {true, offsetof(tl_state, position), true},
    [TALUS_FIELD_ROTATION] = {true, offsetof(tl_state, rotation), true},
    [TALUS_FIELD_VELOCITY] = {true, offsetof(tl_state, velocity), true},
    [TALUS_FIELD_SPIN] = {true, offsetof(tl_state, spin), true},
    [TALUS_FIELD_FORCE] = {false, offsetof(tl_properties, force), true},
    [TALUS_FIELD_TORQUE] = {false, offsetof(tl_properties, torque), true},
    [TALUS_FIELD_UID] = {false, offsetof(tl_properties, uid), false},
    [TALUS_FIELD_MASS] = {false, offsetof(tl_properties, mass), false},
    [TALUS_FIELD_SCALE] = {false, offsetof(tl_properties, scale), false},
    [TALUS_FIELD_SHAPE] = {false, offsetof(tl_properties, shape), false},
    [TALUS_FIELD_MATERIAL] = {false, offsetof(tl_properties, material), false},
    [TALUS_FIELD_GROUP] = {false, offsetof(tl_properties, group), false},
};

static const tl_field *field_of(const view_row *row) {
  const tl_field *field = row->of_state ? tl_state_fields : tl_property_fields;
  while (field->offset != row->offset)
    field++;
  return field;
}

/* The view as it was returned: bodies are not added, removed or moved while it is mapped. */
static talus_view show(talus_world *world, const tl_mapping *mapping) {
  const view_row *row = &views[mapping->field];
  const tl_field *info = field_of(row);
  void *arrays = row->of_state ? (void *)&world->state : (void *)&world->model.property;
  return (talus_view){.data = tl_field_rows(arrays, info),
                      .rows = world->model.bodies,
                      .columns = info->columns,
                      .scalar = (talus_scalar)info->scalar,
                      .field = mapping->field,
                      .access = mapping->access,
                      .ticket = mapping->ticket};
}

talus_status talus_view_map(talus_world *world, talus_field field, int access, talus_view *view) {
  TL_MAY_CHANGE(world);
  TL_NEED(view);
  if ((unsigned)field >= TALUS_FIELDS)
    return tl_fail(TALUS_ERROR_INVALID, "there is no field number %d", (int)field);
  if (access == 0 || (access & ~(TALUS_READ | TALUS_WRITE)))
    return tl_fail(TALUS_ERROR_INVALID, "a view is for TALUS_READ, TALUS_WRITE or both");
  const view_row *row = &views[field];
  const tl_field *info = field_of(row);
  if ((access & TALUS_WRITE) && !row->writable)
    return tl_fail(TALUS_ERROR_INVALID, "the field %s is read only", info->name);
  void *arrays = row->of_state ? (void *)&world->state : (void *)&world->model.property;
  TL_TRY(tl_need(&world->where, tl_field_bit(info),
                 (unsigned)access & TALUS_WRITE ? TL_READ | TL_WRITE : TL_READ));
  TL_TRY(tl_field_wake(arrays, info, world->capacity));
  const tl_mapping made = {next_ticket(), field, access};
  TL_TRY(tl_array_push(&world->mapped, made));
  *view = show(world, &made);
  return TALUS_OK;
}

static bool is_finite_at(const talus_view *view, size_t i) {
  return view->scalar == TALUS_FLOAT64   ? tl_is_finite_d(((const double *)view->data)[i])
         : view->scalar == TALUS_FLOAT32 ? tl_is_finite_d((double)((const float *)view->data)[i])
                                         : true;
}

/* Rotations are stored as unit quaternions whatever was written. */
static talus_status normalise(const talus_world *world, const talus_view *view) {
  talus_quat *q = view->data;
  for (size_t i = 0; i < view->rows; ++i)
    if (!(tl_quat_dot(q[i], q[i]) > 0))
      return tl_fail(TALUS_ERROR_INVALID, "%s: a rotation of zero length was written",
                     tl_world_describe(world, (uint32_t)i));
  for (size_t i = 0; i < view->rows; ++i)
    q[i] = tl_quat_normalize(q[i]);
  return TALUS_OK;
}

/* Row of a view among those that are mapped, or SIZE_MAX. */
static size_t find_mapping(const talus_world *world, const talus_view *view) {
  for (size_t i = 0; i < world->mapped.count; ++i)
    if (world->mapped.data[i].ticket == view->ticket)
      return i;
  return SIZE_MAX;
}

static talus_status take_written(talus_world *world, const talus_view *view) {
  for (size_t i = 0; i < view->rows * (size_t)view->columns; ++i)
    if (!is_finite_at(view, i))
      return tl_fail(TALUS_ERROR_INVALID, "%s: a value that is not finite was written to its %s",
                     tl_world_describe(world, (uint32_t)(i / (size_t)view->columns)),
                     field_of(&views[view->field])->name);
  TL_TRY(tl_need(&world->where, TL_THE(flags) | TL_THE_MOTION, TL_READ));
  TL_TRY(tl_need(&world->where, tl_field_bit(field_of(&views[view->field])) | TL_THE_AFTERMATH,
                 TL_READ | TL_WRITE));
  if (view->field == TALUS_FIELD_ROTATION)
    TL_TRY(normalise(world, view));
  const bool is_speed = view->field == TALUS_FIELD_VELOCITY || view->field == TALUS_FIELD_SPIN;
  const bool is_load = view->field == TALUS_FIELD_FORCE || view->field == TALUS_FIELD_TORQUE;
  tl_changed(world,
             is_speed  ? TL_CHANGED_FORCES
             : is_load ? TL_CHANGED_LAWS
                       : TL_CHANGED_PLACE,
             TL_EVERYBODY);
  return TALUS_OK;
}

talus_status talus_view_unmap(talus_world *world, talus_view *view) {
  TL_MAY_CHANGE(world);
  TL_NEED(view);
  const size_t at = find_mapping(world, view);
  if (at == SIZE_MAX)
    return tl_fail(TALUS_ERROR_STALE,
                   "the view is not mapped in this world: it was unmapped before, belongs to "
                   "another world, or was never mapped");
  if (world->mapped.data[at].access & TALUS_WRITE) {
    const talus_view own = show(world, &world->mapped.data[at]);
    TL_TRY(take_written(world, &own));
  }
  world->mapped.data[at] = world->mapped.data[--world->mapped.count];
  *view = (talus_view){.rows = 0, .field = view->field};
  return TALUS_OK;
}
