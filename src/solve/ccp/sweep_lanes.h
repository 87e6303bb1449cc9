/* Visits of rows, W at a time.
 *
 * Bodies are loaded as solve/ccp/lanes.h has it; the arithmetic is that of kernels/ccp_visit.h with
 * a vector as the number. No operation is fused or reordered, and sums run as those of sweep.c, so
 * the bits are those of the scalar code. */
#ifndef TL_SOLVE_CCP_SWEEP_LANES_H
#define TL_SOLVE_CCP_SWEEP_LANES_H

#include "solve/ccp/roll_lanes.h"

#include <math.h>

/* ---- some rows of a pack --------------------------------------------------------------------- */

/* What a visit changes: impulses of the pack, and how far they moved in velocity units. */
INLINE lanes take_step(const tl_ccp_rows *rows, tl_ccp_pack *pack, size_t o, lanes_vec u,
                       lanes_vec n, lanes_vec *change) {
  const lanes_vec p = load_vec(&pack->impulse, o);
  const lanes en = load(pack->en + o), et = load(pack->et + o), zero = {0};
  const lanes_vec fresh =
      lanes_step(p, u, n, load(pack->bias + o), load(pack->friction + o), en, et, rows->ncp > 0);
  store_vec(&pack->impulse, o, fresh);
  change->x = fresh.x - p.x;
  change->y = fresh.y - p.y;
  change->z = fresh.z - p.z;
  return lanes_select(en > zero, lanes_dot(*change, *change) / (en * et), zero);
}

INLINE lanes sweep_pack(const tl_ccp_rows *rows, size_t k, size_t o, const bool by_tensor) {
  tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  body_lanes a = load_bodies(rows->bodies, pack->a + o), b = load_bodies(rows->bodies, pack->b + o);
  const lanes_vec n = load_vec(&pack->normal, o);
  const lanes_vec arm_a = arm_of(arms ? &arms->a : NULL, pack->reach_a, o, n);
  const lanes_vec arm_b = arm_of(arms ? &arms->b : NULL, pack->reach_b, o, n);
  lanes_vec change;
  const lanes moved = take_step(rows, pack, o, relative_velocity(&a, &b, arm_a, arm_b), n, &change);
  push_pack(rows, pack, o, &a, &b, change, cross_back(arm_a, change), cross(arm_b, change),
            by_tensor);
  return moved;
}

INLINE lanes_vec share_of(lanes_vec p, talus_real share) {
  const lanes_vec r = {p.x * share, p.y * share, p.z * share};
  return r;
}

INLINE lanes warm_pack(const tl_ccp_rows *rows, size_t k, size_t o, talus_real share,
                       const bool by_tensor) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  body_lanes a = load_bodies(rows->bodies, pack->a + o), b = load_bodies(rows->bodies, pack->b + o);
  const lanes_vec n = load_vec(&pack->normal, o), all = load_vec(&pack->impulse, o);
  const lanes_vec arm_a = arm_of(arms ? &arms->a : NULL, pack->reach_a, o, n);
  const lanes_vec arm_b = arm_of(arms ? &arms->b : NULL, pack->reach_b, o, n);
  const lanes_vec before = relative_velocity(&a, &b, arm_a, arm_b), p = share_of(all, share);
  push_pack(rows, pack, o, &a, &b, p, cross_back(arm_a, p), cross(arm_b, p), by_tensor);
  return lanes_work(all, before, relative_velocity(&a, &b, arm_a, arm_b), n, load(pack->bias + o));
}

/* Arms along the normal (tl_ccp_is_radial): one cross product does for both bodies. */
INLINE lanes sweep_radial(const tl_ccp_rows *rows, size_t k, size_t o) {
  tl_ccp_pack *pack = &rows->packs[k];
  body_lanes a = load_bodies(rows->bodies, pack->a + o), b = load_bodies(rows->bodies, pack->b + o);
  const lanes_vec n = load_vec(&pack->normal, o);
  const lanes reach_a = load(pack->reach_a + o), reach_b = load(pack->reach_b + o);
  lanes_vec change;
  const lanes moved =
      take_step(rows, pack, o, radial_velocity(&a, &b, reach_a, reach_b, n), n, &change);
  push_radial(&a, &b, reach_a, reach_b, n, change);
  store_bodies(rows->bodies, pack->a + o, &a);
  store_bodies(rows->bodies, pack->b + o, &b);
  return moved;
}

