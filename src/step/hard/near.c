/* Neighbours of hard spheres in one step: measures how far bodies have moved, and finds pairs that
 * touch. */
#include "step/hard/near.h"

#include "base/sort.h"

#include <math.h>
#include <stdatomic.h>

#define BLOCK   ((size_t)1024) /* bodies */
#define CHUNK   ((size_t)2048) /* candidates */
#define SAMPLES ((size_t)1024) /* bodies that are sampled for the mean displacement */

typedef struct near_job {
  const tl_crowd *crowd;
  tl_near *near;
  talus_dvec3 drift;       /* m: mean displacement */
  float *ways;             /* by slot, m: displacement relative to the mean; rounded up */
  float *most;             /* of each block, m: the two largest */
  uint32_t *walled;        /* balls that may touch a wall */
  _Atomic size_t *walleds; /* their number */
  uint64_t *keys;          /* pairs that touch, as keys: a in the upper bits, b below */
  _Atomic size_t *found;
  int bits; /* bits of a slot in a key */
  const tl_near_side *sides;
} near_job;

/* ---- are candidates valid? ------------------------------------------------------------------- */

static bool is_same_place(const tl_crowd *crowd, const tl_near_wall *wall) {
  const talus_dvec3 x = crowd->in->position[wall->slot];
  const talus_quat q = crowd->in->rotation[wall->slot];
  return x.x == wall->position.x && x.y == wall->position.y && x.z == wall->position.z &&
         q.w == wall->rotation.w && q.x == wall->rotation.x && q.y == wall->rotation.y &&
         q.z == wall->rotation.z;
}

/* True if candidates were found for these bodies, with the same groups, and these walls. */
static bool is_known(const tl_crowd *crowd, const tl_near *near) {
  if (!near->valid || near->from.count != crowd->count ||
      near->ignored != crowd->model->ignored.count)
    return false;
  for (size_t i = 0; i < near->walls.count; ++i)
    if (!is_same_place(crowd, &near->walls.data[i]))
      return false;
  return true;
}

/* Mean displacement of sampled bodies. Any vector would be correct; the mean makes relative
 * displacements small. */
static talus_dvec3 find_drift(const tl_crowd *crowd, const tl_near *near) {
  const size_t stride = crowd->count / SAMPLES + 1;
  talus_dvec3 sum = {0, 0, 0};
  size_t n = 0;
  for (size_t i = 0; i < crowd->count; i += stride, ++n)
    sum = tl_dadd(sum, tl_dsub(crowd->in->position[i], near->from.data[i]));
  return tl_dscale(sum, 1 / (double)n);
}

static void measure_block(const near_job *job, size_t block) {
  const tl_crowd *crowd = job->crowd;
  const tl_near *near = job->near;
  const size_t begin = block * BLOCK;
  const size_t end = begin + BLOCK < crowd->count ? begin + BLOCK : crowd->count;
  uint32_t walled[BLOCK];
  size_t walleds = 0;
  float first = 0, second = 0;
  for (size_t i = begin; i < end; ++i) {
    const talus_dvec3 way = tl_dsub(crowd->in->position[i], near->from.data[i]);
    const talus_dvec3 beside = tl_dsub(way, job->drift);
    const bool is_ball = !tl_body_is_static(crowd->model, i);
    const float far = is_ball ? (float)(sqrt(tl_ddot(beside, beside)) * (1 + 1e-6)) : 0;
    const double room = (double)near->room.data[i];
    job->ways[i] = far;
    walled[walleds] = (uint32_t)i;
    walleds += is_ball && !(room > 0 && tl_ddot(way, way) < room * room);
    if (!(far <= second)) {
      second = far <= first ? far : first;
      first = far <= first ? first : far; /* keeps a value that is not a number */
    }
  }
  job->most[2 * block] = first, job->most[2 * block + 1] = second;
  const size_t at = atomic_fetch_add_explicit(job->walleds, walleds, memory_order_relaxed);
  memcpy(job->walled + at, walled, walleds * sizeof *walled);
}

static void measure_blocks(void *context, size_t begin, size_t end) {
  for (size_t b = begin; b < end; ++b)
    measure_block(context, b);
}

/* Measures all displacements; false if two bodies may have met that are no candidates. */
static bool measure(near_job *job) {
  const size_t blocks = (job->crowd->count + BLOCK - 1) / BLOCK;
  float first = 0, second = 0;
  atomic_store(job->walleds, 0);
  job->drift = find_drift(job->crowd, job->near);
  tl_for(&job->crowd->model->par, blocks, 4, measure_blocks, job);
  for (size_t i = 0; i < 2 * blocks; ++i) {
    const float far = job->most[i];
    if (!(far <= second)) {
      second = far <= first ? far : first;
      first = far <= first ? first : far;
    }
  }
  return (double)first + (double)second < job->near->skin;
}

/* ---- which pairs touch? ---------------------------------------------------------------------- */

static void put(const near_job *job, const uint64_t *keys, size_t count) {
  const size_t at = atomic_fetch_add_explicit(job->found, count, memory_order_relaxed);
  memcpy(job->keys + at, keys, count * sizeof *keys);
}

static uint64_t key_of(const near_job *job, uint32_t a, uint32_t b) {
  return a < b ? (uint64_t)a << job->bits | b : (uint64_t)b << job->bits | a;
}

/* True if the narrow phase, with margin 0, would keep the pair (kernels/collide_sphere.h). */
static bool do_touch(const tl_crowd *crowd, tl_pair pair) {
  const talus_dvec3 d = tl_dsub(crowd->in->position[pair.b], crowd->in->position[pair.a]);
  const double reach = tl_near_radius(crowd->model, pair.a) + tl_near_radius(crowd->model, pair.b);
  return !(tl_ddot(d, d) > reach * reach * (1 + 1e-12));
}

