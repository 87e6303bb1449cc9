/* Gradient methods in the memory of a device: what the iterations (solve/ccp/iteration.c) ask for.
 * Impulses are added by body in the order of contacts, and sums that decide are tallies, so that
 * the bits are those of the host with `reduction: gather` where all rows are one island. */
#include "step/device/solve.h"

#include "backend/thread/tasks.h"
#include "base/sort.h"
#include "base/tally.h"

#include <math.h>

#define STRIPS       ((size_t)16384) /* threads that share a tally */
#define MOST_TALLIES (TL_CCP_SUMS + 1)

_Static_assert(TL_CUT_PARTS == TL_TALLY_PARTS, "parts are those of tallies");

typedef struct gradient {
  tl_held_rows *job;
  tl_device *device;
  tl_held_gradient *of;
  tl_thread_gather gather;
  tl_ccp_sums *sums; /* of the last step, which nobody has fetched; or NULL */
} gradient;

/* ---- tallies --------------------------------------------------------------------------------- */

static tl_thread_numbers numbers_of(const gradient *g, size_t count) {
  return (tl_thread_numbers){g->of->numbers.data, count, TL_HELD_WORD(g->job->held, peaks)};
}

static talus_status forget_peaks(const gradient *g) {
  return g->device->calls->clear(g->device, TL_HELD_WORD(g->job->held, peaks),
                                 TL_CCP_SUMS * sizeof(double));
}

/* Adds up the numbers of some kinds, `count` of each; the tallies are then those from `place` on
 * that the host may fetch. */
static talus_status add_up(const gradient *g, size_t count, int kinds, int place) {
  tl_device *device = g->device;
  const size_t strips = tl_held_threads(count), threads = strips < STRIPS ? strips : STRIPS;
  uint64_t *words = (uint64_t *)g->of->words.data + TL_CUT_WORDS * place;
  const tl_cut_task cut = {numbers_of(g, count), kinds, threads, words};
  TL_TRY(device->calls->clear(device, words, (size_t)kinds * TL_CUT_WORDS * sizeof *words));
  TL_DEVICE_LAUNCH(cut, cut, threads);
  return TALUS_OK;
}

/* The first tallies. */
static talus_status fetch(const gradient *g, int kinds, double *sums) {
  int64_t found[MOST_TALLIES * TL_CUT_WORDS];
  TL_TRY(g->device->calls->download(g->device, found, g->of->words.data,
                                    (size_t)kinds * TL_CUT_WORDS * sizeof *found));
  for (int k = 0; k < kinds; ++k) {
    const int64_t *word = &found[k * TL_CUT_WORDS];
    tl_tally tally;
    tl_tally_clear(&tally);
    tally.level = (int32_t)word[TL_CUT_WORDS - 1];
    memcpy(tally.sum, word, sizeof tally.sum);
    memcpy(tally.carry, word + TL_CUT_PARTS, sizeof tally.carry);
    sums[k] = tl_tally_value(&tally);
  }
  return TALUS_OK;
}

/* ---- what iterations ask for ----------------------------------------------------------------- */

static tl_thread_rows rows_with(const gradient *g, const tl_device_block *bodies) {
  tl_thread_rows rows = g->job->rows;
  rows.bodies = bodies->data;
  return rows;
}

static talus_status spread_to(const gradient *g, const tl_device_block *p, void *out) {
  tl_device *device = g->device;
  const tl_spread_task spread = {.rows = g->job->rows,
                                 .gather = g->gather,
                                 .free_bodies = g->of->free.data,
                                 .p = p->data,
                                 .out = out};
  TL_DEVICE_LAUNCH(spread, spread, g->job->held->bodies);
  return TALUS_OK;
}

