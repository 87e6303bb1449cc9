/* Parts of building a world that have files of their own. */
#ifndef TL_SCENE_BUILD_H
#define TL_SCENE_BUILD_H

#include "scene/from.h"
#include "scene/schema.h"

static inline talus_vec3 tl_scene_vec3(const double v[3]) {
  return (talus_vec3){(talus_real)v[0], (talus_real)v[1], (talus_real)v[2]};
}

static inline talus_dvec3 tl_scene_dvec3(const double v[3]) {
  return (talus_dvec3){v[0], v[1], v[2]};
}

/* Adds a joint; bodies are there already. */
talus_status tl_scene_add_joint(const talus_scene *scene, talus_world *world,
                                const tl_scene_joint *joint);

/* Adds an average; bodies are there already. */
talus_status tl_scene_add_average(talus_world *world, const tl_scene_average *average);

/* Adds a zone, likewise. */
talus_status tl_scene_add_zone(talus_world *world, const tl_scene_zone *zone);

/* A world that has the materials of the scene and their pair laws, and nothing else. */
talus_status tl_scene_build_materials(const talus_scene *scene, talus_world **world);

talus_region tl_scene_region_of(const tl_scene_region *region, const tl_map *map);

/* The motions of a body as the scene gives them, and the tables that they name. */
#define TL_MOTIONS_MOST 64
typedef struct tl_scene_motions {
  talus_motion parts[TL_MOTIONS_MOST + 1]; /* of `count`, each with the next one */
  talus_table tables[TL_MOTIONS_MOST];
  size_t count;
} tl_scene_motions;
/* The caller frees it in every case. */
talus_status tl_scene_make_motions(const talus_scene *scene, const tl_items *motions,
                                   tl_scene_motions *made);
void tl_scene_free_motions(tl_scene_motions *made);

/* Reads the rows of a course that varies over time; `columns` includes the time. The caller frees
 * them with the second function. */
talus_status tl_scene_read_course(const talus_scene *scene, const tl_scene_course *course,
                                  int columns, talus_table *rows);
void tl_scene_free_course(const tl_scene_course *course, talus_table *rows);

/* Courses and press of the newest body. */
talus_status tl_scene_load_body(const talus_scene *scene, talus_world *world,
                                const tl_scene_body *body);

/* Adds the bodies of another run. Names of its materials go to `seen`, emitters and sinks that it
 * had to `flow`. */
talus_status tl_scene_add_from(const talus_scene *scene, talus_world *world,
                               const tl_names *materials, const tl_scene_from *from,
                               tl_from_names *seen, tl_from_names *flow);

#endif
