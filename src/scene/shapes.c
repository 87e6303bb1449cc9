#include "base/power.h"
#include "scene/shapes.h"

#include <math.h>

#include "scene/check.h"
#include "scene/files.h"
#include "scene/warn.h"

static void set_turned(talus_shape_def *def, const tl_scene_turned *turned) {
  def->size[0] = turned->radius, def->size[1] = turned->length;
}

static void set_points(talus_shape_def *def, const tl_scene_points *points) {
  def->points = points->rows.data;
  def->point_count = points->rows.count;
}

static void set_mass(talus_shape_def *def, const tl_scene_shape *shape) {
  def->volume = shape->volume;
  def->centre = (talus_dvec3){shape->centre[0], shape->centre[1], shape->centre[2]};
  memcpy(def->inertia, shape->inertia, sizeof shape->inertia);
}

static talus_sides sides_of(const tl_scene_shape *shape) {
  return tl_object_has(&tl_schema_shape, shape, "sides") ? (talus_sides)shape->sides
                                                         : TALUS_SIDES_AUTO;
}

static void set_wall(talus_shape_def *def, const tl_scene_shape *shape) {
  const bool is_tube = tl_object_has(&tl_schema_shape, shape, "tube");
  def->sides = sides_of(shape);
  if (tl_object_has(&tl_schema_shape, shape, "revolved")) {
    set_points(def, &shape->revolved);
    return;
  }
  def->size[0] = is_tube ? shape->tube.radius : shape->funnel.bottom;
  def->size[1] = is_tube ? shape->tube.radius : shape->funnel.top;
  def->size[2] = is_tube ? shape->tube.length : shape->funnel.length;
}

/* All but what a file holds. */
static talus_shape_def shape_def(const tl_scene_shape *shape) {
  talus_shape_def def = talus_shape_def_default();
  def.name = shape->name;
  def.kind = (talus_shape_kind)tl_scene_shape_kind(shape);
  def.open = shape->open;
  memset(def.size, 0, sizeof def.size);
  switch (def.kind) {
  case TALUS_SPHERE:
    def.size[0] = shape->sphere;
    break;
  case TALUS_BOX:
    memcpy(def.size, shape->box, sizeof shape->box);
    break;
  case TALUS_PLANE:
    memcpy(def.size, shape->plane, sizeof shape->plane);
    break;
  case TALUS_CONTAINER:
    memcpy(def.size, shape->container, sizeof shape->container);
    break;
  case TALUS_ELLIPSOID:
    memcpy(def.size, shape->ellipsoid, sizeof shape->ellipsoid);
    break;
  case TALUS_CAPSULE:
    set_turned(&def, &shape->capsule);
    break;
  case TALUS_CYLINDER:
    set_turned(&def, &shape->cylinder);
    break;
  case TALUS_CONE:
    set_turned(&def, &shape->cone);
    break;
  case TALUS_SUPERELLIPSOID:
    memcpy(def.size, shape->superellipsoid.half, sizeof shape->superellipsoid.half);
    def.size[3] = shape->superellipsoid.n1, def.size[4] = shape->superellipsoid.n2;
    break;
  case TALUS_HULL:
    set_points(&def, &shape->hull);
    break;
  case TALUS_CLUMP:
    set_points(&def, &shape->clump);
    set_mass(&def, shape);
    break;
  case TALUS_MESH:
    def.sides = sides_of(shape);
    def.thickness = shape->thickness;
    def.rounding = shape->rounding;
    set_mass(&def, shape);
    break;
  case TALUS_REVOLVED:
    set_wall(&def, shape);
    break;
  case TALUS_SHAPE_KINDS:
    break;
  }
  return def;
}

static double scale_of(const tl_scene_shape *shape) {
  return tl_object_has(&tl_schema_shape, shape, "scale") ? shape->scale : 1;
}

static talus_status make_mesh(const tl_scene_shape *shape, talus_mesh *lists) {
  const tl_scene_mesh *mesh = &shape->mesh;
  const double scale = scale_of(shape);
  talus_mesh_recipe recipe = {.kind = talus_mesh_recipe_name((size_t)mesh->make),
                              .triangles = (size_t)mesh->triangles,
                              .noise = mesh->noise,
                              .seed = mesh->seed};
  memcpy(recipe.size, mesh->size, sizeof recipe.size);
  TL_TRY(talus_mesh_make(&recipe, lists));
  for (size_t i = 0; i < lists->vertices; ++i)
    for (int k = 0; k < 3; ++k)
      lists->vertex[i][k] *= scale;
  return TALUS_OK;
}

static talus_status read_file(const talus_scene *scene, const tl_scene_shape *shape,
                              talus_mesh *lists) {
  const bool is_mesh = tl_scene_shape_kind(shape) == TALUS_MESH;
  tl_text path = {0};
  talus_points points = {0};
  tl_scene_add_path(&path, scene, is_mesh ? shape->mesh.file : shape->hull.file);
  TL_TRY(path.status);
  const double scale = scale_of(shape);
  const talus_status status =
      tl_scene_told_path(is_mesh ? talus_mesh_read(path.data, scale, lists)
                                 : talus_points_read(path.data, scale, &points));
  tl_text_drop(&path);
  if (!is_mesh)
    *lists = (talus_mesh){.vertex = (double(*)[3])points.data, .vertices = points.count};
  return status;
}

