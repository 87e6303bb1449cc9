/* Two meshes (private to src/narrow): shared by the search over trees and the one over lists of
 * near triangles, so that both find the same points, bit for bit.
 *
 * Points are found triangle by triangle, ascending: first those of a (its vertices, and its edges
 * against those of b), then the vertices of b. A block is TL_MESH_BLOCK triangles; if it has many
 * points they are reduced block by block, so that different threads may search blocks. */
#ifndef TL_NARROW_MESH_PAIR_H
#define TL_NARROW_MESH_PAIR_H

#include "kernels/triangle.h"
#include "narrow/mesh.h"
#include "narrow/mesh_points.h"

#define TL_MESH_BLOCK 512u /* triangles */

/* From the frame of one mesh to that of the other, with scale: m x + offset. */
typedef struct tl_mesh_move {
  double m[3][3];
  double offset[3];
} tl_mesh_move;

typedef struct tl_mesh_pair {
  tl_mesh_posed a, b;
  tl_mesh_move a_to_b, b_to_a;
  double margin, rounding; /* m, of both */
  double radius;           /* m, of the smaller */
  /* m: distance from a surface, on either side, within which features are searched */
  double reach;
  double shallow;  /* m: a vertex farther behind a surface is deep */
  double longest;  /* m: longest side of a triangle of either mesh */
  double deepest;  /* m: depth up to which vertices are searched if something is deep */
  bool thesis;     /* contacts of triangles instead of features (narrow.fusion) */
  bool whole;      /* no point is dropped (narrow/mesh_points.h) */
  bool is_first;   /* search: what is missed is searched again */
  bool is_tank[2]; /* a, b: a container, with bodies inside (sides: in) */
} tl_mesh_pair;

/* Most pairs are apart, or barely touch: `first` searches only near the surface. If that is not
 * sufficient (tl_mesh_pair_is_enough), the pair is searched again. */
tl_mesh_pair tl_mesh_pair_make(const tl_posed *a, const tl_posed *b, talus_real margin, bool first);

/* True if a first search was sufficient. crosses: triangles of both meshes cross; deep: something
 * may be farther behind a surface than the search depth. */
static inline bool tl_mesh_pair_is_enough(const tl_mesh_pair *pair, bool crosses, bool deep) {
  return pair->thesis || (!deep && (!crosses || (!pair->a.f->two_sided && !pair->b.f->two_sided)));
}

/* True if one body is inside the matter of the other as a whole, with no surface near: then nothing
 * crosses, and no feature shows it. Call if no point was found. */
bool tl_mesh_pair_is_buried(const tl_mesh_pair *pair);

static inline double tl_mesh_moved(const tl_mesh_move *move, int axis, talus_dvec3 x) {
  return move->m[axis][0] * x.x + move->m[axis][1] * x.y + move->m[axis][2] * x.z +
         move->offset[axis];
}

/* The box of child k of a node in the frame of the other body, grown by `more`. */
tl_tree_box tl_mesh_moved_box(const tl_mesh_move *move, const tl_tree_node *node, uint32_t k,
                              double more);

/* Empties the set; the distance of points that count as copies follows from the pair. */
void tl_mesh_points_start(tl_mesh_points *points, const tl_mesh_pair *pair);

/* A triangle of a, and one of b, both in the frame of b. */
tl_triangle_corners tl_mesh_pair_first(const tl_mesh_pair *pair, uint32_t triangle);
tl_triangle_corners tl_mesh_pair_second(const tl_mesh_pair *pair, uint32_t triangle);

/* Distance of triangles, in the frame of b, within which they are tested: the reach plus rounding
 * errors. */
static inline double tl_mesh_pair_reach(const tl_mesh_pair *pair) {
  return (pair->reach * (1 + 1e-6) + 1e-9 * pair->radius) / pair->b.scale;
}

/* ---- near triangles -------------------------------------------------------------------------- */

/* Two triangles within the reach: own << 32 | other << 1 | whether they cross. */
typedef uint64_t tl_mesh_key;

static inline tl_mesh_key tl_mesh_key_make(uint32_t own, uint32_t other, bool crosses) {
  return (uint64_t)own << 32 | (uint64_t)other << 1 | crosses;
}
static inline uint32_t tl_mesh_key_own(tl_mesh_key key) { return (uint32_t)(key >> 32); }
static inline uint32_t tl_mesh_key_other(tl_mesh_key key) { return (uint32_t)key >> 1; }
static inline bool tl_mesh_key_crosses(tl_mesh_key key) { return key & 1; }

/* One triangle of a body and all triangles of the other near it, ascending. keys NULL: the list is
 * not known, and the tree is searched. */
typedef struct tl_mesh_run {
  bool is_a;
  uint32_t triangle;
  const tl_mesh_key *keys;
  size_t count;
} tl_mesh_run;

/* Adds the points of the features that list this triangle first. True if something is so deep that
 * vertices must be searched again. */
bool tl_mesh_pair_meet(const tl_mesh_pair *pair, const tl_mesh_run *run, tl_mesh_points *points);

/* Called for the triangles of the other body that cross one, ascending, by the tree. */
typedef void tl_mesh_crossing_fn(void *context, uint32_t triangle, uint32_t other);
void tl_mesh_pair_crossings(const tl_mesh_pair *pair, bool is_a, uint32_t triangle,
                            tl_mesh_crossing_fn *visit, void *context);

/* Adds the deep ones among the vertices that list this triangle first. */
void tl_mesh_pair_meet_deep(const tl_mesh_pair *pair, bool is_a, uint32_t triangle,
                            tl_mesh_points *points);

/* Adds the point of two triangles that are at most margin plus rounding apart (narrow.fusion:
 * thesis). */
void tl_mesh_pair_meet_near(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                            tl_mesh_points *points);

#endif
