/* Volume, centre and second moments of meshes: exact up to rounding. */
#include "base/pair.h"
#include "kernels/vec3.h"
#include "shape/mesh.h"

static talus_dvec3 corner(const tl_mesh *mesh, size_t t, int k, talus_dvec3 about) {
  const double *p = mesh->vertex[mesh->triangle[t][k]];
  return tl_dvec3(p[0] - about.x, p[1] - about.y, p[2] - about.z);
}

/* A place of the mesh, about which sums lose little however far it is from the origin. */
static talus_dvec3 middle_of(const tl_mesh *mesh) {
  double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; i < mesh->vertices; ++i)
    for (int k = 0; k < 3; ++k) {
      lo[k] = fmin(lo[k], mesh->vertex[i][k]);
      hi[k] = fmax(hi[k], mesh->vertex[i][k]);
    }
  return tl_dvec3(lo[0] / 2 + hi[0] / 2, lo[1] / 2 + hi[1] / 2, lo[2] / 2 + hi[2] / 2);
}

static const int axes_of[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

/* Sums whose rounding errors are summed beside them (Neumaier 1974): a million triangles weigh what
 * two do. Ten numbers: volume, first and second moments. */
typedef struct sums {
  double sum[10], lost[10];
} sums;

static void add(sums *s, int k, double x) {
  const tl_pair_d pair = tl_pair_sum(s->sum[k], x);
  s->sum[k] = pair.high;
  s->lost[k] += pair.low;
}

/* weight x (x x^T) to the second moments. */
static void add_square(sums *s, double weight, const double x[3]) {
  for (int k = 0; k < 6; ++k)
    add(s, 4 + k, weight * x[axes_of[k][0]] * x[axes_of[k][1]]);
}

static tl_moments total_of(const sums *s) {
  double all[10];
  for (int k = 0; k < 10; ++k)
    all[k] = s->sum[k] + s->lost[k];
  tl_moments m = {.volume = all[0]};
  memcpy(m.first, all + 1, sizeof m.first);
  memcpy(m.second, all + 4, sizeof m.second);
  return m;
}

/* From `about` to the origin (Steiner). */
static void move_to_origin(tl_moments *m, talus_dvec3 about) {
  const double c[3] = {about.x, about.y, about.z};
  for (int k = 0; k < 6; ++k) {
    const int i = axes_of[k][0], j = axes_of[k][1];
    m->second[k] += m->first[i] * c[j] + c[i] * m->first[j] + m->volume * c[i] * c[j];
  }
  for (int k = 0; k < 3; ++k)
    m->first[k] += m->volume * c[k];
}

/* Tetrahedra from `about` to every triangle. The mean of x_i x_j over one is
 * (s_i s_j + a_i a_j + b_i b_j + c_i c_j)/20 with s = a + b + c. */
void tl_mesh_moments_about(const tl_mesh *mesh, talus_dvec3 about, tl_moments *moments) {
  sums m = {0};
  for (size_t t = 0; t < mesh->triangles; ++t) {
    const talus_dvec3 a = corner(mesh, t, 0, about), b = corner(mesh, t, 1, about);
    const talus_dvec3 c = corner(mesh, t, 2, about);
    const double volume = tl_ddot(a, tl_dcross(b, c)) / 6;
    const double place[4][3] = {{a.x, a.y, a.z},
                                {b.x, b.y, b.z},
                                {c.x, c.y, c.z},
                                {a.x + b.x + c.x, a.y + b.y + c.y, a.z + b.z + c.z}};
    add(&m, 0, volume);
    for (int k = 0; k < 3; ++k)
      add(&m, 1 + k, volume / 4 * place[3][k]);
    for (int i = 0; i < 4; ++i)
      add_square(&m, volume / 20, place[i]);
  }
  *moments = total_of(&m);
}

/* A quadratic over a triangle is the mean of its values at the middles of the sides. */
void tl_mesh_shell_moments_about(const tl_mesh *mesh, talus_dvec3 about, tl_moments *moments) {
  sums m = {0};
  for (size_t t = 0; t < mesh->triangles; ++t) {
    const talus_dvec3 a = corner(mesh, t, 0, about), b = corner(mesh, t, 1, about);
    const talus_dvec3 c = corner(mesh, t, 2, about);
    const double area = tl_dlength(tl_dcross(tl_dsub(b, a), tl_dsub(c, a))) / 2;
    const double place[3][3] = {{(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2},
                                {(b.x + c.x) / 2, (b.y + c.y) / 2, (b.z + c.z) / 2},
                                {(c.x + a.x) / 2, (c.y + a.y) / 2, (c.z + a.z) / 2}};
    add(&m, 0, area);
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k)
        add(&m, 1 + k, area / 3 * place[i][k]);
      add_square(&m, area / 3, place[i]);
    }
  }
  *moments = total_of(&m);
}

talus_status tl_mesh_moments(const tl_mesh *mesh, tl_moments *moments) {
  const talus_dvec3 about = middle_of(mesh);
  tl_mesh_moments_about(mesh, about, moments);
  move_to_origin(moments, about);
  if (!(moments->volume > 0))
    return tl_fail(TALUS_ERROR_INVALID,
                   "a solid has volume %g m3; its triangles must be closed and run "
                   "counter-clockwise seen from outside",
                   moments->volume);
  return TALUS_OK;
}

talus_status tl_mesh_shell_moments(const tl_mesh *mesh, tl_moments *moments) {
  const talus_dvec3 about = middle_of(mesh);
  tl_mesh_shell_moments_about(mesh, about, moments);
  move_to_origin(moments, about);
  if (!(moments->volume > 0))
    return tl_fail(TALUS_ERROR_INVALID, "a shell has area %g m2", moments->volume);
  return TALUS_OK;
}
