/* Visits of rows, eight at a time, with AVX-512.
 *
 * Bodies are loaded as solve/ccp/lanes.h has it; the arithmetic is that of kernels/ccp_visit.h with
 * a vector of eight as the number. No operation is fused or reordered, so the bits are those of the
 * scalar code.
 *
 * This file is compiled for AVX-512 (CMakeLists.txt); it runs only where the processor has it. */
#include "solve/ccp/gradient.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include "solve/ccp/lanes.h"

#include <math.h>

INLINE double add_each(double sum, lanes x) {
  for (int i = 0; i < W; ++i)
    sum += (double)x[i];
  return sum;
}

INLINE double add_lanes(lanes x) { return add_each(0, x); }

/* ---- packs
 * ------------------------------------------------------------------------------------------- */

/* What a visit changes: impulses of the pack, and how far they moved in velocity units. */
INLINE lanes take_step(const tl_ccp_rows *rows, tl_ccp_pack *pack, lanes_vec u, lanes_vec n,
                       lanes_vec *change) {
  const lanes_vec p = load_vec(&pack->impulse);
  const lanes en = load(pack->en), et = load(pack->et), zero = {0};
  const lanes_vec fresh =
      lanes_step(p, u, n, load(pack->bias), load(pack->friction), en, et, rows->ncp > 0);
  store_vec(&pack->impulse, fresh);
  change->x = fresh.x - p.x;
  change->y = fresh.y - p.y;
  change->z = fresh.z - p.z;
  return lanes_select(en > zero, lanes_dot(*change, *change) / (en * et), zero);
}

INLINE lanes sweep_pack(const tl_ccp_rows *rows, size_t k, const bool by_tensor) {
  tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  body_lanes a = load_bodies(rows->bodies, pack->a), b = load_bodies(rows->bodies, pack->b);
  const lanes_vec n = load_vec(&pack->normal);
  const lanes_vec arm_a = arm_of(arms ? &arms->a : NULL, pack->reach_a, n);
  const lanes_vec arm_b = arm_of(arms ? &arms->b : NULL, pack->reach_b, n);
  lanes_vec change;
  const lanes moved = take_step(rows, pack, relative_velocity(&a, &b, arm_a, arm_b), n, &change);
  push_pack(rows, pack, &a, &b, change, cross_back(arm_a, change), cross(arm_b, change), by_tensor);
  return moved;
}

INLINE lanes_vec share_of(lanes_vec p, talus_real share) {
  const lanes_vec r = {p.x * share, p.y * share, p.z * share};
  return r;
}

INLINE lanes warm_pack(const tl_ccp_rows *rows, size_t k, talus_real share, const bool by_tensor) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  body_lanes a = load_bodies(rows->bodies, pack->a), b = load_bodies(rows->bodies, pack->b);
  const lanes_vec n = load_vec(&pack->normal), all = load_vec(&pack->impulse);
  const lanes_vec arm_a = arm_of(arms ? &arms->a : NULL, pack->reach_a, n);
  const lanes_vec arm_b = arm_of(arms ? &arms->b : NULL, pack->reach_b, n);
  const lanes_vec before = relative_velocity(&a, &b, arm_a, arm_b), p = share_of(all, share);
  push_pack(rows, pack, &a, &b, p, cross_back(arm_a, p), cross(arm_b, p), by_tensor);
  return lanes_work(all, before, relative_velocity(&a, &b, arm_a, arm_b), n, load(pack->bias));
}

/* Arms along the normal (tl_ccp_is_radial): one cross product does for both bodies. */
INLINE lanes sweep_radial(const tl_ccp_rows *rows, size_t k) {
  tl_ccp_pack *pack = &rows->packs[k];
  body_lanes a = load_bodies(rows->bodies, pack->a), b = load_bodies(rows->bodies, pack->b);
  const lanes_vec n = load_vec(&pack->normal);
  const lanes reach_a = load(pack->reach_a), reach_b = load(pack->reach_b);
  lanes_vec change;
  const lanes moved =
      take_step(rows, pack, radial_velocity(&a, &b, reach_a, reach_b, n), n, &change);
  push_radial(&a, &b, reach_a, reach_b, n, change);
  store_bodies(rows->bodies, pack->a, &a);
  store_bodies(rows->bodies, pack->b, &b);
  return moved;
}

