#include "shape/tree.h"

#include <math.h>

typedef struct item {
  float lo[3], hi[3];
  float middle[3];
  uint32_t number; /* in the list as it was given */
} item;

typedef struct builder {
  const double *points;
  const uint32_t *triangle; /* as it was given */
  item *items;
  tl_tree *tree;
} builder;

static float below(double x) {
  const float f = (float)x;
  return (double)f > x ? nextafterf(f, -HUGE_VALF) : f;
}

static float above(double x) {
  const float f = (float)x;
  return (double)f < x ? nextafterf(f, HUGE_VALF) : f;
}

static void measure(const double *points, const uint32_t *v, uint32_t number, item *out) {
  out->number = number;
  for (size_t i = 0; i < 3; ++i) {
    const double a = points[3 * (size_t)v[0] + i], b = points[3 * (size_t)v[1] + i],
                 c = points[3 * (size_t)v[2] + i];
    out->lo[i] = below(fmin(a, fmin(b, c)));
    out->hi[i] = above(fmax(a, fmax(b, c)));
    out->middle[i] = 0.5F * out->lo[i] + 0.5F * out->hi[i];
  }
}

/* A total order, so that the cut does not depend on how it was found. */
static bool is_less(const item *a, const item *b, int axis) {
  return a->middle[axis] != b->middle[axis] ? a->middle[axis] < b->middle[axis]
                                            : a->number < b->number;
}

static void swap(item *a, item *b) {
  const item t = *a;
  *a = *b, *b = t;
}

/* The `k` least come first (quickselect, the middle of three as pivot). */
static void select_least(item *items, size_t n, size_t k, int axis) {
  size_t lo = 0, hi = n;
  while (hi - lo > 1) {
    item *a = &items[lo], *b = &items[lo + (hi - lo) / 2], *c = &items[hi - 1];
    const item *middle = is_less(a, b, axis)   ? (is_less(b, c, axis)   ? b
                                                  : is_less(a, c, axis) ? c
                                                                        : a)
                         : is_less(a, c, axis) ? a
                         : is_less(b, c, axis) ? c
                                               : b;
    const item pivot = *middle;
    size_t i = lo, j = hi;
    while (i < j) {
      while (i < j && is_less(&items[i], &pivot, axis))
        ++i;
      while (i < j && !is_less(&items[j - 1], &pivot, axis))
        --j;
      if (i < j)
        swap(&items[i++], &items[--j]);
    }
    if (i == lo) { /* the pivot is the least of all: it becomes the first */
      for (size_t m = lo; m < hi; ++m)
        if (items[m].number == pivot.number)
          swap(&items[lo], &items[m]);
      i++;
    }
    if (i == k)
      return;
    *(k < i ? &hi : &lo) = i;
  }
}

static int longest_axis(const item *items, size_t n) {
  float lo[3] = {HUGE_VALF, HUGE_VALF, HUGE_VALF}, hi[3] = {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF};
  for (size_t k = 0; k < n; ++k)
    for (int i = 0; i < 3; ++i) {
      lo[i] = fminf(lo[i], items[k].middle[i]);
      hi[i] = fmaxf(hi[i], items[k].middle[i]);
    }
  int axis = 0;
  for (int i = 1; i < 3; ++i)
    if (hi[i] - lo[i] > hi[axis] - lo[axis])
      axis = i;
  return axis;
}

/* Within a leaf, as they were given. */
static void sort_leaf(item *items, size_t n) {
  for (size_t i = 1; i < n; ++i)
    for (size_t j = i; j > 0 && items[j].number < items[j - 1].number; --j)
      swap(&items[j], &items[j - 1]);
}

static void set_box(tl_tree_node *node, uint32_t k, const item *items, size_t n) {
  for (int i = 0; i < 3; ++i) {
    float lo = HUGE_VALF, hi = -HUGE_VALF;
    for (size_t m = 0; m < n; ++m)
      lo = fminf(lo, items[m].lo[i]), hi = fmaxf(hi, items[m].hi[i]);
    node->lo[i][k] = lo, node->hi[i][k] = hi;
  }
}

static talus_dvec3 corner_of(const builder *b, const item *i, size_t k) {
  const double *p = b->points + 3 * (size_t)b->triangle[3 * (size_t)i->number + k];
  return tl_dvec3(p[0], p[1], p[2]);
}

/* Along the sum of the normals by area. */
static void set_slab(const builder *b, tl_tree_node *node, uint32_t k, const item *items,
                     size_t n) {
  talus_dvec3 sum = tl_dvec3(0, 0, 0);
  for (size_t i = 0; i < n; ++i) {
    const talus_dvec3 p = corner_of(b, &items[i], 0);
    sum = tl_dadd(sum, tl_dcross(tl_dsub(corner_of(b, &items[i], 1), p),
                                 tl_dsub(corner_of(b, &items[i], 2), p)));
  }
  const double most = fmax(fabs(sum.x), fmax(fabs(sum.y), fabs(sum.z)));
  /* Tiny areas have no inverse; fmax passes over what is not a number. */
  const bool has_area = most > 0 && isfinite(sum.x) && isfinite(sum.y) && isfinite(sum.z);
  node->axis[0][k] = has_area ? (int8_t)(sum.x / most * 127) : 0;
  node->axis[1][k] = has_area ? (int8_t)(sum.y / most * 127) : 0;
  node->axis[2][k] = has_area ? (int8_t)(sum.z / most * 127) : 127;
  talus_dvec3 axis =
      tl_dvec3((double)node->axis[0][k], (double)node->axis[1][k], (double)node->axis[2][k]);
  axis = tl_dscale(axis, 1 / tl_dlength(axis));
  float middle[3], square = 0;
  for (int i = 0; i < 3; ++i) {
    const float half = 0.5F * (node->hi[i][k] - node->lo[i][k]);
    middle[i] = 0.5F * (node->lo[i][k] + node->hi[i][k]);
    square += half * half;
  }
  const talus_dvec3 at = tl_dvec3((double)middle[0], (double)middle[1], (double)middle[2]);
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (size_t i = 0; i < 3 * n; ++i) {
    const double s = tl_ddot(axis, tl_dsub(corner_of(b, &items[i / 3], i % 3), at));
    low = fmin(low, s), high = fmax(high, s);
  }
  const double shares = square > 0 ? TL_TREE_SHARE / sqrt((double)square) : 0;
  node->low[k] = (int16_t)(fmax(floor(low * shares), -TL_TREE_SHARE) - 1);
  node->high[k] = (int16_t)(fmin(ceil(high * shares), TL_TREE_SHARE) + 1);
}

