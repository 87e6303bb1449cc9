/* Capsules, boxes and hulls against a revolved wall.
 *
 * Ends and vertices touch like balls of radius r or 0: on the hollow side of a cone nothing else
 * can be nearest. Where the wall bulges, or has a rim, points inside edges touch too, and a face
 * can lie on a rim. Such points get their normal from the face or edge, not from the difference of
 * two points, which is undefined if they coincide and wrong if one is past the other. */
#include "narrow/revolved.h"

#include "kernels/patch.h"
#include "kernels/revolved_edge.h"
#include "narrow/mesh.h"

#define EDGE_FEATURE 0x10000u /* edges and faces of a solid are numbered after its vertices */
#define FACE_FEATURE 0x20000u
#define PARALLEL     1e-6

/* ---- results --------------------------------------------------------------------------------- */

/* A solid with flat faces in its own frame, m at scale 1. */
typedef struct solid {
  const double *points;
  uint32_t point_count;
  const uint32_t *edge;
  uint32_t edge_count;
  const uint32_t *face_start, *face_vertex;
  const double *face_plane;
  uint32_t face_count;
  tl_frame frame; /* own axes, in the wall's frame */
  double scale;
} solid;

typedef struct meeting {
  tl_revolved wall;
  tl_frame frame;     /* of the wall */
  talus_dvec3 centre; /* of the body, in the wall's frame */
  double margin, behind, rounding;
  const solid *body; /* NULL: a capsule */
  tl_point *out;
  int count;
} meeting;

static meeting meet(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  meeting m = {.wall = tl_shape_revolved(b->shape, (double)b->scale),
               .frame = tl_frame_from_quat(b->rotation),
               .margin = (double)margin,
               .behind = 0.5 * (double)a->shape->radius * (double)a->scale,
               .out = out};
  m.centre = tl_frame_to_local(&m.frame, tl_dscale(b->position, -1));
  return m;
}

/* True if the body's bounding ball is too far from the wall. */
static bool is_far(const meeting *m, const tl_posed *a) {
  const tl_meridian c =
      tl_meridian_of(sqrt(m->centre.x * m->centre.x + m->centre.y * m->centre.y), m->centre.z);
  const double reach =
      (double)a->shape->radius * (double)a->scale * (1 + 4 * (double)TL_REAL_EPS) + m->margin;
  double near2;
  bool is_behind;
  tl_wall_nearest(&m->wall, c, &near2, &is_behind);
  return near2 > reach * reach;
}

/* place: of the body's core; away: direction away from the wall, both in the wall's frame;
 * distance: of the point from the wall. The nearest TL_REVOLVED_MAX are kept. */
static void add(meeting *m, talus_dvec3 place, talus_dvec3 away, double distance,
                uint32_t feature_a, uint32_t feature_b) {
  const talus_dvec3 world_away = tl_frame_to_world(&m->frame, away);
  const talus_dvec3 arm = tl_frame_to_world(&m->frame, tl_dsub(place, m->centre));
  const double gap = distance - m->rounding;
  if (!(gap <= m->margin))
    return;
  int at = m->count;
  if (at == TL_REVOLVED_MAX) {
    at = 0;
    for (int i = 1; i < TL_REVOLVED_MAX; ++i)
      at = m->out[i].gap >= m->out[at].gap ? i : at;
    if (!(gap < (double)m->out[at].gap))
      return;
  } else {
    m->count++;
  }
  m->out[at] = tl_point_at(tl_dsub(arm, tl_dscale(world_away, m->rounding)), world_away, gap,
                           feature_a, feature_b);
}

static int finish(const meeting *m) {
  tl_sort_by_features(m->out, m->count);
  return m->count;
}

static talus_dvec3 vertex(const meeting *m, const solid *s, uint32_t i) {
  const double *p = s->points + 3 * (size_t)i;
  return tl_dadd(m->centre,
                 tl_frame_to_world(&s->frame, tl_dscale(tl_dvec3(p[0], p[1], p[2]), s->scale)));
}

/* Lower bound of the signed distance of a point from the surface of a solid: that from the plane of
 * the face that it is farthest outside of, or least inside. */
static double height_over(const meeting *m, talus_dvec3 place, uint32_t *face) {
  const solid *s = m->body;
  const talus_dvec3 own = tl_frame_to_local(&s->frame, tl_dsub(place, m->centre));
  double most = -HUGE_VAL;
  for (uint32_t f = 0; f < s->face_count; ++f) {
    const double *p = s->face_plane + 4 * (size_t)f;
    const double d = tl_ddot(tl_dvec3(p[0], p[1], p[2]), own) - p[3] * s->scale;
    if (d > most)
      most = d, *face = f;
  }
  return most;
}

/* ---- ends and vertices ----------------------------------------------------------------------- */

