/* Features of two meshes: vertices of each against the other, and edges against edges. A pair of
 * features is a contact if the direction between them is in both normal cones. */
#include "narrow/mesh_pair.h"

#include "kernels/nearest.h"

/* rad: how far outside of its cone a vertex may meet something. The tolerance is large so that all
 * corners of a face that nearly lies on another give contacts, each with its own gap. */
#define SLANT 0.2
/* rad: the same for edges; their crossings are the other corners of two faces that lie on each
 * other. */
#define SLANT_OF_EDGE 0.03
/* Part of the smaller body's radius: depth behind a surface up to which features are searched, and
 * additional depth of vertices if something deep was found. */
#define SHALLOW 0.03
#define FIRST   0.003 /* the same in a first search */
#define DEEP    0.5

static tl_mesh_move move_of(const tl_mesh_posed *from, const tl_mesh_posed *to) {
  tl_mesh_move move;
  const double ratio = from->scale / to->scale;
  const talus_dvec3 at = tl_mesh_to_local(to, from->position);
  move.offset[0] = at.x, move.offset[1] = at.y, move.offset[2] = at.z;
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 axis = tl_frame_to_local(&to->frame, tl_frame_axis(&from->frame, k));
    move.m[0][k] = ratio * axis.x, move.m[1][k] = ratio * axis.y, move.m[2][k] = ratio * axis.z;
  }
  return move;
}

tl_mesh_pair tl_mesh_pair_make(const tl_posed *a, const tl_posed *b, talus_real margin,
                               bool first) {
  tl_mesh_pair p = {.a = tl_mesh_pose(a), .b = tl_mesh_pose(b), .margin = (double)margin};
  p.a_to_b = move_of(&p.a, &p.b), p.b_to_a = move_of(&p.b, &p.a);
  p.rounding = p.a.f->rounding * p.a.scale + p.b.f->rounding * p.b.scale;
  p.radius = fmin((double)a->shape->radius * p.a.scale, (double)b->shape->radius * p.b.scale);
  p.thesis = a->thesis, p.whole = a->whole, p.is_first = first;
  p.is_tank[0] = a->shape->open == TALUS_SIDES_IN, p.is_tank[1] = b->shape->open == TALUS_SIDES_IN;
  const double behind = (first ? FIRST : SHALLOW) * p.radius;
  p.reach = fmax(fmax(p.margin, 0) + p.rounding, p.thesis ? 0 : behind);
  p.shallow = 0.5 * behind;
  p.longest = fmax(p.a.f->longest * p.a.scale, p.b.f->longest * p.b.scale);
  p.deepest = fmax(p.reach, DEEP * p.radius);
  return p;
}

static bool is_in_root(const tl_tree *tree, talus_dvec3 x) {
  const double place[3] = {x.x, x.y, x.z};
  float lo[3] = {HUGE_VALF, HUGE_VALF, HUGE_VALF}, hi[3] = {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF};
  bool in = true;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < TL_TREE_WIDE; ++k) {
      lo[i] = fminf(lo[i], tree->node[0].lo[i][k]);
      hi[i] = fmaxf(hi[i], tree->node[0].hi[i][k]);
    }
    in = in && place[i] >= (double)lo[i] && place[i] <= (double)hi[i];
  }
  return in;
}

static bool is_buried_in(const tl_mesh_posed *m, bool is_tank, const tl_mesh_posed *other) {
  if (m->f->two_sided || !m->f->is_closed)
    return false;
  const talus_dvec3 place = tl_mesh_to_local(
      m, tl_mesh_to_world(other, tl_facets_point(other->f, other->f->triangle[0])));
  const bool is_within = is_in_root(&m->f->tree, place) && tl_facets_winding(m->f, place) != 0;
  return is_within != is_tank;
}

bool tl_mesh_pair_is_buried(const tl_mesh_pair *pair) {
  return !pair->thesis && (is_buried_in(&pair->a, pair->is_tank[0], &pair->b) ||
                           is_buried_in(&pair->b, pair->is_tank[1], &pair->a));
}

tl_tree_box tl_mesh_moved_box(const tl_mesh_move *move, const tl_tree_node *n, uint32_t k,
                              double more) {
  tl_tree_box box;
  double middle[3], half[3];
  for (int i = 0; i < 3; ++i) {
    middle[i] = 0.5 * ((double)n->lo[i][k] + (double)n->hi[i][k]);
    half[i] = 0.5 * ((double)n->hi[i][k] - (double)n->lo[i][k]);
  }
  for (int i = 0; i < 3; ++i) {
    const double at = tl_mesh_moved(move, i, tl_dvec3(middle[0], middle[1], middle[2]));
    const double wide = fabs(move->m[i][0]) * half[0] + fabs(move->m[i][1]) * half[1] +
                        fabs(move->m[i][2]) * half[2] + more;
    box.lo[i] = at - wide, box.hi[i] = at + wide;
  }
  return box;
}

