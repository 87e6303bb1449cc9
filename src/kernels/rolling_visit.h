/* The arithmetic of one visit of a row that passes on torque, for a NUMBER that is a real or a
 * vector of reals: behind ccp_visit.h, with the same definitions. rolling.h has the laws.
 *
 * No include guard: it is included once for each NUMBER. A branch that depends on ANY lane only
 * leaves out what would change no lane, so that lanes give the bits of the scalar code. */
#ifndef NUMBER
/* If an editor or the compile check opens this file alone: the variant with a real. */
#include "kernels/rolling.h"
#else

/* Limits, and the steps that are also the metric of the projection. A step of 0: nothing turns that
 * way, and that part stays 0. */
typedef struct VISIT(wrench_law) {
  NUMBER friction, rolling, spinning;
  NUMBER en, et; /* kg */
  NUMBER er, es; /* kg m2: against rolling, against spinning */
} VISIT(wrench_law);

/* A torque impulse beside an impulse; or a relative spin beside a relative velocity. */
typedef struct VISIT(wrench) {
  VISIT(vec) impulse, torque;
} VISIT(wrench);

/* The same as parts along the normal and across it. */
typedef struct VISIT(wrench_parts) {
  NUMBER gn, tn;
  VISIT(vec) gt, tt;
} VISIT(wrench_parts);

TL_FN NUMBER VISIT(wrench_clamp)(NUMBER x, NUMBER most) {
  return SELECT(x > most, most, SELECT(x < -most, -most, x));
}

/* Adds one part to the sums of VISIT(wrench_height), if it is too long for p. */
TL_FN void VISIT(wrench_lean)(NUMBER p, NUMBER y, NUMBER c, NUMBER lean, TRUTH is_there,
                              NUMBER *weight, NUMBER *top) {
  const NUMBER zero = {0};
  const TRUTH is_long = is_there & (y > c * p);
  *weight = *weight + SELECT(is_long, c * lean, zero);
  *top = *top + SELECT(is_long, lean * y, zero);
}

/* The normal part p >= 0 of the projection: the least of
 *   (p - g_n)^2/en + sum over k of max(0, |y_k| - c_k p)^2/e_k,
 * a convex function whose derivative is concave and piecewise linear in p. Newton's method from 0,
 * where every part is too long, never goes past the root and drops at least one part per turn: it
 * is exact after four. At the root a turn changes nothing. y, c, e: of friction, rolling, spinning.
 */
TL_FN NUMBER VISIT(wrench_height)(NUMBER gn, NUMBER en, const NUMBER y[3], const NUMBER c[3],
                                  const NUMBER e[3]) {
  const NUMBER zero = {0};
  NUMBER p = zero, lean[3];
  for (int k = 0; k < 3; ++k)
    lean[k] = c[k] * en / e[k]; /* only used where e > 0 */
  for (int turn = 0; turn < 4; ++turn) {
    NUMBER weight = zero + 1, top = gn;
    for (int k = 0; k < 3; ++k)
      VISIT(wrench_lean)(p, y[k], c[k], lean[k], e[k] > zero, &weight, &top);
    const NUMBER next = top / weight, last = p;
    p = SELECT((next <= p) | (p != p), p, next); /* what is not a number stays so */
    if (!ANY(next > last))
      break;
  }
  return p;
}

/* The nearest point of the cone in the metric of the law's steps. */
TL_FN VISIT(wrench)
    VISIT(wrench_project)(VISIT(wrench_parts) y, VISIT(vec) n, const VISIT(wrench_law) * law) {
  const NUMBER zero = {0}, one = zero + 1;
  const NUMBER slip = VISIT(dot)(y.gt, y.gt), roll = VISIT(dot)(y.tt, y.tt);
  const NUMBER spin = SELECT(y.tn < zero, -y.tn, y.tn);
  const NUMBER slip_in = law->friction * y.gn, roll_in = law->rolling * y.gn;
  const TRUTH is_outside = (y.gn < zero) | (slip > slip_in * slip_in) | (roll > roll_in * roll_in) |
                           (spin > law->spinning * y.gn);
  NUMBER p = y.gn, tn = y.tn, keep_slip = one, keep_roll = one;
  if (ANY(is_outside)) {
    const NUMBER length[3] = {NUMBER_SQRT(slip), NUMBER_SQRT(roll), spin};
    const NUMBER limit[3] = {law->friction, law->rolling, law->spinning};
    const NUMBER step[3] = {law->et, law->er, law->es};
    const NUMBER height = VISIT(wrench_height)(y.gn, law->en, length, limit, step);
    const NUMBER slip_most = limit[0] * height, roll_most = limit[1] * height;
    p = SELECT(is_outside, height, p);
    tn = SELECT(is_outside, VISIT(wrench_clamp)(tn, limit[2] * height), tn);
    keep_slip = SELECT(is_outside & (length[0] > slip_most), slip_most / length[0], one);
    keep_roll = SELECT(is_outside & (length[1] > roll_most), roll_most / length[1], one);
  }
  VISIT(wrench) r;
  r.impulse = VISIT(join)(p, n, keep_slip, y.gt);
  r.torque = VISIT(join)(tn, n, keep_roll, y.tt);
  return r;
}

