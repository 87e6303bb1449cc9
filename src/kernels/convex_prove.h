/* Kernels: whether a direction is THE normal of two convex bodies, proven from the patches alone.
 *
 * Let N = A - B (of the cores), n a direction with g(n) = -depth, and q the foot of 0 on the
 * supporting plane of N across n. What of N is known around q bounds its support h(c) along EVERY
 * other direction c, at angle t from n, and the greatest separation is -min h:
 *   - N reaches out from q by r on all sides in that plane (a place of one body over the inside of
 *     the other's face; two edges that cross): h >= depth cos t + r sin t, which is at least depth
 *     up to tan(t/2) = x = r/depth. Farther round the centre of N does it: it lies `below` under
 *     0 and `aside` of it, so that h >= -below cos t - aside sin t. Both together cover the
 *     sphere if below (x^2 - 1) - 2 x aside >= depth (1 + x^2).
 *   - N holds a ball of radius R that touches the plane at q (round bodies):
 *     h >= depth + (R - depth)(1 - cos t).
 *   - Rims (of a cylinder or the base of a cone) that cross an edge or another rim: points an angle
 *     p to both sides of the touching one are inside N, at most w p^2/2 below the plane and with
 *     room k p around q. The best p for t gives h >= depth + (k^2/w - depth)(1 - cos t), as a
 *     ball of radius k^2/w would; from the largest p on, room and centre go on as above.
 *   - Apart (depth < 0): q itself is in N, and |q| is the distance.
 * A place that misses q sideways by m costs m^2 / 2 (R - depth) at most.
 *
 * So a good guess (the normal of the last step, where GJK ended) is all that a usual contact needs:
 * no polytope is built. What cannot be proven is searched for (convex_solve.h). */
#ifndef TL_KERNELS_CONVEX_PROVE_H
#define TL_KERNELS_CONVEX_PROVE_H

#include "kernels/convex.h"

/* Relative to the size: heights that differ by less are equal; the error that a proof may leave. */
#define TL_PROOF_LEVEL 1e-9
#define TL_PROOF_OPEN  1e-10

/* The part of a patch that is farthest along the normal, in the plane across it. */
typedef struct tl_facet {
  int count; /* 1: point, 2: segment, 3 and more: polygon */
  double x[TL_PATCH_MAX], y[TL_PATCH_MAX];
  double rim;              /* a point on a rim: its radius; otherwise 0 */
  double along_x, along_y; /* unit: of a segment, and along a rim */
} tl_facet;

/* Sets the direction of the facet: along its segment, or along the rim on which the support point
 * `top` lies. */
TL_BIG_FN void tl_facet_direct(const tl_convex *c, talus_dvec3 top, talus_dvec3 out, talus_dvec3 u,
                               talus_dvec3 v, tl_facet *f) {
  f->rim = f->along_x = f->along_y = 0;
  if (f->count == 2) {
    f->along_x = f->x[1] - f->x[0], f->along_y = f->y[1] - f->y[0];
  } else if (f->count == 1 && (c->core == TL_CORE_CYLINDER || c->core == TL_CORE_CONE)) {
    const talus_dvec3 axis = tl_frame_axis(&c->frame, 2), along = tl_dcross(axis, out);
    const double height = tl_ddot(tl_dsub(top, c->position), axis);
    f->rim = c->core == TL_CORE_CONE && height > 0 ? 0 : c->size[0];
    f->along_x = tl_ddot(along, u), f->along_y = tl_ddot(along, v);
  }
  const double length = sqrt(f->along_x * f->along_x + f->along_y * f->along_y);
  if (length > 0)
    f->along_x /= length, f->along_y /= length;
}

/* The patch of a hull is the face that looks along `out` most, which need not have the edge that
 * touches. If the facet is still a point, this adds the other end of that edge. */
TL_BIG_FN void tl_facet_add_edge(const tl_convex *c, talus_dvec3 out, talus_dvec3 u, talus_dvec3 v,
                                 double height, tl_facet *f) {
  const talus_dvec3 d = tl_frame_to_local(&c->frame, out);
  const uint32_t vertex = tl_hull_farthest(c, d);
  for (uint32_t k = c->vertex_start[vertex]; k < c->vertex_start[vertex + 1]; ++k) {
    const talus_dvec3 local = tl_hull_vertex(c, c->neighbour[k]);
    const talus_dvec3 p = tl_dadd(c->position, tl_frame_to_world(&c->frame, local));
    if (!(tl_ddot(p, out) >= height))
      continue;
    f->count = 2;
    f->x[1] = tl_ddot(p, u), f->y[1] = tl_ddot(p, v);
    return;
  }
}

