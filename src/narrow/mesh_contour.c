#include "narrow/mesh_contour.h"

#include "base/cancel.h"

/* Part of the largest area that the segments could enclose: a smaller area has no reliable
 * direction. */
#define NO_AREA 1e-6
/* Of the smaller radius: a line so short is rounding, and so is its direction; and a point that
 * leads there need not be deeper. */
#define NO_LENGTH 1e-7
/* Part of its area by its length: a line with such a gap is not closed (coplanar triangles, edges
 * that touch edges), and its area depends on where it is seen from. */
#define OPEN 0.1
/* Cosine between two contours that lead in opposite directions: the way in and the way out of what
 * goes through a plate. Together they say where to. */
#define OPPOSED (-0.3)
/* Cosine to the direction out: points that lead there. */
#define LEADS_OUT 0.7
/* Cosine above which points stay beside the contour's own: together they do not push faster than
 * one of them by more than a tenth. */
#define STAYS 0.9

/* Places where sides of t go through a face. */
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
  const talus_dvec3 along = tl_dcross(tl_mesh_pair_normal(pair, a),
                                      tl_facets_normal(pair->b.f, pair->b.f->triangle_facet[b]));
  if (tl_ddot(along, tl_dsub(ends[1], ends[0])) < 0) {
    const talus_dvec3 t = ends[0];
    ends[0] = ends[1], ends[1] = t;
  }
  return true;
}

static void start(tl_mesh_contour *contour) { memset(contour, 0, sizeof *contour); }

static void add(const tl_mesh_pair *pair, uint32_t a, uint32_t b, tl_mesh_contour *contour) {
  talus_dvec3 ends[2];
  if (!find_segment(pair, a, b, ends))
    return;
  if (contour->segments++ == 0)
    contour->origin = ends[0];
  const talus_dvec3 p = tl_dsub(ends[0], contour->origin), q = tl_dsub(ends[1], contour->origin);
  const double length = tl_dlength(tl_dsub(q, p));
  contour->area = tl_dadd(contour->area, tl_dcross(p, q));
  contour->length += length;
  contour->drift = tl_dadd(contour->drift, tl_dsub(q, p));
  contour->centre = tl_dadd(contour->centre, tl_dscale(tl_dadd(p, q), 0.5 * length));
}

/* Centre and direction. */
static void close(const tl_mesh_pair *pair, tl_mesh_contour *contour) {
  const double area = tl_dlength(contour->area), length = contour->length;
  contour->is_good = !pair->a.f->two_sided && !pair->b.f->two_sided &&
                     length * pair->b.scale > NO_LENGTH * pair->radius &&
                     area > NO_AREA * length * length &&
                     tl_dlength(contour->drift) * length < OPEN * area;
  if (!contour->is_good)
    return;
  contour->centre = tl_dadd(contour->origin, tl_dscale(contour->centre, 1 / length));
  contour->out = tl_dscale(contour->area, 1 / area);
}

static void measure(const tl_mesh_pair *pair, uint32_t a, uint32_t b, tl_mesh_contour *contour) {
  talus_dvec3 ends[2];
  if (find_segment(pair, a, b, ends))
    for (int k = 0; k < 2; ++k)
      contour->wide = fmax(contour->wide, tl_dlength(tl_dsub(ends[k], contour->centre)));
  tl_mesh_contour_overlap(pair, a, b, contour);
}

/* ---- all of a pair --------------------------------------------------------------------------- */

typedef struct line {
  const tl_mesh_pair *pair;
  tl_mesh_contour *contour;
} line;

static void add_crossing(void *context, uint32_t a, uint32_t b) {
  const line *l = context;
  add(l->pair, a, b, l->contour);
}

static void measure_crossing(void *context, uint32_t a, uint32_t b) {
  const line *l = context;
  measure(l->pair, a, b, l->contour);
}

static void overlap_crossing(void *context, uint32_t a, uint32_t b) {
  const line *l = context;
  tl_mesh_contour_overlap(l->pair, a, b, l->contour);
}

/* Visits the crossings of one line; where lines are not told apart, all of them. */
static void visit_line(const tl_mesh_crossings *all, const tl_mesh_loops *loops, uint32_t which,
                       tl_mesh_crossing_fn *visit, line *context) {
  if (loops->count > TL_MESH_CROSSINGS)
    tl_mesh_crossings_visit(all, visit, context);
  for (size_t i = 0; i < loops->count && loops->count <= TL_MESH_CROSSINGS; ++i)
    if (loops->loop[i] == which)
      visit(context, tl_mesh_key_own(loops->key[i]), tl_mesh_key_other(loops->key[i]));
}

