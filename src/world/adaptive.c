/* Adaptive steps in a world: the grid they end on, how long the next one may be, what they did. */
#include "step/paths.h"
#include "world/world.h"

#include <math.h>

#define ROUNDING 0.01 /* of a halo: overlap of bodies that were put to touch */
#define GROWTH   2    /* of one step over the one before, at most */

talus_status tl_adaptive_check(const talus_world_def *def) {
  if (def->step != TALUS_STEP_ADAPTIVE)
    return TALUS_OK;
  if (def->solve.kind != TALUS_SOLVE_CCP && def->solve.kind != TALUS_SOLVE_IMPULSE)
    return tl_fail(TALUS_ERROR_INVALID,
                   "step: adaptive keeps rigid bodies apart, with solve: ccp or impulse; springs "
                   "(penalty) push only where bodies overlap, and hard spheres (elastic) have "
                   "step: event");
  if (!(def->dt_min > 0) || !(def->dt_min <= def->dt))
    return tl_fail(TALUS_ERROR_INVALID,
                   "dt_min is %g s and dt %g s; expected 0 < dt_min <= dt with step: adaptive",
                   def->dt_min, def->dt);
  if (isnan(def->halo) || isinf(def->halo) || def->halo == 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "halo is %g m; expected a positive length, or < 0: automatic", def->halo);
  return TALUS_OK;
}

talus_status tl_world_check_start(talus_world *world, const tl_crowd *crowd) {
  const tl_model *model = &world->model;
  talus_real *halos;
  if (model->allows_overlap)
    return TALUS_OK;
  TL_TAKE(crowd->arena, model->bodies, &halos);
  for (size_t i = 0; i < model->bodies; ++i)
    halos[i] = tl_halo_of(model, i);
  tl_crowd now = *crowd;
  now.out = &world->state;
  const tl_paths_rule rule = {.floor = {.halos = -ROUNDING}, .is_instant = true, .halos = halos};
  tl_paths_report found;
  TL_TRY(tl_step_check_paths(world->backend, &now, &rule, &found));
  if (found.short_count == 0)
    return TALUS_OK;
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s and %s overlap by %.3g m at the start, and %zu pairs in all, which would "
                 "have to be pulled apart; move them, or say `allow_overlap: true`",
                 tl_world_describe(world, found.nearest.a),
                 tl_world_describe(world, found.nearest.b), -found.least, found.short_count);
}

/* ---- times that steps end on ----------------------------------------------------------------- */

/* How many whole intervals have passed; a time may be a rounding before one. */
static double intervals(double t, double every) { return floor(t / every + 1e-9); }

bool tl_world_is_at_probe(const talus_world *world) {
  for (size_t i = 0; i < world->flow.probes.count; ++i)
    if (tl_world_probe_is_due(world, i, world->unfinished.t0))
      return true;
  return false;
}

bool tl_world_probe_is_due(const talus_world *world, size_t probe, double since) {
  const double every = world->flow.probes.data[probe].every;
  return every > 0 && intervals(world->time, every) > intervals(since, every);
}

/* Rows of a table whose first column is a time: the first after t, or INFINITY. */
static double next_row(const double *rows, size_t count, size_t columns, double t) {
  size_t lo = 0, hi = count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (rows[middle * columns] <= t)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < count ? rows[lo * columns] : INFINITY;
}

/* When a motion begins, ends, or comes to a row of its table, after t. */
static double next_of_motion(const tl_model *model, const tl_motion_term *term, double t) {
  double next = term->from > t ? term->from : term->until > t ? term->until : INFINITY;
  if (term->table_kind == TALUS_TABLE_NONE || t >= term->until)
    return next;
  const double *rows = model->motion_values.data + term->table;
  const size_t columns = tl_motion_columns(term->table_kind);
  /* What rounding of the sum brings back to t is behind it. */
  const double own = next_row(rows, term->rows, columns, t - term->from), at = term->from + own;
  return at > t ? fmin(next, at)
                : fmin(next, term->from + next_row(rows, term->rows, columns, own));
}