static void test_chunk(const near_job *job, size_t begin, size_t end) {
  const tl_pair *pairs = job->near->pairs.data;
  const float *gaps = job->near->gaps.data, *ways = job->ways;
  uint32_t open[CHUNK];
  uint64_t keys[CHUNK];
  size_t opens = 0, count = 0;
  /* written without a branch, because the result is unpredictable */
  for (size_t i = begin; i < end; ++i) {
    open[opens] = (uint32_t)(i - begin);
    opens += !(ways[pairs[i].a] + ways[pairs[i].b] < gaps[i]);
  }
  for (size_t k = 0; k < opens; ++k) {
    const tl_pair pair = pairs[begin + open[k]];
    keys[count] = key_of(job, pair.a, pair.b);
    count += do_touch(job->crowd, pair);
  }
  put(job, keys, count);
}

static void test_chunks(void *context, size_t begin, size_t end) {
  const near_job *job = context;
  const size_t all = job->near->pairs.count;
  for (size_t c = begin; c < end; ++c)
    test_chunk(job, c * CHUNK, (c + 1) * CHUNK < all ? (c + 1) * CHUNK : all);
}

/* Finds the balls that touch a wall, or nearly do. */
static void test_walls(void *context, size_t begin, size_t end) {
  const near_job *job = context;
  const tl_crowd *crowd = job->crowd;
  for (size_t i = begin; i < end; ++i)
    for (size_t w = 0; w < job->near->walls.count; ++w) {
      const uint32_t slot = job->walled[i], wall = job->sides[w].slot;
      const double radius = tl_near_radius(crowd->model, slot);
      const double gap = tl_near_gap(&job->sides[w], crowd->in->position[slot], radius);
      if (gap <= tl_near_tolerance(&job->sides[w], crowd->in->position[slot], radius) &&
          tl_broad_allows(crowd->model, wall, slot)) {
        const uint64_t key = key_of(job, wall, slot);
        put(job, &key, 1);
      }
    }
}

static void count_share(const near_job *job, const tl_pairs *pairs, tl_wall_share *share) {
  const size_t balls = job->crowd->count - job->near->walls.count;
  const tl_model *model = job->crowd->model;
  *share = (tl_wall_share){0};
  for (size_t w = 0; w < job->near->walls.count; ++w)
    if (job->sides[w].kind == TALUS_REVOLVED)
      share->asked += balls;
  for (size_t i = 0; share->asked > 0 && i < pairs->count; ++i)
    share->tested += tl_body_shape(model, pairs->data[i].a)->kind == TALUS_REVOLVED ||
                     tl_body_shape(model, pairs->data[i].b)->kind == TALUS_REVOLVED;
}

static talus_status take_pairs(near_job *job, tl_pairs *pairs, tl_wall_share *share) {
  const tl_crowd *crowd = job->crowd;
  const tl_near *near = job->near;
  const tl_par *par = &crowd->model->par;
  tl_near_side sides[TL_NEAR_WALLS];
  _Atomic size_t found;
  atomic_init(&found, 0);
  job->found = &found;
  job->bits = tl_bits_u64(crowd->count);
  const size_t walled = atomic_load(job->walleds);
  TL_TAKE(crowd->arena, near->pairs.count + walled * near->walls.count, &job->keys);
  tl_near_sides(crowd, near, sides);
  job->sides = sides;
  tl_for(par, (near->pairs.count + CHUNK - 1) / CHUNK, 4, test_chunks, job);
  tl_for(par, walled, 256, test_walls, job);
  const size_t count = atomic_load(&found);
  TL_TRY(tl_sort_u64(par, crowd->arena, job->keys, NULL, count, 2 * job->bits));
  pairs->data = (tl_pair *)(void *)job->keys;
  pairs->count = count;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t key = job->keys[i];
    const tl_pair pair = {(uint32_t)(key >> job->bits),
                          (uint32_t)(key & ((UINT64_C(1) << job->bits) - 1))};
    memcpy(&job->keys[i], &pair, sizeof pair);
  }
  count_share(job, pairs, share);
  return TALUS_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Checks that need no look at bodies. */
static bool is_asked(const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  const talus_domain_def *domain = &model->domain;
  return model->solve.kind == TALUS_SOLVE_ELASTIC && crowd->broad_cache && !crowd->members &&
         model->skin < 0 && crowd->count < UINT32_MAX / 2 &&
         (model->broad == TALUS_BROAD_AUTO || model->broad == TALUS_BROAD_BINS) &&
         !(domain->enabled && (domain->periodic[0] || domain->periodic[1] || domain->periodic[2]));
}

talus_status tl_near_find_pairs(const tl_crowd *crowd, tl_pairs *pairs, tl_wall_share *share,
                                bool *is_done) {
  *is_done = false;
  if (!is_asked(crowd))
    return TALUS_OK;
  near_job job = {.crowd = crowd, .near = &crowd->broad_cache->near};
  _Atomic size_t walleds;
  atomic_init(&walleds, 0);
  job.walleds = &walleds;
  TL_TAKE(crowd->arena, crowd->count, &job.ways);
  TL_TAKE(crowd->arena, crowd->count, &job.walled);
  TL_TAKE(crowd->arena, 2 * (crowd->count / BLOCK + 1), &job.most);
  if (is_known(crowd, job.near) && measure(&job)) {
    job.near->kept++;
  } else {
    bool can;
    TL_TRY(tl_near_renew(crowd, job.near, &can));
    if (!can || !measure(&job))
      return TALUS_OK;
  }
  *is_done = true;
  return take_pairs(&job, pairs, share);
}
