#include "scene/builtin.h"

#include "scene/text.h"
#include <talus/scene.h>

size_t talus_builtin_count(void) { return tl_builtin_scene_count; }

/* The first line of each text is its comment. Each thread has its own copy of it, so that a pointer
 * stays valid. */
#define ABOUT_ROWS  64
#define ABOUT_BYTES 160
static _Thread_local char about_text[ABOUT_ROWS][ABOUT_BYTES];

void talus_builtin_get(size_t i, const char **name, const char **about, const char **text) {
  if (i >= tl_builtin_scene_count) {
    (void)tl_fail(TALUS_ERROR_INVALID, "there is no built-in scene %zu, only %zu", i,
                  tl_builtin_scene_count);
    if (name)
      *name = NULL;
    if (about)
      *about = NULL;
    if (text)
      *text = NULL;
    return;
  }
  const tl_builtin_scene *scene = &tl_builtin_scenes[i];
  if (name)
    *name = scene->name;
  if (text)
    *text = scene->text;
  if (!about)
    return;
  const char *line = scene->text + strspn(scene->text, "# ");
  size_t length = strcspn(line, "\r\n");
  if (length >= ABOUT_BYTES)
    length = ABOUT_BYTES - 1;
  char *copy = about_text[i % ABOUT_ROWS];
  memcpy(copy, line, length);
  copy[length] = '\0';
  *about = copy;
}
