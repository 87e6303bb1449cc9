/* Gradient methods: all rows step at once from the same velocities, then velocities follow by a
 * gather.
 *
 *   jacobi  Tasora, Negrut, Anitescu 2011, eqs. 12-14, with one scalar step per contact. As
 *           printed (omega = 1) it diverges on ordinary packings (docs/sources.md C7): a guard
 *           watches the residual, goes back to the best impulses and halves the step.
 *   apgd    Nesterov's accelerated projected gradient with adaptive restart (Mazhar et al. 2015;
 *           docs/sources.md C4), in the metric E of the contacts, so that bodies of very
 *           different mass do no harm.
 *   bb      spectral projected gradient: the step of Barzilai and Borwein 1988, then an exact
 *           search along the feasible direction, because the objective is quadratic.
 *
 * With Coulomb friction (`ncp`) its law replaces the projection in every step, as in sweeps. The
 * fixed points are those of De Saxce's lift mu |u_t| as an outer loop (docs/sources.md C3), but
 * that loop reduces errors so slowly (kernels/ccp_visit.h) that bodies sank from mu = 2 on. There
 * is no objective then that a step could lower: the residual guards the iterations, and an
 * iteration that diverges goes back to its best impulses.
 *
 * The result is the impulses with the smallest residual. */
#include "solve/ccp/iteration.h"

#include "base/cancel.h"

#include <math.h>

#define CHECK_EVERY 10 /* iterations between looks at the residual */
/* smallest factor on a step if Coulomb's law leaves no function to search along */
#define SHORTEST 0.1

static const tl_ccp_guess NONE = TL_GUESS_NONE, NOW = TL_GUESS_NOW, NEXT = TL_GUESS_NEXT,
                          EXTRAPOLATED = TL_GUESS_EXTRAPOLATED, BEST = TL_GUESS_BEST;

/* ---- looks ----------------------------------------------------------------------------------- */

/* Measures `now` and keeps a copy if it is the best so far. */
static talus_status look(tl_ccp_iteration *g, double *rms) {
  double most;
  /* Mixed velocities drift from their impulses by rounding: compute them again. */
  TL_TRY(g->calls->spread(g->context, NOW, NONE, NULL));
  TL_TRY(g->calls->measure(g->context, rms, &most));
  if (!(*rms < g->best_rms))
    return TALUS_OK;
  g->best_rms = *rms;
  g->best_max = most;
  return g->calls->copy(g->context, BEST, NOW, false);
}

/* Looks; *is_done: the residual is good enough. */
static talus_status judge(tl_ccp_iteration *g, double *rms, bool *is_done) {
  TL_TRY(look(g, rms));
  if (g->calls->reconsider && g->done >= g->effort.usual)
    TL_TRY(g->calls->reconsider(g->context, &g->effort));
  *is_done = g->effort.tolerance > 0 && tl_effort_is_enough(&g->effort, g->done, *rms);
  return TALUS_OK;
}

static bool goes_on(const tl_ccp_iteration *g, bool is_done) {
  return g->done < g->effort.most && !is_done && !tl_cancel_look(g->cancel);
}

/* If the iteration diverged, goes back to the best impulses. */
static talus_status go_back(tl_ccp_iteration *g, double rms, bool *went_back) {
  *went_back = !(rms <= 4 * g->best_rms);
  if (!*went_back)
    return TALUS_OK;
  TL_TRY(g->calls->copy(g->context, NOW, BEST, false));
  return g->calls->spread(g->context, NOW, NONE, NULL);
}

/* ---- the three iterations -------------------------------------------------------------------- */

static talus_status iterate_jacobi(tl_ccp_iteration *g) {
  const tl_ccp_iteration_calls *calls = g->calls;
  talus_real omega = (talus_real)g->settings->omega;
  const talus_real lambda = (talus_real)g->settings->lambda;
  bool is_done, went_back;
  double rms;
  TL_TRY(judge(g, &rms, &is_done));
  while (goes_on(g, is_done)) {
    TL_TRY(calls->step(g->context, NOW, NONE, omega, true, NULL));
    TL_TRY(calls->mix(g->context, NOW, lambda, NEXT, NEXT, false));
    TL_TRY(calls->spread(g->context, NEXT, NONE, NULL));
    calls->swap(g->context);
    g->done++;
    if (g->done % CHECK_EVERY != 0 && g->done < g->effort.most)
      continue;
    TL_TRY(judge(g, &rms, &is_done));
    TL_TRY(go_back(g, rms, &went_back));
    if (went_back) {
      omega *= (talus_real)0.5;
      g->report->restarts++;
    }
  }
  return TALUS_OK;
}

