/* Entries: what kdtree, cells, sweep and bvh put into their structures (private to src/broad).
 *
 * An entry is a box within the domain. A box that crosses periodic edges has one more entry for
 * each combination of these edges, moved down by a period there, so that the structures need not
 * know periods. Two boxes may then meet as several pairs of entries, of which only one counts: per
 * axis, the pair without a shift if it overlaps; else with b moved, else with a moved. Boxes of
 * unbounded bodies, and a few that are about as large as the whole scene, are not entries: they are
 * in a separate list (`wide`), which is tested against all boxes. */
#ifndef TL_BROAD_ENTRIES_H
#define TL_BROAD_ENTRIES_H

#include "broad/bins.h"
#include "broad/search.h"

typedef struct tl_entries {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_box *boxes;
  tl_images images;
  size_t count;
  uint32_t *member; /* of each entry; NULL: entry i is member i */
  uint8_t *moved;   /* bit k: moved down along axis k; NULL: none is */
  uint32_t *wide;   /* members, ascending */
  size_t wides;
  double lo[3], hi[3];           /* what all entries are within; lo > hi: there are none */
  double bulk_lo[3], bulk_hi[3]; /* the same for most of them: one that flew away does not count */
  double edge[3];                /* median, per axis */
  double longest, small;         /* of the longest edges: the median, and what 1/16 are below */
  int widest;                    /* axis along which they vary most */
  uint32_t of_class[TL_BINS_CLASSES + 1]; /* how many boxes are of each size class of bins.h */
} tl_entries;

/* Looks at all boxes and makes the list. Arrays are in the arena. */
talus_status tl_entries_make(const tl_crowd *crowd, const talus_box *boxes, tl_entries *entries);

/* An entry where a structure keeps it, in an order of its own: one cache line. */
typedef struct tl_entry {
  tl_span3 box;
  uint64_t code;  /* whatever the structure likes */
  uint32_t who;   /* slot, and TL_ENTRY_STATIC */
  uint32_t index; /* into the entries */
} tl_entry;

/* Not moved by contacts: two of them make no pair. Slots are below it. */
#define TL_ENTRY_STATIC 0x80000000u

/* Entry i where there are images: see tl_entries_box. */
tl_span3 tl_entries_image(const tl_entries *entries, size_t i);

/* The box of entry i. An image is larger by a few roundings: whatever meets it when counted
 * exactly as tl_images_overlap does, meets it as an entry. */
static inline tl_span3 tl_entries_box(const tl_entries *entries, size_t i) {
  if (entries->moved)
    return tl_entries_image(entries, i);
  const talus_box *box = &entries->boxes[entries->member ? entries->member[i] : i];
  return (tl_span3){{box->lo.x, box->lo.y, box->lo.z}, {box->hi.x, box->hi.y, box->hi.z}};
}

/* All there is of entry i but the code. */
tl_entry tl_entries_get(const tl_entries *entries, size_t i);

/* entry[k] for k in [begin, end): number order[k] of the list. */
void tl_entries_gather(const tl_entries *entries, const uint32_t *order, size_t begin, size_t end,
                       tl_entry *entry);

/* Whether these two, of the boxes they are entries of, are the ones that count; exactly. */
bool tl_entries_count_here(const tl_entries *entries, const tl_entry *a, const tl_entry *b);

/* Two entries whose boxes overlap: a pair, unless it counts elsewhere or is masked. */
static inline void tl_entries_meet(const tl_entries *entries, const tl_entry *a, const tl_entry *b,
                                   tl_catch *to) {
  const tl_model *model = entries->model;
  if ((a->who & b->who & TL_ENTRY_STATIC) != 0)
    return;
  if (entries->moved && !tl_entries_count_here(entries, a, b))
    return;
  const uint32_t i = a->who & ~TL_ENTRY_STATIC, j = b->who & ~TL_ENTRY_STATIC;
  if (model->ignored.count > 0 &&
      tl_model_ignores(model, model->property.group[i], model->property.group[j]))
    return;
  tl_catch_put(to, i, j);
}

/* The wide ones against everything, as blocks of a search (search.h) of their own. */
size_t tl_entries_wide_blocks(const tl_entries *entries);
void tl_entries_search_wide(const tl_entries *entries, size_t block, tl_catch *to);

/* ---- grids over entries --------------------------------------------------------------------- */

/* A map from coordinates to whole numbers below 2^bits that never decreases, whatever x is: boxes
 * that overlap have ranges of numbers that overlap. */
typedef struct tl_quanta {
  double origin[3], inverse[3];
  double last; /* 2^bits - 1 */
  int bits;
} tl_quanta;

static inline uint32_t tl_quantise(const tl_quanta *quanta, int k, double x) {
  const double t = (x - quanta->origin[k]) * quanta->inverse[k];
  if (!(t > 0))
    return 0;
  return t < quanta->last ? (uint32_t)t : (uint32_t)quanta->last;
}

/* Quanta of the shape of `edge` and no wider, but where 2^most_bits would not reach across the
 * scene; the axis with most of them has a power of two. */
tl_quanta tl_entries_quanta(const tl_entries *entries, const double edge[3], int most_bits);

#endif
