/* Forces and reflections of zones.
 *
 * A force is F(r) = S (1 - r/R)^p along the line from the centre, 0 from R on, with the potential
 * U(r) = S R/(p + 1) (1 - r/R)^(p + 1). It acts as a kick at the end of the step, v += dt F/m;
 * together with the motion in between this is the symplectic Euler method. The impulses on two
 * bodies are opposite to the bit before division by their masses. */
#include "base/power.h"
#include "flow/zone.h"

#include <math.h>

/* ---- forces ---------------------------------------------------------------------------------- */

static double power_of(double x, double p) {
  double y = 1;
  if (p == floor(p) && p <= 8) {
    for (int i = 0; i < (int)p; ++i)
      y *= x;
    return y;
  }
  return x > 0 ? tl_exp_d(p * tl_log_d(x)) : 0;
}

/* Force on a body at d from the centre. */
static talus_dvec3 force_at(const tl_zone *zone, talus_dvec3 d, double *potential) {
  const double r = tl_dlength(d), near = 1 - r / zone->radius;
  *potential = 0;
  if (!(near > 0))
    return tl_dvec3(0, 0, 0);
  const double force = zone->strength * power_of(near, zone->power);
  *potential = force * near * zone->radius / (zone->power + 1);
  return r > 0 ? tl_dscale(d, force / r) : tl_dvec3(0, 0, 0);
}

static void add_to(talus_dvec3 *sum, talus_dvec3 force) { *sum = tl_dadd(*sum, force); }

/* If centres and bodies are the same group, the opposite force belongs to another pair of the
 * list. */
static double sum_forces(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs,
                         talus_dvec3 *forces) {
  tl_tally energy;
  tl_tally_clear(&energy);
  for (size_t i = 0; i < crowd->count; ++i)
    forces[i] = tl_dvec3(0, 0, 0);
  for (size_t i = 0; i < pairs->count; ++i) {
    const tl_zone_pair pair = pairs->data[i];
    double potential;
    const talus_dvec3 force = force_at(zone, tl_zone_offset(zone, crowd, pair), &potential);
    tl_tally_add(&energy, pairs->is_same ? 0.5 * potential : potential);
    if (!pairs->is_same)
      add_to(&forces[pair.body], force);
    if (pair.centre != TL_NONE)
      add_to(&forces[pair.centre], tl_dscale(force, -1));
  }
  return tl_tally_value(&energy);
}

/* Kinetic energy minus that with the velocity before, J. */
static double gain(const tl_crowd *crowd, uint32_t slot, talus_dvec3 before) {
  const talus_dvec3 after = tl_widen(crowd->out->velocity[slot]);
  const double mass = (double)crowd->model->property.mass[slot];
  return 0.5 * mass * tl_ddot(tl_dsub(after, before), tl_dadd(after, before));
}

static void kick(const tl_crowd *crowd, uint32_t slot, talus_dvec3 force, tl_tally *work) {
  const uint32_t lock = crowd->model->property.flags[slot] & TL_FLAG_LOCKS;
  const double mass = (double)crowd->model->property.mass[slot];
  talus_vec3 *v = &crowd->out->velocity[slot];
  const talus_dvec3 before = tl_widen(*v);
  tl_zone_end_flight(crowd, slot, 0);
  const talus_dvec3 more = tl_dscale(force, crowd->dt / mass);
  if (!(lock & TALUS_LOCK_X))
    v->x = TL_R(before.x + more.x);
  if (!(lock & TALUS_LOCK_Y))
    v->y = TL_R(before.y + more.y);
  if (!(lock & TALUS_LOCK_Z))
    v->z = TL_R(before.z + more.z);
  tl_tally_add(work, gain(crowd, slot, before));
}

void tl_zone_push(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs,
                  talus_dvec3 *forces, tl_zone_report *report) {
  tl_tally work;
  tl_tally_clear(&work);
  report->energy += sum_forces(zone, crowd, pairs, forces);
  for (uint32_t i = 0; i < crowd->count; ++i)
    if (!tl_body_is_static(crowd->model, i) && !tl_is_asleep(crowd->out, i) &&
        tl_ddot(forces[i], forces[i]) > 0)
      kick(crowd, i, forces[i], &work);
  report->work += tl_tally_value(&work);
}

/* ---- reflections ----------------------------------------------------------------------------- */

