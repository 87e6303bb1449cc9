/* Rows of a pack as vectors, and the mathematics of a visit on them. */
#ifndef TL_SOLVE_CCP_LANES_H
#define TL_SOLVE_CCP_LANES_H

#include "solve/ccp.h"
#include "solve/lanes.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

_Static_assert(W == TL_CCP_LANES, "a pack is a vector");

#undef TL_FN
#define TL_FN              INLINE
#define NUMBER             lanes
#define TRUTH              lane_mask
#define NUMBER_SQRT(x)     lanes_sqrt(x)
#define SELECT(test, a, b) lanes_select(test, a, b)
#define ANY(test)          (lanes_mask(test) != 0)
#define VISIT(name)        lanes_##name
#include "kernels/ccp_visit.h"

INLINE lanes_vec load_vec(const tl_ccp_lanes *from) {
  const lanes_vec r = {load(from->x), load(from->y), load(from->z)};
  return r;
}

INLINE lanes_vec cross(lanes_vec a, lanes_vec b) {
  const lanes_vec r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  return r;
}

INLINE void store_vec(tl_ccp_lanes *to, lanes_vec from) {
  store(to->x, from.x);
  store(to->y, from.y);
  store(to->z, from.z);
}

#endif
#endif
