/* Rows in position correction (lift.c), W at a time, with the bits of the scalar code. */
#ifndef TL_SOLVE_CCP_LIFT_LANES_H
#define TL_SOLVE_CCP_LIFT_LANES_H

#include "solve/ccp/sweep_lanes.h"

/* Length of the impulse after a visit. */
INLINE lanes lifted(const tl_ccp_pack *pack, size_t o, lanes_vec n, const body_lanes *a,
                    const body_lanes *b) {
  const lanes zero = {0}, en = load(pack->en + o);
  const lanes_vec u = {b->v.x - a->v.x, b->v.y - a->v.y, b->v.z - a->v.z};
  const lanes p = load(pack->impulse.x + o) - en * (lanes_dot(u, n) + load(pack->bias + o));
  return lanes_select((en > zero) & (p > zero), p, zero);
}

/* Squared change of a length, in velocity units. */
INLINE lanes speed_of(const tl_ccp_pack *pack, size_t o, lanes change) {
  const lanes zero = {0}, en = load(pack->en + o), speed = change / en;
  return lanes_select(en > zero, speed * speed, zero);
}

INLINE lanes lift_pack(const tl_ccp_rows *rows, size_t k, size_t o) {
  tl_ccp_pack *pack = &rows->packs[k];
  body_lanes a = load_centres(rows->bodies, pack->a + o),
             b = load_centres(rows->bodies, pack->b + o);
  const lanes_vec n = load_vec(&pack->normal, o);
  const lanes p = lifted(pack, o, n, &a, &b), change = p - load(pack->impulse.x + o);
  store(pack->impulse.x + o, p);
  a.v = lanes_madd(a.v, -a.inv_mass * change, n);
  b.v = lanes_madd(b.v, b.inv_mass * change, n);
  store_centres(rows->bodies, pack->a + o, &a);
  store_centres(rows->bodies, pack->b + o, &b);
  return speed_of(pack, o, change);
}

static double lift_packs(const tl_ccp_rows *rows, size_t begin, size_t end) {
  pack_numbers moved = {0};
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(rows, k, offsetof(tl_ccp_pack, impulse.y));
    for (size_t o = 0; o < TL_CCP_LANES; o += W)
      moved.part[o / W] += lift_pack(rows, k, o);
  }
  return add_pack(0, &moved);
}

static double lift_residual(const tl_ccp_rows *rows, size_t begin, size_t end) {
  pack_numbers sum = {0};
  for (size_t k = begin; k < end; ++k) {
    const tl_ccp_pack *pack = &rows->packs[k];
    for (size_t o = 0; o < TL_CCP_LANES; o += W) {
      const body_lanes a = load_centres(rows->bodies, pack->a + o),
                       b = load_centres(rows->bodies, pack->b + o);
      const lanes p = lifted(pack, o, load_vec(&pack->normal, o), &a, &b);
      sum.part[o / W] += speed_of(pack, o, p - load(pack->impulse.x + o));
    }
  }
  return add_pack(0, &sum);
}

#endif
