/* The list of neighbours: its candidates and entries in their order.
 *
 * Two counting sorts over the same candidates, by the lower rank and by both, done together: each
 * worker counts what its share of them brings to each ball; counts become places, ball after ball
 * and within one worker after worker; each puts its share there. Shares follow each other in
 * canonical order, so that both sorts are stable and nothing depends on how many workers there are.
 */
#include "step/balls/list.h"

#define MOST_WORKERS 8              /* each has its own counts for every ball */
#define LEAST_SHARE  ((size_t)4096) /* least number of candidates for which a worker is used */

/* Number of things that a share of the candidates adds to a ball; later the place of the next
 * one. */
typedef struct lay_counts {
  uint32_t own;             /* candidates of which the ball has the lower rank */
  uint32_t low, wall, high; /* entries: partners of lower slots, walls, partners of higher slots */
} lay_counts;

typedef struct lay_sums {
  _Alignas(64) uint32_t own, entries;
} lay_sums;

typedef struct lay_job {
  tl_ball_list *list;
  lay_counts *counts; /* by worker, by rank */
  uint32_t *lowest;   /* by worker and group of eight: its part of first_owner */
  lay_sums *sums;     /* by worker: of its ranks */
  int most;           /* number of workers for which memory was taken */
} lay_job;

/* Ranks of the two balls of a candidate; the lower rank owns it. */
static void rank_near(const tl_ball_list *list, const tl_ball_near *near, uint32_t *owner,
                      uint32_t *other) {
  if (near->wall != TL_NONE) {
    *owner = list->flats.data[near->wall].ball;
    *other = (uint32_t)list->rank.count + near->wall;
    return;
  }
  const uint32_t a = list->rank.data[near->a], b = list->rank.data[near->b];
  *owner = a < b ? a : b;
  *other = a < b ? b : a;
}

static uint32_t round_up(uint32_t n) {
  return (n + TL_BALL_FOUR - 1) / TL_BALL_FOUR * TL_BALL_FOUR;
}

static void count_share(const lay_job *job, int worker, int workers) {
  const tl_ball_list *list = job->list;
  const size_t n = list->rank.count, m = list->near.count, eights = list->first_owner.count;
  lay_counts *counts = job->counts + (size_t)worker * n;
  uint32_t *lowest = job->lowest + (size_t)worker * eights;
  memset(counts, 0, n * sizeof *counts);
  for (size_t i = 0; i < eights; ++i)
    lowest[i] = (uint32_t)(i * TL_BALL_LANES);
  for (size_t k = tl_share(m, worker, workers); k < tl_share(m, worker + 1, workers); ++k) {
    const tl_ball_near *near = &list->near.data[k];
    uint32_t owner, other;
    rank_near(list, near, &owner, &other);
    counts[owner].own++;
    if (near->wall != TL_NONE) {
      counts[owner].wall++;
      continue;
    }
    counts[list->rank.data[near->b]].low++;
    counts[list->rank.data[near->a]].high++;
    if (owner < lowest[other / TL_BALL_LANES])
      lowest[other / TL_BALL_LANES] = owner;
  }
}

/* Sums the counts of a worker's ranks; these are whole groups of eight. */
static lay_sums sum_ranks(const lay_job *job, int worker, int workers) {
  const size_t n = job->list->rank.count, eights = job->list->first_owner.count;
  const size_t begin = tl_share(eights, worker, workers) * TL_BALL_LANES;
  const size_t end = tl_share(eights, worker + 1, workers) * TL_BALL_LANES;
  lay_sums sums = {0, 0};
  for (size_t i = begin; i < end && i < n; ++i) {
    uint32_t entries = 0;
    for (int w = 0; w < workers; ++w) {
      const lay_counts *c = &job->counts[(size_t)w * n + i];
      sums.own += c->own;
      entries += c->low + c->wall + c->high;
    }
    sums.entries += round_up(entries);
  }
  return sums;
}

