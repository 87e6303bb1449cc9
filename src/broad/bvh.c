/* A linear tree of boxes: entries are sorted by size class and, within one, along the Morton curve
 * (Lauterbach et al. 2009); eight neighbours make a leaf, eight leaves a node, eight nodes the next
 * and so on. The tree is implicit: a node is where it is by its number, and a level is fitted to
 * the one below in one parallel loop. Size goes first because one large box among small neighbours
 * would make all nodes above it large (Vinkler, Bittner and Havran 2017 put it into the code, too).
 *
 * The order can be kept: as long as boxes move little, the nodes are fitted to them anew and
 * nothing is sorted. Leaves grow as neighbours part; when they are LOOSE times as large, compared
 * to the boxes in them, as when they were made, the order is made anew. Any order gives the same
 * pairs.
 *
 * Every leaf searches the tree for leaves after itself that overlap it: its entries are neighbours,
 * so one search serves all. */
#include "base/power.h"
#include "base/sort.h"
#include "broad/bins.h"
#include "broad/entries.h"
#include "broad/lanes.h"
#include "kernels/morton.h"

#define FAN       ((size_t)TL_LANES)
#define FAN_SHIFT 3
#define LEVELS    12    /* levels: 8^12 entries are more than 32 bits can number */
#define FINE      256.0 /* steps of the numbers along a small box */
#define CODE_BITS 18    /* most bits of a coordinate in the code */
#define COARSER   7     /* bits of a number that the code omits */
#define SIZES     64    /* classes of size, a factor of 4 each; the median is the middle one */
#define SIZE_BITS 6
#define LEAVES    ((size_t)64) /* leaves of a block of the search */
#define LOOSE     1.3

typedef struct tree {
  tl_entries entries;
  tl_quanta quanta;
  int shift;        /* bits from a number to a coordinate of the code */
  int median_class; /* in the classes of bins.h: half an octave */
  tl_entry *entry;
  uint64_t *key;
  uint32_t *order;
  int levels;           /* the top one has a single node */
  size_t count[LEVELS]; /* nodes of each level; level 0 has the leaves */
  tl_lanes *of[LEVELS]; /* by node: boxes of its children; for a leaf: of its entries */
} tree;

/* ---- building -------------------------------------------------------------------------------- */

static uint64_t size_of(const tree *t, const tl_span3 *box) {
  double longest = 0;
  for (int k = 0; k < 3; ++k)
    longest = box->hi[k] - box->lo[k] > longest ? box->hi[k] - box->lo[k] : longest;
  const int steps = tl_bins_class_of_edge(longest) - t->median_class + 2 + 2 * SIZES;
  const int size = steps > 0 ? steps / 4 : 0;
  return (uint64_t)(size < SIZES ? size : SIZES - 1);
}

static void find_keys(void *context, size_t begin, size_t end) {
  const tree *t = context;
  const tl_quanta *q = &t->quanta;
  for (size_t i = begin; i < end; ++i) {
    const tl_span3 box = tl_entries_box(&t->entries, i);
    uint32_t at[3];
    for (int k = 0; k < 3; ++k)
      at[k] = tl_quantise(q, k, 0.5 * box.lo[k] + 0.5 * box.hi[k]) >> t->shift;
    t->key[i] = size_of(t, &box) << (3 * (q->bits - t->shift)) | tl_morton3(at[0], at[1], at[2]);
    t->order[i] = (uint32_t)i;
  }
}

static void gather_entries(void *context, size_t begin, size_t end) {
  const tree *t = context;
  tl_entries_gather(&t->entries, t->order, begin, end, t->entry);
}

static tl_lane lane_of(const tree *t, const tl_span3 *box) {
  tl_lane lane;
  for (int k = 0; k < 3; ++k) {
    lane.lo[k] = (int32_t)tl_quantise(&t->quanta, k, box->lo[k]);
    lane.hi[k] = (int32_t)tl_quantise(&t->quanta, k, box->hi[k]);
  }
  return lane;
}

static void fit_leaves(void *context, size_t begin, size_t end) {
  const tree *t = context;
  for (size_t i = begin; i < end; ++i)
    for (size_t k = 0; k < FAN; ++k) {
      const size_t j = i * FAN + k;
      const tl_lane lane = j < t->entries.count ? lane_of(t, &t->entry[j].box) : tl_lane_none();
      tl_lanes_set(&t->of[0][i], (int)k, &lane);
    }
}

