/* Contacts of two posed shapes by their kinds: converts shapes to numbers and calls kernels/.
 * The table of the host (narrow/table.c) and the tasks of devices (backend/thread/pairs.h) call
 * these. */
#ifndef TL_NARROW_POSED_PAIRS_H
#define TL_NARROW_POSED_PAIRS_H

#include "kernels/collide_box_box.h"
#include "kernels/collide_convex.h"
#include "kernels/collide_ellipsoid.h"
#include "narrow/posed.h"

/* ---- lengths of a posed shape, m ------------------------------------------------------------ */

TL_FN double tl_posed_sphere_radius(const tl_posed *p) {
  return p->shape->size[0] * (double)p->scale;
}

TL_FN talus_dvec3 tl_posed_half_edges(const tl_posed *p) {
  const double half = 0.5 * (double)p->scale;
  return tl_dvec3(half * p->shape->size[0], half * p->shape->size[1], half * p->shape->size[2]);
}

/* Normal of a plane in the world, and the signed distance of the first body's centre from it. */
TL_FN talus_dvec3 tl_posed_plane_normal(const tl_posed *p, double *distance) {
  const double *size = p->shape->size;
  const tl_frame frame = tl_frame_from_quat(p->rotation);
  const talus_dvec3 n = tl_frame_to_world(&frame, tl_dvec3(size[0], size[1], size[2]));
  *distance = -tl_ddot(n, p->position) - size[3] * (double)p->scale;
  return n;
}

/* A shape as core and rounding radius. */
TL_FN void tl_posed_convex(const tl_posed *p, tl_convex *c) {
  const tl_shape *shape = p->shape;
  const double *size = shape->size, scale = (double)p->scale;
  c->core = TL_CORE_POINT;
  c->reach = (double)shape->radius * scale;
  c->rounding = 0;
  c->position = p->position;
  c->frame = tl_frame_from_quat(p->rotation);
  c->scale = scale, c->aim = 0;
  for (int i = 0; i < 3; ++i)
    c->size[i] = size[i] * scale;
  switch (shape->kind) {
  case TALUS_BOX:
    c->core = TL_CORE_BOX;
    for (int i = 0; i < 3; ++i)
      c->size[i] *= 0.5;
    break;
  case TALUS_ELLIPSOID:
    c->core = TL_CORE_ELLIPSOID;
    break;
  case TALUS_CAPSULE:
    c->core = TL_CORE_SEGMENT;
    c->rounding = c->size[0], c->size[0] = 0.5 * c->size[1];
    break;
  case TALUS_CYLINDER:
    c->core = TL_CORE_CYLINDER, c->size[1] *= 0.5;
    break;
  case TALUS_CONE:
    c->core = TL_CORE_CONE;
    break;
  case TALUS_SUPERELLIPSOID:
    c->core = TL_CORE_SUPERELLIPSOID;
    c->size[3] = size[3], c->size[4] = size[4];
    break;
  case TALUS_HULL:
    c->core = TL_CORE_HULL;
    c->points = shape->points, c->point_count = shape->point_count;
    c->face_plane = shape->face_plane, c->face_start = shape->face_start;
    c->face_vertex = shape->face_vertex;
    c->vertex_start = shape->vertex_start, c->neighbour = shape->neighbour;
    c->vertex_face = shape->vertex_face;
    break;
  default:
    c->rounding = c->size[0];
    break; /* sphere */
  }
  /* The bounding radius is rounded in the single build; one that is too small would lose
   * contacts. */
  c->reach *= 1 + 4 * (double)TL_REAL_EPS;
}

/* m: a body of scale 0 (allowed by talus_find_contacts) is a point, but needs a surface. */
#define TL_ELLIPSOID_LEAST 1e-60

/* An ellipsoid, or a sphere as an ellipsoid. */
TL_FN tl_ellipsoid tl_ellipsoid_of(const tl_shape *shape, talus_real scale, talus_quat rotation) {
  tl_ellipsoid e;
  for (int i = 0; i < 3; ++i)
    e.half[i] =
        fmax(shape->size[shape->kind == TALUS_SPHERE ? 0 : i] * (double)scale, TL_ELLIPSOID_LEAST);
  e.frame = tl_frame_from_quat(rotation);
  return e;
}

/* ---- pairs of kinds ----------------------------- */

TL_FN int tl_posed_sphere_sphere(const tl_posed *a, const tl_posed *b, talus_real margin,
                                 tl_point *out) {
  return tl_collide_sphere_sphere(tl_posed_sphere_radius(a), tl_posed_sphere_radius(b), b->position,
                                  (double)margin, out);
}

TL_FN int tl_posed_sphere_box(const tl_posed *a, const tl_posed *b, talus_real margin,
                              tl_point *out) {
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  return tl_collide_sphere_box(tl_posed_sphere_radius(a), b->position, &frame,
                               tl_posed_half_edges(b), (double)margin, out);
}

TL_FN int tl_posed_sphere_plane(const tl_posed *a, const tl_posed *b, talus_real margin,
                                tl_point *out) {
  double distance;
  const talus_dvec3 n = tl_posed_plane_normal(b, &distance);
  return tl_collide_sphere_half_space(tl_posed_sphere_radius(a), n, distance, (double)margin, out);
}

