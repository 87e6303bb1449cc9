/* Parallel loops. OpenMP pragmas live in parallel.c alone; without OpenMP everything runs serially.
 *
 * Rules that make results independent of the number of threads:
 *  - a loop body writes only to what belongs to its own indices;
 *  - a sum that is reported goes through a tally, number by number (base/tally.h): it depends on
 *    the numbers alone, neither on threads nor on how bodies are divided among them;
 *  - a sum that only decides may run over fixed blocks of TL_BLOCK elements, in order within
 *    a block and through a tally across blocks. */
#ifndef TL_BASE_PARALLEL_H
#define TL_BASE_PARALLEL_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/tally.h"

#define TL_BLOCK 1024

#define TL_PAR_MOST 4096 /* threads that anybody may ask for */

typedef struct tl_par {
  int threads;   /* >= 1 */
  bool is_alone; /* one of them does everything (base/pace.h): room is taken for all of them */
} tl_par;

/* For work that is worth all threads, or one. */
static inline tl_par tl_par_if(const tl_par *par, bool is_worth_it) {
  return is_worth_it ? *par : (tl_par){.threads = 1};
}

/* Cores this process may use. */
int tl_par_default_threads(void);

/* Whether fewer threads could be started than requested, anywhere in this process. Loops then run
 * on those that were started, with the same bits. */
bool tl_par_is_short(int *wanted, int *got);

typedef void tl_range_fn(void *context, size_t begin, size_t end);

/* Calls fn on ranges that cover [0, n), in parallel when n > grain; ranges are at least `grain`
 * long but for the last (0: 256). Ranges start at multiples of grain. */
void tl_for(const tl_par *par, size_t n, size_t grain, tl_range_fn *fn, void *context);

/* The same for loops whose parts cost very different times: shorter ranges, in ascending order,
 * each taken by whoever is free. */
void tl_for_uneven(const tl_par *par, size_t n, size_t grain, tl_range_fn *fn, void *context);

/* Calls fn(context, i, i + 1) for every i < n, each taken by whoever is free, in ascending order:
 * for few pieces of very different size, the largest first. */
void tl_deal(const tl_par *par, size_t n, tl_range_fn *fn, void *context);

typedef double tl_sum_fn(void *context, size_t begin, size_t end);

/* Sum of fn over blocks of TL_BLOCK, tallied; scratch from the arena. */
talus_status tl_sum(const tl_par *par, tl_arena *arena, size_t n, tl_sum_fn *fn, void *context,
                    double *out);

#define TL_TALLIES 16 /* that a loop may have */

/* Calls fn as tl_for does, with `count` tallies that it adds to; sums: what all calls added. */
typedef void tl_tally_fn(void *context, size_t begin, size_t end, tl_tally *sums);
void tl_for_tally(const tl_par *par, size_t n, size_t grain, tl_tally_fn *fn, void *context,
                  size_t count, tl_tally *sums);

/* The largest, or least, of numbers that threads come with: the same in any order. */
static inline void tl_atomic_max(_Atomic double *most, double x) {
  double now = atomic_load_explicit(most, memory_order_relaxed);
  while (x > now && !atomic_compare_exchange_weak(most, &now, x))
    continue;
}
static inline void tl_atomic_min(_Atomic double *least, double x) {
  double now = atomic_load_explicit(least, memory_order_relaxed);
  while (x < now && !atomic_compare_exchange_weak(least, &now, x))
    continue;
}

/* Smallest index for which `test` holds, or SIZE_MAX. */
typedef bool tl_test_fn(void *context, size_t i);
size_t tl_find_first(const tl_par *par, size_t n, tl_test_fn *test, void *context);

/* A team: fn runs once on each of `threads` workers at the same time; tl_team_barrier makes all
 * wait for all. For iterations that must not pay a fork for every colour. */
typedef struct tl_team tl_team;
typedef void tl_team_fn(void *context, tl_team *team, int worker, int workers);
void tl_team_run(const tl_par *par, tl_team_fn *fn, void *context);
void tl_team_barrier(tl_team *team);

/* Where worker's share of n begins, and that of the one before ends: n worker / workers, written
 * without overflow. */
static inline size_t tl_share(size_t n, int worker, int workers) {
  const size_t whole = n / (size_t)workers, rest = n % (size_t)workers;
  return whole * (size_t)worker + rest * (size_t)worker / (size_t)workers;
}

#endif
