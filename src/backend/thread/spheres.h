/* Contacts of spheres: what one thread does in each task.
 *
 * Bodies are keyed by cell and sorted; each then looks at the cells around it and counts, later
 * writes, the spheres it touches. A contact belongs to the lower slot of its two, so that the runs
 * of all bodies one after the other, each in ascending order, are the canonical set: nothing sorts
 * contacts. A body finds contacts with those on its own level and on coarser ones; one that belongs
 * to a coarser body of a lower slot is put into that body's run. */
#ifndef TL_THREAD_SPHERES_H
#define TL_THREAD_SPHERES_H

#include <talus/detect.h>

#include "backend/thread/atomic.h"
#include "backend/thread/grid.h"
#include "kernels/collide_sphere.h"

typedef struct tl_thread_ball {
  double x, y, z, radius; /* m */
} tl_thread_ball;

/* ---- where they are -------------------------------------------------------------------------- */

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

/* Thread i takes rows i, i + threads, ... */
typedef struct tl_measure_task {
  const tl_thread_ball *rows;
  size_t count, threads;
  tl_thread_extent *parts;
} tl_measure_task;

TL_FN void tl_measure_at(const tl_measure_task *task, size_t thread) {
  tl_thread_extent all = tl_thread_extent_none();
  for (size_t i = thread; i < task->count; i += task->threads) {
    const tl_thread_ball row = task->rows[i];
    const double x[3] = {row.x, row.y, row.z};
    tl_thread_extent one;
    for (int k = 0; k < 3; ++k)
      one.low[k] = one.high[k] = x[k];
    one.smallest = one.largest = row.radius;
    tl_thread_extent_join(&all, &one);
  }
  task->parts[thread] = all;
}

/* Thread i joins parts i, i + threads, ...; in place, since nobody else reads those. */
typedef struct tl_join_task {
  size_t count, threads;
  tl_thread_extent *parts;
} tl_join_task;

TL_FN void tl_join_at(const tl_join_task *task, size_t thread) {
  tl_thread_extent all = task->parts[thread];
  for (size_t i = thread + task->threads; i < task->count; i += task->threads)
    tl_thread_extent_join(&all, &task->parts[i]);
  task->parts[thread] = all;
}

/* ---- into cells ------------------------------------------------------------------------------ */

typedef struct tl_key_task {
  const tl_thread_ball *rows;
  tl_grid_levels grid;
  double margin; /* m */
  uint64_t *keys;
  uint32_t *slots;
} tl_key_task;

TL_FN void tl_key_at(const tl_key_task *task, size_t i) {
  const tl_thread_ball row = task->rows[i];
  const tl_grid_levels *grid = &task->grid;
  const uint32_t level = tl_grid_level_of(grid, 2 * row.radius + task->margin);
  task->keys[i] =
      tl_grid_cell(&grid->level[level], tl_grid_place(grid, level, 0, row.x),
                   tl_grid_place(grid, level, 1, row.y), tl_grid_place(grid, level, 2, row.z));
  task->slots[i] = (uint32_t)i;
}

/* Rows in the order of cells; where each cell that has some ends, if there is a table of all cells.
 * The greatest end up to a cell is then where it ends, and where the next one begins. */
typedef struct tl_gather_task {
  const tl_thread_ball *rows;
  const uint64_t *keys;
  const uint32_t *slots;
  size_t count;
  tl_thread_ball *sorted;
  uint32_t *ends; /* by cell; NULL: there are too many */
} tl_gather_task;

TL_FN void tl_gather_at(const tl_gather_task *task, size_t i) {
  task->sorted[i] = task->rows[task->slots[i]];
  if (task->ends && (i + 1 == task->count || task->keys[i + 1] != task->keys[i]))
    task->ends[task->keys[i]] = (uint32_t)(i + 1);
}

/* ---- who touches whom ------------------------------------------------------------------------ */

typedef struct tl_thread_search {
  tl_grid_levels grid;
  const tl_thread_ball *sorted;
  const uint64_t *keys;  /* of the sorted rows */
  const uint32_t *slots; /* likewise */
  const uint8_t *fixed;  /* by slot; NULL: none is */
  const uint32_t *ends;  /* by cell: where it ends; NULL: keys are searched */
  size_t count;
  double margin; /* m: of a pair */
} tl_thread_search;

