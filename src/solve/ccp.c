/* Cone complementarity by projected Gauss-Seidel (Tasora and Anitescu 2011; SOURCES C1-C3).
 *
 *   bodies   velocities at t0 plus gravity and loads over the step: the "free" velocity
 *   rows     one per contact, in the order they are solved: by colour, then canonical
 *   sweeps   each row is visited in turn; bodies carry the effect of every impulse so far
 *   residual after the last sweep, of the velocities that are handed over, honest and in m/s
 *
 * Rows of one colour share no movable body, so threads may take any of them: the bits are the same
 * for any number of threads. Sums run over fixed blocks of rows, added in block order. */
#include "solve/ccp.h"

#include <math.h>
#include <stddef.h>

/* Fewer rows than this are not worth the barriers between colours. */
#define TEAM_ROWS 4096

typedef enum visit { WARM, SWEEP } visit;

/* All colours in order; each worker takes its share of the blocks of a colour. */
static void visit_colours(const tl_ccp *job, tl_team *team, int worker, int workers, visit what,
                          double *sums) {
  for (int k = 0; k < job->colours.count; ++k) {
    const bool serial = job->colours.last_is_serial && k == job->colours.count - 1;
    const size_t first = job->colour_block[k], n = job->colour_block[k + 1] - first;
    const size_t begin = first + n * (size_t)worker / (size_t)workers;
    const size_t end = first + n * (size_t)(worker + 1) / (size_t)workers;
    for (size_t block = begin; block < end; ++block) {
      if (what == WARM)
        tl_ccp_warm_packs(job, job->block_pack[block], job->block_pack[block + 1]);
      else
        sums[block] =
            tl_ccp_sweep_packs(job, job->block_pack[block], job->block_pack[block + 1], serial);
    }
    tl_team_barrier(team);
  }
}

static double rms_of(const tl_ccp *job, const double *sums) {
  double sum = 0;
  for (size_t i = 0; i < job->block_count; ++i)
    sum += sums[i];
  return sqrt(sum / (double)job->row_count);
}

/* The residual of the velocities as they stand; every worker gets the same RMS. */
static double measure(const tl_ccp *job, tl_team *team, int worker, int workers) {
  const size_t blocks = job->block_count;
  const size_t end = blocks * (size_t)(worker + 1) / (size_t)workers;
  for (size_t block = blocks * (size_t)worker / (size_t)workers; block < end; ++block)
    job->block_sum[block] = tl_ccp_residual_packs(
        job, job->block_pack[block], job->block_pack[block + 1], &job->block_max[block]);
  tl_team_barrier(team);
  const double rms = rms_of(job, job->block_sum);
  tl_team_barrier(team);
  return rms;
}

/* Runs on every worker at once. All workers take the same decisions, because they add the same
 * block sums in the same order; two sets of sums alternate, so that none is overwritten while it is
 * read. */
static void iterate(void *context, tl_team *team, int worker, int workers) {
  const tl_ccp *job = context;
  const double tolerance = job->settings->tolerance;
  double *sums[2] = {job->block_sum + job->block_count, job->block_sum + 2 * job->block_count};
  if (job->settings->warm_start)
    visit_colours(job, team, worker, workers, WARM, NULL);
  int done = 0;
  double rms = -1;
  while (done < job->settings->iterations) {
    visit_colours(job, team, worker, workers, SWEEP, sums[done & 1]);
    const double change = rms_of(job, sums[done & 1]);
    done++;
    rms = -1;
    if (tolerance > 0 && change < tolerance) {
      rms = measure(job, team, worker, workers);
      if (rms < tolerance)
        break;
    }
  }
  if (rms < 0)
    rms = measure(job, team, worker, workers);
  if (worker == 0) {
    job->report->iterations = done;
    job->report->residual_rms = rms;
    for (size_t i = 0; i < job->block_count; ++i)
      job->report->residual_max = fmax(job->report->residual_max, job->block_max[i]);
  }
}

static void store_impulses(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_ccp_pack *pack = &job->packs[i];
    for (uint32_t row = job->pack_row[i]; row < job->pack_row[i + 1]; ++row) {
      const uint32_t lane = row - job->pack_row[i];
      job->contacts->data[job->colours.order[row]].impulse =
          tl_vec3(pack->impulse.x[lane], pack->impulse.y[lane], pack->impulse.z[lane]);
    }
  }
}

static talus_status solve_rows(tl_ccp *job) {
  const tl_par alone = {1};
  const tl_par *par = &job->model->par;
  TL_TRY(tl_ccp_load_rows(job));
  TL_TAKE(job->scope->arena, 3 * job->block_count, &job->block_sum);
  TL_TAKE(job->scope->arena, job->block_count, &job->block_max);
  tl_team_run(job->row_count >= TEAM_ROWS ? par : &alone, iterate, job);
  tl_for(par, job->pack_count, 128, store_impulses, job);
  return TALUS_OK;
}

/* The body buffer begins with velocity and spin: that is how it is handed over. */
_Static_assert(offsetof(tl_ccp_body, v) == offsetof(tl_twist, velocity) &&
                   offsetof(tl_ccp_body, w) == offsetof(tl_twist, spin),
               "a solver body starts with its twist");

talus_status tl_ccp_solve(const tl_model *model, const tl_scope *scope, tl_contacts *contacts,
                          tl_twists *twists, tl_solve_report *report) {
  *report = (tl_solve_report){0};
  tl_ccp job = {.model = model,
                .scope = scope,
                .settings = &model->solve,
                .contacts = contacts,
                .ncp = model->solve.friction == TALUS_FRICTION_NCP,
                .report = report};
  job.bounce_speed = (talus_real)model->solve.bounce_speed;
  if (model->solve.bounce_speed < 0)
    job.bounce_speed = 2 * tl_length(model->gravity) * (talus_real)scope->dt;
  TL_TAKE(scope->arena, scope->count + 1, &job.bodies);
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  TL_TRY(tl_ccp_load_bodies(&job));
  if (contacts->count > 0)
    TL_TRY(solve_rows(&job));
  tl_arena_release(scope->arena, mark);
  *twists = (tl_twists){job.bodies, sizeof *job.bodies};
  return TALUS_OK;
}
