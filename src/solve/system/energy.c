/* The change of energy in a step, and the objective that the solver minimises.
 *
 * With v0 at the start of the step, vf = v0 + h M^-1 f (no contacts) and v1 the solution, the
 * kinetic energy changes by exactly (v0 + v1)/2 . M (v1 - v0). The part M (v1 - vf) is what
 * contacts gave, M (vf - v0) is what gravity and constant loads gave. A body's inertia is taken
 * at its pose at t0, as in the solver. Of the work of contacts and joints together, joints have the
 * sum of p J (v0 + v1)/2 over their rows, and contacts the difference.
 *
 * The objective f(g) = g.N g/2 + g.(D^T vf + b) needs no product with N: D g = M (v1 - vf), so
 *   f = (v1 + vf)/2 . M (v1 - vf) + sum of b_n g_n.
 * What bodies have of it is found here; a solver adds b_n g_n of its rows. Links add their biases
 * too, and the energy of their compliances and laws (joint/link.c).
 * Where bodies bounced (impact.h), vf of the objective is what the solver began with.
 * The friction `ccp` minimises f; it is reported with `ncp` too. With cohesion, g is the shifted
 * impulse, whose cone is the usual one, and f includes a constant: the energy that the pull alone
 * would give. */
#include "crowd/asleep.h"
#include "solve/system/links.h"

#define AHEAD 8 /* bodies between prefetching one and using it */

enum { CONTACT, LOAD, OBJECTIVE, SUMS };

typedef struct energy_job {
  const tl_system *system;
  tl_ledger_entry *entries; /* by slot; or NULL */
} energy_job;

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

bool tl_system_takes_part(const tl_system *system, uint32_t slot) {
  return !tl_body_is_static(system->model, slot) && !tl_is_asleep(system->crowd->in, slot);
}

tl_wrench tl_system_momentum(const tl_system *system, uint32_t slot, talus_vec3 v, talus_vec3 w) {
  const tl_model *model = system->model;
  const talus_vec3 inertia = tl_body_inertia(model, slot);
  tl_wrench r = {tl_scale(v, model->property.mass[slot]), tl_scale(w, inertia.x)};
  if (!tl_body_shape(model, slot)->isotropic)
    r.torque = tl_sym3_mul_vec(tl_sym3_rotated(system->crowd->in->rotation[slot], inertia), w);
  return r;
}

/* The free velocity; does not invert the inertia if it is not needed. */
tl_twist tl_system_free_twist(const tl_system *system, size_t member) {
  const uint32_t slot = tl_crowd_slot(system->crowd, member);
  const tl_properties *property = &system->model->property;
  if (property->force || property->torque || (property->flags[slot] & TL_FLAG_LOCKS)) {
    tl_ccp_body body;
    tl_system_load_free(system, member, &body);
    return (tl_twist){body.v, body.w};
  }
  const talus_vec3 v = system->crowd->in->velocity[slot];
  return (tl_twist){tl_madd(v, (talus_real)system->crowd->dt, system->model->gravity),
                    system->crowd->in->spin[slot]};
}

/* Objective of one body; `own` is half of v1.M (v1 - vf), `given` is M (v1 - vf). Impacts change
 * the velocity that the solver began with. */
static double objective_of(const tl_system *system, size_t i, uint32_t slot, const tl_twist *free,
                           double own, tl_wrench given) {
  if (!system->kicks)
    return own + 0.5 * (dot_d(free->velocity, given.impulse) + dot_d(free->spin, given.torque));
  const uint32_t row = tl_system_member(system, i);
  const tl_ccp_body *now = &system->bodies[row];
  const talus_vec3 v = tl_add(free->velocity, system->kicks[row].velocity);
  const talus_vec3 w = tl_add(free->spin, system->kicks[row].spin);
  const tl_wrench rest = tl_system_momentum(system, slot, tl_sub(now->v, v), tl_sub(now->w, w));
  return 0.5 * (dot_d(tl_add(now->v, v), rest.impulse) + dot_d(tl_add(now->w, w), rest.torque));
}

/* Velocity that the solver began with: the free velocity, changed by bounces (they make no energy
 * of their own: impact.h) and cohesion. */
tl_twist tl_system_start_twist(const tl_system *system, size_t member) {
  const uint32_t body = tl_system_member(system, member);
  if (system->pulled)
    return system->pulled[body];
  tl_twist twist = tl_system_free_twist(system, member);
  if (system->kicks) {
    twist.velocity = tl_add(twist.velocity, system->kicks[body].velocity);
    twist.spin = tl_add(twist.spin, system->kicks[body].spin);
  }
  return twist;
}

/* Makes an entry of the ledger. free, given: as in add_body; valid only if the solver began with
 * them. */
