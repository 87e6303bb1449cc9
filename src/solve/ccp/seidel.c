/* Projected Gauss-Seidel: each row is visited in turn; bodies carry the effect of every impulse so
 * far.
 *
 * Rows of one colour share no movable body, so threads may take any of them: the bits are the same
 * for any number of threads. Sums run over fixed blocks of rows, and through a tally across them.
 */
#include "solve/ccp/ccp.h"

#include <math.h>

#define RECOVERIES 4 /* sweeps that may repair the starting impulses */
/* best share above which the starting impulses are wrong in few places only */
#define KEPT TL_R(0.25)

/* One pass over the rows: a sweep, or the application of a share of the starting impulses. */
typedef struct visit {
  bool is_sweep;
  bool has_momentum; /* a sweep with momentum; */
  talus_real beta;   /* its factor of extrapolation */
  talus_real share;
} visit;

static visit warm(talus_real share) {
  const visit r = {.share = share};
  return r;
}

static double sweep(const tl_ccp_part *part, size_t block, bool serial, visit what) {
  const size_t first = part->block_pack[block], last = part->block_pack[block + 1];
  if (what.has_momentum)
    return tl_ccp_sweep_block(part, block, serial, what.beta);
  return part->lifting ? tl_ccp_lift_packs(&part->rows, first, last, serial)
                       : tl_ccp_sweep_packs(&part->rows, first, last, serial);
}

static void visit_blocks(const tl_ccp_part *part, size_t begin, size_t end, bool serial, visit what,
                         double *sums) {
  for (size_t block = begin; block < end; ++block) {
    const size_t first = part->block_pack[block], last = part->block_pack[block + 1];
    sums[block] = what.is_sweep ? sweep(part, block, serial, what)
                                : tl_ccp_warm_packs(&part->rows, first, last, serial, what.share);
  }
}

/* First pack of a tile, or of a block. */
typedef size_t first_pack_fn(const tl_ccp_part *part, size_t i);

static size_t pack_of_tile(const tl_ccp_part *part, size_t tile) {
  return part->block_pack[part->colour_block[part->colours.tile[tile]]];
}
static size_t pack_of_block(const tl_ccp_part *part, size_t block) {
  return part->block_pack[block];
}

/* First of the tiles (or blocks) [begin, end) of a worker. They have very different numbers of
 * packs: tiles on top of a heap have few. So workers begin at the boundaries nearest to equal
 * shares of the packs. */
static size_t share_begin(const tl_ccp_part *part, first_pack_fn *pack_of, size_t begin, size_t end,
                          int worker, int workers) {
  const size_t first = pack_of(part, begin);
  const size_t wanted = first + tl_share(pack_of(part, end) - first, worker, workers);
  size_t lo = begin, hi = end;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (pack_of(part, mid) < wanted)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo > begin && wanted - pack_of(part, lo - 1) < pack_of(part, lo) - wanted)
    lo--;
  return worker < workers ? lo : end;
}

static size_t first_tile(const tl_ccp_part *part, int worker, int workers) {
  return share_begin(part, pack_of_tile, 0, part->colours.tiles, worker, workers);
}

static size_t first_block(const tl_ccp_part *part, size_t begin, size_t end, int worker,
                          int workers) {
  return share_begin(part, pack_of_block, begin, end, worker, workers);
}

/* Visits tiles first: one worker does all colours of a tile. Then it visits the colours between
 * tiles; each worker takes a share of their blocks. */
static void visit_colours(const tl_ccp_part *part, tl_team *team, int worker, int workers,
                          visit what, double *sums) {
  const tl_colours *colours = &part->colours;
  const size_t between = colours->tile[colours->tiles];
  if (colours->tiles > 0) {
    const size_t last = colours->tile[first_tile(part, worker + 1, workers)];
    for (size_t k = colours->tile[first_tile(part, worker, workers)]; k < last; ++k)
      visit_blocks(part, part->colour_block[k], part->colour_block[k + 1], colours->serial[k], what,
                   sums);
    tl_team_barrier(team);
  }
  for (size_t k = between; k < colours->count; ++k) {
    const size_t first = part->colour_block[k], last = part->colour_block[k + 1];
    visit_blocks(part, first_block(part, first, last, worker, workers),
                 first_block(part, first, last, worker + 1, workers), colours->serial[k], what,
                 sums);
    tl_team_barrier(team);
  }
}

