/* Kernels: convex bodies as support maps.
 *
 * A convex body is a CORE plus a rounding radius: a sphere is a point and a radius, a capsule a
 * segment and a radius, all others have radius 0. Everything the solvers of convex_solve.h need of
 * a core is its support map: the farthest point in a direction. What a manifold needs is the patch
 * of surface that looks in a direction (patch.h). What makes answers exact is knowing where the
 * support map jumps: across the normal of a face it jumps over the face, across the directions at
 * right angles to an edge over the edge (tl_kinks). */
#ifndef TL_KERNELS_CONVEX_H
#define TL_KERNELS_CONVEX_H

#include "kernels/superellipsoid.h"

typedef enum tl_core {
  TL_CORE_POINT,
  TL_CORE_SEGMENT, /* along z: half length */
  TL_CORE_BOX,     /* half edges */
  TL_CORE_ELLIPSOID,
  TL_CORE_CYLINDER, /* radius, half length, along z */
  TL_CORE_CONE,     /* radius, length, along z; base at -length/4, apex at 3/4: from the centroid */
  TL_CORE_SUPERELLIPSOID, /* half axes, n1, n2 */
  TL_CORE_HULL
} tl_core;

typedef struct tl_convex {
  tl_core core;
  double size[5];  /* as above, m, in the world's scale */
  double rounding; /* m */
  double reach;    /* radius of a ball about the position that holds the body */
  talus_dvec3 position;
  tl_frame frame;
  /* Hull: lengths at scale 1 (see tl_shape). */
  double scale;
  const double *points, *face_plane;
  const uint32_t *face_start, *face_vertex, *vertex_start, *neighbour, *vertex_face;
  uint32_t point_count;
  /* 1 + the vertex at which the search for the farthest one begins; 0: see tl_hull_farthest. */
  uint32_t aim;
  talus_dvec3
      aim_at; /* the direction, in the body's own axes, in which that vertex is the farthest */
} tl_convex;

/* A disc is a polygon of so many points on its rim; the manifold keeps four of them, at right
 * angles, and the deepest place of the rim itself where that is deeper. */
#define TL_DISC_POINTS 16
#define TL_COS_30      0.86602540378443865

/* Up to this many vertices, looking at all of them is faster than climbing. */
#define TL_HULL_SCAN 32

TL_FN double tl_hull_along(const double *points, uint32_t i, talus_dvec3 d) {
  const double *p = points + 3 * (size_t)i;
  return p[0] * d.x + p[1] * d.y + p[2] * d.z;
}

/* Hill climbing over edges: on a convex body a vertex none of whose neighbours is farther is the
 * farthest. Each move gains, so it ends. */
TL_BIG_FN uint32_t tl_hull_climb(const double *points, const uint32_t *vertex_start,
                                 const uint32_t *neighbour, talus_dvec3 d, uint32_t from) {
  uint32_t best = from;
  double most = tl_hull_along(points, from, d);
  for (bool climbing = true; climbing;) {
    climbing = false;
    const uint32_t end = vertex_start[best + 1];
    for (uint32_t k = vertex_start[best]; k < end; ++k) {
      const double along = tl_hull_along(points, neighbour[k], d);
      if (along > most)
        most = along, best = neighbour[k], climbing = true;
    }
  }
  return best;
}

/* The farthest vertex in the direction d. The search begins at the vertex that the body is aimed
 * at, or at the farthest of a few vertices that are the same for every direction, so the answer
 * does not depend on earlier calls. */
TL_BIG_FN uint32_t tl_hull_farthest(const tl_convex *c, talus_dvec3 d) {
  if (c->aim > 0 && d.x == c->aim_at.x && d.y == c->aim_at.y && d.z == c->aim_at.z)
    return c->aim - 1;
  if (c->aim > 0)
    return tl_hull_climb(c->points, c->vertex_start, c->neighbour, d, c->aim - 1);
  const uint32_t all = c->point_count, looks = all > TL_HULL_SCAN ? TL_HULL_SCAN / 4 : all;
  uint32_t best = 0;
  double most = -DBL_MAX;
  for (uint32_t k = 0; k < looks; ++k) {
    const uint32_t i = looks == all ? k : (uint32_t)((uint64_t)k * all / looks);
    const double along = tl_hull_along(c->points, i, d);
    if (along > most)
      most = along, best = i;
  }
  return looks < all ? tl_hull_climb(c->points, c->vertex_start, c->neighbour, d, best) : best;
}