typedef struct fit_work {
  const tree *tree;
  int level;
} fit_work;

static void fit_nodes(void *context, size_t begin, size_t end) {
  const fit_work *work = context;
  const tree *t = work->tree;
  for (size_t i = begin; i < end; ++i)
    for (size_t k = 0; k < FAN; ++k) {
      const size_t j = i * FAN + k;
      const tl_lane lane = j < t->count[work->level - 1]
                               ? tl_lanes_union(&t->of[work->level - 1][j])
                               : tl_lane_none();
      tl_lanes_set(&t->of[work->level][i], (int)k, &lane);
    }
}

static talus_status take_nodes(tree *t) {
  size_t below = t->entries.count;
  while (below > 1 || (t->levels == 0 && below > 0)) {
    below = (below + FAN - 1) / FAN;
    t->count[t->levels] = below;
    TL_TAKE(t->entries.crowd->arena, below, &t->of[t->levels]);
    t->levels++;
  }
  return TALUS_OK;
}

/* Fits the entries in their order, and the nodes above them. */
static void fit(tree *t) {
  const tl_par *par = &t->entries.model->par;
  tl_for(par, t->entries.count, 0, gather_entries, t);
  for (int l = 0; l < t->levels; ++l) {
    fit_work work = {t, l};
    if (l == 0)
      tl_for(par, t->count[0], 64, fit_leaves, t);
    else
      tl_for(par, t->count[l], 64, fit_nodes, &work);
  }
}

/* ---- keeping an order ------------------------------------------------------------------------ */

/* Sum of the edges of a box, in one unit. */
static double edges_of(const tree *t, const tl_lane *lane) {
  double sum = 0;
  for (int k = 0; k < 3; ++k)
    sum += (double)(lane->hi[k] - lane->lo[k] + 1) / t->quanta.inverse[k];
  return sum;
}

static double sum_leaves(void *context, size_t begin, size_t end) {
  const tree *t = context;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) {
    const tl_lane lane = tl_lanes_union(&t->of[0][i]);
    sum += edges_of(t, &lane);
  }
  return sum;
}

static double sum_entries(void *context, size_t begin, size_t end) {
  const tree *t = context;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) {
    const tl_lane lane = tl_lanes_get(&t->of[0][i / FAN], (int)(i % FAN));
    sum += edges_of(t, &lane);
  }
  return sum;
}

/* Looseness: size of leaves relative to the boxes in them. */
static talus_status find_looseness(tree *t, double *looseness) {
  const tl_par *par = &t->entries.model->par;
  tl_arena *arena = t->entries.crowd->arena;
  double leaves, entries;
  TL_TRY(tl_sum(par, arena, t->count[0], sum_leaves, t, &leaves));
  TL_TRY(tl_sum(par, arena, t->entries.count, sum_entries, t, &entries));
  *looseness = entries > 0 ? leaves / entries : 1;
  return TALUS_OK;
}

static talus_status try_kept(tree *t, const tl_bvh_kept *kept, bool *good) {
  double looseness;
  *good = kept && t->entries.count > 0 && kept->order.count == t->entries.count;
  if (!*good)
    return TALUS_OK;
  t->order = kept->order.data;
  fit(t);
  TL_TRY(find_looseness(t, &looseness));
  *good = looseness <= LOOSE * kept->looseness;
  return TALUS_OK;
}

