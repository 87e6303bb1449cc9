/* Pairs by their first body, then by their second.
 *
 * Pairs of one first body are a run. Where a counter for each body costs little, pairs are counted
 * and go to their runs at once; else a radix sort puts them there. Then each run is put in order,
 * which for most takes a few registers. Pairs are unique, so the result is the same either way, and
 * for any number of threads. */
#include "broad/broad.h"

#include "base/sort.h"

#define SHORT_RUN  ((size_t)48)      /* most runs are shorter, but of bodies that very many meet */
#define RUN_BLOCK  ((size_t)4096)    /* pairs */
#define COUNTERS   ((size_t)1 << 17) /* of all threads together, so that they stay in the cache */
#define FEW_PAIRS  ((size_t)2048)    /* that one thread sorts */
#define BIT_PAIRS  ((size_t)1 << 16) /* of a run, which one thread puts in order by bits */
#define BIT_BODIES ((size_t)1024)    /* to a pair, at most, for that */

/* ---- a run ----------------------------------------------------------------------------------- */

#define EIGHT ((size_t)8)

typedef int32_t four __attribute__((vector_size(16)));

#if defined(__clang__)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (four){__VA_ARGS__})
#endif

#define ADD_LESS(i)                                                                                \
  do {                                                                                             \
    const four each = SHUFFLE(b[(i) / 4], b[0], (i) % 4, (i) % 4, (i) % 4, (i) % 4);               \
    less[0] -= each < b[0];                                                                        \
    less[1] -= each < b[1];                                                                        \
  } while (0)

/* The first `count` of eight pairs of one first body to `out`: each to the place that follows from
 * how many second bodies are less, without a branch. What else is among the eight goes behind. */
static inline void place_eight(const tl_pair pairs[EIGHT], size_t count, tl_pair *out) {
  const four n = (four){0} + (int32_t)count, last = (four){0} + INT32_MAX;
  const four place[2] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  four b[2], less[2] = {{0}, {0}};
  uint32_t at[EIGHT];
  for (int k = 0; k < 2; ++k) {
    four pair[2];
    memcpy(pair, pairs + 4 * k, sizeof pair);
    const four second = SHUFFLE(pair[0], pair[1], 1, 3, 5, 7);
    const four is_one = place[k] < n;
    b[k] = (second & is_one) | (last & ~is_one);
  }
  ADD_LESS(0);
  ADD_LESS(1);
  ADD_LESS(2);
  ADD_LESS(3);
  ADD_LESS(4);
  ADD_LESS(5);
  ADD_LESS(6);
  ADD_LESS(7);
  memcpy(at, less, sizeof at);
  for (size_t i = 0; i < EIGHT; ++i)
    out[at[i]] = pairs[i];
}

/* A run that is not long. */
static void order_run(tl_pair *run, size_t count) {
  const size_t eight = count < EIGHT ? count : EIGHT;
  tl_pair from[EIGHT] = {{0, 0}}, to[EIGHT + 1];
  memcpy(from, run, eight * sizeof *run);
  place_eight(from, eight, to);
  memcpy(run, to, eight * sizeof *run);
  for (size_t i = eight; i < count; ++i) {
    const tl_pair pair = run[i];
    size_t j = i;
    for (; j > 0 && run[j - 1].b > pair.b; --j)
      run[j] = run[j - 1];
    run[j] = pair;
  }
}

static bool is_sorted(const tl_pair *pairs, size_t count) {
  for (size_t i = 1; i < count; ++i)
    if (pairs[i - 1].b > pairs[i].b)
      return false;
  return true;
}

