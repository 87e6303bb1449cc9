/* VTKHDF 1.0, as the reader of VTK 9.1 (ParaView 5.11) wants it: `Type` a text of fixed length,
 * counts as arrays with one number per piece, and one offset more than there are cells. */
#include "output/vtk.h"

#if TALUS_HAVE_HDF5

#define VTK_VERTEX 1

static talus_status write_attributes(tl_h5_out *out, const talus_world *world) {
  static const int64_t version[2] = {1, 0};
  const double time = (double)world->steps * world->model.dt;
  TL_TRY(tl_h5_attribute(out, "VTKHDF", "Version", TL_H5_I64, 2, version));
  TL_TRY(tl_h5_attribute_text(out, "VTKHDF", "Type", "UnstructuredGrid"));
  TL_TRY(tl_h5_attribute(out, "talus", "time", TL_H5_F64, 1, &time));
  TL_TRY(tl_h5_attribute(out, "talus", "steps", TL_H5_U64, 1, &world->steps));
  TL_TRY(tl_h5_attribute(out, "talus", "dt", TL_H5_F64, 1, &world->model.dt));
  return tl_h5_attribute_text(out, "talus", "version", TALUS_VERSION);
}

/* Cell i is the vertex of point i. */
static talus_status write_cells(tl_h5_out *out, size_t n, int64_t *counting, uint8_t *types) {
  for (size_t i = 0; i <= n; ++i)
    counting[i] = (int64_t)i;
  memset(types, VTK_VERTEX, n);
  TL_TRY(tl_h5_write(out, "VTKHDF/Connectivity", TL_H5_I64, n, 1, counting));
  TL_TRY(tl_h5_write(out, "VTKHDF/Offsets", TL_H5_I64, n + 1, 1, counting));
  return tl_h5_write(out, "VTKHDF/Types", TL_H5_U8, n, 1, types);
}

talus_status tl_vtk_write_points(tl_h5_out *out, const talus_world *world, size_t n,
                                 const talus_dvec3 *points) {
  const int64_t count = (int64_t)n;
  TL_TRY(tl_h5_group(out, "VTKHDF"));
  TL_TRY(tl_h5_group(out, "VTKHDF/PointData"));
  TL_TRY(tl_h5_group(out, "talus"));
  TL_TRY(write_attributes(out, world));
  TL_TRY(tl_h5_write(out, "VTKHDF/NumberOfPoints", TL_H5_I64, 1, 1, &count));
  TL_TRY(tl_h5_write(out, "VTKHDF/NumberOfCells", TL_H5_I64, 1, 1, &count));
  TL_TRY(tl_h5_write(out, "VTKHDF/NumberOfConnectivityIds", TL_H5_I64, 1, 1, &count));
  TL_TRY(tl_h5_write(out, "VTKHDF/Points", TL_H5_F64, n, 3, points));

  void *scratch = NULL;
  const size_t bytes = (n + 1) * sizeof(int64_t) + n;
  TL_TRY(tl_resize(&scratch, 0, bytes));
  const talus_status status =
      write_cells(out, n, scratch, (uint8_t *)scratch + (n + 1) * sizeof(int64_t));
  (void)tl_resize(&scratch, bytes, 0); /* freeing cannot fail */
  return status;
}

#endif