void tl_mesh_points_start(tl_mesh_points *points, const tl_mesh_pair *pair) {
  tl_mesh_points_clear(points, 2 * pair->radius, pair->whole);
  if (!pair->thesis || pair->whole)
    return;
  points->same = fmax(pair->reach, points->same);
  points->alike = 0.98;
}

tl_triangle_corners tl_mesh_pair_first(const tl_mesh_pair *pair, uint32_t triangle) {
  tl_triangle_corners t;
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 x =
        tl_facets_point(pair->a.f, pair->a.f->triangle[3 * (size_t)triangle + (size_t)k]);
    t.p[k] = tl_dvec3(tl_mesh_moved(&pair->a_to_b, 0, x), tl_mesh_moved(&pair->a_to_b, 1, x),
                      tl_mesh_moved(&pair->a_to_b, 2, x));
  }
  return t;
}

tl_triangle_corners tl_mesh_pair_second(const tl_mesh_pair *pair, uint32_t triangle) {
  tl_triangle_corners t;
  for (int k = 0; k < 3; ++k)
    t.p[k] = tl_facets_point(pair->b.f, pair->b.f->triangle[3 * (size_t)triangle + (size_t)k]);
  return t;
}

/* The gap of a feature that is outside of its cone by `lean`. Where no point is dropped, the last
 * tenth of the slack takes it to the margin, where it has no force. It does so without a torque, so
 * that it is not more than a tenth. */
static double faded(const tl_mesh_pair *pair, double gap, double lean, double slack) {
  const double t = fmin(10 * lean / slack - 9, 1);
  if (!pair->whole || !(t > 0) || !(gap < pair->margin))
    return gap;
  return gap + t * t * (3 - 2 * t) * (pair->margin - gap);
}

/* ---- vertices -------------------------------------------------------------------------------- */

static double lean_of_vertex(const tl_mesh_posed *m, uint32_t vertex, talus_dvec3 towards) {
  return tl_vertex_lean(m->f, vertex, tl_frame_to_local(&m->frame, towards));
}

/* Adds a vertex x of one body (world), whose height above the other is `s`. */
static void add_vertex(const tl_mesh_pair *pair, bool is_a, uint32_t vertex, uint32_t feature,
                       talus_dvec3 x, talus_dvec3 away, double s, tl_mesh_points *points) {
  const tl_mesh_posed *own = is_a ? &pair->a : &pair->b;
  double gap = s - pair->rounding;
  if (!(gap <= pair->margin))
    return;
  if (pair->whole)
    gap = faded(pair, gap, lean_of_vertex(own, vertex, tl_dscale(away, -1)), SLANT);
  const talus_dvec3 surface = tl_dalong(x, -own->f->rounding * own->scale, away);
  tl_point point =
      tl_point_at(surface, away, gap, is_a ? vertex : feature, is_a ? feature : vertex);
  if (!is_a)
    point.normal = tl_neg(point.normal);
  tl_mesh_points_add(points, &point);
}

/* True if the vertex faces the direction. A vertex at the bottom of a dent has its cone behind the
 * surface; a nearly flat one accepts both sides, by SLANT. A surface with an inside faces outwards,
 * unless it ends there. */
static bool looks(const tl_mesh_posed *m, uint32_t vertex, talus_dvec3 towards) {
  const talus_dvec3 w = tl_frame_to_local(&m->frame, towards);
  return tl_vertex_looks(m->f, vertex, w, SLANT) &&
         (m->f->two_sided || tl_ddot(w, tl_vertex_normal(m->f, vertex)) >= 0 ||
          tl_feature_is_border(m->f, vertex));
}

/* A vertex behind the surface, or on it, that does not face what is nearest there: the side of a
 * block whose rim it is near. Its contact is with the nearest facet that it faces and that the
 * straight way leads to. 0 if there is none, else how deep it is. */
