/* Rows of contacts: packs of eight, and what is done to them in a visit.
 *
 *   sweep.c        visits, one lane after the other; what chooses between the two ways
 *   sweep_lanes.h  the same, several lanes at a time (visits.h)
 *   lift.c, lift_lanes.h  visits in position correction where no arm turns a body
 *   rolling.c      rows that pass on torque: rolling and spinning resistance
 *   roll_lanes.h   visits of those, several lanes at a time
 *   step_lanes.h   a step of all rows (gradient.h), several lanes at a time
 *
 * There is no reduction buffer: rows of a colour share no body that they could both change, and
 * gradient methods gather per body. */
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

/* Eight rows side by side. Lanes beyond the pack's rows are empty: en = 0 and bodies that do not
 * move. */
typedef struct tl_ccp_pack {
  uint32_t a[TL_CCP_LANES], b[TL_CCP_LANES]; /* solver bodies */
  tl_ccp_lanes normal;
  talus_real en[TL_CCP_LANES], bias[TL_CCP_LANES];
  tl_ccp_lanes impulse; /* up to its x, a pack has all that lift.c needs */
  talus_real et[TL_CCP_LANES];
  talus_real reach_a[TL_CCP_LANES], reach_b[TL_CCP_LANES]; /* arms along the normal, see `arms` */
} tl_ccp_pack;

/* A number for each of eight rows. */
typedef struct tl_ccp_numbers {
  talus_real of[TL_CCP_LANES];
} tl_ccp_numbers;

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

/* Rows, and the bodies that they act on: all that a visit reads and writes, flat, because sweeps
 * are made of nothing else. Of all contacts, or of a part, whose packs are some of those of all. */
typedef struct tl_ccp_rows {
  tl_ccp_body *bodies;    /* body_count, and one more that is nobody's, for empty lanes */
  tl_ccp_tensor *tensors; /* NULL: every body is isotropic */
  tl_ccp_pack *packs;
  tl_ccp_arms *arms;  /* by pack; NULL: every arm is its reach times the normal, as for spheres */
  tl_ccp_roll *rolls; /* by pack; NULL: no pair of materials resists rolling or spinning */
  tl_ccp_numbers *frictions; /* by pack; NULL: that of every row is `friction` */
  talus_real friction;
  size_t body_count, pack_count, count;
  talus_real ncp;          /* 1: Coulomb's law, 0: its convex relaxation */
  const uint32_t *contact; /* by row, in solving order: its contact */

  /* Of all rows only. */
  uint32_t *pack_row; /* first row of each pack, and one more */
  talus_real *gaps;   /* m, by pack and lane: as impacts left it, overlap negative; until bodies
                         are shifted */
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

/* Every arm is along its normal and every body answers the same in all directions: a sweep then
 * takes a form of its own, with fewer operations and other rounding. */
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

/* Whether some row of the pack, or this one, passes on torque. */
static inline bool tl_ccp_rolls(const tl_ccp_rows *rows, size_t pack) {
  return rows->rolls && rows->rolls[pack].lanes != 0;
}
static inline bool tl_ccp_lane_rolls(const tl_ccp_rows *rows, size_t pack, uint32_t i) {
  return rows->rolls && (rows->rolls[pack].lanes >> i & 1u) != 0;
}

/* The law of a row that passes on torque, with its steps times `scale`. */
tl_roll_law tl_ccp_roll_law(const tl_ccp_rows *rows, size_t pack, uint32_t lane, talus_real scale);

/* Relative velocity and spin at a row, impulse and torque of it. */
tl_wrench tl_ccp_twist_of(const tl_ccp_rows *rows, size_t pack, uint32_t lane);
tl_wrench tl_ccp_wrench_of(const tl_ccp_rows *rows, size_t pack, uint32_t lane);

/* One visit of a row that passes on torque: its squared change in velocity units. */
double tl_ccp_roll_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane);
double tl_ccp_roll_residual(const tl_ccp_rows *rows, size_t pack, uint32_t lane);

/* ---- one row (sweep.c) ----------------------------------------------------------------------- */

/* Applies an impulse at the point of a row to its bodies: p to b, its opposite to a; and one with a
 * torque. */
void tl_ccp_push_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane, talus_vec3 p);
void tl_ccp_push_wrench(const tl_ccp_rows *rows, size_t pack, uint32_t lane, tl_wrench p);

/* Relative velocity at a row, in the form and with the bits that sweeps have. */
tl_ccp_vec tl_ccp_lane_velocity(const tl_ccp_rows *rows, size_t pack, uint32_t lane);

/* Returns its squared change in velocity units; a share of the impulse it starts with, and the work
 * of that (tl_ccp_warm_packs); its residual. */
