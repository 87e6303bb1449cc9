/* Kernels: a box against a box, by separating axes.
 *
 * Two convex polyhedra are as far apart along some direction as along one of these 15: three face
 * normals of each, nine products of an edge of one with an edge of the other (Gottschalk, Lin,
 * Manocha 1996). Of overlapping boxes the largest (least negative) of the 15 separations is minus
 * the exact depth; of separated ones it is a lower bound of the distance, and the distance itself
 * unless a vertex is nearest to a vertex or to an edge. */
#ifndef TL_KERNELS_COLLIDE_BOX_BOX_H
#define TL_KERNELS_COLLIDE_BOX_BOX_H

#include "kernels/collide_box.h"
#include "kernels/patch.h"

typedef struct tl_box {
  talus_dvec3 position; /* from the first body's centre of mass */
  tl_frame frame;
  double half[3];
} tl_box;

/* An axis of two edges must be better than those of the faces by this share of the smaller box.
 * Boxes that are nearly parallel have edge axes next to their face axes, and a choice by the last
 * bits would change the features from step to step. The depth may exceed the exact one by that
 * much. */
#define TL_BOX_EDGE_BIAS 1e-7

/* Share of the smaller box: a corner of the common face counts as deep as the separation if it
 * differs by less. Where two boxes lie flat and one sticks out sideways by a hair, the deepest
 * vertex is in that hair; then an axis of two edges is the exact one, and differs by the hair times
 * the tilt, which is less than the bias. */
#define TL_BOX_AS_DEEP (2 * TL_BOX_EDGE_BIAS)

/* The face that looks along the direction most, in the world: the same bits as tl_box_face_patch
 * and then turning its vertices, with nine products for all four. */
TL_BIG_FN void tl_box_patch(const tl_box *box, talus_dvec3 direction, tl_patch *patch) {
  const int face = tl_box_face(tl_frame_to_local(&box->frame, direction));
  double arm[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      arm[i][j] = box->frame.m[i][j] * box->half[j];
  patch->round = 0, patch->tube = patch->ball = false;
  patch->count = 4, patch->number = (uint32_t)face;
  for (int k = 0; k < 4; ++k) {
    const double x = tl_box_face_side(face, k, 0), y = tl_box_face_side(face, k, 1),
                 z = tl_box_face_side(face, k, 2);
    const talus_dvec3 to = tl_dvec3(x * arm[0][0] + y * arm[0][1] + z * arm[0][2],
                                    x * arm[1][0] + y * arm[1][1] + z * arm[1][2],
                                    x * arm[2][0] + y * arm[2][1] + z * arm[2][2]);
    patch->vertex[k] = tl_dadd(box->position, to);
  }
}

TL_FN double tl_box_size(const tl_box *box) {
  return 2 * fmax(box->half[0], fmax(box->half[1], box->half[2]));
}

/* The best of the 15 axes. Returns the separation and the unit normal from a to b in a's axes.
 * edges[0] < 0: a face's; otherwise the axes of a and b whose edges touch. Stops at the first axis
 * with more than `enough`. */
TL_BIG_FN double tl_box_box_axis(const tl_box *a, const tl_box *b, double enough, double normal[3],
                                 int edges[2]) {
  const talus_dvec3 d = tl_frame_to_local(&a->frame, tl_dsub(b->position, a->position));
  const double t[3] = {d.x, d.y, d.z};
  double r[3][3], abs_r[3][3]; /* r[i][j]: axis i of a on axis j of b */
  for (int j = 0; j < 3; ++j) {
    const talus_dvec3 axis = tl_frame_to_local(&a->frame, tl_frame_axis(&b->frame, j));
    r[0][j] = axis.x, r[1][j] = axis.y, r[2][j] = axis.z;
    for (int i = 0; i < 3; ++i)
      abs_r[i][j] = fabs(r[i][j]);
  }
  double best = -DBL_MAX;
  edges[0] = edges[1] = -1;
  for (int i = 0; i < 3; ++i) {
    const double s = fabs(t[i]) - a->half[i] - b->half[0] * abs_r[i][0] - b->half[1] * abs_r[i][1] -
                     b->half[2] * abs_r[i][2];
    if (!(s > best))
      continue;
    best = s;
    normal[0] = normal[1] = normal[2] = 0;
    normal[i] = t[i] < 0 ? -1 : 1;
    if (best > enough)
      return best;
  }
  for (int j = 0; j < 3; ++j) {
    const double along = t[0] * r[0][j] + t[1] * r[1][j] + t[2] * r[2][j];
    const double s = fabs(along) - b->half[j] - a->half[0] * abs_r[0][j] -
                     a->half[1] * abs_r[1][j] - a->half[2] * abs_r[2][j];
    /* In a stack both faces tie to the last bits: then the face is a's. */
    if (!(s > best + 1e-12 * (a->half[0] + b->half[j])))
      continue;
    best = s;
    for (int i = 0; i < 3; ++i)
      normal[i] = along < 0 ? -r[i][j] : r[i][j];
    if (best > enough)
      return best;
  }
  double lead = TL_BOX_EDGE_BIAS * fmin(tl_box_size(a), tl_box_size(b));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      /* e_i x axis j of b, of length sin(angle). */
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      const double square = r[i1][j] * r[i1][j] + r[i2][j] * r[i2][j];
      if (!(square > 1e-10))
        continue; /* edges parallel to 1e-5: the axes of faces cover this case */
      const double raw_along = t[i2] * r[i1][j] - t[i1] * r[i2][j];
      const double raw_reach = a->half[i1] * abs_r[i2][j] + a->half[i2] * abs_r[i1][j] +
                               b->half[j1] * abs_r[i][j2] + b->half[j2] * abs_r[i][j1];
      /* Most axes lose clearly: that is seen without a root and divisions, with room for
       * rounding. */
      const double most = fabs(raw_along) - raw_reach * (1 - 1e-12), need = best + lead;
      if (most <= 0 && (need >= 0 || most * most > need * need * square * (1 + 1e-12)))
        continue;
      const double length = sqrt(square);
      const double along = raw_along / length, reach = raw_reach / length;
      const double s = fabs(along) - reach;
      if (!(s > best + lead))
        continue;
      best = s, lead = 0;
      edges[0] = i, edges[1] = j;
      normal[i] = 0;
      normal[i1] = (along < 0 ? 1 : -1) * r[i2][j] / length;
      normal[i2] = (along < 0 ? -1 : 1) * r[i1][j] / length;
      if (best > enough)
        return best;
    }
  return best;
}

