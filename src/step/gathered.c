#include "step/gathered.h"

#include <stdlib.h>

/* ---- rows ------------------------------------------------------------------------------------ */

static void free_rows(tl_gathered *g) {
  const size_t n = g->capacity;
  (void)tl_fields_resize(&g->before, tl_state_fields, TL_STATE_FIELD_COUNT, n, 0);
  (void)tl_fields_resize(&g->after, tl_state_fields, TL_STATE_FIELD_COUNT, n, 0);
  (void)tl_fields_resize(&g->model.property, tl_property_fields, TL_PROPERTY_FIELD_COUNT, n, 0);
  g->capacity = 0;
}

/* Takes room for `capacity` rows of every field that the source has, and frees the others. Rows in
 * use have room already. */
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

/* Takes room without keeping the content of rows. */
static talus_status reserve(tl_gathered *g, const tl_gathered_source *from, size_t count) {
  if (count > g->capacity) {
    free_rows(g);
    g->capacity = count;
  }
  const size_t n = g->capacity;
  TL_TRY(reserve_list(&g->before, from->state, tl_state_fields, TL_STATE_FIELD_COUNT, n));
  TL_TRY(reserve_list(&g->after, from->state, tl_state_fields, TL_STATE_FIELD_COUNT, n));
  return reserve_list(&g->model.property, &from->model->property, tl_property_fields,
                      TL_PROPERTY_FIELD_COUNT, n);
}

/* ---- contacts and joints --------------------------------------------------------------------- */

/* Row of a slot, or TL_NONE if it was not gathered. */
static uint32_t row_of(const tl_gathered *g, uint32_t slot) {
  size_t lo = 0, hi = g->slots.count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (g->slots.data[middle] < slot)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < g->slots.count && g->slots.data[lo] == slot ? (uint32_t)lo : TL_NONE;
}

/* Contacts are sorted by body a, so those of each row are consecutive. */
static talus_status gather_contacts(tl_gathered *g, const tl_contacts *from) {
  tl_contacts *to = &g->contacts_before;
  tl_contacts_clear(to);
  tl_contacts_clear(&g->contacts_after);
  to->dt = from->dt;
  for (uint32_t row = 0; row < g->count; ++row) {
    const uint32_t slot = g->slots.data[row];
    for (size_t i = tl_contacts_first_of(from, slot); i < from->count && from->data[i].a == slot;
         ++i) {
      const uint32_t b = row_of(g, from->data[i].b);
      if (b == TL_NONE)
        continue;
      TL_TRY(tl_contacts_append(to, from, i));
      to->data[to->count - 1].a = row;
      to->data[to->count - 1].b = b;
    }
  }
  return TALUS_OK;
}

/* Finds the row of a joint's end; false: the end is outside the crowd. */
static bool find_end(const tl_gathered *g, uint32_t slot, uint32_t *row) {
  *row = slot == TL_NONE ? TL_NONE : row_of(g, slot);
  return slot == TL_NONE || *row != TL_NONE;
}

static int compare_rows(const void *x, const void *y) {
  const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  return a < b ? -1 : a > b;
}

/* Lists the joints that hold a body of the crowd, ascending; a joint between two of them is listed
 * twice. If it is not known which joints hold a body (tl_joints_prepare), lists all. */
static talus_status find_joints(tl_gathered *g, const tl_joints *from) {
  g->looks.count = 0;
  if (from->apart_stale) {
    TL_TRY(tl_array_resize(&g->looks, from->all.count));
    for (uint32_t i = 0; i < from->all.count; ++i)
      g->looks.data[i] = i;
    return TALUS_OK;
  }
  for (size_t row = 0; row < g->count; ++row) {
    size_t n;
    const tl_joint_end *ends = tl_joints_at(from, g->slots.data[row], &n);
    for (size_t i = 0; i < n; ++i)
      TL_TRY(tl_array_push(&g->looks, ends[i].row));
  }
  if (g->looks.count > 1)
    qsort(g->looks.data, g->looks.count, sizeof *g->looks.data, compare_rows);
  return TALUS_OK;
}

/* Names of joints are those of the source. */
static talus_status gather_joints(tl_gathered *g, const tl_joints *from) {
  g->joints.all.count = g->looks.count = 0;
  g->joints.apart_stale = true;
  g->joints.dt = from ? from->dt : 0;
  if (from)
    TL_TRY(find_joints(g, from));
  for (size_t i = 0; i < g->looks.count; ++i) {
    if (i > 0 && g->looks.data[i] == g->looks.data[i - 1])
      continue;
    tl_joint joint = from->all.data[g->looks.data[i]];
    if (find_end(g, joint.a, &joint.a) && find_end(g, joint.b, &joint.b))
      TL_TRY(tl_array_push(&g->joints.all, joint));
  }
  return tl_joints_prepare(&g->joints);
}

static tl_gathered_springs springs_of(const tl_penalty *p) {
  return (tl_gathered_springs){p->is_pushed, p->stored, p->damping, p->friction};
}

static void set_springs(tl_penalty *p, tl_gathered_springs springs) {
  p->is_pushed = springs.is_pushed;
  p->stored = springs.stored;
  p->damping = springs.damping;
  p->friction = springs.friction;
}

