/* Local minima of the distance from a point to a mesh: facets, edges, vertices. */
#include "kernels/nearest.h"
#include "narrow/mesh_pair.h"

#include <math.h>

/* rad: largest angle between triangles of one facet. */
#define LEAN 1e-3
/* Part of the extent: a nearer point is on the surface and gives no direction. */
#define ON_SURFACE 1e-14

typedef struct gathered {
  const tl_facets *f;
  talus_dvec3 place;
  double reach;
  tl_near list[2 * TL_NEAR_MOST];
  int count;
} gathered;

tl_mesh_posed tl_mesh_pose(const tl_posed *p) {
  return (tl_mesh_posed){.f = p->shape->facets,
                         .scale = (double)p->scale,
                         .position = p->position,
                         .frame = tl_frame_from_quat(p->rotation),
                         .flat = p->flat};
}

/* Adds a minimum. If there is no room for all, the nearest are kept; of equally near ones the first
 * feature, so that the order does not matter. */
static void add(gathered *g, const tl_near *n) {
  const int most = 2 * TL_NEAR_MOST;
  int worst = 0;
  for (int i = 0; i < g->count; ++i) {
    if (g->list[i].feature == n->feature) {
      if (n->distance < g->list[i].distance)
        g->list[i] = *n;
      return;
    }
    const tl_near *w = &g->list[worst], *l = &g->list[i];
    if (l->distance > w->distance || (l->distance == w->distance && l->feature > w->feature))
      worst = i;
  }
  if (g->count < most)
    g->list[g->count++] = *n;
  else if (n->distance < g->list[worst].distance)
    g->list[worst] = *n;
}

/* Uses the facet's plane, so that all of its triangles give the same result. */
static void add_facet(gathered *g, uint32_t facet) {
  const tl_facets *f = g->f;
  const talus_dvec3 n = tl_facets_normal(f, facet);
  const double s = tl_ddot(n, g->place) - f->plane[4 * (size_t)facet + 3];
  const bool behind = s < 0;
  const tl_near near = {.feature = tl_key_of_facet(f, facet),
                        .inside = behind && !f->two_sided,
                        .distance = fabs(s),
                        .at = tl_dalong(g->place, -s, n),
                        .normal = behind && f->two_sided ? tl_dscale(n, -1) : n};
  add(g, &near);
}

/* A side or corner inside a facet: the triangles find it themselves, unless the point is exactly
 * above it and rounding excludes all of them. */
static void add_flat(gathered *g, uint32_t facet, talus_dvec3 w, double distance) {
  const talus_dvec3 n = tl_facets_normal(g->f, facet);
  const double aside = tl_dlength(tl_dalong(w, -tl_ddot(w, n), n));
  if (aside <= LEAN * distance + 1e-9 * g->f->extent)
    add_facet(g, facet);
}

/* out: a direction out of the surface; cone: whether the unit direction is in the cone. */
static void add_sharp(gathered *g, uint32_t feature, talus_dvec3 at, talus_dvec3 w, double distance,
                      talus_dvec3 out) {
  const bool on = distance <= ON_SURFACE * g->f->extent;
  const bool behind = !on && tl_ddot(w, out) < 0;
  const talus_dvec3 towards = on ? tl_dunit(out) : tl_dscale(w, 1 / distance);
  const bool inside = behind && !g->f->two_sided;
  const tl_near near = {.feature = feature,
                        .inside = inside,
                        .distance = distance,
                        .at = at,
                        .normal = inside ? tl_dscale(towards, -1) : towards};
  add(g, &near);
}

static void add_edge(gathered *g, uint32_t edge, talus_dvec3 at, talus_dvec3 w, double distance) {
  const bool on = distance <= ON_SURFACE * g->f->extent;
  if (on || tl_edge_looks(g->f, edge, tl_dscale(w, 1 / distance), TL_CONE_SLACK))
    add_sharp(g, tl_key_of_edge(g->f, edge), at, w, distance, tl_edge_normal(g->f, edge));
}

