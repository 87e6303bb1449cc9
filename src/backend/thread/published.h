/* The published bins (Pazouki, Mazhar, Negrut 2012): the work of one thread in each task.
 *
 * A copy of each body is put into every bin that it touches, copies are sorted by bin, and one
 * thread for each bin tests all pairs of its copies, bins of equal load beside each other. Copies
 * are the places of backend/thread/corners.h on a grid of one level. A pair that shares several
 * bins counts in the one where, along each axis, one of the two begins: the paper's rule, the bin
 * of the contact point, loses pairs (SOURCES A15). */
#ifndef TL_THREAD_PUBLISHED_H
#define TL_THREAD_PUBLISHED_H

#include "backend/thread/corners.h"

/* Marks the first copy of each bin. */
typedef struct tl_active_task {
  tl_thread_keys keys; /* by place, sorted */
  uint32_t *flags;     /* by place: 0 or 1 */
} tl_active_task;

TL_FN void tl_active_at(const tl_active_task *task, size_t i) {
  task->flags[i] =
      i == 0 || tl_thread_key(&task->keys, i) != tl_thread_key(&task->keys, i - 1) ? 1 : 0;
}

/* Where each active bin begins. */
typedef struct tl_begins_task {
  const uint32_t *flags;
  const uint64_t *ranks; /* by place: number of bins before it */
  uint32_t *begins;      /* by bin; one more: the end of the last */
  size_t count;          /* of places */
} tl_begins_task;

TL_FN void tl_begins_at(const tl_begins_task *task, size_t i) {
  if (task->flags[i])
    task->begins[task->ranks[i]] = (uint32_t)i;
  if (i + 1 == task->count)
    task->begins[task->ranks[i + 1]] = (uint32_t)task->count;
}

/* Keys and values of the sort by load. */
typedef struct tl_loads_task {
  const uint32_t *begins;
  uint32_t *loads, *bins;
} tl_loads_task;

TL_FN void tl_loads_at(const tl_loads_task *task, size_t i) {
  task->loads[i] = task->begins[i + 1] - task->begins[i];
  task->bins[i] = (uint32_t)i;
}

/* The pairs of a bin: counted, or, with a list, written from their place on. */
typedef struct tl_binned_task {
  tl_thread_search search;
  const uint32_t *begins, *bins; /* by bin; bins in the order of their load */
  uint32_t *counts;              /* by place in that order */
  const uint64_t *starts;        /* NULL: they are counted */
  tl_touch_list list;
} tl_binned_task;

TL_FN void tl_binned_body(const tl_binned_task *task, uint32_t at, uint32_t end, uint64_t place,
                          uint32_t *found) {
  const tl_thread_search *search = &task->search;
  const uint32_t mine = search->lists.places[at];
  tl_thread_visit visit;
  if (!tl_visit_begin(search, mine >> 3, &visit))
    return;
  visit.list = task->starts ? &task->list : NULL;
  visit.place = place + *found;
  for (uint32_t k = at + 1; k < end; ++k) {
    const uint32_t other = search->lists.places[k];
    if ((mine & other & 7) == 0)
      tl_touch_try(&visit, other >> 3);
  }
  *found += visit.found;
}

TL_FN void tl_binned_at(const tl_binned_task *task, size_t i) {
  const uint32_t bin = task->bins[i], end = task->begins[bin + 1];
  uint32_t found = 0;
  for (uint32_t at = task->begins[bin]; at < end; ++at)
    tl_binned_body(task, at, end, task->starts ? task->starts[i] : 0, &found);
  if (!task->starts)
    task->counts[i] = found;
}

#endif
