#include "narrow/front.h"

#include "base/sort.h"
#include "narrow/iterative.h"
#include "narrow/surrogate.h"

#define GRAIN ((size_t)32) /* pairs of nodes */

/* ---- nodes ----------------------------------------------------------------------------------- */

/* A node as child of another: node << 3 | child; TL_NONE is the root. A child with triangles is a
 * leaf. */
typedef struct node_pair {
  uint32_t pair, a, b;
} node_pair;

typedef struct level {
  const tl_fronts *fronts;
  const tl_triangle_loops *loops;
  tl_children_view *views; /* two for each pair: a in the frame of b, b in the frame of a */
  node_pair *list;
  uint64_t *mask;   /* near pairs of children: bit 8 i + j */
  uint64_t *offset; /* by pair: begin of its rows in the next list */
  size_t count;
  node_pair *next;
} level;

static bool is_leaf(const tl_tree *tree, uint32_t ref) {
  return ref != TL_NONE && tree->node[ref >> 3].count[ref & 7u] > 0;
}

/* The node whose children come next, and which children exist: those of the node below, or the leaf
 * itself. */
static uint32_t below(const tl_tree *tree, uint32_t ref, unsigned *slots) {
  *slots = 0xff;
  if (ref == TL_NONE)
    return 0;
  if (!is_leaf(tree, ref))
    return tree->node[ref >> 3].first[ref & 7u];
  *slots = 1u << (ref & 7u);
  return ref >> 3;
}

/* Bound of rounding errors in float, relative to the largest number: ten roundings each are far
 * less. */
#define FLOAT_SLACK 4e-6

static tl_children_view view_of(const tl_mesh_move *move, double extent, double reach) {
  tl_children_view v;
  for (int i = 0; i < 3; ++i) {
    double most = fabs(move->offset[i]) + reach;
    for (int k = 0; k < 3; ++k) {
      v.m[i][k] = (float)move->m[i][k];
      most += fabs(move->m[i][k]) * extent;
    }
    v.offset[i] = (float)move->offset[i];
    v.more[i] = (float)(reach + FLOAT_SLACK * most);
  }
  return v;
}

/* Which children of both are near: neither frame shows a gap between them. */
static uint64_t near_children(const level *l, const node_pair *here) {
  const tl_mesh_pair *pair = &l->fronts->pairs[here->pair];
  const tl_tree *tree_a = &pair->a.f->tree, *tree_b = &pair->b.f->tree;
  unsigned slots_a, slots_b;
  const uint32_t a = below(tree_a, here->a, &slots_a), b = below(tree_b, here->b, &slots_b);
  if (is_leaf(tree_a, here->a) && is_leaf(tree_b, here->b))
    return UINT64_C(1) << (8 * (here->a & 7u) + (here->b & 7u));
  return l->loops->near_children(&tree_a->node[a], slots_a, &l->views[2 * here->pair],
                                 &tree_b->node[b], slots_b, &l->views[2 * here->pair + 1]);
}

static void test_children(void *context, size_t begin, size_t end) {
  const level *l = context;
  for (size_t i = begin; i < end && !tl_cancel_look(l->fronts->cancel); ++i) {
    l->mask[i] = near_children(l, &l->list[i]);
    l->offset[i] = (uint64_t)__builtin_popcountll(l->mask[i]);
  }
}

static void write_children(void *context, size_t begin, size_t end) {
  const level *l = context;
  unsigned slots;
  for (size_t i = begin; i < end; ++i) {
    const node_pair here = l->list[i];
    const tl_mesh_pair *pair = &l->fronts->pairs[here.pair];
    node_pair *next = l->next + l->offset[i];
    const uint32_t a = below(&pair->a.f->tree, here.a, &slots) << 3;
    const uint32_t b = below(&pair->b.f->tree, here.b, &slots) << 3;
    for (uint64_t left = l->mask[i]; left; left &= left - 1) {
      const uint32_t bit = (uint32_t)__builtin_ctzll(left);
      *next++ = (node_pair){here.pair, a | bit >> 3, b | (bit & 7u)};
    }
  }
}

