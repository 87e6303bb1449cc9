/* Points of mesh files: STL and PLY (text and binary), OBJ, and plain rows of numbers. Triangles:
 * shape/mesh.h. */
#ifndef TL_SHAPE_MESH_FILE_H
#define TL_SHAPE_MESH_FILE_H

#include "base/memory.h"

typedef TL_ARRAY(double) tl_coordinates; /* x, y, z of each point */

/* Reads the vertices of a file times `scale`, each place once, in the order of their first mention.
 * What it is follows from its name (.stl, .obj, .ply; .csv, .txt, .xyz: three numbers a line).
 * Messages name the file and the line, or the byte of a binary file. */
talus_status tl_mesh_read_points(const char *path, double scale, tl_coordinates *points);

/* The same of bytes in memory; `path` is for messages and for the kind. */
talus_status tl_mesh_parse_points(const char *path, const char *bytes, size_t n, double scale,
                                  tl_coordinates *points);

#endif
