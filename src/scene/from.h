/* `- from: FOLDER/`: the bodies at the end of another run. */
#ifndef TL_SCENE_FROM_H
#define TL_SCENE_FROM_H

#include "scene/text.h"
#include <talus/talus.h>

/* Adds every body of FOLDER/checkpoint.hdf. `materials` (name to row of the world) are the scene's
 * own: where a body's material has the name of one of them, that one is meant. */
talus_status tl_from_add_bodies(talus_world *world, const char *folder, const tl_names *materials);

/* Adds every body of another world, in its order, with pose, velocity, spin, shape, material,
 * scale, mass, name, group, lock and loads. Fixed bodies stay fixed; a scripted motion goes on
 * where it was. In world_borrow.c: a stage does not look into worlds. */
talus_status tl_world_borrow(talus_world *world, const talus_world *old, const tl_names *materials);

#endif
