/* The cone complementarity solver's own data, shared by its files.
 *
 *   ccp.c        the order of things, and results
 *   solve/ccp/survey.c what there is among the bodies
 *   solve/ccp/order.c  the order of solver bodies, and tiles of them
 *   solve/ccp/load.c   bodies and rows from the scope and the contacts
 *   solve/ccp/load_avx512.c   rows, eight at a time
 *   solve/ccp/parts.c  islands: what is solved apart, and their results put together
 *   solve/ccp/sweep.c  visits of rows: packs of eight, one after the other
 *   solve/ccp/sweep_avx512.c  the same, eight at a time
 *   solve/ccp/links.c  joints: rows of their own, in blocks; solve/ccp/link_sweep.c visits them
 *   solve/ccp/seidel.c        Gauss-Seidel: sweeps over colours
 *   solve/ccp/momentum.c      what makes sweeps converge on stacks
 *   solve/ccp/law.c           static friction, cohesion, and what contacts remember
 *   solve/ccp/rolling.c       rows that pass on torque: rolling and spinning resistance
 *   solve/ccp/roll_avx512.c   visits of those, eight at a time
 *   impact.h            before that: bounces
 *   solve/ccp/effort.c        how long an island is worked on
 *   solve/ccp/correct.c       overlap, taken out of positions
 *   solve/ccp/energy.c        the objective and the work of contacts and loads
 *   solve/ccp/audit.c         no island makes energy; which ones are far from their solution
 *   solve/ccp/scan.c          the reduction buffer and segmented scan, as published
 *   solve/ccp/product.c       what gradient methods need: a projected step of all rows, N times
 * impulses solve/ccp/gradient.c      Jacobi, APGD and BB
 *
 * The buffers are those of Tasora, Negrut and Anitescu 2011, 4.1: bodies, and contacts (rows).
 * There is no reduction buffer: rows of a colour share no body that they could both change, and
 * gradient methods gather per body. */
#ifndef TL_SOLVE_CCP_H
#define TL_SOLVE_CCP_H

#include "base/cancel.h"
#include "joint/link.h"
#include "kernels/ccp.h"
#include "kernels/rolling.h"
#include "solve/solve.h"

#define TL_CCP_LANES       8
#define TL_CCP_BLOCK_PACKS 32

/* A vector for each of eight rows. */
typedef struct tl_ccp_lanes {
  talus_real x[TL_CCP_LANES], y[TL_CCP_LANES], z[TL_CCP_LANES];
} tl_ccp_lanes;

/* Eight rows side by side. Lanes beyond the pack's rows are empty: en = 0 and bodies that do not
 * move. */
typedef struct tl_ccp_pack {
  uint32_t a[TL_CCP_LANES], b[TL_CCP_LANES]; /* solver bodies */
  tl_ccp_lanes normal, impulse;
  talus_real reach_a[TL_CCP_LANES], reach_b[TL_CCP_LANES]; /* arms along the normal, see `arms` */
  talus_real bias[TL_CCP_LANES], friction[TL_CCP_LANES], en[TL_CCP_LANES], et[TL_CCP_LANES];
} tl_ccp_pack;

/* From centres of mass to contact points. */
typedef struct tl_ccp_arms {
  tl_ccp_lanes a, b;
} tl_ccp_arms;

/* What rows have more where some pair of materials resists rolling or spinning. */
typedef struct tl_ccp_roll {
  tl_ccp_lanes torque;
  talus_real rolling[TL_CCP_LANES], spinning[TL_CCP_LANES], er[TL_CCP_LANES], es[TL_CCP_LANES];
  uint32_t lanes; /* bit i: row i resists one of them */
} tl_ccp_roll;

/* What is gathered of contacts and bodies for a pack, beside what goes right into it. */
typedef struct tl_ccp_raw {
  tl_ccp_lanes arm_a, arm_b;
  talus_real inv_mass_a[TL_CCP_LANES], inv_mass_b[TL_CCP_LANES];
  talus_real inv_inertia_a[TL_CCP_LANES], inv_inertia_b[TL_CCP_LANES];
  talus_real gap[TL_CCP_LANES];
} tl_ccp_raw;

/* What there is among the bodies of the scope (solve/ccp/survey.c). */
typedef struct tl_ccp_survey {
  bool tensors; /* one that does not answer the same in every direction */
  bool arms;    /* one that makes arms matter which are not along their normal: movable and not a
                   sphere, or static and turning. Without, a third of the rows' memory is saved, and
                   sweeps are bound by memory */
  bool lumps;   /* one that is movable and not a sphere */
  bool moving_walls;           /* one that moves by itself */
  talus_real least;            /* m: the smallest bounding radius of a movable one */
  talus_vec3 slowest, fastest; /* m/s: of movable ones, by axis */
} tl_ccp_survey;

