/* Contacts of spheres on a device: the host's part, one launch after the other. */
#include "backend/spheres.h"

#include <math.h>
#include <stdio.h>

#include "backend/thread/tasks.h"
#include "base/sort.h"

#define MEASURERS  ((size_t)1024)
#define ROOMY      1e-6 /* part of an edge by which cells are wider, for rounding of positions */
#define ALIKE      3.0  /* ratio of widths up to which bodies share a level */
#define FEW_CELLS  ((double)((uint64_t)1 << 18)) /* number of cells that is not worth reducing, */
#define CELLS_EACH 3.0                           /* also if there are at most so many per body */
#define TABLE_LESS ((uint64_t)1 << 20)           /* cells for which there is always a table, */
#define TABLE_MORE 8                             /* or so many per body */
#define LONG_RUNS  ((size_t)1024)
#define LIST_EACH  2 /* bodies for each contact that there is room for, at first */
/* part of the space: above 6 * sqrt(3) * 2^-24, the error of a test in single precision */
#define BLUR 1e-6
#define FINE 1e-2 /* part of the narrowest width up to which that error only widens cells */

void tl_device_spheres_free(tl_device *device, tl_device_spheres *blocks) {
  tl_device_block *all = (tl_device_block *)(void *)blocks;
  for (size_t i = 0; i < sizeof *blocks / sizeof *all; ++i)
    (void)device->calls->resize(device, &all[i], 0);
}

talus_status tl_device_reserve(tl_device *device, tl_device_block *block, size_t n, size_t size) {
  const size_t bytes = (n > 0 ? n : 1) * size;
  if (bytes <= block->bytes)
    return TALUS_OK;
  return device->calls->resize(device, block, bytes + bytes / 32);
}

talus_status tl_device_reserve_contacts(tl_device *device, tl_device_spheres *blocks,
                                        const tl_spheres_asked *asked, size_t n) {
  const size_t pieces = asked->pieces > 1 ? asked->pieces : 1;
  const talus_status status =
      tl_device_reserve(device, &blocks->contacts, n, sizeof(talus_row_contact));
  const double left = (double)device->calls->left(device);
  if (status != TALUS_ERROR_MEMORY || !asked->take || !(left > sizeof(talus_row_contact)))
    return status;
  char message[512]; /* the reason, which is about to be replaced */
  (void)snprintf(message, sizeof message, "%s", tl_last_message());
  const double wanted = 1.1 * (double)n * (double)pieces * sizeof(talus_row_contact);
  return tl_fail(TALUS_ERROR_MEMORY, "%s; for %zu contacts %.0f pieces would do (--pieces)",
                 message, n * pieces, ceil(wanted / left));
}

#define RESERVE TL_DEVICE_RESERVE
#define LAUNCH  TL_DEVICE_LAUNCH

/* ---- the grid -------------------------------------------------------------------------------- */

/* *odd: rows have numbers that the host must look at. */
static talus_status measure(tl_device *device, tl_device_spheres *blocks,
                            const tl_thread_search *search, const uint32_t *odd,
                            tl_thread_extent *extent, bool *is_odd) {
  RESERVE(blocks->parts, MEASURERS, tl_thread_extent);
  RESERVE(blocks->measured, 1, tl_thread_measured);
  const tl_measure_task task = {.rows = search->rows,
                                .count = search->count,
                                .threads = MEASURERS,
                                .parts = blocks->parts.data};
  const tl_join_task join = {
      .count = MEASURERS, .parts = task.parts, .odd = odd, .joined = blocks->measured.data};
  tl_thread_measured all;
  LAUNCH(measure, task, MEASURERS);
  LAUNCH(join, join, 1);
  TL_TRY(device->calls->download(device, &all, join.joined, sizeof all));
  for (int k = 0; k < 3; ++k) {
    extent->low[k] = all.low[k];
    extent->high[k] = all.low[k] + (double)all.span[k];
  }
  extent->smallest = (double)all.smallest;
  extent->largest = (double)all.largest;
  *is_odd = all.odd != 0;
  return TALUS_OK;
}

