/* Streams: times at which the bodies of an emitter are due, and their velocities. */
#include "base/power.h"
#include "flow/place.h"
#include "narrow/narrow.h"

uint64_t tl_emitter_burst(const talus_emitter_def *def) { return def->burst > 0 ? def->burst : 1; }

/* ---- times ----------------------------------------------------------------------------------- */

/* Poisson process: time from burst `group` - 1 to burst `group`. */
static double interval(const talus_emitter_def *def, uint64_t group) {
  tl_random random = tl_random_start(def->seed, TL_STREAM_EMIT_ARRIVAL, group);
  const double mean = (double)tl_emitter_burst(def) / def->rate;
  return -mean * tl_log_d(1 - tl_random_unit(&random));
}

void tl_emitter_begin(tl_emitter *emitter) {
  const talus_emitter_def *def = &emitter->def;
  emitter->next = def->from_time + (def->rate > 0 ? interval(def, 0) : 0);
}

/* Number of bodies so far that came by the clock, not from a sink. */
static uint64_t clocked(const tl_emitter *emitter) { return emitter->serial - emitter->returned; }

double tl_emitter_due(const tl_emitter *emitter) {
  const talus_emitter_def *def = &emitter->def;
  const uint64_t burst = tl_emitter_burst(def);
  if (!(def->rate > 0)) /* only bodies from sinks, none by the clock */
    return INFINITY;
  if (def->arrival == TALUS_ARRIVAL_POISSON)
    return emitter->next;
  return def->from_time + (double)(clocked(emitter) / burst * burst) / def->rate;
}

void tl_emitter_advance(tl_emitter *emitter) {
  const uint64_t burst = tl_emitter_burst(&emitter->def);
  emitter->serial++;
  emitter->attempt = 0;
  if (emitter->owed > 0) {
    emitter->owed--;
    emitter->returned++;
  } else if (emitter->def.rate > 0 && emitter->def.arrival == TALUS_ARRIVAL_POISSON &&
             clocked(emitter) % burst == 0) {
    emitter->next += interval(&emitter->def, clocked(emitter) / burst);
  }
}

uint64_t tl_emitter_count_due(const tl_emitter *emitter, double t1, uint64_t most) {
  tl_emitter later = *emitter;
  uint64_t n = 0;
  while (n < most && tl_emitter_is_due(&later, t1)) {
    tl_emitter_advance(&later);
    n++;
  }
  return n;
}

/* ---- places ---------------------------------------------------------------------------------- */

talus_dvec3 tl_emitter_place(const talus_emitter_def *def, uint64_t serial, uint64_t attempt) {
  if (def->point_count > 0)
    return def->points[serial % def->point_count];
  tl_random random = tl_random_start(def->seed, TL_STREAM_EMIT_POSITION, serial);
  random.block = (uint32_t)(attempt * TL_REGION_POINT_BLOCKS);
  return tl_region_point(&def->from, &random);
}

/* ---- velocities ------------------------------------------------------------------------------ */

/* The speed x > 0, in thermal speeds, with which bodies cross a plane if their gas drifts against
 * it with speed `drift`: its density is x exp(-(x - drift)^2 / 2). Rejection method: with mode m,
 * the density is at most a Gaussian of deviation 1 around m, and the ratio of the two is y exp(1 -
 * y), y = x/m. */
static double draw_flux(double drift, tl_random *random) {
  const double mode = 0.5 * (drift + sqrt(drift * drift + 4));
  for (int i = 0; i < 1000; ++i) {
    const double y = (mode + tl_random_normal(random)) / mode;
    if (y > 0 && tl_random_unit(random) < y * tl_exp_d(1 - y))
      return y * mode;
  }
  return mode; /* practically never reached: at least one of two is accepted */
}

talus_status tl_thermal_check(double thermal, const char *what) {
  if (!(thermal >= 0) || !tl_is_finite_d(thermal))
    return tl_fail(TALUS_ERROR_INVALID, "%s: the thermal speed is %g m/s; it must be 0 or more",
                   what, thermal);
  return TALUS_OK;
}

static talus_dvec3 draw_thermal(talus_vec3 drift, double thermal, tl_random *random) {
  const double x = tl_random_normal(random), y = tl_random_normal(random);
  const talus_dvec3 c = tl_dvec3(x, y, tl_random_normal(random));
  return tl_dadd(tl_widen(drift), tl_dscale(c, thermal));
}