static tl_ledger_entry weigh(const tl_system *system, size_t i, uint32_t slot, tl_twist free,
                             const tl_ccp_body *now, tl_wrench given) {
  const bool is_other = system->pulled || system->kicks;
  const tl_twist from = is_other ? tl_system_start_twist(system, i) : free;
  const talus_vec3 dv = tl_sub(now->v, from.velocity), dw = tl_sub(now->w, from.spin);
  if (is_other)
    given = tl_system_momentum(system, slot, dv, dw);
  const talus_vec3 inertia = tl_body_inertia(system->model, slot);
  tl_ledger_entry entry;
  entry.had = (double)system->model->property.mass[slot] * dot_d(from.velocity, from.velocity) +
              (double)tl_max(inertia.x, tl_max(inertia.y, inertia.z)) * dot_d(from.spin, from.spin);
  entry.norm = dot_d(dv, given.impulse) + dot_d(dw, given.torque);
  entry.work =
      dot_d(from.velocity, given.impulse) + dot_d(from.spin, given.torque) + 0.5 * entry.norm;
  return entry;
}

/* What bodies have of two sums, on its way to the tallies: eight go there at a time. */
typedef struct waiting {
  double of[SUMS][TL_TALLY_LANES]; /* CONTACT, OBJECTIVE */
  size_t count;
} waiting;

static void add_waiting(waiting *w, tl_tally sums[SUMS]) {
  for (; w->count < TL_TALLY_LANES; w->count++)
    w->of[CONTACT][w->count] = w->of[OBJECTIVE][w->count] = 0;
  tl_tally_add_lanes(&sums[CONTACT], w->of[CONTACT]);
  tl_tally_add_lanes(&sums[OBJECTIVE], w->of[OBJECTIVE]);
  w->count = 0;
}

static void add_body(const energy_job *energy, size_t i, waiting *to, tl_tally sums[SUMS]) {
  const tl_system *system = energy->system;
  const uint32_t slot = tl_crowd_slot(system->crowd, i);
  if (!tl_system_takes_part(system, slot)) {
    if (energy->entries)
      energy->entries[slot] = (tl_ledger_entry){0, 0, 0};
    return;
  }
  const tl_properties *property = &system->model->property;
  const tl_ccp_body *now = &system->bodies[tl_system_member(system, i)];
  const talus_vec3 v0 = system->crowd->in->velocity[slot], w0 = system->crowd->in->spin[slot];
  const tl_twist free = tl_system_free_twist(system, i);
  const tl_wrench given =
      tl_system_momentum(system, slot, tl_sub(now->v, free.velocity), tl_sub(now->w, free.spin));
  const double own =
      0.5 * (dot_d(now->v, given.impulse) + dot_d(now->w, given.torque)); /* of v1, in both */
  to->of[CONTACT][to->count] = own + 0.5 * (dot_d(v0, given.impulse) + dot_d(w0, given.torque));
  to->of[OBJECTIVE][to->count] = objective_of(system, i, slot, &free, own, given);
  to->count++;
  if (energy->entries)
    energy->entries[slot] = weigh(system, i, slot, free, now, given);
  if (!(property->force && tl_length2(property->force[slot]) > 0) &&
      !(property->torque && tl_length2(property->torque[slot]) > 0))
    return;
  const talus_vec3 fallen = tl_scale(system->model->gravity, (talus_real)system->crowd->dt);
  const tl_wrench loaded = tl_system_momentum(
      system, slot, tl_sub(tl_sub(free.velocity, v0), fallen), tl_sub(free.spin, w0));
  tl_tally_add(&sums[LOAD], 0.5 * (dot_d(tl_add(v0, now->v), loaded.impulse) +
                                   dot_d(tl_add(w0, now->w), loaded.torque)));
}

static void add_bodies(void *context, size_t begin, size_t end, tl_tally *sums) {
  const energy_job *job = context;
  const tl_system *system = job->system;
  const size_t count = system->crowd->count;
  waiting some;
  some.count = 0;
  for (size_t i = begin; i < end; ++i) {
    /* members that are neighbours have distant solver bodies */
    if (system->rank && i + AHEAD < count)
      __builtin_prefetch(&system->bodies[system->rank[i + AHEAD]]);
    add_body(job, i, &some, sums);
    if (some.count == TL_TALLY_LANES)
      add_waiting(&some, sums);
  }
  add_waiting(&some, sums);
}

/* Splits the work of joints from that of contacts and joints. */
static void part_work(tl_system *system, const tl_links *links) {
  tl_solve_report *report = system->report;
  if (links->count == 0)
    return;
  /* Without contacts their work is exactly 0, without rounding. */
  report->joint_work = system->contacts->count == 0 ? report->contact_work : tl_links_work(links);
  report->contact_work -= report->joint_work;
}

void tl_system_find_energy(tl_system *system, const tl_links *links, tl_ledger_entry *entries,
                           tl_tally *objective) {
  energy_job work = {system, entries};
  tl_tally sums[SUMS];
  tl_for_tally(&system->model->par, system->crowd->count, TL_BLOCK, add_bodies, &work, SUMS, sums);
  *objective = sums[OBJECTIVE];
  system->report->contact_work = tl_tally_value(&sums[CONTACT]);
  system->report->load_work = tl_tally_value(&sums[LOAD]);
  part_work(system, links);
}
