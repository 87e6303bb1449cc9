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

/* Whether a material of a scene that takes bodies from other runs is that of anything: of a body of
 * the scene, or of a run (`seen`). Otherwise it is likely to be misspelt, and bodies have kept what
 * they had: TALUS_ERROR_INVALID with the name that may be meant. */
talus_status tl_from_check_material(const talus_scene *scene, const char *name,
                                    const tl_from_names *seen);

/* Emitters and sinks of another world that are still at work, as messages name them: "emitter
 * `spout`". In world/borrow.c. */
talus_status tl_world_list_flow(const talus_world *old, tl_from_names *list);

/* Takes the memory of so many more bodies, so that too many of them are refused at once. In
 * world/bodies.c. */
talus_status tl_world_expect(talus_world *world, uint64_t more);

/* Adds bodies of another world, in its order (talus_world_take). The first `own` materials of the
 * world replace those of the same name. Names of the other world's materials go to `seen` (may be
 * NULL). In world/borrow.c: a stage does not look into worlds. */
talus_status tl_world_borrow(talus_world *world, const talus_world *old, const talus_take_def *def,
                             size_t own, tl_from_names *seen);

#endif
