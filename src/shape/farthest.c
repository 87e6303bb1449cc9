/* How far a mesh extends in a direction, by a search of its tree. */
#include <math.h>

#include "shape/facets.h"

/* The largest m.x within the boxes of all children. */
static void most_in_boxes(const tl_tree_node *n, const double m[3], double bound[TL_TREE_WIDE]) {
  const float *x = m[0] > 0 ? n->hi[0] : n->lo[0], *y = m[1] > 0 ? n->hi[1] : n->lo[1];
  const float *z = m[2] > 0 ? n->hi[2] : n->lo[2];
  for (int k = 0; k < TL_TREE_WIDE; ++k)
    bound[k] = m[0] * (double)x[k] + m[1] * (double)y[k] + m[2] * (double)z[k];
  for (int k = 0; k < TL_TREE_WIDE; ++k)
    bound[k] = n->lo[0][k] <= n->hi[0][k] ? bound[k] : -HUGE_VAL;
}

static double most_of_leaf(const tl_facets *f, uint32_t first, uint32_t count, const double m[3]) {
  double most = -HUGE_VAL;
  for (size_t i = 3 * (size_t)first; i < 3 * ((size_t)first + count); ++i) {
    const double *p = f->points + 3 * (size_t)f->triangle[i];
    const double reach = m[0] * p[0] + m[1] * p[1] + m[2] * p[2];
    most = reach > most ? reach : most;
  }
  return most;
}

/* Visits children in the order of how far they may extend, until none can extend farther than the
 * best so far. */
static double search(const tl_facets *f, uint32_t node, const double m[3], double best) {
  const tl_tree_node *n = &f->tree.node[node];
  double bound[TL_TREE_WIDE];
  most_in_boxes(n, m, bound);
  for (;;) {
    uint32_t next = 0;
    for (uint32_t k = 1; k < TL_TREE_WIDE; ++k)
      if (bound[k] > bound[next])
        next = k;
    /* Rounding of the bound must not hide a place that is exactly as far. */
    if (!(bound[next] > best - 1e-14 * fabs(best)) || bound[next] == -HUGE_VAL)
      return best;
    const double found = n->count[next] > 0 ? most_of_leaf(f, n->first[next], n->count[next], m)
                                            : search(f, n->first[next], m, best);
    best = found > best ? found : best;
    bound[next] = -HUGE_VAL;
  }
}

void tl_facets_range(const tl_facets *f, const double m[3], double range[2]) {
  const double back[3] = {-m[0], -m[1], -m[2]};
  range[1] = search(f, 0, m, -HUGE_VAL) + f->rounding;
  range[0] = -(search(f, 0, back, -HUGE_VAL) + f->rounding);
}
