/* A tree of boxes over the triangles of a mesh, eight children to a node.
 *
 * It is derived from the triangles alone, serially, so it is the same for any number of threads and
 * is built anew when a checkpoint is loaded. Building it puts the triangles in the order of its
 * leaves; a list that is in that order already stays as it is. Boxes are float, rounded outwards:
 * a query that meets a triangle meets every box about it. */
#ifndef TL_SHAPE_TREE_H
#define TL_SHAPE_TREE_H

#include "base/memory.h"
#include "kernels/vec3.h"

#define TL_TREE_WIDE  8
#define TL_TREE_SHARE 32000 /* of half the diagonal of a box: what its slab is counted in */
#define TL_TREE_LEAF  4     /* triangles, at most */
#define TL_TREE_STACK 24    /* levels, at most */

/* A slab says more of a piece of a surface than a box that stands aslant: what is in the child lies
 * between `low` and `high` along its axis (a whole number for each coordinate, of any length), from
 * the middle of its box. */
typedef struct tl_tree_node {
  float lo[3][TL_TREE_WIDE], hi[3][TL_TREE_WIDE]; /* an empty child: lo > hi */
  uint32_t first[TL_TREE_WIDE];                   /* its node, or its first triangle */
  int16_t low[TL_TREE_WIDE], high[TL_TREE_WIDE];  /* rounded outwards */
  int8_t axis[3][TL_TREE_WIDE];
  uint8_t count[TL_TREE_WIDE]; /* its triangles; 0: a node, or empty */
} tl_tree_node;

typedef struct tl_tree {
  tl_tree_node *node; /* node 0 is the root */
  uint32_t nodes, capacity;
  uint32_t triangles;
  int levels;
} tl_tree;

/* Reorders `triangle` (three rows of `points` each). */
talus_status tl_tree_build(const double *points, uint32_t *triangle, uint32_t triangles,
                           tl_tree *tree);
void tl_tree_release(tl_tree *tree);

/* A box in the mesh's own frame, at scale 1. */
typedef struct tl_tree_box {
  double lo[3], hi[3];
} tl_tree_box;

/* Runs of triangles whose boxes overlap a box, in ascending order for any tree. */
typedef struct tl_tree_walk {
  const tl_tree *tree;
  uint32_t stack[TL_TREE_STACK];
  int top;
  uint32_t node, child;
  bool flat; /* no tree: all triangles, run by run */
} tl_tree_walk;

static inline tl_tree_walk tl_tree_begin(const tl_tree *tree, bool flat) {
  tl_tree_walk w;
  w.tree = tree, w.top = 0, w.node = 0, w.child = 0, w.flat = flat;
  return w;
}

static inline bool tl_tree_meets(const tl_tree_node *n, uint32_t k, const tl_tree_box *box) {
  return (double)n->lo[0][k] <= box->hi[0] && (double)n->hi[0][k] >= box->lo[0] &&
         (double)n->lo[1][k] <= box->hi[1] && (double)n->hi[1][k] >= box->lo[1] &&
         (double)n->lo[2][k] <= box->hi[2] && (double)n->hi[2][k] >= box->lo[2];
}

/* The next run: false at the end. The box may have shrunk since the last call. */
static inline bool tl_tree_next(tl_tree_walk *w, const tl_tree_box *box, uint32_t *first,
                                uint32_t *count) {
  if (w->flat) {
    const uint32_t left = w->tree->triangles - w->node;
    *first = w->node, *count = left < TL_TREE_LEAF ? left : TL_TREE_LEAF;
    w->node += *count;
    return *count > 0;
  }
  for (;;) {
    const tl_tree_node *n = &w->tree->node[w->node];
    while (w->child < TL_TREE_WIDE && !tl_tree_meets(n, w->child, box))
      w->child++;
    if (w->child == TL_TREE_WIDE) {
      if (w->top == 0)
        return false;
      --w->top;
      w->node = w->stack[w->top] >> 3, w->child = (w->stack[w->top] & 7u) + 1;
      continue;
    }
    if (n->count[w->child] > 0) {
      *first = n->first[w->child], *count = n->count[w->child];
      w->child++;
      return true;
    }
    w->stack[w->top++] = w->node << 3 | w->child;
    w->node = n->first[w->child], w->child = 0;
  }
}

#endif
