/* A clump as its spheres, on the host and on devices: each touches by the function of its own
 * kind. */
#ifndef TL_NARROW_CLUMP_PARTS_H
#define TL_NARROW_CLUMP_PARTS_H

#include "narrow/posed_pairs.h"

TL_FN bool tl_has_clump(talus_shape_kind a, talus_shape_kind b) {
  return a == TALUS_CLUMP || b == TALUS_CLUMP;
}

/* A body as a set of parts: the spheres of a clump, or the body itself. */
typedef struct tl_clump_body {
  tl_posed whole;
  tl_frame frame;
  uint32_t parts;
} tl_clump_body;

typedef struct tl_clump_part {
  tl_posed posed; /* its shape is `ball` for a sphere of a clump */
  tl_shape ball;
} tl_clump_part;

TL_FN tl_clump_body tl_clump_body_of(const tl_posed *p) {
  tl_clump_body body;
  body.whole = *p;
  body.frame = tl_frame_from_quat(p->rotation);
  body.parts = p->shape->kind == TALUS_CLUMP ? p->shape->point_count : 1;
  return body;
}

TL_FN void tl_clump_part_make(const tl_clump_body *body, uint32_t i, tl_clump_part *part) {
  const tl_posed *p = &body->whole;
  part->posed = *p;
  if (p->shape->kind != TALUS_CLUMP)
    return;
  const double *sphere = p->shape->points + 4 * (size_t)i;
  part->ball.kind = TALUS_SPHERE;
  part->ball.bounded = true;
  part->ball.size[0] = sphere[3];
  part->ball.radius = TL_R(sphere[3]);
  const talus_dvec3 arm = tl_dscale(tl_dvec3(sphere[0], sphere[1], sphere[2]), (double)p->scale);
  part->posed.shape = &part->ball;
  part->posed.position = tl_dadd(p->position, tl_frame_to_world(&body->frame, arm));
}

/* True if bounding spheres are apart by more than the margin and rounding. False for walls. */
TL_FN bool tl_clump_is_apart(const tl_posed *a, const tl_posed *b, talus_real margin) {
  if (!a->shape->bounded || tl_kind_is_wall(b->shape->kind))
    return false;
  const talus_dvec3 d = tl_dsub(b->position, a->position);
  const double reach = (double)a->shape->radius * (double)a->scale +
                       (double)b->shape->radius * (double)b->scale + (double)margin;
  return tl_ddot(d, d) > reach * reach * (1 + 8 * (double)TL_REAL_EPS);
}

/* Two bodies, at least one of them a clump. a is first in the order of the table, at the origin. */
typedef struct tl_clump_pair_job {
  tl_clump_body a, b;
  talus_real margin;
} tl_clump_pair_job;

TL_FN void tl_clump_pair_begin(const tl_posed *a, const tl_posed *b, talus_real margin,
                               tl_clump_pair_job *job) {
  job->a = tl_clump_body_of(a);
  job->b = tl_clump_body_of(b);
  job->margin = margin;
}

/* Two parts as the functions of kinds want them: the first at the origin. */
TL_FN void tl_clump_parts_posed(const tl_clump_part *a, const tl_clump_part *b, tl_posed *first,
                                tl_posed *second) {
  *first = a->posed, *second = b->posed;
  first->position = tl_dvec3(0, 0, 0);
  second->position = tl_dsub(b->posed.position, a->posed.position);
}

/* Points of parts i and j become those of the bodies: the feature on a clump is the number of the
 * sphere. */
TL_FN void tl_clump_points_moved(const tl_clump_pair_job *job, const tl_clump_part *a, uint32_t i,
                                 uint32_t j, tl_point *points, int count) {
  const bool clump_a = job->a.whole.shape->kind == TALUS_CLUMP;
  const bool clump_b = job->b.whole.shape->kind == TALUS_CLUMP;
  for (int k = 0; k < count; ++k) {
    points[k].point = tl_dadd(points[k].point, a->posed.position);
    points[k].feature_a = clump_a ? i : points[k].feature_a;
    points[k].feature_b = clump_b ? j : points[k].feature_b;
  }
}

/* A sphere, which is at the origin, and any kind but clumps, meshes and revolved walls. */
TL_FN int tl_posed_sphere_any(const tl_posed *a, const tl_posed *b, talus_real margin,
                              tl_point *out) {
  switch (b->shape->kind) {
  case TALUS_SPHERE:
    return tl_posed_sphere_sphere(a, b, margin, out);
  case TALUS_BOX:
    return tl_posed_sphere_box(a, b, margin, out);
  case TALUS_ELLIPSOID:
    return tl_posed_ellipsoids(a, b, margin, out);
  case TALUS_PLANE:
    return tl_posed_sphere_plane(a, b, margin, out);
  case TALUS_CONTAINER:
    return tl_posed_sphere_container(a, b, margin, out);
  default:
    return tl_posed_convex_convex(a, b, margin, out);
  }
}

#endif
