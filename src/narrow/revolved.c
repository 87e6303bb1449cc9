#include "narrow/revolved.h"

#include "kernels/collide_sphere.h"
#include "kernels/patch.h"

bool tl_revolved_holds(const tl_posed *wall, talus_dvec3 place) {
  const tl_revolved w = tl_shape_revolved(wall->shape, (double)wall->scale);
  const tl_frame frame = tl_frame_from_quat(wall->rotation);
  const talus_dvec3 x = tl_frame_to_local(&frame, place);
  double near2, most = 0, low = HUGE_VAL, high = -HUGE_VAL;
  bool is_behind;
  for (uint32_t i = 0; i < w.count; ++i) {
    const tl_meridian p = tl_revolved_point(&w, i);
    most = fmax(most, p.r), low = fmin(low, p.z), high = fmax(high, p.z);
  }
  const tl_meridian c = tl_meridian_of(sqrt(x.x * x.x + x.y * x.y), x.z);
  if (w.side == 0 || c.r > most || c.z < low || c.z > high)
    return false;
  tl_wall_nearest(&w, c, &near2, &is_behind);
  return is_behind;
}

int tl_revolved_sphere(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const tl_revolved wall = tl_shape_revolved(b->shape, (double)b->scale);
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  const double radius = a->shape->size[0] * (double)a->scale;
  tl_wall_places list;
  tl_revolved_places(&wall, tl_frame_to_local(&frame, tl_dscale(b->position, -1)),
                     radius + (double)margin, 0.5 * radius, &list);
  for (int i = 0; i < list.count; ++i)
    out[i] = tl_sphere_point(radius, list.place[i].distance,
                             tl_frame_to_world(&frame, list.place[i].away), list.place[i].feature);
  tl_sort_by_features(out, list.count);
  return list.count;
}
