#include "narrow/front.h"

#include "base/sort.h"
#include "narrow/triangles.h"

#define GRAIN ((size_t)32) /* pairs of nodes */

/* ---- nodes ----------------------------------------------------------------------------------- */

/* A node as the child of another: node << 3 | child; TL_NONE is the root. A child with triangles is
 * a leaf. */
typedef struct node_pair {
  uint32_t pair, a, b;
} node_pair;

typedef struct level {
  const tl_fronts *fronts;
  node_pair *list;
  uint64_t *mask;   /* which pairs of children are near: bit 8 i + j */
  uint64_t *offset; /* of them in the next list */
  size_t count;
  node_pair *next;
} level;

static uint32_t children_of(const tl_tree *tree, uint32_t ref, uint32_t child[TL_TREE_WIDE]) {
  uint32_t node = 0, count = 0;
  if (ref != TL_NONE) {
    const tl_tree_node *n = &tree->node[ref >> 3];
    if (n->count[ref & 7u] > 0) {
      child[0] = ref;
      return 1;
    }
    node = n->first[ref & 7u];
  }
  const tl_tree_node *n = &tree->node[node];
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k)
    if (!(n->lo[0][k] > n->hi[0][k]))
      child[count++] = node << 3 | k;
  return count;
}

static bool is_leaf(const tl_tree *tree, uint32_t ref) {
  return ref != TL_NONE && tree->node[ref >> 3].count[ref & 7u] > 0;
}

/* Children of both, each beside the other's frame: near where neither frame has a gap. */
static uint64_t near_children(const tl_mesh_pair *pair, const node_pair *here) {
  const tl_tree *tree_a = &pair->a.f->tree, *tree_b = &pair->b.f->tree;
  uint32_t a[TL_TREE_WIDE], b[TL_TREE_WIDE];
  tl_tree_box seen_a[TL_TREE_WIDE], seen_b[TL_TREE_WIDE];
  uint64_t mask = 0;
  if (is_leaf(tree_a, here->a) && is_leaf(tree_b, here->b))
    return 1;
  const uint32_t count_a = children_of(tree_a, here->a, a);
  const uint32_t count_b = children_of(tree_b, here->b, b);
  const double reach = tl_mesh_pair_reach(pair);
  const double back = reach * pair->b.scale / pair->a.scale;
  for (uint32_t i = 0; i < count_a; ++i)
    seen_a[i] = tl_mesh_moved_box(&pair->a_to_b, &tree_a->node[a[i] >> 3], a[i] & 7u, reach);
  for (uint32_t j = 0; j < count_b; ++j)
    seen_b[j] = tl_mesh_moved_box(&pair->b_to_a, &tree_b->node[b[j] >> 3], b[j] & 7u, back);
  for (uint32_t i = 0; i < count_a; ++i)
    for (uint32_t j = 0; j < count_b; ++j)
      if (tl_tree_meets(&tree_b->node[b[j] >> 3], b[j] & 7u, &seen_a[i]) &&
          tl_tree_meets(&tree_a->node[a[i] >> 3], a[i] & 7u, &seen_b[j]))
        mask |= UINT64_C(1) << (8 * i + j);
  return mask;
}

static void test_children(void *context, size_t begin, size_t end) {
  const level *l = context;
  for (size_t i = begin; i < end && !tl_cancel_look(l->fronts->cancel); ++i) {
    l->mask[i] = near_children(&l->fronts->pairs[l->list[i].pair], &l->list[i]);
    l->offset[i] = (uint64_t)__builtin_popcountll(l->mask[i]);
  }
}

static void write_children(void *context, size_t begin, size_t end) {
  const level *l = context;
  uint32_t a[TL_TREE_WIDE], b[TL_TREE_WIDE];
  for (size_t i = begin; i < end; ++i) {
    const node_pair here = l->list[i];
    const tl_mesh_pair *pair = &l->fronts->pairs[here.pair];
    node_pair *next = l->next + l->offset[i];
    children_of(&pair->a.f->tree, here.a, a);
    children_of(&pair->b.f->tree, here.b, b);
    for (uint64_t left = l->mask[i]; left; left &= left - 1) {
      const int bit = __builtin_ctzll(left);
      *next++ = (node_pair){here.pair, a[bit >> 3], b[bit & 7]};
    }
  }
}

