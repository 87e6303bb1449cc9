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

/* The step ends at the next time of the grid if it is near enough. Otherwise it leaves enough for
 * another step of useful length. */
void tl_world_plan_adaptive(const talus_world *world, double *t1, double *dt) {
  const double end = (double)(world->steps + 1) * world->model.dt, left = end - world->time;
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
  a->longest = world->last.is_cut || !(a->longest > planned) ? next : fmax(next, a->longest);
  tl_world_note_cut(world);
}
