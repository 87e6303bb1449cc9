#include "solve/ccp/refresh.h"

#include "contact/ride.h"
#include "solve/ccp/visits.h"
#include "solve/impact/impact.h"

#include <stddef.h>

/* ---- what is kept ---------------------------------------------------------------------------- */

static bool is_rigid(const tl_model *model, const tl_contact *c) {
  return tl_ride_is_rigid(model, c->a) && tl_ride_is_rigid(model, c->b);
}

/* Rows hang on places and impulses alone, and lanes know how most of them ride: such a crowd has
 * arms (tl_summary). */
static bool pays(const tl_system *system) {
  const tl_model *model = system->model;
  const tl_contacts *contacts = system->contacts;
  if (!tl_ccp_visits_now()->refresh || model->substeps < 2 || model->law_kinds != 0 ||
      model->domain.enabled || system->settings->method != TALUS_GAUSS_SEIDEL ||
      tl_impact_is_possible(model) || system->crowd->members || system->crowd->in->sleep_flags)
    return false;
  size_t rigid = 0;
  for (size_t i = 0; i < contacts->count && 2 * rigid <= contacts->count; ++i)
    rigid += is_rigid(model, &contacts->data[i]);
  return 2 * rigid > contacts->count;
}

talus_status tl_ccp_keep_rows(const tl_ccp *job, tl_ccp_kept **kept) {
  tl_arena *arena = job->system->crowd->arena;
  const size_t packs = job->rows.pack_count;
  *kept = NULL;
  if (!pays(job->system))
    return TALUS_OK;
  TL_TAKE(arena, 1, kept);
  **kept = (tl_ccp_kept){0};
  TL_TAKE(arena, packs, &(*kept)->packs);
  TL_TAKE(arena, packs, &(*kept)->arms);
  TL_TAKE(arena, packs, &(*kept)->frictions);
  TL_TAKE(arena, packs, &(*kept)->anchors);
  TL_TAKE(arena, packs, &(*kept)->way);
  TL_TAKE(arena, packs * TL_CCP_LANES, &(*kept)->gaps);
  return TALUS_OK;
}

/* ---- the first time -------------------------------------------------------------------------- */

static void note_anchor(const tl_ccp *job, size_t k) {
  const tl_system *system = job->system;
  const tl_ccp_rows *rows = &job->rows;
  tl_ccp_anchor *anchor = &job->kept->anchors[k];
  const uint32_t first = rows->pack_row[k], count = rows->pack_row[k + 1] - first;
  bool is_apart = false;
  for (uint32_t i = 0; i < count; ++i) {
    const tl_contact *c = &system->contacts->data[rows->contact[first + i]];
    anchor->a[i] = c->a;
    anchor->b[i] = c->b;
    anchor->point.x[i] = (talus_real)c->point.x;
    anchor->point.y[i] = (talus_real)c->point.y;
    anchor->point.z[i] = (talus_real)c->point.z;
    anchor->gap[i] = c->gap;
    is_apart |= !is_rigid(system->model, c);
  }
  /* Lanes without a contact have normal 0 and bodies that do not move: theirs can ride anyhow. */
  for (uint32_t i = count; i < TL_CCP_LANES; ++i) {
    anchor->a[i] = anchor->a[0];
    anchor->b[i] = anchor->b[0];
    tl_ccp_put_lane(&anchor->point, i, tl_ccp_lane(&anchor->point, 0));
    anchor->gap[i] = 0;
  }
  job->kept->way[k] = is_apart                                     ? TL_CCP_APART
                      : tl_ccp_needs_tensor(rows, &rows->packs[k]) ? TL_CCP_BY_TENSOR
                                                                   : TL_CCP_PLAIN;
}

static void note_anchors(void *context, size_t begin, size_t end) {
  for (size_t k = begin; k < end; ++k)
    note_anchor(context, k);
}

/* ---- from then on ---------------------------------------------------------------------------- */

void tl_ccp_refresh_apart(const tl_ccp *job, size_t k) {
  const tl_ccp_rows *rows = &job->rows;
  for (uint32_t row = rows->pack_row[k]; row < rows->pack_row[k + 1]; ++row)
    tl_ride_one(job->system->crowd->ride, rows->contact[row]);
  tl_ccp_fill_packs(job, k, k + 1);
}

static void refresh_range(void *context, size_t begin, size_t end) {
  tl_ccp_visits_now()->refresh(context, begin, end);
}

void tl_ccp_refresh(tl_ccp *job, tl_range_fn *make) {
  const tl_par *par = &job->system->model->par;
  tl_for(par, job->rows.pack_count, 64, job->kept->is_full ? refresh_range : make, job);
  if (!job->kept->is_full)
    tl_for(par, job->rows.pack_count, 64, note_anchors, job);
  job->kept->is_full = true;
}
