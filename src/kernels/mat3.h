/* Kernels: 3x3 matrices, general (rotations) and symmetric (inertia, contact response). */
#ifndef TL_KERNELS_MAT3_H
#define TL_KERNELS_MAT3_H

#include "kernels/quat.h"

/* m[row][column] */
typedef struct tl_mat3 {
  talus_real m[3][3];
} tl_mat3;

typedef struct tl_sym3 {
  talus_real xx, yy, zz, xy, xz, yz;
} tl_sym3;

/* ---- general ------------------------------------------------------------------------------ */

/* The matrix of tl_quat_rotate; its columns are the body's axes in the world. */
TL_FN tl_mat3 tl_mat3_from_quat(talus_quat q) {
  const talus_real x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
  const talus_real xx = q.x * x2, yy = q.y * y2, zz = q.z * z2;
  const talus_real xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
  const talus_real wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  tl_mat3 r;
  r.m[0][0] = 1 - (yy + zz), r.m[0][1] = xy - wz, r.m[0][2] = xz + wy;
  r.m[1][0] = xy + wz, r.m[1][1] = 1 - (xx + zz), r.m[1][2] = yz - wx;
  r.m[2][0] = xz - wy, r.m[2][1] = yz + wx, r.m[2][2] = 1 - (xx + yy);
  return r;
}

TL_FN talus_vec3 tl_mat3_mul_vec(tl_mat3 a, talus_vec3 v) {
  return tl_vec3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                 a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                 a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}

/* Transpose times vector: for a rotation, world to body. */
TL_FN talus_vec3 tl_mat3_tmul_vec(tl_mat3 a, talus_vec3 v) {
  return tl_vec3(a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z,
                 a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
                 a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z);
}

TL_FN tl_mat3 tl_mat3_mul(tl_mat3 a, tl_mat3 b) {
  tl_mat3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
  return c;
}

TL_FN tl_mat3 tl_mat3_transpose(tl_mat3 a) {
  tl_mat3 t;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      t.m[i][j] = a.m[j][i];
  return t;
}

/* ---- symmetric ---------------------------------------------------------------------------- */

TL_FN tl_sym3 tl_sym3_diagonal(talus_vec3 d) {
  tl_sym3 s;
  s.xx = d.x, s.yy = d.y, s.zz = d.z;
  s.xy = 0, s.xz = 0, s.yz = 0;
  return s;
}

TL_FN tl_sym3 tl_sym3_add(tl_sym3 a, tl_sym3 b) {
  tl_sym3 s;
  s.xx = a.xx + b.xx, s.yy = a.yy + b.yy, s.zz = a.zz + b.zz;
  s.xy = a.xy + b.xy, s.xz = a.xz + b.xz, s.yz = a.yz + b.yz;
  return s;
}

TL_FN tl_sym3 tl_sym3_scale(tl_sym3 a, talus_real f) {
  tl_sym3 s;
  s.xx = a.xx * f, s.yy = a.yy * f, s.zz = a.zz * f;
  s.xy = a.xy * f, s.xz = a.xz * f, s.yz = a.yz * f;
  return s;
}

TL_FN talus_vec3 tl_sym3_mul_vec(tl_sym3 a, talus_vec3 v) {
  return tl_vec3(a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
                 a.xz * v.x + a.yz * v.y + a.zz * v.z);
}

TL_FN talus_real tl_sym3_trace(tl_sym3 a) { return a.xx + a.yy + a.zz; }

/* Largest row sum of absolute values: never below the largest absolute eigenvalue. */
TL_FN talus_real tl_sym3_norm_inf(tl_sym3 a) {
  const talus_real xy = tl_abs(a.xy), xz = tl_abs(a.xz), yz = tl_abs(a.yz);
  return tl_max(tl_max(tl_abs(a.xx) + xy + xz, tl_abs(a.yy) + xy + yz), tl_abs(a.zz) + xz + yz);
}

/* Cofactors: a * adjugate(a) = det(a) * identity. */
TL_FN tl_sym3 tl_sym3_adjugate(tl_sym3 a) {
  tl_sym3 s;
  s.xx = a.yy * a.zz - a.yz * a.yz;
  s.yy = a.xx * a.zz - a.xz * a.xz;
  s.zz = a.xx * a.yy - a.xy * a.xy;
  s.xy = a.xz * a.yz - a.xy * a.zz;
  s.xz = a.xy * a.yz - a.xz * a.yy;
  s.yz = a.xy * a.xz - a.yz * a.xx;
  return s;
}

/* R diag(principal) R^T with R the rotation of q: a body tensor in world axes. Three equal
 * principal values give exactly that multiple of the identity, whatever q. */