static void add_corner(gathered *g, uint32_t vertex, talus_dvec3 at, talus_dvec3 w,
                       double distance) {
  const tl_facets *f = g->f;
  uint32_t edge, facet;
  const uint32_t feature = tl_vertex_feature(f, vertex, &edge, &facet);
  if (edge != TL_NONE) {
    const talus_dvec3 along =
        tl_dunit(tl_dsub(tl_facets_point(f, f->edge_vertex[2 * (size_t)edge + 1]),
                         tl_facets_point(f, f->edge_vertex[2 * (size_t)edge])));
    if (fabs(tl_ddot(w, along)) <= LEAN * distance + 1e-9 * f->extent)
      add_edge(g, edge, at, w, distance);
  } else if (facet != TL_NONE) {
    add_flat(g, facet, w, distance);
  } else if (distance <= ON_SURFACE * f->extent ||
             tl_vertex_looks(f, vertex, tl_dscale(w, 1 / distance), TL_CONE_SLACK)) {
    add_sharp(g, feature, at, w, distance, tl_vertex_normal(f, vertex));
  }
}

static void look_at(gathered *g, uint32_t t) {
  const tl_facets *f = g->f;
  const uint32_t *rows = f->triangle + 3 * (size_t)t;
  const talus_dvec3 v[3] = {tl_facets_point(f, rows[0]), tl_facets_point(f, rows[1]),
                            tl_facets_point(f, rows[2])};
  int part;
  const talus_dvec3 at = tl_nearest_on_triangle(g->place, v, &part);
  const talus_dvec3 w = tl_dsub(g->place, at);
  const double distance = tl_dlength(w);
  if (!(distance <= g->reach))
    return;
  if (part == TL_PART_FACE) {
    add_facet(g, f->triangle_facet[t]);
  } else if (part < TL_PART_CORNER) {
    const uint32_t edge = f->triangle_edge[3 * (size_t)t + (size_t)(part - TL_PART_SIDE)];
    if (edge == TL_NONE)
      add_flat(g, f->triangle_facet[t], w, distance);
    else
      add_edge(g, edge, at, w, distance);
  } else {
    add_corner(g, rows[part - TL_PART_CORNER], at, w, distance);
  }
}

/* True if two minima are the same: a point exactly above the end of a facet is also above its
 * edge. */
static bool is_same(const gathered *g, const tl_near *a, const tl_near *b) {
  const talus_dvec3 d = tl_dsub(a->at, b->at);
  return tl_dlength(d) <= 1e-8 * (g->reach + a->distance) &&
         tl_ddot(a->normal, b->normal) > 1 - 1e-8;
}

static void sort_by_feature(tl_near *list, int count) {
  for (int i = 1; i < count; ++i) {
    const tl_near n = list[i];
    int j = i;
    for (; j > 0 && list[j - 1].feature > n.feature; --j)
      list[j] = list[j - 1];
    list[j] = n;
  }
}

/* Facets come before edges, edges before vertices. */
static void drop_copies(gathered *g) {
  int kept = 0;
  for (int i = 0; i < g->count; ++i) {
    bool copy = false;
    for (int j = i + 1; j < g->count && !copy; ++j)
      copy = is_same(g, &g->list[i], &g->list[j]);
    if (!copy)
      g->list[kept++] = g->list[i];
  }
  g->count = kept;
}

/* The nearest minimum decides whether the point is inside. */
static void choose_side(gathered *g) {
  int nearest = 0, kept = 0;
  for (int i = 1; i < g->count; ++i) {
    const tl_near *a = &g->list[i], *b = &g->list[nearest];
    if (a->distance < b->distance || (a->distance == b->distance && b->inside && !a->inside))
      nearest = i;
  }
  if (g->count > 0 && g->list[nearest].inside) {
    g->list[0] = g->list[nearest];
    g->count = 1;
    return;
  }
  for (int i = 0; i < g->count; ++i)
    if (!g->list[i].inside)
      g->list[kept++] = g->list[i];
  g->count = kept;
}

