/* Public calls about shapes. */
#include "shape/facets.h"
#include "shape/mesh_file.h"
#include "shape/shape.h"
#include "world/world.h"

const char *talus_shape_kind_name(talus_shape_kind kind) {
  return (unsigned)kind < TALUS_SHAPE_KINDS ? tl_shape_kind_name(kind) : NULL;
}

static talus_shape_info info_of(const tl_shape *shape) {
  talus_shape_info info = {.name = shape->name, .kind = shape->kind, .bounded = shape->bounded};
  info.axes = shape->axes;
  if (!shape->bounded)
    return info;
  info.volume = shape->volume;
  info.centre = shape->centre;
  info.inertia = tl_widen(shape->gyration);
  info.bounds = tl_shape_bounds(shape, 1, shape->centre, shape->axes);
  info.radius = (double)shape->radius;
  info.error = shape->error;
  info.vertices = shape->point_count;
  info.faces = shape->face_count;
  info.edges = shape->edge_count;
  if (shape->kind == TALUS_MESH) {
    info.faces = shape->facets->facets;
    info.edges = shape->facets->edges;
    info.triangles = shape->facets->triangles;
    info.closed = tl_facets_open_edge(shape->facets) == TL_NONE;
  }
  return info;
}

talus_status talus_shape_measure(const talus_shape_def *def, talus_shape_info *info) {
  TL_NEED(def);
  TL_NEED(info);
  tl_shape shape;
  TL_TRY(tl_shape_make(def, &shape));
  *info = info_of(&shape);
  info->name = def->name;
  tl_shape_release(&shape);
  return TALUS_OK;
}

size_t talus_world_shape_count(const talus_world *world) {
  TL_NEED_OR(world, 0);
  return world->model.shapes.count;
}

talus_status talus_world_get_shape(const talus_world *world, size_t i, talus_shape_info *info) {
  TL_NEED(world);
  TL_NEED(info);
  if (i >= world->model.shapes.count)
    return tl_fail(TALUS_ERROR_INVALID, "there is no shape %zu, only %zu", i,
                   world->model.shapes.count);
  *info = info_of(&world->model.shapes.data[i]);
  return TALUS_OK;
}

talus_status talus_points_read(const char *path, double scale, talus_points *points) {
  TL_NEED(points);
  TL_NEED(path);
  tl_coordinates found = {0};
  *points = (talus_points){0};
  talus_status status = tl_mesh_read_points(path, scale, &found);
  void *exact = NULL; /* as long as its count says, because it is freed by its count */
  const size_t bytes = found.count * sizeof(double);
  if (status == TALUS_OK)
    status = tl_resize(&exact, 0, bytes);
  if (status == TALUS_OK) {
    points->data = memcpy(exact, found.data, bytes);
    points->count = found.count / 3;
  }
  tl_array_free(&found);
  return status;
}

void talus_points_free(talus_points *points) {
  if (!points)
    return;
  void *data = points->data;
  if (data)
    (void)tl_resize(&data, 3 * points->count * sizeof(double), 0); /* freeing cannot fail */
  *points = (talus_points){0};
}