static talus_status spread(void *context, tl_ccp_guess of, tl_ccp_guess from, double *norm) {
  gradient *g = context;
  tl_device *device = g->device;
  const size_t bodies = g->job->held->bodies;
  double found[MOST_TALLIES];
  TL_TRY(spread_to(g, &g->of->field[of], g->of->bodies[of].data));
  if (from == TL_GUESS_NONE)
    return TALUS_OK;
  const tl_apart_task apart = {.rows = g->job->rows,
                               .from = g->of->bodies[from].data,
                               .to = g->of->bodies[of].data,
                               .numbers = numbers_of(g, bodies)};
  TL_TRY(forget_peaks(g));
  TL_DEVICE_LAUNCH(apart, apart, bodies);
  TL_TRY(add_up(g, bodies, 1, TL_CCP_SUMS));
  TL_TRY(fetch(g, MOST_TALLIES, found));
  *norm = found[TL_CCP_SUMS];
  if (g->sums)
    *g->sums = (tl_ccp_sums){found[TL_CCP_LENGTH2], found[TL_CCP_SLOPE], found[TL_CCP_RESTART]};
  g->sums = NULL;
  return TALUS_OK;
}

static talus_status step(void *context, tl_ccp_guess from, tl_ccp_guess mark, talus_real scale,
                         bool scalar, tl_ccp_sums *sums) {
  gradient *g = context;
  tl_device *device = g->device;
  const size_t count = g->job->rows.count;
  const tl_advance_task advance = {.rows = rows_with(g, &g->of->bodies[from]),
                                   .scale = scale,
                                   .is_scalar = scalar,
                                   .is_ncp = g->job->is_ncp,
                                   .from = g->of->field[from].data,
                                   .mark = mark == TL_GUESS_NONE ? NULL : g->of->field[mark].data,
                                   .to = g->of->field[TL_GUESS_NEXT].data,
                                   .numbers = numbers_of(g, count)};
  if (!scalar)
    TL_TRY(forget_peaks(g));
  TL_DEVICE_LAUNCH(advance, advance, count);
  if (scalar)
    return TALUS_OK;
  g->sums = sums;
  return add_up(g, count, TL_CCP_SUMS, 0);
}

static talus_status mix(void *context, tl_ccp_guess a, talus_real s, tl_ccp_guess b,
                        tl_ccp_guess out, bool with_bodies) {
  const gradient *g = context;
  tl_device *device = g->device;
  const tl_device_block *field = g->of->field, *bodies = g->of->bodies;
  const tl_blend_task blend = {field[a].data, field[b].data, field[out].data, s};
  const tl_blend_body_task blend_body = {bodies[a].data, bodies[b].data, bodies[out].data, s};
  TL_DEVICE_LAUNCH(blend, blend, g->job->rows.count);
  if (with_bodies)
    TL_DEVICE_LAUNCH(blend_body, blend_body, g->job->held->bodies);
  return TALUS_OK;
}

static talus_status copy(void *context, tl_ccp_guess to, tl_ccp_guess from, bool with_bodies) {
  const gradient *g = context;
  tl_device *device = g->device;
  const tl_device_block *field = g->of->field, *bodies = g->of->bodies;
  TL_TRY(device->calls->copy(device, field[to].data, field[from].data,
                             g->job->rows.count * sizeof(talus_vec3)));
  if (!with_bodies)
    return TALUS_OK;
  return device->calls->copy(device, bodies[to].data, bodies[from].data,
                             g->job->held->bodies * sizeof(tl_ccp_body));
}

static void swap_blocks(tl_device_block *blocks) {
  const tl_device_block now = blocks[TL_GUESS_NOW];
  blocks[TL_GUESS_NOW] = blocks[TL_GUESS_NEXT];
  blocks[TL_GUESS_NEXT] = now;
}

static void swap(void *context) {
  const gradient *g = context;
  swap_blocks(g->of->field);
  swap_blocks(g->of->bodies);
}

