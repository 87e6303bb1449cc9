/* log.txt: what the run said, with the time of day. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "base/quote.h"
#include "output/disk.h"
#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

talus_status tl_run_log_open(tl_run_log *log, const char *path, bool *in_use) {
  *in_use = false;
  const int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0)
    return tl_file_fail(errno, path, "opened");
  const int error = tl_disk_lock_file(fd);
  *in_use = error == EAGAIN;
  if (error != 0) {
    close(fd);
    return *in_use ? TALUS_OK : tl_file_fail(error, path, "locked");
  }
  log->fd = fd;
  return TALUS_OK;
}

/* If the log cannot be written, the run continues without it and reports that once. */
static void complain(tl_run_log *log, int error) {
  char line[256], why[128];
  if (log->has_failed || !log->also)
    return;
  log->has_failed = true;
  if (strerror_r(error, why, sizeof why) != 0)
    snprintf(why, sizeof why, "system error %d", error);
  snprintf(line, sizeof line, "log.txt could not be written and lacks lines: %s", why);
  log->also(log->context, TL_LOG_WARN, line);
}

void tl_run_log_clear(tl_run_log *log) {
  if (ftruncate(log->fd, 0) != 0)
    complain(log, errno); /* it goes on below the old lines */
}

/* Part of the line that reports a checkpoint; the log is cut after this line. */
#define MARK " checkpoint: step %llu,"

void tl_run_log_cut(tl_run_log *log, uint64_t step) {
  const off_t size = lseek(log->fd, 0, SEEK_END);
  void *block = NULL;
  if (size <= 0 || tl_resize(&block, 0, (size_t)size + 1) != TALUS_OK)
    return;
  char *text = block, mark[64];
  size_t held = 0;
  for (ssize_t n; held < (size_t)size; held += (size_t)n)
    if ((n = pread(log->fd, text + held, (size_t)size - held, (off_t)held)) <= 0) {
      complain(log, n < 0 ? errno : EIO);
      break;
    }
  text[held] = '\0';
  snprintf(mark, sizeof mark, MARK, (unsigned long long)step);
  const char *last = NULL;
  for (const char *at = text; (at = strstr(at, mark)) != NULL; ++at)
    last = at;
  const char *end = last ? strchr(last, '\n') : NULL;
  if (end && ftruncate(log->fd, (off_t)(end + 1 - text)) != 0)
    complain(log, errno);                       /* the old lines stay */
  (void)tl_resize(&block, (size_t)size + 1, 0); /* freeing cannot fail */
}

static void put(tl_run_log *log, const char *text, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = write(log->fd, text, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      complain(log, errno);
      return;
    }
    text += n;
    bytes -= (size_t)n;
  }
}

void tl_run_log_line(void *context, int level, const char *line) {
  tl_run_log *log = context;
  char when[40] = "";
  const time_t now = time(NULL);
  struct tm parts;
  if (gmtime_r(&now, &parts))
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
  char shown[8192]; /* as long as messages get */
  tl_escape(line, shown, sizeof shown);
  tl_text_add(&log->pending, "%s %-7s %s\n", when, tl_log_level_name((tl_log_level)level), shown);
  if (log->fd >= 0 && log->pending.data) {
    put(log, log->pending.data, log->pending.count);
    log->pending.count = 0;
  }
  log->pending.status = TALUS_OK; /* a lost line stops nothing */
  if (log->also)
    log->also(log->context, level, line);
}

void tl_run_log_add(tl_run_log *log, int level, const char *fmt, ...) {
  char line[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  tl_run_log_line(log, level, line);
}

void tl_run_log_sync(tl_run_log *log) {
  if (log->fd >= 0 && fsync(log->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    complain(log, errno);
}

void tl_run_log_close(tl_run_log *log) {
  if (log->fd >= 0)
    close(log->fd);
  log->fd = -1;
  tl_text_drop(&log->pending);
}

#endif
