#include "broad/search.h"

#include "base/cancel.h"
#include "base/sort.h"

#define TRIALS ((size_t)16)   /* most trials, and at most an eighth of all blocks */
#define LEAST  ((uint64_t)16) /* least room for pairs of a block */

typedef struct search_work {
  tl_search_fn *fn;
  const void *context;
  tl_cancel *cancel;
  uint64_t room;   /* pairs per block */
  tl_pair *rooms;  /* buffers of all blocks */
  uint64_t *count; /* by block: number of pairs */
  uint64_t *first; /* by block: begin in `out` */
  tl_pair *out;
  size_t stride; /* blocks between two trials */
} search_work;

static void try_blocks(void *context, size_t begin, size_t end) {
  const search_work *work = context;
  for (size_t t = begin; t < end && !tl_cancel_look(work->cancel); ++t) {
    tl_catch to = {0};
    work->fn(work->context, t * work->stride, &to);
    work->count[t] = to.count;
  }
}

static void search_blocks(void *context, size_t begin, size_t end) {
  const search_work *work = context;
  for (size_t b = begin; b < end && !tl_cancel_look(work->cancel); ++b) {
    tl_catch to = {work->rooms + b * work->room, 0, work->room};
    work->fn(work->context, b, &to);
    work->count[b] = to.count;
  }
}

static void place_blocks(void *context, size_t begin, size_t end) {
  const search_work *work = context;
  for (size_t b = begin; b < end && !tl_cancel_look(work->cancel); ++b) {
    tl_catch to = {work->out + work->first[b], 0, work->count[b]};
    if (work->count[b] <= work->room)
      memcpy(to.out, work->rooms + b * work->room, (size_t)work->count[b] * sizeof *to.out);
    else
      work->fn(work->context, b, &to);
  }
}

/* A quarter more than the largest trial. But a trial may have met the only crowded block, and all
 * buffers together, which are most of the memory of a step, must not exceed twice the result. */
static talus_status choose_room(const tl_par *par, size_t blocks, search_work *work) {
  const size_t eighth = blocks / 8 + 1;
  const size_t trials = blocks == 0 ? 0 : eighth < TRIALS ? eighth : TRIALS;
  uint64_t most = 0, sum = 0;
  work->stride = trials > 0 ? blocks / trials : 0;
  tl_for(par, trials, 1, try_blocks, work);
  TL_GO_ON(work->cancel); /* otherwise some have no count */
  for (size_t t = 0; t < trials; ++t) {
    sum += work->count[t];
    most = work->count[t] > most ? work->count[t] : most;
  }
  const uint64_t wanted = most + most / 4, bound = trials > 0 ? 2 * (sum / trials) : 0;
  work->room = LEAST + (wanted < bound ? wanted : bound);
  return TALUS_OK;
}

talus_status tl_search(const tl_crowd *crowd, size_t blocks, tl_search_fn *fn, const void *context,
                       tl_pairs *pairs) {
  const tl_par *par = &crowd->model->par;
  tl_arena *arena = crowd->arena;
  search_work work = {.fn = fn, .context = context, .cancel = crowd->cancel};
  uint64_t total;
  TL_TAKE(arena, blocks, &work.count);
  TL_TAKE(arena, blocks, &work.first);
  TL_TRY(choose_room(par, blocks, &work));
  TL_TAKE(arena, blocks * (size_t)work.room, &work.rooms);
  tl_for(par, blocks, 1, search_blocks, &work);
  TL_GO_ON(work.cancel);
  if (blocks > 0)
    memcpy(work.first, work.count, blocks * sizeof *work.first);
  TL_TRY(tl_scan_u64(par, arena, work.first, blocks, &total));
  TL_TAKE(arena, (size_t)total, &work.out);
  tl_for(par, blocks, 1, place_blocks, &work);
  TL_GO_ON(work.cancel);
  *pairs = (tl_pairs){.data = work.out, .count = (size_t)total};
  return TALUS_OK;
}
