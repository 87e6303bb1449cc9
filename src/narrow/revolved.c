#include "narrow/revolved.h"

#include "base/trig.h"
#include "kernels/collide_sphere.h"
#include "kernels/patch.h"

tl_revolved_side tl_revolved_side_of(const tl_posed *wall, talus_dvec3 place) {
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
  if (w.side == 0 || c.z < low || c.z > high)
    return TL_WALL_ASIDE;
  tl_wall_nearest(&w, c, &near2, &is_behind);
  if (c.r > most)
    return is_behind ? TL_WALL_BEYOND : TL_WALL_ASIDE;
  return is_behind ? TL_WALL_BEHIND : TL_WALL_WITHIN;
}

bool tl_revolved_holds(const tl_posed *wall, talus_dvec3 place) {
  return tl_revolved_side_of(wall, place) == TL_WALL_BEHIND;
}

#define FAN 10 /* most planes on either side: all around */

/* A ball that moves far in a step along the hollow side of a wall would leave it along the tangent
 * plane at its present place, by (displacement)^2 / 2R. If that is more than 0.4 of its radius,
 * planes along the whole arc that it can reach hold it: neighbours intersect at most a quarter of
 * its radius behind the wall, unless there would be more than FAN planes. The inside of a cone is
 * convex, so the planes cut off nothing. */
static void add_fan(const tl_revolved *wall, talus_dvec3 x, double radius, double way,
                    tl_wall_places *list) {
  const tl_wall_view v = tl_wall_view_of(x, radius + way);
  const int count = list->count;
  for (int i = 0; i < count; ++i) {
    const uint32_t feature = list->place[i].feature, k = feature / 2;
    if (feature % 2 == 0 || feature >= TL_REVOLVED_TURN)
      continue;
    const tl_wall_segment g = tl_wall_segment_at(wall, k, v.c);
    const double around = v.c.r - g.d * g.normal.r; /* radius of the wall at that height */
    if (!(g.normal.r < 0) || way * way <= 0.8 * around * radius)
      continue;
    const double apart = fmax(sqrt(2 * radius / around), TL_PI / FAN);
    for (uint32_t turn = 2; turn < 2 * FAN + 2; ++turn) {
      const double angle = apart * (turn / 2) * (turn % 2 ? 1 : -1);
      const double c = tl_cos_d(angle), s = tl_sin_d(angle), inwards = (1 - c) * v.c.r;
      const double far = g.d - g.normal.r * inwards, foot = g.s - g.along.r * inwards;
      if (fabs(angle) >= TL_PI || !(far <= v.reach) || foot < 0 || foot > g.length)
        continue;
      const double cs = v.cs * c - v.sn * s, sn = v.sn * c + v.cs * s;
      tl_wall_add(list, far, tl_dvec3(g.normal.r * cs, g.normal.r * sn, g.normal.z),
                  2 * k + 1 + (1 + turn) * TL_REVOLVED_TURN);
    }
  }
}

int tl_revolved_sphere(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const tl_revolved wall = tl_shape_revolved(b->shape, (double)b->scale);
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  const double radius = a->shape->size[0] * (double)a->scale;
  tl_wall_places list;
  const talus_dvec3 centre = tl_frame_to_local(&frame, tl_dscale(b->position, -1));
  tl_revolved_places(&wall, centre, radius + (double)margin, 0.5 * radius, &list);
  add_fan(&wall, centre, radius, (double)margin, &list);
  for (int i = 0; i < list.count; ++i)
    out[i] = tl_sphere_point(radius, list.place[i].distance,
                             tl_frame_to_world(&frame, list.place[i].away), list.place[i].feature);
  tl_sort_by_features(out, list.count);
  return list.count;
}
