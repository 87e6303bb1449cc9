#include "base/parallel.h"

#include <stdatomic.h>

#ifdef _OPENMP
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#endif

#define DEFAULT_GRAIN ((size_t)256)

#ifdef _OPENMP

/* ---- threads that there are ------------------------------------------------------------------ */

/* OpenMP's runtime ends the process where the system has no thread, or no memory for one. So before
 * this thread's first region of a size, as many plain threads are made and ended; where that fails
 * regions are smaller from then on, which costs time and no bits. */
static _Thread_local int started = 1, most = INT_MAX;

static _Atomic int short_of, short_to; /* threads that were wanted, and that there are */

static void *wait_for_all(void *gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/* How many of n threads can be there at the same time beside this one. */
static int probe(int n) {
  pthread_t thread[TL_PAR_MOST];
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  int made = 0;
  n = n < TL_PAR_MOST ? n : TL_PAR_MOST;
  pthread_mutex_lock(&gate);
  while (made < n && pthread_create(&thread[made], NULL, wait_for_all, &gate) == 0)
    made++;
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < made; ++i)
    pthread_join(thread[i], NULL);
  pthread_mutex_destroy(&gate);
  return made;
}

/* Threads that regions of this one may have, at most `wanted`. */
static int start(int wanted) {
  const int limit = omp_get_thread_limit(), n = wanted < limit ? wanted : limit;
  const int made = probe(n - 1);
  if (made == n - 1) {
    started = wanted;
    return wanted;
  }
  most = 1 + made / 2; /* with room for whatever else wants some */
  started = started > most ? started : most;
  atomic_store(&short_to, most);
  atomic_store(&short_of, wanted);
  return most;
}

#endif

bool tl_par_is_short(int *wanted, int *got) {
#ifdef _OPENMP
  *wanted = atomic_load(&short_of);
  *got = atomic_load(&short_to);
#else
  *wanted = *got = 0;
#endif
  return *wanted > 0;
}

/* Workers that a new parallel region would get: 1 inside another region, so that a stage may call
 * tl_for wherever it is called from. The region may still turn out smaller (OMP_THREAD_LIMIT,
 * OMP_DYNAMIC), so everything below asks for the real size inside.
 *
 * Regions always ask for all of them, even if some will have nothing to do: libgomp ends
 * threads that a smaller region leaves over and pays to create them again for the next. */
static int workers_wanted(const tl_par *par) {
#ifdef _OPENMP
  if (par->threads == 1 || par->is_alone || omp_in_parallel())
    return 1;
  const int wanted = par->threads < most ? par->threads : most;
  return wanted <= started ? wanted : start(wanted);
#else
  (void)par;
  return 1;
#endif
}

int tl_par_default_threads(void) {
#ifdef _OPENMP
  /* The affinity mask, unless OMP_NUM_THREADS or OMP_THREAD_LIMIT says less: as nproc does. */
  const int threads = omp_get_max_threads(), limit = omp_get_thread_limit();
  return threads < limit ? threads : limit;
#else
  return 1;
#endif
}

/* ---- loops --------------------------------------------------------------------------------- */

#ifdef _OPENMP
/* Start of worker w's share when `pieces` are dealt out in order and as evenly as possible. */
static size_t share_begin(size_t pieces, size_t w, size_t workers) {
  const size_t each = pieces / workers, extra = pieces % workers;
  return each * w + (w < extra ? w : extra);
}
#endif

/* Each worker gets one contiguous run of whole grains: its caches see the same elements in every
 * loop over the same n, and there is no shared counter to fight for. */
void tl_for(const tl_par *par, size_t n, size_t grain, tl_range_fn *fn, void *context) {
  if (grain == 0)
    grain = DEFAULT_GRAIN;
  if (n == 0)
    return;
  const int wanted = n <= grain ? 1 : workers_wanted(par);
  if (wanted == 1) {
    fn(context, 0, n);
    return;
  }
#ifdef _OPENMP
  const size_t pieces = (n - 1) / grain + 1;
#pragma omp parallel num_threads(wanted)
  {
    const size_t w = (size_t)omp_get_thread_num(), workers = (size_t)omp_get_num_threads();
    const size_t first = share_begin(pieces, w, workers);
    const size_t last = share_begin(pieces, w + 1, workers);
    if (first < last)
      fn(context, first * grain, last < pieces ? last * grain : n);
  }
#endif
}

#define RANGES ((size_t)8) /* that a worker takes on average: fewer are uneven, more cost time */

