/* Gradient methods: all rows step at once from the same velocities, then velocities follow by a
 * gather.
 *
 *   jacobi  Tasora, Negrut, Anitescu 2011, eqs. 12-14, with one scalar step per contact. As
 *           printed (omega = 1) it diverges on ordinary packings (docs/sources.md C7): a guard
 *           watches the residual, goes back to the best impulses and halves the step.
 *   apgd    Nesterov's accelerated projected gradient with adaptive restart (Mazhar et al. 2015;
 *           docs/sources.md C4), in the metric E of the contacts, so that bodies of very
 *           different mass do no harm.
 *   bb      spectral projected gradient: the step of Barzilai and Borwein 1988, then an exact
 *           search along the feasible direction, because the objective is quadratic.
 *
 * With Coulomb friction (`ncp`) its law replaces the projection in every step, as in sweeps. The
 * fixed points are those of De Saxce's lift mu |u_t| as an outer loop (docs/sources.md C3), but
 * that loop reduces errors so slowly (kernels/ccp_visit.h) that bodies sank from mu = 2 on. There
 * is no objective then that a step could lower: the residual guards the iterations, and an
 * iteration that diverges goes back to its best impulses.
 *
 * The result is the impulses with the smallest residual. */
#include "solve/ccp/gradient.h"

#include <math.h>

#define CHECK_EVERY 10 /* iterations between looks at the residual */
/* smallest factor on a step if Coulomb's law leaves no function to search along */
#define SHORTEST 0.1

typedef struct gradient {
  tl_ccp_part *part;
  tl_ccp_reduction reduction;
  /* velocities of the impulses with the same name */
  tl_ccp_body *free_bodies, *now_bodies, *next_bodies;
  /* free_bodies plus the effect of links; or NULL */
  tl_ccp_body *pushed_bodies;
  tl_ccp_body *extrapolated_bodies; /* apgd: velocities of `extrapolated` */
  tl_ccp_field *now, *next, *extrapolated, *best;
  double best_rms, best_max;
  tl_effort effort;
  int done;
} gradient;

/* Number of entries of a field: impulses by pack, then torques if rows pass them on, then impulses
 * of links. */
static size_t field_count(const gradient *g) {
  return g->part->link_at + tl_ccp_link_lanes(g->part);
}
static size_t field_bytes(const gradient *g) { return field_count(g) * sizeof *g->now; }
static size_t body_bytes(const gradient *g) {
  return (g->part->rows.body_count + 1) * sizeof *g->now_bodies;
}

static talus_status take_bodies(gradient *g, tl_ccp_body **bodies) {
  TL_TAKE(g->part->system->crowd->arena, g->part->rows.body_count + 1, bodies);
  memcpy(*bodies, g->part->rows.bodies, body_bytes(g));
  return TALUS_OK;
}

/* Writes the velocities of the impulses p. If q is given, with its velocities in `from`, returns (p
 * - q).N (p - q). */
static double spread(gradient *g, const tl_ccp_field *p, const tl_ccp_field *q,
                     const tl_ccp_body *from, tl_ccp_body *out) {
  const tl_ccp_part *part = g->part;
  tl_ccp_body *start = g->free_bodies;
  tl_tally norm;
  if (part->links.count > 0) {
    start = g->pushed_bodies;
    memcpy(start, g->free_bodies, body_bytes(g));
    tl_ccp_push_links(&part->links, tl_ccp_link_read(part, p), start);
  }
  tl_ccp_spread(part, &g->reduction, start, p, q ? from : NULL, out, &norm);
  if (!q)
    return 0;
  if (part->links.count > 0)
    tl_ccp_soften_links(&part->links, tl_ccp_link_read(part, p), tl_ccp_link_read(part, q), &norm);
  return tl_tally_value(&norm);
}

/* The residual of `now`; now_bodies must hold its velocities. */
static double measure(gradient *g, double *most) {
  const tl_ccp_part *part = g->part;
  *most = 0;
  tl_tally sum;
  tl_tally_clear(&sum);
  if (part->rows.count > 0)
    tl_ccp_measure(part, g->now_bodies, g->now, &sum, most);
  tl_ccp_residual_links(&part->links, g->now_bodies, tl_ccp_link_read(part, g->now), &sum, most);
  return sqrt(tl_tally_value(&sum) / tl_ccp_rows_of(&part->rows, &part->links));
}

/* Sum of p.(u + b) over the rows, with p the impulses in the packs and u from `bodies`. */
static double slope_at(const gradient *g, tl_ccp_body *bodies) {
  tl_ccp_rows at = g->part->rows;
  tl_tally sum;
  at.bodies = bodies;
  tl_tally_clear(&sum);
  tl_ccp_tally_work(&at, 0, at.pack_count, &sum);
  return tl_tally_value(&sum);
}