static talus_status add_node(tl_tree *tree, uint32_t *number) {
  if (tree->nodes == tree->capacity) {
    const uint32_t room = tree->capacity < 8 ? 8 : tree->capacity + tree->capacity / 2;
    void *data = tree->node;
    TL_TRY(tl_resize(&data, tree->capacity * sizeof *tree->node, room * sizeof *tree->node));
    tree->node = data, tree->capacity = room;
  }
  *number = tree->nodes++;
  return TALUS_OK;
}

/* Cuts items [begin, end) three times in two; cut[0] ... cut[8]. */
static void cut_in_eight(item *items, size_t begin, size_t end, size_t cut[TL_TREE_WIDE + 1]) {
  cut[0] = begin, cut[TL_TREE_WIDE] = end;
  for (size_t step = TL_TREE_WIDE; step > 1; step /= 2)
    for (size_t k = 0; k < TL_TREE_WIDE; k += step) {
      const size_t from = cut[k], n = cut[k + step] - from;
      const size_t whole =
          n <= TL_TREE_LEAF ? n : (n / 2 + TL_TREE_LEAF - 1) / TL_TREE_LEAF * TL_TREE_LEAF;
      const size_t left = whole < n ? whole : n;
      if (left > 0 && left < n)
        select_least(items + from, n, left, longest_axis(items + from, n));
      cut[k + step / 2] = from + left;
    }
}

static talus_status build(builder *b, size_t begin, size_t end, int level, uint32_t *number) {
  size_t cut[TL_TREE_WIDE + 1];
  TL_TRY(add_node(b->tree, number));
  const uint32_t here = *number;
  if (level > b->tree->levels)
    b->tree->levels = level;
  cut_in_eight(b->items, begin, end, cut);
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k) {
    const size_t from = cut[k], n = cut[k + 1] - from;
    uint32_t first = (uint32_t)from;
    if (n > 0 && n <= TL_TREE_LEAF)
      sort_leaf(b->items + from, n);
    else if (n > 0)
      TL_TRY(build(b, from, from + n, level + 1, &first));
    tl_tree_node *node = &b->tree->node[here];
    set_box(node, k, b->items + from, n);
    node->axis[0][k] = node->axis[1][k] = 0, node->axis[2][k] = 1;
    node->low[k] = node->high[k] = 0;
    if (n > 0)
      set_slab(b, node, k, b->items + from, n);
    node->first[k] = first;
    node->count[k] = n <= TL_TREE_LEAF ? (uint8_t)n : 0;
  }
  return TALUS_OK;
}

/* Gives back the room of nodes that were not needed; where that is refused it stays. */
static void trim(tl_tree *tree) {
  void *data = tree->node;
  if (tl_resize(&data, tree->capacity * sizeof *tree->node, tree->nodes * sizeof *tree->node) ==
      TALUS_OK)
    tree->node = data, tree->capacity = tree->nodes;
}

talus_status tl_tree_build(const double *points, uint32_t *triangle, uint32_t triangles,
                           tl_tree *tree) {
  *tree = (tl_tree){.triangles = triangles};
  void *items = NULL, *copy = NULL;
  const size_t item_bytes = triangles * sizeof(item), copy_bytes = triangles * 3 * sizeof *triangle;
  uint32_t root;
  talus_status status = tl_resize(&items, 0, item_bytes);
  if (status == TALUS_OK)
    status = tl_resize(&copy, 0, copy_bytes);
  if (status == TALUS_OK) {
    builder b = {.points = points, .triangle = triangle, .items = items, .tree = tree};
    for (uint32_t t = 0; t < triangles; ++t)
      measure(points, triangle + 3 * (size_t)t, t, &b.items[t]);
    status = build(&b, 0, triangles, 1, &root);
    memcpy(copy, triangle, copy_bytes);
    for (uint32_t t = 0; t < triangles && status == TALUS_OK; ++t)
      memcpy(triangle + 3 * (size_t)t, (uint32_t *)copy + 3 * (size_t)b.items[t].number,
             3 * sizeof *triangle);
  }
  if (items)
    (void)tl_resize(&items, item_bytes, 0); /* freeing cannot fail */
  if (copy)
    (void)tl_resize(&copy, copy_bytes, 0);
  if (status == TALUS_OK)
    trim(tree);
  else
    tl_tree_release(tree);
  return status;
}

void tl_tree_release(tl_tree *tree) {
  void *node = tree->node;
  if (node)
    (void)tl_resize(&node, tree->capacity * sizeof *tree->node, 0); /* freeing cannot fail */
  *tree = (tl_tree){0};
}
