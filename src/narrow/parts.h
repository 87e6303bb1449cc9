/* Pairs of bodies that are made of parts, clumps and meshes: one midphase for all of them (private
 * to src/narrow; docs/theory/meshes.md).
 *
 * They cost far more than other pairs, each its own amount, and have any number of contacts. So
 * they are searched before all others: which parts of two bodies are near each other becomes one
 * list of all pairs, counted before room is made; that list is cut into pieces of like work, and
 * the pieces are dealt out to whoever is free. Every pair is searched once. */
#ifndef TL_NARROW_PARTS_H
#define TL_NARROW_PARTS_H

#include "narrow/order.h"

typedef struct tl_parts_pair {
  tl_pair pair;
  bool is_found; /* on its way (narrow/swept.h) */
  size_t count;
  tl_contact *found;
} tl_parts_pair;

/* In the order of the pairs. */
typedef struct tl_parts {
  tl_parts_pair *data;
  size_t count;
} tl_parts;

/* Contacts of all pairs with a clump or a mesh whose kinds are supported, in the arena. */
talus_status tl_parts_find(const tl_narrow_scope *scope, const tl_pairs *pairs, tl_parts *parts);

/* What was found of a pair, or NULL where it is none of them. */
const tl_parts_pair *tl_parts_of(const tl_parts *parts, const tl_pair *pair);

/* ---- ways: `count` pairs each, contacts to the arena, *left out* of it is what they found ------
 */

/* Two meshes by lists of near triangles (parts_mesh.c), a clump and anything (parts_clump.c). The
 * contacts of pair i are `count` rows at `found`; scratch stays in the arena. */
talus_status tl_parts_meshes(const tl_narrow_scope *scope, tl_parts_pair **pairs, size_t count);
talus_status tl_parts_clumps(const tl_narrow_scope *scope, tl_parts_pair **pairs, size_t count);

/* A pair with a mesh, and without a clump, that may meet in more periodic images than the nearest
 * (parts_images.c), and its points in all of them, at most TL_NARROW_MAX_POINTS. */
bool tl_parts_has_images(const tl_model *model, const tl_ordered *o);
int tl_parts_images(const tl_model *model, const tl_ordered *o, tl_point *out);

#endif
