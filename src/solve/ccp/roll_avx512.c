/* Visits of packs in which rows pass on torque, eight at a time, with AVX-512: the arithmetic of
 * kernels/rolling_visit.h with a vector of eight as the number. Rows of the pack that do not pass
 * on torque get what solve/ccp/sweep_avx512.c would give them. The bits are those of
 * solve/ccp/rolling.c and solve/ccp/sweep.c.
 *
 * This file is compiled for AVX-512 (CMakeLists.txt); it runs only where the processor has it. */
#include "solve/ccp/rows.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include "solve/ccp/lanes.h"

/* What a visit reads. */
typedef struct pack_lanes {
  body_lanes a, b;
  lanes_vec n, arm_a, arm_b; /* arms: where they are not radial */
  lanes reach_a, reach_b;
  lanes_wrench p;
  lane_mask rolls; /* rows that pass on torque */
  bool is_mixed;   /* not all of them do */
} pack_lanes;

INLINE lanes_wrench_law load_law(const tl_ccp_pack *pack, const tl_ccp_roll *roll) {
  const lanes_wrench_law law = {load(pack->friction), load(roll->rolling), load(roll->spinning),
                                load(pack->en),       load(pack->et),      load(roll->er),
                                load(roll->es)};
  return law;
}

INLINE pack_lanes load_pack(const tl_ccp_rows *rows, size_t k, const bool radial) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_roll *roll = &rows->rolls[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  const lanes zero = {0};
  pack_lanes r;
  r.a = load_bodies(rows->bodies, pack->a);
  r.b = load_bodies(rows->bodies, pack->b);
  r.n = load_vec(&pack->normal);
  if (radial) {
    r.reach_a = load(pack->reach_a);
    r.reach_b = load(pack->reach_b);
  } else {
    r.arm_a = arm_of(arms ? &arms->a : NULL, pack->reach_a, r.n);
    r.arm_b = arm_of(arms ? &arms->b : NULL, pack->reach_b, r.n);
  }
  r.p.impulse = load_vec(&pack->impulse);
  r.p.torque = load_vec(&roll->torque);
  r.rolls = (load(roll->er) > zero) | (load(roll->es) > zero);
  r.is_mixed = roll->lanes != (1u << W) - 1;
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

/* tl_ccp_push_wrench where a row passes on torque, tl_ccp_push_lane elsewhere: adding a torque of 0
 * would turn -0 into 0. */
INLINE void push_wrench(const tl_ccp_rows *rows, const tl_ccp_pack *pack, pack_lanes *s,
                        lanes_wrench p, const bool radial) {
  body_lanes *a = &s->a, *b = &s->b;
  if (radial) {
    push_radial(a, b, s->reach_a, s->reach_b, s->n, p.impulse);
    a->w = select_vec(s->rolls, lanes_madd(a->w, -a->inv_inertia, p.torque), a->w);
    b->w = select_vec(s->rolls, lanes_madd(b->w, b->inv_inertia, p.torque), b->w);
    store_bodies(rows->bodies, pack->a, a);
    store_bodies(rows->bodies, pack->b, b);
    return;
  }
  const lanes_vec on_a = cross_back(s->arm_a, p.impulse), on_b = cross(s->arm_b, p.impulse);
  const lanes_vec moment_a = select_vec(s->rolls, minus(on_a, p.torque), on_a);
  const lanes_vec moment_b = select_vec(s->rolls, plus(on_b, p.torque), on_b);
  if (tl_ccp_needs_tensor(rows, pack))
    push_pack(rows, pack, a, b, p.impulse, moment_a, moment_b, true);
  else
    push_pack(rows, pack, a, b, p.impulse, moment_a, moment_b, false);
}

/* The wrenches after a visit. */
INLINE lanes_wrench step_of(const tl_ccp_rows *rows, const pack_lanes *s, lanes_wrench u,
                            lanes bias, const lanes_wrench_law *law) {
  lanes_wrench fresh = lanes_wrench_step(s->p, u, s->n, bias, law, rows->ncp > 0);
  if (s->is_mixed) {
    if (!(rows->ncp > 0)) /* with ncp impulses are the same */
      fresh.impulse = select_vec(
          s->rolls, fresh.impulse,
          lanes_step(s->p.impulse, u.impulse, s->n, bias, law->friction, law->en, law->et, 0));
    fresh.torque = select_vec(s->rolls, fresh.torque, s->p.torque);
  }
  return fresh;
}

INLINE void sweep(const tl_ccp_rows *rows, size_t k, talus_real moved[W], const bool radial) {
  tl_ccp_pack *pack = &rows->packs[k];
  tl_ccp_roll *roll = &rows->rolls[k];
  pack_lanes s = load_pack(rows, k, radial);
  const lanes_wrench_law law = load_law(pack, roll);
  const lanes_wrench fresh = step_of(rows, &s, twist_of(&s, radial), load(pack->bias), &law);
  const lanes_wrench change = {minus(fresh.impulse, s.p.impulse), minus(fresh.torque, s.p.torque)};
  const lanes zero = {0};
  store_vec(&pack->impulse, fresh.impulse);
  store_vec(&roll->torque, fresh.torque);
  push_wrench(rows, pack, &s, change, radial);
  store(moved, lanes_select(law.en > zero, lanes_wrench_length2(change, s.n, &law), zero));
}

INLINE void warm(const tl_ccp_rows *rows, size_t k, talus_real share, talus_real work[W],
                 const bool radial) {
  const tl_ccp_pack *pack = &rows->packs[k];
  pack_lanes s = load_pack(rows, k, radial);
  const lanes_wrench some = {scaled(s.p.impulse, share), scaled(s.p.torque, share)};
  const lanes_wrench before = twist_of(&s, radial);
  push_wrench(rows, pack, &s, some, radial);
  const lanes_wrench after = twist_of(&s, radial);
  const lanes pushed =
      lanes_work(s.p.impulse, before.impulse, after.impulse, s.n, load(pack->bias));
  const lanes both = lanes_dot(s.p.torque, before.torque) + lanes_dot(s.p.torque, after.torque);
  store(work, lanes_select(s.rolls, pushed + both * TL_R(0.5), pushed));
}

INLINE void prefetch_rolls(const tl_ccp_rows *rows, size_t k) {
  const char *roll = (const char *)&rows->rolls[k + 8];
  for (size_t line = 0; line < sizeof(tl_ccp_roll); line += 64)
    __builtin_prefetch(roll + line, 1);
}

void tl_ccp_sweep_rolls_avx512(const tl_ccp_rows *rows, size_t k, talus_real moved[W]) {
  prefetch_rolls(rows, k);
  if (tl_ccp_is_radial(rows))
    sweep(rows, k, moved, true);
  else
    sweep(rows, k, moved, false);
}

void tl_ccp_warm_rolls_avx512(const tl_ccp_rows *rows, size_t k, talus_real share,
                              talus_real work[W]) {
  prefetch_rolls(rows, k);
  if (tl_ccp_is_radial(rows))
    warm(rows, k, share, work, true);
  else
    warm(rows, k, share, work, false);
}

void tl_ccp_residual_rolls_avx512(const tl_ccp_rows *rows, size_t k, talus_real r[W]) {
  const bool radial = tl_ccp_is_radial(rows);
  const tl_ccp_pack *pack = &rows->packs[k];
  const pack_lanes s = load_pack(rows, k, radial);
  const lanes_wrench_law law = load_law(pack, &rows->rolls[k]);
  const lanes_wrench u = twist_of(&s, radial);
  const lanes bias = load(pack->bias);
  lanes all = lanes_wrench_residual(s.p, u, s.n, bias, &law, rows->ncp > 0);
  if (s.is_mixed)
    all = lanes_select(s.rolls, all,
                       lanes_residual(s.p.impulse, u.impulse, s.n, bias, law.friction, law.en,
                                      law.et, rows->ncp > 0));
  store(r, all);
}

#endif
