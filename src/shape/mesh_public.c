/* The public calls on meshes but that which writes files (output/mesh.c). */
#include <talus/mesh.h>

#include "kernels/vec3.h"
#include "shape/mesh_make.h"
#include "shape/mesh_tools.h"

/* The same arrays by the other name. */
static tl_mesh inner(const talus_mesh *mesh) {
  return (tl_mesh){mesh->vertices, mesh->triangles, mesh->vertex, mesh->triangle};
}

static talus_status hand_out(talus_status status, tl_mesh *made, talus_mesh *mesh) {
  if (status != TALUS_OK)
    tl_mesh_release(made);
  *mesh = (talus_mesh){made->vertices, made->triangles, made->vertex, made->triangle};
  return status;
}

void talus_mesh_free(talus_mesh *mesh) {
  if (!mesh)
    return;
  tl_mesh own = inner(mesh);
  tl_mesh_release(&own);
  *mesh = (talus_mesh){0};
}

talus_status tl_mesh_need(const talus_mesh *mesh) {
  TL_NEED(mesh);
  TL_NEED_SOME(mesh->vertex, mesh->vertices);
  TL_NEED_SOME(mesh->triangle, mesh->triangles);
  if (mesh->triangles == 0)
    return tl_fail(TALUS_ERROR_INVALID, "the mesh has no triangles");
  for (size_t i = 0; i < mesh->vertices; ++i)
    for (int k = 0; k < 3; ++k)
      if (!tl_is_finite_d(mesh->vertex[i][k]))
        return tl_fail(TALUS_ERROR_INVALID, "vertex %zu of the mesh is %g, which is no place", i,
                       mesh->vertex[i][k]);
  for (size_t i = 0; i < mesh->triangles; ++i)
    for (int k = 0; k < 3; ++k)
      if (mesh->triangle[i][k] >= mesh->vertices)
        return tl_fail(TALUS_ERROR_INVALID,
                       "triangle %zu of the mesh has vertex %u, but there are %zu", i,
                       mesh->triangle[i][k], mesh->vertices);
  return TALUS_OK;
}

talus_status talus_mesh_read(const char *path, double scale, talus_mesh *mesh) {
  TL_NEED(mesh);
  *mesh = (talus_mesh){0};
  TL_NEED(path);
  tl_mesh made = {0};
  return hand_out(tl_mesh_read(path, scale, &made), &made, mesh);
}

/* ---- made ------------------------------------------------------------------------------------ */

talus_mesh_recipe talus_mesh_recipe_default(void) {
  return (talus_mesh_recipe){.kind = "icosphere", .noise = 1.4};
}

typedef enum made {
  ICOSPHERE,
  NOISY_SPHERE,
  BOX,
  PLATE,
  CYLINDER,
  TORUS,
  BOLT,
  NUT,
  FUNNEL,
  SCREW,
  KINDS
} made;

static const struct {
  const char *name;
  size_t triangles;
  double size[5];
  int lengths;
} recipes[KINDS] = {
    [ICOSPHERE] = {"icosphere", 1280, {1}, 1},
    [NOISY_SPHERE] = {"noisy-sphere", 1280, {1}, 1},
    [BOX] = {"box", 12, {1, 1, 1}, 3},
    [PLATE] = {"plate", 2, {1, 1}, 2},
    [CYLINDER] = {"cylinder", 128, {0.5, 1}, 2},
    [TORUS] = {"torus", 1152, {1, 0.25}, 2},
    [BOLT] = {"bolt", 0, {0.01, 0.0015, 0.03}, 3},
    [NUT] = {"nut", 0, {0.01, 0.0015, 0.008, 0.016, 5e-5}, 5},
    [FUNNEL] = {"funnel", 512, {0.5, 0.1, 0.5}, 3},
    [SCREW] = {"screw", 1152, {0.1, 0.1, 0.5, 0.02}, 4},
};

const char *talus_mesh_recipe_name(size_t i) { return i < KINDS ? recipes[i].name : NULL; }

/* Sides of a turn for about so many triangles: eight to a side and turn, a multiple of 12. */
static size_t sides_of(size_t triangles, double turns) {
  const double twelves = (double)triangles / (12 * (8 * turns + 4));
  return triangles == 0 ? 48 : twelves < 1 ? 12 : 12 * (size_t)(fmin(twelves, 1e4) + 0.5);
}