/* Turns the counts of one ball into places, beginning at *sums. */
static void place_rank(const lay_job *job, size_t i, int workers, lay_sums *sums) {
  tl_ball_list *list = job->list;
  const size_t n = list->rank.count;
  lay_counts *c = job->counts + i;
  uint32_t own = sums->own, at = sums->entries;
  list->start.data[i] = own;
  list->entry_start.data[i] = at;
#define PLACE(field, next)                                                                         \
  for (int w = 0; w < workers; ++w) {                                                              \
    const uint32_t count = c[(size_t)w * n].field;                                                 \
    c[(size_t)w * n].field = (next);                                                               \
    (next) += count;                                                                               \
  }
  PLACE(own, own)
  PLACE(low, at)
  PLACE(wall, at)
  PLACE(high, at)
#undef PLACE
  while (at % TL_BALL_FOUR != 0)
    /* the candidate of nobody, as filler */
    list->entry.data[at++] = 2 * (uint32_t)list->near.count;
  *sums = (lay_sums){own, at};
}

static void put_share(const lay_job *job, int worker, int workers) {
  tl_ball_list *list = job->list;
  const uint32_t *rank = list->rank.data;
  const size_t m = list->near.count;
  lay_counts *next = job->counts + (size_t)worker * list->rank.count;
  for (size_t k = tl_share(m, worker, workers); k < tl_share(m, worker + 1, workers); ++k) {
    const tl_ball_near *near = &list->near.data[k];
    uint32_t owner, other;
    rank_near(list, near, &owner, &other);
    const uint32_t at = next[owner].own++;
    list->owner.data[at] = owner;
    list->other.data[at] = other;
    list->canonical.data[k] = at;
    if (near->wall != TL_NONE) {
      list->entry.data[next[owner].wall++] = 2 * at;
      continue;
    }
    const uint32_t a = rank[near->a], b = rank[near->b];
    list->entry.data[next[b].low++] = 2 * at + (b != owner);
    list->entry.data[next[a].high++] = 2 * at + (a != owner);
  }
}

/* Turns the counts of a worker's ranks into places, beginning where earlier workers end. */
static void place_ranks(const lay_job *job, int worker, int workers) {
  tl_ball_list *list = job->list;
  const size_t n = list->rank.count, eights = list->first_owner.count;
  const size_t first = tl_share(eights, worker, workers),
               last = tl_share(eights, worker + 1, workers);
  lay_sums before = {0, 0};
  for (int w = 0; w < worker; ++w) {
    before.own += job->sums[w].own;
    before.entries += job->sums[w].entries;
  }
  for (size_t i = first * TL_BALL_LANES; i < last * TL_BALL_LANES && i < n; ++i)
    place_rank(job, i, workers, &before);
  for (size_t i = first; i < last; ++i) {
    uint32_t lowest = job->lowest[i];
    for (int w = 1; w < workers; ++w)
      lowest = job->lowest[(size_t)w * eights + i] < lowest ? job->lowest[(size_t)w * eights + i]
                                                            : lowest;
    list->first_owner.data[i] = lowest;
  }
  if (worker == workers - 1) {
    list->start.data[n] = before.own;
    list->entry_start.data[n] = before.entries;
  }
}

/* Workers beyond `most` only take part in the barriers. */
static void lay_worker(void *context, tl_team *team, int worker, int all) {
  const lay_job *job = context;
  const int workers = all < job->most ? all : job->most;
  const bool works = worker < workers;
  if (works)
    count_share(job, worker, workers);
  tl_team_barrier(team);
  if (works)
    job->sums[worker] = sum_ranks(job, worker, workers);
  tl_team_barrier(team);
  if (works)
    place_ranks(job, worker, workers);
  tl_team_barrier(team);
  if (works)
    put_share(job, worker, workers);
}

talus_status tl_balls_lay_candidates(const tl_model *model, tl_arena *arena, tl_ball_list *list) {
  const size_t n = list->rank.count, shares = 1 + list->near.count / LEAST_SHARE;
  const tl_par par = tl_par_if(&model->par, shares > 1);
  int most = par.threads < MOST_WORKERS ? par.threads : MOST_WORKERS;
  if ((size_t)most > shares)
    most = (int)shares;
  const size_t workers = (size_t)most;
  lay_job job = {.list = list, .most = most};
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, workers * n, &job.counts);
  TL_TAKE(arena, workers * list->first_owner.count, &job.lowest);
  TL_TAKE(arena, workers, &job.sums);
  tl_team_run(&par, lay_worker, &job);
  list->entry.count = list->entry_start.data[n];
  tl_arena_release(arena, mark);
  return TALUS_OK;
}
