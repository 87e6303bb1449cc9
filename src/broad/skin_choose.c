/* The thickness of an automatic skin. It only affects speed: pairs are the same.
 *
 * A thick one lasts longer, a thin one has fewer candidates. Measured with 10^6 equal spheres on
 * one thread of a fourth-generation EPYC, a renewal takes R = 105 ms and a step that keeps takes
 * about K = 48 ms more for every edge of a box that the skin is thick. With v the displacement of
 * the fastest side in a step, a skin s lasts s / (2 v) steps, and K s / edge + R 2 v / s is least
 * for s = sqrt(2 v R edge / K) = 2.1 sqrt(v edge).
 *
 * If that is fewer than three steps, because bodies are fast or come and go all the time, no skin
 * is used for a while, and then one is tried again. */
#include "broad/broad.h"

#include <math.h>

#include "kernels/aabb.h"

#define FIRST      0.1 /* edges: the first thickness */
#define THICKEST   0.5 /* edges */
#define THINNEST   1e-4
#define BALANCE    2.1
#define LEAST      3u  /* steps that a skin must last */
#define PAUSE      16u /* steps without a skin; twice as many the next time, and so on */
#define MOST_PAUSE 256u
#define SAMPLES    ((size_t)64)

/* Mean longest edge of a few boxes; 0: none is finite. */
static double find_edge(const talus_box *boxes, size_t count) {
  const size_t stride = ((count + SAMPLES - 1) / SAMPLES) | 1;
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < count; i += stride)
    if (tl_box_is_finite(boxes[i])) {
      sum += tl_box_extent(boxes[i]);
      n++;
    }
  return n > 0 ? sum / (double)n : 0;
}

/* Displacement of the fastest side per step, from how long the last candidates were valid. */
static double find_speed(const tl_broad_cache *cache) {
  if (cache->valid) /* a box left */
    return 0.5 * cache->thickness / (cache->kept + 1);
  return cache->kept > 0 ? cache->far / cache->kept : 0;
}

double tl_skin_choose(const tl_crowd *crowd, const talus_box *boxes) {
  const tl_model *model = crowd->model;
  tl_broad_cache *cache = crowd->broad_cache;
  if (model->skin > 0)
    return model->skin;
  const double edge = find_edge(boxes, crowd->count), speed = find_speed(cache);
  double thickness = cache->thickness;
  if (!(thickness > 0)) {
    thickness = FIRST * edge;
  } else if (cache->kept + 1 < LEAST && thickness >= THICKEST * edge) {
    cache->pauses = cache->pauses < 8 ? cache->pauses + 1 : cache->pauses;
    cache->pause =
        PAUSE << (cache->pauses - 1) < MOST_PAUSE ? PAUSE << (cache->pauses - 1) : MOST_PAUSE;
    thickness = 0;
  } else {
    cache->pauses = cache->kept + 1 < LEAST ? cache->pauses : 0;
    thickness = speed > 0 ? BALANCE * sqrt(speed * edge) : thickness;
    if (cache->kept + 1 < LEAST)
      thickness = THICKEST * edge; /* a larger one would not pay */
    thickness = fmin(fmax(thickness, THINNEST * edge), THICKEST * edge);
  }
  cache->thickness = thickness;
  return thickness > 0 && isfinite(thickness) ? thickness : 0;
}