/* True if a vertex may touch a circle along the line between them: not if that line has no length,
 * nor if the circle is inside the solid, which edges and faces handle. */
static bool is_off(const meeting *m, talus_dvec3 place, const tl_wall_place *found) {
  uint32_t face;
  return found->distance > 1e-9 * m->behind &&
         height_over(m, tl_dsub(place, tl_dscale(found->away, found->distance)), &face) > 0;
}

/* An end of a capsule is a ball, a vertex is a ball of radius 0. */
static void touch_place(meeting *m, talus_dvec3 place, uint32_t feature) {
  tl_wall_places list;
  tl_revolved_places(&m->wall, place, m->rounding + m->margin,
                     m->rounding > 0 ? 0.5 * m->rounding : m->behind, &list);
  for (int i = 0; i < list.count; ++i)
    if (!m->body || list.place[i].feature % 2 == 1 || is_off(m, place, &list.place[i]))
      add(m, place, list.place[i].away, list.place[i].distance, feature, list.place[i].feature);
}

/* A vertex and the body's centre on different sides of a thin wall: the vertex has passed
 * through. */
static bool touch_through(meeting *m, talus_dvec3 place, uint32_t feature) {
  const tl_wall_view v = tl_wall_view_of(place, m->margin);
  bool found = false;
  for (uint32_t k = 0; m->wall.side == 0 && k + 1 < m->wall.count; ++k) {
    const tl_wall_segment g = tl_wall_segment_at(&m->wall, k, v.c);
    if (g.d > m->behind || g.s < 0 || g.s > g.length ||
        tl_wall_crossing(&m->wall, k, m->centre, place) > 1)
      continue;
    found = true;
    add(m, place, tl_dvec3(-g.normal.r * v.cs, -g.normal.r * v.sn, -g.normal.z), -g.d, feature,
        2 * k + 1);
  }
  return found;
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* An edge against the bulging side of segment k. */
static void edge_over_segment(meeting *m, const tl_wall_edge *e, uint32_t k, uint32_t feature) {
  const tl_wall_view from = tl_wall_view_of(e->x, 0);
  const tl_wall_view to = tl_wall_view_of(tl_dadd(e->x, e->way), 0);
  tl_wall_segment g = tl_wall_segment_at(&m->wall, k, from.c);
  if (m->wall.side == 0 && g.normal.r < 0)
    g.normal = tl_meridian_of(-g.normal.r, -g.normal.z);
  if (!(g.normal.r > 1e-9))
    return;
  const double u = tl_wall_edge_over_cone(e, g.normal);
  if (u < 0)
    return;
  const talus_dvec3 place = tl_wall_edge_at(e, u);
  const tl_wall_view v = tl_wall_view_of(place, 0);
  const tl_meridian at = tl_meridian_of(v.c.r - g.from.r, v.c.z - g.from.z);
  const double d = tl_meridian_dot(at, g.normal), s = tl_meridian_dot(at, g.along);
  const tl_meridian ends[2] = {tl_meridian_of(from.c.r - g.from.r, from.c.z - g.from.z),
                               tl_meridian_of(to.c.r - g.from.r, to.c.z - g.from.z)};
  /* An edge has passed a thin wall only if both ends are on the other side. */
  const bool is_in_front = m->wall.side != 0 || (tl_meridian_dot(ends[0], g.normal) >= 0 &&
                                                 tl_meridian_dot(ends[1], g.normal) >= 0);
  const double behind = m->rounding > 0 ? 0.5 * m->rounding : m->behind;
  if (s < 0 || s > g.length || (d < 0 && (!is_in_front || d < -behind)))
    return;
  add(m, place, tl_dvec3(g.normal.r * v.cs, g.normal.r * v.sn, g.normal.z), d, feature, 2 * k + 1);
}

/* The direction perpendicular to both edge and circle, towards the body. */
static bool across(const meeting *m, const tl_wall_edge *e, talus_dvec3 on, talus_dvec3 place,
                   double radius, talus_dvec3 *away) {
  const talus_dvec3 tangent = tl_dvec3(-on.y / radius, on.x / radius, 0);
  const talus_dvec3 n = tl_dcross(e->way, tangent);
  const double length = tl_dlength(n);
  if (length > PARALLEL * tl_dlength(e->way)) {
    *away = tl_dscale(n, (tl_ddot(n, tl_dsub(m->centre, on)) < 0 ? -1 : 1) / length);
    return true;
  }
  const talus_dvec3 d = tl_dsub(place, on);
  *away = tl_dunit(d);
  return tl_dlength(d) > 1e-12 * radius;
}

static void edge_past_corner(meeting *m, const tl_wall_edge *e, uint32_t j, uint32_t feature) {
  const tl_meridian circle = tl_revolved_point(&m->wall, j);
  double u[2];
  const int n = circle.r > 0 ? tl_wall_edge_past_circle(e, circle, u) : 0;
  for (int i = 0; i < n; ++i) {
    const talus_dvec3 place = tl_wall_edge_at(e, u[i]);
    const tl_wall_view v = tl_wall_view_of(place, 0);
    const talus_dvec3 on = tl_dvec3(circle.r * v.cs, circle.r * v.sn, circle.z);
    const talus_dvec3 d = tl_dsub(place, on);
    talus_dvec3 away = tl_dunit(d);
    if (m->rounding == 0 && !across(m, e, on, place, circle.r, &away))
      continue;
    const double distance = tl_ddot(d, away);
    const tl_meridian look = tl_meridian_of(away.x * v.cs + away.y * v.sn, away.z);
    uint32_t face;
    /* For a circle inside the solid this edge counts only if no face is much nearer. */
    if (distance < 0 && m->body && !(distance >= 1.5 * height_over(m, on, &face)))
      continue;
    if (distance < -m->behind || !tl_wall_corner_shows(&m->wall, j, look))
      continue;
    add(m, place, away, distance, feature, 2 * j + (uint32_t)i * TL_REVOLVED_TURN);
  }
}

static void touch_edge(meeting *m, talus_dvec3 x, talus_dvec3 y, uint32_t feature) {
  const tl_wall_edge e = tl_wall_edge_of(x, y);
  const uint32_t last = m->wall.count - 1;
  for (uint32_t k = 0; k < last; ++k)
    edge_over_segment(m, &e, k, feature);
  for (uint32_t j = 0; j < (tl_revolved_is_closed(&m->wall) ? last : last + 1); ++j)
    edge_past_corner(m, &e, j, feature);
}

int tl_revolved_capsule(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  meeting m = meet(a, b, margin, out);
  const tl_frame frame = tl_frame_from_quat(a->rotation);
  const double half = 0.5 * a->shape->size[1] * (double)a->scale;
  const talus_dvec3 axis = tl_frame_to_local(&m.frame, tl_frame_axis(&frame, 2));
  const talus_dvec3 ends[2] = {tl_dsub(m.centre, tl_dscale(axis, half)),
                               tl_dadd(m.centre, tl_dscale(axis, half))};
  m.rounding = a->shape->size[0] * (double)a->scale;
  if (is_far(&m, a))
    return 0;
  for (uint32_t i = 0; i < 2; ++i)
    touch_place(&m, ends[i], i);
  touch_edge(&m, ends[0], ends[1], EDGE_FEATURE);
  return finish(&m);
}

/* ---- solids ---------------------------------------------------------------------------------- */

/* True if a point is over a face: inside all its edges. */
static bool is_over(const meeting *m, const solid *s, uint32_t face, talus_dvec3 normal,
                    talus_dvec3 place) {
  const uint32_t *v = s->face_vertex + s->face_start[face];
  const uint32_t n = s->face_start[face + 1] - s->face_start[face];
  for (uint32_t i = 0; i < n; ++i) {
    const talus_dvec3 p = vertex(m, s, v[i]), q = vertex(m, s, v[i + 1 < n ? i + 1 : 0]);
    if (tl_ddot(tl_dcross(tl_dsub(q, p), tl_dsub(place, p)), normal) < 0)
      return false;
  }
  return true;
}

/* Points of a circle under a face: the deepest one, and those a third of a turn to either side,
 * because a lid on a rim touches all around. */
static void face_on_corner(meeting *m, const solid *s, uint32_t face, uint32_t j) {
  const double *plane = s->face_plane + 4 * (size_t)face;
  const talus_dvec3 n = tl_frame_to_world(&s->frame, tl_dvec3(plane[0], plane[1], plane[2]));
  const tl_meridian circle = tl_revolved_point(&m->wall, j);
  const double lean = sqrt(n.x * n.x + n.y * n.y);
  const double cs = lean > 1e-9 ? -n.x / lean : 1, sn = lean > 1e-9 ? -n.y / lean : 0;
  for (uint32_t turn = 0; turn < (circle.r > 0 ? 3u : 1u); ++turn) {
    const double c = turn == 0 ? 1 : TL_THIRD_COS;
    const double sine = turn == 0 ? 0 : turn == 1 ? TL_THIRD_SIN : -TL_THIRD_SIN;
    const double x = cs * c - sn * sine, y = sn * c + cs * sine;
    const talus_dvec3 on = tl_dvec3(circle.r * x, circle.r * y, circle.z);
    uint32_t nearest = 0;
    const double distance = height_over(m, on, &nearest);
    if (nearest != face || distance > m->margin || distance < -m->behind ||
        !is_over(m, s, face, n, on) ||
        !tl_wall_corner_shows(&m->wall, j, tl_meridian_of(-(n.x * x + n.y * y), -n.z)))
      continue;
    add(m, tl_dsub(on, tl_dscale(n, distance)), tl_dscale(n, -1), distance, FACE_FEATURE + face,
        2 * j + turn * TL_REVOLVED_TURN);
  }
}

static int touch_solid(const tl_posed *a, const tl_posed *b, talus_real margin, solid *s,
                       tl_point *out) {
  meeting m = meet(a, b, margin, out);
  if (is_far(&m, a))
    return 0;
  const tl_frame own = tl_frame_from_quat(a->rotation);
  m.body = s;
  s->scale = (double)a->scale;
  for (int i = 0; i < 3; ++i) {
    const talus_dvec3 axis = tl_frame_to_local(&m.frame, tl_frame_axis(&own, i));
    s->frame.m[0][i] = axis.x, s->frame.m[1][i] = axis.y, s->frame.m[2][i] = axis.z;
  }
  for (uint32_t i = 0; i < s->point_count; ++i)
    if (!touch_through(&m, vertex(&m, s, i), i))
      touch_place(&m, vertex(&m, s, i), i);
  for (uint32_t i = 0; i < s->edge_count; ++i)
    touch_edge(&m, vertex(&m, s, s->edge[2 * i]), vertex(&m, s, s->edge[2 * i + 1]),
               EDGE_FEATURE + i);
  const uint32_t corners = m.wall.count - (tl_revolved_is_closed(&m.wall) ? 1 : 0);
  for (uint32_t f = 0; f < s->face_count; ++f)
    for (uint32_t j = 0; j < corners; ++j)
      face_on_corner(&m, s, f, j);
  return finish(&m);
}

int tl_revolved_box(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  /* Vertices are numbered in binary: bit i is the positive side of axis i. */
  static const uint32_t edge[24] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3,
                                    4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7};
  static const uint32_t face_start[7] = {0, 4, 8, 12, 16, 20, 24};
  static const uint32_t face_vertex[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                           2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  double points[24], plane[24] = {0};
  const double *size = a->shape->size;
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 3; ++k)
      points[3 * i + k] = (i >> k & 1 ? 0.5 : -0.5) * size[k];
  for (int f = 0; f < 6; ++f)
    plane[4 * f + f / 2] = f % 2 ? 1 : -1, plane[4 * f + 3] = 0.5 * size[f / 2];
  solid s = {.points = points,
             .point_count = 8,
             .edge = edge,
             .edge_count = 12,
             .face_start = face_start,
             .face_vertex = face_vertex,
             .face_plane = plane,
             .face_count = 6};
  return touch_solid(a, b, margin, &s, out);
}

