/* The linear kd-tree; kdtree.h explains the method. */
#include "base/power.h"
#include "broad/kdtree.h"

#include "base/sort.h"
#include "kernels/morton.h"

#define BLOCK       ((size_t)256)  /* entries that a task cuts */
#define SWEEP_BLOCK ((size_t)2048) /* records that a task sweeps */
/* quanta along a small box: more of them cost sorting, fewer cost candidates */
#define FINE        8.0
#define MOST_ASPECT 64.0 /* most aspect ratio of a typical box for the shape of cells */
#define MOST_UNEVEN 64.0 /* most ratio of sizes that the smallest cell follows */
#define ORDER_BITS  24   /* bits of the curve along which entries are sorted */

static inline int highest_bit(uint64_t x) {
#if defined(__GNUC__)
  return 63 - __builtin_clzll(x);
#else
  return tl_bits_u64(x) - 1;
#endif
}

/* ---- codes ----------------------------------------------------------------------------------- */

static uint64_t code_of(const tl_quanta *q, const double x[3]) {
  return tl_morton3(tl_quantise(q, 0, x[0]), tl_quantise(q, 1, x[1]), tl_quantise(q, 2, x[2]));
}

/* Writes the records of the box low ... high (as codes) into keys. axes: bits of the axes along
 * which it may still be cut. *volume: of their cells, in units of the smallest cells. Returns their
 * number. */
static int place(const tl_kdtree *tree, uint64_t low, uint64_t high, unsigned axes, uint64_t *keys,
                 uint64_t *volume) {
  if (low == high) {
    keys[0] = low << TL_KDTREE_LENGTH | (unsigned)tree->depth;
    *volume = 1;
    return 1;
  }
  const int top = highest_bit(low ^ high), axis = top % 3;
  const uint64_t bit = UINT64_C(1) << top, own = bit << 1;
  if ((axes >> axis & 1) != 0) {
    const uint64_t below = (TL_KDTREE_AXIS << axis) & (bit - 1);
    const unsigned rest = axes & ~(1u << axis);
    uint64_t first, second;
    int n = place(tree, low, (high & ~bit) | below, rest, keys, &first);
    n += place(tree, (low | bit) & ~below, high, rest, keys + n, &second);
    if (first + second < own) {
      *volume = first + second;
      return n;
    }
  }
  keys[0] = (low & ~(own - 1)) << TL_KDTREE_LENGTH | (unsigned)(tree->depth - 1 - top);
  *volume = own;
  return 1;
}

/* ---- sorting of entries ---------------------------------------------------------------------- */

typedef struct build_work {
  tl_kdtree *tree;
  uint32_t *curve, *order; /* by entry: place on the curve, and number */
  uint64_t *pieces;        /* keys: room for the most that a block can have */
  uint8_t *of_entry;       /* by entry: number of its records */
  uint64_t *first;         /* number of records of each block, later their begin */
} build_work;

static void find_curve(void *context, size_t begin, size_t end) {
  const build_work *work = context;
  const tl_kdtree *tree = work->tree;
  const int shift = tree->depth > ORDER_BITS ? tree->depth - ORDER_BITS : 0;
  for (size_t i = begin; i < end; ++i) {
    const tl_span3 box = tl_entries_box(&tree->entries, i);
    work->curve[i] = (uint32_t)(code_of(&tree->quanta, box.lo) >> shift);
    work->order[i] = (uint32_t)i;
  }
}

static void gather_entries(void *context, size_t begin, size_t end) {
  const build_work *work = context;
  tl_entries_gather(&work->tree->entries, work->order, begin, end, work->tree->entry);
}

static talus_status order_entries(build_work *work) {
  tl_kdtree *tree = work->tree;
  tl_arena *arena = tree->entries.crowd->arena;
  const tl_par *par = &tree->entries.model->par;
  const size_t n = tree->entries.count;
  TL_TAKE(arena, n, &tree->entry);
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, n, &work->curve);
  TL_TAKE(arena, n, &work->order);
  tl_for(par, n, 0, find_curve, work);
  const int bits = tree->depth < ORDER_BITS ? tree->depth : ORDER_BITS;
  TL_TRY(tl_sort_u32(par, arena, work->curve, work->order, n, bits));
  tl_for(par, n, 0, gather_entries, work);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

static void cut_blocks(void *context, size_t begin, size_t end) {
  const build_work *work = context;
  const tl_kdtree *tree = work->tree;
  const unsigned axes = tree->split ? 7u : 0u;
  for (size_t b = begin; b < end; ++b) {
    uint64_t *keys = work->pieces + b * BLOCK * TL_KDTREE_PIECES;
    const size_t last =
        b * BLOCK + BLOCK < tree->entries.count ? b * BLOCK + BLOCK : tree->entries.count;
    uint64_t count = 0, volume;
    for (size_t i = b * BLOCK; i < last; ++i) {
      tl_entry *e = &tree->entry[i];
      e->code = code_of(&tree->quanta, e->box.lo);
      const int n =
          place(tree, e->code, code_of(&tree->quanta, e->box.hi), axes, keys + count, &volume);
      work->of_entry[i] = (uint8_t)n;
      count += (uint64_t)n;
    }
    work->first[b] = count;
  }
}