/* Does the same as `start` of solve/ccp/seidel.c: if all impulses of the last step would raise the
 * objective, they are multiplied by the share that lowers it most. */
static void start(gradient *g) {
  tl_ccp_part *part = g->part;
  if (!part->system->settings->warm_start || part->links.count > 0 || part->rows.count == 0)
    return;
  const double slope = slope_at(g, g->free_bodies);
  const double q = 0.5 * (slope + slope_at(g, g->now_bodies));
  if (!(q > 0))
    return;
  const talus_real share = tl_warm_share(q, slope);
  for (size_t k = 0; k < part->rows.pack_count; ++k) {
    tl_ccp_scale_pack(&part->rows, k, share);
    g->now[k] = g->best[k] = part->rows.packs[k].impulse;
    if (part->rows.rolls)
      g->now[part->rows.pack_count + k] = g->best[part->rows.pack_count + k] =
          part->rows.rolls[k].torque;
  }
  spread(g, g->now, NULL, NULL, g->now_bodies);
}

static talus_status prepare(gradient *g) {
  tl_ccp_part *part = g->part;
  part->link_at = part->rows.rolls ? 2 * part->rows.pack_count : part->rows.pack_count;
  tl_arena *arena = part->system->crowd->arena;
  TL_TAKE(arena, 3 * part->block_count, &part->block_sum);
  TL_TAKE(arena, part->block_count, &part->block_max);
  TL_TRY(tl_ccp_make_reduction(part, &g->reduction));
  TL_TRY(take_bodies(g, &g->free_bodies));
  TL_TRY(take_bodies(g, &g->now_bodies));
  TL_TRY(take_bodies(g, &g->next_bodies));
  TL_TAKE(arena, field_count(g), &g->now);
  TL_TAKE(arena, field_count(g), &g->next);
  TL_TAKE(arena, field_count(g), &g->best);
  if (part->system->settings->method == TALUS_APGD) {
    TL_TRY(take_bodies(g, &g->extrapolated_bodies));
    TL_TAKE(arena, field_count(g), &g->extrapolated);
  }
  for (size_t k = 0; k < part->rows.pack_count; ++k)
    g->now[k] = g->best[k] = part->rows.packs[k].impulse;
  for (size_t k = 0; part->rows.rolls && k < part->rows.pack_count; ++k)
    g->now[part->rows.pack_count + k] = g->best[part->rows.pack_count + k] =
        part->rows.rolls[k].torque;
  if (part->links.count > 0) {
    TL_TRY(take_bodies(g, &g->pushed_bodies));
    memset(g->now + part->link_at, 0, tl_ccp_link_lanes(part) * sizeof *g->now);
    for (size_t i = 0; i < part->links.count; ++i)
      for (int r = 0; r < tl_link_rows(&part->links.data[i]); ++r)
        tl_ccp_link_field(part, g->now)[i * TL_JOINT_ROWS + (size_t)r] =
            part->links.data[i].row[r].impulse;
    memcpy(g->best, g->now, field_bytes(g));
    memcpy(g->next, g->now, field_bytes(g));
  }
  spread(g, g->now, NULL, NULL, g->now_bodies);
  start(g);
  g->best_rms = INFINITY;
  g->effort =
      tl_effort_of(part->system, part->rows.count + part->links.rows, part->links.count > 0);
  return TALUS_OK;
}

/* Measures `now` and keeps a copy if it is the best so far. */
static double look(gradient *g) {
  tl_ccp_part *part = g->part;
  double most;
  /* Mixed velocities drift from their impulses by rounding: compute them again. */
  spread(g, g->now, NULL, NULL, g->now_bodies);
  if (part->links.count > 0)
    tl_links_aim(&part->links, &part->par, g->now_bodies);
  const double rms = measure(g, &most);
  if (rms < g->best_rms) {
    g->best_rms = rms;
    g->best_max = most;
    memcpy(g->best, g->now, field_bytes(g));
  }
  return rms;
}

/* True if the residual just measured is good enough. */
static bool good_enough(gradient *g, double rms) {
  if (g->done >= g->effort.usual)
    tl_effort_find_impact(&g->effort, g->part->system, g->now_bodies, g->part->rows.contact,
                          g->part->rows.count);
  return g->effort.tolerance > 0 && tl_effort_is_enough(&g->effort, g->done, rms);
}

/* True if the iteration can diverge: with Coulomb's law. With an objective, the residual may rise
 * in between. */
static bool may_run_away(const gradient *g) {
  return g->part->rows.ncp > 0 && g->part->rows.count > 0;
}

/* If the iteration diverged, goes back to the best impulses and returns true. */
static bool went_back(gradient *g, double rms) {
  if (rms <= 4 * g->best_rms)
    return false;
  memcpy(g->now, g->best, field_bytes(g));
  spread(g, g->now, NULL, NULL, g->now_bodies);
  return true;
}

