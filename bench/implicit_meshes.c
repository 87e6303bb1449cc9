/* talus bench implicit: spheres, a plane, and their poses. */
#include <math.h>
#include <stdlib.h>

#include "implicit.h"
#include "shape/mesh_make.h"

static bool make_shape(tl_mesh *mesh, tl_shape *shape) {
  const talus_shape_def def = {.kind = TALUS_MESH,
                               .points = (const double *)mesh->vertex,
                               .point_count = mesh->vertices,
                               .triangles = (const uint32_t *)mesh->triangle,
                               .triangle_count = mesh->triangles};
  bool good = tl_shape_make(&def, shape) == TALUS_OK;
  tl_mesh_release(mesh);
  if (good && tl_shape_need_surrogate(shape) != TALUS_OK) {
    tl_shape_release(shape);
    good = false;
  }
  return good || implicit_fail("a mesh");
}

/* Number of circles of latitude between the poles, and of vertices on each. */
static bool circles_of(size_t triangles, size_t *circles, size_t *around) {
  static const size_t known[][3] = {{12, 2, 3}, {36, 3, 6}, {140, 7, 10}, {1224, 17, 36}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (known[i][0] == triangles) {
      *circles = known[i][1], *around = known[i][2];
      return true;
    }
  return false;
}

static void put_triangle(tl_mesh *mesh, size_t *t, size_t a, size_t b, size_t c) {
  uint32_t *corner = mesh->triangle[(*t)++];
  corner[0] = (uint32_t)a, corner[1] = (uint32_t)b, corner[2] = (uint32_t)c;
}

bool implicit_make_sphere(size_t triangles, tl_shape *shape) {
  const double pi = 3.14159265358979323846;
  size_t circles, around, t = 0;
  tl_mesh mesh = {0};
  if (!circles_of(triangles, &circles, &around)) {
    cli_error("bench implicit: no sphere has %zu triangles", triangles);
    return false;
  }
  const size_t last = 1 + circles * around; /* row of the south pole; 0 is the north pole */
  if (tl_mesh_reserve(last + 1, triangles, &mesh) != TALUS_OK)
    return implicit_fail("a sphere");
  for (size_t i = 0; i <= last; ++i) {
    const size_t ring = i == 0 ? 0 : i == last ? circles + 1 : 1 + (i - 1) / around;
    const double polar = pi * (double)ring / (double)(circles + 1);
    const double turn = 2 * pi * (double)((i + around - 1) % around) / (double)around;
    const double across = ring == 0 || ring > circles ? 0 : 0.5 * sin(polar);
    mesh.vertex[i][0] = across * cos(turn), mesh.vertex[i][1] = across * sin(turn);
    mesh.vertex[i][2] = 0.5 * cos(polar);
  }
  for (size_t k = 0; k < around; ++k) {
    const size_t next = (k + 1) % around;
    put_triangle(&mesh, &t, 0, 1 + k, 1 + next);
    for (size_t ring = 0; ring + 1 < circles; ++ring) {
      const size_t here = 1 + ring * around, below = here + around;
      put_triangle(&mesh, &t, here + k, below + k, below + next);
      put_triangle(&mesh, &t, here + k, below + next, here + next);
    }
    put_triangle(&mesh, &t, last - around + k, last, last - around + next);
  }
  return make_shape(&mesh, shape);
}

bool implicit_make_icosphere(size_t triangles, tl_shape *shape) {
  tl_mesh mesh = {0};
  if (tl_mesh_make_icosphere(triangles, 0.5, &mesh) != TALUS_OK)
    return implicit_fail("a sphere");
  return make_shape(&mesh, shape);
}

bool implicit_make_plate(tl_shape *shape) {
  tl_mesh mesh = {0};
  if (tl_mesh_make_plate(4, 4, 512, &mesh) != TALUS_OK)
    return implicit_fail("a plate");
  return make_shape(&mesh, shape);
}

static talus_quat turned(double angle, double x, double y, double z) {
  const double s = sin(0.5 * angle), length = sqrt(x * x + y * y + z * z);
  return (talus_quat){(talus_real)cos(0.5 * angle), (talus_real)(s * x / length),
                      (talus_real)(s * y / length), (talus_real)(s * z / length)};
}

static double share_of(int step, int steps) { return (step + 0.5) / steps; }

/* Centres 1.06 apart, then 0.985, then 1.06: halos meet below 1.02. */
implicit_pose implicit_pose_two(int step, int steps) {
  const double at = 2 * share_of(step, steps) - 1, apart = 0.985 + 0.075 * fabs(at);
  return (implicit_pose){tl_dvec3(0.48 * apart, 0.64 * apart, 0.6 * apart),
                         turned(0.7 + 0.05 * at, 1, 2, 3)};
}

/* Three hops, each lower, then the sphere rolls. */
implicit_pose implicit_pose_plane(int step, int steps) {
  const double at = share_of(step, steps), along = 3 * at - 1.5;
  const double hop = at < 0.75 ? 4 * at - floor(4 * at) : 0;
  const double high = at < 0.75 ? 0.3 * (1 - at) * 4 * hop * (1 - hop) : 0;
  return (implicit_pose){tl_dvec3(along, 0.13, 0.5 + high), turned(2 * along, 0.2, 1, 0.1)};
}
