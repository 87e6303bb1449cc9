/* Sweeps over bundles, colour by colour. Bundles of one colour share no body that they could move,
 * so that threads may take any of them: the bits are the same for any number of threads. Sums run
 * over fixed blocks of bundles, and through a tally across them. */
#include "solve/impulse/impulse.h"

#include <math.h>

#define TEAM_ROWS 2048 /* fewer rows are not worth the barriers between colours */

typedef enum visit { WARM, SWEEP } visit;

/* Sum of p.(u + b) over the rows of a bundle, torques included. */
static double work_of(const tl_impulse *job, size_t k, const tl_impulse_pair *pair) {
  double sum = 0;
  for (uint32_t r = job->bundle_row[k]; r < job->bundle_row[k + 1]; ++r) {
    const tl_impulse_row *row = &job->rows[r];
    const talus_vec3 u = tl_madd(tl_impulse_velocity(pair, row), row->bias, row->normal);
    sum += (double)tl_dot(row->impulse, u);
    if (job->rolls)
      sum += (double)tl_dot(job->rolls[r].torque, tl_sub(pair->b->w, pair->a->w));
  }
  return sum;
}

/* Applies a share of the starting impulses, and finds the change of the objective
 * (tl_ccp_warm_packs). */
static void warm_bundle(const tl_impulse *job, size_t k, talus_real share) {
  const tl_impulse_pair pair = tl_impulse_pair_of(job, k);
  tl_impulse_rush rush = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (uint32_t r = job->bundle_row[k]; r < job->bundle_row[k + 1]; ++r) {
    tl_impulse_gather(&rush, &job->rows[r], tl_scale(job->rows[r].impulse, share));
    if (!job->rolls)
      continue;
    rush.turn_a = tl_madd(rush.turn_a, share, job->rolls[r].torque);
    rush.turn_b = tl_madd(rush.turn_b, share, job->rolls[r].torque);
  }
  const double before = work_of(job, k, &pair);
  tl_impulse_apply(&pair, &rush);
  job->bundle_work[k] = 0.5 * (before + work_of(job, k, &pair));
}

static uint32_t label_of(const tl_impulse *job, size_t k) {
  const tl_system *system = job->system;
  const tl_contact *c = &system->contacts->data[tl_impulse_contact(job, k, 0)];
  return system->label[tl_body_is_static(system->model, c->a) ? c->b : c->a];
}

static void add_by_island(const tl_impulse *job, double *sum) {
  memset(sum, 0, job->system->model->bodies * sizeof *sum);
  for (size_t k = 0; k < job->bundle_count; ++k)
    sum[label_of(job, k)] += job->bundle_work[k];
}

/* Does the same as `start` of solve/ccp/seidel.c, for the islands whose objective the impulses of
 * the last step would raise. There are few if any, so it runs on one thread. */
static void ease_islands(const tl_impulse *job) {
  double *q = job->island_sum, *slope = q + job->system->model->bodies;
  bool any = false;
  add_by_island(job, q);
  for (size_t k = 0; k < job->bundle_count; ++k)
    if (q[label_of(job, k)] > 0) {
      warm_bundle(job, k, -1);
      any = true;
    }
  if (!any)
    return;
  for (size_t k = 0; k < job->bundle_count; ++k)
    if (q[label_of(job, k)] > 0)
      warm_bundle(job, k, 0);
  add_by_island(job, slope);
  for (size_t k = 0; k < job->bundle_count; ++k) {
    const uint32_t label = label_of(job, k);
    if (!(q[label] > 0))
      continue;
    const talus_real share = tl_warm_share(q[label], slope[label]);
    for (uint32_t r = job->bundle_row[k]; r < job->bundle_row[k + 1]; ++r) {
      job->rows[r].impulse = tl_scale(job->rows[r].impulse, share);
      if (job->rolls)
        job->rolls[r].torque = tl_scale(job->rolls[r].torque, share);
    }
    warm_bundle(job, k, 1);
  }
}