typedef struct tl_ccp {
  const tl_model *model;
  const tl_scope *scope;
  const talus_solve_def *settings;
  tl_contacts *contacts;
  tl_ccp_survey survey;
  const uint32_t *rank;     /* member of the scope -> solver body; NULL: the same number */
  const uint32_t *index_of; /* slot -> solver body; NULL: the same number */
  tl_tiles tiles;           /* of solver bodies, in their order */
  tl_ccp_body *bodies;      /* body_count, and one more that is nobody's, for empty lanes */
  void *room;               /* that planning may use, for something not loaded yet; or NULL */
  size_t room_bytes;
  size_t body_count;      /* scope->count, or the bodies of a part that has its own */
  tl_ccp_tensor *tensors; /* NULL: every body is isotropic */
  tl_ccp_pack *packs;
  tl_ccp_arms *arms;  /* by pack; NULL: every arm is its reach times the normal, as for spheres */
  tl_ccp_roll *rolls; /* by pack; NULL: no pair of materials resists rolling or spinning */
  talus_real *pulls;  /* by contact: cohesion over the step, N s; NULL: none */
  tl_twist *pulled;   /* by solver body: free velocities and what pulls make of them; NULL: none */
  talus_real *row_gaps; /* m, by pack and lane: as impacts left it, overlap negative */
  uint32_t *pack_row;   /* first row of each pack, in solving order; and one more */
  size_t pack_count, row_count;
  tl_colours colours;
  uint32_t *colour_block; /* first block of each colour, and one more */
  uint32_t *block_pack;   /* first pack of each block, and one more */
  size_t block_count;
  double *block_sum, *block_max;
  talus_real recovery_speed, bounce_speed;
  talus_real slop;     /* m: overlap that is left alone */
  talus_real ncp;      /* 1 or 0 */
  bool correcting;     /* positions, not velocities: no friction, no aiming of links */
  const uint8_t *deep; /* correcting: by row, TL_CCP_DEEP, TL_CCP_SINKING; NULL: not correcting */
  tl_solve_report *report;

  /* What impacts left (impact.h); NULL: nothing bounced. */
  talus_real *gaps;    /* m, by contact: for its row */
  tl_ccp_body *shifts; /* by solver body: m/s, what moves it in this step beside its velocity */
  tl_twist *kicks;     /* by solver body: velocity that it got */

  uint8_t *seen;                    /* by solver body, for tl_ccp_take_momentum */
  struct tl_ccp_momentum *momentum; /* of a part; NULL: none */

  /* Joints: all of them, or those of a part. */
  uint32_t *link_joint; /* by link: its row of the table */
  tl_link *links;
  size_t link_count, link_rows;
  size_t first_link;      /* of this part within all links */
  tl_link_system *system; /* of a part; NULL: link by link */
  struct tl_ccp_link_plan *link_plan;
  uint8_t *held; /* by solver body: links hold it, it can move; NULL: no links, or no warm start */
  tl_ccp_body *recovering; /* with the velocities of `recovery` of link rows; NULL: none is found */
  size_t link_at;          /* gradient methods: entry of a field at which impulses of links begin */

  /* The parts that are solved for themselves (solve/ccp/parts.c): large islands, each a job with
   * packs, colours and blocks of its own; or one part that is everything. Rows before theirs are
   * those of small islands: rows small_start[i] ... of the packs are island i's, one after the
   * other. */
  const uint32_t *label; /* by slot: of its island; NULL: all are one */
  struct tl_ccp *parts;
  size_t part_count, first_pack; /* of this part within all packs */
  uint32_t *small_start;         /* small_count + 1 */
  size_t small_count;
  float *small_rms; /* m/s: of each, at the end */
  double rms;       /* m/s: of this part, where positions are corrected after it */
} tl_ccp;

/* Every arm is along its normal and every body answers the same in all directions: a sweep then
 * takes a form of its own, with fewer operations and other rounding. */
static inline bool tl_ccp_is_radial(const tl_ccp *job) { return !job->arms && !job->tensors; }

