/* From contacts to bundles and rows, in the order in which they are solved. */
#include "crowd/asleep.h"
#include "solve/impulse/impulse.h"

#define BLOCK_BUNDLES 64 /* bundles that one thread takes at a time */

/* ---- bundles --------------------------------------------------------------------------------- */

/* Finds the first contact of every bundle that has work to do, in canonical order. Colouring uses
 * these only, so that all contacts of a pair have one colour. */
static talus_status find_bundles(tl_impulse *job) {
  const tl_system *system = job->system;
  const tl_contacts *contacts = system->contacts;
  uint32_t *first;
  TL_TAKE(system->crowd->arena, contacts->count, &first);
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (i > 0 && c[-1].a == c->a && c[-1].b == c->b)
      continue;
    if (!tl_pair_is_dormant(system->model, system->crowd->in, c->a, c->b))
      first[job->bundle_count++] = (uint32_t)i;
  }
  return tl_contact_colour_some(system->crowd, contacts, NULL, first, job->bundle_count,
                                system->tiles, &job->colours);
}

static uint32_t bundle_size(const tl_contacts *contacts, size_t first) {
  size_t end = first + 1;
  while (end < contacts->count && contacts->data[end].a == contacts->data[first].a &&
         contacts->data[end].b == contacts->data[first].b)
    end++;
  return (uint32_t)(end - first);
}