/* How long ago (s) the body crossed the border, assuming a straight path: the last root of |d - u
 * s| = R within the step; negative: it did not. `inwards`: it came in. */
static double crossed_since(talus_dvec3 d, talus_dvec3 u, double radius, double dt, bool inwards) {
  const double a = tl_ddot(u, u), b = tl_ddot(d, u), c = tl_ddot(d, d) - radius * radius;
  const double root = b * b - a * c;
  if (!(a > 0) || root < 0)
    return -1;
  /* Going back in time, a body that came in meets the border at the larger root, with c <= 0; one
   * that went out at the smaller one, with c > 0 and b > 0. */
  const double s = inwards ? (b + sqrt(root)) / a : c / (b + sqrt(root));
  return s >= 0 && s <= dt ? s : -1;
}

static talus_dvec3 times(talus_dvec3 a, talus_dvec3 b) {
  return tl_dvec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

/* Shifts the body; returns its gain of energy, J. */
static double shift(const tl_crowd *crowd, uint32_t slot, talus_dvec3 change, double s) {
  if (change.x == 0 && change.y == 0 && change.z == 0)
    return 0;
  talus_vec3 *v = &crowd->out->velocity[slot];
  const talus_dvec3 before = tl_widen(*v);
  tl_zone_end_flight(crowd, slot, s);
  *v = tl_narrow(tl_dadd(before, change));
  if (s > 0) {
    talus_dvec3 *x = &crowd->out->position[slot];
    *x = tl_place_wrap(crowd->model, tl_dadd(*x, tl_dscale(change, s)));
  }
  return gain(crowd, slot, before);
}

/* Reflects the relative velocity about n, as if masses had touched there s ago. An impulse has no
 * effect along locked axes; with the effective masses along n, energy is conserved then, too. */
static void bounce(const tl_crowd *crowd, tl_zone_pair pair, talus_dvec3 n, double along, double s,
                   tl_zone_report *report) {
  const talus_dvec3 ia = tl_zone_inverse_mass(crowd, pair.centre);
  const talus_dvec3 ib = tl_zone_inverse_mass(crowd, pair.body);
  const double seen = tl_ddot(n, times(tl_dadd(ia, ib), n));
  if (!(seen > 0))
    return; /* neither body can move along n */
  tl_zone_wake(crowd, pair.centre);
  tl_zone_wake(crowd, pair.body);
  const talus_dvec3 impulse = tl_dscale(n, -2 * along / seen);
  if (pair.centre != TL_NONE)
    (void)shift(crowd, pair.centre, times(tl_dscale(impulse, -1), ia), s);
  const double gained = shift(crowd, pair.body, times(impulse, ib), s);
  if (pair.centre != TL_NONE && tl_body_is_static(crowd->model, pair.centre))
    report->work += gained; /* energy comes from moving the centre; two free bodies conserve it */
}

static void reflect(const tl_zone *zone, const tl_crowd *crowd, tl_zone_pair pair,
                    tl_zone_report *report) {
  const talus_dvec3 d = tl_zone_offset(zone, crowd, pair);
  const talus_dvec3 u =
      tl_dsub(tl_zone_velocity(crowd, pair.body), tl_zone_velocity(crowd, pair.centre));
  const double r = tl_dlength(d), way = zone->boundary ? -1 : 1;
  double s = 0;
  if (way * (zone->radius - r) < 0 || !(way * tl_ddot(d, u) < 0) || !(r > 0))
    return;
  if (zone->boundary || zone->shell == TALUS_ZONE_SOFT) {
    s = crossed_since(d, u, zone->radius, crowd->dt, !zone->boundary);
    if (s < 0 && zone->boundary)
      return; /* it was outside all the time */
    s = fmax(s, 0);
  }
  const talus_dvec3 then = tl_dsub(d, tl_dscale(u, s));
  const talus_dvec3 n = tl_dscale(then, 1 / tl_dlength(then));
  report->has_moved = report->has_moved || s > 0;
  bounce(crowd, pair, n, tl_ddot(u, n), s, report);
}

void tl_zone_reflect(const tl_zone *zone, const tl_crowd *crowd, const tl_zone_pairs *pairs,
                     tl_zone_report *report) {
  for (size_t i = 0; i < pairs->count; ++i)
    if (!pairs->is_same || pairs->data[i].centre < pairs->data[i].body)
      reflect(zone, crowd, pairs->data[i], report);
}
