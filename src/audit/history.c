/* Reads steps and hashes from history.csv. */
#include "audit/audit.h"

#include "base/input.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Index of the column with that name, or -1. */
static int column_of(const char *header, const char *end, const char *name) {
  const size_t length = strlen(name);
  int column = 0;
  for (const char *at = header; at < end; ++column) {
    const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
    if ((size_t)(stop - at) == length && memcmp(at, name, length) == 0)
      return column;
    at = stop + 1;
  }
  return -1;
}

/* The number in a column of a line, base 10 or 16; the line must end with a newline. */
static bool read_cell(const char *line, const char *end, int column, int base, uint64_t *value) {
  const char *at = line;
  for (int i = 0; i < column; ++i) {
    at = memchr(at, ',', (size_t)(end - at));
    if (!at)
      return false;
    at++;
  }
  if (!isxdigit((unsigned char)*at)) /* strtoull would continue into the next line */
    return false;
  char *stop;
  *value = strtoull(at, &stop, base);
  return (*stop == ',' || *stop == '\n' || *stop == '\r');
}

/* Reads whole lines only: a run in progress may have begun another. */
static talus_status read_lines(const char *path, const tl_bytes *bytes, tl_audit_lines *lines) {
  const char *at = bytes->data, *end = at + bytes->count;
  const char *head = bytes->count > 0 ? memchr(at, '\n', bytes->count) : NULL;
  const int steps = head ? column_of(at, head, "steps") : -1;
  const int hash = head ? column_of(at, head, "state_hash") : -1;
  if (steps < 0 || hash < 0)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s: has no columns `steps` and `state_hash`; expected the history of a run",
                   path);
  size_t number = 1;
  for (at = head + 1; at < end; ++number) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop)
      break;
    tl_audit_line line;
    if (!read_cell(at, stop, steps, 10, &line.steps) || !read_cell(at, stop, hash, 16, &line.hash))
      return tl_fail(TALUS_ERROR_FORMAT, "%s:%zu: the number of steps or the hash is missing", path,
                     number + 1);
    if (lines->count > 0 && line.steps < lines->data[lines->count - 1].steps)
      return tl_fail(TALUS_ERROR_FORMAT, "%s:%zu: goes back in time", path, number + 1);
    TL_TRY(tl_array_push(lines, line));
    at = stop + 1;
  }
  if (lines->count == 0)
    return tl_fail(TALUS_ERROR_FORMAT, "%s: the run has not come to an output time yet", path);
  return TALUS_OK;
}

talus_status tl_audit_read_history(const char *path, tl_audit_lines *lines) {
  tl_bytes bytes = {0};
  talus_status status = tl_input_load(path, &bytes);
  if (status == TALUS_OK)
    status = read_lines(path, &bytes, lines);
  tl_array_free(&bytes);
  return status;
}
