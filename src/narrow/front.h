/* Trees of many pairs of meshes, walked together (private to src/narrow): level by level one list
 * of all pairs of nodes that are near each other, in the end all pairs of near triangles.
 *
 * Each level is tested, counted and written by all threads, so that a pair of large meshes is
 * shared like many small ones. Lists are in the order of the pairs for any number of threads. */
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
  bool surrogates;          /* use trees of surrogates (narrow/surrogate.h), not of boxes */
  tl_narrow_counts *counts; /* or NULL */
} tl_fronts;

/* Near triangles of pair i: rows start[i] ... start[i + 1] - 1. of_a is sorted by triangle of a,
 * then of b; of_b by triangle of b, then of a. */
typedef struct tl_front_list {
  tl_mesh_key *of_a, *of_b;
  uint64_t *start;
} tl_front_list;

/* Finds all near triangles; lists and scratch stay in the arena. */
talus_status tl_fronts_find(const tl_fronts *fronts, tl_front_list *list);

/* Of n pairs of triangles, finds those that are near by the method of the fronts, like
 * tl_triangles_find. */
size_t tl_front_triangles(const tl_fronts *fronts, const tl_triangle_corners *a,
                          const tl_triangle_corners *b, const tl_triangle_pair *pairs, size_t n,
                          double reach, tl_triangle_near *found, uint32_t *which);

/* Sorts the keys of each pair; `start` and both lists must be filled. scratch: as long as a
 * list. */
void tl_front_sort(const tl_fronts *fronts, tl_front_list *list, tl_mesh_key *scratch);
void tl_front_sort_keys(tl_mesh_key *keys, tl_mesh_key *scratch, size_t n);

#endif
