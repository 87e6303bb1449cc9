/* Gauss-Seidel over joints.
 *
 * Joints are visited one after the other, alternately forwards and backwards, because information
 * travels along a chain in the order of visits: with red and black links, which threads could
 * share, it would travel by two links in a sweep. So a mechanism of many joints is divided into
 * blocks of consecutive ones. A body belongs to the first block that contains it. The workers sweep
 * the blocks, each in order; joints with a body of another block are visited afterwards, by one
 * worker. In a chain that is one in TL_LINK_BLOCK. Blocks and order depend on the scene, not on the
 * number of threads, and so do the bits of the result.
 *
 * The impulses that correct drift (drift.c) are swept at the same time, while the rows are in the
 * cache. */
#include "solve/system/links.h"

#include <math.h>

#define RECOVERED 1e-16 /* of the squared drift: the rest is rounding */

/* ---- the plan -------------------------------------------------------------------------------- */

static size_t block_of(size_t link) { return link / TL_LINK_BLOCK; }

/* True if the link has a movable body that belongs to another block. */
static bool must_wait(const tl_links *links, const uint32_t *owner, size_t i) {
  const uint32_t ends[2] = {links->data[i].a, links->data[i].b};
  bool waits = false;
  for (int k = 0; k < 2; ++k)
    waits |= links->bodies[ends[k]].inv_mass > 0 && owner[ends[k]] != block_of(i);
  return waits;
}

talus_status tl_links_plan(tl_links *links, uint32_t *owner) {
  tl_arena *arena = links->system->crowd->arena;
  tl_link_plan *plan;
  TL_TAKE(arena, 1, &plan);
  *plan = (tl_link_plan){.blocks = 1};
  links->plan = plan;
  if (links->count >= TL_TEAM_LINKS) {
    plan->blocks = block_of(links->count - 1) + 1;
    TL_TAKE(arena, links->count, &plan->waits);
    TL_TAKE(arena, links->count, &plan->waiting);
    for (size_t i = links->count; i-- > 0;) /* so the first link that names a body decides */
      owner[links->data[i].a] = owner[links->data[i].b] = (uint32_t)block_of(i);
    for (size_t i = 0; i < links->count; ++i) {
      plan->waits[i] = must_wait(links, owner, i);
      if (plan->waits[i])
        plan->waiting[plan->waiting_count++] = (uint32_t)i;
    }
  }
  for (size_t i = 0; i < links->count; ++i) {
    links->rows += (size_t)tl_link_rows(&links->data[i]);
    plan->has_laws |= links->data[i].has_law;
  }
  TL_TAKE(arena, plan->blocks + 1, &plan->sums);
  TL_TAKE(arena, links->count, &plan->residual);
  return TALUS_OK;
}

/* ---- over all links -------------------------------------------------------------------------- */

typedef tl_link_sums sums_of;
typedef void link_fn(const tl_links *links, size_t i, sums_of *sums);

typedef struct crew {
  tl_team *team;
  int worker, workers;
} crew;

static void visit_block(const tl_links *links, size_t block, link_fn *fn, bool moves,
                        bool backwards) {
  const tl_link_plan *plan = links->plan;
  const size_t begin = block * TL_LINK_BLOCK;
  const size_t end = block + 1 < plan->blocks ? begin + TL_LINK_BLOCK : links->count;
  sums_of sums = {0};
  for (size_t k = begin; k < end; ++k) {
    const size_t i = backwards ? end - 1 - (k - begin) : k;
    if (!(moves && plan->waits && plan->waits[i]))
      fn(links, i, &sums);
  }
  plan->sums[block] = sums;
}