static void swap_next(gradient *g) {
  tl_ccp_field *field = g->now;
  tl_ccp_body *bodies = g->now_bodies;
  g->now = g->next, g->next = field;
  g->now_bodies = g->next_bodies, g->next_bodies = bodies;
}

/* Mixes a + s (b - a), for impulses or for velocities of bodies. */
typedef struct mix_job {
  const void *a, *b;
  void *out;
  talus_real s;
} mix_job;

static void mix_field_range(void *context, size_t begin, size_t end) {
  const mix_job *job = context;
  const tl_ccp_field *a = job->a, *b = job->b;
  tl_ccp_field *out = job->out;
  for (size_t k = begin; k < end; ++k)
    for (int i = 0; i < TL_CCP_LANES; ++i) {
      out[k].x[i] = a[k].x[i] + job->s * (b[k].x[i] - a[k].x[i]);
      out[k].y[i] = a[k].y[i] + job->s * (b[k].y[i] - a[k].y[i]);
      out[k].z[i] = a[k].z[i] + job->s * (b[k].z[i] - a[k].z[i]);
    }
}

static void mix_body_range(void *context, size_t begin, size_t end) {
  const mix_job *job = context;
  const tl_ccp_body *a = job->a, *b = job->b;
  tl_ccp_body *out = job->out;
  for (size_t i = begin; i < end; ++i) {
    out[i].v = tl_madd(a[i].v, job->s, tl_sub(b[i].v, a[i].v));
    out[i].w = tl_madd(a[i].w, job->s, tl_sub(b[i].w, a[i].w));
  }
}

static void mix_fields(gradient *g, const tl_ccp_field *a, talus_real s, const tl_ccp_field *b,
                       tl_ccp_field *out) {
  mix_job job = {a, b, out, s};
  tl_for(&g->part->par, field_count(g), 512, mix_field_range, &job);
}

static void mix_bodies(gradient *g, const tl_ccp_body *a, talus_real s, const tl_ccp_body *b,
                       tl_ccp_body *out) {
  mix_job job = {a, b, out, s};
  tl_for(&g->part->par, g->part->rows.body_count, 2048, mix_body_range, &job);
}

/* A step of all rows from impulses `from` with velocities `bodies` to `next`. */
static tl_ccp_sums step(gradient *g, tl_ccp_body *bodies, talus_real scale, bool scalar,
                        const tl_ccp_field *from, const tl_ccp_field *mark) {
  const tl_ccp_step_def def = {bodies, scale, scalar, from, mark, g->next};
  const tl_ccp_part *part = g->part;
  tl_tally sums[TL_CCP_SUMS];
  tl_ccp_step_all(part, &def, sums);
  if (part->links.count > 0)
    tl_ccp_step_links(&part->links, bodies, (double)scale, tl_ccp_link_read(part, from),
                      mark ? tl_ccp_link_read(part, mark) : NULL, tl_ccp_link_field(part, g->next),
                      sums);
  return (tl_ccp_sums){.length2 = tl_tally_value(&sums[TL_CCP_LENGTH2]),
                       .slope = tl_tally_value(&sums[TL_CCP_SLOPE]),
                       .restart = mark ? tl_tally_value(&sums[TL_CCP_RESTART]) : 0};
}

/* ---- the three iterations -------------------------------------------------------------------- */

static void iterate_jacobi(gradient *g) {
  tl_ccp_part *part = g->part;
  const talus_solve_def *settings = part->system->settings;
  talus_real omega = (talus_real)settings->omega;
  const talus_real lambda = (talus_real)settings->lambda;
  bool is_done = good_enough(g, look(g));
  while (g->done < g->effort.most && !is_done && !tl_cancel_look(part->system->crowd->cancel)) {
    step(g, g->now_bodies, omega, true, g->now, NULL);
    mix_fields(g, g->now, lambda, g->next, g->next);
    spread(g, g->next, NULL, NULL, g->next_bodies);
    swap_next(g);
    g->done++;
    if (g->done % CHECK_EVERY != 0 && g->done < g->effort.most)
      continue;
    const double rms = look(g);
    is_done = good_enough(g, rms);
    if (went_back(g, rms)) {
      omega *= (talus_real)0.5;
      part->report->restarts++;
    }
  }
}

