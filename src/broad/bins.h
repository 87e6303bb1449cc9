/* Bins: a hierarchy of uniform grids (private to src/broad).
 *
 * Boxes of similar size share a level; a level is a uniform grid whose cells are no smaller than
 * the largest box in it, and a box lives in the one cell that holds its low corner. Two boxes of a
 * level can then overlap only if their cells are neighbours: each box looks at half of the 27 cells
 * around it, so that a pair is met once. Cells are numbered with x fastest, so the three
 * x-neighbours of a row are one run of the sorted boxes: the own row forward and four more rows. A
 * box also searches every finer level, in the cells of boxes that could touch it. Boxes that are
 * unbounded, or so large that they would search nearly everything, are in a separate list (`wide`),
 * which is tested against all boxes.
 *
 * This holds for any monotone map from coordinate to cell. So boxes far outside are simply clamped
 * into the border cells, and a body that flew away does not make the grid coarse.
 *
 * Steps: size classes -> levels (bins_levels.c); grid of each level, cells, sort (bins.c); search,
 * once to count and once to write (bins_search.c). All of it is independent of the number of
 * threads. */
#ifndef TL_BROAD_BINS_H
#define TL_BROAD_BINS_H

#include <float.h>

#include "broad/broad.h"
#include "broad/images.h"

/* ---- sizes ---------------------------------------------------------------------------------- */

/* A size class is half an octave of the longest edge, from 2^-64 m to 2^64 m; smaller and larger
 * ones are in the first and the last. */
#define TL_BINS_CLASSES 256
#define TL_BINS_WIDE    TL_BINS_CLASSES /* the class of a box that no grid can hold */
#define TL_BINS_LEVELS  8

/* Twice the biased exponent of 2^-64. */
#define TL_BINS_CLASS_0 (2u * (1023u - 64u))

/* Class of an edge >= 0: exponent and first bit of the mantissa, which is monotone and exact. */
static inline int tl_bins_class_of_edge(double edge) {
  uint64_t bits;
  memcpy(&bits, &edge, sizeof bits);
  const uint32_t top = (uint32_t)(bits >> 51);
  const uint32_t lo = TL_BINS_CLASS_0, hi = TL_BINS_CLASS_0 + TL_BINS_CLASSES - 1;
  return (int)((top < lo ? lo : top > hi ? hi : top) - lo);
}

/* Smallest edge above a class. */
static inline double tl_bins_class_end(int size_class) {
  const uint64_t bits = (uint64_t)(TL_BINS_CLASS_0 + (unsigned)size_class + 1) << 51;
  double edge;
  memcpy(&edge, &bits, sizeof edge);
  return edge;
}

static inline int tl_bins_class_of(const talus_box *box) {
  const double edge[3] = {box->hi.x - box->lo.x, box->hi.y - box->lo.y, box->hi.z - box->lo.z};
  double longest = 0;
  for (int k = 0; k < 3; ++k)
    longest = edge[k] > longest ? edge[k] : longest;
  return longest <= DBL_MAX ? tl_bins_class_of_edge(longest) : TL_BINS_WIDE;
}

/* ---- levels --------------------------------------------------------------------------------- */

typedef struct tl_bins_level {
  uint32_t first, count; /* its range of the sorted boxes */
  double lo[3], hi[3];   /* range of the low corners */
  double reach[3];       /* longest edges, slightly enlarged */
  double origin[3], inverse[3];
  uint32_t cells[3];
  /* distance in cells to the next one in y and z: rows and planes end with an empty border, which
   * is a neighbour on both sides and saves tests */
  uint32_t row, plane;
  /* periodic with three cells or more: the last cell is a neighbour of the first */
  bool wraps[3];
  /* some periodic axis has one cell: the cell does not determine which image overlaps */
  bool images;
  uint32_t base;   /* key of its first cell */
  uint32_t *start; /* by run of 2^shift cells: its begin in the sorted boxes */
  int shift;
} tl_bins_level;

typedef struct tl_bins {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_box *boxes;
  tl_images images;
  uint8_t level_of[TL_BINS_CLASSES + 1];   /* by class; `levels` for wide boxes */
  int levels;                              /* from small to large */
  tl_bins_level level[TL_BINS_LEVELS + 1]; /* the last is the wide list, which has no grid */

  /* Sorted by key; boxes with one key by member. */
  uint32_t *key;  /* cell, numbered through all levels; wide boxes come last */
  uint32_t *who;  /* first the member, later its slot with TL_BINS_STATIC */
  tl_span3 *box;  /* moved into the domain */
  uint64_t *hits; /* results of counting for the first 64 candidates of the own level */

  /* number of pairs of each block of boxes, later their begin */
  uint64_t *block;
  size_t first_block[TL_BINS_LEVELS + 2]; /* of each level, and the end */
} tl_bins;

/* In `who`: contacts do not move the body, so two of them make no pair. Slots are smaller. */
#define TL_BINS_STATIC 0x80000000u

/* Chooses the levels from the number of boxes (of all) in each class: fills level_of and levels. */
void tl_bins_choose_levels(const uint32_t count[TL_BINS_CLASSES + 1], tl_bins *bins);

/* The region of the low corners of most boxes: the range of a sample without its outermost 1/32 on
 * either side, plus an eighth, so that a single box far away has no influence. */
void tl_bins_find_bulk(const tl_bins *bins, double lo[3], double hi[3]);

/* Number of boxes in a block, the unit of parallel work and of the order of pairs. */
static inline size_t tl_bins_block_size(int level) { return level == 0 ? 512 : 32; }

/* Finds the pairs of blocks [begin, end) of a level. If out is NULL it writes their numbers into
 * bins->block[], otherwise the pairs to out + bins->block[]. */
void tl_bins_search(const tl_bins *bins, int level, size_t begin, size_t end, tl_pair *out);

#endif
