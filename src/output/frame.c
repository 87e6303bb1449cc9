#include "output/output.h"

#include "output/vtk.h"

#if TALUS_HAVE_HDF5

/* ---- tables under /talus --------------------------------------------------------------------- */

static const char *shape_name(const void *world, size_t i) {
  return ((const talus_world *)world)->model.shapes.data[i].name;
}
static const char *shape_kind(const void *world, size_t i) {
  return tl_shape_kind_name(((const talus_world *)world)->model.shapes.data[i].kind);
}
static const char *material_name(const void *world, size_t i) {
  return ((const talus_world *)world)->model.materials.data[i].name;
}
static const char *body_name(const void *world, size_t i) {
  return ((const talus_world *)world)->names.data[i].name;
}

/* Copies the member at `offset` of n rows of a struct, `stride` bytes apart, to a dataset. */
static talus_status write_member(tl_h5_out *out, const char *name, tl_h5_type type, size_t columns,
                                 const void *rows, size_t n, size_t stride, size_t offset,
                                 unsigned char *scratch) {
  const size_t bytes = columns * tl_h5_size(type);
  for (size_t i = 0; i < n; ++i)
    memcpy(scratch + i * bytes, (const unsigned char *)rows + i * stride + offset, bytes);
  return tl_h5_write(out, name, type, n, columns, scratch);
}

static talus_status write_shapes(tl_h5_out *out, const talus_world *world, unsigned char *scratch) {
  const tl_shape *rows = world->model.shapes.data;
  const size_t n = world->model.shapes.count;
#define MEMBER(name, type, columns)                                                                \
  TL_TRY(write_member(out, "talus/shapes/" #name, type, columns, rows, n, sizeof *rows,            \
                      offsetof(tl_shape, name), scratch))
  TL_TRY(tl_h5_group(out, "talus/shapes"));
  TL_TRY(tl_h5_write_texts(out, "talus/shapes/name", n, shape_name, world));
  TL_TRY(tl_h5_write_texts(out, "talus/shapes/kind", n, shape_kind, world));
  MEMBER(size, TL_H5_F64, 4);
  MEMBER(open, TL_H5_U32, 1);
  MEMBER(centre, TL_H5_F64, 3);
  MEMBER(axes, TL_H5_REAL, 4);
  return TALUS_OK;
#undef MEMBER
}

static talus_status write_materials(tl_h5_out *out, const talus_world *world,
                                    unsigned char *scratch) {
  const tl_material *rows = world->model.materials.data;
  const size_t n = world->model.materials.count;
#define MEMBER(name)                                                                               \
  TL_TRY(write_member(out, "talus/materials/" #name, TL_H5_REAL, 1, rows, n, sizeof *rows,         \
                      offsetof(tl_material, name), scratch))
  TL_TRY(tl_h5_group(out, "talus/materials"));
  TL_TRY(tl_h5_write_texts(out, "talus/materials/name", n, material_name, world));
  MEMBER(density);
  MEMBER(friction);
  MEMBER(restitution);
  return TALUS_OK;
#undef MEMBER
}

static talus_status write_bodies(tl_h5_out *out, const talus_world *world, unsigned char *scratch) {
  const size_t names = world->names.count;
  TL_TRY(tl_h5_group(out, "talus/bodies"));
  TL_TRY(tl_h5_write(out, "talus/bodies/scale", TL_H5_REAL, world->model.bodies, 1,
                     world->model.property.scale));
  TL_TRY(tl_h5_group(out, "talus/names"));
  TL_TRY(write_member(out, "talus/names/id", TL_H5_U64, 1, world->names.data, names,
                      sizeof *world->names.data, offsetof(tl_body_name, uid), scratch));
  return tl_h5_write_texts(out, "talus/names/name", names, body_name, world);
}

/* ---- arrays of points ------------------------------------------------------------------------ */

static talus_status write_radius(tl_h5_out *out, const talus_world *world, talus_real *radius) {
  const size_t n = world->model.bodies;
  for (size_t i = 0; i < n; ++i)
    radius[i] = tl_body_shape(&world->model, i)->radius * world->model.property.scale[i];
  return tl_h5_write(out, "VTKHDF/PointData/radius", TL_H5_REAL, n, 1, radius);
}

