/* Hulls, clumps and containers of a table of bodies: from mesh files and from scene files. */
#include "detect/table.h"

#include <stdio.h>
#include <strings.h>

#include "detect/detect.h"
#include "scene/check.h"
#include "scene/shapes.h"
#include <talus/scene.h>

static bool ends_in(const char *path, const char *suffix) {
  const size_t length = strlen(path), end = strlen(suffix);
  return length > end && strcasecmp(path + length - end, suffix) == 0;
}

static bool is_scene(const char *path) { return ends_in(path, ".yaml") || ends_in(path, ".yml"); }

/* Path of a file named in the table, relative to the table's folder. */
static talus_status resolve(const tl_input *in, const char *file, char **path) {
  const char *slash = strrchr(in->path, '/');
  tl_text text = {0};
  if (file[0] != '/' && slash)
    tl_text_add_bytes(&text, in->path, (size_t)(slash + 1 - in->path));
  tl_text_add_bytes(&text, file, strlen(file));
  return tl_text_take(&text, path);
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static talus_status no_shape(const char *path, const tl_table_file *file, size_t fitting) {
  const char *kind = talus_shape_kind_name(file->kind);
  if (file->name[0])
    return tl_fail(TALUS_ERROR_FORMAT, "%s has no %s `%s` among its shapes", path, kind,
                   file->name);
  if (fitting > 1)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s has %zu shapes that are a %s; a column `name` says which", path, fitting,
                   kind);
  return tl_fail(TALUS_ERROR_FORMAT, "%s has no %s among its shapes", path, kind);
}

/* The shape with that name, or the only one of the kind. */
static talus_status pick_shape(const char *path, const talus_scene *scene,
                               const tl_table_file *file, const tl_scene_shape **found) {
  const tl_scene_shape *list = scene->shapes.data;
  size_t fitting = 0;
  for (size_t i = 0; i < scene->shapes.count; ++i)
    if (tl_scene_shape_kind(&list[i]) == (int)file->kind &&
        (!file->name[0] || strcmp(list[i].name, file->name) == 0)) {
      *found = &list[i];
      fitting++;
    }
  return fitting == 1 ? TALUS_OK : no_shape(path, file, fitting);
}

static talus_status read_scene(const char *path, tl_table_file *file, talus_shape_def *def) {
  talus_scene *scene;
  const tl_scene_shape *shape = NULL;
  talus_mesh lists = {0};
  TL_TRY(talus_scene_load(path, NULL, 0, &scene, NULL));
  talus_status status = pick_shape(path, scene, file, &shape);
  if (status == TALUS_OK)
    status = tl_scene_define_shape(scene, shape, def, &lists);
  if (status == TALUS_OK && def->point_count > 0) {
    const size_t width = def->kind == TALUS_CLUMP ? 4 : 3;
    void *block = NULL;
    file->bytes = width * def->point_count * sizeof(double);
    status = tl_resize(&block, 0, file->bytes);
    if (status == TALUS_OK)
      def->points = file->points = memcpy(block, def->points, file->bytes);
  }
  if (status == TALUS_OK && def->triangle_count > 0) {
    void *block = NULL;
    file->triangle_bytes = 3 * def->triangle_count * sizeof(uint32_t);
    status = tl_resize(&block, 0, file->triangle_bytes);
    if (status == TALUS_OK)
      def->triangles = file->triangles = memcpy(block, def->triangles, file->triangle_bytes);
  }
  talus_mesh_free(&lists);
  talus_scene_free(scene);
  def->name = NULL; /* belonged to the scene */
  return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static talus_status read_triangles(const char *path, tl_table_file *file, talus_shape_def *def) {
  talus_mesh mesh;
  TL_TRY(talus_mesh_read(path, 1, &mesh));
  def->points = file->points = (double *)mesh.vertex;
  def->triangles = file->triangles = (uint32_t *)mesh.triangle;
  def->point_count = mesh.vertices, def->triangle_count = mesh.triangles;
  file->bytes = 3 * mesh.vertices * sizeof(double);
  file->triangle_bytes = 3 * mesh.triangles * sizeof(uint32_t);
  return TALUS_OK;
}

static talus_status read_mesh(const char *path, tl_table_file *file, talus_shape_def *def) {
  talus_points points;
  if (file->kind == TALUS_MESH)
    return read_triangles(path, file, def);
  if (file->kind != TALUS_HULL)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s: a %s stands in a scene file (.yaml) with its shape; a file of triangles "
                   "is a mesh or a hull",
                   path, talus_shape_kind_name(file->kind));
  TL_TRY(talus_points_read(path, 1, &points));
  def->points = file->points = points.data;
  def->point_count = points.count;
  file->bytes = 3 * points.count * sizeof(double);
  return TALUS_OK;
}

