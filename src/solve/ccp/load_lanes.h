/* Rows from what was gathered of their contacts and bodies, W at a time: the arithmetic of
 * tl_system_make_row (solve/system/row.c), operation by operation, so that the bits are the same.
 */
#ifndef TL_SOLVE_CCP_LOAD_LANES_H
#define TL_SOLVE_CCP_LOAD_LANES_H

#include "solve/ccp/ccp.h"
#include "solve/ccp/lanes.h"

/* The steps of bodies that answer the same in every direction (find_steps). */
INLINE void find_steps(const tl_ccp_raw *raw, size_t o, lanes_vec n, tl_ccp_pack *pack, lanes *en) {
  const lanes zero = {0}, one = zero + 1;
  const lanes_vec arm_a = load_vec(&raw->arm_a, o), arm_b = load_vec(&raw->arm_b, o);
  const lanes turn_a = load(raw->inv_inertia_a + o), turn_b = load(raw->inv_inertia_b + o);
  const lanes along_a = lanes_dot(arm_a, n), along_b = lanes_dot(arm_b, n);
  const lanes all = load(raw->inv_mass_a + o) + load(raw->inv_mass_b + o) +
                    turn_a * lanes_dot(arm_a, arm_a) + turn_b * lanes_dot(arm_b, arm_b);
  const lanes normal = all - turn_a * along_a * along_a - turn_b * along_b * along_b;
  *en = lanes_select(normal > zero, one / normal, zero);
  store(pack->en + o, *en);
  store(pack->et + o, lanes_select(all > zero, one / all, zero));
  store(pack->reach_a + o, along_a);
  store(pack->reach_b + o, along_b);
}

/* tl_contact_bias. */
INLINE lanes find_bias(const tl_system *system, const tl_ccp_raw *raw, size_t o) {
  const lanes zero = {0};
  const talus_real h = (talus_real)system->crowd->dt;
  const lanes gap = load(raw->gap + o);
  const lanes closing = gap / h, least = zero - system->recovery_speed;
  return lanes_select(gap >= zero, closing, lanes_select(closing > least, closing, least));
}

/* tl_cone_project: the impulse to start from, within its cone. */
INLINE lanes_vec find_start(lanes_vec g, lanes_vec n, lanes mu, lanes en) {
  const lanes zero = {0};
  const lanes gn = lanes_dot(g, n);
  const lanes_vec gt = lanes_madd(g, -gn, n);
  const lanes square = lanes_dot(gt, gt), limit = mu * gn, t = lanes_sqrt(square);
  const lane_mask inside = (gn >= zero) & (square <= limit * limit);
  const lanes weight = zero + 1 + mu * mu, top = gn + mu * t;
  const lanes f = top / (weight * t); /* only used where t > 0 */
  const lanes along = f * t, aside = mu * f;
  const lane_mask alive = en > zero, polar = top <= zero;
  const lanes_vec side = {n.x * along, n.y * along, n.z * along};
  const lanes_vec p = lanes_madd(side, aside, gt);
  lanes_vec r;
  r.x = lanes_select(alive, lanes_select(inside, g.x, lanes_select(polar, zero, p.x)), zero);
  r.y = lanes_select(alive, lanes_select(inside, g.y, lanes_select(polar, zero, p.y)), zero);
  r.z = lanes_select(alive, lanes_select(inside, g.z, lanes_select(polar, zero, p.z)), zero);
  return r;
}

static void finish_packs(const tl_system *system, const tl_ccp_raw *raws, tl_ccp_pack *packs,
                         size_t count) {
  const lanes_vec none = {{0}, {0}, {0}};
  for (size_t k = 0; k < count; ++k)
    for (size_t o = 0; o < TL_CCP_LANES; o += W) {
      tl_ccp_pack *pack = &packs[k];
      const lanes_vec n = load_vec(&pack->normal, o);
      lanes en;
      find_steps(&raws[k], o, n, pack, &en);
      store(pack->bias + o, find_bias(system, &raws[k], o));
      store_vec(&pack->impulse, o,
                system->settings->warm_start
                    ? find_start(load_vec(&pack->impulse, o), n, load(raws[k].friction + o), en)
                    : none);
    }
}

#endif