/* When the world changes by the clock, after t: emitters, motions, loads; and when probes end. */
static double next_change(const talus_world *world, double t) {
  const tl_model *model = &world->model;
  double next = INFINITY;
  for (size_t i = 0; i < world->flow.probes.count; ++i) {
    const double every = world->flow.probes.data[i].every;
    if (every > 0)
      next = fmin(next, (intervals(t, every) + 1) * every);
  }
  for (size_t i = 0; i < world->flow.emitters.count; ++i) {
    const tl_emitter *emitter = &world->flow.emitters.data[i];
    const double due = tl_emitter_due(emitter);
    if (due > t && due < emitter->def.until)
      next = fmin(next, due);
  }
  for (size_t i = 0; i < model->motions.count; ++i) {
    const tl_motion *motion = &model->motions.data[i];
    const double own = tl_clock_at(motion->clock, model->dt, t);
    for (uint32_t k = 0; k < motion->count; ++k)
      next = fmin(next, next_of_motion(model, &model->motion_terms.data[motion->first + k], own) -
                            motion->clock);
  }
  for (size_t i = 0; i < world->courses.count; ++i) {
    const tl_course *course = &world->courses.data[i];
    const double own = tl_clock_at(course->clock, model->dt, t);
    next = fmin(next, next_row(world->course_values.data + course->first, course->rows,
                               tl_course_columns(course->kind), own) -
                          course->clock);
  }
  return next;
}

/* The next of these times, or of the grid. Times that are nearer to each other than the shortest
 * step are one: else there were steps that cannot be shortened. */
double tl_world_next_end(const talus_world *world) {
  const tl_model *model = &world->model;
  const double end = (double)(world->steps + 1) * model->dt, near = model->dt_min;
  double next = next_change(world, world->time);
  while (next - world->time < near && next < end - near) {
    const double later = next_change(world, next);
    if (!(later > next)) /* an interval below the rounding of the time */
      return end;
    next = later;
  }
  return next < end - near ? next : end;
}

/* The step ends at the next of these times if it is near enough. Otherwise it leaves enough for
 * another step of useful length. */
void tl_world_plan_adaptive(const talus_world *world, double *t1, double *dt) {
  const double end = tl_world_next_end(world), left = end - world->time;
  double h = world->adaptive.longest;
  *t1 = end, *dt = left;
  if (!(h > 0) || h >= left * (1 - 1e-9))
    return;
  if (left - h < 0.5 * h)
    h = 0.5 * left;
  if (h < world->model.dt_min && left > world->model.dt_min)
    h = world->model.dt_min;
  *t1 = world->time + h, *dt = h;
}

void tl_world_note_cut(talus_world *world) {
  const uint64_t *uid = world->model.property.uid;
  const tl_pair pair = world->last.cut_by;
  if (!world->last.is_cut)
    return;
  world->adaptive.cut++;
  world->adaptive.cut_by[0] = pair.a < world->model.bodies ? uid[pair.a] : 0;
  world->adaptive.cut_by[1] = pair.b < world->model.bodies ? uid[pair.b] : 0;
}

void tl_world_note_adaptive(talus_world *world, const tl_crowd *crowd, double planned) {
  tl_adaptive *a = &world->adaptive;
  const double next = GROWTH * crowd->dt;
  a->least = a->least > 0 ? fmin(a->least, crowd->dt) : crowd->dt;
  a->swept += world->last.swept;
  const int length = tl_step_length_class(crowd->dt, world->model.dt);
  a->steps[length]++;
  for (size_t i = 0; i < crowd->count; ++i)
    a->body_steps[length] += !tl_body_is_static(crowd->model, i);
  a->longest = world->last.is_cut || !(a->longest > planned) ? next : fmax(next, a->longest);
  tl_world_note_cut(world);
}