/* The three laws one by one, as VISIT(coulomb) has friction: the normal part that stops the
 * approach, and the others cut to what it allows. */
TL_FN VISIT(wrench)
    VISIT(wrench_stop)(VISIT(wrench_parts) y, VISIT(vec) n, const VISIT(wrench_law) * law) {
  const NUMBER zero = {0}, p = SELECT(y.gn < zero, zero, y.gn);
  const NUMBER keep = VISIT(keep)(VISIT(dot)(y.tt, y.tt), law->rolling * p);
  VISIT(wrench) r;
  r.impulse = VISIT(coulomb)(y.gn, y.gt, n, law->friction);
  r.torque = VISIT(join)(VISIT(wrench_clamp)(y.tn, law->spinning * p), n, keep, y.tt);
  return r;
}

/* The wrench after one step, from p, relative velocities u and the normal bias: by the laws one by
 * one, or projected on the cone. The impulse of the former is that of VISIT(step), bit by bit. */
TL_FN VISIT(wrench) VISIT(wrench_step)(VISIT(wrench) p, VISIT(wrench) u, VISIT(vec) n, NUMBER bias,
                                       const VISIT(wrench_law) * law, const int is_ncp) {
  const NUMBER un = VISIT(dot)(u.impulse, n), pn = VISIT(dot)(p.impulse, n);
  const NUMBER wn = VISIT(dot)(u.torque, n), tn = VISIT(dot)(p.torque, n);
  const VISIT(vec) ut = VISIT(madd)(u.impulse, -un, n), wt = VISIT(madd)(u.torque, -wn, n);
  VISIT(wrench_parts) y;
  y.gt = VISIT(madd)(VISIT(madd)(p.impulse, -pn, n), -law->et, ut);
  y.gn = pn - law->en * (un + bias);
  y.tt = VISIT(madd)(VISIT(madd)(p.torque, -tn, n), -law->er, wt);
  y.tn = tn - law->es * wn;
  VISIT(wrench) r = is_ncp ? VISIT(wrench_stop)(y, n, law) : VISIT(wrench_project)(y, n, law);
  const NUMBER zero = {0};
  const TRUTH alive = law->en > zero;
  r.impulse.x = SELECT(alive, r.impulse.x, zero);
  r.impulse.y = SELECT(alive, r.impulse.y, zero);
  r.impulse.z = SELECT(alive, r.impulse.z, zero);
  r.torque.x = SELECT(alive, r.torque.x, zero);
  r.torque.y = SELECT(alive, r.torque.y, zero);
  r.torque.z = SELECT(alive, r.torque.z, zero);
  return r;
}

/* Squared length of a difference of wrenches in velocity units, m2/s2: torques count by the radius
 * of gyration that the steps imply, so that a residual stays comparable with g h. Only for en > 0.
 */
TL_FN NUMBER VISIT(wrench_length2)(VISIT(wrench) change, VISIT(vec) n,
                                   const VISIT(wrench_law) * law) {
  const NUMBER zero = {0}, tn = VISIT(dot)(change.torque, n);
  const VISIT(vec) tt = VISIT(madd)(change.torque, -tn, n);
  NUMBER sum = VISIT(dot)(change.impulse, change.impulse) / (law->en * law->et);
  if (ANY(law->er > zero))
    sum = sum + SELECT(law->er > zero, VISIT(dot)(tt, tt) / (law->er * law->en), zero);
  if (ANY(law->es > zero))
    sum = sum + SELECT(law->es > zero, tn * tn / (law->es * law->en), zero);
  return sum;
}

/* The natural-map residual, m/s: the step with one length for all directions of the impulse, as
 * VISIT(residual) has it. 0 where nothing can move. */
TL_FN NUMBER VISIT(wrench_residual)(VISIT(wrench) p, VISIT(wrench) u, VISIT(vec) n, NUMBER bias,
                                    const VISIT(wrench_law) * law, const int is_ncp) {
  const NUMBER zero = {0}, one = zero + 1, en = law->en, et = law->et;
  const NUMBER mean = 3 * en * et / (et + 2 * en);
  const NUMBER least = SELECT(en < et, en, et);
  VISIT(wrench_law) same = *law;
  same.en = same.et = SELECT(mean < least, mean, least);
  const VISIT(wrench) moved = VISIT(wrench_step)(p, u, n, bias, &same, is_ncp);
  VISIT(wrench) change;
  change.impulse = VISIT(madd)(moved.impulse, -one, p.impulse);
  change.torque = VISIT(madd)(moved.torque, -one, p.torque);
  const NUMBER r = NUMBER_SQRT(VISIT(wrench_length2)(change, n, &same));
  return SELECT(en > zero, r, zero);
}

#endif
