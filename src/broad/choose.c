/* The choice of `auto`, from the number of boxes and a sample of their sizes and distances. It only
 * affects speed: every algorithm finds the same pairs.
 *
 * Measured, ns per body on one thread of a fourth-generation EPYC, bodies in random order:
 *                                    bins  periodic  cells  sweep    bvh
 *   10^5 even, fraction 0.1            58        87    188    429    186
 *   10^5 even, fraction 0.01           51        99     97    184    131
 *   10^5 radii 1:100                   82       146    126    275    305
 *   10^5 radii 1:10^4                  78       172    104    200    428
 *   10^5 in a line, far apart          50        83     83     45     85
 *   10^5 in a sheet                    51        93    125    220    138
 *   10^5 in eight clouds, thin        303       197    114    103    159
 *   10^5 in eight clouds, dense       377      1097   3877   2609    606
 * `periodic`: bins where an axis is periodic, which cannot be packed (packed.h).
 * Up to about 40 bodies, testing every pair is the fastest; kdtree never is. */
#include "base/power.h"
#include "broad/broad.h"

#include <math.h>

#include "broad/bins.h"

#define FEW        ((size_t)40)   /* bodies: up to this number brute force */
#define SOME       ((size_t)1000) /* bodies: up to this number a sample costs as much as it saves */
#define TREE_FROM  ((size_t)2000) /* bodies: below, a tree costs more than it saves */
#define CELLS_FROM ((size_t)8000) /* bodies: likewise for cells */
#define SOME_PAIRS 12             /* pairs in a sample that make it reliable */
#define SAMPLES    96
#define FEWER      40    /* below CELLS_FROM bodies: the sample must not cost what it saves */
#define STICK      1.5   /* factor by which another kind must seem better than the last choice */
#define UNEVEN     16.0  /* ratio of sizes above which small cells of one size beat levels */
#define CLOUDED    200.0 /* a heap in a tall container is not a far cloud */
#define DENSE      2.0   /* pairs per body in a cloud above which a tree is better */
#define SWEEP_TO   ((size_t)300000) /* above, reading the boxes of a sweep misses the caches */

/* A sample of the boxes that a structure would hold, moved into the domain. */
typedef struct sample {
  tl_span3 box[SAMPLES];
  size_t count;
  double lo[3], hi[3];
  double edge[3];      /* mean */
  double small, large; /* of the longest edges, without the outermost 1/16 */
} sample;

static void take(const tl_crowd *crowd, const talus_box *boxes, sample *s) {
  const tl_model *model = crowd->model;
  const tl_images images = tl_images_of(model);
  const size_t n = crowd->count, samples = n < CELLS_FROM ? FEWER : SAMPLES;
  const size_t stride = ((n + samples - 1) / samples) | 1;
  double longest[SAMPLES];
  for (size_t i = 0; i < n; i += stride) {
    if (!tl_box_is_finite(boxes[i]) || tl_bins_class_of(&boxes[i]) == TL_BINS_WIDE)
      continue;
    const tl_span3 box = tl_images_home(&images, &boxes[i]);
    double edge = 0;
    for (int k = 0; k < 3; ++k) {
      s->lo[k] = s->count == 0 || box.lo[k] < s->lo[k] ? box.lo[k] : s->lo[k];
      s->hi[k] = s->count == 0 || box.hi[k] > s->hi[k] ? box.hi[k] : s->hi[k];
      edge = box.hi[k] - box.lo[k] > edge ? box.hi[k] - box.lo[k] : edge;
    }
    size_t at = s->count; /* insertion sort */
    for (; at > 0 && longest[at - 1] > edge; --at)
      longest[at] = longest[at - 1];
    longest[at] = edge;
    s->box[s->count++] = box;
  }
  if (s->count == 0)
    return;
  for (int k = 0; k < 3; ++k)
    for (size_t i = 0; i < s->count; ++i)
      s->edge[k] += (s->box[i].hi[k] - s->box[i].lo[k]) / (double)s->count;
  s->small = longest[s->count / 16];
  s->large = longest[s->count - 1 - s->count / 16];
}

/* Pairs per body if all boxes were spread evenly over the range. */
static double even_pairs(const sample *s, double n) {
  double share = 0.5 * n;
  for (int k = 0; k < 3; ++k) {
    const double range = s->hi[k] - s->lo[k];
    share *= range > 2 * s->edge[k] ? 2 * s->edge[k] / range : 1;
  }
  return share;
}

/* Number of pairs of the sample if its boxes are enlarged by a factor. */
static size_t stretched_pairs(const sample *s, double stretch) {
  tl_span3 box[SAMPLES];
  size_t pairs = 0;
  for (size_t i = 0; i < s->count; ++i)
    for (int k = 0; k < 3; ++k) {
      const double lo = s->box[i].lo[k], hi = s->box[i].hi[k];
      const double more = 0.5 * (stretch - 1) * (hi - lo);
      box[i].lo[k] = lo - more;
      box[i].hi[k] = hi + more;
    }
  for (size_t i = 0; i < s->count; ++i)
    for (size_t j = i + 1; j < s->count; ++j)
      pairs += tl_span3_overlap(&box[i], &box[j]);
  return pairs;
}

