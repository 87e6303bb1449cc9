/* Kernels: the common part of the geometry of contacts: a contact point, and body axes in double.
 *
 * The collide_*.h headers find where two shapes touch. They work in double in BOTH builds: a gap is
 * a small difference of large numbers (a grain of a millimetre on a floor of ten metres), and in
 * float its error would be a large part of the grain. Only the results are narrowed to talus_real.
 *
 * Everything is relative to the first body's centre of mass, in world axes. The normal points from
 * the first body to the second; the gap is negative when they overlap; the point lies midway
 * between the two surface points. Each function writes the points with gap <= margin to `out` and
 * returns how many. */
#ifndef TL_KERNELS_COLLIDE_H
#define TL_KERNELS_COLLIDE_H

#include "kernels/quat.h"

typedef struct tl_point {
  talus_dvec3 point; /* m, from the first body's centre of mass */
  talus_vec3 normal; /* unit, from the first to the second body */
  talus_real gap;    /* m, negative when penetrating */
  uint32_t feature_a, feature_b;
} tl_point;

/* Axes of a body: the columns of m turn its own coordinates into world coordinates. */
typedef struct tl_frame {
  double m[3][3];
} tl_frame;

/* A proper rotation for a q of any length but 0. A unit quaternion in float has unit length only to
 * 1e-7; without the correction a place a kilometre away would be wrong by a tenth of a
 * millimetre. */
TL_FN tl_frame tl_frame_from_quat(talus_quat q) {
  const double w = q.w, x = q.x, y = q.y, z = q.z;
  const double s = 2 / (w * w + x * x + y * y + z * z);
  const double xx = s * x * x, yy = s * y * y, zz = s * z * z;
  const double xy = s * x * y, xz = s * x * z, yz = s * y * z;
  const double wx = s * w * x, wy = s * w * y, wz = s * w * z;
  tl_frame f;
  f.m[0][0] = 1 - (yy + zz), f.m[0][1] = xy - wz, f.m[0][2] = xz + wy;
  f.m[1][0] = xy + wz, f.m[1][1] = 1 - (xx + zz), f.m[1][2] = yz - wx;
  f.m[2][0] = xz - wy, f.m[2][1] = yz + wx, f.m[2][2] = 1 - (xx + yy);
  return f;
}

TL_FN talus_dvec3 tl_frame_to_world(const tl_frame *f, talus_dvec3 v) {
  return tl_dvec3(f->m[0][0] * v.x + f->m[0][1] * v.y + f->m[0][2] * v.z,
                  f->m[1][0] * v.x + f->m[1][1] * v.y + f->m[1][2] * v.z,
                  f->m[2][0] * v.x + f->m[2][1] * v.y + f->m[2][2] * v.z);
}

TL_FN talus_dvec3 tl_frame_to_local(const tl_frame *f, talus_dvec3 v) {
  return tl_dvec3(f->m[0][0] * v.x + f->m[1][0] * v.y + f->m[2][0] * v.z,
                  f->m[0][1] * v.x + f->m[1][1] * v.y + f->m[2][1] * v.z,
                  f->m[0][2] * v.x + f->m[1][2] * v.y + f->m[2][2] * v.z);
}

/* Axis 0, 1 or 2 of the body in the world. */
TL_FN talus_dvec3 tl_frame_axis(const tl_frame *f, int axis) {
  return tl_dvec3(f->m[0][axis], f->m[1][axis], f->m[2][axis]);
}

/* Half edges of the axis-aligned box around a box of half edges `half` in this frame. */
TL_FN talus_dvec3 tl_frame_extent(const tl_frame *f, talus_dvec3 half) {
  return tl_dvec3(fabs(f->m[0][0]) * half.x + fabs(f->m[0][1]) * half.y + fabs(f->m[0][2]) * half.z,
                  fabs(f->m[1][0]) * half.x + fabs(f->m[1][1]) * half.y + fabs(f->m[1][2]) * half.z,
                  fabs(f->m[2][0]) * half.x + fabs(f->m[2][1]) * half.y +
                      fabs(f->m[2][2]) * half.z);
}

/* A contact point from one body's surface point and the gap: the other surface is `gap` away
 * against the unit vector `away`, which points to the body. */
TL_FN tl_point tl_point_at(talus_dvec3 surface, talus_dvec3 away, double gap, uint32_t feature_a,
                           uint32_t feature_b) {
  tl_point p;
  p.point = tl_dsub(surface, tl_dscale(away, 0.5 * gap));
  p.normal = tl_narrow(tl_dscale(away, -1));
  p.gap = TL_R(gap);
  p.feature_a = feature_a, p.feature_b = feature_b;
  return p;
}

#endif
