/* `- from: FOLDER/`: the bodies at the end of another run. */
#ifndef TL_SCENE_FROM_H
#define TL_SCENE_FROM_H

#include "scene/scene.h"

/* Names of the materials of other runs; copies. */
typedef struct tl_from_names {
  char **data;
  size_t count, capacity;
} tl_from_names;
talus_status tl_from_names_add(tl_from_names *names, const char *name); /* each once */
void tl_from_names_free(tl_from_names *names);

/* Adds every body of FOLDER/checkpoint.hdf. `materials` (name to row of the world) are the scene's
 * own: where a body's material has the name of one of them, that one is meant. Names of the run's
 * materials go to `seen`. */
talus_status tl_from_add_bodies(talus_world *world, const char *folder, const tl_names *materials,
                                tl_from_names *seen);

/* Whether a material of a scene that takes bodies from other runs is that of anything: of a body of
 * the scene, or of a run (`seen`). Otherwise it is likely to be misspelt, and bodies have kept what
 * they had: TALUS_ERROR_INVALID with the name that may be meant. */
talus_status tl_from_check_material(const talus_scene *scene, const char *name,
                                    const tl_from_names *seen);

/* Adds every body of another world, in its order, with pose, velocity, spin, shape, material,
 * scale, mass, name, group, lock and loads. Fixed bodies stay fixed; a scripted motion goes on
 * where it was. Names of its materials go to `seen`. In world/borrow.c: a stage does not look into
 * worlds. */
talus_status tl_world_borrow(talus_world *world, const talus_world *old, const tl_names *materials,
                             tl_from_names *seen);

#endif
