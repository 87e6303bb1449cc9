/* Kernels: contact manifolds of convex bodies, from the two patches of surface that face each
 * other.
 *
 * A patch is what a body shows in the direction of the contact: a point (an ellipsoid, a vertex), a
 * segment (the side of a cylinder, a capsule) or a convex polygon (a face; a disc is a polygon of
 * points on its rim). Both patches are looked at along the contact normal; the corners of what
 * they have in common are the candidates, each with a gap of its own, measured along the normal
 * from one patch to the other. Neither body is the reference: exchanging the bodies gives the same
 * places. The pair's deepest place, which the solver of convex.h knows, is put in where no corner
 * is as deep. Of more than four the deepest is kept and the three that span the most area (003;
 * see docs/sources.md D20): two bodies pressed flat together need three to be held, and a fourth to
 * be symmetric.
 *
 * Stability in time is worth more than the last digit here. A stack of equal bricks has its
 * vertices exactly above each other, so rounding would make a vertex of one, a vertex of the other
 * or a crossing of edges of the same place from step to step, and its impulse be forgotten with
 * the key. So places nearer than TL_PATCH_SAME (of the size) are one place, vertices of the first
 * body have precedence, and choices between points that are as good as each other fall on the
 * first. */
#ifndef TL_KERNELS_PATCH_H
#define TL_KERNELS_PATCH_H

#include "kernels/tube.h"

#define TL_PATCH_MAX     32   /* vertices of a polygon */
#define TL_MANIFOLD_MAX  4    /* points of a pair of convex bodies */
#define TL_PATCH_SAME    2e-6 /* relative distance of places that are one place */
#define TL_PATCH_AS_DEEP 1e-9 /* relative difference of gaps that are one gap */
#define TL_PATCH_FACE    0xfeu
#define TL_PATCH_WITNESS 0xffu
#define TL_PATCH_CANDIDATES                                                                        \
  128 /* at most 2 crossings per edge of the patch with the most, and the vertices of both */

typedef struct tl_patch {
  int count;       /* 1: point, 2: segment, 3 and more: polygon, in order round it */
  uint32_t number; /* of the face; part of the feature */
  double round;    /* segment: radius of curvature across it, m; 0: a sharp edge */
  bool tube, ball; /* segment: the side of a cylinder or a capsule; of a capsule */
  talus_dvec3 vertex[TL_PATCH_MAX]; /* from the first body's centre, in world axes */
} tl_patch;

