/* Broad phase: boxes in, unique candidate pairs out.
 *
 * Every algorithm returns the same set: pairs of members whose boxes overlap (touching counts),
 * less the masked ones: static with static, ignored groups, (later) joined bodies. An unbounded
 * body (its box is infinite) pairs with every other that is not masked. With periodic axes boxes
 * overlap when any image does.
 *
 * A search looks between blocks of boxes whether it is asked to stop (crowd->cancel), and is then
 * TALUS_INTERRUPTED. What it kept for the next call is then good as it is, or forgotten. */
#ifndef TL_BROAD_BROAD_H
#define TL_BROAD_BROAD_H

#include "crowd/crowd.h"

/* boxes: crowd->count rows, already grown by the margin. Infinite bounds only for unbounded shapes;
 * any other box that is not finite is an error naming the body. On success pairs->data is in the
 * arena, sorted by (a, b). `kind` must not be AUTO: see tl_broad_choose. */
talus_status tl_broad_find_pairs(talus_broad_kind kind, const tl_crowd *crowd,
                                 const talus_box *boxes, tl_pairs *pairs);

/* What AUTO means for these boxes, with the reason in words for the log. Given a cache, it stays
 * with the last choice until another one is clearly better. */
talus_broad_kind tl_broad_choose(const tl_crowd *crowd, const talus_box *boxes,
                                 const char **reason);

const char *tl_broad_name(talus_broad_kind kind);

/* Entries in the order of the last sweep: sorting is quick when little has moved since. */
typedef TL_ARRAY(uint32_t) tl_sweep_order;

/* The same of the tree, which is fitted anew as long as it is not too loose. */
typedef struct tl_bvh_kept {
  TL_ARRAY(uint32_t) order;
  double looseness;  /* when the order was made */
  uint64_t rebuilds; /* how often that was */
} tl_bvh_kept;

/* A body that nothing moves, as it was when neighbours were found. */
typedef struct tl_near_wall {
  uint32_t slot;
  talus_dvec3 position;
  talus_quat rotation;
} tl_near_wall;

/* Neighbours of hard spheres, see step/hard/near.h. */
typedef struct tl_near {
  bool valid;
  double skin;                /* m: surfaces of candidates were no farther apart */
  double slack;               /* m: for the rounding of positions and of the floats below */
  size_t ignored;             /* pairs of groups that were ignored then */
  unsigned kept;              /* steps since they were found */
  unsigned finds;             /* how often they were */
  TL_ARRAY(talus_dvec3) from; /* by slot: where bodies were then */
  TL_ARRAY(float) room;       /* by slot, m: how far a ball was from every wall then, or less */
  TL_ARRAY(tl_pair) pairs;    /* candidates, in any order */
  TL_ARRAY(float) gaps;       /* m, of each: how far surfaces were apart then, or less */
  TL_ARRAY(tl_near_wall) walls;
} tl_near;

/* What can be kept from one call to the next on the same bodies (crowd.broad_cache). Pairs are the
 * same with and without, so it is not part of any state that is saved. Zeroed, it is empty. */
typedef struct tl_broad_cache {
  talus_broad_kind chosen; /* by tl_broad_choose */
  tl_sweep_order order;
  tl_bvh_kept tree;

  /* The thickness of the skin where that is left to us (model.skin < 0), see skin_choose.c. */
  double thickness; /* m; 0: not chosen yet */
  double far;       /* m: the furthest that a side had moved in the last step that kept */
  unsigned kept;    /* steps since the last renewal */
  unsigned pause;   /* steps to go without a skin */
  unsigned pauses;  /* in a row */

  /* The Verlet skin (model.skin is not 0), see skin.c. */
  bool valid;
  double skin;                  /* with which the candidates were found */
  size_t ignored;               /* pairs of groups that were ignored then */
  TL_ARRAY(talus_box) grown;    /* boxes by then, and half the skin on every side */
  TL_ARRAY(tl_pair) candidates; /* by (a, b) */
  TL_ARRAY(uint8_t) levels;     /* of each: how surely it overlaps or not, see skin.h */
  TL_ARRAY(uint8_t) sides;      /* of each: which of its sides decide */
  TL_ARRAY(int8_t) moves;       /* of the six sides of each box, since then */
  uint64_t renewals;            /* how often they were found anew */
  uint64_t mended;              /* how often a few boxes were given new candidates instead */

  tl_near near;
} tl_broad_cache;

/* Bodies came, went or changed places, or a mask was changed: candidates are to be found anew. */
void tl_broad_forget(tl_broad_cache *cache);

/* The skin for candidates that are to be found now, model.skin or chosen. */
double tl_skin_choose(const tl_crowd *crowd, const talus_box *boxes);
void tl_broad_cache_free(tl_broad_cache *cache);

/* Fails if a box is not finite that should be, naming the body. */
talus_status tl_broad_check(const tl_crowd *crowd, const talus_box *boxes);

/* The parts of tl_broad_find_pairs: without a skin, of boxes that have been checked; and with a
 * skin and a cache, for all bodies. */
talus_status tl_broad_find_anew(talus_broad_kind kind, const tl_crowd *crowd,
                                const talus_box *boxes, tl_pairs *pairs);
talus_status tl_skin_find_pairs(talus_broad_kind kind, const tl_crowd *crowd,
                                const talus_box *boxes, tl_pairs *pairs);

/* The parts of tl_broad_find_anew: by the algorithm of that name, unsorted; and by (a, b). */
talus_status tl_broad_find_unsorted(talus_broad_kind kind, const tl_crowd *crowd,
                                    const talus_box *boxes, tl_pairs *pairs);
talus_status tl_broad_sort_pairs(const tl_model *model, tl_arena *arena, tl_pairs *pairs);

/* One file each. Unsorted unique pairs of slots, a < b, in an order that does not depend on the
 * number of threads. *pairs is the last block taken from the arena; scratch stays beneath it until
 * the caller releases a mark of its own. */
talus_status tl_brute_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs);
talus_status tl_bins_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs);
talus_status tl_kdtree_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs);
talus_status tl_cells_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs);
/* last: the order of the call before and, on return, of this one; NULL: sorts anew. */
talus_status tl_sweep_find_pairs(const tl_crowd *crowd, const talus_box *boxes,
                                 tl_sweep_order *last, tl_pairs *pairs);
/* kept: likewise. */
talus_status tl_bvh_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_bvh_kept *kept,
                               tl_pairs *pairs);

/* Whether the pair of slots takes part in collisions at all. */
bool tl_broad_allows(const tl_model *model, uint32_t a, uint32_t b);

#endif
