/* The list of neighbours: sorts pairs of the broad phase. */
#include "step/balls/list.h"

#include "kernels/collide_container.h"

/* Lists planes and containers in the form that balls use. */
static talus_status list_flat_bodies(const tl_crowd *crowd, tl_ball_list *list) {
  const tl_model *model = crowd->model;
  list->flat_bodies.count = 0;
  for (uint32_t slot = 0; slot < crowd->count; ++slot) {
    const talus_shape_kind kind = tl_body_shape(model, slot)->kind;
    if (kind == TALUS_PLANE || kind == TALUS_CONTAINER)
      TL_TRY(tl_array_push(&list->flat_bodies, tl_flat_body_make(model, crowd->in, slot)));
  }
  return TALUS_OK;
}

static uint32_t find_flat_body(const tl_ball_list *list, uint32_t wall) {
  uint32_t flat_body = 0;
  while (list->flat_bodies.data[flat_body].slot != wall)
    flat_body++;
  return flat_body;
}

/* Kinds of pairs: balls that are near, a ball near a body of the general code, or a ball and a flat
 * body, with a bit for each side that it may touch. */
enum { FAR = 0, NEAR = 1, WITH_WALL = 2, WITH_SIDES = 64 };
_Static_assert(TL_CONTAINER_WALLS <= 6, "sides are the bits below WITH_SIDES");

/* Pairs that one thread tests, and the place in the list where its results begin. */
#define SIFT_CHUNK ((size_t)2048)
typedef struct sift_chunk {
  size_t near, flats, walls;
} sift_chunk;

typedef struct sift_job {
  const tl_model *model;
  const tl_crowd *crowd;
  tl_ball_list *list;
  const tl_pair *pairs;
  size_t count;
  uint8_t *is; /* by pair: FAR, NEAR, ... */
  sift_chunk *chunks;
} sift_job;

/* Kind of a pair of which one body is not a ball. */
static uint8_t sift_wall(const sift_job *job, tl_pair pair) {
  const tl_ball_list *list = job->list;
  const bool first = tl_balls_is_one(job->model, pair.a);
  const uint32_t ball = first ? pair.a : pair.b, wall = first ? pair.b : pair.a;
  if (!tl_ball_is_flat(job->model, ball, wall))
    return tl_narrow_meets(job->crowd, &pair, list->skin.data) ? WITH_WALL : FAR;
  const tl_flat_body *flat_body = &list->flat_bodies.data[find_flat_body(list, wall)];
  const double r = (double)tl_penalty_radius(job->model, ball);
  unsigned is = WITH_SIDES;
  for (uint32_t side = 0; side < tl_ball_sides(flat_body); ++side)
    if (tl_ball_may_touch(flat_body, side, r, job->crowd->in->position[ball],
                          (double)list->skin.data[ball]))
      is |= 1u << side;
  return (uint8_t)is;
}

static uint8_t sift_pair(const sift_job *job, tl_pair pair) {
  const talus_real *skin = job->list->skin.data;
  const talus_dvec3 *x = job->crowd->in->position;
  if (!tl_balls_is_one(job->model, pair.a) || !tl_balls_is_one(job->model, pair.b))
    return sift_wall(job, pair);
  const talus_dvec3 d = tl_dsub(x[pair.b], x[pair.a]);
  const double reach = (double)tl_penalty_radius(job->model, pair.a) +
                       (double)tl_penalty_radius(job->model, pair.b) + (double)skin[pair.a] +
                       (double)skin[pair.b];
  return tl_ddot(d, d) <= reach * reach ? NEAR : FAR;
}

static size_t count_sides(uint8_t is) {
  size_t sides = 0;
  for (unsigned bits = is & (WITH_SIDES - 1u); bits != 0; bits &= bits - 1)
    sides++;
  return sides;
}

static size_t chunk_end(const sift_job *job, size_t chunk) {
  return (chunk + 1) * SIFT_CHUNK < job->count ? (chunk + 1) * SIFT_CHUNK : job->count;
}

static void sift_chunks(void *context, size_t begin, size_t end) {
  const sift_job *job = context;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    sift_chunk found = {0, 0, 0};
    for (size_t i = chunk * SIFT_CHUNK; i < chunk_end(job, chunk); ++i) {
      const uint8_t is = job->is[i] = sift_pair(job, job->pairs[i]);
      const size_t sides = is & WITH_SIDES ? count_sides(is) : 0;
      found.near += is == NEAR ? 1 : sides;
      found.flats += sides;
      found.walls += is == WITH_WALL;
    }
    job->chunks[chunk] = found;
  }
}

static void lay_chunks(void *context, size_t begin, size_t end) {
  const sift_job *job = context;
  tl_ball_list *list = job->list;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    sift_chunk to = job->chunks[chunk];
    for (size_t i = chunk * SIFT_CHUNK; i < chunk_end(job, chunk); ++i) {
      const tl_pair pair = job->pairs[i];
      const uint8_t is = job->is[i];
      if (is == NEAR)
        list->near.data[to.near++] = (tl_ball_near){pair.a, pair.b, TL_NONE};
      else if (is == WITH_WALL)
        list->walls.data[to.walls++] = pair;
      for (uint32_t side = 0; (is & WITH_SIDES) && side < TL_CONTAINER_WALLS; ++side) {
        if (!(is >> side & 1u))
          continue;
        const bool first = tl_balls_is_one(job->model, pair.a);
        list->near.data[to.near++] = (tl_ball_near){pair.a, pair.b, (uint32_t)to.flats};
        list->flats.data[to.flats++] =
            (tl_ball_wall){list->rank.data[first ? pair.a : pair.b],
                           find_flat_body(list, first ? pair.b : pair.a), side};
      }
    }
  }
}

talus_status tl_balls_sift(const tl_crowd *crowd, const tl_pairs *pairs, tl_ball_list *list) {
  const tl_model *model = crowd->model;
  const size_t chunks = (pairs->count + SIFT_CHUNK - 1) / SIFT_CHUNK;
  sift_job job = {model, crowd, list, pairs->data, pairs->count, NULL, NULL};
  TL_TRY(list_flat_bodies(crowd, list));
  TL_TAKE(crowd->arena, pairs->count, &job.is);
  TL_TAKE(crowd->arena, chunks, &job.chunks);
  tl_for(&model->par, chunks, 1, sift_chunks, &job);
  sift_chunk sum = {0, 0, 0};
  for (size_t i = 0; i < chunks; ++i) {
    const sift_chunk found = job.chunks[i];
    job.chunks[i] = sum;
    sum = (sift_chunk){sum.near + found.near, sum.flats + found.flats, sum.walls + found.walls};
  }
  TL_BALLS_ROOM(&list->near, sum.near);
  TL_BALLS_ROOM(&list->flats, sum.flats);
  TL_BALLS_ROOM(&list->walls, sum.walls);
  TL_TRY(tl_array_resize(&list->near, sum.near));
  TL_TRY(tl_array_resize(&list->flats, sum.flats));
  TL_TRY(tl_array_resize(&list->walls, sum.walls));
  tl_for(&model->par, chunks, 1, lay_chunks, &job);
  return TALUS_OK;
}
