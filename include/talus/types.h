/* talus: plain types shared by every public header.
 *
 * Units are SI throughout: metres, kilograms, seconds, radians, newtons.
 * Vectors are columns in a right-handed world frame. Quaternions are (w, x, y, z), of unit
 * length, and turn body coordinates into world coordinates.
 */
#ifndef TALUS_TYPES_H
#define TALUS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <talus/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Positions and times are double in every build. Everything else is talus_real: double by
 * default, float in the library libtalus-single (talus/config.h says which one this is). */
#if TALUS_SINGLE
typedef float talus_real;
#else
typedef double talus_real;
#endif

/* A position in the world [m]; always double. */
typedef struct talus_dvec3 {
  double x, y, z;
} talus_dvec3;

/* A velocity, direction, length, impulse, ... */
typedef struct talus_vec3 {
  talus_real x, y, z;
} talus_vec3;

/* A rotation, scalar first. */
typedef struct talus_quat {
  talus_real w, x, y, z;
} talus_quat;

/* An axis-aligned box in the world [m]. */
typedef struct talus_box {
  talus_dvec3 lo, hi;
} talus_box;

/* What the rows of a motion's table hold beside the time [s]: all numbers are double. */
typedef enum talus_motion_table {
  TALUS_TABLE_NONE,
  TALUS_TABLE_ALONG,  /* 2 columns: time, displacement along `axis` [m] */
  TALUS_TABLE_ABOUT,  /* 2 columns: time, angle about `axis` [rad] */
  TALUS_TABLE_PLACES, /* 4 columns: time, displacement x, y, z [m] */
  TALUS_TABLE_POSES   /* 8 columns: the same and a rotation w, x, y, z */
} talus_motion_table;

/* Scripted motion from the pose (x0, q0) at time 0. With t counted from from_time on, and
 * s = sin(2 pi frequency t + phase) - sin(phase):
 *   q(t) = table exp(swing s) exp(spin t) q0
 *   x(t) = x0 + velocity t + amplitude s + table
 * Turns are about the body's own centre of mass, or about an axis through a place of the world;
 * then they move the centre as well, before it is shifted. All zero: no motion at all.
 *
 * `next` is a motion that comes on top: it is applied to the pose that this one leads to, so its
 * shifts carry along the axes of this one. */
typedef struct talus_motion {
  talus_vec3 velocity;  /* m/s */
  talus_vec3 spin;      /* rad/s, world axes */
  talus_vec3 amplitude; /* m */
  double frequency;     /* Hz, of amplitude and swing */
  double phase;         /* rad */
  talus_vec3 swing;     /* rad, world axes: amplitude of a turn to and fro */
  bool is_through;      /* turns are about axes through `through` */
  talus_dvec3 through;  /* m */
  double from_time;     /* s; before it, the motion stands still */
  double until;         /* s; afterwards it stays where it was then; 0: it has no end */
  talus_motion_table table_kind;
  const double *table; /* rows one after the other, times rising; held beyond both ends */
  size_t rows;
  bool is_smooth;  /* by cubics with a steady velocity, instead of straight from row to row */
  talus_vec3 axis; /* of a table along or about it; need not be unit */
  /* A belt or a roller: velocity and spin (world axes, about the centre of mass) are those of the
   * surface, and the body stays where it is. They must be tangential everywhere: for planes a
   * velocity in the plane and a spin about its normal, for spheres any spin, for cylinders,
   * capsules and cones a spin about their own axis. Of the other members only from_time and until
   * are used; only motions of the surface may follow as `next`, and only spheres may also rotate.
   */
  bool is_surface;
  const struct talus_motion *next; /* NULL: none */
} talus_motion;

/* The contact model. */
typedef enum talus_solve_kind {
  TALUS_SOLVE_CCP,     /* rigid: cone complementarity */
  TALUS_SOLVE_PENALTY, /* springs: overlap makes force, velocity Verlet (docs/theory/penalty.md) */
  TALUS_SOLVE_IMPULSE, /* rigid: sequential impulses (docs/theory/impulse.md) */
  TALUS_SOLVE_ELASTIC  /* hard spheres without friction (docs/theory/hard-spheres.md): free bodies
                          are spheres, walls planes, containers, spheres, boxes and revolved; no
                          joints, no locks */
} talus_solve_kind;

