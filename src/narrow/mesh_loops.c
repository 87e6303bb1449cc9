/* Closed lines in which two meshes go through each other: a line goes on from one pair of triangles
 * to the next where one triangle is the same and the others have a vertex in common. */
#include "narrow/mesh_contour.h"

/* Triangles of a row that are compared each with each; of longer ones neighbours are looked up. */
#define FEW 12

void tl_mesh_crossings_visit(const tl_mesh_crossings *all, tl_mesh_crossing_fn *visit,
                             void *context) {
  for (size_t i = 0; i < all->count && all->keys; ++i)
    if (tl_mesh_key_crosses(all->keys[i]))
      visit(context, tl_mesh_key_own(all->keys[i]), tl_mesh_key_other(all->keys[i]));
  for (uint32_t t = 0; t < all->pair->a.f->triangles && !all->keys; ++t)
    tl_mesh_pair_crossings(all->pair, true, t, visit, context);
}

static void list(void *context, uint32_t a, uint32_t b) {
  tl_mesh_loops *l = context;
  if (l->count < TL_MESH_CROSSINGS)
    l->key[l->count] = tl_mesh_key_make(a, b, false);
  l->count++;
}

static uint16_t root_of(tl_mesh_loops *l, size_t i) {
  while (l->loop[i] != i)
    i = l->loop[i] = l->loop[l->loop[i]];
  return (uint16_t)i;
}

/* The first of a line stands for it. */
static void connect(tl_mesh_loops *l, size_t i, size_t j) {
  const uint16_t a = root_of(l, i), b = root_of(l, j);
  if (a < b)
    l->loop[b] = a;
  else
    l->loop[a] = b;
}

static size_t find(const tl_mesh_loops *l, tl_mesh_key key) {
  size_t low = 0, high = l->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (l->key[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < l->count && l->key[low] == key ? low : SIZE_MAX;
}

static bool are_neighbours(const tl_facets *f, uint32_t s, uint32_t t) {
  const uint32_t *v = f->triangle + 3 * (size_t)s, *w = f->triangle + 3 * (size_t)t;
  for (int i = 0; i < 3; ++i)
    if (v[i] == w[0] || v[i] == w[1] || v[i] == w[2])
      return true;
  return false;
}

/* Crossing i with those of the neighbours of its triangle of one body. */
static void connect_neighbours(tl_mesh_loops *l, size_t i, const tl_facets *f, bool is_a) {
  const uint32_t a = tl_mesh_key_own(l->key[i]), b = tl_mesh_key_other(l->key[i]);
  const uint32_t *v = f->triangle + 3 * (size_t)(is_a ? a : b);
  for (int k = 0; k < 3; ++k)
    for (uint32_t row = f->vertex_start[v[k]]; row < f->vertex_start[v[k] + 1]; ++row) {
      const uint32_t t = f->vertex_triangle[row];
      if (t >= (is_a ? a : b))
        break; /* who comes later looks back */
      const size_t j =
          find(l, is_a ? tl_mesh_key_make(t, b, false) : tl_mesh_key_make(a, t, false));
      if (j != SIZE_MAX)
        connect(l, i, j);
    }
}

/* Crossings of one triangle of a. */
static void connect_row(tl_mesh_loops *l, size_t begin, size_t end, const tl_facets *f) {
  for (size_t i = begin; i < end; ++i)
    if (end - begin > FEW)
      connect_neighbours(l, i, f, false);
    else
      for (size_t j = begin; j < i; ++j)
        if (are_neighbours(f, tl_mesh_key_other(l->key[i]), tl_mesh_key_other(l->key[j])))
          connect(l, i, j);
}

void tl_mesh_loops_find(const tl_mesh_crossings *all, tl_mesh_loops *l) {
  l->count = 0, l->loops = 0;
  tl_mesh_crossings_visit(all, list, l);
  if (l->count > TL_MESH_CROSSINGS || l->count == 0) {
    l->loops = l->count > 0;
    return;
  }
  for (size_t i = 0; i < l->count; ++i)
    l->loop[i] = (uint16_t)i;
  for (size_t begin = 0, end; begin < l->count; begin = end) {
    for (end = begin + 1; end < l->count; ++end)
      if (tl_mesh_key_own(l->key[end]) != tl_mesh_key_own(l->key[begin]))
        break;
    connect_row(l, begin, end, all->pair->b.f);
    for (size_t i = begin; i < end; ++i)
      connect_neighbours(l, i, all->pair->a.f, true);
  }
  /* By their first crossings. A root comes before all that it stands for. */
  for (size_t i = 0; i < l->count; ++i)
    l->loop[i] = root_of(l, i);
  for (size_t i = 0; i < l->count; ++i)
    l->loop[i] = l->loop[i] == i ? (uint16_t)l->loops++ : l->loop[l->loop[i]];
}
