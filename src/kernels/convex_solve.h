/* Kernels: where two convex bodies face each other: normal, signed gap, nearest places.
 *
 * The signed gap is the maximum over unit directions c of
 *     g(c) = least of B along c - farthest of A along c,
 * positive: the distance; negative: minus the depth (docs/sources.md A3, for any convex bodies).
 * g(c) itself is a valid statement for EVERY c: the plane across c parts the bodies by g, or would
 * after a translation by -g. So the answer is never wrong about the gap along its normal, only, if
 * the maximum was missed, about being the largest.
 *
 * GJK (apart) or EPA (overlapping) come close to the maximum. Then tl_refine goes to it exactly:
 * the maximum lies where g is smooth and its gradient 0 (Newton), or on a kink: at the normal of a
 * face, on the directions across one edge (Newton along the circle), or where two such circles
 * cross. All that are near are tried, and the greatest g wins, whatever the search said. That is
 * what makes bodies that just touch, where the difference of nearest points is all rounding, get
 * accurate normals. */
#ifndef TL_KERNELS_CONVEX_SOLVE_H
#define TL_KERNELS_CONVEX_SOLVE_H

#include "kernels/convex_prove.h"
#include "kernels/epa.h"

/* Relative to the size: the accuracy at which GJK and EPA end and the refinement begins, which must
 * start near the answer. On the flat parts of a superellipsoid normals turn too little for Newton:
 * there the search goes on. */
#define TL_SOLVE_TOLERANCE 1e-6
#define TL_SOLVE_SUPER     1e-10
/* Below this distance, relative, the difference of the nearest points has no useful direction. */
#define TL_SOLVE_TOUCHING 1e-9
/* Polyhedra, relative: bounds of GJK that differ by less are equal; and the distance from which on
 * the nearest points give the normal as well as Newton would (to the rounding of a place divided by
 * it, 1e-11). */
#define TL_SOLVE_SETTLED 1e-13
#define TL_SOLVE_AWAY    1e-5
/* rad: kinks are searched within this angle. */
#define TL_SOLVE_NEAR 2e-2
/* A direction that kinks determine wins over a freer one that is better by less than this,
 * relative: so bodies that lie flat have the face's normal and not one beside it. */
#define TL_SOLVE_TIE 1e-12

typedef struct tl_solution {
  talus_dvec3 normal; /* unit, from a to b */
  double gap;         /* g(normal), rounding radii subtracted */
  double uncertainty; /* the largest gap may be larger by this much at most, as far as is proven */
  talus_dvec3 a, b;   /* nearest places of the CORES, where unique */
  double size;        /* of the smaller body: twice its reach */
} tl_solution;

typedef struct tl_sight {
  double g;
  talus_dvec3 n, v; /* v = b - a of the supports: the gradient of g */
} tl_sight;

TL_FN tl_sight tl_look(const tl_convex *a, const tl_convex *b, talus_dvec3 n) {
  tl_sight s;
  s.n = n, s.v = tl_difference(a, b, n).d;
  s.g = tl_ddot(s.v, n);
  return s;
}

TL_FN void tl_take_better(tl_sight *best, tl_sight other, double advantage) {
  if (other.g > best->g - advantage)
    *best = other;
}

/* Newton in both directions of the sphere; the derivative of the gradient comes from
 * differences. */
