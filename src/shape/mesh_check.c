/* Is a mesh closed, manifold, oriented; of how many parts; and what is wrong with it. */
#include "base/hash.h"
#include "kernels/vec3.h"
#include "shape/hull.h"
#include "shape/mesh.h"

static talus_dvec3 place(const tl_mesh *mesh, uint32_t v) {
  return tl_dvec3(mesh->vertex[v][0], mesh->vertex[v][1], mesh->vertex[v][2]);
}

/* Twice the area, as a vector. */
static talus_dvec3 normal_of(const tl_mesh *mesh, size_t t) {
  const uint32_t *v = mesh->triangle[t];
  const talus_dvec3 a = place(mesh, v[0]);
  return tl_dcross(tl_dsub(place(mesh, v[1]), a), tl_dsub(place(mesh, v[2]), a));
}

bool tl_mesh_is_degenerate(const tl_mesh *mesh, size_t triangle) {
  const uint32_t *v = mesh->triangle[triangle];
  double longest = 0;
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 side = tl_dsub(place(mesh, v[(k + 1) % 3]), place(mesh, v[k]));
    longest = fmax(longest, tl_ddot(side, side));
  }
  return v[0] == v[1] || v[1] == v[2] || v[2] == v[0] ||
         !(tl_dlength(normal_of(mesh, triangle)) > TL_MESH_FLAT * longest);
}

/* ---- triangles ------------------------------------------------------------------------------- */

static void sort3(const uint32_t v[3], uint32_t out[3]) {
  const uint32_t lo = v[0] < v[1] ? v[0] : v[1], hi = v[0] < v[1] ? v[1] : v[0];
  out[0] = v[2] < lo ? v[2] : lo;
  out[2] = v[2] > hi ? v[2] : hi;
  out[1] = v[2] < lo ? lo : v[2] > hi ? hi : v[2];
}

talus_status tl_mesh_find_duplicates(const tl_mesh *mesh, uint32_t *first_of) {
  size_t size = 16;
  while (size < 2 * mesh->triangles)
    size *= 2;
  TL_ARRAY(uint32_t) table = {0};
  TL_TRY(tl_array_resize(&table, size));
  memset(table.data, 0xff, size * sizeof *table.data);
  for (size_t t = 0; t < mesh->triangles; ++t) {
    uint32_t mine[3], other[3];
    sort3(mesh->triangle[t], mine);
    size_t at = tl_xxh64(mine, sizeof mine, 0) & (size - 1);
    for (; table.data[at] != TL_MESH_NONE; at = (at + 1) & (size - 1)) {
      sort3(mesh->triangle[table.data[at]], other);
      if (memcmp(mine, other, sizeof mine) == 0)
        break;
    }
    if (table.data[at] == TL_MESH_NONE)
      table.data[at] = (uint32_t)t;
    first_of[t] = table.data[at];
  }
  tl_array_free(&table);
  return TALUS_OK;
}

