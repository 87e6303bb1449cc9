#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for a long path and ten mistakes of a file with their lines (base/input.h). */
#define MESSAGE_BYTES 8192

static _Thread_local char message[MESSAGE_BYTES];

/* A text of `length` bytes did not fit: end what is there in "...", without cutting a UTF-8
 * character in two. */
static void mark_cut(char *text, size_t length) {
  if (length < MESSAGE_BYTES)
    return;
  size_t at = MESSAGE_BYTES - sizeof "...";
  while (at > 0 && ((unsigned char)text[at] & 0xC0u) == 0x80u)
    --at;
  memcpy(text + at, "...", sizeof "...");
}

/* Formats into `text` and returns the length it has, or would have had. */
static TL_PRINTF(2, 0) size_t format(char text[MESSAGE_BYTES], const char *fmt, va_list args) {
  const int length = vsnprintf(text, MESSAGE_BYTES, fmt, args);
  if (length < 0) {
    /* A conversion failed (a wide character, say): the bare format is better than nothing. */
    const size_t raw = strlen(fmt);
    const size_t kept = raw < MESSAGE_BYTES ? raw : MESSAGE_BYTES - 1;
    memcpy(text, fmt, kept);
    text[kept] = '\0';
    return raw;
  }
  return (size_t)length;
}

/* Both functions format aside: an argument may well be tl_last_message() itself. */

talus_status tl_fail(talus_status status, const char *fmt, ...) {
  TL_ASSERT(status != TALUS_OK);
  char text[MESSAGE_BYTES];
  va_list args;
  va_start(args, fmt);
  const size_t length = format(text, fmt, args);
  va_end(args);
  mark_cut(text, length);
  memcpy(message, text, sizeof message);
  return status;
}

talus_status tl_fail_in(talus_status status, const char *fmt, ...) {
  TL_ASSERT(status != TALUS_OK);
  char text[MESSAGE_BYTES];
  va_list args;
  va_start(args, fmt);
  size_t length = format(text, fmt, args);
  va_end(args);
  if (length < MESSAGE_BYTES)
    length += (size_t)snprintf(text + length, MESSAGE_BYTES - length, ": %s", message);
  mark_cut(text, length);
  memcpy(message, text, sizeof message);
  return status;
}

talus_status tl_fail_null(const char *call, const char *argument) {
  return tl_fail(TALUS_ERROR_INVALID, "%s: `%s` is NULL", call, argument);
}

const char *tl_last_message(void) { return message; }

_Noreturn void tl_assert_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "talus: internal error at %s:%d: `%s` does not hold; please report this\n", file,
          line, condition);
  fflush(stderr);
  abort();
}
