/* Flights: the straight ways, or parabolas, of hard spheres from one impact to the next within a
 * step, for those who average over time and not over ends of steps. */
#ifndef TL_FLIGHTS_H
#define TL_FLIGHTS_H

#include "crowd/model.h"

/* One that has ended in an impact. */
typedef struct tl_flight {
  talus_dvec3 middle; /* where it was in the middle of its time */
  talus_dvec3 velocity;
  double span; /* s */
  uint32_t slot;
} tl_flight;

typedef struct tl_flights {
  TL_ARRAY(tl_flight) rows; /* in the order of impacts */
  TL_ARRAY(double) since;   /* by slot, s since the step began: when the last one began */
} tl_flights;

/* The flight of so long that ends at x with velocity v. */
static inline tl_flight tl_flight_of(talus_dvec3 x, talus_dvec3 v, talus_dvec3 fall, double span,
                                     uint32_t slot) {
  const talus_dvec3 back =
      tl_dsub(tl_dscale(v, -0.5 * span), tl_dscale(fall, -0.125 * span * span));
  return (tl_flight){tl_dadd(x, back), tl_dsub(v, tl_dscale(fall, 0.5 * span)), span, slot};
}

#endif