/* The arm of body a (or b) in a lane of a pack. */
static inline talus_vec3 tl_ccp_arm_a(const tl_ccp *job, size_t pack, uint32_t i) {
  if (job->arms)
    return tl_vec3(job->arms[pack].a.x[i], job->arms[pack].a.y[i], job->arms[pack].a.z[i]);
  const tl_ccp_pack *p = &job->packs[pack];
  return tl_scale(tl_vec3(p->normal.x[i], p->normal.y[i], p->normal.z[i]), p->reach_a[i]);
}
static inline talus_vec3 tl_ccp_arm_b(const tl_ccp *job, size_t pack, uint32_t i) {
  if (job->arms)
    return tl_vec3(job->arms[pack].b.x[i], job->arms[pack].b.y[i], job->arms[pack].b.z[i]);
  const tl_ccp_pack *p = &job->packs[pack];
  return tl_scale(tl_vec3(p->normal.x[i], p->normal.y[i], p->normal.z[i]), p->reach_b[i]);
}

/* Finds rank, index_of and tiles. */
talus_status tl_ccp_order_bodies(tl_ccp *job);

/* m: of a contact, as impacts left it. */
static inline talus_real tl_ccp_gap_of(const tl_ccp *job, const tl_contact *c) {
  return job->gaps ? job->gaps[c - job->contacts->data] : c->gap;
}

static inline talus_vec3 tl_ccp_lane(const tl_ccp_lanes *lanes, uint32_t i) {
  return tl_vec3(lanes->x[i], lanes->y[i], lanes->z[i]);
}
static inline void tl_ccp_put_lane(tl_ccp_lanes *lanes, uint32_t i, talus_vec3 v) {
  lanes->x[i] = v.x;
  lanes->y[i] = v.y;
  lanes->z[i] = v.z;
}

/* Fills the survey; what comes after reads it. */
talus_status tl_ccp_look(tl_ccp *job);

/* m: `solve.slop`, or what `auto` makes of it. m/s: `solve.recovery_speed`, likewise. */
talus_real tl_ccp_slop(const tl_ccp *job);
talus_real tl_ccp_recovery_speed(const tl_ccp *job);

/* m/s: a speed that is small in this scene: what free fall gives in a step, or a thousandth of how
 * much velocities differ. Every observer sees the same. */
double tl_ccp_small_speed(const tl_ccp *job);

/* Fills bodies (and tensors, where any is needed). */
talus_status tl_ccp_load_bodies(tl_ccp *job);

/* Fills the packs that were planned. */
talus_status tl_ccp_load_rows(tl_ccp *job);

/* Rows of packs [begin, end) one by one, which does for all; and eight at a time with AVX-512, the
 * same bits, where every body is isotropic and there are neither periods nor cohesion. */
void tl_ccp_fill_packs(const tl_ccp *job, size_t begin, size_t end);
void tl_ccp_fill_packs_fast(const tl_ccp *job, size_t begin, size_t end);

/* The rest of rows whose bodies, normal, friction and last impulse are in the pack. */
void tl_ccp_finish_packs_avx512(const tl_ccp *job, const tl_ccp_raw *raws, tl_ccp_pack *packs,
                                size_t count);

/* Cuts contacts and links (slots that joints hold together; link_joint is put into the order of the
 * parts) into islands, colours the contacts, and says where their rows go. links may be NULL: none.
 */
talus_status tl_ccp_plan_parts(tl_ccp *job, const tl_pairs *links);

/* Solves every part and every small island to the tolerance, and puts the reports together. */
talus_status tl_ccp_solve_parts(tl_ccp *job);

/* The velocity with which a free member of the scope ends the step if nothing touches it. */
void tl_ccp_load_free(const tl_ccp *job, size_t member, tl_ccp_body *body);

/* Arms of a contact from the two centres of mass, and the relative velocity of its points at t0,
 * before gravity and impulses. */
void tl_ccp_contact_arms(const tl_ccp *job, const tl_contact *c, talus_vec3 *a, talus_vec3 *b);
talus_vec3 tl_ccp_velocity_before(const tl_ccp *job, const tl_contact *c, talus_vec3 arm_a,
                                  talus_vec3 arm_b);
uint32_t tl_ccp_solver_body(const tl_ccp *job, uint32_t slot);

/* The row of a contact between solver bodies a and b, with the impulse it starts from. */
tl_ccp_row tl_ccp_make_row(const tl_ccp *job, const tl_contact *c, uint32_t a, uint32_t b);

/* ---- laws beyond friction and restitution (solve/ccp/law.c, solve/ccp/rolling.c)
 * -------------------------- */

/* Cohesion: finds the pull of each contact and lays it into the bodies' velocities. */
talus_status tl_ccp_load_pulls(tl_ccp *job);

/* The coefficient of friction of a contact for this step; `before` is its velocity at t0. */
talus_real tl_ccp_friction(const tl_ccp *job, const tl_contact *c, const tl_pair_law *law,
                           talus_vec3 before);

