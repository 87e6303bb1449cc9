/* What people do with meshes before they use them: find where a surface goes through itself, mend
 * it, and make a clump of spheres of it. */
#ifndef TL_SHAPE_MESH_TOOLS_H
#define TL_SHAPE_MESH_TOOLS_H

#include <talus/mesh.h>

#include "shape/mesh.h"

/* Pairs of triangles that go through each other, and the first of them (by its lower, then its
 * higher number; TL_MESH_NONE: there is none). Touching is none of it, nor lying in one plane;
 * triangles that share an edge are not looked at. */
talus_status tl_mesh_find_crossings(const tl_mesh *mesh, size_t *count, uint32_t first[2]);

/* Welds, drops, orients and, where told, closes (talus_mesh_repair). */
talus_status tl_mesh_repair(tl_mesh *mesh, const talus_mesh_repair_def *def,
                            talus_mesh_repairs *done);

/* One row for each vertex: its place among those kept, of which there are *kept. Places at most
 * `distance` apart in a chain become that of the first. */
talus_status tl_mesh_weld_near(const tl_mesh *mesh, double distance, uint32_t *row_of,
                               size_t *kept);

/* Appends triangles over every loop of open edges; vertices are appended where a loop is closed by
 * a fan about its middle. */
talus_status tl_mesh_close_holes(tl_mesh *mesh, size_t *closed, size_t *added);

/* Spheres x, y, z, r whose union is within `error` of a closed mesh (talus_mesh_to_clump). */
typedef TL_ARRAY(double) tl_spheres;
talus_status tl_mesh_to_clump(const tl_mesh *mesh, double error, size_t most, tl_spheres *spheres,
                              double *measured);

#endif
