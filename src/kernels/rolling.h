/* Kernels: a contact that passes on torque too: rolling and spinning resistance.
 *
 * Beside the impulse g on body b there is a torque impulse T on b (its opposite on a), against the
 * relative spin w = w_b - w_a. With n the normal, T = T_n n + T_t (Tasora and Anitescu 2013, "A
 * complementarity-based rolling friction model for rigid contacts", Meccanica 48, 1643-1659):
 *
 *   |g_t| <= mu g_n,   |T_t| <= rolling g_n,   |T_n| <= spinning g_n        (rolling, spinning: m)
 *
 * That is one convex cone in six dimensions. */
#ifndef TL_KERNELS_ROLLING_H
#define TL_KERNELS_ROLLING_H

#include "kernels/mat3.h"

/* An impulse and a torque impulse; or a relative velocity and a relative spin. */
typedef struct tl_wrench {
  talus_vec3 impulse, torque;
} tl_wrench;

/* Limits, and the steps that are also the metric of the projection. A step of 0: nothing turns that
 * way, and that part stays 0. */
typedef struct tl_roll_law {
  talus_real friction, rolling, spinning;
  talus_real en, et; /* kg */
  talus_real er, es; /* kg m2: against rolling, against spinning */
} tl_roll_law;

/* The normal part p >= 0 of the projection: the least of
 *   (p - g_n)^2/en + sum over k of max(0, |y_k| - c_k p)^2/e_k,
 * a convex function whose derivative is concave and piecewise linear in p. Newton's method from 0,
 * where every part is too long, never goes past the root and drops at least one part per turn: it
 * is exact after four. */
TL_FN talus_real tl_roll_height(talus_real gn, talus_real en, const talus_real y[3],
                                const talus_real c[3], const talus_real e[3]) {
  talus_real p = 0;
  for (int turn = 0; turn < 4; ++turn) {
    talus_real weight = 1, top = gn;
    for (int k = 0; k < 3; ++k)
      if (e[k] > 0 && y[k] > c[k] * p) {
        const talus_real lean = c[k] * en / e[k];
        weight += c[k] * lean;
        top += lean * y[k];
      }
    const talus_real next = top / weight;
    if (!(next > 0))
      return next <= 0 ? TL_R(0) : next; /* what is not a number stays so */
    if (next <= p)
      return p;
    p = next;
  }
  return p;
}

/* v, cut to the length `most`. */
TL_FN talus_vec3 tl_roll_cut(talus_vec3 v, talus_real length, talus_real most) {
  return length > most ? tl_scale(v, most / length) : v;
}

/* The nearest point of the cone in the metric of the law's steps. */
TL_FN tl_wrench tl_roll_project(tl_wrench y, talus_vec3 n, const tl_roll_law *law) {
  const talus_real gn = tl_dot(y.impulse, n), tn = tl_dot(y.torque, n);
  const talus_vec3 gt = tl_madd(y.impulse, -gn, n), tt = tl_madd(y.torque, -tn, n);
  const talus_real length[3] = {tl_length(gt), tl_length(tt), tl_abs(tn)};
  const talus_real limit[3] = {law->friction, law->rolling, law->spinning};
  const talus_real step[3] = {law->et, law->er, law->es};
  const talus_real p = tl_roll_height(gn, law->en, length, limit, step);
  const talus_real spin = length[2] > limit[2] * p ? (tn > 0 ? limit[2] : -limit[2]) * p : tn;
  tl_wrench r;
  r.impulse = tl_madd(tl_roll_cut(gt, length[0], limit[0] * p), p, n);
  r.torque = tl_madd(tl_roll_cut(tt, length[1], limit[1] * p), spin, n);
  return r;
}

/* The three laws one by one, as VISIT(coulomb) of ccp_visit.h has friction: the normal part that
 * stops the approach, and the others cut to what it allows. */
TL_FN tl_wrench tl_roll_stop(tl_wrench y, talus_vec3 n, const tl_roll_law *law) {
  const talus_real gn = tl_dot(y.impulse, n), tn = tl_dot(y.torque, n), p = gn < 0 ? TL_R(0) : gn;
  const talus_vec3 gt = tl_madd(y.impulse, -gn, n), tt = tl_madd(y.torque, -tn, n);
  const talus_real most = law->spinning * p;
  tl_wrench r;
  r.impulse = tl_madd(tl_roll_cut(gt, tl_length(gt), law->friction * p), p, n);
  r.torque = tl_madd(tl_roll_cut(tt, tl_length(tt), law->rolling * p),
                     tn > most ? most : (tn < -most ? -most : tn), n);
  return r;
}

/* The wrench after one step, from p, relative velocities u and the normal bias: by the laws one by
 * one, or projected on the cone. */
TL_FN tl_wrench tl_roll_step(tl_wrench p, tl_wrench u, talus_vec3 n, talus_real bias,
                             const tl_roll_law *law, const int is_ncp) {
  const talus_real un = tl_dot(u.impulse, n), wn = tl_dot(u.torque, n);
  tl_wrench y;
  y.impulse =
      tl_madd(tl_madd(p.impulse, -law->et, tl_madd(u.impulse, -un, n)), -law->en * (un + bias), n);
  y.torque = tl_madd(tl_madd(p.torque, -law->er, tl_madd(u.torque, -wn, n)), -law->es * wn, n);
  if (!(law->en > 0)) {
    y.impulse = y.torque = tl_vec3(0, 0, 0);
    return y;
  }
  return is_ncp ? tl_roll_stop(y, n, law) : tl_roll_project(y, n, law);
}

/* Squared length of a difference of wrenches in velocity units, m2/s2: torques count by the radius
 * of gyration that the steps imply, so that a residual stays comparable with g h. */
TL_FN talus_real tl_roll_length2(tl_wrench change, talus_vec3 n, const tl_roll_law *law) {
  const talus_real tn = tl_dot(change.torque, n);
  const talus_real tt2 = tl_length2(tl_madd(change.torque, -tn, n));
  talus_real sum = tl_length2(change.impulse) / (law->en * law->et);
  if (law->er > 0)
    sum += tt2 / (law->er * law->en);
  if (law->es > 0)
    sum += tn * tn / (law->es * law->en);
  return sum;
}

/* The natural-map residual, m/s: the step with one length for all directions of the impulse, as
 * tl_ccp_residual has it. */
TL_FN talus_real tl_roll_residual(tl_wrench p, tl_wrench u, talus_vec3 n, talus_real bias,
                                  const tl_roll_law *law, const int is_ncp) {
  if (!(law->en > 0))
    return 0;
  const talus_real mean = 3 * law->en * law->et / (law->et + 2 * law->en);
  tl_roll_law same = *law;
  same.en = same.et = tl_min(mean, tl_min(law->en, law->et));
  const tl_wrench moved = tl_roll_step(p, u, n, bias, &same, is_ncp);
  const tl_wrench change = {tl_sub(moved.impulse, p.impulse), tl_sub(moved.torque, p.torque)};
  return tl_sqrt(tl_roll_length2(change, n, &same));
}

#endif