/* A step from the extrapolated impulses that is short enough for their curvature. */
static talus_status descend(tl_ccp_iteration *g, bool has_momentum, double *inverse_step,
                            tl_ccp_sums *sums) {
  for (;;) {
    double curvature;
    TL_TRY(g->calls->step(g->context, EXTRAPOLATED, NOW, (talus_real)(1 / *inverse_step), false,
                          sums));
    TL_TRY(g->calls->spread(g->context, NEXT, EXTRAPOLATED, &curvature));
    g->done++;
    const bool short_enough = curvature <= *inverse_step * sums->length2 * (1 + 1e-6);
    if (short_enough && !has_momentum && !g->is_ncp) /* exact: the objective is quadratic */
      g->report->rise = fmax(g->report->rise, sums->slope + 0.5 * curvature);
    if (short_enough || g->done >= g->effort.most || *inverse_step > 1e6)
      return TALUS_OK;
    *inverse_step *= 2;
  }
}

static talus_status iterate_apgd(tl_ccp_iteration *g) {
  const tl_ccp_iteration_calls *calls = g->calls;
  double theta = 1, inverse_step = 2, rms;
  bool has_momentum = false, is_done;
  TL_TRY(judge(g, &rms, &is_done));
  TL_TRY(calls->copy(g->context, EXTRAPOLATED, NOW, true));
  while (goes_on(g, is_done)) {
    tl_ccp_sums sums;
    TL_TRY(descend(g, has_momentum, &inverse_step, &sums));
    const double next_theta = 0.5 * (-theta * theta + theta * sqrt(theta * theta + 4));
    const double beta = theta * (1 - theta) / (theta * theta + next_theta);
    const bool restart = sums.restart > 0;
    theta = restart ? 1 : next_theta;
    has_momentum = !restart;
    /* extrapolated = next + beta (next - now): a mix of now and next with share 1 + beta. */
    const talus_real reach = (talus_real)(restart ? 1 : 1 + beta);
    TL_TRY(calls->mix(g->context, NOW, reach, NEXT, EXTRAPOLATED, true));
    calls->swap(g->context);
    inverse_step *= 0.9;
    if (g->done % CHECK_EVERY >= 2 && g->done < g->effort.most)
      continue;
    bool went_back = false;
    TL_TRY(judge(g, &rms, &is_done));
    if (g->has_coulomb)
      TL_TRY(go_back(g, rms, &went_back));
    if (went_back || g->always_begins) {
      theta = 1;
      has_momentum = false;
      TL_TRY(calls->copy(g->context, EXTRAPOLATED, NOW, true));
    }
  }
  return TALUS_OK;
}

static talus_status iterate_bb(tl_ccp_iteration *g) {
  const tl_ccp_iteration_calls *calls = g->calls;
  const double uphill = g->is_ncp ? SHORTEST : 0;
  double length = 0.5, rms;
  bool is_done;
  TL_TRY(judge(g, &rms, &is_done));
  while (goes_on(g, is_done)) {
    tl_ccp_sums sums;
    double curvature;
    TL_TRY(calls->step(g->context, NOW, NONE, (talus_real)length, false, &sums));
    TL_TRY(calls->spread(g->context, NEXT, NOW, &curvature));
    g->done++;
    if (curvature > 0) {
      /* f(now + s d) = f + s slope + s^2 curvature / 2, exactly; both ends are feasible, and so is
       * every point between. At the solution slope and curvature are rounding errors with an
       * arbitrary ratio. With Coulomb's law no function falls, and a step of 0 would end the
       * iteration. */
      const double best = -sums.slope / curvature;
      const double search = best > 0 ? fmin(1, best) : uphill;
      if (search < 1)
        TL_TRY(calls->mix(g->context, NOW, (talus_real)search, NEXT, NEXT, true));
      length = fmin(fmax(sums.length2 / curvature, 0.02), 1e4);
    }
    calls->swap(g->context);
    if (g->done % CHECK_EVERY != 0 && g->done < g->effort.most)
      continue;
    bool went_back = false;
    TL_TRY(judge(g, &rms, &is_done));
    if (g->has_coulomb)
      TL_TRY(go_back(g, rms, &went_back));
    if (went_back)
      length = 0.5;
  }
  return TALUS_OK;
}

talus_status tl_ccp_iterate(tl_ccp_iteration *iteration) {
  iteration->done = 0;
  iteration->best_rms = (double)INFINITY;
  iteration->best_max = 0;
  switch (iteration->settings->method) {
  case TALUS_JACOBI:
    return iterate_jacobi(iteration);
  case TALUS_BB:
    return iterate_bb(iteration);
  default:
    return iterate_apgd(iteration);
  }
}
