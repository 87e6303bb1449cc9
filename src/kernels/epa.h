/* Kernels: how deep two convex cores overlap, by an expanding polytope (van den Bergen 2001).
 *
 * The set N = A - B holds 0; the depth is the least support h(c) of N over unit directions c, and c
 * is the direction in which B leaves A by the shortest way. A polytope inside N gives a LOWER
 * bound: the least distance of its faces' planes from 0. The support of N along the normal of that
 * face is an UPPER bound, and a new vertex. Unlike the usual form this does not start from GJK's
 * last simplex, which is flat when bodies just touch, but from a tetrahedron of the widest places
 * of N; 0 may be outside it at first, and a negative distance is then simply the least. Every
 * direction that was looked along is a valid answer (a translation by h(c) parts the bodies); the
 * best is kept, so running out of room costs accuracy, never validity. */
#ifndef TL_KERNELS_EPA_H
#define TL_KERNELS_EPA_H

#include "kernels/gjk.h"

#define TL_EPA_VERTICES 72
#define TL_EPA_FACES    (2 * TL_EPA_VERTICES)

typedef struct tl_epa_face {
  int v[3];
  talus_dvec3
      normal; /* unit, outwards; 0 for a sliver, whose plane would depend on rounding alone */
  double offset;
} tl_epa_face;

typedef struct tl_epa {
  tl_vertex vertex[TL_EPA_VERTICES];
  tl_epa_face face[TL_EPA_FACES];
  int vertices, faces;
  double lower, upper; /* bounds of the depth of the cores */
  talus_dvec3 direction, a, b;
} tl_epa;

/* Vertex of N = A - B farthest along n (the sign of d turned round). Remembers the best. */
TL_BIG_FN tl_vertex tl_epa_support(const tl_convex *a, const tl_convex *b, talus_dvec3 n,
                                   tl_epa *e) {
  tl_vertex v = tl_difference(a, b, n);
  v.d = tl_dscale(v.d, -1);
  const double h = tl_ddot(v.d, n);
  if (h < e->upper) {
    e->upper = h, e->direction = n;
    e->a = v.a, e->b = tl_dsub(v.a, v.d);
  }
  return v;
}

TL_BIG_FN void tl_epa_add_face(tl_epa *e, int i, int j, int k) {
  tl_epa_face *f = &e->face[e->faces++];
  f->v[0] = i, f->v[1] = j, f->v[2] = k;
  const talus_dvec3 p = e->vertex[i].d, q = e->vertex[j].d, r = e->vertex[k].d;
  const talus_dvec3 u = tl_dsub(q, p), w = tl_dsub(r, p), n = tl_dcross(u, w);
  const double length = tl_dlength(n);
  if (length > 1e-12 * sqrt(tl_ddot(u, u) * tl_ddot(w, w)) && length > 0) {
    f->normal = tl_dscale(n, 1 / length);
    f->offset = fmax(tl_ddot(f->normal, p), fmax(tl_ddot(f->normal, q), tl_ddot(f->normal, r)));
  } else {
    f->normal = tl_dvec3(0, 0, 0);
    f->offset = DBL_MAX;
  }
}

/* The one of the two extreme points of N along +n and -n that is farther from p. */
TL_BIG_FN tl_vertex tl_epa_farther(const tl_convex *a, const tl_convex *b, talus_dvec3 n,
                                   talus_dvec3 p, tl_epa *e) {
  const tl_vertex u = tl_epa_support(a, b, n, e), w = tl_epa_support(a, b, tl_dscale(n, -1), e);
  const double along_u = tl_ddot(tl_dsub(u.d, p), n), along_w = tl_ddot(tl_dsub(p, w.d), n);
  return along_u >= along_w ? u : w;
}

/* Begins with two opposite points, then the farthest from their line, then the farthest from that
 * plane. */