/* Widths of the levels: each twice the one before; the last is that of the widest body. */
static void choose_levels(const tl_thread_extent *extent, double margin, bool is_one,
                          tl_grid_levels *grid) {
  const double least = 2 * extent->smallest + margin, most = 2 * extent->largest + margin;
  grid->count = 1;
  while (!is_one && grid->count < TL_GRID_LEVELS &&
         most > ALIKE * ldexp(least, (int)grid->count - 1))
    grid->count++;
  for (uint32_t i = 0; i < grid->count; ++i)
    grid->widest[i] = ldexp(most, (int)(i + 1) - (int)grid->count);
}

/* Length of the space along an axis. */
static double span_of(const tl_grid_space *space, const tl_thread_extent *extent, int axis) {
  return space->period[axis] > 0 ? space->period[axis] : extent->high[axis] - extent->low[axis];
}

static double cells_of(const tl_grid_level *cells) {
  return (double)cells->count[0] * cells->count[1] * cells->count[2];
}

static void cut_axis(double span, double edge, int axis, bool wraps, tl_grid_level *cells) {
  const double share = floor(span / edge), fit = share >= 0 ? share : 0; /* infinite: NaN */
  cells->count[axis] = wraps ? (uint32_t)fmax(fit, 1) : (uint32_t)fit + 1;
  cells->per_metre[axis] = wraps ? cells->count[axis] / span : 1 / edge;
}

static void choose_cells(const tl_thread_extent *extent, uint32_t level, double blur,
                         tl_grid_levels *grid) {
  for (int k = 0; k < 3; ++k) {
    const double span = span_of(&grid->space, extent, k);
    double edge = grid->widest[level] * (1 + ROOMY) + 2 * (grid->slack[k] + blur);
    edge = fmax(edge, span / (TL_GRID_LONGEST - 1) * (1 + ROOMY));
    if (!(edge > DBL_MIN))
      edge = 1;
    cut_axis(span, edge, k, grid->space.period[k] > 0, &grid->level[level]);
  }
}

/* Makes cells longer along x, on the level that has most, until there are few enough for a
 * table. */
static void join_cells(const tl_thread_extent *extent, size_t bodies, tl_grid_levels *grid) {
  const double enough = fmax(FEW_CELLS, CELLS_EACH * (double)bodies);
  const double span = span_of(&grid->space, extent, 0);
  for (;;) {
    double all = 0;
    tl_grid_level *most = &grid->level[0];
    for (uint32_t i = 0; i < grid->count; ++i) {
      all += cells_of(&grid->level[i]);
      if (cells_of(&grid->level[i]) > cells_of(most) && grid->level[i].count[0] > 1)
        most = &grid->level[i];
    }
    if (all <= enough || most->count[0] <= 1)
      return;
    cut_axis(span, 2 / most->per_metre[0], 0, grid->space.period[0] > 0, most);
  }
}

static uint64_t number_cells(tl_grid_levels *grid) {
  uint64_t first = 0;
  for (uint32_t i = 0; i < grid->count; ++i) {
    tl_grid_level *cells = &grid->level[i];
    cells->first = first;
    first += (uint64_t)cells->count[0] * cells->count[1] * cells->count[2];
  }
  return first;
}

static bool has_table(uint64_t cells, size_t bodies) {
  return cells <= TABLE_LESS + TABLE_MORE * (uint64_t)bodies;
}

static double blur_of(const tl_grid_space *space, const tl_thread_extent *extent) {
  double most = 0;
  for (int k = 0; k < 3; ++k)
    most = fmax(most, span_of(space, extent, k));
  return BLUR * most;
}

/* Returns the number of cells. */
static uint64_t make_grid(const tl_spheres_asked *asked, const tl_thread_extent *extent,
                          tl_thread_search *search) {
  tl_grid_levels *grid = &search->grid;
  *grid = (tl_grid_levels){0};
  for (int k = 0; k < 3; ++k) {
    grid->space.period[k] = asked->period[k];
    grid->space.low[k] = asked->period[k] > 0 ? asked->low[k] : extent->low[k];
    const double far = fmax(fmax(fabs(extent->low[k]), fabs(extent->high[k])),
                            fmax(fabs(grid->space.low[k]), grid->space.period[k]));
    grid->slack[k] = 8 * DBL_EPSILON * far;
  }
  choose_levels(extent, asked->margin, asked->as_published, grid);
  const double blur = blur_of(&grid->space, extent);
  search->blur = (float)blur;
  search->is_fine = blur <= FINE * grid->widest[0];
  for (uint32_t i = 0; i < grid->count; ++i)
    choose_cells(extent, i, search->is_fine ? (double)search->blur : 0, grid);
  tl_grid_levels joined = *grid;
  join_cells(extent, asked->count, &joined);
  if (has_table(number_cells(&joined), asked->count))
    *grid = joined;
  return number_cells(grid);
}

