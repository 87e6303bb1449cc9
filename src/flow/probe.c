/* Probes: means over time of quantities of a body or in a region.
 *
 * Sums are weighted with the length of the step. For a force that weight makes the impulse of the
 * step itself, so that a mean force is momentum over time, exactly. */
#include "flow/probe.h"
#include "flow/share.h"
#include "joint/joint.h"

/* ---- definitions ----------------------------------------------------------------------------- */

static talus_status check_sizes(const talus_probe_def *def, const char *what) {
  const bool wanted = (def->record & TALUS_RECORD_SIZES) != 0;
  if (wanted != (def->size_count > 0) || def->size_count > TALUS_PROBE_SIZES)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: has %zu sizes; to record sizes it takes 1 to %d radii, otherwise none",
                   what, def->size_count, TALUS_PROBE_SIZES);
  for (size_t i = 0; i < def->size_count; ++i)
    if (!(def->sizes[i] > (i > 0 ? def->sizes[i - 1] : 0)) || !tl_is_finite_d(def->sizes[i]))
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: size %zu is %g m; radii must be positive, finite and rise", what, i,
                     def->sizes[i]);
  return TALUS_OK;
}

talus_status tl_probe_check(const talus_probe_def *def, const char *what) {
  const uint32_t all = TL_RECORD_ON_BODY | TL_RECORD_IN_REGION;
  if (def->record == 0 || (def->record & ~all) != 0)
    return tl_fail(
        TALUS_ERROR_INVALID,
        "%s: say what to record: force, torque, position, ... of a body, mass-flow, count, "
        "stress, ... in a region",
        what);
  TL_TRY(check_sizes(def, what));
  if (!(def->every >= 0) || !tl_is_finite_d(def->every))
    return tl_fail(TALUS_ERROR_INVALID, "%s: its interval is %g s; it must be 0 or more", what,
                   def->every);
  if (def->on_joint) {
    if (def->on_body || (def->record & ~(uint32_t)TL_RECORD_ON_JOINT) != 0)
      return tl_fail(TALUS_ERROR_INVALID, "%s: of a joint force and torque can be recorded", what);
    return TALUS_OK;
  }
  if (def->on_body) {
    if ((def->record & ~(uint32_t)TL_RECORD_ON_BODY) != 0)
      return tl_fail(
          TALUS_ERROR_INVALID,
          "%s: on a body force, torque, energy, position, rotation, velocity and spin can "
          "be recorded; the rest needs a region",
          what);
    return TALUS_OK;
  }
  if ((def->record & ~(uint32_t)TL_RECORD_IN_REGION) != 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: in a region mass-flow, count, energy, stress, solid-fraction, coordination "
                   "and sizes can be recorded; the rest needs a body",
                   what);
  TL_TRY(tl_region_check(&def->region, what));
  if (!(tl_region_volume(&def->region) > 0))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the region is flat, so no centre is ever found in it; give it a thickness",
                   what);
  if ((def->record & TALUS_RECORD_MASS_FLOW) && def->region.kind != TALUS_REGION_BOX)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: mass-flow is per axis of a box; use a box as the region", what);
  return TALUS_OK;
}

talus_status tl_flow_add_probe(tl_flow *flow, const talus_probe_def *def, uint64_t uid, double now,
                               uint32_t *probe) {
  const tl_flow_label what = tl_flow_describe("probe", def->name, flow->probes.count);
  TL_TRY(tl_probe_check(def, what.text));
  for (size_t i = 0; i < flow->probes.count && def->name; ++i)
    if (flow->probes.data[i].name && strcmp(flow->probes.data[i].name, def->name) == 0)
      return tl_fail(TALUS_ERROR_INVALID, "%s: there is a probe of that name already", what.text);
  TL_TRY(tl_array_reserve(&flow->probes, flow->probes.count + 1));
  tl_probe fresh = {.on_body = def->on_body,
                    .on_joint = def->on_joint,
                    .uid = def->on_body || def->on_joint ? uid : 0,
                    .region = def->region,
                    .record = def->record,
                    .every = def->every,
                    .from = now};
  for (size_t i = 0; i < def->size_count; ++i)
    fresh.sizes[i] = def->sizes[i];
  fresh.size_count = (uint32_t)def->size_count;
  TL_TRY(tl_flow_copy_name(&fresh.name, def->name));
  if (probe)
    *probe = (uint32_t)flow->probes.count;
  flow->probes.data[flow->probes.count++] = fresh;
  return TALUS_OK;
}