/* A bit for each body: those that are set, in their order. */
static talus_status order_by_bits(tl_arena *arena, size_t bodies, tl_pair *run, size_t count) {
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  const size_t words = bodies / 64 + 1;
  const uint32_t a = run[0].a;
  uint64_t *bits;
  TL_TAKE(arena, words, &bits);
  memset(bits, 0, words * sizeof *bits);
  for (size_t i = 0; i < count; ++i)
    bits[run[i].b / 64] |= UINT64_C(1) << run[i].b % 64;
  size_t n = 0;
  for (size_t word = 0; word < words; ++word)
    for (uint64_t left = bits[word]; left; left &= left - 1)
      run[n++] = (tl_pair){a, (uint32_t)(64 * word) + (uint32_t)__builtin_ctzll(left)};
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

/* The key of a pair with its bodies exchanged sorts by b. */
static talus_status order_long_run(const tl_model *model, tl_arena *arena, tl_pair *run,
                                   size_t count) {
  const uint32_t a = run[0].a;
  if (is_sorted(run, count))
    return TALUS_OK;
  if (count < BIT_PAIRS && model->bodies / BIT_BODIES < count)
    return order_by_bits(arena, model->bodies, run, count);
  for (size_t i = 0; i < count; ++i)
    run[i] = (tl_pair){run[i].b, a};
  TL_TRY(tl_sort_u64(&model->par, arena, (uint64_t *)(void *)run, NULL, count,
                     tl_bits_u64(model->bodies)));
  for (size_t i = 0; i < count; ++i)
    run[i] = (tl_pair){a, run[i].a};
  return TALUS_OK;
}

/* ---- with a counter for each body ------------------------------------------------------------ */

typedef struct count_work {
  tl_pair *pairs;   /* in any order; then, in order */
  tl_pair *by_body; /* in runs, and room for eight more */
  size_t count, bodies;
  uint32_t *next;       /* of each worker, by body: how many; then, where the next one goes */
  const uint32_t *ends; /* by body: of its run */
  uint32_t *before;     /* of each worker: pairs of its bodies; then, of those before */
} count_work;

/* Where the runs of the bodies from `begin` on begin, for each worker's pairs. */
static void find_places(const count_work *work, size_t begin, size_t end, uint32_t at,
                        int workers) {
  for (size_t a = begin; a < end; ++a)
    for (int v = 0; v < workers; ++v) {
      uint32_t *next = &work->next[(size_t)v * work->bodies + a];
      const uint32_t n = *next;
      *next = at;
      at += n;
    }
}

/* Whoever is last writes nothing behind its own runs. */
static void order_runs(const count_work *work, const uint32_t *ends, size_t begin, size_t end,
                       uint32_t first) {
  const size_t behind = end > begin ? ends[end - 1] : first;
  for (size_t a = begin; a < end; ++a) {
    const size_t n = ends[a] - first;
    if (n <= EIGHT && ends[a] < behind) {
      place_eight(work->by_body + first, n, work->pairs + first);
    } else {
      memcpy(work->pairs + first, work->by_body + first, n * sizeof *work->pairs);
      if (n <= SHORT_RUN)
        order_run(work->pairs + first, n);
    }
    first = ends[a];
  }
}

static void count_worker(void *context, tl_team *team, int w, int workers) {
  count_work *work = context;
  const size_t begin = tl_share(work->count, w, workers),
               end = tl_share(work->count, w + 1, workers);
  const size_t first = tl_share(work->bodies, w, workers),
               last = tl_share(work->bodies, w + 1, workers);
  uint32_t *next = work->next + (size_t)w * work->bodies;
  memset(next, 0, work->bodies * sizeof *next);
  for (size_t i = begin; i < end; ++i)
    next[work->pairs[i].a]++;
  tl_team_barrier(team);
  uint32_t own = 0, before = 0;
  for (int v = 0; v < workers; ++v)
    for (size_t a = first; a < last; ++a)
      own += work->next[(size_t)v * work->bodies + a];
  work->before[w] = own;
  tl_team_barrier(team);
  for (int v = 0; v < w; ++v)
    before += work->before[v];
  find_places(work, first, last, before, workers);
  tl_team_barrier(team);
  for (size_t i = begin; i < end; ++i)
    work->by_body[next[work->pairs[i].a]++] = work->pairs[i];
  tl_team_barrier(team);
  const uint32_t *ends = work->next + (size_t)(workers - 1) * work->bodies;
  if (w == 0)
    work->ends = ends;
  order_runs(work, ends, first, last, before);
}

static talus_status order_long_runs(const tl_model *model, tl_arena *arena, const uint32_t *ends,
                                    tl_pairs *pairs) {
  uint32_t first = 0;
  for (size_t a = 0; a < model->bodies; first = ends[a++])
    if (ends[a] - first > SHORT_RUN)
      TL_TRY(order_long_run(model, arena, pairs->data + first, ends[a] - first));
  return TALUS_OK;
}

static talus_status order_by_counters(const tl_model *model, tl_arena *arena, tl_pairs *pairs) {
  const tl_par par = tl_par_if(&model->par, pairs->count >= FEW_PAIRS);
  count_work work = {.pairs = pairs->data, .count = pairs->count, .bodies = model->bodies};
  TL_TAKE(arena, (size_t)par.threads * model->bodies, &work.next);
  TL_TAKE(arena, (size_t)par.threads, &work.before);
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, pairs->count + EIGHT, &work.by_body);
  memset(work.by_body + pairs->count, 0, EIGHT * sizeof *work.by_body);
  tl_team_run(&par, count_worker, &work);
  tl_arena_release(arena, mark);
  return order_long_runs(model, arena, work.ends, pairs);
}