/* Copies the springs' state of the source; they stay the same even if the crowd's own lightest body
 * is heavier. */
static void gather_penalty(tl_gathered *g, const tl_penalty *from, bool is_all) {
  tl_penalty *to = &g->penalty;
  to->is_general = true; /* the list of balls belongs to the world */
  to->is_known = false;
  if (!from)
    return;
  to->is_pushed = from->is_pushed && is_all; /* forces of bodies outside would be missing */
  to->stored = from->stored;
  to->damping = from->damping;
  to->friction = from->friction;
  g->springs_after = springs_of(to);
  to->auto_stiffness = from->auto_stiffness;
}

/* ---- the whole crowd ------------------------------------------------------------------------- */

talus_status tl_gather(tl_gathered *g, const tl_gathered_source *from, const uint32_t *slots,
                       size_t count) {
  const tl_properties own = g->model.property;
  g->model = *from->model;
  g->model.property = own;
  g->model.par.threads = 1;
  g->count = g->model.bodies = 0;
  TL_TRY(reserve(g, from, count));
  TL_TRY(tl_array_resize(&g->slots, count));
  if (count > 0)
    memcpy(g->slots.data, slots, count * sizeof *slots);
  copy_rows(&g->before, from->state, tl_state_fields, TL_STATE_FIELD_COUNT, slots, count);
  copy_rows(&g->model.property, &from->model->property, tl_property_fields, TL_PROPERTY_FIELD_COUNT,
            slots, count);
  g->count = g->model.bodies = count;
  TL_TRY(gather_contacts(g, from->contacts));
  TL_TRY(gather_joints(g, from->joints));
  gather_penalty(g, from->penalty, count == from->model->bodies);
  return TALUS_OK;
}

static talus_status step_springs(tl_gathered *g, const tl_backend *backend, const tl_crowd *crowd,
                                 tl_step_report *report) {
  const tl_gathered_springs before = springs_of(&g->penalty);
  const talus_status status =
      tl_step_verlet(backend, crowd, &g->contacts_before, &g->contacts_after, report);
  g->springs_after = springs_of(&g->penalty);
  set_springs(&g->penalty, before);
  return status;
}

/* Steps write STEPPED fields only: the others stay what they are. */
static void keep_unstepped(tl_gathered *g) {
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i) {
    const tl_field *field = &tl_state_fields[i];
    unsigned char *rows = tl_field_rows(&g->after, field);
    if (rows && !(field->flags & TL_STEPPED) && g->count > 0)
      memcpy(rows, tl_field_rows(&g->before, field), g->count * field->bytes);
  }
}

talus_status tl_gathered_step(tl_gathered *g, const tl_backend *backend, double t0, double t1,
                              double dt, tl_step_report *report) {
  TL_TRY(tl_arena_reset(&g->arena));
  keep_unstepped(g);
  g->dt = dt;
  const tl_crowd crowd = {.model = &g->model,
                          .count = g->count,
                          .t0 = t0,
                          .t1 = t1,
                          .dt = dt,
                          .in = &g->before,
                          .out = &g->after,
                          .contacts_before = &g->contacts_before,
                          .contacts_after = &g->contacts_after,
                          .joints = g->joints.all.count > 0 ? &g->joints : NULL,
                          .joints_after = g->joints.after.data,
                          .arena = &g->arena,
                          .penalty = &g->penalty};
  if (g->model.solve.kind == TALUS_SOLVE_PENALTY)
    return step_springs(g, backend, &crowd, report);
  return tl_step_fixed(backend, &crowd, report);
}

void tl_gathered_swap(tl_gathered *g) {
  const tl_state was = g->before;
  g->before = g->after;
  g->after = was;
  tl_contacts_swap(&g->contacts_before, &g->contacts_after);
  tl_joints_take(&g->joints, tl_model_substep(&g->model, g->dt));
  set_springs(&g->penalty, g->springs_after);
}

void tl_gathered_scatter(const tl_gathered *g, tl_state *state, tl_joints *joints) {
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i) {
    const tl_field *field = &tl_state_fields[i];
    const unsigned char *rows = tl_field_rows(&g->after, field);
    unsigned char *all = tl_field_rows(state, field);
    for (size_t row = 0; rows && all && row < g->count; ++row)
      if (!tl_body_is_static(&g->model, row))
        memcpy(all + g->slots.data[row] * field->bytes, rows + row * field->bytes, field->bytes);
  }
  for (size_t i = 0; joints && i < g->joints.all.count; ++i) {
    const size_t at = tl_joints_row(joints, g->joints.all.data[i].uid);
    if (at != SIZE_MAX)
      tl_joints_take_one(joints, at, &g->joints.after.data[i]);
  }
}

void tl_gathered_free(tl_gathered *g) {
  free_rows(g);
  tl_contacts_release(&g->contacts_before);
  tl_contacts_release(&g->contacts_after);
  tl_array_free(&g->joints.all);
  tl_array_free(&g->joints.after);
  tl_array_free(&g->joints.apart);
  tl_array_free(&g->joints.ends);
  tl_array_free(&g->slots);
  tl_array_free(&g->looks);
  tl_penalty_free(&g->penalty);
  tl_arena_free(&g->arena);
  *g = (tl_gathered){0};
}
