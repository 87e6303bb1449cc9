/* The linear kd-tree of Poirrier 2009 (private to src/broad, and for the benchmark).
 *
 * Space is halved again and again, along x, y, z, x, y, z ...; a cell is named by its path, the
 * list of halves that lead to it: the first `length` bits of the Morton code of any point in it. A
 * box belongs in the smallest cell around it, which is large if a cut at a low depth happens to go
 * through the box: so it is cut in two there, at most once along each axis, but only where the
 * cells of the pieces take less room than the cell of the whole. Two pieces can overlap only if one
 * cell is within the other. There is no tree: pieces are records, sorted by (path, length), and
 * those of a cell and everything within it are one run, of which the sweep takes the pairs.
 *
 * The sections of the paper are 2 to 5. Where it says too little we do as follows.
 *   5.2  Coordinates are clamped into the root cell; the map to numbers never decreases, so that
 *        boxes which overlap do so as numbers, too. The root cell is fitted to the boxes, and the
 *        cells have the shape of a typical box (its future work 7.3).
 *   5.4  Prefix first: keys are (path, filled with zeros) << 6 | length.
 *   4.1  A cut is kept if the cells of all pieces it leads to have less volume than the own cell.
 *   5.5  The sweep runs for every record on its own, so in parallel (its future work 7.2).
 *   6    kd-tree-2 makes pairs unique by a list of them. Here a pair counts in the cell that holds
 *        the point max(low corner, low corner), of which there is one: no memory, no second look.
 */
#ifndef TL_BROAD_KDTREE_H
#define TL_BROAD_KDTREE_H

#include "broad/entries.h"

#define TL_KDTREE_BITS   19 /* of a coordinate at most: 3 x 19 of path and 6 of length are 63 */
#define TL_KDTREE_LENGTH 6  /* bits of the length, below the path */
#define TL_KDTREE_PIECES 8

/* Bits of the first axis in a code; shifted for the others. */
#define TL_KDTREE_AXIS UINT64_C(0x1249249249249249)

typedef struct tl_kdtree {
  tl_entries entries;
  tl_quanta quanta;
  int depth;       /* 3 times the bits of the quanta: the length of the longest path */
  bool split;      /* boxes are cut */
  tl_entry *entry; /* sorted along the Morton curve; code: of the low corner */
  size_t count;    /* number of records */
  uint64_t *key;
  uint32_t *id; /* by record: index in `entry` */
} tl_kdtree;

/* bits: of a coordinate, at most TL_KDTREE_BITS; 0: chosen. */
talus_status tl_kdtree_build(const tl_crowd *crowd, const talus_box *boxes, bool split, int bits,
                             tl_kdtree *tree);

/* Sorts keys and ids by the lowest `bits` bits of the key; all others must be 0. Stable, and the
 * same for any number of threads. */
talus_status tl_kdtree_sort(const tl_par *par, tl_arena *arena, uint64_t *key, uint32_t *id,
                            size_t n, int bits);

/* ---- keys ------------------------------------------------------------------------------------ */

/* Code of the point max(low corner, low corner): Morton codes keep the order along each axis. */
static inline uint64_t tl_kdtree_corner(uint64_t a, uint64_t b) {
  uint64_t point = 0;
  for (int k = 0; k < 3; ++k) {
    const uint64_t x = a & (TL_KDTREE_AXIS << k), y = b & (TL_KDTREE_AXIS << k);
    point |= x > y ? x : y;
  }
  return point;
}

/* The last key of a cell and everything inside it. */
static inline uint64_t tl_kdtree_last(const tl_kdtree *tree, uint64_t key) {
  const int length = (int)(key & ((1u << TL_KDTREE_LENGTH) - 1));
  return key | ((UINT64_C(1) << (tree->depth - length + TL_KDTREE_LENGTH)) - 1);
}

/* True if the cell of a record contains the point. */
static inline bool tl_kdtree_holds(const tl_kdtree *tree, uint64_t key, uint64_t point) {
  const int length = (int)(key & ((1u << TL_KDTREE_LENGTH) - 1));
  return ((key >> TL_KDTREE_LENGTH) ^ point) >> (tree->depth - length) == 0;
}

/* ---- for the benchmark ----------------------------------------------------------------------- */

/* The numbers in the tables of the paper. */
typedef struct tl_kdtree_statistics {
  size_t bodies;
  size_t records; /* the paper's sub-elements */
  /* V_n / V_e: volume of the cells of all records over that of the bodies, each taken as the
   * ellipsoid that fills its box */
  double volume_ratio;
  uint64_t candidates;  /* kd-tree-1: pairs of records of which one cell contains the other */
  uint64_t overlapping; /* pairs of these whose spheres overlap: true positives */
  uint64_t unique;      /* kd-tree-2: the same, with each pair of bodies once */
  size_t bytes;         /* most memory taken from the arena */
  double seconds_build; /* codes and sort */
  double seconds_sweep_1, seconds_sweep_2; /* of the two variants */
} tl_kdtree_statistics;

/* Builds and sweeps as in the paper, for bodies that are spheres filling their boxes, without
 * periodic images and unbounded bodies. Leaves nothing in the arena. */
talus_status tl_kdtree_measure(const tl_crowd *crowd, const talus_box *boxes, bool split, int bits,
                               tl_kdtree_statistics *statistics);

#endif
