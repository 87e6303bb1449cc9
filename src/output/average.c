/* Averaged fields as an image for VTK: values stand at the middles of the cells. */
#include "output/output.h"

#include "output/vtk.h"

#if TALUS_HAVE_HDF5

static const char *const grids[] = {"rz", "plane", "box"};
static const char *const planes[] = {"yz", "xz", "xy"};

/* Points along the axes. VTK 9.1 crashes on an image with only one point along an axis, so a thin
 * axis has two equal layers, at the faces of its cells. */
static void find_points(const tl_average *average, uint32_t points[3]) {
  for (int k = 0; k < 3; ++k)
    points[k] = average->cells[k] > 1 ? average->cells[k] : 2;
}

/* Values of the points from those of the cells; x runs fastest. */
static void spread(const tl_average *average, const uint32_t points[3], size_t columns,
                   const double *data, double *to) {
  const uint32_t *n = average->cells;
  for (uint32_t z = 0; z < points[2]; ++z)
    for (uint32_t y = 0; y < points[1]; ++y)
      for (uint32_t x = 0; x < points[0]; ++x) {
        const size_t row = (size_t)(n[2] > 1 ? z : 0) * n[1] + (n[1] > 1 ? y : 0);
        const size_t cell = row * n[0] + (n[0] > 1 ? x : 0);
        for (size_t k = 0; k < columns; ++k)
          *to++ = data[cell * columns + k];
      }
}

/* A dataset of the shape z, y, x, and then the numbers of a point where they are several. */
static talus_status write_field(tl_h5_out *out, const tl_average *average, const char *name,
                                size_t columns, const double *data) {
  TL_ARRAY(double) wide = {0};
  uint32_t points[3];
  char path[96];
  if (!data)
    return TALUS_OK;
  find_points(average, points);
  const size_t shape[TL_H5_RANK] = {points[2], points[1], points[0], columns};
  TL_TRY(tl_array_resize(&wide, shape[0] * shape[1] * shape[2] * columns));
  spread(average, points, columns, data, wide.data);
  snprintf(path, sizeof path, "VTKHDF/PointData/%s", name);
  const talus_status status =
      tl_h5_write_shape(out, path, TL_H5_F64, columns > 1 ? 4 : 3, shape, wide.data);
  tl_array_free(&wide);
  return status;
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

/* Origin: the middle of the first cell, or along a thin axis its low face. */
static talus_status write_grid(tl_h5_out *out, const talus_world *world,
                               const tl_average *average) {
  const talus_dvec3 size = tl_dsub(average->box.hi, average->box.lo);
  const uint32_t *n = average->cells;
  const talus_dvec3 edge = tl_dvec3(size.x / n[0], size.y / n[1], size.z / n[2]);
  const int64_t cells[3] = {n[0], n[1], n[2]};
  talus_dvec3 origin = average->box.lo;
  uint32_t points[3];
  find_points(average, points);
  origin.x += n[0] > 1 ? 0.5 * edge.x : 0;
  origin.y += n[1] > 1 ? 0.5 * edge.y : 0;
  origin.z += n[2] > 1 ? 0.5 * edge.z : 0;
  TL_TRY(tl_vtk_write_image(out, world, points, origin, edge));
  return tl_h5_attribute(out, "talus", "cells", TL_H5_I64, 3, cells);
}

static talus_status write_average(tl_h5_out *out, const talus_world *world,
                                  const tl_average *average, const talus_average_values *v) {
  TL_TRY(write_grid(out, world, average));
  TL_TRY(tl_h5_attribute(out, "talus", "from", TL_H5_F64, 1, &v->from));
  TL_TRY(tl_h5_attribute(out, "talus", "to", TL_H5_F64, 1, &v->to));
  TL_TRY(tl_h5_attribute_text(out, "talus", "grid", grids[average->grid]));
  TL_TRY(tl_h5_attribute_text(out, "talus", "name", average->name ? average->name : ""));
  if (average->grid == TALUS_GRID_PLANE)
    TL_TRY(tl_h5_attribute_text(out, "talus", "plane", planes[average->across]));
  if (average->grid == TALUS_GRID_RZ)
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
  TL_TRY(tl_h5_create(&out, 2 * row->means.count * sizeof(double) + 8192, 0));
  return tl_h5_finish(&out, write_average(&out, world, row, &values), path, keep, NULL);
}

#endif
