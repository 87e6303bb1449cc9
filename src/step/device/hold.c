/* The device as a holder of rows (crowd/residency.h): copies to the device and home. */
#include "step/device/hold.h"

#include "backend/thread/tasks.h"
#include "contact/depth.h"
#include "contact/reach.h"
#include "shape/shape.h"
#include "solve/system/system.h"

#include <math.h>

#define STRIPS     ((size_t)65536) /* threads that share a sum */
#define JOINS      ((size_t)256)   /* threads that add the partial sums */
#define MOST_KINDS 4               /* most quantities that are summed at a time */

_Static_assert((int)TL_WORTHS <= MOST_KINDS && (int)TL_REMAINS <= MOST_KINDS, "sums have room");

/* ---- home ------------------------------------------------------------------------------------ */

static talus_status bring_state(const tl_held *held) {
  const tl_held_state *state = &held->state[held->now];
  tl_device *device = held->device;
  const size_t n = held->bodies;
  tl_state *home = held->home;
  const tl_device_calls *calls = device->calls;
  TL_TRY(calls->download(device, home->position, state->position.data, n * sizeof *home->position));
  TL_TRY(calls->download(device, home->rotation, state->rotation.data, n * sizeof *home->rotation));
  TL_TRY(calls->download(device, home->velocity, state->velocity.data, n * sizeof *home->velocity));
  return calls->download(device, home->spin, state->spin.data, n * sizeof *home->spin);
}

typedef struct unpack_job {
  const talus_row_contact *rows;
  const talus_vec3 *impulses;
  tl_contact *contacts;
} unpack_job;

static void unpack(void *context, size_t begin, size_t end) {
  const unpack_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const talus_row_contact *row = &job->rows[i];
    job->contacts[i] = (tl_contact){.a = row->a,
                                    .b = row->b,
                                    .feature_a = row->feature_a,
                                    .feature_b = row->feature_b,
                                    .point = row->point,
                                    .normal = row->normal,
                                    .gap = row->gap,
                                    .impulse = job->impulses[i]};
  }
}

/* Impacts of the step. */
static talus_status bring_hits(const tl_held *held) {
  tl_device *device = held->device;
  const size_t n = held->before.count;
  TL_ARRAY(uint32_t) hits = {0};
  TL_ARRAY(talus_vec3) given = {0};
  held->contacts->hits.count = 0;
  if (!held->before.are_hit || n == 0)
    return TALUS_OK;
  talus_status status = tl_array_resize(&hits, n);
  if (status == TALUS_OK)
    status = tl_array_resize(&given, n);
  if (status == TALUS_OK)
    status =
        device->calls->download(device, hits.data, held->before.hits.data, n * sizeof *hits.data);
  if (status == TALUS_OK)
    status = device->calls->download(device, given.data, held->before.given.data,
                                     n * sizeof *given.data);
  for (size_t i = 0; i < n && status == TALUS_OK; ++i)
    if (hits.data[i] > 0)
      status = tl_array_push(&held->contacts->hits, ((tl_hit){(uint32_t)i, given.data[i]}));
  tl_array_free(&hits);
  tl_array_free(&given);
  return status;
}

static talus_status bring_contacts(const tl_held *held) {
  tl_device *device = held->device;
  const size_t n = held->before.count;
  TL_ARRAY(talus_row_contact) rows = {0};
  TL_ARRAY(talus_vec3) impulses = {0};
  tl_contacts_clear(held->contacts);
  talus_status status = tl_array_resize(held->contacts, n);
  if (status == TALUS_OK)
    status = tl_array_resize(&rows, n);
  if (status == TALUS_OK)
    status = tl_array_resize(&impulses, n);
  if (status == TALUS_OK && n > 0)
    status = device->calls->download(device, rows.data, held->before.contacts.data,
                                     n * sizeof *rows.data);
  if (status == TALUS_OK && n > 0)
    status = device->calls->download(device, impulses.data, held->before.impulses.data,
                                     n * sizeof *impulses.data);
  if (status == TALUS_OK)
    status = bring_hits(held);
  if (status == TALUS_OK) {
    unpack_job job = {rows.data, impulses.data, held->contacts->data};
    tl_for(&held->par, n, 4096, unpack, &job);
    held->contacts->dt = held->dt;
  } else
    tl_contacts_clear(held->contacts);
  tl_array_free(&rows);
  tl_array_free(&impulses);
  return status;
}

