/* Kernels: a sphere against a sphere, a half-space, a box, and the walls of a container.
 *
 * The sphere is the first body, so its centre is the origin. Against anything but a sphere the work
 * is one number and one direction: the signed distance s of the centre from the other's surface
 * (negative inside) and the unit vector `away` in which it grows; then gap = s - radius. */
#ifndef TL_KERNELS_COLLIDE_SPHERE_H
#define TL_KERNELS_COLLIDE_SPHERE_H

#include "kernels/collide.h"

/* The surface point is -radius away; midway to the other surface is -(radius + s)/2 away. */
TL_FN tl_point tl_sphere_point(double radius, double s, talus_dvec3 away, uint32_t feature_b) {
  tl_point p;
  p.point = tl_dscale(away, -0.5 * (radius + s));
  p.normal = tl_narrow(tl_dscale(away, -1));
  p.gap = TL_R(s - radius);
  p.feature_a = 0, p.feature_b = feature_b;
  return p;
}

/* `b`: centre of the second sphere. Coincident centres have no normal; +z is taken, so that the
 * answer is always the same (and two such spheres part along the usual vertical). */
TL_FN int tl_collide_sphere_sphere(double radius_a, double radius_b, talus_dvec3 b, double margin,
                                   tl_point *out) {
  const double sum = radius_a + radius_b, reach = sum + margin;
  const double square = tl_ddot(b, b);
  /* Most candidate pairs end here, without a root. The slack leaves pairs that nearly touch to the
   * gap itself. */
  if (square > reach * reach * (1 + 1e-12))
    return 0;
  const double distance = sqrt(square);
  const double gap = distance - sum;
  if (!(gap <= margin))
    return 0;
  const bool apart = square > DBL_MIN;
  const talus_dvec3 n =
      apart ? tl_dvec3(b.x / distance, b.y / distance, b.z / distance) : tl_dvec3(0, 0, 1);
  out->point = tl_dscale(n, 0.5 * (radius_a + (distance - radius_b)));
  out->normal = tl_narrow(n);
  out->gap = TL_R(gap);
  out->feature_a = 0, out->feature_b = 0;
  return 1;
}

/* A half-space of matter: `away` is its unit normal out of the matter, s the signed distance of the
 * sphere's centre from its surface. */
TL_FN int tl_collide_sphere_half_space(double radius, talus_dvec3 away, double s, double margin,
                                       tl_point *out) {
  if (!(s - radius <= margin))
    return 0;
  *out = tl_sphere_point(radius, s, away, 0);
  return 1;
}

/* Signed distance of the place x from the surface of a solid box of half edges h[3], in the box's
 * own axes, and its unit gradient. Inside, the nearest face counts; of equally near ones the first
 * axis, and of its two sides the positive one. */
TL_FN double tl_box_distance(const double h[3], const double x[3], double away[3]) {
  double out[3], square = 0;
  for (int i = 0; i < 3; ++i) {
    const double excess = fabs(x[i]) - h[i];
    out[i] = excess > 0 ? (x[i] < 0 ? -excess : excess) : 0;
    square += out[i] * out[i];
  }
  if (square > DBL_MIN) {
    const double s = sqrt(square);
    for (int i = 0; i < 3; ++i)
      away[i] = out[i] / s;
    return s;
  }
  int nearest = 0;
  for (int i = 1; i < 3; ++i)
    if (h[i] - fabs(x[i]) < h[nearest] - fabs(x[nearest]))
      nearest = i;
  for (int i = 0; i < 3; ++i)
    away[i] = 0;
  away[nearest] = x[nearest] < 0 ? -1 : 1;
  return fabs(x[nearest]) - h[nearest];
}

/* `position`, `frame`, `half`: centre, axes and half edges of the box. The feature on the box is
 * always 0: numbers of faces, edges and vertices would change while the sphere rolls, and its
 * impulse would be lost with the key. */
TL_FN int tl_collide_sphere_box(double radius, talus_dvec3 position, const tl_frame *frame,
                                talus_dvec3 half, double margin, tl_point *out) {
  const talus_dvec3 centre = tl_frame_to_local(frame, tl_dscale(position, -1));
  const double h[3] = {half.x, half.y, half.z}, x[3] = {centre.x, centre.y, centre.z};
  double away[3];
  const double s = tl_box_distance(h, x, away);
  if (!(s - radius <= margin))
    return 0;
  *out =
      tl_sphere_point(radius, s, tl_frame_to_world(frame, tl_dvec3(away[0], away[1], away[2])), 0);
  return 1;
}

#endif
