/* One look at every body of the scope: what the rows of their contacts need, and how small they
 * get. */
#include "solve/ccp.h"

#define GRAIN 1024

typedef struct survey_job {
  const tl_ccp *ccp;
  tl_ccp_survey *found; /* by range, at its first block */
} survey_job;

static void look_at(const tl_model *model, uint32_t slot, tl_ccp_survey *s) {
  const uint32_t flags = model->property.flags[slot];
  if (flags & TL_FLAG_STATIC) {
    s->moving_walls |= (flags & TL_FLAG_KINEMATIC) != 0;
    if ((flags & TL_FLAG_KINEMATIC) && tl_body_turns(model, slot))
      s->arms = true;
    return;
  }
  const tl_shape *shape = tl_body_shape(model, slot);
  const talus_real radius = shape->radius * model->property.scale[slot];
  if ((flags & TL_FLAG_LOCKS) || !shape->isotropic)
    s->tensors = true;
  if (shape->kind != TALUS_SPHERE)
    s->lumps = s->arms = true;
  if (radius < s->least)
    s->least = radius;
}

static void look_at_range(void *context, size_t begin, size_t end) {
  const survey_job *job = context;
  tl_ccp_survey s = {.least = TL_REAL_MAX};
  for (size_t i = begin; i < end; ++i)
    look_at(job->ccp->model, tl_scope_slot(job->ccp->scope, i), &s);
  job->found[begin / GRAIN] = s;
}

talus_status tl_ccp_look(tl_ccp *job) {
  const tl_scope *scope = job->scope;
  const size_t blocks = (scope->count + GRAIN - 1) / GRAIN;
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  survey_job look = {.ccp = job};
  TL_TAKE(scope->arena, blocks, &look.found);
  for (size_t i = 0; i < blocks; ++i)
    look.found[i] = (tl_ccp_survey){.least = TL_REAL_MAX};
  tl_for(&job->model->par, scope->count, GRAIN, look_at_range, &look);
  job->survey = (tl_ccp_survey){.least = TL_REAL_MAX};
  for (size_t i = 0; i < blocks; ++i) {
    job->survey.tensors |= look.found[i].tensors;
    job->survey.arms |= look.found[i].arms;
    job->survey.lumps |= look.found[i].lumps;
    job->survey.moving_walls |= look.found[i].moving_walls;
    job->survey.least = tl_min(job->survey.least, look.found[i].least);
  }
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}

/* What gravity makes of rest in a step, which bodies cannot help but sink by; of small bodies in a
 * long step that would be too much. */
talus_real tl_ccp_slop(const tl_ccp *job) {
  const talus_real h = (talus_real)job->scope->dt;
  if (job->settings->slop >= 0)
    return (talus_real)job->settings->slop;
  return tl_min(tl_length(job->model->gravity) * h * h, TL_R(0.01) * job->survey.least);
}
