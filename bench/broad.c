/* talus bench broad: every broad phase side by side, with the published tables and with peers. */
#include "broad.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"
#include "tools.h"

static const struct {
  const char *name;
  broad_section_fn *run;
} sections[] = {
    {"table1", broad_table_1},  {"tables23", broad_tables_2_3}, {"figures", broad_figures},
    {"uniform", broad_uniform}, {"sizes", broad_sizes},         {"order", broad_order},
    {"skin", broad_skin},       {"auto", broad_auto},
};
#define SECTIONS (sizeof sections / sizeof *sections)

/* ---- options --------------------------------------------------------------------------------- */

typedef struct wishes {
  int min, max, repeat;
  const char *threads, *only, *csv, *svg;
  bool quick, no_peers;
  double patience;
} wishes;

static bool parse_threads(const char *text, broad_options *options) {
  options->thread_counts = 0;
  for (const char *at = text; options->thread_counts < 8;) {
    char *end;
    const long n = strtol(at, &end, 10);
    if (end == at || n < 1 || n > 256 || (*end && *end != ','))
      return false;
    options->threads[options->thread_counts++] = (int)n;
    if (!*end)
      return true;
    at = end + 1;
  }
  return false;
}

static int set_options(const wishes *wanted, broad_options *options) {
  *options = (broad_options){.min = (size_t)(wanted->min > 0 ? wanted->min : 0),
                             .max = (size_t)wanted->max,
                             .repeat = wanted->quick && wanted->repeat > 3 ? 3 : wanted->repeat,
                             .quick = wanted->quick,
                             .peers = !wanted->no_peers,
                             .only = wanted->only,
                             .patience = wanted->patience};
  if (!parse_threads(wanted->threads, options)) {
    cli_error("bench broad: option '--threads': '%s' is not a list of counts like 1,2",
              wanted->threads);
    return CLI_INPUT;
  }
  if (wanted->max < 10 || wanted->repeat < 1 || !(wanted->patience > 0)) {
    cli_error("bench broad: --max is at least 10, --repeat 1, --patience more than 0");
    return CLI_INPUT;
  }
  const char *names[SECTIONS];
  for (size_t i = 0; i < SECTIONS; ++i) {
    names[i] = sections[i].name;
    if (!wanted->only || strcmp(wanted->only, names[i]) == 0)
      return CLI_DONE;
  }
  const char *near = cli_suggest(wanted->only, names, SECTIONS);
  cli_error("bench broad: there is no section '%s'%s%s%s", wanted->only,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return CLI_INPUT;
}

/* ---- surroundings ---------------------------------------------------------------------------- */

/* Where peers are: $TALUS_PEERS, or next to this program. */
static void find_peers(broad_bench *bench) {
  const char *folder = getenv("TALUS_PEERS");
  char path[sizeof bench->folder];
  if (folder && *folder) {
    snprintf(bench->folder, sizeof bench->folder, "%s", folder);
    return;
  }
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0)
    return;
  path[length] = '\0';
  char *slash = strrchr(path, '/');
  if (!slash)
    return;
  *slash = '\0';
  snprintf(bench->folder, sizeof bench->folder, "%s", path);
}

static void print_machine(broad_bench *bench) {
  const broad_options *options = &bench->options;
  char line[256] = "";
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file) && strncmp(line, "model name", 10) != 0)
    line[0] = '\0';
  if (file)
    fclose(file);
  const char *model = strchr(line, ':');
  line[strcspn(line, "\n")] = '\0';
  printf("talus %s (%s),%s, %ld cores\n", talus_version(), talus_features(),
         model ? model + 1 : " unknown processor", sysconf(_SC_NPROCESSORS_ONLN));
  printf("memory read and written:");
  for (int i = 0; i < options->thread_counts; ++i) {
    bench->bandwidth[i] = broad_bandwidth(options->threads[i], options->quick);
    printf("%s %.1f GB/s on %d thread%s", i ? "," : "", 1e-9 * bench->bandwidth[i],
           options->threads[i], options->threads[i] == 1 ? "" : "s");
  }
  printf("\n\nms: median, from boxes in memory to unique pairs in memory; x best: over the best\n"
         "fixed choice; B/body: most memory held beside the boxes (peers: resident); B at bw:\n"
         "bytes that could be read and written in that time.\n");
  fflush(stdout);
}

