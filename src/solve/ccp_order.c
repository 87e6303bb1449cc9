/* The order of solver bodies, and tiles of them.
 *
 * A colour visits every body of its part of the scene once. With a hundred thousand bodies that
 * part must not be everything: a dozen colours a sweep would each fetch all bodies from memory. So
 * bodies are put in the order of a space-filling curve (Morton 1966) and cut into tiles that fit
 * the cache next to a core; a sweep finishes a tile before it goes on to the next
 * (contact/colour.c).
 *
 * The order is a function of positions alone, so nothing of it is kept or saved. */
#include "base/sort.h"
#include "kernels/morton.h"
#include "solve/ccp.h"

#include <math.h>

#define LEAST_BODIES  4096 /* fewer are in the cache anyway */
#define LEAST_OF_TILE 512
#define MOST_OF_TILE  4096 /* 256 KiB of bodies in double */
#define WANTED_TILES  64   /* enough for as many threads */
#define FEW_BITS      5    /* of each axis, for up to MOST_FEW bodies: two digits to sort by */
#define MANY_BITS     7    /* for more: three digits */
#define MOST_FEW      ((size_t)100000)
#define SUMS          7 /* of a block: bodies, and x, y, z and their squares */

typedef struct order_job {
  const tl_model *model;
  const tl_scope *scope;
  talus_dvec3 origin;
  double (*sums)[SUMS]; /* by block of TL_BLOCK members */
  double low[3], scale[3];
  int bits; /* of each axis of a key; the bit above is for static bodies */
  uint32_t spread[3][1 << MANY_BITS]; /* by axis and cell: its share of a key */
  uint32_t *keys, *members;           /* in the order of keys */
  uint32_t *rank, *index_of, *tile_of;
  uint32_t tile;
  size_t movable;
} order_job;

static void sum_blocks(void *context, size_t begin, size_t end) {
  const order_job *job = context;
  for (size_t block = begin; block < end; ++block) {
    /* Not in memory: each sum would wait for the one before to be written. */
    double bodies = 0, x1 = 0, y1 = 0, z1 = 0, x2 = 0, y2 = 0, z2 = 0;
    const size_t first = block * TL_BLOCK, left = job->scope->count - first;
    for (size_t i = first; i < first + (left < TL_BLOCK ? left : TL_BLOCK); ++i) {
      const uint32_t slot = tl_scope_slot(job->scope, i);
      if (tl_body_is_static(job->model, slot))
        continue;
      const talus_dvec3 x = tl_dsub(job->scope->in->position[slot], job->origin);
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
static talus_status find_cells(order_job *job) {
  const size_t blocks = (job->scope->count + TL_BLOCK - 1) / TL_BLOCK;
  double total[SUMS] = {0};
  const tl_arena_mark mark = tl_arena_get_mark(job->scope->arena);
  TL_TAKE(job->scope->arena, blocks, &job->sums);
  job->origin = job->scope->in->position[tl_scope_slot(job->scope, job->scope->count - 1)];
  tl_for(&job->model->par, blocks, 4, sum_blocks, job);
  for (size_t block = 0; block < blocks; ++block)
    for (int k = 0; k < SUMS; ++k)
      total[k] += job->sums[block][k];
  tl_arena_release(job->scope->arena, mark);
  job->movable = (size_t)total[0];
  for (int k = 0; k < 3 && job->movable > 0; ++k) {
    const double mean = total[1 + k] / total[0];
    const double deviation = sqrt(fmax(total[4 + k] / total[0] - mean * mean, 0));
    job->low[k] = mean - 2 * deviation;
    job->scale[k] = deviation > 0 ? (1 << job->bits) / (4 * deviation) : 0;
  }
  return TALUS_OK;
}

static void spread_cells(order_job *job) {
  for (uint32_t cell = 0; cell < 1u << job->bits; ++cell) {
    job->spread[0][cell] = tl_morton3_u32(cell, 0, 0);
    job->spread[1][cell] = tl_morton3_u32(0, cell, 0);
    job->spread[2][cell] = tl_morton3_u32(0, 0, cell);
  }
}

static inline uint32_t share_of_key(const order_job *job, int axis, double x) {
  const double cell = (x - job->low[axis]) * job->scale[axis], last = (1 << job->bits) - 1;
  const double least = cell > 0 ? cell : 0; /* two steps: neither then is a branch */
  return job->spread[axis][(int)(least < last ? least : last)];
}

/* Bodies that contacts cannot move come last: they are in no tile. */
static void find_keys(void *context, size_t begin, size_t end) {
  const order_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_scope_slot(job->scope, i);
    const talus_dvec3 x = tl_dsub(job->scope->in->position[slot], job->origin);
    const uint32_t key =
        share_of_key(job, 0, x.x) | share_of_key(job, 1, x.y) | share_of_key(job, 2, x.z);
    job->members[i] = (uint32_t)i;
    job->keys[i] = tl_body_is_static(job->model, slot) ? UINT32_C(1) << (3 * job->bits) : key;
  }
}

static void write_order(void *context, size_t begin, size_t end) {
  const order_job *job = context;
  uint32_t tile = (uint32_t)begin / job->tile;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t member = job->members[i], slot = tl_scope_slot(job->scope, member);
    tile += i >= ((size_t)tile + 1) * job->tile;
    job->rank[member] = (uint32_t)i;
    job->index_of[slot] = (uint32_t)i;
    job->tile_of[slot] = i < job->movable ? tile : TL_NONE;
  }
}

talus_status tl_ccp_order_bodies(tl_ccp *job) {
  const tl_scope *scope = job->scope;
  if (scope->count < LEAST_BODIES) {
    if (scope->members) {
      uint32_t *index_of;
      TL_TAKE(scope->arena, job->model->bodies, &index_of);
      for (size_t i = 0; i < scope->count; ++i)
        index_of[scope->members[i]] = (uint32_t)i;
      job->index_of = index_of;
    }
    return TALUS_OK;
  }
  order_job order = {
      .model = job->model, .scope = scope, .bits = scope->count <= MOST_FEW ? FEW_BITS : MANY_BITS};
  TL_TAKE(scope->arena, scope->count, &order.rank);
  order.index_of = order.rank;
  if (scope->members)
    TL_TAKE(scope->arena, job->model->bodies, &order.index_of);
  TL_TAKE(scope->arena, job->model->bodies, &order.tile_of);
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  TL_TRY(find_cells(&order));
  TL_TAKE(scope->arena, scope->count, &order.keys);
  TL_TAKE(scope->arena, scope->count, &order.members);
  spread_cells(&order);
  tl_for(&job->model->par, scope->count, 2048, find_keys, &order);
  TL_TRY(tl_sort_u32(&job->model->par, scope->arena, order.keys, order.members, scope->count,
                     3 * order.bits + 1));
  const size_t wanted = order.movable / WANTED_TILES;
  order.tile = (uint32_t)(wanted < LEAST_OF_TILE  ? LEAST_OF_TILE
                          : wanted > MOST_OF_TILE ? MOST_OF_TILE
                                                  : wanted);
  tl_for(&job->model->par, scope->count, 2048, write_order, &order);
  tl_arena_release(scope->arena, mark);
  job->rank = order.rank;
  job->index_of = order.index_of;
  job->tiles = (tl_tiles){order.tile_of, (order.movable + order.tile - 1) / order.tile};
  return TALUS_OK;
}
