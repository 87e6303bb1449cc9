/* Two meshes (private to src/narrow): what the search over trees and the one over lists of near
 * triangles share, so that both find the same points, bit for bit.
 *
 * Points are found triangle by triangle, ascending, first those of a (its vertices, and its edges
 * against those of b), then the vertices of b. TL_MESH_BLOCK triangles are a block: its points are
 * reduced by themselves where there are many, so that blocks may be searched by different threads.
 */
#ifndef TL_NARROW_MESH_PAIR_H
#define TL_NARROW_MESH_PAIR_H

#include "kernels/triangle.h"
#include "narrow/mesh.h"
#include "narrow/mesh_points.h"

#define TL_MESH_BLOCK 512u /* triangles */

/* From the frame of one mesh to that of the other, scale included: m x + offset. */
typedef struct tl_mesh_move {
  double m[3][3];
  double offset[3];
} tl_mesh_move;

typedef struct tl_mesh_pair {
  tl_mesh_posed a, b;
  tl_mesh_move a_to_b, b_to_a;
  double margin, rounding; /* m, of both */
  double radius;           /* m, of the smaller */
  double reach;            /* m: how far features are looked for, on either side of a surface */
  double shallow;          /* m: a vertex that is farther behind a surface is deep */
  double longest;          /* m: side of a triangle of either */
  double deepest;          /* m: how deep vertices are looked for where something is deep */
  bool thesis;             /* points of triangles instead of features (narrow.fusion) */
  bool is_tank[2];         /* a, b: bodies are within it (sides: in) */
} tl_mesh_pair;

/* Most pairs are apart, or touch by a hair: `first` looks no farther than that. Where that is not
 * enough (tl_mesh_pair_is_enough) the pair is looked at again. */
tl_mesh_pair tl_mesh_pair_make(const tl_posed *a, const tl_posed *b, talus_real margin, bool first);

/* Whether a first look was enough. crosses: triangles of both go through each other; deep:
 * something may be farther behind a surface than was looked for. */
static inline bool tl_mesh_pair_is_enough(const tl_mesh_pair *pair, bool crosses, bool deep) {
  return pair->thesis || (!deep && (!crosses || (!pair->a.f->two_sided && !pair->b.f->two_sided)));
}

/* Whether all of one body is within the matter of the other, no surface near: nothing goes through
 * anything then, and no feature tells of it. To be asked where no point was found. */
bool tl_mesh_pair_is_buried(const tl_mesh_pair *pair);

static inline double tl_mesh_moved(const tl_mesh_move *move, int axis, talus_dvec3 x) {
  return move->m[axis][0] * x.x + move->m[axis][1] * x.y + move->m[axis][2] * x.z +
         move->offset[axis];
}

/* The box about child k of a node as the other body sees it, grown by `more`. */
tl_tree_box tl_mesh_moved_box(const tl_mesh_move *move, const tl_tree_node *node, uint32_t k,
                              double more);

/* Empty; what is a copy follows from the pair. */
void tl_mesh_points_start(tl_mesh_points *points, const tl_mesh_pair *pair);

/* A triangle of a, and one of b, in the frame of b. */
tl_triangle_corners tl_mesh_pair_first(const tl_mesh_pair *pair, uint32_t triangle);
tl_triangle_corners tl_mesh_pair_second(const tl_mesh_pair *pair, uint32_t triangle);

/* How near two triangles must be to be looked at, in the frame of b: the reach, and more than what
 * rounding may have taken off. */
static inline double tl_mesh_pair_reach(const tl_mesh_pair *pair) {
  return (pair->reach * (1 + 1e-6) + 1e-9 * pair->radius) / pair->b.scale;
}

/* ---- near triangles -------------------------------------------------------------------------- */

/* Two triangles within the reach: own << 32 | other << 1 | whether they go through each other. */
typedef uint64_t tl_mesh_key;

static inline tl_mesh_key tl_mesh_key_make(uint32_t own, uint32_t other, bool crosses) {
  return (uint64_t)own << 32 | (uint64_t)other << 1 | crosses;
}
static inline uint32_t tl_mesh_key_own(tl_mesh_key key) { return (uint32_t)(key >> 32); }
static inline uint32_t tl_mesh_key_other(tl_mesh_key key) { return (uint32_t)key >> 1; }
static inline bool tl_mesh_key_crosses(tl_mesh_key key) { return key & 1; }

/* One triangle of a body, and all of the other that are near it, ascending; keys NULL: they are not
 * known, the tree is asked. */
typedef struct tl_mesh_run {
  bool is_a;
  uint32_t triangle;
  const tl_mesh_key *keys;
  size_t count;
} tl_mesh_run;

/* Adds the points of the features that the triangle is the first of. Whether something is so deep
 * that the vertices must be looked at again. */
bool tl_mesh_pair_meet(const tl_mesh_pair *pair, const tl_mesh_run *run, tl_mesh_points *points);

/* Triangles of the other body that go through one, ascending, by the tree. */
typedef void tl_mesh_crossing_fn(void *context, uint32_t triangle, uint32_t other);
void tl_mesh_pair_crossings(const tl_mesh_pair *pair, bool is_a, uint32_t triangle,
                            tl_mesh_crossing_fn *visit, void *context);

/* Adds what is deep of the vertices that the triangle is the first of. */
void tl_mesh_pair_meet_deep(const tl_mesh_pair *pair, bool is_a, uint32_t triangle,
                            tl_mesh_points *points);

/* The point of two triangles at most margin and rounding apart (narrow.fusion: thesis). */
void tl_mesh_pair_meet_near(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                            tl_mesh_points *points);

#endif
