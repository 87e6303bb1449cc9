/* Rows of a plan in a later substep, W at a time, in place: contact points ride on their bodies
 * (contact/ride.c) and the row follows (solve/system/row.c), operation by operation as there, so
 * that the bits are the same. */
#ifndef TL_SOLVE_CCP_REFRESH_LANES_H
#define TL_SOLVE_CCP_REFRESH_LANES_H

#include "contact/ride.h"
#include "solve/ccp/load_lanes.h"
#include "solve/ccp/refresh.h"
#include "solve/ccp/sweep_lanes.h"

#if TALUS_SINGLE

#define refresh_packs NULL /* places are doubles there and the rest is not */

#else

#define RIDDEN_NUMBERS (sizeof(tl_ridden) / sizeof(double))
_Static_assert(offsetof(tl_ridden, way) == 4 * sizeof(double), "w, x, y and z of the turn");
_Static_assert(offsetof(tl_ridden, from) == 8 * sizeof(double), "then the way");
_Static_assert(offsetof(tl_ridden, to) == 12 * sizeof(double), "then two places");
_Static_assert(offsetof(tl_contact, impulse) == 9 * sizeof(double), "the gap is before it");

/* A body of each row: how it rode, and how it answers. */
typedef struct rider_lanes {
  lanes turn;      /* its real part, */
  lanes_vec about; /* and the others */
  lanes_vec way, from, to;
  lanes inv_mass, inv_inertia;
} rider_lanes;

INLINE rider_lanes load_riders(const tl_ccp *job, const uint32_t *slot, const uint32_t *body) {
  const double *ridden = (const double *)(const void *)job->system->crowd->ride->ridden;
  lanes turn[4], way[4], from[4], to[4];
  load_fours(ridden, RIDDEN_NUMBERS, slot, turn);
  load_fours(ridden + 4, RIDDEN_NUMBERS, slot, way);
  load_fours(ridden + 8, RIDDEN_NUMBERS, slot, from);
  load_fours(ridden + 12, RIDDEN_NUMBERS, slot, to);
  const body_lanes of = load_bodies(job->rows.bodies, body);
  const rider_lanes r = {turn[0],
                         {turn[1], turn[2], turn[3]},
                         {way[0], way[1], way[2]},
                         {from[0], from[1], from[2]},
                         {to[0], to[1], to[2]},
                         of.inv_mass,
                         of.inv_inertia};
  return r;
}

INLINE lanes_vec plus_vec(lanes_vec a, lanes_vec b) {
  const lanes_vec r = {a.x + b.x, a.y + b.y, a.z + b.z};
  return r;
}

INLINE lanes_vec times(lanes_vec v, lanes s) {
  const lanes_vec r = {v.x * s, v.y * s, v.z * s};
  return r;
}

/* turn_shift of ride.c. */
INLINE lanes_vec shift_by(const rider_lanes *r, lanes_vec arm) {
  const lanes zero = {0};
  const lanes_vec t = times(cross(r->about, arm), zero + 2);
  return plus_vec(times(t, r->turn), cross(r->about, t));
}

/* A pair of bodies of each row, and which share of the way the point goes with b. */
typedef struct couple_lanes {
  rider_lanes a, b;
  lanes_vec between, apart; /* from a to b, when contacts were found and now */
  lanes share;
} couple_lanes;

INLINE couple_lanes load_couple(const tl_ccp *job, size_t k, size_t o) {
  const tl_ccp_anchor *anchor = &job->kept->anchors[k];
  const tl_ccp_pack *pack = &job->rows.packs[k];
  const lanes zero = {0}, half = zero + 0.5, one = zero + 1;
  couple_lanes r;
  r.a = load_riders(job, anchor->a + o, pack->a + o);
  r.b = load_riders(job, anchor->b + o, pack->b + o);
  r.between = minus_vec(r.b.from, r.a.from);
  r.apart = minus_vec(r.b.to, r.a.to);
  const lane_mask moves_a = r.a.inv_mass > zero, moves_b = r.b.inv_mass > zero;
  r.share = lanes_select(moves_a == moves_b, half, lanes_select(moves_b, one, zero));
  return r;
}

/* ride_one of ride.c: the gap, and the point where the bodies are now. */
INLINE lanes_vec ride_point(const couple_lanes *of, lanes_vec point, lanes_vec n, lanes found,
                            lanes *gap) {
  const lanes zero = {0};
  const lanes_vec to_point = minus_vec(point, of->a.from);
  const lanes half = 0.5 * found;
  const lanes_vec arm_a = lanes_madd(to_point, -half, n);
  const lanes_vec arm_b = lanes_madd(minus_vec(to_point, of->between), half, n);
  const lanes_vec to_a = plus_vec(of->a.way, shift_by(&of->a, arm_a));
  const lanes_vec apart = minus_vec(plus_vec(of->b.way, shift_by(&of->b, arm_b)), to_a);
  *gap = found + lanes_dot(apart, n);
  const lanes opened = *gap - found;
  lanes_vec to = plus_vec(to_a, times(apart, of->share));
  to = plus_vec(to, times(n, (zero + 0.5 - of->share) * opened));
  return plus_vec(plus_vec(point, minus_vec(of->a.to, of->a.from)), minus_vec(to, of->a.way));
}

