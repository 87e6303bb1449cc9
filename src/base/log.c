#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define LINE_BYTES 1024 /* longer lines, which are rare, are formatted on the heap */

void tl_log_write(const tl_log *log, tl_log_level level, const char *fmt, ...) {
  if (!log || !log->sink || level > log->level)
    return;
  char line[LINE_BYTES];
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  const int length = vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  if (length < 0) {
    /* A conversion failed: the format itself still shows which line it was. */
    log->sink(log->context, level, fmt);
  } else if ((size_t)length < sizeof line) {
    log->sink(log->context, level, line);
  } else {
    const size_t bytes = (size_t)length + 1;
    void *block = NULL;
    if (tl_resize(&block, 0, bytes) == TALUS_OK) {
      vsnprintf(block, bytes, fmt, again);
      log->sink(log->context, level, block);
      (void)tl_resize(&block, bytes, 0); /* freeing cannot fail */
    } else {
      memcpy(line + sizeof line - sizeof "...", "...", sizeof "...");
      log->sink(log->context, level, line);
    }
  }
  va_end(again);
}

const char *tl_log_level_name(tl_log_level level) {
  switch (level) {
  case TL_LOG_ERROR:
    return "error";
  case TL_LOG_WARN:
    return "warning";
  case TL_LOG_INFO:
    return "info";
  case TL_LOG_DEBUG:
    return "debug";
  }
  return "?";
}