TL_FN int tl_posed_sphere_container(const tl_posed *a, const tl_posed *b, talus_real margin,
                                    tl_point *out) {
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  return tl_collide_sphere_container(tl_posed_sphere_radius(a), b->position, &frame,
                                     tl_posed_half_edges(b), b->shape->open, (double)margin, out);
}

TL_FN int tl_posed_box_plane(const tl_posed *a, const tl_posed *b, talus_real margin,
                             tl_point *out) {
  double distance;
  const talus_dvec3 n = tl_posed_plane_normal(b, &distance);
  const tl_frame frame = tl_frame_from_quat(a->rotation);
  return tl_collide_box_half_space(&frame, tl_posed_half_edges(a), n, distance, 0xffu,
                                   (double)margin, 0, out);
}

TL_FN tl_box tl_posed_box(const tl_posed *p) {
  const talus_dvec3 half = tl_posed_half_edges(p);
  tl_box box;
  box.position = p->position;
  box.frame = tl_frame_from_quat(p->rotation);
  box.half[0] = half.x, box.half[1] = half.y, box.half[2] = half.z;
  return box;
}

/* guess: of the normal, unit, from the first to the second; NULL: none. *parting: the axis that
 * separates them if there are no points (tl_collide_convex). */
TL_BIG_FN int tl_posed_search(const tl_posed *a, const tl_posed *b, const talus_dvec3 *guess,
                              talus_real margin, tl_point *out, talus_dvec3 *parting) {
  tl_convex body_a, body_b;
  tl_posed_convex(a, &body_a), tl_posed_convex(b, &body_b);
  if (guess) {
    tl_convex_aim(&body_a, *guess);
    tl_convex_aim(&body_b, tl_dscale(*guess, -1));
  }
  return tl_collide_convex(&body_a, &body_b, guess, (double)margin, out, parting);
}

TL_FN int tl_posed_convex_convex(const tl_posed *a, const tl_posed *b, talus_real margin,
                                 tl_point *out) {
  talus_dvec3 parting;
  return tl_posed_search(a, b, NULL, margin, out, &parting);
}

TL_FN int tl_posed_search_boxes(const tl_posed *a, const tl_posed *b, talus_real margin,
                                tl_point *out, talus_dvec3 *parting) {
  const tl_box box_a = tl_posed_box(a), box_b = tl_posed_box(b);
  bool exact;
  const int count = tl_collide_box_box(&box_a, &box_b, (double)margin, out, &exact, parting);
  return exact ? count : tl_posed_search(a, b, NULL, margin, out, parting);
}

TL_FN int tl_posed_box_box(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  talus_dvec3 parting;
  return tl_posed_search_boxes(a, b, margin, out, &parting);
}

TL_FN int tl_posed_convex_plane(const tl_posed *a, const tl_posed *b, talus_real margin,
                                tl_point *out) {
  double distance;
  const talus_dvec3 n = tl_posed_plane_normal(b, &distance);
  tl_convex body;
  tl_posed_convex(a, &body);
  return tl_collide_convex_half_space(&body, n, distance, (double)margin, NULL, 0, out);
}

TL_FN int tl_posed_convex_container(const tl_posed *a, const tl_posed *b, talus_real margin,
                                    tl_point *out) {
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  tl_convex body;
  tl_posed_convex(a, &body);
  const int count = tl_collide_convex_container(&body, b->position, &frame, tl_posed_half_edges(b),
                                                b->shape->open, (double)margin, out);
  tl_sort_by_features(out, count);
  return count;
}

TL_FN int tl_posed_box_container(const tl_posed *a, const tl_posed *b, talus_real margin,
                                 tl_point *out) {
  const tl_frame frame_a = tl_frame_from_quat(a->rotation);
  const tl_frame frame_b = tl_frame_from_quat(b->rotation);
  const int count =
      tl_collide_box_container(&frame_a, tl_posed_half_edges(a), b->position, &frame_b,
                               tl_posed_half_edges(b), b->shape->open, (double)margin, out);
  tl_sort_by_features(out, count);
  return count;
}

/* By Newton's method, with the bits of a batch (narrow/ellipsoid.h). */
TL_FN int tl_posed_ellipsoids(const tl_posed *a, const tl_posed *b, talus_real margin,
                              tl_point *out) {
  const tl_ellipsoid first = tl_ellipsoid_of(a->shape, a->scale, a->rotation);
  const tl_ellipsoid second = tl_ellipsoid_of(b->shape, b->scale, b->rotation);
  return tl_collide_ellipsoids_newton(&first, &second, b->position, (double)margin, out);
}

/* By a published method. */
TL_FN int tl_posed_ellipsoids_by(const tl_posed *a, const tl_posed *b,
                                 talus_ellipsoid_method method, talus_real margin, tl_point *out) {
  if (method == TALUS_ELLIPSOID_NEWTON || a->shape->kind != TALUS_ELLIPSOID ||
      b->shape->kind != TALUS_ELLIPSOID)
    return tl_posed_ellipsoids(a, b, margin, out);
  const tl_ellipsoid first = tl_ellipsoid_of(a->shape, a->scale, a->rotation);
  const tl_ellipsoid second = tl_ellipsoid_of(b->shape, b->scale, b->rotation);
  return tl_collide_ellipsoids_opm(&first, &second, b->position, (double)margin,
                                   method == TALUS_ELLIPSOID_CHM_OPM, out);
}

#endif