/* Contours and the numbers of their lines. */
typedef struct lines {
  int count;
  uint32_t number[TL_MESH_LINES];
  tl_mesh_contour of[TL_MESH_LINES];
} lines;

static void drop(lines *list, int which) {
  list->count--;
  for (int i = which; i < list->count; ++i)
    list->of[i] = list->of[i + 1], list->number[i] = list->number[i + 1];
}

/* Of equal areas the later one. */
static int least_of(const lines *list) {
  int least = 0;
  for (int i = 1; i < list->count; ++i)
    if (tl_ddot(list->of[i].area, list->of[i].area) <=
        tl_ddot(list->of[least].area, list->of[least].area))
      least = i;
  return least;
}

/* Keeps those with the largest areas, in their order. */
static void keep(lines *list, const tl_mesh_contour *contour, uint32_t number) {
  if (!contour->is_good)
    return;
  if (list->count == TL_MESH_LINES) {
    const int least = least_of(list);
    if (!(tl_ddot(contour->area, contour->area) >
          tl_ddot(list->of[least].area, list->of[least].area)))
      return;
    drop(list, least);
  }
  list->number[list->count] = number;
  list->of[list->count++] = *contour;
}

static tl_mesh_contour make_contour(const tl_mesh_crossings *all, const tl_mesh_loops *loops,
                                    uint32_t which) {
  tl_mesh_contour contour;
  line context = {all->pair, &contour};
  start(&contour);
  visit_line(all, loops, which, add_crossing, &context);
  close(all->pair, &contour);
  return contour;
}

static bool are_opposed(const tl_mesh_contour *a, const tl_mesh_contour *b) {
  return a->is_good && b->is_good && tl_ddot(a->out, b->out) < OPPOSED;
}

/* Puts two lines together in place of the first. */
static void merge(const tl_mesh_crossings *all, tl_mesh_loops *loops, lines *list, int i, int j) {
  for (size_t k = 0; k < loops->count; ++k)
    if (loops->loop[k] == list->number[j])
      loops->loop[k] = (uint16_t)list->number[i];
  list->of[i] = make_contour(all, loops, list->number[i]);
  drop(list, j);
}

static bool merge_two(const tl_mesh_crossings *all, tl_mesh_loops *loops, lines *list) {
  for (int i = 0; i < list->count; ++i)
    for (int j = i + 1; j < list->count; ++j)
      if (are_opposed(&list->of[i], &list->of[j])) {
        merge(all, loops, list, i, j);
        return true;
      }
  return false;
}

static void find_lines(const tl_mesh_crossings *all, tl_mesh_loops *loops,
                       tl_mesh_contours *contours, uint32_t numbers[TL_MESH_LOOPS]) {
  lines list;
  list.count = 0;
  for (uint32_t k = 0; k < loops->loops; ++k) {
    const tl_mesh_contour contour = make_contour(all, loops, k);
    keep(&list, &contour, k);
  }
  while (merge_two(all, loops, &list)) /* a merged line leads another way: compare it with all */
    ;
  for (int i = list.count - 1; i >= 0; --i)
    if (!list.of[i].is_good)
      drop(&list, i);
  while (list.count > TL_MESH_LOOPS)
    drop(&list, least_of(&list));
  contours->count = list.count;
  for (int i = 0; i < list.count; ++i)
    contours->of[i] = list.of[i], numbers[i] = list.number[i];
}

static double leads(const tl_point *point, talus_dvec3 out) {
  return (double)point->normal.x * out.x + (double)point->normal.y * out.y +
         (double)point->normal.z * out.z;
}

/* Whether none of the points says how to get out that way. */
static bool is_missed(const tl_mesh_pair *pair, const tl_mesh_contour *contour,
                      const tl_mesh_points *points) {
  const talus_dvec3 out = tl_frame_to_world(&pair->b.frame, contour->out);
  for (int i = 0; i < points->count; ++i)
    if ((double)points->list[i].gap + pair->rounding < NO_LENGTH * pair->radius &&
        leads(&points->list[i], out) > LEADS_OUT)
      return false;
  return contour->is_good;
}

