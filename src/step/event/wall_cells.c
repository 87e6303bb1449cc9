/* Lists of walls by cell: a wall is in the lists of those cells from which a flyer can touch it
 * within the step, so flyers in other cells never test it. The cells are found by bisecting the
 * block of all cells, as far as the wall is near. */
#include "base/sort.h"
#include "step/event/event.h"

#include <math.h>

#define FAR 1e30 /* m: limit of the outer, unbounded cells */

/* Cells from[k] ... to[k] - 1 along each axis k. */
typedef struct cell_block {
  int from[3], to[3];
} cell_block;

typedef struct place_job {
  tl_events *events;
  uint32_t wall;
  bool writes;  /* second pass: writes; first pass: counts */
  double reach; /* m: largest radius of a flyer, plus the wall's own displacement */
  double low[3], high[3];
} place_job;

#define LAYERS 4 /* layers of cells that one thread takes */

/* The corners of the block relative to the middle of the wall; for a bounded wall, of its nearest
 * image. */
static void find_corners(const tl_events *events, const tl_event_wall *w, const cell_block *b,
                         double low[3], double high[3]) {
  const tl_event_cells *cells = &events->cells;
  talus_dvec3 middle = w->at;
  for (int k = 0; k < 3; ++k) {
    const double lo = cells->lo[k] - *tl_dvec3_axis(&middle, k), slack = 1e-9 * cells->width[k];
    const bool is_open = !cells->periodic[k];
    low[k] = is_open && b->from[k] == 0 ? -FAR : lo + b->from[k] * cells->width[k] - slack;
    high[k] = is_open && b->to[k] == cells->n[k] ? FAR : lo + b->to[k] * cells->width[k] + slack;
    if (cells->periodic[k] && !tl_event_is_endless(w)) {
      const double centre = 0.5 * (low[k] + high[k]);
      const double shift = tl_event_nearest(cells, k, centre) - centre;
      low[k] += shift, high[k] += shift;
    }
  }
}

/* Half extent of a bounded wall along a world axis. */
static double extent(const tl_event_wall *w, int axis) {
  if (w->kind == TL_WALL_BALL)
    return w->radius;
  double sum = 0;
  const int from = w->kind == TL_WALL_FACE ? 1 : 0, to = w->kind == TL_WALL_FACE ? 2 : 0;
  for (int k = from; k <= to; ++k) {
    talus_dvec3 a = w->axis[k];
    sum += fabs(*tl_dvec3_axis(&a, axis)) * w->half[k];
  }
  return sum;
}

/* Finds the region, relative to its middle, from which a revolved wall can be reached. */
static void find_bounds(const tl_event_wall *w, double reach, place_job *job) {
  const double end_r = w->from[0] + w->along[0] * w->half[0];
  const double end_z = w->from[1] + w->along[1] * w->half[0];
  const double radius = fmax(w->from[0], end_r) + reach;
  talus_dvec3 a = w->axis[2];
  for (int k = 0; k < 3; ++k) {
    const double c = *tl_dvec3_axis(&a, k);
    const double across = radius * sqrt(fmax(0, 1 - c * c)) + reach;
    job->low[k] = fmin(c * w->from[1], c * end_z) - across;
    job->high[k] = fmax(c * w->from[1], c * end_z) + across;
  }
}

/* Projection to the meridian plane does not increase distances: the ball around the block becomes a
 * disc there. */
static bool is_near_meridian(const place_job *job, const tl_event_wall *w, const double from[3],
                             const double to[3], double reach) {
  double centre[3], half2 = 0;
  for (int k = 0; k < 3; ++k) { /* of an unbounded outer cell, the part within the bounds */
    const double low = from[k] > job->low[k] ? from[k] : job->low[k];
    const double high = to[k] < job->high[k] ? to[k] : job->high[k];
    if (!(low <= high))
      return false;
    centre[k] = 0.5 * (low + high);
    half2 += 0.25 * (high - low) * (high - low);
  }
  const talus_dvec3 x = {centre[0], centre[1], centre[2]};
  const double u = tl_ddot(x, w->axis[0]), v = tl_ddot(x, w->axis[1]), z = tl_ddot(x, w->axis[2]);
  const double dr = sqrt(u * u + v * v) - w->from[0], dz = z - w->from[1];
  const double s = fmax(0, fmin(dr * w->along[0] + dz * w->along[1], w->half[0]));
  const double er = dr - s * w->along[0], ez = dz - s * w->along[1];
  return sqrt(er * er + ez * ez) <= reach + sqrt(half2);
}

