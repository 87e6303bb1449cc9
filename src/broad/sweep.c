/* Sort and sweep (Baraff 1992; Cohen et al. 1995), the baseline of Poirrier 2009: boxes are sorted
 * by their lower end along the axis where they spread most; each is tested against those that begin
 * before it ends. For N similar boxes in space that is of the order of N^(2/3) tests for each, so
 * the method suits small N, long thin scenes, and comparisons.
 *
 * Ends are mapped to whole numbers by a monotone map: boxes that overlap also do so in numbers, and
 * those that overlap in numbers are tested exactly. Along the two other axes the numbers have 15
 * bits, and sign bits exclude most boxes, many at a time. A cache keeps the order from one call to
 * the next: it is nearly sorted then, and insertion takes time in proportion to how many have
 * changed places. */
#include "base/sort.h"
#include "broad/entries.h"

#define BITS       30            /* bits along the axis of the sweep */
#define CROSS_BITS 15            /* bits along the other axes: differences fit 16 bits */
#define BLOCK      ((size_t)256) /* boxes of a block of the search */
#define RUN        ((size_t)32)  /* boxes that are tested together */
#define MOVES      ((size_t)8)   /* most moves per box by insertion before sorting anew is better */

typedef struct sweeper {
  tl_entries entries;
  int axis, cross[2];
  tl_quanta along, across;
  uint32_t *lower;        /* begin of each box along the axis, sorted; at first by entry */
  uint32_t *order;        /* entries in that order */
  uint32_t *upper;        /* end of each box */
  int16_t *lo[2], *hi[2]; /* along the other axes; followed by RUN boxes that overlap nothing */
} sweeper;

/* ---- sorting --------------------------------------------------------------------------------- */

static void find_lower(void *context, size_t begin, size_t end) {
  const sweeper *s = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_span3 box = tl_entries_box(&s->entries, i);
    s->lower[i] = tl_quantise(&s->along, s->axis, box.lo[s->axis]);
    s->order[i] = (uint32_t)i;
  }
}

/* Sorts `order`, any order of all entries, by insertion; false: it was far from sorted. */
static bool insert(const uint32_t *lower, uint32_t *order, size_t n) {
  size_t moves = 0;
  for (size_t i = 1; i < n; ++i) {
    const uint32_t entry = order[i], key = lower[entry];
    size_t at = i;
    for (; at > 0 && lower[order[at - 1]] > key; --at)
      order[at] = order[at - 1];
    order[at] = entry;
    moves += i - at;
    if (moves > MOVES * n)
      return false;
  }
  return true;
}

/* Updates the order of the last call; false if there is none for this number of entries. */
static bool reuse_order(sweeper *s, tl_sweep_order *last, uint32_t *scratch) {
  const size_t n = s->entries.count;
  if (!last || last->count != n || n == 0 || !insert(s->lower, last->data, n))
    return false;
  memcpy(scratch, s->lower, n * sizeof *scratch);
  memcpy(s->order, last->data, n * sizeof *s->order);
  for (size_t i = 0; i < n; ++i)
    s->lower[i] = scratch[s->order[i]];
  return true;
}

static talus_status sort(sweeper *s, tl_sweep_order *last) {
  const tl_par *par = &s->entries.model->par;
  tl_arena *arena = s->entries.crowd->arena;
  const size_t n = s->entries.count;
  tl_for(par, n, 0, find_lower, s);
  if (reuse_order(s, last, s->upper))
    return TALUS_OK;
  TL_TRY(tl_sort_u32(par, arena, s->lower, s->order, n, s->along.bits));
  if (!last)
    return TALUS_OK;
  TL_TRY(tl_array_resize(last, n));
  if (n > 0)
    memcpy(last->data, s->order, n * sizeof *s->order);
  return TALUS_OK;
}

static void find_others(void *context, size_t begin, size_t end) {
  const sweeper *s = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_span3 box = tl_entries_box(&s->entries, s->order[i]);
    s->upper[i] = tl_quantise(&s->along, s->axis, box.hi[s->axis]);
    for (int c = 0; c < 2; ++c) {
      const int k = s->cross[c];
      s->lo[c][i] = (int16_t)tl_quantise(&s->across, k, box.lo[k]);
      s->hi[c][i] = (int16_t)tl_quantise(&s->across, k, box.hi[k]);
    }
  }
}

/* Numbers as fine as the range allows; each axis has its own scale. */
static tl_quanta fit(const tl_entries *e, int bits) {
  double edge[3];
  for (int k = 0; k < 3; ++k) {
    const double range = e->hi[k] - e->lo[k];
    edge[k] = range > 0 && range <= DBL_MAX ? ldexp(range, -bits) : 1;
    const double bulk = e->bulk_hi[k] - e->bulk_lo[k];
    if (edge[k] * 16 > e->longest && bulk > 0 && bulk < range) /* some boxes are very far away */
      edge[k] = ldexp(bulk, -bits);
    edge[k] = edge[k] > DBL_MIN ? edge[k] : 1;
  }
  return tl_entries_quanta(e, edge, bits);
}