TL_FN tl_sym3 tl_sym3_rotated(talus_quat q, talus_vec3 principal) {
  if (principal.x == principal.y && principal.y == principal.z)
    return tl_sym3_diagonal(principal);
  const tl_mat3 r = tl_mat3_from_quat(q);
  const talus_vec3 a = tl_mul(tl_vec3(r.m[0][0], r.m[0][1], r.m[0][2]), principal);
  const talus_vec3 b = tl_mul(tl_vec3(r.m[1][0], r.m[1][1], r.m[1][2]), principal);
  const talus_vec3 c = tl_mul(tl_vec3(r.m[2][0], r.m[2][1], r.m[2][2]), principal);
  tl_sym3 s;
  s.xx = a.x * r.m[0][0] + a.y * r.m[0][1] + a.z * r.m[0][2];
  s.yy = b.x * r.m[1][0] + b.y * r.m[1][1] + b.z * r.m[1][2];
  s.zz = c.x * r.m[2][0] + c.y * r.m[2][1] + c.z * r.m[2][2];
  s.xy = a.x * r.m[1][0] + a.y * r.m[1][1] + a.z * r.m[1][2];
  s.xz = a.x * r.m[2][0] + a.y * r.m[2][1] + a.z * r.m[2][2];
  s.yz = b.x * r.m[2][0] + b.y * r.m[2][1] + b.z * r.m[2][2];
  return s;
}

/* *out = inverse of a. False, with *out untouched, where a is singular to working precision: the
 * determinant is no larger than the rounding error of its own terms. That test does not change
 * when rows and columns are scaled together, so diag(1e-20, 1, 1) is invertible, as it should be.
 * The largest entry is scaled to about 1 first: the cube of a grain's inertia is below FLT_MIN. */
TL_FN bool tl_sym3_inverse(tl_sym3 a, tl_sym3 *out) {
  const talus_real size = tl_sym3_norm_inf(a);
  if (!(size >= TL_REAL_MIN && size <= TL_REAL_MAX))
    return false;
  const talus_real unit = 1 / size;
  const tl_sym3 b = tl_sym3_scale(a, unit);
  const tl_sym3 cofactor = tl_sym3_adjugate(b);
  const talus_real det = b.xx * cofactor.xx + b.xy * cofactor.xy + b.xz * cofactor.xz;
  const talus_real terms = tl_abs(b.xx * b.yy * b.zz) + 2 * tl_abs(b.xy * b.xz * b.yz) +
                           tl_abs(b.xx) * b.yz * b.yz + tl_abs(b.yy) * b.xz * b.xz +
                           tl_abs(b.zz) * b.xy * b.xy;
  if (!(tl_abs(det) > 8 * TL_REAL_EPS * terms) || !tl_is_finite(det))
    return false;
  *out = tl_sym3_scale(cofactor, unit / det);
  return true;
}

/* Largest eigenvalue of a restricted to the plane orthogonal to the unit vector n. */
TL_FN talus_real tl_sym3_plane_eigenvalue_max(tl_sym3 a, talus_vec3 n) {
  const talus_vec3 t = tl_any_orthogonal(n), s = tl_cross(n, t);
  const talus_vec3 at = tl_sym3_mul_vec(a, t), as = tl_sym3_mul_vec(a, s);
  const talus_real tt = tl_dot(t, at), ss = tl_dot(s, as), ts = tl_dot(t, as);
  return TL_R(0.5) * (tt + ss) + tl_hypot_quick(TL_R(0.5) * (tt - ss), ts);
}

/* The column of the adjugate with the largest diagonal entry, made unit: for a singular matrix of
 * rank 2, its null vector. */
TL_FN talus_vec3 tl_sym3_null_vector(tl_sym3 a) {
  const tl_sym3 c = tl_sym3_adjugate(a);
  const talus_real x = tl_abs(c.xx), y = tl_abs(c.yy), z = tl_abs(c.zz);
  talus_vec3 v = tl_vec3(c.xz, c.yz, c.zz);
  if (x >= y && x >= z)
    v = tl_vec3(c.xx, c.xy, c.xz);
  else if (y >= z)
    v = tl_vec3(c.xy, c.yy, c.yz);
  return tl_normalize(v);
}

/* Largest eigenvalue, to a few rounding errors of norm_inf(a).
 *
 * With a = m I + p c, m = trace/3, 6 p^2 = |a - m I|^2 (Frobenius), the eigenvalues of c are
 * 2 cos(phi + 2 pi k/3), cos(3 phi) = det(c)/2 (Smith 1961). Used as it stands the formula loses
 * half the digits where the two LARGER eigenvalues meet: there det(c)/2 = -1 and the angle is the
 * square root of a rounding error. In that half of the range the smallest eigenvalue is well
 * separated, so its eigenvector is taken out and the 2x2 problem that remains is solved. */
