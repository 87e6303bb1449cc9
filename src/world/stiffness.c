/* What `stiffness: auto` would be, before there are bodies: for the step that a scene chooses. */
#include "scene/warn.h"
#include "world/world.h"

talus_status tl_world_find_stiffness(talus_world *world, const tl_soft_body *of, size_t bodies,
                                     double dt, double *stiffness) {
  tl_penalty p = {0};
  *stiffness = 0;
  talus_status status = tl_array_resize(&p.lightest, world->model.materials.count);
  for (size_t i = 0; status == TALUS_OK && i < p.lightest.count; ++i)
    p.lightest.data[i] = (tl_lightest){of[i].mass, of[i].radius, of[i].is_uneven};
  if (status == TALUS_OK)
    status = tl_penalty_choose(&world->model, dt, bodies, &p);
  *stiffness = p.auto_stiffness;
  tl_penalty_free(&p);
  return status;
}