/* Inverse inertia of a solver body in world axes. */
tl_sym3 tl_ccp_turning_of(const tl_ccp *job, uint32_t body);

/* Fills rolls from packs and contacts. */
void tl_ccp_load_rolls(tl_ccp *job);

/* TL_TOUCH_... of a contact after the solve: p its impulse with the shift by cohesion, friction the
 * coefficient it had. */
uint32_t tl_ccp_touch_state(const tl_ccp *job, const tl_contact *c, talus_real friction,
                            talus_vec3 p, talus_vec3 arm_a, talus_vec3 arm_b);

/* After the solve: what contacts remember (tl_touch), from packs, rolls and velocities; and
 * impulses without the shift by cohesion. */
void tl_ccp_store_touches(const tl_ccp *job);

/* What contacts did to the energy of a body; then, at labels, of islands. */
typedef struct tl_ccp_entry {
  double work, norm; /* J: A + B/2 and B of solve/ccp/audit.c */
  double had;        /* J: twice the kinetic energy before, whose rounding is in A */
} tl_ccp_entry;

/* Objective and work of the step, into the report; the bodies hold the solution. entries: by slot,
 * filled in the same pass; or NULL. */
void tl_ccp_find_energy(tl_ccp *job, tl_ccp_entry *entries);

/* The velocity with which a free member of the scope ends the step if nothing touches it; and what
 * momentum a body has with velocity v and spin w. */
tl_twist tl_ccp_free_twist(const tl_ccp *job, size_t member);
tl_twist tl_ccp_start_twist(const tl_ccp *job, size_t member);
tl_wrench tl_ccp_momentum_of(const tl_ccp *job, uint32_t slot, talus_vec3 v, talus_vec3 w);

/* tl_ccp_find_energy; and sees to it that contacts of no island make energy, and tells in the
 * report which islands are far from their solution (solve/ccp/audit.c). Impulses are stored. */
talus_status tl_ccp_audit(tl_ccp *job);

/* Whether rows [first, end) of colours.order, an island with this RMS residual, are among them. */
void tl_ccp_note_residual(const tl_ccp *job, uint32_t first, uint32_t end, double rms,
                          tl_solve_report *report);

/* Whether some row of the pack passes on torque. */
static inline bool tl_ccp_rolls(const tl_ccp *job, size_t pack) {
  return job->rolls && job->rolls[pack].lanes != 0;
}
static inline bool tl_ccp_lane_rolls(const tl_ccp *job, size_t pack, uint32_t i) {
  return job->rolls && (job->rolls[pack].lanes >> i & 1u) != 0;
}

/* The law of a row that passes on torque, with its steps times `scale`. */
tl_roll_law tl_ccp_roll_law(const tl_ccp *job, size_t pack, uint32_t lane, talus_real scale);

/* Relative velocity and spin at a row, impulse and torque of it. */
tl_wrench tl_ccp_twist_of(const tl_ccp *job, size_t pack, uint32_t lane);
tl_wrench tl_ccp_wrench_of(const tl_ccp *job, size_t pack, uint32_t lane);

/* One visit of a row that passes on torque: its squared change in velocity units. */
double tl_ccp_roll_lane(const tl_ccp *job, size_t pack, uint32_t lane);
double tl_ccp_roll_residual(const tl_ccp *job, size_t pack, uint32_t lane);

/* Applies an impulse at the point of a row to its bodies: p to b, its opposite to a; and one with a
 * torque. */
void tl_ccp_push_lane(const tl_ccp *job, size_t pack, uint32_t lane, talus_vec3 p);
void tl_ccp_push_wrench(const tl_ccp *job, size_t pack, uint32_t lane, tl_wrench p);

/* A pack in which rows pass on torque, eight at a time (solve/ccp/roll_avx512.c): a share of the
 * impulses it starts with, and their work; a visit, to squared changes in velocity units;
 * residuals. The bits of the calls by row. */
void tl_ccp_warm_rolls_avx512(const tl_ccp *job, size_t pack, talus_real share,
                              talus_real work[TL_CCP_LANES]);
void tl_ccp_sweep_rolls_avx512(const tl_ccp *job, size_t pack, talus_real moved[TL_CCP_LANES]);
void tl_ccp_residual_rolls_avx512(const tl_ccp *job, size_t pack, talus_real r[TL_CCP_LANES]);

/* Applies a share of the impulses that packs start with. Returns the sum of p.((u + u')/2 + b), p
 * the whole impulse, u and u' the relative velocity before and after: with share 1 that is what the
 * impulses change of the objective; with share 0, which changes nothing, its slope along them. */