talus_vec3 tl_fill_velocity(const talus_fill_def *def, uint64_t serial) {
  if (!(def->thermal > 0))
    return def->body.velocity;
  tl_random random = tl_random_start(def->seed, TL_STREAM_FILL_VELOCITY, serial);
  return tl_narrow(draw_thermal(def->body.velocity, def->thermal, &random));
}

talus_vec3 tl_emitter_velocity(const talus_emitter_def *def, uint64_t serial) {
  if (!(def->thermal > 0))
    return def->body.velocity;
  tl_random random = tl_random_start(def->seed, TL_STREAM_EMIT_VELOCITY, serial);
  const talus_dvec3 drift = tl_widen(def->body.velocity);
  talus_dvec3 v = draw_thermal(def->body.velocity, def->thermal, &random);
  if (def->inflow == TALUS_INFLOW_FLUX) {
    const talus_dvec3 axis = tl_widen(def->from.axis);
    const talus_dvec3 n = tl_dscale(axis, 1 / tl_dlength(axis));
    const double through = def->thermal * draw_flux(tl_ddot(drift, n) / def->thermal, &random);
    v = tl_dadd(v, tl_dscale(n, through - tl_ddot(v, n)));
  }
  return tl_narrow(v);
}

/* ---- checks ---------------------------------------------------------------------------------- */

talus_status tl_emitter_check_stream(const talus_emitter_def *def, const char *what) {
  TL_TRY(tl_thermal_check(def->thermal, what));
  if ((unsigned)def->inflow > TALUS_INFLOW_FLUX || (unsigned)def->arrival > TALUS_ARRIVAL_POISSON)
    return tl_fail(TALUS_ERROR_INVALID, "%s: there is no inflow %d or no arrival %d", what,
                   (int)def->inflow, (int)def->arrival);
  if (def->burst > TL_EMIT_MOST)
    return tl_fail(TALUS_ERROR_INVALID, "%s: a burst of %llu bodies is more than %llu", what,
                   (unsigned long long)def->burst, (unsigned long long)TL_EMIT_MOST);
  if (def->inflow == TALUS_INFLOW_FLUX &&
      (def->from.kind != TALUS_REGION_CYLINDER || def->from.length > 0 || !(def->thermal > 0)))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a flux goes through a disc, along its axis, with a thermal speed > 0",
                   what);
  return TALUS_OK;
}

/* Points that are tested; with fewer, a wall's edge could be mistaken for the whole wall. */
#define LOOKS 64

static bool is_shell(const tl_shape *shape) {
  return shape->kind == TALUS_REVOLVED && shape->open != TL_REVOLVED_BOTH;
}

/* Whether a body that nothing moves is the only one. */
static bool is_alone(const tl_model *model, uint32_t slot) {
  for (uint32_t i = 0; i < model->bodies; ++i)
    if (i != slot && tl_body_is_static(model, i))
      return false;
  return true;
}

/* A stream that comes from the matter of a wall would wait for ever; what comes from beyond it is
 * lost, where nothing else is there to hold it. */
talus_status tl_emitter_check_inlet(const tl_model *model, const tl_state *state,
                                    const talus_emitter_def *def, const char *what) {
  for (uint32_t slot = 0; slot < model->bodies; ++slot) {
    const tl_shape *shape = tl_body_shape(model, slot);
    if (!is_shell(shape) || tl_model_ignores(model, model->property.group[slot], def->body.group))
      continue;
    const tl_posed wall = {
        .shape = shape, .scale = model->property.scale[slot], .rotation = state->rotation[slot]};
    int places[4] = {0}; /* by tl_revolved_side */
    for (uint64_t i = 0; i < LOOKS; ++i)
      places[tl_revolved_side_of(&wall,
                                 tl_dsub(tl_emitter_place(def, i, 0), state->position[slot]))]++;
    const unsigned long long uid = model->property.uid[slot];
    const int out = places[TL_WALL_BEHIND] + places[TL_WALL_BEYOND];
    if (places[TL_WALL_BEHIND] == LOOKS)
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: where its bodies come from is outside the revolved wall that body %llu "
                     "is, in its matter; put it inside, or give the wall `sides: both`",
                     what, uid);
    if (places[TL_WALL_BEYOND] > 0 && (places[TL_WALL_WITHIN] > 0 || is_alone(model, slot)))
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: %s where its bodies come from is outside the revolved wall that body "
                     "%llu is; %s, or give the wall `sides: both`",
                     what, out < LOOKS ? "a part of" : "the place", uid,
                     out < LOOKS ? "make it narrower than the wall" : "put it inside");
  }
  return TALUS_OK;
}
