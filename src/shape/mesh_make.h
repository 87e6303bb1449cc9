/* Meshes that need no file: spheres, smooth and noisy, and the parts that scenes are made of. */
#ifndef TL_SHAPE_MESH_MAKE_H
#define TL_SHAPE_MESH_MAKE_H

#include <talus/mesh.h>

#include "shape/mesh.h"

/* TALUS_ERROR_INVALID if a mesh that a caller gives has no triangles, places that are not finite,
 * or triangles with rows that do not exist. */
talus_status tl_mesh_need(const talus_mesh *mesh);

/* Makes the mesh of the recipe (talus/mesh.h); TALUS_ERROR_INVALID names the value that is not
 * possible. */
talus_status tl_mesh_make(const talus_mesh_recipe *recipe, tl_mesh *mesh);

/* 20 x 4^k triangles whose vertices lie on a sphere; TALUS_ERROR_INVALID for other counts. */
talus_status tl_mesh_make_icosphere(size_t triangles, double radius, tl_mesh *mesh);

/* The other kinds; callers have checked the lengths (tl_mesh_make). */
talus_status tl_mesh_make_box(const double edge[3], tl_mesh *mesh);
talus_status tl_mesh_make_plate(double x, double y, size_t triangles, tl_mesh *mesh);
talus_status tl_mesh_make_torus(double radius, double tube, size_t triangles, tl_mesh *mesh);
talus_status tl_mesh_make_cylinder(double radius, double length, size_t triangles, tl_mesh *mesh);

/* Open: the wall of a cone without its tip, and a helical sheet about z that turns to the right. */
talus_status tl_mesh_make_funnel(double upper, double lower, double height, size_t triangles,
                                 tl_mesh *mesh);
talus_status tl_mesh_make_screw(double radius, double pitch, double length, double inner,
                                size_t triangles, tl_mesh *mesh);

/* A rod with an ISO metric thread of 60 degrees, and a hexagonal nut whose thread is the rod's,
 * wider by `clearance`; axis z, from 0 to length. Edges of the thread are edges of the mesh. */
typedef struct tl_mesh_thread {
  double diameter, pitch, length; /* m; diameter: over the crests of the rod */
  double width, clearance;        /* m, of the nut: across flats, and along the radius */
  size_t sides; /* of a turn, a multiple of 12: corners of the nut are among them */
} tl_mesh_thread;
talus_status tl_mesh_make_bolt(const tl_mesh_thread *thread, tl_mesh *mesh);
talus_status tl_mesh_make_nut(const tl_mesh_thread *thread, tl_mesh *mesh);

#endif
