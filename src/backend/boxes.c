/* Pairs of boxes on a device: the host's part, one launch after the other. */
#include "backend/boxes.h"

#include "backend/thread/tasks.h"

void tl_device_boxes_free(tl_device *device, tl_device_boxes *blocks) {
  tl_device_block *all = (tl_device_block *)(void *)blocks;
  for (size_t i = 0; i < sizeof *blocks / sizeof *all; ++i)
    (void)device->calls->resize(device, &all[i], 0);
}

static talus_status pick_pairs(tl_device *device, const tl_device_spheres *near,
                               tl_device_boxes *blocks, const tl_boxes_asked *asked, size_t near_by,
                               size_t *count) {
  uint64_t total;
  TL_DEVICE_RESERVE(blocks->overlaps, near_by, uint32_t);
  TL_DEVICE_RESERVE(blocks->targets, near_by + 1, uint64_t);
  const tl_overlap_task overlap = {.boxes = blocks->boxes.data,
                                   .images = asked->images,
                                   .owners = near->owners.data,
                                   .others = near->others.data,
                                   .overlaps = blocks->overlaps.data};
  TL_DEVICE_LAUNCH(overlap, overlap, near_by);
  TL_TRY(device->calls->sum(device, near_by, overlap.overlaps, blocks->targets.data));
  TL_TRY(device->calls->download(device, &total, (const uint64_t *)blocks->targets.data + near_by,
                                 sizeof total));
  TL_DEVICE_RESERVE(blocks->pairs, (size_t)total, talus_row_pair);
  const tl_pick_task pick = {.owners = overlap.owners,
                             .others = overlap.others,
                             .overlaps = overlap.overlaps,
                             .targets = blocks->targets.data,
                             .pairs = blocks->pairs.data};
  TL_DEVICE_LAUNCH(pick, pick, near_by);
  *count = (size_t)total;
  return TALUS_OK;
}

talus_status tl_device_find_box_pairs(tl_device *device, tl_device_spheres *near,
                                      tl_device_boxes *blocks, const tl_spheres_asked *spheres,
                                      const tl_boxes_asked *asked, size_t *count,
                                      tl_spheres_times *times) {
  tl_thread_search search;
  size_t near_by;
  *count = 0;
  *times = (tl_spheres_times){0};
  if (spheres->count == spheres->plane_count)
    return TALUS_OK;
  TL_DEVICE_RESERVE(blocks->boxes, spheres->count, talus_box);
  TL_TRY(device->calls->upload(device, blocks->boxes.data, asked->boxes,
                               spheres->count * sizeof *asked->boxes));
  TL_TRY(tl_device_find_near(device, near, spheres, &search, &near_by, times));
  if (near_by > 0)
    TL_TRY(pick_pairs(device, near, blocks, asked, near_by, count));
  return tl_device_tell(device, times);
}
