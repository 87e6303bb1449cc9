/* A step of all rows from the same velocities, W at a time (gradient.h). The bits are those of
 * solve/ccp/product.c. */
#ifndef TL_SOLVE_CCP_STEP_LANES_H
#define TL_SOLVE_CCP_STEP_LANES_H

#include "solve/ccp/gradient.h"
#include "solve/ccp/roll_lanes.h"
#include "solve/ccp/sweep_lanes.h"

/* One step length for all directions of a row. */
INLINE lanes short_eta(lanes en, lanes et) {
  const lanes zero = {0}, mean = 3 * en * et / (et + 2 * en);
  const lanes least = lanes_select(en < et, en, et);
  return lanes_select(en > zero, lanes_select(mean < least, mean, least), zero);
}

INLINE lanes lean_of(const tl_ccp_rows *rows, lanes mu, lanes_vec u, lanes_vec n) {
  const lanes zero = {0}, most = lanes_select(mu < 1, mu, zero + 1);
  const lanes_vec slip = lanes_madd(u, -lanes_dot(u, n), n);
  return rows->ncp * most * lanes_sqrt(lanes_dot(slip, slip));
}

/* Squared length of the part of v across the normal; `along` is its part along the normal. */
INLINE lanes across2(lanes_vec v, lanes along) {
  const lanes zero = {0}, rest = lanes_dot(v, v) - along * along;
  return lanes_select(rest > zero, rest, zero);
}

INLINE void step_pack(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t k, size_t o,
                      tl_tally sums[TL_CCP_SUMS]) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const lanes_vec n = load_vec(&pack->normal, o), p = load_vec(&def->from[k], o);
  const lanes zero = {0}, en = load(pack->en + o), et = load(pack->et + o);
  const lanes_vec u = velocity_at(rows, k, o);
  const lanes bias = load(pack->bias + o);
  lanes step_n = en, step_t = et;
  if (def->scalar)
    step_n = step_t = short_eta(en, et);
  const lanes_vec to = lanes_step(p, u, n, bias, friction_of(rows, k, o), def->scale * step_n,
                                  def->scale * step_t, rows->ncp > 0);
  store_vec(&def->to[k], o, to);
  if (def->scalar)
    return;
  const lane_mask alive = en > zero;
  const lanes_vec change = {to.x - p.x, to.y - p.y, to.z - p.z};
  const lanes_vec d = lanes_madd(u, bias + lean_of(rows, friction_of(rows, k, o), u, n), n);
  const lanes normal = lanes_dot(change, n), tangent2 = across2(change, normal);
  add_to_tally(&sums[TL_CCP_LENGTH2],
               lanes_select(alive, normal * normal / en + tangent2 / et, zero));
  add_to_tally(&sums[TL_CCP_SLOPE], lanes_select(alive, lanes_dot(d, change), zero));
  if (def->mark) {
    const lanes_vec mark = load_vec(&def->mark[k], o);
    const lanes_vec way = {to.x - mark.x, to.y - mark.y, to.z - mark.z};
    add_to_tally(&sums[TL_CCP_RESTART], lanes_select(alive, lanes_dot(d, way), zero));
  }
}

/* ---- rows that pass on torque: a field has torques behind impulses --------------------------- */

INLINE lanes_wrench load_wrench(const tl_ccp_rows *rows, const tl_ccp_field *field, size_t k,
                                size_t o) {
  const lanes_wrench w = {load_vec(&field[k], o), load_vec(&field[rows->pack_count + k], o)};
  return w;
}

INLINE lanes_wrench change_of(lanes_wrench to, lanes_wrench from) {
  const lanes_wrench r = {minus(to.impulse, from.impulse), minus(to.torque, from.torque)};
  return r;
}

/* The law with its steps times the definition's scale. */
INLINE lanes_wrench_law scaled_law(const tl_ccp_step_def *def, const lanes_wrench_law *metric) {
  const talus_real scale = def->scale;
  lanes_wrench_law law = *metric;
  law.en = scale * metric->en, law.et = scale * metric->et;
  law.er = scale * metric->er, law.es = scale * metric->es;
  if (def->scalar)
    law.en = law.et = scale * short_eta(metric->en, metric->et);
  return law;
}

