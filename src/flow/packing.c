/* Probes of the bodies in a region: stress, solid fraction, coordination, counts by size.
 *
 * The stress of contacts is the mean of f l over the region (Love 1927; Weber 1966; Christoffersen,
 * Mehrabadi and Nemat-Nasser 1981): each contact gives -(arm)(force) of the bodies whose centre is
 * inside, arms from the centre of mass. The stress of motion is that of a gas: m c c, with c the
 * velocity less the mean one of the mass in the region (Goldhirsch 2010). Pressure is positive. */
#include "base/power.h"
#include "flow/place.h"
#include "flow/probe.h"
#include "flow/share.h"

static bool is_inside(const tl_probe *probe, const tl_crowd *crowd, uint32_t slot) {
  return !tl_body_is_static(crowd->model, slot) &&
         tl_region_holds(crowd->model, &probe->region, crowd->out->position[slot]);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

double tl_flow_ball_radius(const tl_model *model, uint32_t slot) {
  return tl_cbrt_d(tl_body_shape(model, slot)->volume * 3 / (4 * TL_PI)) *
         (double)model->property.scale[slot];
}

typedef struct body_sums {
  tl_tally mass, momentum[3], flow[6], solid;
  uint64_t heads, counts[TALUS_PROBE_SIZES + 1];
} body_sums;

static void add_motion(body_sums *sums, double mass, talus_dvec3 v) {
  const double momentum[3] = {mass * v.x, mass * v.y, mass * v.z};
  const double flow[6] = {momentum[0] * v.x, momentum[1] * v.y, momentum[2] * v.z,
                          momentum[0] * v.y, momentum[0] * v.z, momentum[1] * v.z};
  tl_tally_add(&sums->mass, mass);
  for (int k = 0; k < 3; ++k)
    tl_tally_add(&sums->momentum[k], momentum[k]);
  for (int k = 0; k < 6; ++k)
    tl_tally_add(&sums->flow[k], flow[k]);
}

static void add_body(const tl_probe *probe, const tl_crowd *crowd, tl_samples *samples,
                     uint32_t slot, body_sums *sums) {
  const tl_model *model = crowd->model;
  const talus_dvec3 x = crowd->out->position[slot];
  const double radius = tl_flow_ball_radius(model, slot);
  if (probe->record & TALUS_RECORD_SOLID_FRACTION)
    tl_tally_add(&sums->solid, 4 * TL_PI / 3 * radius * radius * radius *
                                   tl_share_body(samples, model, &probe->region, slot, x,
                                                 crowd->out->rotation[slot]));
  if (!tl_region_holds(model, &probe->region, x))
    return;
  uint32_t class = 0;
  while (class < probe->size_count && radius >= probe->sizes[class])
    class ++;
  sums->heads++;
  sums->counts[class]++;
  if (probe->record & TALUS_RECORD_STRESS)
    add_motion(sums, (double)model->property.mass[slot], tl_widen(crowd->out->velocity[slot]));
}

static void measure_bodies(tl_probe *probe, const tl_crowd *crowd, tl_samples *samples) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  const double dt = crowd->dt;
  body_sums sums = {.heads = 0};
  tl_tally_clear(&sums.mass);
  tl_tally_clear(&sums.solid);
  for (int k = 0; k < 3; ++k)
    tl_tally_clear(&sums.momentum[k]);
  for (int k = 0; k < 6; ++k)
    tl_tally_clear(&sums.flow[k]);
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    if (!tl_body_is_static(crowd->model, slot))
      add_body(probe, crowd, samples, slot, &sums);
  }
  const double mass = tl_tally_value(&sums.mass);
  double momentum[3];
  for (int k = 0; k < 3; ++k)
    momentum[k] = tl_tally_value(&sums.momentum[k]);
  for (int k = 0; k < 6 && mass > 0; ++k)
    probe->kinetic_stress[k] +=
        dt * (tl_tally_value(&sums.flow[k]) - momentum[row[k]] * momentum[column[k]] / mass);
  probe->solid += dt * tl_tally_value(&sums.solid);
  probe->heads += dt * (double)sums.heads;
  for (size_t k = 0; k <= probe->size_count; ++k)
    probe->counts[k] += dt * (double)sums.counts[k];
}

