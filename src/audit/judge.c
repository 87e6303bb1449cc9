/* Checks one step of the repetition: finds overlaps and counts them. */
#include "audit/audit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* In single precision, rotations and gaps have about seven digits: a nut on a thread comes to 0.010
 * halos, a bullet that a sweep stops to 1.6e-6 sizes. */
/* part of the smaller radius, in addition to the slop */
#define ALLOWED_SIZES (TALUS_SINGLE ? 3e-6 : 1e-6)
#define FINE_SIZES    (TALUS_SINGLE ? 3e-6 : 1e-6) /* motion that is not resolved */
/* the same with adaptive steps, as a part of the halo */
#define FINE_HALOS (TALUS_SINGLE ? 0.02 : 0.01)

/* The smallest bounding radius of a moving body; 0: there is none. */
static double least_radius(const tl_model *model) {
  double least = DBL_MAX;
  for (size_t i = 0; i < model->bodies; ++i)
    if (!tl_body_is_static(model, i))
      least =
          fmin(least, (double)tl_body_shape(model, i)->radius * (double)model->property.scale[i]);
  return least < DBL_MAX ? least : 0;
}

/* Overlap that the solver allows for bodies at rest (solve/system/summary.c). */
static double slop_of(const tl_model *model) {
  if (model->solve.slop >= 0)
    return model->solve.slop;
  const double fall = (double)tl_length(model->gravity) * model->dt * model->dt;
  return fmin(fall, 0.01 * least_radius(model));
}

/* Adaptive steps keep gaps: overlaps can only be rounding errors of bodies that begin to touch. */
static tl_paths_rule adaptive_rule(void) {
  return (tl_paths_rule){.floor = {.halos = -FINE_HALOS},
                         .fine = {.halos = FINE_HALOS},
                         .goes_on = true,
                         .finds_depth = true};
}

static tl_paths_rule rule_of(const tl_audit *audit) {
  const tl_model *model = &audit->world->model;
  tl_paths_rule rule = {.fine = {.sizes = FINE_SIZES}, .goes_on = true, .finds_depth = true};
  if (audit->def->tolerance >= 0)
    rule.floor.metres = -audit->def->tolerance;
  else if (tl_step_is_free(model))
    rule = adaptive_rule();
  else
    rule.floor = (tl_distance){.metres = -slop_of(model), .sizes = -ALLOWED_SIZES};
  return rule;
}

/* Finds which bodies fly, and the halos of all, in the crowd's arena. */
static talus_status complete(const tl_crowd *crowd, tl_paths_rule *rule) {
  const tl_model *model = crowd->model;
  uint8_t *flies;
  talus_real *halos;
  if (!tl_step_is_free(model))
    return TALUS_OK;
  TL_TAKE(crowd->arena, model->bodies, &flies);
  TL_TAKE(crowd->arena, model->bodies, &halos);
  for (size_t i = 0; i < model->bodies; ++i)
    halos[i] = tl_halo_of(model, i);
  rule->halos = halos;
  if (!crowd->contacts_after) /* a state, not a step */
    return TALUS_OK;
  tl_step_find_flying(crowd, flies);
  rule->flies = flies;
  return TALUS_OK;
}

static void note_pair(const tl_audit *audit, const tl_model *model, tl_pair pair, double time,
                      double depth, talus_audit_pair *to) {
  *to = (talus_audit_pair){.time = time,
                           .depth = depth,
                           .uid_a = model->property.uid[pair.a],
                           .uid_b = model->property.uid[pair.b]};
  snprintf(to->a, sizeof to->a, "%s", tl_world_describe(audit->world, pair.a));
  snprintf(to->b, sizeof to->b, "%s", tl_world_describe(audit->world, pair.b));
}

void tl_audit_note_overlap(tl_audit *audit, const tl_model *model, tl_pair pair, double time,
                           double depth) {
  if (audit->result->overlaps++ == 0)
    note_pair(audit, model, pair, time, depth, &audit->result->first);
}

static void add_up(tl_audit *audit, const tl_crowd *crowd, const tl_paths_report *found) {
  talus_audit_result *result = audit->result;
  const tl_model *model = crowd->model;
  result->pairs += found->pairs;
  result->looks += found->looks;
  if (found->short_count > 0 && result->overlaps == 0)
    note_pair(audit, model, found->first, crowd->t0 + found->time, -found->first_gap,
              &result->first);
  result->overlaps += found->short_count;
  result->unproven += found->lost;
  if (found->least < DBL_MAX &&
      (result->deepest.uid_a == 0 || -found->least > result->deepest.depth))
    note_pair(audit, model, found->nearest, crowd->t0 + found->least_at, -found->least,
              &result->deepest);
}

talus_status tl_audit_judge_step(void *context, const tl_crowd *crowd) {
  tl_audit *audit = context;
  tl_paths_rule rule = rule_of(audit);
  tl_paths_report found;
  audit->result->steps++;
  if (audit->def->frames)
    return TALUS_OK;
  if (crowd->model->step == TALUS_STEP_LOCAL) {
    TL_TRY(tl_local_check_pieces(crowd->local, &rule, &found));
  } else {
    TL_TRY(complete(crowd, &rule));
    TL_TRY(tl_step_check_paths(audit->world->backend, crowd, &rule, &found));
  }
  add_up(audit, crowd, &found);
  return TALUS_OK;
}

talus_status tl_audit_judge_moment(tl_audit *audit, bool is_path) {
  talus_world *world = audit->world;
  TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE(joints), TL_READ));
  TL_TRY(tl_arena_reset(&world->arena));
  TL_TRY(tl_joints_prepare(&world->joints));
  tl_crowd now = {.model = &world->model,
                  .count = world->model.bodies,
                  .t0 = world->time,
                  .t1 = world->time,
                  .dt = world->model.dt,
                  .in = &world->state,
                  .out = &world->state,
                  .arena = &world->arena,
                  .joints = world->joints.all.count > 0 ? &world->joints : NULL};
  TL_TRY(tl_audit_decide(audit, &now));
  if (is_path)
    return TALUS_OK;
  tl_paths_rule rule = rule_of(audit);
  tl_paths_report found;
  rule.is_instant = true;
  TL_TRY(complete(&now, &rule));
  TL_TRY(tl_step_check_paths(world->backend, &now, &rule, &found));
  add_up(audit, &now, &found);
  return TALUS_OK;
}
