/* Meshes on grids: box, plate, torus, cylinder, funnel, screw. */
#include "base/power.h"
#include "base/trig.h"
#include "kernels/vec3.h"
#include "shape/mesh_make.h"

#define TURN (2 * 3.14159265358979323846)

static void put(uint32_t to[3], size_t a, size_t b, size_t c) {
  to[0] = (uint32_t)a;
  to[1] = (uint32_t)b;
  to[2] = (uint32_t)c;
}

static void place(double to[3], double x, double y, double z) {
  to[0] = x;
  to[1] = y;
  to[2] = z;
}

/* Two triangles on either side of the diagonal a to c. */
static size_t put_quad(tl_mesh *mesh, size_t t, size_t a, size_t b, size_t c, size_t d) {
  put(mesh->triangle[t], a, b, c);
  put(mesh->triangle[t + 1], a, c, d);
  return t + 2;
}

/* ---- flat ones ------------------------------------------------------------------------------- */

talus_status tl_mesh_make_box(const double edge[3], tl_mesh *mesh) {
  static const unsigned char side[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                           {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  TL_TRY(tl_mesh_reserve(8, 12, mesh));
  for (int i = 0; i < 8; ++i)
    place(mesh->vertex[i], (i & 1 ? 0.5 : -0.5) * edge[0], (i & 2 ? 0.5 : -0.5) * edge[1],
          (i & 4 ? 0.5 : -0.5) * edge[2]);
  size_t t = 0;
  for (int i = 0; i < 6; ++i)
    t = put_quad(mesh, t, side[i][0], side[i][1], side[i][2], side[i][3]);
  return TALUS_OK;
}

/* Rows and columns of nearly square cells, of about so many triangles; a strip that is narrower
 * than such a cell has one row of all. */
static size_t columns_of(double x, double y, size_t triangles) {
  const double cells = fmin(0.5 * (double)triangles, 1e6), n = sqrt((double)triangles / 2 * x / y);
  return n < 1 || cells < 1 ? 1 : (size_t)(fmin(n, cells) + 0.5);
}

talus_status tl_mesh_make_plate(double x, double y, size_t triangles, tl_mesh *mesh) {
  const size_t n = columns_of(x, y, triangles), m = columns_of(y, x, triangles);
  TL_TRY(tl_mesh_reserve((n + 1) * (m + 1), 2 * n * m, mesh));
  for (size_t j = 0; j <= m; ++j)
    for (size_t i = 0; i <= n; ++i)
      place(mesh->vertex[j * (n + 1) + i], x * ((double)i / (double)n - 0.5),
            y * ((double)j / (double)m - 0.5), 0);
  size_t t = 0;
  for (size_t j = 0; j < m; ++j)
    for (size_t i = 0; i < n; ++i) {
      const size_t a = j * (n + 1) + i;
      t = put_quad(mesh, t, a, a + 1, a + n + 2, a + n + 1);
    }
  return TALUS_OK;
}

/* ---- round ones ------------------------------------------------------------------------------ */

talus_status tl_mesh_make_torus(double radius, double tube, size_t triangles, tl_mesh *mesh) {
  size_t m = columns_of(tube, radius, triangles);
  m = m < 3 ? 3 : m;
  size_t n = triangles / (2 * m);
  n = n < 3 ? 3 : n;
  TL_TRY(tl_mesh_reserve(n * m, 2 * n * m, mesh));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j) {
      const double u = TURN * (double)i / (double)n, v = TURN * (double)j / (double)m;
      const double r = radius + tube * tl_cos_d(v);
      place(mesh->vertex[i * m + j], r * tl_cos_d(u), r * tl_sin_d(u), tube * tl_sin_d(v));
    }
  size_t t = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j) {
      const size_t a = i * m, b = (i + 1) % n * m, k = (j + 1) % m;
      t = put_quad(mesh, t, a + j, b + j, b + k, a + k);
    }
  return TALUS_OK;
}

