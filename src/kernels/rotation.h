/* Kernels: the free rotation of one rigid body.
 *
 * Euler's equations in body axes, stepped explicitly or with an implicit gyroscopic term, gain or
 * lose a third of the energy of a tumbling body in minutes. The splitting of Dullweber, Leimkuhler
 * and McLachlan (1997) does not: the kinetic energy is the sum of L_k^2/(2 I_k) over the principal
 * axes, the flow of each term alone is a rotation about that axis at the constant rate L_k/I_k, and
 * five such rotations, x y z y x for h/2 h/2 h h/2 h/2, make a symmetric, symplectic step of order
 * 2 that keeps the world's angular momentum exactly and bounds the energy error for ever.
 *
 * What is exact is done exactly: a body with three equal moments turns at constant spin, and one
 * with two (cylinder, capsule, spheroid) turns about L at |L|/I while it spins about its axis:
 * those two flows commute. */
#ifndef TL_KERNELS_ROTATION_H
#define TL_KERNELS_ROTATION_H

#include "kernels/quat.h"

/* Turns a body by `angle` about its own axis k; (k, u, v) is a cyclic order of the axes. The
 * quaternion is multiplied from the right; the angular momentum, fixed in the world, turns the
 * other way in body axes. */
TL_FN void tl_axis_turn(talus_real angle, talus_real *lu, talus_real *lv, talus_real *qw,
                        talus_real *qk, talus_real *qu, talus_real *qv) {
  talus_real c, s;
  tl_half_angle(angle * angle, &c, &s);
  s *= angle;
  const talus_real cos_full = 1 - 2 * s * s, sin_full = 2 * s * c;
  const talus_real u = *lu, v = *lv;
  *lu = cos_full * u + sin_full * v;
  *lv = cos_full * v - sin_full * u;
  const talus_real w = *qw, k = *qk, a = *qu, b = *qv;
  *qw = w * c - k * s;
  *qk = k * c + w * s;
  *qu = a * c + b * s;
  *qv = b * c - a * s;
}

TL_FN void tl_turn_x(talus_quat *q, talus_vec3 *l, talus_real rate, talus_real h) {
  tl_axis_turn(h * rate * l->x, &l->y, &l->z, &q->w, &q->x, &q->y, &q->z);
}
TL_FN void tl_turn_y(talus_quat *q, talus_vec3 *l, talus_real rate, talus_real h) {
  tl_axis_turn(h * rate * l->y, &l->z, &l->x, &q->w, &q->y, &q->z, &q->x);
}
TL_FN void tl_turn_z(talus_quat *q, talus_vec3 *l, talus_real rate, talus_real h) {
  tl_axis_turn(h * rate * l->z, &l->x, &l->y, &q->w, &q->z, &q->x, &q->y);
}

/* Symmetric top: both moments across the axis have the inverse `across`; `extra` is the angle about
 * the body's axis that is not already part of the turn about L. */
TL_FN talus_quat tl_symmetric_turn(talus_quat q, talus_vec3 l_world, talus_real across,
                                   talus_vec3 extra, talus_real h) {
  const talus_quat world = tl_quat_from_rotation_vector(tl_scale(l_world, h * across));
  const talus_quat body = tl_quat_from_rotation_vector(tl_scale(extra, h));
  return tl_quat_mul(tl_quat_mul(world, q), body);
}

/* Advances the rotation *q and the WORLD-frame angular velocity *spin_world [rad/s] of a body with
 * principal moments `inertia` [kg m2] by h [s], without torque.
 *
 * The angular momentum is computed once, in the world, and put back at the end: what the splitting
 * rounds off goes into q, never into L. What remains is a random walk of about 2 eps a step. (It
 * was a drift until the last line divided by the moments: with a rounded inverse, I * (1/I) is off
 * by the same amount, with the same sign, in every step.) Equal moments: the spin is not touched,
 * not by a bit. An axis with moment 0 (a rod without thickness) carries no spin: such spin is
 * dropped. */
TL_FN void tl_free_rotation(talus_quat *q, talus_vec3 *spin_world, talus_vec3 inertia,
                            talus_real h) {
  if (inertia.x == inertia.y && inertia.y == inertia.z) {
    const talus_quat turn = tl_quat_from_rotation_vector(tl_scale(*spin_world, h));
    *q = tl_quat_renormalize(tl_quat_mul(turn, *q));
    return;
  }
  const talus_vec3 inverse = tl_vec3(inertia.x > 0 ? 1 / inertia.x : 0, //
                                     inertia.y > 0 ? 1 / inertia.y : 0, //
                                     inertia.z > 0 ? 1 / inertia.z : 0);
  talus_quat p = *q;
  talus_vec3 l = tl_mul(inertia, tl_quat_unrotate(p, *spin_world));
  const talus_vec3 l_world = tl_quat_rotate(p, l);
  if (inertia.y == inertia.z && inertia.y > 0) {
    const talus_vec3 extra = tl_vec3(l.x * (inverse.x - inverse.y), 0, 0);
    p = tl_symmetric_turn(p, l_world, inverse.y, extra, h);
  } else if (inertia.z == inertia.x && inertia.z > 0) {
    const talus_vec3 extra = tl_vec3(0, l.y * (inverse.y - inverse.z), 0);
    p = tl_symmetric_turn(p, l_world, inverse.z, extra, h);
  } else if (inertia.x == inertia.y && inertia.x > 0) {
    const talus_vec3 extra = tl_vec3(0, 0, l.z * (inverse.z - inverse.x));
    p = tl_symmetric_turn(p, l_world, inverse.x, extra, h);
  } else {
    const talus_real half = TL_R(0.5) * h;
    tl_turn_x(&p, &l, inverse.x, half);
    tl_turn_y(&p, &l, inverse.y, half);
    tl_turn_z(&p, &l, inverse.z, h);
    tl_turn_y(&p, &l, inverse.y, half);
    tl_turn_x(&p, &l, inverse.x, half);
  }
  p = tl_quat_renormalize(p);
  l = tl_quat_unrotate(p, l_world);
  *q = p;
  *spin_world = tl_quat_rotate(p, tl_vec3(inertia.x > 0 ? l.x / inertia.x : 0, //
                                          inertia.y > 0 ? l.y / inertia.y : 0, //
                                          inertia.z > 0 ? l.z / inertia.z : 0));
}

#endif
