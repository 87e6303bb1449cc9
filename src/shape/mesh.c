#include "shape/mesh.h"

#include "base/sort.h"

/* ---- memory ---------------------------------------------------------------------------------- */

void tl_mesh_release(tl_mesh *mesh) {
  void *vertex = mesh->vertex, *triangle = mesh->triangle;
  (void)tl_resize(&vertex, mesh->vertices * sizeof *mesh->vertex, 0); /* freeing cannot fail */
  (void)tl_resize(&triangle, mesh->triangles * sizeof *mesh->triangle, 0);
  *mesh = (tl_mesh){0};
}

talus_status tl_mesh_reserve(size_t vertices, size_t triangles, tl_mesh *mesh) {
  tl_mesh_release(mesh);
  if (vertices >= TL_MESH_NONE / 3 || triangles >= TL_MESH_NONE / 3)
    return tl_fail(TALUS_ERROR_INVALID,
                   "a mesh of %zu vertices and %zu triangles has more parts than 32 bits count",
                   vertices, triangles);
  void *vertex = NULL, *triangle = NULL;
  TL_TRY(tl_resize(&vertex, 0, vertices * sizeof *mesh->vertex));
  const talus_status status = tl_resize(&triangle, 0, triangles * sizeof *mesh->triangle);
  if (status != TALUS_OK) {
    (void)tl_resize(&vertex, vertices * sizeof *mesh->vertex, 0);
    return status;
  }
  *mesh = (tl_mesh){vertices, triangles, vertex, triangle};
  return TALUS_OK;
}

/* ---- edges ----------------------------------------------------------------------------------- */

void tl_mesh_edges_release(tl_mesh_edges *edges) {
  void *key = edges->key, *side = edges->side;
  (void)tl_resize(&key, edges->room * sizeof *edges->key, 0);
  (void)tl_resize(&side, edges->room * sizeof *edges->side, 0);
  *edges = (tl_mesh_edges){0};
}

static talus_status make_room(size_t room, tl_mesh_edges *edges) {
  void *key = NULL, *side = NULL;
  TL_TRY(tl_resize(&key, 0, room * sizeof *edges->key));
  const talus_status status = tl_resize(&side, 0, room * sizeof *edges->side);
  if (status != TALUS_OK) {
    (void)tl_resize(&key, room * sizeof *edges->key, 0);
    return status;
  }
  *edges = (tl_mesh_edges){.room = room, .key = key, .side = side};
  return TALUS_OK;
}

talus_status tl_mesh_edges_find(const tl_mesh *mesh, tl_mesh_edges *edges) {
  *edges = (tl_mesh_edges){0};
  TL_TRY(make_room(3 * mesh->triangles, edges));
  for (size_t t = 0; t < mesh->triangles; ++t) {
    const uint32_t *v = mesh->triangle[t];
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
      continue;
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t a = v[k], b = v[(k + 1) % 3];
      edges->key[edges->sides] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
      edges->side[edges->sides++] = (uint32_t)(3 * t + k);
    }
  }
  const tl_par alone = {.threads = 1};
  tl_arena arena = {0};
  const talus_status status = tl_sort_u64(&alone, &arena, edges->key, edges->side, edges->sides,
                                          32 + tl_bits_u64(mesh->vertices));
  tl_arena_free(&arena);
  if (status != TALUS_OK)
    tl_mesh_edges_release(edges);
  return status;
}

/* ---- shells ---------------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *parent, uint32_t i) {
  while (parent[i] != i)
    i = parent[i] = parent[parent[i]];
  return i;
}

talus_status tl_mesh_shells(const tl_mesh *mesh, const tl_mesh_edges *edges, uint32_t *shell,
                            size_t *shells) {
  TL_ARRAY(uint32_t) parent = {0};
  TL_TRY(tl_array_resize(&parent, mesh->triangles));
  for (size_t t = 0; t < mesh->triangles; ++t)
    parent.data[t] = (uint32_t)t;
  for (size_t i = 1; i < edges->sides; ++i)
    if (edges->key[i] == edges->key[i - 1]) {
      const uint32_t a = root_of(parent.data, edges->side[i - 1] / 3);
      const uint32_t b = root_of(parent.data, edges->side[i] / 3);
      parent.data[a > b ? a : b] = a < b ? a : b; /* the root is the first of its set */
    }
  *shells = 0;
  for (size_t t = 0; t < mesh->triangles; ++t) {
    const uint32_t root = root_of(parent.data, (uint32_t)t);
    shell[t] = root == t ? (uint32_t)(*shells)++ : shell[root];
  }
  tl_array_free(&parent);
  return TALUS_OK;
}