/* ---- one step -------------------------------------------------------------------------------- */

static void add_scaled(double sum[3], double weight, talus_vec3 v) {
  sum[0] += weight * (double)v.x;
  sum[1] += weight * (double)v.y;
  sum[2] += weight * (double)v.z;
}

/* Tallies of one step: contacts and bodies have no order of their own. */
static void clear_three(tl_tally sum[3]) {
  for (int k = 0; k < 3; ++k)
    tl_tally_clear(&sum[k]);
}

static void tally_scaled(tl_tally sum[3], double weight, talus_vec3 v) {
  tl_tally_add(&sum[0], weight * (double)v.x);
  tl_tally_add(&sum[1], weight * (double)v.y);
  tl_tally_add(&sum[2], weight * (double)v.z);
}

static void add_tallied(double to[3], const tl_tally sum[3]) {
  for (int k = 0; k < 3; ++k)
    to[k] += tl_tally_value(&sum[k]);
}

uint32_t tl_flow_find_slot(const tl_model *model, uint64_t uid) {
  size_t lo = 0, hi = model->bodies;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (model->property.uid[middle] < uid)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < model->bodies && model->property.uid[lo] == uid ? (uint32_t)lo : TL_NONE;
}

/* m v^2/2 + w.I w/2 in J, the spin turned into the principal frame. */
static double kinetic_energy(const tl_model *model, const tl_state *state, uint32_t slot) {
  const talus_dvec3 v = tl_widen(state->velocity[slot]);
  const talus_dvec3 w = tl_widen(tl_quat_unrotate(state->rotation[slot], state->spin[slot]));
  const talus_dvec3 inertia = tl_widen(tl_body_inertia(model, slot));
  return 0.5 * (double)model->property.mass[slot] * tl_ddot(v, v) +
         0.5 * (inertia.x * w.x * w.x + inertia.y * w.y * w.y + inertia.z * w.z * w.z);
}

static talus_status reserve_samples(tl_flow *flow, const tl_model *model) {
  if (!flow->samples) {
    void *block = NULL;
    TL_TRY(tl_resize(&block, 0, sizeof *flow->samples));
    flow->samples = memset(block, 0, sizeof *flow->samples);
  }
  return tl_samples_reserve(flow->samples, model);
}

talus_status tl_flow_begin_step(tl_flow *flow, const tl_model *model, const tl_state *state) {
  for (size_t i = 0; i < flow->probes.count; ++i) {
    tl_probe *probe = &flow->probes.data[i];
    if (probe->record & TALUS_RECORD_SOLID_FRACTION)
      TL_TRY(reserve_samples(flow, model));
    if (!probe->on_body || !(probe->record & TALUS_RECORD_TORQUE))
      continue;
    const uint32_t slot = tl_flow_find_slot(model, probe->uid);
    if (slot != TL_NONE)
      probe->centre = state->position[slot];
  }
  return TALUS_OK;
}

/* Centre of mass at the time when contacts were found: t1 with springs (velocity Verlet), otherwise
 * t0. The displacement since then does not follow from the velocity, because position correction
 * also shifts the body. */
static talus_dvec3 centre_at(const tl_probe *probe, const tl_crowd *crowd,
                             const tl_contacts *contacts, size_t i, uint32_t slot) {
  const tl_model *model = crowd->model;
  if (crowd->centres)
    return contacts->data[i].a == slot ? crowd->centres[i].a : crowd->centres[i].b;
  if (model->solve.kind == TALUS_SOLVE_PENALTY)
    return crowd->out->position[slot];
  return crowd->in->position == crowd->out->position ? probe->centre : crowd->in->position[slot];
}

