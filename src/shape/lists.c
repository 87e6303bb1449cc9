/* What hulls, clumps, meshes and revolved walls own: room, copies, checks. */
#include "shape/facets.h"
#include "shape/revolved.h"
#include "shape/shape.h"

/* Where the pointer of each list is, in the order of tl_shape_lists. */
static const size_t member[TL_SHAPE_LISTS] = {
    offsetof(tl_shape, points),     offsetof(tl_shape, face_plane),
    offsetof(tl_shape, face_start), offsetof(tl_shape, face_vertex),
    offsetof(tl_shape, edge),       offsetof(tl_shape, vertex_start),
    offsetof(tl_shape, neighbour),  offsetof(tl_shape, vertex_face)};

void tl_shape_point_list(tl_shape *shape, int list, void *data) {
  memcpy((unsigned char *)shape + member[list], &data, sizeof data);
}

void tl_shape_lists(const tl_shape *shape, tl_shape_list lists[TL_SHAPE_LISTS]) {
  const bool is_mesh = shape->kind == TALUS_MESH;
  const size_t points = shape->point_count, triangles = is_mesh ? shape->face_count : 0;
  const size_t faces = shape->face_count - triangles, edges = shape->edge_count;
  lists[0] = (tl_shape_list){.name = "points",
                             .data = shape->points,
                             .scalars = points * tl_kind_width(shape->kind),
                             .scalar_bytes = sizeof(double)};
  lists[1] = (tl_shape_list){.name = "face_plane",
                             .data = shape->face_plane,
                             .scalars = 4 * faces,
                             .scalar_bytes = sizeof(double)};
  lists[2] = (tl_shape_list){.name = "face_start",
                             .data = shape->face_start,
                             .scalars = faces > 0 ? faces + 1 : 0,
                             .scalar_bytes = sizeof(uint32_t)};
  lists[3] = (tl_shape_list){.name = "face_vertex",
                             .data = shape->face_vertex,
                             .scalars = 2 * edges + 3 * triangles,
                             .scalar_bytes = sizeof(uint32_t)};
  lists[4] = (tl_shape_list){
      .name = "edge", .data = shape->edge, .scalars = 2 * edges, .scalar_bytes = sizeof(uint32_t)};
  lists[5] = (tl_shape_list){.name = "vertex_start",
                             .data = shape->vertex_start,
                             .scalars = faces > 0 ? points + 1 : 0,
                             .scalar_bytes = sizeof(uint32_t)};
  lists[6] = (tl_shape_list){.name = "neighbour",
                             .data = shape->neighbour,
                             .scalars = 2 * edges,
                             .scalar_bytes = sizeof(uint32_t)};
  lists[7] = (tl_shape_list){.name = "vertex_face",
                             .data = shape->vertex_face,
                             .scalars = 2 * edges,
                             .scalar_bytes = sizeof(uint32_t)};
}

talus_status tl_shape_allocate(tl_shape *shape) {
  tl_shape_list lists[TL_SHAPE_LISTS];
  tl_shape_lists(shape, lists);
  for (int i = 0; i < TL_SHAPE_LISTS; ++i)
    tl_shape_point_list(shape, i, NULL);
  for (int i = 0; i < TL_SHAPE_LISTS; ++i) {
    const size_t bytes = lists[i].scalars * lists[i].scalar_bytes;
    void *data = NULL;
    if (bytes == 0)
      continue;
    const talus_status status = tl_resize(&data, 0, bytes);
    if (status != TALUS_OK) {
      tl_shape_release_lists(shape);
      return status;
    }
    memset(data, 0, bytes);
    tl_shape_point_list(shape, i, data);
  }
  return TALUS_OK;
}

talus_status tl_shape_set_list(tl_shape *shape, int k, const void *from) {
  tl_shape_list lists[TL_SHAPE_LISTS];
  tl_shape_lists(shape, lists);
  const size_t bytes = lists[k].scalars * lists[k].scalar_bytes;
  void *data = NULL;
  if (bytes == 0)
    return TALUS_OK;
  TL_TRY(tl_resize(&data, 0, bytes));
  memcpy(data, from, bytes);
  tl_shape_point_list(shape, k, data);
  return TALUS_OK;
}

void tl_shape_release_lists(tl_shape *shape) {
  tl_shape_list lists[TL_SHAPE_LISTS];
  tl_shape_lists(shape, lists);
  for (int i = 0; i < TL_SHAPE_LISTS; ++i) {
    if (lists[i].data) /* freeing cannot fail */
      (void)tl_resize(&lists[i].data, lists[i].scalars * lists[i].scalar_bytes, 0);
    tl_shape_point_list(shape, i, NULL);
  }
  tl_facets_release(shape);
  shape->point_count = shape->face_count = shape->edge_count = 0;
}

talus_status tl_shape_copy(tl_shape *to, const tl_shape *from) {
  tl_shape made = *from;
  tl_shape_list old[TL_SHAPE_LISTS], new[TL_SHAPE_LISTS];
  made.name = NULL;
  made.facets = NULL;
  TL_TRY(tl_shape_allocate(&made));
  tl_shape_lists(from, old);
  tl_shape_lists(&made, new);
  for (int i = 0; i < TL_SHAPE_LISTS; ++i)
    if (new[i].data)
      memcpy(new[i].data, old[i].data, old[i].scalars * old[i].scalar_bytes);
  talus_status status = tl_shape_derive(&made);
  if (status == TALUS_OK && from->name) {
    void *name = NULL;
    const size_t bytes = strlen(from->name) + 1;
    status = tl_resize(&name, 0, bytes);
    if (status == TALUS_OK)
      made.name = memcpy(name, from->name, bytes);
  }
  if (status != TALUS_OK) {
    tl_shape_release_lists(&made);
    return status;
  }
  *to = made;
  return TALUS_OK;
}

