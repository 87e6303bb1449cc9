/* Start files: a world at time 0 as a checkpoint holds it, and the scene that it was made of, so
 * that a run can begin where neither the scene's files nor libyaml are (docs/formats.md). */
#ifndef TL_SCENE_START_H
#define TL_SCENE_START_H

#include "output/output.h"
#include "scene/scene.h"

/* The bytes beside the world. `hashes` are those of the files that the scene names
 * (scene/files.h). */
talus_status tl_start_pack(const talus_scene *scene, const uint64_t *hashes, size_t n,
                           tl_text *text);

/* Whether the file begins like a checkpoint. */
bool tl_start_is_one(const char *path);

/* The scene of a start file; settings may change what a run may change when it goes on, but for
 * probes, which the world has. */
talus_status tl_start_load(const char *path, const char *const *settings, size_t n,
                           talus_scene **scene, char **problems);

/* Prepares a loaded world for a run of the scene, unless it is another scene's, or not at time 0:
 * runs look for what the scene names by its number. In world/world.c, because a stage does not look
 * into worlds. */
talus_status tl_world_begin(struct talus_world *world, const talus_scene *scene, int threads,
                            talus_log_fn *log, void *log_context);

#endif
