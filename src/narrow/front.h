/* Trees of many pairs of meshes, walked together (private to src/narrow): level by level one list
 * of all pairs of nodes that are near each other, in the end all pairs of near triangles.
 *
 * Each level is tested, counted and written by all threads; a pair of large meshes is no more one
 * thread's work than many small ones. Lists are in the order of the pairs whatever the threads. */
#ifndef TL_NARROW_FRONT_H
#define TL_NARROW_FRONT_H

#include "base/cancel.h"
#include "base/parallel.h"
#include "narrow/counts.h"
#include "narrow/mesh_pair.h"
#include "narrow/triangles.h"

typedef struct tl_fronts {
  const tl_par *par;
  tl_arena *arena;
  struct tl_cancel *cancel;
  const tl_mesh_pair *pairs;
  size_t count;
  talus_triangle_method method;
  bool surrogates; /* by the trees of surrogates (narrow/surrogate.h), not by those of boxes */
  tl_narrow_counts *counts; /* or NULL */
} tl_fronts;

/* Near triangles of pair i: rows start[i] up to start[i + 1]; of_a by triangle of a, then of b;
 * of_b by triangle of b, then of a. */
typedef struct tl_front_list {
  tl_mesh_key *of_a, *of_b;
  uint64_t *start;
} tl_front_list;

/* Room from the arena; what is left in it are the lists and scratch. */
talus_status tl_fronts_find(const tl_fronts *fronts, tl_front_list *list);

/* Of n pairs of triangles those that are near by the method of the fronts: as tl_triangles_find. */
size_t tl_front_triangles(const tl_fronts *fronts, const tl_triangle_corners *a,
                          const tl_triangle_corners *b, const tl_triangle_pair *pairs, size_t n,
                          double reach, tl_triangle_near *found, uint32_t *which);

/* Sorts the keys of each pair, once `start` and both lists are filled; scratch: as long as a list.
 */
void tl_front_sort(const tl_fronts *fronts, tl_front_list *list, tl_mesh_key *scratch);
void tl_front_sort_keys(tl_mesh_key *keys, tl_mesh_key *scratch, size_t n);

#endif
