#include "step/crowd.h"

/* ---- rows ------------------------------------------------------------------------------------ */

static void free_rows(tl_crowd *crowd) {
  const size_t n = crowd->capacity;
  (void)tl_fields_resize(&crowd->before, tl_state_fields, TL_STATE_FIELD_COUNT, n, 0);
  (void)tl_fields_resize(&crowd->after, tl_state_fields, TL_STATE_FIELD_COUNT, n, 0);
  (void)tl_fields_resize(&crowd->model.property, tl_property_fields, TL_PROPERTY_FIELD_COUNT, n, 0);
  crowd->capacity = 0;
}

/* Room for `capacity` rows of every field that the source has; the others go. What is there has
 * that room already. */
static talus_status reserve_list(void *to, const void *from, const tl_field *fields, int n,
                                 size_t capacity) {
  for (int i = 0; i < n; ++i) {
    void *block = tl_field_rows(to, &fields[i]);
    const bool is_wanted = tl_field_rows(from, &fields[i]) != NULL;
    const size_t bytes = capacity * fields[i].bytes;
    if (is_wanted != (block != NULL))
      TL_TRY(tl_resize(&block, block ? bytes : 0, is_wanted ? bytes : 0));
    tl_field_set_rows(to, &fields[i], block);
  }
  return TALUS_OK;
}

static void copy_rows(void *to, const void *from, const tl_field *fields, int n,
                      const uint32_t *slots, size_t count) {
  for (int i = 0; i < n; ++i) {
    unsigned char *rows = tl_field_rows(to, &fields[i]);
    const unsigned char *all = tl_field_rows(from, &fields[i]);
    const size_t bytes = fields[i].bytes;
    for (size_t row = 0; rows && row < count; ++row)
      memcpy(rows + row * bytes, all + slots[row] * bytes, bytes);
  }
}

/* What was in the rows does not matter. */
static talus_status reserve(tl_crowd *crowd, const tl_crowd_source *from, size_t count) {
  if (count > crowd->capacity) {
    free_rows(crowd);
    crowd->capacity = count;
  }
  const size_t n = crowd->capacity;
  TL_TRY(reserve_list(&crowd->before, from->state, tl_state_fields, TL_STATE_FIELD_COUNT, n));
  TL_TRY(reserve_list(&crowd->after, from->state, tl_state_fields, TL_STATE_FIELD_COUNT, n));
  return reserve_list(&crowd->model.property, &from->model->property, tl_property_fields,
                      TL_PROPERTY_FIELD_COUNT, n);
}

/* ---- contacts and joints --------------------------------------------------------------------- */

/* Row of a slot, or TL_NONE. */
static uint32_t row_of(const tl_crowd *crowd, uint32_t slot) {
  size_t lo = 0, hi = crowd->slots.count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (crowd->slots.data[middle] < slot)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < crowd->slots.count && crowd->slots.data[lo] == slot ? (uint32_t)lo : TL_NONE;
}

/* Contact i of the source becomes the last one of the crowd. */
static talus_status add_contact(tl_crowd *crowd, const tl_contacts *from, size_t i) {
  tl_contacts *to = &crowd->contacts_before;
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    const tl_record *record = &tl_contact_records[r];
    const tl_any_array all = tl_contacts_array(from, record);
    tl_any_array array = tl_contacts_array(to, record);
    if (r > 0 && (all.count == 0 || all.count != from->count))
      continue;
    TL_TRY(tl_array_grow(&array.data, &array.capacity, array.count + 1, record->bytes));
    memcpy((unsigned char *)array.data + array.count * record->bytes,
           (const unsigned char *)all.data + i * record->bytes, record->bytes);
    array.count++;
    tl_contacts_set_array(to, record, array);
  }
  return TALUS_OK;
}

/* Contacts are in the order of body a, so those of each row lie together. */
static talus_status gather_contacts(tl_crowd *crowd, const tl_contacts *from) {
  tl_contacts *to = &crowd->contacts_before;
  tl_contacts_clear(to);
  tl_contacts_clear(&crowd->contacts_after);
  to->dt = from->dt;
  for (uint32_t row = 0; row < crowd->count; ++row) {
    const uint32_t slot = crowd->slots.data[row];
    for (size_t i = tl_contacts_first_of(from, slot); i < from->count && from->data[i].a == slot;
         ++i) {
      const uint32_t b = row_of(crowd, from->data[i].b);
      if (b == TL_NONE)
        continue;
      TL_TRY(add_contact(crowd, from, i));
      to->data[to->count - 1].a = row;
      to->data[to->count - 1].b = b;
    }
  }
  return TALUS_OK;
}

/* The end of a joint in the crowd; false: it is outside. */
static bool find_end(const tl_crowd *crowd, uint32_t slot, uint32_t *row) {
  *row = slot == TL_NONE ? TL_NONE : row_of(crowd, slot);
  return slot == TL_NONE || *row != TL_NONE;
}

/* Names are the source's. */
static talus_status gather_joints(tl_crowd *crowd, const tl_joints *from) {
  crowd->joints.all.count = 0;
  crowd->joints.apart_stale = true;
  crowd->joints.dt = from ? from->dt : 0;
  for (size_t i = 0; from && i < from->all.count; ++i) {
    tl_joint joint = from->all.data[i];
    if (find_end(crowd, joint.a, &joint.a) && find_end(crowd, joint.b, &joint.b))
      TL_TRY(tl_array_push(&crowd->joints.all, joint));
  }
  return tl_joints_prepare(&crowd->joints);
}

