/* Gauss-Seidel over joints.
 *
 * Joints are visited one after the other, forwards and backwards in turn, because news travels
 * along a chain in the order of visits: red and black links, which threads could share, would carry
 * it by two links in a sweep. So a mechanism of many joints is cut into blocks of consecutive ones.
 * A body belongs to the block that first names it, and a joint to one of whose bodies another block
 * has the right waits: blocks, each in order, go to the workers; the joints that wait come after
 * them, by one worker. In a chain that is one in TL_CCP_LINK_BLOCK. Cuts and order are those of the
 * scene, not of the team: the same bits for any number of threads.
 *
 * What takes back drift (solve/ccp/drift.c) is swept along, while the rows are in the cache. */
#include "solve/ccp/ccp.h"

#include <math.h>

#define RECOVERED 1e-16 /* of the square of the drift: what is left is rounding */

/* ---- the plan ----------------------------------------------------------------------------------
 */

static size_t block_of(size_t link) { return link / TL_CCP_LINK_BLOCK; }

/* Whether a body that can move belongs to another block. */
static bool must_wait(const tl_ccp *job, const uint32_t *owner, size_t i) {
  const uint32_t ends[2] = {job->links[i].a, job->links[i].b};
  bool waits = false;
  for (int k = 0; k < 2; ++k)
    waits |= job->bodies[ends[k]].inv_mass > 0 && owner[ends[k]] != block_of(i);
  return waits;
}

talus_status tl_ccp_plan_links(tl_ccp *job, uint32_t *owner) {
  tl_arena *arena = job->scope->arena;
  tl_ccp_link_plan *plan;
  TL_TAKE(arena, 1, &plan);
  *plan = (tl_ccp_link_plan){.blocks = 1};
  job->link_plan = plan;
  if (job->link_count >= TL_CCP_TEAM_LINKS) {
    plan->blocks = block_of(job->link_count - 1) + 1;
    TL_TAKE(arena, job->link_count, &plan->waits);
    TL_TAKE(arena, job->link_count, &plan->waiting);
    for (size_t i = job->link_count; i-- > 0;) /* the first to name a body writes last */
      owner[job->links[i].a] = owner[job->links[i].b] = (uint32_t)block_of(i);
    for (size_t i = 0; i < job->link_count; ++i) {
      plan->waits[i] = must_wait(job, owner, i);
      if (plan->waits[i])
        plan->waiting[plan->waiting_count++] = (uint32_t)i;
    }
  }
  TL_TAKE(arena, plan->blocks + 1, &plan->sums);
  TL_TAKE(arena, job->link_count, &plan->residual);
  return TALUS_OK;
}

/* ---- over all links ----------------------------------------------------------------------------
 */

typedef tl_ccp_link_sums sums_of;
typedef void link_fn(const tl_ccp *job, size_t i, sums_of *sums);

typedef struct crew {
  tl_team *team;
  int worker, workers;
} crew;

static void visit_block(const tl_ccp *job, size_t block, link_fn *fn, bool moves, bool backwards) {
  const tl_ccp_link_plan *plan = job->link_plan;
  const size_t begin = block * TL_CCP_LINK_BLOCK;
  const size_t end = block + 1 < plan->blocks ? begin + TL_CCP_LINK_BLOCK : job->link_count;
  sums_of sums = {0};
  for (size_t k = begin; k < end; ++k) {
    const size_t i = backwards ? end - 1 - (k - begin) : k;
    if (!(moves && plan->waits && plan->waits[i]))
      fn(job, i, &sums);
  }
  plan->sums[block] = sums;
}

/* Those that waited are one block more. */
static sums_of add_blocks(const tl_ccp_link_plan *plan) {
  tl_tally change, recovered;
  sums_of total = plan->sums[plan->blocks];
  if (plan->blocks == 1 && plan->waiting_count == 0) /* as nearly always */
    return plan->sums[0];
  tl_tally_clear(&change);
  tl_tally_clear(&recovered);
  for (size_t b = 0; b <= plan->blocks; ++b) {
    tl_tally_add(&change, plan->sums[b].change);
    tl_tally_add(&recovered, plan->sums[b].recovered);
    total.most = fmax(total.most, plan->sums[b].most);
  }
  total.change = tl_tally_value(&change);
  total.recovered = tl_tally_value(&recovered);
  return total;
}

/* Calls fn on every link. moves: it changes bodies. All workers return after all is done, and
 * get the sums. */
