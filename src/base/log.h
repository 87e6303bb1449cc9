/* Logging with levels. The library never prints: it hands finished lines to a sink. */
#ifndef TL_BASE_LOG_H
#define TL_BASE_LOG_H

#include "base/status.h"

typedef enum tl_log_level { TL_LOG_ERROR, TL_LOG_WARN, TL_LOG_INFO, TL_LOG_DEBUG } tl_log_level;

typedef void tl_log_fn(void *context, tl_log_level level, const char *line);

typedef struct tl_log {
  tl_log_fn *sink; /* NULL: silent */
  void *context;
  tl_log_level level; /* lines above this level are dropped before they are formatted */
} tl_log;

void tl_log_write(const tl_log *log, tl_log_level level, const char *fmt, ...) TL_PRINTF(3, 4);
const char *tl_log_level_name(tl_log_level level); /* "error", "warning", "info", "debug" */

#endif
