/* Holes: loops of open edges, closed if the caller asks for it. */
#include "shape/mesh_source.h"
#include "shape/mesh_tools.h"

/* The open sides by the vertex where the edge of the hole begins: a hole runs opposite to the
 * triangles around it. A vertex where two holes meet stores only one of them; the other stays
 * open. */
typedef struct rim {
  TL_ARRAY(uint32_t) next; /* by vertex; TL_MESH_NONE: no open side ends there */
  TL_ARRAY(uint32_t) loop;
  TL_ARRAY(uint32_t) corner; /* of new triangles */
  TL_ARRAY(double) point;    /* new vertices */
} rim;

static talus_status find_rim(const tl_mesh *mesh, rim *r) {
  tl_mesh_edges edges;
  TL_TRY(tl_array_resize(&r->next, mesh->vertices));
  memset(r->next.data, 0xff, mesh->vertices * sizeof *r->next.data);
  TL_TRY(tl_mesh_edges_find(mesh, &edges));
  for (size_t begin = 0, end; begin < edges.sides; begin = end) {
    end = tl_mesh_edge_end(&edges, begin);
    const uint32_t side = edges.side[begin];
    if (end - begin == 1)
      r->next.data[tl_mesh_side_to(mesh, side)] = tl_mesh_side_from(mesh, side);
  }
  tl_mesh_edges_release(&edges);
  return TALUS_OK;
}

/* Removes the loop that begins at v from `next`; empty if it does not return to v. */
static talus_status take_loop(rim *r, uint32_t v) {
  r->loop.count = 0;
  uint32_t at = v;
  do {
    TL_TRY(tl_array_push(&r->loop, at));
    const uint32_t next = r->next.data[at];
    r->next.data[at] = TL_MESH_NONE;
    at = next;
  } while (at != v && at != TL_MESH_NONE);
  if (at != v || r->loop.count < 3)
    r->loop.count = 0;
  return TALUS_OK;
}

/* Closes a loop that is too large for ears, with a fan about its middle. */
static talus_status close_by_fan(const tl_mesh *mesh, rim *r) {
  const size_t n = r->loop.count;
  const uint32_t middle = (uint32_t)(mesh->vertices + r->point.count / 3);
  double sum[3] = {0};
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k)
      sum[k] += mesh->vertex[r->loop.data[i]][k] / (double)n;
    const uint32_t corner[3] = {middle, r->loop.data[i], r->loop.data[i + 1 < n ? i + 1 : 0]};
    for (int k = 0; k < 3; ++k)
      TL_TRY(tl_array_push(&r->corner, corner[k]));
  }
  for (int k = 0; k < 3; ++k)
    TL_TRY(tl_array_push(&r->point, sum[k]));
  return TALUS_OK;
}

static talus_status close_loop(const tl_mesh *mesh, rim *r) {
  const size_t before = r->corner.count;
  TL_TRY(tl_array_resize(&r->corner, before + 3 * (r->loop.count - 2)));
  const talus_status status = tl_mesh_cut_face(&mesh->vertex[0][0], r->loop.data, r->loop.count,
                                               (uint32_t(*)[3])(r->corner.data + before));
  if (status != TALUS_ERROR_FORMAT)
    return status;
  r->corner.count = before;
  return close_by_fan(mesh, r);
}

static talus_status append(tl_mesh *mesh, const rim *r) {
  const size_t vertices = mesh->vertices, triangles = mesh->triangles;
  const size_t points = r->point.count / 3, corners = r->corner.count / 3;
  tl_mesh grown = {0};
  TL_TRY(tl_mesh_reserve(vertices + points, triangles + corners, &grown));
  memcpy(grown.vertex, mesh->vertex, vertices * sizeof *grown.vertex);
  memcpy(grown.triangle, mesh->triangle, triangles * sizeof *grown.triangle);
  if (points > 0)
    memcpy(grown.vertex + vertices, r->point.data, points * sizeof *grown.vertex);
  if (corners > 0)
    memcpy(grown.triangle + triangles, r->corner.data, corners * sizeof *grown.triangle);
  tl_mesh_release(mesh);
  *mesh = grown;
  return TALUS_OK;
}

talus_status tl_mesh_close_holes(tl_mesh *mesh, size_t *closed, size_t *added) {
  rim r = {0};
  *closed = *added = 0;
  talus_status status = find_rim(mesh, &r);
  for (uint32_t v = 0; v < mesh->vertices && status == TALUS_OK; ++v) {
    if (r.next.data[v] == TL_MESH_NONE)
      continue;
    status = take_loop(&r, v);
    if (status == TALUS_OK && r.loop.count > 0) {
      status = close_loop(mesh, &r);
      ++*closed;
    }
  }
  *added = r.corner.count / 3;
  if (status == TALUS_OK && *added > 0)
    status = append(mesh, &r);
  tl_array_free(&r.next);
  tl_array_free(&r.loop);
  tl_array_free(&r.corner);
  tl_array_free(&r.point);
  return status;
}