TL_FN talus_dvec3 tl_dalong(talus_dvec3 a, double s, talus_dvec3 b) {
  return tl_dvec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

/* v / |v|; +z where v has no direction. */
TL_FN talus_dvec3 tl_dunit(talus_dvec3 v) {
  const double big = fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
  if (!(big > 0))
    return tl_dvec3(0, 0, 1);
  const talus_dvec3 w = tl_dvec3(v.x / big, v.y / big, v.z / big);
  const double length = tl_dlength(w);
  return tl_dvec3(w.x / length, w.y / length, w.z / length);
}

/* A unit vector orthogonal to the unit vector n (see tl_any_orthogonal). */
TL_FN talus_dvec3 tl_dorthogonal(talus_dvec3 n) {
  const double sign = n.z >= 0 ? 1.0 : -1.0, a = -1 / (sign + n.z);
  return tl_dvec3(1 + sign * n.x * n.x * a, sign * n.x * n.y * a, -sign * n.x);
}

TL_FN tl_patch tl_patch_of_point(talus_dvec3 p, uint32_t number) {
  tl_patch patch;
  patch.count = 1, patch.number = number, patch.round = 0;
  patch.tube = patch.ball = false;
  patch.vertex[0] = p;
  return patch;
}

/* The face of a box that looks along d most, in the box's own axes: 2 axis + side. */
TL_FN int tl_box_face(talus_dvec3 d) {
  const bool second = fabs(d.y) > fabs(d.x) * (1 + 1e-9);
  const double most = second ? d.y : d.x;
  const bool third = fabs(d.z) > fabs(most) * (1 + 1e-9);
  return (third ? 4 : second ? 2 : 0) + ((third ? d.z : most) >= 0);
}

/* Which side of axis i its vertex k (0 ... 3, in order round it) is on: +1 or -1. */
TL_FN double tl_box_face_side(int face, int k, int i) {
  const int turn = (i + 3 - (face >> 1)) % 3; /* 0: across the face; 1, 2: along it */
  const bool up = turn == 0 ? face & 1 : turn == 1 ? k == 1 || k == 2 : k >= 2;
  return up ? 1.0 : -1.0;
}

TL_BIG_FN void tl_box_face_patch(const double *half, talus_dvec3 d, tl_patch *patch) {
  const int face = tl_box_face(d);
  patch->count = 4, patch->number = (uint32_t)face;
  for (int k = 0; k < 4; ++k)
    patch->vertex[k] =
        tl_dvec3(half[0] * tl_box_face_side(face, k, 0), half[1] * tl_box_face_side(face, k, 1),
                 half[2] * tl_box_face_side(face, k, 2));
}

/* ---- patches seen along the normal ---------------------------------------------------------- */

/* A patch seen along the normal: places in the plane across it, heights along it. */
typedef struct tl_shadow {
  int count;
  double x[TL_PATCH_MAX], y[TL_PATCH_MAX], height[TL_PATCH_MAX];
  double ex[TL_PATCH_MAX], ey[TL_PATCH_MAX];         /* of the edge from each vertex to the next */
  double square[TL_PATCH_MAX], length[TL_PATCH_MAX]; /* of that edge */
  double sign;       /* of the area: +1 if it goes round counter-clockwise */
  double h0, hx, hy; /* polygon: height = h0 + hx x + hy y */
} tl_shadow;

TL_BIG_FN bool tl_shadow_cast(const tl_patch *patch, talus_dvec3 u, talus_dvec3 v, talus_dvec3 n,
                              tl_shadow *s) {
  s->count = patch->count;
  for (int i = 0; i < patch->count; ++i) {
    s->x[i] = tl_ddot(patch->vertex[i], u), s->y[i] = tl_ddot(patch->vertex[i], v);
    s->height[i] = tl_ddot(patch->vertex[i], n);
  }
  s->sign = 1, s->h0 = s->height[0], s->hx = s->hy = 0;
  for (int i = 0; i < s->count; ++i) {
    const int j = i + 1 < s->count ? i + 1 : 0;
    s->ex[i] = s->x[j] - s->x[i], s->ey[i] = s->y[j] - s->y[i];
    s->square[i] = s->ex[i] * s->ex[i] + s->ey[i] * s->ey[i];
    s->length[i] = sqrt(s->square[i]);
  }
  if (patch->count < 3)
    return true;
  /* Newell's normal: exact for a plane polygon, the best fit for one that rounding bent. */
  talus_dvec3 m = tl_dvec3(0, 0, 0);
  double cx = 0, cy = 0, ch = 0;
  for (int i = 0; i < s->count; ++i) {
    const int j = i + 1 < s->count ? i + 1 : 0;
    const double x0 = s->x[i] - s->x[0], x1 = s->x[j] - s->x[0];
    const double y0 = s->y[i] - s->y[0], y1 = s->y[j] - s->y[0];
    const double h0 = s->height[i] - s->height[0], h1 = s->height[j] - s->height[0];
    m.x += y0 * h1 - h0 * y1, m.y += h0 * x1 - x0 * h1, m.z += x0 * y1 - y0 * x1;
    cx += s->x[i], cy += s->y[i], ch += s->height[i];
  }
  cx /= s->count, cy /= s->count, ch /= s->count;
  if (!(fabs(m.z) > 1e-3 * tl_dlength(m)))
    return false; /* seen edge on */
  s->sign = m.z > 0 ? 1 : -1;
  s->hx = -m.x / m.z, s->hy = -m.y / m.z;
  s->h0 = ch - s->hx * cx - s->hy * cy;
  return true;
}

TL_FN double tl_shadow_height(const tl_shadow *s, double x, double y) {
  if (s->count >= 3)
    return s->h0 + s->hx * x + s->hy * y;
  if (s->count == 1)
    return s->height[0];
  const double ex = s->x[1] - s->x[0], ey = s->y[1] - s->y[0], square = ex * ex + ey * ey;
  if (!(square > DBL_MIN))
    return 0.5 * (s->height[0] + s->height[1]);
  const double t = ((x - s->x[0]) * ex + (y - s->y[0]) * ey) / square;
  return s->height[0] + t * (s->height[1] - s->height[0]);
}

/* Whether a place lies over the polygon, or outside it by no more than tol. */
TL_BIG_FN bool tl_shadow_covers(const tl_shadow *s, double x, double y, double tol) {
  for (int i = 0; i < s->count; ++i) {
    const double side = s->sign * (s->ex[i] * (y - s->y[i]) - s->ey[i] * (x - s->x[i]));
    if (side < -tol * s->length[i])
      return false;
  }
  return true;
}

/* ---- candidates ----------------------------------------------------------------------------- */

typedef struct tl_corner {
  double x, y, gap, middle; /* middle: height midway between the surfaces */
  uint32_t a, b;            /* elements of the patches */
} tl_corner;

typedef struct tl_corners {
  tl_corner at[TL_PATCH_CANDIDATES];
  int count;
  double margin, same;
} tl_corners;

/* Adds a corner, unless it is farther than the margin or in the list already. */
TL_BIG_FN void tl_corners_add(tl_corners *list, const tl_shadow *a, const tl_shadow *b, double x,
                              double y, double extra, uint32_t element_a, uint32_t element_b) {
  const double ha = tl_shadow_height(a, x, y), hb = tl_shadow_height(b, x, y);
  const double gap = hb - ha + extra;
  if (!(gap <= list->margin) || list->count == TL_PATCH_CANDIDATES)
    return;
  for (int i = 0; i < list->count; ++i)
    if (fabs(list->at[i].x - x) <= list->same && fabs(list->at[i].y - y) <= list->same)
      return;
  tl_corner *c = &list->at[list->count++];
  c->x = x, c->y = y, c->gap = gap, c->middle = 0.5 * (ha + hb);
  c->a = element_a, c->b = element_b;
}

/* Where edge (or segment) i of a crosses edge j of b. */
TL_BIG_FN void tl_corners_cross(tl_corners *list, const tl_shadow *a, int i, const tl_shadow *b,
                                int j) {
  const double ax = a->ex[i], ay = a->ey[i], bx = b->ex[j], by = b->ey[j];
  const double dx = b->x[j] - a->x[i], dy = b->y[j] - a->y[i];
  const double det = ax * by - ay * bx, turn = det < 0 ? -1 : 1;
  /* The position on each edge, times |det|: most pairs of edges do not cross, and need no
   * division. */
  const double on_a = turn * (dx * by - dy * bx), on_b = turn * (dx * ay - dy * ax);
  if (on_a < 0 || on_b < 0 || on_a > fabs(det) || on_b > fabs(det))
    return;
  /* Nearly parallel edges cross at a place that rounding chooses; their ends are corners already.
   */
  if (!(det * det > 1e-12 * a->square[i] * b->square[j]))
    return;
  const double s = on_a / fabs(det);
  tl_corners_add(list, a, b, a->x[i] + s * ax, a->y[i] + s * ay, 0, 2 * (uint32_t)i + 1,
                 2 * (uint32_t)j + 1);
}

/* Two segments: the ends of their common part along the longer one. Where they do not lie over each
 * other, round ones are farther apart by the sagitta, and sharp ones do not meet. */
TL_BIG_FN void tl_corners_of_segments(tl_corners *list, const tl_shadow *a, const tl_shadow *b,
                                      double round) {
  for (int body = 0; body < 2; ++body) {
    const tl_shadow *p = body ? b : a, *q = body ? a : b; /* ends of p over q */
    const double ex = q->x[1] - q->x[0], ey = q->y[1] - q->y[0], square = ex * ex + ey * ey;
    if (!(square > DBL_MIN))
      continue;
    for (int i = 0; i < 2; ++i) {
      const double dx = p->x[i] - q->x[0], dy = p->y[i] - q->y[0];
      const double t = (dx * ex + dy * ey) / square, aside = fabs(dx * ey - dy * ex) / sqrt(square);
      const double slack = list->same / sqrt(square);
      if (t < -slack || t > 1 + slack || (aside > list->same && !(round > 0)))
        continue;
      const double sagitta = aside > list->same ? 0.5 * aside * aside / round : 0;
      /* The height of p at its own end is exact; of q at the foot. */
      tl_corners_add(list, a, b, p->x[i], p->y[i], sagitta, body ? 1u : 2 * (uint32_t)i,
                     body ? 2 * (uint32_t)i : 1u);
    }
  }
  tl_corners_cross(list, a, 0, b, 0);
}

TL_BIG_FN void tl_corners_find(tl_corners *list, const tl_shadow *a, const tl_shadow *b,
                               double round) {
  if (a->count == 2 && b->count == 2) {
    tl_corners_of_segments(list, a, b, round);
    return;
  }
  if (b->count >= 3)
    for (int i = 0; i < a->count; ++i)
      if (tl_shadow_covers(b, a->x[i], a->y[i], list->same))
        tl_corners_add(list, a, b, a->x[i], a->y[i], 0, 2 * (uint32_t)i, TL_PATCH_FACE);
  if (a->count >= 3)
    for (int j = 0; j < b->count; ++j)
      if (tl_shadow_covers(a, b->x[j], b->y[j], list->same))
        tl_corners_add(list, a, b, b->x[j], b->y[j], 0, TL_PATCH_FACE, 2 * (uint32_t)j);
  const int edges_a = a->count == 2 ? 1 : a->count, edges_b = b->count == 2 ? 1 : b->count;
  for (int i = 0; i < edges_a; ++i)
    for (int j = 0; j < edges_b; ++j)
      tl_corners_cross(list, a, i, b, j);
}

/* ---- at most four --------------------------------------------------------------------------- */

/* The first row whose score is within `slack` of the greatest; scores below 0 do not count. */
TL_FN int tl_first_best(const double *score, int count, double slack) {
  double best = -1;
  for (int i = 0; i < count; ++i)
    best = score[i] > best ? score[i] : best;
  if (best < 0)
    return -1;
  for (int i = 0; i < count; ++i)
    if (score[i] >= 0 && score[i] >= best - slack)
      return i;
  return -1;
}

TL_FN double tl_corner_area(const tl_corner *p, const tl_corner *q, const tl_corner *r) {
  return (q->x - p->x) * (r->y - p->y) - (q->y - p->y) * (r->x - p->x);
}

/* Reorders so that the four to keep come first: the deepest; the farthest from it; the one that
 * makes the largest triangle with both; the one that adds most on the other sides. */
TL_BIG_FN int tl_corners_reduce(tl_corners *list, double size) {
  if (list->count <= TL_MANIFOLD_MAX)
    return list->count;
  tl_corner *at = list->at;
  double score[TL_PATCH_CANDIDATES];
  for (int kept = 0; kept < TL_MANIFOLD_MAX; ++kept) {
    double least = 0;
    for (int i = kept; i < list->count; ++i)
      least = i == kept || at[i].gap < least ? at[i].gap : least;
    for (int i = 0; i < list->count; ++i) {
      const double dx = at[i].x - at[0].x, dy = at[i].y - at[0].y;
      score[i] = -1;
      if (i < kept)
        continue;
      if (kept == 0)
        score[i] = fmax(0.0, size + least - at[i].gap);
      else if (kept == 1)
        score[i] = dx * dx + dy * dy;
      else if (kept == 2)
        score[i] = fabs(tl_corner_area(&at[0], &at[1], &at[i]));
      else {
        const double turn = tl_corner_area(&at[0], &at[1], &at[2]) < 0 ? -1 : 1;
        for (int k = 0; k < 3; ++k) {
          const double beyond = -turn * tl_corner_area(&at[k], &at[(k + 1) % 3], &at[i]);
          score[i] = beyond > score[i] ? beyond : score[i];
        }
        score[i] = fmax(score[i], 0.0);
      }
    }
    const double slack = kept == 0 ? TL_PATCH_AS_DEEP * size : 1e-6 * size * size;
    const int chosen = tl_first_best(score, list->count, slack);
    const tl_corner c = at[chosen];
    for (int i = chosen; i > kept; --i)
      at[i] = at[i - 1];
    at[kept] = c;
  }
  return list->count = TL_MANIFOLD_MAX;
}

/* ---- gaps beside the deepest place ---------------------------------------------------------- */

/* The axis of a segment, through the place below or above its end number `end`, in coordinates
 * (x, y, height) of the shadow. `side`: +1 if the segment lies on top of its body, -1 below. */
TL_BIG_FN tl_tube tl_shadow_tube(const tl_patch *patch, const tl_shadow *s, int end, double side) {
  tl_tube t;
  const int other = 1 - end;
  const talus_dvec3 along =
      tl_dvec3(s->x[other] - s->x[end], s->y[other] - s->y[end], s->height[other] - s->height[end]);
  t.axis = tl_dunit(along), t.length = tl_dlength(along);
  t.radius = patch->tube ? patch->round : 0, t.ball = patch->ball;
  const talus_dvec3 up = tl_dvec3(0, 0, side);
  const talus_dvec3 out = patch->ball ? up : tl_dunit(tl_dacross(up, t.axis));
  t.at = tl_dalong(tl_dvec3(s->x[end], s->y[end], s->height[end]), -t.radius, out);
  return t;
}

/* Whether a segment's exact gaps are known: those of a cone's side are not. */
TL_FN bool tl_patch_is_exact(const tl_patch *patch) {
  return patch->count != 2 || patch->tube || !(patch->round > 0);
}

/* Edge number `element >> 1` of a polygon, as a tube of no radius. */
TL_FN tl_tube tl_shadow_edge(const tl_shadow *s, uint32_t element) {
  tl_tube t;
  const int i = (int)(element >> 1), j = i + 1 < s->count ? i + 1 : 0;
  const talus_dvec3 along =
      tl_dvec3(s->x[j] - s->x[i], s->y[j] - s->y[i], s->height[j] - s->height[i]);
  t.at = tl_dvec3(s->x[i], s->y[i], s->height[i]);
  t.axis = tl_dunit(along), t.length = tl_dlength(along);
  t.radius = 0, t.ball = true;
  return t;
}

/* The true distance of a corner: from the end of a capsule or a cylinder, or from its side over an
 * edge, to the other body. `element`: of the segment p; `over`: of q. side: +1 if p belongs to the
 * first body. */
TL_BIG_FN double tl_corner_distance(const tl_patch *p, const tl_shadow *sp, uint32_t element,
                                    const tl_patch *q, const tl_shadow *sq, uint32_t over,
                                    double side) {
  const bool is_end = (element & 1u) == 0;
  const tl_tube t = tl_shadow_tube(p, sp, is_end ? (int)(element >> 1) : 0, side);
  if (q->count == 2) {
    const tl_tube s = tl_shadow_tube(q, sq, 0, -side);
    return is_end ? tl_tube_end_to_side(&t, &s) : tl_tube_side_to_side(&t, &s);
  }
  if (!is_end) {
    const tl_tube edge = tl_shadow_edge(sq, over);
    return tl_tube_side_to_side(&t, &edge);
  }
  const double slant = sqrt(1 + sq->hx * sq->hx + sq->hy * sq->hy);
  return tl_tube_end_to_plane(&t, tl_dvec3(0, 0, sq->h0),
                              tl_dscale(tl_dvec3(sq->hx, sq->hy, -1), side / slant));
}

/* Computes the true gaps of corners other than the deepest place, if a capsule or a cylinder takes
 * part, and removes corners that are then beyond the margin. */
TL_BIG_FN void tl_corners_measure(tl_corners *list, const tl_patch *a, const tl_shadow *sa,
                                  const tl_patch *b, const tl_shadow *sb, double level) {
  if ((!a->tube && !b->tube) || !tl_patch_is_exact(a) || !tl_patch_is_exact(b))
    return;
  int kept = 0;
  for (int i = 0; i < list->count; ++i) {
    tl_corner c = list->at[i];
    const bool both = a->count == 2 && b->count == 2;
    /* For two segments: the one whose end it is; for a segment and a polygon: the segment. */
    const bool first = both ? (c.a & 1u) == 0 || (c.b & 1u) != 0 : a->count == 2;
    if (c.gap > level && c.a != TL_PATCH_WITNESS) {
      const double exact = first ? tl_corner_distance(a, sa, c.a, b, sb, c.b, 1)
                                 : tl_corner_distance(b, sb, c.b, a, sa, c.a, -1);
      c.gap = exact > level ? exact : c.gap; /* a face that goes on beyond its edges is too near */
    }
    if (c.gap <= list->margin)
      list->at[kept++] = c;
  }
  list->count = kept;
}

/* ---- the manifold --------------------------------------------------------------------------- */

TL_BIG_FN void tl_sort_by_features(tl_point *points, int count) {
  for (int i = 1; i < count; ++i) {
    const tl_point p = points[i];
    int j = i;
    for (; j > 0 &&
           (points[j - 1].feature_a > p.feature_a ||
            (points[j - 1].feature_a == p.feature_a && points[j - 1].feature_b > p.feature_b));
         --j)
      points[j] = points[j - 1];
    points[j] = p;
  }
}

/* What is known about the pair as a whole: `normal` from a to b, the gap along it, and the place
 * midway between the two bodies at which they have this gap. `size`: of the smaller body. */
typedef struct tl_facing {
  talus_dvec3 normal, middle;
  double gap, size;
  double slack; /* m: gaps that differ by less from that of the pair count as equal */
} tl_facing;

TL_FN tl_point tl_facing_point(const tl_facing *f, uint32_t feature_a, uint32_t feature_b) {
  tl_point p;
  p.point = f->middle, p.normal = tl_narrow(f->normal), p.gap = TL_R(f->gap);
  p.feature_a = feature_a, p.feature_b = feature_b;
  return p;
}

/* Two patches that are being turned into points. */
typedef struct tl_manifold {
  talus_dvec3 u, v; /* across the normal */
  tl_shadow a, b;
  tl_corners list;
  bool deep; /* a corner is as deep as facing->gap, so that facing->middle is not needed */
} tl_manifold;

/* Finds the candidates; facing->middle need not be known yet. */
TL_BIG_FN void tl_manifold_begin(const tl_patch *a, const tl_patch *b, const tl_facing *facing,
                                 double margin, tl_manifold *m) {
  tl_corners *list = &m->list;
  const talus_dvec3 n = facing->normal;
  m->deep = false, m->u = tl_dorthogonal(n), m->v = tl_dcross(n, m->u);
  list->count = 0, list->margin = margin, list->same = TL_PATCH_SAME * facing->size;
  if (a->count > 1 && b->count > 1 && tl_shadow_cast(a, m->u, m->v, n, &m->a) &&
      tl_shadow_cast(b, m->u, m->v, n, &m->b))
    tl_corners_find(list, &m->a, &m->b, a->round + b->round);
  for (int i = 0; i < list->count; ++i)
    m->deep = m->deep || list->at[i].gap <= facing->gap + facing->slack;
}

/* The points, ascending by feature. */
TL_BIG_FN int tl_manifold_end(const tl_patch *a, const tl_patch *b, const tl_facing *facing,
                              tl_manifold *m, tl_point out[TL_MANIFOLD_MAX]) {
  tl_corners *list = &m->list;
  const talus_dvec3 n = facing->normal, u = m->u, v = m->v;
  if (!m->deep) {
    if (list->count == TL_PATCH_CANDIDATES)
      list->count--;
    tl_corner *c = &list->at[list->count++];
    c->x = tl_ddot(facing->middle, u), c->y = tl_ddot(facing->middle, v);
    c->middle = tl_ddot(facing->middle, n), c->gap = facing->gap;
    c->a = c->b = a->count == 1 && b->count == 1 ? 0 : TL_PATCH_WITNESS;
  }
  tl_corners_reduce(list, facing->size);
  if (list->count > 1)
    tl_corners_measure(list, a, &m->a, b, &m->b, facing->gap + TL_PATCH_AS_DEEP * facing->size);
  const int count = list->count;
  for (int i = 0; i < count; ++i) {
    const tl_corner *c = &list->at[i];
    out[i].point = tl_dalong(tl_dalong(tl_dscale(n, c->middle), c->x, u), c->y, v);
    out[i].normal = tl_narrow(n), out[i].gap = TL_R(c->gap);
    out[i].feature_a = a->number << 8 | c->a, out[i].feature_b = b->number << 8 | c->b;
  }
  tl_sort_by_features(out, count);
  return count;
}

/* Points of two patches, ascending by feature; *deep: as in tl_manifold. */
TL_BIG_FN int tl_patch_points(const tl_patch *a, const tl_patch *b, const tl_facing *facing,
                              double margin, tl_point out[TL_MANIFOLD_MAX], bool *deep) {
  *deep = false;
  if (!(facing->gap <= margin))
    return 0;
  tl_manifold m;
  tl_manifold_begin(a, b, facing, margin, &m);
  *deep = m.deep;
  return tl_manifold_end(a, b, facing, &m, out);
}

#endif
