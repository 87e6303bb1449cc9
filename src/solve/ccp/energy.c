/* What a step did to the energy, and the objective that it brought down.
 *
 * With v0 at the start of the step, vf = v0 + h M^-1 f (no contacts) and v1 the solution, the
 * kinetic energy changes by exactly (v0 + v1)/2 . M (v1 - v0). The part M (v1 - vf) is what
 * contacts gave, M (vf - v0) is what gravity and constant loads gave. A body's inertia is taken
 * where it stood at t0, as the solver does. Of what contacts and joints gave together, joints have
 * the sum of p J (v0 + v1)/2 over their rows, and contacts the rest.
 *
 * The objective f(g) = g.N g/2 + g.(D^T vf + b) needs no product with N: D g = M (v1 - vf), so
 *   f = (v1 + vf)/2 . M (v1 - vf) + sum of b_n g_n.
 * Links add their biases too, and the energy of their compliances and laws (joint/link.c).
 * Where bodies bounced (impact.h), vf of the objective is what the solver began with.
 * It is what ccp friction minimises, and told with `ncp` too. With
 * cohesion g is the shifted impulse, whose cone is the usual one, and f has a constant more: the
 * energy that the pull alone would give. */
#include "crowd/rest.h"
#include "solve/ccp/ccp.h"

#define PACKS 512 /* that pay for waking a thread */
#define AHEAD 8   /* bodies that are asked for before they are needed */

enum { CONTACT, LOAD, OBJECTIVE, SUMS };

typedef struct energy_job {
  const tl_ccp *ccp;
  tl_ccp_entry *entries; /* by slot; or NULL */
} energy_job;

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

tl_wrench tl_ccp_momentum_of(const tl_ccp *job, uint32_t slot, talus_vec3 v, talus_vec3 w) {
  const tl_model *model = job->model;
  const talus_vec3 inertia = tl_body_inertia(model, slot);
  tl_wrench r = {tl_scale(v, model->property.mass[slot]), tl_scale(w, inertia.x)};
  if (!tl_body_shape(model, slot)->isotropic)
    r.torque = tl_sym3_mul_vec(tl_sym3_rotated(job->scope->in->rotation[slot], inertia), w);
  return r;
}

/* The free velocity, without the inverse of an inertia where none is needed. */
tl_twist tl_ccp_free_twist(const tl_ccp *job, size_t member) {
  const uint32_t slot = tl_scope_slot(job->scope, member);
  const tl_properties *property = &job->model->property;
  if (property->force || property->torque || (property->flags[slot] & TL_FLAG_LOCKS)) {
    tl_ccp_body body;
    tl_ccp_load_free(job, member, &body);
    return (tl_twist){body.v, body.w};
  }
  const talus_vec3 v = job->scope->in->velocity[slot];
  return (tl_twist){tl_madd(v, (talus_real)job->scope->dt, job->model->gravity),
                    job->scope->in->spin[slot]};
}

/* Of one body; `own` is half of v1.M (v1 - vf), `given` M (v1 - vf). Impacts have changed what the
 * solver began with. */
static double objective_of(const tl_ccp *job, size_t i, uint32_t slot, const tl_twist *free,
                           double own, tl_wrench given) {
  if (!job->kicks)
    return own + 0.5 * (dot_d(free->velocity, given.impulse) + dot_d(free->spin, given.torque));
  const uint32_t row = job->rank ? job->rank[i] : (uint32_t)i;
  const tl_ccp_body *now = &job->bodies[row];
  const talus_vec3 v = tl_add(free->velocity, job->kicks[row].velocity);
  const talus_vec3 w = tl_add(free->spin, job->kicks[row].spin);
  const tl_wrench rest = tl_ccp_momentum_of(job, slot, tl_sub(now->v, v), tl_sub(now->w, w));
  return 0.5 * (dot_d(tl_add(now->v, v), rest.impulse) + dot_d(tl_add(now->w, w), rest.torque));
}

/* What the solver began with: free velocities, and what bounces (which make no energy of their own:
 * impact.h) and cohesion made of them. */
tl_twist tl_ccp_start_twist(const tl_ccp *job, size_t member) {
  const uint32_t body = job->rank ? job->rank[member] : (uint32_t)member;
  if (job->pulled)
    return job->pulled[body];
  tl_twist twist = tl_ccp_free_twist(job, member);
  if (job->kicks) {
    twist.velocity = tl_add(twist.velocity, job->kicks[body].velocity);
    twist.spin = tl_add(twist.spin, job->kicks[body].spin);
  }
  return twist;
}

/* An entry of the ledger. free, given: as in add_body, which do where the solver began with them.
 */
static tl_ccp_entry weigh(const tl_ccp *job, size_t i, uint32_t slot, tl_twist free,
                          const tl_ccp_body *now, tl_wrench given) {
  const bool is_other = job->pulled || job->kicks;
  const tl_twist from = is_other ? tl_ccp_start_twist(job, i) : free;
  const talus_vec3 dv = tl_sub(now->v, from.velocity), dw = tl_sub(now->w, from.spin);
  if (is_other)
    given = tl_ccp_momentum_of(job, slot, dv, dw);
  const talus_vec3 inertia = tl_body_inertia(job->model, slot);
  tl_ccp_entry entry;
  entry.had = (double)job->model->property.mass[slot] * dot_d(from.velocity, from.velocity) +
              (double)tl_max(inertia.x, tl_max(inertia.y, inertia.z)) * dot_d(from.spin, from.spin);
  entry.norm = dot_d(dv, given.impulse) + dot_d(dw, given.torque);
  entry.work =
      dot_d(from.velocity, given.impulse) + dot_d(from.spin, given.torque) + 0.5 * entry.norm;
  return entry;
}

