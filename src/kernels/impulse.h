/* Kernels: sequential impulses (Catto 2006; Noble 2022, 2.1.3) for one bundle: all contacts of one
 * pair of bodies.
 *
 * A contact's impulse on body b is P = P_n n + P_t, its opposite acts on a; u is the velocity of b
 * less that of a at the point. One visit (Noble 2022, (2.17) to (2.20), with docs/sources.md D9):
 *
 *   normal    P_n <- max(P_n - e_n (u_n + bias), 0)          the SUM is clamped, not the change
 *   friction  P_t <- P_t - e_t u_t, cut to |P_t| <= mu P_n
 *
 * e_n is the effective mass along the normal; e_t that of the tangent that gives way most, because
 * isotropic friction knows no better basis. A fixed point is Coulomb's law.
 *
 * The contacts of a bundle are stepped from the same velocities and applied in one rush (4.6.4), so
 * that a box that rests on four corners is not set spinning by the first of them. Taken as they
 * are, such steps answer n times for what they share: a tall box on four corners gets four times
 * the impulse that stops it, and the iteration diverges. So all steps d of a bundle have one
 * length, the exact minimum along d of the energy that impulses leave, P.N P/2 + P.(u + bias): with
 * F and L what the steps add up to,
 *
 *   length = -d.(u + bias) / (F.M^-1 F + L.I^-1 L of both bodies).
 *
 * Position correction is the same iteration with velocities of its own, which move bodies once and
 * are then forgotten (split impulses): it has no friction, and its bias is what tl_impulse_target
 * leaves of the gap. */
#ifndef TL_KERNELS_IMPULSE_H
#define TL_KERNELS_IMPULSE_H

#include "kernels/ccp.h"
#include "kernels/rolling.h"

/* Longest step of a bundle, in steps of its contacts. Redundant contacts (a fourth corner) have
 * directions in which only rounding responds. */
#define TL_IMPULSE_LONGEST TL_R(4)

/* en = 0: nothing can move along the normal, and the row keeps the impulse 0. */
typedef struct tl_impulse_row {
  talus_vec3 normal, arm_a, arm_b, impulse;
  talus_vec3 step; /* scratch of a visit */
  talus_real bias, friction, en, et;
  talus_real weight; /* 1/(en et): squared impulses into squared velocities */
} tl_impulse_row;

/* The additional data of a row whose pair of materials resists rolling or spinning (m). */
typedef struct tl_impulse_roll {
  talus_vec3 torque; /* N m s on b */
  talus_real rolling, spinning, er, es;
} tl_impulse_roll;

/* The two bodies; tensors are used where inv_inertia < 0. */
typedef struct tl_impulse_pair {
  tl_ccp_body *a, *b;
  const tl_ccp_tensor *tensor_a, *tensor_b;
} tl_impulse_pair;

/* The sum of impulses on b, and their moments about the two centres of mass. */
typedef struct tl_impulse_rush {
  talus_vec3 push, turn_a, turn_b;
} tl_impulse_rush;

TL_FN void tl_impulse_gather(tl_impulse_rush *rush, const tl_impulse_row *row, talus_vec3 p) {
  rush->push = tl_add(rush->push, p);
  rush->turn_a = tl_add(rush->turn_a, tl_cross(row->arm_a, p));
  rush->turn_b = tl_add(rush->turn_b, tl_cross(row->arm_b, p));
}

TL_FN void tl_impulse_apply(const tl_impulse_pair *pair, const tl_impulse_rush *rush) {
  if (pair->a->inv_mass > 0)
    tl_ccp_turn(pair->a, pair->tensor_a, tl_neg(rush->push), tl_neg(rush->turn_a));
  if (pair->b->inv_mass > 0)
    tl_ccp_turn(pair->b, pair->tensor_b, rush->push, rush->turn_b);
}

/* F.M^-1 F + L.I^-1 L of one body. */
TL_FN talus_real tl_impulse_answer(const tl_ccp_body *body, const tl_ccp_tensor *tensor,
                                   talus_vec3 push, talus_vec3 turn) {
  if (!(body->inv_mass > 0))
    return 0;
  if (body->inv_inertia >= 0)
    return body->inv_mass * tl_length2(push) + body->inv_inertia * tl_length2(turn);
  return tl_dot(tl_mul(tensor->inv_mass, push), push) +
         tl_dot(tl_sym3_mul_vec(tensor->inv_inertia, turn), turn);
}

/* The length of the common step of a bundle, whose sum is `rush`: to the least energy, but not
 * beyond `most`. slope: steps times (u + bias), <= 0. */
