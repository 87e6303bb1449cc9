/* The search through packed bins, for any way of testing eight boxes at a time. The includer has
 *   test_lanes(packed, p, q, &sure, &touch)   box p against eight at q: one bit for each that
 *                        overlaps for sure, or perhaps: some numbers are equal
 *   search_near(out, level, first, last)      boxes [first, last) of a level against those of its
 *                        own level; search_rows does it for one
 * Pairs are met as bins_search.c says. */

/* Tests box p against those of the eight at q whose bit is in the mask. */
TL_LANES_INLINE void test(tl_packed_out *out, uint32_t p, uint32_t q, unsigned mask) {
  unsigned sure, touch;
  test_lanes(out->packed, p, q, &sure, &touch);
  sure &= mask;
  touch &= mask;
  if ((sure | touch) == 0)
    return;
  const uint32_t *who = out->packed->who;
  for (; sure != 0; sure &= sure - 1)
    tl_packed_put(out, who[p], who[q + (uint32_t)tl_lowest_bit(sure)]);
  if (touch != 0)
    tl_packed_put_touching(out, p, q, touch);
  if (out->count > TL_PACKED_BUFFER - TL_PACKED_LANES)
    tl_packed_flush(out);
}

TL_LANES_INLINE unsigned mask_of(uint32_t n) {
  return n >= TL_PACKED_LANES ? 0xffu : (1u << n) - 1;
}

/* Tests box p against those of a run. */
TL_LANES_INLINE void test_run(tl_packed_out *out, uint32_t p, uint32_t begin, uint32_t end) {
  for (uint32_t q = begin; q < end; q += TL_PACKED_LANES)
    test(out, p, q, mask_of(end - q));
}

static uint32_t clamp_cell(double t, uint32_t cells) {
  const double last = (double)(cells - 1);
  return t > 0 ? t < last ? (uint32_t)t : cells - 1 : 0;
}

/* Cells along an axis that hold the low corner of any box of a level touching box p, and perhaps a
 * few more, because they follow from rounded numbers. */
static void cover(const tl_packed *packed, uint32_t p, const tl_bins_level *level, int k,
                  uint32_t *from, uint32_t *to) {
  const double origin = packed->map.origin[k], quantum = packed->quantum[k];
  const int32_t low = -packed->low[k][p], high = packed->high[k][p];
  const double lo = origin + (low - 2) * quantum, hi = origin + (high + 3) * quantum;
  const double slack = (fabs(lo) + fabs(hi) + fabs(level->origin[k])) * 0x1p-50;
  const double below = (lo - slack - level->reach[k] - level->origin[k]) * level->inverse[k];
  const double above = (hi + slack - level->origin[k]) * level->inverse[k];
  *from = low < 0 ? 0 : clamp_cell(below, level->cells[k]);
  *to = high >= INT32_C(1) << TL_PACKED_BITS ? level->cells[k] - 1
                                             : clamp_cell(above, level->cells[k]);
}

/* Tests box p against a finer level. */
static void search_finer(tl_packed_out *out, uint32_t p, const tl_bins_level *level) {
  uint32_t from[3], to[3];
  for (int k = 0; k < 3; ++k)
    cover(out->packed, p, level, k, &from[k], &to[k]);
  const uint32_t *start = out->packed->start + level->base;
  for (uint32_t z = from[2]; z <= to[2]; ++z)
    for (uint32_t y = from[1]; y <= to[1]; ++y) {
      const uint32_t *row = start + (z * level->plane + y * level->row);
      test_run(out, p, row[from[0]], row[to[0] + 1]);
    }
}

/* Tests box p against its neighbours: those after it in its cell, the next cell, and three cells in
 * each of four rows. */
static void search_rows(tl_packed_out *out, uint32_t p, const tl_bins_level *level) {
  const uint32_t *own = out->packed->start + out->packed->key[p];
  const uint32_t next[4] = {level->row, level->plane - level->row, level->plane,
                            level->plane + level->row};
  test_run(out, p, p + 1, own[2]);
  for (int r = 0; r < 4; ++r)
    test_run(out, p, (own + next[r])[-1], own[next[r] + 2]);
}

static void search_block(tl_packed_out *out, int l, uint32_t first, uint32_t last) {
  const tl_bins *bins = out->packed->bins;
  const tl_bins_level *level = &bins->level[l], *widest = &bins->level[bins->levels];
  search_near(out, level, first, last);
  for (uint32_t p = first; p < last && (l > 0 || widest->count > 0); ++p) {
    test_run(out, p, widest->first, widest->first + widest->count);
    for (int finer = 0; finer < l; ++finer)
      search_finer(out, p, &bins->level[finer]);
  }
}

static void search(const void *context, size_t block, tl_catch *to) {
  const tl_packed *packed = context;
  const tl_bins *bins = packed->bins;
  tl_packed_out out = {.packed = packed, .to = to};
  out.plain = !bins->crowd->members && bins->model->ignored.count == 0;
  int l = 0;
  while (block >= packed->first_block[l + 1])
    l++;
  const tl_bins_level *level = &bins->level[l];
  const size_t size = tl_bins_block_size(l), begin = (block - packed->first_block[l]) * size;
  const uint32_t first = level->first + (uint32_t)begin, end = level->first + level->count;
  const uint32_t last = end - first < size ? end : first + (uint32_t)size;
  if (l < bins->levels)
    search_block(&out, l, first, last);
  else
    for (uint32_t p = first; p < last; ++p)
      test_run(&out, p, p + 1, end);
  tl_packed_flush(&out);
}
