/* The search for near triangles of two meshes over surrogate trees (shape/surrogate.h;
 * docs/theory/surrogates.md).
 *
 * A ROW is a pair of nodes of a pair of meshes, a FRONT a list of rows: a cut through the tree of
 * all pairs. A row is near if the distance of its triangles is at most the sum of their halos and
 * the reach of the pair (for two triangles of the meshes: the reach). To WIDEN a near row is to
 * replace it by all pairs of children of both; a triangle of a mesh stays itself. To narrow is to
 * go back to the row above. A front that is widened until its near rows are leaves has all near
 * triangles: surrogates are conservative. So a search may start from any front that covers the
 * root: that of the last step, for example.
 *
 *   tl_surrogates_root      the front of each pair that is nothing but its roots
 *   tl_surrogates_compare   which rows of a front are near, and where
 *   tl_surrogates_children  the rows that a near row is replaced by
 *   tl_surrogates_above     the row that it came from
 *   tl_surrogates_points    contacts of a pair from the leaf rows that are near
 *   tl_surrogates_find      all of it at once, for all pairs: near triangles (narrow/front.h)
 *
 * All but the last are for one thread; different threads may ask about different rows at a time. */
#ifndef TL_NARROW_SURROGATE_H
#define TL_NARROW_SURROGATE_H

#include "narrow/front.h"
#include "shape/surrogate.h"

typedef struct tl_row {
  uint32_t pair; /* of the list of pairs */
  uint32_t a, b; /* references of shape/surrogate.h: a node, or a triangle */
} tl_row;

/* Result of comparing a row. Lengths in m; points in the world of the poses (relative to the first
 * body's centre of mass). */
typedef struct tl_row_near {
  bool is_near;
  bool crosses;           /* of two triangles of the meshes: one goes through the other */
  double distance;        /* of the two triangles without halos; only for near rows */
  double eps_a, eps_b;    /* halos; 0 for a triangle of a mesh */
  talus_dvec3 on_a, on_b; /* nearest points; only for near rows */
} tl_row_near;

/* Pairs of meshes with their poses. Both meshes of a pair must have surrogates
 * (tl_facets_surrogate). */
typedef struct tl_surrogates {
  const tl_mesh_pair *pairs;
  talus_triangle_method method;
  tl_narrow_counts *counts; /* NULL: nothing is counted */
} tl_surrogates;

static inline tl_row tl_surrogates_root(uint32_t pair) { return (tl_row){pair, 0, 0}; }

static inline bool tl_surrogates_is_leaf(const tl_row *row) {
  return tl_surrogate_is_leaf(row->a) && tl_surrogate_is_leaf(row->b);
}

/* out: n rows. Lanes decide which nodes are near, in doubt near; two triangles of the meshes are
 * tested by the method. Points and distances of near rows are exact. */
void tl_surrogates_compare(const tl_surrogates *s, const tl_row *rows, size_t n, tl_row_near *out);

/* Only `is_near` and `crosses` of the same result: bits 0 and 1. */
#define TL_ROW_NEAR    1
#define TL_ROW_CROSSES 2
void tl_surrogates_test(const tl_surrogates *s, const tl_row *rows, size_t n, uint8_t *out);

/* Whether rows of one pair may be near within `more` (in the frame of b) of being so. */
void tl_surrogates_screen(const tl_surrogates *s, const tl_row *rows, size_t n, double more,
                          bool *out);

/* Up to TL_SURROGATE_WIDE^2 rows; none for a leaf. */
#define TL_ROW_CHILDREN (TL_SURROGATE_WIDE * TL_SURROGATE_WIDE)
size_t tl_surrogates_children(const tl_surrogates *s, const tl_row *row,
                              tl_row out[TL_ROW_CHILDREN]);
size_t tl_surrogates_child_count(const tl_surrogates *s, const tl_row *row);

/* The parent of this row; the row of the roots is its own parent. */
tl_row tl_surrogates_above(const tl_surrogates *s, const tl_row *row);

/* Contacts of a pair from keys of all its near leaves (narrow/mesh_pair.h; they are sorted in
 * place; of_b and scratch: room for as many). Features as in narrow/mesh_mesh.c. Returns the number
 * of points; -1: something is deeper than the pair's reach, so the pair must be searched again
 * (tl_mesh_pair_make with first = false, from a wider front). */
int tl_surrogates_points(const tl_mesh_pair *pair, bool is_first, tl_mesh_key *of_a,
                         tl_mesh_key *of_b, tl_mesh_key *scratch, size_t count,
                         tl_point out[TL_MESH_MOST]);

/* The near triangles of all pairs, from their roots; the same bits as tl_fronts_find. */
talus_status tl_surrogates_find(const tl_fronts *fronts, tl_front_list *list);

#endif
