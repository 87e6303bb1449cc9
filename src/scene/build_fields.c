/* Averages and zones of a scene, in the world that is built of it. */
#include "scene/build.h"

talus_status tl_scene_add_average(talus_world *world, const tl_scene_average *average) {
  const tl_map *map = &tl_schema_grid;
  const tl_scene_grid *grid = &average->grid;
  const double *cells = grid->cells.data;
  talus_average_def def = talus_average_def_default();
  def.name = average->name;
  def.record = average->record;
  def.by_flights = average->sample != 0;
  if (average->wall)
    TL_TRY(talus_world_find_body(world, average->wall, &def.wall));
  if (tl_object_has(map, grid, "box")) {
    const double *b = grid->box;
    def.box = (talus_box){{b[0], b[1], b[2]}, {b[3], b[4], b[5]}};
    for (int k = 0; k < 3; ++k)
      def.cells[k] = (uint32_t)cells[k];
  } else if (tl_object_has(map, grid, "plane")) {
    def.grid = TALUS_GRID_PLANE;
    def.across = (uint32_t)grid->plane;
    def.box =
        (talus_box){{grid->x[0], grid->y[0], grid->z[0]}, {grid->x[1], grid->y[1], grid->z[1]}};
    for (uint32_t k = 0, i = 0; k < 3; ++k)
      def.cells[k] = k == def.across ? 1 : (uint32_t)cells[i++];
  } else {
    def.grid = TALUS_GRID_RZ;
    def.box = (talus_box){{0, 0, grid->z[0]}, {grid->radius, 0, grid->z[1]}};
    def.axis[0] = grid->at[0], def.axis[1] = grid->at[1];
    def.cells[0] = (uint32_t)cells[0], def.cells[2] = (uint32_t)cells[1];
  }
  return talus_world_add_average(world, &def, NULL);
}

talus_status tl_scene_add_zone(talus_world *world, const tl_scene_zone *zone) {
  talus_zone_def def = talus_zone_def_default();
  def.name = zone->name;
  if (zone->of.group) {
    def.of = TALUS_ZONE_GROUP;
    TL_TRY(talus_world_group(world, zone->of.group, &def.group));
  } else if (zone->of.body) {
    def.of = TALUS_ZONE_BODY;
    TL_TRY(talus_world_find_body(world, zone->of.body, &def.body));
  } else {
    def.at = (talus_dvec3){zone->of.at[0], zone->of.at[1], zone->of.at[2]};
  }
  if (zone->with)
    TL_TRY(talus_world_group(world, zone->with, &def.with));
  def.radius = zone->radius;
  if (tl_object_has(&tl_schema_zone, zone, "force"))
    def.strength = zone->force.strength, def.power = zone->force.power;
  def.shell = (talus_zone_shell)zone->shell;
  def.boundary = zone->boundary;
  def.trigger = zone->trigger;
  return talus_world_add_zone(world, &def, NULL);
}
