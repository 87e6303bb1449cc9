/* One step of events: loads flyers, makes plans, processes events, and moves all flyers to the end
 * of the step. */
#include "step/event/event.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "contact/history.h"
#include "crowd/flights.h"
#include "crowd/free.h"
#include "step/step.h"

#include <math.h>

#define LOOK_EVERY 1024 /* events */
#define NEXT       3    /* buckets */
#define SOON       10
#define LATER      24
#define FEW        6000 /* flyers: memory of fewer is in the cache anyway */

/* Impacts of one flyer within a billionth of a step after which the step fails: they would not
 * end. */
#define PILE 1000

/* Prefetches the data of coming events: for one bucket plans and flyers; for a nearer bucket, whose
 * plans have arrived, the cells around them; for the nearest the flyers in these cells. since: the
 * bucket of the last call. */
static void prefetch(const tl_events *events, uint32_t since) {
  const tl_event_queue *queue = &events->queue;
  for (uint32_t b = since + 1 + LATER; b <= queue->current + LATER && b < queue->buckets; ++b) {
    const uint32_t i = queue->head[b];
    if (i == TL_NONE)
      continue;
    __builtin_prefetch(&events->plans[i]);
    __builtin_prefetch(&events->flyers[i]);
  }
  for (uint32_t b = since + 1 + SOON; b <= queue->current + SOON && b < queue->buckets; ++b)
    for (uint32_t i = queue->head[b]; i != TL_NONE; i = events->plans[i].node.next)
      tl_events_prefetch_cells(events, i);
  for (uint32_t b = since + 1 + NEXT; b <= queue->current + NEXT && b < queue->buckets; ++b)
    for (uint32_t i = queue->head[b]; i != TL_NONE; i = events->plans[i].node.next)
      tl_events_prefetch_flyers(events, i);
}

static talus_status run(tl_events *events) {
  tl_event_queue *queue = &events->queue;
  const uint64_t pile = PILE * ((uint64_t)events->count + 10);
  uint64_t count = 0, since = 0;
  uint32_t seen = 0;
  double moment = 0;
  for (uint32_t i; (i = tl_event_queue_first(queue)) != TL_NONE; ++count) {
    if (queue->current != seen) {
      if (events->count > FEW)
        prefetch(events, seen);
      seen = queue->current;
    }
    const tl_plan *plan = &events->plans[i];
    const double tau = plan->node.when;
    if (tau > moment + 1e-9 * events->span)
      moment = tau, since = count;
    if (count - since > pile)
      return tl_fail(TALUS_ERROR_DIVERGED,
                     "more than %llu impacts at one moment: bodies that lose speed cannot come to "
                     "rest on each other here; raise solve.bounce_speed (now %g m/s)",
                     (unsigned long long)pile, events->slowest);
    if (count % LOOK_EVERY == 0)
      TL_GO_ON(events->crowd->cancel);
    if (plan->cross < plan->hit) {
      tl_events_cross(events, i, tau);
      tl_event_queue_set(queue, i, fmin(plan->hit, plan->cross));
    } else {
      TL_TRY(tl_events_strike(events, i, tau));
    }
  }
  return TALUS_OK;
}

/* ---- the end of the step --------------------------------------------------------------------- */

typedef struct finish_job {
  const tl_events *events;
  tl_twist *twists, *shifts; /* by slot */
} finish_job;

/* Finds velocities and shifts: a shift is the part of a flyer's displacement that its final
 * velocity does not explain, so that code after the step sees the right positions. */
static void finish_range(void *context, size_t begin, size_t end) {
  const finish_job *job = context;
  const tl_events *events = job->events;
  const tl_crowd *crowd = events->crowd;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = events->bodies[i].slot;
    const tl_flyer *f = &events->flyers[i];
    tl_events_move(events, (uint32_t)i, events->span);
    const talus_dvec3 way = tl_model_offset(crowd->model, events->start[i], f->x);
    const talus_vec3 v = tl_narrow(f->v);
    job->twists[slot] = (tl_twist){v, tl_free_of(crowd, slot).spin};
    job->shifts[slot].velocity = tl_narrow(tl_dsub(tl_dscale(way, 1 / events->span), tl_widen(v)));
    job->shifts[slot].spin = tl_vec3(0, 0, 0);
  }
}

static double wrap(double x, double lo, double hi) {
  const double y = x - (hi - lo) * floor((x - lo) / (hi - lo));
  return x >= lo && x < hi ? x : y < hi ? y : lo;
}

