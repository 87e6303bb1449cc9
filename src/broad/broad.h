/* Broad phase: boxes in, unique candidate pairs out.
 *
 * Every algorithm returns the same set: pairs of members whose boxes overlap (touching counts),
 * less the masked ones: static with static, ignored groups, (later) joined bodies. An unbounded
 * body (its box is infinite) pairs with every other that is not masked. With periodic axes boxes
 * overlap when any image does. */
#ifndef TL_BROAD_BROAD_H
#define TL_BROAD_BROAD_H

#include "scope.h"

/* boxes: scope->count rows, already grown by the margin. Infinite bounds only for unbounded shapes;
 * any other box that is not finite is an error naming the body. On success pairs->data is in the
 * arena, sorted by (a, b). `kind` must not be AUTO: see tl_broad_choose. */
talus_status tl_broad_find_pairs(talus_broad_kind kind, const tl_model *model,
                                 const tl_scope *scope, const talus_box *boxes, tl_pairs *pairs);

/* What AUTO means for this many bodies, with the reason in words for the log. */
talus_broad_kind tl_broad_choose(const tl_model *model, size_t bodies, const char **reason);

const char *tl_broad_name(talus_broad_kind kind);

/* What the sweep keeps from call to call, so that sorting is quick when little has moved. */
typedef TL_ARRAY(uint32_t) tl_sweep_order;

/* One file each. Unsorted unique pairs of slots, a < b, in an order that does not depend on the
 * number of threads. *pairs is the last block taken from the arena; scratch stays beneath it until
 * the caller releases a mark of its own. */
talus_status tl_brute_find_pairs(const tl_model *model, const tl_scope *scope,
                                 const talus_box *boxes, tl_pairs *pairs);
talus_status tl_bins_find_pairs(const tl_model *model, const tl_scope *scope,
                                const talus_box *boxes, tl_pairs *pairs);
talus_status tl_kdtree_find_pairs(const tl_model *model, const tl_scope *scope,
                                  const talus_box *boxes, tl_pairs *pairs);
talus_status tl_cells_find_pairs(const tl_model *model, const tl_scope *scope,
                                 const talus_box *boxes, tl_pairs *pairs);
/* last: the order of the call before and, on return, of this one; NULL: sorts anew. */
talus_status tl_sweep_find_pairs(const tl_model *model, const tl_scope *scope,
                                 const talus_box *boxes, tl_sweep_order *last, tl_pairs *pairs);
talus_status tl_bvh_find_pairs(const tl_model *model, const tl_scope *scope,
                               const talus_box *boxes, tl_pairs *pairs);

/* Whether the pair of slots takes part in collisions at all. */
bool tl_broad_allows(const tl_model *model, uint32_t a, uint32_t b);

#endif