/* ---- into cells ------------------------------------------------------------------------------ */

/* Sorts rows by cell, unless bins are those that were published. There is no table of cells if
 * cells are many more than bodies: the keys are then searched. */
static talus_status sort_rows(tl_device *device, tl_device_spheres *blocks,
                              const tl_spheres_asked *asked, uint64_t cells,
                              tl_thread_search *search) {
  const size_t count = asked->count;
  const bool wide = cells >= UINT32_MAX;
  for (int k = 0; k < 2; ++k) {
    TL_TRY(tl_device_reserve(device, &blocks->keys[k], count,
                             wide ? sizeof(uint64_t) : sizeof(uint32_t)));
    RESERVE(blocks->slots[k], count, uint32_t);
  }
  RESERVE(blocks->looks, count, tl_thread_look);
  RESERVE(blocks->levels, 1, uint32_t);
  TL_TRY(device->calls->clear(device, blocks->levels.data, sizeof(uint32_t)));
  const tl_key_task key = {.rows = search->rows,
                           .grid = search->grid,
                           .margin = search->margin,
                           .last = cells,
                           .keys = {blocks->keys[0].data, wide},
                           .slots = blocks->slots[0].data,
                           .levels = blocks->levels.data};
  LAUNCH(key, key, count);
  const tl_device_sort sort = {{blocks->keys[0].data, blocks->keys[1].data},
                               {blocks->slots[0].data, blocks->slots[1].data},
                               wide};
  bool in_room = false;
  if (!asked->as_published)
    TL_TRY(device->calls->sort(
        device, count, tl_bits_u64(search->plane_count > 0 ? cells : cells - 1), &sort, &in_room));
  uint32_t *ends = NULL;
  if (has_table(cells, count) && !asked->as_published) {
    RESERVE(blocks->ends, cells, uint32_t);
    ends = blocks->ends.data;
  }
  const tl_gather_task gather = {.rows = search->rows,
                                 .keys = {blocks->keys[in_room].data, wide},
                                 .slots = blocks->slots[in_room].data,
                                 .space = search->grid.space,
                                 .margin = search->margin,
                                 .count = count,
                                 .looks = blocks->looks.data,
                                 .ends = ends,
                                 .cells = cells};
  const tl_fill_task fill = {.keys = gather.keys, .count = count, .ends = ends, .cells = cells};
  LAUNCH(gather, gather, count);
  if (ends)
    LAUNCH(fill, fill, (size_t)((cells + TL_FILL_CELLS - 1) / TL_FILL_CELLS));
  search->looks = gather.looks;
  search->keys = gather.keys;
  search->slots = gather.slots;
  search->ends = ends;
  search->levels = key.levels;
  search->is_plain = (ends && !wide) || asked->as_published;
  for (int k = 0; k < 3; ++k)
    search->is_plain &= !(search->grid.space.period[k] > 0);
  return TALUS_OK;
}

/* ---- rounded cells --------------------------------------------------------------------------- */

static talus_status mark_if(tl_device *device, bool is_timed, int stage) {
  return is_timed ? device->calls->mark(device, TL_MARK_STAGES + stage) : TALUS_OK;
}

