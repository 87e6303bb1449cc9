/* Kernels: how far apart two convex cores are (Gilbert, Johnson, Keerthi 1988), with certificates.
 *
 * The set D = B - A of differences of points holds 0 exactly if the bodies share a point; otherwise
 * its point v nearest to 0 is the distance. Each round has a point v of D, so |v| is an UPPER bound
 * of the distance; and the support w of D against v gives the half-space x.v >= w.v that holds D,
 * so w.v/|v| is a LOWER bound (the plane between the bodies). The two meet; nothing else decides
 * when to stop, so an answer that ran out of rounds says how wrong it may be. */
#ifndef TL_KERNELS_GJK_H
#define TL_KERNELS_GJK_H

#include "kernels/convex.h"

#define TL_GJK_ROUNDS 64

typedef struct tl_vertex {
  talus_dvec3 d, a; /* d = b - a, a on body a's core */
} tl_vertex;

typedef struct tl_gjk {
  double lower, upper;   /* bounds of the distance of the cores */
  bool overlap;          /* closer than `touching`: the bounds are of no use */
  talus_dvec3 direction; /* unit, from a to b, for which the lower bound holds */
  talus_dvec3 a, b;      /* points of the cores, `upper` apart */
  int rounds;
  tl_vertex simplex[4];
  int count;
} tl_gjk;

/* The farthest point of A along n and the farthest of B against n: their difference is the least of
 * D along n. */
TL_BIG_FN tl_vertex tl_difference(const tl_convex *a, const tl_convex *b, talus_dvec3 n) {
  tl_vertex v;
  v.a = tl_convex_support(a, n);
  v.d = tl_dsub(tl_convex_support(b, tl_dscale(n, -1)), v.a);
  return v;
}

/* Nearest point to 0 of a segment, triangle or tetrahedron: weights of its vertices. Returns the
 * squared distance. */
TL_BIG_FN double tl_nearest_segment(const talus_dvec3 p[2], double weight[2]) {
  const talus_dvec3 e = tl_dsub(p[1], p[0]);
  const double square = tl_ddot(e, e), along = -tl_ddot(p[0], e);
  const double t = square > 0 && along > 0 ? (along < square ? along / square : 1) : 0;
  weight[0] = 1 - t, weight[1] = t;
  const talus_dvec3 v = tl_dalong(p[0], t, e);
  return tl_ddot(v, v);
}

TL_BIG_FN double tl_nearest_triangle(const talus_dvec3 p[3], double weight[3]) {
  const talus_dvec3 e1 = tl_dsub(p[1], p[0]), e2 = tl_dsub(p[2], p[0]), n = tl_dcross(e1, e2);
  const double square = tl_ddot(n, n);
  if (square > 1e-28 * tl_ddot(e1, e1) * tl_ddot(e2, e2) && square > 0) {
    /* Signed areas of the projection of 0 on the plane. */
    const double w0 = tl_ddot(n, tl_dcross(p[1], p[2])), w1 = tl_ddot(n, tl_dcross(p[2], p[0]));
    const double w2 = tl_ddot(n, tl_dcross(p[0], p[1]));
    if (w0 >= 0 && w1 >= 0 && w2 >= 0) {
      const double sum = w0 + w1 + w2;
      if (sum > 0) {
        weight[0] = w0 / sum, weight[1] = w1 / sum, weight[2] = w2 / sum;
        const double along = tl_ddot(p[0], n);
        return along * along / square;
      }
    }
  }
  double best = DBL_MAX;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    talus_dvec3 edge[2];
    double w[2];
    edge[0] = p[i], edge[1] = p[j];
    const double distance = tl_nearest_segment(edge, w);
    if (distance < best)
      best = distance, weight[i] = w[0], weight[j] = w[1], weight[k] = 0;
  }
  return best;
}