static tl_crowd_springs springs_of(const tl_penalty *p) {
  return (tl_crowd_springs){p->is_pushed, p->stored, p->damping, p->friction};
}

static void set_springs(tl_penalty *p, tl_crowd_springs springs) {
  p->is_pushed = springs.is_pushed;
  p->stored = springs.stored;
  p->damping = springs.damping;
  p->friction = springs.friction;
}

/* Springs of the crowd are those of the source, though the crowd's own lightest body may be
 * heavier. */
static void gather_penalty(tl_crowd *crowd, const tl_penalty *from, bool is_all) {
  tl_penalty *to = &crowd->penalty;
  to->is_general = true; /* the list of balls is the world's */
  to->is_known = false;
  if (!from)
    return;
  to->is_pushed = from->is_pushed && is_all; /* what is outside does not push */
  to->stored = from->stored;
  to->damping = from->damping;
  to->friction = from->friction;
  crowd->springs_after = springs_of(to);
  to->auto_stiffness = from->auto_stiffness;
}

/* ---- all of it ------------------------------------------------------------------------------- */

talus_status tl_crowd_gather(tl_crowd *crowd, const tl_crowd_source *from, const uint32_t *slots,
                             size_t count) {
  const tl_properties own = crowd->model.property;
  crowd->model = *from->model;
  crowd->model.property = own;
  crowd->model.par.threads = 1;
  crowd->count = crowd->model.bodies = 0;
  TL_TRY(reserve(crowd, from, count));
  TL_TRY(tl_array_resize(&crowd->slots, count));
  if (count > 0)
    memcpy(crowd->slots.data, slots, count * sizeof *slots);
  copy_rows(&crowd->before, from->state, tl_state_fields, TL_STATE_FIELD_COUNT, slots, count);
  copy_rows(&crowd->model.property, &from->model->property, tl_property_fields,
            TL_PROPERTY_FIELD_COUNT, slots, count);
  crowd->count = crowd->model.bodies = count;
  TL_TRY(gather_contacts(crowd, from->contacts));
  TL_TRY(gather_joints(crowd, from->joints));
  gather_penalty(crowd, from->penalty, count == from->model->bodies);
  return TALUS_OK;
}

static talus_status step_springs(tl_crowd *crowd, const tl_backend *backend, const tl_scope *scope,
                                 tl_step_report *report) {
  const tl_crowd_springs before = springs_of(&crowd->penalty);
  const talus_status status = tl_step_verlet(backend, &crowd->model, scope, &crowd->contacts_before,
                                             &crowd->contacts_after, report);
  crowd->springs_after = springs_of(&crowd->penalty);
  set_springs(&crowd->penalty, before);
  return status;
}

talus_status tl_crowd_step(tl_crowd *crowd, const tl_backend *backend, double t0, double t1,
                           double dt, tl_step_report *report) {
  TL_TRY(tl_arena_reset(&crowd->arena));
  crowd->dt = dt;
  const tl_scope scope = {.count = crowd->count,
                          .t0 = t0,
                          .t1 = t1,
                          .dt = dt,
                          .in = &crowd->before,
                          .out = &crowd->after,
                          .arena = &crowd->arena,
                          .joints = crowd->joints.all.count > 0 ? &crowd->joints : NULL,
                          .joints_after = crowd->joints.after.data,
                          .penalty = &crowd->penalty};
  if (crowd->model.solve.kind == TALUS_SOLVE_PENALTY)
    return step_springs(crowd, backend, &scope, report);
  return tl_step_fixed(backend, &crowd->model, &scope, &crowd->contacts_before,
                       &crowd->contacts_after, report);
}

void tl_crowd_swap(tl_crowd *crowd) {
  const tl_state was = crowd->before;
  crowd->before = crowd->after;
  crowd->after = was;
  tl_contacts_swap(&crowd->contacts_before, &crowd->contacts_after);
  tl_joints_take(&crowd->joints, crowd->dt);
  set_springs(&crowd->penalty, crowd->springs_after);
}

void tl_crowd_scatter(const tl_crowd *crowd, tl_state *state, tl_joints *joints) {
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i) {
    const tl_field *field = &tl_state_fields[i];
    const unsigned char *rows = tl_field_rows(&crowd->after, field);
    unsigned char *all = tl_field_rows(state, field);
    for (size_t row = 0; rows && all && row < crowd->count; ++row)
      if (!tl_body_is_static(&crowd->model, row))
        memcpy(all + crowd->slots.data[row] * field->bytes, rows + row * field->bytes,
               field->bytes);
  }
  for (size_t i = 0; joints && i < crowd->joints.all.count; ++i) {
    const size_t at = tl_joints_row(joints, crowd->joints.all.data[i].uid);
    if (at != SIZE_MAX)
      tl_joints_take_one(joints, at, &crowd->joints.after.data[i]);
  }
}

void tl_crowd_free(tl_crowd *crowd) {
  free_rows(crowd);
  tl_contacts_release(&crowd->contacts_before);
  tl_contacts_release(&crowd->contacts_after);
  tl_array_free(&crowd->joints.all);
  tl_array_free(&crowd->joints.after);
  tl_array_free(&crowd->joints.apart);
  tl_array_free(&crowd->slots);
  tl_penalty_free(&crowd->penalty);
  tl_arena_free(&crowd->arena);
  *crowd = (tl_crowd){0};
}
