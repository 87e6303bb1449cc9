/* Materials, and what holds between two of them. */
#include "world/world.h"

/* ---- ranges ---------------------------------------------------------------------------------- */

static talus_status check_number(const char *what, const char *name, double value) {
  if (!(value >= 0) || !tl_is_finite_d(value))
    return tl_fail(TALUS_ERROR_INVALID, "%s: %s is %g; it must be >= 0 and finite", what, name,
                   value);
  return TALUS_OK;
}

static talus_status check_law(const char *what, const talus_material_law *law) {
  TL_TRY(check_number(what, "friction", law->friction));
  if (!(law->restitution >= 0 && law->restitution <= 1))
    return tl_fail(TALUS_ERROR_INVALID, "%s: restitution is %g; it must be between 0 and 1", what,
                   law->restitution);
  TL_TRY(check_number(what, "static_friction", law->static_friction));
  if (law->static_friction > 0 && law->static_friction < law->friction)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: static_friction is %g, and friction %g; it must not be smaller (0: the "
                   "same)",
                   what, law->static_friction, law->friction);
  TL_TRY(check_number(what, "rolling", law->rolling));
  TL_TRY(check_number(what, "spinning", law->spinning));
  TL_TRY(check_number(what, "cohesion", law->cohesion));
  TL_TRY(check_number(what, "rolling_coefficient", law->rolling_coefficient));
  TL_TRY(check_number(what, "surface_energy", law->surface_energy));
  return check_number(what, "stiffness", law->stiffness);
}

static talus_status check_elastic(const char *what, const talus_material_def *def) {
  if (!(def->young >= 0) || !tl_is_finite_d(def->young))
    return tl_fail(TALUS_ERROR_INVALID, "%s: young is %g; it must be positive, in Pa", what,
                   def->young);
  if (!(def->poisson > -1 && def->poisson <= 0.5))
    return tl_fail(TALUS_ERROR_INVALID, "%s: poisson is %g; it must be above -1 and at most 0.5",
                   what, def->poisson);
  return TALUS_OK;
}

bool tl_law_is_valid(const tl_pair_law *law) {
  return law->friction >= 0 && tl_is_finite(law->friction) && law->restitution >= 0 &&
         law->restitution <= 1 && law->static_friction >= law->friction &&
         tl_is_finite(law->static_friction) && law->rolling >= 0 && tl_is_finite(law->rolling) &&
         law->spinning >= 0 && tl_is_finite(law->spinning) && law->cohesion >= 0 &&
         tl_is_finite(law->cohesion) && law->rolling_coefficient >= 0 &&
         tl_is_finite(law->rolling_coefficient) && law->surface_energy >= 0 &&
         tl_is_finite(law->surface_energy) && law->stiffness >= 0 && tl_is_finite(law->stiffness);
}

