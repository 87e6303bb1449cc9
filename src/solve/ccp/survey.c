/* One look at every body of the scope: what the rows of their contacts need, and how small they
 * get. */
#include "solve/ccp/ccp.h"

#define GRAIN 1024

typedef struct survey_job {
  const tl_ccp *ccp;
  tl_ccp_survey *found; /* by range, at its first block */
} survey_job;

static const tl_ccp_survey NOTHING = {.least = TL_REAL_MAX,
                                      .slowest = {TL_REAL_MAX, TL_REAL_MAX, TL_REAL_MAX},
                                      .fastest = {-TL_REAL_MAX, -TL_REAL_MAX, -TL_REAL_MAX}};

static void spread(tl_ccp_survey *s, talus_vec3 slowest, talus_vec3 fastest) {
  s->slowest = tl_vec3(tl_min(s->slowest.x, slowest.x), tl_min(s->slowest.y, slowest.y),
                       tl_min(s->slowest.z, slowest.z));
  s->fastest = tl_vec3(tl_max(s->fastest.x, fastest.x), tl_max(s->fastest.y, fastest.y),
                       tl_max(s->fastest.z, fastest.z));
}

static void look_at(const tl_model *model, const tl_state *in, uint32_t slot, tl_ccp_survey *s) {
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
  spread(s, in->velocity[slot], in->velocity[slot]);
}

static void look_at_range(void *context, size_t begin, size_t end) {
  const survey_job *job = context;
  tl_ccp_survey s = NOTHING;
  for (size_t i = begin; i < end; ++i)
    look_at(job->ccp->model, job->ccp->scope->in, tl_scope_slot(job->ccp->scope, i), &s);
  job->found[begin / GRAIN] = s;
}

talus_status tl_ccp_look(tl_ccp *job) {
  const tl_scope *scope = job->scope;
  const size_t blocks = (scope->count + GRAIN - 1) / GRAIN;
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  survey_job look = {.ccp = job};
  TL_TAKE(scope->arena, blocks, &look.found);
  for (size_t i = 0; i < blocks; ++i)
    look.found[i] = NOTHING;
  tl_for(&job->model->par, scope->count, GRAIN, look_at_range, &look);
  job->survey = NOTHING;
  for (size_t i = 0; i < blocks; ++i) {
    job->survey.tensors |= look.found[i].tensors;
    job->survey.arms |= look.found[i].arms;
    job->survey.lumps |= look.found[i].lumps;
    job->survey.moving_walls |= look.found[i].moving_walls;
    job->survey.least = tl_min(job->survey.least, look.found[i].least);
    spread(&job->survey, look.found[i].slowest, look.found[i].fastest);
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

/* A bound per step, so that grains of any size part in as many steps. */
talus_real tl_ccp_recovery_speed(const tl_ccp *job) {
  if (job->settings->recovery_speed >= 0)
    return (talus_real)job->settings->recovery_speed;
  return TL_R(0.1) * job->survey.least / (talus_real)job->scope->dt;
}

double tl_ccp_small_speed(const tl_ccp *job) {
  const tl_ccp_survey *s = &job->survey;
  const double fall = (double)tl_length(job->model->gravity) * job->scope->dt;
  if (!(s->slowest.x <= s->fastest.x))
    return fall;
  const double differ = 1e-3 * (double)tl_length(tl_sub(s->fastest, s->slowest));
  return fall > differ ? fall : differ;
}