/* Whether no point is near the surface: bodies that lie on each other go through each other by
 * rounding, and have points. */
static bool is_apart(const tl_mesh_pair *pair, const tl_mesh_points *points) {
  for (int i = 0; i < points->count; ++i)
    if ((double)points->list[i].gap + pair->rounding < pair->shallow)
      return false;
  return true;
}

static void add_point(const tl_mesh_pair *pair, int which, talus_dvec3 at, talus_dvec3 out,
                      double depth, tl_mesh_points *points) {
  const double gap = -depth - pair->rounding;
  tl_point point = {.point = at, .normal = tl_narrow(out), .gap = TL_R(gap)};
  /* Behind the last facet. */
  point.feature_a = tl_key_of_facet(pair->a.f, pair->a.f->facets) + (uint32_t)which;
  point.feature_b = tl_key_of_facet(pair->b.f, pair->b.f->facets) + (uint32_t)which;
  if (gap <= pair->margin)
    tl_mesh_points_add(points, &point);
}

static void add_missed(const tl_mesh_crossings *all, const tl_mesh_loops *loops,
                       tl_mesh_contours *contours, const uint32_t numbers[TL_MESH_LOOPS],
                       tl_mesh_points *points) {
  const tl_mesh_pair *pair = all->pair;
  const tl_mesh_posed *m = &pair->b;
  for (int i = 0; i < contours->count; ++i) {
    tl_mesh_contour *c = &contours->of[i];
    line context = {pair, c};
    if (!c->is_missed)
      continue;
    c->at = c->centre;
    visit_line(all, loops, numbers[i], overlap_crossing, &context);
    add_point(pair, i, tl_mesh_to_world(m, c->at), tl_frame_to_world(&m->frame, c->out),
              fmin(c->overlap * m->scale, pair->reach), points);
  }
}

tl_mesh_depth tl_mesh_contours_judge(const tl_mesh_crossings *all, bool is_first, bool is_deep,
                                     tl_mesh_points *points, tl_mesh_contours *contours) {
  const tl_mesh_pair *pair = all->pair;
  tl_mesh_loops loops;
  uint32_t numbers[TL_MESH_LOOPS];
  bool missed = false;
  contours->count = 0, contours->is_pierced = false;
  if (pair->thesis)
    return TL_MESH_SHALLOW;
  tl_mesh_loops_find(all, &loops);
  find_lines(all, &loops, contours, numbers);
  is_deep = is_deep || (loops.count == 0 && points->count == 0 && tl_mesh_pair_is_buried(pair));
  for (int i = 0; i < contours->count; ++i) {
    contours->of[i].is_missed = is_missed(pair, &contours->of[i], points);
    missed = missed || contours->of[i].is_missed;
  }
  contours->is_pierced = loops.count > 0 && contours->count == 0 && !pair->a.f->two_sided &&
                         !pair->b.f->two_sided && is_apart(pair, points);
  missed = missed || contours->is_pierced;
  if (is_first && !tl_mesh_pair_is_enough(pair, loops.count > 0, is_deep || missed))
    return TL_MESH_AGAIN;
  if (is_deep && contours->count == 0)
    return TL_MESH_BY_VERTICES;
  if (!is_deep) {
    add_missed(all, &loops, contours, numbers, points);
    return TL_MESH_SHALLOW;
  }
  for (int i = 0; i < contours->count; ++i) {
    tl_mesh_contour *c = &contours->of[i];
    line context = {pair, c};
    c->at = c->centre;
    visit_line(all, &loops, numbers[i], measure_crossing, &context);
    c->way = (tl_mesh_way){c->overlap, tl_ddot(c->out, c->at)};
  }
  return TL_MESH_BY_CONTOURS;
}

/* ---- how deep -------------------------------------------------------------------------------- */

void tl_mesh_contours_begin(const tl_mesh_contours *contours, tl_mesh_way way[TL_MESH_LOOPS]) {
  for (int i = 0; i < contours->count; ++i)
    way[i] = contours->of[i].way;
}

/* Of several contours a vertex belongs to those that it is within. */
static bool is_at(const tl_mesh_contours *contours, int i, talus_dvec3 x) {
  const tl_mesh_contour *c = &contours->of[i];
  const talus_dvec3 d = tl_dsub(x, c->centre);
  const double up = tl_ddot(c->out, d);
  return contours->count == 1 || tl_ddot(d, d) - up * up <= c->wide * c->wide;
}

