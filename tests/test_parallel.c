#include "base/parallel.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define talus_last_error tl_last_message /* what CHECK_OK prints */

/* LLVM's OpenMP runtime keeps its own tables for teams of more than four until the process ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libomp\n"; }

static const int thread_counts[] = {1, 2, 3, 4, 8};
#define THREAD_COUNTS (sizeof thread_counts / sizeof *thread_counts)

TEST(there_is_at_least_one_thread) { CHECK(tl_par_default_threads() >= 1); }

/* ---- loops --------------------------------------------------------------------------------- */

#define MOST 5000

typedef struct cover {
  size_t n, grain;
  int seen[MOST];
  _Atomic int calls, wrong;
} cover;

static void cover_range(void *context, size_t begin, size_t end) {
  cover *c = context;
  c->calls++;
  if (begin >= end || end > c->n || begin % c->grain != 0 ||
      (end < c->n && end - begin < c->grain)) {
    c->wrong++;
    return;
  }
  for (size_t i = begin; i < end; ++i)
    c->seen[i]++;
}

typedef void loop_fn(const tl_par *par, size_t n, size_t grain, tl_range_fn *fn, void *context);

/* most: ranges that a thread may take on average. */
static void check_loop(loop_fn *loop, int most) {
  const size_t sizes[] = {0, 1, 7, 255, 256, 257, 511, 512, 513, 1000, 4999, MOST};
  const size_t grains[] = {1, 3, 100, 256, 1024};
  static cover c;
  for (size_t t = 0; t < THREAD_COUNTS; ++t) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      for (size_t g = 0; g < sizeof grains / sizeof *grains; ++g) {
        memset(&c, 0, sizeof c);
        c.n = sizes[s];
        c.grain = grains[g];
        loop(&(tl_par){.threads = thread_counts[t]}, c.n, c.grain, cover_range, &c);
        CHECK_MSG(c.wrong == 0, "n %zu, grain %zu, threads %d", c.n, c.grain, thread_counts[t]);
        CHECK(c.calls <= most * thread_counts[t]);
        for (size_t i = 0; i < MOST; ++i)
          CHECK_EQ_U64(c.seen[i], i < c.n);
      }
    }
  }
}

TEST(a_loop_visits_every_index_once_in_whole_grains) { check_loop(tl_for, 1); }

TEST(an_uneven_loop_visits_every_index_once_in_whole_grains) { check_loop(tl_for_uneven, 16); }

TEST(the_default_grain_is_256) {
  static cover c;
  c.n = MOST;
  c.grain = 256;
  tl_for(&(tl_par){.threads = 4}, c.n, 0, cover_range, &c);
  CHECK_EQ_U64(c.wrong, 0);
  CHECK(c.calls >= 1);
}

TEST(small_and_serial_loops_are_one_call) {
  static cover c;
  c.n = c.grain = 300;
  tl_for(&(tl_par){.threads = 4}, 300, 300, cover_range, &c);
  CHECK_EQ_U64(c.calls, 1);
  c.n = MOST;
  tl_for(&(tl_par){.threads = 1}, MOST, 300, cover_range, &c);
  CHECK_EQ_U64(c.calls, 2);
  tl_for(&(tl_par){.threads = 4}, 0, 300, cover_range, &c);
  CHECK_EQ_U64(c.calls, 2);
  CHECK_EQ_U64(c.wrong, 0);
}

static void count_range(void *context, size_t begin, size_t end) {
  atomic_fetch_add((_Atomic size_t *)context, end - begin);
}

static void nested_range(void *context, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    tl_for(&(tl_par){.threads = 4}, 1000, 10, count_range, context);
}