TL_BIG_FN tl_sight tl_refine_free(const tl_convex *a, const tl_convex *b, tl_sight s, double size) {
  const double step = 1e-5;
  for (int round = 0; round < 12; ++round) {
    const talus_dvec3 u = tl_dorthogonal(s.n), w = tl_dcross(s.n, u);
    const double fu = tl_ddot(s.v, u), fw = tl_ddot(s.v, w), slope = sqrt(fu * fu + fw * fw);
    if (slope <= 1e-15 * size)
      return s;
    const talus_dvec3 vu = tl_dsub(tl_difference(a, b, tl_dalong(s.n, step, u)).d,
                                   tl_difference(a, b, tl_dalong(s.n, -step, u)).d);
    const talus_dvec3 vw = tl_dsub(tl_difference(a, b, tl_dalong(s.n, step, w)).d,
                                   tl_difference(a, b, tl_dalong(s.n, -step, w)).d);
    /* On the sphere the derivative of v.t along t has the extra term -g. */
    const double uu = tl_ddot(vu, u) / (2 * step) - s.g, ww = tl_ddot(vw, w) / (2 * step) - s.g;
    const double uw = 0.5 * (tl_ddot(vu, w) + tl_ddot(vw, u)) / (2 * step);
    const double det = uu * ww - uw * uw;
    double tu, tw;
    if (uu < 0 && det > 0)
      tu = -(ww * fu - uw * fw) / det, tw = -(uu * fw - uw * fu) / det;
    else /* not near a maximum: go uphill, by a step of the order of the size */
      tu = 0.1 * fu / size, tw = 0.1 * fw / size;
    double length = sqrt(tu * tu + tw * tw), cut = length > 0.2 ? 0.2 / length : 1;
    bool better = false;
    for (int halving = 0; halving < 5 && !better; ++halving, cut *= 0.25) {
      const talus_dvec3 n = tl_dunit(tl_dalong(tl_dalong(s.n, cut * tu, u), cut * tw, w));
      const tl_sight t = tl_look(a, b, n);
      const talus_dvec3 across = tl_dalong(t.v, -t.g, t.n);
      /* Near the maximum g is constant to rounding, but its slope still decides. */
      better = t.g > s.g || (t.g > s.g - 1e-15 * size && tl_dlength(across) < 0.5 * slope);
      if (better)
        s = t;
    }
    if (!better || length * cut < 1e-16)
      return s;
  }
  return s;
}

/* Newton along the circle n.axis = level. */
TL_BIG_FN tl_sight tl_refine_circle(const tl_convex *a, const tl_convex *b, tl_sight s,
                                    talus_dvec3 axis, double level, double size) {
  const double ring = sqrt(fmax(0.0, 1 - level * level));
  talus_dvec3 out = tl_dunit(tl_dalong(s.n, -tl_ddot(s.n, axis), axis));
  s = tl_look(a, b, tl_dalong(tl_dscale(axis, level), ring, out));
  const double step = 1e-5;
  for (int round = 0; round < 12; ++round) {
    const talus_dvec3 t = tl_dcross(axis, out); /* unit; dn/dangle = ring t */
    const double f = tl_ddot(s.v, t);
    if (fabs(f) <= 1e-15 * size)
      return s;
    double slope[2];
    for (int side = 0; side < 2; ++side) {
      const double angle = side ? step : -step;
      const talus_dvec3 o = tl_dunit(tl_dalong(out, angle, t));
      const talus_dvec3 n = tl_dalong(tl_dscale(axis, level), ring, o);
      slope[side] = tl_ddot(tl_difference(a, b, n).d, tl_dcross(axis, o));
    }
    const double curve = (slope[1] - slope[0]) / (2 * step);
    double turn = curve < 0 ? -f / curve : 0.1 * f / size;
    turn = turn > 0.2 ? 0.2 : turn < -0.2 ? -0.2 : turn;
    bool better = false;
    for (int halving = 0; halving < 5 && !better; ++halving, turn *= 0.25) {
      const talus_dvec3 o = tl_dunit(tl_dalong(out, turn, t));
      const tl_sight next = tl_look(a, b, tl_dalong(tl_dscale(axis, level), ring, o));
      const double left = fabs(tl_ddot(next.v, tl_dcross(axis, o)));
      better = next.g > s.g || (next.g > s.g - 1e-15 * size && left < 0.5 * fabs(f));
      if (better)
        s = next, out = o;
    }
    if (!better || fabs(turn) < 1e-16)
      return s;
  }
  return s;
}

/* The place next to n where two circles of directions cross. Returns false if they do not. */
TL_BIG_FN bool tl_circles_meet(talus_dvec3 axis_a, double level_a, talus_dvec3 axis_b,
                               double level_b, talus_dvec3 n, talus_dvec3 *meet) {
  const double c = tl_ddot(axis_a, axis_b), det = 1 - c * c;
  if (!(det > 1e-12))
    return false;
  const double x = (level_a - c * level_b) / det, y = (level_b - c * level_a) / det;
  const talus_dvec3 foot = tl_dalong(tl_dscale(axis_a, x), y, axis_b);
  const talus_dvec3 out = tl_dunit(tl_dcross(axis_a, axis_b));
  const double rest = 1 - tl_ddot(foot, foot);
  if (!(rest > 0))
    return false;
  *meet = tl_dunit(tl_dalong(foot, tl_ddot(out, n) < 0 ? -sqrt(rest) : sqrt(rest), out));
  return true;
}