double tl_ccp_sweep_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane);
double tl_ccp_warm_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane, talus_real share);
talus_real tl_ccp_residual_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane);

/* Impulses and torques times s. */
void tl_ccp_scale_lane(const tl_ccp_rows *rows, size_t pack, uint32_t lane, talus_real s);
void tl_ccp_scale_pack(const tl_ccp_rows *rows, size_t pack, talus_real s);

/* Whether a row of the pack has a body that answers differently in different directions. */
bool tl_ccp_needs_tensor(const tl_ccp_rows *rows, const tl_ccp_pack *pack);

/* ---- packs ----------------------------------------------------------------------------------- */

/* Applies a share of the impulses that packs start with. Returns the sum of p.((u + u')/2 + b), p
 * the whole impulse, u and u' the relative velocity before and after: with share 1 that is what the
 * impulses change of the objective; with share 0, which changes nothing, its slope along them. */
double tl_ccp_warm_packs(const tl_ccp_rows *rows, size_t begin, size_t end, bool serial,
                         talus_real share);

/* One visit of every row in packs [begin, end), which share no movable body unless `serial`: then
 * rows are visited one after the other. Returns the sum of squared changes in velocity units. */
double tl_ccp_sweep_packs(const tl_ccp_rows *rows, size_t begin, size_t end, bool serial);

/* Sum of squared residuals of the packs and their largest. */
double tl_ccp_residual_packs(const tl_ccp_rows *rows, size_t begin, size_t end, double *most);
/* Row by row: squared residuals, and tl_ccp_warm_packs with a share of 0. */
void tl_ccp_tally_residuals(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum,
                            double *most);
void tl_ccp_tally_work(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum);
/* Adds so many times eight numbers. */
void tl_ccp_tally_numbers(const double *numbers, size_t eights, tl_tally *sum);

/* One lane after the other; visits.h has the same in lanes, with the same bits. */
double tl_ccp_warm_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end,
                                talus_real share);
double tl_ccp_sweep_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end);
double tl_ccp_residual_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end,
                                    double *most);

/* ---- momentum (momentum.c) ------------------------------------------------------------------- */

/* What a row has: the impulse (or torque) that its last visit began with, and that which the sweep
 * before ended with. */
typedef struct tl_ccp_course {
  talus_vec3 from, last;
} tl_ccp_course;

/* How far a visit that left a row with the impulse `now` pulled back against the way of the sweep
 * before: (from - now) . E^-1 (now - last). */
double tl_ccp_pull_of(talus_vec3 now, talus_vec3 n, talus_real en, talus_real et,
                      const tl_ccp_course *course);

/* tl_ccp_sweep_packs of rows that are moved on first by beta times the way that they went in the
 * sweep before: from `last`, by pack, which becomes what they had. beta < 0: there was none, and
 * `last` is only written. *pull: the sum of tl_ccp_pull_of. No row passes on torque. */
double tl_ccp_sweep_on(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta, size_t begin,
                       size_t end, bool serial, double *pull);
double tl_ccp_sweep_on_scalar(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta,
                              size_t begin, size_t end, double *pull);

/* ---- position correction (correct.c) --------------------------------------------------------- */

/* tl_ccp_sweep_packs and the sum of squared residuals (m/s)^2 for rows that are aimed, radial and
 * without links (lift.c): lengths of impulses in impulse.x, which begin with 0. One lane after the
 * other for tests. */
double tl_ccp_lift_packs(const tl_ccp_rows *rows, size_t begin, size_t end, bool serial);
double tl_ccp_lift_residual(const tl_ccp_rows *rows, size_t begin, size_t end);
double tl_ccp_lift_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end);
double tl_ccp_lift_residual_scalar(const tl_ccp_rows *rows, size_t begin, size_t end);

/* What a row is for correction: deeper than the slop; or led there by the velocities of the
 * solution, which counts where the island's residual could have done it. An island without is left
 * alone. */
enum { TL_CCP_DEEP = 1, TL_CCP_SINKING = 2 };
#define TL_CCP_DEEP_SLOPS TL_R(2) /* what begins a correction, which ends at one */

/* How overlap is taken out. */
typedef struct tl_ccp_aim {
  talus_real h;              /* s */
  talus_real slop;           /* m */
  talus_real share;          /* of the overlap beyond the slop, in a step */
  talus_real recovery_speed; /* m/s */
} tl_ccp_aim;

/* Biases of correction for packs [begin, end), without friction and impulses; deep: by row, what it
 * is. One lane after the other, for tests; visits.h has what runs. */
void tl_ccp_aim_packs_scalar(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t begin,
                             size_t end, uint8_t *deep);

#endif