static talus_status make_thread(made kind, const double size[5], size_t triangles, tl_mesh *mesh) {
  const tl_mesh_thread thread = {.diameter = size[0],
                                 .pitch = size[1],
                                 .length = size[2],
                                 .width = size[3],
                                 .clearance = size[4],
                                 .sides = sides_of(triangles, size[2] / size[1])};
  if (!(thread.pitch < thread.diameter / 2 && thread.length >= thread.pitch / 2 &&
        thread.length < 1000 * thread.pitch))
    return tl_fail(TALUS_ERROR_INVALID,
                   "a thread of diameter %g, pitch %g and length %g m cannot be; the pitch must be "
                   "below half the diameter, and the length from 0.5 to 1000 pitches",
                   thread.diameter, thread.pitch, thread.length);
  if (kind == BOLT)
    return tl_mesh_make_bolt(&thread, mesh);
  if (!(thread.width > thread.diameter + 2 * thread.clearance))
    return tl_fail(TALUS_ERROR_INVALID,
                   "a nut of width %g m has no wall about a thread of diameter %g m", thread.width,
                   thread.diameter);
  return tl_mesh_make_nut(&thread, mesh);
}

static talus_status make(made kind, const talus_mesh_recipe *recipe, size_t triangles,
                         const double size[5], tl_mesh *mesh) {
  switch (kind) {
  case ICOSPHERE:
    return tl_mesh_make_icosphere(triangles, size[0], mesh);
  case BOX:
    return tl_mesh_make_box(size, mesh);
  case PLATE:
    return tl_mesh_make_plate(size[0], size[1], triangles, mesh);
  case CYLINDER:
    return tl_mesh_make_cylinder(size[0], size[1], triangles, mesh);
  case TORUS:
    if (!(size[1] < size[0]))
      return tl_fail(TALUS_ERROR_INVALID,
                     "a torus of radius %g m with a tube of radius %g m goes through itself; "
                     "expected a tube that is thinner (size: radius, radius of the tube)",
                     size[0], size[1]);
    return tl_mesh_make_torus(size[0], size[1], triangles, mesh);
  case FUNNEL:
    return tl_mesh_make_funnel(size[0], size[1], size[2], triangles, mesh);
  case SCREW:
    if (!(size[3] < size[0] && size[2] < 1000 * size[1]))
      return tl_fail(TALUS_ERROR_INVALID,
                     "a screw of radius %g, pitch %g, length %g and inner radius %g m cannot be; "
                     "the inner radius must be smaller, and the length below 1000 pitches",
                     size[0], size[1], size[2], size[3]);
    return tl_mesh_make_screw(size[0], size[1], size[2], size[3], triangles, mesh);
  case BOLT:
  case NUT:
    return make_thread(kind, size, triangles, mesh);
  default:
    break;
  }
  TL_TRY(tl_mesh_make_noisy_sphere(triangles, recipe->noise, recipe->seed, mesh));
  for (size_t i = 0; i < mesh->vertices; ++i)
    for (int k = 0; k < 3; ++k)
      mesh->vertex[i][k] *= size[0];
  return TALUS_OK;
}

static talus_status fail_kind(const char *kind) {
  char list[128] = "";
  for (int i = 0; i < KINDS; ++i) {
    strcat(list, i == 0 ? "" : i + 1 < KINDS ? ", " : " or ");
    strcat(list, recipes[i].name);
  }
  return tl_fail(TALUS_ERROR_INVALID, "`%s` is no mesh that can be made; expected %s", kind, list);
}

talus_status tl_mesh_make(const talus_mesh_recipe *recipe, tl_mesh *mesh) {
  made kind = 0;
  while (kind < KINDS && strcmp(recipe->kind, recipes[kind].name) != 0)
    kind++;
  if (kind == KINDS)
    return fail_kind(recipe->kind);
  const size_t triangles = recipe->triangles ? recipe->triangles : recipes[kind].triangles;
  if (triangles > 100000000)
    return tl_fail(TALUS_ERROR_INVALID, "%zu triangles are too many; expected 1e8 at most",
                   triangles);
  double size[5] = {0};
  for (int k = 0; k < recipes[kind].lengths; ++k) {
    size[k] = recipe->size[k] != 0 ? recipe->size[k] : recipes[kind].size[k];
    if (!(size[k] > 0 && size[k] < 1e100))
      return tl_fail(TALUS_ERROR_INVALID,
                     "length %d of a mesh `%s` is %g m, but must be above 0 and below 1e100", k + 1,
                     recipe->kind, size[k]);
  }
  return make(kind, recipe, triangles, size, mesh);
}

talus_status talus_mesh_make(const talus_mesh_recipe *recipe, talus_mesh *mesh) {
  TL_NEED(mesh);
  *mesh = (talus_mesh){0};
  TL_NEED(recipe);
  TL_NEED(recipe->kind);
  tl_mesh built = {0};
  return hand_out(tl_mesh_make(recipe, &built), &built, mesh);
}

/* ---- looked at ------------------------------------------------------------------------------- */

