/* The search through packed bins, for any way of testing sixteen boxes at a time. The includer
 * defines
 *   LANES_SET            what is loaded of sixteen boxes in a row
 *   load_lanes(packed, q, set)
 *   test_lanes(packed, p, set, sure, touch)   one bit for each box that overlaps p for sure, or
 *                                             perhaps: some numbers are equal
 *   search_near(out, first, last, begin, length)   boxes [first, last) of a cell against their
 *                        neighbours, five runs of which the first begins with them; false: not
 *                        done, the runs are too long for it
 *   SEARCH               the name of the search
 * Pairs are met as bins_search.c says. */

/* Box p against those of the sixteen at q that mask has. */
TL_LANES_INLINE void test(tl_packed_out *out, uint32_t p, uint32_t q, const LANES_SET *set, unsigned mask) {
  unsigned sure, touch;
  test_lanes(out->packed, p, set, &sure, &touch);
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
  return n >= TL_PACKED_LANES ? 0xffffu : (1u << n) - 1;
}

/* Boxes [first, last) against those of a run behind all of them, or elsewhere. */
TL_LANES_INLINE void test_run(tl_packed_out *out, uint32_t first, uint32_t last, uint32_t begin, uint32_t end) {
  for (uint32_t q = begin; q < end; q += TL_PACKED_LANES) {
    LANES_SET set;
    load_lanes(out->packed, q, &set);
    const unsigned mask = mask_of(end - q);
    for (uint32_t p = first; p < last; ++p)
      test(out, p, q, &set, mask);
  }
}

/* Boxes [first, last) against those of a run that begins with them: each against those behind it.
 */
TL_LANES_INLINE void test_own(tl_packed_out *out, uint32_t first, uint32_t last, uint32_t end) {
  for (uint32_t q = first; q < end; q += TL_PACKED_LANES) {
    LANES_SET set;
    load_lanes(out->packed, q, &set);
    const unsigned mask = mask_of(end - q);
    for (uint32_t p = first; p < last && p < q + TL_PACKED_LANES; ++p)
      test(out, p, q, &set, p < q ? mask : mask & (0xfffeu << (p - q)));
  }
}

static uint32_t clamp_cell(double t, uint32_t cells) {
  const double last = (double)(cells - 1);
  return t > 0 ? t < last ? (uint32_t)t : cells - 1 : 0;
}

/* Cells along an axis that hold the low corner of any box of a level touching box p, and perhaps a
 * few more: where it is, is taken from its numbers, which are rounded. */
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

/* Box p against a finer level. */
static void search_finer(tl_packed_out *out, uint32_t p, const tl_bins_level *level) {
  uint32_t from[3], to[3];
  for (int k = 0; k < 3; ++k)
    cover(out->packed, p, level, k, &from[k], &to[k]);
  const uint32_t *start = out->packed->start + level->base;
  for (uint32_t z = from[2]; z <= to[2]; ++z)
    for (uint32_t y = from[1]; y <= to[1]; ++y) {
      const uint32_t *row = start + (z * level->plane + y * level->row);
      test_run(out, p, p + 1, row[from[0]], row[to[0] + 1]);
    }
}

/* The boxes of a cell that has some. */
TL_LANES_INLINE void search_cell(tl_packed_out *out, int l, uint32_t cell) {
  const tl_packed *packed = out->packed;
  const tl_bins *bins = packed->bins;
  const tl_bins_level *level = &bins->level[l], *wide = &bins->level[bins->levels];
  const uint32_t *own = packed->start + cell, *a = own + level->row;
  const uint32_t *b = own + (level->plane - level->row), *c = own + level->plane;
  const uint32_t *d = c + level->row;
  const uint32_t first = own[0], last = own[1];
  const uint32_t begin[TL_PACKED_RUNS] = {first, a[-1], b[-1], c[-1], d[-1]};
  const uint32_t length[TL_PACKED_RUNS] = {own[2] - first, a[2] - a[-1], b[2] - b[-1], c[2] - c[-1],
                                 d[2] - d[-1]};
  if (!search_near(out, first, last, begin, length)) {
    test_own(out, first, last, own[2]);
    for (int r = 1; r < TL_PACKED_RUNS; ++r)
      test_run(out, first, last, begin[r], begin[r] + length[r]);
  }
  if (wide->count > 0)
    test_run(out, first, last, wide->first, wide->first + wide->count);
  for (int finer = 0; finer < l; ++finer)
    for (uint32_t p = first; p < last; ++p)
      search_finer(out, p, &bins->level[finer]);
}

void SEARCH(const void *context, size_t block, tl_catch *to) {
  const tl_packed *packed = context;
  const tl_bins *bins = packed->bins;
  tl_packed_out out = {.packed = packed, .to = to};
  out.plain = !bins->scope->members && bins->model->ignored.count == 0;
  int l = 0;
  while (block >= packed->first_block[l + 1])
    l++;
  if (l == bins->levels) {
    const tl_bins_level *wide = &bins->level[l];
    for (uint32_t p = wide->first; p < wide->first + wide->count; ++p)
      test_run(&out, p, p + 1, p + 1, wide->first + wide->count);
    tl_packed_flush(&out);
    return;
  }
  const size_t size = tl_packed_block_cells(l);
  const uint32_t first = bins->level[l].base + (uint32_t)((block - packed->first_block[l]) * size);
  const uint32_t end = bins->level[l + 1].base;
  const uint32_t last = end - first < size ? end : first + (uint32_t)size;
  for (uint32_t cell = first; cell < last; ++cell)
    if (packed->start[cell] < packed->start[cell + 1])
      search_cell(&out, l, cell);
  tl_packed_flush(&out);
}
