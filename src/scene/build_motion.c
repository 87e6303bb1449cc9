/* Converts motions and regions of a scene to the structs of the public API. */
#include "scene/build.h"
#include "scene/files.h"

talus_region tl_scene_region_of(const tl_scene_region *region, const tl_map *map) {
  talus_region made = {.kind = TALUS_REGION_CYLINDER};
  const tl_scene_round *round = &region->cylinder;
  if (tl_object_has(map, region, "box"))
    return (talus_region){.kind = TALUS_REGION_BOX,
                          .box = {tl_scene_dvec3(region->box), tl_scene_dvec3(region->box + 3)}};
  if (tl_object_has(map, region, "sphere")) {
    round = &region->sphere;
    made.kind = TALUS_REGION_SPHERE;
  } else if (!tl_object_has(map, region, "cylinder")) {
    round = &region->disc; /* a cylinder without length */
  }
  made.at = tl_scene_dvec3(round->at);
  made.axis = tl_scene_vec3(round->axis);
  made.radius = round->radius;
  made.length = round->length;
  return made;
}

/* The table of a motion, which the caller frees. */
static talus_status use_table(const talus_scene *scene, const tl_scene_motion *motion,
                              talus_table *table, talus_motion *def) {
  const bool along = tl_object_has(&tl_schema_motion, motion, "along"),
             about = tl_object_has(&tl_schema_motion, motion, "about");
  tl_text path = {0};
  tl_scene_add_path(&path, scene, motion->table);
  TL_TRY(path.status);
  talus_status status = tl_scene_told_path(talus_table_read(path.data, table));
  if (status == TALUS_OK && (table->kind == TALUS_TABLE_ALONG) != along)
    status = tl_fail(TALUS_ERROR_FORMAT,
                     along ? "%s: the table has no column `displacement`, which `along` is for"
                           : "%s: the table has displacements; add `along: [x, y, z]`",
                     path.data);
  else if (status == TALUS_OK && (table->kind == TALUS_TABLE_ABOUT) != about)
    status =
        tl_fail(TALUS_ERROR_FORMAT,
                about ? "%s: the table has no column `angle` or `degrees`, which `about` is for"
                      : "%s: the table has angles; add `about: [x, y, z]`",
                path.data);
  tl_text_drop(&path);
  def->table_kind = table->kind;
  def->table = table->data;
  def->rows = table->rows;
  def->is_smooth = motion->interpolate == 1;
  def->axis = tl_scene_vec3(along ? motion->along : motion->about);
  return status;
}

static talus_motion motion_of(const tl_scene_motion *motion) {
  talus_motion def = {.velocity = tl_scene_vec3(motion->velocity),
                      .spin = tl_scene_vec3(motion->spin),
                      .amplitude = tl_scene_vec3(motion->amplitude),
                      .frequency = motion->frequency,
                      .phase = motion->phase,
                      .swing = tl_scene_vec3(motion->swing),
                      .from_time = motion->from_time,
                      .until = motion->until};
  def.is_through = tl_object_has(&tl_schema_motion, motion, "through");
  if (def.is_through)
    def.through = tl_scene_dvec3(motion->through);
  return def;
}

talus_status tl_scene_make_motions(const talus_scene *scene, const tl_items *motions,
                                   tl_scene_motions *made) {
  const tl_scene_motion *told = motions->data;
  made->count = 0;
  if (motions->count > TL_MOTIONS_MOST)
    return tl_fail(TALUS_ERROR_INVALID, "its motion is a sum of %zu; %d are the most",
                   motions->count, TL_MOTIONS_MOST);
  for (size_t i = 0; i < motions->count; ++i) {
    made->parts[i] = motion_of(&told[i]);
    made->tables[i] = (talus_table){0};
    made->count++;
    if (told[i].table)
      TL_TRY(use_table(scene, &told[i], &made->tables[i], &made->parts[i]));
    if (i > 0)
      made->parts[i - 1].next = &made->parts[i];
  }
  return TALUS_OK;
}

void tl_scene_free_motions(tl_scene_motions *made) {
  for (size_t i = 0; i < made->count; ++i)
    talus_table_free(&made->tables[i]);
  made->count = 0;
}