static double meet_facet_beyond(const tl_mesh_pair *pair, const tl_mesh_run *run, uint32_t vertex,
                                talus_dvec3 x, talus_dvec3 local, tl_mesh_points *points) {
  const bool is_a = run->is_a;
  const tl_mesh_posed *own = is_a ? &pair->a : &pair->b, *other = is_a ? &pair->b : &pair->a;
  const double reach = pair->reach / other->scale;
  tl_near exit[TL_NEAR_MOST];
  const int count = tl_mesh_exits(other, local, reach, run->keys, run->count, exit);
  int best = -1;
  for (int i = 0; i < count; ++i)
    if ((best < 0 || exit[i].distance < exit[best].distance) &&
        looks(own, vertex, tl_frame_to_world(&other->frame, tl_dscale(exit[i].normal, -1))))
      best = i;
  if (best < 0)
    return pair->is_first ? HUGE_VAL : 0; /* it may be farther */
  const double depth = exit[best].inside ? exit[best].distance : 0;
  const double known = depth * (1 - 1e-6) - 1e-9 * other->f->extent;
  if (tl_mesh_exit(other, local, exit[best].normal, depth) < known)
    return 0;
  add_vertex(pair, is_a, vertex, exit[best].feature, x,
             tl_frame_to_world(&other->frame, exit[best].normal), -depth * other->scale, points);
  return depth * other->scale;
}

/* True if the vertex is behind the surface by more than half of the search depth. */
static bool meet_vertex(const tl_mesh_pair *pair, const tl_mesh_run *run, uint32_t vertex,
                        tl_mesh_points *points) {
  const bool is_a = run->is_a;
  const tl_mesh_posed *own = is_a ? &pair->a : &pair->b, *other = is_a ? &pair->b : &pair->a;
  const talus_dvec3 x = tl_mesh_to_world(own, tl_facets_point(own->f, vertex));
  const talus_dvec3 local = tl_mesh_to_local(other, x);
  tl_near near[TL_NEAR_MOST];
  const double reach = pair->reach / other->scale, on = 1e-12 * other->f->extent;
  const int count = run->keys ? tl_mesh_near_of(other, local, reach, run->keys, run->count, near)
                              : tl_mesh_near(other, local, reach, near);
  bool has_met = false;
  for (int i = 0; i < count; ++i) {
    const talus_dvec3 away = tl_frame_to_world(&other->frame, near[i].normal);
    const double distance = near[i].distance * other->scale;
    const bool faces = looks(own, vertex, tl_dscale(away, -1));
    has_met = has_met || faces;
    if (faces)
      add_vertex(pair, is_a, vertex, near[i].feature, x, away,
                 near[i].inside ? -distance : distance, points);
    else if (other->f->two_sided && !tl_feature_is_border(other->f, near[i].feature) &&
             looks(own, vertex, away)) /* it passed through the sheet, not around its end */
      add_vertex(pair, is_a, vertex, near[i].feature, x, tl_dscale(away, -1), -distance, points);
  }
  double deep = count > 0 && near[0].inside ? near[0].distance * other->scale : 0;
  if (!has_met && count > 0 && !other->f->two_sided && (near[0].inside || near[0].distance <= on))
    deep = fmax(deep, meet_facet_beyond(pair, run, vertex, x, local, points));
  return deep > pair->shallow;
}

static bool is_own_vertex(const tl_facets *f, uint32_t t, uint32_t k, uint32_t *vertex) {
  *vertex = f->triangle[3 * (size_t)t + k];
  return f->vertex_kind[*vertex] == TL_VERTEX_SHARP &&
         f->vertex_triangle[f->vertex_start[*vertex]] == t;
}