/* Half the edges of the box about a shape in its own frame, at scale 1; 0 if unbounded. */
static talus_vec3 half_axes_of(const tl_shape *shape) {
  if (!shape->bounded)
    return tl_vec3(0, 0, 0);
  const talus_box box = tl_shape_bounds(shape, 1.0, shape->centre, shape->axes);
  return tl_narrow(tl_dscale(tl_dsub(box.hi, box.lo), 0.5));
}

static talus_status write_half_axes(tl_h5_out *out, const talus_world *world, talus_vec3 *half,
                                    talus_vec3 *of_shape) {
  const tl_model *model = &world->model;
  for (size_t i = 0; i < model->shapes.count; ++i)
    of_shape[i] = half_axes_of(&model->shapes.data[i]);
  for (size_t i = 0; i < model->bodies; ++i)
    half[i] = tl_scale(of_shape[model->property.shape[i]], model->property.scale[i]);
  return tl_h5_write(out, "VTKHDF/PointData/half_axes", TL_H5_REAL, model->bodies, 3, half);
}

/* The state holds the principal frame P = S axes, files the shape's own frame S = P axes^-1. */
static talus_status write_quaternions(tl_h5_out *out, const talus_world *world, talus_quat *own) {
  const size_t n = world->model.bodies;
  for (size_t i = 0; i < n; ++i) {
    const talus_quat axes = tl_body_shape(&world->model, i)->axes;
    own[i] = tl_quat_mul(world->state.rotation[i], tl_quat_conj(axes));
  }
  return tl_h5_write(out, "VTKHDF/PointData/quaternion", TL_H5_REAL, n, 4, own);
}

static talus_status write_frame(tl_h5_out *out, const talus_world *world, unsigned fields,
                                void *scratch) {
  const tl_model *model = &world->model;
  const tl_state *state = &world->state;
  const size_t n = model->bodies;
  TL_TRY(tl_vtk_write_points(out, world, n, state->position));
  TL_TRY(tl_h5_write(out, "VTKHDF/PointData/id", TL_H5_U64, n, 1, model->property.uid));
  TL_TRY(write_radius(out, world, scratch));
  TL_TRY(write_half_axes(out, world, scratch, (talus_vec3 *)scratch + n));
  if (fields & TL_FRAME_QUATERNION)
    TL_TRY(write_quaternions(out, world, scratch));
  if (fields & TL_FRAME_VELOCITY)
    TL_TRY(tl_h5_write(out, "VTKHDF/PointData/velocity", TL_H5_REAL, n, 3, state->velocity));
  if (fields & TL_FRAME_SPIN)
    TL_TRY(tl_h5_write(out, "VTKHDF/PointData/spin", TL_H5_REAL, n, 3, state->spin));
  TL_TRY(tl_h5_write(out, "VTKHDF/PointData/shape", TL_H5_U32, n, 1, model->property.shape));
  TL_TRY(tl_h5_write(out, "VTKHDF/PointData/material", TL_H5_U32, n, 1, model->property.material));
  TL_TRY(write_shapes(out, world, scratch));
  TL_TRY(write_materials(out, world, scratch));
  return write_bodies(out, world, scratch);
}

/* Room for the widest column of any table above. */
static size_t scratch_bytes(const talus_world *world) {
  const size_t wide = 4 * sizeof(double);
  return (world->model.bodies + world->model.shapes.count + world->model.materials.count +
          world->names.count + 1) *
         wide;
}

talus_status tl_output_write_frame(struct talus_world *world, const char *path, unsigned fields) {
  const size_t row = TL_VTK_POINT_BYTES + 16 + 15 * sizeof(talus_real);
  const size_t bytes = scratch_bytes(world);
  void *scratch = NULL;
  TL_TRY(tl_resize(&scratch, 0, bytes));
  tl_h5_out out;
  talus_status status = tl_h5_create(&out, world->model.bodies * row + bytes / 16, 0);
  if (status == TALUS_OK)
    status = tl_h5_finish(&out, write_frame(&out, world, fields, scratch), path, NULL);
  (void)tl_resize(&scratch, bytes, 0); /* freeing cannot fail */
  return status;
}

#endif