static void keep_nearest(gathered *g) {
  while (g->count > TL_NEAR_MOST) {
    int worst = 0;
    for (int i = 1; i < g->count; ++i)
      if (g->list[i].distance >= g->list[worst].distance)
        worst = i;
    g->count--;
    memmove(&g->list[worst], &g->list[worst + 1], (size_t)(g->count - worst) * sizeof g->list[0]);
  }
}

static int finish(gathered *g, tl_near out[TL_NEAR_MOST]) {
  sort_by_feature(g->list, g->count);
  drop_copies(g);
  choose_side(g);
  keep_nearest(g);
  memcpy(out, g->list, (size_t)g->count * sizeof *out);
  return g->count;
}

int tl_mesh_near_of(const tl_mesh_posed *m, talus_dvec3 local, double reach, const uint64_t *keys,
                    size_t count, tl_near out[TL_NEAR_MOST]) {
  gathered g;
  g.f = m->f, g.place = local, g.reach = reach, g.count = 0;
  for (size_t i = 0; i < count; ++i)
    look_at(&g, tl_mesh_key_other(keys[i]));
  return finish(&g, out);
}

int tl_mesh_near(const tl_mesh_posed *m, talus_dvec3 local, double reach,
                 tl_near out[TL_NEAR_MOST]) {
  gathered g;
  g.f = m->f, g.place = local, g.reach = reach, g.count = 0;
  const tl_tree_box box = {{local.x - reach, local.y - reach, local.z - reach},
                           {local.x + reach, local.y + reach, local.z + reach}};
  tl_tree_walk walk = tl_tree_begin(&m->f->tree, m->flat);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t)
      look_at(&g, t);
  return finish(&g, out);
}

/* ---- ways out -------------------------------------------------------------------------------- */

/* Part of the extent: a point that is farther beside a triangle is not under it, and one that is
 * farther in front of it is not on it. */
#define BESIDE 1e-9
#define ON     1e-12

static bool is_under(const talus_dvec3 v[3], talus_dvec3 place, talus_dvec3 normal, double slack) {
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 side = tl_dsub(v[(k + 1) % 3], v[k]);
    const talus_dvec3 in = tl_dcross(normal, side);
    if (tl_ddot(in, tl_dsub(place, v[k])) < -slack * tl_dlength(side))
      return false;
  }
  return true;
}

static void look_out(gathered *g, uint32_t t) {
  const tl_facets *f = g->f;
  const uint32_t *rows = f->triangle + 3 * (size_t)t;
  const uint32_t facet = f->triangle_facet[t];
  const talus_dvec3 n = tl_facets_normal(f, facet);
  const double s = tl_ddot(n, g->place) - f->plane[4 * (size_t)facet + 3];
  const talus_dvec3 v[3] = {tl_facets_point(f, rows[0]), tl_facets_point(f, rows[1]),
                            tl_facets_point(f, rows[2])};
  const talus_dvec3 own = tl_dcross(tl_dsub(v[1], v[0]), tl_dsub(v[2], v[0]));
  /* A triangle that is turned against its facet has its corners the other way round. */
  if (s <= ON * f->extent && s >= -g->reach &&
      is_under(v, g->place, tl_ddot(own, n) < 0 ? tl_dscale(n, -1) : n, BESIDE * f->extent))
    add_facet(g, facet);
}

