/* Filling a region: what the two ways of placing share. Private to this folder.
 *
 *   random   trial and error, then a scan of a fine lattice for remaining holes; fills
 *            up to about 0.35 of the volume with equal spheres, like any random sequential
 *            addition
 *   lattice  sites of a close packing stretched to the region, each body displaced at random within
 *            its own cell; fills more than random places can */
#ifndef TL_FLOW_FILL_H
#define TL_FLOW_FILL_H

#include "flow/place.h"

typedef struct tl_fill {
  const tl_model *model;
  const tl_state *state;
  const talus_fill_def *def;
  bool spans[3];                /* axes along which the region meets its own periodic image */
  TL_ARRAY(double) scales;      /* by serial */
  TL_ARRAY(uint32_t) order;     /* serials, largest first */
  TL_ARRAY(uint32_t) unbounded; /* slots of bodies without a bounding sphere */
  tl_grid grid;
  /* number of spheres in the grid that are bodies of the world; they come first */
  size_t obstacles;
  tl_arena arena;
} tl_fill;

/* A trial of body `serial` without a place; *rotation: of the shape's own frame. */
tl_trial tl_fill_trial(const tl_fill *fill, uint32_t serial, talus_quat *rotation);

/* True if no body, old or new, overlaps the trial. */
bool tl_fill_is_free(const tl_fill *fill, const tl_trial *trial);

/* Places the body of the trial. There must be room in *placements. */
void tl_fill_accept(tl_fill *fill, const tl_trial *trial, talus_quat rotation,
                    tl_placements *placements);

/* Most sites that a scan visits: enough for the holes between many bodies, few enough that an
 * impossible fill fails within seconds. */
uint64_t tl_fill_most_sites(const tl_fill *fill);

/* Places as many bodies as it can; the grid must hold only the obstacles. */
talus_status tl_fill_random(tl_fill *fill, tl_placements *placements);
talus_status tl_fill_lattice(tl_fill *fill, tl_placements *placements);

#endif
