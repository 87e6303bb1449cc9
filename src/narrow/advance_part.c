#include "narrow/advance_part.h"

#include "kernels/triangle.h"
#include "narrow/posed_pairs.h"

#include <float.h>
#include <math.h>

/* ---- bodies and their parts ------------------------------------------------------------------ */

static tl_frame frame_of(tl_dquat q) {
  const double s = 2 / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  const double xx = s * q.x * q.x, yy = s * q.y * q.y, zz = s * q.z * q.z;
  const double xy = s * q.x * q.y, xz = s * q.x * q.z, yz = s * q.y * q.z;
  const double wx = s * q.w * q.x, wy = s * q.w * q.y, wz = s * q.w * q.z;
  return (tl_frame){{{1 - (yy + zz), xy - wz, xz + wy},
                     {xy + wz, 1 - (xx + zz), yz - wx},
                     {xz - wy, yz + wx, 1 - (xx + yy)}}};
}

tl_stance tl_stance_at(const tl_side *s, double t) {
  return (tl_stance){tl_path_position(&s->m->path, t), frame_of(tl_path_rotation(&s->m->path, t))};
}

tl_side tl_side_of(const tl_mover *m) {
  tl_side s = {.m = m, .scale = (double)m->scale};
  const tl_shape *shape = m->shape;
  s.bend = shape->kind == TALUS_SPHERE ? 0 : tl_ddot(m->path.spin, m->path.spin);
  s.rate = sqrt(s.bend);
  if (shape->kind == TALUS_MESH) {
    s.f = shape->facets;
    s.rounding = s.f->rounding * s.scale;
  } else if (shape->kind == TALUS_CLUMP) {
    s.spheres = shape->points, s.sphere_count = shape->point_count;
  } else {
    const tl_posed posed = {.shape = shape, .scale = m->scale, .rotation = {1, 0, 0, 0}};
    tl_posed_convex(&posed, &s.whole);
    s.rounding = s.whole.rounding;
  }
  return s;
}

tl_part_node tl_part_root(const tl_side *s) {
  const double radius = (double)s->m->shape->radius * s->scale * (1 + 4 * (double)TL_REAL_EPS);
  tl_part_node n = {.form = s->f         ? TL_PART_BRANCH
                            : s->spheres ? TL_PART_LIST
                                         : TL_PART_WHOLE,
                    .half = {radius, radius, radius},
                    .radius = radius,
                    .arm = radius,
                    .count = s->sphere_count};
  return n;
}

static double farthest_corner(talus_dvec3 middle, talus_dvec3 half) {
  return tl_dlength(
      tl_dvec3(fabs(middle.x) + half.x, fabs(middle.y) + half.y, fabs(middle.z) + half.z));
}

bool tl_part_child(const tl_side *s, const tl_part_node *n, uint32_t k, tl_part_node *child) {
  const tl_tree_node *t = &s->f->tree.node[n->first];
  if (t->lo[0][k] > t->hi[0][k])
    return false;
  const double half = 0.5 * s->scale;
  child->form = t->count[k] > 0 ? TL_PART_LEAF : TL_PART_BRANCH;
  child->first = t->first[k], child->count = t->count[k];
  child->middle = tl_dvec3(half * ((double)t->lo[0][k] + (double)t->hi[0][k]),
                           half * ((double)t->lo[1][k] + (double)t->hi[1][k]),
                           half * ((double)t->lo[2][k] + (double)t->hi[2][k]));
  child->half = tl_dvec3(half * ((double)t->hi[0][k] - (double)t->lo[0][k]),
                         half * ((double)t->hi[1][k] - (double)t->lo[1][k]),
                         half * ((double)t->hi[2][k] - (double)t->lo[2][k]));
  child->radius = tl_dlength(child->half) + s->rounding;
  child->arm = farthest_corner(child->middle, child->half) + s->rounding;
  return true;
}

tl_part_node tl_part_sphere(const tl_side *s, uint32_t k) {
  const double *p = s->spheres + 4 * (size_t)k;
  tl_part_node n = {.form = TL_PART_BALL, .first = k, .count = 1, .radius = s->scale * p[3]};
  n.middle = tl_dscale(tl_dvec3(p[0], p[1], p[2]), s->scale);
  n.arm = tl_dlength(n.middle); /* its rotation about its own centre does not matter */
  return n;
}

