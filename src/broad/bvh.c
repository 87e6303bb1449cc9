/* A linear tree of boxes: entries are sorted by size class and, within one, along the Morton curve
 * (Lauterbach et al. 2009); eight neighbours make a leaf, eight leaves a node, eight nodes the next
 * and so on. The tree is implicit: a node is where it is by its number, and a level is fitted to
 * the one below in one parallel loop. Size goes first because one large box among small neighbours
 * would make all nodes above it large (Vinkler, Bittner and Havran 2017 put it into the code, too).
 *
 * Every leaf goes down the tree for the leaves that are not before it and overlap it: its entries
 * are neighbours, so they share the way. */
#include "base/sort.h"
#include "broad/bins.h"
#include "broad/entries.h"
#include "kernels/morton.h"

#define FAN       ((size_t)8)
#define FAN_SHIFT 3
#define LEVELS    12 /* 8^12 entries are more than 32 bits can number */
#define MOST_BITS 18 /* of a coordinate, in the code */
#define CLASSES   64 /* of size, a factor of 4 each; the median is in the middle of one */
#define LEAVES    ((size_t)64) /* of a block of the search */

typedef struct tree {
  tl_entries entries;
  tl_quanta quanta;
  int median_class; /* of bins.h: half an octave */
  tl_entry *entry;
  uint64_t *key;
  uint32_t *order;
  int levels;            /* of nodes; the top one has a single node */
  size_t count[LEVELS];  /* nodes of each level; level 0 are the leaves */
  tl_span3 *box[LEVELS]; /* of the nodes */
} tree;

/* ---- building -------------------------------------------------------------------------------- */

static uint64_t size_of(const tree *t, const tl_span3 *box) {
  double longest = 0;
  for (int k = 0; k < 3; ++k)
    longest = box->hi[k] - box->lo[k] > longest ? box->hi[k] - box->lo[k] : longest;
  const int steps = tl_bins_class_of_edge(longest) - t->median_class + 2 + 2 * CLASSES;
  const int size = steps > 0 ? steps / 4 : 0;
  return (uint64_t)(size < CLASSES ? size : CLASSES - 1);
}

static void find_keys(void *context, size_t begin, size_t end) {
  const tree *t = context;
  const tl_quanta *q = &t->quanta;
  for (size_t i = begin; i < end; ++i) {
    const tl_span3 box = tl_entries_box(&t->entries, i);
    uint32_t at[3];
    for (int k = 0; k < 3; ++k)
      at[k] = tl_quantise(q, k, 0.5 * box.lo[k] + 0.5 * box.hi[k]);
    t->key[i] = size_of(t, &box) << (3 * q->bits) | tl_morton3(at[0], at[1], at[2]);
    t->order[i] = (uint32_t)i;
  }
}

static void gather_entries(void *context, size_t begin, size_t end) {
  const tree *t = context;
  tl_entries_gather(&t->entries, t->order, begin, end, t->entry);
}

static inline void grow(tl_span3 *to, const tl_span3 *box) {
  for (int k = 0; k < 3; ++k) {
    to->lo[k] = box->lo[k] < to->lo[k] ? box->lo[k] : to->lo[k];
    to->hi[k] = box->hi[k] > to->hi[k] ? box->hi[k] : to->hi[k];
  }
}

static void fit_leaves(void *context, size_t begin, size_t end) {
  const tree *t = context;
  for (size_t i = begin; i < end; ++i) {
    const size_t last = i * FAN + FAN < t->entries.count ? i * FAN + FAN : t->entries.count;
    tl_span3 box = t->entry[i * FAN].box;
    for (size_t j = i * FAN + 1; j < last; ++j)
      grow(&box, &t->entry[j].box);
    t->box[0][i] = box;
  }
}

typedef struct fit_work {
  const tree *tree;
  int level;
} fit_work;

static void fit_nodes(void *context, size_t begin, size_t end) {
  const fit_work *work = context;
  const tl_span3 *below = work->tree->box[work->level - 1];
  const size_t n = work->tree->count[work->level - 1];
  for (size_t i = begin; i < end; ++i) {
    const size_t last = i * FAN + FAN < n ? i * FAN + FAN : n;
    tl_span3 box = below[i * FAN];
    for (size_t j = i * FAN + 1; j < last; ++j)
      grow(&box, &below[j]);
    work->tree->box[work->level][i] = box;
  }
}