void tl_mesh_pair_meet_deep(const tl_mesh_pair *pair, bool is_a, uint32_t triangle,
                            tl_mesh_points *points) {
  const tl_mesh_posed *own = is_a ? &pair->a : &pair->b, *other = is_a ? &pair->b : &pair->a;
  if (other->f->two_sided)
    return;
  for (uint32_t k = 0; k < 3; ++k) {
    uint32_t vertex;
    tl_near near;
    if (!is_own_vertex(own->f, triangle, k, &vertex))
      continue;
    const talus_dvec3 x = tl_mesh_to_world(own, tl_facets_point(own->f, vertex));
    if (!tl_mesh_deep(other, tl_mesh_to_local(other, x), pair->deepest / other->scale, &near))
      continue;
    const double distance = near.distance * other->scale;
    const talus_dvec3 away = tl_frame_to_world(&other->frame, near.normal);
    if (distance > pair->reach && looks(own, vertex, tl_dscale(away, -1)))
      add_vertex(pair, is_a, vertex, near.feature, x, away, -distance, points);
  }
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* An edge in world coordinates. */
typedef struct side {
  uint32_t number;
  talus_dvec3 from, along;
} side;

static side side_of(const tl_mesh_posed *m, uint32_t edge) {
  const uint32_t *v = m->f->edge_vertex + 2 * (size_t)edge;
  side s = {.number = edge, .from = tl_mesh_to_world(m, tl_facets_point(m->f, v[0]))};
  s.along = tl_dsub(tl_mesh_to_world(m, tl_facets_point(m->f, v[1])), s.from);
  return s;
}

/* Whether a place is behind the surface, no deeper than `depth`; or in front of it by no more than
 * what edges may lean by: where sides are parallel it is on them, and rounding would decide. */
static bool is_behind(const tl_mesh_posed *m, talus_dvec3 place, double depth) {
  tl_near near[TL_NEAR_MOST];
  if (m->f->two_sided)
    return true;
  const double on = 1e-12 * m->f->extent, reach = depth * (1 + 1e-6) / m->scale + on;
  const int count = tl_mesh_near(m, tl_mesh_to_local(m, place), reach, near);
  for (int i = 0; i < count; ++i)
    if (near[i].inside || near[i].distance <= SLANT_OF_EDGE * depth / m->scale + on)
      return true;
  return false;
}

/* The same as for vertices. */
static bool edge_looks(const tl_mesh_posed *m, uint32_t edge, talus_dvec3 towards) {
  const tl_facets *f = m->f;
  const talus_dvec3 w = tl_frame_to_local(&m->frame, towards);
  const bool ends = f->edge_start[edge + 1] - f->edge_start[edge] == 1;
  return tl_edge_looks(f, edge, w, SLANT_OF_EDGE) &&
         (f->two_sided || ends || tl_ddot(w, tl_edge_normal(f, edge)) >= 0);
}

/* Whether a place of an edge that has passed into a solid is much nearer to a facet of it that the
 * edge faces, too: then that is the way out. */
static bool has_shorter_way(const tl_mesh_posed *m, talus_dvec3 place, double depth,
                            const tl_mesh_posed *own, const side *edge) {
  tl_near exit[TL_NEAR_MOST];
  const double most = depth * (1 - SLANT_OF_EDGE) / m->scale;
  if (m->f->two_sided || !(most > 1e-9 * m->f->extent)) /* on the surface */
    return false;
  const int count = tl_mesh_exits(m, tl_mesh_to_local(m, place), most, NULL, 0, exit);
  for (int i = 0; i < count; ++i) {
    const talus_dvec3 out = tl_frame_to_world(&m->frame, exit[i].normal);
    if (fabs(tl_ddot(out, edge->along)) <= SLANT_OF_EDGE * tl_dlength(edge->along) &&
        edge_looks(own, edge->number, tl_dscale(out, -1)))
      return true;
  }
  return false;
}

/* w: unit vector from b to a. */
static bool edges_look(const tl_mesh_pair *pair, const side *a, const side *b, talus_dvec3 w) {
  return edge_looks(&pair->b, b->number, w) && edge_looks(&pair->a, a->number, tl_dscale(w, -1));
}

static double lean_of_edges(const tl_mesh_pair *pair, const side *a, const side *b, talus_dvec3 w) {
  return fmax(
      tl_edge_lean(pair->b.f, b->number, tl_frame_to_local(&pair->b.frame, w)),
      tl_edge_lean(pair->a.f, a->number, tl_frame_to_local(&pair->a.frame, tl_dscale(w, -1))));
}

static void meet_edges(const tl_mesh_pair *pair, const side *a, const side *b,
                       tl_mesh_points *points) {
  const talus_dvec3 r = tl_dsub(a->from, b->from);
  const double aa = tl_ddot(a->along, a->along), bb = tl_ddot(b->along, b->along);
  const double ab = tl_ddot(a->along, b->along);
  const double ar = tl_ddot(a->along, r), br = tl_ddot(b->along, r), det = aa * bb - ab * ab;
  if (!(det > 1e-12 * aa * bb))
    return; /* parallel: their ends give contacts */
  const double s = (ab * br - ar * bb) / det, t = (aa * br - ab * ar) / det;
  if (!(s > 0 && s < 1 && t > 0 && t < 1))
    return;
  const talus_dvec3 on_a = tl_dalong(a->from, s, a->along), on_b = tl_dalong(b->from, t, b->along);
  talus_dvec3 w = tl_dunit(tl_dcross(a->along, b->along));
  double apart = tl_ddot(tl_dsub(on_a, on_b), w);
  if (fabs(apart) > pair->reach)
    return;
  if (apart < 0)
    w = tl_dscale(w, -1), apart = -apart;
  if (!edges_look(pair, a, b, w)) { /* or one has passed through the other */
    w = tl_dscale(w, -1), apart = -apart;
    if (!edges_look(pair, a, b, w) || !is_behind(&pair->a, on_b, -apart) ||
        !is_behind(&pair->b, on_a, -apart))
      return;
    if (!pair->whole && (has_shorter_way(&pair->a, on_b, -apart, &pair->b, b) ||
                         has_shorter_way(&pair->b, on_a, -apart, &pair->a, a)))
      return;
  }
  double gap = apart - pair->rounding;
  if (!(gap <= pair->margin))
    return;
  if (pair->whole)
    gap = faded(pair, gap, lean_of_edges(pair, a, b, w), SLANT_OF_EDGE);
  const tl_point point =
      tl_point_at(tl_dalong(on_a, -pair->a.f->rounding * pair->a.scale, w), w, gap,
                  tl_key_of_edge(pair->a.f, a->number), tl_key_of_edge(pair->b.f, b->number));
  tl_mesh_points_add(points, &point);
}

static bool is_own_edge(const tl_facets *f, uint32_t t, uint32_t k, uint32_t *edge) {
  *edge = f->triangle_edge[3 * (size_t)t + k];
  return *edge != TL_NONE && f->edge_triangle[f->edge_start[*edge]] == t &&
         !tl_edge_is_concave(f, *edge);
}

/* Tests an edge of a against the edges that list this triangle of b first. */
static void meet_edges_of(const tl_mesh_pair *pair, const side *a, uint32_t triangle,
                          tl_mesh_points *points) {
  uint32_t other;
  for (uint32_t k = 0; k < 3; ++k)
    if (is_own_edge(pair->b.f, triangle, k, &other)) {
      const side b = side_of(&pair->b, other);
      meet_edges(pair, a, &b, points);
    }
}

static void meet_edge(const tl_mesh_pair *pair, const tl_mesh_run *run, uint32_t edge,
                      tl_mesh_points *points) {
  const tl_mesh_posed *m = &pair->b;
  const side a = side_of(&pair->a, edge);
  for (size_t i = 0; i < run->count; ++i)
    meet_edges_of(pair, &a, tl_mesh_key_other(run->keys[i]), points);
  if (run->keys)
    return;
  const talus_dvec3 p = tl_mesh_to_local(m, a.from);
  const talus_dvec3 q = tl_mesh_to_local(m, tl_dadd(a.from, a.along));
  const double more = pair->reach / m->scale;
  const tl_tree_box box = {{fmin(p.x, q.x) - more, fmin(p.y, q.y) - more, fmin(p.z, q.z) - more},
                           {fmax(p.x, q.x) + more, fmax(p.y, q.y) + more, fmax(p.z, q.z) + more}};
  tl_tree_walk walk = tl_tree_begin(&m->f->tree, m->flat);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t)
      meet_edges_of(pair, &a, t, points);
}

