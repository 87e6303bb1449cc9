/* Rows of contacts: packs of eight, and the operations of a visit.
 *
 * sweep.c        visits, one lane after the other; chooses between the two ways
 * sweep_lanes.h  visits, several lanes at a time (visits.h)
 * lift.c, lift_lanes.h  visits in position correction where no arm turns a body
 * rolling.c      rows that pass on torque: rolling and spinning resistance
 * roll_lanes.h   visits of those, several lanes at a time
 * step_lanes.h   a step of all rows (gradient.h), several lanes at a time
 *
 * Sweeps need no reduction buffer: rows of a colour share no movable body, and gradient methods sum
 * by body. */
#ifndef TL_SOLVE_CCP_ROWS_H
#define TL_SOLVE_CCP_ROWS_H

#include "base/tally.h"
#include "kernels/ccp.h"
#include "kernels/rolling.h"

#include <stddef.h>

#define TL_CCP_LANES 8

/* A vector for each of eight rows. */
typedef struct tl_ccp_lanes {
  talus_real x[TL_CCP_LANES], y[TL_CCP_LANES], z[TL_CCP_LANES];
} tl_ccp_lanes;

/* Eight rows side by side. Unused lanes have en = 0 and bodies that do not move. */
typedef struct tl_ccp_pack {
  uint32_t a[TL_CCP_LANES], b[TL_CCP_LANES]; /* solver bodies */
  tl_ccp_lanes normal;
  talus_real en[TL_CCP_LANES], bias[TL_CCP_LANES];
  tl_ccp_lanes impulse; /* last member that lift.c needs (its x) */
  talus_real et[TL_CCP_LANES];
  /* m: arms along the normal, see `arms` */
  talus_real reach_a[TL_CCP_LANES], reach_b[TL_CCP_LANES];
} tl_ccp_pack;

/* A number for each of eight rows. */
typedef struct tl_ccp_numbers {
  talus_real of[TL_CCP_LANES];
} tl_ccp_numbers;

/* From centres of mass to contact points. */
typedef struct tl_ccp_arms {
  tl_ccp_lanes a, b;
} tl_ccp_arms;

/* Additional numbers of rows, if some pair of materials resists rolling or spinning. */
typedef struct tl_ccp_roll {
  tl_ccp_lanes torque;
  talus_real rolling[TL_CCP_LANES], spinning[TL_CCP_LANES], er[TL_CCP_LANES], es[TL_CCP_LANES];
  uint32_t lanes; /* bit i: row i resists rolling or spinning */
} tl_ccp_roll;

/* Rows, and the bodies that they act on: everything that a visit reads and writes, in flat arrays,
 * because sweeps spend all their time here. These are all rows, or those of a part, whose packs are
 * a range of all packs. */
typedef struct tl_ccp_rows {
  tl_ccp_body *bodies;    /* body_count, and one more that stands for the bodies of unused lanes */
  tl_ccp_tensor *tensors; /* NULL: every body is isotropic */
  tl_ccp_pack *packs;
  tl_ccp_arms *arms;  /* by pack; NULL: every arm is its reach times the normal, as for spheres */
  tl_ccp_roll *rolls; /* by pack; NULL: no pair of materials resists rolling or spinning */
  tl_ccp_numbers *frictions; /* by pack; NULL: every row has the coefficient `friction` */
  talus_real friction;
  size_t body_count, pack_count, count;
  talus_real ncp;          /* 1: Coulomb's law, 0: its convex relaxation */
  bool is_unmeasured;      /* nobody reads what sweeps return, which may then be anything */
  const uint32_t *contact; /* by row, in solving order: index of its contact */

  /* Set for all rows only, not for a part. */
  uint32_t *pack_row; /* first row of each pack, and one more */
  /* m, by pack and lane: gap after impacts, overlap negative; valid until bodies are shifted */
  talus_real *gaps;
} tl_ccp_rows;

static inline talus_vec3 tl_ccp_lane(const tl_ccp_lanes *lanes, uint32_t i) {
  return tl_vec3(lanes->x[i], lanes->y[i], lanes->z[i]);
}
static inline void tl_ccp_put_lane(tl_ccp_lanes *lanes, uint32_t i, talus_vec3 v) {
  lanes->x[i] = v.x;
  lanes->y[i] = v.y;
  lanes->z[i] = v.z;
}

