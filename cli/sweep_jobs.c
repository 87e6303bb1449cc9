/* Runs as child processes of the same command, several at a time. */
#include "sweep.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

static volatile sig_atomic_t is_stopped;

static void on_signal(int signal) {
  (void)signal;
  is_stopped = 1;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* In the child: makes a process group of its own, so that Ctrl-C reaches only the sweep, which
 * passes it on. If the sweep is killed, its runs save and end. */
static void become(int log, char **argv) {
  setpgid(0, 0);
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  const int from = open("/dev/null", O_RDONLY);
  if (from < 0 || dup2(from, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
    _exit(CLI_FAILED);
  execv("/proc/self/exe", argv);
  _exit(CLI_FAILED);
}

/* The command line of `talus run` for one run; NULL: no memory. */
static char **words_of(const sweep *study, size_t index, const char *folder) {
  const size_t most = 10 + 2 * (study->settings.count + study->axis_count);
  char threads[16];
  const char *fixed[] = {"talus",     "run",   "--quiet", study->force ? "--force" : "--resume",
                         "--threads", threads, "-o",      folder};
  const size_t fixed_count = sizeof fixed / sizeof *fixed;
  snprintf(threads, sizeof threads, "%d", study->threads);
  char **words = calloc(most + 2, sizeof *words);
  size_t n = 0;
  bool fits = words != NULL;
  for (; fits && n < fixed_count; ++n)
    fits = (words[n] = strdup(fixed[n])) != NULL;
  for (size_t i = 0; fits && i < study->settings.count + study->axis_count; ++i) {
    const size_t k = i - study->settings.count; /* of an axis, after the common settings */
    const bool is_axis = i >= study->settings.count;
    const char *key = is_axis ? study->axes[k].key : study->settings.data[i];
    const char *value = is_axis ? study->axes[k].values[sweep_choice(study, index, k)] : "";
    const size_t room = strlen(key) + strlen(value) + 16;
    fits = (words[n] = malloc(room)) != NULL;
    if (fits)
      snprintf(words[n++], room, "--set=%s%s%s", key, is_axis ? "=" : "", value);
  }
  fits = fits && (words[n++] = strdup("--")) != NULL && (words[n++] = strdup(study->scene)) != NULL;
  if (fits)
    return words;
  for (size_t i = 0; words && words[i]; ++i)
    free(words[i]);
  free(words);
  return NULL;
}

/* Overwrites the log of an earlier call; does not follow links or wait for readers of a FIFO. -1:
 * errno says why. */
static int open_log(const char *path) {
  struct stat there;
  const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int log = open(path, flags, 0666);
  if (log < 0)
    return -1;
  const bool is_plain = fstat(log, &there) == 0 && S_ISREG(there.st_mode);
  if (is_plain && ftruncate(log, 0) == 0)
    return log;
  errno = is_plain ? errno : EEXIST;
  close(log);
  return -1;
}

static void begin(const sweep *study, size_t index) {
  sweep_run *run = &study->runs[index];
  char folder[4096], log[4096];
  sweep_path(study, run->name, "", folder, sizeof folder);
  sweep_path(study, run->name, ".log", log, sizeof log);
  char **words = words_of(study, index, folder);
  const int to = words ? open_log(log) : -1;
  run->child = to >= 0 ? fork() : -1;
  if (run->child == 0)
    become(to, words);
  run->state = run->child > 0 ? SWEEP_WORKS : SWEEP_FAILED;
  run->began = tl_clock();
  if (!words)
    snprintf(run->reason, sizeof run->reason, "could not be started: out of memory");
  else if (to < 0)
    snprintf(run->reason, sizeof run->reason, "its log %s.log could not be written: %s", run->name,
             errno == ELOOP || errno == EEXIST || errno == ENXIO ? "it is no plain file; remove it"
                                                                 : strerror(errno));
  else if (run->child < 0)
    snprintf(run->reason, sizeof run->reason, "could not be started: %s", strerror(errno));
  if (to >= 0)
    close(to);
  for (size_t i = 0; words && words[i]; ++i)
    free(words[i]);
  free(words);
}

/* Evaluates the status of waitpid. A run that was stopped waits for the next call. */
static void finish(const sweep *study, sweep_run *run, int status) {
  run->child = 0;
  run->state = SWEEP_FAILED;
  if (WIFEXITED(status) && WEXITSTATUS(status) == CLI_DONE) {
    run->state = SWEEP_DONE;
    sweep_measure_run(study, run);
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == CLI_INTERRUPTED)
    run->state = SWEEP_WAITS;
  else if (WIFSIGNALED(status))
    snprintf(run->reason, sizeof run->reason, "killed by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else {
    snprintf(run->reason, sizeof run->reason, "exit code %d", WEXITSTATUS(status));
    sweep_read_reason(study, run);
  }
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct tally {
  size_t waiting, working, done, failed;
} tally;

static tally count(const sweep *study) {
  tally of = {0};
  for (size_t i = 0; i < study->run_count; ++i) {
    const sweep_state state = study->runs[i].state;
    of.waiting += state == SWEEP_WAITS;
    of.working += state == SWEEP_WORKS;
    of.done += state == SWEEP_DONE;
    of.failed += state == SWEEP_FAILED;
  }
  return of;
}

static void report(const sweep *study, const sweep_run *run, double begin, size_t ended) {
  char took[CLI_DURATION_BYTES], left[CLI_DURATION_BYTES];
  const tally of = count(study);
  const double now = tl_clock();
  if (study->is_quiet || run->state == SWEEP_WAITS)
    return;
  cli_duration((now - begin) / (double)ended * (double)(of.waiting + of.working), left);
  cli_note("%zu of %zu done, %zu failed: %s %s after %s%s%s%s", of.done, study->run_count,
           of.failed, run->name, run->state == SWEEP_DONE ? "ended" : "failed",
           cli_duration(now - run->began, took), of.waiting + of.working ? "; about " : "",
           of.waiting + of.working ? left : "", of.waiting + of.working ? " to go" : "");
  if (run->state == SWEEP_FAILED)
    cli_warning("%s: %s", run->name, run->reason);
}

static void stop_all(const sweep *study) {
  for (size_t i = 0; i < study->run_count; ++i)
    if (study->runs[i].state == SWEEP_WORKS)
      kill(study->runs[i].child, SIGTERM);
}

/* Collects the runs that have ended; returns their number. */
static size_t collect(const sweep *study, double begin, size_t ended) {
  const size_t before = ended;
  for (size_t i = 0; i < study->run_count; ++i) {
    sweep_run *run = &study->runs[i];
    int status;
    if (run->state != SWEEP_WORKS || waitpid(run->child, &status, WNOHANG) != run->child)
      continue;
    finish(study, run, status);
    report(study, run, begin, ++ended);
  }
  return ended - before;
}

/* The files of the first runs show early whether the measured columns exist. */
static int look_early(const sweep *study) {
  int code = CLI_FAILED;
  for (size_t i = 0; i < study->run_count && code == CLI_FAILED; ++i)
    if (study->runs[i].state == SWEEP_WORKS || study->runs[i].state == SWEEP_DONE)
      code = sweep_check_columns(study, &study->runs[i]);
  return code;
}

int sweep_work(sweep *study) {
  const double begun = tl_clock();
  size_t next = 0, working = 0, ended = 0;
  int columns = CLI_FAILED; /* not known yet */
  bool is_told = false;
  cli_catch_stops(on_signal, true); /* the first signal lets every run save and end */
  while (true) {
    for (; !is_stopped && columns != CLI_INPUT && working < (size_t)study->jobs &&
           next < study->run_count;
         ++next)
      if (study->runs[next].state == SWEEP_WAITS) {
        begin(study, next);
        working += study->runs[next].state == SWEEP_WORKS;
      }
    if (working == 0)
      break;
    if ((is_stopped || columns == CLI_INPUT) && !is_told) {
      stop_all(study);
      is_told = true;
    }
    if (columns == CLI_FAILED)
      columns = look_early(study);
    const size_t more = collect(study, begun, ended);
    ended += more;
    working -= more;
    if (more == 0)
      nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  }
  if (columns == CLI_INPUT)
    return CLI_INPUT;
  return is_stopped ? CLI_INTERRUPTED : count(study).failed > 0 ? CLI_FAILED : CLI_DONE;
}
