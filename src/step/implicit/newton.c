/* Semi-smooth Newton for the forces at the end of a step.
 *
 * Without friction the residual is the gradient of a potential: kinetic energy relative to free
 * flight plus that of the springs at the end of the step (Martin et al. 2011 call it incremental).
 * Along a step its slope is residual times velocity, so that the line search needs no energies.
 *
 * Friction has no potential, because its limit depends on the normal force. So limits are fixed
 * with the forces of a guess that is nearly a solution, and renewed until they agree with the last
 * forces. */
#include "base/cancel.h"
#include "step/implicit/implicit.h"

#include <math.h>

#define NEARLY 0.1  /* change of forces below which limits of friction are renewed */
#define EXACT  1e-3 /* accuracy of the linear equations */

/* ---- limits of friction ---------------------------------------------------------------------- */

static bool has_friction(const tl_model *model) {
  for (size_t i = 0; i < model->laws.count; ++i)
    if (model->laws.data[i].friction > 0 || model->laws.data[i].static_friction > 0 ||
        model->laws.data[i].rolling > 0 || model->laws.data[i].rolling_coefficient > 0 ||
        model->laws.data[i].spinning > 0)
      return true;
  return false;
}

static talus_status lay_limit(tl_penalty *p, const tl_contact *c, talus_real press) {
  const tl_penalty_limit limit = {c->a, c->b, c->feature_a, c->feature_b, press};
  return press > 0 ? tl_array_push(&p->limits, limit) : TALUS_OK;
}

/* Takes the limits of the last step. */
static talus_status begin_limits(tl_implicit *job) {
  const tl_contacts *before = tl_implicit_known(job);
  tl_penalty *p = job->crowd->penalty;
  p->limits.count = 0;
  for (size_t i = 0; before->dt > 0 && i < before->count; ++i) {
    const tl_contact *c = &before->data[i];
    TL_TRY(lay_limit(p, c, tl_dot(c->impulse, c->normal) / (talus_real)before->dt));
  }
  return TALUS_OK;
}

/* Takes the limits of the guess, and computes its forces again with them: positions, and so
 * contacts, are the same, and limits and forces then agree. */
static talus_status renew_limits(tl_implicit *job) {
  const tl_contacts *contacts = job->at_end.contacts_after;
  tl_penalty *p = job->crowd->penalty;
  p->limits.count = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    TL_TRY(lay_limit(p, &contacts->data[i], job->tangents.rows[i].pushed));
  return tl_implicit_push_again(job);
}

/* ---- the iteration --------------------------------------------------------------------------- */

talus_status tl_implicit_newton(tl_implicit *job, int *count) {
  const talus_implicit_def *def = &job->crowd->model->implicit;
  const double near = fmax(def->tolerance, NEARLY);
  const size_t n = job->crowd->model->bodies;
  TL_TAKE(job->crowd->arena, n, &job->careful);
  job->mark = tl_arena_get_mark(job->crowd->arena);
  memset(job->careful, 0, n);
  job->is_limited = has_friction(job->crowd->model);
  if (job->is_limited)
    TL_TRY(begin_limits(job));
  TL_TRY(tl_implicit_look(job));
  if (!(job->worst < INFINITY)) { /* the impulses of the last step are no guess for this one */
    memset(job->impulse, 0, n * sizeof *job->impulse);
    TL_TRY(tl_implicit_look(job));
  }
  for (*count = 0; *count <= def->iterations; ++*count) {
    if (job->is_limited && job->worst <= near)
      TL_TRY(renew_limits(job));
    if (job->worst <= def->tolerance || !(job->worst < INFINITY) || *count == def->iterations)
      return TALUS_OK;
    TL_GO_ON(job->crowd->cancel);
    TL_TRY(tl_implicit_solve(job, EXACT));
    TL_TRY(tl_implicit_search(job));
  }
  return TALUS_OK;
}
