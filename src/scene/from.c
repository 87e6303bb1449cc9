#include "scene/from.h"

#define NAMES_SHOWN 8

void tl_from_names_free(tl_from_names *names) {
  for (size_t i = 0; i < names->count; ++i)
    tl_string_free(&names->data[i]);
  tl_array_free(names);
}

static bool is_seen(const tl_from_names *seen, const char *name) {
  for (size_t i = 0; i < seen->count; ++i)
    if (strcmp(seen->data[i], name) == 0)
      return true;
  return false;
}

talus_status tl_from_names_add(tl_from_names *names, const char *name) {
  char *copy = NULL;
  if (!name || is_seen(names, name))
    return TALUS_OK;
  TL_TRY(tl_array_reserve(names, names->count + 1));
  TL_TRY(tl_string_copy(name, strlen(name), &copy));
  names->data[names->count++] = copy;
  return TALUS_OK;
}

static bool changes_to(const tl_scene_from *from, const char *name) {
  const tl_scene_choice *changes = from ? from->change.data : NULL;
  for (size_t i = 0; changes && i < from->change.count; ++i)
    if (changes[i].material && strcmp(changes[i].material, name) == 0)
      return true;
  return false;
}

/* A scene with one material need not name it. */
static bool is_named(const talus_scene *scene, const char *name) {
  const tl_scene_body *bodies = scene->bodies.data;
  const tl_scene_emitter *emitters = scene->emit.data;
  const bool is_only = scene->materials.count == 1;
  for (size_t i = 0; i < scene->bodies.count; ++i) {
    const char *of = bodies[i].table  ? bodies[i].table->material
                     : bodies[i].fill ? bodies[i].fill->material
                                      : bodies[i].material;
    if (changes_to(bodies[i].from, name))
      return true;
    if (!bodies[i].from && (of ? strcmp(of, name) == 0 : is_only))
      return true;
  }
  for (size_t i = 0; i < scene->emit.count; ++i)
    if (emitters[i].material ? strcmp(emitters[i].material, name) == 0 : is_only)
      return true;
  return false;
}

talus_status tl_from_check_material(const talus_scene *scene, const char *name,
                                    const tl_from_names *seen) {
  if (is_seen(seen, name) || is_named(scene, name))
    return TALUS_OK;
  tl_suggestion nearest = {.word = name};
  tl_text list = {0};
  for (size_t i = 0; i < seen->count; ++i) {
    tl_suggest(&nearest, seen->data[i]);
    if (i < NAMES_SHOWN)
      tl_text_add(&list, "%s`%.60s`", i == 0 ? "" : ", ", seen->data[i]);
  }
  if (seen->count > NAMES_SHOWN)
    tl_text_add(&list, ", ...");
  if (list.status == TALUS_OK)
    (void)tl_fail(TALUS_ERROR_INVALID,
                  "no body has this material, here or among those taken `from` another run (which "
                  "has %s)%s%.60s%s; if that is meant, add `quiet: [unused-material]`",
                  list.data ? list.data : "none with a name",
                  nearest.best ? "; did you mean `" : "", nearest.best ? nearest.best : "",
                  nearest.best ? "`?" : "");
  const talus_status status = list.status == TALUS_OK ? TALUS_ERROR_INVALID : list.status;
  tl_text_drop(&list);
  return status;
}
