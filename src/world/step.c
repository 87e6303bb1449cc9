/* Stepping a world: the stepper moves bodies, then flow lets them come and go. */
#include "world/world.h"

#include <math.h>
#include <stdio.h>

double talus_world_time(const talus_world *world) {
  TL_NEED_OR(world, 0);
  return world->time;
}

uint64_t talus_world_steps(const talus_world *world) {
  TL_NEED_OR(world, 0);
  return world->steps;
}

size_t talus_world_body_count(const talus_world *world) {
  TL_NEED_OR(world, 0);
  return world->model.bodies;
}

/* ---- failure --------------------------------------------------------------------------------- */

/* The culprit's contacts, deepest first, at most three, into text. */
static void list_contacts(const talus_world *world, uint32_t slot, char *text, size_t size) {
  /* Contacts of the failed step, if it got that far. The message says so if there are none. */
  const bool is_new = world->next.count > 0;
  if (!is_new && tl_need(&world->where, TL_THE_CONTACTS, TL_READ) != TALUS_OK) {
    snprintf(text, size, "; its contacts are lost");
    return;
  }
  const tl_contacts *contacts = is_new ? &world->next : &world->contacts;
  size_t used = 0;
  double floor_gap = -INFINITY;
  for (int shown = 0; shown < 3; ++shown) {
    const tl_contact *next = NULL;
    for (size_t i = 0; i < contacts->count; ++i) {
      const tl_contact *c = &contacts->data[i];
      if ((c->a == slot || c->b == slot) && (double)c->gap > floor_gap &&
          (!next || c->gap < next->gap))
        next = c;
    }
    if (!next)
      break;
    floor_gap = (double)next->gap;
    const int wrote =
        snprintf(text + used, size - used, "%s %s (gap %g m)", shown ? "," : "; last contacts:",
                 tl_world_describe(world, next->a == slot ? next->b : next->a), (double)next->gap);
    used += wrote > 0 && (size_t)wrote < size - used ? (size_t)wrote : 0;
  }
  if (used == 0)
    snprintf(text, size, "; it touched nothing");
}

/* Adds the body, the time and what it touched to the stage's message. */
static talus_status explain(const talus_world *world, talus_status status) {
  const uint32_t slot = world->last.culprit;
  if (slot == TL_NONE)
    return tl_fail_in(status, "at t = %g s", talus_world_time(world));
  char why[320], touched[480];
  snprintf(why, sizeof why, "%s", tl_last_message());
  list_contacts(world, slot, touched, sizeof touched);
  TL_TRY(tl_need(&world->where, TL_THE(position), TL_READ));
  const talus_dvec3 x = world->state.position[slot];
  const uint32_t other = world->last.partner;
  return tl_fail(status, "%s%s%s at t = %g s, at (%g, %g, %g): %s%s; %s",
                 tl_world_describe(world, slot), other == TL_NONE ? "" : " and ",
                 other == TL_NONE ? "" : tl_world_describe(world, other), talus_world_time(world),
                 x.x, x.y, x.z, why, touched,
                 status == TALUS_ERROR_DOMAIN ? "make the domain larger or say `outside: remove`"
                                              : "try a smaller step or more solver iterations");
}

/* ---- coming and going ------------------------------------------------------------------------ */

bool tl_world_is_outside(const talus_domain_def *domain, talus_dvec3 x) {
  return (!domain->periodic[0] && (x.x < domain->box.lo.x || x.x > domain->box.hi.x)) ||
         (!domain->periodic[1] && (x.y < domain->box.lo.y || x.y > domain->box.hi.y)) ||
         (!domain->periodic[2] && (x.z < domain->box.lo.z || x.z > domain->box.hi.z));
}

static size_t count_leavers(const talus_world *world, bool domain) {
  const tl_model *model = &world->model;
  size_t count = 0;
  for (size_t i = 0; i < model->bodies; ++i) {
    const talus_dvec3 x = world->state.position[i];
    if (!tl_body_is_static(model, i) && (tl_flow_sink_of(&world->flow, model, x) != UINT32_MAX ||
                                         (domain && tl_world_is_outside(&model->domain, x))))
      count++;
  }
  return count;
}

