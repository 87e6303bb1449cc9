/* Momentum of sweeps, W rows at a time (solve/ccp/momentum.c): of rows that pass on no torque. The
 * bits are those of the scalar code. */
#ifndef TL_SOLVE_CCP_MOMENTUM_LANES_H
#define TL_SOLVE_CCP_MOMENTUM_LANES_H

#include "solve/ccp/lanes.h"

INLINE lanes_vec less(lanes_vec a, lanes_vec b) {
  const lanes_vec r = {a.x - b.x, a.y - b.y, a.z - b.z};
  return r;
}

/* (from - now) . E^-1 (now - last). */
INLINE lanes pull_of_pack(const tl_ccp_pack *pack, const tl_ccp_trail *trail, size_t o) {
  const lanes zero = {0}, en = load(pack->en + o), et = load(pack->et + o);
  const lanes_vec now = load_vec(&pack->impulse, o), n = load_vec(&pack->normal, o);
  const lanes_vec back = less(load_vec(&trail->from, o), now);
  const lanes_vec way = less(now, load_vec(&trail->last, o));
  const lanes along = lanes_dot(back, n) * lanes_dot(way, n);
  const lanes pull = along / en + (lanes_dot(back, way) - along) / et;
  return lanes_select((en > zero) & (et > zero), pull, zero);
}

static double pull_back(const tl_ccp_rows *rows, const tl_ccp_trail *trails, size_t begin,
                        size_t end) {
  double sum = 0;
  for (size_t k = begin; k < end; ++k)
    for (size_t o = 0; o < TL_CCP_LANES; o += W)
      sum = add_each(sum, pull_of_pack(&rows->packs[k], &trails[k], o));
  return sum;
}

static void move_on(const tl_ccp_rows *rows, tl_ccp_trail *trails, size_t begin, size_t end,
                    talus_real beta) {
  const lanes zero = {0}, share = zero + beta;
  for (size_t k = begin; k < end; ++k)
    for (size_t o = 0; o < TL_CCP_LANES; o += W) {
      tl_ccp_lanes *impulse = &rows->packs[k].impulse;
      const lanes_vec now = load_vec(impulse, o);
      const lanes_vec from = lanes_madd(now, share, less(now, load_vec(&trails[k].last, o)));
      store_vec(&trails[k].last, o, now);
      store_vec(&trails[k].from, o, from);
      store_vec(impulse, o, from);
    }
}

#endif
