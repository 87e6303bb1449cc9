/* Triangle meshes: places, and triangles as three rows of them, counter-clockwise from outside.
 *
 * Where a solid is meant, every edge has two triangles that run along it in opposite directions;
 * tl_mesh_check says whether that is so. Nothing here repairs in silence. */
#ifndef TL_SHAPE_MESH_H
#define TL_SHAPE_MESH_H

#include "shape/measure.h"

#define TL_MESH_NONE UINT32_MAX

/* The arrays are the mesh's own (tl_resize), of exactly as many rows. */
typedef struct tl_mesh {
  size_t vertices, triangles;
  double (*vertex)[3]; /* m */
  uint32_t (*triangle)[3];
} tl_mesh;

void tl_mesh_release(tl_mesh *mesh);

/* Makes room for that many rows, uninitialised; what the mesh held before is released. */
talus_status tl_mesh_reserve(size_t vertices, size_t triangles, tl_mesh *mesh);

/* ---- files: .stl (text and binary), .obj, .ply (text and binary), by their names ----------------
 */

/* The triangles of a file times `scale`. Vertices of equal place are one, in the order of their
 * first mention; faces of more corners become fans. Triangles are kept as they stand in the file,
 * also those without area. Messages name the file and the line, the byte or the triangle. */
talus_status tl_mesh_read(const char *path, double scale, tl_mesh *mesh);

/* The same of bytes in memory; `path` is for messages and for the kind. */
talus_status tl_mesh_parse(const char *path, const char *bytes, size_t n, double scale,
                           tl_mesh *mesh);

/* ---- made ---------------------------------------------------------------------------------------
 */

/* Definition 7 of Noble's thesis: an icosphere of diameter 1 whose vertices lie at radii of noise
 * (`noise`: depth of the dents, 0 a sphere). `triangles`: 20 x 4^k. */
talus_status tl_mesh_make_noisy_sphere(size_t triangles, double noise, uint64_t seed,
                                       tl_mesh *mesh);

/* ---- what it is ---------------------------------------------------------------------------------
 */

typedef struct tl_mesh_report {
  bool closed;   /* no open edge */
  bool manifold; /* no edge has more than two triangles */
  bool oriented; /* neighbours run along their edge in opposite directions */
  size_t shells; /* sets of triangles that hang together by edges */
  size_t open_edges, flipped_edges;
  size_t degenerate;      /* triangles without area */
  size_t duplicates;      /* triangles of the same three vertices as one before */
  uint32_t first_open[2]; /* vertices of the first open edge; TL_MESH_NONE where there is none */
  double volume, area;    /* m3 (negative: inside out; of closed meshes only), m2 */
} tl_mesh_report;

talus_status tl_mesh_check(const tl_mesh *mesh, tl_mesh_report *report);

/* Moments of the solid that a closed mesh bounds, exact up to rounding (divergence theorem). */
talus_status tl_mesh_moments(const tl_mesh *mesh, tl_moments *moments);

/* Moments of the surface per unit of thickness: `volume` is its area. By edge midpoints, which is
 * exact for quadratics, and not by vertices (erratum D8 of the thesis' equation 2.9). */
talus_status tl_mesh_shell_moments(const tl_mesh *mesh, tl_moments *moments);

#endif
