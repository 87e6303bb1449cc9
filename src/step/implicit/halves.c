/* A step that does not converge is divided into two halves, which may be divided again: with
 * Newton's method, and with Picard's if its damping is automatic.
 *
 * A hard impact in a long step may have no solution: contacts turn, or jump between faces, on the
 * way. This happens less in shorter steps, and never below the critical one. Each try that failed
 * counts as a step that did not converge; the first is reported. */
#include "crowd/residency.h"
#include "step/implicit/implicit.h"

typedef struct halves {
  const tl_backend *backend;
  const tl_crowd *crowd;
  int depth;
} halves;

static talus_status take_state(const tl_crowd *crowd, tl_state *state) {
  const size_t n = crowd->model->bodies;
  tl_arena *arena = crowd->arena;
  *state = *crowd->out;
  TL_TAKE(arena, n, &state->position);
  TL_TAKE(arena, n, &state->rotation);
  TL_TAKE(arena, n, &state->velocity);
  TL_TAKE(arena, n, &state->spin);
  TL_TAKE(arena, n, &state->spring_force);
  TL_TAKE(arena, n, &state->spring_torque);
  return TALUS_OK;
}

static void add_up(tl_step_report *sum, const tl_step_report *second) {
  const tl_step_report first = *sum;
  tl_solve_report *solve = &sum->solve;
  *sum = *second;
  sum->wall_broad += first.wall_broad;
  sum->wall_narrow += first.wall_narrow;
  sum->wall_solve += first.wall_solve;
  sum->wall_step += first.wall_step;
  solve->contact_work += first.solve.contact_work;
  solve->load_work += first.solve.load_work;
  solve->damping_work += first.solve.damping_work;
  solve->friction_work += first.solve.friction_work;
  solve->step_loss += first.solve.step_loss;
  if (first.solve.inner > solve->inner)
    solve->iterations = solve->inner = first.solve.inner;
  if (first.solve.force_change > solve->force_change)
    solve->force_change = first.solve.force_change;
}

/* Impulses of the last part become those of the whole step: forces at its end times its length. */
static void lengthen(const tl_crowd *crowd) {
  tl_contacts *contacts = crowd->contacts_after;
  const talus_real ratio = tl_step_ratio(contacts->dt, crowd->dt);
  if (contacts->dt == crowd->dt)
    return;
  for (size_t i = 0; i < contacts->count; ++i)
    contacts->data[i].impulse = tl_scale(contacts->data[i].impulse, ratio);
  for (size_t i = 0; i < contacts->law_states.count; ++i)
    contacts->law_states.data[i].torque = tl_scale(contacts->law_states.data[i].torque, ratio);
  contacts->dt = crowd->dt;
}

static talus_status step(const halves *job, tl_step_report *report);

static talus_status step_in_halves(const halves *job, tl_step_report *report) {
  const tl_crowd *crowd = job->crowd;
  tl_state middle;
  tl_step_report last;
  TL_TRY(take_state(crowd, &middle));
  const double dt = 0.5 * crowd->dt, when = crowd->t0 + 0.5 * (crowd->t1 - crowd->t0);
  tl_crowd half = *crowd;
  half.dt = dt, half.t1 = when;
  half.out = &middle;
  half.contacts_after = &crowd->penalty->between[job->depth];
  const halves part = {job->backend, &half, job->depth + 1};
  TL_TRY(step(&part, report));
  half.t0 = when, half.t1 = crowd->t1;
  half.in = &middle, half.out = crowd->out;
  half.contacts_before = &crowd->penalty->between[job->depth];
  half.contacts_after = crowd->contacts_after;
  const talus_status status = step(&part, &last);
  const int tries = report->solve.unconverged + last.solve.unconverged;
  const uint32_t worst = report->solve.unconverged > 0 ? report->solve.worst : last.solve.worst;
  add_up(report, &last);
  report->solve.unconverged = tries, report->solve.worst = worst;
  if (status == TALUS_OK)
    lengthen(crowd);
  return status;
}

static bool may_halve(const talus_implicit_def *def) {
  return def->method == TALUS_IMPLICIT_NEWTON ||
         (def->method != TALUS_IMPLICIT_EULER && def->damping < 0);
}

static talus_status step(const halves *job, tl_step_report *report) {
  const tl_crowd *crowd = job->crowd;
  tl_penalty *p = crowd->penalty;
  const tl_penalty at_begin = *p;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  bool is_stuck;
  const talus_status status = tl_implicit_step(job->backend, crowd, report, &is_stuck);
  tl_arena_release(crowd->arena, mark);
  if (status == TALUS_OK || !is_stuck || job->depth == TL_PENALTY_HALVES ||
      !may_halve(&crowd->model->implicit))
    return status;
  const tl_step_report tried = *report;
  const talus_status end = step_in_halves(job, report);
  tl_arena_release(crowd->arena, mark);
  report->wall_broad += tried.wall_broad, report->wall_narrow += tried.wall_narrow;
  report->wall_solve += tried.wall_solve, report->wall_step += tried.wall_step;
  report->solve.unconverged++;
  report->solve.worst = tried.culprit;
  if (end != TALUS_OK) { /* a step that fails leaves its start unchanged */
    p->pressed = at_begin.pressed, p->stored = at_begin.stored;
    p->damping = at_begin.damping, p->friction = at_begin.friction;
    p->is_pushed = at_begin.is_pushed;
  }
  return end;
}

talus_status tl_step_implicit(const tl_backend *backend, const tl_crowd *crowd,
                              tl_step_report *report) {
  *report = (tl_step_report){.culprit = TL_NONE, .partner = TL_NONE};
  if (crowd->joints)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "solve: {kind: penalty} has no joints; use solve: {kind: ccp}");
  if (crowd->where)
    TL_TRY(tl_need(crowd->where, TL_THE_WHOLE, TL_READ | TL_WRITE | TL_OR_NONE));
  TL_TRY(tl_penalty_prepare(crowd));
  const halves whole = {backend, crowd, 0};
  return step(&whole, report);
}
