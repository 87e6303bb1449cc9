#include "history.h"

#include "base/input.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MOST 8192

/* Splits a line at its commas; returns the number of fields. */
static size_t split(char *line, char **fields, size_t most) {
  size_t n = 0;
  for (char *at = line; at && n < most; ++n) {
    fields[n] = at;
    at = strchr(at, ',');
    if (at)
      *at++ = '\0';
  }
  return n;
}

/* Reads one whole line without its newline; an incomplete last line does not count. */
static bool read_line(FILE *file, char *line) {
  if (!fgets(line, LINE_MOST, file))
    return false;
  const size_t length = strlen(line);
  if (length == 0 || line[length - 1] != '\n')
    return false;
  line[length - 1] = '\0';
  return true;
}

static bool read_head(history *found, char *line) {
  char *fields[256];
  const size_t n = split(line, fields, 256);
  found->names = calloc(n, sizeof *found->names);
  for (size_t i = 0; found->names && i < n; ++i) {
    const size_t bytes = strlen(fields[i]) + 1;
    found->names[i] = malloc(bytes);
    if (!found->names[i])
      return false;
    memcpy(found->names[i], fields[i], bytes);
    found->columns++;
  }
  return found->names != NULL;
}

static bool add_row(history *found, char *line, size_t *capacity) {
  if (found->rows == *capacity) {
    const size_t wanted = *capacity ? 2 * *capacity : 256;
    double *values = realloc(found->values, wanted * found->columns * sizeof *values);
    if (!values)
      return false;
    found->values = values;
    *capacity = wanted;
  }
  char *fields[256];
  const size_t n = split(line, fields, 256);
  double *row = found->values + found->rows * found->columns;
  for (size_t i = 0; i < found->columns; ++i) {
    char *end = NULL;
    row[i] = i < n ? strtod(fields[i], &end) : NAN;
    if (i < n && (end == fields[i] || *end))
      row[i] = NAN;
    if (i < n && strcmp(found->names[i], "state_hash") == 0)
      snprintf(found->hash, sizeof found->hash, "%.16s", fields[i]);
  }
  found->rows++;
  return true;
}

static bool read_csv(const char *path, const char *first, const char *what, history *found,
                     char *why, size_t size) {
  *found = (history){0};
  FILE *file = tl_input_file(path, why, size);
  if (!file)
    return false;
  char line[LINE_MOST];
  bool fine = read_line(file, line);
  if (ferror(file)) {
    snprintf(why, size, "%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    return false;
  }
  if (!fine || strncmp(line, first, strlen(first)) != 0) {
    snprintf(why, size, "%s does not begin like a %s of talus", path, what);
    fclose(file);
    return false;
  }
  fine = read_head(found, line);
  for (size_t capacity = 0; fine && read_line(file, line);)
    fine = add_row(found, line, &capacity);
  if (!fine)
    snprintf(why, size, "out of memory");
  else if (ferror(file)) {
    snprintf(why, size, "%s: cannot be read: %s", path, strerror(errno));
    fine = false;
  }
  fclose(file);
  if (!fine)
    history_free(found);
  return fine;
}

bool history_read(const char *path, history *found, char *why, size_t size) {
  return read_csv(path, "time,", "history", found, why, size);
}

bool history_read_probe(const char *path, history *found, char *why, size_t size) {
  return read_csv(path, "from,to,", "probe", found, why, size);
}

bool history_read_steps(const char *path, history *found, char *why, size_t size) {
  return read_csv(path, "length,steps,", "table of steps", found, why, size);
}

void history_free(history *found) {
  for (size_t i = 0; i < found->columns; ++i)
    free(found->names[i]);
  free(found->names);
  free(found->values);
  *found = (history){0};
}

static size_t find(const history *found, const char *name) {
  size_t i = 0;
  while (i < found->columns && strcmp(found->names[i], name) != 0)
    i++;
  return i;
}

history_span history_of_sum(const history *found, const char *a, const char *b) {
  history_span span = {NAN, NAN, NAN, NAN};
  const size_t ia = find(found, a), ib = b ? find(found, b) : 0;
  if (ia >= found->columns || ib >= found->columns)
    return span;
  for (size_t i = 0; i < found->rows; ++i) {
    const double *row = found->values + i * found->columns;
    const double value = row[ia] + (b ? row[ib] : 0);
    span.first = i == 0 ? value : span.first;
    span.last = value;
    span.low = fmin(span.low, value);
    span.high = fmax(span.high, value);
  }
  return span;
}

history_span history_of(const history *found, const char *name) {
  return history_of_sum(found, name, NULL);
}
