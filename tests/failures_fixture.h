/* Every block of memory that a job asks for is refused once (test_failures*.c). A program sets
 * REFUSES_MALLOC to 1 and includes this before anything else. */
#ifndef TESTS_FAILURES_FIXTURE_H
#define TESTS_FAILURES_FIXTURE_H

#include "check.h"
#include "refuse.h"
#include "world/world.h"

#include <unistd.h>

/* Thousands of files are flushed: to memory, where there is some. */
static char place[] = "/dev/shm/talus-failures-XXXXXX";

static void leave(void) {
  char command[80];
  snprintf(command, sizeof command, "rm -rf %s", place);
  if (chdir("/") != 0 || system(command) != 0)
    printf("%s stays\n", place);
}

static void enter(void) {
  static bool is_there;
  if (!is_there && mkdtemp(place) && chdir(place) == 0)
    atexit(leave);
  is_there = true;
}

/* A job begins and ends with nothing; it sets `refuse_at` to its argument before what is to fail,
 * and to -1 behind it. */
typedef talus_status job_fn(long at);

#define ALL 1000000L

static bool was_refused;
static long left; /* of the count, where nothing was refused */

static void begin(long at) { refuse_at = at; }
static void end(void) {
  was_refused = refuse_at == 0;
  left = refuse_at;
  refuse_at = -1;
}

/* Every block that `job` asks for; all but `most` of them are left out, evenly, unless TALUS_SOAK
 * is set. TALUS_FAIL_AT=name:k: that one alone. */
static void fail_each(job_fn *job, long most, const char *name) {
  const char *only = getenv("TALUS_FAIL_AT");
  enter();
  const size_t length = strlen(name);
  if (only && (strncmp(only, name, length) != 0 || only[length] != ':'))
    return;
  CHECK_OK(job(-1)); /* what is made once for the process */
  CHECK_OK(job(ALL));
  const long n = ALL - left, step = getenv("TALUS_SOAK") || n <= most ? 1 : n / most;
  long failed = 0;
  for (long k = only ? atol(only + length + 1) : 1; k <= n; k += only ? n : step) {
    const long blocks = blocks_held;
    const size_t bytes = tl_memory_count().bytes;
    const talus_status status = job(k);
    CHECK_MSG(was_refused, "%s: block %ld of %ld was not asked for", name, k, n);
    CHECK_MSG(status == TALUS_OK || status == TALUS_ERROR_MEMORY || status == TALUS_ERROR_IO,
              "%s: block %ld: status %d: %s", name, k, (int)status, talus_last_error());
    CHECK_MSG(status == TALUS_OK || strlen(talus_last_error()) > 10, "%s: block %ld: no word", name,
              k);
    CHECK_MSG(tl_memory_count().bytes == bytes, "%s: block %ld: %zu bytes are kept", name, k,
              tl_memory_count().bytes - bytes);
    CHECK_MSG(blocks_held == blocks, "%s: block %ld: %ld blocks are kept", name, k,
              blocks_held - blocks);
    failed += status != TALUS_OK;
  }
  CHECK_MSG(failed > 0, "%s: nothing failed", name);
  printf("  %s: %ld blocks, %ld refused, %ld told\n", name, n, (n - 1) / step + 1, failed);
}

#endif
