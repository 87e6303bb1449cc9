/* Files that a scene names beside itself: points of hulls, tables of motions and of bodies. */
#ifndef TL_SCENE_FILES_H
#define TL_SCENE_FILES_H

#include "scene/scene.h"

/* A path of the scene, from the scene's own folder, added to `path`. */
void tl_scene_add_path(tl_text *path, const talus_scene *scene, const char *file);

/* Hands `status` through; to the message of a file that cannot be read it adds where such paths
 * begin. */
talus_status tl_scene_told_path(talus_status status);

typedef struct tl_scene_file {
  char *path;
  bool is_table; /* of bodies: its rows may name files */
} tl_scene_file;

/* Each once, in the order of the scene: equal scenes, equal lists. The caller frees each path
 * (tl_string_free) and the array, in every case. */
typedef TL_ARRAY(tl_scene_file) tl_scene_files;
talus_status tl_scene_list_files(const talus_scene *scene, tl_scene_files *files);

#endif
