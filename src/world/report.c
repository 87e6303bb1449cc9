/* What happened: totals, the state hash, contacts. */
#include "base/hash.h"
#include "world/world.h"

/* ---- totals ---------------------------------------------------------------------------------- */

enum { KINETIC, ROTATIONAL, POTENTIAL, PX, PY, PZ, LX, LY, LZ, SUMS };

/* What one body, which is not static, has of each. */
static void find_terms(const talus_world *world, size_t slot, double terms[SUMS]) {
  const tl_model *model = &world->model;
  const double m = (double)model->property.mass[slot];
  const talus_dvec3 x = world->state.position[slot], g = tl_widen(model->gravity);
  const talus_dvec3 v = tl_widen(world->state.velocity[slot]);
  const talus_vec3 inertia = tl_body_inertia(model, slot);
  const talus_vec3 w_body = tl_quat_unrotate(world->state.rotation[slot], world->state.spin[slot]);
  const talus_vec3 l_body = tl_mul(inertia, w_body);
  const talus_dvec3 l = tl_widen(tl_quat_rotate(world->state.rotation[slot], l_body));
  const double turning = 0.5 * (double)tl_dot(l_body, w_body);
  terms[KINETIC] = 0.5 * m * tl_ddot(v, v) + turning;
  terms[ROTATIONAL] = turning;
  terms[POTENTIAL] = -m * tl_ddot(g, x);
  terms[PX] = m * v.x;
  terms[PY] = m * v.y;
  terms[PZ] = m * v.z;
  terms[LX] = m * (x.y * v.z - x.z * v.y) + l.x;
  terms[LY] = m * (x.z * v.x - x.x * v.z) + l.y;
  terms[LZ] = m * (x.x * v.y - x.y * v.x) + l.z;
}

double tl_world_energy_of(const talus_world *world, size_t slot) {
  double terms[SUMS];
  if (tl_body_is_static(&world->model, slot))
    return 0;
  find_terms(world, slot, terms);
  return terms[KINETIC] + terms[POTENTIAL];
}

static void add_bodies(void *context, size_t begin, size_t end, tl_tally *sums) {
  const talus_world *world = context;
  double terms[SUMS];
  for (size_t i = begin; i < end; ++i) {
    if (tl_body_is_static(&world->model, i))
      continue;
    find_terms(world, i, terms);
    for (int k = 0; k < SUMS; ++k)
      tl_tally_add(&sums[k], terms[k]);
  }
}