/* Kinks of both bodies within `near` rad of n; those of b have the opposite sign. */
TL_BIG_FN void tl_kinks_of_pair(const tl_convex *a, const tl_convex *b, talus_dvec3 n, double near,
                                tl_kinks *ka, tl_kinks *kb) {
  *ka = tl_convex_kinks(a, n, near);
  *kb = tl_convex_kinks(b, tl_dscale(n, -1), near);
  kb->normal = tl_dscale(kb->normal, -1);
  for (int i = 0; i < kb->circles; ++i)
    kb->level[i] = -kb->level[i];
}

/* Takes the best of the directions that kinks alone determine. */
TL_BIG_FN void tl_take_exact(const tl_convex *a, const tl_convex *b, talus_dvec3 n,
                             const tl_kinks *ka, const tl_kinks *kb, double size, tl_sight *best) {
  const double tie = TL_SOLVE_TIE * size;
  for (int i = 0; i < ka->circles; ++i)
    for (int j = 0; j < kb->circles; ++j) {
      talus_dvec3 meet;
      if (tl_circles_meet(ka->axis[i], ka->level[i], kb->axis[j], kb->level[j], n, &meet))
        tl_take_better(best, tl_look(a, b, meet), tie);
    }
  if (kb->has_face)
    tl_take_better(best, tl_look(a, b, kb->normal), tie);
  if (ka->has_face)
    tl_take_better(best, tl_look(a, b, ka->normal), tie);
}

/* Goes from a direction that is nearly the best to the best one. */
TL_BIG_FN tl_sight tl_refine(const tl_convex *a, const tl_convex *b, talus_dvec3 n, double size) {
  tl_kinks ka, kb;
  tl_kinks_of_pair(a, b, n, TL_SOLVE_NEAR, &ka, &kb);
  const double tie = TL_SOLVE_TIE * size;
  const tl_sight first = tl_look(a, b, n);
  tl_sight best = first;
  tl_take_better(&best, tl_refine_free(a, b, first, size), 0);
  for (int i = 0; i < ka.circles; ++i)
    tl_take_better(&best, tl_refine_circle(a, b, first, ka.axis[i], ka.level[i], size), tie);
  for (int i = 0; i < kb.circles; ++i)
    tl_take_better(&best, tl_refine_circle(a, b, first, kb.axis[i], kb.level[i], size), tie);
  tl_take_exact(a, b, n, &ka, &kb, size, &best);
  return best;
}

/* Two cores that are points or segments, exactly: their differences fill no volume, so an expanding
 * polytope has nothing to expand. Crossing or coinciding ones part across both. */
TL_BIG_FN void tl_solve_segments(const tl_convex *a, const tl_convex *b, tl_solution *s) {
  const talus_dvec3 da = tl_frame_axis(&a->frame, 2), db = tl_frame_axis(&b->frame, 2);
  const double la = a->core == TL_CORE_SEGMENT ? a->size[0] : 0;
  const double lb = b->core == TL_CORE_SEGMENT ? b->size[0] : 0;
  const talus_dvec3 d = tl_dsub(b->position, a->position);
  const double c = tl_ddot(da, db), along_a = tl_ddot(d, da), along_b = tl_ddot(d, db);
  const double det = 1 - c * c;
  double s_a = det > 1e-14 ? (along_a - c * along_b) / det : 0.5 * along_a;
  s_a = fmin(fmax(s_a, -la), la);
  double s_b = fmin(fmax(c * s_a - along_b, -lb), lb);
  s_a = fmin(fmax(c * s_b + along_a, -la), la);
  s_b = fmin(fmax(c * s_a - along_b, -lb), lb);
  s->a = tl_dalong(a->position, s_a, da), s->b = tl_dalong(b->position, s_b, db);
  const talus_dvec3 v = tl_dsub(s->b, s->a);
  const double distance = tl_dlength(v);
  if (distance > 1e-13 * s->size) {
    s->normal = tl_dunit(v);
  } else {
    const talus_dvec3 across = tl_dcross(da, db);
    const bool both = la > 0 && lb > 0 && tl_dlength(across) > 1e-12;
    s->normal = both ? tl_dunit(across) : tl_dorthogonal(la > 0 ? da : db);
  }
  s->gap = distance, s->uncertainty = 0;
}

TL_FN bool tl_core_is_thin(const tl_convex *c) {
  return c->core == TL_CORE_POINT || c->core == TL_CORE_SEGMENT;
}

TL_FN bool tl_is_polyhedron(const tl_convex *c) {
  return c->core == TL_CORE_BOX || c->core == TL_CORE_HULL;
}