static talus_status remove_leavers(talus_world *world) {
  const tl_model *model = &world->model;
  const bool domain = model->domain.enabled && model->domain.outside == TALUS_OUTSIDE_REMOVE;
  if (!domain && world->flow.sinks.count == 0)
    return TALUS_OK;
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  uint8_t *remove;
  uint32_t *room, *parties = NULL;
  TL_TAKE(&world->arena, model->bodies, &remove);
  if (world->local.ahead.count > 0)
    TL_TAKE(&world->arena, model->bodies, &parties);
  const tl_arena_mark mark = tl_arena_get_mark(&world->arena);
  TL_TAKE(&world->arena, model->bodies, &room); /* so that tl_world_compact has it, too */
  tl_arena_release(&world->arena, mark);
  memset(remove, 0, model->bodies);
  if (world->records_left) /* sinks count what they take, and nothing after this may fail */
    TL_TRY(tl_world_reserve_left(world, count_leavers(world, domain)));
  size_t leaving = tl_flow_sink(&world->flow, model, &world->state, remove);
  if (domain)
    for (size_t i = 0; i < model->bodies; ++i)
      if (!remove[i] && !tl_body_is_static(model, i) &&
          tl_world_is_outside(&model->domain, world->state.position[i])) {
        remove[i] = 1;
        leaving++;
      }
  if (leaving == 0)
    return TALUS_OK;
  tl_world_note_left(world, remove);
  tl_tally gone;
  tl_tally_clear(&gone);
  for (size_t i = 0; i < model->bodies; ++i)
    if (remove[i])
      tl_tally_add(&gone, tl_world_energy_of(world, i));
  world->flow_energy -= tl_tally_value(&gone);
  tl_local *local = &world->local; /* who did not press on those who leave goes on */
  const size_t ahead =
      parties ? tl_local_let_go(local, model, &world->contacts, &world->joints, remove, parties)
              : 0;
  TL_TRY(tl_world_compact(world, remove, &leaving));
  local->ahead.count = ahead;
  world->removed += leaving;
  return TALUS_OK;
}

static talus_status add_fresh(talus_world *world) {
  const bool is_rearranged = world->is_rearranged, was_pushed = world->unfinished.was_pushed;
  for (size_t i = world->unfinished.added; i < world->fresh.count; ++i) {
    const talus_status status = talus_world_add_body(world, &world->fresh.data[i], NULL);
    world->unfinished.was_pushed = was_pushed;
    if (status != TALUS_OK)
      return tl_fail_in(status == TALUS_ERROR_MEMORY ? status : TALUS_ERROR_DIVERGED,
                        "an emitter at t = %g s", talus_world_time(world));
    world->flow_energy += tl_world_energy_of(world, world->model.bodies - 1);
    world->unfinished.added++;
  }
  /* New bodies touch nothing yet, but a law with a reach acts at a distance, from the first kick
   * on: forces are computed anew. */
  if (world->fresh.count == 0 || !(tl_penalty_reach(&world->model) > 0))
    world->penalty.is_pushed = world->unfinished.was_pushed;
  world->is_rearranged = is_rearranged; /* new ones lie in nobody's way */
  world->emitted += world->fresh.count;
  return TALUS_OK;
}

/* ---- one step -------------------------------------------------------------------------------- */

static void tell_broad(talus_world *world) {
  if (world->model.broad != TALUS_BROAD_AUTO || world->last.broad == world->broad_told)
    return;
  world->broad_told = world->last.broad;
  tl_log_write(&world->model.log, TL_LOG_INFO, "broad: auto is %s for %zu bodies: %s",
               tl_broad_name(world->last.broad), world->model.bodies,
               world->last.broad_reason ? world->last.broad_reason : "");
}

/* The solver had to shorten its step: said once, because it may happen in every step. */
static void tell_guard(talus_world *world) {
  if (world->last.solve.restarts == 0 || world->guard_told)
    return;
  world->guard_told = true;
  tl_log_write(&world->model.log, TL_LOG_WARN,
               "solve: the iteration diverged at t = %g s, went back to its best impulses and "
               "halved its step %d "
               "time%s; a smaller solve.omega would save that (said once)",
               talus_world_time(world), world->last.solve.restarts,
               world->last.solve.restarts == 1 ? "" : "s");
}

static void tell_threads(talus_world *world) {
  int wanted, got;
  if (world->threads_told || !tl_par_is_short(&wanted, &got))
    return;
  world->threads_told = true;
  tl_log_write(
      &world->model.log, TL_LOG_WARN,
      "the system could not start %d threads: going on with %d, which takes longer and gives the "
      "same results; ask for fewer (--threads), or raise its limits (ulimit -u, ulimit -v)",
      wanted, got);
}

