/* What a step on a device did to bodies that overlap: depths, and who passed through walls. */
#include "step/device/hold.h"

#include "backend/thread/tasks.h"
#include "contact/passing.h"

#include <stdlib.h>

static talus_status launch_passings(tl_held *held, const tl_thread_crowd *all) {
  tl_device *device = held->device;
  const tl_lay_task lay = {.crowd = *all,
                           .slots = held->wall_slots.data,
                           .walls = held->wall.data,
                           .moved = TL_HELD_WORD(held, drift)};
  const tl_pass_task pass = {.crowd = *all,
                             .walls = held->wall.data,
                             .wall_count = held->walls,
                             .moved = TL_HELD_WORD(held, drift),
                             .room = held->room.data,
                             .found = held->passed.data,
                             .count = TL_HELD_WORD(held, passings)};
  if (held->has_guided_walls || !held->are_walls_laid) {
    TL_TRY(device->calls->clear(device, lay.moved, sizeof *lay.moved));
    TL_DEVICE_LAUNCH(lay, lay, held->walls);
  }
  held->are_walls_laid = true;
  TL_DEVICE_LAUNCH(pass, pass, held->bodies);
  return TALUS_OK;
}

static int by_body(const void *x, const void *y) {
  const uint32_t a = ((const tl_thread_passing *)x)->body, b = ((const tl_thread_passing *)y)->body;
  return (a > b) - (a < b);
}

/* Devices list them in any order. */
static talus_status bring_passings(tl_held *held, const tl_crowd *crowd, size_t count) {
  tl_thread_passing *found;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  TL_TAKE(crowd->arena, count, &found);
  TL_TRY(
      held->device->calls->download(held->device, found, held->passed.data, count * sizeof *found));
  qsort(found, count, sizeof *found, by_body);
  for (size_t i = 0; i < count; ++i)
    TL_TRY(tl_passing_add(crowd, found[i].body, found[i].wall, crowd->passings));
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

talus_status tl_held_look_back(tl_held *held, const tl_crowd *crowd, tl_step_report *report) {
  tl_device *device = held->device;
  const tl_depth_task depth = {.crowd = tl_held_crowd(held, crowd),
                               .contacts = held->near.contacts.data,
                               .widths = held->widths.data,
                               .found = TL_HELD_WORD(held, depths)};
  struct {
    double depths[3];
    uint32_t passings, unused;
  } found;
  const bool looks = crowd->passings && held->walls > 0;
  TL_TRY(device->calls->clear(device, depth.found, sizeof found));
  TL_DEVICE_LAUNCH(depth, depth, held->after.count);
  if (looks)
    TL_TRY(launch_passings(held, &depth.crowd));
  TL_TRY(device->calls->download(device, &found, depth.found, sizeof found));
  report->depths = (tl_depths){found.depths[0], found.depths[1], found.depths[2] > 0};
  report->has_depths = true;
  return looks && found.passings > 0 ? bring_passings(held, crowd, found.passings) : TALUS_OK;
}
_Static_assert(offsetof(tl_held_words, passings) == 3 * sizeof(double), "read in one go");