/* Whether both bodies are polyhedra: then GJK ends exactly on their nearest places. */
TL_FN bool tl_is_angular(const tl_convex *a, const tl_convex *b) {
  return (tl_is_polyhedron(a) || tl_core_is_thin(a)) && (tl_is_polyhedron(b) || tl_core_is_thin(b));
}

typedef enum tl_found { TL_FOUND_NONE, TL_FOUND_NORMAL, TL_FOUND_OVERLAP } tl_found;

TL_FN double tl_solve_tolerance(const tl_convex *a, const tl_convex *b, double size) {
  const bool super = a->core == TL_CORE_SUPERELLIPSOID || b->core == TL_CORE_SUPERELLIPSOID;
  return (super ? TL_SOLVE_SUPER : TL_SOLVE_TOLERANCE) * size;
}

/* Whether GJK's own answer is the maximum: its bounds agree, and the nearest places are far enough
 * from each other for their difference to be a direction. Then only directions that kinks determine
 * and that are one with it are looked at, so that flat bodies have the face's normal. */
TL_BIG_FN bool tl_solve_settled(const tl_convex *a, const tl_convex *b, const tl_gjk *g,
                                tl_solution *s) {
  if (!(g->upper - g->lower <= TL_SOLVE_SETTLED * s->size) || !(g->lower > TL_SOLVE_AWAY * s->size))
    return false;
  tl_kinks ka, kb;
  tl_sight best = tl_look(a, b, g->direction);
  tl_kinks_of_pair(a, b, g->direction, TL_SOLVE_AWAY, &ka, &kb);
  tl_take_exact(a, b, g->direction, &ka, &kb, s->size, &best);
  s->normal = best.n;
  s->gap = best.g - a->rounding - b->rounding;
  s->uncertainty = fmax(0.0, g->upper - best.g);
  return true;
}

/* Goes from s->normal to the maximum; `most`: the proven bound of it. Returns whether the gap is
 * within the margin. */
TL_BIG_FN bool tl_solve_finish(const tl_convex *a, const tl_convex *b, double most, double margin,
                               tl_solution *s) {
  const tl_sight best = tl_refine(a, b, s->normal, s->size);
  s->normal = best.n;
  s->gap = best.g - a->rounding - b->rounding;
  s->uncertainty = fmax(0.0, most - best.g);
  return s->gap <= margin;
}

/* Solves bodies that are apart. If the cores overlap, s->normal becomes the direction that parts
 * them best, of those that were tried. */
TL_BIG_FN tl_found tl_solve_apart(const tl_convex *a, const tl_convex *b, talus_dvec3 start,
                                  double margin, tl_solution *s) {
  const double rounding = a->rounding + b->rounding, enough = margin + rounding;
  const talus_dvec3 d = tl_dsub(b->position, a->position);
  const double reach = a->reach + b->reach + margin;
  s->size = 2 * fmin(a->reach, b->reach);
  if (tl_ddot(d, d) > reach * reach)
    return TL_FOUND_NONE;
  if (tl_core_is_thin(a) && tl_core_is_thin(b)) {
    tl_solve_segments(a, b, s);
    s->gap -= rounding;
    return s->gap <= margin ? TL_FOUND_NORMAL : TL_FOUND_NONE;
  }
  tl_gjk g;
  const bool angular = tl_is_angular(a, b);
  tl_gjk_distance(a, b, start, enough, TL_SOLVE_TOUCHING * s->size,
                  angular ? 0.1 * TL_SOLVE_SETTLED * s->size : tl_solve_tolerance(a, b, s->size),
                  &g);
  s->normal = g.direction, s->a = g.a, s->b = g.b;
  if (g.overlap)
    return TL_FOUND_OVERLAP;
  if (g.lower > enough)
    return TL_FOUND_NONE;
  if (angular && tl_solve_settled(a, b, &g, s))
    return s->gap <= margin ? TL_FOUND_NORMAL : TL_FOUND_NONE;
  return tl_solve_finish(a, b, g.upper, margin, s) ? TL_FOUND_NORMAL : TL_FOUND_NONE;
}

/* Solves overlapping cores, beginning with s->normal. */
TL_BIG_FN bool tl_solve_overlap(const tl_convex *a, const tl_convex *b, double margin,
                                tl_solution *s) {
  tl_epa e;
  tl_epa_depth(a, b, s->normal, tl_solve_tolerance(a, b, s->size), &e);
  s->normal = e.direction, s->a = e.a, s->b = e.b;
  return tl_solve_finish(a, b, -e.lower, margin, s);
}

