/* Position correction: overlap is removed by moving positions, and velocities do not change.
 *
 * A velocity that removes overlap would stay with the body: it would leave the floor at the speed
 * that pushed it out, the layers of a heap would add up their speeds, and an impact that sweeps did
 * not resolve would come back as a jump. So velocities are solved first, with the only condition
 * that contacts do not close further. Then the same rows are swept once more from zero, without
 * friction, for velocities s that move bodies in this step only (split impulses; Catto 2014):
 *
 *   gap + h (u_n + s_n) >= target
 *
 * u_n is the normal velocity of the solution, so that sinking which the sweeps did not stop is
 * corrected at once; of older overlap a share is corrected. If no overlap is deeper than the slop,
 * nothing is done. */
#include "contact/ride.h"
#include "kernels/impulse.h"
#include "solve/ccp/ccp.h"
#include "solve/ccp/visits.h"

#define SHARE  4   /* of the usual sweeps: the next step takes out what this one leaves */
#define LEAST  2   /* sweeps of a substep: one has no momentum, and tall stacks sink */
#define ENOUGH 0.1 /* of the slop over the step: the residual that the velocities s may have */

/* ---- rows ------------------------------------------------------------------------------------ */

/* Numbers bodies as in the system again: gradient methods renumber those of a part. */
static void name_bodies_of(const tl_ccp *job, size_t k) {
  const tl_ccp_rows *rows = &job->rows;
  tl_ccp_pack *pack = &rows->packs[k];
  const uint32_t first = rows->pack_row[k], count = rows->pack_row[k + 1] - first;
  for (uint32_t i = 0; i < count; ++i) {
    const tl_contact *c = &job->system->contacts->data[rows->contact[first + i]];
    pack->a[i] = tl_system_body(job->system, c->a);
    pack->b[i] = tl_system_body(job->system, c->b);
  }
  for (uint32_t i = count; i < TL_CCP_LANES; ++i)
    pack->a[i] = pack->b[i] = (uint32_t)rows->body_count;
}

static void name_bodies(void *context, size_t begin, size_t end) {
  for (size_t k = begin; k < end; ++k)
    name_bodies_of(context, k);
}

void tl_ccp_aim_packs_scalar(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t begin,
                             size_t end, uint8_t *deep) {
  const talus_real h = aim->h;
  for (size_t k = begin; k < end; ++k) {
    tl_ccp_pack *pack = &rows->packs[k];
    for (uint32_t row = rows->pack_row[k]; row < rows->pack_row[k + 1]; ++row) {
      const uint32_t i = row - rows->pack_row[k];
      const talus_real gap = rows->gaps[k * TL_CCP_LANES + i];
      const tl_ccp_vec u = tl_ccp_lane_velocity(rows, k, i);
      /* Where the velocities lead. */
      const talus_real ahead =
          gap + h * tl_dot(tl_vec3(u.x, u.y, u.z), tl_ccp_lane(&pack->normal, i));
      const talus_real target =
          tl_impulse_target(tl_max(gap, ahead), h, aim->slop, aim->share, aim->recovery_speed);
      deep[row] = (uint8_t)((gap < -TL_CCP_DEEP_SLOPS * aim->slop ? TL_CCP_DEEP : 0) |
                            (ahead < target ? TL_CCP_SINKING : 0));
      pack->bias[i] = (ahead - target) / h;
    }
    pack->impulse = (tl_ccp_lanes){{0}, {0}, {0}};
  }
}

typedef struct aim_job {
  const tl_ccp *ccp;
  tl_ccp_aim aim;
  uint8_t *deep; /* by row: TL_CCP_DEEP, TL_CCP_SINKING */
} aim_job;

static void aim_packs(void *context, size_t begin, size_t end) {
  const aim_job *job = context;
  tl_ccp_visits_now()->aim(&job->ccp->rows, &job->aim, begin, end, job->deep);
}

