/* Ride: where contacts are between two looks for them.
 *
 * Contacts are found at the start of a step. When bodies have moved, each contact is where its two
 * surface points have come to: they ride on their bodies, its gap is the way between them along the
 * normal that was found, and its point is between them. What is exact: both bodies get one impulse
 * at one point, so momentum and angular momentum are kept as ever. What lags: the normal, and which
 * points of the surfaces are the nearest; the next look sees what came of it.
 *
 * A point that rides on something round would leave the other surface as it rolls, and the body
 * would sink by its radius times 1 - cos of the turn. So the surface point of what is round is not
 * glued to it: it stays where the normal says, at the end of the radius (spheres, the parts of a
 * clump, capsules, ellipsoids), and turns about no axis of symmetry (cylinders, cones). Two spheres
 * have their exact normal. */
#ifndef TL_CONTACT_RIDE_H
#define TL_CONTACT_RIDE_H

#include "contact/contact.h"

/* A contact as it was found. */
typedef struct tl_found {
  talus_dvec3 point;
  talus_vec3 normal;
  talus_real gap;
} tl_found;

/* How the principal frame has turned, and how far it has gone, since contacts were found. In fours
 * of numbers, which lanes load (solve/ccp/refresh_lanes.h). */
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

/* Notes where contacts and bodies of crowd->in are; scratch is the arena's. */
talus_status tl_ride_begin(tl_ride *ride, const tl_crowd *crowd, tl_contacts *contacts);

/* Takes points, gaps (and normals of two spheres) to where bodies are now. */
void tl_ride_to(tl_ride *ride, const tl_state *now);

/* The same in two parts: first for each body, and what is left for contacts, all of them (if that
 * is not done yet; ride may be NULL) or one. A solver whose rows ride by themselves leaves the
 * second out. */
void tl_ride_bodies(tl_ride *ride, const tl_state *now);
void tl_ride_settle(tl_ride *ride);
void tl_ride_one(const tl_ride *ride, size_t contact);

/* Whether surface points of this body turn with it, whatever its normal and axis. */
bool tl_ride_is_rigid(const tl_model *model, uint32_t slot);

/* Takes them back to where they were found, which is what the step hands over. */
void tl_ride_back(const tl_ride *ride);

#endif
