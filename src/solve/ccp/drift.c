/* Warm start of joints, and what of it must not be carried over.
 *
 * Rows ask for two things: that frames move as one, and that drift of earlier steps is taken back
 * within this one. Of the impulses only the first part is a force that the next step will need
 * again. Carried over as a whole they are an integral of the drift, and that is unstable wherever
 * the iteration does not converge. Take a mode of which the sweeps of a step leave the share s: its
 * drift is h y, its speed u, and q is K times the impulses that a step starts with.
 *
 *   w = u + y + q,   u' = s w - y,   y' = y + u',   q' = q - (1 - s) w
 *
 * goes as z^steps with (1 - 1/z)^3 = -(1 - s)/s, and grows for s > 1/2. From nothing (q' = q) it is
 * (1 - 1/z)^2 and |z| = sqrt(s). There are two ways out:
 *
 *   - The part that takes back drift is left out of what is carried over. It must be as unconverged
 *     as it is in the whole, and is found with as many sweeps in the same order from nothing: rows
 *     are linear, so the whole less this part is what the sweeps make of the rest. Nothing grows
 *     then, and what is carried over still ends at the forces that hold the mechanism at rest.
 *   - Everything starts with a share c of its last impulse: (1 - 1/z)^2 (1 - c/z) = -(1 - s)/s, and
 *     nothing grows as long as c < 1/2. That is for gradient methods, which are not linear; and for
 *     islands in which contacts touch jointed bodies, because overlap that is pushed out is drift
 * as well. Among free bodies contacts let go before it grows, but not within a mechanism that is
 *     tight, such as a track round its wheels. Contacts and joints must have the same share: either
 *     carries what the other did. */
#include "solve/ccp/ccp.h"

#define SHARE (talus_real)0.4

typedef struct ease {
  const tl_ccp *job;
  uint8_t *touched; /* by pack: some of its contacts are with such a body */
} ease;

static void ease_packs(void *context, size_t begin, size_t end) {
  const ease *e = context;
  for (size_t k = begin; k < end; ++k) {
    tl_ccp_pack *pack = &e->job->packs[k];
    e->touched[k] = 0;
    for (uint32_t i = 0; i < TL_CCP_LANES; ++i)
      if (e->job->held[pack->a[i]] || e->job->held[pack->b[i]]) {
        e->touched[k] = 1;
        tl_ccp_put_lane(
            &pack->impulse, i,
            tl_ccp_ease(e->job, pack->a[i], pack->b[i], tl_ccp_lane(&pack->impulse, i)));
        if (e->job->rolls) {
          tl_ccp_lanes *torque = &e->job->rolls[k].torque;
          tl_ccp_put_lane(torque, i, tl_scale(tl_ccp_lane(torque, i), SHARE));
        }
      }
  }
}

static void ease_links(tl_link *links, size_t count) {
  for (size_t k = 0; k < count; ++k)
    for (int r = 0; r < tl_link_rows(&links[k]); ++r)
      links[k].row[r].impulse *= SHARE;
}

/* Contacts with jointed bodies, and the joints of the parts that have such contacts. */
static talus_status ease_parts(tl_ccp *job) {
  /* Sequential impulses have one part, and rows of contacts of their own, which come later. */
  const bool is_impulse = job->settings->kind == TALUS_SOLVE_IMPULSE;
  const bool all =
      is_impulse ? job->contacts->count > 0 : job->settings->method != TALUS_GAUSS_SEIDEL;
  ease e = {.job = job};
  TL_TAKE(job->scope->arena, job->pack_count, &e.touched);
  tl_for(&job->model->par, job->pack_count, 128, ease_packs, &e);
  for (size_t i = 0; i < job->part_count; ++i) {
    tl_ccp *part = &job->parts[i];
    bool eased = all;
    for (size_t k = 0; k < part->pack_count && !eased; ++k)
      eased = e.touched[part->first_pack + k] != 0;
    if (eased)
      ease_links(part->links, part->link_count);
    part->recovering = eased ? NULL : job->recovering;
  }
  return TALUS_OK;
}

talus_vec3 tl_ccp_ease(const tl_ccp *job, uint32_t a, uint32_t b, talus_vec3 impulse) {
  return job->held && (job->held[a] || job->held[b]) ? tl_scale(impulse, SHARE) : impulse;
}

talus_status tl_ccp_start_links(tl_ccp *job) {
  TL_TAKE(job->scope->arena, job->body_count + 1, &job->recovering);
  TL_TAKE(job->scope->arena, job->body_count + 1, &job->held);
  memset(job->held, 0, job->body_count + 1);
  for (size_t i = 0; i < job->link_count; ++i) {
    const uint32_t each[2] = {job->links[i].a, job->links[i].b};
    for (int k = 0; k < 2; ++k) {
      tl_ccp_body *body = &job->recovering[each[k]];
      *body = job->bodies[each[k]];
      body->v = body->w = tl_vec3(0, 0, 0);
      job->held[each[k]] = body->inv_mass > 0;
    }
  }
  return ease_parts(job);
}

/* All rows at once are solved exactly, however often. */
void tl_ccp_recover_links(const tl_ccp *job) {
  const tl_link_system *system = job->system;
  if (!job->recovering || job->link_count == 0 || !system)
    return;
  for (size_t i = 0; i < job->link_count; ++i)
    for (int r = 0; r < job->links[i].hard; ++r)
      system->x[system->place[job->links[i].first + (uint32_t)r]] =
          -(double)job->links[i].row[r].drift;
  tl_link_system_solve(system);
  for (size_t i = 0; i < job->link_count; ++i)
    for (int r = 0; r < job->links[i].hard; ++r)
      job->links[i].row[r].recovery = system->x[system->place[job->links[i].first + (uint32_t)r]];
}
