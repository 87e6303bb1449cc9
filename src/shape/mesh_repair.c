/* Mending: weld, drop, close, orient, in this order, and say what was done. */
#include "kernels/vec3.h"
#include "shape/mesh_tools.h"

/* ---- weld and drop --------------------------------------------------------------------------- */

static double extent_of(const tl_mesh *mesh) {
  double extent = 0;
  for (size_t i = 0; i < mesh->vertices; ++i)
    for (int k = 0; k < 3; ++k)
      extent = fmax(extent, fabs(mesh->vertex[i][k] - mesh->vertex[0][k]));
  return extent;
}

/* The first vertex of those that became one lends its place. */
static talus_status weld(tl_mesh *mesh, double distance, uint32_t *row, size_t *welded) {
  size_t kept;
  TL_TRY(tl_mesh_weld_near(mesh, distance, row, &kept));
  *welded = mesh->vertices - kept;
  tl_mesh out = {0};
  TL_TRY(tl_mesh_reserve(kept, mesh->triangles, &out));
  for (size_t v = mesh->vertices; v-- > 0;)
    memcpy(out.vertex[row[v]], mesh->vertex[v], sizeof *out.vertex);
  for (size_t i = 0; i < 3 * mesh->triangles; ++i)
    out.triangle[i / 3][i % 3] = row[mesh->triangle[i / 3][i % 3]];
  tl_mesh_release(mesh);
  *mesh = out;
  return TALUS_OK;
}

/* Triangles with a vertex twice, and copies, go; those without area that have three vertices stay:
 * their neighbours hang on them. */
static talus_status drop(tl_mesh *mesh, uint32_t *row, talus_mesh_repairs *done) {
  TL_TRY(tl_mesh_find_duplicates(mesh, row));
  size_t kept = 0;
  for (size_t t = 0; t < mesh->triangles; ++t) {
    const uint32_t *v = mesh->triangle[t];
    const bool is_flat = v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
    done->dropped_degenerate += is_flat;
    done->dropped_duplicates += !is_flat && row[t] != t;
    if (!is_flat && row[t] == t)
      memmove(mesh->triangle[kept++], mesh->triangle[t], sizeof *mesh->triangle);
  }
  if (kept == 0)
    return tl_fail(TALUS_ERROR_INVALID, "nothing is left of the mesh: no triangle has three "
                                        "vertices that are apart");
  tl_mesh out = {0};
  TL_TRY(tl_mesh_reserve(mesh->vertices, kept, &out));
  memcpy(out.vertex, mesh->vertex, mesh->vertices * sizeof *out.vertex);
  memcpy(out.triangle, mesh->triangle, kept * sizeof *out.triangle);
  tl_mesh_release(mesh);
  *mesh = out;
  return TALUS_OK;
}

/* ---- orient ---------------------------------------------------------------------------------- */

static void flip(tl_mesh *mesh, size_t t) {
  const uint32_t keep = mesh->triangle[t][1];
  mesh->triangle[t][1] = mesh->triangle[t][2];
  mesh->triangle[t][2] = keep;
}

/* Across each side of a manifold edge: the other triangle, and whether both run the same way. */
typedef struct neighbour {
  uint32_t triangle;
  bool same_way;
} neighbour;

static void find_neighbours(const tl_mesh *mesh, const tl_mesh_edges *edges, neighbour *across) {
  for (size_t i = 0; i < 3 * mesh->triangles; ++i)
    across[i] = (neighbour){TL_MESH_NONE, false};
  for (size_t begin = 0, end; begin < edges->sides; begin = end) {
    end = tl_mesh_edge_end(edges, begin);
    const uint32_t *side = &edges->side[begin];
    if (end - begin != 2)
      continue;
    const bool same = tl_mesh_side_from(mesh, side[0]) == tl_mesh_side_from(mesh, side[1]);
    across[side[0]] = (neighbour){side[1] / 3, same};
    across[side[1]] = (neighbour){side[0] / 3, same};
  }
}

/* From every first triangle outwards; turned[t]: 0 or 1, 2 where nobody was yet. */
static void walk(size_t triangles, const neighbour *across, uint32_t *stack,
                 unsigned char *turned) {
  memset(turned, 2, triangles);
  for (uint32_t seed = 0; seed < triangles; ++seed) {
    if (turned[seed] != 2)
      continue;
    size_t top = 0;
    stack[top++] = seed;
    turned[seed] = 0;
    while (top > 0) {
      const uint32_t t = stack[--top];
      for (size_t k = 0; k < 3; ++k) {
        const neighbour n = across[3 * (size_t)t + k];
        if (n.triangle == TL_MESH_NONE || turned[n.triangle] != 2)
          continue;
        turned[n.triangle] = turned[t] ^ n.same_way;
        stack[top++] = n.triangle;
      }
    }
  }
}

/* Neighbours run along their edge in opposite directions, as those of the first triangle do. */
static talus_status orient(tl_mesh *mesh, const tl_mesh_edges *edges, uint32_t *row,
                           size_t *flipped) {
  TL_ARRAY(neighbour) across = {0};
  TL_ARRAY(unsigned char) turned = {0};
  talus_status status = tl_array_resize(&across, 3 * mesh->triangles);
  if (status == TALUS_OK)
    status = tl_array_resize(&turned, mesh->triangles);
  if (status == TALUS_OK) {
    find_neighbours(mesh, edges, across.data);
    walk(mesh->triangles, across.data, row, turned.data);
    for (size_t t = 0; t < mesh->triangles; ++t)
      if (turned.data[t] == 1) {
        flip(mesh, t);
        ++*flipped;
      }
  }
  tl_array_free(&across);
  tl_array_free(&turned);
  return status;
}

