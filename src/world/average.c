/* Averages of a world: added and read. */
#include "world/world.h"

talus_status talus_world_add_average(talus_world *world, const talus_average_def *def,
                                     uint32_t *average) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  const tl_model *model = &world->model;
  const tl_shape *shape = NULL;
  uint64_t uid = 0;
  if (def->by_flights &&
      (model->solve.kind != TALUS_SOLVE_ELASTIC || model->solve.shell == TALUS_SHELL_HARD))
    return tl_fail(
        TALUS_ERROR_INVALID,
        "an average goes by flights, which hard spheres have by events and with the soft "
        "shell (solve: elastic) alone");
  if (def->record & TALUS_AVERAGE_WALL) {
    uint32_t slot;
    TL_TRY(tl_world_slot(world, def->wall, &slot));
    TL_TRY(tl_need(&world->where, TL_THE_PROPERTY, TL_READ));
    uid = world->model.property.uid[slot];
    shape = tl_body_shape(&world->model, slot);
  }
  return tl_flow_add_average(&world->flow, def, uid, shape, talus_world_time(world), average);
}

talus_status talus_average_read(talus_world *world, uint32_t average,
                                talus_average_values *values) {
  TL_MAY_CHANGE(world);
  TL_NEED(values);
  if (average >= world->flow.averages.count)
    return tl_fail(TALUS_ERROR_INVALID, "there is no average number %u", average);
  TL_TRY(tl_world_finish_step(world));
  TL_TRY(tl_need(&world->where, TL_THE_PROPERTY, TL_READ));
  tl_average_finish(&world->flow.averages.data[average], &world->model, talus_world_time(world),
                    values);
  return TALUS_OK;
}
