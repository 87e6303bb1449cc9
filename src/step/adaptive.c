/* The adaptive step: as long as no bodies meet (docs/theory/time.md).
 *
 * It tries a fixed step and follows all bodies along their paths. If two bodies would meet or
 * overlap on the way, it discards the result and tries again with a shorter length. Contacts that
 * exist at the begin are solved; a pair without contact ends the step when it comes to touch. */
#include "joint/joint.h"
#include "step/paths.h"
#include "step/step.h"

#include "crowd/free.h"

#include <float.h>
#include <math.h>

/* Shares of the halo of a pair. Contacts are solved half a halo apart (fixed.c). */
#define STOP_AT                                                                                    \
  0.75                /* where a pair that did not touch ends the step: it touches in the next one \
                       */
#define KEEP     0.05 /* of a pair that touches, at least */
#define RESOLVED (TALUS_SINGLE ? 0.05 : 1e-3)
#define SHIFTED  0.01 /* of the halo of a pair */
/* tries, each half as long, until correction is left out that pushes bodies too far */
#define PUSHES 6
#define TRIES  200

static bool presses(const tl_contact *c) { return tl_length2(c->impulse) > 0; }

void tl_step_find_flying(const tl_crowd *crowd, uint8_t *flies) {
  const tl_contacts *contacts = crowd->contacts_after;
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    flies[slot] = !tl_body_is_static(crowd->model, slot) && !tl_is_asleep(crowd->out, slot);
  }
  for (size_t i = 0; i < contacts->count; ++i)
    if (presses(&contacts->data[i]))
      flies[contacts->data[i].a] = flies[contacts->data[i].b] = 0;
  for (size_t i = 0; crowd->joints && i < crowd->joints->all.count; ++i) {
    const tl_joint *joint = &crowd->joints->all.data[i];
    if (!tl_joint_acts(joint))
      continue;
    if (joint->a != TL_NONE)
      flies[joint->a] = 0;
    if (joint->b != TL_NONE)
      flies[joint->b] = 0;
  }
}

/* Vector from the end of the straight path at the final velocity to the end of the parabola. */
static void fly(const tl_crowd *crowd, const uint8_t *flies) {
  const tl_model *model = crowd->model;
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    if (!flies[slot])
      continue;
    const talus_dvec3 back = tl_dscale(tl_step_gain(crowd, slot), 0.5 * crowd->dt);
    const talus_dvec3 x = tl_dsub(crowd->out->position[slot], back);
    crowd->out->position[slot] = model->domain.enabled ? tl_step_wrap(&model->domain, x) : x;
  }
}

static tl_paths_rule rule_of(const talus_real *halos, const uint8_t *flies, bool is_shortest) {
  return (tl_paths_rule){.floor = {.halos = is_shortest ? KEEP : STOP_AT},
                         .near = {.halos = is_shortest ? STOP_AT : 1},
                         .near_floor = {.halos = KEEP},
                         .fine = {.halos = RESOLVED},
                         .halos = halos,
                         .flies = flies};
}

/* One try, from crowd->in to crowd->out; *found: whether any pair meets. */
static talus_status attempt(const tl_backend *backend, const tl_crowd *crowd,
                            tl_step_report *report, tl_paths_report *found) {
  const tl_model *model = crowd->model;
  uint8_t *flies;
  talus_real *halos;
  TL_TRY(tl_step_fixed(backend, crowd, report));
  TL_TAKE(crowd->arena, model->bodies, &flies);
  TL_TAKE(crowd->arena, model->bodies, &halos);
  for (size_t i = 0; i < model->bodies; ++i)
    halos[i] = tl_halo_of(model, i);
  tl_step_find_flying(crowd, flies);
  fly(crowd, flies);
  const tl_paths_rule rule = rule_of(halos, flies, crowd->is_shortest);
  return tl_step_check_paths(backend, crowd, &rule, found);
}

talus_status tl_step_alone(const tl_backend *backend, const tl_crowd *crowd,
                           tl_step_report *report) {
  uint8_t *flies;
  *report = (tl_step_report){.culprit = TL_NONE, .partner = TL_NONE};
  tl_contacts_clear(crowd->contacts_after);
  TL_TRY(tl_step_advance(backend, crowd, report));
  TL_TAKE(crowd->arena, crowd->model->bodies, &flies);
  tl_step_find_flying(crowd, flies);
  fly(crowd, flies);
  return TALUS_OK;
}