TL_FN talus_real tl_impulse_length(const tl_impulse_pair *pair, const tl_impulse_rush *rush,
                                   talus_real slope, talus_real most) {
  const talus_real answer = tl_impulse_answer(pair->a, pair->tensor_a, rush->push, rush->turn_a) +
                            tl_impulse_answer(pair->b, pair->tensor_b, rush->push, rush->turn_b);
  if (!(answer > 0))
    return 1;
  return tl_clamp(-slope / answer, 0, tl_min(most, TL_IMPULSE_LONGEST));
}

TL_FN talus_vec3 tl_impulse_velocity(const tl_impulse_pair *pair, const tl_impulse_row *row) {
  return tl_sub(tl_ccp_point_velocity(pair->b, row->arm_b),
                tl_ccp_point_velocity(pair->a, row->arm_a));
}

/* P_n n + P_t with P_t cut to the disc of P_n. */
TL_FN talus_vec3 tl_impulse_cut(talus_vec3 tangent, talus_vec3 n, talus_real pn, talus_real mu) {
  const talus_real square = tl_length2(tangent), limit = mu * pn;
  if (square > limit * limit)
    tangent = tl_scale(tangent, limit / tl_sqrt(square));
  return tl_madd(tangent, pn, n);
}

/* Sets the impulse of the row; returns the squared change in velocity units. */
TL_FN talus_real tl_impulse_take(tl_impulse_row *row, talus_vec3 fresh, tl_impulse_rush *rush) {
  const talus_vec3 change = tl_sub(fresh, row->impulse);
  row->impulse = fresh;
  tl_impulse_gather(rush, row, change);
  return tl_length2(change) * row->weight;
}

/* A visit of the only contact between two bodies that answer the same in all directions, with arms
 * along its normal (spheres): normal and tangential impulse do not affect each other, and one
 * velocity is enough for both. */
TL_FN talus_real tl_impulse_single(const tl_impulse_pair *pair, tl_impulse_row *row) {
  if (!(row->en > 0))
    return 0;
  tl_impulse_rush rush = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const talus_vec3 u = tl_impulse_velocity(pair, row), n = row->normal;
  const talus_real un = tl_dot(u, n), pn = tl_dot(row->impulse, n);
  const talus_vec3 tangent = tl_madd(tl_madd(row->impulse, -pn, n), -row->et, tl_madd(u, -un, n));
  const talus_vec3 fresh =
      tl_impulse_cut(tangent, n, tl_max(pn - row->en * (un + row->bias), 0), row->friction);
  const talus_real sum = tl_impulse_take(row, fresh, &rush);
  tl_impulse_apply(pair, &rush);
  return sum;
}

/* The normal part of a visit. Friction beyond the disc of a smaller P_n goes with it. Returns the
 * sum of squared changes in velocity units. */
TL_FN talus_real tl_impulse_press(const tl_impulse_pair *pair, tl_impulse_row *rows, uint32_t n) {
  tl_impulse_rush rush = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  talus_real slope = 0, most = TL_IMPULSE_LONGEST, length = 1, sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    tl_impulse_row *row = &rows[i];
    const talus_real speed = tl_dot(tl_impulse_velocity(pair, row), row->normal) + row->bias;
    const talus_real pn = tl_dot(row->impulse, row->normal);
    const talus_real step = tl_max(pn - row->en * speed, 0) - pn;
    row->step.x = step;
    if (n == 1)
      break;
    slope += step * speed;
    if (step < 0)
      most = tl_min(most, pn / -step);
    tl_impulse_gather(&rush, row, tl_scale(row->normal, step));
  }
  if (n > 1)
    length = tl_impulse_length(pair, &rush, slope, most);
  rush.push = rush.turn_a = rush.turn_b = tl_vec3(0, 0, 0);
  for (uint32_t i = 0; i < n; ++i) {
    tl_impulse_row *row = &rows[i];
    if (!(row->en > 0))
      continue;
    const talus_real pn = tl_dot(row->impulse, row->normal);
    const talus_vec3 tangent = tl_madd(row->impulse, -pn, row->normal);
    sum += tl_impulse_take(
        row,
        tl_impulse_cut(tangent, row->normal, tl_max(pn + length * row->step.x, 0), row->friction),
        &rush);
  }
  tl_impulse_apply(pair, &rush);
  return sum;
}

