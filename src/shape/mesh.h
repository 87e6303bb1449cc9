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

/* ---- files: .stl (text and binary), .obj, .ply (text and binary), by their names ------------- */

/* The triangles of a file times `scale`. Vertices of equal place are one, in the order of their
 * first mention; faces of more corners become fans. Triangles are kept as they stand in the file,
 * also those without area. Messages name the file and the line, the byte or the triangle. */
talus_status tl_mesh_read(const char *path, double scale, tl_mesh *mesh);

/* The same for bytes in memory; `path` is for messages and for the kind of file. */
talus_status tl_mesh_parse(const char *path, const char *bytes, size_t n, double scale,
                           tl_mesh *mesh);

/* ---- made ------------------------------------------------------------------------------------ */

/* Definition 7 of Noble's thesis: a sphere of radius 1 as 20 x 4^k triangles, each vertex moved
 * outwards by hierarchical Perlin noise to a radius within [1, noise]; noise 1: a sphere. */
talus_status tl_mesh_make_noisy_sphere(size_t triangles, double noise, uint64_t seed,
                                       tl_mesh *mesh);

/* ---- how triangles hang together ------------------------------------------------------------- */

/* The sides of all triangles by the two vertices they join. A triangle with a vertex twice has no
 * sides. */
typedef struct tl_mesh_edges {
  size_t sides, room;
  uint64_t *key;  /* lower vertex << 32 | upper one, ascending: sides of one edge stand together */
  uint32_t *side; /* 3 t + k: corner k to corner k + 1 of triangle t, ascending within an edge */
} tl_mesh_edges;

talus_status tl_mesh_edges_find(const tl_mesh *mesh, tl_mesh_edges *edges);
void tl_mesh_edges_release(tl_mesh_edges *edges);

/* Where the edge that begins at `begin` ends. */
static inline size_t tl_mesh_edge_end(const tl_mesh_edges *edges, size_t begin) {
  size_t end = begin + 1;
  while (end < edges->sides && edges->key[end] == edges->key[begin])
    ++end;
  return end;
}

/* The corners that a side joins, in its direction. */
static inline uint32_t tl_mesh_side_from(const tl_mesh *mesh, uint32_t side) {
  return mesh->triangle[side / 3][side % 3];
}
static inline uint32_t tl_mesh_side_to(const tl_mesh *mesh, uint32_t side) {
  return mesh->triangle[side / 3][side % 3 == 2 ? 0 : side % 3 + 1];
}

/* shell[t]: number of the set of triangles, joined by edges, that t belongs to, in the order of the
 * first triangle of each. */
talus_status tl_mesh_shells(const tl_mesh *mesh, const tl_mesh_edges *edges, uint32_t *shell,
                            size_t *shells);

/* ---- what it is ------------------------------------------------------------------------------ */

typedef struct tl_mesh_report {
  bool closed;   /* every edge has an even number of triangles */
  bool manifold; /* no edge has more than two */
  bool oriented; /* as many run along an edge one way as the other, open edges aside */
  size_t shells; /* sets of triangles that are joined by edges */
  size_t open_edges, flipped_edges, crowded_edges; /* not closed, not oriented, not manifold */
  size_t degenerate; /* triangles without area: lower than TL_MESH_FLAT of their longest side */
  size_t duplicates; /* triangles of the same three vertices as one before */
  size_t facets;     /* plane parts: neighbours within TL_HULL_FLAT of the extent are one */
  uint32_t first_open[2]; /* vertices of the first open edge; TL_MESH_NONE where there is none */
  double volume, area;    /* m3 (negative: inside out; 0 where it is open), m2 */
} tl_mesh_report;

#define TL_MESH_FLAT 1e-12

/* Whether a triangle has no area. */
bool tl_mesh_is_degenerate(const tl_mesh *mesh, size_t triangle);

/* first_of[t]: the first triangle of the same three vertices in any order, t itself if none is. */
talus_status tl_mesh_find_duplicates(const tl_mesh *mesh, uint32_t *first_of);

talus_status tl_mesh_check(const tl_mesh *mesh, tl_mesh_report *report);

/* Moments of the solid that a closed mesh bounds, exact up to rounding (divergence theorem).
 * TALUS_ERROR_INVALID where the volume is not positive. */
talus_status tl_mesh_moments(const tl_mesh *mesh, tl_moments *moments);

/* The same about another place, with a volume of either sign. A mesh far from its origin loses no
 * digits. */
void tl_mesh_moments_about(const tl_mesh *mesh, talus_dvec3 about, tl_moments *moments);
void tl_mesh_shell_moments_about(const tl_mesh *mesh, talus_dvec3 about, tl_moments *moments);

/* Moments of the surface per unit of thickness: `volume` is its area. Computed at the midpoints of
 * edges, which is exact for quadratics, and not at vertices (docs/sources.md D8). */
talus_status tl_mesh_shell_moments(const tl_mesh *mesh, tl_moments *moments);

#endif
