/* `- from: FOLDER/`: the bodies at the end of another run. */
#ifndef TL_SCENE_FROM_H
#define TL_SCENE_FROM_H

#include "scene/text.h"
#include <talus/talus.h>

/* Adds every body of FOLDER/checkpoint.hdf with pose, velocity, spin, shape, material, scale, mass,
 * name, group, lock and loads, in the order they have there. Fixed bodies stay fixed; a scripted
 * motion goes on where it was. `materials` (name to row of the world) are the scene's own: where a
 * body's material has the name of one of them, that one is meant. */
talus_status tl_from_add_bodies(talus_world *world, const char *folder, const tl_names *materials);

#endif