/* Visits a bundle twice. The step is exact for motion that the contacts share (a plate that falls)
 * but too long for motion that they do not share (a plate that tilts), which it may double; the
 * second visit removes that. A wall of bricks then needs half the sweeps, and a plate with one cold
 * sweep a step does not begin to wobble. */
static double sweep_bundle(const tl_impulse *job, size_t k) {
  const tl_impulse_pair pair = tl_impulse_pair_of(job, k);
  const uint32_t first = job->bundle_row[k], n = job->bundle_row[k + 1] - first;
  const bool single = n == 1 && job->radial;
  double sum = 0;
  if (single)
    sum += (double)tl_impulse_single(&pair, &job->rows[first]);
  else
    sum += (double)tl_impulse_press(&pair, &job->rows[first], n);
  if (n > 1)
    sum += (double)tl_impulse_press(&pair, &job->rows[first], n);
  if (job->correcting)
    return sum;
  if (!single)
    sum += (double)tl_impulse_rub(&pair, &job->rows[first], n);
  if (job->rolls)
    sum += (double)tl_impulse_turn(&pair, &job->rows[first], &job->rolls[first], n);
  return sum;
}

static void visit_blocks(const tl_impulse *job, size_t begin, size_t end, visit what,
                         double *sums) {
  for (size_t block = begin; block < end; ++block) {
    double sum = 0;
    for (size_t k = job->block_bundle[block]; k < job->block_bundle[block + 1]; ++k) {
      if (what == WARM)
        warm_bundle(job, k, 1);
      else
        sum += sweep_bundle(job, k);
    }
    if (sums)
      sums[block] = sum;
  }
}

/* First tile of a worker, chosen so that all workers have about as many blocks. */
static size_t first_tile(const tl_impulse *job, int worker, int workers) {
  const tl_colours *colours = &job->colours;
  const size_t blocks = job->colour_block[colours->tile[colours->tiles]];
  const size_t wanted = blocks * (size_t)worker / (size_t)workers;
  size_t tile = 0;
  while (tile < colours->tiles && job->colour_block[colours->tile[tile]] < wanted)
    tile++;
  return tile;
}

/* Visits tiles first: one worker does all colours of a tile. Then it visits the colours between
 * tiles; each worker takes a share of their blocks. */
static void visit_colours(const tl_impulse *job, tl_team *team, int worker, int workers, visit what,
                          double *sums) {
  const tl_colours *colours = &job->colours;
  const size_t between = colours->tile[colours->tiles];
  if (colours->tiles > 0) {
    const size_t first = colours->tile[first_tile(job, worker, workers)];
    const size_t last = colours->tile[first_tile(job, worker + 1, workers)];
    visit_blocks(job, job->colour_block[first], job->colour_block[last], what, sums);
    tl_team_barrier(team);
  }
  for (size_t k = between; k < colours->count; ++k) {
    const size_t first = job->colour_block[k], n = job->colour_block[k + 1] - first;
    visit_blocks(job, first + n * (size_t)worker / (size_t)workers,
                 first + n * (size_t)(worker + 1) / (size_t)workers, what, sums);
    tl_team_barrier(team);
  }
}

static double rms_of(const tl_impulse *job, const double *sums, double of_links) {
  return sqrt((tl_tally_sum(sums, job->block_count) + of_links) / tl_impulse_rows_of(job));
}

static void measure_block(const tl_impulse *job, size_t block, tl_tally *sum) {
  double most = 0;
  for (size_t k = job->block_bundle[block]; k < job->block_bundle[block + 1]; ++k) {
    const tl_impulse_pair pair = tl_impulse_pair_of(job, k);
    for (uint32_t r = job->bundle_row[k]; r < job->bundle_row[k + 1]; ++r) {
      const double each =
          (double)tl_impulse_residual(&pair, &job->rows[r], job->rolls ? &job->rolls[r] : NULL);
      tl_tally_add(sum, each * each);
      most = fmax(most, each);
    }
  }
  job->block_max[block] = most;
}

