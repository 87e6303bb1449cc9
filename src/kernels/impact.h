/* Kernels: when two bodies meet within a step, and what an impact does to one contact.
 *
 * An impact is what happens at one moment: velocities change, positions do not. With u the velocity
 * of b less that of a at the point, at that moment, and K the response of the contact,
 *
 *   stop      the impulse S that ends the approach: Coulomb's law of u + K S, no restitution
 *   throw     P_n = (1 + e) S_n (Poisson), and the friction that then stops slip, |P_t| <= mu P_n
 *   weigh     the work P.(u_before + u_after)/2 must not be positive. For e = 1 without friction it
 *             is 0, however many contacts take part, because S.(u + K S) = 0 (Smith, Kaufman,
 *             Vouga, Tamstorf and Grinspun 2012, 4: the generalised reflection). Where coefficients
 *             differ or friction moves the normal it can be positive: P is then drawn back
 *             towards S until it is 0.
 *
 * Several contacts at one moment are visited in turn until nothing changes. */
#ifndef TL_KERNELS_IMPACT_H
#define TL_KERNELS_IMPACT_H

#include "kernels/ccp.h"
#include "kernels/rolling.h"

/* en = 0: nothing can move along the normal. */
typedef struct tl_impact_row {
  talus_vec3 normal, arm_a, arm_b; /* at the moment of the impact */
  talus_vec3 load_change;          /* m/s: what loads change of u from mid-step to that moment */
  talus_vec3 before;               /* u at that moment, before it */
  talus_vec3 impulse;              /* N s on b */
  talus_vec3 soft, soft_after;     /* the impulse S without restitution, and u after it */
  talus_real friction, restitution, en, et;
  bool is_radial; /* every movable body is a ball: normal and tangential impulse do not affect each
                     other */
} tl_impact_row;

/* The two bodies; tensors are used where inv_inertia < 0. */
typedef struct tl_impact_pair {
  tl_ccp_body *a, *b;
  const tl_ccp_tensor *tensor_a, *tensor_b;
} tl_impact_pair;

/* ---- when --------------------------------------------------------------------------------- */

/* Two spheres, b at d + t u from a, `reach` the sum of their radii: the first moment after `from`
 * at which they touch and approach. If they overlap they touch at once. False: they do not meet. */
TL_FN bool tl_impact_meet(talus_vec3 d, talus_vec3 u, talus_real reach, talus_real from,
                          talus_real *when) {
  const talus_vec3 x = tl_madd(d, from, u);
  const talus_real approach = -tl_dot(x, u);
  if (!(approach > 0))
    return false;
  const talus_real far = tl_length(x);
  const talus_real beyond = (far - reach) * (far + reach);
  *when = from;
  if (beyond <= 0)
    return true;
  const talus_real square = approach * approach - tl_length2(u) * beyond;
  if (!(square >= 0))
    return false;
  *when = from + beyond / (approach + tl_sqrt(square));
  return true;
}

/* A meeting: where and when a contact closes. */
typedef struct tl_impact_meeting {
  talus_vec3 normal, arm_a, arm_b; /* at that moment */
  talus_real when, speed;          /* s after t0; m/s along the normal, negative */
} tl_impact_meeting;

/* The meeting of two such spheres, `spare` before they touch; normal and arms are those of the
 * moment. False too where they approach by less than `least` (m/s). */