/* ---- the benchmark --------------------------------------------------------------------------- */

static int run(const wishes *wanted, broad_bench *bench) {
  if (wanted->csv) {
    bench->csv = bench_open(wanted->csv);
    if (!bench->csv)
      return CLI_FAILED;
    fputs("section,scene,bodies,threads,method,ms,ns_per_body,ratio_to_best,pairs,candidates,"
          "peak_bytes,bytes_per_body_at_bandwidth\n",
          bench->csv);
  }
  find_peers(bench);
  print_machine(bench);
  bool good = true;
  for (size_t i = 0; good && i < SECTIONS; ++i)
    if (!wanted->only || strcmp(wanted->only, sections[i].name) == 0)
      good = sections[i].run(bench);
  if (good)
    broad_sum_up(bench);
  if (bench->csv)
    good = bench_close(bench->csv) && good;
  if (good && wanted->svg && !broad_plot(bench, wanted->svg)) {
    cli_error("%s could not be written", wanted->svg);
    good = false;
  }
  return good && bench->mismatches == 0 ? CLI_DONE : CLI_FAILED;
}

int bench_broad(int argc, char **argv) {
  wishes wanted = {.max = 1000000, .repeat = 9, .threads = "1,2", .patience = 30};
  const cli_option list[] = {
      {"max", 0, CLI_COUNT, "N", "the most bodies (default 1000000; tables: 5000000)", &wanted.max},
      {"min", 0, CLI_COUNT, "N", "the fewest bodies, of uniform and tables23", &wanted.min},
      {"repeat", 0, CLI_COUNT, "N", "calls of each method (default 9)", &wanted.repeat},
      {"threads", 0, CLI_TEXT, "N,N", "thread counts (default 1,2)", &wanted.threads},
      {"only", 0, CLI_TEXT, "SECTION", "one section alone", &wanted.only},
      {"patience", 0, CLI_NUMBER, "S", "leaves out methods slower than this per call (30 s)",
       &wanted.patience},
      {"no-peers", 0, CLI_FLAG, NULL, "without other libraries", &wanted.no_peers},
      {"quick", 0, CLI_FLAG, NULL, "few calls, few steps: to see that it works", &wanted.quick},
      {"csv", 0, CLI_TEXT, "FILE", "every number, a line each", &wanted.csv},
      {"svg", 0, CLI_TEXT, "FILE", "a plot of the section uniform", &wanted.svg},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench broad [options]",
      .about = "All broad phases on the same boxes in one run: times, pairs, memory.",
      .options = list,
      .more = "Sections:\n"
              "  table1     Poirrier 2009: pieces and candidates with and without splitting\n"
              "  tables23   Poirrier 2009: spheres that settle, 50000 to 5000000\n"
              "  figures    Poirrier 2009: few bodies, against brute force and sweep\n"
              "  uniform    equal spheres, volume fraction 0.1, random order\n"
              "  sizes      radii 1:100\n"
              "  order      bodies in spatial order\n"
              "  skin       little motion: keeping candidates against finding them anew\n"
              "  auto       other scenes; auto against the best fixed choice\n"
              "\n"
              "Other libraries (Embree, Bullet, CGAL) are measured if cmake -DTALUS_PEERS=ON\n"
              "built them next to this program, or in the folder $TALUS_PEERS.\n",
      .most = 0};
  const int parsed = bench_parse(&usage, "bench broad", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  broad_bench bench = {.csv = NULL};
  int code = set_options(&wanted, &bench.options);
  if (code == CLI_DONE)
    code = run(&wanted, &bench);
  free(bench.group);
  return code;
}