/* Islands that made energy, or are far from their solution; said once. */
static void note_convergence(talus_world *world, double time) {
  const tl_solve_report *solve = &world->last.solve;
  world->made_energy += solve->made_energy;
  world->energy_corrections += (uint64_t)solve->corrected;
  if (solve->unconverged == 0)
    return;
  const bool is_first = world->unconverged++ == 0 || (world->strict & TALUS_STRICT_UNCONVERGED);
  if (is_first && world->model.step == TALUS_STEP_IMPLICIT)
    tl_world_offend(world, TALUS_STRICT_UNCONVERGED,
                    "step: the implicit step to t = %g s did not converge within %d iterations at "
                    "%s and was taken in %d parts; a shorter step, a larger step.tolerance or more "
                    "step.iterations would do (told once; the summary counts such steps)",
                    time, world->model.implicit.iterations, tl_world_describe(world, solve->worst),
                    solve->unconverged + 1);
  else if (is_first)
    tl_world_offend(world, TALUS_STRICT_UNCONVERGED,
                    "solve: not converged at t = %g s: %d sweeps left an RMS residual of %.3g m/s "
                    "around %s; a smaller step or more solve.iterations would help (told once; the "
                    "summary counts such steps)",
                    time, solve->iterations, solve->worst_residual,
                    tl_world_describe(world, solve->worst));
  if (solve->worst_residual > world->worst_residual) {
    world->worst_residual = solve->worst_residual;
    world->worst_time = time;
    if (tl_need(&world->where, TL_THE(uid), TL_READ) == TALUS_OK)
      world->worst_body =
          solve->worst < world->model.bodies ? world->model.property.uid[solve->worst] : 0;
  }
}

/* Whether somebody reads the contacts of every step, or bodies are added or removed. */
static bool needs_contacts(const talus_world *world) {
  const talus_domain_def *domain = &world->model.domain;
  return world->flow.probes.count > 0 || world->flow.averages.count > 0 ||
         world->flow.sinks.count > 0 || world->flow.emitters.count > 0 ||
         (domain->enabled && domain->outside == TALUS_OUTSIDE_REMOVE);
}

/* What settling looks at. */
static talus_status need_to_settle(const talus_world *world) {
  if (world->flow.probes.count > 0 || world->flow.averages.count > 0)
    TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE_CONTACTS | TL_THE(joints), TL_READ));
  if (world->joints.all.count == 0)
    return TALUS_OK;
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  return tl_need(&world->where, TL_THE(joints) | TL_THE_AFTERMATH, TL_READ | TL_WRITE);
}

/* Averages, which alone can lack memory, before they change; probes, tables, joints. */
static talus_status settle(talus_world *world) {
  const tl_model *model = &world->model;
  const tl_local *local = &world->local;
  const bool is_local = model->step == TALUS_STEP_LOCAL && local->wants_given;
  const tl_contacts *contacts = is_local ? &local->given : &world->contacts;
  tl_crowd crowd = {.model = model,
                    .count = model->bodies,
                    .t0 = world->unfinished.t0,
                    .t1 = world->time,
                    .dt = world->unfinished.dt,
                    .in = &world->state,
                    .out = &world->state,
                    .centres = is_local ? local->given_centres.data : NULL,
                    .pulls = is_local ? local->pulls.data : NULL,
                    .arena = &world->arena,
                    .flights = tl_flow_wants_flights(&world->flow) ? &world->flights : NULL,
                    .joints = world->joints.all.count > 0 ? &world->joints : NULL};
  TL_TRY(tl_flow_average(&world->flow, &crowd, contacts));
  tl_flow_probe(&world->flow, &crowd, contacts);
  tl_world_tell_tables(world, crowd.t0, crowd.t1);
  tl_world_tell_joints(world);
  world->joint_work +=
      world->last.solve.joint_work + tl_world_spring_energy(world) - world->unfinished.spring;
  return TALUS_OK;
}

/* Finishes the step after its bodies have moved. Each part is done once; if one finds no memory,
 * the next call continues with that part, so that nothing is left out or repeated. */