static talus_status bring(void *context, tl_field_set *fields) {
  const tl_held *held = context;
  const tl_field_set asked = *fields;
  *fields = 0;
  if (asked & TL_HELD_STATE) {
    TL_TRY(bring_state(held));
    *fields |= TL_HELD_STATE;
  }
  if (asked & TL_THE_CONTACTS) {
    TL_TRY(bring_contacts(held));
    *fields |= TL_THE_CONTACTS;
  }
  return TALUS_OK;
}

/* A device does not use names, handles and flags of sleep. */
static tl_field_set written(void *context, tl_field_set fields) {
  (void)context;
  const tl_field_set none = TL_THE(uid) | TL_THE(handle) | TL_THE(sleep_flags) |
                            TL_THE(slow_since) | TL_THE(pace) | TL_THE(spring_force) |
                            TL_THE(spring_torque) | TL_THE(joints);
  return fields & ~none ? TL_THE_WHOLE : 0;
}

static void let_go(void *context) { (void)context; } /* blocks are kept for the next time */

static void free_blocks(tl_held *held) {
  tl_device *device = held->device;
  tl_device_block *blocks[] = {&held->mass,
                               &held->flags,
                               &held->material,
                               &held->friction,
                               &held->restitution,
                               &held->widths,
                               &held->force,
                               &held->impacts.struck,
                               &held->impacts.thrown,
                               &held->impacts.owner,
                               &held->impacts.is_hit,
                               &held->impacts.time,
                               &held->impacts.slack,
                               &held->impacts.gaps,
                               &held->impacts.parent,
                               &held->impacts.next,
                               &held->impacts.head,
                               &held->impacts.rows,
                               &held->before.hits,
                               &held->before.given,
                               &held->after.hits,
                               &held->after.given,
                               &held->wall_slots,
                               &held->wall,
                               &held->room,
                               &held->passed,
                               &held->guide,
                               &held->terms,
                               &held->values,
                               &held->torque,
                               &held->solver,
                               &held->tensors,
                               &held->shifts,
                               &held->margins,
                               &held->colour[0],
                               &held->colour[1],
                               &held->order[0],
                               &held->order[1],
                               &held->best,
                               &held->taken,
                               &held->ends,
                               &held->row_a,
                               &held->row_b,
                               &held->lift,
                               &held->lift_bias,
                               &held->row_numbers,
                               &held->sums,
                               &held->words,
                               &held->before.contacts,
                               &held->before.impulses,
                               &held->after.contacts,
                               &held->after.impulses};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i)
    (void)device->calls->resize(device, blocks[i], 0);
  tl_held_gradient *gradient = &held->gradient;
  tl_device_block *more[] = {&gradient->identity, &gradient->first,   &gradient->last,
                             &gradient->free,     &gradient->numbers, &gradient->words};
  for (size_t i = 0; i < sizeof more / sizeof *more; ++i)
    (void)device->calls->resize(device, more[i], 0);
  for (int k = 0; k < TL_GUESSES; ++k) {
    (void)device->calls->resize(device, &gradient->field[k], 0);
    (void)device->calls->resize(device, &gradient->bodies[k], 0);
  }
  for (int k = 0; k < 2; ++k) {
    tl_held_state *state = &held->state[k];
    (void)device->calls->resize(device, &state->position, 0);
    (void)device->calls->resize(device, &state->rotation, 0);
    (void)device->calls->resize(device, &state->velocity, 0);
    (void)device->calls->resize(device, &state->spin, 0);
  }
  tl_device_spheres_free(device, &held->near);
  tl_device_shapes_free(device, &held->shapes);
}