talus_status tl_device_list_bodies(tl_device *device, tl_device_spheres *blocks, uint64_t cells,
                                   bool is_timed, tl_thread_search *search) {
  const size_t n = search->count;
  const bool wide = search->keys.wide;
  uint64_t places;
  bool in_room;
  RESERVE(blocks->corners, n, uint32_t);
  RESERVE(blocks->starts, n + 1, uint64_t);
  const tl_corners_task corners = {.search = *search, .counts = blocks->corners.data};
  LAUNCH(corners, corners, n);
  TL_TRY(mark_if(device, is_timed, 1));
  TL_TRY(device->calls->sum(device, n, corners.counts, blocks->starts.data));
  TL_TRY(device->calls->download(device, &places, (const uint64_t *)blocks->starts.data + n,
                                 sizeof places));
  TL_TRY(mark_if(device, is_timed, 2));
  for (int k = 0; k < 2; ++k) {
    TL_TRY(tl_device_reserve(device, &blocks->lists[k], (size_t)places,
                             wide ? sizeof(uint64_t) : sizeof(uint32_t)));
    RESERVE(blocks->places[k], (size_t)places, uint32_t);
  }
  const tl_lists_task lists = {.search = *search,
                               .starts = blocks->starts.data,
                               .keys = {blocks->lists[0].data, wide},
                               .places = blocks->places[0].data};
  LAUNCH(lists, lists, n);
  TL_TRY(mark_if(device, is_timed, 3));
  const tl_device_sort sort = {{blocks->lists[0].data, blocks->lists[1].data},
                               {blocks->places[0].data, blocks->places[1].data},
                               wide};
  TL_TRY(device->calls->sort(device, (size_t)places, tl_bits_u64(cells - 1), &sort, &in_room));
  search->lists = (tl_touch_lists){.keys = {blocks->lists[in_room].data, wide},
                                   .count = (size_t)places,
                                   .places = blocks->places[in_room].data};
  return mark_if(device, is_timed, 4);
}

