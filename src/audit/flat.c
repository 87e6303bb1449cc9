#include "audit/flat.h"

#include "base/exact.h"
#include "shape/facets.h"

#include <string.h>

#define MOST_PLANES 1e7 /* signs, to look for a plane between two convex bodies */

/* ---- a body ---------------------------------------------------------------------------------- */

bool tl_flat_is(const tl_shape *shape) {
  if (shape->kind == TALUS_MESH)
    return shape->facets && shape->facets->rounding == 0;
  return shape->kind == TALUS_BOX || shape->kind == TALUS_HULL || shape->kind == TALUS_CONTAINER;
}

talus_status tl_flat_place(tl_flat *flat, const tl_shape *shape, const tl_surface *surface,
                           double scale, talus_dvec3 position, talus_quat rotation) {
  const tl_dquat q = tl_dquat_widen(rotation);
  flat->shape = shape, flat->position = position, flat->rotation = q, flat->scale = scale;
  flat->is_convex = shape->kind == TALUS_BOX || shape->kind == TALUS_HULL;
  flat->is_closed = flat->is_convex || (shape->kind == TALUS_MESH && shape->facets->is_closed &&
                                        shape->open == TALUS_SIDES_OUT);
  flat->box = tl_box_empty();
  TL_TRY(tl_array_resize(&flat->corners, surface->points.count / 3));
  TL_TRY(tl_array_resize(&flat->triangles, surface->corners.count));
  if (flat->triangles.count > 0)
    memcpy(flat->triangles.data, surface->corners.data,
           flat->triangles.count * sizeof *flat->triangles.data);
  for (size_t i = 0; i < flat->corners.count; ++i) {
    const double *p = &surface->points.data[3 * i];
    const talus_dvec3 own = tl_dscale(tl_dvec3(p[0], p[1], p[2]), scale);
    const talus_dvec3 x = tl_dadd(position, tl_dquat_rotate(q, own));
    flat->corners.data[i] = x;
    flat->box = tl_box_union(flat->box, (talus_box){x, x});
  }
  return TALUS_OK;
}

void tl_flat_release(tl_flat *flat) {
  tl_array_free(&flat->corners);
  tl_array_free(&flat->triangles);
}

static talus_dvec3 corner(const tl_flat *f, size_t triangle, int k) {
  return f->corners.data[f->triangles.data[3 * triangle + (size_t)(k % 3)]];
}

/* ---- signs ----------------------------------------------------------------------------------- */

/* On which side of a triangle's plane a place is: 1 outside, 0 in the plane. */
static int side_of(const talus_dvec3 t[3], talus_dvec3 x) {
  return tl_exact_turn((tl_way){t[0], x}, (tl_way){t[0], t[1]}, (tl_way){t[0], t[2]});
}

/* Whether the way goes from one side of the triangle to the other, through its inside. */
static bool pierces(tl_way s, const talus_dvec3 t[3]) {
  if (side_of(t, s.from) * side_of(t, s.to) >= 0)
    return false;
  const int first = tl_exact_turn(s, (tl_way){s.from, t[0]}, (tl_way){s.from, t[1]});
  return first != 0 && tl_exact_turn(s, (tl_way){s.from, t[1]}, (tl_way){s.from, t[2]}) == first &&
         tl_exact_turn(s, (tl_way){s.from, t[2]}, (tl_way){s.from, t[0]}) == first;
}

/* ---- convex bodies --------------------------------------------------------------------------- */

static bool has_face_between(const tl_flat *a, const tl_flat *b) {
  for (size_t i = 0; i < a->triangles.count / 3; ++i) {
    const talus_dvec3 t[3] = {corner(a, i, 0), corner(a, i, 1), corner(a, i, 2)};
    int lowest = 1, highest = 0; /* a triangle without area has no side */
    for (size_t k = 0; k < b->corners.count && lowest >= 0; ++k) {
      const int side = side_of(t, b->corners.data[k]);
      lowest = side < lowest ? side : lowest, highest = side > highest ? side : highest;
    }
    if (lowest >= 0 && highest > 0)
      return true;
  }
  return false;
}

/* The side of all corners of a plane through `at` along both ways, 0: they lie in it; 2: on both
 * sides. */