TL_BIG_FN bool tl_epa_begin(const tl_convex *a, const tl_convex *b, talus_dvec3 start, tl_epa *e) {
  e->upper = DBL_MAX, e->lower = -DBL_MAX;
  e->faces = 0, e->vertices = 4;
  tl_vertex *v = e->vertex;
  v[0] = tl_epa_support(a, b, start, e);
  v[1] = tl_epa_support(a, b, tl_dscale(start, -1), e);
  const talus_dvec3 line = tl_dunit(tl_dsub(v[1].d, v[0].d)), across = tl_dorthogonal(line);
  v[2] = tl_epa_farther(a, b, across, v[0].d, e);
  const talus_dvec3 n = tl_dunit(tl_dcross(tl_dsub(v[1].d, v[0].d), tl_dsub(v[2].d, v[0].d)));
  v[3] = tl_epa_farther(a, b, n, v[0].d, e);
  const double volume =
      tl_ddot(tl_dcross(tl_dsub(v[1].d, v[0].d), tl_dsub(v[2].d, v[0].d)), tl_dsub(v[3].d, v[0].d));
  if (volume == 0)
    return false;
  if (volume > 0) {
    tl_epa_add_face(e, 0, 2, 1), tl_epa_add_face(e, 0, 1, 3);
    tl_epa_add_face(e, 1, 2, 3), tl_epa_add_face(e, 2, 0, 3);
  } else {
    tl_epa_add_face(e, 0, 1, 2), tl_epa_add_face(e, 0, 3, 1);
    tl_epa_add_face(e, 1, 3, 2), tl_epa_add_face(e, 2, 3, 0);
  }
  return true;
}

/* Removes the faces that the new vertex sees and joins the vertex to their border. Returns false if
 * there is no room, or if rounding left no proper border. */
TL_BIG_FN bool tl_epa_expand(tl_epa *e, tl_vertex v, double seen) {
  int border[TL_EPA_FACES][2];
  int edges = 0, kept = 0;
  for (int f = 0; f < e->faces; ++f) {
    const tl_epa_face face = e->face[f];
    if (!(tl_ddot(face.normal, v.d) - face.offset > seen)) {
      e->face[kept++] = face;
      continue;
    }
    for (int k = 0; k < 3; ++k) {
      const int from = face.v[k], to = face.v[(k + 1) % 3];
      int twin = -1;
      for (int i = 0; i < edges && twin < 0; ++i)
        if (border[i][0] == to && border[i][1] == from)
          twin = i;
      if (twin >= 0) {
        --edges;
        border[twin][0] = border[edges][0], border[twin][1] = border[edges][1];
      } else if (edges < TL_EPA_FACES) {
        border[edges][0] = from, border[edges++][1] = to;
      } else {
        return false;
      }
    }
  }
  e->faces = kept;
  if (edges < 3 || kept + edges > TL_EPA_FACES || e->vertices == TL_EPA_VERTICES)
    return false;
  e->vertex[e->vertices] = v;
  for (int i = 0; i < edges; ++i)
    tl_epa_add_face(e, border[i][0], border[i][1], e->vertices);
  e->vertices++;
  return true;
}

/* Points of the cores that belong to the nearest point of a face. */
TL_BIG_FN void tl_epa_witness(tl_epa *e, const tl_epa_face *f) {
  talus_dvec3 p[3], d = tl_dvec3(0, 0, 0), a = d;
  double weight[3];
  for (int k = 0; k < 3; ++k)
    p[k] = e->vertex[f->v[k]].d;
  tl_nearest_triangle(p, weight);
  for (int k = 0; k < 3; ++k) {
    d = tl_dalong(d, weight[k], e->vertex[f->v[k]].d);
    a = tl_dalong(a, weight[k], e->vertex[f->v[k]].a);
  }
  e->a = a, e->b = tl_dsub(a, d);
}

/* `start`: a guess of the direction from a to b. Ends when the bounds are within `tolerance`. */
TL_BIG_FN void tl_epa_depth(const tl_convex *a, const tl_convex *b, talus_dvec3 start,
                            double tolerance, tl_epa *e) {
  if (!tl_epa_begin(a, b, tl_dunit(start), e))
    return;
  while (e->faces > 0) {
    int nearest = 0;
    for (int f = 1; f < e->faces; ++f)
      if (e->face[f].offset < e->face[nearest].offset)
        nearest = f;
    const tl_epa_face face = e->face[nearest];
    if (face.offset == DBL_MAX)
      return;
    e->lower = face.offset;
    const double before = e->upper;
    const tl_vertex v = tl_epa_support(a, b, face.normal, e);
    const double ahead = tl_ddot(v.d, face.normal) - face.offset;
    if (e->upper < before || ahead <= tolerance)
      tl_epa_witness(e, &face);
    if (e->upper - e->lower <= tolerance || ahead <= tolerance)
      return;
    if (!tl_epa_expand(e, v, 1e-3 * tolerance))
      return;
  }
}

#endif