talus_status tl_scene_define_shape(const talus_scene *scene, const tl_scene_shape *shape,
                                   talus_shape_def *def, talus_mesh *lists) {
  *def = shape_def(shape);
  *lists = (talus_mesh){0};
  const bool is_mesh = def->kind == TALUS_MESH;
  if (!is_mesh && (def->kind != TALUS_HULL || !shape->hull.file))
    return TALUS_OK;
  const talus_status status =
      is_mesh && !shape->mesh.file ? make_mesh(shape, lists) : read_file(scene, shape, lists);
  def->points = (const double *)lists->vertex, def->point_count = lists->vertices;
  def->triangles = (const uint32_t *)lists->triangle, def->triangle_count = lists->triangles;
  return status;
}

/* What is made crosses itself nowhere. */
static talus_status look_for_crossings(const talus_scene *scene, const tl_scene_shape *shape,
                                       const talus_mesh *lists, tl_scene_crossings *found) {
  *found = (tl_scene_crossings){0};
  if (tl_scene_shape_kind(shape) != TALUS_MESH || !shape->mesh.file ||
      (scene->quiet & TL_WARN_SELF_CROSSING))
    return TALUS_OK;
  return talus_mesh_find_crossings(lists, &found->count, found->first);
}

talus_status tl_scene_add_shape(const talus_scene *scene, const tl_scene_shape *shape,
                                talus_world *world, talus_shape *made,
                                tl_scene_crossings *crossings) {
  talus_shape_def def;
  talus_mesh lists;
  talus_status status = tl_scene_define_shape(scene, shape, &def, &lists);
  if (status != TALUS_OK && shape->name)
    status = tl_fail_in(status, "shape '%s'", shape->name);
  if (status == TALUS_OK)
    status = talus_world_add_shape(world, &def, made);
  if (status == TALUS_OK)
    status = look_for_crossings(scene, shape, &lists, crossings);
  talus_mesh_free(&lists);
  return status;
}

talus_status tl_scene_shape_fault(const tl_scene_shape *shape, const char **fault) {
  talus_shape_def def = shape_def(shape);
  talus_shape_info info;
  def.name = NULL;
  *fault = NULL;
  const talus_status status = talus_shape_measure(&def, &info);
  if (status == TALUS_OK || status == TALUS_ERROR_MEMORY)
    return status;
  const char *message = tl_last_message(), *behind = strstr(message, ": ");
  *fault = behind ? behind + 2 : message;
  return TALUS_OK;
}

/* ---- for warnings ---------------------------------------------------------------------------- */

/* The size of a set of points is estimated: a warning is not worth an integration. */
static bool size_of_points(const tl_scene_points *points, size_t width, tl_scene_size_of *size) {
  const double *rows = points->rows.data;
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  if (points->rows.count == 0)
    return false;
  *size = (tl_scene_size_of){.inner = INFINITY};
  for (size_t i = 0; i < points->rows.count; ++i) {
    const double *p = rows + width * i, r = width == 4 ? p[3] : 0;
    for (int k = 0; k < 3; ++k)
      low[k] = fmin(low[k], p[k] - r), high[k] = fmax(high[k], p[k] + r);
    size->inner = width == 4 ? fmin(size->inner, r) : size->inner;
  }
  for (int k = 0; k < 3; ++k) {
    size->half[k] = (high[k] - low[k]) / 2;
    size->inner = fmin(size->inner, size->half[k]);
  }
  size->radius = tl_hypot_d(tl_hypot_d(size->half[0], size->half[1]), size->half[2]);
  size->volume = 4 * size->half[0] * size->half[1] * size->half[2];
  return true;
}

bool tl_scene_shape_size(const tl_scene_shape *shape, tl_scene_size_of *size) {
  const int kind = tl_scene_shape_kind(shape);
  if (kind == TALUS_HULL || kind == TALUS_CLUMP)
    return size_of_points(kind == TALUS_HULL ? &shape->hull : &shape->clump,
                          kind == TALUS_HULL ? 3 : 4, size);
  const talus_shape_def def = shape_def(shape);
  talus_shape_info info;
  if (kind < 0 || kind == TALUS_MESH || talus_shape_measure(&def, &info) != TALUS_OK ||
      !info.bounded)
    return false;
  const talus_dvec3 lo = info.bounds.lo, hi = info.bounds.hi;
  *size = (tl_scene_size_of){.radius = info.radius,
                             .volume = info.volume,
                             .half = {(hi.x - lo.x) / 2, (hi.y - lo.y) / 2, (hi.z - lo.z) / 2}};
  size->inner = fmin(fmin(size->half[0], size->half[1]), size->half[2]);
  return true;
}
