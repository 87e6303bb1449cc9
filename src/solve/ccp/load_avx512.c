/* Rows from what was gathered of their contacts and bodies, eight at a time, with AVX-512: the
 * arithmetic of tl_system_make_row (solve/system/row.c), operation by operation, so that the bits
 * are the same.
 *
 * This file is compiled for AVX-512 (CMakeLists.txt); it runs only where the processor has it. */
#include "solve/ccp/ccp.h"
#include "solve/ccp/lanes.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

/* The steps of bodies that answer the same in every direction (find_steps). */
INLINE void find_steps(const tl_ccp_raw *raw, lanes_vec n, tl_ccp_pack *pack, lanes *en) {
  const lanes zero = {0}, one = zero + 1;
  const lanes_vec arm_a = load_vec(&raw->arm_a), arm_b = load_vec(&raw->arm_b);
  const lanes turn_a = load(raw->inv_inertia_a), turn_b = load(raw->inv_inertia_b);
  const lanes along_a = lanes_dot(arm_a, n), along_b = lanes_dot(arm_b, n);
  const lanes all = load(raw->inv_mass_a) + load(raw->inv_mass_b) +
                    turn_a * lanes_dot(arm_a, arm_a) + turn_b * lanes_dot(arm_b, arm_b);
  const lanes normal = all - turn_a * along_a * along_a - turn_b * along_b * along_b;
  *en = lanes_select(normal > zero, one / normal, zero);
  store(pack->en, *en);
  store(pack->et, lanes_select(all > zero, one / all, zero));
  store(pack->reach_a, along_a);
  store(pack->reach_b, along_b);
}

/* tl_contact_bias. */
INLINE lanes find_bias(const tl_system *system, const tl_ccp_raw *raw) {
  const lanes zero = {0};
  const talus_real h = (talus_real)system->crowd->dt;
  const lanes gap = load(raw->gap);
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

void tl_ccp_finish_packs_avx512(const tl_system *system, const tl_ccp_raw *raws, tl_ccp_pack *packs,
                                size_t count) {
  for (size_t k = 0; k < count; ++k) {
    tl_ccp_pack *pack = &packs[k];
    const lanes_vec n = load_vec(&pack->normal), zero = {{0}, {0}, {0}};
    lanes en;
    find_steps(&raws[k], n, pack, &en);
    store(pack->bias, find_bias(system, &raws[k]));
    store_vec(&pack->impulse, system->settings->warm_start ? find_start(load_vec(&pack->impulse), n,
                                                                        load(pack->friction), en)
                                                           : zero);
  }
}

#else

void tl_ccp_finish_packs_avx512(const tl_system *system, const tl_ccp_raw *raws, tl_ccp_pack *packs,
                                size_t count) {
  (void)system, (void)raws, (void)packs, (void)count; /* not called */
}

#endif
