/* A long mesh on a periodic axis is tested in every image that is near, not only in the nearest
 * (docs/theory/meshes.md).
 *
 * Where one image ends, another begins: the open edge of a floor is no edge there. So a point on
 * the border of one image is kept only if its direction is also in the cone of the image beside
 * it. */
#include "kernels/nearest.h"
#include "narrow/mesh.h"
#include "narrow/mesh_points.h"
#include "narrow/parts.h"
#include "shape/shape.h"

#define MOST_SHIFTS (TL_PARTS_PERIODS + 4) /* of an axis */
/* Part of the extent: images nearer than this are joined, like vertices of a file (facets.h). */
#define JOINED (4 * TL_FACET_FLAT)
/* Part of the extent: distance from the surface at which directions are compared; rad:
 * tolerance. */
#define AWAY 0.05
#define SAME 2e-5

/* Multiples of the period that bring the second body near the first, for each axis. */
typedef struct shifts {
  double by[3][MOST_SHIFTS];
  int count[3];
} shifts;

static double radius_of(const tl_posed *p) {
  return p->shape->bounded ? (double)p->shape->radius * (double)p->scale : 0;
}

bool tl_parts_has_images(const tl_model *model, const tl_ordered *o) {
  const talus_domain_def *d = &model->domain;
  const double period[3] = {d->box.hi.x - d->box.lo.x, d->box.hi.y - d->box.lo.y,
                            d->box.hi.z - d->box.lo.z};
  if (!d->enabled || !o->first.shape->bounded || !o->second.shape->bounded)
    return false;
  for (int k = 0; k < 3; ++k)
    if (d->periodic[k] &&
        radius_of(&o->first) + radius_of(&o->second) + (double)o->margin > 0.5 * period[k])
      return true;
  return false;
}

static void find_shifts(const tl_model *model, const tl_ordered *o, shifts *out) {
  const talus_domain_def *d = &model->domain;
  const talus_box a =
      tl_shape_bounds(o->first.shape, (double)o->first.scale, o->first.position, o->first.rotation);
  const talus_box b = tl_shape_bounds(o->second.shape, (double)o->second.scale, o->second.position,
                                      o->second.rotation);
  const double more = fmax((double)o->margin, 0);
  const double lo[3] = {a.lo.x - b.hi.x - more, a.lo.y - b.hi.y - more, a.lo.z - b.hi.z - more};
  const double hi[3] = {a.hi.x - b.lo.x + more, a.hi.y - b.lo.y + more, a.hi.z - b.lo.z + more};
  const double period[3] = {d->box.hi.x - d->box.lo.x, d->box.hi.y - d->box.lo.y,
                            d->box.hi.z - d->box.lo.z};
  for (int k = 0; k < 3; ++k) {
    out->count[k] = 0;
    if (!d->periodic[k])
      out->by[k][out->count[k]++] = 0;
    for (double n = d->periodic[k] ? ceil(lo[k] / period[k]) : HUGE_VAL;
         n * period[k] <= hi[k] && out->count[k] < MOST_SHIFTS; n += 1)
      out->by[k][out->count[k]++] = n * period[k];
  }
}

/* True if a triangle of the mesh at `place` continues from there in direction `away`. */
static bool goes_on(const tl_mesh_posed *m, talus_dvec3 place, talus_dvec3 away) {
  const tl_facets *f = m->f;
  const talus_dvec3 p = tl_mesh_to_local(m, place), n = tl_frame_to_local(&m->frame, away);
  const double near = JOINED * f->extent, far = AWAY * f->extent;
  const tl_tree_box box = {{p.x - near, p.y - near, p.z - near},
                           {p.x + near, p.y + near, p.z + near}};
  tl_tree_walk walk = tl_tree_begin(&f->tree, m->flat);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t) {
      const uint32_t *rows = f->triangle + 3 * (size_t)t;
      const talus_dvec3 v[3] = {tl_facets_point(f, rows[0]), tl_facets_point(f, rows[1]),
                                tl_facets_point(f, rows[2])};
      int part;
      if (tl_dlength(tl_dsub(p, tl_nearest_on_triangle(p, v, &part))) > near)
        continue;
      const talus_dvec3 way = tl_dsub(tl_nearest_on_triangle(tl_dalong(p, far, n), v, &part), p);
      if (tl_dlength(way) > SAME * far + 2 * near && tl_ddot(way, n) > 0)
        return true;
    }
  return false;
}

/* True if a point of one image of a mesh is inside the surface that all images form. `mesh` is that
 * image; if the second body has another shift than `own`, the mesh moves by `sign` times the
 * difference. */
static bool is_seam(const tl_posed *mesh, const shifts *s, talus_dvec3 own, double sign,
                    talus_dvec3 place, talus_dvec3 away) {
  tl_posed other = *mesh;
  for (int i = 0; i < s->count[0]; ++i)
    for (int j = 0; j < s->count[1]; ++j)
      for (int k = 0; k < s->count[2]; ++k) {
        const talus_dvec3 shift = tl_dvec3(s->by[0][i], s->by[1][j], s->by[2][k]);
        if (shift.x == own.x && shift.y == own.y && shift.z == own.z)
          continue;
        other.position = tl_dalong(mesh->position, sign, tl_dsub(shift, own));
        const tl_mesh_posed m = tl_mesh_pose(&other);
        if (goes_on(&m, place, away))
          return true;
      }
  return false;
}