static talus_status fit(tree *t) {
  const tl_par *par = &t->entries.model->par;
  size_t below = t->entries.count;
  if (below == 0)
    return TALUS_OK;
  do {
    const size_t n = (below + FAN - 1) / FAN;
    t->count[t->levels] = n;
    TL_TAKE(t->entries.scope->arena, n, &t->box[t->levels]);
    fit_work work = {t, t->levels};
    if (t->levels == 0)
      tl_for(par, n, 64, fit_leaves, t);
    else
      tl_for(par, n, 64, fit_nodes, &work);
    t->levels++;
    below = n;
  } while (below > 1);
  return TALUS_OK;
}

static talus_status build(const tl_model *model, const tl_scope *scope, const talus_box *boxes,
                          tree *t) {
  TL_TRY(tl_entries_make(model, scope, boxes, &t->entries));
  const tl_entries *e = &t->entries;
  const tl_par *par = &model->par;
  const size_t n = e->count;
  double range = 0;
  for (int k = 0; k < 3; ++k)
    range = e->bulk_hi[k] - e->bulk_lo[k] > range ? e->bulk_hi[k] - e->bulk_lo[k] : range;
  double edge = e->small > 0 ? e->small : range / cbrt((double)n + 1);
  if (!(edge > 0 && edge <= DBL_MAX))
    edge = 1;
  t->quanta = tl_entries_quanta(e, (const double[3]){edge, edge, edge}, MOST_BITS);
  t->median_class = tl_bins_class_of_edge(e->longest);
  TL_TAKE(scope->arena, n, &t->entry);
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  TL_TAKE(scope->arena, n, &t->key);
  TL_TAKE(scope->arena, n, &t->order);
  tl_for(par, n, 0, find_keys, t);
  TL_TRY(tl_sort_u64(par, scope->arena, t->key, t->order, n, 3 * t->quanta.bits + 6));
  tl_for(par, n, 0, gather_entries, t);
  tl_arena_release(scope->arena, mark);
  return fit(t);
}

/* ---- searching ------------------------------------------------------------------------------- */

typedef struct visit {
  int level;
  size_t node;
} visit;

/* Entries of one leaf against those of another, or of the same. */
static void meet_leaves(const tree *t, size_t p, size_t q, tl_sink *sink) {
  const size_t n = t->entries.count;
  const size_t end_p = p * FAN + FAN < n ? p * FAN + FAN : n;
  const size_t end_q = q * FAN + FAN < n ? q * FAN + FAN : n;
  const tl_span3 box = t->box[0][q];
  for (size_t i = p * FAN; i < end_p; ++i) {
    const tl_entry *a = &t->entry[i];
    if (!tl_span3_overlap(&a->box, &box))
      continue;
    for (size_t j = p == q ? i + 1 : q * FAN; j < end_q; ++j)
      if (tl_span3_overlap(&a->box, &t->entry[j].box))
        tl_entries_meet(&t->entries, a, &t->entry[j], sink);
  }
}

/* Leaf p against itself and all behind it. */
static void search_leaf(const tree *t, size_t p, tl_sink *sink) {
  visit stack[LEVELS * FAN];
  int top = 0;
  const tl_span3 box = t->box[0][p];
  stack[top++] = (visit){t->levels - 1, 0};
  while (top > 0) {
    const visit at = stack[--top];
    if (at.level == 0) {
      meet_leaves(t, p, at.node, sink);
      continue;
    }
    const int level = at.level - 1;
    const size_t least = p >> (FAN_SHIFT * level); /* the node that holds p */
    const size_t begin = at.node * FAN > least ? at.node * FAN : least;
    const size_t end =
        at.node * FAN + FAN < t->count[level] ? at.node * FAN + FAN : t->count[level];
    for (size_t c = begin; c < end; ++c)
      if (tl_span3_overlap(&box, &t->box[level][c]))
        stack[top++] = (visit){level, c};
  }
}

static void search(const void *context, size_t block, tl_sink *sink) {
  const tree *t = context;
  const size_t wide_blocks = tl_entries_wide_blocks(&t->entries);
  if (block < wide_blocks) {
    tl_entries_search_wide(&t->entries, block, sink);
    return;
  }
  const size_t first = (block - wide_blocks) * LEAVES;
  const size_t last = first + LEAVES < t->count[0] ? first + LEAVES : t->count[0];
  for (size_t p = first; p < last; ++p)
    search_leaf(t, p, sink);
}

talus_status tl_bvh_find_pairs(const tl_model *model, const tl_scope *scope,
                               const talus_box *boxes, tl_pairs *pairs) {
  tree t = {0};
  TL_TRY(build(model, scope, boxes, &t));
  const size_t blocks =
      tl_entries_wide_blocks(&t.entries) + (t.count[0] + LEAVES - 1) / LEAVES;
  return tl_search(&model->par, scope->arena, blocks, search, &t, pairs);
}