INLINE lanes warm_radial(const tl_ccp_rows *rows, size_t k, talus_real share) {
  const tl_ccp_pack *pack = &rows->packs[k];
  body_lanes a = load_bodies(rows->bodies, pack->a), b = load_bodies(rows->bodies, pack->b);
  const lanes reach_a = load(pack->reach_a), reach_b = load(pack->reach_b);
  const lanes_vec n = load_vec(&pack->normal), all = load_vec(&pack->impulse);
  const lanes_vec before = radial_velocity(&a, &b, reach_a, reach_b, n);
  push_radial(&a, &b, reach_a, reach_b, n, share_of(all, share));
  store_bodies(rows->bodies, pack->a, &a);
  store_bodies(rows->bodies, pack->b, &b);
  return lanes_work(all, before, radial_velocity(&a, &b, reach_a, reach_b, n), n, load(pack->bias));
}

/* tl_ccp_lane_velocity. */
INLINE lanes_vec velocity_of(const tl_ccp_rows *rows, size_t k) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  const lanes_vec n = load_vec(&pack->normal);
  const body_lanes a = load_bodies(rows->bodies, pack->a), b = load_bodies(rows->bodies, pack->b);
  return tl_ccp_is_radial(rows)
             ? radial_velocity(&a, &b, load(pack->reach_a), load(pack->reach_b), n)
             : relative_velocity(&a, &b, arm_of(arms ? &arms->a : NULL, pack->reach_a, n),
                                 arm_of(arms ? &arms->b : NULL, pack->reach_b, n));
}

INLINE lanes residual_pack(const tl_ccp_rows *rows, size_t k) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const lanes_vec n = load_vec(&pack->normal);
  return lanes_residual(load_vec(&pack->impulse), velocity_of(rows, k), n, load(pack->bias),
                        load(pack->friction), load(pack->en), load(pack->et), rows->ncp > 0);
}

/* Packs in which rows pass on torque. */
INLINE lanes sweep_rolls(const tl_ccp_rows *rows, size_t k) {
  talus_real moved[W];
  tl_ccp_sweep_rolls_avx512(rows, k, moved);
  return load(moved);
}

INLINE lanes warm_rolls(const tl_ccp_rows *rows, size_t k, talus_real share) {
  talus_real work[W];
  tl_ccp_warm_rolls_avx512(rows, k, share, work);
  return load(work);
}

INLINE lanes residual_rolls(const tl_ccp_rows *rows, size_t k) {
  talus_real r[W];
  tl_ccp_residual_rolls_avx512(rows, k, r);
  return load(r);
}

/* Packs stream through once a sweep, and the bodies of one are far apart: both are asked for early,
 * packs long before their bodies, whose numbers are in them. */
INLINE void prefetch_ahead(const tl_ccp_rows *rows, size_t k) {
  const char *pack = (const char *)&rows->packs[k + 8];
  for (size_t line = 0; line < sizeof(tl_ccp_pack); line += 64)
    __builtin_prefetch(pack + line, 1);
  if (k + 3 >= rows->pack_count)
    return;
  const tl_ccp_pack *near = &rows->packs[k + 3];
  for (int i = 0; i < W; ++i) {
    __builtin_prefetch(&rows->bodies[near->a[i]], 1);
    __builtin_prefetch(&rows->bodies[near->b[i]], 1);
  }
}

double tl_ccp_sweep_packs_avx512(const tl_ccp_rows *rows, size_t begin, size_t end) {
  const bool radial = tl_ccp_is_radial(rows);
  double sum = 0;
  lanes moved = {0};
  for (size_t k = begin; k < end; ++k) {
    tl_ccp_pack *pack = &rows->packs[k];
    prefetch_ahead(rows, k);
    if (tl_ccp_rolls(rows, k)) {
      const lanes change = sweep_rolls(rows, k);
      if (tl_ccp_needs_tensor(rows, pack))
        sum = add_each(sum, change);
      else
        moved += change;
    } else if (radial) {
      moved += sweep_radial(rows, k);
    } else if (tl_ccp_needs_tensor(rows, pack)) {
      sum = add_each(sum, sweep_pack(rows, k, true));
    } else {
      moved += sweep_pack(rows, k, false);
    }
  }
  return sum + add_lanes(moved);
}

