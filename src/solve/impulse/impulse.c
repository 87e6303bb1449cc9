/* Sequential impulses (Noble 2022, 2.1.3): first velocities that satisfy every contact and joint,
 * then the correction of positions, which does not change velocities. */
#include "contact/island.h"
#include "solve/impact/impact.h"
#include "solve/impulse/impulse.h"

/* ---- results --------------------------------------------------------------------------------- */

static void store_bundles(void *context, size_t begin, size_t end) {
  const tl_impulse *job = context;
  const tl_system *system = job->system;
  for (size_t k = begin; k < end; ++k)
    for (uint32_t r = job->bundle_row[k]; r < job->bundle_row[k + 1]; ++r) {
      const size_t i = tl_impulse_contact(job, k, r - job->bundle_row[k]);
      const tl_impulse_row *row = &job->rows[r];
      tl_contact *c = &system->contacts->data[i];
      c->impulse = row->impulse;
      if (system->pulls)
        c->impulse = tl_madd(c->impulse, -system->pulls[i], c->normal);
      if (system->model->law_kinds == 0)
        continue;
      tl_law_state *law_state = &system->contacts->law_states.data[i];
      law_state->torque = job->rolls ? job->rolls[r].torque : tl_vec3(0, 0, 0);
      law_state->state =
          tl_system_contact_state(system, c, row->friction, row->impulse, row->arm_a, row->arm_b);
    }
}

/* Bias times impulse of rows [begin, end): their part of the objective (solve/system/energy.c). */
static void add_biases(void *context, size_t begin, size_t end, tl_tally *sum) {
  const tl_impulse *job = context;
  for (size_t r = begin; r < end; ++r)
    tl_tally_add(sum,
                 (double)(job->rows[r].bias * tl_dot(job->rows[r].impulse, job->rows[r].normal)));
}

/* ---- sequence -------------------------------------------------------------------------------- */

static talus_status correct(const tl_impulse *job, tl_ccp_body *shifts) {
  tl_impulse fixing;
  tl_ccp_body *room;
  TL_TRY(tl_system_take_shifts(job->system, shifts, &room));
  TL_TRY(tl_impulse_load_correction(job, room, &fixing));
  tl_impulse_iterate(&fixing);
  tl_system_add_shifts(job->system, room, shifts);
  return TALUS_OK;
}

/* Loads joints as one part; contacts with jointed bodies reduce its warm start
 * (solve/system/drift.c). */
static talus_status load_links(tl_impulse *job, tl_pairs *pairs) {
  const tl_system *system = job->system;
  tl_links *links = &job->links;
  uint32_t *owner;
  TL_TRY(tl_links_list(links, system, pairs));
  if (links->count == 0)
    return TALUS_OK;
  TL_TRY(tl_links_load(links));
  TL_TAKE(system->crowd->arena, system->crowd->count + 1, &owner);
  TL_TRY(tl_links_plan(links, owner));
  if (system->settings->warm_start) {
    TL_TRY(tl_links_warm(links));
    if (system->contacts->count > 0)
      tl_links_ease(links);
  }
  if (!tl_links_are_direct(links))
    return TALUS_OK;
  tl_link_graph graph;
  TL_TRY(tl_links_make_graph(links, &graph));
  const tl_links all = *links;
  return tl_links_factor(&all, &graph, links);
}

/* Labels islands. All contacts are swept together, but the energy ledger is kept by island. */
static talus_status find_islands(tl_system *system, const tl_pairs *links) {
  uint32_t *label;
  if (system->contacts->count == 0)
    return TALUS_OK;
  TL_TAKE(system->crowd->arena, system->model->bodies, &label);
  tl_island_label(system->model, system->contacts, links, label);
  system->label = label;
  return TALUS_OK;
}

static talus_status look_back(tl_impulse *job) {
  tl_system *system = job->system;
  tl_tally objective, biases;
  if (system->contacts->count > 0)
    TL_TRY(tl_system_audit(system, &job->links, &objective));
  else
    tl_system_find_energy(system, &job->links, NULL, &objective);
  tl_for_tally(&system->model->par, job->row_count, 4 * TL_BLOCK, add_biases, job, 1, &biases);
  tl_links_objective(&job->links, &biases);
  tl_tally_merge(&objective, &biases);
  system->report->objective = tl_tally_value(&objective);
  if (system->shifts)
    tl_system_add_lift(system, system->shifts);
  return TALUS_OK;
}

static talus_status solve(tl_impulse *job, tl_ccp_body *shifts, bool *corrected) {
  tl_system *system = job->system;
  TL_TRY(tl_system_load_bodies(system));
  tl_pairs pairs = {0};
  TL_TRY(tl_impact_find(system, tl_impact_is_possible(system->model) ? shifts : NULL));
  if (system->crowd->joints)
    TL_TRY(load_links(job, &pairs));
  TL_TRY(find_islands(system, &pairs));
  const bool any = system->contacts->count > 0 || job->links.count > 0;
  if (any)
    TL_TRY(tl_impulse_load(job));
  TL_GO_ON(system->crowd->cancel);
  if (job->row_count + job->links.rows > 0) {
    tl_impulse_iterate(job);
    TL_GO_ON(system->crowd->cancel); /* a cancelled sweep leaves velocities unfinished */
    tl_for(&system->model->par, job->bundle_count, 64, store_bundles, job);
    if (job->links.count > 0)
      tl_links_store(&job->links);
  }
  TL_TRY(look_back(job));
  TL_GO_ON(system->crowd->cancel);
  *corrected = any && tl_impulse_is_deep(job);
  return *corrected ? correct(job, shifts) : TALUS_OK;
}

talus_status tl_impulse_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                              tl_solve_report *report) {
  tl_system system;
  tl_ccp_body *shifts;
  TL_TRY(tl_system_begin(&system, crowd, contacts, report));
  system.ncp = 1;
  /* Memory for shifts is taken in every step, so that the arena keeps its size. */
  TL_TAKE(crowd->arena, crowd->count + 1, &shifts);
  tl_system_lend(&system, shifts);
  if (contacts->count > 0 || crowd->joints)
    TL_TRY(tl_system_order(&system));
  TL_GO_ON(crowd->cancel);
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_impulse job = {.system = &system, .bodies = system.bodies};
  bool corrected = false;
  TL_TRY(solve(&job, shifts, &corrected));
  tl_arena_release(crowd->arena, mark);
  *twists = tl_system_twists(&system, shifts, corrected || system.shifts);
  return TALUS_OK;
}
