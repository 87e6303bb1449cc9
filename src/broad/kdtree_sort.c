/* Sorting of the records of a linear kd-tree, which takes most of its time.
 *
 * Records come in nearly the right order, entry by entry along the curve. One pass spreads them
 * over a few thousand buckets by the top of the key, writing almost in sequence; a bucket then fits
 * the cache, and is sorted by the rest of the key within it. base/sort.h goes through all of memory
 * for every digit; this takes about half its time. */
#include "base/sort.h"
#include "broad/kdtree.h"

#define MOST_TOP   11 /* most bits that choose the bucket */
#define BUCKETS    ((size_t)1 << MOST_TOP)
#define IN_BUCKET  ((size_t)3000)    /* records, about, if there are enough buckets */
#define FEWEST     ((size_t)1 << 16) /* with fewer records base/sort.h is as good */
#define MOST_BITS  11                /* most bits of a digit within a bucket */
#define TINY       ((size_t)40)      /* buckets with fewer records are sorted by insertion */
#define MOST_STEPS 5                 /* most digits; odd, so that records end where they began */

typedef struct records {
  uint64_t *key;
  uint32_t *id;
} records;

typedef struct sort_work {
  records data, other;
  size_t n;
  int low_bits;  /* bits below the top */
  int digit;     /* bits of a digit of the remaining key */
  int steps;     /* digits of the remaining key: 1, 3 or 5 */
  size_t *count; /* by worker and bucket */
} sort_work;

static inline size_t top_of(const sort_work *work, uint64_t key) {
  return (size_t)(key >> work->low_bits);
}

static void spread(const sort_work *work, size_t begin, size_t end, size_t *next) {
  const records from = work->data, to = work->other;
  for (size_t i = begin; i < end; ++i) {
    const size_t at = next[top_of(work, from.key[i])]++;
    to.key[at] = from.key[i];
    to.id[at] = from.id[i];
  }
}

/* ---- a bucket -------------------------------------------------------------------------------- */

static void insert(records from, records to, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t key = from.key[i];
    size_t at = i;
    for (; at > 0 && to.key[at - 1] > key; --at) {
      to.key[at] = to.key[at - 1];
      to.id[at] = to.id[at - 1];
    }
    to.key[at] = key;
    to.id[at] = from.id[i];
  }
}

static void step(records from, records to, size_t n, int shift, uint32_t mask, uint32_t *next) {
  for (size_t i = 0; i < n; ++i) {
    const uint32_t at = next[(from.key[i] >> shift) & mask]++;
    to.key[at] = from.key[i];
    to.id[at] = from.id[i];
  }
}

/* Sorts from work->other to work->data. */
static void sort_bucket(const sort_work *work, size_t begin, size_t n) {
  records from = {work->other.key + begin, work->other.id + begin};
  records to = {work->data.key + begin, work->data.id + begin};
  if (n <= TINY) {
    insert(from, to, n);
    return;
  }
  uint32_t next[MOST_STEPS][1 << MOST_BITS];
  const uint32_t mask = (1u << work->digit) - 1;
  for (int s = 0; s < work->steps; ++s)
    memset(next[s], 0, ((size_t)mask + 1) * sizeof next[s][0]);
  for (size_t i = 0; i < n; ++i)
    for (int s = 0; s < work->steps; ++s)
      next[s][(from.key[i] >> (s * work->digit)) & mask]++;
  for (int s = 0; s < work->steps; ++s) {
    uint32_t sum = 0;
    for (uint32_t d = 0; d <= mask; ++d) {
      const uint32_t count = next[s][d];
      next[s][d] = sum;
      sum += count;
    }
    step(from, to, n, s * work->digit, mask, next[s]);
    const records swap = from;
    from = to;
    to = swap;
  }
}

/* ---- the whole sort
 * ------------------------------------------------------------------------------- */

static void sort_worker(void *context, tl_team *team, int w, int workers) {
  const sort_work *work = context;
  const size_t begin = tl_share(work->n, w, workers), end = tl_share(work->n, w + 1, workers);
  size_t *count = work->count + (size_t)w * BUCKETS, next[BUCKETS];
  memset(count, 0, BUCKETS * sizeof *count);
  for (size_t i = begin; i < end; ++i)
    count[top_of(work, work->data.key[i])]++;
  tl_team_barrier(team);
  size_t start[BUCKETS + 1], at = 0;
  for (size_t b = 0; b < BUCKETS; ++b) {
    start[b] = at;
    for (int v = 0; v < workers; ++v) {
      if (v == w)
        next[b] = at;
      at += work->count[(size_t)v * BUCKETS + b];
    }
  }
  start[BUCKETS] = at;
  spread(work, begin, end, next);
  tl_team_barrier(team);
  /* the worker that has the first record of a bucket sorts it */
  for (size_t b = 0; b < BUCKETS; ++b)
    if (start[b] >= begin && start[b] < end && start[b] < start[b + 1])
      sort_bucket(work, start[b], start[b + 1] - start[b]);
}

talus_status tl_kdtree_sort(const tl_par *par, tl_arena *arena, uint64_t *key, uint32_t *id,
                            size_t n, int bits) {
  sort_work work = {.data = {key, id}, .n = n};
  int top = 1;
  while (top < MOST_TOP && n >> top > IN_BUCKET)
    top++;
  work.low_bits = bits - top;
  for (work.steps = 1; work.steps * MOST_BITS < work.low_bits; work.steps += 2) {
  }
  if (n < FEWEST || work.low_bits < 1 || work.steps > MOST_STEPS)
    return tl_sort_u64(par, arena, key, id, n, bits);
  work.digit = (work.low_bits + work.steps - 1) / work.steps;
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, (size_t)par->threads * BUCKETS, &work.count);
  TL_TAKE(arena, n, &work.other.key);
  TL_TAKE(arena, n, &work.other.id);
  tl_team_run(par, sort_worker, &work);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}