static void end(void *context) {
  tl_held *held = context;
  void *block = held;
  if (held->device) {
    free_blocks(held);
    held->device->calls->close(held->device);
  }
  tl_array_free(&held->plane_slots);
  (void)tl_resize(&block, sizeof *held, 0);
}

static const tl_holder holder = {
    .name = "device", .bring = bring, .written = written, .let_go = let_go, .end = end};

tl_device *tl_device_of(const tl_residency *where) {
  return where->holder == &holder ? ((const tl_held *)where->context)->device : NULL;
}

static talus_status make_holder(tl_open_device *open, tl_residency *where) {
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, sizeof(tl_held)));
  tl_held *held = memset(block, 0, sizeof *held);
  held->where = where;
  const talus_status status = open(&held->device);
  if (status == TALUS_OK)
    tl_hold(where, &holder, held);
  else
    end(held);
  return status;
}

talus_status tl_held_take(tl_open_device *open, const tl_crowd *crowd, tl_contacts *contacts,
                          tl_held **held, bool *is_fresh) {
  if (crowd->where->holder != &holder) {
    TL_TRY(tl_let_go(crowd->where));
    TL_TRY(make_holder(open, crowd->where));
  }
  *held = crowd->where->context;
  *is_fresh = crowd->where->away != 0;
  (*held)->home = crowd->out;
  (*held)->contacts = contacts;
  (*held)->par = crowd->model->par;
  return TALUS_OK;
}

/* ---- to the device --------------------------------------------------------------------------- */

#define SEND(block, from, n)                                                                       \
  do {                                                                                             \
    TL_TRY(tl_device_reserve(device, &(block), (n), sizeof *(from)));                              \
    if ((n) > 0)                                                                                   \
      TL_TRY(device->calls->upload(device, (block).data, (from), (n) * sizeof *(from)));           \
  } while (0)

static talus_status send_state(tl_held *held, const tl_crowd *crowd) {
  tl_device *device = held->device;
  const tl_state *in = crowd->in;
  held->now = 0;
  SEND(held->state[0].position, in->position, crowd->count);
  SEND(held->state[0].rotation, in->rotation, crowd->count);
  SEND(held->state[0].velocity, in->velocity, crowd->count);
  SEND(held->state[0].spin, in->spin, crowd->count);
  TL_DEVICE_RESERVE(held->state[1].position, crowd->count, talus_dvec3);
  TL_DEVICE_RESERVE(held->state[1].rotation, crowd->count, talus_quat);
  TL_DEVICE_RESERVE(held->state[1].velocity, crowd->count, talus_vec3);
  TL_DEVICE_RESERVE(held->state[1].spin, crowd->count, talus_vec3);
  return TALUS_OK;
}

static talus_status send_flags(tl_held *held, const tl_crowd *crowd) {
  tl_device *device = held->device;
  const tl_model *model = crowd->model;
  uint32_t *flags;
  bool *is_hollow;
  TL_TAKE(crowd->arena, crowd->count, &flags);
  TL_TAKE(crowd->arena, model->shapes.count, &is_hollow);
  for (size_t i = 0; i < model->shapes.count; ++i)
    is_hollow[i] = !tl_shape_holds_centre(&model->shapes.data[i]);
  for (size_t i = 0; i < crowd->count; ++i)
    flags[i] = (model->property.flags[i] & TL_FLAG_LOCKS) |
               (tl_body_is_static(model, i) ? TL_THREAD_STATIC : 0u) |
               (model->property.flags[i] & TL_FLAG_KINEMATIC ? TL_THREAD_GUIDED : 0u) |
               (model->property.flags[i] & TL_FLAG_SUNK ? TL_THREAD_SUNK : 0u) |
               (is_hollow[model->property.shape[i]] ? TL_THREAD_HOLLOW : 0u);
  SEND(held->flags, flags, crowd->count);
  return TALUS_OK;
}

