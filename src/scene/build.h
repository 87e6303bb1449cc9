/* Parts of building a world that have files of their own. */
#ifndef TL_SCENE_BUILD_H
#define TL_SCENE_BUILD_H

#include "scene/schema.h"

/* Adds a joint; bodies are there already. */
talus_status tl_scene_add_joint(talus_world *world, const tl_scene_joint *joint);

#endif
