#define _XOPEN_SOURCE 700 /* realpath */
#include "output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "output/disk.h"

#define SUFFIX ".part"
#define TRIES  8 /* attempts to create a .part that another process creates and removes */

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

/* ---- where ----------------------------------------------------------------------------------- */

typedef enum target { PLAIN, THROUGH } target;

static talus_status refuse_kind(const char *name, mode_t mode) {
  if (S_ISDIR(mode))
    return tl_file_fail(EISDIR, name, "written");
  return tl_fail(TALUS_ERROR_IO, "%s: could not be written: it is %s", name,
                 S_ISBLK(mode) ? "a disk, and no file on one" : "not a plain file");
}

/* Finds out what has that name, and the permissions that a new file takes over (0: there is none).
 */
static talus_status look(const tl_file *file, const char *name, target *kind, bool *link,
                         mode_t *rights) {
  const bool own = file->folder != AT_FDCWD;
  struct stat there;
  *kind = PLAIN;
  *link = false;
  *rights = 0;
  if (fstatat(file->folder, name + file->skip, &there, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? TALUS_OK : tl_file_fail(errno, name, "written");
  if (S_ISLNK(there.st_mode)) {
    if (own)
      return TALUS_OK;
    if (stat(name, &there) != 0)
      return errno == ENOENT
                 ? tl_fail(TALUS_ERROR_IO,
                           "%s: could not be written: it is a link to what is not there; remove it",
                           name)
                 : tl_file_fail(errno, name, "written");
    *link = true;
  }
  if (S_ISREG(there.st_mode)) {
    *rights = there.st_mode & 0777;
    return TALUS_OK;
  }
  if (own || !(S_ISCHR(there.st_mode) || S_ISFIFO(there.st_mode)))
    return refuse_kind(name, there.st_mode);
  *kind = THROUGH;
  return TALUS_OK;
}

/* text = path with its last component cut off. */
static void folder_of(const char *path, char *text) {
  const char *slash = strrchr(path, '/');
  const size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
  memcpy(text, path, length);
  strcpy(text + length, length == 0 ? "." : "");
}

static void release(tl_file *file) {
  void *block = file->name;
  if (block)
    (void)tl_resize(&block, file->bytes, 0); /* freeing cannot fail */
  *file = (tl_file){.fd = -1, .folder = file->folder, .skip = file->skip};
}

/* One block for the three names. */
static talus_status keep_names(tl_file *file, const char *name, const char *path, target kind) {
  const size_t n = strlen(name) + 1, m = strlen(path) + 1;
  void *block = NULL;
  file->bytes = n + 2 * m + sizeof SUFFIX;
  TL_TRY(tl_resize(&block, 0, file->bytes));
  file->name = block;
  file->path = file->name + n;
  memcpy(file->name, name, n);
  memcpy(file->path, path, m);
  if (kind == PLAIN) {
    file->part = file->path + m;
    memcpy(file->part, path, m);
    strcat(file->part, SUFFIX);
  }
  return TALUS_OK;
}

static talus_status set_names(tl_file *file, const char *name, target kind, bool link) {
  if (!link || kind == THROUGH)
    return keep_names(file, name, name + file->skip, kind);
  char *real = realpath(name, NULL);
  if (!real)
    return tl_file_fail(errno, name, "written");
  const talus_status status = keep_names(file, name, real, kind);
  free(real);
  return status;
}

/* ---- aside ----------------------------------------------------------------------------------- */

/* Removes what a killed process left, and nothing else. */
static talus_status remove_stale(const tl_file *file) {
  const int fd = openat(file->folder, file->part, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT)
    return TALUS_OK;
  struct stat there;
  const bool plain = fd >= 0 && fstat(fd, &there) == 0 && S_ISREG(there.st_mode);
  const int error = plain ? tl_disk_lock_file(fd) : errno;
  talus_status status = TALUS_OK;
  if (plain && error == EAGAIN)
    status = tl_fail(TALUS_ERROR_IO, "%s: another process is writing this file; wait for it",
                     file->name);
  else if (!plain && (fd >= 0 || error == ELOOP || error == ENXIO || error == EISDIR))
    status = tl_fail(TALUS_ERROR_IO,
                     "%s: could not be written: what is written aside would be %s, and that is "
                     "there and no plain file; remove it",
                     file->name, file->part);
  else if (error != 0)
    status = tl_file_fail(error, file->part, "removed");
  else if (fstat(fd, &there) != 0 ||
           (there.st_nlink > 0 && unlinkat(file->folder, file->part, 0) != 0))
    status = tl_file_fail(errno, file->part, "removed");
  if (fd >= 0)
    close(fd);
  return status;
}

static talus_status fail_to_open(const tl_file *file, int error, char *folder) {
  if (error != ENOENT)
    return tl_file_fail(error, file->name, "written");
  folder_of(file->path, folder);
  return tl_fail(TALUS_ERROR_IO, "%s: could not be written: there is no folder '%s'; make it first",
                 file->name, folder);
}

static talus_status open_aside(tl_file *file, mode_t rights) {
  for (int i = 0; file->fd < 0; ++i) {
    file->fd = openat(file->folder, file->part,
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file->fd < 0 && (errno != EEXIST || i == TRIES))
      return fail_to_open(file, errno, file->part);
    if (file->fd < 0)
      TL_TRY(remove_stale(file));
  }
  const int error = tl_disk_lock_file(file->fd);
  if (error == EAGAIN) { /* another process took our file for a stale one and removes it */
    close(file->fd);
    file->fd = -1;
    return tl_fail(TALUS_ERROR_IO, "%s: another process is writing this file; wait for it",
                   file->name);
  }
  if (error != 0 || (rights != 0 && fchmod(file->fd, rights) != 0)) {
    const talus_status status = tl_file_fail(error != 0 ? error : errno, file->name, "written");
    unlinkat(file->folder, file->part, 0);
    close(file->fd);
    return status;
  }
  return TALUS_OK;
}

tl_file tl_file_given(void) { return (tl_file){.fd = -1, .folder = AT_FDCWD}; }

tl_file tl_file_own(int folder, size_t skip) {
  return (tl_file){.fd = -1, .folder = folder, .skip = skip};
}

talus_status tl_file_begin(tl_file *file, const char *name) {
  if (name == NULL || name[0] == '\0')
    return tl_fail(TALUS_ERROR_INVALID, "a file to write needs a name");
  target kind;
  bool link;
  mode_t rights;
  TL_TRY(look(file, name, &kind, &link, &rights));
  TL_TRY(set_names(file, name, kind, link));
  talus_status status = TALUS_OK;
  if (kind == PLAIN)
    status = open_aside(file, rights);
  else if ((file->fd = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC)) < 0)
    status = tl_file_fail(errno, name, "written");
  if (status != TALUS_OK)
    release(file);
  return status;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

talus_status tl_file_put(tl_file *file, const void *data, size_t bytes) {
  const unsigned char *at = data;
  while (bytes > 0) {
    const ssize_t written = write(file->fd, at, bytes < CHUNK ? bytes : CHUNK);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return tl_file_fail(errno, file->name, "written");
    at += written;
    bytes -= (size_t)written;
  }
  return TALUS_OK;
}

talus_status tl_file_stream(tl_file *file, FILE **stream) {
  const int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
  *stream = fd < 0 ? NULL : fdopen(fd, "w");
  if (*stream)
    return TALUS_OK;
  const int error = errno;
  if (fd >= 0)
    close(fd);
  return tl_file_fail(error, file->name, "written");
}

/* ---- the end --------------------------------------------------------------------------------- */

talus_status tl_file_sync(tl_file *file) {
  if (!file->part || fsync(file->fd) == 0)
    return TALUS_OK;
  return tl_file_fail(errno, file->name, "written");
}

void tl_file_drop(tl_file *file) {
  if (file->fd >= 0) {
    if (file->part)
      unlinkat(file->folder, file->part, 0);
    close(file->fd);
  }
  release(file);
}

/* The file is renamed before it is closed, because closing releases its lock. */
talus_status tl_file_place(tl_file *file) {
  if (file->part && renameat(file->folder, file->part, file->folder, file->path) != 0) {
    const talus_status status = tl_file_fail(errno, file->name, "written");
    tl_file_drop(file);
    return status;
  }
  /* Network file systems may report a full disk as late as here. */
  const talus_status status = close(file->fd) == 0 || errno == EINTR
                                  ? TALUS_OK
                                  : tl_file_fail(errno, file->name, "written");
  release(file);
  return status;
}

talus_status tl_folder_sync(int folder, const char *name) {
  /* Some file systems have no such thing. */
  if (fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP)
    return TALUS_OK;
  return tl_file_fail(errno, name, "written");
}

static talus_status sync_folder_at(int at, const char *folder) {
  const int fd = openat(at, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == EACCES)
    return TALUS_OK; /* may be writable but not readable: there is no descriptor to flush with */
  if (fd < 0)
    return tl_file_fail(errno, folder, "opened");
  const talus_status status = tl_folder_sync(fd, folder);
  close(fd);
  return status;
}

talus_status tl_file_sync_name(const char *path) {
  void *folder = NULL;
  const size_t bytes = strlen(path) + 2;
  TL_TRY(tl_resize(&folder, 0, bytes));
  folder_of(path, folder);
  const talus_status status = sync_folder_at(AT_FDCWD, folder);
  (void)tl_resize(&folder, bytes, 0); /* freeing cannot fail */
  return status;
}

talus_status tl_file_end(tl_file *file, talus_status status) {
  if (status == TALUS_OK)
    status = tl_file_sync(file);
  if (status != TALUS_OK) {
    tl_file_drop(file);
    return status;
  }
  if (!file->part)
    return tl_file_place(file);
  void *folder = NULL;
  const size_t bytes = strlen(file->path) + 2;
  status = tl_resize(&folder, 0, bytes);
  if (status != TALUS_OK) {
    tl_file_drop(file);
    return status;
  }
  folder_of(file->path, folder);
  status = tl_file_place(file);
  if (status == TALUS_OK)
    status = sync_folder_at(file->folder, folder);
  (void)tl_resize(&folder, bytes, 0); /* freeing cannot fail */
  return status;
}

talus_status tl_file_write(tl_file file, const char *path, const void *data, size_t bytes) {
  TL_TRY(tl_file_begin(&file, path));
  return tl_file_end(&file, tl_file_put(&file, data, bytes));
}
