/* Random sequential addition: each body tries random places; when too many are occupied, the sites
 * of a fine lattice are visited, each once, until one is free. */
#include "flow/fill.h"

#define TRIES 100 /* random places per body */

/* Spacing of the scanned sites in radii: fine enough for holes that a random place would still hit,
 * coarse enough that a full scan with 100,000 bodies at 0.35 takes seconds. */
#define SPACING 0.3

/* A body smaller than this, relative to the radius of the last scan, starts a new scan, because
 * sites may be free for it. */
#define SMALLER 0.9

/* The scan visits the region in several passes, each on another of PASSES coarse lattices that
 * together form the fine one. So bodies do not gather where the scan began, yet consecutive sites
 * are neighbours whose obstacles are in the cache. Bodies are only added, so an occupied site stays
 * occupied, and no site is visited twice. */
#define COARSE UINT64_C(4)
#define PASSES (COARSE * COARSE * COARSE)

typedef struct scan {
  double radius; /* radius of the body that started the scan; 0: not started */
  talus_dvec3 lo, step;
  uint64_t n[3], first[3], at[3], pass;
} scan;

/* Scrambles the order of passes: 27 is coprime to 64. */
static void scan_begin_pass(scan *sites) {
  uint64_t code = sites->pass * 27 % PASSES;
  for (int k = 0; k < 3; ++k) {
    sites->first[k] = code % COARSE;
    sites->at[k] = sites->first[k];
    code /= COARSE;
  }
}

static void scan_begin(const tl_fill *fill, const talus_region *room, double radius, scan *sites) {
  const talus_box bounds = tl_region_bounds(room);
  const talus_dvec3 edge = tl_dsub(bounds.hi, bounds.lo);
  const double edges[3] = {edge.x, edge.y, edge.z};
  tl_random random = tl_random_start(fill->def->seed, TL_STREAM_FILL_POSITION, UINT64_MAX);
  const double most = (double)tl_fill_most_sites(fill);
  *sites = (scan){.radius = radius};
  double spacing = SPACING * radius;
  do {
    for (int k = 0; k < 3; ++k)
      sites->n[k] = 1 + (uint64_t)fmin(edges[k] / spacing, 0x1p30);
    spacing *= 1.25;
  } while ((double)sites->n[0] * (double)sites->n[1] * (double)sites->n[2] > most);
  sites->step = tl_dvec3(edge.x / (double)sites->n[0], edge.y / (double)sites->n[1],
                         edge.z / (double)sites->n[2]);
  sites->lo = tl_dvec3(bounds.lo.x + tl_random_unit(&random) * sites->step.x,
                       bounds.lo.y + tl_random_unit(&random) * sites->step.y,
                       bounds.lo.z + tl_random_unit(&random) * sites->step.z);
  scan_begin_pass(sites);
}

/* The next site; false when all were visited. */
static bool scan_next(scan *sites, talus_dvec3 *site) {
  for (; sites->pass < PASSES; sites->pass++, scan_begin_pass(sites))
    for (; sites->at[2] < sites->n[2]; sites->at[2] += COARSE, sites->at[1] = sites->first[1])
      for (; sites->at[1] < sites->n[1]; sites->at[1] += COARSE, sites->at[0] = sites->first[0])
        if (sites->at[0] < sites->n[0]) {
          *site = tl_dvec3(sites->lo.x + (double)sites->at[0] * sites->step.x,
                           sites->lo.y + (double)sites->at[1] * sites->step.y,
                           sites->lo.z + (double)sites->at[2] * sites->step.z);
          sites->at[0] += COARSE;
          return true;
        }
  return false;
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

/* Once a scan has begun, bodies of that size continue it: its sites are as good as random ones and
 * none is visited twice. */
static bool find_place(const tl_fill *fill, uint32_t serial, tl_trial *trial, scan *sites) {
  talus_region room;
  if (!tl_region_inset(&fill->def->in, trial->radius, fill->spans, &room))
    return false;
  if (sites->radius == 0 || trial->radius <= SMALLER * sites->radius) {
    if (try_at_random(fill, &room, serial, trial))
      return true;
    scan_begin(fill, &room, trial->radius, sites);
  }
  while (scan_next(sites, &trial->centre))
    if (tl_region_contains(&room, trial->centre) && tl_fill_is_free(fill, trial))
      return true;
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
