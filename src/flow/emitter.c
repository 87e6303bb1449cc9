/* Emitters: bodies that appear over time.
 *
 * Size and rotation of body k are functions of (seed, k), its place of (seed, k, attempt): only the
 * two counters are saved. */
#include "flow/average.h"
#include "flow/share.h"

/* Places that are tried in one step for one body. */
#define TRIES 8

/* Most bodies of a world that are tested one by one, without grids. */
#define FEW 256

/* Part of the interval between two bodies by which a due time may be missed: steps * dt and k/rate
 * round differently, and a body must not come a step late because of that. */
#define TIME_SLACK 1e-9

/* ---- definitions ----------------------------------------------------------------------------- */

static talus_status check_times(const talus_emitter_def *def, const char *what) {
  if (!(def->rate >= 0) || !tl_is_finite_d(def->rate))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the rate is %g bodies per second; it must be positive, or 0 where all come "
                   "from sinks",
                   what, def->rate);
  if (!tl_is_finite_d(def->from_time))
    return tl_fail(TALUS_ERROR_INVALID, "%s: the time to begin is not finite", what);
  if (!(def->until > def->from_time))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: it would end (%g s) before it begins (%g s) and emit nothing", what,
                   def->until, def->from_time);
  return TALUS_OK;
}

static talus_status check_emitter(const tl_model *model, const talus_emitter_def *def,
                                  const char *what) {
  bool spans[3];
  TL_TRY(tl_trial_check(model, &def->body, what));
  if (def->body.kind != TALUS_FREE)
    return tl_fail(TALUS_ERROR_INVALID, "%s: only free bodies can be emitted", what);
  TL_TRY(check_times(def, what));
  TL_TRY(tl_emitter_check_stream(def, what));
  TL_TRY(tl_size_check(&def->size, what));
  TL_TRY(tl_region_check(&def->from, what));
  /* A lognormal size is unbounded, so its largest value is not checked here. */
  const double size = def->size.kind == TALUS_SIZE_LOGNORMAL ? 0 : tl_size_largest(&def->size);
  const tl_trial largest = tl_trial_make(model, &def->body, size, tl_quat_identity());
  TL_TRY(tl_trial_check_period(model, &largest, what));
  TL_TRY(tl_emitter_check_rate(model, def, what));
  return tl_region_check_domain(model, &def->from, what, spans);
}

/* For points, the region becomes their bounding box, so that other code need not distinguish. */
static talus_status use_points(talus_emitter_def *def, const char *what) {
  if (def->point_count > TALUS_EMITTER_POINTS)
    return tl_fail(TALUS_ERROR_INVALID, "%s: %u points are more than %d", what,
                   (unsigned)def->point_count, TALUS_EMITTER_POINTS);
  talus_box box = {def->points[0], def->points[0]};
  for (uint32_t i = 0; i < def->point_count; ++i) {
    const talus_dvec3 x = def->points[i];
    if (!tl_is_finite_d(x.x) || !tl_is_finite_d(x.y) || !tl_is_finite_d(x.z))
      return tl_fail(TALUS_ERROR_INVALID, "%s: point %u is not finite", what, (unsigned)i);
    box.lo = tl_dvec3(fmin(box.lo.x, x.x), fmin(box.lo.y, x.y), fmin(box.lo.z, x.z));
    box.hi = tl_dvec3(fmax(box.hi.x, x.x), fmax(box.hi.y, x.y), fmax(box.hi.z, x.z));
  }
  if (def->point_count > 0)
    def->from = (talus_region){.kind = TALUS_REGION_BOX, .box = box};
  return TALUS_OK;
}

static void release_emitter(tl_emitter *emitter) {
  tl_flow_free_name((char *)emitter->def.name); /* memory of the emitter */
  emitter->def.name = NULL;
  tl_size_release(&emitter->def.size);
}

