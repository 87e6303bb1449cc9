/* What is promised of any scene text and any settings, for the targets that read scenes. */
#ifndef TESTS_FUZZ_SCENE_H
#define TESTS_FUZZ_SCENE_H

#include <string.h>

#include "fuzz.h"
#include "scene/scene.h"

/* Messages go to terminals: one line each, nothing that a terminal would obey. */
static void promise_clean(const char *text) {
  for (const char *s = text; *s; ++s)
    PROMISE((unsigned char)*s >= 0x20 ? *s != 0x7f : *s == '\n' || *s == '\t',
            "byte 0x%02x in a message: %s", (unsigned)(unsigned char)*s, text);
}

static void promise_refused(talus_status status, const talus_scene *scene, const char *problems) {
  PROMISE(scene == NULL, "a scene was handed out with status %d", (int)status);
  PROMISE(status == TALUS_ERROR_FORMAT, "status %d: %s", (int)status, talus_last_error());
  PROMISE(problems != NULL && strchr(problems, '\n') != NULL, "refused without a reason");
  promise_clean(problems);
  promise_clean(talus_last_error());
  PROMISE(strchr(talus_last_error(), '\n') == NULL, "a message of two lines: %s",
          talus_last_error());
}

/* What is written loads to the same scene. */
static void promise_round_trip(const talus_scene *scene) {
  char *text = NULL, *again = NULL, *problems = NULL;
  talus_scene *copy = NULL;
  PROMISE(talus_scene_write(scene, &text) == TALUS_OK, "%s", talus_last_error());
  const talus_status status =
      talus_scene_parse(text, strlen(text), "written.yaml", NULL, NULL, 0, &copy, &problems);
  PROMISE(status == TALUS_OK, "%s\n%s", problems ? problems : talus_last_error(), text);
  PROMISE(talus_scene_write(copy, &again) == TALUS_OK, "%s", talus_last_error());
  PROMISE(strcmp(text, again) == 0, "written:\n%s\nwritten again:\n%s", text, again);
  talus_scene_free(copy);
  talus_text_free(text);
  talus_text_free(again);
}

/* Whether a world of it is made and stepped in no time. */
static bool is_small(const talus_scene *scene) {
  const tl_scene_body *bodies = scene->bodies.data;
  const tl_scene_emitter *emitters = scene->emit.data;
  double all = (double)scene->bodies.count;
  for (size_t i = 0; i < scene->bodies.count; ++i) {
    if (bodies[i].from)
      return false;
    if (bodies[i].fill)
      all += bodies[i].fill->fraction > 0 ? 1e9 : (double)bodies[i].fill->count;
  }
  for (size_t i = 0; i < scene->emit.count; ++i)
    all += emitters[i].rate * scene->step.dt;
  return all < 100 && scene->solve.iterations < 1000;
}

/* A world, or a reason in one line. */
static void promise_world(const talus_scene *scene) {
  talus_world *world = NULL;
  if (!is_small(scene))
    return;
  if (talus_scene_build(scene, 1, NULL, NULL, &world) == TALUS_OK &&
      talus_world_step(world, 2) == TALUS_OK)
    talus_world_hash(world);
  else
    promise_clean(talus_last_error());
  talus_world_destroy(world);
}

static void promise_scene(const char *text, size_t length, const char *const *settings, size_t n) {
  talus_scene *scene = NULL;
  char *problems = NULL;
  const talus_status status =
      talus_scene_parse(text, length, "fuzz.yaml", NULL, settings, n, &scene, &problems);
  if (status == TALUS_OK) {
    talus_scene_info info;
    talus_scene_get_info(scene, &info);
    promise_round_trip(scene);
    promise_world(scene);
  } else
    promise_refused(status, scene, problems);
  talus_text_free(problems);
  talus_scene_free(scene);
}

#endif
