/* Contacts of spheres: the work of one thread in each task.
 *
 * Bodies get the key of their cell and are sorted. Then each searches the cells around it, on its
 * own level and on coarser ones, for spheres that it touches and that come after it in that order,
 * so that each pair is found once. A contact belongs to the lower slot of its two bodies. The list
 * of all is sorted by owner, as numbers, and the short run of each owner by its thread: that is the
 * canonical set, before any contact is written. */
#ifndef TL_THREAD_SPHERES_H
#define TL_THREAD_SPHERES_H

#include <talus/detect.h>

#include "backend/thread/atomic.h"
#include "backend/thread/grid.h"
#include "kernels/collide_sphere.h"

typedef struct tl_thread_ball {
  TL_ALIGNED(16) double x;
  double y, z, radius; /* m; radius < 0: a plane, which is in no cell */
} tl_thread_ball;

/* A half-space of matter, n.x < offset. */
typedef struct tl_thread_plane {
  double normal[3], offset; /* unit; m */
} tl_thread_plane;

/* A sphere for tests in single precision: relative to the low corner of the grid, within the
 * period; half the margin is part of its radius. */
typedef struct tl_thread_look {
  TL_ALIGNED(16) float x;
  float y, z, radius; /* m */
} tl_thread_look;

/* ---- extents --------------------------------------------------------------------------------- */

typedef struct tl_thread_extent {
  double low[3], high[3];   /* m, of centres */
  double smallest, largest; /* m, of radii */
} tl_thread_extent;

TL_FN tl_thread_extent tl_thread_extent_none(void) {
  tl_thread_extent none;
  for (int k = 0; k < 3; ++k) {
    none.low[k] = DBL_MAX;
    none.high[k] = -DBL_MAX;
  }
  none.smallest = DBL_MAX;
  none.largest = 0;
  return none;
}

TL_FN void tl_thread_extent_join(tl_thread_extent *to, const tl_thread_extent *other) {
  for (int k = 0; k < 3; ++k) {
    to->low[k] = fmin(to->low[k], other->low[k]);
    to->high[k] = fmax(to->high[k], other->high[k]);
  }
  to->smallest = fmin(to->smallest, other->smallest);
  to->largest = fmax(to->largest, other->largest);
}

/* Rows first, first + stride, ... */
TL_FN tl_thread_extent tl_thread_extent_of(const tl_thread_ball *rows, size_t count, size_t first,
                                           size_t stride) {
  tl_thread_extent all = tl_thread_extent_none();
  for (size_t i = first; i < count; i += stride) {
    const tl_thread_ball row = rows[i];
    const double x[3] = {row.x, row.y, row.z};
    tl_thread_extent one;
    if (row.radius < 0)
      continue;
    for (int k = 0; k < 3; ++k)
      one.low[k] = one.high[k] = x[k];
    one.smallest = one.largest = row.radius;
    tl_thread_extent_join(&all, &one);
  }
  return all;
}

/* Thread i measures rows i, i + threads, ... */
typedef struct tl_measure_task {
  const tl_thread_ball *rows;
  size_t count, threads;
  tl_thread_extent *parts;
} tl_measure_task;

TL_FN void tl_measure_at(const tl_measure_task *task, size_t thread) {
  task->parts[thread] = tl_thread_extent_of(task->rows, task->count, thread, task->threads);
}

/* Parts first, first + stride, ... */
TL_FN tl_thread_extent tl_thread_extent_joined(const tl_thread_extent *parts, size_t count,
                                               size_t first, size_t stride) {
  tl_thread_extent all = tl_thread_extent_none();
  for (size_t i = first; i < count; i += stride)
    tl_thread_extent_join(&all, &parts[i]);
  return all;
}

/* What the host needs of an extent, in few bytes. */
typedef struct tl_thread_measured {
  double low[3];           /* m; */
  float span[3];           /* up to the high corner, rounded up like `largest`; */
  float smallest, largest; /* m: `smallest` is rounded down */
  uint32_t odd;            /* not 0: rows have numbers that the host must look at */
} tl_thread_measured;