static talus_status prepare(sweeper *s, tl_sweep_order *last) {
  const tl_entries *e = &s->entries;
  tl_arena *arena = e->crowd->arena;
  const size_t n = e->count;
  s->axis = e->widest;
  s->cross[0] = (s->axis + 1) % 3;
  s->cross[1] = (s->axis + 2) % 3;
  s->along = fit(e, BITS);
  s->across = fit(e, CROSS_BITS);
  TL_TAKE(arena, n, &s->lower);
  TL_TAKE(arena, n, &s->order);
  TL_TAKE(arena, n, &s->upper);
  TL_TRY(sort(s, last));
  for (int c = 0; c < 2; ++c) {
    TL_TAKE(arena, n + RUN, &s->lo[c]);
    TL_TAKE(arena, n + RUN, &s->hi[c]);
    for (size_t i = n; i < n + RUN; ++i) {
      s->lo[c][i] = INT16_MAX;
      s->hi[c][i] = -1;
    }
  }
  tl_for(&e->model->par, n, 0, find_others, s);
  return TALUS_OK;
}

/* ---- sweeping -------------------------------------------------------------------------------- */

/* One past the last box that begins at or before `upper`; boxes up to i do. */
static size_t find_end(const sweeper *s, size_t i, uint32_t upper) {
  size_t lo = i + 1, hi = i + 1, step = 1;
  const size_t n = s->entries.count;
  while (hi < n && s->lower[hi] <= upper) {
    lo = hi + 1;
    hi += step;
    step *= 2;
  }
  hi = hi < n ? hi : n;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (s->lower[mid] <= upper)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* True if any of the boxes j ... j+RUN-1 overlaps box i along the other axes. */
static inline bool any_meets(const sweeper *s, size_t i, size_t j) {
  const int16_t y0 = s->lo[0][i], y1 = s->hi[0][i], z0 = s->lo[1][i], z1 = s->hi[1][i];
  const int16_t *restrict ylo = s->lo[0] + j, *restrict yhi = s->hi[0] + j;
  const int16_t *restrict zlo = s->lo[1] + j, *restrict zhi = s->hi[1] + j;
  int16_t all_miss = -1;
  for (size_t k = 0; k < RUN; ++k)
    all_miss = (int16_t)(all_miss & ((int16_t)(y1 - ylo[k]) | (int16_t)(yhi[k] - y0) |
                                     (int16_t)(z1 - zlo[k]) | (int16_t)(zhi[k] - z0)));
  return all_miss >= 0;
}

static void sweep_box(const sweeper *s, size_t i, tl_catch *to) {
  const size_t end = find_end(s, i, s->upper[i]);
  const int16_t y0 = s->lo[0][i], y1 = s->hi[0][i], z0 = s->lo[1][i], z1 = s->hi[1][i];
  tl_entry a = {.index = UINT32_MAX};
  for (size_t run = i + 1; run < end; run += RUN) {
    if (!any_meets(s, i, run))
      continue;
    const size_t last = run + RUN < end ? run + RUN : end;
    for (size_t j = run; j < last; ++j) {
      if ((s->lo[0][j] > y1) | (s->hi[0][j] < y0) | (s->lo[1][j] > z1) | (s->hi[1][j] < z0))
        continue;
      if (a.index == UINT32_MAX)
        a = tl_entries_get(&s->entries, s->order[i]);
      const tl_entry b = tl_entries_get(&s->entries, s->order[j]);
      if (tl_span3_overlap(&a.box, &b.box))
        tl_entries_meet(&s->entries, &a, &b, to);
    }
  }
}

static void sweep(const void *context, size_t block, tl_catch *to) {
  const sweeper *s = context;
  const size_t wide_blocks = tl_entries_wide_blocks(&s->entries);
  if (block < wide_blocks) {
    tl_entries_search_wide(&s->entries, block, to);
    return;
  }
  const size_t first = (block - wide_blocks) * BLOCK;
  const size_t last = first + BLOCK < s->entries.count ? first + BLOCK : s->entries.count;
  for (size_t i = first; i < last; ++i)
    sweep_box(s, i, to);
}

talus_status tl_sweep_find_pairs(const tl_crowd *crowd, const talus_box *boxes,
                                 tl_sweep_order *last, tl_pairs *pairs) {
  sweeper s = {0};
  TL_TRY(tl_entries_make(crowd, boxes, &s.entries));
  TL_TRY(prepare(&s, last));
  const size_t blocks = tl_entries_wide_blocks(&s.entries) + (s.entries.count + BLOCK - 1) / BLOCK;
  return tl_search(crowd, blocks, sweep, &s, pairs);
}