/* Residual of the present velocities; every worker gets the same RMS. */
static double measure(const tl_impulse *job, tl_team *team, int worker, int workers) {
  const size_t blocks = job->block_count;
  const size_t end = blocks * (size_t)(worker + 1) / (size_t)workers;
  if (job->links.count > 0 && !job->correcting) /* aimed a last time; they must still be met */
    tl_links_team_aim(&job->links, team, worker, workers);
  tl_tally_clear(&job->worker_sum[worker]);
  for (size_t block = blocks * (size_t)worker / (size_t)workers; block < end; ++block)
    measure_block(job, block, &job->worker_sum[worker]);
  tl_team_barrier(team);
  double most = 0, of_links = 0;
  if (job->links.count > 0)
    of_links = tl_links_team_measure(&job->links, team, worker, workers, &most);
  tl_tally sum = job->worker_sum[0];
  for (int w = 1; w < workers; ++w)
    tl_tally_merge(&sum, &job->worker_sum[w]);
  const double rms = sqrt((tl_tally_value(&sum) + of_links) / tl_impulse_rows_of(job));
  if (worker == 0 && !job->correcting) {
    for (size_t i = 0; i < blocks; ++i)
      most = fmax(most, job->block_max[i]);
    job->system->report->residual_max = most;
    job->system->report->residual_rms = rms;
  }
  tl_team_barrier(team);
  return rms;
}

/* Visits joints, after contacts. */
static double visit_links(const tl_impulse *job, tl_team *team, int worker, int workers, int turn) {
  if (job->links.count == 0)
    return 0;
  /* While velocities change much, links are aimed again: the guess was poor. */
  if (!job->correcting && turn > 0 && (turn & (turn - 1)) == 0)
    tl_links_team_aim(&job->links, team, worker, workers);
  return tl_links_team_sweep(&job->links, team, worker, workers, turn);
}

static void start(const tl_impulse *job, tl_team *team, int worker, int workers) {
  if (job->correcting)
    return;
  if (job->system->settings->warm_start) {
    visit_colours(job, team, worker, workers, WARM, NULL);
    if (worker == 0 && job->links.count == 0)
      ease_islands(job);
    tl_team_barrier(team);
  }
  if (job->links.count > 0)
    tl_links_team_start(&job->links, team, worker, workers);
}

/* Runs on every worker at once. All workers take the same decisions, because they add the same
 * block sums in the same order; two sets of sums alternate, so that none is overwritten while it is
 * read. */
static void iterate(void *context, tl_team *team, int worker, int workers) {
  const tl_impulse *job = context;
  tl_effort effort =
      tl_effort_of(job->system, job->row_count + job->links.rows, job->links.count > 0);
  double *sums[2] = {job->block_sum, job->block_sum + job->block_count};
  start(job, team, worker, workers);
  double *stop = job->block_sum + 2 * job->block_count; /* as in solve/ccp/seidel.c */
  int done = 0;
  bool measured = false;
  while (done < effort.most) {
    if (worker == 0)
      stop[done & 1] = tl_cancel_look(job->system->crowd->cancel);
    visit_colours(job, team, worker, workers, SWEEP, sums[done & 1]);
    const double change =
        rms_of(job, sums[done & 1], visit_links(job, team, worker, workers, done));
    done++;
    measured = false;
    if (stop[(done - 1) & 1] != 0)
      break;
    if (!tl_effort_wants_look(&effort, done, change))
      continue;
    measured = true;
    if (tl_effort_is_enough(&effort, done, measure(job, team, worker, workers)))
      break;
  }
  if (job->correcting)
    return;
  if (!measured)
    measure(job, team, worker, workers);
  if (worker == 0) {
    tl_links_recover(&job->links);
    job->system->report->iterations = done;
  }
}

void tl_impulse_iterate(tl_impulse *job) {
  const tl_par alone = {.threads = 1};
  const bool shared = job->row_count >= TEAM_ROWS || tl_links_are_shared(&job->links);
  tl_team_run(shared ? &job->system->model->par : &alone, iterate, job);
}
