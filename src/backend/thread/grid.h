/* Cells of a grid with levels: a body is in the cell of its centre, on the finest level whose
 * cells are at least as wide as the body with its margin. Two that touch are in neighbouring
 * cells of the coarser of their levels (Pazouki, Mazhar, Negrut 2012 with one body in one cell;
 * levels as in Ericson 2005, 7.2). Cells are numbered in rows along x, so that neighbours in a
 * row are a range; for the same reason cells may be longer along x than needed if there would be
 * too many otherwise. */
#ifndef TL_THREAD_GRID_H
#define TL_THREAD_GRID_H

#include <stddef.h>

#include "kernels/real.h"
#include "kernels/vec3.h"

#define TL_GRID_LEVELS 24
/* most cells along an axis: all levels together have fewer than 2^62 */
#define TL_GRID_LONGEST (1 << 19)

typedef struct tl_grid_level {
  double per_metre[3]; /* cells per m */
  uint32_t count[3];
  uint64_t first; /* number of its first cell */
} tl_grid_level;

/* Along y and z a body searches up to three cells of a level; along x cells may be longer. */
#define TL_GRID_ACROSS 3

/* The low corner of bodies, and the period along each axis. */
typedef struct tl_grid_space {
  double low[3], period[3]; /* m; period 0: not periodic */
} tl_grid_space;

typedef struct tl_grid_levels {
  tl_grid_space space;
  double widest[TL_GRID_LEVELS]; /* m: of the widest body of the level, including its margin */
  double slack[3];               /* m: more than the rounding of positions along an axis */
  tl_grid_level level[TL_GRID_LEVELS];
  uint32_t count;
} tl_grid_levels;

/* Cells along an axis that a body searches: `first` and those after it; after the last cell the
 * first follows. Each cell occurs once. */
typedef struct tl_grid_range {
  uint32_t first, count;
} tl_grid_range;

/* Position relative to `low`, within the period. */
TL_FN double tl_grid_home(const tl_grid_space *space, int axis, double x) {
  const double period = space->period[axis], from = x - space->low[axis];
  if (!(period > 0))
    return from;
  const double home = from - period * floor(from / period);
  return home < period ? home : 0;
}

TL_FN uint32_t tl_grid_place(const tl_grid_levels *grid, uint32_t level, int axis, double x) {
  const tl_grid_level *cells = &grid->level[level];
  const double at = tl_grid_home(&grid->space, axis, x) * cells->per_metre[axis];
  const uint32_t last = cells->count[axis] - 1;
  return at > 0 ? at < (double)last ? (uint32_t)at : last : 0;
}

TL_FN uint32_t tl_grid_level_of(const tl_grid_levels *grid, double wide) {
  uint32_t level = 0;
  while (level + 1 < grid->count && wide > grid->widest[level])
    level++;
  return level;
}

/* The level of a cell. */
TL_FN uint32_t tl_grid_level_at(const tl_grid_levels *grid, uint64_t cell) {
  uint32_t level = 0;
  while (level + 1 < grid->count && cell >= grid->level[level + 1].first)
    level++;
  return level;
}

TL_FN uint64_t tl_grid_cell(const tl_grid_level *cells, uint32_t x, uint32_t y, uint32_t z) {
  return cells->first + ((uint64_t)z * cells->count[1] + y) * cells->count[0] + x;
}

/* Cells whose bodies may have centres within `reach` of `home` (tl_grid_home) along an axis,
 * including rounding (slack in tl_grid_levels). */
TL_FN tl_grid_range tl_grid_around(const tl_grid_levels *grid, uint32_t level, int axis,
                                   double home, double reach) {
  const tl_grid_level *cells = &grid->level[level];
  const double n = cells->count[axis];
  const double far = reach + grid->slack[axis];
  const bool wraps = grid->space.period[axis] > 0;
  double low = floor((home - far) * cells->per_metre[axis]);
  double high = floor((home + far) * cells->per_metre[axis]);
  tl_grid_range range;
  if (!wraps) {
    low = low > 0 ? low : 0;
    low = low < n - 1 ? low : n - 1;
    high = high < n - 1 ? high : n - 1;
  } else if (high - low >= n - 1) {
    low = 0;
    high = n - 1;
  } else if (low < 0) {
    low += n;
    high += n;
  }
  range.first = (uint32_t)low;
  range.count = high > low ? (uint32_t)(high - low) + 1 : 1;
  return range;
}

#endif
