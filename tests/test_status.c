#include "base/status.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parallel.h"
#include "check.h"

TEST(fail_returns_its_status_and_keeps_the_text) {
  CHECK(tl_fail(TALUS_ERROR_IO, "%s: line %d", "a.yaml", 7) == TALUS_ERROR_IO);
  CHECK_STR(tl_last_message(), "a.yaml: line 7");
  CHECK(tl_fail(TALUS_ERROR_INVALID, "short") == TALUS_ERROR_INVALID);
  CHECK_STR(tl_last_message(), "short");
}

TEST(context_goes_in_front_of_the_message) {
  tl_fail(TALUS_ERROR_IO, "disk full");
  CHECK(tl_fail_in(TALUS_ERROR_IO, "frame %d", 3) == TALUS_ERROR_IO);
  CHECK(tl_fail_in(TALUS_ERROR_IO, "out/") == TALUS_ERROR_IO);
  CHECK_STR(tl_last_message(), "out/: frame 3: disk full");
}

TEST(the_last_message_may_be_an_argument) {
  tl_fail(TALUS_ERROR_IO, "disk full");
  tl_fail(TALUS_ERROR_IO, "[%s] while saving [%s]", tl_last_message(), tl_last_message());
  CHECK_STR(tl_last_message(), "[disk full] while saving [disk full]");
  tl_fail_in(TALUS_ERROR_IO, "(%s)", tl_last_message());
  CHECK_STR(tl_last_message(),
            "([disk full] while saving [disk full]): [disk full] while saving [disk full]");
}

/* Long texts end in "...", whatever the length at which they are cut. */
TEST(long_messages_end_in_dots) {
  static char text[12000];
  for (size_t length = 500; length < sizeof text; length += 1 + length / 64) {
    memset(text, 'x', length);
    text[length] = '\0';
    tl_fail(TALUS_ERROR_INVALID, "%s", text);
    const char *got = tl_last_message();
    const size_t kept = strlen(got);
    CHECK(kept >= 500 && kept <= length);
    if (kept < length || strcmp(got, text) != 0)
      CHECK_STR(got + kept - 3, "...");
    if (kept <= 511)
      CHECK_STR(got, text);
  }
}

TEST(long_contexts_end_in_dots_too) {
  static char text[12000];
  memset(text, 'y', sizeof text - 1);
  tl_fail(TALUS_ERROR_INVALID, "cause");
  tl_fail_in(TALUS_ERROR_INVALID, "%s", text);
  size_t kept = strlen(tl_last_message());
  CHECK_STR(tl_last_message() + kept - 4, "y...");

  text[6000] = '\0';
  tl_fail(TALUS_ERROR_INVALID, "%s", text);
  tl_fail_in(TALUS_ERROR_INVALID, "%s", text);
  kept = strlen(tl_last_message());
  CHECK(kept > 6100 && kept < 12000);
  CHECK_STR(tl_last_message() + kept - 4, "y...");
}

/* Three-byte characters: wherever the cut falls, what is left is whole characters and the dots. */
TEST(a_cut_does_not_split_a_character) {
  static char text[12001];
  for (size_t shift = 0; shift < 3; ++shift) {
    memset(text, 'z', shift);
    for (size_t i = shift; i + 3 < sizeof text; i += 3)
      memcpy(text + i, "\xE2\x82\xAC", 4);
    tl_fail(TALUS_ERROR_INVALID, "%s", text);
    const size_t kept = strlen(tl_last_message());
    CHECK_STR(tl_last_message() + kept - 3, "...");
    CHECK_EQ_U64((kept - 3 - shift) % 3, 0);
    CHECK(memcmp(tl_last_message(), text, kept - 3) == 0);
  }
}

static void fail_in_worker(void *context, tl_team *team, int worker, int workers) {
  (void)workers;
  bool *right = context;
  char expected[32];
  snprintf(expected, sizeof expected, "worker %d", worker);
  tl_fail(TALUS_ERROR_INVALID, "worker %d", worker);
  tl_team_barrier(team);
  right[worker] = strcmp(tl_last_message(), expected) == 0;
}

TEST(each_thread_has_its_own_message) {
  bool right[4] = {true, true, true, true};
  tl_fail(TALUS_ERROR_INVALID, "mine");
  tl_team_run(&(tl_par){.threads = 4}, fail_in_worker, right);
  CHECK(right[0] && right[1] && right[2] && right[3]);
  CHECK_STR(tl_last_message(), "worker 0");
}

static talus_status pass_on(talus_status status, bool *went_on) {
  *went_on = false;
  TL_TRY(status);
  *went_on = true;
  return TALUS_OK;
}

TEST(try_returns_on_the_first_failure) {
  bool went_on = false;
  CHECK(pass_on(TALUS_OK, &went_on) == TALUS_OK && went_on);
  CHECK(pass_on(TALUS_ERROR_STALE, &went_on) == TALUS_ERROR_STALE && !went_on);
}

/* In a child process: it must end by SIGABRT after saying where and what. */
TEST(a_failed_assertion_says_where_and_aborts) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    tl_assert_failed("mass > 0", "body.c", 42);
  }
  close(ends[1]);
  char said[512] = "";
  size_t length = 0;
  for (ssize_t got; length + 1 < sizeof said &&
                    (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
    length += (size_t)got;
  close(ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK_MSG(strstr(said, "body.c:42") && strstr(said, "mass > 0"), "it said: %s", said);
}

TEST_MAIN()