/* Vector from the centre of mass to the contact, in the image in which the two bodies met. The
 * point is in the image of body a. A moving body is smaller than half a period; a static one may be
 * larger than the period, and then its nearest image means nothing. */
static talus_vec3 arm_of(const tl_crowd *crowd, const tl_contact *contact, uint32_t slot,
                         talus_dvec3 centre) {
  const tl_model *model = crowd->model;
  if (model->solve.kind == TALUS_SOLVE_ELASTIC && !tl_body_is_static(model, slot))
    return tl_flow_hard_arm(model, contact, slot);
  if (!tl_body_is_static(model, slot))
    return tl_narrow(tl_model_offset(model, centre, contact->point));
  if (slot == contact->a || !tl_body_shape(model, slot)->bounded)
    return tl_between(centre, contact->point);
  /* determines the image; the time does not matter */
  const talus_dvec3 other = crowd->in->position[contact->a];
  return tl_narrow(tl_dsub(tl_model_offset(model, other, contact->point),
                           tl_model_offset(model, other, centre)));
}

static void measure_contacts(tl_probe *probe, const tl_crowd *crowd, const tl_contacts *contacts,
                             uint32_t slot) {
  /* Contacts behind those with the body as a do not have it as b. */
  const size_t first = tl_contacts_first_of(contacts, slot),
               end = tl_contacts_first_of(contacts, slot + 1);
  tl_tally force[3], torque[3];
  clear_three(force);
  clear_three(torque);
  for (size_t i = 0; i < end; ++i) {
    const tl_contact *contact = &contacts->data[i];
    if (i < first && contact->b != slot)
      continue;
    const talus_dvec3 centre = centre_at(probe, crowd, contacts, i, slot);
    const talus_vec3 arm = arm_of(crowd, contact, slot, centre);
    const double sign = contact->a == slot ? -1 : 1;
    const talus_vec3 impulse = tl_contacts_impulse(contacts, i);
    tally_scaled(force, sign, impulse);
    tally_scaled(torque, sign, tl_cross(arm, impulse));
    if (tl_contacts_have_law_states(contacts))
      tally_scaled(torque, sign, contacts->law_states.data[i].torque);
  }
  add_tallied(probe->force, force);
  add_tallied(probe->torque, torque);
}

static void measure_body(tl_probe *probe, const tl_crowd *crowd, const tl_contacts *contacts) {
  const tl_model *model = crowd->model;
  const uint32_t slot = tl_flow_find_slot(model, probe->uid);
  if (slot == TL_NONE)
    return;
  if (probe->record & (TALUS_RECORD_FORCE | TALUS_RECORD_TORQUE))
    measure_contacts(probe, crowd, contacts, slot);
  if (probe->record & TALUS_RECORD_ENERGY)
    probe->energy += crowd->dt * kinetic_energy(model, crowd->out, slot);
  add_scaled(probe->velocity, crowd->dt, crowd->out->velocity[slot]);
  add_scaled(probe->spin, crowd->dt, crowd->out->spin[slot]);
  const talus_dvec3 x = crowd->out->position[slot];
  const talus_quat q = crowd->out->rotation[slot];
  probe->position[0] = x.x, probe->position[1] = x.y, probe->position[2] = x.z;
  probe->rotation[0] = (double)q.w, probe->rotation[1] = (double)q.x;
  probe->rotation[2] = (double)q.y, probe->rotation[3] = (double)q.z;
}

/* Measures the load of the joint in this step, including the step in which it breaks; 0
 * afterwards. */
static void measure_joint(tl_probe *probe, const tl_crowd *crowd) {
  const size_t row = crowd->joints ? tl_joints_row(crowd->joints, probe->uid) : SIZE_MAX;
  if (row == SIZE_MAX)
    return;
  if (crowd->pulls) {
    const tl_pull *pull = &crowd->pulls[row];
    const double sums[6] = {pull->force.x,  pull->force.y,  pull->force.z,
                            pull->torque.x, pull->torque.y, pull->torque.z};
    for (int k = 0; k < 3; ++k)
      probe->force[k] += sums[k], probe->torque[k] += sums[3 + k];
    return;
  }
  add_scaled(probe->force, crowd->dt, crowd->joints->all.data[row].force);
  add_scaled(probe->torque, crowd->dt, crowd->joints->all.data[row].torque);
}