/* ---- without --------------------------------------------------------------------------------- */

typedef struct run_work {
  tl_pair *pairs;
  size_t *first; /* of each block of pairs: where its first run begins; and one more */
} run_work;

static size_t end_of_run(const tl_pair *pairs, size_t count, size_t begin) {
  size_t end = begin + 1;
  while (end < count && pairs[end].a == pairs[begin].a)
    end++;
  return end;
}

/* Runs that begin in the blocks. */
static void order_blocks(void *context, size_t begin, size_t end) {
  const run_work *work = context;
  for (size_t first = work->first[begin]; first < work->first[end];) {
    const size_t last = end_of_run(work->pairs, work->first[end], first);
    if (last - first <= SHORT_RUN)
      order_run(work->pairs + first, last - first);
    first = last;
  }
}

static talus_status find_long_runs(const tl_model *model, tl_arena *arena, tl_pairs *pairs) {
  for (size_t first = 0; first + SHORT_RUN < pairs->count;) {
    if (pairs->data[first + SHORT_RUN].a != pairs->data[first].a) {
      first++; /* no long run begins here */
      continue;
    }
    const size_t last = end_of_run(pairs->data, pairs->count, first);
    TL_TRY(order_long_run(model, arena, pairs->data + first, last - first));
    first = last;
  }
  return TALUS_OK;
}

/* A pair is as long as a 64-bit key, whose low half is its first body. */
static talus_status order_by_radix(const tl_model *model, tl_arena *arena, tl_pairs *pairs) {
  _Static_assert(sizeof(tl_pair) == sizeof(uint64_t), "a pair is a key");
  _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first body is the key's low half");
  const size_t blocks = (pairs->count + RUN_BLOCK - 1) / RUN_BLOCK;
  run_work work = {.pairs = pairs->data};
  TL_TAKE(arena, blocks + 1, &work.first);
  TL_TRY(tl_sort_u64(&model->par, arena, (uint64_t *)(void *)pairs->data, NULL, pairs->count,
                     tl_bits_u64(model->bodies)));
  work.first[0] = 0;
  work.first[blocks] = pairs->count;
  for (size_t block = 1; block < blocks; ++block) {
    const size_t before = block * RUN_BLOCK - 1;
    work.first[block] = work.first[block - 1] > before
                            ? work.first[block - 1] /* the same long run */
                            : end_of_run(pairs->data, pairs->count, before);
  }
  tl_for(&model->par, blocks, 1, order_blocks, &work);
  return find_long_runs(model, arena, pairs);
}

talus_status tl_broad_sort_pairs(const tl_model *model, tl_arena *arena, tl_pairs *pairs) {
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  const bool counts = pairs->count < UINT32_MAX && pairs->count >= model->bodies / 8 &&
                      (size_t)model->par.threads <= COUNTERS / (model->bodies + 1);
  const talus_status status = pairs->count < 2 ? TALUS_OK
                              : counts         ? order_by_counters(model, arena, pairs)
                                               : order_by_radix(model, arena, pairs);
  tl_arena_release(arena, mark);
  return status;
}
