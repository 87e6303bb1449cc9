/* The lock of a result folder: only one run at a time, in any process. The folder itself is locked,
 * so that deleting a file does not unlock it. The lock ends with the process, however that ends. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/disk.h"
#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

talus_status tl_run_is_in_use(tl_run *run, long holder) {
  char who[64] = "another run";
  if (holder == (long)getpid())
    snprintf(who, sizeof who, "another run of this process (%ld)", holder);
  else if (holder > 0)
    snprintf(who, sizeof who, "another run (process %ld)", holder);
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s: %s is writing to this folder; wait for it or choose another folder",
                 tl_run_folder(run), who);
}

/* Whether the folder that has this name now is the one that is locked. */
static talus_status compare(tl_run *run, bool *same) {
  struct stat held, named;
  const char *path = tl_run_folder(run);
  *same = false;
  if (fstat(run->folder, &held) != 0)
    return tl_file_fail(errno, path, "looked at");
  if (stat(path, &named) != 0)
    return errno == ENOENT || errno == ENOTDIR ? TALUS_OK : tl_file_fail(errno, path, "looked at");
  *same = held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  return TALUS_OK;
}

static talus_status lock(tl_run *run, bool *same) {
  const int error = tl_disk_lock_folder(run->folder);
  if (error == EAGAIN)
    return tl_run_is_in_use(run, tl_disk_folder_holder(run->folder));
  if (error != 0)
    return tl_file_fail(error, tl_run_folder(run), "locked");
  return compare(run, same);
}

talus_status tl_run_folder_lock(tl_run *run, bool *is_there) {
  const char *path = tl_run_folder(run);
  for (*is_there = false; !*is_there;) {
    run->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->folder < 0 && errno == ENOENT)
      return TALUS_OK;
    if (run->folder < 0 && errno == ENOTDIR)
      return tl_fail(TALUS_ERROR_INVALID, "%s is a file; the results need a folder", path);
    if (run->folder < 0)
      return tl_file_fail(errno, path, "opened");
    /* Another process may have moved the folder between the two calls. */
    const talus_status status = lock(run, is_there);
    if (status != TALUS_OK || !*is_there)
      tl_run_folder_unlock(run);
    TL_TRY(status);
  }
  return TALUS_OK;
}

void tl_run_folder_unlock(tl_run *run) {
  if (run->folder >= 0)
    close(run->folder);
  run->folder = -1;
}

talus_status tl_run_folder_check(tl_run *run) {
  bool same;
  TL_TRY(compare(run, &same));
  return same
             ? TALUS_OK
             : tl_fail(TALUS_ERROR_IO, "%s: the folder was removed while the run was writing to it",
                       tl_run_folder(run));
}

#endif
