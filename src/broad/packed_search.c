/* The search through packed bins for any processor. */
#include "broad/packed_out.h"

/* Sixteen boxes, one after the other: where the first one is. */
typedef struct lanes_set {
  const int32_t *low[3], *high[3];
} lanes_set;
#define LANES_SET lanes_set

static inline void load_lanes(const tl_packed *packed, uint32_t q, lanes_set *set) {
  for (int k = 0; k < 3; ++k) {
    set->low[k] = packed->low[k] + q;
    set->high[k] = packed->high[k] + q;
  }
}

static const uint32_t lane_bit[TL_PACKED_LANES] = {
    1u,      1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15};

/* No branches, so that compilers make vector code of the loops for any machine: the sign of all six
 * sums together says that one is negative, and that of all six less one that one is negative or 0.
 */
static inline void test_lanes(const tl_packed *packed, uint32_t p, const lanes_set *set,
                              unsigned *sure, unsigned *touch) {
  const int32_t x0 = packed->low[0][p], y0 = packed->low[1][p], z0 = packed->low[2][p];
  const int32_t x1 = packed->high[0][p], y1 = packed->high[1][p], z1 = packed->high[2][p];
  const int32_t *lx = set->low[0], *ly = set->low[1], *lz = set->low[2];
  const int32_t *hx = set->high[0], *hy = set->high[1], *hz = set->high[2];
  uint32_t miss = 0, unsure = 0;
  for (int k = 0; k < TL_PACKED_LANES; ++k) {
    const int32_t a = x1 + lx[k], b = hx[k] + x0, c = y1 + ly[k], d = hy[k] + y0;
    const int32_t e = z1 + lz[k], f = hz[k] + z0;
    const int32_t sign = a | b | c | d | e | f;
    const int32_t less = (a - 1) | (b - 1) | (c - 1) | (d - 1) | (e - 1) | (f - 1);
    miss |= (uint32_t)(sign >> 31) & lane_bit[k];
    unsure |= (uint32_t)(less >> 31) & lane_bit[k];
  }
  *sure = ~unsure & 0xffffu;
  *touch = unsure & ~miss;
}

static inline bool search_near(tl_packed_out *out, uint32_t first, uint32_t last,
                               const uint32_t *begin, const uint32_t *length) {
  (void)out, (void)first, (void)last, (void)begin, (void)length;
  return false;
}

#define SEARCH tl_packed_search
#include "broad/packed_search.h"
