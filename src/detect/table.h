/* Tables of bodies: shared by detect/table.c (rows) and detect/table_shapes.c (shapes described in
 * files of their own). */
#ifndef TL_DETECT_TABLE_H
#define TL_DETECT_TABLE_H

#include <talus/detect.h>

#include "base/input.h"

/* A shape of a file, read once for all rows that name it. */
typedef struct tl_table_file {
  char *path, *name; /* as the table has them; name is "" where it gives none */
  talus_shape_kind kind;
  bool is_bad;  /* an error was reported */
  uint32_t row; /* row of the shapes */
  double *points;
  size_t bytes; /* of the points */
  uint32_t *triangles;
  size_t triangle_bytes;
} tl_table_file;

/* Data owned by a talus_body_table; arrays for shapes other than spheres may be empty. */
typedef struct talus_body_rows {
  TL_ARRAY(double) record; /* 4: x, y, z, r */
  TL_ARRAY(talus_shape_def) shapes;
  TL_ARRAY(uint32_t) shape;
  TL_ARRAY(double) scale;
  TL_ARRAY(double) rotation; /* 4 */
  TL_ARRAY(double) velocity; /* 3 */
  TL_ARRAY(double) spin;     /* 3 */
  TL_ARRAY(tl_table_file) files;
} talus_body_rows;

/* Row of the shapes for a hull, clump or container of a file, relative to the table's folder.
 * Errors are added to `in`, once per file; *found is false then. */
talus_status tl_table_find_file(talus_body_rows *rows, tl_input *in, tl_span file, tl_span name,
                                talus_shape_kind kind, uint32_t *row, bool *found);
void tl_table_free_files(talus_body_rows *rows);

#endif
