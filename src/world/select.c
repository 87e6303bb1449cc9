#include "world/select.h"

#include "scene/from.h"

static bool is_listed(const char *const *list, size_t n, const char *name) {
  for (size_t i = 0; name && i < n; ++i)
    if (strcmp(list[i], name) == 0)
      return true;
  return false;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Name i of a kind, or NULL behind the last; one without a name is "". */
typedef const char *name_at(const talus_world *world, size_t i);

static const char *body_name(const talus_world *world, size_t i) {
  return i < world->names.count ? world->names.data[i].name : NULL;
}

static const char *group_name(const talus_world *world, size_t i) {
  return i < world->groups.count ? world->groups.data[i] : NULL;
}

static const char *material_name(const talus_world *world, size_t i) {
  const tl_model *model = &world->model;
  const char *name = i < model->materials.count ? model->materials.data[i].name : NULL;
  return i < model->materials.count && !name ? "" : name;
}

static talus_status check_list(const talus_world *world, const char *const *list, size_t n,
                               const char *kind, name_at *at) {
  if (n > 0)
    TL_NEED(list);
  for (size_t i = 0; i < n; ++i) {
    TL_NEED(list[i]);
    tl_suggestion nearest = {.word = list[i]};
    bool is_there = false;
    const char *name;
    for (size_t k = 0; !is_there && (name = at(world, k)) != NULL; ++k) {
      is_there = strcmp(name, list[i]) == 0;
      tl_suggest(&nearest, name);
    }
    if (!is_there)
      return tl_fail(TALUS_ERROR_INVALID,
                     "there is no %s `%.60s` among the bodies to take%s%.60s%s", kind, list[i],
                     nearest.best ? "; did you mean `" : "", nearest.best ? nearest.best : "",
                     nearest.best ? "`?" : "");
  }
  return TALUS_OK;
}

talus_status tl_selection_check(const talus_world *world, const talus_selection *selection) {
  TL_TRY(check_list(world, selection->names, selection->name_count, "body named", body_name));
  TL_TRY(check_list(world, selection->groups, selection->group_count, "group", group_name));
  TL_TRY(check_list(world, selection->materials, selection->material_count, "material",
                    material_name));
  return selection->region ? tl_region_check(selection->region, "a choice of bodies") : TALUS_OK;
}

/* ---- one body -------------------------------------------------------------------------------- */

bool tl_selection_has(const talus_world *world, const talus_selection *selection, uint32_t slot) {
  const tl_properties *property = &world->model.property;
  const uint32_t group = property->group[slot];
  if (selection->name_count > 0 && !is_listed(selection->names, selection->name_count,
                                              tl_world_name_of(world, property->uid[slot])))
    return false;
  if (selection->group_count > 0 && !is_listed(selection->groups, selection->group_count,
                                               group == 0 ? NULL : world->groups.data[group - 1]))
    return false;
  if (selection->material_count > 0 &&
      !is_listed(selection->materials, selection->material_count,
                 world->model.materials.data[property->material[slot]].name))
    return false;
  return !selection->region || tl_region_contains(selection->region, world->state.position[slot]);
}
