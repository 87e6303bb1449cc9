/* Visits of rows, W at a time.
 *
 * Bodies are loaded as described in solve/ccp/lanes.h; the arithmetic is that of
 * kernels/ccp_visit.h with vectors for numbers. No operation is fused or reordered, and sums run in
 * the order of sweep.c, so the bits are those of the scalar code. */
#ifndef TL_SOLVE_CCP_SWEEP_LANES_H
#define TL_SOLVE_CCP_SWEEP_LANES_H

#include "solve/ccp/roll_lanes.h"

#include <math.h>

/* ---- some rows of a pack --------------------------------------------------------------------- */

INLINE lanes_vec less(lanes_vec a, lanes_vec b) {
  const lanes_vec r = {a.x - b.x, a.y - b.y, a.z - b.z};
  return r;
}

/* Momentum of a sweep (solve/ccp/momentum.c). last: by pack, the impulses after the sweep before;
 * replaced by those at the begin of this sweep; NULL: no momentum. beta: factor of the
 * extrapolation; < 0: there was no sweep before, and `last` is only written. */
typedef struct course {
  tl_ccp_lanes *last;
  talus_real beta;
} course;

/* The impulse at the begin of a visit: that of the pack, extrapolated by momentum. */
INLINE lanes_vec start_of(const tl_ccp_pack *pack, size_t k, size_t o, const course *on) {
  const lanes_vec now = load_vec(&pack->impulse, o);
  if (!on->last)
    return now;
  const lanes zero = {0}, share = zero + on->beta;
  if (on->beta < 0) {
    const lanes_vec first = {now.x + zero, now.y + zero, now.z + zero};
    store_vec(&on->last[k], o, now);
    return first;
  }
  const lanes_vec from = lanes_madd(now, share, less(now, load_vec(&on->last[k], o)));
  store_vec(&on->last[k], o, now);
  return from;
}

/* (from - now) . E^-1 (now - last): positive if the visit went back. */
INLINE lanes pull_of(const tl_ccp_pack *pack, size_t o, lanes unit, lanes_vec n, lanes_vec from,
                     lanes_vec now, lanes_vec last) {
  const lanes zero = {0}, en = load(pack->en + o), et = load(pack->et + o);
  const lanes_vec back = less(from, now), way = less(now, last);
  const lanes along = lanes_dot(back, n) * lanes_dot(way, n);
  const lanes pull = (along * et + (lanes_dot(back, way) - along) * en) * unit;
  return lanes_select((en > zero) & (et > zero), pull, zero);
}

/* Stores the new impulses of the pack and returns their squared changes in velocity units. */
INLINE lanes take_step(const tl_ccp_rows *rows, size_t k, size_t o, lanes_vec u, lanes_vec n,
                       const course *on, lanes_vec *change, lanes *pull) {
  tl_ccp_pack *pack = &rows->packs[k];
  const lanes_vec p = start_of(pack, k, o, on);
  const lanes en = load(pack->en + o), et = load(pack->et + o), zero = {0};
  const lanes unit = unit_of(pack, o);
  const lanes_vec fresh =
      lanes_step(p, u, n, load(pack->bias + o), friction_of(rows, k, o), en, et, rows->ncp > 0);
  if (on->last)
    *pull = pull_of(pack, o, unit, n, p, fresh, load_vec(&on->last[k], o));
  store_vec(&pack->impulse, o, fresh);
  *change = less(fresh, p);
  return lanes_select(en > zero, lanes_dot(*change, *change) * unit, zero);
}

/* The two bodies of each row, and their tensors if `by_tensor`. */
typedef struct pair_lanes {
  body_lanes a, b;
  tensor_lanes tensor_a, tensor_b;
} pair_lanes;

INLINE pair_lanes load_pairs(const tl_ccp_rows *rows, const tl_ccp_pack *pack, size_t o,
                             const bool by_tensor) {
  pair_lanes r;
  r.a = load_bodies(rows->bodies, pack->a + o);
  r.b = load_bodies(rows->bodies, pack->b + o);
  if (by_tensor) {
    r.tensor_a = load_tensors(rows->tensors, pack->a + o);
    r.tensor_b = load_tensors(rows->tensors, pack->b + o);
  }
  return r;
}