/* Estimated pairs per body around the sampled boxes: pairs of the sample if its boxes are enlarged
 * to fill the space of those between them. In a small cloud all of them overlap soon, so smaller
 * enlargements are tried, too, while there are pairs. */
static double near_pairs(const sample *s, double n) {
  double most = 0, weight = 1;
  for (double stretch = tl_cbrt_d(n / (double)s->count); stretch > 1; stretch /= 2, weight *= 8) {
    const size_t pairs = stretched_pairs(s, stretch);
    const double here = weight * (double)pairs / (double)s->count;
    most = here > most ? here : most;
    if (pairs < 2 * SOME_PAIRS)
      break;
  }
  return most;
}

/* Estimated number of boxes that a sweep tests for each box along an axis, from the distances of
 * sampled boxes to the next ones. */
static double window_along(const sample *s, int k, double n) {
  double x[SAMPLES], sum = 0;
  const size_t next = 4;
  for (size_t i = 0; i < s->count; ++i) {
    size_t at = i; /* insertion sort */
    for (; at > 0 && x[at - 1] > s->box[i].lo[k]; --at)
      x[at] = x[at - 1];
    x[at] = s->box[i].lo[k];
  }
  if (s->count <= next)
    return n;
  const double between = n * (double)next / (double)s->count;
  for (size_t i = 0; i + next < s->count; ++i) {
    const double distance = x[i + next] - x[i];
    sum += distance > s->edge[k] ? between * s->edge[k] / distance : between;
  }
  return sum / (double)(s->count - next);
}

/* Minimum over the axes. */
static double sweep_window(const sample *s, double n) {
  double window = n;
  for (int k = 0; k < 3; ++k) {
    const double here = window_along(s, k, n);
    window = here < window ? here : window;
  }
  return window;
}

static talus_broad_kind choose(const sample *s, size_t bodies, bool periodic, talus_broad_kind last,
                               const char **reason) {
  const double n = (double)bodies;
  const double even = even_pairs(s, n), near = near_pairs(s, n);
  const double pairs = even > near ? even : near;
  const double sweep = 42 + 0.25 * sweep_window(s, n) + 110 * pairs; /* ns per body */
  const double bins = periodic ? 65 : 50;                            /* at best; ns per body */
  if (bodies <= SWEEP_TO && sweep < (last == TALUS_BROAD_SWEEP ? bins * STICK : bins)) {
    *reason = "few bodies side by side along one axis: a sweep along it tests little";
    return TALUS_BROAD_SWEEP;
  }
  *reason = "bins take time in proportion to bodies and pairs";
  if (bodies < TREE_FROM)
    return TALUS_BROAD_BINS;
  const double clouded =
      last == TALUS_BROAD_CELLS || last == TALUS_BROAD_BVH ? CLOUDED / STICK : CLOUDED;
  if (near > 0 && near > clouded * even) {
    if (near > (last == TALUS_BROAD_BVH ? DENSE / STICK : DENSE)) {
      *reason = "dense clouds far from each other: a tree follows them";
      return TALUS_BROAD_BVH;
    }
    if (bodies >= CELLS_FROM && near < (last == TALUS_BROAD_CELLS ? 1 * STICK : 1)) {
      *reason = "thin clouds far from each other: cells that are empty cost nothing";
      return TALUS_BROAD_CELLS;
    }
  }
  const double ratio = s->small > 0 ? s->large / s->small : 1;
  if (periodic && bodies >= CELLS_FROM &&
      ratio > (last == TALUS_BROAD_CELLS ? UNEVEN / STICK : UNEVEN) &&
      pairs < (last == TALUS_BROAD_CELLS ? 0.5 * STICK : 0.5)) {
    *reason = "very uneven sizes and few neighbours: small cells, and the large bodies apart";
    return TALUS_BROAD_CELLS;
  }
  return TALUS_BROAD_BINS;
}

talus_broad_kind tl_broad_choose(const tl_crowd *crowd, const talus_box *boxes,
                                 const char **reason) {
  const tl_model *model = crowd->model;
  const talus_broad_kind last = crowd->broad_cache ? crowd->broad_cache->chosen : TALUS_BROAD_AUTO;
  talus_broad_kind chosen = TALUS_BROAD_BINS;
  if (crowd->count <= FEW) {
    *reason = "so few bodies that testing every pair costs less than sorting them";
    chosen = TALUS_BROAD_BRUTE;
  } else if (crowd->count <= SOME) {
    *reason = "bins, which are good for up to a thousand bodies of any kind";
  } else {
    sample s = {.count = 0};
    take(crowd, boxes, &s);
    *reason = "every body is unbounded";
    if (s.count > 0)
      chosen = choose(&s, crowd->count, tl_images_of(model).any, last, reason);
  }
  if (crowd->broad_cache)
    crowd->broad_cache->chosen = chosen;
  return chosen;
}
