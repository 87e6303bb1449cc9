/* Broad phase: boxes in, unique candidate pairs out.
 *
 * Every algorithm returns the same set: pairs of members whose boxes overlap (touching counts),
 * less the masked ones: static with static, ignored groups, (later) joined bodies. An unbounded
 * body (its box is infinite) pairs with every other that is not masked. With periodic axes boxes
 * overlap when any image does.
 *
 * Between blocks of boxes a search checks whether it is asked to stop (crowd->cancel), and then
 * returns TALUS_INTERRUPTED. Its cache remains valid then, or is cleared. */
#ifndef TL_BROAD_BROAD_H
#define TL_BROAD_BROAD_H

#include "crowd/crowd.h"

/* boxes: crowd->count rows, already grown by the margin. Only unbounded shapes may have infinite
 * bounds; any other box that is not finite is an error that names the body. On success pairs->data
 * is in the arena, sorted by (a, b). `kind` must not be AUTO: see tl_broad_choose. */
talus_status tl_broad_find_pairs(talus_broad_kind kind, const tl_crowd *crowd,
                                 const talus_box *boxes, tl_pairs *pairs);

/* The kind that AUTO means for these boxes, and the reason in words for the log. With a cache it
 * keeps the last choice until another one is clearly better. */
talus_broad_kind tl_broad_choose(const tl_crowd *crowd, const talus_box *boxes,
                                 const char **reason);

const char *tl_broad_name(talus_broad_kind kind);

/* Entries in the order of the last sweep: sorting is fast if little has moved since. */
typedef TL_ARRAY(uint32_t) tl_sweep_order;

/* The order of the last tree; the tree is refitted as long as it is not too loose. */
typedef struct tl_bvh_kept {
  TL_ARRAY(uint32_t) order;
  double looseness;  /* looseness when the order was made */
  uint64_t rebuilds; /* number of times that an order was made */
} tl_bvh_kept;

/* A body that nothing moves, at the time when neighbours were found. */
typedef struct tl_near_wall {
  uint32_t slot;
  talus_dvec3 position;
  talus_quat rotation;
} tl_near_wall;

/* Neighbours of hard spheres, see step/hard/near.h. */
typedef struct tl_near {
  bool valid;
  double skin;                /* m: surfaces of candidates were at most this far apart */
  double slack;               /* m: for the rounding of positions and of the floats below */
  size_t ignored;             /* pairs of ignored groups at that time */
  unsigned kept;              /* steps since candidates were found */
  unsigned finds;             /* number of times that candidates were found */
  TL_ARRAY(talus_dvec3) from; /* by slot: positions at that time */
  /* by slot, m: lower bound of the distance of a ball from every wall at that time */
  TL_ARRAY(float) room;
  TL_ARRAY(tl_pair) pairs; /* candidates, in any order */
  TL_ARRAY(float) gaps;    /* m, by candidate: lower bound of the gap at that time */
  TL_ARRAY(tl_near_wall) walls;
} tl_near;

/* Data kept from one call to the next for the same bodies (crowd.broad_cache). Pairs do not depend
 * on it, so it is not saved. All zero means empty. */
typedef struct tl_broad_cache {
  talus_broad_kind chosen; /* by tl_broad_choose */
  tl_sweep_order order;
  tl_bvh_kept tree;

  /* Thickness of an automatic skin (model.skin < 0), see skin_choose.c. */
  double thickness; /* m; 0: not chosen yet */
  double far;       /* m: largest displacement of a side in the last step that kept candidates */
  unsigned kept;    /* steps since the last renewal */
  unsigned pause;   /* steps to go without a skin */
  unsigned pauses;  /* consecutive pauses */

  /* The Verlet skin (model.skin is not 0), see skin.c. */
  bool valid;
  double skin;                  /* m: at the time when candidates were found */
  size_t ignored;               /* pairs of ignored groups at that time */
  TL_ARRAY(talus_box) grown;    /* boxes at that time, grown by half the skin on every side */
  TL_ARRAY(tl_pair) candidates; /* by (a, b) */
  TL_ARRAY(uint8_t) levels;     /* by candidate: how certain its overlap is, see skin.h */
  TL_ARRAY(uint8_t) sides;      /* by candidate: which sides decide */
  TL_ARRAY(int8_t) moves;       /* of the six sides of each box since that time */
  uint64_t renewals;            /* number of times that candidates were found anew */
  uint64_t mended;              /* number of times that a few boxes got new candidates instead */

  tl_near near;
} tl_broad_cache;

/* Clears the candidates: bodies came, went or changed places, or groups changed. */
void tl_broad_forget(tl_broad_cache *cache);

/* The skin for new candidates: model.skin, or an automatic one. */
double tl_skin_choose(const tl_crowd *crowd, const talus_box *boxes);
void tl_broad_cache_free(tl_broad_cache *cache);

/* Fails if the box of a bounded shape is not finite, and names the body. */
talus_status tl_broad_check(const tl_crowd *crowd, const talus_box *boxes);

/* Parts of tl_broad_find_pairs: without a skin, for checked boxes; and with a skin and a cache, for
 * all bodies. */
talus_status tl_broad_find_anew(talus_broad_kind kind, const tl_crowd *crowd,
                                const talus_box *boxes, tl_pairs *pairs);
talus_status tl_skin_find_pairs(talus_broad_kind kind, const tl_crowd *crowd,
                                const talus_box *boxes, tl_pairs *pairs);

/* Parts of tl_broad_find_anew: the algorithm of that kind, unsorted; and sorting by (a, b). */
talus_status tl_broad_find_unsorted(talus_broad_kind kind, const tl_crowd *crowd,
                                    const talus_box *boxes, tl_pairs *pairs);
talus_status tl_broad_sort_pairs(const tl_model *model, tl_arena *arena, tl_pairs *pairs);

/* The algorithms, one file each. They return unsorted unique pairs of slots, a < b, in an order
 * that does not depend on the number of threads. *pairs is the last block taken from the arena;
 * scratch stays below it until the caller releases a mark of its own. */
talus_status tl_brute_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs);
talus_status tl_bins_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs);
talus_status tl_kdtree_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs);
talus_status tl_cells_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs);
/* last: the order of the last call; on return that of this one. NULL: sorts anew. */
talus_status tl_sweep_find_pairs(const tl_crowd *crowd, const talus_box *boxes,
                                 tl_sweep_order *last, tl_pairs *pairs);
/* kept: the order of the last call, likewise. */
talus_status tl_bvh_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_bvh_kept *kept,
                               tl_pairs *pairs);

/* True if the pair of slots may collide at all. */
bool tl_broad_allows(const tl_model *model, uint32_t a, uint32_t b);

#endif
