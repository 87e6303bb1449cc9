/* VTKHDF 1.0, as the reader of VTK 9.1 (ParaView 5.11) wants it: `Type` a text of fixed length,
 * counts as arrays with one number per piece, and one offset more than there are cells. */
#include "output/vtk.h"

#if TALUS_HAVE_HDF5

#define VTK_VERTEX   1
#define VTK_TRIANGLE 5

static talus_status write_attributes(tl_h5_out *out, const talus_world *world, const char *type) {
  static const int64_t version[2] = {1, 0};
  TL_TRY(tl_h5_attribute(out, "VTKHDF", "Version", TL_H5_I64, 2, version));
  TL_TRY(tl_h5_attribute_text(out, "VTKHDF", "Type", type));
  TL_TRY(tl_h5_attribute(out, "talus", "time", TL_H5_F64, 1, &world->time));
  TL_TRY(tl_h5_attribute(out, "talus", "steps", TL_H5_U64, 1, &world->steps));
  TL_TRY(tl_h5_attribute(out, "talus", "dt", TL_H5_F64, 1, &world->model.dt));
  return tl_h5_attribute_text(out, "talus", "version", TALUS_VERSION);
}

/* n cells of so many points each. Without `corners`, cell i is the vertex of point i. */
static talus_status write_cells(tl_h5_out *out, size_t n, size_t points_of_one, uint8_t type,
                                const int64_t *corners, int64_t *counting, uint8_t *types) {
  for (size_t i = 0; i <= n; ++i)
    counting[i] = (int64_t)(points_of_one * i);
  memset(types, type, n);
  TL_TRY(tl_h5_write(out, "VTKHDF/Connectivity", TL_H5_I64, points_of_one * n, 1,
                     corners ? corners : counting));
  TL_TRY(tl_h5_write(out, "VTKHDF/Offsets", TL_H5_I64, n + 1, 1, counting));
  return tl_h5_write(out, "VTKHDF/Types", TL_H5_U8, n, 1, types);
}

static talus_status write_grid(tl_h5_out *out, const talus_world *world, size_t points,
                               const talus_dvec3 *places, size_t cells, size_t points_of_one,
                               uint8_t type, const int64_t *corners) {
  const int64_t counts[3] = {(int64_t)points, (int64_t)cells, (int64_t)(points_of_one * cells)};
  TL_TRY(tl_h5_group(out, "VTKHDF"));
  TL_TRY(tl_h5_group(out, corners ? "VTKHDF/CellData" : "VTKHDF/PointData"));
  TL_TRY(tl_h5_group(out, "talus"));
  TL_TRY(write_attributes(out, world, "UnstructuredGrid"));
  TL_TRY(tl_h5_write(out, "VTKHDF/NumberOfPoints", TL_H5_I64, 1, 1, &counts[0]));
  TL_TRY(tl_h5_write(out, "VTKHDF/NumberOfCells", TL_H5_I64, 1, 1, &counts[1]));
  TL_TRY(tl_h5_write(out, "VTKHDF/NumberOfConnectivityIds", TL_H5_I64, 1, 1, &counts[2]));
  TL_TRY(tl_h5_write(out, "VTKHDF/Points", TL_H5_F64, points, 3, places));

  void *scratch = NULL;
  const size_t ahead = (cells + 1) * sizeof(int64_t), bytes = ahead + cells;
  TL_TRY(tl_resize(&scratch, 0, bytes));
  const talus_status status =
      write_cells(out, cells, points_of_one, type, corners, scratch, (uint8_t *)scratch + ahead);
  (void)tl_resize(&scratch, bytes, 0); /* freeing cannot fail */
  return status;
}

talus_status tl_vtk_write_points(tl_h5_out *out, const talus_world *world, size_t n,
                                 const talus_dvec3 *points) {
  return write_grid(out, world, n, points, n, 1, VTK_VERTEX, NULL);
}

talus_status tl_vtk_write_triangles(tl_h5_out *out, const talus_world *world, size_t n,
                                    const talus_dvec3 *points, size_t triangles,
                                    const int64_t *corners) {
  static const int64_t none = 0;
  return write_grid(out, world, n, points, triangles, 3, VTK_TRIANGLE, corners ? corners : &none);
}

talus_status tl_vtk_write_image(tl_h5_out *out, const talus_world *world, const uint32_t points[3],
                                talus_dvec3 origin, talus_dvec3 spacing) {
  static const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  int64_t extent[6] = {0};
  for (int k = 0; k < 3; ++k)
    extent[2 * k + 1] = (int64_t)points[k] - 1;
  TL_TRY(tl_h5_group(out, "VTKHDF"));
  TL_TRY(tl_h5_group(out, "VTKHDF/PointData"));
  TL_TRY(tl_h5_group(out, "talus"));
  TL_TRY(write_attributes(out, world, "ImageData"));
  TL_TRY(tl_h5_attribute(out, "VTKHDF", "WholeExtent", TL_H5_I64, 6, extent));
  TL_TRY(tl_h5_attribute(out, "VTKHDF", "Origin", TL_H5_F64, 3, &origin));
  TL_TRY(tl_h5_attribute(out, "VTKHDF", "Spacing", TL_H5_F64, 3, &spacing));
  return tl_h5_attribute(out, "VTKHDF", "Direction", TL_H5_F64, 9, direction);
}

#endif