talus_status tl_shape_derive(tl_shape *shape) {
  tl_facets_release(shape);
  return shape->kind == TALUS_MESH       ? tl_facets_make(shape)
         : shape->kind == TALUS_REVOLVED ? tl_revolved_facets(shape)
                                         : TALUS_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

#define WRONG(...) return tl_fail(TALUS_ERROR_INVALID, __VA_ARGS__)

static talus_status check_numbers(const char *what, const double *data, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (!tl_is_finite_d(data[i]))
      WRONG("number %zu of '%s' is not finite", i, what);
  return TALUS_OK;
}

static talus_status check_polyhedron(const tl_shape *shape) {
  const uint32_t faces = shape->face_count, edges = shape->edge_count;
  TL_TRY(check_numbers("face_plane", shape->face_plane, 4 * (size_t)faces));
  if (shape->face_start[0] != 0 || shape->face_start[faces] != 2 * edges)
    WRONG("the faces do not have all the edges");
  for (uint32_t f = 0; f < faces; ++f)
    if (shape->face_start[f + 1] > 2 * edges || shape->face_start[f + 1] < shape->face_start[f] + 3)
      WRONG("face %u has no three vertices", f);
  for (uint32_t i = 0; i < 2 * edges; ++i)
    if (shape->face_vertex[i] >= shape->point_count || shape->edge[i] >= shape->point_count)
      WRONG("vertex %u of the faces or edges is not there", i);
  if (shape->vertex_start[0] != 0 || shape->vertex_start[shape->point_count] != 2 * edges)
    WRONG("the vertices do not have all the edges");
  for (uint32_t i = 0; i < shape->point_count; ++i)
    if (shape->vertex_start[i + 1] < shape->vertex_start[i])
      WRONG("vertex %u has less than no edges", i);
  for (uint32_t i = 0; i < 2 * edges; ++i)
    if (shape->neighbour[i] >= shape->point_count || shape->vertex_face[i] >= faces)
      WRONG("neighbour or face %u of the vertices is not there", i);
  return TALUS_OK;
}

static talus_status check_triangles(const tl_shape *shape) {
  const size_t corners = 3 * (size_t)shape->face_count;
  if (shape->point_count < 3 || shape->face_count < 1 || shape->edge_count > 0)
    WRONG("a mesh has no triangles");
  if (shape->open < TALUS_SIDES_OUT || shape->open > TALUS_SIDES_BOTH ||
      !(shape->size[0] >= 0 && shape->size[1] >= 0) || !tl_is_finite_d(shape->size[0]) ||
      !tl_is_finite_d(shape->size[1]) || !tl_is_finite_d(shape->size[2]))
    WRONG("a mesh has no such sides, thickness or rounding");
  for (size_t i = 0; i < corners; ++i)
    if (shape->face_vertex[i] >= shape->point_count)
      WRONG("vertex %zu of the triangles is not there", i);
  return TALUS_OK;
}

talus_status tl_shape_validate(const tl_shape *shape) {
  const bool is_hull = shape->kind == TALUS_HULL, is_clump = shape->kind == TALUS_CLUMP,
             is_revolved = shape->kind == TALUS_REVOLVED, is_mesh = shape->kind == TALUS_MESH;
  const uint32_t most = UINT32_MAX / 16;
  if (!is_hull && !is_mesh && (shape->face_count > 0 || shape->edge_count > 0))
    WRONG("a %s has faces", tl_shape_kind_name(shape->kind));
  if (!is_hull && !is_clump && !is_revolved && !is_mesh && shape->point_count > 0)
    WRONG("a %s has points", tl_shape_kind_name(shape->kind));
  if (shape->point_count > most || shape->face_count > most || shape->edge_count > most)
    WRONG("a %s has too many points", tl_shape_kind_name(shape->kind));
  if (is_hull && (shape->point_count < 4 || shape->face_count < 4 || shape->edge_count < 6))
    WRONG("a hull has too few vertices or faces");
  if (is_clump && shape->point_count < 1)
    WRONG("a clump has no spheres");
  if (is_revolved &&
      (shape->open > TL_REVOLVED_BOTH ||
       !(fabs(shape->size[0]) == 1 || (shape->size[0] == 0 && shape->open == TL_REVOLVED_BOTH))))
    WRONG("a revolved wall has no such sides");
  if (is_revolved)
    return tl_revolved_check("revolved", shape->points, shape->point_count);
  if (is_hull || is_clump || is_mesh)
    TL_TRY(check_numbers("points", shape->points, (is_clump ? 4 : 3) * (size_t)shape->point_count));
  for (uint32_t i = 0; is_clump && i < shape->point_count; ++i)
    if (!(shape->points[4 * i + 3] > 0))
      WRONG("sphere %u of a clump has no radius", i);
  return is_hull ? check_polyhedron(shape) : is_mesh ? check_triangles(shape) : TALUS_OK;
}
