/* The system: what every velocity solver uses (ccp/, impulse/, impact/).
 *
 *   summary.c  which kinds of bodies there are, and the values of `auto` settings
 *   order.c    the order of solver bodies, and tiles of them
 *   bodies.c   solver bodies from the crowd: velocities with loads, inverse masses and inertia
 *   row.c      the row of one contact
 *   law.c      static friction, cohesion, and what contacts remember
 *   links.h    joints: rows of their own, in blocks
 *   effort.c   how many sweeps an island gets
 *   energy.c   the work of contacts, joints and loads
 *   audit.c    checks that no island creates energy
 *   shift.c    displacements of bodies in a step in addition to their velocity
 *
 * A solver fills a system, makes rows of its own from it, and leaves velocities in the bodies and
 * impulses in the contacts. The buffers are those of Tasora, Negrut and Anitescu 2011, 4.1. */
#ifndef TL_SOLVE_SYSTEM_H
#define TL_SOLVE_SYSTEM_H

#include "base/cancel.h"
#include "kernels/ccp.h"
#include "kernels/rolling.h"
#include "solve/solve.h"

/* What there is among the bodies of the crowd (summary.c). */
typedef struct tl_summary {
  bool tensors;    /* one that does not answer the same in every direction */
  bool arms;       /* one that makes arms matter which are not along their normal: movable and not a
                      sphere, or static and turning. Without, a third of the rows' memory is saved, and
                      sweeps are bound by memory */
  bool nonspheres; /* one that is movable and not a sphere */
  bool moving_walls;           /* one that moves by itself */
  talus_real least;            /* m: the smallest bounding radius of a movable one */
  talus_vec3 slowest, fastest; /* m/s: of movable ones, by axis */
} tl_summary;

/* Memory that is lent, from `at` on. */
typedef struct tl_room {
  unsigned char *at;
  size_t bytes;
} tl_room;

typedef struct tl_system {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_solve_def *settings;
  tl_contacts *contacts;
  tl_solve_report *report;
  tl_summary summary;
  bool is_cold; /* no contact has an impulse to start from, and there are substeps (effort.c) */

  /* Solver bodies. */
  const uint32_t *rank;     /* member of the crowd -> solver body; NULL: the same number */
  const uint32_t *index_of; /* slot -> solver body; NULL: the same number */
  tl_tiles tiles;           /* of solver bodies, in their order */
  tl_ccp_body *bodies;      /* crowd->count, and one more that is nobody's */
  tl_ccp_tensor *tensors;   /* NULL: every body is isotropic */
  const uint32_t *label;    /* by slot: of its island; NULL: all are one */
  tl_room rooms[2];         /* that others do not need yet (tl_system_lend) */

  /* Laws. */
  talus_real ncp;  /* 1: Coulomb's law, 0: its convex relaxation */
  talus_real slop; /* m: overlap that is left alone */
  talus_real recovery_speed, bounce_speed;
  talus_real *pulls; /* by contact: cohesion over the step, N s; NULL: none */
  tl_twist *pulled;  /* by solver body: free velocities and what pulls make of them; NULL: none */

  /* What impacts left (solve/impact/impact.h); NULL: nothing bounced. */
  talus_real *gaps;    /* m, by contact: for its row */
  tl_ccp_body *shifts; /* by solver body: m/s, what moves it in this step beside its velocity */
  tl_twist *kicks;     /* by solver body: velocity that it got */
} tl_system;

struct tl_links;

/* ---- bodies ---------------------------------------------------------------------------------- */

static inline uint32_t tl_system_body(const tl_system *system, uint32_t slot) {
  return system->index_of ? system->index_of[slot] : slot;
}
static inline uint32_t tl_system_member(const tl_system *system, size_t member) {
  return system->rank ? system->rank[member] : (uint32_t)member;
}

/* A system with summary, slop and speeds (as `solve` says, or what `auto` makes of it), and with
 * room for bodies that is not filled yet. */
talus_status tl_system_begin(tl_system *system, const tl_crowd *crowd, tl_contacts *contacts,
                             tl_solve_report *report);

/* m/s: a speed that is small in this scene: that of free fall in a step, or a thousandth of the
 * spread of velocities. It does not depend on the frame of reference. */
double tl_system_small_speed(const tl_system *system);

/* Finds rank, index_of and tiles. */
talus_status tl_system_order(tl_system *system);

/* Fills bodies (and tensors, where any is needed). */
talus_status tl_system_load_bodies(tl_system *system);

/* The velocity with which a free member of the crowd ends the step if nothing touches it. */
void tl_system_load_free(const tl_system *system, size_t member, tl_ccp_body *body);

/* Inverse inertia of a solver body in world axes. */
tl_sym3 tl_system_turning(const tl_system *system, uint32_t body);

/* ---- rows ------------------------------------------------------------------------------------ */

/* m: of a contact, as impacts left it. */
static inline talus_real tl_system_gap(const tl_system *system, const tl_contact *c) {
  return system->gaps ? system->gaps[c - system->contacts->data] : c->gap;
}

/* The gap that velocities may close. Overlap is not corrected by velocities, because these would
 * stay with the bodies (solve/ccp/correct.c). */
static inline talus_real tl_system_gap_to_close(const tl_system *system, const tl_contact *c) {
  return tl_max(tl_system_gap(system, c), 0);
}

/* The projection uses the square of the friction coefficient, so the coefficient is limited to keep
 * the square finite. Coulomb's law has no square. */
