/* Gradient methods in the memory of the host: what the iterations (iteration.c) ask for. */
#include "solve/ccp/gradient.h"

#include <math.h>

typedef struct gradient {
  tl_ccp_part *part;
  tl_ccp_reduction reduction;
  /* of each guess: impulses, and their velocities */
  tl_ccp_field *field[TL_GUESSES];
  tl_ccp_body *bodies[TL_GUESSES];
  tl_ccp_body *free_bodies;
  /* free_bodies plus the effect of links; or NULL */
  tl_ccp_body *pushed_bodies;
} gradient;

/* Number of entries of a field: impulses by pack, then torques if rows pass them on, then impulses
 * of links. */
static size_t field_count(const gradient *g) {
  return g->part->link_at + tl_ccp_link_lanes(g->part);
}
static size_t field_bytes(const gradient *g) { return field_count(g) * sizeof *g->field[0]; }
static size_t body_bytes(const gradient *g) {
  return (g->part->rows.body_count + 1) * sizeof *g->free_bodies;
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

static talus_status spread_guess(void *context, tl_ccp_guess of, tl_ccp_guess from, double *norm) {
  gradient *g = context;
  if (from == TL_GUESS_NONE)
    spread(g, g->field[of], NULL, NULL, g->bodies[of]);
  else
    *norm = spread(g, g->field[of], g->field[from], g->bodies[from], g->bodies[of]);
  return TALUS_OK;
}

/* The residual of `now`, whose velocities must be known. */
static talus_status measure(void *context, double *rms, double *most) {
  gradient *g = context;
  tl_ccp_part *part = g->part;
  const tl_ccp_field *now = g->field[TL_GUESS_NOW];
  tl_ccp_body *bodies = g->bodies[TL_GUESS_NOW];
  if (part->links.count > 0)
    tl_links_aim(&part->links, &part->par, bodies);
  *most = 0;
  tl_tally sum;
  tl_tally_clear(&sum);
  if (part->rows.count > 0)
    tl_ccp_measure(part, bodies, now, &sum, most);
  tl_ccp_residual_links(&part->links, bodies, tl_ccp_link_read(part, now), &sum, most);
  *rms = sqrt(tl_tally_value(&sum) / tl_ccp_rows_of(&part->rows, &part->links));
  return TALUS_OK;
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
  tl_ccp_field *now = g->field[TL_GUESS_NOW], *best = g->field[TL_GUESS_BEST];
  const double slope = slope_at(g, g->free_bodies);
  const double q = 0.5 * (slope + slope_at(g, g->bodies[TL_GUESS_NOW]));
  if (!(q > 0))
    return;
  const talus_real share = tl_warm_share(q, slope);
  for (size_t k = 0; k < part->rows.pack_count; ++k) {
    tl_ccp_scale_pack(&part->rows, k, share);
    now[k] = best[k] = part->rows.packs[k].impulse;
    if (part->rows.rolls)
      now[part->rows.pack_count + k] = best[part->rows.pack_count + k] = part->rows.rolls[k].torque;
  }
  spread(g, now, NULL, NULL, g->bodies[TL_GUESS_NOW]);
}

static talus_status prepare(gradient *g) {
  tl_ccp_part *part = g->part;
  part->link_at = part->rows.rolls ? 2 * part->rows.pack_count : part->rows.pack_count;
  tl_arena *arena = part->system->crowd->arena;
  TL_TAKE(arena, 3 * part->block_count, &part->block_sum);
  TL_TAKE(arena, part->block_count, &part->block_max);
  TL_TRY(tl_ccp_make_reduction(part, &g->reduction));
  TL_TRY(take_bodies(g, &g->free_bodies));
  const bool is_apgd = part->system->settings->method == TALUS_APGD;
  for (int k = 0; k < TL_GUESSES; ++k) {
    if (k == TL_GUESS_EXTRAPOLATED && !is_apgd)
      continue;
    TL_TAKE(arena, field_count(g), &g->field[k]);
    if (k != TL_GUESS_BEST)
      TL_TRY(take_bodies(g, &g->bodies[k]));
  }
  tl_ccp_field *now = g->field[TL_GUESS_NOW], *best = g->field[TL_GUESS_BEST];
  for (size_t k = 0; k < part->rows.pack_count; ++k)
    now[k] = best[k] = part->rows.packs[k].impulse;
  for (size_t k = 0; part->rows.rolls && k < part->rows.pack_count; ++k)
    now[part->rows.pack_count + k] = best[part->rows.pack_count + k] = part->rows.rolls[k].torque;
  if (part->links.count > 0) {
    TL_TRY(take_bodies(g, &g->pushed_bodies));
    memset(now + part->link_at, 0, tl_ccp_link_lanes(part) * sizeof *now);
    for (size_t i = 0; i < part->links.count; ++i)
      for (int r = 0; r < tl_link_rows(&part->links.data[i]); ++r)
        tl_ccp_link_field(part, now)[i * TL_JOINT_ROWS + (size_t)r] =
            part->links.data[i].row[r].impulse;
    memcpy(best, now, field_bytes(g));
    memcpy(g->field[TL_GUESS_NEXT], now, field_bytes(g));
  }
  spread(g, now, NULL, NULL, g->bodies[TL_GUESS_NOW]);
  start(g);
  return TALUS_OK;
}

static talus_status copy_guess(void *context, tl_ccp_guess to, tl_ccp_guess from,
                               bool with_bodies) {
  gradient *g = context;
  memcpy(g->field[to], g->field[from], field_bytes(g));
  if (with_bodies)
    memcpy(g->bodies[to], g->bodies[from], body_bytes(g));
  return TALUS_OK;
}

static void swap_next(void *context) {
  gradient *g = context;
  tl_ccp_field *field = g->field[TL_GUESS_NOW];
  tl_ccp_body *bodies = g->bodies[TL_GUESS_NOW];
  g->field[TL_GUESS_NOW] = g->field[TL_GUESS_NEXT], g->field[TL_GUESS_NEXT] = field;
  g->bodies[TL_GUESS_NOW] = g->bodies[TL_GUESS_NEXT], g->bodies[TL_GUESS_NEXT] = bodies;
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

static talus_status mix_guesses(void *context, tl_ccp_guess a, talus_real s, tl_ccp_guess b,
                                tl_ccp_guess out, bool with_bodies) {
  gradient *g = context;
  const tl_par *par = &g->part->par;
  mix_job fields = {g->field[a], g->field[b], g->field[out], s};
  tl_for(par, field_count(g), 512, mix_field_range, &fields);
  mix_job bodies = {g->bodies[a], g->bodies[b], g->bodies[out], s};
  if (with_bodies)
    tl_for(par, g->part->rows.body_count, 2048, mix_body_range, &bodies);
  return TALUS_OK;
}

static talus_status step(void *context, tl_ccp_guess from, tl_ccp_guess mark, talus_real scale,
                         bool scalar, tl_ccp_sums *out) {
  gradient *g = context;
  const tl_ccp_part *part = g->part;
  tl_ccp_field *next = g->field[TL_GUESS_NEXT];
  const tl_ccp_field *marked = mark == TL_GUESS_NONE ? NULL : g->field[mark];
  const tl_ccp_step_def def = {g->bodies[from], scale, scalar, g->field[from], marked, next};
  tl_tally sums[TL_CCP_SUMS];
  tl_ccp_step_all(part, &def, sums);
  if (part->links.count > 0)
    tl_ccp_step_links(&part->links, def.bodies, (double)scale, tl_ccp_link_read(part, def.from),
                      marked ? tl_ccp_link_read(part, marked) : NULL, tl_ccp_link_field(part, next),
                      sums);
  if (!scalar)
    *out = (tl_ccp_sums){.length2 = tl_tally_value(&sums[TL_CCP_LENGTH2]),
                         .slope = tl_tally_value(&sums[TL_CCP_SLOPE]),
                         .restart = marked ? tl_tally_value(&sums[TL_CCP_RESTART]) : 0};
  return TALUS_OK;
}

/* Bodies of a part have numbers of their own; who asks for an impact has those of the system. */
static talus_status reconsider(void *context, tl_effort *effort) {
  const gradient *g = context;
  const tl_ccp_rows *rows = &g->part->rows;
  const tl_system *system = g->part->system;
  const tl_ccp_body *now = g->bodies[TL_GUESS_NOW];
  tl_arena *arena = system->crowd->arena;
  tl_ccp_body *all;
  if (effort->enough_struck >= effort->enough)
    return TALUS_OK;
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, system->crowd->count + 1, &all);
  size_t row = 0;
  for (size_t k = 0; k < rows->pack_count; ++k)
    for (int i = 0; i < TL_CCP_LANES; ++i) {
      const tl_ccp_pack *pack = &rows->packs[k];
      if (pack->a[i] == rows->body_count)
        continue;
      const tl_contact *c = &system->contacts->data[rows->contact[row++]];
      all[tl_system_body(system, c->a)] = now[pack->a[i]];
      all[tl_system_body(system, c->b)] = now[pack->b[i]];
    }
  tl_effort_find_impact(effort, system, all, rows->contact, rows->count);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Takes the best impulses and computes their velocities. */
static void take_best(gradient *g) {
  tl_ccp_part *part = g->part;
  const tl_ccp_field *best = g->field[TL_GUESS_BEST];
  for (size_t i = 0; i < part->links.count; ++i)
    for (int r = 0; r < tl_link_rows(&part->links.data[i]); ++r)
      part->links.data[i].row[r].impulse =
          tl_ccp_link_read(part, best)[i * TL_JOINT_ROWS + (size_t)r];
  for (size_t k = 0; k < part->rows.pack_count; ++k)
    part->rows.packs[k].impulse = best[k];
  for (size_t k = 0; part->rows.rolls && k < part->rows.pack_count; ++k)
    part->rows.rolls[k].torque = best[part->rows.pack_count + k];
  spread(g, best, NULL, NULL, part->rows.bodies);
}

talus_status tl_ccp_gradient(tl_ccp_part *part) {
  static const tl_ccp_iteration_calls calls = {.spread = spread_guess,
                                               .step = step,
                                               .mix = mix_guesses,
                                               .copy = copy_guess,
                                               .swap = swap_next,
                                               .measure = measure,
                                               .reconsider = reconsider};
  gradient g = {.part = part};
  TL_TRY(prepare(&g));
  TL_GO_ON(part->system->crowd->cancel);
  tl_ccp_iteration iteration = {
      .calls = &calls,
      .context = &g,
      .settings = part->system->settings,
      .report = part->report,
      .cancel = part->system->crowd->cancel,
      .effort =
          tl_effort_of(part->system, part->rows.count + part->links.rows, part->links.count > 0),
      .has_coulomb = part->rows.ncp > 0 && part->rows.count > 0,
      .is_ncp = part->rows.ncp > 0,
      .always_begins = part->links.count > 0};
  TL_TRY(tl_ccp_iterate(&iteration));
  take_best(&g);
  part->report->iterations = iteration.done;
  part->report->residual_rms = iteration.best_rms;
  part->report->residual_max = iteration.best_max;
  return TALUS_OK;
}
