/* A tree of surrogate triangles over the triangles of a mesh (Noble, 5.3;
 * docs/theory/surrogates.md).
 *
 * A node is one triangle with a halo: every triangle of the mesh below it, and so every contact of
 * theirs, is within `eps` of it. So two nodes that are farther apart than their halos and the reach
 * have nothing near below them (Definition 10, conservative). A node covers the triangles of the
 * mesh and not the nodes between, which is tighter; it may stick out of its parent.
 *
 * Level 0 is the root, one triangle. A node has up to TL_SURROGATE_WIDE children, nodes or
 * triangles of the mesh. It is derived from the triangles alone, serially: the same for any number
 * of threads, and built anew when a checkpoint is loaded. */
#ifndef TL_SHAPE_SURROGATE_H
#define TL_SHAPE_SURROGATE_H

#include "base/memory.h"
#include "kernels/triangle.h"

#define TL_SURROGATE_WIDE 8 /* N_surrogate */

/* A reference to what a row of a search names: a node, or (with this bit) a triangle of the mesh.
 */
#define TL_SURROGATE_LEAF 0x80000000u

typedef struct tl_surrogate_node {
  float corner[3][3]; /* in the mesh's own frame, at scale 1 */
  float eps;          /* the same; rounded up */
  uint32_t parent;    /* of the root: itself */
  uint32_t first;     /* child: a node; where it holds triangles: a row of tl_surrogate.leaf */
  uint8_t count;      /* children: 1 to TL_SURROGATE_WIDE */
  uint8_t level;
  uint8_t holds; /* 1: its children are triangles */
} tl_surrogate_node;

typedef struct tl_surrogate {
  tl_surrogate_node *node; /* node 0 is the root; children of a node stand together */
  uint32_t nodes, capacity;
  uint32_t *leaf;   /* triangles, in the order of the nodes that hold them */
  uint32_t *holder; /* triangle: the node that holds it */
  uint32_t triangles;
  int levels; /* of nodes; triangles are below them */
} tl_surrogate;

typedef enum tl_surrogate_fit {
  TL_FIT_QUICK, /* grown towards the farthest vertex from a plane of the vertices: the smallest halo
                 */
  TL_FIT_FUNCTIONAL /* minimises Noble's functional (5.5), for the bench: slow */
} tl_surrogate_fit;

/* triangle: three rows of `points` each. */
talus_status tl_surrogate_build(const double *points, const uint32_t *triangle, uint32_t triangles,
                                tl_surrogate_fit fit, tl_surrogate *s);
void tl_surrogate_release(tl_surrogate *s);
size_t tl_surrogate_bytes(const tl_surrogate *s);

/* ---- references ------------------------------------------------------------------------------ */

static inline bool tl_surrogate_is_leaf(uint32_t ref) { return (ref & TL_SURROGATE_LEAF) != 0; }

/* The node above; the root is above itself. */
static inline uint32_t tl_surrogate_above(const tl_surrogate *s, uint32_t ref) {
  return tl_surrogate_is_leaf(ref) ? s->holder[ref & ~TL_SURROGATE_LEAF] : s->node[ref].parent;
}

/* Edges from the root. */
static inline int tl_surrogate_level(const tl_surrogate *s, uint32_t ref) {
  return tl_surrogate_is_leaf(ref) ? s->node[s->holder[ref & ~TL_SURROGATE_LEAF]].level + 1
                                   : s->node[ref].level;
}

/* Child k of a node. */
static inline uint32_t tl_surrogate_child(const tl_surrogate *s, uint32_t node, uint32_t k) {
  const tl_surrogate_node *n = &s->node[node];
  return n->holds ? TL_SURROGATE_LEAF | s->leaf[n->first + k] : n->first + k;
}

/* m at scale 1: 0 of a triangle of the mesh. */
static inline double tl_surrogate_eps(const tl_surrogate *s, uint32_t ref) {
  return tl_surrogate_is_leaf(ref) ? 0 : (double)s->node[ref].eps;
}

static inline tl_triangle_corners tl_surrogate_corners(const tl_surrogate_node *n) {
  tl_triangle_corners t;
  for (int k = 0; k < 3; ++k)
    t.p[k] = tl_dvec3((double)n->corner[k][0], (double)n->corner[k][1], (double)n->corner[k][2]);
  return t;
}

#endif
