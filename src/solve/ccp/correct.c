/* Position correction: overlap is taken out of positions, and no velocity learns of it.
 *
 * Overlap that is pushed out by velocities stays in them: a body leaves the floor at the speed that
 * took it out, layers of a heap add theirs up, and an impact that sweeps did not resolve comes back
 * as a jump. So velocities are solved first, with nothing asked of a contact but that it does not
 * close further; then the same rows are swept once more from nothing, without friction, for the
 * velocities s that move bodies in this step beside their own (split impulses; Catto 2014):
 *
 *   gap + h (u_n + s_n) >= target
 *
 * u_n is what the velocities of the solution leave, so that what sweeps could not stop of sinking
 * is taken back at once; of overlap that was there before, a share. Where nothing is deeper than
 * the slop there is nothing to do, and nothing is done. */
#include "kernels/impulse.h"
#include "solve/impact/impact.h"

#define SHARE  4   /* of the usual sweeps: the next step takes out what this one leaves */
#define ENOUGH 0.1 /* of the slop over the step: the residual that the velocities s may have */

typedef struct still_job {
  const tl_ccp_body *from;
  tl_ccp_body *to;
} still_job;

static void copy_still(void *context, size_t begin, size_t end) {
  const still_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    job->to[i] = job->from[i];
    job->to[i].v = job->to[i].w = tl_vec3(0, 0, 0);
  }
}

talus_status tl_ccp_take_shifts(const tl_ccp *job, tl_ccp_body *shifts, tl_ccp_body **room) {
  *room = shifts;
  if (job->shifts) /* by impacts, in the same place */
    TL_TAKE(job->scope->arena, job->scope->count + 1, room);
  still_job still = {job->bodies, *room};
  tl_for(&job->model->par, job->scope->count + 1, 1024, copy_still, &still);
  return TALUS_OK;
}

/* What correction may still change of a joint's free direction: velocities have used up some of the
 * way to its limits, and beyond them nothing goes further out. Springs and motors do not act. */
static void leave_room(const tl_ccp *from, const tl_link *had, tl_link *link) {
  double u[TL_JOINT_ROWS];
  tl_link_speeds(had, from->bodies, u);
  const talus_real speed = (talus_real)u[had->hard];
  link->law = (tl_joint_law){.cap = TL_REAL_MAX,
                             .low = tl_min(0, had->law.low - speed),
                             .high = tl_max(0, had->law.high - speed)};
}

talus_status tl_ccp_hold_links(const tl_ccp *from, tl_ccp *to) {
  tl_link_row *row;
  size_t rows = 0;
  if (from->link_count == 0)
    return TALUS_OK;
  for (size_t i = 0; i < from->link_count; ++i)
    rows += (size_t)tl_link_rows(&from->links[i]);
  TL_TAKE(from->scope->arena, from->link_count, &to->links);
  TL_TAKE(from->scope->arena, rows, &row);
  to->recovering = NULL;
  for (size_t i = 0; i < from->link_count; ++i) {
    tl_link *link = &to->links[i];
    *link = from->links[i];
    link->row = row;
    for (int r = 0; r < tl_link_rows(link); ++r) {
      *row = from->links[i].row[r];
      row->bias = row->impulse = 0;
      row++;
    }
    if (link->has_law)
      leave_room(from, &from->links[i], link);
  }
  return TALUS_OK;
}

/* ---- rows --------------------------------------------------------------------------------------
 */

/* By the numbers of all bodies: gradient methods have given those of a part others. */
static void name_bodies(const tl_ccp *job, size_t k) {
  tl_ccp_pack *pack = &job->packs[k];
  for (uint32_t row = job->pack_row[k]; row < job->pack_row[k + 1]; ++row) {
    const tl_contact *c = &job->contacts->data[job->colours.order[row]];
    pack->a[row - job->pack_row[k]] = tl_ccp_solver_body(job, c->a);
    pack->b[row - job->pack_row[k]] = tl_ccp_solver_body(job, c->b);
  }
  for (uint32_t i = job->pack_row[k + 1] - job->pack_row[k]; i < TL_CCP_LANES; ++i)
    pack->a[i] = pack->b[i] = (uint32_t)job->scope->count;
}

typedef struct aim_job {
  const tl_ccp *ccp;
  uint8_t *deep; /* by row: TL_CCP_DEEP, TL_CCP_SINKING */
} aim_job;