/* `start`: a guess of the normal; any will do. Returns false if the gap is more than the margin. */
TL_BIG_FN bool tl_convex_solve(const tl_convex *a, const tl_convex *b, talus_dvec3 start,
                               double margin, tl_solution *s) {
  const tl_found found = tl_solve_apart(a, b, start, margin, s);
  return found == TL_FOUND_OVERLAP ? tl_solve_overlap(a, b, margin, s) : found == TL_FOUND_NORMAL;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Whether a single point of the core is farthest along n. */
TL_FN bool tl_support_is_unique(const tl_convex *c, talus_dvec3 n) {
  const tl_kinks k = tl_convex_kinks(c, n, 1e-12);
  return k.circles == 0 && !k.has_face;
}

/* The place midway between the surfaces: from the side that has a single farthest point, which the
 * normal alone determines; from the nearest places of the search where neither has, or where both
 * have but a tiny turn of the normal would move them far (superellipsoids). */
TL_BIG_FN talus_dvec3 tl_solution_middle(const tl_convex *a, const tl_convex *b,
                                         const tl_solution *s) {
  const talus_dvec3 n = s->normal, back = tl_dscale(n, -1);
  const talus_dvec3 far_a = tl_convex_support(a, n), far_b = tl_convex_support(b, back);
  const talus_dvec3 on_a = tl_dalong(far_a, a->rounding + 0.5 * s->gap, n);
  const talus_dvec3 on_b = tl_dalong(far_b, -b->rounding - 0.5 * s->gap, n);
  const bool unique_a = tl_support_is_unique(a, n), unique_b = tl_support_is_unique(b, back);
  if (unique_a && unique_b && tl_dlength(tl_dsub(on_b, on_a)) <= 1e-7 * s->size)
    return tl_dscale(tl_dadd(on_a, on_b), 0.5);
  if (unique_a != unique_b)
    return unique_a ? on_a : on_b;
  /* Along the normal the supports are exact; the places of the search are not. */
  const talus_dvec3 core = tl_dscale(tl_dadd(s->a, s->b), 0.5);
  return tl_dalong(core, tl_ddot(on_a, n) - tl_ddot(core, n), n);
}

/* Contact points of the pair along s->normal. *place: the middle of those that are as deep as the
 * gap. */
TL_BIG_FN int tl_solution_points(const tl_convex *a, const tl_convex *b, const tl_solution *s,
                                 const tl_patch *pa, const tl_patch *pb, double margin,
                                 tl_point out[TL_MANIFOLD_MAX], talus_dvec3 *place) {
  tl_facing facing;
  tl_manifold m;
  *place = tl_dvec3(0, 0, 0);
  facing.normal = s->normal, facing.gap = s->gap, facing.size = s->size;
  facing.slack = TL_PATCH_AS_DEEP * s->size;
  if (!(facing.gap <= margin))
    return 0;
  tl_manifold_begin(pa, pb, &facing, margin, &m);
  if (!m.deep)
    facing.middle = tl_solution_middle(a, b, s);
  const int count = tl_manifold_end(pa, pb, &facing, &m, out);
  const double level = s->gap + TL_PATCH_AS_DEEP * s->size + 4 * (double)TL_REAL_EPS * fabs(s->gap);
  int as_deep = 0;
  for (int i = 0; i < count; ++i)
    if ((double)out[i].gap <= level)
      *place = tl_dadd(*place, out[i].point), ++as_deep;
  *place = tl_dscale(*place, as_deep > 0 ? 1.0 / as_deep : 0.0);
  return count;
}

/* The points along one direction, if it is proven to be the normal; -1 if it is not. */
TL_BIG_FN int tl_collide_along(const tl_convex *first, const tl_convex *second, tl_sight sight,
                               double margin, double size, tl_point out[TL_MANIFOLD_MAX]) {
  tl_convex here = *first, there = *second;
  const tl_convex *a = &here, *b = &there;
  tl_convex_aim(&here, sight.n), tl_convex_aim(&there, tl_dscale(sight.n, -1));
  tl_solution s;
  s.normal = sight.n, s.size = size, s.uncertainty = 0;
  s.gap = sight.g - a->rounding - b->rounding;
  s.a = tl_convex_support(a, s.normal), s.b = tl_dadd(s.a, sight.v);
  tl_patch pa, pb;
  tl_convex_patch(a, s.normal, &pa);
  tl_convex_patch(b, tl_dscale(s.normal, -1), &pb);
  talus_dvec3 place;
  const int count = tl_solution_points(a, b, &s, &pa, &pb, margin, out, &place);
  if (count > 0 && tl_convex_prove(a, b, &pa, &pb, s.normal, sight.g, place, size))
    return count;
  return -1;
}

/* Superellipsoids have places at which only the other body's face or roundness can prove
 * anything. */
TL_FN bool tl_is_provable(const tl_convex *a, const tl_convex *b) {
  return (a->core != TL_CORE_SUPERELLIPSOID || b->core == TL_CORE_ELLIPSOID) &&
         (b->core != TL_CORE_SUPERELLIPSOID || a->core == TL_CORE_ELLIPSOID);
}

/* The points of a pair whose normal is nearly `guess`, if that can be proven; -1 if it cannot.
 * Directions that are known exactly come first: of faces, and across two edges. */
TL_BIG_FN int tl_collide_convex_near(const tl_convex *a, const tl_convex *b, talus_dvec3 guess,
                                     double margin, tl_point out[TL_MANIFOLD_MAX],
                                     talus_dvec3 *parting) {
  const double size = 2 * fmin(a->reach, b->reach), rounding = a->rounding + b->rounding;
  const tl_sight first = tl_look(a, b, guess);
  *parting = guess;
  if (first.g > margin + rounding)
    return 0;
  tl_kinks ka, kb;
  tl_kinks_of_pair(a, b, guess, TL_SOLVE_NEAR, &ka, &kb);
  tl_sight best = first;
  best.g = -DBL_MAX;
  tl_take_exact(a, b, guess, &ka, &kb, size, &best);
  *parting = best.n;
  if (best.g > margin + rounding)
    return 0;
  if (best.g > -DBL_MAX) {
    const int count = tl_collide_along(a, b, best, margin, size, out);
    if (count >= 0)
      return count;
  }
  if (!tl_is_provable(a, b) || (tl_is_polyhedron(a) && tl_is_polyhedron(b)))
    return -1; /* overlapping polyhedra have no other directions; for those that are apart GJK finds
                  them */
  best = tl_refine(a, b, guess, size);
  *parting = best.n;
  if (best.g > margin + rounding)
    return 0;
  return tl_collide_along(a, b, best, margin, size, out);
}

/* The full search. `guess`: as below. */
TL_BIG_FN int tl_collide_convex_far(const tl_convex *a, const tl_convex *b,
                                    const talus_dvec3 *guess, bool thick, double margin,
                                    tl_point out[TL_MANIFOLD_MAX], talus_dvec3 *parting) {
  int count = -1;
  tl_solution s;
  const talus_dvec3 start = guess ? *guess : tl_dsub(b->position, a->position);
  s.normal = start;
  const tl_found found = tl_solve_apart(a, b, start, margin, &s);
  *parting = s.normal;
  if (found == TL_FOUND_NONE)
    return 0;
  if (found == TL_FOUND_OVERLAP) {
    /* EPA is fast for two polyhedra, which have few faces, and the end of GJK is a poor guess for
     * them. */
    if (thick && tl_is_provable(a, b) && !(tl_is_polyhedron(a) && tl_is_polyhedron(b)))
      count = tl_collide_convex_near(a, b, s.normal, margin, out, parting);
    if (count >= 0)
      return count;
    if (!tl_solve_overlap(a, b, margin, &s))
      return 0;
  }
  tl_patch pa, pb;
  tl_convex_patch(a, s.normal, &pa);
  tl_convex_patch(b, tl_dscale(s.normal, -1), &pb);
  talus_dvec3 place;
  return tl_solution_points(a, b, &s, &pa, &pb, margin, out, &place);
}

/* `guess`: the expected normal, unit, from a to b (the bodies may be aimed along it); NULL:
 * unknown. Points and segments within their rounding count as apart: there GJK is as fast as any
 * proof. *parting: if there are no points, a direction from a to b, of any length, that most likely
 * parts the bodies by more than the margin. */
TL_BIG_FN int tl_collide_convex(const tl_convex *a, const tl_convex *b, const talus_dvec3 *guess,
                                double margin, tl_point out[TL_MANIFOLD_MAX],
                                talus_dvec3 *parting) {
  const bool thick = !tl_core_is_thin(a) && !tl_core_is_thin(b);
  const int count =
      guess && thick ? tl_collide_convex_near(a, b, *guess, margin, out, parting) : -1;
  return count >= 0 ? count : tl_collide_convex_far(a, b, guess, thick, margin, out, parting);
}

#endif