static talus_status finish(talus_world *world) {
  tl_unfinished_step *unfinished = &world->unfinished;
  if (unfinished->from == TL_UNFINISHED_ZONES) {
    TL_TRY(tl_world_act_zones(world));
    unfinished->from = TL_UNFINISHED_WATCH;
  }
  if (unfinished->from == TL_UNFINISHED_WATCH) {
    TL_TRY(tl_world_watch(world));
    TL_TRY(need_to_settle(world));
    TL_TRY(settle(world));
    unfinished->from = TL_UNFINISHED_REMOVE;
  }
  if (unfinished->from == TL_UNFINISHED_REMOVE) {
    TL_TRY(remove_leavers(world));
    unfinished->from = TL_UNFINISHED_EMIT;
    unfinished->added = world->fresh.count = 0;
    unfinished->was_pushed = world->penalty.is_pushed;
  }
  if (unfinished->from == TL_UNFINISHED_EMIT) {
    if (world->flow.emitters.count > 0)
      TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
    TL_TRY(tl_flow_emit(&world->flow, &world->model, &world->state, talus_world_time(world),
                        &world->fresh));
    unfinished->from = TL_UNFINISHED_ADD;
  }
  if (unfinished->from == TL_UNFINISHED_ADD) {
    if (world->flow.emitters.count > 0)
      TL_TRY(add_fresh(world));
    unfinished->from = TL_UNFINISHED_NONE;
  }
  return TALUS_OK;
}

talus_status tl_world_finish_step(talus_world *world) {
  if (world->unfinished.from == TL_UNFINISHED_NONE)
    return TALUS_OK;
  TL_TRY(tl_arena_reset(&world->arena));
  return finish(world);
}

static talus_status tell_interrupted(const talus_world *world) {
  return tl_fail(TALUS_INTERRUPTED, "stopped on request at t = %g s", talus_world_time(world));
}

void tl_world_free_next(talus_world *world) {
  (void)tl_fields_resize(&world->next_state, tl_state_fields, TL_STATE_FIELD_COUNT,
                         world->next_capacity, 0);
  world->next_state = (tl_state){0};
  world->next_capacity = 0;
}

/* Room for the state at the end of the step; what is in it does not matter. */
static talus_status reserve_next(talus_world *world) {
  if (world->next_capacity != world->capacity)
    tl_world_free_next(world);
  world->next_capacity = world->capacity;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i) {
    const tl_field *field = &tl_state_fields[i];
    void *block = tl_field_rows(&world->next_state, field);
    if (block || !(field->flags & TL_STEPPED) || !tl_field_rows(&world->state, field))
      continue;
    TL_TRY(tl_resize(&block, 0, world->capacity * field->bytes));
    tl_field_set_rows(&world->next_state, field, block);
  }
  return TALUS_OK;
}

static void swap_states(talus_world *world) {
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i) {
    const tl_field *field = &tl_state_fields[i];
    if (!(field->flags & TL_STEPPED))
      continue;
    unsigned char *now = tl_field_rows(&world->next_state, field);
    tl_field_set_rows(&world->next_state, field, tl_field_rows(&world->state, field));
    tl_field_set_rows(&world->state, field, now);
  }
}

/* Brings the rows home that the step needs. Fixed steps work on rows at home, and those are then
 * the only valid ones. Steps of springs and of devices ask for their rows themselves; little else
 * is read before them, and without probes nothing that steps change. */
static talus_status need_to_begin(const talus_world *world, bool on_device) {
  if (world->model.solve.kind != TALUS_SOLVE_PENALTY && !on_device)
    return tl_need(&world->where, TL_THE_WHOLE, TL_READ | TL_WRITE | TL_OR_NONE);
  if (world->joints.all.count > 0) /* which are refused, after their springs were looked at */
    TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE(joints), TL_READ));
  if (world->flow.probes.count > 0)
    TL_TRY(tl_need(&world->where, TL_THE(position), TL_READ));
  return tl_need(&world->where, TL_THE_PROPERTY, TL_READ);
}

static talus_status run_stages(talus_world *world, tl_crowd *crowd, bool on_device) {
  if (on_device)
    return tl_world_step_on_device(world, crowd);
  if (world->model.step == TALUS_STEP_LOCAL)
    return tl_step_local(world->backend, crowd, &world->local, &world->last);
  if (world->model.step == TALUS_STEP_ADAPTIVE)
    return tl_step_adaptive(world->backend, crowd, &world->last);
  if (world->model.step == TALUS_STEP_IMPLICIT)
    return tl_step_implicit(world->backend, crowd, &world->last);
  if (world->model.solve.kind == TALUS_SOLVE_PENALTY)
    return tl_step_verlet(world->backend, crowd, &world->contacts, &world->next, &world->last);
  return tl_step_fixed(world->backend, crowd, &world->last);
}

