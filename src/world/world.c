/* The world: creation, and the tables that bodies share. */
#include "scene/start.h"
#include "shape/shape.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>

static void log_bridge(void *context, tl_log_level level, const char *line) {
  talus_world *world = context;
  if (!world->log || world->is_telling)
    return;
  world->is_telling = true;
  world->log(world->log_context, (int)level, line);
  world->is_telling = false;
}

talus_status tl_world_may_change(const talus_world *world, const char *call) {
  if (!world)
    return tl_fail_null(call, "world");
  if (world->is_telling)
    return tl_fail(TALUS_ERROR_BUSY,
                   "%s: called from the world's own log callback, in the middle of something else; "
                   "make a note of it and call when that has returned",
                   call);
  return TALUS_OK;
}

talus_status tl_copy_text(const char *text, char **copy) {
  *copy = NULL;
  if (!text)
    return TALUS_OK;
  const size_t bytes = strlen(text) + 1;
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, bytes));
  *copy = memcpy(block, text, bytes);
  return TALUS_OK;
}

static void free_text(char *text) {
  void *block = text;
  if (text)
    (void)tl_resize(&block, strlen(text) + 1, 0);
}

/* ---- creation ------------------------------------------------------------------------------- */

static talus_status check_settings(const talus_world_def *def) {
  if (!tl_is_finite3(def->gravity))
    return tl_fail(TALUS_ERROR_INVALID, "gravity is not finite");
  if (!(def->dt > 0) || !tl_is_finite_d(def->dt))
    return tl_fail(TALUS_ERROR_INVALID, "dt is %g; it must be a positive number of seconds",
                   def->dt);
  if (def->substeps < 1 || def->substeps > TL_SUBSTEPS_MOST)
    return tl_fail(TALUS_ERROR_INVALID, "substeps is %d; expected 1 to %d", def->substeps,
                   TL_SUBSTEPS_MOST);
  if (def->substeps > 1 &&
      (def->solve.kind == TALUS_SOLVE_PENALTY || def->solve.kind == TALUS_SOLVE_ELASTIC ||
       def->step != TALUS_STEP_FIXED))
    return tl_fail(TALUS_ERROR_INVALID,
                   "substeps is %d, which works only with fixed steps of solve.kind ccp and "
                   "impulse; take 1 and a smaller dt",
                   def->substeps);
  if ((unsigned)def->solve.kind > TALUS_SOLVE_ELASTIC || (unsigned)def->solve.law > TALUS_NOBLE)
    return tl_fail(
        TALUS_ERROR_INVALID,
        "solve.kind is %d and solve.law %d; expected a TALUS_SOLVE_... and a talus_spring_law",
        (int)def->solve.kind, (int)def->solve.law);
  if (def->solve.kind == TALUS_SOLVE_PENALTY &&
      (!(def->solve.reach > 0) || !tl_is_finite_d(def->solve.reach) ||
       !(def->solve.tangential > 0) || !tl_is_finite_d(def->solve.tangential)))
    return tl_fail(TALUS_ERROR_INVALID,
                   "solve.reach is %g m and solve.tangential %g; both must be > 0",
                   def->solve.reach, def->solve.tangential);
  if (def->solve.kind == TALUS_SOLVE_PENALTY && def->sleep.speed > 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "sleep does not work with penalty, whose bodies never stop moving entirely; "
                   "leave `sleep` out or use solve: {kind: ccp}");
  TL_TRY(tl_elastic_check(def));
  TL_TRY(tl_adaptive_check(def));
  TL_TRY(tl_local_check(def));
  TL_TRY(tl_implicit_check(def));
  if (def->solve.kind == TALUS_SOLVE_IMPULSE && def->solve.friction == TALUS_FRICTION_CCP)
    return tl_fail(TALUS_ERROR_INVALID,
                   "solve.friction is ccp, which sequential impulses do not have; leave it ncp or "
                   "use solve.kind ccp");
  if (isnan(def->solve.slop) || isinf(def->solve.slop) ||
      !(def->solve.correction >= 0 && def->solve.correction <= 1))
    return tl_fail(TALUS_ERROR_INVALID,
                   "solve.slop is %g m and solve.correction %g; expected a length, < 0 for "
                   "automatic, and 0 <= correction <= 1",
                   def->solve.slop, def->solve.correction);
  if (def->solve.iterations < 0)
    return tl_fail(TALUS_ERROR_INVALID, "solve.iterations is %d; it must not be negative",
                   def->solve.iterations);
  if (!tl_is_finite_d(def->solve.tolerance))
    return tl_fail(TALUS_ERROR_INVALID,
                   "solve.tolerance is %g; it must be >= 0 m/s, or < 0: automatic",
                   def->solve.tolerance);
  if (!(def->solve.recovery >= 0 && def->solve.recovery <= 1))
    return tl_fail(TALUS_ERROR_INVALID, "solve.recovery is %g; it must be between 0 and 1",
                   def->solve.recovery);
  if (isnan(def->solve.recovery_speed))
    return tl_fail(TALUS_ERROR_INVALID, "solve.recovery_speed is not a number");
  if (!(def->solve.omega > 0) || !(def->solve.lambda > 0 && def->solve.lambda <= 1))
    return tl_fail(TALUS_ERROR_INVALID,
                   "solve.omega is %g and solve.lambda %g; expected omega > 0 and 0 < lambda <= 1",
                   def->solve.omega, def->solve.lambda);
  if (isnan(def->solve.bounce_speed) || isnan(def->margin) || isinf(def->margin))
    return tl_fail(TALUS_ERROR_INVALID, "solve.bounce_speed or contact.margin is not a number");
  if (!tl_is_finite_d(def->skin))
    return tl_fail(TALUS_ERROR_INVALID, "skin is %g; it must be >= 0 m, or < 0: chosen", def->skin);
  if ((unsigned)def->broad > TALUS_BROAD_BVH ||
      (unsigned)def->solve.friction > TALUS_FRICTION_CCP ||
      (unsigned)def->solve.method > TALUS_BB ||
      (unsigned)def->solve.reduction > TALUS_REDUCTION_COLOURS ||
      (unsigned)def->solve.joints > TALUS_JOINTS_ITERATIVE)
    return tl_fail(TALUS_ERROR_INVALID, "unknown broad phase or friction model");
  if ((unsigned)def->narrow.tree > TALUS_TREE_SURROGATE)
    return tl_fail(TALUS_ERROR_INVALID, "narrow.tree is %d; expected a TALUS_TREE_...",
                   (int)def->narrow.tree);
  if ((unsigned)def->narrow.triangle > TALUS_TRIANGLE_HYBRID)
    return tl_fail(TALUS_ERROR_INVALID, "narrow.triangle is %d; expected a TALUS_TRIANGLE_...",
                   (int)def->narrow.triangle);
  if ((unsigned)def->narrow.fusion > TALUS_FUSION_THESIS)
    return tl_fail(TALUS_ERROR_INVALID, "narrow.fusion is %d; expected a TALUS_FUSION_...",
                   (int)def->narrow.fusion);
  if ((unsigned)def->narrow.ellipsoid > TALUS_ELLIPSOID_CHM_OPM)
    return tl_fail(TALUS_ERROR_INVALID, "narrow.ellipsoid is %d; expected a TALUS_ELLIPSOID_...",
                   (int)def->narrow.ellipsoid);
  TL_TRY(tl_sleep_check(&def->sleep));
  TL_TRY(tl_strict_check(def->strict));
  if (def->threads < 0 || def->threads > 4096)
    return tl_fail(TALUS_ERROR_INVALID, "threads is %d; expected 0 (all cores) to 4096",
                   def->threads);
  return TALUS_OK;
}

