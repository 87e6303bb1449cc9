/* Bodies that left: by a sink, or out of the domain. */
#include "world/world.h"

talus_status tl_world_reserve_left(talus_world *world, size_t leaving) {
  return world->records_left ? tl_array_reserve(&world->left, world->left.count + leaving)
                             : TALUS_OK;
}

void tl_world_note_left(talus_world *world, const uint8_t *remove) {
  const tl_model *model = &world->model;
  if (!world->records_left)
    return;
  for (uint32_t slot = 0; slot < model->bodies; ++slot)
    if (remove[slot])
      world->left.data[world->left.count++] =
          (talus_left){.time = world->time,
                       .uid = model->property.uid[slot],
                       .sink = tl_flow_sink_of(&world->flow, model, world->state.position[slot]),
                       .radius = tl_flow_ball_radius(model, slot),
                       .mass = (double)model->property.mass[slot],
                       .position = world->state.position[slot],
                       .velocity = world->state.velocity[slot]};
}

talus_status talus_world_record_left(talus_world *world, bool on) {
  TL_MAY_CHANGE(world);
  world->records_left = on;
  if (!on)
    tl_array_free(&world->left);
  return TALUS_OK;
}

talus_status talus_world_take_left(talus_world *world, talus_left *left, size_t capacity,
                                   size_t *count) {
  TL_MAY_CHANGE(world);
  TL_NEED(count);
  if (capacity > 0)
    TL_NEED(left);
  const size_t n = world->left.count < capacity ? world->left.count : capacity;
  *count = n;
  if (n == 0)
    return TALUS_OK;
  memcpy(left, world->left.data, n * sizeof *left);
  memmove(world->left.data, world->left.data + n,
          (world->left.count - n) * sizeof *world->left.data);
  world->left.count -= n;
  return TALUS_OK;
}
