/* Picard iteration: the forces of a guess make the next guess, damped. */
#include "base/cancel.h"
#include "step/implicit/implicit.h"

#include <math.h>

#define SHARE_LEAST 1e-6 /* least share of the new guess that Aitken may choose */

/* Share of the new guess. Forces respond to a guess by up to -(h omega)^2: with a share b, errors
 * are multiplied by 1 - b (1 + x), 0 <= x <= (h omega)^2. With b = 1/(1 + (h omega)^2) no error
 * changes its sign, so contacts that open and close meanwhile do no harm. Every body that touched
 * in any guess of the step counts. */
static double share_for(const tl_implicit *job, double *most) {
  for (size_t i = 0; i < job->crowd->count; ++i)
    *most = fmax(*most, tl_implicit_stiffness(job, tl_crowd_slot(job->crowd, i)));
  const double share = 1 / (1 + *most);
  if (job->at_end.multires && job->at_end.multires->widened > 0)
    *most = 0; /* contacts of surrogates, which do not come again */
  return share;
}

/* Aitken (Irons and Tuck 1969): the share at which the line through the last two residuals reaches
 * 0. */
static double share_after(const tl_implicit *job, const tl_wrench *before, double share) {
  const double squared = tl_implicit_product(job, before, before),
               mixed = tl_implicit_product(job, before, job->residual),
               last = tl_implicit_product(job, job->residual, job->residual);
  const double apart = squared - 2 * mixed + last;
  if (!(apart > 0))
    return share;
  return fmin(1, fmax(SHARE_LEAST, share * (squared - mixed) / apart));
}

talus_status tl_implicit_picard(tl_implicit *job, int *count) {
  const talus_implicit_def *def = &job->crowd->model->implicit;
  const bool is_aitken = def->damping == TALUS_DAMPING_AITKEN;
  const size_t n = job->crowd->model->bodies;
  tl_wrench *before = NULL;
  double share = def->damping, most = 0;
  if (is_aitken) {
    TL_TAKE(job->crowd->arena, n, &before);
    job->mark = tl_arena_get_mark(job->crowd->arena);
  }
  TL_TRY(tl_implicit_look(job));
  for (*count = 0; !tl_implicit_is_found(job) && *count < def->iterations; ++*count) {
    if (!(job->worst < INFINITY))
      return TALUS_OK;
    TL_GO_ON(job->crowd->cancel);
    if (def->damping == TALUS_DAMPING_AUTO || (is_aitken && *count == 0))
      share = share_for(job, &most);
    else if (is_aitken)
      share = share_after(job, before, share);
    if (is_aitken)
      memcpy(before, job->residual, n * sizeof *before);
    memcpy(job->step, job->residual, n * sizeof *job->step);
    tl_implicit_advance(job, (talus_real)-share);
    TL_TRY(tl_implicit_look(job));
  }
  return TALUS_OK;
}
