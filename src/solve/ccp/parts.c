/* Islands of the cone complementarity problem: each is solved separately, to its own tolerance, in
 * as many sweeps as it needs; an island that converges slowly costs the others nothing.
 *
 *   small islands  a ball on the floor, a pair in flight: a few rows, visited one after the other
 *                  in canonical order by one thread. They share packs, but no body.
 *   parts          larger islands with packs and colours of their own; all threads work on a large
 *                  one together, one thread each on the others, the largest first.
 *
 * The assignment to threads changes no bit, because islands share no movable body. Gradient methods
 * have only parts, one after the other, with renumbered bodies: their vectors are as long as the
 * part, not as the scene. */
#include "contact/island.h"
#include "solve/ccp/ccp.h"

#include <math.h>

#define W TL_CCP_LANES
/* Islands with fewer rows are small: filling packs by colour would cost more than it saves. */
#define SMALL      TL_CCP_SMALL
#define CHUNK_ROWS 64 /* rows of small islands that one thread takes at a time */
/* Rows of all islands that are dealt out: with fewer, no thread is woken. */
#define TEAM_LEAST 512

/* ---- planning -------------------------------------------------------------------------------- */

/* Rows of small islands fill packs without gaps. */
static void cut_small(tl_ccp *job) {
  const uint32_t rows = job->small_start[job->small_count];
  for (uint32_t row = 0; row < rows; row += W)
    job->rows.pack_row[job->rows.pack_count++] = row;
}

static talus_status cut(tl_ccp *job, const uint32_t *start) {
  tl_arena *arena = job->system->crowd->arena;
  size_t packs = job->small_start[job->small_count] / W + 1;
  for (size_t i = 0; i < job->part_count; ++i)
    packs += tl_ccp_most_packs(&job->parts[i]);
  TL_TAKE(arena, packs + 1, &job->rows.pack_row);
  cut_small(job);
  for (size_t i = 0; i < job->part_count; ++i)
    TL_TRY(tl_ccp_cut_part(job, &job->parts[i], start[i]));
  TL_ASSERT(job->rows.pack_count <= packs);
  job->rows.pack_row[job->rows.pack_count] = (uint32_t)job->rows.count;
  return TALUS_OK;
}

/* Sorts the joints by island, so that the links of a part are neighbours. */
static talus_status order_links(tl_ccp *job, const tl_islands *islands) {
  uint32_t *ordered;
  if (job->links.count == 0)
    return TALUS_OK;
  TL_TAKE(job->system->crowd->arena, job->links.count, &ordered);
  for (size_t i = 0; i < job->links.count; ++i)
    ordered[i] = job->links.joint[islands->link_order[i]];
  job->links.joint = ordered;
  return TALUS_OK;
}

static talus_status plan_part(tl_ccp *job, const tl_islands *islands, size_t island,
                              const tl_pair *ends, tl_ccp_part *part) {
  const tl_system *system = job->system;
  const uint32_t first = islands->start[island], count = islands->start[island + 1] - first;
  const uint32_t *links = islands->link_start;
  tl_tiles tiles = system->tiles;
  *part = (tl_ccp_part){.system = system, .par = system->model->par, .report = system->report};
  part->rows.count = count;
  part->links = job->links;
  part->links.first = links ? links[island] : 0;
  part->links.count = links ? links[island + 1] - links[island] : 0;
  /* A part that one thread solves fits into its cache, so it needs no tiles. */
  if (system->settings->islands && count < TL_CCP_TEAM_ROWS)
    tiles.count = 0;
  TL_TRY(tl_contact_colour_some(system->crowd, system->contacts, ends, islands->order + first,
                                count, tiles, &part->colours));
  part->rows.contact = part->colours.order;
  return TALUS_OK;
}