static talus_box bounds_of(const tl_mesh *mesh) {
  double lo[3], hi[3];
  memcpy(lo, mesh->vertex[0], sizeof lo);
  memcpy(hi, mesh->vertex[0], sizeof hi);
  for (size_t i = 1; i < mesh->vertices; ++i)
    for (int k = 0; k < 3; ++k) {
      lo[k] = fmin(lo[k], mesh->vertex[i][k]);
      hi[k] = fmax(hi[k], mesh->vertex[i][k]);
    }
  return (talus_box){.lo = {lo[0], lo[1], lo[2]}, .hi = {hi[0], hi[1], hi[2]}};
}

static void measure_mass(const tl_mesh *mesh, talus_mesh_info *info) {
  const talus_box box = info->bounds;
  const talus_dvec3 about = tl_dvec3(box.lo.x / 2 + box.hi.x / 2, box.lo.y / 2 + box.hi.y / 2,
                                     box.lo.z / 2 + box.hi.z / 2);
  tl_moments moments;
  if (info->closed && info->volume > 0)
    tl_mesh_moments_about(mesh, about, &moments);
  else
    tl_mesh_shell_moments_about(mesh, about, &moments);
  if (!(moments.volume > 0))
    return;
  tl_shape shape = {0};
  tl_measure_moments(&shape, &moments);
  info->centre = tl_dadd(shape.centre, about);
  info->inertia = tl_widen(shape.gyration);
  info->axes = shape.axes;
}

talus_status talus_mesh_measure(const talus_mesh *mesh, talus_mesh_info *info) {
  TL_NEED(info);
  *info = (talus_mesh_info){0};
  TL_TRY(tl_mesh_need(mesh));
  const tl_mesh own = inner(mesh);
  tl_mesh_report report;
  TL_TRY(tl_mesh_check(&own, &report));
  *info = (talus_mesh_info){.vertices = own.vertices,
                            .triangles = own.triangles,
                            .closed = report.closed,
                            .manifold = report.manifold,
                            .oriented = report.oriented,
                            .shells = report.shells,
                            .facets = report.facets,
                            .open_edges = report.open_edges,
                            .flipped_edges = report.flipped_edges,
                            .crowded_edges = report.crowded_edges,
                            .degenerate = report.degenerate,
                            .duplicates = report.duplicates,
                            .first_open = {report.first_open[0], report.first_open[1]},
                            .area = report.area,
                            .volume = report.volume,
                            .axes = {1, 0, 0, 0},
                            .bounds = bounds_of(&own)};
  measure_mass(&own, info);
  return TALUS_OK;
}

talus_status talus_mesh_find_crossings(const talus_mesh *mesh, size_t *count, uint32_t first[2]) {
  TL_NEED(count);
  TL_NEED(first);
  TL_TRY(tl_mesh_need(mesh));
  const tl_mesh own = inner(mesh);
  return tl_mesh_find_crossings(&own, count, first);
}

/* ---- mended, and as spheres ------------------------------------------------------------------ */

talus_mesh_repair_def talus_mesh_repair_def_default(void) {
  return (talus_mesh_repair_def){.weld = -1};
}

talus_status talus_mesh_repair(talus_mesh *mesh, const talus_mesh_repair_def *def,
                               talus_mesh_repairs *repairs) {
  TL_NEED(def);
  TL_TRY(tl_mesh_need(mesh));
  if (isnan(def->weld))
    return tl_fail(TALUS_ERROR_INVALID, "weld is not a number");
  talus_mesh_repairs done;
  tl_mesh own = inner(mesh);
  const talus_status status = hand_out(tl_mesh_repair(&own, def, &done), &own, mesh);
  if (repairs)
    *repairs = done;
  return status;
}

#define MOST_SPHERES 4000

talus_status talus_mesh_to_clump(const talus_mesh *mesh, double error, talus_mesh_clump *clump) {
  TL_NEED(clump);
  *clump = (talus_mesh_clump){0};
  TL_TRY(tl_mesh_need(mesh));
  const tl_mesh own = inner(mesh);
  tl_spheres found = {0};
  talus_status status = tl_mesh_to_clump(&own, error, MOST_SPHERES, &found, &clump->error);
  void *exact = NULL; /* as long as its count says, so that it can be freed by it */
  const size_t bytes = found.count * sizeof(double);
  if (status == TALUS_OK)
    status = tl_resize(&exact, 0, bytes);
  if (status == TALUS_OK) {
    clump->spheres = memcpy(exact, found.data, bytes);
    clump->count = found.count / 4;
  }
  tl_array_free(&found);
  return status;
}

void talus_mesh_clump_free(talus_mesh_clump *clump) {
  if (!clump)
    return;
  void *data = clump->spheres;
  (void)tl_resize(&data, 4 * clump->count * sizeof(double), 0); /* freeing cannot fail */
  *clump = (talus_mesh_clump){0};
}