/* Says that the next directions will be near d (world axes). */
TL_FN void tl_convex_aim(tl_convex *c, talus_dvec3 d) {
  if (c->core != TL_CORE_HULL)
    return;
  const talus_dvec3 at = tl_frame_to_local(&c->frame, d);
  c->aim = 1 + tl_hull_farthest(c, at), c->aim_at = at;
}

TL_FN talus_dvec3 tl_hull_vertex(const tl_convex *c, uint32_t i) {
  const double *p = c->points + 3 * (size_t)i;
  return tl_dvec3(c->scale * p[0], c->scale * p[1], c->scale * p[2]);
}

/* The farthest point of the core, in its own axes. d need not be of unit length. If several points
 * are farthest, it is one of them, always the same. */
TL_BIG_FN talus_dvec3 tl_core_support(const tl_convex *c, talus_dvec3 d) {
  const double *s = c->size;
  switch (c->core) {
  case TL_CORE_SEGMENT:
    return tl_dvec3(0, 0, d.z < 0 ? -s[0] : s[0]);
  case TL_CORE_BOX:
    return tl_dvec3(d.x < 0 ? -s[0] : s[0], d.y < 0 ? -s[1] : s[1], d.z < 0 ? -s[2] : s[2]);
  case TL_CORE_ELLIPSOID: {
    const talus_dvec3 e = tl_dvec3(s[0] * d.x, s[1] * d.y, s[2] * d.z);
    const double length = tl_dlength(e);
    if (!(length > 0))
      return tl_dvec3(0, 0, s[2]);
    return tl_dvec3(s[0] * e.x / length, s[1] * e.y / length, s[2] * e.z / length);
  }
  case TL_CORE_CYLINDER: {
    const double flat = sqrt(d.x * d.x + d.y * d.y), z = d.z < 0 ? -s[1] : s[1];
    return flat > 0 ? tl_dvec3(s[0] * d.x / flat, s[0] * d.y / flat, z) : tl_dvec3(s[0], 0, z);
  }
  case TL_CORE_CONE: {
    const double flat = sqrt(d.x * d.x + d.y * d.y);
    if (d.z * s[1] > flat * s[0])
      return tl_dvec3(0, 0, 0.75 * s[1]);
    return flat > 0 ? tl_dvec3(s[0] * d.x / flat, s[0] * d.y / flat, -0.25 * s[1])
                    : tl_dvec3(s[0], 0, -0.25 * s[1]);
  }
  case TL_CORE_SUPERELLIPSOID:
    return tl_superellipsoid_support(s, d);
  case TL_CORE_HULL:
    return tl_hull_vertex(c, tl_hull_farthest(c, d));
  default:
    return tl_dvec3(0, 0, 0);
  }
}

/* The same in world axes. */
TL_BIG_FN talus_dvec3 tl_convex_support(const tl_convex *c, talus_dvec3 d) {
  const talus_dvec3 local = tl_core_support(c, tl_frame_to_local(&c->frame, d));
  return tl_dadd(c->position, tl_frame_to_world(&c->frame, local));
}

/* ---- patches -------------------------------------------------------------------------------- */

TL_BIG_FN void tl_disc_patch(double radius, double z, tl_patch *patch) {
  /* Cosine and sine of 2 pi/16 k, as tl_cos_d and tl_sin_d have them. */
  const double rim[TL_DISC_POINTS][2] = {{0x1p+0, 0x0p+0},
                                         {0x1.d906bcf328d46p-1, 0x1.87de2a6aea963p-2},
                                         {0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bccp-1},
                                         {0x1.87de2a6aea964p-2, 0x1.d906bcf328d46p-1},
                                         {0x1.1a62633145c07p-54, 0x1p+0},
                                         {-0x1.87de2a6aea962p-2, 0x1.d906bcf328d46p-1},
                                         {-0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1},
                                         {-0x1.d906bcf328d46p-1, 0x1.87de2a6aea965p-2},
                                         {-0x1p+0, 0x1.1a62633145c07p-53},
                                         {-0x1.d906bcf328d47p-1, -0x1.87de2a6aea961p-2},
                                         {-0x1.6a09e667f3bcep-1, -0x1.6a09e667f3bccp-1},
                                         {-0x1.87de2a6aea96dp-2, -0x1.d906bcf328d44p-1},
                                         {-0x1.a79394c9e8a0ap-53, -0x1p+0},
                                         {0x1.87de2a6aea967p-2, -0x1.d906bcf328d45p-1},
                                         {0x1.6a09e667f3bcbp-1, -0x1.6a09e667f3bcep-1},
                                         {0x1.d906bcf328d44p-1, -0x1.87de2a6aea96ep-2}};
  patch->count = TL_DISC_POINTS;
  for (int k = 0; k < TL_DISC_POINTS; ++k)
    patch->vertex[k] = tl_dvec3(radius * rim[k][0], radius * rim[k][1], z);
}