static talus_status measure(void *context, double *rms, double *most) {
  const gradient *g = context;
  tl_device *device = g->device;
  const size_t count = g->job->rows.count;
  const tl_rest_task rest = {.rows = rows_with(g, &g->of->bodies[TL_GUESS_NOW]),
                             .p = g->of->field[TL_GUESS_NOW].data,
                             .is_ncp = g->job->is_ncp,
                             .numbers = numbers_of(g, count),
                             .most = TL_HELD_WORD(g->job->held, most)};
  double sum;
  TL_TRY(forget_peaks(g));
  TL_TRY(device->calls->clear(device, rest.most, sizeof *rest.most));
  TL_DEVICE_LAUNCH(rest, rest, count);
  TL_TRY(add_up(g, count, 1, 0));
  TL_TRY(fetch(g, 1, &sum));
  *rms = sqrt(sum / (double)count);
  return device->calls->download(device, most, rest.most, sizeof *most);
}

/* ---- before and after ------------------------------------------------------------------------ */

static talus_status take_room(const gradient *g) {
  tl_device *device = g->device;
  tl_held *held = g->job->held;
  const size_t count = held->after.count, bodies = held->bodies;
  const size_t most = count > bodies ? count : bodies;
  const bool is_apgd = g->job->settings->method == TALUS_APGD;
  for (int k = 0; k < TL_GUESSES; ++k) {
    if (k == TL_GUESS_EXTRAPOLATED && !is_apgd)
      continue;
    TL_DEVICE_RESERVE(g->of->field[k], count, talus_vec3);
    if (k != TL_GUESS_BEST)
      TL_DEVICE_RESERVE(g->of->bodies[k], bodies, tl_ccp_body);
  }
  TL_DEVICE_RESERVE(g->of->identity, count, uint32_t);
  TL_DEVICE_RESERVE(g->of->first, bodies + 1, uint32_t);
  TL_DEVICE_RESERVE(g->of->last, bodies + 1, uint32_t);
  TL_DEVICE_RESERVE(g->of->free, bodies, tl_ccp_body);
  TL_DEVICE_RESERVE(g->of->numbers, TL_CCP_SUMS * most, double);
  TL_DEVICE_RESERVE(g->of->words, TL_CUT_WORDS * MOST_TALLIES, int64_t);
  for (int k = 0; k < 2; ++k) {
    TL_DEVICE_RESERVE(held->colour[k], 2 * count, uint32_t);
    TL_DEVICE_RESERVE(held->order[k], 2 * count, uint32_t);
  }
  return TALUS_OK;
}

/* Which rows touch which body. */
static talus_status list_entries(gradient *g) {
  tl_device *device = g->device;
  tl_held *held = g->job->held;
  const size_t count = 2 * g->job->rows.count, bodies = held->bodies;
  const tl_entry_task entry = {.rows = g->job->rows,
                               .nobody = (uint32_t)bodies,
                               .body = held->colour[0].data,
                               .entry = held->order[0].data};
  const tl_device_sort sort = {{held->colour[0].data, held->colour[1].data},
                               {held->order[0].data, held->order[1].data},
                               false};
  bool in_room;
  if (count > UINT32_MAX)
    return tl_fail(TALUS_ERROR_MEMORY, "%zu contacts are more than a device adds up by body (2e9)",
                   g->job->rows.count);
  TL_DEVICE_LAUNCH(entry, entry, g->job->rows.count);
  TL_TRY(device->calls->sort(device, count, tl_bits_u64(bodies), &sort, &in_room));
  const tl_edge_task edge = {held->colour[in_room].data, count, g->of->first.data,
                             g->of->last.data};
  TL_TRY(device->calls->clear(device, edge.first, (bodies + 1) * sizeof *edge.first));
  TL_TRY(device->calls->clear(device, edge.last, (bodies + 1) * sizeof *edge.last));
  TL_DEVICE_LAUNCH(edge, edge, count);
  g->gather = (tl_thread_gather){held->order[in_room].data, edge.first, edge.last};
  return TALUS_OK;
}

