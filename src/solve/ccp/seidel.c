/* Projected Gauss-Seidel: each row is visited in turn; bodies carry the effect of every impulse so
 * far.
 *
 * Rows of one colour share no movable body, so threads may take any of them: the bits are the same
 * for any number of threads. Sums run over fixed blocks of rows, and through a tally across them.
 */
#include "solve/ccp/ccp.h"

#include <math.h>

/* A sweep; or a share of the impulses that packs start with. */
typedef struct visit {
  bool is_sweep;
  talus_real share;
} visit;

static const visit SWEEP = {true, 0};
static visit warm(talus_real share) {
  const visit r = {false, share};
  return r;
}

static void visit_blocks(const tl_ccp *job, size_t begin, size_t end, bool serial, visit what,
                         double *sums) {
  for (size_t block = begin; block < end; ++block) {
    const size_t first = job->block_pack[block], last = job->block_pack[block + 1];
    sums[block] = what.is_sweep ? tl_ccp_sweep_packs(job, first, last, serial)
                                : tl_ccp_warm_packs(job, first, last, serial, what.share);
  }
}

/* The first tile of a worker, so that all have about as many blocks. */
static size_t first_tile(const tl_ccp *job, int worker, int workers) {
  const tl_colours *colours = &job->colours;
  const size_t blocks = job->colour_block[colours->tile[colours->tiles]];
  const size_t wanted = blocks * (size_t)worker / (size_t)workers;
  size_t lo = 0, hi = colours->tiles;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (job->colour_block[colours->tile[mid]] < wanted)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Tiles first, each by one worker with all its colours; then the colours between tiles, of whose
 * blocks each worker takes its share. */
static void visit_colours(const tl_ccp *job, tl_team *team, int worker, int workers, visit what,
                          double *sums) {
  const tl_colours *colours = &job->colours;
  const size_t between = colours->tile[colours->tiles];
  if (colours->tiles > 0) {
    const size_t last = colours->tile[first_tile(job, worker + 1, workers)];
    for (size_t k = colours->tile[first_tile(job, worker, workers)]; k < last; ++k)
      visit_blocks(job, job->colour_block[k], job->colour_block[k + 1], colours->serial[k], what,
                   sums);
    tl_team_barrier(team);
  }
  for (size_t k = between; k < colours->count; ++k) {
    const size_t first = job->colour_block[k], n = job->colour_block[k + 1] - first;
    const size_t begin = first + n * (size_t)worker / (size_t)workers;
    const size_t end = first + n * (size_t)(worker + 1) / (size_t)workers;
    visit_blocks(job, begin, end, colours->serial[k], what, sums);
    tl_team_barrier(team);
  }
}

static void push_all(void *context, tl_team *team, int worker, int workers) {
  const tl_ccp *job = context;
  visit_colours(job, team, worker, workers, warm(1), job->block_sum + 2 * job->block_count);
}

void tl_ccp_push_all(const tl_ccp *job) {
  const tl_par alone = {1};
  tl_ccp copy = *job;
  tl_team_run(job->row_count >= TL_CCP_TEAM_ROWS ? &job->model->par : &alone, push_all, &copy);
}

static double add_blocks(const tl_ccp *job, const double *sums) {
  return tl_tally_sum(sums, job->block_count);
}

static double rms_of(const tl_ccp *job, const double *sums, double of_links) {
  return sqrt((add_blocks(job, sums) + of_links) / tl_ccp_rows_of(job));
}

/* The residual of the velocities as they stand; every worker gets the same RMS. */
static double measure(const tl_ccp *job, tl_team *team, int worker, int workers) {
  const size_t blocks = job->block_count;
  const size_t end = blocks * (size_t)(worker + 1) / (size_t)workers;
  for (size_t block = blocks * (size_t)worker / (size_t)workers; block < end; ++block)
    job->block_sum[block] = tl_ccp_residual_packs(
        job, job->block_pack[block], job->block_pack[block + 1], &job->block_max[block]);
  tl_team_barrier(team);
  double most = 0, of_links = 0;
  if (job->link_count > 0)
    of_links = tl_ccp_measure_team_links(job, team, worker, workers, &most);
  const double rms = rms_of(job, job->block_sum, of_links);
  tl_team_barrier(team);
  if (worker == 0)
    job->report->residual_max = most;
  return rms;
}

/* Links after contacts. */
static double visit_links(const tl_ccp *job, tl_team *team, int worker, int workers, int turn) {
  if (job->link_count == 0)
    return 0;
  /* Where velocities change much, the first guess was poor: aim again while they settle. */
  if (!job->correcting && turn > 0 && (turn & (turn - 1)) == 0)
    tl_ccp_aim_team_links(job, team, worker, workers);
  return tl_ccp_sweep_links(job, team, worker, workers, turn);
}

/* The residual when all looks done: links are aimed a last time, and must still be met. */
static double measure_aimed(const tl_ccp *job, tl_team *team, int worker, int workers) {
  if (job->link_count > 0 && !job->correcting)
    tl_ccp_aim_team_links(job, team, worker, workers);
  return measure(job, team, worker, workers);
}

/* Impulses of the last step are a good start where forces last, and a bad one after an impact,
 * whose impulses would act again: they count with the share that lowers the objective q the most.
 * No visit raises q afterwards, so that no step ends above q = 0, where it makes no energy. With
 * joints the share is another (solve/ccp/drift.c). */
static void start(const tl_ccp *job, tl_team *team, int worker, int workers, double *sums) {
  visit_colours(job, team, worker, workers, warm(1), sums);
  const double q = add_blocks(job, sums);
  tl_team_barrier(team);
  if (!(q > 0) || job->link_count > 0)
    return;
  visit_colours(job, team, worker, workers, warm(-1), sums);
  visit_colours(job, team, worker, workers, warm(0), sums);
  const talus_real share = tl_ccp_warm_share(q, add_blocks(job, sums));
  const size_t last = tl_share(job->pack_count, worker + 1, workers);
  for (size_t k = tl_share(job->pack_count, worker, workers); k < last; ++k)
    tl_ccp_scale_pack(job, k, share);
  tl_team_barrier(team);
  visit_colours(job, team, worker, workers, warm(1), sums);
}

/* Behind the three sets of sums: whether the first worker was asked to stop, in even and in odd
 * sweeps, which all see behind the barrier that the sums need. */
static double *stops_of(const tl_ccp *job) { return job->block_sum + 3 * job->block_count; }

/* Runs on every worker at once. All workers take the same decisions, because they add the same
 * block sums in the same order; two sets of sums alternate, so that none is overwritten while it is
 * read. */
static void iterate(void *context, tl_team *team, int worker, int workers) {
  const tl_ccp *job = context;
  double *sums[2] = {job->block_sum + job->block_count, job->block_sum + 2 * job->block_count};
  if (job->settings->warm_start)
    start(job, team, worker, workers, sums[0]);
  if (job->link_count > 0 && !job->correcting)
    tl_ccp_start_team_links(job, team, worker, workers);
  tl_ccp_pace pace = TL_CCP_AT_REST;
  tl_ccp_effort effort = tl_ccp_effort_of(job, job->row_count + job->link_rows);
  int done = 0;
  double rms = -1;
  double *stop = stops_of(job);
  while (done < effort.most) {
    if (worker == 0)
      stop[done & 1] = tl_cancel_look(job->scope->cancel);
    if (done == tl_ccp_patience(job))
      tl_ccp_set_off(job, team, worker, workers);
    visit_colours(job, team, worker, workers, SWEEP, sums[done & 1]);
    const double change =
        rms_of(job, sums[done & 1], visit_links(job, team, worker, workers, done));
    done++;
    rms = -1;
    if (stop[(done - 1) & 1] != 0)
      break;
    if (tl_ccp_wants_look(&effort, done, change)) {
      rms = measure_aimed(job, team, worker, workers);
      if (tl_ccp_is_enough(&effort, done, rms))
        break;
    }
    if (done < effort.most && done > tl_ccp_patience(job))
      tl_ccp_move_on(job, team, worker, workers, change, &pace);
  }
  if (job->correcting)
    return;
  if (rms < 0)
    rms = measure(job, team, worker, workers);
  if (worker == 0) {
    tl_ccp_recover_links(job);
    job->report->iterations = done;
    job->report->residual_rms = rms;
    for (size_t i = 0; i < job->block_count; ++i)
      job->report->residual_max = fmax(job->report->residual_max, job->block_max[i]);
  }
}

talus_status tl_ccp_take_sums(tl_ccp *job) {
  TL_TAKE(job->scope->arena, 3 * job->block_count + 2, &job->block_sum);
  TL_TAKE(job->scope->arena, job->block_count, &job->block_max);
  return tl_ccp_take_momentum(job);
}

void tl_ccp_gauss_seidel(tl_ccp *job) {
  const tl_par alone = {1};
  tl_team_run(tl_ccp_is_shared(job) ? &job->model->par : &alone, iterate, job);
}
