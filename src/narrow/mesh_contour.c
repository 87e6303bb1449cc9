#include "narrow/mesh_contour.h"

/* Part of the largest area that the segments could enclose: a smaller area has no reliable
 * direction. */
#define NO_AREA 1e-6
/* Cosine to the way out above which a point leads that way. */
#define LEADS_OUT 0.7
/* Cosine above which points stay beside the contour's own: together they do not push faster than
 * one of them by more than a tenth. */
#define STAYS 0.9

void tl_mesh_contour_start(tl_mesh_contour *contour) {
  memset(contour, 0, sizeof *contour);
  contour->low = HUGE_VAL, contour->high = -HUGE_VAL;
}

/* Outward normal in the frame of b: towards where bodies are, which may differ from the triangle's
 * orientation. */
static talus_dvec3 normal_of_a(const tl_mesh_pair *pair, uint32_t triangle) {
  const talus_dvec3 n = tl_facets_normal(pair->a.f, pair->a.f->triangle_facet[triangle]);
  return tl_frame_to_local(&pair->b.frame, tl_frame_to_world(&pair->a.frame, n));
}

/* Points where sides of t pierce a face. */
static int pierce(const tl_triangle_corners *t, const tl_triangle_corners *face, int count,
                  talus_dvec3 *out) {
  const talus_dvec3 n = tl_dcross(tl_dsub(face->p[1], face->p[0]), tl_dsub(face->p[2], face->p[0]));
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 p = t->p[k], q = t->p[k == 2 ? 0 : k + 1];
    const double h = tl_ddot(n, tl_dsub(p, face->p[0])), l = tl_ddot(n, tl_dsub(q, face->p[0]));
    if (!((h > 0 && l <= 0) || (h <= 0 && l > 0)))
      continue;
    const talus_dvec3 at = tl_dalong(p, h / (h - l), tl_dsub(q, p));
    bool within = true;
    for (int i = 0; i < 3; ++i) {
      const talus_dvec3 side = tl_dsub(face->p[i == 2 ? 0 : i + 1], face->p[i]);
      within = within && tl_ddot(tl_dcross(n, side), tl_dsub(at, face->p[i])) >= 0;
    }
    if (within)
      out[count++] = at;
  }
  return count;
}

/* The segment in which two triangles cross, directed so that the surface of a that is inside b lies
 * to its left, seen from outside of a. */
static bool find_segment(const tl_mesh_pair *pair, uint32_t a, uint32_t b, talus_dvec3 ends[2]) {
  const tl_triangle_corners first = tl_mesh_pair_first(pair, a);
  const tl_triangle_corners second = tl_mesh_pair_second(pair, b);
  talus_dvec3 at[6];
  const int count = pierce(&second, &first, pierce(&first, &second, 0, at), at);
  double longest = 0;
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j) {
      const talus_dvec3 d = tl_dsub(at[j], at[i]);
      if (tl_ddot(d, d) > longest)
        longest = tl_ddot(d, d), ends[0] = at[i], ends[1] = at[j];
    }
  if (!(longest > 0))
    return false;
  const talus_dvec3 along =
      tl_dcross(normal_of_a(pair, a), tl_facets_normal(pair->b.f, pair->b.f->triangle_facet[b]));
  if (tl_ddot(along, tl_dsub(ends[1], ends[0])) < 0) {
    const talus_dvec3 t = ends[0];
    ends[0] = ends[1], ends[1] = t;
  }
  return true;
}

void tl_mesh_contour_add(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                         tl_mesh_contour *contour) {
  talus_dvec3 ends[2];
  if (!find_segment(pair, a, b, ends))
    return;
  if (contour->segments++ == 0)
    contour->origin = ends[0];
  const talus_dvec3 p = tl_dsub(ends[0], contour->origin), q = tl_dsub(ends[1], contour->origin);
  const double length = tl_dlength(tl_dsub(q, p));
  contour->area = tl_dadd(contour->area, tl_dcross(p, q));
  contour->length += length;
  contour->centre = tl_dadd(contour->centre, tl_dscale(tl_dadd(p, q), 0.5 * length));
}