/* The force of a spring with overlap d. */
typedef enum talus_spring_law {
  TALUS_LINEAR, /* k d, and a dashpot that gives the restitution */
  TALUS_HERTZ,  /* Hertz 4/3 E sqrt(R) d^1.5, Mindlin's tangential stiffness, dashpot likewise */
  TALUS_NOBLE   /* k (1 - gap/reach) sqrt(reduced mass) within the reach, as published by Noble:
                   no dashpot */
} talus_spring_law;

/* Elastic: when two bodies collide. */
typedef enum talus_shell {
  TALUS_SHELL_SOFT, /* when they touch, in the order of time */
  TALUS_SHELL_HARD  /* at the start of a step in which they overlap, as published: of collisions
                       with relative speed u the share (u dt / s)^2 / 3 is missed (published: a
                       quarter of that), s: the sum of their radii */
} talus_shell;

/* Elastic, hard shell: what a collision does. */
typedef enum talus_response {
  TALUS_RESPONSE_SYMMETRIC, /* equal and opposite impulses, until no overlapping pair approaches */
  TALUS_RESPONSE_PUBLISHED  /* each body from velocities before the step, the last of its partners
                               counts: as published, conserves neither momentum nor energy */
} talus_response;

/* How time advances. */
typedef enum talus_step_kind {
  TALUS_STEP_FIXED, /* every body by dt */
  TALUS_STEP_EVENT, /* from collision to collision, exact also under gravity; dt is the grid on
                       which the state can be read. Only with TALUS_SOLVE_ELASTIC */
  /* dt in as many steps as it takes for no two bodies to pass through each other; bodies that
   * nothing touches fly along exact parabolas. With TALUS_SOLVE_CCP and TALUS_SOLVE_IMPULSE */
  TALUS_STEP_ADAPTIVE,
  /* every body by dt, with the forces of springs at the end of the step: for springs that are too
   * stiff for fixed steps. Only with TALUS_SOLVE_PENALTY; docs/theory/implicit.md */
  TALUS_STEP_IMPLICIT,
  /* As adaptive, but every cluster of bodies that may meet has steps of its own; dt is the grid on
   * which all are at one time. With TALUS_SOLVE_CCP and TALUS_SOLVE_IMPULSE, without sleep */
  TALUS_STEP_LOCAL
} talus_step_kind;

/* What steps of TALUS_STEP_LOCAL did; sums since the world was made. */
typedef struct talus_local_report {
  uint64_t body_steps;        /* steps of bodies that were computed */
  uint64_t body_steps_global; /* movable bodies x rounds: one step for all takes as many at least */
  uint64_t clusters;          /* steps of clusters that count */
  uint64_t rounds;
  uint64_t rendezvous;  /* bodies that came back to an earlier time to meet others */
  uint64_t rollbacks;   /* steps of clusters that were computed and did not count */
  double depth, window; /* s, most so far: how far a body came back; how far one was ahead */
} talus_local_report;

/* Implicit steps: how the forces at the end of the step are found. */
typedef enum talus_implicit_method {
  TALUS_IMPLICIT_NEWTON, /* semi-smooth Newton with conjugate gradients: stiff springs */
  TALUS_IMPLICIT_PICARD, /* forces of the last guess make the next (Noble, Algorithm 8): converges
                            undamped only while dt is less than half of a fixed step's limit */
  TALUS_IMPLICIT_EULER,  /* not implicit: forces at the begin of the step, places by the velocity
                            there (Noble, Algorithm 6), which gain energy; for comparison */
  /* Picard with surrogate trees of meshes (narrow.tree is TALUS_TREE_SURROGATE then): searched
   * anew in each iteration, which gives the bits of Picard (6.1.2), or widened by one level in
   * each (Algorithm 10). */
  TALUS_IMPLICIT_SURROGATE_PICARD,
  TALUS_IMPLICIT_MULTIRES_PICARD
} talus_implicit_method;

/* Values of talus_implicit_def.damping beside a number. */
#define TALUS_DAMPING_AUTO   (-1.0) /* from the stiffness of contacts */
#define TALUS_DAMPING_AITKEN (-2.0) /* from the last two guesses (Aitken), `auto` to begin with */

