/* Going back: what a step changes before it is sure to be taken, so that one that is given up in
 * the middle leaves no trace and the next one has the same bits as if nothing had happened.
 *
 * Bodies and contacts go to another set of arrays, and need no copy. */
#include "world/world.h"

talus_status tl_undo_keep(talus_world *world) {
  tl_undo *undo = &world->undo;
  TL_TRY(tl_array_resize(&undo->joints, world->joints.all.count));
  if (undo->joints.count > 0)
    memcpy(undo->joints.data, world->joints.all.data,
           undo->joints.count * sizeof *undo->joints.data);
  undo->last = world->last;
  return TALUS_OK;
}

void tl_undo_go_back(talus_world *world) {
  tl_undo *undo = &world->undo;
  if (undo->joints.count > 0)
    memcpy(world->joints.all.data, undo->joints.data,
           undo->joints.count * sizeof *undo->joints.data);
  world->last = undo->last;
}

void tl_undo_free(tl_undo *undo) { tl_array_free(&undo->joints); }

talus_status talus_world_set_interrupt(talus_world *world, const volatile int *interrupt) {
  TL_MAY_CHANGE(world);
  world->interrupt = interrupt;
  if (!interrupt)
    tl_undo_free(&world->undo);
  return TALUS_OK;
}
