/* Finds bodies near the centres of a zone. If centres are a group, a grid with cells as wide as
 * the reach is searched, 27 cells for each body; for a place, or a single body, all bodies are
 * tested. */
#include "flow/zone.h"

#include <math.h>

#define CELLS_PER_BODY 4

typedef struct near_job {
  const tl_zone *zone;
  const tl_crowd *crowd;
  double reach2;
  double lo[3], width[3];
  size_t n[3];                      /* number of cells */
  bool around[3];                   /* cells wrap around */
  const uint32_t *centres, *bodies; /* slots, ascending */
  size_t centre_count, body_count;
  uint32_t *cell;      /* by body */
  uint32_t *start;     /* by cell: its begin in `sorted`; and one more */
  uint32_t *sorted;    /* slots by cell, ascending within each */
  size_t *first;       /* by centre: its first pair; and one more */
  tl_zone_pair *pairs; /* NULL: only counts */
} near_job;

static double axis_of(talus_dvec3 x, int k) { return k == 0 ? x.x : k == 1 ? x.y : x.z; }

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Lists the free bodies of a group; 0: of all groups. */
static size_t list_group(const tl_model *model, uint32_t group, uint32_t *list) {
  size_t n = 0;
  for (uint32_t i = 0; i < model->bodies; ++i)
    if (!tl_body_is_static(model, i) && (group == 0 || model->property.group[i] == group))
      list[n++] = i;
  return n;
}

static size_t list_centres(const near_job *job, uint32_t *list) {
  const tl_model *model = job->crowd->model;
  if (job->zone->of == TALUS_ZONE_GROUP)
    return list_group(model, job->zone->group, list);
  list[0] = TL_NONE;
  if (job->zone->of == TALUS_ZONE_PLACE)
    return 1;
  list[0] = tl_flow_find_slot(model, job->zone->uid);
  return list[0] != TL_NONE;
}

static talus_dvec3 centre_at(const near_job *job, uint32_t slot) {
  return slot == TL_NONE ? job->zone->at : job->crowd->out->position[slot];
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void find_extent(near_job *job) {
  const talus_domain_def *domain = &job->crowd->model->domain;
  double hi[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; k < 3; ++k)
    job->lo[k] = INFINITY;
  for (size_t i = 0; i < job->body_count; ++i) {
    const talus_dvec3 x = job->crowd->out->position[job->bodies[i]];
    for (int k = 0; k < 3; ++k) {
      job->lo[k] = fmin(job->lo[k], axis_of(x, k));
      hi[k] = fmax(hi[k], axis_of(x, k));
    }
  }
  for (int k = 0; k < 3; ++k) {
    job->around[k] = domain->enabled && domain->periodic[k];
    if (job->around[k])
      job->lo[k] = axis_of(domain->box.lo, k), hi[k] = axis_of(domain->box.hi, k);
    job->width[k] = hi[k] - job->lo[k]; /* m: of the whole extent, until it is divided */
  }
}

static void cut(near_job *job, double reach) {
  const double length[3] = {job->width[0], job->width[1], job->width[2]};
  const double most = CELLS_PER_BODY * (double)job->body_count + 64;
  for (double wide = reach;; wide *= 1.3) {
    double cells = 1;
    for (int k = 0; k < 3; ++k) {
      const double n = fmax(1, floor(fmin(length[k] / wide, 1e6)));
      /* otherwise a cell would be visited twice */
      job->n[k] = job->around[k] && n < 3 ? 1 : (size_t)n;
      job->width[k] = length[k] > 0 ? length[k] / (double)job->n[k] : 1;
      cells *= (double)job->n[k];
    }
    if (cells <= most)
      return;
  }
}

static ptrdiff_t along(const near_job *job, double x, int k) {
  const double t = floor((x - job->lo[k]) / job->width[k]), last = (double)job->n[k];
  /* A body far outside belongs to no cell, or to one at the border. */
  return (ptrdiff_t)fmin(fmax(t, -2), last + 1);
}

static void find_cells(void *context, size_t begin, size_t end) {
  const near_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const talus_dvec3 x = job->crowd->out->position[job->bodies[i]];
    size_t cell = 0;
    for (int k = 2; k >= 0; --k) {
      const ptrdiff_t at = along(job, axis_of(x, k), k), last = (ptrdiff_t)job->n[k] - 1;
      cell = cell * job->n[k] + (size_t)(at < 0 ? 0 : at > last ? last : at);
    }
    job->cell[i] = (uint32_t)cell;
  }
}