TEST(a_loop_inside_a_loop_still_covers_everything) {
  _Atomic size_t count = 0;
  tl_for(&(tl_par){.threads = 4}, 20, 1, nested_range, &count);
  CHECK_EQ_U64(count, 20000);
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* Terms of very different size and both signs, so that any other order of summation shows. */
static double term(size_t i) {
  const double sign = i % 3 == 1 ? -1.0 : 1.0;
  return sign * (1.0 + (double)(i * 2654435761u % 1000003)) * pow(10.0, (double)(i % 17) - 8.0);
}

static double sum_terms(void *context, size_t begin, size_t end) {
  (void)context;
  double sum = 0.0;
  for (size_t i = begin; i < end; ++i)
    sum += term(i);
  return sum;
}

TEST(a_sum_has_the_same_bits_for_any_number_of_threads) {
  tl_arena arena = {0};
  const size_t sizes[] = {0, 1, 1023, 1024, 1025, 4096, 4097, 50000, 100000};
  bool order_matters = false;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    double blocks[100];
    size_t n = 0;
    for (size_t begin = 0; begin < sizes[s]; begin += TL_BLOCK)
      blocks[n++] =
          sum_terms(NULL, begin, begin + TL_BLOCK < sizes[s] ? begin + TL_BLOCK : sizes[s]);
    const double expected = tl_tally_sum(blocks, n);
    order_matters |= expected != sum_terms(NULL, 0, sizes[s]);
    for (size_t t = 0; t < THREAD_COUNTS; ++t) {
      double got = -1.0;
      CHECK_OK(
          tl_sum(&(tl_par){.threads = thread_counts[t]}, &arena, sizes[s], sum_terms, NULL, &got));
      CHECK_MSG(memcmp(&got, &expected, sizeof got) == 0, "n %zu, threads %d: %.17g, not %.17g",
                sizes[s], thread_counts[t], got, expected);
      CHECK_EQ_U64(arena.in_use, 0);
    }
  }
  CHECK(order_matters); /* or this test could not fail */
  tl_arena_free(&arena);
}

static void tally_terms(void *context, size_t begin, size_t end, tl_tally *sums) {
  (void)context;
  for (size_t i = begin; i < end; ++i) {
    tl_tally_add(&sums[0], term(i));
    tl_tally_add(&sums[1], 1 / term(i));
  }
}

TEST(a_tallied_sum_has_the_same_bits_for_any_number_of_threads_and_any_grain) {
  const size_t n = 50000, grains[] = {1, 7, 1024, 60000};
  tl_tally sums[2];
  double want[2] = {0};
  for (size_t t = 0; t < THREAD_COUNTS; ++t)
    for (size_t g = 0; g < sizeof grains / sizeof *grains; ++g) {
      tl_for_tally(&(tl_par){.threads = thread_counts[t]}, n, grains[g], tally_terms, NULL, 2,
                   sums);
      for (int k = 0; k < 2; ++k) {
        want[k] = t + g == 0 ? tl_tally_value(&sums[k]) : want[k];
        CHECK_MSG(tl_tally_value(&sums[k]) == want[k], "sum %d, %d threads, grain %zu", k,
                  thread_counts[t], grains[g]);
      }
    }
  CHECK(want[0] != 0 && want[1] != 0 && want[0] != want[1]);
  tl_for_tally(&(tl_par){.threads = 2}, 0, 1, tally_terms, NULL, 2, sums);
  CHECK(tl_tally_value(&sums[0]) == 0);
}

/* ---- searches -------------------------------------------------------------------------------- */

typedef struct hits {
  size_t at[3];
} hits;

static bool is_hit(void *context, size_t i) {
  const hits *h = context;
  return i == h->at[0] || i == h->at[1] || i == h->at[2];
}

TEST(the_first_hit_is_found) {
  const size_t n = 20000;
  const hits cases[] = {{{0, 5, 19999}},        {{19999, SIZE_MAX, SIZE_MAX}},
                        {{15000, 9000, 12000}}, {{1023, 1024, 1025}},
                        {{10000, 9999, 10001}}, {{SIZE_MAX, SIZE_MAX, SIZE_MAX}}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    size_t expected = SIZE_MAX;
    for (int i = 0; i < 3; ++i)
      expected = cases[c].at[i] < expected ? cases[c].at[i] : expected;
    hits h = cases[c];
    for (size_t t = 0; t < THREAD_COUNTS; ++t)
      CHECK_EQ_U64(tl_find_first(&(tl_par){.threads = thread_counts[t]}, n, is_hit, &h), expected);
  }
  hits h = cases[0];
  CHECK_EQ_U64(tl_find_first(&(tl_par){.threads = 2}, 0, is_hit, &h), SIZE_MAX);
}

/* ---- teams --------------------------------------------------------------------------------- */

typedef struct march {
  int rounds, lazy_round;
  int place[8];
  int runs[8];
  _Atomic int workers, out_of_step;
} march;

