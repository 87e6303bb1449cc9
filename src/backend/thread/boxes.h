/* Pairs of boxes: the work of one thread in each task.
 *
 * Pairs whose bounding spheres touch arrive in canonical order. Those whose boxes overlap are
 * marked, and move up. */
#ifndef TL_THREAD_BOXES_H
#define TL_THREAD_BOXES_H

#include <talus/detect.h>

#include "kernels/images.h"

typedef struct tl_overlap_task {
  const talus_box *boxes; /* by slot */
  tl_images images;
  const uint32_t *owners, *others;
  uint32_t *overlaps; /* by pair: 0 or 1 */
} tl_overlap_task;

TL_FN void tl_overlap_at(const tl_overlap_task *task, size_t i) {
  const talus_box a = task->boxes[task->owners[i]], b = task->boxes[task->others[i]];
  const tl_span3 home_a = tl_images_home(&task->images, &a);
  const tl_span3 home_b = tl_images_home(&task->images, &b);
  task->overlaps[i] = tl_images_overlap(&task->images, &home_a, &home_b);
}

typedef struct tl_pick_task {
  const uint32_t *owners, *others, *overlaps;
  const uint64_t *targets; /* by pair: its place among those that overlap */
  talus_row_pair *pairs;
} tl_pick_task;

TL_FN void tl_pick_at(const tl_pick_task *task, size_t i) {
  if (!task->overlaps[i])
    return;
  talus_row_pair pair;
  pair.a = task->owners[i];
  pair.b = task->others[i];
  task->pairs[task->targets[i]] = pair;
}

#endif