/* Impossible shapes are reported here, with the line of the table, not later. The mass is not
 * computed: that of a clump is an integral, which contacts do not need. */
static talus_status finish(const talus_shape_def *def) {
  talus_shape_info unused;
  const talus_shape_def massless = tl_detect_massless(def);
  return talus_shape_measure(&massless, &unused);
}

static talus_status load(const tl_input *in, tl_table_file *file, talus_shape_def *def) {
  char *path = NULL;
  TL_TRY(resolve(in, file->path, &path));
  *def = talus_shape_def_default();
  def->kind = file->kind;
  memset(def->size, 0, sizeof def->size);
  talus_status status = is_scene(path) ? read_scene(path, file, def) : read_mesh(path, file, def);
  if (status == TALUS_OK) {
    status = finish(def);
    if (status != TALUS_OK && status != TALUS_ERROR_MEMORY)
      status = tl_fail_in(status, "%s", path);
  }
  tl_string_free(&path);
  return status;
}

static bool is_text(tl_span span, const char *text) {
  return strlen(text) == span.length && memcmp(span.text, text, span.length) == 0;
}

talus_status tl_table_find_file(talus_body_rows *rows, tl_input *in, tl_span file, tl_span name,
                                talus_shape_kind kind, uint32_t *row, bool *found) {
  for (size_t i = rows->files.count; i-- > 0;) { /* rows of one shape are often consecutive */
    const tl_table_file *known = &rows->files.data[i];
    if (known->kind == kind && is_text(file, known->path) && is_text(name, known->name)) {
      *row = known->row;
      *found = !known->is_bad;
      return TALUS_OK;
    }
  }
  const tl_table_file empty = {.kind = kind, .row = (uint32_t)rows->shapes.count};
  TL_TRY(tl_array_push(&rows->files, empty));
  tl_table_file *made = &rows->files.data[rows->files.count - 1];
  TL_TRY(tl_string_copy(file.text, file.length, &made->path));
  TL_TRY(tl_string_copy(name.text, name.length, &made->name));
  talus_shape_def def;
  const talus_status status = load(in, made, &def);
  if (status == TALUS_ERROR_MEMORY)
    return status;
  made->is_bad = status != TALUS_OK;
  *row = made->row;
  *found = !made->is_bad;
  if (*found)
    return tl_array_push(&rows->shapes, def);
  char why[300]; /* the first error of the file */
  snprintf(why, sizeof why, "%.*s", (int)strcspn(tl_last_message(), "\n"), tl_last_message());
  tl_input_wrong(in, file.text, "column 'file': %s", why);
  return TALUS_OK;
}

void tl_table_free_files(talus_body_rows *rows) {
  for (size_t i = 0; i < rows->files.count; ++i) {
    tl_table_file *file = &rows->files.data[i];
    void *points = file->points, *triangles = file->triangles;
    if (triangles)
      (void)tl_resize(&triangles, file->triangle_bytes, 0); /* freeing cannot fail */
    if (points)
      (void)tl_resize(&points, file->bytes, 0); /* freeing cannot fail */
    tl_string_free(&file->path);
    tl_string_free(&file->name);
  }
  tl_array_free(&rows->files);
}
