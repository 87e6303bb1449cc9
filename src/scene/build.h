/* Parts of building a world that have files of their own. */
#ifndef TL_SCENE_BUILD_H
#define TL_SCENE_BUILD_H

#include "scene/schema.h"

/* Adds a joint; bodies are there already. */
talus_status tl_scene_add_joint(talus_world *world, const tl_scene_joint *joint);

/* A world with the materials of the scene and what holds between them, and nothing else. */
talus_status tl_scene_build_materials(const talus_scene *scene, talus_world **world);

#endif
