/* Averaged fields as an image for VTK: values stand at the middles of the cells. */
#include "output/output.h"

#include "output/vtk.h"

#if TALUS_HAVE_HDF5

static const char *const grids[] = {"rz", "plane", "box"};
static const char *const planes[] = {"yz", "xz", "xy"};

/* A dataset of the shape that VTK's reader asks for: z, y, x, without axes that have one point, and
 * then the numbers of a point where they are several. */
static talus_status write_field(tl_h5_out *out, const tl_average *average, const char *name,
                                size_t columns, const double *data) {
  size_t shape[TL_H5_RANK];
  char path[96];
  int rank = 0;
  if (!data)
    return TALUS_OK;
  for (int k = 2; k >= 0; --k)
    if (average->cells[k] > 1)
      shape[rank++] = average->cells[k];
  if (rank == 0)
    shape[rank++] = 1;
  if (columns > 1)
    shape[rank++] = columns;
  snprintf(path, sizeof path, "VTKHDF/PointData/%s", name);
  return tl_h5_write_shape(out, path, TL_H5_F64, rank, shape, data);
}

static talus_status write_fields(tl_h5_out *out, const tl_average *average,
                                 const talus_average_values *v) {
  const struct {
    const char *name;
    size_t columns;
    const double *data;
  } fields[] = {{"count", 1, v->count},
                {"density", 1, v->density},
                {"number_density", 1, v->number_density},
                {"velocity", 3, v->velocity},
                {"angle", average->grid == TALUS_GRID_BOX ? 2 : 1, v->angle},
                {"temperature", 1, v->temperature},
                {"pressure", 1, v->pressure},
                {"pressure_kinetic", 1, v->kinetic_pressure},
                {"pressure_collisional", 1, v->contact_pressure},
                {"curl", 3, v->curl},
                {"divergence", 1, v->divergence}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
    TL_TRY(write_field(out, average, fields[i].name, fields[i].columns, fields[i].data));
  return TALUS_OK;
}

static talus_status write_wall(tl_h5_out *out, const talus_average_values *v) {
  if (!v->wall_pressure)
    return TALUS_OK;
  TL_TRY(tl_h5_group(out, "talus/wall"));
  TL_TRY(tl_h5_write(out, "talus/wall/profile", TL_H5_F64, v->segments, 4, v->wall_profile));
  TL_TRY(tl_h5_write(out, "talus/wall/pressure", TL_H5_F64, v->segments, 1, v->wall_pressure));
  return tl_h5_write(out, "talus/wall/force", TL_H5_F64, v->segments, 1, v->wall_force);
}

static talus_status write_average(tl_h5_out *out, const talus_world *world,
                                  const tl_average *average, const talus_average_values *v) {
  const talus_dvec3 size = tl_dsub(average->box.hi, average->box.lo);
  const talus_dvec3 edge =
      tl_dvec3(size.x / average->cells[0], size.y / average->cells[1], size.z / average->cells[2]);
  const bool is_rings = average->grid == TALUS_GRID_RZ;
  talus_dvec3 origin = tl_dadd(average->box.lo, tl_dscale(edge, 0.5));
  if (is_rings)
    origin.y = 0;
  TL_TRY(tl_vtk_write_image(out, world, average->cells, origin, edge));
  TL_TRY(tl_h5_attribute(out, "talus", "from", TL_H5_F64, 1, &v->from));
  TL_TRY(tl_h5_attribute(out, "talus", "to", TL_H5_F64, 1, &v->to));
  TL_TRY(tl_h5_attribute_text(out, "talus", "grid", grids[average->grid]));
  TL_TRY(tl_h5_attribute_text(out, "talus", "name", average->name ? average->name : ""));
  if (average->grid == TALUS_GRID_PLANE)
    TL_TRY(tl_h5_attribute_text(out, "talus", "plane", planes[average->across]));
  if (is_rings)
    TL_TRY(tl_h5_attribute(out, "talus", "axis", TL_H5_F64, 2, average->axis));
  TL_TRY(write_fields(out, average, v));
  return write_wall(out, v);
}

talus_status tl_output_write_average(struct talus_world *world, uint32_t average, const char *path,
                                     tl_file *keep) {
  talus_average_values values;
  tl_h5_out out;
  TL_TRY(talus_average_read(world, average, &values));
  const tl_average *row = &world->flow.averages.data[average];
  TL_TRY(tl_h5_create(&out, row->means.count * sizeof(double) + 8192, 0));
  return tl_h5_finish(&out, write_average(&out, world, row, &values), path, keep, NULL);
}

#endif