static void iterate_apgd(gradient *g) {
  tl_ccp_part *part = g->part;
  double theta = 1, inverse_step = 2;
  bool momentum = false, is_done = good_enough(g, look(g));
  memcpy(g->extrapolated, g->now, field_bytes(g));
  memcpy(g->extrapolated_bodies, g->now_bodies, body_bytes(g));
  while (g->done < g->effort.most && !is_done && !tl_cancel_look(part->system->crowd->cancel)) {
    tl_ccp_sums sums;
    for (;;) {
      sums = step(g, g->extrapolated_bodies, (talus_real)(1 / inverse_step), false, g->extrapolated,
                  g->now);
      const double curvature =
          spread(g, g->next, g->extrapolated, g->extrapolated_bodies, g->next_bodies);
      g->done++;
      const bool short_enough = curvature <= inverse_step * sums.length2 * (1 + 1e-6);
      if (short_enough && !momentum &&
          !(part->rows.ncp > 0)) /* exact, because the objective is quadratic */
        part->report->rise = fmax(part->report->rise, sums.slope + 0.5 * curvature);
      if (short_enough || g->done >= g->effort.most || inverse_step > 1e6)
        break;
      inverse_step *= 2;
    }
    const double next_theta = 0.5 * (-theta * theta + theta * sqrt(theta * theta + 4));
    const double beta = theta * (1 - theta) / (theta * theta + next_theta);
    const bool restart = sums.restart > 0;
    theta = restart ? 1 : next_theta;
    momentum = !restart;
    /* extrapolated = next + beta (next - now): a mix of now and next with share 1 + beta. */
    const talus_real reach = (talus_real)(restart ? 1 : 1 + beta);
    mix_fields(g, g->now, reach, g->next, g->extrapolated);
    mix_bodies(g, g->now_bodies, reach, g->next_bodies, g->extrapolated_bodies);
    swap_next(g);
    inverse_step *= 0.9;
    if (g->done % CHECK_EVERY < 2 || g->done >= g->effort.most) {
      const double rms = look(g);
      is_done = good_enough(g, rms);
      /* Aiming the links changes the problem, so momentum restarts. */
      if ((may_run_away(g) && went_back(g, rms)) || part->links.count > 0) {
        theta = 1;
        momentum = false;
        memcpy(g->extrapolated, g->now, field_bytes(g));
        memcpy(g->extrapolated_bodies, g->now_bodies, body_bytes(g));
      }
    }
  }
}

static void iterate_bb(gradient *g) {
  const tl_ccp_part *part = g->part;
  const double uphill = part->rows.ncp > 0 ? SHORTEST : 0;
  double length = 0.5;
  bool is_done = good_enough(g, look(g));
  while (g->done < g->effort.most && !is_done && !tl_cancel_look(part->system->crowd->cancel)) {
    const tl_ccp_sums sums = step(g, g->now_bodies, (talus_real)length, false, g->now, NULL);
    const double curvature = spread(g, g->next, g->now, g->now_bodies, g->next_bodies);
    g->done++;
    if (curvature > 0) {
      /* f(now + s d) = f + s slope + s^2 curvature / 2, exactly; both ends are feasible, and so is
       * every point between. At the solution slope and curvature are rounding errors with an
       * arbitrary ratio. With Coulomb's law no function falls, and a step of 0 would end the
       * iteration. */
      const double best = -sums.slope / curvature;
      const double search = best > 0 ? fmin(1, best) : uphill;
      if (search < 1) {
        mix_fields(g, g->now, (talus_real)search, g->next, g->next);
        mix_bodies(g, g->now_bodies, (talus_real)search, g->next_bodies, g->next_bodies);
      }
      length = fmin(fmax(sums.length2 / curvature, 0.02), 1e4);
    }
    swap_next(g);
    if (g->done % CHECK_EVERY == 0 || g->done >= g->effort.most) {
      const double rms = look(g);
      is_done = good_enough(g, rms);
      if (may_run_away(g) && went_back(g, rms))
        length = 0.5;
    }
  }
}

talus_status tl_ccp_gradient(tl_ccp_part *part) {
  gradient g = {.part = part};
  TL_TRY(prepare(&g));
  TL_GO_ON(part->system->crowd->cancel);
  switch (part->system->settings->method) {
  case TALUS_JACOBI:
    iterate_jacobi(&g);
    break;
  case TALUS_BB:
    iterate_bb(&g);
    break;
  default:
    iterate_apgd(&g);
  }
  /* Takes the best impulses and computes their velocities. */
  for (size_t i = 0; i < part->links.count; ++i)
    for (int r = 0; r < tl_link_rows(&part->links.data[i]); ++r)
      part->links.data[i].row[r].impulse =
          tl_ccp_link_read(part, g.best)[i * TL_JOINT_ROWS + (size_t)r];
  for (size_t k = 0; k < part->rows.pack_count; ++k)
    part->rows.packs[k].impulse = g.best[k];
  for (size_t k = 0; part->rows.rolls && k < part->rows.pack_count; ++k)
    part->rows.rolls[k].torque = g.best[part->rows.pack_count + k];
  spread(&g, g.best, NULL, NULL, part->rows.bodies);
  part->report->iterations = g.done;
  part->report->residual_rms = g.best_rms;
  part->report->residual_max = g.best_max;
  return TALUS_OK;
}