/* Every colour starts a block; a serial colour is a single block. */
static talus_status cut_blocks(tl_impulse *job) {
  const tl_colours *colours = &job->colours;
  tl_arena *arena = job->system->crowd->arena;
  size_t rows = 0, blocks = 0;
  TL_TAKE(arena, job->bundle_count + 1, &job->bundle_row);
  TL_TAKE(arena, job->bundle_count, &job->bundle_body);
  TL_TAKE(arena, colours->count + 1, &job->colour_block);
  TL_TAKE(arena, job->bundle_count / BLOCK_BUNDLES + colours->count + 1, &job->block_bundle);
  for (size_t k = 0; k < colours->count; ++k) {
    job->colour_block[k] = (uint32_t)blocks;
    for (uint32_t i = colours->start[k]; i < colours->start[k + 1]; ++i) {
      const uint32_t at = i - colours->start[k];
      if (at == 0 || (at % BLOCK_BUNDLES == 0 && !colours->serial[k]))
        job->block_bundle[blocks++] = i;
      const tl_contact *c = &job->system->contacts->data[colours->order[i]];
      job->bundle_body[i].a = tl_system_body(job->system, c->a);
      job->bundle_body[i].b = tl_system_body(job->system, c->b);
      job->bundle_row[i] = (uint32_t)rows;
      rows += bundle_size(job->system->contacts, colours->order[i]);
    }
  }
  job->bundle_row[job->bundle_count] = (uint32_t)rows;
  job->colour_block[colours->count] = (uint32_t)blocks;
  job->block_bundle[blocks] = (uint32_t)job->bundle_count;
  job->block_count = blocks;
  job->row_count = rows;
  return TALUS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void load_roll(const tl_impulse *job, size_t contact, tl_pair body,
                      const tl_impulse_row *row, tl_impulse_roll *roll) {
  const tl_system *system = job->system;
  const tl_contact *c = &system->contacts->data[contact];
  const tl_pair_law *law = tl_model_law(system->model, c->a, c->b);
  memset(roll, 0, sizeof *roll);
  roll->rolling = tl_law_rolling(system->model, law, c->a, c->b);
  roll->spinning = law->spinning;
  tl_step_metric(tl_sym3_add(tl_system_turning(system, body.a), tl_system_turning(system, body.b)),
                 c->normal, &roll->es, &roll->er);
  if (!system->settings->warm_start)
    return;
  const talus_vec3 torque = tl_links_ease_push(&job->links, body.a, body.b,
                                               system->contacts->law_states.data[contact].torque);
  const talus_real pn = tl_dot(row->impulse, c->normal), tn = tl_dot(torque, c->normal);
  const talus_vec3 tt = tl_madd(torque, -tn, c->normal);
  roll->torque = tl_madd(tl_roll_cut(tt, tl_length(tt), roll->rolling * pn),
                         tl_clamp(tn, -law->spinning * pn, law->spinning * pn), c->normal);
}

static void load_bundles(void *context, size_t begin, size_t end) {
  const tl_impulse *job = context;
  const tl_system *system = job->system;
  for (size_t k = begin; k < end; ++k)
    for (uint32_t r = job->bundle_row[k]; r < job->bundle_row[k + 1]; ++r) {
      const size_t contact = tl_impulse_contact(job, k, r - job->bundle_row[k]);
      const tl_contact *c = &system->contacts->data[contact];
      const tl_ccp_row row =
          tl_system_make_row(system, c, job->bundle_body[k].a, job->bundle_body[k].b);
      job->rows[r] =
          (tl_impulse_row){.normal = row.normal,
                           .arm_a = row.arm_a,
                           .arm_b = row.arm_b,
                           .impulse = tl_links_ease_push(&job->links, job->bundle_body[k].a,
                                                         job->bundle_body[k].b, row.impulse),
                           .bias = row.bias,
                           .friction = row.friction,
                           .en = row.en,
                           .et = row.et,
                           .weight = row.en > 0 ? 1 / (row.en * row.et) : 0};
      if (job->rolls)
        load_roll(job, contact, job->bundle_body[k], &job->rows[r], &job->rolls[r]);
    }
}

talus_status tl_impulse_load(tl_impulse *job) {
  tl_system *system = job->system;
  tl_arena *arena = system->crowd->arena;
  TL_TRY(find_bundles(job));
  TL_TRY(cut_blocks(job));
  if (system->model->law_kinds & TL_LAW_COHESION)
    TL_TRY(tl_system_load_pulls(system));
  job->radial = !system->tensors && !system->summary.arms;
  TL_TAKE(arena, job->row_count, &job->rows);
  if (system->model->law_kinds & TL_LAW_ROLLING)
    TL_TAKE(arena, job->row_count, &job->rolls);
  TL_TAKE(arena, 2 * job->block_count + 2, &job->block_sum);
  TL_TAKE(arena, (size_t)system->model->par.threads, &job->worker_sum);
  TL_TAKE(arena, job->block_count, &job->block_max);
  TL_TAKE(arena, job->bundle_count, &job->bundle_work);
  TL_TAKE(arena, 2 * system->model->bodies, &job->island_sum);
  tl_for(&system->model->par, job->bundle_count, 64, load_bundles, job);
  return TALUS_OK;
}

/* ---- position correction --------------------------------------------------------------------- */

bool tl_impulse_is_deep(const tl_impulse *job) {
  const tl_contacts *contacts = job->system->contacts;
  const talus_real slop = job->system->slop;
  if (!(job->system->settings->correction > 0) || job->system->crowd->stays_deep)
    return false;
  if (job->system->report->residual_max * job->system->crowd->dt > (double)slop)
    return true;
  for (size_t i = 0; i < contacts->count; ++i)
    if (contacts->data[i].gap < -slop)
      return true;
  return false;
}

/* Aims rows so that gap + h (u_n + s_n) >= target, with s the velocity of correction. A contact
 * that opens by itself needs no correction; one that another contact pushes may close up to the
 * slop; sinking that the sweeps did not stop is taken back. */
static void aim_bundles(void *context, size_t begin, size_t end) {
  const tl_impulse *job = context;
  const tl_system *system = job->system;
  const talus_real h = (talus_real)system->crowd->dt;
  for (size_t k = begin; k < end; ++k) {
    const tl_impulse_pair pair = tl_impulse_pair_of(job, k);
    for (uint32_t r = job->bundle_row[k]; r < job->bundle_row[k + 1]; ++r) {
      tl_impulse_row *row = &job->rows[r];
      const talus_real gap = tl_system_gap(
          system, &system->contacts->data[tl_impulse_contact(job, k, r - job->bundle_row[k])]);
      const talus_real ahead = gap + h * tl_dot(tl_impulse_velocity(&pair, row), row->normal);
      const talus_real target =
          tl_impulse_target(tl_max(gap, ahead), h, system->slop,
                            (talus_real)system->settings->correction, system->recovery_speed);
      row->bias = (ahead - target) / h;
      row->impulse = tl_vec3(0, 0, 0);
      row->friction = 0;
    }
  }
}

talus_status tl_impulse_load_correction(const tl_impulse *job, tl_ccp_body *bodies,
                                        tl_impulse *fixing) {
  *fixing = *job;
  tl_for(&job->system->model->par, job->bundle_count, 64, aim_bundles, fixing);
  fixing->correcting = true;
  fixing->bodies = bodies;
  return tl_links_hold_still(&job->links, bodies, &fixing->links);
}