static talus_status check_triangles(const tl_mesh *mesh, uint32_t *row, tl_mesh_report *report) {
  TL_TRY(tl_mesh_find_duplicates(mesh, row));
  for (size_t t = 0; t < mesh->triangles; ++t) {
    report->duplicates += row[t] != t;
    report->degenerate += tl_mesh_is_degenerate(mesh, t);
    report->area += tl_dlength(normal_of(mesh, t)) / 2;
  }
  return TALUS_OK;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static void check_edges(const tl_mesh *mesh, const tl_mesh_edges *edges, tl_mesh_report *report) {
  uint32_t first = TL_MESH_NONE;
  for (size_t begin = 0, end; begin < edges->sides; begin = end) {
    end = tl_mesh_edge_end(edges, begin);
    size_t up = 0; /* sides from the lower vertex to the upper one */
    for (size_t i = begin; i < end; ++i)
      up += tl_mesh_side_from(mesh, edges->side[i]) < tl_mesh_side_to(mesh, edges->side[i]);
    const size_t n = end - begin;
    report->crowded_edges += n > 2;
    report->flipped_edges += n % 2 == 0 && 2 * up != n;
    report->open_edges += n % 2;
    if (n % 2 && edges->side[begin] < first)
      first = edges->side[begin];
  }
  report->closed = report->open_edges == 0 && edges->sides > 0;
  report->manifold = report->crowded_edges == 0;
  report->oriented = report->flipped_edges == 0;
  report->first_open[0] = first == TL_MESH_NONE ? first : tl_mesh_side_from(mesh, first);
  report->first_open[1] = first == TL_MESH_NONE ? first : tl_mesh_side_to(mesh, first);
}

/* ---- facets ---------------------------------------------------------------------------------- */

static double extent_of(const tl_mesh *mesh) {
  double extent = 0;
  for (size_t i = 0; i < mesh->vertices; ++i)
    for (int k = 0; k < 3; ++k)
      extent = fmax(extent, fabs(mesh->vertex[i][k] - mesh->vertex[0][k]));
  return extent;
}

static uint32_t root_of(uint32_t *parent, uint32_t i) {
  while (parent[i] != i)
    i = parent[i] = parent[parent[i]];
  return i;
}

/* Whether the corner of triangle `b` that is across a side lies in the plane of `a`, and both face
 * the same way. */
static bool is_flat(const tl_mesh *mesh, uint32_t a, uint32_t side_of_b, double most) {
  const talus_dvec3 n = normal_of(mesh, a), m = normal_of(mesh, side_of_b / 3);
  const talus_dvec3 across = place(mesh, mesh->triangle[side_of_b / 3][(side_of_b % 3 + 2) % 3]);
  const double height = tl_ddot(n, tl_dsub(across, place(mesh, mesh->triangle[a][0])));
  return tl_ddot(n, m) > 0 && fabs(height) <= most * tl_dlength(n);
}

static void count_facets(const tl_mesh *mesh, const tl_mesh_edges *edges, uint32_t *parent,
                         tl_mesh_report *report) {
  const double most = TL_HULL_FLAT * extent_of(mesh);
  for (size_t t = 0; t < mesh->triangles; ++t)
    parent[t] = (uint32_t)t;
  for (size_t begin = 0, end; begin < edges->sides; begin = end) {
    end = tl_mesh_edge_end(edges, begin);
    const uint32_t *side = &edges->side[begin];
    if (end - begin != 2 || !is_flat(mesh, side[0] / 3, side[1], most) ||
        !is_flat(mesh, side[1] / 3, side[0], most))
      continue;
    const uint32_t a = root_of(parent, side[0] / 3), b = root_of(parent, side[1] / 3);
    parent[a > b ? a : b] = a < b ? a : b;
  }
  for (size_t t = 0; t < mesh->triangles; ++t)
    report->facets += parent[t] == t;
}

/* ---- all of it ------------------------------------------------------------------------------- */

talus_status tl_mesh_check(const tl_mesh *mesh, tl_mesh_report *report) {
  *report = (tl_mesh_report){0};
  tl_mesh_edges edges;
  TL_ARRAY(uint32_t) row = {0};
  TL_TRY(tl_mesh_edges_find(mesh, &edges));
  talus_status status = tl_array_resize(&row, mesh->triangles);
  if (status == TALUS_OK)
    status = check_triangles(mesh, row.data, report);
  if (status == TALUS_OK)
    status = tl_mesh_shells(mesh, &edges, row.data, &report->shells);
  if (status == TALUS_OK) {
    check_edges(mesh, &edges, report);
    count_facets(mesh, &edges, row.data, report);
    tl_moments moments = {0};
    if (report->closed)
      tl_mesh_moments_about(mesh, place(mesh, 0), &moments);
    report->volume = moments.volume;
  }
  tl_array_free(&row);
  tl_mesh_edges_release(&edges);
  return status;
}
