/* How much of a body lies in a region. */
#ifndef TL_FLOW_SHARE_H
#define TL_FLOW_SHARE_H

#include "flow/flow.h"

/* Places within shapes that have no formula, in their principal frames at scale 1, each for an
 * equal part of the volume; found when they are first asked for. Kinds that are one shape stretched
 * along its axes share those of that one: a table may have as many ellipsoids as rows. */
typedef struct tl_samples {
  TL_ARRAY(double) places;  /* x, y, z of each; as many for every row */
  TL_ARRAY(uint32_t) count; /* row: how many of them there are; TL_NONE: not found yet */
  TL_ARRAY(uint32_t) row;   /* shape: its row */
} tl_samples;

/* Room for the shapes that are new since the last call: before a step, in which nothing allocates.
 */
talus_status tl_samples_reserve(tl_samples *samples, const tl_model *model);
/* Each is to be multiplied with `stretch`, axis by axis. */
const double *tl_samples_of(tl_samples *samples, const tl_model *model, uint32_t shape,
                            size_t *count, double stretch[3]);
void tl_samples_free(tl_samples *samples);

/* The part of a ball that is in a region, 0 ... 1. */
double tl_share_ball(const talus_region *region, talus_dvec3 centre, double radius);

/* The part of a body's volume that is in a region, seen through periodic images too. Balls in every
 * region, and boxes and hulls of up to TL_SHARE_PLANES faces in a box, are exact to 1e-6; of others
 * it is the part of their samples. */
#define TL_SHARE_PLANES 90
double tl_share_body(tl_samples *samples, const tl_model *model, const talus_region *region,
                     uint32_t slot, talus_dvec3 position, talus_quat rotation);

#endif
