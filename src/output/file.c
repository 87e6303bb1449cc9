#include "output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define SUFFIX ".part"

/* One call of write(2) moves at most this much: far below the 2 GiB that Linux takes at once. */
#define CHUNK ((size_t)1 << 26)

talus_status tl_file_fail(int error, const char *path, const char *done) {
  const char *why = NULL;
  char text[160];
  switch (error) {
  case ENOSPC:
  case EDQUOT:
    why = "the disk is full; make room and try again";
    break;
  case EROFS:
    why = "the file system is read-only; choose another place";
    break;
  case EACCES:
  case EPERM:
    why = "permission denied; choose another place or change the rights";
    break;
  case ENOENT:
    why = "the file, or the folder it should be in, does not exist";
    break;
  case ENOTDIR:
    why = "a part of the path is not a folder";
    break;
  case EISDIR:
    why = "it is a folder";
    break;
  case EFBIG:
    why = "it would be larger than this file system or this process may write";
    break;
  case ENAMETOOLONG:
    why = "the name is too long";
    break;
  case EIO:
    why = "the disk reports an input/output error";
    break;
  default:
    if (strerror_r(error, text, sizeof text) != 0)
      snprintf(text, sizeof text, "system error %d", error);
    why = text;
  }
  return tl_fail(TALUS_ERROR_IO, "%s: could not be %s: %s", path, done, why);
}

/* 0 or errno. */
static int write_all(int fd, const unsigned char *data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(fd, data, bytes < CHUNK ? bytes : CHUNK);
    if (written < 0) {
      if (errno == EINTR)
        continue;
      return errno;
    }
    data += written;
    bytes -= (size_t)written;
  }
  return 0;
}

/* Creates `aside` with the bytes in it and on the disk. 0 or errno. */
static int write_aside(const char *aside, const void *data, size_t bytes) {
  const int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0)
    return errno;
  int error = write_all(fd, data, bytes);
  if (error == 0 && fsync(fd) != 0)
    error = errno;
  /* Network file systems may report a full disk as late as here. */
  if (close(fd) != 0 && error == 0 && errno != EINTR)
    error = errno;
  if (error != 0)
    unlink(aside);
  return error;
}

/* Makes a rename in `folder` last. 0 or errno. */
static int flush_folder(const char *folder) {
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return errno == EACCES ? 0 : errno; /* may be written to and not read: nothing to flush with */
  int error = fsync(fd) == 0 ? 0 : errno;
  if (error == EINVAL || error == ENOTSUP)
    error = 0; /* this file system has no such thing */
  close(fd);
  return error;
}

/* text = path with its last component cut off. */
static void folder_of(const char *path, char *text) {
  const char *slash = strrchr(path, '/');
  const size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
  memcpy(text, path, length);
  strcpy(text + length, length == 0 ? "." : "");
}

static talus_status write_and_rename(const char *path, char *scratch, const void *data,
                                     size_t bytes) {
  char *aside = scratch, *folder = scratch;
  strcpy(aside, path);
  strcat(aside, SUFFIX);
  int error = write_aside(aside, data, bytes);
  if (error == 0 && rename(aside, path) != 0) {
    error = errno;
    unlink(aside);
  }
  folder_of(path, folder);
  if (error == ENOENT)
    return tl_fail(TALUS_ERROR_IO,
                   "%s: could not be written: there is no folder '%s'; make it first", path,
                   folder);
  if (error == 0)
    error = flush_folder(folder);
  return error == 0 ? TALUS_OK : tl_file_fail(error, path, "written");
}

talus_status tl_file_write(const char *path, const void *data, size_t bytes) {
  if (path == NULL || path[0] == '\0')
    return tl_fail(TALUS_ERROR_INVALID, "a file to write needs a name");
  /* A rename would replace a device or a pipe, which nobody means by naming one. */
  struct stat there;
  if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
    return S_ISDIR(there.st_mode)
               ? tl_file_fail(EISDIR, path, "written")
               : tl_fail(TALUS_ERROR_IO, "%s: could not be written: it is not a plain file", path);
  void *scratch = NULL;
  const size_t room = strlen(path) + sizeof SUFFIX + 1;
  TL_TRY(tl_resize(&scratch, 0, room));
  const talus_status status = write_and_rename(path, scratch, data, bytes);
  (void)tl_resize(&scratch, room, 0); /* freeing cannot fail */
  return status;
}
