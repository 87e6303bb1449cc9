/* Kernels: a box against a half-space. A box touches flat things with its vertices: vertex k has
 * the positive side of axis i where bit i of k is set. */
#ifndef TL_KERNELS_COLLIDE_BOX_H
#define TL_KERNELS_COLLIDE_BOX_H

#include "kernels/collide.h"

#define TL_BOX_MAX_POINTS 4 /* on one half-space */

/* Vertex k from the centre, in the box's own axes. */
TL_FN talus_dvec3 tl_box_vertex(talus_dvec3 half, int k) {
  return tl_dvec3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
}

/* Chooses at most four of the vertices `within` (a mask of 8). If there are more, those of the face
 * that looks at the half-space most come first: the box will stand on them, they include the
 * deepest vertex, and they span the whole face. The deepest of the others follow. `facing`: the
 * half-space's normal in the box's own axes. Ties go to the first axis and the lower vertex number,
 * so the choice is the same in every step while the box does not move. */
TL_FN unsigned tl_box_choose_four(unsigned within, const double gap[8], const double facing[3]) {
  unsigned chosen = 0;
  int count = 0;
  for (int k = 0; k < 8; ++k)
    count += (int)(within >> k & 1u);
  if (count <= TL_BOX_MAX_POINTS)
    return within;
  int axis = 0;
  for (int i = 1; i < 3; ++i)
    if (fabs(facing[i]) > fabs(facing[axis]))
      axis = i;
  const int side = facing[axis] < 0; /* the face lies opposite to the normal */
  count = 0;
  for (int k = 0; k < 8; ++k)
    if ((within >> k & 1u) && (k >> axis & 1) == side)
      chosen |= 1u << k, count++;
  for (; count < TL_BOX_MAX_POINTS; ++count) {
    int deepest = -1;
    for (int k = 0; k < 8; ++k)
      if (((within & ~chosen) >> k & 1u) && (deepest < 0 || gap[k] < gap[deepest]))
        deepest = k;
    chosen |= 1u << deepest;
  }
  return chosen;
}

/* The box is the first body. `away`: unit normal out of the matter; s: signed distance of the box's
 * centre from its surface; `allowed`: mask of the vertices that may touch. Ascending by vertex. */
TL_FN int tl_collide_box_half_space(const tl_frame *frame, talus_dvec3 half, talus_dvec3 away,
                                    double s, unsigned allowed, double margin, uint32_t feature_b,
                                    tl_point out[TL_BOX_MAX_POINTS]) {
  const talus_dvec3 facing = tl_frame_to_local(frame, away);
  double gap[8];
  unsigned within = 0;
  for (int k = 0; k < 8; ++k) {
    gap[k] = s + tl_ddot(facing, tl_box_vertex(half, k));
    if ((allowed >> k & 1u) && gap[k] <= margin)
      within |= 1u << k;
  }
  if (!within)
    return 0;
  const double facing_axes[3] = {facing.x, facing.y, facing.z};
  const unsigned chosen = tl_box_choose_four(within, gap, facing_axes);
  int count = 0;
  for (int k = 0; k < 8; ++k)
    if (chosen >> k & 1u)
      out[count++] = tl_point_at(tl_frame_to_world(frame, tl_box_vertex(half, k)), away, gap[k],
                                 (uint32_t)k, feature_b);
  return count;
}

#endif
