/* Packed bins: the usual case of bins.h (no periodic axes, no crowd), with boxes as whole numbers
 * (private to src/broad).
 *
 * A map that never decreases turns coordinates into numbers below 2^30. If the numbers of two boxes
 * overlap strictly, so do the boxes; if the numbers do not overlap, neither do the boxes; only if
 * two numbers are equal the boxes themselves are compared. So only numbers are sorted and searched:
 * 24 bytes per box instead of 48, eight boxes at a time. Because eight tests cost as much as one,
 * cells are so wide that the three cells of a row hold about three boxes, which also makes the
 * table of cells small.
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
#define TL_PACKED_CROWD   1.0 /* boxes per cell */
#define TL_PACKED_BUCKETS 2048
#define TL_PACKED_COUNTS  (TL_PACKED_BUCKETS + 1) /* wide boxes have a bucket of their own */

/* low: negated numbers of the low corner, so that two intervals overlap if high + low is not
 * negative both ways. Coordinates beyond the range of numbers, also infinite ones, are mapped just
 * outside of it. */
typedef struct tl_packed_record {
  _Alignas(32) int32_t low[3];
  int32_t high[3];
  uint32_t key; /* cell, numbered through all levels; wide boxes come last */
  uint32_t who; /* member, and TL_BINS_STATIC */
} tl_packed_record;

/* Maps coordinates to numbers and to cells, as eight lanes: lo.x ... hi.z, and two unused. */
typedef struct tl_packed_map {
  _Alignas(64) double origin[8];
  double scale[8]; /* negative for low corners */
  double least[8], most[8];
} tl_packed_map;

typedef struct tl_packed_cells {
  _Alignas(64) double origin[8];
  double inverse[8], last[8];
  uint32_t stride[4]; /* distance in cells along x, y, z; 0 */
  uint32_t base;
} tl_packed_cells;

typedef struct tl_packed {
  const tl_bins *bins;
  tl_packed_map map;
  double quantum[3]; /* m per number */
  tl_packed_cells cells[TL_BINS_LEVELS];
  bool even;       /* one level and no wide boxes: sizes need not be examined */
  uint32_t beyond; /* key of wide boxes */
  int shift;       /* from a key to its bucket */
  size_t buckets;
  size_t count;

  /* by worker: number of boxes of each bucket, later the place of its next box */
  size_t *of_bucket;
  tl_packed_record *record;

  /* Sorted boxes. */
  uint32_t *start;           /* by cell; two more at the end */
  int32_t *low[3], *high[3]; /* with LANES more elements at the end */
  uint32_t *who, *key;

  size_t first_block[TL_BINS_LEVELS + 2]; /* of each level, of the wide boxes, and the end */
} tl_packed;

typedef struct tl_packed_loops {
  /* Adds boxes [begin, end) to a worker's counts of the buckets; and writes their records. */
  void (*count)(const tl_packed *packed, size_t begin, size_t end, size_t *counts);
  void (*spread)(const tl_packed *packed, size_t begin, size_t end, size_t *next);
  tl_search_fn *search; /* finds all pairs of a block; context: a tl_packed */
} tl_packed_loops;

extern const tl_packed_loops tl_packed_generic, tl_packed_avx2, tl_packed_avx512;

/* For the benchmark, which sets the pointer to get seconds of the stages of the last call: sizes
 * and extents; cells, records and sorting; total. NULL: no clocks. */
typedef struct tl_bins_stages {
  double measure, sort, all;
} tl_bins_stages;
extern tl_bins_stages *tl_bins_stages_of_bench;

/* For tests: never uses packed bins. */
extern bool tl_packed_never_of_tests;

/* The grids of bins->level must be made for packed bins. *crowded: so many boxes share few cells
 * that packed bins do not pay, and no pairs were searched. */
talus_status tl_packed_find_pairs(const tl_bins *bins, tl_pairs *pairs, bool *crowded);

#endif