/* Whether a surface at the vertex faces the direction (in its own frame). */
static bool faces(const tl_facets *f, uint32_t vertex, talus_dvec3 towards) {
  for (uint32_t row = f->vertex_start[vertex]; row < f->vertex_start[vertex + 1]; ++row)
    if (tl_ddot(tl_facets_normal(f, f->triangle_facet[f->vertex_triangle[row]]), towards) > 0)
      return true;
  return false;
}

/* A place of one body: how far it is, along the contour, from where the other ends. */
static void reach_vertex(const tl_mesh_pair *pair, const tl_mesh_contour *c, bool is_a,
                         uint32_t vertex, talus_dvec3 world, tl_mesh_way *way) {
  const tl_mesh_posed *own = is_a ? &pair->a : &pair->b, *other = is_a ? &pair->b : &pair->a;
  const talus_dvec3 out = tl_frame_to_world(&pair->b.frame, c->out);
  const talus_dvec3 back = tl_dscale(out, is_a ? -1 : 1), local = tl_mesh_to_local(other, world);
  tl_near near;
  if (!faces(own->f, vertex, tl_frame_to_local(&own->frame, tl_dscale(back, -1))))
    return;
  const double most = 2 * pair->radius / other->scale;
  const double far = tl_mesh_exit(other, local, tl_frame_to_local(&other->frame, back), most);
  const double depth = far * other->scale / pair->b.scale;
  if (!(far < most) || !(depth > way->depth) || !tl_mesh_deep(other, local, most, &near))
    return;
  const double at = tl_ddot(c->out, tl_mesh_to_local(&pair->b, world));
  *way = (tl_mesh_way){depth, at + (is_a ? -0.5 : 0.5) * depth};
}

void tl_mesh_contours_reach(const tl_mesh_pair *pair, const tl_mesh_contours *contours, bool is_a,
                            uint32_t triangle, tl_mesh_way way[TL_MESH_LOOPS]) {
  const tl_mesh_posed *own = is_a ? &pair->a : &pair->b;
  const tl_facets *f = own->f;
  for (size_t k = 0; k < 3; ++k) {
    const uint32_t vertex = f->triangle[3 * (size_t)triangle + k];
    if (f->vertex_triangle[f->vertex_start[vertex]] != triangle)
      continue;
    const talus_dvec3 world = tl_mesh_to_world(own, tl_facets_point(f, vertex));
    const talus_dvec3 x = tl_mesh_to_local(&pair->b, world);
    for (int i = 0; i < contours->count; ++i)
      if (is_at(contours, i, x))
        reach_vertex(pair, &contours->of[i], is_a, vertex, world, &way[i]);
  }
}

void tl_mesh_contours_join(tl_mesh_contours *contours, const tl_mesh_way way[TL_MESH_LOOPS]) {
  for (int i = 0; i < contours->count; ++i)
    if (way[i].depth > contours->of[i].way.depth)
      contours->of[i].way = way[i];
}

void tl_mesh_contours_reach_all(const tl_mesh_pair *pair, tl_mesh_contours *contours) {
  tl_mesh_way way[2][TL_MESH_LOOPS];
  for (int side = 0; side < 2; ++side) {
    const tl_facets *f = side == 0 ? pair->a.f : pair->b.f;
    tl_mesh_contours_begin(contours, way[side]);
    for (uint32_t t = 0; t < f->triangles; ++t)
      tl_mesh_contours_reach(pair, contours, side == 0, t, way[side]);
  }
  tl_mesh_contours_join(contours, way[0]);
  tl_mesh_contours_join(contours, way[1]);
}

static talus_dvec3 centre_of(const tl_mesh_pair *pair, const tl_mesh_contour *c) {
  const double up = c->way.middle - tl_ddot(c->out, c->centre);
  return tl_mesh_to_world(&pair->b, tl_dalong(c->centre, up, c->out));
}