typedef struct talus_implicit_def {
  talus_implicit_method method;
  int iterations;   /* > 0: at most; a step that needs more fails (TALUS_ERROR_DIVERGED) */
  double tolerance; /* > 0: change of the force and torque of each body at the end, relative to the
                       sum of the sizes of its contact forces */
  double damping;   /* Picard: share of the new guess, 0 < damping <= 1, or TALUS_DAMPING_... */
} talus_implicit_def;

/* Sides of a container that `open` leaves out. */
enum {
  TALUS_SIDE_LEFT = 1,    /* x = -lx/2 */
  TALUS_SIDE_RIGHT = 2,   /* x = +lx/2 */
  TALUS_SIDE_FRONT = 4,   /* y = -ly/2 */
  TALUS_SIDE_BACK = 8,    /* y = +ly/2 */
  TALUS_SIDE_BOTTOM = 16, /* z = -lz/2 */
  TALUS_SIDE_TOP = 32     /* z = +lz/2 */
};

/* Where bodies may be that meet a revolved wall or a mesh. One side: there it is the surface of
 * matter, and a body that got behind it is pushed back (behind a revolved wall only a sphere whose
 * centre is less than half its radius behind; deeper ones are not touched). Both: a thin wall,
 * which pushes to the side where the body is. */
typedef enum talus_sides {
  TALUS_SIDES_AUTO, /* revolved: in; a mesh: out where it is closed, both where it is open */
  TALUS_SIDES_OUT,  /* revolved: away from the axis; mesh: where its normals point, a solid */
  TALUS_SIDES_IN,   /* revolved: towards the axis, of a closed profile within the ring; mesh: on the
                       other side of its normals, a tank, never free */
  TALUS_SIDES_BOTH
} talus_sides;

/* How distances of two triangles are decided. The contacts are the same, bit for bit, but for
 * `iterative`, which may miss some (docs/theory/surrogates.md says how many). */
typedef enum talus_triangle_method {
  TALUS_TRIANGLE_COMPARISON, /* all 15 distances, over SIMD lanes; in float where that is enough */
  TALUS_TRIANGLE_CERTIFIED,  /* by proof: a guess and a bound that agree; else by comparison */
  TALUS_TRIANGLE_ITERATIVE,  /* Noble's four Newton steps, whatever they come to */
  TALUS_TRIANGLE_HYBRID      /* the same where a proof confirms them; else by comparison */
} talus_triangle_method;

/* What a contact of two meshes is. */
typedef enum talus_fusion {
  TALUS_FUSION_LOCAL, /* a local minimum of the distance: of features, whose cones hold it */
  TALUS_FUSION_THESIS /* one of each pair of near triangles, fused by place and normal (Noble) */
} talus_fusion;

/* What a call returns. TALUS_OK is 0. The text of the last failure on this thread, naming the
 * culprit (body, file, line) and the way out, is talus_last_error(). */
#define TALUS_STATUS_LIST(X)                                                                       \
  X(OK, "ok")                                                                                      \
  X(ERROR_INVALID, "an argument or a value is wrong")                                              \
  X(ERROR_MEMORY, "out of memory")                                                                 \
  X(ERROR_IO, "a file could not be read or written")                                               \
  X(ERROR_FORMAT, "a file is not what it should be")                                               \
  X(ERROR_STALE, "the body or view this handle stood for is gone")                                 \
  X(ERROR_BUSY, "a mapped view or a running step forbids this now")                                \
  X(ERROR_UNSUPPORTED, "this build or version of talus cannot do it")                              \
  X(ERROR_DIVERGED, "the simulation produced a value that is not finite")                          \
  X(ERROR_DOMAIN, "a body left a domain that says `outside: stop`")                                \
  X(INTERRUPTED, "stopped on request, state saved")                                                \
  X(ERROR_STRICT, "what `strict` forbids has happened")                                            \
  X(ERROR_DEVICE, "a device is missing or has failed")

typedef enum talus_status {
#define TALUS_STATUS_ENUM(name, text) TALUS_##name,
  TALUS_STATUS_LIST(TALUS_STATUS_ENUM)
#undef TALUS_STATUS_ENUM
      TALUS_STATUS_COUNT
} talus_status;

#ifdef __cplusplus
}
#endif
#endif
