/* Sequential impulses (Noble 2022, 2.1.3): velocities that meet every contact and joint, and then
 * what positions have to be corrected by, which no velocity learns of. */
#include "contact/island.h"
#include "solve/impact/impact.h"
#include "solve/impulse/impulse.h"

#include <math.h>

/* ---- results -----------------------------------------------------------------------------------
 */

static void store_bundles(void *context, size_t begin, size_t end) {
  const tl_impulse *job = context;
  const tl_ccp *ccp = &job->ccp;
  for (size_t k = begin; k < end; ++k)
    for (uint32_t r = job->bundle_row[k]; r < job->bundle_row[k + 1]; ++r) {
      const size_t i = tl_impulse_contact(job, k, r - job->bundle_row[k]);
      const tl_impulse_row *row = &job->rows[r];
      tl_contact *c = &ccp->contacts->data[i];
      c->impulse = row->impulse;
      if (ccp->pulls)
        c->impulse = tl_madd(c->impulse, -ccp->pulls[i], c->normal);
      if (ccp->model->law_kinds == 0)
        continue;
      tl_touch *touch = &ccp->contacts->touches.data[i];
      touch->torque = job->rolls ? job->rolls[r].torque : tl_vec3(0, 0, 0);
      touch->state =
          tl_ccp_touch_state(ccp, c, row->friction, row->impulse, row->arm_a, row->arm_b);
    }
}

/* Bias times impulse of rows [begin, end): their part of the objective (solve/ccp/energy.c). */
static void add_biases(void *context, size_t begin, size_t end, tl_tally *sum) {
  const tl_impulse *job = context;
  for (size_t r = begin; r < end; ++r)
    tl_tally_add(sum,
                 (double)(job->rows[r].bias * tl_dot(job->rows[r].impulse, job->rows[r].normal)));
}

/* ---- the order of things -----------------------------------------------------------------------
 */

static talus_status correct(const tl_impulse *job, tl_ccp_body *shifts) {
  tl_impulse fixing;
  tl_ccp_body *room;
  TL_TRY(tl_ccp_take_shifts(&job->ccp, shifts, &room));
  TL_TRY(tl_impulse_load_correction(job, room, &fixing));
  tl_impulse_iterate(&fixing);
  return tl_ccp_add_shifts(&fixing.ccp, shifts);
}

/* All joints are one part. */
static talus_status load_links(tl_ccp *ccp, tl_pairs *pairs) {
  TL_TRY(tl_ccp_list_links(ccp, pairs));
  tl_ccp whole = *ccp;
  ccp->parts = &whole;
  ccp->part_count = 1;
  TL_TRY(tl_ccp_load_links(ccp));
  ccp->system = whole.system;
  ccp->link_plan = whole.link_plan;
  ccp->recovering = whole.recovering;
  ccp->parts = NULL;
  ccp->part_count = 0;
  return TALUS_OK;
}

/* All contacts are swept as one, but no island may make energy. */
static talus_status find_islands(tl_ccp *ccp, const tl_pairs *links) {
  uint32_t *label;
  if (ccp->contacts->count == 0)
    return TALUS_OK;
  TL_TAKE(ccp->scope->arena, ccp->model->bodies, &label);
  tl_island_label(ccp->model, ccp->contacts, links, label);
  ccp->label = label;
  return TALUS_OK;
}

static talus_status solve(tl_impulse *job, tl_ccp_body *shifts, bool *corrected) {
  tl_ccp *ccp = &job->ccp;
  tl_tally biases;
  tl_tally_clear(&biases);
  TL_TRY(tl_ccp_look(ccp));
  ccp->recovery_speed = tl_ccp_recovery_speed(ccp);
  TL_TRY(tl_ccp_load_bodies(ccp));
  tl_pairs links = {0};
  TL_TRY(tl_impact_find(ccp, tl_impact_is_possible(ccp->model) ? shifts : NULL));
  if (ccp->scope->joints)
    TL_TRY(load_links(ccp, &links));
  TL_TRY(find_islands(ccp, &links));
  const bool any = ccp->contacts->count > 0 || ccp->link_count > 0;
  if (any)
    TL_TRY(tl_impulse_load(job));
  if (ccp->row_count + ccp->link_rows > 0) {
    tl_impulse_iterate(job);
    tl_for(&ccp->model->par, job->bundle_count, 64, store_bundles, job);
    if (ccp->link_count > 0)
      tl_ccp_store_links(ccp);
    tl_for_tally(&ccp->model->par, ccp->row_count, 4 * TL_BLOCK, add_biases, job, 1, &biases);
  }
  if (ccp->contacts->count > 0)
    TL_TRY(tl_ccp_audit(ccp));
  else
    tl_ccp_find_energy(ccp, NULL);
  ccp->report->objective += tl_tally_value(&biases);
  if (ccp->shifts)
    ccp->report->contact_work += tl_impact_lift(ccp, ccp->shifts);
  *corrected = any && tl_impulse_is_deep(job);
  return *corrected ? correct(job, shifts) : TALUS_OK;
}

talus_status tl_impulse_solve(const tl_model *model, const tl_scope *scope, tl_contacts *contacts,
                              tl_twists *twists, tl_solve_report *report) {
  *report = (tl_solve_report){0};
  tl_impulse job = {.ccp = {.model = model,
                            .scope = scope,
                            .settings = &model->solve,
                            .contacts = contacts,
                            .body_count = scope->count,
                            .ncp = 1,
                            .report = report}};
  tl_ccp *ccp = &job.ccp;
  tl_ccp_body *shifts;
  ccp->bounce_speed = (talus_real)model->solve.bounce_speed;
  if (model->solve.bounce_speed < 0)
    ccp->bounce_speed = 2 * tl_length(model->gravity) * (talus_real)scope->dt;
  TL_TAKE(scope->arena, scope->count + 1, &ccp->bodies);
  /* Room in every step, so that the arena does not grow and shrink with the overlaps. */
  TL_TAKE(scope->arena, scope->count + 1, &shifts);
  if (contacts->count > 0 || scope->joints)
    TL_TRY(tl_ccp_order_bodies(ccp));
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  bool corrected = false;
  TL_TRY(solve(&job, shifts, &corrected));
  tl_arena_release(scope->arena, mark);
  *twists = (tl_twists){ccp->bodies, sizeof *ccp->bodies, ccp->rank,
                        corrected || ccp->shifts ? shifts : NULL};
  return TALUS_OK;
}
