/* Writes start files (scene/start.h). */
#include "scene/start.h"

#include "run/run.h"
#include "scene/files.h"

#if TALUS_HAVE_HDF5

talus_status talus_scene_save(const talus_scene *scene, talus_world *world, const char *path) {
  TL_NEED(scene);
  TL_NEED(path);
  TL_MAY_CHANGE(world);
  if (world->steps > 0 || world->time > 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a start file holds a world at time 0, and this one is at %g s", path,
                   world->time);
  tl_run run = {.scene = scene, .folder = -1};
  TL_ARRAY(uint64_t) hashes = {0};
  tl_text text = {0};
  talus_status status = tl_run_files_look(&run, true);
  for (size_t i = 0; i < run.files.count && status == TALUS_OK; ++i)
    status = tl_array_push(&hashes, run.files.data[i].hash);
  if (status == TALUS_OK)
    status = tl_start_pack(scene, hashes.data, hashes.count, &text);
  const tl_blob blob = {(unsigned char *)text.data, text.count};
  if (status == TALUS_OK)
    status = tl_output_save(world, path, NULL, &blob);
  tl_text_drop(&text);
  tl_array_free(&hashes);
  tl_run_files_free(&run);
  return status;
}

#else

talus_status talus_scene_save(const talus_scene *scene, talus_world *world, const char *path) {
  TL_NEED(scene);
  TL_NEED(world);
  TL_NEED(path);
  return tl_output_save(world, path, NULL, NULL);
}

#endif