void tl_ccp_aim_packs_scalar(const tl_ccp *job, size_t begin, size_t end, uint8_t *deep) {
  const talus_real h = (talus_real)job->scope->dt, share = (talus_real)job->settings->recovery;
  for (size_t k = begin; k < end; ++k) {
    tl_ccp_pack *pack = &job->packs[k];
    for (uint32_t row = job->pack_row[k]; row < job->pack_row[k + 1]; ++row) {
      const uint32_t i = row - job->pack_row[k];
      const talus_real gap = job->row_gaps[k * TL_CCP_LANES + i];
      const tl_ccp_vec u = tl_ccp_lane_velocity(job, k, i);
      /* Where the velocities lead. */
      const talus_real ahead =
          gap + h * tl_dot(tl_vec3(u.x, u.y, u.z), tl_ccp_lane(&pack->normal, i));
      const talus_real target =
          tl_impulse_target(tl_max(gap, ahead), h, job->slop, share, job->recovery_speed);
      deep[row] = (uint8_t)((gap < -TL_CCP_DEEP_SLOPS * job->slop ? TL_CCP_DEEP : 0) |
                            (ahead < target ? TL_CCP_SINKING : 0));
      pack->bias[i] = (ahead - target) / h;
      pack->friction[i] = 0;
    }
    pack->impulse = (tl_ccp_lanes){{0}, {0}, {0}};
  }
}

static void aim_packs(void *context, size_t begin, size_t end) {
  const aim_job *aim = context;
  const tl_ccp *job = aim->ccp;
  if (job->settings->method != TALUS_GAUSS_SEIDEL)
    for (size_t k = begin; k < end; ++k)
      name_bodies(job, k);
  if (tl_ccp_has_avx512())
    tl_ccp_aim_packs_avx512(job, begin, end, aim->deep);
  else
    tl_ccp_aim_packs_scalar(job, begin, end, aim->deep);
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

static bool is_deep(void *context, size_t i) {
  const tl_ccp *job = context;
  return job->contacts->data[i].gap < -TL_CCP_DEEP_SLOPS * job->slop;
}

static bool needs_correction(tl_ccp *job) {
  if (!(job->settings->recovery > 0) || job->row_count == 0)
    return false;
  return job->report->residual_max * job->scope->dt > (double)job->slop ||
         tl_find_first(&job->model->par, job->contacts->count, is_deep, job) != SIZE_MAX;
}

/* The parts with rows of correction. */
static talus_status take_parts(const tl_ccp *job, tl_ccp *fixing) {
  TL_TAKE(job->scope->arena, job->part_count, &fixing->parts);
  for (size_t i = 0; i < job->part_count; ++i) {
    tl_ccp *part = &fixing->parts[i];
    *part = job->parts[i];
    part->model = job->model;
    part->settings = fixing->settings;
    part->bodies = fixing->bodies;
    part->tensors = job->tensors;
    part->body_count = job->body_count;
    part->rolls = NULL;
    part->correcting = true;
    part->rms = job->parts[i].report->residual_rms;
    TL_TRY(tl_ccp_hold_links(&job->parts[i], part));
  }
  return TALUS_OK;
}

talus_status tl_ccp_add_shifts(tl_ccp *job, tl_ccp_body *shifts) {
  job->report->contact_work += tl_impact_lift(job, job->bodies);
  for (size_t i = 0; job->bodies != shifts && i <= job->scope->count; ++i) {
    shifts[i].v = tl_add(shifts[i].v, job->bodies[i].v);
    shifts[i].w = tl_add(shifts[i].w, job->bodies[i].w);
  }
  return TALUS_OK;
}

talus_status tl_ccp_correct(tl_ccp *job, tl_ccp_body *shifts, bool *corrected) {
  *corrected = needs_correction(job);
  if (!*corrected)
    return TALUS_OK;
  aim_job aim = {.ccp = job};
  TL_TAKE(job->scope->arena, job->row_count, &aim.deep);
  tl_for(&job->model->par, job->pack_count, 64, aim_packs, &aim);
  tl_ccp_body *room;
  TL_TRY(tl_ccp_take_shifts(job, shifts, &room));
  talus_solve_def settings = *job->settings;
  settings.method = TALUS_GAUSS_SEIDEL;
  settings.warm_start = false;
  settings.iterations = (settings.iterations + SHARE - 1) / SHARE;
  if (job->slop > 0)
    settings.tolerance = ENOUGH * (double)job->slop / job->scope->dt;
  tl_ccp fixing = *job;
  fixing.bodies = room;
  fixing.settings = &settings;
  fixing.rolls = NULL;
  fixing.correcting = true;
  fixing.deep = aim.deep;
  TL_TRY(take_parts(job, &fixing));
  TL_TRY(tl_ccp_solve_parts(&fixing));
  return tl_ccp_add_shifts(&fixing, shifts);
}
