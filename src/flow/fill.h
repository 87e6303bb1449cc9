/* Filling a region: what the two ways of placing share. Private to this folder.
 *
 *   random   trial and error, then a scan of a fine lattice for the holes that are left; fills
 *            up to about 0.35 of the volume with equal spheres, like any random sequential
 *            addition
 *   lattice  sites of a close packing stretched to the region, each body shaken within its own
 *            cell; fills more than random places can
 */
#ifndef TL_FLOW_FILL_H
#define TL_FLOW_FILL_H

#include "flow/place.h"

typedef struct tl_fill {
  const tl_model *model;
  const tl_state *state;
  const talus_fill_def *def;
  bool spans[3];                /* axes along which the region joins its periodic image */
  TL_ARRAY(double) scales;      /* by serial */
  TL_ARRAY(uint32_t) order;     /* serials, largest first */
  TL_ARRAY(uint32_t) unbounded; /* slots of bodies without a bounding sphere */
  tl_grid grid;
  size_t obstacles; /* the first spheres of the grid: bodies of the world */
  tl_arena arena;
} tl_fill;

/* The body `serial` without a place; *rotation is that of the shape's own frame. */
tl_trial tl_fill_trial(const tl_fill *fill, uint32_t serial, talus_quat *rotation);

/* Whether nothing, old or new, is in the trial's way. */
bool tl_fill_is_free(const tl_fill *fill, const tl_trial *trial);

/* Puts the trial where it is. There must be room in *placements. */
void tl_fill_accept(tl_fill *fill, const tl_trial *trial, talus_quat rotation,
                    tl_placements *placements);

/* Sites worth asking: enough for the holes between many bodies, few enough that a hopeless fill
 * says so in seconds. */
uint64_t tl_fill_most_sites(const tl_fill *fill);

/* Places as many bodies as it can, beginning with a grid that holds the obstacles alone. */
talus_status tl_fill_random(tl_fill *fill, tl_placements *placements);
talus_status tl_fill_lattice(tl_fill *fill, tl_placements *placements);

#endif
