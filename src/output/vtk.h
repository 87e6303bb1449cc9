/* What frames and contact files share: the VTKHDF 1.0 skeleton of n points, each a vertex cell. */
#ifndef TL_OUTPUT_VTK_H
#define TL_OUTPUT_VTK_H

#include "output/h5.h"

#if TALUS_HAVE_HDF5

#include "world/world.h"

/* Groups /VTKHDF, /VTKHDF/PointData and /talus with its attributes, and the grid of n points. */
talus_status tl_vtk_write_points(tl_h5_out *out, const talus_world *world, size_t n,
                                 const talus_dvec3 *points);

/* The same with triangles as cells, each of three rows of the points, and the group
 * /VTKHDF/CellData instead of /VTKHDF/PointData. */
talus_status tl_vtk_write_triangles(tl_h5_out *out, const talus_world *world, size_t n,
                                    const talus_dvec3 *points, size_t triangles,
                                    const int64_t *corners);
#define TL_VTK_TRIANGLE_BYTES (6 * sizeof(int64_t))

/* Groups /VTKHDF, /VTKHDF/PointData and /talus with its attributes, and an image of so many points
 * along x, y and z. */
talus_status tl_vtk_write_image(tl_h5_out *out, const talus_world *world, const uint32_t points[3],
                                talus_dvec3 origin, talus_dvec3 spacing);

/* Bytes that tl_vtk_write_points adds for each point. */
#define TL_VTK_POINT_BYTES (sizeof(talus_dvec3) + 2 * sizeof(int64_t) + 1)

#endif
#endif