/* Finds bodies whose centres passed through a wall. Steps that end before anything meets, and
 * events, let none through; springs of balls and devices look by themselves. */
static talus_status find_passings(talus_world *world, const tl_crowd *crowd) {
  const tl_model *model = &world->model;
  const bool is_event = model->solve.kind == TALUS_SOLVE_ELASTIC &&
                        (model->step == TALUS_STEP_EVENT || model->solve.shell == TALUS_SHELL_SOFT);
  if (tl_step_is_free(model) || is_event || world->last.is_elsewhere ||
      crowd->out == &world->state) {
    tl_world_forget_rooms(world); /* bodies go their way, and nobody counts how far */
    return TALUS_OK;
  }
  TL_TRY(tl_need(&world->where, TL_THE(room), TL_READ | TL_WRITE));
  world->has_rooms = true;
  return tl_passing_find(crowd, world->widths.statics, model->property.room, &world->passings);
}

/* From here on the results of the stages are the state of the world. */
static void take_result(talus_world *world) {
  if (world->last.is_elsewhere)
    return;
  swap_states(world);
  tl_contacts_swap(&world->contacts, &world->next);
  tl_made_home(&world->where, TL_THE_WHOLE);
}

static talus_status step_once(talus_world *world) {
  tl_model *model = &world->model;
  TL_TRY(tl_world_finish_step(world));
  if (world->joints.must_assemble)
    TL_TRY(tl_world_assemble(world, &world->cancel, NULL));
  TL_TRY(tl_arena_reset(&world->arena));
  TL_TRY(tl_world_follow_courses(world));
  bool on_device;
  TL_TRY(tl_world_find_place(world, &on_device));
  TL_TRY(need_to_begin(world, on_device));
  TL_TRY(tl_widths_update(model, &world->widths));
  TL_TRY(tl_joints_prepare(&world->joints));
  TL_TRY(tl_world_check_crowding(world));
  TL_TRY(tl_world_check_elastic(world));
  tl_pairs bonds;
  TL_TRY(tl_world_find_bonds(world, &bonds));
  world->offence[0] = '\0';
  world->passings.count = 0;
  tl_contacts_clear(&world->next);
  const bool is_springs = model->solve.kind == TALUS_SOLVE_PENALTY;
  tl_cancel_begin(&world->cancel, world->interrupt);
  size_t swept = 0;
  tl_narrow_counts counts = {0};
  tl_crowd crowd = {.model = model,
                    .count = model->bodies,
                    .t0 = world->time,
                    .t1 = (double)(world->steps + 1) * model->dt,
                    .dt = model->dt,
                    .in = &world->state,
                    .out = &world->next_state,
                    .lends_out = true,
                    .contacts_before = &world->contacts,
                    .contacts_after = &world->next,
                    .arena = &world->arena,
                    .broad_cache = &world->broad_cache,
                    .kept_axes = &world->kept_axes,
                    .multires = tl_model_goes_down(model) ? &world->multires : NULL,
                    .counts = &counts,
                    .joints = world->joints.all.count > 0 ? &world->joints : NULL,
                    .joints_after = world->joints.after.data,
                    .bonds = &bonds,
                    .widths = &world->widths,
                    .sleeps = true,
                    .cancel = world->interrupt ? &world->cancel : NULL,
                    .penalty = &world->penalty,
                    .local = &world->local,
                    .flights = tl_flow_wants_flights(&world->flow) ? &world->flights : NULL,
                    .passings = &world->passings,
                    .swept = &swept,
                    .where = &world->where};
  const bool is_adaptive = model->step == TALUS_STEP_ADAPTIVE,
             is_local = model->step == TALUS_STEP_LOCAL;
  if (is_adaptive)
    tl_world_plan_adaptive(world, &crowd.t1, &crowd.dt);
  world->local.records = world->watch != NULL;
  world->local.holds = world->flow.zones.count + world->courses.count + model->motions.count > 0;
  world->local.wants_given = world->flow.probes.count + world->flow.averages.count > 0;
  if (is_local)
    tl_world_plan_local(world, &crowd.t1, &crowd.dt);
  if (tl_step_is_free(model) && world->time == 0) {
    TL_TRY(tl_world_check_start(world, &crowd));
    TL_TRY(tl_world_tell_bound(world));
  }
  const double planned = crowd.dt;
  if (is_springs)
    TL_TRY(tl_world_expect_bodies(world));
  if (on_device || (is_springs && tl_step_is_of_balls(&crowd)))
    crowd.out = &world->state; /* the device, or the list, has the state after */
  else
    TL_TRY(reserve_next(world));
  world->broad_cache.chosen = world->last.broad; /* as a resumed run does */
  world->unfinished.spring = tl_world_spring_energy(world);
  const tl_step_report last = world->last;
  world->where.soon = needs_contacts(world) ? TL_THE_CONTACTS : 0;
  TL_TRY(tl_flow_begin_step(&world->flow, model, &world->state));
  model->par.is_alone = world->has_pace && tl_pace_is_alone(&world->pace);
  const talus_status status = run_stages(world, &crowd, on_device);
  if (status == TALUS_INTERRUPTED) {
    world->last = last; /* bodies, contacts and joints are as they were */
    return tell_interrupted(world);
  }
  TL_TRY(status == TALUS_OK ? status : explain(world, status));
  if (world->watch)
    TL_TRY(world->watch(world->watch_context, &crowd));
  TL_TRY(find_passings(world, &crowd));
  /* These read rows, which may be elsewhere once the result is taken over. */
  if (is_adaptive)
    tl_world_note_adaptive(world, &crowd, planned);
  if (is_local)
    tl_world_note_local(world);
  tl_joints_take(&world->joints, tl_model_substep(model, is_local ? model->dt : crowd.dt));
  take_result(world);
  world->walls.asked += world->last.walls.asked;
  world->walls.tested += world->last.walls.tested;
  world->wall[0] += world->last.wall_broad;
  world->wall[1] += world->last.wall_narrow;
  world->wall[2] += world->last.wall_solve;
  world->wall[3] += world->last.wall_step;
  tl_pace_tell(&world->pace, (double)(model->bodies + world->contacts.count),
               world->last.wall_broad + world->last.wall_narrow + world->last.wall_solve +
                   world->last.wall_step);
  world->contact_work += world->last.solve.contact_work;
  world->load_work += world->last.solve.load_work;
  world->damping_work += world->last.solve.damping_work;
  world->friction_work += world->last.solve.friction_work;
  world->step_loss += world->last.solve.step_loss;
  tell_broad(world);
  tell_guard(world);
  tell_threads(world);
  note_convergence(world, crowd.t1);
  world->penalty.is_borrowed = false;
  tl_world_note_elastic(world);
  world->adaptive.swept += swept;
  world->comparisons += counts.comparisons, world->fallbacks += counts.fallbacks;
  if (!tl_step_is_free(model) || crowd.t1 == (double)(world->steps + 1) * model->dt)
    world->steps++; /* the bodies have moved, whatever fails from here on */
  world->time = crowd.t1;
  world->unfinished.t0 = crowd.t0;
  world->unfinished.dt = crowd.dt;
  world->unfinished.zone = 0;
  world->unfinished.from = TL_UNFINISHED_ZONES;
  TL_TRY(finish(world));
  return tl_world_end_strictly(world);
}