TL_BIG_FN void tl_cylinder_patch(const double *s, talus_dvec3 d, tl_patch *patch) {
  if (fabs(d.z) > TL_COS_30) {
    patch->number = d.z < 0 ? 1 : 2;
    tl_disc_patch(s[0], d.z < 0 ? -s[1] : s[1], patch);
    return;
  }
  const double flat = sqrt(d.x * d.x + d.y * d.y);
  const double x = s[0] * d.x / flat, y = s[0] * d.y / flat;
  if (fabs(d.z) < 0.5) {
    tl_segment_patch(tl_dvec3(x, y, -s[1]), tl_dvec3(x, y, s[1]), s[0], patch);
    patch->tube = true;
  } else {
    patch->number = 3;
    patch->vertex[0] = tl_dvec3(x, y, d.z < 0 ? -s[1] : s[1]);
  }
}

TL_BIG_FN void tl_cone_patch(const double *s, talus_dvec3 d, tl_patch *patch) {
  const double flat = sqrt(d.x * d.x + d.y * d.y), slant = sqrt(s[0] * s[0] + s[1] * s[1]);
  if (d.z < -TL_COS_30) {
    patch->number = 1;
    tl_disc_patch(s[0], -0.25 * s[1], patch);
  } else if (flat > 0 && (flat * s[1] + d.z * s[0]) / slant > TL_COS_30) {
    tl_segment_patch(tl_dvec3(s[0] * d.x / flat, s[0] * d.y / flat, -0.25 * s[1]),
                     tl_dvec3(0, 0, 0.75 * s[1]), 0.5 * s[0], patch);
  } else {
    patch->number = 3;
  }
}

/* The face that looks along d most, of those at the vertex that is farthest along d. Returns false
 * if all of them are steeper than 84 degrees: a spike. */
TL_BIG_FN bool tl_hull_face(const tl_convex *c, talus_dvec3 d, uint32_t vertex, uint32_t *face) {
  double best = 0.1;
  bool found = false;
  for (uint32_t k = c->vertex_start[vertex]; k < c->vertex_start[vertex + 1]; ++k) {
    const double *n = c->face_plane + 4 * (size_t)c->vertex_face[k];
    const double along = n[0] * d.x + n[1] * d.y + n[2] * d.z;
    if (along > best * (1 + 1e-9))
      best = along, *face = c->vertex_face[k], found = true;
  }
  return found;
}

/* A face of more than TL_PATCH_MAX vertices becomes a patch of that many of them, spread evenly; a
 * spike becomes a patch of its vertex. */
TL_BIG_FN void tl_hull_patch(const tl_convex *c, talus_dvec3 d, tl_patch *patch) {
  const uint32_t vertex = tl_hull_farthest(c, d);
  uint32_t face;
  patch->vertex[0] = tl_hull_vertex(c, vertex);
  if (!tl_hull_face(c, d, vertex, &face))
    return;
  const uint32_t first = c->face_start[face], all = c->face_start[face + 1] - first;
  const uint32_t count = all < TL_PATCH_MAX ? all : TL_PATCH_MAX;
  patch->number = face + 1, patch->count = (int)count;
  for (uint32_t k = 0; k < count; ++k)
    patch->vertex[k] = tl_hull_vertex(c, c->face_vertex[first + k * all / count]);
}

/* The patch of the body that looks in the unit direction d (world axes). Thresholds are generous: a
 * patch seen at a slant does no harm, because its far places are farther than the margin. */
TL_BIG_FN void tl_convex_patch(const tl_convex *c, talus_dvec3 d, tl_patch *patch) {
  const talus_dvec3 local = tl_frame_to_local(&c->frame, d);
  patch->count = 1, patch->number = 0, patch->round = 0;
  patch->tube = patch->ball = false;
  if (c->core != TL_CORE_HULL)
    patch->vertex[0] = tl_core_support(c, local);
  switch (c->core) {
  case TL_CORE_SEGMENT:
    if (fabs(local.z) < 0.5) {
      tl_segment_patch(tl_dvec3(0, 0, -c->size[0]), tl_dvec3(0, 0, c->size[0]), c->rounding, patch);
      patch->tube = patch->ball = true;
    }
    break;
  case TL_CORE_BOX:
    tl_box_face_patch(c->size, local, patch);
    break;
  case TL_CORE_CYLINDER:
    tl_cylinder_patch(c->size, local, patch);
    break;
  case TL_CORE_CONE:
    tl_cone_patch(c->size, local, patch);
    break;
  case TL_CORE_SUPERELLIPSOID:
    tl_superellipsoid_patch(c->size, local, patch);
    break;
  case TL_CORE_HULL:
    tl_hull_patch(c, local, patch);
    break;
  default:
    break;
  }
  const talus_dvec3 shift = tl_dalong(c->position, c->rounding, d);
  for (int i = 0; i < patch->count; ++i)
    patch->vertex[i] = tl_dadd(shift, tl_frame_to_world(&c->frame, patch->vertex[i]));
}

