/* Random sequential addition: each body tries random places; when too many are taken, the sites of
 * a fine lattice are gone through, each once, until one is free. */
#include "flow/fill.h"

#define TRIES 200 /* random places per body */

/* Spacing of the scanned sites in radii: as fine as a hole that one would still hit, coarse enough
 * that a full scan of 100,000 bodies at 0.35 takes seconds. */
#define SPACING    0.3
#define MOST_SITES (UINT64_C(1) << 26)

/* A body this much smaller than those the last scan was for may find room where they did not. */
#define SMALLER 0.8

/* The scan strides through the sites in a scattered order, so that the bodies it places do not
 * gather in a corner. Bodies are only added: a site that was taken stays so. */
typedef struct scan {
  double radius; /* of the body it was begun for; 0: not begun */
  talus_dvec3 lo, step;
  uint64_t n[3], sites, visited, at, stride;
} scan;

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static void scan_begin(const tl_fill *fill, const talus_region *room, double radius, scan *sites) {
  const talus_box bounds = tl_region_bounds(room);
  const talus_dvec3 edge = tl_dsub(bounds.hi, bounds.lo);
  const double edges[3] = {edge.x, edge.y, edge.z};
  tl_random random = tl_random_start(fill->def->seed, TL_STREAM_FILL_POSITION, UINT64_MAX);
  *sites = (scan){.radius = radius};
  double spacing = SPACING * radius;
  do {
    for (int k = 0; k < 3; ++k)
      sites->n[k] = 1 + (uint64_t)fmin(edges[k] / spacing, 0x1p30);
    spacing *= 1.25;
  } while ((double)sites->n[0] * (double)sites->n[1] * (double)sites->n[2] > (double)MOST_SITES);
  sites->sites = sites->n[0] * sites->n[1] * sites->n[2];
  sites->step = tl_dvec3(edge.x / (double)sites->n[0], edge.y / (double)sites->n[1],
                         edge.z / (double)sites->n[2]);
  sites->lo = tl_dvec3(bounds.lo.x + tl_random_unit(&random) * sites->step.x,
                       bounds.lo.y + tl_random_unit(&random) * sites->step.y,
                       bounds.lo.z + tl_random_unit(&random) * sites->step.z);
  /* A stride near the golden section of the sites that has no factor in common with them. */
  sites->stride = (uint64_t)(0.6180339887498949 * (double)sites->sites) | 1;
  while (common_divisor(sites->stride, sites->sites) != 1)
    sites->stride++;
  sites->stride %= sites->sites;
}

static talus_dvec3 scan_next(scan *sites) {
  const uint64_t at = sites->at;
  const uint64_t x = at % sites->n[0], y = at / sites->n[0] % sites->n[1],
                 z = at / sites->n[0] / sites->n[1];
  sites->visited++;
  sites->at += sites->stride;
  if (sites->at >= sites->sites)
    sites->at -= sites->sites;
  return tl_dvec3(sites->lo.x + (double)x * sites->step.x, sites->lo.y + (double)y * sites->step.y,
                  sites->lo.z + (double)z * sites->step.z);
}

static bool try_at_random(const tl_fill *fill, const talus_region *room, uint32_t serial,
                          tl_trial *trial) {
  tl_random random = tl_random_start(fill->def->seed, TL_STREAM_FILL_POSITION, serial);
  for (int i = 0; i < TRIES; ++i) {
    trial->centre = tl_region_point(room, &random);
    if (tl_fill_is_free(fill, trial))
      return true;
  }
  return false;
}

/* Once a scan has begun, bodies of that size go on with it: its sites are as good as random ones
 * and none is asked twice. */
static bool find_place(const tl_fill *fill, uint32_t serial, tl_trial *trial, scan *sites) {
  talus_region room;
  if (!tl_region_inset(&fill->def->in, trial->radius, fill->spans, &room))
    return false;
  if (sites->radius == 0 || trial->radius <= SMALLER * sites->radius) {
    if (try_at_random(fill, &room, serial, trial))
      return true;
    scan_begin(fill, &room, trial->radius, sites);
  }
  while (sites->visited < sites->sites) {
    trial->centre = scan_next(sites);
    if (tl_region_contains(&room, trial->centre) && tl_fill_is_free(fill, trial))
      return true;
  }
  return false;
}

talus_status tl_fill_random(tl_fill *fill, tl_placements *placements) {
  scan sites = {0};
  TL_TRY(tl_array_reserve(placements, fill->scales.count));
  for (size_t i = 0; i < fill->order.count; ++i) {
    talus_quat rotation;
    const uint32_t serial = fill->order.data[i];
    tl_trial trial = tl_fill_trial(fill, serial, &rotation);
    if (find_place(fill, serial, &trial, &sites))
      tl_fill_accept(fill, &trial, rotation, placements);
  }
  return TALUS_OK;
}