/* The place midway between the two edges that touch; n is the normal from a to b. */
TL_BIG_FN talus_dvec3 tl_box_box_edges(const tl_box *a, const tl_box *b, const int edges[2],
                                       talus_dvec3 n) {
  const talus_dvec3 da = tl_frame_axis(&a->frame, edges[0]),
                    db = tl_frame_axis(&b->frame, edges[1]);
  talus_dvec3 p = a->position, q = b->position;
  for (int i = 0; i < 3; ++i) {
    const talus_dvec3 axis_a = tl_frame_axis(&a->frame, i), axis_b = tl_frame_axis(&b->frame, i);
    if (i != edges[0])
      p = tl_dalong(p, tl_ddot(axis_a, n) < 0 ? -a->half[i] : a->half[i], axis_a);
    if (i != edges[1])
      q = tl_dalong(q, tl_ddot(axis_b, n) < 0 ? b->half[i] : -b->half[i], axis_b);
  }
  /* Nearest places of the two lines. da x db is not small, or this axis would not have been
   * chosen. */
  const double c = tl_ddot(da, db), det = 1 - c * c;
  const talus_dvec3 pq = tl_dsub(q, p);
  const double s = (tl_ddot(pq, da) - c * tl_ddot(pq, db)) / det;
  const double t = (c * tl_ddot(pq, da) - tl_ddot(pq, db)) / det;
  return tl_dscale(tl_dadd(tl_dalong(p, s, da), tl_dalong(q, t, db)), 0.5);
}

/* At most four points, ascending by feature: number of the face times 256, plus 2k for its vertex
 * k, 2k+1 for its edge k, 254 for the face itself. *exact is false where the boxes are apart and
 * nothing of them lies over each other along the axis: then the gap is only a lower bound, and no
 * points are written. *parting: where there are none, a direction from a to b that parts them. */
TL_BIG_FN int tl_collide_box_box(const tl_box *a, const tl_box *b, double margin,
                                 tl_point out[TL_MANIFOLD_MAX], bool *exact, talus_dvec3 *parting) {
  double local[3];
  int edges[2];
  tl_facing facing;
  *exact = true;
  facing.gap = tl_box_box_axis(a, b, margin, local, edges);
  facing.normal = tl_frame_to_world(&a->frame, tl_dvec3(local[0], local[1], local[2]));
  *parting = facing.normal;
  if (!(facing.gap <= margin))
    return 0;
  facing.size = fmin(tl_box_size(a), tl_box_size(b));
  facing.slack = TL_BOX_AS_DEEP * facing.size;
  tl_patch face_a, face_b;
  tl_box_patch(a, facing.normal, &face_a);
  tl_box_patch(b, tl_dscale(facing.normal, -1), &face_b);
  tl_manifold m;
  tl_manifold_begin(&face_a, &face_b, &facing, margin, &m);
  *exact = m.deep || (edges[0] >= 0 && facing.gap <= 0);
  if (!*exact)
    return 0;
  if (!m.deep)
    facing.middle = tl_box_box_edges(a, b, edges, facing.normal);
  return tl_manifold_end(&face_a, &face_b, &facing, &m, out);
}

#endif
