/* The ten stages of the published bins, in their order and timed one by one. */
#include "backend/spheres.h"

#include "backend/thread/tasks.h"
#include "base/sort.h"

#define RESERVE TL_DEVICE_RESERVE
#define LAUNCH  TL_DEVICE_LAUNCH

/* The end of a stage. */
static talus_status mark(tl_device *device, int stage) {
  return device->calls->mark(device, TL_MARK_STAGES + stage);
}

static talus_status total_of(tl_device *device, const tl_device_block *starts, size_t n,
                             size_t *total) {
  uint64_t last;
  TL_TRY(device->calls->download(device, &last, (const uint64_t *)starts->data + n, sizeof last));
  *total = (size_t)last;
  return TALUS_OK;
}

/* Stages 5 to 7: active bins, sorted by load; the bins are in blocks->slots[in_room]. */
static talus_status sort_bins(tl_device *device, tl_device_spheres *blocks,
                              const tl_thread_search *search, size_t *bins,
                              tl_binned_task *binned) {
  const size_t places = search->lists.count;
  bool in_room;
  RESERVE(blocks->ends, places, uint32_t);
  RESERVE(blocks->starts, places + 1, uint64_t);
  const tl_active_task active = {.keys = search->lists.keys, .flags = blocks->ends.data};
  LAUNCH(active, active, places);
  TL_TRY(mark(device, 5));
  TL_TRY(device->calls->sum(device, places, active.flags, blocks->starts.data));
  TL_TRY(total_of(device, &blocks->starts, places, bins));
  RESERVE(blocks->list_ends, *bins + 1, uint32_t);
  const tl_begins_task begins = {.flags = active.flags,
                                 .ranks = blocks->starts.data,
                                 .begins = blocks->list_ends.data,
                                 .count = places};
  LAUNCH(begins, begins, places);
  TL_TRY(mark(device, 6));
  for (int k = 0; k < 2; ++k) {
    RESERVE(blocks->loads[k], *bins, uint32_t);
    RESERVE(blocks->bins[k], *bins, uint32_t);
  }
  const tl_loads_task loads = {
      .begins = begins.begins, .loads = blocks->loads[0].data, .bins = blocks->bins[0].data};
  LAUNCH(loads, loads, *bins);
  const tl_device_sort sort = {{blocks->loads[0].data, blocks->loads[1].data},
                               {blocks->bins[0].data, blocks->bins[1].data},
                               false};
  TL_TRY(device->calls->sort(device, *bins, tl_bits_u64(search->count), &sort, &in_room));
  *binned = (tl_binned_task){
      .search = *search, .begins = begins.begins, .bins = blocks->bins[in_room].data};
  return mark(device, 7);
}

/* Stages 8 to 10: one thread for each bin. */
static talus_status list_pairs(tl_device *device, tl_device_spheres *blocks, size_t bins,
                               tl_binned_task *binned, size_t *pairs) {
  RESERVE(blocks->corners, bins, uint32_t);
  RESERVE(blocks->starts, bins + 1, uint64_t);
  binned->counts = blocks->corners.data;
  LAUNCH(binned, *binned, bins);
  TL_TRY(mark(device, 8));
  TL_TRY(device->calls->sum(device, bins, binned->counts, blocks->starts.data));
  TL_TRY(total_of(device, &blocks->starts, bins, pairs));
  TL_TRY(mark(device, 9));
  RESERVE(blocks->owners, *pairs, uint32_t);
  RESERVE(blocks->others, *pairs, uint32_t);
  binned->starts = blocks->starts.data;
  binned->list =
      (tl_touch_list){.owners = blocks->owners.data, .others = blocks->others.data, .room = *pairs};
  LAUNCH(binned, *binned, bins);
  return mark(device, 10);
}

talus_status tl_device_list_published(tl_device *device, tl_device_spheres *blocks, uint64_t cells,
                                      tl_thread_search *search, size_t *pairs) {
  tl_binned_task binned;
  size_t bins;
  TL_TRY(mark(device, 0));
  TL_TRY(tl_device_list_bodies(device, blocks, cells, true, search));
  TL_TRY(sort_bins(device, blocks, search, &bins, &binned));
  return list_pairs(device, blocks, bins, &binned, pairs);
}