talus_status tl_ccp_plan_parts(tl_ccp *job, const tl_pairs *pairs, void *room, size_t room_bytes) {
  tl_system *system = job->system;
  const tl_crowd *crowd = system->crowd;
  const bool gradient = system->settings->method != TALUS_GAUSS_SEIDEL;
  tl_islands islands;
  tl_pair *ends = room;
  if (system->contacts->count * sizeof *ends > room_bytes)
    TL_TAKE(crowd->arena, system->contacts->count, &ends);
  TL_TRY(tl_contact_find_islands(crowd, system->contacts, pairs, system->settings->islands,
                                 gradient ? 0 : SMALL, ends, &islands));
  TL_TRY(order_links(job, &islands));
  system->label = islands.label;
  job->rows.contact = islands.order;
  job->rows.count = islands.start[islands.count];
  job->small_start = islands.start;
  job->small_count = islands.small_count;
  job->part_count = islands.count - islands.small_count;
  TL_TAKE(crowd->arena, job->part_count, &job->parts);
  for (size_t i = 0; i < job->part_count; ++i)
    TL_TRY(plan_part(job, &islands, islands.small_count + i, ends, &job->parts[i]));
  return cut(job, islands.start + islands.small_count);
}

/* ---- small islands --------------------------------------------------------------------------- */

/* Residual of rows [begin, end) at the present velocities: returns the sum of squares; *most is the
 * largest. */
static double measure_rows(const tl_ccp *job, uint32_t begin, uint32_t end, double *most) {
  double sum = 0;
  *most = 0;
  for (uint32_t row = begin; row < end; ++row) {
    const double r = (double)tl_ccp_residual_lane(&job->rows, row / W, row % W);
    sum += r * r;
    *most = fmax(*most, r);
  }
  return sum;
}

static double warm_small(const tl_ccp *job, uint32_t begin, uint32_t end, talus_real share) {
  double sum = 0;
  for (uint32_t row = begin; row < end; ++row)
    sum += tl_ccp_warm_lane(&job->rows, row / W, row % W, share);
  return sum;
}

/* Does the same as `start` of solve/ccp/seidel.c for a small island. */
static void start_small(const tl_ccp *job, uint32_t begin, uint32_t end) {
  const double q = warm_small(job, begin, end, 1);
  if (!(q > 0))
    return;
  warm_small(job, begin, end, -1);
  const talus_real share = tl_warm_share(q, warm_small(job, begin, end, 0));
  for (uint32_t row = begin; row < end; ++row)
    tl_ccp_scale_lane(&job->rows, row / W, row % W, share);
  warm_small(job, begin, end, 1);
}

/* Does the same as `iterate` of solve/ccp/seidel.c, row after row. Returns the sum of squared
 * residuals. */
static double solve_small(const tl_ccp *job, uint32_t begin, uint32_t end, double *most,
                          int *iterations) {
  const double rows = (double)(end - begin);
  if (job->system->settings->warm_start)
    start_small(job, begin, end);
  tl_ccp_small_momentum momentum;
  tl_effort effort = tl_effort_of(job->system, end - begin, job->links.count > 0);
  const int patience = tl_ccp_set_off_small(job, begin, end, &momentum);
  double sum = -1;
  int done = 0;
  while (done < effort.most) {
    double change = 0;
    if (done == patience && patience > 0)
      tl_ccp_set_off_small(job, begin, end, &momentum);
    for (uint32_t row = begin; row < end; ++row)
      change += tl_ccp_sweep_lane(&job->rows, row / W, row % W);
    done++;
    sum = -1;
    if (tl_cancel_look(job->system->crowd->cancel))
      break;
    if (tl_effort_wants_look(&effort, done, sqrt(change / rows))) {
      sum = measure_rows(job, begin, end, most);
      if (tl_effort_is_enough(&effort, done, sqrt(sum / rows)))
        break;
    }
    if (done < effort.most && done > patience)
      tl_ccp_move_on_small(job, begin, end, change, &momentum);
  }
  *iterations = done > *iterations ? done : *iterations;
  return sum < 0 ? measure_rows(job, begin, end, most) : sum;
}

/* ---- the whole solve ------------------------------------------------------------------------- */

/* Position correction skips islands without overlap. rms: residual of rows [begin, end). */
static bool has_work(const tl_ccp *job, size_t begin, size_t end, double rms) {
  const bool is_rough = rms * job->system->crowd->dt > (double)job->system->slop;
  const unsigned work = TL_CCP_DEEP | (is_rough ? TL_CCP_SINKING : 0u);
  for (size_t row = begin; job->deep && row < end; ++row)
    if (job->deep[row] & work)
      return true;
  return !job->deep;
}

