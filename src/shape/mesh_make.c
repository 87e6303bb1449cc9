#include "shape/mesh_make.h"

#include "base/random.h"
#include "kernels/vec3.h"

/* ---- icosphere ------------------------------------------------------------------------------- */

/* Cyclic permutations of (0, 1, golden ratio), normalised by who needs them. */
static talus_status make_icosahedron(tl_mesh *mesh) {
  static const signed char place[12][3] = {{-1, 2, 0}, {1, 2, 0}, {-1, -2, 0}, {1, -2, 0},
                                           {0, -1, 2}, {0, 1, 2}, {0, -1, -2}, {0, 1, -2},
                                           {2, 0, -1}, {2, 0, 1}, {-2, 0, -1}, {-2, 0, 1}};
  static const uint32_t face[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                       {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                       {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                       {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const double golden = (1 + sqrt(5.0)) / 2;
  TL_TRY(tl_mesh_reserve(12, 20, mesh));
  for (int i = 0; i < 12; ++i)
    for (int k = 0; k < 3; ++k)
      mesh->vertex[i][k] = place[i][k] == 2 ? golden : place[i][k] == -2 ? -golden : place[i][k];
  memcpy(mesh->triangle, face, sizeof face);
  return TALUS_OK;
}

static void put_on_sphere(double p[3], double radius) {
  const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  for (int k = 0; k < 3; ++k)
    p[k] = p[k] / length * radius;
}

/* Each triangle into four; the middle of an edge is one vertex, numbered in the order of edges. */
static talus_status subdivide_with(const tl_mesh *coarse, const tl_mesh_edges *edges,
                                   uint32_t *middle, tl_mesh *fine) {
  uint32_t next = (uint32_t)coarse->vertices;
  for (size_t begin = 0, end; begin < edges->sides; begin = end, ++next) {
    end = tl_mesh_edge_end(edges, begin);
    for (size_t i = begin; i < end; ++i)
      middle[edges->side[i]] = next;
  }
  TL_TRY(tl_mesh_reserve(next, 4 * coarse->triangles, fine));
  memcpy(fine->vertex, coarse->vertex, coarse->vertices * sizeof *fine->vertex);
  for (size_t t = 0; t < coarse->triangles; ++t) {
    const uint32_t *v = coarse->triangle[t], *m = middle + 3 * t;
    const uint32_t part[4][3] = {
        {v[0], m[0], m[2]}, {m[0], v[1], m[1]}, {m[2], m[1], v[2]}, {m[0], m[1], m[2]}};
    memcpy(fine->triangle[4 * t], part, sizeof part);
    for (int k = 0; k < 3; ++k)
      for (int axis = 0; axis < 3; ++axis)
        fine->vertex[m[k]][axis] =
            (coarse->vertex[v[k]][axis] + coarse->vertex[v[(k + 1) % 3]][axis]) / 2;
  }
  return TALUS_OK;
}

static talus_status subdivide(const tl_mesh *coarse, tl_mesh *fine) {
  tl_mesh_edges edges;
  TL_ARRAY(uint32_t) middle = {0};
  TL_TRY(tl_mesh_edges_find(coarse, &edges));
  talus_status status = tl_array_resize(&middle, 3 * coarse->triangles);
  if (status == TALUS_OK)
    status = subdivide_with(coarse, &edges, middle.data, fine);
  tl_array_free(&middle);
  tl_mesh_edges_release(&edges);
  return status;
}

talus_status tl_mesh_make_icosphere(size_t triangles, double radius, tl_mesh *mesh) {
  size_t n = 20;
  while (n < triangles && n < 20u << 20)
    n *= 4;
  if (n != triangles)
    return tl_fail(TALUS_ERROR_INVALID,
                   "a sphere of %zu triangles cannot be made; expected 20, 80, 320, 1280, 5120, "
                   "20480, ... (20 x 4^k)",
                   triangles);
  tl_mesh coarse = {0};
  talus_status status = make_icosahedron(mesh);
  for (size_t have = 20; have < triangles && status == TALUS_OK; have *= 4) {
    coarse = *mesh;
    *mesh = (tl_mesh){0};
    status = subdivide(&coarse, mesh);
    tl_mesh_release(&coarse);
    for (size_t i = 0; i < mesh->vertices; ++i)
      put_on_sphere(mesh->vertex[i], 1);
  }
  for (size_t i = 0; i < mesh->vertices; ++i)
    put_on_sphere(mesh->vertex[i], radius);
  return status;
}

/* ---- noise ----------------------------------------------------------------------------------- */

static double fade(double t) { return t * t * t * (t * (t * 6 - 15) + 10); }
static double blend(double t, double a, double b) { return a + t * (b - a); }

/* Perlin's twelve directions, one for each place of the lattice. */
static double slope_at(uint64_t seed, const int64_t cell[3], const double x[3]) {
  const uint64_t place = (uint64_t)(cell[0] & 0xfffff) | (uint64_t)(cell[1] & 0xfffff) << 20 |
                         (uint64_t)(cell[2] & 0xfffff) << 40;
  tl_random random = tl_random_start(seed, TL_STREAM_MESH_NOISE, place);
  const uint32_t which = tl_random_u32(&random) % 12;
  const uint32_t u = which / 4 == 0 ? 1 : 0, v = which / 4 == 2 ? 1 : 2;
  return (which & 1 ? -x[u] : x[u]) + (which & 2 ? -x[v] : x[v]);
}

/* Improved noise (Perlin 2002), within [-1, 1]. */
static double noise_at(uint64_t seed, const double p[3]) {
  int64_t cell[3];
  double x[3], sum[8];
  for (int k = 0; k < 3; ++k) {
    cell[k] = (int64_t)floor(p[k]);
    x[k] = p[k] - floor(p[k]);
  }
  for (int i = 0; i < 8; ++i) {
    const int64_t at[3] = {cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2)};
    const double d[3] = {x[0] - (i & 1), x[1] - (i >> 1 & 1), x[2] - (i >> 2)};
    sum[i] = slope_at(seed, at, d);
  }
  for (int k = 0, n = 4; k < 3; ++k, n /= 2)
    for (int i = 0; i < n; ++i)
      sum[i] = blend(fade(x[k]), sum[2 * i], sum[2 * i + 1]);
  return sum[0];
}

#define OCTAVES 5

/* Octaves of half the size and half the height each, from 0 to 1. The first has dents of the size
 * of the radius. */
static double rough(uint64_t seed, const double p[3]) {
  double sum = 0, weight = 0.5, often = 1.5;
  for (uint64_t i = 0; i < OCTAVES; ++i, weight /= 2, often *= 2) {
    /* Not through the origin of the lattice, where every octave is zero. */
    const double q[3] = {p[0] * often + 17.3, p[1] * often + 5.7, p[2] * often + 11.9};
    sum += weight * noise_at(seed + i, q);
  }
  return fmin(fmax(0.5 + 0.8 * sum, 0), 1);
}

talus_status tl_mesh_make_noisy_sphere(size_t triangles, double noise, uint64_t seed,
                                       tl_mesh *mesh) {
  if (!(noise >= 1 && noise <= 10))
    return tl_fail(TALUS_ERROR_INVALID,
                   "noise is %g, but must be from 1 (a sphere) to 10: the largest radius by the "
                   "smallest",
                   noise);
  TL_TRY(tl_mesh_make_icosphere(triangles, 1, mesh));
  for (size_t i = 0; i < mesh->vertices; ++i) {
    const double radius = 1 + (noise - 1) * rough(seed, mesh->vertex[i]);
    for (int k = 0; k < 3; ++k)
      mesh->vertex[i][k] *= radius;
  }
  return TALUS_OK;
}
