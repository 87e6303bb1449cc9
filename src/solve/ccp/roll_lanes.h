/* Visits of packs in which rows pass on torque, W at a time: the arithmetic of
 * kernels/rolling_visit.h with a vector as the number. Rows of the pack that do not pass on torque
 * get what sweep_lanes.h would give them. The bits are those of solve/ccp/rolling.c and
 * solve/ccp/sweep.c. */
#ifndef TL_SOLVE_CCP_ROLL_LANES_H
#define TL_SOLVE_CCP_ROLL_LANES_H

#include "solve/ccp/lanes.h"

/* The data that a visit reads. */
typedef struct pack_lanes {
  body_lanes a, b;
  lanes_vec n, arm_a, arm_b; /* arms: only if they are not radial */
  lanes reach_a, reach_b;
  lanes_wrench p;
  lane_mask rolls; /* rows that pass on torque */
  bool is_mixed;   /* not all of them do */
} pack_lanes;

INLINE lanes_wrench_law load_law(const tl_ccp_rows *rows, size_t k, size_t o) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_roll *roll = &rows->rolls[k];
  const lanes_wrench_law law = {friction_of(rows, k, o),  load(roll->rolling + o),
                                load(roll->spinning + o), load(pack->en + o),
                                load(pack->et + o),       load(roll->er + o),
                                load(roll->es + o)};
  return law;
}

INLINE pack_lanes load_pack(const tl_ccp_rows *rows, size_t k, size_t o, const bool radial) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_roll *roll = &rows->rolls[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  const lanes zero = {0};
  pack_lanes r;
  r.a = load_bodies(rows->bodies, pack->a + o);
  r.b = load_bodies(rows->bodies, pack->b + o);
  r.n = load_vec(&pack->normal, o);
  if (radial) {
    r.reach_a = load(pack->reach_a + o);
    r.reach_b = load(pack->reach_b + o);
  } else {
    r.arm_a = arm_of(arms ? &arms->a : NULL, pack->reach_a, o, r.n);
    r.arm_b = arm_of(arms ? &arms->b : NULL, pack->reach_b, o, r.n);
  }
  r.p.impulse = load_vec(&pack->impulse, o);
  r.p.torque = load_vec(&roll->torque, o);
  r.rolls = (load(roll->er + o) > zero) | (load(roll->es + o) > zero);
  r.is_mixed = roll->lanes != (1u << TL_CCP_LANES) - 1;
  return r;
}

INLINE lanes_wrench twist_of(const pack_lanes *s, const bool radial) {
  const lanes_wrench u = {radial ? radial_velocity(&s->a, &s->b, s->reach_a, s->reach_b, s->n)
                                 : relative_velocity(&s->a, &s->b, s->arm_a, s->arm_b),
                          {s->b.w.x - s->a.w.x, s->b.w.y - s->a.w.y, s->b.w.z - s->a.w.z}};
  return u;
}

INLINE lanes_vec select_vec(lane_mask test, lanes_vec a, lanes_vec b) {
  const lanes_vec r = {lanes_select(test, a.x, b.x), lanes_select(test, a.y, b.y),
                       lanes_select(test, a.z, b.z)};
  return r;
}

INLINE lanes_vec minus(lanes_vec a, lanes_vec b) {
  const lanes_vec r = {a.x - b.x, a.y - b.y, a.z - b.z};
  return r;
}

INLINE lanes_vec plus(lanes_vec a, lanes_vec b) {
  const lanes_vec r = {a.x + b.x, a.y + b.y, a.z + b.z};
  return r;
}

INLINE lanes_vec scaled(lanes_vec a, talus_real s) {
  const lanes_vec r = {a.x * s, a.y * s, a.z * s};
  return r;
}

/* tl_ccp_push_wrench for rows that pass on torque, tl_ccp_push_lane for the others: adding a torque
 * of 0 would turn -0 into 0. */
INLINE void push_wrench(const tl_ccp_rows *rows, const tl_ccp_pack *pack, size_t o, pack_lanes *s,
                        lanes_wrench p, const bool radial) {
  body_lanes *a = &s->a, *b = &s->b;
  if (radial) {
    push_radial(a, b, s->reach_a, s->reach_b, s->n, p.impulse);
    a->w = select_vec(s->rolls, lanes_madd(a->w, -a->inv_inertia, p.torque), a->w);
    b->w = select_vec(s->rolls, lanes_madd(b->w, b->inv_inertia, p.torque), b->w);
    store_bodies(rows->bodies, pack->a + o, a);
    store_bodies(rows->bodies, pack->b + o, b);
    return;
  }
  const lanes_vec on_a = cross_back(s->arm_a, p.impulse), on_b = cross(s->arm_b, p.impulse);
  const lanes_vec moment_a = select_vec(s->rolls, minus(on_a, p.torque), on_a);
  const lanes_vec moment_b = select_vec(s->rolls, plus(on_b, p.torque), on_b);
  if (tl_ccp_needs_tensor(rows, pack))
    push_pack(rows, pack, o, a, b, p.impulse, moment_a, moment_b, true);
  else
    push_pack(rows, pack, o, a, b, p.impulse, moment_a, moment_b, false);
}