static talus_status send_guides(tl_held *held, const tl_crowd *crowd) {
  tl_device *device = held->device;
  const tl_model *model = crowd->model;
  TL_ARRAY(tl_thread_guide) guides = {0};
  talus_status status = TALUS_OK;
  for (size_t i = 0; i < crowd->count && model->motions.count > 0 && status == TALUS_OK; ++i) {
    if (!(model->property.flags[i] & TL_FLAG_KINEMATIC))
      continue;
    const tl_motion *m = &model->motions.data[model->property.motion[i]];
    tl_thread_guide guide;
    memset(&guide, 0, sizeof guide);
    guide.position = m->position, guide.rotation = m->rotation, guide.clock = m->clock;
    guide.slot = (uint32_t)i, guide.first = m->first, guide.count = m->count;
    status = tl_array_push(&guides, guide);
  }
  held->guides = guides.count;
  if (status == TALUS_OK)
    status = tl_device_reserve(device, &held->guide, guides.count, sizeof *guides.data);
  if (status == TALUS_OK && guides.count > 0)
    status = device->calls->upload(device, held->guide.data, guides.data,
                                   guides.count * sizeof *guides.data);
  tl_array_free(&guides);
  TL_TRY(status);
  SEND(held->terms, model->motion_terms.data, model->motion_terms.count);
  SEND(held->values, model->motion_values.data, model->motion_values.count);
  return TALUS_OK;
}

/* Bodies within the margin of a plane are those beyond its offset; of one that moves, its way
 * within the step belongs to that. */
static tl_thread_plane plane_of(const tl_crowd *crowd, uint32_t slot) {
  const tl_model *model = crowd->model;
  const double *size = tl_body_shape(model, slot)->size;
  talus_dvec3 x = crowd->in->position[slot];
  double spare = (double)tl_reach_slack(model, crowd->dt) + fmax(0.5 * model->margin, 0);
  if (model->property.flags[slot] & TL_FLAG_KINEMATIC) {
    talus_vec3 v, w;
    tl_body_way(model, slot, crowd->t0, crowd->t1, crowd->dt, &v, &w);
    x = tl_body_moving(model, slot, crowd->t0).position;
    spare += crowd->dt * (double)tl_length(v);
  }
  const tl_frame frame = tl_frame_from_quat(crowd->in->rotation[slot]);
  const talus_dvec3 n = tl_frame_to_world(&frame, tl_dvec3(size[0], size[1], size[2]));
  return (tl_thread_plane){{n.x, n.y, n.z},
                           tl_ddot(n, x) + size[3] * (double)model->property.scale[slot] + spare};
}

