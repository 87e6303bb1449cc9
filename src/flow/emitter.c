/* Emitters: bodies that appear while time runs.
 *
 * Size and rotation of body k are functions of (seed, k), its place of (seed, k, attempt): the two
 * counters are all there is to save. */
#include "flow/place.h"

/* Places tried in one step for one body. */
#define TRIES 8

/* Share of the interval between two bodies by which a due time may be missed: steps * dt and k/rate
 * round differently, and a body must not come a step late for that. */
#define TIME_SLACK 1e-9

/* ---- definitions ----------------------------------------------------------------------------- */

static talus_status check_times(const talus_emitter_def *def, const char *what) {
  if (!(def->rate > 0) || !tl_is_finite_d(def->rate))
    return tl_fail(TALUS_ERROR_INVALID, "%s: the rate is %g bodies per second; it must be positive",
                   what, def->rate);
  if (!tl_is_finite_d(def->from_time))
    return tl_fail(TALUS_ERROR_INVALID, "%s: the time to begin is not finite", what);
  if (!(def->until > def->from_time))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: it would end (%g s) before it begins (%g s) and emit nothing", what,
                   def->until, def->from_time);
  return TALUS_OK;
}

/* The largest scale that can come; 0 where that is not known beforehand. */
static double largest_size(const talus_size_def *size) {
  double most = 0;
  if (size->kind == TALUS_SIZE_ONE)
    return 1;
  if (size->kind == TALUS_SIZE_UNIFORM)
    return size->high;
  for (size_t i = 0; size->kind == TALUS_SIZE_TABLE && i < size->rows; ++i)
    if (size->table[2 * i + 1] > 0)
      most = fmax(most, size->table[2 * i]);
  return most;
}

static talus_status check_emitter(const tl_model *model, const talus_emitter_def *def,
                                  const char *what) {
  bool spans[3];
  TL_TRY(tl_trial_check(model, &def->body, what));
  if (def->body.kind != TALUS_FREE)
    return tl_fail(TALUS_ERROR_INVALID, "%s: only free bodies can be emitted", what);
  TL_TRY(check_times(def, what));
  TL_TRY(tl_size_check(&def->size, what));
  TL_TRY(tl_region_check(&def->from, what));
  const tl_trial largest =
      tl_trial_make(model, &def->body, largest_size(&def->size), tl_quat_identity());
  TL_TRY(tl_trial_check_period(model, &largest, what));
  return tl_region_check_domain(model, &def->from, what, spans);
}

static void release_emitter(tl_emitter *emitter) {
  tl_flow_free_name((char *)emitter->def.name); /* ours */
  emitter->def.name = NULL;
  tl_size_release(&emitter->def.size);
}

talus_status tl_flow_add_emitter(tl_flow *flow, const tl_model *model,
                                 const talus_emitter_def *def) {
  const tl_flow_label what = tl_flow_describe("emitter", def->name, flow->emitters.count);
  TL_TRY(check_emitter(model, def, what.text));
  TL_TRY(tl_array_reserve(&flow->emitters, flow->emitters.count + 1));
  tl_emitter emitter = {.def = *def};
  emitter.def.body.name = NULL;
  emitter.def.body.motion = (talus_motion){0}; /* of kinematic bodies, which are not emitted */
  char *name;
  TL_TRY(tl_flow_copy_name(&name, def->name));
  emitter.def.name = name;
  const talus_status status = tl_size_copy(&emitter.def.size, &def->size);
  if (status != TALUS_OK) {
    tl_flow_free_name(name);
    return status;
  }
  flow->emitters.data[flow->emitters.count++] = emitter;
  return TALUS_OK;
}

void tl_flow_release(tl_flow *flow) {
  for (size_t i = 0; i < flow->emitters.count; ++i)
    release_emitter(&flow->emitters.data[i]);
  for (size_t i = 0; i < flow->sinks.count; ++i)
    tl_flow_free_name(flow->sinks.data[i].name);
  for (size_t i = 0; i < flow->probes.count; ++i)
    tl_flow_free_name(flow->probes.data[i].name);
  tl_array_free(&flow->emitters);
  tl_array_free(&flow->sinks);
  tl_array_free(&flow->probes);
}

/* ---- time runs ------------------------------------------------------------------------------- */

static bool is_due(const tl_emitter *emitter, double t1) {
  const talus_emitter_def *def = &emitter->def;
  const double due = def->from_time + (double)emitter->serial / def->rate;
  const double slack = TIME_SLACK / def->rate;
  return due <= t1 + slack && due < def->until - slack;
}

/* Bounding spheres of everything, one after the other: an emitter asks rarely, and nothing has to
 * be kept up to date for it. The youngest first, for they are in the way most often. */
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

/* Tries places for the next body until one is free. */
static bool find_place(tl_emitter *emitter, const tl_model *model, const tl_state *state,
                       const tl_new_bodies *fresh, tl_trial *trial) {
  const talus_emitter_def *def = &emitter->def;
  for (int i = 0; i < TRIES; ++i) {
    tl_random random = tl_random_start(def->seed, TL_STREAM_EMIT_POSITION, emitter->serial);
    random.block = (uint32_t)(emitter->attempt * TL_REGION_POINT_BLOCKS);
    trial->centre = tl_place_wrap(model, tl_region_point(&def->from, &random));
    if (!is_blocked_by_fresh(model, fresh, trial) && !is_blocked_by_world(model, state, trial))
      return true;
    emitter->attempt++;
    emitter->blocked++;
  }
  return false;
}

static talus_status emit_due(tl_emitter *emitter, const tl_model *model, const tl_state *state,
                             double t1, tl_new_bodies *fresh) {
  const talus_emitter_def *def = &emitter->def;
  while (is_due(emitter, t1)) {
    TL_TRY(tl_array_reserve(fresh, fresh->count + 1));
    talus_body_def body = def->body;
    body.rotation = def->random_rotation
                        ? tl_place_rotation(def->seed, TL_STREAM_EMIT_ROTATION, emitter->serial)
                        : tl_quat_normalize(def->body.rotation);
    body.scale = tl_size_draw(&def->size, def->seed, TL_STREAM_EMIT_SIZE, emitter->serial);
    tl_trial trial = tl_trial_make(model, &body, body.scale, body.rotation);
    if (!find_place(emitter, model, state, fresh, &trial))
      break;
    body.position = tl_trial_frame(&trial, body.rotation);
    fresh->data[fresh->count++] = body;
    emitter->serial++;
    emitter->attempt = 0;
  }
  return TALUS_OK;
}

talus_status tl_flow_emit(tl_flow *flow, const tl_model *model, const tl_state *state, double t1,
                          tl_new_bodies *fresh) {
  for (size_t i = 0; i < flow->emitters.count; ++i)
    TL_TRY(emit_due(&flow->emitters.data[i], model, state, t1, fresh));
  return TALUS_OK;
}