static talus_status aim_rows(tl_ccp *job, uint8_t **deep) {
  const tl_system *system = job->system;
  aim_job aim = {.ccp = job,
                 .aim = {.h = (talus_real)system->crowd->dt,
                         .slop = system->slop,
                         .share = (talus_real)system->settings->recovery,
                         .recovery_speed = system->recovery_speed}};
  TL_TAKE(system->crowd->arena, job->rows.count, &aim.deep);
  /* All packs are renumbered first, because each aims with a look ahead into the packs of
   * others. */
  if (system->settings->method != TALUS_GAUSS_SEIDEL)
    tl_for(&system->model->par, job->rows.pack_count, 64, name_bodies, job);
  tl_for(&system->model->par, job->rows.pack_count, 64, aim_packs, &aim);
  *deep = aim.deep;
  return TALUS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool is_deep(void *context, size_t i) {
  const tl_system *system = context;
  return system->contacts->data[i].gap < -TL_CCP_DEEP_SLOPS * system->slop;
}

/* The same of a pack: a twelfth of the memory. Empty lanes have a gap of 0. */
static bool has_deep(void *context, size_t k) {
  const tl_ccp *job = context;
  const talus_real *gaps = job->rows.gaps + k * TL_CCP_LANES;
  talus_real least = gaps[0];
  for (int i = 1; i < TL_CCP_LANES; ++i)
    least = tl_min(least, gaps[i]);
  return least < -TL_CCP_DEEP_SLOPS * job->system->slop;
}

static bool needs_correction(tl_ccp *job) {
  tl_system *system = job->system;
  const tl_par *par = &system->model->par;
  if (!(system->settings->recovery > 0) || job->rows.count == 0 || system->crowd->stays_deep)
    return false;
  if (system->report->residual_max * system->crowd->dt > (double)system->slop)
    return true;
  const bool are_all = job->rows.count == system->contacts->count && !system->gaps;
  if (!are_all)
    tl_ride_settle(system->crowd->ride);
  return are_all ? tl_find_first(par, job->rows.pack_count, has_deep, job) != SIZE_MAX
                 : tl_find_first(par, system->contacts->count, is_deep, system) != SIZE_MAX;
}

/* The parts with rows of correction. */
static talus_status take_parts(const tl_ccp *job, tl_ccp *fixing) {
  TL_TAKE(job->system->crowd->arena, job->part_count, &fixing->parts);
  for (size_t i = 0; i < job->part_count; ++i) {
    tl_ccp_part *part = &fixing->parts[i];
    *part = job->parts[i];
    part->system = fixing->system;
    part->rows.bodies = fixing->rows.bodies;
    part->rows.rolls = NULL;
    part->rows.frictions = NULL;
    part->rows.friction = 0;
    part->correcting = true;
    part->lifting =
        tl_ccp_is_radial(&part->rows) && part->rows.count > TL_FEW_ROWS && part->links.count == 0;
    part->rms = job->parts[i].report->residual_rms;
    TL_TRY(tl_links_hold_still(&job->parts[i].links, fixing->rows.bodies, &part->links));
  }
  return TALUS_OK;
}

talus_status tl_ccp_correct(tl_ccp *job, tl_ccp_body *shifts, bool *corrected) {
  tl_system *system = job->system;
  uint8_t *deep;
  tl_ccp_body *room;
  *corrected = needs_correction(job);
  if (!*corrected)
    return TALUS_OK;
  TL_TRY(aim_rows(job, &deep));
  TL_TRY(tl_system_take_shifts(system, shifts, &room));
  talus_solve_def settings = *system->settings;
  settings.method = TALUS_GAUSS_SEIDEL;
  settings.warm_start = false;
  settings.iterations = (settings.iterations + SHARE - 1) / SHARE;
  if (system->model->substeps > 1 && settings.iterations < LEAST)
    settings.iterations = LEAST;
  if (system->slop > 0)
    settings.tolerance = ENOUGH * (double)system->slop / system->crowd->dt;
  tl_system still = *system;
  still.settings = &settings;
  still.bodies = room;
  tl_ccp fixing = *job;
  fixing.system = &still;
  fixing.rows.bodies = room;
  fixing.rows.rolls = NULL;
  fixing.rows.frictions = NULL;
  fixing.rows.friction = 0;
  fixing.deep = deep;
  TL_TRY(take_parts(job, &fixing));
  TL_TRY(tl_ccp_solve_parts(&fixing));
  tl_system_add_shifts(job->system, room, shifts);
  return TALUS_OK;
}