static talus_status keep(tree *t, tl_bvh_kept *kept) {
  kept->rebuilds++;
  TL_TRY(tl_array_resize(&kept->order, t->entries.count));
  if (t->entries.count == 0)
    return TALUS_OK;
  memcpy(kept->order.data, t->order, t->entries.count * sizeof *t->order);
  return find_looseness(t, &kept->looseness);
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Chooses numbers that resolve small boxes or, for points, the distance between them. */
static void choose_numbers(tree *t) {
  const tl_entries *e = &t->entries;
  double range = 0;
  for (int k = 0; k < 3; ++k)
    range = e->bulk_hi[k] - e->bulk_lo[k] > range ? e->bulk_hi[k] - e->bulk_lo[k] : range;
  double edge = e->small > 0 ? e->small : range / tl_cbrt_d((double)e->count + 1);
  edge = edge > 0 && edge <= DBL_MAX ? edge / FINE : 1;
  t->quanta = tl_entries_quanta(e, (const double[3]){edge, edge, edge}, TL_LANE_BITS);
  const int bits = t->quanta.bits;
  t->shift = bits < COARSER ? 0 : bits - COARSER > CODE_BITS ? bits - CODE_BITS : COARSER;
  t->median_class = tl_bins_class_of_edge(e->longest);
}

static talus_status sort(tree *t) {
  const tl_par *par = &t->entries.model->par;
  tl_arena *arena = t->entries.crowd->arena;
  const size_t n = t->entries.count;
  TL_TAKE(arena, n, &t->key);
  TL_TAKE(arena, n, &t->order);
  tl_for(par, n, 0, find_keys, t);
  const int bits = 3 * (t->quanta.bits - t->shift) + SIZE_BITS;
  return tl_sort_u64(par, arena, t->key, t->order, n, bits);
}

static talus_status build(const tl_crowd *crowd, const talus_box *boxes, tl_bvh_kept *kept,
                          tree *t) {
  bool good;
  TL_TRY(tl_entries_make(crowd, boxes, &t->entries));
  choose_numbers(t);
  TL_TAKE(crowd->arena, t->entries.count, &t->entry);
  TL_TRY(take_nodes(t));
  TL_TRY(try_kept(t, kept, &good));
  if (good)
    return TALUS_OK;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  TL_TRY(sort(t));
  fit(t);
  if (kept)
    TL_TRY(keep(t, kept));
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* ---- searching ------------------------------------------------------------------------------- */

/* Tests the entries of one leaf against those of another (around: the box of that), or of
 * itself. */
static void meet_leaves(const tree *t, size_t p, size_t q, const tl_lane *around, tl_catch *to) {
  const tl_lanes *in_p = &t->of[0][p], *in_q = &t->of[0][q];
  for (unsigned near = tl_lanes_overlap(in_p, around); near != 0; near &= near - 1) {
    const int i = tl_lowest_bit(near);
    const tl_lane lane = tl_lanes_get(in_p, i);
    const tl_entry *a = &t->entry[p * FAN + (size_t)i];
    unsigned hits = tl_lanes_overlap(in_q, &lane);
    if (p == q)
      hits &= ~((2u << i) - 1);
    for (; hits != 0; hits &= hits - 1) {
      const tl_entry *b = &t->entry[q * FAN + (size_t)tl_lowest_bit(hits)];
      if (tl_span3_overlap(&a->box, &b->box))
        tl_entries_meet(&t->entries, a, b, to);
    }
  }
}

typedef struct visit {
  int level;
  size_t node;
} visit;

/* Tests leaf p against itself and all leaves after it. */
static void search_leaf(const tree *t, size_t p, tl_catch *to) {
  visit stack[LEVELS * FAN];
  int top = 0;
  const tl_lane box = tl_lanes_union(&t->of[0][p]);
  if (t->levels == 1)
    meet_leaves(t, p, p, &box, to);
  else
    stack[top++] = (visit){t->levels - 1, 0};
  while (top > 0) {
    const visit at = stack[--top];
    const tl_lanes *children = &t->of[at.level][at.node];
    const size_t least = p >> (FAN_SHIFT * (at.level - 1)); /* the child that contains p, or is p */
    for (unsigned hits = tl_lanes_overlap(children, &box); hits != 0; hits &= hits - 1) {
      const int k = tl_lowest_bit(hits);
      const size_t child = at.node * FAN + (size_t)k;
      const tl_lane around = tl_lanes_get(children, k);
      if (child < least)
        continue;
      if (at.level == 1)
        meet_leaves(t, p, child, &around, to);
      else
        stack[top++] = (visit){at.level - 1, child};
    }
  }
}

static void search(const void *context, size_t block, tl_catch *to) {
  const tree *t = context;
  const size_t wide_blocks = tl_entries_wide_blocks(&t->entries);
  if (block < wide_blocks) {
    tl_entries_search_wide(&t->entries, block, to);
    return;
  }
  const size_t first = (block - wide_blocks) * LEAVES;
  const size_t last = first + LEAVES < t->count[0] ? first + LEAVES : t->count[0];
  for (size_t p = first; p < last; ++p)
    search_leaf(t, p, to);
}

talus_status tl_bvh_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_bvh_kept *kept,
                               tl_pairs *pairs) {
  tree t = {0};
  TL_TRY(build(crowd, boxes, kept, &t));
  const size_t blocks = tl_entries_wide_blocks(&t.entries) + (t.count[0] + LEAVES - 1) / LEAVES;
  return tl_search(crowd, blocks, search, &t, pairs);
}