/* The friction part of a visit. */
TL_FN talus_real tl_impulse_rub(const tl_impulse_pair *pair, tl_impulse_row *rows, uint32_t n) {
  tl_impulse_rush rush = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  talus_real slope = 0, most = TL_IMPULSE_LONGEST, length = 1, sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    tl_impulse_row *row = &rows[i];
    const talus_vec3 u = tl_impulse_velocity(pair, row);
    const talus_real pn = tl_dot(row->impulse, row->normal), limit = row->friction * pn;
    const talus_vec3 tangent = tl_madd(row->impulse, -pn, row->normal);
    const talus_vec3 ut = tl_madd(u, -tl_dot(u, row->normal), row->normal);
    const talus_vec3 want = tl_madd(tangent, -row->et, ut);
    const talus_real long_is = tl_length(want);
    row->step = tl_sub(tl_roll_cut(want, long_is, limit), tangent);
    if (long_is >= limit)
      most = 1; /* a longer step would leave the disc */
    slope += tl_dot(row->step, ut);
    tl_impulse_gather(&rush, row, row->step);
  }
  if (n > 1)
    length = tl_impulse_length(pair, &rush, slope, most);
  rush.push = rush.turn_a = rush.turn_b = tl_vec3(0, 0, 0);
  for (uint32_t i = 0; i < n; ++i) {
    tl_impulse_row *row = &rows[i];
    const talus_real pn = tl_dot(row->impulse, row->normal);
    if (!(row->en > 0) || !(pn > 0))
      continue;
    const talus_vec3 tangent = tl_madd(row->impulse, -pn, row->normal);
    sum += tl_impulse_take(
        row, tl_impulse_cut(tl_madd(tangent, length, row->step), row->normal, pn, row->friction),
        &rush);
  }
  tl_impulse_apply(pair, &rush);
  return sum;
}

/* The torque part: |T_t| <= rolling P_n, |T_n| <= spinning P_n (kernels/rolling.h). All rows see
 * the same spin, so that n of them take an nth of the step each. */
TL_FN talus_real tl_impulse_turn(const tl_impulse_pair *pair, const tl_impulse_row *rows,
                                 tl_impulse_roll *rolls, uint32_t n) {
  const talus_vec3 w = tl_sub(pair->b->w, pair->a->w);
  const talus_real share = 1 / (talus_real)n;
  tl_impulse_rush rush = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  talus_real sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    tl_impulse_roll *roll = &rolls[i];
    const talus_vec3 normal = rows[i].normal;
    if (!(rows[i].en > 0) || !(roll->rolling > 0 || roll->spinning > 0))
      continue;
    const talus_real pn = tl_max(tl_dot(rows[i].impulse, normal), 0);
    const talus_real wn = tl_dot(w, normal), tn = tl_dot(roll->torque, normal);
    const talus_vec3 wt = tl_madd(w, -wn, normal), tt = tl_madd(roll->torque, -tn, normal);
    const talus_vec3 want = tl_madd(tt, -share * roll->er, wt);
    const talus_real twist =
        tl_clamp(tn - share * roll->es * wn, -roll->spinning * pn, roll->spinning * pn);
    const talus_vec3 fresh =
        tl_madd(tl_roll_cut(want, tl_length(want), roll->rolling * pn), twist, normal);
    const talus_vec3 change = tl_sub(fresh, roll->torque);
    const tl_wrench moved = {{0, 0, 0}, change};
    const tl_roll_law law = {rows[i].friction, roll->rolling, roll->spinning, rows[i].en,
                             rows[i].et,       roll->er,      roll->es};
    roll->torque = fresh;
    rush.turn_a = tl_add(rush.turn_a, change);
    rush.turn_b = tl_add(rush.turn_b, change);
    sum += tl_roll_length2(moved, normal, &law);
  }
  tl_impulse_apply(pair, &rush);
  return sum;
}

/* The natural-map residual of a row, m/s, as tl_ccp_residual has it for Coulomb's law. roll may be
 * NULL. */
TL_FN talus_real tl_impulse_residual(const tl_impulse_pair *pair, const tl_impulse_row *row,
                                     const tl_impulse_roll *roll) {
  const talus_vec3 u = tl_impulse_velocity(pair, row);
  if (roll && (roll->rolling > 0 || roll->spinning > 0)) {
    const tl_roll_law law = {row->friction, roll->rolling, roll->spinning, row->en,
                             row->et,       roll->er,      roll->es};
    const tl_wrench p = {row->impulse, roll->torque}, twist = {u, tl_sub(pair->b->w, pair->a->w)};
    return tl_roll_residual(p, twist, row->normal, row->bias, &law, 1);
  }
  const tl_ccp_vec p = {row->impulse.x, row->impulse.y, row->impulse.z}, v = {u.x, u.y, u.z},
                   n = {row->normal.x, row->normal.y, row->normal.z};
  return tl_ccp_residual(p, v, n, row->bias, row->friction, row->en, row->et, 1);
}

/* The least gap [m] that position correction leaves at the end of a step of length h. Overlap
 * within `slop` is left alone: bodies that are pushed quite apart fall back, and rattle. Deeper
 * overlap shrinks by the share `correction` of what is beyond, no faster than `speed`. */
TL_FN talus_real tl_impulse_target(talus_real gap, talus_real h, talus_real slop,
                                   talus_real correction, talus_real speed) {
  const talus_real beyond = -gap - slop;
  if (!(beyond > 0))
    return -slop;
  return gap + tl_min(correction * beyond, h * speed);
}

#endif
