/* Cone complementarity (Tasora and Anitescu 2011; docs/sources.md C1-C3): what all methods share.
 *
 *   bodies   velocities at t0 plus gravity and loads over the step: the "free" velocity
 *   impacts  bounces change it (impact.h)
 *   rows     one per contact, in the order they are solved: by colour, then canonical
 *   method   impulses and velocities that solve it, as far as the iterations allow
 *   residual of the final velocities, in m/s */
#include "solve/ccp/refresh.h"
#include "solve/ccp/visits.h"
#include "solve/impact/impact.h"

#include <stddef.h>

#define PACKS 512 /* least number of packs for which a thread is woken */
/* packs between prefetching a contact, which may be anywhere in memory, and using it */
#define AHEAD 6

/* ---- results --------------------------------------------------------------------------------- */

static void store_impulses(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  const tl_ccp_rows *rows = &job->rows;
  for (size_t k = begin; k < end; ++k) {
    const size_t ahead = k + AHEAD < end ? k + AHEAD : k;
    for (uint32_t row = rows->pack_row[ahead]; row < rows->pack_row[ahead + 1]; ++row)
      __builtin_prefetch(&job->system->contacts->data[rows->contact[row]].impulse.z, 1);
    for (uint32_t row = rows->pack_row[k]; row < rows->pack_row[k + 1]; ++row)
      job->system->contacts->data[rows->contact[row]].impulse =
          tl_ccp_lane(&rows->packs[k].impulse, row - rows->pack_row[k]);
  }
}

static void store_law_state(const tl_ccp *job, size_t k, uint32_t lane, uint32_t contact) {
  const tl_system *system = job->system;
  const tl_ccp_rows *rows = &job->rows;
  tl_law_state *law_state = &system->contacts->law_states.data[contact];
  law_state->torque = tl_vec3(0, 0, 0);
  law_state->state = 0;
  if (rows->rolls)
    law_state->torque = tl_ccp_lane(&rows->rolls[k].torque, lane);
  if (system->model->law_kinds & (TL_LAW_STATIC | TL_LAW_COHESION))
    law_state->state = tl_system_contact_state(
        system, &system->contacts->data[contact], tl_ccp_friction(rows, k, lane),
        tl_ccp_lane(&rows->packs[k].impulse, lane), tl_ccp_arm_a(rows, k, lane),
        tl_ccp_arm_b(rows, k, lane));
}

/* Writes law states (tl_law_state) of contacts from packs, rolls and velocities, and impulses
 * without the shift by cohesion. */
static void store_law_states(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  const tl_system *system = job->system;
  const tl_ccp_rows *rows = &job->rows;
  for (size_t k = begin; k < end; ++k)
    for (uint32_t row = rows->pack_row[k]; row < rows->pack_row[k + 1]; ++row) {
      const uint32_t i = rows->contact[row];
      tl_contact *c = &system->contacts->data[i];
      store_law_state(job, k, row - rows->pack_row[k], i);
      if (system->pulls)
        c->impulse = tl_madd(c->impulse, -system->pulls[i], c->normal);
    }
}

static void add_packs(void *context, size_t begin, size_t end, tl_tally *sum) {
  tl_ccp_visits_now()->tally_biases(context, begin, end, sum);
}

static talus_status look_back(tl_ccp *job) {
  tl_system *system = job->system;
  tl_tally objective, biases;
  if (system->contacts->count > 0) {
    tl_ccp_note_islands(job);
    TL_GO_ON(system->crowd->cancel);
    TL_TRY(tl_system_audit(system, &job->links, &objective));
  } else
    tl_system_find_energy(system, &job->links, NULL, &objective);
  tl_for_tally(&system->model->par, job->rows.pack_count, PACKS, add_packs, &job->rows, 1, &biases);
  tl_links_objective(&job->links, &biases);
  tl_tally_merge(&objective, &biases);
  system->report->objective = tl_tally_value(&objective);
  if (system->shifts)
    tl_system_add_lift(system, system->shifts);
  return TALUS_OK;
}

/* ---- sequence of a solve --------------------------------------------------------------------- */

static talus_status solve_rows(tl_ccp *job) {
  const tl_system *system = job->system;
  const size_t bodies = system->crowd->count + 1;
  uint8_t *seen;
  TL_TRY(tl_ccp_load_rows(job));
  TL_GO_ON(system->crowd->cancel);
  TL_TAKE(system->crowd->arena, bodies, &seen);
  memset(seen, 0, bodies);
  for (size_t i = 0; i < job->part_count; ++i)
    job->parts[i].seen = seen;
  TL_TRY(tl_ccp_load_links(job));
  TL_TRY(tl_ccp_solve_parts(job));
  TL_GO_ON(system->crowd->cancel); /* sweeps that were cancelled leave velocities unfinished */
  tl_for(&system->model->par, job->rows.pack_count, 128, store_impulses, job);
  if (system->model->law_kinds != 0)
    tl_for(&system->model->par, job->rows.pack_count, 128, store_law_states, job);
  if (job->links.count > 0)
    tl_links_store(&job->links);
  return TALUS_OK;
}

/* ---- plans ----------------------------------------------------------------------------------- */

struct tl_solve_plan {
  const uint32_t *rank, *index_of, *label;
  tl_tiles tiles;
  tl_ccp job;
};

/* Lists the bodies that contacts of a part can move. seen: marks by solver body, all 0 between
 * parts. */
