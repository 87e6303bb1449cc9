/* Kernels: rotations as unit quaternions (w, x, y, z), body coordinates to world coordinates.
 *
 * tl_quat_mul(a, b) turns by b first, then by a. So a rotation vector in WORLD axes goes on the
 * left, exp(v) q, and one in BODY axes on the right, q exp(v): putting body rates on the left is
 * the classical mistake. */
#ifndef TL_KERNELS_QUAT_H
#define TL_KERNELS_QUAT_H

#include "kernels/vec3.h"

TL_FN talus_quat tl_quat(talus_real w, talus_real x, talus_real y, talus_real z) {
  talus_quat q;
  q.w = w, q.x = x, q.y = y, q.z = z;
  return q;
}

TL_FN talus_quat tl_quat_identity(void) { return tl_quat(1, 0, 0, 0); }

TL_FN talus_quat tl_quat_conj(talus_quat q) { return tl_quat(q.w, -q.x, -q.y, -q.z); }

TL_FN talus_real tl_quat_dot(talus_quat a, talus_quat b) {
  return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

TL_FN talus_quat tl_quat_mul(talus_quat a, talus_quat b) {
  return tl_quat(
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

/* q / |q|; the zero quaternion, which is no rotation at all, becomes the identity. */
TL_FN talus_quat tl_quat_normalize(talus_quat q) {
  talus_real square = tl_quat_dot(q, q);
  if (!(square > TL_REAL_MIN / TL_REAL_EPS && square < TL_REAL_MAX)) {
    const talus_real big =
        tl_max(tl_max(tl_abs(q.w), tl_abs(q.x)), tl_max(tl_abs(q.y), tl_abs(q.z)));
    if (!(big > 0))
      return tl_quat_identity();
    q = tl_quat(q.w / big, q.x / big, q.y / big, q.z / big);
    square = tl_quat_dot(q, q);
  }
  const talus_real length = tl_sqrt(square);
  return tl_quat(q.w / length, q.x / length, q.y / length, q.z / length);
}

/* Restores the unit length of a quaternion that is off by rounding errors only, with one Newton
 * step. Not tl_quat_normalize: lengths between 1 - eps/4 and 1 + eps/2 round to 1, so division
 * leaves an error whose mean is not 0, and a spinning body then gains momentum with every step. */
TL_FN talus_quat tl_quat_renormalize(talus_quat q) {
  const talus_real defect = (((1 - q.w * q.w) - q.x * q.x) - q.y * q.y) - q.z * q.z;
  const talus_real k = TL_R(0.5) * defect;
  return tl_quat(q.w + k * q.w, q.x + k * q.x, q.y + k * q.y, q.z + k * q.z);
}

/* Body to world: v + 2w (u x v) + 2 u x (u x v), u the vector part. q must be of unit length. */
TL_FN talus_vec3 tl_quat_rotate(talus_quat q, talus_vec3 v) {
  const talus_vec3 u = tl_vec3(q.x, q.y, q.z);
  const talus_vec3 t = tl_scale(tl_cross(u, v), 2);
  return tl_add(tl_madd(v, q.w, t), tl_cross(u, t));
}

/* World to body. */
TL_FN talus_vec3 tl_quat_unrotate(talus_quat q, talus_vec3 v) {
  return tl_quat_rotate(tl_quat_conj(q), v);
}

/* cos(a/2) and sin(a/2)/a of an angle a that is given by its square. Both are smooth in a^2, so
 * there is no 0/0 at rest. Below 0.2 rad, where nearly every time step is, they come from Taylor
 * series with a remainder below 3e-17: cheaper than the general functions, and the same bits on
 * every machine that rounds as IEEE 754 says. */
TL_FN void tl_half_angle(talus_real square, talus_real *cos_half, talus_real *sin_half_over_angle) {
  if (square < TL_R(0.04)) {
    *cos_half =
        1 + square * (TL_R(-1.0 / 8) +
                      square * (TL_R(1.0 / 384) +
                                square * (TL_R(-1.0 / 46080) + square * TL_R(1.0 / 10321920))));
    *sin_half_over_angle =
        TL_R(0.5) +
        square * (TL_R(-1.0 / 48) +
                  square * (TL_R(1.0 / 3840) +
                            square * (TL_R(-1.0 / 645120) + square * TL_R(1.0 / 185794560))));
    return;
  }
  const talus_real angle = tl_sqrt(square);
  *cos_half = tl_cos(TL_R(0.5) * angle);
  *sin_half_over_angle = tl_sin(TL_R(0.5) * angle) / angle;
}

/* Turn by `angle` [rad] about a unit axis. */
TL_FN talus_quat tl_quat_from_axis_angle(talus_vec3 axis, talus_real angle) {
  const talus_real s = tl_sin(TL_R(0.5) * angle);
  return tl_quat(tl_cos(TL_R(0.5) * angle), s * axis.x, s * axis.y, s * axis.z);
}

/* exp(v): turn by |v| [rad] about v, accurate down to |v| = 0. */
TL_FN talus_quat tl_quat_from_rotation_vector(talus_vec3 v) {
  talus_real c, s;
  tl_half_angle(tl_length2(v), &c, &s);
  return tl_quat(c, s * v.x, s * v.y, s * v.z);
}

#endif
