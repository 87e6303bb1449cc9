/* True if the surfaces of two meshes cross, at any depth. Contacts of meshes are found near the
 * surface only, so deeply overlapping meshes may have none. */
#include "kernels/triangle.h"
#include "narrow/mesh.h"

static tl_triangle_corners corners_of(const tl_mesh_posed *m, uint32_t triangle) {
  tl_triangle_corners t;
  for (int k = 0; k < 3; ++k)
    t.p[k] = tl_facets_point(m->f, m->f->triangle[3 * (size_t)triangle + (size_t)k]);
  return t;
}

/* A triangle of one mesh, in the frame of the other. */
static tl_triangle_corners move_over(const tl_mesh_posed *from, const tl_mesh_posed *to,
                                     uint32_t triangle) {
  tl_triangle_corners t = corners_of(from, triangle);
  for (int k = 0; k < 3; ++k)
    t.p[k] = tl_mesh_to_local(
        to,
        tl_dadd(from->position, tl_frame_to_world(&from->frame, tl_dscale(t.p[k], from->scale))));
  return t;
}

static tl_tree_box box_about(const tl_triangle_corners *t) {
  const talus_dvec3 a = t->p[0], b = t->p[1], c = t->p[2];
  return (tl_tree_box){
      {fmin(fmin(a.x, b.x), c.x), fmin(fmin(a.y, b.y), c.y), fmin(fmin(a.z, b.z), c.z)},
      {fmax(fmax(a.x, b.x), c.x), fmax(fmax(a.y, b.y), c.y), fmax(fmax(a.z, b.z), c.z)}};
}

static bool goes_through(const tl_mesh_posed *m, const tl_triangle_corners *t) {
  const tl_tree_box box = box_about(t);
  tl_tree_walk walk = tl_tree_begin(&m->f->tree, false);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t i = first; i < first + count; ++i) {
      const tl_triangle_corners other = corners_of(m, i);
      if (tl_triangle_triangle(t, &other).feature >= TL_TRIANGLE_CROSSES)
        return true;
    }
  return false;
}

bool tl_narrow_crosses(const tl_posed *a, const tl_posed *b) {
  if (a->shape->kind != TALUS_MESH || b->shape->kind != TALUS_MESH)
    return false;
  /* triangles of the smaller are tested against the tree of the larger */
  const bool swapped = a->shape->face_count > b->shape->face_count;
  const tl_mesh_posed few = tl_mesh_pose(swapped ? b : a), many = tl_mesh_pose(swapped ? a : b);
  for (uint32_t t = 0; t < few.f->triangles; ++t) {
    const tl_triangle_corners moved = move_over(&few, &many, t);
    if (goes_through(&many, &moved))
      return true;
  }
  return false;
}