static void add_body(const energy_job *energy, size_t i, tl_tally sums[SUMS]) {
  const tl_ccp *job = energy->ccp;
  const uint32_t slot = tl_scope_slot(job->scope, i);
  if (tl_body_is_static(job->model, slot) || tl_rest_is_asleep(job->scope->in, slot)) {
    if (energy->entries)
      energy->entries[slot] = (tl_ccp_entry){0, 0, 0};
    return;
  }
  const tl_properties *property = &job->model->property;
  const tl_ccp_body *now = &job->bodies[job->rank ? job->rank[i] : i];
  const talus_vec3 v0 = job->scope->in->velocity[slot], w0 = job->scope->in->spin[slot];
  const tl_twist free = tl_ccp_free_twist(job, i);
  const tl_wrench given =
      tl_ccp_momentum_of(job, slot, tl_sub(now->v, free.velocity), tl_sub(now->w, free.spin));
  const double own =
      0.5 * (dot_d(now->v, given.impulse) + dot_d(now->w, given.torque)); /* of v1, in both */
  tl_tally_add(&sums[CONTACT], own + 0.5 * (dot_d(v0, given.impulse) + dot_d(w0, given.torque)));
  tl_tally_add(&sums[OBJECTIVE], objective_of(job, i, slot, &free, own, given));
  if (energy->entries)
    energy->entries[slot] = weigh(job, i, slot, free, now, given);
  if (!property->force && !property->torque)
    return;
  const talus_vec3 fallen = tl_scale(job->model->gravity, (talus_real)job->scope->dt);
  const tl_wrench loaded = tl_ccp_momentum_of(job, slot, tl_sub(tl_sub(free.velocity, v0), fallen),
                                              tl_sub(free.spin, w0));
  tl_tally_add(&sums[LOAD], 0.5 * (dot_d(tl_add(v0, now->v), loaded.impulse) +
                                   dot_d(tl_add(w0, now->w), loaded.torque)));
}

static void add_bodies(void *context, size_t begin, size_t end, tl_tally *sums) {
  const energy_job *job = context;
  const size_t count = job->ccp->scope->count;
  for (size_t i = begin; i < end; ++i) {
    if (job->ccp->rank && i + AHEAD < count) /* neighbours here are far apart there */
      __builtin_prefetch(&job->ccp->bodies[job->ccp->rank[i + AHEAD]]);
    add_body(job, i, sums);
  }
}

/* Bias times impulse of rows. */
static void add_packs(void *context, size_t begin, size_t end, tl_tally *sum) {
  const tl_ccp *job = context;
  for (size_t k = begin; k < end; ++k) {
    const tl_ccp_pack *pack = &job->packs[k];
    double each[TL_CCP_LANES];
    for (uint32_t i = 0; i < TL_CCP_LANES; ++i)
      each[i] = (double)(pack->bias[i] *
                         tl_dot(tl_ccp_lane(&pack->impulse, i), tl_ccp_lane(&pack->normal, i)));
    tl_tally_add_lanes(sum, each);
  }
}

/* (v0 + v1)/2 . (l, a) of a body that joints can move; 0 of others, whose energy is not told. */
static double mean_speed(const tl_ccp *job, uint32_t slot, uint32_t body, talus_vec3 l,
                         talus_vec3 a) {
  const tl_ccp_body *now = &job->bodies[body];
  if (slot == TL_NONE || !(now->inv_mass > 0))
    return 0;
  const tl_state *in = job->scope->in;
  return 0.5 *
         (dot_d(tl_add(in->velocity[slot], now->v), l) + dot_d(tl_add(in->spin[slot], now->w), a));
}

static void add_link_work(void *context, size_t begin, size_t end, tl_tally *sum) {
  const tl_ccp *job = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_link *link = &job->links[i];
    const tl_joint *joint = &job->scope->joints->all.data[link->joint];
    for (int r = 0; r < tl_link_rows(link); ++r) {
      const tl_link_row *row = &link->row[r];
      tl_tally_add(sum,
                   (double)row->impulse * (mean_speed(job, joint->a, link->a, row->la, row->aa) +
                                           mean_speed(job, joint->b, link->b, row->lb, row->ab)));
    }
  }
}

/* Takes the work of joints out of that of contacts and joints. */
static void part_work(tl_ccp *job) {
  tl_solve_report *report = job->report;
  tl_tally work;
  if (job->link_count == 0)
    return;
  if (job->contacts->count == 0) /* not a bit of rounding for contacts that are not there */
    report->joint_work = report->contact_work;
  else {
    tl_for_tally(&job->model->par, job->link_count, TL_BLOCK, add_link_work, job, 1, &work);
    report->joint_work = tl_tally_value(&work);
  }
  report->contact_work -= report->joint_work;
}

void tl_ccp_find_energy(tl_ccp *job, tl_ccp_entry *entries) {
  energy_job work = {job, entries};
  tl_tally sums[SUMS], biases;
  tl_for_tally(&job->model->par, job->scope->count, TL_BLOCK, add_bodies, &work, SUMS, sums);
  tl_for_tally(&job->model->par, job->pack_count, PACKS, add_packs, job, 1, &biases);
  for (size_t i = 0; i < job->link_count; ++i)
    tl_tally_add(&biases, tl_link_objective(&job->links[i], job->bodies));
  tl_tally_merge(&sums[OBJECTIVE], &biases);
  job->report->objective = tl_tally_value(&sums[OBJECTIVE]);
  job->report->contact_work = tl_tally_value(&sums[CONTACT]);
  job->report->load_work = tl_tally_value(&sums[LOAD]);
  part_work(job);
}