INLINE lanes warm_any(const tl_ccp_rows *rows, size_t k, talus_real share, const bool radial) {
  if (tl_ccp_rolls(rows, k))
    return warm_rolls(rows, k, share);
  if (radial)
    return warm_radial(rows, k, share);
  return tl_ccp_needs_tensor(rows, &rows->packs[k]) ? warm_pack(rows, k, share, true)
                                                    : warm_pack(rows, k, share, false);
}

double tl_ccp_warm_packs_avx512(const tl_ccp_rows *rows, size_t begin, size_t end,
                                talus_real share) {
  const bool radial = tl_ccp_is_radial(rows);
  double sum = 0;
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(rows, k);
    sum += add_lanes(warm_any(rows, k, share, radial));
  }
  return sum;
}

void tl_ccp_tally_work_avx512(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum) {
  const bool radial = tl_ccp_is_radial(rows);
  for (size_t k = begin; k < end; ++k)
    add_to_tally(sum, widen(warm_any(rows, k, 0, radial)));
}

double tl_ccp_residual_packs_avx512(const tl_ccp_rows *rows, size_t begin, size_t end,
                                    double *most) {
  double sum = 0;
  *most = 0;
  for (size_t k = begin; k < end; ++k) {
    const lanes r = tl_ccp_rolls(rows, k) ? residual_rolls(rows, k) : residual_pack(rows, k);
    sum += add_lanes(r * r);
    for (int i = 0; i < W; ++i)
      *most = fmax(*most, (double)r[i]);
  }
  return sum;
}

void tl_ccp_tally_residuals_avx512(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum,
                                   double *most) {
  lanes largest = {0};
  for (size_t k = begin; k < end; ++k) {
    const lanes r = tl_ccp_rolls(rows, k) ? residual_rolls(rows, k) : residual_pack(rows, k);
    add_to_tally(sum, widen(r * r));
    largest = lanes_select(r > largest, r, largest);
  }
  for (int i = 0; i < W; ++i)
    *most = fmax(*most, (double)largest[i]);
}

/* ---- position correction (solve/ccp/correct.c)
 * ------------------------------------------------------------------------------------------- */

/* tl_impulse_target. */
INLINE lanes find_target(const tl_ccp_aim *aim, lanes gap) {
  const lanes zero = {0}, beyond = -gap - aim->slop;
  const lanes part = aim->share * beyond, most = zero + aim->h * aim->recovery_speed;
  const lanes near = gap + lanes_select(part < most, part, most);
  return lanes_select(beyond > zero, near, zero - aim->slop);
}

void tl_ccp_aim_packs_avx512(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t begin,
                             size_t end, uint8_t *deep) {
  const talus_real h = aim->h;
  const lanes zero = {0};
  const lanes_vec none = {zero, zero, zero};
  for (size_t k = begin; k < end; ++k) {
    tl_ccp_pack *pack = &rows->packs[k];
    const uint32_t first = rows->pack_row[k], count = rows->pack_row[k + 1] - first;
    prefetch_ahead(rows, k);
    const lanes_vec u = velocity_of(rows, k);
    const lanes gap = load(&rows->gaps[k * W]);
    const lanes ahead = gap + h * lanes_dot(u, load_vec(&pack->normal));
    const lanes target = find_target(aim, lanes_select(gap > ahead, gap, ahead));
    const unsigned is_deep = lanes_mask(gap < zero - TL_CCP_DEEP_SLOPS * aim->slop);
    const unsigned sinks = lanes_mask(ahead < target);
    store(pack->bias, (ahead - target) / h);
    store(pack->friction, zero);
    store_vec(&pack->impulse, none);
    for (uint32_t i = 0; i < count; ++i)
      deep[first + i] =
          (uint8_t)((is_deep >> i & 1 ? TL_CCP_DEEP : 0) | (sinks >> i & 1 ? TL_CCP_SINKING : 0));
  }
}