static inline talus_real tl_ccp_friction(const tl_ccp_rows *rows, size_t pack, uint32_t i) {
  return rows->frictions ? rows->frictions[pack].of[i] : rows->friction;
}

/* True if every arm is along its normal and every body is isotropic: sweeps then use a form of
 * their own, with fewer operations and other rounding. */
static inline bool tl_ccp_is_radial(const tl_ccp_rows *rows) {
  return !rows->arms && !rows->tensors;
}

/* The arm of body a (or b) in a lane of a pack. */
static inline talus_vec3 tl_ccp_arm_a(const tl_ccp_rows *rows, size_t pack, uint32_t i) {
  if (rows->arms)
    return tl_ccp_lane(&rows->arms[pack].a, i);
  const tl_ccp_pack *p = &rows->packs[pack];
  return tl_scale(tl_ccp_lane(&p->normal, i), p->reach_a[i]);
}
static inline talus_vec3 tl_ccp_arm_b(const tl_ccp_rows *rows, size_t pack, uint32_t i) {
  if (rows->arms)
    return tl_ccp_lane(&rows->arms[pack].b, i);
  const tl_ccp_pack *p = &rows->packs[pack];
  return tl_scale(tl_ccp_lane(&p->normal, i), p->reach_b[i]);
}

/* ---- rows that pass on torque (rolling.c) ---------------------------------------------------- */

/* True if some row of the pack, or this row, passes on torque. */
static inline bool tl_ccp_rolls(const tl_ccp_rows *rows, size_t pack) {
  return rows->rolls && rows->rolls[pack].lanes != 0;
}
static inline bool tl_ccp_lane_rolls(const tl_ccp_rows *rows, size_t pack, uint32_t i) {
  return rows->rolls && (rows->rolls[pack].lanes >> i & 1u) != 0;
}

/* The law of a row that passes on torque; its steps are multiplied by `scale`. */
tl_roll_law tl_ccp_roll_law(const tl_ccp_rows *rows, size_t pack, uint32_t lane, talus_real scale);

/* Relative velocity and spin at a row; impulse and torque of a row. */
tl_wrench tl_ccp_twist_of(const tl_ccp_rows *rows, size_t pack, uint32_t lane);
tl_wrench tl_ccp_wrench_of(const tl_ccp_rows *rows, size_t pack, uint32_t lane);

/* Visits a row that passes on torque once; returns the squared change in velocity units. */
double tl_ccp_roll_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane);
double tl_ccp_roll_residual(const tl_ccp_rows *rows, size_t pack, uint32_t lane);

/* ---- one row (sweep.c) ----------------------------------------------------------------------- */

/* Applies an impulse at the point of a row: p to b, -p to a. The second function applies a torque
 * too. */
void tl_ccp_push_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane, talus_vec3 p);
void tl_ccp_push_wrench(const tl_ccp_rows *rows, size_t pack, uint32_t lane, tl_wrench p);

/* Relative velocity at a row, in the form and with the bits of sweeps. */
tl_ccp_vec tl_ccp_lane_velocity(const tl_ccp_rows *rows, size_t pack, uint32_t lane);

/* For one row: a visit, which returns the squared change in velocity units; applying a share of the
 * starting impulse, which returns its work (tl_ccp_warm_packs); the residual. */
double tl_ccp_sweep_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane);
double tl_ccp_warm_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane, talus_real share);
talus_real tl_ccp_residual_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane);

/* Multiplies impulses and torques by s. */
void tl_ccp_scale_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane, talus_real s);
void tl_ccp_scale_pack(const tl_ccp_rows *rows, size_t pack, talus_real s);

/* True if a row of the pack has a body that is not isotropic. */
bool tl_ccp_needs_tensor(const tl_ccp_rows *rows, const tl_ccp_pack *pack);

/* ---- packs ----------------------------------------------------------------------------------- */

/* Applies a share of the starting impulses of packs. Returns the sum of p.((u + u')/2 + b), with p
 * the whole impulse, u and u' the relative velocity before and after. With share 1 that is the
 * change of the objective; with share 0, which changes nothing, its slope along the impulses. */
