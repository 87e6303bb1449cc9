/* Cone complementarity (Tasora and Anitescu 2011; SOURCES C1-C3): what all methods share.
 *
 *   bodies   velocities at t0 plus gravity and loads over the step: the "free" velocity
 *   impacts  bounces change it (impact.h)
 *   rows     one per contact, in the order they are solved: by colour, then canonical
 *   method   impulses and velocities that solve it, as far as the iterations allow
 *   residual of the velocities that are handed over, honest and in m/s */
#include "solve/impact/impact.h"

#include <stddef.h>

static void store_impulses(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_ccp_pack *pack = &job->packs[i];
    for (uint32_t row = job->pack_row[i]; row < job->pack_row[i + 1]; ++row) {
      const uint32_t lane = row - job->pack_row[i];
      job->contacts->data[job->colours.order[row]].impulse =
          tl_vec3(pack->impulse.x[lane], pack->impulse.y[lane], pack->impulse.z[lane]);
    }
  }
}

static talus_status solve_rows(tl_ccp *job) {
  TL_TRY(tl_ccp_load_rows(job));
  TL_TAKE(job->scope->arena, job->body_count + 1, &job->seen);
  memset(job->seen, 0, job->body_count + 1);
  for (size_t i = 0; i < job->part_count; ++i)
    job->parts[i].seen = job->seen;
  TL_TRY(tl_ccp_load_links(job));
  TL_TRY(tl_ccp_solve_parts(job));
  tl_for(&job->model->par, job->pack_count, 128, store_impulses, job);
  if (job->model->law_kinds != 0)
    tl_ccp_store_touches(job);
  if (job->link_count > 0)
    tl_ccp_store_links(job);
  return TALUS_OK;
}

/* Without joints, contacts are planned before bodies are loaded, and meanwhile their room holds
 * what planning keeps of each contact. Which joints have work to do is seen from the bodies. */
static talus_status plan_and_load(tl_ccp *job, tl_ccp_body *shifts) {
  tl_pairs links = {0};
  if (job->scope->joints) {
    TL_TRY(tl_ccp_load_bodies(job));
    TL_TRY(tl_impact_find(job, shifts));
    TL_TRY(tl_ccp_list_links(job, &links));
    return job->contacts->count > 0 || job->link_count > 0 ? tl_ccp_plan_parts(job, &links)
                                                           : TALUS_OK;
  }
  job->room = job->bodies;
  job->room_bytes = job->body_count * sizeof *job->bodies;
  if (job->contacts->count > 0)
    TL_TRY(tl_ccp_plan_parts(job, NULL));
  TL_TRY(tl_ccp_load_bodies(job));
  return tl_impact_find(job, shifts);
}

/* The body buffer begins with velocity and spin: that is how it is handed over. */
_Static_assert(offsetof(tl_ccp_body, v) == offsetof(tl_twist, velocity) &&
                   offsetof(tl_ccp_body, w) == offsetof(tl_twist, spin),
               "a solver body starts with its twist");

talus_status tl_ccp_solve(const tl_model *model, const tl_scope *scope, tl_contacts *contacts,
                          tl_twists *twists, tl_solve_report *report) {
  *report = (tl_solve_report){0};
  tl_ccp job = {.model = model,
                .scope = scope,
                .settings = &model->solve,
                .contacts = contacts,
                .body_count = scope->count,
                .ncp = model->solve.friction == TALUS_FRICTION_NCP,
                .report = report};
  job.bounce_speed = (talus_real)model->solve.bounce_speed;
  if (model->solve.bounce_speed < 0)
    job.bounce_speed = 2 * tl_length(model->gravity) * (talus_real)scope->dt;
  TL_TRY(tl_ccp_look(&job));
  job.slop = tl_ccp_slop(&job);
  job.recovery_speed = tl_ccp_recovery_speed(&job);
  TL_TAKE(scope->arena, scope->count + 1, &job.bodies);
  /* Room in every step, so that the arena does not grow and shrink with the overlaps. */
  tl_ccp_body *shifts = NULL;
  bool corrected = false;
  if (contacts->count > 0)
    TL_TAKE(scope->arena, scope->count + 1, &shifts);
  if (contacts->count > 0 || scope->joints)
    TL_TRY(tl_ccp_order_bodies(&job));
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  TL_TRY(plan_and_load(&job, tl_impact_is_possible(model) ? shifts : NULL));
  if (contacts->count > 0 || job.link_count > 0)
    TL_TRY(solve_rows(&job));
  if (contacts->count > 0)
    TL_TRY(tl_ccp_audit(&job));
  else
    tl_ccp_find_energy(&job, NULL);
  if (job.shifts)
    report->contact_work += tl_impact_lift(&job, job.shifts);
  if (contacts->count > 0)
    TL_TRY(tl_ccp_correct(&job, shifts, &corrected));
  tl_arena_release(scope->arena, mark);
  *twists = (tl_twists){job.bodies, sizeof *job.bodies, job.rank,
                        corrected || job.shifts ? shifts : NULL};
  return TALUS_OK;
}