double tl_ccp_warm_packs(const tl_ccp *job, size_t begin, size_t end, bool serial,
                         talus_real share);

/* One visit of every row in packs [begin, end), which share no movable body unless `serial`: then
 * rows are visited one after the other. Returns the sum of squared changes in velocity units. */
double tl_ccp_sweep_packs(const tl_ccp *job, size_t begin, size_t end, bool serial);

/* Sum of squared residuals of the packs and their largest. */
double tl_ccp_residual_packs(const tl_ccp *job, size_t begin, size_t end, double *most);
/* Row by row: squared residuals, and tl_ccp_warm_packs with a share of 0. */
void tl_ccp_tally_residuals(const tl_ccp *job, size_t begin, size_t end, tl_tally *sum,
                            double *most);
void tl_ccp_tally_work(const tl_ccp *job, size_t begin, size_t end, tl_tally *sum);
/* Adds so many times eight numbers. */
void tl_ccp_tally_numbers(const double *numbers, size_t eights, tl_tally *sum);

/* The two ways of doing it, with the same bits; the calls above choose. */
double tl_ccp_warm_packs_scalar(const tl_ccp *job, size_t begin, size_t end, talus_real share);
double tl_ccp_warm_packs_avx512(const tl_ccp *job, size_t begin, size_t end, talus_real share);
double tl_ccp_sweep_packs_scalar(const tl_ccp *job, size_t begin, size_t end);
double tl_ccp_sweep_packs_avx512(const tl_ccp *job, size_t begin, size_t end);
double tl_ccp_residual_packs_scalar(const tl_ccp *job, size_t begin, size_t end, double *most);
double tl_ccp_residual_packs_avx512(const tl_ccp *job, size_t begin, size_t end, double *most);
void tl_ccp_tally_residuals_avx512(const tl_ccp *job, size_t begin, size_t end, tl_tally *sum,
                                   double *most);
void tl_ccp_tally_work_avx512(const tl_ccp *job, size_t begin, size_t end, tl_tally *sum);
void tl_ccp_tally_numbers_avx512(const double *numbers, size_t eights, tl_tally *sum);
bool tl_ccp_has_avx512(void);

/* One row of a pack: returns its squared change in velocity units; a share of the impulse it starts
 * with, and the work of that (tl_ccp_warm_packs); its residual. */
double tl_ccp_sweep_lane(const tl_ccp *job, size_t pack, uint32_t lane);
double tl_ccp_warm_lane(const tl_ccp *job, size_t pack, uint32_t lane, talus_real share);
talus_real tl_ccp_residual_lane(const tl_ccp *job, size_t pack, uint32_t lane);

/* Whether a row of the pack has a body that answers differently in different directions. */
bool tl_ccp_needs_tensor(const tl_ccp *job, const tl_ccp_pack *pack);

/* The methods: from packs with the impulses to start from, to packs with the solution, bodies with
 * its velocities, and the report. */
talus_status tl_ccp_take_sums(tl_ccp *job); /* before tl_ccp_gauss_seidel */
void tl_ccp_gauss_seidel(tl_ccp *job);      /* with a team where the part is large */
talus_status tl_ccp_gradient(tl_ccp *job);

/* ---- momentum of sweeps (solve/ccp/momentum.c)
 * -------------------------------------------------------
 */

/* How fast an island goes: the same numbers on every worker. */
typedef struct tl_ccp_pace {
  double theta;  /* Nesterov's sequence; 1: no momentum */
  double change; /* of the last sweep; < 0: there was none */
} tl_ccp_pace;
#define TL_CCP_AT_REST ((tl_ccp_pace){1, -1})

/* What a row has: the impulse (or torque) that its last visit began with, and that which the sweep
 * before ended with. */
typedef struct tl_ccp_course {
  talus_vec3 from, last;
} tl_ccp_course;

/* Finds whether the part wants momentum, and takes memory for it; packs are filled. */
talus_status tl_ccp_take_momentum(tl_ccp *part);

/* The sweep that momentum begins with. */
int tl_ccp_patience(const tl_ccp *part);

/* Before that sweep, and after it and those that follow but the last: `change` is that sweep's. */
void tl_ccp_set_off(const tl_ccp *part, tl_team *team, int worker, int workers);
void tl_ccp_move_on(const tl_ccp *part, tl_team *team, int worker, int workers, double change,
                    tl_ccp_pace *pace);

/* The same for a small island: rows [begin, end), at most TL_CCP_SMALL; tl_ccp_set_off_small
 * returns its patience. */
