/* Packed bins: the usual case of bins.h (no periodic axes, no crowd), with boxes as whole numbers
 * (private to src/broad).
 *
 * A map that never decreases turns coordinates into numbers below 2^30. Where the numbers of two
 * boxes overlap strictly so do the boxes, where they miss so do the boxes; only where two numbers
 * are equal the boxes themselves have to be asked. So nothing but numbers is sorted and searched:
 * 24 bytes of a box instead of 48, eight boxes at a time. As eight tests cost as much as one,
 * cells are made so wide that the three of a row hold about three boxes, which also makes the table
 * of cells small.
 *
 * Stages: cells and a histogram of buckets (runs of cells); records (numbers, cell, member) are
 * spread over the buckets, whose parts of memory are written in sequence; each bucket, which fits
 * the cache, is sorted by cell into arrays of their own for every number; search by cells. */
#ifndef TL_BROAD_PACKED_H
#define TL_BROAD_PACKED_H

#include "broad/bins.h"
#include "broad/search.h"

#define TL_PACKED_LANES   8
#define TL_PACKED_BITS    30
#define TL_PACKED_CROWD   1.0 /* boxes to a cell */
#define TL_PACKED_BUCKETS 2048
#define TL_PACKED_COUNTS  (TL_PACKED_BUCKETS + 1) /* the wide ones are a bucket of their own */

/* low: numbers of the low corner, negative: an interval overlaps another where high + low is not
 * negative both ways. What is beyond the range of numbers, infinite or not, is just outside of it.
 */
typedef struct tl_packed_record {
  _Alignas(32) int32_t low[3];
  int32_t high[3];
  uint32_t key; /* cell, counted through all levels; the wide ones come last */
  uint32_t who; /* member, and TL_BINS_STATIC */
} tl_packed_record;

/* From a coordinate to a number, and to a cell, as eight lanes: lo.x ... hi.z, and two of nothing.
 */
typedef struct tl_packed_map {
  _Alignas(64) double origin[8];
  double scale[8]; /* negative for low corners */
  double least[8], most[8];
} tl_packed_map;

typedef struct tl_packed_cells {
  _Alignas(64) double origin[8];
  double inverse[8], last[8];
  uint32_t stride[4]; /* to the next cell along x, y, z; 0 */
  uint32_t base;
} tl_packed_cells;

typedef struct tl_packed {
  const tl_bins *bins;
  tl_packed_map map;
  double quantum[3]; /* m between two numbers */
  tl_packed_cells cells[TL_BINS_LEVELS];
  bool even;       /* one level and nothing wide: sizes need not be looked at */
  uint32_t beyond; /* key of the wide ones */
  int shift;       /* from a key to its bucket */
  size_t buckets;
  size_t count;

  size_t *of_bucket; /* for each worker: boxes of each bucket, then where the next one goes */
  tl_packed_record *record;

  /* Sorted. */
  uint32_t *start;           /* of each cell; two more at the end */
  int32_t *low[3], *high[3]; /* and LANES more at the end */
  uint32_t *who, *key;

  size_t first_block[TL_BINS_LEVELS + 2]; /* of each level, of the wide ones, and the end */
} tl_packed;

typedef struct tl_packed_loops {
  /* Adds boxes [begin, end) to a worker's counts of the buckets; spreads them. */
  void (*count)(const tl_packed *packed, size_t begin, size_t end, size_t *counts);
  void (*spread)(const tl_packed *packed, size_t begin, size_t end, size_t *next);
  tl_search_fn *search; /* all pairs of a block, with a tl_packed */
} tl_packed_loops;

extern const tl_packed_loops tl_packed_generic, tl_packed_avx2, tl_packed_avx512;

/* For the benchmark, which sets it to have the seconds of the stages of the last call: sizes and
 * extents; cells, spreading and sorting; all of it, so that search is the rest. NULL: no clocks. */
typedef struct tl_bins_stages {
  double measure, sort, all;
} tl_bins_stages;
extern tl_bins_stages *tl_bins_stages_of_bench;

/* For tests: what is done in scenes that are not for packed bins, everywhere. */
extern bool tl_packed_never_of_tests;

/* The grids of bins->level are made for packed bins. *crowded: so many boxes are in so few cells
 * that it is not worth it, and no pairs have been looked for. */
talus_status tl_packed_find_pairs(const tl_bins *bins, tl_pairs *pairs, bool *crowded);

#endif
