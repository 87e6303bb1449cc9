/* Reads bodies for `talus contacts`: from a table (CSV), from binary records, from a frame. */
#ifndef CLI_BODIES_READ_H
#define CLI_BODIES_READ_H

#include <stdbool.h>
#include <stddef.h>

#include <talus/detect.h>

typedef struct body_table {
  talus_detect_bodies bodies; /* points to the arrays below */
  talus_body_table csv;       /* of a table; all arrays below are then empty */
  double *record;             /* 4: x, y, z, r */
  /* NULL if all are spheres. */
  talus_shape_def *shapes;
  uint32_t *shape;
  double *scale;
  double *rotation;    /* 4 */
  uint32_t *triangles; /* of meshes of a frame */
  double *points;      /* of hulls and clumps of a frame */
} body_table;

/* Recognises the kind of file by its content and, if that is ambiguous, by its name. If it fails it
 * returns false, with a message in `why` that begins with the name of the file, and there is
 * nothing to free. */
bool bodies_read(const char *path, body_table *table, char *why, size_t size);
void bodies_free(body_table *table);

#endif
