/* Reach: which contacts can matter within the step.
 *
 * Boxes and margins are generous: they follow from each body's own speed, so that nothing is missed
 * in any frame of reference. The contacts that the solver gets must not depend on the frame. So,
 * when contacts have been found, each is judged by the relative motion of its two points:
 *
 *   gap <= h (s_a + s_b - u_n) + slack
 *
 * u_n is the speed at which the points would separate with loads alone (negative: they approach),
 * s_a and s_b bound the speeds with which other bodies can push the two towards each other within
 * the step, and the slack covers loads and the curvature of paths by rotation. All quantities are
 * relative.
 *
 * Pushes (push.c). A contact that would close within the step by loads alone pushes both its bodies
 * apart, and a pushed body pushes others in its way within the same step. For each body three
 * bounds are kept: how fast it may be pushed towards either side of the three axes (a box of
 * velocities: exact for one push, the box around them for several); how fast in any direction by
 * rotation and friction; and with which energy E: no point of response k (1/kg, rotation included)
 * gets faster than sqrt(2 E k), which keeps pushes from growing. A contact that closes at speed c
 * over a gap g gives b at most
 *
 *   (c - g/h) M_a k_b / (1 + M_a k_b)     to stop, and
 *   (1 + e) c k_b / (k_a + k_b)           to bounce.
 *
 * M_a is the effective mass of a at the contact, 1/k_a. For pushes along a line it is the mass of
 * all bodies that move along: a line of n equal bodies that do not bounce has 1/n of the speed at
 * its end, a wall pushes a line at its own speed, and a body that is pushed back against another
 * one counts as a wall. Around corners pushes are halved at every body, so in a heap they stay
 * local. Without bounces no body gets faster than the fastest that pushes it, with bounces (1 + e)
 * times that relative speed. Every gap takes its share of the step, so that pushes end where the
 * gaps add up to the remaining distance. Stops and bounces are kept separately, because otherwise a
 * light body that has bounced off would push a heavy one at its own speed. The largest of all
 * pushes counts. All of this runs in the order of the contacts, on one thread.
 *
 * If very many bodies push each other the search is not worthwhile: visits of contacts are counted,
 * and beyond a limit contacts are kept up to the relative speed of the two bodies in any direction.
 *
 * In a heap at rest each contact costs one comparison of margins: only contacts that close faster
 * than a few times |gravity| h push. */
#ifndef TL_CONTACT_REACH_H
#define TL_CONTACT_REACH_H

#include "contact/contact.h"

/* Bounds of how fast a body may be pushed, in addition to its own motion. */
typedef struct tl_sway {
  talus_real out[6]; /* m/s: towards +x, +y, +z, -x, -y, -z */
  talus_real round;  /* m/s: any of its points, in any direction */
  talus_real energy; /* J */
} tl_sway;

typedef struct tl_push {
  tl_sway all, plain; /* with and without bounces */
  talus_vec3 lo, hi;  /* m/s: bounding box of the velocities of all pushing bodies */
  talus_real source;  /* m/s: rest of the first speed after the gaps on the way */
  talus_real bounce;  /* m/s: speed that it bounced off at, at most */
  talus_vec3 line;    /* unit: direction of the fastest stop; 0: none */
  talus_real speed;   /* m/s: its speed */
  talus_real mass;    /* kg: mass that moves with it along that direction; a wall has TL_REAL_MAX */
  talus_vec3 held;    /* unit: direction in which it pushes with another body behind it; 0: none */
} tl_push;

/* The velocity of a body at the end of the step if nothing touches it; for a kinematic body that of
 * its displacement. */
typedef struct tl_drift {
  talus_vec3 velocity, spin; /* m/s, rad/s */
  /* m: distance by which rotation takes its farthest point off a straight line; 0 if spin does not
   * move points along the normal of a contact */
  talus_real bend;
} tl_drift;

typedef struct tl_reach {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_real *margins; /* by slot */
  talus_real h;              /* s */
  talus_real slow;           /* m/s: contacts that close more slowly push no body */
  talus_real slack;          /* m: change of a pair's gap by gravity */
  tl_drift *drifts;          /* by slot */
  uint8_t *is_jointed;       /* by slot; NULL: there are no joints */
  uint8_t *verdicts;         /* by contact: TL_REACH_... */
  size_t verdict_room;
  uint8_t *is_pushed; /* by slot; NULL: no body is */
  uint32_t *row;      /* by slot of pushed bodies: row of `pushes` */
  tl_push *pushes;
  uint32_t *slots; /* by row of `pushes` */
  size_t push_count;
  size_t push_room; /* capacity of `pushes` */
  size_t visits;    /* of contacts that remain for this step */
  bool is_spent;    /* visits are used up: contacts are judged by speeds alone */
} tl_reach;

/* True if contacts are judged: not with springs, which need present overlaps only, nor if the scene
 * sets the distance up to which contacts are searched. */
bool tl_reach_is_on(const tl_model *model);

/* Speed of closing (m/s) below which contacts push no body; change of a pair's gap by gravity
 * (m). */
talus_real tl_reach_slow(const tl_model *model, double dt);
talus_real tl_reach_slack(const tl_model *model, double dt);

/* True if so many contacts strike that the visits would be used up before all are passed on. */
bool tl_reach_is_crowd(size_t strikes, size_t contacts);

/* Part of a margin (m) in addition to the body's displacement, so that contacts within the slack
 * are found as well. */
talus_real tl_reach_spare(const tl_model *model, double dt, uint32_t slot, talus_vec3 spin);

/* The relative motion at a contact. */
typedef struct tl_meeting {
  talus_vec3 arm_a, arm_b;
  talus_vec3 at_a, at_b; /* m/s: velocities of the points with loads alone */
  talus_vec3 velocity;   /* m/s: of b relative to a */
  talus_real speed;      /* m/s: its part along the normal: rate of the gap */
} tl_meeting;

tl_meeting tl_reach_meet(const tl_reach *reach, const tl_contact *c);

/* Begins the judgement of a set. margins: by slot. Scratch is taken from the arena. */
talus_status tl_reach_begin(const tl_crowd *crowd, const talus_real *margins, tl_reach *reach);

/* Judges all contacts of the set, and finds which bodies are pushed. May be called again after
 * contacts were added: pushes are kept. */
talus_status tl_reach_judge(tl_reach *reach, const tl_contacts *contacts);

/* True if the motion of its bodies, or pushes, may close the contact. */
bool tl_reach_holds(const tl_reach *reach, const tl_contact *c);

/* Removes the contacts that cannot matter, with all their data. */
void tl_reach_sift(tl_reach *reach, tl_contacts *contacts);

/* ---- pushes ---------------------------------------------------------------------------------- */

enum { TL_REACH_FAR, TL_REACH_NEAR, TL_REACH_STRIKES }; /* verdicts */

/* Bound of the speed with which the point of a body at this arm, which has this velocity, may be
 * pushed along the unit vector n; 0 if the body is not pushed. */
talus_real tl_push_along(const tl_reach *reach, uint32_t slot, talus_vec3 arm, talus_vec3 velocity,
                         talus_vec3 n);

/* Bound of the speed (m/s) with which any of its points is pushed. */
talus_real tl_push_most(const tl_push *push);

/* Values of is_pushed for pushed bodies: nothing new; or (set by code that added contacts) to be
 * passed on. */
enum { TL_PUSH_QUIET = 1, TL_PUSH_NEWS };

/* Passes pushes on: first from contacts that strike, later from bodies whose push changed. */
talus_status tl_push_spread(tl_reach *reach, const tl_contacts *contacts);

#endif
