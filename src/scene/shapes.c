#include "base/power.h"
#include "scene/shapes.h"

#include <math.h>

#include "scene/check.h"
#include "scene/files.h"

static void set_turned(talus_shape_def *def, const tl_scene_turned *turned) {
  def->size[0] = turned->radius, def->size[1] = turned->length;
}

static void set_points(talus_shape_def *def, const tl_scene_points *points) {
  def->points = points->rows.data;
  def->point_count = points->rows.count;
}

static void set_wall(talus_shape_def *def, const tl_scene_shape *shape) {
  const bool is_tube = tl_object_has(&tl_schema_shape, shape, "tube");
  def->sides =
      tl_object_has(&tl_schema_shape, shape, "sides") ? (talus_sides)shape->sides : TALUS_SIDES_IN;
  if (tl_object_has(&tl_schema_shape, shape, "revolved")) {
    set_points(def, &shape->revolved);
    return;
  }
  def->size[0] = is_tube ? shape->tube.radius : shape->funnel.bottom;
  def->size[1] = is_tube ? shape->tube.radius : shape->funnel.top;
  def->size[2] = is_tube ? shape->tube.length : shape->funnel.length;
}

/* All but the points of a file. */
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
    def.volume = shape->volume;
    def.centre = (talus_dvec3){shape->centre[0], shape->centre[1], shape->centre[2]};
    memcpy(def.inertia, shape->inertia, sizeof shape->inertia);
    break;
  case TALUS_REVOLVED:
    set_wall(&def, shape);
    break;
  case TALUS_SHAPE_KINDS:
    break;
  }
  return def;
}

static talus_status read_file(const talus_scene *scene, const tl_scene_shape *shape,
                              talus_points *points) {
  tl_text path = {0};
  tl_scene_add_path(&path, scene, shape->hull.file);
  TL_TRY(path.status);
  const double scale = tl_object_has(&tl_schema_shape, shape, "scale") ? shape->scale : 1;
  const talus_status status = tl_scene_told_path(talus_points_read(path.data, scale, points));
  tl_text_drop(&path);
  return status;
}

talus_status tl_scene_define_shape(const talus_scene *scene, const tl_scene_shape *shape,
                                   talus_shape_def *def, talus_points *points) {
  *def = shape_def(shape);
  *points = (talus_points){0};
  if (def->kind != TALUS_HULL || !shape->hull.file)
    return TALUS_OK;
  const talus_status status = read_file(scene, shape, points);
  def->points = points->data, def->point_count = points->count;
  return status;
}

talus_status tl_scene_add_shape(const talus_scene *scene, const tl_scene_shape *shape,
                                talus_world *world, talus_shape *made) {
  talus_shape_def def;
  talus_points points;
  talus_status status = tl_scene_define_shape(scene, shape, &def, &points);
  if (status == TALUS_OK)
    status = talus_world_add_shape(world, &def, made);
  else if (shape->name)
    status = tl_fail_in(status, "shape '%s'", shape->name);
  talus_points_free(&points);
  return status;
}

const char *tl_scene_shape_fault(const tl_scene_shape *shape) {
  talus_shape_def def = shape_def(shape);
  talus_shape_info info;
  def.name = NULL;
  if (talus_shape_measure(&def, &info) == TALUS_OK)
    return NULL;
  const char *message = tl_last_message(), *behind = strstr(message, ": ");
  return behind ? behind + 2 : message;
}

/* ---- for warnings ------------------------------------------------------------------------------
 */

/* Points are not measured exactly: a warning is no reason for a quadrature. */
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
  if (kind < 0 || talus_shape_measure(&def, &info) != TALUS_OK || !info.bounded)
    return false;
  const talus_dvec3 lo = info.bounds.lo, hi = info.bounds.hi;
  *size = (tl_scene_size_of){.radius = info.radius,
                             .volume = info.volume,
                             .half = {(hi.x - lo.x) / 2, (hi.y - lo.y) / 2, (hi.z - lo.z) / 2}};
  size->inner = fmin(fmin(size->half[0], size->half[1]), size->half[2]);
  return true;
}
