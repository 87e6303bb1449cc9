/* A close packing, stretched until it has just enough sites, with random occupation: for bodies of
 * similar size that are too dense for random places.
 *
 * Sites are those of the face-centred cubic lattice, the points (i, j, k) d/sqrt(2) with i + j + k
 * even, d the distance of nearest neighbours. Each body owns the ball of radius d/2 about its site
 * and may be anywhere in it. */
#include "flow/fill.h"

#include "base/sort.h"

#define STEP       0.70710678118654752 /* 1/sqrt(2) */
#define BISECTIONS 24
#define SHAKES     8 /* places tried around a site before the site itself is used */

/* Random displacements use the body's own sequence from this block on; shuffling uses the first. */
#define SHAKE_BLOCK 16

typedef TL_ARRAY(talus_dvec3) places;

typedef struct lattice {
  const tl_fill *fill;
  talus_region room; /* region of the centre of the largest body */
  talus_box bounds;
  tl_shape ball; /* bounding sphere of the largest body */
  tl_trial largest;
} lattice;

static int64_t steps_along(double length, double step) {
  return (int64_t)fmin(floor(length / step * (1 + TL_PLACE_SLACK)), 0x1p40);
}

/* Upper bound of the number of lattice points along the three axes, about twice the number of
 * sites. */
static double count_steps(const lattice *job, double distance) {
  const talus_dvec3 edge = tl_dsub(job->bounds.hi, job->bounds.lo);
  const double step = distance * STEP;
  return (1 + edge.x / step) * (1 + edge.y / step) * (1 + edge.z / step);
}

/* Finds sites for the largest body, at most `most`; *sites may be NULL: only counts. */
static talus_status find_sites(lattice *job, double distance, size_t most, places *sites,
                               size_t *count) {
  const double step = distance * STEP;
  const talus_dvec3 lo = job->bounds.lo, edge = tl_dsub(job->bounds.hi, lo);
  const int64_t nx = steps_along(edge.x, step), ny = steps_along(edge.y, step),
                nz = steps_along(edge.z, step);
  *count = 0;
  for (int64_t k = 0; k <= nz && *count < most; ++k)
    for (int64_t j = 0; j <= ny && *count < most; ++j)
      for (int64_t i = (j + k) % 2; i <= nx && *count < most; i += 2) {
        /* Rounding may put the last site beyond the border. */
        const talus_dvec3 x = tl_dvec3(fmin(lo.x + (double)i * step, job->bounds.hi.x),
                                       fmin(lo.y + (double)j * step, job->bounds.hi.y),
                                       fmin(lo.z + (double)k * step, job->bounds.hi.z));
        job->largest.centre = x;
        if (!tl_region_contains(&job->room, x) || !tl_fill_is_free(job->fill, &job->largest))
          continue;
        if (sites)
          TL_TRY(tl_array_push(sites, x));
        ++*count;
      }
  return TALUS_OK;
}

/* Finds by bisection the largest distance that gives n sites; if even the closest packing has
 * fewer, its distance. The number of sites is not quite monotonic; *distance always gives
 * enough. */
static talus_status find_distance(lattice *job, size_t n, double *distance) {
  double near = 2 * job->largest.radius * (1 + 2 * TL_PLACE_SLACK);
  while (count_steps(job, near) > (double)tl_fill_most_sites(job->fill))
    near *= 1.25; /* for few bodies in a vast region */
  double far = near + 2 * tl_box_extent(job->bounds);
  size_t count;
  TL_TRY(find_sites(job, near, n, NULL, &count));
  for (int i = 0; i < BISECTIONS && count >= n; ++i) {
    const double middle = sqrt(near * far);
    size_t found;
    TL_TRY(find_sites(job, middle, n, NULL, &found));
    if (found >= n)
      near = middle;
    else
      far = middle;
  }
  *distance = near;
  return TALUS_OK;
}

static talus_status shuffle(tl_fill *fill, const places *sites, uint32_t **order) {
  uint64_t *keys;
  TL_TAKE(&fill->arena, sites->count, order);
  TL_TAKE(&fill->arena, sites->count, &keys);
  for (size_t i = 0; i < sites->count; ++i) {
    tl_random random = tl_random_start(fill->def->seed, TL_STREAM_FILL_POSITION, i);
    const uint64_t high = tl_random_u32(&random);
    keys[i] = high << 32 | tl_random_u32(&random);
    (*order)[i] = (uint32_t)i;
  }
  return tl_sort_u64(&fill->model->par, &fill->arena, keys, *order, sites->count, 64);
}

/* A free place near the site. The site itself is free: it was so for the largest body. */
static void shake(const tl_fill *fill, uint32_t serial, talus_dvec3 site, double distance,
                  tl_trial *trial) {
  static const bool no_spans[3] = {false, false, false};
  const talus_region ball = {.kind = TALUS_REGION_SPHERE,
                             .at = site,
                             .radius = 0.5 * distance / (1 + TL_PLACE_SLACK) - trial->radius};
  talus_region room;
  const bool fits = tl_region_inset(&fill->def->in, trial->radius, no_spans, &room);
  tl_random random = tl_random_start(fill->def->seed, TL_STREAM_FILL_POSITION, serial);
  random.block = SHAKE_BLOCK;
  for (int i = 0; i < SHAKES && fits && ball.radius > 0; ++i) {
    trial->centre = tl_region_point(&ball, &random);
    if (tl_region_contains(&room, trial->centre) && tl_fill_is_free(fill, trial))
      return;
  }
  trial->centre = site;
}

static talus_status fill_sites(tl_fill *fill, const places *sites, double distance,
                               tl_placements *placements) {
  uint32_t *site_of;
  TL_TRY(shuffle(fill, sites, &site_of));
  const size_t n = fill->order.count < sites->count ? fill->order.count : sites->count;
  TL_TRY(tl_array_reserve(placements, n));
  for (size_t i = 0; i < n; ++i) {
    talus_quat rotation;
    const uint32_t serial = fill->order.data[i];
    tl_trial trial = tl_fill_trial(fill, serial, &rotation);
    shake(fill, serial, sites->data[site_of[i]], distance, &trial);
    tl_fill_accept(fill, &trial, rotation, placements);
  }
  return TALUS_OK;
}

talus_status tl_fill_lattice(tl_fill *fill, tl_placements *placements) {
  /* The region counts as closed on all axes, because the lattice would not match its periodic
   * image. */
  static const bool no_spans[3] = {false, false, false};
  talus_quat rotation;
  lattice job = {.fill = fill, .largest = tl_fill_trial(fill, fill->order.data[0], &rotation)};
  if (!tl_region_inset(&fill->def->in, job.largest.radius, no_spans, &job.room))
    return TALUS_OK;
  job.bounds = tl_region_bounds(&job.room);
  job.ball = *job.largest.shape;
  job.ball.kind = TALUS_SPHERE;
  job.ball.size[0] = (double)job.ball.radius;
  job.largest.shape = &job.ball;
  double distance;
  TL_TRY(find_distance(&job, fill->order.count, &distance));
  places sites = {0};
  size_t count;
  talus_status status = find_sites(&job, distance, UINT32_MAX, &sites, &count);
  const tl_arena_mark mark = tl_arena_get_mark(&fill->arena);
  if (status == TALUS_OK)
    status = fill_sites(fill, &sites, distance, placements);
  tl_arena_release(&fill->arena, mark);
  tl_array_free(&sites);
  return status;
}