static void sort_by_cell(near_job *job) {
  const size_t cells = job->n[0] * job->n[1] * job->n[2];
  memset(job->start, 0, (cells + 1) * sizeof *job->start);
  for (size_t i = 0; i < job->body_count; ++i)
    job->start[job->cell[i] + 1]++;
  for (size_t i = 0; i < cells; ++i)
    job->start[i + 1] += job->start[i];
  for (size_t i = 0; i < job->body_count; ++i)
    job->sorted[job->start[job->cell[i]]++] = job->bodies[i];
  for (size_t i = cells; i > 0; --i) /* each begins where the one before ends */
    job->start[i] = job->start[i - 1];
  job->start[0] = 0;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Cells at and beside `at` along an axis; -1: none. */
static void beside(const near_job *job, ptrdiff_t at, int k, ptrdiff_t cells[3]) {
  const ptrdiff_t n = (ptrdiff_t)job->n[k];
  for (int i = 0; i < 3; ++i) {
    const ptrdiff_t c = at + i - 1;
    if (n == 1)
      cells[i] = i == 1 ? 0 : -1;
    else
      cells[i] = c >= 0 && c < n ? c : !job->around[k] ? -1 : c < 0 ? c + n : c - n;
  }
}

static size_t look_at(const near_job *job, uint32_t centre, size_t cell, tl_zone_pair *to) {
  const talus_dvec3 x = centre_at(job, centre);
  size_t n = 0;
  for (uint32_t i = job->start[cell]; i < job->start[cell + 1]; ++i) {
    const uint32_t body = job->sorted[i];
    const talus_dvec3 d = tl_model_offset(job->crowd->model, x, job->crowd->out->position[body]);
    if (body == centre || !(tl_ddot(d, d) <= job->reach2))
      continue;
    if (to)
      to[n] = (tl_zone_pair){centre, body};
    n++;
  }
  return n;
}

/* The lists are short and nearly sorted. */
static void sort_pairs(tl_zone_pair *pairs, size_t n) {
  for (size_t i = 1; i < n; ++i) {
    const tl_zone_pair pair = pairs[i];
    size_t at = i;
    for (; at > 0 && pairs[at - 1].body > pair.body; --at)
      pairs[at] = pairs[at - 1];
    pairs[at] = pair;
  }
}

static void visit_centres(void *context, size_t begin, size_t end) {
  near_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const talus_dvec3 x = centre_at(job, job->centres[i]);
    ptrdiff_t cells[3][3];
    size_t n = 0;
    for (int k = 0; k < 3; ++k)
      beside(job, along(job, axis_of(x, k), k), k, cells[k]);
    for (int c = 0; c < 27; ++c) {
      const ptrdiff_t u = cells[0][c % 3], v = cells[1][c / 3 % 3], w = cells[2][c / 9];
      if (u < 0 || v < 0 || w < 0)
        continue;
      const size_t cell = (size_t)u + job->n[0] * ((size_t)v + job->n[1] * (size_t)w);
      n += look_at(job, job->centres[i], cell, job->pairs ? job->pairs + job->first[i] + n : NULL);
    }
    if (job->pairs)
      sort_pairs(job->pairs + job->first[i], n);
    else
      job->first[i + 1] = n;
  }
}

static talus_status find_one(near_job *job, tl_zone_pairs *pairs) {
  const uint32_t centre = job->centres[0];
  const talus_dvec3 x = centre_at(job, centre);
  TL_TAKE(job->crowd->arena, job->body_count, &pairs->data);
  for (size_t i = 0; i < job->body_count; ++i) {
    const uint32_t body = job->bodies[i];
    const talus_dvec3 d = tl_model_offset(job->crowd->model, x, job->crowd->out->position[body]);
    if (body != centre && tl_ddot(d, d) <= job->reach2)
      pairs->data[pairs->count++] = (tl_zone_pair){centre, body};
  }
  return TALUS_OK;
}

talus_status tl_zone_find_pairs(const tl_zone *zone, const tl_crowd *crowd, double reach,
                                tl_zone_pairs *pairs) {
  const tl_par *par = &crowd->model->par;
  near_job job = {.zone = zone, .crowd = crowd, .reach2 = reach * reach};
  uint32_t *centres, *bodies;
  TL_TAKE(crowd->arena, crowd->count + 1, &centres);
  TL_TAKE(crowd->arena, crowd->count, &bodies);
  job.centres = centres, job.bodies = bodies;
  job.centre_count = list_centres(&job, centres);
  job.body_count = list_group(crowd->model, zone->with, bodies);
  *pairs = (tl_zone_pairs){.centres = job.centre_count,
                           .is_same = zone->of == TALUS_ZONE_GROUP && zone->with == zone->group};
  if (job.centre_count == 0 || job.body_count == 0)
    return TALUS_OK;
  if (zone->of != TALUS_ZONE_GROUP)
    return find_one(&job, pairs);
  find_extent(&job);
  cut(&job, reach);
  TL_TAKE(crowd->arena, job.body_count, &job.cell);
  TL_TAKE(crowd->arena, job.n[0] * job.n[1] * job.n[2] + 1, &job.start);
  TL_TAKE(crowd->arena, job.body_count, &job.sorted);
  TL_TAKE(crowd->arena, job.centre_count + 1, &job.first);
  tl_for(par, job.body_count, 0, find_cells, &job);
  sort_by_cell(&job);
  tl_for(par, job.centre_count, 64, visit_centres, &job);
  job.first[0] = 0;
  for (size_t i = 0; i < job.centre_count; ++i)
    job.first[i + 1] += job.first[i];
  pairs->count = job.first[job.centre_count];
  TL_TAKE(crowd->arena, pairs->count, &job.pairs);
  pairs->data = job.pairs;
  tl_for(par, job.centre_count, 64, visit_centres, &job);
  return TALUS_OK;
}