#define TL_CCP_SMALL 16
typedef struct tl_ccp_small_momentum {
  tl_ccp_pace pace;
  tl_ccp_course course[TL_CCP_SMALL], turning[TL_CCP_SMALL];
  uint32_t body[2 * TL_CCP_SMALL];
  tl_twist last[2 * TL_CCP_SMALL];
  uint32_t bodies; /* 0: no momentum */
} tl_ccp_small_momentum;
int tl_ccp_set_off_small(const tl_ccp *job, uint32_t begin, uint32_t end,
                         tl_ccp_small_momentum *momentum);
void tl_ccp_move_on_small(const tl_ccp *job, uint32_t begin, uint32_t end, double change,
                          tl_ccp_small_momentum *momentum);

/* ---- how long an island is worked on (solve/ccp/effort.c)
 * --------------------------------------------
 */

#define TL_CCP_FEW_ROWS 1000 /* up to here an island gets many more sweeps, if it needs them */

typedef struct tl_ccp_effort {
  int usual, most;  /* sweeps: as `iterations` says, and where the residual still falls */
  double tolerance; /* m/s; 0: the usual sweeps, whatever they leave */
  double enough;    /* m/s: what is good enough beyond the usual sweeps */
  double best;      /* m/s: the least residual beyond them */
  int stale;        /* looks since it fell */
} tl_ccp_effort;

tl_ccp_effort tl_ccp_effort_of(const tl_ccp *job, size_t rows);

/* Whether the residual is to be measured after `done` sweeps, the last of which changed velocities
 * by `change`, RMS; and, with it, whether the island is done. */
bool tl_ccp_wants_look(const tl_ccp_effort *effort, int done, double change);
bool tl_ccp_is_enough(tl_ccp_effort *effort, int done, double rms);

/* The share of last step's impulses to start with: q > 0 is the objective with all of them, slope
 * its derivative at none of them. */
talus_real tl_ccp_warm_share(double q, double slope);

/* Impulses and torques times s. */
void tl_ccp_scale_lane(const tl_ccp *job, size_t pack, uint32_t lane, talus_real s);
void tl_ccp_scale_pack(const tl_ccp *job, size_t pack, talus_real s);

/* Parts with fewer rows are solved by one thread each: not worth the barriers between colours. */
#define TL_CCP_TEAM_ROWS 4096

/* ---- joints (solve/ccp/links.c)
 * ----------------------------------------------------------------------
 */

/* The joints that have work to do: link_joint, in the order of the table, and the slots they join.
 */
talus_status tl_ccp_list_links(tl_ccp *job, tl_pairs *pairs);

/* Rows of these joints, in the order of link_joint, after the bodies and the parts are known; and
 * those of each part factored at once, where asked for. */
talus_status tl_ccp_load_links(tl_ccp *job);

/* Applies the impulses p to `bodies`. */
void tl_ccp_push_links(const tl_ccp *job, const talus_real *p, tl_ccp_body *bodies);

/* Makes rows meet where the velocities of `bodies`, a guess of those at the end, lead. */
void tl_ccp_aim_link(const tl_ccp *job, size_t link, const tl_ccp_body *bodies);
void tl_ccp_aim_links(const tl_ccp *job, const tl_ccp_body *bodies);

/* Sum of squared residuals of impulses p; *most is raised. */
void tl_ccp_residual_links(const tl_ccp *job, const tl_ccp_body *bodies, const talus_real *p,
                           tl_tally *sum, double *most);

/* Warm start (solve/ccp/drift.c): takes from the impulses that joints, and contacts with their
 * bodies, start with what would make them unstable. */
talus_status tl_ccp_start_links(tl_ccp *job);

/* The impulse, or torque, that a contact of solver bodies a and b then starts with. */
talus_vec3 tl_ccp_ease(const tl_ccp *job, uint32_t a, uint32_t b, talus_vec3 impulse);

/* Finds what of the impulses takes back drift, and is not carried over; sweeps of single links have
 * found it already. */
void tl_ccp_recover_links(const tl_ccp *job);

/* Impulses and reactions into the table of joints. */
void tl_ccp_store_links(const tl_ccp *job);

/* ---- joints by Gauss-Seidel (solve/ccp/link_sweep.c): called by all workers of a team
 * ----------------
 */

#define TL_CCP_TEAM_LINKS 4096 /* from here on links are cut into blocks, for a team */
#define TL_CCP_LINK_BLOCK 1024

typedef struct tl_ccp_link_sums {
  double change, recovered; /* squares in velocity units */
  double most;
} tl_ccp_link_sums;

