#include "output/output.h"

#include "kernels/collide.h"
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

/* Vertices of hulls and meshes, spheres of clumps and circles of revolved walls (about z: x and y
 * are 0) in the shape's OWN frame (x, y, z, radius; 0 for a vertex), shape after shape: those of
 * shape i are rows point_start[i] ... point_start[i + 1] - 1. Meshes may be left out.
 */
static talus_status write_points(tl_h5_out *out, const tl_model *model, bool without_meshes) {
  TL_ARRAY(double) points = {0};
  TL_ARRAY(uint32_t) start = {0};
  uint32_t total = 0;
  talus_status status = tl_array_push(&start, 0u);
  for (size_t i = 0; i < model->shapes.count && status == TALUS_OK; ++i) {
    const tl_shape *shape = &model->shapes.data[i];
    const size_t wide = tl_kind_width(shape->kind);
    const tl_frame axes = tl_frame_from_quat(shape->axes);
    const uint32_t count = without_meshes && shape->kind == TALUS_MESH ? 0 : shape->point_count;
    status = tl_array_resize(&points, 4 * ((size_t)total + count));
    for (uint32_t k = 0; k < count && status == TALUS_OK; ++k) {
      const double *p = &shape->points[wide * k];
      const talus_dvec3 place = wide == 2 ? tl_dvec3(0, 0, p[0]) : tl_dvec3(p[0], p[1], p[2]);
      const talus_dvec3 own = tl_dadd(shape->centre, tl_frame_to_world(&axes, place));
      double *to = &points.data[4 * ((size_t)total + k)];
      to[0] = own.x, to[1] = own.y, to[2] = own.z, to[3] = wide == 3 ? 0 : p[wide - 1];
    }
    total += count;
    if (status == TALUS_OK)
      status = tl_array_push(&start, total);
  }
  if (status == TALUS_OK)
    status = tl_h5_write(out, "talus/shapes/points", TL_H5_F64, total, 4, points.data);
  if (status == TALUS_OK)
    status = tl_h5_write(out, "talus/shapes/point_start", TL_H5_U32, start.count, 1, start.data);
  tl_array_free(&points);
  tl_array_free(&start);
  return status;
}

/* Triangles of meshes, and faces of hulls cut into triangles, counter-clockwise from outside: rows
 * of the shape's own points.
 */
static talus_status write_triangles(tl_h5_out *out, const tl_model *model, bool without_meshes) {
  TL_ARRAY(uint32_t) corner = {0}, start = {0};
  talus_status status = tl_array_push(&start, 0u);
  for (size_t i = 0; i < model->shapes.count && status == TALUS_OK; ++i) {
    const tl_shape *shape = &model->shapes.data[i];
    const bool is_mesh = shape->kind == TALUS_MESH;
    if (is_mesh && !without_meshes) {
      const size_t at = corner.count, corners = 3 * (size_t)shape->face_count;
      status = tl_array_resize(&corner, at + corners);
      if (status == TALUS_OK)
        memcpy(corner.data + at, shape->face_vertex, corners * sizeof(uint32_t));
    }
    for (uint32_t f = 0; f < shape->face_count && !is_mesh; ++f) {
      const uint32_t *v = &shape->face_vertex[shape->face_start[f]];
      const uint32_t n = shape->face_start[f + 1] - shape->face_start[f];
      for (uint32_t k = 2; k < n && status == TALUS_OK; ++k) {
        const size_t at = corner.count;
        status = tl_array_resize(&corner, at + 3);
        if (status == TALUS_OK)
          corner.data[at] = v[0], corner.data[at + 1] = v[k - 1], corner.data[at + 2] = v[k];
      }
    }
    if (status == TALUS_OK)
      status = tl_array_push(&start, (uint32_t)(corner.count / 3));
  }
  if (status == TALUS_OK)
    status =
        tl_h5_write(out, "talus/shapes/triangles", TL_H5_U32, corner.count / 3, 3, corner.data);
  if (status == TALUS_OK)
    status = tl_h5_write(out, "talus/shapes/triangle_start", TL_H5_U32, start.count, 1, start.data);
  tl_array_free(&corner);
  tl_array_free(&start);
  return status;
}