static talus_status check_domain(const talus_domain_def *domain) {
  if (!domain->enabled)
    return TALUS_OK;
  const talus_box *b = &domain->box;
  if (!tl_box_is_finite(*b) || !(b->lo.x < b->hi.x && b->lo.y < b->hi.y && b->lo.z < b->hi.z))
    return tl_fail(
        TALUS_ERROR_INVALID,
        "the domain's box is empty or not finite; give its low corner, then its high one");
  if ((unsigned)domain->outside > TALUS_OUTSIDE_REMOVE)
    return tl_fail(TALUS_ERROR_INVALID, "domain.outside must be stop or remove");
  return TALUS_OK;
}

talus_status tl_world_new(talus_world **world) {
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, sizeof(talus_world)));
  talus_world *made = memset(block, 0, sizeof(talus_world));
  made->next_uid = 1;
  made->is_rearranged = true;
  made->backend = &tl_backend_cpu;
  made->model.par.threads = tl_par_default_threads();
  made->has_pace = tl_pace_is_on();
  made->model.log = (tl_log){log_bridge, made, TL_LOG_INFO};
  made->last.culprit = made->last.partner = TL_NONE;
  *world = made;
  return TALUS_OK;
}

talus_status talus_world_create(const talus_world_def *def, talus_world **world) {
  TL_NEED(def);
  TL_NEED(world);
  *world = NULL;
  TL_TRY(check_settings(def));
  TL_TRY(check_domain(&def->domain));
  talus_world *made;
  TL_TRY(tl_world_new(&made));
  made->model.gravity = def->gravity;
  made->model.dt = def->dt;
  made->model.substeps = def->substeps;
  made->model.step = def->step;
  made->model.broad = def->broad;
  made->model.skin = def->skin;
  made->model.narrow = def->narrow;
  made->model.solve = def->solve;
  made->model.margin = def->margin;
  made->model.unswept = !def->sweep;
  made->model.dt_min = def->dt_min;
  made->model.growth = def->growth;
  made->model.implicit = def->implicit;
  if (def->step == TALUS_STEP_IMPLICIT && tl_model_has_surrogates(&made->model))
    made->model.narrow.tree = TALUS_TREE_SURROGATE;
  made->model.halo = def->halo;
  made->model.allows_overlap = def->allow_overlap;
  made->model.sleep = def->sleep;
  made->model.domain = def->domain;
  made->strict = def->strict;
  if (def->threads > 0)
    made->model.par.threads = def->threads;
  made->log = def->log;
  made->log_context = def->log_context;
  const talus_status status = talus_world_set_backend(made, def->backend, def->no_fallback);
  if (status != TALUS_OK) {
    talus_world_destroy(made);
    return status;
  }
  *world = made;
  return TALUS_OK;
}