int tl_revolved_hull(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const tl_shape *shape = a->shape;
  solid s = {.points = shape->points,
             .point_count = shape->point_count,
             .edge = shape->edge,
             .edge_count = shape->edge_count,
             .face_start = shape->face_start,
             .face_vertex = shape->face_vertex,
             .face_plane = shape->face_plane,
             .face_count = shape->face_count};
  return touch_solid(a, b, margin, &s, out);
}

/* ---- by triangles ---------------------------------------------------------------------------- */

/* True if the body's centre is in front of a wall with sides, and not past its end. */
static bool is_in_front(const tl_posed *body, const tl_posed *wall) {
  const tl_revolved w = tl_shape_revolved(wall->shape, (double)wall->scale);
  const tl_frame frame = tl_frame_from_quat(wall->rotation);
  const talus_dvec3 centre = tl_frame_to_local(&frame, tl_dsub(body->position, wall->position));
  const tl_meridian c = tl_meridian_of(sqrt(centre.x * centre.x + centre.y * centre.y), centre.z);
  double near2;
  bool is_behind;
  const uint32_t nearest = tl_wall_nearest(&w, c, &near2, &is_behind);
  const tl_wall_segment g = tl_wall_segment_at(&w, nearest, c);
  return w.side != 0 && !is_behind && g.s >= 0 && g.s <= g.length;
}

int tl_revolved_keep(const tl_posed *body, const tl_posed *wall, tl_point *points, int count) {
  const double radius = (double)body->shape->radius * (double)body->scale;
  bool is_deep = false;
  int kept = 0;
  for (int i = 0; i < count; ++i)
    is_deep = is_deep || !((double)points[i].gap >= -0.5 * radius);
  const double most = is_deep && is_in_front(body, wall) ? 2 * radius : 0.5 * radius;
  for (int i = 0; i < count; ++i)
    if ((double)points[i].gap >= -most)
      points[kept++] = points[i];
  return kept;
}

int tl_revolved_convex(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const meeting m = meet(a, b, margin, out);
  return is_far(&m, a) ? 0 : tl_revolved_keep(a, b, out, tl_mesh_convex(a, b, margin, out));
}

int tl_revolved_mesh(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  return tl_revolved_keep(a, b, out, tl_mesh_mesh(a, b, margin, out));
}