/* The wrenches after a visit. */
INLINE lanes_wrench step_of(const tl_ccp_rows *rows, const pack_lanes *s, lanes_wrench u,
                            lanes bias, const lanes_wrench_law *law) {
  lanes_wrench fresh = lanes_wrench_step(s->p, u, s->n, bias, law, rows->ncp > 0);
  if (s->is_mixed) {
    if (!(rows->ncp > 0)) /* with ncp rows that do not roll have this impulse already */
      fresh.impulse = select_vec(
          s->rolls, fresh.impulse,
          lanes_step(s->p.impulse, u.impulse, s->n, bias, law->friction, law->en, law->et, 0));
    fresh.torque = select_vec(s->rolls, fresh.torque, s->p.torque);
  }
  return fresh;
}

INLINE lanes roll_and_push(const tl_ccp_rows *rows, size_t k, size_t o, const bool radial) {
  tl_ccp_pack *pack = &rows->packs[k];
  tl_ccp_roll *roll = &rows->rolls[k];
  pack_lanes s = load_pack(rows, k, o, radial);
  const lanes_wrench_law law = load_law(rows, k, o);
  const lanes_wrench fresh = step_of(rows, &s, twist_of(&s, radial), load(pack->bias + o), &law);
  const lanes_wrench change = {minus(fresh.impulse, s.p.impulse), minus(fresh.torque, s.p.torque)};
  const lanes zero = {0};
  store_vec(&pack->impulse, o, fresh.impulse);
  store_vec(&roll->torque, o, fresh.torque);
  push_wrench(rows, pack, o, &s, change, radial);
  lanes moved = lanes_wrench_length2(change, s.n, &law);
  if (s.is_mixed)
    moved =
        lanes_select(s.rolls, moved, lanes_dot(change.impulse, change.impulse) * unit_of(pack, o));
  return lanes_select(law.en > zero, moved, zero);
}

INLINE lanes push_share(const tl_ccp_rows *rows, size_t k, size_t o, talus_real share,
                        const bool radial) {
  const tl_ccp_pack *pack = &rows->packs[k];
  pack_lanes s = load_pack(rows, k, o, radial);
  const lanes_wrench some = {scaled(s.p.impulse, share), scaled(s.p.torque, share)};
  const lanes_wrench before = twist_of(&s, radial);
  push_wrench(rows, pack, o, &s, some, radial);
  const lanes_wrench after = twist_of(&s, radial);
  const lanes pushed =
      lanes_work(s.p.impulse, before.impulse, after.impulse, s.n, load(pack->bias + o));
  const lanes both = lanes_dot(s.p.torque, before.torque) + lanes_dot(s.p.torque, after.torque);
  return lanes_select(s.rolls, pushed + both * TL_R(0.5), pushed);
}

INLINE void prefetch_rolls(const tl_ccp_rows *rows, size_t k) {
  const char *roll = (const char *)&rows->rolls[k + 8];
  for (size_t line = 0; line < sizeof(tl_ccp_roll); line += 64)
    __builtin_prefetch(roll + line, 1);
}

/* Visits a pack; returns the squared changes in velocity units. */
static __attribute__((noinline)) void sweep_rolls(const tl_ccp_rows *rows, size_t k,
                                                  talus_real moved[TL_CCP_LANES]) {
  const bool radial = tl_ccp_is_radial(rows);
  prefetch_rolls(rows, k);
  for (size_t o = 0; o < TL_CCP_LANES; o += W)
    store(moved + o, radial ? roll_and_push(rows, k, o, true) : roll_and_push(rows, k, o, false));
}

/* Applies a share of the impulses that rows start with; adds their work. */
static __attribute__((noinline)) void warm_rolls(const tl_ccp_rows *rows, size_t k,
                                                 talus_real share, talus_real work[TL_CCP_LANES]) {
  const bool radial = tl_ccp_is_radial(rows);
  prefetch_rolls(rows, k);
  for (size_t o = 0; o < TL_CCP_LANES; o += W)
    store(work + o,
          radial ? push_share(rows, k, o, share, true) : push_share(rows, k, o, share, false));
}

INLINE lanes residual_of(const tl_ccp_rows *rows, size_t k, size_t o, const bool radial) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const pack_lanes s = load_pack(rows, k, o, radial);
  const lanes_wrench_law law = load_law(rows, k, o);
  const lanes_wrench u = twist_of(&s, radial);
  const lanes bias = load(pack->bias + o);
  const lanes all = lanes_wrench_residual(s.p, u, s.n, bias, &law, rows->ncp > 0);
  if (!s.is_mixed)
    return all;
  return lanes_select(s.rolls, all,
                      lanes_residual(s.p.impulse, u.impulse, s.n, bias, law.friction, law.en,
                                     law.et, rows->ncp > 0));
}

static __attribute__((noinline)) void residual_rolls(const tl_ccp_rows *rows, size_t k,
                                                     talus_real r[TL_CCP_LANES]) {
  const bool radial = tl_ccp_is_radial(rows);
  for (size_t o = 0; o < TL_CCP_LANES; o += W)
    store(r + o, residual_of(rows, k, o, radial));
}

#endif