/* Squared length of a change in the metric of the steps, as two doubles that are then added. */
INLINE void add_length2(tl_tally *sum, lanes_wrench change, lanes_vec n,
                        const lanes_wrench_law *metric, lane_mask rolls) {
  const lanes zero = {0}, normal = lanes_dot(change.impulse, n);
  const lanes spin = lanes_dot(change.torque, n);
  const lanes straight =
      normal * normal / metric->en + across2(change.impulse, normal) / metric->et;
  const lanes round =
      lanes_select(metric->er > zero, across2(change.torque, spin) / metric->er, zero) +
      lanes_select(metric->es > zero, spin * spin / metric->es, zero);
  const lanes first = lanes_select((metric->en > zero) | rolls, straight, zero);
  const lanes second = lanes_select(rolls, round, zero);
  for (int part = 0; part < WIDES; ++part)
    add_wide(sum, widen(first, part) + widen(second, part), part * WIDE);
}

/* d.impulse + w.torque; rows that pass on no torque omit the latter. */
INLINE lanes product_of(lanes_vec d, lanes_vec w, lanes_wrench p, lane_mask rolls,
                        lane_mask alive) {
  const lanes zero = {0}, straight = lanes_dot(d, p.impulse);
  const lanes both = straight + lanes_dot(w, p.torque);
  return lanes_select(rolls, both, lanes_select(alive, straight, zero));
}

INLINE void step_rolls(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t k, size_t o,
                       const bool radial, tl_tally sums[TL_CCP_SUMS]) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const lanes zero = {0}, bias = load(pack->bias + o);
  const lanes_vec none = {zero, zero, zero};
  pack_lanes s = load_pack(rows, k, o, radial);
  s.p = load_wrench(rows, def->from, k, o);
  const lanes_wrench_law metric = load_law(rows, k, o);
  const lanes_wrench_law law = scaled_law(def, &metric);
  const lanes_wrench u = twist_of(&s, radial);
  lanes_wrench to = step_of(rows, &s, u, bias, &law);
  to.torque = select_vec(s.rolls, to.torque, none);
  store_vec(&def->to[k], o, to.impulse);
  store_vec(&def->to[rows->pack_count + k], o, to.torque);
  if (def->scalar)
    return;
  const lanes_wrench change = change_of(to, s.p);
  const lane_mask alive = metric.en > zero;
  const lanes_vec d =
      lanes_madd(u.impulse, bias + lean_of(rows, law.friction, u.impulse, s.n), s.n);
  add_length2(&sums[TL_CCP_LENGTH2], change, s.n, &metric, s.rolls);
  add_to_tally(&sums[TL_CCP_SLOPE], product_of(d, u.torque, change, s.rolls, alive));
  if (def->mark)
    add_to_tally(
        &sums[TL_CCP_RESTART],
        product_of(d, u.torque, change_of(to, load_wrench(rows, def->mark, k, o)), s.rolls, alive));
}

static __attribute__((noinline)) void step_rolling_pack(const tl_ccp_rows *rows,
                                                        const tl_ccp_step_def *def, size_t k,
                                                        tl_tally sums[TL_CCP_SUMS]) {
  const bool radial = tl_ccp_is_radial(rows);
  for (size_t o = 0; o < TL_CCP_LANES; o += W)
    if (radial)
      step_rolls(rows, def, k, o, true, sums);
    else
      step_rolls(rows, def, k, o, false, sums);
}

static void step_packs(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t begin,
                       size_t end, tl_tally sums[TL_CCP_SUMS]) {
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(rows, k, sizeof(tl_ccp_pack));
    if (tl_ccp_rolls(rows, k)) {
      step_rolling_pack(rows, def, k, sums);
      continue;
    }
    for (size_t o = 0; o < TL_CCP_LANES; o += W)
      step_pack(rows, def, k, o, sums);
    if (rows->rolls)
      def->to[rows->pack_count + k] = (tl_ccp_field){{0}, {0}, {0}};
  }
}

#endif
