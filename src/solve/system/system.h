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

/* Which kinds of bodies the crowd has (summary.c). */
typedef struct tl_summary {
  bool tensors; /* some body is not isotropic */
  /* arms that are not along their normal matter: some movable body is no sphere, or some static
   * body turns. If false, rows need a third less memory, and sweeps are bound by memory */
  bool arms;
  bool nonspheres;             /* some movable body is no sphere */
  bool moving_walls;           /* some static body has a motion */
  talus_real least;            /* m: smallest bounding radius of a movable body */
  talus_vec3 slowest, fastest; /* m/s: by axis, of movable bodies */
} tl_summary;

/* Memory that is lent, beginning at `at`. */
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
  bool is_cold; /* no contact has an impulse to start from, and the step has substeps (effort.c) */

  /* Solver bodies. */
  const uint32_t *rank;     /* member of the crowd -> solver body; NULL: the same number */
  const uint32_t *index_of; /* slot -> solver body; NULL: the same number */
  tl_tiles tiles;           /* of solver bodies, in their order */
  tl_ccp_body *bodies;      /* crowd->count, and one more that stands for no body */
  tl_ccp_tensor *tensors;   /* NULL: every body is isotropic */
  const uint32_t *label;    /* by slot: label of its island; NULL: all are one island */
  tl_room rooms[2];         /* memory that is lent until others need it (tl_system_lend) */

  /* Laws. */
  talus_real ncp;  /* 1: Coulomb's law, 0: its convex relaxation */
  talus_real slop; /* m: overlap that is not corrected */
  talus_real recovery_speed, bounce_speed;
  talus_real *pulls; /* by contact: cohesion over the step, N s; NULL: none */
  tl_twist *pulled;  /* by solver body: free velocity including pulls; NULL: no cohesion */

  /* What impacts left (solve/impact/impact.h); NULL: nothing bounced. */
  talus_real *gaps;    /* m, by contact: for its row */
  tl_ccp_body *shifts; /* by solver body: m/s, velocity that moves it in this step only */
  tl_twist *kicks;     /* by solver body: change of its velocity by impacts */
} tl_system;

struct tl_links;

/* ---- bodies ---------------------------------------------------------------------------------- */

static inline uint32_t tl_system_body(const tl_system *system, uint32_t slot) {
  return system->index_of ? system->index_of[slot] : slot;
}
static inline uint32_t tl_system_member(const tl_system *system, size_t member) {
  return system->rank ? system->rank[member] : (uint32_t)member;
}

/* Begins a system: finds summary, slop and speeds (as `solve` says, or the values of `auto`), and
 * takes memory for bodies. */
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

/* Gap of a contact after impacts, m. */
static inline talus_real tl_system_gap(const tl_system *system, const tl_contact *c) {
  return system->gaps ? system->gaps[c - system->contacts->data] : c->gap;
}

/* The gap that velocities may close (m). Velocities do not correct overlap, because they would stay
 * with the bodies (solve/ccp/correct.c). */
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

/* Makes the row of a contact between solver bodies a and b, with its starting impulse. */
tl_ccp_row tl_system_make_row(const tl_system *system, const tl_contact *c, uint32_t a, uint32_t b);

/* ---- laws beyond friction and restitution (law.c) -------------------------------------------- */

/* Finds the pull of cohesion of each contact and adds it to the bodies' velocities. */
talus_status tl_system_load_pulls(tl_system *system);

/* Friction coefficient of a contact for this step; `before` is its relative velocity at t0. */
talus_real tl_system_friction(const tl_system *system, const tl_contact *c, const tl_pair_law *law,
                              talus_vec3 before);

/* State TL_CONTACT_... of a contact after the solve. p: its impulse with the shift by cohesion;
 * friction: its coefficient in this step. */
uint32_t tl_system_contact_state(const tl_system *system, const tl_contact *c, talus_real friction,
                                 talus_vec3 p, talus_vec3 arm_a, talus_vec3 arm_b);

/* ---- number of sweeps of an island (effort.c) ------------------------------------------------ */

#define TL_FEW_ROWS 1000 /* an island with fewer rows gets many more sweeps if it needs them */