INLINE lanes warm_radial(const tl_ccp_rows *rows, size_t k, size_t o, talus_real share) {
  const tl_ccp_pack *pack = &rows->packs[k];
  body_lanes a = load_bodies(rows->bodies, pack->a + o), b = load_bodies(rows->bodies, pack->b + o);
  const lanes reach_a = load(pack->reach_a + o), reach_b = load(pack->reach_b + o);
  const lanes_vec n = load_vec(&pack->normal, o), all = load_vec(&pack->impulse, o);
  const lanes_vec before = radial_velocity(&a, &b, reach_a, reach_b, n);
  push_radial(&a, &b, reach_a, reach_b, n, share_of(all, share));
  store_bodies(rows->bodies, pack->a + o, &a);
  store_bodies(rows->bodies, pack->b + o, &b);
  return lanes_work(all, before, radial_velocity(&a, &b, reach_a, reach_b, n), n,
                    load(pack->bias + o));
}

/* tl_ccp_lane_velocity. */
INLINE lanes_vec velocity_of(const tl_ccp_rows *rows, size_t k, size_t o) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  const lanes_vec n = load_vec(&pack->normal, o);
  const body_lanes a = load_bodies(rows->bodies, pack->a + o),
                   b = load_bodies(rows->bodies, pack->b + o);
  return tl_ccp_is_radial(rows)
             ? radial_velocity(&a, &b, load(pack->reach_a + o), load(pack->reach_b + o), n)
             : relative_velocity(&a, &b, arm_of(arms ? &arms->a : NULL, pack->reach_a, o, n),
                                 arm_of(arms ? &arms->b : NULL, pack->reach_b, o, n));
}

INLINE lanes residual_pack(const tl_ccp_rows *rows, size_t k, size_t o) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const lanes_vec n = load_vec(&pack->normal, o);
  return lanes_residual(load_vec(&pack->impulse, o), velocity_of(rows, k, o), n,
                        load(pack->bias + o), load(pack->friction + o), load(pack->en + o),
                        load(pack->et + o), rows->ncp > 0);
}

/* Packs stream through once a sweep, and the bodies of one are far apart: both are asked for early,
 * packs long before their bodies, whose numbers are in them. bytes: of a pack that are used. */
INLINE void prefetch_ahead(const tl_ccp_rows *rows, size_t k, const size_t bytes) {
  const char *pack = (const char *)&rows->packs[k + 8];
  for (size_t line = 0; line < bytes; line += 64)
    __builtin_prefetch(pack + line, 1);
  if (k + 3 >= rows->pack_count)
    return;
  const tl_ccp_pack *near = &rows->packs[k + 3];
  for (int i = 0; i < TL_CCP_LANES; ++i) {
    __builtin_prefetch(&rows->bodies[near->a[i]], 1);
    __builtin_prefetch(&rows->bodies[near->b[i]], 1);
  }
}

/* ---- packs ----------------------------------------------------------------------------------- */

/* A number for each row of a pack. */
#define PARTS (TL_CCP_LANES / W)
typedef struct pack_numbers {
  lanes part[PARTS];
} pack_numbers;

INLINE double add_pack(double sum, const pack_numbers *x) {
  for (int i = 0; i < PARTS; ++i)
    sum = add_each(sum, x->part[i]);
  return sum;
}

INLINE pack_numbers load_numbers(const talus_real from[TL_CCP_LANES]) {
  pack_numbers r;
  for (int i = 0; i < PARTS; ++i)
    r.part[i] = load(from + i * W);
  return r;
}

INLINE pack_numbers sweep_any(const tl_ccp_rows *rows, size_t k, const bool radial,
                              const bool by_tensor) {
  if (tl_ccp_rolls(rows, k)) {
    talus_real moved[TL_CCP_LANES];
    sweep_rolls(rows, k, moved);
    return load_numbers(moved);
  }
  pack_numbers r;
  for (size_t o = 0; o < TL_CCP_LANES; o += W)
    r.part[o / W] = radial ? sweep_radial(rows, k, o) : sweep_pack(rows, k, o, by_tensor);
  return r;
}

static double sweep_packs(const tl_ccp_rows *rows, size_t begin, size_t end) {
  const bool radial = tl_ccp_is_radial(rows);
  double sum = 0;
  pack_numbers moved = {0};
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(rows, k, sizeof(tl_ccp_pack));
    if (!radial && tl_ccp_needs_tensor(rows, &rows->packs[k])) {
      const pack_numbers change = sweep_any(rows, k, false, true);
      sum = add_pack(sum, &change);
      continue;
    }
    const pack_numbers change =
        radial ? sweep_any(rows, k, true, false) : sweep_any(rows, k, false, false);
    for (int i = 0; i < PARTS; ++i)
      moved.part[i] += change.part[i];
  }
  return sum + add_pack(0, &moved);
}

INLINE pack_numbers warm_any(const tl_ccp_rows *rows, size_t k, talus_real share,
                             const bool radial) {
  if (tl_ccp_rolls(rows, k)) {
    talus_real work[TL_CCP_LANES];
    warm_rolls(rows, k, share, work);
    return load_numbers(work);
  }
  const bool by_tensor = !radial && tl_ccp_needs_tensor(rows, &rows->packs[k]);
  pack_numbers r;
  for (size_t o = 0; o < TL_CCP_LANES; o += W)
    r.part[o / W] = radial      ? warm_radial(rows, k, o, share)
                    : by_tensor ? warm_pack(rows, k, o, share, true)
                                : warm_pack(rows, k, o, share, false);
  return r;
}