TL_FN bool tl_impact_meet_spheres(talus_vec3 d, talus_vec3 u, talus_real radius_a,
                                  talus_real radius_b, talus_real spare, talus_real from,
                                  talus_real least, tl_impact_meeting *m) {
  const talus_real touching = radius_a + radius_b;
  /* The speed along the line of centres can only fall until then. */
  const talus_vec3 x = tl_madd(d, from, u);
  const talus_real approach = -tl_dot(x, u);
  if (!(approach > 0 && approach * approach > least * least * tl_length2(x)))
    return false;
  if (!tl_impact_meet(d, u, touching + spare, from, &m->when))
    return false;
  const talus_vec3 there = tl_madd(d, m->when, u);
  const talus_real far = tl_length(there);
  if (far > 0)
    m->normal = tl_scale(there, 1 / far);
  m->arm_a = tl_scale(m->normal, radius_a + (far - touching) / 2);
  m->arm_b = tl_scale(m->normal, -radius_b - (far - touching) / 2);
  m->speed = tl_dot(m->normal, u);
  return m->speed < 0; /* rounding error: spheres that graze do not approach */
}

/* The same for surfaces that are plane: the gap is gap + t speed. */
TL_FN bool tl_impact_close(talus_real gap, talus_real speed, talus_real from, talus_real *when) {
  const talus_real left = gap + from * speed;
  if (!(speed < 0))
    return false;
  *when = left > 0 ? from + left / -speed : from;
  return true;
}

/* ---- one contact -------------------------------------------------------------------------- */

TL_FN talus_vec3 tl_impact_velocity(const tl_impact_pair *pair, const tl_impact_row *row) {
  const talus_vec3 u = tl_sub(tl_ccp_point_velocity(pair->b, row->arm_b),
                              tl_ccp_point_velocity(pair->a, row->arm_a));
  return tl_add(u, row->load_change);
}

TL_FN void tl_impact_push(const tl_impact_pair *pair, const tl_impact_row *row, talus_vec3 p) {
  if (pair->a->inv_mass > 0)
    tl_ccp_push(pair->a, pair->tensor_a, row->arm_a, tl_neg(p));
  if (pair->b->inv_mass > 0)
    tl_ccp_push(pair->b, pair->tensor_b, row->arm_b, p);
}

TL_FN tl_sym3 tl_impact_response(const tl_ccp_body *body, const tl_ccp_tensor *tensor,
                                 talus_vec3 arm) {
  const talus_real m = body->inv_mass, i = body->inv_inertia;
  if (i < 0)
    return tl_point_response(tensor->inv_mass, tensor->inv_inertia, arm);
  return tl_point_response(tl_vec3(m, m, m), tl_sym3_diagonal(tl_vec3(i, i, i)), arm);
}

/* Fills the steps of the row and the velocities before the impact; the impulse is 0. */
TL_FN void tl_impact_begin(const tl_impact_pair *pair, tl_impact_row *row) {
  row->impulse = tl_vec3(0, 0, 0);
  row->before = tl_impact_velocity(pair, row);
  if (row->is_radial) {
    const talus_real m = pair->a->inv_mass + pair->b->inv_mass;
    row->en = 1 / m;
    row->et = 1 / (m + pair->a->inv_inertia * tl_length2(row->arm_a) +
                   pair->b->inv_inertia * tl_length2(row->arm_b));
    return;
  }
  tl_step_metric(tl_sym3_add(tl_impact_response(pair->a, pair->tensor_a, row->arm_a),
                             tl_impact_response(pair->b, pair->tensor_b, row->arm_b)),
                 row->normal, &row->en, &row->et);
}

/* Friction that stops slip, within what the normal impulse allows. Returns the change, m/s. */
TL_FN talus_real tl_impact_rub(const tl_impact_pair *pair, tl_impact_row *row) {
  if (!(row->friction > 0 && row->et > 0))
    return 0;
  const talus_vec3 n = row->normal, u = tl_impact_velocity(pair, row);
  const talus_real pn = tl_dot(row->impulse, n);
  const talus_vec3 had = tl_madd(row->impulse, -pn, n);
  const talus_vec3 want = tl_madd(had, -row->et, tl_madd(u, -tl_dot(u, n), n));
  /* For a contact that parts, rounding may leave a normal impulse slightly below 0. */
  const talus_real most = row->friction * tl_max(pn, 0);
  const talus_vec3 step = tl_sub(tl_roll_cut(want, tl_length(want), most), had);
  row->impulse = tl_add(row->impulse, step);
  tl_impact_push(pair, row, step);
  return tl_length(step) / row->et;
}