talus_status talus_world_report(talus_world *world, talus_report *report) {
  TL_MAY_CHANGE(world);
  TL_NEED(report);
  TL_TRY(tl_world_finish_step(world));
  TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE_CONTACTS | TL_THE(joints), TL_READ));
  tl_tally tallies[SUMS];
  double sums[SUMS];
  tl_for_tally(&world->model.par, world->model.bodies, TL_BLOCK, add_bodies, world, SUMS, tallies);
  for (int k = 0; k < SUMS; ++k)
    sums[k] = tl_tally_value(&tallies[k]);

  *report = (talus_report){
      .time = talus_world_time(world),
      .steps = world->steps,
      .bodies = world->model.bodies,
      .pairs = world->last.pairs,
      .contacts_near = world->contacts.count,
      .kinetic_energy = sums[KINETIC],
      .potential_energy = sums[POTENTIAL],
      .rotational_energy = sums[ROTATIONAL],
      .contact_work = world->contact_work,
      .load_work = world->load_work,
      .flow_energy = world->flow_energy,
      .spring_energy = tl_world_spring_energy(world),
      .joint_work = world->joint_work,
      .objective = world->last.solve.objective,
      .momentum = {sums[PX], sums[PY], sums[PZ]},
      .angular_momentum = {sums[LX], sums[LY], sums[LZ]},
      .residual_max = world->last.solve.residual_max,
      .residual_rms = world->last.solve.residual_rms,
      .iterations = world->last.solve.iterations,
      .joints = world->joints.all.count,
      .emitted = world->emitted,
      .wall_pairs = world->walls.asked,
      .wall_tests = world->walls.tested,
      .removed = world->removed,
      .wall_broad = world->wall[0],
      .wall_narrow = world->wall[1],
      .wall_solve = world->wall[2],
      .wall_step = world->wall[3],
      .asleep = tl_world_count_asleep(world),
      .elastic_energy = world->last.solve.elastic,
      .damping_work = world->damping_work,
      .friction_work = world->friction_work,
      .critical_dt = world->penalty.critical,
      .overlap_max = world->last.depths.most,
      .overlap_share = world->last.depths.share,
      .sunk = world->sunk,
      .sunk_first = world->sunk_first,
      .made_energy = world->made_energy,
      .energy_corrections = world->energy_corrections,
      .unconverged = world->unconverged,
      .worst_residual = world->worst_residual,
      .worst_time = world->worst_time,
      .worst_body = world->worst_body,
      .collisions = world->collisions,
      .virial = world->virial,
      .outside = world->last.solve.outside,
      .hasty = world->hasty,
      .zone_energy = world->zone_energy,
      .zone_work = world->zone_work,
      .inner = world->last.solve.inner,
      .force_change = world->last.solve.force_change,
      .step_loss = world->step_loss,
      .comparisons = world->comparisons,
      .fallbacks = world->fallbacks,
      .h_omega = tl_model_is_implicit(&world->model) ? world->model.dt * world->penalty.omega : 0,
      .dt_least = world->adaptive.least,
      .swept = world->adaptive.swept,
      .short_steps = world->adaptive.cut,
      .short_a = world->adaptive.cut_by[0],
      .short_b = world->adaptive.cut_by[1],
      .local = {.body_steps = world->local.counts.body_steps,
                .body_steps_global = world->local.counts.body_steps_global,
                .clusters = world->local.counts.clusters,
                .rounds = world->local.counts.rounds,
                .rendezvous = world->local.counts.rendezvous,
                .rollbacks = world->local.counts.rollbacks,
                .depth = world->local.counts.depth,
                .window = world->local.counts.window}};
  for (size_t i = 0; i < world->contacts.count; ++i)
    report->contacts += world->contacts.data[i].gap <= 0;
  tl_joints_loads(&world->joints, &report->joint_force, &report->joint_torque);
  report->joint_drift = tl_joints_drift(&world->joints, &report->joints_broken);
  for (size_t i = 0; i < world->flow.emitters.count; ++i)
    report->blocked += world->flow.emitters.data[i].blocked;
  return TALUS_OK;
}

/* ---- the state hash -------------------------------------------------------------------------- */

static uint64_t hash_body(const talus_world *world, size_t slot) {
  unsigned char bytes[256];
  size_t used = sizeof(uint64_t);
  memcpy(bytes, &world->model.property.uid[slot], used);
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i) {
    const tl_field *field = &tl_state_fields[i];
    if (!(field->flags & TL_HASHED))
      continue;
    TL_ASSERT(used + field->bytes <= sizeof bytes);
    const unsigned char *rows = tl_field_rows(&world->state, field);
    if (rows)
      memcpy(bytes + used, rows + slot * field->bytes, field->bytes);
    else /* a lazy field that is not in use is 0 */
      memset(bytes + used, 0, field->bytes);
    used += field->bytes;
  }
  return tl_xxh64(bytes, used, 0);
}

uint64_t talus_world_hash(const talus_world *world) {
  TL_NEED_OR(world, 0);
  uint64_t sum = 0;
  if (tl_need(&world->where, TL_THE_STATE | TL_THE(uid), TL_READ) != TALUS_OK)
    return 0;
  for (size_t i = 0; i < world->model.bodies; ++i)
    sum += hash_body(world, i);
  return sum;
}

/* ---- contacts -------------------------------------------------------------------------------- */

talus_status talus_world_contacts(const talus_world *world, talus_contact *contacts,
                                  size_t capacity, size_t *count) {
  TL_NEED(world);
  TL_NEED(count);
  *count = 0;
  TL_TRY(tl_need(&world->where, TL_THE_CONTACTS | TL_THE(uid), TL_READ));
  *count = world->contacts.count;
  if (!contacts)
    return TALUS_OK;
  for (size_t i = 0; i < world->contacts.count && i < capacity; ++i) {
    const tl_contact *c = &world->contacts.data[i];
    contacts[i] = (talus_contact){.body_a = world->model.property.uid[c->a],
                                  .body_b = world->model.property.uid[c->b],
                                  .feature_a = c->feature_a,
                                  .feature_b = c->feature_b,
                                  .point = c->point,
                                  .normal = c->normal,
                                  .gap = c->gap,
                                  .impulse = tl_contacts_impulse(&world->contacts, i)};
  }
  return TALUS_OK;
}
