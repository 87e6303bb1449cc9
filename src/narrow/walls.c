/* Finds which bodies are near enough to a revolved wall to be tested, by cells.
 *
 * The bounding box of a wall contains all bodies inside, and is a candidate with all of them. So
 * each wall marks the cells of its meridian plane that its segments cross; a body whose square
 * around (rho, z) overlaps no marked cell is farther from the wall than it can move, and no
 * candidate. The remaining pairs give the same contacts, to the bit. */
#include "narrow/narrow.h"
#include "shape/shape.h"

#define SIDE     64           /* most cells along each axis of the meridian plane */
#define FEWEST   ((size_t)64) /* pairs of a wall for which cells are made */
#define ROW      (SIDE + 1)
#define EXPANDED 1e-9 /* part of the wall's size: cells that a segment touches count as crossed */

/* Cells of one wall, in its own frame, m. */
typedef struct cells {
  double low; /* z of the lowest cell */
  double size;
  int across, along; /* number of cells in rho and z */
  /* crossed cells below (rho, z): the number in any square follows from four sums */
  uint32_t sum[ROW * ROW];
  talus_dvec3 position;
  tl_frame frame;
} cells;

static int cell_of(double x, double size, int n) {
  const double i = floor(x / size);
  return i < 0 ? 0 : i >= n ? n - 1 : (int)i;
}

/* Marks the cells that segment p, q crosses, row by row. */
static void mark(cells *c, tl_meridian p, tl_meridian q, double slack) {
  if (p.z > q.z) {
    const tl_meridian swapped = p;
    p = q, q = swapped;
  }
  const int first = cell_of(p.z - slack - c->low, c->size, c->along);
  const int last = cell_of(q.z + slack - c->low, c->size, c->along);
  for (int row = first; row <= last; ++row) {
    const double lo = c->low + row * c->size, hi = lo + c->size, rise = q.z - p.z;
    double from = 0, to = 1;
    if (rise > slack) {
      from = fmin(1, fmax(0, (lo - slack - p.z) / rise));
      to = fmin(1, fmax(0, (hi + slack - p.z) / rise));
    }
    const double a = p.r + from * (q.r - p.r), b = p.r + to * (q.r - p.r);
    const int end = cell_of(fmax(a, b) + slack, c->size, c->across);
    for (int k = cell_of(fmin(a, b) - slack, c->size, c->across); k <= end; ++k)
      c->sum[(row + 1) * ROW + k + 1] = 1;
  }
}

static void lay_out(const tl_crowd *crowd, uint32_t slot, cells *c) {
  const tl_model *model = crowd->model;
  const tl_revolved wall =
      tl_shape_revolved(tl_body_shape(model, slot), (double)model->property.scale[slot]);
  double high = -HUGE_VAL, most = 0;
  c->low = HUGE_VAL;
  for (uint32_t i = 0; i < wall.count; ++i) {
    const tl_meridian p = tl_revolved_point(&wall, i);
    c->low = fmin(c->low, p.z), high = fmax(high, p.z), most = fmax(most, p.r);
  }
  const double slack = EXPANDED * fmax(high - c->low, most);
  c->size = (fmax(high - c->low, most) + 2 * slack) / SIDE;
  c->low -= slack;
  c->along = 1 + cell_of(high + slack - c->low, c->size, SIDE);
  c->across = 1 + cell_of(most + slack, c->size, SIDE);
  c->position = crowd->in->position[slot];
  c->frame = tl_frame_from_quat(crowd->in->rotation[slot]);
  memset(c->sum, 0, sizeof c->sum);
  for (uint32_t k = 0; k + 1 < wall.count; ++k)
    mark(c, tl_revolved_point(&wall, k), tl_revolved_point(&wall, k + 1), slack);
  for (int row = 1; row <= c->along; ++row)
    for (int k = 1; k <= c->across; ++k)
      c->sum[row * ROW + k] +=
          c->sum[(row - 1) * ROW + k] + c->sum[row * ROW + k - 1] - c->sum[(row - 1) * ROW + k - 1];
}