int tl_mesh_exits(const tl_mesh_posed *m, talus_dvec3 local, double reach, const uint64_t *keys,
                  size_t count, tl_near out[TL_NEAR_MOST]) {
  gathered g;
  int kept = 0;
  g.f = m->f, g.place = local, g.reach = reach, g.count = 0;
  for (size_t i = 0; i < count && keys; ++i)
    look_out(&g, tl_mesh_key_other(keys[i]));
  const double more = reach + BESIDE * m->f->extent;
  const tl_tree_box box = {{local.x - more, local.y - more, local.z - more},
                           {local.x + more, local.y + more, local.z + more}};
  tl_tree_walk walk = tl_tree_begin(&m->f->tree, m->flat);
  uint32_t first, n;
  while (!keys && tl_tree_next(&walk, &box, &first, &n))
    for (uint32_t t = first; t < first + n; ++t)
      look_out(&g, t);
  sort_by_feature(g.list, g.count);
  for (int i = 0; i < g.count && kept < TL_NEAR_MOST; ++i)
    out[kept++] = g.list[i];
  return kept;
}

/* The search box shrinks to the nearest distance found. */
static double nearest_within(const tl_mesh_posed *m, talus_dvec3 local, double reach) {
  const tl_facets *f = m->f;
  double best = reach;
  tl_tree_walk walk = tl_tree_begin(&f->tree, m->flat);
  tl_tree_box box = {{local.x - best, local.y - best, local.z - best},
                     {local.x + best, local.y + best, local.z + best}};
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count)) {
    for (uint32_t t = first; t < first + count; ++t) {
      const uint32_t *rows = f->triangle + 3 * (size_t)t;
      const talus_dvec3 v[3] = {tl_facets_point(f, rows[0]), tl_facets_point(f, rows[1]),
                                tl_facets_point(f, rows[2])};
      int part;
      best = fmin(best, tl_dlength(tl_dsub(local, tl_nearest_on_triangle(local, v, &part))));
    }
    box = (tl_tree_box){{local.x - best, local.y - best, local.z - best},
                        {local.x + best, local.y + best, local.z + best}};
  }
  return best;
}

int tl_mesh_deep(const tl_mesh_posed *m, talus_dvec3 local, double reach, tl_near *out) {
  tl_near near[TL_NEAR_MOST];
  const double best = nearest_within(m, local, reach);
  if (!(best < reach))
    return 0;
  const int count = tl_mesh_near(m, local, best * (1 + 1e-9) + 1e-12 * m->f->extent, near);
  if (count == 0 || !near[0].inside)
    return 0;
  *out = near[0];
  return 1;
}

/* A point of a body; the centre of mass of a ring is not one. */
static talus_dvec3 place_in(const tl_posed *p) {
  if (p->shape->kind != TALUS_MESH && p->shape->kind != TALUS_CLUMP)
    return p->position;
  const tl_frame frame = tl_frame_from_quat(p->rotation);
  const talus_dvec3 arm = tl_dvec3(p->shape->points[0], p->shape->points[1], p->shape->points[2]);
  return tl_dadd(p->position, tl_frame_to_world(&frame, tl_dscale(arm, (double)p->scale)));
}

static double buried_in(const tl_posed *mesh, const tl_posed *other) {
  if (mesh->shape->kind != TALUS_MESH || mesh->shape->facets->two_sided || !other->shape->bounded)
    return 0;
  const tl_mesh_posed m = tl_mesh_pose(mesh);
  const talus_dvec3 local = tl_mesh_to_local(&m, place_in(other));
  const double reach = tl_dlength(local) + 2 * (double)mesh->shape->radius;
  tl_near near;
  if (!m.f->is_closed) /* an open mesh encloses nothing: the side of the nearest feature decides */
    return tl_mesh_deep(&m, local, reach, &near) > 0 ? near.distance * m.scale : 0;
  const bool is_within = tl_facets_winding(m.f, local) != 0;
  if (is_within == (mesh->shape->open == TALUS_SIDES_IN))
    return 0;
  return nearest_within(&m, local, reach) * m.scale;
}

double tl_narrow_buried(const tl_posed *a, const tl_posed *b) {
  return fmax(buried_in(a, b), buried_in(b, a));
}
