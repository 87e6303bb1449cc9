/* Ride: where contacts are between two searches.
 *
 * Contacts are found at the start of a step. When bodies have moved, each contact follows its two
 * surface points, which ride on their bodies: its gap is the distance between them along the old
 * normal, and its point is between them. Exact: both bodies get one impulse at one point, so
 * momentum and angular momentum are conserved. Approximate: the normal, and which points of the
 * surfaces are nearest; the next search corrects both.
 *
 * A point fixed to a round body would leave the other surface as the body rolls, and the body would
 * sink by its radius times (1 - cos of the angle). So the surface point of a round body is not
 * fixed to it: it stays on the normal at the end of the radius (spheres, parts of clumps, capsules,
 * ellipsoids), and does not turn about an axis of symmetry (cylinders, cones). Two spheres get
 * their exact normal. */
#ifndef TL_CONTACT_RIDE_H
#define TL_CONTACT_RIDE_H

#include "contact/contact.h"

/* A contact when it was found. */
typedef struct tl_found {
  talus_dvec3 point;
  talus_vec3 normal;
  talus_real gap;
} tl_found;

/* Rotation of the principal frame, and displacement, since contacts were found. Four numbers each,
 * for loads in lanes (solve/ccp/refresh_lanes.h). */
typedef struct tl_ridden {
  talus_quat turn;
  talus_dvec3 way; /* m: of the centre of mass, not wrapped */
  double unused;
  talus_dvec3 from; /* m: where it was, */
  double unused_too;
  talus_dvec3 to; /* and is */
  double unused_as_well;
} tl_ridden;

typedef struct tl_ride {
  const tl_crowd *crowd; /* of the whole step */
  tl_contacts *contacts;
  tl_found *found;       /* by contact */
  talus_dvec3 *position; /* by slot, when contacts were found */
  talus_quat *rotation;
  tl_ridden *ridden;   /* by slot, as of the last tl_ride_bodies */
  const tl_state *now; /* which it was of */
  bool is_behind;      /* contacts have yet to follow */
} tl_ride;

/* Stores places of contacts and bodies of crowd->in; scratch is taken from the arena. */
talus_status tl_ride_begin(tl_ride *ride, const tl_crowd *crowd, tl_contacts *contacts);

/* Moves points, gaps (and normals of two spheres) to the present poses. */
void tl_ride_to(tl_ride *ride, const tl_state *now);

/* The same in two parts: tl_ride_bodies for the bodies, then tl_ride_settle for all contacts,
 * unless it has been done (ride may be NULL), or tl_ride_one for one. A solver that moves its rows
 * by itself leaves out the second part. */
void tl_ride_bodies(tl_ride *ride, const tl_state *now);
void tl_ride_settle(tl_ride *ride);
void tl_ride_one(const tl_ride *ride, size_t contact);

/* Whether surface points of this body turn with it, whatever its normal and axis. */
bool tl_ride_is_rigid(const tl_model *model, uint32_t slot);

/* Moves them back to where they were found, for the result of the step. */
void tl_ride_back(const tl_ride *ride);

#endif
