/* Which bodies overlap before anything moved: for the warning that build.c gives. */
#include <math.h>

#include "narrow/narrow.h"
#include "scene/warn.h"
#include "shape/shape.h"
#include "world/world.h"

#define DEPTH_LEAST 0.01 /* of a radius: what is less is rounding, or as good as rest */

/* Half the least width of a free body; infinite where the body cannot move. */
static double free_radius(const tl_model *model, uint32_t slot) {
  const tl_shape *shape = tl_body_shape(model, slot);
  const double scale = (double)model->property.scale[slot];
  if (tl_body_is_static(model, slot))
    return INFINITY;
  return scale * tl_shape_inner_radius(shape);
}

/* Contacts come sorted by body pair, so that a pair with several is counted once. */
static void find_deepest(const tl_model *model, const tl_contacts *contacts, tl_overlap *overlap) {
  uint32_t last[2] = {TL_NONE, TL_NONE};
  double worst = 0;
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    const double radius = fmin(free_radius(model, c->a), free_radius(model, c->b));
    const double depth = -(double)c->gap;
    if (!(depth > DEPTH_LEAST * radius))
      continue;
    if (c->a != last[0] || c->b != last[1])
      overlap->count++;
    last[0] = c->a, last[1] = c->b;
    if (depth / radius > worst) {
      worst = depth / radius;
      overlap->slot_a = c->a, overlap->slot_b = c->b;
      overlap->depth = depth, overlap->radius = radius;
    }
  }
}

static tl_posed pose(const talus_world *world, uint32_t slot, talus_dvec3 position) {
  return (tl_posed){.shape = tl_body_shape(&world->model, slot),
                    .scale = world->model.property.scale[slot],
                    .position = position,
                    .rotation = world->state.rotation[slot]};
}

/* Contacts are sorted by their bodies, in the order of slots. */
static bool has_contact(const tl_contacts *contacts, uint32_t a, uint32_t b) {
  size_t lo = 0, hi = contacts->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    const tl_contact *c = &contacts->data[middle];
    if (c->a < a || (c->a == a && c->b < b))
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < contacts->count && contacts->data[lo].a == a && contacts->data[lo].b == b;
}

/* A body wholly inside a mesh has no contacts with it and is found by its centre. Two meshes may be
 * too deep in each other for contacts and are found by intersecting triangles; their depth is then
 * unknown and is reported as the smaller one's radius. */
static void find_buried(const talus_world *world, const tl_pairs *pairs,
                        const tl_contacts *contacts, tl_overlap *overlap) {
  const tl_model *model = &world->model;
  for (size_t i = 0; i < pairs->count; ++i) {
    const uint32_t a = pairs->data[i].a, b = pairs->data[i].b;
    if (tl_body_shape(model, a)->kind != TALUS_MESH && tl_body_shape(model, b)->kind != TALUS_MESH)
      continue;
    const talus_dvec3 *position = world->state.position;
    const tl_posed first = pose(world, a, tl_dvec3(0, 0, 0));
    const tl_posed second = pose(world, b, tl_model_offset(model, position[a], position[b]));
    const double radius = fmin(free_radius(model, a), free_radius(model, b));
    double depth = tl_narrow_buried(&first, &second);
    if (!(depth > radius)) /* otherwise it has a contact */
      depth = !has_contact(contacts, a, b) && tl_narrow_crosses(&first, &second) ? radius : 0;
    if (depth > 0 && radius < INFINITY)
      *overlap = (tl_overlap){
          .count = overlap->count + 1, .slot_a = a, .slot_b = b, .depth = depth, .radius = radius};
  }
}

static talus_status find_contacts(talus_world *world, tl_contacts *contacts, tl_overlap *overlap) {
  const tl_model *model = &world->model;
  TL_TRY(tl_arena_reset(&world->arena));
  TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE(joints), TL_READ));
  TL_TRY(tl_world_check_crowding(world)); /* the first step says so again */
  const tl_crowd crowd = {.model = model,
                          .count = model->bodies,
                          .t0 = talus_world_time(world),
                          .t1 = talus_world_time(world) + model->dt,
                          .dt = model->dt,
                          .in = &world->state,
                          .out = &world->state,
                          .arena = &world->arena};
  talus_real *margins;
  talus_box *boxes;
  tl_pairs pairs = {0};
  const char *reason;
  TL_TAKE(crowd.arena, model->bodies, &margins);
  TL_TAKE(crowd.arena, crowd.count, &boxes);
  TL_TRY(world->backend->find_bounds(&crowd, boxes, margins));
  /* The first step reports values that are not finite. */
  for (size_t i = 0; i < model->bodies; ++i)
    if (tl_body_shape(model, i)->bounded &&
        (!tl_is_finite(margins[i]) || !tl_box_is_finite(boxes[i])))
      return TALUS_OK;
  const talus_broad_kind broad =
      model->broad == TALUS_BROAD_AUTO ? tl_broad_choose(&crowd, boxes, &reason) : model->broad;
  TL_TRY(world->backend->find_pairs(broad, &crowd, boxes, &pairs));
  TL_TRY(tl_joints_prepare(&world->joints));
  tl_joints_keep_apart(&world->joints, &pairs);
  TL_TRY(world->backend->find_contacts(&crowd, &pairs, margins, contacts));
  find_deepest(model, contacts, overlap);
  find_buried(world, &pairs, contacts, overlap);
  return TALUS_OK;
}

talus_status tl_world_find_overlap(talus_world *world, tl_overlap *overlap) {
  tl_contacts contacts = {0};
  *overlap = (tl_overlap){0};
  const talus_status status = find_contacts(world, &contacts, overlap);
  tl_array_free(&contacts);
  return status;
}
