/* The order of solver bodies, and tiles of them.
 *
 * A colour visits every body of its part of the scene once. With a hundred thousand bodies that
 * part must not be the whole scene: each of a dozen colours would read all bodies from memory. So
 * bodies are put in the order of a space-filling curve (Morton 1966) and divided into tiles that
 * fit into a core's own cache; a sweep finishes a tile before it goes on to the next
 * (contact/colour.c).
 *
 * The order is a function of positions alone, so it is neither kept nor saved. */
#include "kernels/morton.h"
#include "solve/system/system.h"

#include <math.h>

#define LEAST_BODIES  4096 /* with fewer bodies all are in the cache anyway */
#define LEAST_OF_TILE 512
#define MOST_OF_TILE  4096 /* 256 KiB of bodies in double */
#define WANTED_TILES  64   /* enough for as many threads */
#define FEW_BITS      4    /* of each axis, for up to MOST_FEW bodies */
/* for more: of a million bodies 30 share a cell, far fewer than a tile has */
#define MANY_BITS 5
#define MOST_FEW  ((size_t)40000)
#define SUMS      7 /* of a block: number of bodies, and x, y, z and their squares */

_Static_assert(3 * MANY_BITS < 16, "keys have 16 bits");

typedef struct order_job {
  const tl_model *model;
  const tl_crowd *crowd;
  talus_dvec3 origin;
  double (*sums)[SUMS];               /* by block of TL_BLOCK members */
  int bits;                           /* of each axis of a key */
  size_t cells;                       /* the last one is for static bodies */
  uint32_t spread[3][1 << MANY_BITS]; /* by axis and cell along it: its contribution to a key */
  uint16_t *keys;                     /* by member: its cell */
  uint32_t *next;   /* by worker and cell: its members there; then where the next of them goes */
  size_t *in_range; /* by worker: number of members in its range of cells */
  uint32_t *rank, *index_of, *tile_of;
} order_job;

/* Where cells are; every worker finds the same. */
typedef struct grid {
  double low[3], scale[3];
  size_t movable;
} grid;

static size_t blocks_of(const order_job *job) {
  return (job->crowd->count + TL_BLOCK - 1) / TL_BLOCK;
}

static void sum_blocks(const order_job *job, size_t begin, size_t end) {
  for (size_t block = begin; block < end; ++block) {
    /* Local variables: sums in memory would wait for each write. */
    double bodies = 0, x1 = 0, y1 = 0, z1 = 0, x2 = 0, y2 = 0, z2 = 0;
    const size_t first = block * TL_BLOCK, left = job->crowd->count - first;
    for (size_t i = first; i < first + (left < TL_BLOCK ? left : TL_BLOCK); ++i) {
      const uint32_t slot = tl_crowd_slot(job->crowd, i);
      if (tl_body_is_static(job->model, slot))
        continue;
      const talus_dvec3 x = tl_dsub(job->crowd->in->position[slot], job->origin);
      bodies += 1;
      x1 += x.x, y1 += x.y, z1 += x.z;
      x2 += x.x * x.x, y2 += x.y * x.y, z2 += x.z * x.z;
    }
    const double sums[SUMS] = {bodies, x1, y1, z1, x2, y2, z2};
    memcpy(job->sums[block], sums, sizeof sums);
  }
}

/* Cells cover two standard deviations to either side of the mean (a box of evenly spread bodies
 * reaches to 1.7), so that a few bodies that flew far away do not spoil the order of the rest. */
static grid find_cells(const order_job *job) {
  const size_t blocks = blocks_of(job);
  double total[SUMS];
  for (int k = 0; k < SUMS; ++k) {
    tl_tally sum;
    tl_tally_clear(&sum);
    for (size_t block = 0; block < blocks; ++block)
      tl_tally_add(&sum, job->sums[block][k]);
    total[k] = tl_tally_value(&sum);
  }
  grid to = {.movable = (size_t)total[0]};
  for (int k = 0; k < 3 && to.movable > 0; ++k) {
    const double mean = total[1 + k] / total[0];
    const double deviation = sqrt(fmax(total[4 + k] / total[0] - mean * mean, 0));
    to.low[k] = mean - 2 * deviation;
    to.scale[k] = deviation > 0 ? (1 << job->bits) / (4 * deviation) : 0;
  }
  return to;
}

static void spread_cells(order_job *job) {
  for (uint32_t cell = 0; cell < 1u << job->bits; ++cell) {
    job->spread[0][cell] = tl_morton3_u32(cell, 0, 0);
    job->spread[1][cell] = tl_morton3_u32(0, cell, 0);
    job->spread[2][cell] = tl_morton3_u32(0, 0, cell);
  }
}

static inline uint32_t share_of_key(const order_job *job, const grid *in, int axis, double x) {
  const double cell = (x - in->low[axis]) * in->scale[axis], last = (1 << job->bits) - 1;
  const double least = cell > 0 ? cell : 0; /* two statements, so that neither is a branch */
  return job->spread[axis][(int)(least < last ? least : last)];
}