INLINE lanes visit_rows(const tl_ccp_rows *rows, size_t k, size_t o, const bool by_tensor,
                        const course *on, pair_lanes *of, lanes *pull) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  const lanes_vec n = load_vec(&pack->normal, o);
  const lanes_vec arm_a = arm_of(arms ? &arms->a : NULL, pack->reach_a, o, n);
  const lanes_vec arm_b = arm_of(arms ? &arms->b : NULL, pack->reach_b, o, n);
  lanes_vec change;
  const lanes moved =
      take_step(rows, k, o, relative_velocity(&of->a, &of->b, arm_a, arm_b), n, on, &change, pull);
  const lanes_vec back = {-change.x, -change.y, -change.z};
  if (by_tensor) {
    push_tensor(&of->a, &of->tensor_a, back, cross_back(arm_a, change));
    push_tensor(&of->b, &of->tensor_b, change, cross(arm_b, change));
  } else {
    push(&of->a, back, cross_back(arm_a, change));
    push(&of->b, change, cross(arm_b, change));
  }
  return moved;
}

/* A visit with arms along the normal (tl_ccp_is_radial): one cross product serves both bodies. */
INLINE lanes visit_radial(const tl_ccp_rows *rows, size_t k, size_t o, const course *on,
                          pair_lanes *of, lanes *pull) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const lanes_vec n = load_vec(&pack->normal, o);
  const lanes reach_a = load(pack->reach_a + o), reach_b = load(pack->reach_b + o);
  lanes_vec change;
  const lanes moved = take_step(rows, k, o, radial_velocity(&of->a, &of->b, reach_a, reach_b, n), n,
                                on, &change, pull);
  push_radial(&of->a, &of->b, reach_a, reach_b, n, change);
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

/* Bodies of a pack. */
typedef struct bodies_of_pack {
  body_lanes a[TL_CCP_LANES / W], b[TL_CCP_LANES / W];
} bodies_of_pack;

INLINE void load_bodies_of(const tl_ccp_rows *rows, size_t k, bodies_of_pack *of) {
  const tl_ccp_pack *pack = &rows->packs[k];
  for (size_t o = 0; o < TL_CCP_LANES; o += W) {
    of->a[o / W] = load_bodies(rows->bodies, pack->a + o);
    of->b[o / W] = load_bodies(rows->bodies, pack->b + o);
  }
}

/* tl_ccp_lane_velocity for W rows. */
INLINE lanes_vec velocity_of(const tl_ccp_rows *rows, size_t k, size_t o,
                             const bodies_of_pack *of) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_arms *arms = rows->arms ? &rows->arms[k] : NULL;
  const lanes_vec n = load_vec(&pack->normal, o);
  const body_lanes *a = &of->a[o / W], *b = &of->b[o / W];
  return tl_ccp_is_radial(rows)
             ? radial_velocity(a, b, load(pack->reach_a + o), load(pack->reach_b + o), n)
             : relative_velocity(a, b, arm_of(arms ? &arms->a : NULL, pack->reach_a, o, n),
                                 arm_of(arms ? &arms->b : NULL, pack->reach_b, o, n));
}

/* The same for a pack whose bodies are not loaded yet. */
INLINE lanes_vec velocity_at(const tl_ccp_rows *rows, size_t k, size_t o) {
  const tl_ccp_pack *pack = &rows->packs[k];
  bodies_of_pack of = {0};
  of.a[o / W] = load_bodies(rows->bodies, pack->a + o);
  of.b[o / W] = load_bodies(rows->bodies, pack->b + o);
  return velocity_of(rows, k, o, &of);
}

INLINE lanes residual_pack(const tl_ccp_rows *rows, size_t k, size_t o, const bodies_of_pack *of) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const lanes_vec n = load_vec(&pack->normal, o);
  return lanes_residual(load_vec(&pack->impulse, o), velocity_of(rows, k, o, of), n,
                        load(pack->bias + o), friction_of(rows, k, o), load(pack->en + o),
                        load(pack->et + o), rows->ncp > 0);
}

/* A sweep streams through packs once, and the bodies of a pack are far apart in memory. Both are
 * prefetched; packs long before bodies, because packs hold the indices of bodies. n packs from k on
 * have the same bodies. bytes: how much of a pack the sweep reads. */