static bool part_has_work(const tl_ccp *job, const tl_ccp_part *part) {
  const uint32_t first = job->rows.pack_row[part->first_pack];
  return has_work(job, first, first + part->rows.count, part->rms);
}

/* The islands as they are dealt out to threads: parts by size, then chunks of small islands. */
typedef struct deal {
  tl_ccp *job;
  uint32_t *part; /* the parts that one thread solves, largest first */
  size_t parts;
  uint32_t *chunk; /* first small island of each chunk, and one more */
  size_t chunks;
  tl_tally *sum; /* by chunk, island by island: of squared residuals; */
  double *most;  /* the largest */
  int *iterations;
} deal;

static void solve_dealt(void *context, size_t begin, size_t end) {
  const deal *d = context;
  for (size_t i = begin; i < end; ++i) {
    if (i < d->parts) {
      tl_ccp_part *part = &d->job->parts[d->part[i]];
      if (part_has_work(d->job, part))
        tl_ccp_gauss_seidel(part);
      continue;
    }
    const size_t chunk = i - d->parts;
    const uint32_t *start = d->job->small_start;
    tl_tally_clear(&d->sum[chunk]);
    d->most[chunk] = 0;
    d->iterations[chunk] = 0;
    for (uint32_t k = d->chunk[chunk]; k < d->chunk[chunk + 1]; ++k) {
      double most = 0;
      if (!has_work(d->job, start[k], start[k + 1], (double)d->job->small_rms[k]))
        continue;
      const double sum = solve_small(d->job, start[k], start[k + 1], &most, &d->iterations[chunk]);
      if (!d->job->deep)
        d->job->small_rms[k] = (float)sqrt(sum / (double)(start[k + 1] - start[k]));
      tl_tally_add(&d->sum[chunk], sum);
      d->most[chunk] = fmax(d->most[chunk], most);
    }
  }
}

static void cut_chunks(deal *d) {
  const uint32_t *start = d->job->small_start;
  const uint32_t islands = (uint32_t)d->job->small_count;
  d->chunks = 0;
  for (uint32_t k = 0; k < islands;) {
    d->chunk[d->chunks++] = k;
    const uint32_t first = start[k];
    while (k < islands && start[k + 1] - first < CHUNK_ROWS)
      k++;
    k += k < islands;
  }
  d->chunk[d->chunks] = islands;
}

/* Size of a part that one thread solves: its rows and links, limited to TL_CCP_TEAM_ROWS - 1. */
static size_t size_of(const tl_ccp_part *part) {
  const size_t rows = part->rows.count + part->links.rows;
  return rows < TL_CCP_TEAM_ROWS ? rows : TL_CCP_TEAM_ROWS - 1;
}

/* Sorts parts by size, the largest first. A counting sort: sizes are small numbers. */
static void list_parts(deal *d) {
  const tl_ccp_part *parts = d->job->parts;
  uint32_t next[TL_CCP_TEAM_ROWS + 1] = {0}; /* number of parts with as many rows or more */
  for (size_t i = 0; i < d->job->part_count; ++i)
    if (!tl_ccp_is_shared(&parts[i]))
      next[size_of(&parts[i])]++;
  for (size_t rows = TL_CCP_TEAM_ROWS; rows > 0; --rows)
    next[rows - 1] += next[rows];
  d->parts = next[0];
  for (uint32_t i = 0; i < d->job->part_count; ++i)
    if (!tl_ccp_is_shared(&parts[i]))
      d->part[next[size_of(&parts[i]) + 1]++] = i;
}

static void add_report(tl_solve_report *total, const tl_solve_report *one) {
  total->residual_max = fmax(total->residual_max, one->residual_max);
  total->iterations = one->iterations > total->iterations ? one->iterations : total->iterations;
  total->rise = fmax(total->rise, one->rise);
  total->restarts += one->restarts;
}

/* Largest residual of all islands, and the RMS over all rows. It is tallied because islands have no
 * order. */