void tl_for_uneven(const tl_par *par, size_t n, size_t grain, tl_range_fn *fn, void *context) {
  if (grain == 0)
    grain = DEFAULT_GRAIN;
  const int wanted = n <= grain ? 1 : workers_wanted(par);
  if (wanted == 1) {
    tl_for(par, n, grain, fn, context);
    return;
  }
#ifdef _OPENMP
  const size_t pieces = (n - 1) / grain + 1, ranges = RANGES * (size_t)wanted;
  const size_t length = (pieces < ranges ? 1 : pieces / ranges) * grain;
  _Atomic size_t next;
  atomic_init(&next, 0);
#pragma omp parallel num_threads(wanted)
  for (;;) {
    const size_t begin = atomic_fetch_add_explicit(&next, length, memory_order_relaxed);
    if (begin >= n)
      break;
    fn(context, begin, n - begin < length ? n : begin + length);
  }
#endif
}

void tl_deal(const tl_par *par, size_t n, tl_range_fn *fn, void *context) {
  _Atomic size_t next;
  atomic_init(&next, 0);
  const int wanted = n <= 1 ? 1 : workers_wanted(par);
  if (wanted == 1) {
    for (size_t i = 0; i < n; ++i)
      fn(context, i, i + 1);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel num_threads(wanted)
  for (;;) {
    const size_t i = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    if (i >= n)
      break;
    fn(context, i, i + 1);
  }
#endif
}

/* Four blocks are about what pays for waking a thread. */
#define SUM_GRAIN ((size_t)4)

typedef struct sum_work {
  tl_sum_fn *fn;
  void *context;
  double *partial; /* one for each block */
  size_t n;
} sum_work;

static void sum_blocks(void *context, size_t begin, size_t end) {
  const sum_work *work = context;
  for (size_t block = begin; block < end; ++block) {
    const size_t from = block * TL_BLOCK;
    const size_t to = work->n - from < TL_BLOCK ? work->n : from + TL_BLOCK;
    work->partial[block] = work->fn(work->context, from, to);
  }
}

talus_status tl_sum(const tl_par *par, tl_arena *arena, size_t n, tl_sum_fn *fn, void *context,
                    double *out) {
  *out = 0.0;
  if (n == 0)
    return TALUS_OK;
  const size_t blocks = (n - 1) / TL_BLOCK + 1;
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  sum_work work = {.fn = fn, .context = context, .n = n};
  TL_TAKE(arena, blocks, &work.partial);
  tl_for(par, blocks, SUM_GRAIN, sum_blocks, &work);
  *out = tl_tally_sum(work.partial, blocks);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

#ifdef _OPENMP
typedef struct tally_work {
  tl_tally_fn *fn;
  void *context;
  size_t count;
  tl_tally *sums;
  pthread_mutex_t lock;
} tally_work;

/* Whoever is done adds what it has, in whatever order: that is what a tally is for. */
static void tally_range(void *context, size_t begin, size_t end) {
  tally_work *work = context;
  tl_tally own[TL_TALLIES];
  for (size_t k = 0; k < work->count; ++k)
    tl_tally_clear(&own[k]);
  work->fn(work->context, begin, end, own);
  pthread_mutex_lock(&work->lock);
  for (size_t k = 0; k < work->count; ++k)
    tl_tally_merge(&work->sums[k], &own[k]);
  pthread_mutex_unlock(&work->lock);
}
#endif

void tl_for_tally(const tl_par *par, size_t n, size_t grain, tl_tally_fn *fn, void *context,
                  size_t count, tl_tally *sums) {
  TL_ASSERT(count <= TL_TALLIES);
  for (size_t k = 0; k < count; ++k)
    tl_tally_clear(&sums[k]);
  if (n == 0)
    return;
  if (n <= grain || workers_wanted(par) == 1) {
    fn(context, 0, n, sums);
    return;
  }
#ifdef _OPENMP
  tally_work work = {fn, context, count, sums, PTHREAD_MUTEX_INITIALIZER};
  tl_for(par, n, grain, tally_range, &work);
  pthread_mutex_destroy(&work.lock);
#endif
}

typedef struct find_work {
  tl_test_fn *test;
  void *context;
  _Atomic size_t first; /* smallest hit so far */
} find_work;

/* Stops as soon as this range cannot hold a smaller hit than one found already. */
static void find_in_range(void *context, size_t begin, size_t end) {
  find_work *work = context;
  for (size_t i = begin; i < end; ++i) {
    if (i >= atomic_load_explicit(&work->first, memory_order_relaxed))
      return;
    if (!work->test(work->context, i))
      continue;
    size_t first = atomic_load_explicit(&work->first, memory_order_relaxed);
    while (i < first && !atomic_compare_exchange_weak_explicit(
                            &work->first, &first, i, memory_order_relaxed, memory_order_relaxed)) {
    }
    return;
  }
}

size_t tl_find_first(const tl_par *par, size_t n, tl_test_fn *test, void *context) {
  find_work work = {.test = test, .context = context};
  atomic_init(&work.first, SIZE_MAX);
  tl_for(par, n, TL_BLOCK, find_in_range, &work);
  return atomic_load_explicit(&work.first, memory_order_relaxed);
}

/* ---- teams --------------------------------------------------------------------------------- */

#ifdef _OPENMP

/* A solver meets some hundred barriers in a step, with a few microseconds of work between them:
 * sleeping in the kernel costs more than the work, so a worker spins first (some 50 us), and sleeps
 * only if that was not enough. With more workers than cores, the one it waits for may need its
 * core, so then it sleeps at once. There is no sched_yield in between: beside other busy programs
 * each one gives away a whole time slice, and a barrier then takes milliseconds. */
#define SPINS 2000

/* A sense-reversing barrier whose sense is a counter. The words that change are on cache lines of
 * their own: arrivals must not disturb those who spin on `phase`. */
struct tl_team {
  _Alignas(64) _Atomic unsigned arrived;
  _Alignas(64) _Atomic unsigned phase;
  _Alignas(64) _Atomic unsigned sleepers;
  _Alignas(64) _Atomic int workers;
  _Atomic int spins;
  pthread_mutex_t lock;
  pthread_cond_t moved;
};

static inline void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void wait_while_phase_is(tl_team *team, unsigned phase) {
  for (int i = atomic_load_explicit(&team->spins, memory_order_relaxed); i > 0; --i) {
    if (atomic_load_explicit(&team->phase, memory_order_acquire) != phase)
      return;
    pause_cpu();
  }
  /* Sequentially consistent on both sides: either we see the new phase here, or the last to arrive
   * sees us asleep there. */
  atomic_fetch_add(&team->sleepers, 1);
  pthread_mutex_lock(&team->lock);
  while (atomic_load(&team->phase) == phase)
    pthread_cond_wait(&team->moved, &team->lock);
  pthread_mutex_unlock(&team->lock);
  atomic_fetch_sub(&team->sleepers, 1);
}

void tl_team_barrier(tl_team *team) {
  const int workers = atomic_load_explicit(&team->workers, memory_order_relaxed);
  if (workers == 1)
    return;
  /* Read before arriving: after the last arrival it may change at any moment. */
  const unsigned phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
  const unsigned before = atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel);
  if (before + 1 < (unsigned)workers) {
    wait_while_phase_is(team, phase);
    return;
  }
  atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
  atomic_store(&team->phase, phase + 1);
  if (atomic_load(&team->sleepers) > 0) {
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->moved);
    pthread_mutex_unlock(&team->lock);
  }
}

