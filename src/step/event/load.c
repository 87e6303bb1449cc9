/* Loads flyers, in the order of their cells, and makes the cells. */
#include "base/power.h"
#include "base/sort.h"
#include "crowd/free.h"
#include "step/event/event.h"

#include <math.h>

#define FILL 0.5  /* width of a cell over the distance of flyers, if they are sparse */
#define ROOM 1e-9 /* part by which a cell is wider than the largest flyer, at least */

typedef struct load_job {
  tl_events *events;
  const uint32_t *slots; /* of those that fly, ascending */
  uint32_t *cell;        /* by flyer: its cell; then its place in the order */
  uint32_t *order;
  bool is_straight;
} load_job;

static double radius_of(const tl_model *model, uint32_t slot) {
  return tl_body_shape(model, slot)->size[0] * (double)model->property.scale[slot];
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The extent of flyers along each axis; on a periodic axis that of the domain. */
static void find_extent(tl_events *events, const uint32_t *slots) {
  const tl_crowd *crowd = events->crowd;
  const talus_domain_def *domain = &crowd->model->domain;
  tl_event_cells *cells = &events->cells;
  double hi[3];
  for (int k = 0; k < 3; ++k)
    cells->lo[k] = INFINITY, hi[k] = -INFINITY;
  for (size_t i = 0; i < events->count; ++i) {
    talus_dvec3 x = crowd->in->position[slots[i]];
    for (int k = 0; k < 3; ++k) {
      cells->lo[k] = fmin(cells->lo[k], *tl_dvec3_axis(&x, k));
      hi[k] = fmax(hi[k], *tl_dvec3_axis(&x, k));
    }
  }
  talus_box box = domain->box;
  for (int k = 0; k < 3; ++k) {
    cells->periodic[k] = domain->enabled && domain->periodic[k];
    if (cells->periodic[k])
      cells->lo[k] = *tl_dvec3_axis(&box.lo, k), hi[k] = *tl_dvec3_axis(&box.hi, k);
    cells->length[k] = events->count > 0 || cells->periodic[k] ? hi[k] - cells->lo[k] : 0;
    if (!(cells->lo[k] > -INFINITY && cells->lo[k] < INFINITY))
      cells->lo[k] = 0;
  }
}

static size_t cut(tl_event_cells *cells, double width) {
  size_t count = 1;
  for (int k = 0; k < 3; ++k) {
    const int least = cells->periodic[k] ? 3 : 1;
    const double n = fmin(floor(cells->length[k] / width), 60000);
    cells->n[k] = n > least ? (int)n : least;
    cells->width[k] = cells->length[k] > 0 ? cells->length[k] / cells->n[k] : 1;
    count *= (size_t)cells->n[k];
  }
  return count;
}

/* Makes at most eight cells per flyer. */
static talus_status make_cells(tl_events *events, const uint32_t *slots) {
  tl_event_cells *cells = &events->cells;
  find_extent(events, slots);
  const double least = 2 * events->largest * (1 + ROOM);
  for (int k = 0; k < 3; ++k)
    if (cells->periodic[k] && cells->length[k] < 3 * least)
      return tl_fail(TALUS_ERROR_UNSUPPORTED,
                     "the domain is %g m long where it is periodic, and the largest sphere %g m "
                     "wide; `elastic` needs three times that",
                     cells->length[k], 2 * events->largest);
  const double volume = cells->length[0] * cells->length[1] * cells->length[2];
  const double n = (double)events->count + 1;
  double width = fmax(fmax(least, FILL * tl_cbrt_d(volume / n)), 1e-300);
  while ((cells->count = cut(cells, width)) > 8 * events->count + 64)
    width *= 1.1;
  for (int k = 0; k < 27; ++k)
    cells->offset[k] =
        ((ptrdiff_t)(k / 9 - 1) * cells->n[1] + (k / 3 % 3 - 1)) * cells->n[0] + (k % 3 - 1);
  TL_TAKE(events->crowd->arena, cells->count, &cells->head);
  memset(cells->head, 0xff, cells->count * sizeof *cells->head);
  const size_t words = cells->count / 64 + 1;
  TL_TAKE(events->crowd->arena, words, &cells->used);
  memset(cells->used, 0, words * sizeof *cells->used);
  return TALUS_OK;
}

static void find_cell(const tl_event_cells *cells, talus_dvec3 x, uint16_t at[3]) {
  for (int k = 0; k < 3; ++k) {
    const double place = floor((*tl_dvec3_axis(&x, k) - cells->lo[k]) / cells->width[k]);
    at[k] = (uint16_t)fmax(0, fmin(place, cells->n[k] - 1));
  }
}

static void find_cells(void *context, size_t begin, size_t end) {
  const load_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    uint16_t at[3];
    find_cell(&job->events->cells, job->events->crowd->in->position[job->slots[i]], at);
    job->cell[i] = (uint32_t)tl_event_cell(&job->events->cells, at);
    job->order[i] = (uint32_t)i;
  }
}