/* A wall of rows of n vertices each from `first` on, seen from outside. */
static size_t put_wall(tl_mesh *mesh, size_t t, size_t first, size_t n, size_t rows) {
  for (size_t j = 0; j + 1 < rows; ++j)
    for (size_t i = 0; i < n; ++i) {
      const size_t a = first + j * n + i, b = first + j * n + (i + 1) % n;
      t = put_quad(mesh, t, a, b, b + n, a + n);
    }
  return t;
}

/* A fan from `centre` to a row of n vertices; up: its normal is +z. */
static size_t put_cap(tl_mesh *mesh, size_t t, size_t centre, size_t first, size_t n, bool up) {
  for (size_t i = 0; i < n; ++i) {
    const size_t a = first + i, b = first + (i + 1) % n;
    put(mesh->triangle[t++], centre, up ? a : b, up ? b : a);
  }
  return t;
}

static void place_row(tl_mesh *mesh, size_t first, size_t n, double radius, double z) {
  for (size_t i = 0; i < n; ++i) {
    const double u = TURN * (double)i / (double)n;
    place(mesh->vertex[first + i], radius * tl_cos_d(u), radius * tl_sin_d(u), z);
  }
}

talus_status tl_mesh_make_cylinder(double radius, double length, size_t triangles, tl_mesh *mesh) {
  const size_t n = triangles / 4 < 3 ? 3 : triangles / 4;
  TL_TRY(tl_mesh_reserve(2 * n + 2, 4 * n, mesh));
  place_row(mesh, 0, n, radius, -length / 2);
  place_row(mesh, n, n, radius, length / 2);
  place(mesh->vertex[2 * n], 0, 0, -length / 2);
  place(mesh->vertex[2 * n + 1], 0, 0, length / 2);
  size_t t = put_wall(mesh, 0, 0, n, 2);
  t = put_cap(mesh, t, 2 * n, 0, n, false);
  (void)put_cap(mesh, t, 2 * n + 1, n, n, true);
  return TALUS_OK;
}

/* ---- open ones ------------------------------------------------------------------------------- */

talus_status tl_mesh_make_funnel(double upper, double lower, double height, size_t triangles,
                                 tl_mesh *mesh) {
  const double slant = tl_hypot_d(upper - lower, height), round = TURN * 0.5 * (upper + lower);
  size_t n = columns_of(round, slant, triangles);
  n = n < 3 ? 3 : n;
  const size_t rows = triangles / (2 * n) < 1 ? 1 : triangles / (2 * n);
  TL_TRY(tl_mesh_reserve(n * (rows + 1), 2 * n * rows, mesh));
  for (size_t j = 0; j <= rows; ++j) {
    const double up = (double)j / (double)rows;
    place_row(mesh, j * n, n, lower + (upper - lower) * up, height * (up - 0.5));
  }
  (void)put_wall(mesh, 0, 0, n, rows + 1);
  return TALUS_OK;
}

talus_status tl_mesh_make_screw(double radius, double pitch, double length, double inner,
                                size_t triangles, tl_mesh *mesh) {
  const double turns = length / pitch;
  size_t n = columns_of(TURN * 0.5 * (radius + inner) * turns, radius - inner, triangles);
  n = n < 12 * (size_t)(turns + 1) ? 12 * (size_t)(turns + 1) : n;
  const size_t m = triangles / (2 * n) < 1 ? 1 : triangles / (2 * n);
  TL_TRY(tl_mesh_reserve((n + 1) * (m + 1), 2 * n * m, mesh));
  for (size_t i = 0; i <= n; ++i)
    for (size_t j = 0; j <= m; ++j) {
      const double along = (double)i / (double)n, u = TURN * turns * along;
      const double r = inner + (radius - inner) * (double)j / (double)m;
      place(mesh->vertex[i * (m + 1) + j], r * tl_cos_d(u), r * tl_sin_d(u),
            length * (along - 0.5));
    }
  size_t t = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j) {
      const size_t a = i * (m + 1) + j;
      t = put_quad(mesh, t, a, a + 1, a + m + 2, a + m + 1);
    }
  return TALUS_OK;
}
