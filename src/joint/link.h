/* Links: joints as a solver sees them, between solver bodies (kernels/ccp.h), with the exact answer
 * of one joint's rows to impulses of its own.
 *
 * The rows of a joint are stepped together. With K = J M^-1 J^T of the joint, r = J v + bias + soft
 * p of its hard rows and x the row that follows a law, a step of length `scale` is
 *
 *   (K_hh / scale) dp_h + (K_hx / scale) dp_x = -r            hard rows
 *   p_x + dp_x = law(u_x + (K_xh dp_h + K_xx dp_x) / scale)   the other one
 *
 * scale = 1 solves the joint with everything else held: a visit of Gauss-Seidel. Less is the
 * projected step of gradient methods in the metric K. Eliminating dp_h leaves one scalar equation,
 * which tl_joint_law_impulse solves exactly. */
#ifndef TL_JOINT_LINK_H
#define TL_JOINT_LINK_H

#include "joint/joint.h"
#include "kernels/ccp.h"

/* What makes redundant rows well-posed: a compliance of this much of a row's own answer. Impulses
 * of rows that say the same thing are then those of least squares. Much less (1e-10) lets rounding
 * in the frames of redundant joints make large impulses that cancel each other, until the bodies
 * turn a little or a contact sees them. */
#define TL_LINK_SOFT (sizeof(talus_real) == 4 ? 1e-4 : 1e-7)

typedef struct tl_link {
  uint32_t a, b;  /* solver bodies; the ground is one that cannot move */
  uint32_t joint; /* row of the table */
  uint32_t first; /* of its hard rows among those of all links (direct solver) */
  tl_joint_rows rows;
  talus_real impulse[TL_JOINT_ROWS];
  double recovery[TL_JOINT_HARD];         /* what of the impulses takes back drift (ccp_links.c) */
  double soft[TL_JOINT_ROWS];             /* compliance, that of TL_LINK_SOFT included */
  double k[TL_JOINT_ROWS][TL_JOINT_ROWS]; /* K, soft included */
  double l[TL_JOINT_HARD][TL_JOINT_HARD]; /* L below the diagonal, inverse pivots on it */
  double g[TL_JOINT_HARD];                /* K_hh^-1 K_hx */
  double s;                               /* K_xx - K_xh K_hh^-1 K_hx */
} tl_link;

static inline int tl_link_rows(const tl_link *link) {
  return link->rows.hard + (link->rows.has_law ? 1 : 0);
}

/* M^-1 of a row's part on one body. */
tl_ccp_body tl_link_answer(const tl_ccp_body *body, const tl_ccp_tensor *tensor, talus_vec3 linear,
                           talus_vec3 angular);

/* Finds K and what follows from it. tensors may be NULL. */
void tl_link_factor(tl_link *link, const tl_ccp_body *bodies, const tl_ccp_tensor *tensors);

/* J v + bias of every row. */
void tl_link_speeds(const tl_link *link, const tl_ccp_body *bodies, double u[TL_JOINT_ROWS]);

/* Adds impulses to the two bodies. */
void tl_link_push(const tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors,
                  const double p[TL_JOINT_ROWS]);

/* The step from impulses p: dp. */
void tl_link_step(const tl_link *link, const tl_ccp_body *bodies, const talus_real p[TL_JOINT_ROWS],
                  double scale, double dp[TL_JOINT_ROWS]);

/* Gauss-Seidel on what takes back drift, for itself: `bodies` have the velocities of these impulses
 * alone, and rows with a law do not act. Returns the square of the step in velocity units. */
double tl_link_recover(tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors);

/* The step of the row with a law alone, all others held. 0 where there is none. */
double tl_link_law_step(const tl_link *link, const tl_ccp_body *bodies,
                        const talus_real p[TL_JOINT_ROWS], double scale);

/* Sum of the squared residuals of the rows, m/s (rad/s times length); *most: raised to the largest.
 */
double tl_link_residual(const tl_link *link, const tl_ccp_body *bodies,
                        const talus_real p[TL_JOINT_ROWS], double *most);

/* What the objective has beside the energy of the velocities: sum of bias times impulse, and the
 * energy of compliances and laws. */
double tl_link_objective(const tl_link *link, const tl_ccp_body *bodies);

/* ---- all hard rows at once ---------------------------------------------------------------------
 */

/* K of some links as L D L^T within its envelope (Jennings 1977), links in the order of Cuthill and
 * McKee 1969 reversed, so that chains and small loops cost what they have links. In double. */
typedef struct tl_link_system {
  size_t n;         /* hard rows */
  uint32_t *place;  /* row of a link (its `first` + i) -> row of the system */
  uint32_t *lowest; /* by row: first column of its envelope */
  size_t *start;    /* by row: where its envelope begins in `value` */
  double *value;    /* the envelope without the diagonal */
  double *inverse;  /* of the pivots; 0: a row that says nothing new */
  double *x;        /* right-hand side, then solution; by row of the system */
} tl_link_system;

/* Which links touch which body, as lists one behind the other, and room to order them: found once
 * for all links, whatever parts of them are then factored for themselves. */
typedef struct tl_link_graph {
  uint32_t *start, *link; /* by body */
  uint32_t *rank, *degree, *order;
  uint8_t *seen;
} tl_link_graph;
talus_status tl_link_graph_make(tl_link_graph *graph, const tl_link *links, size_t count,
                                size_t bodies, tl_arena *arena);

/* Finds the order of links first ... first + count - 1, which share movable bodies with no others;
 * fills and factors. Sets `first` of these links, from 0. Scratch and result in the arena. *fits is
 * false, and nothing is factored, where a row has more than `most` entries on average. */
talus_status tl_link_system_make(tl_link_system *system, tl_link *links, const tl_link_graph *graph,
                                 size_t first, size_t count, const tl_ccp_body *body,
                                 const tl_ccp_tensor *tensors, size_t most, tl_arena *arena,
                                 bool *fits);

/* x = K^-1 x. */
void tl_link_system_solve(const tl_link_system *system);

#endif
