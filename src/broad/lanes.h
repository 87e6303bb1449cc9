/* Eight boxes at a time, as whole numbers (private to src/broad).
 *
 * A map that never decreases keeps overlaps: boxes whose numbers do not overlap do not overlap. The
 * few boxes whose numbers overlap are then tested exactly. Numbers are below 2^30, so that
 * differences fit; intervals do not overlap if one of two differences is negative: one sign bit for
 * all six tests, and no branch, so that compilers vectorise the loop on any machine. */
#ifndef TL_BROAD_LANES_H
#define TL_BROAD_LANES_H

#include <stdint.h>

#define TL_LANES     8
#define TL_LANE_BITS 30

typedef struct tl_lanes {
  _Alignas(64) int32_t lo[3][TL_LANES], hi[3][TL_LANES];
} tl_lanes;

/* A box as whole numbers. */
typedef struct tl_lane {
  int32_t lo[3], hi[3];
} tl_lane;

static const uint32_t tl_lane_bit[TL_LANES] = {1, 2, 4, 8, 16, 32, 64, 128};

/* One bit for each of the eight boxes that overlaps. */
static inline unsigned tl_lanes_overlap(const tl_lanes *boxes, const tl_lane *box) {
  const int32_t x0 = box->lo[0], y0 = box->lo[1], z0 = box->lo[2];
  const int32_t x1 = box->hi[0], y1 = box->hi[1], z1 = box->hi[2];
  uint32_t misses = 0;
  for (int k = 0; k < TL_LANES; ++k) {
    const int32_t sign = (x1 - boxes->lo[0][k]) | (boxes->hi[0][k] - x0) | (y1 - boxes->lo[1][k]) |
                         (boxes->hi[1][k] - y0) | (z1 - boxes->lo[2][k]) | (boxes->hi[2][k] - z0);
    misses |= (uint32_t)(sign >> 31) & tl_lane_bit[k];
  }
  return ~misses & 0xffu;
}

static inline tl_lane tl_lanes_get(const tl_lanes *boxes, int k) {
  return (tl_lane){{boxes->lo[0][k], boxes->lo[1][k], boxes->lo[2][k]},
                   {boxes->hi[0][k], boxes->hi[1][k], boxes->hi[2][k]}};
}

static inline void tl_lanes_set(tl_lanes *boxes, int k, const tl_lane *box) {
  for (int axis = 0; axis < 3; ++axis) {
    boxes->lo[axis][k] = box->lo[axis];
    boxes->hi[axis][k] = box->hi[axis];
  }
}

/* A box that overlaps nothing. */
static inline tl_lane tl_lane_none(void) {
  const int32_t most = INT32_C(1) << TL_LANE_BITS;
  return (tl_lane){{most, most, most}, {-1, -1, -1}};
}

/* The bounding box of all eight. */
static inline tl_lane tl_lanes_union(const tl_lanes *boxes) {
  tl_lane all;
  for (int axis = 0; axis < 3; ++axis) {
    int32_t lo = boxes->lo[axis][0], hi = boxes->hi[axis][0];
    for (int k = 1; k < TL_LANES; ++k) {
      lo = boxes->lo[axis][k] < lo ? boxes->lo[axis][k] : lo;
      hi = boxes->hi[axis][k] > hi ? boxes->hi[axis][k] : hi;
    }
    all.lo[axis] = lo;
    all.hi[axis] = hi;
  }
  return all;
}

static inline int tl_lowest_bit(uint64_t x) {
#if defined(__GNUC__)
  return __builtin_ctzll(x);
#else
  int i = 0;
  for (; (x & 1) == 0; x >>= 1)
    i++;
  return i;
#endif
}

#endif