/* Goes one level down, if there is one. */
static talus_status go_down(level *l) {
  const tl_fronts *f = l->fronts;
  uint64_t total;
  TL_TAKE(f->arena, l->count, &l->mask);
  TL_TAKE(f->arena, l->count, &l->offset);
  tl_for(f->par, l->count, GRAIN, test_children, l);
  TL_GO_ON(f->cancel);
  TL_TRY(tl_scan_u64(f->par, f->arena, l->offset, l->count, &total));
  TL_TAKE(f->arena, total, &l->next);
  tl_for(f->par, l->count, GRAIN, write_children, l);
  l->list = l->next, l->count = total;
  return TALUS_OK;
}

static talus_status find_leaves(level *l) {
  const tl_fronts *f = l->fronts;
  int levels = 0;
  TL_TAKE(f->arena, f->count, &l->list);
  TL_TAKE(f->arena, 2 * f->count, &l->views);
  l->count = f->count;
  l->loops = tl_triangle_loops_now();
  for (size_t i = 0; i < f->count; ++i) {
    const int a = f->pairs[i].a.f->tree.levels, b = f->pairs[i].b.f->tree.levels;
    const tl_mesh_pair *pair = &f->pairs[i];
    const double reach = tl_mesh_pair_reach(pair), back = reach * pair->b.scale / pair->a.scale;
    l->views[2 * i] = view_of(&pair->a_to_b, pair->a.f->far, reach);
    l->views[2 * i + 1] = view_of(&pair->b_to_a, pair->b.f->far, back);
    l->list[i] = (node_pair){(uint32_t)i, TL_NONE, TL_NONE};
    levels = levels > a ? levels : a;
    levels = levels > b ? levels : b;
  }
  for (int k = 0; k < levels; ++k)
    TL_TRY(go_down(l));
  return TALUS_OK;
}

/* ---- triangles ------------------------------------------------------------------------------- */

#define LEAF_PAIRS (TL_TREE_LEAF * TL_TREE_LEAF)
#define MOST       (GRAIN * LEAF_PAIRS)

/* Results for two leaves: bit 4 i + j: triangles i and j are near; they cross. */
typedef struct verdict {
  uint16_t near, crosses;
} verdict;

typedef struct leaves {
  const tl_fronts *fronts;
  const node_pair *list;
  size_t count;
  verdict *verdict;
  uint64_t *offset;
  tl_front_list *out;
} leaves;

/* Pairs of leaves of one pair of meshes, packed for lanes. */
typedef struct packed {
  tl_triangle_corners a[GRAIN * TL_TREE_LEAF], b[GRAIN * TL_TREE_LEAF];
  tl_triangle_pair pairs[MOST];
  uint16_t code[MOST]; /* leaf << 4 | bit */
  tl_triangle_near found[MOST];
  uint32_t which[MOST];
  size_t leaves, count;
  uint32_t last_a, row_a; /* the leaf of a that was packed last, and its row */
} packed;

static uint32_t leaf_of(const tl_tree *tree, uint32_t ref, uint32_t *count) {
  const tl_tree_node *n = &tree->node[ref >> 3];
  *count = n->count[ref & 7u];
  return n->first[ref & 7u];
}

/* Boxes are much thicker than what is in them where they stand aslant: shadows part most. */
static void pack(packed *p, const tl_triangle_loops *loops, const tl_mesh_pair *pair,
                 const node_pair *leaf, double reach) {
  const uint32_t row = (uint32_t)p->leaves * TL_TREE_LEAF;
  uint32_t count_a, count_b;
  const uint32_t first_a = leaf_of(&pair->a.f->tree, leaf->a, &count_a);
  const uint32_t first_b = leaf_of(&pair->b.f->tree, leaf->b, &count_b);
  if (p->leaves == 0 || p->last_a != leaf->a) { /* leaves of a come in runs */
    p->last_a = leaf->a, p->row_a = row;
    for (uint32_t i = 0; i < count_a; ++i)
      p->a[row + i] = tl_mesh_pair_first(pair, first_a + i);
  }
  const uint32_t row_a = p->row_a;
  for (uint32_t j = 0; j < count_b; ++j)
    p->b[row + j] = tl_mesh_pair_second(pair, first_b + j);
  unsigned left = loops->shadow_leaves(p->a + row_a, count_a, p->b + row, count_b, reach);
  for (; left; left &= left - 1) {
    const uint32_t bit = (uint32_t)__builtin_ctz(left);
    p->pairs[p->count] = (tl_triangle_pair){row_a + bit / TL_TREE_LEAF, row + bit % TL_TREE_LEAF};
    p->code[p->count++] = (uint16_t)(p->leaves << 4 | bit);
  }
  p->leaves++;
}