static tl_pair_law law_of(const talus_material_law *law) {
  const tl_pair_law made = {.friction = (talus_real)law->friction,
                            .restitution = (talus_real)law->restitution,
                            .static_friction =
                                tl_max((talus_real)law->static_friction, (talus_real)law->friction),
                            .rolling = (talus_real)law->rolling,
                            .spinning = (talus_real)law->spinning,
                            .cohesion = (talus_real)law->cohesion,
                            .rolling_coefficient = (talus_real)law->rolling_coefficient,
                            .surface_energy = (talus_real)law->surface_energy,
                            .stiffness = (talus_real)law->stiffness};
  return made;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* 0 means "as the step allows"; a number replaces it. */
static talus_real softer_of(talus_real a, talus_real b) {
  return !(a > 0) ? b : !(b > 0) ? a : tl_min(a, b);
}

static tl_pair_law smaller_of(const tl_pair_law *a, const tl_pair_law *b) {
  const tl_pair_law law = {.friction = tl_min(a->friction, b->friction),
                           .restitution = tl_min(a->restitution, b->restitution),
                           .static_friction = tl_min(a->static_friction, b->static_friction),
                           .rolling = tl_min(a->rolling, b->rolling),
                           .spinning = tl_min(a->spinning, b->spinning),
                           .cohesion = tl_min(a->cohesion, b->cohesion),
                           .rolling_coefficient =
                               tl_min(a->rolling_coefficient, b->rolling_coefficient),
                           .surface_energy = tl_min(a->surface_energy, b->surface_energy),
                           .stiffness = softer_of(a->stiffness, b->stiffness)};
  return law;
}

void tl_world_find_law_kinds(talus_world *world) {
  tl_model *model = &world->model;
  model->law_kinds = 0;
  for (size_t i = 0; i < model->laws.count; ++i) {
    const tl_pair_law *law = &model->laws.data[i];
    if (law->static_friction > law->friction)
      model->law_kinds |= TL_LAW_STATIC;
    if (law->rolling > 0 || law->spinning > 0 || law->rolling_coefficient > 0)
      model->law_kinds |= TL_LAW_ROLLING;
    if (law->cohesion > 0 || law->surface_energy > 0)
      model->law_kinds |= TL_LAW_COHESION;
    if (law->rolling_coefficient > 0 || law->surface_energy > 0)
      model->law_kinds |= TL_LAW_CURVED;
  }
}

talus_status tl_world_make_laws(talus_world *world) {
  tl_model *model = &world->model;
  const size_t n = model->materials.count;
  tl_changed(world, TL_CHANGED_TABLES, TL_EVERYBODY);
  TL_TRY(tl_array_resize(&model->laws, n * n));
  for (size_t a = 0; a < n; ++a)
    for (size_t b = 0; b < n; ++b)
      model->laws.data[a * n + b] =
          smaller_of(&model->materials.data[a].law, &model->materials.data[b].law);
  for (size_t i = 0; i < world->overrides.count; ++i) {
    const tl_pair_override *o = &world->overrides.data[i];
    model->laws.data[o->a * n + o->b] = o->law;
    model->laws.data[o->b * n + o->a] = o->law;
  }
  tl_world_find_law_kinds(world);
  return TALUS_OK;
}

/* ---- public calls ---------------------------------------------------------------------------- */

talus_status talus_world_add_material(talus_world *world, const talus_material_def *def,
                                      talus_material *material) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  TL_NEED(material);
  const char *what = def->name ? def->name : "material";
  const talus_material_law law = {.friction = def->friction,
                                  .restitution = def->restitution,
                                  .static_friction = def->static_friction,
                                  .rolling = def->rolling,
                                  .spinning = def->spinning,
                                  .cohesion = def->cohesion,
                                  .rolling_coefficient = def->rolling_coefficient,
                                  .surface_energy = def->surface_energy,
                                  .stiffness = def->stiffness};
  if (!(def->density > 0) || !tl_is_finite_d(def->density))
    return tl_fail(TALUS_ERROR_INVALID, "%s: density is %g; it must be positive, in kg/m3", what,
                   def->density);
  TL_TRY(check_law(what, &law));
  TL_TRY(check_elastic(what, def));
  TL_TRY(tl_need(&world->where, TL_THE(tables), TL_READ | TL_WRITE));
  tl_model *model = &world->model;
  const size_t n = model->materials.count + 1;
  TL_TRY(tl_array_reserve(&model->materials, n));
  TL_TRY(tl_array_reserve(&model->laws, n * n));
  tl_material made = {NULL, (talus_real)def->density, law_of(&law), (talus_real)def->young,
                      (talus_real)def->poisson};
  TL_TRY(tl_copy_text(def->name, &made.name));
  material->index = (uint32_t)model->materials.count;
  model->materials.data[model->materials.count++] = made;
  return tl_world_make_laws(world);
}

static talus_status check_pair(const talus_world *world, talus_material a, talus_material b) {
  if (a.index >= world->model.materials.count || b.index >= world->model.materials.count)
    return tl_fail(TALUS_ERROR_INVALID, "material pair: no such material");
  return TALUS_OK;
}

talus_status talus_world_get_material_law(const talus_world *world, talus_material a,
                                          talus_material b, talus_material_law *law) {
  TL_NEED(world);
  TL_NEED(law);
  TL_TRY(check_pair(world, a, b));
  const tl_pair_law *row =
      &world->model.laws.data[a.index * world->model.materials.count + b.index];
  *law = (talus_material_law){.friction = (double)row->friction,
                              .restitution = (double)row->restitution,
                              .static_friction = (double)row->static_friction,
                              .rolling = (double)row->rolling,
                              .spinning = (double)row->spinning,
                              .cohesion = (double)row->cohesion,
                              .rolling_coefficient = (double)row->rolling_coefficient,
                              .surface_energy = (double)row->surface_energy,
                              .stiffness = (double)row->stiffness};
  return TALUS_OK;
}

talus_status talus_world_set_material_law(talus_world *world, talus_material a, talus_material b,
                                          const talus_material_law *law) {
  TL_MAY_CHANGE(world);
  TL_NEED(law);
  TL_TRY(check_pair(world, a, b));
  TL_TRY(check_law("material pair", law));
  const tl_pair_override made = {a.index < b.index ? a.index : b.index,
                                 a.index < b.index ? b.index : a.index, law_of(law)};
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  TL_TRY(tl_need(&world->where, TL_THE(tables) | TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  size_t at = 0;
  while (at < world->overrides.count &&
         (world->overrides.data[at].a != made.a || world->overrides.data[at].b != made.b))
    at++;
  if (at < world->overrides.count)
    world->overrides.data[at] = made;
  else
    TL_TRY(tl_array_push(&world->overrides, made));
  tl_changed(world, TL_CHANGED_LAWS, TL_EVERYBODY);
  return tl_world_make_laws(world);
}

talus_status talus_world_set_material_pair(talus_world *world, talus_material a, talus_material b,
                                           double friction, double restitution) {
  TL_MAY_CHANGE(world);
  talus_material_law law;
  TL_TRY(talus_world_get_material_law(world, a, b, &law));
  /* Materials without a static friction of their own do not hand one down. */
  if (law.static_friction <= law.friction)
    law.static_friction = 0;
  law.friction = friction;
  law.restitution = restitution;
  if (law.static_friction < friction)
    law.static_friction = friction;
  return talus_world_set_material_law(world, a, b, &law);
}