talus_status talus_world_step(talus_world *world, uint64_t n) {
  TL_MAY_CHANGE(world);
  TL_TRY(tl_world_not_mapped(world, "step"));
  talus_status status = TALUS_OK;
  for (uint64_t i = 0; i < n && status == TALUS_OK; ++i) {
    tl_cancel_begin(&world->cancel, world->interrupt);
    const uint64_t steps = world->steps;
    do /* steps of adaptive time, and intervals of local time, are parts of one */
      status = tl_cancel_look(&world->cancel) ? tell_interrupted(world) : step_once(world);
    while (status == TALUS_OK && world->steps == steps &&
           !(world->adaptive.stops && tl_world_is_at_probe(world)));
  }
  TL_TRY(status);
  return tl_arena_reset(&world->arena); /* one block again, where a step needed more than it had */
}

/* ---- flow ------------------------------------------------------------------------------------ */

/* Removes the bodies from slot `before` on, so that a call that failed halfway has added nothing.
 */
talus_status tl_world_take_back(talus_world *world, size_t before, talus_status status) {
  const size_t bodies = world->model.bodies;
  if (bodies == before)
    return status;
  uint8_t *remove;
  size_t removed;
  TL_TRY(tl_arena_reset(&world->arena));
  TL_TAKE(&world->arena, bodies, &remove);
  memset(remove, 0, before);
  memset(remove + before, 1, bodies - before);
  TL_TRY(tl_world_compact(world, remove, &removed));
  return status;
}