/* Decides pairs by proofs: proven apart, or proven near and not touching. Exact comparison decides
 * the others, and which triangles cross. */
static size_t find_certified(const tl_triangle_corners *as, const tl_triangle_corners *bs,
                             const tl_triangle_pair *pairs, size_t n, double reach,
                             tl_triangle_near *out, uint32_t *which, uint64_t *asked) {
  const double tolerance = 0.1 * reach;
  size_t found = 0;
  for (size_t i = 0; i < n; ++i) {
    const tl_triangle_corners *a = &as[pairs[i].a], *b = &bs[pairs[i].b];
    tl_triangle_near near;
    const tl_triangle_verdict v = tl_triangle_certify(a, b, reach, tolerance, &near);
    if (v == TL_TRIANGLE_APART)
      continue;
    const bool proven = v == TL_TRIANGLE_PROVEN && near.square > tolerance * tolerance &&
                        near.square <= reach * reach;
    if (proven)
      near.feature = 0;
    else
      near = tl_triangle_triangle(a, b), ++*asked;
    if (!(near.square <= reach * reach))
      continue;
    out[found] = near;
    which[found++] = (uint32_t)i;
  }
  return found;
}

size_t tl_front_triangles(const tl_fronts *fronts, const tl_triangle_corners *a,
                          const tl_triangle_corners *b, const tl_triangle_pair *pairs, size_t n,
                          double reach, tl_triangle_near *found, uint32_t *which) {
  const talus_triangle_method method = fronts->method;
  uint64_t asked = 0;
  const size_t count =
      method == TALUS_TRIANGLE_CERTIFIED
          ? find_certified(a, b, pairs, n, reach, found, which, &asked)
      : method == TALUS_TRIANGLE_ITERATIVE || method == TALUS_TRIANGLE_HYBRID
          ? tl_triangles_iterate(a, b, pairs, n, reach, method == TALUS_TRIANGLE_HYBRID, found,
                                 which, &asked)
          : tl_triangles_find(a, b, pairs, n, reach, found, which, NULL);
  tl_narrow_count(fronts->counts, n, asked);
  return count;
}

static void find_packed(packed *p, const tl_fronts *fronts, const tl_mesh_pair *pair,
                        verdict *verdicts) {
  const double reach = tl_mesh_pair_reach(pair);
  memset(verdicts, 0, p->leaves * sizeof *verdicts);
  size_t found;
  if (fronts->method == TALUS_TRIANGLE_COMPARISON) {
    found = tl_triangles_find_shadowed(p->a, p->b, p->pairs, p->count, reach, p->found, p->which);
    tl_narrow_count(fronts->counts, p->count, 0);
  } else {
    found = tl_front_triangles(fronts, p->a, p->b, p->pairs, p->count, reach, p->found, p->which);
  }
  for (size_t i = 0; i < found; ++i) {
    const uint16_t code = p->code[p->which[i]], bit = (uint16_t)(1u << (code & 15u));
    verdict *v = &verdicts[code >> 4];
    v->near |= bit;
    if (p->found[i].feature >= TL_TRIANGLE_CROSSES)
      v->crosses |= bit;
  }
  p->leaves = p->count = 0;
}

static void judge(void *context, size_t begin, size_t end) {
  const leaves *l = context;
  const tl_triangle_loops *loops = tl_triangle_loops_now();
  packed p;
  p.leaves = p.count = 0;
  for (size_t i = begin; i < end && !tl_cancel_look(l->fronts->cancel); ++i) {
    const node_pair *leaf = &l->list[i];
    const tl_mesh_pair *pair = &l->fronts->pairs[leaf->pair];
    pack(&p, loops, pair, leaf, tl_mesh_pair_reach(pair));
    if (p.leaves == GRAIN || i + 1 == end || leaf[1].pair != leaf->pair)
      find_packed(&p, l->fronts, pair, l->verdict + (i + 1 - p.leaves));
  }
  for (size_t i = begin; i < end && !tl_cancel_look(l->fronts->cancel); ++i)
    l->offset[i] = (uint64_t)__builtin_popcount(l->verdict[i].near);
}