static talus_status write_shapes(tl_h5_out *out, const talus_world *world, bool without_meshes,
                                 unsigned char *scratch) {
  const tl_shape *rows = world->model.shapes.data;
  const size_t n = world->model.shapes.count;
#define MEMBER(name, type, columns)                                                                \
  TL_TRY(write_member(out, "talus/shapes/" #name, type, columns, rows, n, sizeof *rows,            \
                      offsetof(tl_shape, name), scratch))
  TL_TRY(tl_h5_group(out, "talus/shapes"));
  TL_TRY(tl_h5_write_texts(out, "talus/shapes/name", n, shape_name, world));
  TL_TRY(tl_h5_write_texts(out, "talus/shapes/kind", n, shape_kind, world));
  MEMBER(size, TL_H5_F64, 5);
  MEMBER(open, TL_H5_U32, 1);
  MEMBER(centre, TL_H5_F64, 3);
  MEMBER(axes, TL_H5_REAL, 4);
  TL_TRY(write_points(out, &world->model, without_meshes));
  return write_triangles(out, &world->model, without_meshes);
#undef MEMBER
}

static talus_status write_materials(tl_h5_out *out, const talus_world *world,
                                    unsigned char *scratch) {
  const tl_material *rows = world->model.materials.data;
  const size_t n = world->model.materials.count;
#define MEMBER(name, member)                                                                       \
  TL_TRY(write_member(out, "talus/materials/" #name, TL_H5_REAL, 1, rows, n, sizeof *rows,         \
                      offsetof(tl_material, member), scratch))
  TL_TRY(tl_h5_group(out, "talus/materials"));
  TL_TRY(tl_h5_write_texts(out, "talus/materials/name", n, material_name, world));
  MEMBER(density, density);
  MEMBER(friction, law.friction);
  MEMBER(restitution, law.restitution);
  MEMBER(static_friction, law.static_friction);
  MEMBER(rolling, law.rolling);
  MEMBER(spinning, law.spinning);
  MEMBER(cohesion, law.cohesion);
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

static const char *joint_name(const void *context, size_t i) {
  const char *name = ((const talus_world *)context)->joints.all.data[i].name;
  return name ? name : "";
}

static const char *joint_kind(const void *context, size_t i) {
  return tl_joint_kind_name(((const talus_world *)context)->joints.all.data[i].kind);
}

/* Only where there are joints. body_a, body_b: uids, 0 the ground. */
static talus_status write_joints(tl_h5_out *out, const talus_world *world, unsigned char *scratch) {
  const tl_joint *rows = world->joints.all.data;
  const size_t n = world->joints.all.count;
  if (n == 0)
    return TALUS_OK;
#define MEMBER(name, type, columns)                                                                \
  TL_TRY(write_member(out, "talus/joints/" #name, type, columns, rows, n, sizeof *rows,            \
                      offsetof(tl_joint, name), scratch))
  TL_TRY(tl_h5_group(out, "talus/joints"));
  TL_TRY(tl_h5_write_texts(out, "talus/joints/name", n, joint_name, world));
  TL_TRY(tl_h5_write_texts(out, "talus/joints/kind", n, joint_kind, world));
  MEMBER(broken, TL_H5_U8, 1);
  MEMBER(value, TL_H5_F64, 1);
  MEMBER(drift, TL_H5_F64, 1);
  MEMBER(force, TL_H5_REAL, 3);
  MEMBER(torque, TL_H5_REAL, 3);
#undef MEMBER
  uint64_t *uids = (uint64_t *)(void *)scratch;
  double *anchors = (double *)(void *)scratch;
  for (size_t i = 0; i < n; ++i)
    uids[i] = rows[i].a == TL_NONE ? 0 : world->model.property.uid[rows[i].a];
  TL_TRY(tl_h5_write(out, "talus/joints/body_a", TL_H5_U64, n, 1, uids));
  for (size_t i = 0; i < n; ++i)
    uids[i] = rows[i].b == TL_NONE ? 0 : world->model.property.uid[rows[i].b];
  TL_TRY(tl_h5_write(out, "talus/joints/body_b", TL_H5_U64, n, 1, uids));
  for (size_t i = 0; i < n; ++i) {
    const talus_dvec3 at = tl_joint_anchor_b(&world->state, &rows[i]);
    anchors[3 * i] = at.x, anchors[3 * i + 1] = at.y, anchors[3 * i + 2] = at.z;
  }
  return tl_h5_write(out, "talus/joints/anchor", TL_H5_F64, n, 3, anchors);
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
  if (state->pace)
    TL_TRY(tl_h5_write(out, "VTKHDF/PointData/pace", TL_H5_F64, n, 1, state->pace));
  TL_TRY(tl_h5_write(out, "VTKHDF/PointData/shape", TL_H5_U32, n, 1, model->property.shape));
  TL_TRY(tl_h5_write(out, "VTKHDF/PointData/material", TL_H5_U32, n, 1, model->property.material));
  TL_TRY(write_shapes(out, world, (fields & TL_FRAME_SHAPES) != 0, scratch));
  TL_TRY(write_materials(out, world, scratch));
  TL_TRY(write_bodies(out, world, scratch));
  return write_joints(out, world, scratch);
}

static talus_status write_lists(tl_h5_out *out, const talus_world *world) {
  const size_t n = world->model.shapes.count;
  TL_TRY(tl_h5_group(out, "talus"));
  TL_TRY(tl_h5_group(out, "talus/shapes"));
  TL_TRY(tl_h5_write_texts(out, "talus/shapes/name", n, shape_name, world));
  TL_TRY(tl_h5_write_texts(out, "talus/shapes/kind", n, shape_kind, world));
  TL_TRY(write_points(out, &world->model, false));
  return write_triangles(out, &world->model, false);
}

talus_status tl_output_write_shapes(struct talus_world *world, const char *path, tl_file *keep) {
  tl_h5_out out;
  size_t bytes = 4096;
  for (size_t i = 0; i < world->model.shapes.count; ++i)
    bytes += 32 * (size_t)world->model.shapes.data[i].point_count +
             12 * (size_t)world->model.shapes.data[i].face_count;
  TL_TRY(tl_h5_create(&out, bytes, 0));
  return tl_h5_finish(&out, write_lists(&out, world), path, keep, NULL);
}

/* Room for the widest column of any table above. */
static size_t scratch_bytes(const talus_world *world) {
  const size_t wide = 5 * sizeof(double);
  return (world->model.bodies + world->model.shapes.count + world->model.materials.count +
          world->names.count + world->joints.all.count + 1) *
         wide;
}

talus_status tl_output_write_frame(struct talus_world *world, const char *path, tl_file *keep,
                                   unsigned fields) {
  TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE(joints), TL_READ));
  const size_t row = TL_VTK_POINT_BYTES + 16 + 15 * sizeof(talus_real);
  const size_t bytes = scratch_bytes(world);
  void *scratch = NULL;
  TL_TRY(tl_resize(&scratch, 0, bytes));
  tl_h5_out out;
  talus_status status = tl_h5_create(&out, world->model.bodies * row + bytes / 16, 0);
  if (status == TALUS_OK)
    status = tl_h5_finish(&out, write_frame(&out, world, fields, scratch), path, keep, NULL);
  (void)tl_resize(&scratch, bytes, 0); /* freeing cannot fail */
  return status;
}

#endif
