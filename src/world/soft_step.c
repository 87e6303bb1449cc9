/* Estimates how deep springs let the bodies of a world sink. It serves bodies that come from tables
 * and other runs; scene/warn_soft.c makes the same estimate for bodies that the scene describes. */
#include "scene/warn.h"
#include "shape/shape.h"
#include "world/world.h"

#define FLATTEST 0.05 /* cosine: steeper planes stop no fall */

/* What a fall can end on. */
typedef struct ground {
  const talus_world *world;
  talus_dvec3 up;
  double gravity; /* m/s2 */
  double lowest;  /* m: end of the bounded bodies that are not free, along `up` */
} ground;

static ground find_ground(const talus_world *world) {
  const tl_model *model = &world->model;
  const talus_dvec3 g = tl_widen(model->gravity);
  ground on = {.world = world, .gravity = tl_dlength(g), .lowest = INFINITY};
  if (!(on.gravity > 0))
    return on;
  on.up = tl_dscale(g, -1 / on.gravity);
  for (size_t i = 0; i < model->bodies; ++i) {
    const tl_shape *shape = tl_body_shape(model, i);
    if (!tl_body_is_static(model, i) || !shape->bounded)
      continue;
    const talus_box box = tl_shape_bounds(shape, (double)model->property.scale[i],
                                          world->state.position[i], world->state.rotation[i]);
    const talus_dvec3 low =
        tl_dvec3(on.up.x > 0 ? box.lo.x : box.hi.x, on.up.y > 0 ? box.lo.y : box.hi.y,
                 on.up.z > 0 ? box.lo.z : box.hi.z);
    on.lowest = fmin(on.lowest, tl_ddot(low, on.up));
  }
  return on;
}

/* Height above a plane, along gravity; negative where it is below, or the plane steep. */
static double height_above(const ground *on, talus_dvec3 x, size_t plane) {
  const talus_world *world = on->world;
  const double *size = tl_body_shape(&world->model, plane)->size;
  const tl_frame frame = tl_frame_from_quat(world->state.rotation[plane]);
  const talus_dvec3 n = tl_frame_to_world(&frame, tl_dvec3(size[0], size[1], size[2]));
  const double slope = tl_ddot(n, on->up),
               d = tl_ddot(n, tl_dsub(x, world->state.position[plane])) -
                   size[3] * (double)world->model.property.scale[plane];
  return slope < FLATTEST ? -1 : d / slope;
}

static double deepest_fall(const ground *on, const size_t *planes, size_t count, talus_dvec3 x) {
  double fall = on->gravity > 0 ? fmax(0, tl_ddot(x, on->up) - on->lowest) : 0;
  for (size_t i = 0; i < count && on->gravity > 0; ++i)
    fall = fmax(fall, height_above(on, x, planes[i]));
  return fall;
}

typedef struct search {
  ground on;
  TL_ARRAY(size_t) planes;
  double smallest, mass; /* m, kg: of all that is free */
  tl_soft_step *found;
} search;

static talus_status look_around(const talus_world *world, search *s) {
  const tl_model *model = &world->model;
  s->on = find_ground(world);
  s->smallest = INFINITY;
  for (size_t i = 0; i < model->bodies; ++i) {
    if (tl_body_is_static(model, i)) {
      if (tl_body_shape(model, i)->kind == TALUS_PLANE)
        TL_TRY(tl_array_push(&s->planes, i));
      continue;
    }
    s->mass += (double)model->property.mass[i];
    s->smallest = fmin(s->smallest, (double)model->property.scale[i] *
                                        tl_shape_inner_radius(tl_body_shape(model, i)));
  }
  return TALUS_OK;
}

static void note_body(const talus_world *world, search *s, size_t i) {
  const tl_model *model = &world->model;
  tl_soft_step *found = s->found;
  const double mass = (double)model->property.mass[i], dt = model->dt,
               radius = (double)model->property.scale[i] *
                        tl_shape_inner_radius(tl_body_shape(model, i));
  const double speed = (double)tl_length(world->state.velocity[i]);
  const double fall =
      deepest_fall(&s->on, s->planes.data, s->planes.count, world->state.position[i]);
  const double impact = sqrt(speed * speed + 2 * s->on.gravity * fmax(0, fall - radius));
  const double load = fmin(mass * (1 + tl_soft_layers(fall, radius)), s->mass) * s->on.gravity;
  const double push = impact * sqrt(mass);
  const double depth = (load / found->per_step * dt + push / sqrt(found->per_step)) * dt;
  found->least = fmin(found->least, tl_soft_step_for(load, push, found->per_step, found->allowed));
  if (depth > found->depth)
    found->depth = depth, found->impact = impact, found->fall = fall,
    found->uid = model->property.uid[i];
}

/* A given stiffness is intended. */
static bool takes_auto(const tl_model *model, size_t slot) {
  const tl_material *of = &model->materials.data[model->property.material[slot]];
  return !tl_body_is_static(model, slot) && !(of->law.stiffness > 0);
}

static talus_status find_stiffness(talus_world *world, double *per_step) {
  tl_penalty p = {0};
  const tl_crowd crowd = {.model = &world->model, .count = world->model.bodies};
  talus_status status = tl_penalty_find_lightest(&crowd, &p);
  if (status == TALUS_OK)
    status = tl_penalty_choose(&world->model, 1, crowd.count, &p);
  *per_step = p.auto_stiffness;
  tl_penalty_free(&p);
  return status;
}

talus_status tl_world_find_soft_step(talus_world *world, double share, tl_soft_step *found) {
  search s = {.found = found};
  *found = (tl_soft_step){.least = INFINITY};
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  TL_TRY(find_stiffness(world, &found->per_step));
  if (!(found->per_step > 0))
    return TALUS_OK;
  const talus_status status = look_around(world, &s);
  found->allowed = share * s.smallest;
  for (size_t i = 0; status == TALUS_OK && i < world->model.bodies; ++i)
    if (takes_auto(&world->model, i))
      note_body(world, &s, i);
  tl_array_free(&s.planes);
  return status;
}
