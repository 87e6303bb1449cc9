/* Contacts of spheres on a device: the host's side, one launch after the other. */
#include "backend/spheres.h"
#include "base/clock.h"

#include <math.h>

#include "backend/thread/tasks.h"

#define MEASURERS  ((size_t)65536)
#define JOINERS    ((size_t)64)
#define ROOMY      1e-6 /* of an edge: cells are wider by that, for what rounding moves bodies */
#define ALIKE      3.0  /* times as wide: still on one level */
#define TABLE_LESS ((uint64_t)1 << 20) /* cells for which there is always a table; */
#define TABLE_MORE 8                   /* and for each body */
#define LONG_RUNS  ((size_t)4096)

void tl_device_spheres_free(tl_device *device, tl_device_spheres *blocks) {
  tl_device_block *all = (tl_device_block *)(void *)blocks;
  for (size_t i = 0; i < sizeof *blocks / sizeof *all; ++i)
    (void)device->calls->resize(device, &all[i], 0);
}

/* Room for n elements; what is there is forgotten. */
static talus_status reserve(tl_device *device, tl_device_block *block, size_t n, size_t size) {
  const size_t bytes = (n > 0 ? n : 1) * size;
  if (bytes <= block->bytes)
    return TALUS_OK;
  return device->calls->resize(device, block, bytes + bytes / 32);
}

#define RESERVE(block, n, type) TL_TRY(reserve(device, &(block), (n), sizeof(type)))
#define LAUNCH(name, task, n)   TL_TRY(device->calls->launch(device, TL_TASK_##name, &(task), (n)))

/* ---- the grid -------------------------------------------------------------------------------- */

static talus_status measure(tl_device *device, tl_device_spheres *blocks, size_t count,
                            tl_thread_extent *extent) {
  RESERVE(blocks->parts, MEASURERS, tl_thread_extent);
  const tl_measure_task task = {
      .rows = blocks->rows.data, .count = count, .threads = MEASURERS, .parts = blocks->parts.data};
  tl_thread_extent parts[JOINERS];
  LAUNCH(measure, task, MEASURERS);
  for (size_t left = MEASURERS; left > JOINERS; left /= 32) {
    const tl_join_task join = {.count = left, .threads = left / 32, .parts = blocks->parts.data};
    LAUNCH(join, join, join.threads);
  }
  TL_TRY(device->calls->download(device, parts, task.parts, sizeof parts));
  *extent = tl_thread_extent_none();
  for (size_t k = 0; k < JOINERS; ++k)
    tl_thread_extent_join(extent, &parts[k]);
  return TALUS_OK;
}

/* Widths of the levels: each twice the one before it, the last as wide as the widest body. */
static void choose_levels(const tl_thread_extent *extent, double margin, tl_grid_levels *grid) {
  const double least = 2 * extent->smallest + margin, most = 2 * extent->largest + margin;
  grid->count = 1;
  while (grid->count < TL_GRID_LEVELS && most > ALIKE * ldexp(least, (int)grid->count - 1))
    grid->count++;
  for (uint32_t i = 0; i < grid->count; ++i)
    grid->widest[i] = ldexp(most, (int)(i + 1) - (int)grid->count);
}

static void choose_cells(const tl_thread_extent *extent, uint32_t level, tl_grid_levels *grid) {
  tl_grid_level *cells = &grid->level[level];
  for (int k = 0; k < 3; ++k) {
    const bool wraps = grid->space.period[k] > 0;
    const double span = wraps ? grid->space.period[k] : extent->high[k] - extent->low[k];
    const double far =
        fmax(fmax(fabs(extent->low[k]), fabs(extent->high[k])), fabs(grid->space.low[k]));
    double edge = grid->widest[level] * (1 + ROOMY) + 8 * DBL_EPSILON * far;
    edge = fmax(edge, span / (TL_GRID_LONGEST - 1) * (1 + ROOMY));
    if (!(edge > DBL_MIN))
      edge = 1;
    const double share = floor(span / edge), fit = share >= 0 ? share : 0; /* infinite: NaN */
    cells->count[k] = wraps ? (uint32_t)fmax(fit, 1) : (uint32_t)fit + 1;
    cells->edge[k] = wraps ? span / cells->count[k] : edge;
  }
}