static inline talus_real tl_system_limit_friction(const tl_system *system, talus_real friction) {
  return system->ncp > 0 ? friction : tl_min(friction, TL_R(1e6));
}

/* Arms of a contact from the two centres of mass, and the relative velocity of its points at t0,
 * before gravity and impulses. */
void tl_system_arms(const tl_system *system, const tl_contact *c, talus_vec3 *a, talus_vec3 *b);
talus_vec3 tl_system_velocity_before(const tl_system *system, const tl_contact *c, talus_vec3 arm_a,
                                     talus_vec3 arm_b);

/* The row of a contact between solver bodies a and b, with the impulse it starts from. */
tl_ccp_row tl_system_make_row(const tl_system *system, const tl_contact *c, uint32_t a, uint32_t b);

/* ---- laws beyond friction and restitution (law.c) -------------------------------------------- */

/* Cohesion: finds the pull of each contact and lays it into the bodies' velocities. */
talus_status tl_system_load_pulls(tl_system *system);

/* The coefficient of friction of a contact for this step; `before` is its velocity at t0. */
talus_real tl_system_friction(const tl_system *system, const tl_contact *c, const tl_pair_law *law,
                              talus_vec3 before);

/* TL_CONTACT_... of a contact after the solve: p its impulse with the shift by cohesion, friction
 * the coefficient it had. */
uint32_t tl_system_contact_state(const tl_system *system, const tl_contact *c, talus_real friction,
                                 talus_vec3 p, talus_vec3 arm_a, talus_vec3 arm_b);

/* ---- how long an island is worked on (effort.c) ---------------------------------------------- */

#define TL_FEW_ROWS 1000 /* up to here an island gets many more sweeps, if it needs them */

typedef struct tl_effort {
  int usual, most;  /* sweeps: as `iterations` says, and where the residual still falls */
  double tolerance; /* m/s; 0: the usual sweeps, whatever they leave */
  double enough;    /* m/s: what is good enough beyond the usual sweeps */
  double best;      /* m/s: the least residual beyond them */
  int stale;        /* looks since it fell */
  int patience;     /* looks in which it may fail to fall */
} tl_effort;

/* rows: of contacts and links. */
tl_effort tl_effort_of(const tl_system *system, size_t rows, bool has_links);

/* Whether the residual is to be measured after `done` sweeps, the last of which changed velocities
 * by `change`, RMS; and, with it, whether the island is done. */
bool tl_effort_wants_look(const tl_effort *effort, int done, double change);
bool tl_effort_is_enough(tl_effort *effort, int done, double rms);

/* The share of last step's impulses to start with: q > 0 is the objective with all of them, slope
 * its derivative at none of them. */
talus_real tl_warm_share(double q, double slope);

/* ---- what came of it (energy.c, audit.c) ----------------------------------------------------- */

/* What contacts did to the energy of a body; then, at labels, of islands. */
typedef struct tl_ledger_entry {
  double work, norm; /* J: A + B/2 and B of audit.c */
  double had;        /* J: twice the kinetic energy before, whose rounding is in A */
} tl_ledger_entry;

/* Work of the step into the report, and what bodies have of the objective: the solver adds that of
 * its rows, and tl_links_objective, before it is rounded. The bodies hold the solution. entries: by
 * slot, filled in the same pass; or NULL. */
void tl_system_find_energy(tl_system *system, const struct tl_links *links,
                           tl_ledger_entry *entries, tl_tally *objective);

/* tl_system_find_energy; then reduces the impulses of islands whose contacts would create energy.
 * Impulses are stored. */
talus_status tl_system_audit(tl_system *system, const struct tl_links *links, tl_tally *objective);

/* The velocity with which a free member of the crowd ends the step if nothing touches it, and what
 * the solver began with; what momentum a body has with velocity v and spin w. */
tl_twist tl_system_free_twist(const tl_system *system, size_t member);
tl_twist tl_system_start_twist(const tl_system *system, size_t member);
tl_wrench tl_system_momentum(const tl_system *system, uint32_t slot, talus_vec3 v, talus_vec3 w);

/* Whether contacts can move the body. */
bool tl_system_takes_part(const tl_system *system, uint32_t slot);

/* ---- shifts: what moves bodies in a step beside their velocity (shift.c) --------------------- */

/* The work of lifting bodies by shifts, against gravity, into the report. */
void tl_system_add_lift(tl_system *system, const tl_ccp_body *shifts);

/* Whether rows of crowd->out are room for scratch until bodies move. */
bool tl_system_has_rows(const tl_system *system);

/* Lends what is not needed yet, for what is needed before: positions and rotations of crowd->out;
 * without them the room of shifts (or NULL), until bodies are shifted (tl_impact_find,
 * tl_system_take_shifts). */
void tl_system_lend(tl_system *system, tl_ccp_body *shifts);

/* Takes from lent room, or from the arena. */
talus_status tl_system_take(tl_system *system, size_t n, size_t size, void **out);

/* Bodies without velocities: in `shifts`; where impacts have shifts there, in other room; without
 * `shifts` the bodies themselves, with their velocities set aside in crowd->out. */
talus_status tl_system_take_shifts(tl_system *system, tl_ccp_body *shifts, tl_ccp_body **room);

/* Velocities of the bodies as they are handed over. are_shifted: by impacts or correction. */
tl_twists tl_system_twists(const tl_system *system, const tl_ccp_body *shifts, bool are_shifted);

/* What correction left in `room`, and its work, to `shifts`, which may have what impacts left. */
void tl_system_add_shifts(tl_system *system, const tl_ccp_body *room, tl_ccp_body *shifts);

#endif