/* The normal impulse that ends the approach, then friction. Returns the change, m/s. */
TL_FN talus_real tl_impact_stop(const tl_impact_pair *pair, tl_impact_row *row) {
  if (!(row->en > 0))
    return 0;
  const talus_vec3 n = row->normal;
  const talus_real pn = tl_dot(row->impulse, n);
  const talus_real step = tl_max(pn - row->en * tl_dot(tl_impact_velocity(pair, row), n), 0) - pn;
  row->impulse = tl_madd(row->impulse, step, n);
  tl_impact_push(pair, row, tl_scale(n, step));
  return tl_max(tl_abs(step) / row->en, tl_impact_rub(pair, row));
}

/* Keeps the impulse that stopped the approach, and adds restitution. */
TL_FN void tl_impact_keep(const tl_impact_pair *pair, tl_impact_row *row) {
  row->soft = row->impulse;
  row->soft_after = tl_impact_velocity(pair, row);
}
TL_FN void tl_impact_throw(const tl_impact_pair *pair, tl_impact_row *row) {
  const talus_vec3 more =
      tl_scale(row->normal, row->restitution * tl_dot(row->impulse, row->normal));
  row->impulse = tl_add(row->impulse, more);
  tl_impact_push(pair, row, more);
}

/* ---- energy ------------------------------------------------------------------------------- */

/* Sums over the contacts of one moment, J: the work of the soft impulse, the work of the whole
 * impulse, half of the soft impulse's effect on itself, and the second difference between the
 * two. */
typedef struct tl_impact_work {
  talus_real soft, whole, bend, given, inertia;
} tl_impact_work;

TL_FN void tl_impact_weigh(const tl_impact_pair *pair, const tl_impact_row *row,
                           tl_impact_work *work) {
  const talus_vec3 after = tl_impact_velocity(pair, row);
  work->soft += tl_dot(row->soft, tl_add(row->before, row->soft_after)) / 2;
  work->whole += tl_dot(row->impulse, tl_add(row->before, after)) / 2;
  work->bend += tl_dot(tl_sub(row->impulse, row->soft), tl_sub(after, row->soft_after)) / 2;
  work->given += tl_dot(row->soft, row->before);
  work->inertia += tl_dot(row->soft, tl_sub(row->soft_after, row->before)) / 2;
}

/* The shares of the impulses that make no energy: P = S + share (P - S); or, if the stopping phase
 * has not converged and would itself make energy, P = keep S. */
TL_FN void tl_impact_allow(const tl_impact_work *work, talus_real *share, talus_real *keep) {
  *share = *keep = 1;
  if (work->whole <= 0)
    return;
  *share = 0;
  if (work->soft > 0) {
    *keep = work->inertia > 0 ? tl_clamp(-work->given / work->inertia, 0, 1) : TL_R(0);
    return;
  }
  /* soft + slope s + bend s^2 = 0 has one root between 0 and 1: it is <= 0 at 0 and > 0 at 1. */
  const talus_real slope = work->whole - work->soft - work->bend;
  const talus_real root = tl_sqrt(tl_max(slope * slope - 4 * work->bend * work->soft, 0));
  if (slope + root > 0)
    *share = tl_clamp(-2 * work->soft / (slope + root), 0, 1);
}

/* Removes the other shares from the bodies. */
TL_FN void tl_impact_draw_back(const tl_impact_pair *pair, tl_impact_row *row, talus_real share,
                               talus_real keep) {
  const talus_vec3 more = tl_sub(row->impulse, row->soft);
  const talus_vec3 p = tl_madd(tl_scale(row->soft, keep), share, more);
  tl_impact_push(pair, row, tl_sub(p, row->impulse));
  row->impulse = p;
}

#endif