/* Each worker writes the round, waits, and must then see all others in the same round. */
static void march_worker(void *context, tl_team *team, int worker, int workers) {
  march *m = context;
  m->workers = workers;
  m->runs[worker]++;
  for (int round = 1; round <= m->rounds; ++round) {
    if (m->lazy_round > 0 && round % m->lazy_round == 0 && worker == round % workers)
      nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    m->place[worker] = round;
    tl_team_barrier(team);
    for (int v = 0; v < workers; ++v)
      m->out_of_step += m->place[v] != round;
    tl_team_barrier(team);
  }
}

static void check_march(int threads, int rounds, int lazy_round) {
  march m = {.rounds = rounds, .lazy_round = lazy_round};
  tl_team_run(&(tl_par){.threads = threads}, march_worker, &m);
  CHECK(m.workers >= 1 && m.workers <= threads);
  CHECK_EQ_U64(m.out_of_step, 0);
  for (int w = 0; w < 8; ++w) {
    CHECK_EQ_U64(m.runs[w], w < m.workers);
    CHECK_EQ_U64(m.place[w], w < m.workers ? rounds : 0);
  }
}

TEST(team_workers_stay_in_step) {
  for (size_t t = 0; t < THREAD_COUNTS; ++t)
    check_march(thread_counts[t], 500, 0);
}

/* One worker sleeps now and then: the others fall asleep too and must be woken. */
TEST(team_workers_wait_for_a_late_one) {
  for (size_t t = 0; t < THREAD_COUNTS; ++t)
    check_march(thread_counts[t], 200, 20);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Twice as many workers as cores, at the least. A barrier that only spins needs time slices
 * (milliseconds) for each round here; the bound leaves room for sanitizers and busy machines. */
TEST(more_workers_than_cores_do_not_crawl) {
  const int threads = 2 * tl_par_default_threads();
  if (threads > 8)
    SKIP("this machine is too large for the test");
  const double start = seconds();
  check_march(threads < 4 ? 4 : threads, 1000, 0);
  CHECK(seconds() - start < 5.0);
}

typedef struct nest {
  _Atomic int outer, inner, most; /* workers outside; runs inside; workers inside */
} nest;

static void inner_team(void *context, tl_team *team, int worker, int workers) {
  (void)worker;
  nest *n = context;
  tl_team_barrier(team);
  n->inner++;
  if (workers > n->most)
    n->most = workers;
}

static void outer_team(void *context, tl_team *team, int worker, int workers) {
  nest *n = context;
  n->outer = workers;
  (void)worker;
  tl_team_run(&(tl_par){.threads = 4}, inner_team, n);
  tl_team_barrier(team);
}

/* Four workers are asked for and one comes: the barrier must know the real number. (A team that
 * OpenMP gave one worker only counts as serial, and may hold another team.) */
TEST(a_team_inside_a_team_has_one_worker) {
  nest n = {0};
  tl_team_run(&(tl_par){.threads = 2}, outer_team, &n);
  if (n.outer == 1)
    SKIP("OpenMP gave one worker only");
  CHECK_EQ_U64(n.most, 1);
  CHECK_EQ_U64(n.inner, n.outer);
}

/* The same program again with OpenMP held to three threads, where teams of 4 and 8 are asked for.
 */
TEST(teams_smaller_than_asked_for_work) {
  if (access("/proc/self/exe", X_OK) != 0)
    SKIP("there is no /proc here");
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    setenv("OMP_THREAD_LIMIT", "3", 1);
    execl("/proc/self/exe", "test_parallel", "team_workers", "a_loop", "a_sum", "the_first_hit",
          (char *)NULL);
    _exit(127);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void note_piece(void *context, size_t begin, size_t end) {
  unsigned char *times = context;
  CHECK(end == begin + 1);
  times[begin]++;
}

TEST(every_piece_is_dealt_once) {
  for (int threads = 1; threads <= 5; ++threads)
    for (size_t n = 0; n < 40; ++n) {
      const tl_par par = {.threads = threads};
      unsigned char times[41] = {0};
      tl_deal(&par, n, note_piece, times);
      for (size_t i = 0; i <= 40; ++i)
        CHECK(times[i] == (i < n));
    }
}

TEST_MAIN()