/* A float that is not less; not less than FLT_MIN, because the next one below is 0. */
TL_FN float tl_float_above(double x) {
  const float near = (float)x * (1 + 2e-7f);
  return x > 0 && near < FLT_MIN ? FLT_MIN : near;
}

TL_FN tl_thread_measured tl_extent_packed(const tl_thread_extent *extent, const uint32_t *odd) {
  tl_thread_measured packed;
  for (int k = 0; k < 3; ++k) {
    packed.low[k] = extent->low[k];
    packed.span[k] = tl_float_above(extent->high[k] - extent->low[k]);
  }
  packed.smallest = (float)extent->smallest * (1 - 2e-7f);
  packed.largest = tl_float_above(extent->largest);
  packed.odd = odd ? *odd : 0;
  return packed;
}

/* One thread combines the parts. */
typedef struct tl_join_task {
  size_t count;
  const tl_thread_extent *parts;
  const uint32_t *odd; /* or NULL */
  tl_thread_measured *joined;
} tl_join_task;

TL_FN void tl_join_at(const tl_join_task *task, size_t thread) {
  const tl_thread_extent all = tl_thread_extent_joined(task->parts, task->count, thread, 1);
  *task->joined = tl_extent_packed(&all, task->odd);
}

/* ---- into cells ------------------------------------------------------------------------------ */

/* Keys of cells: as short as possible, because they are sorted. */
typedef struct tl_thread_keys {
  void *data;
  bool wide; /* 64 bits, otherwise 32 */
} tl_thread_keys;

TL_FN uint64_t tl_thread_key(const tl_thread_keys *keys, size_t i) {
  return keys->wide ? ((const uint64_t *)keys->data)[i] : ((const uint32_t *)keys->data)[i];
}

TL_FN void tl_thread_key_put(const tl_thread_keys *keys, size_t i, uint64_t key) {
  if (keys->wide)
    ((uint64_t *)keys->data)[i] = key;
  else
    ((uint32_t *)keys->data)[i] = (uint32_t)key;
}

typedef struct tl_key_task {
  const tl_thread_ball *rows;
  tl_grid_levels grid;
  double margin; /* m */
  uint64_t last; /* key of planes: after all cells */
  tl_thread_keys keys;
  uint32_t *slots;
  uint32_t *levels; /* bits of levels that have bodies; cleared before */
} tl_key_task;

TL_FN void tl_key_at(const tl_key_task *task, size_t i) {
  const tl_thread_ball row = task->rows[i];
  const tl_grid_levels *grid = &task->grid;
  const uint32_t level = tl_grid_level_of(grid, 2 * row.radius + task->margin);
  uint64_t key = task->last;
  if (row.radius >= 0) {
    key = tl_grid_cell(&grid->level[level], tl_grid_place(grid, level, 0, row.x),
                       tl_grid_place(grid, level, 1, row.y), tl_grid_place(grid, level, 2, row.z));
    tl_thread_set(task->levels, (uint32_t)1 << level);
  }
  tl_thread_key_put(&task->keys, i, key);
  task->slots[i] = (uint32_t)i;
}

/* Cells without bodies whose ends the row before them writes; the others are filled later. */
#define TL_GATHER_EMPTY 255

/* Stores the end of the cell of sorted element i, which is the begin of the next one, and those of
 * empty cells behind it. */
TL_FN void tl_thread_end_cells(const tl_thread_keys *keys, size_t i, size_t count, uint32_t *ends,
                               uint64_t cells) {
  const uint64_t key = tl_thread_key(keys, i), most = key + TL_GATHER_EMPTY + 1;
  uint64_t next = i + 1 < count ? tl_thread_key(keys, i + 1) : cells;
  next = next < cells ? next : cells; /* planes are in none */
  next = next < most ? next : most;
  for (uint64_t cell = key; cell < next; ++cell)
    ends[cell] = (uint32_t)(i + 1);
}

