/* Bodies to look for contacts among: from a table (CSV), from binary records, from a frame. */
#ifndef CLI_BODIES_READ_H
#define CLI_BODIES_READ_H

#include <stdbool.h>
#include <stddef.h>

#include <talus/detect.h>

typedef struct body_table {
  talus_detect_bodies bodies; /* points into the arrays below */
  double *record;             /* 4: x, y, z, r */
  /* NULL where all are spheres. */
  talus_shape_def *shapes;
  uint32_t *shape;
  double *scale;
  double *rotation; /* 4 */
  double *points;   /* of hulls and clumps of a frame */
} body_table;

/* What the file is shows in it and, where that leaves a doubt, in its name. False after a message
 * in `why`, which begins with the file's name (and line); then there is nothing to free. */
bool bodies_read(const char *path, body_table *table, char *why, size_t size);
void bodies_free(body_table *table);

/* ---- between the files of this module -------------------------------------------------------- */

typedef struct bodies_source {
  const char *path;
  char *text; /* the whole file and a final 0 */
  size_t length;
  char *why;
  size_t why_size;
} bodies_source;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
bool bodies_refuse(const bodies_source *in, const char *fmt, ...); /* always false */

/* A number that begins at `at` and ends before `end`: how strict this command is with them. */
typedef enum bodies_number {
  BODIES_NUMBER,
  BODIES_NO_NUMBER,
  BODIES_NOT_FINITE, /* nan, inf, and what is beyond the largest double */
} bodies_number;
bodies_number bodies_parse_number(const char *at, const char *end, double *value);

bool bodies_parse_csv(const bodies_source *in, body_table *table);

#endif