void tl_mesh_contour_close(const tl_mesh_pair *pair, tl_mesh_contour *contour) {
  const double area = tl_dlength(contour->area), length = contour->length;
  contour->is_good = !pair->a.f->two_sided && !pair->b.f->two_sided && length > 0 &&
                     area > NO_AREA * length * length;
  if (!contour->is_good)
    return;
  contour->centre = tl_dadd(contour->origin, tl_dscale(contour->centre, 1 / length));
  contour->out = tl_dscale(contour->area, 1 / area);
}

void tl_mesh_contour_measure(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                             tl_mesh_contour *contour) {
  talus_dvec3 ends[2];
  if (!find_segment(pair, a, b, ends))
    return;
  for (int k = 0; k < 2; ++k) {
    const double at = tl_ddot(contour->out, ends[k]);
    contour->low = fmin(contour->low, at), contour->high = fmax(contour->high, at);
    contour->wide = fmax(contour->wide, tl_dlength(tl_dsub(ends[k], contour->centre)));
  }
}

void tl_mesh_contour_reach(const tl_mesh_pair *pair, const tl_mesh_contour *contour, bool is_a,
                           uint32_t triangle, double *extreme) {
  const tl_mesh_posed *own = is_a ? &pair->a : &pair->b, *other = is_a ? &pair->b : &pair->a;
  const tl_facets *f = own->f;
  for (size_t k = 0; k < 3; ++k) {
    const uint32_t vertex = f->triangle[3 * (size_t)triangle + k];
    if (f->vertex_triangle[f->vertex_start[vertex]] != triangle)
      continue;
    const talus_dvec3 x = tl_facets_point(f, vertex), world = tl_mesh_to_world(own, x);
    const double at = tl_ddot(contour->out, tl_mesh_to_local(&pair->b, world));
    tl_near near;
    if (is_a ? !(at > *extreme) : !(at < *extreme))
      continue;
    if (tl_mesh_deep(other, tl_mesh_to_local(other, world), 2 * pair->radius / other->scale, &near))
      *extreme = at;
  }
}

static double leads(const tl_point *point, talus_dvec3 out) {
  return (double)point->normal.x * out.x + (double)point->normal.y * out.y +
         (double)point->normal.z * out.z;
}

bool tl_mesh_contour_is_missed(const tl_mesh_pair *pair, const tl_mesh_contour *contour,
                               const tl_mesh_points *points) {
  const talus_dvec3 out = tl_frame_to_world(&pair->b.frame, contour->out);
  for (int i = 0; i < points->count; ++i)
    if ((double)points->list[i].gap + pair->rounding < 0 &&
        leads(&points->list[i], out) > LEADS_OUT)
      return false;
  return contour->is_good;
}

void tl_mesh_contour_finish(const tl_mesh_pair *pair, const tl_mesh_contour *contour,
                            tl_mesh_points *points) {
  const tl_mesh_posed *m = &pair->b;
  const talus_dvec3 out = tl_frame_to_world(&m->frame, contour->out);
  const double middle = 0.5 * (contour->low + contour->high);
  double depth = fmax(contour->high - contour->low, 0) * m->scale;
  /* A contour with many loops, as of two screw threads, is as high as the bodies. If no vertex is
   * behind a surface by more than the reach, nothing is deeper than the reach. */
  if (!contour->is_deep)
    depth = fmin(depth, pair->reach);
  const double gap = -depth - pair->rounding;
  const talus_dvec3 local =
      tl_dalong(contour->centre, middle - tl_ddot(contour->out, contour->centre), contour->out);
  const talus_dvec3 centre = tl_mesh_to_world(m, local);
  int kept = 0;
  for (int i = 0; i < points->count; ++i)
    if (!contour->is_deep || leads(&points->list[i], out) > STAYS ||
        tl_dlength(tl_dsub(points->list[i].point, centre)) > 1.1 * contour->wide * m->scale)
      points->list[kept++] = points->list[i];
  points->count = kept;
  tl_point point = {.point = centre, .normal = tl_narrow(out), .gap = TL_R(gap)};
  point.feature_a = tl_key_of_facet(pair->a.f, pair->a.f->facets); /* one after the last */
  point.feature_b = tl_key_of_facet(pair->b.f, pair->b.f->facets);
  if (gap <= pair->margin)
    tl_mesh_points_add(points, &point);
}