static void write_blocks(void *context, size_t begin, size_t end) {
  const build_work *work = context;
  const tl_kdtree *tree = work->tree;
  for (size_t b = begin; b < end; ++b) {
    const uint64_t *keys = work->pieces + b * BLOCK * TL_KDTREE_PIECES;
    const size_t last =
        b * BLOCK + BLOCK < tree->entries.count ? b * BLOCK + BLOCK : tree->entries.count;
    size_t at = (size_t)work->first[b];
    for (size_t i = b * BLOCK; i < last; ++i)
      for (uint8_t n = work->of_entry[i]; n > 0; --n) {
        tree->key[at] = *keys++;
        tree->id[at++] = (uint32_t)i;
      }
  }
}

static talus_status make_records(build_work *work) {
  tl_kdtree *tree = work->tree;
  tl_arena *arena = tree->entries.crowd->arena;
  const tl_par *par = &tree->entries.model->par;
  const size_t n = tree->entries.count, blocks = (n + BLOCK - 1) / BLOCK;
  uint64_t total;
  TL_TAKE(arena, blocks, &work->first);
  TL_TAKE(arena, n, &work->of_entry);
  TL_TAKE(arena, blocks * BLOCK * TL_KDTREE_PIECES, &work->pieces);
  tl_for(par, blocks, 1, cut_blocks, work);
  TL_TRY(tl_scan_u64(par, arena, work->first, blocks, &total));
  if (total > UINT32_MAX)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%zu bodies make more records than a linear kd-tree can number: use bins", n);
  tree->count = (size_t)total;
  TL_TAKE(arena, tree->count, &tree->key);
  TL_TAKE(arena, tree->count, &tree->id);
  tl_for(par, blocks, 1, write_blocks, work);
  return tl_kdtree_sort(par, arena, tree->key, tree->id, tree->count,
                        tree->depth + TL_KDTREE_LENGTH);
}

/* Cells have the proportions of a typical box, within limits. */
static void choose_shape(const tl_entries *e, double edge[3]) {
  double longest = e->longest, range = 0;
  for (int k = 0; k < 3; ++k)
    range = e->bulk_hi[k] - e->bulk_lo[k] > range ? e->bulk_hi[k] - e->bulk_lo[k] : range;
  if (!(longest > 0)) /* points: their mean distance if evenly spread */
    longest = range / tl_cbrt_d((double)e->count + 1);
  if (!(longest > 0) || !(longest <= DBL_MAX))
    longest = 1;
  for (int k = 0; k < 3; ++k)
    edge[k] = e->edge[k] * MOST_ASPECT > longest ? e->edge[k] : longest / MOST_ASPECT;
}

/* Chooses the smallest cell: small enough to resolve a small box, or as `bits` says. */
static void choose_quanta(tl_kdtree *tree, int bits) {
  const tl_entries *e = &tree->entries;
  double edge[3], fit = 0;
  choose_shape(e, edge);
  for (int k = 0; k < 3; ++k)
    fit = (e->hi[k] - e->lo[k]) / edge[k] > fit ? (e->hi[k] - e->lo[k]) / edge[k] : fit;
  const bool uneven = !(e->small > 0) || e->longest > MOST_UNEVEN * e->small;
  const double scale = bits > 0         ? ldexp(fit > 0 ? fit : 1, -bits) * (1 + 0x1p-30)
                       : e->longest > 0 ? (uneven ? 1 / MOST_UNEVEN : e->small / e->longest) / FINE
                                        : 0.25;
  for (int k = 0; k < 3; ++k)
    edge[k] *= scale;
  tree->quanta = tl_entries_quanta(e, edge, bits > 0 ? bits : TL_KDTREE_BITS);
  tree->depth = 3 * tree->quanta.bits;
}

talus_status tl_kdtree_build(const tl_crowd *crowd, const talus_box *boxes, bool split, int bits,
                             tl_kdtree *tree) {
  *tree = (tl_kdtree){.split = split};
  build_work work = {.tree = tree};
  TL_TRY(tl_entries_make(crowd, boxes, &tree->entries));
  choose_quanta(tree, bits);
  TL_TRY(order_entries(&work));
  return make_records(&work);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static void sweep(const void *context, size_t block, tl_catch *to) {
  const tl_kdtree *tree = context;
  const size_t wide_blocks = tl_entries_wide_blocks(&tree->entries);
  if (block < wide_blocks) {
    tl_entries_search_wide(&tree->entries, block, to);
    return;
  }
  const size_t first = (block - wide_blocks) * SWEEP_BLOCK, n = tree->count;
  const size_t last = first + SWEEP_BLOCK < n ? first + SWEEP_BLOCK : n;
  const uint64_t *key = tree->key;
  for (size_t i = first; i < last; ++i) {
    const uint64_t end = tl_kdtree_last(tree, key[i]);
    const tl_entry *a = &tree->entry[tree->id[i]];
    for (size_t j = i + 1; j < n && key[j] <= end; ++j) {
      const tl_entry *b = &tree->entry[tree->id[j]];
      const bool overlap = tl_span3_overlap(&a->box, &b->box);
      const bool here = tl_kdtree_holds(tree, key[j], tl_kdtree_corner(a->code, b->code));
      if (overlap & here) /* neither is predictable: one branch */
        tl_entries_meet(&tree->entries, a, b, to);
    }
  }
}

talus_status tl_kdtree_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs) {
  tl_kdtree tree;
  TL_TRY(tl_kdtree_build(crowd, boxes, true, 0, &tree));
  const size_t blocks =
      tl_entries_wide_blocks(&tree.entries) + (tree.count + SWEEP_BLOCK - 1) / SWEEP_BLOCK;
  return tl_search(crowd, blocks, sweep, &tree, pairs);
}
