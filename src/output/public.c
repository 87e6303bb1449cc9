/* The public calls on files, and what they say where HDF5 is not built in. */
#include "output/output.h"

#include "base/memory.h"
#include "world/world.h"
#include <talus/talus.h>

#if !TALUS_HAVE_HDF5

static talus_status unsupported(const char *path) {
  return tl_fail(TALUS_ERROR_UNSUPPORTED,
                 "%s: this talus was built without HDF5, which frames, contacts and checkpoints "
                 "need; install libhdf5-dev and build again",
                 path);
}

talus_status tl_output_write_frame(struct talus_world *world, const char *path, tl_file *keep,
                                   unsigned fields) {
  (void)world, (void)keep, (void)fields;
  return unsupported(path);
}

talus_status tl_output_write_contacts(struct talus_world *world, const char *path, tl_file *keep) {
  (void)world, (void)keep;
  return unsupported(path);
}

talus_status tl_output_write_surfaces(struct talus_world *world, const char *path, tl_file *keep) {
  (void)world, (void)keep;
  return unsupported(path);
}

talus_status tl_output_write_average(struct talus_world *world, uint32_t average, const char *path,
                                     tl_file *keep) {
  (void)world, (void)average, (void)keep;
  return unsupported(path);
}

talus_status tl_output_save(struct talus_world *world, const char *path, tl_file *keep,
                            const tl_blob *blob) {
  (void)world, (void)keep, (void)blob;
  return unsupported(path);
}

talus_status tl_output_load(const char *path, struct talus_world **world, tl_blob *blob) {
  *world = NULL;
  if (blob)
    *blob = (tl_blob){0};
  return unsupported(path);
}

talus_status tl_output_load_blob(const char *path, tl_blob *blob) {
  *blob = (tl_blob){0};
  return unsupported(path);
}

#endif

static talus_status check_path(const char *path) {
  if (path == NULL || path[0] == '\0')
    return tl_fail(TALUS_ERROR_INVALID, "the name of the file is missing");
  return TALUS_OK;
}

talus_status talus_world_save(talus_world *world, const char *path) {
  TL_MAY_CHANGE(world);
  TL_TRY(check_path(path));
  return tl_output_save(world, path, NULL, NULL);
}

talus_status talus_average_write(talus_world *world, uint32_t average, const char *path) {
  TL_MAY_CHANGE(world);
  TL_TRY(check_path(path));
  return tl_output_write_average(world, average, path, NULL);
}

talus_status talus_world_load(const char *path, talus_world **world) {
  TL_NEED(world);
  *world = NULL;
  TL_TRY(check_path(path));
  return tl_output_load(path, world, NULL);
}

talus_status talus_world_write_frame(talus_world *world, const char *path) {
  TL_MAY_CHANGE(world);
  TL_TRY(check_path(path));
  return tl_output_write_frame(world, path, NULL,
                               TL_FRAME_QUATERNION | TL_FRAME_VELOCITY | TL_FRAME_SPIN);
}

talus_status talus_world_write_contacts(talus_world *world, const char *path) {
  TL_MAY_CHANGE(world);
  TL_TRY(check_path(path));
  return tl_output_write_contacts(world, path, NULL);
}

talus_status talus_world_write_surfaces(talus_world *world, const char *path) {
  TL_MAY_CHANGE(world);
  TL_TRY(check_path(path));
  return tl_output_write_surfaces(world, path, NULL);
}
