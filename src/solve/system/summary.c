/* One pass over the bodies of the crowd: finds which kinds there are, for the rows of their
 * contacts, and the smallest radius. */
#include "solve/system/system.h"

#define GRAIN 1024

typedef struct summary_job {
  const tl_system *system;
  tl_summary *found; /* by range: stored at its first block */
} summary_job;

static const tl_summary NOTHING = {.least = TL_REAL_MAX,
                                   .slowest = {TL_REAL_MAX, TL_REAL_MAX, TL_REAL_MAX},
                                   .fastest = {-TL_REAL_MAX, -TL_REAL_MAX, -TL_REAL_MAX}};

static void spread(tl_summary *s, talus_vec3 slowest, talus_vec3 fastest) {
  s->slowest = tl_vec3(tl_min(s->slowest.x, slowest.x), tl_min(s->slowest.y, slowest.y),
                       tl_min(s->slowest.z, slowest.z));
  s->fastest = tl_vec3(tl_max(s->fastest.x, fastest.x), tl_max(s->fastest.y, fastest.y),
                       tl_max(s->fastest.z, fastest.z));
}

static void look_at(const tl_model *model, const tl_state *in, uint32_t slot, tl_summary *s) {
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
    s->nonspheres = s->arms = true;
  if (radius < s->least)
    s->least = radius;
  spread(s, in->velocity[slot], in->velocity[slot]);
}

static void look_at_range(void *context, size_t begin, size_t end) {
  const summary_job *job = context;
  tl_summary s = NOTHING;
  for (size_t i = begin; i < end; ++i)
    look_at(job->system->model, job->system->crowd->in, tl_crowd_slot(job->system->crowd, i), &s);
  job->found[begin / GRAIN] = s;
}

static talus_status look(tl_system *system) {
  const tl_crowd *crowd = system->crowd;
  const size_t blocks = (crowd->count + GRAIN - 1) / GRAIN;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  summary_job job = {.system = system};
  TL_TAKE(crowd->arena, blocks, &job.found);
  for (size_t i = 0; i < blocks; ++i)
    job.found[i] = NOTHING;
  tl_for(&system->model->par, crowd->count, GRAIN, look_at_range, &job);
  system->summary = NOTHING;
  for (size_t i = 0; i < blocks; ++i) {
    system->summary.tensors |= job.found[i].tensors;
    system->summary.arms |= job.found[i].arms;
    system->summary.nonspheres |= job.found[i].nonspheres;
    system->summary.moving_walls |= job.found[i].moving_walls;
    system->summary.least = tl_min(system->summary.least, job.found[i].least);
    spread(&system->summary, job.found[i].slowest, job.found[i].fastest);
  }
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* A small part of the smallest halo. Adaptive steps keep bodies half a halo apart. */
static talus_real find_halo_slop(const tl_system *system) {
  const talus_real halo = system->model->halo >= 0
                              ? TL_R(system->model->halo)
                              : TL_R(0.5 * TL_HALO_SIZES) * system->summary.least;
  return TL_R(0.02) * halo;
}

/* The distance of free fall in a step: overlap that bodies at rest may have. It is limited for
 * small bodies in long steps. */
static talus_real find_slop(const tl_system *system) {
  const talus_real h = (talus_real)system->crowd->dt;
  if (system->settings->slop >= 0)
    return (talus_real)system->settings->slop;
  if (system->model->step == TALUS_STEP_ADAPTIVE)
    return tl_min(h * h * tl_length(system->model->gravity), find_halo_slop(system));
  return tl_min(tl_length(system->model->gravity) * h * h, TL_R(0.01) * system->summary.least);
}

/* A bound per step, so that grains of any size separate in the same number of steps. */
static talus_real find_recovery_speed(const tl_system *system) {
  if (system->settings->recovery_speed >= 0)
    return (talus_real)system->settings->recovery_speed;
  return TL_R(0.1) * system->summary.least / (talus_real)system->crowd->dt;
}

double tl_system_small_speed(const tl_system *system) {
  const tl_summary *s = &system->summary;
  const double fall = (double)tl_length(system->model->gravity) * system->crowd->dt;
  if (!(s->slowest.x <= s->fastest.x))
    return fall;
  const double differ = 1e-3 * (double)tl_length(tl_sub(s->fastest, s->slowest));
  return fall > differ ? fall : differ;
}

static bool has_impulse(void *context, size_t i) {
  const tl_contacts *contacts = context;
  return tl_length2(contacts->data[i].impulse) > 0;
}

/* True for the very first solve with substeps: sweeps are few then, but it must find the impulses
 * that later solves start from. */
static bool is_cold(const tl_system *system) {
  return system->model->substeps > 1 && system->contacts->count > 0 &&
         tl_find_first(&system->model->par, system->contacts->count, has_impulse,
                       system->contacts) == SIZE_MAX;
}

talus_status tl_system_begin(tl_system *system, const tl_crowd *crowd, tl_contacts *contacts,
                             tl_solve_report *report) {
  const tl_model *model = crowd->model;
  *report = (tl_solve_report){0};
  *system = (tl_system){.model = model,
                        .crowd = crowd,
                        .settings = &model->solve,
                        .contacts = contacts,
                        .report = report,
                        .ncp = model->solve.friction == TALUS_FRICTION_NCP};
  system->bounce_speed = (talus_real)model->solve.bounce_speed;
  if (model->solve.bounce_speed < 0)
    system->bounce_speed = 2 * tl_length(model->gravity) * (talus_real)crowd->dt;
  TL_TRY(look(system));
  system->is_cold = is_cold(system);
  system->slop = find_slop(system);
  system->recovery_speed = find_recovery_speed(system);
  TL_TAKE(crowd->arena, crowd->count + 1, &system->bodies);
  return TALUS_OK;
}
