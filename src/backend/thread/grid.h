/* Cells of a grid with levels: a body is in the cell of its centre, on the finest level whose cells
 * are at least as wide as the body with its margin. Two that touch are in neighbouring cells of the
 * coarser of their levels (Pazouki, Mazhar, Negrut 2012 with one body in one cell; levels as in
 * Ericson 2005, 7.2). Cells are numbered in rows along x, so that neighbours in a row are a range.
 */
#ifndef TL_THREAD_GRID_H
#define TL_THREAD_GRID_H

#include <stddef.h>

#include "kernels/real.h"
#include "kernels/vec3.h"

#define TL_GRID_LEVELS  24
#define TL_GRID_LONGEST (1 << 19) /* cells along an axis: all levels have fewer than 2^62 */

typedef struct tl_grid_level {
  double edge[3]; /* m */
  uint32_t count[3];
  uint64_t first; /* number of its first cell */
} tl_grid_level;

/* Where bodies are, and the period along each axis. */
typedef struct tl_grid_space {
  double low[3], period[3]; /* m; period 0: not periodic */
} tl_grid_space;

typedef struct tl_grid_levels {
  tl_grid_space space;
  double widest[TL_GRID_LEVELS]; /* m: the widest body of the level */
  tl_grid_level level[TL_GRID_LEVELS];
  uint32_t count;
} tl_grid_levels;

/* Cells along an axis that a body on `at` has to look at. */
typedef struct tl_grid_range {
  uint32_t at[3];
  uint32_t count; /* 1 ... 3, all different */
} tl_grid_range;

/* From `low`, within the period. */
TL_FN double tl_grid_home(const tl_grid_space *space, int axis, double x) {
  const double period = space->period[axis], from = x - space->low[axis];
  if (!(period > 0))
    return from;
  const double home = from - period * floor(from / period);
  return home < period ? home : 0;
}

TL_FN uint32_t tl_grid_place(const tl_grid_levels *grid, uint32_t level, int axis, double x) {
  const tl_grid_level *cells = &grid->level[level];
  const double at = tl_grid_home(&grid->space, axis, x) / cells->edge[axis];
  const uint32_t last = cells->count[axis] - 1;
  return at > 0 ? at < (double)last ? (uint32_t)at : last : 0;
}

TL_FN uint32_t tl_grid_level_of(const tl_grid_levels *grid, double wide) {
  uint32_t level = 0;
  while (level + 1 < grid->count && wide > grid->widest[level])
    level++;
  return level;
}

TL_FN uint64_t tl_grid_cell(const tl_grid_level *cells, uint32_t x, uint32_t y, uint32_t z) {
  return cells->first + ((uint64_t)z * cells->count[1] + y) * cells->count[0] + x;
}

TL_FN tl_grid_range tl_grid_around(const tl_grid_levels *grid, uint32_t level, int axis, double x) {
  const uint32_t n = grid->level[level].count[axis];
  const uint32_t at = tl_grid_place(grid, level, axis, x);
  const bool wraps = grid->space.period[axis] > 0;
  tl_grid_range range;
  range.count = 0;
  if (wraps && n <= 3) {
    while (range.count < n) {
      range.at[range.count] = range.count;
      range.count++;
    }
    return range;
  }
  if (at > 0 || wraps)
    range.at[range.count++] = at > 0 ? at - 1 : n - 1;
  range.at[range.count++] = at;
  if (at + 1 < n || wraps)
    range.at[range.count++] = at + 1 < n ? at + 1 : 0;
  return range;
}

#endif