static talus_status slope_at(const gradient *g, const tl_device_block *bodies, double *sum) {
  tl_device *device = g->device;
  const size_t count = g->job->rows.count;
  const tl_slope_task slope = {rows_with(g, bodies), g->of->field[TL_GUESS_NOW].data,
                               numbers_of(g, count)};
  TL_TRY(forget_peaks(g));
  TL_DEVICE_LAUNCH(slope, slope, count);
  TL_TRY(add_up(g, count, 1, 0));
  return fetch(g, 1, sum);
}

/* Like `start` of solve/ccp/gradient.c. */
static talus_status begin(const gradient *g) {
  tl_device *device = g->device;
  const size_t count = g->job->rows.count;
  const tl_start_task start = {g->job->rows, g->of->field[TL_GUESS_NOW].data,
                               g->of->field[TL_GUESS_BEST].data};
  const tl_device_block *now = &g->of->field[TL_GUESS_NOW], *bodies = &g->of->bodies[TL_GUESS_NOW];
  double before, after;
  TL_DEVICE_LAUNCH(start, start, count);
  TL_TRY(spread_to(g, now, bodies->data));
  if (!g->job->settings->warm_start)
    return TALUS_OK;
  TL_TRY(slope_at(g, &g->of->free, &before));
  TL_TRY(slope_at(g, bodies, &after));
  const double q = 0.5 * (before + after);
  if (!(q > 0))
    return TALUS_OK;
  const tl_shrink_task shrink = {.rows = g->job->rows, .share = tl_warm_share(q, before)};
  TL_DEVICE_LAUNCH(shrink, shrink, count);
  TL_DEVICE_LAUNCH(start, start, count);
  return spread_to(g, now, bodies->data);
}

/* Rows in the order of contacts. */
static talus_status make_rows(const gradient *g) {
  tl_device *device = g->device;
  tl_held *held = g->job->held;
  const tl_settle_task settle = {.colour = held->colour[0].data, .order = g->of->identity.data};
  TL_DEVICE_LAUNCH(settle, settle, held->after.count);
  g->job->order = g->of->identity.data;
  TL_TRY(tl_held_make_rows(g->job));
  return device->calls->copy(device, g->of->free.data, held->solver.data,
                             held->bodies * sizeof(tl_ccp_body));
}

static talus_status take_best(const gradient *g) {
  tl_device *device = g->device;
  const tl_device_block *best = &g->of->field[TL_GUESS_BEST];
  const tl_end_task end = {g->job->rows, NULL, best->data};
  TL_TRY(spread_to(g, best, g->job->held->solver.data));
  TL_DEVICE_LAUNCH(end, end, g->job->rows.count);
  return device->calls->copy(device, g->job->held->after.impulses.data, best->data,
                             g->job->rows.count * sizeof(talus_vec3));
}

talus_status tl_held_iterate(tl_held_rows *job) {
  static const tl_ccp_iteration_calls calls = {
      .spread = spread, .step = step, .mix = mix, .copy = copy, .swap = swap, .measure = measure};
  gradient g = {.job = job, .device = job->device, .of = &job->held->gradient};
  tl_ccp_iteration iteration = {.calls = &calls,
                                .context = &g,
                                .settings = job->settings,
                                .report = job->report,
                                .cancel = job->crowd->cancel,
                                .effort = tl_held_effort(job),
                                .has_coulomb = job->is_ncp,
                                .is_ncp = job->is_ncp};
  TL_TRY(take_room(&g));
  TL_TRY(make_rows(&g));
  TL_TRY(list_entries(&g));
  TL_TRY(begin(&g));
  TL_TRY(tl_ccp_iterate(&iteration));
  TL_GO_ON(job->crowd->cancel);
  TL_TRY(take_best(&g));
  TL_TRY(tl_held_look(job));
  job->report->iterations = iteration.done;
  job->report->residual_rms = iteration.best_rms;
  job->report->residual_max = iteration.best_max;
  job->report->objective = job->totals[TL_REMAIN_BIAS];
  return TALUS_OK;
}
