/* Shapes of a scene: from its structs to a world. */
#ifndef TL_SCENE_SHAPES_H
#define TL_SCENE_SHAPES_H

#include <talus/mesh.h>

#include "scene/schema.h"

/* Triangles of a mesh file that go through each other, and the first two, by their numbers. */
typedef struct tl_scene_crossings {
  size_t count;
  uint32_t first[2];
} tl_scene_crossings;

/* Adds it to the world; reads its file of points where it has one. Messages begin with the place in
 * the scene. */
talus_status tl_scene_add_shape(const talus_scene *scene, const tl_scene_shape *shape,
                                talus_world *world, talus_shape *made,
                                tl_scene_crossings *crossings);

/* The shape as a definition, which borrows from the scene; points and triangles that stand in a
 * file or are made go to *lists, which the caller frees (in every case). */
talus_status tl_scene_define_shape(const talus_scene *scene, const tl_scene_shape *shape,
                                   talus_shape_def *def, talus_mesh *lists);

/* What is wrong with a shape without a file, in the words of the call that makes it; NULL: nothing.
 * Valid until the next failure. TALUS_ERROR_MEMORY: it could not be seen. */
talus_status tl_scene_shape_fault(const tl_scene_shape *shape, const char **fault);

/* The shape as it would be written: equal shapes, equal text. */
talus_status tl_scene_write_shape(const talus_scene *scene, const tl_scene_shape *shape,
                                  tl_text *text);

/* About how large a shape is, for warnings: half its least width, its bounding radius about the
 * centre of mass, its volume, half its box in its own frame. False where that would take reading a
 * file, or the shape is no shape. */
typedef struct tl_scene_size_of {
  double inner, radius, volume, half[3];
} tl_scene_size_of;

bool tl_scene_shape_size(const tl_scene_shape *shape, tl_scene_size_of *size);

#endif
