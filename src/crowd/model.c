#include "crowd/model.h"

#include "base/power.h"
#include "base/trig.h"

talus_real tl_body_curvature(const tl_model *model, size_t slot) {
  const tl_shape *shape = tl_body_shape(model, slot);
  const talus_real scale = model->property.scale[slot];
  if (shape->kind == TALUS_SPHERE)
    return scale * (talus_real)shape->size[0];
  if (!(shape->volume > 0))
    return 0;
  return scale * (talus_real)tl_cbrt_d(0.75 * shape->volume / TL_PI);
}

talus_real tl_model_reduced_radius(const tl_model *model, size_t a, size_t b) {
  const talus_real x = tl_body_curvature(model, a), y = tl_body_curvature(model, b);
  return x > 0 && y > 0 ? x * y / (x + y) : x + y;
}

/* Few pairs of groups are ever ignored, so the list stays in cache: binary search is enough. */
bool tl_model_ignores(const tl_model *model, uint32_t group_a, uint32_t group_b) {
  if (model->ignored.count == 0)
    return false;
  const uint32_t a = group_a < group_b ? group_a : group_b;
  const uint32_t b = group_a < group_b ? group_b : group_a;
  size_t lo = 0, hi = model->ignored.count;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    const tl_group_pair pair = model->ignored.data[mid];
    if (pair.a < a || (pair.a == a && pair.b < b))
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo == model->ignored.count)
    return false;
  return model->ignored.data[lo].a == a && model->ignored.data[lo].b == b;
}
