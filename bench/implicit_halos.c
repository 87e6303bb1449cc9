/* talus bench implicit, Table 6.1: the triangle of the coarsest level of a stretched sphere, and
 * its halo. */
#include <math.h>

#include "implicit.h"
#include "shape/mesh_make.h"
#include "shape/surrogate.h"

/* Diameter of the triangle and halo of the thesis, for 80, 320 and 1280 triangles. */
typedef struct halo_row {
  double stretch, thesis[3][2];
} halo_row;

static const halo_row rows[] = {
    {1.0, {{0.09, 0.49}, {0.09, 0.50}, {0.08, 0.52}}},
    {1.2, {{0.10, 0.55}, {0.10, 0.56}, {0.10, 0.56}}},
    {1.4, {{0.34, 0.54}, {0.12, 0.65}, {0.11, 0.66}}},
    {1.8, {{0.14, 0.84}, {0.89, 0.53}, {1.35, 0.51}}},
    {2.6, {{1.54, 0.58}, {2.24, 0.51}, {2.36, 0.52}}},
};

static double longest_side(const tl_triangle_corners *t) {
  double most = 0;
  for (int k = 0; k < 3; ++k)
    most = fmax(most, tl_dlength(tl_dsub(t->p[(k + 1) % 3], t->p[k])));
  return most;
}

typedef struct halo {
  double diameter, eps, seconds;
} halo;

static bool measure(const tl_mesh *mesh, tl_surrogate_fit fit, halo *out) {
  tl_surrogate s;
  const double begun = implicit_cpu();
  if (tl_surrogate_build(&mesh->vertex[0][0], &mesh->triangle[0][0], (uint32_t)mesh->triangles, fit,
                         &s) != TALUS_OK)
    return implicit_fail("a tree of surrogates");
  out->seconds = implicit_cpu() - begun;
  const tl_triangle_corners t = tl_surrogate_corners(&s.node[0]);
  out->diameter = longest_side(&t), out->eps = (double)s.node[0].eps;
  tl_surrogate_release(&s);
  return true;
}

static bool halos_of(const implicit_bench *bench, const halo_row *row, size_t triangles,
                     int column) {
  tl_mesh mesh = {0};
  halo quick, functional;
  char name[64];
  if (tl_mesh_make_icosphere(triangles, 0.5, &mesh) != TALUS_OK)
    return implicit_fail("a sphere");
  for (size_t v = 0; v < mesh.vertices; ++v)
    mesh.vertex[v][0] *= row->stretch;
  const bool good =
      measure(&mesh, TL_FIT_QUICK, &quick) && measure(&mesh, TL_FIT_FUNCTIONAL, &functional);
  tl_mesh_release(&mesh);
  if (!good)
    return false;
  printf("  %4.1f %6zu   %6.2f %6.2f   %6.3f %6.3f   %6.3f %6.3f   %6.2f   %8.1f %8.1f\n",
         row->stretch, triangles, row->thesis[column][0], row->thesis[column][1], quick.diameter,
         quick.eps, functional.diameter, functional.eps, 0.5 * row->stretch, 1e3 * quick.seconds,
         1e3 * functional.seconds);
  snprintf(name, sizeof name, "eta %g, %zu triangles", row->stretch, triangles);
  implicit_put(bench, "6.1", name, "diameter", row->thesis[column][0], quick.diameter);
  implicit_put(bench, "6.1", name, "eps", row->thesis[column][1], quick.eps);
  implicit_put(bench, "6.1", name, "eps of the functional", row->thesis[column][1], functional.eps);
  return true;
}

static bool build_large(const implicit_bench *bench) {
  const size_t triangles = bench->quick ? 1280 : 81920;
  tl_mesh mesh = {0};
  tl_surrogate s;
  if (tl_mesh_make_noisy_sphere(triangles, 1.4, 3, &mesh) != TALUS_OK)
    return implicit_fail("a noisy sphere");
  const double begun = implicit_cpu();
  const bool good = tl_surrogate_build(&mesh.vertex[0][0], &mesh.triangle[0][0],
                                       (uint32_t)mesh.triangles, TL_FIT_QUICK, &s) == TALUS_OK;
  const double seconds = implicit_cpu() - begun;
  tl_mesh_release(&mesh);
  if (!good)
    return implicit_fail("a tree of surrogates");
  const double bytes = (double)tl_surrogate_bytes(&s) / (double)triangles;
  printf(
      "\n  a noisy sphere of %zu triangles: %.2f s, %.1f bytes a triangle, %u nodes, %d levels\n",
      triangles, seconds, bytes, s.nodes, s.levels);
  implicit_put(bench, "6.1", "large mesh", "s", NAN, seconds);
  implicit_put(bench, "6.1", "large mesh", "bytes a triangle", NAN, bytes);
  tl_surrogate_release(&s);
  return true;
}

bool implicit_halos(const implicit_bench *bench) {
  printf("  a sphere of diameter 1, stretched eta times: d, the longest side of the triangle, and "
         "its halo eps;\n  ours by the quick fit, and by the functional (5.5) as printed; r: its "
         "bounding sphere; ms of the whole tree\n\n"
         "  %4s %6s   %-13s   %-13s   %-13s   %6s   %8s %8s\n"
         "  %4s %6s   %6s %6s   %6s %6s   %6s %6s   %6s   %8s %8s\n",
         "", "", "thesis", "quick", "functional", "", "quick", "funct.", "eta", "tri.", "d", "eps",
         "d", "eps", "d", "eps", "r", "ms", "ms");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    for (int k = 0; k < (bench->quick ? 1 : 3); ++k)
      if (!halos_of(bench, &rows[i], (size_t)80 << (2 * k), k))
        return false;
  return build_large(bench);
}
