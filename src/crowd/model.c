#include "crowd/model.h"

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