/* ---- flyers ---------------------------------------------------------------------------------- */

static void load_range(void *context, size_t begin, size_t end) {
  const load_job *job = context;
  const tl_events *events = job->events;
  const tl_crowd *crowd = events->crowd;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = job->slots[job->order[i]];
    const talus_dvec3 x = crowd->in->position[slot];
    const talus_vec3 v =
        job->is_straight ? tl_free_of(crowd, slot).velocity : crowd->in->velocity[slot];
    events->flyers[i] =
        (tl_flyer){.x = x, .v = tl_widen(v), .radius = radius_of(crowd->model, slot)};
    events->bodies[i] = (tl_flyer_body){(double)crowd->model->property.mass[slot], slot};
    events->start[i] = x;
    tl_plan *plan = &events->plans[i];
    *plan = (tl_plan){.hit = INFINITY, .cross = INFINITY, .partner = TL_NONE};
    find_cell(&events->cells, x, plan->at);
    const bool is_first = i == 0 || job->cell[i - 1] != job->cell[i];
    const bool is_last = i + 1 == events->count || job->cell[i + 1] != job->cell[i];
    plan->prev = is_first ? TL_NONE : (uint32_t)(i - 1);
    events->next[i] = is_last ? TL_NONE : (uint32_t)(i + 1);
    if (is_first)
      events->cells.head[job->cell[i]] = (uint32_t)i;
  }
}

/* Finds the speed below which impacts lose no energy, and the time for which a resting body
 * falls. */
static void find_scales(tl_events *events, double smallest) {
  const tl_model *model = events->crowd->model;
  const double pull = (double)tl_length(model->gravity);
  tl_tally squares;
  tl_tally_clear(&squares);
  for (size_t i = 0; i < events->count; ++i)
    tl_tally_add(&squares, tl_ddot(events->flyers[i].v, events->flyers[i].v));
  const double rms = events->count > 0 ? sqrt(tl_tally_value(&squares) / (double)events->count) : 0;
  events->fall_time = 0.01 * events->span;
  if (pull > 0 && events->count > 0)
    events->fall_time = fmin(events->fall_time, sqrt(2e-6 * smallest / pull));
  events->slowest = model->solve.bounce_speed >= 0 ? model->solve.bounce_speed
                                                   : fmax(pull * events->fall_time, 1e-4 * rms);
}

talus_status tl_events_load(tl_events *events, bool is_straight) {
  const tl_crowd *crowd = events->crowd;
  const tl_model *model = crowd->model;
  uint32_t *slots;
  double smallest = INFINITY;
  TL_TAKE(crowd->arena, crowd->count, &slots);
  for (uint32_t slot = 0; slot < crowd->count; ++slot) {
    if (tl_body_is_static(model, slot))
      continue;
    if (tl_body_shape(model, slot)->kind != TALUS_SPHERE)
      return tl_fail(TALUS_ERROR_UNSUPPORTED, "`elastic` moves spheres alone");
    slots[events->count++] = slot;
    smallest = fmin(smallest, radius_of(model, slot));
    events->largest = fmax(events->largest, radius_of(model, slot));
  }
  load_job job = {events, slots, NULL, NULL, is_straight};
  TL_TAKE(crowd->arena, events->count, &job.cell);
  TL_TAKE(crowd->arena, events->count, &job.order);
  TL_TAKE(crowd->arena, events->count, &events->flyers);
  TL_TAKE(crowd->arena, events->count, &events->bodies);
  TL_TAKE(crowd->arena, events->count, &events->plans);
  TL_TAKE(crowd->arena, events->count, &events->start);
  TL_TAKE(crowd->arena, events->count, &events->next);
  TL_TRY(make_cells(events, slots));
  tl_for(&model->par, events->count, TL_BLOCK, find_cells, &job);
  TL_TRY(tl_sort_u32(&model->par, crowd->arena, job.cell, job.order, events->count,
                     tl_bits_u64(events->cells.count)));
  tl_for(&model->par, events->count, TL_BLOCK, load_range, &job);
  for (size_t i = 0; i < events->count; ++i)
    events->cells.used[job.cell[i] / 64] |= UINT64_C(1) << job.cell[i] % 64;
  if (!is_straight)
    events->fall = tl_widen(model->gravity);
  events->is_falling = tl_dlength(events->fall) > 0;
  events->has_ignored = model->ignored.count > 0;
  find_scales(events, smallest);
  if (model->property.force || model->property.torque)
    for (size_t i = 0; i < events->count; ++i) {
      const tl_free free = tl_free_of(crowd, slots[i]);
      tl_tally_add(&events->load, tl_free_load_work(crowd, slots[i], &free));
    }
  return TALUS_OK;
}