INLINE void prefetch_run(const tl_ccp_rows *rows, size_t k, size_t n, const size_t bytes) {
  for (size_t i = 0; i < n; ++i) {
    const char *pack = (const char *)&rows->packs[k + i + 8];
    for (size_t line = 0; line < bytes; line += 64)
      __builtin_prefetch(pack + line, 1);
  }
  if (k + n + 2 >= rows->pack_count)
    return;
  const tl_ccp_pack *near = &rows->packs[k + n + 2];
  for (int i = 0; i < TL_CCP_LANES; ++i) {
    __builtin_prefetch(&rows->bodies[near->a[i]], 1);
    __builtin_prefetch(&rows->bodies[near->b[i]], 1);
  }
}

/* Reaches stand last, and are not read where there are arms. */
INLINE size_t bytes_of_pack(const tl_ccp_rows *rows) {
  return rows->arms ? offsetof(tl_ccp_pack, reach_a) : sizeof(tl_ccp_pack);
}

INLINE void prefetch_ahead(const tl_ccp_rows *rows, size_t k, const size_t bytes) {
  prefetch_run(rows, k, 1, bytes);
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

/* ---- runs ------------------------------------------------------------------------------------
 *
 * Contacts of eight pairs of bodies follow each other in packs (bundles.c): the bodies of such a
 * run stay in registers. */

#define MOST_OF_RUN 8

INLINE bool have_same_bodies(const tl_ccp_pack *x, const tl_ccp_pack *y) {
  uint64_t differ = 0;
  for (size_t i = 0; i < 2 * sizeof x->a / sizeof differ; ++i) {
    uint64_t of_x, of_y;
    memcpy(&of_x, (const char *)x + i * sizeof of_x, sizeof of_x);
    memcpy(&of_y, (const char *)y + i * sizeof of_y, sizeof of_y);
    differ |= of_x ^ of_y;
  }
  return differ == 0;
}
_Static_assert(offsetof(tl_ccp_pack, b) == sizeof((tl_ccp_pack *)0)->a, "a, then b");

/* Number of packs from k on, before `end`, that have the same bodies in the same lanes. */
INLINE size_t run_from(const tl_ccp_rows *rows, size_t k, size_t end) {
  size_t n = 1;
  while (n < MOST_OF_RUN && k + n < end && have_same_bodies(&rows->packs[k], &rows->packs[k + n]))
    ++n;
  return n;
}

/* Sums over packs, lane by lane: squared changes, and pulls of momentum. */
typedef struct sweep_sums {
  pack_numbers moved, pull;
} sweep_sums;

INLINE void sweep_run(const tl_ccp_rows *rows, size_t k, size_t n, const bool radial,
                      const bool by_tensor, const course *on, sweep_sums *to) {
  for (size_t o = 0; o < TL_CCP_LANES; o += W) {
    const tl_ccp_pack *first = &rows->packs[k];
    pair_lanes of = load_pairs(rows, first, o, by_tensor);
    lanes moved = to->moved.part[o / W], back = to->pull.part[o / W];
    for (size_t i = 0; i < n; ++i) {
      lanes pull = {0};
      moved += radial ? visit_radial(rows, k + i, o, on, &of, &pull)
                      : visit_rows(rows, k + i, o, by_tensor, on, &of, &pull);
      back += pull;
    }
    to->moved.part[o / W] = moved;
    to->pull.part[o / W] = back;
    store_bodies(rows->bodies, first->a + o, &of.a);
    store_bodies(rows->bodies, first->b + o, &of.b);
  }
}

/* Sweeps a pack with rows that pass on torque; these store their momentum elsewhere
 * (momentum.c). */
static void sweep_apart(const tl_ccp_rows *rows, size_t k, pack_numbers *moved) {
  talus_real each[TL_CCP_LANES];
  sweep_rolls(rows, k, each);
  const pack_numbers change = load_numbers(each);
  for (int i = 0; i < PARTS; ++i)
    moved->part[i] += change.part[i];
}

INLINE double sweep_all(const tl_ccp_rows *rows, size_t begin, size_t end, const course *on,
                        double *pull) {
  const bool radial = tl_ccp_is_radial(rows);
  sweep_sums sums = {0};
  for (size_t k = begin, n; k < end; k += n) {
    n = 1;
    if (tl_ccp_rolls(rows, k)) {
      prefetch_ahead(rows, k, bytes_of_pack(rows));
      sweep_apart(rows, k, &sums.moved);
      continue;
    }
    n = run_from(rows, k, end);
    prefetch_run(rows, k, n, bytes_of_pack(rows));
    const bool by_tensor = !radial && tl_ccp_needs_tensor(rows, &rows->packs[k]);
    if (radial)
      sweep_run(rows, k, n, true, false, on, &sums);
    else if (by_tensor)
      sweep_run(rows, k, n, false, true, on, &sums);
    else
      sweep_run(rows, k, n, false, false, on, &sums);
  }
  *pull = add_pack(0, &sums.pull);
  return add_pack(0, &sums.moved);
}

/* sweep_all where arms are along normals, all contacts have one friction, no row passes on torque
 * and a register holds a pack, as of spheres of one material: nothing but the visit is left in the
 * loop. */
INLINE double sweep_spheres(const tl_ccp_rows *rows, size_t begin, size_t end, const bool is_ncp,
                            const bool is_measured) {
  const lanes zero = {0}, mu = zero + rows->friction;
  lanes moved = zero;
  tl_ccp_body *const bodies = rows->bodies;
  tl_ccp_pack *const packs = rows->packs;
  for (size_t k = begin; k < end; ++k) {
    tl_ccp_pack *pack = &packs[k];
    prefetch_run(rows, k, 1, sizeof(tl_ccp_pack));
    body_lanes a = load_bodies(bodies, pack->a), b = load_bodies(bodies, pack->b);
    const lanes_vec n = load_vec(&pack->normal, 0);
    const lanes reach_a = load(pack->reach_a), reach_b = load(pack->reach_b);
    const lanes_vec u = radial_velocity(&a, &b, reach_a, reach_b, n);
    const lanes_vec p = load_vec(&pack->impulse, 0);
    const lanes en = load(pack->en), et = load(pack->et);
    const lanes_vec fresh = lanes_step(p, u, n, load(pack->bias), mu, en, et, is_ncp);
    store_vec(&pack->impulse, 0, fresh);
    const lanes_vec change = less(fresh, p);
    push_radial(&a, &b, reach_a, reach_b, n, change);
    store_bodies(bodies, pack->a, &a);
    store_bodies(bodies, pack->b, &b);
    if (is_measured)
      moved += lanes_select(en > zero, lanes_dot(change, change) * unit_of(pack, 0), zero);
  }
  return is_measured ? add_each(0, moved) : 0;
}

static double sweep_packs(const tl_ccp_rows *rows, size_t begin, size_t end) {
  const course none = {NULL, 0};
  double pull;
  if (W == TL_CCP_LANES && tl_ccp_is_radial(rows) && !rows->rolls && !rows->frictions)
    return rows->ncp <= 0        ? sweep_spheres(rows, begin, end, false, true)
           : rows->is_unmeasured ? sweep_spheres(rows, begin, end, true, false)
                                 : sweep_spheres(rows, begin, end, true, true);
  return sweep_all(rows, begin, end, &none, &pull);
}

static double sweep_on(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta, size_t begin,
                       size_t end, double *pull) {
  const course on = {last, beta};
  return sweep_all(rows, begin, end, &on, pull);
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
    prefetch_ahead(rows, k, bytes_of_pack(rows));
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

/* Tallies bias times impulse: the part of the objective that belongs to rows
 * (solve/system/energy.c). */
static void tally_biases(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum) {
  for (size_t k = begin; k < end; ++k)
    for (size_t o = 0; o < TL_CCP_LANES; o += W) {
      const tl_ccp_pack *pack = &rows->packs[k];
      add_to_tally(sum, load(pack->bias + o) *
                            lanes_dot(load_vec(&pack->impulse, o), load_vec(&pack->normal, o)));
    }
}

static void tally_numbers(const double *numbers, size_t eights, tl_tally *sum) {
  for (size_t k = 0; k < 8 * eights; k += WIDE) {
    wide x;
    memcpy(&x, numbers + k, sizeof x);
    add_wide(sum, x, (int)(k % 8));
  }
}

/* Loads the bodies of pack k, or keeps those of pack k - 1 (in `of`, if k > begin) where they are
 * the same. */
INLINE void follow_bodies(const tl_ccp_rows *rows, size_t begin, size_t k, bodies_of_pack *of) {
  if (k == begin || !have_same_bodies(&rows->packs[k - 1], &rows->packs[k]))
    load_bodies_of(rows, k, of);
}

INLINE pack_numbers residual_any(const tl_ccp_rows *rows, size_t k, const bodies_of_pack *of) {
  if (tl_ccp_rolls(rows, k)) {
    talus_real residual[TL_CCP_LANES];
    residual_rolls(rows, k, residual);
    return load_numbers(residual);
  }
  pack_numbers r;
  for (size_t o = 0; o < TL_CCP_LANES; o += W)
    r.part[o / W] = residual_pack(rows, k, o, of);
  return r;
}

INLINE void find_largest(lanes x, double *most) {
  for (int i = 0; i < W; ++i)
    *most = fmax(*most, (double)x[i]);
}

static double residual_packs(const tl_ccp_rows *rows, size_t begin, size_t end, double *most) {
  double sum = 0;
  lanes largest = {0};
  bodies_of_pack of = {0};
  *most = 0;
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(rows, k, bytes_of_pack(rows));
    follow_bodies(rows, begin, k, &of);
    const pack_numbers r = residual_any(rows, k, &of);
    double all = 0;
    for (int i = 0; i < PARTS; ++i) {
      all = add_each(all, r.part[i] * r.part[i]);
      largest = lanes_select(r.part[i] > largest, r.part[i], largest);
    }
    sum += all;
  }
  find_largest(largest, most);
  return sum;
}

static void tally_residuals(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum,
                            double *most) {
  lanes largest = {0};
  bodies_of_pack of = {0};
  for (size_t k = begin; k < end; ++k) {
    follow_bodies(rows, begin, k, &of);
    const pack_numbers all = residual_any(rows, k, &of);
    for (int i = 0; i < PARTS; ++i) {
      const lanes r = all.part[i];
      add_to_tally(sum, r * r);
      largest = lanes_select(r > largest, r, largest);
    }
  }
  find_largest(largest, most);
}

/* ---- position correction (solve/ccp/correct.c) ----------------------------------------------- */

/* tl_impulse_target for W rows. */
INLINE lanes find_target(const tl_ccp_aim *aim, lanes gap) {
  const lanes zero = {0}, beyond = -gap - aim->slop;
  const lanes part = aim->share * beyond, most = zero + aim->h * aim->recovery_speed;
  const lanes near = gap + lanes_select(part < most, part, most);
  return lanes_select(beyond > zero, near, zero - aim->slop);
}

INLINE void aim_pack(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t k, size_t o,
                     const bodies_of_pack *of, uint8_t *deep) {
  const talus_real h = aim->h;
  const lanes zero = {0};
  const lanes_vec none = {zero, zero, zero};
  tl_ccp_pack *pack = &rows->packs[k];
  const uint32_t first = rows->pack_row[k], count = rows->pack_row[k + 1] - first;
  const lanes_vec u = velocity_of(rows, k, o, of);
  const lanes gap = load(&rows->gaps[k * TL_CCP_LANES + o]);
  const lanes ahead = gap + h * lanes_dot(u, load_vec(&pack->normal, o));
  const lanes target = find_target(aim, lanes_select(gap > ahead, gap, ahead));
  const unsigned is_deep = lanes_mask(gap < zero - TL_CCP_DEEP_SLOPS * aim->slop);
  const unsigned sinks = lanes_mask(ahead < target);
  store(pack->bias + o, (ahead - target) / h);
  store_vec(&pack->impulse, o, none);
  for (uint32_t i = 0; i < W && o + i < count; ++i)
    deep[first + o + i] =
        (uint8_t)((is_deep >> i & 1 ? TL_CCP_DEEP : 0) | (sinks >> i & 1 ? TL_CCP_SINKING : 0));
}

static void aim_packs(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t begin, size_t end,
                      uint8_t *deep) {
  bodies_of_pack of = {0};
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(rows, k, bytes_of_pack(rows));
    follow_bodies(rows, begin, k, &of);
    for (size_t o = 0; o < TL_CCP_LANES; o += W)
      aim_pack(rows, aim, k, o, &of, deep);
  }
}

#endif