/* The first sorted row whose key is at least that. */
TL_FN size_t tl_search_key(const tl_thread_search *search, uint64_t key) {
  size_t low = 0, high = search->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (search->keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Those in a row of cells. */
typedef struct tl_thread_visit {
  const tl_thread_search *search;
  size_t self; /* sorted row */
  tl_thread_ball row;
  uint32_t slot, level;
  uint32_t found; /* of its own run */
  bool fixed;
  bool alone; /* nobody else writes into its run */
} tl_thread_visit;

TL_FN talus_dvec3 tl_thread_offset(const tl_grid_space *space, const tl_thread_ball *from,
                                   const tl_thread_ball *to) {
  double d[3] = {to->x - from->x, to->y - from->y, to->z - from->z};
  for (int k = 0; k < 3; ++k)
    if (space->period[k] > 0)
      d[k] -= space->period[k] * floor(d[k] / space->period[k] + 0.5);
  return tl_dvec3(d[0], d[1], d[2]);
}

/* Seen from the lower slot, as the contact is: the last bit may depend on it. */
TL_FN int tl_thread_meet(const tl_thread_search *search, uint32_t slot_a, const tl_thread_ball *a,
                         uint32_t slot_b, const tl_thread_ball *b, tl_point *point) {
  const bool first = slot_a < slot_b;
  const tl_thread_ball *low = first ? a : b, *high = first ? b : a;
  return tl_collide_sphere_sphere(low->radius, high->radius,
                                  tl_thread_offset(&search->grid.space, low, high), search->margin,
                                  point);
}

#define TL_KEPT 8 /* contacts of a body that are kept from counting to writing */

/* Counts (others == NULL) or writes. */
typedef struct tl_touch_task {
  tl_thread_search search;
  uint32_t *counts; /* by slot; when writing with several levels: how many of the run are there */
  uint32_t *kept;   /* the first of each body: TL_KEPT rows of search.count */
  const uint64_t *starts; /* of runs, by slot */
  uint32_t *owners, *others;
} tl_touch_task;

TL_FN void tl_touch_note(const tl_touch_task *task, tl_thread_visit *visit, uint32_t slot) {
  const uint32_t owner = visit->slot < slot ? visit->slot : slot;
  const uint32_t at = visit->alone ? visit->found++ : tl_thread_add(&task->counts[owner], 1);
  if (!task->others) {
    if (visit->alone && at < TL_KEPT)
      task->kept[at * visit->search->count + visit->self] = slot;
    return;
  }
  task->owners[task->starts[owner] + at] = owner;
  task->others[task->starts[owner] + at] = visit->slot < slot ? slot : visit->slot;
}

TL_FN void tl_touch_range(const tl_touch_task *task, tl_thread_visit *visit, bool same_level,
                          size_t begin, size_t end) {
  const tl_thread_search *search = visit->search;
  for (size_t j = begin; j < end; ++j) {
    const uint32_t slot = search->slots[j];
    /* On one level both find the pair: it is the owner's to note. */
    if (j == visit->self || (same_level && slot < visit->slot) ||
        (visit->fixed && search->fixed[slot]))
      continue;
    const tl_thread_ball other = search->sorted[j];
    tl_point point;
    if (tl_thread_meet(search, visit->slot, &visit->row, slot, &other, &point))
      tl_touch_note(task, visit, slot);
  }
}

/* The cells x[0] ... of a row: those next to each other are one range. */
TL_FN void tl_touch_row(const tl_touch_task *task, tl_thread_visit *visit, bool same_level,
                        const tl_grid_level *cells, const tl_grid_range *x, uint32_t y,
                        uint32_t z) {
  const tl_thread_search *search = visit->search;
  for (uint32_t i = 0; i < x->count; ++i) {
    const uint64_t key = tl_grid_cell(cells, x->at[i], y, z);
    uint32_t last = i;
    while (last + 1 < x->count && x->at[last + 1] == x->at[last] + 1)
      last++;
    const uint64_t last_key = key + (last - i);
    i = last;
    if (search->ends)
      tl_touch_range(task, visit, same_level, key > 0 ? search->ends[key - 1] : 0,
                     search->ends[last_key]);
    else
      tl_touch_range(task, visit, same_level, tl_search_key(search, key),
                     tl_search_key(search, last_key + 1));
  }
}

TL_FN void tl_touch_search(const tl_touch_task *task, tl_thread_visit *visit) {
  const tl_grid_levels *grid = &task->search.grid;
  for (uint32_t level = visit->level; level < grid->count; ++level) {
    const tl_grid_level *cells = &grid->level[level];
    const tl_grid_range x = tl_grid_around(grid, level, 0, visit->row.x);
    const tl_grid_range y = tl_grid_around(grid, level, 1, visit->row.y);
    const tl_grid_range z = tl_grid_around(grid, level, 2, visit->row.z);
    for (uint32_t k = 0; k < z.count; ++k)
      for (uint32_t j = 0; j < y.count; ++j)
        tl_touch_row(task, visit, level == visit->level, cells, &x, y.at[j], z.at[k]);
  }
}

/* Few contacts were kept when they were counted: they go out in order. */
TL_FN void tl_touch_unpack(const tl_touch_task *task, size_t i, uint32_t slot, uint32_t count) {
  const uint64_t start = task->starts[slot];
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t other = task->kept[k * task->search.count + i];
    uint64_t at = start + k;
    for (; at > start && task->others[at - 1] > other; --at)
      task->others[at] = task->others[at - 1];
    task->others[at] = other;
    task->owners[start + k] = slot;
  }
}

TL_FN void tl_touch_at(const tl_touch_task *task, size_t i) {
  const tl_thread_search *search = &task->search;
  const tl_grid_levels *grid = &search->grid;
  tl_thread_visit visit;
  visit.slot = search->slots[i];
  visit.alone = grid->count == 1;
  if (visit.alone && task->others && task->counts[visit.slot] <= TL_KEPT) {
    tl_touch_unpack(task, i, visit.slot, task->counts[visit.slot]);
    return;
  }
  visit.search = search;
  visit.self = i;
  visit.row = search->sorted[i];
  visit.found = 0;
  visit.fixed = search->fixed && search->fixed[visit.slot];
  visit.level = tl_grid_level_of(grid, 2 * visit.row.radius + search->margin);
  tl_touch_search(task, &visit);
  if (visit.alone)
    task->counts[visit.slot] = visit.found;
}

/* ---- runs in order --------------------------------------------------------------------------- */

#define TL_RUN_LONG 256 /* longer runs are sorted by all threads together */

typedef struct tl_run_task {
  size_t least; /* shorter ones are in order */
  const uint64_t *starts;
  uint32_t *others;
  uint32_t *long_runs; /* slots; [0] is how many there are */
  size_t most_long;
} tl_run_task;

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

TL_FN void tl_sort_few(uint32_t *values, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    const uint32_t value = values[i];
    size_t at = i;
    for (; at > 0 && values[at - 1] > value; --at)
      values[at] = values[at - 1];
    values[at] = value;
  }
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

TL_FN void tl_run_at(const tl_run_task *task, size_t slot) {
  const uint64_t begin = task->starts[slot];
  const size_t count = (size_t)(task->starts[slot + 1] - begin);
  if (count > TL_RUN_LONG) {
    const uint32_t at = tl_thread_add(&task->long_runs[0], 1);
    if (at < task->most_long)
      task->long_runs[1 + at] = (uint32_t)slot;
    else
      tl_sort_some(task->others + begin, count);
  } else if (count < task->least) {
    return;
  } else if (count > 16) {
    tl_sort_some(task->others + begin, count);
  } else if (count > 1) {
    tl_sort_few(task->others + begin, count);
  }
}

/* Keys of a long run, and back. */
typedef struct tl_widen_task {
  uint32_t *values;
  uint64_t *keys;
  bool back;
} tl_widen_task;

TL_FN void tl_widen_at(const tl_widen_task *task, size_t i) {
  if (task->back)
    task->values[i] = (uint32_t)task->keys[i];
  else
    task->keys[i] = task->values[i];
}

/* ---- contacts -------------------------------------------------------------------------------- */

typedef struct tl_contact_task {
  const tl_thread_ball *rows;
  tl_grid_space space;
  double margin; /* m: of a pair */
  const uint32_t *owners, *others;
  talus_row_contact *contacts;
} tl_contact_task;

TL_FN void tl_contact_at(const tl_contact_task *task, size_t i) {
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
  task->contacts[i] = contact;
}

#endif
