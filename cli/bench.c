/* talus bench: finds the benchmark and passes the rest of the command line to it. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct {
  const char *name, *about;
  cli_command_fn *run;
} benches[] = {
    {"blocks", "boxes, hulls, machines at 1/60 s: time by stage, creep, sag, pairs", bench_blocks},
    {"broad", "every broad phase, the tables of Poirrier (2009), and peers", bench_broad},
    {"ccp", "contact solvers: tables of Tasora (2011), convergence, speed, peers", bench_ccp},
    {"ellipsoids", "two ellipsoids: the methods of Pazouki et al. and ours, and peers",
     bench_ellipsoids},
    {"events", "event-driven hard spheres: collisions per second", bench_events},
    {"fast", "fast bodies: times of impact beside FCL, sweeps, adaptive steps", bench_fast},
    {"gpu-detect", "contacts of spheres on a GPU, beside the CPU", bench_gpu_detect},
    {"gpu-step", "a tank of spheres steps on a GPU, beside the CPU", bench_gpu_step},
    {"implicit", "surrogate triangles and implicit steps: chapter 6 of Noble (2024)",
     bench_implicit},
    {"local", "steps of clusters against one step for all: body-steps, time", bench_local},
    {"machines", "joints, chains, closed loops, a tracked vehicle", bench_machines},
    {"nozzle", "hard spheres through a nozzle: steps per second by stage, energy", bench_nozzle},
    {"penalty", "springs: balls settled and poured, beside LAMMPS", bench_penalty},
    {"pour", "spheres settled in and poured into a box: time by stage, memory", bench_pour},
    {"triangles", "distances of triangles: one by one, in SIMD lanes, certified", bench_triangles},
    {"validation", "published and analytic cases: result and error of each model",
     bench_validation},
};
#define BENCHES (sizeof benches / sizeof *benches)

static int find(const char *name) {
  for (size_t i = 0; i < BENCHES; ++i)
    if (strcmp(benches[i].name, name) == 0)
      return (int)i;
  return -1;
}

/* True if the next word is the value of this option. All options of benchmarks have one except
 * these. */
static bool takes_value(const char *word) {
  static const char *const flags[] = {"--quick",    "--slow", "--list", "--resume",
                                      "--no-peers", "--help", "-h"};
  if (word[0] != '-' || strchr(word, '=') || (word[1] != '-' && strlen(word) != 2))
    return false;
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i)
    if (strcmp(flags[i], word) == 0)
      return false;
  return true;
}

static int list(FILE *to) {
  fprintf(to, "talus bench [NAME [its options]]...\n"
              "\n"
              "Repeats the published measurements on this machine (bench/RESULTS.md).\n"
              "Without a NAME: all.\n"
              "\n"
              "Benchmarks:\n");
  for (size_t i = 0; i < BENCHES; ++i)
    fprintf(to, "  %-10s %s%s\n", benches[i].name, benches[i].about,
            benches[i].run ? "" : " (not in this build)");
  fprintf(to, "\nOptions:\n"
              "  --list                 this text\n"
              "  -h, --help             this text; after a NAME: that benchmark's own\n");
  return CLI_DONE;
}

static int run(int which, int argc, char **argv) {
  if (!benches[which].run) {
    cli_error("bench: '%s' is not in this build (bench/ was left out)", benches[which].name);
    return CLI_INPUT;
  }
  return benches[which].run(argc, argv);
}

static int run_all(void) {
  for (size_t i = 0; i < BENCHES; ++i) {
    char name[32];
    snprintf(name, sizeof name, "%s", benches[i].name);
    char *argv[] = {name, NULL};
    const int code = run((int)i, 1, argv);
    if (code != CLI_DONE)
      return code;
  }
  return CLI_DONE;
}

int cli_bench(int argc, char **argv) {
  if (argc < 2)
    return run_all();
  const char *first = argv[1];
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "--list") == 0)
    return list(stdout);
  if (find(first) < 0) {
    const char *names[BENCHES];
    for (size_t i = 0; i < BENCHES; ++i)
      names[i] = benches[i].name;
    const char *near = cli_suggest(first, names, BENCHES);
    cli_error("bench: there is no benchmark '%s'%s%s%s; talus bench --list names them", first,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return CLI_INPUT;
  }
  /* Each name begins a benchmark; the words up to the next name are its options. The value of an
   * option is never a name, because a folder or file may be called like a benchmark. */
  for (int at = 1; at < argc;) {
    int end = at + 1;
    while (end < argc && (find(argv[end]) < 0 || takes_value(argv[end - 1])))
      end++;
    const int code = run(find(argv[at]), end - at, argv + at);
    if (code != CLI_DONE)
      return code;
    at = end;
  }
  return CLI_DONE;
}