/* Copies rows in the order of cells, in single precision. If there is a table of all cells, stores
 * the end of each cell, which is the begin of the next one. */
typedef struct tl_gather_task {
  const tl_thread_ball *rows;
  tl_thread_keys keys;
  const uint32_t *slots;
  tl_grid_space space;
  double margin; /* m */
  size_t count;
  tl_thread_look *looks;
  uint32_t *ends; /* by cell; NULL: there are too many cells */
  uint64_t cells;
} tl_gather_task;

TL_FN void tl_gather_at(const tl_gather_task *task, size_t i) {
  const tl_thread_ball row = task->rows[task->slots[i]];
  tl_thread_look look;
  look.x = (float)tl_grid_home(&task->space, 0, row.x);
  look.y = (float)tl_grid_home(&task->space, 1, row.y);
  look.z = (float)tl_grid_home(&task->space, 2, row.z);
  look.radius = (float)(row.radius + 0.5 * task->margin);
  task->looks[i] = look;
  if (task->ends)
    tl_thread_end_cells(&task->keys, i, task->count, task->ends, task->cells);
}

/* Number of rows before the first one with this key or a greater one. */
TL_FN size_t tl_thread_before(const tl_thread_keys *keys, size_t count, uint64_t key) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (tl_thread_key(keys, middle) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Ends of cells far behind the last body: each thread those among TL_FILL_CELLS cells. */
#define TL_FILL_CELLS (TL_GATHER_EMPTY + 1)
typedef struct tl_fill_task {
  tl_thread_keys keys;
  size_t count;
  uint32_t *ends;
  uint64_t cells;
} tl_fill_task;

TL_FN void tl_fill_at(const tl_fill_task *task, size_t i) {
  const uint64_t first = i * TL_FILL_CELLS, last = first + TL_FILL_CELLS;
  const size_t before = tl_thread_before(&task->keys, task->count, first);
  uint64_t begin = first, end = last < task->cells ? last : task->cells;
  if (before > 0) {
    const uint64_t known = tl_thread_key(&task->keys, before - 1) + TL_GATHER_EMPTY + 1;
    begin = known > begin ? known : begin;
  }
  if (before < task->count) {
    const uint64_t next = tl_thread_key(&task->keys, before);
    end = next < end ? next : end;
  }
  for (uint64_t cell = begin; cell < end; ++cell)
    task->ends[cell] = (uint32_t)before;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Lists of the bodies that touch each cell (backend/thread/corners.h). */
typedef struct tl_touch_lists {
  tl_thread_keys keys; /* by place: its cell */
  size_t count;        /* of places */
  const uint32_t *places;
  const uint32_t *ends; /* by cell; NULL: keys are searched */
} tl_touch_lists;

typedef struct tl_thread_search {
  tl_grid_levels grid;
  const tl_thread_ball *rows;    /* by slot */
  const tl_thread_look *looks;   /* by sorted row */
  tl_thread_keys keys;           /* by sorted row */
  const uint32_t *slots;         /* by sorted row */
  const uint8_t *fixed;          /* by slot; NULL: no body is */
  const uint32_t *ends;          /* by cell: its end; NULL: keys are searched */
  const uint32_t *levels;        /* bits of levels that have bodies */
  const tl_thread_plane *planes; /* in the order of slots; they are the last sorted rows */
  size_t plane_count;
  size_t count;
  double margin;        /* m: of a pair */
  float blur;           /* m: bound of the error of tests in single precision */
  bool is_fine;         /* that is little beside the cells, which are wider by it: places in single
                           precision find the cells around a body */
  bool is_plain;        /* no periods, a table, and keys of 32 bits */
  tl_touch_lists lists; /* only for rounded cells */
} tl_thread_search;

/* Two slots that touch, the lower one first. */
typedef struct tl_touch_list {
  uint32_t *owners, *others;
  size_t room;
} tl_touch_list;

#define TL_KEPT 8 /* rows that a body finds and that its thread keeps */

/* A body that searches. What it finds is kept, or, with a list, written there. */
typedef struct tl_thread_visit {
  const tl_thread_search *search;
  uint32_t self; /* sorted row */
  uint32_t slot;
  uint64_t key;
  tl_thread_look look;
  bool fixed;
  uint32_t found; /* number of later rows that it touches; */
  uint32_t kept[TL_KEPT];
  const tl_touch_list *list; /* or NULL */
  uint64_t place;            /* of the first in the list */
} tl_thread_visit;

TL_FN talus_dvec3 tl_thread_offset(const tl_grid_space *space, const tl_thread_ball *from,
                                   const tl_thread_ball *to) {
  double d[3] = {to->x - from->x, to->y - from->y, to->z - from->z};
  for (int k = 0; k < 3; ++k)
    if (space->period[k] > 0)
      d[k] -= space->period[k] * floor(d[k] / space->period[k] + 0.5);
  return tl_dvec3(d[0], d[1], d[2]);
}

/* Computed from the lower slot, like the contact: the last bit may depend on it. */
TL_FN int tl_thread_meet(const tl_thread_search *search, uint32_t slot_a, const tl_thread_ball *a,
                         uint32_t slot_b, const tl_thread_ball *b, tl_point *point) {
  const bool first = slot_a < slot_b;
  const tl_thread_ball *low = first ? a : b, *high = first ? b : a;
  return tl_collide_sphere_sphere(low->radius, high->radius,
                                  tl_thread_offset(&search->grid.space, low, high), search->margin,
                                  point);
}

/* Results of a test in single precision. */
typedef enum tl_look_result { TL_LOOK_APART, TL_LOOK_TOUCH, TL_LOOK_CLOSE } tl_look_result;

/* CLOSE: the exact test must decide; also for numbers that are not finite, or whose square is too
 * small to be accurate. */
TL_FN tl_look_result tl_thread_glance(const tl_thread_search *search, const tl_thread_look *a,
                                      const tl_thread_look *b) {
  float d[3] = {b->x - a->x, b->y - a->y, b->z - a->z};
  for (int k = 0; k < 3 && !search->is_plain; ++k) {
    const float period = (float)search->grid.space.period[k];
    if (period > 0)
      d[k] -= period * floorf(d[k] / period + 0.5f);
  }
  const float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  const float sum = a->radius + b->radius;
  const float most = sum * (1 + 2e-6f) + search->blur, least = sum * (1 - 2e-6f) - search->blur;
  if (square > most * most + 1e-36f)
    return TL_LOOK_APART;
  return least > 0 && square + 1e-36f < least * least ? TL_LOOK_TOUCH : TL_LOOK_CLOSE;
}

/* The sorted rows of the cells around a body: up to two ranges (across a period) for each row of
 * cells; empty ranges are omitted. */
#define TL_TOUCH_RANGES (2 * TL_GRID_ACROSS * TL_GRID_ACROSS)
typedef struct tl_touch_ranges {
  uint32_t begin[TL_TOUCH_RANGES], end[TL_TOUCH_RANGES];
  uint32_t count;
} tl_touch_ranges;

/* Only rows after the body itself. */
TL_FN void tl_touch_cells(const tl_thread_visit *visit, uint64_t first, uint64_t last,
                          tl_touch_ranges *ranges) {
  const tl_thread_search *search = visit->search;
  const uint32_t at = ranges->count;
  if (last < visit->key)
    return;
  size_t begin = visit->self + 1;
  if (first > visit->key)
    begin = search->ends ? search->ends[first - 1]
                         : tl_thread_before(&search->keys, search->count, first);
  const size_t end =
      search->ends ? search->ends[last] : tl_thread_before(&search->keys, search->count, last + 1);
  ranges->begin[at] = (uint32_t)begin;
  ranges->end[at] = (uint32_t)end;
  ranges->count = at + (begin < end);
}

TL_FN void tl_touch_row(const tl_thread_visit *visit, const tl_grid_level *cells,
                        const tl_grid_range *x, uint32_t y, uint32_t z, tl_touch_ranges *ranges) {
  const uint64_t row = tl_grid_cell(cells, 0, y, z);
  const uint32_t last = x->first + x->count - 1, n = cells->count[0];
  tl_touch_cells(visit, row + x->first, row + (last < n ? last : n - 1), ranges);
  if (last >= n)
    tl_touch_cells(visit, row, row + (last - n), ranges);
}

TL_FN uint32_t tl_grid_after(const tl_grid_range *range, uint32_t i, uint32_t count) {
  const uint32_t at = range->first + i;
  return at < count ? at : at - count;
}

/* True if the body touches row j. */
TL_FN bool tl_touch_test(const tl_thread_visit *visit, uint32_t j) {
  const tl_thread_search *search = visit->search;
  const uint32_t slot = search->slots[j];
  const tl_thread_ball self = search->rows[visit->slot], other = search->rows[slot];
  tl_point point;
  return tl_thread_meet(search, visit->slot, &self, slot, &other, &point) != 0;
}

/* A contact belongs to its lower slot. */
TL_FN void tl_touch_put(const tl_thread_visit *visit, const tl_touch_list *list, uint64_t place,
                        uint32_t j) {
  const uint32_t slot = visit->search->slots[j];
  const bool first = visit->slot < slot;
  if (place >= list->room)
    return;
  list->owners[place] = first ? visit->slot : slot;
  list->others[place] = first ? slot : visit->slot;
}

TL_FN void tl_touch_found(tl_thread_visit *visit, uint32_t j) {
  const tl_thread_search *search = visit->search;
  if (visit->fixed && search->fixed[search->slots[j]])
    return;
  if (visit->list)
    tl_touch_put(visit, visit->list, visit->place + visit->found, j);
  else if (visit->found < TL_KEPT)
    visit->kept[visit->found] = j;
  visit->found++;
}

/* Looks at another row: it is found if the two touch. */
TL_FN void tl_touch_try(tl_thread_visit *visit, uint32_t j) {
  const tl_thread_look look = visit->search->looks[j];
  const tl_look_result seen = tl_thread_glance(visit->search, &visit->look, &look);
  if (seen != TL_LOOK_APART && (seen == TL_LOOK_TOUCH || tl_touch_test(visit, j)))
    tl_touch_found(visit, j);
}

/* One loop over all ranges, so that neighbouring threads have about the same number of
 * iterations. */
TL_FN void tl_touch_visit(tl_thread_visit *visit, const tl_touch_ranges *ranges) {
  uint32_t at = 0, j = ranges->begin[0], end = ranges->end[0];
  while (at < ranges->count) {
    tl_touch_try(visit, j);
    if (++j == end && ++at < ranges->count) {
      j = ranges->begin[at];
      end = ranges->end[at];
    }
  }
}

/* A body as its search for cells sees it. */
typedef struct tl_touch_place {
  double home[3]; /* m: relative to the low corner of the grid, within the period */
  double wide;    /* m: its diameter and the margin, at least */
  double blur;    /* m: bound of the error of home */
} tl_touch_place;

TL_FN tl_touch_place tl_touch_placed(const tl_thread_visit *visit) {
  const tl_thread_search *search = visit->search;
  tl_touch_place place;
  if (search->is_fine) {
    place.home[0] = (double)visit->look.x;
    place.home[1] = (double)visit->look.y;
    place.home[2] = (double)visit->look.z;
    place.wide = 2 * (double)visit->look.radius * (1 + 2e-7);
    place.blur = (double)search->blur;
    return place;
  }
  const tl_thread_ball row = search->rows[visit->slot];
  const double x[3] = {row.x, row.y, row.z};
  for (int k = 0; k < 3; ++k)
    place.home[k] = tl_grid_home(&search->grid.space, k, x[k]);
  place.wide = 2 * row.radius + search->margin;
  place.blur = 0;
  return place;
}

/* Cells that a body searches on a level. */
typedef struct tl_touch_block {
  const tl_grid_level *cells;
  tl_grid_range x, y, z;
} tl_touch_block;

TL_FN void tl_touch_any(tl_thread_visit *visit, const tl_touch_block *block) {
  tl_touch_ranges ranges;
  ranges.count = 0;
  ranges.begin[0] = ranges.end[0] = 0;
  for (uint32_t k = 0; k < block->z.count; ++k)
    for (uint32_t j = 0; j < block->y.count; ++j)
      tl_touch_row(visit, block->cells, &block->x,
                   tl_grid_after(&block->y, j, block->cells->count[1]),
                   tl_grid_after(&block->z, k, block->cells->count[2]), &ranges);
  tl_touch_visit(visit, &ranges);
}

/* Ranges of three rows of cells, the first in turn; empty ones are skipped. Without indices that
 * vary, so that a device holds them in registers. */
typedef struct tl_touch_queue {
  uint32_t begin[TL_GRID_ACROSS], end[TL_GRID_ACROSS];
} tl_touch_queue;

TL_FN void tl_touch_skip(tl_touch_queue *queue) {
  for (int turn = 0; turn < TL_GRID_ACROSS - 1; ++turn) {
    const bool over = queue->begin[0] >= queue->end[0];
    for (int k = 0; k < TL_GRID_ACROSS - 1; ++k) {
      queue->begin[k] = over ? queue->begin[k + 1] : queue->begin[k];
      queue->end[k] = over ? queue->end[k + 1] : queue->end[k];
    }
    queue->end[TL_GRID_ACROSS - 1] = over ? 0 : queue->end[TL_GRID_ACROSS - 1];
  }
}

/* The same as tl_touch_any and tl_touch_visit for a plain search, layer by layer. */
TL_FN void tl_touch_plain(tl_thread_visit *visit, const tl_touch_block *block) {
  const tl_thread_search *search = visit->search;
  const uint32_t *ends = search->ends;
  const tl_grid_level *cells = block->cells;
  const uint32_t across = cells->count[0], up = cells->count[1], key = (uint32_t)visit->key;
  uint32_t row =
      (block->z.first * up + block->y.first) * across + (uint32_t)cells->first + block->x.first;
  for (uint32_t k = 0; k < block->z.count; ++k, row += up * across) {
    tl_touch_queue queue;
    for (uint32_t j = 0; j < TL_GRID_ACROSS; ++j) {
      const uint32_t first = row + j * across, last = first + block->x.count - 1;
      const bool is_asked = j < block->y.count && last >= key;
      queue.begin[j] = is_asked && first > key ? ends[first - 1] : visit->self + 1;
      queue.end[j] = is_asked ? ends[last] : 0;
    }
    for (tl_touch_skip(&queue); queue.begin[0] < queue.end[0]; tl_touch_skip(&queue))
      tl_touch_try(visit, queue.begin[0]++);
  }
}

TL_FN void tl_touch_search(tl_thread_visit *visit) {
  const tl_thread_search *search = visit->search;
  const tl_grid_levels *grid = &search->grid;
  const tl_touch_place place = tl_touch_placed(visit);
  for (uint32_t level = tl_grid_level_at(grid, visit->key); level < grid->count; ++level) {
    if (grid->count > 1 && !(*search->levels >> level & 1))
      continue;
    const double reach = 0.5 * (place.wide + grid->widest[level]) + place.blur;
    tl_touch_block block;
    block.cells = &grid->level[level];
    block.x = tl_grid_around(grid, level, 0, place.home[0], reach);
    block.y = tl_grid_around(grid, level, 1, place.home[1], reach);
    block.z = tl_grid_around(grid, level, 2, place.home[2], reach);
    if (search->is_plain)
      tl_touch_plain(visit, &block);
    else
      tl_touch_any(visit, &block);
  }
}

/* Planes whose matter the sphere may reach, with a margin for rounding. */
TL_FN void tl_touch_planes(tl_thread_visit *visit) {
  const tl_thread_search *search = visit->search;
  const tl_thread_ball row = search->rows[visit->slot];
  const size_t first = search->count - search->plane_count;
  for (size_t k = 0; k < search->plane_count; ++k) {
    const tl_thread_plane plane = search->planes[k];
    const double x = plane.normal[0] * row.x, y = plane.normal[1] * row.y,
                 z = plane.normal[2] * row.z;
    const double slack =
        1e-12 * (fabs(x) + fabs(y) + fabs(z) + fabs(plane.offset) + row.radius + search->margin);
    if (x + y + z - plane.offset <= row.radius + search->margin + slack)
      tl_touch_found(visit, (uint32_t)(first + k));
  }
}

TL_FN void tl_touch_again(tl_thread_visit *visit) {
  visit->found = 0;
  tl_touch_search(visit);
  if (visit->search->plane_count > 0)
    tl_touch_planes(visit);
}

/* False for planes, which do not search. */
TL_FN bool tl_visit_begin(const tl_thread_search *search, size_t i, tl_thread_visit *visit) {
  visit->found = 0;
  if (i >= search->count - search->plane_count)
    return false;
  visit->search = search;
  visit->self = (uint32_t)i;
  visit->slot = search->slots[i];
  visit->key = tl_thread_key(&search->keys, i);
  visit->look = search->looks[i];
  visit->fixed = search->fixed && search->fixed[visit->slot];
  visit->list = NULL;
  return true;
}

/* Counts what sorted row i touches, and keeps the first of it. */
TL_FN void tl_touch_begin(const tl_thread_search *search, size_t i, tl_thread_visit *visit) {
  if (tl_visit_begin(search, i, visit))
    tl_touch_again(visit);
}

/* Writes what is kept to the list from `place` on; true if there is more: another search must write
 * it. */
TL_FN bool tl_visit_put(tl_thread_visit *visit, const tl_touch_list *list, uint64_t place) {
  if (visit->found > TL_KEPT) {
    visit->list = list;
    visit->place = place;
    return true;
  }
  for (uint32_t k = 0; k < visit->found; ++k)
    tl_touch_put(visit, list, place + k, visit->kept[k]);
  return false;
}

TL_FN void tl_touch_end(tl_thread_visit *visit, const tl_touch_list *list, uint64_t place) {
  if (tl_visit_put(visit, list, place))
    tl_touch_again(visit);
}

/* Lists all that touch, in any order. */
typedef struct tl_touch_task {
  tl_thread_search search;
  tl_touch_list list;
  uint64_t *used; /* also what there is no room for; cleared */
} tl_touch_task;

TL_FN void tl_touch_at(const tl_touch_task *task, size_t i) {
  tl_thread_visit visit;
  tl_touch_begin(&task->search, i, &visit);
  if (visit.found > 0)
    tl_touch_end(&visit, &task->list, tl_thread_add_wide(task->used, visit.found));
}

/* ---- runs ------------------------------------------------------------------------------------ */

#define TL_RUN_LONG 256 /* longer runs are sorted by all threads together */
#define TL_RUN_FEW  16

typedef struct tl_thread_run {
  uint64_t begin, count;
} tl_thread_run;

/* The list is sorted by owners. The thread of the first contact of each owner sorts its others. */
typedef struct tl_run_task {
  const uint32_t *owners;
  uint32_t *others;
  size_t count;
  size_t most;         /* longer runs are sorted elsewhere, */
  uint32_t *longer;    /* counted (cleared before), */
  tl_thread_run *runs; /* and the first most_runs listed */
  size_t most_runs;
} tl_run_task;

/* The first contact after `from` that is not the owner's. */
TL_FN size_t tl_run_end(const tl_run_task *task, size_t from, uint32_t owner) {
  size_t low = from + 1, high = task->count;
  while (low < high && low - from < TL_RUN_FEW) {
    if (task->owners[low] != owner)
      return low;
    low++;
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (task->owners[middle] == owner)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

TL_FN void tl_sift_down(uint32_t *values, size_t from, size_t count) {
  const uint32_t value = values[from];
  size_t at = from;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= count)
      break;
    if (child + 1 < count && values[child + 1] > values[child])
      child++;
    if (values[child] <= value)
      break;
    values[at] = values[child];
    at = child;
  }
  values[at] = value;
}

TL_FN void tl_sort_some(uint32_t *values, size_t count) {
  for (size_t i = count / 2; i-- > 0;)
    tl_sift_down(values, i, count);
  for (size_t end = count - 1; end > 0; --end) {
    const uint32_t top = values[0];
    values[0] = values[end];
    values[end] = top;
    tl_sift_down(values, 0, end);
  }
}

/* Most runs. Without indices that vary, like tl_touch_queue. */
#define TL_RUN_SHORT 8
TL_FN void tl_sort_short(uint32_t *values, size_t count) {
  uint32_t kept[TL_RUN_SHORT];
  for (size_t k = 0; k < TL_RUN_SHORT; ++k)
    kept[k] = k < count ? values[k] : UINT32_MAX;
  for (int end = TL_RUN_SHORT - 1; end > 0; --end)
    for (int k = 0; k < end; ++k) {
      const uint32_t a = kept[k], b = kept[k + 1];
      kept[k] = a < b ? a : b;
      kept[k + 1] = a < b ? b : a;
    }
  for (size_t k = 0; k < TL_RUN_SHORT; ++k)
    if (k < count)
      values[k] = kept[k];
}

TL_FN void tl_run_at(const tl_run_task *task, size_t i) {
  const uint32_t owner = task->owners[i];
  if (i > 0 && task->owners[i - 1] == owner)
    return;
  const size_t count = tl_run_end(task, i, owner) - i;
  if (count == 1)
    return;
  if (count <= TL_RUN_SHORT) {
    tl_sort_short(task->others + i, count);
    return;
  }
  if (count <= task->most) {
    tl_sort_some(task->others + i, count);
    return;
  }
  const uint32_t at = tl_thread_add(task->longer, 1);
  if (at < task->most_runs) {
    task->runs[at].begin = i;
    task->runs[at].count = count;
  }
}

/* ---- contacts -------------------------------------------------------------------------------- */

typedef struct tl_contact_task {
  const tl_thread_ball *rows;
  tl_grid_space space;
  double margin; /* m: of a pair */
  const uint32_t *owners, *others;
  talus_row_contact *contacts;
} tl_contact_task;

TL_FN talus_row_contact tl_contact_made(const tl_contact_task *task, size_t i) {
  const uint32_t a = task->owners[i], b = task->others[i];
  const tl_thread_ball from = task->rows[a], to = task->rows[b];
  tl_point point;
  point.point = tl_dvec3(0, 0, 0);
  point.normal = tl_vec3(0, 0, 0);
  point.gap = 0;
  tl_collide_sphere_sphere(from.radius, to.radius, tl_thread_offset(&task->space, &from, &to),
                           task->margin, &point);
  talus_row_contact contact;
  contact.a = a;
  contact.b = b;
  contact.feature_a = contact.feature_b = 0;
  contact.point = tl_dadd(tl_dvec3(from.x, from.y, from.z), point.point);
  contact.normal = point.normal;
  contact.gap = point.gap;
  return contact;
}

TL_FN void tl_contact_at(const tl_contact_task *task, size_t i) {
  task->contacts[i] = tl_contact_made(task, i);
}

#endif