static double warm_packs(const tl_ccp_rows *rows, size_t begin, size_t end, talus_real share) {
  const bool radial = tl_ccp_is_radial(rows);
  double sum = 0;
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(rows, k, sizeof(tl_ccp_pack));
    const pack_numbers work =
        radial ? warm_any(rows, k, share, true) : warm_any(rows, k, share, false);
    sum += add_pack(0, &work);
  }
  return sum;
}

static void tally_work(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum) {
  const bool radial = tl_ccp_is_radial(rows);
  for (size_t k = begin; k < end; ++k) {
    const pack_numbers work = warm_any(rows, k, 0, radial);
    for (int i = 0; i < PARTS; ++i)
      add_to_tally(sum, work.part[i]);
  }
}

static void tally_numbers(const double *numbers, size_t eights, tl_tally *sum) {
  for (size_t k = 0; k < 8 * eights; k += WIDE) {
    wide x;
    memcpy(&x, numbers + k, sizeof x);
    add_wide(sum, x, (int)(k % 8));
  }
}

INLINE pack_numbers residual_any(const tl_ccp_rows *rows, size_t k) {
  if (tl_ccp_rolls(rows, k)) {
    talus_real residual[TL_CCP_LANES];
    residual_rolls(rows, k, residual);
    return load_numbers(residual);
  }
  pack_numbers r;
  for (size_t o = 0; o < TL_CCP_LANES; o += W)
    r.part[o / W] = residual_pack(rows, k, o);
  return r;
}

INLINE void find_largest(lanes x, double *most) {
  for (int i = 0; i < W; ++i)
    *most = fmax(*most, (double)x[i]);
}

static double residual_packs(const tl_ccp_rows *rows, size_t begin, size_t end, double *most) {
  double sum = 0;
  *most = 0;
  for (size_t k = begin; k < end; ++k) {
    const pack_numbers r = residual_any(rows, k);
    double all = 0;
    for (int i = 0; i < PARTS; ++i) {
      all = add_each(all, r.part[i] * r.part[i]);
      find_largest(r.part[i], most);
    }
    sum += all;
  }
  return sum;
}

static void tally_residuals(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum,
                            double *most) {
  lanes largest = {0};
  for (size_t k = begin; k < end; ++k) {
    const pack_numbers all = residual_any(rows, k);
    for (int i = 0; i < PARTS; ++i) {
      const lanes r = all.part[i];
      add_to_tally(sum, r * r);
      largest = lanes_select(r > largest, r, largest);
    }
  }
  find_largest(largest, most);
}

/* ---- position correction (solve/ccp/correct.c) ----------------------------------------------- */

/* tl_impulse_target. */
INLINE lanes find_target(const tl_ccp_aim *aim, lanes gap) {
  const lanes zero = {0}, beyond = -gap - aim->slop;
  const lanes part = aim->share * beyond, most = zero + aim->h * aim->recovery_speed;
  const lanes near = gap + lanes_select(part < most, part, most);
  return lanes_select(beyond > zero, near, zero - aim->slop);
}

INLINE void aim_pack(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t k, size_t o,
                     uint8_t *deep) {
  const talus_real h = aim->h;
  const lanes zero = {0};
  const lanes_vec none = {zero, zero, zero};
  tl_ccp_pack *pack = &rows->packs[k];
  const uint32_t first = rows->pack_row[k], count = rows->pack_row[k + 1] - first;
  const lanes_vec u = velocity_of(rows, k, o);
  const lanes gap = load(&rows->gaps[k * TL_CCP_LANES + o]);
  const lanes ahead = gap + h * lanes_dot(u, load_vec(&pack->normal, o));
  const lanes target = find_target(aim, lanes_select(gap > ahead, gap, ahead));
  const unsigned is_deep = lanes_mask(gap < zero - TL_CCP_DEEP_SLOPS * aim->slop);
  const unsigned sinks = lanes_mask(ahead < target);
  store(pack->bias + o, (ahead - target) / h);
  store(pack->friction + o, zero);
  store_vec(&pack->impulse, o, none);
  for (uint32_t i = 0; i < W && o + i < count; ++i)
    deep[first + o + i] =
        (uint8_t)((is_deep >> i & 1 ? TL_CCP_DEEP : 0) | (sinks >> i & 1 ? TL_CCP_SINKING : 0));
}

static void aim_packs(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t begin, size_t end,
                      uint8_t *deep) {
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(rows, k, sizeof(tl_ccp_pack));
    for (size_t o = 0; o < TL_CCP_LANES; o += W)
      aim_pack(rows, aim, k, o, deep);
  }
}

#endif