/* True if a point of a convex body, which is first and at the origin, is behind a sheet that it
 * passed through, in any image (narrow/mesh_convex.c). */
static bool is_through(const tl_posed *mesh, const shifts *s, talus_dvec3 own, talus_dvec3 place) {
  tl_posed other = *mesh;
  for (int i = 0; i < s->count[0]; ++i)
    for (int j = 0; j < s->count[1]; ++j)
      for (int k = 0; k < s->count[2]; ++k) {
        const talus_dvec3 shift = tl_dvec3(s->by[0][i], s->by[1][j], s->by[2][k]);
        other.position = tl_dadd(mesh->position, tl_dsub(shift, own));
        const tl_mesh_posed m = tl_mesh_pose(&other);
        if (tl_mesh_goes_through(&m, tl_dvec3(0, 0, 0), place))
          return true;
      }
  return false;
}

/* True if the point may be of a convex body that went around the end of a sheet. */
static bool asks_for_way(const tl_posed *first, const tl_posed *second, const tl_point *point) {
  const tl_facets *f = second->shape->facets;
  return f && f->two_sided && second->shape->kind == TALUS_MESH && !first->shape->facets &&
         first->shape->kind != TALUS_SPHERE && point->feature_b >= tl_key_of_facet(f, 0) &&
         (double)point->gap + f->rounding * (double)second->scale < 0;
}

/* True if a point is kept. It is midway between the surfaces, with the normal from the first to the
 * second; `shift` was added to the second's position. */
static bool stays(const tl_posed *first, const tl_posed *second, const shifts *s, talus_dvec3 shift,
                  const tl_point *point) {
  const talus_dvec3 n =
      tl_dvec3((double)point->normal.x, (double)point->normal.y, (double)point->normal.z);
  const double half = 0.5 * (double)point->gap;
  if (second->shape->facets) {
    const double round = second->shape->facets->rounding * (double)second->scale;
    const talus_dvec3 place = tl_dalong(point->point, half + round, n);
    if (is_seam(second, s, shift, 1, place, tl_dscale(n, -1)))
      return false;
    if (asks_for_way(first, second, point) &&
        !is_through(second, s, shift, tl_dalong(point->point, -half, n)))
      return false;
  }
  if (!first->shape->facets)
    return true;
  const double round = first->shape->facets->rounding * (double)first->scale;
  return !is_seam(first, s, shift, -1, tl_dalong(point->point, -half - round, n), n);
}

/* The second body where it has that shift. */
static tl_posed image_of(const tl_ordered *o, talus_dvec3 shift) {
  tl_posed second = o->second;
  second.position = tl_dadd(second.position, shift), second.image = true;
  return second;
}

static bool may_be_pierced(const tl_ordered *o) {
  return o->second.shape->kind == TALUS_MESH && o->second.shape->facets->two_sided &&
         !o->first.shape->facets && o->first.shape->kind != TALUS_SPHERE;
}

/* A convex body that a sheet goes through is not left without a way out: the shortest one through
 * any image. */
static void add_way_out(const tl_ordered *o, const shifts *s, bool first_is_long,
                        tl_mesh_points *all) {
  const double rounding = o->second.shape->facets->rounding * (double)o->second.scale;
  tl_point best = {.gap = -TL_REAL_MAX};
  for (int i = 0; i < all->count; ++i)
    if ((double)all->list[i].gap + rounding < 0)
      return;
  for (int i = 0; i < s->count[0]; ++i)
    for (int j = 0; j < s->count[1]; ++j)
      for (int k = 0; k < s->count[2]; ++k) {
        const talus_dvec3 shift = tl_dvec3(s->by[0][i], s->by[1][j], s->by[2][k]);
        const tl_posed second = image_of(o, shift);
        tl_point point;
        if (!tl_mesh_way_out(&o->first, &second, &point) || !(point.gap > best.gap))
          continue;
        best = point;
        if (first_is_long)
          best.point = tl_dsub(best.point, shift);
      }
  if (best.gap > -TL_REAL_MAX)
    tl_mesh_points_add(all, &best);
}

int tl_parts_images(const tl_model *model, const tl_ordered *o, tl_point *out) {
  tl_mesh_points all;
  tl_point points[TL_PARTS_MAX_POINTS];
  shifts s;
  /* Arms are computed with the nearest image of each body, so finally the long body, which is
   * static, is shifted. */
  const bool first_is_long = radius_of(&o->first) > radius_of(&o->second);
  find_shifts(model, o, &s);
  tl_mesh_points_clear(&all, 2 * fmin(radius_of(&o->first), radius_of(&o->second)), o->first.whole);
  for (int i = 0; i < s.count[0]; ++i)
    for (int j = 0; j < s.count[1]; ++j)
      for (int k = 0; k < s.count[2]; ++k) {
        const talus_dvec3 shift = tl_dvec3(s.by[0][i], s.by[1][j], s.by[2][k]);
        const tl_posed second = image_of(o, shift);
        const int count = tl_narrow_table[o->first.shape->kind][second.shape->kind](
            &o->first, &second, o->margin, points);
        for (int p = 0; p < count; ++p)
          if (stays(&o->first, &second, &s, shift, &points[p])) {
            if (first_is_long)
              points[p].point = tl_dsub(points[p].point, shift);
            tl_mesh_points_add(&all, &points[p]);
          }
      }
  if (may_be_pierced(o))
    add_way_out(o, &s, first_is_long, &all);
  return tl_mesh_points_take(&all, out);
}