INLINE lanes_vec load_impulses(const tl_ccp *job, const uint32_t *contact) {
  lanes m[4];
  load_fours((const double *)(const void *)job->system->contacts->data + 8, CONTACT_NUMBERS,
             contact, m);
  const lanes_vec r = {m[1], m[2], m[3]};
  return r;
}

/* Contacts of W rows; lanes without a contact get that of the first row of the pack. */
INLINE void list_contacts(const tl_ccp *job, size_t k, size_t o, uint32_t contact[W]) {
  const uint32_t first = job->rows.pack_row[k], end = job->rows.pack_row[k + 1];
  for (uint32_t i = 0; i < W; ++i) {
    const uint32_t row = first + (uint32_t)o + i;
    contact[i] = job->rows.contact[row < end ? row : first];
  }
}

INLINE void refresh_rows(const tl_ccp *job, size_t k, size_t o, const couple_lanes *of,
                         const tensor_lanes *tensors) {
  const tl_ccp_anchor *anchor = &job->kept->anchors[k];
  tl_ccp_pack *pack = &job->rows.packs[k];
  const lanes zero = {0};
  const lanes_vec none = {zero, zero, zero}, n = load_vec(&pack->normal, o);
  uint32_t contact[W];
  lanes gap, en;
  list_contacts(job, k, o, contact);
  const lanes_vec point =
      ride_point(of, load_vec(&anchor->point, o), n, load(anchor->gap + o), &gap);
  const lanes_vec arm = minus_vec(point, of->a.to);
  const end_lanes a = {arm, of->a.inv_mass, of->a.inv_inertia};
  const end_lanes b = {minus_vec(arm, of->apart), of->b.inv_mass, of->b.inv_inertia};
  find_steps(&a, &b, o, n, pack, &en);
  if (tensors)
    find_steps_by_tensor(&a, &b, &tensors[0], &tensors[1], o, n, pack, &en);
  store(pack->bias + o, find_bias(job->system, lanes_select(gap > zero, gap, zero)));
  store_vec(&pack->impulse, o,
            job->system->settings->warm_start
                ? find_start(load_impulses(job, contact), n, friction_of(&job->rows, k, o), en)
                : none);
  store(job->rows.gaps + k * TL_CCP_LANES + o, gap);
  store_vec(&job->rows.arms[k].a, o, a.arm);
  store_vec(&job->rows.arms[k].b, o, b.arm);
}

INLINE void refresh_by_tensor(const tl_ccp *job, size_t k, size_t o, const couple_lanes *of) {
  const tl_ccp_pack *pack = &job->rows.packs[k];
  const tensor_lanes tensors[2] = {load_tensors(job->rows.tensors, pack->a + o),
                                   load_tensors(job->rows.tensors, pack->b + o)};
  refresh_rows(job, k, o, of, tensors);
}

INLINE void ask_for_pairs(const tl_ccp *job, size_t k) {
  if (k >= job->rows.pack_count)
    return;
  const tl_ridden *ridden = job->system->crowd->ride->ridden;
  const tl_ccp_anchor *anchor = &job->kept->anchors[k];
  for (uint32_t i = 0; i < TL_CCP_LANES; ++i) {
    __builtin_prefetch(&ridden[anchor->a[i]]);
    __builtin_prefetch(&ridden[anchor->a[i]].from);
    __builtin_prefetch(&ridden[anchor->b[i]]);
    __builtin_prefetch(&ridden[anchor->b[i]].from);
  }
}

INLINE void ask_for_impulses(const tl_ccp *job, size_t k) {
  if (k >= job->rows.pack_count)
    return;
  for (uint32_t row = job->rows.pack_row[k]; row < job->rows.pack_row[k + 1]; ++row)
    __builtin_prefetch(&job->system->contacts->data[job->rows.contact[row]].impulse.z);
}

static void refresh_packs(const tl_ccp *job, size_t begin, size_t end) {
  couple_lanes of[TL_CCP_LANES / W];
  memset(of, 0, sizeof of);
  bool is_loaded = false;
  for (size_t k = begin; k < end; ++k) {
    if (job->kept->way[k] == TL_CCP_APART) {
      tl_ccp_refresh_apart(job, k);
      is_loaded = false;
      continue;
    }
    const bool is_same =
        is_loaded && have_same_bodies(&job->rows.packs[k - 1], &job->rows.packs[k]);
    ask_for_impulses(job, k + 8);
    if (!is_same)
      ask_for_pairs(job, k + 4);
    for (size_t o = 0; o < TL_CCP_LANES; o += W) {
      if (!is_same)
        of[o / W] = load_couple(job, k, o);
      if (job->kept->way[k] == TL_CCP_BY_TENSOR)
        refresh_by_tensor(job, k, o, &of[o / W]);
      else
        refresh_rows(job, k, o, &of[o / W], NULL);
    }
    is_loaded = true;
  }
}

#endif

#endif
