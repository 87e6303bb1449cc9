/* The files that a scene names. The checkpoint has their checksums, and a resumed run warns if a
 * file has changed. */
#include "base/hash.h"
#include "base/input.h"
#include "run/run.h"
#include "scene/files.h"

#if TALUS_HAVE_HDF5 && TALUS_HAVE_YAML

static talus_status hash_file(const char *path, uint64_t *hash) {
  tl_bytes bytes = {0};
  *hash = 0;
  const talus_status status = tl_input_load(path, &bytes);
  if (status == TALUS_OK) {
    *hash = tl_xxh64(bytes.data ? bytes.data : "", bytes.count, 0);
    *hash += *hash == 0; /* 0 stands for a file that cannot be read */
  }
  tl_array_free(&bytes);
  return status;
}

talus_status tl_run_files_look(tl_run *run, bool all) {
  tl_scene_files paths = {0};
  talus_status status = tl_scene_list_files(run->scene, &paths);
  if (status == TALUS_OK)
    status = tl_array_reserve(&run->files, paths.count);
  for (size_t i = 0; i < paths.count; ++i) {
    if (status != TALUS_OK) {
      tl_string_free(&paths.data[i]);
      continue;
    }
    tl_run_file *file = &run->files.data[run->files.count++];
    file->path = paths.data[i];
    const talus_status read = hash_file(file->path, &file->hash);
    status = all ? read : TALUS_OK;
  }
  tl_array_free(&paths);
  return status;
}

void tl_run_files_compare(tl_run *run, const uint64_t *stored) {
  for (size_t i = 0; i < run->files.count; ++i) {
    tl_run_file *file = &run->files.data[i];
    if (file->hash != 0 && file->hash != stored[i])
      tl_run_log_add(&run->log, TL_LOG_WARN,
                     "the run uses the copy stored with it; %s has changed since (--force begins "
                     "anew, with the file as it is now)",
                     file->path);
    file->hash = stored[i]; /* the next resumed run warns of it too */
  }
}

void tl_run_files_free(tl_run *run) {
  for (size_t i = 0; i < run->files.count; ++i)
    tl_string_free(&run->files.data[i].path);
  tl_array_free(&run->files);
}

#endif
