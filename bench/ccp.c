/* talus bench ccp: the cone-complementarity solvers, against what was published and against peers.
 */
#include "ccp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parallel.h"
#include "bench.h"
#include "cli.h"

static const struct {
  const char *name;
  ccp_section_fn *run;
} sections[] = {
    {"silo", ccp_table_silo}, {"tank", ccp_table_tank}, {"convergence", ccp_convergence},
    {"sweep", ccp_sweeps},    {"peers", ccp_peers},
};
#define SECTIONS (sizeof sections / sizeof *sections)

static const char *const method_names[CCP_METHODS] = {
    [TALUS_GAUSS_SEIDEL] = "gauss-seidel",
    [TALUS_JACOBI] = "jacobi",
    [TALUS_APGD] = "apgd",
    [TALUS_BB] = "bb",
};

const char *ccp_method_name(int method) { return method_names[method]; }

bool ccp_fail(const char *doing) {
  fprintf(stderr, "talus bench ccp: %s: %s\n", doing, talus_last_error());
  return false;
}

/* ---- options --------------------------------------------------------------------------------- */

typedef struct wishes {
  int max, settle, steps, iterations, threads;
  const char *table, *methods, *peer, *output;
  bool quick;
} wishes;

static int unknown(const char *what, const char *word, const char *const *names, size_t n) {
  const char *near = cli_suggest(word, names, n);
  cli_error("bench ccp: there is no %s '%s'%s%s%s", what, word, near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
  return CLI_INPUT;
}

static int set_methods(const char *text, ccp_options *options) {
  char list[128];
  snprintf(list, sizeof list, "%s", text);
  char *rest = NULL;
  for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    int found = -1;
    for (int i = 0; i < CCP_METHODS; ++i)
      if (strcmp(word, method_names[i]) == 0)
        found = i;
    if (found < 0)
      return unknown("method", word, method_names, CCP_METHODS);
    options->method[found] = true;
  }
  return CLI_DONE;
}

static int check_peer(const char *wanted) {
  const char *names[16] = {"none"};
  size_t n = 1;
  if (!wanted || strcmp(wanted, "none") == 0)
    return CLI_DONE;
  for (const char *name = ccp_peer_name(0); name && n < 16; name = ccp_peer_name(n - 1)) {
    names[n++] = name;
    if (strcmp(wanted, name) == 0)
      return CLI_DONE;
  }
  return unknown("peer", wanted, names, n);
}

static int set_options(const wishes *wanted, ccp_options *options) {
  const char *names[SECTIONS];
  bool known = !wanted->table;
  for (size_t i = 0; i < SECTIONS; ++i) {
    names[i] = sections[i].name;
    known = known || strcmp(wanted->table, names[i]) == 0;
  }
  if (!known)
    return unknown("table", wanted->table, names, SECTIONS);
  if (wanted->max < 100 || wanted->iterations < 1) {
    cli_error("bench ccp: --max is at least 100, --iterations 1");
    return CLI_INPUT;
  }
  *options = (ccp_options){.max = (size_t)wanted->max,
                           .settle = wanted->settle,
                           .steps = wanted->steps,
                           .iterations = wanted->iterations,
                           .threads = wanted->threads ? wanted->threads : tl_par_default_threads(),
                           .quick = wanted->quick,
                           .peer = wanted->peer};
  if (wanted->quick && options->max > 2000)
    options->max = 2000;
  const int code = check_peer(wanted->peer);
  return code == CLI_DONE ? set_methods(wanted->methods, options) : code;
}

/* ---- surroundings ---------------------------------------------------------------------------- */

/* Where programs of bench/peers are: $TALUS_PEERS, or next to this one. */
static void find_peers(ccp_bench *bench) {
  const char *folder = getenv("TALUS_PEERS");
  if (folder && *folder) {
    snprintf(bench->peer_folder, sizeof bench->peer_folder, "%s", folder);
    return;
  }
  char path[sizeof bench->peer_folder];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0)
    return;
  path[length] = '\0';
  char *slash = strrchr(path, '/');
  if (slash)
    *slash = '\0';
  snprintf(bench->peer_folder, sizeof bench->peer_folder, "%s", slash ? path : "");
}