talus_status tl_world_begin(struct talus_world *world, const talus_scene *scene, int threads,
                            talus_log_fn *log, void *log_context) {
  const tl_flow *flow = &world->flow;
  const double dt = scene->step.dt;
  if (world->steps > 0 || world->time > 0 || flow->probes.count != scene->probes.count ||
      flow->zones.count != scene->zones.count || flow->sinks.count != scene->sinks.count ||
      flow->averages.count != scene->averages.count)
    return tl_fail(
        TALUS_ERROR_FORMAT,
        "%s: its world is not the one that its scene makes; make another start file with "
        "`talus check SCENE --save`",
        scene->start);
  if (world->model.dt != dt)
    return tl_fail(TALUS_ERROR_INVALID,
                   "the steps of this start file end on a grid of %g s, and with this "
                   "output.every on one of %g s; expected an interval that gives the same grid",
                   world->model.dt, dt);
  if (threads > 0)
    world->model.par.threads = threads;
  world->log = log;
  world->log_context = log_context;
  return TALUS_OK;
}

void talus_world_destroy(talus_world *world) {
  if (!world || tl_world_may_change(world, __func__) != TALUS_OK)
    return;
  tl_model *model = &world->model;
  (void)tl_fields_resize(&world->state, tl_state_fields, TL_STATE_FIELD_COUNT, world->capacity, 0);
  tl_world_free_next(world);
  (void)tl_fields_resize(&model->property, tl_property_fields, TL_PROPERTY_FIELD_COUNT,
                         world->capacity, 0);
  for (size_t i = 0; i < model->shapes.count; ++i)
    tl_shape_release(&model->shapes.data[i]);
  for (size_t i = 0; i < model->materials.count; ++i)
    free_text(model->materials.data[i].name);
  for (size_t i = 0; i < world->names.count; ++i)
    free_text(world->names.data[i].name);
  for (size_t i = 0; i < world->groups.count; ++i)
    free_text(world->groups.data[i]);
  tl_array_free(&model->shapes);
  tl_array_free(&model->materials);
  tl_array_free(&model->laws);
  tl_array_free(&model->motions);
  tl_array_free(&model->motion_terms);
  tl_array_free(&model->motion_values);
  tl_array_free(&model->ignored);
  tl_array_free(&world->handles);
  tl_array_free(&world->free_handles);
  tl_array_free(&world->names);
  tl_array_free(&world->name_index);
  tl_array_free(&world->groups);
  tl_array_free(&world->overrides);
  tl_contacts_release(&world->contacts);
  tl_contacts_release(&world->next);
  tl_residency_free(&world->where);
  tl_penalty_free(&world->penalty);
  tl_joints_free(&world->joints);
  tl_array_free(&world->fresh);
  tl_array_free(&world->flights.rows);
  tl_array_free(&world->flights.since);
  tl_flow_release(&world->flow);
  tl_arena_free(&world->arena);
  tl_local_free(&world->local);
  tl_broad_cache_free(&world->broad_cache);
  tl_kept_free(&world->kept_axes);
  tl_multires_release(&world->multires);
  tl_array_free(&world->widths);
  tl_array_free(&world->passings);
  tl_array_free(&world->mapped);
  tl_array_free(&world->left);
  tl_array_free(&world->courses);
  tl_array_free(&world->course_values);
  void *block = world;
  (void)tl_resize(&block, sizeof *world, 0);
}

