/* The built-in scenes: every scenes/NAME.yaml, embedded by the build (cmake/embed_scenes.cmake), so
 * that `talus run NAME` works without any file of ours installed. */
#ifndef TL_SCENE_BUILTIN_H
#define TL_SCENE_BUILTIN_H

#include <stddef.h>

typedef struct tl_builtin_scene {
  const char *name; /* file name without .yaml */
  const char *text; /* the file, byte for byte, and a terminating zero */
} tl_builtin_scene;

/* Sorted by name; after tl_builtin_scene_count entries comes {NULL, NULL}. */
extern const tl_builtin_scene tl_builtin_scenes[];
extern const size_t tl_builtin_scene_count;

#endif