/* `out`: outwards from the body; u, v: the plane's axes. */
TL_BIG_FN tl_facet tl_facet_of(const tl_convex *c, const tl_patch *patch, talus_dvec3 out,
                               talus_dvec3 u, talus_dvec3 v, double level) {
  const talus_dvec3 top = tl_convex_support(c, out);
  const double height = tl_ddot(top, out) + c->rounding;
  tl_facet f;
  f.count = 0;
  for (int i = 0; i < patch->count; ++i)
    if (tl_ddot(patch->vertex[i], out) >= height - level) {
      f.x[f.count] = tl_ddot(patch->vertex[i], u);
      f.y[f.count++] = tl_ddot(patch->vertex[i], v);
    }
  if (f.count < 2) {
    f.count = 1;
    f.x[0] = tl_ddot(top, u), f.y[0] = tl_ddot(top, v);
  }
  if (f.count == 1 && c->core == TL_CORE_HULL)
    tl_facet_add_edge(c, out, u, v, height - level, &f);
  tl_facet_direct(c, top, out, u, v, &f);
  return f;
}

/* Distance of a place to the segment from vertex i to vertex j. */
TL_FN double tl_facet_aside(const tl_facet *f, int i, int j, double x, double y) {
  const double ex = f->x[j] - f->x[i], ey = f->y[j] - f->y[i], square = ex * ex + ey * ey;
  const double along = (x - f->x[i]) * ex + (y - f->y[i]) * ey;
  const double t = square > 0 ? fmin(fmax(along / square, 0.0), 1.0) : 0;
  const double dx = x - f->x[i] - t * ex, dy = y - f->y[i] - t * ey;
  return sqrt(dx * dx + dy * dy);
}

/* How far inside the facet a place is: the distance to the nearest side of a polygon; minus the
 * distance to the facet where it is not over it. */
TL_BIG_FN double tl_facet_depth(const tl_facet *f, double x, double y) {
  if (f->count < 3)
    return -tl_facet_aside(f, 0, f->count - 1, x, y);
  double area = 0, least = DBL_MAX, aside = DBL_MAX;
  for (int i = 0; i < f->count; ++i) {
    const int j = i + 1 < f->count ? i + 1 : 0;
    area += (f->x[i] - f->x[0]) * (f->y[j] - f->y[0]) - (f->y[i] - f->y[0]) * (f->x[j] - f->x[0]);
  }
  for (int i = 0; i < f->count; ++i) {
    const int j = i + 1 < f->count ? i + 1 : 0;
    const double ex = f->x[j] - f->x[i], ey = f->y[j] - f->y[i];
    const double side = ex * (y - f->y[i]) - ey * (x - f->x[i]);
    least = fmin(least, area < 0 ? -side : side);
    aside = fmin(aside, tl_facet_aside(f, i, j, x, y));
  }
  return least < 0 ? -aside : aside;
}

/* The distance from a place of a segment to its nearer end. A rim bends and has no end:
 * infinite. */
TL_FN double tl_facet_left(const tl_facet *f, double x, double y) {
  if (f->count != 2)
    return DBL_MAX;
  const double from_0 = (x - f->x[0]) * f->along_x + (y - f->y[0]) * f->along_y;
  const double from_1 = (f->x[1] - x) * f->along_x + (f->y[1] - y) * f->along_y;
  return fmax(0.0, fmin(from_0, from_1));
}

/* Radius of a ball in the core that touches the supporting plane at the place. */
TL_BIG_FN double tl_facet_ball(const tl_convex *c, const tl_facet *f, double x, double y) {
  const double *s = c->size;
  if (c->core == TL_CORE_ELLIPSOID) {
    const double least = fmin(s[0], fmin(s[1], s[2])), most = fmax(s[0], fmax(s[1], s[2]));
    return least * least / most;
  }
  if (c->core == TL_CORE_CYLINDER && f->count == 2) {
    const double to_0 = sqrt((x - f->x[0]) * (x - f->x[0]) + (y - f->y[0]) * (y - f->y[0]));
    const double to_1 = sqrt((x - f->x[1]) * (x - f->x[1]) + (y - f->y[1]) * (y - f->y[1]));
    return fmin(s[0], fmin(to_0, to_1));
  }
  return 0;
}