static void put_together(tl_ccp *job, const deal *d) {
  tl_tally sum;
  tl_tally_clear(&sum);
  for (size_t i = 0; i < job->part_count; ++i) {
    const tl_solve_report *report = job->parts[i].report;
    tl_tally_add(&sum, report->residual_rms * report->residual_rms *
                           tl_ccp_rows_of(&job->parts[i].rows, &job->parts[i].links));
    add_report(job->system->report, report);
  }
  for (size_t i = 0; d && i < d->chunks; ++i) {
    const tl_solve_report report = {.residual_max = d->most[i], .iterations = d->iterations[i]};
    tl_tally_merge(&sum, &d->sum[i]);
    add_report(job->system->report, &report);
  }
  job->system->report->residual_rms =
      sqrt(tl_tally_value(&sum) / tl_ccp_rows_of(&job->rows, &job->links));
}

static talus_status solve_seidel(tl_ccp *job) {
  tl_arena *arena = job->system->crowd->arena;
  const size_t small_rows = job->small_start[job->small_count];
  const size_t most_chunks = small_rows / CHUNK_ROWS + 1;
  const tl_par alone = {.threads = 1};
  deal d = {.job = job};
  TL_TAKE(arena, job->part_count, &d.part);
  TL_TAKE(arena, most_chunks + 1, &d.chunk);
  TL_TAKE(arena, most_chunks, &d.sum);
  TL_TAKE(arena, most_chunks, &d.most);
  TL_TAKE(arena, most_chunks, &d.iterations);
  if (!job->deep) {
    TL_TAKE(arena, job->small_count, &job->small_rms);
    memset(job->small_rms, 0, job->small_count * sizeof *job->small_rms);
  }
  size_t rows = small_rows;
  for (size_t i = 0; i < job->part_count; ++i) {
    if (!part_has_work(job, &job->parts[i]))
      continue;
    TL_TRY(tl_ccp_take_sums(&job->parts[i]));
    if (!tl_ccp_is_shared(&job->parts[i]))
      rows += job->parts[i].rows.count + job->parts[i].links.rows;
    else
      tl_ccp_gauss_seidel(&job->parts[i]);
  }
  list_parts(&d);
  cut_chunks(&d);
  tl_deal(rows >= TEAM_LEAST ? &job->system->model->par : &alone, d.parts + d.chunks, solve_dealt,
          &d);
  if (!job->deep)
    put_together(job, &d);
  return TALUS_OK;
}

static talus_status solve_gradient(tl_ccp *job) {
  tl_arena *arena = job->system->crowd->arena;
  const size_t bodies = job->rows.body_count;
  tl_ccp_numbering names;
  /* Parts are solved one after the other by gradient methods. A step has a dozen loops, and waking
   * threads for each would cost more than a small part. */
  for (size_t i = 0; i < job->part_count; ++i)
    if (job->parts[i].rows.count < TL_CCP_TEAM_ROWS / 4)
      job->parts[i].par.threads = 1;
  if (job->part_count == 1) { /* bodies are not renumbered: nearly all take part */
    TL_TRY(tl_ccp_gradient(&job->parts[0]));
    put_together(job, NULL);
    return TALUS_OK;
  }
  TL_TAKE(arena, bodies, &names.number);
  memset(names.number, 0xff, bodies * sizeof *names.number);
  for (size_t i = 0; i < job->part_count; ++i) {
    const tl_arena_mark mark = tl_arena_get_mark(arena);
    TL_TRY(tl_ccp_take_bodies(job, &job->parts[i], &names));
    TL_TRY(tl_ccp_gradient(&job->parts[i]));
    tl_ccp_give_back(job, &job->parts[i], &names);
    tl_arena_release(arena, mark);
  }
  put_together(job, NULL);
  return TALUS_OK;
}

talus_status tl_ccp_solve_parts(tl_ccp *job) {
  tl_solve_report *reports;
  if (job->rows.count == 0 && job->links.count == 0)
    return TALUS_OK;
  TL_TAKE(job->system->crowd->arena, job->part_count, &reports);
  for (size_t i = 0; i < job->part_count; ++i) {
    reports[i] = (tl_solve_report){0};
    job->parts[i].report = &reports[i];
  }
  return job->system->settings->method == TALUS_GAUSS_SEIDEL ? solve_seidel(job)
                                                             : solve_gradient(job);
}
