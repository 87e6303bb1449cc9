/* Parsers of mesh files: each fills a source, which mesh_file.c makes points or triangles of. */
#ifndef TL_SHAPE_MESH_SOURCE_H
#define TL_SHAPE_MESH_SOURCE_H

#include "base/input.h"
#include "shape/mesh_file.h"

/* A file under way. Mistakes are put down in `in`; a status is of memory, and of binary files. */
typedef struct tl_mesh_source {
  tl_input in;
  bool wants_faces;          /* else they are checked and not kept */
  tl_coordinates *point;     /* in the order of the file, not scaled */
  TL_ARRAY(uint32_t) corner; /* rows of points, three for each triangle */
  TL_ARRAY(uint32_t) face;   /* corners of the face under way */
} tl_mesh_source;

typedef talus_status tl_mesh_parse_fn(tl_mesh_source *s);
tl_mesh_parse_fn tl_mesh_parse_stl, tl_mesh_parse_obj, tl_mesh_parse_ply, tl_mesh_parse_rows;

/* Three numbers, the rest of the line. A mistake makes a point all the same, so that faces which
 * count vertices are not wrong because of it. */
talus_status tl_mesh_source_point(tl_mesh_source *s, const char *what);

/* The face under way, of rows that there are, becomes triangles. */
talus_status tl_mesh_source_face(tl_mesh_source *s);

/* n >= 3 corners of a face, counter-clockwise, as n - 2 triangles: a fan where all of it turns the
 * same way, else by cutting off ears. */
talus_status tl_mesh_cut_face(const double *points, const uint32_t *corner, size_t n,
                              uint32_t (*triangle)[3]);

#endif
