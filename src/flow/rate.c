/* Checks for rates of emitters that are too high. */
#include "flow/place.h"

/* Volume of the region in which bodies lie whose centres are in `from`: at least `from` grown by
 * their radius. */
static double grown_volume(const talus_region *from, double radius) {
  talus_region grown = *from;
  const talus_dvec3 by = tl_dvec3(radius, radius, radius);
  grown.box = (talus_box){tl_dsub(from->box.lo, by), tl_dadd(from->box.hi, by)};
  grown.radius += radius;
  grown.length += 2 * radius;
  return tl_region_volume(&grown);
}

/* An upper bound of the number of bodies that could be in the region at a time: as if they filled
 * its volume. */
static uint64_t count_fitting(const tl_model *model, const talus_emitter_def *def) {
  const tl_shape *shape = &model->shapes.data[def->body.shape.index];
  double volume = 0, radius = 0;
  uint64_t n = 0;
  if (tl_model_ignores(model, def->body.group, def->body.group))
    return TL_EMIT_MOST; /* they ignore each other, so their number is not limited */
  for (; n < TL_EMIT_MOST; ++n) {
    const double scale = tl_size_draw(&def->size, def->seed, TL_STREAM_EMIT_SIZE, n);
    volume += (double)shape->volume * scale * scale * scale;
    radius = fmax(radius, (double)shape->radius * scale);
    if (n > 0 && volume > grown_volume(&def->from, radius))
      break;
  }
  return n;
}

talus_status tl_emitter_check_rate(const tl_model *model, const talus_emitter_def *def,
                                   const char *what) {
  const double in_step = def->rate * model->dt, in_all = def->rate * (def->until - def->from_time);
  const double due = fmin(in_step, in_all);
  if (!(due > 1))
    return TALUS_OK;
  const uint64_t most = count_fitting(model, def);
  if (due <= (double)most)
    return TALUS_OK;
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s: %g bodies per second are %.4g in a step of %g s, and no more than %llu have "
                 "room where they come from; a rate of up to %.4g can be kept, or give them a "
                 "larger region",
                 what, def->rate, in_step, model->dt, (unsigned long long)most,
                 (double)most / model->dt);
}
