/* A text file that only grows: history.csv and the probes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

/* Where line number `keep` ends. */
static talus_status find_end(tl_lines *lines, uint64_t keep, off_t *end) {
  char block[1 << 14];
  uint64_t seen = 0;
  *end = 0;
  for (off_t at = 0; seen < keep;) {
    const ssize_t n = pread(lines->fd, block, sizeof block, at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl_file_fail(errno, lines->path, "read");
    if (n == 0)
      return tl_fail(TALUS_ERROR_FORMAT,
                     "%s has %llu whole lines, and the checkpoint beside it counts %llu; it was "
                     "changed, so the run can only begin anew (--force)",
                     lines->path, (unsigned long long)seen, (unsigned long long)keep);
    for (ssize_t i = 0; i < n && seen < keep; ++i)
      if (block[i] == '\n') {
        seen++;
        *end = at + i + 1;
      }
    at += n;
  }
  return TALUS_OK;
}

talus_status tl_lines_open(tl_lines *lines, int folder, size_t skip, const char *path,
                           uint64_t keep) {
  *lines = (tl_lines){.fd = -1};
  TL_TRY(tl_copy_text(path, &lines->path));
  lines->fd = openat(folder, path + skip,
                     O_RDWR | (keep > 0 ? 0 : O_CREAT) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (lines->fd < 0 && errno == ENOENT && keep > 0)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s is gone, and the checkpoint beside it counts %llu lines of it; the run can "
                   "only begin anew (--force)",
                   path, (unsigned long long)keep);
  if (lines->fd < 0)
    return tl_file_fail(errno, path, "opened");
  TL_TRY(find_end(lines, keep, &lines->bytes));
  if (ftruncate(lines->fd, lines->bytes) != 0)
    return tl_file_fail(errno, path, "cut back");
  lines->count = keep;
  return TALUS_OK;
}

talus_status tl_lines_add(tl_lines *lines, const char *text, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pwrite(lines->fd, text + done, bytes - done, lines->bytes + (off_t)done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      const int error = errno;
      if (ftruncate(lines->fd, lines->bytes) != 0) {
        /* What was written stays; a resumed run cuts it off. */
      }
      return tl_file_fail(error, lines->path, "written");
    }
    done += (size_t)n;
  }
  lines->bytes += (off_t)bytes;
  for (size_t i = 0; i < bytes; ++i)
    lines->count += text[i] == '\n';
  return TALUS_OK;
}

talus_status tl_lines_sync(tl_lines *lines) {
  if (fsync(lines->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    return tl_file_fail(errno, lines->path, "written");
  return TALUS_OK;
}

talus_status tl_lines_first(const tl_lines *lines, char *line, size_t size) {
  size_t got = 0;
  while (got + 1 < size) {
    const ssize_t n = pread(lines->fd, line + got, size - 1 - got, (off_t)got);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl_file_fail(errno, lines->path, "read");
    if (n == 0)
      break;
    got += (size_t)n;
  }
  line[got] = '\0';
  line[strcspn(line, "\n")] = '\0';
  return TALUS_OK;
}

talus_status tl_lines_last(const tl_lines *lines, char *line, size_t size) {
  char block[4096];
  const off_t from = lines->bytes > (off_t)sizeof block ? lines->bytes - (off_t)sizeof block : 0;
  const size_t held = (size_t)(lines->bytes - from);
  for (size_t done = 0; done < held;) {
    const ssize_t n = pread(lines->fd, block + done, held - done, from + (off_t)done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return tl_file_fail(n < 0 ? errno : EIO, lines->path, "read");
    done += (size_t)n;
  }
  size_t end = held > 0 ? held - 1 : 0, start = end;
  while (start > 0 && block[start - 1] != '\n')
    start--;
  const size_t length = end - start < size ? end - start : size - 1;
  memcpy(line, block + start, length);
  line[length] = '\0';
  return TALUS_OK;
}

void tl_lines_close(tl_lines *lines) {
  if (lines->path && lines->fd >= 0)
    close(lines->fd);
  void *path = lines->path;
  if (path)
    (void)tl_resize(&path, strlen(lines->path) + 1, 0); /* freeing cannot fail */
  *lines = (tl_lines){.fd = -1};
}

#endif