talus_status talus_world_fill(talus_world *world, const talus_fill_def *def, uint64_t *placed) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  TL_TRY(tl_world_not_mapped(world, "fill"));
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  tl_placements places = {0};
  uint64_t wanted = 0;
  TL_TRY(tl_thermal_check(def->thermal, "fill"));
  talus_status status = tl_fill_plan(&world->model, &world->state, def, &places, &wanted);
  if (status == TALUS_OK && places.count < wanted && !def->allow_fewer)
    status =
        tl_fail(TALUS_ERROR_INVALID,
                places.count == 0
                    ? "fill: only %zu of %llu bodies fit: other bodies, or the matter of a plane, "
                      "fill the region; move it (matter of a plane is where n.x < d)"
                    : "fill: only %zu of %llu bodies fit; make the region larger, ask for fewer, "
                      "or say allow_fewer: true",
                places.count, (unsigned long long)wanted);
  const bool is_planned = status == TALUS_OK;
  if (is_planned)
    status = tl_world_reserve(world, world->model.bodies + places.count);
  talus_body_def body = def->body;
  const size_t before = world->model.bodies;
  for (size_t i = 0; status == TALUS_OK && i < places.count; ++i) {
    body.position = places.data[i].position;
    body.rotation = places.data[i].rotation;
    body.scale = places.data[i].scale;
    body.velocity = tl_fill_velocity(def, i);
    status = talus_world_add_body(world, &body, NULL);
  }
  if (is_planned && status != TALUS_OK)
    status = tl_fail_in(status, "fill");
  if (status == TALUS_OK && places.count < wanted)
    tl_log_write(&world->model.log, TL_LOG_WARN,
                 "fill: %zu of %llu bodies fit; allow_fewer lets the others go", places.count,
                 (unsigned long long)wanted);
  if (status != TALUS_OK)
    status = tl_world_take_back(world, before, status);
  if (status == TALUS_OK && placed)
    *placed = places.count;
  tl_array_free(&places);
  return status;
}

talus_status talus_world_add_emitter(talus_world *world, const talus_emitter_def *def) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  TL_TRY(tl_flow_add_emitter(&world->flow, &world->model, def));
  const talus_status status =
      tl_emitter_check_inlet(&world->model, &world->state, def, def->name ? def->name : "emitter");
  if (status != TALUS_OK)
    tl_flow_drop_emitter(&world->flow);
  return status;
}

talus_status talus_world_add_sink(talus_world *world, const char *name,
                                  const talus_region *region) {
  TL_MAY_CHANGE(world);
  TL_NEED(region);
  return tl_flow_add_sink(&world->flow, name, region);
}

talus_status talus_world_recycle(talus_world *world, const char *sink, const char *emitter) {
  TL_MAY_CHANGE(world);
  return tl_flow_recycle(&world->flow, sink, emitter);
}

talus_status talus_world_add_probe(talus_world *world, const talus_probe_def *def,
                                   uint32_t *probe) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  uint64_t uid = 0;
  if (def->on_body) {
    uint32_t slot;
    TL_TRY(tl_world_slot(world, def->body, &slot));
    TL_TRY(tl_need(&world->where, TL_THE(uid), TL_READ));
    uid = world->model.property.uid[slot];
  }
  if (def->on_joint) {
    uid = def->joint.uid;
    if (tl_joints_row(&world->joints, uid) == SIZE_MAX)
      return tl_fail(TALUS_ERROR_STALE, "a probe watches a joint that is not there");
  }
  return tl_flow_add_probe(&world->flow, def, uid, talus_world_time(world), probe);
}

talus_status talus_probe_read(talus_world *world, uint32_t probe, talus_probe_values *values) {
  TL_MAY_CHANGE(world);
  TL_NEED(values);
  if (probe >= world->flow.probes.count)
    return tl_fail(TALUS_ERROR_INVALID, "there is no probe number %u", probe);
  tl_probe_finish(&world->flow.probes.data[probe], talus_world_time(world), values);
  return TALUS_OK;
}