TL_FN talus_real tl_sym3_eigenvalue_max(tl_sym3 a) {
  const talus_real size = tl_sym3_norm_inf(a);
  if (!(size >= TL_REAL_MIN))
    return size;
  tl_sym3 c = tl_sym3_scale(a, 1 / size);
  const talus_real m = tl_sym3_trace(c) / 3;
  c.xx -= m, c.yy -= m, c.zz -= m;
  const talus_real p = tl_sqrt(
      (c.xx * c.xx + c.yy * c.yy + c.zz * c.zz + 2 * (c.xy * c.xy + c.xz * c.xz + c.yz * c.yz)) /
      6);
  if (!(p > 0))
    return m * size;
  c = tl_sym3_scale(c, 1 / p);
  const tl_sym3 cofactor = tl_sym3_adjugate(c);
  const talus_real det = c.xx * cofactor.xx + c.xy * cofactor.xy + c.xz * cofactor.xz;
  const talus_real phi = tl_acos(tl_clamp(TL_R(0.5) * det, -1, 1)) / 3;
  talus_real largest = 2 * tl_cos(phi);
  if (det < 0) {
    const talus_real smallest = 2 * tl_cos(phi + TL_R(2 * TL_PI / 3));
    tl_sym3 shifted = c;
    shifted.xx -= smallest, shifted.yy -= smallest, shifted.zz -= smallest;
    largest = tl_sym3_plane_eigenvalue_max(c, tl_sym3_null_vector(shifted));
  }
  return (m + p * largest) * size;
}

/* One Jacobi rotation in the plane of axes i and j = i+1 (cyclic) that zeroes m[i][j]; the angle is
 * at most 45 degrees (Golub and Van Loan, Matrix Computations, section 8.5). Returns the body-side
 * quaternion of the rotation. */
TL_FN talus_quat tl_jacobi_turn(talus_real m[3][3], int i) {
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  const talus_real off = m[i][j];
  if (off == 0)
    return tl_quat_identity();
  const talus_real tau = (m[j][j] - m[i][i]) / (2 * off);
  const talus_real root = tl_hypot_quick(1, tau);
  const talus_real t = tau >= 0 ? 1 / (tau + root) : 1 / (tau - root);
  const talus_real c = 1 / tl_sqrt(1 + t * t), s = t * c;
  m[i][i] -= t * off;
  m[j][j] += t * off;
  m[i][j] = m[j][i] = 0;
  const talus_real ki = m[k][i], kj = m[k][j];
  m[k][i] = m[i][k] = c * ki - s * kj;
  m[k][j] = m[j][k] = s * ki + c * kj;
  /* Columns of the rotation: c e_i - s e_j and s e_i + c e_j, a turn by -asin(s) about e_k. */
  const talus_real cos_half = tl_sqrt(TL_R(0.5) * (1 + c)), sin_half = -s / (2 * cos_half);
  return tl_quat(cos_half, k == 0 ? sin_half : 0, k == 1 ? sin_half : 0, k == 2 ? sin_half : 0);
}

/* a = R diag(values) R^T by cyclic Jacobi; R, the rotation of *rotation, is right-handed by
 * construction. The values are NOT sorted: no single rotation exceeds 45 degrees, so that axes stay
 * near those of a, and a diagonal matrix gives its own entries and the identity exactly. */
TL_FN void tl_sym3_eigen(tl_sym3 a, talus_vec3 *values, talus_quat *rotation) {
  const talus_real size = tl_sym3_norm_inf(a);
  talus_real m[3][3];
  m[0][0] = a.xx, m[1][1] = a.yy, m[2][2] = a.zz;
  m[0][1] = m[1][0] = a.xy, m[0][2] = m[2][0] = a.xz, m[1][2] = m[2][1] = a.yz;
  talus_quat q = tl_quat_identity();
  /* Convergence is quadratic: 5 sweeps do in practice, 16 bound the loop. */
  for (int sweep = 0; sweep < 16; ++sweep) {
    const talus_real off = tl_abs(m[0][1]) + tl_abs(m[0][2]) + tl_abs(m[1][2]);
    if (!(off > TL_R(0.01) * TL_REAL_EPS * size))
      break;
    for (int i = 0; i < 3; ++i)
      q = tl_quat_mul(q, tl_jacobi_turn(m, i));
    q = tl_quat_normalize(q);
  }
  *values = tl_vec3(m[0][0], m[1][1], m[2][2]);
  *rotation = q;
}

/* World-frame inverse inertia restricted to the rotations that are not locked: with E the free
 * axes, W = E (E^T J E)^-1 E^T. Locked rows and columns become those of the identity, then zero. */
TL_FN tl_sym3 tl_free_inverse_inertia(talus_quat q, talus_vec3 inertia, bool lock_x, bool lock_y,
                                      bool lock_z) {
  tl_sym3 j = tl_sym3_rotated(q, inertia), w = tl_sym3_diagonal(tl_vec3(0, 0, 0));
  if (lock_x)
    j.xx = 1, j.xy = 0, j.xz = 0;
  if (lock_y)
    j.yy = 1, j.xy = 0, j.yz = 0;
  if (lock_z)
    j.zz = 1, j.xz = 0, j.yz = 0;
  if (!tl_sym3_inverse(j, &w))
    return w;
  if (lock_x)
    w.xx = 0;
  if (lock_y)
    w.yy = 0;
  if (lock_z)
    w.zz = 0;
  return w;
}

#endif
