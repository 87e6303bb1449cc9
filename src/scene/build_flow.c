/* What appears, disappears and is measured in a world: emitters, sinks, probes, zones, averages. */
#include <math.h>
#include <string.h>

#include "scene/builder.h"

static talus_status add_emitter(tl_builder *b, const tl_scene_emitter *emitter) {
  const tl_map *map = &tl_schema_emitter;
  talus_emitter_def def = talus_emitter_def_default();
  TL_TRY(tl_build_use_names(b, &emitter->shape, emitter->material, emitter->group, &def.body));
  def.name = emitter->name;
  def.body.rotation = tl_scene_quat(&emitter->rotation);
  def.body.velocity = tl_scene_vec3(emitter->velocity);
  def.body.spin = tl_scene_vec3(emitter->spin);
  def.from = tl_scene_region_of(&emitter->from, &tl_schema_source);
  def.rate = emitter->rate;
  def.from_time = emitter->from_time;
  def.until = tl_object_has(map, emitter, "until") ? emitter->until : INFINITY;
  def.size = tl_scene_sizes(&emitter->size);
  def.random_rotation = emitter->rotation.is_random;
  def.seed = tl_scene_seed_of(b->scene, emitter->seed);
  def.thermal = emitter->thermal;
  def.inflow = (talus_inflow)emitter->inflow;
  def.arrival = (talus_arrival)emitter->arrival;
  def.burst = emitter->burst;
  def.point_count = (uint32_t)emitter->from.points.rows.count;
  if (def.point_count > 0)
    memcpy(def.points, emitter->from.points.rows.data, def.point_count * sizeof *def.points);
  return talus_world_add_emitter(b->world, &def);
}

static talus_status add_probe(tl_builder *b, const tl_scene_probe *probe) {
  talus_probe_def def = {.name = probe->name,
                         .on_body = probe->body != NULL,
                         .record = probe->record,
                         .sizes = probe->sizes.data,
                         .size_count = probe->sizes.count,
                         .every = probe->every};
  uint32_t row;
  def.on_joint = probe->joint != NULL;
  if (probe->body)
    TL_TRY(talus_world_find_body(b->world, probe->body, &def.body));
  else if (probe->joint)
    TL_TRY(talus_world_find_joint(b->world, probe->joint, &def.joint));
  else
    def.region = tl_scene_region_of(&probe->region, &tl_schema_region);
  return talus_world_add_probe(b->world, &def, &row);
}

talus_status tl_build_flow(tl_builder *b, bool all_there) {
  const talus_scene *scene = b->scene;
  const tl_scene_emitter *emitters = scene->emit.data;
  const tl_scene_sink *sinks = scene->sinks.data;
  const tl_scene_probe *probes = scene->probes.data;
  for (size_t i = 0; i < scene->emit.count; ++i) {
    if (!tl_build_has_shape(b, &emitters[i].shape))
      continue;
    const talus_status status = add_emitter(b, &emitters[i]);
    TL_TRY(tl_build_gather(b, status, &emitters[i].object, "emit", i, ""));
  }
  for (size_t i = 0; i < scene->sinks.count; ++i) {
    const talus_region region = tl_scene_region_of(&sinks[i].in, &tl_schema_region);
    talus_status status = talus_world_add_sink(b->world, sinks[i].name, &region);
    if (status == TALUS_OK && sinks[i].recycle)
      status = talus_world_recycle(b->world, sinks[i].name, sinks[i].recycle);
    TL_TRY(tl_build_gather(b, status, &sinks[i].object, "sinks", i, ""));
  }
  for (size_t i = 0; i < scene->probes.count && all_there; ++i)
    TL_TRY(tl_build_gather(b, add_probe(b, &probes[i]), &probes[i].object, "probes", i, ""));
  const tl_scene_zone *zones = scene->zones.data;
  for (size_t i = 0; i < scene->zones.count && all_there; ++i)
    TL_TRY(tl_build_gather(b, tl_scene_add_zone(b->world, &zones[i]), &zones[i].object, "zones", i,
                           ""));
  const tl_scene_average *averages = scene->averages.data;
  for (size_t i = 0; i < scene->averages.count && all_there; ++i)
    TL_TRY(tl_build_gather(b, tl_scene_add_average(b->world, &averages[i]), &averages[i].object,
                           "averages", i, ""));
  return TALUS_OK;
}
