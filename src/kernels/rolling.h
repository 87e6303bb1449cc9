/* Kernels: a contact that passes on torque too: rolling and spinning resistance.
 *
 * Beside the impulse g on body b there is a torque impulse T on b (its opposite on a), against the
 * relative spin w = w_b - w_a. With n the normal, T = T_n n + T_t (Tasora and Anitescu 2013, "A
 * complementarity-based rolling friction model for rigid contacts", Meccanica 48, 1643-1659):
 *
 *   |g_t| <= mu g_n,   |T_t| <= rolling g_n,   |T_n| <= spinning g_n        (rolling, spinning: m)
 *
 * That is one convex cone in six dimensions. The arithmetic of a visit is written once, in
 * rolling_visit.h, for a real here and a vector of reals in the CPU's sweep: the bits are the same.
 */
#ifndef TL_KERNELS_ROLLING_H
#define TL_KERNELS_ROLLING_H

#include "kernels/ccp.h"

/* One visit with a real as the number. */
#define NUMBER             talus_real
#define TRUTH              int
#define NUMBER_SQRT(x)     tl_sqrt(x)
#define SELECT(test, a, b) ((test) ? (a) : (b))
#define ANY(test)          (test)
#define VISIT(name)        tl_ccp_##name
#include "kernels/rolling_visit.h"
#undef NUMBER
#undef TRUTH
#undef NUMBER_SQRT
#undef SELECT
#undef ANY
#undef VISIT

typedef tl_ccp_wrench_law tl_roll_law;

/* An impulse and a torque impulse; or a relative velocity and a relative spin. */
typedef struct tl_wrench {
  talus_vec3 impulse, torque;
} tl_wrench;

TL_FN tl_ccp_vec tl_roll_vec(talus_vec3 v) {
  tl_ccp_vec r;
  r.x = v.x;
  r.y = v.y;
  r.z = v.z;
  return r;
}

TL_FN tl_ccp_wrench tl_roll_number(tl_wrench p) {
  tl_ccp_wrench r;
  r.impulse = tl_roll_vec(p.impulse);
  r.torque = tl_roll_vec(p.torque);
  return r;
}

TL_FN tl_wrench tl_roll_wrench(tl_ccp_wrench p) {
  tl_wrench r;
  r.impulse = tl_vec3(p.impulse.x, p.impulse.y, p.impulse.z);
  r.torque = tl_vec3(p.torque.x, p.torque.y, p.torque.z);
  return r;
}

/* v, shortened to the length `most` if it is longer. */
TL_FN talus_vec3 tl_roll_cut(talus_vec3 v, talus_real length, talus_real most) {
  return length > most ? tl_scale(v, most / length) : v;
}

/* The nearest point of the cone in the metric of the law's steps. */
TL_FN tl_wrench tl_roll_project(tl_wrench y, talus_vec3 n, const tl_roll_law *law) {
  const talus_real gn = tl_dot(y.impulse, n), tn = tl_dot(y.torque, n);
  tl_ccp_wrench_parts parts;
  parts.gn = gn;
  parts.tn = tn;
  parts.gt = tl_roll_vec(tl_madd(y.impulse, -gn, n));
  parts.tt = tl_roll_vec(tl_madd(y.torque, -tn, n));
  return tl_roll_wrench(tl_ccp_wrench_project(parts, tl_roll_vec(n), law));
}

/* The wrench after one step, from p, relative velocities u and the normal bias. */
TL_FN tl_wrench tl_roll_step(tl_wrench p, tl_wrench u, talus_vec3 n, talus_real bias,
                             const tl_roll_law *law, const int is_ncp) {
  return tl_roll_wrench(
      tl_ccp_wrench_step(tl_roll_number(p), tl_roll_number(u), tl_roll_vec(n), bias, law, is_ncp));
}

/* Squared length of a difference of wrenches in velocity units, m2/s2. */
TL_FN talus_real tl_roll_length2(tl_wrench change, talus_vec3 n, const tl_roll_law *law) {
  return tl_ccp_wrench_length2(tl_roll_number(change), tl_roll_vec(n), law);
}

/* The natural-map residual, m/s. */
TL_FN talus_real tl_roll_residual(tl_wrench p, tl_wrench u, talus_vec3 n, talus_real bias,
                                  const tl_roll_law *law, const int is_ncp) {
  return tl_ccp_wrench_residual(tl_roll_number(p), tl_roll_number(u), tl_roll_vec(n), bias, law,
                                is_ncp);
}

#endif