static int side_of_all(const tl_flat *f, tl_way u, tl_way v, talus_dvec3 at) {
  int side = 0;
  for (size_t i = 0; i < f->corners.count; ++i) {
    const int s = tl_exact_turn((tl_way){at, f->corners.data[i]}, u, v);
    if (s * side < 0)
      return 2;
    side = s != 0 ? s : side;
  }
  return side;
}

/* Each edge of a surface once: the two triangles have it in opposite directions. */
static bool take_edge(const tl_flat *f, size_t i, tl_way *edge) {
  const uint32_t v = f->triangles.data[i], w = f->triangles.data[i % 3 == 2 ? i - 2 : i + 1];
  *edge = (tl_way){f->corners.data[v], f->corners.data[w]};
  return v < w;
}

static bool has_edges_between(const tl_flat *a, const tl_flat *b) {
  tl_way u, v;
  for (size_t i = 0; i < a->triangles.count; ++i)
    for (size_t k = 0; take_edge(a, i, &u) && k < b->triangles.count; ++k) {
      if (!take_edge(b, k, &v))
        continue;
      const int side = side_of_all(a, u, v, u.from);
      if ((side == 1 || side == -1) && side_of_all(b, u, v, u.from) * side <= 0 &&
          side_of_all(b, u, v, u.from) != 2)
        return true;
    }
  return false;
}

static bool are_convex(const tl_flat *a, const tl_flat *b) {
  const double edges = (double)a->triangles.count * (double)b->triangles.count / 4;
  return a->is_convex && b->is_convex &&
         edges * (double)(a->corners.count + b->corners.count) < MOST_PLANES;
}

/* ---- surfaces -------------------------------------------------------------------------------- */

static talus_box box_of(const talus_dvec3 t[3]) {
  return tl_box_union((talus_box){t[0], t[0]},
                      tl_box_union((talus_box){t[1], t[1]}, (talus_box){t[2], t[2]}));
}

static bool triangles_cross(const talus_dvec3 s[3], const talus_dvec3 t[3]) {
  for (int k = 0; k < 3; ++k)
    if (pierces((tl_way){s[k], s[(k + 1) % 3]}, t) || pierces((tl_way){t[k], t[(k + 1) % 3]}, s))
      return true;
  return false;
}

static bool surfaces_cross(const tl_flat *a, const tl_flat *b, const volatile int *interrupt) {
  for (size_t i = 0; i < a->triangles.count / 3 && !(interrupt && *interrupt); ++i) {
    const talus_dvec3 s[3] = {corner(a, i, 0), corner(a, i, 1), corner(a, i, 2)};
    const talus_box box = box_of(s);
    for (size_t k = 0; tl_box_overlap(box, b->box) && k < b->triangles.count / 3; ++k) {
      const talus_dvec3 t[3] = {corner(b, k, 0), corner(b, k, 1), corner(b, k, 2)};
      if (tl_box_overlap(box, box_of(t)) && triangles_cross(s, t))
        return true;
    }
  }
  return false;
}

/* Whether the first corner of b is within a. */
static bool holds(const tl_flat *a, const tl_flat *b) {
  if (!a->is_closed || b->corners.count == 0)
    return false;
  const talus_dvec3 x = b->corners.data[0];
  if (a->shape->kind == TALUS_MESH) {
    const tl_dquat q = a->rotation;
    const talus_dvec3 own =
        tl_dquat_rotate((tl_dquat){q.w, -q.x, -q.y, -q.z}, tl_dsub(x, a->position));
    return tl_box_overlap(a->box, (talus_box){x, x}) &&
           tl_facets_winding(a->shape->facets, tl_dscale(own, 1 / a->scale)) > 0;
  }
  for (size_t i = 0; i < a->triangles.count / 3; ++i) {
    const talus_dvec3 t[3] = {corner(a, i, 0), corner(a, i, 1), corner(a, i, 2)};
    if (side_of(t, x) >= 0)
      return false;
  }
  return true;
}

bool tl_flats_share(const tl_flat *a, const tl_flat *b, const volatile int *interrupt) {
  if (!tl_box_overlap(a->box, b->box))
    return false;
  if (are_convex(a, b))
    return !has_face_between(a, b) && !has_face_between(b, a) && !has_edges_between(a, b);
  return surfaces_cross(a, b, interrupt) || holds(a, b) || holds(b, a);
}