static uint64_t make_grid(const tl_spheres_asked *asked, const tl_thread_extent *extent,
                          tl_grid_levels *grid) {
  *grid = (tl_grid_levels){0};
  for (int k = 0; k < 3; ++k) {
    grid->space.period[k] = asked->period[k];
    grid->space.low[k] = asked->period[k] > 0 ? asked->low[k] : extent->low[k];
  }
  choose_levels(extent, asked->margin, grid);
  uint64_t first = 0;
  for (uint32_t i = 0; i < grid->count; ++i) {
    tl_grid_level *cells = &grid->level[i];
    choose_cells(extent, i, grid);
    cells->first = first;
    first += (uint64_t)cells->count[0] * cells->count[1] * cells->count[2];
  }
  return first;
}

static int bits_of(uint64_t n) {
  int bits = 0;
  while (bits < 64 && n >> bits > 0)
    bits++;
  return bits;
}

/* ---- into cells ------------------------------------------------------------------------------ */

/* Rows sorted by cell. The table of cells is left out where cells are many more than bodies: a
 * search in the keys then takes its place. */
static talus_status sort_rows(tl_device *device, tl_device_spheres *blocks, size_t count,
                              double margin, const tl_grid_levels *grid, uint64_t cells,
                              tl_thread_search *search) {
  for (int k = 0; k < 2; ++k) {
    RESERVE(blocks->keys[k], count, uint64_t);
    RESERVE(blocks->slots[k], count, uint32_t);
  }
  RESERVE(blocks->sorted, count, tl_thread_ball);
  const tl_key_task key = {.rows = blocks->rows.data,
                           .grid = *grid,
                           .margin = margin,
                           .keys = blocks->keys[0].data,
                           .slots = blocks->slots[0].data};
  LAUNCH(key, key, count);
  bool in_room;
  TL_TRY(device->calls->sort(device, count, bits_of(cells - 1), key.keys, blocks->keys[1].data,
                             key.slots, blocks->slots[1].data, &in_room));
  uint32_t *ends = NULL;
  if (cells <= TABLE_LESS + TABLE_MORE * (uint64_t)count) {
    RESERVE(blocks->ends, cells, uint32_t);
    ends = blocks->ends.data;
    TL_TRY(device->calls->clear(device, ends, (size_t)cells * sizeof *ends));
  }
  const tl_gather_task gather = {.rows = blocks->rows.data,
                                 .keys = blocks->keys[in_room].data,
                                 .slots = blocks->slots[in_room].data,
                                 .count = count,
                                 .sorted = blocks->sorted.data,
                                 .ends = ends};
  LAUNCH(gather, gather, count);
  if (ends)
    TL_TRY(device->calls->climb(device, (size_t)cells, ends));
  search->sorted = gather.sorted;
  search->keys = gather.keys;
  search->slots = gather.slots;
  search->ends = ends;
  return TALUS_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Sorts one long run by all threads; the keys of cells are not needed any more. */
static talus_status sort_long_run(tl_device *device, tl_device_spheres *blocks, uint32_t slot,
                                  size_t bodies) {
  const uint64_t *starts = blocks->starts.data;
  uint64_t ends[2];
  TL_TRY(device->calls->download(device, ends, starts + slot, sizeof ends));
  const size_t count = (size_t)(ends[1] - ends[0]);
  for (int k = 0; k < 2; ++k) {
    RESERVE(blocks->keys[k], count, uint64_t);
    RESERVE(blocks->slots[k], count, uint32_t);
  }
  tl_widen_task widen = {.values = (uint32_t *)blocks->others.data + ends[0],
                         .keys = blocks->keys[0].data};
  bool in_room;
  LAUNCH(widen, widen, count);
  TL_TRY(device->calls->sort(device, count, bits_of(bodies), widen.keys, blocks->keys[1].data,
                             blocks->slots[0].data, blocks->slots[1].data, &in_room));
  widen.keys = blocks->keys[in_room].data;
  widen.back = true;
  LAUNCH(widen, widen, count);
  return TALUS_OK;
}

static talus_status sort_runs(tl_device *device, tl_device_spheres *blocks, size_t count,
                              uint32_t levels) {
  RESERVE(blocks->runs, LONG_RUNS + 1, uint32_t);
  const tl_run_task run = {.least = levels > 1 ? 2 : TL_KEPT + 1,
                           .starts = blocks->starts.data,
                           .others = blocks->others.data,
                           .long_runs = blocks->runs.data,
                           .most_long = LONG_RUNS};
  uint32_t runs[LONG_RUNS + 1];
  TL_TRY(device->calls->clear(device, run.long_runs, sizeof *run.long_runs));
  LAUNCH(run, run, count);
  TL_TRY(device->calls->download(device, runs, run.long_runs, sizeof *runs));
  if (runs[0] > LONG_RUNS) /* their own threads have sorted the others */
    runs[0] = LONG_RUNS;
  if (runs[0] > 0)
    TL_TRY(device->calls->download(device, runs + 1, run.long_runs + 1, runs[0] * sizeof *runs));
  for (uint32_t i = 0; i < runs[0]; ++i)
    TL_TRY(sort_long_run(device, blocks, runs[1 + i], count));
  return TALUS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Counts, makes room, writes. */
static talus_status find_runs(tl_device *device, tl_device_spheres *blocks,
                              const tl_thread_search *search, size_t *contacts) {
  const size_t count = search->count;
  uint64_t total;
  RESERVE(blocks->counts, count, uint32_t);
  RESERVE(blocks->starts, count + 1, uint64_t);
  RESERVE(blocks->kept, TL_KEPT * count, uint32_t);
  tl_touch_task touch = {
      .search = *search, .counts = blocks->counts.data, .kept = blocks->kept.data};
  TL_TRY(device->calls->clear(device, touch.counts, count * sizeof *touch.counts));
  LAUNCH(touch, touch, count);
  TL_TRY(device->calls->sum(device, count, touch.counts, blocks->starts.data));
  TL_TRY(device->calls->download(device, &total, (uint64_t *)blocks->starts.data + count,
                                 sizeof total));
  *contacts = (size_t)total;
  RESERVE(blocks->owners, *contacts, uint32_t);
  RESERVE(blocks->others, *contacts, uint32_t);
  if (search->grid.count > 1) /* with one level the counts are needed again */
    TL_TRY(device->calls->clear(device, touch.counts, count * sizeof *touch.counts));
  touch.starts = blocks->starts.data;
  touch.owners = blocks->owners.data;
  touch.others = blocks->others.data;
  LAUNCH(touch, touch, count);
  return TALUS_OK;
}

static talus_status send(tl_device *device, tl_device_spheres *blocks,
                         const tl_spheres_asked *asked, tl_thread_search *search) {
  const size_t count = asked->count;
  RESERVE(blocks->rows, count, tl_thread_ball);
  TL_TRY(
      device->calls->upload(device, blocks->rows.data, asked->rows, count * sizeof *asked->rows));
  *search = (tl_thread_search){.count = count, .margin = asked->margin};
  if (!asked->fixed)
    return TALUS_OK;
  RESERVE(blocks->fixed, count, uint8_t);
  search->fixed = blocks->fixed.data;
  return device->calls->upload(device, blocks->fixed.data, asked->fixed, count);
}

talus_status tl_device_find_contacts(tl_device *device, tl_device_spheres *blocks,
                                     const tl_spheres_asked *asked, size_t *count,
                                     tl_spheres_times *times) {
  tl_thread_search search;
  tl_thread_extent extent;
  *count = 0;
  *times = (tl_spheres_times){0};
  if (asked->count == 0)
    return TALUS_OK;
  TL_TRY(send(device, blocks, asked, &search));
  const double begun = 1e3 * tl_clock();
  TL_TRY(measure(device, blocks, asked->count, &extent));
  times->cells = make_grid(asked, &extent, &search.grid);
  times->levels = search.grid.count;
  TL_TRY(
      sort_rows(device, blocks, asked->count, asked->margin, &search.grid, times->cells, &search));
  TL_TRY(device->calls->finish(device));
  const double sorted = 1e3 * tl_clock();
  TL_TRY(find_runs(device, blocks, &search, count));
  TL_TRY(device->calls->finish(device));
  const double found = 1e3 * tl_clock();
  TL_TRY(sort_runs(device, blocks, asked->count, times->levels));
  RESERVE(blocks->contacts, *count, talus_row_contact);
  const tl_contact_task write = {.rows = blocks->rows.data,
                                 .space = search.grid.space,
                                 .margin = asked->margin,
                                 .owners = blocks->owners.data,
                                 .others = blocks->others.data,
                                 .contacts = blocks->contacts.data};
  LAUNCH(contact, write, *count);
  TL_TRY(device->calls->finish(device));
  times->sort_ms = sorted - begun;
  times->search_ms = found - sorted;
  times->write_ms = 1e3 * tl_clock() - found;
  return TALUS_OK;
}
