/* The search through packed bins for any processor. */
#include "broad/packed_out.h"

static const uint32_t lane_bit[TL_PACKED_LANES] = {1, 2, 4, 8, 16, 32, 64, 128};

/* No branches, so that compilers make vector code of the loops for any machine: the sign of all six
 * sums together says that one is negative, and that of all six less one that one is negative or 0.
 */
static inline void test_lanes(const tl_packed *packed, uint32_t p, uint32_t q, unsigned *sure,
                              unsigned *touch) {
  const int32_t x0 = packed->low[0][p], y0 = packed->low[1][p], z0 = packed->low[2][p];
  const int32_t x1 = packed->high[0][p], y1 = packed->high[1][p], z1 = packed->high[2][p];
  const int32_t *lx = packed->low[0] + q, *ly = packed->low[1] + q, *lz = packed->low[2] + q;
  const int32_t *hx = packed->high[0] + q, *hy = packed->high[1] + q, *hz = packed->high[2] + q;
  uint32_t miss = 0, unsure = 0;
  for (int k = 0; k < TL_PACKED_LANES; ++k) {
    const int32_t a = x1 + lx[k], b = hx[k] + x0, c = y1 + ly[k], d = hy[k] + y0;
    const int32_t e = z1 + lz[k], f = hz[k] + z0;
    const int32_t sign = a | b | c | d | e | f;
    const int32_t less = (a - 1) | (b - 1) | (c - 1) | (d - 1) | (e - 1) | (f - 1);
    miss |= (uint32_t)(sign >> 31) & lane_bit[k];
    unsure |= (uint32_t)(less >> 31) & lane_bit[k];
  }
  *sure = ~unsure & 0xffu;
  *touch = unsure & ~miss;
}

static void search_rows(tl_packed_out *out, uint32_t p, const tl_bins_level *level);

static void search_near(tl_packed_out *out, const tl_bins_level *level, uint32_t first,
                        uint32_t last) {
  for (uint32_t p = first; p < last; ++p)
    search_rows(out, p, level);
}

#define SEARCH tl_packed_search
#include "broad/packed_search.h"
