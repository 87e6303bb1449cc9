/* Cases of talus bench validation, each in a process of its own: what crashes or never ends is the
 * result of that one alone, and as many run side by side as there are cores. Worlds of a few
 * thousand grains gain more from that than from threads, and their results do not depend on it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "peer_pipe.h"
#include "validation.h"

#define CPU_MOST 3600 /* s for one seed; a longer run counts as one that does not end */

typedef struct process {
  pid_t id; /* 0: free */
  const val_job *job;
  FILE *result;
} process;

static void begin_run(const val_job *job, const val_run *like, val_run *run) {
  *run = *like;
  run->which = job->which;
  run->model = job->model;
  run->seed_index = job->seed_index;
  run->seed = (uint64_t)job->seed_index + 1;
  run->threads = 1; /* one more would be one of the parent's, which a fork does not take along */
  run->stiffness = val_has_springs(run) && job->which->seeds == 0 ? 1e6 : 0;
}

/* s of CPU time of this process and of the peers that it ran. */
static double cpu_seconds(void) {
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    struct rusage usage;
    if (getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage) == 0)
      sum += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  }
  return sum;
}

/* What a child process does. */
static _Noreturn void run_alone(const val_job *job, const val_run *like, FILE *result) {
  static val_run run; /* some 20 kB */
  const struct rlimit most = {CPU_MOST, CPU_MOST};
  setrlimit(RLIMIT_CPU, &most);
  begin_run(job, like, &run);
  job->which->run(&run);
  val_mark_pending(&run);
  run.model = job->model; /* cases that compare models change it */
  run.cpu = cpu_seconds();
  talus_world_destroy(run.world);
  val_write_run(result, &run);
  val_plots_free(run.plots);
  /* without the buffers of the parent */
  _exit(fflush(result) == 0 ? 0 : 1);
}

static bool begin(process *p, const val_job *job, const val_run *like) {
  p->job = job;
  p->result = tmpfile();
  if (!p->result) {
    cli_error("bench validation: no temporary file: %s", strerror(errno));
    return false;
  }
  fflush(stdout);
  fflush(stderr);
  const pid_t own = getpid();
  p->id = fork();
  if (p->id == 0) {
    peer_die_with_parent(own);
    run_alone(job, like, p->result);
  }
  if (p->id > 0)
    return true;
  cli_error("bench validation: no further process: %s", strerror(errno));
  fclose(p->result);
  p->id = 0;
  return false;
}

static void end(process *p, int status, const val_run *like, val_done_fn *done, void *context) {
  static val_run run;
  rewind(p->result);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !val_read_run(p->result, &run)) {
    begin_run(p->job, like, &run);
    run.failed = true;
    if (WIFSIGNALED(status))
      snprintf(run.message, sizeof run.message, "died of signal %d (%s)", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    else
      snprintf(run.message, sizeof run.message, "ended without a result");
  }
  fclose(p->result);
  p->id = 0;
  done(context, &run);
}

bool val_run_jobs(const val_job *jobs, size_t n, const val_run *like, int side_by_side,
                  val_done_fn *done, void *context) {
  process *all = calloc((size_t)side_by_side, sizeof *all);
  size_t next = 0;
  int busy = 0;
  bool good = all != NULL;
  while (all && ((good && next < n) || busy > 0)) {
    for (int i = 0; i < side_by_side && good && next < n; ++i)
      if (all[i].id == 0) {
        good = begin(&all[i], &jobs[next], like);
        next += good, busy += good;
      }
    if (busy == 0)
      break;
    int status;
    const pid_t id = wait(&status);
    for (int i = 0; i < side_by_side && id > 0; ++i)
      if (all[i].id == id) {
        --busy;
        end(&all[i], status, like, done, context);
      }
    if (id < 0 && errno != EINTR)
      good = false, busy = 0;
  }
  free(all);
  return good;
}
