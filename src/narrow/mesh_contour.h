/* Meshes that overlap deeply (private to src/narrow).
 *
 * Where two surfaces go through each other they have a contour in common, made of one segment for
 * each pair of triangles. Its vector area is the integral of the normal of a over what of its
 * surface is within b: minus the change of the common volume per way that a moves. So it is the
 * direction out, the one in which the volume shrinks fastest, however deep they are. How far they
 * must go along it: the longest way, along that direction, from a place of a that is within b to
 * where b ends, or the other way round. The height of the contour says nothing about it: the line
 * may go round a thread.
 *
 * Two threads meet in many closed lines, along many turns. Together they have neither one direction
 * nor one depth: each closed line is a contour of its own (mesh_loops.c). */
#ifndef TL_NARROW_MESH_CONTOUR_H
#define TL_NARROW_MESH_CONTOUR_H

#include "narrow/mesh_pair.h"

#define TL_MESH_LOOPS     8    /* contours of a pair: those with the largest areas */
#define TL_MESH_LINES     64   /* the same before opposed ones are put together */
#define TL_MESH_CROSSINGS 4096 /* of more all lines are one contour */

/* How far two bodies are within each other along a direction, and the middle of that way. */
typedef struct tl_mesh_way {
  double depth, middle;
} tl_mesh_way;

/* In the frame of b. */
typedef struct tl_mesh_contour {
  size_t segments;
  talus_dvec3 origin; /* first point: sums are relative to it */
  talus_dvec3 area;   /* vector area times 2 */
  talus_dvec3 drift;  /* sum of segments: 0 where the line is closed */
  double length;      /* total length of segments */
  talus_dvec3 centre; /* sum of middles times lengths; finally the centre */
  talus_dvec3 out;    /* unit, from a to b */
  bool is_good;       /* there is such a direction */
  bool is_missed;     /* none of the points of features leads there */
  double wide;        /* how far the contour is from its centre */
  double overlap;     /* the most along it, of two triangles that go through each other */
  talus_dvec3 at;     /* where that is */
  tl_mesh_way way;    /* the most along it, of vertices too */
} tl_mesh_contour;

typedef struct tl_mesh_contours {
  bool is_pierced; /* solids go through each other, and no contour says the way out */
  int count;
  tl_mesh_contour of[TL_MESH_LOOPS];
} tl_mesh_contours;

/* All pairs of triangles that go through each other, ascending: of the near triangles of a and b,
 * ascending, or by the tree (keys NULL). */
typedef struct tl_mesh_crossings {
  const tl_mesh_pair *pair;
  const tl_mesh_key *keys;
  size_t count;
  struct tl_cancel *cancel; /* asks to give up (base/cancel.h); NULL: nobody does */
} tl_mesh_crossings;

void tl_mesh_crossings_visit(const tl_mesh_crossings *all, tl_mesh_crossing_fn *visit,
                             void *context);

/* Pairs of triangles that go through each other, and the number of the closed line of each. */
typedef struct tl_mesh_loops {
  size_t count; /* more than there is room for: lines are not told apart */
  uint32_t loops;
  tl_mesh_key key[TL_MESH_CROSSINGS];
  uint16_t loop[TL_MESH_CROSSINGS];
} tl_mesh_loops;

void tl_mesh_loops_find(const tl_mesh_crossings *all, tl_mesh_loops *loops);

/* Outwards in the frame of b, not by the triangle's own turn but to where bodies are. */
static inline talus_dvec3 tl_mesh_pair_normal(const tl_mesh_pair *pair, uint32_t triangle_of_a) {
  const talus_dvec3 n = tl_facets_normal(pair->a.f, pair->a.f->triangle_facet[triangle_of_a]);
  return tl_frame_to_local(&pair->b.frame, tl_frame_to_world(&pair->a.frame, n));
}

/* Keeps the overlap of two triangles along the contour's direction if it is the most. */
void tl_mesh_contour_overlap(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                             tl_mesh_contour *contour);

/* What features leave over. */
typedef enum tl_mesh_depth {
  TL_MESH_SHALLOW,     /* nothing */
  TL_MESH_BY_CONTOURS, /* something is deep: reach and finish are to be called */
  TL_MESH_BY_VERTICES, /* something is deep, and no contour says the way out */
  TL_MESH_AGAIN        /* the first look was not enough */
} tl_mesh_depth;

/* After all features were met; is_deep: as tl_mesh_pair_meet says. Where nothing is out of reach, a
 * contour that no feature leads out of has its point at once. */
tl_mesh_depth tl_mesh_contours_judge(const tl_mesh_crossings *all, bool is_first, bool is_deep,
                                     tl_mesh_points *points, tl_mesh_contours *contours);

/* How deep vertices are within the other body along each contour. Begins with what triangles that
 * go through each other say, goes on with each triangle, and is put together by `join`. */
void tl_mesh_contours_begin(const tl_mesh_contours *contours, tl_mesh_way way[TL_MESH_LOOPS]);
void tl_mesh_contours_reach(const tl_mesh_pair *pair, const tl_mesh_contours *contours, bool is_a,
                            uint32_t triangle, tl_mesh_way way[TL_MESH_LOOPS]);
void tl_mesh_contours_join(tl_mesh_contours *contours, const tl_mesh_way way[TL_MESH_LOOPS]);

/* The same for all triangles of both. */
void tl_mesh_contours_reach_all(const tl_mesh_pair *pair, tl_mesh_contours *contours);

/* Takes out the points of features at contours that lead another way, then adds the points of the
 * contours. */
void tl_mesh_contours_finish(const tl_mesh_pair *pair, const tl_mesh_contours *contours,
                             tl_mesh_points *points);

/* A rod through a plate: what goes in comes out, so the common volume does not say where to. If
 * nothing else does, adds the shortest way along a normal of the triangles that go through each
 * other after which the bodies are wholly beside each other. */
void tl_mesh_contours_part(const tl_mesh_crossings *all, const tl_mesh_contours *contours,
                           tl_mesh_points *points);

#endif