/* Sums over blocks; the links that waited are one more block. */
static sums_of add_blocks(const tl_link_plan *plan) {
  tl_tally change, recovered;
  sums_of total = plan->sums[plan->blocks];
  if (plan->blocks == 1 && plan->waiting_count == 0) /* almost always */
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

/* Calls fn for every link. moves: fn changes bodies. All workers return when all links are done,
 * with the sums. */
static sums_of visit_all(const tl_links *links, crew c, link_fn *fn, bool moves, bool backwards) {
  tl_link_plan *plan = links->plan;
  const size_t end = plan->blocks * (size_t)(c.worker + 1) / (size_t)c.workers;
  for (size_t b = plan->blocks * (size_t)c.worker / (size_t)c.workers; b < end; ++b)
    visit_block(links, b, fn, moves, backwards);
  tl_team_barrier(c.team);
  if (c.worker == 0) {
    sums_of total = {0};
    for (size_t k = 0; moves && k < plan->waiting_count; ++k)
      fn(links, plan->waiting[backwards ? plan->waiting_count - 1 - k : k], &total);
    plan->sums[plan->blocks] = total;
    plan->sums[plan->blocks] = add_blocks(plan);
  }
  tl_team_barrier(c.team);
  const sums_of total = plan->sums[plan->blocks];
  /* The total is not overwritten before all workers have read it, because another barrier comes
   * first. */
  return total;
}

/* ---- visits of one link ---------------------------------------------------------------------- */

static void warm(const tl_links *links, size_t i, sums_of *sums) {
  (void)sums;
  tl_link_push_own(&links->data[i], links->bodies, links->tensors);
}

static void aim(const tl_links *links, size_t i, sums_of *sums) {
  (void)sums;
  tl_links_aim_one(links, i, links->bodies);
}

static void sweep(const tl_links *links, size_t i, sums_of *sums) {
  tl_link *link = &links->data[i];
  if (links->recovering && !links->plan->is_recovered) {
    double recovered;
    sums->change +=
        tl_link_visit_both(link, links->bodies, links->recovering, links->tensors, &recovered);
    sums->recovered += recovered;
  } else
    sums->change += tl_link_visit(link, links->bodies, links->tensors);
}

static void sweep_law(const tl_links *links, size_t i, sums_of *sums) {
  if (links->data[i].has_law)
    sums->change += tl_link_visit(&links->data[i], links->bodies, links->tensors);
}

/* Writes the demands of hard rows into the right-hand side. */
static void ask(const tl_links *links, size_t i, sums_of *sums) {
  (void)sums;
  const tl_link_system *direct = links->direct;
  const tl_link *link = &links->data[i];
  double u[TL_JOINT_ROWS];
  tl_link_speeds(link, links->bodies, u);
  for (int r = 0; r < link->hard; ++r)
    direct->x[direct->place[link->first + (uint32_t)r]] =
        -(u[r] + link->row[r].soft * (double)link->row[r].impulse);
}

static void add(const tl_links *links, size_t i, sums_of *sums) {
  tl_link *link = &links->data[i];
  double dp[TL_JOINT_HARD];
  for (int r = 0; r < link->hard; ++r)
    dp[r] = links->direct->x[links->direct->place[link->first + (uint32_t)r]];
  sums->change += tl_link_add(link, links->bodies, links->tensors, dp);
}

static void measure(const tl_links *links, size_t i, sums_of *sums) {
  links->plan->residual[i] = tl_link_residual(&links->data[i], links->bodies, NULL, &sums->most);
}

/* ---- Gauss-Seidel ---------------------------------------------------------------------------- */

void tl_links_team_start(const tl_links *links, tl_team *team, int worker, int workers) {
  const crew c = {team, worker, workers};
  visit_all(links, c, warm, true, false);
  visit_all(links, c, aim, false, false);
}

void tl_links_team_aim(const tl_links *links, tl_team *team, int worker, int workers) {
  const crew c = {team, worker, workers};
  visit_all(links, c, aim, false, false);
}

/* Sweeps rows with a law one by one, then solves all hard rows at once. */
static double sweep_direct(const tl_links *links, crew c, bool backwards) {
  const double laws =
      links->plan->has_laws ? visit_all(links, c, sweep_law, true, backwards).change : 0;
  visit_all(links, c, ask, false, false);
  if (c.worker == 0)
    tl_link_system_solve(links->direct);
  tl_team_barrier(c.team);
  return laws + visit_all(links, c, add, true, false).change;
}

double tl_links_team_sweep(const tl_links *links, tl_team *team, int worker, int workers,
                           int turn) {
  const crew c = {team, worker, workers};
  tl_link_plan *plan = links->plan;
  if (links->direct)
    return sweep_direct(links, c, (turn & 1) != 0);
  const sums_of sums = visit_all(links, c, sweep, true, (turn & 1) != 0);
  if (worker == 0) {
    if (turn == 0)
      plan->drifted = sums.recovered;
    plan->is_recovered = plan->is_recovered || !(sums.recovered > RECOVERED * plan->drifted);
  }
  tl_team_barrier(team);
  return sums.change;
}

double tl_links_team_measure(const tl_links *links, tl_team *team, int worker, int workers,
                             double *most) {
  const crew c = {team, worker, workers};
  const sums_of sums = visit_all(links, c, measure, false, false);
  *most = fmax(*most, sums.most);
  return tl_tally_sum(links->plan->residual, links->count);
}