talus_status tl_held_send_planes(tl_held *held, const tl_crowd *crowd) {
  tl_device *device = held->device;
  tl_thread_plane *planes;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  TL_TAKE(crowd->arena, held->plane_slots.count, &planes);
  for (size_t k = 0; k < held->plane_slots.count; ++k)
    planes[k] = plane_of(crowd, held->plane_slots.data[k]);
  SEND(held->near.planes, planes, held->plane_slots.count);
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

static talus_status list_planes(tl_held *held, const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  held->plane_slots.count = 0;
  held->has_guided_planes = false;
  for (size_t i = 0; i < crowd->count; ++i) {
    if (tl_body_shape(model, i)->bounded)
      continue;
    TL_TRY(tl_array_push(&held->plane_slots, (uint32_t)i));
    held->has_guided_planes =
        held->has_guided_planes || (model->property.flags[i] & TL_FLAG_KINEMATIC);
  }
  return TALUS_OK;
}

/* Bounded bodies that contacts do not move. Nobody knows yet how far bodies are from them. */
static talus_status send_walls(tl_held *held, const tl_crowd *crowd) {
  tl_device *device = held->device;
  const tl_model *model = crowd->model;
  uint32_t *slots;
  TL_TAKE(crowd->arena, crowd->count, &slots);
  held->walls = 0;
  held->are_walls_laid = held->has_guided_walls = false;
  for (size_t i = 0; i < crowd->count; ++i) {
    if (!tl_body_is_static(model, i) || !tl_body_shape(model, i)->bounded)
      continue;
    slots[held->walls++] = (uint32_t)i;
    held->has_guided_walls =
        held->has_guided_walls || (model->property.flags[i] & TL_FLAG_KINEMATIC);
  }
  SEND(held->wall_slots, slots, held->walls);
  if (held->walls == 0)
    return TALUS_OK;
  TL_DEVICE_RESERVE(held->wall, held->walls, tl_passing_wall);
  TL_DEVICE_RESERVE(held->room, crowd->count, float);
  TL_DEVICE_RESERVE(held->passed, crowd->count, tl_thread_passing);
  return device->calls->clear(device, held->room.data, crowd->count * sizeof(float));
}

static talus_status send_bodies(tl_held *held, const tl_crowd *crowd) {
  tl_device *device = held->device;
  const tl_model *model = crowd->model;
  const tl_properties *property = &model->property;
  const tl_shapes_asked shapes = {.shapes = model->shapes.data,
                                  .shape_count = model->shapes.count,
                                  .shape = property->shape,
                                  .scale = property->scale,
                                  .rotation = crowd->in->rotation,
                                  .method = model->narrow.ellipsoid,
                                  .arena = crowd->arena};
  TL_TRY(send_flags(held, crowd));
  TL_TRY(tl_device_send_shapes(device, &held->shapes, &shapes, crowd->count));
  TL_TRY(list_planes(held, crowd));
  TL_TRY(tl_held_send_planes(held, crowd));
  TL_TRY(send_guides(held, crowd));
  TL_TRY(send_walls(held, crowd));
  SEND(held->mass, property->mass, crowd->count);
  SEND(held->material, property->material, crowd->count);
  if (property->force)
    SEND(held->force, property->force, crowd->count);
  if (property->torque)
    SEND(held->torque, property->torque, crowd->count);
  SEND(held->widths, crowd->widths->data, model->shapes.count);
  TL_DEVICE_RESERVE(held->solver, crowd->count, tl_ccp_body);
  TL_DEVICE_RESERVE(held->margins, crowd->count, talus_real);
  TL_DEVICE_RESERVE(held->near.rows, crowd->count, tl_thread_ball);
  TL_DEVICE_RESERVE(held->near.fixed, crowd->count, uint8_t);
  TL_DEVICE_RESERVE(held->sums, STRIPS * MOST_KINDS, double);
  TL_DEVICE_RESERVE(held->words, 1, tl_held_words);
  return TALUS_OK;
}

static talus_status send_laws(tl_held *held, const tl_crowd *crowd) {
  tl_device *device = held->device;
  const tl_model *model = crowd->model;
  talus_real *value;
  TL_TAKE(crowd->arena, model->laws.count, &value);
  for (size_t i = 0; i < model->laws.count; ++i)
    value[i] = model->laws.data[i].friction;
  SEND(held->friction, value, model->laws.count);
  held->bounces = false;
  held->all_bounce = true;
  for (size_t i = 0; i < model->laws.count; ++i) {
    value[i] = model->laws.data[i].restitution;
    held->bounces = held->bounces || value[i] > 0;
    held->all_bounce = held->all_bounce && value[i] > 0;
  }
  SEND(held->restitution, value, model->laws.count);
  return TALUS_OK;
}

static talus_status send_contacts(tl_held *held, const tl_crowd *crowd) {
  tl_device *device = held->device;
  const tl_contacts *from = crowd->contacts_before;
  talus_row_contact *rows;
  talus_vec3 *impulses;
  TL_TAKE(crowd->arena, from->count, &rows);
  TL_TAKE(crowd->arena, from->count, &impulses);
  for (size_t i = 0; i < from->count; ++i) {
    const tl_contact *c = &from->data[i];
    memset(&rows[i], 0, sizeof rows[i]);
    rows[i].a = c->a, rows[i].b = c->b;
    rows[i].feature_a = c->feature_a, rows[i].feature_b = c->feature_b;
    rows[i].point = c->point, rows[i].normal = c->normal, rows[i].gap = c->gap;
    impulses[i] = tl_scale(c->impulse, tl_step_ratio(from->dt, crowd->dt));
  }
  held->before.count = from->count;
  SEND(held->before.contacts, rows, from->count);
  SEND(held->before.impulses, impulses, from->count);
  return TALUS_OK;
}

/* Takes the settings that the solver derives from the bodies. */
static talus_status take_settings(tl_held *held, const tl_crowd *crowd) {
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_contacts none = {0};
  tl_solve_report report;
  tl_system system;
  tl_device *device = held->device;
  TL_TRY(tl_system_begin(&system, crowd, &none, &report));
  tl_arena_release(crowd->arena, mark);
  held->has_tensors = system.summary.tensors;
  held->is_radial = !system.summary.arms && !system.summary.tensors;
  held->ncp = system.ncp;
  held->slop = system.slop;
  held->recovery_speed = system.recovery_speed;
  held->bounce_speed = system.bounce_speed;
  if (held->has_tensors)
    TL_DEVICE_RESERVE(held->tensors, crowd->count, tl_ccp_tensor);
  return TALUS_OK;
}

talus_status tl_held_send(tl_held *held, const tl_crowd *crowd) {
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  held->bodies = crowd->count;
  TL_TRY(send_bodies(held, crowd));
  TL_TRY(send_state(held, crowd));
  TL_TRY(send_laws(held, crowd));
  TL_TRY(send_contacts(held, crowd));
  TL_TRY(take_settings(held, crowd));
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* ---- arguments of tasks ---------------------------------------------------------------------- */

static tl_thread_state state_of(const tl_held_state *state) {
  return (tl_thread_state){state->position.data, state->rotation.data, state->velocity.data,
                           state->spin.data};
}

tl_thread_guides tl_held_guides(const tl_held *held, const tl_crowd *crowd) {
  return (tl_thread_guides){.guides = held->guide.data,
                            .terms = held->terms.data,
                            .values = held->values.data,
                            .t0 = crowd->t0,
                            .t1 = crowd->t1,
                            .h = crowd->dt,
                            .grid = crowd->model->dt,
                            .bodies = held->solver.data,
                            .out = state_of(&held->state[!held->now])};
}

tl_thread_crowd tl_held_crowd(const tl_held *held, const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  const talus_domain_def *domain = &model->domain;
  const double low[3] = {domain->box.lo.x, domain->box.lo.y, domain->box.lo.z};
  const double high[3] = {domain->box.hi.x, domain->box.hi.y, domain->box.hi.z};
  tl_thread_crowd all = {.count = held->bodies,
                         .in = state_of(&held->state[held->now]),
                         .out = state_of(&held->state[!held->now]),
                         .shapes = held->shapes.shapes.data,
                         .shape = held->shapes.shape.data,
                         .flags = held->flags.data,
                         .material = held->material.data,
                         .mass = held->mass.data,
                         .scale = held->shapes.scale.data,
                         .force = model->property.force ? held->force.data : NULL,
                         .torque = model->property.torque ? held->torque.data : NULL,
                         .gravity = model->gravity,
                         .dt = crowd->dt};
  for (int k = 0; k < 3; ++k) {
    all.low[k] = low[k], all.high[k] = high[k];
    all.period[k] = domain->enabled && domain->periodic[k] ? high[k] - low[k] : 0;
    all.stops[k] = domain->enabled && !domain->periodic[k] && domain->outside == TALUS_OUTSIDE_STOP;
  }
  return all;
}

size_t tl_held_threads(size_t count) {
  if (count >= STRIPS)
    return STRIPS;
  return count > JOINS ? (count + JOINS - 1) / JOINS * JOINS : JOINS;
}

talus_status tl_held_add(tl_held *held, size_t threads, size_t kinds, double *totals) {
  tl_device *device = held->device;
  const tl_add_task first = {
      .count = threads * kinds, .threads = JOINS * kinds, .sums = held->sums.data};
  const tl_add_task last = {.count = JOINS * kinds, .threads = kinds, .sums = held->sums.data};
  TL_DEVICE_LAUNCH(add, first, first.threads);
  TL_DEVICE_LAUNCH(add, last, last.threads);
  return device->calls->download(device, totals, held->sums.data, kinds * sizeof *totals);
}