void tl_team_run(const tl_par *par, tl_team_fn *fn, void *context) {
  tl_team team = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
  atomic_init(&team.arrived, 0);
  atomic_init(&team.phase, 0);
  atomic_init(&team.sleepers, 0);
  atomic_init(&team.workers, 1);
  atomic_init(&team.spins, 0);
  const int wanted = workers_wanted(par);
  if (wanted == 1) {
    fn(context, &team, 0, 1);
    return;
  }
#pragma omp parallel num_threads(wanted)
  {
    /* Every worker stores the same numbers before it reads them, so nobody has to wait here. */
    const int workers = omp_get_num_threads();
    atomic_store_explicit(&team.workers, workers, memory_order_relaxed);
    atomic_store_explicit(&team.spins, workers <= omp_get_num_procs() ? SPINS : 0,
                          memory_order_relaxed);
    fn(context, &team, omp_get_thread_num(), workers);
  }
  pthread_cond_destroy(&team.moved);
  pthread_mutex_destroy(&team.lock);
}

#else

struct tl_team {
  int workers;
};

void tl_team_barrier(tl_team *team) { (void)team; }

void tl_team_run(const tl_par *par, tl_team_fn *fn, void *context) {
  (void)par;
  tl_team team = {.workers = 1};
  fn(context, &team, 0, team.workers);
}

#endif