/* ---- deep overlap ---------------------------------------------------------------------------- */

/* Marks the corners of a triangle that are behind the plane of a triangle that it crosses. A vertex
 * behind the surface, in a crossing triangle, is behind one of those planes: that of the nearest
 * point inside the triangle where it crosses. */
static void mark_behind(const tl_mesh_pair *pair, const tl_mesh_run *run, uint32_t other,
                        bool behind[3]) {
  const tl_mesh_posed *own = run->is_a ? &pair->a : &pair->b;
  const tl_facets *f = run->is_a ? pair->b.f : pair->a.f;
  const tl_mesh_move *move = run->is_a ? &pair->a_to_b : &pair->b_to_a;
  const double *plane = f->plane + 4 * (size_t)f->triangle_facet[other];
  for (uint32_t k = 0; k < 3; ++k) {
    const talus_dvec3 x = tl_facets_point(own->f, own->f->triangle[3 * (size_t)run->triangle + k]);
    double s = -plane[3];
    for (int i = 0; i < 3; ++i)
      s += plane[i] * tl_mesh_moved(move, i, x);
    behind[k] = behind[k] || s < 0;
  }
}

void tl_mesh_pair_crossings(const tl_mesh_pair *pair, bool is_a, uint32_t triangle,
                            tl_mesh_crossing_fn *visit, void *context) {
  const tl_mesh_posed *other = is_a ? &pair->b : &pair->a, *own = is_a ? &pair->a : &pair->b;
  const tl_mesh_move *move = is_a ? &pair->a_to_b : &pair->b_to_a;
  tl_tree_box box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
  for (uint32_t k = 0; k < 3; ++k) {
    const talus_dvec3 x = tl_facets_point(own->f, own->f->triangle[3 * (size_t)triangle + k]);
    for (int i = 0; i < 3; ++i) {
      const double at = tl_mesh_moved(move, i, x), more = 1e-9 * other->f->extent;
      box.lo[i] = fmin(box.lo[i], at - more), box.hi[i] = fmax(box.hi[i], at + more);
    }
  }
  tl_tree_walk walk = tl_tree_begin(&other->f->tree, false);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t) {
      const tl_triangle_corners a = tl_mesh_pair_first(pair, is_a ? triangle : t);
      const tl_triangle_corners b = tl_mesh_pair_second(pair, is_a ? t : triangle);
      if (tl_triangle_triangle(&a, &b).feature >= TL_TRIANGLE_CROSSES)
        visit(context, triangle, t);
    }
}