static void place_range(void *context, size_t begin, size_t end) {
  const finish_job *job = context;
  const tl_crowd *crowd = job->events->crowd;
  const talus_domain_def *domain = &crowd->model->domain;
  for (size_t i = begin; i < end; ++i) {
    talus_dvec3 x = job->events->flyers[i].x;
    if (domain->enabled && domain->periodic[0])
      x.x = wrap(x.x, domain->box.lo.x, domain->box.hi.x);
    if (domain->enabled && domain->periodic[1])
      x.y = wrap(x.y, domain->box.lo.y, domain->box.hi.y);
    if (domain->enabled && domain->periodic[2])
      x.z = wrap(x.z, domain->box.lo.z, domain->box.hi.z);
    crowd->out->position[job->events->bodies[i].slot] = x;
  }
}

static talus_status finish(tl_events *events, tl_step_report *report) {
  const tl_crowd *crowd = events->crowd;
  finish_job job = {.events = events};
  TL_TAKE(crowd->arena, crowd->count, &job.twists);
  TL_TAKE(crowd->arena, crowd->count, &job.shifts);
  memset(job.twists, 0, crowd->count * sizeof *job.twists);
  memset(job.shifts, 0, crowd->count * sizeof *job.shifts);
  tl_for(&crowd->model->par, events->count, TL_BLOCK, finish_range, &job);
  const tl_twists twists = {.first = job.twists, .stride = sizeof *job.twists, .shift = job.shifts};
  TL_TRY(tl_step_check(crowd, twists, &report->culprit));
  tl_step_move(crowd, twists);
  tl_for(&crowd->model->par, events->count, TL_BLOCK, place_range, &job);
  report->solve.outside = tl_events_count_outside(events);
  return TALUS_OK;
}

static talus_status begin_flights(const tl_crowd *crowd) {
  tl_flights *flights = crowd->flights;
  if (!flights)
    return TALUS_OK;
  flights->rows.count = 0;
  TL_TRY(tl_array_resize(&flights->since, crowd->count));
  for (size_t i = 0; i < crowd->count; ++i)
    flights->since.data[i] = 0;
  return TALUS_OK;
}

/* Counts flyers, once for each revolved wall, and those in whose cell a part of it is. */
static tl_wall_share count_near(const tl_events *events) {
  const tl_event_cells *cells = &events->cells;
  tl_wall_share share = {0};
  for (size_t w = 0; w < events->wall_count; ++w)
    if (tl_event_is_revolved(&events->walls[w]) &&
        (w == 0 || events->walls[w - 1].slot != events->walls[w].slot))
      share.asked += events->count;
  for (size_t i = 0; share.asked > 0 && i < events->count; ++i) {
    const size_t cell = tl_event_cell(cells, events->plans[i].at);
    uint32_t last = TL_NONE;
    for (uint32_t k = cells->wall_start[cell]; k < cells->wall_start[cell + 1]; ++k) {
      const tl_event_wall *w = &events->walls[cells->wall_list[k]];
      share.tested += tl_event_is_revolved(w) && w->slot != last;
      last = w->slot;
    }
  }
  return share;
}

talus_status tl_step_event(const tl_crowd *crowd, tl_step_report *report) {
  tl_events events = {.crowd = crowd, .span = crowd->dt};
  const double begun = tl_clock();
  *report = (tl_step_report){.culprit = TL_NONE, .partner = TL_NONE};
  tl_tally_clear(&events.work);
  tl_tally_clear(&events.load);
  tl_contacts_clear(crowd->contacts_after);
  TL_TRY(tl_history_begin(crowd->contacts_before, crowd->dt, crowd->contacts_after));
  TL_TRY(begin_flights(crowd));
  TL_TRY(tl_events_load(&events, crowd->model->step != TALUS_STEP_EVENT));
  TL_GO_ON(crowd->cancel);
  TL_TRY(tl_events_load_walls(&events));
  report->walls = count_near(&events);
  TL_GO_ON(crowd->cancel);
  const double loaded = tl_clock();
  TL_TRY(tl_events_plan_all(&events));
  const double planned = tl_clock();
  TL_TRY(run(&events));
  TL_GO_ON(crowd->cancel);
  TL_TRY(tl_events_sort_contacts(&events));
  const double solved = tl_clock();
  TL_TRY(finish(&events, report));
  report->pairs = crowd->contacts_after->count;
  report->has_depths = true; /* no flyers overlap */
  report->solve.collisions = events.impacts;
  report->solve.virial = events.virial;
  report->solve.load_work = tl_tally_value(&events.load);
  report->solve.contact_work = tl_tally_value(&events.work);
  report->wall_broad = loaded - begun;
  report->wall_narrow = planned - loaded;
  report->wall_solve = solved - planned;
  report->wall_step = tl_clock() - solved;
  return TALUS_OK;
}
