/* Many pairs of triangles: which are near, and where (kernels/triangle.h handles one pair).
 *
 * There are three passes. The first two process sixteen pairs side by side in float, relative to
 * the pair and in units of its size, and decide only what their error allows: pairs farther apart
 * than the reach plus TL_TRIANGLE_LANE_ERROR are removed, most of them by projections on three
 * lines, the others by distances. The third pass does the rest in double, as many as a register
 * holds, operation by operation like scalar code. So the result is that of tl_triangle_triangle for
 * every pair, to the bit, with every instruction set. */
#ifndef TL_NARROW_TRIANGLES_H
#define TL_NARROW_TRIANGLES_H

#include "kernels/triangle.h"
#include "shape/tree.h"

#define TL_TRIANGLE_BLOCK 16 /* pairs side by side in float */
#define TL_TRIANGLE_WIDE  8  /* pairs side by side in double */

/* Bound of the error of a distance in float if no coordinate exceeds 1: four times the worst that
 * tests/test_triangles.c allows. */
#define TL_TRIANGLE_LANE_ERROR (16 * FLT_EPSILON)

/* Sixteen triangles: [corner][axis][lane]. */
typedef struct tl_triangle_block {
  float corner[3][3][TL_TRIANGLE_BLOCK];
} tl_triangle_block;

typedef struct tl_triangle_wide {
  double corner[3][3][TL_TRIANGLE_WIDE];
} tl_triangle_wide;

typedef struct tl_triangle_wide_near {
  double on_a[3][TL_TRIANGLE_WIDE], on_b[3][TL_TRIANGLE_WIDE];
  double square[TL_TRIANGLE_WIDE], feature[TL_TRIANGLE_WIDE];
} tl_triangle_wide_near;

typedef struct tl_triangle_pair {
  uint32_t a, b; /* rows */
} tl_triangle_pair;

/* Transform of the children of a node into the frame of the other body: m x + offset; each box
 * grown by `more` (the reach plus rounding errors in float). */
typedef struct tl_children_view {
  float m[3][3], offset[3], more[3];
} tl_children_view;

/* Loops over lanes; one set for each instruction set. */
typedef struct tl_triangle_loops {
  /* Squared distances of sixteen pairs; bit i: that of pair i is at most most[i]. */
  unsigned (*screen)(const tl_triangle_block *a, const tl_triangle_block *b,
                     const float most[TL_TRIANGLE_BLOCK], float square[TL_TRIANGLE_BLOCK]);
  /* For up to sixteen pairs by row, each in units of its own size; bit i: pair i may be at most
   * `reach` apart. The first by projections on three lines, which is fast, the second by
   * distances. */
  unsigned (*shadow_pairs)(const tl_triangle_corners *a, const tl_triangle_corners *b,
                           const tl_triangle_pair *pairs, int n, double reach);
  /* The shadows of all pairs of two leaves, at most TL_TREE_LEAF triangles each, in units of their
   * common size: bit 4 i + j: triangles i and j may be at most `reach` apart. */
  unsigned (*shadow_leaves)(const tl_triangle_corners *a, uint32_t count_a,
                            const tl_triangle_corners *b, uint32_t count_b, double reach);
  unsigned (*screen_pairs)(const tl_triangle_corners *a, const tl_triangle_corners *b,
                           const tl_triangle_pair *pairs, int n, double reach);
  void (*compare)(const tl_triangle_wide *a, const tl_triangle_wide *b, tl_triangle_wide_near *out);
  /* Bit 8 i + j: the boxes of child i of a and child j of b are near: no axis of either body shows
   * a gap. Only for children whose bits are set in slots_a and slots_b. */
  uint64_t (*near_children)(const tl_tree_node *a, unsigned slots_a, const tl_children_view *a_to_b,
                            const tl_tree_node *b, unsigned slots_b,
                            const tl_children_view *b_to_a);
} tl_triangle_loops;

extern const tl_triangle_loops tl_triangle_avx512, tl_triangle_avx2, tl_triangle_generic;
const tl_triangle_loops *tl_triangle_loops_now(void);

/* Stores the triangle in lane i of a block: (p - origin) x scale, at most 1. */
void tl_triangle_block_put(tl_triangle_block *block, int lane, const tl_triangle_corners *t,
                           talus_dvec3 origin, double scale);

/* The square that `screen` compares with, for a reach in units of the block; includes rounding. */
float tl_triangle_block_most(double reach);

/* Of n pairs finds those at most `reach` apart (m, >= 0), in their order: found[i] belongs to pair
 * which[i]; both have room for n. Returns their number. *decided: pairs that float removed (may be
 * NULL). */
size_t tl_triangles_find(const tl_triangle_corners *a, const tl_triangle_corners *b,
                         const tl_triangle_pair *pairs, size_t n, double reach,
                         tl_triangle_near *found, uint32_t *which, uint64_t *decided);

/* The same where shadows have been looked at already. */
size_t tl_triangles_find_shadowed(const tl_triangle_corners *a, const tl_triangle_corners *b,
                                  const tl_triangle_pair *pairs, size_t n, double reach,
                                  tl_triangle_near *found, uint32_t *which);

#endif
