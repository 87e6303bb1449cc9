/* Going back: what a step changes before it is sure to be taken, so that one that is given up in
 * the middle leaves no trace and the next one has the same bits as if nothing had happened.
 *
 * Poses and velocities are written last (step/fixed.c) and contacts are another set: neither needs
 * a copy. */
#include "world/world.h"

talus_status tl_undo_keep(talus_world *world) {
  tl_undo *undo = &world->undo;
  TL_TRY(tl_array_resize(&undo->joints, world->joints.all.count));
  if (undo->joints.count > 0)
    memcpy(undo->joints.data, world->joints.all.data,
           undo->joints.count * sizeof *undo->joints.data);
  undo->rest.count = 0;
  if (world->state.rest) {
    TL_TRY(tl_array_resize(&undo->rest, world->model.bodies));
    memcpy(undo->rest.data, world->state.rest, world->model.bodies * sizeof *undo->rest.data);
  }
  undo->last = world->last;
  return TALUS_OK;
}

void tl_undo_go_back(talus_world *world) {
  tl_undo *undo = &world->undo;
  if (undo->joints.count > 0)
    memcpy(world->joints.all.data, undo->joints.data,
           undo->joints.count * sizeof *undo->joints.data);
  if (undo->rest.count > 0)
    memcpy(world->state.rest, undo->rest.data, undo->rest.count * sizeof *undo->rest.data);
  world->last = undo->last;
}

void tl_undo_free(tl_undo *undo) {
  tl_array_free(&undo->joints);
  tl_array_free(&undo->rest);
}

talus_status talus_world_set_interrupt(talus_world *world, const volatile int *interrupt) {
  TL_MAY_CHANGE(world);
  world->interrupt = interrupt;
  if (!interrupt)
    tl_undo_free(&world->undo);
  return TALUS_OK;
}