/* True if a flyer whose centre is in the block may touch the wall within the step. */
static bool is_near(const place_job *job, const cell_block *b) {
  const tl_events *events = job->events;
  const tl_event_wall *w = &events->walls[job->wall];
  const double reach = job->reach;
  const talus_dvec3 normal = w->axis[0];
  double low[3], high[3];
  /* The image is chosen for the middle of the block: parts of a wide block may be nearer to
   * another. */
  for (int k = 0; k < 3 && !tl_event_is_endless(w); ++k)
    if (events->cells.periodic[k] && b->to[k] - b->from[k] > 1)
      return true;
  find_corners(events, w, b, low, high);
  if (tl_event_is_revolved(w))
    return is_near_meridian(job, w, low, high, reach);
  for (int k = 0; k < 3 && !tl_event_is_endless(w); ++k) {
    const double far = extent(w, k) + reach;
    if (low[k] > far || high[k] < -far)
      return false;
  }
  if (w->kind != TL_WALL_FACE || !tl_event_is_endless(w))
    return true;
  const double n[3] = {normal.x, normal.y, normal.z};
  double least = 0, most = 0;
  for (int k = 0; k < 3; ++k) {
    least += fmin(n[k] * low[k], n[k] * high[k]);
    most += fmax(n[k] * low[k], n[k] * high[k]);
  }
  return least <= reach && (w->is_solid || most >= 0);
}

static void add_cell(const place_job *job, const cell_block *b) {
  tl_event_cells *cells = &job->events->cells;
  const uint16_t at[3] = {(uint16_t)b->from[0], (uint16_t)b->from[1], (uint16_t)b->from[2]};
  const size_t cell = tl_event_cell(cells, at);
  if (job->writes)
    cells->wall_list[cells->wall_start[cell]++] = job->wall;
  else
    cells->wall_start[cell]++;
}

/* Bisects the block until it is a single cell; a cell at the border may be unbounded. */
static void place(const place_job *job, cell_block b) {
  if (!is_near(job, &b))
    return;
  int longest = 0;
  for (int k = 1; k < 3; ++k)
    if (b.to[k] - b.from[k] > b.to[longest] - b.from[longest])
      longest = k;
  if (b.to[longest] - b.from[longest] == 1) {
    add_cell(job, &b);
    return;
  }
  const int middle = b.from[longest] + (b.to[longest] - b.from[longest]) / 2;
  cell_block half = b;
  half.to[longest] = middle;
  place(job, half);
  half = b;
  half.from[longest] = middle;
  place(job, half);
}

/* Layers along z share no cell, so threads take different layers. */
static void place_layers(void *context, size_t begin, size_t end) {
  const place_job *all = context;
  tl_events *events = all->events;
  const tl_event_cells *cells = &events->cells;
  for (uint32_t w = 0; w < events->wall_count; ++w) {
    const tl_event_wall *wall = &events->walls[w];
    place_job job = {.events = events, .wall = w, .writes = all->writes};
    job.reach = events->largest * 1.000001 + events->span * tl_dlength(wall->velocity);
    if (tl_event_is_revolved(wall))
      find_bounds(wall, job.reach, &job);
    /* Blocks consist of the same layers for any number of threads, because what a block excludes
     * depends on its size. */
    for (size_t z = begin; z < end; z += LAYERS) {
      const size_t top = z + LAYERS < end ? z + LAYERS : end;
      place(&job, (cell_block){{0, 0, (int)z}, {cells->n[0], cells->n[1], (int)top}});
    }
  }
}

static void place_all(tl_events *events, bool writes) {
  place_job all = {.events = events, .writes = writes};
  tl_for(&events->crowd->model->par, (size_t)events->cells.n[2], LAYERS, place_layers, &all);
}

talus_status tl_events_place_walls(tl_events *events) {
  tl_event_cells *cells = &events->cells;
  uint64_t total;
  TL_TAKE(events->crowd->arena, cells->count + 1, &cells->wall_start);
  memset(cells->wall_start, 0, (cells->count + 1) * sizeof *cells->wall_start);
  if (events->wall_count == 0)
    return TALUS_OK;
  place_all(events, false);
  TL_TRY(tl_scan_u32(&events->crowd->model->par, events->crowd->arena, cells->wall_start,
                     cells->count + 1, &total));
  TL_TAKE(events->crowd->arena, total, &cells->wall_list);
  place_all(events, true);
  /* Each start has moved to that of the next cell. */
  memmove(cells->wall_start + 1, cells->wall_start, cells->count * sizeof *cells->wall_start);
  cells->wall_start[0] = 0;
  return TALUS_OK;
}
