/* Kernels: any convex body against a half-space and against the walls of a container. Exact: the
 * support map is all a half-space asks for. */
#ifndef TL_KERNELS_COLLIDE_CONVEX_H
#define TL_KERNELS_COLLIDE_CONVEX_H

#include "kernels/collide_container.h"
#include "kernels/convex_solve.h"

/* A wall of a container, which ends where its neighbours say (collide_container.h). */
typedef struct tl_wall {
  const tl_contained *contained;
  const tl_frame *frame; /* of the container */
  int number;
} tl_wall;

/* Whether a place (from the body's centre, world axes) is over the wall and not past its end. */
TL_FN bool tl_wall_has(const tl_wall *wall, talus_dvec3 place) {
  if (!wall)
    return true;
  const tl_contained *c = wall->contained;
  const talus_dvec3 local = tl_frame_to_local(wall->frame, place);
  const double arm[3] = {local.x, local.y, local.z};
  for (int turn = 1; turn < 3; ++turn) {
    const int j = ((wall->number >> 1) + turn) % 3;
    const double at = c->centre[j] + arm[j];
    if (!(fabs(at) > c->half[j]))
      continue;
    const int neighbour = 2 * j + (at > 0);
    if (tl_wall_is_open(c, neighbour) || !tl_wall_has_inside(c, neighbour))
      return false;
  }
  return true;
}

/* Share of its reach by which a place of a body may be farther out, by rounding. */
#define TL_CONVEX_BEYOND (4 * (double)TL_REAL_EPS + 1e-9)

/* The body is the first, its position 0. `away`: unit normal out of the matter; s: signed distance
 * of the body's centre from the surface; `wall` may be NULL. Writes the vertices of the patch that
 * looks at the surface, and the deepest place of the body if no vertex is as deep. */
TL_BIG_FN int tl_collide_convex_half_space(const tl_convex *convex, talus_dvec3 away, double s,
                                           double margin, const tl_wall *wall, uint32_t feature_b,
                                           tl_point out[TL_MANIFOLD_MAX]) {
  if (s - convex->reach * (1 + TL_CONVEX_BEYOND) > margin)
    return 0;
  tl_convex here = *convex;
  const tl_convex *body = &here;
  tl_convex_aim(&here, tl_dscale(away, -1)); /* one search for the support and for the patch */
  const talus_dvec3 down = tl_dscale(away, -1), u = tl_dorthogonal(away), v = tl_dcross(away, u);
  const talus_dvec3 lowest = tl_dalong(tl_convex_support(body, down), body->rounding, down);
  const double least = s + tl_ddot(lowest, away), size = 2 * body->reach;
  if (!(least <= margin))
    return 0;
  tl_patch patch;
  tl_convex_patch(body, down, &patch);
  tl_corners list;
  list.count = 0;
  bool deep = false;
  for (int i = 0; i <= patch.count; ++i) {
    const bool last = i == patch.count;
    if (last && deep)
      break;
    const talus_dvec3 p = last ? lowest : patch.vertex[i];
    const double height = tl_ddot(p, away), gap = s + height;
    if (!(gap <= margin) || !tl_wall_has(wall, p))
      continue;
    deep = deep || gap <= least + TL_PATCH_AS_DEEP * size;
    tl_corner *c = &list.at[list.count++];
    c->x = tl_ddot(p, u), c->y = tl_ddot(p, v), c->gap = gap;
    c->middle = height - 0.5 * gap;
    c->a = patch.count == 1 ? 0 : last ? TL_PATCH_WITNESS : 2 * (uint32_t)i, c->b = 0;
  }
  const int count = tl_corners_reduce(&list, size);
  for (int i = 0; i < count; ++i) {
    const tl_corner *c = &list.at[i];
    out[i].point = tl_dalong(tl_dalong(tl_dscale(away, c->middle), c->x, u), c->y, v);
    out[i].normal = tl_narrow(down), out[i].gap = TL_R(c->gap);
    out[i].feature_a = patch.number << 8 | c->a, out[i].feature_b = feature_b;
  }
  tl_sort_by_features(out, count);
  return count;
}

/* `position`, `frame`, `half`, `open`: of the container. At most TL_MANIFOLD_MAX points per wall,
 * by wall; not sorted by feature. A convex body touches a wall only with the part that lies over
 * it: like a box it does not touch a rim. */
TL_BIG_FN int tl_collide_convex_container(const tl_convex *body, talus_dvec3 position,
                                          const tl_frame *frame, talus_dvec3 half, uint32_t open,
                                          double margin, tl_point *out) {
  const talus_dvec3 centre = tl_frame_to_local(frame, tl_dscale(position, -1));
  double extent[3];
  for (int i = 0; i < 3; ++i) {
    const talus_dvec3 axis = tl_frame_axis(frame, i), back = tl_dscale(axis, -1);
    const double up = tl_ddot(tl_convex_support(body, axis), axis);
    const double down = tl_ddot(tl_convex_support(body, back), back);
    extent[i] = fmax(up, down) + body->rounding;
  }
  const tl_contained c =
      tl_contained_make(centre, half, open, tl_dvec3(extent[0], extent[1], extent[2]));
  int count = 0;
  for (int wall = 0; wall < TL_CONTAINER_WALLS; ++wall) {
    if (tl_wall_is_open(&c, wall))
      continue;
    talus_dvec3 away;
    double s;
    tl_wall_touched_side(&c, frame, wall, &away, &s);
    tl_wall here;
    here.contained = &c, here.frame = frame, here.number = wall;
    count +=
        tl_collide_convex_half_space(body, away, s, margin, &here, (uint32_t)wall, out + count);
  }
  return count;
}

#endif