/* ---- a step of all rows from the same velocities (solve/ccp/product.c)
 * ------------------------------------------------------------------------------------------- */

INLINE void step_pack(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t k,
                      tl_tally sums[TL_CCP_SUMS]) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const lanes_vec n = load_vec(&pack->normal), p = load_vec(&def->from[k]);
  const lanes zero = {0}, en = load(pack->en), et = load(pack->et);
  const lanes_vec u = velocity_of(rows, k);
  const lanes bias = load(pack->bias);
  lanes step_n = en, step_t = et;
  if (def->scalar) {
    const lanes mean = 3 * en * et / (et + 2 * en);
    const lanes least = lanes_select(en < et, en, et);
    step_n = step_t = lanes_select(en > zero, lanes_select(mean < least, mean, least), zero);
  }
  const lanes_vec to = lanes_step(p, u, n, bias, load(pack->friction), def->scale * step_n,
                                  def->scale * step_t, rows->ncp > 0);
  memcpy(def->to[k].x, &to.x, sizeof to.x);
  memcpy(def->to[k].y, &to.y, sizeof to.y);
  memcpy(def->to[k].z, &to.z, sizeof to.z);
  const lane_mask alive = en > zero;
  const lanes_vec change = {to.x - p.x, to.y - p.y, to.z - p.z};
  const lanes_vec slip = lanes_madd(u, -lanes_dot(u, n), n);
  const lanes mu = load(pack->friction), most = lanes_select(mu < 1, mu, zero + 1);
  const lanes lean = rows->ncp * most * lanes_sqrt(lanes_dot(slip, slip));
  const lanes_vec d = lanes_madd(u, bias + lean, n);
  const lanes normal = lanes_dot(change, n), rest = lanes_dot(change, change) - normal * normal;
  const lanes tangent2 = lanes_select(rest > zero, rest, zero);
  add_to_tally(&sums[TL_CCP_LENGTH2],
               widen(lanes_select(alive, normal * normal / en + tangent2 / et, zero)));
  add_to_tally(&sums[TL_CCP_SLOPE], widen(lanes_select(alive, lanes_dot(d, change), zero)));
  if (def->mark) {
    const lanes_vec mark = load_vec(&def->mark[k]);
    const lanes_vec way = {to.x - mark.x, to.y - mark.y, to.z - mark.z};
    add_to_tally(&sums[TL_CCP_LEAD], widen(lanes_select(alive, lanes_dot(d, way), zero)));
  }
}

void tl_ccp_step_packs_avx512(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t begin,
                              size_t end, tl_tally sums[TL_CCP_SUMS]) {
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(rows, k);
    step_pack(rows, def, k, sums);
  }
}

#else

void tl_ccp_aim_packs_avx512(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t begin,
                             size_t end, uint8_t *deep) {
  tl_ccp_aim_packs_scalar(rows, aim, begin, end, deep);
}

void tl_ccp_step_packs_avx512(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t begin,
                              size_t end, tl_tally sums[TL_CCP_SUMS]) {
  tl_ccp_step_packs_scalar(rows, def, begin, end, sums);
}

void tl_ccp_tally_residuals_avx512(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum,
                                   double *most) {
  (void)rows, (void)begin, (void)end, (void)sum, (void)most;
}

void tl_ccp_tally_work_avx512(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum) {
  (void)rows, (void)begin, (void)end, (void)sum;
}

double tl_ccp_sweep_packs_avx512(const tl_ccp_rows *rows, size_t begin, size_t end) {
  return tl_ccp_sweep_packs_scalar(rows, begin, end);
}

double tl_ccp_warm_packs_avx512(const tl_ccp_rows *rows, size_t begin, size_t end,
                                talus_real share) {
  return tl_ccp_warm_packs_scalar(rows, begin, end, share);
}

double tl_ccp_residual_packs_avx512(const tl_ccp_rows *rows, size_t begin, size_t end,
                                    double *most) {
  return tl_ccp_residual_packs_scalar(rows, begin, end, most);
}

#endif