/* The data of a proof beyond some angle: the centre of N is `below` under 0 and `aside` of it. */
typedef struct tl_proof {
  double depth, below, aside, missed, open;
} tl_proof;

/* The proof from room on all sides in the plane. */
TL_FN bool tl_prove_room(const tl_proof *p, double room) {
  const double x = room / p->depth;
  return x > 1 && p->below * (x * x - 1) - 2 * x * p->aside >= p->depth * (1 + x * x);
}

/* The proof for rims: `sine` of the angle at which the lines cross, `least` and `sum` of the radii,
 * `left`: the length of a segment to its end. sin p >= 0.84 p for p <= 1, and the shift aside costs
 * a part of the room: p goes to half of sine least/sum, so that 0.84 - 0.25 of it is left. */
TL_BIG_FN bool tl_prove_rims(const tl_proof *p, double sine, double least, double sum,
                             double left) {
  const double most = fmin(0.5 * sine * least / sum, left / least), k = 0.59 * sine * least;
  const double radius = k * k / sum;
  if (!(radius > p->depth) || !(most > 0) ||
      p->missed * p->missed > 2 * (radius - p->depth) * p->open)
    return false;
  const double room = k * most - p->missed, drop = 0.5 * sum * most * most;
  const double end = 2 * tl_atan2_d(room, p->depth - drop) - tl_atan_d(sum * most / k);
  if (!(room > 0) || !(end > 0.5 * TL_PI))
    return false;
  return end >= TL_PI || -p->below * tl_cos_d(end) - p->aside * tl_sin_d(end) >= p->depth;
}

/* `n`: unit, from a to b; `gap`: of the CORES along it; pa, pb: the patches along n; `place`: where
 * the bodies meet, as the manifold says. True: no direction has a gap larger than that by more than
 * TL_PROOF_OPEN of the size (and twice TL_PROOF_LEVEL, within which heights count as one). */
TL_BIG_FN bool tl_convex_prove(const tl_convex *a, const tl_convex *b, const tl_patch *pa,
                               const tl_patch *pb, talus_dvec3 n, double gap, talus_dvec3 place,
                               double size) {
  const talus_dvec3 u = tl_dorthogonal(n), v = tl_dcross(n, u);
  const double x = tl_ddot(place, u), y = tl_ddot(place, v), level = TL_PROOF_LEVEL * size;
  const tl_facet fa = tl_facet_of(a, pa, n, u, v, level);
  const tl_facet fb = tl_facet_of(b, pb, tl_dscale(n, -1), u, v, level);
  const double in_a = tl_facet_depth(&fa, x, y), in_b = tl_facet_depth(&fb, x, y);
  const talus_dvec3 d = tl_dsub(b->position, a->position);
  tl_proof p;
  p.missed = fmax(0.0, -in_a) + fmax(0.0, -in_b), p.open = TL_PROOF_OPEN * size;
  p.depth = fmax(0.0, -gap) + level;
  p.below = tl_ddot(d, n), p.aside = tl_dlength(tl_dalong(d, -p.below, n));
  const double sine = fabs(fa.along_x * fb.along_y - fa.along_y * fb.along_x);
  const double left = fmin(tl_facet_left(&fa, x, y), tl_facet_left(&fb, x, y));
  const bool edges = fa.count == 2 && fb.count == 2;
  const double room = (edges ? sine * left : fmax(in_a, in_b)) - p.missed;
  if ((gap > level && room >= 0) || tl_prove_room(&p, room))
    return true;
  const bool line_a = fa.count == 2 || fa.rim > 0, line_b = fb.count == 2 || fb.rim > 0;
  if (line_a && line_b && !edges) {
    const double least = fa.rim > 0 && fb.rim > 0 ? fmin(fa.rim, fb.rim) : fa.rim + fb.rim;
    if (tl_prove_rims(&p, sine, least, fa.rim + fb.rim, left))
      return true;
  }
  const double ball = tl_facet_ball(a, &fa, x, y) + tl_facet_ball(b, &fb, x, y) + gap;
  return ball > level && p.missed * p.missed <= 2 * ball * p.open;
}

#endif