/* ---- inside out ------------------------------------------------------------------------------ */

/* The solid angle of a triangle over 4 pi (van Oosterom and Strackee 1983); sums to the number of
 * times that a shell goes round the place. */
static double part_of_sky(const tl_mesh *mesh, size_t t, talus_dvec3 from) {
  talus_dvec3 p[3];
  double r[3];
  for (int k = 0; k < 3; ++k) {
    const double *v = mesh->vertex[mesh->triangle[t][k]];
    p[k] = tl_dsub(tl_dvec3(v[0], v[1], v[2]), from);
    r[k] = tl_dlength(p[k]);
  }
  const double volume = tl_ddot(p[0], tl_dcross(p[1], p[2]));
  const double rest = r[0] * r[1] * r[2] + tl_ddot(p[0], p[1]) * r[2] + tl_ddot(p[1], p[2]) * r[0] +
                      tl_ddot(p[2], p[0]) * r[1];
  return tl_atan2_d(volume, rest) / (2 * TL_PI);
}

#define MOST_SHELLS 64 /* whose nesting is looked at: every shell against every triangle */

/* How many other shells hold the first vertex of shell s. */
static int depth_of(const tl_mesh *mesh, const uint32_t *shell, size_t shells, uint32_t s,
                    size_t first) {
  const double *v = mesh->vertex[mesh->triangle[first][0]];
  double turns[MOST_SHELLS] = {0};
  for (size_t t = 0; t < mesh->triangles; ++t)
    if (shell[t] != s)
      turns[shell[t]] += part_of_sky(mesh, t, tl_dvec3(v[0], v[1], v[2]));
  int depth = 0;
  for (size_t i = 0; i < shells; ++i)
    depth += fabs(turns[i]) > 0.5;
  return depth;
}

static double volume_of(const tl_mesh *mesh, const uint32_t *shell, uint32_t s, size_t first) {
  const double *o = mesh->vertex[mesh->triangle[first][0]];
  const talus_dvec3 origin = tl_dvec3(o[0], o[1], o[2]);
  double volume = 0;
  for (size_t t = first; t < mesh->triangles; ++t) {
    talus_dvec3 p[3];
    for (int k = 0; k < 3; ++k) {
      const double *v = mesh->vertex[mesh->triangle[t][k]];
      p[k] = tl_dsub(tl_dvec3(v[0], v[1], v[2]), origin);
    }
    if (shell[t] == s)
      volume += tl_ddot(p[0], tl_dcross(p[1], p[2]));
  }
  return volume;
}

/* Closed shells face outwards, and inwards where they are the wall of a cavity. */
static talus_status face_outwards(tl_mesh *mesh, const tl_mesh_edges *edges, uint32_t *shell,
                                  size_t *turned) {
  size_t shells;
  bool is_open[MOST_SHELLS] = {false};
  TL_TRY(tl_mesh_shells(mesh, edges, shell, &shells));
  if (shells > MOST_SHELLS)
    return TALUS_OK;
  for (size_t begin = 0, end; begin < edges->sides; begin = end) {
    end = tl_mesh_edge_end(edges, begin);
    if ((end - begin) % 2)
      is_open[shell[edges->side[begin] / 3]] = true;
  }
  uint32_t next = 0;
  for (size_t t = 0; t < mesh->triangles && next < shells; ++t) {
    if (shell[t] != next)
      continue;
    const uint32_t s = next++;
    const bool is_cavity = !is_open[s] && depth_of(mesh, shell, shells, s, t) % 2 == 1;
    const double volume = is_open[s] ? 0 : volume_of(mesh, shell, s, t);
    if (is_cavity ? !(volume > 0) : !(volume < 0))
      continue;
    ++*turned;
    for (size_t i = t; i < mesh->triangles; ++i)
      if (shell[i] == s)
        flip(mesh, i);
  }
  return TALUS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static talus_status turn(tl_mesh *mesh, uint32_t *row, talus_mesh_repairs *done) {
  tl_mesh_edges edges;
  TL_TRY(tl_mesh_edges_find(mesh, &edges));
  talus_status status = orient(mesh, &edges, row, &done->flipped);
  if (status == TALUS_OK) /* sides have moved within their triangles */
    tl_mesh_edges_release(&edges), status = tl_mesh_edges_find(mesh, &edges);
  if (status == TALUS_OK)
    status = face_outwards(mesh, &edges, row, &done->turned);
  tl_mesh_edges_release(&edges);
  return status;
}

talus_status tl_mesh_repair(tl_mesh *mesh, const talus_mesh_repair_def *def,
                            talus_mesh_repairs *done) {
  *done = (talus_mesh_repairs){0};
  TL_ARRAY(uint32_t) row = {0};
  const double distance = def->weld < 0 ? 1e-7 * extent_of(mesh) : def->weld;
  talus_status status =
      tl_array_resize(&row, mesh->vertices > mesh->triangles ? mesh->vertices : mesh->triangles);
  if (status == TALUS_OK)
    status = weld(mesh, distance, row.data, &done->welded);
  if (status == TALUS_OK)
    status = drop(mesh, row.data, done);
  if (status == TALUS_OK)
    status = turn(mesh, row.data, done);
  if (status == TALUS_OK && def->close_holes) {
    status = tl_mesh_close_holes(mesh, &done->holes, &done->added);
    if (status == TALUS_OK)
      status = tl_array_resize(&row, mesh->triangles);
    if (status == TALUS_OK)
      status = turn(mesh, row.data, done);
  }
  tl_array_free(&row);
  return status;
}
