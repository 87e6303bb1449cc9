/* Entries: the elements of the structures of kdtree, cells, sweep and bvh (private to src/broad).
 *
 * An entry is a box inside the domain. A box that crosses periodic edges has one more entry for
 * each combination of these edges, moved down by a period there, so that the structures need not
 * know periods. Two boxes may then meet as several pairs of entries, of which only one counts: for
 * each axis, the pair without a shift if it overlaps; else the one with b moved, else with a moved.
 * Boxes of unbounded bodies, and a few that are about as large as the whole scene, are not entries:
 * they are in a separate list (`wide`), which is tested against all boxes. */
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
  uint32_t *member; /* by entry; NULL: entry i is member i */
  uint8_t *moved;   /* bit k: moved down along axis k; NULL: none is */
  uint32_t *wide;   /* members, ascending */
  size_t wides;
  double lo[3], hi[3];           /* range of all entries; lo > hi: there are none */
  double bulk_lo[3], bulk_hi[3]; /* range of most entries: ignores outliers */
  double edge[3];                /* median, per axis */
  /* median of the longest edges, and the value that 1/16 are below */
  double longest, small;
  int widest;                             /* axis along which entries vary most */
  uint32_t of_class[TL_BINS_CLASSES + 1]; /* number of boxes of each size class of bins.h */
} tl_entries;

/* Examines all boxes and makes the list. Arrays are in the arena. */
talus_status tl_entries_make(const tl_crowd *crowd, const talus_box *boxes, tl_entries *entries);

/* An entry as stored by a structure, in an order of its own: one cache line. */
typedef struct tl_entry {
  tl_span3 box;
  uint64_t code;  /* meaning depends on the structure */
  uint32_t who;   /* slot, and TL_ENTRY_STATIC */
  uint32_t index; /* number of the entry */
} tl_entry;

/* Contacts do not move the body: two of them make no pair. Slots are smaller. */
#define TL_ENTRY_STATIC 0x80000000u

/* Entry i if there are images: see tl_entries_box. */
tl_span3 tl_entries_image(const tl_entries *entries, size_t i);

/* The box of entry i. An image is enlarged by a few rounding errors: if tl_images_overlap finds an
 * overlap, the entries overlap, too. */
static inline tl_span3 tl_entries_box(const tl_entries *entries, size_t i) {
  if (entries->moved)
    return tl_entries_image(entries, i);
  const talus_box *box = &entries->boxes[entries->member ? entries->member[i] : i];
  return (tl_span3){{box->lo.x, box->lo.y, box->lo.z}, {box->hi.x, box->hi.y, box->hi.z}};
}

/* All data of entry i except the code. */
tl_entry tl_entries_get(const tl_entries *entries, size_t i);

/* entry[k] for k in [begin, end): entry number order[k]. */
void tl_entries_gather(const tl_entries *entries, const uint32_t *order, size_t begin, size_t end,
                       tl_entry *entry);

/* True if these two entries are the ones that count for their boxes; exact. */
bool tl_entries_count_here(const tl_entries *entries, const tl_entry *a, const tl_entry *b);

/* Two entries whose boxes overlap: adds a pair, unless it counts elsewhere or is masked. */
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

/* Tests the wide boxes against all, as additional blocks of a search (search.h). */
size_t tl_entries_wide_blocks(const tl_entries *entries);
void tl_entries_search_wide(const tl_entries *entries, size_t block, tl_catch *to);

/* ---- grids over entries --------------------------------------------------------------------- */

/* A monotone map from coordinates to whole numbers below 2^bits, for any x: boxes that overlap have
 * ranges of numbers that overlap. */
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

/* Quanta with the proportions of `edge` and no wider, unless 2^most_bits of them would not span the
 * scene; the axis with most of them has a power of two. */
tl_quanta tl_entries_quanta(const tl_entries *entries, const double edge[3], int most_bits);

#endif
