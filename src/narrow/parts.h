/* Pairs of bodies made of parts, clumps and meshes: one midphase for all (private to src/narrow;
 * docs/theory/meshes.md).
 *
 * They cost far more than other pairs, in different amounts, and have any number of contacts. So
 * they are searched before all others: pairs of near parts become one list, counted before memory
 * is taken; the list is cut into pieces of similar work, which threads take as they become free.
 * Every pair is searched once. */
#ifndef TL_NARROW_PARTS_H
#define TL_NARROW_PARTS_H

#include "narrow/mesh_points.h"
#include "narrow/order.h"

/* Most points of a pair with a mesh. */
#define TL_PARTS_MAX_POINTS TL_MESH_WHOLE

typedef struct tl_parts_pair {
  tl_pair pair;
  bool is_found; /* found by following its path (narrow/swept.h) */
  size_t count;
  tl_contact *found;
} tl_parts_pair;

/* The poses of a pair, and whether all its points stay. */
static inline tl_ordered tl_parts_order(const tl_narrow_scope *scope, const tl_pair *pair) {
  tl_ordered o = tl_order_pair(scope, pair);
  o.first.whole = o.second.whole = scope->model->solve.kind == TALUS_SOLVE_PENALTY;
  return o;
}

/* In the order of the pairs. */
typedef struct tl_parts {
  tl_parts_pair *data;
  size_t count;
} tl_parts;

/* Finds the contacts of all pairs with a clump or a mesh whose kinds are supported; in the
 * arena. */
talus_status tl_parts_find(const tl_narrow_scope *scope, const tl_pairs *pairs, tl_parts *parts);

/* The contacts of a pair, or NULL if it is none of these. */
const tl_parts_pair *tl_parts_of(const tl_parts *parts, const tl_pair *pair);

/* ---- ways: `count` pairs each, contacts to the arena, *left out* of it is what they found ------
 */

/* Two meshes by lists of near triangles (parts_mesh.c); a clump and anything (parts_clump.c). The
 * contacts of pair i are `count` rows at `found`; scratch stays in the arena. */
talus_status tl_parts_meshes(const tl_narrow_scope *scope, tl_parts_pair **pairs, size_t count);
talus_status tl_parts_clumps(const tl_narrow_scope *scope, tl_parts_pair **pairs, size_t count);

/* True for a pair with a mesh, and without a clump, that may meet in more images than the nearest
 * (parts_images.c); and its points in all of them, at most TL_PARTS_MAX_POINTS. */
bool tl_parts_has_images(const tl_model *model, const tl_ordered *o);
int tl_parts_images(const tl_model *model, const tl_ordered *o, tl_point *out);

#endif