/* ---- shapes and materials -------------------------------------------------------------------- */

talus_status tl_world_not_mapped(const talus_world *world, const char *what) {
  if (world->mapped.count > 0)
    return tl_fail(TALUS_ERROR_BUSY, "cannot %s while %zu view%s mapped; unmap first", what,
                   world->mapped.count, world->mapped.count == 1 ? " is" : "s are");
  return TALUS_OK;
}

talus_status talus_world_add_shape(talus_world *world, const talus_shape_def *def,
                                   talus_shape *shape) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  TL_NEED(shape);
  tl_shape made;
  TL_TRY(tl_array_reserve(&world->model.shapes, world->model.shapes.count + 1));
  TL_TRY(tl_need(&world->where, TL_THE(tables), TL_READ | TL_WRITE));
  TL_TRY(tl_shape_make(def, &made));
  const talus_status status =
      world->model.narrow.tree == TALUS_TREE_SURROGATE ? tl_shape_need_surrogate(&made) : TALUS_OK;
  if (status != TALUS_OK) {
    tl_shape_release(&made);
    return status;
  }
  shape->index = (uint32_t)world->model.shapes.count;
  world->model.shapes.data[world->model.shapes.count++] = made;
  tl_changed(world, TL_CHANGED_TABLES, TL_EVERYBODY);
  return TALUS_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

talus_status talus_world_group(talus_world *world, const char *name, uint32_t *group) {
  TL_MAY_CHANGE(world);
  TL_NEED(group);
  if (!name || !*name)
    return tl_fail(TALUS_ERROR_INVALID, "a group needs a name");
  for (size_t i = 0; i < world->groups.count; ++i)
    if (strcmp(world->groups.data[i], name) == 0) {
      *group = (uint32_t)i + 1;
      return TALUS_OK;
    }
  TL_TRY(tl_array_reserve(&world->groups, world->groups.count + 1));
  char *copy;
  TL_TRY(tl_copy_text(name, &copy));
  world->groups.data[world->groups.count++] = copy;
  *group = (uint32_t)world->groups.count;
  return TALUS_OK;
}

talus_status talus_world_ignore_groups(talus_world *world, uint32_t a, uint32_t b) {
  TL_MAY_CHANGE(world);
  if (a == 0 || b == 0 || a > world->groups.count || b > world->groups.count)
    return tl_fail(TALUS_ERROR_INVALID,
                   "ignore: no such group; make it with talus_world_group first");
  const tl_group_pair made = {a < b ? a : b, a < b ? b : a};
  tl_model *model = &world->model;
  TL_TRY(tl_array_reserve(&model->ignored, model->ignored.count + 1));
  tl_group_pair *rows = model->ignored.data;
  const size_t count = model->ignored.count;
  size_t at = 0;
  while (at < count && (rows[at].a < made.a || (rows[at].a == made.a && rows[at].b < made.b)))
    at++;
  if (at < count && rows[at].a == made.a && rows[at].b == made.b)
    return TALUS_OK;
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ));
  TL_TRY(tl_need(&world->where, TL_THE(tables) | TL_THE_AFTERMATH, TL_READ | TL_WRITE));
  memmove(&rows[at + 1], &rows[at], (count - at) * sizeof made);
  rows[at] = made;
  model->ignored.count++;
  tl_changed(world, TL_CHANGED_LAWS | TL_CHANGED_PAIRS, TL_EVERYBODY);
  return TALUS_OK;
}

talus_status talus_world_set_interrupt(talus_world *world, const volatile int *interrupt) {
  TL_MAY_CHANGE(world);
  world->interrupt = interrupt;
  return TALUS_OK;
}
