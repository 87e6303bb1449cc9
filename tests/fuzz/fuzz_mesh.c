/* Any bytes as a mesh: STL, OBJ, PLY or rows of points, by the first byte.
 * What is read is finite, each place once, and makes a hull or a reason why not; of triangles all
 * corners are there, and they can be looked at and mended. */
#include "fuzz.h"
#include "shape/mesh_file.h"
#include "shape/mesh_tools.h"
#include <talus/talus.h>

#include <math.h>

/* A hull of a few points: quickhull is not what is looked for here, and it has its own tests. */
static void try_hull(const tl_coordinates *points) {
  talus_shape_def def = talus_shape_def_default();
  talus_shape_info info;
  def.kind = TALUS_HULL;
  def.points = points->data;
  def.point_count = points->count / 3 < 64 ? points->count / 3 : 64;
  if (talus_shape_measure(&def, &info) == TALUS_OK)
    PROMISE(info.volume > 0 && info.radius > 0, "a hull of volume %g", info.volume);
  else
    PROMISE(talus_last_error()[0] != '\0', "refused without a word");
}

static void read_points(const char *name, const char *bytes, size_t size) {
  tl_coordinates points = {0};
  if (tl_mesh_parse_points(name, bytes, size, 1.5, &points) == TALUS_OK) {
    PROMISE(points.count > 0 && points.count % 3 == 0, "%zu numbers", points.count);
    for (size_t i = 0; i < points.count; ++i)
      PROMISE(!isnan(points.data[i]), "number %zu is none", i);
    try_hull(&points);
  } else {
    PROMISE(points.count == 0, "refused, and yet there are points");
    promise_message(talus_last_error(), name);
  }
  tl_array_free(&points);
}

/* The shape of a body, or a reason why not. */
static void try_shape(const tl_mesh *mesh) {
  talus_shape_def def = talus_shape_def_default();
  talus_shape_info info;
  def.kind = TALUS_MESH;
  def.points = (const double *)mesh->vertex, def.point_count = mesh->vertices;
  def.triangles = (const uint32_t *)mesh->triangle, def.triangle_count = mesh->triangles;
  if (talus_shape_measure(&def, &info) == TALUS_OK)
    PROMISE(isfinite(info.volume) && info.radius >= 0 && isfinite(info.radius), "volume %g",
            info.volume);
  else
    PROMISE(talus_last_error()[0] != '\0', "refused without a word");
}

/* Small ones are mended too: what is made of them is as sound as what was read. */
static void mend(tl_mesh *mesh) {
  const talus_mesh_repair_def def = {.weld = -1, .close_holes = true};
  talus_mesh_repairs done;
  tl_mesh_report report;
  size_t crossings;
  uint32_t first[2];
  PROMISE(tl_mesh_find_crossings(mesh, &crossings, first) == TALUS_OK, "%s", talus_last_error());
  if (tl_mesh_repair(mesh, &def, &done) != TALUS_OK)
    return;
  PROMISE(tl_mesh_check(mesh, &report) == TALUS_OK, "%s", talus_last_error());
  PROMISE(report.duplicates <= done.added, "%zu triangles are there twice", report.duplicates);
}

static void read_triangles(const char *name, const char *bytes, size_t size) {
  tl_mesh mesh = {0};
  if (tl_mesh_parse(name, bytes, size, 1.5, &mesh) == TALUS_OK) {
    tl_mesh_report report;
    PROMISE(mesh.triangles > 0 && mesh.vertices > 0, "nothing was read");
    for (size_t i = 0; i < 3 * mesh.triangles; ++i)
      PROMISE(mesh.triangle[i / 3][i % 3] < mesh.vertices, "a corner of triangle %zu", i / 3);
    for (size_t i = 0; i < 3 * mesh.vertices; ++i)
      PROMISE(isfinite(mesh.vertex[i / 3][i % 3]), "vertex %zu is no place", i / 3);
    PROMISE(tl_mesh_check(&mesh, &report) == TALUS_OK, "%s", talus_last_error());
    PROMISE(report.facets <= mesh.triangles && report.shells <= mesh.triangles, "too many parts");
    if (mesh.triangles < 200) {
      try_shape(&mesh);
      mend(&mesh);
      try_shape(&mesh);
    }
  } else {
    PROMISE(mesh.vertices == 0 && mesh.triangles == 0, "refused, and yet there is a mesh");
    promise_message(talus_last_error(), name);
  }
  tl_mesh_release(&mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"a.stl", "a.obj", "a.ply", "a.csv", "a.xyz"};
  if (size == 0)
    return 0;
  /* Letters, so that a corpus can be read: S, O, Y (PLY), P (points), X. */
  static const char letters[] = "SOYPX";
  const char *letter = memchr(letters, data[0], 5);
  const long kind = letter ? letter - letters : data[0] % 5;
  read_points(names[kind], (const char *)data + 1, size - 1);
  if (kind < 3)
    read_triangles(names[kind], (const char *)data + 1, size - 1);
  return 0;
}