typedef struct tl_effort {
  int usual, most;  /* sweeps: as `iterations` says; and at most, while the residual falls */
  double tolerance; /* m/s; 0: always the usual sweeps */
  double enough;    /* m/s: residual that is good enough after the usual sweeps */
  int most_struck;  /* the same two for an island most of whose bodies an impact struck */
  double enough_struck;
  double best;  /* m/s: least residual after the usual sweeps */
  int stale;    /* looks since it fell */
  int patience; /* looks without a fall until sweeps end */
} tl_effort;

/* rows: number of contacts and links. */
tl_effort tl_effort_of(const tl_system *system, size_t rows, bool has_links);

/* To be called after the usual sweeps of an island, before its residual is measured. bodies: with
 * the velocities found so far; contact: by row. */
void tl_effort_find_impact(tl_effort *effort, const tl_system *system, const tl_ccp_body *bodies,
                           const uint32_t *contact, size_t rows);

/* The first function says whether to measure the residual after `done` sweeps, the last of which
 * changed velocities by `change` (RMS); the second whether the island is done with that
 * residual. */
bool tl_effort_wants_look(const tl_effort *effort, int done, double change);
bool tl_effort_is_enough(tl_effort *effort, int done, double rms);

/* The share of the last step's impulses to start with. q > 0: the objective with all of them;
 * slope: its derivative at share 0. */
talus_real tl_warm_share(double q, double slope);

/* ---- energy (energy.c, audit.c) -------------------------------------------------------------- */

/* Energy that contacts gave to a body; after summing: to an island, stored at its label. */
typedef struct tl_ledger_entry {
  double work, norm; /* J: A + B/2 and B of audit.c */
  double had;        /* J: twice the kinetic energy before; its rounding is in A */
} tl_ledger_entry;

/* Writes the work of the step into the report, and the part of the objective that belongs to
 * bodies. The solver adds the parts of its rows and of tl_links_objective before it is rounded. The
 * bodies must hold the solution. entries: by slot, filled in the same pass; or NULL. */
void tl_system_find_energy(tl_system *system, const struct tl_links *links,
                           tl_ledger_entry *entries, tl_tally *objective);

/* Does tl_system_find_energy; then reduces the impulses of islands whose contacts would create
 * energy. Impulses must be stored. */
talus_status tl_system_audit(tl_system *system, const struct tl_links *links, tl_tally *objective);

/* For a free member of the crowd: its velocity at the end of the step if nothing touches it; the
 * velocity that the solver began with; and the momentum of a body with velocity v and spin w. */
tl_twist tl_system_free_twist(const tl_system *system, size_t member);
tl_twist tl_system_start_twist(const tl_system *system, size_t member);
tl_wrench tl_system_momentum(const tl_system *system, uint32_t slot, talus_vec3 v, talus_vec3 w);

/* True if contacts can move the body. */
bool tl_system_takes_part(const tl_system *system, uint32_t slot);

/* ---- shifts: displacements of a step in addition to velocities (shift.c) --------------------- */

/* Adds the work against gravity of bodies lifted by shifts to the report. */
void tl_system_add_lift(tl_system *system, const tl_ccp_body *shifts);

/* True if rows of crowd->out may be used as scratch until bodies move. */
bool tl_system_has_rows(const tl_system *system);

/* Lends memory that is not needed yet: positions and rotations of crowd->out; if there are none,
 * the memory of shifts (or NULL), until bodies are shifted (tl_impact_find,
 * tl_system_take_shifts). */
void tl_system_lend(tl_system *system, tl_ccp_body *shifts);

/* Takes memory from what is lent, or from the arena. */
talus_status tl_system_take(tl_system *system, size_t n, size_t size, void **out);

/* Takes solver bodies without velocities, for correction: in `shifts`; if impacts have shifts
 * there, in other memory; without `shifts`, in the bodies themselves, after their velocities are
 * copied to crowd->out. */
talus_status tl_system_take_shifts(tl_system *system, tl_ccp_body *shifts, tl_ccp_body **room);

/* The velocities of bodies as they are handed over. are_shifted: impacts or correction have
 * shifts. */
tl_twists tl_system_twists(const tl_system *system, const tl_ccp_body *shifts, bool are_shifted);

/* Adds the shifts that correction left in `room`, and their work, to `shifts`, which may hold those
 * of impacts. */
void tl_system_add_shifts(tl_system *system, const tl_ccp_body *room, tl_ccp_body *shifts);

#endif