static sums_of visit_all(const tl_ccp *job, crew c, link_fn *fn, bool moves, bool backwards) {
  tl_ccp_link_plan *plan = job->link_plan;
  const size_t end = plan->blocks * (size_t)(c.worker + 1) / (size_t)c.workers;
  for (size_t b = plan->blocks * (size_t)c.worker / (size_t)c.workers; b < end; ++b)
    visit_block(job, b, fn, moves, backwards);
  tl_team_barrier(c.team);
  if (c.worker == 0) {
    sums_of total = {0};
    for (size_t k = 0; moves && k < plan->waiting_count; ++k)
      fn(job, plan->waiting[backwards ? plan->waiting_count - 1 - k : k], &total);
    plan->sums[plan->blocks] = total;
    plan->sums[plan->blocks] = add_blocks(plan);
  }
  tl_team_barrier(c.team);
  const sums_of total = plan->sums[plan->blocks];
  /* Nobody writes the total again before all have read it: another barrier comes first. */
  return total;
}

/* ---- what is done to one ---------------------------------------------------------------------
 */

static void warm(const tl_ccp *job, size_t i, sums_of *sums) {
  (void)sums;
  tl_link_push_own(&job->links[i], job->bodies, job->tensors);
}

static void aim(const tl_ccp *job, size_t i, sums_of *sums) {
  (void)sums;
  tl_ccp_aim_link(job, i, job->bodies);
}

static void sweep(const tl_ccp *job, size_t i, sums_of *sums) {
  tl_link *link = &job->links[i];
  if (job->recovering && !job->link_plan->is_recovered) {
    double recovered;
    sums->change +=
        tl_link_visit_both(link, job->bodies, job->recovering, job->tensors, &recovered);
    sums->recovered += recovered;
  } else
    sums->change += tl_link_visit(link, job->bodies, job->tensors);
}

static void sweep_law(const tl_ccp *job, size_t i, sums_of *sums) {
  if (job->links[i].has_law)
    sums->change += tl_link_visit(&job->links[i], job->bodies, job->tensors);
}

/* What hard rows ask for goes to the right-hand side. */
static void ask(const tl_ccp *job, size_t i, sums_of *sums) {
  (void)sums;
  const tl_link_system *system = job->system;
  const tl_link *link = &job->links[i];
  double u[TL_JOINT_ROWS];
  tl_link_speeds(link, job->bodies, u);
  for (int r = 0; r < link->hard; ++r)
    system->x[system->place[link->first + (uint32_t)r]] =
        -(u[r] + link->row[r].soft * (double)link->row[r].impulse);
}

static void add(const tl_ccp *job, size_t i, sums_of *sums) {
  tl_link *link = &job->links[i];
  double dp[TL_JOINT_HARD];
  for (int r = 0; r < link->hard; ++r)
    dp[r] = job->system->x[job->system->place[link->first + (uint32_t)r]];
  sums->change += tl_link_add(link, job->bodies, job->tensors, dp);
}

static void measure(const tl_ccp *job, size_t i, sums_of *sums) {
  job->link_plan->residual[i] = tl_link_residual(&job->links[i], job->bodies, NULL, &sums->most);
}

/* ---- Gauss-Seidel ------------------------------------------------------------------------------
 */

void tl_ccp_start_team_links(const tl_ccp *job, tl_team *team, int worker, int workers) {
  const crew c = {team, worker, workers};
  visit_all(job, c, warm, true, false);
  visit_all(job, c, aim, false, false);
}

void tl_ccp_aim_team_links(const tl_ccp *job, tl_team *team, int worker, int workers) {
  const crew c = {team, worker, workers};
  visit_all(job, c, aim, false, false);
}

/* All hard rows at once; those with a law one by one before. */
static double sweep_direct(const tl_ccp *job, crew c, bool backwards) {
  const double laws =
      job->link_plan->has_laws ? visit_all(job, c, sweep_law, true, backwards).change : 0;
  visit_all(job, c, ask, false, false);
  if (c.worker == 0)
    tl_link_system_solve(job->system);
  tl_team_barrier(c.team);
  return laws + visit_all(job, c, add, true, false).change;
}

double tl_ccp_sweep_links(const tl_ccp *job, tl_team *team, int worker, int workers, int turn) {
  const crew c = {team, worker, workers};
  tl_ccp_link_plan *plan = job->link_plan;
  if (job->system)
    return sweep_direct(job, c, (turn & 1) != 0);
  const sums_of sums = visit_all(job, c, sweep, true, (turn & 1) != 0);
  if (worker == 0) {
    if (turn == 0)
      plan->drifted = sums.recovered;
    plan->is_recovered = plan->is_recovered || !(sums.recovered > RECOVERED * plan->drifted);
  }
  tl_team_barrier(team);
  return sums.change;
}

double tl_ccp_measure_team_links(const tl_ccp *job, tl_team *team, int worker, int workers,
                                 double *most) {
  const crew c = {team, worker, workers};
  const sums_of sums = visit_all(job, c, measure, false, false);
  *most = fmax(*most, sums.most);
  return tl_tally_sum(job->link_plan->residual, job->link_count);
}