/* The links of a part in blocks. */
typedef struct tl_ccp_link_plan {
  size_t blocks;     /* one: they are visited by one worker */
  uint8_t *waits;    /* by link: has a body of another block; NULL: one block */
  uint32_t *waiting; /* those links */
  size_t waiting_count;
  tl_ccp_link_sums *sums; /* by block, and their total */
  double *residual;       /* by link: squares, to be tallied */
  bool has_laws;          /* some link has a law */
  bool is_recovered;      /* nothing of the drift is left */
  double drifted;         /* `recovered` of the first sweep */
} tl_ccp_link_plan;

/* Cuts the links of a part. owner: room by body. */
talus_status tl_ccp_plan_links(tl_ccp *job, uint32_t *owner);

/* Whether the workers share a part, contacts or joints. */
static inline bool tl_ccp_is_shared(const tl_ccp *job) {
  return job->row_count >= TL_CCP_TEAM_ROWS || (job->link_plan && job->link_plan->blocks > 1);
}

/* Applies the impulses that links start with, and aims them at where those lead. */
void tl_ccp_start_team_links(const tl_ccp *job, tl_team *team, int worker, int workers);
void tl_ccp_aim_team_links(const tl_ccp *job, tl_team *team, int worker, int workers);

/* One visit of every link: sum of squared changes in velocity units. */
double tl_ccp_sweep_links(const tl_ccp *job, tl_team *team, int worker, int workers, int turn);

/* Sum of squared residuals of the links' own impulses; *most is raised. */
double tl_ccp_measure_team_links(const tl_ccp *job, tl_team *team, int worker, int workers,
                                 double *most);

/* Rows that residuals are averaged over. */
static inline double tl_ccp_rows_of(const tl_ccp *job) {
  return (double)(job->row_count + job->link_rows);
}

/* ---- position correction (solve/ccp/correct.c)
 * -------------------------------------------------------
 */

/* What a row is for correction: deeper than the slop; or led there by the velocities of the
 * solution, which counts where the island's residual could have done it. An island without is left
 * alone. */
enum { TL_CCP_DEEP = 1, TL_CCP_SINKING = 2 };
#define TL_CCP_DEEP_SLOPS TL_R(2) /* what begins a correction, which ends at one */

/* Velocities, beside those of the solution, that take overlap out of positions in this step, into
 * `shifts`, which has the layout of the bodies; *corrected: whether there are any. Packs are used
 * up: impulses are stored before. The report's contact work learns of what was lifted. */
talus_status tl_ccp_correct(tl_ccp *job, tl_ccp_body *shifts, bool *corrected);

/* Biases of correction for packs [begin, end), without friction and impulses; deep: by row, what it
 * is. The two ways of doing it, with the same bits. */
void tl_ccp_aim_packs_scalar(const tl_ccp *job, size_t begin, size_t end, uint8_t *deep);
void tl_ccp_aim_packs_avx512(const tl_ccp *job, size_t begin, size_t end, uint8_t *deep);

/* What sequential impulses share of it: bodies without velocities, in `shifts` or, where impacts
 * have shifts there, in other room; joints that hold while bodies are shifted, their hard rows
 * wanting no motion of their own; afterwards, with the room as the bodies of the job, the work of
 * lifting, and what impacts had. */
talus_status tl_ccp_take_shifts(const tl_ccp *job, tl_ccp_body *shifts, tl_ccp_body **room);
talus_status tl_ccp_hold_links(const tl_ccp *from, tl_ccp *to);
talus_status tl_ccp_add_shifts(tl_ccp *job, tl_ccp_body *shifts);

/* ---- gradient methods -------------------------------------------------------------------------
 */

/* An impulse (or a difference of impulses) for every row: one entry per pack. */
typedef tl_ccp_lanes tl_ccp_field;

/* Which rows touch which body: rows of body i are entry[start[i]] ... , each 2 (8 pack + lane) +
 * side, side 1 for body b. */
typedef struct tl_ccp_gather {
  uint32_t *start, *entry;
} tl_ccp_gather;

talus_status tl_ccp_make_gather(const tl_ccp *job, tl_ccp_gather *gather);

/* The reduction buffer of the published method: an entry for each side of each row, sorted by body
 * as gather->entry is. */
typedef struct tl_ccp_scan {
  uint32_t *place;   /* of side 2 (8 pack + lane) + side */
  uint32_t *body;    /* of each entry */
  tl_wrench *buffer; /* what a row does to the body; then sums */
  size_t entries;
} tl_ccp_scan;

