/* Bodies to look for contacts among: from a table (CSV), from binary records, from a frame. */
#ifndef CLI_BODIES_READ_H
#define CLI_BODIES_READ_H

#include <stdbool.h>
#include <stddef.h>

#include <talus/detect.h>

typedef struct body_table {
  talus_detect_bodies bodies; /* points into what is below */
  talus_body_table csv;       /* of a table; all else is then empty */
  double *record;             /* 4: x, y, z, r */
  /* NULL where all are spheres. */
  talus_shape_def *shapes;
  uint32_t *shape;
  double *scale;
  double *rotation;    /* 4 */
  uint32_t *triangles; /* of meshes of a frame */
  double *points;      /* of hulls and clumps of a frame */
} body_table;

/* The kind of the file is recognised by its content and, if that is not clear, by its name. Returns
 * false with a message in `why` that begins with the name of the file; then there is nothing to
 * free. */
bool bodies_read(const char *path, body_table *table, char *why, size_t size);
void bodies_free(body_table *table);

#endif
