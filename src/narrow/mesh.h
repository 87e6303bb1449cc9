/* Meshes in the narrow phase (docs/theory/meshes.md).
 *
 * Contacts with a mesh are the local minima of the distance: of a facet, an edge or a vertex whose
 * normal cone contains the direction to the other body. Edges within a facet do not count, and
 * concave edges and vertices have no such directions, so the triangulation of a flat floor does not
 * affect a body that slides over it. The feature on the mesh is that of shape/facets.h. */
#ifndef TL_NARROW_MESH_H
#define TL_NARROW_MESH_H

#include "kernels/convex.h"
#include "narrow/narrow.h"
#include "shape/facets.h"

/* A posed mesh. Lengths in its own frame are at scale 1. */
typedef struct tl_mesh_posed {
  const tl_facets *f;
  double scale;
  talus_dvec3 position;
  tl_frame frame;
  bool flat; /* searched without the tree */
} tl_mesh_posed;

tl_mesh_posed tl_mesh_pose(const tl_posed *p);

static inline talus_dvec3 tl_mesh_to_local(const tl_mesh_posed *m, talus_dvec3 place) {
  return tl_dscale(tl_frame_to_local(&m->frame, tl_dsub(place, m->position)), 1 / m->scale);
}

static inline talus_dvec3 tl_mesh_to_world(const tl_mesh_posed *m, talus_dvec3 local) {
  return tl_dadd(m->position, tl_frame_to_world(&m->frame, tl_dscale(local, m->scale)));
}

/* ---- a point against a mesh ------------------------------------------------------------------ */

/* A local minimum of the distance from a point, in the mesh's own frame. */
typedef struct tl_near {
  uint32_t feature;
  bool inside;        /* the point is behind the surface; never for a mesh with two sides */
  double distance;    /* >= 0 */
  talus_dvec3 at;     /* m, on the surface */
  talus_dvec3 normal; /* unit, outwards: to the point, or away from it if it is inside */
} tl_near;

#define TL_NEAR_MOST 24

/* Local minima within `reach`, ascending by feature. For a point behind the surface only the
 * nearest one, the shortest way out. If there are more than TL_NEAR_MOST, the nearest. */
int tl_mesh_near(const tl_mesh_posed *m, talus_dvec3 local, double reach,
                 tl_near out[TL_NEAR_MOST]);

/* The same for a list of triangles, which must contain all within reach (keys of
 * narrow/mesh_pair.h, ascending). */
int tl_mesh_near_of(const tl_mesh_posed *m, talus_dvec3 local, double reach, const uint64_t *keys,
                    size_t count, tl_near out[TL_NEAR_MOST]);

/* Facets of a surface with an inside that a point is behind, or on, by at most `reach`, and that
 * the straight way along their normal leads to, ascending by key; the first TL_NEAR_MOST of them.
 * keys as above; NULL: by the tree. */
int tl_mesh_exits(const tl_mesh_posed *m, talus_dvec3 local, double reach, const uint64_t *keys,
                  size_t count, tl_near out[TL_NEAR_MOST]);

/* 1 if the point is behind the surface, with the nearest minimum within `reach`; else 0. */
int tl_mesh_deep(const tl_mesh_posed *m, talus_dvec3 local, double reach, tl_near *out);

/* How far the surface is from a place within, along a unit direction: the nearest triangle there
 * that faces the direction; `most` if none is nearer. */
double tl_mesh_exit(const tl_mesh_posed *m, talus_dvec3 local, talus_dvec3 along, double most);

/* True if the straight line between two points crosses the surface; coordinates are relative to the
 * first body's centre. */
bool tl_mesh_goes_through(const tl_mesh_posed *m, talus_dvec3 from, talus_dvec3 to);

/* Of a convex body that triangles of a sheet go through: the shortest way out along the normal of
 * one of them. */
bool tl_mesh_way_out(const tl_posed *a, const tl_posed *b, tl_point *out);

/* ---- entries of the table -------------------------------------------------------------------- */

tl_narrow_fn tl_mesh_sphere, tl_mesh_convex, tl_mesh_plane, tl_mesh_container, tl_mesh_mesh;

#endif