talus_status tl_flow_add_emitter(tl_flow *flow, const tl_model *model,
                                 const talus_emitter_def *def) {
  const tl_flow_label what = tl_flow_describe("emitter", def->name, flow->emitters.count);
  tl_emitter emitter = {.def = *def};
  TL_TRY(use_points(&emitter.def, what.text));
  TL_TRY(check_emitter(model, &emitter.def, what.text));
  TL_TRY(tl_array_reserve(&flow->emitters, flow->emitters.count + 1));
  emitter.def.body.name = NULL;
  /* motions are for kinematic bodies, which are not emitted */
  emitter.def.body.motion = (talus_motion){0};
  char *name;
  TL_TRY(tl_flow_copy_name(&name, def->name));
  emitter.def.name = name;
  const talus_status status = tl_size_copy(&emitter.def.size, &def->size);
  if (status != TALUS_OK) {
    tl_flow_free_name(name);
    return status;
  }
  tl_emitter_begin(&emitter);
  flow->emitters.data[flow->emitters.count++] = emitter;
  return TALUS_OK;
}

void tl_flow_drop_emitter(tl_flow *flow) {
  release_emitter(&flow->emitters.data[--flow->emitters.count]);
}

void tl_flow_release(tl_flow *flow) {
  for (size_t i = 0; i < flow->emitters.count; ++i)
    release_emitter(&flow->emitters.data[i]);
  for (size_t i = 0; i < flow->sinks.count; ++i)
    tl_flow_free_name(flow->sinks.data[i].name);
  for (size_t i = 0; i < flow->probes.count; ++i)
    tl_flow_free_name(flow->probes.data[i].name);
  for (size_t i = 0; i < flow->averages.count; ++i)
    tl_average_release(&flow->averages.data[i]);
  tl_array_free(&flow->averages);
  for (size_t i = 0; i < flow->zones.count; ++i)
    tl_flow_free_name(flow->zones.data[i].name);
  tl_array_free(&flow->zones);
  tl_array_free(&flow->members);
  tl_array_free(&flow->next_members);
  tl_array_free(&flow->events);
  tl_array_free(&flow->emitters);
  tl_array_free(&flow->sinks);
  tl_array_free(&flow->probes);
  void *block = flow->obstacles;
  if (block) {
    tl_obstacles_free(flow->obstacles);
    (void)tl_resize(&block, sizeof *flow->obstacles, 0); /* freeing cannot fail */
  }
  flow->obstacles = NULL;
  block = flow->samples;
  if (block) {
    tl_samples_free(flow->samples);
    (void)tl_resize(&block, sizeof *flow->samples, 0);
  }
  flow->samples = NULL;
}

/* ---- emission -------------------------------------------------------------------------------- */

bool tl_emitter_is_due(const tl_emitter *emitter, double t1) {
  const talus_emitter_def *def = &emitter->def;
  if (emitter->owed > 0 || !(def->rate > 0))
    return emitter->owed > 0;
  const double due = tl_emitter_due(emitter), slack = TIME_SLACK / def->rate;
  return due <= t1 + slack && due < def->until - slack;
}

/* Tests the bounding spheres of all bodies one by one: an emitter asks rarely, and nothing has to
 * be kept up to date for it. The youngest bodies come first, because they block most often. */
static bool is_blocked_by_world(const tl_model *model, const tl_state *state,
                                const tl_trial *trial) {
  const tl_shape *shapes = model->shapes.data;
  const uint32_t *shape = model->property.shape;
  const talus_real *scale = model->property.scale;
  for (uint32_t slot = (uint32_t)model->bodies; slot-- > 0;) {
    const tl_shape *kind = &shapes[shape[slot]];
    const talus_dvec3 d = tl_model_offset(model, state->position[slot], trial->centre);
    const double reach = (double)scale[slot] * (double)kind->radius + trial->radius;
    if (kind->bounded && tl_ddot(d, d) > reach * reach)
      continue;
    if (tl_trial_hits_body(model, state, trial, slot))
      return true;
  }
  return false;
}

static bool is_blocked_by_fresh(const tl_model *model, const tl_new_bodies *fresh,
                                const tl_trial *trial) {
  for (size_t i = 0; i < fresh->count; ++i) {
    const talus_body_def *body = &fresh->data[i];
    tl_trial other = tl_trial_make(model, body, body->scale, body->rotation);
    other.centre = tl_trial_centre(&other, body->position, body->rotation);
    if (tl_trial_hits_trial(model, trial, &other))
      return true;
  }
  return false;
}

/* An emitter during a step. */
typedef struct emission {
  tl_emitter *emitter;
  const tl_model *model;
  const tl_state *state;
  tl_new_bodies *fresh;
  tl_obstacles *obstacles; /* NULL: all bodies are tested */
} emission;

