/* The rows of a world that a device holds: shared by the files of this folder. */
#ifndef TL_STEP_DEVICE_HOLD_H
#define TL_STEP_DEVICE_HOLD_H

#include "backend/shapes.h"
#include "backend/thread/guides.h"
#include "backend/thread/impacts.h"
#include "crowd/contacts.h"
#include "crowd/crowd.h"
#include "crowd/residency.h"
#include "solve/ccp/iteration.h"
#include "step/device/device_step.h"

/* Fields of bodies that are copied in both directions. */
#define TL_HELD_STATE (TL_THE_POSE | TL_THE_MOTION)

typedef struct tl_held_state {
  tl_device_block position, rotation, velocity, spin;
} tl_held_state;

typedef struct tl_held_contacts {
  tl_device_block contacts, impulses;
  tl_device_block hits, given; /* by impacts, where some were */
  bool are_hit;
  size_t count;
} tl_held_contacts;

/* Blocks of impacts.c. */
typedef struct tl_held_impacts {
  tl_device_block struck, thrown, owner, is_hit;               /* by body */
  tl_device_block time, slack, gaps, parent, next, head, rows; /* by contact */
} tl_held_impacts;

/* Blocks of gradient.c: of each guess (solve/ccp/iteration.h) impulses by row, and velocities. */
typedef struct tl_held_gradient {
  tl_device_block field[TL_GUESSES], bodies[TL_GUESSES];
  tl_device_block identity, first, last, free, numbers, words;
} tl_held_gradient;

/* Results of threads that the host reads. */
typedef struct tl_held_words {
  double depths[3];
  uint32_t passings, unused;
  double drift;   /* m: way of any wall */
  double fastest; /* m/s: approach of two bodies */
  double swift;   /* m/s: of a body */
  uint64_t worst;
  uint32_t culprits[TL_WRONGS];
  uint32_t left, aim, waiting;
  double peaks[TL_CCP_SUMS]; /* of numbers that are tallied */
  double most;               /* m/s: residual */
} tl_held_words;

typedef struct tl_held {
  tl_device *device;
  tl_residency *where;
  /* Destination of rows that come home. */
  tl_state *home;
  tl_contacts *contacts;
  double dt; /* s: of the last step */
  tl_par par;

  size_t bodies, guides, walls;
  bool are_walls_laid, has_guided_walls;
  TL_ARRAY(uint32_t) plane_slots;
  bool has_guided_planes;
  bool has_tensors, is_radial; /* is_radial: every free body is a ball, no wall turns */
  talus_real ncp, slop, recovery_speed, bounce_speed; /* solve/system */
  bool bounces, all_bounce;                           /* some pair of materials does; every one */

  tl_device_spheres near;
  tl_device_shapes shapes;
  tl_held_state state[2]; /* at the end of the last step; and for the next one */
  int now;
  tl_held_contacts before, after;
  tl_device_block mass, flags, material, friction, restitution, widths, force, torque;
  tl_device_block guide, terms, values;           /* of motions */
  tl_device_block wall_slots, wall, room, passed; /* of passings (backend/thread/passings.h) */
  tl_device_block solver, tensors, shifts, margins;
  tl_device_block colour[2], order[2], best, taken, ends;
  tl_device_block row_a, row_b, row_numbers, lift, lift_bias, sums, words;
  tl_held_impacts impacts;
  tl_held_gradient gradient;
} tl_held;

/* The holder of these rows, made at the first call; *is_fresh: its rows are valid. */
talus_status tl_held_take(tl_open_device *open, const tl_crowd *crowd, tl_contacts *contacts,
                          tl_held **held, bool *is_fresh);

/* Copies everything to the device. Fails for bodies that the device does not support. */
talus_status tl_held_send(tl_held *held, const tl_crowd *crowd);

/* Copies planes, whose offsets change if they follow motions. */
talus_status tl_held_send_planes(tl_held *held, const tl_crowd *crowd);

/* Measures depths, and finds bodies that passed through walls, when all have moved (pass.c). */
talus_status tl_held_look_back(tl_held *held, const tl_crowd *crowd, tl_step_report *report);

/* Motions of bodies, in this step. */
tl_thread_guides tl_held_guides(const tl_held *held, const tl_crowd *crowd);

/* Data of bodies that tasks need. */
tl_thread_crowd tl_held_crowd(const tl_held *held, const tl_crowd *crowd);

/* Totals of `kinds` quantities over `threads` threads, whose partial sums are in held->sums. */
talus_status tl_held_add(tl_held *held, size_t threads, size_t kinds, double *totals);

/* Number of threads that share a sum over `count` elements. */
size_t tl_held_threads(size_t count);

/* Solves the contacts found: impulses and velocities (solve.c). *shifts: velocities that move
 * bodies in this step only, or NULL. */
talus_status tl_held_solve(tl_held *held, const tl_crowd *crowd, tl_solve_report *report,
                           const tl_ccp_body **shifts);

/* Impacts of the contacts found change velocities and leave gaps (impacts.c); *have_bounced: some
 * did. */
talus_status tl_held_bounce(tl_held *held, const tl_crowd *crowd, size_t contacts,
                            bool *have_bounced);

/* Address of a member of tl_held_words on the device. */
#define TL_HELD_WORD(held, name)                                                                   \
  ((void *)((unsigned char *)(held)->words.data + offsetof(tl_held_words, name)))

#endif