static void clear_about(const tl_mesh_pair *pair, const tl_mesh_contour *c,
                        tl_mesh_points *points) {
  const talus_dvec3 out = tl_frame_to_world(&pair->b.frame, c->out), centre = centre_of(pair, c);
  int kept = 0;
  for (int i = 0; i < points->count; ++i)
    if (leads(&points->list[i], out) > STAYS ||
        tl_dlength(tl_dsub(points->list[i].point, centre)) > 1.1 * c->wide * pair->b.scale)
      points->list[kept++] = points->list[i];
  points->count = kept;
}

/* All contours clear before the first one adds its point, so that none removes that of another. */
void tl_mesh_contours_finish(const tl_mesh_pair *pair, const tl_mesh_contours *contours,
                             tl_mesh_points *points) {
  for (int i = 0; i < contours->count; ++i)
    clear_about(pair, &contours->of[i], points);
  for (int i = 0; i < contours->count; ++i) {
    const tl_mesh_contour *c = &contours->of[i];
    add_point(pair, i, centre_of(pair, c), tl_frame_to_world(&pair->b.frame, c->out),
              c->way.depth * pair->b.scale, points);
  }
}

/* ---- a rod through a plate ------------------------------------------------------------------- */

typedef struct parting {
  const tl_mesh_pair *pair;
  struct tl_cancel *cancel;
  uint32_t facet[2]; /* the last one of each body that was tried */
  double depth;      /* in the frame of b */
  talus_dvec3 out;
  talus_dvec3 sum; /* of middles of crossings */
  double crossings;
} parting;

static talus_dvec3 vertex_in_b(const tl_mesh_pair *pair, bool is_a, uint32_t vertex) {
  if (!is_a)
    return tl_facets_point(pair->b.f, vertex);
  const talus_dvec3 x = tl_facets_point(pair->a.f, vertex);
  return tl_dvec3(tl_mesh_moved(&pair->a_to_b, 0, x), tl_mesh_moved(&pair->a_to_b, 1, x),
                  tl_mesh_moved(&pair->a_to_b, 2, x));
}

/* How far one body reaches along a direction. */
static double reach_of(const tl_mesh_pair *pair, bool is_a, talus_dvec3 along) {
  const tl_facets *f = is_a ? pair->a.f : pair->b.f;
  double most = -HUGE_VAL;
  for (uint32_t v = 0; v < f->vertices; ++v)
    most = fmax(most, tl_ddot(along, vertex_in_b(pair, is_a, v)));
  return most;
}

/* Both ways along a normal. That asks all vertices. */
static void try_way(parting *p, talus_dvec3 normal) {
  for (int k = 0; k < 2 && !tl_cancel_look(p->cancel); ++k) {
    const talus_dvec3 out = tl_dscale(normal, k ? -1 : 1);
    const double depth =
        reach_of(p->pair, true, out) + reach_of(p->pair, false, tl_dscale(out, -1));
    if (depth < p->depth)
      p->depth = depth, p->out = out;
  }
}

static void try_crossing(void *context, uint32_t a, uint32_t b) {
  parting *p = context;
  const uint32_t facet[2] = {p->pair->a.f->triangle_facet[a], p->pair->b.f->triangle_facet[b]};
  talus_dvec3 ends[2];
  if (find_segment(p->pair, a, b, ends))
    p->sum = tl_dadd(p->sum, tl_dscale(tl_dadd(ends[0], ends[1]), 0.5)), p->crossings++;
  if (facet[0] != p->facet[0])
    try_way(p, tl_mesh_pair_normal(p->pair, a));
  if (facet[1] != p->facet[1])
    try_way(p, tl_facets_normal(p->pair->b.f, facet[1]));
  p->facet[0] = facet[0], p->facet[1] = facet[1];
}

void tl_mesh_contours_part(const tl_mesh_crossings *all, const tl_mesh_contours *contours,
                           tl_mesh_points *points) {
  const tl_mesh_pair *pair = all->pair;
  const tl_mesh_posed *m = &pair->b;
  parting p = {.pair = pair, .cancel = all->cancel, .facet = {TL_NONE, TL_NONE}, .depth = HUGE_VAL};
  if (!contours->is_pierced || !is_apart(pair, points))
    return;
  tl_mesh_crossings_visit(all, try_crossing, &p);
  if (p.crossings > 0 && p.depth < HUGE_VAL)
    add_point(pair, 0, tl_mesh_to_world(m, tl_dscale(p.sum, 1 / p.crossings)),
              tl_frame_to_world(&m->frame, p.out), p.depth * m->scale, points);
}