static talus_status list_moved(const tl_system *system, tl_ccp_part *part, uint8_t *seen) {
  const tl_contact *data = system->contacts->data;
  TL_TAKE(system->crowd->arena, 2 * part->rows.count, &part->moved);
  for (size_t row = 0; row < part->rows.count; ++row) {
    const tl_contact *c = &data[part->rows.contact[row]];
    if (c > data && c[-1].a == c->a && c[-1].b == c->b)
      continue;
    const uint32_t slots[2] = {c->a, c->b};
    for (int k = 0; k < 2; ++k) {
      const uint32_t body = tl_system_body(system, slots[k]);
      if (seen[body] || !tl_system_takes_part(system, slots[k]))
        continue;
      seen[body] = 1;
      part->moved[part->moved_count++] = body;
    }
  }
  for (size_t i = 0; i < part->moved_count; ++i)
    seen[part->moved[i]] = 0;
  return TALUS_OK;
}

static talus_status list_all_moved(const tl_system *system, tl_ccp *job) {
  uint8_t *seen;
  TL_TAKE(system->crowd->arena, system->crowd->count + 1, &seen);
  memset(seen, 0, system->crowd->count + 1);
  for (size_t i = 0; i < job->part_count; ++i)
    TL_TRY(list_moved(system, &job->parts[i], seen));
  for (size_t i = 0; i < job->part_count; ++i)
    job->parts[i].has_bundles = tl_ccp_has_bundles(&job->parts[i]);
  return TALUS_OK;
}

bool tl_solve_plan_rides(const struct tl_solve_plan *plan) { return plan && plan->job.kept; }

talus_status tl_ccp_make_plan(const tl_crowd *crowd, tl_contacts *contacts,
                              const struct tl_solve_plan **plan) {
  struct tl_solve_plan *made;
  tl_system system = {.model = crowd->model,
                      .crowd = crowd,
                      .settings = &crowd->model->solve,
                      .contacts = contacts};
  TL_TAKE(crowd->arena, 1, &made);
  TL_TRY(tl_system_order(&system));
  *made = (struct tl_solve_plan){.job.system = &system};
  TL_TRY(tl_ccp_plan_parts(&made->job, NULL, NULL, 0));
  TL_TRY(list_all_moved(&system, &made->job));
  TL_TRY(tl_ccp_keep_rows(&made->job, &made->job.kept));
  made->rank = system.rank;
  made->index_of = system.index_of;
  made->tiles = system.tiles;
  made->label = system.label;
  *plan = made;
  return TALUS_OK;
}

/* A solve fills its parts, so each solve gets copies of the plan's parts. */
static talus_status follow_plan(tl_ccp *job) {
  tl_system *system = job->system;
  const struct tl_solve_plan *plan = system->crowd->plan;
  *job = plan->job;
  job->system = system;
  system->label = plan->label;
  TL_TAKE(system->crowd->arena, job->part_count, &job->parts);
  for (size_t i = 0; i < job->part_count; ++i) {
    job->parts[i] = plan->job.parts[i];
    job->parts[i].system = system;
    job->parts[i].report = system->report;
  }
  return TALUS_OK;
}

static talus_status order_bodies(tl_system *system) {
  const struct tl_solve_plan *plan = system->crowd->plan;
  if (!plan)
    return tl_system_order(system);
  system->rank = plan->rank;
  system->index_of = plan->index_of;
  system->tiles = plan->tiles;
  return TALUS_OK;
}

/* ---- the whole solve ------------------------------------------------------------------------- */

/* Without joints, contacts are planned before bodies are loaded, and planning uses the memory of
 * the bodies for its own data. With joints, bodies are loaded first, because they decide which
 * joints act. */
static talus_status plan_and_load(tl_ccp *job, tl_ccp_body *shifts) {
  tl_system *system = job->system;
  tl_pairs pairs = {0};
  if (system->crowd->joints) {
    TL_TRY(tl_system_load_bodies(system));
    TL_TRY(tl_impact_find(system, shifts));
    TL_TRY(tl_links_list(&job->links, system, &pairs));
    return system->contacts->count > 0 || job->links.count > 0
               ? tl_ccp_plan_parts(job, &pairs, NULL, 0)
               : TALUS_OK;
  }
  if (system->crowd->plan)
    TL_TRY(follow_plan(job));
  else if (system->contacts->count > 0)
    TL_TRY(tl_ccp_plan_parts(job, NULL, system->bodies,
                             system->crowd->count * sizeof *system->bodies));
  TL_GO_ON(system->crowd->cancel);
  TL_TRY(tl_system_load_bodies(system));
  return tl_impact_find(system, shifts);
}

talus_status tl_ccp_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                          tl_solve_report *report) {
  const tl_model *model = crowd->model;
  tl_system system;
  TL_TRY(tl_system_begin(&system, crowd, contacts, report));
  /* Memory for shifts is taken in every step, also without overlap, so that the arena keeps its
   * size. It is not taken if velocities can be set aside instead. */
  tl_ccp_body *shifts = NULL;
  bool corrected = false;
  const bool may_bounce = tl_impact_is_possible(model);
  if (contacts->count > 0 && (may_bounce || !tl_system_has_rows(&system)))
    TL_TAKE(crowd->arena, crowd->count + 1, &shifts);
  if (contacts->count > 0)
    tl_system_lend(&system, shifts);
  if (contacts->count > 0 || crowd->joints)
    TL_TRY(order_bodies(&system));
  TL_GO_ON(crowd->cancel);
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_ccp job = {.system = &system};
  TL_TRY(plan_and_load(&job, may_bounce ? shifts : NULL));
  TL_GO_ON(crowd->cancel);
  if (contacts->count > 0 || job.links.count > 0)
    TL_TRY(solve_rows(&job));
  TL_TRY(look_back(&job));
  TL_GO_ON(crowd->cancel);
  if (contacts->count > 0)
    TL_TRY(tl_ccp_correct(&job, shifts, &corrected));
  tl_arena_release(crowd->arena, mark);
  *twists = tl_system_twists(&system, shifts, corrected || system.shifts);
  return TALUS_OK;
}
