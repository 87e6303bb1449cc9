/* Surfaces: the triangles of every body that is not a ball, in place, for looking at. */
#include "output/output.h"

#include "kernels/collide.h"
#include "output/vtk.h"
#include "shape/surface.h"

#if TALUS_HAVE_HDF5

typedef struct scene_surface {
  TL_ARRAY(talus_dvec3) points;
  TL_ARRAY(int64_t) corners;
  TL_ARRAY(uint64_t) id; /* of each triangle: its body, and below that one's shape and material */
  TL_ARRAY(uint32_t) shape, material;
} scene_surface;

static talus_status add_body(scene_surface *all, const talus_world *world, size_t slot,
                             const tl_surface *surface) {
  const tl_properties *property = &world->model.property;
  const tl_frame frame = tl_frame_from_quat(world->state.rotation[slot]);
  const size_t first = all->points.count, n = surface->points.count / 3,
               triangles = surface->corners.count / 3, before = all->id.count;
  TL_TRY(tl_array_resize(&all->points, first + n));
  for (size_t i = 0; i < n; ++i) {
    const double *p = &surface->points.data[3 * i], s = (double)property->scale[slot];
    all->points.data[first + i] =
        tl_dadd(world->state.position[slot],
                tl_frame_to_world(&frame, tl_dvec3(s * p[0], s * p[1], s * p[2])));
  }
  TL_TRY(tl_array_resize(&all->corners, 3 * (before + triangles)));
  for (size_t i = 0; i < 3 * triangles; ++i)
    all->corners.data[3 * before + i] = (int64_t)(first + surface->corners.data[i]);
  TL_TRY(tl_array_resize(&all->id, before + triangles));
  TL_TRY(tl_array_resize(&all->shape, before + triangles));
  TL_TRY(tl_array_resize(&all->material, before + triangles));
  for (size_t i = before; i < before + triangles; ++i) {
    all->id.data[i] = property->uid[slot];
    all->shape.data[i] = property->shape[slot];
    all->material.data[i] = property->material[slot];
  }
  return TALUS_OK;
}

/* Each shape is cut into triangles once, whatever the number of its bodies. */
static talus_status gather(scene_surface *all, const talus_world *world, tl_surface *of_shape) {
  const tl_model *model = &world->model;
  for (size_t i = 0; i < model->shapes.count; ++i)
    TL_TRY(tl_surface_make(&model->shapes.data[i], &of_shape[i]));
  for (size_t slot = 0; slot < model->bodies; ++slot) {
    const tl_surface *surface = &of_shape[model->property.shape[slot]];
    if (surface->corners.count > 0)
      TL_TRY(add_body(all, world, slot, surface));
  }
  return TALUS_OK;
}

static talus_status write_all(tl_h5_out *out, const talus_world *world, const scene_surface *all) {
  const size_t n = all->id.count;
  TL_TRY(tl_vtk_write_triangles(out, world, all->points.count, all->points.data, n,
                                all->corners.data));
  TL_TRY(tl_h5_write(out, "VTKHDF/CellData/id", TL_H5_U64, n, 1, all->id.data));
  TL_TRY(tl_h5_write(out, "VTKHDF/CellData/shape", TL_H5_U32, n, 1, all->shape.data));
  return tl_h5_write(out, "VTKHDF/CellData/material", TL_H5_U32, n, 1, all->material.data);
}

talus_status tl_output_write_surfaces(struct talus_world *world, const char *path, tl_file *keep) {
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  scene_surface all = {0};
  const size_t shapes = world->model.shapes.count, bytes = shapes * sizeof(tl_surface);
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, bytes));
  tl_surface *of_shape = block;
  if (shapes > 0)
    memset(of_shape, 0, bytes);
  talus_status status = gather(&all, world, of_shape);
  tl_h5_out out;
  if (status == TALUS_OK)
    status = tl_h5_create(
        &out, all.points.count * sizeof(talus_dvec3) + all.id.count * TL_VTK_TRIANGLE_BYTES, 0);
  if (status == TALUS_OK)
    status = tl_h5_finish(&out, write_all(&out, world, &all), path, keep, NULL);
  for (size_t i = 0; i < shapes; ++i)
    tl_surface_release(&of_shape[i]);
  (void)tl_resize(&block, bytes, 0); /* freeing cannot fail */
  tl_array_free(&all.points);
  tl_array_free(&all.corners);
  tl_array_free(&all.id);
  tl_array_free(&all.shape);
  tl_array_free(&all.material);
  return status;
}

#endif
