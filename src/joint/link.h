/* Links: joints as a solver uses them, between solver bodies (kernels/ccp.h), with the exact
 * response of one joint's rows to its own impulses.
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

/* A compliance of this fraction of a row's own response makes redundant rows well-posed: they share
 * the load in the sense of least squares. With much less (1e-10), rounding in the frames of
 * redundant joints would cause large impulses that cancel each other only until the bodies turn a
 * little or a contact is affected. */
#define TL_LINK_SOFT (sizeof(talus_real) == 4 ? 1e-4 : 1e-7)

/* One row of a link, with all data that a visit reads, contiguous in memory: sweeps read the rows
 * of thousands of joints in order, and their time is that of loading them. 192 bytes in double. */
typedef struct tl_link_row {
  talus_vec3 la, aa, lb, ab; /* as tl_joint_row has them */
  talus_real bias, drift;    /* as tl_joint_rows has them */
  talus_real unit;           /* what its speed counts in residuals: 1, or m where it turns */
  talus_real impulse;
  double soft;             /* compliance, that of TL_LINK_SOFT included */
  double recovery;         /* what of the impulse takes back drift (solve/system/drift.c) */
  double l[TL_JOINT_HARD]; /* row of L, the inverse pivot on the diagonal; of a law: K_hh^-1 K_hx */
} tl_link_row;

typedef struct tl_link {
  uint32_t a, b;  /* solver bodies; the ground is one that cannot move */
  uint32_t joint; /* row of the table */
  uint32_t first; /* of its hard rows among those of all links (direct solver) */
  int hard;       /* rows that hold always, or with a compliance */
  bool has_law;   /* row [hard] follows `law` */
  tl_link_row *row;
  tl_joint_law law;
  double s;                /* K_xx - K_xh K_hh^-1 K_hx */
  double k[TL_JOINT_ROWS]; /* K_x: of the row with a law */
  talus_vec3 arm_b;
  talus_real length; /* m: what a rad counts */
  double answer;     /* tl_joint_step.answer */
} tl_link;

static inline int tl_link_rows(const tl_link *link) { return link->hard + (link->has_law ? 1 : 0); }

/* M^-1 of a row's part on one body. */
tl_ccp_body tl_link_answer(const tl_ccp_body *body, const tl_ccp_tensor *tensor, talus_vec3 linear,
                           talus_vec3 angular);

/* Fills the rows of a link, of which `row` has room for at least as many; impulses are zero. Then
 * tl_link_factor finds what follows from them; tensors may be NULL. */
void tl_link_load(tl_link *link, const tl_joint_rows *rows);
void tl_link_factor(tl_link *link, const tl_ccp_body *bodies, const tl_ccp_tensor *tensors);

/* The response of the last row while the others are held; the link must be factored and have a row
 * for its free direction. */
double tl_link_free_answer(const tl_link *link);

/* x = K^-1 x of the hard rows, by their factors: x of numbers, or of vectors of them. Written once,
 * because two problems solved at once (link_pair.c) must have the bits of each for itself. */
#define TL_LINK_SOLVE(link, x)                                                                     \
  do {                                                                                             \
    const tl_link_row *row_ = (link)->row;                                                         \
    const int n_ = (link)->hard;                                                                   \
    for (int i_ = 0; i_ < n_; ++i_)                                                                \
      for (int j_ = 0; j_ < i_; ++j_)                                                              \
        (x)[i_] -= row_[i_].l[j_] * (x)[j_];                                                       \
    for (int i_ = 0; i_ < n_; ++i_)                                                                \
      (x)[i_] *= row_[i_].l[i_];                                                                   \
    for (int i_ = n_ - 1; i_ >= 0; --i_)                                                           \
      for (int j_ = i_ + 1; j_ < n_; ++j_)                                                         \
        (x)[i_] -= row_[j_].l[i_] * (x)[j_];                                                       \
  } while (0)

/* Updates the biases and the law of the same rows after the guess of the velocities has changed. */
void tl_link_aim(tl_link *link, const tl_joint_rows *rows);

/* J v + bias of every row. */
void tl_link_speeds(const tl_link *link, const tl_ccp_body *bodies, double u[TL_JOINT_ROWS]);

/* Adds impulses to the two bodies: given ones, or the link's own. */
void tl_link_push(const tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors,
                  const double p[TL_JOINT_ROWS]);
void tl_link_push_own(const tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors);

/* The step from impulses p: dp. */
void tl_link_step(const tl_link *link, const tl_ccp_body *bodies, const talus_real p[TL_JOINT_ROWS],
                  double scale, double dp[TL_JOINT_ROWS]);

/* A Gauss-Seidel visit: makes the step of length 1 from the present impulses. Returns the square of
 * the change in velocity units, as the residual uses it. */
double tl_link_visit(tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors);

/* Adds dp to the impulses of the hard rows and to the bodies. Returns the square of the change that
 * this joint alone makes, so that redundant joints, whose changes cancel each other, are seen. */
double tl_link_add(tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors,
                   const double dp[TL_JOINT_HARD]);

/* A Gauss-Seidel visit of the impulses that remove drift, separately: `bodies` have the velocities
 * of these impulses alone, and rows with a law do not act. Returns the square of the step in
 * velocity units. */
double tl_link_recover(tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors);

/* Does tl_link_visit on `bodies` and tl_link_recover on `recovering` together; responses are the
 * same (link_pair.c). *recovered: what the second returns. */
double tl_link_visit_both(tl_link *link, tl_ccp_body *bodies, tl_ccp_body *recovering,
                          const tl_ccp_tensor *tensors, double *recovered);

/* The step of the row with a law, at impulse p, while all others are held; 0 without such a row. */
double tl_link_law_step(const tl_link *link, const tl_ccp_body *bodies, talus_real p, double scale);

/* Sum of the squared residuals of the rows at impulses p (NULL: its own), m/s (rad/s times length);
 * *most: raised to the largest. */
double tl_link_residual(const tl_link *link, const tl_ccp_body *bodies, const talus_real *p,
                        double *most);

/* The part of the objective besides the energy of the velocities: the sum of bias times impulse,
 * and the energy of compliances and laws. */
double tl_link_objective(const tl_link *link, const tl_ccp_body *bodies);

/* Writes into the joint what the link did over a step of h: force, torque, and the impulses that
 * the next step starts with. */
void tl_link_store(const tl_link *link, double h, tl_joint_state *joint);

/* ---- all hard rows at once ------------------------------------------------------------------- */

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

/* Which links touch which body, as consecutive lists, with room to order them. Found once for all
 * links; parts of them are then factored separately. */
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
