/* The iterations of gradient methods, without the memory that they work on: the host's
 * (gradient.c) or that of a device (step/device/gradient.c) takes the steps. */
#ifndef TL_SOLVE_CCP_ITERATION_H
#define TL_SOLVE_CCP_ITERATION_H

#include "solve/system/system.h"

/* Sums that a step of all rows computes on the way, tallied row by row. d = u + b is the gradient
 * at `from`. */
enum { TL_CCP_LENGTH2, TL_CCP_SLOPE, TL_CCP_RESTART, TL_CCP_SUMS };
typedef struct tl_ccp_sums {
  double length2; /* |to - from|^2 in the metric E^-1 */
  double slope;   /* d . (to - from) */
  double restart; /* d . (to - mark) */
} tl_ccp_sums;

/* Impulses of all rows, each with the velocities of bodies that belong to it; of the last there are
 * no velocities. */
typedef enum tl_ccp_guess {
  TL_GUESS_NONE = -1,
  TL_GUESS_NOW,
  TL_GUESS_NEXT,
  TL_GUESS_EXTRAPOLATED, /* apgd */
  TL_GUESS_BEST,
  TL_GUESSES
} tl_ccp_guess;

typedef struct tl_ccp_iteration_calls {
  /* Velocities of the impulses `of`. With `from`: *norm = (of - from).N (of - from). */
  talus_status (*spread)(void *, tl_ccp_guess of, tl_ccp_guess from, double *norm);
  /* next = projection of (from - scale E d), or Coulomb's law. scalar: one step length for all
   * directions, as published; then sums are not computed. mark: for sums->restart. *sums are known
   * when the next `spread` with `from` returns: a device fetches both at once. */
  talus_status (*step)(void *, tl_ccp_guess from, tl_ccp_guess mark, talus_real scale, bool scalar,
                       tl_ccp_sums *sums);
  /* out = a + s (b - a): impulses, and velocities. */
  talus_status (*mix)(void *, tl_ccp_guess a, talus_real s, tl_ccp_guess b, tl_ccp_guess out,
                      bool with_bodies);
  talus_status (*copy)(void *, tl_ccp_guess to, tl_ccp_guess from, bool with_bodies);
  void (*swap)(void *); /* now and next */
  /* RMS residual of `now`, and the largest, m/s. */
  talus_status (*measure)(void *, double *rms, double *most);
  /* After the usual iterations: whether more are worthwhile (tl_effort_find_impact). NULL: no. */
  talus_status (*reconsider)(void *, tl_effort *effort);
} tl_ccp_iteration_calls;

typedef struct tl_ccp_iteration {
  const tl_ccp_iteration_calls *calls;
  void *context;
  const talus_solve_def *settings;
  tl_solve_report *report;
  struct tl_cancel *cancel;
  tl_effort effort;
  bool has_coulomb;   /* some row has Coulomb's law: there is no objective, and it may diverge */
  bool is_ncp;        /* that law holds for all rows there are */
  bool always_begins; /* apgd begins anew after each look: looks change the problem */
  /* results */
  int done;
  double best_rms, best_max;
} tl_ccp_iteration;

/* Iterates from `now`, whose velocities are known. The impulses with the smallest residual are
 * `best`. */
talus_status tl_ccp_iterate(tl_ccp_iteration *iteration);

#endif