double tl_ccp_warm_packs(const tl_ccp_rows *rows, size_t begin, size_t end, bool serial,
                         talus_real share);

/* Visits every row of packs [begin, end) once. Rows must share no movable body unless `serial`,
 * which visits them one after the other. Returns the sum of squared changes in velocity units. */
double tl_ccp_sweep_packs(const tl_ccp_rows *rows, size_t begin, size_t end, bool serial);

/* Returns the sum of squared residuals of the packs; *most is the largest residual. */
double tl_ccp_residual_packs(const tl_ccp_rows *rows, size_t begin, size_t end, double *most);
/* Tallies row by row: squared residuals, and the result of tl_ccp_warm_packs with share 0. */
void tl_ccp_tally_residuals(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum,
                            double *most);
void tl_ccp_tally_work(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum);
/* Adds 8 x eights numbers to a tally. */
void tl_ccp_tally_numbers(const double *numbers, size_t eights, tl_tally *sum);

/* The same, one lane after the other; visits.h has the versions in lanes, with the same bits. */
double tl_ccp_warm_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end,
                                talus_real share);
double tl_ccp_sweep_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end);
double tl_ccp_residual_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end,
                                    double *most);

/* ---- momentum (momentum.c) ------------------------------------------------------------------- */

/* State of a row for momentum: the impulse (or torque) at the begin of its last visit, and that at
 * the end of the sweep before. */
typedef struct tl_ccp_course {
  talus_vec3 from, last;
} tl_ccp_course;

/* How far a visit, which left a row with the impulse `now`, went back against the direction of the
 * sweep before: (from - now) . E^-1 (now - last). */
double tl_ccp_pull_of(talus_vec3 now, talus_vec3 n, talus_real en, talus_real et,
                      const tl_ccp_course *course);

/* tl_ccp_sweep_packs with momentum: before its visit, each row is extrapolated by beta times its
 * change in the sweep before. last: by pack, the impulses after the sweep before that one;
 * replaced by the impulses before this sweep. *pull: the sum of tl_ccp_pull_of. beta < 0:
 * there was no sweep before, and `last` is only written. No row may pass on torque. */
double tl_ccp_sweep_on(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta, size_t begin,
                       size_t end, bool serial, double *pull);
double tl_ccp_sweep_on_scalar(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta,
                              size_t begin, size_t end, double *pull);

/* ---- position correction (correct.c) --------------------------------------------------------- */

/* tl_ccp_sweep_packs and the sum of squared residuals (m/s)^2 for rows of position correction that
 * are radial and have no links (lift.c). Lengths of impulses are in impulse.x and begin with 0. The
 * second version goes one lane after the other, for tests. */
double tl_ccp_lift_packs(const tl_ccp_rows *rows, size_t begin, size_t end, bool serial);
double tl_ccp_lift_residual(const tl_ccp_rows *rows, size_t begin, size_t end);
double tl_ccp_lift_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end);
double tl_ccp_lift_residual_scalar(const tl_ccp_rows *rows, size_t begin, size_t end);

/* State of a row for correction. DEEP: deeper than TL_CCP_DEEP_SLOPS slops. SINKING: led there by
 * the velocities of the solution; this counts only if the island's residual is large enough to be
 * the reason. An island without either is left alone. */
enum { TL_CCP_DEEP = 1, TL_CCP_SINKING = 2 };
/* overlap, in slops, that begins a correction; a correction ends at one slop */
#define TL_CCP_DEEP_SLOPS TL_R(2)

/* Parameters of position correction. */
typedef struct tl_ccp_aim {
  talus_real h;              /* s */
  talus_real slop;           /* m */
  talus_real share;          /* part of the overlap beyond the slop that one step removes */
  talus_real recovery_speed; /* m/s */
} tl_ccp_aim;

/* Computes the biases of correction for packs [begin, end), without friction and impulses. deep: by
 * row, bits TL_CCP_DEEP and TL_CCP_SINKING. One lane after the other, for tests; visits.h has the
 * version in use. */
void tl_ccp_aim_packs_scalar(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t begin,
                             size_t end, uint8_t *deep);

#endif