static bool is_blocked(const emission *job, const tl_trial *trial) {
  if (job->obstacles)
    return tl_obstacles_block(job->obstacles, job->model, job->state, job->fresh, trial);
  return is_blocked_by_fresh(job->model, job->fresh, trial) ||
         is_blocked_by_world(job->model, job->state, trial);
}

/* Tries places for the next body until one is free. */
static bool find_place(const emission *job, tl_trial *trial) {
  tl_emitter *emitter = job->emitter;
  const talus_emitter_def *def = &emitter->def;
  const int tries = def->point_count > 0 ? 1 : TRIES; /* a point has only one place */
  for (int i = 0; i < tries; ++i) {
    const talus_dvec3 place = tl_emitter_place(def, emitter->serial, emitter->attempt);
    trial->centre = tl_place_wrap(job->model, place);
    if (!is_blocked(job, trial))
      return true;
    emitter->attempt++;
    emitter->blocked++;
  }
  return false;
}

/* If there are many bodies, makes grids of those near the bodies that are due; new bodies of other
 * emitters are included. */
static talus_status prepare(tl_flow *flow, emission *job, uint64_t due) {
  const talus_emitter_def *def = &job->emitter->def;
  if (job->model->bodies + job->fresh->count + due <= FEW)
    return TALUS_OK;
  void *block = flow->obstacles;
  if (!block) {
    TL_TRY(tl_resize(&block, 0, sizeof *flow->obstacles));
    flow->obstacles = memset(block, 0, sizeof *flow->obstacles);
  }
  const double radius = (double)job->model->shapes.data[def->body.shape.index].radius;
  double largest = radius * tl_size_largest(&def->size);
  for (size_t i = 0; i < job->fresh->count; ++i) {
    const talus_body_def *body = &job->fresh->data[i];
    const tl_trial other = tl_trial_make(job->model, body, body->scale, body->rotation);
    largest = fmax(largest, other.radius);
  }
  const size_t n = job->fresh->count + (size_t)due;
  TL_TRY(tl_obstacles_find(flow->obstacles, job->model, job->state, &def->from, largest,
                           radius * tl_size_usual(&def->size), n));
  for (size_t i = 0; i < job->fresh->count; ++i) {
    const talus_body_def *body = &job->fresh->data[i];
    tl_trial other = tl_trial_make(job->model, body, body->scale, body->rotation);
    other.centre = tl_trial_centre(&other, body->position, body->rotation);
    tl_obstacles_add(flow->obstacles, &other, (uint32_t)i);
  }
  job->obstacles = flow->obstacles;
  return TALUS_OK;
}

static talus_status emit_due(const emission *job, double t1, uint64_t due) {
  tl_emitter *emitter = job->emitter;
  const talus_emitter_def *def = &emitter->def;
  tl_new_bodies *fresh = job->fresh;
  for (uint64_t i = 0; i < due && tl_emitter_is_due(emitter, t1); ++i) {
    TL_TRY(tl_array_reserve(fresh, fresh->count + 1));
    talus_body_def body = def->body;
    body.rotation = def->random_rotation
                        ? tl_place_rotation(def->seed, TL_STREAM_EMIT_ROTATION, emitter->serial)
                        : tl_quat_normalize(def->body.rotation);
    body.velocity = tl_emitter_velocity(def, emitter->serial);
    body.scale = tl_size_draw(&def->size, def->seed, TL_STREAM_EMIT_SIZE, emitter->serial);
    tl_trial trial = tl_trial_make(job->model, &body, body.scale, body.rotation);
    if (!find_place(job, &trial))
      break;
    body.position = tl_trial_frame(&trial, body.rotation);
    if (job->obstacles)
      tl_obstacles_add(job->obstacles, &trial, (uint32_t)fresh->count);
    fresh->data[fresh->count++] = body;
    tl_emitter_advance(emitter);
  }
  return TALUS_OK;
}

talus_status tl_flow_emit(tl_flow *flow, const tl_model *model, const tl_state *state, double t1,
                          tl_new_bodies *fresh) {
  for (size_t i = 0; i < flow->emitters.count; ++i) {
    emission job = {&flow->emitters.data[i], model, state, fresh, NULL};
    const uint64_t due = tl_emitter_count_due(job.emitter, t1, TL_EMIT_MOST);
    if (due == 0)
      continue;
    TL_TRY(prepare(flow, &job, due));
    TL_TRY(emit_due(&job, t1, due));
  }
  return TALUS_OK;
}