tl_part tl_part_of(const tl_side *s, const tl_part_node *n, uint32_t k) {
  tl_part p = {.side = s, .form = n->form, .rounding = s->rounding};
  if (n->form == TL_PART_WHOLE) {
    p.arm = s->bend > 0 ? n->arm : 0;
  } else if (n->form == TL_PART_BALL) {
    p.corner[0] = n->middle.x, p.corner[1] = n->middle.y, p.corner[2] = n->middle.z;
    p.rounding = n->radius, p.arm = n->arm;
  } else {
    const uint32_t *v = s->f->triangle + 3 * (size_t)(n->first + k);
    double most = 0;
    for (size_t i = 0; i < 3; ++i) {
      const talus_dvec3 x = tl_dscale(tl_facets_point(s->f, v[i]), s->scale);
      p.corner[3 * i] = x.x, p.corner[3 * i + 1] = x.y, p.corner[3 * i + 2] = x.z;
      most = fmax(most, tl_ddot(x, x));
    }
    p.arm = sqrt(most) + s->rounding;
  }
  return p;
}

/* ---- distance of two parts ------------------------------------------------------------------- */

static talus_dvec3 corner_at(const tl_part *p, const tl_stance *s, int k) {
  const double *x = p->corner + 3 * k;
  return tl_dadd(s->at, tl_frame_to_world(&s->frame, tl_dvec3(x[0], x[1], x[2])));
}

static tl_triangle_corners corners_at(const tl_part *p, const tl_stance *s) {
  return (tl_triangle_corners){{corner_at(p, s, 0), corner_at(p, s, 1), corner_at(p, s, 2)}};
}

static tl_convex convex_at(const tl_part *p, const tl_stance *s) {
  if (p->form == TL_PART_WHOLE) {
    tl_convex c = p->side->whole;
    c.position = s->at, c.frame = s->frame;
    return c;
  }
  if (p->form == TL_PART_BALL)
    return (tl_convex){.core = TL_CORE_POINT, .position = corner_at(p, s, 0), .frame = s->frame};
  return (tl_convex){.core = TL_CORE_HULL,
                     .position = s->at,
                     .frame = s->frame,
                     .scale = 1,
                     .points = p->corner,
                     .point_count = 3};
}

static bool is_point(const tl_part *p) {
  return p->form == TL_PART_BALL ||
         (p->form == TL_PART_WHOLE && p->side->m->shape->kind == TALUS_SPHERE);
}

static talus_dvec3 point_at(const tl_part *p, const tl_stance *s) {
  return p->form == TL_PART_BALL ? corner_at(p, s, 0) : s->at;
}

double tl_part_distance(const tl_part *a, const tl_stance *at_a, const tl_part *b,
                        const tl_stance *at_b, double tolerance, talus_dvec3 *n) {
  const double rounding = a->rounding + b->rounding;
  talus_dvec3 way;
  if (is_point(a) && is_point(b)) {
    way = tl_dsub(point_at(b, at_b), point_at(a, at_a));
  } else if (a->form == TL_PART_LEAF && b->form == TL_PART_LEAF) {
    const tl_triangle_corners ta = corners_at(a, at_a), tb = corners_at(b, at_b);
    const tl_triangle_near near = tl_triangle_triangle(&ta, &tb);
    way = tl_dsub(near.on_b, near.on_a);
  } else if (is_point(a) && b->form == TL_PART_LEAF) {
    const tl_triangle_corners t = corners_at(b, at_b);
    const tl_triangle_near near = tl_point_triangle(point_at(a, at_a), &t);
    way = tl_dsub(near.on_b, near.on_a);
  } else if (a->form == TL_PART_LEAF && is_point(b)) {
    const tl_triangle_corners t = corners_at(a, at_a);
    const tl_triangle_near near = tl_point_triangle(point_at(b, at_b), &t);
    way = tl_dsub(near.on_a, near.on_b);
  } else {
    const tl_convex ca = convex_at(a, at_a), cb = convex_at(b, at_b);
    tl_gjk g;
    tl_gjk_distance(&ca, &cb, tl_dsub(cb.position, ca.position), DBL_MAX, 0, tolerance, &g);
    *n = g.direction;
    return g.overlap ? -rounding - DBL_MIN : fmax(g.lower, 0) - rounding;
  }
  const double length = tl_dlength(way);
  *n = length > 0 ? tl_dscale(way, 1 / length) : tl_dvec3(0, 0, 1);
  return length > 0 ? length - rounding : -rounding - DBL_MIN;
}

double tl_part_farthest(const tl_part *p, const tl_stance *s, talus_dvec3 n) {
  if (p->form == TL_PART_WHOLE) {
    const tl_convex c = convex_at(p, s);
    return tl_ddot(n, tl_convex_support(&c, n)) + p->rounding;
  }
  const talus_dvec3 local = tl_frame_to_local(&s->frame, n);
  double most = -DBL_MAX;
  for (int k = 0; k < (p->form == TL_PART_BALL ? 1 : 3); ++k) {
    const double *x = p->corner + 3 * k;
    most = fmax(most, local.x * x[0] + local.y * x[1] + local.z * x[2]);
  }
  return tl_ddot(n, s->at) + most + p->rounding;
}