static void push_all(void *context, tl_team *team, int worker, int workers) {
  const tl_ccp_part *part = context;
  visit_colours(part, team, worker, workers, warm(1), part->block_sum + 2 * part->block_count);
}

void tl_ccp_push_all(const tl_ccp_part *part) {
  const tl_par alone = {.threads = 1};
  tl_ccp_part copy = *part;
  tl_team_run(part->rows.count >= TL_CCP_TEAM_ROWS ? &part->system->model->par : &alone, push_all,
              &copy);
}

static double add_blocks(const tl_ccp_part *part, const double *sums) {
  return tl_tally_sum(sums, part->block_count);
}

static double rms_of(const tl_ccp_part *part, const double *sums, double of_links) {
  return sqrt((add_blocks(part, sums) + of_links) / tl_ccp_rows_of(&part->rows, &part->links));
}

static void measure_block(const tl_ccp_part *part, size_t block) {
  const size_t first = part->block_pack[block], last = part->block_pack[block + 1];
  part->block_sum[block] =
      part->lifting ? tl_ccp_lift_residual(&part->rows, first, last)
                    : tl_ccp_residual_packs(&part->rows, first, last, &part->block_max[block]);
}

/* Residual of the present velocities; every worker gets the same RMS. */
static double measure(const tl_ccp_part *part, tl_team *team, int worker, int workers) {
  const size_t end = first_block(part, 0, part->block_count, worker + 1, workers);
  for (size_t block = first_block(part, 0, part->block_count, worker, workers); block < end;
       ++block)
    measure_block(part, block);
  tl_team_barrier(team);
  double most = 0, of_links = 0;
  if (part->links.count > 0)
    of_links = tl_links_team_measure(&part->links, team, worker, workers, &most);
  const double rms = rms_of(part, part->block_sum, of_links);
  tl_team_barrier(team);
  if (worker == 0)
    part->report->residual_max = most;
  return rms;
}

/* Visits links, after contacts. */
static double visit_links(const tl_ccp_part *part, tl_team *team, int worker, int workers,
                          int turn) {
  if (part->links.count == 0)
    return 0;
  /* While velocities change much, the rows of links are aimed again: the guess was poor. */
  if (!part->correcting && turn > 0 && (turn & (turn - 1)) == 0)
    tl_links_team_aim(&part->links, team, worker, workers);
  return tl_links_team_sweep(&part->links, team, worker, workers, turn);
}

/* The residual at the end: links are aimed a last time and must still be met. */
static double measure_aimed(const tl_ccp_part *part, tl_team *team, int worker, int workers) {
  if (part->links.count > 0 && !part->correcting)
    tl_links_team_aim(&part->links, team, worker, workers);
  return measure(part, team, worker, workers);
}

/* Sum of p.(u + b) over the rows, at the present velocities. */
static double find_slope(const tl_ccp_part *part, tl_team *team, int worker, int workers,
                         double *sums) {
  visit_colours(part, team, worker, workers, warm(0), sums);
  const double slope = add_blocks(part, sums);
  tl_team_barrier(team);
  return slope;
}

/* With substeps there are few sweeps, and a tall stack that loses its impulses falls: one lost
 * contact or one impact must not take the impulses from all. One or two sweeps correct what is
 * wrong nearby. Returns true if the objective (the mean of its slopes at all impulses and at none)
 * is then low enough that no energy is made; *q: the objective. */
static bool recover(const tl_ccp_part *part, tl_team *team, int worker, int workers, double *sums,
                    double *q) {
  const visit plain = {.is_sweep = true};
  for (int i = 0; i < RECOVERIES && part->system->model->substeps > 1; ++i) {
    visit_colours(part, team, worker, workers, plain, sums);
    const double with = find_slope(part, team, worker, workers, sums);
    visit_colours(part, team, worker, workers, warm(-1), sums);
    const double without = find_slope(part, team, worker, workers, sums);
    visit_colours(part, team, worker, workers, warm(1), sums);
    *q = 0.5 * (with + without);
    if (!(*q > 0))
      return true;
  }
  return false;
}

/* Impulses of the last step are a good start if forces last, and a bad one after an impact, whose
 * impulses would act again. So they are multiplied by the share that lowers the objective q most.
 * No visit raises q afterwards, so no step ends above q = 0, where it makes no energy. With joints
 * the share is a constant (solve/system/drift.c). With substeps all impulses are kept if only a few
 * are wrong; the audit then ensures that no energy is made (solve/system/audit.c). */