/* One level down, where there is one. */
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
  l->count = f->count;
  for (size_t i = 0; i < f->count; ++i) {
    const int a = f->pairs[i].a.f->tree.levels, b = f->pairs[i].b.f->tree.levels;
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

/* Of two leaves: bit 4 i + j: triangle i of one and j of the other are near, go through each
 * other. */
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

/* Some pairs of leaves of one pair of meshes, for the lanes. */
typedef struct packed {
  tl_triangle_corners a[GRAIN * TL_TREE_LEAF], b[GRAIN * TL_TREE_LEAF];
  tl_triangle_pair pairs[MOST];
  uint16_t code[MOST]; /* leaf << 4 | bit */
  tl_triangle_near found[MOST];
  uint32_t which[MOST];
  size_t leaves, count;
} packed;

static uint32_t leaf_of(const tl_tree *tree, uint32_t ref, uint32_t *count) {
  const tl_tree_node *n = &tree->node[ref >> 3];
  *count = n->count[ref & 7u];
  return n->first[ref & 7u];
}

static void pack(packed *p, const tl_mesh_pair *pair, const node_pair *leaf) {
  const uint32_t row = (uint32_t)p->leaves * TL_TREE_LEAF;
  uint32_t count_a, count_b;
  const uint32_t first_a = leaf_of(&pair->a.f->tree, leaf->a, &count_a);
  const uint32_t first_b = leaf_of(&pair->b.f->tree, leaf->b, &count_b);
  for (uint32_t i = 0; i < count_a; ++i)
    p->a[row + i] = tl_mesh_pair_first(pair, first_a + i);
  for (uint32_t j = 0; j < count_b; ++j)
    p->b[row + j] = tl_mesh_pair_second(pair, first_b + j);
  for (uint32_t i = 0; i < count_a; ++i)
    for (uint32_t j = 0; j < count_b; ++j) {
      p->pairs[p->count] = (tl_triangle_pair){row + i, row + j};
      p->code[p->count++] = (uint16_t)(p->leaves << 4 | (TL_TREE_LEAF * i + j));
    }
  p->leaves++;
}

/* What is proven to be apart is; what is proven to be near is, if it is also proven not to touch:
 * comparison decides the rest, and with it who goes through whom. */
static size_t find_certified(packed *p, double reach) {
  const double tolerance = 0.1 * reach;
  size_t found = 0;
  for (size_t i = 0; i < p->count; ++i) {
    const tl_triangle_corners *a = &p->a[p->pairs[i].a], *b = &p->b[p->pairs[i].b];
    tl_triangle_near near;
    const tl_triangle_verdict v = tl_triangle_certify(a, b, reach, tolerance, &near);
    if (v == TL_TRIANGLE_APART)
      continue;
    const bool proven = v == TL_TRIANGLE_PROVEN && near.square > tolerance * tolerance &&
                        near.square <= reach * reach;
    if (proven)
      near.feature = 0;
    else
      near = tl_triangle_triangle(a, b);
    if (!(near.square <= reach * reach))
      continue;
    p->found[found] = near;
    p->which[found++] = (uint32_t)i;
  }
  return found;
}

static void find_packed(packed *p, const tl_fronts *fronts, const tl_mesh_pair *pair,
                        verdict *verdicts) {
  const double reach = tl_mesh_pair_reach(pair);
  memset(verdicts, 0, p->leaves * sizeof *verdicts);
  const size_t found = fronts->certified ? find_certified(p, reach)
                                         : tl_triangles_find(p->a, p->b, p->pairs, p->count, reach,
                                                             p->found, p->which, NULL);
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
  packed p;
  p.leaves = p.count = 0;
  for (size_t i = begin; i < end && !tl_cancel_look(l->fronts->cancel); ++i) {
    const node_pair *leaf = &l->list[i];
    const tl_mesh_pair *pair = &l->fronts->pairs[leaf->pair];
    pack(&p, pair, leaf);
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

/* Merges runs of growing length; `other` has room for as many. */
static void sort_keys(tl_mesh_key *keys, tl_mesh_key *other, size_t n) {
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
    sort_keys(s->list->of_a + from, s->scratch + from, n);
    sort_keys(s->list->of_b + from, s->scratch + from, n);
  }
}

/* ---- both ------------------------------------------------------------------------------------ */

static void set_starts(const leaves *l, uint64_t total) {
  size_t pair = 0;
  for (size_t i = 0; i < l->count; ++i)
    while (pair <= l->list[i].pair)
      l->out->start[pair++] = l->offset[i];
  while (pair <= l->fronts->count)
    l->out->start[pair++] = total;
}

talus_status tl_fronts_find(const tl_fronts *fronts, tl_front_list *list) {
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
  sorting s = {.list = list};
  TL_TAKE(fronts->arena, total, &s.scratch);
  set_starts(&l, total);
  tl_for(fronts->par, l.count, GRAIN, write_keys, &l);
  tl_deal(fronts->par, fronts->count, sort_pair, &s);
  return TALUS_OK;
}