/* ---- contacts -------------------------------------------------------------------------------- */

talus_vec3 tl_flow_hard_arm(const tl_model *model, const tl_contact *contact, uint32_t slot) {
  const talus_real radius = tl_body_shape(model, slot)->radius * model->property.scale[slot];
  return tl_scale(contact->normal, contact->a == slot ? radius : -radius);
}

/* Uses the place of the body when contacts were found: at the end of a step of springs, at the
 * begin of other steps; with local time, of the body's own step. */
talus_vec3 tl_flow_arm(const tl_crowd *crowd, const tl_contacts *contacts, size_t i,
                       uint32_t slot) {
  const tl_model *model = crowd->model;
  const tl_contact *contact = &contacts->data[i];
  if (model->solve.kind == TALUS_SOLVE_ELASTIC && !tl_body_is_static(model, slot))
    return tl_flow_hard_arm(model, contact, slot);
  talus_dvec3 x = crowd->out->position[slot];
  if (crowd->centres)
    x = contact->a == slot ? crowd->centres[i].a : crowd->centres[i].b;
  else if (model->solve.kind != TALUS_SOLVE_PENALTY)
    x = tl_dsub(x, tl_dscale(tl_widen(crowd->out->velocity[slot]), crowd->dt));
  return tl_narrow(tl_model_offset(model, x, contact->point));
}

/* impulse: on the body. */
static void add_stress(tl_tally sum[6], talus_vec3 arm, talus_vec3 impulse) {
  const talus_dvec3 l = tl_widen(arm), j = tl_widen(impulse);
  tl_tally_add(&sum[0], -l.x * j.x);
  tl_tally_add(&sum[1], -l.y * j.y);
  tl_tally_add(&sum[2], -l.z * j.z);
  tl_tally_add(&sum[3], -0.5 * (l.x * j.y + l.y * j.x));
  tl_tally_add(&sum[4], -0.5 * (l.x * j.z + l.z * j.x));
  tl_tally_add(&sum[5], -0.5 * (l.y * j.z + l.z * j.y));
}

static void measure_contacts(tl_probe *probe, const tl_crowd *crowd, const tl_contacts *contacts) {
  tl_tally sum[6];
  uint64_t bonds = 0;
  uint32_t last[2] = {TL_NONE, TL_NONE}; /* a pair counts once, however many points it has */
  for (int k = 0; k < 6; ++k)
    tl_tally_clear(&sum[k]);
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *contact = &contacts->data[i];
    const talus_vec3 impulse = tl_contacts_impulse(contacts, i);
    if (!(tl_length2(impulse) > 0))
      continue;
    const bool a = is_inside(probe, crowd, contact->a), b = is_inside(probe, crowd, contact->b);
    if (contact->a != last[0] || contact->b != last[1])
      bonds += (uint64_t)a + (uint64_t)b;
    last[0] = contact->a, last[1] = contact->b;
    if (a)
      add_stress(sum, tl_flow_arm(crowd, contacts, i, contact->a), tl_neg(impulse));
    if (b)
      add_stress(sum, tl_flow_arm(crowd, contacts, i, contact->b), impulse);
  }
  for (int k = 0; k < 6; ++k)
    probe->stress[k] += tl_tally_value(&sum[k]);
  probe->bonds += crowd->dt * (double)bonds;
}

void tl_probe_measure_packing(tl_probe *probe, const tl_crowd *crowd, const tl_contacts *contacts,
                              struct tl_samples *samples) {
  measure_bodies(probe, crowd, samples);
  if (probe->record & (TALUS_RECORD_STRESS | TALUS_RECORD_COORDINATION))
    measure_contacts(probe, crowd, contacts);
}