static void start(const tl_ccp_part *part, tl_team *team, int worker, int workers, double *sums) {
  visit_colours(part, team, worker, workers, warm(1), sums);
  double q = add_blocks(part, sums);
  tl_team_barrier(team);
  if (!(q > 0) || part->links.count > 0 || recover(part, team, worker, workers, sums, &q))
    return;
  visit_colours(part, team, worker, workers, warm(-1), sums);
  const double slope = find_slope(part, team, worker, workers, sums);
  talus_real share = tl_warm_share(q, slope);
  if (part->system->model->substeps > 1 && share > KEPT)
    share = 1;
  const size_t last = tl_share(part->rows.pack_count, worker + 1, workers);
  for (size_t k = tl_share(part->rows.pack_count, worker, workers); k < last; ++k)
    tl_ccp_scale_pack(&part->rows, k, share);
  tl_team_barrier(team);
  visit_colours(part, team, worker, workers, warm(1), sums);
}

/* Place behind the three sets of sums: whether the first worker was asked to stop, in even and in
 * odd sweeps. All workers read it after the barrier that the sums need. */
static double *stops_of(const tl_ccp_part *part) { return part->block_sum + 3 * part->block_count; }

/* Runs on every worker at once. All workers take the same decisions, because they add the same
 * block sums in the same order; two sets of sums alternate, so that none is overwritten while it is
 * read. */
static void iterate(void *context, tl_team *team, int worker, int workers) {
  const tl_ccp_part *part = context;
  double *sums[2] = {part->block_sum + part->block_count, part->block_sum + 2 * part->block_count};
  if (part->system->settings->warm_start)
    start(part, team, worker, workers, sums[0]);
  if (part->links.count > 0 && !part->correcting)
    tl_links_team_start(&part->links, team, worker, workers);
  tl_ccp_pace pace = TL_CCP_AT_REST;
  tl_effort effort =
      tl_effort_of(part->system, part->rows.count + part->links.rows, part->links.count > 0);
  int done = 0;
  double rms = -1;
  double *stop = stops_of(part);
  while (done < effort.most) {
    if (worker == 0)
      stop[done & 1] = tl_cancel_look(part->system->crowd->cancel);
    if (done == tl_ccp_patience(part))
      tl_ccp_set_off(part, team, worker, workers, &pace);
    const bool has_momentum = part->momentum && done >= tl_ccp_patience(part);
    const visit sweep_now = {.is_sweep = true, .has_momentum = has_momentum, .beta = pace.beta};
    visit_colours(part, team, worker, workers, sweep_now, sums[done & 1]);
    const double change =
        rms_of(part, sums[done & 1], visit_links(part, team, worker, workers, done));
    done++;
    rms = -1;
    if (stop[(done - 1) & 1] != 0)
      break;
    if (done == effort.usual && !part->correcting)
      tl_effort_find_impact(&effort, part->system, part->rows.bodies, part->rows.contact,
                            part->rows.count);
    if (tl_effort_wants_look(&effort, done, change)) {
      rms = measure_aimed(part, team, worker, workers);
      if (tl_effort_is_enough(&effort, done, rms))
        break;
    }
    if (has_momentum && done < effort.most)
      tl_ccp_move_on(part, team, worker, workers, change, &pace);
  }
  if (part->correcting)
    return;
  if (rms < 0)
    rms = measure(part, team, worker, workers);
  if (worker == 0) {
    tl_links_recover(&part->links);
    part->report->iterations = done;
    part->report->residual_rms = rms;
    for (size_t i = 0; i < part->block_count; ++i)
      part->report->residual_max = fmax(part->report->residual_max, part->block_max[i]);
  }
}

talus_status tl_ccp_take_sums(tl_ccp_part *part) {
  TL_TAKE(part->system->crowd->arena, 3 * part->block_count + 2, &part->block_sum);
  TL_TAKE(part->system->crowd->arena, part->block_count, &part->block_max);
  return tl_ccp_take_momentum(part);
}

void tl_ccp_gauss_seidel(tl_ccp_part *part) {
  const tl_par alone = {.threads = 1};
  part->rows.is_unmeasured = part->system->settings->tolerance == 0 && !part->momentum;
  tl_team_run(tl_ccp_is_shared(part) ? &part->system->model->par : &alone, iterate, part);
}
