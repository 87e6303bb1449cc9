/* Loads over time, and plates that press. */
#include <math.h>

#include "kernels/quat.h"
#include "scene/build.h"
#include "scene/files.h"

talus_status tl_scene_read_course(const talus_scene *scene, const tl_scene_course *course,
                                  int columns, talus_table *rows) {
  *rows = (talus_table){.data = course->ramp.data, .rows = course->ramp.count};
  if (!course->table)
    return TALUS_OK;
  tl_text path = {0};
  tl_scene_add_path(&path, scene, course->table);
  TL_TRY(path.status);
  const talus_status status = tl_scene_told_path(talus_course_read(path.data, columns, rows));
  tl_text_drop(&path);
  return status;
}

void tl_scene_free_course(const tl_scene_course *course, talus_table *rows) {
  if (course->table)
    talus_table_free(rows);
}

static talus_status set_course(const talus_scene *scene, talus_world *world, talus_body body,
                               talus_load load, const tl_scene_course *course) {
  talus_table rows = {0};
  if (!tl_scene_varies(course))
    return TALUS_OK;
  talus_status status = tl_scene_read_course(scene, course, 4, &rows);
  if (status == TALUS_OK)
    status = talus_body_set_course(world, body, load, rows.data, rows.rows);
  tl_scene_free_course(course, &rows);
  return status;
}

/* Of a box or a cylinder, seen along the axis: the sum of its faces' areas times how much they face
 * it; a cylinder's side is seen as a rectangle. */
static talus_status find_area(const talus_world *world, talus_body body, const double axis[3],
                              double *area) {
  talus_body_info info;
  talus_shape_info shape;
  TL_TRY(talus_world_get_body(world, body, &info));
  TL_TRY(talus_world_get_shape(world, info.shape.index, &shape));
  if (shape.kind != TALUS_BOX && shape.kind != TALUS_CYLINDER)
    return tl_fail(TALUS_ERROR_INVALID,
                   "press.pressure is on a %s; give its `area`, or the `force`",
                   talus_shape_kind_name(shape.kind));
  const double scale = (double)info.scale;
  const double edge[3] = {scale * (shape.bounds.hi.x - shape.bounds.lo.x),
                          scale * (shape.bounds.hi.y - shape.bounds.lo.y),
                          scale * (shape.bounds.hi.z - shape.bounds.lo.z)};
  const talus_vec3 a = {(talus_real)axis[0], (talus_real)axis[1], (talus_real)axis[2]};
  /* Into the box's own axes. */
  const talus_quat own = tl_quat_mul(info.rotation, tl_quat_conj(shape.axes));
  const talus_dvec3 n = tl_widen(tl_quat_unrotate(own, a));
  if (shape.kind == TALUS_CYLINDER) {
    const double flat = sqrt(n.x * n.x + n.y * n.y);
    *area = (TL_PI / 4 * edge[0] * edge[0] * fabs(n.z) + edge[0] * edge[2] * flat) / tl_dlength(n);
    return TALUS_OK;
  }
  *area = (fabs(n.x) * edge[1] * edge[2] + fabs(n.y) * edge[0] * edge[2] +
           fabs(n.z) * edge[0] * edge[1]) /
          tl_dlength(n);
  return TALUS_OK;
}

static talus_status press(const talus_scene *scene, talus_world *world, talus_body body,
                          const tl_scene_press *told) {
  const bool is_pressure = tl_object_has(&tl_schema_press, told, "pressure");
  const tl_scene_course *course = is_pressure ? &told->pressure : &told->force;
  double area = told->area;
  if (!is_pressure)
    area = 1;
  else if (!tl_object_has(&tl_schema_press, told, "area"))
    TL_TRY(find_area(world, body, told->axis, &area));
  talus_table rows = {0};
  TL_ARRAY(double) forces = {0};
  talus_press_def def = {
      .axis = {(talus_real)told->axis[0], (talus_real)told->axis[1], (talus_real)told->axis[2]},
      .force = area * course->value[0],
      .max_speed = told->max_speed};
  talus_status status = TALUS_OK;
  if (tl_scene_varies(course))
    status = tl_scene_read_course(scene, course, 2, &rows);
  if (status == TALUS_OK)
    status = tl_array_resize(&forces, 2 * rows.rows);
  for (size_t i = 0; i < rows.rows && status == TALUS_OK; ++i) {
    forces.data[2 * i] = rows.data[2 * i];
    forces.data[2 * i + 1] = area * rows.data[2 * i + 1];
  }
  def.course = forces.data;
  def.rows = rows.rows;
  if (status == TALUS_OK)
    status = talus_body_press(world, body, &def);
  tl_scene_free_course(course, &rows);
  tl_array_free(&forces);
  return status;
}

talus_status tl_scene_load_body(const talus_scene *scene, talus_world *world,
                                const tl_scene_body *body) {
  talus_body made;
  if (!body->press && !tl_scene_varies(&body->force) && !tl_scene_varies(&body->torque))
    return TALUS_OK;
  TL_TRY(talus_world_body_at(world, talus_world_body_count(world) - 1, &made));
  TL_TRY(set_course(scene, world, made, TALUS_LOAD_FORCE, &body->force));
  TL_TRY(set_course(scene, world, made, TALUS_LOAD_TORQUE, &body->torque));
  return body->press ? press(scene, world, made, body->press) : TALUS_OK;
}