/* Bodies that contacts cannot move come last and belong to no tile. */
static void find_keys(const order_job *job, const grid *in, size_t begin, size_t end,
                      uint32_t *count) {
  memset(count, 0, job->cells * sizeof *count);
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i);
    const talus_dvec3 x = tl_dsub(job->crowd->in->position[slot], job->origin);
    const uint32_t key = share_of_key(job, in, 0, x.x) | share_of_key(job, in, 1, x.y) |
                         share_of_key(job, in, 2, x.z);
    const size_t cell = tl_body_is_static(job->model, slot) ? job->cells - 1 : key;
    job->keys[i] = (uint16_t)cell;
    count[cell]++;
  }
}

/* Places of cells [begin, end): cell after cell, and within a cell worker after worker, because
 * earlier workers have members of lower numbers. Returns how many members there are. */
static size_t lay_out_cells(const order_job *job, size_t begin, size_t end, int workers) {
  uint32_t at = 0;
  for (size_t cell = begin; cell < end; ++cell)
    for (int w = 0; w < workers; ++w) {
      uint32_t *next = &job->next[(size_t)w * job->cells + cell];
      const uint32_t members = *next;
      *next = at;
      at += members;
    }
  return at;
}

/* Moves the ranges of cells behind each other, for one worker. */
static void shift_ranges(const order_job *job, int workers, uint32_t *next) {
  uint32_t at = 0;
  for (int w = 0; w < workers; ++w) {
    const size_t end = tl_share(job->cells, w + 1, workers);
    for (size_t cell = tl_share(job->cells, w, workers); cell < end; ++cell)
      next[cell] += at;
    at += (uint32_t)job->in_range[w];
  }
}

static uint32_t tile_size(size_t movable) {
  const size_t wanted = movable / WANTED_TILES;
  return (uint32_t)(wanted < LEAST_OF_TILE  ? LEAST_OF_TILE
                    : wanted > MOST_OF_TILE ? MOST_OF_TILE
                                            : wanted);
}

/* A stable counting sort of members by cell. Nothing is moved: only the place of each member is
 * wanted. */
static void write_order(const order_job *job, size_t movable, size_t begin, size_t end,
                        uint32_t *next) {
  const uint32_t tile = tile_size(movable);
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i), at = next[job->keys[i]]++;
    job->rank[i] = at;
    job->index_of[slot] = at;
    job->tile_of[slot] = at < movable ? at / tile : TL_NONE;
  }
}

static void order_share(void *context, tl_team *team, int worker, int workers) {
  const order_job *job = context;
  const size_t n = job->crowd->count, blocks = blocks_of(job);
  const size_t begin = tl_share(n, worker, workers), end = tl_share(n, worker + 1, workers);
  uint32_t *next = job->next + (size_t)worker * job->cells;
  sum_blocks(job, tl_share(blocks, worker, workers), tl_share(blocks, worker + 1, workers));
  tl_team_barrier(team);
  const grid in = find_cells(job);
  find_keys(job, &in, begin, end, next);
  tl_team_barrier(team);
  job->in_range[worker] = lay_out_cells(job, tl_share(job->cells, worker, workers),
                                        tl_share(job->cells, worker + 1, workers), workers);
  tl_team_barrier(team);
  shift_ranges(job, workers, next);
  write_order(job, in.movable, begin, end, next);
}

talus_status tl_system_order(tl_system *system) {
  const tl_crowd *crowd = system->crowd;
  if (crowd->count < LEAST_BODIES) {
    if (crowd->members) {
      uint32_t *index_of;
      TL_TAKE(crowd->arena, system->model->bodies, &index_of);
      for (size_t i = 0; i < crowd->count; ++i)
        index_of[crowd->members[i]] = (uint32_t)i;
      system->index_of = index_of;
    }
    return TALUS_OK;
  }
  const int bits = crowd->count <= MOST_FEW ? FEW_BITS : MANY_BITS;
  order_job order = {.model = system->model,
                     .crowd = crowd,
                     .origin = crowd->in->position[tl_crowd_slot(crowd, crowd->count - 1)],
                     .bits = bits,
                     .cells = ((size_t)1 << (3 * bits)) + 1};
  TL_TAKE(crowd->arena, crowd->count, &order.rank);
  order.index_of = order.rank;
  if (crowd->members)
    TL_TAKE(crowd->arena, system->model->bodies, &order.index_of);
  TL_TAKE(crowd->arena, system->model->bodies, &order.tile_of);
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  const size_t threads = (size_t)system->model->par.threads;
  TL_TAKE(crowd->arena, blocks_of(&order), &order.sums);
  TL_TAKE(crowd->arena, crowd->count, &order.keys);
  TL_TAKE(crowd->arena, threads * order.cells, &order.next);
  TL_TAKE(crowd->arena, threads, &order.in_range);
  spread_cells(&order);
  tl_team_run(&system->model->par, order_share, &order);
  const size_t movable = find_cells(&order).movable, tile = tile_size(movable);
  tl_arena_release(crowd->arena, mark);
  system->rank = order.rank;
  system->index_of = order.index_of;
  system->tiles = (tl_tiles){order.tile_of, (movable + tile - 1) / tile};
  return TALUS_OK;
}
