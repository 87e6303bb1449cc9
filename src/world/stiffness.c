/* What `stiffness: auto` would be, before there are bodies: for the step that a scene chooses, and
 * for bodies that emitters will add. */
#include "base/power.h"
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

/* Until the stiffness is chosen, in the first step: the smallest that each emitter adds. */
talus_status tl_world_expect_bodies(talus_world *world) {
  const tl_model *model = &world->model;
  tl_penalty *p = &world->penalty;
  if (p->auto_stiffness > 0 || world->flow.emitters.count == 0)
    return TALUS_OK;
  TL_TRY(tl_array_resize(&p->coming, model->materials.count));
  for (size_t i = 0; i < p->coming.count; ++i)
    p->coming.data[i] = (tl_lightest){0};
  for (size_t i = 0; i < world->flow.emitters.count; ++i) {
    const talus_emitter_def *def = &world->flow.emitters.data[i].def;
    const tl_shape *shape = &model->shapes.data[def->body.shape.index];
    const double scale = def->body.scale * tl_size_least(&def->size),
                 mass = (double)model->materials.data[def->body.material.index].density *
                        shape->volume * scale * scale * scale;
    const tl_lightest body = {def->body.mass > 0 ? def->body.mass : mass,
                              tl_cbrt_d(3 * shape->volume / (4 * TL_PI)) * scale,
                              shape->kind != TALUS_SPHERE};
    tl_penalty_weigh(&p->coming.data[def->body.material.index], &body);
  }
  return TALUS_OK;
}