static void measure_region(tl_probe *probe, const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  const talus_region *region = &probe->region;
  const double dt = crowd->dt;
  double flow[3] = {0, 0, 0};
  uint64_t count = 0;
  tl_tally carried[3], energy;
  clear_three(carried);
  tl_tally_clear(&energy);
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    if (tl_body_is_static(model, slot) ||
        !tl_region_holds(model, region, crowd->out->position[slot]))
      continue;
    count++;
    if (probe->record & TALUS_RECORD_MASS_FLOW)
      tally_scaled(carried, (double)model->property.mass[slot], crowd->out->velocity[slot]);
    if (probe->record & TALUS_RECORD_ENERGY)
      tl_tally_add(&energy, kinetic_energy(model, crowd->out, slot));
  }
  if (probe->record & TALUS_RECORD_COUNT)
    probe->count += dt * (double)count;
  probe->energy += dt * tl_tally_value(&energy);
  if (probe->record & TALUS_RECORD_MASS_FLOW) {
    const talus_dvec3 edge = tl_dsub(region->box.hi, region->box.lo);
    add_tallied(flow, carried);
    probe->mass_flow[0] += dt * flow[0] / edge.x;
    probe->mass_flow[1] += dt * flow[1] / edge.y;
    probe->mass_flow[2] += dt * flow[2] / edge.z;
  }
}

void tl_flow_probe(tl_flow *flow, const tl_crowd *crowd, const tl_contacts *contacts) {
  for (size_t i = 0; i < flow->probes.count; ++i) {
    tl_probe *probe = &flow->probes.data[i];
    probe->weight += crowd->dt;
    if (probe->on_joint)
      measure_joint(probe, crowd);
    else if (probe->on_body)
      measure_body(probe, crowd, contacts);
    else
      measure_region(probe, crowd);
    if (probe->record & TL_RECORD_PACKING)
      tl_probe_measure_packing(probe, crowd, contacts, flow->samples);
  }
}

/* ---- the end of an interval ------------------------------------------------------------------ */

/* Divides sums by the time, and restarts them. */
static void take_means(double *sums, size_t n, double scale, double *means) {
  for (size_t i = 0; i < n; ++i) {
    means[i] = sums[i] * scale;
    sums[i] = 0;
  }
}

void tl_probe_finish(tl_probe *probe, double now, talus_probe_values *values) {
  const double scale = probe->weight > 0 ? 1 / probe->weight : 0;
  const bool in_region = !probe->on_body && !probe->on_joint;
  const double volume = in_region ? tl_region_volume(&probe->region) : 1;
  const double bonds = probe->heads > 0 ? probe->bonds / probe->heads : 0;
  *values = (talus_probe_values){.from = probe->from, .to = now, .coordination = bonds};
  take_means(probe->force, 3, probe->record & TALUS_RECORD_FORCE ? scale : 0, values->force);
  take_means(probe->torque, 3, probe->record & TALUS_RECORD_TORQUE ? scale : 0, values->torque);
  take_means(probe->mass_flow, 3, scale, values->mass_flow);
  take_means(&probe->count, 1, scale, &values->count);
  take_means(&probe->energy, 1, scale, &values->energy);
  take_means(probe->velocity, 3, scale, values->velocity);
  take_means(probe->spin, 3, scale, values->spin);
  take_means(probe->stress, 6, scale / volume, values->stress);
  take_means(probe->kinetic_stress, 6, scale / volume, values->kinetic_stress);
  take_means(&probe->solid, 1, scale / volume, &values->solid_fraction);
  take_means(probe->counts, TALUS_PROBE_SIZES + 1, scale, values->counts);
  memcpy(values->position, probe->position, sizeof values->position);
  memcpy(values->rotation, probe->rotation, sizeof values->rotation);
  probe->heads = probe->bonds = 0;
  probe->weight = 0;
  probe->from = now;
}
