/* Rounded cells (Peters, Sherif and Bell): the work of one thread in each task.
 *
 * The eight corners of a body's box are rounded to cells, and the body is put into the list of each
 * cell that one of them is in. The box is no longer than a cell of its level, so these are all
 * cells that it touches: bodies that touch each other are in one list. Cells and levels are those
 * of bins (backend/thread/grid.h): the published grid has one level, for bodies of about one size.
 *
 * Each body looks through the lists of the cells that its box touches, on its own level and on
 * coarser ones, for those that come after it. Two boxes that share several cells count in the one
 * where, along each axis, at least one of them begins; the paper looks through the pairs that it
 * has already met instead. A list has as many places as it needs, not a fixed number. */
#ifndef TL_THREAD_CORNERS_H
#define TL_THREAD_CORNERS_H

#include "backend/thread/spheres.h"

/* Rows of bodies that a place can name: three bits of it say along which axes the cell is not the
 * first of the box. */
#define TL_CORNER_ROWS ((size_t)1 << 29)

/* Cells of the corners of a box: one or two along each axis. */
typedef struct tl_corner_block {
  const tl_grid_level *cells;
  tl_grid_range axis[3];
} tl_corner_block;

/* Along a periodic axis of less than three cells all are one: a pair could share two. */
TL_FN tl_corner_block tl_corner_cells(const tl_thread_search *search, uint32_t level,
                                      const tl_touch_place *place) {
  const tl_grid_levels *grid = &search->grid;
  tl_corner_block block;
  block.cells = &grid->level[level];
  for (int k = 0; k < 3; ++k) {
    block.axis[k] = tl_grid_around(grid, level, k, place->home[k], 0.5 * place->wide + place->blur);
    if (grid->space.period[k] > 0 && block.cells->count[k] < 3)
      block.axis[k].first = 0, block.axis[k].count = 1;
  }
  return block;
}

TL_FN uint32_t tl_corner_count(const tl_corner_block *block) {
  return block->axis[0].count * block->axis[1].count * block->axis[2].count;
}

/* Cell number k of a block, and along which axes it is not the first. */
TL_FN uint64_t tl_corner_cell(const tl_corner_block *block, uint32_t k, uint32_t *beyond) {
  uint32_t at[3];
  *beyond = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t step = k % block->axis[axis].count;
    k /= block->axis[axis].count;
    *beyond |= (uint32_t)(step > 0) << axis;
    at[axis] = tl_grid_after(&block->axis[axis], step, block->cells->count[axis]);
  }
  return tl_grid_cell(block->cells, at[0], at[1], at[2]);
}

/* The block of a sorted row on its own level. */
TL_FN tl_corner_block tl_corner_own(const tl_thread_search *search, size_t i) {
  tl_thread_visit visit;
  visit.search = search;
  visit.slot = search->slots[i];
  visit.look = search->looks[i];
  const tl_touch_place place = tl_touch_placed(&visit);
  return tl_corner_cells(search, tl_grid_level_at(&search->grid, tl_thread_key(&search->keys, i)),
                         &place);
}

/* ---- lists ----------------------------------------------------------------------------------- */

typedef struct tl_corners_task {
  tl_thread_search search;
  uint32_t *counts; /* by sorted row: number of its cells; planes have none */
} tl_corners_task;

TL_FN void tl_corners_at(const tl_corners_task *task, size_t i) {
  const tl_thread_search *search = &task->search;
  if (i >= search->count - search->plane_count) {
    task->counts[i] = 0;
    return;
  }
  const tl_corner_block block = tl_corner_own(search, i);
  task->counts[i] = tl_corner_count(&block);
}

typedef struct tl_lists_task {
  tl_thread_search search;
  const uint64_t *starts; /* by sorted row: its first place */
  tl_thread_keys keys;    /* by place: its cell */
  uint32_t *places;       /* row << 3 | axes along which the cell is not the first */
} tl_lists_task;

TL_FN void tl_lists_at(const tl_lists_task *task, size_t i) {
  const tl_thread_search *search = &task->search;
  if (i >= search->count - search->plane_count)
    return;
  const tl_corner_block block = tl_corner_own(search, i);
  for (uint32_t k = 0; k < tl_corner_count(&block); ++k) {
    const uint64_t at = task->starts[i] + k;
    uint32_t beyond;
    tl_thread_key_put(&task->keys, at, tl_corner_cell(&block, k, &beyond));
    task->places[at] = (uint32_t)i << 3 | beyond;
  }
}

/* Ends of the lists of all cells. */
typedef struct tl_ends_task {
  tl_thread_keys keys;
  size_t count;
  uint32_t *ends;
  uint64_t cells;
} tl_ends_task;

TL_FN void tl_ends_at(const tl_ends_task *task, size_t i) {
  tl_thread_end_cells(&task->keys, i, task->count, task->ends, task->cells);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

TL_FN void tl_corner_list(tl_thread_visit *visit, uint64_t cell, uint32_t beyond) {
  const tl_touch_lists *lists = &visit->search->lists;
  const size_t begin = !lists->ends ? tl_thread_before(&lists->keys, lists->count, cell)
                       : cell > 0   ? lists->ends[cell - 1]
                                    : 0;
  const size_t end =
      lists->ends ? lists->ends[cell] : tl_thread_before(&lists->keys, lists->count, cell + 1);
  for (size_t at = begin; at < end; ++at) {
    const uint32_t place = lists->places[at], j = place >> 3;
    if (j > visit->self && (place & beyond) == 0)
      tl_touch_try(visit, j);
  }
}

/* In place of tl_touch_search. */
TL_FN void tl_corner_search(tl_thread_visit *visit) {
  const tl_thread_search *search = visit->search;
  const tl_grid_levels *grid = &search->grid;
  const tl_touch_place place = tl_touch_placed(visit);
  for (uint32_t level = tl_grid_level_at(grid, visit->key); level < grid->count; ++level) {
    if (grid->count > 1 && !(*search->levels >> level & 1))
      continue;
    const tl_corner_block block = tl_corner_cells(search, level, &place);
    for (uint32_t k = 0; k < tl_corner_count(&block); ++k) {
      uint32_t beyond;
      const uint64_t cell = tl_corner_cell(&block, k, &beyond);
      tl_corner_list(visit, cell, beyond);
    }
  }
}

TL_FN void tl_corner_again(tl_thread_visit *visit) {
  visit->found = 0;
  tl_corner_search(visit);
  if (visit->search->plane_count > 0)
    tl_touch_planes(visit);
}

/* Like touch. */
typedef tl_touch_task tl_corner_task;

TL_FN void tl_corner_begin(const tl_thread_search *search, size_t i, tl_thread_visit *visit) {
  if (tl_visit_begin(search, i, visit))
    tl_corner_again(visit);
}

TL_FN void tl_corner_end(tl_thread_visit *visit, const tl_touch_list *list, uint64_t place) {
  if (tl_visit_put(visit, list, place))
    tl_corner_again(visit);
}

TL_FN void tl_corner_at(const tl_corner_task *task, size_t i) {
  tl_thread_visit visit;
  tl_corner_begin(&task->search, i, &visit);
  if (visit.found > 0)
    tl_corner_end(&visit, &task->list, tl_thread_add_wide(task->used, visit.found));
}

#endif
