/* Local time in a world: what goes with it, the pace of bodies, what steps did. */
#include "world/world.h"

#include <math.h>

talus_status tl_local_check(const talus_world_def *def) {
  if (def->step != TALUS_STEP_LOCAL)
    return TALUS_OK;
  if (def->solve.kind != TALUS_SOLVE_CCP && def->solve.kind != TALUS_SOLVE_IMPULSE)
    return tl_fail(TALUS_ERROR_INVALID,
                   "step: local keeps rigid bodies apart, with solve: ccp or impulse; springs "
                   "(penalty) want one small step for all, and hard spheres (elastic) have step: "
                   "event");
  if (!(def->dt_min > 0) || !(def->dt_min <= def->dt))
    return tl_fail(TALUS_ERROR_INVALID,
                   "dt_min is %g s and dt %g s; expected 0 < dt_min <= dt with step: local",
                   def->dt_min, def->dt);
  if (!(def->growth > 1) || !(def->growth <= 100))
    return tl_fail(TALUS_ERROR_INVALID, "growth is %g; expected more than 1, at most 100",
                   def->growth);
  if (isnan(def->halo) || isinf(def->halo) || def->halo == 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "halo is %g m; expected a positive length, or < 0: automatic", def->halo);
  if (def->sleep.speed > 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "sleep does not work with step: local, where what rests takes long steps "
                   "anyway; leave `sleep` out");
  return TALUS_OK;
}

talus_status tl_world_reserve_pace(talus_world *world) {
  if (world->model.step != TALUS_STEP_LOCAL)
    return TALUS_OK;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (tl_state_fields[i].offset == offsetof(tl_state, pace))
      TL_TRY(tl_field_wake(&world->state, &tl_state_fields[i], world->capacity));
  return TALUS_OK;
}

static uint32_t root_of(uint32_t *parent, uint32_t slot) {
  while (parent[slot] != slot)
    slot = parent[slot] = parent[parent[slot]];
  return slot;
}

talus_status tl_world_tell_bound(talus_world *world) {
  const tl_model *model = &world->model;
  uint32_t *parent;
  size_t parts = 0, most = 0;
  if (model->step != TALUS_STEP_LOCAL || world->joints.all.count == 0)
    return TALUS_OK;
  TL_TAKE(&world->arena, model->bodies, &parent);
  for (uint32_t i = 0; i < model->bodies; ++i) {
    parent[i] = i;
    most += !tl_body_is_static(model, i);
  }
  parts = most;
  for (size_t i = 0; i < world->joints.all.count; ++i) {
    const tl_joint *joint = &world->joints.all.data[i];
    if (!tl_joint_acts(joint) || joint->a == TL_NONE || joint->b == TL_NONE ||
        tl_body_is_static(model, joint->a) || tl_body_is_static(model, joint->b))
      continue;
    const uint32_t x = root_of(parent, joint->a), y = root_of(parent, joint->b);
    parent[x > y ? x : y] = x > y ? y : x;
    parts -= x != y;
  }
  if (most > 1 && parts == 1)
    tl_log_write(&model->log, TL_LOG_WARN,
                 "step.kind is local, and joints hold all %zu bodies that move together: they are "
                 "one cluster, for which `adaptive` takes the same steps in less time",
                 most);
  return TALUS_OK;
}

static bool leaves(const void *context, talus_dvec3 position) {
  const talus_world *world = context;
  const tl_model *model = &world->model;
  return tl_flow_sink_of(&world->flow, model, position) != UINT32_MAX ||
         (model->domain.enabled && model->domain.outside == TALUS_OUTSIDE_REMOVE &&
          tl_world_is_outside(&model->domain, position));
}

/* The interval ends when the world changes by the clock, at the latest at the next time of the
 * grid; or when somebody leaves, which the steps find. */
void tl_world_plan_local(talus_world *world, double *t1, double *dt) {
  const tl_model *model = &world->model;
  tl_local *local = &world->local;
  const bool removes = model->domain.enabled && model->domain.outside == TALUS_OUTSIDE_REMOVE;
  *t1 = tl_world_next_end(world), *dt = *t1 - world->time;
  local->hold_at = (double)(world->steps + 1) * model->dt;
  local->leaves = removes || world->flow.sinks.count > 0 ? leaves : NULL;
  local->leaves_context = world;
}

void tl_world_note_local(talus_world *world) {
  tl_adaptive *a = &world->adaptive;
  const double least = world->local.counts.least;
  a->least = a->least > 0 && (a->least < least || !(least > 0)) ? a->least : least;
  world->local.counts.least = 0;
  tl_local_end_interval(&world->local);
  a->swept += world->last.swept;
  tl_world_note_cut(world);
}