/* Makes the list of each cell; rows are sorted. */
static talus_status make_lists(tl_device *device, tl_device_spheres *blocks, uint64_t cells,
                               tl_thread_search *search) {
  TL_TRY(tl_device_list_bodies(device, blocks, cells, false, search));
  const size_t places = search->lists.count;
  tl_ends_task ends = {.keys = search->lists.keys, .count = places, .cells = cells};
  if (!search->ends)
    return TALUS_OK;
  RESERVE(blocks->list_ends, cells, uint32_t);
  search->lists.ends = ends.ends = blocks->list_ends.data;
  const tl_fill_task fill = {.keys = ends.keys, .count = places, .ends = ends.ends, .cells = cells};
  LAUNCH(ends, ends, places);
  LAUNCH(fill, fill, (size_t)((cells + TL_FILL_CELLS - 1) / TL_FILL_CELLS));
  return TALUS_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Sorts one long run with all threads; the keys of cells are no longer needed. */
static talus_status sort_long_run(tl_device *device, tl_device_spheres *blocks,
                                  const tl_thread_run *run, size_t bodies) {
  const size_t count = (size_t)run->count;
  uint32_t *others = (uint32_t *)blocks->others.data + run->begin;
  RESERVE(blocks->keys[0], count, uint32_t);
  for (int k = 0; k < 2; ++k)
    RESERVE(blocks->slots[k], count, uint32_t);
  const tl_device_sort sort = {
      {others, blocks->keys[0].data}, {blocks->slots[0].data, blocks->slots[1].data}, false};
  bool in_room;
  TL_TRY(device->calls->sort(device, count, tl_bits_u64(bodies), &sort, &in_room));
  return in_room ? device->calls->copy(device, others, blocks->keys[0].data, count * sizeof *others)
                 : TALUS_OK;
}

/* The list is sorted by owners; sorts the others of each. */
static talus_status sort_runs(tl_device *device, tl_device_spheres *blocks, size_t bodies,
                              size_t contacts) {
  tl_thread_run runs[LONG_RUNS];
  RESERVE(blocks->longer, 1, uint32_t);
  RESERVE(blocks->runs, LONG_RUNS, tl_thread_run);
  tl_run_task run = {.owners = blocks->owners.data,
                     .others = blocks->others.data,
                     .count = contacts,
                     .most = TL_RUN_LONG,
                     .longer = blocks->longer.data,
                     .runs = blocks->runs.data,
                     .most_runs = LONG_RUNS};
  uint32_t longer;
  TL_TRY(device->calls->clear(device, run.longer, sizeof longer));
  LAUNCH(run, run, contacts);
  TL_TRY(device->calls->download(device, &longer, run.longer, sizeof longer));
  if (longer > LONG_RUNS) {
    run.most = SIZE_MAX;
    LAUNCH(run, run, contacts);
  } else if (longer > 0) {
    TL_TRY(device->calls->download(device, runs, run.runs, longer * sizeof *runs));
    for (uint32_t i = 0; i < longer; ++i)
      TL_TRY(sort_long_run(device, blocks, &runs[i], bodies));
  }
  return TALUS_OK;
}

static void swap(tl_device_block *a, tl_device_block *b) {
  const tl_device_block kept = *a;
  *a = *b;
  *b = kept;
}

static talus_status sort_list(tl_device *device, tl_device_spheres *blocks, size_t bodies,
                              size_t contacts) {
  for (int k = 0; k < 2; ++k)
    RESERVE(blocks->spare[k], contacts, uint32_t);
  const tl_device_sort sort = {{blocks->owners.data, blocks->spare[0].data},
                               {blocks->others.data, blocks->spare[1].data},
                               false};
  bool in_room;
  TL_TRY(device->calls->sort(device, contacts, tl_bits_u64(bodies - 1), &sort, &in_room));
  if (in_room) {
    swap(&blocks->owners, &blocks->spare[0]);
    swap(&blocks->others, &blocks->spare[1]);
  }
  return sort_runs(device, blocks, bodies, contacts);
}

/* ---- the whole search ------------------------------------------------------------------------ */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Lists all contacts; repeats with more room if there was too little. */
static talus_status list_touches(tl_device *device, tl_device_spheres *blocks,
                                 const tl_thread_search *search, bool by_cells, size_t *contacts) {
  size_t room = search->count / LIST_EACH;
  RESERVE(blocks->used, 1, uint64_t);
  for (;;) {
    uint64_t used;
    RESERVE(blocks->owners, room, uint32_t);
    RESERVE(blocks->others, room, uint32_t);
    room = smaller(blocks->owners.bytes, blocks->others.bytes) / sizeof(uint32_t);
    const tl_touch_task touch = {
        .search = *search,
        .list = {.owners = blocks->owners.data, .others = blocks->others.data, .room = room},
        .used = blocks->used.data};
    TL_TRY(device->calls->clear(device, touch.used, sizeof used));
    TL_TRY(device->calls->launch(device, by_cells ? TL_TASK_corner : TL_TASK_touch, &touch,
                                 search->count));
    TL_TRY(device->calls->download(device, &used, touch.used, sizeof used));
    *contacts = (size_t)used;
    if (used <= room)
      return TALUS_OK;
    room = (size_t)used;
  }
}

static bool is_in_place(const tl_lent_spheres *lent) {
  return sizeof(talus_real) == sizeof(double) && lent->position_stride == 4 &&
         lent->radius_stride == 4 && lent->radius == lent->position + 3 &&
         (uintptr_t)lent->position % sizeof(tl_thread_ball) == 0;
}

/* Looks at the caller's rows; copies them, unless they are in the order of the device's own. */
static talus_status take_lent(tl_device *device, tl_device_spheres *blocks,
                              const tl_spheres_asked *asked, tl_thread_search *search) {
  tl_borrow_task borrow = {.lent = *asked->lent, .margin = asked->margin};
  RESERVE(blocks->odd, 1, uint32_t);
  borrow.odd = blocks->odd.data;
  search->rows = (const tl_thread_ball *)(const void *)borrow.lent.position;
  if (!is_in_place(asked->lent)) {
    RESERVE(blocks->rows, asked->count, tl_thread_ball);
    search->rows = borrow.rows = blocks->rows.data;
  }
  for (int k = 0; k < 3; ++k)
    borrow.longest[k] = asked->period[k] > 0 ? 0.499 * asked->period[k] : DBL_MAX;
  search->fixed = borrow.lent.fixed;
  TL_TRY(device->calls->clear(device, borrow.odd, sizeof *borrow.odd));
  LAUNCH(borrow, borrow, asked->count);
  return TALUS_OK;
}

static talus_status send(tl_device *device, tl_device_spheres *blocks,
                         const tl_spheres_asked *asked, tl_thread_search *search) {
  const size_t count = asked->count;
  *search = (tl_thread_search){.count = count, .margin = asked->margin};
  if (asked->lent)
    return take_lent(device, blocks, asked, search);
  if (asked->is_there) {
    search->rows = blocks->rows.data;
    search->fixed = asked->has_fixed ? blocks->fixed.data : NULL;
    search->planes = blocks->planes.data;
    search->plane_count = asked->plane_count;
    return TALUS_OK;
  }
  RESERVE(blocks->rows, count, tl_thread_ball);
  search->rows = blocks->rows.data;
  TL_TRY(
      device->calls->upload(device, blocks->rows.data, asked->rows, count * sizeof *asked->rows));
  if (asked->fixed) {
    RESERVE(blocks->fixed, count, uint8_t);
    search->fixed = blocks->fixed.data;
    TL_TRY(device->calls->upload(device, blocks->fixed.data, asked->fixed, count));
  }
  if (asked->plane_count == 0)
    return TALUS_OK;
  RESERVE(blocks->planes, asked->plane_count, tl_thread_plane);
  search->planes = blocks->planes.data;
  search->plane_count = asked->plane_count;
  return device->calls->upload(device, blocks->planes.data, asked->planes,
                               asked->plane_count * sizeof *asked->planes);
}

talus_status tl_device_find_near(tl_device *device, tl_device_spheres *blocks,
                                 const tl_spheres_asked *asked, tl_thread_search *search,
                                 size_t *pairs, tl_spheres_times *times) {
  tl_thread_extent extent;
  *pairs = 0;
  *times = (tl_spheres_times){0};
  if (asked->count == asked->plane_count)
    return TALUS_OK;
  if (!asked->lent)
    TL_TRY(send(device, blocks, asked, search));
  TL_TRY(device->calls->mark(device, TL_MARK_BEGUN));
  if (asked->lent)
    TL_TRY(send(device, blocks, asked, search));
  TL_TRY(measure(device, blocks, search, asked->lent ? blocks->odd.data : NULL, &extent,
                 &times->is_odd));
  if (times->is_odd)
    return TALUS_OK;
  times->cells = make_grid(asked, &extent, search);
  times->levels = search->grid.count;
  TL_TRY(sort_rows(device, blocks, asked, times->cells, search));
  if (asked->by_cells)
    TL_TRY(make_lists(device, blocks, times->cells, search));
  TL_TRY(device->calls->mark(device, TL_MARK_SORTED));
  times->has_stages = asked->as_published;
  if (asked->as_published)
    TL_TRY(tl_device_list_published(device, blocks, times->cells, search, pairs));
  else
    TL_TRY(list_touches(device, blocks, search, asked->by_cells, pairs));
  TL_TRY(sort_list(device, blocks, search->count, *pairs));
  return device->calls->mark(device, TL_MARK_FOUND);
}

talus_status tl_device_tell(tl_device *device, tl_spheres_times *times) {
  TL_TRY(device->calls->mark(device, TL_MARK_WRITTEN));
  TL_TRY(device->calls->finish(device));
  times->sort_ms = device->calls->elapsed(device, TL_MARK_BEGUN, TL_MARK_SORTED);
  times->search_ms = device->calls->elapsed(device, TL_MARK_SORTED, TL_MARK_FOUND);
  times->write_ms = device->calls->elapsed(device, TL_MARK_FOUND, TL_MARK_WRITTEN);
  for (int k = 0; k < TL_PUBLISHED_STAGES && times->has_stages; ++k)
    times->stage_ms[k] = device->calls->elapsed(device, TL_MARK_STAGES + k, TL_MARK_STAGES + k + 1);
  return TALUS_OK;
}

talus_status tl_device_find_contacts(tl_device *device, tl_device_spheres *blocks,
                                     const tl_spheres_asked *asked, size_t *count,
                                     tl_spheres_times *times) {
  tl_thread_search search;
  TL_TRY(tl_device_find_near(device, blocks, asked, &search, count, times));
  if (asked->count == 0 || times->is_odd)
    return TALUS_OK;
  const size_t pieces = asked->pieces > 1 ? asked->pieces : 1,
               each = (*count + pieces - 1) / pieces;
  TL_TRY(tl_device_reserve_contacts(device, blocks, asked, each));
  for (size_t first = 0; first < *count; first += each) {
    const size_t n = smaller(each, *count - first);
    const tl_contact_task write = {.rows = search.rows,
                                   .space = search.grid.space,
                                   .margin = search.margin,
                                   .owners = (const uint32_t *)blocks->owners.data + first,
                                   .others = (const uint32_t *)blocks->others.data + first,
                                   .contacts = blocks->contacts.data};
    LAUNCH(contact, write, n);
    if (pieces > 1)
      TL_TRY(asked->take(asked->context, write.contacts, n));
  }
  return tl_device_tell(device, times);
}