/* Returns 0 where 0 is inside. */
TL_BIG_FN double tl_nearest_tetrahedron(const talus_dvec3 p[4], double weight[4]) {
  double best = DBL_MAX;
  bool inside = true;
  for (int apex = 0; apex < 4; ++apex) {
    const int i = (apex + 1) % 4, j = (apex + 2) % 4, k = (apex + 3) % 4;
    const talus_dvec3 n = tl_dcross(tl_dsub(p[j], p[i]), tl_dsub(p[k], p[i]));
    const double of_apex = tl_ddot(n, tl_dsub(p[apex], p[i])), of_zero = -tl_ddot(n, p[i]);
    const double flat = 1e-13 * tl_dlength(n) * tl_dlength(tl_dsub(p[apex], p[i]));
    if (of_apex * of_zero > 0 && fabs(of_apex) > flat)
      continue; /* on the inner side of this face */
    inside = false;
    talus_dvec3 face[3];
    double w[3];
    face[0] = p[i], face[1] = p[j], face[2] = p[k];
    const double distance = tl_nearest_triangle(face, w);
    if (distance < best) {
      best = distance;
      weight[i] = w[0], weight[j] = w[1], weight[k] = w[2], weight[apex] = 0;
    }
  }
  return inside ? 0 : best;
}

/* Replaces the simplex by the part of it that is nearest to 0, and gives that point. */
TL_BIG_FN talus_dvec3 tl_simplex_nearest(tl_gjk *g, bool *inside) {
  talus_dvec3 p[4];
  double weight[4] = {1, 0, 0, 0};
  *inside = false;
  for (int i = 0; i < g->count; ++i)
    p[i] = g->simplex[i].d;
  if (g->count == 2)
    tl_nearest_segment(p, weight);
  else if (g->count == 3)
    tl_nearest_triangle(p, weight);
  else if (g->count == 4)
    *inside = tl_nearest_tetrahedron(p, weight) == 0;
  if (*inside)
    return tl_dvec3(0, 0, 0);
  talus_dvec3 v = tl_dvec3(0, 0, 0), a = tl_dvec3(0, 0, 0);
  int kept = 0;
  for (int i = 0; i < g->count; ++i)
    if (weight[i] > 0) {
      v = tl_dalong(v, weight[i], g->simplex[i].d);
      a = tl_dalong(a, weight[i], g->simplex[i].a);
      g->simplex[kept++] = g->simplex[i];
    }
  g->count = kept;
  g->a = a, g->b = tl_dadd(a, v);
  return v;
}

/* `start`: any direction from a to b, for a warm start the last normal. Ends as soon as the bounds
 * are within `tolerance`, the lower one is above `enough`, or the upper one below `touching`. */
TL_BIG_FN void tl_gjk_distance(const tl_convex *a, const tl_convex *b, talus_dvec3 start,
                               double enough, double touching, double tolerance, tl_gjk *g) {
  g->lower = -DBL_MAX, g->upper = DBL_MAX, g->overlap = false;
  g->direction = tl_dunit(start);
  g->count = 1;
  g->simplex[0] = tl_difference(a, b, g->direction);
  g->a = g->simplex[0].a, g->b = tl_dadd(g->a, g->simplex[0].d);
  talus_dvec3 v = g->simplex[0].d;
  for (g->rounds = 0; g->rounds < TL_GJK_ROUNDS; ++g->rounds) {
    const double length = tl_dlength(v);
    if (length < g->upper)
      g->upper = length;
    if (length <= touching) {
      g->overlap = true;
      return;
    }
    const talus_dvec3 n = tl_dscale(v, 1 / length);
    const tl_vertex w = tl_difference(a, b, n);
    const double bound = tl_ddot(w.d, n);
    if (bound > g->lower)
      g->lower = bound, g->direction = n;
    if (length - g->lower <= tolerance || g->lower > enough)
      return;
    for (int i = 0; i < g->count; ++i) {
      const talus_dvec3 e = tl_dsub(g->simplex[i].d, w.d);
      if (tl_ddot(e, e) == 0)
        return; /* no new vertex: as near as rounding allows */
    }
    const tl_gjk before = *g;
    g->simplex[g->count++] = w;
    bool inside;
    const talus_dvec3 nearer = tl_simplex_nearest(g, &inside);
    if (inside) {
      g->overlap = true;
      return;
    }
    if (!(tl_ddot(nearer, nearer) < length * length)) {
      const int rounds = g->rounds;
      *g = before;
      g->rounds = rounds;
      return; /* rounding prevents further progress */
    }
    v = nearer;
  }
}

#endif