/* True if a crossed cell is within `reach` of x, in the wall's frame. */
static bool is_near(const cells *c, talus_dvec3 x, double reach) {
  const double rho = sqrt(x.x * x.x + x.y * x.y), z = x.z - c->low;
  if (rho - reach > c->size * c->across || z + reach < 0 || z - reach > c->size * c->along)
    return false;
  const int r0 = cell_of(rho - reach, c->size, c->across);
  const int r1 = cell_of(rho + reach, c->size, c->across) + 1;
  const int z0 = cell_of(z - reach, c->size, c->along);
  const int z1 = cell_of(z + reach, c->size, c->along) + 1;
  return c->sum[z1 * ROW + r1] + c->sum[z0 * ROW + r0] !=
         c->sum[z1 * ROW + r0] + c->sum[z0 * ROW + r1];
}

/* ---- pairs ----------------------------------------------------------------------------------- */

typedef struct sift_job {
  const tl_crowd *crowd;
  const talus_real *margins;
  const cells *cells;
  uint32_t wall;
  const tl_pair *pairs; /* all of them with the wall */
  uint8_t *keep;
} sift_job;

static void look(void *context, size_t begin, size_t end) {
  const sift_job *job = context;
  const tl_model *model = job->crowd->model;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = job->pairs[i].a == job->wall ? job->pairs[i].b : job->pairs[i].a;
    const talus_dvec3 to =
        tl_model_offset(model, job->cells->position, job->crowd->in->position[slot]);
    /* The radius is rounded in the single build. */
    const double radius = (double)tl_body_shape(model, slot)->radius *
                          (double)model->property.scale[slot] * (1 + 8 * (double)TL_REAL_EPS);
    const double reach = radius + (double)job->margins[slot] + (double)job->margins[job->wall];
    job->keep[i] = is_near(job->cells, tl_frame_to_local(&job->cells->frame, to), reach);
  }
}

/* Index of the first pair whose first body is `slot` or later. */
static size_t find_first(const tl_pairs *pairs, uint32_t slot) {
  size_t lo = 0, hi = pairs->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (pairs->data[middle].a < slot)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

/* Pairs whose first body is the wall are consecutive. A wall younger than some bodies is second in
 * pairs all over the list before; those are left as they are. */
static talus_status sift_wall(sift_job *job, tl_pairs *pairs, tl_wall_share *share) {
  const size_t begin = find_first(pairs, job->wall), end = find_first(pairs, job->wall + 1);
  const size_t count = end - begin;
  share->asked += count;
  if (count < FEWEST) {
    share->tested += count;
    return TALUS_OK;
  }
  const tl_arena_mark mark = tl_arena_get_mark(job->crowd->arena);
  cells *made;
  TL_TAKE(job->crowd->arena, 1, &made);
  TL_TAKE(job->crowd->arena, count, &job->keep);
  lay_out(job->crowd, job->wall, made);
  job->cells = made;
  job->pairs = pairs->data + begin;
  tl_for(&job->crowd->model->par, count, 4096, look, job);
  size_t to = begin;
  for (size_t i = 0; i < count; ++i)
    if (job->keep[i])
      pairs->data[to++] = pairs->data[begin + i];
  share->tested += to - begin;
  memmove(pairs->data + to, pairs->data + end, (pairs->count - end) * sizeof *pairs->data);
  pairs->count -= end - to;
  tl_arena_release(job->crowd->arena, mark);
  return TALUS_OK;
}

static bool has_walls(const tl_model *model) {
  for (size_t i = 0; i < model->shapes.count; ++i)
    if (model->shapes.data[i].kind == TALUS_REVOLVED)
      return true;
  return false;
}

talus_status tl_walls_sift(const tl_crowd *crowd, const talus_real *margins, tl_pairs *pairs,
                           tl_wall_share *share) {
  const tl_model *model = crowd->model;
  *share = (tl_wall_share){0};
  if (!has_walls(model))
    return TALUS_OK;
  sift_job job = {.crowd = crowd, .margins = margins};
  for (size_t i = 0; i < crowd->count; ++i) {
    job.wall = tl_crowd_slot(crowd, i);
    if (tl_body_shape(model, job.wall)->kind == TALUS_REVOLVED)
      TL_TRY(sift_wall(&job, pairs, share));
  }
  return TALUS_OK;
}