talus_status tl_ccp_make_scan(const tl_ccp *job, const tl_ccp_gather *gather, tl_ccp_scan *scan);
void tl_ccp_run_scan(const tl_ccp *job, const tl_ccp_scan *scan, const tl_ccp_field *p);
/* Impulse and moment of the body whose entries are [begin, end), end > begin. */
tl_wrench tl_ccp_scanned(const tl_ccp_scan *scan, size_t begin, size_t end);

/* How impulses are added up by body: one answer from all, up to rounding. */
typedef struct tl_ccp_reduction {
  talus_reduction kind; /* never auto */
  tl_ccp_gather gather; /* not with colours */
  tl_ccp_scan scan;     /* with scan */
} tl_ccp_reduction;

talus_status tl_ccp_make_reduction(const tl_ccp *job, tl_ccp_reduction *reduction);

/* out = free velocities + M^-1 D p for every body. With from, velocities of impulses q: norm is
 * |M^-1 D (p - q)|^2 in the mass norm, which is (p - q).N (p - q). */
void tl_ccp_spread(const tl_ccp *job, const tl_ccp_reduction *reduction,
                   const tl_ccp_body *free_bodies, const tl_ccp_field *p, const tl_ccp_body *from,
                   tl_ccp_body *out, tl_tally *norm);

/* Applies the impulses (and torques) in the packs to the bodies, colour by colour. */
void tl_ccp_push_all(const tl_ccp *job);

/* Sums that a step of all rows gives on the way, tallied row by row; d = u + b is the gradient at
 * `from`. */
enum { TL_CCP_LENGTH2, TL_CCP_SLOPE, TL_CCP_LEAD, TL_CCP_SUMS };
typedef struct tl_ccp_sums {
  double length2; /* |to - from|^2 in the metric E^-1 */
  double slope;   /* d . (to - from) */
  double lead;    /* d . (to - mark) */
} tl_ccp_sums;

/* Links have TL_JOINT_ROWS impulses each, behind everything else of a field. */
static inline size_t tl_ccp_link_lanes(const tl_ccp *job) {
  const size_t reals = 3 * TL_CCP_LANES;
  return (job->link_count * TL_JOINT_ROWS + reals - 1) / reals;
}
static inline talus_real *tl_ccp_link_field(const tl_ccp *job, tl_ccp_field *field) {
  return field[job->link_at].x;
}
static inline const talus_real *tl_ccp_link_read(const tl_ccp *job, const tl_ccp_field *field) {
  return field[job->link_at].x;
}

/* A step of all links, as of all rows; sums are added to. */
void tl_ccp_step_links(const tl_ccp *job, const tl_ccp_body *bodies, double scale,
                       const talus_real *from, const talus_real *mark, talus_real *to,
                       tl_tally *sums);

/* (p - q).C (p - q), C the compliances of links: what the product N does not have. Added to sum. */
void tl_ccp_soften_links(const tl_ccp *job, const talus_real *p, const talus_real *q,
                         tl_tally *sum);

/* A step of all rows: to = the projection of from - scale E d, with velocities from `bodies`, or
 * Coulomb's law with them. mark may be NULL; scalar: one step for all directions, as published,
 * which asks for no sums. */
typedef struct tl_ccp_step_def {
  tl_ccp_body *bodies; /* only read */
  talus_real scale;
  bool scalar;
  const tl_ccp_field *from, *mark;
  tl_ccp_field *to;
} tl_ccp_step_def;

void tl_ccp_step_all(const tl_ccp *job, const tl_ccp_step_def *def, tl_tally sums[TL_CCP_SUMS]);

/* The two ways of doing it for packs [begin, end), with the same bits. job->bodies are those of the
 * definition. */
void tl_ccp_step_packs_scalar(const tl_ccp *job, const tl_ccp_step_def *def, size_t begin,
                              size_t end, tl_tally sums[TL_CCP_SUMS]);
void tl_ccp_step_packs_avx512(const tl_ccp *job, const tl_ccp_step_def *def, size_t begin,
                              size_t end, tl_tally sums[TL_CCP_SUMS]);

/* Relative velocity at a row, in the form and with the bits that sweeps have. */
tl_ccp_vec tl_ccp_lane_velocity(const tl_ccp *job, size_t pack, uint32_t lane);

/* Squared residuals of impulses p with velocities `bodies` (which belong to it), and the largest
 * residual; uses the job's own body buffer. */
void tl_ccp_measure(const tl_ccp *job, const tl_ccp_body *bodies, const tl_ccp_field *p,
                    tl_tally *sum, double *most);

#endif