/* ---- where the support map jumps ------------------------------------------------------------ */

#define TL_KINKS_MAX 4

/* Directions near a given one across which the support map jumps: over a face (the direction is
 * `normal`), or over an edge or a line of a ruled side (all directions with direction.axis =
 * level). World axes. */
typedef struct tl_kinks {
  bool has_face;
  talus_dvec3 normal;
  int circles;
  talus_dvec3 axis[TL_KINKS_MAX];
  double level[TL_KINKS_MAX];
} tl_kinks;

TL_FN void tl_kinks_add(tl_kinks *k, talus_dvec3 axis, double level) {
  if (k->circles < TL_KINKS_MAX) {
    k->axis[k->circles] = axis;
    k->level[k->circles++] = level;
  }
}

TL_BIG_FN void tl_hull_kinks(const tl_convex *c, talus_dvec3 d, double near, tl_kinks *k) {
  const uint32_t vertex = tl_hull_farthest(c, d);
  uint32_t face;
  if (tl_hull_face(c, d, vertex, &face)) {
    const double *n = c->face_plane + 4 * (size_t)face;
    k->normal = tl_dvec3(n[0], n[1], n[2]);
    k->has_face = tl_ddot(k->normal, d) > 1 - near;
  }
  for (uint32_t e = c->vertex_start[vertex]; e < c->vertex_start[vertex + 1]; ++e) {
    const uint32_t other = c->neighbour[e], low = other < vertex ? other : vertex;
    const uint32_t high = other < vertex ? vertex : other;
    const talus_dvec3 edge = tl_dsub(tl_hull_vertex(c, high), tl_hull_vertex(c, low));
    const double slope = tl_ddot(edge, d);
    if (slope * slope > 1.001 * near * near * tl_ddot(edge, edge))
      continue; /* most edges end here, without a root or a division */
    const talus_dvec3 along = tl_dunit(edge);
    if (fabs(tl_ddot(along, d)) < near)
      tl_kinks_add(k, along, 0);
  }
}

/* All kinks within about `near` rad of the direction. */
TL_BIG_FN tl_kinks tl_convex_kinks(const tl_convex *c, talus_dvec3 direction, double near) {
  const talus_dvec3 d = tl_frame_to_local(&c->frame, direction);
  const double along[3] = {d.x, d.y, d.z};
  tl_kinks k;
  k.has_face = false, k.circles = 0;
  k.normal = tl_dvec3(0, 0, d.z < 0 ? -1 : 1);
  switch (c->core) {
  case TL_CORE_SEGMENT:
    if (fabs(d.z) < near)
      tl_kinks_add(&k, tl_dvec3(0, 0, 1), 0);
    break;
  case TL_CORE_CYLINDER:
    k.has_face = fabs(d.z) > 1 - near;
    if (fabs(d.z) < near)
      tl_kinks_add(&k, tl_dvec3(0, 0, 1), 0);
    break;
  case TL_CORE_CONE: {
    const double level = c->size[0] / sqrt(c->size[0] * c->size[0] + c->size[1] * c->size[1]);
    k.has_face = d.z < near - 1;
    if (fabs(d.z - level) < near)
      tl_kinks_add(&k, tl_dvec3(0, 0, 1), level);
    break;
  }
  case TL_CORE_BOX:
    for (int i = 0; i < 3; ++i) {
      const talus_dvec3 axis = tl_dvec3(i == 0, i == 1, i == 2);
      if (fabs(along[i]) < near)
        tl_kinks_add(&k, axis, 0);
      if (fabs(along[i]) > 1 - near)
        k.has_face = true, k.normal = tl_dscale(axis, along[i] < 0 ? -1 : 1);
    }
    break;
  case TL_CORE_HULL:
    tl_hull_kinks(c, d, near, &k);
    break;
  default:
    break;
  }
  k.normal = tl_frame_to_world(&c->frame, k.normal);
  for (int i = 0; i < k.circles; ++i)
    k.axis[i] = tl_frame_to_world(&c->frame, k.axis[i]);
  return k;
}

#endif