static void print_machine(const ccp_bench *bench) {
  char line[256] = "";
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file) && strncmp(line, "model name", 10) != 0)
    line[0] = '\0';
  if (file)
    fclose(file);
  const char *model = strchr(line, ':');
  line[strcspn(line, "\n")] = '\0';
  printf("talus %s (%s),%s, %ld cores, %d threads\n", talus_version(), talus_features(),
         model ? model + 1 : " unknown processor", sysconf(_SC_NPROCESSORS_ONLN),
         bench->options.threads);
  fflush(stdout);
}

static int run(const wishes *wanted, ccp_bench *bench) {
  bench->folder = wanted->output;
  if (bench->folder && access(bench->folder, W_OK) != 0 &&
      (errno != ENOENT || mkdir(bench->folder, 0777) != 0)) {
    cli_error("%s: %s", bench->folder, strerror(errno));
    return CLI_FAILED;
  }
  find_peers(bench);
  print_machine(bench);
  for (size_t i = 0; i < SECTIONS; ++i)
    if (!wanted->table || strcmp(wanted->table, sections[i].name) == 0) {
      printf("\n== %s\n", sections[i].name);
      if (!sections[i].run(bench))
        return CLI_FAILED;
    }
  return CLI_DONE;
}

int bench_ccp(int argc, char **argv) {
  wishes wanted = {.max = 200000, .iterations = 50, .methods = "gauss-seidel,apgd,jacobi,bb"};
  const cli_option list[] = {
      {"table", 0, CLI_TEXT, "NAME", "one table alone, below", &wanted.table},
      {"max", 0, CLI_COUNT, "N", "the most bodies (default 200000; the tank has 1000000)",
       &wanted.max},
      {"settle", 0, CLI_COUNT, "STEPS", "before measuring; 0 (default): by table", &wanted.settle},
      {"steps", 0, CLI_COUNT, "STEPS", "measured; 0 (default): by table", &wanted.steps},
      {"iterations", 0, CLI_COUNT, "N", "of a step, silo and tank (default 50)",
       &wanted.iterations},
      {"methods", 0, CLI_TEXT, "A,B", "gauss-seidel, apgd, jacobi, bb (default: all)",
       &wanted.methods},
      {"threads", 0, CLI_COUNT, "N", "0 (default): all cores", &wanted.threads},
      {"peer", 0, CLI_TEXT, "NAME", "only this other program and talus; 'none': only talus",
       &wanted.peer},
      {"quick", 0, CLI_FLAG, NULL, "few bodies, few steps: to see that it works", &wanted.quick},
      {"output", 'o', CLI_TEXT, "FOLDER", "tables as CSV and plots as SVG", &wanted.output},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench ccp [options]",
      .about = "Cone-complementarity solvers: published tables, convergence, speed, peers.",
      .options = list,
      .more = "Tables:\n"
              "  silo         Tasora 2011, Table 1: 16k to 128k spheres leave a silo\n"
              "  tank         Tasora 2011, Table 3: 0.1 to 1 million in a tank with a hole\n"
              "  convergence  residual over iterations and time, cold and warm, on a heap\n"
              "  sweep        ns per contact and sweep or product, bytes, ordering, steps/s\n"
              "  peers        simulated per wall second beside LAMMPS, LIGGGHTS and Bullet\n"
              "\n"
              "Other programs are measured if `lmp` and `liggghts` are on the PATH (2 MPI\n"
              "ranks) and talus-peer-bullet-heap is next to this program or in $TALUS_PEERS.\n",
      .most = 0};
  const int parsed = bench_parse(&usage, "bench ccp", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  ccp_bench bench = {.folder = NULL};
  const int code = set_options(&wanted, &bench.options);
  return code == CLI_DONE ? run(&wanted, &bench) : code;
}
