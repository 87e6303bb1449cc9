/* `from`: the choices and changes of a scene, as talus_take_def has them. */
#include "scene/build.h"
#include "scene/files.h"

typedef struct taker {
  const talus_scene *scene;
  const tl_names *materials; /* of the scene: name to row */
  TL_ARRAY(talus_selection) only;
  TL_ARRAY(talus_selection) except;
  TL_ARRAY(talus_change) changes;
  TL_ARRAY(talus_region) regions; /* these four are as long as all choices: nothing moves */
  TL_ARRAY(talus_material) own;
  TL_ARRAY(talus_vec3) loads;
  TL_ARRAY(tl_scene_motions) motions;
} taker;

static talus_status reserve(taker *t, const tl_scene_from *from) {
  const size_t n = from->only.count + from->except.count + from->change.count;
  TL_TRY(tl_array_reserve(&t->only, from->only.count));
  TL_TRY(tl_array_reserve(&t->except, from->except.count));
  TL_TRY(tl_array_reserve(&t->changes, from->change.count));
  TL_TRY(tl_array_reserve(&t->regions, n));
  TL_TRY(tl_array_reserve(&t->own, from->change.count));
  TL_TRY(tl_array_reserve(&t->loads, 2 * from->change.count));
  return tl_array_reserve(&t->motions, from->change.count);
}

static talus_selection choose(taker *t, const tl_map *map, const tl_scene_choice *choice) {
  talus_selection made = {.names = choice->names.data,
                          .name_count = choice->names.count,
                          .groups = choice->groups.data,
                          .group_count = choice->groups.count,
                          .materials = choice->materials.data,
                          .material_count = choice->materials.count};
  if (tl_object_has(map, choice, "region")) {
    made.region = &t->regions.data[t->regions.count];
    t->regions.data[t->regions.count++] = tl_scene_region_of(&choice->region, &tl_schema_region);
  }
  return made;
}

static const talus_vec3 *load(taker *t, const tl_scene_choice *choice, const char *key,
                              const double value[3]) {
  if (!tl_object_has(&tl_schema_change, choice, key))
    return NULL;
  t->loads.data[t->loads.count] = tl_scene_vec3(value);
  return &t->loads.data[t->loads.count++];
}

static talus_status change(taker *t, const tl_scene_choice *choice) {
  const tl_map *map = &tl_schema_change;
  talus_change made = {.who = choose(t, map, choice),
                       .force = load(t, choice, "force", choice->force),
                       .torque = load(t, choice, "torque", choice->torque)};
  if (choice->material) {
    talus_material material = {0};
    tl_names_find(t->materials, choice->material, &material.index);
    made.material = &t->own.data[t->own.count];
    t->own.data[t->own.count++] = material;
  }
  if (tl_object_has(map, choice, "fixed")) {
    made.sets_kind = true;
    made.kind = choice->fixed ? TALUS_FIXED : TALUS_FREE;
  }
  if (choice->motion.count > 0) {
    tl_scene_motions *motions = &t->motions.data[t->motions.count++];
    TL_TRY(tl_scene_make_motions(t->scene, &choice->motion, motions));
    made.sets_kind = true;
    made.kind = TALUS_KINEMATIC;
    made.motion = &motions->parts[0];
  }
  t->changes.data[t->changes.count++] = made;
  return TALUS_OK;
}

static talus_status make(taker *t, const tl_scene_from *from, talus_take_def *def) {
  const tl_scene_choice *only = from->only.data, *except = from->except.data,
                        *changes = from->change.data;
  TL_TRY(reserve(t, from));
  for (size_t i = 0; i < from->only.count; ++i)
    t->only.data[t->only.count++] = choose(t, &tl_schema_selection, &only[i]);
  for (size_t i = 0; i < from->except.count; ++i)
    t->except.data[t->except.count++] = choose(t, &tl_schema_selection, &except[i]);
  for (size_t i = 0; i < from->change.count; ++i)
    TL_TRY(change(t, &changes[i]));
  *def = (talus_take_def){.only = t->only.data,
                          .only_count = t->only.count,
                          .except = t->except.data,
                          .except_count = t->except.count,
                          .changes = t->changes.data,
                          .change_count = t->changes.count};
  return TALUS_OK;
}

static void release(taker *t) {
  for (size_t i = 0; i < t->motions.count; ++i)
    tl_scene_free_motions(&t->motions.data[i]);
  tl_array_free(&t->only);
  tl_array_free(&t->except);
  tl_array_free(&t->changes);
  tl_array_free(&t->regions);
  tl_array_free(&t->own);
  tl_array_free(&t->loads);
  tl_array_free(&t->motions);
}

static talus_status load_world(const talus_scene *scene, const char *folder, talus_world **old) {
  tl_text path = {0};
  tl_scene_add_path(&path, scene, folder);
  while (path.status == TALUS_OK && path.count > 1 && path.data[path.count - 1] == '/')
    path.data[--path.count] = '\0'; /* "earlier/" is the usual way to write a folder */
  tl_text_add(&path, "/checkpoint.hdf");
  TL_TRY(path.status);
  const talus_status status = tl_scene_told_path(talus_world_load(path.data, old));
  tl_text_drop(&path);
  return status;
}

talus_status tl_scene_add_from(const talus_scene *scene, talus_world *world,
                               const tl_names *materials, const tl_scene_from *from,
                               tl_from_names *seen, tl_from_names *flow) {
  taker t = {.scene = scene, .materials = materials};
  talus_take_def def = {0};
  talus_world *old = NULL;
  talus_status status = make(&t, from, &def);
  if (status == TALUS_OK)
    status = load_world(scene, from->from, &old);
  if (status == TALUS_OK)
    status = tl_world_borrow(world, old, &def, scene->materials.count, seen);
  if (status == TALUS_OK)
    status = tl_world_list_flow(old, flow);
  talus_world_destroy(old);
  release(&t);
  return status;
}