static void write_keys(void *context, size_t begin, size_t end) {
  const leaves *l = context;
  for (size_t i = begin; i < end; ++i) {
    const node_pair *leaf = &l->list[i];
    const tl_mesh_pair *pair = &l->fronts->pairs[leaf->pair];
    const verdict v = l->verdict[i];
    size_t at = l->offset[i];
    uint32_t count;
    const uint32_t first_a = leaf_of(&pair->a.f->tree, leaf->a, &count);
    const uint32_t first_b = leaf_of(&pair->b.f->tree, leaf->b, &count);
    for (unsigned left = v.near; left; left &= left - 1) {
      const uint32_t bit = (uint32_t)__builtin_ctz(left);
      const uint32_t a = first_a + bit / TL_TREE_LEAF, b = first_b + bit % TL_TREE_LEAF;
      const bool crosses = v.crosses >> bit & 1;
      l->out->of_a[at] = tl_mesh_key_make(a, b, crosses);
      l->out->of_b[at++] = tl_mesh_key_make(b, a, crosses);
    }
  }
}

/* ---- sorted ---------------------------------------------------------------------------------- */

typedef struct sorting {
  tl_front_list *list;
  tl_mesh_key *scratch; /* as long as the lists */
} sorting;

/* Merge sort by runs; `other` has room for as many keys. */
void tl_front_sort_keys(tl_mesh_key *keys, tl_mesh_key *other, size_t n) {
  tl_mesh_key *from = keys, *to = other;
  for (size_t wide = 1; wide < n; wide *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * wide) {
      const size_t middle = n - begin < wide ? n : begin + wide;
      const size_t end = n - middle < wide ? n : middle + wide;
      size_t i = begin, j = middle;
      for (size_t k = begin; k < end; ++k)
        to[k] = j == end || (i < middle && from[i] <= from[j]) ? from[i++] : from[j++];
    }
    tl_mesh_key *t = from;
    from = to, to = t;
  }
  if (from != keys)
    memcpy(keys, from, n * sizeof *keys);
}

static void sort_pair(void *context, size_t begin, size_t end) {
  const sorting *s = context;
  for (size_t i = begin; i < end; ++i) {
    const size_t from = s->list->start[i], n = s->list->start[i + 1] - from;
    tl_front_sort_keys(s->list->of_a + from, s->scratch + from, n);
    tl_front_sort_keys(s->list->of_b + from, s->scratch + from, n);
  }
}

void tl_front_sort(const tl_fronts *fronts, tl_front_list *list, tl_mesh_key *scratch) {
  sorting s = {.list = list, .scratch = scratch};
  tl_deal(fronts->par, fronts->count, sort_pair, &s);
}

/* ---- both lists ------------------------------------------------------------------------------ */

static void set_starts(const leaves *l, uint64_t total) {
  size_t pair = 0;
  for (size_t i = 0; i < l->count; ++i)
    while (pair <= l->list[i].pair)
      l->out->start[pair++] = l->offset[i];
  while (pair <= l->fronts->count)
    l->out->start[pair++] = total;
}

talus_status tl_fronts_find(const tl_fronts *fronts, tl_front_list *list) {
  if (fronts->surrogates)
    return tl_surrogates_find(fronts, list);
  level top = {.fronts = fronts};
  uint64_t total;
  TL_TRY(find_leaves(&top));
  leaves l = {.fronts = fronts, .list = top.list, .count = top.count, .out = list};
  TL_TAKE(fronts->arena, l.count, &l.verdict);
  TL_TAKE(fronts->arena, l.count, &l.offset);
  tl_for(fronts->par, l.count, GRAIN, judge, &l);
  TL_GO_ON(fronts->cancel);
  TL_TRY(tl_scan_u64(fronts->par, fronts->arena, l.offset, l.count, &total));
  TL_TAKE(fronts->arena, fronts->count + 1, &list->start);
  TL_TAKE(fronts->arena, total, &list->of_a);
  TL_TAKE(fronts->arena, total, &list->of_b);
  tl_mesh_key *scratch;
  TL_TAKE(fronts->arena, total, &scratch);
  set_starts(&l, total);
  tl_for(fronts->par, l.count, GRAIN, write_keys, &l);
  tl_front_sort(fronts, list, scratch);
  return TALUS_OK;
}