/* Length of the next try. A pair that did not touch meets at the time that was found, whatever the
 * length of the step. The motion of a pair that touches depends on the length. */
static double shorter(const tl_paths_report *found, double h) {
  return found->first_is_near ? fmax(found->time, 0.5 * h) : fmin(found->time, 0.999999 * h);
}

/* Whether position correction moved one of the two by a distance that counts. It does not get less
 * in a shorter step: bodies that are packed closer than halos push each other into walls. */
static bool is_shifted(const tl_crowd *crowd, tl_pair pair) {
  const tl_model *model = crowd->model;
  const uint32_t slots[] = {pair.a, pair.b};
  const double halo = (double)tl_halo_of(model, pair.a) + (double)tl_halo_of(model, pair.b);
  for (int k = 0; k < 2; ++k) {
    const uint32_t slot = slots[k];
    if (tl_body_is_static(model, slot))
      continue;
    const talus_dvec3 way =
        tl_model_offset(model, crowd->in->position[slot], crowd->out->position[slot]);
    const talus_dvec3 straight = tl_dscale(tl_widen(crowd->out->velocity[slot]), crowd->dt);
    const talus_dvec3 flight =
        tl_dsub(straight, tl_dscale(tl_step_gain(crowd, slot), 0.5 * crowd->dt));
    const talus_dvec3 x = tl_dsub(way, straight), y = tl_dsub(way, flight);
    if (sqrt(fmin(tl_ddot(x, x), tl_ddot(y, y))) > SHIFTED * halo)
      return true;
  }
  return false;
}

static void set_length(tl_crowd *crowd, double h) {
  crowd->t1 = crowd->t0 + h;
  crowd->dt = h;
}

static talus_status give_up(const tl_crowd *crowd, const tl_paths_report *found,
                            tl_step_report *report) {
  report->culprit = found->first.a;
  report->partner = found->first.b;
  return tl_fail(
      TALUS_ERROR_DIVERGED,
      "the two overlap by %.3g m within a step of %.3g s, and step.min forbids a shorter "
      "one",
      fmax(-found->first_gap, 0), crowd->dt);
}

talus_status tl_step_adaptive(const tl_backend *backend, tl_crowd *crowd, tl_step_report *report) {
  const double least = fmin(crowd->model->dt_min, crowd->dt);
  size_t swept = 0;
  bool is_cut = false, was_cut = false;
  double whole = crowd->dt; /* where correction began to push bodies too far; */
  int pushes = 0;           /* tries since then, in which it did */
  tl_pair cut_by = {TL_NONE, TL_NONE};
  crowd->is_shortest = !(crowd->dt > least);
  crowd->stays_deep = false;
  for (int i = 0; i < TRIES; ++i) {
    const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
    tl_paths_report found = {0};
    const talus_status status = attempt(backend, crowd, report, &found);
    swept += found.swept;
    report->swept = swept, report->is_cut = is_cut, report->cut_by = cut_by;
    const bool has_failed = status == TALUS_ERROR_DIVERGED;
    if (status != TALUS_OK && (!has_failed || crowd->is_shortest))
      return status;
    if (!has_failed && found.short_count == 0)
      return TALUS_OK;
    const bool is_pushed =
        !has_failed && !crowd->stays_deep && found.first_is_near && is_shifted(crowd, found.first);
    if (is_pushed && pushes++ == 0)
      whole = crowd->dt, was_cut = is_cut;
    if (is_pushed && (pushes == PUSHES || crowd->is_shortest)) {
      crowd->stays_deep = true;
      crowd->is_shortest = !(whole > least);
      set_length(crowd, whole);
      is_cut = was_cut;
      tl_arena_release(crowd->arena, mark);
      continue;
    }
    if (!is_pushed)
      pushes = 0;
    if (crowd->is_shortest)
      return give_up(crowd, &found, report);
    is_cut = true;
    cut_by = has_failed ? (tl_pair){report->culprit, report->culprit} : found.first;
    const double h = has_failed ? 0.5 * crowd->dt : shorter(&found, crowd->dt);
    crowd->is_shortest = !(h > least);
    set_length(crowd, crowd->is_shortest ? least : h);
    tl_arena_release(crowd->arena, mark);
  }
  report->culprit = cut_by.a, report->partner = cut_by.b;
  return tl_fail(TALUS_ERROR_DIVERGED, "no length of the step was found that keeps bodies apart");
}
