#include "narrow/clump.h"
#include "narrow/ellipsoid.h"
#include "narrow/revolved.h"
#include "narrow/mesh.h"
#include "narrow/mesh_points.h"
#include "narrow/posed_pairs.h"

int tl_narrow_convex(const tl_posed *a, const tl_posed *b, const talus_dvec3 *guess,
                     talus_real margin, tl_point *out) {
  talus_dvec3 parting;
  return tl_posed_search(a, b, guess, margin, out, &parting);
}

int tl_narrow_search(const tl_posed *a, const tl_posed *b, const talus_dvec3 *guess,
                     talus_real margin, tl_point *out, talus_dvec3 *parting) {
  return a->shape->kind == TALUS_BOX && b->shape->kind == TALUS_BOX
             ? tl_posed_search_boxes(a, b, margin, out, parting)
             : tl_posed_search(a, b, guess, margin, out, parting);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* The lower kind is the row, but planes, containers and revolved walls are always the column; they
 * never meet each other, because none is ever free. A clump uses its spheres (narrow/clump.h). */
/* clang-format off */
tl_narrow_fn *const tl_narrow_table[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS] = {
    [TALUS_SPHERE] = {
        [TALUS_SPHERE] = tl_posed_sphere_sphere, [TALUS_BOX] = tl_posed_sphere_box,
        [TALUS_ELLIPSOID] = tl_posed_ellipsoids, [TALUS_CAPSULE] = tl_posed_convex_convex,
        [TALUS_CYLINDER] = tl_posed_convex_convex, [TALUS_CONE] = tl_posed_convex_convex,
        [TALUS_SUPERELLIPSOID] = tl_posed_convex_convex, [TALUS_HULL] = tl_posed_convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_sphere,
        [TALUS_PLANE] = tl_posed_sphere_plane, [TALUS_CONTAINER] = tl_posed_sphere_container,
        [TALUS_REVOLVED] = tl_revolved_sphere},
    [TALUS_BOX] = {
        [TALUS_BOX] = tl_posed_box_box,
        [TALUS_ELLIPSOID] = tl_posed_convex_convex, [TALUS_CAPSULE] = tl_posed_convex_convex,
        [TALUS_CYLINDER] = tl_posed_convex_convex, [TALUS_CONE] = tl_posed_convex_convex,
        [TALUS_SUPERELLIPSOID] = tl_posed_convex_convex, [TALUS_HULL] = tl_posed_convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = tl_posed_box_plane, [TALUS_CONTAINER] = tl_posed_box_container,
        [TALUS_REVOLVED] = tl_revolved_box},
    [TALUS_ELLIPSOID] = {
        [TALUS_ELLIPSOID] = tl_posed_ellipsoids,
        [TALUS_CAPSULE] = tl_posed_convex_convex, [TALUS_CYLINDER] = tl_posed_convex_convex,
        [TALUS_CONE] = tl_posed_convex_convex, [TALUS_SUPERELLIPSOID] = tl_posed_convex_convex,
        [TALUS_HULL] = tl_posed_convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = tl_posed_convex_plane, [TALUS_CONTAINER] = tl_posed_convex_container,
        [TALUS_REVOLVED] = tl_revolved_convex},
    [TALUS_CAPSULE] = {
        [TALUS_CAPSULE] = tl_posed_convex_convex, [TALUS_CYLINDER] = tl_posed_convex_convex,
        [TALUS_CONE] = tl_posed_convex_convex, [TALUS_SUPERELLIPSOID] = tl_posed_convex_convex,
        [TALUS_HULL] = tl_posed_convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = tl_posed_convex_plane, [TALUS_CONTAINER] = tl_posed_convex_container,
        [TALUS_REVOLVED] = tl_revolved_capsule},
    [TALUS_CYLINDER] = {
        [TALUS_CYLINDER] = tl_posed_convex_convex,
        [TALUS_CONE] = tl_posed_convex_convex, [TALUS_SUPERELLIPSOID] = tl_posed_convex_convex,
        [TALUS_HULL] = tl_posed_convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = tl_posed_convex_plane, [TALUS_CONTAINER] = tl_posed_convex_container,
        [TALUS_REVOLVED] = tl_revolved_convex},
    [TALUS_CONE] = {
        [TALUS_CONE] = tl_posed_convex_convex, [TALUS_SUPERELLIPSOID] = tl_posed_convex_convex,
        [TALUS_HULL] = tl_posed_convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = tl_posed_convex_plane, [TALUS_CONTAINER] = tl_posed_convex_container,
        [TALUS_REVOLVED] = tl_revolved_convex},
    [TALUS_SUPERELLIPSOID] = {
        [TALUS_SUPERELLIPSOID] = tl_posed_convex_convex, [TALUS_HULL] = tl_posed_convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = tl_posed_convex_plane, [TALUS_CONTAINER] = tl_posed_convex_container,
        [TALUS_REVOLVED] = tl_revolved_convex},
    [TALUS_HULL] = {
        [TALUS_HULL] = tl_posed_convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = tl_posed_convex_plane, [TALUS_CONTAINER] = tl_posed_convex_container,
        [TALUS_REVOLVED] = tl_revolved_hull},
    [TALUS_CLUMP] = {
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_clump_pair,
        [TALUS_PLANE] = tl_clump_pair, [TALUS_CONTAINER] = tl_clump_pair,
        [TALUS_REVOLVED] = tl_clump_pair},
    [TALUS_MESH] = {
        [TALUS_MESH] = tl_mesh_mesh,
        [TALUS_PLANE] = tl_mesh_plane, [TALUS_CONTAINER] = tl_mesh_container,
        [TALUS_REVOLVED] = tl_revolved_mesh},
};
/* clang-format on */
_Static_assert(TL_NARROW_MAX_POINTS >= TL_CONTAINER_WALLS * TL_BOX_MAX_POINTS &&
                   TL_NARROW_MAX_POINTS >= TL_MESH_MOST && TL_MESH_MOST >= TL_NEAR_MOST &&
                   TL_BOX_MAX_POINTS == TL_MANIFOLD_MAX,
               "every vertex on every wall must fit");
_Static_assert(TL_REVOLVED_MAX <= TL_NARROW_MAX_POINTS, "all of a revolved wall must fit");

bool tl_narrow_takes_guess(talus_shape_kind a, talus_shape_kind b) {
  const bool swapped = tl_narrow_swapped(a, b);
  return tl_narrow_table[swapped ? b : a][swapped ? a : b] == tl_posed_convex_convex;
}

bool tl_narrow_keeps_axis(talus_shape_kind a, talus_shape_kind b) {
  return tl_narrow_takes_guess(a, b) || (a == TALUS_BOX && b == TALUS_BOX);
}

/* True if two shapes of the scene are kinds for which `does` is true. */
static bool has_pair(const tl_model *model, bool (*does)(talus_shape_kind, talus_shape_kind)) {
  bool present[TALUS_SHAPE_KINDS] = {false};
  for (size_t i = 0; i < model->shapes.count; ++i)
    present[model->shapes.data[i].kind] = true;
  for (int a = 0; a < TALUS_SHAPE_KINDS; ++a)
    for (int b = a; b < TALUS_SHAPE_KINDS; ++b)
      if (present[a] && present[b] && does((talus_shape_kind)a, (talus_shape_kind)b))
        return true;
  return false;
}

bool tl_narrow_uses_guesses(const tl_model *model) {
  return has_pair(model, tl_narrow_takes_guess);
}

bool tl_narrow_uses_axes(const tl_model *model) { return has_pair(model, tl_narrow_keeps_axis); }

/* Smooth bodies touch a convex body, or a wall, at one point. */
static bool is_smooth(talus_shape_kind kind) {
  return kind == TALUS_SPHERE || kind == TALUS_ELLIPSOID;
}

int tl_narrow_capacity(talus_shape_kind a, talus_shape_kind b) {
  const bool swapped = tl_narrow_swapped(a, b);
  const talus_shape_kind first = swapped ? b : a, second = swapped ? a : b;
  if (!tl_narrow_table[first][second])
    return 0;
  if (first == TALUS_CLUMP || second == TALUS_CLUMP) /* for each of its spheres */
    return second == TALUS_CONTAINER  ? TL_CONTAINER_WALLS
           : second == TALUS_REVOLVED ? TL_REVOLVED_MAX
           : second == TALUS_MESH     ? TL_NEAR_MOST
                                      : 1;
  if (first == TALUS_MESH || second == TALUS_MESH ||
      tl_narrow_table[first][second] == tl_revolved_convex)
    return TL_NARROW_MAX_POINTS;
  if (second == TALUS_REVOLVED)
    return TL_REVOLVED_MAX;
  const int each = is_smooth(a) || is_smooth(b) ? 1 : TL_MANIFOLD_MAX;
  return second == TALUS_CONTAINER ? each * TL_CONTAINER_WALLS : each;
}

int tl_narrow_pair(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const talus_shape_kind kind_a = a->shape->kind, kind_b = b->shape->kind;
  if (!tl_narrow_swapped(kind_a, kind_b)) {
    tl_narrow_fn *const find = tl_narrow_table[kind_a][kind_b];
    return find ? find(a, b, margin, out) : -1;
  }
  tl_narrow_fn *const find = tl_narrow_table[kind_b][kind_a];
  if (!find)
    return -1;
  tl_posed first, second;
  tl_narrow_turn(a, b, &first, &second);
  const int count = find(&first, &second, margin, out);
  tl_narrow_turn_back(b, out, count);
  return count;
}

bool tl_narrow_touches(const tl_posed *a, const tl_posed *b) {
  const talus_shape_kind kind_a = a->shape->kind, kind_b = b->shape->kind;
  if ((kind_a == TALUS_REVOLVED && tl_revolved_holds(a, tl_dsub(b->position, a->position))) ||
      (kind_b == TALUS_REVOLVED && tl_revolved_holds(b, tl_dsub(a->position, b->position))))
    return true;
  if (tl_has_clump(kind_a, kind_b)) {
    const bool swapped = tl_narrow_swapped(kind_a, kind_b);
    return tl_clump_meets(swapped ? b : a, swapped ? a : b, 0) || tl_narrow_buried(a, b) > 0;
  }
  tl_point points[TL_NARROW_MAX_POINTS];
  return tl_narrow_pair(a, b, 0, points) > 0 || tl_narrow_buried(a, b) > 0 ||
         tl_narrow_crosses(a, b);
}
