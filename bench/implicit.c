/* talus bench implicit: the command, and its table of tables. */
#include "implicit.h"

#include <math.h>
#include <string.h>
#include <time.h>

typedef struct implicit_table {
  const char *name; /* of the thesis */
  const char *what;
  implicit_table_fn *run;
} implicit_table;

static const implicit_table tables[] = {
    {"6.1", "halos of the coarsest surrogate", implicit_halos},
    {"6.2", "two spheres, every triangle against every other", implicit_two},
    {"6.3", "a sphere on a plane, every triangle against every other", implicit_plane},
    {"6.4", "distances of triangles: flat, and through surrogate trees", implicit_trees},
    {"6.6", "Picard's iterations and comparisons, of 6.5 and 6.6", implicit_picards},
    {"figure-6.3", "comparisons of each iteration", implicit_layers},
    {"6.7", "spheres of different sizes, triangles of one size", implicit_sizes},
    {"6.8", "spheres of different sizes, 80 triangles each", implicit_scales},
    {"6.9", "a sheet of spheres", implicit_sheet},
    {"error", "error against time as springs get stiffer", implicit_errors},
    {"heap", "the same for a heap of stones", implicit_heap},
};
#define TABLES (sizeof tables / sizeof *tables)

double implicit_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool implicit_fail(const char *doing) {
  cli_error("bench implicit: %s: %s", doing, talus_last_error());
  return false;
}

void implicit_put(const implicit_bench *bench, const char *table, const char *row,
                  const char *column, double thesis, double ours) {
  if (!bench->csv)
    return;
  fprintf(bench->csv, "%s,\"%s\",\"%s\",", table, row, column);
  if (!isnan(thesis))
    fprintf(bench->csv, "%.6g", thesis);
  fprintf(bench->csv, ",%.6g\n", ours);
}

static bool is_known(const char *table) {
  const char *names[TABLES];
  for (size_t i = 0; i < TABLES; ++i)
    names[i] = tables[i].name;
  return bench_has_table("implicit", table, names, TABLES);
}

static int run(const implicit_bench *bench, const char *table) {
  for (size_t i = 0; i < TABLES; ++i) {
    if (table && strcmp(table, tables[i].name) != 0)
      continue;
    printf("%s== %s: %s\n\n", i > 0 && !table ? "\n" : "", tables[i].name, tables[i].what);
    if (!tables[i].run(bench))
      return CLI_FAILED;
    fflush(stdout);
  }
  return CLI_DONE;
}

int bench_implicit(int argc, char **argv) {
  const char *table = NULL, *output = NULL;
  implicit_bench bench = {.steps = 100, .repeat = 3};
  const cli_option list[] = {
      {"table", 0, CLI_TEXT, "NAME", "one table alone: 6.1 to 6.9, figure-6.3, error, heap",
       &table},
      {"steps", 0, CLI_COUNT, "N", "poses of a scene that are averaged (default 100)",
       &bench.steps},
      {"repeat", 0, CLI_COUNT, "N", "times are the best of so many (default 3)", &bench.repeat},
      {"quick", 0, CLI_FLAG, NULL, "small meshes, few poses: to see that it works", &bench.quick},
      {"full", 0, CLI_FLAG, NULL, "6.9: 24,576 spheres, by newton and picard with boxes",
       &bench.full},
      {"output", 'o', CLI_TEXT, "FOLDER", "every number as FOLDER/implicit.csv; Figure 6.3 drawn",
       &output},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench implicit [options]",
      .about =
          "Chapter 6 of Noble's thesis, beside ours on the same geometry: surrogate triangles\n"
          "and trees, approximate distances of triangles, and what comparison has to mend.",
      .options = list,
      .more = "Times are CPU time of one thread.\n",
      .most = 0};
  const int parsed = bench_parse(&usage, "bench implicit", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  if (!is_known(table))
    return CLI_INPUT;
  if (bench.steps < 1 || bench.repeat < 1) {
    cli_error("bench implicit: --steps and --repeat are at least 1");
    return CLI_INPUT;
  }
  if (bench.quick)
    bench.steps = bench.steps < 10 ? bench.steps : 10, bench.repeat = 1;
  if (!bench_csv_open(output, "implicit", "table,row,column,thesis,ours", &bench.csv))
    return CLI_FAILED;
  bench.folder = output;
  const int code = run(&bench, table);
  return bench_csv_close(bench.csv) ? code : CLI_FAILED;
}