typedef struct marking {
  const tl_mesh_pair *pair;
  const tl_mesh_run *run;
  bool *behind;
} marking;

static void mark_crossing(void *context, uint32_t triangle, uint32_t other) {
  const marking *m = context;
  (void)triangle;
  mark_behind(m->pair, m->run, other, m->behind);
}

static double distance_in_run(const tl_mesh_posed *other, talus_dvec3 local,
                              const tl_mesh_run *run) {
  double least = HUGE_VAL;
  for (size_t i = 0; i < run->count; ++i) {
    const uint32_t *v = other->f->triangle + 3 * (size_t)tl_mesh_key_other(run->keys[i]);
    const talus_dvec3 corner[3] = {tl_facets_point(other->f, v[0]), tl_facets_point(other->f, v[1]),
                                   tl_facets_point(other->f, v[2])};
    int part;
    least = fmin(least, tl_dlength(tl_dsub(local, tl_nearest_on_triangle(local, corner, &part))));
  }
  return least;
}

/* True if a crossing triangle has a corner that is behind the surface by more than the reach; no
 * feature covers that. Where surfaces cross, no vertex is behind by more than the length of a
 * side. */
static bool is_deep(const tl_mesh_pair *pair, const tl_mesh_run *run) {
  const tl_mesh_posed *own = run->is_a ? &pair->a : &pair->b;
  const tl_mesh_posed *other = run->is_a ? &pair->b : &pair->a;
  bool behind[3] = {false};
  if (other->f->two_sided)
    return false;
  for (size_t i = 0; i < run->count; ++i)
    if (tl_mesh_key_crosses(run->keys[i]))
      mark_behind(pair, run, tl_mesh_key_other(run->keys[i]), behind);
  marking tree = {pair, run, behind};
  if (!run->keys)
    tl_mesh_pair_crossings(pair, run->is_a, run->triangle, mark_crossing, &tree);
  for (uint32_t k = 0; k < 3; ++k) {
    tl_near near;
    if (!behind[k])
      continue;
    const uint32_t vertex = own->f->triangle[3 * (size_t)run->triangle + k];
    const talus_dvec3 x = tl_mesh_to_world(own, tl_facets_point(own->f, vertex));
    const talus_dvec3 local = tl_mesh_to_local(other, x);
    /* Only as far as the nearest known triangle: most vertices are in reach and done. */
    const double known = distance_in_run(other, local, run);
    if (known * other->scale <= pair->reach)
      continue;
    const double most = fmin(pair->longest / other->scale, known * (1 + 1e-6));
    if (tl_mesh_deep(other, local, most, &near) && near.distance * other->scale > pair->reach)
      return true;
  }
  return false;
}

bool tl_mesh_pair_meet(const tl_mesh_pair *pair, const tl_mesh_run *run, tl_mesh_points *points) {
  const tl_facets *f = run->is_a ? pair->a.f : pair->b.f;
  uint32_t vertex, edge;
  bool deep = false;
  for (uint32_t k = 0; k < 3; ++k) {
    if (is_own_vertex(f, run->triangle, k, &vertex))
      deep = meet_vertex(pair, run, vertex, points) || deep;
    if (run->is_a && is_own_edge(f, run->triangle, k, &edge))
      meet_edge(pair, run, edge, points);
  }
  return deep || is_deep(pair, run);
}
